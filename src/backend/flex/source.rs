//! Operands, read in the row-major order of the result.

use std::ops::Range;

use smallvec::SmallVec;

use super::copy::{to_row_major, transposed};
use super::storage::FlexTensor;
use crate::element::Element;
use crate::op::{Arg, HasMeta};
use crate::shape::Shape;

/// How many elements are gathered at a time where an operand does not lie in the order of the result: few enough that
/// they stay in the nearest cache.
pub(super) const BLOCK: usize = 1024;

/// An operand, stretched to the shape of the result.
pub(super) enum Source<'a, E> {
    /// Elements that lie one after another.
    Slice(&'a [E]),
    /// The same, copied.
    Copied(Vec<E>),
    /// One element, again and again.
    Fill(E),
    /// Anything else.
    Strided(Strided<'a, E>),
}

/// Elements of a buffer by strides. Adjacent axes that can be walked as one are one.
pub(super) struct Strided<'a, E> {
    pub(super) base: &'a [E],
    pub(super) offset: isize,
    pub(super) axes: Axes,
}

/// The size and the stride of each axis.
pub(super) type Axes = SmallVec<[(usize, isize); 4]>;

/// Room for the gathered elements. A few need no allocation.
pub(super) type Gathered<E> = SmallVec<[E; 16]>;

impl<'a, E: Element> Source<'a, E> {
    /// A tensor, stretched to `shape`.
    pub(super) fn new(x: &'a FlexTensor, shape: &Shape) -> Self {
        if x.shape() == shape
            && let Some(slice) = x.as_slice()
        {
            return Source::Slice(slice);
        }
        let layout = x.layout();
        let len = shape.num_elements();
        if len == 0 {
            return Source::Slice(&[]);
        }
        let stretched = shape.iter().zip(x.shape().iter().zip(&layout.strides));
        let axes =
            coalesce(stretched.map(|(&size, (&own, &stride))| (size, if own == size { stride } else { 0 })));
        let base = x.base::<E>();
        let start = layout.offset;
        match axes[..] {
            [] | [(_, 0)] => Source::Fill(base[start]),
            [(_, 1)] => Source::Slice(&base[start..start + len]),
            // Across the order of the buffer, squares are faster than rows.
            _ if transposed(&axes) && x.shape() == shape => Source::Copied(to_row_major(base, layout)),
            _ => Source::Strided(Strided {
                base,
                offset: start as isize,
                axes,
            }),
        }
    }

    /// A tensor or a number, stretched to `shape`.
    pub(super) fn of(arg: &'a Arg<FlexTensor>, shape: &Shape) -> Self {
        match arg {
            Arg::Tensor(x) => Source::new(x, shape),
            &Arg::Scalar(s) => Source::Fill(s.to()),
        }
    }

    /// How many elements [`Source::get`] gives at a time, at most.
    pub(super) fn block(&self) -> usize {
        match self {
            Source::Slice(_) | Source::Copied(_) => usize::MAX,
            _ => BLOCK,
        }
    }

    /// The elements at `range` of the result; they are gathered in `room` where they must be. For one source it is
    /// always the same room.
    pub(super) fn get<'s>(&'s self, range: Range<usize>, room: &'s mut Gathered<E>) -> &'s [E] {
        let len = range.len();
        match self {
            Source::Slice(slice) => &slice[range],
            Source::Copied(values) => &values[range],
            &Source::Fill(value) => {
                if room.len() < len {
                    room.resize(len, value);
                }
                &room[..len]
            }
            Source::Strided(strided) => strided.get(range, room),
        }
    }

    /// Whether any element is `x`.
    pub(super) fn contains(&self, len: usize, x: E) -> bool {
        let mut room = Gathered::new();
        super::parallel::pieces(0..len, BLOCK).any(|range| {
            self.get(range, &mut room)
                .iter()
                .fold(false, |found, &y| found | (y == x))
        })
    }
}

impl<E: Element> Strided<'_, E> {
    /// The elements at `range` of the view; they are gathered in `room` where they must be.
    pub(super) fn get<'s>(&'s self, range: Range<usize>, room: &'s mut Gathered<E>) -> &'s [E] {
        let (&(row, stride), outer) = self.axes.split_last().expect("a strided operand has axes");
        let mut index: SmallVec<[usize; 4]> = SmallVec::from_elem(0, outer.len());
        let mut place = range.start / row;
        let mut offset = self.offset;
        for (i, &(size, stride)) in index.iter_mut().zip(outer).rev() {
            *i = place % size;
            place /= size;
            offset += *i as isize * stride;
        }
        let mut column = range.start % row;
        let mut left = range.len();
        if stride == 1 && column + left <= row {
            let start = offset as usize + column;
            return &self.base[start..start + left];
        }
        room.clear();
        loop {
            let count = left.min(row - column);
            self.push_row(offset + column as isize * stride, stride, count, room);
            left -= count;
            if left == 0 {
                return room;
            }
            column = 0;
            for (i, &(size, stride)) in index.iter_mut().zip(outer).rev() {
                *i += 1;
                offset += stride;
                if *i < size {
                    break;
                }
                offset -= stride * size as isize;
                *i = 0;
            }
        }
    }

    fn push_row(&self, offset: isize, stride: isize, count: usize, room: &mut Gathered<E>) {
        let start = offset as usize;
        match stride {
            1 => room.extend_from_slice(&self.base[start..start + count]),
            0 => room.resize(room.len() + count, self.base[start]),
            2.. => room.extend(
                self.base[start..]
                    .iter()
                    .step_by(stride as usize)
                    .take(count)
                    .copied(),
            ),
            _ => {
                let back = self.base[..=start].iter().rev();
                room.extend(back.step_by(stride.unsigned_abs()).take(count).copied());
            }
        }
    }
}

/// Leaves out axes of size 1 and joins neighbours that are walked as one axis.
pub(super) fn coalesce(axes: impl Iterator<Item = (usize, isize)>) -> Axes {
    let mut joined = Axes::new();
    for (size, stride) in axes.filter(|&(size, _)| size != 1) {
        match joined.last_mut() {
            Some((outer, step)) if *step == stride * size as isize => {
                *outer *= size;
                *step = stride;
            }
            _ => joined.push((size, stride)),
        }
    }
    joined
}

/// Where the element lies that is `index`th in row-major order.
pub(super) fn place(axes: &[(usize, isize)], mut index: usize) -> isize {
    let mut offset = 0;
    for &(size, stride) in axes.iter().rev() {
        offset += (index % size) as isize * stride;
        index /= size;
    }
    offset
}

/// Where every element lies.
pub(super) fn offsets(axes: &[(usize, isize)]) -> impl Iterator<Item = isize> + '_ {
    let count = axes.iter().map(|&(size, _)| size).product();
    (0..count).map(|index| place(axes, index))
}
