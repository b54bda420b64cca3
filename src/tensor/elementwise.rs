//! Element-wise functions. Operands broadcast: along an axis their sizes are equal, or one of them is 1.
//!
//! Every method panics with the text of the `Err` that its namesake on [`Raw`](crate::raw::Raw) returns, at the
//! caller's line.

use super::{Operand, Tensor};
use crate::backend::{Backend, Supports};
use crate::element::{Element, FloatElement, IntElement, NumericElement, Scalar};

// The example of a row, where its documentation has none: the operands, after their element type if that is not `f32`,
// and what the result prints.

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident: $bound:ident $(, $($T:ident)? $x:literal => $prints:literal)?;)*) => { $(
        $(#[$doc])*
        $(
            ///
            #[doc = example!(1 $($T)? $x; $name("") => $prints)]
        )?
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
    ($(
        $(#[$doc:meta])*
        $name:ident: $bound:ident $(, $($T:ident)? $x:literal, $y:literal => $prints:literal)?;
    )*) => { $(
        $(#[$doc])*
        $(
            ///
            #[doc = example!(1 $($T)? $x, $y; $name("y") => $prints)]
        )?
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
    ($(
        $(#[$doc:meta])*
        $name:ident => $raw:ident: $bound:ident $(, $($T:ident)? $x:literal, $y:literal => $prints:literal)?;
    )*) => { $(
        $(#[$doc])*
        $(
            ///
            #[doc = example!(1 $($T)? $x; $name(stringify!($y)) => $prints)]
        )?
        ///
        /// # Panics
        /// If the number is none for elements `E` (an integer tensor takes no fraction), or integers are divided by 0.
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
        neg: NumericElement, i8 "[1, -128]" => "[  -1, -128]";
        /// `|x|`; wraps for the least integer.
        abs: NumericElement, i8 "[-3, -128]" => "[   3, -128]";
        /// -1, 0 or 1 by the sign of x: 0 for both zeros; NaN stays.
        sign: NumericElement, "[-2.5, 0.0, f32::NAN]" => "[-1.0,  0.0,  NaN]";
        /// `eˣ`.
        exp: FloatElement, "[0.0, 1.0]" => "[1.0000, 2.7183]";
        /// `eˣ - 1`, exact near 0.
        expm1: FloatElement, "[1e-10]" => "[1.0000e-10]";
        /// The natural logarithm, `ln x`; NaN below 0.
        log: FloatElement, "[2.0, 0.0, -1.0]" => "[0.6931,   -inf,    NaN]";
        /// `ln(1 + x)`, exact near 0; NaN below -1.
        log1p: FloatElement, "[1e-10]" => "[1.0000e-10]";
        /// `log₂ x`; NaN below 0.
        log2: FloatElement, "[0.5, 10.0]" => "[-1.0000,  3.3219]";
        /// `log₁₀ x`; NaN below 0.
        log10: FloatElement, "[2.0, 100.0]" => "[0.3010, 2.0000]";
        /// `√x`; NaN below 0.
        sqrt: FloatElement, "[4.0, -1.0]" => "[2.0, NaN]";
        /// `x²`; wraps for integers.
        square: NumericElement, "[3.0, -4.0]" => "[ 9.0, 16.0]";
        /// `1 / x`; infinite at 0.
        recip: FloatElement, "[4.0, 0.0]" => "[0.2500,    inf]";
        /// `sin x`, of radians.
        sin: FloatElement, "[0.0, 1.0]" => "[0.0000, 0.8415]";
        /// `cos x`, of radians.
        cos: FloatElement, "[0.0, 1.0]" => "[1.0000, 0.5403]";
        /// `tan x`, of radians.
        tan: FloatElement, "[0.0, 1.0]" => "[0.0000, 1.5574]";
        /// `arcsin x`, in radians; NaN outside `-1..=1`.
        asin: FloatElement, "[1.0, 1.5]" => "[1.5708,    NaN]";
        /// `arccos x`, in radians; NaN outside `-1..=1`.
        acos: FloatElement, "[0.0, 1.5]" => "[1.5708,    NaN]";
        /// `arctan x`, in radians.
        atan: FloatElement, "[1.0, f32::INFINITY]" => "[0.7854, 1.5708]";
        /// `sinh x = (eˣ - e⁻ˣ) / 2`.
        sinh: FloatElement, "[0.0, 1.0]" => "[0.0000, 1.1752]";
        /// `cosh x = (eˣ + e⁻ˣ) / 2`.
        cosh: FloatElement, "[0.0, 1.0]" => "[1.0000, 1.5431]";
        /// `tanh x = sinh x / cosh x`.
        tanh: FloatElement, "[0.0, 1.0]" => "[0.0000, 0.7616]";
        /// `arsinh x = ln(x + √(x² + 1))`, the inverse of [`sinh`](Tensor::sinh).
        asinh: FloatElement, "[0.0, 1.0]" => "[0.0000, 0.8814]";
        /// `arcosh x = ln(x + √(x² - 1))`, the inverse of [`cosh`](Tensor::cosh); NaN below 1.
        acosh: FloatElement, "[2.0, 0.5]" => "[1.3170,    NaN]";
        /// `artanh x = ln((1 + x) / (1 - x)) / 2`, the inverse of [`tanh`](Tensor::tanh); NaN outside `-1..=1`.
        atanh: FloatElement, "[0.5, 1.0, 1.5]" => "[0.5493,    inf,    NaN]";
        /// The error function, `2/√π ∫₀ˣ e^(-t²) dt`.
        erf: FloatElement, "[0.0, 1.0]" => "[0.0000, 0.8427]";
        /// The greatest whole number that is not above x.
        floor: FloatElement, "[1.5, -1.5]" => "[ 1.0, -2.0]";
        /// The least whole number that is not below x.
        ceil: FloatElement, "[1.5, -1.5]" => "[ 2.0, -1.0]";
        /// The nearest whole number; the even one of two that are equally near.
        round: FloatElement, "[0.5, 1.5, 2.5]" => "[0.0, 2.0, 2.0]";
        /// x without its fraction: rounded towards 0.
        trunc: FloatElement, "[1.5, -1.5]" => "[ 1.0, -1.0]";
        /// Inverts every bit.
        bitwise_not: IntElement, i32 "[5, -1]" => "[-6,  0]";
    }
}

/// Functions of two tensors, or of a tensor and a number. Operands broadcast: along an axis their sizes are equal, or one
/// of them is 1.
// The methods have the names of the operators' traits: Burn's names.
#[allow(clippy::should_implement_trait)]
impl<B: Backend, const D: usize, E: Element> Tensor<B, D, E> {
    binary! {
        /// `x + y`; wraps for integers.
        add: NumericElement, u8 "[100, 200]", "[1, 100]" => "[101,  44]";
        /// `x - y`; wraps for integers.
        sub: NumericElement, u8 "[5, 1]", "[3, 2]" => "[  2, 255]";
        /// `x · y`; wraps for integers.
        mul: NumericElement, i8 "[5, 100]", "[3, 2]" => "[ 15, -56]";
        /// `x / y`; rounds towards zero for integers, whose division by zero panics.
        div: NumericElement, i32 "[7, -7]", "[2, 2]" => "[ 3, -3]";
        /// The remainder of `x / y` with the sign of y (Python's `%`); by integer zero it panics.
        remainder: NumericElement, i32 "[7, -7]", "[3, 3]" => "[1, 2]";
        /// The remainder of `x / y` with the sign of x (C's `fmod`).
        fmod: FloatElement, "[7.0, -7.0]", "[3.0, 3.0]" => "[ 1.0, -1.0]";
        /// The greater of x and y; NaN if either is.
        max_pair: NumericElement, "[1.0, f32::NAN]", "[2.0, 2.0]" => "[2.0, NaN]";
        /// The lesser of x and y; NaN if either is.
        min_pair: NumericElement, "[1.0, f32::NAN]", "[2.0, 2.0]" => "[1.0, NaN]";
        /// The angle of the point (y, x), in radians from -π to π: `arctan(x / y)` in the right quadrant.
        atan2: FloatElement, "[1.0, -1.0]", "[-1.0, -1.0]" => "[ 2.3562, -2.3562]";
        /// `√(x² + y²)` without overflow.
        hypot: FloatElement, "[3e30]", "[4e30]" => "[5.0000e30]";
        /// Bitwise and.
        bitwise_and: IntElement, i32 "[0b1100]", "[0b1010]" => "[8]";
        /// Bitwise or.
        bitwise_or: IntElement, i32 "[0b1100]", "[0b1010]" => "[14]";
        /// Bitwise exclusive or.
        bitwise_xor: IntElement, i32 "[0b1100]", "[0b1010]" => "[6]";
        /// `x << y`; 0 where y is not in `0..bits`.
        bitwise_left_shift: IntElement, u8 "[1, 129, 1]", "[3, 1, 8]" => "[8, 2, 0]";
        /// `x >> y`, keeping the sign; 0 or -1 where y is not in `0..bits`.
        bitwise_right_shift: IntElement, i8 "[8, -8, -8]", "[1, 1, 8]" => "[ 4, -4, -1]";
    }

    /// `xʸ`; NaN where x is negative and y not whole, 1 where y is 0.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([4.0, -2.0], &Default::default());
    /// assert_eq!(x.clone().powf(2.0).into_vec()?, [16.0, 4.0]);
    /// assert!(x.powf(0.5).into_vec()?[1].is_nan()); // no real root
    /// # Ok::<(), keyway::Error>(())
    /// ```
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

    /// `xʸ` with exponents of the same type. For integers it wraps, and `x⁻ⁿ = 1 / xⁿ` is rounded towards zero: 0
    /// unless x is 1 or -1.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let x = Tensor::<Flex, 1, i32>::from_array([2, 2, -1], &device);
    /// let y = Tensor::from_array([10, -1, -1], &device);
    /// assert_eq!(x.powi(y).into_vec()?, [1024, 0, -1]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
        /// `x + y`; wraps for integers.
        add_scalar => add: NumericElement, "[1.0, 2.0]", 10.0 => "[11.0, 12.0]";
        /// `x - y`; wraps for integers.
        sub_scalar => sub: NumericElement, "[10.0, 20.0]", 1.0 => "[ 9.0, 19.0]";
        /// `x · y`; wraps for integers.
        mul_scalar => mul: NumericElement, "[1.0, 2.0]", 10.0 => "[10.0, 20.0]";
        /// `x / y`; rounds towards zero for integers, whose division by zero panics.
        div_scalar => div: NumericElement, i32 "[7, -7]", 2 => "[ 3, -3]";
        /// The remainder of `x / y` with the sign of y (Python's `%`); by integer zero it panics.
        remainder_scalar => remainder: NumericElement, i32 "[7, -7]", 3 => "[1, 2]";
        /// The remainder of `x / y` with the sign of x (C's `fmod`).
        fmod_scalar => fmod: FloatElement, "[7.0, -7.0]", 3.0 => "[ 1.0, -1.0]";
        /// `xʸ`; NaN where x is negative and y not whole.
        powf_scalar => powf: FloatElement, "[2.0, -2.0]", 0.5 => "[1.4142,    NaN]";
        /// `xʸ` for a whole y; integers wrap.
        powi_scalar => powi: NumericElement, i32 "[3, -2]", 3 => "[27, -8]";
        /// Bitwise and.
        bitwise_and_scalar => bitwise_and: IntElement, i32 "[0b1100]", 0b1010 => "[8]";
        /// Bitwise or.
        bitwise_or_scalar => bitwise_or: IntElement, i32 "[0b1100]", 0b1010 => "[14]";
        /// Bitwise exclusive or.
        bitwise_xor_scalar => bitwise_xor: IntElement, i32 "[0b1100]", 0b1010 => "[6]";
        /// `x << y`; 0 where y is not in `0..bits`.
        bitwise_left_shift_scalar => bitwise_left_shift: IntElement, u8 "[1, 129]", 1 => "[2, 2]";
        /// `x >> y`, keeping the sign; 0 or -1 where y is not in `0..bits`.
        bitwise_right_shift_scalar => bitwise_right_shift: IntElement, i8 "[8, -8]", 1 => "[ 4, -4]";
        /// Values below the bound become it; NaN stays.
        clamp_min => clamp_min: NumericElement, "[-1.0, 2.0, f32::NAN]", 0.0 => "[0.0, 2.0, NaN]";
        /// Values above the bound become it; NaN stays.
        clamp_max => clamp_max: NumericElement, "[-1.0, 2.0, f32::NAN]", 1.0 => "[-1.0,  1.0,  NaN]";
    }

    /// Values below `min` become `min`, then values above `max` become `max`; NaN stays.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([-2.0, 0.5, 2.0], &Default::default());
    /// assert_eq!(x.clone().clamp(-1.0, 1.0).into_vec()?, [-1.0, 0.5, 1.0]);
    /// assert_eq!(x.clamp(1.0, -1.0).into_vec()?, [-1.0; 3]); // the upper bound wins
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
    /// Converts the elements as Rust's `as` does, and to `bool` as "is not zero". Floats become integers towards zero,
    /// the nearest there is, or 0 for NaN.
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

    /// [`Tensor::cast`] to `f32`.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1, bool>::from_array([true, false], &Default::default());
    /// assert_eq!(x.float().into_vec()?, [1.0, 0.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    #[track_caller]
    pub fn float(self) -> Tensor<B, D, f32> {
        self.cast()
    }

    /// [`Tensor::cast`] to `i32`: rounded towards zero, the nearest `i32` for what lies beyond, and 0 for NaN.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.9, -1.9, f32::NAN, 1e10], &Default::default());
    /// assert_eq!(x.int().into_vec()?, [1, -1, 0, i32::MAX]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    #[track_caller]
    pub fn int(self) -> Tensor<B, D, i32> {
        self.cast()
    }

    /// [`Tensor::cast`] to `bool`: whether each element is not zero.
    ///
    /// ```
    /// use keyway::prelude::*;
    /// let x = Tensor::<Flex, 1>::from_array([1.0, 0.0, -0.5], &Default::default());
    /// assert_eq!(x.bool().into_vec()?, [true, false, true]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
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
