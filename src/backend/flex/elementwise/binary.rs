//! Ops of two operands.

use num_traits::{PrimInt, WrappingAdd, WrappingMul, WrappingSub};

use super::super::parallel::{collect, pieces, update};
use super::super::source::{BLOCK, Gathered, Source};
use super::super::storage::FlexTensor;
use super::half::{Block, Half};
use super::kernel::{Binary, Light, Serial};
use super::real::Real;
use crate::element::{DType, Element, IntElement};
use crate::error::Error;
use crate::op::{Arg, BinaryOp, HasMeta, Meta};
use crate::{bf16, f16};

pub(in super::super) fn binary(
    op: BinaryOp,
    a: Arg<FlexTensor>,
    b: Arg<FlexTensor>,
    meta: &Meta,
) -> Result<FlexTensor, Error> {
    Ok(match meta.dtype {
        DType::F64 => zip(float::<f64>(op), a, b, meta),
        DType::F32 => zip(float::<f32>(op), a, b, meta),
        DType::F16 => zip_half::<f16>(float::<f32>(op), a, b, meta),
        DType::BF16 => zip_half::<bf16>(float::<f32>(op), a, b, meta),
        DType::I64 => integer::<i64>(op, a, b, meta)?,
        DType::I32 => integer::<i32>(op, a, b, meta)?,
        DType::I16 => integer::<i16>(op, a, b, meta)?,
        DType::I8 => integer::<i8>(op, a, b, meta)?,
        DType::U64 => integer::<u64>(op, a, b, meta)?,
        DType::U32 => integer::<u32>(op, a, b, meta)?,
        DType::U16 => integer::<u16>(op, a, b, meta)?,
        DType::U8 => integer::<u8>(op, a, b, meta)?,
        DType::Bool => zip(truth(op), a, b, meta),
    })
}

fn float<F: Real>(op: BinaryOp) -> &'static dyn Binary<F> {
    match op {
        BinaryOp::Add => &Light(|a: F, b: F| a + b),
        BinaryOp::Sub => &Light(|a: F, b: F| a - b),
        BinaryOp::Mul => &Light(|a: F, b: F| a * b),
        BinaryOp::Div => &Light(|a: F, b: F| a / b),
        BinaryOp::Remainder => &Serial(|a: F, b: F| a.remainder(b)),
        BinaryOp::Pow => &Serial(|a: F, b: F| a.pow(b)),
        BinaryOp::Max => &Light(|a: F, b: F| if a.is_nan() || a >= b { a } else { b }),
        BinaryOp::Min => &Light(|a: F, b: F| if a.is_nan() || a <= b { a } else { b }),
        BinaryOp::Atan2 => &Serial(|a: F, b: F| a.atan2(b)),
        BinaryOp::Hypot => &Serial(|a: F, b: F| a.hypot(b)),
        _ => refused(op),
    }
}

/// An integer type that wraps.
trait Integer: IntElement + PrimInt + WrappingAdd + WrappingSub + WrappingMul {
    /// `self / divisor`, of a divisor other than zero.
    fn quotient(self, divisor: Self) -> Self;
    /// The remainder with the sign of the divisor, which is not zero.
    fn remainder(self, divisor: Self) -> Self;
    /// `self << by`, or 0 where `by` is not in `0..bits`.
    fn shift_left(self, by: Self) -> Self;
    /// `self >> by`, or all bits the sign where `by` is not in `0..bits`.
    fn shift_right(self, by: Self) -> Self;
}

macro_rules! integers {
    ($($T:ty)*) => { $(
        impl Integer for $T {
            #[inline(always)]
            fn quotient(self, divisor: Self) -> Self {
                self.wrapping_div(divisor)
            }
            #[inline(always)]
            fn remainder(self, divisor: Self) -> Self {
                let r = self.wrapping_rem(divisor);
                #[allow(unused_comparisons)]
                let opposite = (r < 0) != (divisor < 0);
                if r != 0 && opposite { r + divisor } else { r }
            }
            #[inline(always)]
            fn shift_left(self, by: Self) -> Self {
                // A negative number becomes one far too large.
                if (by as u64) < u64::from(<$T>::BITS) { self << by } else { 0 }
            }
            #[inline(always)]
            fn shift_right(self, by: Self) -> Self {
                let by = by as u64;
                #[allow(unused_comparisons)]
                let beyond = if self < 0 { !0 } else { 0 };
                if by < u64::from(<$T>::BITS) { self >> by } else { beyond }
            }
        }
    )* };
}
integers!(i64 i32 i16 i8 u64 u32 u16 u8);

fn integer<I: Integer>(
    op: BinaryOp,
    a: Arg<FlexTensor>,
    b: Arg<FlexTensor>,
    meta: &Meta,
) -> Result<FlexTensor, Error> {
    let kernel: &'static dyn Binary<I> = match op {
        BinaryOp::Add => &Light(|a: I, b: I| a.wrapping_add(&b)),
        BinaryOp::Sub => &Light(|a: I, b: I| a.wrapping_sub(&b)),
        BinaryOp::Mul => &Light(|a: I, b: I| a.wrapping_mul(&b)),
        BinaryOp::Div | BinaryOp::Remainder => {
            divisible::<I>(op, &b, meta)?;
            match op {
                BinaryOp::Div => &Serial(|a: I, b: I| a.quotient(b)),
                _ => &Serial(|a: I, b: I| a.remainder(b)),
            }
        }
        BinaryOp::Pow => &Serial(pow::<I>),
        BinaryOp::Max => &Light(|a: I, b: I| a.max(b)),
        BinaryOp::Min => &Light(|a: I, b: I| a.min(b)),
        BinaryOp::BitwiseAnd => &Light(|a: I, b: I| a & b),
        BinaryOp::BitwiseOr => &Light(|a: I, b: I| a | b),
        BinaryOp::BitwiseXor => &Light(|a: I, b: I| a ^ b),
        BinaryOp::Shl => &Light(|a: I, b: I| a.shift_left(b)),
        BinaryOp::Shr => &Light(|a: I, b: I| a.shift_right(b)),
        _ => refused(op),
    };
    Ok(zip(kernel, a, b, meta))
}

fn truth(op: BinaryOp) -> &'static dyn Binary<bool> {
    match op {
        BinaryOp::LogicalAnd => &Light(|a: bool, b: bool| a & b),
        BinaryOp::LogicalOr => &Light(|a: bool, b: bool| a | b),
        BinaryOp::LogicalXor => &Light(|a: bool, b: bool| a != b),
        _ => refused(op),
    }
}

fn refused(op: BinaryOp) -> ! {
    unreachable!("`infer` refuses `{}` for this element type", op.name())
}

fn pow<I: Integer>(base: I, exponent: I) -> I {
    if exponent < I::zero() {
        let odd = exponent & I::one() == I::one();
        // All bits set is -1, since the type is signed.
        return match base {
            base if base == I::one() || base == !I::zero() && !odd => I::one(),
            base if base == !I::zero() => base,
            _ => I::zero(),
        };
    }
    let (mut result, mut base, mut exponent) = (I::one(), base, exponent);
    while exponent > I::zero() {
        if exponent & I::one() == I::one() {
            result = result.wrapping_mul(&base);
        }
        base = base.wrapping_mul(&base);
        exponent = exponent >> 1;
    }
    result
}

fn divisible<I: Integer>(op: BinaryOp, divisor: &Arg<FlexTensor>, meta: &Meta) -> Result<(), Error> {
    let zero = meta.shape.num_elements() > 0
        && match divisor {
            Arg::Tensor(x) => Source::new(x, x.shape()).contains(x.shape().num_elements(), I::zero()),
            Arg::Scalar(s) => s.to::<I>() == I::zero(),
        };
    if zero {
        return Err(Error::argument(
            op.name(),
            "integer division by zero; `mask_where` replaces zeros",
        ));
    }
    Ok(())
}

fn zip<E: Element>(
    kernel: &dyn Binary<E>,
    mut a: Arg<FlexTensor>,
    mut b: Arg<FlexTensor>,
    meta: &Meta,
) -> FlexTensor {
    if let Some(values) = reusable::<E>(&mut a, meta) {
        let source = Source::<E>::of(&b, &meta.shape);
        update(values, kernel.weight(), |start, part| {
            let mut room = Gathered::new();
            for range in pieces(0..part.len(), source.block()) {
                let b = source.get(start + range.start..start + range.end, &mut room);
                kernel.update(&mut part[range], b);
            }
        });
        return tensor(a);
    }
    if let Some(values) = reusable::<E>(&mut b, meta) {
        let source = Source::<E>::of(&a, &meta.shape);
        update(values, kernel.weight(), |start, part| {
            let (mut room, mut right) = (Gathered::new(), Gathered::<E>::new());
            for range in pieces(0..part.len(), BLOCK) {
                let a = source.get(start + range.start..start + range.end, &mut room);
                let part = &mut part[range];
                right.clear();
                right.extend_from_slice(part);
                part.copy_from_slice(a);
                kernel.update(part, &right);
            }
        });
        return tensor(b);
    }
    let sources = [Source::<E>::of(&a, &meta.shape), Source::<E>::of(&b, &meta.shape)];
    let block = sources[0].block().min(sources[1].block());
    let values = collect(meta.shape.num_elements(), kernel.weight(), |start, out| {
        let mut rooms = [Gathered::new(), Gathered::new()];
        for range in pieces(start..start + out.len(), block) {
            let [a, b] = &mut rooms;
            kernel.write(sources[0].get(range.clone(), a), sources[1].get(range, b), out);
        }
    });
    device_of(&a, &b).like_shape(values, &meta.shape)
}

fn zip_half<H: Half>(
    kernel: &dyn Binary<f32>,
    mut a: Arg<FlexTensor>,
    mut b: Arg<FlexTensor>,
    meta: &Meta,
) -> FlexTensor {
    if let Some(values) = reusable::<H>(&mut a, meta) {
        let source = Source::<H>::of(&b, &meta.shape);
        update(values, kernel.weight(), |start, part| {
            let mut room = Gathered::new();
            let mut blocks = [Block::<H>::new(), Block::<H>::new()];
            for range in pieces(0..part.len(), BLOCK) {
                let [a, b] = &mut blocks;
                let wide = a.widen(&part[range.clone()]);
                let places = start + range.start..start + range.end;
                kernel.update(wide, b.widen(source.get(places, &mut room)));
                H::narrow(wide, &mut part[range]);
            }
        });
        return tensor(a);
    }
    if let Some(values) = reusable::<H>(&mut b, meta) {
        let source = Source::<H>::of(&a, &meta.shape);
        update(values, kernel.weight(), |start, part| {
            let mut room = Gathered::new();
            let mut blocks = [Block::<H>::new(), Block::<H>::new()];
            for range in pieces(0..part.len(), BLOCK) {
                let [a, b] = &mut blocks;
                let wide = a.widen(source.get(start + range.start..start + range.end, &mut room));
                let part = &mut part[range];
                kernel.update(wide, b.widen(part));
                H::narrow(wide, part);
            }
        });
        return tensor(b);
    }
    let sources = [Source::<H>::of(&a, &meta.shape), Source::<H>::of(&b, &meta.shape)];
    let values = collect(meta.shape.num_elements(), kernel.weight(), |start, out| {
        let mut rooms = [Gathered::new(), Gathered::new()];
        let mut blocks = [Block::<H>::new(), Block::<H>::new()];
        for range in pieces(start..start + out.len(), BLOCK) {
            let len = range.len();
            let [a, b] = &mut blocks;
            let wide = a.widen(sources[0].get(range.clone(), &mut rooms[0]));
            kernel.update(wide, b.widen(sources[1].get(range, &mut rooms[1])));
            out.extend(a.narrow(len).iter().copied());
        }
    });
    device_of(&a, &b).like_shape(values, &meta.shape)
}

/// The values of an operand that the result may overwrite.
fn reusable<'a, E: Element>(x: &'a mut Arg<FlexTensor>, meta: &Meta) -> Option<&'a mut [E]> {
    match x {
        Arg::Tensor(x) if x.shape() == &meta.shape => x.unique_mut(),
        _ => None,
    }
}

fn tensor(x: Arg<FlexTensor>) -> FlexTensor {
    match x {
        Arg::Tensor(x) => x,
        Arg::Scalar(_) => unreachable!("a number has no buffer to reuse"),
    }
}

/// One of the operands that is a tensor.
pub(super) fn device_of<'a>(a: &'a Arg<FlexTensor>, b: &'a Arg<FlexTensor>) -> &'a FlexTensor {
    a.tensor()
        .or(b.tensor())
        .expect("`infer` refuses two numbers as operands")
}
