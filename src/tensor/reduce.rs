//! Reductions and scans. A reduced axis stays, with size 1.

use super::{AsDim, Tensor};
use crate::backend::Backend;
use crate::element::{Element, FloatElement, NumericElement};

macro_rules! reduce {
    ($($bound:ident, $word:literal, $all:ident $dim:ident $dims:ident;)*) => { $(
        #[doc = concat!("The ", $word, " of all elements, in shape `[1]`.")]
        #[track_caller]
        pub fn $all(self) -> Tensor<B, 1, E>
        where
            E: $bound,
        {
            Tensor::of(self.raw.$all())
        }

        #[doc = concat!("The ", $word, " along an axis, which stays with size 1.")]
        ///
        /// # Panics
        /// If there is no such axis.
        #[track_caller]
        pub fn $dim(self, dim: impl AsDim) -> Self
        where
            E: $bound,
        {
            Self::of(self.raw.$dim(Self::axis(dim)))
        }

        #[doc = concat!("The ", $word, " over several axes, which stay with size 1.")]
        ///
        /// # Panics
        /// If there is no such axis, or one stands twice.
        #[track_caller]
        pub fn $dims(self, dims: &[impl AsDim]) -> Self
        where
            E: $bound,
        {
            Self::of(self.raw.$dims(&Self::axes(dims)))
        }
    )* };
}

/// Reductions.
///
/// Sums and products of integers stay in their type and wrap; the sum of nothing is 0, its product 1, its mean NaN, and
/// its greatest or least element an error. NaN anywhere makes the result NaN.
impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    reduce! {
        NumericElement, "sum", sum sum_dim sum_dims;
        FloatElement, "mean", mean mean_dim mean_dims;
        NumericElement, "product", prod prod_dim prod_dims;
        NumericElement, "greatest", max max_dim max_dims;
        NumericElement, "least", min min_dim min_dims;
    }

    /// The greatest magnitude of all elements, in shape `[1]`.
    #[track_caller]
    pub fn max_abs(self) -> Tensor<B, 1, E>
    where
        E: NumericElement,
    {
        Tensor::of(self.raw.max_abs())
    }

    /// The greatest magnitude along an axis, which stays with size 1.
    ///
    /// # Panics
    /// If there is no such axis.
    #[track_caller]
    pub fn max_abs_dim(self, dim: impl AsDim) -> Self
    where
        E: NumericElement,
    {
        Self::of(self.raw.max_abs_dim(Self::axis(dim)))
    }

    /// Where the greatest element along an axis is: the first of several, and the first NaN before all. The axis stays,
    /// with size 1.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]], &Default::default());
    /// assert_eq!(x.argmax(1).into_vec()?, [0, 1]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis, or it is empty.
    #[track_caller]
    pub fn argmax(self, dim: impl AsDim) -> Tensor<B, D, i32>
    where
        E: NumericElement,
    {
        Tensor::of(self.raw.argmax(Self::axis(dim)))
    }

    /// Where the least element along an axis is: the first of several, and the first NaN before all. The axis stays,
    /// with size 1.
    ///
    /// # Panics
    /// If there is no such axis, or it is empty.
    #[track_caller]
    pub fn argmin(self, dim: impl AsDim) -> Tensor<B, D, i32>
    where
        E: NumericElement,
    {
        Tensor::of(self.raw.argmin(Self::axis(dim)))
    }

    /// [`Tensor::max_dim`] and [`Tensor::argmax`] together.
    ///
    /// # Panics
    /// If there is no such axis, or it is empty.
    #[track_caller]
    pub fn max_dim_with_indices(self, dim: impl AsDim) -> (Self, Tensor<B, D, i32>)
    where
        E: NumericElement,
    {
        Self::of_pair(self.raw.max_dim_with_indices(Self::axis(dim)))
    }

    /// [`Tensor::min_dim`] and [`Tensor::argmin`] together.
    ///
    /// # Panics
    /// If there is no such axis, or it is empty.
    #[track_caller]
    pub fn min_dim_with_indices(self, dim: impl AsDim) -> (Self, Tensor<B, D, i32>)
    where
        E: NumericElement,
    {
        Self::of_pair(self.raw.min_dim_with_indices(Self::axis(dim)))
    }

    /// Whether any element is not zero, in shape `[1]`; false of nothing.
    #[track_caller]
    pub fn any(self) -> Tensor<B, 1, bool> {
        Tensor::of(self.raw.any())
    }

    /// Whether any element along an axis is not zero. The axis stays, with size 1.
    ///
    /// # Panics
    /// If there is no such axis.
    #[track_caller]
    pub fn any_dim(self, dim: impl AsDim) -> Tensor<B, D, bool> {
        Tensor::of(self.raw.any_dim(Self::axis(dim)))
    }

    /// Whether no element is zero, in shape `[1]`; true of nothing.
    #[track_caller]
    pub fn all(self) -> Tensor<B, 1, bool> {
        Tensor::of(self.raw.all())
    }

    /// Whether no element along an axis is zero. The axis stays, with size 1.
    ///
    /// # Panics
    /// If there is no such axis.
    #[track_caller]
    pub fn all_dim(self, dim: impl AsDim) -> Tensor<B, D, bool> {
        Tensor::of(self.raw.all_dim(Self::axis(dim)))
    }
}

/// Statistics along an axis, which stays with size 1.
impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// The variance, `Σ (x - mean)² / (n - 1)`; NaN of fewer than two.
    ///
    /// # Panics
    /// If there is no such axis.
    #[track_caller]
    pub fn var(self, dim: impl AsDim) -> Self
    where
        E: FloatElement,
    {
        Self::of(self.raw.var(Self::axis(dim)))
    }

    /// The biased variance, `Σ (x - mean)² / n`.
    ///
    /// # Panics
    /// If there is no such axis.
    #[track_caller]
    pub fn var_bias(self, dim: impl AsDim) -> Self
    where
        E: FloatElement,
    {
        Self::of(self.raw.var_bias(Self::axis(dim)))
    }

    /// [`Tensor::var`], and the mean.
    ///
    /// # Panics
    /// If there is no such axis.
    #[track_caller]
    pub fn var_mean(self, dim: impl AsDim) -> (Self, Self)
    where
        E: FloatElement,
    {
        Self::of_pair(self.raw.var_mean(Self::axis(dim)))
    }

    /// [`Tensor::var_bias`], and the mean.
    ///
    /// # Panics
    /// If there is no such axis.
    #[track_caller]
    pub fn var_mean_bias(self, dim: impl AsDim) -> (Self, Self)
    where
        E: FloatElement,
    {
        Self::of_pair(self.raw.var_mean_bias(Self::axis(dim)))
    }

    /// The standard deviation, the root of [`Tensor::var`].
    ///
    /// # Panics
    /// If there is no such axis.
    #[track_caller]
    pub fn std(self, dim: impl AsDim) -> Self
    where
        E: FloatElement,
    {
        Self::of(self.raw.std(Self::axis(dim)))
    }

    /// The median: the lower of the middle two where their number is even; NaN if any is.
    ///
    /// # Panics
    /// If there is no such axis, or it is empty.
    #[track_caller]
    pub fn median(self, dim: impl AsDim) -> Self
    where
        E: NumericElement,
    {
        Self::of(self.raw.median(Self::axis(dim)))
    }

    /// The covariance of variables of which axis `dim` holds the observations, divided by `n - correction_factor`: from
    /// `[n, k]` with `dim` 0, or from `[k, n]` with `dim` 1, it is `[k, k]`. Axes before the last two are batch axes.
    ///
    /// # Panics
    /// If there is no such axis, or the rank is below 2.
    #[track_caller]
    pub fn cov(self, dim: impl AsDim, correction_factor: usize) -> Self
    where
        E: FloatElement,
    {
        Self::of(self.raw.cov(Self::axis(dim), correction_factor))
    }
}

macro_rules! scan {
    ($($name:ident $word:literal;)*) => { $(
        #[doc = concat!("The running ", $word, " along an axis; NaN stays once met.")]
        ///
        /// # Panics
        /// If there is no such axis.
        #[track_caller]
        pub fn $name(self, dim: impl AsDim) -> Self
        where
            E: NumericElement,
        {
            Self::of(self.raw.$name(Self::axis(dim)))
        }
    )* };
}

/// Scans.
impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    scan! {
        cumsum "sum";
        cumprod "product";
        cummax "maximum";
        cummin "minimum";
    }
}

/// More reductions.
impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// The sum over several axes, which go.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 3>::ones([2, 3, 4], &Default::default());
    /// assert_eq!(x.sum_dims_squeeze::<1>(&[0, 2]).into_vec()?, [8.0; 3]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis, or one stands twice, or the result has not rank `D2`.
    #[track_caller]
    pub fn sum_dims_squeeze<const D2: usize>(self, dims: &[impl AsDim]) -> Tensor<B, D2, E>
    where
        E: NumericElement,
    {
        const { assert!(D2 <= D, "`sum_dims_squeeze` removes axes: D2 must not exceed D") }
        Tensor::of_rank("sum_dims_squeeze", self.raw.sum_dims_squeeze(&Self::axes(dims)))
    }

    /// The greatest magnitude over several axes, which stay with size 1.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, -5.0], [2.0, 3.0]], &Default::default());
    /// assert_eq!(x.max_abs_dims(&[0, 1]).into_vec()?, [5.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis, one stands twice, or one is empty.
    #[track_caller]
    pub fn max_abs_dims(self, dims: &[impl AsDim]) -> Self
    where
        E: NumericElement,
    {
        Self::of(self.raw.max_abs_dims(&Self::axes(dims)))
    }

    /// [`Tensor::median`], and where it is: the first of several NaNs.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([4.0, 1.0, 3.0, 2.0], &Default::default());
    /// let (median, index) = x.median_with_indices(0);
    /// assert_eq!((median.into_scalar()?, index.into_scalar()?), (2.0, 3));
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis, or it is empty.
    #[track_caller]
    pub fn median_with_indices(self, dim: impl AsDim) -> (Self, Tensor<B, D, i32>)
    where
        E: NumericElement,
    {
        Self::of_pair(self.raw.median_with_indices(Self::axis(dim)))
    }
}
