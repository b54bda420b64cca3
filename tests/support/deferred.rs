//! A backend that records and executes when it is read, on nothing but `try_map`, `infer`'s metas and `execute`.

use std::sync::{Arc, Mutex};

use keyway::backend::{Backend, BackendTypes};
use keyway::op::{CreateOp, HasMeta, Meta, Op};
use keyway::{
    DType, Element, Error, Flex, FlexDevice, Local, LocalBackend, Name, PlainBackend, Readable, Shape,
    Supports, TensorData,
};

type Value = <Flex as BackendTypes>::Primitive;

/// Records; `Flex` executes.
#[derive(Clone, Debug)]
pub struct Deferred;

/// What is asked for, and its result once it was needed.
#[derive(Clone, Debug)]
pub struct Promise {
    meta: Meta,
    device: FlexDevice,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
enum State {
    Create(CreateOp),
    Op(Op<Promise>),
    Done(Value),
    Failed(Error),
}

impl Promise {
    fn new(state: State, meta: Meta, device: FlexDevice) -> Self {
        Promise {
            meta,
            device,
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Whether anything has been executed for it.
    pub fn is_done(&self) -> bool {
        matches!(*self.state.lock().unwrap(), State::Done(_))
    }

    fn value(&self) -> Result<Value, Error> {
        let mut state = self.state.lock().unwrap();
        let result = match &*state {
            State::Done(value) => return Ok(value.clone()),
            State::Failed(error) => return Err(error.clone()),
            State::Create(op) => Flex::create(op.clone(), &self.meta, &self.device),
            State::Op(op) => op
                .clone()
                .try_map(|x| x.value())
                .and_then(|op| Flex::execute(op, &self.meta)),
        };
        *state = match &result {
            Ok(value) => State::Done(value.clone()),
            Err(error) => State::Failed(error.clone()),
        };
        result
    }
}

impl HasMeta for Promise {
    fn shape(&self) -> &Shape {
        &self.meta.shape
    }
    fn dtype(&self) -> DType {
        self.meta.dtype
    }
}

impl BackendTypes for Deferred {
    type Device = FlexDevice;
    type Primitive = Promise;
}

impl<E: Element> Supports<E> for Deferred {}
impl PlainBackend for Deferred {}
impl LocalBackend for Deferred {}

impl Backend for Deferred {
    type Plain = Self;
    type Reach = Local;

    fn name(_: &FlexDevice) -> Name {
        "Deferred".into()
    }
    fn dtypes(_: &FlexDevice) -> &[DType] {
        DType::ALL
    }
    fn device(x: &Promise) -> FlexDevice {
        x.device.clone()
    }
    fn create(op: CreateOp, meta: &Meta, device: &FlexDevice) -> Result<Promise, Error> {
        Ok(Promise::new(State::Create(op), meta.clone(), device.clone()))
    }
    fn upload(data: TensorData, device: &FlexDevice) -> Result<Promise, Error> {
        let meta = Meta {
            shape: data.shape().clone(),
            dtype: data.dtype(),
        };
        Ok(Promise::new(
            State::Done(Flex::upload(data, device)?),
            meta,
            device.clone(),
        ))
    }
    fn execute(op: Op<Promise>, meta: &Meta) -> Result<Promise, Error> {
        let mut device = None;
        op.visit(|x| device = Some(x.device.clone()));
        let device = device.expect("an op has an operand");
        Ok(Promise::new(State::Op(op), meta.clone(), device))
    }
    fn to_device(x: Promise, device: &FlexDevice) -> Result<Promise, Error> {
        Ok(Promise {
            device: device.clone(),
            ..x
        })
    }
    fn sync(_: &FlexDevice) -> Result<(), Error> {
        Ok(())
    }
}

impl Readable for Deferred {
    fn into_data(x: Promise) -> Result<TensorData, Error> {
        Flex::into_data(x.value()?)
    }
}
