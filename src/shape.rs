//! Shapes and the arithmetic on them.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// A short list of sizes or axes; up to four are stored inline.
pub type Dims = SmallVec<[usize; 4]>;

/// The size of a tensor along each axis; a rank-0 shape holds one element.
///
/// ```
/// let shape = keyway::Shape::from([2, 3]);
/// assert_eq!((shape.rank(), shape.num_elements(), shape[1]), (2, 6, 3));
/// ```
#[derive(Default, Eq, Hash, Serialize, Deserialize)]
// Equality compares the same sizes that are hashed.
#[allow(clippy::derived_hash_with_manual_eq)]
pub struct Shape(Dims);

// The derived one calls `memcmp`, which takes longer than comparing the few sizes.
impl PartialEq for Shape {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank() && self.iter().zip(other.iter()).all(|(a, b)| a == b)
    }
}

// The derived one would clone size by size, and `from_slice` calls `memcpy` for a few of them.
impl Clone for Shape {
    #[inline]
    fn clone(&self) -> Self {
        if self.0.spilled() {
            return Shape(Dims::from_slice(&self.0));
        }
        let size = |axis| self.0.get(axis).copied().unwrap_or(0);
        Shape(Dims::from_buf_and_len(
            [size(0), size(1), size(2), size(3)],
            self.rank(),
        ))
    }
}

impl Shape {
    /// The number of axes.
    #[inline]
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The product of the sizes. Shapes that `infer` has accepted never overflow.
    #[inline]
    pub fn num_elements(&self) -> usize {
        self.0.iter().product()
    }

    /// The product of the sizes, or `None` where that of the sizes other than 0 exceeds the address space: the product
    /// of no part of them overflows either.
    #[inline]
    pub fn checked_elements(&self) -> Option<usize> {
        let within = self
            .0
            .iter()
            .fold(1, |n: usize, &size| n.saturating_mul(size.max(1)));
        (within <= isize::MAX as usize).then(|| self.num_elements())
    }

    /// The shape with the size of `axis` replaced.
    pub fn with(mut self, axis: usize, size: usize) -> Self {
        self.0[axis] = size;
        self
    }

    /// The sizes that both shapes stretch to, where axes of size 1 stretch; `None` where they do not fit.
    /// The ranks must be equal.
    pub fn broadcast(&self, other: &Shape) -> Option<Shape> {
        if self == other {
            return Some(self.clone());
        }
        if self.rank() != other.rank() {
            return None;
        }
        let stretch = |(&a, &b): (&usize, &usize)| match (a, b) {
            (a, b) if a == b => Some(a),
            (1, n) | (n, 1) => Some(n),
            _ => None,
        };
        self.0
            .iter()
            .zip(&other.0)
            .map(stretch)
            .collect::<Option<Dims>>()
            .map(Shape)
    }

    /// Row-major strides, in elements.
    pub fn contiguous_strides(&self) -> SmallVec<[isize; 4]> {
        let mut strides: SmallVec<[isize; 4]> = smallvec::smallvec![1; self.rank()];
        for axis in (1..self.rank()).rev() {
            strides[axis - 1] = strides[axis].wrapping_mul(self.0[axis].max(1) as isize);
        }
        strides
    }

    /// The sizes as an array.
    ///
    /// # Panics
    /// If the rank is not `D`.
    pub fn dims<const D: usize>(&self) -> [usize; D] {
        self.0
            .as_slice()
            .try_into()
            .unwrap_or_else(|_| panic!("a shape of rank {} is not of rank {D}", self.rank()))
    }
}

impl Deref for Shape {
    type Target = [usize];
    #[inline]
    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl<const D: usize> From<[usize; D]> for Shape {
    fn from(dims: [usize; D]) -> Self {
        Shape(Dims::from_slice(&dims))
    }
}

impl From<&[usize]> for Shape {
    fn from(dims: &[usize]) -> Self {
        Shape(Dims::from_slice(dims))
    }
}

impl From<Vec<usize>> for Shape {
    fn from(dims: Vec<usize>) -> Self {
        Shape(Dims::from_vec(dims))
    }
}

impl From<Dims> for Shape {
    fn from(dims: Dims) -> Self {
        Shape(dims)
    }
}

impl FromIterator<usize> for Shape {
    fn from_iter<I: IntoIterator<Item = usize>>(iter: I) -> Self {
        Shape(iter.into_iter().collect())
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}
