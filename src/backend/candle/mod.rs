//! `Candle`: a backend on the [`candle-core`](https://docs.rs/candle-core) crate.
//!
//! What `candle` has no kernel for goes through the host (`Flex` executes it):
//!
//! | ops | why |
//! |---|---|
//! | expm1 log1p tan asin acos atan sinh cosh asinh acosh atanh sigmoid, atan2 hypot, remainder, prod, bitwise ops and shifts, powers of integers | it has none |
//! | powers by tensors | it goes by the logarithm, which a negative number has not |
//! | cumsum | it multiplies by a triangular matrix, as large as the axis squared: NaN and infinities reach the sums before them |
//! | cumprod, cummax, cummin | it has none |
//! | random numbers, `arange` | the same on every backend; candle's ranges add up |
//! | scatter and select_assign that multiply, or keep the greater or lesser | it has none |
//! | scatter and select_assign that add `i64` | it panics on overflow, where overflow checks are on |
//! | matmul of integers | it has none |
//! | convolutions over three or more axes, or with unequal strides or dilations | it has one and two axes, and one number for both |
//! | max_pool, avg_pool_grad, avg_pool over three or more axes or with dilation | it gives no indices, and no gradient for other strides than the window's size |
//! | an index out of range, an integer division by zero | the error is `Flex`'s |
//! | operands without elements whose result has some | not all of its kernels take them |
//!
//! Half types are widened to `f32` for sums, matrix products and convolutions. Arithmetic of integers on the CPU is given to
//! `candle` as kernels of its extension point: its own panics on overflow, where overflow checks are on.

use super::failure::Failure;
use super::memory::{room, room_for};
use super::{Backend, BackendTypes, Local, LocalBackend, PlainBackend, Readable, Supports, host};
use crate::data::TensorData;
use crate::element::DType;
use crate::error::{Error, Name};
use crate::op::{CreateOp, FusedOp, HasMeta, IndexOp, Meta, Op, lower};
use crate::{bf16, f16};

mod conv;
mod elementwise;
mod index;
mod integer;
mod linear;
mod movement;
mod pool;
mod reduce;
mod storage;
#[cfg(test)]
mod tests;

pub use storage::{CandleDevice, CandleTensor};
use storage::{DTYPES, contiguous, full};

/// A backend on the `candle-core` crate, for the element types that it computes with.
#[derive(Clone, Copy, Debug)]
pub struct Candle;

impl BackendTypes for Candle {
    type Device = CandleDevice;
    type Primitive = CandleTensor;
}

macro_rules! supports {
    ($($E:ty)*) => { $(
        #[diagnostic::do_not_recommend]
        impl Supports<$E> for Candle {}
    )* };
}
supports!(f64 f32 f16 bf16 i64 i32 i16 u32 u8 bool);

#[diagnostic::do_not_recommend]
impl PlainBackend for Candle {}

#[diagnostic::do_not_recommend]
impl LocalBackend for Candle {}

/// The result of an op, or nothing where `candle` has none that means the same.
type Native = Result<Option<candle_core::Tensor>, Failure>;

/// What `candle` gave.
fn native(result: candle_core::Result<candle_core::Tensor>) -> Native {
    Ok(Some(result?))
}

impl Backend for Candle {
    type Plain = Self;
    type Reach = Local;

    fn name(_: &CandleDevice) -> Name {
        "Candle".into()
    }
    fn dtypes(_: &CandleDevice) -> &[DType] {
        DTYPES
    }
    fn device(x: &CandleTensor) -> CandleDevice {
        x.device().clone()
    }
    fn same_device(a: &CandleTensor, b: &CandleTensor) -> bool {
        a.device() == b.device()
    }
    fn create(op: CreateOp, meta: &Meta, device: &CandleDevice) -> Result<CandleTensor, Error> {
        let name = op.name();
        if meta.shape.num_elements() == 0 {
            return CandleTensor::empty(meta, device.clone()).map_err(|failure| failure.of(name));
        }
        room(name, meta)?;
        match op {
            CreateOp::Full(value) => {
                let tensor =
                    full(value, meta.dtype, &meta.shape, device).map_err(|failure| failure.of(name))?;
                Ok(CandleTensor::new(tensor, meta, device.clone()))
            }
            // Random bits are the same on every backend, and so are the steps of a range: those of `candle` add up.
            CreateOp::Arange { .. } | CreateOp::Uniform { .. } | CreateOp::Normal { .. } => {
                host::create::<Candle>(op, meta, device)
            }
        }
    }
    fn upload(data: TensorData, device: &CandleDevice) -> Result<CandleTensor, Error> {
        CandleTensor::from_data(data, device.clone()).map_err(|failure| failure.of("from_data"))
    }
    fn execute(op: Op<CandleTensor>, meta: &Meta) -> Result<CandleTensor, Error> {
        room_for(&op, meta)?;
        let name = op.name();
        let (mut device, mut empty) = (None, false);
        op.visit(|x| {
            device = device.or(Some(x.device()));
            empty |= x.is_empty();
        });
        let device = device.cloned().unwrap_or_default();
        let no_result = meta.shape.contains(&0);
        if no_result && !matches!(op, Op::Index(_)) {
            return CandleTensor::empty(meta, device).map_err(|failure| failure.of(name));
        }
        let joins = matches!(op, Op::Cat(..));
        let result = if empty && !joins || no_result {
            Ok(None)
        } else {
            execute(&op, meta)
        };
        match (result.map_err(|failure| failure.of(name))?, op) {
            (Some(tensor), _) => Ok(CandleTensor::new(tensor, meta, device)),
            (None, Op::Fused(op)) => lower::fused::<Candle>(*op),
            (None, op) => host::execute::<Candle>(op, meta, &device),
        }
    }
    fn to_device(x: CandleTensor, device: &CandleDevice) -> Result<CandleTensor, Error> {
        x.to_device(device).map_err(|failure| failure.of("to_device"))
    }
    fn sync(device: &CandleDevice) -> Result<(), Error> {
        let synchronized = device.inner().synchronize();
        synchronized.map_err(|error| Failure::from(error).of("sync"))
    }
}

#[diagnostic::do_not_recommend]
impl Readable for Candle {
    fn into_data(x: CandleTensor) -> Result<TensorData, Error> {
        x.into_data().map_err(|failure| failure.of("into_data"))
    }
}

/// The axes along which `candle` walks several operands at once, at most.
const AXES: usize = 8;

/// Executes an op on operands and with a result that have elements.
fn execute(op: &Op<CandleTensor>, meta: &Meta) -> Native {
    match op {
        Op::Unary(..) | Op::Binary(..) | Op::Compare(..) | Op::Cast(..) if meta.shape.rank() > AXES => {
            flattened(op, meta)
        }
        Op::Index(index) if matches!(**index, IndexOp::Where { .. }) && meta.shape.rank() > AXES => {
            flattened(op, meta)
        }
        Op::Unary(op, x) => elementwise::unary(*op, x),
        Op::Binary(op, a, b) => elementwise::binary(*op, a, b, meta),
        Op::Compare(op, a, b) => elementwise::compare(*op, a, b, meta),
        Op::Reduce(op, x, axes) => reduce::reduce(*op, x, axes, meta),
        Op::Scan(op, ..) => reduce::scan(*op),
        Op::Move(op, x) => movement::movement(op, x, meta),
        Op::Cat(xs, axis) => movement::cat(xs, *axis),
        Op::Index(op) => index::index(op, meta),
        Op::Matmul(a, b) => linear::matmul(a, b, meta),
        Op::Conv(op) => conv::conv(op, meta),
        Op::Pool(op, x) => pool::pool(op, x, meta),
        Op::Cast(dtype, x) => elementwise::cast(x, *dtype),
        Op::Fused(op) => fused(op),
    }
}

/// Executes an element-wise op on its operands' elements in one line.
fn flattened(op: &Op<CandleTensor>, meta: &Meta) -> Native {
    let line = |dtype| Meta {
        shape: [meta.shape.num_elements()].into(),
        dtype,
    };
    let op = op.clone().try_map(|x| -> Result<_, Failure> {
        let meta_of_line = line(x.dtype());
        let stretched = elementwise::stretched(&x, &meta.shape)?;
        let tensor = contiguous(&stretched)?.flatten_all()?;
        Ok(CandleTensor::new(tensor, &meta_of_line, x.device().clone()))
    })?;
    match execute(&op, &line(meta.dtype))? {
        Some(tensor) => native(tensor.reshape(&meta.shape[..])),
        None => Ok(None),
    }
}

fn fused(op: &FusedOp<CandleTensor>) -> Native {
    use linear::widened;
    match op {
        FusedOp::Gelu { x, tanh } => {
            let (x, dtype) = (widened(x.tensor())?, x.tensor().dtype());
            native(if *tanh { x.gelu() } else { x.gelu_erf() }?.to_dtype(dtype))
        }
        FusedOp::Silu { x } => native(widened(x.tensor())?.silu()?.to_dtype(x.tensor().dtype())),
        FusedOp::Softmax { .. }
        | FusedOp::LogSoftmax { .. }
        | FusedOp::LayerNorm { .. }
        | FusedOp::Attention { .. }
        | FusedOp::CrossEntropy { .. }
        | FusedOp::Rfft { .. }
        | FusedOp::Irfft { .. }
        | FusedOp::Cfft { .. } => Ok(None),
    }
}
