//! The way through the host, for what an engine has no kernel for: operands are read, `Flex` executes, the result is uploaded.

use super::{
    Backend, Readable, Route,
    flex::{Flex, FlexDevice},
    note,
};
use crate::error::Error;
use crate::op::{CreateOp, Meta, Op};

/// Creates what all backends create alike: random numbers, and lines whose every number is rounded once.
pub(super) fn create<B: Readable>(
    op: CreateOp,
    meta: &Meta,
    device: &B::Device,
) -> Result<B::Primitive, Error> {
    let values = Flex::create(op, meta, &FlexDevice::default())?;
    B::upload(Flex::into_data(values)?, device)
}

/// Executes a validated op of another backend on `Flex`.
pub(super) fn execute<B: Readable>(
    op: Op<B::Primitive>,
    meta: &Meta,
    device: &B::Device,
) -> Result<B::Primitive, Error> {
    note(Route::Host);
    let host = FlexDevice::default();
    let op = op.try_map(|x| Flex::upload(B::into_data(x)?, &host))?;
    B::upload(Flex::into_data(Flex::execute(op, meta)?)?, device)
}
