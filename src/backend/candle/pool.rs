//! Means of windows over one or two axes.

use candle_core::Tensor;

use super::conv::padded;
use super::linear::widened;
use super::storage::{CandleTensor, contiguous};
use super::{Native, native};
use crate::backend::failure::Failure;
use crate::op::{HasMeta, Meta, PoolOp, PoolOptions};

pub(super) fn pool(op: &PoolOp, x: &CandleTensor, meta: &Meta) -> Native {
    match op {
        PoolOp::Avg(options) => average(options, x, meta),
        PoolOp::MaxIndices(_) | PoolOp::AvgGrad(..) => Ok(None),
    }
}

fn average(options: &PoolOptions, x: &CandleTensor, meta: &Meta) -> Native {
    if x.shape().rank() > 4 || options.dilation.iter().any(|&step| step != 1) {
        return Ok(None);
    }
    let wide = contiguous(&widened(x.tensor())?)?;
    let Some(values) = padded(&wide, &options.padding)? else {
        return Ok(None);
    };
    let mut means = windows(&values, options)?;
    if !options.count_include_pad {
        // The share of each window that is no padding.
        let one = wide.narrow(0, 0, 1)?.narrow(1, 0, 1)?.ones_like()?;
        if let Some(counts) = padded(&one, &options.padding)? {
            means = means.broadcast_div(&windows(&counts, options)?)?;
        }
    }
    native(means.reshape(&meta.shape[..])?.to_dtype(x.tensor().dtype()))
}

/// The means of all windows, of two axes for `candle`.
fn windows(x: &Tensor, options: &PoolOptions) -> Result<Tensor, Failure> {
    let pair = |sizes: &[usize]| match *sizes {
        [width] => (1, width),
        _ => (sizes[0], sizes[1]),
    };
    let x = if x.rank() == 3 { x.unsqueeze(2)? } else { x.clone() };
    Ok(x.avg_pool2d_with_stride(pair(&options.kernel), pair(&options.stride))?)
}
