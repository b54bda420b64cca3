//! A backend of this crate's own: dense tensors on the host, and naive loops for what a small network needs. Whatever has
//! no loop here is an `Err`.

use std::sync::Arc;

use keyway::backend::{Backend, BackendTypes};
use keyway::op::random::KeySource;
use keyway::op::{Arg, CreateOp, HasMeta, Meta, MoveOp, Op, ReduceOp, lower, random};
use keyway::{
    DType, Device, Element, Error, Local, LocalBackend, Name, PlainBackend, Readable, Shape, Supports,
    TensorData,
};

mod loops;

/// The backend.
#[derive(Clone, Copy, Debug)]
pub struct Host;

/// The only place there is.
#[derive(Clone, Debug)]
pub struct HostDevice(Arc<KeySource>);

/// A tensor in row-major order.
#[derive(Clone, Debug)]
pub struct HostTensor {
    data: Arc<TensorData>,
    device: HostDevice,
}

impl BackendTypes for Host {
    type Device = HostDevice;
    type Primitive = HostTensor;
}

impl<E: Element> Supports<E> for Host {}
impl PlainBackend for Host {}
impl LocalBackend for Host {}

impl Backend for Host {
    type Plain = Self;
    type Reach = Local;

    fn name(_: &HostDevice) -> Name {
        "Host".into()
    }
    fn dtypes(_: &HostDevice) -> &[DType] {
        DType::ALL
    }
    fn device(x: &HostTensor) -> HostDevice {
        x.device.clone()
    }
    fn create(op: CreateOp, meta: &Meta, device: &HostDevice) -> Result<HostTensor, Error> {
        let len = meta.shape.num_elements();
        let values: Vec<f32> = match op {
            CreateOp::Full(value) => vec![value.to(); len],
            CreateOp::Uniform { low, high, key } if meta.dtype == DType::F32 => {
                random::uniform_f32(key, 0, len)
                    .map(|unit| random::scale_f32(unit, low, high, DType::F32))
                    .collect()
            }
            other => return Err(no_loop(other.name(), meta)),
        };
        let data = TensorData::new(values, meta.shape.clone())?.cast(meta.dtype);
        Self::upload(data, device)
    }
    fn upload(data: TensorData, device: &HostDevice) -> Result<HostTensor, Error> {
        Ok(HostTensor {
            data: Arc::new(data),
            device: device.clone(),
        })
    }
    fn execute(op: Op<HostTensor>, meta: &Meta) -> Result<HostTensor, Error> {
        let mut device = None;
        op.visit(|x| device = Some(x.device.clone()));
        let name = op.name();
        let values = match op {
            Op::Unary(op, x) => loops::unary(op, x.values()?),
            Op::Binary(op, a, b) => {
                let (a, b) = (stretched(&a, &meta.shape)?, stretched(&b, &meta.shape)?);
                loops::binary(op, a, b)
            }
            Op::Reduce(ReduceOp::Sum, x, _) => loops::sum(x.values()?, x.shape(), &meta.shape),
            Op::Reduce(ReduceOp::Mean, x, _) => loops::mean(x.values()?, x.shape(), &meta.shape),
            Op::Move(MoveOp::Reshape(_), x) => x.values()?.to_vec(),
            Op::Move(MoveOp::Expand(_), x) => loops::expand(x.values()?, x.shape(), &meta.shape).collect(),
            Op::Move(MoveOp::Permute(_), x) if x.shape().rank() == 2 => {
                loops::transpose(x.values()?, x.shape())
            }
            Op::Matmul(a, b) if meta.shape.rank() == 2 => {
                loops::matmul(a.values()?, b.values()?, &meta.shape)
            }
            Op::Fused(op) => return lower::fused::<Self>(*op),
            _ => return Err(no_loop(name, meta)),
        };
        let device = device.ok_or_else(|| no_loop(name, meta))?;
        Self::upload(TensorData::new(values, meta.shape.clone())?, &device)
    }
    fn to_device(x: HostTensor, device: &HostDevice) -> Result<HostTensor, Error> {
        Ok(HostTensor {
            device: device.clone(),
            ..x
        })
    }
    fn sync(_: &HostDevice) -> Result<(), Error> {
        Ok(())
    }
}

impl Readable for Host {
    fn into_data(x: HostTensor) -> Result<TensorData, Error> {
        Ok(Arc::unwrap_or_clone(x.data))
    }
}

impl HostTensor {
    /// The elements, of which only `f32` have loops.
    fn values(&self) -> Result<&[f32], Error> {
        self.data.as_slice()
    }
}

/// The elements of an operand as the result's shape has them.
fn stretched<'a>(
    operand: &'a Arg<HostTensor>,
    to: &'a Shape,
) -> Result<Box<dyn Iterator<Item = f32> + 'a>, Error> {
    Ok(match operand {
        Arg::Tensor(x) => Box::new(loops::expand(x.values()?, x.shape(), to)),
        Arg::Scalar(value) => Box::new(std::iter::repeat_n(value.to(), to.num_elements())),
    })
}

fn no_loop(op: &'static str, meta: &Meta) -> Error {
    let message = format!("no loop gives {} {}", meta.dtype, meta.shape);
    Error::Backend {
        op: op.into(),
        backend: "Host".into(),
        message,
    }
}

impl HasMeta for HostTensor {
    fn shape(&self) -> &Shape {
        self.data.shape()
    }
    fn dtype(&self) -> DType {
        self.data.dtype()
    }
}

impl Default for HostDevice {
    fn default() -> Self {
        HostDevice(Arc::new(KeySource::new(0)))
    }
}
impl PartialEq for HostDevice {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl Device for HostDevice {
    fn keys(&self) -> &KeySource {
        &self.0
    }
}
