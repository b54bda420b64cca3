use super::reduce::inverse;
use super::{Grads, Value};
use crate::backend::PlainBackend;
use crate::data::TensorData;
use crate::error::Error;
use crate::op::{MoveOp, PadMode, ScatterMode, SliceRange};
use crate::raw::Raw;

pub(super) fn movement<B: PlainBackend>(op: MoveOp, x: Value<B>, grad: Raw<B>) -> Result<Raw<B>, Error> {
    let shape = &x.meta.shape;
    match op {
        MoveOp::Reshape(_) => grad.reshape(shape.clone()),
        MoveOp::Permute(order) => grad.permute(inverse(&order)),
        MoveOp::Expand(_) => grad.sum_to(shape),
        MoveOp::Slice(ranges) => x.zeros(&grad)?.slice_assign(&ranges[..], grad),
        MoveOp::Flip(axes) => grad.flip(&axes),
        MoveOp::Pad(pads, PadMode::Constant(_)) => {
            let inside = pads.iter().zip(shape.iter());
            let ranges: Vec<_> = inside
                .map(|(&(before, _), &size)| SliceRange::new(before, before + size))
                .collect();
            grad.slice(&ranges[..])
        }
        MoveOp::Pad(pads, mode) => {
            // Every element of the result is a copy of one of the input: add them up there, axis by axis.
            let mut grad = grad;
            for (axis, &(before, after)) in pads.iter().enumerate() {
                if (before, after) == (0, 0) {
                    continue;
                }
                let size = shape[axis];
                let places = (0..before + size + after)
                    .map(|i| mode.source(i as isize - before as isize, size) as i32)
                    .collect();
                let places = Raw::from_data(
                    TensorData::new::<i32>(places, [before + size + after])?,
                    &grad.device(),
                )?;
                let folded = Raw::full(
                    grad.shape().clone().with(axis, size),
                    0.0,
                    grad.dtype(),
                    &grad.device(),
                )?;
                grad = folded.select_assign(axis, places, grad, ScatterMode::Add)?;
            }
            Ok(grad)
        }
        MoveOp::Repeat(times) => {
            // Each axis is apart as (times, size): sum over the copies.
            let apart: Vec<usize> = times
                .iter()
                .zip(shape.iter())
                .flat_map(|(&times, &size)| [times, size])
                .collect();
            let copies: Vec<usize> = (0..shape.rank()).map(|axis| 2 * axis).collect();
            grad.reshape(apart)?.sum_dims(&copies)?.reshape(shape.clone())
        }
    }
}

pub(super) fn cat<B: PlainBackend>(xs: Vec<Value<B>>, axis: usize, grad: Raw<B>) -> Result<Grads<B>, Error> {
    let mut start = 0;
    xs.iter()
        .map(|x| {
            let len = x.meta.shape[axis];
            start += len;
            x.grad(|| grad.clone().narrow(axis, start - len, len))
        })
        .collect()
}
