use super::Raw;
use crate::backend::Backend;
use crate::error::Error;
use crate::op::{self, Op, ReduceOp, ScanOp};
use crate::shape::Dims;

/// Reductions and scans. Reduced axes stay with size 1.
///
/// # Errors
/// Each returns what [`op::run`] does.
impl<B: Backend> Raw<B> {
    /// A reduction over axes.
    pub fn reduce(self, op: ReduceOp, axes: &[usize]) -> Result<Self, Error> {
        op::run::<B>(Op::Reduce(op, self.0, Dims::from_slice(axes))).map(Raw)
    }

    /// A reduction over every axis, to shape `[1]`.
    pub fn reduce_all(self, op: ReduceOp) -> Result<Self, Error> {
        if op.is_arg() && self.rank() != 1 {
            return self.flatten()?.reduce_all(op);
        }
        let axes: Dims = (0..self.rank()).collect();
        self.reduce(op, &axes)?.reshape([1])
    }

    /// A running reduction along an axis.
    pub fn scan(self, op: ScanOp, axis: usize) -> Result<Self, Error> {
        op::run::<B>(Op::Scan(op, self.0, axis)).map(Raw)
    }

    /// The sum over axes.
    pub fn sum(self, axes: &[usize]) -> Result<Self, Error> {
        self.reduce(ReduceOp::Sum, axes)
    }

    /// The mean over axes.
    pub fn mean(self, axes: &[usize]) -> Result<Self, Error> {
        self.reduce(ReduceOp::Mean, axes)
    }

    /// The sum down to a shape that this one was broadcast from.
    pub fn sum_to(self, shape: &[usize]) -> Result<Self, Error> {
        let stretched = |&axis: &usize| shape[axis] == 1 && self.shape()[axis] != 1;
        let axes: Dims = (0..self.rank()).filter(stretched).collect();
        if axes.is_empty() {
            Ok(self)
        } else {
            self.sum(&axes)
        }
    }
}
