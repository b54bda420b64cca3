//! Matrix products and convolutions.

use smallvec::smallvec;
use tch::Tensor;

use super::elementwise::made;
use super::failure::Outcome;
use super::on_host;
use super::storage::{LibTorchTensor, kind, sizes};
use super::window::{Windows, cut, pad};
use crate::op::{ConvOp, ConvOptions, HasMeta, Meta, Op};

/// A product with at least one element.
pub(super) fn matmul(a: &LibTorchTensor, b: &LibTorchTensor, meta: &Meta) -> Outcome<LibTorchTensor> {
    made(a.tensor().f_matmul(b.tensor())?, a, meta)
}

/// A convolution with at least one element.
pub(super) fn conv(op: Box<ConvOp<LibTorchTensor>>, meta: &Meta) -> Outcome<LibTorchTensor> {
    let windows = Windows::of_conv(&op, meta);
    let (ConvOp::Forward { x, weight: y, .. }
    | ConvOp::Transpose { x, weight: y, .. }
    | ConvOp::WeightGrad { x, grad: y, .. }) = &*op;
    if x.is_empty() || y.is_empty() {
        let zeros = Tensor::f_zeros(&sizes(&meta.shape)[..], (kind(meta.dtype)?, x.device().place()))?;
        return made(zeros, x, meta);
    }
    // For some element types and sizes, libtorch lays windows out.
    let planes = x.shape()[0].saturating_mul(x.shape()[1]);
    if windows.axes() > 3 || !windows.is_moderate(planes, |windows, axis| windows.kernel[axis]) {
        return on_host(Op::Conv(op), meta);
    }
    let result = match &*op {
        ConvOp::Forward { options, .. } => forward(x.tensor(), y.tensor(), options, windows)?,
        ConvOp::Transpose { options, .. } => {
            // Halves are rounded at each step.
            let wide = kind(meta.dtype.widened())?;
            let [x, y] = [x, y].map(|t| t.tensor().f_totype(wide));
            transpose(&x?, &y?, options, windows)?.f_totype(kind(meta.dtype)?)?
        }
        ConvOp::WeightGrad { options, .. } => weight_grad(x, y, options.groups, windows)?,
    };
    made(result, x, meta)
}

fn forward(x: &Tensor, weight: &Tensor, options: &ConvOptions, windows: Windows) -> Outcome<Tensor> {
    if windows.symmetric {
        return convolution(x, weight, &windows, &windows.before, false, options.groups);
    }
    let x = pad(x, &windows, 0.0)?;
    convolution(
        &x,
        weight,
        &windows,
        &vec![0; windows.axes()],
        false,
        options.groups,
    )
}

/// All places that a window meets, without the padding, and with what no window meets.
fn transpose(x: &Tensor, weight: &Tensor, options: &ConvOptions, windows: Windows) -> Outcome<Tensor> {
    if windows.before == windows.after {
        return convolution(x, weight, &windows, &windows.before, true, options.groups);
    }
    let whole = convolution(
        x,
        weight,
        &windows,
        &vec![0; windows.axes()],
        true,
        options.groups,
    )?;
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

/// A convolution of the input with the gradient, in which batches and channels have changed places and so have stride and
/// dilation: element `k` of a kernel is the sum over the windows `o` of what they meet at `k`.
fn weight_grad(x: &LibTorchTensor, grad: &LibTorchTensor, groups: usize, shape: Windows) -> Outcome<Tensor> {
    let own = kind(x.dtype())?;
    let wide = kind(x.dtype().widened())?;
    let (mut x, grad) = (
        x.tensor().f_totype(wide)?,
        grad.tensor().f_totype(wide)?.f_transpose(0, 1)?,
    );
    let padding = if shape.before == shape.after {
        shape.before.clone()
    } else {
        x = pad(&x, &shape, 0.0)?;
        smallvec![0; shape.axes()]
    };
    // [channels, groups × batch, …]
    let size = x.size();
    let (parts, axes) = (groups as i64, shape.axes() as i64);
    let mut parted = vec![size[0], parts, size[1] / parts];
    parted.extend_from_slice(&size[2..]);
    let order: Vec<i64> = [2, 1, 0].into_iter().chain(3..3 + axes).collect();
    let mut joined = vec![size[1] / parts, parts * size[0]];
    joined.extend_from_slice(&size[2..]);
    let x = x
        .f_reshape(&parted[..])?
        .f_permute(&order[..])?
        .f_reshape(&joined[..])?;
    let exchanged = Windows {
        stride: shape.dilation,
        dilation: shape.stride,
        ..shape
    };
    let result = convolution(&x, &grad, &exchanged, &padding, false, groups)?;
    Ok(result.f_transpose(0, 1)?.f_totype(own)?)
}
