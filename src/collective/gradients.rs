//! Gradients of the parameters that a group trains together.

use super::member::{LiveParam, entries};
use super::{CollectiveBackend, Member, ParamId, Pending, ReduceKind};
use crate::autodiff::{AutodiffBackend, GradientSet, OnLeaf};
use crate::backend::{Backend, PlainBackend};
use crate::error::Error;
use crate::op::{HasMeta, Meta};
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
    let used = params.iter().map(|param| set.params.contains_key(&param.id));
    let used = member.agree("sync", entries(&params), used.collect())?;
    let mut leaves = Vec::new();
    let mut grads = Vec::new();
    for (param, _) in params.into_iter().zip(used).filter(|&(_, used)| used) {
        let leaf = set.params.get(&param.id).copied().unwrap_or(param.leaf);
        let grad = match set.by_leaf.remove(&leaf) {
            Some(grad) => grad,
            None => zeros::<B>(&param.meta, &set.device)?,
        };
        set.params.insert(param.id.clone(), leaf);
        leaves.push(leaf);
        grads.push((param.id, grad));
    }
    if !grads.is_empty() {
        let grads = B::start_all_reduce(reduction.kind(), grads, &set.device)?.wait()?;
        set.by_leaf.extend(leaves.into_iter().zip(grads));
    }
    Ok(set)
}

/// Runs a backward pass and reduces gradients on the way: a bucket of parameters is submitted as soon as it and those
/// before it are complete. The result is that of [`sync_gradients`].
///
/// Buckets are made of the registered parameters in descending order of names, which all members share and which is
/// near the order in which layers named in ascending order finish.
///
/// # Errors
/// As `sync_gradients`, and those of the backward pass.
pub fn backward_synced<B: CollectiveBackend + PlainBackend>(
    device: &B::Device,
    backward: impl FnOnce(&mut OnLeaf<'_, B>) -> Result<GradientSet<B>, Error>,
) -> Result<GradientSet<B>, Error> {
    if B::member(device).size() == 1 {
        return backward(&mut |_, _, _| Ok(()));
    }
    let mut overlap = Overlap::<B>::start(device)?;
    let set = backward(&mut |_, param, grad| match param {
        Some(param) => overlap.complete(param, grad),
        None => Ok(()),
    })?;
    overlap.finish(set)
}

/// The least bytes of a bucket that is not the last.
const BUCKET: usize = 1 << 20;

/// Gradients under way while a backward pass runs.
struct Overlap<B: CollectiveBackend> {
    device: B::Device,
    params: Vec<LiveParam>,
    grads: Vec<Option<Raw<B>>>,
    /// The end of each bucket, which begins at that of the one before.
    ends: Vec<usize>,
    buckets: Vec<Pending<Vec<B::Primitive>>>,
    submitted: usize,
}

impl<B: CollectiveBackend + PlainBackend> Overlap<B> {
    fn start(device: &B::Device) -> Result<Self, Error> {
        let member = B::member(device);
        let mut params = member.live_params();
        params.reverse();
        // Completes before all that follows, and fails all that follows where sets differ.
        let _started = member.start_agree("backward_synced", entries(&params), vec![])?;
        let mut ends = Vec::new();
        let mut bytes = 0;
        for (i, LiveParam { meta, .. }) in params.iter().enumerate() {
            bytes += meta.shape.num_elements() * meta.dtype.size();
            if bytes >= BUCKET || i + 1 == params.len() {
                ends.push(i + 1);
                bytes = 0;
            }
        }
        Ok(Overlap {
            device: device.clone(),
            grads: params.iter().map(|_| None).collect(),
            params,
            ends,
            buckets: Vec::new(),
            submitted: 0,
        })
    }

    fn complete(&mut self, param: &ParamId, grad: &Raw<B>) -> Result<(), Error> {
        // In descending order, hence the reversed comparison.
        let Ok(place) = self.params.binary_search_by(|live| param.cmp(&live.id)) else {
            return Ok(());
        };
        self.grads[place] = Some(grad.clone());
        while let Some(&end) = self.ends.get(self.buckets.len())
            && self.grads[self.submitted..end].iter().all(Option::is_some)
        {
            self.submit(end)?;
        }
        Ok(())
    }

    fn submit(&mut self, end: usize) -> Result<(), Error> {
        let range = self.submitted..end;
        let filled = self.params[range.clone()]
            .iter()
            .zip(&self.grads[range])
            .map(|(param, grad)| {
                let grad = match grad {
                    Some(grad) => grad.primitive().clone(),
                    None => zeros::<B>(&param.meta, &self.device)?,
                };
                Ok((param.id.clone(), grad))
            });
        let grads = filled.collect::<Result<_, Error>>()?;
        self.buckets
            .push(B::start_all_reduce(ReduceKind::Mean, grads, &self.device)?);
        self.submitted = end;
        Ok(())
    }

    fn finish(mut self, mut set: GradientSet<B>) -> Result<GradientSet<B>, Error> {
        while let Some(&end) = self.ends.get(self.buckets.len()) {
            self.submit(end)?;
        }
        let used = self.grads.iter().map(Option::is_some).collect();
        let used = B::member(&self.device).agree("backward_synced", entries(&self.params), used)?;
        let mut reduced = Vec::with_capacity(self.params.len());
        for bucket in self.buckets {
            reduced.append(&mut bucket.wait()?);
        }
        let reduced = self.params.into_iter().zip(reduced).zip(used);
        for ((param, grad), _) in reduced.filter(|&(_, used)| used) {
            let leaf = *set.params.entry(param.id).or_insert(param.leaf);
            set.by_leaf.insert(leaf, grad);
        }
        Ok(set)
    }
}

impl GradientReduction {
    fn kind(self) -> ReduceKind {
        match self {
            GradientReduction::Mean => ReduceKind::Mean,
            GradientReduction::Sum => ReduceKind::Sum,
        }
    }
}

fn zeros<B: Backend>(meta: &Meta, device: &B::Device) -> Result<B::Primitive, Error> {
    Raw::<B>::full(meta.shape.clone(), 0.0, meta.dtype, device).map(Raw::into_primitive)
}

/// Marks a leaf as a parameter that the group trains together, and registers it with this member as long as the leaf, or
/// gradients of it, are held. To mark the leaf of an updated parameter replaces that of the old one.
///
/// # Errors
/// `NotLeaf` or `DType` if the tensor cannot be a leaf, `Collective` if another live tensor of another shape or element
/// type has this name.
pub(crate) fn distribute<B: AutodiffBackend>(
    x: B::Primitive,
    id: &ParamId,
    member: &Member,
) -> Result<B::Primitive, Error> {
    // A copy that only this leaf holds: its life is that of the registration.
    let id = ParamId::new(id.as_str());
    let x = B::set_param(x, id.clone())?;
    if let Some(leaf) = B::leaf(&x) {
        member.register(&id, leaf, x.meta())?;
    }
    Ok(x)
}
