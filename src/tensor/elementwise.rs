//! Element-wise functions. Operands broadcast: along an axis their sizes are equal, or one of them is 1.
//!
//! Every method panics with the text of the `Err` that its namesake on [`Raw`](crate::raw::Raw) returns, at the
//! caller's line.

use super::{Operand, Tensor};
use crate::backend::{Backend, Supports};
use crate::element::{Element, FloatElement, IntElement, NumericElement, Scalar};

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident: $bound:ident;)*) => { $(
        $(#[$doc])*
        #[track_caller]
        pub fn $name(self) -> Self
        where
            E: $bound,
        {
            Self::of(self.raw.$name())
        }
    )* };
}

macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident: $bound:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// If the shapes do not broadcast, or the devices differ.
        #[track_caller]
        pub fn $name(self, other: impl Operand<B, D, E>) -> Self
        where
            E: $bound,
        {
            Self::of(self.raw.$name(other.into_arg()))
        }
    )* };
}

macro_rules! scalar {
    ($($(#[$doc:meta])* $name:ident => $raw:ident: $bound:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// If the number is none for elements `E`: an integer tensor takes no fraction.
        #[track_caller]
        pub fn $name(self, other: impl Into<Scalar>) -> Self
        where
            E: $bound,
        {
            Self::of(self.raw.$raw(other.into()))
        }
    )* };
}

/// Functions of one tensor.
// The methods have the names of the operators' traits: Burn's names.
#[allow(clippy::should_implement_trait)]
impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    unary! {
        /// `-x`; wraps for integers.
        neg: NumericElement;
        /// `|x|`; wraps for the least integer.
        abs: NumericElement;
        /// -1, 0 or 1 by the sign of x; NaN stays.
        sign: NumericElement;
        /// `eˣ`.
        exp: FloatElement;
        /// `eˣ - 1`, exact near 0.
        expm1: FloatElement;
        /// The natural logarithm, `ln x`.
        log: FloatElement;
        /// `ln(1 + x)`, exact near 0.
        log1p: FloatElement;
        /// `log₂ x`.
        log2: FloatElement;
        /// `log₁₀ x`.
        log10: FloatElement;
        /// `√x`; NaN below 0.
        sqrt: FloatElement;
        /// `x²`.
        square: NumericElement;
        /// `1 / x`.
        recip: FloatElement;
        /// `sin x`, of radians.
        sin: FloatElement;
        /// `cos x`, of radians.
        cos: FloatElement;
        /// `tan x`, of radians.
        tan: FloatElement;
        /// `arcsin x`, in radians; NaN outside `-1..=1`.
        asin: FloatElement;
        /// `arccos x`, in radians; NaN outside `-1..=1`.
        acos: FloatElement;
        /// `arctan x`, in radians.
        atan: FloatElement;
        /// `sinh x = (eˣ - e⁻ˣ) / 2`.
        sinh: FloatElement;
        /// `cosh x = (eˣ + e⁻ˣ) / 2`.
        cosh: FloatElement;
        /// `tanh x = sinh x / cosh x`.
        tanh: FloatElement;
        /// `arsinh x`.
        asinh: FloatElement;
        /// `arcosh x`; NaN below 1.
        acosh: FloatElement;
        /// `artanh x`; NaN outside `-1..=1`.
        atanh: FloatElement;
        /// The error function, `2/√π ∫₀ˣ e^(-t²) dt`.
        erf: FloatElement;
        /// The greatest whole number that is not above x.
        floor: FloatElement;
        /// The least whole number that is not below x.
        ceil: FloatElement;
        /// The nearest whole number; of two, the even one.
        round: FloatElement;
        /// x without its fraction.
        trunc: FloatElement;
        /// Inverts every bit.
        bitwise_not: IntElement;
    }
}

/// Functions of two tensors, or of a tensor and a number.
// The methods have the names of the operators' traits: Burn's names.
#[allow(clippy::should_implement_trait)]
impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    binary! {
        /// `x + y`; wraps for integers.
        add: NumericElement;
        /// `x - y`; wraps for integers.
        sub: NumericElement;
        /// `x · y`; wraps for integers.
        mul: NumericElement;
        /// `x / y`; rounds towards zero for integers, whose division by zero panics.
        div: NumericElement;
        /// The remainder of `x / y` with the sign of y (Python's `%`); by integer zero it panics.
        remainder: NumericElement;
        /// The remainder of `x / y` with the sign of x (C's `fmod`).
        fmod: FloatElement;
        /// The greater of x and y; NaN if either is.
        max_pair: NumericElement;
        /// The lesser of x and y; NaN if either is.
        min_pair: NumericElement;
        /// The angle of the point (y, x), in radians: `arctan(x / y)` in the right quadrant.
        atan2: FloatElement;
        /// `√(x² + y²)` without overflow.
        hypot: FloatElement;
        /// Bitwise and.
        bitwise_and: IntElement;
        /// Bitwise or.
        bitwise_or: IntElement;
        /// Bitwise exclusive or.
        bitwise_xor: IntElement;
        /// `x << y`; 0 where y is not in `0..bits`.
        bitwise_left_shift: IntElement;
        /// `x >> y`, keeping the sign; 0 or -1 where y is not in `0..bits`.
        bitwise_right_shift: IntElement;
    }

    /// `xʸ` with float exponents.
    ///
    /// # Panics
    /// If the shapes do not broadcast, or the devices differ.
    #[track_caller]
    pub fn powf(self, other: impl Operand<B, D, E>) -> Self
    where
        E: FloatElement,
    {
        Self::of(self.raw.powf(other.into_arg()))
    }

    /// `xʸ` with exponents of the same type; integers wrap, and negative exponents truncate towards zero.
    ///
    /// # Panics
    /// If the shapes do not broadcast, or the devices differ.
    #[track_caller]
    pub fn powi(self, other: impl Operand<B, D, E>) -> Self
    where
        E: NumericElement,
    {
        Self::of(self.raw.powi(other.into_arg()))
    }

    scalar! {
        /// `x + y`.
        add_scalar => add: NumericElement;
        /// `x - y`.
        sub_scalar => sub: NumericElement;
        /// `x · y`.
        mul_scalar => mul: NumericElement;
        /// `x / y`; rounds towards zero for integers.
        div_scalar => div: NumericElement;
        /// The remainder of `x / y` with the sign of y.
        remainder_scalar => remainder: NumericElement;
        /// The remainder of `x / y` with the sign of x.
        fmod_scalar => fmod: FloatElement;
        /// `xʸ`.
        powf_scalar => powf: FloatElement;
        /// `xʸ` for a whole y.
        powi_scalar => powi: NumericElement;
        /// Bitwise and.
        bitwise_and_scalar => bitwise_and: IntElement;
        /// Bitwise or.
        bitwise_or_scalar => bitwise_or: IntElement;
        /// Bitwise exclusive or.
        bitwise_xor_scalar => bitwise_xor: IntElement;
        /// `x << y`.
        bitwise_left_shift_scalar => bitwise_left_shift: IntElement;
        /// `x >> y`, keeping the sign.
        bitwise_right_shift_scalar => bitwise_right_shift: IntElement;
        /// Values below the bound become it; NaN stays.
        clamp_min => clamp_min: NumericElement;
        /// Values above the bound become it; NaN stays.
        clamp_max => clamp_max: NumericElement;
    }

    /// Values below `min` become `min`, then values above `max` become `max`; NaN stays.
    ///
    /// # Panics
    /// If a bound is no number for elements `E`.
    #[track_caller]
    pub fn clamp(self, min: impl Into<Scalar>, max: impl Into<Scalar>) -> Self
    where
        E: NumericElement,
    {
        Self::of(self.raw.clamp(min.into(), max.into()))
    }
}

/// Conversion of elements.
impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// Converts the elements: float to int as Rust's `as`, anything to `bool` as "is not zero".
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([-1.5, 0.0, 300.0], &Default::default());
    /// assert_eq!(x.clone().cast::<u8>().into_vec()?, [0, 0, 255]);
    /// assert_eq!(x.bool().into_vec()?, [true, false, true]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the device does not hold `E2`: there are devices with less than their backend.
    #[track_caller]
    pub fn cast<E2: Element>(self) -> Tensor<B, D, E2>
    where
        B: Supports<E2>,
    {
        Tensor::of(self.raw.cast(E2::DTYPE))
    }

    /// The elements as `f32`.
    #[track_caller]
    pub fn float(self) -> Tensor<B, D, f32> {
        self.cast()
    }

    /// The elements as `i32`.
    #[track_caller]
    pub fn int(self) -> Tensor<B, D, i32> {
        self.cast()
    }

    /// Whether each element is not zero.
    #[track_caller]
    pub fn bool(self) -> Tensor<B, D, bool> {
        self.cast()
    }
}

/// Angles and decimals.
impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    /// Angles of degrees in radians: `x π / 180`.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1, f64>::from_array([180.0], &Default::default());
    /// assert_eq!(x.deg2rad().into_scalar()?, std::f64::consts::PI);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    #[track_caller]
    pub fn deg2rad(self) -> Self
    where
        E: FloatElement,
    {
        Self::of(self.raw.deg2rad())
    }

    /// Angles of radians in degrees: `x 180 / π`.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1, f64>::from_array([std::f64::consts::PI], &Default::default());
    /// assert_eq!(x.rad2deg().into_scalar()?, 180.0);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    #[track_caller]
    pub fn rad2deg(self) -> Self
    where
        E: FloatElement,
    {
        Self::of(self.raw.rad2deg())
    }

    /// Rounds to multiples of `10^-decimals`, of two equally near ones to the even one, as far as numbers of type `E` can
    /// tell. Negative `decimals` round before the decimal point.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.234, -1250.0], &Default::default());
    /// assert_eq!(x.clone().round_to(2).into_vec()?, [1.23, -1250.0]);
    /// assert_eq!(x.round_to(-2).into_vec()?, [0.0, -1200.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the type has not that many decimals.
    #[track_caller]
    pub fn round_to(self, decimals: i32) -> Self
    where
        E: FloatElement,
    {
        Self::of(self.raw.round_to(decimals))
    }
}
