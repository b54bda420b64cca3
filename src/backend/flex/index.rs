//! Reading and writing by index.
use super::storage::FlexTensor;
use crate::error::Error;
use crate::op::{IndexOp, Meta};

pub(super) fn index(_op: IndexOp<FlexTensor>, _meta: &Meta) -> Result<FlexTensor, Error> {
    todo!()
}
