use super::Raw;
use crate::collective::{CollectiveBackend, CollectiveOp, Pending, ReduceKind};
use crate::error::Error;

/// Operations of the device's group.
///
/// # Errors
/// Each returns what [`CollectiveOp::infer`] finds wrong; and if a member is missing or does something else.
impl<B: CollectiveBackend> Raw<B> {
    /// Starts an operation.
    pub fn collective(self, op: CollectiveOp) -> Result<Pending<Self>, Error> {
        let size = B::member(&self.device()).size();
        let meta = op.infer(&self, size)?;
        Ok(B::start(op, self.0, &meta)?.and_then(|x| Ok(Raw(x))))
    }

    /// Reduces the members' tensors, element by element in the order of ranks.
    pub fn all_reduce(self, kind: ReduceKind) -> Result<Self, Error> {
        self.collective(CollectiveOp::AllReduce(kind))?.wait()
    }

    /// Gives every member the tensor of one.
    pub fn broadcast(self, root: usize) -> Result<Self, Error> {
        self.collective(CollectiveOp::Broadcast { root })?.wait()
    }

    /// Concatenates the members' tensors along an axis, in the order of ranks.
    pub fn all_gather(self, axis: usize) -> Result<Self, Error> {
        self.collective(CollectiveOp::AllGather { axis })?.wait()
    }

    /// Gives each member its part of the reduction along an axis.
    pub fn reduce_scatter(self, kind: ReduceKind, axis: usize) -> Result<Self, Error> {
        self.collective(CollectiveOp::ReduceScatter { kind, axis })?
            .wait()
    }
}
