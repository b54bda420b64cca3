//! Backends that only the running program knows: behind trait objects, as one arm among the others.

use std::any::{Any, type_name};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::autodiff::GradientSet;
use crate::backend::{
    Backend, BackendTypes, Device, DynBackend, PlainBackend, Reach, Readable, Supports, Unproven,
};
use crate::collective::{CollectiveOp, GradientReduction, Member, Pending};
use crate::data::TensorData;
use crate::element::{DType, Element};
use crate::error::{Error, Name};
use crate::op::random::KeySource;
use crate::op::{CreateOp, HasMeta, Meta, Op};
use crate::shape::Shape;

/// A backend whose type was erased: a third party's, chosen at run time. Its device carries the backend.
///
/// A panic of the backend comes back as an [`Error::Backend`].
///
/// ```
/// use keyway::dynamic::{Custom, CustomDevice};
/// use keyway::prelude::*;
/// let device = CustomDevice::new::<Flex>(Default::default());
/// let x = Tensor::<Custom, 1>::from_array([1.0, 2.0], &device);
/// assert_eq!(x.sum().into_scalar()?, 3.0);
/// # Ok::<(), keyway::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Custom;

/// A device of a backend whose type was erased. Two are equal if they are devices of one backend, and equal there.
#[derive(Clone)]
pub struct CustomDevice(Arc<dyn AnyDevice>);

/// A tensor of a backend whose type was erased.
pub struct CustomTensor(Box<dyn AnyTensor>);

impl CustomDevice {
    /// Erases the type of a backend.
    pub fn new<B: PlainBackend + Readable>(device: B::Device) -> Self {
        CustomDevice(Arc::new(On::<B>(device)))
    }

    /// The device of `B`, if it is one.
    pub fn downcast<B: PlainBackend + Readable>(&self) -> Option<&B::Device> {
        self.0.as_any().downcast_ref::<On<B>>().map(|on| &on.0)
    }
}

impl CustomTensor {
    /// A tensor of `B`.
    pub fn new<B: PlainBackend + Readable>(x: B::Primitive) -> Self {
        CustomTensor(Box::new(Held::<B>(x)))
    }

    /// The tensor of `B`, if it is one; otherwise itself.
    ///
    /// # Errors
    /// The tensor, where it is another backend's.
    pub fn downcast<B: PlainBackend + Readable>(self) -> Result<B::Primitive, Self> {
        if !self.0.as_any().is::<Held<B>>() {
            return Err(self);
        }
        let held = self.0.into_any().downcast::<Held<B>>();
        Ok(held.expect("the type was checked").0)
    }
}

/// What [`Backend`] and [`DynBackend`] ask of a device, without the types.
trait AnyDevice: fmt::Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn is(&self, other: &dyn AnyDevice) -> bool;
    fn keys(&self) -> &KeySource;
    fn seed(&self, seed: u64);
    fn name(&self) -> Name;
    fn dtypes(&self) -> &[DType];
    fn create(&self, op: CreateOp, meta: &Meta) -> Result<CustomTensor, Error>;
    fn upload(&self, data: TensorData) -> Result<CustomTensor, Error>;
    fn execute(&self, op: Op<CustomTensor>, meta: &Meta) -> Result<CustomTensor, Error>;
    fn take(&self, x: CustomTensor) -> Result<CustomTensor, Error>;
    fn sync(&self) -> Result<(), Error>;
    fn member(&self) -> Option<&Arc<Member>>;
    fn start(&self, op: CollectiveOp, x: CustomTensor, meta: &Meta) -> Result<Pending<CustomTensor>, Error>;
    fn sync_gradients(
        &self,
        set: GradientSet<Custom>,
        reduction: GradientReduction,
    ) -> Result<GradientSet<Custom>, Error>;
}

/// What [`Backend`] asks of a tensor, without the types.
trait AnyTensor: HasMeta + fmt::Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
    fn clone_box(&self) -> Box<dyn AnyTensor>;
    fn device(&self) -> CustomDevice;
    fn same_device(&self, other: &dyn AnyTensor) -> bool;
    fn into_data(self: Box<Self>) -> Result<TensorData, Error>;
}

/// A device of `B`.
struct On<B: Backend>(B::Device);

/// A tensor of `B`.
struct Held<B: Backend>(B::Primitive);

impl<B: PlainBackend + Readable> On<B> {
    fn tensor(&self, op: &'static str, x: CustomTensor) -> Result<B::Primitive, Error> {
        x.downcast::<B>().map_err(|x| Error::BackendMismatch {
            op: op.into(),
            left: B::name(&self.0),
            right: x.0.device().0.name(),
        })
    }

    /// The code of a third party, whose panics are its failures.
    fn guard<R>(&self, op: &'static str, f: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
        guard(|| B::name(&self.0), op, f)
    }
}

fn guard<R>(
    backend: impl FnOnce() -> Name,
    op: &'static str,
    f: impl FnOnce() -> Result<R, Error>,
) -> Result<R, Error> {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(Error::Backend {
            op: op.into(),
            backend: backend(),
            message: format!("panicked: {}", text.unwrap_or("no message")),
        })
    })
}

impl<B: PlainBackend + Readable> AnyDevice for On<B> {
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn is(&self, other: &dyn AnyDevice) -> bool {
        other
            .as_any()
            .downcast_ref::<Self>()
            .is_some_and(|other| self.0 == other.0)
    }
    fn keys(&self) -> &KeySource {
        self.0.keys()
    }
    fn seed(&self, seed: u64) {
        self.0.seed(seed);
    }
    fn name(&self) -> Name {
        B::name(&self.0)
    }
    fn dtypes(&self) -> &[DType] {
        B::dtypes(&self.0)
    }
    fn create(&self, op: CreateOp, meta: &Meta) -> Result<CustomTensor, Error> {
        self.guard("create", || {
            B::create(op, meta, &self.0).map(CustomTensor::new::<B>)
        })
    }
    fn upload(&self, data: TensorData) -> Result<CustomTensor, Error> {
        self.guard("upload", || B::upload(data, &self.0).map(CustomTensor::new::<B>))
    }
    fn execute(&self, op: Op<CustomTensor>, meta: &Meta) -> Result<CustomTensor, Error> {
        let name = op.name();
        let op = op.try_map(|x| self.tensor(name, x))?;
        self.guard(name, || B::execute(op, meta).map(CustomTensor::new::<B>))
    }
    fn take(&self, x: CustomTensor) -> Result<CustomTensor, Error> {
        match x.downcast::<B>() {
            Ok(x) => self.guard("to_device", || {
                B::to_device(x, &self.0).map(CustomTensor::new::<B>)
            }),
            Err(x) => self.upload(Custom::into_data(x)?),
        }
    }
    fn sync(&self) -> Result<(), Error> {
        self.guard("sync", || B::sync(&self.0))
    }
    fn member(&self) -> Option<&Arc<Member>> {
        B::Reach::member(&self.0)
    }
    fn start(&self, op: CollectiveOp, x: CustomTensor, meta: &Meta) -> Result<Pending<CustomTensor>, Error> {
        let x = self.tensor(op.name(), x)?;
        let pending = self.guard(op.name(), || B::Reach::start(op, x, meta))?;
        Ok(pending.and_then(|x| Ok(CustomTensor::new::<B>(x))))
    }
    fn sync_gradients(
        &self,
        set: GradientSet<Custom>,
        reduction: GradientReduction,
    ) -> Result<GradientSet<Custom>, Error> {
        if self.member().is_none() {
            return Ok(set);
        }
        let device = set.device().clone();
        let set = set.try_map::<B>(self.0.clone(), |x| self.tensor("sync", x))?;
        let set = self.guard("sync", || B::Reach::sync(set, reduction))?;
        set.try_map::<Custom>(device, |x| Ok(CustomTensor::new::<B>(x)))
    }
}

impl<B: PlainBackend + Readable> AnyTensor for Held<B> {
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
    fn clone_box(&self) -> Box<dyn AnyTensor> {
        Box::new(Held::<B>(self.0.clone()))
    }
    fn device(&self) -> CustomDevice {
        CustomDevice::new::<B>(B::device(&self.0))
    }
    fn same_device(&self, other: &dyn AnyTensor) -> bool {
        let other = other.as_any().downcast_ref::<Self>();
        other.is_some_and(|other| B::same_device(&self.0, &other.0))
    }
    fn into_data(self: Box<Self>) -> Result<TensorData, Error> {
        let device = B::device(&self.0);
        guard(|| B::name(&device), "into_data", || B::into_data(self.0))
    }
}

impl<B: PlainBackend> HasMeta for Held<B> {
    fn shape(&self) -> &Shape {
        self.0.shape()
    }
    fn dtype(&self) -> DType {
        self.0.dtype()
    }
}

impl BackendTypes for Custom {
    type Device = CustomDevice;
    type Primitive = CustomTensor;
}

// Which element types a device holds is known at run time.
#[diagnostic::do_not_recommend]
impl<E: Element> Supports<E> for Custom {}

#[diagnostic::do_not_recommend]
impl PlainBackend for Custom {}

impl Backend for Custom {
    type Plain = Self;
    type Reach = Unproven;

    fn name(device: &CustomDevice) -> Name {
        device.0.name()
    }
    fn dtypes(device: &CustomDevice) -> &[DType] {
        device.0.dtypes()
    }
    fn device(x: &CustomTensor) -> CustomDevice {
        x.0.device()
    }
    fn same_device(a: &CustomTensor, b: &CustomTensor) -> bool {
        a.0.same_device(&*b.0)
    }
    fn create(op: CreateOp, meta: &Meta, device: &CustomDevice) -> Result<CustomTensor, Error> {
        device.0.create(op, meta)
    }
    fn upload(data: TensorData, device: &CustomDevice) -> Result<CustomTensor, Error> {
        device.0.upload(data)
    }
    fn execute(op: Op<CustomTensor>, meta: &Meta) -> Result<CustomTensor, Error> {
        let first = op.first().expect("`infer` accepts no op without a tensor");
        first.0.device().0.execute(op, meta)
    }
    fn to_device(x: CustomTensor, device: &CustomDevice) -> Result<CustomTensor, Error> {
        device.0.take(x)
    }
    fn sync(device: &CustomDevice) -> Result<(), Error> {
        device.0.sync()
    }
}

#[diagnostic::do_not_recommend]
impl Readable for Custom {
    fn into_data(x: CustomTensor) -> Result<TensorData, Error> {
        x.0.into_data()
    }
}

#[diagnostic::do_not_recommend]
impl DynBackend for Custom {
    fn member(device: &CustomDevice) -> Option<&Arc<Member>> {
        device.0.member()
    }
    fn start(op: CollectiveOp, x: CustomTensor, meta: &Meta) -> Result<Pending<CustomTensor>, Error> {
        x.0.device().0.start(op, x, meta)
    }
    fn sync_gradients(
        gradients: GradientSet<Self>,
        reduction: GradientReduction,
    ) -> Result<GradientSet<Self>, Error> {
        gradients.group_device().0.sync_gradients(gradients, reduction)
    }
}

impl Device for CustomDevice {
    fn keys(&self) -> &KeySource {
        self.0.keys()
    }
    fn seed(&self, seed: u64) {
        self.0.seed(seed);
    }
}

impl PartialEq for CustomDevice {
    fn eq(&self, other: &Self) -> bool {
        self.0.is(&*other.0)
    }
}

impl fmt::Debug for CustomDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<B: Backend> fmt::Debug for On<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {}", self.0, type_name::<B>())
    }
}

impl HasMeta for CustomTensor {
    fn shape(&self) -> &Shape {
        self.0.shape()
    }
    fn dtype(&self) -> DType {
        self.0.dtype()
    }
}

impl Clone for CustomTensor {
    fn clone(&self) -> Self {
        CustomTensor(self.0.clone_box())
    }
}

impl fmt::Debug for CustomTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<B: Backend> fmt::Debug for Held<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
