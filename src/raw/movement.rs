use smallvec::SmallVec;

use super::Raw;
use crate::backend::Backend;
use crate::element::DType;
use crate::error::Error;
use crate::op::{self, MoveOp, Op, PadMode, SliceRange};
use crate::shape::{Dims, Shape};

/// More axes than any tensor has; an argument that asks for more is a mistake.
const MAX_NEW_AXES: usize = 1 << 10;

/// Rearrangements.
///
/// # Errors
/// Each returns what [`op::run`] does.
impl<B: Backend> Raw<B> {
    /// A movement op.
    pub fn movement(self, op: MoveOp) -> Result<Self, Error> {
        op::run::<B>(Op::Move(op, self.0)).map(Raw)
    }

    /// Another shape for the same elements.
    pub fn reshape(self, shape: impl Into<Shape>) -> Result<Self, Error> {
        let shape = shape.into();
        if *self.shape() == shape {
            Ok(self)
        } else {
            self.movement(MoveOp::Reshape(shape))
        }
    }

    /// Every axis joined into one.
    pub(crate) fn ravel(self) -> Result<Self, Error> {
        let len = self.shape().num_elements();
        self.reshape([len])
    }

    /// Axis `i` of the result is axis `axes[i]` of the input.
    pub fn permute(self, axes: impl AsRef<[usize]>) -> Result<Self, Error> {
        self.movement(MoveOp::Permute(axes.as_ref().into()))
    }

    /// Exchanges two axes.
    pub fn swap_dims(self, a: usize, b: usize) -> Result<Self, Error> {
        let mut axes: Dims = (0..self.rank()).collect();
        self.size("swap_dims", a)?;
        self.size("swap_dims", b)?;
        axes.swap(a, b);
        self.permute(&axes)
    }

    /// [`Raw::transpose`] of a matrix.
    pub fn t(self) -> Result<Self, Error> {
        match self.rank() {
            2 => self.transpose(),
            rank => Err(Error::rank("t", rank, "a matrix, rank 2; `transpose` takes more")),
        }
    }

    /// Exchanges the last two axes.
    pub fn transpose(self) -> Result<Self, Error> {
        match self.rank() {
            rank if rank < 2 => Err(Error::rank("transpose", rank, "rank 2 or more")),
            rank => self.swap_dims(rank - 2, rank - 1),
        }
    }

    /// Stretches axes of size 1 to the given sizes. New axes come first.
    pub fn expand(self, shape: impl Into<Shape>) -> Result<Self, Error> {
        let shape = shape.into();
        if *self.shape() == shape {
            return Ok(self);
        }
        let x = if self.rank() < shape.rank() {
            self.unsqueeze(shape.rank())?
        } else {
            self
        };
        x.movement(MoveOp::Expand(shape))
    }

    /// `len` elements from `start` along an axis.
    pub fn narrow(self, axis: usize, start: usize, len: usize) -> Result<Self, Error> {
        self.size("narrow", axis)?;
        let sizes = self.shape().iter();
        let mut ranges: SmallVec<[SliceRange; 4]> = sizes.map(|&size| SliceRange::new(0, size)).collect();
        ranges[axis] = SliceRange::new(start, start.saturating_add(len));
        self.movement(MoveOp::Slice(ranges))
    }

    /// Reverses axes.
    pub fn flip(self, axes: impl AsRef<[usize]>) -> Result<Self, Error> {
        self.movement(MoveOp::Flip(axes.as_ref().into()))
    }

    /// Adds elements around the last axes: `padding` holds (before, after) for each of them, the last axis last. The mode
    /// may be a number.
    pub fn pad(self, padding: impl AsRef<[(usize, usize)]>, mode: impl Into<PadMode>) -> Result<Self, Error> {
        let padding = padding.as_ref();
        let whole = self.rank().saturating_sub(padding.len());
        let pads = std::iter::repeat_n((0, 0), whole).chain(padding.iter().copied());
        self.movement(MoveOp::Pad(pads.collect(), mode.into()))
    }

    /// Repeats the whole tensor along each axis.
    pub fn repeat(self, times: &[usize]) -> Result<Self, Error> {
        self.movement(MoveOp::Repeat(Dims::from_slice(times)))
    }

    /// Repeats the whole tensor along one axis.
    pub fn repeat_dim(self, axis: usize, times: usize) -> Result<Self, Error> {
        self.size("repeat", axis)?;
        let mut all: Dims = smallvec::smallvec![1; self.rank()];
        all[axis] = times;
        self.repeat(&all)
    }

    /// Joins tensors along an axis.
    pub fn cat(xs: Vec<Self>, axis: usize) -> Result<Self, Error> {
        op::run::<B>(Op::Cat(xs.into_iter().map(|x| x.0).collect(), axis)).map(Raw)
    }

    /// Joins tensors along a new axis.
    pub fn stack(xs: Vec<Self>, axis: usize) -> Result<Self, Error> {
        if let Some(odd) = xs.iter().find(|x| x.shape() != xs[0].shape()) {
            let message = "the tensors must have one shape";
            return Err(Error::shape("stack", &[xs[0].shape(), odd.shape()], message));
        }
        let xs: Result<Vec<_>, _> = xs.into_iter().map(|x| x.unsqueeze_dim(axis)).collect();
        xs.and_then(|xs| Self::cat(xs, axis))
            .map_err(|error| error.of("stack"))
    }

    /// Inserts an axis of size 1 at place `axis` of the result.
    pub fn unsqueeze_dim(self, axis: usize) -> Result<Self, Error> {
        self.unsqueeze_dims(&[axis])
    }

    /// Inserts axes of size 1, at these places of the result.
    pub fn unsqueeze_dims(self, axes: &[usize]) -> Result<Self, Error> {
        let rank = self.rank() + axes.len();
        op::distinct_axes("unsqueeze", axes, rank)?;
        let mut old = self.shape().iter().copied();
        let dims: Dims = (0..rank)
            .map(|axis| {
                if axes.contains(&axis) {
                    1
                } else {
                    old.next().unwrap_or(1)
                }
            })
            .collect();
        self.reshape(dims)
    }

    /// Inserts axes of size 1 before the first, up to this rank.
    pub fn unsqueeze(self, rank: usize) -> Result<Self, Error> {
        let Some(more) = rank.checked_sub(self.rank()) else {
            return Err(Error::rank(
                "unsqueeze",
                self.rank(),
                format!("at most rank {rank}"),
            ));
        };
        if more > MAX_NEW_AXES {
            let message = format!("{more} new axes are more than the {MAX_NEW_AXES} that one call adds");
            return Err(Error::argument("unsqueeze", message));
        }
        let dims: Dims = std::iter::repeat_n(1, more)
            .chain(self.shape().iter().copied())
            .collect();
        self.reshape(dims)
    }

    /// Removes every axis of size 1.
    pub fn squeeze(self) -> Result<Self, Error> {
        let dims: Dims = self.shape().iter().copied().filter(|&size| size != 1).collect();
        self.reshape(dims)
    }

    /// Removes an axis of size 1.
    pub fn squeeze_dim(self, axis: usize) -> Result<Self, Error> {
        self.squeeze_dims(&[axis])
    }

    /// Removes axes of size 1.
    pub fn squeeze_dims(self, axes: &[usize]) -> Result<Self, Error> {
        op::distinct_axes("squeeze", axes, self.rank())?;
        if let Some(axis) = axes.iter().find(|&&axis| self.shape()[axis] != 1) {
            return Err(Error::shape(
                "squeeze",
                &[self.shape()],
                format!("axis {axis} is not of size 1"),
            ));
        }
        let kept = |(axis, &size): (usize, &usize)| (!axes.contains(&axis)).then_some(size);
        let dims: Dims = self.shape().iter().enumerate().filter_map(kept).collect();
        self.reshape(dims)
    }

    /// Joins the axes `start..=end` into one.
    pub fn flatten(self, start: usize, end: usize) -> Result<Self, Error> {
        self.size("flatten", start)?;
        self.size("flatten", end)?;
        if start > end {
            return Err(Error::argument(
                "flatten",
                format!("axes {start}..={end} are none"),
            ));
        }
        let shape = self.shape();
        let joined = shape[start..=end].iter().product();
        let dims: Dims = shape[..start]
            .iter()
            .copied()
            .chain([joined])
            .chain(shape[end + 1..].iter().copied())
            .collect();
        self.reshape(dims)
    }

    /// Moves axes `from` to the places `to`; the others keep their order.
    pub fn movedim(self, from: impl AsRef<[usize]>, to: impl AsRef<[usize]>) -> Result<Self, Error> {
        let (from, to) = (from.as_ref(), to.as_ref());
        if from.len() != to.len() {
            return Err(Error::argument(
                "movedim",
                format!("{} axes to {} places", from.len(), to.len()),
            ));
        }
        op::distinct_axes("movedim", from, self.rank())?;
        op::distinct_axes("movedim", to, self.rank())?;
        let mut others = (0..self.rank()).filter(|axis| !from.contains(axis));
        let axes: Dims = (0..self.rank())
            .map(|place| match to.iter().position(|&p| p == place) {
                Some(i) => from[i],
                None => others.next().unwrap_or(place),
            })
            .collect();
        self.permute(&axes)
    }

    /// Parts of these sizes along an axis, in order.
    pub fn split_with_sizes(self, sizes: &[usize], axis: usize) -> Result<Vec<Self>, Error> {
        let size = self.size("split", axis)?;
        if sizes.iter().try_fold(0usize, |n, &part| n.checked_add(part)) != Some(size) {
            let message = format!("the sizes {sizes:?} do not add up to axis {axis}");
            return Err(Error::shape("split", &[self.shape()], message));
        }
        let mut parts = Vec::with_capacity(sizes.len());
        self.split_by_halves(sizes, axis, &mut parts)?;
        Ok(parts)
    }

    /// The gradient of a part is zeros around it: of half the axis again and again they are `n log n` numbers for `n`
    /// parts, of the whole axis `n²`.
    fn split_by_halves(self, sizes: &[usize], axis: usize, parts: &mut Vec<Self>) -> Result<(), Error> {
        if sizes.len() < 2 {
            parts.extend(sizes.first().map(|_| self));
            return Ok(());
        }
        let (first, second) = sizes.split_at(sizes.len() / 2);
        let [before, after] = [first, second].map(|sizes| sizes.iter().sum());
        let half = self.clone().narrow(axis, 0, before)?;
        half.split_by_halves(first, axis, parts)?;
        let half = self.narrow(axis, before, after)?;
        half.split_by_halves(second, axis, parts)
    }

    /// Parts of one size along an axis; the last may be shorter.
    pub fn split(self, part: usize, axis: usize) -> Result<Vec<Self>, Error> {
        let size = self.size("split", axis)?;
        if part == 0 {
            return Err(Error::argument("split", "the size of a part is 0"));
        }
        let sizes: Vec<usize> = (0..size)
            .step_by(part)
            .map(|start| part.min(size - start))
            .collect();
        self.split_with_sizes(&sizes, axis)
    }

    /// At most `chunks` parts of one size along an axis; the last may be shorter.
    pub fn chunk(self, chunks: usize, axis: usize) -> Result<Vec<Self>, Error> {
        let size = self.size("chunk", axis)?;
        if chunks == 0 {
            return Err(Error::argument("chunk", "the number of chunks is 0"));
        }
        self.split(size.div_ceil(chunks).max(1), axis)
    }

    /// The slices of size 1 along an axis, in order.
    pub fn iter_dim(
        self,
        axis: usize,
    ) -> Result<impl DoubleEndedIterator<Item = Self> + ExactSizeIterator, Error> {
        Ok(self.split(1, axis)?.into_iter())
    }

    /// Shifts the elements along one axis; those pushed over an end come in at the other.
    pub fn roll_dim(self, shift: isize, axis: usize) -> Result<Self, Error> {
        self.roll(&[shift], &[axis])
    }

    /// Shifts the elements along axes; those pushed over an end come in at the other.
    pub fn roll(self, shifts: &[isize], axes: &[usize]) -> Result<Self, Error> {
        if shifts.len() != axes.len() {
            return Err(Error::argument(
                "roll",
                format!("{} shifts for {} axes", shifts.len(), axes.len()),
            ));
        }
        shifts.iter().zip(axes).try_fold(self, |x, (&shift, &axis)| {
            let size = x.size("roll", axis)?;
            if size == 0 {
                return Ok(x);
            }
            let wrapped = shift.rem_euclid(size as isize) as usize;
            if wrapped == 0 {
                return Ok(x);
            }
            let tail = x.clone().narrow(axis, size - wrapped, wrapped)?;
            Self::cat(vec![tail, x.narrow(axis, 0, size - wrapped)?], axis)
        })
    }

    /// Zeros below diagonal `diagonal` of the last two axes; 0 is the main one, positive ones lie above it.
    pub fn triu(self, diagonal: i64) -> Result<Self, Error> {
        self.zero_where("triu", |places| places.lower(as_i32(diagonal)))
    }

    /// Zeros above diagonal `diagonal` of the last two axes; 0 is the main one, positive ones lie above it.
    pub fn tril(self, diagonal: i64) -> Result<Self, Error> {
        self.zero_where("tril", |places| places.greater(as_i32(diagonal)))
    }

    /// False in the upper triangle of the last two axes, from diagonal `offset` on, and true below it.
    pub fn triu_mask(shape: impl Into<Shape>, offset: i64, device: &B::Device) -> Result<Self, Error> {
        Self::mask_of("triu_mask", shape.into(), device, |places| {
            places.lower(as_i32(offset))
        })
    }

    /// False in the lower triangle of the last two axes, up to diagonal `offset`, and true above it.
    pub fn tril_mask(shape: impl Into<Shape>, offset: i64, device: &B::Device) -> Result<Self, Error> {
        Self::mask_of("tril_mask", shape.into(), device, |places| {
            places.greater(as_i32(offset))
        })
    }

    /// False on diagonal `offset` of the last two axes, and true beside it.
    pub fn diag_mask(shape: impl Into<Shape>, offset: i64, device: &B::Device) -> Result<Self, Error> {
        Self::mask_of("diag_mask", shape.into(), device, |places| {
            places.not_equal(as_i32(offset))
        })
    }

    fn mask_of(
        op: &'static str,
        shape: Shape,
        device: &B::Device,
        outside: impl FnOnce(Self) -> Result<Self, Error>,
    ) -> Result<Self, Error> {
        // One element, stretched: the shape is checked, and nothing as large allocated.
        let like = Self::zeros([1], DType::I32, device)?.expand_from_one(op, shape.clone())?;
        outside(like.columns_minus_rows(op)?)?.expand(shape)
    }

    fn expand_from_one(self, op: &'static str, shape: Shape) -> Result<Self, Error> {
        let x = self.reshape(vec![1; shape.rank()])?;
        x.movement(MoveOp::Expand(shape)).map_err(|error| error.of(op))
    }

    /// The main diagonal of the last two axes, which become one.
    pub fn diag(self) -> Result<Self, Error> {
        let rank = self.rank();
        if rank < 2 {
            return Err(Error::rank("diag", rank, "rank 2 or more"));
        }
        let (rows, columns) = (self.shape()[rank - 2], self.shape()[rank - 1]);
        let n = rows.min(columns);
        // Beside an axis of size 0 there is no bound on the others.
        if self.shape().num_elements() == 0 {
            let mut shape = self.shape().to_vec();
            shape.truncate(rank - 2);
            shape.push(n);
            return self.reshape(shape);
        }
        let square = self.narrow(rank - 2, 0, n)?.narrow(rank - 1, 0, n)?;
        let shape = square.shape().clone().with(rank - 1, 1);
        let index = square.positions(rank - 2)?.expand(shape)?;
        square.gather(rank - 1, index)?.squeeze_dim(rank - 1)
    }

    /// `column - row` of each place in the last two axes.
    pub(crate) fn columns_minus_rows(&self, op: &'static str) -> Result<Self, Error> {
        let rank = self.rank();
        if rank < 2 {
            return Err(Error::rank(op, rank, "rank 2 or more"));
        }
        // Beside an axis of size 0 there is no bound on the others.
        if self.shape().num_elements() == 0 {
            return Self::full(self.shape().clone(), 0, DType::I32, &self.device());
        }
        self.positions(rank - 1)?.sub(self.positions(rank - 2)?)
    }

    fn zero_where(
        self,
        op: &'static str,
        outside: impl FnOnce(Self) -> Result<Self, Error>,
    ) -> Result<Self, Error> {
        let mask = outside(self.columns_minus_rows(op)?)?;
        let zero = self.dtype().zero();
        self.mask_where(mask, zero)
    }
}

/// The nearest `i32`: beyond lies no diagonal.
fn as_i32(diagonal: i64) -> i32 {
    diagonal.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}
