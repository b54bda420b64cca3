//! Fused kernels.
use super::Flex;
use super::storage::FlexTensor;
use crate::error::Error;
use crate::op::{FusedOp, Meta, lower};

pub(super) fn fused(op: FusedOp<FlexTensor>, _meta: &Meta) -> Result<FlexTensor, Error> {
    lower::fused::<Flex>(op)
}
