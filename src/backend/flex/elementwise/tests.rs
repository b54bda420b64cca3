use super::super::storage::{FlexDevice, FlexTensor, Layout};
use crate::backend::flex::Flex;
use crate::element::{DType, Element, Scalar};
use crate::error::Error;
use crate::op::{self, Arg, BinaryOp, CompareOp, HasMeta, Op, UnaryOp, scalar};
use crate::with_dtype;

const VALUES: [f64; 12] = [
    -300.0, -7.0, -2.5, -1.0, -0.5, -0.0, 0.25, 1.0, 2.0, 3.0, 33.0, 1000.0,
];

/// `VALUES` and, for floats, the special ones, of shape [2, n].
fn operand(dtype: DType, from: usize, len: usize) -> FlexTensor {
    let mut values = VALUES.to_vec();
    if dtype.is_float() {
        values.extend([f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
    }
    let values = (0..len).map(|i| Scalar::Float(values[(from + i * (from + 1)) % values.len()]));
    with_dtype!(dtype, E => {
        FlexTensor::from_vec(values.map(|s| s.to::<E>()).collect(), [len].into(), FlexDevice::default())
    })
}

fn scalars(x: &FlexTensor) -> Vec<Scalar> {
    with_dtype!(x.dtype(), E => x.to_vec::<E>().into_iter().map(Scalar::from).collect())
}

fn float(s: Scalar) -> f64 {
    s.to::<f64>()
}

fn int(s: Scalar) -> i128 {
    match s {
        Scalar::Int(v) => v.into(),
        Scalar::UInt(v) => v.into(),
        other => panic!("{other:?} is no integer"),
    }
}

/// An integer wrapped to a type.
fn wrapped(v: i128, dtype: DType) -> Scalar {
    with_dtype!(dtype, E => Scalar::UInt(v as u64).to::<E>().to_scalar())
}

fn assert_near(got: Scalar, expected: f64, dtype: DType, what: &str) {
    let rounded = with_dtype!(dtype, E => float(Scalar::Float(expected).to::<E>().to_scalar()));
    let (got, tolerance) = (
        float(got),
        match dtype {
            DType::F64 => 1e-14,
            DType::F32 => 1e-6,
            DType::F16 => 2e-3,
            _ => 1e-2,
        },
    );
    let near = got == rounded
        || got.is_nan() && rounded.is_nan()
        || (got - rounded).abs() <= tolerance * rounded.abs().max(1e-5);
    assert!(near, "{what} {dtype}: got {got:e}, expected {rounded:e}");
}

fn run(op: Op<FlexTensor>) -> Result<FlexTensor, Error> {
    op::run::<Flex>(op)
}

#[test]
fn unary_ops_mean_what_the_scalars_say() {
    for &dtype in DType::ALL {
        for &op in UnaryOp::ALL.iter().filter(|op| op.takes(dtype)) {
            let x = operand(dtype, 0, 40);
            // The operand is kept, and then it is not.
            for got in [
                run(Op::Unary(op, x.clone())),
                run(Op::Unary(op, operand(dtype, 0, 40))),
            ] {
                for (&x, got) in scalars(&x).iter().zip(scalars(&got.unwrap())) {
                    let what = format!("{}({x})", op.name());
                    match got {
                        Scalar::Bool(got) if dtype == DType::Bool => assert_eq!(Scalar::Bool(!got), x),
                        Scalar::Bool(got) => assert_eq!(got, scalar::classify(op, float(x)), "{what}"),
                        Scalar::Float(_) => assert_near(got, scalar::unary_float(op, float(x)), dtype, &what),
                        _ => assert_eq!(got, wrapped(scalar::unary_int(op, int(x)), dtype), "{what}"),
                    }
                }
            }
        }
    }
}

#[test]
fn binary_ops_mean_what_the_scalars_say() {
    for &dtype in DType::ALL {
        for &op in BinaryOp::ALL.iter().filter(|op| op.takes(dtype)) {
            let divides = matches!(op, BinaryOp::Div | BinaryOp::Remainder) && dtype.is_int();
            let (x, y) = (operand(dtype, 0, 150), operand(dtype, 1, 150));
            let result = run(Op::Binary(op, Arg::Tensor(x.clone()), Arg::Tensor(y.clone())));
            let (y, result) = if divides {
                assert!(matches!(result, Err(Error::Argument { .. })), "{result:?}");
                let y = with_dtype!(dtype, E => {
                    let y = y.to_vec::<E>();
                    let nonzero = |v: E| if v == E::default() { Scalar::Int(3).to() } else { v };
                    FlexTensor::from_vec(y.into_iter().map(nonzero).collect(), [150].into(), FlexDevice::default())
                });
                let result = run(Op::Binary(op, Arg::Tensor(x.clone()), Arg::Tensor(y.clone())));
                (y, result)
            } else {
                (y, result)
            };
            let expected = scalars(&result.unwrap());
            for ((&a, &b), &got) in scalars(&x).iter().zip(&scalars(&y)).zip(&expected) {
                let what = format!("{}({a}, {b})", op.name());
                match (a, b, got) {
                    (Scalar::Bool(a), Scalar::Bool(b), _) => {
                        assert_eq!(got, Scalar::Bool(scalar::binary_bool(op, a, b)), "{what}")
                    }
                    (Scalar::Float(a), Scalar::Float(b), _) => {
                        assert_near(got, scalar::binary_float(op, a, b), dtype, &what)
                    }
                    _ => {
                        let bits = dtype.size() as u32 * 8;
                        let value = scalar::binary_int(op, int(a), int(b), bits).unwrap();
                        assert_eq!(got, wrapped(value, dtype), "{what}");
                    }
                }
            }
            // Every way that operands can come gives the same.
            let same = |got: Result<FlexTensor, Error>| {
                assert_eq!(
                    format!("{:?}", scalars(&got.unwrap())),
                    format!("{expected:?}"),
                    "{}",
                    op.name()
                )
            };
            let copy = |x: &FlexTensor| with_dtype!(dtype, E => x.like(x.to_vec::<E>()));
            let (a, b) = (Arg::Tensor(x.clone()), Arg::Tensor(y.clone()));
            same(run(Op::Binary(op, Arg::Tensor(copy(&x)), b.clone())));
            same(run(Op::Binary(op, a.clone(), Arg::Tensor(copy(&y)))));
            let reversed = |x: &FlexTensor| {
                let values = scalars(x).into_iter().rev();
                let x = with_dtype!(dtype, E => x.like(values.map(|s| s.to::<E>()).collect()));
                let layout = Layout {
                    shape: [150].into(),
                    strides: [-1].as_slice().into(),
                    offset: 149,
                };
                x.with_layout(layout)
            };
            same(run(Op::Binary(op, Arg::Tensor(reversed(&x)), b)));
            same(run(Op::Binary(op, a, Arg::Tensor(reversed(&y)))));
        }
    }
}

#[test]
fn comparisons_mean_what_the_scalars_say() {
    for &dtype in DType::ALL {
        for &op in CompareOp::ALL.iter().filter(|op| op.takes(dtype)) {
            let (x, y) = (operand(dtype, 0, 150), operand(dtype, 1, 150));
            let got = run(Op::Compare(op, Arg::Tensor(x.clone()), Arg::Tensor(y.clone()))).unwrap();
            let expected: Vec<bool> = with_dtype!(dtype, E => {
                let (x, y) = (x.to_vec::<E>(), y.to_vec::<E>());
                x.into_iter().zip(y).map(|(x, y)| scalar::compare(op, x, y)).collect()
            });
            assert_eq!(got.to_vec::<bool>(), expected, "{} {dtype}", op.name());
        }
    }
}

#[test]
fn casts_are_those_of_the_language() {
    for &from in DType::ALL {
        for &to in DType::ALL {
            let x = operand(from, 0, 40);
            let got = run(Op::Cast(to, x.clone())).unwrap();
            assert_eq!(got.dtype(), to);
            let expected: Vec<Scalar> = scalars(&x)
                .into_iter()
                .map(|s| with_dtype!(to, E => s.to::<E>().to_scalar()))
                .collect();
            assert_eq!(
                format!("{:?}", scalars(&got)),
                format!("{expected:?}"),
                "{from} to {to}"
            );
        }
    }
}

#[test]
fn operands_broadcast_by_strides() {
    let device = FlexDevice::default();
    let (rows, columns) = (30, 130);
    let column: Vec<f32> = (0..rows).map(|i| i as f32 * 1000.0).collect();
    let row: Vec<f32> = (0..columns).map(|j| j as f32).collect();
    let a = FlexTensor::from_vec(column, [rows, 1].into(), device.clone());
    let b = FlexTensor::from_vec(row, [1, columns].into(), device.clone());
    let got = run(Op::Binary(BinaryOp::Add, Arg::Tensor(a.clone()), Arg::Tensor(b))).unwrap();
    let expected: Vec<f32> = (0..rows * columns)
        .map(|i| (i / columns * 1000 + i % columns) as f32)
        .collect();
    assert_eq!(got.to_vec::<f32>(), expected);
    let transposed = Layout {
        shape: [columns, rows].into(),
        strides: [1, columns as isize].as_slice().into(),
        offset: 0,
    };
    let got = run(Op::Binary(
        BinaryOp::Sub,
        Arg::Tensor(got.with_layout(transposed)),
        Arg::Scalar(Scalar::Float(0.0)),
    ))
    .unwrap();
    let expected: Vec<f32> = (0..rows * columns)
        .map(|i| (i % rows * 1000 + i / rows) as f32)
        .collect();
    assert_eq!(got.to_vec::<f32>(), expected);
    let cond: Vec<bool> = (0..columns).map(|j| j % 3 == 0).collect();
    let cond = FlexTensor::from_vec(cond, [1, columns].into(), device);
    let choice = op::IndexOp::Where {
        cond,
        on_true: Arg::Scalar(Scalar::Int(-1)),
        on_false: Arg::Tensor(a),
    };
    let got = run(Op::Index(Box::new(choice))).unwrap();
    let expected: Vec<f32> = (0..rows * columns)
        .map(|i| {
            if i % columns % 3 == 0 {
                -1.0
            } else {
                (i / columns * 1000) as f32
            }
        })
        .collect();
    assert_eq!(got.to_vec::<f32>(), expected);
}

#[test]
fn a_buffer_that_nobody_else_holds_is_reused() {
    let address = |x: &FlexTensor| x.base::<f32>().as_ptr();
    let fresh = || operand(DType::F32, 0, 10);
    let x = fresh();
    let place = address(&x);
    let x = run(Op::Unary(UnaryOp::Exp, x)).unwrap();
    assert_eq!(address(&x), place);
    let x = run(Op::Binary(BinaryOp::Add, Arg::Tensor(x), Arg::Tensor(fresh()))).unwrap();
    assert_eq!(address(&x), place);
    let held = fresh();
    let x = run(Op::Binary(
        BinaryOp::Sub,
        Arg::Tensor(held.clone()),
        Arg::Tensor(x),
    ))
    .unwrap();
    assert_eq!(address(&x), place);
    let kept = x.clone();
    let y = run(Op::Unary(UnaryOp::Neg, x)).unwrap();
    assert_ne!(address(&y), address(&kept));
}

#[test]
fn large_tensors_are_divided_between_threads() {
    let n = 300_001;
    let values: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let x = FlexTensor::from_vec(values, [n].into(), FlexDevice::default());
    let y = run(Op::Binary(
        BinaryOp::Add,
        Arg::Tensor(x.clone()),
        Arg::Scalar(Scalar::Int(1)),
    ))
    .unwrap();
    let y = run(Op::Binary(BinaryOp::Sub, Arg::Tensor(y), Arg::Tensor(x))).unwrap();
    assert!(y.to_vec::<f32>().iter().all(|&v| v == 1.0));
}

const _: () = assert!(size_of::<Op<FlexTensor>>() <= 256);
