//! The walk over the elements of a reduction.

use std::ops::Range;

use super::super::parallel::{PARALLEL, collect, divide, pieces};
use super::super::simd::vectorised;
use super::super::source::{Axes, coalesce, offsets, place};
use super::super::storage::{FlexTensor, Layout};
use super::rule::Rule;
use crate::element::Element;
use crate::op::{HasMeta, Meta};

/// How many elements of one result are reduced at a time. It does not depend on the number of threads, nor do results.
const PIECE: usize = 1 << 16;

/// How many columns are reduced at a time.
const COLUMNS: usize = 1024;

/// The loops of a reduction.
pub(super) trait Fold<E, A, R>: Sync {
    /// The result of nothing.
    fn start(&self) -> A;
    /// Takes in the elements of a row.
    fn row(&self, acc: A, row: &[E]) -> A;
    /// Takes in one row after another, each into its accumulator.
    fn rows(&self, acc: &mut [A], rows: &[E], width: usize);
    /// Takes in `count` rows that lie `stride` apart, each element into its column's accumulator.
    fn columns(&self, acc: &mut [A], rows: &[E], stride: usize, count: usize);
    /// Joins two results.
    fn merge(&self, a: A, b: A) -> A;
    /// The result, of `count` elements.
    fn finish(&self, acc: A, count: usize) -> R;
}

/// A reduction of elements as they are stored.
pub(super) struct Direct<T>(pub(super) T);

// The closures are inlined by force: left to itself, the compiler makes the larger ones functions of their own, without
// the instructions that `vectorised` provides.
impl<E: Copy, T: Rule<E>> Fold<E, T::Acc, T::Out> for Direct<T> {
    fn start(&self) -> T::Acc {
        T::widen(T::START)
    }

    fn row(&self, acc: T::Acc, row: &[E]) -> T::Acc {
        vectorised(
            #[inline(always)]
            || blocks::<E, T>(acc, row),
        )
    }

    fn rows(&self, acc: &mut [T::Acc], rows: &[E], width: usize) {
        vectorised(
            #[inline(always)]
            || {
                for (acc, row) in acc.iter_mut().zip(rows.chunks_exact(width)) {
                    *acc = blocks::<E, T>(*acc, row);
                }
            },
        )
    }

    fn columns(&self, acc: &mut [T::Acc], rows: &[E], stride: usize, count: usize) {
        let width = acc.len();
        let row = |i: usize| &rows[i * stride..i * stride + width];
        vectorised(
            #[inline(always)]
            || {
                let whole = count - count % 8;
                for i in (0..whole).step_by(8) {
                    let eight: [&[E]; 8] = std::array::from_fn(|k| row(i + k));
                    for (j, acc) in acc.iter_mut().enumerate() {
                        let pair = |k: usize| T::step(T::load(eight[k][j]), T::load(eight[k + 1][j]));
                        let leaf = T::step(T::step(pair(0), pair(2)), T::step(pair(4), pair(6)));
                        *acc = T::merge(*acc, T::widen(leaf));
                    }
                }
                for i in whole..count {
                    for (acc, &x) in acc.iter_mut().zip(row(i)) {
                        *acc = T::merge(*acc, T::widen(T::load(x)));
                    }
                }
            },
        )
    }

    fn merge(&self, a: T::Acc, b: T::Acc) -> T::Acc {
        T::merge(a, b)
    }

    fn finish(&self, acc: T::Acc, count: usize) -> T::Out {
        T::finish(acc, count)
    }
}

/// Reduces a row by blocks, which bound the number of roundings that one lane accumulates.
#[inline(always)]
fn blocks<E: Copy, T: Rule<E>>(mut acc: T::Acc, row: &[E]) -> T::Acc {
    // A loop, since `fold` may become a function of its own.
    for block in row.chunks(4096) {
        acc = T::merge(acc, T::widen(lanes::<E, T>(block)));
    }
    acc
}

const LANES: usize = 64;

/// Reduces a block in independent lanes, which keep the processor's adders busy.
///
/// Every index is a constant once the loops are unrolled, and no lane is changed where it is: the lanes stay in
/// registers, which takes a third of the time.
#[inline(always)]
fn lanes<E: Copy, T: Rule<E>>(block: &[E]) -> T::Leaf {
    let (whole, rest) = block.as_chunks::<LANES>();
    let mut tail = T::START;
    for &x in rest {
        tail = T::step(tail, T::load(x));
    }
    if whole.is_empty() {
        return tail;
    }
    let mut acc = [T::START; LANES];
    for chunk in whole {
        let mut next = acc;
        for i in 0..LANES {
            next[i] = T::step(acc[i], T::load(chunk[i]));
        }
        acc = next;
    }
    halve::<E, T, 32>(&mut acc);
    halve::<E, T, 16>(&mut acc);
    halve::<E, T, 8>(&mut acc);
    halve::<E, T, 4>(&mut acc);
    halve::<E, T, 2>(&mut acc);
    halve::<E, T, 1>(&mut acc);
    T::step(acc[0], tail)
}

/// Joins each of the first `WIDTH` lanes with the one `WIDTH` further.
#[inline(always)]
fn halve<E: Copy, T: Rule<E>, const WIDTH: usize>(acc: &mut [T::Leaf; LANES]) {
    for i in 0..WIDTH {
        acc[i] = T::step(acc[i], acc[i + WIDTH]);
    }
}

/// Reduces `axes`, which stay with size 1.
pub(super) fn fold<E: Element, A: Copy + Send + Sync, R: Element>(
    rule: &dyn Fold<E, A, R>,
    x: FlexTensor,
    axes: &[usize],
    meta: &Meta,
) -> FlexTensor {
    let results = meta.shape.num_elements();
    if x.shape().num_elements() == 0 {
        let values = vec![rule.finish(rule.start(), 0); results];
        return x.like_shape(values, &meta.shape);
    }
    let mut walk = Walk::new(x.layout(), axes);
    let x = if walk.fits() {
        x
    } else {
        // Kept axes first: each result's elements come to lie in one row.
        let layout = x.layout();
        let rank = layout.shape.rank();
        let order = (0..rank)
            .filter(|a| !axes.contains(a))
            .chain(axes.iter().copied());
        let layout = Layout {
            shape: order.clone().map(|a| layout.shape[a]).collect(),
            strides: order.map(|a| layout.strides[a]).collect(),
            offset: layout.offset,
        };
        let kept = rank - axes.len();
        let x = x.with_layout(layout).into_contiguous();
        let reduced: Vec<usize> = (kept..x.shape().rank()).collect();
        walk = Walk::new(x.layout(), &reduced);
        x
    };
    let values = walk.fold(rule, x.base::<E>(), results);
    x.like_shape(values, &meta.shape)
}

/// The axes of an operand, sorted into those that stay and those that go.
struct Walk {
    offset: usize,
    kept: Axes,
    reduced: Axes,
    /// How many elements make one result.
    count: usize,
}

impl Walk {
    fn new(layout: &Layout, axes: &[usize]) -> Self {
        let axis = |a: usize| (layout.shape[a], layout.strides[a]);
        let kept = coalesce((0..layout.shape.rank()).filter(|a| !axes.contains(a)).map(axis));
        // The order of the elements of one result does not matter.
        let mut reduced: Axes = axes.iter().map(|&a| axis(a)).collect();
        reduced.sort_by_key(|&(_, stride)| -stride);
        Walk {
            offset: layout.offset,
            count: reduced.iter().map(|&(size, _)| size).product(),
            kept,
            reduced: coalesce(reduced.into_iter()),
        }
    }

    fn in_rows(&self) -> bool {
        matches!(self.reduced.last(), None | Some((_, 1)))
    }

    /// Whether each row follows the one before, and makes one result.
    fn packed(&self) -> bool {
        let after = |&(_, stride): &(usize, isize)| stride == self.count as isize;
        self.reduced.len() == 1 && self.kept.len() <= 1 && self.kept.iter().all(after)
    }

    fn fits(&self) -> bool {
        let forward = self.reduced.last().is_some_and(|&(_, stride)| stride >= 0);
        self.in_rows() || forward && matches!(self.kept.last(), Some((_, 1)))
    }

    fn fold<E: Element, A: Copy + Send + Sync, R: Element>(
        &self,
        rule: &dyn Fold<E, A, R>,
        base: &[E],
        results: usize,
    ) -> Vec<R> {
        let finish = |acc| rule.finish(acc, self.count);
        let few = results * self.count >= PARALLEL && results < 2 * rayon::current_num_threads();
        if self.in_rows() {
            if few {
                let split = |i| self.split_row(rule, base, i);
                return (0..results).map(|i| finish(split(i))).collect();
            }
            if self.packed() {
                return collect(results, self.count, |start, out| {
                    let end = start + out.len();
                    let mut accs = [rule.start(); 64];
                    for range in pieces(start..end, accs.len()) {
                        let accs = &mut accs[..range.len()];
                        accs.fill(rule.start());
                        let rows =
                            self.offset + range.start * self.count..self.offset + range.end * self.count;
                        rule.rows(accs, &base[rows], self.count);
                        out.extend(accs.iter().map(|&acc| finish(acc)));
                    }
                });
            }
            return collect(results, self.count, |start, out| {
                let results = start..start + out.len();
                out.extend(results.map(|i| finish(self.row(rule, base, i))));
            });
        }
        let width = self.kept.last().expect("columns are kept").0;
        if width <= 256 && results * self.count >= PARALLEL {
            let sets = (0..results).step_by(width);
            let accs = sets.flat_map(|first| self.split_columns(rule, base, first, width));
            return accs.map(finish).collect();
        }
        collect(results, self.count.min(63), |start, out| {
            let mut accs = Vec::new();
            let mut first = start;
            let end = start + out.len();
            while first < end {
                let columns = (end - first).min(width - first % width).min(COLUMNS);
                accs.clear();
                accs.resize(columns, rule.start());
                for (start, stride, count) in self.column_rows(first) {
                    rule.columns(&mut accs, &base[start..], stride, count);
                }
                out.extend(accs.iter().map(|&acc| finish(acc)));
                first += columns;
            }
        })
    }

    /// One result, of elements in rows.
    fn row<E, A: Copy, R>(&self, rule: &dyn Fold<E, A, R>, base: &[E], result: usize) -> A {
        let rows = self.rows(result);
        rows.fold(rule.start(), |acc, row| rule.row(acc, &base[row]))
    }

    /// As [`Walk::row`], by several threads.
    fn split_row<E: Sync, A: Copy + Send, R>(
        &self,
        rule: &dyn Fold<E, A, R>,
        base: &[E],
        result: usize,
    ) -> A {
        let parts: Vec<Range<usize>> = self.rows(result).flat_map(|row| pieces(row, PIECE)).collect();
        let mut accs = vec![rule.start(); parts.len()];
        divide(&mut accs, Some(1), &|i, acc: &mut [A]| {
            acc[0] = rule.row(acc[0], &base[parts[i].clone()]);
        });
        accs.into_iter().fold(rule.start(), |a, b| rule.merge(a, b))
    }

    /// The `width` results from `first` on, by several threads.
    fn split_columns<E: Sync, A: Copy + Send + Sync, R>(
        &self,
        rule: &dyn Fold<E, A, R>,
        base: &[E],
        first: usize,
        width: usize,
    ) -> Vec<A> {
        let most = (PIECE / width).max(8);
        let parts: Vec<_> = self
            .column_rows(first)
            .flat_map(|(start, stride, count)| {
                pieces(0..count, most).map(move |rows| (start + rows.start * stride, stride, rows.len()))
            })
            .collect();
        let mut sets = vec![rule.start(); parts.len() * width];
        divide(&mut sets, Some(width), &|i, accs: &mut [A]| {
            let (start, stride, count) = parts[i / width];
            rule.columns(accs, &base[start..], stride, count);
        });
        sets.chunks_exact(width)
            .fold(vec![rule.start(); width], |mut all, set| {
                all.iter_mut().zip(set).for_each(|(a, &b)| *a = rule.merge(*a, b));
                all
            })
    }

    /// Where the rows of one result lie.
    fn rows(&self, result: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        let (len, outer) = match self.reduced.split_last() {
            Some((&(len, _), outer)) => (len, outer),
            None => (1, &[][..]),
        };
        let first = self.offset as isize + place(&self.kept, result);
        offsets(outer).map(move |offset| {
            let start = (first + offset) as usize;
            start..start + len
        })
    }

    /// Where the rows of a set of columns lie that begins with a result: the first of them, their distance, their
    /// number.
    fn column_rows(&self, result: usize) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        let (&(count, stride), outer) = self.reduced.split_last().expect("columns have rows");
        let first = self.offset as isize + place(&self.kept, result);
        offsets(outer).map(move |offset| ((first + offset) as usize, stride as usize, count))
    }
}
