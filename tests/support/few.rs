//! A backend of a third party: `Flex` with three element types, which panics at one op.

use keyway::backend::{Backend, BackendTypes};
use keyway::op::{CreateOp, Meta, Op, UnaryOp};
use keyway::{DType, Error, Flex, Local, Name, PlainBackend, Readable, Supports, TensorData};

#[derive(Clone, Debug)]
pub struct Few;

impl BackendTypes for Few {
    type Device = <Flex as BackendTypes>::Device;
    type Primitive = <Flex as BackendTypes>::Primitive;
}

impl Supports<f32> for Few {}
impl Supports<i32> for Few {}
impl Supports<bool> for Few {}
impl PlainBackend for Few {}

impl Backend for Few {
    type Plain = Self;
    type Reach = Local;

    fn name(_: &Self::Device) -> Name {
        "Few".into()
    }
    fn dtypes(_: &Self::Device) -> &[DType] {
        &[DType::F32, DType::I32, DType::Bool]
    }
    fn device(x: &Self::Primitive) -> Self::Device {
        Flex::device(x)
    }
    fn create(op: CreateOp, meta: &Meta, device: &Self::Device) -> Result<Self::Primitive, Error> {
        Flex::create(op, meta, device)
    }
    fn upload(data: TensorData, device: &Self::Device) -> Result<Self::Primitive, Error> {
        Flex::upload(data, device)
    }
    fn execute(op: Op<Self::Primitive>, meta: &Meta) -> Result<Self::Primitive, Error> {
        if matches!(op, Op::Unary(UnaryOp::Erf, _)) {
            panic!("no erf here");
        }
        Flex::execute(op, meta)
    }
    fn to_device(x: Self::Primitive, device: &Self::Device) -> Result<Self::Primitive, Error> {
        Flex::to_device(x, device)
    }
    fn sync(device: &Self::Device) -> Result<(), Error> {
        Flex::sync(device)
    }
}

impl Readable for Few {
    fn into_data(x: Self::Primitive) -> Result<TensorData, Error> {
        Flex::into_data(x)
    }
}
