//! Tensors of which nothing is known at compile time.

use super::Dyn;
use crate::autodiff::{self, Autodiff, AutodiffBackend, Gradients, LeafId, Strategy};
use crate::backend::{SyncState, Synced, Unsynced};
use crate::collective::{self, CollectiveOp, ParamId, Pending, ReduceKind};
use crate::error::Error;
use crate::raw::{Raw, group_operations};

/// A tensor whose rank, element type and backend are known at run time only, tracked or not. It has every op and composite
/// of [`Raw`], by the names of [`Tensor`](crate::Tensor), and each returns a `Result`.
///
/// A tensor that is not tracked is a constant where it meets one that is. The checkpointing strategy alone is a type, also
/// here: `Raw<Autodiff<Dyn, BalancedCheckpointing>>` has the same methods, and the two do not meet.
///
/// ```
/// use keyway::{DType, DynDevice, DynTensor, Error, TensorData};
/// let device: DynDevice = "flex".parse()?;
/// let x = DynTensor::from_data(TensorData::new(vec![1.0f32, 2.0], [2])?, &device)?.require_grad()?;
/// let y = x.clone().mul(x.clone())?.sum_dim(0)?;
/// assert_eq!(x.grad(&y.backward()?)?.unwrap().into_data()?.as_slice::<f32>()?, &[2.0, 4.0]);
///
/// let i = x.clone().cast(DType::I32)?;
/// assert!(matches!(i.require_grad(), Err(Error::DType { .. })));
/// assert!(matches!(x.all_reduce(keyway::ReduceKind::Sum), Err(Error::NotCollective { .. })));
/// # Ok::<(), Error>(())
/// ```
pub type DynTensor = Raw<Autodiff<Dyn>>;

/// The gradients of [`DynTensor::backward`].
pub type DynGradients = Gradients<Dyn, Unsynced>;

/// Gradients, which only some tensors have: what a type says elsewhere is an `Err` here.
impl<S: Strategy> Raw<Autodiff<Dyn, S>> {
    /// Makes this tensor a leaf, whose gradient `backward` gives.
    ///
    /// # Errors
    /// `DType` if the elements are not floats, `NotLeaf` if an op produced it from another leaf.
    pub fn require_grad(self) -> Result<Self, Error> {
        Autodiff::<Dyn, S>::require_grad(self.into_primitive()).map(Raw::new)
    }

    /// Whether the tensor is a leaf: `backward` gives its gradient.
    pub fn is_require_grad(&self) -> bool {
        Autodiff::<Dyn, S>::leaf(self.primitive()).is_some()
    }

    /// Whether the tensor is tracked: it is a leaf, or was computed from one.
    pub fn is_tracked(&self) -> bool {
        Autodiff::<Dyn, S>::is_tracked(self.primitive())
    }

    /// [`DynTensor::require_grad`](Raw::require_grad), or [`DynTensor::detach`](Raw::detach).
    ///
    /// # Errors
    /// As `require_grad`.
    pub fn set_require_grad(self, require_grad: bool) -> Result<Self, Error> {
        if require_grad {
            self.require_grad()
        } else {
            Ok(self.detach())
        }
    }

    /// The same values, untracked.
    pub fn detach(self) -> Self {
        Raw::new(Autodiff::<Dyn, S>::from_inner(Autodiff::<Dyn, S>::inner(
            self.into_primitive(),
        )))
    }

    /// The values of a tracked tensor, on the plain backend.
    ///
    /// # Errors
    /// `NotTracked` if it is not tracked.
    pub fn inner(self) -> Result<Raw<Dyn>, Error> {
        self.tracked("inner")?;
        Ok(Raw::new(Autodiff::<Dyn, S>::inner(self.into_primitive())))
    }

    /// A tensor of the plain backend, untracked.
    pub fn from_inner(inner: Raw<Dyn>) -> Self {
        Raw::new(Autodiff::<Dyn, S>::from_inner(inner.into_primitive()))
    }

    /// The gradients of the sum of the elements with respect to every leaf that this tensor was computed from.
    ///
    /// # Errors
    /// `NotTracked` if there is none, or if a backend fails.
    pub fn backward(self) -> Result<DynGradients, Error> {
        Autodiff::<Dyn, S>::backward(self.into_primitive()).map(Gradients::from_set)
    }

    /// [`DynTensor::backward`](Raw::backward) and [`Gradients::sync`] in one, where the exchange of a gradient begins as
    /// soon as it is complete. On a device in no group it is `backward`.
    ///
    /// # Errors
    /// `NotTracked` if there is none, `Collective` if a member is missing or does something else, or if a backend fails.
    pub fn backward_synced(self) -> Result<Gradients<Dyn, Synced>, Error> {
        autodiff::backward_synced::<Autodiff<Dyn, S>>(self.into_primitive())
    }

    /// The gradient of this leaf, untracked; `None` if the backward pass did not come by it.
    ///
    /// # Errors
    /// `NotTracked` if the tensor is not tracked, `NotLeaf` if an op produced it.
    pub fn grad<T: SyncState>(&self, gradients: &Gradients<Dyn, T>) -> Result<Option<Self>, Error> {
        let grad = gradients.set.get(self.leaf_id("grad")?).cloned();
        Ok(grad.map(|grad| Self::from_inner(Raw::new(grad))))
    }

    /// Takes the gradient of this leaf out, so that its buffer can be reused; `None` if the backward pass did not come by
    /// it, or it was taken.
    ///
    /// # Errors
    /// As [`DynTensor::grad`](Raw::grad).
    pub fn grad_remove<T: SyncState>(
        &self,
        gradients: &mut Gradients<Dyn, T>,
    ) -> Result<Option<Self>, Error> {
        let grad = gradients.set.remove(self.leaf_id("grad_remove")?);
        Ok(grad.map(|grad| Self::from_inner(Raw::new(grad))))
    }

    /// Puts `grad` in place of the gradient of this leaf, or where there was none.
    ///
    /// # Errors
    /// As [`DynTensor::grad`](Raw::grad); `Tracked` if `grad` is tracked; or if it has another shape or element type, or is
    /// on another device.
    pub fn grad_replace<T: SyncState>(
        &self,
        gradients: &mut Gradients<Dyn, T>,
        grad: Self,
    ) -> Result<(), Error> {
        let op = "grad_replace";
        self.leaf_id(op)?;
        if grad.is_tracked() {
            let producer = grad.primitive().producer().unwrap_or("require_grad").into();
            return Err(Error::Tracked {
                op: op.into(),
                producer,
            });
        }
        let grad = Autodiff::<Dyn, S>::inner(grad.into_primitive());
        gradients.set.replace::<Autodiff<Dyn, S>>(self.primitive(), grad)
    }

    /// Marks this leaf as a parameter that the device's group trains together.
    ///
    /// # Errors
    /// `DType` if the elements are not floats, `NotCollective` if the device is in no group, `NotTracked` if the tensor is
    /// not tracked, `NotLeaf` if an op produced it, `Collective` if another live tensor of another shape has this name.
    pub fn set_distributed_params(self, id: impl Into<ParamId>) -> Result<Self, Error> {
        let op = "set_distributed_params";
        if !self.dtype().is_float() {
            return Err(Error::dtype(op, self.dtype(), "a float type"));
        }
        let device = self.device();
        let member = device.member().ok_or_else(|| device.not_collective())?;
        self.tracked(op)?;
        collective::distribute::<Autodiff<Dyn, S>>(self.into_primitive(), &id.into(), member).map(Raw::new)
    }

    /// The parameter that this leaf was marked as.
    pub fn distributed_params(&self) -> Option<ParamId> {
        Autodiff::<Dyn, S>::param(self.primitive()).cloned()
    }

    /// Whether this leaf was marked by [`DynTensor::set_distributed_params`](Raw::set_distributed_params).
    pub fn is_distributed(&self) -> bool {
        Autodiff::<Dyn, S>::param(self.primitive()).is_some()
    }

    fn tracked(&self, op: &'static str) -> Result<(), Error> {
        if self.is_tracked() {
            return Ok(());
        }
        Err(Error::NotTracked { op: op.into() })
    }

    fn leaf_id(&self, op: &'static str) -> Result<LeafId, Error> {
        if let Some(producer) = self.primitive().producer() {
            return Err(Error::NotLeaf {
                op: op.into(),
                producer: producer.into(),
            });
        }
        Autodiff::<Dyn, S>::leaf(self.primitive()).ok_or_else(|| Error::NotTracked { op: op.into() })
    }
}

/// Operations of the device's group.
///
/// # Errors
/// Each returns `NotCollective` if the device is in no group, what [`CollectiveOp::infer`] finds wrong, and `Collective` if
/// a member is missing or does something else.
impl<S: Strategy> Raw<Autodiff<Dyn, S>> {
    /// Starts an operation.
    pub fn collective(self, op: CollectiveOp) -> Result<Pending<Self>, Error> {
        let device = self.device();
        let member = device.member().ok_or_else(|| device.not_collective())?;
        let meta = op.infer(&self, member.size())?;
        Ok(
            collective::start_tracked::<Dyn, S>(op, self.into_primitive(), &meta)?
                .and_then(|x| Ok(Raw::new(x))),
        )
    }

    group_operations!();
}
