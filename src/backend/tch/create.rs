//! New tensors.

use tch::Tensor;

use super::LibTorch;
use super::failure::Outcome;
use super::storage::{LibTorchDevice, LibTorchTensor, kind, number, sizes};
use crate::backend::failure::Failure;
use crate::backend::host;
use crate::op::{CreateOp, Meta};

pub(super) fn create(op: CreateOp, meta: &Meta, device: &LibTorchDevice) -> Outcome<LibTorchTensor> {
    match op {
        CreateOp::Full(value) => {
            let options = (kind(meta.dtype)?, device.place());
            let full = Tensor::f_full(&sizes(&meta.shape)[..], number(value, meta.dtype), options)?;
            Ok(LibTorchTensor::new(full, meta, device))
        }
        // libtorch's ranges add in the type itself, and round to half types twice.
        CreateOp::Arange { .. } | CreateOp::Uniform { .. } | CreateOp::Normal { .. } => {
            host::create::<LibTorch>(op, meta, device).map_err(Failure::Ours)
        }
    }
}
