//! Work divided between threads.

use std::mem::{MaybeUninit, take};
use std::ops::Range;

use rayon::prelude::*;

/// The fewest elements that are worth a second thread. Measured by additions of `f32` on two cores: one thread takes
/// 3 µs for 2¹⁶, two take 14 µs for 2¹⁷ and 20 µs for 2¹⁸, since waking the second takes 5 to 10 µs.
pub(super) const PARALLEL: usize = 1 << 18;

/// How many elements each job takes of `len`, or `None` if one thread shall do them all. `weight` says how many times
/// longer than an addition an element takes.
pub(super) fn job_size(len: usize, weight: usize) -> Option<usize> {
    if len.saturating_mul(weight) < PARALLEL {
        return None;
    }
    let threads = rayon::current_num_threads();
    // Twice as many jobs as threads, so that a late thread costs little.
    let size = len.div_ceil(2 * threads);
    // Whole cache lines, unless an element is much work.
    let size = if weight < 64 {
        size.next_multiple_of(64)
    } else {
        size
    };
    (threads > 1 && size < len).then_some(size)
}

/// The part of a new vector that a job fills, from its start.
pub(super) struct Part<'a, T> {
    free: &'a mut [MaybeUninit<T>],
}

impl<T: Copy> Part<'_, T> {
    /// How many values are missing.
    pub(super) fn len(&self) -> usize {
        self.free.len()
    }

    /// Appends values, as many as there is room for.
    #[inline(always)]
    pub(super) fn extend(&mut self, values: impl IntoIterator<Item = T>) {
        let mut filled = 0;
        for (slot, value) in self.free.iter_mut().zip(values) {
            slot.write(value);
            filled += 1;
        }
        self.free = &mut take(&mut self.free)[filled..];
    }
}

/// A vector of `len` values. `job` fills the part that starts at the position it is given.
///
/// # Panics
/// If a job leaves room in its part.
pub(super) fn collect<T: Copy + Send>(
    len: usize,
    weight: usize,
    job: impl Fn(usize, &mut Part<T>) + Sync,
) -> Vec<T> {
    collect_blocks(len, 1, weight, job)
}

/// As [`collect`], where every part starts at a multiple of `block`.
pub(super) fn collect_blocks<T: Copy + Send>(
    len: usize,
    block: usize,
    weight: usize,
    job: impl Fn(usize, &mut Part<T>) + Sync,
) -> Vec<T> {
    let block = block.max(1);
    let blocks = job_size(len.div_ceil(block), weight.saturating_mul(block));
    fill(len, blocks.map(|blocks| blocks * block), &job)
}

fn fill<T: Copy + Send>(
    len: usize,
    size: Option<usize>,
    job: &(dyn Fn(usize, &mut Part<T>) + Sync),
) -> Vec<T> {
    let mut values = Vec::with_capacity(len);
    divide(
        &mut values.spare_capacity_mut()[..len],
        size,
        &|start, free: &mut [MaybeUninit<T>]| {
            let mut part = Part { free };
            job(start, &mut part);
            assert!(part.free.is_empty(), "a job fills its part");
        },
    );
    // SAFETY: the first `len` values are written: the parts cover them, and `fill` has checked that each is full.
    unsafe { values.set_len(len) };
    values
}

/// Changes values where they are. `job` takes the part that starts at the position it is given.
pub(super) fn update<T: Send>(values: &mut [T], weight: usize, job: impl Fn(usize, &mut [T]) + Sync) {
    let size = job_size(values.len(), weight);
    divide(values, size, &job);
}

/// Changes values where they are. `job` takes some of the blocks of `size` values that `values` consists of.
pub(super) fn update_blocks<T: Send>(values: &mut [T], size: usize, job: impl Fn(&mut [T]) + Send + Sync) {
    let blocks = job_size(values.len() / size, size);
    divide(
        values,
        blocks.map(|blocks| blocks * size),
        &|_, part: &mut [T]| job(part),
    );
}

/// Hands parts of `size` values to `job`, each with the position that it starts at, or all of them at once.
///
/// `job` is a trait object since rayon's machinery is large: this way it is compiled once per element type.
pub(super) fn divide<T: Send>(values: &mut [T], size: Option<usize>, job: &(dyn Fn(usize, &mut [T]) + Sync)) {
    match size {
        None => job(0, values),
        Some(size) => {
            let parts = values.par_chunks_mut(size).enumerate();
            parts.for_each(|(i, part)| job(i * size, part));
        }
    }
}

/// Cuts `range` into pieces of at most `size`.
pub(super) fn pieces(range: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range
        .step_by(size.max(1))
        .map(move |start| start..end.min(start.saturating_add(size)))
}
