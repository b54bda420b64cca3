//! Collectives.
use crate::autodiff::GradientSet;
use crate::backend::{Backend, Collective, PlainBackend};
use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The identity of a parameter in its group: its path in its module, such as `conv1.weight`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ParamId(std::sync::Arc<str>);

impl ParamId {
    /// The parameter's path in its module.
    pub fn new(path: impl AsRef<str>) -> Self {
        ParamId(path.as_ref().into())
    }
    /// The path.
    pub fn as_str(&self) -> &str {
        &self.0
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
    note = "lift it into a group of replicas with `Mesh<{Self}>`"
)]
pub trait CollectiveBackend: Backend<Reach = Collective> {}

pub(crate) fn sync_gradients<B: CollectiveBackend + PlainBackend>(
    g: GradientSet<B>,
) -> Result<GradientSet<B>, Error> {
    Ok(g)
}
