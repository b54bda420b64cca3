use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use smallvec::SmallVec;

use super::Raw;
use crate::backend::Backend;
use crate::element::Scalar;
use crate::error::Error;
use crate::op::{self, Meta, MoveOp, Op, SliceRange};

/// Part of an axis: a range, each `step`-th element of it. Negative bounds count from the end; a negative step starts
/// at the range's last element and goes back. Ranges and single indices convert into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The first element of the range.
    pub start: isize,
    /// The end of the range, exclusive; `None` is the end of the axis.
    pub end: Option<isize>,
    /// The distance between taken elements; not 0.
    pub step: isize,
}

impl Slice {
    /// `start..end`, each `step`-th element.
    pub fn new(start: isize, end: Option<isize>, step: isize) -> Self {
        Slice { start, end, step }
    }

    /// The whole axis.
    pub fn full() -> Self {
        Slice::new(0, None, 1)
    }

    /// The same range with another step.
    pub fn with_step(self, step: isize) -> Self {
        Slice { step, ..self }
    }

    /// The range within an axis of this size.
    fn within(self, size: usize, axis: usize) -> Result<SliceRange, Error> {
        let size = size as isize;
        let place = |bound: isize| if bound < 0 { bound + size } else { bound };
        let (start, end) = (place(self.start), place(self.end.unwrap_or(size)));
        if start < 0 || end < start || end > size {
            let bounds = match self.end {
                Some(end) => format!("{}..{end}", self.start),
                None => format!("{}..", self.start),
            };
            return Err(Error::argument(
                "slice",
                format!("{bounds} of axis {axis} of size {size}"),
            ));
        }
        Ok(SliceRange {
            start: start as usize,
            end: end as usize,
            step: self.step,
        })
    }
}

impl<B: Backend> Raw<B> {
    /// What [`Raw::slice`] and [`Raw::slice_assign`] take, of slices of the first axes; the others stay whole.
    ///
    /// # Errors
    /// If there are more slices than axes, or one lies outside its axis.
    pub fn ranges(&self, slices: &[Slice]) -> Result<SmallVec<[SliceRange; 4]>, Error> {
        if slices.len() > self.rank() {
            let message = format!("{} ranges for a tensor of rank {}", slices.len(), self.rank());
            return Err(Error::argument("slice", message));
        }
        let slices = slices.iter().copied().chain(std::iter::repeat(Slice::full()));
        let axes = self.shape().iter().zip(slices).enumerate();
        axes.map(|(axis, (&size, slice))| slice.within(size, axis))
            .collect()
    }

    /// One number in place of the elements of a slice.
    ///
    /// # Errors
    /// As [`Raw::slice_assign`], or if the number is none for the element type.
    pub fn slice_fill(self, ranges: &[SliceRange], value: Scalar) -> Result<Self, Error> {
        if !value.fits(self.dtype()) {
            let message = format!("the number {value} is none for {} elements", self.dtype());
            return Err(Error::argument("slice_fill", message));
        }
        // Before anything is made of their size, the ranges must be within the tensor.
        let Meta { shape, dtype } = op::infer(&Op::Move(MoveOp::Slice(ranges.into()), &self))?;
        let values = Self::full(shape, value, dtype, &self.device())?;
        self.slice_assign(ranges, values)
    }
}

impl From<RangeFull> for Slice {
    fn from(_: RangeFull) -> Self {
        Slice::full()
    }
}

macro_rules! slice_from {
    ($($T:ty)*) => { $(
        impl From<$T> for Slice {
            fn from(index: $T) -> Self {
                (index..=index).into()
            }
        }
        impl From<Range<$T>> for Slice {
            fn from(range: Range<$T>) -> Self {
                Slice::new(bound(range.start), Some(bound(range.end)), 1)
            }
        }
        impl From<RangeInclusive<$T>> for Slice {
            fn from(range: RangeInclusive<$T>) -> Self {
                Slice::new(bound(*range.start()), after(bound(*range.end())), 1)
            }
        }
        impl From<RangeFrom<$T>> for Slice {
            fn from(range: RangeFrom<$T>) -> Self {
                Slice::new(bound(range.start), None, 1)
            }
        }
        impl From<RangeTo<$T>> for Slice {
            fn from(range: RangeTo<$T>) -> Self {
                Slice::new(0, Some(bound(range.end)), 1)
            }
        }
        impl From<RangeToInclusive<$T>> for Slice {
            fn from(range: RangeToInclusive<$T>) -> Self {
                Slice::new(0, after(bound(range.end)), 1)
            }
        }
    )* };
}
slice_from!(usize isize i32 i64);

/// A bound past the reach of `isize` is outside every axis, and must not come out as one that counts from the end.
fn bound<T: Copy + PartialOrd + Default + TryInto<isize>>(at: T) -> isize {
    let outside = if at < T::default() { isize::MIN } else { isize::MAX };
    at.try_into().unwrap_or(outside)
}

/// The exclusive end of a range whose last element this is.
fn after(last: isize) -> Option<isize> {
    if last == -1 {
        None
    } else {
        Some(last.saturating_add(1))
    }
}

/// Slices of several axes, whose bounds may be of different kinds: `s![0..2, .., -1, ..;2]`. A step follows a semicolon.
///
/// ```
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], &Default::default());
/// assert_eq!(x.slice(s![-1, ..;-1]).into_vec()?, [6.0, 5.0, 4.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
#[macro_export]
macro_rules! s {
    ($($range:expr $(; $step:expr)?),* $(,)?) => {
        [$($crate::Slice::from($range)$(.with_step($step))?),*]
    };
}
