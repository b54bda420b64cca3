use smallvec::SmallVec;

use super::Raw;
use crate::backend::Backend;
use crate::backend::memory::room;
use crate::element::DType;
use crate::error::Error;
use crate::op::{self, HasMeta, Op, PoolOp, ScatterMode};
use crate::shape::{Dims, Shape};

/// How windows move over an input, in as many spatial axes as it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolOptions {
    /// The windows.
    pub windows: op::PoolOptions,
    /// Whether one more window may overhang the padded input, where it starts in the input or in the padding before it.
    /// What it lacks is never the greatest, and not counted by a mean.
    pub ceil_mode: bool,
}

impl From<op::PoolOptions> for PoolOptions {
    fn from(windows: op::PoolOptions) -> Self {
        PoolOptions {
            windows,
            ceil_mode: false,
        }
    }
}

impl PoolOptions {
    /// The size of what a pool gives for an input of this size; `None` where it has none.
    pub(crate) fn output_size(&self, input: &[usize]) -> Option<Dims> {
        let windows = self.for_max(input);
        let one = |(i, &size): (usize, &usize)| {
            let dilation = *windows.dilation.get(i).filter(|&&dilation| dilation > 0)?;
            op::windows(
                size,
                *windows.kernel.get(i)?,
                *windows.stride.get(i)?,
                *windows.padding.get(i)?,
                dilation,
            )
        };
        input.iter().enumerate().map(one).collect()
    }

    /// The windows, for which what they overhang by is padding.
    fn for_max(&self, input: &[usize]) -> op::PoolOptions {
        let mut windows = self.cut(input);
        let overhang = self.overhang(&windows, input);
        pad_after(&mut windows, &overhang);
        windows
    }

    /// As [`PoolOptions::for_max`], and zeros to put around the input first: those that count, beside an overhang that
    /// does not.
    fn for_mean(&self, input: &[usize]) -> (op::PoolOptions, Option<Pads>) {
        let mut windows = self.cut(input);
        let overhang = self.overhang(&windows, input);
        let mut zeros = None;
        if windows.count_include_pad && overhang.iter().any(|&n| n > 0) {
            let none = smallvec::smallvec![(0, 0); windows.padding.len()];
            zeros = Some(std::mem::replace(&mut windows.padding, none));
            windows.count_include_pad = false;
        }
        pad_after(&mut windows, &overhang);
        (windows, zeros)
    }

    /// The windows, of which one that is larger than the padded input, and so the only one, ends where that does.
    fn cut(&self, input: &[usize]) -> op::PoolOptions {
        let mut windows = self.windows.clone();
        for (i, lacks) in self.overhang(&windows, input).into_iter().enumerate() {
            if lacks > 0 && span(&windows, i) > padded(&windows, i, input[i]) {
                let padded = padded(&windows, i, input[i]).unwrap_or(1);
                windows.kernel[i] = (padded - 1) / windows.dilation[i] + 1;
                windows.stride[i] = windows.stride[i].max(padded);
            }
        }
        windows
    }

    /// By how much the last window of each axis overhangs.
    fn overhang(&self, windows: &op::PoolOptions, input: &[usize]) -> Dims {
        let one = |(i, &size): (usize, &usize)| {
            let (span, padded) = (span(windows, i)?, padded(windows, i, size)?);
            let (stride, (before, _)) = (*windows.stride.get(i)?, *windows.padding.get(i)?);
            let next = match padded.checked_sub(span) {
                Some(room) => (room.checked_div(stride)? + 1).checked_mul(stride)?,
                None => 0,
            };
            let lacks = span.checked_sub(padded.checked_sub(next)?)?;
            (self.ceil_mode && next < size + before && lacks < stride).then_some(lacks)
        };
        let one = |axis| one(axis).unwrap_or(0);
        input.iter().enumerate().map(one).collect()
    }
}

/// How far a window reaches along an axis; `None` where it has no elements, or on overflow.
fn span(windows: &op::PoolOptions, i: usize) -> Option<usize> {
    let steps = windows.kernel.get(i)?.checked_sub(1)?;
    let dilation = *windows.dilation.get(i).filter(|&&dilation| dilation > 0)?;
    steps.checked_mul(dilation)?.checked_add(1)
}

/// The size of an axis with its padding; `None` on overflow.
fn padded(windows: &op::PoolOptions, i: usize, size: usize) -> Option<usize> {
    let (before, after) = *windows.padding.get(i)?;
    size.checked_add(before)?.checked_add(after)
}

/// What stands before and after each axis.
type Pads = SmallVec<[(usize, usize); 2]>;

/// Pools of `[batch, channels, spatial…]`.
///
/// # Errors
/// Each returns what [`op::run`] does.
impl<B: Backend> Raw<B> {
    /// A pooling op.
    pub fn pool(self, op: PoolOp) -> Result<Self, Error> {
        op::run::<B>(Op::Pool(Box::new(op), self.0)).map(Raw)
    }

    /// The greatest element of each window; NaN if any is.
    pub fn max_pool(self, options: impl Into<PoolOptions>) -> Result<Self, Error> {
        Ok(self.max_pool_with_indices(options)?.0)
    }

    /// The greatest element of each window, and where it is in the flattened spatial axes.
    pub fn max_pool_with_indices(self, options: impl Into<PoolOptions>) -> Result<(Self, Self), Error> {
        let windows = options.into().for_max(spatial(&self));
        let indices = self.clone().pool(PoolOp::MaxIndices(windows))?;
        let out = indices.shape().clone();
        let flat = indices.clone().reshape(plane(&out))?;
        let from = plane(self.shape());
        Ok((self.reshape(from)?.gather(2, flat)?.reshape(out)?, indices))
    }

    /// The gradient of [`Raw::max_pool_with_indices`] in its input, which is `self`, for one of its values.
    pub fn max_pool_with_indices_backward(
        self,
        options: impl Into<PoolOptions>,
        output_grad: Self,
        indices: Self,
    ) -> Result<Self, Error> {
        const NAME: &str = "max_pool_with_indices_backward";
        self.pooled(NAME, &options.into(), &output_grad)?;
        if indices.shape() != output_grad.shape() {
            let shapes = [output_grad.shape(), indices.shape()];
            return Err(Error::shape(
                NAME,
                &shapes,
                "gradient and indices must have one shape",
            ));
        }
        let out = plane(indices.shape());
        let zeros = self.zeros_like()?.reshape(plane(self.shape()))?;
        let (index, grad) = (indices.reshape(out)?, output_grad.reshape(out)?);
        zeros
            .scatter(2, index, grad, ScatterMode::Add)?
            .reshape(self.shape().clone())
    }

    /// The mean of each window; padding counts as zeros, or not at all.
    pub fn avg_pool(self, options: impl Into<PoolOptions>) -> Result<Self, Error> {
        let (windows, zeros) = options.into().for_mean(spatial(&self));
        let x = match zeros {
            Some(zeros) => self.pad(zeros, 0.0)?,
            None => self,
        };
        x.pool(PoolOp::Avg(windows))
    }

    /// The gradient of [`Raw::avg_pool`] in its input, which is `self`, for one of its result.
    pub fn avg_pool_backward(self, grad: Self, options: impl Into<PoolOptions>) -> Result<Self, Error> {
        let options = options.into();
        self.pooled("avg_pool_backward", &options, &grad)?;
        let (windows, zeros) = options.for_mean(spatial(&self));
        let mut size = Dims::from_slice(spatial(&self));
        let Some(zeros) = zeros else {
            return grad.pool(PoolOp::AvgGrad(windows, size));
        };
        for (size, (before, after)) in size.iter_mut().zip(&zeros) {
            *size += before + after; // `overhang` has added them up
        }
        let padded = grad.pool(PoolOp::AvgGrad(windows, size))?;
        zeros.iter().enumerate().try_fold(padded, |x, (i, &(before, _))| {
            x.narrow(i + 2, before, self.shape()[i + 2])
        })
    }

    /// Windows of which each spatial axis has a given number, and their means: window `i` of `m` over `n` elements goes
    /// from `⌊i n / m⌋` to `⌈(i + 1) n / m⌉`.
    pub fn adaptive_avg_pool(self, output_size: &[usize]) -> Result<Self, Error> {
        const NAME: &str = "adaptive_avg_pool";
        let axes = output_size.len();
        if axes == 0 || self.rank() != axes + 2 {
            let expected = format!("batch, channels and {axes} spatial axes, one or more");
            return Err(Error::rank(NAME, self.rank(), expected));
        }
        let out: Shape = self.shape()[..2].iter().chain(output_size).copied().collect();
        if spatial(&self).contains(&0) || output_size.contains(&0) {
            let message = "there are no means of nothing, nor 0 of something";
            return Err(Error::shape(NAME, &[self.shape(), &out], message));
        }
        self.floats(NAME)?;
        let meta = op::checked(NAME, out.clone(), self.dtype())?;
        if out.num_elements() == 0 {
            return self.reshape(out);
        }
        room(NAME, &meta)?;
        let dtype = self.dtype();
        let wide = self.widen()?;
        let means = (0..axes).try_fold(wide, |x, i| x.means(i + 2, output_size[i]))?;
        means.cast(dtype)
    }

    /// The means of `m` windows along an axis.
    fn means(self, axis: usize, m: usize) -> Result<Self, Error> {
        const NAME: &str = "adaptive_avg_pool";
        let n = self.size(NAME, axis)?;
        if n == m {
            return Ok(self);
        }
        if n % m == 0 {
            let mut shape = self.shape().to_vec();
            shape.splice(axis..=axis, [m, n / m]);
            return self.reshape(shape)?.mean_dim(axis + 1)?.squeeze_dim(axis + 1);
        }
        room(NAME, &op::checked(NAME, [m].into(), DType::F64)?)?;
        let place = |i: usize, up: usize| ((i as u128 * n as u128 + up as u128) / m as u128) as usize;
        let bounds = |i| (place(i, 0), place(i + 1, m - 1));
        let lens = || (0..m).map(|i| bounds(i).1 - bounds(i).0);
        let (longest, shortest) = (lens().max().unwrap_or(0), lens().min().unwrap_or(0));
        // Those of shorter windows repeat their last element, which does not count.
        let taps = (0..m).flat_map(|i| {
            (bounds(i).0..)
                .take(longest)
                .map(move |at| at.min(bounds(i).1 - 1))
        });
        room(NAME, &op::checked(NAME, [m, longest].into(), DType::I32)?)?;
        let index = self.places(NAME, n, taps)?.reshape([m, longest])?;
        let mut windows = self.take(axis, index)?;
        let mut shape: Dims = smallvec::smallvec![1; windows.rank()];
        shape[axis] = m;
        let lens = lens().map(|len| len as f64).collect();
        let lens = windows.constant(lens, shape)?;
        if shortest < longest {
            let missing = windows.positions(axis + 1)?.cast(lens.dtype())?;
            windows = windows.mask_where(missing.greater_equal(lens.clone())?, 0.0)?;
        }
        windows.sum_dim(axis + 1)?.div(lens)?.squeeze_dim(axis + 1)
    }

    /// An error if `grad` has not the shape and the element type of what a pool of this tensor gives.
    fn pooled(&self, op: &'static str, options: &PoolOptions, grad: &Self) -> Result<(), Error> {
        self.same_dtype(op, grad, "the input")?;
        let size = options.output_size(spatial(self));
        let out = size.filter(|_| self.rank() >= 3).map(|size| {
            let sizes = self.shape()[..2].iter().copied();
            sizes.chain(size).collect::<Shape>()
        });
        match out {
            Some(out) if out == *grad.shape() => Ok(()),
            Some(out) => {
                let message = format!("the gradient must have the shape of the pool's result, {out}");
                Err(Error::shape(op, &[self.shape(), grad.shape()], message))
            }
            None => {
                let message = "the windows fit no such input";
                Err(Error::shape(op, &[self.shape()], message))
            }
        }
    }
}

/// The sizes after batch and channels.
pub(super) fn spatial<T: HasMeta>(x: &T) -> &[usize] {
    x.shape().get(2..).unwrap_or_default()
}

/// The spatial axes joined into one.
fn plane(shape: &[usize]) -> [usize; 3] {
    [shape[0], shape[1], shape[2..].iter().product()]
}

fn pad_after(windows: &mut op::PoolOptions, more: &[usize]) {
    for ((_, after), more) in windows.padding.iter_mut().zip(more) {
        *after += more; // `overhang` has added them up
    }
}
