//! How the windows of convolutions and pools lie on their input.

use smallvec::SmallVec;
use tch::Tensor;

use super::failure::Outcome;
use super::storage::LibTorchTensor;
use crate::op::{ConvOp, HasMeta, Meta, PoolOp, PoolOptions};

/// Windows over spatial axes: one entry per axis. A stride or a dilation that leads out of the padded input is taken to one
/// that does too, but is no larger.
#[derive(Debug)]
pub(super) struct Windows {
    pub(super) input: Line,
    pub(super) output: Line,
    pub(super) kernel: Line,
    pub(super) stride: Line,
    pub(super) dilation: Line,
    /// The padding before the input.
    pub(super) before: Line,
    /// What the windows take after the input; negative where they leave some of it.
    pub(super) after: Line,
    /// Whether the padding is the same on both sides.
    pub(super) symmetric: bool,
}

pub(super) type Line = SmallVec<[i64; 4]>;

/// What [`Windows`] are made of.
struct Given<'a> {
    input: &'a [usize],
    output: &'a [usize],
    kernel: &'a [usize],
    stride: &'a [usize],
    dilation: &'a [usize],
    padding: &'a [(usize, usize)],
}

impl Windows {
    pub(super) fn of_conv(op: &ConvOp<LibTorchTensor>, meta: &Meta) -> Self {
        let (input, output, kernel, options) = match op {
            ConvOp::Forward { x, weight, options } => (x.shape(), &meta.shape, &weight.shape()[2..], options),
            ConvOp::Transpose {
                x, weight, options, ..
            } => (&meta.shape, x.shape(), &weight.shape()[2..], options),
            ConvOp::WeightGrad {
                x,
                grad,
                options,
                kernel,
            } => (x.shape(), grad.shape(), &kernel[..], options),
        };
        Self::of(Given {
            input: &input[2..],
            output: &output[2..],
            kernel,
            stride: &options.stride,
            dilation: &options.dilation,
            padding: &options.padding,
        })
    }

    pub(super) fn of_pool(op: &PoolOp, x: &LibTorchTensor, meta: &Meta) -> Self {
        let (input, output) = match op {
            PoolOp::MaxIndices(_) | PoolOp::Avg(_) => (x.shape(), &meta.shape),
            PoolOp::AvgGrad(..) => (&meta.shape, x.shape()),
        };
        let PoolOptions {
            kernel,
            stride,
            padding,
            dilation,
            ..
        } = op.options();
        Self::of(Given {
            input: &input[2..],
            output: &output[2..],
            kernel,
            stride,
            dilation,
            padding,
        })
    }

    fn of(given: Given) -> Self {
        let axes = given.input.len();
        // What is beyond all sizes stays there, and is not moderate.
        let entry = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let line = |f: &dyn Fn(usize) -> usize| (0..axes).map(|axis| entry(f(axis))).collect::<Line>();
        let input = line(&|axis| given.input[axis]);
        let output = line(&|axis| given.output[axis]);
        let kernel = line(&|axis| given.kernel[axis]);
        let stride = line(&|axis| {
            let (before, after) = given.padding[axis];
            let padded = given.input[axis].saturating_add(before).saturating_add(after);
            given.stride[axis].min(padded)
        });
        let dilation = line(&|axis| {
            if given.kernel[axis] == 1 {
                1
            } else {
                given.dilation[axis]
            }
        });
        let before = line(&|axis| given.padding[axis].0);
        let after = (0..axes).map(|axis| {
            let last = (output[axis] - 1).saturating_mul(stride[axis]);
            let span = (kernel[axis] - 1)
                .saturating_mul(dilation[axis])
                .saturating_add(1);
            let reach = last.saturating_add(span);
            reach.saturating_sub(before[axis]).saturating_sub(input[axis])
        });
        let after = after.collect();
        Windows {
            symmetric: given.padding.iter().all(|(before, after)| before == after),
            input,
            output,
            kernel,
            stride,
            dilation,
            before,
            after,
        }
    }

    pub(super) fn axes(&self) -> usize {
        self.kernel.len()
    }

    /// The distance from the first element of a window to the last, and one.
    pub(super) fn span(&self, axis: usize) -> i64 {
        (self.kernel[axis] - 1)
            .saturating_mul(self.dilation[axis])
            .saturating_add(1)
    }

    /// Whether neither the padded input nor the windows laid out, of which each is so long along an axis, take much more
    /// memory than what is given, in each of so many planes; and whether libtorch, which counts padding in 32 bits, can.
    pub(super) fn is_moderate(&self, planes: usize, laid_out: fn(&Self, usize) -> i64) -> bool {
        const MOST_PADDING: i64 = 1 << 20;
        // As convolutions that are in use take it: kernels of 11 × 11.
        const MOST_TIMES: i64 = 128;
        const LITTLE: i64 = 1 << 25;
        let product = |f: &dyn Fn(usize) -> i64| {
            let axes = 0..self.axes();
            axes.fold(1, |n: i64, axis| n.saturating_mul(f(axis)))
        };
        let given = product(&|axis| self.input[axis]).saturating_add(product(&|axis| self.output[axis]));
        let planes = i64::try_from(planes).unwrap_or(i64::MAX);
        let fits = |n: i64| n <= given.saturating_mul(MOST_TIMES) || n.saturating_mul(planes) <= LITTLE;
        let padded = |axis: usize| {
            let after = self.after[axis].max(if self.symmetric { self.before[axis] } else { 0 });
            self.input[axis]
                .saturating_add(self.before[axis])
                .saturating_add(after)
        };
        let in_windows = |axis: usize| self.output[axis].saturating_mul(laid_out(self, axis));
        self.before.iter().chain(&self.after).all(|&n| n <= MOST_PADDING)
            && fits(product(&padded))
            && fits(product(&in_windows))
    }
}

/// The input with its padding, without what no window meets.
pub(super) fn pad(x: &Tensor, windows: &Windows, value: f64) -> Outcome<Tensor> {
    resized(x, &windows.before, &windows.after, value)
}

/// A padded input without as many elements before and after; a negative number adds zeros.
pub(super) fn cut(padded: &Tensor, before: &Line, after: &Line) -> Outcome<Tensor> {
    let back = |line: &Line| line.iter().map(|n| -n).collect::<Line>();
    resized(padded, &back(before), &back(after), 0.0)
}

/// Elements added before and after along the spatial axes, or taken away where the numbers are negative.
fn resized(x: &Tensor, before: &Line, after: &Line, value: f64) -> Outcome<Tensor> {
    if before.iter().chain(after).all(|&n| n == 0) {
        return Ok(x.f_alias()?);
    }
    // From the last axis to the first.
    let pads: Vec<i64> = before
        .iter()
        .zip(after)
        .rev()
        .flat_map(|(&before, &after)| [before, after])
        .collect();
    Ok(x.f_pad(&pads[..], "constant", value)?)
}

/// The windows of a padded input, as a view: `[batch, channels, output…, kernel…]`.
pub(super) fn windows(padded: &Tensor, windows: &Windows) -> Outcome<Tensor> {
    let mut view = padded.f_alias()?;
    for axis in 0..windows.axes() {
        view = unfold(&view, axis, windows)?;
    }
    Ok(view)
}

/// The windows along one axis, whose elements are a new last axis.
pub(super) fn unfold(x: &Tensor, axis: usize, windows: &Windows) -> Outcome<Tensor> {
    let span = windows.span(axis);
    let view = x.f_unfold(axis as i64 + 2, span, windows.stride[axis])?;
    Ok(view.f_slice(-1, 0, span, windows.dilation[axis])?)
}
