use super::Raw;
use crate::backend::{Backend, Readable};
use crate::data::TensorData;
use crate::element::DType;
use crate::error::Error;
use crate::op::{self, IndexOp, Op, ScatterMode};
use crate::shape::Dims;

/// Reading, writing and finding by index.
///
/// # Errors
/// Each returns what [`op::run`] does; an index outside its axis is an error.
impl<B: Backend> Raw<B> {
    /// `out[i][j] = x[i][index[i][j]]` (along axis 1); the result has the shape of `index`.
    pub fn gather(self, axis: usize, index: Self) -> Result<Self, Error> {
        indexed::<B>(IndexOp::Gather {
            x: self.0,
            index: index.0,
            axis,
        })
    }

    /// `out[i][index[i][j]] = values[i][j]` (along axis 1), combined with what is there by `update`.
    pub fn scatter(self, axis: usize, index: Self, values: Self, update: ScatterMode) -> Result<Self, Error> {
        indexed::<B>(IndexOp::Scatter {
            x: self.0,
            index: index.0,
            src: values.0,
            axis,
            mode: update,
        })
    }

    /// The slices along an axis that `index`, of rank 1, names, in its order.
    pub fn select(self, axis: usize, index: Self) -> Result<Self, Error> {
        indexed::<B>(IndexOp::Select {
            x: self.0,
            index: index.0,
            axis,
        })
    }

    /// `values` at the slices along an axis that `index`, of rank 1, names, combined with what is there by `update`.
    pub fn select_assign(
        self,
        axis: usize,
        index: Self,
        values: Self,
        update: ScatterMode,
    ) -> Result<Self, Error> {
        indexed::<B>(IndexOp::SelectAssign {
            x: self.0,
            index: index.0,
            src: values.0,
            axis,
            mode: update,
        })
    }

    /// Where the elements along an axis are, as `i32`, in ascending order: NaN is greater than everything, and equal
    /// elements keep their order.
    pub fn argsort(self, axis: usize) -> Result<Self, Error> {
        self.order(axis, false)
    }

    /// Where the elements along an axis are, as `i32`, in descending order: NaN is greater than everything, and equal
    /// elements keep their order.
    pub fn argsort_descending(self, axis: usize) -> Result<Self, Error> {
        self.order(axis, true)
    }

    /// [`Raw::argsort`] in either direction.
    pub(crate) fn order(self, axis: usize, descending: bool) -> Result<Self, Error> {
        indexed::<B>(IndexOp::ArgSort {
            x: self.0,
            axis,
            descending,
        })
    }

    /// Where the `k` least or greatest elements along an axis are, as `i32`, the outermost first.
    pub(crate) fn topk_indices(self, k: usize, axis: usize, largest: bool) -> Result<Self, Error> {
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
        self.select(axis, index.ravel()?)?.reshape(shape)
    }

    /// The elements along an axis in ascending order.
    pub fn sort(self, axis: usize) -> Result<Self, Error> {
        Ok(self.sort_with_indices(axis)?.0)
    }

    /// The elements along an axis in descending order.
    pub fn sort_descending(self, axis: usize) -> Result<Self, Error> {
        Ok(self.sort_descending_with_indices(axis)?.0)
    }

    /// [`Raw::sort`] and [`Raw::argsort`] together.
    pub fn sort_with_indices(self, axis: usize) -> Result<(Self, Self), Error> {
        let index = self.clone().argsort(axis)?;
        Ok((self.gather(axis, index.clone())?, index))
    }

    /// [`Raw::sort_descending`] and [`Raw::argsort_descending`] together.
    pub fn sort_descending_with_indices(self, axis: usize) -> Result<(Self, Self), Error> {
        let index = self.clone().argsort_descending(axis)?;
        Ok((self.gather(axis, index.clone())?, index))
    }

    /// The `k` greatest elements along an axis, in descending order.
    pub fn topk(self, k: usize, axis: usize) -> Result<Self, Error> {
        Ok(self.topk_with_indices(k, axis)?.0)
    }

    /// [`Raw::topk`], and where the elements are, as `i32`.
    pub fn topk_with_indices(self, k: usize, axis: usize) -> Result<(Self, Self), Error> {
        let index = self.clone().topk_indices(k, axis, true)?;
        Ok((self.gather(axis, index.clone())?, index))
    }

    /// Where the elements are not zero: for each axis the `i32` places along it, as many as there are such elements.
    pub fn nonzero(self) -> Result<Vec<Self>, Error>
    where
        B: Readable,
    {
        let rank = self.rank();
        let places = self.argwhere()?;
        let column = |axis| places.clone().narrow(1, axis, 1)?.squeeze_dim(1);
        (0..rank).map(column).collect()
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
        let truth = self.bool()?.into_data()?;
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
        if mask.dtype() != DType::Bool {
            return Err(Error::dtype("masked_select", mask.dtype(), "a bool mask"));
        }
        if self.shape() != mask.shape() {
            let message = "the mask must have the shape of the tensor; `expand` stretches";
            return Err(Error::shape(
                "masked_select",
                &[self.shape(), mask.shape()],
                message,
            ));
        }
        let index = mask.ravel()?.argwhere()?.squeeze_dim(1)?;
        self.ravel()?.select(0, index)
    }
}

fn indexed<B: Backend>(op: IndexOp<B::Primitive>) -> Result<Raw<B>, Error> {
    op::run::<B>(Op::Index(Box::new(op))).map(Raw)
}
