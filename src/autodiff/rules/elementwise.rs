use smallvec::SmallVec;

use super::{Grads, Output, Reads, Value, Wanted, no_gradient};
use crate::backend::PlainBackend;
use crate::error::Error;
use crate::op::{Arg, BinaryOp, CompareOp, Op, UnaryOp};
use crate::raw::Raw;

pub(super) fn unary_differentiable(op: UnaryOp) -> bool {
    !matches!(
        op,
        UnaryOp::BitwiseNot | UnaryOp::LogicalNot | UnaryOp::IsNan | UnaryOp::IsInf
    )
}

pub(super) fn binary_differentiable(op: BinaryOp) -> bool {
    use BinaryOp::*;
    match op {
        Add | Sub | Mul | Div | Remainder | Pow | Max | Min | Atan2 | Hypot => true,
        BitwiseAnd | BitwiseOr | BitwiseXor | Shl | Shr | LogicalAnd | LogicalOr | LogicalXor => false,
    }
}

pub(super) fn unary_reads(op: UnaryOp) -> Reads {
    use UnaryOp::*;
    match op {
        Exp | Expm1 | Sqrt | Recip | Tan | Tanh | Sigmoid | Relu => Reads::OUTPUT,
        Abs | Log | Log1p | Sin | Cos | Asin | Acos | Atan | Sinh | Cosh | Asinh | Acosh | Atanh | Erf => {
            Reads::INPUT
        }
        Neg | Sign | Floor | Ceil | Round | Trunc => Reads::NONE,
        BitwiseNot | LogicalNot | IsNan | IsInf => Reads::NONE,
    }
}

pub(super) fn unary<B: PlainBackend>(
    op: UnaryOp,
    x: Value<B>,
    y: Output<B>,
    grad: Raw<B>,
) -> Result<Raw<B>, Error> {
    match op {
        UnaryOp::Neg => grad.neg(),
        UnaryOp::Abs => grad.mul(x.read().sign()?),
        UnaryOp::Sign | UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Round | UnaryOp::Trunc => x.zeros(&grad),
        UnaryOp::Exp => grad.mul(y.read()),
        UnaryOp::Expm1 => grad.mul(y.read().add(1.0)?),
        UnaryOp::Log => grad.div(x.read()),
        UnaryOp::Log1p => grad.div(x.read().add(1.0)?),
        UnaryOp::Sqrt => grad.div(y.read().mul(2.0)?),
        UnaryOp::Recip => {
            let y = y.read();
            grad.mul(y.clone())?.mul(y)?.neg()
        }
        UnaryOp::Sin => grad.mul(x.read().cos()?),
        UnaryOp::Cos => grad.mul(x.read().sin()?)?.neg(),
        UnaryOp::Tan => grad.mul(y.read().square()?.add(1.0)?),
        UnaryOp::Asin => grad.div(one_minus_square(x.read())?.sqrt()?),
        UnaryOp::Acos => grad.div(one_minus_square(x.read())?.sqrt()?)?.neg(),
        UnaryOp::Atan => grad.div(x.read().square()?.add(1.0)?),
        UnaryOp::Sinh => grad.mul(x.read().cosh()?),
        UnaryOp::Cosh => grad.mul(x.read().sinh()?),
        UnaryOp::Tanh => grad.mul(one_minus_square(y.read())?),
        UnaryOp::Asinh => grad.div(x.read().hypot(1.0)?),
        UnaryOp::Acosh => {
            // √(x² - 1), without squaring, which overflows and cancels. Outside the domain both roots are NaN.
            let x = x.read();
            grad.div(x.clone().sub(1.0)?.sqrt()?)?.div(x.add(1.0)?.sqrt()?)
        }
        UnaryOp::Atanh => grad.div(one_minus_square(x.read())?),
        UnaryOp::Erf => {
            let bell = x.read().square()?.neg()?.exp()?;
            grad.mul(bell)?.mul(std::f64::consts::FRAC_2_SQRT_PI)
        }
        UnaryOp::Sigmoid => {
            let y = y.read();
            let rest = y.clone().binary_left(BinaryOp::Sub, 1.0)?;
            grad.mul(y)?.mul(rest)
        }
        // Not `y > 0`: a NaN lets the gradient through.
        UnaryOp::Relu => y.read().lower_equal(0.0)?.choose(0.0, grad),
        UnaryOp::BitwiseNot | UnaryOp::LogicalNot | UnaryOp::IsNan | UnaryOp::IsInf => no_gradient(op.name()),
    }
}

/// Which operands and whether the result; `a` and `b` are wanted where they are tensors with a gradient.
pub(super) fn binary_reads<T: Wanted>(op: BinaryOp, a: &Arg<T>, b: &Arg<T>) -> Reads {
    use BinaryOp::*;
    let (for_a, for_b) = (wanted(a), wanted(b));
    let (read_a, read_b, output) = match op {
        Add | Sub => (false, false, false),
        Mul => (for_b, for_a, false),
        Div => (false, true, for_b),
        Remainder => (for_b, for_b, false),
        Pow => (true, true, for_b),
        Max | Min | Atan2 => (true, true, false),
        Hypot => (for_a, for_b, true),
        BitwiseAnd | BitwiseOr | BitwiseXor | Shl | Shr | LogicalAnd | LogicalOr | LogicalXor => {
            (false, false, false)
        }
    };
    // A number takes no position among the tensors.
    let reads = match (a, b) {
        (Arg::Tensor(_), Arg::Tensor(_)) => Reads::two(read_a, read_b),
        (Arg::Tensor(_), Arg::Scalar(_)) => Reads::two(read_a, false),
        (Arg::Scalar(_), _) => Reads::two(read_b, false),
    };
    reads.and_output(output)
}

pub(super) fn binary<B: PlainBackend>(
    op: BinaryOp,
    a: Arg<Value<B>>,
    b: Arg<Value<B>>,
    y: Output<B>,
    grad: Raw<B>,
) -> Result<Grads<B>, Error> {
    let mut grads = SmallVec::new();
    if let Arg::Tensor(x) = &a {
        let left = || left(op, &a, &b, y.clone(), grad.clone())?.sum_to(&x.meta.shape);
        grads.push(x.grad(left)?);
    }
    if let Arg::Tensor(x) = &b {
        grads.push(x.grad(|| right(op, &a, &b, y, grad)?.sum_to(&x.meta.shape))?);
    }
    Ok(grads)
}

/// The gradient of the first operand, before it is summed down to the operand's shape.
fn left<B: PlainBackend>(
    op: BinaryOp,
    a: &Arg<Value<B>>,
    b: &Arg<Value<B>>,
    y: Output<B>,
    grad: Raw<B>,
) -> Result<Raw<B>, Error> {
    use BinaryOp::*;
    match op {
        Add | Sub | Remainder => Ok(grad),
        Mul => grad.mul(read(b)),
        Div => grad.div(read(b)),
        Pow => {
            // b aᵇ⁻¹, and 0 rather than 0 · ∞ where b is 0.
            let slope = match read(b) {
                Arg::Scalar(b) if b.to::<f64>() == 0.0 => return grad.full_like(0.0),
                Arg::Scalar(b) => {
                    let b = b.to::<f64>();
                    pair(BinaryOp::Pow, read(a), (b - 1.0).into())?.mul(b)?
                }
                Arg::Tensor(b) => {
                    let slope = pair(BinaryOp::Pow, read(a), b.clone().sub(1.0)?.into())?.mul(b.clone())?;
                    b.equal(0.0)?.choose(0.0, slope)?
                }
            };
            grad.mul(slope)
        }
        Max => extreme(CompareOp::Greater, read(a), read(b), grad),
        Min => extreme(CompareOp::Lower, read(a), read(b), grad),
        // b / (a² + b²); dividing by the root twice does not overflow.
        Atan2 => {
            let r = radius(a, b)?;
            grad.mul(pair(BinaryOp::Div, read(b), r.clone().into())?)?.div(r)
        }
        Hypot => grad.mul(pair(BinaryOp::Div, read(a), y.read().into())?),
        BitwiseAnd | BitwiseOr | BitwiseXor | Shl | Shr | LogicalAnd | LogicalOr | LogicalXor => {
            no_gradient(op.name())
        }
    }
}

/// The gradient of the second operand, before it is summed down to the operand's shape.
fn right<B: PlainBackend>(
    op: BinaryOp,
    a: &Arg<Value<B>>,
    b: &Arg<Value<B>>,
    y: Output<B>,
    grad: Raw<B>,
) -> Result<Raw<B>, Error> {
    use BinaryOp::*;
    match op {
        // These are symmetrical in their operands, or antisymmetrical.
        Add | Mul | Max | Min | Hypot => left(op, b, a, y, grad),
        Sub | Atan2 => left(op, b, a, y, grad)?.neg(),
        Div => grad.mul(y.read())?.div(read(b))?.neg(),
        Remainder => grad.mul(pair(BinaryOp::Div, read(a), read(b))?.floor()?)?.neg(),
        Pow => {
            // aᵇ ln a, and 0 rather than 0 · -∞ where a is 0 and b is not negative.
            let y = y.read();
            let (log, zero) = match read(a) {
                Arg::Tensor(a) => (a.clone().log()?.into(), a.equal(0.0)?.into()),
                Arg::Scalar(a) => {
                    let a = a.to::<f64>();
                    (Arg::from(a.ln()), Arg::from(a == 0.0))
                }
            };
            let slope = y.mul(log)?;
            let flat = compare(CompareOp::GreaterEqual, read(b), 0.0.into())?.bool_and(zero)?;
            grad.mul(flat.choose(0.0, slope)?)
        }
        BitwiseAnd | BitwiseOr | BitwiseXor | Shl | Shr | LogicalAnd | LogicalOr | LogicalXor => {
            no_gradient(op.name())
        }
    }
}

/// The distance of the point (b, a) from the origin. That of the origin itself is taken for 1, so that the gradients of
/// its angle are 0, not 0 / 0.
fn radius<B: PlainBackend>(a: &Arg<Value<B>>, b: &Arg<Value<B>>) -> Result<Raw<B>, Error> {
    let r = pair(BinaryOp::Hypot, read(a), read(b))?;
    let zero = r.clone().equal(0.0)?;
    r.mask_where(zero, 1.0)
}

/// The gradient of the operand that is the extreme one if it `beats` the other. Where they tie each tensor has half of it,
/// and a tensor beside a number, which is how `clamp` reads, all.
fn extreme<B: PlainBackend>(
    beats: CompareOp,
    x: Arg<Raw<B>>,
    other: Arg<Raw<B>>,
    grad: Raw<B>,
) -> Result<Raw<B>, Error> {
    let loses = compare(beats, other.clone(), x.clone())?;
    let grad = match other {
        Arg::Scalar(_) => grad,
        Arg::Tensor(_) => compare(CompareOp::Equal, x, other)?.choose(grad.clone().mul(0.5)?, grad)?,
    };
    loses.choose(0.0, grad)
}

fn pair<B: PlainBackend>(op: BinaryOp, a: Arg<Raw<B>>, b: Arg<Raw<B>>) -> Result<Raw<B>, Error> {
    Raw::run(Op::Binary(op, a, b))
}

fn compare<B: PlainBackend>(op: CompareOp, a: Arg<Raw<B>>, b: Arg<Raw<B>>) -> Result<Raw<B>, Error> {
    Raw::run(Op::Compare(op, a, b))
}

fn read<B: PlainBackend>(x: &Arg<Value<B>>) -> Arg<Raw<B>> {
    match x {
        Arg::Tensor(x) => Arg::Tensor(x.read()),
        Arg::Scalar(s) => Arg::Scalar(*s),
    }
}

fn wanted<T: Wanted>(x: &Arg<T>) -> bool {
    x.tensor().is_some_and(T::wanted)
}

/// `1 - x²`, as `(1 - x)(1 + x)`, which keeps its digits near 1.
fn one_minus_square<B: PlainBackend>(x: Raw<B>) -> Result<Raw<B>, Error> {
    let less = x.clone().binary_left(BinaryOp::Sub, 1.0)?;
    x.add(1.0)?.mul(less)
}
