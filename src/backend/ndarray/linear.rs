//! Matrix products.

use ndarray::{ArrayD, ArrayViewD, ArrayViewMutD, Axis, Ix2};

use super::number::{Number, with_int, with_number, with_real};
use super::storage::{NdArrayTensor, Values, dims, owned, stretched};
use crate::element::DType;
use crate::op::{HasMeta, Meta};
use crate::shape::Shape;

/// A product with at least one element.
pub(super) fn matmul(a: &NdArrayTensor, b: &NdArrayTensor, meta: &Meta) -> Values {
    with_number!(meta.dtype, E => matmul_number::<E>(a, b, &meta.shape))
}

fn matmul_number<E: Number>(a: &NdArrayTensor, b: &NdArrayTensor, shape: &Shape) -> Values {
    let mut c = ArrayD::from_elem(dims(shape), E::ZERO);
    if a.is_empty() || b.is_empty() {
        return owned(c);
    }
    let rank = shape.rank();
    // Of the tensor: in both arrays the axis may have size 1 and be stretched.
    let k = a.shape()[rank - 1];
    let (a, b) = (a.array::<E>(), b.array::<E>());
    let (m, n) = (shape[rank - 2], shape[rank - 1]);
    let batch = &shape[..rank - 2];
    let with_batch = |rows, columns| batch.iter().copied().chain([rows, columns]).collect::<Shape>();
    if rank > 2 && b.shape()[..rank - 2].iter().all(|&n| n == 1) {
        // One right side for the whole batch: one product with more rows.
        let a = stretched(a, &with_batch(m, k));
        let rows = c.len() / n;
        let a = a.to_shape((rows, k)).expect("the batch joins the rows");
        let b = stretched(b, &[vec![1; rank - 2], vec![k, n]].concat().into());
        let b = b.to_shape((k, n)).expect("there is no batch");
        let c = c
            .view_mut()
            .into_shape_with_order((rows, n))
            .expect("a new array is in order");
        E::add_product(a.view(), b.view(), c);
    } else {
        let (a, b) = (stretched(a, &with_batch(m, k)), stretched(b, &with_batch(k, n)));
        add_products(a, b, c.view_mut());
    }
    owned(c)
}

/// Adds the products of all matrices of a batch.
fn add_products<E: Number>(a: ArrayViewD<E>, b: ArrayViewD<E>, mut c: ArrayViewMutD<E>) {
    if c.ndim() > 2 {
        for ((a, b), c) in a.outer_iter().zip(b.outer_iter()).zip(c.axis_iter_mut(Axis(0))) {
            add_products(a, b, c);
        }
        return;
    }
    let matrix = "the rank is 2";
    E::add_product(
        a.into_dimensionality::<Ix2>().expect(matrix),
        b.into_dimensionality::<Ix2>().expect(matrix),
        c.into_dimensionality::<Ix2>().expect(matrix),
    );
}
