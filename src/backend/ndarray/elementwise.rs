//! Element-wise ops, each a closure that `ndarray` applies. Cheap ones are compiled into the loop; the others cost more
//! than a call, and go through a function pointer.

use std::cmp::Ordering;

use ndarray::{ArrayD, Zip, arr0};
use num_traits::Float;

use super::number::{Int, Number, Real, with_int, with_number, with_real};
use super::storage::{Array, Held, NdArrayTensor, Values, owned, stretched, with_values};
use crate::element::{DType, Element};
use crate::error::Error;
use crate::op::{Arg, BinaryOp, CompareOp, HasMeta, Meta, UnaryOp};
use crate::shape::Shape;
use crate::with_dtype;

pub(super) fn unary(op: UnaryOp, x: NdArrayTensor) -> Values {
    match x.dtype() {
        // `LogicalNot` is the only one.
        DType::Bool => map(x.into_array::<bool>(), |v| !v),
        dtype => with_int!(
            dtype, E => unary_int::<E>(op, x.into_array()),
            float => with_real!(float, E => unary_real::<E>(op, x.into_array()))
        ),
    }
}

pub(super) fn binary(
    op: BinaryOp,
    a: Arg<NdArrayTensor>,
    b: Arg<NdArrayTensor>,
    meta: &Meta,
) -> Result<Values, Error> {
    Ok(match meta.dtype {
        DType::Bool => binary_bool(op, Operand::new(a), Operand::new(b)),
        dtype => with_int!(
            dtype, E => return binary_int::<E>(op, Operand::new(a), Operand::new(b)),
            float => with_real!(float, E => binary_real::<E>(op, Operand::new(a), Operand::new(b)))
        ),
    })
}

pub(super) fn compare(op: CompareOp, a: Arg<NdArrayTensor>, b: Arg<NdArrayTensor>) -> Values {
    let dtype = a.tensor().or(b.tensor()).expect(ONE_TENSOR).dtype();
    match dtype {
        DType::Bool => compare_elements::<bool>(op, Operand::new(a), Operand::new(b)),
        dtype => {
            with_number!(dtype, E => compare_elements::<E>(op, Operand::new(a), Operand::new(b)))
        }
    }
}

pub(super) fn choose(
    cond: &NdArrayTensor,
    on_true: Arg<NdArrayTensor>,
    on_false: Arg<NdArrayTensor>,
    meta: &Meta,
) -> Values {
    fn choose<E: Held>(cond: &NdArrayTensor, a: Operand<E>, b: Operand<E>, shape: &Shape) -> Values {
        let (a, b) = (a.into_array(shape), b.into_array(shape));
        let cond = stretched(cond.array::<bool>(), shape);
        let chosen = Zip::from(cond)
            .and(stretched(&a, shape))
            .and(stretched(&b, shape))
            .map_collect(|&cond, &a, &b| if cond { a } else { b });
        owned(chosen)
    }
    with_dtype!(meta.dtype, E => {
        choose::<E>(cond, Operand::new(on_true), Operand::new(on_false), &meta.shape)
    })
}

pub(super) fn cast(x: NdArrayTensor, dtype: DType) -> Values {
    fn cast<E: Element>(x: &Array<E>, dtype: DType) -> Values {
        with_dtype!(dtype, T => owned(x.mapv(|v| v.to_scalar().to::<T>())))
    }
    if x.dtype() == dtype {
        return x.into_values();
    }
    with_values!(x.into_values(), array => cast(&array, dtype))
}

const ONE_TENSOR: &str = "`infer` refuses two numbers";

/// An operand of one element type.
enum Operand<E> {
    Array(Array<E>),
    Scalar(E),
}

impl<E: Held> Operand<E> {
    fn new(arg: Arg<NdArrayTensor>) -> Self {
        match arg {
            Arg::Tensor(x) => Operand::Array(x.into_array()),
            Arg::Scalar(s) => Operand::Scalar(s.to()),
        }
    }

    /// An array that stretches to the shape.
    fn into_array(self, shape: &Shape) -> Array<E> {
        match self {
            Operand::Array(array) => array,
            Operand::Scalar(s) => {
                let ones = vec![1; shape.rank()];
                arr0(s)
                    .into_shape_with_order(ones)
                    .expect("one element")
                    .into_shared()
            }
        }
    }

    fn any(&self, f: impl Fn(E) -> bool) -> bool {
        match self {
            Operand::Array(array) => array.iter().any(|&v| f(v)),
            Operand::Scalar(s) => f(*s),
        }
    }
}

/// Applies a function to every element, in place where nobody else holds the array.
fn map<E: Held>(x: Array<E>, f: impl Fn(E) -> E) -> Values {
    owned(match x.try_into_owned_nocopy() {
        Ok(mut x) => {
            x.mapv_inplace(f);
            x
        }
        Err(shared) => shared.mapv(f),
    })
}

/// Applies a function to every pair of elements, in place where an array has the result's shape and nobody else holds
/// it.
fn zip<E: Held>(a: Operand<E>, b: Operand<E>, f: impl Fn(E, E) -> E) -> Values {
    let (a, b) = match (a, b) {
        (Operand::Array(a), Operand::Array(b)) => (a, b),
        (Operand::Array(a), Operand::Scalar(s)) => return map(a, |v| f(v, s)),
        (Operand::Scalar(s), Operand::Array(b)) => return map(b, |v| f(s, v)),
        (Operand::Scalar(_), Operand::Scalar(_)) => unreachable!("{ONE_TENSOR}"),
    };
    let shape = common(&a, &b);
    let a = match in_place(a, &shape) {
        Ok(mut a) => {
            a.zip_mut_with(&b, |a, &b| *a = f(*a, b));
            return owned(a);
        }
        Err(a) => a,
    };
    owned(match in_place(b, &shape) {
        Ok(mut b) => {
            b.zip_mut_with(&a, |b, &a| *b = f(a, *b));
            b
        }
        Err(b) => pairs(&a, &b, f),
    })
}

/// As [`zip`], with results of another type.
fn test<E: Held>(a: Operand<E>, b: Operand<E>, f: impl Fn(E, E) -> bool) -> Values {
    owned(match (a, b) {
        (Operand::Array(a), Operand::Array(b)) => pairs(&a, &b, f),
        (Operand::Array(a), Operand::Scalar(s)) => a.mapv(|v| f(v, s)),
        (Operand::Scalar(s), Operand::Array(b)) => b.mapv(|v| f(s, v)),
        (Operand::Scalar(_), Operand::Scalar(_)) => unreachable!("{ONE_TENSOR}"),
    })
}

fn pairs<E: Held, R>(a: &Array<E>, b: &Array<E>, f: impl Fn(E, E) -> R) -> ArrayD<R> {
    let shape = common(a, b);
    Zip::from(stretched(a, &shape))
        .and(stretched(b, &shape))
        .map_collect(|&a, &b| f(a, b))
}

fn common<E>(a: &Array<E>, b: &Array<E>) -> Shape {
    let (a, b) = (Shape::from(a.shape()), Shape::from(b.shape()));
    a.broadcast(&b).expect("`infer` has checked the shapes")
}

fn in_place<E: Held>(x: Array<E>, shape: &Shape) -> Result<ArrayD<E>, Array<E>> {
    if x.shape() == &shape[..] {
        x.try_into_owned_nocopy()
    } else {
        Err(x)
    }
}

fn unary_real<E: Real>(op: UnaryOp, x: Array<E>) -> Values {
    let (zero, one) = (E::ZERO, E::ONE);
    match op {
        UnaryOp::Neg => map(x, |v| -v),
        UnaryOp::Abs => map(x, E::abs),
        UnaryOp::Sqrt => map(x, E::sqrt),
        UnaryOp::Recip => map(x, |v| one / v),
        UnaryOp::Relu => map(x, |v| if v <= zero { zero } else { v }),
        UnaryOp::IsNan => owned(x.mapv(|v| Float::is_nan(v))),
        UnaryOp::IsInf => owned(x.mapv(E::is_infinite)),
        op => map(x, function(op)),
    }
}

fn function<E: Real>(op: UnaryOp) -> fn(E) -> E {
    match op {
        UnaryOp::Sign => |v| match v.partial_cmp(&E::ZERO) {
            Some(Ordering::Greater) => E::ONE,
            Some(Ordering::Equal) => E::ZERO,
            Some(Ordering::Less) => -E::ONE,
            None => v,
        },
        UnaryOp::Exp => E::exp,
        UnaryOp::Expm1 => E::exp_m1,
        UnaryOp::Log => E::ln,
        UnaryOp::Log1p => E::ln_1p,
        UnaryOp::Sin => E::sin,
        UnaryOp::Cos => E::cos,
        UnaryOp::Tan => E::tan,
        UnaryOp::Asin => E::asin,
        UnaryOp::Acos => E::acos,
        UnaryOp::Atan => E::atan,
        UnaryOp::Sinh => E::sinh,
        UnaryOp::Cosh => E::cosh,
        UnaryOp::Tanh => E::tanh,
        UnaryOp::Asinh => Real::asinh,
        UnaryOp::Acosh => Real::acosh,
        UnaryOp::Atanh => Real::atanh,
        UnaryOp::Erf => E::erf,
        UnaryOp::Sigmoid => |v| {
            // The exponent is never positive, so that nothing overflows.
            let e = (-v.abs()).exp();
            if v < E::ZERO {
                e / (E::ONE + e)
            } else {
                E::ONE / (E::ONE + e)
            }
        },
        UnaryOp::Floor => E::floor,
        UnaryOp::Ceil => E::ceil,
        UnaryOp::Round => E::round_ties_even,
        UnaryOp::Trunc => E::trunc,
        op => unreachable!("`{}` takes no floats, or is compiled into its loop", op.name()),
    }
}

fn unary_int<E: Int>(op: UnaryOp, x: Array<E>) -> Values {
    let (zero, one) = (E::ZERO, E::ONE);
    match op {
        UnaryOp::Neg => map(x, |v| v.wrapping_neg()),
        UnaryOp::Abs => map(x, |v| if v < zero { v.wrapping_neg() } else { v }),
        UnaryOp::Sign => map(x, |v| match v.cmp(&zero) {
            Ordering::Greater => one,
            Ordering::Equal => zero,
            Ordering::Less => one.wrapping_neg(),
        }),
        UnaryOp::Relu => map(x, |v| Ord::max(v, zero)),
        UnaryOp::BitwiseNot => map(x, |v| !v),
        op => unreachable!("`{}` takes no integers; `infer` refuses them", op.name()),
    }
}

fn binary_real<E: Real>(op: BinaryOp, a: Operand<E>, b: Operand<E>) -> Values {
    let function: fn(E, E) -> E = match op {
        BinaryOp::Add => return zip(a, b, |a, b| a + b),
        BinaryOp::Sub => return zip(a, b, |a, b| a - b),
        BinaryOp::Mul => return zip(a, b, |a, b| a * b),
        BinaryOp::Div => return zip(a, b, |a, b| a / b),
        BinaryOp::Max => return zip(a, b, E::greater),
        BinaryOp::Min => return zip(a, b, E::lesser),
        BinaryOp::Remainder => |a, b| {
            let r = a % b;
            if r != E::ZERO && (r < E::ZERO) != (b < E::ZERO) {
                r + b
            } else {
                r
            }
        },
        BinaryOp::Pow => E::powf,
        BinaryOp::Atan2 => E::atan2,
        BinaryOp::Hypot => E::hypot,
        op => unreachable!("`{}` takes no floats; `infer` refuses them", op.name()),
    };
    zip(a, b, function)
}

fn binary_int<E: Int>(op: BinaryOp, a: Operand<E>, b: Operand<E>) -> Result<Values, Error> {
    if matches!(op, BinaryOp::Div | BinaryOp::Remainder) && b.any(|v| v == E::ZERO) {
        let message = "integer division by zero; replace the zeros of the divisor first";
        return Err(Error::argument(op.name(), message));
    }
    let function: fn(E, E) -> E = match op {
        BinaryOp::Add => return Ok(zip(a, b, Number::add)),
        BinaryOp::Sub => return Ok(zip(a, b, Number::sub)),
        BinaryOp::Mul => return Ok(zip(a, b, Number::mul)),
        BinaryOp::Max => return Ok(zip(a, b, E::greater)),
        BinaryOp::Min => return Ok(zip(a, b, E::lesser)),
        BinaryOp::BitwiseAnd => return Ok(zip(a, b, |a, b| a & b)),
        BinaryOp::BitwiseOr => return Ok(zip(a, b, |a, b| a | b)),
        BinaryOp::BitwiseXor => return Ok(zip(a, b, |a, b| a ^ b)),
        // The divisor is not 0: what is left to fail is the least number by -1, which wraps to itself.
        BinaryOp::Div => |a, b| a.checked_div(&b).unwrap_or(a),
        BinaryOp::Remainder => |a, b| {
            let r = a.checked_rem(&b).unwrap_or(E::ZERO);
            if r != E::ZERO && (r < E::ZERO) != (b < E::ZERO) {
                r + b
            } else {
                r
            }
        },
        BinaryOp::Pow => pow,
        BinaryOp::Shl => |a, b| shift(b).map_or(E::ZERO, |bits| a << bits),
        BinaryOp::Shr => |a, b| match shift::<E>(b) {
            Some(bits) => a >> bits,
            None if a < E::ZERO => E::ONE.wrapping_neg(),
            None => E::ZERO,
        },
        op => unreachable!("`{}` takes no integers; `infer` refuses them", op.name()),
    };
    Ok(zip(a, b, function))
}

/// The number of bits to shift by, if there are as many.
fn shift<E: Int>(by: E) -> Option<usize> {
    by.to_usize().filter(|&bits| bits < 8 * size_of::<E>())
}

/// Wraps; a negative exponent truncates towards zero.
fn pow<E: Int>(mut base: E, mut exponent: E) -> E {
    let minus_one = E::ONE.wrapping_neg();
    if exponent < E::ZERO {
        return match base {
            b if b == E::ONE => b,
            b if b == minus_one => {
                if exponent & E::ONE == E::ZERO {
                    E::ONE
                } else {
                    b
                }
            }
            _ => E::ZERO,
        };
    }
    let mut result = E::ONE;
    while exponent > E::ZERO {
        if exponent & E::ONE == E::ONE {
            result = Number::mul(result, base);
        }
        base = Number::mul(base, base);
        exponent = exponent >> 1;
    }
    result
}

fn binary_bool(op: BinaryOp, a: Operand<bool>, b: Operand<bool>) -> Values {
    match op {
        BinaryOp::LogicalAnd => zip(a, b, |a, b| a & b),
        BinaryOp::LogicalOr => zip(a, b, |a, b| a | b),
        BinaryOp::LogicalXor => zip(a, b, |a, b| a ^ b),
        op => unreachable!("`{}` takes no truth values; `infer` refuses them", op.name()),
    }
}

fn compare_elements<E: Held>(op: CompareOp, a: Operand<E>, b: Operand<E>) -> Values {
    match op {
        CompareOp::Equal => test(a, b, |a, b| a == b),
        CompareOp::NotEqual => test(a, b, |a, b| a != b),
        CompareOp::Lower => test(a, b, |a, b| a < b),
        CompareOp::LowerEqual => test(a, b, |a, b| a <= b),
        CompareOp::Greater => test(a, b, |a, b| a > b),
        CompareOp::GreaterEqual => test(a, b, |a, b| a >= b),
    }
}
