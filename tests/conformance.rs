//! Every op of the vocabulary on every backend, element type and memory layout, against the reference.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;
use std::panic::{AssertUnwindSafe, catch_unwind};

use keyway::collective::MeshDevice;
use keyway::dynamic::{Dyn, DynDevice};
use keyway::op::random::Key;
use keyway::op::{self, Arg, BinaryOp, CreateOp, FusedOp, HasMeta, IndexOp, Op, ScatterMode};
use keyway::raw::Raw;
use keyway::{Autodiff, AutodiffBackend, Backend, DType, Error, Flex, Mesh, Readable, Scalar, TensorData};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use support::{Dense, Fill, Layout, Operand, Reference, difference, leaf, leaves, ops};

#[test]
fn flex() {
    Suite::<Flex>::new(&Default::default(), |x| x).thoroughly().run();
}

#[cfg(feature = "ndarray")]
#[test]
fn ndarray() {
    Suite::<keyway::NdArray>::new(&Default::default(), |x| x)
        .thoroughly()
        .run();
}

#[cfg(feature = "candle")]
#[test]
fn candle() {
    Suite::<keyway::Candle>::new(&Default::default(), |x| x)
        .thoroughly()
        .run();
}

#[cfg(feature = "tch")]
#[test]
fn tch() {
    Suite::<keyway::LibTorch>::new(&Default::default(), |x| x)
        .thoroughly()
        .run();
}

#[cfg(feature = "candle")]
#[test]
fn candle_mesh() {
    Suite::<Mesh<keyway::Candle>>::new(&MeshDevice::alone(Default::default()), |x| x).run();
}

#[test]
fn autodiff_untracked() {
    Suite::<Autodiff<Flex>>::new(&Default::default(), |x| x).run();
}

#[test]
fn autodiff_tracked() {
    Suite::<Autodiff<Flex>>::new(&Default::default(), tracked).run();
}

/// A group of one.
#[test]
fn mesh() {
    Suite::<Mesh<Flex>>::new(&MeshDevice::alone(Default::default()), |x| x).run();
}

/// Run-time dispatch on every backend that is compiled in.
#[test]
fn dynamic() {
    for device in dyn_devices() {
        Suite::<Dyn>::new(&device, |x| x).briefly().run();
    }
}

/// The same under `Autodiff`: the backend of `DynTensor`.
#[test]
fn dynamic_untracked() {
    for device in dyn_devices() {
        Suite::<Autodiff<Dyn>>::new(&device, |x| x).briefly().run();
    }
}

#[test]
fn dynamic_tracked() {
    for device in dyn_devices() {
        Suite::<Autodiff<Dyn>>::new(&device, tracked).briefly().run();
    }
}

/// Everything that is available, groups with one member; and a third party's backend.
fn dyn_devices() -> impl Iterator<Item = DynDevice> {
    let open = |text: String| {
        // `mesh:flex:2`: with one member, nobody waits for another.
        let one = text.strip_suffix(":2").unwrap_or(&text);
        one.parse().expect("an available device opens")
    };
    let available = DynDevice::available()
        .into_iter()
        .map(move |device| open(device.text));
    available.chain([DynDevice::custom::<Flex>(Default::default())])
}

/// Makes floats leaves.
fn tracked<B: AutodiffBackend>(x: Raw<B>) -> Raw<B> {
    if x.dtype().is_float() {
        Raw::new(B::require_grad(x.into_primitive()).expect("a new tensor may be a leaf"))
    } else {
        x
    }
}

/// Ranks 0 to 5, axes of sizes 0 and 1, and images of one to three axes.
const SHAPES: &[&[usize]] = &[
    &[],
    &[0],
    &[1],
    &[7],
    &[3, 4],
    &[5, 1],
    &[2, 0, 3],
    &[2, 3, 4],
    &[1, 4, 1],
    &[2, 2, 9],
    &[2, 1, 3, 2],
    &[1, 4, 5, 6],
    &[2, 3, 1, 2, 2],
    &[1, 2, 4, 3, 4],
];

/// Large enough for every path that starts at a size.
const LARGE: &[&[usize]] = &[&[513, 257], &[2, 4, 17, 19]];

/// One backend, and what has been found of it.
struct Suite<'a, B: Backend> {
    device: &'a B::Device,
    /// What is done to each operand before its views are taken.
    prepare: fn(Raw<B>) -> Raw<B>,
    depth: Depth,
    /// For each leaf and element type, the first failure and how many there are.
    failures: BTreeMap<(&'static str, DType), (String, usize)>,
    /// The leaves that gave a result, with the layout of their first operand.
    seen: BTreeSet<(&'static str, Layout)>,
    checks: usize,
}

/// How much is checked: every op on every element type in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Depth {
    /// A few cases of each: for the choice between backends that are checked themselves.
    Brief,
    /// Every case: for what works on a backend's tensors.
    Full,
    /// Every case in every layout, and large tensors: for kernels.
    Thorough,
}

/// An op with everything that its check depends on.
#[derive(Clone, Debug)]
struct Case {
    op: Op<Operand>,
    /// The layout of the first operand; the next operands take the next layouts in turn if `mixed`.
    layout: Layout,
    mixed: bool,
    /// Whether operands of one description are one tensor.
    aliased: bool,
    /// Whether someone else holds the operands meanwhile.
    shared: bool,
    seed: u64,
}

impl<'a, B: Backend + Readable> Suite<'a, B> {
    fn new(device: &'a B::Device, prepare: fn(Raw<B>) -> Raw<B>) -> Self {
        Suite {
            device,
            prepare,
            depth: Depth::Full,
            failures: BTreeMap::new(),
            seen: BTreeSet::new(),
            checks: 0,
        }
    }

    fn thoroughly(self) -> Self {
        Suite {
            depth: Depth::Thorough,
            ..self
        }
    }

    fn briefly(self) -> Self {
        Suite {
            depth: Depth::Brief,
            ..self
        }
    }

    fn run(mut self) {
        self.every_op();
        self.special_values();
        if self.depth == Depth::Thorough {
            self.large_tensors();
        }
        self.values_that_are_errors();
        self.creation();
        self.random_ops();
        self.report();
    }

    fn every_op(&mut self) {
        for (s, &shape) in SHAPES.iter().enumerate() {
            for (d, &dtype) in DType::ALL.iter().enumerate() {
                let mut ops = ops(&shape.into(), dtype);
                if self.depth == Depth::Brief {
                    ops = one_of_each(ops, s + d);
                }
                for (i, op) in ops.into_iter().enumerate() {
                    // Over the shapes and types, each op meets every layout.
                    for turn in 0..if self.depth == Depth::Thorough { 2 } else { 1 } {
                        let turn = 3 * turn + i + s + d;
                        let layout = Layout::ALL[turn % Layout::ALL.len()];
                        self.check(&Case {
                            op: op.clone(),
                            layout,
                            mixed: turn % 2 == 0,
                            aliased: turn % 5 == 0,
                            shared: turn % 3 == 0,
                            seed: (turn * 1000 + i) as u64,
                        });
                    }
                }
            }
        }
        let seen = |name| {
            let mut layouts = Layout::ALL
                .iter()
                .map(|&layout| self.seen.contains(&(name, layout)));
            if self.depth == Depth::Thorough {
                layouts.all(|seen| seen)
            } else {
                layouts.any(|seen| seen)
            }
        };
        let missing: Vec<_> = leaves().filter(|name| !seen(name)).collect();
        assert!(
            missing.is_empty() || !self.failures.is_empty(),
            "not tested, or not in every layout: {missing:?}"
        );
    }

    fn special_values(&mut self) {
        for &dtype in DType::ALL {
            for op in support::ops::special_pairs(dtype) {
                let layouts = [Layout::Contiguous, Layout::Permuted];
                for layout in &layouts[..if self.depth == Depth::Brief { 1 } else { 2 }] {
                    self.check(&Case::new(op.clone(), *layout, 0));
                }
            }
        }
    }

    fn large_tensors(&mut self) {
        for &shape in LARGE {
            let mut last = "";
            for op in ops(&shape.into(), DType::F32) {
                if leaf(&op) != last {
                    last = leaf(&op);
                    self.check(&Case::new(op, Layout::Contiguous, 1));
                }
            }
        }
    }

    /// Indices outside their axis and integer divisions by zero.
    fn values_that_are_errors(&mut self) {
        let x = || Operand::new([3, 4], DType::F32, Fill::Tame);
        for dtype in [DType::I32, DType::I64, DType::U8, DType::U64, DType::I8] {
            for value in [4, -1] {
                let index = || Operand::new([3, 2], dtype, Fill::Same(value));
                let line = || Operand::new([2], dtype, Fill::Same(value));
                let src = || Operand::new([3, 2], DType::F32, Fill::Tame);
                // Nothing to read or write, and yet an error.
                let nothing = |n| Operand::new([0, n], DType::F32, Fill::Tame);
                let mut indexed = vec![
                    IndexOp::Gather {
                        x: x(),
                        index: index(),
                        axis: 1,
                    },
                    IndexOp::Select {
                        x: x(),
                        index: line(),
                        axis: 1,
                    },
                    IndexOp::Select {
                        x: nothing(4),
                        index: line(),
                        axis: 1,
                    },
                    IndexOp::SelectAssign {
                        x: nothing(4),
                        index: line(),
                        src: nothing(2),
                        axis: 1,
                        mode: ScatterMode::Set,
                    },
                ];
                for &mode in ScatterMode::ALL {
                    indexed.push(IndexOp::Scatter {
                        x: x(),
                        index: index(),
                        src: src(),
                        axis: 1,
                        mode,
                    });
                    indexed.push(IndexOp::SelectAssign {
                        x: x(),
                        index: line(),
                        src: src(),
                        axis: 1,
                        mode,
                    });
                }
                let targets = Operand::new([3], dtype, Fill::Same(value));
                let mut ops: Vec<Op<Operand>> =
                    indexed.into_iter().map(|op| Op::Index(Box::new(op))).collect();
                ops.push(Op::Fused(Box::new(FusedOp::CrossEntropy {
                    logits: x(),
                    targets,
                })));
                for op in ops {
                    self.check(&Case::new(op.clone(), Layout::Contiguous, 0));
                    self.check(&Case::new(op, Layout::Mixed, 0));
                }
            }
        }
        for &dtype in DType::ALL.iter().filter(|dtype| dtype.is_int()) {
            let numbers = || Arg::Tensor(Operand::new([2, 3], dtype, Fill::Wild));
            let zeros = || Operand::new([2, 3], dtype, Fill::Same(0));
            for op in [BinaryOp::Div, BinaryOp::Remainder] {
                self.check(&Case::new(
                    Op::Binary(op, numbers(), Arg::Tensor(zeros())),
                    Layout::Contiguous,
                    0,
                ));
                self.check(&Case::new(
                    Op::Binary(op, numbers(), Arg::Tensor(zeros())),
                    Layout::Sliced,
                    0,
                ));
                self.check(&Case::new(
                    Op::Binary(op, numbers(), Arg::Scalar(Scalar::Int(0))),
                    Layout::Permuted,
                    0,
                ));
                self.check(&Case::new(
                    Op::Binary(op, Arg::Scalar(Scalar::Int(1)), Arg::Tensor(zeros())),
                    Layout::Flipped,
                    0,
                ));
            }
        }
    }

    /// New tensors: uniform ones have the same bits everywhere.
    fn creation(&mut self) {
        let key = Key { seed: 9, offset: 5 };
        let full = [
            Scalar::Float(2.5),
            Scalar::Int(-3),
            Scalar::UInt(u64::MAX),
            Scalar::Bool(true),
            Scalar::Float(f64::NAN),
        ];
        let lines = [
            (Scalar::Int(0), Scalar::Int(1)),
            (Scalar::Int(5), Scalar::Int(-2)),
            (Scalar::Float(-1.5), Scalar::Float(0.1)),
        ];
        let mut ops: Vec<CreateOp> = full.map(CreateOp::Full).into();
        ops.extend(lines.map(|(start, step)| CreateOp::Arange { start, step }));
        ops.extend(
            [(0.0, 1.0), (-3.0, 7.5), (2.0, 2.0)].map(|(low, high)| CreateOp::Uniform { low, high, key }),
        );
        ops.extend(
            [(0.0, 1.0), (5.0, 0.25), (1.0, 0.0)].map(|(mean, std)| CreateOp::Normal { mean, std, key }),
        );
        for op in ops {
            for shape in [&[][..], &[0], &[5], &[3, 0], &[3, 7], &[70_001]] {
                for &dtype in B::dtypes(self.device) {
                    let make = || Raw::<Reference>::create(op.clone(), shape, dtype, &Default::default());
                    let Ok(want) = make().map(Raw::into_primitive) else {
                        continue;
                    };
                    let got =
                        Raw::<B>::create(op.clone(), shape, dtype, self.device).and_then(Raw::into_data);
                    let wrong = match &got {
                        Ok(got) => created_difference(&op, &want, got),
                        Err(error) => Some(format!("is an error: {error}")),
                    };
                    if let Some(wrong) = wrong {
                        self.fail(op.name(), dtype, format!("{op:?} {shape:?}: the result {wrong}"));
                    }
                    self.checks += 1;
                }
            }
        }
    }

    /// Shapes, types, ops, layouts and values drawn at random, always the same ones.
    fn random_ops(&mut self) {
        let device = self.device;
        let sizes = prop_oneof![1 => Just(0usize), 2 => Just(1), 8 => 2..6usize];
        let shape = prop::collection::vec(sizes, 0..=5)
            .prop_filter("small", |shape| shape.iter().product::<usize>() <= 400);
        let case = (
            shape,
            prop::sample::select(B::dtypes(device).to_vec()),
            any::<prop::sample::Index>(),
            prop::sample::select(Layout::ALL),
            any::<[bool; 3]>(),
            any::<u64>(),
        );
        let case = case.prop_filter_map(
            "an op",
            |(shape, dtype, which, layout, [mixed, aliased, shared], seed)| {
                let mut ops = ops(&shape.into(), dtype);
                ops.retain(|op| is_held::<B>(op, device));
                let op = ops.get(which.index(ops.len().max(1)))?.clone();
                Some(Case {
                    op,
                    layout,
                    mixed,
                    aliased,
                    shared,
                    seed,
                })
            },
        );
        let config = Config {
            cases: if self.depth == Depth::Brief { 200 } else { 2000 },
            failure_persistence: None,
            ..Config::default()
        };
        let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
        let prepare = self.prepare;
        if let Err(failure) = runner.run(&case, |case| match outcome(&case, device, prepare) {
            Some(wrong) => Err(TestCaseError::fail(wrong)),
            None => Ok(()),
        }) {
            self.fail("random ops", DType::Bool, failure.to_string());
        }
    }

    fn check(&mut self, case: &Case) {
        if !is_held::<B>(&case.op, self.device) {
            return;
        }
        let mut dtype = None;
        case.op.visit(|x| dtype = dtype.or(Some(x.dtype())));
        self.checks += 1;
        let name = leaf(&case.op);
        match outcome(case, self.device, self.prepare) {
            Some(wrong) => self.fail(name, dtype.expect("every op has an operand"), wrong),
            None => drop(self.seen.insert((name, case.layout))),
        }
    }

    fn fail(&mut self, name: &'static str, dtype: DType, failure: String) {
        self.failures.entry((name, dtype)).or_insert((failure, 0)).1 += 1;
    }

    fn report(self) {
        let mut text = String::new();
        for ((name, dtype), (first, count)) in &self.failures {
            text += &format!("\n{name} of {dtype}, {count} failed, the first:\n{first}\n");
        }
        assert!(
            self.failures.is_empty(),
            "{} checks on {}\n{text}",
            self.checks,
            B::name(self.device)
        );
    }
}

/// Whether a device holds the element types of an op's operands and of its result.
fn is_held<B: Backend>(op: &Op<Operand>, device: &B::Device) -> bool {
    let dtypes = B::dtypes(device);
    let mut held = op::infer(op).map_or(true, |meta| dtypes.contains(&meta.dtype));
    op.visit(|x| held &= dtypes.contains(&x.dtype()));
    held
}

/// Of the cases of each op one, the `turn`th.
fn one_of_each(ops: Vec<Op<Operand>>, turn: usize) -> Vec<Op<Operand>> {
    let mut each: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for op in ops {
        each.entry(leaf(&op)).or_default().push(op);
    }
    let one = |mut cases: Vec<_>| cases.swap_remove(turn % cases.len());
    each.into_values().map(one).collect()
}

impl Case {
    fn new(op: Op<Operand>, layout: Layout, seed: u64) -> Self {
        Case {
            op,
            layout,
            mixed: false,
            aliased: false,
            shared: false,
            seed,
        }
    }

    /// The op on the tensors of a backend.
    fn place<B: Backend>(
        &self,
        device: &B::Device,
        prepare: fn(Raw<B>) -> Raw<B>,
    ) -> Result<Op<Raw<B>>, Error> {
        let first = Layout::ALL
            .iter()
            .position(|&layout| layout == self.layout)
            .expect("all are listed");
        let mut placed: Vec<(Operand, Raw<B>)> = vec![];
        self.op.clone().try_map(|operand| {
            if let Some((_, x)) = placed.iter().find(|(known, _)| self.aliased && *known == operand) {
                return Ok(x.clone());
            }
            let turn = if self.mixed { first + placed.len() } else { first };
            let seed = self.seed.wrapping_add(placed.len() as u64 * 7919);
            let x = operand.place::<B>(Layout::ALL[turn % Layout::ALL.len()], seed, device, prepare)?;
            placed.push((operand, x.clone()));
            Ok(x)
        })
    }
}

/// What is wrong with the result on a backend, if anything is.
fn outcome<B: Backend + Readable>(
    case: &Case,
    device: &B::Device,
    prepare: fn(Raw<B>) -> Raw<B>,
) -> Option<String> {
    let operands = case
        .place::<Reference>(&Default::default(), |x| x)
        .expect("operands are valid")
        .map(Raw::into_primitive);
    let want = op::run::<Reference>(operands.clone());
    let got = catch_unwind(AssertUnwindSafe(|| {
        let op = case.place::<B>(device, prepare)?;
        let held = case.shared.then(|| op.clone());
        let result = Raw::<B>::run(op)?.into_data()?;
        Ok((result, held.map(|op| op.try_map(Raw::into_data)).transpose()?))
    }));
    let wrong = match (&want, &got) {
        (_, Err(panic)) => Some(format!("panics: {}", message(panic.as_ref()))),
        (Ok(want), Ok(Ok((got, held)))) => difference(&B::name(device), &operands, want, got)
            .or_else(|| written_to(&operands, held.as_ref()?)),
        (Err(want), Ok(Err(got))) if discriminant(want) == discriminant(got) => None,
        (_, Ok(Err(error))) => Some(format!("is an error: {error}")),
        (Err(_), Ok(Ok(_))) => Some("is no error".into()),
    }?;
    let mut text = format!("{case:?}\nthe result {wrong}");
    let mut place = 0;
    operands.visit(|x| {
        text += &format!("\noperand {place}: {x}");
        place += 1;
    });
    text += &match want {
        Ok(want) => format!("\nexpected: {want}"),
        Err(error) => format!("\nexpected: {error}"),
    };
    if let Ok(Ok((got, _))) = got {
        text += &format!("\ngot:      {}", Dense::from_data(&got));
    }
    Some(text)
}

/// Whether an op wrote to an operand that someone else holds.
fn written_to(before: &Op<Dense>, after: &Op<TensorData>) -> Option<String> {
    let (mut expected, mut found) = (vec![], vec![]);
    before.visit(|x| expected.push(x));
    after.visit(|x| found.push(x));
    let copy = |x: &Dense| Op::Move(op::MoveOp::Reshape(x.shape().clone()), x.clone());
    expected.iter().zip(found).enumerate().find_map(|(i, (x, data))| {
        Some(format!(
            "is right, but operand {i}, held elsewhere, {}",
            difference("", &copy(x), x, data)?
        ))
    })
}

fn created_difference(op: &CreateOp, want: &Dense, got: &TensorData) -> Option<String> {
    let normal = matches!(op, CreateOp::Normal { .. });
    if !normal || want.dtype().size() == 2 {
        // Half types round normals that are equal within their own precision.
        let same = Op::Move(op::MoveOp::Reshape(want.shape().clone()), want.clone());
        let near = Op::Cast(want.dtype(), want.clone());
        return difference("", if normal { &near } else { &same }, want, got);
    }
    let pairs = want.values.iter().zip(Dense::from_data(got).values);
    pairs.enumerate().find_map(|(i, (want, got))| {
        let (want, got) = (want.float(), got.float());
        let close = (want - got).abs() <= 1e-6 * want.abs().max(1.0);
        (!close).then(|| format!("has {got} at {i}, not {want}"))
    })
}

fn message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied())
        .unwrap_or("with no text")
}

/// The reference is a backend like any other; this checks the suite itself.
#[test]
fn reference() {
    Suite::<Reference>::new(&Default::default(), |x| x).run();
}
