//! Products, norms, factorisations.

use super::{AsDim, Tensor, ok};
use crate::backend::Backend;
use crate::element::{Element, FloatElement, NumericElement};

mod einsum;
mod factor;
mod norm;

pub use crate::raw::Norm;
pub use einsum::{EinsumOperand, EinsumOperands, einsum};
pub use factor::{Svd, cholesky, det, lu, qr, solve, svd};
pub use norm::{
    l0_norm, l0_norm_dims, l1_norm, l1_norm_dims, l2_norm, l2_norm_dims, lp_norm, lp_norm_dims, max_abs_norm,
    max_abs_norm_dims, min_abs_norm, min_abs_norm_dims, vector_norm, vector_norm_dims, vector_normalize,
};

impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// The matrix product of the last two axes; the others are batch axes, broadcast to each other. The devices of the
    /// operands are the same.
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
    /// If the columns of this one are not as many as the rows of the other, or the batch axes do not broadcast.
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

    /// The sum of the products of two vectors' elements, in shape `[1]`.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Flex, 1>::from_array([1.0, 2.0], &device);
    /// let y = Tensor::from_array([-2.0, 3.0], &device);
    /// assert_eq!(x.dot(y).into_scalar()?, 4.0);
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

    /// The cross product of the vectors along an axis of size 3. Along the other axes the operands broadcast.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Flex, 1>::from_array([1.0, 0.0, 0.0], &device);
    /// let y = Tensor::from_array([0.0, 1.0, 0.0], &device);
    /// assert_eq!(x.cross(y, 0).into_vec()?, [0.0, 0.0, 1.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such axis, it has not size 3, or the others do not broadcast.
    #[track_caller]
    pub fn cross(self, other: Self, dim: impl AsDim) -> Self
    where
        E: NumericElement,
    {
        Self::of(self.raw.cross(other.raw, Self::axis(dim)))
    }
}

/// The main diagonal of the last two axes, which become one: `[…, m, n]` gives `[…, min(m, n)]`.
///
/// ```
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], &Default::default());
/// let y: Tensor<_, 1> = linalg::diag(x);
/// assert_eq!(y.into_vec()?, [1.0, 5.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
#[track_caller]
pub fn diag<B: Backend, const D: usize, const DO: usize, E: Element>(x: Tensor<B, D, E>) -> Tensor<B, DO, E> {
    const {
        assert!(
            D >= 2 && DO + 1 == D,
            "`diag` takes one axis away: the result has rank D - 1, and D is at least 2"
        )
    }
    Tensor::of(x.raw.diag())
}

/// The sum of the main diagonal of the last two axes, which become one of size 1.
///
/// ```
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0], [3.0, 4.0]], &Default::default());
/// let y: Tensor<_, 1> = linalg::trace(x);
/// assert_eq!(y.into_vec()?, [5.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
#[track_caller]
pub fn trace<B: Backend, const D: usize, const DO: usize, E: NumericElement>(
    x: Tensor<B, D, E>,
) -> Tensor<B, DO, E> {
    const {
        assert!(
            D >= 2 && DO + 1 == D,
            "`trace` takes one axis away: the result has rank D - 1, and D is at least 2"
        )
    }
    Tensor::of(x.raw.trace())
}

/// The product of matrices `[…, m, n]` with as many vectors `[…, n]`: `[…, m]`. Batch axes broadcast.
///
/// ```
/// use keyway::prelude::*;
/// let device = Default::default();
/// let a = Tensor::<Flex, 2>::from_array([[1.0, 2.0], [3.0, 4.0]], &device);
/// let x = Tensor::<Flex, 1>::from_array([1.0, 10.0], &device);
/// assert_eq!(linalg::matvec(a, x).into_vec()?, [21.0, 43.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If the vectors are not as long as the rows, or the batch axes do not broadcast.
#[track_caller]
pub fn matvec<B: Backend, const DM: usize, const DV: usize, E: NumericElement>(
    matrix: Tensor<B, DM, E>,
    vector: Tensor<B, DV, E>,
) -> Tensor<B, DV, E> {
    const {
        assert!(
            DM >= 2 && DV + 1 == DM,
            "`matvec` takes a matrix of rank 2 or more, and a vector of one axis less"
        )
    }
    Tensor::of(matrix.raw.matvec(vector.raw))
}

/// `x yᵀ` of the vectors along the last axis: `[…, m]` and `[…, n]` give `[…, m, n]`. Batch axes broadcast.
///
/// ```
/// use keyway::prelude::*;
/// let device = Default::default();
/// let x = Tensor::<Flex, 1>::from_array([1.0, 2.0], &device);
/// let y = Tensor::from_array([3.0, 4.0, 5.0], &device);
/// let z: Tensor<_, 2> = linalg::outer(x, y);
/// assert_eq!(z.into_vec()?, [3.0, 4.0, 5.0, 6.0, 8.0, 10.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If the batch axes do not broadcast.
#[track_caller]
pub fn outer<B: Backend, const D: usize, const R: usize, E: NumericElement>(
    x: Tensor<B, D, E>,
    y: Tensor<B, D, E>,
) -> Tensor<B, R, E> {
    const {
        assert!(
            D >= 1 && R == D + 1,
            "`outer` adds one axis: the result has rank D + 1, and D is at least 1"
        )
    }
    Tensor::of(x.raw.outer(y.raw))
}

/// `x yᵀ` of the vectors along an axis, which becomes two: `[…, m, …]` and `[…, n, …]` give `[…, m, n, …]`. The other axes
/// broadcast.
///
/// ```
/// use keyway::prelude::*;
/// let device = Default::default();
/// let x = Tensor::<Flex, 2>::from_array([[1.0, 2.0], [3.0, 4.0]], &device);
/// let y = Tensor::from_array([[10.0, 100.0]], &device);
/// let z: Tensor<_, 3> = linalg::outer_dim(x, y, 0);
/// assert_eq!((z.dims(), z.into_vec()?), ([2, 1, 2], vec![10.0, 200.0, 30.0, 400.0]));
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If there is no such axis, or the others do not broadcast.
#[track_caller]
pub fn outer_dim<B: Backend, const D: usize, const R: usize, E: NumericElement>(
    x: Tensor<B, D, E>,
    y: Tensor<B, D, E>,
    dim: impl AsDim,
) -> Tensor<B, R, E> {
    const {
        assert!(
            D >= 1 && R == D + 1,
            "`outer_dim` adds one axis: the result has rank D + 1, and D is at least 1"
        )
    }
    Tensor::of(x.raw.outer_dim(y.raw, dim.axis(D)))
}

/// The cosine of the angle between the vectors along an axis, which stays with size 1:
/// `x / max(|x|, eps) · y / max(|y|, eps)`. By default `eps` is the least positive normal number.
///
/// ```
/// use keyway::prelude::*;
/// let device = Default::default();
/// let x = Tensor::<Flex, 2>::from_array([[3.0, 0.0], [0.0, 0.0]], &device);
/// let y = Tensor::from_array([[-2.0, 0.0], [1.0, 1.0]], &device);
/// assert_eq!(linalg::cosine_similarity(x, y, 1, None).into_vec()?, [-1.0, 0.0]);
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
    Tensor::of(x1.raw.cosine_similarity(x2.raw, dim.axis(D), eps))
}
