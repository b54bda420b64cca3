use smallvec::smallvec;

use super::{Grads, Reads, Value, Wanted, no_gradient};
use crate::backend::PlainBackend;
use crate::error::Error;
use crate::op::{ConvOp, HasMeta, Meta, PoolOp};
use crate::raw::Raw;
use crate::shape::Dims;

pub(super) fn matmul<B: PlainBackend>(a: Value<B>, b: Value<B>, grad: Raw<B>) -> Result<Grads<B>, Error> {
    let for_a = a.grad(|| {
        let b = b.read().transpose()?;
        grad.clone().matmul(b)?.sum_to(&a.meta.shape)
    })?;
    let for_b = b.grad(|| {
        let a = a.read();
        let rank = a.rank();
        if rank > 2 && b.meta.shape[..rank - 2].iter().all(|&size| size == 1) {
            // One matrix for the whole batch: a single product instead of one for each, to be summed.
            let a = joined_rows(a)?.transpose()?;
            a.matmul(joined_rows(grad.clone())?)?
                .reshape(b.meta.shape.clone())
        } else {
            a.transpose()?.matmul(grad.clone())?.sum_to(&b.meta.shape)
        }
    })?;
    Ok(smallvec![for_a, for_b])
}

fn joined_rows<B: PlainBackend>(x: Raw<B>) -> Result<Raw<B>, Error> {
    let (&columns, rows) = x.shape().split_last().expect("a matrix has axes");
    let rows = rows.iter().product();
    x.reshape([rows, columns])
}

/// Each of the three is linear in either operand: the gradient of one reads the other.
pub(super) fn conv_reads<T: Wanted>(op: &ConvOp<T>) -> Reads {
    let (ConvOp::Forward { x, weight: y, .. }
    | ConvOp::Transpose { x, weight: y, .. }
    | ConvOp::WeightGrad { x, grad: y, .. }) = op;
    Reads::two(y.wanted(), x.wanted())
}

/// The three convolutions are one trilinear form `⟨forward(x, w), g⟩ = ⟨x, transpose(g, w)⟩ = ⟨w, weight_grad(x, g)⟩`,
/// each with one of `x`, `w` and `g` left out: the gradient of one in an operand is another.
pub(super) fn conv<B: PlainBackend>(op: ConvOp<Value<B>>, grad: Raw<B>) -> Result<Grads<B>, Error> {
    Ok(match op {
        ConvOp::Forward { x, weight, options } => smallvec![
            x.grad(|| {
                grad.clone()
                    .conv_transpose_to(weight.read(), options.clone(), spatial(&x.meta))
            })?,
            weight.grad(|| {
                x.read()
                    .conv_weight_grad(grad.clone(), options.clone(), spatial(&weight.meta))
            })?,
        ],
        ConvOp::Transpose {
            x, weight, options, ..
        } => smallvec![
            x.grad(|| grad.clone().conv(weight.read(), None, options.clone()))?,
            weight.grad(|| {
                grad.clone()
                    .conv_weight_grad(x.read(), options.clone(), spatial(&weight.meta))
            })?,
        ],
        ConvOp::WeightGrad {
            x, grad: g, options, ..
        } => smallvec![
            x.grad(|| {
                g.read()
                    .conv_transpose_to(grad.clone(), options.clone(), spatial(&x.meta))
            })?,
            g.grad(|| x.read().conv(grad.clone(), None, options.clone()))?,
        ],
    })
}

pub(super) fn pool_differentiable(op: &PoolOp) -> bool {
    match op {
        PoolOp::MaxIndices(_) => false,
        PoolOp::Avg(_) | PoolOp::AvgGrad(..) => true,
    }
}

pub(super) fn pool<B: PlainBackend>(op: PoolOp, x: Value<B>, grad: Raw<B>) -> Result<Raw<B>, Error> {
    match op {
        PoolOp::Avg(options) => grad.pool(PoolOp::AvgGrad(options, spatial(&x.meta))),
        PoolOp::AvgGrad(options, _) => grad.pool(PoolOp::Avg(options)),
        PoolOp::MaxIndices(_) => no_gradient(op.name()),
    }
}

fn spatial(meta: &Meta) -> Dims {
    Dims::from_slice(&meta.shape()[2..])
}
