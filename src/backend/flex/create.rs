//! New tensors.

use super::parallel::collect;
use super::storage::{FlexDevice, FlexTensor};
use crate::element::{DType, Element, Scalar};
use crate::op::random::{normal_f32, normal_f64, scale_f32, scale_f64, uniform_f32, uniform_f64};
use crate::op::{CreateOp, Meta};
use crate::{bf16, f16, with_dtype};

/// How many times longer than an addition a random value takes.
const RANDOM: usize = 16;

pub(super) fn create(op: CreateOp, meta: &Meta, device: &FlexDevice) -> FlexTensor {
    match op {
        CreateOp::Full(value) => with_dtype!(meta.dtype, E => full::<E>(value, meta, device)),
        CreateOp::Arange { start, step } => arange(start, step, meta, device),
        CreateOp::Uniform { low, high, key } => {
            let narrow =
                |first, len| uniform_f32(key, first, len).map(|u| scale_f32(u, low, high, meta.dtype));
            let wide = |first, len| uniform_f64(key, first, len).map(|u| scale_f64(u, low, high));
            random(narrow, wide, meta, device)
        }
        CreateOp::Normal { mean, std, key } => {
            let (mean32, std32) = (mean as f32, std as f32);
            let narrow = |first, len| normal_f32(key, first, len).map(move |z| mean32 + std32 * z);
            let wide = |first, len| normal_f64(key, first, len).map(move |z| mean + std * z);
            random(narrow, wide, meta, device)
        }
    }
}

fn full<E: Element>(value: Scalar, meta: &Meta, device: &FlexDevice) -> FlexTensor {
    let values = vec![value.to::<E>(); meta.shape.num_elements()];
    FlexTensor::from_vec(values, meta.shape.clone(), device.clone())
}

fn arange(start: Scalar, step: Scalar, meta: &Meta, device: &FlexDevice) -> FlexTensor {
    macro_rules! integers {
        ($T:ty) => {{
            let (start, step) = (start.to::<$T>(), step.to::<$T>());
            indexed(meta, device, 1, |i| {
                start.wrapping_add((i as $T).wrapping_mul(step))
            })
        }};
    }
    macro_rules! floats {
        ($T:ty) => {{
            let (start, step) = (start.to::<f64>(), step.to::<f64>());
            indexed(meta, device, 1, |i| {
                <$T>::from_scalar(Scalar::Float(start + i as f64 * step))
            })
        }};
    }
    match meta.dtype {
        DType::F64 => floats!(f64),
        DType::F32 => floats!(f32),
        DType::F16 => floats!(f16),
        DType::BF16 => floats!(bf16),
        DType::I64 => integers!(i64),
        DType::I32 => integers!(i32),
        DType::I16 => integers!(i16),
        DType::I8 => integers!(i8),
        DType::U64 => integers!(u64),
        DType::U32 => integers!(u32),
        DType::U16 => integers!(u16),
        DType::U8 => integers!(u8),
        DType::Bool => refused(DType::Bool),
    }
}

fn indexed<E: Element>(
    meta: &Meta,
    device: &FlexDevice,
    weight: usize,
    f: impl Fn(usize) -> E + Sync,
) -> FlexTensor {
    let values = collect(meta.shape.num_elements(), weight, |start, out| {
        let end = start + out.len();
        out.extend((start..end).map(&f));
    });
    FlexTensor::from_vec(values, meta.shape.clone(), device.clone())
}

/// Values by the generators of both widths, which give elements from a place on; narrower types round those of `f32`.
fn random<N, W>(
    narrow: impl Fn(usize, usize) -> N + Sync,
    wide: impl Fn(usize, usize) -> W + Sync,
    meta: &Meta,
    device: &FlexDevice,
) -> FlexTensor
where
    N: Iterator<Item = f32>,
    W: Iterator<Item = f64>,
{
    match meta.dtype {
        DType::F64 => generated(meta, device, wide),
        DType::F32 => generated(meta, device, narrow),
        DType::F16 => generated(meta, device, |first, len| narrow(first, len).map(f16::from_f32)),
        DType::BF16 => generated(meta, device, |first, len| narrow(first, len).map(bf16::from_f32)),
        other => refused(other),
    }
}

fn generated<E: Element, I: Iterator<Item = E>>(
    meta: &Meta,
    device: &FlexDevice,
    generator: impl Fn(usize, usize) -> I + Sync,
) -> FlexTensor {
    let values = collect(meta.shape.num_elements(), RANDOM, |start, out| {
        let len = out.len();
        out.extend(generator(start, len));
    });
    FlexTensor::from_vec(values, meta.shape.clone(), device.clone())
}

fn refused(dtype: DType) -> ! {
    unreachable!("`infer_create` refuses {dtype} here")
}
