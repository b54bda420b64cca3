//! Reductions and scans.

mod arg;
mod fold;
mod rule;
mod scan;
#[cfg(test)]
mod tests;

use super::storage::FlexTensor;
use crate::element::DType;
use crate::op::{HasMeta, Meta, ReduceOp};
use crate::{bf16, f16};
use fold::{Direct, Fold, fold};
use rule::{All, Any, Halved, Max, Mean, Min, Prod, Sum};
pub(super) use scan::scan;

pub(super) fn reduce(op: ReduceOp, x: FlexTensor, axes: &[usize], meta: &Meta) -> FlexTensor {
    if axes.is_empty() {
        return x;
    }
    macro_rules! float {
        ($T:ty) => {
            match op {
                ReduceOp::Sum => fold(&Direct(Sum) as &dyn Fold<$T, _, _>, x, axes, meta),
                ReduceOp::Mean => fold(&Direct(Mean) as &dyn Fold<$T, _, _>, x, axes, meta),
                ReduceOp::Prod => fold(&Direct(Prod) as &dyn Fold<$T, _, _>, x, axes, meta),
                ReduceOp::Max => fold(&Direct(Max) as &dyn Fold<$T, _, _>, x, axes, meta),
                ReduceOp::Min => fold(&Direct(Min) as &dyn Fold<$T, _, _>, x, axes, meta),
                ReduceOp::ArgMax | ReduceOp::ArgMin => arg::arg::<$T>(op, x, axes[0], meta),
                ReduceOp::Any | ReduceOp::All => refused(op),
            }
        };
    }
    macro_rules! half {
        ($T:ty) => {
            match op {
                ReduceOp::Sum => fold(&Halved(Direct(Sum)) as &dyn Fold<$T, _, _>, x, axes, meta),
                ReduceOp::Mean => fold(&Halved(Direct(Mean)) as &dyn Fold<$T, _, _>, x, axes, meta),
                ReduceOp::Prod => fold(&Halved(Direct(Prod)) as &dyn Fold<$T, _, _>, x, axes, meta),
                ReduceOp::Max => fold(&Halved(Direct(Max)) as &dyn Fold<$T, _, _>, x, axes, meta),
                ReduceOp::Min => fold(&Halved(Direct(Min)) as &dyn Fold<$T, _, _>, x, axes, meta),
                ReduceOp::ArgMax | ReduceOp::ArgMin => arg::arg::<$T>(op, x, axes[0], meta),
                ReduceOp::Any | ReduceOp::All => refused(op),
            }
        };
    }
    macro_rules! int {
        ($T:ty) => {
            match op {
                ReduceOp::Sum => fold(&Direct(Sum) as &dyn Fold<$T, _, _>, x, axes, meta),
                ReduceOp::Prod => fold(&Direct(Prod) as &dyn Fold<$T, _, _>, x, axes, meta),
                ReduceOp::Max => fold(&Direct(Max) as &dyn Fold<$T, _, _>, x, axes, meta),
                ReduceOp::Min => fold(&Direct(Min) as &dyn Fold<$T, _, _>, x, axes, meta),
                ReduceOp::ArgMax | ReduceOp::ArgMin => arg::arg::<$T>(op, x, axes[0], meta),
                ReduceOp::Mean | ReduceOp::Any | ReduceOp::All => refused(op),
            }
        };
    }
    match x.dtype() {
        DType::F64 => float!(f64),
        DType::F32 => float!(f32),
        DType::F16 => half!(f16),
        DType::BF16 => half!(bf16),
        DType::I64 => int!(i64),
        DType::I32 => int!(i32),
        DType::I16 => int!(i16),
        DType::I8 => int!(i8),
        DType::U64 => int!(u64),
        DType::U32 => int!(u32),
        DType::U16 => int!(u16),
        DType::U8 => int!(u8),
        DType::Bool => match op {
            ReduceOp::Any => fold(&Direct(Any) as &dyn Fold<bool, _, _>, x, axes, meta),
            ReduceOp::All => fold(&Direct(All) as &dyn Fold<bool, _, _>, x, axes, meta),
            _ => refused(op),
        },
    }
}

fn refused(op: ReduceOp) -> ! {
    unreachable!("`infer` refuses `{}` for this element type", op.name())
}
