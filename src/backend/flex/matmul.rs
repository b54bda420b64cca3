//! Matrix products.
use super::storage::FlexTensor;
use crate::op::Meta;

pub(super) fn matmul(_a: FlexTensor, _b: FlexTensor, _meta: &Meta) -> FlexTensor {
    todo!()
}
