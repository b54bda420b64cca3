//! `Flex`: the default backend, in pure Rust.
//!
//! Movement ops give views; every other op writes a fresh contiguous buffer, or the buffer of an operand that nobody
//! else holds.

use super::memory::{room, room_for};
use crate::backend::{Backend, BackendTypes, Local, LocalBackend, PlainBackend, Readable, Supports};
use crate::data::TensorData;
use crate::element::{DType, Element};
use crate::error::{Error, Name};
use crate::op::{CreateOp, IndexOp, Meta, Op};
use crate::with_dtype;

mod conv;
mod copy;
mod create;
mod elementwise;
mod fourier;
mod fused;
mod gemm;
mod index;
mod matmul;
mod movement;
mod number;
mod parallel;
mod pool;
mod reduce;
mod simd;
mod sort;
mod source;
mod storage;
#[cfg(test)]
mod testing;
mod windows;

pub use storage::{FlexDevice, FlexTensor};

/// The default backend: pure Rust, on the CPU, for every element type.
#[derive(Clone, Copy, Debug)]
pub struct Flex;

impl BackendTypes for Flex {
    type Device = FlexDevice;
    type Primitive = FlexTensor;
}

#[diagnostic::do_not_recommend]
impl<E: Element> Supports<E> for Flex {}

#[diagnostic::do_not_recommend]
impl PlainBackend for Flex {}

#[diagnostic::do_not_recommend]
impl LocalBackend for Flex {}

impl Backend for Flex {
    type Plain = Self;
    type Reach = Local;

    fn name(_: &FlexDevice) -> Name {
        "Flex".into()
    }
    fn dtypes(_: &FlexDevice) -> &[DType] {
        DType::ALL
    }
    fn device(x: &FlexTensor) -> FlexDevice {
        x.device().clone()
    }
    #[inline]
    fn same_device(_: &FlexTensor, _: &FlexTensor) -> bool {
        true
    }
    fn create(op: CreateOp, meta: &Meta, device: &FlexDevice) -> Result<FlexTensor, Error> {
        room(op.name(), meta)?;
        Ok(create::create(op, meta, device))
    }
    fn upload(data: TensorData, device: &FlexDevice) -> Result<FlexTensor, Error> {
        let (buffer, shape) = data.into_parts();
        Ok(FlexTensor::new(buffer, shape, device.clone()))
    }
    fn execute(op: Op<FlexTensor>, meta: &Meta) -> Result<FlexTensor, Error> {
        // Beside an axis of size 0 there is no bound on the others, nor on the work to find nothing. An index is checked.
        if meta.shape.num_elements() == 0 && !matches!(op, Op::Index(_)) {
            let device = Flex::device(op.first().expect("`infer` accepts no op without a tensor"));
            return Ok(
                with_dtype!(meta.dtype, E => FlexTensor::from_vec(Vec::<E>::new(), meta.shape.clone(), device)),
            );
        }
        room_for(&op, meta)?;
        room_for_copies(&op)?;
        Ok(match op {
            Op::Unary(op, x) => elementwise::unary(op, x),
            Op::Binary(op, a, b) => elementwise::binary(op, a, b, meta)?,
            Op::Compare(op, a, b) => elementwise::compare(op, a, b, meta),
            Op::Reduce(op, x, axes) => reduce::reduce(op, x, &axes, meta),
            Op::Scan(op, x, axis) => reduce::scan(op, x, axis),
            Op::Move(op, x) => movement::movement(op, x, meta),
            Op::Cat(xs, axis) => movement::cat(xs, axis, meta),
            Op::Index(op) => match *op {
                IndexOp::Where {
                    cond,
                    on_true,
                    on_false,
                } => elementwise::choose(cond, on_true, on_false, meta),
                IndexOp::ArgSort { x, axis, descending } => sort::argsort(x, axis, descending),
                IndexOp::TopK { x, axis, k, largest } => sort::topk(x, axis, k, largest),
                op => index::index(op, meta)?,
            },
            Op::Matmul(a, b) => matmul::matmul(a, b, meta),
            Op::Conv(op) => conv::conv(*op, meta)?,
            Op::Pool(op, x) => pool::pool(*op, x, meta)?,
            Op::Cast(dtype, x) => elementwise::cast(x, dtype),
            Op::Fused(op) => fused::fused(*op, meta)?,
        })
    }
    fn to_device(x: FlexTensor, device: &FlexDevice) -> Result<FlexTensor, Error> {
        Ok(x.with_device(device.clone()))
    }
    fn sync(_: &FlexDevice) -> Result<(), Error> {
        Ok(())
    }
}

/// Asks whether the operands that may be copied can be: an expanded view may be far larger than its buffer.
fn room_for_copies(op: &Op<FlexTensor>) -> Result<(), Error> {
    // The others copy none, or give a result as large.
    if !matches!(
        op,
        Op::Reduce(..) | Op::Scan(..) | Op::Matmul(..) | Op::Conv(_) | Op::Pool(..) | Op::Fused(_)
    ) {
        return Ok(());
    }
    let mut result = Ok(());
    op.visit(|x| {
        if result.is_ok() && !x.layout().is_contiguous() {
            result = room(op.name(), x);
        }
    });
    result
}

#[diagnostic::do_not_recommend]
impl Readable for Flex {
    fn into_data(x: FlexTensor) -> Result<TensorData, Error> {
        x.into_data()
    }
}
