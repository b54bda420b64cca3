use super::Raw;
use crate::backend::Backend;
use crate::error::Error;

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
    /// A norm along an axis, which stays with size 1.
    pub fn vector_norm(self, norm: Norm, axis: usize) -> Result<Self, Error> {
        let dtype = self.dtype();
        let x = self.widen()?; // powers overflow long before their root does
        let norm = match norm {
            Norm::L0 => {
                let wide = x.dtype();
                x.not_equal(0)?.cast(wide)?.sum_dim(axis)
            }
            Norm::L1 => x.abs()?.sum_dim(axis),
            Norm::L2 => x.square()?.sum_dim(axis)?.above_zero(Self::sqrt),
            Norm::Lp(p) if p == 0.0 || p.is_nan() => Err(Error::argument(
                "vector_norm",
                format!("there is no norm with p = {p}; `Norm::L0` counts"),
            )),
            Norm::Lp(f64::INFINITY) => x.vector_norm(Norm::LInf, axis),
            Norm::Lp(f64::NEG_INFINITY) => x.vector_norm(Norm::LNegInf, axis),
            Norm::Lp(p) if p < 0.0 => x.abs()?.powf(p)?.sum_dim(axis)?.powf(1.0 / p),
            Norm::Lp(p) => {
                let powers = x.abs()?.above_zero(|x| x.powf(p))?;
                powers.sum_dim(axis)?.above_zero(|sum| sum.powf(1.0 / p))
            }
            Norm::LInf => x.abs()?.max_dim(axis),
            Norm::LNegInf => x.abs()?.min_dim(axis),
        };
        norm?.cast(dtype)
    }

    /// `Σ |x|` along an axis, which stays with size 1.
    pub fn l1_norm(self, axis: usize) -> Result<Self, Error> {
        self.vector_norm(Norm::L1, axis)
    }

    /// `√Σ x²` along an axis, which stays with size 1.
    pub fn l2_norm(self, axis: usize) -> Result<Self, Error> {
        self.vector_norm(Norm::L2, axis)
    }

    /// The greatest `|x|` along an axis, which stays with size 1.
    pub fn max_abs_norm(self, axis: usize) -> Result<Self, Error> {
        self.vector_norm(Norm::LInf, axis)
    }

    /// The least `|x|` along an axis, which stays with size 1.
    pub fn min_abs_norm(self, axis: usize) -> Result<Self, Error> {
        self.vector_norm(Norm::LNegInf, axis)
    }

    /// `(Σ |x|ᵖ)^(1/p)` along an axis, which stays with size 1; p is not 0.
    pub fn lp_norm(self, p: f64, axis: usize) -> Result<Self, Error> {
        self.vector_norm(Norm::Lp(p), axis)
    }

    /// `x · y / (max(|x|, eps) max(|y|, eps))` along an axis, which stays with size 1; `eps` is 1e-8 by default.
    pub fn cosine_similarity(self, other: Self, axis: usize, eps: Option<f64>) -> Result<Self, Error> {
        let dtype = self.dtype();
        let eps = eps.unwrap_or(1e-8);
        let (x, y) = (self.widen()?, other.widen()?);
        let dot = x.clone().mul(y.clone())?.sum_dim(axis)?;
        let x = x.l2_norm(axis)?.clamp_min(eps)?;
        let y = y.l2_norm(axis)?.clamp_min(eps)?;
        dot.div(x.mul(y)?)?.cast(dtype)
    }

    /// The sum of the products of two vectors' elements, in shape `[1]`.
    pub fn dot(self, other: Self) -> Result<Self, Error> {
        self.vector("dot")?;
        self.mul(other)?.sum()
    }

    /// `x yᵀ` of two vectors.
    pub fn outer(self, other: Self) -> Result<Self, Error> {
        self.vector("outer")?;
        other.vector("outer")?;
        self.unsqueeze_dim(1)?.mul(other.unsqueeze_dim(0)?)
    }

    /// The sum of the main diagonal of a matrix, in shape `[1]`.
    pub fn trace(self) -> Result<Self, Error> {
        match self.rank() {
            2 => self.diag()?.sum(),
            rank => Err(Error::rank("trace", rank, "a matrix, rank 2")),
        }
    }

    fn vector(&self, op: &'static str) -> Result<(), Error> {
        match self.rank() {
            1 => Ok(()),
            rank => Err(Error::rank(
                op,
                rank,
                "a vector, rank 1; `matmul` multiplies matrices",
            )),
        }
    }

    /// `f` of the elements other than 0, for an `f` that is 0 at 0 and steepest there: the gradient of a 0 is 0, where
    /// that of the root, which is infinite, would make NaN of what it is multiplied by.
    pub(super) fn above_zero(self, f: impl FnOnce(Self) -> Result<Self, Error>) -> Result<Self, Error> {
        let zero = self.clone().equal(0)?;
        f(self.mask_where(zero.clone(), 1)?)?.mask_where(zero, 0)
    }
}
