//! `LibTorch`: a backend on libtorch, the library of PyTorch, by the crate [`tch`](https://docs.rs/tch), on the CPU and on
//! GPUs with CUDA.
//!
//! `scripts/libtorch` installs the library for the CPU and prints how to build with it; the environment variable `LIBTORCH`
//! names the folder of any other. Its threads are as libtorch sets them (`OMP_NUM_THREADS`). Gradients are those of
//! [`Autodiff`](crate::Autodiff): nothing here asks libtorch for one.
//!
//! What is not one call of libtorch for one op, since it has none, or means another thing, or leaves open what it means:
//!
//! | op | way |
//! |---|---|
//! | random numbers, `arange` | made on the host, the same on every backend |
//! | convolution over more than three axes; windows whose padded input, or which laid out, would take many times the memory of what is given; a float `remainder` whose quotient is beyond all numbers, of which libtorch makes NaN; products of integer matrices on a GPU | `Flex` executes them on the host |
//! | `attention` to no keys, or of vectors without elements | the lowering |
//! | `flip`, a slice that goes back | a copy: libtorch has no negative strides |
//! | `sign` of NaN; float to integer; integers by 0 and -1; indices out of range | checked, or put right, by some more calls; a check waits for a GPU |
//! | `sigmoid`, `sinh`, `cosh` where they overflow on the way, `gelu` of great numbers | the same |
//! | `mean`, `prod`, `erf`, `sigmoid`, `sinh`, `cosh`, means of pools, transposed convolution, Fourier transforms of half types | in `f32`, rounded once |
//! | `topk` | a stable sort: libtorch's own takes any of equal elements |
//! | pools with padding on one side or of more than half a window; of NaN; means with dilation | views of the windows |
//! | padding on one side of a convolution | padded before |
//! | padding with copies of the tensor | parts of it, joined |
//! | the gradient of a convolution's weights | a convolution with the gradient: tch has no call for libtorch's own |
//! | writing to one place twice, on a GPU | what is written last is found first |
//! | `u16`, `u32`, `u64` | not held: libtorch hardly calculates with them |

use tch::Tensor;

use super::failure::Failure;
use super::host;
use super::memory::room_for;
use crate::backend::{Backend, BackendTypes, Local, LocalBackend, PlainBackend, Readable, Supports};
use crate::data::TensorData;
use crate::element::DType;
use crate::error::{Error, Name};
use crate::op::{CreateOp, HasMeta, IndexOp, Meta, Op};
use crate::{bf16, f16};

mod create;
mod elementwise;
mod failure;
mod fourier;
mod fused;
mod index;
mod linear;
mod movement;
mod pool;
mod reduce;
mod storage;
mod window;

use failure::Outcome;
pub use storage::{LibTorchDevice, LibTorchTensor};

/// A backend on libtorch.
#[derive(Clone, Copy, Debug)]
pub struct LibTorch;

impl BackendTypes for LibTorch {
    type Device = LibTorchDevice;
    type Primitive = LibTorchTensor;
}

macro_rules! supports {
    ($($E:ty)*) => { $(
        #[diagnostic::do_not_recommend]
        impl Supports<$E> for LibTorch {}
    )* };
}
supports!(f64 f32 f16 bf16 i64 i32 i16 i8 u8 bool);

#[diagnostic::do_not_recommend]
impl PlainBackend for LibTorch {}

#[diagnostic::do_not_recommend]
impl LocalBackend for LibTorch {}

impl Backend for LibTorch {
    type Plain = Self;
    type Reach = Local;

    fn name(_: &LibTorchDevice) -> Name {
        "LibTorch".into()
    }
    fn dtypes(_: &LibTorchDevice) -> &[DType] {
        storage::DTYPES
    }
    fn device(x: &LibTorchTensor) -> LibTorchDevice {
        x.device().clone()
    }
    fn same_device(a: &LibTorchTensor, b: &LibTorchTensor) -> bool {
        a.device() == b.device()
    }
    fn create(op: CreateOp, meta: &Meta, device: &LibTorchDevice) -> Result<LibTorchTensor, Error> {
        let name = op.name();
        device.room(name, meta)?;
        create::create(op, meta, device).map_err(|failure| failure.of(name))
    }
    fn upload(data: TensorData, device: &LibTorchDevice) -> Result<LibTorchTensor, Error> {
        LibTorchTensor::from_data(data, device).map_err(|failure| failure.of("upload"))
    }
    fn execute(op: Op<LibTorchTensor>, meta: &Meta) -> Result<LibTorchTensor, Error> {
        let name = op.name();
        if op.first().is_none_or(|x| x.device().is_cpu()) {
            room_for(&op, meta)?;
        }
        execute(op, meta).map_err(|failure| failure.of(name))
    }
    fn to_device(x: LibTorchTensor, device: &LibTorchDevice) -> Result<LibTorchTensor, Error> {
        x.moved_to(device).map_err(|failure| failure.of("to_device"))
    }
    fn sync(device: &LibTorchDevice) -> Result<(), Error> {
        if device.is_cpu() {
            return Ok(());
        }
        // What is read is waited for.
        let read = || Tensor::f_zeros([1], (tch::Kind::Float, device.place()))?.f_double_value(&[0]);
        read().map(drop).map_err(|error| Failure::from(error).of("sync"))
    }
}

#[diagnostic::do_not_recommend]
impl Readable for LibTorch {
    fn into_data(x: LibTorchTensor) -> Result<TensorData, Error> {
        x.into_data().map_err(|failure| failure.of("into_data"))
    }
}

fn execute(op: Op<LibTorchTensor>, meta: &Meta) -> Outcome<LibTorchTensor> {
    if meta.shape.contains(&0)
        && let Some(empty) = of_nothing(&op, meta)?
    {
        return Ok(empty);
    }
    match op {
        Op::Unary(op, x) => elementwise::unary(op, x, meta),
        Op::Binary(op, a, b) => elementwise::binary(op, a, b, meta),
        Op::Compare(op, a, b) => elementwise::compare(op, a, b, meta),
        Op::Reduce(op, x, axes) => reduce::reduce(op, x, &axes, meta),
        Op::Scan(op, x, axis) => reduce::scan(op, x, axis),
        Op::Move(op, x) => movement::movement(op, x, meta),
        Op::Cat(xs, axis) => movement::cat(&xs, axis, meta),
        Op::Index(op) => index::index(*op, meta),
        Op::Matmul(a, b) if a.device().is_cpu() || meta.dtype.is_float() => linear::matmul(&a, &b, meta),
        op @ Op::Matmul(..) => on_host(op, meta),
        Op::Conv(op) => linear::conv(op, meta),
        Op::Pool(op, x) => pool::pool(op, x, meta),
        Op::Cast(_, x) => elementwise::cast(x, meta),
        Op::Fused(op) => fused::fused(*op, meta),
    }
}

/// The empty result of an op that calculates; libtorch asks some for more than one.
fn of_nothing(op: &Op<LibTorchTensor>, meta: &Meta) -> Outcome<Option<LibTorchTensor>> {
    match op {
        // Views.
        Op::Move(..) => return Ok(None),
        Op::Index(op) => match &**op {
            IndexOp::Gather { x, index, axis }
            | IndexOp::Select { x, index, axis }
            | IndexOp::Scatter { x, index, axis, .. }
            | IndexOp::SelectAssign { x, index, axis, .. } => {
                let _ = index::places(op.name(), index, *axis, x.shape()[*axis])?;
            }
            IndexOp::Where { .. }
            | IndexOp::SliceAssign { .. }
            | IndexOp::ArgSort { .. }
            | IndexOp::TopK { .. } => {}
        },
        _ => {}
    }
    let Some(device) = op.first().map(LibTorchTensor::device) else {
        return Ok(None);
    };
    let options = (storage::kind(meta.dtype)?, device.place());
    let empty = Tensor::f_empty(&storage::sizes(&meta.shape)[..], options)?;
    Ok(Some(LibTorchTensor::new(empty, meta, device)))
}

fn on_host(op: Op<LibTorchTensor>, meta: &Meta) -> Outcome<LibTorchTensor> {
    let device = op.first().map(|x| x.device().clone()).unwrap_or_default();
    host::execute::<LibTorch>(op, meta, &device).map_err(Failure::Ours)
}
