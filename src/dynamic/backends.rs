//! The enum dispatch: one backend made of several, of which the device chooses one.

use std::collections::HashMap;

use crate::autodiff::GradientSet;
use crate::backend::{DynBackend, PlainBackend, Reach, Readable};
use crate::collective::{CollectiveBackend, GradientReduction};
use crate::error::Error;

/// A backend that is an arm of the run-time backend `D`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an arm of `{D}`",
    label = "not one of the backends that `{D}` chooses from",
    note = "a third party's backend comes in by `DynDevice::custom`, or by a set of its own (`backends!`)"
)]
pub trait Arm<D: DynBackend>: PlainBackend + Readable {
    /// The name of the arm.
    const NAME: &'static str;

    /// The device as one of `D`.
    fn device_into_dyn(device: Self::Device) -> D::Device;

    /// The device, if it is one of this backend; otherwise itself.
    ///
    /// # Errors
    /// The device, where it is another arm's.
    fn device_from_dyn(device: D::Device) -> Result<Self::Device, D::Device>;

    /// The tensor as one of `D`.
    fn into_dyn(x: Self::Primitive) -> D::Primitive;

    /// The tensor, if it is of this backend; otherwise itself.
    ///
    /// # Errors
    /// The tensor, where it is another arm's.
    fn from_dyn(x: D::Primitive) -> Result<Self::Primitive, D::Primitive>;
}

/// What is to be done with a device whose backend becomes known: the form of [`dispatch!`](crate::dispatch) without a
/// macro.
///
/// ```
/// use keyway::dynamic::{DeviceVisitor, DynDevice};
/// use keyway::prelude::*;
/// struct Total(Vec<f32>);
/// impl DeviceVisitor for Total {
///     type Output = Result<f32, Error>;
///     fn visit<B: PlainBackend + Readable>(self, device: B::Device) -> Self::Output {
///         let len = self.0.len();
///         Tensor::<B, 1>::try_from_data(TensorData::new(self.0, [len])?, &device)?.sum().into_scalar()
///     }
/// }
/// let device: DynDevice = "flex".parse()?;
/// assert_eq!(device.visit(Total(vec![1.0, 2.0]))?, 3.0);
/// # Ok::<(), Error>(())
/// ```
pub trait DeviceVisitor {
    /// The result.
    type Output;
    /// Typed code.
    fn visit<B: PlainBackend + Readable>(self, device: B::Device) -> Self::Output;
}

/// As [`DeviceVisitor`], for code that needs a group.
pub trait CollectiveVisitor {
    /// The result.
    type Output;
    /// Typed code, in which collective operations exist.
    fn visit<B: PlainBackend + Readable + CollectiveBackend>(self, device: B::Device) -> Self::Output;
}

/// Synchronises the gradients that are on an arm's backend; those of leaves elsewhere stay as they are.
///
/// # Errors
/// If the group fails.
#[doc(hidden)]
pub fn sync_arm<D: DynBackend, A: Arm<D>>(
    set: GradientSet<D>,
    device: A::Device,
    reduction: GradientReduction,
) -> Result<GradientSet<D>, Error> {
    if <A::Reach as Reach<A>>::member(&device).is_none() {
        return Ok(set);
    }
    let GradientSet {
        device: dyn_device,
        by_leaf,
        params,
    } = set;
    let mut own = GradientSet::<A> {
        device,
        by_leaf: HashMap::new(),
        params,
    };
    let mut others = HashMap::new();
    for (leaf, grad) in by_leaf {
        match A::from_dyn(grad) {
            Ok(grad) => drop(own.by_leaf.insert(leaf, grad)),
            Err(grad) => drop(others.insert(leaf, grad)),
        }
    }
    let synced = <A::Reach as Reach<A>>::sync(own, reduction)?;
    let mut synced = synced.try_map::<D>(dyn_device, |grad| Ok(A::into_dyn(grad)))?;
    synced.by_leaf.extend(others);
    Ok(synced)
}

/// Declares a backend that chooses between others at run time: its device is an enum of their devices, its tensor of
/// their tensors, and every operation goes to the arm that the device or the first operand names. To add a backend is
/// one row.
///
/// The set is closed: an op is mapped to the arm's operands, and nothing is boxed. An arm is any [`PlainBackend`] that is
/// [`Readable`]; [`Custom`](crate::dynamic::Custom) is an arm for backends that are known at run time only.
/// [`Dyn`](crate::Dyn) is the set of the backends that keyway was compiled with.
///
/// ```
/// use keyway::prelude::*;
/// keyway::backends! {
///     /// The processor, alone or as a group.
///     pub struct Cpu;
///     /// Its device.
///     pub enum CpuDevice;
///     /// Its tensor.
///     pub enum CpuTensor;
///     Alone(Flex),
///     Group(Mesh<Flex>),
/// }
/// let device = CpuDevice::Alone(Default::default());
/// let x = Tensor::<Autodiff<Cpu>, 1>::from_array([1.0, 2.0], &device).require_grad();
/// let gradients = (x.clone() * x.clone()).sum().backward();
/// assert_eq!(x.grad(&gradients).unwrap().into_vec()?, [2.0, 4.0]);
/// # Ok::<(), Error>(())
/// ```
#[macro_export]
macro_rules! backends {
    (
        $(#[$backend_meta:meta])* $backend_vis:vis struct $Backend:ident;
        $(#[$device_meta:meta])* $device_vis:vis enum $Device:ident;
        $(#[$tensor_meta:meta])* $tensor_vis:vis enum $Tensor:ident;
        $( $(#[$arm_meta:meta])* $Arm:ident($B:ty) ),+ $(,)?
    ) => {
        $(#[$backend_meta])*
        #[derive(Clone, Copy, Debug)]
        $backend_vis struct $Backend;

        $(#[$device_meta])*
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs)]
        $device_vis enum $Device {
            $( $(#[$arm_meta])* $Arm(<$B as $crate::backend::BackendTypes>::Device) ),+
        }

        $(#[$tensor_meta])*
        #[derive(Clone, Debug)]
        #[allow(missing_docs)]
        $tensor_vis enum $Tensor {
            $( $(#[$arm_meta])* $Arm(<$B as $crate::backend::BackendTypes>::Primitive) ),+
        }

        // With a single arm, what is left of the others cannot be reached.
        #[allow(unreachable_patterns)]
        const _: () = {
            use $crate::backend::{Backend, BackendTypes, DynBackend, Reach, Readable};
            use $crate::dynamic::{Arm, CollectiveVisitor, DeviceVisitor};
            use $crate::op::{CreateOp, HasMeta, Meta, Op, random::KeySource};
            use $crate::{DType, Error, Name, Shape, TensorData};

            impl $Device {
                /// Runs typed code on the device's backend.
                $device_vis fn visit<V: DeviceVisitor>(self, visitor: V) -> V::Output {
                    match self { $( $(#[$arm_meta])* $Device::$Arm(device) => visitor.visit::<$B>(device) ),+ }
                }

                /// Runs typed code that needs a group on the device's backend.
                ///
                /// # Errors
                /// `NotCollective` if the backend has none.
                $device_vis fn visit_collective<V: CollectiveVisitor>(self, visitor: V) -> Result<V::Output, Error> {
                    match self { $(
                        $(#[$arm_meta])*
                        $Device::$Arm(device) => <<$B as Backend>::Reach as Reach<$B>>::visit(device, visitor)
                    ),+ }
                }
            }

            impl $crate::Device for $Device {
                fn keys(&self) -> &KeySource {
                    match self { $( $(#[$arm_meta])* $Device::$Arm(device) => $crate::Device::keys(device) ),+ }
                }
                fn seed(&self, seed: u64) {
                    match self { $( $(#[$arm_meta])* $Device::$Arm(device) => $crate::Device::seed(device, seed) ),+ }
                }
            }

            impl HasMeta for $Tensor {
                #[inline]
                fn shape(&self) -> &Shape {
                    match self { $( $(#[$arm_meta])* $Tensor::$Arm(x) => x.shape() ),+ }
                }
                #[inline]
                fn dtype(&self) -> DType {
                    match self { $( $(#[$arm_meta])* $Tensor::$Arm(x) => x.dtype() ),+ }
                }
            }

            impl BackendTypes for $Backend {
                type Device = $Device;
                type Primitive = $Tensor;
            }

            // Which element types a device holds is known at run time.
            #[diagnostic::do_not_recommend]
            impl<E: $crate::Element> $crate::Supports<E> for $Backend {}

            #[diagnostic::do_not_recommend]
            impl $crate::PlainBackend for $Backend {}

            impl Backend for $Backend {
                type Plain = Self;
                type Reach = $crate::Unproven;

                fn name(device: &$Device) -> Name {
                    match device { $( $(#[$arm_meta])* $Device::$Arm(device) => <$B>::name(device) ),+ }
                }
                fn dtypes(device: &$Device) -> &[DType] {
                    match device { $( $(#[$arm_meta])* $Device::$Arm(device) => <$B>::dtypes(device) ),+ }
                }
                fn device(x: &$Tensor) -> $Device {
                    match x { $( $(#[$arm_meta])* $Tensor::$Arm(x) => $Device::$Arm(<$B>::device(x)) ),+ }
                }
                fn same_device(a: &$Tensor, b: &$Tensor) -> bool {
                    match (a, b) {
                        $( $(#[$arm_meta])* ($Tensor::$Arm(a), $Tensor::$Arm(b)) => <$B>::same_device(a, b), )+
                        _ => false,
                    }
                }
                fn create(op: CreateOp, meta: &Meta, device: &$Device) -> Result<$Tensor, Error> {
                    match device { $(
                        $(#[$arm_meta])* $Device::$Arm(device) => <$B>::create(op, meta, device).map($Tensor::$Arm)
                    ),+ }
                }
                fn upload(data: TensorData, device: &$Device) -> Result<$Tensor, Error> {
                    match device { $(
                        $(#[$arm_meta])* $Device::$Arm(device) => <$B>::upload(data, device).map($Tensor::$Arm)
                    ),+ }
                }
                fn execute(op: Op<$Tensor>, meta: &Meta) -> Result<$Tensor, Error> {
                    let name = op.name();
                    match op.first().expect("`infer` accepts no op without a tensor") { $(
                        $(#[$arm_meta])*
                        $Tensor::$Arm(_) => {
                            let op = op.try_map(|x| {
                                <$B as Arm<Self>>::from_dyn(x)
                                    .map_err(|x| $crate::dynamic::mismatch::<$B, Self>(name, &x))
                            })?;
                            <$B>::execute(op, meta).map($Tensor::$Arm)
                        }
                    ),+ }
                }
                fn to_device(x: $Tensor, device: &$Device) -> Result<$Tensor, Error> {
                    match (x, device) {
                        $(
                            $(#[$arm_meta])*
                            ($Tensor::$Arm(x), $Device::$Arm(device)) => <$B>::to_device(x, device).map($Tensor::$Arm),
                        )+
                        (x, device) => $crate::raw::Raw::<Self>::from_data(Self::into_data(x)?, device)
                            .map($crate::raw::Raw::into_primitive),
                    }
                }
                fn sync(device: &$Device) -> Result<(), Error> {
                    match device { $( $(#[$arm_meta])* $Device::$Arm(device) => <$B>::sync(device) ),+ }
                }
            }

            #[diagnostic::do_not_recommend]
            impl Readable for $Backend {
                fn into_data(x: $Tensor) -> Result<TensorData, Error> {
                    match x { $( $(#[$arm_meta])* $Tensor::$Arm(x) => <$B>::into_data(x) ),+ }
                }
            }

            #[diagnostic::do_not_recommend]
            impl DynBackend for $Backend {
                fn member(device: &$Device) -> Option<&std::sync::Arc<$crate::collective::Member>> {
                    match device { $(
                        $(#[$arm_meta])*
                        $Device::$Arm(device) => <<$B as Backend>::Reach as Reach<$B>>::member(device)
                    ),+ }
                }
                fn start(
                    op: $crate::collective::CollectiveOp,
                    x: $Tensor,
                    meta: &Meta,
                ) -> Result<$crate::Pending<$Tensor>, Error> {
                    match x { $(
                        $(#[$arm_meta])*
                        $Tensor::$Arm(x) => Ok(<<$B as Backend>::Reach as Reach<$B>>::start(op, x, meta)?
                            .and_then(|x| Ok($Tensor::$Arm(x))))
                    ),+ }
                }
                fn sync_gradients(
                    gradients: $crate::autodiff::GradientSet<Self>,
                    reduction: $crate::GradientReduction,
                ) -> Result<$crate::autodiff::GradientSet<Self>, Error> {
                    match gradients.group_device() { $(
                        $(#[$arm_meta])*
                        $Device::$Arm(device) => $crate::dynamic::sync_arm::<Self, $B>(gradients, device, reduction)
                    ),+ }
                }
            }

            $(
                $(#[$arm_meta])*
                impl Arm<$Backend> for $B {
                    const NAME: &'static str = stringify!($Arm);
                    fn device_into_dyn(device: Self::Device) -> $Device {
                        $Device::$Arm(device)
                    }
                    fn device_from_dyn(device: $Device) -> Result<Self::Device, $Device> {
                        match device {
                            $Device::$Arm(device) => Ok(device),
                            device => Err(device),
                        }
                    }
                    fn into_dyn(x: Self::Primitive) -> $Tensor {
                        $Tensor::$Arm(x)
                    }
                    fn from_dyn(x: $Tensor) -> Result<Self::Primitive, $Tensor> {
                        match x {
                            $Tensor::$Arm(x) => Ok(x),
                            x => Err(x),
                        }
                    }
                }
            )+
        };
    };
}

/// The error of an operand that is on another backend than the first. `op::run` has found it before, with both devices.
#[doc(hidden)]
pub fn mismatch<A: Arm<D>, D: DynBackend>(op: &'static str, x: &D::Primitive) -> Error {
    Error::BackendMismatch {
        op: op.into(),
        left: A::NAME.into(),
        right: D::name(&D::device(x)),
    }
}
