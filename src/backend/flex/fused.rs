//! Fused kernels: of softmax and its logarithm over the last axis, the activations, layer norm, cross entropy and
//! attention. Half types are computed in `f32` and rounded once.

use std::borrow::Cow;

use half::{bf16, f16};
use rayon::prelude::*;

use super::Flex;
use super::elementwise::{Half, Real};
use super::fourier::fourier;
use super::gemm::{Gemm, Matrix, gemm};
use super::index::places;
use super::matmul::{PARALLEL_PRODUCT, batch_starts};
use super::parallel::{Part, collect, collect_blocks};
use super::simd::vectorised;
use super::storage::{FlexTensor, Layout};
use crate::element::{DType, Element, Scalar};
use crate::error::Error;
use crate::op::{FusedOp, HasMeta, Meta, lower};

/// How many times longer than an addition an exponential takes.
const EXP: usize = 8;

/// How many elements of an activation are computed at a time.
const BLOCK: usize = 1024;

/// How many queries attend at a time: their scores stay in the cache.
const QUERIES: usize = 64;

pub(super) fn fused(op: FusedOp<FlexTensor>, meta: &Meta) -> Result<FlexTensor, Error> {
    // Softmax over another axis than the last: the reductions over that axis are as fast as a kernel.
    if let FusedOp::Softmax { x, axis } | FusedOp::LogSoftmax { x, axis } = &op
        && axis + 1 < x.shape().rank()
    {
        return lower::fused::<Flex>(op);
    }
    if let FusedOp::Rfft { .. } | FusedOp::Irfft { .. } | FusedOp::Cfft { .. } = &op {
        return fourier(op, meta);
    }
    match meta.dtype {
        DType::F64 => typed::<f64>(op, meta),
        DType::F32 => typed::<f32>(op, meta),
        DType::F16 => typed::<f16>(op, meta),
        DType::BF16 => typed::<bf16>(op, meta),
        dtype => unreachable!("`infer` admits floats only, not {dtype}"),
    }
}

fn typed<E: Stored>(op: FusedOp<FlexTensor>, meta: &Meta) -> Result<FlexTensor, Error> {
    let name = op.name();
    Ok(match op {
        FusedOp::Softmax { x, .. } => each_last_axis::<E>(x, softmax),
        FusedOp::LogSoftmax { x, .. } => each_last_axis::<E>(x, log_softmax),
        FusedOp::Gelu { x, tanh: true } => {
            let [half, cubic, root] =
                [0.5, 0.044715, (2.0 / std::f64::consts::PI).sqrt()].map(real::<E::Real>);
            each_element::<E>(x, move |x| {
                half * x * (E::Real::ONE + (root * (x + cubic * x * x * x)).tanh())
            })
        }
        FusedOp::Gelu { x, tanh: false } => {
            let [half, root] = [0.5, std::f64::consts::FRAC_1_SQRT_2].map(real::<E::Real>);
            each_element::<E>(x, move |x| half * x * (E::Real::ONE + (root * x).erf()))
        }
        FusedOp::Silu { x } => each_element::<E>(x, |x| x * x.sigmoid()),
        FusedOp::LayerNorm { x, weight, bias, eps } => {
            let [weight, bias] = [weight, bias].map(|x| x.map(|x| loaded::<E>(&x)));
            let eps = real(eps);
            each_last_axis::<E>(x, |row| layer_norm(row, weight.as_deref(), bias.as_deref(), eps))
        }
        FusedOp::CrossEntropy { logits, targets } => {
            let classes = logits.shape()[1];
            cross_entropy::<E>(logits.into_contiguous(), &places(name, &targets, 1, classes)?)
        }
        FusedOp::Attention {
            q,
            k,
            v,
            mask,
            bias,
            causal,
            scale,
        } => {
            let width = q.shape()[q.shape().rank() - 1];
            let scale = scale.unwrap_or_else(|| 1.0 / (width.max(1) as f64).sqrt());
            let (batch, rank) = (&meta.shape[..meta.shape.rank() - 2], meta.shape.rank());
            let attention = Attention {
                q: Stack::new(E::matrices(&q), batch),
                k: Stack::new(E::matrices(&k), batch),
                v: Stack::new(E::matrices(&v), batch),
                mask: mask
                    .as_ref()
                    .map(|x| Stack::new((x.base::<bool>().into(), x.layout().clone()), batch)),
                bias: bias.as_ref().map(|x| Stack::new(E::matrices(x), batch)),
                causal,
                scale: real(scale),
                queries: meta.shape[rank - 2],
                keys: k.shape()[rank - 2],
                width,
                depth: meta.shape[rank - 1],
            };
            let values = attention.run();
            let rounded = collect(values.len(), 1, |start, out| {
                let end = start + out.len();
                E::store(&values[start..end], out);
            });
            q.like_shape(rounded, &meta.shape)
        }
        FusedOp::Rfft { .. } | FusedOp::Irfft { .. } | FusedOp::Cfft { .. } => {
            unreachable!("`fused` hands transforms on")
        }
    })
}

pub(super) fn real<F: Element>(value: f64) -> F {
    Scalar::Float(value).to()
}

/// A float type, by the type it is computed in.
trait Stored: Element {
    type Real: Gemm;
    /// Converts values exactly. Both slices are equally long.
    fn load(values: &[Self], to: &mut [Self::Real]);
    /// Appends values, rounded.
    fn store(values: &[Self::Real], out: &mut Part<Self>);
    /// A buffer of the values of a tensor, and where they are in it.
    fn matrices(x: &FlexTensor) -> (Cow<'_, [Self::Real]>, Layout);
}

macro_rules! stored_as_is {
    ($($T:ty)*) => { $(
        impl Stored for $T {
            type Real = $T;
            fn load(values: &[$T], to: &mut [$T]) {
                to.copy_from_slice(values);
            }
            fn store(values: &[$T], out: &mut Part<$T>) {
                out.extend(values.iter().copied());
            }
            fn matrices(x: &FlexTensor) -> (Cow<'_, [$T]>, Layout) {
                (x.base::<$T>().into(), x.layout().clone())
            }
        }
    )* };
}
stored_as_is!(f64 f32);

macro_rules! stored_as_half {
    ($($T:ty)*) => { $(
        impl Stored for $T {
            type Real = f32;
            fn load(values: &[$T], to: &mut [f32]) {
                Half::widen(values, to);
            }
            fn store(values: &[f32], out: &mut Part<$T>) {
                let mut narrow = [<$T>::ZERO; 64];
                for values in values.chunks(narrow.len()) {
                    let narrow = &mut narrow[..values.len()];
                    Half::narrow(values, narrow);
                    out.extend(narrow.iter().copied());
                }
            }
            fn matrices(x: &FlexTensor) -> (Cow<'_, [f32]>, Layout) {
                (loaded::<$T>(x).into(), Layout::contiguous(x.shape().clone()))
            }
        }
    )* };
}
stored_as_half!(f16 bf16);

/// The elements in row-major order.
fn loaded<E: Stored>(x: &FlexTensor) -> Vec<E::Real> {
    let x = x.clone().into_contiguous();
    let values = x.in_order::<E>();
    let mut wide = vec![E::Real::ZERO; values.len()];
    E::load(values, &mut wide);
    wide
}

/// Changes every row along the last axis by `f`.
fn each_last_axis<E: Stored>(x: FlexTensor, f: impl Fn(&mut [E::Real]) + Sync) -> FlexTensor {
    let row = x.shape().last().copied().unwrap_or(1);
    each_row::<E>(x, row, f)
}

fn each_element<E: Stored>(x: FlexTensor, f: impl Fn(E::Real) -> E::Real + Sync) -> FlexTensor {
    each_row::<E>(x, BLOCK, |row| {
        vectorised(
            #[inline(always)]
            || row.iter_mut().for_each(|x| *x = f(*x)),
        )
    })
}

/// Changes every `row` elements by `f`.
fn each_row<E: Stored>(x: FlexTensor, row: usize, f: impl Fn(&mut [E::Real]) + Sync) -> FlexTensor {
    let x = x.into_contiguous();
    let values = x.in_order::<E>();
    let out = collect_blocks(values.len(), row, EXP, |start, out| {
        let mut room = vec![E::Real::ZERO; row.min(values.len())];
        for values in values[start..start + out.len()].chunks(row.max(1)) {
            let room = &mut room[..values.len()];
            E::load(values, room);
            f(room);
            E::store(room, out);
        }
    });
    x.like(out)
}

/// Folds in several lanes at once, which are folded in the end.
#[inline(always)]
fn fold<F: Copy>(values: &[F], first: F, f: impl Fn(F, F) -> F) -> F {
    let mut lanes = [first; 64];
    let (chunks, rest) = values.as_chunks::<64>();
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane = f(*lane, value);
        }
    }
    for (lane, &value) in lanes.iter_mut().zip(rest) {
        *lane = f(*lane, value);
    }
    let mut half = lanes.len() / 2;
    while half > 0 {
        let (low, high) = lanes.split_at_mut(half);
        for (low, &high) in low.iter_mut().zip(&*high) {
            *low = f(*low, high);
        }
        half /= 2;
    }
    lanes[0]
}

/// The greatest but NaN, and -∞ where there is none: where NaN matters, it comes back with the sum.
#[inline(always)]
fn greatest<F: Real + Element>(row: &[F]) -> F {
    fold(row, real(f64::NEG_INFINITY), |a, b| if b > a { b } else { a })
}

#[inline(always)]
fn sum<F: Real>(row: &[F]) -> F {
    fold(row, F::ZERO, |a, b| a + b)
}

fn softmax<F: Real + Element>(row: &mut [F]) {
    vectorised(
        #[inline(always)]
        || {
            let greatest = greatest(row);
            row.iter_mut().for_each(|x| *x = (*x - greatest).exp());
            let factor = F::ONE / sum(row);
            row.iter_mut().for_each(|x| *x = *x * factor);
        },
    )
}

fn log_softmax<F: Real + Element>(row: &mut [F]) {
    vectorised(
        #[inline(always)]
        || {
            let greatest = greatest(row);
            let total = log_total(row, greatest);
            row.iter_mut().for_each(|x| *x = *x - greatest - total);
        },
    )
}

/// The logarithm of the sum of `e` to the power of each element less the greatest.
#[inline(always)]
fn log_total<F: Real + Element>(row: &[F], greatest: F) -> F {
    let mut total = F::ZERO;
    let mut powers = [F::ZERO; 256];
    for part in row.chunks(powers.len()) {
        let powers = &mut powers[..part.len()];
        powers
            .iter_mut()
            .zip(part)
            .for_each(|(power, &x)| *power = (x - greatest).exp());
        total = total + sum(powers);
    }
    total.log()
}

fn layer_norm<F: Real + Element>(row: &mut [F], weight: Option<&[F]>, bias: Option<&[F]>, eps: F) {
    vectorised(
        #[inline(always)]
        || {
            let count: F = Scalar::UInt(row.len() as u64).to();
            let mean = sum(row) / count;
            row.iter_mut().for_each(|x| *x = *x - mean);
            let variance = fold_squares(row) / count;
            let factor = F::ONE / (variance + eps).sqrt();
            match weight {
                Some(weight) => row
                    .iter_mut()
                    .zip(weight)
                    .for_each(|(x, &w)| *x = *x * factor * w),
                None => row.iter_mut().for_each(|x| *x = *x * factor),
            }
            if let Some(bias) = bias {
                row.iter_mut().zip(bias).for_each(|(x, &b)| *x = *x + b);
            }
        },
    )
}

#[inline(always)]
fn fold_squares<F: Real>(row: &[F]) -> F {
    let mut total = F::ZERO;
    let mut squares = [F::ZERO; 256];
    for part in row.chunks(squares.len()) {
        let squares = &mut squares[..part.len()];
        squares
            .iter_mut()
            .zip(part)
            .for_each(|(square, &x)| *square = x * x);
        total = total + sum(squares);
    }
    total
}

fn cross_entropy<E: Stored>(logits: FlexTensor, targets: &[usize]) -> FlexTensor {
    let classes = logits.shape()[1];
    let values = logits.in_order::<E>();
    let losses = collect(targets.len(), EXP * classes, |start, out| {
        let mut room = vec![E::Real::ZERO; classes];
        for (row, &target) in targets.iter().enumerate().skip(start).take(out.len()) {
            E::load(&values[row * classes..][..classes], &mut room);
            let loss = vectorised(
                #[inline(always)]
                || {
                    let greatest = greatest(&room);
                    log_total(&room, greatest) - (room[target] - greatest)
                },
            );
            E::store(&[loss], out);
        }
    });
    logits.like_shape(losses, &[targets.len()].into())
}

/// Matrices, one for each item of the batch of a result.
struct Stack<'a, F: Clone> {
    base: Cow<'a, [F]>,
    starts: Vec<usize>,
    /// The distance between rows and between columns, 0 along an axis of size 1.
    strides: [isize; 2],
}

impl<'a, F: Copy> Stack<'a, F> {
    fn new((base, layout): (Cow<'a, [F]>, Layout), batch: &[usize]) -> Self {
        let axis = |axis: usize| {
            if layout.shape[axis] == 1 {
                0
            } else {
                layout.strides[axis]
            }
        };
        Stack {
            base,
            starts: batch_starts(&layout, batch),
            strides: [axis(batch.len()), axis(batch.len() + 1)],
        }
    }

    fn matrix(&self, item: usize) -> Matrix<'_, F> {
        Matrix {
            base: &self.base,
            offset: self.starts[item],
            strides: self.strides,
        }
    }

    /// The first elements of a row.
    fn row(&self, item: usize, row: usize) -> impl Iterator<Item = F> {
        let [rows, columns] = self.strides;
        let start = self.starts[item].wrapping_add_signed(row as isize * rows);
        (0..).map(move |column: isize| self.base[start.wrapping_add_signed(column * columns)])
    }
}

struct Attention<'a, F: Clone> {
    q: Stack<'a, F>,
    k: Stack<'a, F>,
    v: Stack<'a, F>,
    mask: Option<Stack<'a, bool>>,
    bias: Option<Stack<'a, F>>,
    causal: bool,
    scale: F,
    queries: usize,
    keys: usize,
    /// The length of a query and a key.
    width: usize,
    /// The length of a value.
    depth: usize,
}

impl<F: Gemm> Attention<'_, F> {
    /// What each query reads, for each item of the batch.
    fn run(&self) -> Vec<F> {
        let batch = self.q.starts.len();
        let item = self.queries * self.depth;
        let mut out = vec![F::ZERO; batch * item];
        if out.is_empty() {
            return out;
        }
        let blocks = out.chunks_exact_mut(item).enumerate().flat_map(|(item, out)| {
            let blocks = out.chunks_mut(QUERIES * self.depth).enumerate();
            blocks.map(move |(i, out)| (item, i * QUERIES, out))
        });
        let blocks: Vec<_> = blocks.collect();
        let work = batch * self.queries * self.keys * (self.width + self.depth);
        if work < PARALLEL_PRODUCT {
            let mut scores = Vec::new();
            for (item, first, out) in blocks {
                self.block(item, first, out, &mut scores);
            }
        } else {
            let each = |scores: &mut Vec<F>, (item, first, out): (usize, usize, &mut [F])| {
                self.block(item, first, out, scores);
            };
            blocks.into_par_iter().for_each_init(Vec::new, each);
        }
        out
    }

    /// Fills `out` for the queries from `first` on.
    fn block(&self, item: usize, first: usize, out: &mut [F], scores: &mut Vec<F>) {
        let queries = out.len() / self.depth;
        // Keys that no query of the block sees are left out.
        let keys = self.visible(first + queries - 1);
        scores.resize(queries * keys, F::ZERO);
        let mut q = self.q.matrix(item);
        q.offset = q.offset.wrapping_add_signed(first as isize * q.strides[0]);
        let k = self.k.matrix(item).transposed();
        gemm(scores, keys, [queries, self.width, keys], q, k, false, false);
        for (i, row) in scores.chunks_exact_mut(keys.max(1)).enumerate() {
            let query = first + i;
            let hidden = real(f64::NEG_INFINITY);
            row.iter_mut().for_each(|x| *x = *x * self.scale);
            if let Some(bias) = &self.bias {
                row.iter_mut()
                    .zip(bias.row(item, query))
                    .for_each(|(x, bias)| *x = *x + bias);
            }
            if let Some(mask) = &self.mask {
                row.iter_mut()
                    .zip(mask.row(item, query))
                    .for_each(|(x, mask)| *x = if mask { hidden } else { *x });
            }
            row[self.visible(query)..].fill(hidden);
            weights(row);
        }
        let (scores, v) = (Matrix::rows(scores, keys), self.v.matrix(item));
        gemm(
            out,
            self.depth,
            [queries, keys, self.depth],
            scores,
            v,
            false,
            false,
        );
    }

    /// How many keys a query sees.
    fn visible(&self, query: usize) -> usize {
        if self.causal {
            (query + 1 + self.keys)
                .saturating_sub(self.queries)
                .min(self.keys)
        } else {
            self.keys
        }
    }
}

/// Softmax of a row, and zeros where everything is hidden.
fn weights<F: Real + Element>(row: &mut [F]) {
    vectorised(
        #[inline(always)]
        || {
            let greatest = greatest(row);
            let greatest = if greatest == real(f64::NEG_INFINITY) {
                F::ZERO
            } else {
                greatest
            };
            row.iter_mut().for_each(|x| *x = (*x - greatest).exp());
            let total = sum(row);
            let factor = if total == F::ZERO { F::ONE } else { F::ONE / total };
            row.iter_mut().for_each(|x| *x = *x * factor);
        },
    )
}

#[cfg(test)]
mod tests {
    use crate::backend::flex::testing::{Random, data, numbered, same};
    use crate::op::{FusedOp, Op, lower};
    use crate::raw::Raw;
    use crate::{DType, Error, Flex, TensorData};

    const FLOATS: [DType; 4] = [DType::F32, DType::F64, DType::F16, DType::BF16];

    /// The kernel against the op's meaning in `f64`.
    fn agrees(op: FusedOp<Raw<Flex>>, dtype: DType) -> Result<(), Error> {
        let exact = |x: Raw<Flex>| match x.dtype() {
            float if float.is_float() => Raw::from_data(x.into_data()?.cast(DType::F64), &Default::default()),
            _ => Ok(x),
        };
        let Op::Fused(exact) =
            Op::Fused(Box::new(op.clone())).try_map(|x| exact(x).map(Raw::into_primitive))?
        else {
            unreachable!("a mapped op is the same op");
        };
        let expected = data(Raw::new(lower::fused::<Flex>(*exact)?))?;
        let name = op.name();
        let out = Raw::fused(op)?;
        assert_eq!(out.dtype(), dtype, "{name}");
        same(&data(out)?, &expected, dtype);
        Ok(())
    }

    #[test]
    fn rows_agree_with_the_lowering() -> Result<(), Error> {
        let mut random = Random::new(15);
        for round in 0..80 {
            let dtype = FLOATS[round % 4];
            let shape = [random.up_to(4), random.up_to(3), [1, 7, 65, 300][round / 4 % 4]];
            let x = random.view(&shape, dtype)?;
            for axis in 0..3 {
                agrees(FusedOp::Softmax { x: x.clone(), axis }, dtype)?;
                agrees(FusedOp::LogSoftmax { x: x.clone(), axis }, dtype)?;
            }
            agrees(
                FusedOp::Gelu {
                    x: x.clone(),
                    tanh: true,
                },
                dtype,
            )?;
            agrees(
                FusedOp::Gelu {
                    x: x.clone(),
                    tanh: false,
                },
                dtype,
            )?;
            agrees(FusedOp::Silu { x: x.clone() }, dtype)?;
            let weight = random.view(&shape[2..], dtype)?;
            let bias = random.view(&shape[2..], dtype)?;
            for (weight, bias) in [(None, None), (Some(weight), Some(bias))] {
                let x = x.clone();
                agrees(
                    FusedOp::LayerNorm {
                        x,
                        weight,
                        bias,
                        eps: 0.1,
                    },
                    dtype,
                )?;
            }
            let logits = x.narrow(1, 0, 1)?.reshape([shape[0], shape[2]])?;
            let targets = (0..shape[0]).map(|i| (i * 5 % shape[2]) as i16).collect();
            let targets = Raw::from_data(TensorData::new(targets, [shape[0]])?, &Default::default())?;
            agrees(FusedOp::CrossEntropy { logits, targets }, dtype)?;
        }
        Ok(())
    }

    #[test]
    fn attention_agrees_with_the_lowering() -> Result<(), Error> {
        let mut random = Random::new(16);
        for round in 0..120 {
            let dtype = FLOATS[round % 4];
            let [b, c] = [random.up_to(2), random.up_to(3)];
            let [m, n] = if round % 10 == 0 {
                [150, 90]
            } else {
                [random.up_to(6), random.up_to(6)]
            };
            let [d, e] = [random.up_to(4), random.up_to(4)];
            let q = random.view(&[b, c, m, d], dtype)?;
            let k = random.view(&[1, c, n, d], dtype)?;
            let v = random.view(&[b, 1, n, e], dtype)?;
            let mask = random.view(&[1, c, [1, m][round & 1], n], DType::Bool)?;
            let bias = random.view(&[b, 1, m, [1, n][round >> 1 & 1]], dtype)?;
            let op = FusedOp::Attention {
                q,
                k,
                v,
                mask: (round % 3 > 0).then_some(mask),
                bias: (round % 5 > 1).then_some(bias),
                causal: round % 7 > 2,
                scale: (round % 2 > 0).then_some(0.3),
            };
            agrees(op, dtype)?;
        }
        Ok(())
    }

    #[test]
    fn special_values_in_a_row() -> Result<(), Error> {
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        let rows = |rows: &[[f32; 3]]| {
            Raw::<Flex>::from_data(
                TensorData::new(rows.concat(), [rows.len(), 3])?,
                &Default::default(),
            )
        };
        let x = rows(&[
            [nan, 0., 1.],
            [-inf, -inf, -inf],
            [inf, 0., 0.],
            [-inf, 1000., 1000.],
        ])?;
        let out = data(x.softmax(1)?)?;
        assert!(out[..9].iter().all(|x| x.is_nan()), "{out:?}");
        assert_eq!(out[9..], [0., 0.5, 0.5]);

        // The bias is the scores: hidden rows give zeros, NaN stays.
        let op = FusedOp::Attention {
            q: numbered(&[2, 1])?.narrow(0, 0, 1)?.expand([2, 1])?,
            k: numbered(&[3, 1])?,
            v: numbered(&[3, 1])?,
            mask: None,
            bias: Some(rows(&[[-inf, -inf, -inf], [-inf, nan, -inf]])?),
            causal: false,
            scale: None,
        };
        let out = data(Raw::fused(op)?)?;
        assert!(out[0] == 0.0 && out[1].is_nan(), "{out:?}");
        Ok(())
    }

    #[test]
    fn a_class_out_of_range_is_an_error() -> Result<(), Error> {
        let targets = Raw::from_data(TensorData::new(vec![0i32, 3], [2])?, &Default::default())?;
        let result = Raw::fused(FusedOp::CrossEntropy {
            logits: numbered(&[2, 3])?,
            targets,
        });
        assert!(
            matches!(
                result,
                Err(Error::Index {
                    index: 3,
                    axis: 1,
                    size: 3,
                    ..
                })
            ),
            "{result:?}"
        );
        Ok(())
    }

    #[test]
    fn nothing_to_compute() -> Result<(), Error> {
        let empty = numbered(&[2, 0])?;
        assert_eq!(empty.clone().softmax(1)?.shape()[..], [2, 0]);
        let op = FusedOp::Attention {
            q: empty.clone(),
            k: numbered(&[0, 0])?,
            v: numbered(&[0, 3])?,
            mask: None,
            bias: None,
            causal: true,
            scale: None,
        };
        assert_eq!(data(Raw::fused(op)?)?, [0.0; 6]);
        Ok(())
    }
}
