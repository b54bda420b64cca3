use super::Raw;
use super::conv::conv_output_size;
use crate::backend::Backend;
use crate::backend::memory::room;
use crate::error::Error;
use crate::op::{self, ConvOptions, ScatterMode};
use crate::shape::{Dims, Shape};

/// How blocks move over an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UnfoldOptions {
    /// The distance between blocks.
    pub stride: [usize; 2],
    /// Zeros before and after each axis.
    pub padding: [usize; 2],
    /// The distance between a block's elements.
    pub dilation: [usize; 2],
}

impl UnfoldOptions {
    /// Options with this stride, padding and dilation.
    pub fn new(stride: [usize; 2], padding: [usize; 2], dilation: [usize; 2]) -> Self {
        UnfoldOptions {
            stride,
            padding,
            dilation,
        }
    }
}

impl Default for UnfoldOptions {
    fn default() -> Self {
        UnfoldOptions::new([1; 2], [0; 2], [1; 2])
    }
}

/// Windows and blocks.
///
/// # Errors
/// Each returns what the ops it consists of do.
impl<B: Backend> Raw<B> {
    /// The windows of `size` elements along an axis, one at each `step`-th: the axis counts the windows, and a new last one
    /// holds their elements. Of an axis shorter than a window there are none.
    pub fn unfold(self, axis: usize, size: usize, step: usize) -> Result<Self, Error> {
        const NAME: &str = "unfold";
        let len = self.size(NAME, axis)?;
        if step == 0 {
            return Err(Error::argument(NAME, "the step is 0"));
        }
        let windows = len.checked_sub(size).map_or(0, |room| room / step + 1);
        let shape = self.shape().clone().with(axis, windows);
        let shape: Shape = shape.iter().copied().chain([size]).collect();
        let meta = op::checked(NAME, shape.clone(), self.dtype())?;
        if shape.num_elements() == 0 {
            return self.narrow(axis, 0, 0)?.reshape(shape);
        }
        room(NAME, &meta)?;
        let index = self.lattice(NAME, len, [windows, step], [size, 1])?;
        let last = self.rank();
        self.take(axis, index)?.movedim([axis + 1], [last])
    }

    /// The blocks of an image `[batch, channels, height, width]`, each as a column: `[batch, channels · kernel height ·
    /// kernel width, blocks]`.
    pub fn unfold4d(self, kernel_size: [usize; 2], options: UnfoldOptions) -> Result<Self, Error> {
        const NAME: &str = "unfold4d";
        let &[batch, channels, height, width] = &self.shape()[..] else {
            return Err(Error::rank(
                NAME,
                self.rank(),
                "rank 4, [batch, channels, height, width]",
            ));
        };
        let blocks = Blocks::new(NAME, [height, width], kernel_size, options)?;
        let columns = blocks.columns(NAME, batch, channels)?;
        let meta = op::checked(NAME, columns.clone(), self.dtype())?;
        if columns.num_elements() == 0 {
            return self.reshape(columns);
        }
        room(NAME, &meta)?;
        let zero = self.dtype().zero();
        let [rows, across] = blocks.taps(NAME, &self)?;
        let padded = self.pad(options.padding.map(|n| (n, n)), zero)?;
        // [batch, channels, kernel height, rows of blocks, kernel width, columns of blocks]
        let taken = padded.take(2, rows)?.take(4, across)?;
        taken.permute([0, 1, 2, 4, 3, 5])?.reshape(columns)
    }

    /// The adjoint of [`Raw::unfold4d`]: an image `[batch, channels, height, width]` of this size, each element of which is
    /// the sum of those that the blocks hold of it.
    pub fn fold4d(
        self,
        output_size: [usize; 2],
        kernel_size: [usize; 2],
        options: UnfoldOptions,
    ) -> Result<Self, Error> {
        const NAME: &str = "fold4d";
        let &[batch, columns, _] = &self.shape()[..] else {
            let expected = "rank 3, [batch, channels · kernel height · kernel width, blocks]";
            return Err(Error::rank(NAME, self.rank(), expected));
        };
        let blocks = Blocks::new(NAME, output_size, kernel_size, options)?;
        let [[kh, kw], [rows, across]] = [kernel_size, blocks.count];
        let channels = columns / kh.saturating_mul(kw); // the kernel has elements
        let expected = blocks.columns(NAME, batch, channels)?;
        if expected != *self.shape() {
            let message = format!("these blocks of {output_size:?} are {expected}");
            return Err(Error::shape(NAME, &[self.shape()], message));
        }
        let [height, width] = output_size;
        let image = Shape::from([batch, channels, height, width]);
        let meta = op::checked(NAME, image.clone(), self.dtype())?;
        if image.num_elements() == 0 {
            return self.narrow(1, 0, 0)?.reshape(image);
        }
        room(NAME, &meta)?;
        let dtype = self.dtype();
        let [ph, pw] = [0, 1].map(|i| output_size[i] + 2 * options.padding[i]); // `Blocks::new` has added them up
        let [row_taps, column_taps] = blocks.taps(NAME, &self)?;
        let x = self.widen()?.reshape([batch, channels, kh, kw, rows, across])?;
        let x = x
            .permute([0, 1, 2, 4, 3, 5])?
            .reshape([batch, channels, kh * rows, kw * across])?;
        let lines = x.added_at(3, column_taps, pw)?.added_at(2, row_taps, ph)?;
        let [top, left] = options.padding;
        lines.narrow(2, top, height)?.narrow(3, left, width)?.cast(dtype)
    }

    /// Zeros of `len` elements along an axis, to which these are added at the places that `index` names.
    fn added_at(self, axis: usize, index: Self, len: usize) -> Result<Self, Error> {
        let shape = self.shape().clone().with(axis, len);
        let zeros = Self::zeros(shape, self.dtype(), &self.device())?;
        zeros.select_assign(axis, index.ravel()?, self, ScatterMode::Add)
    }
}

/// The blocks of an image.
struct Blocks {
    kernel: [usize; 2],
    options: UnfoldOptions,
    /// How many there are along each axis.
    count: [usize; 2],
}

impl Blocks {
    fn new(
        op: &'static str,
        size: [usize; 2],
        kernel: [usize; 2],
        options: UnfoldOptions,
    ) -> Result<Self, Error> {
        let conv = ConvOptions {
            stride: Dims::from_slice(&options.stride),
            padding: options.padding.map(|n| (n, n)).into(),
            dilation: Dims::from_slice(&options.dilation),
            groups: 1,
        };
        match conv_output_size(&size, &kernel, &conv).as_deref() {
            Some(&[rows, across]) => Ok(Blocks {
                kernel,
                options,
                count: [rows, across],
            }),
            _ => {
                let message = format!(
                    "blocks of {kernel:?} with {options:?} fit no image of {size:?}: one is larger than the padded \
                     image, or a number is 0"
                );
                Err(Error::argument(op, message))
            }
        }
    }

    /// The shape of the blocks as columns.
    fn columns(&self, op: &'static str, batch: usize, channels: usize) -> Result<Shape, Error> {
        let product = |sizes: &[usize]| sizes.iter().try_fold(1usize, |n, &size| n.checked_mul(size));
        let [kh, kw] = self.kernel;
        match (product(&[channels, kh, kw]), product(&self.count)) {
            (Some(column), Some(blocks)) => Ok(Shape::from([batch, column, blocks])),
            _ => Err(Error::argument(op, "the result exceeds the address space")),
        }
    }

    /// For each axis `[kernel, count]`, the place in the padded image of each element of each block.
    fn taps<B: Backend>(&self, op: &'static str, like: &Raw<B>) -> Result<[Raw<B>; 2], Error> {
        let axis = |i: usize| {
            let (kernel, count) = (self.kernel[i], self.count[i]);
            let (stride, dilation) = (self.options.stride[i], self.options.dilation[i]);
            let end = (count - 1) * stride + (kernel - 1) * dilation + 1;
            like.lattice(op, end, [kernel, dilation], [count, stride])
        };
        Ok([axis(0)?, axis(1)?])
    }
}
