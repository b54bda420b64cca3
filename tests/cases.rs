//! Inputs that broke libraries of this kind, each with its right answer, on every backend. `conformance.rs` covers the
//! kinds that they stand for. Other tests have more of them; the numbers tell them apart.

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};

use keyway::collective::MeshDevice;
use keyway::op::{
    ConvOp, ConvOptions, FusedOp, Meta, Op, PoolOp, PoolOptions, ReduceOp, ScanOp, ScatterMode, infer,
};
use keyway::prelude::*;
use keyway::raw::Raw;
use keyway::{DType, Dims, Error, Mesh, bf16, f16};
use smallvec::smallvec;
use support::Reference;

/// Runs a generic case on every backend.
macro_rules! on_every_backend {
    ($($case:ident)*) => { $(
        #[test]
        fn $case() {
            on::$case::<Reference>(&Default::default());
            on::$case::<Flex>(&Default::default());
            #[cfg(feature = "candle")]
            on::$case::<keyway::Candle>(&Default::default());
            #[cfg(feature = "ndarray")]
            on::$case::<keyway::NdArray>(&Default::default());
            #[cfg(feature = "tch")]
            on::$case::<keyway::LibTorch>(&Default::default());
            on::$case::<Mesh<Flex>>(&MeshDevice::alone(Default::default()));
            on::$case::<Autodiff<Flex>>(&Default::default());
            on::$case::<Autodiff<Mesh<Flex>>>(&MeshDevice::alone(Default::default()));
        }
    )* };
}

on_every_backend! {
    case_10_argmax_has_the_declared_index_type
    case_11_floats_as_truth_values
    case_12_comparison_as_integers
    case_13_logical_ops_broadcast
    case_14_nan_propagates_through_extremes
    case_15_sign_of_nan
    case_16_remainder_follows_the_divisor
    case_17_shifts_by_tensors
    case_18_hidden_rows
    case_20_empty_tensors
    case_21_reductions_of_nothing
    case_25_indices_out_of_range
    casts_follow_as
    sizes_beyond_the_address_space
    sizes_beside_nothing
}

const NAN: f32 = f32::NAN;

fn raw<B: Backend, E: Element>(values: Vec<E>, shape: &[usize], device: &B::Device) -> Raw<B> {
    Raw::from_data(TensorData::new(values, shape).unwrap(), device).unwrap()
}

fn read<B: Readable, E: Element>(x: Result<Raw<B>, Error>) -> Vec<E> {
    x.unwrap().into_data().unwrap().into_vec().unwrap()
}

/// NaN written as a number, so that lists of floats compare.
fn with_nan<B: Readable>(x: Result<Raw<B>, Error>) -> Vec<f32> {
    read::<B, f32>(x)
        .into_iter()
        .map(|x| if x.is_nan() { -999.0 } else { x })
        .collect()
}

mod on {
    use super::*;

    pub fn case_10_argmax_has_the_declared_index_type<B: Readable>(device: &B::Device) {
        let x = raw::<B, f32>(vec![3.0, 1.0, 2.0], &[1, 3], device);
        assert_eq!(read::<B, i32>(x.reduce(ReduceOp::ArgMax, &[1])), [0]);
        let x = Tensor::<B, 2>::from_array([[3.0, 1.0, 2.0]], device);
        assert_eq!(x.argmax(1).into_vec().unwrap(), [0i32]);
    }

    pub fn case_11_floats_as_truth_values<B: Readable>(device: &B::Device) {
        let x = raw::<B, f32>(vec![1.0, 0.0, -0.0, NAN, 0.25], &[5], device);
        assert_eq!(
            read::<B, bool>(x.cast(DType::Bool)),
            [true, false, false, true, true]
        );
        let x = Tensor::<B, 1>::from_array([1.0, 0.0], device);
        assert_eq!(x.bool().into_vec().unwrap(), [true, false]);
    }

    pub fn case_12_comparison_as_integers<B: Readable>(device: &B::Device) {
        let x = raw::<B, i32>(vec![1, 0, 3, 0, 0, 900], &[2, 3], device);
        let positive = x.greater(0).unwrap();
        assert_eq!(read::<B, i32>(positive.cast(DType::I32)), [1, 0, 1, 0, 0, 1]);
    }

    pub fn case_13_logical_ops_broadcast<B: Readable>(device: &B::Device) {
        let a = || raw::<B, bool>(vec![true, false, true, false, true, true], &[2, 3], device);
        let b = || raw::<B, bool>(vec![true, true, false], &[1, 3], device);
        assert_eq!(
            read::<B, bool>(a().bool_and(b())),
            [true, false, false, false, true, false]
        );
        assert_eq!(
            read::<B, bool>(b().bool_or(a())),
            [true, true, true, true, true, true]
        );
        assert_eq!(
            read::<B, bool>(a().bool_xor(b())),
            [false, true, true, true, false, true]
        );
    }

    pub fn case_14_nan_propagates_through_extremes<B: Readable>(device: &B::Device) {
        let x = |values: [f32; 3]| raw::<B, f32>(values.into(), &[3], device);
        assert_eq!(with_nan(x([1.0, NAN, 3.0]).reduce(ReduceOp::Max, &[0])), [-999.0]);
        assert_eq!(with_nan(x([1.0, NAN, 3.0]).reduce(ReduceOp::Min, &[0])), [-999.0]);
        assert_eq!(with_nan(x([1.0, NAN, 3.0]).sum_dim(0)), [-999.0]);
        assert_eq!(
            read::<B, i32>(x([1.0, NAN, 3.0]).reduce(ReduceOp::ArgMax, &[0])),
            [1]
        );
        assert_eq!(
            read::<B, i32>(x([1.0, NAN, 3.0]).reduce(ReduceOp::ArgMin, &[0])),
            [1]
        );
        assert_eq!(
            read::<B, i32>(x([1.0, NAN, NAN]).reduce(ReduceOp::ArgMax, &[0])),
            [1]
        );
        assert_eq!(
            with_nan(x([1.0, NAN, 5.0]).scan(ScanOp::Max, 0)),
            [1.0, -999.0, -999.0]
        );
        assert_eq!(
            with_nan(x([1.0, NAN, 5.0]).scan(ScanOp::Min, 0)),
            [1.0, -999.0, -999.0]
        );
        assert_eq!(with_nan(x([1.0, NAN, 5.0]).max_pair(3.0f32)), [3.0, -999.0, 5.0]);
        assert_eq!(
            with_nan(x([1.0, 2.0, 5.0]).min_pair(x([NAN, 3.0, 4.0]))),
            [-999.0, 2.0, 4.0]
        );
        let clamped = Tensor::<B, 1>::from_array([1.0, NAN, 9.0], device).clamp(2.0f32, 5.0f32);
        assert_eq!(with_nan(Ok(clamped.into_raw())), [2.0, -999.0, 5.0]);
    }

    pub fn case_15_sign_of_nan<B: Readable>(device: &B::Device) {
        let x = raw::<B, f32>(vec![NAN, -2.0, 0.0, 7.0], &[4], device);
        assert_eq!(with_nan(x.sign()), [-999.0, -1.0, 0.0, 1.0]);
    }

    pub fn case_16_remainder_follows_the_divisor<B: Readable>(device: &B::Device) {
        let a = raw::<B, i32>(vec![-3, -2, -1, 1, 2, 3], &[6], device);
        let b = raw::<B, i32>(vec![2, 3, 1, 2, 1, 3], &[6], device);
        assert_eq!(read::<B, i32>(a.remainder(b)), [1, 1, 0, 1, 0, 0]);
        let expected = [1, 2, 0, 1, 2, 0, 1, 2, 0, 1];
        if B::dtypes(device).contains(&DType::U32) {
            let a = raw::<B, u32>((1..=10).collect(), &[10], device);
            assert_eq!(read::<B, u32>(a.remainder(3)), expected.map(|x| x as u32));
        }
        let a = raw::<B, i32>((1..=10).collect(), &[10], device);
        assert_eq!(read::<B, i32>(a.remainder(3)), expected);
        assert_eq!(
            read::<B, f32>(raw::<B, f32>(vec![2.0], &[1], device).remainder(-1.5f32)),
            [-1.0]
        );
    }

    pub fn case_17_shifts_by_tensors<B: Readable>(device: &B::Device) {
        let a = raw::<B, i32>((1..=8).collect(), &[2, 4], device);
        let b = raw::<B, i32>(vec![0, 1, 2, 3, 3, 2, 1, 0], &[2, 4], device);
        assert_eq!(
            read::<B, i32>(a.bitwise_left_shift(b)),
            [1, 4, 12, 32, 40, 24, 14, 8]
        );
    }

    pub fn case_18_hidden_rows<B: Readable>(device: &B::Device) {
        let x = || raw::<B, f32>(vec![1.0, 2.0, 3.0, 4.0], &[2, 2], device);
        let mask = raw::<B, bool>(vec![true, true, false, true], &[2, 2], device);
        let (q, k, v) = (x(), x(), x());
        let attention = FusedOp::Attention {
            q,
            k,
            v,
            mask: Some(mask),
            bias: None,
            causal: false,
            scale: None,
        };
        assert_eq!(with_nan(Raw::fused(attention)), [0.0, 0.0, 1.0, 2.0]);
        let row = raw::<B, f32>(vec![f32::NEG_INFINITY; 2], &[1, 2], device);
        assert_eq!(with_nan(row.softmax(1)), [-999.0, -999.0]);
    }

    pub fn case_20_empty_tensors<B: Readable>(device: &B::Device) {
        let empty = || raw::<B, f32>(vec![], &[0], device);
        let one = || raw::<B, f32>(vec![1.0], &[1], device);
        assert_eq!(empty().add(one()).unwrap().shape()[..], [0]);
        assert_eq!(one().add(empty()).unwrap().shape()[..], [0]);
        let x = raw::<B, f32>((0..6u8).map(f32::from).collect(), &[2, 3], device);
        let joined = Raw::cat(vec![x, raw::<B, f32>(vec![], &[2, 0], device)], 1).unwrap();
        assert_eq!(joined.shape()[..], [2, 3]);
        assert_eq!(read::<B, f32>(Ok(joined)), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let places = Tensor::<B, 2, bool>::from_array([[false, false]], device)
            .nonzero()
            .unwrap();
        assert_eq!(places.iter().map(|x| x.dims()).collect::<Vec<_>>(), [[0], [0]]);
    }

    pub fn case_21_reductions_of_nothing<B: Readable>(device: &B::Device) {
        let empty = || raw::<B, f32>(vec![], &[2, 0], device);
        assert_eq!(with_nan(empty().sum_dim(1)), [0.0, 0.0]);
        assert_eq!(with_nan(empty().reduce(ReduceOp::Prod, &[1])), [1.0, 1.0]);
        assert_eq!(with_nan(empty().mean_dim(1)), [-999.0, -999.0]);
        let truths = || raw::<B, bool>(vec![], &[2, 0], device);
        assert_eq!(
            read::<B, bool>(truths().reduce(ReduceOp::Any, &[1])),
            [false, false]
        );
        assert_eq!(
            read::<B, bool>(truths().reduce(ReduceOp::All, &[1])),
            [true, true]
        );
        for op in [ReduceOp::Max, ReduceOp::Min, ReduceOp::ArgMax, ReduceOp::ArgMin] {
            assert!(
                matches!(empty().reduce(op, &[1]), Err(Error::Shape { .. })),
                "{}",
                op.name()
            );
            assert_eq!(empty().reduce(op, &[0]).unwrap().shape()[..], [1, 0]);
        }
    }

    pub fn case_25_indices_out_of_range<B: Readable>(device: &B::Device) {
        let x = || raw::<B, f32>(vec![1.0, 2.0, 3.0], &[1, 3], device);
        for bad in [3, -1, i32::MIN, i32::MAX] {
            let places = || raw::<B, i32>(vec![0, bad], &[1, 2], device);
            let line = || raw::<B, i32>(vec![0, bad], &[2], device);
            let src = || raw::<B, f32>(vec![8.0, 9.0], &[1, 2], device);
            let mut results = vec![x().gather(1, places()), x().select(1, line())];
            for &mode in ScatterMode::ALL {
                results.push(x().scatter(1, places(), src(), mode));
                results.push(x().select_assign(1, line(), src(), mode));
            }
            for result in results {
                match result.and_then(Raw::into_data) {
                    Err(Error::Index {
                        index,
                        axis: 1,
                        size: 3,
                        ..
                    }) => assert_eq!(index, i64::from(bad)),
                    other => panic!("{other:?}"),
                }
            }
        }
        let slice = x().slice([0..1, 1..4]);
        assert!(matches!(slice, Err(Error::Argument { .. })));
    }

    /// Float to integer saturates, integers wrap, what is not zero is true.
    pub fn casts_follow_as<B: Readable>(device: &B::Device) {
        let x = || raw::<B, f32>(vec![300.7, -1.5, NAN, f32::NEG_INFINITY, 2.9], &[5], device);
        assert_eq!(read::<B, u8>(x().cast(DType::U8)), [255, 0, 0, 0, 2]);
        if B::dtypes(device).contains(&DType::I8) {
            assert_eq!(read::<B, i8>(x().cast(DType::I8)), [127, -1, 0, -128, 2]);
        }
        assert_eq!(read::<B, i64>(x().cast(DType::I64)), [300, -1, 0, i64::MIN, 2]);
        let x = || raw::<B, i32>(vec![300, -1, 0, 65_536], &[4], device);
        assert_eq!(read::<B, u8>(x().cast(DType::U8)), [44, 255, 0, 0]);
        if B::dtypes(device).contains(&DType::U64) {
            assert_eq!(read::<B, u64>(x().cast(DType::U64)), [300, u64::MAX, 0, 65_536]);
        }
        assert_eq!(
            read::<B, f16>(x().cast(DType::F16)),
            [300.0, -1.0, 0.0, f32::INFINITY].map(f16::from_f32)
        );
        assert_eq!(
            read::<B, bf16>(x().cast(DType::BF16)),
            [300.0, -1.0, 0.0, 65_536.0].map(bf16::from_f32)
        );
    }

    /// The parts of which these are made would fit.
    pub fn sizes_beyond_the_address_space<B: Backend>(device: &B::Device) {
        let line = Raw::<B>::linspace(0.0, 1.0, 1 << 63, DType::U8, device);
        assert!(matches!(line, Err(Error::Shape { .. })));
        let square = Raw::<B>::eye(1 << 36, DType::F32, device);
        assert!(matches!(square, Err(Error::Shape { .. })));
    }

    /// Windows and repetitions of nothing may be as many as they like: none is looked at.
    pub fn sizes_beside_nothing<B: Readable>(device: &B::Device) {
        const MANY: usize = 1 << 40;
        let empty = |shape: &[usize]| raw::<B, f32>(vec![], shape, device);
        let padding = smallvec![(MANY, MANY), (0, 0)];
        let pool = PoolOptions {
            padding: padding.clone(),
            count_include_pad: false,
            ..PoolOptions::new(Dims::from_slice(&[1, 1]))
        };
        let pooled = empty(&[0, 1, 2, 2]).pool(PoolOp::Avg(pool)).unwrap();
        assert_eq!(pooled.shape()[..], [0, 1, 2 * MANY + 2, 2]);
        let conv = ConvOptions {
            padding,
            ..ConvOptions::new(2)
        };
        let weight = raw::<B, f32>(vec![1.0], &[1, 1, 1, 1], device);
        let result = empty(&[0, 1, 2, 2]).conv(weight, None, conv.clone()).unwrap();
        assert_eq!(result.shape()[..], [0, 1, 2 * MANY + 2, 2]);
        let repeated = empty(&[2, 0]).repeat(&[MANY, 3]).unwrap();
        assert_eq!(repeated.shape()[..], [2 * MANY, 0]);
        let triangle = empty(&[0, MANY]).tril(0).unwrap();
        assert_eq!(triangle.shape()[..], [0, MANY]);
        // Of no batch, the gradient of the weights is zero.
        let weights = Raw::run(Op::Conv(Box::new(ConvOp::WeightGrad {
            x: empty(&[0, 1, 2, 2]),
            grad: result,
            options: conv,
            kernel: smallvec![1, 1],
        })));
        assert_eq!(read::<B, f32>(weights), [0.0]);
    }
}

/// Two members of a group are two devices; a group of one is its own.
#[test]
fn case_05_two_devices_of_one_backend() {
    let devices = Mesh::<Flex>::open(2).unwrap();
    let [a, b] = [0, 1].map(|rank| Tensor::<Mesh<Flex>, 1>::from_array([1.0], &devices[rank]));
    let names = [0, 1].map(|rank| format!("{:?}", devices[rank]));
    let error = a.clone().into_raw().add(b.clone().into_raw()).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::DeviceMismatch { .. }), "{text}");
    assert!(
        text.starts_with("add: ") && text.contains(&names[0]) && text.contains(&names[1]),
        "{text}"
    );
    assert_ne!(names[0], names[1]);
    let panic = catch_unwind(AssertUnwindSafe(|| a + b)).unwrap_err();
    assert_eq!(*panic.downcast::<String>().unwrap(), text);
}

/// Sizes past 2³² are right, and past the address space an error.
#[test]
fn case_19_sizes_in_64_bits() {
    let meta = |shape: &[usize]| Meta {
        shape: shape.into(),
        dtype: DType::F32,
    };
    let product = |batch, m, n| infer(&Op::Matmul(meta(&[batch, m, 1]), meta(&[batch, 1, n])));
    assert_eq!(
        product(3, 70_000, 70_000).unwrap().shape.num_elements(),
        14_700_000_000
    );
    assert!(matches!(
        product(1 << 20, 1 << 21, 1 << 21),
        Err(Error::Shape { .. })
    ));
    let full = Raw::<Flex>::full([1 << 40, 1 << 40], 0.0f32, DType::F32, &Default::default());
    assert!(matches!(full, Err(Error::Shape { .. })));
    // Nor do those of the other axes of an empty tensor overflow.
    let empty = Raw::<Flex>::full([1 << 40, 0, 1 << 40], 0.0f32, DType::F32, &Default::default());
    assert!(matches!(empty, Err(Error::Shape { .. })));
    // A view of 2³⁴ elements, of which some are read.
    let ones = Raw::<Flex>::full([1, 1], 1u8, DType::U8, &Default::default()).unwrap();
    let view = ones.expand([1 << 17, 1 << 17]).unwrap();
    let end = (1 << 17) - 2..1 << 17;
    let corner = view.slice([end.clone(), end]);
    assert_eq!(read::<Flex, u8>(corner), [1; 4]);
}
