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
            return self.ravel()?.reduce_all(op);
        }
        let axes: Dims = (0..self.rank()).collect();
        self.reduce(op, &axes)?.reshape([1])
    }

    /// A running reduction along an axis.
    pub fn scan(self, op: ScanOp, axis: usize) -> Result<Self, Error> {
        op::run::<B>(Op::Scan(op, self.0, axis)).map(Raw)
    }

    /// The sum down to a shape that this one was broadcast from.
    pub(crate) fn sum_to(self, shape: &[usize]) -> Result<Self, Error> {
        let stretched = |&axis: &usize| shape[axis] == 1 && self.shape()[axis] != 1;
        let axes: Dims = (0..self.rank()).filter(stretched).collect();
        if axes.is_empty() {
            Ok(self)
        } else {
            self.sum_dims(&axes)
        }
    }
}

macro_rules! reductions {
    ($($op:ident: $word:literal, $all:ident $dim:ident $dims:ident;)*) => { $(
        #[doc = concat!("The ", $word, " of all elements, in shape `[1]`.")]
        pub fn $all(self) -> Result<Self, Error> {
            self.reduce_all(ReduceOp::$op)
        }

        #[doc = concat!("The ", $word, " along an axis, which stays with size 1.")]
        pub fn $dim(self, axis: usize) -> Result<Self, Error> {
            self.reduce(ReduceOp::$op, &[axis])
        }

        #[doc = concat!("The ", $word, " over several axes, which stay with size 1.")]
        pub fn $dims(self, axes: &[usize]) -> Result<Self, Error> {
            self.reduce(ReduceOp::$op, axes)
        }
    )* };
}

macro_rules! scans {
    ($($op:ident: $name:ident $word:literal;)*) => { $(
        #[doc = concat!("The running ", $word, " along an axis; NaN stays once met.")]
        pub fn $name(self, axis: usize) -> Result<Self, Error> {
            self.scan(ScanOp::$op, axis)
        }
    )* };
}

/// Reductions and scans by name.
///
/// Sums and products of integers stay in their type and wrap; the sum of nothing is 0, its product 1, its mean NaN.
///
/// # Errors
/// Each returns an error if an axis is none or stands twice, the elements are of another kind than the op takes, or there
/// is no greatest or least of an empty axis.
impl<B: Backend> Raw<B> {
    reductions! {
        Sum: "sum", sum sum_dim sum_dims;
        Mean: "mean", mean mean_dim mean_dims;
        Prod: "product", prod prod_dim prod_dims;
        Max: "greatest", max max_dim max_dims;
        Min: "least", min min_dim min_dims;
    }

    /// The greatest magnitude of all elements, in shape `[1]`.
    pub fn max_abs(self) -> Result<Self, Error> {
        self.abs()?.max()
    }

    /// The greatest magnitude along an axis, which stays with size 1.
    pub fn max_abs_dim(self, axis: usize) -> Result<Self, Error> {
        self.abs()?.max_dim(axis)
    }

    /// The greatest magnitude over several axes, which stay with size 1.
    pub fn max_abs_dims(self, axes: &[usize]) -> Result<Self, Error> {
        self.abs()?.max_dims(axes)
    }

    /// The sum over several axes, which go.
    pub fn sum_dims_squeeze(self, axes: &[usize]) -> Result<Self, Error> {
        self.sum_dims(axes)?.squeeze_dims(axes)
    }

    /// Where the greatest element along an axis is, as `i32`: the first of several, and the first NaN before all.
    pub fn argmax(self, axis: usize) -> Result<Self, Error> {
        self.reduce(ReduceOp::ArgMax, &[axis])
    }

    /// Where the least element along an axis is, as `i32`: the first of several, and the first NaN before all.
    pub fn argmin(self, axis: usize) -> Result<Self, Error> {
        self.reduce(ReduceOp::ArgMin, &[axis])
    }

    /// [`Raw::max_dim`] and [`Raw::argmax`] together.
    pub fn max_dim_with_indices(self, axis: usize) -> Result<(Self, Self), Error> {
        let index = self.clone().argmax(axis)?;
        Ok((self.gather(axis, index.clone())?, index))
    }

    /// [`Raw::min_dim`] and [`Raw::argmin`] together.
    pub fn min_dim_with_indices(self, axis: usize) -> Result<(Self, Self), Error> {
        let index = self.clone().argmin(axis)?;
        Ok((self.gather(axis, index.clone())?, index))
    }

    /// Whether any element is not zero, in shape `[1]`; false of nothing.
    pub fn any(self) -> Result<Self, Error> {
        self.bool()?.reduce_all(ReduceOp::Any)
    }

    /// Whether any element along an axis is not zero.
    pub fn any_dim(self, axis: usize) -> Result<Self, Error> {
        self.bool()?.reduce(ReduceOp::Any, &[axis])
    }

    /// Whether no element is zero, in shape `[1]`; true of nothing.
    pub fn all(self) -> Result<Self, Error> {
        self.bool()?.reduce_all(ReduceOp::All)
    }

    /// Whether no element along an axis is zero.
    pub fn all_dim(self, axis: usize) -> Result<Self, Error> {
        self.bool()?.reduce(ReduceOp::All, &[axis])
    }

    scans! {
        Sum: cumsum "sum";
        Prod: cumprod "product";
        Max: cummax "maximum";
        Min: cummin "minimum";
    }
}

/// Statistics along an axis, which stays with size 1.
///
/// # Errors
/// Each returns an error if there is no such axis, or the elements are not of a type that has the statistic: floats, and
/// for the median numbers.
impl<B: Backend> Raw<B> {
    /// The variance, `Σ (x - mean)² / (n - 1)`; NaN of fewer than two.
    pub fn var(self, axis: usize) -> Result<Self, Error> {
        Ok(self.var_mean(axis)?.0)
    }

    /// The biased variance, `Σ (x - mean)² / n`.
    pub fn var_bias(self, axis: usize) -> Result<Self, Error> {
        Ok(self.var_mean_bias(axis)?.0)
    }

    /// [`Raw::var`], and the mean.
    pub fn var_mean(self, axis: usize) -> Result<(Self, Self), Error> {
        self.moments(&[axis], 1)
    }

    /// [`Raw::var_bias`], and the mean.
    pub fn var_mean_bias(self, axis: usize) -> Result<(Self, Self), Error> {
        self.moments(&[axis], 0)
    }

    /// The variance and the mean over axes: of `n` values the sum of squares is divided by `n - correction`.
    pub(crate) fn moments(self, axes: &[usize], correction: usize) -> Result<(Self, Self), Error> {
        let dtype = self.dtype();
        let x = self.widen()?; // squares overflow half types early
        let mean = x.clone().mean_dims(axes)?; // refuses axes that there are not
        let n: usize = axes.iter().map(|&axis| x.shape()[axis]).product();
        let squares = x.sub(mean.clone())?.square()?.mean_dims(axes)?;
        let var = squares.mul(n as f64 / n.saturating_sub(correction) as f64)?;
        Ok((var.cast(dtype)?, mean.cast(dtype)?))
    }

    /// The standard deviation, the root of [`Raw::var`].
    pub fn std(self, axis: usize) -> Result<Self, Error> {
        let dtype = self.dtype();
        self.widen()?.var(axis)?.above_zero(Self::sqrt)?.cast(dtype)
    }

    /// The covariance of variables of which `axis` holds the observations, divided by `n - correction`: from `[n, k]`
    /// with axis 0, or from `[k, n]` with axis 1, it is `[k, k]`. Axes before the last two are batch axes.
    pub fn cov(self, axis: usize, correction: usize) -> Result<Self, Error> {
        self.floats("cov")?;
        let n = self.size("cov", axis)?;
        if self.rank() < 2 {
            return Err(Error::rank("cov", self.rank(), "rank 2 or more"));
        }
        let rows = self.rank() - 2;
        if axis < rows {
            let message = format!("axis {axis} is a batch axis; observations lie along one of the last two");
            return Err(Error::argument("cov", message));
        }
        let dtype = self.dtype();
        let x = self.widen()?; // as in `moments`
        let mean = x.clone().mean_dim(axis)?;
        let centred = x.sub(mean)?.swap_dims(axis, rows)?;
        let product = centred.clone().transpose()?.matmul(centred)?;
        product.div(n.saturating_sub(correction) as f64)?.cast(dtype)
    }

    /// The median along an axis: the lower of the middle two where their number is even; NaN if any is.
    pub fn median(self, axis: usize) -> Result<Self, Error> {
        Ok(self.median_with_indices(axis)?.0)
    }

    /// [`Raw::median`], and where it is, as `i32`: the first of several NaNs.
    pub fn median_with_indices(self, axis: usize) -> Result<(Self, Self), Error> {
        let n = self.size("median", axis)?;
        if n == 0 {
            return Err(Error::shape(
                "median",
                &[self.shape()],
                format!("axis {axis} is empty: there is no result"),
            ));
        }
        let mut index = self.clone().argsort(axis)?.narrow(axis, (n - 1) / 2, 1)?;
        if self.dtype().is_float() {
            let any_nan = self.clone().is_nan()?.any_dim(axis)?;
            index = any_nan.choose(self.clone().argmax(axis)?, index)?;
        }
        // By its place, so that a gradient goes to one element.
        Ok((self.gather(axis, index.clone())?, index))
    }
}
