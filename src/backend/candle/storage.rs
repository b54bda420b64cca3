//! Devices, tensors, and how they come from the host and go back to it.

use std::fmt;
use std::sync::{Arc, LazyLock};

use candle_core::{DType as Stored, Tensor, WithDType};

use crate::backend::Device;
use crate::backend::failure::{Failure, first_line};
use crate::backend::memory::{room, room_of};
use crate::data::{Buffer, TensorData};
use crate::element::{DType, Element, Scalar};
use crate::error::Error;
use crate::op::random::KeySource;
use crate::op::{HasMeta, Meta};
use crate::shape::Shape;

/// A device of `candle`. Handles of one device are equal; each has the random stream that it or its original was made
/// with.
#[derive(Clone)]
pub struct CandleDevice(Arc<Handle>);

struct Handle {
    keys: KeySource,
    device: candle_core::Device,
}

/// A tensor of `candle`.
///
/// Truth values are stored as bytes of 0 and 1. A tensor without elements has none of `candle`'s shapes: its tensor is
/// an empty line.
#[derive(Clone)]
pub struct CandleTensor {
    tensor: Tensor,
    shape: Shape,
    dtype: DType,
    device: CandleDevice,
}

/// The element types that `candle` computes with on the CPU.
pub(super) const DTYPES: &[DType] = &[
    DType::F64,
    DType::F32,
    DType::F16,
    DType::BF16,
    DType::I64,
    DType::I32,
    DType::I16,
    DType::U32,
    DType::U8,
    DType::Bool,
];

/// Runs `$body` with `$E` naming the Rust type of a run-time `DType` that is one of `candle`'s own, and `$bool` for
/// truth values.
macro_rules! with_stored {
    ($dtype:expr, $E:ident => $body:expr, bool => $bool:expr) => {
        match $dtype {
            DType::F64 => {
                type $E = f64;
                $body
            }
            DType::F32 => {
                type $E = f32;
                $body
            }
            DType::F16 => {
                type $E = half::f16;
                $body
            }
            DType::BF16 => {
                type $E = half::bf16;
                $body
            }
            DType::I64 => {
                type $E = i64;
                $body
            }
            DType::I32 => {
                type $E = i32;
                $body
            }
            DType::I16 => {
                type $E = i16;
                $body
            }
            DType::U32 => {
                type $E = u32;
                $body
            }
            DType::U8 => {
                type $E = u8;
                $body
            }
            DType::Bool => $bool,
            other @ (DType::I8 | DType::U64 | DType::U16) => return Err(unsupported(other)),
        }
    };
}

impl CandleDevice {
    /// The CPU, with a random stream of its own.
    pub fn new(seed: u64) -> Self {
        Self::on(candle_core::Device::Cpu, seed)
    }

    /// A CUDA device, if `candle-core` was compiled with its feature `cuda`.
    ///
    /// # Errors
    /// If there is none of this number.
    pub fn cuda(ordinal: usize, seed: u64) -> Result<Self, Error> {
        Self::open("cuda", ordinal, candle_core::Device::new_cuda(ordinal), seed)
    }

    /// A Metal device, if `candle-core` was compiled with its feature `metal`.
    ///
    /// # Errors
    /// If there is none of this number.
    pub fn metal(ordinal: usize, seed: u64) -> Result<Self, Error> {
        Self::open("metal", ordinal, candle_core::Device::new_metal(ordinal), seed)
    }

    fn open(
        kind: &str,
        ordinal: usize,
        device: candle_core::Result<candle_core::Device>,
        seed: u64,
    ) -> Result<Self, Error> {
        device
            .map(|device| Self::on(device, seed))
            .map_err(|error| Error::NoDevice {
                device: format!("candle:{kind}:{ordinal}"),
                message: first_line(error),
            })
    }

    fn on(device: candle_core::Device, seed: u64) -> Self {
        let keys = KeySource::new(seed);
        CandleDevice(Arc::new(Handle { keys, device }))
    }

    pub(super) fn inner(&self) -> &candle_core::Device {
        &self.0.device
    }
}

/// The CPU, by the handle that the process shares; its random stream starts at seed 0.
impl Default for CandleDevice {
    fn default() -> Self {
        static SHARED: LazyLock<CandleDevice> = LazyLock::new(|| CandleDevice::new(0));
        SHARED.clone()
    }
}

impl fmt::Debug for CandleDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.inner().location() {
            candle_core::DeviceLocation::Cpu => f.write_str("Candle"),
            candle_core::DeviceLocation::Cuda { gpu_id } => write!(f, "Candle(cuda:{gpu_id})"),
            candle_core::DeviceLocation::Metal { gpu_id } => write!(f, "Candle(metal:{gpu_id})"),
        }
    }
}

impl PartialEq for CandleDevice {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.inner().location() == other.inner().location()
    }
}

impl Device for CandleDevice {
    fn keys(&self) -> &KeySource {
        &self.0.keys
    }
}

impl CandleTensor {
    pub(super) fn new(tensor: Tensor, meta: &Meta, device: CandleDevice) -> Self {
        CandleTensor {
            tensor,
            shape: meta.shape.clone(),
            dtype: meta.dtype,
            device,
        }
    }

    /// A tensor without elements.
    pub(super) fn empty(meta: &Meta, device: CandleDevice) -> Result<Self, Failure> {
        let tensor = Tensor::zeros(&[0][..], stored(meta.dtype)?, device.inner())?;
        Ok(Self::new(tensor, meta, device))
    }

    pub(super) fn from_data(data: TensorData, device: CandleDevice) -> Result<Self, Failure> {
        let meta = Meta {
            shape: data.shape().clone(),
            dtype: data.dtype(),
        };
        let (buffer, shape) = data.into_parts();
        if buffer.is_empty() {
            return Self::empty(&meta, device);
        }
        let (shape, place) = (&shape[..], device.inner());
        let tensor = match buffer {
            Buffer::F64(values) => Tensor::from_vec(values, shape, place)?,
            Buffer::F32(values) => Tensor::from_vec(values, shape, place)?,
            Buffer::F16(values) => Tensor::from_vec(values, shape, place)?,
            Buffer::BF16(values) => Tensor::from_vec(values, shape, place)?,
            Buffer::I64(values) => Tensor::from_vec(values, shape, place)?,
            Buffer::I32(values) => Tensor::from_vec(values, shape, place)?,
            Buffer::I16(values) => Tensor::from_vec(values, shape, place)?,
            Buffer::U32(values) => Tensor::from_vec(values, shape, place)?,
            Buffer::U8(values) => Tensor::from_vec(values, shape, place)?,
            Buffer::Bool(values) => {
                let bytes: Vec<u8> = values.into_iter().map(u8::from).collect();
                Tensor::from_vec(bytes, shape, place)?
            }
            Buffer::I8(_) | Buffer::U64(_) | Buffer::U16(_) => return Err(unsupported(meta.dtype)),
        };
        Ok(Self::new(tensor, &meta, device))
    }

    pub(super) fn into_data(self) -> Result<TensorData, Failure> {
        room("into_data", &self.meta())?;
        let line = self.tensor.flatten_all()?;
        let buffer = with_stored!(
            self.dtype, E => E::into_buffer(line.to_vec1::<E>()?),
            bool => Buffer::Bool(line.to_vec1::<u8>()?.into_iter().map(|byte| byte != 0).collect())
        );
        Ok(TensorData::from_buffer(buffer, self.shape)?)
    }

    pub(super) fn device(&self) -> &CandleDevice {
        &self.device
    }

    pub(super) fn to_device(&self, device: &CandleDevice) -> Result<Self, Failure> {
        let tensor = self.tensor.to_device(device.inner())?;
        Ok(Self::new(tensor, &self.meta(), device.clone()))
    }

    /// The tensor of `candle`, of the same shape if it has elements.
    #[inline]
    pub(super) fn tensor(&self) -> &Tensor {
        &self.tensor
    }

    pub(super) fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }
}

impl HasMeta for CandleTensor {
    fn shape(&self) -> &Shape {
        &self.shape
    }
    fn dtype(&self) -> DType {
        self.dtype
    }
}

/// Without the values: `candle` would read them.
impl fmt::Debug for CandleTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "CandleTensor({} {}, {:?})",
            self.dtype, self.shape, self.device
        )
    }
}

impl From<candle_core::Error> for Failure {
    fn from(error: candle_core::Error) -> Self {
        Failure::of_engine("Candle", error)
    }
}

/// The element type in which `candle` holds this one.
pub(super) fn stored(dtype: DType) -> Result<Stored, Failure> {
    Ok(with_stored!(dtype, E => <E as WithDType>::DTYPE, bool => Stored::U8))
}

/// One number everywhere.
pub(super) fn full(
    value: Scalar,
    dtype: DType,
    shape: &[usize],
    device: &CandleDevice,
) -> Result<Tensor, Failure> {
    let place = device.inner();
    Ok(with_stored!(
        dtype, E => Tensor::full(value.to::<E>(), shape, place)?,
        bool => Tensor::full(u8::from(value.to::<bool>()), shape, place)?
    ))
}

fn unsupported(dtype: DType) -> Failure {
    Failure::Ours(Error::Unsupported {
        backend: "Candle".into(),
        got: dtype,
        supported: DTYPES.to_vec(),
    })
}

/// The tensor in row-major order.
pub(super) fn contiguous(x: &Tensor) -> Result<Tensor, Failure> {
    if !x.is_contiguous() {
        // A stretched view may have more elements than there is memory.
        has_room(x.dims(), x.dtype())?;
    }
    Ok(x.contiguous()?)
}

/// Asks whether so many elements can be allocated.
pub(super) fn has_room(dims: &[usize], dtype: Stored) -> Result<(), Failure> {
    Ok(room_of("copy", &dims.into(), dtype.size_in_bytes())?)
}
