use super::Raw;
use super::pool::spatial;
use crate::backend::Backend;
use crate::error::Error;
use crate::op::{self, ConvOp, ConvOptions, Op};
use crate::shape::Dims;

/// How a transposed convolution moves its kernel, in as many spatial axes as its input has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConvTransposeOptions {
    /// The convolution that it is the adjoint of; its padding is taken away.
    pub conv: ConvOptions,
    /// What the result is longer at its end: below the stride, it chooses one of the sizes that the stride leaves possible;
    /// what lies beyond the last application of the kernel is 0.
    pub padding_out: Dims,
}

impl From<ConvOptions> for ConvTransposeOptions {
    fn from(conv: ConvOptions) -> Self {
        ConvTransposeOptions {
            padding_out: smallvec::smallvec![0; conv.stride.len()],
            conv,
        }
    }
}

impl ConvTransposeOptions {
    /// The size of the result for an input and a kernel of these sizes; `None` where it has none.
    pub(crate) fn output_size(&self, input: &[usize], kernel: &[usize]) -> Option<Dims> {
        let conv = &self.conv;
        let one = |(i, &size): (usize, &usize)| {
            let (before, after) = *conv.padding.get(i)?;
            let (stride, dilation) = (*conv.stride.get(i)?, *conv.dilation.get(i)?);
            if stride == 0 || dilation == 0 {
                return None;
            }
            let steps = size.checked_sub(1)?.checked_mul(stride)?;
            let span = kernel.get(i)?.checked_sub(1)?.checked_mul(dilation)?;
            let more = self.padding_out.get(i)?.checked_add(1)?;
            let full = steps.checked_add(span)?.checked_add(more)?;
            full.checked_sub(before)?
                .checked_sub(after)
                .filter(|&size| size > 0)
        };
        input.iter().enumerate().map(one).collect()
    }

    /// Takes out a `padding_out` of the stride or more, which no adjoint has: what it gains back of the padding is left out
    /// of that, and the zeros that come after are returned, if there are any.
    fn take_beyond(&mut self) -> Vec<(usize, usize)> {
        let ends = self.conv.padding.iter_mut().map(|(_, after)| after);
        let axes = self.padding_out.iter_mut().zip(ends).zip(&self.conv.stride);
        let zeros: Vec<_> = axes
            .map(|((more, after), stride)| {
                if *more < *stride {
                    return (0, 0);
                }
                let gained = (*more).min(*after);
                *after -= gained;
                (0, std::mem::take(more) - gained)
            })
            .collect();
        if zeros.iter().all(|&(_, more)| more == 0) {
            vec![]
        } else {
            zeros
        }
    }
}

/// The size of what a convolution gives for an input and a kernel of these sizes; `None` where it has none.
pub(crate) fn conv_output_size(input: &[usize], kernel: &[usize], options: &ConvOptions) -> Option<Dims> {
    let one = |(i, &size): (usize, &usize)| {
        let dilation = *options.dilation.get(i).filter(|&&dilation| dilation > 0)?;
        let (stride, padding) = (*options.stride.get(i)?, *options.padding.get(i)?);
        op::windows(size, *kernel.get(i)?, stride, padding, dilation)
    };
    input.iter().enumerate().map(one).collect()
}

/// Convolutions of `[batch, channels, spatial…]`.
///
/// # Errors
/// Each returns what [`op::run`] does.
impl<B: Backend> Raw<B> {
    /// Cross-correlation in as many spatial axes as there are after the first two: `self` is `[batch, in, …]`, `weight`
    /// `[out, in / groups, kernel…]`, `bias` `[out]`.
    pub fn conv(
        self,
        weight: Self,
        bias: Option<Self>,
        options: impl Into<ConvOptions>,
    ) -> Result<Self, Error> {
        let y = convolved::<B>(ConvOp::Forward {
            x: self.0,
            weight: weight.0,
            options: options.into(),
        });
        y?.add_channels(bias)
    }

    /// The adjoint of [`Raw::conv`] in its input: `self` is `[batch, in, …]`, `weight` `[in, out / groups, kernel…]`, `bias`
    /// `[out]`.
    pub fn conv_transpose(
        self,
        weight: Self,
        bias: Option<Self>,
        options: impl Into<ConvTransposeOptions>,
    ) -> Result<Self, Error> {
        let mut options = options.into();
        let beyond = options.take_beyond();
        match options.output_size(spatial(&self), spatial(&weight)) {
            Some(size) => {
                let y = self.conv_transpose_to(weight, options.conv, size)?;
                let y = if beyond.is_empty() { y } else { y.pad(beyond, 0.0)? };
                y.add_channels(bias)
            }
            None => {
                let message = "an axis is empty, an option lacks one or is 0, or the padding leaves nothing";
                let shapes = [self.shape(), weight.shape()];
                Err(Error::shape("conv_transpose", &shapes, message))
            }
        }
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

    /// The gradient of [`Raw::conv`] in its weights, for one of its result; `self` is its input.
    pub fn conv_weight_backward(
        self,
        weight: Self,
        output_grad: Self,
        options: impl Into<ConvOptions>,
    ) -> Result<Self, Error> {
        let kernel = Dims::from_slice(spatial(&weight));
        let grad = self.conv_weight_grad(output_grad, options.into(), kernel)?;
        if grad.shape() != weight.shape() {
            let message = format!("input and gradient are those of weights {}", grad.shape());
            return Err(Error::shape("conv_weight_backward", &[weight.shape()], message));
        }
        Ok(grad)
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
}

fn convolved<B: Backend>(op: ConvOp<B::Primitive>) -> Result<Raw<B>, Error> {
    op::run::<B>(Op::Conv(Box::new(op))).map(Raw)
}
