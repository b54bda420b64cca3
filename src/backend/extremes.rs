//! The greater and the lesser of two numbers, for what computes on the host.

use crate::element::Element;
use crate::{bf16, f16};

/// A number that may be NaN, which every comparison with it gives.
pub(crate) trait Extremes: Element {
    /// Whether it is NaN.
    fn is_nan(self) -> bool;

    /// The greater; NaN if either is.
    fn greater(self, other: Self) -> Self {
        if self.is_nan() || self >= other {
            self
        } else {
            other
        }
    }

    /// The lesser; NaN if either is.
    fn lesser(self, other: Self) -> Self {
        if self.is_nan() || self <= other {
            self
        } else {
            other
        }
    }
}

macro_rules! extremes {
    ($($T:ty: $is_nan:expr),*) => { $(
        impl Extremes for $T {
            fn is_nan(self) -> bool {
                $is_nan(self)
            }
        }
    )* };
}
extremes!(f64: f64::is_nan, f32: f32::is_nan, f16: f16::is_nan, bf16: bf16::is_nan);
extremes!(i64: never, i32: never, i16: never, i8: never, u64: never, u32: never, u16: never, u8: never);

fn never<E>(_: E) -> bool {
    false
}
