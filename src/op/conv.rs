use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::shape::Dims;

/// Convolution over the axes after the first two, and its gradients. `x` is `[batch, channels, spatial…]`, weights
/// are `[out, in / groups, kernel…]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum ConvOp<T> {
    /// Cross-correlation of `x` with `weight`.
    Forward { x: T, weight: T, options: ConvOptions },
    /// The adjoint of `Forward` in `x`: `x` is `[batch, out, spatial…]`, `weight` is `[out, in / groups, kernel…]`,
    /// the result is `[batch, in, size…]`. Serves as transposed convolution and as the gradient of the input.
    Transpose {
        x: T,
        weight: T,
        options: ConvOptions,
        size: Dims,
    },
    /// The adjoint of `Forward` in `weight`: of an input `x` and a gradient `grad` of the output, the gradient of the
    /// weights, whose kernel has the given size.
    WeightGrad {
        x: T,
        grad: T,
        options: ConvOptions,
        kernel: Dims,
    },
}

/// How a kernel moves over its input: one entry per spatial axis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConvOptions {
    /// The distance between applications.
    pub stride: Dims,
    /// Zeros before and after.
    pub padding: SmallVec<[(usize, usize); 2]>,
    /// The distance between the kernel's elements.
    pub dilation: Dims,
    /// Into how many independent parts the channels fall.
    pub groups: usize,
}

/// Pooling of `[batch, channels, spatial…]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PoolOp {
    /// Where the greatest element of each window is, as `i32` in the flattened spatial axes: the first of several, and
    /// the first NaN before all.
    MaxIndices(PoolOptions),
    /// The mean of each window.
    Avg(PoolOptions),
    /// The gradient of `Avg`, for an input of this spatial size.
    AvgGrad(PoolOptions, Dims),
}

/// How a window moves over its input: one entry per spatial axis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolOptions {
    /// The size of the window.
    pub kernel: Dims,
    /// The distance between windows.
    pub stride: Dims,
    /// Padding before and after; it is never the greatest.
    pub padding: SmallVec<[(usize, usize); 2]>,
    /// The distance between the window's elements.
    pub dilation: Dims,
    /// Whether padding counts as elements of a mean.
    pub count_include_pad: bool,
}

impl<T> ConvOp<T> {
    /// The name, as error messages give it.
    pub fn name(&self) -> &'static str {
        match self {
            ConvOp::Forward { .. } => "conv",
            ConvOp::Transpose { .. } => "conv_transpose",
            ConvOp::WeightGrad { .. } => "conv_weight_grad",
        }
    }

    pub(crate) fn try_map<U, X>(self, f: &mut impl FnMut(T) -> Result<U, X>) -> Result<ConvOp<U>, X> {
        Ok(match self {
            ConvOp::Forward { x, weight, options } => ConvOp::Forward {
                x: f(x)?,
                weight: f(weight)?,
                options,
            },
            ConvOp::Transpose {
                x,
                weight,
                options,
                size,
            } => ConvOp::Transpose {
                x: f(x)?,
                weight: f(weight)?,
                options,
                size,
            },
            ConvOp::WeightGrad {
                x,
                grad,
                options,
                kernel,
            } => ConvOp::WeightGrad {
                x: f(x)?,
                grad: f(grad)?,
                options,
                kernel,
            },
        })
    }

    pub(super) fn visit<'a>(&'a self, f: &mut impl FnMut(&'a T)) {
        let (ConvOp::Forward { x, weight: y, .. }
        | ConvOp::Transpose { x, weight: y, .. }
        | ConvOp::WeightGrad { x, grad: y, .. }) = self;
        f(x);
        f(y);
    }
}

impl ConvOptions {
    /// Stride and dilation 1, no padding, one group, over `axes` spatial axes.
    pub fn new(axes: usize) -> Self {
        ConvOptions {
            stride: smallvec::smallvec![1; axes],
            padding: smallvec::smallvec![(0, 0); axes],
            dilation: smallvec::smallvec![1; axes],
            groups: 1,
        }
    }
}

impl PoolOp {
    /// The name, as error messages give it.
    pub fn name(&self) -> &'static str {
        match self {
            PoolOp::MaxIndices(_) => "max_pool",
            PoolOp::Avg(_) => "avg_pool",
            PoolOp::AvgGrad(..) => "avg_pool_grad",
        }
    }

    /// How the window moves.
    pub fn options(&self) -> &PoolOptions {
        match self {
            PoolOp::MaxIndices(options) | PoolOp::Avg(options) | PoolOp::AvgGrad(options, _) => options,
        }
    }
}

impl PoolOptions {
    /// Windows of this size side by side, without padding.
    pub fn new(kernel: impl Into<Dims>) -> Self {
        let kernel = kernel.into();
        let axes = kernel.len();
        PoolOptions {
            stride: kernel.clone(),
            kernel,
            padding: smallvec::smallvec![(0, 0); axes],
            dilation: smallvec::smallvec![1; axes],
            count_include_pad: true,
        }
    }
}

/// How many times a window fits along one axis; `None` where it does not, or on overflow.
pub(crate) fn windows(
    size: usize,
    kernel: usize,
    stride: usize,
    (before, after): (usize, usize),
    dilation: usize,
) -> Option<usize> {
    let span = kernel.checked_sub(1)?.checked_mul(dilation)?.checked_add(1)?;
    let padded = size.checked_add(before)?.checked_add(after)?;
    padded.checked_sub(span)?.checked_div(stride)?.checked_add(1)
}
