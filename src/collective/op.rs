use serde::{Deserialize, Serialize};

use crate::element::DType;
use crate::error::{Error, Name};
use crate::op::{HasMeta, Meta, in_rank};
use crate::shape::Shape;

/// How the members' values become one, element by element in the order of ranks: every member gets the same bits, on
/// every run. Half types accumulate in `f32`, integers wrap, NaN propagates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ReduceKind {
    /// The sum.
    Sum,
    /// The sum divided by the number of members; for float types.
    Mean,
    /// The greatest.
    Max,
    /// The least.
    Min,
    /// The product.
    Prod,
}

/// An operation of a group on one tensor of each member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CollectiveOp {
    /// Every member gets the reduction.
    AllReduce(ReduceKind),
    /// Every member gets the tensor of one.
    Broadcast {
        /// The rank of that one.
        root: usize,
    },
    /// Every member gets all tensors, concatenated along an axis in the order of ranks.
    AllGather {
        /// The axis.
        axis: usize,
    },
    /// Every member gets its part of the reduction: the axis is cut into as many equal parts as there are members.
    ReduceScatter {
        /// How to reduce.
        kind: ReduceKind,
        /// The axis that is cut.
        axis: usize,
    },
    /// Every member gets its part of every tensor, concatenated in the order of ranks: one axis is cut into as many equal
    /// parts as there are members.
    AllToAll {
        /// The axis that is cut.
        split: usize,
        /// The axis along which the parts are joined.
        concat: usize,
    },
}

impl ReduceKind {
    /// The name, as error messages give it.
    pub fn name(self) -> &'static str {
        match self {
            ReduceKind::Sum => "sum",
            ReduceKind::Mean => "mean",
            ReduceKind::Max => "max",
            ReduceKind::Min => "min",
            ReduceKind::Prod => "prod",
        }
    }

    pub(super) fn takes(self, op: &'static str, dtype: DType) -> Result<(), Error> {
        match (self, dtype) {
            (_, DType::Bool) => Err(Error::dtype(op, dtype, "a number type")),
            (ReduceKind::Mean, dtype) if !dtype.is_float() => {
                Err(Error::dtype(op, dtype, "a float type for a mean"))
            }
            _ => Ok(()),
        }
    }
}

impl CollectiveOp {
    /// The name, as error messages give it.
    pub fn name(self) -> &'static str {
        match self {
            CollectiveOp::AllReduce(_) => "all_reduce",
            CollectiveOp::Broadcast { .. } => "broadcast",
            CollectiveOp::AllGather { .. } => "all_gather",
            CollectiveOp::ReduceScatter { .. } => "reduce_scatter",
            CollectiveOp::AllToAll { .. } => "all_to_all",
        }
    }

    /// The name with the arguments in which members must agree.
    pub(super) fn describe(self) -> Name {
        match self {
            CollectiveOp::AllReduce(kind) => format!("all_reduce({})", kind.name()).into(),
            CollectiveOp::Broadcast { root } => format!("broadcast(root {root})").into(),
            CollectiveOp::AllGather { axis } => format!("all_gather(axis {axis})").into(),
            CollectiveOp::ReduceScatter { kind, axis } => {
                format!("reduce_scatter({}, axis {axis})", kind.name()).into()
            }
            CollectiveOp::AllToAll { split, concat } => {
                format!("all_to_all(split {split}, concat {concat})").into()
            }
        }
    }

    /// The shape and the element type of the result in a group of `size` members.
    ///
    /// # Errors
    /// If the root is no member, the axis is none of the tensor's or cannot be cut, or the reduction does not take the
    /// element type.
    pub fn infer<T: HasMeta>(self, x: &T, size: usize) -> Result<Meta, Error> {
        let op = self.name();
        let axis_of = |axis: usize| -> Result<usize, Error> {
            in_rank(op, axis, x.shape().rank())?;
            Ok(x.shape()[axis])
        };
        let cut = |axis: usize| -> Result<Shape, Error> {
            let len = axis_of(axis)?;
            if !len.is_multiple_of(size) {
                let message = format!("axis {axis} of size {len} cannot be cut into {size} equal parts");
                return Err(Error::shape(op, &[x.shape()], message));
            }
            Ok(x.shape().clone().with(axis, len / size))
        };
        let joined = |part: Shape, axis: usize| -> Result<Shape, Error> {
            axis_of(axis)?;
            let too_long = || {
                let message = format!("axis {axis}, {size} times, is too long");
                Error::shape(op, &[x.shape()], message)
            };
            let len = part[axis].checked_mul(size).ok_or_else(too_long)?;
            let shape = part.with(axis, len);
            shape.checked_elements().ok_or_else(too_long)?;
            Ok(shape)
        };
        let shape = match self {
            CollectiveOp::AllReduce(kind) => {
                kind.takes(op, x.dtype())?;
                x.shape().clone()
            }
            CollectiveOp::Broadcast { root } if root >= size => {
                let message = format!("rank {root} is not in the group of {size}");
                return Err(Error::argument(op, message));
            }
            CollectiveOp::Broadcast { .. } => x.shape().clone(),
            CollectiveOp::AllGather { axis } => joined(x.shape().clone(), axis)?,
            CollectiveOp::ReduceScatter { kind, axis } => {
                kind.takes(op, x.dtype())?;
                cut(axis)?
            }
            CollectiveOp::AllToAll { split, concat } => joined(cut(split)?, concat)?,
        };
        Ok(Meta {
            shape,
            dtype: x.dtype(),
        })
    }
}
