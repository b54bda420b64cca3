//! Collective operations under `Autodiff`, and their gradients.

use std::sync::Arc;

use super::{CollectiveBackend, CollectiveOp, Member, ParamId, Pending, ReduceKind};
use crate::autodiff::{Autodiff, AutodiffBackend, Strategy, Tracked};
use crate::backend::{PlainBackend, Reach, not_collective};
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
        start::<B, S>(op, x, meta)
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

/// Starts an operation of the device's group, and records it. A backend whose reach is known at run time comes here too.
pub(crate) fn start<B: PlainBackend, S: Strategy>(
    op: CollectiveOp,
    x: Tracked<B>,
    meta: &Meta,
) -> Result<Pending<Tracked<B>>, Error> {
    let tracked = Autodiff::<B, S>::is_tracked(&x);
    if tracked {
        differentiable(op)?;
    }
    let pending = B::Reach::start(op, Autodiff::<B, S>::inner(x.clone()), meta)?;
    Ok(pending.and_then(move |value| {
        Ok(if tracked {
            Autodiff::<B, S>::record(x, op.name(), value, move |grad| backward(op, grad))
        } else {
            Autodiff::<B, S>::from_inner(value)
        })
    }))
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
fn backward<B: PlainBackend>(op: CollectiveOp, grad: Raw<B>) -> Result<Raw<B>, Error> {
    let device = grad.device();
    let member = B::Reach::member(&device).ok_or_else(|| not_collective::<B>(&device))?;
    let (rank, size) = (member.rank(), member.size());
    let run = |op: CollectiveOp, x: Raw<B>| {
        let meta = op.infer(&x, size)?;
        B::Reach::start(op, x.into_primitive(), &meta)?
            .wait()
            .map(Raw::new)
    };
    match op {
        CollectiveOp::AllReduce(_) => run(op, grad),
        CollectiveOp::Broadcast { root } => {
            let sum = run(CollectiveOp::AllReduce(ReduceKind::Sum), grad)?;
            if rank == root { Ok(sum) } else { sum.full_like(0.0) }
        }
        CollectiveOp::AllGather { axis } => {
            let kind = ReduceKind::Sum;
            run(CollectiveOp::ReduceScatter { kind, axis }, grad)
        }
        CollectiveOp::AllToAll { split, concat } => {
            let back = CollectiveOp::AllToAll {
                split: concat,
                concat: split,
            };
            run(back, grad)
        }
        CollectiveOp::ReduceScatter { kind, axis } => {
            let grad = run(CollectiveOp::AllGather { axis }, grad)?;
            match kind {
                ReduceKind::Mean => grad.div(size as f64),
                _ => Ok(grad),
            }
        }
    }
}
