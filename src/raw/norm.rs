use super::Raw;
use crate::backend::Backend;
use crate::error::Error;
use crate::op::FusedOp;

/// Normalisation.
///
/// # Errors
/// Each returns what the ops it consists of do.
impl<B: Backend> Raw<B> {
    /// `(x - mean) / √(var + eps) · weight + bias` over the last axis, with the biased variance.
    pub fn layer_norm(self, weight: Option<Self>, bias: Option<Self>, eps: f64) -> Result<Self, Error> {
        Self::fused(FusedOp::LayerNorm {
            x: self,
            weight,
            bias,
            eps,
        })
    }

    /// `(x - mean) / √(variance + epsilon) · gamma + beta` for each channel, axis 1.
    pub fn batch_norm(
        self,
        gamma: Self,
        beta: Self,
        mean: Self,
        variance: Self,
        epsilon: f64,
    ) -> Result<Self, Error> {
        let dtype = self.dtype();
        for p in [&gamma, &beta, &mean, &variance] {
            self.per_channel(p)?;
        }
        let [mean, variance] = [mean.widen()?, variance.widen()?];
        self.widen()?
            .normalized(mean, variance, gamma, beta, epsilon)?
            .cast(dtype)
    }

    /// [`Raw::batch_norm`] with the mean and the biased variance of the batch; these come with it, and carry no gradients.
    pub fn batch_norm_train(
        self,
        gamma: Self,
        beta: Self,
        epsilon: f64,
    ) -> Result<(Self, Self, Self), Error> {
        let dtype = self.dtype();
        let (y, mean, variance) = self.batch_norm_wide(gamma, beta, epsilon)?;
        Ok((y, mean.cast(dtype)?, variance.cast(dtype)?))
    }

    /// [`Raw::batch_norm_train`], whose statistics stay as wide as they were computed.
    pub(crate) fn batch_norm_wide(
        self,
        gamma: Self,
        beta: Self,
        epsilon: f64,
    ) -> Result<(Self, Self, Self), Error> {
        let dtype = self.dtype();
        self.per_channel(&gamma)?;
        self.per_channel(&beta)?;
        let axes: Vec<usize> = (0..self.rank()).filter(|&axis| axis != 1).collect();
        let x = self.widen()?;
        let (variance, mean) = x.clone().moments(&axes, 0)?;
        let (mean, variance) = (mean.ravel()?, variance.ravel()?);
        let y = x.normalized(mean.clone(), variance.clone(), gamma, beta, epsilon)?;
        Ok((y.cast(dtype)?, mean.detached(), variance.detached()))
    }

    /// Of a wide tensor and statistics.
    fn normalized(
        self,
        mean: Self,
        variance: Self,
        gamma: Self,
        beta: Self,
        epsilon: f64,
    ) -> Result<Self, Error> {
        if !(0.0..f64::INFINITY).contains(&epsilon) {
            let message = format!("epsilon is {epsilon}: it must not be negative or infinite");
            return Err(Error::argument("batch_norm", message));
        }
        let mut shape = vec![1; self.rank()];
        shape[1] = self.shape()[1];
        let along = |x: Self| x.widen()?.reshape(shape.clone());
        let scale = along(variance)?
            .add(epsilon)?
            .sqrt()?
            .recip()?
            .mul(along(gamma)?)?;
        self.sub(along(mean)?)?.mul(scale)?.add(along(beta)?)
    }

    /// An error if `p` does not hold one number of this tensor's type for each channel.
    fn per_channel(&self, p: &Self) -> Result<(), Error> {
        const NAME: &str = "batch_norm";
        let &[_, channels, ..] = &self.shape()[..] else {
            return Err(Error::rank(
                NAME,
                self.rank(),
                "rank 2 or more, [batch, channels, …]",
            ));
        };
        self.floats(NAME)?;
        self.same_dtype(NAME, p, "the input")?;
        if p.shape()[..] != [channels] {
            let message = format!("there must be one number for each of the {channels} channels, axis 1");
            return Err(Error::shape(NAME, &[self.shape(), p.shape()], message));
        }
        Ok(())
    }
}
