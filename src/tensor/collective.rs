//! Operations of the device's group. Every member calls them in the same order, with tensors of the same shape.
//!
//! Under `Autodiff` they are differentiable: every member's backward pass comes by them, or none does.

use super::Tensor;
use crate::autodiff::{self, AutodiffBackend, Gradients};
use crate::backend::{Backend, Synced};
use crate::collective::{CollectiveBackend, CollectiveOp, Pending, ReduceKind};
use crate::element::{Element, FloatElement, NumericElement};
use crate::error::Error;

impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// Reduces the members' tensors, element by element in the order of ranks: every member gets the same bits.
    ///
    /// The gradient through a sum is the sum of the members' gradients, through a mean their mean.
    ///
    /// # Errors
    /// If a member is missing or does something else; for the mean of integers; for the maximum, minimum and product of
    /// a tracked tensor, which have no gradient.
    pub fn all_reduce(self, kind: ReduceKind) -> Result<Self, Error>
    where
        B: CollectiveBackend,
        E: NumericElement,
    {
        self.all_reduce_async(kind)?.wait()
    }

    /// Starts [`Tensor::all_reduce`]; the result is there after [`Pending::wait`].
    ///
    /// # Errors
    /// As [`Tensor::all_reduce`], if it is known already.
    pub fn all_reduce_async(self, kind: ReduceKind) -> Result<Pending<Self>, Error>
    where
        B: CollectiveBackend,
        E: NumericElement,
    {
        self.start(CollectiveOp::AllReduce(kind))
    }

    /// Gives every member the tensor of the member `root`.
    ///
    /// # Errors
    /// If a member is missing or does something else, or `root` is none.
    pub fn broadcast(self, root: usize) -> Result<Self, Error>
    where
        B: CollectiveBackend,
    {
        self.broadcast_async(root)?.wait()
    }

    /// Starts [`Tensor::broadcast`].
    ///
    /// # Errors
    /// As [`Tensor::broadcast`], if it is known already.
    pub fn broadcast_async(self, root: usize) -> Result<Pending<Self>, Error>
    where
        B: CollectiveBackend,
    {
        self.start(CollectiveOp::Broadcast { root })
    }

    /// Concatenates the members' tensors along an axis, in the order of ranks.
    ///
    /// # Errors
    /// If a member is missing or does something else, or there is no such axis.
    pub fn all_gather(self, axis: usize) -> Result<Self, Error>
    where
        B: CollectiveBackend,
    {
        self.all_gather_async(axis)?.wait()
    }

    /// Starts [`Tensor::all_gather`].
    ///
    /// # Errors
    /// As [`Tensor::all_gather`], if it is known already.
    pub fn all_gather_async(self, axis: usize) -> Result<Pending<Self>, Error>
    where
        B: CollectiveBackend,
    {
        self.start(CollectiveOp::AllGather { axis })
    }

    /// Reduces the members' tensors, and gives each member its part of the result: the axis is cut into as many equal
    /// parts as there are members.
    ///
    /// # Errors
    /// As [`Tensor::all_reduce`], and if the axis cannot be cut.
    pub fn reduce_scatter(self, kind: ReduceKind, axis: usize) -> Result<Self, Error>
    where
        B: CollectiveBackend,
        E: NumericElement,
    {
        self.reduce_scatter_async(kind, axis)?.wait()
    }

    /// Starts [`Tensor::reduce_scatter`].
    ///
    /// # Errors
    /// As [`Tensor::reduce_scatter`], if it is known already.
    pub fn reduce_scatter_async(self, kind: ReduceKind, axis: usize) -> Result<Pending<Self>, Error>
    where
        B: CollectiveBackend,
        E: NumericElement,
    {
        self.start(CollectiveOp::ReduceScatter { kind, axis })
    }

    /// Cuts the axis `split` into as many equal parts as there are members, and gives each member its part of every
    /// tensor, concatenated along the axis `concat` in the order of ranks.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let [a, b] = [[1.0, 2.0], [3.0, 4.0]];
    /// let members = Mesh::<Flex>::open(2)?;
    /// let results = std::thread::scope(|scope| {
    ///     let threads: Vec<_> = members
    ///         .into_iter()
    ///         .zip([a, b])
    ///         .map(|(device, values)| {
    ///             scope.spawn(move || Tensor::<Mesh<Flex>, 1>::from_array(values, &device).all_to_all(0, 0)?.into_vec())
    ///         })
    ///         .collect();
    ///     threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Result<Vec<_>, Error>>()
    /// })?;
    /// assert_eq!(results, [[1.0, 3.0], [2.0, 4.0]]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If a member is missing or does something else, there is no such axis, or the axis cannot be cut.
    pub fn all_to_all(self, split: usize, concat: usize) -> Result<Self, Error>
    where
        B: CollectiveBackend,
    {
        self.all_to_all_async(split, concat)?.wait()
    }

    /// Starts [`Tensor::all_to_all`].
    ///
    /// # Errors
    /// As [`Tensor::all_to_all`], if it is known already.
    pub fn all_to_all_async(self, split: usize, concat: usize) -> Result<Pending<Self>, Error>
    where
        B: CollectiveBackend,
    {
        self.start(CollectiveOp::AllToAll { split, concat })
    }

    /// The mean, over the members of the group, of the gradients of this tensor's sum: [`Tensor::backward`] and
    /// [`Gradients::sync`] in one, where the exchange of a gradient begins as soon as it is complete, while the backward
    /// pass goes on. On a local backend it is `backward`.
    ///
    /// # Errors
    /// If the tensor was computed from no leaf, a member is missing or does something else, or the backend fails.
    pub fn backward_synced(self) -> Result<Gradients<B::Plain, Synced>, Error>
    where
        B: AutodiffBackend,
        E: FloatElement,
    {
        autodiff::backward_synced::<B>(self.into_primitive())
    }

    fn start(self, op: CollectiveOp) -> Result<Pending<Self>, Error>
    where
        B: CollectiveBackend,
    {
        Ok(self.into_raw().collective(op)?.and_then(Self::try_from_raw))
    }
}
