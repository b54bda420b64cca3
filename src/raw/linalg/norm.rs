use crate::backend::Backend;
use crate::error::Error;
use crate::raw::Raw;

/// Which norm of a vector. A number is its exponent; the greatest `i32` and `u32` and the least `i32` stand for the infinite
/// ones.
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

impl Norm {
    /// The exponent: 0, 1, 2, p, ∞ or -∞.
    pub fn to_exponent(self) -> f64 {
        match self {
            Norm::L0 => 0.0,
            Norm::L1 => 1.0,
            Norm::L2 => 2.0,
            Norm::Lp(p) => p,
            Norm::LInf => f64::INFINITY,
            Norm::LNegInf => f64::NEG_INFINITY,
        }
    }
}

impl From<f64> for Norm {
    fn from(p: f64) -> Self {
        match p {
            0.0 => Norm::L0,
            1.0 => Norm::L1,
            2.0 => Norm::L2,
            f64::INFINITY => Norm::LInf,
            f64::NEG_INFINITY => Norm::LNegInf,
            p => Norm::Lp(p),
        }
    }
}

impl From<f32> for Norm {
    fn from(p: f32) -> Self {
        f64::from(p).into()
    }
}

impl From<i32> for Norm {
    fn from(p: i32) -> Self {
        match p {
            i32::MAX => Norm::LInf,
            i32::MIN => Norm::LNegInf,
            p => f64::from(p).into(),
        }
    }
}

impl From<u32> for Norm {
    fn from(p: u32) -> Self {
        match p {
            u32::MAX => Norm::LInf,
            p => f64::from(p).into(),
        }
    }
}

/// Norms. Reduced axes stay with size 1; over no axes a norm is that of each element.
///
/// # Errors
/// Each returns what the ops it consists of do.
impl<B: Backend> Raw<B> {
    /// A norm along an axis.
    pub fn vector_norm(self, norm: impl Into<Norm>, axis: usize) -> Result<Self, Error> {
        self.vector_norm_dims(norm, &[axis])
    }

    /// A norm over several axes.
    pub fn vector_norm_dims(self, norm: impl Into<Norm>, axes: &[usize]) -> Result<Self, Error> {
        self.norm_over(norm.into().to_exponent().into(), axes)
            .map_err(|error| error.of("vector_norm"))
    }

    fn norm_over(self, norm: Norm, axes: &[usize]) -> Result<Self, Error> {
        if let Norm::L2 | Norm::Lp(_) = norm {
            self.floats("vector_norm")?;
        }
        let dtype = self.dtype();
        let x = self.widen()?; // powers overflow long before their root does
        let norm = match norm {
            Norm::L0 => {
                let wide = x.dtype();
                x.not_equal(0)?.cast(wide)?.sum_dims(axes)
            }
            Norm::L1 => x.abs()?.sum_dims(axes),
            Norm::L2 => x.square()?.sum_dims(axes)?.above_zero(Self::sqrt),
            Norm::Lp(p) if p.is_nan() => Err(Error::argument("vector_norm", "there is no norm with p = NaN")),
            // One element that is 0 makes such a norm 0, as a limit; the powers are infinite, and so are their slopes.
            Norm::Lp(p) if p < 0.0 => {
                let zero = axes
                    .iter()
                    .try_fold(x.clone().equal(0)?, |zero, &axis| zero.any_dim(axis))?;
                let powers = x.abs()?.mask_where(zero.clone(), 1)?.powf(p)?;
                powers.sum_dims(axes)?.powf(1.0 / p)?.mask_where(zero, 0)
            }
            Norm::Lp(p) => {
                let powers = x.abs()?.above_zero(|x| x.powf(p))?;
                powers.sum_dims(axes)?.above_zero(|sum| sum.powf(1.0 / p))
            }
            Norm::LInf => x.abs()?.max_dims(axes),
            Norm::LNegInf => x.abs()?.min_dims(axes),
        };
        norm?.cast(dtype)
    }

    /// `x / max(norm, eps)` with the norm along an axis.
    pub fn vector_normalize(self, norm: impl Into<Norm>, axis: usize, eps: f64) -> Result<Self, Error> {
        self.floats("vector_normalize")?;
        if eps.is_nan() {
            return Err(Error::argument(
                "vector_normalize",
                "the bound of the norm is NaN",
            ));
        }
        let dtype = self.dtype();
        let x = self.widen()?;
        let norm = x.clone().vector_norm(norm, axis)?.clamp_min(eps)?;
        x.div(norm)?.cast(dtype)
    }

    /// `(Σ |x|ᵖ)^(1/p)` along an axis.
    pub fn lp_norm(self, p: f64, axis: usize) -> Result<Self, Error> {
        self.vector_norm(p, axis)
    }

    /// `(Σ |x|ᵖ)^(1/p)` over several axes.
    pub fn lp_norm_dims(self, p: f64, axes: &[usize]) -> Result<Self, Error> {
        self.vector_norm_dims(p, axes)
    }

    /// The number of elements along an axis that are not 0.
    pub fn l0_norm(self, axis: usize) -> Result<Self, Error> {
        self.vector_norm(Norm::L0, axis)
    }

    /// The number of elements over several axes that are not 0.
    pub fn l0_norm_dims(self, axes: &[usize]) -> Result<Self, Error> {
        self.vector_norm_dims(Norm::L0, axes)
    }

    /// `Σ |x|` along an axis.
    pub fn l1_norm(self, axis: usize) -> Result<Self, Error> {
        self.vector_norm(Norm::L1, axis)
    }

    /// `Σ |x|` over several axes.
    pub fn l1_norm_dims(self, axes: &[usize]) -> Result<Self, Error> {
        self.vector_norm_dims(Norm::L1, axes)
    }

    /// `√Σ x²` along an axis.
    pub fn l2_norm(self, axis: usize) -> Result<Self, Error> {
        self.vector_norm(Norm::L2, axis)
    }

    /// `√Σ x²` over several axes.
    pub fn l2_norm_dims(self, axes: &[usize]) -> Result<Self, Error> {
        self.vector_norm_dims(Norm::L2, axes)
    }

    /// The greatest `|x|` along an axis.
    pub fn max_abs_norm(self, axis: usize) -> Result<Self, Error> {
        self.vector_norm(Norm::LInf, axis)
    }

    /// The greatest `|x|` over several axes.
    pub fn max_abs_norm_dims(self, axes: &[usize]) -> Result<Self, Error> {
        self.vector_norm_dims(Norm::LInf, axes)
    }

    /// The least `|x|` along an axis.
    pub fn min_abs_norm(self, axis: usize) -> Result<Self, Error> {
        self.vector_norm(Norm::LNegInf, axis)
    }

    /// The least `|x|` over several axes.
    pub fn min_abs_norm_dims(self, axes: &[usize]) -> Result<Self, Error> {
        self.vector_norm_dims(Norm::LNegInf, axes)
    }

    /// `f` of the elements other than 0, for an `f` that is 0 at 0 and steepest there: the gradient of a 0 is 0, where
    /// that of the root, which is infinite, would make NaN of what it is multiplied by.
    pub(in crate::raw) fn above_zero(
        self,
        f: impl FnOnce(Self) -> Result<Self, Error>,
    ) -> Result<Self, Error> {
        let zero = self.clone().equal(0)?;
        f(self.mask_where(zero.clone(), 1)?)?.mask_where(zero, 0)
    }
}
