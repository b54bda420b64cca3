//! Element types: at compile time (`Element` and its kinds) and at run time (`DType`, `Scalar`).

use std::fmt;

use half::{bf16, f16};
use serde::{Deserialize, Serialize};

use crate::data::Buffer;

/// A type that a tensor can hold.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element type",
    label = "no tensor holds `{Self}`",
    note = "element types are f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8 bool"
)]
pub trait Element:
    Copy + Default + fmt::Debug + fmt::Display + PartialEq + PartialOrd + Send + Sync + 'static + sealed::Sealed
{
    /// The run-time name of this type.
    const DTYPE: DType;

    /// The nearest value of this type: float to int as Rust's `as`, anything to bool as "is not zero".
    fn from_scalar(scalar: Scalar) -> Self;
    /// This value, exactly.
    fn to_scalar(self) -> Scalar;
    /// Wraps a vector into a buffer of this type.
    fn into_buffer(values: Vec<Self>) -> Buffer;
    /// The values of a buffer, if it holds this type.
    fn from_buffer(buffer: Buffer) -> Result<Vec<Self>, Buffer>;
    /// A view of a buffer, if it holds this type.
    fn slice(buffer: &Buffer) -> Option<&[Self]>;
    /// A mutable view of a buffer, if it holds this type.
    fn slice_mut(buffer: &mut Buffer) -> Option<&mut [Self]>;
}

/// An element type with arithmetic: every one but `bool`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` elements have no arithmetic",
    label = "needs a number type",
    note = "`.cast::<f32>()` or `.cast::<i32>()` converts"
)]
pub trait NumericElement: Element {}

/// A floating-point element type; the only kind that carries gradients.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a float element type",
    label = "needs a float element type: f64, f32, f16 or bf16",
    note = "`.cast::<f32>()` converts"
)]
pub trait FloatElement: NumericElement {}

/// An integer element type; any of them can index.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an integer element type",
    label = "needs an integer element type, such as i32",
    note = "`.cast::<i32>()` converts"
)]
pub trait IntElement: NumericElement {}

/// The element type of a tensor at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum DType {
    F64,
    F32,
    F16,
    BF16,
    I64,
    I32,
    I16,
    I8,
    U64,
    U32,
    U16,
    U8,
    Bool,
}

impl DType {
    /// Every element type.
    pub const ALL: &[DType] = &[
        DType::F64,
        DType::F32,
        DType::F16,
        DType::BF16,
        DType::I64,
        DType::I32,
        DType::I16,
        DType::I8,
        DType::U64,
        DType::U32,
        DType::U16,
        DType::U8,
        DType::Bool,
    ];

    /// Whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, DType::F64 | DType::F32 | DType::F16 | DType::BF16)
    }

    /// Whether it is an integer type, signed or not.
    pub fn is_int(self) -> bool {
        !self.is_float() && self != DType::Bool
    }

    /// Whether it is an unsigned integer type.
    pub fn is_unsigned(self) -> bool {
        matches!(self, DType::U64 | DType::U32 | DType::U16 | DType::U8)
    }

    /// `f32` for a half type, else the type itself: what holds sums and small steps without losing them.
    pub(crate) fn widened(self) -> DType {
        match self {
            DType::F16 | DType::BF16 => DType::F32,
            other => other,
        }
    }

    /// 0 as an element of this type: `false` for `bool`.
    pub(crate) fn zero(self) -> Scalar {
        match self {
            DType::Bool => Scalar::Bool(false),
            _ => Scalar::Int(0),
        }
    }

    /// 1 as an element of this type: `true` for `bool`.
    pub(crate) fn one(self) -> Scalar {
        match self {
            DType::Bool => Scalar::Bool(true),
            _ => Scalar::Int(1),
        }
    }

    /// The bytes that one element takes.
    pub fn size(self) -> usize {
        match self {
            DType::F64 | DType::I64 | DType::U64 => 8,
            DType::F32 | DType::I32 | DType::U32 => 4,
            DType::F16 | DType::BF16 | DType::I16 | DType::U16 => 2,
            DType::I8 | DType::U8 | DType::Bool => 1,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DType::F64 => "f64",
            DType::F32 => "f32",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::I64 => "i64",
            DType::I32 => "i32",
            DType::I16 => "i16",
            DType::I8 => "i8",
            DType::U64 => "u64",
            DType::U32 => "u32",
            DType::U16 => "u16",
            DType::U8 => "u8",
            DType::Bool => "bool",
        })
    }
}

/// One value of any element type, as an operand of an op.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Scalar {
    /// A float.
    Float(f64),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    UInt(u64),
    /// A truth value.
    Bool(bool),
}

impl Scalar {
    /// The value as an element, converted as `Element::from_scalar` says.
    pub fn to<E: Element>(self) -> E {
        E::from_scalar(self)
    }

    /// Whether a tensor of `dtype` can take this scalar as an operand without losing what it says: an integer
    /// tensor takes no fraction and nothing outside its range, no number takes a truth value.
    pub fn fits(self, dtype: DType) -> bool {
        let whole = match self {
            Scalar::Bool(_) => return dtype == DType::Bool,
            _ if !dtype.is_int() => return dtype.is_float(),
            Scalar::Float(v) if v != v.trunc() => return false,
            Scalar::Float(v) => v as i128, // saturates: an infinity is outside every range
            Scalar::Int(v) => v.into(),
            Scalar::UInt(v) => v.into(),
        };
        let bits = 8 * dtype.size();
        match dtype.is_unsigned() {
            true => (0..1 << bits).contains(&whole),
            false => (-1 << (bits - 1)..1 << (bits - 1)).contains(&whole),
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Float(v) => write!(f, "{v:?}"),
            Scalar::Int(v) => v.fmt(f),
            Scalar::UInt(v) => v.fmt(f),
            Scalar::Bool(v) => v.fmt(f),
        }
    }
}

impl<E: Element> From<E> for Scalar {
    fn from(value: E) -> Self {
        value.to_scalar()
    }
}

/// Runs `$body` with `$T` naming the Rust type of a run-time `DType`.
#[macro_export]
#[doc(hidden)]
macro_rules! with_dtype {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            $crate::DType::F64 => {
                type $T = f64;
                $body
            }
            $crate::DType::F32 => {
                type $T = f32;
                $body
            }
            $crate::DType::F16 => {
                type $T = $crate::f16;
                $body
            }
            $crate::DType::BF16 => {
                type $T = $crate::bf16;
                $body
            }
            $crate::DType::I64 => {
                type $T = i64;
                $body
            }
            $crate::DType::I32 => {
                type $T = i32;
                $body
            }
            $crate::DType::I16 => {
                type $T = i16;
                $body
            }
            $crate::DType::I8 => {
                type $T = i8;
                $body
            }
            $crate::DType::U64 => {
                type $T = u64;
                $body
            }
            $crate::DType::U32 => {
                type $T = u32;
                $body
            }
            $crate::DType::U16 => {
                type $T = u16;
                $body
            }
            $crate::DType::U8 => {
                type $T = u8;
                $body
            }
            $crate::DType::Bool => {
                type $T = bool;
                $body
            }
        }
    };
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! element {
    ($($T:ty, $variant:ident, $scalar:ident as $wide:ty, $from:expr, $to:expr, [$($kind:ident)*];)*) => { $(
        impl sealed::Sealed for $T {}
        $(#[diagnostic::do_not_recommend]
        impl $kind for $T {})*
        impl Element for $T {
            const DTYPE: DType = DType::$variant;
            fn from_scalar(scalar: Scalar) -> Self {
                // Each conversion goes straight from the scalar's own type: saturating from floats, wrapping from ints.
                let from = $from;
                from(scalar)
            }
            fn to_scalar(self) -> Scalar {
                let to: fn($T) -> $wide = $to;
                Scalar::$scalar(to(self))
            }
            fn into_buffer(values: Vec<Self>) -> Buffer {
                Buffer::$variant(values)
            }
            fn from_buffer(buffer: Buffer) -> Result<Vec<Self>, Buffer> {
                match buffer {
                    Buffer::$variant(values) => Ok(values),
                    other => Err(other),
                }
            }
            fn slice(buffer: &Buffer) -> Option<&[Self]> {
                match buffer {
                    Buffer::$variant(values) => Some(values),
                    _ => None,
                }
            }
            fn slice_mut(buffer: &mut Buffer) -> Option<&mut [Self]> {
                match buffer {
                    Buffer::$variant(values) => Some(values),
                    _ => None,
                }
            }
        }
    )* };
}

macro_rules! number {
    ($T:ty) => {
        |s: Scalar| match s {
            Scalar::Float(v) => v as $T,
            Scalar::Int(v) => v as $T,
            Scalar::UInt(v) => v as $T,
            Scalar::Bool(v) => v as u8 as $T,
        }
    };
}
macro_rules! half {
    ($T:ty) => {
        |s: Scalar| <$T>::from_f32(to_odd(s.to::<f64>()))
    };
}

/// `x` rounded to `f32` such that rounding the result to a half type rounds `x` correctly: an inexact one is odd
/// (Boldo & Melquiond 2008). The conversions of `half` from `f64` ignore the low bits.
fn to_odd(x: f64) -> f32 {
    let nearest = x as f32;
    let rounded = f64::from(nearest);
    if rounded == x || !nearest.is_finite() || nearest.to_bits() & 1 == 1 {
        return nearest;
    }
    // The other neighbour of `x`: bits grow with the magnitude.
    f32::from_bits(if rounded.abs() < x.abs() {
        nearest.to_bits() + 1
    } else {
        nearest.to_bits() - 1
    })
}

element! {
    f64, F64, Float as f64, number!(f64), |v| v, [NumericElement FloatElement];
    f32, F32, Float as f64, number!(f32), |v| v as f64, [NumericElement FloatElement];
    f16, F16, Float as f64, half!(f16), |v| v.to_f64(), [NumericElement FloatElement];
    bf16, BF16, Float as f64, half!(bf16), |v| v.to_f64(), [NumericElement FloatElement];
    i64, I64, Int as i64, number!(i64), |v| v, [NumericElement IntElement];
    i32, I32, Int as i64, number!(i32), |v| v as i64, [NumericElement IntElement];
    i16, I16, Int as i64, number!(i16), |v| v as i64, [NumericElement IntElement];
    i8, I8, Int as i64, number!(i8), |v| v as i64, [NumericElement IntElement];
    u64, U64, UInt as u64, number!(u64), |v| v, [NumericElement IntElement];
    u32, U32, UInt as u64, number!(u32), |v| v as u64, [NumericElement IntElement];
    u16, U16, UInt as u64, number!(u16), |v| v as u64, [NumericElement IntElement];
    u8, U8, UInt as u64, number!(u8), |v| v as u64, [NumericElement IntElement];
    bool, Bool, Bool as bool, |s: Scalar| match s {
        Scalar::Float(v) => v != 0.0,
        Scalar::Int(v) => v != 0,
        Scalar::UInt(v) => v != 0,
        Scalar::Bool(v) => v,
    }, |v| v, [];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_types_round_once() {
        // A tie, and values just beside it that nothing but the last bits of an f64 tell from it.
        for (tie, low, high) in [
            (1.0 + 2f64.powi(-8), 1.0, 1.0 + 2f64.powi(-7)),
            (-1.0 - 2f64.powi(-8), -1.0, -1.0 - 2f64.powi(-7)),
        ] {
            let beside = |towards: f64| tie + (towards - tie) * 2f64.powi(-40);
            assert_eq!(Scalar::Float(tie).to::<bf16>().to_f64(), low);
            assert_eq!(Scalar::Float(beside(high)).to::<bf16>().to_f64(), high);
            assert_eq!(Scalar::Float(beside(low)).to::<bf16>().to_f64(), low);
        }
        assert_eq!(
            Scalar::Float(1.0 + 2f64.powi(-11) + 2f64.powi(-50))
                .to::<f16>()
                .to_f64(),
            1.0 + 2f64.powi(-10)
        );
        assert_eq!(Scalar::Float(1e-60).to::<f16>(), f16::from_f64(0.0));
        assert_eq!(Scalar::Float(f64::MAX).to::<bf16>(), bf16::INFINITY);
        assert!(Scalar::Float(f64::NAN).to::<f16>().is_nan());
    }
}
