//! Matrix products and convolutions.

use tch::{Kind, Tensor};

use super::elementwise::made;
use super::failure::Outcome;
use super::storage::{LibTorchTensor, kind, sizes};
use super::window::{Windows, cut, pad, windows};
use crate::op::{ConvOp, ConvOptions, Meta};

/// A product with at least one element.
pub(super) fn matmul(a: &LibTorchTensor, b: &LibTorchTensor, meta: &Meta) -> Outcome<LibTorchTensor> {
    made(a.tensor().f_matmul(b.tensor())?, a, meta)
}

/// A convolution that [`is_native`](super::window::Windows::is_native).
pub(super) fn conv(op: &ConvOp<LibTorchTensor>, meta: &Meta) -> Outcome<LibTorchTensor> {
    let (ConvOp::Forward { x, weight: y, .. }
    | ConvOp::Transpose { x, weight: y, .. }
    | ConvOp::WeightGrad { x, grad: y, .. }) = op;
    if x.is_empty() || y.is_empty() {
        let zeros = Tensor::f_zeros(&sizes(&meta.shape)[..], (kind(meta.dtype)?, x.device().place()))?;
        return made(zeros, x, meta);
    }
    let result = match op {
        ConvOp::Forward { options, .. } => forward(x.tensor(), y.tensor(), options, Windows::of_conv(op, meta))?,
        ConvOp::Transpose { options, .. } => {
            // Halves are rounded at each step.
            let wide = kind(meta.dtype.widened())?;
            let [x, y] = [x, y].map(|t| t.tensor().f_totype(wide));
            transpose(&x?, &y?, options, Windows::of_conv(op, meta))?.f_totype(kind(meta.dtype)?)?
        }
        ConvOp::WeightGrad { options, .. } => {
            weight_grad(x, y, options.groups, Windows::of_conv(op, meta), meta)?
        }
    };
    made(result, x, meta)
}

fn forward(x: &Tensor, weight: &Tensor, options: &ConvOptions, windows: Windows) -> Outcome<Tensor> {
    if windows.is_symmetric() {
        return convolution(x, weight, &windows, &windows.before, false, options.groups);
    }
    let x = pad(x, &windows, 0.0)?;
    convolution(&x, weight, &windows, &vec![0; windows.axes()], false, options.groups)
}

/// All places that a window meets, without the padding, and with what no window meets.
fn transpose(x: &Tensor, weight: &Tensor, options: &ConvOptions, windows: Windows) -> Outcome<Tensor> {
    let whole = convolution(x, weight, &windows, &vec![0; windows.axes()], true, options.groups)?;
    cut(&whole, &windows.before, &windows.after)
}

fn convolution(
    x: &Tensor,
    weight: &Tensor,
    windows: &Windows,
    padding: &[i64],
    transposed: bool,
    groups: usize,
) -> Outcome<Tensor> {
    let none = vec![0; windows.axes()];
    // On a GPU: the same result each time, and all digits of `f32`.
    let (benchmark, deterministic, cudnn, tf32) = (false, true, true, false);
    Ok(x.f_internal_convolution(
        weight,
        None::<Tensor>,
        &windows.stride[..],
        padding,
        &windows.dilation[..],
        transposed,
        &none[..],
        groups as i64,
        benchmark,
        deterministic,
        cudnn,
        tf32,
    )?)
}

/// The product of the gradient with the windows laid out as the columns of a matrix, a part of the batch at a time.
fn weight_grad(
    x: &LibTorchTensor,
    grad: &LibTorchTensor,
    groups: usize,
    shape: Windows,
    meta: &Meta,
) -> Outcome<Tensor> {
    /// The most elements of such a matrix.
    const MOST: i64 = 1 << 24;
    let own = kind(meta.dtype)?;
    let wide = kind(meta.dtype.widened())?;
    let x = pad(&x.tensor().f_totype(wide)?, &shape, 0.0)?;
    let grad = grad.tensor().f_totype(wide)?;
    let (batch, groups) = (x.size()[0], groups as i64);
    let (channels, out) = (x.size()[1] / groups, grad.size()[1] / groups);
    let taps: i64 = shape.kernel.iter().product();
    let places: i64 = shape.output.iter().product();
    let each = channels.saturating_mul(groups).saturating_mul(taps).saturating_mul(places);
    let part = (MOST / each.max(1)).clamp(1, batch);
    let axes = shape.axes() as i64;
    let mut sum: Option<Tensor> = None;
    let mut first = 0;
    while first < batch {
        let len = part.min(batch - first);
        // [batch, groups, channels, output…, kernel…]
        let columns = windows(&x.f_narrow(0, first, len)?, &shape)?;
        let mut size = vec![len, groups, channels];
        size.extend_from_slice(&shape.output);
        size.extend_from_slice(&shape.kernel);
        let columns = columns.f_reshape(&size[..])?;
        // [groups, channels, kernel…, batch, output…]
        let order: Vec<i64> = [1, 2].into_iter().chain(3 + axes..3 + 2 * axes).chain([0]).chain(3..3 + axes).collect();
        let columns = columns.f_permute(&order[..])?.f_reshape([groups, channels * taps, len * places])?;
        let grad = grad.f_narrow(0, first, len)?.f_reshape([len, groups, out, places])?;
        let grad = grad.f_permute([1, 2, 0, 3])?.f_reshape([groups, out, len * places])?;
        let product = grad.f_matmul(&columns.f_transpose(1, 2)?)?;
        sum = Some(match sum {
            Some(mut sum) => sum.f_add_(&product)?,
            None => product,
        });
        first += len;
    }
    let sum = match sum {
        Some(sum) => sum,
        None => Tensor::f_zeros([0], (Kind::Float, tch::Device::Cpu))?,
    };
    Ok(sum.f_reshape(&sizes(&meta.shape)[..])?.f_totype(own)?)
}
