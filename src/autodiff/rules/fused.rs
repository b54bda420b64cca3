use smallvec::{SmallVec, smallvec};

use super::{Autodiff, Grads, Output, Reads, Value, Wanted, tape};
use crate::autodiff::{AutodiffBackend, LeafId, NoCheckpointing};
use crate::backend::PlainBackend;
use crate::error::Error;
use crate::op::{BinaryOp, FusedOp, ScatterMode, lower};
use crate::raw::Raw;
use crate::raw::fourier::{self, Complex};

pub(super) fn reads<T: Wanted>(op: &FusedOp<T>) -> Reads {
    match op {
        FusedOp::Softmax { .. } | FusedOp::LogSoftmax { .. } => Reads::OUTPUT,
        FusedOp::Gelu { .. }
        | FusedOp::Silu { .. }
        | FusedOp::LayerNorm { .. }
        | FusedOp::Attention { .. }
        | FusedOp::CrossEntropy { .. } => Reads::inputs(u32::MAX),
        FusedOp::Rfft { .. } | FusedOp::Irfft { .. } | FusedOp::Cfft { .. } => Reads::NONE,
    }
}

pub(super) fn fused<B: PlainBackend>(
    op: FusedOp<Value<B>>,
    y: Output<B>,
    grad: Raw<B>,
) -> Result<Grads<B>, Error> {
    match op {
        // y (g - Σ g y)
        FusedOp::Softmax { axis, .. } => {
            let y = y.read();
            let weighted = grad.clone().mul(y.clone())?.sum_dim(axis)?;
            Ok(smallvec![Some(grad.sub(weighted)?.mul(y)?)])
        }
        // g - eʸ Σ g
        FusedOp::LogSoftmax { axis, .. } => {
            let total = grad.clone().sum_dim(axis)?;
            Ok(smallvec![Some(grad.sub(y.read().exp()?.mul(total)?)?)])
        }
        // g s (1 + x (1 - s)), where s = sigmoid(x)
        FusedOp::Silu { x } => {
            let x = x.read();
            let s = x.clone().sigmoid()?;
            let rest = s.clone().binary_left(BinaryOp::Sub, 1.0)?;
            let slope = x.mul(rest)?.add(1.0)?.mul(s)?;
            Ok(smallvec![Some(grad.mul(slope)?)])
        }
        // g (softmax(x) - one_hot(target))
        FusedOp::CrossEntropy { logits, targets } => {
            let rows = logits.meta.shape[0];
            let column = |x: Raw<B>| x.reshape([rows, 1]);
            let grad = column(grad)?;
            let spread = logits.read().softmax(1)?.mul(grad.clone())?;
            let targets = column(targets.read())?;
            let grad = spread.scatter(1, targets, grad.neg()?, ScatterMode::Add)?;
            Ok(smallvec![Some(grad), None])
        }
        FusedOp::Rfft { x } => {
            let n = x.meta.shape[x.meta.shape.rank() - 1];
            Ok(smallvec![Some(rfft_adjoint(grad, n)?)])
        }
        FusedOp::Irfft { n, .. } => {
            let [re, im] = irfft_adjoint(grad, n)?;
            Ok(smallvec![Some(re), Some(im)])
        }
        // The adjoint of a sum with exp(iφ) is the one with exp(-iφ): the same with the parts exchanged.
        FusedOp::Cfft { inverse, .. } => {
            let Complex { re: im, im: re } = Complex::unstack(grad, 0)?;
            let y = Complex::unstack(Raw::fused(FusedOp::Cfft { re, im, inverse })?, 0)?;
            Ok(smallvec![Some(y.im), Some(y.re)])
        }
        op @ (FusedOp::Gelu { .. } | FusedOp::LayerNorm { .. } | FusedOp::Attention { .. }) => {
            through_lowering(op, grad)
        }
    }
}

/// `Re Σ g[k] exp(2πi jk / n)` over frequencies up to `n / 2`: an inverse, in which those that stand for two count half.
fn rfft_adjoint<B: PlainBackend>(grad: Raw<B>, n: usize) -> Result<Raw<B>, Error> {
    let dtype = grad.dtype();
    let grad = grad.widen()?;
    let weights = fourier::weights(n, n as f64, n as f64 / 2.0, &grad)?;
    let Complex { re, im } = Complex::unstack(grad.mul(weights)?, 0)?;
    Raw::fused(FusedOp::Irfft { re, im, n })?.cast(dtype)
}

/// The spectrum of the gradient over `n`, twice where a frequency stands for two.
fn irfft_adjoint<B: PlainBackend>(grad: Raw<B>, n: usize) -> Result<[Raw<B>; 2], Error> {
    let dtype = grad.dtype();
    let y = Raw::fused(FusedOp::Rfft { x: grad.widen()? })?;
    let weights = fourier::weights(n, 1.0 / n as f64, 2.0 / n as f64, &y)?;
    let Complex { re, im } = Complex::unstack(y.mul(weights)?.cast(dtype)?, 0)?;
    Ok([re, fourier::only_paired(im, n)?])
}

/// The gradients of what the op means in terms of the others, on a tape of its own.
fn through_lowering<B: PlainBackend>(op: FusedOp<Value<B>>, grad: Raw<B>) -> Result<Grads<B>, Error> {
    type Local<B> = Autodiff<B, NoCheckpointing>;
    let mut leaves = SmallVec::<[Option<LeafId>; 4]>::new();
    let op = op.try_map(&mut |x| {
        let mut value = <Local<B>>::from_inner(x.read().into_primitive());
        if x.wanted {
            value = <Local<B>>::require_grad(value)?;
        }
        leaves.push(<Local<B>>::leaf(&value));
        Ok::<_, Error>(value)
    })?;
    let result = lower::fused::<Local<B>>(op)?;
    let mut gradients = tape::backward_from(result, grad)?;
    let take = |leaf: Option<LeafId>| leaf.and_then(|leaf| gradients.by_leaf.remove(&leaf).map(Raw::new));
    Ok(leaves.into_iter().map(take).collect())
}
