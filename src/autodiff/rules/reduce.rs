use super::{Output, Reads, Value, no_gradient};
use crate::backend::PlainBackend;
use crate::element::DType;
use crate::error::Error;
use crate::op::{PadMode, ReduceOp, ScanOp, ScatterMode};
use crate::raw::Raw;

pub(super) fn differentiable(op: ReduceOp) -> bool {
    match op {
        ReduceOp::Sum | ReduceOp::Mean | ReduceOp::Prod | ReduceOp::Max | ReduceOp::Min => true,
        ReduceOp::ArgMax | ReduceOp::ArgMin | ReduceOp::Any | ReduceOp::All => false,
    }
}

pub(super) fn reads(op: ReduceOp) -> Reads {
    match op {
        ReduceOp::Sum | ReduceOp::Mean => Reads::NONE,
        ReduceOp::Prod => Reads::INPUT,
        ReduceOp::Max | ReduceOp::Min => Reads::INPUT.and_output(true),
        ReduceOp::ArgMax | ReduceOp::ArgMin | ReduceOp::Any | ReduceOp::All => Reads::NONE,
    }
}

pub(super) fn reduce<B: PlainBackend>(
    op: ReduceOp,
    x: Value<B>,
    axes: &[usize],
    y: Output<B>,
    grad: Raw<B>,
) -> Result<Raw<B>, Error> {
    match op {
        ReduceOp::Sum => grad.expand(x.meta.shape),
        ReduceOp::Mean => {
            let count: usize = axes.iter().map(|&axis| x.meta.shape[axis]).product();
            grad.div(count as f64)?.expand(x.meta.shape)
        }
        ReduceOp::Prod => {
            let others = product_of_others(x.read(), axes)?;
            others.mul(grad)
        }
        // Shared evenly where several are the extreme.
        ReduceOp::Max | ReduceOp::Min => {
            let chosen = x.read().equal(y.read())?.cast(x.meta.dtype)?;
            let count = chosen.clone().sum_dims(axes)?;
            chosen.mul(grad.div(count)?)
        }
        ReduceOp::ArgMax | ReduceOp::ArgMin | ReduceOp::Any | ReduceOp::All => no_gradient(op.name()),
    }
}

/// For each element, the product of the others along the axes; not by division, which zeros would break.
fn product_of_others<B: PlainBackend>(x: Raw<B>, axes: &[usize]) -> Result<Raw<B>, Error> {
    // Join the axes into one, the last.
    let rank = x.rank();
    let kept = (0..rank).filter(|axis| !axes.contains(axis));
    let order: Vec<usize> = kept.chain(axes.iter().copied()).collect();
    let shape = x.shape().clone();
    let apart: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
    let (outer, joined) = apart.split_at(rank - axes.len());
    let len: usize = joined.iter().product();
    let rows: usize = outer.iter().product();
    if rows * len == 0 {
        return Ok(x);
    }
    let rows = x.permute(&order)?.reshape([rows, len])?;

    // The product of those before, times that of those after.
    let before = |x: Raw<B>| {
        x.narrow(1, 0, len - 1)?
            .pad([(0, 0), (1, 0)], PadMode::Constant(1.0.into()))?
            .scan(ScanOp::Prod, 1)
    };
    let after = before(rows.clone().flip([1])?)?.flip([1])?;
    let others = before(rows)?.mul(after)?;

    others.reshape(apart)?.permute(inverse(&order))
}

pub(super) fn inverse(order: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; order.len()];
    for (to, &from) in order.iter().enumerate() {
        inverse[from] = to;
    }
    inverse
}

pub(super) fn scan_reads(op: ScanOp) -> Reads {
    match op {
        ScanOp::Sum => Reads::NONE,
        ScanOp::Prod | ScanOp::Max | ScanOp::Min => Reads::INPUT.and_output(true),
    }
}

pub(super) fn scan<B: PlainBackend>(
    op: ScanOp,
    x: Value<B>,
    axis: usize,
    y: Output<B>,
    grad: Raw<B>,
) -> Result<Raw<B>, Error> {
    match op {
        ScanOp::Sum => sum_from_here(grad, axis),
        ScanOp::Prod => running_product(x.read(), y.read(), axis, grad),
        // To the latest element that set the extreme; a NaN is one, as every result after it.
        ScanOp::Max | ScanOp::Min => {
            let zeros = x.zeros(&grad)?;
            let x = x.read();
            let sets = x.clone().equal(y.read())?.bool_or(x.is_nan()?)?;
            let place = sets
                .choose(positions(&zeros, axis)?, 0)?
                .scan(ScanOp::Max, axis)?;
            zeros.scatter(axis, place, grad, ScatterMode::Add)
        }
    }
}

/// `y` is the running product of `x`. Up to the first zero, `Σ g y / x` over what follows; at the first zero, the same
/// with that element left out; after it, 0.
fn running_product<B: PlainBackend>(
    x: Raw<B>,
    y: Raw<B>,
    axis: usize,
    grad: Raw<B>,
) -> Result<Raw<B>, Error> {
    let zero = x.clone().equal(0.0)?;
    let zeros = zero.clone().cast(DType::I32)?.cumsum(axis)?;
    let first = zero.bool_and(zeros.clone().equal(1)?)?;
    let without = first.clone().choose(1.0, x.clone())?.cumprod(axis)?;
    let at_first = sum_from_here(grad.clone().mul(without)?, axis)?;
    let before = sum_from_here(grad.mul(y)?, axis)?.div(x)?;
    let until_first = zeros.greater(0)?.choose(0.0, before)?;
    first.choose(at_first, until_first)
}

/// For each place, the sum from there to the end of the axis.
fn sum_from_here<B: PlainBackend>(x: Raw<B>, axis: usize) -> Result<Raw<B>, Error> {
    x.flip([axis])?.cumsum(axis)?.flip([axis])
}

/// `0, 1, …` along an axis, in the shape of `x`.
pub(super) fn positions<B: PlainBackend>(x: &Raw<B>, axis: usize) -> Result<Raw<B>, Error> {
    x.positions(axis)?.expand(x.shape().clone())
}
