//! New tensors.

use half::{bf16, f16};
use ndarray::ArrayD;

use super::number::{Number, with_int};
use super::storage::{Held, Values, dims, from_vec, owned};
use crate::element::{DType, Scalar};
use crate::op::{CreateOp, Meta, random};
use crate::shape::Shape;
use crate::with_dtype;

pub(super) fn create(op: CreateOp, meta: &Meta) -> Values {
    let shape = &meta.shape;
    let n = shape.num_elements();
    match op {
        CreateOp::Full(value) => {
            with_dtype!(meta.dtype, E => owned(ArrayD::from_elem(dims(shape), value.to::<E>())))
        }
        CreateOp::Arange { start, step } => with_int!(
            meta.dtype, E => arange::<E>(start, step, n),
            _ => {
                let (start, step) = (start.to::<f64>(), step.to::<f64>());
                floats(meta.dtype, shape, (0..n).map(|i| start + i as f64 * step))
            }
        ),
        CreateOp::Uniform { low, high, key } => match meta.dtype {
            DType::F64 => {
                let values = random::uniform_f64(key, 0, n).map(|u| random::scale_f64(u, low, high));
                from_vec(values.collect(), shape)
            }
            dtype => {
                let values = random::uniform_f32(key, 0, n).map(|u| random::scale_f32(u, low, high, dtype));
                floats(dtype, shape, values.map(f64::from))
            }
        },
        CreateOp::Normal { mean, std, key } => match meta.dtype {
            DType::F64 => from_vec(
                random::normal_f64(key, 0, n).map(|z| std * z + mean).collect(),
                shape,
            ),
            dtype => {
                let (mean, std) = (mean as f32, std as f32);
                let values = random::normal_f32(key, 0, n).map(|z| std * z + mean);
                floats(dtype, shape, values.map(f64::from))
            }
        },
    }
}

fn arange<E: Number>(start: Scalar, step: Scalar, n: usize) -> Values {
    let (start, step) = (start.to::<E>(), step.to::<E>());
    // Repeated addition is exact: integers wrap.
    let values = std::iter::successors(Some(start), |&value| Some(E::add(value, step)));
    from_vec(values.take(n).collect(), &Shape::from([n]))
}

/// Rounds to a float type.
fn floats(dtype: DType, shape: &Shape, values: impl Iterator<Item = f64>) -> Values {
    fn rounded<E: Held>(shape: &Shape, values: impl Iterator<Item = f64>) -> Values {
        from_vec(values.map(|v| E::from_scalar(Scalar::Float(v))).collect(), shape)
    }
    match dtype {
        DType::F64 => rounded::<f64>(shape, values),
        DType::F32 => rounded::<f32>(shape, values),
        DType::F16 => rounded::<f16>(shape, values),
        DType::BF16 => rounded::<bf16>(shape, values),
        other => unreachable!("`infer` admits floats only, not {other}"),
    }
}
