//! Reading, writing and finding by index. Index tensors are of any integer type; an index outside its axis panics.

use super::{AsDim, Tensor};
use crate::backend::{Backend, Readable};
use crate::element::{Element, IntElement, NumericElement, Scalar};
use crate::error::Error;
use crate::op::ScatterMode;
use crate::raw::{Slice, SliceArgs};

/// Slices.
impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// Part of each axis: an array of ranges, a tuple of ranges of different kinds, or [`s!`](crate::s), which knows
    /// steps too. Bounds may count from the end; axes without a range stay whole, and a single index leaves size 1.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], &Default::default());
    /// assert_eq!(x.clone().slice([0..1, 1..3]).into_vec()?, [2.0, 3.0]);
    /// assert_eq!(x.slice((.., -1)).into_vec()?, [3.0, 6.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If a range lies outside its axis.
    #[track_caller]
    pub fn slice<R: SliceArgs>(self, ranges: R) -> Self {
        const { assert!(R::AXES <= D, "`slice` takes at most one range for each axis") }
        Self::of(self.raw.slice(ranges))
    }

    /// Part of one axis: a range, whose bounds may count from the end, or a single index, which leaves size 1.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], &Default::default());
    /// assert_eq!(x.clone().slice_dim(1, 1..).into_vec()?, [2.0, 3.0, 5.0, 6.0]);
    /// assert_eq!(x.slice_dim(1, -1).into_vec()?, [3.0, 6.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis, or the range lies outside it.
    #[track_caller]
    pub fn slice_dim(self, dim: impl AsDim, range: impl Into<Slice>) -> Self {
        Self::of(self.raw.slice_dim(Self::axis(dim), range))
    }

    /// `values` in place of the elements of a slice, whose shape they have.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Flex, 2>::zeros([2, 3], &device);
    /// let values = Tensor::from_array([[1.0, 2.0]], &device);
    /// assert_eq!(x.slice_assign((1, 1..3), values).into_vec()?, [0.0, 0.0, 0.0, 0.0, 1.0, 2.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If a range lies outside its axis, or the values have another shape.
    #[track_caller]
    pub fn slice_assign<R: SliceArgs>(self, ranges: R, values: Self) -> Self {
        const {
            assert!(
                R::AXES <= D,
                "`slice_assign` takes at most one range for each axis"
            )
        }
        Self::of(self.raw.slice_assign(ranges, values.raw))
    }

    /// One number in place of the elements of a slice.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::zeros([5], &Default::default());
    /// assert_eq!(x.slice_fill(s![0..;2], 1.0).into_vec()?, [1.0, 0.0, 1.0, 0.0, 1.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If a range lies outside its axis, or the number is none for elements `E`.
    #[track_caller]
    pub fn slice_fill<R: SliceArgs>(self, ranges: R, value: impl Into<Scalar>) -> Self {
        const { assert!(R::AXES <= D, "`slice_fill` takes at most one range for each axis") }
        Self::of(self.raw.slice_fill(ranges, value))
    }
}

/// Indices held by tensors, of any integer type. An index outside its axis panics: none counts from the end.
impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// `out[i][j] = x[i][indices[i][j]]` (along axis 1); the result has the shape of `indices`.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0], [3.0, 4.0]], &device);
    /// let indices = Tensor::<_, 2, i32>::from_array([[1, 0, 1], [0, 0, 1]], &device);
    /// assert_eq!(x.gather(1, indices).into_vec()?, [2.0, 1.0, 2.0, 3.0, 3.0, 4.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis, an index lies outside it, or `indices` is longer than this tensor along another axis.
    #[track_caller]
    pub fn gather<I: IntElement>(self, dim: impl AsDim, indices: Tensor<B, D, I>) -> Self {
        Self::of(self.raw.gather(Self::axis(dim), indices.raw))
    }

    /// `out[i][indices[i][j]] = values[i][j]` (along axis 1), combined with what is there by `update`; the rest stays.
    /// `values` has the shape of `indices`.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Flex, 1>::from_array([10.0, 20.0, 30.0], &device);
    /// let indices = Tensor::<_, 1, i32>::from_array([0, 2, 0], &device);
    /// let values = Tensor::from_array([1.0, 2.0, 3.0], &device);
    /// assert_eq!(x.scatter(0, indices, values, ScatterMode::Add).into_vec()?, [14.0, 20.0, 32.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis, an index lies outside it, or the shapes do not fit.
    #[track_caller]
    pub fn scatter<I: IntElement>(
        self,
        dim: impl AsDim,
        indices: Tensor<B, D, I>,
        values: Self,
        update: ScatterMode,
    ) -> Self {
        Self::of(self.raw.scatter(Self::axis(dim), indices.raw, values.raw, update))
    }

    /// The slices along an axis that `indices` names, in its order.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0], [3.0, 4.0]], &device);
    /// let rows = Tensor::<Flex, 1, i32>::from_array([1, 1, 0], &device);
    /// assert_eq!(x.select(0, rows).into_vec()?, [3.0, 4.0, 3.0, 4.0, 1.0, 2.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis, or an index lies outside it.
    #[track_caller]
    pub fn select<I: IntElement>(self, dim: impl AsDim, indices: Tensor<B, 1, I>) -> Self {
        Self::of(self.raw.select(Self::axis(dim), indices.raw))
    }

    /// `values` at the slices along an axis that `indices` names, combined with what is there by `update`.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Flex, 2>::zeros([3, 2], &device);
    /// let rows = Tensor::<_, 1, i32>::from_array([2, 0], &device);
    /// let values = Tensor::from_array([[1.0, 2.0], [3.0, 4.0]], &device);
    /// assert_eq!(x.select_assign(0, rows, values, ScatterMode::Set).into_vec()?, [3.0, 4.0, 0.0, 0.0, 1.0, 2.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis, an index lies outside it, or the values have not the shape that [`Tensor::select`]
    /// gives.
    #[track_caller]
    pub fn select_assign<I: IntElement>(
        self,
        dim: impl AsDim,
        indices: Tensor<B, 1, I>,
        values: Self,
        update: ScatterMode,
    ) -> Self {
        Self::of(
            self.raw
                .select_assign(Self::axis(dim), indices.raw, values.raw, update),
        )
    }

    /// [`Tensor::select`] by indices of any rank `DI`, whose axes stand in place of axis `dim`: `DO = D + DI - 1`.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Flex, 1>::from_array([1.0, 2.0, 3.0], &device);
    /// let indices = Tensor::<_, 2, i32>::from_array([[0, 1], [2, 0]], &device);
    /// let y: Tensor<_, 2> = x.take(0, indices);
    /// assert_eq!(y.into_vec()?, [1.0, 2.0, 3.0, 1.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis, or an index lies outside it.
    #[track_caller]
    pub fn take<const DI: usize, const DO: usize>(
        self,
        dim: impl AsDim,
        indices: Tensor<B, DI, impl IntElement>,
    ) -> Tensor<B, DO, E> {
        const {
            assert!(
                DO + 1 == D + DI,
                "`take` puts DI axes in place of one: DO must be D + DI - 1"
            )
        }
        Tensor::of(self.raw.take(Self::axis(dim), indices.raw))
    }

    /// Where the elements are not zero, in row-major order: for each axis the places along it, as many as there are such
    /// elements.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[0.0, 2.0], [3.0, 4.0]], &Default::default());
    /// let places = x.nonzero()?;
    /// assert_eq!(places[0].clone().into_vec()?, [0, 1, 1]); // rows
    /// assert_eq!(places[1].clone().into_vec()?, [1, 0, 1]); // columns
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the device failed: the values are read.
    pub fn nonzero(self) -> Result<Vec<Tensor<B, 1, i32>>, Error>
    where
        B: Readable,
    {
        let places = self.raw.nonzero()?;
        Ok(places.into_iter().map(Tensor::wrap).collect())
    }

    /// Where the elements are not zero, in row-major order: one row of `D` indices for each, `[n, D]`.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[0.0, 2.0], [0.0, 4.0]], &Default::default());
    /// assert_eq!(x.argwhere()?.into_vec()?, [0, 1, 1, 1]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the device failed: the values are read.
    pub fn argwhere(self) -> Result<Tensor<B, 2, i32>, Error>
    where
        B: Readable,
    {
        self.raw.argwhere().map(Tensor::wrap)
    }

    /// The elements where `mask`, of the same shape, is true, in row-major order.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, -2.0], [-3.0, 4.0]], &Default::default());
    /// let positive = x.clone().greater(0.0);
    /// assert_eq!(x.mask_select(positive)?.into_vec()?, [1.0, 4.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the shapes differ, or the device failed: the mask is read.
    pub fn mask_select(self, mask: Tensor<B, D, bool>) -> Result<Tensor<B, 1, E>, Error>
    where
        B: Readable,
    {
        self.raw.mask_select(mask.raw).map(Tensor::wrap)
    }
}

/// Order. NaN is greater than everything, and equal elements keep their order.
impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// The elements along an axis in ascending order.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([2.0, f32::NAN, 1.0, 3.0], &Default::default());
    /// assert_eq!(x.sort(0).to_string(), "[1.0, 2.0, 3.0, NaN]");
    /// ```
    ///
    /// # Panics
    /// If there is no such axis.
    #[track_caller]
    pub fn sort(self, dim: impl AsDim) -> Self
    where
        E: NumericElement,
    {
        Self::of(self.raw.sort(Self::axis(dim)))
    }

    /// The elements along an axis in descending order.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([2.0, f32::NAN, 1.0, 3.0], &Default::default());
    /// assert_eq!(x.sort_descending(0).to_string(), "[NaN, 3.0, 2.0, 1.0]");
    /// ```
    ///
    /// # Panics
    /// If there is no such axis.
    #[track_caller]
    pub fn sort_descending(self, dim: impl AsDim) -> Self
    where
        E: NumericElement,
    {
        Self::of(self.raw.sort_descending(Self::axis(dim)))
    }

    /// [`Tensor::sort`] and [`Tensor::argsort`] together.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([2.0, 3.0, 1.0, 2.0], &Default::default());
    /// let (values, indices) = x.sort_with_indices(0);
    /// assert_eq!(values.into_vec()?, [1.0, 2.0, 2.0, 3.0]);
    /// assert_eq!(indices.into_vec()?, [2, 0, 3, 1]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis.
    #[track_caller]
    pub fn sort_with_indices(self, dim: impl AsDim) -> (Self, Tensor<B, D, i32>)
    where
        E: NumericElement,
    {
        Self::of_pair(self.raw.sort_with_indices(Self::axis(dim)))
    }

    /// [`Tensor::sort_descending`] and [`Tensor::argsort_descending`] together.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([2.0, 3.0, 1.0, 2.0], &Default::default());
    /// let (values, indices) = x.sort_descending_with_indices(0);
    /// assert_eq!(values.into_vec()?, [3.0, 2.0, 2.0, 1.0]);
    /// assert_eq!(indices.into_vec()?, [1, 0, 3, 2]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis.
    #[track_caller]
    pub fn sort_descending_with_indices(self, dim: impl AsDim) -> (Self, Tensor<B, D, i32>)
    where
        E: NumericElement,
    {
        Self::of_pair(self.raw.sort_descending_with_indices(Self::axis(dim)))
    }

    /// Where the elements along an axis are, in ascending order.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([2.0, 3.0, 1.0, 2.0], &Default::default());
    /// assert_eq!(x.argsort(0).into_vec()?, [2, 0, 3, 1]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis.
    #[track_caller]
    pub fn argsort(self, dim: impl AsDim) -> Tensor<B, D, i32>
    where
        E: NumericElement,
    {
        Tensor::of(self.raw.argsort(Self::axis(dim)))
    }

    /// Where the elements along an axis are, in descending order.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([2.0, 3.0, 1.0, 2.0], &Default::default());
    /// assert_eq!(x.argsort_descending(0).into_vec()?, [1, 0, 3, 2]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis.
    #[track_caller]
    pub fn argsort_descending(self, dim: impl AsDim) -> Tensor<B, D, i32>
    where
        E: NumericElement,
    {
        Tensor::of(self.raw.argsort_descending(Self::axis(dim)))
    }

    /// The `k` greatest elements along an axis, in descending order.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([2.0, 3.0, 1.0, 2.0], &Default::default());
    /// assert_eq!(x.topk(2, 0).into_vec()?, [3.0, 2.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis, or it has fewer than `k` elements.
    #[track_caller]
    pub fn topk(self, k: usize, dim: impl AsDim) -> Self
    where
        E: NumericElement,
    {
        Self::of(self.raw.topk(k, Self::axis(dim)))
    }

    /// [`Tensor::topk`], and where the elements are.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([2.0, 3.0, 1.0, 2.0], &Default::default());
    /// let (values, indices) = x.topk_with_indices(2, 0);
    /// assert_eq!((values.into_vec()?, indices.into_vec()?), (vec![3.0, 2.0], vec![1, 0]));
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis, or it has fewer than `k` elements.
    #[track_caller]
    pub fn topk_with_indices(self, k: usize, dim: impl AsDim) -> (Self, Tensor<B, D, i32>)
    where
        E: NumericElement,
    {
        Self::of_pair(self.raw.topk_with_indices(k, Self::axis(dim)))
    }
}

/// More of indices and order.
impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// The slice at one place of an axis, which goes.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0], [3.0, 4.0]], &Default::default());
    /// assert_eq!(x.select_dim::<1>(1, -1).into_vec()?, [2.0, 4.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis, or the index lies outside it.
    #[track_caller]
    pub fn select_dim<const D2: usize>(self, dim: impl AsDim, index: impl AsDim) -> Tensor<B, D2, E> {
        const { assert!(D2 + 1 == D, "`select_dim` removes one axis: D2 must be D - 1") }
        let axis = Self::axis(dim);
        let size = self.dims().get(axis).copied().unwrap_or(0);
        Tensor::of(self.raw.select_dim(axis, index.axis(size)))
    }

    /// The slices that the rows of `indices` name. A row, the last axis, holds `k` indices, one for each of the first `k`
    /// axes of this tensor; the other axes of `indices` stand in place of those: from `[b…, k]` it is `[b…, rest…]`.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0], [3.0, 4.0]], &device);
    /// let at = Tensor::<Flex, 2, i32>::from_array([[1, 0], [0, 1]], &device);
    /// assert_eq!(x.gather_nd::<2, 1>(at).into_vec()?, [3.0, 2.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If a row is longer than this tensor's rank, an index lies outside its axis, or the result has not rank `DV`.
    #[track_caller]
    pub fn gather_nd<const M: usize, const DV: usize>(
        self,
        indices: Tensor<B, M, impl IntElement>,
    ) -> Tensor<B, DV, E> {
        const {
            assert!(
                M >= 1,
                "`gather_nd` takes rows of indices: they need rank 1 or more"
            )
        }
        Tensor::of_rank("gather_nd", self.raw.gather_nd(indices.raw))
    }

    /// `values` at the slices that the rows of `indices` name, as for [`Tensor::gather_nd`], combined with what is there by
    /// `update`.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Flex, 2>::zeros([2, 2], &device);
    /// let at = Tensor::<Flex, 2, i32>::from_array([[1, 0], [1, 0]], &device);
    /// let values = Tensor::<Flex, 1>::from_array([3.0, 2.0], &device);
    /// assert_eq!(x.scatter_nd(at, values, ScatterMode::Add).into_vec()?, [0.0, 0.0, 5.0, 0.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If a row is longer than this tensor's rank, an index lies outside its axis, or the values have not the shape that
    /// `gather_nd` gives.
    #[track_caller]
    pub fn scatter_nd<const M: usize, const DV: usize>(
        self,
        indices: Tensor<B, M, impl IntElement>,
        values: Tensor<B, DV, E>,
        update: ScatterMode,
    ) -> Self {
        const {
            assert!(
                M >= 1,
                "`scatter_nd` takes rows of indices: they need rank 1 or more"
            )
        }
        Self::of(self.raw.scatter_nd(indices.raw, values.raw, update))
    }

    /// Where the `k` greatest elements along an axis are, in descending order of the elements.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([3.0, 1.0, 4.0], &Default::default());
    /// assert_eq!(x.argtopk(2, 0).into_vec()?, [2, 0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis, or it has fewer than `k` elements.
    #[track_caller]
    pub fn argtopk(self, k: usize, dim: impl AsDim) -> Tensor<B, D, i32>
    where
        E: NumericElement,
    {
        Tensor::of(self.raw.argtopk(k, Self::axis(dim)))
    }
}
