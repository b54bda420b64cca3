use super::Raw;
use crate::backend::Backend;
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
    pub fn choose(
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

    /// Whether x is neither NaN nor infinite.
    pub fn is_finite(self) -> Result<Self, Error> {
        self.abs()?.lower(f64::INFINITY)
    }

    /// Whether `|x - y| <= atol + rtol |y|`, or both are the same infinity, or both NaN.
    pub fn is_close(self, rhs: Self, rtol: f64, atol: f64) -> Result<Self, Error> {
        let same = self.clone().equal(rhs.clone())?;
        let nan = self
            .clone()
            .not_equal(self.clone())?
            .logical_and(rhs.clone().not_equal(rhs.clone())?)?;
        let bound = rhs.clone().abs()?.mul(rtol)?.add(atol)?;
        let finite = bound.clone().lower(f64::INFINITY)?;
        let near = self.sub(rhs)?.abs()?.lower_equal(bound)?.logical_and(finite)?;
        same.logical_or(nan)?.logical_or(near)
    }

    /// `value` where `mask` is true, `self` elsewhere.
    pub fn mask_where(self, mask: Self, value: impl Into<Arg<Self>>) -> Result<Self, Error> {
        mask.choose(value, self)
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

/// The vocabulary by name; each takes a tensor or a number on the right.
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
        logical_not() => UnaryOp::LogicalNot;
        is_nan() => UnaryOp::IsNan;
        is_inf() => UnaryOp::IsInf;
        add(binary) => BinaryOp::Add;
        sub(binary) => BinaryOp::Sub;
        mul(binary) => BinaryOp::Mul;
        div(binary) => BinaryOp::Div;
        remainder(binary) => BinaryOp::Remainder;
        pow(binary) => BinaryOp::Pow;
        max_pair(binary) => BinaryOp::Max;
        min_pair(binary) => BinaryOp::Min;
        atan2(binary) => BinaryOp::Atan2;
        hypot(binary) => BinaryOp::Hypot;
        bitwise_and(binary) => BinaryOp::BitwiseAnd;
        bitwise_or(binary) => BinaryOp::BitwiseOr;
        bitwise_xor(binary) => BinaryOp::BitwiseXor;
        bitwise_left_shift(binary) => BinaryOp::Shl;
        bitwise_right_shift(binary) => BinaryOp::Shr;
        logical_and(binary) => BinaryOp::LogicalAnd;
        logical_or(binary) => BinaryOp::LogicalOr;
        logical_xor(binary) => BinaryOp::LogicalXor;
        equal(compare) => CompareOp::Equal;
        not_equal(compare) => CompareOp::NotEqual;
        lower(compare) => CompareOp::Lower;
        lower_equal(compare) => CompareOp::LowerEqual;
        greater(compare) => CompareOp::Greater;
        greater_equal(compare) => CompareOp::GreaterEqual;
    }
}
