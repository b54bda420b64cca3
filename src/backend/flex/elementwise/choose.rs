//! One of two operands, as a condition says.

use super::super::parallel::{collect, pieces};
use super::super::simd::vectorised;
use super::super::source::{Gathered, Source};
use super::super::storage::FlexTensor;
use crate::element::Element;
use crate::op::{Arg, Meta};
use crate::with_dtype;

pub(in super::super) fn choose(
    cond: FlexTensor,
    on_true: Arg<FlexTensor>,
    on_false: Arg<FlexTensor>,
    meta: &Meta,
) -> FlexTensor {
    with_dtype!(meta.dtype, E => typed::<E>(&cond, &on_true, &on_false, meta))
}

fn typed<E: Element>(
    cond: &FlexTensor,
    on_true: &Arg<FlexTensor>,
    on_false: &Arg<FlexTensor>,
    meta: &Meta,
) -> FlexTensor {
    let shape = &meta.shape;
    let choice = Source::<bool>::new(cond, shape);
    let (yes, no) = (Source::<E>::of(on_true, shape), Source::<E>::of(on_false, shape));
    let block = choice.block().min(yes.block()).min(no.block());
    let values = collect(shape.num_elements(), 1, |start, out| {
        let (mut room, mut rooms) = (Gathered::new(), [Gathered::new(), Gathered::new()]);
        for range in pieces(start..start + out.len(), block) {
            let [a, b] = &mut rooms;
            let choice = choice.get(range.clone(), &mut room).iter();
            let values = yes.get(range.clone(), a).iter().zip(no.get(range, b));
            vectorised(|| out.extend(choice.zip(values).map(|(&c, (&a, &b))| if c { a } else { b })));
        }
    });
    cond.like_shape(values, shape)
}
