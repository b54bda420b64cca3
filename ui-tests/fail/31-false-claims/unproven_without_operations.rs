// E0277: `backends!` declares one; a backend of one kind is `Local` or `Collective`
#![allow(unused_imports)]
use keyway::backend::{Backend, BackendTypes};
use keyway::collective::CollectiveBackend;
use keyway::op::{CreateOp, Meta, Op};
use keyway::{Collective, DType, Element, Error, Flex, FlexDevice, Local, Name, PlainBackend, Supports, TensorData};

#[derive(Clone, Debug)]
pub struct Mine;

impl BackendTypes for Mine {
    type Device = FlexDevice;
    type Primitive = <Flex as BackendTypes>::Primitive;
}

impl<E: Element> Supports<E> for Mine {}
impl PlainBackend for Mine {}

impl Backend for Mine {
    type Plain = Self;
    type Reach = keyway::Unproven;

    fn name(_: &FlexDevice) -> Name {
        "Mine".into()
    }
    fn dtypes(device: &FlexDevice) -> &[DType] {
        Flex::dtypes(device)
    }
    fn device(x: &Self::Primitive) -> FlexDevice {
        Flex::device(x)
    }
    fn create(op: CreateOp, meta: &Meta, device: &FlexDevice) -> Result<Self::Primitive, Error> {
        Flex::create(op, meta, device)
    }
    fn upload(data: TensorData, device: &FlexDevice) -> Result<Self::Primitive, Error> {
        Flex::upload(data, device)
    }
    fn execute(op: Op<Self::Primitive>, meta: &Meta) -> Result<Self::Primitive, Error> {
        Flex::execute(op, meta)
    }
    fn to_device(x: Self::Primitive, device: &FlexDevice) -> Result<Self::Primitive, Error> {
        Flex::to_device(x, device)
    }
    fn sync(device: &FlexDevice) -> Result<(), Error> {
        Flex::sync(device)
    }
}

fn main() {}
