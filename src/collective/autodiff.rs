//! Collective operations under `Autodiff`, and their gradients.

use std::sync::Arc;

use super::{CollectiveBackend, CollectiveOp, Member, ParamId, Pending, ReduceKind};
use crate::autodiff::{Autodiff, AutodiffBackend, Strategy, Tracked};
use crate::backend::PlainBackend;
use crate::error::Error;
use crate::op::Meta;
use crate::raw::Raw;

/// The gradient of an operation is an operation of the group itself, of which every member takes part in the backward
/// pass, or none: members differentiate the same operations in the same order.
impl<B: PlainBackend + CollectiveBackend, S: Strategy> CollectiveBackend for Autodiff<B, S> {
    fn member(device: &B::Device) -> &Arc<Member> {
        B::member(device)
    }

    fn start(op: CollectiveOp, x: Tracked<B>, meta: &Meta) -> Result<Pending<Tracked<B>>, Error> {
        let tracked = Self::is_tracked(&x);
        if tracked {
            differentiable(op)?;
        }
        let pending = B::start(op, Self::inner(x.clone()), meta)?;
        Ok(pending.and_then(move |value| {
            Ok(if tracked {
                Self::record(x, op.name(), value, move |grad| backward(op, grad))
            } else {
                Self::from_inner(value)
            })
        }))
    }

    fn start_all_reduce(
        kind: ReduceKind,
        xs: Vec<(ParamId, Tracked<B>)>,
        device: &B::Device,
    ) -> Result<Pending<Vec<Tracked<B>>>, Error> {
        if xs.iter().any(|(_, x)| Self::is_tracked(x)) {
            return Err(Error::argument(
                "all_reduce",
                "many at once record no gradients; `inner` first",
            ));
        }
        let xs = xs.into_iter().map(|(id, x)| (id, Self::inner(x)));
        let pending = B::start_all_reduce(kind, xs.collect(), device)?;
        Ok(pending.and_then(|values| Ok(values.into_iter().map(Self::from_inner).collect())))
    }
}

fn differentiable(op: CollectiveOp) -> Result<(), Error> {
    match op {
        CollectiveOp::AllReduce(kind) | CollectiveOp::ReduceScatter { kind, .. }
            if !matches!(kind, ReduceKind::Sum | ReduceKind::Mean) =>
        {
            let message = format!(
                "{} has no gradient between members; `inner` or `detach` first",
                kind.name()
            );
            Err(Error::argument(op.name(), message))
        }
        _ => Ok(()),
    }
}

/// The sum, over the members' results, of what each contributes to this member's gradient.
fn backward<B: CollectiveBackend>(op: CollectiveOp, grad: Raw<B>) -> Result<Raw<B>, Error> {
    let device = grad.device();
    let (rank, size) = (B::member(&device).rank(), B::member(&device).size());
    match op {
        CollectiveOp::AllReduce(kind) => grad.all_reduce(kind),
        CollectiveOp::Broadcast { root } => {
            let sum = grad.all_reduce(ReduceKind::Sum)?;
            if rank == root { Ok(sum) } else { sum.full_like(0.0) }
        }
        CollectiveOp::AllGather { axis } => grad.reduce_scatter(ReduceKind::Sum, axis),
        CollectiveOp::ReduceScatter { kind, axis } => {
            let grad = grad.all_gather(axis)?;
            match kind {
                ReduceKind::Mean => grad.div(size as f64),
                _ => Ok(grad),
            }
        }
    }
}
