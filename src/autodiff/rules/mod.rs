//! The gradient of every op: what it reads of the forward pass, and what it gives back.
//!
//! Every match on a leaf op is exhaustive: a new op does not compile before it has its rule.

use smallvec::{SmallVec, smallvec};

use super::{Autodiff, tape};
use crate::backend::PlainBackend;
use crate::error::Error;
use crate::op::{HasMeta, Meta, Op};
use crate::raw::Raw;

mod elementwise;
mod fused;
mod index;
mod linear;
mod movement;
mod reduce;

/// An operand as a rule sees it.
pub(super) struct Value<B: PlainBackend> {
    pub(super) meta: Meta,
    /// Present where [`reads`] asks for it.
    pub(super) value: Option<Raw<B>>,
    /// Whether anyone asks for this operand's gradient.
    pub(super) wanted: bool,
}

/// Gradients of the tensor operands, in the order of [`Op::visit`]; `None` for those that nobody asks for.
pub(super) type Grads<B> = SmallVec<[Option<Raw<B>>; 2]>;

/// What a rule reads of the forward pass: operands by position in [`Op::visit`], and the result.
#[derive(Clone, Copy)]
pub(super) struct Reads {
    inputs: u32,
    pub(super) output: bool,
}

/// Whether anyone asks for this operand's gradient.
pub(super) trait Wanted {
    fn wanted(&self) -> bool;
}

impl Reads {
    const NONE: Reads = Reads::inputs(0);
    /// The only operand.
    const INPUT: Reads = Reads::inputs(1);
    const OUTPUT: Reads = Reads::NONE.and_output(true);

    const fn inputs(mask: u32) -> Self {
        Reads {
            inputs: mask,
            output: false,
        }
    }

    /// Of two operands, each where the condition holds.
    fn two(first: bool, second: bool) -> Self {
        Reads::inputs(u32::from(first) | u32::from(second) << 1)
    }

    const fn and_output(self, output: bool) -> Self {
        Reads { output, ..self }
    }

    pub(super) fn input(self, position: usize) -> bool {
        position < 32 && self.inputs >> position & 1 == 1
    }
}

/// Whether the result of an op can carry gradients at all: results that are places, truth values or integers cannot.
pub(super) fn differentiable<T: HasMeta>(op: &Op<T>) -> bool {
    match op {
        Op::Unary(op, _) => elementwise::unary_differentiable(*op),
        Op::Binary(op, ..) => elementwise::binary_differentiable(*op),
        Op::Compare(..) => false,
        Op::Reduce(op, ..) => reduce::differentiable(*op),
        Op::Index(op) => index::differentiable(op),
        Op::Pool(op, _) => linear::pool_differentiable(op),
        Op::Cast(dtype, _) => dtype.is_float(),
        Op::Scan(..) | Op::Move(..) | Op::Cat(..) | Op::Matmul(..) | Op::Conv(_) | Op::Fused(_) => true,
    }
}

/// What [`backward`] reads for this op: as little as it can, given whose gradients are wanted.
pub(super) fn reads<T: Wanted>(op: &Op<T>) -> Reads {
    match op {
        Op::Unary(op, _) => elementwise::unary_reads(*op),
        Op::Binary(op, a, b) => elementwise::binary_reads(*op, a, b),
        Op::Reduce(op, ..) => reduce::reads(*op),
        Op::Scan(op, ..) => reduce::scan_reads(*op),
        Op::Index(op) => index::reads(op),
        // Each is linear in either operand: the gradient of one reads the other.
        Op::Matmul(a, b) => Reads::two(b.wanted(), a.wanted()),
        Op::Conv(op) => linear::conv_reads(op),
        Op::Fused(op) => fused::reads(op),
        Op::Compare(..) | Op::Move(..) | Op::Cat(..) | Op::Pool(..) | Op::Cast(..) => Reads::NONE,
    }
}

/// The gradients of an op's operands from that of its result.
pub(super) fn backward<B: PlainBackend>(
    op: Op<Value<B>>,
    output: Option<Raw<B>>,
    grad: Raw<B>,
) -> Result<Grads<B>, Error> {
    let output = Output(output);
    let one = match op {
        Op::Unary(op, x) => elementwise::unary(op, x, output, grad)?,
        Op::Binary(op, a, b) => return elementwise::binary(op, a, b, output, grad),
        Op::Reduce(op, x, axes) => reduce::reduce(op, x, &axes, output, grad)?,
        Op::Scan(op, x, axis) => reduce::scan(op, x, axis, output, grad)?,
        Op::Move(op, x) => movement::movement(op, x, grad)?,
        Op::Cat(xs, axis) => return movement::cat(xs, axis, grad),
        Op::Index(op) => return index::index(*op, output, grad),
        Op::Matmul(a, b) => return linear::matmul(a, b, grad),
        Op::Conv(op) => return linear::conv(*op, grad),
        Op::Pool(op, x) => linear::pool(*op, x, grad)?,
        Op::Cast(_, x) => grad.cast(x.meta.dtype)?,
        Op::Fused(op) => return fused::fused(*op, output, grad),
        Op::Compare(op, ..) => no_gradient(op.name()),
    };
    Ok(smallvec![Some(one)])
}

/// The result of the forward pass, for the rules that read it.
#[derive(Clone)]
struct Output<B: PlainBackend>(Option<Raw<B>>);

impl<B: PlainBackend> Output<B> {
    fn read(self) -> Raw<B> {
        self.0.expect("`reads` asks for what `backward` uses")
    }
}

impl<B: PlainBackend> Value<B> {
    fn read(&self) -> Raw<B> {
        self.value.clone().expect("`reads` asks for what `backward` uses")
    }

    /// The gradient, computed only if it is wanted.
    fn grad(&self, f: impl FnOnce() -> Result<Raw<B>, Error>) -> Result<Option<Raw<B>>, Error> {
        self.wanted.then(f).transpose()
    }

    /// Zeros of the shape and element type of this operand.
    fn zeros(&self, like: &Raw<B>) -> Result<Raw<B>, Error> {
        Raw::full(self.meta.shape.clone(), 0.0, self.meta.dtype, &like.device())
    }
}

fn no_gradient(name: &str) -> ! {
    unreachable!("`{name}` is not differentiable, so the tape does not record it")
}
