//! A model that the members of a group train together.

use super::module::{Kind, Module, Visitor};
use crate::autodiff::AutodiffBackend;
use crate::backend::{Backend, Reach, not_collective};
use crate::collective::{self, CollectiveOp, Entry};
use crate::error::Error;
use crate::op::HasMeta;
use crate::raw::Raw;

/// Compares the members' models, hands out rank 0's values, and marks the parameters.
///
/// # Errors
/// `NotCollective` if the device is in no group, `Collective` if a member is missing, or its model has other paths,
/// shapes or element types.
pub(super) fn distribute<B: AutodiffBackend, M: Module<B>>(mut model: M) -> Result<M, Error> {
    let mut device = None;
    let mut entries = Vec::new();
    model.for_each(|slot, x| {
        device.get_or_insert_with(|| B::Plain::device(&B::inner(x.primitive().clone())));
        entries.push(Entry {
            param: Some(slot.path.into()),
            meta: x.meta(),
        });
        Ok(())
    })?;
    let Some(device) = device else { return Ok(model) };
    let member = B::Reach::member(&device).ok_or_else(|| not_collective::<B::Plain>(&device))?;
    member.agree("distribute", entries, vec![])?;
    model.visit(&mut Visitor::new(&mut |slot, x: &Raw<B>| {
        let own = B::inner(x.primitive().clone());
        let first = B::Reach::start(CollectiveOp::Broadcast { root: 0 }, own, &x.meta())?.wait()?;
        let first = B::from_inner(first);
        Ok(Some(Raw::new(match slot.kind {
            Kind::Buffer => first,
            Kind::Param => collective::distribute::<B>(first, &slot.path.into(), member)?,
        })))
    }))?;
    Ok(model)
}
