//! What kernels need of numbers beyond [`Element`](crate::Element).

use half::{bf16, f16};

use crate::backend::extremes::Extremes;

/// A number, with arithmetic that wraps for integers and rounds once for floats.
pub(super) trait Number: Extremes {
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// An unsigned number of the same order, in the lowest bits: NaN is greatest, both zeros are equal.
    fn key(self) -> u64;
}

macro_rules! integers {
    ($($T:ty as $U:ty),*) => { $(
        impl Number for $T {
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            fn key(self) -> u64 {
                // Flips the sign bit of signed types: `MIN` becomes 0.
                ((self as $U) ^ (<$T>::MIN as $U)) as u64
            }
        }
    )* };
}
integers!(
    i64 as u64, i32 as u32, i16 as u16, i8 as u8, u64 as u64, u32 as u32, u16 as u16, u8 as u8
);

macro_rules! floats {
    ($($T:ty, $U:ty, $I:ty, $zero:expr);*) => { $(
        impl Number for $T {
            fn plus(self, other: Self) -> Self {
                self + other
            }
            fn times(self, other: Self) -> Self {
                self * other
            }
            fn key(self) -> u64 {
                if <$T>::is_nan(self) {
                    return <$U>::MAX as u64;
                }
                let bits = if self == $zero { 0 } else { self.to_bits() };
                // Negative numbers grow downwards: flips all their bits, and the sign bit of the others.
                let flip = ((bits as $I) >> (<$U>::BITS - 1)) as $U | (1 << (<$U>::BITS - 1));
                (bits ^ flip) as u64
            }
        }
    )* };
}
floats!(f64, u64, i64, 0.0; f32, u32, i32, 0.0; f16, u16, i16, f16::ZERO; bf16, u16, i16, bf16::ZERO);

/// Runs `$body` with `$T` naming the Rust type of a `DType` that is not `bool`.
macro_rules! with_number {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::backend::flex::number::with_number!(@ $dtype, $T => $body;
            F64 f64, F32 f32, F16 half::f16, BF16 half::bf16, I64 i64, I32 i32, I16 i16, I8 i8, U64 u64, U32 u32,
            U16 u16, U8 u8)
    };
    (@ $dtype:expr, $T:ident => $body:expr; $($variant:ident $type:ty),*) => {
        match $dtype {
            $($crate::element::DType::$variant => {
                type $T = $type;
                $body
            })*
            $crate::element::DType::Bool => unreachable!("`infer` admits numbers only"),
        }
    };
}
pub(super) use with_number;
