//! Every op of the vocabulary, on operands that follow from one shape and one element type.

use keyway::op::{
    Arg, BinaryOp, CompareOp, ConvOp, ConvOptions, FusedOp, HasMeta, IndexOp, Meta, MoveOp, Op, PadMode,
    PoolOp, PoolOptions, ReduceOp, ScanOp, ScatterMode, SliceRange, UnaryOp, infer,
};
use keyway::{DType, Dims, Scalar, Shape};

use super::operand::{Fill, Operand, specials};
use super::reference::Value;

/// Names the leaf ops of the structured families, in a match without `_`: a new op does not compile until it stands
/// here, and what stands here must be tested.
macro_rules! structured {
    ($($family:ident $(<$T:ident>)? ($op:ty) { $($pattern:pat => $name:literal),* $(,)? })*) => {
        $(fn $family $(<$T>)? (op: &$op) -> &'static str {
            match op { $($pattern => $name),* }
        })*
        const STRUCTURED: &[&str] = &[$($($name),*),*];
    };
}

structured! {
    movement(MoveOp) {
        MoveOp::Reshape(_) => "reshape",
        MoveOp::Permute(_) => "permute",
        MoveOp::Expand(_) => "expand",
        MoveOp::Slice(_) => "slice",
        MoveOp::Flip(_) => "flip",
        MoveOp::Pad(_, PadMode::Constant(_)) => "pad constant",
        MoveOp::Pad(_, PadMode::Reflect) => "pad reflect",
        MoveOp::Pad(_, PadMode::Replicate) => "pad replicate",
        MoveOp::Pad(_, PadMode::Circular) => "pad circular",
        MoveOp::Repeat(_) => "repeat",
    }
    index<T>(IndexOp<T>) {
        IndexOp::Gather { .. } => "gather",
        IndexOp::Scatter { mode: ScatterMode::Set, .. } => "scatter set",
        IndexOp::Scatter { mode: ScatterMode::Add, .. } => "scatter add",
        IndexOp::Scatter { mode: ScatterMode::Mul, .. } => "scatter mul",
        IndexOp::Scatter { mode: ScatterMode::Max, .. } => "scatter max",
        IndexOp::Scatter { mode: ScatterMode::Min, .. } => "scatter min",
        IndexOp::Select { .. } => "select",
        IndexOp::SelectAssign { mode: ScatterMode::Set, .. } => "select_assign set",
        IndexOp::SelectAssign { mode: ScatterMode::Add, .. } => "select_assign add",
        IndexOp::SelectAssign { mode: ScatterMode::Mul, .. } => "select_assign mul",
        IndexOp::SelectAssign { mode: ScatterMode::Max, .. } => "select_assign max",
        IndexOp::SelectAssign { mode: ScatterMode::Min, .. } => "select_assign min",
        IndexOp::Where { .. } => "where",
        IndexOp::SliceAssign { .. } => "slice_assign",
        IndexOp::ArgSort { .. } => "argsort",
        IndexOp::TopK { .. } => "topk",
    }
    conv<T>(ConvOp<T>) {
        ConvOp::Forward { .. } => "conv",
        ConvOp::Transpose { .. } => "conv_transpose",
        ConvOp::WeightGrad { .. } => "conv_weight_grad",
    }
    pool(PoolOp) {
        PoolOp::MaxIndices(_) => "max_pool",
        PoolOp::Avg(_) => "avg_pool",
        PoolOp::AvgGrad(..) => "avg_pool_grad",
    }
    fused<T>(FusedOp<T>) {
        FusedOp::Softmax { .. } => "softmax",
        FusedOp::LogSoftmax { .. } => "log_softmax",
        FusedOp::Gelu { .. } => "gelu",
        FusedOp::Silu { .. } => "silu",
        FusedOp::LayerNorm { .. } => "layer_norm",
        FusedOp::Attention { .. } => "attention",
        FusedOp::CrossEntropy { .. } => "cross_entropy",
        FusedOp::Rfft { .. } => "rfft",
        FusedOp::Irfft { .. } => "irfft",
        FusedOp::Cfft { .. } => "cfft",
    }
}

/// The name of an op in [`leaves`].
pub fn leaf<T>(op: &Op<T>) -> &'static str {
    match op {
        Op::Unary(op, _) => op.name(),
        Op::Binary(op, ..) => op.name(),
        Op::Compare(op, ..) => op.name(),
        Op::Reduce(op, ..) => op.name(),
        Op::Scan(op, ..) => op.name(),
        Op::Move(op, _) => movement(op),
        Op::Cat(..) => "cat",
        Op::Index(op) => index(op),
        Op::Matmul(..) => "matmul",
        Op::Conv(op) => conv(op),
        Op::Pool(op, _) => pool(op),
        Op::Cast(..) => "cast",
        Op::Fused(op) => fused(op),
    }
}

/// Every leaf op.
pub fn leaves() -> impl Iterator<Item = &'static str> {
    let unary = UnaryOp::ALL.iter().map(|op| op.name());
    let binary = BinaryOp::ALL.iter().map(|op| op.name());
    let compare = CompareOp::ALL.iter().map(|op| op.name());
    let reduce = ReduceOp::ALL.iter().map(|op| op.name());
    let scan = ScanOp::ALL.iter().map(|op| op.name());
    let others = STRUCTURED.iter().copied().chain(["cat", "matmul", "cast"]);
    unary
        .chain(binary)
        .chain(compare)
        .chain(reduce)
        .chain(scan)
        .chain(others)
}

/// The whole vocabulary on tensors of an element type whose shapes follow from `shape`; what [`infer`] refuses is left
/// out.
pub fn ops(shape: &Shape, dtype: DType) -> Vec<Op<Operand>> {
    let mut ops = vec![];
    for part in [
        elementwise,
        reductions,
        movements,
        writes_and_reads,
        orders,
        products,
        convolutions,
        pools,
        composites,
    ] {
        ops.extend(part(shape, dtype));
    }
    ops.retain(|op| infer(op).is_ok());
    ops
}

fn boxed(op: IndexOp<Operand>) -> Op<Operand> {
    Op::Index(Box::new(op))
}

/// `shape` with every second axis, from `first`, of size 1.
fn stretchable(shape: &Shape, first: usize) -> Shape {
    (0..shape.rank())
        .map(|axis| if axis % 2 == first { 1 } else { shape[axis] })
        .collect()
}

fn elementwise(shape: &Shape, dtype: DType) -> Vec<Op<Operand>> {
    let of = |shape: &Shape, fill| Operand::new(shape.clone(), dtype, fill);
    let wild = || Arg::Tensor(of(shape, Fill::Wild));
    let (rows, columns) = (stretchable(shape, 0), stretchable(shape, 1));
    let broadcast = || {
        [
            Arg::Tensor(of(&rows, Fill::Wild)),
            Arg::Tensor(of(&columns, Fill::Wild)),
        ]
    };
    let numbers: Vec<Scalar> = match dtype {
        DType::Bool => vec![Scalar::Bool(true), Scalar::Bool(false)],
        _ if dtype.is_float() => [2.5, -0.0, f64::NAN, f64::NEG_INFINITY, 3.0]
            .map(Scalar::Float)
            .to_vec(),
        _ => vec![
            Scalar::Int(3),
            Scalar::Int(-2),
            Scalar::Float(7.0),
            Scalar::UInt(u64::MAX),
        ],
    };
    let mut ops: Vec<Op<Operand>> = UnaryOp::ALL
        .iter()
        .map(|&op| Op::Unary(op, of(shape, Fill::Wild)))
        .collect();
    for &op in BinaryOp::ALL {
        // Divisors of integers that are not zero have ops of their own: a zero is an error.
        let divides = matches!(op, BinaryOp::Div | BinaryOp::Remainder) && dtype.is_int();
        let right = |shape: &Shape| Arg::Tensor(of(shape, if divides { Fill::Same(3) } else { Fill::Wild }));
        ops.push(Op::Binary(op, wild(), right(shape)));
        ops.push(Op::Binary(
            op,
            Arg::Tensor(of(&rows, Fill::Wild)),
            right(&columns),
        ));
        for &number in &numbers {
            ops.push(Op::Binary(op, wild(), Arg::Scalar(number)));
            ops.push(Op::Binary(op, Arg::Scalar(number), right(shape)));
        }
    }
    for &op in CompareOp::ALL {
        let [a, b] = broadcast();
        ops.extend([Op::Compare(op, wild(), wild()), Op::Compare(op, a, b)]);
        // Few values, so that some are equal.
        let tame = || Arg::Tensor(of(shape, Fill::Tame));
        ops.push(Op::Compare(op, tame(), tame()));
        for &number in &numbers {
            ops.push(Op::Compare(op, wild(), Arg::Scalar(number)));
            ops.push(Op::Compare(op, Arg::Scalar(number), tame()));
        }
    }
    ops.extend(DType::ALL.iter().map(|&to| Op::Cast(to, of(shape, Fill::Wild))));
    ops
}

/// All pairs of the special values of a type, through every op of one or two operands.
pub fn special_pairs(dtype: DType) -> Vec<Op<Operand>> {
    let n = specials(dtype).len();
    let column = || Operand::new([n, 1], dtype, Fill::Special);
    let row = || Operand::new([1, n], dtype, Fill::Special);
    let pair = || (Arg::Tensor(column()), Arg::Tensor(row()));
    let binary = |&op: &BinaryOp| {
        let (a, b) = pair();
        Op::Binary(op, a, b)
    };
    let compare = |&op: &CompareOp| {
        let (a, b) = pair();
        Op::Compare(op, a, b)
    };
    let mut ops: Vec<Op<Operand>> = UnaryOp::ALL.iter().map(|&op| Op::Unary(op, row())).collect();
    ops.extend(BinaryOp::ALL.iter().map(binary));
    ops.extend(CompareOp::ALL.iter().map(compare));
    ops.extend(DType::ALL.iter().map(|&to| Op::Cast(to, row())));
    for divisor in specials(dtype)
        .into_iter()
        .filter(|x| matches!(x, Value::Int(x) if *x != 0))
    {
        let divisor = Scalar::Int(divisor.int() as i64);
        ops.extend(
            [BinaryOp::Div, BinaryOp::Remainder]
                .map(|op| Op::Binary(op, Arg::Tensor(row()), Arg::Scalar(divisor))),
        );
    }
    ops.retain(|op| infer(op).is_ok());
    ops
}

fn reductions(shape: &Shape, dtype: DType) -> Vec<Op<Operand>> {
    let rank = shape.rank();
    let mut sets: Vec<Dims> = (0..rank).map(|axis| Dims::from_slice(&[axis])).collect();
    sets.push(Dims::new());
    sets.push((0..rank).rev().collect());
    if rank > 2 {
        sets.push(Dims::from_slice(&[0, rank - 1]));
    }
    let reduced = |&op: &ReduceOp| {
        let fill = match op {
            ReduceOp::Sum | ReduceOp::Mean => Fill::Spiked,
            ReduceOp::Prod => Fill::Unit,
            _ => Fill::Wild,
        };
        sets.iter()
            .map(move |axes| Op::Reduce(op, Operand::new(shape.clone(), dtype, fill), axes.clone()))
    };
    let scanned = |&op: &ScanOp| {
        let fill = match op {
            ScanOp::Sum => Fill::Spiked,
            ScanOp::Prod => Fill::Unit,
            ScanOp::Max | ScanOp::Min => Fill::Wild,
        };
        (0..rank).map(move |axis| Op::Scan(op, Operand::new(shape.clone(), dtype, fill), axis))
    };
    let ties = [ReduceOp::ArgMax, ReduceOp::ArgMin].into_iter().flat_map(|op| {
        (0..rank).map(move |axis| {
            Op::Reduce(
                op,
                Operand::new(shape.clone(), dtype, Fill::Tame),
                Dims::from_slice(&[axis]),
            )
        })
    });
    let reduced = ReduceOp::ALL.iter().flat_map(reduced);
    reduced
        .chain(ScanOp::ALL.iter().flat_map(scanned))
        .chain(ties)
        .collect()
}

/// Slices of each kind: whole, inner, strided both ways, empty, and with steps as long as there are.
fn slices(shape: &Shape) -> Vec<Vec<SliceRange>> {
    let each = |f: &dyn Fn(usize) -> SliceRange| shape.iter().map(|&n| f(n)).collect::<Vec<_>>();
    let range = |start: usize, end: usize, step| SliceRange { start, end, step };
    vec![
        each(&|n| range(0, n, 1)),
        each(&|n| range(n.min(1), n, 1)),
        each(&|n| range(0, n, 2)),
        each(&|n| range(0, n, -1)),
        each(&|n| range(n / 3, n, -2)),
        each(&|n| range(0, n - n / 3, -3)),
        each(&|n| range(n / 2, n / 2, 1)),
        each(&|n| range(0, n, isize::MAX)),
        each(&|n| range(0, n, isize::MIN)),
    ]
}

fn movements(shape: &Shape, dtype: DType) -> Vec<Op<Operand>> {
    let rank = shape.rank();
    let reversed: Shape = shape.iter().rev().copied().collect();
    let with_ones: Shape = shape.iter().flat_map(|&n| [1, n]).collect();
    let rotated: Dims = (0..rank).map(|axis| (axis + 1) % rank).collect();
    let mut moves = vec![
        MoveOp::Reshape([shape.num_elements()].into()),
        MoveOp::Reshape(reversed),
        MoveOp::Reshape(with_ones),
        MoveOp::Permute((0..rank).rev().collect()),
        MoveOp::Permute(rotated),
        MoveOp::Flip(Dims::new()),
        MoveOp::Flip((0..rank).collect()),
        MoveOp::Flip((0..rank).step_by(2).collect()),
        MoveOp::Repeat((0..rank).map(|axis| 1 + axis % 3).collect()),
        MoveOp::Repeat((0..rank).map(|axis| (axis + 2) % 3).collect()),
        MoveOp::Expand(shape.clone()),
    ];
    moves.extend(
        slices(shape)
            .into_iter()
            .map(|ranges| MoveOp::Slice(ranges.into())),
    );
    let constant = if dtype == DType::Bool {
        Scalar::Bool(true)
    } else {
        Scalar::Int(-3)
    };
    for mode in [
        PadMode::Constant(constant),
        PadMode::Reflect,
        PadMode::Replicate,
        PadMode::Circular,
    ] {
        for pad in [(0, 0), (1, 2), (2, 0), (0, 1)] {
            moves.push(MoveOp::Pad((0..rank).map(|_| pad).collect(), mode));
            moves.push(MoveOp::Pad(
                (0..rank)
                    .map(|axis| if axis + 1 == rank { pad } else { (0, 0) })
                    .collect(),
                mode,
            ));
        }
    }
    let of = |shape: Shape| Operand::new(shape, dtype, Fill::Wild);
    let mut ops: Vec<Op<Operand>> = moves
        .into_iter()
        .map(|op| Op::Move(op, of(shape.clone())))
        .collect();
    ops.extend([0, 1].map(|first| Op::Move(MoveOp::Expand(shape.clone()), of(stretchable(shape, first)))));
    ops.push(Op::Move(
        MoveOp::Expand(shape.clone()),
        of(shape.iter().map(|_| 1).collect()),
    ));
    for axis in 0..rank {
        let sized = |n| of(shape.clone().with(axis, n));
        ops.push(Op::Cat(vec![of(shape.clone())], axis));
        ops.push(Op::Cat(
            vec![of(shape.clone()), sized(0), sized(3), sized(1)],
            axis,
        ));
    }
    ops
}

fn writes_and_reads(shape: &Shape, dtype: DType) -> Vec<Op<Operand>> {
    let rank = shape.rank();
    let of = |shape: &Shape, fill| Operand::new(shape.clone(), dtype, fill);
    let fill = |mode| match mode {
        ScatterMode::Add => Fill::Spiked,
        ScatterMode::Mul => Fill::Unit,
        _ => Fill::Wild,
    };
    let mut ops = vec![];
    for (axis, index_dtype) in (0..rank).zip(
        [DType::I32, DType::U8, DType::I64, DType::U64, DType::I16]
            .into_iter()
            .cycle(),
    ) {
        let size = shape[axis];
        // No axis but this may be longer, and an index into nothing must be empty.
        let smaller: Shape = shape.iter().map(|&n| n - usize::from(n > 2)).collect();
        let lens = if size == 0 {
            vec![0]
        } else {
            vec![0, 1, size, size + 3]
        };
        for len in lens {
            let indexed = smaller.clone().with(axis, len);
            let places = || Operand::new(indexed.clone(), index_dtype, Fill::Below(size));
            let line = || Operand::new([len], index_dtype, Fill::Below(size));
            ops.push(boxed(IndexOp::Gather {
                x: of(shape, Fill::Wild),
                index: places(),
                axis,
            }));
            ops.push(boxed(IndexOp::Select {
                x: of(shape, Fill::Wild),
                index: line(),
                axis,
            }));
            for &mode in ScatterMode::ALL {
                let src = of(&indexed, fill(mode));
                ops.push(boxed(IndexOp::Scatter {
                    x: of(shape, fill(mode)),
                    index: places(),
                    src,
                    axis,
                    mode,
                }));
                let src = of(&shape.clone().with(axis, len), fill(mode));
                ops.push(boxed(IndexOp::SelectAssign {
                    x: of(shape, fill(mode)),
                    index: line(),
                    src,
                    axis,
                    mode,
                }));
            }
        }
    }
    for ranges in slices(shape) {
        let src: Shape = ranges.iter().map(SliceRange::len).collect();
        let (x, src) = (of(shape, Fill::Wild), of(&src, Fill::Wild));
        ops.push(boxed(IndexOp::SliceAssign {
            x,
            src,
            ranges: ranges.into(),
        }));
    }
    let cond = |shape: &Shape| Operand::new(shape.clone(), DType::Bool, Fill::Wild);
    let wild = |shape: &Shape| Arg::Tensor(of(shape, Fill::Wild));
    let number = Arg::Scalar(if dtype == DType::Bool {
        Scalar::Bool(true)
    } else {
        Scalar::Int(-5)
    });
    let (rows, columns) = (stretchable(shape, 0), stretchable(shape, 1));
    for (cond, on_true, on_false) in [
        (cond(shape), wild(shape), wild(shape)),
        (cond(&rows), wild(&columns), wild(shape)),
        (cond(shape), wild(&rows), wild(&columns)),
        (cond(shape), number.clone(), wild(shape)),
        (cond(&rows), wild(&columns), number),
    ] {
        ops.push(boxed(IndexOp::Where {
            cond,
            on_true,
            on_false,
        }));
    }
    ops
}

fn orders(shape: &Shape, dtype: DType) -> Vec<Op<Operand>> {
    let mut ops = vec![];
    for axis in 0..shape.rank() {
        for (fill, descending) in [
            (Fill::Wild, false),
            (Fill::Wild, true),
            (Fill::Tame, false),
            (Fill::Tame, true),
        ] {
            let x = || Operand::new(shape.clone(), dtype, fill);
            ops.push(boxed(IndexOp::ArgSort {
                x: x(),
                axis,
                descending,
            }));
            for k in [0, 1, shape[axis] / 2, shape[axis]] {
                ops.push(boxed(IndexOp::TopK {
                    x: x(),
                    axis,
                    k,
                    largest: descending,
                }));
            }
        }
    }
    ops
}

fn products(shape: &Shape, dtype: DType) -> Vec<Op<Operand>> {
    let rank = shape.rank();
    if rank < 2 {
        return vec![];
    }
    let fill = if dtype.is_float() {
        Fill::Spiked
    } else {
        Fill::Wild
    };
    let of = |shape: Shape| Operand::new(shape, dtype, fill);
    let right = |n| shape.clone().with(rank - 2, shape[rank - 1]).with(rank - 1, n);
    // Batch axes that stretch, on either side.
    let single = |shape: &Shape, first: usize| {
        let batch = |axis| {
            if axis + 2 < rank && axis % 2 == first {
                1
            } else {
                shape[axis]
            }
        };
        (0..rank).map(batch).collect::<Shape>()
    };
    let mut ops: Vec<Op<Operand>> = [0, 1, 3, 9]
        .map(|n| Op::Matmul(of(shape.clone()), of(right(n))))
        .into();
    ops.push(Op::Matmul(of(single(shape, 0)), of(right(4))));
    ops.push(Op::Matmul(of(shape.clone()), of(single(&right(4), 0))));
    ops.push(Op::Matmul(of(single(shape, 1)), of(single(&right(4), 0))));
    ops.push(Op::Matmul(of(shape.clone().with(rank - 2, 1)), of(right(2))));
    ops
}

fn convolutions(shape: &Shape, dtype: DType) -> Vec<Op<Operand>> {
    if shape.rank() < 3 || !dtype.is_float() {
        return vec![];
    }
    let (axes, channels) = (shape.rank() - 2, shape[1]);
    let of = |shape: &Shape| Operand::new(shape.clone(), dtype, Fill::Tame);
    let mut ops = vec![];
    for (kernel, stride, padding, dilation, groups, out) in [
        (1, 1, (0, 0), 1, 1, 3),
        (2, 1, (0, 0), 1, 1, 2),
        (3, 2, (1, 2), 1, 1, 2),
        (2, 3, (2, 0), 2, 1, 1),
        (2, 2, (0, 1), 1, channels, 2 * channels),
        (3, 1, (1, 1), 1, 2, 4),
    ] {
        // The options differ between the axes, so that none can stand for another.
        let options = ConvOptions {
            stride: (0..axes).map(|axis| stride + axis % 2).collect(),
            padding: (0..axes)
                .map(|axis| {
                    if axis % 2 == 0 {
                        padding
                    } else {
                        (padding.1, padding.0)
                    }
                })
                .collect(),
            dilation: (0..axes).map(|axis| dilation + usize::from(axis == 2)).collect(),
            groups,
        };
        let kernel: Dims = (0..axes)
            .map(|axis| kernel - usize::from(axis == 1 && kernel > 2))
            .collect();
        let weight: Shape = [out, channels / groups.max(1)]
            .into_iter()
            .chain(kernel.iter().copied())
            .collect();
        let forward = Op::Conv(Box::new(ConvOp::Forward {
            x: of(shape),
            weight: of(&weight),
            options: options.clone(),
        }));
        let Ok(Meta { shape: result, .. }) = infer(&forward) else {
            continue;
        };
        let transposed = ConvOp::Transpose {
            x: of(&result),
            weight: of(&weight),
            options: options.clone(),
            size: Dims::from_slice(&shape[2..]),
        };
        let weights = ConvOp::WeightGrad {
            x: of(shape),
            grad: of(&result),
            options,
            kernel,
        };
        ops.extend([
            forward,
            Op::Conv(Box::new(transposed)),
            Op::Conv(Box::new(weights)),
        ]);
    }
    ops
}

fn pools(shape: &Shape, dtype: DType) -> Vec<Op<Operand>> {
    if shape.rank() < 3 || !dtype.is_float() {
        return vec![];
    }
    let axes = shape.rank() - 2;
    let of = |shape: &Shape, fill| Operand::new(shape.clone(), dtype, fill);
    let mut ops = vec![];
    for (kernel, stride, padding, dilation) in [
        (1, 1, (0, 0), 1),
        (2, 2, (0, 0), 1),
        (2, 1, (1, 0), 1),
        (3, 2, (1, 1), 1),
        (2, 3, (0, 1), 2),
    ] {
        for count_include_pad in [true, false] {
            let options = PoolOptions {
                kernel: (0..axes)
                    .map(|axis| kernel + usize::from(axis == 1 && kernel == 2))
                    .collect(),
                stride: (0..axes).map(|axis| stride + axis % 2).collect(),
                padding: (0..axes)
                    .map(|axis| {
                        if axis % 2 == 0 {
                            padding
                        } else {
                            (padding.1, padding.0)
                        }
                    })
                    .collect(),
                dilation: (0..axes).map(|_| dilation).collect(),
                count_include_pad,
            };
            let pooled = |op, x| Op::Pool(Box::new(op), x);
            ops.push(pooled(PoolOp::MaxIndices(options.clone()), of(shape, Fill::Wild)));
            ops.push(pooled(PoolOp::MaxIndices(options.clone()), of(shape, Fill::Tame)));
            let average = pooled(PoolOp::Avg(options.clone()), of(shape, Fill::Spiked));
            if let Ok(Meta { shape: result, .. }) = infer(&average) {
                let grad = PoolOp::AvgGrad(options, Dims::from_slice(&shape[2..]));
                ops.extend([average, pooled(grad, of(&result, Fill::Tame))]);
            }
        }
    }
    ops
}

fn composites(shape: &Shape, dtype: DType) -> Vec<Op<Operand>> {
    if !dtype.is_float() {
        return vec![];
    }
    let rank = shape.rank();
    let of = |shape: &Shape| Operand::new(shape.clone(), dtype, Fill::Tame);
    let spiked = || Operand::new(shape.clone(), dtype, Fill::Spiked);
    let mut ops = vec![
        FusedOp::Gelu {
            x: of(shape),
            tanh: false,
        },
        FusedOp::Gelu {
            x: of(shape),
            tanh: true,
        },
        FusedOp::Silu { x: of(shape) },
    ];
    let special = || Operand::new(shape.clone(), dtype, Fill::Special);
    ops.extend([false, true].map(|tanh| FusedOp::Gelu { x: special(), tanh }));
    ops.push(FusedOp::Silu { x: special() });
    for axis in 0..rank {
        ops.extend([
            FusedOp::Softmax { x: of(shape), axis },
            FusedOp::LogSoftmax { x: of(shape), axis },
        ]);
        ops.extend([
            FusedOp::Softmax { x: spiked(), axis },
            FusedOp::LogSoftmax { x: spiked(), axis },
        ]);
    }
    if rank > 0 {
        let row = || of(&[shape[rank - 1]].into());
        // A variance far below `eps` would magnify the rounding of the mean.
        for (weight, bias) in [
            (None, None),
            (Some(row()), None),
            (None, Some(row())),
            (Some(row()), Some(row())),
        ] {
            ops.push(FusedOp::LayerNorm {
                x: of(shape),
                weight,
                bias,
                eps: 0.125,
            });
        }
        let last = shape[rank - 1];
        ops.push(FusedOp::Rfft { x: of(shape) });
        // Of both lengths that have so many frequencies.
        for n in [2 * last.saturating_sub(1), (2 * last).saturating_sub(1)] {
            let (re, im) = (of(shape), of(shape));
            ops.push(FusedOp::Irfft { re, im, n });
        }
        for inverse in [false, true] {
            let (re, im) = (of(shape), of(shape));
            ops.push(FusedOp::Cfft { re, im, inverse });
        }
    }
    if rank > 1 {
        let keys = |n| of(&shape.clone().with(rank - 2, n));
        let values = |n| of(&shape.clone().with(rank - 2, n).with(rank - 1, 3));
        for n in [1, 4, 6] {
            let scores = shape.clone().with(rank - 1, n);
            let mask = |shape: Shape| Some(Operand::new(shape, DType::Bool, Fill::Wild));
            for (mask, bias, causal, scale) in [
                (None, None, false, None),
                (None, None, true, Some(0.5)),
                (mask(scores.clone()), None, false, None),
                (
                    mask(stretchable(&scores, rank % 2)),
                    Some(of(&scores)),
                    true,
                    None,
                ),
                (
                    None,
                    Some(of(&scores.clone().with(rank - 2, 1))),
                    false,
                    Some(1.0),
                ),
            ] {
                let (q, k, v) = (of(shape), keys(n), values(n));
                ops.push(FusedOp::Attention {
                    q,
                    k,
                    v,
                    mask,
                    bias,
                    causal,
                    scale,
                });
            }
        }
    }
    if rank == 2 && shape[1] > 0 {
        for targets in [DType::I32, DType::U8, DType::I64] {
            let targets = Operand::new([shape[0]], targets, Fill::Below(shape[1]));
            ops.push(FusedOp::CrossEntropy {
                logits: of(shape),
                targets,
            });
        }
    }
    ops.into_iter().map(|op| Op::Fused(Box::new(op))).collect()
}
