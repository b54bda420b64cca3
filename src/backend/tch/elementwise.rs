//! Element-wise ops, in place where nobody else holds the elements, and casts.

use tch::{Kind, TchError, Tensor};

use super::failure::Outcome;
use super::on_host;
use super::storage::{LibTorchTensor, kind, number};
use crate::element::{DType, Element, Scalar};
use crate::error::Error;
use crate::op::{Arg, BinaryOp, CompareOp, HasMeta, Meta, Op, UnaryOp};
use crate::with_dtype;

type New1 = fn(&Tensor) -> Result<Tensor, TchError>;
type InPlace1 = fn(&mut Tensor) -> Result<Tensor, TchError>;
type New2 = fn(&Tensor, &Tensor) -> Result<Tensor, TchError>;
type InPlace2 = fn(&mut Tensor, &Tensor) -> Result<Tensor, TchError>;

pub(super) fn unary(op: UnaryOp, x: LibTorchTensor, meta: &Meta) -> Outcome<LibTorchTensor> {
    let (new, in_place): (New1, InPlace1) = match op {
        UnaryOp::Neg => (Tensor::f_neg, Tensor::f_neg_),
        UnaryOp::Abs => (Tensor::f_abs, Tensor::f_abs_),
        UnaryOp::Sign => return sign(x),
        UnaryOp::Exp => (Tensor::f_exp, Tensor::f_exp_),
        UnaryOp::Expm1 => (Tensor::f_expm1, Tensor::f_expm1_),
        UnaryOp::Log => (Tensor::f_log, Tensor::f_log_),
        UnaryOp::Log1p => (Tensor::f_log1p, Tensor::f_log1p_),
        UnaryOp::Sqrt => (Tensor::f_sqrt, Tensor::f_sqrt_),
        UnaryOp::Recip => (Tensor::f_reciprocal, Tensor::f_reciprocal_),
        UnaryOp::Sin => (Tensor::f_sin, Tensor::f_sin_),
        UnaryOp::Cos => (Tensor::f_cos, Tensor::f_cos_),
        UnaryOp::Tan => (Tensor::f_tan, Tensor::f_tan_),
        UnaryOp::Asin => (Tensor::f_asin, Tensor::f_asin_),
        UnaryOp::Acos => (Tensor::f_acos, Tensor::f_acos_),
        UnaryOp::Atan => (Tensor::f_atan, Tensor::f_atan_),
        UnaryOp::Sinh => return in_wide(x, |t| hyperbolic(t, t.f_sinh()?)),
        UnaryOp::Cosh => return in_wide(x, |t| hyperbolic(t, t.f_cosh()?)),
        UnaryOp::Tanh => (Tensor::f_tanh, Tensor::f_tanh_),
        UnaryOp::Asinh => (Tensor::f_asinh, Tensor::f_asinh_),
        UnaryOp::Acosh => (Tensor::f_acosh, Tensor::f_acosh_),
        UnaryOp::Atanh => (Tensor::f_atanh, Tensor::f_atanh_),
        UnaryOp::Erf if x.dtype().size() == 2 => return in_wide(x, |t| Ok(t.f_erf()?)),
        UnaryOp::Erf => (Tensor::f_erf, Tensor::f_erf_),
        UnaryOp::Sigmoid => return in_wide(x, sigmoid),
        UnaryOp::Relu => (Tensor::f_relu, Tensor::f_relu_),
        UnaryOp::Floor => (Tensor::f_floor, Tensor::f_floor_),
        UnaryOp::Ceil => (Tensor::f_ceil, Tensor::f_ceil_),
        UnaryOp::Round => (Tensor::f_round, Tensor::f_round_),
        UnaryOp::Trunc => (Tensor::f_trunc, Tensor::f_trunc_),
        UnaryOp::BitwiseNot => (Tensor::f_bitwise_not, Tensor::f_bitwise_not_),
        UnaryOp::LogicalNot => (Tensor::f_logical_not, Tensor::f_logical_not_),
        UnaryOp::IsNan => return made(x.tensor().f_isnan()?, &x, meta),
        UnaryOp::IsInf => return made(x.tensor().f_isinf()?, &x, meta),
    };
    each(x, new, in_place)
}

pub(super) fn binary(
    op: BinaryOp,
    a: Arg<LibTorchTensor>,
    b: Arg<LibTorchTensor>,
    meta: &Meta,
) -> Outcome<LibTorchTensor> {
    let pair = match (a, b) {
        (Arg::Tensor(a), Arg::Scalar(b)) => return with_number(op, a, b, meta),
        (Arg::Scalar(a), Arg::Tensor(b)) if commutes(op) => return with_number(op, b, a, meta),
        (Arg::Tensor(a), Arg::Tensor(b)) => Pair { a, b },
        (Arg::Scalar(a), Arg::Tensor(b)) => Pair {
            a: constant(a, &b)?,
            b,
        },
        (Arg::Scalar(_), Arg::Scalar(_)) => unreachable!("`infer` asks for a tensor"),
    };
    tensors(op, pair, meta)
}

pub(super) fn compare(
    op: CompareOp,
    a: Arg<LibTorchTensor>,
    b: Arg<LibTorchTensor>,
    meta: &Meta,
) -> Outcome<LibTorchTensor> {
    let (x, other) = match (a, b) {
        (Arg::Tensor(a), b) => (a, b),
        (a @ Arg::Scalar(_), Arg::Tensor(b)) => return compare(mirrored(op), Arg::Tensor(b), a, meta),
        (Arg::Scalar(_), Arg::Scalar(_)) => unreachable!("`infer` asks for a tensor"),
    };
    let t = x.tensor();
    let result = match other {
        Arg::Tensor(y) => {
            let y = y.tensor();
            match op {
                CompareOp::Equal => t.f_eq_tensor(y),
                CompareOp::NotEqual => t.f_ne_tensor(y),
                CompareOp::Lower => t.f_lt_tensor(y),
                CompareOp::LowerEqual => t.f_le_tensor(y),
                CompareOp::Greater => t.f_gt_tensor(y),
                CompareOp::GreaterEqual => t.f_ge_tensor(y),
            }
        }
        Arg::Scalar(s) => {
            let s = number(s, x.dtype());
            match op {
                CompareOp::Equal => t.f_eq(s),
                CompareOp::NotEqual => t.f_ne(s),
                CompareOp::Lower => t.f_lt(s),
                CompareOp::LowerEqual => t.f_le(s),
                CompareOp::Greater => t.f_gt(s),
                CompareOp::GreaterEqual => t.f_ge(s),
            }
        }
    };
    made(result?, &x, meta)
}

/// Where `cond` is true the one, where it is false the other.
pub(super) fn choose(
    cond: &LibTorchTensor,
    on_true: Arg<LibTorchTensor>,
    on_false: Arg<LibTorchTensor>,
    meta: &Meta,
) -> Outcome<LibTorchTensor> {
    let value = |arg| match arg {
        Arg::Tensor(x) => Ok(x),
        Arg::Scalar(s) => constant_of(s, meta.dtype, cond),
    };
    let (on_true, on_false) = (value(on_true)?, value(on_false)?);
    let chosen = on_true.tensor().f_where_self(cond.tensor(), on_false.tensor())?;
    made(chosen, cond, meta)
}

/// Converts as Rust's `as`, where libtorch leaves open what a float beyond the integer type gives.
pub(super) fn cast(x: LibTorchTensor, meta: &Meta) -> Outcome<LibTorchTensor> {
    let (from, to) = (x.dtype(), meta.dtype);
    if from == to {
        return Ok(x);
    }
    let t = x.tensor();
    let result = if from.is_float() && to.is_int() {
        truncated(t, from, to)?
    } else {
        t.f_totype(kind(to)?)?
    };
    made(result, &x, meta)
}

/// A new tensor on the device of another.
pub(super) fn made(tensor: Tensor, x: &LibTorchTensor, meta: &Meta) -> Outcome<LibTorchTensor> {
    Ok(LibTorchTensor::new(tensor, meta, x.device()))
}

/// A copy.
pub(super) fn copied(x: &Tensor, dtype: DType) -> Outcome<Tensor> {
    Ok(x.f_to_dtype(kind(dtype)?, false, true)?)
}

fn each(mut x: LibTorchTensor, new: New1, in_place: InPlace1) -> Outcome<LibTorchTensor> {
    if let Some(t) = x.writable() {
        let _ = in_place(t)?;
        return Ok(x);
    }
    let y = new(x.tensor())?;
    let meta = x.meta();
    made(y, &x, &meta)
}

/// NaN stays, where libtorch has 0.
fn sign(x: LibTorchTensor) -> Outcome<LibTorchTensor> {
    if !x.dtype().is_float() {
        return each(x, Tensor::f_sign, Tensor::f_sign_);
    }
    let t = x.tensor();
    let signs = t.f_where_self(&t.f_isnan()?, &t.f_sign()?)?;
    let meta = x.meta();
    made(signs, &x, &meta)
}

/// A function of a float, in `f32` for half types, which libtorch rounds more than once there.
fn in_wide(x: LibTorchTensor, f: impl Fn(&Tensor) -> Outcome<Tensor>) -> Outcome<LibTorchTensor> {
    let meta = x.meta();
    let wide = x.tensor().f_totype(kind(meta.dtype.widened())?)?;
    made(f(&wide)?.f_totype(kind(meta.dtype)?)?, &x, &meta)
}

/// What exponentiates `-x` overflows where the result is a small number yet.
fn sigmoid(x: &Tensor) -> Outcome<Tensor> {
    let y = x.f_sigmoid()?;
    let small = x.f_lt(-80.0)?;
    if !is_any(&small)? {
        return Ok(y);
    }
    Ok(x.f_exp()?.f_where_self(&small, &y)?)
}

/// What exponentiates `x` overflows before half of that does.
fn hyperbolic(x: &Tensor, y: Tensor) -> Outcome<Tensor> {
    let overflown = y.f_isinf()?;
    if !is_any(&overflown)? {
        return Ok(y);
    }
    let root = x.f_abs()?.f_mul_scalar(0.5)?.f_exp()?;
    let large = root.f_mul_scalar(0.5)?.f_mul(&root)?.f_copysign(&y)?;
    Ok(large.f_where_self(&overflown, &y)?)
}

/// libtorch's is NaN where the quotient is beyond all numbers.
fn float_remainder(pair: Pair, meta: &Meta) -> Outcome<LibTorchTensor> {
    let y = pair.a.tensor().f_remainder_tensor(pair.b.tensor())?;
    let is_nan = y.f_isnan()?;
    if is_any(&is_nan)? && is_any(&is_nan.f_logical_and(&has_remainder(&pair)?)?)? {
        let op = Op::Binary(BinaryOp::Remainder, Arg::Tensor(pair.a), Arg::Tensor(pair.b));
        return on_host(op, meta);
    }
    made(y, &pair.a, meta)
}

/// Where the remainder is a number: that of a finite one, by one that is not 0.
fn has_remainder(pair: &Pair) -> Outcome<Tensor> {
    let (a, b) = (pair.a.tensor(), pair.b.tensor());
    let divides = b.f_ne(0.0)?.f_logical_and(&b.f_eq_tensor(b)?)?;
    Ok(a.f_isfinite()?.f_logical_and(&divides)?)
}

fn truncated(t: &Tensor, from: DType, to: DType) -> Outcome<Tensor> {
    // A type that holds the bounds: those of 64 bits only as powers of two.
    let wide = match (from, to) {
        (DType::F64, _) | (_, DType::I32 | DType::I64) => Kind::Double,
        _ => Kind::Float,
    };
    let mut wide = t.f_to_dtype(wide, false, true)?;
    let bound = |x: f64| -> f64 { with_dtype!(to, E => Scalar::Float(x).to::<E>().to_scalar().to()) };
    let (low, high) = (bound(f64::NEG_INFINITY), bound(f64::INFINITY));
    let _ = wide.f_nan_to_num_(0.0, f64::INFINITY, f64::NEG_INFINITY)?;
    if to != DType::I64 {
        return Ok(wide.f_clamp_(low, high)?.f_totype(kind(to)?)?);
    }
    let beyond = wide.f_ge(high)?;
    let within = wide.f_clamp_(low, high)?.f_masked_fill(&beyond, 0.0)?;
    Ok(within.f_totype(Kind::Int64)?.f_masked_fill(&beyond, i64::MAX)?)
}

/// Operands that broadcast to each other.
struct Pair {
    a: LibTorchTensor,
    b: LibTorchTensor,
}

impl Pair {
    fn by(self, new: New2, meta: &Meta) -> Outcome<LibTorchTensor> {
        made(new(self.a.tensor(), self.b.tensor())?, &self.a, meta)
    }

    /// In the place of the first, where that is possible, or, of an op that commutes, in that of the second.
    fn in_place(
        mut self,
        new: New2,
        in_place: InPlace2,
        commutes: bool,
        meta: &Meta,
    ) -> Outcome<LibTorchTensor> {
        if *self.a.shape() == meta.shape
            && let Some(a) = self.a.writable()
        {
            let _ = in_place(a, self.b.tensor())?;
            return Ok(self.a);
        }
        if commutes
            && *self.b.shape() == meta.shape
            && let Some(b) = self.b.writable()
        {
            let _ = in_place(b, self.a.tensor())?;
            return Ok(self.b);
        }
        self.by(new, meta)
    }
}

fn tensors(op: BinaryOp, pair: Pair, meta: &Meta) -> Outcome<LibTorchTensor> {
    let is_int = meta.dtype.is_int();
    let (new, in_place): (New2, InPlace2) = match op {
        BinaryOp::Add => (Tensor::f_add, Tensor::f_add_),
        BinaryOp::Sub => (Tensor::f_sub, Tensor::f_sub_),
        BinaryOp::Mul => (Tensor::f_mul, Tensor::f_mul_),
        BinaryOp::Div if is_int => return int_div(&pair, meta),
        BinaryOp::Remainder if is_int => return int_remainder(&pair, meta),
        BinaryOp::Div => (Tensor::f_div, Tensor::f_div_),
        BinaryOp::Remainder => return float_remainder(pair, meta),
        BinaryOp::Pow => (Tensor::f_pow, Tensor::f_pow_tensor_),
        BinaryOp::Max => return pair.by(Tensor::f_maximum, meta),
        BinaryOp::Min => return pair.by(Tensor::f_minimum, meta),
        BinaryOp::Atan2 => (Tensor::f_atan2, Tensor::f_atan2_),
        BinaryOp::Hypot => (Tensor::f_hypot, Tensor::f_hypot_),
        BinaryOp::BitwiseAnd => (Tensor::f_bitwise_and_tensor, Tensor::f_bitwise_and_tensor_),
        BinaryOp::BitwiseOr => (Tensor::f_bitwise_or_tensor, Tensor::f_bitwise_or_tensor_),
        BinaryOp::BitwiseXor => (Tensor::f_bitwise_xor_tensor, Tensor::f_bitwise_xor_tensor_),
        BinaryOp::Shl => (Tensor::f_bitwise_left_shift, Tensor::f_bitwise_left_shift_),
        BinaryOp::Shr => (Tensor::f_bitwise_right_shift, Tensor::f_bitwise_right_shift_),
        BinaryOp::LogicalAnd => (Tensor::f_logical_and, Tensor::f_logical_and_),
        BinaryOp::LogicalOr => (Tensor::f_logical_or, Tensor::f_logical_or_),
        BinaryOp::LogicalXor => (Tensor::f_logical_xor, Tensor::f_logical_xor_),
    };
    pair.in_place(new, in_place, commutes(op), meta)
}

/// `x op number`, where libtorch has a form for numbers that gives the same.
fn with_number(op: BinaryOp, mut x: LibTorchTensor, by: Scalar, meta: &Meta) -> Outcome<LibTorchTensor> {
    let dtype = meta.dtype;
    let is_float = dtype.is_float();
    let s = || number(by, dtype);
    let whole: Option<i64> = (!is_float).then(|| with_dtype!(dtype, E => by.to::<E>().to_scalar().to()));
    match (op, whole) {
        (BinaryOp::Div | BinaryOp::Remainder, Some(0)) => return Err(division_by_zero(op).into()),
        (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, _) => {}
        // On a GPU it multiplies by the reciprocal.
        (BinaryOp::Div, None) if x.device().is_cpu() => {}
        (BinaryOp::Div, Some(d)) if d != -1 => {
            return made(x.tensor().f_div_scalar_mode(d, "trunc")?, &x, meta);
        }
        (BinaryOp::Pow, _) if matches!(by.to::<f64>(), 2.0 | 3.0) => {}
        _ => {
            let b = constant(by, &x)?;
            return tensors(op, Pair { a: x, b }, meta);
        }
    }
    if let Some(t) = x.writable() {
        let _ = match op {
            BinaryOp::Add => t.f_add_scalar_(s())?,
            BinaryOp::Sub => t.f_sub_scalar_(s())?,
            BinaryOp::Mul => t.f_mul_scalar_(s())?,
            BinaryOp::Div => t.f_div_scalar_(s())?,
            _ => t.f_pow_(s())?,
        };
        return Ok(x);
    }
    let t = x.tensor();
    let y = match op {
        BinaryOp::Add => t.f_add_scalar(s())?,
        BinaryOp::Sub => t.f_sub_scalar(s())?,
        BinaryOp::Mul => t.f_mul_scalar(s())?,
        BinaryOp::Div => t.f_div_scalar(s())?,
        _ => t.f_pow_tensor_scalar(s())?,
    };
    made(y, &x, meta)
}

/// Rounds towards zero. A division by -1 is a negation, since the processor stops at that of the least number.
fn int_div(pair: &Pair, meta: &Meta) -> Outcome<LibTorchTensor> {
    let (a, b) = (pair.a.tensor(), pair.b.tensor());
    let y = match divisors(BinaryOp::Div, b, meta)? {
        None => a.f_div_tensor_mode(b, "trunc")?,
        Some((minus, others)) => {
            let quotients = a.f_div_tensor_mode(&others, "trunc")?;
            a.f_neg()?.f_where_self(&minus, &quotients)?
        }
    };
    made(y, &pair.a, meta)
}

/// Has the divisor's sign. What -1 leaves is what 1 leaves, 0.
fn int_remainder(pair: &Pair, meta: &Meta) -> Outcome<LibTorchTensor> {
    let (a, b) = (pair.a.tensor(), pair.b.tensor());
    let y = match divisors(BinaryOp::Remainder, b, meta)? {
        None => a.f_remainder_tensor(b)?,
        Some((_, others)) => a.f_remainder_tensor(&others)?,
    };
    made(y, &pair.a, meta)
}

/// Where divisors are -1, if any is, and the divisors with 1 in those places.
///
/// # Errors
/// If one is 0.
fn divisors(op: BinaryOp, b: &Tensor, meta: &Meta) -> Outcome<Option<(Tensor, Tensor)>> {
    if is_any(&b.f_eq(0)?)? {
        return Err(division_by_zero(op).into());
    }
    let minus = b.f_eq(if meta.dtype.is_unsigned() { 0 } else { -1 })?;
    if !is_any(&minus)? {
        return Ok(None);
    }
    let others = b.f_masked_fill(&minus, 1)?;
    Ok(Some((minus, others)))
}

fn division_by_zero(op: BinaryOp) -> Error {
    let message = "integer division by zero; replace the zeros of the divisor first";
    Error::argument(op.name(), message)
}

/// Whether any element is true.
pub(super) fn is_any(x: &Tensor) -> Outcome<bool> {
    Ok(x.f_any()?.f_int64_value(&[])? != 0)
}

/// A number as a tensor of rank 0 like another.
fn constant(value: Scalar, like: &LibTorchTensor) -> Outcome<LibTorchTensor> {
    constant_of(value, like.dtype(), like)
}

fn constant_of(value: Scalar, dtype: DType, beside: &LibTorchTensor) -> Outcome<LibTorchTensor> {
    let options = (kind(dtype)?, beside.device().place());
    let tensor = Tensor::f_full(&[] as &[i64], number(value, dtype), options)?;
    let meta = Meta {
        shape: [].into(),
        dtype,
    };
    made(tensor, beside, &meta)
}

fn commutes(op: BinaryOp) -> bool {
    match op {
        BinaryOp::Add
        | BinaryOp::Mul
        | BinaryOp::Max
        | BinaryOp::Min
        | BinaryOp::Hypot
        | BinaryOp::BitwiseAnd
        | BinaryOp::BitwiseOr
        | BinaryOp::BitwiseXor
        | BinaryOp::LogicalAnd
        | BinaryOp::LogicalOr
        | BinaryOp::LogicalXor => true,
        BinaryOp::Sub
        | BinaryOp::Div
        | BinaryOp::Remainder
        | BinaryOp::Pow
        | BinaryOp::Atan2
        | BinaryOp::Shl
        | BinaryOp::Shr => false,
    }
}

/// The comparison with its operands exchanged.
fn mirrored(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Equal => CompareOp::Equal,
        CompareOp::NotEqual => CompareOp::NotEqual,
        CompareOp::Lower => CompareOp::Greater,
        CompareOp::LowerEqual => CompareOp::GreaterEqual,
        CompareOp::Greater => CompareOp::Lower,
        CompareOp::GreaterEqual => CompareOp::LowerEqual,
    }
}
