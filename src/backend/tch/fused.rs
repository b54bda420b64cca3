//! Fused ops, by libtorch's kernels where they mean the same.

use tch::{Reduction, Tensor};

use super::LibTorch;
use super::elementwise::made;
use super::failure::Outcome;
use super::fourier;
use super::index::places;
use super::storage::{LibTorchTensor, kind, sizes};
use crate::backend::failure::Failure;
use crate::op::{FusedOp, HasMeta, Meta, lower};

/// An op whose result has at least one element.
pub(super) fn fused(op: FusedOp<LibTorchTensor>, meta: &Meta) -> Outcome<LibTorchTensor> {
    match op {
        FusedOp::Softmax { x, axis } => made(x.tensor().f_softmax(axis as i64, None)?, &x, meta),
        FusedOp::LogSoftmax { x, axis } => made(x.tensor().f_log_softmax(axis as i64, None)?, &x, meta),
        FusedOp::Gelu { x, tanh: true } => made(x.tensor().f_gelu("tanh")?, &x, meta),
        FusedOp::Gelu { x, tanh: false } => {
            // libtorch's leaves the range of the type on its way from a great number, which is its own result.
            let t = x.tensor();
            made(t.f_where_self(&t.f_gt(16.0)?, &t.f_gelu("none")?)?, &x, meta)
        }
        FusedOp::Silu { x } => made(x.tensor().f_silu()?, &x, meta),
        FusedOp::LayerNorm { x, weight, bias, eps } => {
            let width = x.tensor().size()[x.shape().rank() - 1];
            let [weight, bias] = [&weight, &bias].map(|p| p.as_ref().map(LibTorchTensor::tensor));
            made(
                x.tensor().f_layer_norm([width], weight, bias, eps, true)?,
                &x,
                meta,
            )
        }
        FusedOp::Attention {
            q,
            k,
            v,
            mask,
            bias,
            causal,
            scale,
        } if !(q.is_empty() || k.is_empty() || v.is_empty()) => {
            let rank = q.shape().rank();
            let (m, n) = (q.shape()[rank - 2], k.shape()[rank - 2]);
            // One query sees all keys. libtorch counts from the first, which is the same for as many keys as queries.
            let causal = causal && m > 1;
            let own = causal && m == n && mask.is_none() && bias.is_none();
            let hidden = hidden(&q, [m, n], mask.as_ref(), bias.as_ref(), causal && !own)?;
            let batch = &meta.shape[..meta.shape.rank() - 2];
            let stretched = |x: &LibTorchTensor| {
                let own = &x.shape()[batch.len()..];
                x.tensor().f_expand(&sizes(&[batch, own].concat())[..], false)
            };
            let (qt, kt, vt) = (stretched(&q)?, stretched(&k)?, stretched(&v)?);
            let y = Tensor::f_scaled_dot_product_attention(&qt, &kt, &vt, hidden, 0.0, own, scale, false)?;
            made(y, &q, meta)
        }
        FusedOp::CrossEntropy { logits, targets } => {
            let targets = places("cross_entropy", &targets, 1, logits.shape()[1])?;
            let none = None::<&Tensor>;
            // An ignored class is one that is none.
            let ignored = -1;
            let t = logits.tensor();
            made(
                t.f_cross_entropy_loss(&targets, none, Reduction::None, ignored, 0.0)?,
                &logits,
                meta,
            )
        }
        FusedOp::Rfft { x } => fourier::rfft(&x, meta),
        FusedOp::Irfft { re, im, n } => fourier::irfft(&re, &im, n, meta),
        FusedOp::Cfft { re, im, inverse } => fourier::cfft(&re, &im, inverse, meta),
        op @ FusedOp::Attention { .. } => lower::fused::<LibTorch>(op).map_err(Failure::Ours),
    }
}

/// What is added to the scores, -∞ where they are hidden.
fn hidden(
    q: &LibTorchTensor,
    [m, n]: [usize; 2],
    mask: Option<&LibTorchTensor>,
    bias: Option<&LibTorchTensor>,
    causal: bool,
) -> Outcome<Option<Tensor>> {
    let options = (kind(q.dtype())?, q.device().place());
    let mut hidden = bias.map(|bias| bias.tensor().f_alias()).transpose()?;
    let mut hide = |places: &Tensor| -> Outcome<()> {
        let scores = match &hidden {
            Some(scores) => scores.f_alias()?,
            None => Tensor::f_zeros([1, 1], options)?,
        };
        let nothing = Tensor::f_full(&[] as &[i64], f64::NEG_INFINITY, options)?;
        hidden = Some(nothing.f_where_self(places, &scores)?);
        Ok(())
    };
    if let Some(mask) = mask {
        hide(mask.tensor())?;
    }
    if causal {
        // Key j is hidden from query i if j > i + n - m.
        let scores = Meta {
            shape: [m, n].into(),
            dtype: q.dtype(),
        };
        q.device().room("attention", &scores)?;
        let [m, n] = [m, n].map(|n| n as i64);
        let all = Tensor::f_full([m, n], 1, (tch::Kind::Bool, options.1))?;
        hide(&all.f_triu(n - m + 1)?)?;
    }
    Ok(hidden)
}
