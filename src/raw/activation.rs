use super::Raw;
use crate::backend::Backend;
use crate::element::DType;
use crate::error::Error;
use crate::op::FusedOp;

/// Activations.
///
/// # Errors
/// Each returns what the ops it consists of do.
impl<B: Backend> Raw<B> {
    /// `x Φ(x)`, where Φ is the normal distribution function.
    pub fn gelu(self) -> Result<Self, Error> {
        Self::fused(FusedOp::Gelu { x: self, tanh: false })
    }

    /// `x/2 (1 + tanh(√(2/π) (x + 0.044715 x³)))`, near `gelu`.
    pub fn gelu_approximate(self) -> Result<Self, Error> {
        Self::fused(FusedOp::Gelu { x: self, tanh: true })
    }

    /// `x sigmoid(x)`.
    pub fn silu(self) -> Result<Self, Error> {
        Self::fused(FusedOp::Silu { x: self })
    }

    /// `x`, but `slope · x` below 0; its gradient at 0 is the slope.
    pub fn leaky_relu(self, slope: f64) -> Result<Self, Error> {
        self.floats("leaky_relu")?;
        let positive = self.clone().greater(0.0)?;
        positive.choose(self.clone(), self.mul(slope)?)
    }

    /// `x`, but `slope · x` below 0, with one slope, or one for each channel (axis 1); its gradient at 0 is the slope.
    pub fn prelu(self, slope: Self) -> Result<Self, Error> {
        self.floats("prelu")?;
        let mut shape = vec![1; self.rank()];
        let slopes = slope.shape().num_elements();
        if slopes != 1 {
            let channels = self.size("prelu", 1)?;
            if slopes != channels {
                let message =
                    format!("{slopes} slopes for {channels} channels (axis 1): one for all, or one for each");
                return Err(Error::shape("prelu", &[self.shape(), slope.shape()], message));
            }
            shape[1] = slopes;
        }
        let positive = self.clone().greater(0.0)?;
        // Without the 0, an infinity that is not chosen would make the gradient of its slope NaN.
        let below = positive.clone().choose(0.0, self.clone())?;
        let below = below
            .mul(slope.reshape(shape)?)
            .map_err(|error| error.of("prelu"))?;
        positive.choose(self, below)
    }

    /// `x`, but `alpha (eˣ - 1)` below 0.
    pub fn elu(self, alpha: f64) -> Result<Self, Error> {
        self.floats("elu")?;
        self.exponential_below_zero(alpha, 1.0)
    }

    /// `x`, but `alpha (e^(x / alpha) - 1)` below 0.
    pub fn celu(self, alpha: f64) -> Result<Self, Error> {
        self.floats("celu")?;
        if !alpha.is_finite() || alpha == 0.0 {
            let message = format!("alpha is {alpha}: it must be finite and not 0");
            return Err(Error::argument("celu", message));
        }
        self.exponential_below_zero(alpha, alpha)
    }

    /// `x`, but `alpha (e^(x / width) - 1)` below 0.
    fn exponential_below_zero(self, alpha: f64, width: f64) -> Result<Self, Error> {
        let positive = self.clone().greater(0.0)?;
        // Without the bound, an exponential that overflows where it is not chosen would make its gradient NaN.
        let curve = self.clone().min_pair(0.0)?.div(width)?.expm1()?.mul(alpha)?;
        positive.choose(self, curve)
    }

    /// [`Raw::elu`] scaled so that activations keep mean 0 and variance 1 (Klambauer et al. 2017).
    pub fn selu(self) -> Result<Self, Error> {
        self.floats("selu")?;
        self.elu(1.673_263_242_354_377_2)?.mul(1.050_700_987_355_480_5)
    }

    /// `ln(1 + e^(beta x)) / beta`.
    pub fn softplus(self, beta: f64) -> Result<Self, Error> {
        self.floats("softplus")?;
        self.softplus_with_threshold(beta, f64::INFINITY)
    }

    /// [`Raw::softplus`], but `x` where `beta x` is above the threshold.
    pub fn softplus_with_threshold(self, beta: f64, threshold: f64) -> Result<Self, Error> {
        self.floats("softplus_with_threshold")?;
        if threshold.is_nan() {
            return Err(Error::argument("softplus_with_threshold", "the threshold is NaN"));
        }
        // Beyond this, `ln(1 + eᶻ)` is `z` to the last bit, and below it `eᶻ` does not overflow.
        let bound = threshold.min(if self.dtype() == DType::F16 { 10.0 } else { 40.0 });
        let z = self.clone().mul(beta)?;
        let curve = z.clone().min_pair(bound)?.exp()?.log1p()?.div(beta)?;
        z.greater(bound)?.choose(self, curve)
    }

    /// `ln sigmoid(x)`.
    pub fn log_sigmoid(self) -> Result<Self, Error> {
        self.floats("log_sigmoid")?;
        self.neg()?.softplus(1.0)?.neg()
    }

    /// `x tanh(softplus(x))`.
    pub fn mish(self) -> Result<Self, Error> {
        self.floats("mish")?;
        self.clone().softplus(1.0)?.tanh()?.mul(self)
    }

    /// `alpha x + beta` between 0 and 1.
    pub fn hard_sigmoid(self, alpha: f64, beta: f64) -> Result<Self, Error> {
        self.floats("hard_sigmoid")?;
        self.mul(alpha)?.add(beta)?.clamp(0.0, 1.0)
    }

    /// `x hard_sigmoid(x / 6 + 1/2)`.
    pub fn hard_swish(self) -> Result<Self, Error> {
        self.floats("hard_swish")?;
        self.clone().hard_sigmoid(1.0 / 6.0, 0.5)?.mul(self)
    }

    /// `x / (1 + |x|)`.
    pub fn softsign(self) -> Result<Self, Error> {
        self.floats("softsign")?;
        self.clone().abs()?.add(1.0).and_then(|bound| self.div(bound))
    }

    /// `eˣ / Σ eˣ` along an axis. A row of -inf alone gives NaN.
    pub fn softmax(self, axis: usize) -> Result<Self, Error> {
        Self::fused(FusedOp::Softmax { x: self, axis })
    }

    /// The logarithm of [`Raw::softmax`], without underflow.
    pub fn log_softmax(self, axis: usize) -> Result<Self, Error> {
        Self::fused(FusedOp::LogSoftmax { x: self, axis })
    }

    /// [`Raw::softmax`] of `-x`.
    pub fn softmin(self, axis: usize) -> Result<Self, Error> {
        self.floats("softmin")?;
        self.neg()?.softmax(axis)
    }

    /// `eˣ / (1 + Σ eˣ)` along an axis: it can be near 0 everywhere.
    pub fn quiet_softmax(self, axis: usize) -> Result<Self, Error> {
        self.floats("quiet_softmax")?;
        if self.size("quiet_softmax", axis)? == 0 {
            return Ok(self);
        }
        let dtype = self.dtype();
        let x = self.widen()?; // the sum of many would overflow
        // All exponents, that of the 1 included, are shifted to at most 0.
        let greatest = x.clone().max_dim(axis)?.max_pair(0.0)?;
        let e = x.sub(greatest.clone())?.exp()?;
        let total = e.clone().sum_dim(axis)?.add(greatest.neg()?.exp()?)?;
        e.div(total)?.cast(dtype)
    }

    /// The first half along an axis times the sigmoid of the second.
    pub fn glu(self, axis: usize) -> Result<Self, Error> {
        self.floats("glu")?;
        let size = self.size("glu", axis)?;
        if size % 2 != 0 {
            return Err(Error::shape(
                "glu",
                &[self.shape()],
                format!("axis {axis} has no halves"),
            ));
        }
        let gate = self.clone().narrow(axis, size / 2, size / 2)?.sigmoid()?;
        self.narrow(axis, 0, size / 2)?.mul(gate)
    }

    /// `x` between `min` and `max`, which is not below `min`.
    pub fn hardtanh(self, min: f64, max: f64) -> Result<Self, Error> {
        if min <= max {
            self.floats("hardtanh")?;
            return self.clamp(min, max);
        }
        let message = format!("the bounds are {min} and {max}: the first must not be above the second");
        Err(Error::argument("hardtanh", message))
    }

    /// `x` between 0 and 6; its gradient at 0 is 0.
    pub fn relu6(self) -> Result<Self, Error> {
        self.floats("relu6")?;
        self.relu()?.clamp_max(6.0)
    }

    /// `x - tanh(x)`.
    pub fn tanhshrink(self) -> Result<Self, Error> {
        self.floats("tanhshrink")?;
        self.clone().sub(self.tanh()?)
    }

    /// `x` above the threshold, `value` elsewhere.
    pub fn threshold(self, threshold: f64, value: f64) -> Result<Self, Error> {
        if threshold.is_nan() {
            return Err(Error::argument("threshold", "the threshold is NaN"));
        }
        self.floats("threshold")?;
        // Not `x > threshold`: NaN stays.
        self.clone().lower_equal(threshold)?.choose(value, self)
    }

    /// `x` above `alpha`, 0 elsewhere.
    pub fn thresholded_relu(self, alpha: f64) -> Result<Self, Error> {
        self.floats("thresholded_relu")?;
        self.threshold(alpha, 0.0)
    }

    /// `x` farther than `lambda` from 0, 0 elsewhere.
    pub fn hard_shrink(self, lambda: f64) -> Result<Self, Error> {
        self.shrunk("hard_shrink", lambda, 0.0)
    }

    /// `x` moved by `lambda` towards 0; 0 where that is nearer.
    pub fn soft_shrink(self, lambda: f64) -> Result<Self, Error> {
        self.shrunk("soft_shrink", lambda, lambda)
    }

    /// `x - bias` above `lambda`, `x + bias` below `-lambda`, 0 elsewhere.
    pub fn shrink(self, lambda: f64, bias: f64) -> Result<Self, Error> {
        self.shrunk("shrink", lambda, bias)
    }

    fn shrunk(self, op: &'static str, lambda: f64, bias: f64) -> Result<Self, Error> {
        if lambda.is_nan() || lambda < 0.0 {
            return Err(Error::argument(
                op,
                format!("lambda is {lambda}: it must be 0 or more"),
            ));
        }
        if !bias.is_finite() && bias != lambda {
            return Err(Error::argument(op, format!("the bias is {bias}, not finite")));
        }
        self.floats(op)?;
        let near = self.clone().abs()?.lower_equal(lambda)?;
        let moved = match bias {
            0.0 => self,
            _ => self.clone().sub(self.sign()?.mul(bias)?)?,
        };
        near.choose(0.0, moved)
    }
}
