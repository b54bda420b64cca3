//! Properties of the vocabulary itself: maps, serialisation, and inference that refuses without panicking.

mod support;

use std::mem::size_of;

use keyway::op::random::Key;
use keyway::op::{
    Arg, BinaryOp, CompareOp, ConvOp, ConvOptions, CreateOp, FusedOp, IndexOp, Meta, MoveOp, Op, PadMode,
    PoolOp, PoolOptions, ReduceOp, ScanOp, ScatterMode, SliceRange, UnaryOp, infer, infer_create,
};
use keyway::{DType, Dims, Error, Flex, Scalar, Shape, TensorData, backend::BackendTypes};
use proptest::prelude::*;
use support::{leaf, leaves, ops};

const SHAPES: &[&[usize]] = &[&[], &[3], &[2, 3], &[0, 2], &[2, 4, 5], &[1, 2, 5, 4]];

fn every_op() -> impl Iterator<Item = Op<Meta>> {
    let pairs = SHAPES
        .iter()
        .flat_map(|&shape| DType::ALL.iter().map(move |&dtype| (shape, dtype)));
    pairs
        .flat_map(|(shape, dtype)| ops(&shape.into(), dtype))
        .map(|op| op.map(|x| x.meta))
}

#[test]
fn every_leaf_is_among_them() {
    let seen: std::collections::BTreeSet<_> = every_op().map(|op| leaf(&op)).collect();
    assert_eq!(seen, leaves().collect());
}

#[test]
fn ops_are_small() {
    assert!(size_of::<Op<<Flex as BackendTypes>::Primitive>>() <= 256);
}

#[test]
fn map_and_visit_take_the_operands_in_one_order() {
    for op in every_op() {
        let mut count = 0;
        let numbered = op.clone().map(|_| {
            count += 1;
            count - 1
        });
        let mut visited = vec![];
        numbered.visit(|&n| visited.push(n));
        assert_eq!(visited, (0..count).collect::<Vec<_>>(), "{op:?}");
        // An error ends the map at its operand.
        let mut calls = 0;
        let stopped = numbered.clone().try_map(|n| {
            calls += 1;
            if n == count / 2 { Err(n) } else { Ok(n) }
        });
        assert_eq!((stopped, calls), (Err(count / 2), count / 2 + 1), "{op:?}");
    }
}

/// JSON has no NaN and no infinities, so ops that carry one are left to the binary formats.
#[test]
fn ops_survive_serialisation() {
    let mut checked = 0;
    for op in every_op().filter(|op| !format!("{op:?}").contains("NaN") && !format!("{op:?}").contains("inf"))
    {
        let text = serde_json::to_string(&op).unwrap();
        assert_eq!(serde_json::from_str::<Op<Meta>>(&text).unwrap(), op, "{text}");
        checked += 1;
    }
    assert!(checked > 1000, "{checked}");
    let key = Key {
        seed: u64::MAX,
        offset: 3,
    };
    for op in [
        CreateOp::Full(Scalar::UInt(u64::MAX)),
        CreateOp::Arange {
            start: Scalar::Int(i64::MIN),
            step: Scalar::Float(0.5),
        },
        CreateOp::Uniform {
            low: -1.5,
            high: 2.0,
            key,
        },
        CreateOp::Normal {
            mean: 0.0,
            std: 1.0,
            key,
        },
    ] {
        let text = serde_json::to_string(&op).unwrap();
        assert_eq!(serde_json::from_str::<CreateOp>(&text).unwrap(), op);
    }
}

fn f32s(shape: &[usize]) -> Meta {
    Meta {
        shape: shape.into(),
        dtype: DType::F32,
    }
}

fn of(dtype: DType, shape: &[usize]) -> Meta {
    Meta {
        shape: shape.into(),
        dtype,
    }
}

fn fused(op: FusedOp<Meta>) -> Op<Meta> {
    Op::Fused(Box::new(op))
}

fn conv(x: &[usize], weight: &[usize], options: ConvOptions) -> Op<Meta> {
    Op::Conv(Box::new(ConvOp::Forward {
        x: f32s(x),
        weight: f32s(weight),
        options,
    }))
}

fn gather(x: Meta, index: Meta, axis: usize) -> Op<Meta> {
    Op::Index(Box::new(IndexOp::Gather { x, index, axis }))
}

/// Results worked out by hand, so that inference is held to more than itself.
#[test]
fn results_have_these_shapes_and_types() {
    let dims = |sizes: &[usize]| Dims::from_slice(sizes);
    let mut strided = ConvOptions::new(2);
    strided.stride = dims(&[2, 1]);
    strided.padding[0] = (1, 2);
    strided.dilation = dims(&[1, 2]);
    let mut window = PoolOptions::new([2usize, 3].to_vec());
    window.stride = dims(&[1, 2]);
    let backwards = SliceRange {
        start: 1,
        end: 8,
        step: -3,
    };
    for (op, dtype, shape) in [
        (Op::Unary(UnaryOp::IsNan, f32s(&[2])), DType::Bool, &[2][..]),
        (
            Op::Binary(
                BinaryOp::Add,
                Arg::Tensor(f32s(&[2, 1, 4])),
                Arg::Tensor(f32s(&[1, 3, 4])),
            ),
            DType::F32,
            &[2, 3, 4],
        ),
        (
            Op::Compare(
                CompareOp::Lower,
                Arg::Scalar(Scalar::Int(1)),
                Arg::Tensor(f32s(&[0])),
            ),
            DType::Bool,
            &[0],
        ),
        (
            Op::Reduce(ReduceOp::Sum, f32s(&[2, 3, 4]), dims(&[0, 2])),
            DType::F32,
            &[1, 3, 1],
        ),
        (
            Op::Reduce(ReduceOp::ArgMax, of(DType::U8, &[2, 3]), dims(&[1])),
            DType::I32,
            &[2, 1],
        ),
        (
            Op::Move(MoveOp::Permute(dims(&[2, 0, 1])), f32s(&[2, 3, 4])),
            DType::F32,
            &[4, 2, 3],
        ),
        (
            Op::Move(MoveOp::Slice([backwards].into_iter().collect()), f32s(&[9])),
            DType::F32,
            &[3],
        ),
        (
            Op::Move(
                MoveOp::Pad([(2, 3)].into_iter().collect(), PadMode::Reflect),
                f32s(&[4]),
            ),
            DType::F32,
            &[9],
        ),
        (
            Op::Move(MoveOp::Repeat(dims(&[2, 0])), f32s(&[3, 4])),
            DType::F32,
            &[6, 0],
        ),
        (
            Op::Cat(vec![f32s(&[2, 3]), f32s(&[2, 0]), f32s(&[2, 4])], 1),
            DType::F32,
            &[2, 7],
        ),
        (
            gather(of(DType::Bool, &[3, 4]), of(DType::U64, &[2, 9]), 1),
            DType::Bool,
            &[2, 9],
        ),
        (
            Op::Matmul(f32s(&[5, 1, 2, 3]), f32s(&[1, 6, 3, 4])),
            DType::F32,
            &[5, 6, 2, 4],
        ),
        // (9 + 3 - 3) / 2 + 1 and (7 - 3) / 1 + 1
        (
            conv(&[2, 3, 9, 7], &[4, 3, 3, 2], strided),
            DType::F32,
            &[2, 4, 5, 5],
        ),
        (
            Op::Pool(Box::new(PoolOp::MaxIndices(window)), f32s(&[1, 2, 5, 8])),
            DType::I32,
            &[1, 2, 4, 3],
        ),
        (Op::Cast(DType::BF16, f32s(&[])), DType::BF16, &[]),
    ] {
        assert_eq!(infer(&op), Ok(of(dtype, shape)), "{op:?}");
    }
}

/// The text names the op, what it was given and the way out.
#[test]
fn mistakes_have_these_messages() {
    let add = |a, b| Op::Binary(BinaryOp::Add, Arg::Tensor(a), Arg::Tensor(b));
    let slice = |start, end, step| {
        Op::Move(
            MoveOp::Slice([SliceRange { start, end, step }].into_iter().collect()),
            f32s(&[4]),
        )
    };
    for (op, text) in [
        (
            add(f32s(&[2, 3]), f32s(&[2, 4])),
            "add: [2, 3] and [2, 4]: the sizes of an axis must be equal, or one of them 1",
        ),
        (
            add(f32s(&[2, 3]), f32s(&[3])),
            "add: expected rank 2, as the other operand (`unsqueeze` adds axes), got rank 1",
        ),
        (
            add(f32s(&[2]), of(DType::I32, &[2])),
            "add: expected f32, as the other operand, got i32; `cast` converts",
        ),
        (
            Op::Binary(
                BinaryOp::Mul,
                Arg::Tensor(of(DType::I32, &[2])),
                Arg::Scalar(Scalar::Float(0.5)),
            ),
            "mul: the number 0.5 is no operand for i32 elements; `cast` the tensor first",
        ),
        (
            Op::Matmul(f32s(&[2, 3]), f32s(&[4, 5])),
            "matmul: [2, 3] and [4, 5]: the columns of the first must be as many as the rows of the second",
        ),
        (
            Op::Matmul(f32s(&[3]), f32s(&[3])),
            "matmul: expected rank 2 or more, got rank 1",
        ),
        (
            Op::Move(MoveOp::Reshape([5].into()), f32s(&[2, 3])),
            "reshape: [2, 3] and [5]: the numbers of elements differ",
        ),
        (
            Op::Reduce(ReduceOp::Sum, f32s(&[2]), Dims::from_slice(&[1])),
            "sum: axis 1 is out of range for a tensor of rank 1",
        ),
        (
            Op::Reduce(ReduceOp::Max, f32s(&[2, 0]), Dims::from_slice(&[1])),
            "max: [2, 0]: axis 1 is empty: there is no result",
        ),
        (slice(1, 5, 1), "slice: 1..5 of axis 0 of size 4"),
        (slice(0, 4, 0), "slice: the step of axis 0 is 0"),
        (
            gather(f32s(&[2, 3]), f32s(&[2, 3]), 1),
            "gather: expected an integer index, got f32; `cast` converts",
        ),
        (
            Op::Cat(vec![f32s(&[2, 3]), f32s(&[3, 3])], 1),
            "cat: [2, 3] and [3, 3]: the sizes may differ along axis 1 only",
        ),
        (
            fused(FusedOp::Rfft { x: f32s(&[2, 0]) }),
            "rfft: [2, 0]: the last axis is empty; a transform takes one number or more",
        ),
        (
            fused(FusedOp::Irfft {
                re: f32s(&[3]),
                im: f32s(&[3]),
                n: 6,
            }),
            "irfft: [3]: 6 real numbers have 4 frequencies, 0 to 3",
        ),
        (
            fused(FusedOp::Cfft {
                re: f32s(&[3]),
                im: f32s(&[2]),
                inverse: true,
            }),
            "ifft: [3] and [2]: the real and the imaginary part must have one shape",
        ),
        (
            conv(&[1, 3, 8], &[4, 2, 3], ConvOptions::new(1)),
            "conv: [1, 3, 8] and [4, 2, 3]: weights are [out, in / 1 groups, kernel…], both divisible by groups",
        ),
    ] {
        assert_eq!(infer(&op).unwrap_err().to_string(), text);
    }
}

/// Numbers that go wrong: small ones, and those whose sums and products overflow.
const AWKWARD: &[usize] = &[
    0,
    1,
    2,
    3,
    4,
    7,
    1 << 16,
    1 << 31,
    (1 << 32) + 1,
    1 << 40,
    isize::MAX as usize,
    1 << 63,
    usize::MAX - 1,
    usize::MAX,
];

/// An op with arguments made of a list of numbers, mostly wrong ones.
struct Garbage<'a>(std::slice::Iter<'a, usize>);

impl Garbage<'_> {
    fn number(&mut self) -> usize {
        AWKWARD[self.0.next().map_or(0, |n| n % AWKWARD.len())]
    }
    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.0.next().map_or(0, |n| n % from.len())].clone()
    }
    fn dims(&mut self) -> Dims {
        (0..self.pick(&[0, 1, 2, 3, 4, 5]))
            .map(|_| self.number())
            .collect()
    }
    fn pairs<A: FromIterator<(usize, usize)>>(&mut self) -> A {
        (0..self.pick(&[0, 1, 2, 3, 4]))
            .map(|_| (self.number(), self.number()))
            .collect()
    }
    fn meta(&mut self) -> Meta {
        Meta {
            shape: self.dims().into(),
            dtype: self.pick(DType::ALL),
        }
    }
    fn arg(&mut self) -> Arg<Meta> {
        let number = self.number();
        let scalars = [
            Scalar::Float(f64::NAN),
            Scalar::Int(-1),
            Scalar::UInt(number as u64),
            Scalar::Bool(true),
        ];
        if self.pick(&[true, true, false]) {
            Arg::Tensor(self.meta())
        } else {
            Arg::Scalar(self.pick(&scalars))
        }
    }
    fn ranges<A: FromIterator<SliceRange>>(&mut self) -> A {
        let range = |_| SliceRange {
            start: self.number(),
            end: self.number(),
            step: self.number() as isize,
        };
        (0..3).map(range).collect()
    }
    fn conv(&mut self) -> ConvOptions {
        ConvOptions {
            stride: self.dims(),
            padding: self.pairs(),
            dilation: self.dims(),
            groups: self.number(),
        }
    }
    fn pool(&mut self) -> PoolOptions {
        PoolOptions {
            kernel: self.dims(),
            stride: self.dims(),
            padding: self.pairs(),
            dilation: self.dims(),
            count_include_pad: self.pick(&[true, false]),
        }
    }

    fn op(&mut self) -> Op<Meta> {
        let index = |op| Op::Index(Box::new(op));
        let mode = self.pick(ScatterMode::ALL);
        let axis = self.number();
        match self.pick(&(0..28).collect::<Vec<_>>()) {
            0 => Op::Unary(self.pick(UnaryOp::ALL), self.meta()),
            1 => Op::Binary(self.pick(BinaryOp::ALL), self.arg(), self.arg()),
            2 => Op::Compare(self.pick(CompareOp::ALL), self.arg(), self.arg()),
            3 => Op::Reduce(self.pick(ReduceOp::ALL), self.meta(), self.dims()),
            4 => Op::Scan(self.pick(ScanOp::ALL), self.meta(), axis),
            5 => Op::Move(MoveOp::Reshape(self.dims().into()), self.meta()),
            6 => Op::Move(MoveOp::Permute(self.dims()), self.meta()),
            7 => Op::Move(MoveOp::Expand(self.dims().into()), self.meta()),
            8 => Op::Move(MoveOp::Slice(self.ranges()), self.meta()),
            9 => Op::Move(MoveOp::Flip(self.dims()), self.meta()),
            10 => {
                let modes = [
                    PadMode::Constant(Scalar::Int(1)),
                    PadMode::Reflect,
                    PadMode::Replicate,
                    PadMode::Circular,
                ];
                Op::Move(MoveOp::Pad(self.pairs(), self.pick(&modes)), self.meta())
            }
            11 => Op::Move(MoveOp::Repeat(self.dims()), self.meta()),
            12 => Op::Cat((0..self.pick(&[0, 1, 2, 3])).map(|_| self.meta()).collect(), axis),
            13 => index(IndexOp::Gather {
                x: self.meta(),
                index: self.meta(),
                axis,
            }),
            14 => index(IndexOp::Scatter {
                x: self.meta(),
                index: self.meta(),
                src: self.meta(),
                axis,
                mode,
            }),
            15 => index(IndexOp::Select {
                x: self.meta(),
                index: self.meta(),
                axis,
            }),
            16 => index(IndexOp::SelectAssign {
                x: self.meta(),
                index: self.meta(),
                src: self.meta(),
                axis,
                mode,
            }),
            17 => index(IndexOp::Where {
                cond: self.meta(),
                on_true: self.arg(),
                on_false: self.arg(),
            }),
            18 => index(IndexOp::SliceAssign {
                x: self.meta(),
                src: self.meta(),
                ranges: self.ranges(),
            }),
            19 => index(IndexOp::ArgSort {
                x: self.meta(),
                axis,
                descending: true,
            }),
            20 => index(IndexOp::TopK {
                x: self.meta(),
                axis,
                k: self.number(),
                largest: true,
            }),
            21 => Op::Matmul(self.meta(), self.meta()),
            22 => {
                let (x, y, options, size) = (self.meta(), self.meta(), self.conv(), self.dims());
                Op::Conv(Box::new(self.pick(&[
                    ConvOp::Forward {
                        x: x.clone(),
                        weight: y.clone(),
                        options: options.clone(),
                    },
                    ConvOp::Transpose {
                        x: x.clone(),
                        weight: y.clone(),
                        options: options.clone(),
                        size: size.clone(),
                    },
                    ConvOp::WeightGrad {
                        x,
                        grad: y,
                        options,
                        kernel: size,
                    },
                ])))
            }
            23 => {
                let (options, size) = (self.pool(), self.dims());
                let ops = [
                    PoolOp::MaxIndices(options.clone()),
                    PoolOp::Avg(options.clone()),
                    PoolOp::AvgGrad(options, size),
                ];
                Op::Pool(Box::new(self.pick(&ops)), self.meta())
            }
            24 => Op::Cast(self.pick(DType::ALL), self.meta()),
            25 => {
                let (q, k, v) = (self.meta(), self.meta(), self.meta());
                let (mask, bias) = (Some(self.meta()), Some(self.meta()));
                Op::Fused(Box::new(FusedOp::Attention {
                    q,
                    k,
                    v,
                    mask,
                    bias,
                    causal: true,
                    scale: None,
                }))
            }
            26 => {
                let (re, im, n) = (self.meta(), self.meta(), self.number());
                Op::Fused(Box::new(self.pick(&[
                    FusedOp::Rfft { x: re.clone() },
                    FusedOp::Irfft {
                        re: re.clone(),
                        im: im.clone(),
                        n,
                    },
                    FusedOp::Cfft {
                        re,
                        im,
                        inverse: true,
                    },
                ])))
            }
            _ => Op::Fused(Box::new(match self.pick(&[0, 1, 2, 3]) {
                0 => FusedOp::Softmax { x: self.meta(), axis },
                1 => FusedOp::LayerNorm {
                    x: self.meta(),
                    weight: Some(self.meta()),
                    bias: None,
                    eps: f64::NAN,
                },
                2 => FusedOp::CrossEntropy {
                    logits: self.meta(),
                    targets: self.meta(),
                },
                _ => FusedOp::LogSoftmax { x: self.meta(), axis },
            })),
        }
    }
}

fn fits(meta: &Meta) -> bool {
    let most = isize::MAX as usize / meta.dtype.size();
    meta.shape.checked_elements().is_some_and(|n| n <= most)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the arguments, inference gives a result or an error with a text; and of operands that fit the address space,
    /// as those of every tensor do, a result that fits it.
    #[test]
    fn inference_never_panics(numbers in prop::collection::vec(0..10_000usize, 64)) {
        let op = Garbage(numbers.iter()).op();
        match infer(&op) {
            Ok(meta) => {
                let mut possible = true;
                op.visit(|x| possible &= fits(x));
                prop_assert!(!possible || fits(&meta), "{meta:?}");
            }
            Err(error) => prop_assert!(error.to_string().starts_with(op.name()), "{error}"),
        }
    }

    /// The same, of tensors that could be: each operand fits the address space.
    #[test]
    fn creation_never_panics(numbers in prop::collection::vec(0..10_000usize, 16)) {
        let mut garbage = Garbage(numbers.iter());
        let floats = [f64::NAN, f64::INFINITY, f64::MAX, f64::MIN, 0.0, 1.0];
        let (a, b) = (garbage.pick(&floats), garbage.pick(&floats));
        let key = Key { seed: 0, offset: 0 };
        let op = garbage.pick(&[
            CreateOp::Full(Scalar::Float(a)),
            CreateOp::Arange { start: Scalar::Float(a), step: Scalar::Float(b) },
            CreateOp::Uniform { low: a, high: b, key },
            CreateOp::Normal { mean: a, std: b, key },
        ]);
        let Meta { shape, dtype } = garbage.meta();
        if let Err(error) = infer_create(&op, shape, dtype) {
            prop_assert!(error.to_string().starts_with(op.name()), "{error}");
        }
    }
}

/// A number that the elements cannot be is no operand: taken to their type it would be another.
#[test]
fn numbers_outside_the_range_of_integers_are_refused() {
    for (dtype, least, greatest) in [
        (DType::I8, -128, 127),
        (DType::U8, 0, 255),
        (DType::I32, i64::from(i32::MIN), i64::from(i32::MAX)),
        (DType::U64, 0, i64::MAX),
    ] {
        assert!(
            Scalar::Int(least).fits(dtype) && Scalar::Int(greatest).fits(dtype),
            "{dtype}"
        );
        assert!(Scalar::Float(least as f64).fits(dtype), "{dtype}");
        assert!(
            least == i64::MIN || !Scalar::Int(least - 1).fits(dtype),
            "{dtype}"
        );
        assert!(
            greatest == i64::MAX || !Scalar::Int(greatest + 1).fits(dtype),
            "{dtype}"
        );
        assert!(
            !Scalar::Float(f64::INFINITY).fits(dtype) && !Scalar::Float(1e30).fits(dtype),
            "{dtype}"
        );
    }
    assert!(Scalar::UInt(u64::MAX).fits(DType::U64) && !Scalar::UInt(u64::MAX).fits(DType::I64));
    assert!(Scalar::UInt(u64::MAX).fits(DType::F16) && Scalar::Float(f64::NAN).fits(DType::F32));
    let clamp = infer(&Op::Binary(
        BinaryOp::Max,
        Arg::Tensor(of(DType::I8, &[2])),
        Arg::Scalar(Scalar::Int(-1000)),
    ));
    assert_eq!(
        clamp.unwrap_err().to_string(),
        "max_pair: the number -1000 is no operand for i8 elements; `cast` the tensor first"
    );
}

/// Values that do not fill their shape are refused where they are read.
#[test]
fn data_is_checked_when_it_is_read() {
    let data = TensorData::new(vec![1.0f32, 2.0], [2, 1]).unwrap();
    let text = serde_json::to_string(&data).unwrap();
    assert_eq!(serde_json::from_str::<TensorData>(&text).unwrap(), data);
    for shape in ["[2,2]", "[4294967296,4294967296]"] {
        let error = serde_json::from_str::<TensorData>(&text.replace("[2,1]", shape)).unwrap_err();
        assert!(
            error.to_string().contains("2 values do not fill the shape"),
            "{error}"
        );
    }
}

/// A window that lies in the padding alone is found without a walk over its elements.
#[test]
fn huge_windows_are_checked_at_once() {
    let pool = |kernel: usize, padding| {
        let mut options = PoolOptions::new(vec![kernel]);
        options.stride = vec![1].into();
        options.padding[0] = padding;
        infer(&Op::Pool(Box::new(PoolOp::MaxIndices(options)), f32s(&[1, 1, 2])))
    };
    assert_eq!(pool(1 << 50, (1 << 49, 1 << 49)).unwrap().shape[..], [1, 1, 3]);
    assert!(pool(1 << 50, ((1 << 50) - 1, 0)).is_ok());
    assert!(pool(1 << 50, (1 << 50, 0)).is_err());
    assert!(pool(1, (0, 1)).is_err());
}

/// Wrong kinds of arguments are told apart by the variant.
#[test]
fn errors_have_the_right_variant() {
    let argument = |op: Op<Meta>| matches!(infer(&op), Err(Error::Argument { .. }));
    assert!(argument(Op::Scan(ScanOp::Sum, f32s(&[2]), 1)));
    assert!(argument(Op::Move(
        MoveOp::Permute(Dims::from_slice(&[0, 0])),
        f32s(&[2, 2])
    )));
    assert!(argument(Op::Move(
        MoveOp::Permute(Dims::from_slice(&[0])),
        f32s(&[2, 2])
    )));
    assert!(argument(Op::Cat(vec![], 0)));
    assert!(argument(Op::Binary(
        BinaryOp::Add,
        Arg::Scalar(Scalar::Int(1)),
        Arg::Scalar(Scalar::Int(1))
    )));
    let shape = |op: Op<Meta>| matches!(infer(&op), Err(Error::Shape { .. }));
    assert!(shape(Op::Move(MoveOp::Expand(Shape::from([3])), f32s(&[2]))));
    assert!(shape(Op::Move(
        MoveOp::Expand(Shape::from([1 << 62])),
        f32s(&[1])
    )));
    assert!(shape(Op::Matmul(f32s(&[1 << 40, 1]), f32s(&[1, 1 << 40]))));
    let dtype = |op: Op<Meta>| matches!(infer(&op), Err(Error::DType { .. }));
    assert!(dtype(Op::Unary(UnaryOp::Exp, of(DType::I32, &[2]))));
    assert!(dtype(Op::Reduce(
        ReduceOp::Any,
        f32s(&[2]),
        Dims::from_slice(&[0])
    )));
    assert!(dtype(gather(f32s(&[2]), of(DType::Bool, &[2]), 0)));
    let rank = |op: Op<Meta>| matches!(infer(&op), Err(Error::Rank { .. }));
    assert!(rank(conv(&[1, 2], &[1, 2], ConvOptions::new(0))));
    assert!(rank(Op::Fused(Box::new(FusedOp::CrossEntropy {
        logits: f32s(&[2]),
        targets: of(DType::I32, &[2])
    }))));
}
