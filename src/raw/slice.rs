use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use smallvec::SmallVec;

use super::Raw;
use crate::backend::Backend;
use crate::element::Scalar;
use crate::error::Error;
use crate::op::{IndexOp, MoveOp, Op, SliceRange};
use crate::shape::Dims;

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
    fn within(self, op: &'static str, size: usize, axis: usize) -> Result<SliceRange, Error> {
        let size = size as isize;
        let place = |bound: isize| if bound < 0 { bound + size } else { bound };
        let (start, end) = (place(self.start), place(self.end.unwrap_or(size)));
        if start < 0 || end < start || end > size {
            let bounds = match self.end {
                Some(end) => format!("{}..{end}", self.start),
                None => format!("{}..", self.start),
            };
            return Err(Error::argument(
                op,
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

/// Ranges of the first axes of a tensor: an array of one kind of range, a tuple of several kinds, one range, or a slice of
/// ranges, whose number is known at run time only.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not slice a tensor",
    label = "expected ranges",
    note = "ranges are an array of one kind, a tuple of several, or `s![..]`"
)]
pub trait SliceArgs {
    /// How many axes, as far as the type tells.
    const AXES: usize;

    /// The ranges.
    fn slices(self) -> impl AsRef<[Slice]>;
}

/// Slices. Axes without a range stay whole.
///
/// # Errors
/// Each returns an error if there are more ranges than axes, a range lies outside its axis, or the values have another
/// shape or element type than the slice.
impl<B: Backend> Raw<B> {
    /// Part of each axis: ranges whose bounds may count from the end, or [`s!`](crate::s), which knows steps too.
    ///
    /// ```
    /// use keyway::{Flex, TensorData, raw::Raw, s};
    /// let x = Raw::<Flex>::from_data(TensorData::new(vec![1.0f32, 2.0, 3.0, 4.0], [2, 2])?, &Default::default())?;
    /// assert_eq!(x.clone().slice([1..2])?.into_vec::<f32>()?, [3.0, 4.0]);
    /// assert_eq!(x.slice(s![.., -1])?.into_vec::<f32>()?, [2.0, 4.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn slice(self, ranges: impl SliceArgs) -> Result<Self, Error> {
        let ranges = self.ranges("slice", ranges)?;
        self.movement(MoveOp::Slice(ranges))
    }

    /// Part of one axis.
    pub fn slice_dim(self, axis: usize, range: impl Into<Slice>) -> Result<Self, Error> {
        self.size("slice_dim", axis)?;
        let mut slices: SmallVec<[Slice; 4]> = smallvec::smallvec![Slice::full(); axis + 1];
        slices[axis] = range.into();
        self.slice(&slices[..])
    }

    /// `values` in place of the elements of a slice, whose shape they have.
    pub fn slice_assign(self, ranges: impl SliceArgs, values: Self) -> Result<Self, Error> {
        let ranges = self.ranges("slice_assign", ranges)?;
        Self::run(Op::Index(Box::new(IndexOp::SliceAssign {
            x: self,
            src: values,
            ranges,
        })))
    }

    /// One number in place of the elements of a slice.
    pub fn slice_fill(self, ranges: impl SliceArgs, value: impl Into<Scalar>) -> Result<Self, Error> {
        let (ranges, value) = (self.ranges("slice_fill", ranges)?, value.into());
        if !value.fits(self.dtype()) {
            let message = format!("the number {value} is none for {} elements", self.dtype());
            return Err(Error::argument("slice_fill", message));
        }
        let shape: Dims = ranges.iter().map(SliceRange::len).collect();
        let values = Self::full(shape, value, self.dtype(), &self.device())?;
        self.slice_assign(&ranges[..], values)
    }

    fn ranges(&self, op: &'static str, ranges: impl SliceArgs) -> Result<SmallVec<[SliceRange; 4]>, Error> {
        let slices = ranges.slices();
        let slices = slices.as_ref();
        if slices.len() > self.rank() {
            let message = format!("{} ranges for a tensor of rank {}", slices.len(), self.rank());
            return Err(Error::argument(op, message));
        }
        let slices = slices.iter().copied().chain(std::iter::repeat(Slice::full()));
        let axes = self.shape().iter().zip(slices).enumerate();
        axes.map(|(axis, (&size, slice))| slice.within(op, size, axis))
            .collect()
    }
}

impl<R: Into<Slice>, const N: usize> SliceArgs for [R; N] {
    const AXES: usize = N;
    fn slices(self) -> impl AsRef<[Slice]> {
        self.map(Into::into)
    }
}

impl<R: Into<Slice> + Clone> SliceArgs for &[R] {
    const AXES: usize = 0;
    fn slices(self) -> impl AsRef<[Slice]> {
        self.iter()
            .cloned()
            .map(Into::into)
            .collect::<SmallVec<[Slice; 4]>>()
    }
}

macro_rules! one_range {
    ($([$($generic:ident)?] $R:ty;)*) => { $(
        impl$(<$generic>)? SliceArgs for $R
        where
            $R: Into<Slice>,
        {
            const AXES: usize = 1;
            fn slices(self) -> impl AsRef<[Slice]> {
                [self.into()]
            }
        }
    )* };
}
one_range! {
    [] Slice;
    [] RangeFull;
    [T] Range<T>;
    [T] RangeFrom<T>;
    [T] RangeTo<T>;
    [T] RangeInclusive<T>;
    [T] RangeToInclusive<T>;
}

macro_rules! range_tuples {
    ($($n:literal: $($R:ident $i:tt)*;)*) => { $(
        impl<$($R: Into<Slice>),*> SliceArgs for ($($R,)*) {
            const AXES: usize = $n;
            fn slices(self) -> impl AsRef<[Slice]> {
                [$(self.$i.into()),*]
            }
        }
    )* };
}
range_tuples! {
    1: A 0;
    2: A 0 B 1;
    3: A 0 B 1 C 2;
    4: A 0 B 1 C 2 D 3;
    5: A 0 B 1 C 2 D 3 E 4;
    6: A 0 B 1 C 2 D 3 E 4 F 5;
}

impl From<SliceRange> for Slice {
    fn from(range: SliceRange) -> Self {
        Slice::from(range.start..range.end).with_step(range.step)
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
