//! Gradients of the parameters that a group trains together.

use super::transport::Entry;
use super::{CollectiveBackend, ParamId, ReduceKind};
use crate::autodiff::{AutodiffBackend, GradientSet};
use crate::backend::PlainBackend;
use crate::error::Error;
use crate::op::HasMeta;
use crate::raw::Raw;

/// What gradients become over the members of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GradientReduction {
    /// Their mean: with equal shares, the gradient of the mean loss over all of them.
    #[default]
    Mean,
    /// Their sum.
    Sum,
}

/// Makes the gradients of the registered parameters the same on every member.
///
/// Members compare their registered parameters first, and tell each other which of them have a gradient; those that any
/// member has are reduced, in one operation, with zeros where a member has none. A gradient that no member has stays
/// absent.
///
/// # Errors
/// If a member is missing, or has registered other parameters; the error names the parameter and the rank.
pub fn sync_gradients<B: CollectiveBackend + PlainBackend>(
    mut set: GradientSet<B>,
    reduction: GradientReduction,
) -> Result<GradientSet<B>, Error> {
    let member = B::member(&set.device).clone();
    if member.size() == 1 {
        return Ok(set);
    }
    let params = member.live_params();
    let entry = |(id, meta)| Entry {
        param: Some(id),
        meta,
    };
    let entries = params
        .iter()
        .map(|param| entry((param.id.clone(), param.meta.clone())));
    let used = params.iter().map(|param| set.params.contains_key(&param.id));
    let used = member.agree("sync", entries.collect(), used.collect())?;
    let mut leaves = Vec::new();
    let mut grads = Vec::new();
    for (param, _) in params.into_iter().zip(used).filter(|&(_, used)| used) {
        let leaf = set.params.get(&param.id).copied().unwrap_or(param.leaf);
        let grad = match set.by_leaf.remove(&leaf) {
            Some(grad) => grad,
            None => Raw::<B>::full(param.meta.shape, 0.0, param.meta.dtype, &set.device)?.into_primitive(),
        };
        set.params.insert(param.id.clone(), leaf);
        leaves.push(leaf);
        grads.push((param.id, grad));
    }
    let kind = match reduction {
        GradientReduction::Mean => ReduceKind::Mean,
        GradientReduction::Sum => ReduceKind::Sum,
    };
    if !grads.is_empty() {
        let grads = B::start_all_reduce(kind, grads, &set.device)?.wait()?;
        set.by_leaf.extend(leaves.into_iter().zip(grads));
    }
    Ok(set)
}

/// Marks a leaf as a parameter that the group trains together, and registers it with this member as long as the leaf, or
/// gradients of it, are held. To mark the leaf of an updated parameter replaces that of the old one.
///
/// # Errors
/// `NotLeaf` or `DType` if the tensor cannot be a leaf, `Collective` if another live tensor of another shape or element
/// type has this name.
pub(crate) fn distribute<B: AutodiffBackend + CollectiveBackend>(
    x: B::Primitive,
    id: &ParamId,
) -> Result<B::Primitive, Error> {
    // A copy that only this leaf holds: its life is that of the registration.
    let id = ParamId::new(id.as_str());
    let x = B::set_param(x, id.clone())?;
    if let Some(leaf) = B::leaf(&x) {
        B::member(&B::device(&x)).register(&id, leaf, x.meta())?;
    }
    Ok(x)
}
