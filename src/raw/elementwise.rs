use super::Raw;
use crate::backend::{Backend, Readable};
use crate::element::{DType, Scalar};
use crate::error::Error;
use crate::op::{self, Arg, BinaryOp, CompareOp, IndexOp, Op, UnaryOp};

/// Element-wise ops.
///
/// # Errors
/// Each returns what [`op::run`] does.
impl<B: Backend> Raw<B> {
    /// A unary op.
    pub fn unary(self, op: UnaryOp) -> Result<Self, Error> {
        op::run::<B>(Op::Unary(op, self.0)).map(Raw)
    }

    /// A binary op with a tensor or a number on the right.
    pub fn binary(self, op: BinaryOp, rhs: impl Into<Arg<Self>>) -> Result<Self, Error> {
        op::run::<B>(Op::Binary(op, Arg::Tensor(self.0), arg(rhs))).map(Raw)
    }

    /// A binary op with a number on the left.
    pub fn binary_left(self, op: BinaryOp, lhs: impl Into<Arg<Self>>) -> Result<Self, Error> {
        op::run::<B>(Op::Binary(op, arg(lhs), Arg::Tensor(self.0))).map(Raw)
    }

    /// A comparison with a tensor or a number on the right.
    pub fn compare(self, op: CompareOp, rhs: impl Into<Arg<Self>>) -> Result<Self, Error> {
        op::run::<B>(Op::Compare(op, Arg::Tensor(self.0), arg(rhs))).map(Raw)
    }

    /// `self` (a bool tensor) chooses between two operands.
    pub(crate) fn choose(
        self,
        on_true: impl Into<Arg<Self>>,
        on_false: impl Into<Arg<Self>>,
    ) -> Result<Self, Error> {
        let op = IndexOp::Where {
            cond: self.0,
            on_true: arg(on_true),
            on_false: arg(on_false),
        };
        op::run::<B>(Op::Index(Box::new(op))).map(Raw)
    }
}

/// Composites.
///
/// # Errors
/// Each returns what the ops it consists of do.
impl<B: Backend> Raw<B> {
    /// `x²`.
    pub fn square(self) -> Result<Self, Error> {
        self.clone().mul(self)
    }

    /// `log₂ x`, exact for powers of 2.
    pub fn log2(self) -> Result<Self, Error> {
        self.log_to("log2", 2.0)
    }

    /// `log₁₀ x`, exact for powers of 10.
    pub fn log10(self) -> Result<Self, Error> {
        self.log_to("log10", 10.0)
    }

    /// The logarithm to a base.
    fn log_to(self, op: &'static str, base: f64) -> Result<Self, Error> {
        self.floats(op)?;
        let dtype = self.dtype();
        let x = self.widen()?;
        let wide = x.dtype();
        let scale = 1.0 / base.ln();
        // Subnormal numbers are powers of 2, and but nearly of others.
        let least = match wide {
            _ if base == 2.0 => 0.0,
            DType::F64 => f64::MIN_POSITIVE,
            _ => f32::MIN_POSITIVE.into(),
        };
        // As integers the exponents are not tracked.
        let exponent = x
            .clone()
            .log()?
            .mul(scale)?
            .round()?
            .cast(DType::I32)?
            .cast(wide)?;
        let power = exponent.clone().binary_left(BinaryOp::Pow, base)?;
        // Beside a power, the logarithm is its exponent and that of a quotient near 1, which is 0 for the power itself.
        let beside = x.clone().div(power.clone())?.sub(1.0)?.abs()?.lower(1e-6)?;
        let beside = beside.bool_and(power.clone().greater_equal(least)?)?;
        let power = beside.clone().choose(power, 1.0)?;
        let exponent = beside.choose(exponent, 0.0)?;
        x.div(power)?.log()?.mul(scale)?.add(exponent)?.cast(dtype)
    }

    /// `xʸ`; integers wrap, and negative exponents of them truncate towards zero.
    pub fn powf(self, rhs: impl Into<Arg<Self>>) -> Result<Self, Error> {
        self.binary(BinaryOp::Pow, rhs).map_err(|error| error.of("powf"))
    }

    /// `xʸ`, as [`Raw::powf`]: both names take exponents of this tensor's type, and any number that fits it.
    pub fn powi(self, rhs: impl Into<Arg<Self>>) -> Result<Self, Error> {
        self.binary(BinaryOp::Pow, rhs).map_err(|error| error.of("powi"))
    }

    /// The remainder with the dividend's sign (C's `fmod`).
    pub fn fmod(self, rhs: impl Into<Arg<Self>>) -> Result<Self, Error> {
        self.remainder_of_its_sign(rhs.into())
            .map_err(|error| error.of("fmod"))
    }

    fn remainder_of_its_sign(self, rhs: Arg<Self>) -> Result<Self, Error> {
        if !self.dtype().is_float() {
            // Not by `|y|`, which the least integer has none of.
            let rest = self.clone().remainder(rhs.clone())?;
            let turned = rest.clone().lower(0)?.bool_xor(self.lower(0)?)?;
            let turned = turned.bool_and(rest.clone().not_equal(0)?)?;
            return turned.choose(rest.clone().sub(rhs)?, rest);
        }
        let size = match rhs {
            Arg::Tensor(x) => x.abs()?,
            Arg::Scalar(s) => self.full_like(s)?.abs()?,
        };
        // Of a divisor with the dividend's sign, which both remainders have.
        let negative = self.clone().lower(0)?;
        self.remainder(negative.choose(size.clone().neg()?, size)?)
    }

    /// Angles of degrees in radians.
    pub fn deg2rad(self) -> Result<Self, Error> {
        self.mul(std::f64::consts::PI / 180.0)
    }

    /// Angles of radians in degrees.
    pub fn rad2deg(self) -> Result<Self, Error> {
        self.mul(180.0 / std::f64::consts::PI)
    }

    /// Rounds to multiples of `10^-decimals`; of two, to the even one.
    pub fn round_to(self, decimals: i32) -> Result<Self, Error> {
        let dtype = self.dtype();
        self.floats("round_to")?;
        let scale = 10f64.powi(decimals.saturating_abs());
        // What overflows when it is scaled must be whole already.
        let (greatest, whole) = match dtype {
            DType::F64 => (f64::MAX, 2f64.powi(53)),
            _ => (f32::MAX.into(), 2f64.powi(24)),
        };
        if scale > greatest || (decimals > 0 && scale > greatest / whole) {
            let message = format!("{decimals} decimals are more than {dtype} elements can be scaled by");
            return Err(Error::argument("round_to", message));
        }
        let x = self.widen()?;
        if decimals <= 0 {
            return x.div(scale)?.round()?.mul(scale)?.cast(dtype);
        }
        let scaled = x.clone().mul(scale)?;
        let overflows = scaled.clone().is_inf()?;
        let rounded = scaled.round()?.div(scale)?;
        overflows.choose(x.round()?, rounded)?.cast(dtype)
    }

    /// Values below `min` become `min`, values above `max` become `max`; NaN stays.
    pub fn clamp(self, min: impl Into<Arg<Self>>, max: impl Into<Arg<Self>>) -> Result<Self, Error> {
        self.max_pair(min)?.min_pair(max)
    }

    /// Values below the bound become it; NaN stays.
    pub fn clamp_min(self, min: impl Into<Arg<Self>>) -> Result<Self, Error> {
        self.max_pair(min)
    }

    /// Values above the bound become it; NaN stays.
    pub fn clamp_max(self, max: impl Into<Arg<Self>>) -> Result<Self, Error> {
        self.min_pair(max)
    }

    /// Whether any element is NaN, in shape `[1]`.
    pub fn contains_nan(self) -> Result<Self, Error> {
        self.is_nan()?.any()
    }

    /// Whether each element is neither NaN nor infinite.
    pub fn is_finite(self) -> Result<Self, Error> {
        self.abs()?.lower(f64::INFINITY)
    }

    /// Whether `|x - y| ≤ atol + rtol |y|`, by default with `rtol` 1e-5 and `atol` 1e-8; equal infinities are close, NaN is
    /// close to nothing.
    pub fn is_close(self, rhs: Self, rtol: Option<f64>, atol: Option<f64>) -> Result<Self, Error> {
        let same = self.clone().equal(rhs.clone())?;
        let bound = rhs.clone().abs()?.mul(rtol.unwrap_or(1e-5))?;
        let bound = bound.add(atol.unwrap_or(1e-8))?;
        let finite = bound.clone().lower(f64::INFINITY)?;
        let near = self.sub(rhs)?.abs()?.lower_equal(bound)?.bool_and(finite)?;
        same.bool_or(near)
    }

    /// Whether every element [is close](Raw::is_close); reads the answer.
    pub fn all_close(self, rhs: Self, rtol: Option<f64>, atol: Option<f64>) -> Result<bool, Error>
    where
        B: Readable,
    {
        Ok(self.is_close(rhs, rtol, atol)?.all()?.into_scalar()?.to())
    }

    /// `value` where `mask`, a bool tensor, is true, this tensor elsewhere.
    pub fn mask_where(self, mask: Self, value: impl Into<Arg<Self>>) -> Result<Self, Error> {
        mask.choose(value, self)
    }

    /// One number where `mask`, a bool tensor, is true, this tensor elsewhere.
    pub fn mask_fill(self, mask: Self, value: impl Into<Scalar>) -> Result<Self, Error> {
        self.mask_where(mask, value.into())
    }
}

fn arg<B: Backend>(x: impl Into<Arg<Raw<B>>>) -> Arg<B::Primitive> {
    match x.into() {
        Arg::Tensor(x) => Arg::Tensor(x.0),
        Arg::Scalar(s) => Arg::Scalar(s),
    }
}

macro_rules! named {
    ($($(#[$doc:meta])* $method:ident($($rhs:ident)?) => $op:path;)*) => { $(
        named!(@ [$(#[$doc])*] $method [$($rhs)?] $op);
    )* };
    (@ [$($doc:tt)*] $method:ident [] $op:path) => {
        $($doc)*
        pub fn $method(self) -> Result<Self, Error> {
            self.unary($op)
        }
    };
    (@ [$($doc:tt)*] $method:ident [$family:ident] $op:path) => {
        $($doc)*
        pub fn $method(self, rhs: impl Into<Arg<Self>>) -> Result<Self, Error> {
            self.$family($op, rhs)
        }
    };
}

/// The vocabulary by name. Operands broadcast: along an axis their sizes are equal, or one of them is 1.
///
/// # Errors
/// Each returns an error if the shapes do not broadcast, the devices or the element types differ, the op does not take the
/// element type, a number is none for it (an integer tensor takes no fraction), or an integer is divided by zero.
#[allow(clippy::should_implement_trait)]
impl<B: Backend> Raw<B> {
    named! {
        /// `-x`; wraps for integers.
        neg() => UnaryOp::Neg;
        /// `|x|`; wraps for the least integer.
        abs() => UnaryOp::Abs;
        /// -1, 0 or 1 by the sign of x; NaN stays.
        sign() => UnaryOp::Sign;
        /// `eˣ`.
        exp() => UnaryOp::Exp;
        /// `eˣ - 1`, exact near 0.
        expm1() => UnaryOp::Expm1;
        /// The natural logarithm, `ln x`.
        log() => UnaryOp::Log;
        /// `ln(1 + x)`, exact near 0.
        log1p() => UnaryOp::Log1p;
        /// `√x`; NaN below 0.
        sqrt() => UnaryOp::Sqrt;
        /// `1 / x`.
        recip() => UnaryOp::Recip;
        /// `sin x`, of radians.
        sin() => UnaryOp::Sin;
        /// `cos x`, of radians.
        cos() => UnaryOp::Cos;
        /// `tan x`, of radians.
        tan() => UnaryOp::Tan;
        /// `arcsin x`, in radians; NaN outside `-1..=1`.
        asin() => UnaryOp::Asin;
        /// `arccos x`, in radians; NaN outside `-1..=1`.
        acos() => UnaryOp::Acos;
        /// `arctan x`, in radians.
        atan() => UnaryOp::Atan;
        /// `sinh x = (eˣ - e⁻ˣ) / 2`.
        sinh() => UnaryOp::Sinh;
        /// `cosh x = (eˣ + e⁻ˣ) / 2`.
        cosh() => UnaryOp::Cosh;
        /// `tanh x = sinh x / cosh x`.
        tanh() => UnaryOp::Tanh;
        /// `arsinh x`.
        asinh() => UnaryOp::Asinh;
        /// `arcosh x`; NaN below 1.
        acosh() => UnaryOp::Acosh;
        /// `artanh x`; NaN outside `-1..=1`.
        atanh() => UnaryOp::Atanh;
        /// The error function, `2/√π ∫₀ˣ e^(-t²) dt`.
        erf() => UnaryOp::Erf;
        /// `1 / (1 + e⁻ˣ)`.
        sigmoid() => UnaryOp::Sigmoid;
        /// `max(x, 0)`; its gradient at 0 is 0.
        relu() => UnaryOp::Relu;
        /// The greatest whole number that is not above x.
        floor() => UnaryOp::Floor;
        /// The least whole number that is not below x.
        ceil() => UnaryOp::Ceil;
        /// The nearest whole number; of two, the even one.
        round() => UnaryOp::Round;
        /// x without its fraction.
        trunc() => UnaryOp::Trunc;
        /// Inverts every bit.
        bitwise_not() => UnaryOp::BitwiseNot;
        /// Logical not of a bool tensor.
        bool_not() => UnaryOp::LogicalNot;
        /// Whether each element is NaN.
        is_nan() => UnaryOp::IsNan;
        /// Whether each element is infinite.
        is_inf() => UnaryOp::IsInf;
        /// `x + y`; wraps for integers.
        add(binary) => BinaryOp::Add;
        /// `x - y`; wraps for integers.
        sub(binary) => BinaryOp::Sub;
        /// `x · y`; wraps for integers.
        mul(binary) => BinaryOp::Mul;
        /// `x / y`; rounds towards zero for integers, whose division by zero is an error.
        div(binary) => BinaryOp::Div;
        /// The remainder of `x / y` with the sign of y (Python's `%`); by integer zero is an error.
        remainder(binary) => BinaryOp::Remainder;
        /// The greater of x and y; NaN if either is.
        max_pair(binary) => BinaryOp::Max;
        /// The lesser of x and y; NaN if either is.
        min_pair(binary) => BinaryOp::Min;
        /// The angle of the point (y, x), in radians: `arctan(x / y)` in the right quadrant.
        atan2(binary) => BinaryOp::Atan2;
        /// `√(x² + y²)` without overflow.
        hypot(binary) => BinaryOp::Hypot;
        /// Bitwise and.
        bitwise_and(binary) => BinaryOp::BitwiseAnd;
        /// Bitwise or.
        bitwise_or(binary) => BinaryOp::BitwiseOr;
        /// Bitwise exclusive or.
        bitwise_xor(binary) => BinaryOp::BitwiseXor;
        /// `x << y`; 0 where y is not in `0..bits`.
        bitwise_left_shift(binary) => BinaryOp::Shl;
        /// `x >> y`, keeping the sign; 0 or -1 where y is not in `0..bits`.
        bitwise_right_shift(binary) => BinaryOp::Shr;
        /// Logical and, `x & y`.
        bool_and(binary) => BinaryOp::LogicalAnd;
        /// Logical or, `x | y`.
        bool_or(binary) => BinaryOp::LogicalOr;
        /// Logical exclusive or, `x ^ y`.
        bool_xor(binary) => BinaryOp::LogicalXor;
        /// Whether `x = y`.
        equal(compare) => CompareOp::Equal;
        /// Whether `x ≠ y`; true where either is NaN.
        not_equal(compare) => CompareOp::NotEqual;
        /// Whether `x < y`.
        lower(compare) => CompareOp::Lower;
        /// Whether `x ≤ y`.
        lower_equal(compare) => CompareOp::LowerEqual;
        /// Whether `x > y`.
        greater(compare) => CompareOp::Greater;
        /// Whether `x ≥ y`.
        greater_equal(compare) => CompareOp::GreaterEqual;
    }
}
