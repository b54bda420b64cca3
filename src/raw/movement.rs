use super::Raw;
use crate::backend::Backend;
use crate::error::Error;
use crate::op::{self, MoveOp, Op, PadMode, SliceRange};
use crate::shape::{Dims, Shape};

/// Rearrangements.
///
/// # Errors
/// Each returns what [`op::run`] does.
impl<B: Backend> Raw<B> {
    /// A movement op.
    pub fn movement(self, op: MoveOp) -> Result<Self, Error> {
        op::run::<B>(Op::Move(op, self.0)).map(Raw)
    }

    /// Another shape for the same elements.
    pub fn reshape(self, shape: impl Into<Shape>) -> Result<Self, Error> {
        let shape = shape.into();
        if *self.shape() == shape {
            Ok(self)
        } else {
            self.movement(MoveOp::Reshape(shape))
        }
    }

    /// Every axis joined into one.
    pub fn flatten(self) -> Result<Self, Error> {
        let len = self.shape().num_elements();
        self.reshape([len])
    }

    /// Axis `i` of the result is axis `axes[i]` of the input.
    pub fn permute(self, axes: &[usize]) -> Result<Self, Error> {
        self.movement(MoveOp::Permute(Dims::from_slice(axes)))
    }

    /// Exchanges two axes.
    pub fn swap_dims(self, a: usize, b: usize) -> Result<Self, Error> {
        let mut axes: Dims = (0..self.rank()).collect();
        if a >= axes.len() || b >= axes.len() {
            return Err(Error::argument(
                "swap_dims",
                format!("axes {a} and {b} of a tensor of rank {}", self.rank()),
            ));
        }
        axes.swap(a, b);
        self.permute(&axes)
    }

    /// Exchanges the last two axes.
    pub fn transpose(self) -> Result<Self, Error> {
        match self.rank() {
            rank if rank < 2 => Err(Error::rank("transpose", rank, "rank 2 or more")),
            rank => self.swap_dims(rank - 2, rank - 1),
        }
    }

    /// Stretches axes of size 1.
    pub fn expand(self, shape: impl Into<Shape>) -> Result<Self, Error> {
        let shape = shape.into();
        if *self.shape() == shape {
            Ok(self)
        } else {
            self.movement(MoveOp::Expand(shape))
        }
    }

    /// A range of every axis.
    pub fn slice(self, ranges: &[SliceRange]) -> Result<Self, Error> {
        self.movement(MoveOp::Slice(ranges.into()))
    }

    /// A range of one axis.
    pub fn narrow(self, axis: usize, start: usize, len: usize) -> Result<Self, Error> {
        let mut ranges: Vec<SliceRange> = self
            .shape()
            .iter()
            .map(|&size| SliceRange::new(0, size))
            .collect();
        let rank = ranges.len();
        let range = ranges
            .get_mut(axis)
            .ok_or_else(|| Error::argument("narrow", format!("axis {axis} of a tensor of rank {rank}")))?;
        *range = SliceRange::new(start, start.saturating_add(len));
        self.slice(&ranges)
    }

    /// Reverses axes.
    pub fn flip(self, axes: &[usize]) -> Result<Self, Error> {
        self.movement(MoveOp::Flip(Dims::from_slice(axes)))
    }

    /// Adds elements before and after along each axis.
    pub fn pad(self, pads: &[(usize, usize)], mode: PadMode) -> Result<Self, Error> {
        self.movement(MoveOp::Pad(pads.into(), mode))
    }

    /// Repeats the whole tensor along each axis.
    pub fn repeat(self, times: &[usize]) -> Result<Self, Error> {
        self.movement(MoveOp::Repeat(Dims::from_slice(times)))
    }

    /// Joins tensors along an axis.
    pub fn cat(xs: Vec<Self>, axis: usize) -> Result<Self, Error> {
        op::run::<B>(Op::Cat(xs.into_iter().map(|x| x.0).collect(), axis)).map(Raw)
    }

    /// Inserts an axis of size 1.
    pub fn unsqueeze(self, axis: usize) -> Result<Self, Error> {
        if axis > self.rank() {
            return Err(Error::argument(
                "unsqueeze",
                format!("axis {axis} beside the {} there are", self.rank()),
            ));
        }
        let mut dims = self.shape().to_vec();
        dims.insert(axis, 1);
        self.reshape(dims)
    }

    /// Removes an axis of size 1.
    pub fn squeeze(self, axis: usize) -> Result<Self, Error> {
        if self.shape().get(axis) != Some(&1) {
            return Err(Error::shape(
                "squeeze",
                &[self.shape()],
                format!("axis {axis} is not of size 1"),
            ));
        }
        let mut dims = self.shape().to_vec();
        dims.remove(axis);
        self.reshape(dims)
    }
}
