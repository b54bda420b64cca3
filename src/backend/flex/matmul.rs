//! Matrix products.

use half::{bf16, f16};
use num_traits::AsPrimitive;
use rayon::prelude::*;

use super::gemm::{Gemm, Matrix, gemm};
use super::movement::joined;
use super::number::{Number, with_number};
use super::storage::{FlexTensor, Layout};
use crate::element::{DType, Element};
use crate::op::{HasMeta, Meta};
use crate::shape::Shape;

/// From how many multiplications on all threads work on a product. Waking them costs about 10 µs, in which one core
/// does some 10⁶ (measured: 64³ in 3 µs on one core, 96³ in 12 µs on two, 128³ in 19 µs).
pub(super) const PARALLEL_PRODUCT: usize = 1 << 21;

/// How many rows of the right operand an integer product goes through at a time, so that they stay in the cache.
const BLOCK: usize = 32;

pub(super) fn matmul(a: FlexTensor, b: FlexTensor, meta: &Meta) -> FlexTensor {
    let shape = meta.shape.clone();
    let device = a.device().clone();
    match meta.dtype {
        DType::F64 => FlexTensor::from_vec(product::<f64>(&a, &b, &shape), shape, device),
        DType::F32 => FlexTensor::from_vec(product::<f32>(&a, &b, &shape), shape, device),
        DType::F16 => FlexTensor::from_vec(rounded::<f16>(&a, &b, &shape), shape, device),
        DType::BF16 => FlexTensor::from_vec(rounded::<bf16>(&a, &b, &shape), shape, device),
        dtype => with_number!(dtype, E => FlexTensor::from_vec(integers::<E>(&a, &b, &shape), shape, device)),
    }
}

/// The product in `f32`, rounded once.
fn rounded<E: Element + AsPrimitive<f32>>(a: &FlexTensor, b: &FlexTensor, shape: &Shape) -> Vec<E>
where
    f32: AsPrimitive<E>,
{
    let [a, b] = [a, b].map(widened::<E>);
    product::<f32>(&a, &b, shape)
        .into_iter()
        .map(|v| v.as_())
        .collect()
}

/// The elements as `f32`.
pub(super) fn widened<E: Element + AsPrimitive<f32>>(x: &FlexTensor) -> FlexTensor {
    let values = match x.as_slice::<E>() {
        Some(values) => values.iter().map(|v| v.as_()).collect(),
        None => x.to_vec::<E>().into_iter().map(|v| v.as_()).collect::<Vec<f32>>(),
    };
    FlexTensor::from_vec(values, x.shape().clone(), x.device().clone())
}

/// A product of stacks of matrices: the sizes m, k and n, and where each pair of operands starts.
struct Batch {
    sizes: [usize; 3],
    starts: Vec<(usize, usize)>,
    a: [isize; 2],
    b: [isize; 2],
}

impl Batch {
    fn new(a: &Layout, b: &Layout, shape: &Shape) -> Self {
        let rank = shape.rank();
        let matrix = |x: &Layout| [x.strides[rank - 2], x.strides[rank - 1]];
        let mut sizes = [shape[rank - 2], a.shape[rank - 1], shape[rank - 1]];
        let (mut a_strides, b_strides) = (matrix(a), matrix(b));
        // One matrix on the right, and all rows on the left at one distance: one product of many rows.
        let stacked = shape.num_elements() != 0 && b.shape[..rank - 2].iter().all(|&size| size == 1);
        let rows = stacked.then(|| joined(&a.shape[..rank - 1], [&a.strides]));
        let starts = match rows.as_deref() {
            Some([]) => vec![(a.offset, b.offset)],
            Some(&[(rows, [stride])]) => {
                (sizes[0], a_strides[0]) = (rows, stride);
                vec![(a.offset, b.offset)]
            }
            _ => {
                let [a, b] = [a, b].map(|x| batch_starts(x, &shape[..rank - 2]));
                a.into_iter().zip(b).collect()
            }
        };
        Batch {
            sizes,
            starts,
            a: a_strides,
            b: b_strides,
        }
    }

    /// Fills each matrix of the result by `f`, which is told whether all threads should work on it.
    fn run<E: Element>(&self, f: impl Fn(&mut [E], (usize, usize), bool) + Sync) -> Vec<E> {
        let [m, k, n] = self.sizes;
        let mut out = vec![E::default(); self.starts.len() * m * n];
        if out.is_empty() {
            return out;
        }
        let work = m.saturating_mul(k).saturating_mul(n);
        let batches = self.starts.len();
        let parallel = work.saturating_mul(batches) >= PARALLEL_PRODUCT;
        if parallel && batches >= 2 * rayon::current_num_threads() {
            let each = (PARALLEL_PRODUCT / 8).div_ceil(work.max(1));
            out.par_chunks_exact_mut(m * n)
                .zip(&self.starts)
                .with_min_len(each)
                .for_each(|(out, &starts)| f(out, starts, false));
        } else {
            for (out, &starts) in out.chunks_exact_mut(m * n).zip(&self.starts) {
                f(out, starts, work >= PARALLEL_PRODUCT);
            }
        }
        out
    }
}

/// Where each matrix of a stack starts, after its batch axes are stretched to `batch`.
pub(super) fn batch_starts(x: &Layout, batch: &[usize]) -> Vec<usize> {
    let stretched = |(axis, &size): (usize, &usize)| if x.shape[axis] == size { x.strides[axis] } else { 0 };
    let layout = Layout {
        shape: batch.into(),
        strides: batch.iter().enumerate().map(stretched).collect(),
        offset: x.offset,
    };
    layout.offsets()
}

fn product<E: Gemm>(a: &FlexTensor, b: &FlexTensor, shape: &Shape) -> Vec<E> {
    let batch = Batch::new(a.layout(), b.layout(), shape);
    let (a, b) = (a.base::<E>(), b.base::<E>());
    let n = batch.sizes[2];
    batch.run(|out, (a_start, b_start), parallel| {
        let a = Matrix {
            base: a,
            offset: a_start,
            strides: batch.a,
        };
        let b = Matrix {
            base: b,
            offset: b_start,
            strides: batch.b,
        };
        gemm(out, n, batch.sizes, a, b, false, parallel);
    })
}

fn integers<E: Number>(a: &FlexTensor, b: &FlexTensor, shape: &Shape) -> Vec<E> {
    // Rows of the right operand are added up, so they should lie together.
    let b = b.clone().into_contiguous();
    let batch = Batch::new(a.layout(), b.layout(), shape);
    let (a, b): (&[E], &[E]) = (a.base(), b.base());
    let [_, k, n] = batch.sizes;
    let [a_row, a_column] = batch.a;
    batch.run(|out, (a_start, b_start), parallel| {
        let rows = |(first, out): (usize, &mut [E])| {
            for block in (0..k).step_by(BLOCK) {
                for (i, out) in out.chunks_exact_mut(n).enumerate() {
                    for p in block..k.min(block + BLOCK) {
                        let at = (first * BLOCK + i) as isize * a_row + p as isize * a_column;
                        let factor = a[a_start.wrapping_add_signed(at)];
                        for (sum, &value) in out.iter_mut().zip(&b[b_start + p * n..][..n]) {
                            *sum = sum.plus(factor.times(value));
                        }
                    }
                }
            }
        };
        if parallel {
            out.par_chunks_mut(BLOCK * n).enumerate().for_each(rows);
        } else {
            out.chunks_mut(BLOCK * n).enumerate().for_each(rows);
        }
    })
}

#[cfg(test)]
mod tests {
    use crate::backend::flex::testing::{Random, data, same};
    use crate::raw::Raw;
    use crate::{DType, Flex};

    /// Products of views with every kind of stride, against sums in `f64`.
    #[test]
    fn takes_any_strides() -> Result<(), crate::Error> {
        let mut random = Random::new(1);
        for round in 0..120 {
            let [p, q, m, k, n] = std::array::from_fn(|_| random.up_to(5));
            let (m, k, n) = if round % 3 == 0 {
                (m * 9, k * 9, n * 9)
            } else {
                (m, k, n)
            };
            for dtype in [DType::F32, DType::F64, DType::BF16, DType::I8, DType::I64] {
                let mut a = random.view(&[[1, p][round & 1], q, m, k], dtype)?;
                let b = random.view(&[p, [1, q][round >> 1 & 1], k, n], dtype)?;
                if round % 5 == 0 {
                    a = a.narrow(0, 0, 1)?.expand([p, q, m, k])?;
                }
                let out = a.clone().matmul(b.clone())?;
                let (x, y) = (a.expand([p, q, m, k])?, b.expand([p, q, k, n])?);
                let (x, y) = (data(x)?, data(y)?);
                let mut expected = Vec::new();
                for batch in 0..p * q {
                    for i in 0..m {
                        for j in 0..n {
                            let at = |l| x[(batch * m + i) * k + l] * y[(batch * k + l) * n + j];
                            expected.push((0..k).map(at).sum());
                        }
                    }
                }
                same(&data(out)?, &expected, dtype);
            }
        }
        Ok(())
    }

    #[test]
    fn one_matrix_on_the_right_takes_rows_with_gaps() -> Result<(), crate::Error> {
        let a = Random::new(2).view(&[2, 1, 8, 3], DType::F32)?.into_data()?;
        let a = Raw::<Flex>::from_data(a, &Default::default())?.narrow(2, 1, 4)?;
        let b = Random::new(3).view(&[1, 1, 3, 2], DType::F32)?;
        let whole = data(a.clone().matmul(b.clone())?)?;
        for batch in 0..2 {
            let one = data(a.clone().narrow(0, batch, 1)?.matmul(b.clone())?)?;
            same(&whole[batch * 8..][..8], &one, DType::F32);
        }
        Ok(())
    }

    #[test]
    fn nothing_summed_is_zero() -> Result<(), crate::Error> {
        for dtype in [DType::F32, DType::F16, DType::I32] {
            let a = Random::new(4).view(&[2, 3, 0], dtype)?;
            let b = Random::new(5).view(&[2, 0, 2], dtype)?;
            same(&data(a.matmul(b)?)?, &[0.0; 12], dtype);
        }
        Ok(())
    }

    #[test]
    fn integers_wrap() -> Result<(), crate::Error> {
        let x = |v: i8| Raw::<Flex>::from_data(crate::TensorData::new(vec![v], [1, 1])?, &Default::default());
        same(&data(x(100)?.matmul(x(3)?)?)?, &[44.0], DType::I8);
        Ok(())
    }
}
