//! Reductions. The reduced axes are laid out as rows, over which `candle` is fastest and most accurate.

use candle_core::{DType as Stored, Tensor};

use super::elementwise::is_nan;
use super::linear::widened;
use super::storage::{CandleTensor, contiguous};
use super::{Native, integer, native};
use crate::backend::failure::Failure;
use crate::op::{HasMeta, Meta, ReduceOp, ScanOp};

pub(super) fn reduce(op: ReduceOp, x: &CandleTensor, axes: &[usize], meta: &Meta) -> Native {
    let rows = rows(x, axes)?;
    let reduced = match op {
        ReduceOp::Sum if x.dtype().is_int() => integer::sum(&rows)?,
        ReduceOp::Sum => widened(&rows)?.sum_keepdim(1)?.to_dtype(rows.dtype())?,
        ReduceOp::Mean => {
            let count = rows.dims()[1] as f64;
            let sum = widened(&rows)?.sum_keepdim(1)?;
            let count = Tensor::new(count, sum.device())?.to_dtype(sum.dtype())?;
            sum.broadcast_div(&count)?.to_dtype(rows.dtype())?
        }
        ReduceOp::Max | ReduceOp::Any => keep_nan(&rows, rows.max_keepdim(1)?)?,
        ReduceOp::Min | ReduceOp::All => keep_nan(&rows, rows.min_keepdim(1)?)?,
        ReduceOp::ArgMax => first_nan(&rows, rows.argmax_keepdim(1)?)?.to_dtype(Stored::I32)?,
        ReduceOp::ArgMin => first_nan(&rows, rows.argmin_keepdim(1)?)?.to_dtype(Stored::I32)?,
        ReduceOp::Prod => return Ok(None),
    };
    native(reduced.reshape(&meta.shape[..]))
}

/// The running sum of `candle` is a product with a triangular matrix, in which 0 times NaN or an infinity is NaN: one
/// such element would be in the sums before it.
pub(super) fn scan(op: ScanOp) -> Native {
    match op {
        ScanOp::Sum | ScanOp::Prod | ScanOp::Max | ScanOp::Min => Ok(None),
    }
}

/// A matrix whose rows are what is reduced.
fn rows(x: &CandleTensor, axes: &[usize]) -> Result<Tensor, Failure> {
    let shape = x.shape();
    let kept = (0..shape.rank()).filter(|axis| !axes.contains(axis));
    let order: Vec<usize> = kept.chain(axes.iter().copied()).collect();
    let width = axes.iter().map(|&axis| shape[axis]).product::<usize>();
    let x = contiguous(&x.tensor().permute(&order[..])?)?;
    Ok(x.reshape((shape.num_elements() / width, width))?)
}

/// The extremes of rows, where a NaN is one: `candle` passes over those that do not come first.
fn keep_nan(rows: &Tensor, extremes: Tensor) -> candle_core::Result<Tensor> {
    if !rows.dtype().is_float() {
        return Ok(extremes);
    }
    let nan = Tensor::new(f32::NAN, rows.device())?.to_dtype(rows.dtype())?;
    let any = is_nan(rows)?.max_keepdim(1)?;
    any.where_cond(&nan.broadcast_as(extremes.shape())?, &extremes)
}

/// The places of the extremes of rows, or of their first NaN.
fn first_nan(rows: &Tensor, places: Tensor) -> candle_core::Result<Tensor> {
    if !rows.dtype().is_float() {
        return Ok(places);
    }
    let nan = is_nan(rows)?;
    nan.max_keepdim(1)?.where_cond(&nan.argmax_keepdim(1)?, &places)
}
