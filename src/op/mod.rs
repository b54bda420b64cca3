//! The one vocabulary of operations: plain data that knows no backend.
//!
//! An [`Op<T>`] holds its operands as `T`. Backends execute `Op<Primitive>`, the tape keeps `Op<Input>`, a recorder
//! keeps `Op<ValueId>`; [`Op::try_map`] leads from one to another, and [`infer`] is the only logic of shapes and
//! element types. Creation is apart ([`CreateOp`]), since it needs a device.

use std::convert::Infallible;

use serde::{Deserialize, Serialize};

use crate::element::{DType, Scalar};
use crate::error::Error;
use crate::shape::{Dims, Shape};

mod compare;
mod conv;
mod create;
mod elementwise;
mod fused;
mod index;
mod infer;
pub mod lower;
mod movement;
pub mod random;
mod reduce;
pub(crate) mod roots;
pub mod scalar;

pub use compare::CompareOp;
pub(crate) use conv::windows;
pub use conv::{ConvOp, ConvOptions, PoolOp, PoolOptions};
pub use create::{CreateOp, infer_create};
pub use elementwise::{BinaryOp, UnaryOp};
pub use fused::FusedOp;
pub use index::{IndexOp, ScatterMode};
pub use infer::infer;
pub(crate) use infer::{checked, distinct_axes, in_rank};
pub use movement::{MoveOp, PadMode, SliceRange};
pub use reduce::{ReduceOp, ScanOp};

/// One operation on operands of type `T`. It has one output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Op<T> {
    /// An element-wise function of one operand.
    Unary(UnaryOp, T),
    /// An element-wise function of two operands, broadcast to each other.
    Binary(BinaryOp, Arg<T>, Arg<T>),
    /// A comparison of two operands, broadcast to each other; gives `bool`.
    Compare(CompareOp, Arg<T>, Arg<T>),
    /// A reduction over axes, which stay with size 1.
    Reduce(ReduceOp, T, Dims),
    /// A running reduction along an axis.
    Scan(ScanOp, T, usize),
    /// A rearrangement; a view where the backend has views.
    Move(MoveOp, T),
    /// Concatenation along an axis.
    Cat(Vec<T>, usize),
    /// Reading, writing or finding by index.
    Index(Box<IndexOp<T>>),
    /// Matrix product of the last two axes; the others are batch axes, broadcast to each other.
    Matmul(T, T),
    /// Convolution and its relatives.
    Conv(Box<ConvOp<T>>),
    /// Pooling over the axes after the first two.
    Pool(Box<PoolOp>, T),
    /// Conversion to another element type.
    Cast(DType, T),
    /// A composite that a backend may have a kernel for; [`lower::fused`] expresses it by the others.
    Fused(Box<FusedOp<T>>),
}

/// An operand of a binary op: a tensor or a number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Arg<T> {
    /// A tensor.
    Tensor(T),
    /// A number, taken to the element type of the other operand.
    Scalar(Scalar),
}

/// What is known of a tensor without its values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// The shape.
    pub shape: Shape,
    /// The element type.
    pub dtype: DType,
}

/// Anything whose shape and element type are known. Asking never executes anything.
pub trait HasMeta {
    /// The shape.
    fn shape(&self) -> &Shape;
    /// The element type.
    fn dtype(&self) -> DType;
    /// Both.
    fn meta(&self) -> Meta {
        Meta {
            shape: self.shape().clone(),
            dtype: self.dtype(),
        }
    }
}

impl HasMeta for Meta {
    fn shape(&self) -> &Shape {
        &self.shape
    }
    fn dtype(&self) -> DType {
        self.dtype
    }
}

impl<T: HasMeta + ?Sized> HasMeta for &T {
    fn shape(&self) -> &Shape {
        (**self).shape()
    }
    fn dtype(&self) -> DType {
        (**self).dtype()
    }
}

impl<T> Op<T> {
    /// The name of the operation, as error messages give it.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Unary(op, _) => op.name(),
            Op::Binary(op, ..) => op.name(),
            Op::Compare(op, ..) => op.name(),
            Op::Reduce(op, ..) => op.name(),
            Op::Scan(op, ..) => op.name(),
            Op::Move(op, _) => op.name(),
            Op::Cat(..) => "cat",
            Op::Index(op) => op.name(),
            Op::Matmul(..) => "matmul",
            Op::Conv(op) => op.name(),
            Op::Pool(op, _) => op.name(),
            Op::Cast(..) => "cast",
            Op::Fused(op) => op.name(),
        }
    }

    /// The same operation on other operands.
    ///
    /// # Errors
    /// The first that `f` returns.
    pub fn try_map<U, X>(self, mut f: impl FnMut(T) -> Result<U, X>) -> Result<Op<U>, X> {
        let f = &mut f;
        Ok(match self {
            Op::Unary(op, x) => Op::Unary(op, f(x)?),
            Op::Binary(op, a, b) => Op::Binary(op, a.try_map(f)?, b.try_map(f)?),
            Op::Compare(op, a, b) => Op::Compare(op, a.try_map(f)?, b.try_map(f)?),
            Op::Reduce(op, x, axes) => Op::Reduce(op, f(x)?, axes),
            Op::Scan(op, x, axis) => Op::Scan(op, f(x)?, axis),
            Op::Move(op, x) => Op::Move(op, f(x)?),
            Op::Cat(xs, axis) => Op::Cat(xs.into_iter().map(f).collect::<Result<_, X>>()?, axis),
            Op::Index(op) => Op::Index(Box::new(op.try_map(f)?)),
            Op::Matmul(a, b) => Op::Matmul(f(a)?, f(b)?),
            Op::Conv(op) => Op::Conv(Box::new(op.try_map(f)?)),
            Op::Pool(op, x) => Op::Pool(op, f(x)?),
            Op::Cast(dtype, x) => Op::Cast(dtype, f(x)?),
            Op::Fused(op) => Op::Fused(Box::new(op.try_map(f)?)),
        })
    }

    /// The same operation on other operands.
    pub fn map<U>(self, mut f: impl FnMut(T) -> U) -> Op<U> {
        let Ok(op) = self.try_map(|x| Ok::<U, Infallible>(f(x)));
        op
    }

    /// The first tensor operand; every op that `infer` accepts has one.
    pub fn first(&self) -> Option<&T> {
        let mut first = None;
        self.visit(|x| first = first.or(Some(x)));
        first
    }

    /// Calls `f` on every tensor operand, in the order of [`Op::try_map`].
    pub fn visit<'a>(&'a self, mut f: impl FnMut(&'a T)) {
        match self {
            Op::Unary(_, x)
            | Op::Reduce(_, x, _)
            | Op::Scan(_, x, _)
            | Op::Move(_, x)
            | Op::Pool(_, x)
            | Op::Cast(_, x) => f(x),
            Op::Binary(_, a, b) | Op::Compare(_, a, b) => {
                a.tensor().map(&mut f);
                b.tensor().map(&mut f);
            }
            Op::Cat(xs, _) => xs.iter().for_each(f),
            Op::Index(op) => op.visit(&mut f),
            Op::Matmul(a, b) => {
                f(a);
                f(b);
            }
            Op::Conv(op) => op.visit(&mut f),
            Op::Fused(op) => op.visit(&mut f),
        }
    }
}

impl<T> Arg<T> {
    /// The tensor, if it is one.
    pub fn tensor(&self) -> Option<&T> {
        match self {
            Arg::Tensor(x) => Some(x),
            Arg::Scalar(_) => None,
        }
    }

    fn try_map<U, X>(self, f: &mut impl FnMut(T) -> Result<U, X>) -> Result<Arg<U>, X> {
        Ok(match self {
            Arg::Tensor(x) => Arg::Tensor(f(x)?),
            Arg::Scalar(s) => Arg::Scalar(s),
        })
    }
}

/// Declares a fieldless op with its names and the list of all, so that no list can miss one.
macro_rules! leaf_ops {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$vdoc])* $variant),* }
        impl $name {
            /// Every operation of this family.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];
            /// The name, as error messages give it.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }
    };
}
pub(crate) use leaf_ops;

/// Validates an op, infers its result, and executes it: the only way in to a backend.
///
/// # Errors
/// What [`infer`] finds wrong, operands on different devices, or what the backend reports.
pub fn run<B: crate::backend::Backend>(op: Op<B::Primitive>) -> Result<B::Primitive, Error> {
    let meta = infer(&op)?;
    same_device::<B>(&op)?;
    B::execute(op, &meta)
}

fn same_device<B: crate::backend::Backend>(op: &Op<B::Primitive>) -> Result<(), Error> {
    let mut first: Option<&B::Primitive> = None;
    let mut result = Ok(());
    op.visit(|x| match first {
        None => first = Some(x),
        Some(y) if result.is_err() || B::same_device(x, y) => {}
        Some(y) => result = Err(mismatch::<B>(op.name(), &B::device(y), &B::device(x))),
    });
    result
}

pub(crate) fn mismatch<B: crate::backend::Backend>(
    op: &'static str,
    left: &B::Device,
    right: &B::Device,
) -> Error {
    let op = op.into();
    match (B::name(left), B::name(right)) {
        (a, b) if a == b => Error::DeviceMismatch {
            op,
            left: format!("{left:?}"),
            right: format!("{right:?}"),
        },
        (left, right) => Error::BackendMismatch { op, left, right },
    }
}
