//! What does not compile, and how each promise is held.
//!
//! Nearly every misuse is one of four errors: an unmet **bound** of a method (E0277, with this crate's text), types that
//! **differ** (E0308, or E0277 where a method takes several types), an **assertion** on ranks (E0080), or a **name** of
//! something that does not exist (E0432). A folder of `ui-tests/fail` has each promise's misuses with the compiler's text, and
//! the folder of that name in `ui-tests/pass` has near-identical twins that compile; `ui-tests/TABLE.md` lists them all.
//!
//! | promise | how it is held | cases in `ui-tests/fail` |
//! |---|---|---|
//! | [collective operations only in a group](#collective-operations-need-a-group) | bound `CollectiveBackend` | `01-not-collective`, `02-no-communicator` |
//! | [a mesh of local backends only](#a-mesh-joins-local-backends) | bound `LocalBackend` | `02-no-communicator` |
//! | [gradients only where they are recorded](#gradients-need-autodiff) | bound `AutodiffBackend` | `03-no-autodiff`, `06-no-gradients` |
//! | [gradients of floats only](#gradients-are-of-floats) | bound `FloatElement` | `04-not-float-parameters`, `06-no-gradients` |
//! | [`Autodiff` once](#autodiff-goes-around-once) | bound `PlainBackend` | `07-nested-autodiff` |
//! | [each op for its element types](#each-op-names-its-element-types) | bounds `FloatElement`, `IntElement`, `NumericElement`, `BitElement` | `08-wrong-element` |
//! | [tracked with tracked](#tracked-and-plain-tensors-do-not-mix) | `B` differs | `09-tracked-with-plain`, `14-tracked-instances` |
//! | [one element type](#element-types-do-not-mix) | `E` differs | `10-wrong-kind` |
//! | [one backend](#backends-do-not-mix) | `B` differs | `11-two-backends` |
//! | [no silent detach](#a-move-does-not-detach) | bound `PlainBackend` | `13-tracked-move` |
//! | [values only where there are values](#what-only-records-has-no-values) | bound `Readable` | `15-recorded` |
//! | a backend whose feature is off does not exist | no such name | `19-not-compiled-in` |
//! | [element types that the backend holds](#a-backend-holds-its-element-types) | bound `Supports<E>` | `22-unsupported-element` |
//! | [ranks fit](#ranks-fit) | `D` differs, or an assertion | `23-rank`, and `fail-built/23-rank` |
//! | [one checkpointing strategy](#checkpointing-strategies-do-not-mix) | `S` differs | `24-strategies` |
//! | [one kind of device in a group](#a-group-has-one-kind-of-device) | `B` differs | `25-mixed-group` |
//! | [no result before it is there](#a-pending-result-is-no-tensor) | `Pending<_>` is another type | `26-pending` |
//! | [no step with unsynchronised gradients](#an-optimizer-takes-synchronised-gradients) | bound `ReadyToStep` | `27-unsynced` |
//! | [a transport that can carry the memory](#a-transport-carries-the-backends-memory) | bound `Carries<B>` | `29-transport` |
//! | [no op is a stub, no claim without its operations](#a-backend-is-what-it-claims) | exhaustive `match`; `Reach` needs its evidence | `31-false-claims` |
//! | [no outcome is ignored unseen](#an-outcome-is-used) | `#[must_use]` | `32-ignored-outcome` |
//!
//! What types cannot hold (sizes, indices, values, devices, files, other members) is an [`Error`](crate::Error).
//!
//! In what follows, the first of two examples does not compile, and the second does.
//!
//! # Collective operations need a group
//!
//! ```compile_fail,E0277
//! # use keyway::prelude::*;
//! fn total(x: Tensor<Flex, 1>) -> Result<Tensor<Flex, 1>, Error> {
//!     x.all_reduce(ReduceKind::Sum)
//! }
//! ```
//! ```
//! # use keyway::prelude::*;
//! fn total(x: Tensor<Mesh<Flex>, 1>) -> Result<Tensor<Mesh<Flex>, 1>, Error> {
//!     x.all_reduce(ReduceKind::Sum)
//! }
//! ```
//!
//! # A mesh joins local backends
//!
//! Gradients go around the mesh, as in `Autodiff<Mesh<Flex>>`.
//!
//! ```compile_fail,E0277
//! # use keyway::prelude::*;
//! let devices = Mesh::<Autodiff<Flex>>::open(2)?;
//! # Ok::<(), Error>(())
//! ```
//! ```
//! # use keyway::prelude::*;
//! let devices = Mesh::<Flex>::open(2)?;
//! # Ok::<(), Error>(())
//! ```
//!
//! # Gradients need `Autodiff`
//!
//! ```compile_fail,E0277
//! # use keyway::prelude::*;
//! fn slopes<B: Backend>(loss: Tensor<B, 1>) {
//!     let gradients = loss.backward();
//! }
//! ```
//! ```
//! # use keyway::prelude::*;
//! fn slopes<B: AutodiffBackend>(loss: Tensor<B, 1>) {
//!     let gradients = loss.backward();
//! }
//! ```
//!
//! # Gradients are of floats
//!
//! ```compile_fail,E0277
//! # use keyway::prelude::*;
//! fn leaf(x: Tensor<Autodiff<Flex>, 1, i32>) -> Tensor<Autodiff<Flex>, 1, i32> {
//!     x.require_grad()
//! }
//! ```
//! ```
//! # use keyway::prelude::*;
//! fn leaf(x: Tensor<Autodiff<Flex>, 1, f64>) -> Tensor<Autodiff<Flex>, 1, f64> {
//!     x.require_grad()
//! }
//! ```
//!
//! # `Autodiff` goes around once
//!
//! ```compile_fail,E0277
//! # use keyway::prelude::*;
//! fn forward<B: Backend>(x: Tensor<Autodiff<B>, 1>) {}
//! ```
//! ```
//! # use keyway::prelude::*;
//! fn forward<B: PlainBackend>(x: Tensor<Autodiff<B>, 1>) {}
//! ```
//!
//! # Each op names its element types
//!
//! ```compile_fail,E0277
//! # use keyway::prelude::*;
//! fn both(x: Tensor<Flex, 1, bool>, y: Tensor<Flex, 1, bool>) -> Tensor<Flex, 1, bool> {
//!     x + y
//! }
//! ```
//! ```
//! # use keyway::prelude::*;
//! fn both(x: Tensor<Flex, 1, bool>, y: Tensor<Flex, 1, bool>) -> Tensor<Flex, 1, bool> {
//!     x & y
//! }
//! ```
//!
//! # Tracked and plain tensors do not mix
//!
//! ```compile_fail,E0277
//! # use keyway::prelude::*;
//! fn shift(x: Tensor<Autodiff<Flex>, 1>, by: Tensor<Flex, 1>) -> Tensor<Autodiff<Flex>, 1> {
//!     x + by
//! }
//! ```
//! ```
//! # use keyway::prelude::*;
//! fn shift(x: Tensor<Autodiff<Flex>, 1>, by: Tensor<Flex, 1>) -> Tensor<Autodiff<Flex>, 1> {
//!     x + Tensor::from_inner(by)
//! }
//! ```
//!
//! # Element types do not mix
//!
//! ```compile_fail,E0277
//! # use keyway::prelude::*;
//! fn scale(x: Tensor<Flex, 1>, by: Tensor<Flex, 1, i32>) -> Tensor<Flex, 1> {
//!     x * by
//! }
//! ```
//! ```
//! # use keyway::prelude::*;
//! fn scale(x: Tensor<Flex, 1>, by: Tensor<Flex, 1, i32>) -> Tensor<Flex, 1> {
//!     x * by.cast::<f32>()
//! }
//! ```
//!
//! # Backends do not mix
//!
//! ```compile_fail,E0308
//! # use keyway::prelude::*;
//! fn project(x: Tensor<Mesh<Flex>, 2>, w: Tensor<Flex, 2>) -> Tensor<Mesh<Flex>, 2> {
//!     x.matmul(w)
//! }
//! ```
//! ```
//! # use keyway::prelude::*;
//! fn project(x: Tensor<Mesh<Flex>, 2>, w: Tensor<Flex, 2>) -> Result<Tensor<Mesh<Flex>, 2>, Error> {
//!     let device = x.device();
//!     Ok(x.matmul(w.to_backend(&device)?))
//! }
//! ```
//!
//! # A move does not detach
//!
//! To leave a graph is a step of its own.
//!
//! ```compile_fail,E0277
//! # use keyway::prelude::*;
//! fn to_group(x: Tensor<Autodiff<Flex>, 1>, device: &keyway::MeshDevice<Flex>) -> Result<Tensor<Mesh<Flex>, 1>, Error> {
//!     x.to_backend(device)
//! }
//! ```
//! ```
//! # use keyway::prelude::*;
//! fn to_group(x: Tensor<Autodiff<Flex>, 1>, device: &keyway::MeshDevice<Flex>) -> Result<Tensor<Mesh<Flex>, 1>, Error> {
//!     x.inner().to_backend(device)
//! }
//! ```
//!
//! # What only records has no values
//!
//! ```compile_fail,E0277
//! # use keyway::prelude::*;
//! fn values<B: Backend>(x: Tensor<B, 1>) -> Result<Vec<f32>, Error> {
//!     x.into_vec()
//! }
//! ```
//! ```
//! # use keyway::prelude::*;
//! fn values<B: Readable>(x: Tensor<B, 1>) -> Result<Vec<f32>, Error> {
//!     x.into_vec()
//! }
//! ```
//!
//! # A backend holds its element types
//!
//! Every backend holds `f32`, `i32` and `bool`; the others are asked for.
//!
//! ```compile_fail,E0277
//! # use keyway::prelude::*;
//! fn precise<B: Backend>(x: Tensor<B, 1>) -> Tensor<B, 1, f64> {
//!     x.cast()
//! }
//! ```
//! ```
//! # use keyway::prelude::*;
//! fn precise<B: Backend + Supports<f64>>(x: Tensor<B, 1>) -> Tensor<B, 1, f64> {
//!     x.cast()
//! }
//! ```
//!
//! # Ranks fit
//!
//! ```compile_fail,E0308
//! # use keyway::prelude::*;
//! fn rows(x: Tensor<Flex, 2>) -> Tensor<Flex, 1> {
//!     x.sum_dim(1)
//! }
//! ```
//! ```
//! # use keyway::prelude::*;
//! fn rows(x: Tensor<Flex, 2>) -> Tensor<Flex, 1> {
//!     x.sum_dim(1).squeeze_dim(1)
//! }
//! ```
//!
//! Arithmetic on ranks is asserted where code is generated: in `cargo build`, not in `cargo check`.
//!
//! ```compile_fail,E0080
//! # use keyway::prelude::*;
//! let rows = Tensor::<Flex, 2>::zeros([3, 1], &Default::default()).squeeze_dim::<2>(1);
//! ```
//! ```
//! # use keyway::prelude::*;
//! let rows = Tensor::<Flex, 2>::zeros([3, 1], &Default::default()).squeeze_dim::<1>(1);
//! ```
//!
//! # Checkpointing strategies do not mix
//!
//! ```compile_fail,E0277
//! # use keyway::prelude::*;
//! fn join(x: Tensor<Autodiff<Flex>, 1>, y: Tensor<Autodiff<Flex, BalancedCheckpointing>, 1>) {
//!     let sum = x + y;
//! }
//! ```
//! ```
//! # use keyway::prelude::*;
//! fn join(x: Tensor<Autodiff<Flex, BalancedCheckpointing>, 1>, y: Tensor<Autodiff<Flex, BalancedCheckpointing>, 1>) {
//!     let sum = x + y;
//! }
//! ```
//!
//! # A group has one kind of device
//!
//! ```compile_fail,E0308
//! # use keyway::{Flex, FlexDevice, MeshDevice};
//! let devices: Vec<MeshDevice<Flex>> = vec![MeshDevice::default(), FlexDevice::default()];
//! ```
//! ```
//! # use keyway::{Flex, FlexDevice, MeshDevice};
//! let devices: Vec<MeshDevice<Flex>> = vec![MeshDevice::default(), MeshDevice::alone(FlexDevice::default())];
//! ```
//!
//! # A pending result is no tensor
//!
//! ```compile_fail,E0277
//! # use keyway::prelude::*;
//! fn both(x: Tensor<Mesh<Flex>, 1>, y: Tensor<Mesh<Flex>, 1>) -> Result<Tensor<Mesh<Flex>, 1>, Error> {
//!     let total = x.all_reduce_async(ReduceKind::Sum)?;
//!     Ok(y + total)
//! }
//! ```
//! ```
//! # use keyway::prelude::*;
//! fn both(x: Tensor<Mesh<Flex>, 1>, y: Tensor<Mesh<Flex>, 1>) -> Result<Tensor<Mesh<Flex>, 1>, Error> {
//!     let total = x.all_reduce_async(ReduceKind::Sum)?;
//!     Ok(y + total.wait()?)
//! }
//! ```
//!
//! # An optimizer takes synchronised gradients
//!
//! On a local backend `sync` does nothing and may be left out; code that is to work in a group calls it.
//!
//! ```compile_fail,E0277
//! # use keyway::{nn::Linear, optim::Sgd, prelude::*};
//! fn step<B: PlainBackend>(sgd: &mut Sgd<B>, model: &mut Linear<Autodiff<B>>, loss: Tensor<Autodiff<B>, 1>) -> Result<(), Error> {
//!     sgd.step(0.1, model, &loss.backward())
//! }
//! ```
//! ```
//! # use keyway::{nn::Linear, optim::Sgd, prelude::*};
//! fn step<B: PlainBackend>(sgd: &mut Sgd<B>, model: &mut Linear<Autodiff<B>>, loss: Tensor<Autodiff<B>, 1>) -> Result<(), Error> {
//!     sgd.step(0.1, model, &loss.backward().sync()?)
//! }
//! ```
//!
//! # A transport carries the backend's memory
//!
//! ```compile_fail,E0277
//! # use keyway::{LocalBackend, prelude::*};
//! fn forward<B: LocalBackend, T>(x: Tensor<Mesh<B, T>, 1>) {}
//! ```
//! ```
//! # use keyway::{LocalBackend, collective::Carries, prelude::*};
//! fn forward<B: LocalBackend, T: Carries<B>>(x: Tensor<Mesh<B, T>, 1>) {}
//! ```
//!
//! # A backend is what it claims
//!
//! `type Reach = Collective` needs `impl CollectiveBackend`, and the reverse. An op that a backend's `match` leaves out is
//! named by the compiler, and so is a family of ops:
//!
//! ```compile_fail,E0004
//! # use keyway::op::ScanOp;
//! fn start(op: ScanOp) -> f32 {
//!     match op {
//!         ScanOp::Sum => 0.0,
//!         ScanOp::Max => f32::NEG_INFINITY,
//!         ScanOp::Min => f32::INFINITY,
//!     }
//! }
//! ```
//! ```
//! # use keyway::op::ScanOp;
//! fn start(op: ScanOp) -> f32 {
//!     match op {
//!         ScanOp::Sum => 0.0,
//!         ScanOp::Prod => 1.0,
//!         ScanOp::Max => f32::NEG_INFINITY,
//!         ScanOp::Min => f32::INFINITY,
//!     }
//! }
//! ```
//!
//! # An outcome is used
//!
//! What can fail returns a `Result`, and a pending result says that it is nothing until `.wait()?`: the compiler warns where
//! either is dropped.
//!
//! ```compile_fail
//! #![deny(unused_must_use)]
//! # use keyway::prelude::*;
//! fn start(x: Tensor<Mesh<Flex>, 1>) -> Result<(), Error> {
//!     x.all_reduce_async(ReduceKind::Sum)?;
//!     Ok(())
//! }
//! ```
//! ```
//! #![deny(unused_must_use)]
//! # use keyway::prelude::*;
//! fn start(x: Tensor<Mesh<Flex>, 1>) -> Result<Tensor<Mesh<Flex>, 1>, Error> {
//!     x.all_reduce_async(ReduceKind::Sum)?.wait()
//! }
//! ```
