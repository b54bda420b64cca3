//! Views, and the movements that copy.

use rayon::prelude::*;
use smallvec::{SmallVec, smallvec};

use super::storage::{FlexTensor, Layout};
use crate::element::Element;
use crate::op::{HasMeta, Meta, MoveOp, PadMode, SliceRange};
use crate::shape::Shape;
use crate::with_dtype;

/// From how many elements on a copy is shared out to threads: as for additions, which move as much.
const PARALLEL_COPY: usize = super::parallel::PARALLEL;

pub(super) fn movement(op: MoveOp, x: FlexTensor, meta: &Meta) -> FlexTensor {
    let shape = meta.shape.clone();
    match op {
        MoveOp::Reshape(_) => reshape(x, shape),
        MoveOp::Permute(axes) => {
            let Layout { strides, offset, .. } = x.layout();
            let strides = axes.iter().map(|&axis| strides[axis]).collect();
            let offset = *offset;
            x.with_layout(Layout {
                shape,
                strides,
                offset,
            })
        }
        MoveOp::Expand(_) => expand(x, shape),
        MoveOp::Slice(ranges) => {
            let layout = slice(x.layout(), &ranges);
            x.with_layout(layout)
        }
        MoveOp::Flip(axes) => {
            let mut layout = x.layout().clone();
            if layout.shape.num_elements() != 0 {
                for axis in axes {
                    let last = layout.strides[axis] * (layout.shape[axis] as isize - 1);
                    layout.offset = layout.offset.wrapping_add_signed(last);
                    layout.strides[axis] = -layout.strides[axis];
                }
            }
            x.with_layout(layout)
        }
        MoveOp::Pad(pads, PadMode::Constant(value)) => with_dtype!(x.dtype(), E => {
            let mut out = vec![value.to::<E>(); shape.num_elements()];
            let within = |(&(before, _), &size): (&(usize, usize), &usize)| SliceRange::new(before, before + size);
            let ranges: Ranges = pads.iter().zip(x.shape().iter()).map(within).collect();
            let inner = slice(&Layout::contiguous(shape.clone()), &ranges);
            copy::<E>(x.base(), x.layout(), &mut out, &inner);
            FlexTensor::from_vec(out, shape, x.device().clone())
        }),
        MoveOp::Pad(pads, mode) => {
            let axes = pads.iter().enumerate().map(|(axis, &pad)| {
                let (size, stride) = (x.layout().shape[axis], x.layout().strides[axis]);
                padded(size, stride, pad, mode)
            });
            assemble(&x, axes.collect(), shape)
        }
        // Without elements, an axis may be repeated more often than its parts can be listed.
        MoveOp::Repeat(_) if shape.num_elements() == 0 => with_dtype!(x.dtype(), E => {
            FlexTensor::from_vec(Vec::<E>::new(), shape, x.device().clone())
        }),
        MoveOp::Repeat(times) => {
            let axes = times.iter().enumerate().map(|(axis, &times)| {
                let run = Run {
                    start: 0,
                    step: x.layout().strides[axis],
                    len: x.layout().shape[axis],
                };
                smallvec![run; times]
            });
            assemble(&x, axes.collect(), shape)
        }
    }
}

pub(super) fn cat(xs: Vec<FlexTensor>, axis: usize, meta: &Meta) -> FlexTensor {
    let whole = Layout::contiguous(meta.shape.clone());
    let device = xs[0].device().clone();
    with_dtype!(meta.dtype, E => {
        let mut out = vec![E::default(); meta.shape.num_elements()];
        let mut start = 0;
        for x in xs {
            let mut ranges: Ranges = meta.shape.iter().map(|&size| SliceRange::new(0, size)).collect();
            ranges[axis] = SliceRange::new(start, start + x.shape()[axis]);
            start = ranges[axis].end;
            copy::<E>(x.base(), x.layout(), &mut out, &slice(&whole, &ranges));
        }
        FlexTensor::from_vec(out, meta.shape.clone(), device)
    })
}

/// Another shape for the same elements: a view where strides can express it.
pub(super) fn reshape(x: FlexTensor, shape: Shape) -> FlexTensor {
    let x = match reshaped(x.layout(), &shape) {
        Some(layout) => return x.with_layout(layout),
        None => x.into_contiguous(),
    };
    let layout = Layout {
        offset: x.layout().offset,
        ..Layout::contiguous(shape)
    };
    x.with_layout(layout)
}

/// Axes of size 1 stretch, with stride 0.
pub(super) fn expand(x: FlexTensor, shape: Shape) -> FlexTensor {
    let layout = x.layout();
    let stretched = |axis| {
        if layout.shape[axis] == shape[axis] {
            layout.strides[axis]
        } else {
            0
        }
    };
    let strides = (0..shape.rank()).map(stretched).collect();
    let offset = layout.offset;
    x.with_layout(Layout {
        shape,
        strides,
        offset,
    })
}

type Ranges = SmallVec<[SliceRange; 4]>;

/// The part of a view that lies in a range of every axis.
pub(super) fn slice(layout: &Layout, ranges: &[SliceRange]) -> Layout {
    let mut part = layout.clone();
    part.shape = ranges.iter().map(SliceRange::len).collect();
    if part.shape.num_elements() == 0 {
        return part;
    }
    for (axis, range) in ranges.iter().enumerate() {
        let skipped = layout.strides[axis] * range.first() as isize;
        part.offset = part.offset.wrapping_add_signed(skipped);
        part.strides[axis] = match part.shape[axis] {
            // A step past the end of the buffer could overflow, and is never taken.
            1 => 0,
            _ => layout.strides[axis] * range.step,
        };
    }
    part
}

/// The strides that give a view another shape, if there are any.
fn reshaped(from: &Layout, to: &Shape) -> Option<Layout> {
    let mut strides = to.contiguous_strides();
    if to.num_elements() != 0 {
        let mut axis = to.rank();
        for (size, [step]) in joined(&from.shape, [&from.strides]).into_iter().rev() {
            // The axes that split this one; those that are left over in the end have size 1.
            let mut filled = 1;
            while filled < size {
                axis -= 1;
                strides[axis] = step * filled as isize;
                filled *= to[axis];
            }
            if filled != size {
                return None;
            }
        }
    }
    Some(Layout {
        shape: to.clone(),
        strides,
        offset: from.offset,
    })
}

/// The axes of views of one shape, as sizes and strides, where those that lie one after another in every view are
/// one axis, and those of size 1 are left out. No size may be 0.
pub(super) fn joined<const N: usize>(
    shape: &[usize],
    strides: [&[isize]; N],
) -> SmallVec<[(usize, [isize; N]); 4]> {
    let mut axes: SmallVec<[(usize, [isize; N]); 4]> = SmallVec::new();
    for (axis, &size) in shape.iter().enumerate() {
        let inner = strides.map(|strides| strides[axis]);
        match axes.last_mut() {
            _ if size == 1 => {}
            Some(outer) if outer.1 == inner.map(|stride| stride * size as isize) => {
                *outer = (outer.0 * size, inner);
            }
            _ => axes.push((size, inner)),
        }
    }
    axes
}

/// Copies the elements of one view to the places of another of the same shape.
pub(super) fn copy<E: Element>(from: &[E], from_layout: &Layout, to: &mut [E], to_layout: &Layout) {
    if from_layout.shape.num_elements() == 0 {
        return;
    }
    let mut axes = joined(&from_layout.shape, [&from_layout.strides, &to_layout.strides]);
    let (len, [source, target]) = axes.pop().unwrap_or((1, [1, 1]));
    let outer = |side: usize, offset| Layout {
        shape: axes.iter().map(|axis| axis.0).collect(),
        strides: axes.iter().map(|axis| axis.1[side]).collect(),
        offset,
    };
    let mut starts = outer(0, from_layout.offset).offsets().into_iter();
    outer(1, to_layout.offset).for_each_offset(|to_start| {
        let start = starts.next().expect("both views have one shape");
        if source == 1 && target == 1 {
            to[to_start..to_start + len].copy_from_slice(&from[start..start + len]);
        } else {
            for i in 0..len as isize {
                to[to_start.wrapping_add_signed(i * target)] = from[start.wrapping_add_signed(i * source)];
            }
        }
    });
}

/// Elements of an axis at equal distances.
#[derive(Clone, Copy)]
pub(super) struct Run {
    /// The distance of the first from the start of the axis, in elements of the buffer.
    pub(super) start: isize,
    pub(super) step: isize,
    pub(super) len: usize,
}

/// Which elements of a view's axis follow each other along an axis of the result.
pub(super) type Runs = SmallVec<[Run; 3]>;

fn padded(size: usize, stride: isize, (before, after): (usize, usize), mode: PadMode) -> Runs {
    let run = |first: usize, step: isize, len| Run {
        start: first as isize * stride,
        step: step * stride,
        len,
    };
    let (lead, trail) = match mode {
        PadMode::Reflect => (run(before, -1, before), run(size.saturating_sub(2), -1, after)),
        PadMode::Replicate => (run(0, 0, before), run(size.saturating_sub(1), 0, after)),
        PadMode::Circular => (run(size.saturating_sub(before), 1, before), run(0, 1, after)),
        PadMode::Constant(_) => unreachable!("constant padding is filled"),
    };
    [lead, run(0, 1, size), trail]
        .into_iter()
        .filter(|run| run.len > 0)
        .collect()
}

/// The tensor whose axes consist of runs of `x`'s axes.
pub(super) fn assemble(x: &FlexTensor, axes: Vec<Runs>, shape: Shape) -> FlexTensor {
    let device = x.device().clone();
    with_dtype!(x.dtype(), E => FlexTensor::from_vec(assembled::<E>(x, axes, &shape), shape, device))
}

fn assembled<E: Element>(x: &FlexTensor, mut axes: Vec<Runs>, shape: &Shape) -> Vec<E> {
    let len = shape.num_elements();
    let mut out = vec![E::default(); len];
    if len == 0 {
        return out;
    }
    let mut last = axes.pop().unwrap_or_else(|| one_run(1, 1));
    // Whole axes that lie one after another become one, so that rows are long.
    while let ([inner], Some([outer])) = (&last[..], axes.last().map(|runs| &runs[..])) {
        if inner.len > 1 && outer.len > 1 && outer.step != inner.step * inner.len as isize {
            break;
        }
        let joined = Run {
            start: inner.start + outer.start,
            step: if inner.len > 1 { inner.step } else { outer.step },
            len: inner.len * outer.len,
        };
        last = smallvec![joined];
        axes.pop();
    }
    let row: usize = last.iter().map(|run| run.len).sum();
    // Where each row starts.
    let mut starts = vec![x.layout().offset as isize];
    for runs in &axes {
        let places = || {
            runs.iter()
                .flat_map(|run| (0..run.len as isize).map(|i| run.start + i * run.step))
        };
        starts = starts
            .iter()
            .flat_map(|start| places().map(move |place| start + place))
            .collect();
    }
    let base = x.base::<E>();
    let write = |(mut row, &start): (&mut [E], &isize)| {
        for run in &last {
            let (part, rest) = row.split_at_mut(run.len);
            let first = (start + run.start) as usize;
            match run.step {
                1 => part.copy_from_slice(&base[first..first + run.len]),
                0 => part.fill(base[first]),
                step => {
                    for (i, place) in part.iter_mut().enumerate() {
                        *place = base[first.wrapping_add_signed(i as isize * step)];
                    }
                }
            }
            row = rest;
        }
    };
    if len < PARALLEL_COPY {
        out.chunks_exact_mut(row).zip(&starts).for_each(write);
    } else {
        let rows_each = (PARALLEL_COPY / 4).div_ceil(row);
        out.par_chunks_exact_mut(row)
            .zip(&starts)
            .with_min_len(rows_each)
            .for_each(write);
    }
    out
}

/// A whole axis.
pub(super) fn one_run(len: usize, step: isize) -> Runs {
    smallvec![Run { start: 0, step, len }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::flex::testing::{Random, data, numbered};
    use crate::raw::Raw;
    use crate::{DType, Error, Flex};

    fn address(x: &Raw<Flex>) -> *const f32 {
        x.primitive().base::<f32>().as_ptr()
    }

    #[test]
    fn views_share_the_buffer() -> Result<(), Error> {
        let x = numbered(&[2, 3, 4])?;
        let at = address(&x);
        let views = [
            x.clone().reshape([6, 4])?,
            x.clone().reshape([2, 1, 12])?,
            x.clone().permute([2, 0, 1])?,
            x.clone().permute([2, 0, 1])?.reshape([4, 6, 1, 1])?,
            x.clone().narrow(1, 0, 1)?.expand([2, 5, 4])?,
            x.clone().flip([0, 2])?,
            x.clone().slice([
                SliceRange::new(0, 2),
                SliceRange {
                    start: 0,
                    end: 3,
                    step: -2,
                },
                SliceRange::new(1, 3),
            ])?,
        ];
        for view in views {
            assert_eq!(address(&view), at);
        }
        let copied = x.permute([0, 2, 1])?.reshape([24])?;
        assert_ne!(address(&copied), at);
        Ok(())
    }

    #[test]
    fn slices_step_backwards() -> Result<(), Error> {
        let back = |start, end, step| data(numbered(&[10])?.slice([SliceRange { start, end, step }])?);
        assert_eq!(back(0, 10, -3)?, [9.0, 6.0, 3.0, 0.0]);
        assert_eq!(back(2, 9, -3)?, [8.0, 5.0, 2.0]);
        assert!(back(4, 4, -1)?.is_empty());
        assert_eq!(back(4, 5, isize::MIN)?, [4.0]);
        Ok(())
    }

    /// A reshape of any view has the elements that the same reshape of its copy has.
    #[test]
    fn reshape_keeps_the_order() -> Result<(), Error> {
        let mut random = Random::new(6);
        for _ in 0..300 {
            let sizes: Vec<usize> = (0..4).map(|_| [1, 1, 2, 3, 4][random.up_to(5) - 1]).collect();
            let x = random.view(&sizes, DType::F32)?;
            let mut to = sizes.clone();
            match random.up_to(4) {
                1 => to = vec![sizes.iter().product()],
                2 => to = vec![sizes[0] * sizes[1], sizes[2], 1, sizes[3]],
                3 => to = vec![1, sizes[0], sizes[1] * sizes[2] * sizes[3]],
                _ => to.reverse(),
            }
            assert_eq!(data(x.clone().reshape(to)?)?, data(x)?);
        }
        Ok(())
    }

    #[test]
    fn pads_by_every_mode() -> Result<(), Error> {
        let pad = |mode| {
            let x = numbered(&[2, 3])?.movement(MoveOp::Pad(smallvec![(0, 0), (2, 1)], mode))?;
            data(x)
        };
        let constant = PadMode::Constant(crate::Scalar::Float(9.0));
        assert_eq!(pad(constant)?, [9., 9., 0., 1., 2., 9., 9., 9., 3., 4., 5., 9.]);
        assert_eq!(
            pad(PadMode::Reflect)?,
            [2., 1., 0., 1., 2., 1., 5., 4., 3., 4., 5., 4.]
        );
        assert_eq!(
            pad(PadMode::Replicate)?,
            [0., 0., 0., 1., 2., 2., 3., 3., 3., 4., 5., 5.]
        );
        assert_eq!(
            pad(PadMode::Circular)?,
            [1., 2., 0., 1., 2., 0., 4., 5., 3., 4., 5., 3.]
        );
        Ok(())
    }

    #[test]
    fn pads_several_axes_of_views() -> Result<(), Error> {
        let x = numbered(&[3, 2])?.permute([1, 0])?;
        let x = x.movement(MoveOp::Pad(smallvec![(1, 0), (0, 1)], PadMode::Reflect))?;
        assert_eq!(data(x)?, [1., 3., 5., 3., 0., 2., 4., 2., 1., 3., 5., 3.]);
        Ok(())
    }

    #[test]
    fn repeats_and_joins() -> Result<(), Error> {
        let x = numbered(&[2, 2])?.permute([1, 0])?;
        let repeated = x.clone().movement(MoveOp::Repeat(smallvec![2, 2]))?;
        let once = [0., 2., 0., 2., 1., 3., 1., 3.];
        assert_eq!(data(repeated)?, [once, once].concat());
        let empty = numbered(&[2, 0])?;
        let op = crate::op::Op::Cat(vec![x.clone(), empty, x.flip([1])?], 1);
        assert_eq!(data(Raw::run(op)?)?, [0., 2., 2., 0., 1., 3., 3., 1.]);
        Ok(())
    }

    /// Above the size from which threads share the work, and with rows of every kind.
    #[test]
    fn large_copies_are_whole() -> Result<(), Error> {
        let x = numbered(&[300, 500])?;
        let repeated = data(x.clone().movement(MoveOp::Repeat(smallvec![1, 2]))?)?;
        assert!((0..300_000).all(|i| repeated[i] == ((i / 1000) * 500 + i % 500) as f64));
        let padded = x.movement(MoveOp::Pad(smallvec![(1, 1), (0, 0)], PadMode::Circular))?;
        let padded = data(padded)?;
        assert!((0..302 * 500).all(|i| padded[i] == ((i + 299 * 500) % 150_000) as f64));
        Ok(())
    }
}
