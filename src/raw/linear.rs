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
