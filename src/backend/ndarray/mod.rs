//! `NdArray`: a backend on the [`ndarray`](https://docs.rs/ndarray) crate, single-threaded and portable.
//!
//! Movement ops give views where `ndarray` has them; an op reuses the array of an operand that nobody else holds. Half
//! types have no arithmetic in `ndarray`: what computes on them does so in `f32`.

use crate::backend::{Backend, BackendTypes, Local, LocalBackend, PlainBackend, Readable, Supports};
use crate::data::TensorData;
use crate::element::{DType, Element};
use crate::error::{Error, Name};
use crate::op::{Arg, CreateOp, HasMeta, IndexOp, Meta, Op, ScatterMode, lower};
use crate::with_dtype;

mod conv;
mod create;
mod elementwise;
mod index;
mod linear;
mod movement;
mod number;
mod pool;
mod reduce;
mod rows;
mod storage;
#[cfg(test)]
mod tests;
mod window;

pub use storage::{NdArrayDevice, NdArrayTensor};

/// A backend on the `ndarray` crate, on the CPU, for every element type.
#[derive(Clone, Copy, Debug)]
pub struct NdArray;

impl BackendTypes for NdArray {
    type Device = NdArrayDevice;
    type Primitive = NdArrayTensor;
}

#[diagnostic::do_not_recommend]
impl<E: Element> Supports<E> for NdArray {}

#[diagnostic::do_not_recommend]
impl PlainBackend for NdArray {}

#[diagnostic::do_not_recommend]
impl LocalBackend for NdArray {}

impl Backend for NdArray {
    type Plain = Self;
    type Reach = Local;

    fn name(_: &NdArrayDevice) -> Name {
        "NdArray".into()
    }
    fn dtypes(_: &NdArrayDevice) -> &[DType] {
        DType::ALL
    }
    fn device(x: &NdArrayTensor) -> NdArrayDevice {
        x.device().clone()
    }
    fn same_device(_: &NdArrayTensor, _: &NdArrayTensor) -> bool {
        true
    }
    fn create(op: CreateOp, meta: &Meta, device: &NdArrayDevice) -> Result<NdArrayTensor, Error> {
        if meta.shape.num_elements() == 0 {
            return Ok(NdArrayTensor::empty(meta, device.clone()));
        }
        let values = create::create(op, meta);
        Ok(NdArrayTensor::new(values, meta.shape.clone(), device.clone()))
    }
    fn upload(data: TensorData, device: &NdArrayDevice) -> Result<NdArrayTensor, Error> {
        Ok(NdArrayTensor::from_data(data, device.clone()))
    }
    fn execute(op: Op<NdArrayTensor>, meta: &Meta) -> Result<NdArrayTensor, Error> {
        if let Some(half) = half_operand(&op)
            && computes(&op)
        {
            return in_f32(op, half, meta);
        }
        let mut device = None;
        op.visit(|x| device = Some(x.device().clone()));
        let device = device.unwrap_or_default();
        if meta.shape.num_elements() == 0 {
            if let Op::Index(op) = &op {
                index::check(op)?;
            }
            return Ok(NdArrayTensor::empty(meta, device));
        }
        let values = match op {
            Op::Unary(op, x) => elementwise::unary(op, x),
            Op::Binary(op, a, b) => elementwise::binary(op, a, b, meta)?,
            Op::Compare(op, a, b) => elementwise::compare(op, a, b),
            Op::Reduce(op, x, axes) => reduce::reduce(op, x, &axes, meta),
            Op::Scan(op, x, axis) => reduce::scan(op, x, axis),
            Op::Move(op, x) => movement::movement(op, x, meta),
            Op::Cat(xs, axis) => movement::cat(&xs, axis, meta),
            Op::Index(op) => index::index(*op, meta)?,
            Op::Matmul(a, b) => linear::matmul(&a, &b, meta),
            Op::Conv(op) => conv::conv(&op, meta)?,
            Op::Pool(op, x) => pool::pool(&op, &x, meta),
            Op::Cast(dtype, x) => elementwise::cast(x, dtype),
            Op::Fused(op) => return lower::fused::<NdArray>(*op),
        };
        Ok(NdArrayTensor::new(values, meta.shape.clone(), device))
    }
    fn to_device(x: NdArrayTensor, device: &NdArrayDevice) -> Result<NdArrayTensor, Error> {
        Ok(x.with_device(device.clone()))
    }
    fn sync(_: &NdArrayDevice) -> Result<(), Error> {
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl Readable for NdArray {
    fn into_data(x: NdArrayTensor) -> Result<TensorData, Error> {
        x.into_data()
    }
}

/// Whether an op calculates with floats, where others only move, choose or convert them.
fn computes<T>(op: &Op<T>) -> bool {
    match op {
        Op::Index(op) => match **op {
            IndexOp::Scatter { mode, .. } | IndexOp::SelectAssign { mode, .. } => mode != ScatterMode::Set,
            IndexOp::ArgSort { .. } | IndexOp::TopK { .. } => true,
            _ => false,
        },
        Op::Move(..) | Op::Cat(..) | Op::Cast(..) => false,
        _ => true,
    }
}

fn half_operand(op: &Op<NdArrayTensor>) -> Option<DType> {
    let mut half = None;
    op.visit(|x| half = half.or(Some(x.dtype()).filter(|&dtype| dtype.widened() != dtype)));
    half
}

/// Executes an op on operands of a half type in `f32`, and rounds the result.
fn in_f32(op: Op<NdArrayTensor>, half: DType, meta: &Meta) -> Result<NdArrayTensor, Error> {
    let convert = |x: NdArrayTensor, dtype| {
        let (shape, device) = (x.shape().clone(), x.device().clone());
        NdArrayTensor::new(elementwise::cast(x, dtype), shape, device)
    };
    let rounded = |arg: Arg<NdArrayTensor>| match arg {
        Arg::Scalar(s) => Arg::Scalar(with_dtype!(half, E => s.to::<E>().to_scalar())),
        tensor => tensor,
    };
    let op = match op {
        Op::Binary(op, a, b) => Op::Binary(op, rounded(a), rounded(b)),
        Op::Compare(op, a, b) => Op::Compare(op, rounded(a), rounded(b)),
        op => op,
    };
    let result = Meta {
        shape: meta.shape.clone(),
        dtype: meta.dtype.widened(),
    };
    let y = NdArray::execute(
        op.map(|x| {
            let dtype = x.dtype().widened();
            convert(x, dtype)
        }),
        &result,
    )?;
    Ok(convert(y, meta.dtype))
}
