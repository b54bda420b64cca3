//! Rearrangements.

use super::{AsDim, ExpandArgs, MovedimArgs, ReshapeArgs, Tensor, ok};
use crate::backend::Backend;
use crate::element::Element;
use crate::error::Error;
use crate::op::PadMode;
use crate::raw::Raw;

/// Shapes and ranks.
impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// Another shape for the same elements in row-major order. Among signed sizes one may be -1, for what
    /// the others leave.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::zeros([2, 6], &Default::default());
    /// assert_eq!(x.clone().reshape([3, 4]).dims(), [3, 4]);
    /// assert_eq!(x.reshape([2, -1, 2]).dims(), [2, 3, 2]);
    /// ```
    ///
    /// # Panics
    /// If the numbers of elements differ, more than one size is -1, or another is negative.
    #[track_caller]
    pub fn reshape<const D2: usize>(self, shape: impl ReshapeArgs<D2>) -> Tensor<B, D2, E> {
        Tensor::of(
            shape
                .sizes(self.raw.shape())
                .and_then(|sizes| self.raw.reshape(sizes)),
        )
    }

    /// Joins the axes from `start_dim` to `end_dim`, both included, into one.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 4>::zeros([2, 3, 4, 5], &Default::default());
    /// assert_eq!(x.flatten::<2>(1, 3).dims(), [2, 60]);
    /// ```
    ///
    /// # Panics
    /// If there are no such axes, `end_dim` lies before `start_dim`, or the result has not rank `D2`.
    #[track_caller]
    pub fn flatten<const D2: usize>(self, start_dim: impl AsDim, end_dim: impl AsDim) -> Tensor<B, D2, E> {
        const { assert!(D2 <= D, "`flatten` joins axes: D2 must not exceed D") }
        Tensor::of_rank(
            "flatten",
            self.raw.flatten(Self::axis(start_dim), Self::axis(end_dim)),
        )
    }

    /// Removes every axis of size 1.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 3>::zeros([1, 3, 1], &Default::default());
    /// assert_eq!(x.squeeze::<1>().dims(), [3]);
    /// ```
    ///
    /// # Panics
    /// If the result has not rank `D2`.
    #[track_caller]
    pub fn squeeze<const D2: usize>(self) -> Tensor<B, D2, E> {
        const { assert!(D2 < D, "`squeeze` removes axes: D2 must be less than D") }
        Tensor::of_rank("squeeze", self.raw.squeeze())
    }

    /// Removes an axis of size 1.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 3>::zeros([1, 3, 1], &Default::default());
    /// assert_eq!(x.squeeze_dim::<2>(-1).dims(), [1, 3]);
    /// ```
    ///
    /// # Panics
    /// If there is no such axis, or it has another size.
    #[track_caller]
    pub fn squeeze_dim<const D2: usize>(self, dim: impl AsDim) -> Tensor<B, D2, E> {
        const { assert!(D2 + 1 == D, "`squeeze_dim` removes one axis: D2 must be D - 1") }
        Tensor::of(self.raw.squeeze_dim(Self::axis(dim)))
    }

    /// Removes axes of size 1.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 3>::zeros([1, 3, 1], &Default::default());
    /// assert_eq!(x.squeeze_dims::<1>(&[0, 2]).dims(), [3]);
    /// ```
    ///
    /// # Panics
    /// If there are no such axes, one has another size or stands twice, or the result has not rank `D2`.
    #[track_caller]
    pub fn squeeze_dims<const D2: usize>(self, dims: &[impl AsDim]) -> Tensor<B, D2, E> {
        const { assert!(D2 <= D, "`squeeze_dims` removes axes: D2 must not exceed D") }
        Tensor::of_rank("squeeze", self.raw.squeeze_dims(&Self::axes(dims)))
    }

    /// Inserts axes of size 1 before the first, up to rank `D2`.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::zeros([3], &Default::default());
    /// assert_eq!(x.unsqueeze::<3>().dims(), [1, 1, 3]);
    /// ```
    #[track_caller]
    pub fn unsqueeze<const D2: usize>(self) -> Tensor<B, D2, E> {
        const { assert!(D2 >= D, "`unsqueeze` adds axes: D2 must not be less than D") }
        Tensor::of(self.raw.unsqueeze(D2))
    }

    /// Inserts an axis of size 1 at place `dim` of the result.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::zeros([3], &Default::default());
    /// assert_eq!(x.clone().unsqueeze_dim::<2>(1).dims(), [3, 1]);
    /// assert_eq!(x.unsqueeze_dim::<2>(0).dims(), [1, 3]);
    /// ```
    ///
    /// # Panics
    /// If the result has no such axis.
    #[track_caller]
    pub fn unsqueeze_dim<const D2: usize>(self, dim: impl AsDim) -> Tensor<B, D2, E> {
        const { assert!(D2 == D + 1, "`unsqueeze_dim` adds one axis: D2 must be D + 1") }
        Tensor::of(self.raw.unsqueeze_dim(dim.axis(D2)))
    }

    /// Inserts axes of size 1 at these places of the result.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::zeros([3], &Default::default());
    /// assert_eq!(x.unsqueeze_dims::<3>(&[0, -1]).dims(), [1, 3, 1]);
    /// ```
    ///
    /// # Panics
    /// If the result has no such axes, or one stands twice, or it has not rank `D2`.
    #[track_caller]
    pub fn unsqueeze_dims<const D2: usize>(self, dims: &[impl AsDim]) -> Tensor<B, D2, E> {
        const { assert!(D2 >= D, "`unsqueeze_dims` adds axes: D2 must not be less than D") }
        let axes: Vec<usize> = dims.iter().map(|dim| dim.axis(D2)).collect();
        Tensor::of_rank("unsqueeze", self.raw.unsqueeze_dims(&axes))
    }

    /// Stretches axes of size 1 to the given sizes; -1 among signed sizes keeps an axis. New axes come first.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.0, 2.0], &Default::default());
    /// assert_eq!(x.expand([3, 2]).into_vec()?, [1.0, 2.0, 1.0, 2.0, 1.0, 2.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If an axis of another size than 1 would have to stretch, or a size is negative and not -1.
    #[track_caller]
    pub fn expand<const D2: usize>(self, shape: impl ExpandArgs<D2>) -> Tensor<B, D2, E> {
        const { assert!(D2 >= D, "`expand` keeps or adds axes: D2 must not be less than D") }
        Tensor::of(self.raw.unsqueeze(D2).and_then(|x| {
            let sizes = shape.sizes(&x.shape().dims())?;
            x.expand(sizes)
        }))
    }
}

/// Order of axes and elements.
impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// Exchanges the last two axes: of each matrix, its transpose.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], &Default::default());
    /// assert_eq!(x.transpose().into_vec()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    #[track_caller]
    pub fn transpose(self) -> Self {
        const {
            assert!(
                D >= 2,
                "`transpose` exchanges the last two axes: it needs rank 2 or more"
            )
        }
        Self::of(self.raw.transpose())
    }

    /// [`Tensor::transpose`] of a matrix.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::zeros([2, 3], &Default::default());
    /// assert_eq!(x.t().dims(), [3, 2]);
    /// ```
    #[track_caller]
    pub fn t(self) -> Self {
        const { assert!(D == 2, "`t` is for matrices: rank 2") }
        Self::of(self.raw.t())
    }

    /// Exchanges two axes.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 3>::zeros([2, 3, 4], &Default::default());
    /// assert_eq!(x.swap_dims(0, -1).dims(), [4, 3, 2]);
    /// ```
    ///
    /// # Panics
    /// If there are no such axes.
    #[track_caller]
    pub fn swap_dims(self, dim1: impl AsDim, dim2: impl AsDim) -> Self {
        Self::of(self.raw.swap_dims(Self::axis(dim1), Self::axis(dim2)))
    }

    /// Axis `i` of the result is axis `axes[i]` of this tensor.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 3>::zeros([2, 3, 4], &Default::default());
    /// assert_eq!(x.permute([1, 2, 0]).dims(), [3, 4, 2]);
    /// ```
    ///
    /// # Panics
    /// If there are no such axes, or one stands twice.
    #[track_caller]
    pub fn permute(self, axes: [impl AsDim; D]) -> Self {
        Self::of(self.raw.permute(Self::axes(&axes)))
    }

    /// Moves axes `src` to the places `dst`; the others keep their order.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 4>::zeros([2, 3, 4, 5], &Default::default());
    /// assert_eq!(x.movedim([0, 1], [-1, 0]).dims(), [3, 4, 5, 2]);
    /// ```
    ///
    /// # Panics
    /// If there are no such axes, or one stands twice.
    #[track_caller]
    pub fn movedim<S: MovedimArgs, T: MovedimArgs>(self, src: S, dst: T) -> Self {
        const { assert!(S::AXES == T::AXES, "`movedim` takes a place for each axis") }
        Self::of(self.raw.movedim(src.axes(D), dst.axes(D)))
    }

    /// Reverses the elements along axes.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0], [3.0, 4.0]], &Default::default());
    /// assert_eq!(x.flip([1]).into_vec()?, [2.0, 1.0, 4.0, 3.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there are no such axes, or one stands twice.
    #[track_caller]
    pub fn flip<const N: usize>(self, axes: [impl AsDim; N]) -> Self {
        Self::of(self.raw.flip(Self::axes(&axes)))
    }

    /// Shifts the elements along axes, by positive numbers towards the end; those pushed over an end come in at the
    /// other.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0], [3.0, 4.0]], &Default::default());
    /// assert_eq!(x.roll(&[1, 1], &[0, 1]).into_vec()?, [4.0, 3.0, 2.0, 1.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there are no such axes, or not as many as shifts.
    #[track_caller]
    pub fn roll(self, shifts: &[isize], dims: &[impl AsDim]) -> Self {
        Self::of(self.raw.roll(shifts, &Self::axes(dims)))
    }

    /// Shifts the elements along one axis, by a positive number towards the end; those pushed over an end come in at
    /// the other.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.0, 2.0, 3.0], &Default::default());
    /// assert_eq!(x.clone().roll_dim(1, 0).into_vec()?, [3.0, 1.0, 2.0]);
    /// assert_eq!(x.roll_dim(-1, 0).into_vec()?, [2.0, 3.0, 1.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis.
    #[track_caller]
    pub fn roll_dim(self, shift: isize, dim: impl AsDim) -> Self {
        Self::of(self.raw.roll_dim(shift, Self::axis(dim)))
    }
}

/// Parts, copies and joins.
impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// `length` elements from `start` along an axis.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.0, 2.0, 3.0, 4.0], &Default::default());
    /// assert_eq!(x.narrow(0, 1, 2).into_vec()?, [2.0, 3.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis, or it has not that many.
    #[track_caller]
    pub fn narrow(self, dim: impl AsDim, start: usize, length: usize) -> Self {
        Self::of(self.raw.narrow(Self::axis(dim), start, length))
    }

    /// At most `chunks` parts of one size along an axis, `⌈size / chunks⌉`; the last may be shorter. An empty axis has no
    /// parts.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::zeros([7], &Default::default());
    /// let sizes: Vec<_> = x.chunk(3, 0).iter().map(|part| part.dims()).collect();
    /// assert_eq!(sizes, [[3], [3], [1]]);
    /// ```
    ///
    /// # Panics
    /// If there is no such axis, or `chunks` is 0.
    #[track_caller]
    pub fn chunk(self, chunks: usize, dim: impl AsDim) -> Vec<Self> {
        Self::of_all(self.raw.chunk(chunks, Self::axis(dim)))
    }

    /// Parts of `split_size` elements along an axis; the last may be shorter. An empty axis has no parts.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::zeros([7], &Default::default());
    /// let sizes: Vec<_> = x.split(2, 0).iter().map(|part| part.dims()).collect();
    /// assert_eq!(sizes, [[2], [2], [2], [1]]);
    /// ```
    ///
    /// # Panics
    /// If there is no such axis, or `split_size` is 0.
    #[track_caller]
    pub fn split(self, split_size: usize, dim: impl AsDim) -> Vec<Self> {
        Self::of_all(self.raw.split(split_size, Self::axis(dim)))
    }

    /// Parts of the given sizes along an axis.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.0, 2.0, 3.0], &Default::default());
    /// let parts = x.split_with_sizes(&[1, 2], 0);
    /// assert_eq!(parts[1].clone().into_vec()?, [2.0, 3.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis, or the sizes do not add up to it.
    #[track_caller]
    pub fn split_with_sizes(self, split_sizes: &[usize], dim: impl AsDim) -> Vec<Self> {
        Self::of_all(self.raw.split_with_sizes(split_sizes, Self::axis(dim)))
    }

    /// The slices of size 1 along an axis, in order.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0], [3.0, 4.0]], &Default::default());
    /// let last = x.iter_dim(0).last().unwrap();
    /// assert_eq!((last.dims(), last.into_vec()?), ([1, 2], vec![3.0, 4.0]));
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis.
    #[track_caller]
    pub fn iter_dim(self, dim: impl AsDim) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator {
        ok(self.raw.iter_dim(Self::axis(dim))).map(Self::wrap)
    }

    /// Joins tensors along an axis; along the others their sizes are equal.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::zeros([2, 3], &Default::default());
    /// assert_eq!(Tensor::cat(vec![x.clone(), x], 1).dims(), [2, 6]);
    /// ```
    ///
    /// # Panics
    /// If there are none, the sizes differ, or there is no such axis.
    #[track_caller]
    pub fn cat(tensors: Vec<Self>, dim: impl AsDim) -> Self {
        let raw = tensors.into_iter().map(Self::into_raw).collect();
        Self::of(Raw::cat(raw, Self::axis(dim)))
    }

    /// Joins tensors of one shape along a new axis, at place `dim` of the result.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.0, 2.0], &Default::default());
    /// let pairs: Tensor<_, 2> = Tensor::stack(vec![x.clone(), -x], 1);
    /// assert_eq!(pairs.into_vec()?, [1.0, -1.0, 2.0, -2.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there are none, the shapes differ, or the result has no such axis.
    #[track_caller]
    pub fn stack<const D2: usize>(tensors: Vec<Self>, dim: impl AsDim) -> Tensor<B, D2, E> {
        const { assert!(D2 == D + 1, "`stack` adds one axis: D2 must be D + 1") }
        let raw = tensors.into_iter().map(Self::into_raw).collect();
        Tensor::of(Raw::stack(raw, dim.axis(D2)))
    }

    /// Repeats the whole tensor along each axis, so many times.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0]], &Default::default());
    /// assert_eq!(x.repeat(&[2, 2]).into_vec()?, [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is not one number for each axis, or the result exceeds the address space.
    #[track_caller]
    pub fn repeat(self, times: &[usize]) -> Self {
        Self::of(self.raw.repeat(times))
    }

    /// Repeats the whole tensor along one axis, so many times.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.0, 2.0], &Default::default());
    /// assert_eq!(x.repeat_dim(0, 2).into_vec()?, [1.0, 2.0, 1.0, 2.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis, or the result exceeds the address space.
    #[track_caller]
    pub fn repeat_dim(self, dim: impl AsDim, times: usize) -> Self {
        Self::of(self.raw.repeat_dim(Self::axis(dim), times))
    }

    /// The windows of `size` elements along an axis, one at each `step`-th: the axis counts the windows, and a new last one
    /// holds their elements. Of an axis shorter than a window there are none.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.0, 2.0, 3.0, 4.0, 5.0], &Default::default());
    /// let windows: Tensor<_, 2> = x.unfold(0, 3, 2);
    /// assert_eq!(windows.into_data()?, TensorData::new(vec![1.0f32, 2.0, 3.0, 3.0, 4.0, 5.0], [2, 3])?);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis, or the step is 0.
    #[track_caller]
    pub fn unfold<const D2: usize>(self, dim: impl AsDim, size: usize, step: usize) -> Tensor<B, D2, E> {
        const { assert!(D2 == D + 1, "`unfold` adds one axis: D2 must be D + 1") }
        Tensor::of(self.raw.unfold(Self::axis(dim), size, step))
    }

    /// Adds elements around the last axes: `padding` holds (before, after) for each of them, the last axis last. They
    /// are one number, or what a [`PadMode`] makes of the tensor's own.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::ones([1, 2], &Default::default());
    /// assert_eq!(x.clone().pad([(1, 0)], 0.0).into_vec()?, [0.0, 1.0, 1.0]);
    /// assert_eq!(x.pad([(0, 1), (0, 0)], PadMode::Replicate).into_vec()?, [1.0; 4]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the mode needs more elements than an axis has, or the number is none for elements `E`.
    #[track_caller]
    pub fn pad<const N: usize>(self, padding: [(usize, usize); N], mode: impl Into<PadMode>) -> Self {
        const { assert!(N <= D, "`pad` takes at most one pair for each axis") }
        Self::of(self.raw.pad(padding, mode))
    }

    /// Zeros below a diagonal of the last two axes: 0 is the main one, positive ones lie above it.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::ones([2, 3], &Default::default());
    /// assert_eq!(x.clone().triu(0).into_vec()?, [1.0, 1.0, 1.0, 0.0, 1.0, 1.0]);
    /// assert_eq!(x.triu(1).into_vec()?, [0.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the device fails.
    #[track_caller]
    pub fn triu(self, diagonal: i64) -> Self {
        const { assert!(D >= 2, "`triu` is of the last two axes: it needs rank 2 or more") }
        Self::of(self.raw.triu(diagonal))
    }

    /// Zeros above a diagonal of the last two axes: 0 is the main one, positive ones lie above it.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::ones([2, 3], &Default::default());
    /// assert_eq!(x.clone().tril(0).into_vec()?, [1.0, 0.0, 0.0, 1.0, 1.0, 0.0]);
    /// assert_eq!(x.tril(-1).into_vec()?, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the device fails.
    #[track_caller]
    pub fn tril(self, diagonal: i64) -> Self {
        const { assert!(D >= 2, "`tril` is of the last two axes: it needs rank 2 or more") }
        Self::of(self.raw.tril(diagonal))
    }

    #[track_caller]
    fn of_all(parts: Result<Vec<Raw<B>>, Error>) -> Vec<Self> {
        ok(parts).into_iter().map(Self::wrap).collect()
    }
}
