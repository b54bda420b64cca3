//! Conversions between element types.

use super::super::parallel::{collect, pieces};
use super::super::simd::vectorised;
use super::super::source::{Gathered, Source};
use super::super::storage::FlexTensor;
use crate::element::{DType, Element};
use crate::op::HasMeta;
use crate::with_dtype;

pub(in super::super) fn cast(x: FlexTensor, dtype: DType) -> FlexTensor {
    if x.dtype() == dtype {
        return x;
    }
    with_dtype!(x.dtype(), E => with_dtype!(dtype, R => typed::<E, R>(&x)))
}

fn typed<E: Element, R: Element>(x: &FlexTensor) -> FlexTensor {
    let source = Source::<E>::new(x, x.shape());
    let values = collect(x.shape().num_elements(), 1, |start, out| {
        let mut room = Gathered::new();
        for range in pieces(start..start + out.len(), source.block()) {
            let values = source.get(range, &mut room).iter();
            // The detour by `Scalar` is exact, and gone once this is compiled.
            vectorised(|| out.extend(values.map(|&x| R::from_scalar(x.to_scalar()))));
        }
    });
    x.like(values)
}
