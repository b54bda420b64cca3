//! Run-time dispatch: backends, ranks and element types that are known when the program runs, and the way back to types.
//!
//! [`Dyn`] is a backend like any other, whose device ([`DynDevice`]) is one of the backends that keyway was compiled
//! with: `Tensor<Dyn, 2>`, `Autodiff<Dyn>`. [`DynTensor`] knows nothing at compile time, and every call on it returns a
//! `Result`: what does not compile on typed tensors is an `Err` there, never a panic.
//!
//! A program that reads the device from a flag asks it once, at the top: [`dispatch!`](crate::dispatch) and
//! [`dispatch_collective!`](crate::dispatch_collective) run typed code on it. [`backends!`](crate::backends) declares a
//! closed set of one's own; [`Custom`] is the arm for backends that only the running program knows.

mod backends;
mod convert;
mod custom;
mod device;
mod dispatch;
mod registry;
mod tensor;

pub use backends::{Arm, CollectiveVisitor, DeviceVisitor, mismatch, sync_arm};
pub use convert::ConversionError;
pub use custom::{Custom, CustomDevice, CustomTensor};
pub use device::Available;
pub use registry::{Dyn, DynDevice, DynPrimitive};
pub use tensor::{DynGradients, DynTensor};
