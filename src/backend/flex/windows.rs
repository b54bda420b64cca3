//! Windows that move over the spatial axes of a plane, for convolutions and pools.

use std::ops::Range;

use crate::backend::memory::room_beside;
use crate::error::Error;

/// Which element of the input each tap of a window meets at each position.
///
/// Taps, positions and elements are counted in row-major order of the kernel, the output and the input. The last axis
/// is apart: along it a tap meets elements at equal distances.
pub(super) struct Windows {
    /// Where the row of the input starts that a tap of the leading axes meets in a row of the output; `None` in the
    /// padding. One after another for all rows, then for the next tap.
    rows: Vec<Option<usize>>,
    row_count: usize,
    row_len: usize,
    columns: Vec<Column>,
    stride: usize,
}

/// A tap of the last axis: what it meets at position 0, and at which positions it meets elements of the input.
struct Column {
    shift: isize,
    from: usize,
    to: usize,
}

/// How a window moves: one entry per spatial axis.
#[derive(Clone, Copy)]
pub(super) struct Movement<'a> {
    pub(super) stride: &'a [usize],
    pub(super) padding: &'a [(usize, usize)],
    pub(super) dilation: &'a [usize],
}

impl Windows {
    /// # Errors
    /// If it cannot be allocated.
    pub(super) fn new(
        op: &'static str,
        size: &[usize],
        kernel: &[usize],
        out: &[usize],
        by: Movement,
    ) -> Result<Self, Error> {
        let last = size.len() - 1;
        let product = |sizes: &[usize]| sizes.iter().try_fold(1, |n: usize, &size| n.checked_mul(size));
        let rows = product(&kernel[..last]).zip(product(&out[..last]));
        room_beside::<Option<usize>>(op, rows.and_then(|(taps, rows)| taps.checked_mul(rows)))?;
        room_beside::<Column>(op, Some(kernel[last]))?;
        // What a tap meets at position 0 of an axis.
        let shift = |axis: usize, tap: usize| (tap * by.dilation[axis]) as i128 - by.padding[axis].0 as i128;
        let mut rows = vec![Some(0)];
        for axis in 0..last {
            let meets = |tap: usize, position: usize| {
                let at = (position * by.stride[axis]) as i128 + shift(axis, tap);
                (0..size[axis] as i128).contains(&at).then_some(at as usize)
            };
            // Taps come before positions, so both are taken apart and put together again.
            let positions: usize = out[..axis].iter().product();
            let mut next = Vec::with_capacity(rows.len() * kernel[axis] * out[axis]);
            for starts in rows.chunks_exact(positions) {
                for tap in 0..kernel[axis] {
                    for &start in starts {
                        next.extend(
                            (0..out[axis]).map(|position| Some(start? * size[axis] + meets(tap, position)?)),
                        );
                    }
                }
            }
            rows = next;
        }
        for start in rows.iter_mut().flatten() {
            *start *= size[last];
        }
        let stride = by.stride[last];
        let column = |tap: usize| {
            let shift = shift(last, tap);
            let position_after = |element: i128| {
                let steps = (element - shift).max(0) as u128;
                steps.div_ceil(stride as u128).min(out[last] as u128) as usize
            };
            Column {
                shift: shift as isize,
                from: position_after(0),
                to: position_after(size[last] as i128),
            }
        };
        Ok(Windows {
            rows,
            row_count: out[..last].iter().product(),
            row_len: out[last],
            columns: (0..kernel[last]).map(column).collect(),
            stride,
        })
    }

    pub(super) fn taps(&self) -> usize {
        self.rows.len() / self.row_count * self.columns.len()
    }

    pub(super) fn positions(&self) -> usize {
        self.row_count * self.row_len
    }

    /// The distance of the elements that a tap meets at neighbouring positions of a part.
    pub(super) fn step(&self) -> usize {
        self.stride
    }

    /// Calls `f` with each part of `positions`, counted from their start, at which a tap meets elements of the input,
    /// and the first of these elements.
    pub(super) fn for_each_part(
        &self,
        tap: usize,
        positions: Range<usize>,
        mut f: impl FnMut(Range<usize>, usize),
    ) {
        let column = &self.columns[tap % self.columns.len()];
        let rows = &self.rows[tap / self.columns.len() * self.row_count..][..self.row_count];
        let mut row = positions.start / self.row_len;
        let mut row_start = row * self.row_len;
        while row_start < positions.end {
            let from = positions.start.max(row_start + column.from);
            let to = positions.end.min(row_start + column.to);
            if let Some(start) = rows[row]
                && from < to
            {
                let first =
                    ((from - row_start).wrapping_mul(self.stride) as isize).wrapping_add(column.shift);
                f(
                    from - positions.start..to - positions.start,
                    start.wrapping_add_signed(first),
                );
            }
            row += 1;
            row_start += self.row_len;
        }
    }

    /// How many elements of the input the window meets at each position.
    pub(super) fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.positions()];
        for tap in 0..self.taps() {
            self.for_each_part(tap, 0..self.positions(), |part, _| {
                counts[part].iter_mut().for_each(|count| *count += 1);
            });
        }
        counts
    }
}
