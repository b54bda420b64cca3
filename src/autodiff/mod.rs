//! `Autodiff`: reverse-mode gradients over any plain backend.
//!
//! A tracked tensor owns the node that computed it, and the node owns its inputs' nodes: the graph lives exactly as long
//! as tensors that need it. There is no registry, no lock and no thread.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::backend::{Backend, BackendTypes, PlainBackend, Readable, Supports};
use crate::collective::ParamId;
use crate::data::TensorData;
use crate::element::{DType, Element};
use crate::error::{Error, Name};
use crate::op::{CreateOp, HasMeta, Meta, Op};
use crate::raw::Raw;
use crate::shape::Shape;

mod checkpoint;
mod gradients;
mod rules;
mod tape;

pub use checkpoint::{BalancedCheckpointing, NoCheckpointing, Strategy};
pub(crate) use gradients::backward_synced;
pub use gradients::{AfterBackward, GradientSet, Gradients, LeafId, ReadyToStep};
use tape::Node;
pub use tape::OnLeaf;

/// Adds gradients to a plain backend; `S` decides which intermediate values are kept and which are computed again.
///
/// ```
/// use keyway::prelude::*;
/// let device = Default::default();
/// let x = Tensor::<Autodiff<Flex>, 1>::from_array([1.0, 2.0], &device).require_grad();
/// let gradients = (x.clone() * x.clone()).sum().backward();
/// assert_eq!(x.grad(&gradients).unwrap().into_vec()?, [2.0, 4.0]);
/// # Ok::<(), keyway::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Autodiff<B: PlainBackend, S: Strategy = NoCheckpointing>(PhantomData<(B, S)>);

/// A tensor of [`Autodiff<B>`]: a value of `B`, and where it came from if it is tracked.
pub struct Tracked<B: PlainBackend> {
    value: B::Primitive,
    node: Option<Arc<Node<B>>>,
}

/// What makes a tensor the leaf it is.
pub(crate) struct Leaf {
    id: LeafId,
    param: Option<ParamId>,
}

/// A backend that records gradients: `Autodiff<_>`.
#[diagnostic::on_unimplemented(
    message = "tensors on `{Self}` record no gradients",
    label = "no gradients here",
    note = "use `Autodiff<{Self}>`, or add `{Self}: AutodiffBackend` to a generic function's bounds"
)]
pub trait AutodiffBackend: Backend {
    /// The tensor of the plain backend, without its history.
    fn inner(x: Self::Primitive) -> Plain<Self>;

    /// A tensor of the plain backend, untracked.
    fn from_inner(x: Plain<Self>) -> Self::Primitive;

    /// Makes an untracked tensor a leaf.
    ///
    /// # Errors
    /// `DType` if the elements are not floats, `NotLeaf` if an op produced the tensor.
    fn require_grad(x: Self::Primitive) -> Result<Self::Primitive, Error>;

    /// Whether the tensor records gradients.
    fn is_tracked(x: &Self::Primitive) -> bool;

    /// Marks a leaf as a parameter that a group trains together.
    ///
    /// # Errors
    /// `DType` if the elements are not floats, `NotLeaf` if an op produced the tensor, `Argument` if the leaf is another
    /// parameter already.
    fn set_param(x: Self::Primitive, id: ParamId) -> Result<Self::Primitive, Error>;

    /// The parameter that a leaf was marked as.
    fn param(x: &Self::Primitive) -> Option<&ParamId>;

    /// The leaf that the tensor is, if it is one.
    fn leaf(x: &Self::Primitive) -> Option<LeafId>;

    /// The gradients of the sum of `x` with respect to every leaf it was computed from.
    ///
    /// # Errors
    /// `NotTracked` if there is none, `Argument` if two leaves are one parameter, or what an op of the pass returns.
    fn backward(x: Self::Primitive) -> Result<GradientSet<Self::Plain>, Error>;

    /// [`AutodiffBackend::backward`], telling `on_leaf` of each leaf's gradient after its last accumulation, while the
    /// pass goes on: what it starts there, such as an exchange with other members, overlaps with the rest. Leaves come
    /// once each, in an order that follows from the graph alone, and so is the same on members that built the same one.
    ///
    /// # Errors
    /// As `backward`, and what `on_leaf` returns, which ends the pass.
    fn backward_with(
        x: Self::Primitive,
        on_leaf: &mut OnLeaf<'_, Self::Plain>,
    ) -> Result<GradientSet<Self::Plain>, Error>;

    /// Records a function with a gradient of its own.
    fn record(
        x: Self::Primitive,
        name: &'static str,
        value: Plain<Self>,
        backward: impl Fn(Raw<Self::Plain>) -> Result<Raw<Self::Plain>, Error> + Send + Sync + 'static,
    ) -> Self::Primitive;
}

/// The tensor of the plain backend of `B`.
pub type Plain<B> = <<B as Backend>::Plain as BackendTypes>::Primitive;

impl<B: PlainBackend, S: Strategy> BackendTypes for Autodiff<B, S> {
    type Device = B::Device;
    type Primitive = Tracked<B>;
}

impl<B: PlainBackend + Supports<E>, E: Element, S: Strategy> Supports<E> for Autodiff<B, S> {}

impl<B: PlainBackend, S: Strategy> Backend for Autodiff<B, S> {
    type Plain = B;
    type Reach = B::Reach;
    const TRAINS: bool = true;

    fn name(device: &B::Device) -> Name {
        B::name(device)
    }
    fn dtypes(device: &B::Device) -> &[DType] {
        B::dtypes(device)
    }
    fn device(x: &Tracked<B>) -> B::Device {
        B::device(&x.value)
    }
    fn same_device(a: &Tracked<B>, b: &Tracked<B>) -> bool {
        B::same_device(&a.value, &b.value)
    }
    fn create(op: CreateOp, meta: &Meta, device: &B::Device) -> Result<Tracked<B>, Error> {
        B::create(op, meta, device).map(Tracked::constant)
    }
    fn upload(data: TensorData, device: &B::Device) -> Result<Tracked<B>, Error> {
        B::upload(data, device).map(Tracked::constant)
    }
    fn execute(op: Op<Tracked<B>>, meta: &Meta) -> Result<Tracked<B>, Error> {
        let mut tracked = false;
        op.visit(|x| tracked |= x.node.is_some());
        if !tracked || !rules::differentiable(&op) {
            return B::execute(op.map(|x| x.value), meta).map(Tracked::constant);
        }
        let (recording, op) = Node::record::<S>(op);
        let value = B::execute(op, meta)?;
        Ok(Tracked {
            node: Some(recording.finish(&value)),
            value,
        })
    }
    fn to_device(x: Tracked<B>, device: &B::Device) -> Result<Tracked<B>, Error> {
        let from = B::device(&x.value);
        if from == *device {
            return Ok(x);
        }
        let value = B::to_device(x.value, device)?;
        let back = move |grad: Raw<B>| grad.to_device(&from);
        Ok(Tracked {
            node: x.node.map(|node| Node::custom("to_device", node, back)),
            value,
        })
    }
    fn parameter(value: Tracked<B>, old: Option<&Tracked<B>>) -> Tracked<B> {
        let leaf = |x: &Tracked<B>| x.node.clone().filter(|node| node.leaf_id().is_some());
        let node = leaf(&value)
            .or_else(|| old.and_then(leaf))
            .unwrap_or_else(|| Node::leaf(LeafId::new(), None));
        Tracked {
            value: value.value,
            node: Some(node),
        }
    }
    fn detach(x: Tracked<B>) -> Tracked<B> {
        Tracked::constant(x.value)
    }
    fn sync(device: &B::Device) -> Result<(), Error> {
        B::sync(device)
    }
}

impl<B: PlainBackend + Readable, S: Strategy> Readable for Autodiff<B, S> {
    fn into_data(x: Tracked<B>) -> Result<TensorData, Error> {
        B::into_data(x.value)
    }
}

impl<B: PlainBackend, S: Strategy> AutodiffBackend for Autodiff<B, S> {
    fn inner(x: Tracked<B>) -> B::Primitive {
        x.value
    }
    fn from_inner(x: B::Primitive) -> Tracked<B> {
        Tracked::constant(x)
    }
    fn require_grad(x: Tracked<B>) -> Result<Tracked<B>, Error> {
        let node = x
            .leaf_node("require_grad")?
            .unwrap_or_else(|| Node::leaf(LeafId::new(), None));
        Ok(Tracked {
            value: x.value,
            node: Some(node),
        })
    }
    fn is_tracked(x: &Tracked<B>) -> bool {
        x.node.is_some()
    }
    fn set_param(x: Tracked<B>, param: ParamId) -> Result<Tracked<B>, Error> {
        let node = x.leaf_node("set_distributed_params")?;
        let named = node.as_ref().and_then(|node| node.param());
        if let Some(name) = named.filter(|&name| *name != param) {
            let message = format!(
                "the leaf is the parameter `{name}`: it cannot be `{param}` too; `detach` makes a new one"
            );
            return Err(Error::argument("set_distributed_params", message));
        }
        let id = node.and_then(|node| node.leaf_id());
        let node = Node::leaf(id.unwrap_or_else(LeafId::new), Some(param));
        Ok(Tracked {
            value: x.value,
            node: Some(node),
        })
    }
    fn param(x: &Tracked<B>) -> Option<&ParamId> {
        x.node.as_ref()?.param()
    }
    fn leaf(x: &Tracked<B>) -> Option<LeafId> {
        x.node.as_ref()?.leaf_id()
    }
    fn backward(x: Tracked<B>) -> Result<GradientSet<B>, Error> {
        let (root, seed) = x.into_root()?;
        tape::backward(root, seed, None)
    }
    fn backward_with(x: Tracked<B>, on_leaf: &mut OnLeaf<'_, B>) -> Result<GradientSet<B>, Error> {
        let (root, seed) = x.into_root()?;
        tape::backward(root, seed, Some(on_leaf))
    }
    fn record(
        x: Tracked<B>,
        name: &'static str,
        value: B::Primitive,
        backward: impl Fn(Raw<B>) -> Result<Raw<B>, Error> + Send + Sync + 'static,
    ) -> Tracked<B> {
        Tracked {
            node: x.node.map(|node| Node::custom(name, node, backward)),
            value,
        }
    }
}

impl<B: PlainBackend> Tracked<B> {
    fn constant(value: B::Primitive) -> Self {
        Tracked { value, node: None }
    }

    /// A tensor that is the leaf of another backend's tensor, or no leaf.
    pub(crate) fn with_leaf(value: B::Primitive, leaf: Option<Leaf>) -> Self {
        let node = leaf.map(|leaf| Node::leaf(leaf.id, leaf.param));
        Tracked { value, node }
    }

    /// The leaf that the tensor is, or none if it is untracked.
    ///
    /// # Errors
    /// `Tracked` if an op produced it.
    pub(crate) fn leaf(&self, op: &'static str) -> Result<Option<Leaf>, Error> {
        let Some(node) = &self.node else { return Ok(None) };
        match node.leaf_id() {
            Some(id) => Ok(Some(Leaf {
                id,
                param: node.param().cloned(),
            })),
            None => Err(Error::Tracked {
                op: op.into(),
                producer: node.name().into(),
            }),
        }
    }

    /// The op that produced the tensor, if it is tracked and no leaf.
    pub(crate) fn producer(&self) -> Option<&'static str> {
        let node = self.node.as_ref()?;
        node.leaf_id().is_none().then(|| node.name())
    }

    /// Where a backward pass starts: the node, and the gradient of the sum of the elements.
    fn into_root(self) -> Result<(Arc<Node<B>>, Raw<B>), Error> {
        let root = self.node.ok_or(Error::NotTracked {
            op: "backward".into(),
        })?;
        Ok((root, Raw::<B>::new(self.value).full_like(1.0)?))
    }

    /// The node, if the tensor may be a leaf: it is one already, or nothing produced it.
    fn leaf_node(&self, op: &'static str) -> Result<Option<Arc<Node<B>>>, Error> {
        if !self.value.dtype().is_float() {
            return Err(Error::dtype(op, self.value.dtype(), "a float type"));
        }
        match &self.node {
            Some(node) if node.leaf_id().is_none() => Err(Error::NotLeaf {
                op: op.into(),
                producer: node.name().into(),
            }),
            node => Ok(node.clone()),
        }
    }
}

impl<B: PlainBackend> HasMeta for Tracked<B> {
    fn shape(&self) -> &Shape {
        self.value.shape()
    }
    fn dtype(&self) -> DType {
        self.value.dtype()
    }
}

impl<B: PlainBackend> Clone for Tracked<B> {
    fn clone(&self) -> Self {
        Tracked {
            value: self.value.clone(),
            node: self.node.clone(),
        }
    }
}

impl<B: PlainBackend> fmt::Debug for Tracked<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let producer = self.node.as_ref().map(|node| node.name());
        f.debug_struct("Tracked")
            .field("value", &self.value)
            .field("producer", &producer)
            .finish()
    }
}
