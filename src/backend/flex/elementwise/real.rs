//! The functions of a float, for generic kernels.

use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use super::math;

/// A float that kernels compute in. The functions are the ops of the same names in `op::scalar`.
pub(in super::super) trait Real:
    Copy
    + PartialOrd
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
    + Send
    + Sync
    + 'static
{
    const ZERO: Self;
    const ONE: Self;
    fn is_nan(self) -> bool;
    fn abs(self) -> Self;
    fn exp(self) -> Self;
    fn log(self) -> Self;
    fn sqrt(self) -> Self;
    fn tanh(self) -> Self;
    fn erf(self) -> Self;
    fn sigmoid(self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn round_ties_even(self) -> Self;
    fn trunc(self) -> Self;
    fn pow(self, exponent: Self) -> Self;
    fn atan2(self, x: Self) -> Self;
    fn hypot(self, y: Self) -> Self;

    /// -1, 0 or 1; NaN stays.
    #[inline(always)]
    fn sign(self) -> Self {
        if self > Self::ZERO {
            Self::ONE
        } else if self < Self::ZERO {
            -Self::ONE
        } else if self == Self::ZERO {
            Self::ZERO
        } else {
            self
        }
    }

    /// The remainder with the divisor's sign.
    #[inline(always)]
    fn remainder(self, divisor: Self) -> Self {
        let r = self % divisor;
        if r != Self::ZERO && (r < Self::ZERO) != (divisor < Self::ZERO) {
            r + divisor
        } else {
            r
        }
    }
}

macro_rules! real {
    ($T:ty { $($name:ident($($arg:ident),*) = $f:path;)* }) => {
        impl Real for $T {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            #[inline(always)]
            fn is_nan(self) -> bool {
                self.is_nan()
            }
            $(#[inline(always)] fn $name(self $(, $arg: Self)*) -> Self { $f(self $(, $arg)*) })*
        }
    };
}

real!(f32 {
    abs() = f32::abs;
    exp() = math::exp;
    log() = math::log;
    sqrt() = f32::sqrt;
    tanh() = math::tanh;
    erf() = math::erf;
    sigmoid() = math::sigmoid;
    floor() = f32::floor;
    ceil() = f32::ceil;
    round_ties_even() = f32::round_ties_even;
    trunc() = f32::trunc;
    pow(exponent) = f32::powf;
    atan2(x) = f32::atan2;
    hypot(y) = f32::hypot;
});

real!(f64 {
    abs() = f64::abs;
    exp() = f64::exp;
    log() = f64::ln;
    sqrt() = f64::sqrt;
    tanh() = f64::tanh;
    erf() = libm::erf;
    sigmoid() = sigmoid;
    floor() = f64::floor;
    ceil() = f64::ceil;
    round_ties_even() = f64::round_ties_even;
    trunc() = f64::trunc;
    pow(exponent) = f64::powf;
    atan2(x) = f64::atan2;
    hypot(y) = f64::hypot;
});

/// Never exponentiates a positive number, so that neither end overflows.
#[inline(always)]
fn sigmoid(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
}
