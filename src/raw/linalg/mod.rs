//! Products of vectors and matrices; norms, factorisations and einsum are beside it.

use super::Raw;
use crate::backend::Backend;
use crate::element::DType;
use crate::error::Error;

mod einsum;
mod factor;
mod norm;
mod svd;

pub use norm::Norm;

/// Products of vectors and matrices.
///
/// # Errors
/// Each returns what the ops it consists of do.
impl<B: Backend> Raw<B> {
    /// The sum of the products of two vectors' elements, in shape `[1]`.
    pub fn dot(self, other: Self) -> Result<Self, Error> {
        if self.rank() != 1 {
            let expected = "a vector, rank 1; `matmul` multiplies matrices";
            return Err(Error::rank("dot", self.rank(), expected));
        }
        self.mul(other)?.sum()
    }

    /// The product of the matrices of `self`, `[…, m, n]`, with as many vectors `[…, n]`: `[…, m]`.
    pub fn matvec(self, vector: Self) -> Result<Self, Error> {
        let (rank, axis) = (self.rank(), vector.rank());
        if rank < 2 || axis + 1 != rank {
            let expected = format!("a matrix, rank 2 or more, and a vector of one axis less, not {axis}");
            return Err(Error::rank("matvec", rank, expected));
        }
        self.matmul(vector.unsqueeze_dim(axis)?)?.squeeze_dim(axis)
    }

    /// `x yᵀ` of the vectors along the last axis: `[…, m]` and `[…, n]` give `[…, m, n]`.
    pub fn outer(self, other: Self) -> Result<Self, Error> {
        match self.rank().checked_sub(1) {
            Some(axis) => self.outer_dim(other, axis),
            None => Err(Error::rank("outer", 0, "vectors, rank 1 or more")),
        }
    }

    /// `x yᵀ` of the vectors along an axis, which becomes two.
    pub fn outer_dim(self, other: Self, axis: usize) -> Result<Self, Error> {
        self.size("outer", axis)?;
        self.unsqueeze_dim(axis + 1)?.mul(other.unsqueeze_dim(axis)?)
    }

    /// The cross product of the vectors along an axis of size 3. Along the others the operands broadcast.
    pub fn cross(self, other: Self, axis: usize) -> Result<Self, Error> {
        if self.size("cross", axis)? != 3 || other.size("cross", axis)? != 3 {
            let message = format!("the cross product is one of 3 numbers each, along axis {axis}");
            return Err(Error::shape("cross", &[self.shape(), other.shape()], message));
        }
        // Widened they might have one type that they have not.
        self.same_dtype("cross", &other, "the other operand")?;
        let dtype = self.dtype();
        let (x, y) = (self.widen()?, other.widen()?); // their products overflow long before the difference does
        let next = |x: &Self| x.clone().roll_dim(-1, axis);
        let last = |x: &Self| x.clone().roll_dim(1, axis);
        let ahead = next(&x)?.mul(last(&y)?)?;
        ahead.sub(last(&x)?.mul(next(&y)?)?)?.cast(dtype)
    }

    /// The sum of the main diagonal of the last two axes, which become one of size 1.
    pub fn trace(self) -> Result<Self, Error> {
        match self.rank() {
            rank if rank < 2 => Err(Error::rank("trace", rank, "rank 2 or more")),
            rank => self.diag()?.sum_dim(rank - 2),
        }
    }

    /// `x / max(|x|, eps) · y / max(|y|, eps)` along an axis, which stays with size 1. By default `eps` is the least
    /// positive normal number.
    pub fn cosine_similarity(self, other: Self, axis: usize, eps: Option<f64>) -> Result<Self, Error> {
        self.floats("cosine_similarity")?;
        self.same_dtype("cosine_similarity", &other, "the other operand")?;
        let dtype = self.dtype();
        let eps = eps.unwrap_or(match dtype {
            DType::F64 => f64::MIN_POSITIVE,
            _ => f32::MIN_POSITIVE.into(),
        });
        let unit = |x: Self| x.widen()?.vector_normalize(Norm::L2, axis, eps);
        unit(self)?.mul(unit(other)?)?.sum_dim(axis)?.cast(dtype)
    }

    /// The rows and columns of a matrix of floats, rank 2 or more.
    fn matrix(&self, op: &'static str) -> Result<(usize, usize), Error> {
        self.floats(op)?;
        match &self.shape()[..] {
            &[.., rows, columns] => Ok((rows, columns)),
            _ => Err(Error::rank(op, self.rank(), "a matrix, rank 2 or more")),
        }
    }

    /// The size of a square matrix of floats.
    fn square_matrix(&self, op: &'static str) -> Result<usize, Error> {
        match self.matrix(op)? {
            (rows, columns) if rows == columns => Ok(rows),
            (rows, columns) => {
                let message = format!("the matrix must be square, not {rows} × {columns}");
                Err(Error::shape(op, &[self.shape()], message))
            }
        }
    }

    /// These sizes after the batch axes of a matrix.
    fn batch_of(&self, sizes: &[usize]) -> Vec<usize> {
        let batch = &self.shape()[..self.rank() - 2];
        [batch, sizes].concat()
    }

    /// The same values, through which no gradient flows.
    pub(in crate::raw) fn detached(&self) -> Self {
        Raw::new(B::detach(self.primitive().clone()))
    }

    /// For each matrix ones on the main diagonal of another of these sizes, zeros beside it.
    fn identities(&self, rows: usize, columns: usize) -> Result<Self, Error> {
        let shape = self.batch_of(&[rows, columns]);
        // Beside an axis of size 0 there is no bound on the others.
        if shape.contains(&0) {
            return Self::zeros(shape, self.dtype(), &self.device());
        }
        let row = self.arange_like(rows)?.unsqueeze_dim(1)?;
        let column = self.arange_like(columns)?.unsqueeze_dim(0)?;
        row.equal(column)?.cast(self.dtype())?.expand(shape)
    }

    /// `len` rows from `start`.
    fn rows(&self, start: usize, len: usize) -> Result<Self, Error> {
        self.clone().narrow(self.rank() - 2, start, len)
    }

    /// `len` columns from `start`.
    fn columns(&self, start: usize, len: usize) -> Result<Self, Error> {
        self.clone().narrow(self.rank() - 1, start, len)
    }

    /// The rows of one matrix above those of another.
    fn above(self, below: Self) -> Result<Self, Error> {
        let axis = self.rank() - 2;
        Self::cat(vec![self, below], axis)
    }

    /// The columns of one matrix left of those of another.
    fn beside(self, right: Self) -> Result<Self, Error> {
        let axis = self.rank() - 1;
        Self::cat(vec![self, right], axis)
    }
}
