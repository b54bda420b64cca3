use super::Raw;
use crate::backend::{Backend, Readable};
use crate::data::TensorData;
use crate::element::DType;
use crate::error::Error;
use crate::op::{self, IndexOp, Op, ScatterMode};
use crate::shape::{Dims, Shape};

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

    /// Where the `k` greatest elements along an axis are, as `i32`, in descending order of the elements.
    pub fn argtopk(self, k: usize, axis: usize) -> Result<Self, Error> {
        self.topk_indices(k, axis, true)
            .map_err(|error| error.of("argtopk"))
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

    /// The slice at one place of an axis, which goes.
    pub fn select_dim(self, axis: usize, index: usize) -> Result<Self, Error> {
        let size = self.size("select_dim", axis)?;
        if index >= size {
            return Err(Error::Index {
                op: "select_dim".into(),
                index: index as i64,
                axis,
                size,
            });
        }
        self.narrow(axis, index, 1)?.squeeze_dim(axis)
    }

    /// The slices that the rows of `index`, its last axis, name by one place for each of the first axes of this tensor. Its
    /// other axes stand in place of those.
    pub fn gather_nd(self, index: Self) -> Result<Self, Error> {
        let found = Found::new("gather_nd", &self, index)?;
        let slices = self.reshape(found.flat)?.select(0, found.rows);
        slices
            .map_err(|error| error.of("gather_nd"))?
            .reshape(found.values)
    }

    /// `values` at the slices that the rows of `index` name, as for [`Raw::gather_nd`], combined with what is there by
    /// `update`.
    pub fn scatter_nd(self, index: Self, values: Self, update: ScatterMode) -> Result<Self, Error> {
        let shape = self.shape().clone();
        let found = Found::new("scatter_nd", &self, index)?;
        if *values.shape() != found.values {
            let message = format!("the values need the shape {}", found.values);
            return Err(Error::shape("scatter_nd", &[&shape, values.shape()], message));
        }
        let rows = found.rows.shape().num_elements();
        let values = values.reshape(found.flat.clone().with(0, rows))?;
        self.reshape(found.flat)?
            .select_assign(0, found.rows, values, update)
            .map_err(|error| error.of("scatter_nd"))?
            .reshape(shape)
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
    pub fn mask_select(self, mask: Self) -> Result<Self, Error>
    where
        B: Readable,
    {
        if mask.dtype() != DType::Bool {
            return Err(Error::dtype("mask_select", mask.dtype(), "a bool mask"));
        }
        if self.shape() != mask.shape() {
            let message = "the mask must have the shape of the tensor; `expand` stretches";
            return Err(Error::shape(
                "mask_select",
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

/// What the rows of a tensor of indices name in another tensor.
struct Found<B: Backend> {
    /// The shape of the other tensor, with the axes that are indexed joined into one.
    flat: Shape,
    /// The places along that axis.
    rows: Raw<B>,
    /// The shape of what is found.
    values: Shape,
}

impl<B: Backend> Found<B> {
    fn new(op: &'static str, x: &Raw<B>, index: Raw<B>) -> Result<Self, Error> {
        let Some((&named, batch)) = index.shape().split_last() else {
            return Err(Error::rank(op, 0, "indices of rank 1 or more"));
        };
        if named > x.rank() {
            let message = format!(
                "each row of the indices names {named} axes; the tensor has {}",
                x.rank()
            );
            return Err(Error::shape(op, &[x.shape(), index.shape()], message));
        }
        let (indexed, rest) = x.shape().split_at(named);
        let too_large = || {
            Error::shape(
                op,
                &[x.shape(), index.shape()],
                "the result exceeds the address space",
            )
        };
        let flat: Shape = std::iter::once(indexed.iter().product())
            .chain(rest.iter().copied())
            .collect();
        let values: Shape = batch.iter().chain(rest).copied().collect();
        values.checked_elements().ok_or_else(too_large)?;
        let batch = Shape::from(batch).checked_elements().ok_or_else(too_large)?;

        let dtype = if flat[0] > i32::MAX as usize {
            DType::I64
        } else {
            DType::I32
        };
        let device = index.device();
        let index = index.reshape([batch, named])?;
        let zeros = |len: usize| Raw::zeros([1], dtype, &device)?.expand([len]);
        let mut rows = zeros(batch)?;
        let mut stride = flat[0];
        for (axis, &size) in indexed.iter().enumerate() {
            stride /= size.max(1);
            let column = index.clone().narrow(1, axis, 1)?.reshape([batch])?;
            // Looked up in zeros as long as the axis: an index outside is an error.
            let inside = zeros(size)?
                .select(0, column.clone())
                .map_err(|error| match error {
                    Error::Index { index, size, .. } => Error::Index {
                        op: op.into(),
                        index,
                        axis,
                        size,
                    },
                    other => other.of(op),
                })?;
            rows = rows.add(inside)?.add(column.cast(dtype)?.mul(stride as i64)?)?;
        }
        Ok(Found { flat, rows, values })
    }
}
