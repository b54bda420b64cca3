//! Element-wise ops, each a closure over elements. Cheap ones are compiled into the loop over a row; the others cost
//! more than a call, and go through a function pointer.

use std::cmp::Ordering;

use ndarray::{ArrayD, ArrayViewMut1, Zip};
use num_traits::Float;

use super::number::{Int, Number, Real, with_int, with_number, with_real};
use super::rows::{self, ZipRow, map_row, test_row, zip_row};
use super::storage::{Array, Held, NdArrayTensor, Values, from_vec, owned, stretched, with_values};
use crate::element::DType;
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
        DType::Bool => binary_bool(op, operands(a, b)),
        dtype => with_int!(
            dtype, E => return binary_int::<E>(op, operands(a, b)),
            float => with_real!(float, E => binary_real::<E>(op, operands(a, b)))
        ),
    })
}

pub(super) fn compare(op: CompareOp, a: Arg<NdArrayTensor>, b: Arg<NdArrayTensor>) -> Values {
    let dtype = a.tensor().or(b.tensor()).expect(ONE_TENSOR).dtype();
    match dtype {
        DType::Bool => compare_elements::<bool>(op, operands(a, b)),
        dtype => {
            with_number!(dtype, E => compare_elements::<E>(op, operands(a, b)))
        }
    }
}

pub(super) fn choose(
    cond: &NdArrayTensor,
    on_true: Arg<NdArrayTensor>,
    on_false: Arg<NdArrayTensor>,
    meta: &Meta,
) -> Values {
    fn choose<E: Held>(cond: &NdArrayTensor, a: Array<E>, b: Array<E>, shape: &Shape) -> Values {
        let chosen = Zip::from(stretched(cond.array::<bool>(), shape))
            .and(stretched(&a, shape))
            .and(stretched(&b, shape))
            .map_collect(|&cond, &a, &b| if cond { a } else { b });
        owned(chosen)
    }
    let (shape, rank) = (&meta.shape, meta.shape.rank());
    with_dtype!(meta.dtype, E => {
        choose::<E>(cond, operand(on_true, rank), operand(on_false, rank), shape)
    })
}

pub(super) fn cast(x: NdArrayTensor, dtype: DType) -> Values {
    fn cast<E: Held>(x: &Array<E>, dtype: DType) -> Values {
        let x = x.as_standard_layout();
        let (elements, shape) = (
            x.as_slice().expect("the layout is standard"),
            Shape::from(x.shape()),
        );
        with_dtype!(dtype, T => {
            from_vec(elements.iter().map(|v| v.to_scalar().to::<T>()).collect(), &shape)
        })
    }
    if x.dtype() == dtype {
        return x.into_values();
    }
    with_values!(x.into_values(), array => cast(&array, dtype))
}

const ONE_TENSOR: &str = "`infer` refuses two numbers";

/// An operand as an array; a number has the rank of the other operand, and stretches.
fn operands<E: Held>(a: Arg<NdArrayTensor>, b: Arg<NdArrayTensor>) -> [Array<E>; 2] {
    let rank = a.tensor().or(b.tensor()).expect(ONE_TENSOR).shape().rank();
    [a, b].map(|arg| operand(arg, rank))
}

fn operand<E: Held>(arg: Arg<NdArrayTensor>, rank: usize) -> Array<E> {
    match arg {
        Arg::Tensor(x) => x.into_array(),
        Arg::Scalar(s) => ArrayD::from_elem(vec![1; rank], s.to()).into_shared(),
    }
}

/// Applies a function to every element, in place where nobody else holds the array.
fn map<E: Held>(x: Array<E>, f: impl Fn(E) -> E) -> Values {
    map_rows(x, &|row| map_row(row, &f))
}

fn map_rows<E: Held>(x: Array<E>, row: &dyn Fn(ArrayViewMut1<E>)) -> Values {
    let mut x = x.into_owned();
    rows::each(&mut x, row);
    owned(x)
}

/// Applies a function to every pair of elements, in place where an array has the result's shape and nobody else holds
/// it.
fn zip<E: Held>(ab: [Array<E>; 2], f: impl Fn(E, E) -> E) -> Values {
    zip_rows(ab, &|a, b| zip_row(a, b, &f), &|b, a| {
        zip_row(b, a, |b, a| f(a, b))
    })
}

fn zip_rows<E: Held>([a, b]: [Array<E>; 2], into_a: ZipRow<E>, into_b: ZipRow<E>) -> Values {
    let shape = common(&a, &b);
    let in_place = |x: Array<E>| {
        if x.shape() == &shape[..] {
            x.try_into_owned_nocopy()
        } else {
            Err(x)
        }
    };
    let into = |mut x: ArrayD<E>, y: &Array<E>, row: ZipRow<E>| {
        rows::each_with(&mut x, y, row);
        owned(x)
    };
    let a = match in_place(a) {
        Ok(a) => return into(a, &b, into_a),
        Err(a) => a,
    };
    match in_place(b) {
        Ok(b) => into(b, &a, into_b),
        Err(b) => into(stretched(&a, &shape).to_owned(), &b, into_a),
    }
}

/// As [`zip`], with truth values for results.
fn test<E: Held>([a, b]: [Array<E>; 2], f: impl Fn(E, E) -> bool) -> Values {
    let shape = common(&a, &b);
    owned(rows::test_pairs(&a, &b, &shape, &|result, a, b| {
        test_row(result, a, b, &f)
    }))
}

fn common<E>(a: &Array<E>, b: &Array<E>) -> Shape {
    let (a, b) = (Shape::from(a.shape()), Shape::from(b.shape()));
    a.broadcast(&b).expect("`infer` has checked the shapes")
}

fn unary_real<E: Real>(op: UnaryOp, x: Array<E>) -> Values {
    let (zero, one) = (E::ZERO, E::ONE);
    match op {
        UnaryOp::Neg => map(x, |v| -v),
        UnaryOp::Abs => map(x, E::abs),
        UnaryOp::Sqrt => map(x, E::sqrt),
        UnaryOp::Recip => map(x, |v| one / v),
        UnaryOp::Relu => map(x, |v| if v <= zero { zero } else { v }),
        UnaryOp::IsNan => classify(&x, Float::is_nan),
        UnaryOp::IsInf => classify(&x, E::is_infinite),
        op => map(x, function(op)),
    }
}

fn classify<E: Real>(x: &Array<E>, f: fn(E) -> bool) -> Values {
    owned(x.mapv(f))
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

fn binary_real<E: Real>(op: BinaryOp, ab: [Array<E>; 2]) -> Values {
    let function: fn(E, E) -> E = match op {
        BinaryOp::Add => return zip(ab, |a, b| a + b),
        BinaryOp::Sub => return zip(ab, |a, b| a - b),
        BinaryOp::Mul => return zip(ab, |a, b| a * b),
        BinaryOp::Div => return zip(ab, |a, b| a / b),
        BinaryOp::Max => return zip(ab, E::greater),
        BinaryOp::Min => return zip(ab, E::lesser),
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
    zip(ab, function)
}

fn binary_int<E: Int>(op: BinaryOp, ab: [Array<E>; 2]) -> Result<Values, Error> {
    if matches!(op, BinaryOp::Div | BinaryOp::Remainder) && ab[1].iter().any(|&v| v == E::ZERO) {
        let message = "integer division by zero; replace the zeros of the divisor first";
        return Err(Error::argument(op.name(), message));
    }
    let function: fn(E, E) -> E = match op {
        BinaryOp::Add => return Ok(zip(ab, Number::add)),
        BinaryOp::Sub => return Ok(zip(ab, Number::sub)),
        BinaryOp::Mul => return Ok(zip(ab, Number::mul)),
        BinaryOp::Max => return Ok(zip(ab, E::greater)),
        BinaryOp::Min => return Ok(zip(ab, E::lesser)),
        BinaryOp::BitwiseAnd => return Ok(zip(ab, |a, b| a & b)),
        BinaryOp::BitwiseOr => return Ok(zip(ab, |a, b| a | b)),
        BinaryOp::BitwiseXor => return Ok(zip(ab, |a, b| a ^ b)),
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
    Ok(zip(ab, function))
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

fn binary_bool(op: BinaryOp, ab: [Array<bool>; 2]) -> Values {
    match op {
        BinaryOp::LogicalAnd => zip(ab, |a, b| a & b),
        BinaryOp::LogicalOr => zip(ab, |a, b| a | b),
        BinaryOp::LogicalXor => zip(ab, |a, b| a ^ b),
        op => unreachable!("`{}` takes no truth values; `infer` refuses them", op.name()),
    }
}

fn compare_elements<E: Held>(op: CompareOp, ab: [Array<E>; 2]) -> Values {
    match op {
        CompareOp::Equal => test(ab, |a, b| a == b),
        CompareOp::NotEqual => test(ab, |a, b| a != b),
        CompareOp::Lower => test(ab, |a, b| a < b),
        CompareOp::LowerEqual => test(ab, |a, b| a <= b),
        CompareOp::Greater => test(ab, |a, b| a > b),
        CompareOp::GreaterEqual => test(ab, |a, b| a >= b),
    }
}
