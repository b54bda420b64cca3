//! What is particular to this backend: views, reuse, edges that `ndarray` would panic on. The last test calls every
//! element-wise op once against the reference; the conformance suite does the rest.

use super::storage::NdArrayTensor;
use super::{NdArray, NdArrayDevice};
use crate::element::{DType, Element, Scalar};
use crate::error::Error;
use crate::op::{
    BinaryOp, CompareOp, ConvOptions, PadMode, PoolOp, PoolOptions, ReduceOp, ScanOp, ScatterMode,
    SliceRange, UnaryOp, scalar,
};
use crate::{TensorData, f16, with_dtype};

type Raw = crate::raw::Raw<NdArray>;

fn tensor<E: Element>(values: &[E], shape: impl Into<crate::Shape>) -> Raw {
    let data = TensorData::new(values.to_vec(), shape).unwrap();
    Raw::from_data(data, &NdArrayDevice::default()).unwrap()
}

fn values<E: Element>(x: Raw) -> Vec<E> {
    x.into_data().unwrap().into_vec().unwrap()
}

/// Where the first element of an `f32` tensor is in memory.
fn address(x: &NdArrayTensor) -> *const f32 {
    x.array::<f32>().as_ptr()
}

fn range(n: usize) -> Vec<f32> {
    (0..n).map(|i| i as f32).collect()
}

#[test]
fn movements_are_views() {
    let x = tensor(&range(24), [2, 3, 4]);
    let start = address(x.primitive());
    let permuted = x.clone().permute([2, 0, 1]).unwrap();
    assert_eq!(address(permuted.primitive()), start);
    assert_eq!(values::<f32>(permuted.clone())[..4], [0.0, 4.0, 8.0, 12.0]);
    // An axis comes and goes on a view that does not lie in order.
    let squeezed = permuted.unsqueeze_dim(1).unwrap().squeeze_dim(1).unwrap();
    assert_eq!(address(squeezed.primitive()), start);
    let reshaped = x.clone().reshape([6, 4]).unwrap();
    assert_eq!(address(reshaped.primitive()), start);
    let ranges = [
        SliceRange::new(1, 2),
        SliceRange {
            start: 0,
            end: 3,
            step: -2,
        },
        SliceRange {
            start: 1,
            end: 4,
            step: 2,
        },
    ];
    let sliced = x.clone().slice(ranges).unwrap();
    assert_eq!(address(sliced.primitive()), start.wrapping_add(12 + 2 * 4 + 1));
    assert_eq!(values::<f32>(sliced), [21.0, 23.0, 13.0, 15.0]);
    let flipped = x.clone().flip([0, 2]).unwrap();
    assert_eq!(address(flipped.primitive()), start.wrapping_add(12 + 3));
    assert_eq!(values::<f32>(flipped)[..4], [15.0, 14.0, 13.0, 12.0]);
    let row = x.narrow(0, 0, 1).unwrap().expand([5, 3, 4]).unwrap();
    assert_eq!(address(row.primitive()), start);
    assert_eq!(row.primitive().array::<f32>().len(), 12);
    assert_eq!(values::<f32>(row).len(), 60);
}

#[test]
fn stretched_axes_move() {
    let x = tensor(&[1.0f32, 2.0], [1, 2]).expand([3, 2]).unwrap();
    let one = x
        .clone()
        .slice([SliceRange::new(1, 2), SliceRange::new(0, 2)])
        .unwrap();
    assert_eq!((one.shape()[0], values::<f32>(one)), (1, vec![1.0, 2.0]));
    let flipped = x.clone().flip([0, 1]).unwrap();
    assert_eq!(values::<f32>(flipped), [2.0, 1.0, 2.0, 1.0, 2.0, 1.0]);
    let joined = x.clone().reshape([6]).unwrap();
    assert_eq!(values::<f32>(joined), [1.0, 2.0, 1.0, 2.0, 1.0, 2.0]);
    let turned = x.clone().permute([1, 0]).unwrap().unsqueeze_dim(1).unwrap();
    assert_eq!(values::<f32>(turned), [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
    let padded = x.clone().pad([(1, 0), (0, 1)], PadMode::Circular).unwrap();
    assert_eq!(values::<f32>(padded), [1.0, 2.0, 1.0].repeat(4));
    let repeated = x.clone().repeat(&[2, 2]).unwrap();
    assert_eq!(values::<f32>(repeated), [1.0, 2.0].repeat(12));
    assert_eq!(values::<f32>(x.clone().sum_dim(0).unwrap()), [3.0, 6.0]);
    assert_eq!(
        values::<f32>(x.clone().scan(ScanOp::Sum, 0).unwrap()),
        [1.0, 2.0, 2.0, 4.0, 3.0, 6.0]
    );
    assert_eq!(
        values::<f32>(x.clone().matmul(x.clone().transpose().unwrap()).unwrap()),
        [5.0; 9]
    );
    // Stretched along the axis that a product sums over, on both sides.
    let inner = x.clone().transpose().unwrap().matmul(x.clone()).unwrap();
    assert_eq!(values::<f32>(inner), [3.0, 6.0, 6.0, 12.0]);
    let index = tensor(&[1i32], [1, 1]).expand([3, 1]).unwrap();
    assert_eq!(
        values::<f32>(x.clone().gather(1, index.clone()).unwrap()),
        [2.0; 3]
    );
    let src = tensor(&[9.0f32], [1, 1]).expand([3, 1]).unwrap();
    let written = x.clone().scatter(1, index, src, ScatterMode::Set).unwrap();
    assert_eq!(values::<f32>(written), [1.0, 9.0].repeat(3));
    let chosen = x.clone().greater(1.5).unwrap().choose(x.clone(), 0.0).unwrap();
    assert_eq!(values::<f32>(chosen), [0.0, 2.0].repeat(3));
    assert_eq!(values::<f32>(x.clone().add(x).unwrap()), [2.0, 4.0].repeat(3));
}

#[test]
fn ops_reuse_what_nobody_else_holds() {
    let x = tensor(&range(6), [2, 3]);
    let start = address(x.primitive());
    let shared = x.clone();
    let y = x.exp().unwrap();
    assert_ne!(address(y.primitive()), start);
    assert_eq!(values::<f32>(shared.clone()), range(6));
    let y = shared.add(y).unwrap();
    assert_eq!(address(y.primitive()), start);
    // The second operand where the first has another shape.
    let y = tensor(&[1.0f32], [1, 1]).sub(y).unwrap();
    assert_eq!(address(y.primitive()), start);
    let y = y.mul(2.0).unwrap().scan(ScanOp::Sum, 1).unwrap();
    assert_eq!(address(y.primitive()), start);
    let expected = -2.0 * std::f32::consts::E;
    assert!((values::<f32>(y)[1] - expected).abs() < 1e-5);
}

#[test]
fn a_part_of_an_array_reads_alone() {
    let x = tensor(&range(6), [3, 2]);
    assert_eq!(values::<f32>(x.clone().narrow(0, 1, 1).unwrap()), [2.0, 3.0]);
    let whole = x.narrow(0, 1, 2).unwrap();
    assert_eq!(values::<f32>(whole), [2.0, 3.0, 4.0, 5.0]);
}

#[test]
fn empty_shapes_with_long_axes() {
    let wide = 1usize << 25;
    let x = tensor::<f32>(&[], [0, wide, wide]);
    assert_eq!(x.shape()[1], wide);
    assert_eq!(
        x.clone()
            .exp()
            .unwrap()
            .add(x.clone())
            .unwrap()
            .into_data()
            .unwrap()
            .shape()[2],
        wide
    );
    assert_eq!(x.clone().permute([1, 0, 2]).unwrap().shape()[..], [wide, 0, wide]);
    assert_eq!(values::<f32>(x.clone().sum_dims(&[0, 1, 2]).unwrap()), [0.0]);
    assert_eq!(
        values::<f32>(x.clone().reduce(ReduceOp::Prod, &[0, 1, 2]).unwrap()),
        [1.0]
    );
    assert!(values::<f32>(x.mean_dims(&[0, 1, 2]).unwrap())[0].is_nan());
}

#[test]
fn empty_operands() {
    let empty = tensor::<f32>(&[], [2, 0]);
    let full = tensor(&range(6), [2, 3]);
    assert_eq!(
        values::<f32>(Raw::cat(vec![empty.clone(), full.clone()], 1).unwrap()),
        range(6)
    );
    let product = empty.clone().matmul(tensor::<f32>(&[], [0, 3])).unwrap();
    assert_eq!(values::<f32>(product), [0.0; 6]);
    let padded = empty
        .clone()
        .pad([(0, 0), (1, 1)], PadMode::Constant(Scalar::Int(7)))
        .unwrap();
    assert_eq!(values::<f32>(padded), [7.0; 4]);
    let none = tensor::<i32>(&[], [0]);
    let same = full
        .clone()
        .select_assign(1, none.clone(), empty.clone(), ScatterMode::Add)
        .unwrap();
    assert_eq!(values::<f32>(same), range(6));
    assert_eq!(full.clone().select(1, none).unwrap().shape()[..], [2, 0]);
    let same = full
        .clone()
        .slice_assign([SliceRange::new(0, 2), SliceRange::new(1, 1)], empty.clone());
    assert_eq!(values::<f32>(same.unwrap()), range(6));
    // No element to read: still, the index is outside.
    let outside = empty.select(1, tensor(&[0i32], [1]));
    assert!(matches!(
        outside,
        Err(Error::Index {
            index: 0,
            axis: 1,
            size: 0,
            ..
        })
    ));
    let nothing = tensor::<f32>(&[], [1, 1, 0]);
    let options = PoolOptions {
        padding: smallvec::smallvec![(1, 1)],
        ..PoolOptions::new(vec![2])
    };
    assert_eq!(
        values::<f32>(nothing.clone().pool(PoolOp::Avg(options)).unwrap()),
        [0.0]
    );
    let options = ConvOptions {
        padding: smallvec::smallvec![(1, 1)],
        ..ConvOptions::new(1)
    };
    assert_eq!(
        values::<f32>(
            nothing
                .conv(tensor(&[1.0f32, 1.0], [1, 1, 2]), None, options)
                .unwrap()
        ),
        [0.0]
    );
}

#[test]
fn what_only_values_show_is_an_error() {
    let x = tensor(&[1i32, i32::MIN], [2]);
    for op in [BinaryOp::Div, BinaryOp::Remainder] {
        assert!(matches!(x.clone().binary(op, 0i32), Err(Error::Argument { .. })));
        assert!(matches!(
            x.clone().binary(op, tensor(&[1, 0], [2])),
            Err(Error::Argument { .. })
        ));
    }
    assert_eq!(values::<i32>(x.clone().div(-1i32).unwrap()), [-1, i32::MIN]);
    assert_eq!(values::<i32>(x.clone().remainder(-1i32).unwrap()), [0, 0]);
    for index in [tensor(&[2i8], [1]), tensor(&[-1i64 as i8], [1])] {
        assert!(matches!(
            x.clone().select(0, index.clone()),
            Err(Error::Index { size: 2, .. })
        ));
        assert!(matches!(
            x.clone().gather(0, index.clone()),
            Err(Error::Index { size: 2, .. })
        ));
        let written = x
            .clone()
            .scatter(0, index, tensor(&[1i32], [1]), ScatterMode::Add);
        assert!(matches!(written, Err(Error::Index { size: 2, .. })));
    }
    let far = x.select(0, tensor(&[u64::MAX], [1]));
    assert!(matches!(far, Err(Error::Index { index: i64::MAX, .. })));
}

#[test]
fn windows_beyond_the_address_space_are_an_error() {
    let x = tensor(&range(1), [1, 1, 1]);
    let far = 1usize << 60;
    let options = ConvOptions {
        padding: smallvec::smallvec![(far, far)],
        stride: smallvec::smallvec![1 << 50],
        ..ConvOptions::new(1)
    };
    let y = x
        .clone()
        .conv(tensor(&range(1), [1, 1, 1]), None, options)
        .unwrap();
    assert_eq!(y.shape()[2], 2049);
    let pool = PoolOptions {
        padding: smallvec::smallvec![(far, 0)],
        stride: smallvec::smallvec![usize::MAX],
        ..PoolOptions::new(vec![1])
    };
    assert_eq!(values::<f32>(x.pool(PoolOp::Avg(pool)).unwrap()), [0.0]);
}

#[test]
fn sums_are_accurate() {
    let n = 1 << 20;
    let x = tensor(&vec![0.1f32; n], [n / 16, 16]);
    let exact = f64::from(0.1f32) * n as f64;
    for x in [x.clone(), x.clone().transpose().unwrap()] {
        let sum = f64::from(values::<f32>(x.sum_dims(&[0, 1]).unwrap())[0]);
        assert!((sum / exact - 1.0).abs() < 1e-6, "{sum} for {exact}");
    }
    // In f16, 2048 + 1 is 2048.
    let halves = tensor(&vec![f16::ONE; 4096], [4096]);
    assert_eq!(values::<f16>(halves.sum_dim(0).unwrap()), [f16::from_f32(4096.0)]);
}

#[test]
fn sorting_is_stable_and_puts_nan_last() {
    let x = tensor(&[2.0f32, f32::NAN, 1.0, 2.0, f32::NAN, -0.0, 0.0], [7]);
    assert_eq!(
        values::<i32>(x.clone().argsort(0).unwrap()),
        [5, 6, 2, 0, 3, 1, 4]
    );
    assert_eq!(
        values::<i32>(x.clone().argsort_descending(0).unwrap()),
        [1, 4, 0, 3, 2, 5, 6]
    );
    assert_eq!(
        values::<i32>(x.clone().topk_indices(3, 0, true).unwrap()),
        [1, 4, 0]
    );
    assert_eq!(values::<i32>(x.topk_indices(3, 0, false).unwrap()), [5, 6, 2]);
}

/// Convolution by its definition, in one dimension.
fn conv_by_hand(
    x: &[f64],
    w: &[f64],
    [n, c, len]: [usize; 3],
    [o, k]: [usize; 2],
    options: &ConvOptions,
) -> Vec<f64> {
    let (stride, (before, after)) = (options.stride[0], options.padding[0]);
    let (dilation, groups) = (options.dilation[0], options.groups);
    let out = (len + before + after - (k - 1) * dilation - 1) / stride + 1;
    let per_group = c / groups;
    let mut y = Vec::new();
    for (b, f, i) in (0..n).flat_map(|b| (0..o).flat_map(move |f| (0..out).map(move |i| (b, f, i)))) {
        let mut sum = 0.0;
        for (ch, t) in (0..per_group).flat_map(|ch| (0..k).map(move |t| (ch, t))) {
            let at = (i * stride + t * dilation).wrapping_sub(before);
            if at < len {
                let channel = f / (o / groups) * per_group + ch;
                sum += x[(b * c + channel) * len + at] * w[(f * per_group + ch) * k + t];
            }
        }
        y.push(sum);
    }
    y
}

#[test]
fn convolutions_are_adjoint() {
    let (n, c, len, o, k) = (2, 4, 11, 6, 3);
    let noise = |count: usize, seed: f64| (0..count).map(|i| (i as f64 * seed).sin()).collect::<Vec<f64>>();
    for (stride, padding, dilation, groups) in [(1, (0, 0), 1, 1), (2, (3, 1), 2, 2), (3, (0, 2), 1, 2)] {
        let options = ConvOptions {
            stride: smallvec::smallvec![stride],
            padding: smallvec::smallvec![padding],
            dilation: smallvec::smallvec![dilation],
            groups,
        };
        let (x, w) = (noise(n * c * len, 1.3), noise(o * c / groups * k, 0.7));
        let (tx, tw) = (tensor(&x, [n, c, len]), tensor(&w, [o, c / groups, k]));
        let y = tx.clone().conv(tw.clone(), None, options.clone()).unwrap();
        let expected = conv_by_hand(&x, &w, [n, c, len], [o, k], &options);
        let got = values::<f64>(y.clone());
        assert_eq!(got.len(), expected.len());
        assert!(
            got.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12),
            "{options:?}"
        );
        // <g, conv(x, w)> = <transpose(g, w), x> = <weight_grad(x, g), w>
        let g = tensor(&noise(got.len(), 2.1), y.shape().clone());
        let dot = |a: Raw, b: Raw| values::<f64>(a.mul(b).unwrap().reduce_all(ReduceOp::Sum).unwrap())[0];
        let forward = dot(g.clone(), y);
        let size = smallvec::smallvec![len];
        let by_input = dot(
            g.clone()
                .conv_transpose_to(tw.clone(), options.clone(), size)
                .unwrap(),
            tx.clone(),
        );
        let kernel = smallvec::smallvec![k];
        let by_weight = dot(tx.conv_weight_grad(g, options, kernel).unwrap(), tw);
        assert!((forward - by_input).abs() < 1e-10 && (forward - by_weight).abs() < 1e-10);
    }
}

#[test]
fn pools() {
    let x = [3.0f32, 1.0, f32::NAN, 2.0, 2.0, 0.0, 5.0, 5.0, -1.0];
    let plane = tensor(&x, [1, 1, 3, 3]);
    let options = PoolOptions {
        stride: smallvec::smallvec![1, 1],
        padding: smallvec::smallvec![(0, 1), (1, 0)],
        count_include_pad: false,
        ..PoolOptions::new(vec![2, 2])
    };
    let indices = plane.pool(PoolOp::MaxIndices(options.clone())).unwrap();
    assert_eq!(values::<i32>(indices), [0, 0, 2, 6, 6, 7, 6, 6, 7]);
    let x = tensor(&range(9), [1, 1, 3, 3]);
    let means = x.pool(PoolOp::Avg(options.clone())).unwrap();
    assert_eq!(
        values::<f32>(means),
        [1.5, 2.0, 3.0, 4.5, 5.0, 6.0, 6.0, 6.5, 7.5]
    );
    let grad = tensor(&[1.0f32; 9], [1, 1, 3, 3]);
    let grad = values::<f32>(
        grad.pool(PoolOp::AvgGrad(options, smallvec::smallvec![3, 3]))
            .unwrap(),
    );
    assert!((grad.iter().sum::<f32>() - 9.0).abs() < 1e-5);
    assert_eq!((grad[0], grad[8]), (0.5 + 0.25, 0.25 + 0.5));
}

/// Every element-wise op on every element type it takes, with a tensor and with a number on either side.
#[test]
fn element_wise_ops_match_the_reference() {
    let floats = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.3,
        -2.5,
        7.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    let ints = [0i64, 1, -1, 2, -3, 7, 100, -128, 127, 65];
    for &dtype in DType::ALL {
        let inputs = match dtype {
            DType::Bool => tensor(&[true, false], [2]),
            dtype if dtype.is_int() => tensor(&ints, [ints.len()]).cast(dtype).unwrap(),
            dtype => tensor(&floats, [floats.len()]).cast(dtype).unwrap(),
        };
        let data = inputs.clone().into_data().unwrap();
        let n = data.shape()[0];
        let at = |i: usize| data.get(i).unwrap();
        for &op in UnaryOp::ALL.iter().filter(|op| op.takes(dtype)) {
            let got = inputs.clone().unary(op).unwrap().into_data().unwrap();
            for i in 0..n {
                assert_close(
                    op.name(),
                    dtype,
                    got.get(i).unwrap(),
                    reference_unary(op, dtype, at(i)),
                );
            }
        }
        let (left, right) = (
            inputs.clone().reshape([n, 1]).unwrap(),
            inputs.clone().reshape([1, n]).unwrap(),
        );
        for &op in BinaryOp::ALL.iter().filter(|op| op.takes(dtype)) {
            let divides = dtype.is_int() && matches!(op, BinaryOp::Div | BinaryOp::Remainder);
            let skip = usize::from(divides);
            let right = right.clone().narrow(1, skip, n - skip).unwrap();
            let got = left.clone().binary(op, right).unwrap().into_data().unwrap();
            for (i, j) in (0..n).flat_map(|i| (skip..n).map(move |j| (i, j))) {
                let expected = reference_binary(op, dtype, at(i), at(j));
                let by_number = inputs.clone().binary(op, at(j)).unwrap().into_data().unwrap();
                assert_close(op.name(), dtype, by_number.get(i).unwrap(), expected);
                assert_close(
                    op.name(),
                    dtype,
                    got.get(i * (n - skip) + j - skip).unwrap(),
                    expected,
                );
                if !divides {
                    let of_number = inputs
                        .clone()
                        .binary_left(op, at(i))
                        .unwrap()
                        .into_data()
                        .unwrap();
                    assert_close(op.name(), dtype, of_number.get(j).unwrap(), expected);
                }
            }
        }
        for &op in CompareOp::ALL.iter().filter(|op| op.takes(dtype)) {
            let got = left
                .clone()
                .compare(op, right.clone())
                .unwrap()
                .into_data()
                .unwrap();
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let expected = with_dtype!(dtype, E => scalar::compare(op, at(i).to::<E>(), at(j).to::<E>()));
                assert_eq!(
                    got.get(i * n + j),
                    Some(Scalar::Bool(expected)),
                    "{} {dtype}",
                    op.name()
                );
                let by_number = inputs.clone().compare(op, at(j)).unwrap().into_data().unwrap();
                assert_eq!(
                    by_number.get(i),
                    Some(Scalar::Bool(expected)),
                    "{} {dtype}",
                    op.name()
                );
            }
        }
        for &to in DType::ALL {
            let got = inputs.clone().cast(to).unwrap().into_data().unwrap();
            let expected = data.clone().cast(to);
            assert!(
                (0..n).all(|i| same(got.get(i).unwrap(), expected.get(i).unwrap())),
                "{dtype} to {to}"
            );
        }
    }
}

fn reference_unary(op: UnaryOp, dtype: DType, x: Scalar) -> Scalar {
    match x {
        Scalar::Bool(x) => Scalar::Bool(!x),
        Scalar::Float(x) if op.output(dtype) == DType::Bool => Scalar::Bool(scalar::classify(op, x)),
        Scalar::Float(x) => round(scalar::unary_float(op, x), dtype),
        x => wrap(scalar::unary_int(op, wide(x)), dtype),
    }
}

fn reference_binary(op: BinaryOp, dtype: DType, a: Scalar, b: Scalar) -> Scalar {
    match (a, b) {
        (Scalar::Bool(a), Scalar::Bool(b)) => Scalar::Bool(scalar::binary_bool(op, a, b)),
        (Scalar::Float(a), Scalar::Float(b)) => round(scalar::binary_float(op, a, b), dtype),
        (a, b) => wrap(
            scalar::binary_int(op, wide(a), wide(b), 8 * dtype.size() as u32).unwrap(),
            dtype,
        ),
    }
}

fn wide(x: Scalar) -> i128 {
    match x {
        Scalar::UInt(x) => x.into(),
        x => x.to::<i64>().into(),
    }
}

fn round(x: f64, dtype: DType) -> Scalar {
    with_dtype!(dtype, E => Scalar::Float(x).to::<E>().to_scalar())
}

fn wrap(x: i128, dtype: DType) -> Scalar {
    with_dtype!(dtype, E => Scalar::UInt(x as u64).to::<E>().to_scalar())
}

fn same(a: Scalar, b: Scalar) -> bool {
    a == b || matches!((a, b), (Scalar::Float(a), Scalar::Float(b)) if a.is_nan() && b.is_nan())
}

fn assert_close(name: &str, dtype: DType, got: Scalar, expected: Scalar) {
    let tolerance = match dtype {
        DType::F64 => 1e-14,
        DType::F32 => 1e-6,
        DType::F16 => 1e-3,
        _ => 1e-2,
    };
    let close = match (got, expected) {
        (Scalar::Float(a), Scalar::Float(b)) => (a - b).abs() <= tolerance * b.abs(),
        _ => false,
    };
    assert!(
        close || same(got, expected),
        "{name} on {dtype}: {got}, not {expected}"
    );
}
