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
    fn abs(self) -> Self;
    fn exp(self) -> Self;
    fn expm1(self) -> Self;
    fn log(self) -> Self;
    fn log1p(self) -> Self;
    fn sqrt(self) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn tan(self) -> Self;
    fn asin(self) -> Self;
    fn acos(self) -> Self;
    fn atan(self) -> Self;
    fn sinh(self) -> Self;
    fn cosh(self) -> Self;
    fn tanh(self) -> Self;
    fn asinh(self) -> Self;
    fn acosh(self) -> Self;
    fn atanh(self) -> Self;
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
            $(#[inline(always)] fn $name(self $(, $arg: Self)*) -> Self { $f(self $(, $arg)*) })*
        }
    };
}

/// `libm` gives numbers below 1, where there are none.
fn acosh_f32(x: f32) -> f32 {
    if x < 1.0 { f32::NAN } else { libm::acoshf(x) }
}

fn acosh_f64(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

real!(f32 {
    abs() = f32::abs;
    exp() = math::exp;
    expm1() = math::expm1;
    log() = math::log;
    log1p() = math::log1p;
    sqrt() = f32::sqrt;
    sin() = f32::sin;
    cos() = f32::cos;
    tan() = f32::tan;
    asin() = f32::asin;
    acos() = f32::acos;
    atan() = f32::atan;
    sinh() = f32::sinh;
    cosh() = f32::cosh;
    tanh() = math::tanh;
    asinh() = libm::asinhf;
    acosh() = acosh_f32;
    atanh() = libm::atanhf;
    erf() = libm::erff;
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
    expm1() = f64::exp_m1;
    log() = f64::ln;
    log1p() = f64::ln_1p;
    sqrt() = f64::sqrt;
    sin() = f64::sin;
    cos() = f64::cos;
    tan() = f64::tan;
    asin() = f64::asin;
    acos() = f64::acos;
    atan() = f64::atan;
    sinh() = f64::sinh;
    cosh() = f64::cosh;
    tanh() = f64::tanh;
    asinh() = libm::asinh;
    acosh() = acosh_f64;
    atanh() = libm::atanh;
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
