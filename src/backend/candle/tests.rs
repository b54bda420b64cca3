//! What is particular to this backend: views, what `candle` executes itself and what not, and the places where `candle`
//! would panic or be wrong. The conformance suite does the rest.

use candle_core::Tensor;

use super::{Candle, CandleDevice};
use crate::backend::{Backend, Readable, Route, observe};
use crate::element::{DType, Element};
use crate::error::Error;
use crate::op::{
    BinaryOp, ConvOptions, CreateOp, Meta, PadMode, PoolOp, PoolOptions, ReduceOp, ScatterMode, SliceRange,
    UnaryOp,
};
use crate::{Flex, Shape, TensorData, bf16};

type Raw<B = Candle> = crate::raw::Raw<B>;

fn tensor<E: Element>(values: &[E], shape: impl Into<Shape>) -> Raw {
    let data = TensorData::new(values.to_vec(), shape).unwrap();
    Raw::from_data(data, &CandleDevice::default()).unwrap()
}

fn values<E: Element>(x: Raw) -> Vec<E> {
    x.into_data().unwrap().into_vec().unwrap()
}

fn range(n: usize) -> Vec<f32> {
    (0..n).map(|i| i as f32).collect()
}

/// The result of a function, and by which way it came.
fn routed<E: Element>(f: impl FnOnce() -> Result<Raw, Error>) -> (Vec<E>, Route) {
    let (result, route) = observe(f);
    (values(result.unwrap()), route)
}

/// Whether two tensors are views of one buffer.
fn share(a: &Raw, b: &Raw) -> bool {
    let start = |x: &Raw| {
        let (storage, _) = x.primitive().tensor().storage_and_layout();
        match &*storage {
            candle_core::Storage::Cpu(candle_core::CpuStorage::F32(values)) => values.as_ptr(),
            other => panic!("{other:?}"),
        }
    };
    start(a) == start(b)
}

#[test]
fn movements_are_views_where_candle_has_them() {
    let x = tensor(&range(24), [2, 3, 4]);
    let permuted = x.clone().permute([2, 0, 1]).unwrap();
    assert!(share(&x, &permuted));
    assert_eq!(values::<f32>(permuted.clone())[..4], [0.0, 4.0, 8.0, 12.0]);
    // An axis comes and goes on a view that does not lie in order.
    let squeezed = permuted.unsqueeze_dim(1).unwrap().squeeze_dim(1).unwrap();
    assert!(share(&x, &squeezed));
    assert_eq!(values::<f32>(squeezed)[..4], [0.0, 4.0, 8.0, 12.0]);
    let sliced = x
        .clone()
        .slice([
            SliceRange::new(1, 2),
            SliceRange::new(0, 2),
            SliceRange::new(1, 4),
        ])
        .unwrap();
    assert!(share(&x, &sliced));
    assert_eq!(values::<f32>(sliced), [13.0, 14.0, 15.0, 17.0, 18.0, 19.0]);
    let row = x.clone().narrow(0, 0, 1).unwrap().expand([5, 3, 4]).unwrap();
    assert!(share(&x, &row));
    assert_eq!(values::<f32>(row).len(), 60);
    assert!(share(&x, &x.clone().reshape([6, 4]).unwrap()));
    assert!(!share(&x, &x.clone().flip([1]).unwrap()));
}

/// `candle` walks several operands along eight axes at most: in a debug build it panics beyond, else it reads elsewhere.
#[test]
fn more_axes_than_candle_walks() {
    let shape = [2, 1, 2, 1, 1, 2, 1, 1, 2, 1];
    let ones = [1; 10];
    let x = tensor(&range(16), shape);
    let row = tensor(&[1.0f32], ones);
    let (sum, route) = routed::<f32>(|| x.clone().add(row.clone()));
    assert_eq!((sum[15], route), (16.0, Route::Native));
    let turned = x.clone().permute([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]).unwrap();
    let flat = turned.clone().reshape([16]).unwrap();
    assert_eq!(
        values::<bool>(turned.clone().greater(3.0).unwrap()),
        values::<bool>(flat.clone().greater(3.0).unwrap())
    );
    let relu = turned.clone().sub(5.0).unwrap().unary(UnaryOp::Relu).unwrap();
    assert_eq!(
        values::<f32>(relu),
        values::<f32>(flat.sub(5.0).unwrap().unary(UnaryOp::Relu).unwrap())
    );
    let chosen = turned
        .clone()
        .greater(3.0)
        .unwrap()
        .choose(turned.clone(), 0.0)
        .unwrap();
    assert_eq!(values::<f32>(chosen).iter().filter(|&&v| v == 0.0).count(), 4);
    assert!(values::<bool>(turned.cast(DType::Bool).unwrap())[1]);
    let doubled = x.repeat(&[2, 1, 1, 1, 1, 1, 1, 1, 1, 3]).unwrap();
    assert_eq!(values::<f32>(doubled).len(), 96);
}

/// `candle` itself panics on each of these where overflow checks are on.
#[test]
fn integers_wrap() {
    let x = tensor(&[i32::MIN, i32::MAX, -1], [3]);
    let all = |f: &dyn Fn() -> Result<Raw, Error>| {
        let (result, route) = routed::<i32>(f);
        assert_eq!(route, Route::Native);
        result
    };
    assert_eq!(all(&|| x.clone().add(x.clone())), [0, -2, -2]);
    assert_eq!(all(&|| x.clone().sub(1)), [i32::MAX, i32::MAX - 1, -2]);
    assert_eq!(all(&|| x.clone().mul(x.clone())), [0, 1, 1]);
    assert_eq!(all(&|| x.clone().div(-1)), [i32::MIN, -i32::MAX, 1]);
    assert_eq!(all(&|| x.clone().neg()), [i32::MIN, -i32::MAX, 1]);
    assert_eq!(all(&|| x.clone().abs()), [i32::MIN, i32::MAX, 1]);
    assert_eq!(
        all(&|| x.clone().unary(UnaryOp::BitwiseNot)),
        [i32::MAX, i32::MIN, 0]
    );
    assert_eq!(all(&|| x.clone().reduce_all(ReduceOp::Sum)), [-2]);
    let bytes = tensor(&[0u8, 200, 255], [3]);
    let (sum, _) = routed::<u8>(|| bytes.clone().add(bytes.clone()));
    assert_eq!(sum, [0, 144, 254]);
    let (not, _) = routed::<u8>(|| bytes.clone().unary(UnaryOp::BitwiseNot));
    assert_eq!(not, [255, 55, 0]);
    let zero = x.div(tensor(&[1i32, 0, 1], [3])).unwrap_err();
    assert_eq!(zero, on_flex_of_division());
}

#[test]
fn integers_wrap_where_several_are_written_to_one_place() {
    let index = tensor(&[1i64, 1], [2]);
    let add = |x: Raw, src: Raw| x.scatter(0, index.clone(), src, ScatterMode::Add);
    let bytes = routed::<u8>(|| add(tensor(&[1u8, 200], [2]), tensor(&[100u8, 255], [2])));
    assert_eq!(bytes, (vec![1, 43], Route::Native));
    let (sums, route) = routed::<i32>(|| add(tensor(&[1, i32::MAX], [2]), tensor(&[1, i32::MAX], [2])));
    assert_eq!((sums, route), (vec![1, -1], Route::Native));
    let (sums, route) = routed::<i64>(|| add(tensor(&[1, i64::MAX], [2]), tensor(&[1i64, 1], [2])));
    assert_eq!((sums, route), (vec![1, i64::MIN + 1], Route::Host));
}

/// `candle` rounds ties away from zero.
#[test]
fn ties_are_rounded_to_even() {
    let x = tensor(
        &[0.5f32, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997, -0.4, 8388609.0],
        [9],
    );
    let (rounded, route) = routed::<f32>(|| x.unary(UnaryOp::Round));
    assert_eq!(route, Route::Native);
    let bits = |x: &[f32]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(
        bits(&rounded),
        bits(&[0.0, 2.0, 2.0, -0.0, -2.0, -2.0, 0.0, -0.0, 8388609.0])
    );
}

/// `candle` writes to all of the other axes.
#[test]
fn an_index_may_reach_less_than_all() {
    let x = tensor(&range(6), [2, 3]);
    let index = tensor(&[2i64, 0], [1, 2]);
    let src = tensor(&[10.0f32, f32::NAN], [1, 2]);
    let (written, route) = routed::<f32>(|| x.scatter(1, index, src, ScatterMode::Add));
    assert_eq!(route, Route::Native);
    assert!(written[0].is_nan());
    assert_eq!(written[1..], [1.0, 12.0, 3.0, 4.0, 5.0]);
}

fn on_flex_of_division() -> Error {
    let tensor = |values: [i32; 3]| {
        Raw::<Flex>::from_data(
            TensorData::new(values.to_vec(), [3]).unwrap(),
            &Default::default(),
        )
        .unwrap()
    };
    tensor([1, 1, 1]).div(tensor([1, 0, 1])).unwrap_err()
}

/// `candle` passes over a NaN on the right of two, or after the first of many.
#[test]
fn nan_is_an_extreme() {
    let nan = f32::NAN;
    let (a, b) = (tensor(&[1.0, nan, 1.0], [3]), tensor(&[nan, 1.0, 2.0], [3]));
    let is_nan = |x: Vec<f32>| x.into_iter().map(f32::is_nan).collect::<Vec<_>>();
    for op in [BinaryOp::Max, BinaryOp::Min] {
        let (result, route) = routed(|| a.clone().binary(op, b.clone()));
        assert_eq!((is_nan(result), route), (vec![true, true, false], Route::Native));
    }
    let x = tensor(&[1.0, 3.0, nan, 2.0, nan, 0.0, 4.0, 4.0, -1.0], [3, 3]);
    for op in [ReduceOp::Max, ReduceOp::Min] {
        let (result, route) = routed(|| x.clone().reduce(op, &[1]));
        assert_eq!((is_nan(result), route), (vec![true, true, false], Route::Native));
    }
    let (places, route) = routed::<i32>(|| x.clone().reduce(ReduceOp::ArgMax, &[1]));
    assert_eq!((places, route), (vec![2, 1, 0], Route::Native));
    let (order, route) = routed::<i32>(|| x.clone().argsort(1));
    assert_eq!((order, route), (vec![0, 1, 2, 2, 0, 1, 2, 0, 1], Route::Native));
    let (order, route) = routed::<i32>(|| x.argsort_descending(1));
    assert_eq!((order, route), (vec![2, 1, 0, 1, 0, 2, 0, 1, 2], Route::Native));
}

#[test]
fn subnormal_numbers_are_added() {
    let least = bf16::from_bits(1);
    let sum = values::<bf16>(
        tensor(&[least; 40], [40])
            .add(tensor(&[least; 40], [40]))
            .unwrap(),
    );
    assert_eq!(sum, [bf16::from_bits(2); 40]);
}

/// `candle` 0.11.1 takes the left matrices of a batch for the rows of one if the right one is stretched; it does not ask
/// in which order they lie.
#[test]
fn a_batch_of_transposed_matrices() {
    let a = tensor(&range(12), [2, 2, 3]);
    let b = tensor(&range(12), [1, 2, 6]);
    let (product, route) = routed::<f32>(|| a.clone().transpose()?.matmul(b.clone()));
    assert_eq!(route, Route::Native);
    let expected = |i: usize, j: usize, n: usize| {
        (0..2)
            .map(|k| ((n * 6 + k * 3 + i) * (k * 6 + j)) as f32)
            .sum::<f32>()
    };
    let all = (0..2).flat_map(|n| (0..3).flat_map(move |i| (0..6).map(move |j| expected(i, j, n))));
    assert_eq!(product, all.collect::<Vec<_>>());
}

/// One op on both backends: the results are close, and here it is `candle`'s own.
fn as_flex(
    shapes: &[&[usize]],
    f: impl Fn(&[Raw]) -> Result<Raw, Error>,
    g: impl Fn(&[Raw<Flex>]) -> Result<Raw<Flex>, Error>,
) {
    let noise = |i: usize, n: usize| {
        (0..n)
            .map(|j| ((i + 1) as f64 * 1.7 * j as f64).sin())
            .collect::<Vec<f64>>()
    };
    let data = |(i, shape): (usize, &&[usize])| {
        TensorData::new(noise(i, shape.iter().product()), Shape::from(*shape)).unwrap()
    };
    let here: Vec<Raw> = shapes
        .iter()
        .enumerate()
        .map(|one| Raw::from_data(data(one), &Default::default()).unwrap())
        .collect();
    let there: Vec<Raw<Flex>> = shapes
        .iter()
        .enumerate()
        .map(|one| Raw::from_data(data(one), &Default::default()).unwrap())
        .collect();
    let (got, route) = routed::<f64>(|| f(&here));
    let want: Vec<f64> = g(&there).unwrap().into_data().unwrap().into_vec().unwrap();
    assert_eq!((route, got.len()), (Route::Native, want.len()));
    let close = got
        .iter()
        .zip(&want)
        .all(|(a, b)| (a - b).abs() < 1e-12 || a.is_nan() && b.is_nan());
    assert!(close, "{got:?}\n{want:?}");
}

#[test]
fn convolutions_are_candles() {
    for (stride, padding, dilation, groups) in [
        (1, [(0, 0), (0, 0)], 1, 1),
        (2, [(1, 1), (1, 1)], 1, 2),
        (2, [(3, 1), (0, 2)], 1, 2),
        (1, [(1, 1), (2, 2)], 2, 1),
        (3, [(0, 2), (1, 0)], 2, 4),
    ] {
        for axes in [1, 2] {
            let options = ConvOptions {
                stride: smallvec::smallvec![stride; axes],
                padding: padding[..axes].into(),
                dilation: smallvec::smallvec![dilation; axes],
                groups,
            };
            let (size, kernel) = ([9, 8], [3, 2]);
            let out = |axis: usize| {
                let (before, after) = padding[axis];
                (size[axis] + before + after - (kernel[axis] - 1) * dilation - 1) / stride + 1
            };
            let x = [&[2, 4], &size[..axes]].concat();
            let weight = [&[8, 4 / groups], &kernel[..axes]].concat();
            let y = [vec![2, 8], (0..axes).map(out).collect()].concat();
            as_flex(
                &[&x, &weight],
                |x| x[0].clone().conv(x[1].clone(), None, options.clone()),
                |x| x[0].clone().conv(x[1].clone(), None, options.clone()),
            );
            as_flex(
                &[&y, &weight],
                |x| {
                    x[0].clone()
                        .conv_transpose_to(x[1].clone(), options.clone(), size[..axes].into())
                },
                |x| {
                    x[0].clone()
                        .conv_transpose_to(x[1].clone(), options.clone(), size[..axes].into())
                },
            );
            as_flex(
                &[&x, &y],
                |x| {
                    x[0].clone()
                        .conv_weight_grad(x[1].clone(), options.clone(), kernel[..axes].into())
                },
                |x| {
                    x[0].clone()
                        .conv_weight_grad(x[1].clone(), options.clone(), kernel[..axes].into())
                },
            );
        }
    }
}

#[test]
fn means_of_windows_are_candles() {
    for count_include_pad in [true, false] {
        for padding in [[(0, 0), (0, 0)], [(1, 0), (2, 1)]] {
            let options = PoolOptions {
                stride: smallvec::smallvec![2, 1],
                padding: padding.into(),
                count_include_pad,
                ..PoolOptions::new(vec![3, 2])
            };
            as_flex(
                &[&[2, 3, 7, 5]],
                |x| x[0].clone().pool(PoolOp::Avg(options.clone())),
                |x| x[0].clone().pool(PoolOp::Avg(options.clone())),
            );
        }
    }
}

#[test]
fn windows_beyond_the_address_space_are_no_panic() {
    let far = 1usize << 60;
    let options = ConvOptions {
        padding: smallvec::smallvec![(far, far)],
        stride: smallvec::smallvec![1 << 50],
        ..ConvOptions::new(1)
    };
    let x = tensor(&range(1), [1, 1, 1]);
    let y = x
        .clone()
        .conv(tensor(&range(1), [1, 1, 1]), None, options)
        .unwrap();
    assert_eq!(y.shape()[2], 2049);
}

#[test]
fn views_larger_than_memory_are_read_by_no_op() {
    let view = tensor(&[1.0f32], [1]).expand([1 << 45]).unwrap();
    for result in [
        view.clone().reshape([1 << 20, 1 << 25]),
        view.clone().reduce(ReduceOp::Sum, &[0]),
        view.clone()
            .cast(DType::F16)
            .and_then(|x| x.reduce(ReduceOp::Mean, &[0])),
        view.clone().gather(0, tensor(&[0i32], [1])),
        view.clone().select(0, tensor(&[0i32], [1])),
    ] {
        let error = result.unwrap_err().to_string();
        assert!(error.contains("more than can be allocated"), "{error}");
    }
    let index = tensor(&[0i32], [1]).expand([1 << 45]).unwrap();
    let written = tensor(&[1.0f32], [1]).scatter(0, index, view.clone(), ScatterMode::Set);
    assert!(
        written
            .unwrap_err()
            .to_string()
            .contains("more than can be allocated")
    );
    // What takes of a stretched axis, and axes of size 1, are views.
    assert_eq!(view.clone().flip([0]).unwrap().shape()[0], 1 << 45);
    let every_third = SliceRange {
        start: 0,
        end: 1 << 45,
        step: -3,
    };
    assert_eq!(
        view.clone().slice([every_third]).unwrap().shape()[0],
        (1 << 45) / 3 + 1
    );
    assert_eq!(view.unsqueeze_dim(0).unwrap().shape()[1], 1 << 45);
}

#[test]
fn indices_out_of_range_are_errors_that_name_them() {
    let x = tensor(&range(6), [2, 3]);
    for far in [
        tensor(&[3i64], [1]),
        tensor(&[-1i64], [1]),
        tensor(&[i64::MAX], [1]),
    ] {
        assert!(matches!(
            x.clone().select(1, far),
            Err(Error::Index { size: 3, axis: 1, .. })
        ));
    }
    // What `candle` takes for "no element".
    let byte = tensor(&[255u8], [1]);
    assert!(matches!(
        x.clone().select(1, byte.clone()),
        Err(Error::Index { index: 255, .. })
    ));
    let src = tensor(&[0.0f32, 0.0], [2, 1]);
    let written = x.select_assign(1, byte, src, ScatterMode::Add);
    assert!(matches!(written, Err(Error::Index { index: 255, .. })));
}

#[test]
fn random_numbers_are_those_of_flex() {
    let meta = Meta {
        shape: [5, 7].into(),
        dtype: DType::F32,
    };
    let key = crate::op::random::Key { seed: 3, offset: 1 };
    for op in [
        CreateOp::Uniform {
            low: -1.0,
            high: 2.0,
            key,
        },
        CreateOp::Normal {
            mean: 0.0,
            std: 1.0,
            key,
        },
    ] {
        let here = Candle::create(op.clone(), &meta, &CandleDevice::new(1)).unwrap();
        let there = Flex::create(op, &meta, &Default::default()).unwrap();
        assert_eq!(Candle::into_data(here).unwrap(), Flex::into_data(there).unwrap());
    }
}

#[test]
fn two_threads_use_one_tensor() {
    let x = tensor(&range(1 << 16), [256, 256]);
    let work = || {
        let product = x.clone().matmul(x.clone().transpose().unwrap()).unwrap();
        values::<f32>(product.reduce_all(ReduceOp::Max).unwrap())
    };
    let (a, b) = std::thread::scope(|scope| {
        let other = scope.spawn(work);
        (work(), other.join().unwrap())
    });
    assert_eq!(a, b);
}

#[test]
fn what_candle_says_is_an_error_of_one_line() {
    let x = Tensor::new(&[1f32, 2.0], &candle_core::Device::Cpu).unwrap();
    let failure = super::Failure::from(x.reshape((3, 1)).unwrap_err()).of("reshape");
    let Error::Backend { op, backend, message } = failure else {
        panic!("{failure:?}")
    };
    assert_eq!((&*op, &*backend), ("reshape", "Candle"));
    assert!(
        message.contains("hape mismatch") && !message.contains('\n'),
        "{message}"
    );
}

/// Without `candle`'s features for them, or without the hardware.
#[test]
fn other_devices_are_opened_or_an_error() {
    for device in [CandleDevice::cuda(7, 0), CandleDevice::metal(7, 0)] {
        let Err(Error::NoDevice { device, message }) = device else {
            continue;
        };
        assert!(
            device.starts_with("candle:") && !message.contains('\n'),
            "{device}: {message}"
        );
    }
    assert_eq!(CandleDevice::new(3), CandleDevice::default());
}

#[test]
fn truth_values_are_bytes() {
    let x = tensor(&[true, false, true], [3]);
    assert_eq!(
        (x.dtype(), x.primitive().tensor().dtype()),
        (DType::Bool, candle_core::DType::U8)
    );
    assert_eq!(values::<u8>(x.clone().cast(DType::U8).unwrap()), [1, 0, 1]);
    let numbers = tensor(&[0.0f32, -0.0, f32::NAN, 0.5], [4]);
    assert_eq!(
        values::<bool>(numbers.cast(DType::Bool).unwrap()),
        [false, false, true, true]
    );
    let padded = x.pad([(1, 1)], PadMode::Constant(true.into())).unwrap();
    assert_eq!(values::<bool>(padded), [true, true, false, true, true]);
}
