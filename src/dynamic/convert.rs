//! Between tensors of which nothing is known at compile time and typed ones.

use std::error::Error as StdError;
use std::fmt;

use super::{Arm, Dyn};
use crate::autodiff::{Autodiff, AutodiffBackend, Strategy, Tracked};
use crate::backend::Backend;
use crate::element::Element;
use crate::error::Error;
use crate::raw::Raw;
use crate::tensor::Tensor;

/// A conversion that did not take place: the tensor as it was, and why.
pub struct ConversionError<T> {
    /// The tensor.
    pub tensor: T,
    /// What does not fit.
    pub error: Error,
}

/// Of an untracked tensor.
///
/// ```
/// use keyway::prelude::*;
/// use keyway::{DynDevice, DynTensor};
/// let x = DynTensor::from_data(TensorData::new(vec![1.0f32, 2.0], [2])?, &DynDevice::default())?;
/// let typed: Tensor<Flex, 1> = x.clone().try_into()?;
/// assert_eq!(typed.into_vec()?, [1.0, 2.0]);
/// let refused = Tensor::<Flex, 2>::try_from(x).unwrap_err();
/// assert!(matches!(refused.error, Error::Rank { got: 1, .. }));
/// assert_eq!(refused.tensor.rank(), 1); // nothing is lost
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// `Rank`, `DType` or `BackendMismatch` if the types differ; `Tracked` if the tensor is tracked, since its gradient would
/// be lost: `detach` it.
impl<A: Arm<Dyn>, const D: usize, E: Element, S: Strategy> TryFrom<Raw<Autodiff<Dyn, S>>>
    for Tensor<A, D, E>
{
    type Error = ConversionError<Raw<Autodiff<Dyn, S>>>;
    fn try_from(tensor: Raw<Autodiff<Dyn, S>>) -> Result<Self, Self::Error> {
        let kept = tensor.clone();
        untracked(&tensor)
            .and_then(|()| plain::<A, D, E, S>(tensor))
            .map(Tensor::from_primitive)
            .map_err(|error| ConversionError { tensor: kept, error })
    }
}

/// Of a leaf, which stays the leaf and the parameter it is, or of an untracked tensor.
///
/// # Errors
/// `Rank`, `DType` or `BackendMismatch` if the types differ; `Tracked` if an op produced the tensor, since its graph is one
/// of [`Dyn`].
impl<A: Arm<Dyn>, S2: Strategy, const D: usize, E: Element, S: Strategy> TryFrom<Raw<Autodiff<Dyn, S>>>
    for Tensor<Autodiff<A, S2>, D, E>
{
    type Error = ConversionError<Raw<Autodiff<Dyn, S>>>;
    fn try_from(tensor: Raw<Autodiff<Dyn, S>>) -> Result<Self, Self::Error> {
        let kept = tensor.clone();
        tensor
            .primitive()
            .leaf("try_from")
            .and_then(|leaf| Ok(Tracked::with_leaf(plain::<A, D, E, S>(tensor)?, leaf)))
            .map(Tensor::from_primitive)
            .map_err(|error| ConversionError { tensor: kept, error })
    }
}

impl<A: Arm<Dyn>, const D: usize, E: Element, S: Strategy> From<Tensor<A, D, E>> for Raw<Autodiff<Dyn, S>> {
    fn from(tensor: Tensor<A, D, E>) -> Self {
        Raw::from_inner(Raw::new(A::into_dyn(tensor.into_raw().into_primitive())))
    }
}

/// Of a leaf, which stays the leaf and the parameter it is, or of an untracked tensor.
///
/// # Errors
/// `Tracked` if an op produced the tensor, since its graph is one of `A`.
impl<A: Arm<Dyn>, S2: Strategy, const D: usize, E: Element, S: Strategy>
    TryFrom<Tensor<Autodiff<A, S2>, D, E>> for Raw<Autodiff<Dyn, S>>
{
    type Error = ConversionError<Tensor<Autodiff<A, S2>, D, E>>;
    fn try_from(tensor: Tensor<Autodiff<A, S2>, D, E>) -> Result<Self, Self::Error> {
        match tensor.raw().primitive().leaf("try_from") {
            Ok(leaf) => {
                let value = Autodiff::<A, S2>::inner(tensor.into_raw().into_primitive());
                Ok(Raw::new(Tracked::with_leaf(A::into_dyn(value), leaf)))
            }
            Err(error) => Err(ConversionError { tensor, error }),
        }
    }
}

fn untracked<S: Strategy>(tensor: &Raw<Autodiff<Dyn, S>>) -> Result<(), Error> {
    if !tensor.is_tracked() {
        return Ok(());
    }
    Err(Error::Tracked {
        op: "try_from".into(),
        producer: tensor.primitive().producer().unwrap_or("require_grad").into(),
    })
}

/// The value of a tensor that has these types.
fn plain<A: Arm<Dyn>, const D: usize, E: Element, S: Strategy>(
    tensor: Raw<Autodiff<Dyn, S>>,
) -> Result<A::Primitive, Error> {
    if tensor.rank() != D {
        return Err(Error::rank("try_from", tensor.rank(), format!("rank {D}")));
    }
    if tensor.dtype() != E::DTYPE {
        return Err(Error::dtype("try_from", tensor.dtype(), E::DTYPE.to_string()));
    }
    A::from_dyn(Autodiff::<Dyn, S>::inner(tensor.into_primitive())).map_err(|x| Error::BackendMismatch {
        op: "try_from".into(),
        left: Dyn::name(&Dyn::device(&x)),
        right: A::NAME.into(),
    })
}

impl<T> fmt::Debug for ConversionError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConversionError")
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Display for ConversionError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<T> StdError for ConversionError<T> {}

impl<T> From<ConversionError<T>> for Error {
    fn from(refused: ConversionError<T>) -> Self {
        refused.error
    }
}
