use super::leaf_ops;
use crate::element::DType;

leaf_ops! {
    /// An element-wise function of one operand; [`super::scalar`] defines each.
    UnaryOp {
        /// `-x`; wraps for integers.
        Neg = "neg",
        /// `|x|`; wraps for the least integer.
        Abs = "abs",
        /// -1, 0 or 1; NaN stays.
        Sign = "sign",
        /// `eˣ`.
        Exp = "exp",
        /// `eˣ - 1`.
        Expm1 = "expm1",
        /// Natural logarithm.
        Log = "log",
        /// `ln(1 + x)`.
        Log1p = "log1p",
        /// Square root.
        Sqrt = "sqrt",
        /// `1 / x`.
        Recip = "recip",
        /// Sine.
        Sin = "sin",
        /// Cosine.
        Cos = "cos",
        /// Tangent.
        Tan = "tan",
        /// Arc sine.
        Asin = "asin",
        /// Arc cosine.
        Acos = "acos",
        /// Arc tangent.
        Atan = "atan",
        /// Hyperbolic sine.
        Sinh = "sinh",
        /// Hyperbolic cosine.
        Cosh = "cosh",
        /// Hyperbolic tangent.
        Tanh = "tanh",
        /// Inverse hyperbolic sine.
        Asinh = "asinh",
        /// Inverse hyperbolic cosine.
        Acosh = "acosh",
        /// Inverse hyperbolic tangent.
        Atanh = "atanh",
        /// The error function.
        Erf = "erf",
        /// `1 / (1 + e⁻ˣ)`.
        Sigmoid = "sigmoid",
        /// `max(x, 0)`; its gradient at 0 is 0.
        Relu = "relu",
        /// Rounds down.
        Floor = "floor",
        /// Rounds up.
        Ceil = "ceil",
        /// Rounds to the nearest, ties to even.
        Round = "round",
        /// Rounds towards zero.
        Trunc = "trunc",
        /// Inverts every bit.
        BitwiseNot = "bitwise_not",
        /// `!x`.
        LogicalNot = "logical_not",
        /// Whether x is NaN.
        IsNan = "is_nan",
        /// Whether x is infinite.
        IsInf = "is_inf",
    }
}

leaf_ops! {
    /// An element-wise function of two operands; [`super::scalar`] defines each.
    BinaryOp {
        /// `a + b`.
        Add = "add",
        /// `a - b`.
        Sub = "sub",
        /// `a * b`.
        Mul = "mul",
        /// `a / b`; rounds towards zero for integers, whose division by zero is an error.
        Div = "div",
        /// The remainder with the divisor's sign (Python's `%`).
        Remainder = "remainder",
        /// `aᵇ`; wraps for integers, where a negative exponent truncates towards zero.
        Pow = "pow",
        /// The greater; NaN if either is.
        Max = "max_pair",
        /// The lesser; NaN if either is.
        Min = "min_pair",
        /// The angle of the point (b, a).
        Atan2 = "atan2",
        /// `sqrt(a² + b²)` without overflow.
        Hypot = "hypot",
        /// Bitwise and.
        BitwiseAnd = "bitwise_and",
        /// Bitwise or.
        BitwiseOr = "bitwise_or",
        /// Bitwise exclusive or.
        BitwiseXor = "bitwise_xor",
        /// `a << b`; 0 where b is not in `0..bits`.
        Shl = "bitwise_left_shift",
        /// `a >> b`, keeping the sign; 0 or -1 where b is not in `0..bits`.
        Shr = "bitwise_right_shift",
        /// Logical and.
        LogicalAnd = "logical_and",
        /// Logical or.
        LogicalOr = "logical_or",
        /// Logical exclusive or.
        LogicalXor = "logical_xor",
    }
}

impl UnaryOp {
    /// Whether the op takes this element type.
    #[inline]
    pub fn takes(self, dtype: DType) -> bool {
        use UnaryOp::*;
        match self {
            Neg | Abs | Sign | Relu => dtype != DType::Bool,
            BitwiseNot => dtype.is_int(),
            LogicalNot => dtype == DType::Bool,
            Exp | Expm1 | Log | Log1p | Sqrt | Recip | Sin | Cos | Tan | Asin | Acos | Atan | Sinh | Cosh
            | Tanh | Asinh | Acosh | Atanh | Erf | Sigmoid | Floor | Ceil | Round | Trunc | IsNan | IsInf => {
                dtype.is_float()
            }
        }
    }

    /// The element type of the result.
    #[inline]
    pub fn output(self, dtype: DType) -> DType {
        if matches!(self, UnaryOp::IsNan | UnaryOp::IsInf) {
            DType::Bool
        } else {
            dtype
        }
    }
}

impl BinaryOp {
    /// Whether the op takes this element type.
    #[inline]
    pub fn takes(self, dtype: DType) -> bool {
        use BinaryOp::*;
        match self {
            Add | Sub | Mul | Div | Remainder | Pow | Max | Min => dtype != DType::Bool,
            Atan2 | Hypot => dtype.is_float(),
            BitwiseAnd | BitwiseOr | BitwiseXor | Shl | Shr => dtype.is_int(),
            LogicalAnd | LogicalOr | LogicalXor => dtype == DType::Bool,
        }
    }
}
