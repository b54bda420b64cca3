//! Integer arithmetic that wraps. That of `candle` panics on overflow wherever overflow checks are on, as in the debug
//! build of a program; so on the CPU its extension point for kernels, [`CustomOp2`], takes its place.

use candle_core::cpu_backend::binary_map;
use candle_core::{CpuStorage, CustomOp1, CustomOp2, Layout, Result, Shape, Tensor, bail};
use num_traits::{CheckedDiv, WrappingAdd, WrappingMul, WrappingSub, Zero};

use crate::backend::failure::Failure;
use crate::op::BinaryOp;

/// Addition, subtraction, multiplication or division of integers, where no divisor is 0.
pub(super) fn wrapping(op: BinaryOp, a: &Tensor, b: &Tensor) -> std::result::Result<Tensor, Failure> {
    if a.device().is_cpu() {
        return Ok(a.apply_op2_no_bwd(b, &Wrapping(op))?);
    }
    Ok(match op {
        BinaryOp::Add => a.add(b)?,
        BinaryOp::Sub => a.sub(b)?,
        BinaryOp::Mul => a.mul(b)?,
        _ => a.div(b)?,
    })
}

/// The sum over the last axis, which stays with size 1.
pub(super) fn sum(x: &Tensor) -> std::result::Result<Tensor, Failure> {
    Ok(if x.device().is_cpu() {
        x.apply_op1_no_bwd(&WrappingSum)?
    } else {
        x.sum_keepdim(x.rank() - 1)?
    })
}

/// Whether any element is 0.
pub(super) fn has_zero(x: &Tensor) -> std::result::Result<bool, Failure> {
    Ok(x.eq(0u8)?.max_all()?.to_scalar::<u8>()? != 0)
}

struct Wrapping(BinaryOp);

struct WrappingSum;

/// Calls a generic function on the slice or slices of one integer type.
macro_rules! for_integers {
    ($op:expr, $storage:expr, ($($x:ident,)*) => $call:expr) => {
        match $storage {
            ($(CpuStorage::U8($x),)*) => CpuStorage::U8($call),
            ($(CpuStorage::U32($x),)*) => CpuStorage::U32($call),
            ($(CpuStorage::I16($x),)*) => CpuStorage::I16($call),
            ($(CpuStorage::I32($x),)*) => CpuStorage::I32($call),
            ($(CpuStorage::I64($x),)*) => CpuStorage::I64($call),
            _ => bail!("{} takes integers of one type", $op.name()),
        }
    };
}

impl CustomOp2 for Wrapping {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn cpu_fwd(
        &self,
        a: &CpuStorage,
        a_layout: &Layout,
        b: &CpuStorage,
        b_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let values = for_integers!(self, (a, b), (a, b,) => calculate(self.0, a, a_layout, b, b_layout));
        Ok((values, a_layout.shape().clone()))
    }
}

impl CustomOp1 for WrappingSum {
    fn name(&self) -> &'static str {
        "sum"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let mut shape = layout.dims().to_vec();
        let width = shape.pop().unwrap_or(1);
        shape.push(1);
        let Some((start, end)) = layout.contiguous_offsets() else {
            bail!("the rows to sum are in no order");
        };
        let values = for_integers!(self, (x,), (x,) => sums(&x[start..end], width));
        Ok((values, shape.into()))
    }
}

fn calculate<T>(op: BinaryOp, a: &[T], a_layout: &Layout, b: &[T], b_layout: &Layout) -> Vec<T>
where
    T: Copy + WrappingAdd + WrappingSub + WrappingMul + CheckedDiv,
{
    match op {
        BinaryOp::Add => binary_map(a_layout, b_layout, a, b, |a, b| a.wrapping_add(&b)),
        BinaryOp::Sub => binary_map(a_layout, b_layout, a, b, |a, b| a.wrapping_sub(&b)),
        BinaryOp::Mul => binary_map(a_layout, b_layout, a, b, |a, b| a.wrapping_mul(&b)),
        // Only the least integer divided by -1 overflows, and wraps to itself.
        _ => binary_map(a_layout, b_layout, a, b, |a, b| a.checked_div(&b).unwrap_or(a)),
    }
}

fn sums<T: Copy + WrappingAdd + Zero>(x: &[T], width: usize) -> Vec<T> {
    let row_sum = |row: &[T]| row.iter().fold(T::zero(), |sum, x| sum.wrapping_add(x));
    x.chunks(width).map(row_sum).collect()
}
