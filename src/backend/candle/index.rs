//! Reading, writing and finding by index. What `candle` takes for indices is cast to `i64`; an index outside its axis is
//! left to the host, which says which it is.

use candle_core::{DType as Stored, Tensor};

use super::elementwise::{choose, is_nan};
use super::movement::{places, slice};
use super::storage::{CandleTensor, contiguous, has_room};
use super::{Native, native};
use crate::backend::failure::Failure;
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
            let Some(places) = checked(index, x.shape()[*axis])? else {
                return Ok(None);
            };
            // `candle` writes to all of the other axes: it is given as much of them as the index has.
            let reached = index.shape().clone().with(*axis, x.shape()[*axis]);
            if reached == *x.shape() {
                return write(x.tensor(), &places, src, *axis, *mode);
            }
            let ranges: Vec<_> = reached.iter().map(|&size| SliceRange::new(0, size)).collect();
            match write(&slice(x.tensor(), &ranges)?, &places, src, *axis, *mode)? {
                Some(part) => native(Ok(assign(x, &part, &ranges)?)),
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
                write(x.tensor(), &contiguous(&places)?, src, *axis, *mode)
            }
            None => Ok(None),
        },
        IndexOp::Where {
            cond,
            on_true,
            on_false,
        } => choose(cond, on_true, on_false, meta),
        IndexOp::SliceAssign { x, src, ranges } => native(Ok(assign(x, src.tensor(), ranges)?)),
        IndexOp::ArgSort { x, axis, descending } => {
            native(order(x, *axis, *descending)?.to_dtype(Stored::I32))
        }
        IndexOp::TopK { x, axis, k, largest } => native(
            order(x, *axis, *largest)?
                .narrow(*axis, 0, *k)?
                .to_dtype(Stored::I32),
        ),
    }
}

/// The indices, if each is within an axis of this size.
fn checked(index: &CandleTensor, size: usize) -> Result<Option<Tensor>, Failure> {
    has_room(index.shape(), Stored::I64)?;
    let places = contiguous(&index.tensor().to_dtype(Stored::I64)?)?;
    let least = places.min_all()?.to_scalar::<i64>()?;
    let greatest = places.max_all()?.to_scalar::<i64>()?;
    let within = least >= 0 && (greatest as u64) < size as u64;
    Ok(within.then_some(places))
}

fn write(x: &Tensor, places: &Tensor, src: &CandleTensor, axis: usize, mode: ScatterMode) -> Native {
    let source = contiguous(src.tensor())?;
    match mode {
        ScatterMode::Set => native(x.scatter(places, &source, axis)),
        ScatterMode::Add => match x.dtype() {
            // `candle` adds integers with overflow checks, where they are on. The sums of others fit into `i64`.
            Stored::I64 => Ok(None),
            dtype if dtype.is_int() => {
                let wide = x.to_dtype(Stored::I64)?;
                let sums = wide.scatter_add(places, &source.to_dtype(Stored::I64)?, axis)?;
                native(sums.to_dtype(dtype))
            }
            _ => native(x.scatter_add(places, &source, axis)),
        },
        ScatterMode::Mul | ScatterMode::Max | ScatterMode::Min => Ok(None),
    }
}

/// Writes to the places of the slice in a line of all elements.
fn assign(x: &CandleTensor, src: &Tensor, ranges: &[SliceRange]) -> Result<Tensor, Failure> {
    let (shape, count) = (x.shape(), x.shape().num_elements());
    has_room(src.dims(), Stored::I64)?;
    let mut taken = vec![0i64];
    for (range, &size) in ranges.iter().zip(shape.iter()) {
        let next = |&start: &i64| places(range).map(move |place| start * size as i64 + place as i64);
        taken = taken.iter().flat_map(next).collect();
    }
    let len = taken.len();
    let taken = Tensor::from_vec(taken, len, x.device().inner())?;
    let line = contiguous(x.tensor())?.reshape(count)?;
    let source = contiguous(src)?.reshape(len)?;
    Ok(line.scatter(&taken, &source, 0)?.reshape(&shape[..])?)
}

/// The stable order along an axis, in which a NaN is greater than all else. To `candle` it is neither less nor greater than
/// any number, which is no order: NaN are sorted as zeros, and then all once more, by what is NaN.
fn order(x: &CandleTensor, axis: usize, descending: bool) -> Result<Tensor, Failure> {
    let last = x.shape().rank() - 1;
    let turned = contiguous(&x.tensor().transpose(axis, last)?)?;
    let rows = turned.reshape(((), turned.dims()[last]))?;
    let sorted = |rows: &Tensor| rows.arg_sort_last_dim(!descending);
    let order = if x.dtype().is_float() {
        let nan = is_nan(&rows)?;
        if nan.max_all()?.to_scalar::<u8>()? == 0 {
            sorted(&rows)?
        } else {
            let order = sorted(&nan.where_cond(&rows.zeros_like()?, &rows)?)?;
            order.gather(&sorted(&nan.gather(&order, 1)?)?, 1)?
        }
    } else {
        sorted(&rows)?
    };
    Ok(order.reshape(turned.dims())?.transpose(axis, last)?)
}
