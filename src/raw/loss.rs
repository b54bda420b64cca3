use super::Raw;
use crate::backend::Backend;
use crate::error::Error;
use crate::op::FusedOp;

/// Losses, element by element, between a prediction and a target of the same shape.
///
/// # Errors
/// Each returns what the ops it consists of do; shapes that differ are an error, though they might broadcast.
impl<B: Backend> Raw<B> {
    /// `(x - t)²`.
    pub fn mse(self, target: Self) -> Result<Self, Error> {
        self.difference("mse", target)?.square()
    }

    /// `|x - t|`.
    pub fn l1(self, target: Self) -> Result<Self, Error> {
        self.difference("l1", target)?.abs()
    }

    /// `d² / 2` where `d = |x - t|` is at most `delta`, else `delta (d - delta / 2)`.
    pub fn huber(self, target: Self, delta: f64) -> Result<Self, Error> {
        positive("huber", "delta", delta)?;
        let d = self.difference("huber", target)?.abs()?;
        // Both cases in one, so that the one that is not chosen cannot make the gradient NaN.
        let capped = d.clone().min_pair(delta)?;
        d.sub(capped.clone().mul(0.5)?)?.mul(capped)
    }

    /// [`Raw::huber`] divided by `beta`: near 0 `d² / 2 beta`, farther `d - beta / 2`.
    pub fn smooth_l1(self, target: Self, beta: f64) -> Result<Self, Error> {
        positive("smooth_l1", "beta", beta)?;
        let d = self.difference("smooth_l1", target)?.abs()?;
        let near = d.clone().lower(beta)?;
        let line = d.clone().sub(beta / 2.0)?;
        // Without the 0, the square of an infinity, which is not chosen, would make the gradient NaN.
        let curve = near.clone().choose(d, 0.0)?.square()?.div(2.0 * beta)?;
        near.choose(curve, line)
    }

    /// `-(t ln sigmoid(x) + (1 - t) ln(1 - sigmoid(x)))`.
    pub fn binary_cross_entropy_with_logits(self, target: Self) -> Result<Self, Error> {
        self.same_shape("binary_cross_entropy_with_logits", &target)?;
        self.clone().softplus(1.0)?.sub(self.mul(target)?)
    }

    /// `t (ln t - x)` where `x` is the logarithm of a probability; 0 where `t` is.
    pub fn kl_div(self, target: Self) -> Result<Self, Error> {
        self.same_shape("kl_div", &target)?;
        let zero = target.clone().equal(0)?;
        let log = target.clone().mask_where(zero, 1)?.log()?;
        log.sub(self)?.mul(target)
    }

    /// `-log_softmax(x)[t]` for each row of logits `[n, classes]`; `target` holds `n` classes.
    pub fn cross_entropy(self, target: Self) -> Result<Self, Error> {
        Self::fused(FusedOp::CrossEntropy {
            logits: self,
            targets: target,
        })
    }

    /// `-Σ t log_softmax(x)` over the last axis, which holds a logit and the probability of each class; a class without
    /// probability counts 0.
    pub fn cross_entropy_with_logits(self, target: Self) -> Result<Self, Error> {
        let op = "cross_entropy_with_logits";
        self.same_shape(op, &target)?;
        let Some(axis) = self.rank().checked_sub(1) else {
            return Err(Error::rank(op, 0, "classes along the last axis, rank 1 or more"));
        };
        let log = self.log_softmax(axis).map_err(|error| error.of(op))?;
        // Elsewhere the gradient of a probability of 0 is that of any other.
        let nothing = target
            .clone()
            .equal(0)?
            .bool_and(log.clone().equal(f64::NEG_INFINITY)?)?;
        let log = nothing.choose(0.0, log)?;
        log.mul(target)
            .map_err(|error| error.of(op))?
            .sum_dim(axis)?
            .squeeze_dim(axis)?
            .neg()
    }

    /// `-x[t]` for each row of log-probabilities `[n, classes]`; `target` holds `n` classes.
    pub fn nll(self, target: Self) -> Result<Self, Error> {
        let rows = target.shape().num_elements();
        if self.rank() != 2 || self.shape()[0] != rows {
            let message = "needs log-probabilities [n, classes] and n targets";
            return Err(Error::shape("nll", &[self.shape(), target.shape()], message));
        }
        self.gather(1, target.reshape([rows, 1])?)?.reshape([rows])?.neg()
    }

    fn difference(self, op: &'static str, target: Self) -> Result<Self, Error> {
        self.same_shape(op, &target)?;
        self.sub(target)
    }

    fn same_shape(&self, op: &'static str, target: &Self) -> Result<(), Error> {
        if self.shape() == target.shape() {
            return Ok(());
        }
        let message = "prediction and target must have one shape; `expand` stretches";
        Err(Error::shape(op, &[self.shape(), target.shape()], message))
    }
}

fn positive(op: &'static str, name: &str, value: f64) -> Result<(), Error> {
    if value > 0.0 {
        Ok(())
    } else {
        Err(Error::argument(op, format!("{name} is {value}, not positive")))
    }
}
