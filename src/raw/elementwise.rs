use super::Raw;
use crate::backend::{Backend, Readable};
use crate::element::Scalar;
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

    /// `log₂ x`.
    pub fn log2(self) -> Result<Self, Error> {
        self.log()?.mul(std::f64::consts::LOG2_E)
    }

    /// `log₁₀ x`.
    pub fn log10(self) -> Result<Self, Error> {
        self.log()?.mul(std::f64::consts::LOG10_E)
    }

    /// The remainder with the dividend's sign (C's `fmod`).
    pub fn fmod(self, rhs: impl Into<Arg<Self>>) -> Result<Self, Error> {
        let rhs = rhs.into();
        let size = match rhs {
            Arg::Tensor(x) => Arg::Tensor(x.abs()?),
            Arg::Scalar(s) => Arg::Scalar(Scalar::Float(s.to::<f64>().abs())),
        };
        let sign = self.clone().sign()?;
        self.abs()?.remainder(size)?.mul(sign)
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

    /// Whether `|x - y| ≤ atol + rtol |y|`, by default with `rtol` 1e-5 and `atol` 1e-8; equal infinities are close, and so
    /// are two NaNs.
    pub fn is_close(self, rhs: Self, rtol: Option<f64>, atol: Option<f64>) -> Result<Self, Error> {
        let same = self.clone().equal(rhs.clone())?;
        let nan = self
            .clone()
            .not_equal(self.clone())?
            .bool_and(rhs.clone().not_equal(rhs.clone())?)?;
        let bound = rhs.clone().abs()?.mul(rtol.unwrap_or(1e-5))?;
        let bound = bound.add(atol.unwrap_or(1e-8))?;
        let finite = bound.clone().lower(f64::INFINITY)?;
        let near = self.sub(rhs)?.abs()?.lower_equal(bound)?.bool_and(finite)?;
        same.bool_or(nan)?.bool_or(near)
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
    ($method:ident($($rhs:ident)?) => $op:path; $($rest:tt)*) => { named!(@ $method [$($rhs)?] $op); named!($($rest)*); };
    () => {};
    (@ $method:ident [] $op:path) => {
        #[doc = concat!("[`", stringify!($op), "`].")]
        pub fn $method(self) -> Result<Self, Error> {
            self.unary($op)
        }
    };
    (@ $method:ident [binary] $op:path) => {
        #[doc = concat!("[`", stringify!($op), "`].")]
        pub fn $method(self, rhs: impl Into<Arg<Self>>) -> Result<Self, Error> {
            self.binary($op, rhs)
        }
    };
    (@ $method:ident [compare] $op:path) => {
        #[doc = concat!("[`", stringify!($op), "`].")]
        pub fn $method(self, rhs: impl Into<Arg<Self>>) -> Result<Self, Error> {
            self.compare($op, rhs)
        }
    };
}

/// The vocabulary by name. Operands broadcast: along an axis their sizes are equal, or one of them is 1.
///
/// # Errors
/// Each returns what [`op::run`] does.
#[allow(clippy::should_implement_trait)]
impl<B: Backend> Raw<B> {
    named! {
        neg() => UnaryOp::Neg;
        abs() => UnaryOp::Abs;
        sign() => UnaryOp::Sign;
        exp() => UnaryOp::Exp;
        expm1() => UnaryOp::Expm1;
        log() => UnaryOp::Log;
        log1p() => UnaryOp::Log1p;
        sqrt() => UnaryOp::Sqrt;
        recip() => UnaryOp::Recip;
        sin() => UnaryOp::Sin;
        cos() => UnaryOp::Cos;
        tan() => UnaryOp::Tan;
        asin() => UnaryOp::Asin;
        acos() => UnaryOp::Acos;
        atan() => UnaryOp::Atan;
        sinh() => UnaryOp::Sinh;
        cosh() => UnaryOp::Cosh;
        tanh() => UnaryOp::Tanh;
        asinh() => UnaryOp::Asinh;
        acosh() => UnaryOp::Acosh;
        atanh() => UnaryOp::Atanh;
        erf() => UnaryOp::Erf;
        sigmoid() => UnaryOp::Sigmoid;
        relu() => UnaryOp::Relu;
        floor() => UnaryOp::Floor;
        ceil() => UnaryOp::Ceil;
        round() => UnaryOp::Round;
        trunc() => UnaryOp::Trunc;
        bitwise_not() => UnaryOp::BitwiseNot;
        bool_not() => UnaryOp::LogicalNot;
        is_nan() => UnaryOp::IsNan;
        is_inf() => UnaryOp::IsInf;
        add(binary) => BinaryOp::Add;
        sub(binary) => BinaryOp::Sub;
        mul(binary) => BinaryOp::Mul;
        div(binary) => BinaryOp::Div;
        remainder(binary) => BinaryOp::Remainder;
        powf(binary) => BinaryOp::Pow;
        powi(binary) => BinaryOp::Pow;
        max_pair(binary) => BinaryOp::Max;
        min_pair(binary) => BinaryOp::Min;
        atan2(binary) => BinaryOp::Atan2;
        hypot(binary) => BinaryOp::Hypot;
        bitwise_and(binary) => BinaryOp::BitwiseAnd;
        bitwise_or(binary) => BinaryOp::BitwiseOr;
        bitwise_xor(binary) => BinaryOp::BitwiseXor;
        bitwise_left_shift(binary) => BinaryOp::Shl;
        bitwise_right_shift(binary) => BinaryOp::Shr;
        bool_and(binary) => BinaryOp::LogicalAnd;
        bool_or(binary) => BinaryOp::LogicalOr;
        bool_xor(binary) => BinaryOp::LogicalXor;
        equal(compare) => CompareOp::Equal;
        not_equal(compare) => CompareOp::NotEqual;
        lower(compare) => CompareOp::Lower;
        lower_equal(compare) => CompareOp::LowerEqual;
        greater(compare) => CompareOp::Greater;
        greater_equal(compare) => CompareOp::GreaterEqual;
    }
}
