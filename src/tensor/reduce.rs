//! Reductions and scans. A reduced axis stays, with size 1.

use super::{AsDim, Tensor};
use crate::backend::Backend;
use crate::element::{Element, FloatElement, NumericElement};

// A row ends with what the reductions of `[[1, 2], [3, 4]]` print: of all elements, and along axis 0.

macro_rules! reduce {
    ($(
        $bound:ident, $word:literal, $edges:literal,
        $all:ident $dim:ident $dims:ident => $total:literal, $columns:literal;
    )*) => { $(
        #[doc = concat!("The ", $word, " of all elements, in shape `[1]`. ", $edges)]
        ///
        #[doc = example!(2 "[[1.0, 2.0], [3.0, 4.0]]"; $all("") => concat!("[", $total, "]"))]
        #[track_caller]
        pub fn $all(self) -> Tensor<B, 1, E>
        where
            E: $bound,
        {
            Tensor::of(self.raw.$all())
        }

        #[doc = concat!("The ", $word, " of the elements along an axis, which stays with size 1. ", $edges)]
        ///
        #[doc = example!(2 "[[1.0, 2.0], [3.0, 4.0]]"; $dim("0") => concat!("[[", $columns, "]]"))]
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

        #[doc = concat!("The ", $word, " of the elements over several axes, which stay with size 1. ", $edges)]
        ///
        #[doc = example!(2 "[[1.0, 2.0], [3.0, 4.0]]"; $dims("&[0, 1]") => concat!("[[", $total, "]]"))]
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

/// Reductions. A reduced axis stays, with size 1; of all elements the result has shape `[1]`.
///
/// Sums and products of integers stay in their type and wrap; the sum of nothing is 0, its product 1, its mean NaN, and
/// asking for its greatest or least element panics. NaN anywhere makes the result NaN.
impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    reduce! {
        NumericElement, "sum", "Integers wrap; NaN if any is; 0 of nothing.",
        sum sum_dim sum_dims => "10.0", "4.0, 6.0";

        FloatElement, "mean", "NaN if any is, and of nothing.",
        mean mean_dim mean_dims => "2.5000", "2.0, 3.0";

        NumericElement, "product", "Integers wrap; NaN if any is; 1 of nothing.",
        prod prod_dim prod_dims => "24.0", "3.0, 8.0";

        NumericElement, "greatest", "NaN if any is; of nothing there is none, and it panics.",
        max max_dim max_dims => "4.0", "3.0, 4.0";

        NumericElement, "least", "NaN if any is; of nothing there is none, and it panics.",
        min min_dim min_dims => "1.0", "1.0, 2.0";
    }

    /// The greatest magnitude of all elements, in shape `[1]`; NaN if any is.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[3.0, -5.0], [2.0, 1.0]], &Default::default());
    /// assert_eq!(x.max_abs().into_vec()?, [5.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there are no elements.
    #[track_caller]
    pub fn max_abs(self) -> Tensor<B, 1, E>
    where
        E: NumericElement,
    {
        Tensor::of(self.raw.max_abs())
    }

    /// The greatest magnitude along an axis, which stays with size 1; NaN if any is.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[3.0, -5.0], [2.0, 1.0]], &Default::default());
    /// assert_eq!(x.max_abs_dim(1).into_vec()?, [5.0, 2.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis, or it is empty.
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
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[3.0, 1.0, 1.0], [4.0, f32::NAN, 5.0]], &Default::default());
    /// assert_eq!(x.argmin(1).into_vec()?, [1, 1]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[3.0, 1.0], [2.0, 4.0]], &Default::default());
    /// let (values, indices) = x.max_dim_with_indices(1);
    /// assert_eq!((values.into_vec()?, indices.into_vec()?), (vec![3.0, 4.0], vec![0, 1]));
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[3.0, 1.0], [2.0, 4.0]], &Default::default());
    /// let (values, indices) = x.min_dim_with_indices(1);
    /// assert_eq!((values.into_vec()?, indices.into_vec()?), (vec![1.0, 2.0], vec![1, 0]));
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[0.0, 2.0], [0.0, 0.0]], &Default::default());
    /// assert!(x.any().into_scalar()?);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    #[track_caller]
    pub fn any(self) -> Tensor<B, 1, bool> {
        Tensor::of(self.raw.any())
    }

    /// Whether any element along an axis is not zero; false of nothing. The axis stays, with size 1.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[0.0, 2.0], [0.0, 0.0]], &Default::default());
    /// assert_eq!(x.any_dim(1).into_vec()?, [true, false]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis.
    #[track_caller]
    pub fn any_dim(self, dim: impl AsDim) -> Tensor<B, D, bool> {
        Tensor::of(self.raw.any_dim(Self::axis(dim)))
    }

    /// Whether no element is zero, in shape `[1]`; true of nothing.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0], [3.0, 0.0]], &Default::default());
    /// assert!(!x.all().into_scalar()?);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    #[track_caller]
    pub fn all(self) -> Tensor<B, 1, bool> {
        Tensor::of(self.raw.all())
    }

    /// Whether no element along an axis is zero; true of nothing. The axis stays, with size 1.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0], [3.0, 0.0]], &Default::default());
    /// assert_eq!(x.all_dim(1).into_vec()?, [true, false]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, 3.0, 5.0]], &Default::default());
    /// assert_eq!(x.var(1).into_vec()?, [4.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
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

    /// The biased variance, `Σ (x - mean)² / n`; NaN of nothing.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, 3.0]], &Default::default());
    /// assert_eq!(x.var_bias(1).into_vec()?, [1.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, 3.0, 5.0]], &Default::default());
    /// let (var, mean) = x.var_mean(1);
    /// assert_eq!((var.into_scalar()?, mean.into_scalar()?), (4.0, 3.0));
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, 3.0]], &Default::default());
    /// let (var, mean) = x.var_mean_bias(1);
    /// assert_eq!((var.into_scalar()?, mean.into_scalar()?), (1.0, 2.0));
    /// # Ok::<(), keyway::Error>(())
    /// ```
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

    /// The standard deviation, the root of [`Tensor::var`]; NaN of fewer than two.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, 3.0, 5.0]], &Default::default());
    /// assert_eq!(x.std(1).into_vec()?, [2.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([4.0, 1.0, 3.0, 2.0], &Default::default());
    /// assert_eq!(x.median(0).into_vec()?, [2.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]], &Default::default());
    /// assert_eq!(x.cov(0, 1).into_vec()?, [1.0, 2.0, 2.0, 4.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If `dim` is not one of the last two axes, or the rank is below 2.
    #[track_caller]
    pub fn cov(self, dim: impl AsDim, correction_factor: usize) -> Self
    where
        E: FloatElement,
    {
        Self::of(self.raw.cov(Self::axis(dim), correction_factor))
    }
}

// A row ends with what the scan of `[2.0, 1.0, 3.0, NaN, 4.0]` prints.

macro_rules! scan {
    ($($name:ident $word:literal => $prints:literal;)*) => { $(
        #[doc = concat!("The running ", $word, " along an axis, in the same shape; NaN stays once met.")]
        ///
        #[doc = example!(1 "[2.0, 1.0, 3.0, f32::NAN, 4.0]"; $name("0") => $prints)]
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

/// Scans. Integers wrap.
impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    scan! {
        cumsum "sum" => "[2.0, 3.0, 6.0, NaN, NaN]";
        cumprod "product" => "[2.0, 2.0, 6.0, NaN, NaN]";
        cummax "maximum" => "[2.0, 2.0, 3.0, NaN, NaN]";
        cummin "minimum" => "[2.0, 1.0, 1.0, NaN, NaN]";
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
