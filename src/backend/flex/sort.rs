//! Sorting.
//!
//! Each element becomes one integer: in its high bits a key of the same order, in its low bits its place. Sorting
//! these is stable without a stable sort, and needs no comparison of floats.

use rayon::prelude::*;

use super::movement;
use super::number::{Number, with_number};
use super::storage::FlexTensor;
use crate::op::{HasMeta, Meta, MoveOp};
use crate::shape::Dims;

/// From how many elements on lanes are sorted by several threads.
const PARALLEL_SORT: usize = 1 << 12;

pub(super) fn argsort(x: FlexTensor, axis: usize, descending: bool) -> FlexTensor {
    let len = x.shape()[axis];
    topk(x, axis, len, descending)
}

pub(super) fn topk(x: FlexTensor, axis: usize, k: usize, largest: bool) -> FlexTensor {
    // Sorts along the last axis, where lanes of the result are contiguous, and moves that axis back.
    let mut axes: Dims = (0..x.shape().rank()).collect();
    axes.remove(axis);
    axes.push(axis);
    let x = permute(x, &axes);
    let shape = x.shape().clone().with(axes.len() - 1, k);
    let places = with_number!(x.dtype(), E => first_places::<E>(&x, k, largest));
    let mut back: Dims = (0..axes.len() - 1).collect();
    back.insert(axis, axes.len() - 1);
    permute(FlexTensor::from_vec(places, shape, x.device().clone()), &back).into_contiguous()
}

fn permute(x: FlexTensor, axes: &Dims) -> FlexTensor {
    let meta = Meta {
        shape: axes.iter().map(|&axis| x.shape()[axis]).collect(),
        dtype: x.dtype(),
    };
    movement::movement(MoveOp::Permute(axes.clone()), x, &meta)
}

/// The places of the first `k` elements of every lane along the last axis.
fn first_places<E: Number>(x: &FlexTensor, k: usize, descending: bool) -> Vec<i32> {
    let (lanes, len, step) = x.layout().split_last();
    let mut places = vec![0; lanes.shape.num_elements() * k];
    if places.is_empty() {
        return places;
    }
    let starts = lanes.offsets();
    let base = x.base::<E>();
    let lane = |(out, &start): (&mut [i32], &usize)| {
        let elements = (0..len).map(|i| base[start.wrapping_add_signed(i as isize * step)].key());
        if size_of::<E>() <= 4 {
            let flip = if descending { u64::from(u32::MAX) } else { 0 };
            let packed = elements.zip(0u64..).map(|(key, i)| ((key ^ flip) << 32) | i);
            first(packed.collect(), out, |packed| packed as i32);
        } else {
            let flip = if descending { u64::MAX } else { 0 };
            let packed = elements
                .zip(0u128..)
                .map(|(key, i)| (u128::from(key ^ flip) << 32) | i);
            first(packed.collect(), out, |packed| packed as i32);
        }
    };
    if starts.len() * len < PARALLEL_SORT {
        places.chunks_exact_mut(k).zip(&starts).for_each(lane);
    } else {
        places.par_chunks_exact_mut(k).zip(&starts).for_each(lane);
    }
    places
}

fn first<P: Ord + Copy>(mut packed: Vec<P>, out: &mut [i32], place: impl Fn(P) -> i32) {
    if out.len() < packed.len() {
        packed.select_nth_unstable(out.len() - 1);
        packed.truncate(out.len());
    }
    packed.sort_unstable();
    for (out, &packed) in out.iter_mut().zip(&packed) {
        *out = place(packed);
    }
}

#[cfg(test)]
mod tests {
    use crate::backend::flex::testing::{Random, data};
    use crate::raw::Raw;
    use crate::{DType, Error, Flex, TensorData};

    fn order(values: Vec<f32>, descending: bool) -> Result<Vec<i32>, Error> {
        let len = values.len();
        let x = Raw::<Flex>::from_data(TensorData::new(values, [len])?, &Default::default())?;
        x.order(0, descending)?.into_data()?.into_vec()
    }

    #[test]
    fn nan_is_greatest_and_equal_elements_keep_their_order() -> Result<(), Error> {
        let x = vec![
            f32::NAN,
            -0.0,
            f32::INFINITY,
            0.0,
            -f32::NAN,
            -1.0,
            f32::NEG_INFINITY,
            1e-40,
            -1e-40,
        ];
        assert_eq!(order(x.clone(), false)?, [6, 5, 8, 1, 3, 7, 2, 0, 4]);
        assert_eq!(order(x, true)?, [0, 4, 2, 7, 1, 3, 8, 5, 6]);
        Ok(())
    }

    #[test]
    fn topk_is_the_start_of_argsort() -> Result<(), Error> {
        let mut random = Random::new(8);
        for dtype in DType::ALL.iter().copied().filter(|&dtype| dtype != DType::Bool) {
            for axis in 0..3 {
                let x = random.view(&[4, 7, 9], dtype)?;
                for largest in [false, true] {
                    let order = x.clone().order(axis, largest)?;
                    let first = x.clone().topk_indices(3, axis, largest)?;
                    assert_eq!(data(first)?, data(order.clone().narrow(axis, 0, 3)?)?);
                    // In order, and equal elements by place.
                    let values = x.clone().gather(axis, order.clone())?;
                    let pairs =
                        [values, order].map(|x| data(x.swap_dims(axis, 2).expect("the axes are there")));
                    let [values, places] = pairs;
                    let lane = x.shape()[axis];
                    for (values, places) in values?.chunks(lane).zip(places?.chunks(lane)) {
                        for i in 1..lane {
                            let ahead = if largest {
                                values[i - 1] - values[i]
                            } else {
                                values[i] - values[i - 1]
                            };
                            assert!(ahead > 0.0 || (ahead == 0.0 && places[i - 1] < places[i]));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    #[test]
    fn nothing_to_sort() -> Result<(), Error> {
        assert!(order(vec![], true)?.is_empty());
        let x = Random::new(9)
            .view(&[3, 4], DType::I64)?
            .topk_indices(0, 1, true)?;
        assert_eq!(x.shape()[..], [3, 0]);
        Ok(())
    }
}
