use super::Raw;
use super::conv::conv_output_size;
use super::grid::GridSampleOptions;
use crate::backend::Backend;
use crate::backend::memory::room;
use crate::error::Error;
use crate::op::{self, ConvOptions};
use crate::shape::{Dims, Shape};

/// How a kernel moves whose elements are displaced, in `N` spatial axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeformConvOptions<const N: usize> {
    /// The distance between applications.
    pub stride: [usize; N],
    /// Zeros before and after.
    pub padding: [usize; N],
    /// The distance between the kernel's elements.
    pub dilation: [usize; N],
    /// Into how many independent parts the channels fall.
    pub weight_groups: usize,
    /// Into how many parts the channels of the input fall that have displacements of their own.
    pub offset_groups: usize,
}

impl<const N: usize> DeformConvOptions<N> {
    /// Options with the same padding before and after.
    pub fn new(
        stride: [usize; N],
        padding: [usize; N],
        dilation: [usize; N],
        weight_groups: usize,
        offset_groups: usize,
    ) -> Self {
        DeformConvOptions {
            stride,
            padding,
            dilation,
            weight_groups,
            offset_groups,
        }
    }
}

impl<const N: usize> Default for DeformConvOptions<N> {
    fn default() -> Self {
        DeformConvOptions::new([1; N], [0; N], [1; N], 1, 1)
    }
}

impl<B: Backend> Raw<B> {
    /// [`Raw::conv`] in two axes whose kernel's elements each lie elsewhere, by `offset`, and count as `mask` says: `self` is
    /// `[batch, in, height, width]`, `weight` `[out, in / weight groups, kernel…]`, `offset` `[batch, offset groups · kernel
    /// height · kernel width · 2, …]`, down and right of each element, `mask` `[batch, offset groups · kernel height ·
    /// kernel width, …]`.
    ///
    /// # Errors
    /// What the ops it consists of return.
    pub fn deform_conv2d(
        self,
        offset: Self,
        weight: Self,
        mask: Option<Self>,
        bias: Option<Self>,
        options: DeformConvOptions<2>,
    ) -> Result<Self, Error> {
        const NAME: &str = "deform_conv2d";
        let (&[batch, inputs, height, width], &[outputs, fan_in, kh, kw]) =
            (&self.shape()[..], &weight.shape()[..])
        else {
            let rank = if self.rank() == 4 {
                weight.rank()
            } else {
                self.rank()
            };
            return Err(Error::rank(NAME, rank, "images and weights of rank 4"));
        };
        let conv = ConvOptions {
            stride: Dims::from_slice(&options.stride),
            padding: options.padding.map(|n| (n, n)).into(),
            dilation: Dims::from_slice(&options.dilation),
            groups: options.weight_groups,
        };
        let size = conv_output_size(&[height, width], &[kh, kw], &conv);
        let (Some([rows, columns]), true) = (size.as_deref(), height * width > 0) else {
            let message = format!("{options:?} fit no such image and kernel: one is empty, or a number is 0");
            return Err(Error::shape(NAME, &[self.shape(), weight.shape()], message));
        };
        let (rows, columns) = (*rows, *columns);
        let [groups, parts] = [options.weight_groups, options.offset_groups];
        let divide = |n: usize, by: usize| by > 0 && n.is_multiple_of(by);
        if !(divide(inputs, groups) && divide(outputs, groups) && divide(inputs, parts))
            || fan_in != inputs / groups
        {
            let message = format!(
                "weights are [out, in / {groups} weight groups, kernel…], both divisible by them, and in by {parts} \
                 offset groups"
            );
            return Err(Error::shape(NAME, &[self.shape(), weight.shape()], message));
        }
        self.floats(NAME)?;
        for p in [&offset, &weight].into_iter().chain(&mask).chain(&bias) {
            self.same_dtype(NAME, p, "the image")?;
        }
        let taps = kh * kw; // of a tensor's shape
        let has = |p: &Self, what: &str, each: usize| {
            let channels = parts.checked_mul(taps).and_then(|n| n.checked_mul(each));
            match channels {
                Some(n) if p.shape()[..] == [batch, n, rows, columns] => Ok(()),
                _ => {
                    let message =
                        format!("the {what} must be [{batch}, {parts} · {taps} · {each}, {rows}, {columns}]");
                    Err(Error::shape(NAME, &[p.shape()], message))
                }
            }
        };
        has(&offset, "offsets", 2)?;
        mask.as_ref().map_or(Ok(()), |mask| has(mask, "mask", 1))?;
        let images = batch.checked_mul(parts).filter(|_| inputs > 0);
        let points = taps.checked_mul(rows).and_then(|n| n.checked_mul(columns));
        let (Some(images), Some(points)) = (images, points) else {
            let message = "there are no channels, or too many points";
            return Err(Error::shape(NAME, &[self.shape()], message));
        };
        let samples = op::checked(NAME, [images, inputs / parts, points].into(), self.dtype())?;
        let out = Shape::from([batch, outputs, rows, columns]);
        if op::checked(NAME, out.clone(), self.dtype())?.shape.num_elements() == 0 {
            return self.narrow(0, 0, 0)?.reshape(out);
        }
        room(NAME, &samples)?;
        let dtype = self.dtype();
        let offset = offset.widen()?.reshape([images, taps, 2, rows, columns])?;
        // Where the elements of the kernel lie, each `[images, kernel height, kernel width, rows, columns]`.
        let [y, x] = [0, 1].map(|axis| {
            let (count, kernel) = [(rows, kh), (columns, kw)][axis];
            let (stride, dilation) = (options.stride[axis], options.dilation[axis]);
            let at =
                |i: usize, tap: usize| (i * stride + tap * dilation) as f64 - options.padding[axis] as f64;
            let table = (0..kernel)
                .flat_map(|tap| (0..count).map(move |i| at(i, tap)))
                .collect();
            let mut shape = [1, kh, kw, rows, columns];
            shape[2 - axis] = 1;
            shape[4 - axis] = 1;
            let moved = offset.clone().narrow(2, axis, 1)?;
            let moved = moved.reshape([images, kh, kw, rows, columns])?;
            moved
                .add(offset.constant(table, shape)?)?
                .reshape([images, points])
        });
        let planes = self.widen()?.reshape([images, inputs / parts, height, width])?;
        let mut samples = planes.sampled(NAME, [y?, x?], GridSampleOptions::default())?;
        if let Some(mask) = mask {
            samples = samples.mul(mask.widen()?.reshape([images, 1, points])?)?;
        }
        let fan = fan_in * taps; // of a tensor's shape
        let samples = samples.reshape([batch, groups, fan, rows * columns])?;
        let weight = weight.widen()?.reshape([1, groups, outputs / groups, fan])?;
        let y = weight.matmul(samples)?.reshape(out)?;
        y.cast(dtype)?.add_channels(bias)
    }
}
