//! Reading and writing by index.

use std::borrow::Cow;
use std::ops::Range;

use super::movement::{self, Run};
use super::number::{Number, with_number};
use super::storage::{FlexTensor, Layout};
use crate::backend::extremes::Extremes;
use crate::element::{DType, Element, Scalar};
use crate::error::Error;
use crate::op::{HasMeta, IndexOp, Meta, ScatterMode};
use crate::shape::Shape;
use crate::with_dtype;

pub(super) fn index(op: IndexOp<FlexTensor>, meta: &Meta) -> Result<FlexTensor, Error> {
    let name = op.name();
    Ok(match op {
        IndexOp::Gather { x, index, axis } => {
            let places = places(name, &index, axis, x.shape()[axis])?;
            with_dtype!(x.dtype(), E => {
                let values = gather::<E>(&x, &places, &meta.shape, axis);
                FlexTensor::from_vec(values, meta.shape.clone(), x.device().clone())
            })
        }
        IndexOp::Select { x, index, axis } => {
            let stride = x.layout().strides[axis];
            let mut axes: Vec<_> = (0..x.shape().rank())
                .map(|axis| movement::one_run(x.shape()[axis], x.layout().strides[axis]))
                .collect();
            let run = |place: usize| Run {
                start: place as isize * stride,
                step: 1,
                len: 1,
            };
            axes[axis] = places(name, &index, axis, x.shape()[axis])?
                .into_iter()
                .map(run)
                .collect();
            movement::assemble(&x, axes, meta.shape.clone())
        }
        IndexOp::Scatter {
            x,
            index,
            src,
            axis,
            mode,
        } => {
            let places = places(name, &index, axis, x.shape()[axis])?;
            combine(&Target::Elements { places, axis }, x, &src, mode)
        }
        IndexOp::SelectAssign {
            x,
            index,
            src,
            axis,
            mode,
        } => {
            let places = places(name, &index, axis, x.shape()[axis])?;
            combine(&Target::Slices { places, axis }, x, &src, mode)
        }
        IndexOp::SliceAssign { x, src, ranges } => with_dtype!(x.dtype(), E => {
            let part = movement::slice(&Layout::contiguous(x.shape().clone()), &ranges);
            write::<E>(x, |values, _| movement::copy(src.base(), src.layout(), values, &part))
        }),
        IndexOp::Where { .. } | IndexOp::ArgSort { .. } | IndexOp::TopK { .. } => {
            unreachable!("`{name}` is executed elsewhere")
        }
    })
}

/// The values of an index tensor in row-major order, each checked to lie in its axis.
pub(super) fn places(
    op: &'static str,
    index: &FlexTensor,
    axis: usize,
    size: usize,
) -> Result<Vec<usize>, Error> {
    let checked = |value: Scalar| {
        let (place, shown) = match value {
            Scalar::Int(i) => (usize::try_from(i).ok(), i),
            Scalar::UInt(i) => (usize::try_from(i).ok(), i64::try_from(i).unwrap_or(i64::MAX)),
            other => unreachable!("`infer` admits integer indices only, not {other}"),
        };
        place.filter(|&place| place < size).ok_or(Error::Index {
            op: op.into(),
            index: shown,
            axis,
            size,
        })
    };
    with_number!(index.dtype(), I => {
        elements::<I>(index).iter().map(|i| checked(i.to_scalar())).collect()
    })
}

/// The elements in row-major order, borrowed where they lie so.
fn elements<E: Element>(x: &FlexTensor) -> Cow<'_, [E]> {
    x.as_slice().map_or_else(|| Cow::Owned(x.to_vec()), Cow::Borrowed)
}

fn gather<E: Element>(x: &FlexTensor, places: &[usize], shape: &Shape, axis: usize) -> Vec<E> {
    let (base, stride) = (x.base::<E>(), x.layout().strides[axis]);
    let mut values = Vec::with_capacity(places.len());
    for_each_row(x.layout(), shape, axis, |row, start, step| {
        values.extend(
            places[row].iter().enumerate().map(|(j, &place)| {
                base[start.wrapping_add_signed(j as isize * step + place as isize * stride)]
            }),
        );
    });
    values
}

/// Calls `f` with the range of each row of an index, and with where, in a buffer of this layout, place 0 along `axis` is
/// for the row's first entry, and how far that is from one entry to the next.
fn for_each_row(layout: &Layout, index: &Shape, axis: usize, mut f: impl FnMut(Range<usize>, usize, isize)) {
    let mut across = Layout {
        shape: index.clone(),
        ..layout.clone()
    };
    across.strides[axis] = 0;
    let (rows, len, step) = across.split_last();
    let mut from = 0;
    rows.for_each_offset(|start| {
        f(from..from + len, start, step);
        from += len;
    });
}

/// Where values are written to along an axis.
enum Target {
    /// Each element at a place of its own.
    Elements { places: Vec<usize>, axis: usize },
    /// Each slice across the axis.
    Slices { places: Vec<usize>, axis: usize },
}

impl Target {
    /// Combines each value of `src` with the one in its place in `out`, both in row-major order.
    fn write<E: Element>(
        &self,
        out: &mut [E],
        shape: &Shape,
        src: &[E],
        src_shape: &Shape,
        combine: impl Fn(E, E) -> E,
    ) {
        if src.is_empty() {
            return;
        }
        match self {
            Target::Elements { places, axis } => {
                let layout = Layout::contiguous(shape.clone());
                let stride = layout.strides[*axis] as usize;
                for_each_row(&layout, src_shape, *axis, |row, start, step| {
                    let entries = src[row.clone()].iter().zip(&places[row]);
                    for (j, (&value, &place)) in entries.enumerate() {
                        let at = &mut out[start + j * step as usize + place * stride];
                        *at = combine(*at, value);
                    }
                });
            }
            Target::Slices { places, axis } => {
                let inner: usize = shape[axis + 1..].iter().product();
                let blocks = out.chunks_exact_mut(shape[*axis] * inner);
                for (block, values) in blocks.zip(src.chunks_exact(places.len() * inner)) {
                    for (&place, row) in places.iter().zip(values.chunks_exact(inner)) {
                        for (at, &value) in block[place * inner..][..inner].iter_mut().zip(row) {
                            *at = combine(*at, value);
                        }
                    }
                }
            }
        }
    }
}

fn combine(to: &Target, x: FlexTensor, src: &FlexTensor, mode: ScatterMode) -> FlexTensor {
    if x.dtype() == DType::Bool {
        return combine_by(to, x, src, |_, new: bool| new);
    }
    with_number!(x.dtype(), E => match mode {
        ScatterMode::Set => combine_by(to, x, src, |_, new: E| new),
        ScatterMode::Add => combine_by(to, x, src, E::plus),
        ScatterMode::Mul => combine_by(to, x, src, E::times),
        ScatterMode::Max => combine_by(to, x, src, E::greater),
        ScatterMode::Min => combine_by(to, x, src, E::lesser),
    })
}

fn combine_by<E: Element>(
    to: &Target,
    x: FlexTensor,
    src: &FlexTensor,
    by: impl Fn(E, E) -> E,
) -> FlexTensor {
    write::<E>(x, |out, shape| {
        to.write(out, shape, &elements(src), src.shape(), by)
    })
}

/// `x` after `f` has written into its elements: in place where nobody else holds them.
fn write<E: Element>(x: FlexTensor, f: impl FnOnce(&mut [E], &Shape)) -> FlexTensor {
    let (mut values, shape, device) = x
        .into_unique::<E>()
        .unwrap_or_else(|x| (x.to_vec(), x.shape().clone(), x.device().clone()));
    f(&mut values, &shape);
    FlexTensor::from_vec(values, shape, device)
}

#[cfg(test)]
mod tests {
    use crate::backend::flex::testing::{Random, data, numbered};
    use crate::op::{ScatterMode, SliceRange};
    use crate::raw::Raw;
    use crate::{DType, Element, Error, Flex, TensorData};

    fn tensor<E: Element, const D: usize>(values: &[E], shape: [usize; D]) -> Raw<Flex> {
        let data = TensorData::new(values.to_vec(), shape).expect("the values fill the shape");
        Raw::from_data(data, &Default::default()).expect("the device holds every type")
    }

    #[test]
    fn gathers_and_selects_from_views() -> Result<(), Error> {
        let x = numbered(&[3, 2])?.permute([1, 0])?;
        let index = tensor(&[2u8, 0, 1, 1], [2, 2]);
        assert_eq!(data(x.clone().gather(1, index)?)?, [4., 0., 3., 3.]);
        let index = tensor(&[2i64, 2, 0], [3]);
        assert_eq!(
            data(x.clone().select(1, index.clone())?)?,
            [4., 4., 0., 5., 5., 1.]
        );
        assert_eq!(
            data(x.permute([1, 0])?.select(0, index)?)?,
            [4., 5., 4., 5., 0., 1.]
        );
        Ok(())
    }

    #[test]
    fn an_index_out_of_range_is_an_error() {
        let x = || numbered(&[2, 3]).expect("a tensor");
        let expect = |result: Result<Raw<Flex>, Error>, index: i64, axis, size| match result {
            Err(Error::Index {
                index: i,
                axis: a,
                size: s,
                ..
            }) => assert_eq!((i, a, s), (index, axis, size)),
            other => panic!("{other:?}"),
        };
        expect(x().select(1, tensor(&[0i8, -1], [2])), -1, 1, 3);
        expect(x().select(0, tensor(&[2u8], [1])), 2, 0, 2);
        expect(x().gather(0, tensor(&[u64::MAX], [1, 1])), i64::MAX, 0, 2);
        let src = || numbered(&[1, 1]).expect("a tensor");
        expect(
            x().scatter(1, tensor(&[3i32], [1, 1]), src(), ScatterMode::Add),
            3,
            1,
            3,
        );
        let column = numbered(&[2, 1]).expect("a tensor");
        expect(
            x().select_assign(1, tensor(&[i64::MIN], [1]), column, ScatterMode::Set),
            i64::MIN,
            1,
            3,
        );
    }

    #[test]
    fn scatters_by_every_mode() -> Result<(), Error> {
        let scatter = |mode| {
            let x = tensor(&[1f32, 2., f32::NAN], [1, 3]);
            let index = tensor(&[0u16, 0, 1, 2], [1, 4]);
            let src = tensor(&[5f32, -7., f32::NAN, 3.], [1, 4]);
            x.scatter(1, index.narrow(1, 0, 3)?, src.narrow(1, 0, 3)?, mode)?
                .into_data()?
                .into_vec::<f32>()
        };
        let shown = |mode| scatter(mode).map(|v| format!("{v:?}"));
        assert_eq!(shown(ScatterMode::Set)?, "[-7.0, NaN, NaN]");
        assert_eq!(shown(ScatterMode::Add)?, "[-1.0, NaN, NaN]");
        assert_eq!(shown(ScatterMode::Max)?, "[5.0, NaN, NaN]");
        assert_eq!(shown(ScatterMode::Min)?, "[-7.0, NaN, NaN]");
        Ok(())
    }

    /// Writing a selection back restores the tensor, and adding it doubles it, for any view and axis.
    #[test]
    fn select_and_select_assign_are_inverse() -> Result<(), Error> {
        let mut random = Random::new(7);
        for axis in [0, 1, 2, 0, 1, 2] {
            let x = random.view(&[3, 4, 5], DType::I32)?;
            let order: Vec<i32> = (0..x.shape()[axis] as i32).rev().collect();
            let index = tensor(&order, [order.len()]);
            let part = x.clone().select(axis, index.clone())?;
            let zeros = tensor(&[0i32; 60], [3, 4, 5]);
            let back = zeros.select_assign(axis, index.clone(), part.clone(), ScatterMode::Set)?;
            assert_eq!(data(back)?, data(x.clone())?);
            let twice = x.clone().select_assign(axis, index, part, ScatterMode::Add)?;
            assert_eq!(data(twice)?, data(x)?.iter().map(|v| 2. * v).collect::<Vec<_>>());
        }
        Ok(())
    }

    #[test]
    fn slices_are_replaced() -> Result<(), Error> {
        let ranges = [
            SliceRange::new(1, 2),
            SliceRange {
                start: 0,
                end: 3,
                step: -2,
            },
        ];
        let x = numbered(&[2, 3])?.slice_assign(ranges, tensor(&[8f32, 9.], [1, 2]))?;
        assert_eq!(data(x)?, [0., 1., 2., 9., 4., 8.]);
        Ok(())
    }

    #[test]
    fn writes_in_place_where_nobody_looks() -> Result<(), Error> {
        let address = |x: &Raw<Flex>| x.primitive().base::<f32>().as_ptr();
        let (index, src) = (tensor(&[1i32], [1, 1]), tensor(&[7f32], [1, 1]));
        let x = numbered(&[1, 2])?;
        let at = address(&x);
        let y = x.scatter(1, index.clone(), src.clone(), ScatterMode::Add)?;
        assert_eq!(address(&y), at);
        let z = y.clone().scatter(1, index, src, ScatterMode::Add)?;
        assert_ne!(address(&z), at);
        assert_eq!((data(y)?, data(z)?), (vec![0., 8.], vec![0., 15.]));
        Ok(())
    }
}
