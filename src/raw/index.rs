use super::Raw;
use crate::backend::{Backend, Readable};
use crate::data::TensorData;
use crate::error::Error;
use crate::op::{self, IndexOp, Op, ScatterMode, SliceRange};
use crate::shape::Dims;

/// Reading, writing and finding by index.
///
/// # Errors
/// Each returns what [`op::run`] does; an index outside its axis is an error.
impl<B: Backend> Raw<B> {
    /// [`IndexOp::Gather`].
    pub fn gather(self, axis: usize, index: Self) -> Result<Self, Error> {
        indexed::<B>(IndexOp::Gather {
            x: self.0,
            index: index.0,
            axis,
        })
    }

    /// [`IndexOp::Scatter`].
    pub fn scatter(self, axis: usize, index: Self, src: Self, mode: ScatterMode) -> Result<Self, Error> {
        indexed::<B>(IndexOp::Scatter {
            x: self.0,
            index: index.0,
            src: src.0,
            axis,
            mode,
        })
    }

    /// [`IndexOp::Select`].
    pub fn select(self, axis: usize, index: Self) -> Result<Self, Error> {
        indexed::<B>(IndexOp::Select {
            x: self.0,
            index: index.0,
            axis,
        })
    }

    /// [`IndexOp::SelectAssign`].
    pub fn select_assign(
        self,
        axis: usize,
        index: Self,
        src: Self,
        mode: ScatterMode,
    ) -> Result<Self, Error> {
        indexed::<B>(IndexOp::SelectAssign {
            x: self.0,
            index: index.0,
            src: src.0,
            axis,
            mode,
        })
    }

    /// [`IndexOp::SliceAssign`].
    pub fn slice_assign(self, ranges: &[SliceRange], src: Self) -> Result<Self, Error> {
        indexed::<B>(IndexOp::SliceAssign {
            x: self.0,
            src: src.0,
            ranges: ranges.into(),
        })
    }

    /// [`IndexOp::ArgSort`].
    pub fn argsort(self, axis: usize, descending: bool) -> Result<Self, Error> {
        indexed::<B>(IndexOp::ArgSort {
            x: self.0,
            axis,
            descending,
        })
    }

    /// [`IndexOp::TopK`].
    pub fn topk_indices(self, axis: usize, k: usize, largest: bool) -> Result<Self, Error> {
        indexed::<B>(IndexOp::TopK {
            x: self.0,
            axis,
            k,
            largest,
        })
    }
}

/// Composites.
///
/// # Errors
/// Each returns what the ops it consists of do.
impl<B: Backend> Raw<B> {
    /// [`Raw::select`] by indices of any rank, whose axes stand in place of `axis`.
    pub fn take(self, axis: usize, index: Self) -> Result<Self, Error> {
        self.size("take", axis)?;
        let (before, after) = (&self.shape()[..axis], &self.shape()[axis + 1..]);
        let shape: Dims = [before, index.shape(), after].concat().into();
        self.select(axis, index.flatten()?)?.reshape(shape)
    }

    /// The elements along an axis in order, and where they were.
    pub fn sort_with_indices(self, axis: usize, descending: bool) -> Result<(Self, Self), Error> {
        let index = self.clone().argsort(axis, descending)?;
        Ok((self.gather(axis, index.clone())?, index))
    }

    /// The `k` greatest elements along an axis in descending order, and where they were.
    pub fn topk_with_indices(self, k: usize, axis: usize) -> Result<(Self, Self), Error> {
        let index = self.clone().topk_indices(axis, k, true)?;
        Ok((self.gather(axis, index.clone())?, index))
    }

    /// Where the elements are not zero: one row of `i32` indices for each, `[n, rank]`.
    pub fn argwhere(self) -> Result<Self, Error>
    where
        B: Readable,
    {
        let shape = self.shape().clone();
        if let Some(axis) = shape.iter().position(|&size| size > i32::MAX as usize) {
            let message = format!("axis {axis} is longer than an i32 index reaches");
            return Err(Error::shape("argwhere", &[&shape], message));
        }
        let device = self.device();
        let strides = shape.contiguous_strides();
        let truth = self.truth()?.into_data()?;
        let (mut places, mut rows) = (Vec::new(), 0);
        for (position, _) in truth
            .as_slice::<bool>()?
            .iter()
            .enumerate()
            .filter(|&(_, &truth)| truth)
        {
            let along = |(&size, &stride): (&usize, &isize)| (position / stride as usize % size) as i32;
            places.extend(shape.iter().zip(&strides).map(along));
            rows += 1;
        }
        Self::from_data(TensorData::new(places, [rows, shape.rank()])?, &device)
    }

    /// The elements where `mask`, of the same shape, is true, in row-major order.
    pub fn masked_select(self, mask: Self) -> Result<Self, Error>
    where
        B: Readable,
    {
        if self.shape() != mask.shape() {
            let message = "the mask must have the shape of the tensor; `expand` stretches";
            return Err(Error::shape(
                "masked_select",
                &[self.shape(), mask.shape()],
                message,
            ));
        }
        let index = mask.flatten()?.argwhere()?.squeeze(1)?;
        self.flatten()?.select(0, index)
    }
}

fn indexed<B: Backend>(op: IndexOp<B::Primitive>) -> Result<Raw<B>, Error> {
    op::run::<B>(Op::Index(Box::new(op))).map(Raw)
}
