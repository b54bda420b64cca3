//! Devices, and tensors that know who else holds their elements.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use half::bf16;
use half::slice::HalfFloatSliceExt;
use half::vec::HalfBitsVecExt;
use smallvec::SmallVec;
use tch::{Cuda, Kind, Tensor};

use super::failure::Outcome;
use crate::backend::Device;
use crate::backend::memory::room;
use crate::data::{Buffer, TensorData};
use crate::element::{DType, Element, Scalar};
use crate::error::Error;
use crate::op::random::KeySource;
use crate::op::{HasMeta, Meta};
use crate::shape::Shape;
use crate::with_dtype;

/// The CPU or a GPU. Handles of one place are equal; each has the random stream that it or its original was made with.
#[derive(Clone)]
pub struct LibTorchDevice {
    place: tch::Device,
    keys: Arc<KeySource>,
}

/// A tensor of libtorch. Cloning shares it.
#[derive(Clone)]
pub struct LibTorchTensor(Arc<Inner>);

struct Inner {
    handle: Handle,
    /// Of a view, the tensor whose elements it shows, which is no view itself. So elements have no other holder if a tensor
    /// is held once, and the one that it shows, by it alone.
    base: Option<Arc<Inner>>,
    meta: Meta,
    device: LibTorchDevice,
}

/// A tensor that several threads may read at once.
struct Handle(Tensor);

// SAFETY: libtorch counts references atomically, and says that calls which only read a tensor may run on several threads
// at once. A shared `Handle` gives out `&Tensor`, and this module and its siblings make nothing but reading calls by
// such a reference. What writes is called on what `LibTorchTensor::writable` gives, to whoever is the only holder of the
// elements, or on a tensor that the same function has just made, and on views of it. A view of a shared tensor must never be
// written to, which no type checks. None asks for a gradient, so that nothing is recorded beside a tensor.
unsafe impl Sync for Handle {}

impl LibTorchDevice {
    /// The CPU, by a handle with a random stream of its own.
    pub fn new(seed: u64) -> Self {
        LibTorchDevice {
            place: tch::Device::Cpu,
            keys: Arc::new(KeySource::new(seed)),
        }
    }

    /// A GPU, by a handle with a random stream of its own, from seed 0.
    ///
    /// # Errors
    /// `NoDevice` if libtorch finds no such GPU: its build for the CPU finds none.
    pub fn cuda(index: usize) -> Result<Self, Error> {
        let found = if Cuda::is_available() {
            Cuda::device_count()
        } else {
            0
        };
        if i64::try_from(index).is_ok_and(|index| index < found) {
            return Ok(LibTorchDevice {
                place: tch::Device::Cuda(index),
                ..Self::new(0)
            });
        }
        Err(Error::NoDevice {
            device: format!("tch:cuda:{index}"),
            message: match found {
                0 => {
                    "libtorch finds no GPU; it takes a build of libtorch with CUDA, and a driver for the GPU"
                        .into()
                }
                _ => format!(
                    "libtorch finds {found}, from `tch:cuda:0` to `tch:cuda:{}`",
                    found - 1
                ),
            },
        })
    }

    /// Which GPU it is, if it is one.
    pub fn index(&self) -> Option<usize> {
        match self.place {
            tch::Device::Cuda(index) => Some(index),
            _ => None,
        }
    }

    pub(super) fn place(&self) -> tch::Device {
        self.place
    }

    pub(super) fn is_cpu(&self) -> bool {
        self.place == tch::Device::Cpu
    }

    /// Asks whether so much can be allocated. A GPU's memory is not the host's: libtorch reports what it lacks.
    pub(super) fn room(&self, op: &'static str, x: &impl HasMeta) -> Result<(), Error> {
        if self.is_cpu() { room(op, x) } else { Ok(()) }
    }
}

/// The handle of the CPU that the process shares; its random stream starts at seed 0.
impl Default for LibTorchDevice {
    fn default() -> Self {
        static SHARED: LazyLock<LibTorchDevice> = LazyLock::new(|| LibTorchDevice::new(0));
        SHARED.clone()
    }
}

impl fmt::Debug for LibTorchDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            tch::Device::Cuda(index) => write!(f, "LibTorch(cuda:{index})"),
            _ => f.write_str("LibTorch"),
        }
    }
}

impl PartialEq for LibTorchDevice {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place
    }
}

impl Device for LibTorchDevice {
    fn keys(&self) -> &KeySource {
        &self.keys
    }
}

impl LibTorchTensor {
    /// A tensor whose elements nobody else holds.
    pub(super) fn new(tensor: Tensor, meta: &Meta, device: &LibTorchDevice) -> Self {
        Self::with_base(tensor, None, meta, device)
    }

    /// A tensor that may show the elements of this one.
    pub(super) fn view(&self, tensor: Tensor, meta: &Meta) -> Self {
        let base = self.0.base.as_ref().unwrap_or(&self.0);
        Self::with_base(tensor, Some(base.clone()), meta, &self.0.device)
    }

    fn with_base(tensor: Tensor, base: Option<Arc<Inner>>, meta: &Meta, device: &LibTorchDevice) -> Self {
        LibTorchTensor(Arc::new(Inner {
            handle: Handle(tensor),
            base,
            meta: meta.clone(),
            device: device.clone(),
        }))
    }

    /// The values of the host.
    pub(super) fn from_data(data: TensorData, device: &LibTorchDevice) -> Outcome<Self> {
        let (buffer, shape) = data.into_parts();
        let meta = Meta {
            shape,
            dtype: buffer.dtype(),
        };
        let line = match &buffer {
            Buffer::F64(v) => Tensor::f_from_slice(v)?,
            Buffer::F32(v) => Tensor::f_from_slice(v)?,
            Buffer::F16(v) => Tensor::f_from_slice(v)?,
            // tch takes them for `f16`: their bits as integers.
            Buffer::BF16(v) => Tensor::f_from_slice(&signed(v))?.f_view_dtype(Kind::BFloat16)?,
            Buffer::I64(v) => Tensor::f_from_slice(v)?,
            Buffer::I32(v) => Tensor::f_from_slice(v)?,
            Buffer::I16(v) => Tensor::f_from_slice(v)?,
            Buffer::I8(v) => Tensor::f_from_slice(v)?,
            Buffer::U8(v) => Tensor::f_from_slice(v)?,
            Buffer::Bool(v) => Tensor::f_from_slice(v)?,
            Buffer::U64(_) | Buffer::U32(_) | Buffer::U16(_) => return Err(unsupported(meta.dtype).into()),
        };
        // Of the CPU, and nobody else's.
        let mut tensor = line.f_reshape(&sizes(&meta.shape)[..])?;
        if !device.is_cpu() {
            tensor = tensor.f_to(device.place)?;
        }
        Ok(Self::new(tensor, &meta, device))
    }

    pub(super) fn into_data(self) -> Outcome<TensorData> {
        let Meta { shape, dtype } = &self.0.meta;
        room("into_data", &self.0.meta)?;
        let n = shape.num_elements();
        let x: &Tensor = self.tensor();
        let buffer = match dtype {
            DType::F64 => Buffer::F64(read(x, n)?),
            DType::F32 => Buffer::F32(read(x, n)?),
            DType::F16 => Buffer::F16(read(x, n)?),
            DType::BF16 => {
                let bits: Vec<i16> = read(&x.f_view_dtype(Kind::Int16)?, n)?;
                let bits: Vec<u16> = bits.into_iter().map(i16::cast_unsigned).collect();
                Buffer::BF16(bits.reinterpret_into())
            }
            DType::I64 => Buffer::I64(read(x, n)?),
            DType::I32 => Buffer::I32(read(x, n)?),
            DType::I16 => Buffer::I16(read(x, n)?),
            DType::I8 => Buffer::I8(read(x, n)?),
            DType::U8 => Buffer::U8(read(x, n)?),
            DType::Bool => Buffer::Bool(read(x, n)?),
            DType::U64 | DType::U32 | DType::U16 => return Err(unsupported(*dtype).into()),
        };
        Ok(TensorData::from_buffer(buffer, shape.clone())?)
    }

    /// The tensor by another handle of its place, or a copy in another place.
    pub(super) fn moved_to(mut self, device: &LibTorchDevice) -> Outcome<Self> {
        if self.0.device != *device {
            let copy = self.tensor().f_to(device.place)?;
            return Ok(Self::new(copy, &self.0.meta, device));
        }
        if Arc::ptr_eq(&self.0.device.keys, &device.keys) {
            return Ok(self);
        }
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.device = device.clone();
            return Ok(self);
        }
        let base = self.0.base.as_ref().unwrap_or(&self.0).clone();
        let alias = self.tensor().f_alias()?;
        Ok(Self::with_base(alias, Some(base), &self.0.meta, device))
    }

    pub(super) fn device(&self) -> &LibTorchDevice {
        &self.0.device
    }

    pub(super) fn tensor(&self) -> &Tensor {
        &self.0.handle
    }

    /// The tensor for writing, if nobody else holds its elements, and each of them once.
    pub(super) fn writable(&mut self) -> Option<&mut Tensor> {
        // Cheaper to ask than `get_mut`, and mostly the answer.
        if Arc::strong_count(&self.0) > 1 {
            return None;
        }
        let inner = Arc::get_mut(&mut self.0)?;
        if let Some(base) = &mut inner.base {
            Arc::get_mut(base)?;
        }
        // Elements that lie side by side are no stretched ones.
        inner.handle.is_contiguous().then_some(&mut inner.handle.0)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.shape().contains(&0)
    }
}

impl HasMeta for LibTorchTensor {
    fn shape(&self) -> &Shape {
        &self.0.meta.shape
    }
    fn dtype(&self) -> DType {
        self.0.meta.dtype
    }
}

/// What it is, not what it holds.
impl fmt::Debug for LibTorchTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LibTorchTensor({} {})", self.dtype(), self.shape())
    }
}

impl Deref for Handle {
    type Target = Tensor;
    fn deref(&self) -> &Tensor {
        &self.0
    }
}

/// The element types that libtorch calculates with.
pub(super) const DTYPES: &[DType] = &[
    DType::F64,
    DType::F32,
    DType::F16,
    DType::BF16,
    DType::I64,
    DType::I32,
    DType::I16,
    DType::I8,
    DType::U8,
    DType::Bool,
];

/// What libtorch calls an element type.
///
/// # Errors
/// If it does not calculate with it.
pub(super) fn kind(dtype: DType) -> Result<Kind, Error> {
    Ok(match dtype {
        DType::F64 => Kind::Double,
        DType::F32 => Kind::Float,
        DType::F16 => Kind::Half,
        DType::BF16 => Kind::BFloat16,
        DType::I64 => Kind::Int64,
        DType::I32 => Kind::Int,
        DType::I16 => Kind::Int16,
        DType::I8 => Kind::Int8,
        DType::U8 => Kind::Uint8,
        DType::Bool => Kind::Bool,
        DType::U64 | DType::U32 | DType::U16 => return Err(unsupported(dtype)),
    })
}

/// The sizes, as libtorch has them; none that `infer` has admitted is too large.
pub(super) fn sizes(sizes: &[usize]) -> SmallVec<[i64; 6]> {
    sizes.iter().map(|&n| n as i64).collect()
}

/// A number as an element, as libtorch takes it.
pub(super) fn number(scalar: Scalar, dtype: DType) -> tch::Scalar {
    match with_dtype!(dtype, E => scalar.to::<E>().to_scalar()) {
        Scalar::Float(v) => tch::Scalar::float(v),
        Scalar::Int(v) => tch::Scalar::int(v),
        Scalar::UInt(v) => tch::Scalar::int(v as i64),
        Scalar::Bool(v) => tch::Scalar::int(v.into()),
    }
}

fn unsupported(dtype: DType) -> Error {
    Error::Unsupported {
        backend: "LibTorch".into(),
        got: dtype,
        supported: DTYPES.to_vec(),
    }
}

fn read<E: Element + tch::kind::Element>(x: &Tensor, n: usize) -> Outcome<Vec<E>> {
    let mut values = vec![E::default(); n];
    x.f_copy_data(&mut values, n)?;
    Ok(values)
}

fn signed(values: &[bf16]) -> Vec<i16> {
    values
        .reinterpret_cast()
        .iter()
        .map(|&bits| bits.cast_signed())
        .collect()
}
