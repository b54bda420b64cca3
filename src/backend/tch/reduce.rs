//! Reductions and scans.

use tch::{Kind, Tensor};

use super::elementwise::made;
use super::failure::Outcome;
use super::storage::{LibTorchTensor, kind, sizes};
use crate::op::{HasMeta, Meta, ReduceOp, ScanOp};

pub(super) fn reduce(
    op: ReduceOp,
    x: LibTorchTensor,
    axes: &[usize],
    meta: &Meta,
) -> Outcome<LibTorchTensor> {
    if axes.is_empty() {
        // All axes, for libtorch.
        return Ok(x);
    }
    let own = kind(x.dtype())?;
    // The sum of halves may overflow where their mean does not, and their products are rounded at each step.
    let wide = kind(x.dtype().widened())?;
    let dims = &sizes(axes)[..];
    let t = x.tensor();
    let y = match op {
        ReduceOp::Sum => t.f_sum_dim_intlist(dims, true, own)?,
        ReduceOp::Mean => t.f_mean_dim(dims, true, wide)?.f_totype(own)?,
        ReduceOp::Prod => {
            let mut product = t.f_prod_dim_int(dims[0], true, wide)?;
            for &dim in &dims[1..] {
                product = product.f_prod_dim_int(dim, true, wide)?;
            }
            product.f_totype(own)?
        }
        ReduceOp::Max => t.f_amax(dims, true)?,
        ReduceOp::Min => t.f_amin(dims, true)?,
        ReduceOp::ArgMax => t.f_argmax(dims[0], true)?.f_totype(Kind::Int)?,
        ReduceOp::ArgMin => t.f_argmin(dims[0], true)?.f_totype(Kind::Int)?,
        ReduceOp::Any => t.f_any_dims(dims, true)?,
        ReduceOp::All => t.f_all_dims(dims, true)?,
    };
    made(y, &x, meta)
}

pub(super) fn scan(op: ScanOp, x: LibTorchTensor, axis: usize) -> Outcome<LibTorchTensor> {
    let own = kind(x.dtype())?;
    let axis = axis as i64;
    let t = x.tensor();
    let y: Tensor = match op {
        ScanOp::Sum => t.f_cumsum(axis, own)?,
        ScanOp::Prod => t.f_cumprod(axis, own)?,
        ScanOp::Max => t.f_cummax(axis)?.0,
        ScanOp::Min => t.f_cummin(axis)?.0,
    };
    let meta = x.meta();
    made(y, &x, &meta)
}
