use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::element::Scalar;
use crate::shape::{Dims, Shape};

/// A rearrangement of one tensor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum MoveOp {
    /// Another shape for the same elements in row-major order.
    Reshape(Shape),
    /// Axis `i` of the result is axis `axes[i]` of the input.
    Permute(Dims),
    /// Axes of size 1 stretch to the given shape, which has the same rank.
    Expand(Shape),
    /// A range of every axis.
    Slice(SmallVec<[SliceRange; 4]>),
    /// Reverses axes.
    Flip(Dims),
    /// Adds elements before and after along each axis.
    Pad(SmallVec<[(usize, usize); 4]>, PadMode),
    /// Repeats the whole tensor along each axis.
    Repeat(Dims),
}

/// The elements `start..end` of an axis, each `step`-th of them; a negative step starts at the last and goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceRange {
    /// The first element of the range.
    pub start: usize,
    /// The end of the range, exclusive.
    pub end: usize,
    /// The distance between taken elements; not 0.
    pub step: isize,
}

/// What padding consists of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum PadMode {
    /// One value.
    Constant(Scalar),
    /// The tensor mirrored at its edge element, which is not repeated.
    Reflect,
    /// The edge element.
    Replicate,
    /// The tensor from its other end.
    Circular,
}

impl PadMode {
    /// The element of an axis of `size` that stands at `place`, which may lie before or after it; of a mode that pads by
    /// copies.
    pub(crate) fn source(self, place: isize, size: usize) -> usize {
        let last = size as isize - 1;
        let source = match self {
            PadMode::Constant(_) => unreachable!("constant padding is no copy"),
            PadMode::Reflect if place < 0 => -place,
            PadMode::Reflect if place > last => 2 * last - place,
            PadMode::Reflect => place,
            PadMode::Replicate => place.clamp(0, last),
            PadMode::Circular => place.rem_euclid(size as isize),
        };
        source as usize
    }
}

impl<T: Into<Scalar>> From<T> for PadMode {
    fn from(value: T) -> Self {
        PadMode::Constant(value.into())
    }
}

impl MoveOp {
    /// The name, as error messages give it.
    pub fn name(&self) -> &'static str {
        match self {
            MoveOp::Reshape(_) => "reshape",
            MoveOp::Permute(_) => "permute",
            MoveOp::Expand(_) => "expand",
            MoveOp::Slice(_) => "slice",
            MoveOp::Flip(_) => "flip",
            MoveOp::Pad(..) => "pad",
            MoveOp::Repeat(_) => "repeat",
        }
    }
}

impl SliceRange {
    /// A range with step 1.
    pub fn new(start: usize, end: usize) -> Self {
        SliceRange { start, end, step: 1 }
    }

    /// How many elements it takes.
    pub fn len(&self) -> usize {
        self.end
            .saturating_sub(self.start)
            .div_ceil(self.step.unsigned_abs().max(1))
    }

    /// Whether it takes none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element that comes first in the result.
    pub fn first(&self) -> usize {
        if self.step > 0 {
            self.start
        } else {
            self.end.saturating_sub(1)
        }
    }
}
