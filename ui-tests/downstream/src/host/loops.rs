//! The loops, on elements in row-major order.

use keyway::Shape;
use keyway::op::{BinaryOp, UnaryOp, scalar};

pub(super) fn unary(op: UnaryOp, x: &[f32]) -> Vec<f32> {
    x.iter()
        .map(|&x| scalar::unary_float(op, x.into()) as f32)
        .collect()
}

pub(super) fn binary(op: BinaryOp, a: impl Iterator<Item = f32>, b: impl Iterator<Item = f32>) -> Vec<f32> {
    a.zip(b)
        .map(|(a, b)| scalar::binary_float(op, a.into(), b.into()) as f32)
        .collect()
}

/// Stretches axes of size 1, and adds axes in front.
pub(super) fn expand<'a>(x: &'a [f32], from: &'a Shape, to: &'a Shape) -> impl Iterator<Item = f32> + 'a {
    (0..to.num_elements()).map(move |i| x[place(i, to, from)])
}

pub(super) fn sum(x: &[f32], from: &Shape, to: &Shape) -> Vec<f32> {
    let mut sums = vec![0.0; to.num_elements()];
    for (i, x) in x.iter().enumerate() {
        sums[place(i, from, to)] += x;
    }
    sums
}

pub(super) fn mean(x: &[f32], from: &Shape, to: &Shape) -> Vec<f32> {
    let len = from.num_elements() as f32 / to.num_elements() as f32;
    sum(x, from, to).into_iter().map(|sum| sum / len).collect()
}

pub(super) fn transpose(x: &[f32], from: &Shape) -> Vec<f32> {
    let [rows, columns] = from.dims();
    (0..rows * columns)
        .map(|i| x[i % rows * columns + i / rows])
        .collect()
}

pub(super) fn matmul(a: &[f32], b: &[f32], to: &Shape) -> Vec<f32> {
    let [rows, columns] = to.dims();
    let depth = a.len() / rows.max(1);
    let dot = |i: usize| {
        (0..depth)
            .map(|k| a[i / columns * depth + k] * b[k * columns + i % columns])
            .sum()
    };
    (0..rows * columns).map(dot).collect()
}

/// Where element `i` of shape `large` is in `small`, whose axes, from the last, are equal or 1.
fn place(i: usize, large: &Shape, small: &Shape) -> usize {
    let mut rest = i;
    let (mut place, mut stride) = (0, 1);
    for (axis, &size) in large.iter().enumerate().rev() {
        let index = rest % size;
        rest /= size;
        let Some(axis) = (axis + small.rank()).checked_sub(large.rank()) else {
            continue;
        };
        if small[axis] != 1 {
            place += index * stride;
        }
        stride *= small[axis];
    }
    place
}
