//! Comparisons, logic and masks. Operands broadcast.

use super::{Operand, Tensor};
use crate::backend::{Backend, Readable};
use crate::element::{Element, FloatElement, NumericElement, Scalar};
use crate::error::Error;

// A row ends with what the comparison of `[1.0, 2.0, 3.0, NaN]` with 2 prints.

macro_rules! compare {
    ($($(#[$doc:meta])* $name:ident $scalar:ident $elem:ident: $bound:ident => $prints:literal;)*) => { $(
        $(#[$doc])*
        ///
        #[doc = example!(1 "[1.0, 2.0, 3.0, f32::NAN]", "[2.0]"; $name("y") => $prints)]
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
        #[doc = example!(1 "[1.0, 2.0, 3.0, f32::NAN]"; $scalar("2.0") => $prints)]
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
        #[doc = example!(1 "[1.0, 2.0, 3.0, f32::NAN]"; $elem("2.0") => $prints)]
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

/// Comparisons. Operands broadcast: along an axis their sizes are equal, or one of them is 1.
impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    compare! {
        /// Whether `x = y`; false where either is NaN.
        equal equal_scalar equal_elem: Element => "[false,  true, false, false]";
        /// Whether `x ≠ y`; true where either is NaN.
        not_equal not_equal_scalar not_equal_elem: Element => "[ true, false,  true,  true]";
        /// Whether `x < y`; false where either is NaN.
        lower lower_scalar lower_elem: NumericElement => "[ true, false, false, false]";
        /// Whether `x ≤ y`; false where either is NaN.
        lower_equal lower_equal_scalar lower_equal_elem: NumericElement => "[ true,  true, false, false]";
        /// Whether `x > y`; false where either is NaN.
        greater greater_scalar greater_elem: NumericElement => "[false, false,  true, false]";
        /// Whether `x ≥ y`; false where either is NaN.
        greater_equal greater_equal_scalar greater_equal_elem: NumericElement => "[false,  true,  true, false]";
    }

    /// Whether each element is NaN.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.0, f32::NAN, f32::INFINITY], &Default::default());
    /// assert_eq!(x.is_nan().into_vec()?, [false, true, false]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    #[track_caller]
    pub fn is_nan(self) -> Tensor<B, D, bool>
    where
        E: FloatElement,
    {
        Tensor::of(self.raw.is_nan())
    }

    /// Whether any element is NaN, in shape `[1]`; false of nothing.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.0, f32::NAN, f32::INFINITY], &Default::default());
    /// assert_eq!(x.contains_nan().into_vec()?, [true]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    #[track_caller]
    pub fn contains_nan(self) -> Tensor<B, 1, bool>
    where
        E: FloatElement,
    {
        Tensor::of(self.raw.contains_nan())
    }

    /// Whether each element is infinite, of either sign.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.0, f32::NAN, f32::INFINITY], &Default::default());
    /// assert_eq!(x.is_inf().into_vec()?, [false, false, true]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    #[track_caller]
    pub fn is_inf(self) -> Tensor<B, D, bool>
    where
        E: FloatElement,
    {
        Tensor::of(self.raw.is_inf())
    }

    /// Whether each element is neither NaN nor infinite.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.0, f32::NAN, f32::INFINITY], &Default::default());
    /// assert_eq!(x.is_finite().into_vec()?, [true, false, false]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    #[track_caller]
    pub fn is_finite(self) -> Tensor<B, D, bool>
    where
        E: FloatElement,
    {
        Tensor::of(self.raw.is_finite())
    }

    /// Whether `|x - y| ≤ atol + rtol |y|`, by default with `rtol` 1e-5 and `atol` 1e-8. Equal infinities are close,
    /// NaN is close to nothing.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Flex, 1>::from_array([1.0, 1.0, f32::NAN], &device);
    /// let y = Tensor::from_array([1.000001, 1.1, f32::NAN], &device);
    /// assert_eq!(x.clone().is_close(y.clone(), None, None).into_vec()?, [true, false, false]);
    /// assert_eq!(x.is_close(y, Some(0.2), None).into_vec()?, [true, true, false]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.0, 2.0], &Default::default());
    /// assert!(x.clone().all_close(x.clone() + 1e-7, None, None)?);
    /// assert!(!x.clone().all_close(x + 0.1, None, None)?);
    /// # Ok::<(), keyway::Error>(())
    /// ```
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

/// Masks. Tensors broadcast to each other.
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
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.0, f32::NAN, 3.0], &Default::default());
    /// let missing = x.clone().is_nan();
    /// assert_eq!(x.mask_fill(missing, 0.0).into_vec()?, [1.0, 0.0, 3.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the shapes do not broadcast, the devices differ, or the number is none for elements `E`.
    #[track_caller]
    pub fn mask_fill(self, mask: Tensor<B, D, bool>, value: impl Into<Scalar>) -> Self {
        Self::of(self.raw.mask_fill(mask.raw, value))
    }
}

// A row ends with what it gives for each pair of truth values.

macro_rules! logical {
    ($($(#[$doc:meta])* $name:ident => $prints:literal;)*) => { $(
        $(#[$doc])*
        ///
        #[doc = example!(
            1 bool "[true, true, false, false]", "[true, false, true, false]"; $name("y") => $prints
        )]
        ///
        /// # Panics
        /// If the shapes do not broadcast, or the devices differ.
        #[track_caller]
        pub fn $name(self, other: Self) -> Self {
            Self::of(self.raw.$name(other.raw))
        }
    )* };
}

/// Logic. Operands broadcast.
impl<B: Backend, const D: usize> Tensor<B, D, bool> {
    /// Logical not, `!x`.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1, bool>::from_array([true, false], &Default::default());
    /// assert_eq!(x.bool_not().into_vec()?, [false, true]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    #[track_caller]
    pub fn bool_not(self) -> Self {
        Self::of(self.raw.bool_not())
    }

    logical! {
        /// Logical and, `x & y`.
        bool_and => "[ true, false, false, false]";
        /// Logical or, `x | y`.
        bool_or => "[ true,  true,  true, false]";
        /// Logical exclusive or, `x ^ y`.
        bool_xor => "[false,  true,  true, false]";
    }
}
