//! Views, and the movements that copy.

use tch::Tensor;

use super::elementwise::{copied, made};
use super::failure::Outcome;
use super::storage::{LibTorchTensor, kind, number, sizes};
use crate::op::{HasMeta, Meta, MoveOp, PadMode, SliceRange};

pub(super) fn movement(op: MoveOp, x: LibTorchTensor, meta: &Meta) -> Outcome<LibTorchTensor> {
    let t = x.tensor();
    match op {
        MoveOp::Reshape(to) => {
            let to = sizes(&to);
            // A copy where no view is possible; where there is no room for one, only a view will do.
            if !t.is_contiguous()
                && let Err(full) = x.device().room("reshape", meta)
            {
                return t
                    .f_view(&to[..])
                    .map_or(Err(full.into()), |y| Ok(x.view(y, meta)));
            }
            let y = t.f_reshape(&to[..])?;
            if !x.is_empty() && y.data_ptr() != t.data_ptr() {
                return made(y, &x, meta);
            }
            Ok(x.view(y, meta))
        }
        MoveOp::Permute(axes) => Ok(x.view(t.f_permute(&sizes(&axes)[..])?, meta)),
        MoveOp::Expand(to) => Ok(x.view(t.f_expand(&sizes(&to)[..], false)?, meta)),
        MoveOp::Slice(ranges) => {
            let y = forwards(t, &ranges)?;
            let backwards = backwards(&ranges);
            if backwards.is_empty() {
                return Ok(x.view(y, meta));
            }
            // libtorch has no strides that go back.
            x.device().room("slice", meta)?;
            made(y.f_flip(&backwards[..])?, &x, meta)
        }
        MoveOp::Flip(axes) => {
            x.device().room("flip", meta)?;
            made(t.f_flip(&sizes(&axes)[..])?, &x, meta)
        }
        MoveOp::Pad(pads, _) if pads.iter().all(|&pad| pad == (0, 0)) => Ok(x),
        MoveOp::Pad(pads, PadMode::Constant(value)) => {
            let options = (kind(meta.dtype)?, x.device().place());
            let padded = Tensor::f_full(&sizes(&meta.shape)[..], number(value, meta.dtype), options)?;
            if !x.is_empty() {
                let mut inside = padded.f_alias()?;
                for (axis, &(before, _)) in pads.iter().enumerate() {
                    inside = inside.f_narrow(axis as i64, before as i64, x.shape()[axis] as i64)?;
                }
                inside.f_copy_(t)?;
            }
            made(padded, &x, meta)
        }
        MoveOp::Pad(pads, mode) => {
            let mut padded = t.f_alias()?;
            for (axis, &(before, after)) in pads.iter().enumerate() {
                if (before, after) != (0, 0) {
                    padded = extended(&padded, axis as i64, [before, after].map(|n| n as i64), mode)?;
                }
            }
            made(padded, &x, meta)
        }
        MoveOp::Repeat(times) => made(t.f_repeat(&sizes(&times)[..])?, &x, meta),
    }
}

pub(super) fn cat(xs: &[LibTorchTensor], axis: usize, meta: &Meta) -> Outcome<LibTorchTensor> {
    let tensors: Vec<&Tensor> = xs.iter().map(LibTorchTensor::tensor).collect();
    made(Tensor::f_cat(&tensors, axis as i64)?, &xs[0], meta)
}

pub(super) fn slice_assign(
    mut x: LibTorchTensor,
    src: &LibTorchTensor,
    ranges: &[SliceRange],
) -> Outcome<LibTorchTensor> {
    if src.is_empty() {
        return Ok(x);
    }
    let backwards = backwards(ranges);
    let src = if backwards.is_empty() {
        src.tensor().f_alias()?
    } else {
        src.tensor().f_flip(&backwards[..])?
    };
    if let Some(t) = x.writable() {
        forwards(t, ranges)?.f_copy_(&src)?;
        return Ok(x);
    }
    let copy = copied(x.tensor(), x.dtype())?;
    forwards(&copy, ranges)?.f_copy_(&src)?;
    let meta = x.meta();
    made(copy, &x, &meta)
}

/// An axis with copies of its own elements before and after.
fn extended(t: &Tensor, axis: i64, [before, after]: [i64; 2], mode: PadMode) -> Outcome<Tensor> {
    let last = t.size()[axis as usize] - 1;
    let part = |first: i64, len: i64| t.f_narrow(axis, first, len);
    let repeated = |place: i64, len: i64| {
        let mut size = vec![-1; t.dim()];
        size[axis as usize] = len;
        part(place, 1)?.f_expand(size, false)
    };
    let [start, end] = match mode {
        PadMode::Constant(_) => unreachable!("constant padding is no copy"),
        PadMode::Reflect => [
            part(1.min(before), before)?.f_flip(axis)?,
            part(last - after, after)?.f_flip(axis)?,
        ],
        PadMode::Replicate => [repeated(0, before)?, repeated(last, after)?],
        PadMode::Circular => [part(last + 1 - before, before)?, part(0, after)?],
    };
    Ok(Tensor::f_cat(&[&start, t, &end], axis)?)
}

/// A view of the elements that a slice takes, all in the order in which they lie.
fn forwards(t: &Tensor, ranges: &[SliceRange]) -> Outcome<Tensor> {
    let mut y = t.f_alias()?;
    for (axis, range) in ranges.iter().enumerate() {
        let len = range.len();
        // A step beyond the axis is as good as one that leaves it, and does not overflow.
        let step = range.step.unsigned_abs().clamp(1, range.end.max(1));
        let start = match range.step {
            _ if len == 0 => range.start,
            1.. => range.start,
            _ => range.end - 1 - (len - 1) * step,
        };
        let end = if len == 0 {
            start
        } else {
            start + (len - 1) * step + 1
        };
        y = y.f_slice(axis as i64, start as i64, end as i64, step as i64)?;
    }
    Ok(y)
}

/// The axes along which a slice goes back.
fn backwards(ranges: &[SliceRange]) -> Vec<i64> {
    let axes = (0..ranges.len()).filter(|&axis| ranges[axis].step < 0);
    axes.map(|axis| axis as i64).collect()
}
