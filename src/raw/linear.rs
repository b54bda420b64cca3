use super::Raw;
use crate::backend::Backend;
use crate::error::Error;
use crate::op::{self, ConvOp, ConvOptions, FusedOp, Op, PoolOp, PoolOptions};
use crate::shape::Dims;

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
    pub fn add_channels(self, bias: Option<Self>) -> Result<Self, Error> {
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

    /// [`ConvOp::Forward`].
    pub fn conv(self, weight: Self, options: ConvOptions) -> Result<Self, Error> {
        convolved::<B>(ConvOp::Forward {
            x: self.0,
            weight: weight.0,
            options,
        })
    }

    /// [`ConvOp::Transpose`].
    pub fn conv_transpose(self, weight: Self, options: ConvOptions, size: Dims) -> Result<Self, Error> {
        convolved::<B>(ConvOp::Transpose {
            x: self.0,
            weight: weight.0,
            options,
            size,
        })
    }

    /// [`Raw::conv_transpose`] to the least size that the options allow, plus `more` at the end of each axis.
    pub fn conv_transpose_by(
        self,
        weight: Self,
        options: ConvOptions,
        more: &[usize],
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
                .checked_add(*more.get(i)?)?
                .checked_add(1)?;
            full.checked_sub(before)?.checked_sub(after)
        };
        match (0..axes).map(size).collect::<Option<Dims>>() {
            Some(size) => self.conv_transpose(weight, options, size),
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
    pub fn conv_weight_grad(self, grad: Self, options: ConvOptions, kernel: Dims) -> Result<Self, Error> {
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

    /// `eˣ` divided by its sum along an axis.
    pub fn softmax(self, axis: usize) -> Result<Self, Error> {
        Self::fused(FusedOp::Softmax { x: self, axis })
    }

    /// The logarithm of softmax.
    pub fn log_softmax(self, axis: usize) -> Result<Self, Error> {
        Self::fused(FusedOp::LogSoftmax { x: self, axis })
    }
}

fn convolved<B: Backend>(op: ConvOp<B::Primitive>) -> Result<Raw<B>, Error> {
    op::run::<B>(Op::Conv(Box::new(op))).map(Raw)
}
