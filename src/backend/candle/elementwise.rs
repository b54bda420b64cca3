//! Element-wise ops, on operands of any strides.

use std::borrow::Cow;

use candle_core::Tensor;

use super::integer;
use super::storage::{CandleDevice, CandleTensor, full, stored};
use super::{Native, native};
use crate::backend::failure::Failure;
use crate::element::{DType, Scalar};
use crate::op::{Arg, BinaryOp, CompareOp, HasMeta, Meta, UnaryOp};
use crate::shape::Shape;
use crate::with_dtype;

pub(super) fn unary(op: UnaryOp, x: &CandleTensor) -> Native {
    match x.dtype() {
        // `LogicalNot` is the only one.
        DType::Bool => native(x.tensor().eq(0u8)),
        dtype if dtype.is_int() => unary_int(op, x),
        _ => unary_float(op, x.tensor()),
    }
}

fn unary_float(op: UnaryOp, x: &Tensor) -> Native {
    use UnaryOp::*;
    native(match op {
        Neg => x.neg(),
        Abs => x.abs(),
        Exp => x.exp(),
        Log => x.log(),
        Sqrt => x.sqrt(),
        Recip => x.recip(),
        Sin => x.sin(),
        Cos => x.cos(),
        Tanh => x.tanh(),
        Erf => x.erf(),
        Floor => x.floor(),
        Ceil => x.ceil(),
        // For `candle` these are 0 at NaN.
        Sign => is_nan(x)?.where_cond(x, &x.sign()?),
        Relu => is_nan(x)?.where_cond(x, &x.relu()?),
        Trunc => x.lt(0f64)?.where_cond(&x.ceil()?, &x.floor()?),
        // `candle` rounds ties away from zero; the even one is twice their rounded half.
        Round => {
            let half = (x * 0.5)?.round()?;
            let tie = x.sub(&x.floor()?)?.eq(0.5f64)?;
            tie.where_cond(&half.add(&half)?, &x.round()?)
        }
        IsNan => is_nan(x),
        IsInf => x.abs()?.eq(f64::INFINITY),
        Expm1 | Log1p | Tan | Asin | Acos | Atan | Sinh | Cosh | Asinh | Acosh | Atanh | Sigmoid
        | BitwiseNot | LogicalNot => return Ok(None),
    })
}

fn unary_int(op: UnaryOp, x: &CandleTensor) -> Native {
    use UnaryOp::*;
    let minus = |value: i64| {
        let value = stretched_number(Scalar::Int(value), x.dtype(), x.shape(), x.device())?;
        integer::wrapping(BinaryOp::Sub, &value, x.tensor())
    };
    native(match op {
        Sign => x.tensor().sign(),
        Relu => x.tensor().relu(),
        Abs if x.dtype().is_unsigned() => Ok(x.tensor().clone()),
        // The least integer is its own negation.
        Abs => x.tensor().maximum(&minus(0)?),
        Neg => Ok(minus(0)?),
        // All bits of -1 are set, which an unsigned type takes for its greatest value.
        BitwiseNot => Ok(minus(-1)?),
        Exp | Expm1 | Log | Log1p | Sqrt | Recip | Sin | Cos | Tan | Asin | Acos | Atan | Sinh | Cosh
        | Tanh | Asinh | Acosh | Atanh | Erf | Sigmoid | Floor | Ceil | Round | Trunc | LogicalNot
        | IsNan | IsInf => return Ok(None),
    })
}

pub(super) fn binary(op: BinaryOp, a: &Arg<CandleTensor>, b: &Arg<CandleTensor>, meta: &Meta) -> Native {
    use BinaryOp::*;
    let is_int = meta.dtype.is_int();
    if let (Pow, Arg::Tensor(x), &Arg::Scalar(exponent)) = (op, a, b) {
        return if is_int {
            Ok(None)
        } else {
            native(x.tensor().powf(exponent.to()))
        };
    }
    if matches!(
        op,
        Remainder | Pow | Atan2 | Hypot | BitwiseAnd | BitwiseOr | BitwiseXor | Shl | Shr
    ) {
        return Ok(None);
    }
    // The host says what is wrong.
    if op == Div && is_int && has_zero(b, meta.dtype)? {
        return Ok(None);
    }
    let (a, b) = operands(a, b, &meta.shape)?;
    let (a, b) = (&*a, &*b);
    native(match op {
        Add | Sub | Mul if is_int => Ok(integer::wrapping(op, a, b)?),
        Div if is_int => Ok(integer::wrapping(op, a, b)?),
        // Where the processor converts to bf16 itself, it takes subnormal numbers for 0, and `candle` adds by that.
        Add if meta.dtype == DType::BF16 => a.sub(&b.neg()?),
        Add => a.add(b),
        Sub => a.sub(b),
        Mul => a.mul(b),
        Div => a.div(b),
        Max => keep_nan(b, a.maximum(b)?),
        Min => keep_nan(b, a.minimum(b)?),
        LogicalAnd => a.minimum(b),
        LogicalOr => a.maximum(b),
        LogicalXor => a.ne(b),
        Remainder | Pow | Atan2 | Hypot | BitwiseAnd | BitwiseOr | BitwiseXor | Shl | Shr => return Ok(None),
    })
}

pub(super) fn compare(op: CompareOp, a: &Arg<CandleTensor>, b: &Arg<CandleTensor>, meta: &Meta) -> Native {
    let (a, b) = operands(a, b, &meta.shape)?;
    let (a, b) = (&*a, &*b);
    native(match op {
        CompareOp::Equal => a.eq(b),
        CompareOp::NotEqual => a.ne(b),
        CompareOp::Lower => a.lt(b),
        CompareOp::LowerEqual => a.le(b),
        CompareOp::Greater => a.gt(b),
        CompareOp::GreaterEqual => a.ge(b),
    })
}

pub(super) fn choose(
    cond: &CandleTensor,
    on_true: &Arg<CandleTensor>,
    on_false: &Arg<CandleTensor>,
    meta: &Meta,
) -> Native {
    let value = |arg| operand(arg, meta.dtype, &meta.shape, cond.device());
    let cond = stretched(cond, &meta.shape)?;
    let (on_true, on_false) = (value(on_true)?, value(on_false)?);
    native(cond.where_cond(&on_true, &on_false))
}

pub(super) fn cast(x: &CandleTensor, dtype: DType) -> Native {
    native(if dtype == DType::Bool && x.dtype() != DType::Bool {
        x.tensor().ne(0u8)
    } else {
        x.tensor().to_dtype(stored(dtype)?)
    })
}

/// Whether an integer divisor is 0 anywhere.
fn has_zero(divisor: &Arg<CandleTensor>, dtype: DType) -> Result<bool, Failure> {
    match divisor {
        Arg::Tensor(x) => integer::has_zero(x.tensor()),
        Arg::Scalar(s) => Ok(with_dtype!(dtype, E => s.to::<E>() == E::default())),
    }
}

/// Where a tensor is NaN.
pub(super) fn is_nan(x: &Tensor) -> candle_core::Result<Tensor> {
    x.ne(x)
}

/// The greater or lesser of two, which in `candle` passes over a NaN on the right.
fn keep_nan(right: &Tensor, chosen: Tensor) -> candle_core::Result<Tensor> {
    if right.dtype().is_float() {
        is_nan(right)?.where_cond(right, &chosen)
    } else {
        Ok(chosen)
    }
}

/// Both operands, stretched to the result's shape.
#[inline]
fn operands<'a>(
    a: &'a Arg<CandleTensor>,
    b: &'a Arg<CandleTensor>,
    shape: &Shape,
) -> Result<(Cow<'a, Tensor>, Cow<'a, Tensor>), Failure> {
    let known = a.tensor().or(b.tensor()).expect("`infer` refuses two numbers");
    let one = |arg| operand(arg, known.dtype(), shape, known.device());
    Ok((one(a)?, one(b)?))
}

fn operand<'a>(
    arg: &'a Arg<CandleTensor>,
    dtype: DType,
    shape: &Shape,
    device: &CandleDevice,
) -> Result<Cow<'a, Tensor>, Failure> {
    match arg {
        Arg::Tensor(x) => stretched(x, shape),
        Arg::Scalar(value) => Ok(Cow::Owned(stretched_number(*value, dtype, shape, device)?)),
    }
}

pub(super) fn stretched<'a>(x: &'a CandleTensor, shape: &Shape) -> Result<Cow<'a, Tensor>, Failure> {
    Ok(if x.shape() == shape {
        Cow::Borrowed(x.tensor())
    } else {
        Cow::Owned(x.tensor().broadcast_as(&shape[..])?)
    })
}

fn stretched_number(
    value: Scalar,
    dtype: DType,
    shape: &Shape,
    device: &CandleDevice,
) -> Result<Tensor, Failure> {
    Ok(full(value, dtype, &[], device)?.broadcast_as(&shape[..])?)
}
