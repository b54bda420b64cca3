//! Arrays handed to an op row by row: `ndarray` walks them, compiled once for each element type, and only the loop over
//! a row is compiled for each op. An array that lies in one piece is a single row.

use ndarray::{ArrayD, ArrayRef, ArrayView1, ArrayViewMut1, Ix1, IxDyn, ShapeBuilder, Zip};

use super::storage::{Array, Held, stretched};
use crate::shape::Shape;

/// What an op does with two rows: it writes to the first.
pub(super) type ZipRow<'a, E> = &'a dyn Fn(ArrayViewMut1<E>, ArrayView1<E>);

/// What an op with truth values for results does with two rows: it writes to the first argument.
pub(super) type TestRow<'a, E> = &'a dyn Fn(ArrayViewMut1<bool>, ArrayView1<E>, ArrayView1<E>);

/// Calls `row` with every row.
pub(super) fn each<E: Held>(x: &mut ArrayRef<E, IxDyn>, row: &dyn Fn(ArrayViewMut1<E>)) {
    match x.as_slice_memory_order_mut() {
        Some(slice) => row(slice.into()),
        None => x.rows_mut().into_iter().for_each(row),
    }
}

/// Calls `row` with every row of `x`, and that of `y` beside it, which stretches to the shape of `x`.
pub(super) fn each_with<E: Held>(x: &mut ArrayRef<E, IxDyn>, y: &ArrayRef<E, IxDyn>, row: ZipRow<E>) {
    let alike = x.shape() == y.shape() && x.strides() == y.strides();
    let len = x.len();
    if let Some(x) = x.as_slice_memory_order_mut() {
        match y.as_slice_memory_order() {
            Some(y) if alike => return row(x.into(), y.into()),
            Some([only]) => return row(x.into(), constant(only, len)),
            _ => {}
        }
    }
    let y = y.broadcast(x.raw_dim()).expect("the operand stretches");
    Zip::from(x.rows_mut()).and(y.rows()).for_each(row);
}

/// What `row` writes from every pair of rows, of operands that stretch to the shape.
pub(super) fn test_pairs<E: Held>(
    a: &Array<E>,
    b: &Array<E>,
    shape: &Shape,
    row: TestRow<E>,
) -> ArrayD<bool> {
    let mut result = ArrayD::from_elem(&shape[..], false);
    let of_result = result.as_slice_mut().expect("a new array is in order");
    let whole = |x: &Array<E>| x.shape() == &shape[..] && x.is_standard_layout();
    match (a.as_slice(), b.as_slice()) {
        (Some(sa), Some(sb)) if whole(a) && whole(b) => row(of_result.into(), sa.into(), sb.into()),
        (Some(sa), Some([only])) if whole(a) => {
            row(of_result.into(), sa.into(), constant(only, sa.len()));
        }
        _ => Zip::from(result.rows_mut())
            .and(stretched(a, shape).rows())
            .and(stretched(b, shape).rows())
            .for_each(row),
    }
    result
}

/// Applies a function to every element of a row.
pub(super) fn map_row<E: Held>(mut row: ArrayViewMut1<E>, f: impl Fn(E) -> E) {
    match row.as_slice_mut() {
        Some(slice) => slice.iter_mut().for_each(|v| *v = f(*v)),
        None => row.iter_mut().for_each(|v| *v = f(*v)),
    }
}

/// Applies a function to every pair of elements of two rows, and keeps the result in the first.
pub(super) fn zip_row<E: Held>(mut x: ArrayViewMut1<E>, y: ArrayView1<E>, f: impl Fn(E, E) -> E) {
    match (x.as_slice_mut(), y.as_slice()) {
        (Some(x), Some(y)) => x.iter_mut().zip(y).for_each(|(x, &y)| *x = f(*x, y)),
        (Some(x), None) if y.strides() == [0] => {
            let y = y[0];
            x.iter_mut().for_each(|x| *x = f(*x, y));
        }
        _ => x.iter_mut().zip(y).for_each(|(x, &y)| *x = f(*x, y)),
    }
}

/// Writes what a function says of every pair of elements of two rows.
pub(super) fn test_row<E: Held>(
    mut result: ArrayViewMut1<bool>,
    a: ArrayView1<E>,
    b: ArrayView1<E>,
    f: impl Fn(E, E) -> bool,
) {
    match (result.as_slice_mut(), a.as_slice(), b.as_slice()) {
        (Some(result), Some(a), Some(b)) => {
            result
                .iter_mut()
                .zip(a)
                .zip(b)
                .for_each(|((r, &a), &b)| *r = f(a, b));
        }
        (Some(result), Some(a), None) if b.strides() == [0] => {
            let b = b[0];
            result.iter_mut().zip(a).for_each(|(r, &a)| *r = f(a, b));
        }
        _ => result
            .iter_mut()
            .zip(a)
            .zip(b)
            .for_each(|((r, &a), &b)| *r = f(a, b)),
    }
}

/// A row of one value.
fn constant<E>(value: &E, len: usize) -> ArrayView1<'_, E> {
    let shape = Ix1(len).strides(Ix1(0));
    ArrayView1::from_shape(shape, std::slice::from_ref(value)).expect("a view may have strides of 0")
}
