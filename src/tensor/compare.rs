//! Comparisons, logic and masks. Operands broadcast.

use super::{Operand, Tensor};
use crate::backend::{Backend, Readable};
use crate::element::{Element, FloatElement, NumericElement, Scalar};
use crate::error::Error;

macro_rules! compare {
    ($($(#[$doc:meta])* $name:ident $scalar:ident $elem:ident: $bound:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// If the shapes do not broadcast, or the devices differ.
        #[track_caller]
        pub fn $name(self, other: impl Operand<B, D, E>) -> Tensor<B, D, bool>
        where
            E: $bound,
        {
            Tensor::of(self.raw.$name(other.into_arg()))
        }

        $(#[$doc])*
        ///
        /// # Panics
        /// If the number is none for elements `E`.
        #[track_caller]
        pub fn $scalar(self, other: impl Into<Scalar>) -> Tensor<B, D, bool>
        where
            E: $bound,
        {
            Tensor::of(self.raw.$name(other.into()))
        }

        #[doc = concat!("Another name of [`", stringify!($scalar), "`](Self::", stringify!($scalar), ").")]
        ///
        /// # Panics
        /// As that.
        #[track_caller]
        pub fn $elem(self, other: impl Into<Scalar>) -> Tensor<B, D, bool>
        where
            E: $bound,
        {
            self.$scalar(other)
        }
    )* };
}

/// Comparisons.
impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    compare! {
        /// Whether `x = y`.
        equal equal_scalar equal_elem: Element;
        /// Whether `x ≠ y`; true where either is NaN.
        not_equal not_equal_scalar not_equal_elem: Element;
        /// Whether `x < y`.
        lower lower_scalar lower_elem: NumericElement;
        /// Whether `x ≤ y`.
        lower_equal lower_equal_scalar lower_equal_elem: NumericElement;
        /// Whether `x > y`.
        greater greater_scalar greater_elem: NumericElement;
        /// Whether `x ≥ y`.
        greater_equal greater_equal_scalar greater_equal_elem: NumericElement;
    }

    /// Whether each element is NaN.
    #[track_caller]
    pub fn is_nan(self) -> Tensor<B, D, bool>
    where
        E: FloatElement,
    {
        Tensor::of(self.raw.is_nan())
    }

    /// Whether any element is NaN.
    #[track_caller]
    pub fn contains_nan(self) -> Tensor<B, 1, bool>
    where
        E: FloatElement,
    {
        Tensor::of(self.raw.contains_nan())
    }

    /// Whether each element is infinite.
    #[track_caller]
    pub fn is_inf(self) -> Tensor<B, D, bool>
    where
        E: FloatElement,
    {
        Tensor::of(self.raw.is_inf())
    }

    /// Whether each element is neither NaN nor infinite.
    #[track_caller]
    pub fn is_finite(self) -> Tensor<B, D, bool>
    where
        E: FloatElement,
    {
        Tensor::of(self.raw.is_finite())
    }

    /// Whether `|x - y| ≤ atol + rtol |y|`, by default with `rtol` 1e-5 and `atol` 1e-8; equal infinities are close,
    /// NaN is close to nothing.
    ///
    /// # Panics
    /// If the shapes do not broadcast, or the devices differ.
    #[track_caller]
    pub fn is_close(self, other: Self, rtol: Option<f64>, atol: Option<f64>) -> Tensor<B, D, bool>
    where
        E: FloatElement,
    {
        Tensor::of(self.raw.is_close(other.raw, rtol, atol))
    }

    /// Whether every element [is close](Tensor::is_close).
    ///
    /// # Errors
    /// If the shapes do not broadcast, or the device failed.
    pub fn all_close(self, other: Self, rtol: Option<f64>, atol: Option<f64>) -> Result<bool, Error>
    where
        E: FloatElement,
        B: Readable,
    {
        self.raw.all_close(other.raw, rtol, atol)
    }
}

/// Masks.
impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// `value` where `mask` is true, this tensor elsewhere.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.0, -2.0, 3.0], &Default::default());
    /// let negative = x.clone().lower(0.0);
    /// assert_eq!(x.clone().mask_where(negative, -x).into_vec()?, [1.0, 2.0, 3.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the shapes do not broadcast, or the devices differ.
    #[track_caller]
    pub fn mask_where(self, mask: Tensor<B, D, bool>, value: impl Operand<B, D, E>) -> Self {
        Self::of(self.raw.mask_where(mask.raw, value.into_arg()))
    }

    /// One number where `mask` is true, this tensor elsewhere.
    ///
    /// # Panics
    /// If the shapes do not broadcast, the devices differ, or the number is none for elements `E`.
    #[track_caller]
    pub fn mask_fill(self, mask: Tensor<B, D, bool>, value: impl Into<Scalar>) -> Self {
        Self::of(self.raw.mask_fill(mask.raw, value))
    }
}

macro_rules! logical {
    ($($(#[$doc:meta])* $name:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// If the shapes do not broadcast, or the devices differ.
        #[track_caller]
        pub fn $name(self, other: Self) -> Self {
            Self::of(self.raw.$name(other.raw))
        }
    )* };
}

/// Logic.
impl<B: Backend, const D: usize> Tensor<B, D, bool> {
    /// Logical not, `!x`.
    #[track_caller]
    pub fn bool_not(self) -> Self {
        Self::of(self.raw.bool_not())
    }

    logical! {
        /// Logical and, `x & y`.
        bool_and;
        /// Logical or, `x | y`.
        bool_or;
        /// Logical exclusive or, `x ^ y`.
        bool_xor;
    }
}
