use super::Raw;
use crate::backend::Backend;
use crate::error::Error;
use crate::op::{self, ConvOp, ConvOptions, FusedOp, Op, PoolOp, PoolOptions};
use crate::shape::Dims;

/// How attention weighs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AttentionOptions {
    /// The factor of the scores; `1/√d` by default.
    pub scale: Option<f64>,
    /// Whether keys after the query are hidden, counted from the last.
    pub is_causal: bool,
}

/// Products, convolutions, pools and fused ops.
///
/// # Errors
/// Each returns what [`op::run`] does.
impl<B: Backend> Raw<B> {
    /// The matrix product of the last two axes.
    pub fn matmul(self, rhs: Self) -> Result<Self, Error> {
        op::run::<B>(Op::Matmul(self.0, rhs.0)).map(Raw)
    }

    /// `x w + b` over the last axis: `self` is `[…, in]`, `weight` `[in, out]`, `bias` `[out]`.
    pub fn linear(self, weight: Self, bias: Option<Self>) -> Result<Self, Error> {
        let (Some((&width, rows)), &[inputs, outputs]) = (self.shape().split_last(), &weight.shape()[..])
        else {
            return Err(Error::rank(
                "linear",
                weight.rank(),
                "weights of rank 2, and an input of rank 1 or more",
            ));
        };
        if width != inputs {
            let message = "the last axis of the input must be as long as the first of the weights";
            return Err(Error::shape("linear", &[self.shape(), weight.shape()], message));
        }
        let shape: Dims = rows.iter().copied().chain([outputs]).collect();
        let rows = rows.iter().product();
        let y = self.reshape([rows, inputs])?.matmul(weight)?.add_channels(bias)?;
        y.reshape(shape)
    }

    /// The rows of `self`, `[n, width]`, that an index of any shape names: `[…, width]`.
    pub fn embedding(self, index: Self) -> Result<Self, Error> {
        if self.rank() != 2 {
            return Err(Error::rank("embedding", self.rank(), "weights of rank 2"));
        }
        self.take(0, index)
    }

    /// Adds one number for each channel, axis 1.
    pub(crate) fn add_channels(self, bias: Option<Self>) -> Result<Self, Error> {
        let Some(bias) = bias else { return Ok(self) };
        let channels = self.size("bias", 1)?;
        if bias.shape()[..] != [channels] {
            let message = "the bias must hold one number for each channel";
            return Err(Error::shape("bias", &[self.shape(), bias.shape()], message));
        }
        let mut shape: Dims = smallvec::smallvec![1; self.rank()];
        shape[1] = channels;
        self.add(bias.reshape(shape)?)
    }

    /// `(x - mean) / √(var + eps) · weight + bias` over the last axis, with the biased variance.
    pub fn layer_norm(self, weight: Option<Self>, bias: Option<Self>, eps: f64) -> Result<Self, Error> {
        Self::fused(FusedOp::LayerNorm {
            x: self,
            weight,
            bias,
            eps,
        })
    }

    /// `softmax(q kᵀ · scale + bias) v` over the last two axes; the others are batch axes. The query, `self`, is
    /// `[…, m, d]`, `key` `[…, n, d]`, `value` `[…, n, e]`; `mask` (true hides) and `bias` stretch to `[…, m, n]`. A query
    /// from which everything is hidden gives zeros.
    pub fn attention(
        self,
        key: Self,
        value: Self,
        mask: Option<Self>,
        bias: Option<Self>,
        options: AttentionOptions,
    ) -> Result<Self, Error> {
        Self::fused(FusedOp::Attention {
            q: self,
            k: key,
            v: value,
            mask,
            bias,
            causal: options.is_causal,
            scale: options.scale,
        })
    }

    /// Cross-correlation in as many spatial axes as there are after the first two: `self` is `[batch, in, …]`, `weight`
    /// `[out, in / groups, kernel…]`, `bias` `[out]`.
    pub fn conv(self, weight: Self, bias: Option<Self>, options: ConvOptions) -> Result<Self, Error> {
        let y = convolved::<B>(ConvOp::Forward {
            x: self.0,
            weight: weight.0,
            options,
        });
        y?.add_channels(bias)
    }

    /// [`ConvOp::Transpose`].
    pub(crate) fn conv_transpose_to(
        self,
        weight: Self,
        options: ConvOptions,
        size: Dims,
    ) -> Result<Self, Error> {
        convolved::<B>(ConvOp::Transpose {
            x: self.0,
            weight: weight.0,
            options,
            size,
        })
    }

    /// The adjoint of [`Raw::conv`] in its input: `self` is `[batch, in, …]`, `weight` `[in, out / groups, kernel…]`, `bias`
    /// `[out]`. Of the sizes that the stride leaves possible, `padding_out` chooses one: it is added at the end.
    pub fn conv_transpose(
        self,
        weight: Self,
        bias: Option<Self>,
        options: ConvOptions,
        padding_out: &[usize],
    ) -> Result<Self, Error> {
        let axes = self.rank().saturating_sub(2);
        let size = |i: usize| {
            let (before, after) = *options.padding.get(i)?;
            let steps = self.shape()[i + 2]
                .checked_sub(1)?
                .checked_mul(*options.stride.get(i)?)?;
            let kernel = weight.shape().get(i + 2)?.checked_sub(1)?;
            let span = kernel.checked_mul(*options.dilation.get(i)?)?;
            let full = steps
                .checked_add(span)?
                .checked_add(*padding_out.get(i)?)?
                .checked_add(1)?;
            full.checked_sub(before)?.checked_sub(after)
        };
        match (0..axes).map(size).collect::<Option<Dims>>() {
            Some(size) => self.conv_transpose_to(weight, options, size)?.add_channels(bias),
            None => {
                let message = "an axis is empty, an option lacks one, or the padding leaves nothing";
                Err(Error::shape(
                    "conv_transpose",
                    &[self.shape(), weight.shape()],
                    message,
                ))
            }
        }
    }

    /// [`ConvOp::WeightGrad`].
    pub(crate) fn conv_weight_grad(
        self,
        grad: Self,
        options: ConvOptions,
        kernel: Dims,
    ) -> Result<Self, Error> {
        convolved::<B>(ConvOp::WeightGrad {
            x: self.0,
            grad: grad.0,
            options,
            kernel,
        })
    }

    /// A pooling op.
    pub fn pool(self, op: PoolOp) -> Result<Self, Error> {
        op::run::<B>(Op::Pool(Box::new(op), self.0)).map(Raw)
    }

    /// The greatest element of each window; NaN if any is.
    pub fn max_pool(self, options: PoolOptions) -> Result<Self, Error> {
        Ok(self.max_pool_with_indices(options)?.0)
    }

    /// The mean of each window; padding counts as zeros, or not at all.
    pub fn avg_pool(self, options: PoolOptions) -> Result<Self, Error> {
        self.pool(PoolOp::Avg(options))
    }

    /// The greatest element of each window, and where it is in the flattened spatial axes.
    pub fn max_pool_with_indices(self, options: PoolOptions) -> Result<(Self, Self), Error> {
        let indices = self.clone().pool(PoolOp::MaxIndices(options))?;
        let out = indices.shape().clone();
        let plane = |shape: &[usize]| [shape[0], shape[1], shape[2..].iter().product()];
        let flat = indices.clone().reshape(plane(&out))?;
        let from = plane(self.shape());
        Ok((self.reshape(from)?.gather(2, flat)?.reshape(out)?, indices))
    }

    /// A fused op.
    pub fn fused(op: FusedOp<Self>) -> Result<Self, Error> {
        Self::run(Op::Fused(Box::new(op)))
    }
}

fn convolved<B: Backend>(op: ConvOp<B::Primitive>) -> Result<Raw<B>, Error> {
    op::run::<B>(Op::Conv(Box::new(op))).map(Raw)
}
