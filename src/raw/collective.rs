use super::Raw;
use crate::collective::{CollectiveBackend, CollectiveOp, Pending, ReduceKind};
use crate::error::Error;

/// The operations by name, from a method `collective` that starts one.
macro_rules! group_operations {
    () => { group_operations! {
        /// Reduces the members' tensors, element by element in the order of ranks.
        all_reduce all_reduce_async(kind: ReduceKind) => CollectiveOp::AllReduce(kind);
        /// Gives every member the tensor of one.
        broadcast broadcast_async(root: usize) => CollectiveOp::Broadcast { root };
        /// Concatenates the members' tensors along an axis, in the order of ranks.
        all_gather all_gather_async(axis: usize) => CollectiveOp::AllGather { axis };
        /// Gives each member its part of the reduction along an axis.
        reduce_scatter reduce_scatter_async(axis: usize, kind: ReduceKind) =>
            CollectiveOp::ReduceScatter { kind, axis };
        /// Gives each member its part of every tensor along the axis `split`, joined along the axis `concat`.
        all_to_all all_to_all_async(split: usize, concat: usize) => CollectiveOp::AllToAll { split, concat };
    } };
    ($($(#[$doc:meta])* $name:ident $start:ident($($arg:ident: $Arg:ty),*) => $op:expr;)*) => { $(
        $(#[$doc])*
        pub fn $name(self, $($arg: $Arg),*) -> Result<Self, Error> {
            self.$start($($arg),*)?.wait()
        }

        #[doc = concat!("Starts [`", stringify!($name), "`](Self::", stringify!($name), ").")]
        pub fn $start(self, $($arg: $Arg),*) -> Result<Pending<Self>, Error> {
            self.collective($op)
        }
    )* };
}
pub(crate) use group_operations;

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

    group_operations!();
}
