//! Reductions and scans.

use ndarray::{ArrayD, ArrayView1, ArrayViewD, Axis};

use super::number::{Number, Real, with_int, with_number, with_real};
use super::rows::{self, ZipRow, zip_row};
use super::storage::{Held, NdArrayTensor, Values, dims, owned};
use crate::element::DType;
use crate::op::{HasMeta, Meta, ReduceOp, ScanOp};

pub(super) fn reduce(op: ReduceOp, x: NdArrayTensor, axes: &[usize], meta: &Meta) -> Values {
    if axes.is_empty() {
        return x.into_values();
    }
    match (op, x.dtype()) {
        (ReduceOp::Any, _) => owned(fold(&x, axes, meta, false, |a, b| a | b)),
        (ReduceOp::All, _) => owned(fold(&x, axes, meta, true, |a, b| a & b)),
        (ReduceOp::Mean, dtype) => with_real!(dtype, E => mean::<E>(&x, axes, meta)),
        (op, dtype) => with_number!(dtype, E => reduce_number::<E>(op, &x, axes, meta)),
    }
}

pub(super) fn scan(op: ScanOp, x: NdArrayTensor, axis: usize) -> Values {
    fn scan<E: Number>(op: ScanOp, x: NdArrayTensor, axis: Axis) -> Values {
        let mut x = x.into_owned::<E>();
        let f: fn(E, E) -> E = match op {
            ScanOp::Sum => Number::add,
            ScanOp::Prod => Number::mul,
            ScanOp::Max => E::greater,
            ScanOp::Min => E::lesser,
        };
        x.accumulate_axis_inplace(axis, |&before, v| *v = f(before, *v));
        owned(x)
    }
    with_number!(x.dtype(), E => scan::<E>(op, x, Axis(axis)))
}

fn reduce_number<E: Number>(op: ReduceOp, x: &NdArrayTensor, axes: &[usize], meta: &Meta) -> Values {
    match op {
        ReduceOp::Sum => owned(fold(x, axes, meta, E::ZERO, E::add)),
        ReduceOp::Prod => owned(fold(x, axes, meta, E::ONE, E::mul)),
        ReduceOp::Max => owned(fold(x, axes, meta, E::LEAST, E::greater)),
        ReduceOp::Min => owned(fold(x, axes, meta, E::GREATEST, E::lesser)),
        ReduceOp::ArgMax => owned(places::<E>(x, axes[0], |v, best| v > best)),
        ReduceOp::ArgMin => owned(places::<E>(x, axes[0], |v, best| v < best)),
        op => unreachable!("`{}` is not for all numbers", op.name()),
    }
}

fn mean<E: Real>(x: &NdArrayTensor, axes: &[usize], meta: &Meta) -> Values {
    let count = axes.iter().map(|&axis| x.shape()[axis] as f64).product::<f64>();
    let count = E::from(count).expect("a float takes any number");
    let mut sum = fold(x, axes, meta, E::ZERO, Number::add);
    sum.mapv_inplace(|v| v / count);
    owned(sum)
}

/// Combines the elements along axes, of which there is at least one.
fn fold<E: Held>(
    x: &NdArrayTensor,
    axes: &[usize],
    meta: &Meta,
    start: E,
    f: impl Fn(E, E) -> E + Copy,
) -> ArrayD<E> {
    if x.is_empty() {
        return ArrayD::from_elem(dims(&meta.shape), start);
    }
    let by = Fold {
        lane: &|lane| fold_lane(lane, start, f),
        row: &|x, y| zip_row(x, y, f),
    };
    fold_axes(x.view(), axes, &by)
}

/// How elements are combined: those of a lane, and those of two rows one by one into the first.
struct Fold<'a, E> {
    lane: &'a dyn Fn(ArrayView1<E>) -> E,
    row: ZipRow<'a, E>,
}

fn fold_axes<E: Held>(x: ArrayViewD<E>, axes: &[usize], by: &Fold<E>) -> ArrayD<E> {
    let mut axes = axes.to_vec();
    axes.sort_unstable();
    let last = axes.pop().expect("at least one axis");
    let folded = fold_axis(x, Axis(last), by);
    axes.into_iter()
        .rev()
        .fold(folded, |x, axis| fold_axis(x.view(), Axis(axis), by))
}

/// Combines the elements along an axis, which stays with size 1: each lane by itself where its elements lie closest,
/// and lanes side by side otherwise.
fn fold_axis<E: Held>(x: ArrayViewD<E>, axis: Axis, by: &Fold<E>) -> ArrayD<E> {
    let closest = x
        .axes()
        .filter(|a| a.len > 1)
        .min_by_key(|a| a.stride.unsigned_abs());
    if closest.is_some_and(|closest| closest.axis == axis) {
        x.map_axis(axis, by.lane).insert_axis(axis)
    } else {
        fold_rows(x, axis, by)
    }
}

/// The most elements that are combined one after another. Beyond it halves are combined, so that the rounding errors
/// of a sum grow with the logarithm of its length.
const BLOCK: usize = 32;

fn fold_lane<E: Held>(lane: ArrayView1<E>, start: E, f: impl Fn(E, E) -> E + Copy) -> E {
    if let Some(slice) = lane.as_slice() {
        return fold_slice(slice, start, f);
    }
    if lane.len() > BLOCK {
        let (a, b) = lane.split_at(Axis(0), lane.len() / 2);
        return f(fold_lane(a, start, f), fold_lane(b, start, f));
    }
    lane.iter().copied().fold(start, f)
}

fn fold_slice<E: Held>(slice: &[E], start: E, f: impl Fn(E, E) -> E + Copy) -> E {
    // Independent partial results, which the compiler puts side by side into vectors.
    let mut partial = [start; 8];
    if slice.len() > BLOCK * partial.len() {
        let (a, b) = slice.split_at(slice.len() / 2);
        return f(fold_slice(a, start, f), fold_slice(b, start, f));
    }
    let chunks = slice.chunks_exact(partial.len());
    let rest = chunks.remainder().iter().copied().fold(start, f);
    for chunk in chunks {
        for (p, &v) in partial.iter_mut().zip(chunk) {
            *p = f(*p, v);
        }
    }
    partial.into_iter().fold(rest, f)
}

fn fold_rows<E: Held>(x: ArrayViewD<E>, axis: Axis, by: &Fold<E>) -> ArrayD<E> {
    let len = x.len_of(axis);
    if len > BLOCK {
        let (a, b) = x.split_at(axis, len / 2);
        let mut folded = fold_rows(a, axis, by);
        rows::each_with(&mut folded, &fold_rows(b, axis, by), by.row);
        return folded;
    }
    let mut slices = x.axis_chunks_iter(axis, 1);
    let mut folded = slices.next().expect("at least one element").to_owned();
    for slice in slices {
        rows::each_with(&mut folded, &slice, by.row);
    }
    folded
}

/// Where the best element of each lane is: the first of several, and the first NaN before all.
fn places<E: Number>(x: &NdArrayTensor, axis: usize, better: fn(E, E) -> bool) -> ArrayD<i32> {
    let place = |lane: ArrayView1<E>| {
        let mut best = (0, lane[0]);
        for (i, &v) in lane.iter().enumerate() {
            if best.1.is_nan() {
                break;
            }
            if better(v, best.1) || v.is_nan() {
                best = (i as i32, v);
            }
        }
        best.0
    };
    x.view().map_axis(Axis(axis), place).insert_axis(Axis(axis))
}
