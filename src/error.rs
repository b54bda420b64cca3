//! The one error type.

use std::borrow::Cow;
use std::fmt;

use crate::element::DType;
use crate::shape::Shape;

/// A name that is usually a literal, and owned where it came over a wire.
pub type Name = Cow<'static, str>;

/// What went wrong: what was given, what was expected, and the way out.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Shapes that an op cannot take together.
    #[error("{op}: {}: {message}", Shapes(.shapes))]
    Shape {
        /// The op.
        op: Name,
        /// The shapes it was given.
        shapes: Vec<Shape>,
        /// What it needs, and the way out.
        message: String,
    },
    /// A rank that an op cannot take.
    #[error("{op}: expected {expected}, got rank {got}")]
    Rank {
        /// The op.
        op: Name,
        /// The ranks it takes.
        expected: String,
        /// The rank it was given.
        got: usize,
    },
    /// An element type that an op or a backend cannot take.
    #[error("{op}: expected {expected}, got {got}; `cast` converts")]
    DType {
        /// The op.
        op: Name,
        /// The element type it was given.
        got: DType,
        /// What it takes.
        expected: String,
    },
    /// An element type that a backend does not hold.
    #[error("`{backend}` does not hold {got} elements; it holds {}", List(.supported))]
    Unsupported {
        /// The backend.
        backend: Name,
        /// The element type asked for.
        got: DType,
        /// What the backend holds.
        supported: Vec<DType>,
    },
    /// An index outside its axis.
    #[error("{op}: index {index} is out of range for axis {axis} of size {size}")]
    Index {
        /// The op.
        op: Name,
        /// The index.
        index: i64,
        /// The axis it points into.
        axis: usize,
        /// The size of that axis.
        size: usize,
    },
    /// An argument that makes no sense.
    #[error("{op}: {message}")]
    Argument {
        /// The op.
        op: Name,
        /// What was given and what was expected.
        message: String,
    },
    /// Operands on two devices of one backend.
    #[error("{op}: operands are on two devices, {left} and {right}; `.to_device(&device)` moves one")]
    DeviceMismatch {
        /// The op.
        op: Name,
        /// The device of the first operand.
        left: String,
        /// The device that differs.
        right: String,
    },
    /// Operands on two backends.
    #[error("{op}: operands are on two backends, `{left}` and `{right}`; move one to the other's device")]
    BackendMismatch {
        /// The op.
        op: Name,
        /// The backend of the first operand.
        left: Name,
        /// The backend that differs.
        right: Name,
    },
    /// A collective operation on a backend that has none.
    #[error("`{backend}` takes no part in collective operations; {help}")]
    NotCollective {
        /// The backend.
        backend: Name,
        /// The way out.
        help: Name,
    },
    /// A gradient asked of a tensor that records none.
    #[error("{op}: the tensor records no gradients; call `require_grad` on a leaf it is computed from")]
    NotTracked {
        /// The op.
        op: Name,
    },
    /// An operation for leaves, on a tensor that an op produced.
    #[error(
        "{op}: the tensor is not a leaf, `{producer}` produced it; mark the leaf itself, or `detach` first"
    )]
    NotLeaf {
        /// The op.
        op: Name,
        /// The op that produced the tensor.
        producer: Name,
    },
    /// A tracked tensor where its history cannot come along.
    #[error(
        "{op}: the tensor is tracked (by `{producer}`), and its graph cannot come along; `detach` it first"
    )]
    Tracked {
        /// The op.
        op: Name,
        /// What made the tensor a tracked one.
        producer: Name,
    },
    /// A backend that this program was compiled without.
    #[error(
        "`{backend}` is not compiled in; enable keyway's feature `{feature}` (compiled in: {compiled_in})"
    )]
    NotCompiledIn {
        /// The backend asked for.
        backend: Name,
        /// The feature that brings it.
        feature: Name,
        /// The devices that can be opened.
        compiled_in: String,
    },
    /// A device that cannot be opened on this machine.
    #[error("no device `{device}`: {message}")]
    NoDevice {
        /// The device asked for.
        device: String,
        /// What was looked for.
        message: String,
    },
    /// A collective operation that did not take place.
    #[error("{op}{}: rank {rank}: {message}", Of(.param))]
    Collective {
        /// The operation.
        op: Name,
        /// The parameter it was for, if any.
        param: Option<String>,
        /// The rank at fault.
        rank: usize,
        /// What it did.
        message: String,
    },
    /// A file that cannot be read or written, or is not what it should be.
    #[error("{path}: {message}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// A backend failed in its own way.
    #[error("{op} on `{backend}`: {message}")]
    Backend {
        /// The op.
        op: Name,
        /// The backend.
        backend: Name,
        /// Its own message.
        message: String,
    },
}

impl Error {
    /// An [`Error::Argument`].
    pub fn argument(op: impl Into<Name>, message: impl Into<String>) -> Self {
        Error::Argument {
            op: op.into(),
            message: message.into(),
        }
    }

    /// An [`Error::Shape`].
    pub fn shape(op: impl Into<Name>, shapes: &[&Shape], message: impl Into<String>) -> Self {
        let shapes = shapes.iter().map(|&s| s.clone()).collect();
        Error::Shape {
            op: op.into(),
            shapes,
            message: message.into(),
        }
    }

    /// An [`Error::DType`].
    pub fn dtype(op: impl Into<Name>, got: DType, expected: impl Into<String>) -> Self {
        Error::DType {
            op: op.into(),
            got,
            expected: expected.into(),
        }
    }

    /// The same error of the operation that was called, where it comes from an op that this one is made of.
    pub(crate) fn of(mut self, called: &'static str) -> Self {
        match &mut self {
            Error::Shape { op, .. }
            | Error::Rank { op, .. }
            | Error::DType { op, .. }
            | Error::Index { op, .. }
            | Error::Argument { op, .. }
            | Error::DeviceMismatch { op, .. }
            | Error::BackendMismatch { op, .. } => *op = called.into(),
            _ => {}
        }
        self
    }

    /// An [`Error::Rank`].
    pub fn rank(op: impl Into<Name>, got: usize, expected: impl Into<String>) -> Self {
        Error::Rank {
            op: op.into(),
            got,
            expected: expected.into(),
        }
    }
}

struct Shapes<'a>(&'a [Shape]);
impl fmt::Display for Shapes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_joined(f, self.0, " and ")
    }
}

struct List<'a>(&'a [DType]);
impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_joined(f, self.0, " ")
    }
}

struct Of<'a>(&'a Option<String>);
impl fmt::Display for Of<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |param| write!(f, " of `{param}`"))
    }
}

fn write_joined<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: &[T], by: &str) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if i == 0 { "" } else { by })?;
    }
    Ok(())
}
