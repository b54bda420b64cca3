//! What the host's memory holds.

use std::hint::black_box;

use crate::error::Error;
use crate::op::{Meta, MoveOp, Op};

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

/// [`room_for`] what is created.
///
/// # Errors
/// If it cannot be allocated.
pub(crate) fn room(op: &'static str, meta: &Meta) -> Result<(), Error> {
    room_beside(op, meta, 0)
}

/// [`room`] for a result and so many bytes that computing it takes.
///
/// # Errors
/// If they cannot be allocated.
pub(crate) fn room_beside(op: &'static str, meta: &Meta, beside: usize) -> Result<(), Error> {
    let bytes = (meta.shape.num_elements() * meta.dtype.size()).saturating_add(beside);
    if bytes < SMALL {
        return Ok(());
    }
    let mut probe = Vec::<u8>::new();
    let reserved = probe.try_reserve_exact(bytes);
    // Else the compiler may leave both the request and its release out.
    black_box(&probe);
    reserved.map_err(|_| {
        let message = format!("the result takes {bytes} bytes, more than can be allocated");
        Error::shape(op, &[&meta.shape], message)
    })
}
