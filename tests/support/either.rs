//! Run-time dispatch between two backends, on nothing but `try_map`, `infer`'s metas and `execute`.

use keyway::autodiff::GradientSet;
use keyway::backend::{Backend, BackendTypes, DynBackend};
use keyway::op::random::KeySource;
use keyway::op::{CreateOp, HasMeta, Meta, Op};
use keyway::{
    DType, Device, Element, Error, Flex, GradientReduction, Mesh, Name, PlainBackend, Readable, Shape,
    Supports, TensorData, Unproven,
};

type One = Flex;
type Other = Mesh<Flex>;

/// `Flex` or `Mesh<Flex>`, as the device says.
#[derive(Clone, Debug)]
pub struct Either;

#[derive(Clone, Debug, PartialEq)]
pub enum EitherDevice {
    One(<One as BackendTypes>::Device),
    Other(<Other as BackendTypes>::Device),
}

#[derive(Clone, Debug)]
pub enum EitherTensor {
    One(<One as BackendTypes>::Primitive),
    Other(<Other as BackendTypes>::Primitive),
}

fn mixed(op: &'static str) -> Error {
    Error::BackendMismatch {
        op: op.into(),
        left: "Flex".into(),
        right: "Mesh".into(),
    }
}

fn one(x: EitherTensor, op: &'static str) -> Result<<One as BackendTypes>::Primitive, Error> {
    if let EitherTensor::One(x) = x {
        Ok(x)
    } else {
        Err(mixed(op))
    }
}

fn other(x: EitherTensor, op: &'static str) -> Result<<Other as BackendTypes>::Primitive, Error> {
    if let EitherTensor::Other(x) = x {
        Ok(x)
    } else {
        Err(mixed(op))
    }
}

impl Device for EitherDevice {
    fn keys(&self) -> &KeySource {
        match self {
            EitherDevice::One(device) => device.keys(),
            EitherDevice::Other(device) => device.keys(),
        }
    }
}

impl HasMeta for EitherTensor {
    fn shape(&self) -> &Shape {
        match self {
            EitherTensor::One(x) => x.shape(),
            EitherTensor::Other(x) => x.shape(),
        }
    }
    fn dtype(&self) -> DType {
        match self {
            EitherTensor::One(x) => x.dtype(),
            EitherTensor::Other(x) => x.dtype(),
        }
    }
}

impl BackendTypes for Either {
    type Device = EitherDevice;
    type Primitive = EitherTensor;
}

impl<E: Element> Supports<E> for Either {}
impl PlainBackend for Either {}

impl Backend for Either {
    type Plain = Self;
    type Reach = Unproven;

    fn name(device: &EitherDevice) -> Name {
        match device {
            EitherDevice::One(device) => One::name(device),
            EitherDevice::Other(device) => Other::name(device),
        }
    }
    fn dtypes(_: &EitherDevice) -> &[DType] {
        DType::ALL
    }
    fn device(x: &EitherTensor) -> EitherDevice {
        match x {
            EitherTensor::One(x) => EitherDevice::One(One::device(x)),
            EitherTensor::Other(x) => EitherDevice::Other(Other::device(x)),
        }
    }
    fn create(op: CreateOp, meta: &Meta, device: &EitherDevice) -> Result<EitherTensor, Error> {
        match device {
            EitherDevice::One(device) => One::create(op, meta, device).map(EitherTensor::One),
            EitherDevice::Other(device) => Other::create(op, meta, device).map(EitherTensor::Other),
        }
    }
    fn upload(data: TensorData, device: &EitherDevice) -> Result<EitherTensor, Error> {
        match device {
            EitherDevice::One(device) => One::upload(data, device).map(EitherTensor::One),
            EitherDevice::Other(device) => Other::upload(data, device).map(EitherTensor::Other),
        }
    }
    fn execute(op: Op<EitherTensor>, meta: &Meta) -> Result<EitherTensor, Error> {
        let name = op.name();
        let mut first = None;
        op.visit(|x| first = first.or(Some(x)));
        match first {
            Some(EitherTensor::Other(_)) => {
                Other::execute(op.try_map(|x| other(x, name))?, meta).map(EitherTensor::Other)
            }
            _ => One::execute(op.try_map(|x| one(x, name))?, meta).map(EitherTensor::One),
        }
    }
    fn to_device(x: EitherTensor, device: &EitherDevice) -> Result<EitherTensor, Error> {
        match (x, device) {
            (EitherTensor::One(x), EitherDevice::One(device)) => {
                One::to_device(x, device).map(EitherTensor::One)
            }
            (EitherTensor::Other(x), EitherDevice::Other(device)) => {
                Other::to_device(x, device).map(EitherTensor::Other)
            }
            (x, device) => Self::upload(Self::into_data(x)?, device),
        }
    }
    fn sync(device: &EitherDevice) -> Result<(), Error> {
        match device {
            EitherDevice::One(device) => One::sync(device),
            EitherDevice::Other(device) => Other::sync(device),
        }
    }
}

impl Readable for Either {
    fn into_data(x: EitherTensor) -> Result<TensorData, Error> {
        match x {
            EitherTensor::One(x) => One::into_data(x),
            EitherTensor::Other(x) => Other::into_data(x),
        }
    }
}

impl DynBackend for Either {
    fn sync_gradients(
        gradients: GradientSet<Self>,
        reduction: GradientReduction,
    ) -> Result<GradientSet<Self>, Error> {
        match gradients.device().clone() {
            EitherDevice::One(_) => Ok(gradients),
            EitherDevice::Other(device) => {
                let gradients = gradients.try_map::<Other>(device.clone(), |x| other(x, "sync"))?;
                let gradients = keyway::collective::sync_gradients(gradients, reduction)?;
                gradients.try_map(EitherDevice::Other(device), |x| Ok(EitherTensor::Other(x)))
            }
        }
    }
}
