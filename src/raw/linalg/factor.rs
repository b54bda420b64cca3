//! Factorisations. Each halves its matrix until one column is left, so that nearly all of its work is done by `matmul`, and
//! consists of differentiable ops alone: its gradients are theirs.

use crate::backend::Backend;
use crate::element::DType;
use crate::error::Error;
use crate::raw::Raw;
use crate::shape::Shape;

/// What stands for a pivot of 0 where it divides; a power of 2, so that what it divides and multiplies comes out as it was.
const TINY: f64 = 1.0 / (1u64 << 60) as f64;

/// What `solve_triangular` reads of a matrix.
#[derive(Clone, Copy, PartialEq)]
enum Triangle {
    Upper,
    Lower,
    /// The lower one, with ones on its diagonal.
    UnitLower,
}

/// Matrices: the last two axes; the others are batch axes.
///
/// # Errors
/// Each returns an error if the elements are not floats, or the shapes are not as said. What only values show is not one:
/// nothing is read from the device.
impl<B: Backend> Raw<B> {
    /// The determinants of square matrices `[…, n, n]`, in shape `[…]`, or `[1]` of one matrix.
    pub fn det(self) -> Result<Self, Error> {
        self.square_matrix("det")?;
        let (dtype, last) = (self.dtype(), self.rank() - 1);
        let mut shape = self.batch_of(&[]);
        if shape.is_empty() {
            shape.push(1);
        }
        let x = self.widen()?;
        if x.shape().num_elements() == 0 {
            return x.sum_dims(&[last - 1, last])?.add(1)?.cast(dtype)?.reshape(shape);
        }
        let (origin, lu) = x.lu_packed()?;
        let pivots = lu.diag()?.unsqueeze_dim(last)?;
        let singular = pivots.clone().equal(0)?.any_dim(last - 1)?;
        let product = pivots.off_zero()?.prod_dim(last - 1)?;

        // The sign of a permutation is that of the number of pairs in the wrong order.
        let pairs = origin.clone().greater(origin.transpose()?)?.cast(DType::I32)?;
        let wrong = pairs.triu(1)?.sum_dims(&[last - 1, last])?;
        let product = wrong
            .remainder(2)?
            .equal(1)?
            .choose(product.clone().neg()?, product)?;

        // 0 where a pivot is, with the gradient of the product: the cofactors.
        let zero = product.clone().sub(product.detached())?;
        singular.choose(zero, product)?.cast(dtype)?.reshape(shape)
    }

    /// `A = P L U` with partial pivoting, of matrices `[…, m, n]`: a permutation `[…, m, m]`, a lower triangle
    /// `[…, m, k]` with ones on its diagonal and an upper one `[…, k, n]`, where k is the lesser of m and n.
    pub fn lu(self) -> Result<(Self, Self, Self), Error> {
        let (m, n) = self.matrix("lu")?;
        let (dtype, rank, k) = (self.dtype(), self.rank(), m.min(n));
        if self.shape().num_elements() == 0 {
            let (lower, upper) = (self.batch_of(&[m, k]), self.batch_of(&[k, n]));
            return Ok((
                self.identities(m, m)?,
                self.clone().reshape(lower)?,
                self.reshape(upper)?,
            ));
        }
        let (origin, packed) = self.widen()?.lu_packed()?;
        let permutation = origin.positions(rank - 2)?.equal(origin.transpose()?)?;
        let unit = packed.identities(m, k)?;
        let lower = packed.columns(0, k)?.tril(-1)?.add(unit)?;
        let upper = packed.rows(0, k)?.triu(0)?;
        Ok((permutation.cast(dtype)?, lower.cast(dtype)?, upper.cast(dtype)?))
    }

    /// `A = Q R` by Householder reflections, of matrices `[…, m, n]`: with k the lesser of m and n, orthonormal columns
    /// `[…, m, k]` and an upper triangle `[…, k, n]`, or, unless `reduced`, all of `[…, m, m]` and `[…, m, n]`.
    pub fn qr(self, reduced: bool) -> Result<(Self, Self), Error> {
        let (m, n) = self.matrix("qr")?;
        let (dtype, k) = (self.dtype(), m.min(n));
        let size = if reduced { k } else { m };
        if self.shape().num_elements() == 0 {
            let (q, r) = (self.batch_of(&[m, size]), self.batch_of(&[size, n]));
            let q = if reduced {
                self.clone().reshape(q)?
            } else {
                self.identities(m, m)?
            };
            return Ok((q, self.reshape(r)?));
        }
        let (v, t, r) = self.widen()?.householder()?;
        let reflected = v.clone().matmul(t.matmul(v.rows(0, size)?.transpose()?)?)?;
        let q = v.identities(m, size)?.sub(reflected)?;
        let r = r.rows(0, size)?.triu(0)?;
        Ok((q.cast(dtype)?, r.cast(dtype)?))
    }

    /// The lower triangle L with `A = L Lᵀ`, or with `upper` U with `A = Uᵀ U`, of symmetric positive definite matrices
    /// `[…, n, n]`, of which the same triangle is read. NaN where A is not positive definite.
    pub fn cholesky(self, upper: bool) -> Result<Self, Error> {
        self.square_matrix("cholesky")?;
        if self.shape().num_elements() == 0 {
            return Ok(self);
        }
        let dtype = self.dtype();
        let a = self.widen()?;
        let factor = if upper {
            a.transpose()?.cholesky_lower()?.transpose()
        } else {
            a.cholesky_lower()
        };
        factor?.cast(dtype)
    }

    /// The X with `A X = B` of square matrices `[…, n, n]` and B `[…, n, k]`, whose batch axes broadcast; B is vectors
    /// `[…, n]` where it has one axis or the shape of A without its last. Infinite or NaN where A is singular.
    pub fn solve(self, b: Self) -> Result<Self, Error> {
        let batch = self.rank().saturating_sub(1);
        let vectors = b.rank() == 1 || b.shape()[..] == self.shape()[..batch];
        self.solve_for(b, vectors)
    }

    /// [`Raw::solve`], where it is said whether B is vectors.
    pub(crate) fn solve_for(self, b: Self, vectors: bool) -> Result<Self, Error> {
        let n = self.square_matrix("solve")?;
        self.same_dtype("solve", &b, "A")?;
        if vectors {
            let (axis, last) = (b.rank(), self.rank() - 1);
            return self.solve_for(b.unsqueeze_dim(axis)?, false)?.squeeze_dim(last);
        }
        if b.rank() < 2 {
            return Err(Error::rank("solve", b.rank(), "a B of matrices, rank 2 or more"));
        }
        let rank = self.rank().max(b.rank());
        let (dtype, a, b) = (self.dtype(), self.unsqueeze(rank)?, b.unsqueeze(rank)?);
        let columns = b.shape()[rank - 1];
        let batch = |x: &Self| Shape::from(x.batch_of(&[]));
        let (true, Some(batch)) = (b.shape()[rank - 2] == n, batch(&a).broadcast(&batch(&b))) else {
            let message = "B must have as many rows as A, and batch axes that broadcast to those of A";
            return Err(Error::shape("solve", &[a.shape(), b.shape()], message));
        };
        let shape = Shape::from([&batch[..], &[n, columns]].concat());
        if shape.checked_elements() == Some(0) {
            return b.expand(shape);
        }
        let (origin, lu) = a.widen()?.lu_packed()?;
        let b = b.widen()?.expand(shape)?.rows_from(&origin)?;
        let y = lu.clone().solve_triangular(b, Triangle::UnitLower)?;
        lu.solve_triangular(y, Triangle::Upper)?.cast(dtype)
    }

    /// L and U in one matrix, and the row of A, `[…, m, 1]`, that each of its rows came from (Toledo, 1997). A pivot is 0
    /// where all of its column are, and so is what L holds below it.
    fn lu_packed(self) -> Result<(Self, Self), Error> {
        let (m, n) = (self.shape()[self.rank() - 2], self.shape()[self.rank() - 1]);
        if m == 0 || n == 0 {
            return Ok((self.row_places()?, self));
        }
        if n == 1 {
            return self.lu_column();
        }
        let h = (m.min(n) / 2).max(1);
        let (origin, left) = self.columns(0, h)?.lu_packed()?;
        let right = self.columns(h, n - h)?.rows_from(&origin)?;
        let lower = left.rows(h, m - h)?;
        let upper = left
            .rows(0, h)?
            .solve_triangular(right.rows(0, h)?, Triangle::UnitLower)?;
        let rest = right.rows(h, m - h)?.sub(lower.clone().matmul(upper.clone())?)?;
        let (order, rest) = rest.lu_packed()?;
        let origin = origin
            .rows(0, h)?
            .above(origin.rows(h, m - h)?.rows_from(&order)?)?;
        let left = left.rows(0, h)?.above(lower.rows_from(&order)?)?;
        Ok((origin, left.beside(upper.above(rest)?)?))
    }

    /// [`Raw::lu_packed`] of one column: its greatest element is exchanged with the first, and divides the others.
    fn lu_column(self) -> Result<(Self, Self), Error> {
        let rows = self.rank() - 2;
        let places = self.row_places()?;
        let greatest = self.clone().abs()?.argmax(rows)?;
        let first_there = places
            .clone()
            .equal(greatest.clone())?
            .choose(0, places.clone())?;
        let origin = places.equal(0)?.choose(greatest, first_there)?;
        let column = self.rows_from(&origin)?;
        let pivot = column.rows(0, 1)?;
        let rest = column.rows(1, column.shape()[rows] - 1)?;
        let rest = rest.div(pivot.clone().off_zero()?)?;
        Ok((origin, pivot.above(rest)?))
    }

    /// The reflections that make an upper triangle R of a matrix that is not empty, as the V, `[…, m, k]`, and the upper
    /// triangle T, `[…, k, k]`, of their product `I - V T Vᵀ` (Elmroth and Gustavson, 2000); and R, `[…, m, n]`.
    fn householder(self) -> Result<(Self, Self, Self), Error> {
        let (m, n) = (self.shape()[self.rank() - 2], self.shape()[self.rank() - 1]);
        if m == 1 {
            let none = self.columns(0, 1)?.zeros_like()?;
            return Ok((none.clone(), none, self));
        }
        if n == 1 {
            return self.reflection();
        }
        let h = m.min(n) / 2;
        let (v1, t1, r1) = self.columns(0, h)?.householder()?;
        let right = self.columns(h, n - h)?;
        let reflected = v1.clone().transpose()?.matmul(right.clone())?;
        let right = right.sub(v1.clone().matmul(t1.clone().transpose()?.matmul(reflected)?)?)?;
        let (v2, t2, r2) = right.rows(h, m - h)?.householder()?;

        let v2 = v2.pad([(h, 0), (0, 0)], 0)?;
        let between = v1.clone().transpose()?.matmul(v2.clone())?;
        let between = t1.clone().matmul(between)?.matmul(t2.clone())?.neg()?;
        let t = t1.beside(between)?.above(t2.pad([(0, 0), (h, 0)], 0)?)?;
        Ok((v1.beside(v2)?, t, r1.beside(right.rows(0, h)?.above(r2)?)?))
    }

    /// [`Raw::householder`] of one column x: it goes to `∓|x|` in its first place, away from the sign that is there. With
    /// `u = x / |x|` the mirror lies across `v = u ± e₁`, and `|v|² = 2 (1 ± u₁)`.
    fn reflection(self) -> Result<(Self, Self, Self), Error> {
        let rows = self.rank() - 2;
        // Beside 1 squares neither overflow nor vanish; it cancels out, so that no gradient flows through it.
        let scale = self.detached().max_abs_dim(rows)?;
        let zero = scale.clone().equal(0)?;
        let scale = scale.mask_where(zero.clone(), 1)?;
        let scaled = self.div(scale.clone())?;
        let norm = scaled.clone().l2_norm(rows)?;
        let unit = scaled.div(norm.clone().mask_where(zero.clone(), 1)?)?;
        let first = unit.rows(0, 1)?;
        let negative = first.clone().lower(0)?;
        let sign = first.ones_like()?.mask_where(negative, -1)?;
        let rest = unit.rows(1, unit.shape()[rows] - 1)?;
        let v = first.clone().add(sign.clone())?.above(rest.clone())?;
        let v = v.mask_where(zero, 0)?;
        let t = first.mul(sign.clone())?.add(1)?.recip()?;
        let r = norm.mul(scale)?.mul(sign)?.neg()?.above(rest.zeros_like()?)?;
        Ok((v, t, r))
    }

    /// The Cholesky factor of the lower triangle of a matrix that is not empty.
    fn cholesky_lower(self) -> Result<Self, Error> {
        let n = self.shape()[self.rank() - 1];
        if n == 1 {
            let singular = self.clone().equal(0)?;
            return self.mask_where(singular, f64::NAN)?.sqrt();
        }
        let h = n / 2;
        let (first, below) = (self.rows(0, h)?.columns(0, h)?, self.rows(h, n - h)?);
        let first = first.cholesky_lower()?;
        let column = below.columns(0, h)?.transpose()?;
        let column = first.clone().solve_triangular(column, Triangle::Lower)?;
        let done = column.clone().transpose()?.matmul(column.clone())?;
        let rest = below.columns(h, n - h)?.sub(done)?.cholesky_lower()?;
        let top = first.pad([(0, 0), (0, n - h)], 0)?;
        top.above(column.transpose()?.beside(rest)?)
    }

    /// The X with `A X = B` of a triangle, `[…, n, n]`; the rest of A is not read. The batch axes of B are those of the
    /// result.
    fn solve_triangular(self, b: Self, triangle: Triangle) -> Result<Self, Error> {
        let n = b.shape()[b.rank() - 2];
        if n == 1 && triangle == Triangle::UnitLower {
            return Ok(b);
        }
        if n == 1 {
            return b.div(self);
        }
        let block = |(row, rows), (column, columns)| self.rows(row, rows)?.columns(column, columns);
        let (top, bottom) = ((0, n / 2), (n / 2, n - n / 2));
        let (first, second) = match triangle {
            Triangle::Upper => (bottom, top),
            Triangle::Lower | Triangle::UnitLower => (top, bottom),
        };
        let x = block(first, first)?.solve_triangular(b.rows(first.0, first.1)?, triangle)?;
        let rest = b
            .rows(second.0, second.1)?
            .sub(block(second, first)?.matmul(x.clone())?)?;
        let y = block(second, second)?.solve_triangular(rest, triangle)?;
        if triangle == Triangle::Upper {
            y.above(x)
        } else {
            x.above(y)
        }
    }

    /// Row i of the result is row `origin[i]`, of `[…, rows, 1]`.
    fn rows_from(self, origin: &Self) -> Result<Self, Error> {
        let rows = self.rank() - 2;
        let shape = self.shape().clone().with(rows, origin.shape()[rows]);
        self.gather(rows, origin.clone().expand(shape)?)
    }

    /// The numbers of the rows, `[…, rows, 1]`.
    fn row_places(&self) -> Result<Self, Error> {
        let rows = self.rank() - 2;
        let shape = self.shape().clone().with(rows + 1, 1);
        self.positions(rows)?.expand(shape)
    }

    /// The same, with [`TINY`] for 0.
    fn off_zero(self) -> Result<Self, Error> {
        let dtype = self.dtype();
        let zero = self.clone().equal(0)?.cast(dtype)?;
        self.add(zero.mul(TINY)?)
    }
}
