//! Reading, writing and finding by index.

use tch::{Kind, Tensor};

use super::elementwise::{choose, copied, made};
use super::failure::Outcome;
use super::movement::slice_assign;
use super::storage::{LibTorchTensor, sizes};
use crate::error::Error;
use crate::op::{HasMeta, IndexOp, Meta, ScatterMode};

pub(super) fn index(op: IndexOp<LibTorchTensor>, meta: &Meta) -> Outcome<LibTorchTensor> {
    let name = op.name();
    let places =
        |index: &LibTorchTensor, x: &LibTorchTensor, axis| places(name, index, axis, x.shape()[axis]);
    match op {
        IndexOp::Gather { x, index, axis } => {
            let places = places(&index, &x, axis)?;
            made(x.tensor().f_gather(axis as i64, &places, false)?, &x, meta)
        }
        IndexOp::Select { x, index, axis } => {
            let places = places(&index, &x, axis)?;
            made(x.tensor().f_index_select(axis as i64, &places)?, &x, meta)
        }
        IndexOp::Scatter {
            x,
            index,
            src,
            axis,
            mode,
        } => {
            let places = places(&index, &x, axis)?;
            write(x, &places, src.tensor(), axis, mode)
        }
        IndexOp::SelectAssign {
            x,
            index,
            src,
            axis,
            mode,
        } => {
            // The same place along the axis for every element of a slice across it.
            let mut line = vec![1; x.shape().rank()];
            line[axis] = -1;
            let places = places(&index, &x, axis)?.f_reshape(&line[..])?;
            let places = places.f_expand(&sizes(src.shape())[..], false)?;
            write(x, &places, src.tensor(), axis, mode)
        }
        IndexOp::Where {
            cond,
            on_true,
            on_false,
        } => choose(&cond, on_true, on_false, meta),
        IndexOp::SliceAssign { x, src, ranges } => slice_assign(x, &src, &ranges),
        IndexOp::ArgSort { x, axis, descending } => order(&x, axis, descending, meta),
        IndexOp::TopK { x, axis, largest, .. } => order(&x, axis, largest, meta),
    }
}

/// An index as libtorch takes it.
///
/// # Errors
/// If an element is outside the axis: libtorch counts negative ones from the end, and does not look on a GPU.
pub(super) fn places(op: &'static str, index: &LibTorchTensor, axis: usize, size: usize) -> Outcome<Tensor> {
    let places = index.tensor().f_totype(Kind::Int64)?;
    if !index.is_empty() {
        let (least, greatest) = places.f_aminmax(None, false)?;
        let (least, greatest) = (least.f_int64_value(&[])?, greatest.f_int64_value(&[])?);
        let outside = if least < 0 { least } else { greatest };
        if outside < 0 || outside >= size as i64 {
            return Err(Error::Index {
                op: op.into(),
                index: outside,
                axis,
                size,
            }
            .into());
        }
    }
    Ok(places)
}

/// Writes each element of `src` to its place along the axis, one after another.
fn write(
    mut x: LibTorchTensor,
    places: &Tensor,
    src: &Tensor,
    axis: usize,
    mode: ScatterMode,
) -> Outcome<LibTorchTensor> {
    let last;
    let src = if mode == ScatterMode::Set && !x.device().is_cpu() {
        last = last_written(&x, places, src, axis as i64)?;
        &last
    } else {
        src
    };
    if let Some(t) = x.writable() {
        write_to(t, places, src, axis as i64, mode)?;
        return Ok(x);
    }
    let mut copy = copied(x.tensor(), x.dtype())?;
    write_to(&mut copy, places, src, axis as i64, mode)?;
    let meta = x.meta();
    made(copy, &x, &meta)
}

fn write_to(t: &mut Tensor, places: &Tensor, src: &Tensor, axis: i64, mode: ScatterMode) -> Outcome<()> {
    let _ = match mode {
        ScatterMode::Set => t.f_scatter_(axis, places, src)?,
        ScatterMode::Add => t.f_scatter_add_(axis, places, src)?,
        ScatterMode::Mul => t.f_internal_scatter_reduce_(axis, places, src, "prod", true)?,
        ScatterMode::Max => t.f_internal_scatter_reduce_(axis, places, src, "amax", true)?,
        ScatterMode::Min => t.f_internal_scatter_reduce_(axis, places, src, "amin", true)?,
    };
    Ok(())
}

/// What is written to a place last, in every place of `src` that writes there: in whichever order a GPU writes them, that
/// stays.
fn last_written(x: &LibTorchTensor, places: &Tensor, src: &Tensor, axis: i64) -> Outcome<Tensor> {
    let options = (Kind::Int64, x.device().place());
    let mut line = vec![1; x.shape().rank()];
    line[axis as usize] = -1;
    let turns = Tensor::f_arange(src.size()[axis as usize], options)?.f_reshape(&line[..])?;
    let turns = turns.f_expand(src.size(), false)?;
    let last = Tensor::f_full(&sizes(x.shape())[..], -1, options)?;
    let last = last.f_internal_scatter_reduce(axis, places, &turns, "amax", true)?;
    Ok(src.f_gather(axis, &last.f_gather(axis, places, false)?, false)?)
}

/// The places of the elements along an axis in order, as many of them as the result has.
fn order(x: &LibTorchTensor, axis: usize, descending: bool, meta: &Meta) -> Outcome<LibTorchTensor> {
    let (axis, len) = (axis as i64, meta.shape[axis] as i64);
    let places = x.tensor().f_argsort_stable(true, axis, descending)?;
    made(places.f_narrow(axis, 0, len)?.f_totype(Kind::Int)?, x, meta)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Readable;
    use crate::data::TensorData;
    use crate::{LibTorch, LibTorchDevice};

    /// The way of a GPU, whose order of writing is not known, on the CPU, which writes backwards here.
    #[test]
    fn in_any_order_the_last_written_stays() -> Result<(), Box<dyn std::error::Error>> {
        let of = |values: Vec<i64>, shape: [usize; 2]| {
            LibTorchTensor::from_data(
                TensorData::new(values, shape).unwrap(),
                &LibTorchDevice::default(),
            )
            .unwrap()
        };
        let x = of(vec![0; 8], [2, 4]);
        let index = of(vec![2, 2, 0, 2, 1, 1, 1, 3], [2, 4]);
        let src = of((1..=8).collect(), [2, 4]);
        let places = places("scatter", &index, 1, 4).unwrap();
        let last = last_written(&x, &places, src.tensor(), 1).unwrap();
        let written = x
            .tensor()
            .f_scatter(1, &places.f_flip([1])?, &last.f_flip([1])?)?;
        let written = LibTorchTensor::new(written, &x.meta(), x.device());
        let values = LibTorch::into_data(written)?.into_vec::<i64>()?;
        assert_eq!(values, [3, 0, 4, 0, 0, 7, 0, 8]);
        Ok(())
    }
}
