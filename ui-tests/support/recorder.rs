//! A plain backend of f32, i32 and bool that records nothing and executes nothing: enough to see what it cannot do.
#![allow(dead_code)]

use keyway::backend::{Backend, BackendTypes};
use keyway::op::{CreateOp, HasMeta, Meta, Op};
use keyway::{DType, Error, FlexDevice, Local, Name, PlainBackend, Shape, Supports, TensorData};

#[derive(Clone, Debug)]
pub struct Recorder;

#[derive(Clone, Debug)]
pub struct Record(Meta, FlexDevice);

impl HasMeta for Record {
    fn shape(&self) -> &Shape {
        &self.0.shape
    }
    fn dtype(&self) -> DType {
        self.0.dtype
    }
}

impl BackendTypes for Recorder {
    type Device = FlexDevice;
    type Primitive = Record;
}

#[diagnostic::do_not_recommend]
impl Supports<f32> for Recorder {}
#[diagnostic::do_not_recommend]
impl Supports<i32> for Recorder {}
#[diagnostic::do_not_recommend]
impl Supports<bool> for Recorder {}
#[diagnostic::do_not_recommend]
impl PlainBackend for Recorder {}

impl Backend for Recorder {
    type Plain = Self;
    type Reach = Local;

    fn name(_: &FlexDevice) -> Name {
        "Recorder".into()
    }
    fn dtypes(_: &FlexDevice) -> &[DType] {
        &[DType::F32, DType::I32, DType::Bool]
    }
    fn device(x: &Record) -> FlexDevice {
        x.1.clone()
    }
    fn create(_: CreateOp, meta: &Meta, device: &FlexDevice) -> Result<Record, Error> {
        Ok(Record(meta.clone(), device.clone()))
    }
    fn upload(data: TensorData, device: &FlexDevice) -> Result<Record, Error> {
        Ok(Record(
            Meta {
                shape: data.shape().clone(),
                dtype: data.dtype(),
            },
            device.clone(),
        ))
    }
    fn execute(op: Op<Record>, meta: &Meta) -> Result<Record, Error> {
        let mut device = FlexDevice::default();
        op.visit(|x| device = x.1.clone());
        Ok(Record(meta.clone(), device))
    }
    fn to_device(x: Record, device: &FlexDevice) -> Result<Record, Error> {
        Ok(Record(x.0, device.clone()))
    }
    fn sync(_: &FlexDevice) -> Result<(), Error> {
        Ok(())
    }
}
