//! How far a backend reaches: alone, or into a group of replicas. Each marker carries its own evidence, so that a
//! backend can neither claim what it has no operations for, nor have operations that it does not claim.

use crate::autodiff::{GradientSet, OnLeaf};
use crate::backend::{Backend, PlainBackend};
use crate::collective::{CollectiveBackend, GradientReduction};
use crate::error::Error;

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
    fn sync(gradients: GradientSet<B>, _: GradientReduction) -> Result<GradientSet<B>, Error>
    where
        B: PlainBackend,
    {
        Ok(gradients)
    }
}

impl<B: CollectiveBackend> Reach<B> for Collective {
    type AfterBackward = Unsynced;
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
    fn sync(gradients: GradientSet<B>, reduction: GradientReduction) -> Result<GradientSet<B>, Error>
    where
        B: PlainBackend,
    {
        B::sync_gradients(gradients, reduction)
    }
}

/// A backend whose device knows at run time whether it is in a group.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is `Unproven`, but does not ask its devices whether they are in a group",
    label = "`Unproven` needs `DynBackend`",
    note = "write `impl DynBackend for {Self}`, or claim `Local`"
)]
pub trait DynBackend: Backend<Reach = Unproven> {
    /// Synchronises gradients if the device is in a group.
    ///
    /// # Errors
    /// If the group fails.
    fn sync_gradients(
        gradients: GradientSet<Self>,
        reduction: GradientReduction,
    ) -> Result<GradientSet<Self>, Error>
    where
        Self: PlainBackend;
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
