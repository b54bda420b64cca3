//! Convolutions.
use super::storage::FlexTensor;
use crate::op::{ConvOp, Meta};

pub(super) fn conv(_op: ConvOp<FlexTensor>, _meta: &Meta) -> FlexTensor {
    todo!()
}
