//! How close a result must be to the reference's.
//!
//! NaN and infinities must be of the same class at the same place before anything else is compared. Then:
//!
//! | ops | allowed |
//! |---|---|
//! | integers, truth values, neg, abs, movement, index | the same bits, NaN's payload aside |
//! | sign relu floor ceil round trunc, max, min and their scans | the same value |
//! | add sub mul div sqrt recip, casts | correctly rounded; half types may be rounded twice: 1 ulp |
//! | sqrt on LibTorch | 1 ulp, which is what MKL promises |
//! | other element-wise functions | 4 ulp; half types, computed in f32, 1 ulp |
//! | sum, mean, cumsum, matmul, conv, avg_pool, adding writes | `(32 + √n) ε` of the same op on absolute values |
//! | prod, cumprod | `(32 + √n) ε` of the result |
//! | rfft, irfft, cfft | `(32 + √n) ε` of the sum of the row's absolute values, over the length where the op divides by it |
//! | other fused | `32 ε` of the result and `8 ε`; of layer_norm, `8 ε` of what it gives for a number as great as the row's greatest; of attention, of a score, whose rounding is in the exponent |
//!
//! `n` is the number of elements of the largest operand, ε that of the type that accumulates: f32 for half types, whose
//! result may be off by 1 ulp more. Adding writes and fused ops may work in the half type itself.

use keyway::op::{self, BinaryOp, FusedOp, HasMeta, IndexOp, Op, ReduceOp, ScanOp, ScatterMode, UnaryOp};
use keyway::{DType, TensorData};

use super::operand::Limits;
use super::reference::{Dense, Reference, Value, indices};

/// The distance allowed, as the table says.
enum Tolerance {
    Bits,
    Ulp(f64),
    /// A part of what the op gives for absolute values.
    Sum,
    /// The same, in the type of the result itself.
    NarrowSum,
    Product,
    Fused,
    /// A part of the sum of a row.
    Transform,
}

/// Where and how the result of a backend, named as its errors name it, differs from the reference's, if it does.
pub fn difference(backend: &str, op: &Op<Dense>, want: &Dense, got: &TensorData) -> Option<String> {
    if (want.shape(), want.dtype()) != (got.shape(), got.dtype()) {
        let (shape, dtype) = (got.shape(), got.dtype());
        return Some(format!(
            "is {dtype} {shape}, not {} {}",
            want.dtype(),
            want.shape()
        ));
    }
    let got = Dense::from_data(got);
    let tolerance = match op {
        Op::Unary(UnaryOp::Sqrt, _) if backend.contains("LibTorch") => Tolerance::Ulp(1.0),
        op => tolerance(op, want.dtype()),
    };
    let errors = errors(&tolerance, op, want);
    let close = |i: usize| match (want.values[i], got.values[i]) {
        (Value::Float(a), Value::Float(b)) => {
            let same_sign =
                !matches!(tolerance, Tolerance::Bits) || a.is_sign_negative() == b.is_sign_negative();
            floats_close(a, b, errors[i], Limits::of(want.dtype())) && (same_sign || a.is_nan())
        }
        (a, b) => a == b,
    };
    let place = (0..want.values.len()).find(|&i| !close(i))?;
    let index = indices(want.shape()).nth(place)?;
    let (a, b) = (want.values[place], got.values[place]);
    Some(format!(
        "has {b:?} at {index:?}, not {a:?} (± {:e})",
        errors[place]
    ))
}

/// Whether two tensors are the same bit by bit. All NaNs are one: which of two operands' NaNs comes out of an addition,
/// Rust leaves open.
pub fn same_bits(a: &TensorData, b: &TensorData) -> bool {
    if (a.shape(), a.dtype()) != (b.shape(), b.dtype()) {
        return false;
    }
    let same = |(a, b): (&Value, &Value)| match (*a, *b) {
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
        (a, b) => a == b,
    };
    a.to_le_bytes() == b.to_le_bytes() || {
        let (a, b) = (Dense::from_data(a), Dense::from_data(b));
        a.values.iter().zip(&b.values).all(same)
    }
}

fn floats_close(want: f64, got: f64, error: f64, limits: Limits) -> bool {
    if want.is_nan() || got.is_nan() {
        return want.is_nan() && got.is_nan();
    }
    // Where an error is allowed, it may lead across the greatest value.
    let finite = |x: f64| {
        if error > 0.0 {
            x.clamp(-limits.max, limits.max)
        } else {
            x
        }
    };
    want == got || (finite(want) - finite(got)).abs() <= error
}

fn tolerance(op: &Op<Dense>, result: DType) -> Tolerance {
    use {BinaryOp as B, UnaryOp as U};
    if !result.is_float() {
        return Tolerance::Bits;
    }
    let half = result.size() == 2;
    let rounded = Tolerance::Ulp(if half { 1.0 } else { 0.0 });
    let function = Tolerance::Ulp(if half { 1.0 } else { 4.0 });
    match op {
        Op::Unary(U::Neg | U::Abs, _) | Op::Move(..) | Op::Cat(..) => Tolerance::Bits,
        Op::Unary(U::Sign | U::Relu | U::Floor | U::Ceil | U::Round | U::Trunc, _) => Tolerance::Ulp(0.0),
        Op::Unary(U::Sqrt | U::Recip, _) | Op::Cast(..) => rounded,
        Op::Unary(..) => function,
        Op::Binary(B::Max | B::Min, ..) | Op::Compare(..) => Tolerance::Ulp(0.0),
        Op::Binary(B::Add | B::Sub | B::Mul | B::Div, ..) => rounded,
        Op::Binary(..) => function,
        Op::Reduce(ReduceOp::Sum | ReduceOp::Mean, ..) | Op::Scan(ScanOp::Sum, ..) => Tolerance::Sum,
        Op::Reduce(ReduceOp::Prod, ..) | Op::Scan(ScanOp::Prod, ..) => Tolerance::Product,
        Op::Reduce(..) | Op::Scan(..) => Tolerance::Ulp(0.0),
        Op::Index(op) => match **op {
            IndexOp::Scatter {
                mode: ScatterMode::Add | ScatterMode::Mul,
                ..
            }
            | IndexOp::SelectAssign {
                mode: ScatterMode::Add | ScatterMode::Mul,
                ..
            } => Tolerance::NarrowSum,
            IndexOp::Scatter { mode, .. } | IndexOp::SelectAssign { mode, .. }
                if mode != ScatterMode::Set =>
            {
                Tolerance::Ulp(0.0)
            }
            _ => Tolerance::Bits,
        },
        Op::Pool(..) | Op::Matmul(..) | Op::Conv(..) => Tolerance::Sum,
        Op::Fused(op) => match **op {
            FusedOp::Rfft { .. } | FusedOp::Irfft { .. } | FusedOp::Cfft { .. } => Tolerance::Transform,
            _ => Tolerance::Fused,
        },
    }
}

/// The error allowed for each element.
fn errors(tolerance: &Tolerance, op: &Op<Dense>, want: &Dense) -> Vec<f64> {
    if !want.dtype().is_float() {
        return vec![0.0; want.values.len()];
    }
    let limits = Limits::of(want.dtype());
    let half = want.dtype().size() == 2;
    let wide = if half { f32::EPSILON.into() } else { limits.epsilon };
    let mut n = 0;
    op.visit(|x| n = n.max(x.values.len()));
    let terms = 32.0 + (n as f64).sqrt();
    // Of each term: those below the least normal number are rounded too.
    let rounding = |x: f64| if half { limits.ulp(x) } else { terms * limits.least };
    let row = want.shape().last().copied().unwrap_or(1);
    let want = want.values.iter().map(|x| x.float());
    match tolerance {
        Tolerance::Bits => want.map(|_| 0.0).collect(),
        Tolerance::Ulp(ulps) => want.map(|x| ulps * limits.ulp(x)).collect(),
        Tolerance::Sum => want
            .zip(magnitude(op))
            .map(|(x, m)| terms * wide * m + rounding(x))
            .collect(),
        Tolerance::NarrowSum => want
            .zip(magnitude(op))
            .map(|(x, m)| terms * limits.epsilon * m + rounding(x))
            .collect(),
        Tolerance::Product => want.map(|x| terms * wide * x.abs() + rounding(x)).collect(),
        Tolerance::Fused => want
            .zip(cancelled(op))
            .map(|(x, lost)| limits.epsilon * (32.0 * x.abs() + 8.0 * lost))
            .collect(),
        Tolerance::Transform => {
            let sums = transformed(op);
            let sum = |i: usize| sums[i / row % sums.len()];
            want.enumerate()
                .map(|(i, x)| terms * wide * sum(i) + rounding(x))
                .collect()
        }
    }
}

/// How much greater than 1 what a fused op subtracts may be, before it is scaled: its rounding is in the result.
fn cancelled(op: &Op<Dense>) -> impl Iterator<Item = f64> {
    let mut rows = vec![];
    let mut width = 1;
    let greatest = |x: &[Value]| x.iter().map(|x| x.float().abs()).fold(0.0, f64::max);
    if let Op::Fused(op) = op
        && let FusedOp::Attention { q, k, scale, .. } = &**op
    {
        let depth = q.shape().last().copied().unwrap_or(1) as f64;
        let score = greatest(&q.values) * greatest(&k.values) * depth.sqrt();
        rows.push((score * scale.unwrap_or(1.0 / depth.max(1.0).sqrt())).max(1.0));
        width = usize::MAX;
    }
    if let Op::Fused(op) = op
        && let FusedOp::LayerNorm { x, weight, eps, .. } = &**op
    {
        let weight = weight.as_ref().map_or(1.0, |weight| greatest(&weight.values));
        width = x.shape().last().copied().unwrap_or(1).max(1);
        rows.extend(x.values.chunks(width).map(|row| {
            let mean = row.iter().map(|x| x.float()).sum::<f64>() / width as f64;
            let var = row.iter().map(|x| (x.float() - mean).powi(2)).sum::<f64>() / width as f64;
            (weight * greatest(row) / (var + eps).sqrt()).max(1.0)
        }));
    }
    (0..).map(move |i| rows.get(i / width).copied().unwrap_or(1.0))
}

/// The most that the parts of each row's transform can be.
fn transformed(op: &Op<Dense>) -> Vec<f64> {
    let mut sums = vec![];
    op.visit(|x| {
        let rows = x.values.chunks(x.shape()[x.shape().rank() - 1]);
        sums.resize(rows.len(), 0.0);
        for (sum, row) in sums.iter_mut().zip(rows) {
            *sum += row.iter().map(|x| x.float().abs()).sum::<f64>();
        }
    });
    let scale = match op {
        Op::Fused(op) => match &**op {
            FusedOp::Irfft { n, .. } => 2.0 / *n as f64,
            FusedOp::Cfft {
                re, inverse: true, ..
            } => 1.0 / re.shape()[re.shape().rank() - 1] as f64,
            _ => 1.0,
        },
        _ => 1.0,
    };
    sums.iter().map(|sum| sum * scale).collect()
}

/// What an op that adds gives for the absolute values of its operands.
fn magnitude(op: &Op<Dense>) -> Vec<f64> {
    let absolute = |x: Dense| {
        let mut x = if x.dtype().is_float() {
            x.cast(DType::F64)
        } else {
            x
        };
        for value in &mut x.values {
            if let Value::Float(x) = value {
                *x = x.abs();
            }
        }
        x
    };
    let result = op::run::<Reference>(op.clone().map(absolute)).expect("the op has a result");
    result.values.iter().map(|x| x.float()).collect()
}
