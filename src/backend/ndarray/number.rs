//! What the number types have in common. Integers wrap; half types are not among them, they compute as `f32`.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, CowArray, Ix2};
use num_traits::{CheckedRem, Float, PrimInt, WrappingAdd, WrappingMul, WrappingNeg, WrappingSub};

use super::storage::Held;
use crate::backend::extremes::Extremes;

pub(super) trait Number: Held + Extremes {
    const ZERO: Self;
    const ONE: Self;
    const LEAST: Self;
    const GREATEST: Self;

    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;

    /// Adds the product of `a` and `b` to `c`.
    fn add_product(a: ArrayView2<Self>, b: ArrayView2<Self>, c: ArrayViewMut2<Self>);
}

/// The matrix without strides of 0, with which the product of `ndarray` 0.17 leaves terms out.
fn unstretched<T: Clone>(x: ArrayView2<'_, T>) -> CowArray<'_, T, Ix2> {
    if x.strides().contains(&0) {
        CowArray::from(x.as_standard_layout().into_owned())
    } else {
        CowArray::from(x)
    }
}

/// The floats that `ndarray` computes with.
pub(super) trait Real: Number + Float {
    fn erf(self) -> Self;
    fn asinh(self) -> Self;
    fn acosh(self) -> Self;
    fn atanh(self) -> Self;
    fn round_ties_even(self) -> Self;
}

/// The integers.
pub(super) trait Int:
    Number + PrimInt + CheckedRem + WrappingAdd + WrappingSub + WrappingMul + WrappingNeg
{
}

macro_rules! real {
    ($($T:ident: $erf:ident $asinh:ident $acosh:ident $atanh:ident;)*) => { $(
        impl Number for $T {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const LEAST: Self = $T::NEG_INFINITY;
            const GREATEST: Self = $T::INFINITY;

            fn add(self, other: Self) -> Self {
                self + other
            }
            fn sub(self, other: Self) -> Self {
                self - other
            }
            fn mul(self, other: Self) -> Self {
                self * other
            }
            fn add_product(a: ArrayView2<Self>, b: ArrayView2<Self>, mut c: ArrayViewMut2<Self>) {
                general_mat_mul(1.0, &unstretched(a), &unstretched(b), 1.0, &mut c);
            }
        }

        // The standard library loses digits of the inverse hyperbolic functions near 0.
        impl Real for $T {
            fn erf(self) -> Self {
                libm::$erf(self)
            }
            fn asinh(self) -> Self {
                libm::$asinh(self)
            }
            fn acosh(self) -> Self {
                // `libm` gives numbers below 1, where there are none.
                if self < 1.0 { $T::NAN } else { libm::$acosh(self) }
            }
            fn atanh(self) -> Self {
                libm::$atanh(self)
            }
            fn round_ties_even(self) -> Self {
                $T::round_ties_even(self)
            }
        }
    )* };
}
real! {
    f32: erff asinhf acoshf atanhf;
    f64: erf asinh acosh atanh;
}

macro_rules! int {
    ($($T:ident)*) => { $(
        impl Int for $T {}

        impl Number for $T {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const LEAST: Self = $T::MIN;
            const GREATEST: Self = $T::MAX;

            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            // The products of `ndarray` overflow in debug builds.
            fn add_product(a: ArrayView2<Self>, b: ArrayView2<Self>, mut c: ArrayViewMut2<Self>) {
                for (a, mut c) in a.rows().into_iter().zip(c.rows_mut()) {
                    for (&a, b) in a.iter().zip(b.rows()) {
                        c.zip_mut_with(&b, |c, &b| *c = c.wrapping_add(a.wrapping_mul(b)));
                    }
                }
            }
        }
    )* };
}
int! { i64 i32 i16 i8 u64 u32 u16 u8 }

/// Runs `$body` with `$T` naming the type of a `DType` with integers.
macro_rules! with_int {
    ($dtype:expr, $T:ident => $body:expr, $other:pat => $otherwise:expr) => {
        with_int!(@ $dtype, $T => $body, [I64 i64, I32 i32, I16 i16, I8 i8, U64 u64, U32 u32, U16 u16, U8 u8],
            $other => $otherwise)
    };
    (@ $dtype:expr, $T:ident => $body:expr, [$($variant:ident $ty:ty),*], $other:pat => $otherwise:expr) => {
        match $dtype {
            $(DType::$variant => {
                type $T = $ty;
                $body
            })*
            $other => $otherwise,
        }
    };
}
pub(super) use with_int;

/// Runs `$body` with `$T` naming the type of a `DType` with floats that `ndarray` computes with.
macro_rules! with_real {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            DType::F32 => {
                type $T = f32;
                $body
            }
            DType::F64 => {
                type $T = f64;
                $body
            }
            other => unreachable!("{other} is no float, or computed as f32"),
        }
    };
}
pub(super) use with_real;

/// Runs `$body` with `$T` naming the type of a `DType` with numbers that `ndarray` computes with.
macro_rules! with_number {
    ($dtype:expr, $T:ident => $body:expr) => {
        with_int!($dtype, $T => $body, float => with_real!(float, $T => $body))
    };
}
pub(super) use with_number;
