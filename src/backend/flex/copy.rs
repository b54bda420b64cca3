//! Copies into row-major order.

use rayon::prelude::*;

use super::parallel::{PARALLEL, collect, pieces};
use super::source::{Axes, BLOCK, Gathered, Strided, coalesce};
use super::storage::Layout;
use crate::element::Element;

/// The side of the squares that are transposed at a time: a cache line of `f32`.
const TILE: usize = 16;

/// The elements of a view of `base`, in row-major order.
pub(super) fn to_row_major<E: Element>(base: &[E], layout: &Layout) -> Vec<E> {
    let len = layout.shape.num_elements();
    if len == 0 {
        return Vec::new();
    }
    let axes = coalesce(layout.shape.iter().copied().zip(layout.strides.iter().copied()));
    let offset = layout.offset as isize;
    if transposed(&axes) {
        let mut values = vec![E::default(); len];
        transpose(base, offset, &axes, &mut values);
        return values;
    }
    if axes.is_empty() {
        return vec![base[layout.offset]; len];
    }
    let strided = Strided { base, offset, axes };
    collect(len, 2, |start, out| {
        let mut room = Gathered::new();
        for range in pieces(start..start + out.len(), BLOCK) {
            out.extend(strided.get(range, &mut room).iter().copied());
        }
    })
}

/// Whether neighbours in the buffer are neighbours along another axis than the last.
pub(super) fn transposed(axes: &Axes) -> bool {
    let Some(((_, last), outer)) = axes.split_last() else {
        return false;
    };
    !(0..=1).contains(last)
        && outer
            .iter()
            .any(|&(size, stride)| stride == 1 && size >= TILE / 2)
}

/// Fills `out` with a view that is [`transposed`], in squares, so that each cache line is read and written once.
fn transpose<E: Element>(base: &[E], offset: isize, axes: &[(usize, isize)], out: &mut [E]) {
    let (&(size, stride), inner) = axes.split_first().expect("a transposed view has axes");
    let block = out.len() / size;
    let large = out.len() >= PARALLEL;
    if stride == 1 {
        let band = |(i, out): (usize, &mut [E])| {
            transpose_band(base, offset + (i * TILE) as isize, inner, out, block);
        };
        return match large {
            true => out.par_chunks_mut(TILE * block).enumerate().for_each(band),
            false => out.chunks_mut(TILE * block).enumerate().for_each(band),
        };
    }
    let part = |(i, out): (usize, &mut [E])| transpose(base, offset + i as isize * stride, inner, out);
    match large {
        true => out.par_chunks_mut(block).enumerate().for_each(part),
        false => out.chunks_mut(block).enumerate().for_each(part),
    }
}

/// Fills up to [`TILE`] rows of `block` elements; neighbours in a column are neighbours in `base`.
fn transpose_band<E: Element>(
    base: &[E],
    offset: isize,
    axes: &[(usize, isize)],
    out: &mut [E],
    block: usize,
) {
    let (&(width, stride), outer) = axes.split_last().expect("the last axis is another");
    let height = out.len() / block;
    for (k, shift) in super::source::offsets(outer).enumerate() {
        for columns in pieces(0..width, TILE) {
            let mut tile = [[E::default(); TILE]; TILE];
            for (column, j) in tile.iter_mut().zip(columns.clone()) {
                let start = (offset + shift + j as isize * stride) as usize;
                column[..height].copy_from_slice(&base[start..start + height]);
            }
            for (i, row) in out.chunks_exact_mut(block).enumerate() {
                let row = &mut row[k * width..][columns.clone()];
                row.iter_mut().zip(&tile).for_each(|(x, column)| *x = column[i]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_of_axes_is_copied_right() {
        let sizes = [3, 20, 5, 37];
        let base: Vec<u32> = (0..sizes.iter().product::<usize>() as u32).collect();
        let strides = crate::Shape::from(sizes).contiguous_strides();
        for order in 0..256usize {
            let order = [order % 4, order / 4 % 4, order / 16 % 4, order / 64];
            if (0..4).any(|axis| !order.contains(&axis)) {
                continue;
            }
            let layout = Layout {
                shape: order.iter().map(|&a| sizes[a]).collect(),
                strides: order.iter().map(|&a| strides[a]).collect(),
                offset: 0,
            };
            let mut expected = Vec::new();
            layout.for_each_offset(|offset| expected.push(base[offset]));
            assert_eq!(to_row_major(&base, &layout), expected, "{order:?}");
        }
    }

    #[test]
    fn large_transposes_are_divided_between_threads() {
        let (rows, columns) = (521, 523);
        let base: Vec<u16> = (0..rows * columns).map(|i| i as u16).collect();
        let layout = Layout {
            shape: [columns, rows].into(),
            strides: [1, columns as isize].as_slice().into(),
            offset: 0,
        };
        let expected: Vec<u16> = (0..rows * columns)
            .map(|i| (i % rows * columns + i / rows) as u16)
            .collect();
        assert_eq!(to_row_major(&base, &layout), expected);
    }
}
