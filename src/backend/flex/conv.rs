//! Convolutions, as products of matrices.
//!
//! For one item of the batch and one group, the *patches* are a matrix with a row for each input channel and tap of
//! the kernel, and a column for each position of the output: the elements that the kernel meets there. Then
//! `Forward` is `weight × patches`, and its adjoints are `patches = weightᵀ × x`, each added to the element it came
//! from, and `weight = grad × patchesᵀ`. Patches are made for some positions at a time, so that they stay in the cache.

use std::convert::Infallible;
use std::ops::Range;

use half::{bf16, f16};
use num_traits::AsPrimitive;
use rayon::prelude::*;

use super::gemm::{Gemm, Matrix, gemm};
use super::matmul::{PARALLEL_PRODUCT, widened};
use super::storage::FlexTensor;
use super::windows::{Movement, Windows};
use crate::element::{DType, Element};
use crate::error::Error;
use crate::op::{ConvOp, ConvOptions, HasMeta, Meta};
use crate::shape::Shape;

/// How many bytes of patches are made at a time: they should stay in the second-level cache.
const PATCH_BYTES: usize = 1 << 18;

pub(super) fn conv(op: ConvOp<FlexTensor>, meta: &Meta) -> Result<FlexTensor, Error> {
    let (ConvOp::Forward { x, .. } | ConvOp::Transpose { x, .. } | ConvOp::WeightGrad { x, .. }) = &op;
    let device = x.device().clone();
    let shape = meta.shape.clone();
    Ok(match meta.dtype {
        DType::F64 => FlexTensor::from_vec(convolved::<f64>(op, &shape)?, shape, device),
        DType::F32 => FlexTensor::from_vec(convolved::<f32>(op, &shape)?, shape, device),
        DType::F16 => FlexTensor::from_vec(rounded::<f16>(op, &shape)?, shape, device),
        DType::BF16 => FlexTensor::from_vec(rounded::<bf16>(op, &shape)?, shape, device),
        dtype => unreachable!("`infer` admits floats only, not {dtype}"),
    })
}

/// The convolution in `f32`, rounded once.
fn rounded<E: Element + AsPrimitive<f32>>(op: ConvOp<FlexTensor>, shape: &Shape) -> Result<Vec<E>, Error>
where
    f32: AsPrimitive<E>,
{
    let Ok(wide) = op.try_map(&mut |x| Ok::<_, Infallible>(widened::<E>(&x)));
    Ok(convolved::<f32>(wide, shape)?
        .into_iter()
        .map(|v| v.as_())
        .collect())
}

fn convolved<T: Gemm>(op: ConvOp<FlexTensor>, shape: &Shape) -> Result<Vec<T>, Error> {
    let (ConvOp::Forward { x: a, weight: b, .. }
    | ConvOp::Transpose { x: a, weight: b, .. }
    | ConvOp::WeightGrad { x: a, grad: b, .. }) = &op;
    // Without products there is no bound on the number of windows.
    if [a.shape(), b.shape()]
        .iter()
        .any(|shape| shape.num_elements() == 0)
    {
        return Ok(vec![T::default(); shape.num_elements()]);
    }
    let name = op.name();
    Ok(match op {
        ConvOp::Forward { x, weight, options } => {
            let plan = Plan::new(name, x.shape(), weight.shape(), &shape[2..], &options)?;
            plan.forward(
                x.into_contiguous().in_order(),
                weight.into_contiguous().in_order(),
            )
        }
        ConvOp::Transpose {
            x, weight, options, ..
        } => {
            let plan = Plan::new(name, shape, weight.shape(), &x.shape()[2..], &options)?;
            plan.transpose(
                x.into_contiguous().in_order(),
                weight.into_contiguous().in_order(),
            )
        }
        ConvOp::WeightGrad { x, grad, options, .. } => {
            let plan = Plan::new(name, x.shape(), shape, &grad.shape()[2..], &options)?;
            plan.weight_grad(x.into_contiguous().in_order(), grad.into_contiguous().in_order())
        }
    })
}

/// The sizes of a convolution, of one group where it says so.
struct Plan {
    windows: Windows,
    /// A window of one element that meets all elements in order: the patches are the input itself.
    identity: bool,
    batch: usize,
    groups: usize,
    /// Channels of the input, in a group.
    ins: usize,
    /// Channels of the output, in a group.
    outs: usize,
    /// Elements in a channel of the input.
    plane: usize,
    /// Rows of the patches: input channels times taps.
    depth: usize,
    /// Columns of the patches.
    positions: usize,
}

impl Plan {
    /// `x`, `weight` and `out` as of `Forward`.
    fn new(
        op: &'static str,
        x: &Shape,
        weight: &Shape,
        out: &[usize],
        options: &ConvOptions,
    ) -> Result<Self, Error> {
        let by = Movement {
            stride: &options.stride,
            padding: &options.padding,
            dilation: &options.dilation,
        };
        let windows = Windows::new(op, &x[2..], &weight[2..], out, by)?;
        Ok(Plan {
            identity: windows.taps() == 1
                && options.stride.iter().all(|&stride| stride == 1)
                && options.padding.iter().all(|&padding| padding == (0, 0)),
            batch: x[0],
            groups: options.groups,
            ins: x[1] / options.groups,
            outs: weight[0] / options.groups,
            plane: x[2..].iter().product(),
            depth: x[1] / options.groups * windows.taps(),
            positions: windows.positions(),
            windows,
        })
    }

    /// How many independent parts the work has: items of the batch times groups.
    fn parts(&self) -> usize {
        self.batch * self.groups
    }

    fn input<'a, T>(&self, x: &'a [T], part: usize) -> &'a [T] {
        &x[part * self.ins * self.plane..][..self.ins * self.plane]
    }

    fn output<'a, T>(&self, x: &'a [T], part: usize) -> &'a [T] {
        &x[part * self.outs * self.positions..][..self.outs * self.positions]
    }

    /// The weights of the group that a part is of: a row for each output channel.
    fn weight<'a, T>(&self, weight: &'a [T], part: usize) -> Matrix<'a, T> {
        let group = part % self.groups;
        let len = self.outs * self.depth;
        Matrix::rows(&weight[group * len..][..len], self.depth)
    }

    /// Whether there is enough work for several threads, and whether each part should be shared among them.
    fn parallel(&self) -> (bool, bool) {
        let work = self
            .outs
            .saturating_mul(self.depth)
            .saturating_mul(self.positions);
        let threads = rayon::current_num_threads();
        let parallel = work.saturating_mul(self.parts()) >= PARALLEL_PRODUCT;
        let few =
            self.parts() < threads || (self.parts() < 4 * threads && !self.parts().is_multiple_of(threads));
        (parallel, parallel && few && work >= PARALLEL_PRODUCT)
    }

    /// The positions for which patches are made at a time.
    fn chunks<T>(&self) -> impl Iterator<Item = Range<usize>> + use<'_, T> {
        // A multiple of the kernels' registers, so that they need not copy the patches once more.
        let columns = (PATCH_BYTES / size_of::<T>() / self.depth.max(1)).next_multiple_of(64);
        let chunk = move |start| start..self.positions.min(start + columns);
        (0..self.positions).step_by(columns).map(chunk)
    }

    fn forward<T: Gemm>(&self, x: &[T], weight: &[T]) -> Vec<T> {
        let len = self.outs * self.positions;
        let (parallel, shared) = self.parallel();
        self.each_part(len, parallel && !shared, |part, out, patches| {
            let (x, weight) = (self.input(x, part), self.weight(weight, part));
            if self.identity {
                let sizes = [self.outs, self.depth, self.positions];
                let x = Matrix::rows(x, self.positions);
                return gemm(out, self.positions, sizes, weight, x, false, shared);
            }
            for chunk in self.chunks::<T>() {
                let (start, columns) = (chunk.start, chunk.len());
                patches.resize(self.depth * columns, T::ZERO);
                self.fill_patches(patches, x, chunk, shared);
                let patches = Matrix::rows(patches, columns);
                let sizes = [self.outs, self.depth, columns];
                gemm(
                    &mut out[start..],
                    self.positions,
                    sizes,
                    weight,
                    patches,
                    false,
                    shared,
                );
            }
        })
    }

    fn transpose<T: Gemm>(&self, x: &[T], weight: &[T]) -> Vec<T> {
        let len = self.ins * self.plane;
        let (parallel, shared) = self.parallel();
        self.each_part(len, parallel && !shared, |part, out, patches| {
            let (x, weight) = (self.output(x, part), self.weight(weight, part).transposed());
            let x = Matrix::rows(x, self.positions);
            if self.identity {
                let sizes = [self.depth, self.outs, self.positions];
                return gemm(out, self.positions, sizes, weight, x, false, shared);
            }
            for chunk in self.chunks::<T>() {
                let columns = chunk.len();
                patches.resize(self.depth * columns, T::ZERO);
                let sizes = [self.depth, self.outs, columns];
                let offset = chunk.start;
                gemm(
                    patches,
                    columns,
                    sizes,
                    weight,
                    Matrix { offset, ..x },
                    false,
                    shared,
                );
                self.add_patches(patches, out, chunk, shared);
            }
        })
    }

    fn weight_grad<T: Gemm>(&self, x: &[T], grad: &[T]) -> Vec<T> {
        let len = self.outs * self.depth;
        let (parallel, shared) = self.parallel();
        let items = |group: usize, items: Range<usize>, out: &mut [T]| {
            let mut patches = Vec::new();
            for item in items {
                let part = item * self.groups + group;
                let x = self.input(x, part);
                let grad = Matrix::rows(self.output(grad, part), self.positions);
                if self.identity {
                    let sizes = [self.outs, self.positions, self.depth];
                    let x = Matrix::rows(x, self.positions).transposed();
                    gemm(out, self.depth, sizes, grad, x, true, shared);
                    continue;
                }
                for chunk in self.chunks::<T>() {
                    let columns = chunk.len();
                    let offset = chunk.start;
                    patches.resize(self.depth * columns, T::ZERO);
                    self.fill_patches(&mut patches, x, chunk, shared);
                    let patches = Matrix::rows(&patches, columns).transposed();
                    let sizes = [self.outs, columns, self.depth];
                    gemm(
                        out,
                        self.depth,
                        sizes,
                        Matrix { offset, ..grad },
                        patches,
                        true,
                        shared,
                    );
                }
            }
        };
        let mut out = vec![T::ZERO; self.groups * len];
        if out.is_empty() || self.batch == 0 {
            return out;
        }
        if !parallel || shared {
            for (group, out) in out.chunks_exact_mut(len).enumerate() {
                items(group, 0..self.batch, out);
            }
            return out;
        }
        // Each thread adds up a share of the batch; the shares are then added in order, so that the result does not
        // depend on which thread was first.
        let shares = if self.groups > 1 {
            1
        } else {
            self.batch.min(rayon::current_num_threads())
        };
        let share = self.batch.div_ceil(shares);
        let mut sums = vec![T::ZERO; (shares - 1) * self.groups * len];
        out.par_chunks_exact_mut(len)
            .chain(sums.par_chunks_exact_mut(len))
            .enumerate()
            .for_each(|(i, out)| {
                let start = (i / self.groups * share).min(self.batch);
                items(i % self.groups, start..self.batch.min(start + share), out);
            });
        for sum in sums.chunks_exact(out.len()) {
            out.iter_mut().zip(sum).for_each(|(out, &sum)| *out = *out + sum);
        }
        out
    }

    /// Fills `len` elements for each part; `f` gets room for patches.
    fn each_part<T: Gemm>(
        &self,
        len: usize,
        parallel: bool,
        f: impl Fn(usize, &mut [T], &mut Vec<T>) + Sync,
    ) -> Vec<T> {
        let mut out = vec![T::ZERO; self.parts() * len];
        if out.is_empty() {
            return out;
        }
        if parallel {
            out.par_chunks_exact_mut(len)
                .enumerate()
                .for_each_init(Vec::new, |patches, (part, out)| f(part, out, patches));
        } else {
            let mut patches = Vec::new();
            for (part, out) in out.chunks_exact_mut(len).enumerate() {
                f(part, out, &mut patches);
            }
        }
        out
    }

    /// Copies what the kernel meets at some positions.
    fn fill_patches<T: Gemm>(&self, patches: &mut [T], x: &[T], positions: Range<usize>, parallel: bool) {
        let taps = self.windows.taps();
        let step = self.windows.step();
        let fill = |(row, patch): (usize, &mut [T])| {
            let x = &x[row / taps * self.plane..][..self.plane];
            let mut filled = 0;
            self.windows
                .for_each_part(row % taps, positions.clone(), |part, first| {
                    patch[filled..part.start].fill(T::ZERO);
                    filled = part.end;
                    if step == 1 {
                        let len = part.len();
                        patch[part].copy_from_slice(&x[first..first + len]);
                    } else {
                        let elements = x[first..].iter().step_by(step);
                        patch[part]
                            .iter_mut()
                            .zip(elements)
                            .for_each(|(to, &from)| *to = from);
                    }
                });
            patch[filled..].fill(T::ZERO);
        };
        if parallel {
            patches
                .par_chunks_exact_mut(positions.len())
                .enumerate()
                .with_min_len(taps)
                .for_each(fill);
        } else {
            patches
                .chunks_exact_mut(positions.len())
                .enumerate()
                .for_each(fill);
        }
    }

    /// Adds each element of the patches to the element of the input that it stands for.
    fn add_patches<T: Gemm>(&self, patches: &[T], x: &mut [T], positions: Range<usize>, parallel: bool) {
        let taps = self.windows.taps();
        let step = self.windows.step();
        let add = |(x, patches): (&mut [T], &[T])| {
            for (tap, patch) in patches.chunks_exact(positions.len()).enumerate() {
                self.windows.for_each_part(tap, positions.clone(), |part, first| {
                    if step == 1 {
                        let len = part.len();
                        let elements = x[first..first + len].iter_mut();
                        elements
                            .zip(&patch[part])
                            .for_each(|(to, &from)| *to = *to + from);
                    } else {
                        let elements = x[first..].iter_mut().step_by(step);
                        elements
                            .zip(&patch[part])
                            .for_each(|(to, &from)| *to = *to + from);
                    }
                });
            }
        };
        let len = taps * positions.len();
        if parallel {
            x.par_chunks_exact_mut(self.plane)
                .zip(patches.par_chunks_exact(len))
                .for_each(add);
        } else {
            x.chunks_exact_mut(self.plane)
                .zip(patches.chunks_exact(len))
                .for_each(add);
        }
    }
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use crate::backend::flex::testing::{Random, data, same};
    use crate::op::ConvOptions;
    use crate::raw::Raw;
    use crate::shape::Dims;
    use crate::{DType, Error, Flex};

    struct Case {
        x: Raw<Flex>,
        weight: Raw<Flex>,
        grad: Raw<Flex>,
        options: ConvOptions,
        size: Dims,
        kernel: Dims,
        out: Dims,
    }

    fn case(random: &mut Random, axes: usize, dtype: DType) -> Result<Case, Error> {
        let mut dims = |most: usize| -> Dims { (0..axes).map(|_| random.up_to(most)).collect() };
        let (kernel, stride, dilation) = (dims(3), dims(3), dims(2));
        let (before, after) = (dims(3), dims(3));
        let room = dims(5);
        let size: Dims = (0..axes)
            .map(|i| (kernel[i] - 1) * dilation[i] + room[i])
            .collect();
        let out = (0..axes).map(|i| (room[i] - 1 + before[i] - 1 + after[i] - 1) / stride[i] + 1);
        let out: Dims = out.collect();
        let [batch, groups, ins, outs] = std::array::from_fn(|_| random.up_to(3));
        let shape = |a: usize, b: usize, rest: &Dims| [&[a, b], &rest[..]].concat();
        Ok(Case {
            x: random.view(&shape(batch, groups * ins, &size), dtype)?,
            weight: random.view(&shape(groups * outs, ins, &kernel), dtype)?,
            grad: random.view(&shape(batch, groups * outs, &out), dtype)?,
            options: ConvOptions {
                stride,
                padding: before.iter().zip(&after).map(|(&b, &a)| (b - 1, a - 1)).collect(),
                dilation,
                groups,
            },
            size,
            kernel,
            out,
        })
    }

    /// Row-major coordinates of everything in a box.
    fn all(sizes: &[usize]) -> Vec<Vec<usize>> {
        let longer = |all: Vec<Vec<usize>>, &size: &usize| {
            let each = all
                .into_iter()
                .flat_map(|at| (0..size).map(move |i| [&at[..], &[i]].concat()));
            each.collect()
        };
        sizes.iter().fold(vec![vec![]], longer)
    }

    fn position(at: &[usize], sizes: &[usize]) -> usize {
        at.iter().zip(sizes).fold(0, |sum, (&i, &size)| sum * size + i)
    }

    /// By the definition: a sum over input channels and the kernel.
    fn expected(case: &Case) -> Result<Vec<f64>, Error> {
        let (x, w) = (data(case.x.clone())?, data(case.weight.clone())?);
        let (xs, ws) = (case.x.shape(), case.weight.shape());
        let o = &case.options;
        let mut out = Vec::new();
        for at in all(&[&[xs[0], ws[0]], &case.out[..]].concat()) {
            let first = at[1] / (ws[0] / o.groups) * ws[1];
            let mut sum = 0.0;
            for tap in all(&ws[1..]) {
                let place = |i: usize| {
                    (at[2 + i] * o.stride[i] + tap[1 + i] * o.dilation[i]).checked_sub(o.padding[i].0)
                };
                let places = (0..case.size.len()).map(|i| place(i).filter(|&p| p < case.size[i]));
                if let Some(places) = places.collect::<Option<Vec<_>>>() {
                    let from = [&[at[0], first + tap[0]], &places[..]].concat();
                    let weight = [&at[1..2], &tap[..]].concat();
                    sum += x[position(&from, xs)] * w[position(&weight, ws)];
                }
            }
            out.push(sum);
        }
        Ok(out)
    }

    #[test]
    fn forward_is_the_sum_it_is_defined_by() -> Result<(), Error> {
        let mut random = Random::new(10);
        for round in 0..200 {
            for dtype in [DType::F32, DType::F64, DType::F16, DType::BF16] {
                let case = case(&mut random, 1 + round % 3, dtype)?;
                let out = case
                    .x
                    .clone()
                    .conv(case.weight.clone(), None, case.options.clone())?;
                same(&data(out)?, &expected(&case)?, dtype);
            }
        }
        Ok(())
    }

    fn dot(a: Raw<Flex>, b: Raw<Flex>) -> Result<f64, Error> {
        Ok(data(a)?.iter().zip(data(b)?).map(|(a, b)| a * b).sum())
    }

    /// `⟨conv(x, w), g⟩ = ⟨x, transpose(g, w)⟩ = ⟨w, weight_grad(x, g)⟩`; exact, since all numbers are small integers.
    #[test]
    fn the_gradients_are_adjoint() -> Result<(), Error> {
        let mut random = Random::new(11);
        for round in 0..300 {
            let Case {
                x,
                weight,
                grad,
                options,
                size,
                kernel,
                ..
            } = case(&mut random, 1 + round % 3, [DType::F32, DType::F64][round & 1])?;
            let out = x.clone().conv(weight.clone(), None, options.clone())?;
            let product = dot(out, grad.clone())?;
            let back = grad
                .clone()
                .conv_transpose_to(weight.clone(), options.clone(), size)?;
            assert_eq!(dot(x.clone(), back)?, product);
            let back = x.conv_weight_grad(grad, options, kernel)?;
            assert_eq!(dot(weight, back)?, product);
        }
        Ok(())
    }

    /// Large enough for several threads and several chunks of patches: by batch, and within one item.
    #[test]
    fn large_convolutions() -> Result<(), Error> {
        for (batch, stride) in [(1, 1), (3, 2)] {
            let mut random = Random::new(12);
            let mut options = ConvOptions::new(2);
            options.padding = smallvec![(1, 1), (2, 0)];
            options.stride = smallvec![1, stride];
            let x = random.view(&[batch, 16, 31, 31], DType::F64)?;
            let weight = random.view(&[16, 16, 3, 3], DType::F64)?;
            let out = x.clone().conv(weight.clone(), None, options.clone())?;
            let grad = random.view(out.shape(), DType::F64)?;
            let case = Case {
                x: x.clone(),
                weight: weight.clone(),
                grad: grad.clone(),
                options: options.clone(),
                size: smallvec![31, 31],
                kernel: smallvec![3, 3],
                out: Dims::from_slice(&out.shape()[2..]),
            };
            assert_eq!(data(out.clone())?, expected(&case)?);
            let product = dot(out, grad.clone())?;
            let back = grad
                .clone()
                .conv_transpose_to(weight.clone(), options.clone(), case.size)?;
            assert_eq!(dot(x.clone(), back)?, product);
            let back = x.conv_weight_grad(grad, options, case.kernel)?;
            assert_eq!(dot(weight, back)?, product);
        }
        Ok(())
    }

    #[test]
    fn nothing_convolved() -> Result<(), Error> {
        let mut random = Random::new(13);
        let mut options = ConvOptions::new(1);
        options.padding = smallvec![(1, 1)];
        let weight = random.view(&[2, 3, 2], DType::F32)?;
        let out = random
            .view(&[0, 3, 4], DType::F32)?
            .conv(weight.clone(), None, options.clone())?;
        assert_eq!(out.shape()[..], [0, 2, 5]);
        let padding = random
            .view(&[1, 3, 0], DType::F32)?
            .conv(weight.clone(), None, options.clone())?;
        assert_eq!(data(padding)?, [0.0; 2]);
        let back =
            random
                .view(&[1, 2, 1], DType::F32)?
                .conv_transpose_to(weight, options.clone(), smallvec![0])?;
        assert_eq!(back.shape()[..], [1, 3, 0]);
        let none =
            random
                .view(&[1, 0, 4], DType::F32)?
                .conv(random.view(&[2, 0, 2], DType::F32)?, None, options)?;
        assert_eq!(data(none)?, [0.0; 10]);
        Ok(())
    }
}
