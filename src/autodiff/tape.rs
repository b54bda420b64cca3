//! Nodes, and the walk back over them.

use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use smallvec::SmallVec;

use super::{GradientSet, LeafId, Strategy, Tracked, rules};
use crate::backend::PlainBackend;
use crate::collective::ParamId;
use crate::error::Error;
use crate::op::{self, HasMeta, Meta, Op};
use crate::raw::Raw;

/// What computed a tracked tensor.
pub(super) struct Node<B: PlainBackend> {
    /// Greater than that of every node it was computed from: descending order is a valid backward order.
    order: u64,
    kind: Kind<B>,
}

enum Kind<B: PlainBackend> {
    Leaf {
        id: LeafId,
        param: Option<ParamId>,
    },
    Op {
        op: Box<Op<Input<B>>>,
        output: Output<B>,
    },
    Custom {
        name: &'static str,
        parents: Vec<Arc<Node<B>>>,
        backward: Arc<Backward<B>>,
    },
    /// What is left of a node that has been walked over or is being dropped.
    Spent,
}

type Backward<B> = dyn Fn(Raw<B>) -> Result<Raw<B>, Error> + Send + Sync;

/// An operand as the tape keeps it.
#[derive(Clone)]
struct Input<B: PlainBackend> {
    meta: Meta,
    /// The value, where the rule reads it or a recomputation needs it, unless `node` recomputes it.
    value: Option<Raw<B>>,
    node: Option<Arc<Node<B>>>,
}

/// The result as the tape keeps it.
#[derive(Clone)]
enum Output<B: PlainBackend> {
    Unread,
    Kept(Raw<B>),
    Recomputed { read: bool },
}

/// A node whose op has not run yet.
pub(super) struct Recording<B: PlainBackend> {
    order: u64,
    op: Box<Op<Input<B>>>,
    output: Output<B>,
    keep_output: bool,
}

impl<B: PlainBackend> Node<B> {
    pub(super) fn leaf(id: LeafId, param: Option<ParamId>) -> Arc<Self> {
        Arc::new(Node {
            order: 0,
            kind: Kind::Leaf { id, param },
        })
    }

    pub(super) fn custom(
        name: &'static str,
        parents: Vec<Arc<Self>>,
        backward: impl Fn(Raw<B>) -> Result<Raw<B>, Error> + Send + Sync + 'static,
    ) -> Arc<Self> {
        let order = 1 + parents.iter().map(|parent| parent.order).max().unwrap_or(0);
        Arc::new(Node {
            order,
            kind: Kind::Custom {
                name,
                parents,
                backward: Arc::new(backward),
            },
        })
    }

    /// Takes down what the backward pass will need of an op that is about to run.
    pub(super) fn record<S: Strategy>(op: &Op<Tracked<B>>) -> Recording<B> {
        let reads = rules::reads(op);
        let recompute = S::recomputes(op);
        let mut order = 0;
        let mut position = 0;
        let op = op.clone().map(|x| {
            if let Some(node) = &x.node {
                order = order.max(node.order + 1);
            }
            let wanted = recompute || reads.input(position);
            position += 1;
            let lazy = x.node.as_ref().is_some_and(|node| node.is_recomputed());
            Input {
                meta: x.value.meta(),
                value: (wanted && !lazy).then(|| Raw::new(x.value)),
                node: x.node,
            }
        });
        let output = if recompute {
            Output::Recomputed { read: reads.output }
        } else {
            Output::Unread
        };
        Recording {
            order,
            op: Box::new(op),
            output,
            keep_output: reads.output && !recompute,
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match &self.kind {
            Kind::Leaf { .. } => "leaf",
            Kind::Op { op, .. } => op.name(),
            Kind::Custom { name, .. } => name,
            Kind::Spent => "spent",
        }
    }

    pub(super) fn leaf_id(&self) -> Option<LeafId> {
        match self.kind {
            Kind::Leaf { id, .. } => Some(id),
            _ => None,
        }
    }

    pub(super) fn param(&self) -> Option<&ParamId> {
        match &self.kind {
            Kind::Leaf { param, .. } => param.as_ref(),
            _ => None,
        }
    }

    fn is_recomputed(&self) -> bool {
        matches!(
            self.kind,
            Kind::Op {
                output: Output::Recomputed { .. },
                ..
            }
        )
    }
}

impl<B: PlainBackend> Recording<B> {
    pub(super) fn finish(self, value: &B::Primitive) -> Arc<Node<B>> {
        let output = if self.keep_output {
            Output::Kept(Raw::new(value.clone()))
        } else {
            self.output
        };
        Arc::new(Node {
            order: self.order,
            kind: Kind::Op { op: self.op, output },
        })
    }
}

/// Long chains must not overflow the stack when they are dropped: nodes that nobody else holds are taken apart in a loop.
impl<B: PlainBackend> Drop for Node<B> {
    fn drop(&mut self) {
        let mut pending = SmallVec::<[Kind<B>; 4]>::new();
        pending.push(std::mem::replace(&mut self.kind, Kind::Spent));
        while let Some(kind) = pending.pop() {
            kind.into_parents(|node| {
                if let Some(mut node) = Arc::into_inner(node) {
                    pending.push(std::mem::replace(&mut node.kind, Kind::Spent));
                }
            });
        }
    }
}

impl<B: PlainBackend> Kind<B> {
    fn into_parents(self, mut f: impl FnMut(Arc<Node<B>>)) {
        match self {
            Kind::Leaf { .. } | Kind::Spent => {}
            Kind::Op { op, .. } => {
                op.map(|input| input.node.map(&mut f));
            }
            Kind::Custom { parents, .. } => parents.into_iter().for_each(f),
        }
    }
}

/// Walks back from `root`, whose gradient is `seed`.
pub(super) fn backward<B: PlainBackend>(root: Arc<Node<B>>, seed: Raw<B>) -> Result<GradientSet<B>, Error> {
    let mut result = GradientSet::new(seed.device());
    let mut walk = Walk {
        pending: BinaryHeap::new(),
        gradients: HashMap::new(),
    };
    let mut values = Values(HashMap::new());
    walk.add(root, seed)?;
    while let Some((node, grad)) = walk.next() {
        let key = Arc::as_ptr(&node);
        match take_kind(node) {
            Kind::Leaf { id, param } => result.insert(id, param, grad)?,
            Kind::Custom {
                parents, backward, ..
            } => {
                let grad = backward(grad)?;
                for parent in parents {
                    walk.add(parent, grad.clone())?;
                }
            }
            Kind::Op { op, output } => {
                let reads_inputs = rules::reads(&*op);
                let output = match output {
                    Output::Kept(value) => Some(value),
                    Output::Unread | Output::Recomputed { read: false } => None,
                    Output::Recomputed { read: true } => Some(match values.0.remove(&key) {
                        Some(value) => value,
                        None => values.compute(&op)?,
                    }),
                };
                values.0.remove(&key);
                let mut parents = SmallVec::<[Option<Arc<Node<B>>>; 2]>::new();
                let mut position = 0;
                let op = op.try_map(|input| {
                    let wanted = input.node.is_some();
                    let value = if reads_inputs.input(position) {
                        values.of(&input)?
                    } else {
                        None
                    };
                    position += 1;
                    parents.push(input.node);
                    Ok::<_, Error>(rules::Value {
                        meta: input.meta,
                        value,
                        wanted,
                    })
                })?;
                let grads = rules::backward(op, output, grad)?;
                for (parent, grad) in parents.into_iter().zip(grads) {
                    if let (Some(parent), Some(grad)) = (parent, grad) {
                        walk.add(parent, grad)?;
                    }
                }
            }
            Kind::Spent => unreachable!("a node is walked over once"),
        }
    }
    Ok(result)
}

/// Moves a node's contents out where nobody else holds it, so that buffers are freed as the walk passes.
fn take_kind<B: PlainBackend>(node: Arc<Node<B>>) -> Kind<B> {
    match Arc::try_unwrap(node) {
        Ok(mut node) => std::mem::replace(&mut node.kind, Kind::Spent),
        Err(node) => node.kind.clone(),
    }
}

impl<B: PlainBackend> Clone for Kind<B> {
    fn clone(&self) -> Self {
        match self {
            Kind::Leaf { id, param } => Kind::Leaf {
                id: *id,
                param: param.clone(),
            },
            Kind::Op { op, output } => Kind::Op {
                op: op.clone(),
                output: output.clone(),
            },
            Kind::Custom {
                name,
                parents,
                backward,
            } => Kind::Custom {
                name,
                parents: parents.clone(),
                backward: backward.clone(),
            },
            Kind::Spent => Kind::Spent,
        }
    }
}

/// Nodes that have a gradient and await their turn.
struct Walk<B: PlainBackend> {
    pending: BinaryHeap<Pending<B>>,
    gradients: HashMap<*const Node<B>, Raw<B>>,
}

struct Pending<B: PlainBackend>(Arc<Node<B>>);

impl<B: PlainBackend> Walk<B> {
    fn add(&mut self, node: Arc<Node<B>>, grad: Raw<B>) -> Result<(), Error> {
        let key = Arc::as_ptr(&node);
        let total = match self.gradients.remove(&key) {
            Some(other) => other.add(grad)?,
            None => {
                self.pending.push(Pending(node));
                grad
            }
        };
        self.gradients.insert(key, total);
        Ok(())
    }

    fn next(&mut self) -> Option<(Arc<Node<B>>, Raw<B>)> {
        let Pending(node) = self.pending.pop()?;
        let grad = self.gradients.remove(&Arc::as_ptr(&node));
        Some((node, grad.expect("a pending node has a gradient")))
    }
}

impl<B: PlainBackend> Ord for Pending<B> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0
            .order
            .cmp(&other.0.order)
            .then_with(|| Arc::as_ptr(&self.0).cmp(&Arc::as_ptr(&other.0)))
    }
}
impl<B: PlainBackend> PartialOrd for Pending<B> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<B: PlainBackend> PartialEq for Pending<B> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl<B: PlainBackend> Eq for Pending<B> {}

/// Values computed again, until the walk has passed the node that they belong to.
struct Values<B: PlainBackend>(HashMap<*const Node<B>, Raw<B>>);

impl<B: PlainBackend> Values<B> {
    /// The value of an input that the tape can provide.
    fn of(&mut self, input: &Input<B>) -> Result<Option<Raw<B>>, Error> {
        if input.value.is_some() {
            return Ok(input.value.clone());
        }
        let Some(node) = &input.node else { return Ok(None) };
        self.recompute(node)?;
        Ok(self.0.get(&Arc::as_ptr(node)).cloned())
    }

    /// Computes the value of a node and of those it needs, without recursion.
    fn recompute(&mut self, node: &Arc<Node<B>>) -> Result<(), Error> {
        let mut stack = vec![node.clone()];
        while let Some(node) = stack.last().cloned() {
            let key = Arc::as_ptr(&node);
            if self.0.contains_key(&key) {
                stack.pop();
                continue;
            }
            let Kind::Op { op, .. } = &node.kind else {
                unreachable!("only ops are recomputed")
            };
            let before = stack.len();
            op.visit(|input| {
                if let (None, Some(parent)) = (&input.value, &input.node)
                    && !self.0.contains_key(&Arc::as_ptr(parent))
                {
                    stack.push(parent.clone());
                }
            });
            if stack.len() == before {
                let value = self.compute(op)?;
                self.0.insert(key, value);
                stack.pop();
            }
        }
        Ok(())
    }

    /// Computes an op whose inputs are at hand.
    fn compute(&mut self, op: &Op<Input<B>>) -> Result<Raw<B>, Error> {
        let op = op.clone().try_map(|input| {
            let value = self.of(&input)?;
            Ok::<_, Error>(
                value
                    .expect("the tape keeps what it recomputes from")
                    .into_primitive(),
            )
        })?;
        op::run::<B>(op).map(Raw::new)
    }
}

impl<B: PlainBackend> HasMeta for Input<B> {
    fn shape(&self) -> &crate::shape::Shape {
        &self.meta.shape
    }
    fn dtype(&self) -> crate::element::DType {
        self.meta.dtype
    }
}

impl<B: PlainBackend> rules::Wanted for Input<B> {
    fn wanted(&self) -> bool {
        self.node.is_some()
    }
}
impl<B: PlainBackend> rules::Wanted for Tracked<B> {
    fn wanted(&self) -> bool {
        self.node.is_some()
    }
}
