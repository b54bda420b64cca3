//! Groups of replicas: membership, collective operations, and the synchronisation of gradients.
//!
//! A group is a value: [`Mesh::open`] gives one device per member, the device carries the membership, and the group
//! ends when its devices, and the tensors on them, are gone. Each member usually works on a thread of its own, which
//! owns the device: when the thread ends, or panics, the others notice at once. Of a member whose device or tensors are
//! still held elsewhere, they notice only that it does not come.
//!
//! Every member calls the same operations in the same order. Before data moves, members compare what they are about to
//! do; whatever differs, and a member that is missing, is an [`Error::Collective`] on every
//! remaining member, which names the rank at fault and the parameter. After that the group is broken: each later call
//! returns the first cause at once. Nothing waits longer than [`GroupOptions::timeout`].
//!
//! ```
//! use keyway::{Flex, Mesh, ReduceKind, Tensor};
//! let members = Mesh::<Flex>::open(2)?.into_iter().zip([[2.0, 5.0], [4.0, 1.0]]).map(|(device, values)| {
//!     std::thread::spawn(move || Tensor::<Mesh<Flex>, 1>::from_array(values, &device).all_reduce(ReduceKind::Sum))
//! });
//! for member in members.collect::<Vec<_>>() {
//!     assert_eq!(member.join().unwrap()?.into_vec()?, [6.0, 6.0]);
//! }
//! # Ok::<(), keyway::Error>(())
//! ```

use std::fmt;
use std::sync::{Arc, Weak};

use serde::{Deserialize, Serialize};

use crate::backend::{Backend, InGroup};
use crate::error::Error;
use crate::op::Meta;

mod autodiff;
mod gradients;
mod host;
mod in_process;
mod member;
mod mesh;
mod op;
mod pending;
mod reduce;
mod transport;

pub use gradients::{GradientReduction, backward_synced, sync_gradients};
pub use in_process::InProcess;
pub use member::{GroupOptions, Member};
pub use mesh::{Mesh, MeshDevice, MeshTensor};
pub use op::{CollectiveOp, ReduceKind};
pub use pending::Pending;
pub use transport::{Carries, Entry, Header, Message, Part, Transport};

pub(crate) use autodiff::start as start_tracked;
pub(crate) use gradients::distribute;

/// The identity of a parameter in its group: its path in its module, such as `conv1.weight`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ParamId(Arc<str>);

impl ParamId {
    /// The parameter's path in its module.
    pub fn new(path: impl AsRef<str>) -> Self {
        ParamId(path.as_ref().into())
    }
    /// The path.
    pub fn as_str(&self) -> &str {
        &self.0
    }
    /// Tells how long the holders of this id, and of its clones, live.
    fn downgrade(&self) -> Weak<str> {
        Arc::downgrade(&self.0)
    }
}

impl From<&str> for ParamId {
    fn from(path: &str) -> Self {
        ParamId::new(path)
    }
}

impl fmt::Display for ParamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A backend whose devices are members of a group.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot take part in collective operations",
    label = "`{Self}` is not a `Collective` backend",
    note = "lift it into a group of replicas with `Mesh<{Self}>`",
    note = "of a device chosen at run time, `dispatch_collective!` gives the typed backend"
)]
pub trait CollectiveBackend: Backend<Reach: InGroup<Self::Plain>> {
    /// The device's place in its group.
    fn member(device: &Self::Device) -> &Arc<Member>;

    /// Starts an operation on a tensor; `meta` is that of the result ([`CollectiveOp::infer`]).
    ///
    /// # Errors
    /// If the group is broken already.
    fn start(op: CollectiveOp, x: Self::Primitive, meta: &Meta) -> Result<Pending<Self::Primitive>, Error>;

    /// Starts the reduction of many tensors at once, element by element over the members; each has the name of a
    /// parameter.
    ///
    /// # Errors
    /// If the group is broken already.
    fn start_all_reduce(
        kind: ReduceKind,
        xs: Vec<(ParamId, Self::Primitive)>,
        device: &Self::Device,
    ) -> Result<Pending<Vec<Self::Primitive>>, Error>;
}
