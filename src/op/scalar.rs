//! The meaning of every element-wise op, on single values. Backends are tested against it.
//!
//! Floats are computed in `f64` and rounded by the caller; integers in `i128` and wrapped by the caller.

use super::{BinaryOp, CompareOp, UnaryOp};

/// A unary op on a float, where the result is a float.
pub fn unary_float(op: UnaryOp, x: f64) -> f64 {
    match op {
        UnaryOp::Neg => -x,
        UnaryOp::Abs => x.abs(),
        UnaryOp::Sign => {
            if x.is_nan() {
                x
            } else {
                f64::from(i8::from(x > 0.0) - i8::from(x < 0.0))
            }
        }
        UnaryOp::Exp => x.exp(),
        UnaryOp::Expm1 => x.exp_m1(),
        UnaryOp::Log => x.ln(),
        UnaryOp::Log1p => x.ln_1p(),
        UnaryOp::Sqrt => x.sqrt(),
        UnaryOp::Recip => 1.0 / x,
        UnaryOp::Sin => x.sin(),
        UnaryOp::Cos => x.cos(),
        UnaryOp::Tan => x.tan(),
        UnaryOp::Asin => x.asin(),
        UnaryOp::Acos => x.acos(),
        UnaryOp::Atan => x.atan(),
        UnaryOp::Sinh => x.sinh(),
        UnaryOp::Cosh => x.cosh(),
        UnaryOp::Tanh => x.tanh(),
        UnaryOp::Asinh => libm::asinh(x),
        // `libm` gives numbers below 1, where there are none.
        UnaryOp::Acosh if x < 1.0 => f64::NAN,
        UnaryOp::Acosh => libm::acosh(x),
        UnaryOp::Atanh => libm::atanh(x),
        UnaryOp::Erf => libm::erf(x),
        UnaryOp::Sigmoid => {
            // Never exponentiates a positive number, so that neither end overflows.
            let e = (-x.abs()).exp();
            (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
        }
        UnaryOp::Relu => {
            if x <= 0.0 {
                0.0
            } else {
                x
            }
        }
        UnaryOp::Floor => x.floor(),
        UnaryOp::Ceil => x.ceil(),
        UnaryOp::Round => x.round_ties_even(),
        UnaryOp::Trunc => x.trunc(),
        UnaryOp::BitwiseNot | UnaryOp::LogicalNot | UnaryOp::IsNan | UnaryOp::IsInf => {
            unreachable!(
                "`{}` gives no float; `infer` admits it for other types only",
                op.name()
            )
        }
    }
}

/// Whether a float is NaN, or infinite.
pub fn classify(op: UnaryOp, x: f64) -> bool {
    if op == UnaryOp::IsNan {
        x.is_nan()
    } else {
        x.is_infinite()
    }
}

/// A unary op on an integer.
pub fn unary_int(op: UnaryOp, x: i128) -> i128 {
    match op {
        UnaryOp::Neg => -x,
        UnaryOp::Abs => x.abs(),
        UnaryOp::Sign => x.signum(),
        UnaryOp::Relu => x.max(0),
        UnaryOp::BitwiseNot => !x,
        _ => unreachable!("`{}` takes no integers; `infer` refuses them", op.name()),
    }
}

/// A binary op on floats.
pub fn binary_float(op: BinaryOp, a: f64, b: f64) -> f64 {
    match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        BinaryOp::Remainder => {
            let r = a % b;
            if r != 0.0 && (r < 0.0) != (b < 0.0) {
                r + b
            } else {
                r
            }
        }
        BinaryOp::Pow => a.powf(b),
        BinaryOp::Max => {
            if a.is_nan() || a >= b {
                a
            } else {
                b
            }
        }
        BinaryOp::Min => {
            if a.is_nan() || a <= b {
                a
            } else {
                b
            }
        }
        BinaryOp::Atan2 => a.atan2(b),
        BinaryOp::Hypot => a.hypot(b),
        _ => unreachable!("`{}` takes no floats; `infer` refuses them", op.name()),
    }
}

/// A binary op on integers of `bits` bits; `None` where it divides by zero.
pub fn binary_int(op: BinaryOp, a: i128, b: i128, bits: u32) -> Option<i128> {
    Some(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div => a.checked_div(b)?,
        BinaryOp::Remainder => {
            let r = a.checked_rem(b)?;
            if r != 0 && (r < 0) != (b < 0) { r + b } else { r }
        }
        BinaryOp::Pow => pow_int(a, b),
        BinaryOp::Max => a.max(b),
        BinaryOp::Min => a.min(b),
        BinaryOp::BitwiseAnd => a & b,
        BinaryOp::BitwiseOr => a | b,
        BinaryOp::BitwiseXor => a ^ b,
        BinaryOp::Shl if (0..i128::from(bits)).contains(&b) => a << b,
        BinaryOp::Shl => 0,
        BinaryOp::Shr if (0..i128::from(bits)).contains(&b) => a >> b,
        BinaryOp::Shr => a >> 127,
        _ => unreachable!("`{}` takes no integers; `infer` refuses them", op.name()),
    })
}

/// A logical op.
pub fn binary_bool(op: BinaryOp, a: bool, b: bool) -> bool {
    match op {
        BinaryOp::LogicalAnd => a && b,
        BinaryOp::LogicalOr => a || b,
        BinaryOp::LogicalXor => a != b,
        _ => unreachable!("`{}` takes no truth values; `infer` refuses them", op.name()),
    }
}

/// A comparison.
pub fn compare<T: PartialOrd>(op: CompareOp, a: T, b: T) -> bool {
    match op {
        CompareOp::Equal => a == b,
        CompareOp::NotEqual => a != b,
        CompareOp::Lower => a < b,
        CompareOp::LowerEqual => a <= b,
        CompareOp::Greater => a > b,
        CompareOp::GreaterEqual => a >= b,
    }
}

fn pow_int(base: i128, exponent: i128) -> i128 {
    if exponent < 0 {
        return match base {
            1 => 1,
            -1 if exponent % 2 == 0 => 1,
            -1 => -1,
            _ => 0,
        };
    }
    let (mut result, mut base, mut exponent) = (1i128, base, exponent);
    while exponent > 0 {
        if exponent % 2 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent /= 2;
    }
    result
}
