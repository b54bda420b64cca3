use super::{AsDim, Tensor};
use crate::backend::Backend;
use crate::element::{FloatElement, NumericElement};
use crate::raw::Norm;

/// A norm along an axis, which stays with size 1. The norm is named, or a number: its exponent.
///
/// The gradient of a norm of zeros is 0, and so is that of the elements which are 0, where the slope is none or infinite.
/// Of elements that are equally the greatest or the least each has its share of the gradient.
///
/// ```
/// use keyway::linalg::{Norm, vector_norm};
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 2>::from_array([[3.0, -4.0]], &Default::default());
/// assert_eq!(vector_norm(x.clone(), Norm::L2, 1).into_scalar()?, 5.0);
/// assert_eq!(vector_norm(x, 1, 1).into_scalar()?, 7.0);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If there is no such axis, the exponent is NaN, or the axis is empty and the norm its greatest or least element.
#[track_caller]
pub fn vector_norm<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    norm: impl Into<Norm>,
    dim: impl AsDim,
) -> Tensor<B, D, E> {
    Tensor::of(x.raw.vector_norm(norm, dim.axis(D)))
}

/// [`vector_norm`] over several axes, which stay with size 1; over none it is that of each element.
///
/// ```
/// use keyway::linalg::{Norm, vector_norm_dims};
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 2>::from_array([[1.0, -4.0], [2.0, 2.0]], &Default::default());
/// assert_eq!(vector_norm_dims(x, Norm::L2, &[0, 1]).into_vec()?, [5.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// As [`vector_norm`], or if an axis stands twice.
#[track_caller]
pub fn vector_norm_dims<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    norm: impl Into<Norm>,
    dims: &[impl AsDim],
) -> Tensor<B, D, E> {
    Tensor::of(x.raw.vector_norm_dims(norm, &Tensor::<B, D, E>::axes(dims)))
}

/// `x / max(norm, eps)` with the norm of the vectors along an axis.
///
/// ```
/// use keyway::linalg::{Norm, vector_normalize};
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 2>::from_array([[3.0, -1.0], [0.0, 0.0]], &Default::default());
/// assert_eq!(vector_normalize(x, Norm::L1, 1, 1e-12).into_vec()?, [0.75, -0.25, 0.0, 0.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// As [`vector_norm`], or if `eps` is NaN.
#[track_caller]
pub fn vector_normalize<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    norm: impl Into<Norm>,
    dim: impl AsDim,
    eps: f64,
) -> Tensor<B, D, E> {
    Tensor::of(x.raw.vector_normalize(norm, dim.axis(D), eps))
}

/// `(Σ |x|ᵖ)^(1/p)` along an axis, which stays with size 1; p may be infinite, and with 0 it counts. See [`vector_norm`].
///
/// ```
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 2>::from_array([[4.0, -9.0]], &Default::default());
/// assert_eq!(linalg::lp_norm(x, 0.5, 1).into_scalar()?, 25.0);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// As [`vector_norm`].
#[track_caller]
pub fn lp_norm<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    p: f64,
    dim: impl AsDim,
) -> Tensor<B, D, E> {
    Tensor::of(x.raw.lp_norm(p, dim.axis(D)))
}

/// [`lp_norm`] over several axes.
///
/// ```
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 2>::from_array([[4.0, -9.0], [1.0, 0.0]], &Default::default());
/// assert_eq!(linalg::lp_norm_dims(x, 0.5, &[0, 1]).into_vec()?, [36.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// As [`vector_norm_dims`].
#[track_caller]
pub fn lp_norm_dims<B: Backend, const D: usize, E: FloatElement>(
    x: Tensor<B, D, E>,
    p: f64,
    dims: &[impl AsDim],
) -> Tensor<B, D, E> {
    Tensor::of(x.raw.lp_norm_dims(p, &Tensor::<B, D, E>::axes(dims)))
}

macro_rules! example {
    ($x:literal, $name:ident($args:literal) => $values:literal) => {
        concat!(
            "```\nuse keyway::prelude::*;",
            "\nlet x = Tensor::<Flex, 2>::from_array(",
            $x,
            ", &Default::default());",
            "\nassert_eq!(linalg::",
            stringify!($name),
            "(x, ",
            $args,
            ").into_vec()?, [",
            $values,
            "]);",
            "\n# Ok::<(), keyway::Error>(())\n```",
        )
    };
}

// A row ends with the norms of `[3, 0, -4]`.

macro_rules! norms {
    ($($bound:ident, $what:literal, $one:ident $several:ident => $value:literal;)*) => { $(
        #[doc = concat!($what, " along an axis, which stays with size 1. See [`vector_norm`].")]
        ///
        #[doc = example!("[[3.0, 0.0, -4.0]]", $one("1") => $value)]
        ///
        /// # Panics
        /// As [`vector_norm`].
        #[track_caller]
        pub fn $one<B: Backend, const D: usize, E: $bound>(
            x: Tensor<B, D, E>,
            dim: impl AsDim,
        ) -> Tensor<B, D, E> {
            Tensor::of(x.raw.$one(dim.axis(D)))
        }

        #[doc = concat!("[`", stringify!($one), "`] over several axes.")]
        ///
        #[doc = example!("[[3.0], [0.0], [-4.0]]", $several("&[0, 1]") => $value)]
        ///
        /// # Panics
        /// As [`vector_norm_dims`].
        #[track_caller]
        pub fn $several<B: Backend, const D: usize, E: $bound>(
            x: Tensor<B, D, E>,
            dims: &[impl AsDim],
        ) -> Tensor<B, D, E> {
            Tensor::of(x.raw.$several(&Tensor::<B, D, E>::axes(dims)))
        }
    )* };
}
norms! {
    NumericElement, "The number of elements that are not 0", l0_norm l0_norm_dims => "2.0";
    NumericElement, "`Σ |x|`", l1_norm l1_norm_dims => "7.0";
    FloatElement, "`√Σ x²`", l2_norm l2_norm_dims => "5.0";
    NumericElement, "The greatest `|x|`", max_abs_norm max_abs_norm_dims => "4.0";
    NumericElement, "The least `|x|`", min_abs_norm min_abs_norm_dims => "0.0";
}
