use serde::{Deserialize, Serialize};

/// A composite with a kernel where a backend has one; [`super::lower::fused`] gives each its meaning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum FusedOp<T> {
    /// `eˣ` divided by its sum along an axis.
    Softmax { x: T, axis: usize },
    /// The logarithm of softmax.
    LogSoftmax { x: T, axis: usize },
    /// `x Φ(x)`, with the error function or, if `tanh`, its approximation
    /// `x/2 (1 + tanh(√(2/π) (x + 0.044715 x³)))` (Hendrycks & Gimpel 2016).
    Gelu { x: T, tanh: bool },
    /// `x sigmoid(x)`.
    Silu { x: T },
    /// `(x - mean) / sqrt(var + eps) * weight + bias` over the last axis, with the biased variance (Ba et al. 2016).
    LayerNorm {
        x: T,
        weight: Option<T>,
        bias: Option<T>,
        eps: f64,
    },
    /// `softmax(q kᵀ · scale + bias) v` (Vaswani et al. 2017). `q` is `[…, m, d]`, `k` is `[…, n, d]`, `v` is
    /// `[…, n, e]`; `mask` (true hides) and `bias` broadcast to `[…, m, n]`; `causal` hides the keys that come after
    /// the query, counted from the last (query `i` sees keys up to `i + n - m`). `scale` is `1/√d` by default. A row
    /// in which everything is hidden gives zeros.
    Attention {
        q: T,
        k: T,
        v: T,
        mask: Option<T>,
        bias: Option<T>,
        causal: bool,
        scale: Option<f64>,
    },
    /// `-log_softmax(logits)[target]` for each row: `logits` is `[n, classes]`, `targets` is `[n]` of integers, the
    /// result is `[n]`.
    CrossEntropy { logits: T, targets: T },
    /// `X[k] = Σ x[j] exp(-2πi jk / n)` of the real numbers along the last axis, up to frequency `n / 2`: `[…, n]` to
    /// `[2, …, n / 2 + 1]`, all real parts before all imaginary parts. Those of frequencies 0 and `n / 2` are 0, whatever `x` is.
    Rfft { x: T },
    /// The `n` real numbers along the last axis of which these are the [`Rfft`](FusedOp::Rfft): `[…, n / 2 + 1]` twice to
    /// `[…, n]`. The imaginary parts of frequencies 0 and `n / 2`, which those have not, count as 0, whatever they are.
    Irfft { re: T, im: T, n: usize },
    /// `X[k] = Σ x[j] exp(-2πi jk / n)` along the last axis, or its inverse, `Σ x[j] exp(2πi jk / n) / n`: `[…, n]` twice to
    /// `[2, …, n]`, all real parts before all imaginary parts.
    Cfft { re: T, im: T, inverse: bool },
}

impl<T> FusedOp<T> {
    /// The name, as error messages give it.
    pub fn name(&self) -> &'static str {
        match self {
            FusedOp::Softmax { .. } => "softmax",
            FusedOp::LogSoftmax { .. } => "log_softmax",
            FusedOp::Gelu { .. } => "gelu",
            FusedOp::Silu { .. } => "silu",
            FusedOp::LayerNorm { .. } => "layer_norm",
            FusedOp::Attention { .. } => "attention",
            FusedOp::CrossEntropy { .. } => "cross_entropy",
            FusedOp::Rfft { .. } => "rfft",
            FusedOp::Irfft { .. } => "irfft",
            FusedOp::Cfft { inverse: false, .. } => "cfft",
            FusedOp::Cfft { inverse: true, .. } => "ifft",
        }
    }

    pub(crate) fn try_map<U, X>(self, f: &mut impl FnMut(T) -> Result<U, X>) -> Result<FusedOp<U>, X> {
        Ok(match self {
            FusedOp::Softmax { x, axis } => FusedOp::Softmax { x: f(x)?, axis },
            FusedOp::LogSoftmax { x, axis } => FusedOp::LogSoftmax { x: f(x)?, axis },
            FusedOp::Gelu { x, tanh } => FusedOp::Gelu { x: f(x)?, tanh },
            FusedOp::Silu { x } => FusedOp::Silu { x: f(x)? },
            FusedOp::LayerNorm { x, weight, bias, eps } => FusedOp::LayerNorm {
                x: f(x)?,
                weight: weight.map(&mut *f).transpose()?,
                bias: bias.map(&mut *f).transpose()?,
                eps,
            },
            FusedOp::Attention {
                q,
                k,
                v,
                mask,
                bias,
                causal,
                scale,
            } => FusedOp::Attention {
                q: f(q)?,
                k: f(k)?,
                v: f(v)?,
                mask: mask.map(&mut *f).transpose()?,
                bias: bias.map(&mut *f).transpose()?,
                causal,
                scale,
            },
            FusedOp::CrossEntropy { logits, targets } => FusedOp::CrossEntropy {
                logits: f(logits)?,
                targets: f(targets)?,
            },
            FusedOp::Rfft { x } => FusedOp::Rfft { x: f(x)? },
            FusedOp::Irfft { re, im, n } => FusedOp::Irfft {
                re: f(re)?,
                im: f(im)?,
                n,
            },
            FusedOp::Cfft { re, im, inverse } => FusedOp::Cfft {
                re: f(re)?,
                im: f(im)?,
                inverse,
            },
        })
    }

    pub(super) fn visit<'a>(&'a self, f: &mut impl FnMut(&'a T)) {
        match self {
            FusedOp::Softmax { x, .. }
            | FusedOp::LogSoftmax { x, .. }
            | FusedOp::Gelu { x, .. }
            | FusedOp::Silu { x }
            | FusedOp::Rfft { x } => f(x),
            FusedOp::LayerNorm { x, weight, bias, .. } => {
                f(x);
                weight.as_ref().map(&mut *f);
                bias.as_ref().map(&mut *f);
            }
            FusedOp::Attention {
                q, k, v, mask, bias, ..
            } => {
                f(q);
                f(k);
                f(v);
                mask.as_ref().map(&mut *f);
                bias.as_ref().map(&mut *f);
            }
            FusedOp::CrossEntropy { logits, targets } => {
                f(logits);
                f(targets);
            }
            FusedOp::Irfft { re, im, .. } | FusedOp::Cfft { re, im, .. } => {
                f(re);
                f(im);
            }
        }
    }
}
