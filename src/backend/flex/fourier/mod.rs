//! Fourier transforms of the last axis. Half types are computed in `f32` and rounded once.

use std::convert::Infallible;

use smallvec::SmallVec;

use super::elementwise::cast;
use super::storage::FlexTensor;
use crate::backend::memory::{room, room_beside};
use crate::element::DType;
use crate::error::Error;
use crate::op::{FusedOp, HasMeta, Meta};

mod plan;
mod stages;
#[cfg(test)]
mod tests;
mod transform;

use transform::{Float, Transform};

/// Runs one of the three transforms.
pub(super) fn fourier(op: FusedOp<FlexTensor>, meta: &Meta) -> Result<FlexTensor, Error> {
    match meta.dtype {
        DType::F64 => typed::<f64>(op, meta),
        DType::F32 => typed::<f32>(op, meta),
        dtype => {
            let name = op.name();
            let wide = |x: &Meta| {
                let meta = Meta {
                    dtype: DType::F32,
                    ..x.clone()
                };
                room(name, &meta).map(|()| meta)
            };
            let op = op.try_map(&mut |x| wide(&x.meta()).map(|_| cast(x, DType::F32)))?;
            Ok(cast(typed::<f32>(op, &wide(meta)?)?, dtype))
        }
    }
}

fn typed<F: Float>(op: FusedOp<FlexTensor>, meta: &Meta) -> Result<FlexTensor, Error> {
    let name = op.name();
    let elements = meta.shape.num_elements();
    let width = meta.shape[meta.shape.rank() - 1];
    let (len, of_real, parts) = match &op {
        FusedOp::Rfft { x } => (length(x), true, 2),
        FusedOp::Irfft { n, .. } => (*n, true, 1),
        FusedOp::Cfft { re, .. } => (length(re), false, 2),
        op => unreachable!("`{}` is no Fourier transform", op.name()),
    };
    let rows = elements / (parts * width);
    room_beside::<F>(name, len.checked_mul(Transform::<F>::numbers(len)))?;
    let transform = Transform::<F>::get(len, of_real, rows);
    let mut operands = SmallVec::<[FlexTensor; 2]>::new();
    let Ok(op) = op.try_map(&mut |x| {
        operands.push(x.into_contiguous());
        Ok::<_, Infallible>(operands.len() - 1)
    });
    let of = |i: usize| operands[i].in_order();
    let out = transform.run([parts, rows, width], &|block, room| match op {
        FusedOp::Irfft { re, im, .. } => transform.to_real(of(re), of(im), block, room),
        FusedOp::Cfft { re, im, inverse } => transform.complex(of(re), of(im), inverse, block, room),
        _ => transform.real(of(0), block, room),
    });
    Ok(operands[0].like_shape(out, &meta.shape))
}

fn length(x: &FlexTensor) -> usize {
    x.shape().last().copied().expect("`infer` asks for an axis")
}
