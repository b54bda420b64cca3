use super::{Tensor, ok};
use crate::backend::{Backend, Readable};
use crate::element::FloatElement;
use crate::error::Error;

/// The determinants of square matrices `[…, n, n]`, in shape `[…]`, or `[1]` of one matrix. That of a matrix without
/// elements is 1.
///
/// The gradients are the cofactors, also of singular matrices, where `det A · A⁻ᵀ` has no value.
///
/// ```
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 3>::from_array([[[2.0, 1.0], [4.0, 5.0]], [[1.0, 2.0], [2.0, 4.0]]], &Default::default());
/// let y: Tensor<_, 1> = linalg::det(x);
/// assert_eq!(y.into_vec()?, [6.0, 0.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If the matrices are not square.
#[track_caller]
pub fn det<B: Backend, const D: usize, const DO: usize, E: FloatElement>(
    tensor: Tensor<B, D, E>,
) -> Tensor<B, DO, E> {
    const {
        assert!(
            D >= 2 && (DO + 2 == D || D == 2 && DO == 1),
            "`det` takes two axes away: the result has rank D - 2, or 1 of one matrix"
        )
    }
    Tensor::of(tensor.raw.det())
}

/// `A = P L U` with partial pivoting, of matrices `[…, m, n]`: a permutation `[…, m, m]`, a lower triangle `[…, m, k]` with
/// ones on its diagonal and an upper one `[…, k, n]`, where k is the lesser of m and n.
///
/// Where all elements of a column that could be a pivot are 0, U has a 0 on its diagonal, and below it so has L.
///
/// ```
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 2>::from_array([[2.0, 5.0], [4.0, 2.0]], &Default::default());
/// let (p, l, u) = linalg::lu(x);
/// assert_eq!(p.into_vec()?, [0.0, 1.0, 1.0, 0.0]);
/// assert_eq!(l.into_vec()?, [1.0, 0.0, 0.5, 1.0]);
/// assert_eq!(u.into_vec()?, [4.0, 2.0, 0.0, 4.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
#[track_caller]
pub fn lu<B: Backend, const D: usize, E: FloatElement>(
    tensor: Tensor<B, D, E>,
) -> (Tensor<B, D, E>, Tensor<B, D, E>, Tensor<B, D, E>) {
    const { assert!(D >= 2, "`lu` is of matrices: rank 2 or more") }
    let (p, l, u) = ok(tensor.raw.lu());
    (Tensor::wrap(p), Tensor::wrap(l), Tensor::wrap(u))
}

/// `A = Q R` by Householder reflections, of matrices `[…, m, n]`. With k the lesser of m and n, Q has k orthonormal columns,
/// `[…, m, k]`, and R is an upper triangle, `[…, k, n]`; unless `reduced` they are `[…, m, m]` and `[…, m, n]`.
///
/// An element on the diagonal of R has the sign opposite to that of the element which was reflected on it.
///
/// ```
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 2>::from_array([[3.0, 2.0], [4.0, 6.0]], &Default::default());
/// let (q, r) = linalg::qr(x.clone(), true);
/// assert!(q.clone().matmul(r.clone()).all_close(x, None, None)?);
/// assert!((q.into_vec()?[0] + 0.6).abs() < 1e-6);
/// assert!((r.into_vec()?[0] + 5.0).abs() < 1e-6);
/// # Ok::<(), keyway::Error>(())
/// ```
#[track_caller]
pub fn qr<B: Backend, const D: usize, E: FloatElement>(
    tensor: Tensor<B, D, E>,
    reduced: bool,
) -> (Tensor<B, D, E>, Tensor<B, D, E>) {
    const { assert!(D >= 2, "`qr` is of matrices: rank 2 or more") }
    Tensor::of_pair(tensor.raw.qr(reduced))
}

/// The lower triangle L with `A = L Lᵀ`, or with `upper` U with `A = Uᵀ U`, of symmetric positive definite matrices
/// `[…, n, n]`.
///
/// Of A only the same triangle is read, and has a gradient. NaN where A is not positive definite, which only a read could
/// report.
///
/// ```
/// use keyway::prelude::*;
/// let a = Tensor::<Flex, 2>::from_array([[4.0, 2.0], [2.0, 5.0]], &Default::default());
/// assert_eq!(linalg::cholesky(a, false).into_vec()?, [2.0, 0.0, 1.0, 2.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If the matrices are not square.
#[track_caller]
pub fn cholesky<B: Backend, const D: usize, E: FloatElement>(
    a: Tensor<B, D, E>,
    upper: bool,
) -> Tensor<B, D, E> {
    const { assert!(D >= 2, "`cholesky` is of matrices: rank 2 or more") }
    Tensor::of(a.raw.cholesky(upper))
}

/// The X with `A X = B` of square matrices A, `[…, n, n]`, by [`lu`] and two substitutions. B is matrices `[…, n, k]`, or
/// vectors `[…, n]` where the result has one axis less than A. Batch axes broadcast.
///
/// Infinite or NaN where A is singular, which only a read could report.
///
/// ```
/// use keyway::prelude::*;
/// let device = Default::default();
/// let a = Tensor::<Flex, 2>::from_array([[2.0, 1.0], [4.0, 4.0]], &device);
/// let b = Tensor::<Flex, 1>::from_array([4.0, 12.0], &device);
/// let x: Tensor<_, 1> = linalg::solve(a, b);
/// assert_eq!(x.into_vec()?, [1.0, 2.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If the matrices are not square, B has not as many rows, or the batch axes do not broadcast.
#[track_caller]
pub fn solve<B: Backend, const D: usize, const DB: usize, const DO: usize, E: FloatElement>(
    a: Tensor<B, D, E>,
    b: Tensor<B, DB, E>,
) -> Tensor<B, DO, E> {
    const {
        assert!(
            D >= 2 && DB >= 1,
            "`solve` takes matrices, and matrices or vectors"
        );
        let matrices = DB >= 2 && DO == if D > DB { D } else { DB };
        let vectors = DB < D && DO + 1 == D;
        assert!(
            matrices || vectors,
            "the result of `solve` has the greater of both ranks, or one axis less than A where B is vectors"
        );
    }
    Tensor::of(a.raw.solve_for(b.raw, DO < D))
}

/// U, S and Vᵀ of [`svd`].
pub type Svd<B, const D: usize, const D1: usize, E> = (Tensor<B, D, E>, Tensor<B, D1, E>, Tensor<B, D, E>);

/// `A = U diag(S) Vᵀ`, the singular value decomposition of matrices `[…, m, n]`. With k the lesser of m and n, U has k
/// orthonormal columns, `[…, m, k]`, S the singular values in descending order, `[…, k]`, and Vᵀ orthonormal rows,
/// `[…, k, n]`; with `full_matrices` U is `[…, m, m]` and Vᵀ `[…, n, n]`. The values are read, and computed on the host.
///
/// The vectors have a sign each that is not determined; those of equal singular values, and those beyond k, are any
/// orthonormal basis. The gradients are right for what does not depend on such a choice, but where singular values are
/// equal, they lack how a change of A would part them: those of a symmetric function of S, or of `U Vᵀ`, are right there.
///
/// ```
/// use keyway::prelude::*;
/// let a = Tensor::<Flex, 2>::from_array([[0.0, 2.0], [3.0, 0.0], [0.0, 0.0]], &Default::default());
/// let (u, s, vt): linalg::Svd<_, 2, 1, _> = linalg::svd(a.clone(), false)?;
/// assert_eq!(s.clone().into_vec()?, [3.0, 2.0]);
/// let product = (u * s.unsqueeze::<2>()).matmul(vt);
/// assert!(product.all_close(a, None, None)?);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Errors
/// If an element is NaN or infinite, or the values cannot be read.
pub fn svd<B: Readable, const D: usize, const D1: usize, E: FloatElement>(
    tensor: Tensor<B, D, E>,
    full_matrices: bool,
) -> Result<Svd<B, D, D1, E>, Error> {
    const {
        assert!(
            D >= 2 && D1 + 1 == D,
            "`svd` is of matrices: rank 2 or more; the singular values have one axis less"
        )
    }
    let (u, s, vt) = tensor.raw.svd(full_matrices)?;
    Ok((Tensor::wrap(u), Tensor::wrap(s), Tensor::wrap(vt)))
}
