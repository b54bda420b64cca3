//! Movement. Permutations, stretched axes and ranges are views; `candle` has no negative strides, and none but 1 for a
//! range, so that flips and steps copy.

use candle_core::{DType as Stored, Tensor};

use super::storage::{CandleTensor, contiguous, full, has_room};
use super::{Native, native};
use crate::backend::failure::Failure;
use crate::op::{HasMeta, Meta, MoveOp, PadMode, SliceRange};

pub(super) fn movement(op: &MoveOp, x: &CandleTensor, meta: &Meta) -> Native {
    let tensor = x.tensor();
    native(match op {
        MoveOp::Reshape(_) => Ok(reshape(tensor, &meta.shape)?),
        MoveOp::Permute(axes) => tensor.permute(&axes[..]),
        MoveOp::Expand(_) => tensor.broadcast_as(&meta.shape[..]),
        MoveOp::Slice(ranges) => Ok(slice(tensor, ranges)?),
        MoveOp::Flip(axes) => {
            let mut flipped = tensor.clone();
            for &axis in axes {
                let size = meta.shape[axis];
                if size > 1 {
                    flipped = pick(&flipped, axis, (0..size).rev())?;
                }
            }
            Ok(flipped)
        }
        MoveOp::Pad(pads, PadMode::Constant(value)) => {
            let mut padded = tensor.clone();
            for (axis, &(before, after)) in pads.iter().enumerate() {
                let edge = |len: usize| -> Result<Option<Tensor>, Failure> {
                    let mut shape = padded.dims().to_vec();
                    shape[axis] = len;
                    let value = full(*value, x.dtype(), &[], x.device())?;
                    Ok(if len == 0 {
                        None
                    } else {
                        Some(value.broadcast_as(shape)?)
                    })
                };
                let parts: Vec<Tensor> = [edge(before)?, Some(padded.clone()), edge(after)?]
                    .into_iter()
                    .flatten()
                    .collect();
                padded = Tensor::cat(&parts, axis)?;
            }
            Ok(padded)
        }
        MoveOp::Pad(pads, mode @ (PadMode::Reflect | PadMode::Replicate | PadMode::Circular)) => {
            let mut padded = tensor.clone();
            for (axis, &(before, after)) in pads.iter().enumerate() {
                let size = x.shape()[axis];
                if before + after > 0 {
                    let places = (0..before + size + after)
                        .map(|place| mode.source(place as isize - before as isize, size));
                    padded = pick(&padded, axis, places)?;
                }
            }
            Ok(padded)
        }
        MoveOp::Repeat(times) => {
            let apart: Vec<usize> = x.shape().iter().flat_map(|&n| [1, n]).collect();
            let repeated: Vec<usize> = x
                .shape()
                .iter()
                .zip(times)
                .flat_map(|(&n, &times)| [times, n])
                .collect();
            let apart = contiguous(tensor)?.reshape(apart)?;
            apart.broadcast_as(repeated)?.reshape(&meta.shape[..])
        }
    })
}

pub(super) fn cat(xs: &[CandleTensor], axis: usize) -> Native {
    let parts: Vec<&Tensor> = xs
        .iter()
        .filter(|x| !x.is_empty())
        .map(CandleTensor::tensor)
        .collect();
    native(Tensor::cat(&parts, axis))
}

/// Axes of size 1 come and go on a view; else only elements in row-major order stay where they are.
fn reshape(x: &Tensor, shape: &[usize]) -> Result<Tensor, Failure> {
    let is_long = |&size: &usize| size != 1;
    let same = x
        .dims()
        .iter()
        .copied()
        .filter(is_long)
        .eq(shape.iter().copied().filter(is_long));
    if x.is_contiguous() || !same {
        return Ok(contiguous(x)?.reshape(shape)?);
    }
    let mut view = x.clone();
    for axis in (0..x.rank()).rev().filter(|&axis| x.dims()[axis] == 1) {
        view = view.squeeze(axis)?;
    }
    for axis in (0..shape.len()).filter(|&axis| shape[axis] == 1) {
        view = view.unsqueeze(axis)?;
    }
    Ok(view)
}

/// The elements of a range of every axis, of which there is at least one.
pub(super) fn slice(x: &Tensor, ranges: &[SliceRange]) -> Result<Tensor, Failure> {
    let mut sliced = x.clone();
    for (axis, range) in ranges.iter().enumerate() {
        let len = range.len();
        if range.step == 1 || len == 1 {
            sliced = sliced.narrow(axis, range.first(), len)?;
        }
    }
    for (axis, range) in ranges.iter().enumerate() {
        let len = range.len();
        if range.step != 1 && len > 1 {
            sliced = pick(&sliced, axis, places(range))?;
        }
    }
    Ok(sliced)
}

/// The elements that a range takes, in order.
pub(super) fn places(range: &SliceRange) -> impl ExactSizeIterator<Item = usize> {
    let (first, step) = (range.first() as isize, range.step);
    (0..range.len()).map(move |i| (first + i as isize * step) as usize)
}

/// The elements at these places of an axis.
fn pick(x: &Tensor, axis: usize, places: impl ExactSizeIterator<Item = usize>) -> Result<Tensor, Failure> {
    let count = places.len();
    if x.stride()[axis] == 0 && count <= x.dims()[axis] {
        // All are the same.
        return Ok(x.narrow(axis, 0, count)?);
    }
    has_room(&[count], Stored::I64)?;
    let places: Vec<i64> = places.map(|place| place as i64).collect();
    let places = Tensor::from_vec(places, count, x.device())?;
    Ok(contiguous(x)?.index_select(&places, axis)?)
}
