//! Where the greatest and the least element are.

use super::super::parallel::collect;
use super::super::simd::vectorised;
use super::super::storage::FlexTensor;
use crate::element::Element;
use crate::op::{HasMeta, Meta, ReduceOp};

/// How many columns are searched at a time.
const COLUMNS: usize = 512;

pub(super) fn arg<E: Element>(op: ReduceOp, x: FlexTensor, axis: usize, meta: &Meta) -> FlexTensor {
    match op {
        ReduceOp::ArgMax => search::<E>(x, axis, meta, |a, b| a > b),
        _ => search::<E>(x, axis, meta, |a, b| a < b),
    }
}

/// Finds the first element than which none is `better`, or the first NaN.
fn search<E: Element>(
    x: FlexTensor,
    axis: usize,
    meta: &Meta,
    better: impl Fn(E, E) -> bool + Sync,
) -> FlexTensor {
    let x = x.into_contiguous();
    let results = meta.shape.num_elements();
    if results == 0 {
        return x.like_shape(Vec::<i32>::new(), &meta.shape);
    }
    let values = x.as_slice::<E>().expect("it is contiguous");
    let count = x.shape()[axis];
    let inner: usize = x.shape()[axis + 1..].iter().product();
    // Only NaN differs from itself.
    #[allow(clippy::eq_op)]
    let wins = |x: E, best: E| better(x, best) | ((x != x) & (best == best));
    let places = collect(results, count.min(63), |start, out| {
        if inner == 1 {
            let rows = values[start * count..].chunks_exact(count).take(out.len());
            return vectorised(|| out.extend(rows.map(|row| place(row, wins))));
        }
        let end = start + out.len();
        let mut first = start;
        let mut best = Vec::new();
        let mut places = Vec::new();
        while first < end {
            let width = (end - first).min(inner - first % inner).min(COLUMNS);
            let top = first / inner * count * inner + first % inner;
            best.clear();
            best.extend_from_slice(&values[top..top + width]);
            places.clear();
            places.resize(width, 0);
            for i in 1..count {
                let row = &values[top + i * inner..top + i * inner + width];
                vectorised(|| {
                    for ((best, place), &x) in best.iter_mut().zip(&mut places).zip(row) {
                        let won = wins(x, *best);
                        *best = if won { x } else { *best };
                        *place = if won { i as i32 } else { *place };
                    }
                });
            }
            out.extend(places.iter().copied());
            first += width;
        }
    });
    x.like_shape(places, &meta.shape)
}

/// The place in one row: finds the best value first, and then where it is.
#[inline(always)]
fn place<E: Element>(row: &[E], wins: impl Fn(E, E) -> bool) -> i32 {
    const LANES: usize = 64;
    let better = |x, best| if wins(x, best) { x } else { best };
    let (whole, rest) = row.as_chunks::<LANES>();
    let mut lanes = [row[0]; LANES];
    for chunk in whole {
        for (best, &x) in lanes.iter_mut().zip(chunk) {
            *best = better(x, *best);
        }
    }
    let best = lanes.iter().chain(rest).fold(row[0], |best, &x| better(x, best));
    // Nothing wins over the best: what it does not win over either is equal to it, or NaN like it.
    let is_best = |&x: &E| !wins(best, x);
    let before = row
        .chunks(LANES)
        .take_while(|chunk| !chunk.iter().fold(false, |found, x| found | is_best(x)));
    let start = before.count() * LANES;
    let within = row[start..].iter().position(is_best);
    (start + within.expect("the best is one of the row")) as i32
}
