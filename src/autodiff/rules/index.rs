use smallvec::smallvec;

use super::reduce::positions;
use super::{Grads, Output, Reads, Value, Wanted, no_gradient};
use crate::backend::PlainBackend;
use crate::error::Error;
use crate::op::{Arg, HasMeta, IndexOp, ScatterMode};
use crate::raw::Raw;

pub(super) fn differentiable<T: HasMeta>(op: &IndexOp<T>) -> bool {
    match op {
        IndexOp::Gather { .. }
        | IndexOp::Scatter { .. }
        | IndexOp::Select { .. }
        | IndexOp::SelectAssign { .. }
        | IndexOp::Where { .. }
        | IndexOp::SliceAssign { .. } => true,
        IndexOp::ArgSort { .. } | IndexOp::TopK { .. } => false,
    }
}

pub(super) fn reads<T: Wanted>(op: &IndexOp<T>) -> Reads {
    const INDEX: u32 = 0b010;
    const ALL: u32 = 0b111;
    const CONDITION: u32 = 0b001;
    match op {
        IndexOp::Gather { .. } | IndexOp::Select { .. } => Reads::inputs(INDEX),
        IndexOp::Scatter { mode, .. } | IndexOp::SelectAssign { mode, .. } => match mode {
            ScatterMode::Set | ScatterMode::Add => Reads::inputs(INDEX),
            ScatterMode::Mul => Reads::inputs(ALL),
            ScatterMode::Max | ScatterMode::Min => Reads::inputs(ALL).and_output(true),
        },
        IndexOp::Where { .. } => Reads::inputs(CONDITION),
        IndexOp::SliceAssign { .. } | IndexOp::ArgSort { .. } | IndexOp::TopK { .. } => Reads::NONE,
    }
}

pub(super) fn index<B: PlainBackend>(
    op: IndexOp<Value<B>>,
    output: Output<B>,
    grad: Raw<B>,
) -> Result<Grads<B>, Error> {
    match op {
        IndexOp::Gather { x, index, axis } => {
            let zeros = x.zeros(&grad)?;
            let written = Places::each(axis, &index).write(zeros, grad, ScatterMode::Add)?;
            Ok(smallvec![Some(written), None])
        }
        IndexOp::Select { x, index, axis } => {
            let zeros = x.zeros(&grad)?;
            let written = Places::whole(axis, &index).write(zeros, grad, ScatterMode::Add)?;
            Ok(smallvec![Some(written), None])
        }
        IndexOp::Scatter {
            x,
            index,
            src,
            axis,
            mode,
        } => scatter(x, src, Places::each(axis, &index), mode, output, grad),
        IndexOp::SelectAssign {
            x,
            index,
            src,
            axis,
            mode,
        } => scatter(x, src, Places::whole(axis, &index), mode, output, grad),
        IndexOp::Where {
            cond,
            on_true,
            on_false,
        } => {
            let cond = cond.read();
            let mut grads: Grads<B> = smallvec![None];
            if let Arg::Tensor(x) = on_true {
                let chosen = || cond.clone().choose(grad.clone(), 0.0)?.sum_to(&x.meta.shape);
                grads.push(x.grad(chosen)?);
            }
            if let Arg::Tensor(x) = on_false {
                grads.push(x.grad(|| cond.choose(0.0, grad)?.sum_to(&x.meta.shape))?);
            }
            Ok(grads)
        }
        IndexOp::SliceAssign { x, src, ranges } => {
            let rest = || grad.clone().slice_assign(&ranges[..], src.zeros(&grad)?);
            Ok(smallvec![
                x.grad(rest)?,
                src.grad(|| grad.clone().slice(&ranges[..]))?
            ])
        }
        IndexOp::ArgSort { .. } | IndexOp::TopK { .. } => no_gradient(op.name()),
    }
}

/// Where a tensor is read or written: one place per element, or whole slices.
struct Places<B: PlainBackend> {
    index: Raw<B>,
    axis: usize,
    whole: bool,
}

impl<B: PlainBackend> Places<B> {
    fn each(axis: usize, index: &Value<B>) -> Self {
        Places {
            index: index.read(),
            axis,
            whole: false,
        }
    }

    fn whole(axis: usize, index: &Value<B>) -> Self {
        Places {
            whole: true,
            ..Places::each(axis, index)
        }
    }

    fn read(&self, x: Raw<B>) -> Result<Raw<B>, Error> {
        if self.whole {
            x.select(self.axis, self.index.clone())
        } else {
            x.gather(self.axis, self.index.clone())
        }
    }

    fn write(&self, x: Raw<B>, src: Raw<B>, mode: ScatterMode) -> Result<Raw<B>, Error> {
        if self.whole {
            x.select_assign(self.axis, self.index.clone(), src, mode)
        } else {
            x.scatter(self.axis, self.index.clone(), src, mode)
        }
    }
}

fn scatter<B: PlainBackend>(
    x: Value<B>,
    src: Value<B>,
    places: Places<B>,
    mode: ScatterMode,
    output: Output<B>,
    grad: Raw<B>,
) -> Result<Grads<B>, Error> {
    let (for_x, for_src) = match mode {
        ScatterMode::Add => (
            x.grad(|| Ok(grad.clone()))?,
            src.grad(|| places.read(grad.clone()))?,
        ),
        ScatterMode::Set => {
            let rest = || places.write(grad.clone(), src.zeros(&grad)?, ScatterMode::Set);
            // Of several elements that were written to one place, the last stays.
            let written = || {
                let grad = places.read(grad.clone())?;
                let order = positions(&grad, places.axis)?;
                let unwritten = Raw::full(x.meta.shape.clone(), -1, order.dtype(), &order.device())?;
                let last = places.read(places.write(unwritten, order.clone(), ScatterMode::Set)?)?;
                last.equal(order)?.choose(grad, 0.0)
            };
            (x.grad(rest)?, src.grad(written)?)
        }
        // The product of the other factors at the place; where one is 0, not by division.
        ScatterMode::Mul => {
            let is_zero = |x: &Raw<B>| x.clone().equal(0.0);
            let nonzero = |x: &Raw<B>| is_zero(x)?.choose(1.0, x.clone());
            let count = |x: &Raw<B>| is_zero(x)?.cast(grad.dtype());
            let (x_read, src_read) = (x.read(), src.read());
            let zeros = places.write(count(&x_read)?, count(&src_read)?, ScatterMode::Add)?;
            let product = places.write(nonzero(&x_read)?, nonzero(&src_read)?, ScatterMode::Mul)?;
            let others = |factor: &Raw<B>, zeros: Raw<B>, product: Raw<B>| {
                let zeros = zeros.sub(count(factor)?)?;
                zeros.greater(0.0)?.choose(0.0, product.div(nonzero(factor)?)?)
            };
            (
                x.grad(|| grad.clone().mul(others(&x_read, zeros.clone(), product.clone())?))?,
                src.grad(|| {
                    let [grad, zeros, product] = [&grad, &zeros, &product].map(|x| places.read(x.clone()));
                    grad?.mul(others(&src_read, zeros?, product?)?)
                })?,
            )
        }
        // Shared evenly between all that equal the extreme, whether there before or written.
        ScatterMode::Max | ScatterMode::Min => {
            let output = output.read();
            let here = x.read().equal(output.clone())?;
            let there = src.read().equal(places.read(output)?)?;
            let count = places.write(
                here.clone().cast(grad.dtype())?,
                there.clone().cast(grad.dtype())?,
                ScatterMode::Add,
            )?;
            let share = grad.div(count)?;
            (
                x.grad(|| here.choose(share.clone(), 0.0))?,
                src.grad(|| there.choose(places.read(share.clone())?, 0.0))?,
            )
        }
    };
    Ok(smallvec![for_x, None, for_src])
}
