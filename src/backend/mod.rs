//! What a backend is, and the markers that say what it can do.

use std::fmt::Debug;

use crate::data::TensorData;
use crate::element::DType;
use crate::error::{Error, Name};
use crate::op::random::KeySource;
use crate::op::{CreateOp, HasMeta, Meta, Op};

#[cfg(feature = "candle")]
pub mod candle;
pub(crate) mod extremes;
#[cfg(any(feature = "candle", feature = "tch"))]
mod failure;
pub mod flex;
#[cfg(any(feature = "candle", feature = "tch"))]
mod host;
pub(crate) mod memory;
#[cfg(feature = "ndarray")]
pub mod ndarray;
mod reach;
mod route;
#[cfg(feature = "tch")]
pub mod tch;

pub(crate) use reach::not_collective;
pub use reach::{Collective, DynBackend, InGroup, Local, Reach, SyncState, Synced, Unproven, Unsynced};
pub(crate) use route::note;
pub use route::{Route, observe};

/// The device and the tensor of a backend, before anything is known of what it can do.
pub trait BackendTypes {
    /// Where tensors live. It carries the source of randomness and, for a collective backend, the membership.
    type Device: Device;
    /// A tensor of run-time rank and element type. Cloning shares its buffer.
    type Primitive: HasMeta + Clone + Debug + Send + Sync + 'static;
}

/// A place where tensors live. Two handles are equal if they name the same place.
pub trait Device: Clone + PartialEq + Debug + Send + Sync + 'static {
    /// The source of random keys of this handle and of those cloned from it.
    fn keys(&self) -> &KeySource;

    /// Goes to the start of the random stream of `seed`.
    fn seed(&self, seed: u64) {
        self.keys().reseed(seed);
    }
}

/// A backend: it creates tensors and executes the vocabulary.
///
/// `op::run` has validated each op before it comes here; `meta` is the result's. An implementation matches every
/// family of [`Op`] and hands fused ops that it has no kernel for to [`crate::op::lower::fused`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a backend",
    label = "needs a backend",
    note = "backends are `Flex`, `Mesh<Flex>`, `Autodiff<Flex>`, and types that implement `Backend`"
)]
pub trait Backend:
    BackendTypes + Clone + Debug + Send + Sync + 'static + Supports<f32> + Supports<i32> + Supports<bool>
{
    /// `Self`, or what a decorator with gradients wraps.
    type Plain: PlainBackend;
    /// `Local`, `Collective` or `Unproven`.
    type Reach: Reach<Self::Plain>;

    /// Whether models on this backend are there to be trained: it decides what dropout and batch normalisation do.
    const TRAINS: bool = false;

    /// The name of the backend, as error messages give it.
    fn name(device: &Self::Device) -> Name;

    /// The element types that the device holds.
    fn dtypes(device: &Self::Device) -> &[DType];

    /// Where a tensor lives.
    fn device(x: &Self::Primitive) -> Self::Device;

    /// Whether two tensors live in the same place.
    fn same_device(a: &Self::Primitive, b: &Self::Primitive) -> bool {
        Self::device(a) == Self::device(b)
    }

    /// Creates a tensor.
    ///
    /// # Errors
    /// If the device fails.
    fn create(op: CreateOp, meta: &Meta, device: &Self::Device) -> Result<Self::Primitive, Error>;

    /// Takes values from the host.
    ///
    /// # Errors
    /// If the device fails.
    fn upload(data: TensorData, device: &Self::Device) -> Result<Self::Primitive, Error>;

    /// Executes a validated op.
    ///
    /// # Errors
    /// For what only values show (an index out of range, an integer division by zero), or if the device fails.
    fn execute(op: Op<Self::Primitive>, meta: &Meta) -> Result<Self::Primitive, Error>;

    /// Moves a tensor to another device of this backend.
    ///
    /// # Errors
    /// If a device fails.
    fn to_device(x: Self::Primitive, device: &Self::Device) -> Result<Self::Primitive, Error>;

    /// `value` as a parameter of a model. A backend that records gradients makes it a leaf: the leaf that it is already,
    /// else the one that `old` was, whose value it takes over, else a new one.
    fn parameter(value: Self::Primitive, _old: Option<&Self::Primitive>) -> Self::Primitive {
        value
    }

    /// The tensor without its history, where the backend records one.
    fn detach(x: Self::Primitive) -> Self::Primitive {
        x
    }

    /// Waits until everything asked of the device is done.
    ///
    /// # Errors
    /// The first failure since the last `sync`.
    fn sync(device: &Self::Device) -> Result<(), Error>;
}

/// A backend that holds elements of type `E`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not hold `{E}` elements",
    label = "no `{E}` tensors on `{Self}`",
    note = "`.cast()` to an element type that the backend holds, or add `{Self}: Supports<{E}>` to a generic function's bounds"
)]
pub trait Supports<E> {}

/// A backend without gradients of its own, which [`Autodiff`](crate::Autodiff) can wrap.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be differentiated",
    label = "`Autodiff` wraps plain backends only",
    note = "plain backends are all but `Autodiff<_>`, which goes around one once: `.inner()` gives a tensor of it, or add \
            `{Self}: PlainBackend` to a generic function's bounds"
)]
pub trait PlainBackend: Backend<Plain = Self> {}

/// A backend whose values can be read back; all but those that only record.
#[diagnostic::on_unimplemented(
    message = "tensors on `{Self}` have no values to read",
    label = "`{Self}` records, it does not execute",
    note = "add `{Self}: Readable` to a generic function's bounds, or read after a replay"
)]
pub trait Readable: Backend {
    /// Reads the values back.
    ///
    /// # Errors
    /// If the device failed, now or since the last read.
    fn into_data(x: Self::Primitive) -> Result<TensorData, Error>;
}

/// A backend on which one process works alone, and which executes: it can be joined into a [`Mesh`](crate::Mesh).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `Local` backend",
    label = "only a `Local` backend can be joined into a `Mesh`",
    note = "gradients go around the mesh, as in `Autodiff<Mesh<Flex>>`; a `Collective` backend needs none"
)]
pub trait LocalBackend: PlainBackend + Readable + Backend<Reach = Local> {}
