//! Gradients, where the backend records them. The bounds stand on the methods: there an unmet one gives this crate's own
//! message.

use super::{Tensor, ok};
use crate::autodiff::{AfterBackward, AutodiffBackend, Gradients};
use crate::backend::Backend;
use crate::collective::{self, CollectiveBackend, ParamId};
use crate::element::{Element, FloatElement};
use crate::error::Error;

/// Gradients, on a backend that records them: [`Autodiff`](crate::Autodiff).
impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// Makes this tensor a leaf: what is computed from it is tracked, and `backward` gives its gradient. A leaf stays the
    /// leaf it is.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Autodiff<Flex>, 1>::from_array([1.0, 2.0], &device).require_grad();
    /// assert!(x.is_require_grad() && (x.clone() * 2.0).is_tracked());
    /// ```
    ///
    /// # Panics
    /// If an op produced it from another leaf; `detach` first.
    #[track_caller]
    pub fn require_grad(self) -> Self
    where
        B: AutodiffBackend,
        E: FloatElement,
    {
        ok(self.try_require_grad())
    }

    /// [`Tensor::require_grad`], with what went wrong as a value.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Autodiff<Flex>, 1>::from_array([1.0, 2.0], &device).require_grad();
    /// assert!((x * 2.0).try_require_grad().is_err()); // `x` is the leaf
    /// ```
    ///
    /// # Errors
    /// If an op produced it from another leaf.
    pub fn try_require_grad(self) -> Result<Self, Error>
    where
        B: AutodiffBackend,
        E: FloatElement,
    {
        B::require_grad(self.into_primitive()).map(Self::from_primitive)
    }

    /// Whether the tensor is a leaf: `backward` gives its gradient.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Autodiff<Flex>, 1>::ones([2], &Default::default()).require_grad();
    /// let y = x.clone() * 2.0;
    /// assert!(x.is_require_grad() && x.is_tracked());
    /// assert!(!y.is_require_grad() && y.is_tracked());
    /// ```
    pub fn is_require_grad(&self) -> bool
    where
        B: AutodiffBackend,
        E: FloatElement,
    {
        B::leaf(self.raw().primitive()).is_some()
    }

    /// Whether the tensor is tracked: it is a leaf, or was computed from one.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Autodiff<Flex>, 1>::from_array([1.0, 2.0], &device).require_grad();
    /// assert!((x.clone() * 2.0).is_tracked());
    /// assert!(!x.detach().is_tracked());
    /// ```
    pub fn is_tracked(&self) -> bool
    where
        B: AutodiffBackend,
        E: FloatElement,
    {
        B::is_tracked(self.raw().primitive())
    }

    /// [`Tensor::require_grad`], or [`Tensor::detach`].
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Autodiff<Flex>, 1>::ones([2], &Default::default()).set_require_grad(true);
    /// assert!(x.is_require_grad());
    /// assert!(!x.set_require_grad(false).is_tracked());
    /// ```
    ///
    /// # Panics
    /// As [`Tensor::require_grad`].
    #[track_caller]
    pub fn set_require_grad(self, require_grad: bool) -> Self
    where
        B: AutodiffBackend,
        E: FloatElement,
    {
        if require_grad {
            self.require_grad()
        } else {
            self.detach()
        }
    }

    /// The same values, untracked: no gradient flows back through them.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Autodiff<Flex>, 1>::from_array([3.0], &device).require_grad();
    /// let gradients = (x.clone() * x.clone().detach()).backward();
    /// assert_eq!(x.grad(&gradients).unwrap().into_vec()?, [3.0]); // not 6
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn detach(self) -> Self
    where
        B: AutodiffBackend,
    {
        Self::from_primitive(B::detach(self.into_primitive()))
    }

    /// The values on the plain backend, which records nothing: code on them needs no `no_grad`.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Autodiff<Flex>, 1>::from_array([1.0], &device).require_grad();
    /// let step: Tensor<Flex, 1> = x.inner() - 0.1;
    /// let x = Tensor::<Autodiff<Flex>, 1>::from_inner(step).require_grad();
    /// # let _ = x;
    /// ```
    pub fn inner(self) -> Tensor<B::Plain, D, E>
    where
        B: AutodiffBackend,
    {
        Tensor::from_primitive(B::inner(self.into_primitive()))
    }

    /// A tensor of the plain backend, untracked, on the one that records gradients.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([3.0], &Default::default());
    /// let x = Tensor::<Autodiff<Flex>, 1>::from_inner(x);
    /// assert!(!x.is_require_grad());
    /// assert!(x.require_grad().is_require_grad());
    /// ```
    pub fn from_inner(inner: Tensor<B::Plain, D, E>) -> Self
    where
        B: AutodiffBackend,
    {
        Self::from_primitive(B::from_inner(inner.into_primitive()))
    }

    /// The gradients of the sum of this tensor's elements with respect to every leaf that it was computed from. The
    /// buffers that the graph kept are freed on the way, where no other tensor needs them.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Autodiff<Flex>, 1>::from_array([1.0, 2.0], &device).require_grad();
    /// let gradients = (x.clone() * x.clone()).sum().backward();
    /// assert_eq!(x.grad(&gradients).unwrap().into_vec()?, [2.0, 4.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If it was computed from no leaf; [`Tensor::try_backward`] returns that.
    #[track_caller]
    pub fn backward(self) -> Gradients<B::Plain, AfterBackward<B>>
    where
        B: AutodiffBackend,
        E: FloatElement,
    {
        ok(self.try_backward())
    }

    /// [`Tensor::backward`], with what went wrong as a value.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Autodiff<Flex>, 1>::from_array([1.0, 2.0], &device).require_grad();
    /// assert!(x.clone().square().try_backward().is_ok());
    /// assert!(x.detach().try_backward().is_err()); // no leaf
    /// ```
    ///
    /// # Errors
    /// If the tensor was computed from no leaf, or the backend fails.
    pub fn try_backward(self) -> Result<Gradients<B::Plain, AfterBackward<B>>, Error>
    where
        B: AutodiffBackend,
        E: FloatElement,
    {
        B::backward(self.into_primitive()).map(Gradients::from_set)
    }

    /// The gradient of this leaf; `None` if the tensor is no leaf, or the backward pass did not come by it.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Autodiff<Flex>, 1>::from_array([1.0, 2.0], &device).require_grad();
    /// let unused = x.clone().detach().require_grad();
    /// let gradients = (x.clone() * 3.0).backward();
    /// assert_eq!(x.grad(&gradients).unwrap().into_vec()?, [3.0, 3.0]);
    /// assert!(unused.grad(&gradients).is_none());
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn grad<S>(&self, gradients: &Gradients<B::Plain, S>) -> Option<Tensor<B::Plain, D, E>>
    where
        B: AutodiffBackend,
        E: FloatElement,
    {
        let leaf = B::leaf(self.raw().primitive())?;
        gradients.set.get(leaf).cloned().map(Tensor::from_primitive)
    }

    /// Takes the gradient of this leaf out, so that its buffer can be reused.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Autodiff<Flex>, 1>::from_array([1.0, 2.0], &device).require_grad();
    /// let mut gradients = x.clone().exp().backward();
    /// assert!(x.grad_remove(&mut gradients).is_some());
    /// assert!(x.grad_remove(&mut gradients).is_none());
    /// ```
    pub fn grad_remove<S>(&self, gradients: &mut Gradients<B::Plain, S>) -> Option<Tensor<B::Plain, D, E>>
    where
        B: AutodiffBackend,
        E: FloatElement,
    {
        let leaf = B::leaf(self.raw().primitive())?;
        gradients.set.remove(leaf).map(Tensor::from_primitive)
    }

    /// Puts `grad` in place of the gradient of this leaf, or where there was none.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Autodiff<Flex>, 1>::from_array([3.0, -4.0], &device).require_grad();
    /// let mut gradients = (x.clone() * x.clone()).backward();
    /// let clipped = x.grad(&gradients).unwrap().clamp(-1.0, 1.0);
    /// x.grad_replace(&mut gradients, clipped);
    /// assert_eq!(x.grad(&gradients).unwrap().into_vec()?, [1.0, -1.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the tensor is no leaf, or `grad` has another shape or is on another device.
    #[track_caller]
    pub fn grad_replace<S>(&self, gradients: &mut Gradients<B::Plain, S>, grad: Tensor<B::Plain, D, E>)
    where
        B: AutodiffBackend,
        E: FloatElement,
    {
        ok(gradients
            .set
            .replace::<B>(self.raw().primitive(), grad.into_primitive()))
    }

    /// Marks this tensor, a leaf from now on, as a parameter that the device's group trains together: `sync` makes its
    /// gradient the same on every member.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Mesh::<Flex>::open(1)?.remove(0);
    /// let x = Tensor::<Autodiff<Mesh<Flex>>, 1>::from_array([1.0], &device);
    /// let x = x.set_distributed_params("scale");
    /// let gradients = (x.clone() * 3.0).backward().sync()?;
    /// assert_eq!(x.grad(&gradients).unwrap().into_vec()?, [3.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If an op produced it, it has another name already, or another live tensor of another shape has this name.
    /// [`Tensor::try_set_distributed_params`] returns that.
    #[track_caller]
    pub fn set_distributed_params(self, id: impl Into<ParamId>) -> Self
    where
        B: AutodiffBackend + CollectiveBackend,
        E: FloatElement,
    {
        ok(self.try_set_distributed_params(id))
    }

    /// [`Tensor::set_distributed_params`], with what went wrong as a value.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Mesh::<Flex>::open(1)?.remove(0);
    /// let x = Tensor::<Autodiff<Mesh<Flex>>, 1>::from_array([1.0], &device);
    /// let x = x.try_set_distributed_params("scale")?;
    /// assert!(x.try_set_distributed_params("bias").is_err()); // it has a name
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// If an op produced it, it has another name already, or another live tensor of another shape has this name.
    pub fn try_set_distributed_params(self, id: impl Into<ParamId>) -> Result<Self, Error>
    where
        B: AutodiffBackend + CollectiveBackend,
        E: FloatElement,
    {
        let device = self.device();
        collective::distribute::<B>(self.into_primitive(), &id.into(), B::member(&device))
            .map(Self::from_primitive)
    }

    /// The parameter that this leaf was marked as by [`Tensor::set_distributed_params`], if it was.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Mesh::<Flex>::open(1)?.remove(0);
    /// let x = Tensor::<Autodiff<Mesh<Flex>>, 1>::from_array([1.0], &device);
    /// assert_eq!(x.distributed_params(), None);
    /// let x = x.set_distributed_params("scale");
    /// assert_eq!(x.distributed_params(), Some(ParamId::from("scale")));
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn distributed_params(&self) -> Option<ParamId>
    where
        B: AutodiffBackend + CollectiveBackend,
        E: FloatElement,
    {
        B::param(self.raw().primitive()).cloned()
    }

    /// Whether this leaf was marked by [`Tensor::set_distributed_params`].
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Mesh::<Flex>::open(1)?.remove(0);
    /// let x = Tensor::<Autodiff<Mesh<Flex>>, 1>::from_array([1.0], &device);
    /// assert!(!x.is_distributed());
    /// assert!(x.set_distributed_params("scale").is_distributed());
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn is_distributed(&self) -> bool
    where
        B: AutodiffBackend + CollectiveBackend,
        E: FloatElement,
    {
        B::param(self.raw().primitive()).is_some()
    }
}
