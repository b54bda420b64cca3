use super::super::storage::{FlexDevice, FlexTensor, Layout};
use crate::backend::flex::Flex;
use crate::element::{DType, Scalar};
use crate::op::{self, HasMeta, Op, ReduceOp, ScanOp};
use crate::with_dtype;

/// A view with the axes of a buffer in another order, some of them reversed.
fn view(shape: &[usize], order: &[usize], flip: bool, dtype: DType) -> FlexTensor {
    let len: usize = shape.iter().product();
    let values = (0..len).map(|i| Scalar::Int((i * 7 % 11) as i64 - if dtype.is_unsigned() { 0 } else { 5 }));
    let x = with_dtype!(dtype, E => {
        FlexTensor::from_vec(values.map(|s| s.to::<E>()).collect(), shape.into(), FlexDevice::default())
    });
    let strides = &x.layout().strides;
    let mut layout = Layout {
        shape: order.iter().map(|&a| shape[a]).collect(),
        strides: order.iter().map(|&a| strides[a]).collect(),
        offset: 0,
    };
    if flip && len > 0 {
        layout.offset = (layout.strides[0] * (layout.shape[0] as isize - 1)) as usize;
        layout.strides[0] *= -1;
    }
    x.with_layout(layout)
}

fn floats(x: &FlexTensor) -> Vec<f64> {
    with_dtype!(x.dtype(), E => x.to_vec::<E>().into_iter().map(|v| Scalar::from(v).to()).collect())
}

fn index(shape: &[usize], mut i: usize) -> Vec<usize> {
    let mut index: Vec<usize> = shape.iter().rev().map(|&n| (i % n, i /= n).0).collect();
    index.reverse();
    index
}

/// The elements of each result.
fn groups(x: &FlexTensor, axes: &[usize]) -> Vec<Vec<f64>> {
    let shape = x.shape();
    let kept: Vec<usize> = (0..shape.rank())
        .map(|a| if axes.contains(&a) { 1 } else { shape[a] })
        .collect();
    let mut groups = vec![Vec::new(); kept.iter().product()];
    for (i, value) in floats(x).into_iter().enumerate() {
        let at = index(shape, i)
            .iter()
            .zip(&kept)
            .fold(0, |at, (&i, &n)| at * n + i % n);
        groups[at].push(value);
    }
    groups
}

fn expected(op: ReduceOp, group: &[f64]) -> f64 {
    let extreme = |better: fn(f64, f64) -> bool| {
        (1..group.len()).fold(0, |best, i| if better(group[i], group[best]) { i } else { best })
    };
    match op {
        ReduceOp::Sum => group.iter().sum(),
        ReduceOp::Mean => group.iter().sum::<f64>() / group.len() as f64,
        ReduceOp::Prod => group.iter().product(),
        ReduceOp::ArgMax => extreme(|a, b| a > b) as f64,
        ReduceOp::ArgMin => extreme(|a, b| a < b) as f64,
        ReduceOp::Max => group[extreme(|a, b| a > b)],
        ReduceOp::Min => group[extreme(|a, b| a < b)],
        ReduceOp::Any => f64::from(group.iter().any(|&v| v != 0.0)),
        ReduceOp::All => f64::from(group.iter().all(|&v| v != 0.0)),
    }
}

#[test]
fn every_layout_and_set_of_axes_gives_the_same() {
    let orders: [&[usize]; 4] = [&[0, 1, 2], &[2, 1, 0], &[1, 2, 0], &[1, 0, 2]];
    let axes: [&[usize]; 8] = [&[], &[0], &[1], &[2], &[0, 1], &[2, 0], &[1, 2], &[0, 1, 2]];
    for &dtype in DType::ALL {
        for &op in ReduceOp::ALL.iter().filter(|op| op.takes(dtype)) {
            for (order, flip) in orders.into_iter().flat_map(|o| [(o, false), (o, true)]) {
                for axes in axes.into_iter().filter(|axes| !op.is_arg() || axes.len() == 1) {
                    let x = view(&[5, 70, 3], order, flip, dtype);
                    let groups = groups(&x, axes);
                    let got = op::run::<Flex>(Op::Reduce(op, x, axes.into())).unwrap();
                    for (got, group) in floats(&got).into_iter().zip(groups) {
                        let want = expected(op, &group);
                        if op == ReduceOp::Prod && dtype.is_int() {
                            continue;
                        }
                        // The narrow integers wrap.
                        let want = with_dtype!(dtype, E => match op {
                            ReduceOp::ArgMax | ReduceOp::ArgMin => want,
                            _ if dtype.is_int() => Scalar::from(Scalar::Int(want as i64).to::<E>()).to::<f64>(),
                            _ => Scalar::from(Scalar::Float(want).to::<E>()).to::<f64>(),
                        });
                        let near = got == want || (got - want).abs() <= 1e-3 * want.abs();
                        assert!(
                            near,
                            "{} {dtype} {order:?} {flip} {axes:?}: {got} {want}",
                            op.name()
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn integer_products_wrap() {
    let x = FlexTensor::from_vec(vec![3i8; 200], [100, 2].into(), FlexDevice::default());
    let want = 3i8.wrapping_pow(100);
    let got = op::run::<Flex>(Op::Reduce(ReduceOp::Prod, x, [0].as_slice().into())).unwrap();
    assert_eq!(got.to_vec::<i8>(), [want, want]);
}

#[test]
fn nan_propagates_and_comes_first() {
    let mut values = vec![1.0f32; 300];
    values[7] = 5.0;
    values[130] = f32::NAN;
    values[200] = f32::NAN;
    for (shape, axis) in [([1, 300], 1), ([300, 1], 0)] {
        let x = FlexTensor::from_vec(values.clone(), shape.into(), FlexDevice::default());
        for op in [ReduceOp::Max, ReduceOp::Min, ReduceOp::Sum] {
            let got = op::run::<Flex>(Op::Reduce(op, x.clone(), [axis].as_slice().into())).unwrap();
            assert!(got.to_vec::<f32>()[0].is_nan());
        }
        for op in [ReduceOp::ArgMax, ReduceOp::ArgMin] {
            let got = op::run::<Flex>(Op::Reduce(op, x.clone(), [axis].as_slice().into())).unwrap();
            assert_eq!(got.to_vec::<i32>(), [130]);
        }
        let got = op::run::<Flex>(Op::Scan(ScanOp::Max, x, axis))
            .unwrap()
            .to_vec::<f32>();
        assert_eq!((got[6], got[129]), (1.0, 5.0));
        assert!(got[130..].iter().all(|v| v.is_nan()));
    }
}

#[test]
fn nothing_has_a_sum_and_no_maximum() {
    for (op, want) in [
        (ReduceOp::Sum, 0.0f32),
        (ReduceOp::Prod, 1.0),
        (ReduceOp::Mean, f32::NAN),
    ] {
        let x = FlexTensor::from_vec(Vec::<f32>::new(), [2, 0].into(), FlexDevice::default());
        let got = op::run::<Flex>(Op::Reduce(op, x, [1].as_slice().into()))
            .unwrap()
            .to_vec::<f32>();
        assert!(
            got.len() == 2
                && got
                    .iter()
                    .all(|v| v.to_bits() == want.to_bits() || v.is_nan() && want.is_nan())
        );
    }
}

#[test]
fn large_reductions_are_divided_and_stay_accurate() {
    let (rows, columns) = (500_000, 3);
    let values: Vec<f32> = (0..rows * columns).map(|i| 0.1 + (i % columns) as f32).collect();
    let x = FlexTensor::from_vec(values, [rows, columns].into(), FlexDevice::default());
    let all = op::run::<Flex>(Op::Reduce(ReduceOp::Mean, x.clone(), [0, 1].as_slice().into())).unwrap();
    assert!((all.to_vec::<f32>()[0] - 1.1).abs() < 1e-6);
    let each = op::run::<Flex>(Op::Reduce(ReduceOp::Mean, x.clone(), [0].as_slice().into())).unwrap();
    for (j, got) in each.to_vec::<f32>().into_iter().enumerate() {
        assert!((got - 0.1 - j as f32).abs() < 1e-6, "{got}");
    }
    let rows_sum = op::run::<Flex>(Op::Reduce(ReduceOp::Sum, x, [1].as_slice().into())).unwrap();
    assert!(rows_sum.to_vec::<f32>().iter().all(|v| (v - 3.3).abs() < 1e-6));
}

#[test]
fn scans_run_along_their_axis() {
    for &dtype in DType::ALL.iter().filter(|&&dtype| dtype != DType::Bool) {
        for &op in ScanOp::ALL {
            for axis in 0..3 {
                let x = view(&[3, 4, 5], &[2, 0, 1], axis == 1, dtype);
                let shape = x.shape().clone();
                let values = floats(&x);
                let got = op::run::<Flex>(Op::Scan(op, x, axis)).unwrap();
                for (i, got) in floats(&got).into_iter().enumerate() {
                    let at = index(&shape, i);
                    let line = values.iter().enumerate().filter(|&(j, _)| {
                        let other = index(&shape, j);
                        (0..3).all(|a| {
                            if a == axis {
                                other[a] <= at[a]
                            } else {
                                other[a] == at[a]
                            }
                        })
                    });
                    let line = line.map(|(_, &v)| v);
                    let want = match op {
                        ScanOp::Sum => line.sum(),
                        ScanOp::Prod => line.product(),
                        ScanOp::Max => line.fold(f64::NEG_INFINITY, f64::max),
                        ScanOp::Min => line.fold(f64::INFINITY, f64::min),
                    };
                    let want: f64 = with_dtype!(dtype, E => {
                        let wrapped = if dtype.is_int() { Scalar::Int(want as i64) } else { Scalar::Float(want) };
                        Scalar::from(wrapped.to::<E>()).to()
                    });
                    assert!(
                        (got - want).abs() <= 1e-2 * want.abs(),
                        "{} {dtype} {axis}: {got} {want}",
                        op.name()
                    );
                }
            }
        }
    }
}
