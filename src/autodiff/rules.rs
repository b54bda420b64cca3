//! The gradient of every op: what it reads of the forward pass, and what it gives back.

use smallvec::{SmallVec, smallvec};

use crate::backend::PlainBackend;
use crate::error::Error;
use crate::op::{Arg, BinaryOp, HasMeta, IndexOp, Meta, MoveOp, Op, ReduceOp, ScatterMode, UnaryOp};
use crate::raw::Raw;

/// An operand as a rule sees it.
pub(super) struct Value<B: PlainBackend> {
    pub(super) meta: Meta,
    /// Present where [`reads`] asks for it.
    pub(super) value: Option<Raw<B>>,
    /// Whether anyone asks for this operand's gradient.
    pub(super) wanted: bool,
}

/// Gradients of the tensor operands, in the order of [`Op::visit`].
pub(super) type Grads<B> = SmallVec<[Option<Raw<B>>; 2]>;

/// What a rule reads of the forward pass.
pub(super) struct Reads {
    inputs: u32,
    pub(super) output: bool,
}

/// Whether anyone asks for this operand's gradient.
pub(super) trait Wanted {
    fn wanted(&self) -> bool;
}

impl Reads {
    const NONE: Reads = Reads {
        inputs: 0,
        output: false,
    };
    const OUTPUT: Reads = Reads {
        inputs: 0,
        output: true,
    };

    fn inputs(mask: u32) -> Self {
        Reads {
            inputs: mask,
            output: false,
        }
    }

    pub(super) fn input(&self, position: usize) -> bool {
        position < 32 && self.inputs >> position & 1 == 1
    }
}

/// Whether the result of an op can carry gradients at all.
pub(super) fn differentiable<T: HasMeta>(op: &Op<T>) -> bool {
    match op {
        Op::Compare(..) => false,
        Op::Reduce(op, ..) => !op.is_arg(),
        Op::Index(op) => !matches!(**op, IndexOp::ArgSort { .. } | IndexOp::TopK { .. }),
        Op::Cast(dtype, _) => dtype.is_float(),
        _ => true,
    }
}

/// What [`backward`] reads for this op.
pub(super) fn reads<T: Wanted>(op: &Op<T>) -> Reads {
    match op {
        Op::Unary(UnaryOp::Exp, _) => Reads::OUTPUT,
        Op::Binary(BinaryOp::Add | BinaryOp::Sub, ..) => Reads::NONE,
        Op::Matmul(a, b) => Reads::inputs(u32::from(b.wanted()) | u32::from(a.wanted()) << 1),
        Op::Index(op) if matches!(**op, IndexOp::Gather { .. }) => Reads::inputs(0b10),
        _ => Reads::NONE,
    }
}

/// The gradients of an op's operands from that of its result.
pub(super) fn backward<B: PlainBackend>(
    op: Op<Value<B>>,
    output: Option<Raw<B>>,
    grad: Raw<B>,
) -> Result<Grads<B>, Error> {
    match op {
        Op::Unary(UnaryOp::Exp, _) => Ok(smallvec![Some(grad.mul(kept(output))?)]),
        Op::Binary(BinaryOp::Add, a, b) => {
            let mut grads = Grads::new();
            for x in [a, b] {
                if let Arg::Tensor(x) = x {
                    grads.push(x.wanted.then(|| grad.clone().sum_to(&x.meta.shape)).transpose()?);
                }
            }
            Ok(grads)
        }
        Op::Reduce(ReduceOp::Sum, x, _) => Ok(smallvec![Some(grad.expand(x.meta.shape)?)]),
        Op::Move(MoveOp::Reshape(_), x) => Ok(smallvec![Some(grad.reshape(x.meta.shape)?)]),
        Op::Move(MoveOp::Expand(_), x) => Ok(smallvec![Some(grad.sum_to(&x.meta.shape)?)]),
        Op::Matmul(a, b) => {
            let for_a = |b: Raw<B>| grad.clone().matmul(b.transpose()?)?.sum_to(&a.meta.shape);
            let for_b = |a: Raw<B>| a.transpose()?.matmul(grad.clone())?.sum_to(&b.meta.shape);
            Ok(smallvec![
                b.value.map(for_a).transpose()?,
                a.value.map(for_b).transpose()?
            ])
        }
        Op::Index(op) => match *op {
            IndexOp::Gather { x, index, axis } => {
                let zeros = Raw::full(x.meta.shape, 0.0, x.meta.dtype, &grad.device())?;
                Ok(smallvec![
                    Some(zeros.scatter(axis, kept(index.value), grad, ScatterMode::Add)?),
                    None
                ])
            }
            _ => todo!(),
        },
        _ => todo!(),
    }
}

fn kept<B: PlainBackend>(value: Option<Raw<B>>) -> Raw<B> {
    value.expect("`reads` asks for what `backward` uses")
}
