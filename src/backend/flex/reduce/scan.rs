//! Running reductions.

use super::super::elementwise::Half;
use super::super::parallel::update_blocks;
use super::super::storage::FlexTensor;
use super::rule::{Max, Min, Prod, Rule, Sum};
use crate::element::{DType, Element};
use crate::op::{HasMeta, ScanOp};
use crate::{bf16, f16};

pub(in super::super) fn scan(op: ScanOp, x: FlexTensor, axis: usize) -> FlexTensor {
    macro_rules! by {
        ($run:ident, $T:ty) => {
            match op {
                ScanOp::Sum => $run::<$T, Sum>(x, axis),
                ScanOp::Prod => $run::<$T, Prod>(x, axis),
                ScanOp::Max => $run::<$T, Max>(x, axis),
                ScanOp::Min => $run::<$T, Min>(x, axis),
            }
        };
    }
    match x.dtype() {
        DType::F64 => by!(plain, f64),
        DType::F32 => by!(plain, f32),
        DType::F16 => by!(half, f16),
        DType::BF16 => by!(half, bf16),
        DType::I64 => by!(plain, i64),
        DType::I32 => by!(plain, i32),
        DType::I16 => by!(plain, i16),
        DType::I8 => by!(plain, i8),
        DType::U64 => by!(plain, u64),
        DType::U32 => by!(plain, u32),
        DType::U16 => by!(plain, u16),
        DType::U8 => by!(plain, u8),
        DType::Bool => unreachable!("`infer` refuses `{}` for truth values", op.name()),
    }
}

fn plain<E: Element, T: Rule<E, Out = E>>(x: FlexTensor, axis: usize) -> FlexTensor {
    run(x, axis, T::widen(T::START), |acc, x: E| {
        let acc = T::merge(acc, T::widen(T::load(x)));
        (acc, T::finish(acc, 1))
    })
}

fn half<H: Half, T: Rule<f32, Out = f32>>(x: FlexTensor, axis: usize) -> FlexTensor {
    run(x, axis, T::widen(T::START), |acc, x: H| {
        let acc = T::merge(acc, T::widen(T::load(x.to_f32())));
        (acc, H::from_f32(T::finish(acc, 1)))
    })
}

/// `step` takes the accumulator and an element to the new accumulator and the result at that element.
fn run<E: Element, A: Copy + Send + Sync>(
    x: FlexTensor,
    axis: usize,
    start: A,
    step: impl Fn(A, E) -> (A, E) + Sync,
) -> FlexTensor {
    let mut x = x.into_contiguous();
    let count = x.shape()[axis];
    let inner: usize = x.shape()[axis + 1..].iter().product();
    if x.shape().num_elements() == 0 {
        return x;
    }
    let scan = |values: &mut [E]| {
        if inner == 1 {
            for row in values.chunks_exact_mut(count) {
                let mut acc = start;
                for x in row {
                    (acc, *x) = step(acc, *x);
                }
            }
            return;
        }
        let mut accs = vec![start; inner];
        for block in values.chunks_exact_mut(count * inner) {
            accs.fill(start);
            for row in block.chunks_exact_mut(inner) {
                for (acc, x) in accs.iter_mut().zip(row) {
                    (*acc, *x) = step(*acc, *x);
                }
            }
        }
    };
    match x.unique_mut::<E>() {
        Some(values) => {
            update_blocks(values, count * inner, scan);
            x
        }
        None => {
            let mut values = x.to_vec::<E>();
            update_blocks(&mut values, count * inner, scan);
            x.like(values)
        }
    }
}
