//! Nodes, and the walk back over them.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};
use std::sync::Arc;

use smallvec::SmallVec;

use super::rules::{self, Reads, Wanted};
use super::{GradientSet, LeafId, Strategy, Tracked};
use crate::backend::PlainBackend;
use crate::collective::ParamId;
use crate::error::Error;
use crate::op::{HasMeta, Meta, Op};
use crate::raw::Raw;

/// What computed a tracked tensor.
pub(super) struct Node<B: PlainBackend> {
    /// Greater than that of every node it was computed from: descending order is a valid backward order.
    order: u64,
    kind: Kind<B>,
}

#[derive(Clone)]
#[allow(clippy::large_enum_variant)] // Nearly every node is an `Op`, and lives in an `Arc` of its own.
enum Kind<B: PlainBackend> {
    Leaf {
        id: LeafId,
        param: Option<ParamId>,
    },
    Op(Recorded<B>),
    Custom {
        name: &'static str,
        parent: Arc<Node<B>>,
        backward: Arc<Backward<B>>,
    },
    /// What is left of a node that has been walked over or is being dropped.
    Spent,
}

type Backward<B> = dyn Fn(Raw<B>) -> Result<Raw<B>, Error> + Send + Sync;

/// An op that has run, as the tape keeps it.
#[derive(Clone)]
struct Recorded<B: PlainBackend> {
    op: Op<()>,
    /// The operands of `op`, in the order of [`Op::visit`].
    inputs: SmallVec<[Input<B>; 2]>,
    /// What the backward pass will ask for.
    reads: Reads,
    output: Output<B>,
}

#[derive(Clone)]
struct Input<B: PlainBackend> {
    known: Known<B>,
    node: Option<Arc<Node<B>>>,
}

/// What the tape keeps of an operand.
#[derive(Clone)]
enum Known<B: PlainBackend> {
    /// The value: the rule reads it, or a recomputation starts from it.
    Value(Raw<B>),
    /// Only this: nobody reads the value, or it is computed again.
    Meta(Meta),
}

#[derive(Clone)]
enum Output<B: PlainBackend> {
    Unread,
    Kept(Raw<B>),
    /// Nothing is kept: the op runs again if anyone needs the result.
    Recomputed,
}

/// A node whose op has not run yet.
pub(super) struct Recording<B: PlainBackend> {
    order: u64,
    recorded: Recorded<B>,
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
        parent: Arc<Self>,
        backward: impl Fn(Raw<B>) -> Result<Raw<B>, Error> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Node {
            order: parent.order + 1,
            kind: Kind::Custom {
                name,
                parent,
                backward: Arc::new(backward),
            },
        })
    }

    /// Takes down what the backward pass will need of an op, and hands back the op to run.
    pub(super) fn record<S: Strategy>(op: Op<Tracked<B>>) -> (Recording<B>, Op<B::Primitive>) {
        let reads = rules::reads(&op);
        let recompute = S::recomputes(&op);
        let mut order = 0;
        let mut inputs = SmallVec::new();
        let mut values = SmallVec::<[B::Primitive; 2]>::new();
        let op = op.map(|Tracked { value, node }| {
            let wanted = recompute || reads.input(inputs.len());
            let lazy = node.as_ref().is_some_and(|node| node.recomputed().is_some());
            let known = if wanted && !lazy {
                Known::Value(Raw::new(value.clone()))
            } else {
                Known::Meta(value.meta())
            };
            order = order.max(node.as_ref().map_or(0, |node| node.order + 1));
            inputs.push(Input { known, node });
            values.push(value);
        });
        let mut values = values.into_iter();
        let to_run = op.clone().map(|()| values.next().expect("one per operand"));
        let output = if recompute {
            Output::Recomputed
        } else {
            Output::Unread
        };
        let recorded = Recorded {
            op,
            inputs,
            reads,
            output,
        };
        (Recording { order, recorded }, to_run)
    }

    pub(super) fn name(&self) -> &'static str {
        match &self.kind {
            Kind::Leaf { .. } => "leaf",
            Kind::Op(recorded) => recorded.op.name(),
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

    /// The op, if its result is computed again.
    fn recomputed(&self) -> Option<&Recorded<B>> {
        match &self.kind {
            Kind::Op(recorded) if matches!(recorded.output, Output::Recomputed) => Some(recorded),
            _ => None,
        }
    }
}

impl<B: PlainBackend> Recording<B> {
    /// The node, now that the op has run.
    pub(super) fn finish(mut self, value: &B::Primitive) -> Arc<Node<B>> {
        let output = &mut self.recorded.output;
        if self.recorded.reads.output && matches!(output, Output::Unread) {
            *output = Output::Kept(Raw::new(value.clone()));
        }
        Arc::new(Node {
            order: self.order,
            kind: Kind::Op(self.recorded),
        })
    }
}

/// Long chains must not overflow the stack when they are dropped: nodes that nobody else holds are taken apart in a loop.
impl<B: PlainBackend> Drop for Node<B> {
    fn drop(&mut self) {
        let mut pending = SmallVec::<[Arc<Node<B>>; 4]>::new();
        self.take().into_parents(|parent| pending.push(parent));
        while let Some(node) = pending.pop() {
            if let Some(mut node) = Arc::into_inner(node) {
                node.take().into_parents(|parent| pending.push(parent));
            }
        }
    }
}

impl<B: PlainBackend> Node<B> {
    fn take(&mut self) -> Kind<B> {
        std::mem::replace(&mut self.kind, Kind::Spent)
    }
}

impl<B: PlainBackend> Kind<B> {
    fn parents(&self, mut f: impl FnMut(&Arc<Node<B>>)) {
        match self {
            Kind::Leaf { .. } | Kind::Spent => {}
            Kind::Op(recorded) => recorded
                .inputs
                .iter()
                .filter_map(|input| input.node.as_ref())
                .for_each(f),
            Kind::Custom { parent, .. } => f(parent),
        }
    }

    fn into_parents(self, mut f: impl FnMut(Arc<Node<B>>)) {
        match self {
            Kind::Leaf { .. } | Kind::Spent => {}
            Kind::Op(recorded) => recorded
                .inputs
                .into_iter()
                .filter_map(|input| input.node)
                .for_each(f),
            Kind::Custom { parent, .. } => f(parent),
        }
    }
}

/// Is told of each leaf once, as soon as its gradient is complete.
pub type OnLeaf<'a, B> = dyn FnMut(LeafId, Option<&ParamId>, &Raw<B>) -> Result<(), Error> + 'a;

/// Walks back from `root`, whose gradient is `seed`.
///
/// With the same graph, ops run in the same order: gradients are the same to the bit from run to run.
pub(super) fn backward<B: PlainBackend>(
    root: Arc<Node<B>>,
    seed: Raw<B>,
    on_leaf: Option<&mut OnLeaf<'_, B>>,
) -> Result<GradientSet<B>, Error> {
    let mut walk = Walk {
        pending: BinaryHeap::new(),
        gradients: HashMap::new(),
        entered: 0,
        leaves: Leaves {
            set: GradientSet::new(seed.device()),
            watch: on_leaf.map(|on_leaf| Watch::new(&root, on_leaf)),
        },
    };
    let mut values = Values(HashMap::new());
    walk.add(root, Some(seed))?;
    while let Some((node, grad)) = walk.next() {
        let key = Arc::as_ptr(&node);
        match take_kind(node) {
            Kind::Op(recorded) => {
                let output = values.output(key, &recorded)?;
                let mut parents = SmallVec::<[_; 2]>::new();
                let mut operands = SmallVec::<[_; 2]>::new();
                for (position, input) in recorded.inputs.into_iter().enumerate() {
                    operands.push(rules::Value {
                        value: match recorded.reads.input(position) {
                            true => Some(values.input(&input)?),
                            false => None,
                        },
                        wanted: input.node.is_some(),
                        meta: input.known.into_meta(),
                    });
                    parents.push(input.node);
                }
                let mut operands = operands.into_iter();
                let op = recorded.op.map(|()| operands.next().expect("one per operand"));
                let grads = rules::backward(op, output, grad)?;
                for (parent, grad) in parents.into_iter().zip(grads) {
                    if let Some(parent) = parent {
                        walk.add(parent, grad)?;
                    }
                }
            }
            Kind::Custom { parent, backward, .. } => walk.add(parent, Some(backward(grad)?))?,
            Kind::Leaf { .. } | Kind::Spent => {
                unreachable!("leaves do not wait in line, and a node is walked over once")
            }
        }
    }
    walk.leaves.finish()
}

/// Walks back from a tensor; see [`backward`].
pub(super) fn backward_from<B: PlainBackend>(x: Tracked<B>, seed: Raw<B>) -> Result<GradientSet<B>, Error> {
    match x.node {
        Some(root) => backward(root, seed, None),
        None => Ok(GradientSet::new(seed.device())),
    }
}

/// Moves a node's contents out where nobody else holds it, so that buffers are freed as the walk passes.
fn take_kind<B: PlainBackend>(node: Arc<Node<B>>) -> Kind<B> {
    match Arc::try_unwrap(node) {
        Ok(mut node) => node.take(),
        Err(node) => node.kind.clone(),
    }
}

/// Nodes that have a gradient and await their turn.
struct Walk<'a, B: PlainBackend> {
    pending: BinaryHeap<Pending<B>>,
    gradients: HashMap<*const Node<B>, Raw<B>>,
    entered: u64,
    leaves: Leaves<'a, B>,
}

struct Pending<B: PlainBackend> {
    node: Arc<Node<B>>,
    /// Breaks ties, the same way every time.
    entered: u64,
}

impl<B: PlainBackend> Walk<'_, B> {
    /// Adds to the gradient of a node; one of its consumers, which has none to give if `grad` is `None`, is done.
    fn add(&mut self, node: Arc<Node<B>>, grad: Option<Raw<B>>) -> Result<(), Error> {
        if let Kind::Leaf { id, param } = &node.kind {
            return self.leaves.add(*id, param.as_ref(), grad);
        }
        let Some(grad) = grad else { return Ok(()) };
        let key = Arc::as_ptr(&node);
        let total = match self.gradients.remove(&key) {
            Some(other) => other.add(grad)?,
            None => {
                self.entered += 1;
                self.pending.push(Pending {
                    node,
                    entered: self.entered,
                });
                grad
            }
        };
        self.gradients.insert(key, total);
        Ok(())
    }

    fn next(&mut self) -> Option<(Arc<Node<B>>, Raw<B>)> {
        let Pending { node, .. } = self.pending.pop()?;
        let grad = self.gradients.remove(&Arc::as_ptr(&node));
        Some((node, grad.expect("a pending node has a gradient")))
    }
}

impl<B: PlainBackend> Ord for Pending<B> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.node.order, self.entered).cmp(&(other.node.order, other.entered))
    }
}
impl<B: PlainBackend> PartialOrd for Pending<B> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<B: PlainBackend> PartialEq for Pending<B> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl<B: PlainBackend> Eq for Pending<B> {}

/// The gradients of the leaves, and who watches them arrive.
struct Leaves<'a, B: PlainBackend> {
    set: GradientSet<B>,
    watch: Option<Watch<'a, B>>,
}

struct Watch<'a, B: PlainBackend> {
    on_leaf: &'a mut OnLeaf<'a, B>,
    /// The leaves that are not complete, with how many operands they still are.
    open: BTreeMap<LeafId, (usize, Option<ParamId>)>,
}

impl<'a, B: PlainBackend> Watch<'a, B> {
    fn new(root: &Arc<Node<B>>, on_leaf: &'a mut OnLeaf<'_, B>) -> Self {
        let mut open = BTreeMap::<LeafId, (usize, Option<ParamId>)>::new();
        let mut seen = HashSet::new();
        let mut stack = vec![];
        let mut visit = |node: &Arc<Node<B>>, stack: &mut Vec<Arc<Node<B>>>| {
            if let Kind::Leaf { id, param } = &node.kind {
                let (consumers, known) = open.entry(*id).or_default();
                *consumers += 1;
                *known = known.take().or_else(|| param.clone());
            } else if seen.insert(Arc::as_ptr(node)) {
                stack.push(node.clone());
            }
        };
        visit(root, &mut stack);
        while let Some(node) = stack.pop() {
            node.kind.parents(|parent| visit(parent, &mut stack));
        }
        Watch { on_leaf, open }
    }
}

impl<B: PlainBackend> Leaves<'_, B> {
    fn add(&mut self, id: LeafId, param: Option<&ParamId>, grad: Option<Raw<B>>) -> Result<(), Error> {
        if let Some(grad) = grad {
            self.set.insert(id, param.cloned(), grad)?;
        }
        let Some(watch) = &mut self.watch else {
            return Ok(());
        };
        let (consumers, _) = watch.open.get_mut(&id).expect("every leaf was counted");
        *consumers -= 1;
        if *consumers == 0 {
            self.complete(id)?;
        }
        Ok(())
    }

    fn complete(&mut self, id: LeafId) -> Result<(), Error> {
        let Some(watch) = &mut self.watch else {
            return Ok(());
        };
        match (watch.open.remove(&id), self.set.by_leaf.get(&id)) {
            (Some((_, param)), Some(grad)) => (watch.on_leaf)(id, param.as_ref(), &Raw::new(grad.clone())),
            _ => Ok(()),
        }
    }

    /// Leaves still open have consumers that no gradient came by.
    fn finish(mut self) -> Result<GradientSet<B>, Error> {
        let open = self.watch.iter().flat_map(|watch| watch.open.keys().copied());
        for id in open.collect::<Vec<_>>() {
            self.complete(id)?;
        }
        Ok(self.set)
    }
}

/// Values computed again. Each stays until the walk has passed its node, or, if no rule will read it, until its only
/// consumer has been computed.
struct Values<B: PlainBackend>(HashMap<*const Node<B>, Raw<B>>);

impl<B: PlainBackend> Values<B> {
    /// The result of an op that the walk has come to, if its rule reads it.
    fn output(&mut self, key: *const Node<B>, recorded: &Recorded<B>) -> Result<Option<Raw<B>>, Error> {
        let known = self.0.remove(&key);
        if !recorded.reads.output {
            return Ok(None);
        }
        match (&recorded.output, known) {
            (Output::Kept(value), _) => Ok(Some(value.clone())),
            (_, Some(value)) => Ok(Some(value)),
            (_, None) => {
                for node in recorded.inputs.iter().filter_map(Input::lazy) {
                    self.compute(node)?;
                }
                self.run(recorded).map(Some)
            }
        }
    }

    /// The value of an operand whose rule reads it.
    fn input(&mut self, input: &Input<B>) -> Result<Raw<B>, Error> {
        if let Some(node) = input.lazy() {
            self.compute(node)?;
        }
        Ok(self.at_hand(input, false))
    }

    /// Computes the value of a node and of those it needs, without recursion.
    fn compute(&mut self, node: &Arc<Node<B>>) -> Result<(), Error> {
        let mut stack = vec![node];
        while let Some(&node) = stack.last() {
            let key = Arc::as_ptr(node);
            if self.0.contains_key(&key) {
                stack.pop();
                continue;
            }
            let recorded = node.recomputed().expect("only recomputed nodes are lazy");
            let before = stack.len();
            let lazy = recorded.inputs.iter().filter_map(Input::lazy);
            stack.extend(lazy.filter(|node| !self.0.contains_key(&Arc::as_ptr(node))));
            if stack.len() == before {
                let value = self.run(recorded)?;
                self.0.insert(key, value);
                stack.pop();
            }
        }
        Ok(())
    }

    /// Runs an op whose operands are at hand.
    fn run(&mut self, recorded: &Recorded<B>) -> Result<Raw<B>, Error> {
        let mut inputs = recorded.inputs.iter().enumerate();
        let op = recorded.op.clone().map(|()| {
            let (position, input) = inputs.next().expect("one per operand");
            self.at_hand(input, !recorded.reads.input(position))
        });
        Raw::run(op)
    }

    /// The value of an operand; it leaves the store if this was the last use: its consumer does not read it in its rule
    /// (`unread`), nor does anyone else.
    fn at_hand(&mut self, input: &Input<B>, unread: bool) -> Raw<B> {
        let value = match (&input.known, &input.node) {
            (Known::Value(value), _) => Some(value.clone()),
            (Known::Meta(_), Some(node)) => {
                let key = Arc::as_ptr(node);
                let last = unread
                    && Arc::strong_count(node) == 1
                    && node.recomputed().is_some_and(|recorded| !recorded.reads.output);
                if last {
                    self.0.remove(&key)
                } else {
                    self.0.get(&key).cloned()
                }
            }
            (Known::Meta(_), None) => None,
        };
        value.expect("the tape keeps what rules read and what it recomputes from")
    }
}

impl<B: PlainBackend> Input<B> {
    /// The node that computes this operand again, if its value is not kept here.
    fn lazy(&self) -> Option<&Arc<Node<B>>> {
        match self.known {
            Known::Value(_) => None,
            Known::Meta(_) => self.node.as_ref().filter(|node| node.recomputed().is_some()),
        }
    }
}

impl<B: PlainBackend> Known<B> {
    fn into_meta(self) -> Meta {
        match self {
            Known::Value(value) => value.meta(),
            Known::Meta(meta) => meta,
        }
    }
}

impl<B: PlainBackend> Wanted for Tracked<B> {
    fn wanted(&self) -> bool {
        self.node.is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;

    use super::*;
    use crate::autodiff::{Autodiff, AutodiffBackend, BalancedCheckpointing, NoCheckpointing};
    use crate::backend::Backend;
    use crate::backend::flex::Flex;
    use crate::element::DType;

    fn leaf<S: Strategy>() -> Raw<Autodiff<Flex, S>> {
        let x = Raw::full([3], 0.5, DType::F32, &Default::default()).unwrap();
        Raw::new(Autodiff::<Flex, S>::require_grad(x.into_primitive()).unwrap())
    }

    fn weak<B: Backend<Primitive = Tracked<Flex>>>(x: &Raw<B>) -> Weak<Node<Flex>> {
        Arc::downgrade(x.primitive().node.as_ref().expect("tracked"))
    }

    /// Every node of `exp(x) * x`, of a recomputed and of a plain tape, weakly.
    fn graph<S: Strategy>(nodes: &mut Vec<Weak<Node<Flex>>>) -> Raw<Autodiff<Flex, S>> {
        let x = leaf::<S>();
        let e = x.clone().exp().unwrap();
        let y = e.clone().mul(x.clone()).unwrap();
        nodes.extend([weak(&x), weak(&e), weak(&y)]);
        y
    }

    fn leaves_nothing<S: Strategy>() {
        let mut nodes = vec![];
        for _ in 0..10 {
            leaf::<S>();
            graph::<S>(&mut nodes);
            let y = graph::<S>(&mut nodes);
            Autodiff::<Flex, S>::backward(y.into_primitive()).unwrap();
        }
        assert_eq!(nodes.len(), 60);
        assert!(nodes.iter().all(|node| node.strong_count() == 0));
    }

    #[test]
    fn case_31_dropped_graphs_leave_no_node() {
        leaves_nothing::<NoCheckpointing>();
        leaves_nothing::<BalancedCheckpointing>();
    }

    #[test]
    fn the_walk_frees_what_it_has_passed() {
        let x = leaf::<NoCheckpointing>();
        let e = x.clone().exp().unwrap();
        let node = weak(&e);
        let y = e.tanh().unwrap();
        // The notice of `x` comes after the walk has passed both ops.
        let mut freed = false;
        let on_leaf = &mut |_, _: Option<&ParamId>, _: &Raw<Flex>| {
            freed = node.strong_count() == 0;
            Ok(())
        };
        Autodiff::<Flex, NoCheckpointing>::backward_with(y.into_primitive(), on_leaf).unwrap();
        assert!(freed);
    }
}
