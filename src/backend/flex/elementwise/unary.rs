//! Ops of one operand.

use num_traits::{PrimInt, WrappingNeg};

use super::super::parallel::{collect, pieces, update};
use super::super::simd::vectorised;
use super::super::source::{BLOCK, Gathered, Source};
use super::super::storage::FlexTensor;
use super::half::{Block, Half};
use super::kernel::{Bounded, Heavy, Light, Serial, Unary};
use super::math;
use super::real::Real;
use crate::element::{DType, Element};
use crate::op::{HasMeta, UnaryOp};
use crate::{bf16, f16};

pub(in super::super) fn unary(op: UnaryOp, x: FlexTensor) -> FlexTensor {
    use DType::*;
    match (op, x.dtype()) {
        (UnaryOp::IsNan, F64) => test(x, f64::is_nan),
        (UnaryOp::IsNan, F32) => test(x, f32::is_nan),
        (UnaryOp::IsNan, F16) => test(x, f16::is_nan),
        (UnaryOp::IsNan, BF16) => test(x, bf16::is_nan),
        (UnaryOp::IsInf, F64) => test(x, f64::is_infinite),
        (UnaryOp::IsInf, F32) => test(x, f32::is_infinite),
        (UnaryOp::IsInf, F16) => test(x, f16::is_infinite),
        (UnaryOp::IsInf, BF16) => test(x, bf16::is_infinite),
        (_, F64) => map(x, double(op)),
        (_, F32) => map(x, single(op)),
        (_, F16) => map_half::<f16>(x, single(op)),
        (_, BF16) => map_half::<bf16>(x, single(op)),
        (_, I64) => map(x, signed::<i64>(op)),
        (_, I32) => map(x, signed::<i32>(op)),
        (_, I16) => map(x, signed::<i16>(op)),
        (_, I8) => map(x, signed::<i8>(op)),
        (_, U64) => map(x, unsigned::<u64>(op)),
        (_, U32) => map(x, unsigned::<u32>(op)),
        (_, U16) => map(x, unsigned::<u16>(op)),
        (_, U8) => map(x, unsigned::<u8>(op)),
        (_, Bool) => map(x, &Light(|x: bool| !x)),
    }
}

fn single(op: UnaryOp) -> &'static dyn Unary<f32> {
    match op {
        UnaryOp::Exp => &Heavy(math::exp),
        UnaryOp::Expm1 => &Heavy(math::expm1),
        UnaryOp::Log => &Heavy(math::log),
        UnaryOp::Log1p => &Heavy(math::log1p),
        UnaryOp::Sin => &Bounded {
            limit: math::TRIG_LIMIT,
            fast: math::sin,
            any: f32::sin,
        },
        UnaryOp::Cos => &Bounded {
            limit: math::TRIG_LIMIT,
            fast: math::cos,
            any: f32::cos,
        },
        UnaryOp::Tan => &Bounded {
            limit: math::TRIG_LIMIT,
            fast: math::tan,
            any: f32::tan,
        },
        UnaryOp::Asin => &Serial(f32::asin),
        UnaryOp::Acos => &Serial(f32::acos),
        UnaryOp::Atan => &Serial(f32::atan),
        UnaryOp::Sinh => &Serial(f32::sinh),
        UnaryOp::Cosh => &Serial(f32::cosh),
        UnaryOp::Tanh => &Heavy(math::tanh),
        UnaryOp::Asinh => &Serial(libm::asinhf),
        // `libm` gives numbers below 1, where there are none.
        UnaryOp::Acosh => &Serial(|x: f32| if x < 1.0 { f32::NAN } else { libm::acoshf(x) }),
        UnaryOp::Atanh => &Serial(libm::atanhf),
        UnaryOp::Erf => &Heavy(math::erf),
        UnaryOp::Sigmoid => &Heavy(math::sigmoid),
        _ => simple(op),
    }
}

fn double(op: UnaryOp) -> &'static dyn Unary<f64> {
    match op {
        UnaryOp::Exp => &Serial(f64::exp),
        UnaryOp::Expm1 => &Serial(f64::exp_m1),
        UnaryOp::Log => &Serial(f64::ln),
        UnaryOp::Log1p => &Serial(f64::ln_1p),
        UnaryOp::Sin => &Serial(f64::sin),
        UnaryOp::Cos => &Serial(f64::cos),
        UnaryOp::Tan => &Serial(f64::tan),
        UnaryOp::Asin => &Serial(f64::asin),
        UnaryOp::Acos => &Serial(f64::acos),
        UnaryOp::Atan => &Serial(f64::atan),
        UnaryOp::Sinh => &Serial(f64::sinh),
        UnaryOp::Cosh => &Serial(f64::cosh),
        UnaryOp::Tanh => &Serial(f64::tanh),
        UnaryOp::Asinh => &Serial(libm::asinh),
        UnaryOp::Acosh => &Serial(|x: f64| if x < 1.0 { f64::NAN } else { libm::acosh(x) }),
        UnaryOp::Atanh => &Serial(libm::atanh),
        UnaryOp::Erf => &Serial(libm::erf),
        UnaryOp::Sigmoid => &Serial(<f64 as Real>::sigmoid),
        _ => simple(op),
    }
}

/// The ops that compile to a few instructions for every float.
fn simple<F: Real>(op: UnaryOp) -> &'static dyn Unary<F> {
    match op {
        UnaryOp::Neg => &Light(|x: F| -x),
        UnaryOp::Abs => &Light(|x: F| x.abs()),
        UnaryOp::Sign => &Light(|x: F| x.sign()),
        UnaryOp::Sqrt => &Light(|x: F| x.sqrt()),
        UnaryOp::Recip => &Light(|x: F| F::ONE / x),
        UnaryOp::Relu => &Light(|x: F| if x <= F::ZERO { F::ZERO } else { x }),
        UnaryOp::Floor => &Light(|x: F| x.floor()),
        UnaryOp::Ceil => &Light(|x: F| x.ceil()),
        UnaryOp::Round => &Light(|x: F| x.round_ties_even()),
        UnaryOp::Trunc => &Light(|x: F| x.trunc()),
        _ => refused(op),
    }
}

fn signed<I: PrimInt + WrappingNeg + Send + Sync + 'static>(op: UnaryOp) -> &'static dyn Unary<I> {
    match op {
        UnaryOp::Neg => &Light(|x: I| x.wrapping_neg()),
        UnaryOp::Abs => &Light(|x: I| if x < I::zero() { x.wrapping_neg() } else { x }),
        UnaryOp::Sign => &Light(|x: I| {
            if x > I::zero() {
                I::one()
            } else if x < I::zero() {
                !I::zero()
            } else {
                I::zero()
            }
        }),
        UnaryOp::Relu => &Light(|x: I| x.max(I::zero())),
        UnaryOp::BitwiseNot => &Light(|x: I| !x),
        _ => refused(op),
    }
}

fn unsigned<I: PrimInt + WrappingNeg + Send + Sync + 'static>(op: UnaryOp) -> &'static dyn Unary<I> {
    match op {
        UnaryOp::Neg => &Light(|x: I| x.wrapping_neg()),
        UnaryOp::Abs | UnaryOp::Relu => &Light(|x: I| x),
        UnaryOp::Sign => &Light(|x: I| x.min(I::one())),
        UnaryOp::BitwiseNot => &Light(|x: I| !x),
        _ => refused(op),
    }
}

fn refused(op: UnaryOp) -> ! {
    unreachable!("`infer` refuses `{}` for this element type", op.name())
}

fn map<E: Element>(mut x: FlexTensor, kernel: &dyn Unary<E>) -> FlexTensor {
    if let Some(values) = x.unique_mut::<E>() {
        update(values, kernel.weight(), |_, part| kernel.update(part));
        return x;
    }
    let source = Source::<E>::new(&x, x.shape());
    let values = collect(x.shape().num_elements(), kernel.weight(), |start, out| {
        let mut room = Gathered::new();
        for range in pieces(start..start + out.len(), source.block()) {
            kernel.write(source.get(range, &mut room), out);
        }
    });
    x.like(values)
}

fn map_half<H: Half>(mut x: FlexTensor, kernel: &dyn Unary<f32>) -> FlexTensor {
    if let Some(values) = x.unique_mut::<H>() {
        update(values, kernel.weight(), |_, part| {
            let mut block = Block::<H>::new();
            for values in part.chunks_mut(BLOCK) {
                let wide = block.widen(values);
                kernel.update(wide);
                H::narrow(wide, values);
            }
        });
        return x;
    }
    let source = Source::<H>::new(&x, x.shape());
    let values = collect(x.shape().num_elements(), kernel.weight(), |start, out| {
        let (mut room, mut block) = (Gathered::new(), Block::<H>::new());
        for range in pieces(start..start + out.len(), BLOCK) {
            let len = range.len();
            kernel.update(block.widen(source.get(range, &mut room)));
            out.extend(block.narrow(len).iter().copied());
        }
    });
    x.like(values)
}

fn test<E: Element>(x: FlexTensor, f: impl Fn(E) -> bool + Sync) -> FlexTensor {
    let source = Source::<E>::new(&x, x.shape());
    let values = collect(x.shape().num_elements(), 1, |start, out| {
        let mut room = Gathered::new();
        for range in pieces(start..start + out.len(), source.block()) {
            let block = source.get(range, &mut room);
            vectorised(|| out.extend(block.iter().map(|&x| f(x))));
        }
    });
    x.like(values)
}
