//! Axes and shapes as arguments.

use super::Tensor;
use crate::backend::Backend;
use crate::element::Element;
use crate::error::Error;
use crate::shape::{Dims, Shape};

/// An axis of a tensor: counted from the first, or, where negative, from the last (-1).
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name an axis",
    label = "not an axis",
    note = "an axis is a `usize`, or an `isize`, `i32` or `i64`, which may count from the last (-1)"
)]
pub trait AsDim: Copy {
    /// The axis counted from the first. What lies outside the rank stays as it is, for the op to refuse.
    fn axis(self, rank: usize) -> usize;
}

impl AsDim for usize {
    fn axis(self, _: usize) -> usize {
        self
    }
}

macro_rules! signed_dim {
    ($($T:ty)*) => { $(
        impl AsDim for $T {
            fn axis(self, rank: usize) -> usize {
                let dim = self as isize;
                if (-(rank as isize)..0).contains(&dim) { (rank as isize + dim) as usize } else { dim as usize }
            }
        }
    )* };
}
signed_dim!(isize i32 i64);

impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    pub(super) fn axis(dim: impl AsDim) -> usize {
        dim.axis(D)
    }

    pub(super) fn axes(dims: &[impl AsDim]) -> Dims {
        dims.iter().map(|dim| dim.axis(D)).collect()
    }
}

/// The axes that [`Tensor::movedim`] moves, or where to: one, or an array of several.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name axes",
    label = "neither an axis nor an array of axes",
    note = "an axis is a `usize`, or an `isize`, `i32` or `i64`, which may count from the last (-1)"
)]
pub trait MovedimArgs {
    /// How many.
    const AXES: usize;

    /// The axes counted from the first.
    fn axes(self, rank: usize) -> Dims;
}

impl<T: AsDim, const N: usize> MovedimArgs for [T; N] {
    const AXES: usize = N;
    fn axes(self, rank: usize) -> Dims {
        self.iter().map(|dim| dim.axis(rank)).collect()
    }
}

impl<T: AsDim> MovedimArgs for T {
    const AXES: usize = 1;
    fn axes(self, rank: usize) -> Dims {
        smallvec::smallvec![self.axis(rank)]
    }
}

/// A shape to take on: sizes, or signed sizes of which one may be -1, for what the others leave.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape of rank {D}",
    label = "expected an array of {D} sizes",
    note = "sizes are `usize`, or `isize`, `i32` or `i64`, and as many as the rank"
)]
pub trait ReshapeArgs<const D: usize> {
    /// The sizes, for a tensor of shape `from`.
    ///
    /// # Errors
    /// If more than one size is open, or the number of elements does not allow it.
    fn sizes(self, from: &Shape) -> Result<[usize; D], Error>;
}

impl<const D: usize> ReshapeArgs<D> for [usize; D] {
    fn sizes(self, _: &Shape) -> Result<[usize; D], Error> {
        Ok(self)
    }
}

macro_rules! signed_sizes {
    ($($T:ty)*) => { $(
        impl<const D: usize> ReshapeArgs<D> for [$T; D] {
            fn sizes(self, from: &Shape) -> Result<[usize; D], Error> {
                signed_sizes(self.map(|n| n as isize), from)
            }
        }
    )* };
}
signed_sizes!(isize i32 i64);

fn signed_sizes<const D: usize>(to: [isize; D], from: &Shape) -> Result<[usize; D], Error> {
    let refuse = |message: &str| Err(Error::argument("reshape", format!("{from} to {to:?}: {message}")));
    let mut sizes = [1; D];
    let mut open = None;
    for (axis, &size) in to.iter().enumerate() {
        match size {
            -1 if open.is_some() => return refuse("only one size may be -1"),
            -1 => open = Some(axis),
            0.. => sizes[axis] = size as usize,
            _ => return refuse("a size is negative"),
        }
    }
    let Some(axis) = open else { return Ok(sizes) };
    match Shape::from(sizes).checked_elements() {
        Some(known) if known > 0 && from.num_elements().is_multiple_of(known) => {
            sizes[axis] = from.num_elements() / known
        }
        _ => return refuse("the other sizes leave no size for the axis of -1"),
    }
    Ok(sizes)
}

/// A shape to stretch to: sizes, or signed sizes of which -1 keeps an axis.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape of rank {D}",
    label = "expected an array of {D} sizes",
    note = "sizes are `usize`, or `isize`, `i32` or `i64`, and as many as the rank"
)]
pub trait ExpandArgs<const D: usize> {
    /// The sizes, for a tensor with sizes `from`.
    ///
    /// # Errors
    /// If a size is negative and not -1.
    fn sizes(self, from: &[usize; D]) -> Result<[usize; D], Error>;
}

impl<const D: usize> ExpandArgs<D> for [usize; D] {
    fn sizes(self, _: &[usize; D]) -> Result<[usize; D], Error> {
        Ok(self)
    }
}

macro_rules! expand_sizes {
    ($($T:ty)*) => { $(
        impl<const D: usize> ExpandArgs<D> for [$T; D] {
            fn sizes(self, from: &[usize; D]) -> Result<[usize; D], Error> {
                let mut sizes = *from;
                for (size, to) in sizes.iter_mut().zip(self) {
                    match usize::try_from(to) {
                        Ok(to) => *size = to,
                        Err(_) if to == -1 => {}
                        Err(_) => return Err(Error::argument("expand", format!("{self:?}: a size is negative"))),
                    }
                }
                Ok(sizes)
            }
        }
    )* };
}
expand_sizes!(isize i32 i64);
