use super::Raw;
use crate::backend::Backend;
use crate::element::DType;
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
        if shape.len() != self.rank() {
            return Err(Error::rank(
                "sum_to",
                shape.len(),
                format!("rank {}", self.rank()),
            ));
        }
        let stretched = |&axis: &usize| shape[axis] == 1 && self.shape()[axis] != 1;
        let axes: Dims = (0..self.rank()).filter(stretched).collect();
        if axes.is_empty() {
            Ok(self)
        } else {
            self.sum(&axes)
        }
    }

    /// The greatest along an axis, and where it is.
    pub fn max_with_indices(self, axis: usize) -> Result<(Self, Self), Error> {
        let index = self.clone().reduce(ReduceOp::ArgMax, &[axis])?;
        Ok((self.gather(axis, index.clone())?, index))
    }

    /// The least along an axis, and where it is.
    pub fn min_with_indices(self, axis: usize) -> Result<(Self, Self), Error> {
        let index = self.clone().reduce(ReduceOp::ArgMin, &[axis])?;
        Ok((self.gather(axis, index.clone())?, index))
    }

    /// The mean square distance from the mean, over axes, and the mean: of `n` values the sum of squares is divided by
    /// `n - correction`.
    pub fn var_mean(self, axes: &[usize], correction: usize) -> Result<(Self, Self), Error> {
        let dtype = self.dtype();
        let x = self.widen()?; // squares overflow half types early
        let mean = x.clone().mean(axes)?; // refuses axes that there are not
        let n: usize = axes.iter().map(|&axis| x.shape()[axis]).product();
        let squares = x.sub(mean.clone())?.square()?.mean(axes)?;
        let var = squares.mul(n as f64 / n.saturating_sub(correction) as f64)?;
        Ok((var.cast(dtype)?, mean.cast(dtype)?))
    }

    /// The root of the variance over axes.
    pub fn std(self, axes: &[usize], correction: usize) -> Result<Self, Error> {
        let dtype = self.dtype();
        let (var, _) = self.widen()?.var_mean(axes, correction)?;
        var.above_zero(Self::sqrt)?.cast(dtype)
    }

    /// The covariance of the columns of matrices in the last two axes, once `axis`, along which the observations run,
    /// stands second last; of `n` observations the sum is divided by `n - correction`.
    pub fn cov(self, axis: usize, correction: usize) -> Result<Self, Error> {
        let n = self.size("cov", axis)?;
        if self.rank() < 2 {
            return Err(Error::rank("cov", self.rank(), "rank 2 or more"));
        }
        let rows = self.rank() - 2;
        let dtype = self.dtype();
        let x = self.widen()?; // as in `var_mean`
        let mean = x.clone().mean(&[axis])?;
        let centred = x.sub(mean)?.swap_dims(axis, rows)?;
        let product = centred.clone().transpose()?.matmul(centred)?;
        product.div(n.saturating_sub(correction) as f64)?.cast(dtype)
    }

    /// The median along an axis: the lower of the middle two where their number is even; NaN if any is.
    pub fn median(self, axis: usize) -> Result<Self, Error> {
        let n = self.size("median", axis)?;
        if n == 0 {
            return Err(Error::shape(
                "median",
                &[self.shape()],
                format!("axis {axis} is empty: there is no result"),
            ));
        }
        let index = self.clone().argsort(axis, false)?.narrow(axis, (n - 1) / 2, 1)?;
        let middle = self.clone().gather(axis, index)?;
        if !self.dtype().is_float() {
            return Ok(middle);
        }
        let any_nan = self.is_nan()?.reduce(ReduceOp::Any, &[axis])?;
        middle.mask_where(any_nan, f64::NAN)
    }

    /// Whether each element is not zero.
    pub fn truth(self) -> Result<Self, Error> {
        self.cast(DType::Bool)
    }
}
