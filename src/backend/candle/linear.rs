//! Matrix products of floats.

use candle_core::{DType as Stored, Tensor};

use super::storage::{CandleTensor, contiguous, has_room};
use super::{Native, native};
use crate::backend::failure::Failure;
use crate::op::{HasMeta, Meta};

pub(super) fn matmul(a: &CandleTensor, b: &CandleTensor, meta: &Meta) -> Native {
    if !meta.dtype.is_float() {
        return Ok(None);
    }
    let batch = &meta.shape[..meta.shape.rank() - 2];
    // Where only the right matrix is one for the whole batch, `candle` takes the left ones for the rows of one matrix,
    // which they are in row-major order only.
    let rows = batch.iter().product::<usize>() > 1;
    let product = matrices(a, batch, rows)?.matmul(&matrices(b, batch, false)?)?;
    native(product.to_dtype(a.tensor().dtype())?.reshape(&meta.shape[..]))
}

/// Half types as `f32`: `candle` multiplies no matrices of bf16, and sums those of f16 in their own type.
pub(super) fn widened(x: &Tensor) -> Result<Tensor, Failure> {
    if !matches!(x.dtype(), Stored::F16 | Stored::BF16) {
        return Ok(x.clone());
    }
    has_room(x.dims(), Stored::F32)?;
    Ok(x.to_dtype(Stored::F32)?)
}

/// The matrices of a batch along one axis, stretched to so many; in row-major order, or in column-major order if `rows`
/// does not forbid it.
fn matrices(x: &CandleTensor, batch: &[usize], rows: bool) -> Result<Tensor, Failure> {
    let (own, size) = x.shape().split_at(batch.len());
    let (m, n) = (size[0], size[1]);
    let count = batch.iter().product::<usize>();
    let x = widened(x.tensor())?;
    if own.iter().all(|&size| size == 1) {
        let one = ordered(&x, (1, m, n), rows)?;
        return Ok(one.broadcast_as((count, m, n))?);
    }
    let stretched = x.broadcast_as([batch, size].concat())?;
    ordered(&stretched, (count, m, n), rows)
}

fn ordered(x: &Tensor, (count, m, n): (usize, usize, usize), rows: bool) -> Result<Tensor, Failure> {
    let rank = x.rank();
    let transposed = x.transpose(rank - 2, rank - 1)?;
    Ok(if !rows && transposed.is_contiguous() {
        transposed.reshape((count, n, m))?.transpose(1, 2)?
    } else {
        contiguous(x)?.reshape((count, m, n))?
    })
}
