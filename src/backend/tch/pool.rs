//! Pooling: libtorch's own for up to three spatial axes where it takes the padding, and views of windows for the rest.

use smallvec::SmallVec;
use tch::{Kind, Tensor};

use super::elementwise::{is_any, made};
use super::failure::Outcome;
use super::on_host;
use super::storage::{LibTorchTensor, kind, sizes};
use super::window::{Windows, cut, pad, unfold, windows};
use crate::op::{HasMeta, Meta, Op, PoolOp};

/// A pool with at least one element in the result.
pub(super) fn pool(op: Box<PoolOp>, x: LibTorchTensor, meta: &Meta) -> Outcome<LibTorchTensor> {
    let shape = &Windows::of_pool(&op, &x, meta);
    let planes = x.shape()[0].saturating_mul(x.shape()[1]);
    let native = Native::of(shape);
    let lays_out = match &*op {
        PoolOp::MaxIndices(_) => native.is_none(),
        PoolOp::Avg(_) | PoolOp::AvgGrad(..) => !native.is_some_and(|native| native.takes_means(shape)),
    };
    if !shape.is_moderate(planes, if lays_out { Windows::span } else { |_, _| 0 }) {
        return on_host(Op::Pool(op, x), meta);
    }
    let result = match &*op {
        PoolOp::MaxIndices(_) => match max_indices(x.tensor(), shape)? {
            Some(indices) => indices,
            None if shape.is_moderate(planes, Windows::span) => max_indices_of_windows(x.tensor(), shape)?,
            None => return on_host(Op::Pool(op, x), meta),
        },
        PoolOp::Avg(options) => {
            let wide = x.tensor().f_totype(kind(meta.dtype.widened())?)?;
            avg(&wide, shape, options.count_include_pad)?.f_totype(kind(meta.dtype)?)?
        }
        PoolOp::AvgGrad(options, _) => {
            let wide = x.tensor().f_totype(kind(meta.dtype.widened())?)?;
            let grad = if x.is_empty() {
                Tensor::f_zeros(&sizes(&meta.shape)[..], (wide.f_kind()?, x.device().place()))?
            } else {
                avg_grad(&wide, shape, options.count_include_pad, meta)?
            };
            grad.f_totype(kind(meta.dtype)?)?
        }
    };
    made(result, &x, meta)
}

/// libtorch's own; none where it has no such pool, or there are NaNs, of which it takes the last.
fn max_indices(x: &Tensor, shape: &Windows) -> Outcome<Option<Tensor>> {
    let Some(native) = Native::of(shape) else {
        return Ok(None);
    };
    let x = native.wrapped(x)?;
    let (kernel, stride) = (&native.kernel[..], &native.stride[..]);
    let (padding, dilation) = (&native.padding[..], &native.dilation[..]);
    let (values, indices) = match kernel.len() {
        2 => x.f_max_pool2d_with_indices(kernel, stride, padding, dilation, false)?,
        _ => x.f_max_pool3d_with_indices(kernel, stride, padding, dilation, false)?,
    };
    if is_any(&values.f_isnan()?)? {
        return Ok(None);
    }
    Ok(Some(native.unwrapped(&indices)?.f_totype(Kind::Int)?))
}

/// The first element of each window that is its greatest, or NaN if any is, and no padding.
fn max_indices_of_windows(x: &Tensor, shape: &Windows) -> Outcome<Tensor> {
    let axes = shape.axes();
    let elements: Vec<i64> = (0..axes).map(|axis| -1 - axis as i64).collect();
    let values = windows(&pad(x, shape, f64::NEG_INFINITY)?, shape)?;
    let greatest = values.f_amax(&elements[..], true)?;
    let is_greatest = values.f_eq_tensor(&greatest)?.f_logical_or(&values.f_isnan()?)?;
    // The place of each element in the input; none of the padding.
    let plane: i64 = shape.input.iter().product();
    let places = Tensor::f_arange(plane, (Kind::Int64, x.device()))?;
    let mut plane_shape: SmallVec<[i64; 6]> = SmallVec::from_slice(&[1, 1]);
    plane_shape.extend_from_slice(&shape.input);
    // 0 is padding: what is there is counted from the end.
    let from_end = places.f_neg()?.f_add_scalar(plane)?.f_reshape(&plane_shape[..])?;
    let from_end = windows(&pad(&from_end, shape, 0.0)?, shape)?;
    let best = from_end.f_mul(&is_greatest)?.f_amax(&elements[..], false)?;
    Ok(best.f_neg()?.f_add_scalar(plane)?.f_totype(Kind::Int)?)
}

fn avg(x: &Tensor, shape: &Windows, count_include_pad: bool) -> Outcome<Tensor> {
    if let Some(native) = Native::of(shape).filter(|native| native.takes_means(shape)) {
        let x = native.wrapped(x)?;
        let (kernel, stride, padding) = (&native.kernel[..], &native.stride[..], &native.padding[..]);
        let y = match kernel.len() {
            2 => x.f_avg_pool2d(kernel, stride, padding, false, count_include_pad, None)?,
            _ => x.f_avg_pool3d(kernel, stride, padding, false, count_include_pad, None)?,
        };
        return native.unwrapped(&y);
    }
    // The sum over a window is one along each axis after another.
    let mut sums = pad(x, shape, 0.0)?;
    for axis in 0..shape.axes() {
        sums = unfold(&sums, axis, shape)?.f_sum_dim_intlist(-1, false, None)?;
    }
    Ok(sums.f_div(&counts(shape, count_include_pad, x)?)?)
}

fn avg_grad(grad: &Tensor, shape: &Windows, count_include_pad: bool, meta: &Meta) -> Outcome<Tensor> {
    if let Some(native) = Native::of(shape).filter(|native| native.takes_means(shape)) {
        let grad = native.wrapped(grad)?;
        // Only its shape counts.
        let x = Tensor::f_zeros([1], (grad.f_kind()?, grad.device()))?
            .f_expand(&sizes(&meta.shape)[..], false)?;
        let x = native.wrapped(&x)?;
        let (kernel, stride, padding) = (&native.kernel[..], &native.stride[..], &native.padding[..]);
        let y = match kernel.len() {
            2 => x.f_avg_pool2d_backward(&grad, kernel, stride, padding, false, count_include_pad, None)?,
            _ => x.f_avg_pool3d_backward(&grad, kernel, stride, padding, false, count_include_pad, None)?,
        };
        return native.unwrapped(&y);
    }
    let mut shares = grad.f_div(&counts(shape, count_include_pad, grad)?)?;
    for axis in 0..shape.axes() {
        let (dim, span) = (axis as i64 + 2, shape.span(axis));
        // Every window's share at each of its elements, and 0 between them.
        let mut each = shares.size();
        each.push(span);
        let windows = Tensor::f_zeros(&each[..], (grad.f_kind()?, grad.device()))?;
        windows
            .f_slice(-1, 0, span, shape.dilation[axis])?
            .f_copy_(&shares.f_unsqueeze(-1)?)?;
        let mut padded = shares.size();
        padded[axis + 2] = shape.input[axis] + shape.before[axis] + shape.after[axis].max(0);
        shares = Tensor::f_unfold_backward(&windows, &padded[..], dim, span, shape.stride[axis])?;
    }
    let tail: SmallVec<_> = shape.after.iter().map(|&n| n.max(0)).collect();
    cut(&shares, &shape.before, &tail)
}

/// How many elements each window counts, as a tensor of the result's rank.
fn counts(shape: &Windows, count_include_pad: bool, like: &Tensor) -> Outcome<Tensor> {
    let options = (like.f_kind()?, like.device());
    let mut counts = Tensor::f_full(vec![1; shape.axes() + 2], 1.0, options)?;
    for axis in 0..shape.axes() {
        let count = |window: i64| {
            let (kernel, dilation) = (shape.kernel[axis], shape.dilation[axis]);
            let first = window * shape.stride[axis] - shape.before[axis];
            // How many elements of the window lie before a place of the input.
            let before = |place: i64| (place - first).max(0).saturating_add(dilation - 1) / dilation;
            let inside = before(shape.input[axis]).min(kernel) - before(0).min(kernel);
            (if count_include_pad { kernel } else { inside }) as f64
        };
        let line: Vec<f64> = (0..shape.output[axis]).map(count).collect();
        let mut along = vec![1; shape.axes() + 2];
        along[axis + 2] = shape.output[axis];
        let line = Tensor::f_from_slice(&line)?.f_reshape(&along[..])?;
        counts = counts.f_mul(&line.f_to(like.device())?.f_totype(options.0)?)?;
    }
    Ok(counts)
}

/// Windows as libtorch's own pools take them, over two or three axes.
struct Native {
    kernel: SmallVec<[i64; 3]>,
    stride: SmallVec<[i64; 3]>,
    padding: SmallVec<[i64; 3]>,
    dilation: SmallVec<[i64; 3]>,
    /// Whether the first axis is not the tensor's.
    wraps: bool,
}

impl Native {
    /// Where the padding is the same on both sides, and at most half of a window.
    fn of(shape: &Windows) -> Option<Self> {
        let axes = shape.axes();
        let fits = |axis: usize| 2 * shape.before[axis] <= shape.kernel[axis];
        if axes > 3 || !shape.symmetric || !(0..axes).all(fits) {
            return None;
        }
        let wraps = axes == 1;
        let line = |line: &[i64], first: i64| {
            wraps
                .then_some(first)
                .into_iter()
                .chain(line.iter().copied())
                .collect()
        };
        Some(Native {
            kernel: line(&shape.kernel, 1),
            stride: line(&shape.stride, 1),
            padding: line(&shape.before, 0),
            dilation: line(&shape.dilation, 1),
            wraps,
        })
    }

    /// Whether its means are those of the windows: their elements lie side by side, and none is larger than the input.
    fn takes_means(&self, shape: &Windows) -> bool {
        self.dilation.iter().all(|&n| n == 1) && shape.kernel.iter().zip(&shape.input).all(|(k, n)| k <= n)
    }

    fn wrapped(&self, x: &Tensor) -> Outcome<Tensor> {
        Ok(if self.wraps {
            x.f_unsqueeze(2)?
        } else {
            x.f_alias()?
        })
    }

    fn unwrapped(&self, y: &Tensor) -> Outcome<Tensor> {
        Ok(if self.wraps {
            y.f_squeeze_dim(2)?
        } else {
            y.f_alias()?
        })
    }
}
