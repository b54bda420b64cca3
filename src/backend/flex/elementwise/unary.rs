//! Ops of one operand.

use num_traits::{PrimInt, WrappingNeg};

use super::super::parallel::{collect, pieces, update};
use super::super::simd::vectorised;
use super::super::source::{BLOCK, Gathered, Source};
use super::super::storage::FlexTensor;
use super::half::{Block, Half};
use super::kernel::{Heavy, Light, Unary};
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
        (_, F64) => map(x, float::<f64>(op)),
        (_, F32) => map(x, float::<f32>(op)),
        (_, F16) => map_half::<f16>(x, float::<f32>(op)),
        (_, BF16) => map_half::<bf16>(x, float::<f32>(op)),
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

fn float<F: Real>(op: UnaryOp) -> &'static dyn Unary<F> {
    match op {
        UnaryOp::Neg => &Light(|x: F| -x),
        UnaryOp::Abs => &Light(|x: F| x.abs()),
        UnaryOp::Sign => &Light(|x: F| x.sign()),
        UnaryOp::Exp => &Heavy(|x: F| x.exp()),
        UnaryOp::Expm1 => &Heavy(|x: F| x.expm1()),
        UnaryOp::Log => &Heavy(|x: F| x.log()),
        UnaryOp::Log1p => &Heavy(|x: F| x.log1p()),
        UnaryOp::Sqrt => &Light(|x: F| x.sqrt()),
        UnaryOp::Recip => &Light(|x: F| F::ONE / x),
        UnaryOp::Sin => &Heavy(|x: F| x.sin()),
        UnaryOp::Cos => &Heavy(|x: F| x.cos()),
        UnaryOp::Tan => &Heavy(|x: F| x.tan()),
        UnaryOp::Asin => &Heavy(|x: F| x.asin()),
        UnaryOp::Acos => &Heavy(|x: F| x.acos()),
        UnaryOp::Atan => &Heavy(|x: F| x.atan()),
        UnaryOp::Sinh => &Heavy(|x: F| x.sinh()),
        UnaryOp::Cosh => &Heavy(|x: F| x.cosh()),
        UnaryOp::Tanh => &Heavy(|x: F| x.tanh()),
        UnaryOp::Asinh => &Heavy(|x: F| x.asinh()),
        UnaryOp::Acosh => &Heavy(|x: F| x.acosh()),
        UnaryOp::Atanh => &Heavy(|x: F| x.atanh()),
        UnaryOp::Erf => &Heavy(|x: F| x.erf()),
        UnaryOp::Sigmoid => &Heavy(|x: F| x.sigmoid()),
        UnaryOp::Relu => &Light(|x: F| if x <= F::ZERO { F::ZERO } else { x }),
        UnaryOp::Floor => &Light(|x: F| x.floor()),
        UnaryOp::Ceil => &Light(|x: F| x.ceil()),
        UnaryOp::Round => &Light(|x: F| x.round_ties_even()),
        UnaryOp::Trunc => &Light(|x: F| x.trunc()),
        UnaryOp::BitwiseNot | UnaryOp::LogicalNot | UnaryOp::IsNan | UnaryOp::IsInf => refused(op),
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
