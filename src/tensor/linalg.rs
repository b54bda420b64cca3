//! Products and norms.

use super::{AsDim, Tensor};
use crate::backend::Backend;
use crate::element::{Element, FloatElement, NumericElement};
pub use crate::raw::Norm;

/// Products and diagonals.
impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// The matrix product of the last two axes, `[…, m, k]` and `[…, k, n]` to `[…, m, n]`; the others are batch axes,
    /// which broadcast to each other.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let a = Tensor::<Flex, 2>::from_array([[1.0, 2.0], [3.0, 4.0]], &device);
    /// let b = Tensor::from_array([[1.0], [10.0]], &device);
    /// assert_eq!(a.matmul(b).into_vec()?, [21.0, 43.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the columns of this one are not as many as the rows of the other, the batch axes do not broadcast, or the
    /// devices differ.
    #[track_caller]
    pub fn matmul(self, other: Self) -> Self
    where
        E: NumericElement,
    {
        const {
            assert!(
                D >= 2,
                "`matmul` multiplies matrices: it needs rank 2 or more; `dot` is for vectors"
            )
        }
        Self::of(self.raw.matmul(other.raw))
    }

    /// The main diagonal of the last two axes, which become one: as long as the shorter of them.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], &Default::default());
    /// assert_eq!(x.diag::<1>().into_vec()?, [1.0, 5.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    #[track_caller]
    pub fn diag<const D2: usize>(self) -> Tensor<B, D2, E> {
        const {
            assert!(
                D >= 2 && D2 + 1 == D,
                "`diag` takes one axis away: D2 must be D - 1, and D at least 2"
            )
        }
        Tensor::of(self.raw.diag())
    }

    /// The sum of the products of two vectors' elements, in shape `[1]`.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Flex, 1>::from_array([1.0, 2.0], &device);
    /// let y = Tensor::from_array([3.0, 4.0], &device);
    /// assert_eq!(x.dot(y).into_vec()?, [11.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the vectors do not broadcast.
    #[track_caller]
    pub fn dot(self, other: Self) -> Tensor<B, 1, E>
    where
        E: NumericElement,
    {
        const {
            assert!(
                D == 1,
                "`dot` is for vectors: rank 1; `matmul` multiplies matrices"
            )
        }
        Tensor::of(self.raw.dot(other.raw))
    }
}

/// `x yᵀ` of two vectors: `[m]` and `[n]` give `[m, n]`.
///
/// ```
/// use keyway::linalg::outer;
/// use keyway::prelude::*;
/// let device = Default::default();
/// let x = Tensor::<Flex, 1>::from_array([1.0, 2.0], &device);
/// let y = Tensor::from_array([3.0, 4.0, 5.0], &device);
/// assert_eq!(outer(x, y).into_vec()?, [3.0, 4.0, 5.0, 6.0, 8.0, 10.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If the devices differ.
#[track_caller]
pub fn outer<B: Backend, E: NumericElement>(x: Tensor<B, 1, E>, y: Tensor<B, 1, E>) -> Tensor<B, 2, E> {
    Tensor::of(x.into_raw().outer(y.into_raw()))
}

/// The sum of the main diagonal, in shape `[1]`.
///
/// ```
/// use keyway::linalg::trace;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0], [3.0, 4.0]], &Default::default());
/// assert_eq!(trace(x).into_vec()?, [5.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
#[track_caller]
pub fn trace<B: Backend, E: NumericElement>(x: Tensor<B, 2, E>) -> Tensor<B, 1, E> {
    Tensor::of(x.into_raw().trace())
}

/// A norm of the vectors along an axis, which stays with size 1.
///
/// ```
/// use keyway::linalg::{Norm, vector_norm};
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 2>::from_array([[3.0, -4.0]], &Default::default());
/// assert_eq!(vector_norm(x.clone(), Norm::L2, 1).into_scalar()?, 5.0);
/// assert_eq!(vector_norm(x, Norm::L1, 1).into_scalar()?, 7.0);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If there is no such axis, there is no such norm (`Norm::Lp` of 0 or NaN), or the norm is the greatest or least
/// element of an empty axis.
#[track_caller]
pub fn vector_norm<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    norm: Norm,
    dim: impl AsDim,
) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().vector_norm(norm, dim.axis(D)))
}

/// `Σ |x|` along an axis, which stays with size 1.
///
/// ```
/// use keyway::linalg::l1_norm;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 2>::from_array([[3.0, -4.0]], &Default::default());
/// assert_eq!(l1_norm(x, 1).into_vec()?, [7.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If there is no such axis.
#[track_caller]
pub fn l1_norm<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    dim: impl AsDim,
) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().l1_norm(dim.axis(D)))
}

/// `√Σ x²` along an axis, which stays with size 1; its gradient at 0 is 0.
///
/// ```
/// use keyway::linalg::l2_norm;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 2>::from_array([[3.0, -4.0]], &Default::default());
/// assert_eq!(l2_norm(x, 1).into_vec()?, [5.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If there is no such axis.
#[track_caller]
pub fn l2_norm<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    dim: impl AsDim,
) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().l2_norm(dim.axis(D)))
}

/// The greatest `|x|` along an axis, which stays with size 1.
///
/// ```
/// use keyway::linalg::max_abs_norm;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 2>::from_array([[3.0, -4.0]], &Default::default());
/// assert_eq!(max_abs_norm(x, 1).into_vec()?, [4.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If there is no such axis, or it is empty.
#[track_caller]
pub fn max_abs_norm<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    dim: impl AsDim,
) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().max_abs_norm(dim.axis(D)))
}

/// The least `|x|` along an axis, which stays with size 1.
///
/// ```
/// use keyway::linalg::min_abs_norm;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 2>::from_array([[3.0, -4.0]], &Default::default());
/// assert_eq!(min_abs_norm(x, 1).into_vec()?, [3.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If there is no such axis, or it is empty.
#[track_caller]
pub fn min_abs_norm<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    dim: impl AsDim,
) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().min_abs_norm(dim.axis(D)))
}

/// `(Σ |x|ᵖ)^(1/p)` along an axis, which stays with size 1.
///
/// ```
/// use keyway::linalg::lp_norm;
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([1.0; 8], &Default::default());
/// assert_eq!(format!("{:.2}", lp_norm(x, 3.0, 0)), "[2.00]");
/// ```
///
/// # Panics
/// If there is no such axis, or p is 0 or NaN.
#[track_caller]
pub fn lp_norm<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    p: f64,
    dim: impl AsDim,
) -> Tensor<B, D, E> {
    Tensor::of(x.into_raw().lp_norm(p, dim.axis(D)))
}

/// `x · y / (max(|x|, eps) max(|y|, eps))` along an axis, which stays with size 1: 1 of vectors in one direction, 0 of
/// right angles, -1 of opposite directions. `eps` is 1e-8 by default.
///
/// ```
/// use keyway::linalg::cosine_similarity;
/// use keyway::prelude::*;
/// let device = Default::default();
/// let x = Tensor::<Flex, 1>::from_array([3.0, 4.0], &device);
/// let y = Tensor::from_array([-3.0, -4.0], &device);
/// assert_eq!(cosine_similarity(x.clone(), x.clone(), 0, None).into_vec()?, [1.0]);
/// assert_eq!(cosine_similarity(x, y, 0, None).into_vec()?, [-1.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If the shapes do not broadcast, or there is no such axis.
#[track_caller]
pub fn cosine_similarity<B: Backend, const D: usize, E: FloatElement>(
    x1: Tensor<B, D, E>,
    x2: Tensor<B, D, E>,
    dim: impl AsDim,
    eps: Option<f64>,
) -> Tensor<B, D, E> {
    Tensor::of(x1.into_raw().cosine_similarity(x2.into_raw(), dim.axis(D), eps))
}
