//! Operations of the device's group. Every member calls them in the same order, with tensors of the same shape.
//!
//! Under `Autodiff` they are differentiable: every member's backward pass comes by them, or none does.

use super::{AsDim, Tensor};
use crate::autodiff::{self, AutodiffBackend, Gradients};
use crate::backend::{Backend, Synced};
use crate::collective::{CollectiveBackend, CollectiveOp, Pending, ReduceKind};
use crate::element::{Element, FloatElement, NumericElement};
use crate::error::Error;

/// Operations of the device's group. Every member calls them in the same order, with tensors of the same shape; each
/// waits for the others, at most for the group's [timeout](crate::GroupOptions::timeout).
///
/// Under `Autodiff` they are differentiable: every member's backward pass comes by them, or none does.
impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// Reduces the members' tensors, element by element in the order of ranks: every member gets the same bits.
    ///
    /// The gradient through a sum is the sum of the members' gradients, through a mean their mean.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let members = Mesh::<Flex>::open(2)?.into_iter().zip([[1.0], [3.0]]);
    /// let members = members.map(|(device, x)| std::thread::spawn(move || {
    ///     Tensor::<Mesh<Flex>, 1>::from_array(x, &device).all_reduce(ReduceKind::Sum)?.into_vec()
    /// }));
    /// for (member, result) in members.collect::<Vec<_>>().into_iter().zip([[4.0], [4.0]]) {
    ///     assert_eq!(member.join().unwrap()?, result);
    /// }
    /// # Ok::<(), keyway::Error>(())
    /// ```
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

    /// Starts [`Tensor::all_reduce`] without waiting for the others; the result is there after [`Pending::wait`].
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let members = Mesh::<Flex>::open(2)?.into_iter().zip([[1.0], [3.0]]);
    /// let pending = members.map(|(device, x)| {
    ///     Tensor::<Mesh<Flex>, 1>::from_array(x, &device).all_reduce_async(ReduceKind::Mean)
    /// });
    /// for (pending, result) in pending.collect::<Vec<_>>().into_iter().zip([[2.0], [2.0]]) {
    ///     assert_eq!(pending?.wait()?.into_vec()?, result);
    /// }
    /// # Ok::<(), keyway::Error>(())
    /// ```
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

    /// Gives every member the tensor of the member of rank `root`. The shapes are the same on all.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let members = Mesh::<Flex>::open(2)?.into_iter().zip([[1.0], [3.0]]);
    /// let members = members.map(|(device, x)| std::thread::spawn(move || {
    ///     Tensor::<Mesh<Flex>, 1>::from_array(x, &device).broadcast(1)?.into_vec()
    /// }));
    /// for (member, result) in members.collect::<Vec<_>>().into_iter().zip([[3.0], [3.0]]) {
    ///     assert_eq!(member.join().unwrap()?, result);
    /// }
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a member is missing or does something else, or no member has rank `root`.
    pub fn broadcast(self, root: usize) -> Result<Self, Error>
    where
        B: CollectiveBackend,
    {
        self.broadcast_async(root)?.wait()
    }

    /// Starts [`Tensor::broadcast`] without waiting for the others.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let members = Mesh::<Flex>::open(2)?.into_iter().zip([[1.0], [3.0]]);
    /// let pending = members.map(|(device, x)| {
    ///     Tensor::<Mesh<Flex>, 1>::from_array(x, &device).broadcast_async(0)
    /// });
    /// for (pending, result) in pending.collect::<Vec<_>>().into_iter().zip([[1.0], [1.0]]) {
    ///     assert_eq!(pending?.wait()?.into_vec()?, result);
    /// }
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
    /// ```
    /// use keyway::prelude::*;
    /// let members = Mesh::<Flex>::open(2)?.into_iter().zip([[1.0], [3.0]]);
    /// let members = members.map(|(device, x)| std::thread::spawn(move || {
    ///     Tensor::<Mesh<Flex>, 1>::from_array(x, &device).all_gather(0)?.into_vec()
    /// }));
    /// for (member, result) in members.collect::<Vec<_>>().into_iter().zip([[1.0, 3.0], [1.0, 3.0]]) {
    ///     assert_eq!(member.join().unwrap()?, result);
    /// }
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a member is missing or does something else, or there is no such axis.
    pub fn all_gather(self, dim: impl AsDim) -> Result<Self, Error>
    where
        B: CollectiveBackend,
    {
        self.all_gather_async(dim)?.wait()
    }

    /// Starts [`Tensor::all_gather`] without waiting for the others.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let members = Mesh::<Flex>::open(2)?.into_iter().zip([[1.0], [3.0]]);
    /// let pending = members.map(|(device, x)| {
    ///     Tensor::<Mesh<Flex>, 1>::from_array(x, &device).all_gather_async(0)
    /// });
    /// for (pending, result) in pending.collect::<Vec<_>>().into_iter().zip([[1.0, 3.0], [1.0, 3.0]]) {
    ///     assert_eq!(pending?.wait()?.into_vec()?, result);
    /// }
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Tensor::all_gather`], if it is known already.
    pub fn all_gather_async(self, dim: impl AsDim) -> Result<Pending<Self>, Error>
    where
        B: CollectiveBackend,
    {
        let axis = Self::axis(dim);
        self.start(CollectiveOp::AllGather { axis })
    }

    /// Reduces the members' tensors, and gives each member its part of the result: the axis is cut into as many equal
    /// parts as there are members.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let members = Mesh::<Flex>::open(2)?.into_iter().zip([[1.0, 2.0], [3.0, 4.0]]);
    /// let members = members.map(|(device, x)| std::thread::spawn(move || {
    ///     Tensor::<Mesh<Flex>, 1>::from_array(x, &device).reduce_scatter(0, ReduceKind::Sum)?.into_vec()
    /// }));
    /// for (member, result) in members.collect::<Vec<_>>().into_iter().zip([[4.0], [6.0]]) {
    ///     assert_eq!(member.join().unwrap()?, result);
    /// }
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Tensor::all_reduce`], and if the axis cannot be cut.
    pub fn reduce_scatter(self, dim: impl AsDim, kind: ReduceKind) -> Result<Self, Error>
    where
        B: CollectiveBackend,
        E: NumericElement,
    {
        self.reduce_scatter_async(dim, kind)?.wait()
    }

    /// Starts [`Tensor::reduce_scatter`] without waiting for the others.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let members = Mesh::<Flex>::open(2)?.into_iter().zip([[1.0, 2.0], [3.0, 4.0]]);
    /// let pending = members.map(|(device, x)| {
    ///     Tensor::<Mesh<Flex>, 1>::from_array(x, &device).reduce_scatter_async(0, ReduceKind::Max)
    /// });
    /// for (pending, result) in pending.collect::<Vec<_>>().into_iter().zip([[3.0], [4.0]]) {
    ///     assert_eq!(pending?.wait()?.into_vec()?, result);
    /// }
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Tensor::reduce_scatter`], if it is known already.
    pub fn reduce_scatter_async(self, dim: impl AsDim, kind: ReduceKind) -> Result<Pending<Self>, Error>
    where
        B: CollectiveBackend,
        E: NumericElement,
    {
        let axis = Self::axis(dim);
        self.start(CollectiveOp::ReduceScatter { kind, axis })
    }

    /// Cuts the axis `split_dim` into as many equal parts as there are members, and gives each member its part of every
    /// tensor, concatenated along the axis `concat_dim` in the order of ranks.
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
    pub fn all_to_all(self, split_dim: impl AsDim, concat_dim: impl AsDim) -> Result<Self, Error>
    where
        B: CollectiveBackend,
    {
        self.all_to_all_async(split_dim, concat_dim)?.wait()
    }

    /// Starts [`Tensor::all_to_all`].
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let alone = Mesh::<Flex>::open(1)?.remove(0);
    /// let x = Tensor::<Mesh<Flex>, 1>::from_array([1.0, 2.0], &alone);
    /// assert_eq!(x.all_to_all_async(0, 0)?.wait()?.into_vec()?, [1.0, 2.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Tensor::all_to_all`], if it is known already.
    pub fn all_to_all_async(
        self,
        split_dim: impl AsDim,
        concat_dim: impl AsDim,
    ) -> Result<Pending<Self>, Error>
    where
        B: CollectiveBackend,
    {
        let (split, concat) = (Self::axis(split_dim), Self::axis(concat_dim));
        self.start(CollectiveOp::AllToAll { split, concat })
    }

    /// The mean, over the members of the group, of the gradients of this tensor's sum: [`Tensor::backward`] and
    /// [`Gradients::sync`] in one, where the exchange of a gradient begins as soon as it is complete, while the backward
    /// pass goes on. On a local backend it is `backward`.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let members = Mesh::<Flex>::open(2)?.into_iter().zip([1.0, 3.0]);
    /// let members = members.map(|(device, x)| std::thread::spawn(move || {
    ///     let w = Tensor::<Autodiff<Mesh<Flex>>, 1>::ones([1], &device).set_distributed_params("w");
    ///     w.grad(&(w.clone() * x).backward_synced()?).unwrap().into_vec()
    /// }));
    /// for member in members.collect::<Vec<_>>() {
    ///     assert_eq!(member.join().unwrap()?, [2.0]); // the mean of 1 and 3
    /// }
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
