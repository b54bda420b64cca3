//! Pools.

use half::{bf16, f16};
use num_traits::AsPrimitive;
use rayon::prelude::*;

use super::gemm::Gemm;
use super::matmul::widened;
use super::number::{Number, with_number};
use super::storage::FlexTensor;
use super::windows::{Movement, Windows};
use crate::element::{DType, Element, Scalar};
use crate::error::Error;
use crate::op::{HasMeta, Meta, PoolOp};

/// From how many elements that windows meet on planes are shared out to threads.
const PARALLEL_POOL: usize = 1 << 15;

pub(super) fn pool(op: PoolOp, x: FlexTensor, meta: &Meta) -> Result<FlexTensor, Error> {
    let (shape, device) = (meta.shape.clone(), x.device().clone());
    let x = x.into_contiguous();
    let options = op.options();
    let (input, output) = match op {
        PoolOp::MaxIndices(_) | PoolOp::Avg(_) => (x.shape(), &shape),
        PoolOp::AvgGrad(..) => (&shape, x.shape()),
    };
    let by = Movement {
        stride: &options.stride,
        padding: &options.padding,
        dilation: &options.dilation,
    };
    let windows = Windows::new(op.name(), &input[2..], &options.kernel, &output[2..], by)?;
    if let PoolOp::MaxIndices(_) = op {
        let indices = with_number!(x.dtype(), E => max_indices::<E>(x.in_order(), &windows, &x.shape()[2..]));
        return Ok(FlexTensor::from_vec(indices, shape, device));
    }
    let mean = Mean {
        divisors: if options.count_include_pad {
            vec![windows.taps(); windows.positions()]
        } else {
            windows.counts()
        },
        windows,
        gradient: matches!(op, PoolOp::AvgGrad(..)),
        plane: input[2..].iter().product(),
        planes: input[0] * input[1],
    };
    Ok(match meta.dtype {
        DType::F64 => FlexTensor::from_vec(mean.of::<f64>(x.in_order()), shape, device),
        DType::F32 => FlexTensor::from_vec(mean.of::<f32>(x.in_order()), shape, device),
        DType::F16 => FlexTensor::from_vec(rounded::<f16>(&mean, &x), shape, device),
        DType::BF16 => FlexTensor::from_vec(rounded::<bf16>(&mean, &x), shape, device),
        dtype => unreachable!("`infer` admits floats only, not {dtype}"),
    })
}

/// The mean in `f32`, rounded once.
fn rounded<E: Element + AsPrimitive<f32>>(mean: &Mean, x: &FlexTensor) -> Vec<E>
where
    f32: AsPrimitive<E>,
{
    let wide = widened::<E>(x);
    mean.of::<f32>(wide.in_order())
        .into_iter()
        .map(|v| v.as_())
        .collect()
}

fn max_indices<E: Number>(x: &[E], windows: &Windows, size: &[usize]) -> Vec<i32> {
    let (plane, positions) = (size.iter().product::<usize>(), windows.positions());
    if x.is_empty() {
        return Vec::new();
    }
    let planes = x.len() / plane;
    let mut indices = vec![-1; planes * positions];
    let step = windows.step();
    // Without branches, which no processor could predict.
    let update = |((best, index), (i, &value)): ((&mut E, &mut i32), (i32, &E))| {
        let replace = (*index < 0) | (value > *best) | (value.is_nan() & !best.is_nan());
        *best = if replace { value } else { *best };
        *index = if replace { i } else { *index };
    };
    let find = |(out, x): (&mut [i32], &[E])| {
        // The greatest so far of each window; none as long as its index is negative.
        let mut greatest = vec![E::default(); positions];
        for tap in 0..windows.taps() {
            windows.for_each_part(tap, 0..positions, |part, first| {
                let best = greatest[part.clone()].iter_mut().zip(&mut out[part]);
                let indices = (first as i32..).step_by(step);
                if step == 1 {
                    best.zip(indices.zip(&x[first..])).for_each(update);
                } else {
                    best.zip(indices.zip(x[first..].iter().step_by(step)))
                        .for_each(update);
                }
            });
        }
    };
    let parallel = planes * positions * windows.taps() >= PARALLEL_POOL;
    each_plane(indices.as_mut_slice(), positions, x, plane, parallel, find);
    indices
}

fn each_plane<A: Send, B: Sync>(
    out: &mut [A],
    out_plane: usize,
    x: &[B],
    plane: usize,
    parallel: bool,
    f: impl Fn((&mut [A], &[B])) + Sync + Send,
) {
    if parallel {
        out.par_chunks_exact_mut(out_plane)
            .zip(x.par_chunks_exact(plane))
            .for_each(f);
    } else {
        out.chunks_exact_mut(out_plane)
            .zip(x.chunks_exact(plane))
            .for_each(f);
    }
}

/// A mean over windows, or its gradient.
struct Mean {
    windows: Windows,
    /// By what the sum at each position is divided: 0 where a window meets nothing, whose mean is NaN.
    divisors: Vec<usize>,
    gradient: bool,
    /// The number and the size of the planes of the input, as of the mean itself.
    planes: usize,
    plane: usize,
}

impl Mean {
    fn of<T: Gemm>(&self, x: &[T]) -> Vec<T> {
        let (windows, positions) = (&self.windows, self.windows.positions());
        let step = windows.step();
        let divisors: Vec<T> = self
            .divisors
            .iter()
            .map(|&count| Scalar::UInt(count as u64).to())
            .collect();
        let parallel = self.planes * positions * windows.taps() >= PARALLEL_POOL;
        if self.gradient {
            let mut out = vec![T::ZERO; self.planes * self.plane];
            if out.is_empty() {
                return out;
            }
            each_plane(
                &mut out,
                self.plane,
                x,
                positions,
                parallel,
                |(out, x): (&mut [T], &[T])| {
                    let shares: Vec<T> = x
                        .iter()
                        .zip(&divisors)
                        .map(|(&x, &divisor)| x / divisor)
                        .collect();
                    for tap in 0..windows.taps() {
                        windows.for_each_part(tap, 0..positions, |part, first| {
                            let elements = out[first..].iter_mut().step_by(step);
                            elements
                                .zip(&shares[part])
                                .for_each(|(to, &share)| *to = *to + share);
                        });
                    }
                },
            );
            return out;
        }
        let mut out = vec![T::ZERO; self.planes * positions];
        let mean = |(i, out): (usize, &mut [T])| {
            let x = &x[i * self.plane..][..self.plane];
            for tap in 0..windows.taps() {
                windows.for_each_part(tap, 0..positions, |part, first| {
                    let elements = x[first..].iter().step_by(step);
                    out[part]
                        .iter_mut()
                        .zip(elements)
                        .for_each(|(sum, &value)| *sum = *sum + value);
                });
            }
            out.iter_mut()
                .zip(&divisors)
                .for_each(|(sum, &divisor)| *sum = *sum / divisor);
        };
        if parallel {
            out.par_chunks_exact_mut(positions).enumerate().for_each(mean);
        } else {
            out.chunks_exact_mut(positions).enumerate().for_each(mean);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use crate::backend::flex::testing::{Random, data, same};
    use crate::op::{PoolOp, PoolOptions};
    use crate::raw::Raw;
    use crate::{DType, Error, Flex, TensorData};

    /// A random case over two axes: the options, the input, and for each window its elements' places in the plane.
    #[allow(clippy::type_complexity)]
    fn case(random: &mut Random, dtype: DType) -> Result<(PoolOptions, Raw<Flex>, Vec<Vec<usize>>), Error> {
        let mut options = PoolOptions::new(smallvec![random.up_to(3), random.up_to(3)]);
        options.stride = smallvec![random.up_to(3), random.up_to(3)];
        options.dilation = smallvec![random.up_to(2), random.up_to(2)];
        // Less than a window, so that none lies in the padding alone.
        let padding = |random: &mut Random, i: usize| random.up_to(options.kernel[i]) - 1;
        options.padding = [0, 1].map(|i| (padding(random, i), padding(random, i))).into();
        options.count_include_pad = random.up_to(2) == 1;
        let size = [0, 1].map(|i| (options.kernel[i] - 1) * options.dilation[i] + random.up_to(5));
        let count = |i: usize| {
            let (before, after) = options.padding[i];
            (size[i] + before + after - (options.kernel[i] - 1) * options.dilation[i] - 1) / options.stride[i]
                + 1
        };
        let place = |i: usize, at: usize, tap: usize| {
            let place =
                (at * options.stride[i] + tap * options.dilation[i]).checked_sub(options.padding[i].0);
            place.filter(|&place| place < size[i])
        };
        let mut windows = Vec::new();
        for row in 0..count(0) {
            for column in 0..count(1) {
                let mut window = Vec::new();
                for i in 0..options.kernel[0] {
                    for j in 0..options.kernel[1] {
                        if let (Some(y), Some(x)) = (place(0, row, i), place(1, column, j)) {
                            window.push(y * size[1] + x);
                        }
                    }
                }
                windows.push(window);
            }
        }
        let x = random.view(&[2, 3, size[0], size[1]], dtype)?;
        Ok((options, x, windows))
    }

    #[test]
    fn pools_what_the_windows_meet() -> Result<(), Error> {
        let mut random = Random::new(14);
        for round in 0..200 {
            let dtype = [DType::F32, DType::F64, DType::F16, DType::BF16][round % 4];
            let (options, x, windows) = case(&mut random, dtype)?;
            let values = data(x.clone())?;
            let planes = || values.chunks(values.len() / 6);
            let taps = options.kernel.iter().product::<usize>();

            let greatest = planes().flat_map(|x| {
                windows.iter().map(|window| {
                    // `max_by` takes the last of several.
                    *window
                        .iter()
                        .rev()
                        .max_by(|&&a, &&b| x[a].total_cmp(&x[b]))
                        .expect("some element") as f64
                })
            });
            let indices = x.clone().pool(PoolOp::MaxIndices(options.clone()))?;
            assert_eq!(data(indices)?, greatest.collect::<Vec<_>>());

            let divisor = |window: &Vec<usize>| if options.count_include_pad { taps } else { window.len() } as f64;
            let mean =
                |x: &[f64], window: &Vec<usize>| window.iter().map(|&i| x[i]).sum::<f64>() / divisor(window);
            let means =
                planes().flat_map(|x| windows.iter().map(|window| mean(x, window)).collect::<Vec<_>>());
            let out = x.clone().pool(PoolOp::Avg(options.clone()))?;
            same(&data(out.clone())?, &means.collect::<Vec<_>>(), dtype);

            // The gradient is the adjoint.
            let grad = random.view(out.shape(), DType::F64)?;
            let x = Raw::from_data(x.into_data()?.cast(DType::F64), &Default::default())?;
            let dot = |a: Raw<Flex>, b: Raw<Flex>| -> Result<f64, Error> {
                Ok(data(a)?.iter().zip(data(b)?).map(|(a, b)| a * b).sum())
            };
            let size = x.shape()[2..].into();
            let forward = dot(x.clone().pool(PoolOp::Avg(options.clone()))?, grad.clone())?;
            let back = dot(x, grad.pool(PoolOp::AvgGrad(options, size))?)?;
            assert!((forward - back).abs() < 1e-9, "{forward} {back}");
        }
        Ok(())
    }

    fn tensor(values: Vec<f32>) -> Result<Raw<Flex>, Error> {
        let shape = [1, 1, values.len()];
        Raw::from_data(TensorData::new(values, shape)?, &Default::default())
    }

    #[test]
    fn the_first_nan_wins_and_padding_never() -> Result<(), Error> {
        let mut options = PoolOptions::new(smallvec![3]);
        options.padding = smallvec![(1, 1)];
        let infinite = f32::NEG_INFINITY;
        let x = tensor(vec![infinite, infinite, 1.0, f32::NAN, f32::NAN, 2.0])?;
        let indices = x.pool(PoolOp::MaxIndices(options))?;
        assert_eq!(data(indices)?, [0.0, 3.0]);
        Ok(())
    }

    #[test]
    fn the_mean_of_nothing_is_nan() -> Result<(), Error> {
        let mut options = PoolOptions::new(smallvec![1]);
        options.padding = smallvec![(1, 0)];
        options.count_include_pad = false;
        let means = data(tensor(vec![3.0])?.pool(PoolOp::Avg(options.clone()))?)?;
        assert!(means[0].is_nan() && means[1] == 3.0);
        let back = tensor(vec![5.0, 7.0])?.pool(PoolOp::AvgGrad(options, smallvec![1]))?;
        assert_eq!(data(back)?, [7.0]);
        Ok(())
    }
}
