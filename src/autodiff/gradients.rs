//! The result of a backward pass.

use std::collections::{BTreeMap, HashMap};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use super::AutodiffBackend;
use crate::backend::{Backend, BackendTypes, PlainBackend, Reach, SyncState, Synced};
use crate::collective::{GradientReduction, ParamId};
use crate::error::Error;
use crate::op::{self, HasMeta};
use crate::raw::Raw;

/// The identity of a leaf; clones of a leaf share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LeafId(u64);

impl LeafId {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        LeafId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Gradients by leaf, and which leaves are parameters that a group trains together.
pub struct GradientSet<B: ?Sized + BackendTypes> {
    pub(crate) device: B::Device,
    pub(crate) by_leaf: HashMap<LeafId, B::Primitive>,
    pub(crate) params: BTreeMap<ParamId, LeafId>,
}

/// The mean, over the members of the device's group, of the gradients of the sum of `x`.
pub(crate) fn backward_synced<B: AutodiffBackend>(
    x: B::Primitive,
) -> Result<Gradients<B::Plain, Synced>, Error> {
    let device = B::Plain::device(&B::inner(x.clone()));
    let set = <B::Reach as Reach<B::Plain>>::backward_synced(&device, |on_leaf| match on_leaf {
        Some(on_leaf) => B::backward_with(x, on_leaf),
        None => B::backward(x),
    })?;
    Ok(Gradients::from_set(set))
}

impl<B: Backend> GradientSet<B> {
    pub(crate) fn new(device: B::Device) -> Self {
        GradientSet {
            device,
            by_leaf: HashMap::new(),
            params: BTreeMap::new(),
        }
    }

    /// The device whose group trains the parameters: theirs, or that of the backward pass where it met none.
    pub fn group_device(&self) -> B::Device {
        let grad = self.params.values().find_map(|leaf| self.by_leaf.get(leaf));
        grad.map_or_else(|| self.device.clone(), B::device)
    }

    /// Adds to the gradient of a leaf.
    pub(crate) fn insert(&mut self, leaf: LeafId, param: Option<ParamId>, grad: Raw<B>) -> Result<(), Error> {
        let total = match self.by_leaf.remove(&leaf) {
            Some(other) => Raw::<B>::new(other).add(grad)?,
            None => grad,
        };
        self.by_leaf.insert(leaf, total.into_primitive());
        let Some(param) = param else { return Ok(()) };
        match self.params.insert(param.clone(), leaf) {
            Some(other) if other != leaf => {
                let message = format!("two leaves are the parameter `{param}`; each needs a name of its own");
                Err(Error::argument("backward", message))
            }
            _ => Ok(()),
        }
    }
}

impl<B: PlainBackend> GradientSet<B> {
    /// Sets the gradient of a leaf.
    pub(crate) fn replace<A: AutodiffBackend<Plain = B>>(
        &mut self,
        leaf: &A::Primitive,
        grad: B::Primitive,
    ) -> Result<(), Error> {
        let op = "grad_replace";
        let id = A::leaf(leaf).ok_or_else(|| {
            let message = "the tensor is no leaf; call `require_grad` on the leaf that it is computed from";
            Error::argument(op, message)
        })?;
        if leaf.shape() != grad.shape() {
            let message = "a gradient has the shape of its leaf";
            return Err(Error::shape(op, &[leaf.shape(), grad.shape()], message));
        }
        if leaf.dtype() != grad.dtype() {
            return Err(Error::dtype(op, grad.dtype(), leaf.dtype().to_string()));
        }
        let value = A::inner(leaf.clone());
        if !B::same_device(&value, &grad) {
            return Err(op::mismatch::<B>(op, &B::device(&value), &B::device(&grad)));
        }
        self.by_leaf.remove(&id);
        self.insert(id, A::param(leaf).cloned(), Raw::new(grad))
            .map_err(|error| error.of(op))
    }
}

impl<B: BackendTypes> GradientSet<B> {
    /// The device that the backward pass ran on.
    pub fn device(&self) -> &B::Device {
        &self.device
    }

    /// The same gradients on another backend.
    ///
    /// # Errors
    /// The first that `f` returns.
    pub fn try_map<B2: BackendTypes>(
        self,
        device: B2::Device,
        mut f: impl FnMut(B::Primitive) -> Result<B2::Primitive, Error>,
    ) -> Result<GradientSet<B2>, Error> {
        let by_leaf = self
            .by_leaf
            .into_iter()
            .map(|(leaf, grad)| Ok((leaf, f(grad)?)))
            .collect::<Result<_, Error>>()?;
        Ok(GradientSet {
            device,
            by_leaf,
            params: self.params,
        })
    }

    /// The gradient of a leaf.
    pub fn get(&self, leaf: LeafId) -> Option<&B::Primitive> {
        self.by_leaf.get(&leaf)
    }

    /// Takes the gradient of a leaf out.
    pub fn remove(&mut self, leaf: LeafId) -> Option<B::Primitive> {
        self.params.retain(|_, of| *of != leaf);
        self.by_leaf.remove(&leaf)
    }
}

impl<B: ?Sized + BackendTypes> Clone for GradientSet<B> {
    fn clone(&self) -> Self {
        GradientSet {
            device: self.device.clone(),
            by_leaf: self.by_leaf.clone(),
            params: self.params.clone(),
        }
    }
}

/// The gradients of a backward pass. `S` says whether they are the same on every member of the group: only those reach
/// an optimizer.
pub struct Gradients<B: PlainBackend, S> {
    pub(crate) set: GradientSet<B>,
    state: PhantomData<S>,
}

/// What `backward` gives on backend `B`: synchronised gradients on a local one, unsynchronised ones on others.
pub type AfterBackward<B> = <<B as Backend>::Reach as Reach<<B as Backend>::Plain>>::AfterBackward;

/// Gradients that an optimizer may step with.
#[diagnostic::on_unimplemented(
    message = "these gradients are not synchronised between the members of the group",
    label = "`{Self}` gradients",
    note = "call `.sync()?` first"
)]
pub trait ReadyToStep: SyncState {}
impl ReadyToStep for Synced {}

impl<B: PlainBackend, S: SyncState> Gradients<B, S> {
    pub(crate) fn from_set(set: GradientSet<B>) -> Self {
        Gradients {
            set,
            state: PhantomData,
        }
    }

    /// Makes the gradients of distributed parameters the same on every member of the group: their mean. Parameters that
    /// this member did not use count as zeros. Free on a local backend.
    ///
    /// Parameters are distributed by [`Module::distribute`](crate::nn::Module::distribute) or
    /// [`set_distributed_params`](crate::Tensor::set_distributed_params). The gradients of other leaves stay each member's
    /// own.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let members = Mesh::<Flex>::open(2)?.into_iter().zip([1.0, 3.0]);
    /// let members = members.map(|(device, x)| std::thread::spawn(move || {
    ///     let w = Tensor::<Autodiff<Mesh<Flex>>, 1>::ones([1], &device).set_distributed_params("w");
    ///     w.grad(&(w.clone() * x).backward().sync()?).unwrap().into_vec()
    /// }));
    /// for member in members.collect::<Vec<_>>() {
    ///     assert_eq!(member.join().unwrap()?, [2.0]); // the mean of 1 and 3
    /// }
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a member is missing, or does something else.
    pub fn sync(self) -> Result<Gradients<B, Synced>, Error> {
        self.sync_with(GradientReduction::Mean)
    }

    /// [`Gradients::sync`] with another reduction than the mean.
    ///
    /// ```
    /// use keyway::GradientReduction;
    /// use keyway::prelude::*;
    /// let members = Mesh::<Flex>::open(2)?.into_iter().zip([1.0, 3.0]);
    /// let members = members.map(|(device, x)| std::thread::spawn(move || {
    ///     let w = Tensor::<Autodiff<Mesh<Flex>>, 1>::ones([1], &device).set_distributed_params("w");
    ///     w.grad(&(w.clone() * x).backward().sync_with(GradientReduction::Sum)?).unwrap().into_vec()
    /// }));
    /// for member in members.collect::<Vec<_>>() {
    ///     assert_eq!(member.join().unwrap()?, [4.0]); // the sum of 1 and 3
    /// }
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Gradients::sync`].
    pub fn sync_with(self, reduction: GradientReduction) -> Result<Gradients<B, Synced>, Error> {
        B::Reach::sync(self.set, reduction).map(Gradients::from_set)
    }

    /// Adds the gradients of another backward pass, such as that of the next micro-batch. A leaf that only one pass came by
    /// keeps the gradient of that.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Autodiff<Flex>, 1>::from_array([1.0, 2.0], &Default::default()).require_grad();
    /// let first = (x.clone() * 2.0).backward();
    /// let both = first.accumulate((x.clone() * 3.0).backward())?;
    /// assert_eq!(x.grad(&both).unwrap().into_vec()?, [5.0, 5.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the backend fails.
    pub fn accumulate(mut self, other: Self) -> Result<Self, Error> {
        let params: HashMap<LeafId, ParamId> = other
            .set
            .params
            .into_iter()
            .map(|(param, leaf)| (leaf, param))
            .collect();
        for (leaf, grad) in other.set.by_leaf {
            self.set
                .insert(leaf, params.get(&leaf).cloned(), Raw::new(grad))?;
        }
        Ok(self)
    }

    /// The number of leaves that have a gradient.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Autodiff<Flex>, 1>::from_array([1.0, 2.0], &Default::default()).require_grad();
    /// let y = x.clone().detach().require_grad();
    /// assert_eq!((x * y).backward().len(), 2);
    /// ```
    pub fn len(&self) -> usize {
        self.set.by_leaf.len()
    }

    /// Whether no leaf has a gradient.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Autodiff<Flex>, 1>::from_array([1.0, 2.0], &Default::default()).require_grad();
    /// let mut gradients = (x.clone() * 2.0).backward();
    /// assert!(!gradients.is_empty());
    /// x.grad_remove(&mut gradients);
    /// assert!(gradients.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.set.by_leaf.is_empty()
    }
}

impl<B: PlainBackend, S> Clone for Gradients<B, S> {
    fn clone(&self) -> Self {
        Gradients {
            set: self.set.clone(),
            state: PhantomData,
        }
    }
}

impl<B: PlainBackend, S> std::fmt::Debug for Gradients<B, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gradients")
            .field("leaves", &self.set.by_leaf.len())
            .finish()
    }
}
