//! Every differentiable op of the vocabulary against central finite differences in `f64`: on contiguous, permuted, sliced
//! and expanded operands, on each CPU backend, with both strategies; and what finite differences cannot show, by hand.

use std::collections::BTreeSet;

use keyway::autodiff::Strategy;
use keyway::op::{
    Arg, BinaryOp, ConvOp, ConvOptions, FusedOp, HasMeta, IndexOp, MoveOp, Op, PadMode, PoolOp, PoolOptions,
    ReduceOp, ScanOp, ScatterMode, SliceRange, UnaryOp,
};
use keyway::prelude::*;
use keyway::raw::Raw;
use keyway::{DType, Dims, LocalBackend, Scalar, Shape};
use smallvec::smallvec;

/// An op whose operands are positions in a list of inputs.
struct Case {
    op: Op<usize>,
    inputs: Vec<Input>,
}

#[derive(Clone)]
enum Input {
    /// Random values of a range; its gradient is checked.
    Float(Vec<usize>, f64, f64),
    Int(Vec<usize>, Vec<i32>),
    Bool(Vec<usize>, Vec<bool>),
}

fn float(shape: &[usize]) -> Input {
    Input::Float(shape.to_vec(), -1.5, 1.5)
}

fn positive(shape: &[usize]) -> Input {
    Input::Float(shape.to_vec(), 0.4, 2.0)
}

fn indices(shape: &[usize], values: &[i32]) -> Input {
    Input::Int(shape.to_vec(), values.to_vec())
}

fn mask(shape: &[usize], values: &[bool]) -> Input {
    Input::Bool(shape.to_vec(), values.to_vec())
}

fn tensors(a: usize, b: usize) -> (Arg<usize>, Arg<usize>) {
    (Arg::Tensor(a), Arg::Tensor(b))
}

fn number(value: f64) -> Arg<usize> {
    Arg::Scalar(Scalar::Float(value))
}

fn cases() -> Vec<Case> {
    [
        unary(),
        binary(),
        reductions(),
        movements(),
        indexing(),
        linear(),
        fused(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn unary() -> Vec<Case> {
    let takes = |op: &&UnaryOp| op.takes(DType::F64) && op.output(DType::F64).is_float();
    let case = |&op: &UnaryOp| {
        let (low, high) = match op {
            UnaryOp::Log | UnaryOp::Sqrt | UnaryOp::Recip => (0.3, 2.0),
            UnaryOp::Acosh => (1.2, 3.0),
            UnaryOp::Log1p | UnaryOp::Asin | UnaryOp::Acos | UnaryOp::Atanh | UnaryOp::Tan => (-0.9, 0.9),
            _ => (-2.0, 2.0),
        };
        Case {
            op: Op::Unary(op, 0),
            inputs: vec![Input::Float(vec![2, 3], low, high)],
        }
    };
    let cast = Case {
        op: Op::Cast(DType::F64, 0),
        inputs: vec![float(&[2, 3])],
    };
    UnaryOp::ALL
        .iter()
        .filter(takes)
        .map(case)
        .chain([cast])
        .collect()
}

fn binary() -> Vec<Case> {
    let mut cases = vec![];
    for &op in BinaryOp::ALL.iter().filter(|op| op.takes(DType::F64)) {
        // Powers of negative numbers have no gradient in the exponent, and remainders jump where the quotient is whole.
        let input = match op {
            BinaryOp::Pow | BinaryOp::Div | BinaryOp::Remainder => positive,
            _ => float,
        };
        for (a, b) in [(&[2, 3], &[2, 3]), (&[2, 3], &[1, 3]), (&[2, 1], &[2, 3])] {
            let (x, y) = tensors(0, 1);
            cases.push(Case {
                op: Op::Binary(op, x, y),
                inputs: vec![input(a), input(b)],
            });
        }
        for (x, y) in [
            (Arg::Tensor(0), number(0.7)),
            (number(0.7), Arg::Tensor(0)),
            // The same tensor twice.
            tensors(0, 0),
        ] {
            let ties = x == y && matches!(op, BinaryOp::Remainder);
            if !ties {
                cases.push(Case {
                    op: Op::Binary(op, x, y),
                    inputs: vec![input(&[2, 3])],
                });
            }
        }
    }
    cases
}

fn reductions() -> Vec<Case> {
    let mut cases = vec![];
    for &op in ReduceOp::ALL {
        if op.takes(DType::F64) && !op.is_arg() {
            for axes in [&[1][..], &[0, 2], &[2, 0, 1], &[]] {
                cases.push(Case {
                    op: Op::Reduce(op, 0, Dims::from_slice(axes)),
                    inputs: vec![float(&[2, 3, 2])],
                });
            }
        }
    }
    for &op in ScanOp::ALL {
        for axis in 0..2 {
            cases.push(Case {
                op: Op::Scan(op, 0, axis),
                inputs: vec![float(&[3, 4])],
            });
        }
    }
    cases
}

fn movements() -> Vec<Case> {
    let ranges = |ranges: &[(usize, usize, isize)]| {
        let range = |&(start, end, step)| SliceRange { start, end, step };
        ranges.iter().map(range).collect()
    };
    let pads = smallvec![(1, 2), (2, 0)];
    let mut ops = vec![
        MoveOp::Reshape(Shape::from([2, 6])),
        MoveOp::Permute(smallvec![1, 0]),
        MoveOp::Slice(ranges(&[(1, 3, 1), (0, 4, 1)])),
        MoveOp::Slice(ranges(&[(0, 3, 2), (1, 4, -2)])),
        MoveOp::Flip(smallvec![1]),
        MoveOp::Repeat(smallvec![2, 3]),
        MoveOp::Pad(pads.clone(), PadMode::Constant(Scalar::Float(0.5))),
    ];
    for mode in [PadMode::Reflect, PadMode::Replicate, PadMode::Circular] {
        ops.push(MoveOp::Pad(pads.clone(), mode));
    }
    let one = |op| Case {
        op: Op::Move(op, 0),
        inputs: vec![float(&[3, 4])],
    };
    let expand = Case {
        op: Op::Move(MoveOp::Expand(Shape::from([2, 4, 3])), 0),
        inputs: vec![float(&[2, 1, 3])],
    };
    let cat = Case {
        op: Op::Cat(vec![0, 1, 0], 1),
        inputs: vec![float(&[2, 3]), float(&[2, 1])],
    };
    ops.into_iter().map(one).chain([expand, cat]).collect()
}

fn indexing() -> Vec<Case> {
    let index = |op, inputs: &[Input]| Case {
        op: Op::Index(Box::new(op)),
        inputs: inputs.to_vec(),
    };
    let along = indices(&[2, 4], &[0, 2, 0, 1, 2, 2, 2, 0]);
    let whole = indices(&[4], &[1, 0, 1, 2]);
    let (x, i) = (0, 1);
    let mut cases = vec![
        index(
            IndexOp::Gather { x, index: i, axis: 1 },
            &[float(&[2, 3]), along.clone()],
        ),
        index(
            IndexOp::Gather { x, index: i, axis: 0 },
            &[float(&[3, 2]), indices(&[2, 1], &[2, 2])],
        ),
        index(
            IndexOp::Select { x, index: i, axis: 1 },
            &[float(&[2, 3, 2]), whole.clone()],
        ),
        index(
            IndexOp::SliceAssign {
                x,
                src: 1,
                ranges: smallvec![
                    SliceRange::new(1, 3),
                    SliceRange {
                        start: 0,
                        end: 4,
                        step: -2
                    }
                ],
            },
            &[float(&[3, 4]), float(&[2, 2])],
        ),
    ];
    for &mode in ScatterMode::ALL {
        let (index_of, src, axis) = (1, 2, 1);
        cases.push(index(
            IndexOp::Scatter {
                x,
                index: index_of,
                src,
                axis,
                mode,
            },
            &[float(&[2, 3]), along.clone(), float(&[2, 4])],
        ));
        cases.push(index(
            IndexOp::SelectAssign {
                x,
                index: index_of,
                src,
                axis,
                mode,
            },
            &[float(&[2, 3, 2]), whole.clone(), float(&[2, 4, 2])],
        ));
    }
    let cond = mask(&[2, 3], &[true, false, true, true, false, false]);
    for (on_true, on_false) in [
        tensors(1, 2),
        (number(0.5), Arg::Tensor(1)),
        (Arg::Tensor(2), number(0.5)),
    ] {
        cases.push(index(
            IndexOp::Where {
                cond: 0,
                on_true,
                on_false,
            },
            &[cond.clone(), float(&[2, 3]), float(&[1, 3])],
        ));
    }
    cases
}

fn linear() -> Vec<Case> {
    let matmul = |a: &[usize], b: &[usize]| Case {
        op: Op::Matmul(0, 1),
        inputs: vec![float(a), float(b)],
    };
    let conv = |op, a: &[usize], b: &[usize]| Case {
        op: Op::Conv(Box::new(op)),
        inputs: vec![float(a), float(b)],
    };
    let pool = |op, x: &[usize]| Case {
        op: Op::Pool(Box::new(op), 0),
        inputs: vec![float(x)],
    };
    let plain = ConvOptions::new(1);
    let crooked = ConvOptions {
        stride: smallvec![2, 1],
        padding: smallvec![(2, 1), (0, 1)],
        dilation: smallvec![1, 2],
        groups: 2,
    };
    let mut window = PoolOptions {
        stride: smallvec![2, 1],
        padding: smallvec![(1, 0), (0, 1)],
        dilation: smallvec![1, 2],
        ..PoolOptions::new(Dims::from_slice(&[2, 2]))
    };
    let mut cases = vec![
        matmul(&[2, 3], &[3, 2]),
        matmul(&[2, 2, 3], &[2, 3, 2]),
        matmul(&[2, 2, 3], &[1, 3, 2]),
        matmul(&[2, 1, 2, 3], &[1, 2, 3, 1]),
        conv(
            ConvOp::Forward {
                x: 0,
                weight: 1,
                options: plain,
            },
            &[1, 2, 4],
            &[2, 2, 3],
        ),
        conv(
            ConvOp::Forward {
                x: 0,
                weight: 1,
                options: crooked.clone(),
            },
            &[2, 2, 4, 3],
            &[4, 1, 3, 2],
        ),
        conv(
            ConvOp::Transpose {
                x: 0,
                weight: 1,
                options: crooked.clone(),
                size: smallvec![4, 3],
            },
            &[1, 4, 3, 2],
            &[4, 1, 3, 2],
        ),
        conv(
            ConvOp::WeightGrad {
                x: 0,
                grad: 1,
                options: crooked,
                kernel: smallvec![3, 2],
            },
            &[1, 2, 4, 3],
            &[1, 4, 3, 2],
        ),
    ];
    for count_include_pad in [true, false] {
        window.count_include_pad = count_include_pad;
        cases.push(pool(PoolOp::Avg(window.clone()), &[1, 2, 3, 3]));
        cases.push(pool(
            PoolOp::AvgGrad(window.clone(), smallvec![3, 3]),
            &[1, 2, 2, 2],
        ));
    }
    cases
}

fn fused() -> Vec<Case> {
    let fused = |op, inputs: &[Input]| Case {
        op: Op::Fused(Box::new(op)),
        inputs: inputs.to_vec(),
    };
    let x = || vec![float(&[2, 4])];
    let mut cases = vec![fused(FusedOp::Silu { x: 0 }, &x())];
    for axis in 0..2 {
        cases.push(fused(FusedOp::Softmax { x: 0, axis }, &x()));
        cases.push(fused(FusedOp::LogSoftmax { x: 0, axis }, &x()));
    }
    for tanh in [false, true] {
        cases.push(fused(FusedOp::Gelu { x: 0, tanh }, &x()));
    }
    for (weight, bias) in [(None, None), (Some(1), None), (Some(1), Some(2))] {
        let eps = 1e-5;
        let op = FusedOp::LayerNorm {
            x: 0,
            weight,
            bias,
            eps,
        };
        cases.push(fused(op, &[float(&[2, 3, 4]), float(&[4]), float(&[4])]));
    }
    let qkv = || vec![float(&[2, 2, 3]), float(&[2, 3, 3]), float(&[2, 3, 2])];
    let attention = |mask, bias, causal| FusedOp::Attention {
        q: 0,
        k: 1,
        v: 2,
        mask,
        bias,
        causal,
        scale: None,
    };
    cases.push(fused(attention(None, None, true), &qkv()));
    let mut inputs = qkv();
    // The second query sees nothing.
    inputs.push(mask(&[1, 2, 3], &[false, true, false, true, true, true]));
    inputs.push(float(&[2, 1, 3]));
    cases.push(fused(attention(Some(3), Some(4), false), &inputs));
    cases.push(fused(
        FusedOp::CrossEntropy {
            logits: 0,
            targets: 1,
        },
        &[float(&[3, 4]), indices(&[3], &[2, 0, 2])],
    ));
    for n in 1..7 {
        let (half, whole) = ([2, n / 2 + 1], [2, n]);
        cases.push(fused(FusedOp::Rfft { x: 0 }, &[float(&whole)]));
        let irfft = FusedOp::Irfft { re: 0, im: 1, n };
        cases.push(fused(irfft, &[float(&half), float(&half)]));
        for inverse in [false, true] {
            let cfft = FusedOp::Cfft {
                re: 0,
                im: 1,
                inverse,
            };
            cases.push(fused(cfft, &[float(&whole), float(&whole)]));
        }
    }
    cases
}

/// How an operand lies in memory: it is a view of a leaf of another shape.
#[derive(Clone, Copy, Debug)]
enum Layout {
    Contiguous,
    Permuted,
    Sliced,
    Expanded,
}

impl Layout {
    const ALL: [Layout; 4] = [
        Layout::Contiguous,
        Layout::Permuted,
        Layout::Sliced,
        Layout::Expanded,
    ];

    /// The shape of the leaf whose view has this shape.
    fn leaf(self, shape: &[usize]) -> Vec<usize> {
        let mut leaf = shape.to_vec();
        match self {
            Layout::Contiguous => {}
            Layout::Permuted => leaf.reverse(),
            Layout::Sliced => {
                leaf.iter_mut().for_each(|size| *size += 1);
                *leaf.last_mut().unwrap() = 2 * shape[shape.len() - 1];
            }
            Layout::Expanded => leaf[0] = 1,
        }
        leaf
    }

    fn view<A: Backend>(self, leaf: Raw<A>, shape: &[usize]) -> Result<Raw<A>, keyway::Error> {
        match self {
            Layout::Contiguous => Ok(leaf),
            Layout::Permuted => leaf.permute((0..shape.len()).rev().collect::<Vec<_>>()),
            Layout::Sliced => {
                let mut ranges: Vec<_> = shape.iter().map(|&size| SliceRange::new(1, 1 + size)).collect();
                *ranges.last_mut().unwrap() = SliceRange {
                    start: 0,
                    end: 2 * shape[shape.len() - 1],
                    step: -2,
                };
                leaf.slice(&ranges[..])
            }
            Layout::Expanded => leaf.expand(shape),
        }
    }
}

/// Numbers in 0..1 that look random and are distinct.
fn noise(seed: usize, i: usize) -> f64 {
    let mut z = (seed as u64 * 1_000_003 + i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

fn tensor<A: Backend, E: Element>(values: Vec<E>, shape: &[usize], device: &A::Device) -> Raw<A> {
    Raw::from_data(TensorData::new(values, shape).unwrap(), device).unwrap()
}

impl Case {
    /// The values of the leaves; none for inputs that are not floats.
    fn leaves(&self, layout: Layout) -> Vec<Vec<f64>> {
        let values = |(seed, input): (usize, &Input)| match input {
            Input::Float(shape, low, high) => (0..layout.leaf(shape).iter().product())
                .map(|i| low + (high - low) * noise(seed, i))
                .collect(),
            Input::Int(..) | Input::Bool(..) => vec![],
        };
        self.inputs.iter().enumerate().map(values).collect()
    }

    /// A weighted sum of the op's result, and the leaves that `track` made.
    fn loss<A: Backend>(
        &self,
        layout: Layout,
        leaves: &[Vec<f64>],
        device: &A::Device,
        track: impl Fn(Raw<A>) -> Raw<A>,
    ) -> (Raw<A>, Vec<Option<Raw<A>>>) {
        let mut made = vec![];
        let mut inputs = vec![];
        for (input, values) in self.inputs.iter().zip(leaves) {
            inputs.push(match input {
                Input::Float(shape, ..) => {
                    let leaf = track(tensor(values.clone(), &layout.leaf(shape), device));
                    made.push(Some(leaf.clone()));
                    layout.view(leaf, shape).unwrap()
                }
                Input::Int(shape, values) => {
                    made.push(None);
                    tensor(values.clone(), shape, device)
                }
                Input::Bool(shape, values) => {
                    made.push(None);
                    tensor(values.clone(), shape, device)
                }
            });
        }
        let result = Raw::run(self.op.clone().map(|i| inputs[i].clone()))
            .unwrap_or_else(|error| panic!("{:?}: {error}", self.op));
        let weights = (0..result.shape().num_elements())
            .map(|i| noise(99, i) - 0.3)
            .collect::<Vec<f64>>();
        let weights = tensor(weights, result.shape(), device);
        let loss = result.mul(weights).unwrap().reduce_all(ReduceOp::Sum).unwrap();
        (loss, made)
    }

    fn value<B: LocalBackend>(&self, layout: Layout, leaves: &[Vec<f64>], device: &B::Device) -> f64 {
        let (loss, _) = self.loss::<B>(layout, leaves, device, |x| x);
        loss.into_data().unwrap().as_slice::<f64>().unwrap()[0]
    }

    fn differences<B: LocalBackend>(&self, layout: Layout, device: &B::Device) -> Vec<Vec<f64>> {
        const STEP: f64 = 1e-5;
        let mut leaves = self.leaves(layout);
        let mut differences = leaves.clone();
        for (of, slopes) in differences.iter_mut().enumerate() {
            for (i, slope) in slopes.iter_mut().enumerate() {
                let at = leaves[of][i];
                let mut value = |x| {
                    leaves[of][i] = x;
                    self.value::<B>(layout, &leaves, device)
                };
                *slope = (value(at + STEP) - value(at - STEP)) / (2.0 * STEP);
                leaves[of][i] = at;
            }
        }
        differences
    }

    fn gradients<B: LocalBackend, S: Strategy>(&self, layout: Layout, device: &B::Device) -> Vec<Vec<f64>> {
        let track =
            |x: Raw<Autodiff<B, S>>| Raw::new(<Autodiff<B, S>>::require_grad(x.into_primitive()).unwrap());
        let (loss, leaves) = self.loss(layout, &self.leaves(layout), device, track);
        let gradients = <Autodiff<B, S>>::backward(loss.into_primitive())
            .unwrap_or_else(|error| panic!("{:?} {layout:?}: {error}", self.op));
        let gradient = |leaf: Option<Raw<Autodiff<B, S>>>| {
            let Some(leaf) = leaf else { return vec![] };
            let id = <Autodiff<B, S>>::leaf(leaf.primitive()).unwrap();
            match gradients.get(id) {
                Some(gradient) => {
                    let gradient = Raw::<B>::new(gradient.clone());
                    assert_eq!(gradient.meta(), leaf.meta(), "{:?} {layout:?}", self.op);
                    gradient.into_data().unwrap().into_vec::<f64>().unwrap()
                }
                // An input that this op has no operand for.
                None => vec![0.0; leaf.shape().num_elements()],
            }
        };
        leaves.into_iter().map(gradient).collect()
    }

    fn check<B: LocalBackend>(&self, layout: Layout, device: &B::Device) {
        let expected = self.differences::<B>(layout, device);
        for (strategy, got) in [
            ("none", self.gradients::<B, NoCheckpointing>(layout, device)),
            (
                "balanced",
                self.gradients::<B, BalancedCheckpointing>(layout, device),
            ),
        ] {
            for (input, (got, expected)) in got.iter().zip(&expected).enumerate() {
                assert_eq!(got.len(), expected.len());
                for (got, expected) in got.iter().zip(expected) {
                    assert!(
                        (got - expected).abs() <= 1e-7 * (1.0 + expected.abs()),
                        "{:?} {layout:?}, checkpointing {strategy}, input {input}: {got} is not {expected}",
                        self.op
                    );
                }
            }
        }
    }
}

fn check_all<B: LocalBackend>(device: &B::Device) {
    for case in cases() {
        for layout in Layout::ALL {
            case.check::<B>(layout, device);
        }
    }
}

#[test]
fn finite_differences_on_flex() {
    check_all::<Flex>(&Default::default());
}

#[cfg(feature = "candle")]
#[test]
fn finite_differences_on_candle() {
    check_all::<keyway::Candle>(&Default::default());
}

#[cfg(feature = "ndarray")]
#[test]
fn finite_differences_on_ndarray() {
    check_all::<keyway::NdArray>(&Default::default());
}

#[cfg(feature = "tch")]
#[test]
fn finite_differences_on_tch() {
    check_all::<keyway::LibTorch>(&Default::default());
}

/// Numbers the ops of the families that have no `ALL`. A new op does not compile without a number, and
/// [`every_op_is_checked`] fails without a case.
fn number_of(op: &Op<usize>) -> Option<(&'static str, usize, usize)> {
    Some(match op {
        Op::Unary(..)
        | Op::Binary(..)
        | Op::Compare(..)
        | Op::Reduce(..)
        | Op::Scan(..)
        | Op::Cat(..)
        | Op::Matmul(..)
        | Op::Cast(..) => return None,
        Op::Move(op, _) => {
            let n = match op {
                MoveOp::Reshape(_) => 0,
                MoveOp::Permute(_) => 1,
                MoveOp::Expand(_) => 2,
                MoveOp::Slice(_) => 3,
                MoveOp::Flip(_) => 4,
                MoveOp::Repeat(_) => 5,
                MoveOp::Pad(_, PadMode::Constant(_)) => 6,
                MoveOp::Pad(_, PadMode::Reflect) => 7,
                MoveOp::Pad(_, PadMode::Replicate) => 8,
                MoveOp::Pad(_, PadMode::Circular) => 9,
            };
            ("move", n, 10)
        }
        Op::Index(op) => {
            let n = match **op {
                IndexOp::Gather { .. } => 0,
                IndexOp::Scatter { .. } => 1,
                IndexOp::Select { .. } => 2,
                IndexOp::SelectAssign { .. } => 3,
                IndexOp::Where { .. } => 4,
                IndexOp::SliceAssign { .. } => 5,
                IndexOp::ArgSort { .. } | IndexOp::TopK { .. } => return None,
            };
            ("index", n, 6)
        }
        Op::Conv(op) => {
            let n = match **op {
                ConvOp::Forward { .. } => 0,
                ConvOp::Transpose { .. } => 1,
                ConvOp::WeightGrad { .. } => 2,
            };
            ("conv", n, 3)
        }
        Op::Pool(op, _) => {
            let n = match **op {
                PoolOp::Avg(_) => 0,
                PoolOp::AvgGrad(..) => 1,
                PoolOp::MaxIndices(_) => return None,
            };
            ("pool", n, 2)
        }
        Op::Fused(op) => {
            let n = match **op {
                FusedOp::Softmax { .. } => 0,
                FusedOp::LogSoftmax { .. } => 1,
                FusedOp::Gelu { .. } => 2,
                FusedOp::Silu { .. } => 3,
                FusedOp::LayerNorm { .. } => 4,
                FusedOp::Attention { .. } => 5,
                FusedOp::CrossEntropy { .. } => 6,
                FusedOp::Rfft { .. } => 7,
                FusedOp::Irfft { .. } => 8,
                FusedOp::Cfft { .. } => 9,
            };
            ("fused", n, 10)
        }
    })
}

#[test]
fn every_op_is_checked() {
    let numbers: BTreeSet<_> = cases().iter().filter_map(|case| number_of(&case.op)).collect();
    for &(family, _, len) in &numbers {
        for n in 0..len {
            assert!(numbers.contains(&(family, n, len)), "{family} op {n} has no case");
        }
    }
    let families: BTreeSet<_> = numbers.iter().map(|&(family, ..)| family).collect();
    assert_eq!(families.len(), 5);
}

/// Ties, zeros, edges, repeats and tracking, by hand; those named `case_N` are inputs that broke other libraries.
#[allow(clippy::single_range_in_vec_init)] // A slice of one axis is one range in an array.
mod by_hand {
    use keyway::module;

    use super::*;

    type Diff = Autodiff<Flex>;

    fn leaf<const D: usize>(array: impl keyway::Nested<D, f32>) -> Tensor<Diff, D> {
        Tensor::from_array(array, &Default::default()).require_grad()
    }

    fn ints<const D: usize>(array: impl keyway::Nested<D, i32>) -> Tensor<Diff, D, i32> {
        Tensor::from_array(array, &Default::default())
    }

    fn constant<const D: usize>(array: impl keyway::Nested<D, f32>) -> Tensor<Diff, D> {
        Tensor::from_array(array, &Default::default())
    }

    /// The gradients of `x` in the sum of `y`.
    #[track_caller]
    fn gradient<const D: usize, const D2: usize>(y: Tensor<Diff, D2>, x: &Tensor<Diff, D>) -> Vec<f32> {
        let gradient = x.grad(&y.backward()).expect("x has a gradient");
        assert_eq!(gradient.dims(), x.dims());
        gradient.into_vec().unwrap()
    }

    /// The gradient of a function of one number at some places.
    #[track_caller]
    fn slopes<const N: usize>(at: [f32; N], f: impl Fn(Tensor<Diff, 1>) -> Tensor<Diff, 1>) -> Vec<f32> {
        let x = leaf(at);
        gradient(f(x.clone()), &x)
    }

    #[test]
    fn case_1_places_are_not_tracked() {
        let x = leaf([[3.0, 1.0, 2.0]]);
        let place = x.clone().argmax(1);
        assert!(!place.clone().float().is_tracked());
        assert_eq!(place.into_vec().unwrap(), [0]);
        assert!(!x.clone().argsort(1).float().is_tracked());
        assert!(!x.clone().greater(0.0).float().is_tracked());
        assert!(!x.clone().int().float().is_tracked());
        assert!(x.cast::<f64>().is_tracked());
    }

    #[test]
    fn case_2_one_hot_targets() {
        let logits = leaf([[1.0, 1.0], [1.0, 1.0]]);
        let targets: Tensor<Diff, 2> = ints([0, 1]).one_hot::<2>(2).float();
        assert_eq!(gradient(logits.clone() * targets, &logits), [1.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn case_3_comparing_a_tracked_with_an_untracked() {
        let tracked = leaf([0.0, 0.5, 0.5]) * 2.0;
        let same = tracked.equal(constant([0.0, 1.0, 0.0]));
        assert_eq!(same.into_vec().unwrap(), [true, true, false]);
    }

    #[test]
    fn case_24_writing_by_index() {
        for mode in ScatterMode::ALL {
            let values = constant([5.0, 4.0, 9.0]);
            let plain = constant([1.0, 2.0]).select_assign(0, ints([0, 0, 1]), values.clone(), *mode);
            let (x, v) = (leaf([1.0, 2.0]), values.require_grad());
            let y = x.clone().select_assign(0, ints([0, 0, 1]), v.clone(), *mode);
            assert_eq!(y.clone().into_vec().unwrap(), plain.into_vec().unwrap());
            let gradients = (y * constant([1.0, 10.0])).backward();
            let of = |x: &Tensor<Diff, 1>| x.grad(&gradients).unwrap().into_vec().unwrap();
            let (for_x, for_v) = match mode {
                // The last of two that were written to one place.
                ScatterMode::Set => ([0.0, 0.0], [0.0, 1.0, 10.0]),
                ScatterMode::Add => ([1.0, 10.0], [1.0, 1.0, 10.0]),
                ScatterMode::Mul => ([20.0, 90.0], [4.0, 5.0, 20.0]),
                ScatterMode::Max => ([0.0, 0.0], [1.0, 0.0, 10.0]),
                ScatterMode::Min => ([1.0, 10.0], [0.0, 0.0, 0.0]),
            };
            assert_eq!((of(&x), of(&v)), (for_x.to_vec(), for_v.to_vec()), "{mode:?}");
        }
    }

    #[test]
    fn extremes_written_to_one_place_share() {
        let (x, v) = (leaf([4.0]), leaf([4.0, 4.0, 1.0]));
        let y = x.clone().scatter(0, ints([0, 0, 0]), v.clone(), ScatterMode::Max);
        let gradients = (y * 3.0).backward();
        assert_eq!(x.grad(&gradients).unwrap().into_vec().unwrap(), [1.0]);
        assert_eq!(v.grad(&gradients).unwrap().into_vec().unwrap(), [1.0, 1.0, 0.0]);
    }

    #[test]
    fn case_26_repeats_accumulate() {
        let x = leaf([0.1]);
        let upstream = constant([0.2, 0.3]);
        assert_eq!(
            gradient(x.clone().gather(0, ints([0, 0])) * upstream.clone(), &x),
            [0.5]
        );
        assert_eq!(
            gradient(x.clone().select(0, ints([0, 0])) * upstream.clone(), &x),
            [0.5]
        );
        assert_eq!(gradient(x.clone().expand([2]) * upstream.clone(), &x), [0.5]);
        assert_eq!(gradient(x.clone().repeat(&[2]) * upstream, &x), [0.5]);
    }

    #[test]
    fn case_27_gradients_have_the_shape_of_their_leaf() {
        let (w, b) = (leaf([[1.0], [2.0], [3.0]]), leaf([[0.5, 0.5, 0.5]]));
        let x = constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
        let y = x.matmul(w.clone()) + b.clone();
        let gradients = y.backward();
        assert_eq!(w.grad(&gradients).unwrap().dims(), [3, 1]);
        assert_eq!(b.grad(&gradients).unwrap().into_vec().unwrap(), [2.0, 2.0, 2.0]);
    }

    #[test]
    fn case_28_max_pool_with_crooked_windows() {
        let x = leaf([[[1.0, 5.0, 2.0, 3.0, 4.0]]]);
        let options = PoolOptions {
            stride: smallvec![2],
            padding: smallvec![(1, 0)],
            dilation: smallvec![2],
            ..PoolOptions::new(Dims::from_slice(&[2]))
        };
        // Windows (-1, 1), (1, 3): 5 is the greatest of both.
        let (y, _) = x.raw().clone().max_pool_with_indices(options).unwrap();
        let y = Tensor::<Diff, 3>::try_from_raw(y).unwrap();
        assert_eq!(y.clone().into_vec().unwrap(), [5.0, 5.0]);
        assert_eq!(gradient(y, &x), [0.0, 2.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn case_29_freed_buffers_never_show() {
        for _ in 0..20 {
            drop(Tensor::<Flex, 1>::full([64], 1234.5, &Default::default()).exp());
            let x = leaf([0.5; 64]);
            let index: Tensor<Diff, 1, i32> = ints([3, 3, 7]);
            for y in [
                x.clone().slice([2..9]),
                x.clone().select(0, index.clone()),
                x.clone().gather(0, index.clone()),
                x.clone().slice([0..64]).repeat(&[2]),
                x.clone().cumsum(0),
                x.clone().max(),
                x.clone().pad([(1, 1)], PadMode::Reflect),
            ] {
                let gradient = gradient(y, &x);
                assert!(gradient.iter().all(|g| (0.0..=64.0).contains(g)), "{gradient:?}");
            }
        }
    }

    #[test]
    fn ties_and_edges_of_functions() {
        let inf = f32::INFINITY;
        assert_eq!(slopes([-1.0, 0.0, 2.0], |x| x.abs()), [-1.0, 0.0, 1.0]);
        assert_eq!(
            slopes([-1.0, 0.0, 2.0], |x| keyway::activation::relu(x)),
            [0.0, 0.0, 1.0]
        );
        assert_eq!(slopes([0.0], |x| x.sqrt()), [inf]);
        let origin = constant([0.0, 0.0]);
        assert_eq!(slopes([0.0, 2.0], |x| x.atan2(origin.clone())), [0.0, 0.0]);
        assert_eq!(slopes([0.0, 2.0], |x| origin.clone().atan2(x)), [0.0, 0.0]);
        assert_eq!(slopes([0.3, 1.5], |x| x.clone().floor() + x.sign()), [0.0, 0.0]);
        assert_eq!(slopes([0.0, 2.0], |x| x.powf(0.0)), [0.0, 0.0]);
        assert_eq!(slopes([0.0, 2.0], |x| x.powf(2.0)), [0.0, 4.0]);
        assert_eq!(slopes([-3.0], |x| x.powf(3.0)), [27.0]);
        assert_eq!(
            slopes([-1.0, 0.0, 0.5, 1.0, 2.0], |x| x.clamp(0.0, 1.0)),
            [0.0, 1.0, 1.0, 1.0, 0.0]
        );
        // A base of 0: no slope in the exponent, unless it is negative.
        let zero = constant([0.0, 0.0]);
        assert_eq!(slopes([0.0, 2.0], |x| zero.clone().powf(x)), [0.0, 0.0]);
        assert_eq!(slopes([1.0], |x| x.clone().max_pair(x)), [1.0]);
        let (a, b) = (leaf([1.0, 2.0]), leaf([1.0, 3.0]));
        let gradients = a.clone().max_pair(b.clone()).backward();
        assert_eq!(a.grad(&gradients).unwrap().into_vec().unwrap(), [0.5, 0.0]);
        assert_eq!(b.grad(&gradients).unwrap().into_vec().unwrap(), [0.5, 1.0]);
        // The remainder of -7 by 2 is -7 - 2 * -4.
        let (a, b) = (leaf([-7.0]), leaf([2.0]));
        let gradients = a.clone().remainder(b.clone()).backward();
        assert_eq!(a.grad(&gradients).unwrap().into_vec().unwrap(), [1.0]);
        assert_eq!(b.grad(&gradients).unwrap().into_vec().unwrap(), [4.0]);
    }

    #[test]
    fn ties_and_zeros_of_reductions() {
        assert_eq!(slopes([3.0, 1.0, 3.0], |x| x.max()), [0.5, 0.0, 0.5]);
        assert_eq!(slopes([3.0, 1.0, 1.0], |x| x.min()), [0.0, 0.5, 0.5]);
        assert_eq!(slopes([2.0, 3.0, 4.0], |x| x.prod()), [12.0, 8.0, 6.0]);
        assert_eq!(slopes([2.0, 0.0, 4.0], |x| x.prod()), [0.0, 8.0, 0.0]);
        assert_eq!(slopes([2.0, 0.0, 0.0], |x| x.prod()), [0.0, 0.0, 0.0]);
        assert_eq!(slopes([1.0, 2.0, 3.0], |x| x.cumprod(0)), [9.0, 4.0, 2.0]);
        assert_eq!(slopes([2.0, 0.0, 3.0], |x| x.cumprod(0)), [1.0, 8.0, 0.0]);
        assert_eq!(slopes([2.0, 0.0, 0.0], |x| x.cumprod(0)), [1.0, 2.0, 0.0]);
        assert_eq!(slopes([0.0, 2.0, 0.0], |x| x.cumprod(0)), [3.0, 0.0, 0.0]);
        assert_eq!(
            slopes([1.0, 3.0, 3.0, 2.0], |x| x.cummax(0)),
            [1.0, 1.0, 2.0, 0.0]
        );
        assert_eq!(
            slopes([2.0, 3.0, 1.0, 1.0], |x| x.cummin(0)),
            [2.0, 0.0, 1.0, 1.0]
        );
    }

    /// As those of PyTorch: the root of nothing is infinitely steep, and passes nothing on.
    #[test]
    fn norms_of_zeros_are_flat() {
        use keyway::linalg::*;
        assert_eq!(slopes([0.0, 0.0], |x| l2_norm(x, 0)), [0.0, 0.0]);
        assert_eq!(slopes([0.0, 0.0], |x| lp_norm(x, 3.0, 0)), [0.0, 0.0]);
        assert_eq!(slopes([4.0, 0.0], |x| lp_norm(x, 0.5, 0)), [1.0, 0.0]);
        assert_eq!(slopes([5.0, 5.0], |x| x.std(0)), [0.0, 0.0]);
        let one = constant([1.0, 0.0]);
        let slopes_of_cosine = slopes([0.0, 0.0], |x| cosine_similarity(x, one.clone(), 0, Some(0.5)));
        assert_eq!(slopes_of_cosine, [2.0, 0.0]);
    }

    #[test]
    fn a_loss_without_an_end_has_slopes() {
        let y = constant([0.0, 0.0]);
        let huber = |x| keyway::loss::huber(x, y.clone(), f64::INFINITY, keyway::loss::Sum);
        assert_eq!(slopes([1.0, -9.0], huber), [1.0, -9.0]);
    }

    #[test]
    fn empty_operands() {
        let x = Tensor::<Diff, 2>::zeros([0, 3], &Default::default()).require_grad();
        assert!(gradient(x.clone().prod_dim(1).sum(), &x).is_empty());
        assert!(gradient(x.clone().prod_dim(0) + 1.0, &x).is_empty());
        assert!(gradient(x.clone().matmul(constant([[1.0], [1.0], [1.0]])), &x).is_empty());
    }

    #[test]
    fn gradients_are_taken_out_and_accumulate() {
        let x = leaf([1.0, 2.0]);
        let square = || (x.clone() * x.clone()).sum();
        let mut gradients = square().backward().accumulate(square().backward()).unwrap();
        assert_eq!(
            x.grad_remove(&mut gradients).unwrap().into_vec().unwrap(),
            [4.0, 8.0]
        );
        assert!(x.grad(&gradients).is_none() && gradients.is_empty());
    }

    #[test]
    fn weights_of_a_linear_layer() {
        let w = leaf([[1.0, 2.0], [3.0, 4.0]]);
        let x = constant([[1.0, 1.0]]);
        let y = module::linear(x, w.clone(), None);
        assert_eq!(gradient(y, &w), [1.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn leaves_and_their_errors() {
        let x = leaf([1.0]);
        let y = x.clone() * 2.0;
        assert!(
            y.clone()
                .try_require_grad()
                .unwrap_err()
                .to_string()
                .contains("`mul` produced it")
        );
        assert!(y.clone().detach().require_grad().is_require_grad());
        assert!(constant([1.0]).try_backward().is_err());
        assert!(y.grad(&x.clone().exp().backward()).is_none());
    }
}
