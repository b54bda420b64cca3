//! New tensors: constants and lines by libtorch, random numbers by the generator that all backends share.

use tch::{Kind, Tensor};

use super::failure::Outcome;
use super::storage::{LibTorchDevice, LibTorchTensor, kind, number, sizes};
use crate::data::{Buffer, TensorData};
use crate::element::{DType, Element, Scalar};
use crate::op::{CreateOp, Meta, random};
use crate::with_dtype;

pub(super) fn create(op: CreateOp, meta: &Meta, device: &LibTorchDevice) -> Outcome<LibTorchTensor> {
    let dtype = meta.dtype;
    let n = meta.shape.num_elements();
    let options = (kind(dtype)?, device.place());
    let random = match op {
        CreateOp::Full(value) => {
            let full = Tensor::f_full(&sizes(&meta.shape)[..], number(value, dtype), options)?;
            return Ok(LibTorchTensor::new(full, meta, device));
        }
        CreateOp::Arange { start, step } if dtype.is_int() => {
            // Wraps to any integer type.
            let [start, step]: [i64; 2] =
                with_dtype!(dtype, E => [start, step].map(|s| s.to::<E>().to_scalar().to()));
            let line = Tensor::f_arange(n as i64, (Kind::Int64, device.place()))?;
            let line = line
                .f_mul_scalar(step)?
                .f_add_scalar(start)?
                .f_totype(options.0)?;
            return Ok(LibTorchTensor::new(line, meta, device));
        }
        CreateOp::Arange { start, step } if matches!(dtype, DType::F64 | DType::F32) => {
            // Rounded once, from `f64`.
            let line = Tensor::f_arange(n as i64, (Kind::Double, device.place()))?;
            let (start, step): (f64, f64) = (start.to(), step.to());
            let line = line
                .f_mul_scalar(step)?
                .f_add_scalar(start)?
                .f_totype(options.0)?;
            return Ok(LibTorchTensor::new(line, meta, device));
        }
        // libtorch rounds to half types twice.
        CreateOp::Arange { start, step } => {
            let (start, step): (f64, f64) = (start.to(), step.to());
            floats(dtype, (0..n).map(|i| start + i as f64 * step))
        }
        CreateOp::Uniform { low, high, key } => match dtype {
            DType::F64 => floats(
                dtype,
                random::uniform_f64(key, 0, n).map(|u| random::scale_f64(u, low, high)),
            ),
            _ => floats(
                dtype,
                random::uniform_f32(key, 0, n).map(|u| random::scale_f32(u, low, high, dtype).into()),
            ),
        },
        CreateOp::Normal { mean, std, key } => match dtype {
            DType::F64 => floats(dtype, random::normal_f64(key, 0, n).map(|z| std * z + mean)),
            _ => {
                let (mean, std) = (mean as f32, std as f32);
                floats(
                    dtype,
                    random::normal_f32(key, 0, n).map(|z| (std * z + mean).into()),
                )
            }
        },
    };
    LibTorchTensor::from_data(TensorData::from_buffer(random, meta.shape.clone())?, device)
}

/// Values rounded to a float type.
fn floats(dtype: DType, values: impl Iterator<Item = f64>) -> Buffer {
    with_dtype!(dtype, E => E::into_buffer(values.map(|v| E::from_scalar(Scalar::Float(v))).collect()))
}
