//! Comparisons.

use super::super::parallel::{collect, pieces};
use super::super::source::{Gathered, Source};
use super::super::storage::FlexTensor;
use super::binary::device_of;
use super::kernel::{Light, Zip};
use crate::element::Element;
use crate::op::{Arg, CompareOp, HasMeta, Meta};
use crate::with_dtype;

pub(in super::super) fn compare(
    op: CompareOp,
    a: Arg<FlexTensor>,
    b: Arg<FlexTensor>,
    meta: &Meta,
) -> FlexTensor {
    with_dtype!(device_of(&a, &b).dtype(), E => zip(kernel::<E>(op), &a, &b, meta))
}

fn kernel<E: Element>(op: CompareOp) -> &'static dyn Zip<E, bool> {
    match op {
        CompareOp::Equal => &Light(|a: E, b: E| a == b),
        CompareOp::NotEqual => &Light(|a: E, b: E| a != b),
        CompareOp::Lower => &Light(|a: E, b: E| a < b),
        CompareOp::LowerEqual => &Light(|a: E, b: E| a <= b),
        CompareOp::Greater => &Light(|a: E, b: E| a > b),
        CompareOp::GreaterEqual => &Light(|a: E, b: E| a >= b),
    }
}

fn zip<E: Element>(
    kernel: &dyn Zip<E, bool>,
    a: &Arg<FlexTensor>,
    b: &Arg<FlexTensor>,
    meta: &Meta,
) -> FlexTensor {
    let sources = [Source::<E>::of(a, &meta.shape), Source::<E>::of(b, &meta.shape)];
    let block = sources[0].block().min(sources[1].block());
    let values = collect(meta.shape.num_elements(), 1, |start, out| {
        let mut rooms = [Gathered::new(), Gathered::new()];
        for range in pieces(start..start + out.len(), block) {
            let [a, b] = &mut rooms;
            kernel.write(sources[0].get(range.clone(), a), sources[1].get(range, b), out);
        }
    });
    device_of(a, b).like_shape(values, &meta.shape)
}
