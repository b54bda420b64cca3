//! Reading, writing and finding by index.

use std::cmp::Ordering;

use ndarray::{ArrayD, ArrayView1, ArrayViewD, ArrayViewMutD, Axis, Slice, Zip};

use super::elementwise;
use super::movement::slice;
use super::number::{Int, Number, with_int, with_number, with_real};
use super::storage::{Held, NdArrayTensor, Values, dims, owned};
use crate::backend::extremes::Extremes;
use crate::element::DType;
use crate::error::Error;
use crate::op::{HasMeta, IndexOp, Meta, ScatterMode};
use crate::shape::Shape;
use crate::with_dtype;

/// An op whose result has at least one element.
pub(super) fn index(op: IndexOp<NdArrayTensor>, meta: &Meta) -> Result<Values, Error> {
    let places = check(&op)?;
    Ok(match op {
        IndexOp::Gather { x, index, axis } => {
            let places = stretch(&places, index.shape());
            with_dtype!(meta.dtype, E => gather(x.view::<E>(), places, Axis(axis)))
        }
        IndexOp::Select { x, axis, .. } => {
            let places: Vec<usize> = places.into_iter().collect();
            with_dtype!(meta.dtype, E => owned(x.view::<E>().select(Axis(axis), &places)))
        }
        IndexOp::Scatter { x, src, .. } | IndexOp::SelectAssign { x, src, .. } if src.is_empty() => {
            x.into_values()
        }
        IndexOp::Scatter {
            x,
            index,
            src,
            axis,
            mode,
        } => write(
            x,
            &src,
            mode,
            Write::Lanes(stretch(&places, index.shape()), Axis(axis)),
        ),
        IndexOp::SelectAssign {
            x,
            index,
            src,
            axis,
            mode,
        } => write(
            x,
            &src,
            mode,
            Write::Whole(stretch(&places, index.shape()), Axis(axis)),
        ),
        IndexOp::Where {
            cond,
            on_true,
            on_false,
        } => elementwise::choose(&cond, on_true, on_false, meta),
        IndexOp::SliceAssign { x, src, .. } if src.is_empty() => x.into_values(),
        IndexOp::SliceAssign { x, src, ranges } => with_dtype!(meta.dtype, E => {
            let mut x = x.into_owned::<E>();
            x.slice_each_axis_mut(|axis| slice(ranges[axis.axis.index()])).assign(&src.view::<E>());
            owned(x)
        }),
        IndexOp::ArgSort { x, axis, descending } => order(&x, axis, descending, meta),
        IndexOp::TopK { x, axis, largest, .. } => order(&x, axis, largest, meta),
    })
}

/// The places that an op's index names (none, if it has no index), before the index is stretched.
///
/// # Errors
/// If one is outside its axis.
pub(super) fn check(op: &IndexOp<NdArrayTensor>) -> Result<ArrayD<usize>, Error> {
    let (IndexOp::Gather { x, index, axis }
    | IndexOp::Select { x, index, axis }
    | IndexOp::Scatter { x, index, axis, .. }
    | IndexOp::SelectAssign { x, index, axis, .. }) = op
    else {
        return Ok(ArrayD::default(dims(&[0])));
    };
    let size = x.shape()[*axis];
    with_int!(
        index.dtype(), E => places::<E>(index, size),
        other => unreachable!("{other} is no integer; `infer` refuses it")
    )
    .map_err(|index| Error::Index {
        op: op.name().into(),
        index,
        axis: *axis,
        size,
    })
}

fn places<E: Int>(index: &NdArrayTensor, size: usize) -> Result<ArrayD<usize>, i64> {
    let mut outside = None;
    let places = index.array::<E>().mapv(|i| match i.to_usize() {
        Some(place) if place < size => place,
        _ => {
            outside.get_or_insert(i);
            0
        }
    });
    match outside {
        Some(i) => Err(i.to_i64().unwrap_or(i64::MAX)),
        None => Ok(places),
    }
}

fn stretch<'a>(places: &'a ArrayD<usize>, shape: &Shape) -> ArrayViewD<'a, usize> {
    places
        .broadcast(dims(shape))
        .expect("an index stretches to its shape")
}

fn gather<E: Held>(x: ArrayViewD<E>, places: ArrayViewD<usize>, axis: Axis) -> Values {
    let mut result = ArrayD::from_elem(places.raw_dim(), E::default());
    let x = x.slice_each_axis(|a| within(&places, axis, a.axis));
    Zip::from(result.lanes_mut(axis))
        .and(places.lanes(axis))
        .and(x.lanes(axis))
        .for_each(|mut result, places, x| result.zip_mut_with(&places, |r, &place| *r = x[place]));
    owned(result)
}

/// What an index along `axis` reaches of another axis: it may be shorter than the tensor there.
fn within(places: &ArrayViewD<usize>, axis: Axis, other: Axis) -> Slice {
    if other == axis {
        Slice::from(..)
    } else {
        Slice::from(..places.len_of(other))
    }
}

/// Where values are written.
enum Write<'a> {
    /// Each element at a place of its own along the axis.
    Lanes(ArrayViewD<'a, usize>, Axis),
    /// Each slice across the axis.
    Whole(ArrayViewD<'a, usize>, Axis),
}

fn write(x: NdArrayTensor, src: &NdArrayTensor, mode: ScatterMode, to: Write) -> Values {
    if mode == ScatterMode::Set {
        return with_dtype!(x.dtype(), E => write_by::<E>(x, src, to, |_, v| v));
    }
    with_number!(x.dtype(), E => match mode {
        ScatterMode::Add => write_by(x, src, to, E::add),
        ScatterMode::Mul => write_by(x, src, to, E::mul),
        ScatterMode::Max => write_by(x, src, to, E::greater),
        _ => write_by(x, src, to, E::lesser),
    })
}

fn write_by<E: Held>(x: NdArrayTensor, src: &NdArrayTensor, to: Write, f: fn(E, E) -> E) -> Values {
    let mut x = x.into_owned::<E>();
    match to {
        Write::Lanes(places, axis) => scatter(x.view_mut(), src.view(), places, axis, f),
        Write::Whole(places, axis) => {
            for (&place, src) in places.iter().zip(src.view::<E>().axis_iter(axis)) {
                x.index_axis_mut(axis, place)
                    .zip_mut_with(&src, |x, &v| *x = f(*x, v));
            }
        }
    }
    owned(x)
}

fn scatter<E: Held>(
    mut x: ArrayViewMutD<E>,
    src: ArrayViewD<E>,
    places: ArrayViewD<usize>,
    axis: Axis,
    f: fn(E, E) -> E,
) {
    let mut x = x.slice_each_axis_mut(|a| within(&places, axis, a.axis));
    Zip::from(x.lanes_mut(axis))
        .and(places.lanes(axis))
        .and(src.lanes(axis))
        .for_each(|mut x, places, src| {
            for (&place, &v) in places.iter().zip(src) {
                x[place] = f(x[place], v);
            }
        });
}

/// The places of the elements along an axis in order, as many of them as the result has.
fn order(x: &NdArrayTensor, axis: usize, descending: bool, meta: &Meta) -> Values {
    fn order<E: Number>(x: &NdArrayTensor, axis: Axis, descending: bool, shape: &Shape) -> Values {
        let mut result = ArrayD::zeros(dims(shape));
        Zip::from(result.lanes_mut(axis))
            .and(x.view::<E>().lanes(axis))
            .for_each(|mut result, lane| {
                let sorted = first_places(lane, result.len(), descending);
                result.iter_mut().zip(sorted).for_each(|(r, place)| *r = place);
            });
        owned(result)
    }
    with_number!(x.dtype(), E => order::<E>(x, Axis(axis), descending, &meta.shape))
}

fn first_places<E: Number>(lane: ArrayView1<E>, k: usize, descending: bool) -> Vec<i32> {
    // Equal elements stand in the order of their places, so that an unstable sort is stable.
    let before = |&i: &i32, &j: &i32| {
        let by_value = rising(lane[i as usize], lane[j as usize]);
        if descending { by_value.reverse() } else { by_value }.then(i.cmp(&j))
    };
    let mut places: Vec<i32> = (0..lane.len() as i32).collect();
    if k < places.len() {
        places.select_nth_unstable_by(k, before);
        places.truncate(k);
    }
    places.sort_unstable_by(before);
    places
}

/// NaN is greater than everything.
fn rising<E: Number>(a: E, b: E) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}
