//! Views, and the movements that copy. Results have at least one element.

use ndarray::{ArrayD, Axis, Slice, concatenate};

use super::storage::{Array, Held, NdArrayTensor, Values, dims, owned, stretched, with_values};
use crate::op::{HasMeta, Meta, MoveOp, PadMode, SliceRange};
use crate::shape::Shape;
use crate::with_dtype;

pub(super) fn movement(op: MoveOp, x: NdArrayTensor, meta: &Meta) -> Values {
    let shape = x.shape().clone();
    with_values!(x.into_values(), array => move_array(op, array, &shape, meta))
}

pub(super) fn cat(xs: &[NdArrayTensor], axis: usize, meta: &Meta) -> Values {
    fn cat<E: Held>(xs: &[NdArrayTensor], axis: usize) -> Values {
        let views: Vec<_> = xs
            .iter()
            .filter(|x| !x.is_empty())
            .map(|x| x.view::<E>())
            .collect();
        owned(concatenate(Axis(axis), &views).expect("`infer` has checked the shapes"))
    }
    with_dtype!(meta.dtype, E => cat::<E>(xs, axis))
}

/// What a range takes of an axis.
pub(super) fn slice(range: SliceRange) -> Slice {
    // A step beyond the axis is as good as one that leaves it, and does not overflow.
    let most = range.end.max(1) as isize;
    Slice {
        start: range.start as isize,
        end: Some(range.end as isize),
        step: range.step.clamp(-most, most),
    }
}

fn move_array<E: Held>(op: MoveOp, mut x: Array<E>, shape: &Shape, meta: &Meta) -> Values {
    match op {
        MoveOp::Reshape(to) => return reshape(x, shape, &to),
        MoveOp::Permute(axes) => x = x.permuted_axes(dims(&axes)),
        MoveOp::Expand(_) => {}
        MoveOp::Slice(ranges) => {
            for (axis, range) in ranges.into_iter().enumerate() {
                // All elements of a stretched axis are the same one.
                if x.len_of(Axis(axis)) == shape[axis] {
                    x.slice_axis_inplace(Axis(axis), slice(range));
                }
            }
        }
        MoveOp::Flip(axes) => axes.into_iter().for_each(|axis| x.invert_axis(Axis(axis))),
        MoveOp::Pad(pads, PadMode::Constant(value)) => {
            let mut padded = ArrayD::from_elem(dims(&meta.shape), value.to::<E>());
            if !shape.contains(&0) {
                let inside = |axis: usize| Slice::from(pads[axis].0..pads[axis].0 + shape[axis]);
                padded
                    .slice_each_axis_mut(|axis| inside(axis.axis.index()))
                    .assign(&stretched(&x, shape));
            }
            return owned(padded);
        }
        MoveOp::Pad(pads, mode) => {
            for (axis, &(before, after)) in pads.iter().enumerate() {
                if (before, after) != (0, 0) && x.len_of(Axis(axis)) == shape[axis] {
                    let size = shape[axis];
                    let source: Vec<usize> = (0..before + size + after)
                        .map(|i| mode.source(i as isize - before as isize, size))
                        .collect();
                    x = x.select(Axis(axis), &source).into_shared();
                }
            }
        }
        MoveOp::Repeat(times) => {
            for (axis, &times) in times.iter().enumerate() {
                let size = x.len_of(Axis(axis));
                // An axis of size 1 stretches.
                if times != 1 && size != 1 {
                    let source: Vec<usize> = (0..size).cycle().take(size * times).collect();
                    x = x.select(Axis(axis), &source).into_shared();
                }
            }
        }
    }
    E::into_values(x)
}

/// A view where the elements lie in order, or axes of size 1 come and go; a copy otherwise.
fn reshape<E: Held>(mut x: Array<E>, from: &Shape, to: &Shape) -> Values {
    if from
        .iter()
        .filter(|&&n| n != 1)
        .eq(to.iter().filter(|&&n| n != 1))
    {
        for axis in (0..from.rank()).rev().filter(|&axis| from[axis] == 1) {
            x.index_axis_inplace(Axis(axis), 0);
        }
        for axis in (0..to.rank()).filter(|&axis| to[axis] == 1) {
            x.insert_axis_inplace(Axis(axis));
        }
        return E::into_values(x);
    }
    let in_order = if x.shape() == &from[..] && x.is_standard_layout() {
        x
    } else {
        stretched(&x, from)
            .as_standard_layout()
            .into_owned()
            .into_shared()
    };
    let reshaped = in_order.into_shape_with_order(dims(to));
    E::into_values(reshaped.expect("the elements lie in order and are as many"))
}
