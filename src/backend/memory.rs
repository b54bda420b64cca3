//! What the host's memory holds.

use std::collections::TryReserveError;
use std::hint::black_box;

use crate::error::Error;
use crate::op::{HasMeta, Meta, MoveOp, Op};
use crate::shape::Shape;

/// A request below this is not worth a question.
const SMALL: usize = 1 << 28;

/// Asks whether the result of an op can be allocated: a request that fails later would end the process.
///
/// # Errors
/// If it cannot.
pub(super) fn room_for<T>(op: &Op<T>, meta: &Meta) -> Result<(), Error> {
    use MoveOp::{Expand, Flip, Permute, Reshape, Slice};
    match op {
        // Views, which take none.
        Op::Move(Reshape(_) | Permute(_) | Expand(_) | Slice(_) | Flip(_), _) => Ok(()),
        op => room(op.name(), meta),
    }
}

/// [`room_for`] what is created, or a copy of an operand.
///
/// # Errors
/// If it cannot be allocated.
pub(crate) fn room(op: &'static str, x: &impl HasMeta) -> Result<(), Error> {
    allocatable(
        op,
        x.shape(),
        x.shape().num_elements().saturating_mul(x.dtype().size()),
    )
}

/// [`room`] for elements of `size` bytes, of which there may be more than can be counted.
///
/// # Errors
/// If they cannot be allocated.
#[cfg(feature = "candle")]
pub(super) fn room_of(op: &'static str, shape: &Shape, size: usize) -> Result<(), Error> {
    let elements = shape.checked_elements().unwrap_or(usize::MAX);
    allocatable(op, shape, elements.saturating_mul(size))
}

/// [`room_for`] so many values beside operands and result; `None` for more than can be counted.
///
/// # Errors
/// If they cannot be allocated.
pub(super) fn room_beside<T>(op: &'static str, count: Option<usize>) -> Result<(), Error> {
    let bytes = count.and_then(|count| count.checked_mul(size_of::<T>()));
    if bytes.is_some_and(|bytes| reserve(bytes).is_ok()) {
        return Ok(());
    }
    let bytes = bytes.map_or("more than 2^64".into(), |bytes| bytes.to_string());
    let message = format!("its tables take {bytes} bytes, more than can be allocated");
    Err(Error::argument(op, message))
}

fn allocatable(op: &'static str, shape: &Shape, bytes: usize) -> Result<(), Error> {
    reserve(bytes).map_err(|_| {
        let message = format!("this shape takes {bytes} bytes, more than can be allocated");
        Error::shape(op, &[shape], message)
    })
}

fn reserve(bytes: usize) -> Result<(), TryReserveError> {
    if bytes < SMALL {
        return Ok(());
    }
    let mut probe = Vec::<u8>::new();
    let reserved = probe.try_reserve_exact(bytes);
    // Else the compiler may leave both the request and its release out.
    black_box(&probe);
    reserved
}
