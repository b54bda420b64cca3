//! Reductions and concatenation of host buffers.

use half::{bf16, f16};

use super::ReduceKind;
use super::transport::Part;
use crate::backend::extremes::Extremes;
use crate::data::Buffer;
use crate::element::Element;
use crate::with_buffer;

/// Reduces parts of equal length, element by element in their order.
pub(super) fn reduce(kind: ReduceKind, parts: &[&Part]) -> Buffer {
    macro_rules! dispatch {
        ($($variant:ident),*) => {
            match &*parts[0].buffer {
                $(Buffer::$variant(v) => typed(kind, v, parts),)*
                Buffer::Bool(_) => unreachable!("`ReduceKind::takes` refuses bool"),
            }
        };
    }
    dispatch!(F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8)
}

/// Joins parts whose elements form `outer` rows each, row by row.
pub(super) fn concat(parts: &[&Part], outer: usize) -> Buffer {
    fn typed<E: Element>(_: &[E], parts: &[&Part], outer: usize) -> Buffer {
        let slices: Vec<&[E]> = parts.iter().map(|part| elements(part)).collect();
        let mut joined = Vec::with_capacity(slices.iter().map(|slice| slice.len()).sum());
        for row in 0..outer {
            for slice in &slices {
                let len = slice.len() / outer;
                joined.extend_from_slice(&slice[row * len..][..len]);
            }
        }
        E::into_buffer(joined)
    }
    with_buffer!(&*parts[0].buffer, v => typed(v, parts, outer))
}

/// An element and what it accumulates in.
trait Accumulate: Element {
    type Acc: Extremes;
    fn widen(self) -> Self::Acc;
    fn narrow(acc: Self::Acc) -> Self;
    fn add(a: Self::Acc, b: Self::Acc) -> Self::Acc;
    fn mul(a: Self::Acc, b: Self::Acc) -> Self::Acc;
    fn over(a: Self::Acc, members: usize) -> Self::Acc;
}

fn typed<E: Accumulate>(kind: ReduceKind, _: &[E], parts: &[&Part]) -> Buffer {
    let slices: Vec<&[E]> = parts.iter().map(|part| elements(part)).collect();
    let members = slices.len();
    E::into_buffer(match kind {
        ReduceKind::Sum => fold(&slices, E::add, |a| a),
        ReduceKind::Mean => fold(&slices, E::add, |a| E::over(a, members)),
        ReduceKind::Prod => fold(&slices, E::mul, |a| a),
        ReduceKind::Max => fold(&slices, Extremes::greater, |a| a),
        ReduceKind::Min => fold(&slices, Extremes::lesser, |a| a),
    })
}

/// Accumulates in blocks that stay in the nearest cache.
fn fold<E: Accumulate>(
    slices: &[&[E]],
    step: impl Fn(E::Acc, E::Acc) -> E::Acc,
    finish: impl Fn(E::Acc) -> E::Acc,
) -> Vec<E> {
    const BLOCK: usize = 1024;
    let len = slices[0].len();
    let mut result = Vec::with_capacity(len);
    let mut block = [E::Acc::default(); BLOCK];
    for start in (0..len).step_by(BLOCK) {
        let range = start..len.min(start + BLOCK);
        let block = &mut block[..range.len()];
        for (acc, &x) in block.iter_mut().zip(&slices[0][range.clone()]) {
            *acc = x.widen();
        }
        for slice in &slices[1..] {
            for (acc, &x) in block.iter_mut().zip(&slice[range.clone()]) {
                *acc = step(*acc, x.widen());
            }
        }
        result.extend(block.iter().map(|&acc| E::narrow(finish(acc))));
    }
    result
}

fn elements<E: Element>(part: &Part) -> &[E] {
    let all = E::slice(&part.buffer).expect("members have compared element types");
    &all[part.range.clone()]
}

macro_rules! float {
    ($($T:ty => $Acc:ty, $widen:expr, $narrow:expr;)*) => { $(
        impl Accumulate for $T {
            type Acc = $Acc;
            fn widen(self) -> $Acc {
                ($widen)(self)
            }
            fn narrow(acc: $Acc) -> $T {
                ($narrow)(acc)
            }
            fn add(a: $Acc, b: $Acc) -> $Acc {
                a + b
            }
            fn mul(a: $Acc, b: $Acc) -> $Acc {
                a * b
            }
            fn over(a: $Acc, members: usize) -> $Acc {
                a / members as $Acc
            }
        }
    )* };
}

macro_rules! int {
    ($($T:ty)*) => { $(
        impl Accumulate for $T {
            type Acc = $T;
            fn widen(self) -> $T {
                self
            }
            fn narrow(acc: $T) -> $T {
                acc
            }
            fn add(a: $T, b: $T) -> $T {
                a.wrapping_add(b)
            }
            fn mul(a: $T, b: $T) -> $T {
                a.wrapping_mul(b)
            }
            fn over(_: $T, _: usize) -> $T {
                unreachable!("`ReduceKind::takes` refuses the mean of integers")
            }
        }
    )* };
}

float! {
    f64 => f64, |x| x, |x| x;
    f32 => f32, |x| x, |x| x;
    f16 => f32, f16::to_f32, f16::from_f32;
    bf16 => f32, bf16::to_f32, bf16::from_f32;
}
int!(i64 i32 i16 i8 u64 u32 u16 u8);
