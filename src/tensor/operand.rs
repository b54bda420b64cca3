//! What stands on the other side of a binary op.

use super::Tensor;
use crate::backend::{Backend, BackendTypes};
use crate::element::{Element, FloatElement, NumericElement, Scalar};
use crate::op::Arg;
use crate::raw::Raw;

/// The other operand of a binary op: a tensor of the same backend, rank and element type, a reference to one, or a
/// number.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be combined with a rank-{D} tensor of `{E}` on `{B}`",
    label = "not the same backend, rank and element type, and not a number",
    note = "`.to_backend(..)` moves, `.unsqueeze()` raises the rank, `.cast()` converts"
)]
pub trait Operand<B: BackendTypes, const D: usize, E> {
    /// The operand without its types.
    fn into_arg(self) -> Arg<Raw<B>>;
}

impl<B: Backend, const D: usize, E: Element> Operand<B, D, E> for Tensor<B, D, E> {
    fn into_arg(self) -> Arg<Raw<B>> {
        Arg::Tensor(self.into_raw())
    }
}

impl<B: Backend, const D: usize, E: Element> Operand<B, D, E> for &Tensor<B, D, E> {
    fn into_arg(self) -> Arg<Raw<B>> {
        Arg::Tensor(self.raw().clone())
    }
}

macro_rules! number_operands {
    ($($T:ty: $bound:ident),*) => { $(
        impl<B: Backend, const D: usize, E: $bound> Operand<B, D, E> for $T {
            fn into_arg(self) -> Arg<Raw<B>> {
                Arg::Scalar(Scalar::from(self))
            }
        }
    )* };
}

number_operands!(f32: FloatElement, f64: FloatElement, i32: NumericElement, i64: NumericElement, u8: NumericElement,
    u32: NumericElement, u64: NumericElement);
