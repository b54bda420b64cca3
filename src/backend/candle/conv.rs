//! Convolutions over one or two axes, with one stride and one dilation for both.

use candle_core::{DType as Stored, Tensor};

use super::linear::widened;
use super::storage::{CandleTensor, contiguous, has_room};
use super::{Native, native};
use crate::backend::failure::Failure;
use crate::op::{ConvOp, ConvOptions, Meta};

type Padding<'a> = &'a [(usize, usize)];

pub(super) fn conv(op: &ConvOp<CandleTensor>, meta: &Meta) -> Native {
    let (ConvOp::Forward {
        x: a,
        weight: b,
        options,
    }
    | ConvOp::Transpose {
        x: a,
        weight: b,
        options,
        ..
    }
    | ConvOp::WeightGrad {
        x: a,
        grad: b,
        options,
        ..
    }) = op;
    let Some((stride, dilation)) = steps(options) else {
        return Ok(None);
    };
    let (dtype, groups) = (a.tensor().dtype(), options.groups);
    let (x, y) = (
        contiguous(&widened(a.tensor())?)?,
        contiguous(&widened(b.tensor())?)?,
    );
    let result = match op {
        ConvOp::Forward { .. } => {
            let Some((x, padding)) = evenly_padded(&x, &options.padding)? else {
                return Ok(None);
            };
            // What all windows see, side by side.
            if !fits(
                &[&[x.dims()[0], y.dims()[1]], &y.dims()[2..], &meta.shape[2..]],
                x.dtype(),
            ) {
                return Ok(None);
            }
            correlate(&x, &y, [padding, stride, dilation], groups)?
        }
        ConvOp::Transpose { size, .. } => {
            let full = reach(&x.dims()[2..], &y.dims()[2..], stride, dilation);
            if !full.is_some_and(|full| fits(&[&meta.shape[..2], &full], x.dtype())) {
                return Ok(None);
            }
            let whole = spread(&x, &y, stride, dilation, groups)?;
            match cut(whole, size, &options.padding)? {
                Some(part) => part,
                None => return Ok(None),
            }
        }
        // The input is seen through windows as wide as the gradient: batch and channels change places, and so do stride
        // and dilation.
        ConvOp::WeightGrad { kernel, .. } => {
            let Some((x, padding)) = evenly_padded(&x, &options.padding)? else {
                return Ok(None);
            };
            if !fits(&[&x.dims()[..2], kernel, &y.dims()[2..]], x.dtype()) {
                return Ok(None);
            }
            let (channels, outputs) = (x.dims()[1] / groups, y.dims()[1] / groups);
            let one = |group: usize| -> Result<Tensor, Failure> {
                let x = x.narrow(1, group * channels, channels)?.transpose(0, 1)?;
                let y = y.narrow(1, group * outputs, outputs)?.transpose(0, 1)?;
                let mut grad = correlate(&x, &contiguous(&y)?, [padding, dilation, stride], 1)?;
                for (axis, &size) in kernel.iter().enumerate() {
                    grad = grad.narrow(axis + 2, 0, size)?;
                }
                Ok(grad.transpose(0, 1)?)
            };
            let parts: Vec<Tensor> = (0..groups).map(one).collect::<Result<_, _>>()?;
            Tensor::cat(&parts, 0)?
        }
    };
    native(result.to_dtype(dtype))
}

/// The stride and the dilation, where `candle` takes such.
fn steps(options: &ConvOptions) -> Option<(usize, usize)> {
    let one = |steps: &[usize]| match *steps {
        [step] => Some(step),
        [a, b] if a == b => Some(a),
        _ => None,
    };
    Some((one(&options.stride)?, one(&options.dilation)?))
}

fn correlate(
    x: &Tensor,
    kernel: &Tensor,
    [padding, stride, dilation]: [usize; 3],
    groups: usize,
) -> Result<Tensor, Failure> {
    Ok(match x.rank() {
        3 => x.conv1d(kernel, padding, stride, dilation, groups)?,
        _ => x.conv2d(kernel, padding, stride, dilation, groups)?,
    })
}

/// The adjoint of [`correlate`], as large as the windows reach.
///
/// Over one axis it is taken for one of two: `conv_transpose1d` of `candle` 0.11.1 gives the first element of a batch
/// right, and no other.
fn spread(
    x: &Tensor,
    kernel: &Tensor,
    stride: usize,
    dilation: usize,
    groups: usize,
) -> Result<Tensor, Failure> {
    if x.rank() == 3 {
        let (x, kernel) = (x.unsqueeze(2)?, kernel.unsqueeze(2)?);
        return Ok(spread(&x, &kernel, stride, dilation, groups)?.squeeze(2)?);
    }
    let channels = x.dims()[1] / groups;
    let one = |group: usize| {
        let x = x.narrow(1, group * channels, channels)?;
        let kernel = kernel.narrow(0, group * channels, channels)?;
        x.conv_transpose2d(&kernel, 0, 0, stride, dilation)
    };
    let parts: Vec<Tensor> = (0..groups).map(one).collect::<Result<_, _>>()?;
    Ok(Tensor::cat(&parts, 1)?)
}

/// How far windows reach together.
fn reach(count: &[usize], kernel: &[usize], stride: usize, dilation: usize) -> Option<Vec<usize>> {
    let along = |(&count, &kernel): (&usize, &usize)| {
        let last = (count - 1).checked_mul(stride)?;
        (kernel - 1)
            .checked_mul(dilation)?
            .checked_add(last)?
            .checked_add(1)
    };
    count.iter().zip(kernel).map(along).collect()
}

/// The padding that `candle` is to add on all sides; other padding is there already. Nothing if there is no room for it.
fn evenly_padded(x: &Tensor, padding: Padding) -> Result<Option<(Tensor, usize)>, Failure> {
    let first = padding[0].0;
    if padding.iter().any(|&sides| sides != (first, first)) {
        return Ok(padded(x, padding)?.map(|x| (x, 0)));
    }
    Ok(has_room_for(x, padding).then(|| (x.clone(), first)))
}

/// With zeros around the spatial axes, if there is room for them.
pub(super) fn padded(x: &Tensor, padding: Padding) -> Result<Option<Tensor>, Failure> {
    if !has_room_for(x, padding) {
        return Ok(None);
    }
    let mut x = x.clone();
    for (axis, &(before, after)) in padding.iter().enumerate() {
        x = x.pad_with_zeros(axis + 2, before, after)?;
    }
    Ok(Some(contiguous(&x)?))
}

fn has_room_for(x: &Tensor, padding: Padding) -> bool {
    let sizes = x.dims()[2..].iter().zip(padding);
    let size: Option<Vec<usize>> = sizes
        .map(|(size, (before, after))| size.checked_add(*before)?.checked_add(*after))
        .collect();
    size.is_some_and(|size| fits(&[&x.dims()[..2], &size], x.dtype()))
}

/// Without what padding had added, and with zeros where no window reached.
fn cut(whole: Tensor, size: &[usize], padding: Padding) -> Result<Option<Tensor>, Failure> {
    let mut part = whole;
    for (axis, (&size, &(before, _))) in size.iter().zip(padding).enumerate() {
        let reached = part.dims()[axis + 2];
        if before >= reached {
            return Ok(None);
        }
        let kept = size.min(reached - before);
        part = part
            .narrow(axis + 2, before, kept)?
            .pad_with_zeros(axis + 2, 0, size - kept)?;
    }
    Ok(Some(part))
}

/// Whether so many elements can be allocated.
fn fits(parts: &[&[usize]], dtype: Stored) -> bool {
    has_room(&parts.concat(), dtype).is_ok()
}
