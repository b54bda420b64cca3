use super::Raw;
use crate::backend::Backend;
use crate::error::Error;
use crate::op::ReduceOp;

/// Which norm of a vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Norm {
    /// The number of elements that are not 0.
    L0,
    /// `Σ |x|`.
    L1,
    /// `√Σ x²`.
    L2,
    /// `(Σ |x|ᵖ)^(1/p)`.
    Lp(f64),
    /// The greatest `|x|`.
    LInf,
    /// The least `|x|`.
    LNegInf,
}

/// Norms and products of vectors.
///
/// # Errors
/// Each returns what the ops it consists of do.
impl<B: Backend> Raw<B> {
    /// A norm along an axis.
    pub fn vector_norm(self, norm: Norm, axis: usize) -> Result<Self, Error> {
        let dtype = self.dtype();
        let x = self.widen()?; // powers overflow long before their root does
        let norm = match norm {
            Norm::L0 => {
                let wide = x.dtype();
                x.not_equal(0)?.cast(wide)?.sum(&[axis])
            }
            Norm::L1 => x.abs()?.sum(&[axis]),
            Norm::L2 => x.square()?.sum(&[axis])?.above_zero(Self::sqrt),
            Norm::Lp(p) if p == 0.0 || p.is_nan() => Err(Error::argument(
                "vector_norm",
                format!("there is no norm with p = {p}; `Norm::L0` counts"),
            )),
            Norm::Lp(f64::INFINITY) => x.vector_norm(Norm::LInf, axis),
            Norm::Lp(f64::NEG_INFINITY) => x.vector_norm(Norm::LNegInf, axis),
            Norm::Lp(p) if p < 0.0 => x.abs()?.pow(p)?.sum(&[axis])?.pow(1.0 / p),
            Norm::Lp(p) => {
                let powers = x.abs()?.above_zero(|x| x.pow(p))?;
                powers.sum(&[axis])?.above_zero(|sum| sum.pow(1.0 / p))
            }
            Norm::LInf => x.abs()?.reduce(ReduceOp::Max, &[axis]),
            Norm::LNegInf => x.abs()?.reduce(ReduceOp::Min, &[axis]),
        };
        norm?.cast(dtype)
    }

    /// `x · y / (max(|x|, eps) max(|y|, eps))` along an axis.
    pub fn cosine_similarity(self, other: Self, axis: usize, eps: f64) -> Result<Self, Error> {
        let dtype = self.dtype();
        let (x, y) = (self.widen()?, other.widen()?);
        let dot = x.clone().mul(y.clone())?.sum(&[axis])?;
        let x = x.vector_norm(Norm::L2, axis)?.max_pair(eps)?;
        let y = y.vector_norm(Norm::L2, axis)?.max_pair(eps)?;
        dot.div(x.mul(y)?)?.cast(dtype)
    }

    /// `f` of the elements other than 0, for an `f` that is 0 at 0 and steepest there: the gradient of a 0 is 0, where
    /// that of the root, which is infinite, would make NaN of what it is multiplied by.
    pub(super) fn above_zero(self, f: impl FnOnce(Self) -> Result<Self, Error>) -> Result<Self, Error> {
        let zero = self.clone().equal(0)?;
        f(self.mask_where(zero.clone(), 1)?)?.mask_where(zero, 0)
    }
}
