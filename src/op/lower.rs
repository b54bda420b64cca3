//! The meaning of fused ops in terms of the others.

use super::FusedOp;
use crate::backend::{Backend, Route, note};
use crate::error::Error;
use crate::raw::{Raw, fourier};

/// Expresses a fused op by the rest of the vocabulary. A backend without a kernel for it calls this.
///
/// # Errors
/// What the ops it consists of return.
pub fn fused<B: Backend>(op: FusedOp<B::Primitive>) -> Result<B::Primitive, Error> {
    note(Route::Lowered);
    let Ok(op) = op.try_map(&mut |x| Ok::<_, std::convert::Infallible>(Raw::<B>::new(x)));
    let result = match op {
        FusedOp::Softmax { x, axis } => softmax(x, axis),
        FusedOp::LogSoftmax { x, axis } => log_softmax(x, axis),
        FusedOp::Gelu { x, tanh } => gelu(x, tanh),
        FusedOp::Silu { x } => x.clone().sigmoid()?.mul(x),
        FusedOp::LayerNorm { x, weight, bias, eps } => layer_norm(x, weight, bias, eps),
        FusedOp::Attention {
            q,
            k,
            v,
            mask,
            bias,
            causal,
            scale,
        } => attention([q, k, v], mask, bias, causal, scale, None),
        FusedOp::CrossEntropy { logits, targets } => cross_entropy(logits, targets),
        FusedOp::Rfft { x } => fourier::rfft(x),
        FusedOp::Irfft { re, im, n } => fourier::irfft(re, im, n),
        FusedOp::Cfft { re, im, inverse } => fourier::cfft(re, im, inverse),
    };
    Ok(result?.into_primitive())
}

fn softmax<B: Backend>(x: Raw<B>, axis: usize) -> Result<Raw<B>, Error> {
    if x.shape()[axis] == 0 {
        return Ok(x);
    }
    let e = x.clone().sub(x.max_dim(axis)?)?.exp()?;
    e.clone().div(e.sum_dim(axis)?)
}

fn log_softmax<B: Backend>(x: Raw<B>, axis: usize) -> Result<Raw<B>, Error> {
    if x.shape()[axis] == 0 {
        return Ok(x);
    }
    let shifted = x.clone().sub(x.max_dim(axis)?)?;
    shifted.clone().sub(shifted.exp()?.sum_dim(axis)?.log()?)
}

fn gelu<B: Backend>(x: Raw<B>, tanh: bool) -> Result<Raw<B>, Error> {
    let half = x.clone().mul(0.5)?;
    let curve = if tanh {
        let cube = x.clone().mul(x.clone())?.mul(x.clone())?;
        cube.mul(0.044715)?
            .add(x)?
            .mul((2.0 / std::f64::consts::PI).sqrt())?
            .tanh()?
    } else {
        x.mul(std::f64::consts::FRAC_1_SQRT_2)?.erf()?
    };
    half.mul(curve.add(1.0)?)
}

fn layer_norm<B: Backend>(
    x: Raw<B>,
    weight: Option<Raw<B>>,
    bias: Option<Raw<B>>,
    eps: f64,
) -> Result<Raw<B>, Error> {
    let rank = x.rank();
    let last = [rank - 1];
    let as_row = |p: Raw<B>| {
        let mut shape = vec![1; rank];
        shape[rank - 1] = p.shape()[0];
        p.reshape(shape)
    };
    let centred = x.clone().sub(x.mean_dims(&last)?)?;
    let variance = centred.clone().mul(centred.clone())?.mean_dims(&last)?;
    let mut y = centred.div(variance.add(eps)?.sqrt()?)?;
    if let Some(weight) = weight {
        y = y.mul(as_row(weight)?)?;
    }
    match bias {
        Some(bias) => y.add(as_row(bias)?),
        None => Ok(y),
    }
}

/// Of what [`FusedOp::Attention`] takes; `softcap` bounds the scaled scores.
pub(crate) fn attention<B: Backend>(
    [q, k, v]: [Raw<B>; 3],
    mask: Option<Raw<B>>,
    bias: Option<Raw<B>>,
    causal: bool,
    scale: Option<f64>,
    softcap: Option<f64>,
) -> Result<Raw<B>, Error> {
    let rank = q.rank();
    // Products over no elements are 0, whatever they are scaled by.
    let scale = scale.unwrap_or_else(|| 1.0 / (q.shape()[rank - 1].max(1) as f64).sqrt());
    let mut scores = q.matmul(k.transpose()?)?.mul(scale)?;
    if scores.shape()[rank - 1] == 0 {
        return scores.matmul(v);
    }
    if let Some(cap) = softcap {
        scores = scores.div(cap)?.tanh()?.mul(cap)?;
    }
    if let Some(bias) = bias {
        scores = scores.add(bias)?;
    }
    if let Some(mask) = mask {
        let mask = mask.expand(scores.shape().clone())?;
        scores = mask.choose(f64::NEG_INFINITY, scores)?;
    }
    if causal {
        let (m, n) = (scores.shape()[rank - 2], scores.shape()[rank - 1]);
        // Key j is hidden from query i if j > i + n - m.
        let ahead = scores.columns_minus_rows("attention")?;
        let hidden = ahead
            .greater(n as i64 - m as i64)?
            .expand(scores.shape().clone())?;
        scores = hidden.choose(f64::NEG_INFINITY, scores)?;
    }
    // A row in which everything is hidden has a greatest score of -inf: take 0 for it, so that its weights are 0 / 1
    // and neither they nor their gradients are NaN.
    let greatest = scores.clone().max_dim(rank - 1)?;
    let hidden = greatest.clone().equal(f64::NEG_INFINITY)?;
    let e = scores.sub(hidden.clone().choose(0.0, greatest)?)?.exp()?;
    let total = hidden.choose(1.0, e.clone().sum_dim(rank - 1)?)?;
    e.div(total)?.matmul(v)
}

fn cross_entropy<B: Backend>(logits: Raw<B>, targets: Raw<B>) -> Result<Raw<B>, Error> {
    let rows = targets.shape()[0];
    let picked = log_softmax(logits, 1)?.gather(1, targets.reshape([rows, 1])?)?;
    picked.reshape([rows])?.neg()
}
