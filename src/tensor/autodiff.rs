//! Gradients and collectives, where the backend has them.

use super::{Tensor, ok};
use crate::autodiff::{AfterBackward, AutodiffBackend, Gradients};
use crate::backend::Backend;
use crate::collective::{self, CollectiveBackend, ParamId};
use crate::element::{Element, FloatElement};
use crate::error::Error;
use crate::raw::Raw;

impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// The gradients of the sum of this tensor with respect to every leaf that it was computed from.
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
    /// # Errors
    /// If the tensor was computed from no leaf, or the backend fails.
    pub fn try_backward(self) -> Result<Gradients<B::Plain, AfterBackward<B>>, Error>
    where
        B: AutodiffBackend,
        E: FloatElement,
    {
        B::backward(self.into_raw().into_primitive()).map(Gradients::from_set)
    }

    /// The gradient of this leaf, if the backward pass came by it.
    pub fn grad<S>(&self, gradients: &Gradients<B::Plain, S>) -> Option<Tensor<B::Plain, D, E>>
    where
        B: AutodiffBackend,
        E: FloatElement,
    {
        let leaf = B::leaf(self.raw().primitive())?;
        let grad = gradients.set.by_leaf.get(&leaf)?.clone();
        Some(Tensor::of(Ok(Raw::new(grad))))
    }

    /// Makes this tensor a leaf, whose gradient `backward` computes.
    ///
    /// # Panics
    /// If an op produced it from another leaf.
    #[track_caller]
    pub fn require_grad(self) -> Self
    where
        B: AutodiffBackend,
        E: FloatElement,
    {
        Self::of(B::require_grad(self.into_raw().into_primitive()).map(Raw::new))
    }

    /// The value on the plain backend, without history.
    pub fn inner(self) -> Tensor<B::Plain, D, E>
    where
        B: AutodiffBackend,
    {
        Tensor::of(Ok(Raw::new(B::inner(self.into_raw().into_primitive()))))
    }

    /// A value of the plain backend, untracked.
    pub fn from_inner(inner: Tensor<B::Plain, D, E>) -> Self
    where
        B: AutodiffBackend,
    {
        Self::of(Ok(Raw::new(B::from_inner(inner.into_raw().into_primitive()))))
    }

    /// Marks this leaf as a parameter that the device's group trains together.
    ///
    /// # Panics
    /// If an op produced it, or another live tensor of another shape has this name.
    #[track_caller]
    pub fn set_distributed_params(self, id: impl Into<ParamId>) -> Self
    where
        B: AutodiffBackend + CollectiveBackend,
        E: FloatElement,
    {
        Self::of(collective::distribute::<B>(self.into_raw().into_primitive(), &id.into()).map(Raw::new))
    }
}
