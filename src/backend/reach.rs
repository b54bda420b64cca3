//! How far a backend reaches: alone, or into a group of replicas. Each marker carries its own evidence, so that a
//! backend can neither claim what it has no operations for, nor have operations that it does not claim.

use std::sync::Arc;

use crate::autodiff::{GradientSet, OnLeaf};
use crate::backend::{Backend, PlainBackend, Readable};
use crate::collective::{CollectiveBackend, CollectiveOp, GradientReduction, Member, Pending};
use crate::dynamic::CollectiveVisitor;
use crate::error::Error;
use crate::op::Meta;

/// A backend that works alone.
#[derive(Clone, Copy, Debug)]
pub enum Local {}

/// A backend that works in a group; it implements [`CollectiveBackend`].
#[derive(Clone, Copy, Debug)]
pub enum Collective {}

/// A backend whose device decides at run time.
#[derive(Clone, Copy, Debug)]
pub enum Unproven {}

/// The marker of backends that implement [`CollectiveBackend`]: `Collective`. A bound of its own instead of
/// `Reach = Collective`, for the compiler explains an unequal type in words that are not ours.
#[diagnostic::on_unimplemented(
    message = "a backend that is `{Self}` has no collective operations",
    label = "these are operations of a `Collective` backend",
    note = "write `type Reach = Collective` in its `impl Backend`"
)]
pub trait InGroup<B>: Reach<B, AfterBackward = Unsynced> + sealed::Sealed {}
impl<B: CollectiveBackend> InGroup<B> for Collective {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Collective {}
}

/// The proof that backend `B` reaches as far as the marker says, for the plain backend: decorators with gradients never
/// enter it.
#[diagnostic::on_unimplemented(
    message = "`{B}` claims `{Self}` without its evidence",
    label = "the marker needs the operations",
    note = "`Collective` needs `impl CollectiveBackend for {B}`; a backend without it is `Local`"
)]
pub trait Reach<B: ?Sized>: Sized {
    /// Whether gradients leave `backward` synchronised.
    type AfterBackward: SyncState;

    /// The device's place in its group, if it is in one.
    fn member(device: &B::Device) -> Option<&Arc<Member>>
    where
        B: PlainBackend;

    /// Starts a collective operation; `meta` is that of the result.
    ///
    /// # Errors
    /// `NotCollective` if the device is in no group, and if the group is broken.
    fn start(op: CollectiveOp, x: B::Primitive, meta: &Meta) -> Result<Pending<B::Primitive>, Error>
    where
        B: PlainBackend;

    /// Runs code that needs a group.
    ///
    /// # Errors
    /// `NotCollective` if the backend is not one of a group.
    fn visit<V: CollectiveVisitor>(device: B::Device, visitor: V) -> Result<V::Output, Error>
    where
        B: PlainBackend + Readable;

    /// Synchronises gradients between the members of the device's group.
    ///
    /// # Errors
    /// If the group fails.
    fn sync(gradients: GradientSet<B>, reduction: GradientReduction) -> Result<GradientSet<B>, Error>
    where
        B: PlainBackend;

    /// Runs a backward pass and synchronises its gradients (their mean), on the way where the backend can.
    ///
    /// # Errors
    /// If the pass or the group fails.
    fn backward_synced(
        _device: &B::Device,
        backward: impl FnOnce(Option<&mut OnLeaf<'_, B>>) -> Result<GradientSet<B>, Error>,
    ) -> Result<GradientSet<B>, Error>
    where
        B: PlainBackend,
    {
        Self::sync(backward(None)?, GradientReduction::Mean)
    }
}

impl<B: Backend<Reach = Local>> Reach<B> for Local {
    type AfterBackward = Synced;
    fn member(_: &B::Device) -> Option<&Arc<Member>>
    where
        B: PlainBackend,
    {
        None
    }
    fn start(_: CollectiveOp, x: B::Primitive, _: &Meta) -> Result<Pending<B::Primitive>, Error>
    where
        B: PlainBackend,
    {
        Err(not_collective::<B>(&B::device(&x)))
    }
    fn visit<V: CollectiveVisitor>(device: B::Device, _: V) -> Result<V::Output, Error>
    where
        B: PlainBackend + Readable,
    {
        Err(not_collective::<B>(&device))
    }
    fn sync(gradients: GradientSet<B>, _: GradientReduction) -> Result<GradientSet<B>, Error>
    where
        B: PlainBackend,
    {
        Ok(gradients)
    }
}

impl<B: CollectiveBackend> Reach<B> for Collective {
    type AfterBackward = Unsynced;
    fn member(device: &B::Device) -> Option<&Arc<Member>>
    where
        B: PlainBackend,
    {
        Some(B::member(device))
    }
    fn start(op: CollectiveOp, x: B::Primitive, meta: &Meta) -> Result<Pending<B::Primitive>, Error>
    where
        B: PlainBackend,
    {
        B::start(op, x, meta)
    }
    fn visit<V: CollectiveVisitor>(device: B::Device, visitor: V) -> Result<V::Output, Error>
    where
        B: PlainBackend + Readable,
    {
        Ok(visitor.visit::<B>(device))
    }
    fn sync(gradients: GradientSet<B>, reduction: GradientReduction) -> Result<GradientSet<B>, Error>
    where
        B: PlainBackend,
    {
        crate::collective::sync_gradients(gradients, reduction)
    }
    fn backward_synced(
        device: &B::Device,
        backward: impl FnOnce(Option<&mut OnLeaf<'_, B>>) -> Result<GradientSet<B>, Error>,
    ) -> Result<GradientSet<B>, Error>
    where
        B: PlainBackend,
    {
        crate::collective::backward_synced(device, |on_leaf| backward(Some(on_leaf)))
    }
}

impl<B: DynBackend> Reach<B> for Unproven {
    type AfterBackward = Unsynced;
    fn member(device: &B::Device) -> Option<&Arc<Member>>
    where
        B: PlainBackend,
    {
        B::member(device)
    }
    fn start(op: CollectiveOp, x: B::Primitive, meta: &Meta) -> Result<Pending<B::Primitive>, Error>
    where
        B: PlainBackend,
    {
        B::start(op, x, meta)
    }
    // What reaches into a group at run time only gives no proof at compile time.
    fn visit<V: CollectiveVisitor>(device: B::Device, _: V) -> Result<V::Output, Error>
    where
        B: PlainBackend + Readable,
    {
        Err(Error::NotCollective {
            backend: B::name(&device),
            help: "its type is known at run time only: name it in a set of its own (`backends!`)".into(),
        })
    }
    fn sync(gradients: GradientSet<B>, reduction: GradientReduction) -> Result<GradientSet<B>, Error>
    where
        B: PlainBackend,
    {
        B::sync_gradients(gradients, reduction)
    }
}

/// The error of a device that is in no group.
pub(crate) fn not_collective<B: Backend>(device: &B::Device) -> Error {
    let name = B::name(device);
    Error::NotCollective {
        help: format!(
            "`Mesh<{name}>` joins replicas of it into a group, of which `mesh:{}:2` opens one",
            name.to_lowercase()
        )
        .into(),
        backend: name,
    }
}

/// A backend whose device knows at run time whether it is in a group.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not choose its backend at run time",
    label = "needs a backend such as `Dyn`",
    note = "`backends!` declares one; a backend of one kind is `Local` or `Collective`"
)]
pub trait DynBackend: PlainBackend + Readable + Backend<Reach = Unproven> {
    /// The device's place in its group, if it is in one.
    fn member(device: &Self::Device) -> Option<&Arc<Member>>;

    /// Starts a collective operation; `meta` is that of the result.
    ///
    /// # Errors
    /// `NotCollective` if the device is in no group, and if the group is broken.
    fn start(op: CollectiveOp, x: Self::Primitive, meta: &Meta) -> Result<Pending<Self::Primitive>, Error>;

    /// Synchronises gradients if the device is in a group.
    ///
    /// # Errors
    /// If the group fails.
    fn sync_gradients(
        gradients: GradientSet<Self>,
        reduction: GradientReduction,
    ) -> Result<GradientSet<Self>, Error>;
}

/// Whether gradients are synchronised between the members of a group.
pub trait SyncState: Send + Sync + 'static {}

/// Gradients that every member of the group has alike.
#[derive(Clone, Copy, Debug)]
pub enum Synced {}

/// Gradients of one member's share.
#[derive(Clone, Copy, Debug)]
pub enum Unsynced {}

impl SyncState for Synced {}
impl SyncState for Unsynced {}
