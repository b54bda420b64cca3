//! Reading, writing and finding by index. What `candle` takes for indices is cast to `i64`; an index outside its axis is
//! left to the host, which says which it is.

use candle_core::{DType as Stored, Tensor};

use super::elementwise::{choose, is_nan};
use super::movement::places;
use super::storage::{CandleTensor, Failure, contiguous, has_room};
use super::{Native, native};
use crate::op::{HasMeta, IndexOp, Meta, ScatterMode, SliceRange};

pub(super) fn index(op: &IndexOp<CandleTensor>, meta: &Meta) -> Native {
    match op {
        IndexOp::Gather { x, index, axis } => {
            let Some(places) = checked(index, x.shape()[*axis])? else {
                return Ok(None);
            };
            // Of the other axes, `candle` needs as much as the index has.
            let mut part = x.tensor().clone();
            for (other, &size) in index.shape().iter().enumerate() {
                if other != *axis {
                    part = part.narrow(other, 0, size)?;
                }
            }
            native(contiguous(&part)?.gather(&places, *axis))
        }
        IndexOp::Select { x, index, axis } => match checked(index, x.shape()[*axis])? {
            Some(places) => native(contiguous(x.tensor())?.index_select(&places, *axis)),
            None => Ok(None),
        },
        IndexOp::Scatter {
            x,
            index,
            src,
            axis,
            mode,
        } => {
            // An index of fewer elements along another axis than there are is nothing that `candle` takes.
            if x.shape().clone().with(*axis, 0) != index.shape().clone().with(*axis, 0) {
                return Ok(None);
            }
            match checked(index, x.shape()[*axis])? {
                Some(places) => write(x, &places, src, *axis, *mode),
                None => Ok(None),
            }
        }
        IndexOp::SelectAssign {
            x,
            index,
            src,
            axis,
            mode,
        } => match checked(index, x.shape()[*axis])? {
            Some(places) => {
                let mut line = vec![1; x.shape().rank()];
                line[*axis] = index.shape()[0];
                let places = places.reshape(line)?.broadcast_as(&src.shape()[..])?;
                write(x, &contiguous(&places)?, src, *axis, *mode)
            }
            None => Ok(None),
        },
        IndexOp::Where {
            cond,
            on_true,
            on_false,
        } => choose(cond, on_true, on_false, meta),
        IndexOp::SliceAssign { x, src, ranges } => native(Ok(assign(x, src, ranges)?)),
        IndexOp::ArgSort { x, axis, descending } => match sorted(x, *axis, *descending)? {
            Some(order) => native(order.to_dtype(Stored::I32)),
            None => Ok(None),
        },
        IndexOp::TopK { x, axis, k, largest } => match sorted(x, *axis, *largest)? {
            Some(order) => native(order.narrow(*axis, 0, *k)?.to_dtype(Stored::I32)),
            None => Ok(None),
        },
    }
}

/// The indices, if each is within an axis of this size.
fn checked(index: &CandleTensor, size: usize) -> Result<Option<Tensor>, Failure> {
    has_room(index.shape())?;
    let places = contiguous(&index.tensor().to_dtype(Stored::I64)?)?;
    let least = places.min_all()?.to_scalar::<i64>()?;
    let greatest = places.max_all()?.to_scalar::<i64>()?;
    let within = least >= 0 && (greatest as u64) < size as u64;
    Ok(within.then_some(places))
}

fn write(x: &CandleTensor, places: &Tensor, src: &CandleTensor, axis: usize, mode: ScatterMode) -> Native {
    let source = contiguous(src.tensor())?;
    match mode {
        ScatterMode::Set => native(x.tensor().scatter(places, &source, axis)),
        // `candle` adds integers with overflow checks, where they are on.
        ScatterMode::Add if x.dtype().is_float() => native(x.tensor().scatter_add(places, &source, axis)),
        ScatterMode::Add | ScatterMode::Mul | ScatterMode::Max | ScatterMode::Min => Ok(None),
    }
}

/// Writes to the places of the slice in a line of all elements.
fn assign(x: &CandleTensor, src: &CandleTensor, ranges: &[SliceRange]) -> Result<Tensor, Failure> {
    let (shape, count) = (x.shape(), x.shape().num_elements());
    has_room(src.shape())?;
    let mut taken = vec![0i64];
    for (range, &size) in ranges.iter().zip(shape.iter()) {
        let next = |&start: &i64| places(range).map(move |place| start * size as i64 + place as i64);
        taken = taken.iter().flat_map(next).collect();
    }
    let len = taken.len();
    let taken = Tensor::from_vec(taken, len, x.device().inner())?;
    let line = contiguous(x.tensor())?.reshape(count)?;
    let source = contiguous(src.tensor())?.reshape(len)?;
    Ok(line.scatter(&taken, &source, 0)?.reshape(&shape[..])?)
}

/// The stable order along an axis. `candle` has none for rows with NaN.
fn sorted(x: &CandleTensor, axis: usize, descending: bool) -> Result<Option<Tensor>, Failure> {
    let tensor = x.tensor();
    if x.dtype().is_float()
        && is_nan(&contiguous(tensor)?.flatten_all()?)?
            .max_all()?
            .to_scalar::<u8>()?
            != 0
    {
        return Ok(None);
    }
    let last = tensor.rank() - 1;
    let rows = contiguous(&tensor.transpose(axis, last)?)?;
    Ok(Some(rows.arg_sort_last_dim(!descending)?.transpose(axis, last)?))
}
