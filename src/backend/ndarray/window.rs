//! How the windows of convolutions and pools lie on their input.

use ndarray::{ArrayViewD, ArrayViewMutD, Slice};
use smallvec::SmallVec;

/// Windows over spatial axes: one entry per axis.
pub(super) struct Windows<'a> {
    pub(super) size: &'a [usize],
    pub(super) output: &'a [usize],
    pub(super) kernel: &'a [usize],
    pub(super) stride: &'a [usize],
    pub(super) padding: &'a [(usize, usize)],
    pub(super) dilation: &'a [usize],
}

/// The elements that one place of the kernel meets: the input's, and the outputs of the windows in which it meets them.
pub(super) struct Tap {
    /// The place in the kernel, counted in row-major order.
    pub(super) place: usize,
    pub(super) input: SmallVec<[Slice; 4]>,
    pub(super) output: SmallVec<[Slice; 4]>,
}

impl Windows<'_> {
    /// What each place of the kernel meets, in row-major order; places that meet only padding are left out.
    pub(super) fn taps(&self) -> impl Iterator<Item = Tap> + '_ {
        let places = ndarray::indices(self.kernel).into_iter().enumerate();
        places.filter_map(|(place, at)| {
            let mut tap = Tap {
                place,
                input: SmallVec::new(),
                output: SmallVec::new(),
            };
            for axis in 0..self.kernel.len() {
                let (input, output) = self.along(axis, at[axis])?;
                tap.input.push(input);
                tap.output.push(output);
            }
            Some(tap)
        })
    }

    fn along(&self, axis: usize, at: usize) -> Option<(Slice, Slice)> {
        let (stride, before) = (self.stride[axis], self.padding[axis].0);
        // Window `o` meets the input at `o * stride + shift - before`.
        let shift = at * self.dilation[axis];
        let first = before.saturating_sub(shift).div_ceil(stride);
        let end = (self.size[axis] + before).saturating_sub(shift).div_ceil(stride);
        let end = end.min(self.output[axis]);
        if first >= end {
            return None;
        }
        let start = first * stride + shift - before;
        let last = (end - 1) * stride + shift - before;
        // A step beyond the axis takes one element; `ndarray` has it signed.
        let step = stride.min(self.size[axis]) as isize;
        Some((
            Slice::new(start as isize, Some(last as isize + 1), step),
            Slice::from(first..end),
        ))
    }
}

/// The elements of `x` that slices of its last axes take.
pub(super) fn take<'a, E>(mut x: ArrayViewD<'a, E>, slices: &[Slice]) -> ArrayViewD<'a, E> {
    let lead = x.ndim() - slices.len();
    x.slice_each_axis_inplace(|axis| slice_of(axis.axis.index(), lead, slices));
    x
}

/// As [`take`], for writing.
pub(super) fn take_mut<'a, E>(mut x: ArrayViewMutD<'a, E>, slices: &[Slice]) -> ArrayViewMutD<'a, E> {
    let lead = x.ndim() - slices.len();
    x.slice_each_axis_inplace(|axis| slice_of(axis.axis.index(), lead, slices));
    x
}

fn slice_of(axis: usize, lead: usize, slices: &[Slice]) -> Slice {
    axis.checked_sub(lead)
        .map_or(Slice::from(..), |spatial| slices[spatial])
}
