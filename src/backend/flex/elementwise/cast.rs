//! Conversions between element types.

use super::super::parallel::{Part, collect, pieces};
use super::super::source::{BLOCK, Gathered, Source};
use super::super::storage::FlexTensor;
use super::half::{Block, Half};
use crate::element::{DType, Element};
use crate::op::HasMeta;
use crate::{bf16, f16, with_dtype};

pub(in super::super) fn cast(x: FlexTensor, dtype: DType) -> FlexTensor {
    if x.dtype() == dtype {
        return x;
    }
    match (x.dtype(), dtype) {
        (DType::F16, _) => with_dtype!(dtype, R => widened::<f16, R>(&x)),
        (DType::BF16, _) => with_dtype!(dtype, R => widened::<bf16, R>(&x)),
        (DType::F32, DType::F16) => narrowed::<f16>(&x),
        (DType::F32, DType::BF16) => narrowed::<bf16>(&x),
        (from, _) => with_dtype!(from, E => with_dtype!(dtype, R => each::<E, R>(&x))),
    }
}

fn each<E: Element, R: Element>(x: &FlexTensor) -> FlexTensor {
    convert::<E, R>(x, |values, out| out.extend(values.iter().map(|&x| one(x))))
}

fn widened<H: Half, R: Element>(x: &FlexTensor) -> FlexTensor {
    convert::<H, R>(x, |values, out| {
        let mut block = Block::new();
        for values in values.chunks(BLOCK) {
            out.extend(block.widen(values).iter().map(|&x| one(x)));
        }
    })
}

fn narrowed<H: Half>(x: &FlexTensor) -> FlexTensor {
    convert::<f32, H>(x, |values, out| {
        let mut block = [H::default(); BLOCK];
        for values in values.chunks(BLOCK) {
            let block = &mut block[..values.len()];
            H::narrow(values, block);
            out.extend(block.iter().copied());
        }
    })
}

/// The detour by `Scalar` is exact, and gone once this is compiled.
#[inline(always)]
fn one<E: Element, R: Element>(x: E) -> R {
    R::from_scalar(x.to_scalar())
}

fn convert<E: Element, R: Element>(x: &FlexTensor, f: impl Fn(&[E], &mut Part<R>) + Sync) -> FlexTensor {
    let source = Source::<E>::new(x, x.shape());
    let values = collect(x.shape().num_elements(), 1, |start, out| {
        let mut room = Gathered::new();
        for range in pieces(start..start + out.len(), source.block()) {
            f(source.get(range, &mut room), out);
        }
    });
    x.like(values)
}
