use super::Tensor;
use crate::backend::Backend;
use crate::element::NumericElement;
use crate::raw::Raw;

/// Sums of products of elements, by an equation (Einstein summation). Each axis of an operand has a letter. Elements are
/// multiplied along equal letters, and letters that the output, after `->`, lacks are summed over.
///
/// | equation | meaning |
/// |---|---|
/// | `"ij,jk->ik"` | the product of matrices |
/// | `"ij->ji"` | the transpose |
/// | `"ii->i"`, `"ii->"` | the diagonal, the trace |
/// | `"bi,bi->b"` | the dot products of a batch |
/// | `"...ij,...jk->...ik"` | the product of matrices, of any batch axes |
///
/// Equal letters have equal sizes, or one of size 1 stretches; within one operand they are equal. `...` stands for any
/// number of axes, which broadcast from the last. Without `->` the output is `...`, then the letters that stand once in all,
/// in alphabetical order, capitals first. An output without axes has shape `[1]`, and so may an operand without. Spaces do
/// not count. Operands are contracted from left to right.
///
/// Operands are a tuple of tensors or references to them, which may be of several ranks, or an array or `Vec` of one rank.
///
/// ```
/// use keyway::prelude::*;
/// let device = Default::default();
/// let a = Tensor::<Flex, 2>::from_array([[1.0, 2.0], [3.0, 4.0]], &device);
/// let x = Tensor::<Flex, 1>::from_array([10.0, 20.0], &device);
/// let y: Tensor<_, 1> = linalg::einsum("ij,j->i", (&a, x));
/// assert_eq!(y.into_vec()?, [50.0, 110.0]);
/// let trace: Tensor<_, 1> = linalg::einsum("ii->", (a,));
/// assert_eq!(trace.into_vec()?, [5.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
///
/// # Panics
/// If the equation is none, the operands are others than it says, or the result has not rank `DO`.
#[track_caller]
pub fn einsum<B: Backend, E: NumericElement, const DO: usize>(
    equation: &str,
    operands: impl EinsumOperands<B, E>,
) -> Tensor<B, DO, E> {
    Tensor::of_rank("einsum", Raw::einsum(equation, operands.into_raws()))
}

impl<B: Backend, const D: usize, E: NumericElement> Tensor<B, D, E> {
    /// [`linalg::einsum`](einsum()), as a function of the result's type.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.0, 2.0], &Default::default());
    /// let y = Tensor::<Flex, 2>::einsum("i,j->ij", (&x, &x));
    /// assert_eq!(y.into_vec()?, [1.0, 2.0, 2.0, 4.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// As [`linalg::einsum`](einsum()).
    #[track_caller]
    pub fn einsum(equation: &str, operands: impl EinsumOperands<B, E>) -> Self {
        einsum(equation, operands)
    }
}

/// What [`einsum()`] takes for one operand: a tensor of any rank, or a reference to one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand of an einsum of `{E}` elements on `{B}`",
    label = "expected a tensor of `{E}` on `{B}`",
    note = "all operands and the result have one backend and one element type; `.cast()` and `.to_backend()` convert"
)]
pub trait EinsumOperand<B: Backend, E: NumericElement> {
    /// The tensor without its compile-time rank.
    fn into_raw(self) -> Raw<B>;
}

/// What [`einsum()`] takes for its operands.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no operands of `einsum`",
    label = "expected a tuple of tensors",
    note = "operands are a tuple of up to 8 tensors, `(a, b)`, of one alone `(a,)`, or an array of tensors of one rank"
)]
pub trait EinsumOperands<B: Backend, E: NumericElement> {
    /// The tensors without their compile-time ranks.
    fn into_raws(self) -> Vec<Raw<B>>;
}

impl<B: Backend, const D: usize, E: NumericElement> EinsumOperand<B, E> for Tensor<B, D, E> {
    fn into_raw(self) -> Raw<B> {
        self.raw
    }
}

impl<B: Backend, const D: usize, E: NumericElement> EinsumOperand<B, E> for &Tensor<B, D, E> {
    fn into_raw(self) -> Raw<B> {
        self.raw.clone()
    }
}

impl<B: Backend, E: NumericElement, T: EinsumOperand<B, E>, const N: usize> EinsumOperands<B, E> for [T; N] {
    fn into_raws(self) -> Vec<Raw<B>> {
        self.into_iter().map(T::into_raw).collect()
    }
}

impl<B: Backend, E: NumericElement, T: EinsumOperand<B, E>> EinsumOperands<B, E> for Vec<T> {
    fn into_raws(self) -> Vec<Raw<B>> {
        self.into_iter().map(T::into_raw).collect()
    }
}

macro_rules! operand_tuples {
    ($($($T:ident $i:tt)*;)*) => { $(
        impl<B: Backend, E: NumericElement, $($T: EinsumOperand<B, E>),*> EinsumOperands<B, E> for ($($T,)*) {
            fn into_raws(self) -> Vec<Raw<B>> {
                vec![$(self.$i.into_raw()),*]
            }
        }
    )* };
}
operand_tuples! {
    T0 0;
    T0 0 T1 1;
    T0 0 T1 1 T2 2;
    T0 0 T1 1 T2 2 T3 3;
    T0 0 T1 1 T2 2 T3 3 T4 4;
    T0 0 T1 1 T2 2 T3 3 T4 4 T5 5;
    T0 0 T1 1 T2 2 T3 3 T4 4 T5 5 T6 6;
    T0 0 T1 1 T2 2 T3 3 T4 4 T5 5 T6 6 T7 7;
}
