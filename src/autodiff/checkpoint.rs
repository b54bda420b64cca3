//! What the tape keeps and what it computes again.

use std::fmt::Debug;

use crate::op::{FusedOp, Op};

/// Decides which ops are computed again in the backward pass instead of keeping their results.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a checkpointing strategy",
    label = "not a checkpointing strategy",
    note = "strategies are `NoCheckpointing` and `BalancedCheckpointing`"
)]
pub trait Strategy: Clone + Copy + Debug + Send + Sync + 'static {
    /// Whether the result of this op is computed again where the backward pass reads it.
    fn recomputes<T>(op: &Op<T>) -> bool;
}

/// Keeps every value that the backward pass reads.
#[derive(Clone, Copy, Debug)]
pub struct NoCheckpointing;

/// Keeps the results of ops that are bound by computation (products, convolutions, reductions) and computes those that
/// are bound by memory again. Gradients are the same; less is kept, a little more is computed.
#[derive(Clone, Copy, Debug)]
pub struct BalancedCheckpointing;

impl Strategy for NoCheckpointing {
    fn recomputes<T>(_: &Op<T>) -> bool {
        false
    }
}

impl Strategy for BalancedCheckpointing {
    fn recomputes<T>(op: &Op<T>) -> bool {
        match op {
            Op::Unary(..) | Op::Binary(..) | Op::Move(..) | Op::Cast(..) => true,
            Op::Fused(op) => matches!(**op, FusedOp::Gelu { .. } | FusedOp::Silu { .. }),
            Op::Compare(..)
            | Op::Reduce(..)
            | Op::Scan(..)
            | Op::Cat(..)
            | Op::Index(_)
            | Op::Matmul(..)
            | Op::Conv(_)
            | Op::Pool(..) => false,
        }
    }
}
