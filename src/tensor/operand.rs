//! What stands on the other side of a binary op.

use half::{bf16, f16};

use super::Tensor;
use crate::backend::{Backend, BackendTypes};
use crate::element::{Element, FloatElement, NumericElement, Scalar};
use crate::op::{Arg, BinaryOp, UnaryOp};
use crate::raw::Raw;

/// The other operand of a binary op: a tensor of the same backend, rank and element type, a reference to one, or a
/// number.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be combined with a rank-{D} tensor of `{E}` on `{B}`",
    label = "not the same backend, rank and element type, and not a number",
    note = "`.to_backend(..)` moves, `Tensor::from_inner(..)` lifts to `Autodiff`, `.unsqueeze()` raises the rank, `.cast()` \
            converts",
    note = "a pending collective result is a tensor after `.wait()?`"
)]
pub trait Operand<B: BackendTypes, const D: usize, E> {
    /// `E`. Operators bound this instead of `E`: the compiler then looks at the operand first, and an element type without
    /// arithmetic gets this crate's message. A function generic over operands of operators asks for
    /// `Operand<B, D, E, Element = E>`.
    type Element;

    /// The operand without its types.
    fn into_arg(self) -> Arg<Raw<B>>;
}

impl<B: Backend, const D: usize, E: Element> Operand<B, D, E> for Tensor<B, D, E> {
    type Element = E;
    fn into_arg(self) -> Arg<Raw<B>> {
        Arg::Tensor(self.into_raw())
    }
}

impl<B: Backend, const D: usize, E: Element> Operand<B, D, E> for &Tensor<B, D, E> {
    type Element = E;
    fn into_arg(self) -> Arg<Raw<B>> {
        Arg::Tensor(self.raw().clone())
    }
}

macro_rules! number_operands {
    ($($T:ty: $bound:ident),*) => { $(
        impl<B: Backend, const D: usize, E: $bound> Operand<B, D, E> for $T {
            type Element = E;
            fn into_arg(self) -> Arg<Raw<B>> {
                Arg::Scalar(Scalar::from(self))
            }
        }
    )* };
}

number_operands!(f64: FloatElement, f32: FloatElement, f16: FloatElement, bf16: FloatElement, i64: NumericElement,
    i32: NumericElement, i16: NumericElement, i8: NumericElement, u64: NumericElement, u32: NumericElement,
    u16: NumericElement, u8: NumericElement);

impl<B: Backend, const D: usize> Operand<B, D, bool> for bool {
    type Element = bool;
    fn into_arg(self) -> Arg<Raw<B>> {
        Arg::Scalar(Scalar::Bool(self))
    }
}

impl<B: Backend, const D: usize, E: Element> Operand<B, D, E> for Scalar {
    type Element = E;
    fn into_arg(self) -> Arg<Raw<B>> {
        Arg::Scalar(self)
    }
}

/// An element type with `!`, `&`, `|` and `^`: integers, bit by bit, and `bool`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` elements have no `!`, `&`, `|`, `^`",
    label = "needs an integer element type or `bool`",
    note = "`.cast::<bool>()` or `.cast::<i32>()` converts"
)]
pub trait BitElement: Element {
    /// What `!` does.
    const NOT: UnaryOp;
    /// What `&` does.
    const AND: BinaryOp;
    /// What `|` does.
    const OR: BinaryOp;
    /// What `^` does.
    const XOR: BinaryOp;
}

macro_rules! bit_elements {
    ($($T:ty)*: $NOT:ident $AND:ident $OR:ident $XOR:ident) => { $(
        impl BitElement for $T {
            const NOT: UnaryOp = UnaryOp::$NOT;
            const AND: BinaryOp = BinaryOp::$AND;
            const OR: BinaryOp = BinaryOp::$OR;
            const XOR: BinaryOp = BinaryOp::$XOR;
        }
    )* };
}

bit_elements!(bool: LogicalNot LogicalAnd LogicalOr LogicalXor);
bit_elements!(i64 i32 i16 i8 u64 u32 u16 u8: BitwiseNot BitwiseAnd BitwiseOr BitwiseXor);
