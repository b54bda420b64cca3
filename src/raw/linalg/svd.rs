//! The singular value decomposition: values by iteration on the host, gradients in closed form.

use crate::backend::memory::room;
use crate::backend::{Backend, Readable};
use crate::data::TensorData;
use crate::element::{DType, Scalar};
use crate::error::Error;
use crate::op::{self, CreateOp};
use crate::raw::Raw;

/// Sweeps of rotations; a dozen is what they take.
const SWEEPS: usize = 64;

impl<B: Backend> Raw<B> {
    /// `A = U diag(S) Vᵀ` of matrices `[…, m, n]`: with k the lesser of m and n, orthonormal columns U, `[…, m, k]`, the
    /// singular values in descending order, `[…, k]`, and orthonormal rows Vᵀ, `[…, k, n]`; or `full_matrices`, U of
    /// `[…, m, m]` and Vᵀ of `[…, n, n]`. Reads A.
    ///
    /// # Errors
    /// If the elements are not floats, the rank is less than 2, or an element is NaN or infinite.
    pub fn svd(self, full_matrices: bool) -> Result<(Self, Self, Self), Error>
    where
        B: Readable,
    {
        let (m, n) = self.matrix("svd")?;
        let (dtype, k) = (self.dtype(), m.min(n));
        let [left, right] = if full_matrices { [m, n] } else { [k, k] };
        if self.shape().num_elements() == 0 {
            let values = self.clone().reshape(self.batch_of(&[k]))?;
            return Ok(if full_matrices {
                (self.identities(m, m)?, values, self.identities(n, n)?)
            } else {
                let (u, vt) = (self.batch_of(&[m, k]), self.batch_of(&[k, n]));
                (self.clone().reshape(u)?, values, self.reshape(vt)?)
            });
        }
        for sizes in [[m, left], [right, n]] {
            let shape = self.batch_of(&sizes).into();
            let meta = op::infer_create(&CreateOp::Full(Scalar::Int(0)), shape, DType::F64)?;
            room("svd", &meta)?;
        }
        let a = self.widen()?;
        let values = a.to_data()?.cast(DType::F64).into_vec::<f64>()?;
        if !values.iter().all(|x| x.is_finite()) {
            return Err(Error::argument("svd", "an element is NaN or infinite"));
        }
        let (mut us, mut ss, mut vts) = (vec![], vec![], vec![]);
        for matrix in values.chunks_exact(m * n) {
            let at = |row: usize, column: usize| matrix[row * n + column];
            // Rotations make columns orthogonal; as many as there are singular values.
            let (mut u, s, mut v) = if m >= n {
                rotated((0..n).map(|j| (0..m).map(|i| at(i, j)).collect()).collect())?
            } else {
                let (v, s, u) = rotated((0..m).map(|i| (0..n).map(|j| at(i, j)).collect()).collect())?;
                (u, s, v)
            };
            complete(&mut u, left, m);
            complete(&mut v, right, n);
            us.extend((0..m).flat_map(|i| u.iter().map(move |column| column[i])));
            ss.extend(s);
            vts.extend(v.into_iter().flatten());
        }
        let upload = |values: Vec<f64>, sizes: &[usize]| {
            let data = TensorData::new(values, a.batch_of(sizes))?.cast(a.dtype());
            Self::from_data(data, &a.device())
        };
        let factors = [
            upload(us, &[m, left])?,
            upload(ss, &[k])?,
            upload(vts, &[right, n])?,
        ];
        let [u, s, vt] = if B::TRAINS {
            a.svd_tracked(factors, k)?
        } else {
            factors
        };
        Ok((u.cast(dtype)?, s.cast(dtype)?, vt.cast(dtype)?))
    }

    /// Adds to the factors their differentials, linear in `dA = A - A`, which is 0 and has the gradients. With
    /// `P = Uᵀ dA V`, of which M is the symmetric part and N the rest, `Eᵢⱼ = 1 / (sⱼ - sᵢ)` beside the diagonal and
    /// `Fᵢⱼ = 1 / (sⱼ + sᵢ)`, they are `dS = diag P`, `dU = U (E ∘ M + F ∘ N) + (I - U Uᵀ) dA V S⁻¹` and
    /// `dV = V (E ∘ M - F ∘ N) + (I - V Vᵀ) dAᵀ U S⁻¹` (after Townsend, 2016). What is infinite of E, F and S⁻¹ counts as 0:
    /// how vectors of equal singular values would part is left out.
    fn svd_tracked(self, [u, s, vt]: [Self; 3], k: usize) -> Result<[Self; 3], Error> {
        let last = self.rank() - 1;
        let change = self.clone().sub(self.detached())?;
        let v = vt.transpose()?;
        let (left, right) = (u.columns(0, k)?, v.columns(0, k)?);
        let of_v = change.clone().matmul(right.clone())?; // dA V
        let of_u = change.transpose()?.matmul(left.clone())?; // dAᵀ U
        let p = left.clone().transpose()?.matmul(of_v.clone())?;

        let row = s.clone().unsqueeze_dim(last - 1)?;
        let column = s.clone().unsqueeze_dim(last)?;
        let apart = row.clone().sub(column.clone())?.finite_recip()?;
        let together = row.clone().add(column)?.finite_recip()?;
        let (half, turned) = (p.clone().mul(0.5)?, p.clone().transpose()?.mul(0.5)?);
        let even = half.clone().add(turned.clone())?.mul(apart)?;
        let odd = half.sub(turned)?.mul(together)?;

        let inverse = row.finite_recip()?;
        let u = moved(
            u,
            left,
            even.clone().add(odd.clone())?,
            of_v.mul(inverse.clone())?,
        )?;
        let v = moved(v, right, even.sub(odd)?, of_u.mul(inverse)?)?;
        Ok([u, s.add(p.diag()?)?, v.transpose()?])
    }

    /// `1 / x`, and 0 where that is infinite.
    fn finite_recip(self) -> Result<Self, Error> {
        let y = self.recip()?;
        let infinite = y.clone().is_inf()?;
        y.mask_where(infinite, 0)
    }
}

/// `all`, whose first columns are `some`, moved by `rotation` among these and by what of `outwards` is orthogonal to them.
/// The others move along as little as staying orthogonal takes.
fn moved<B: Backend>(all: Raw<B>, some: Raw<B>, rotation: Raw<B>, outwards: Raw<B>) -> Result<Raw<B>, Error> {
    let inwards = some
        .clone()
        .matmul(some.clone().transpose()?.matmul(outwards.clone())?)?;
    let (last, k) = (all.rank() - 1, some.shape()[some.rank() - 1]);
    let more = all.shape()[last] - k;
    let change = some
        .clone()
        .matmul(rotation)?
        .add(outwards.clone().sub(inwards)?)?;
    if more == 0 {
        return all.add(change);
    }
    let others = all.columns(k, more)?;
    let along = some.matmul(outwards.transpose()?.matmul(others)?)?.neg()?;
    all.add(change.beside(along)?)
}

type Columns = Vec<Vec<f64>>;

/// The left vectors, singular values and right vectors of the matrix of these columns, one or more but not more than rows, by
/// one-sided Jacobi rotations (Hestenes, 1958).
fn rotated(mut columns: Columns) -> Result<(Columns, Vec<f64>, Columns), Error> {
    let n = columns.len();
    let greatest = columns.iter().flatten().fold(0.0, |max: f64, x| max.max(x.abs()));
    // A power of 2 near it: squares neither overflow nor vanish, and nothing is rounded.
    let scale = if greatest > 0.0 {
        greatest.log2().floor().min(1023.0).exp2()
    } else {
        1.0
    };
    columns.iter_mut().flatten().for_each(|x| *x /= scale);
    let unit = |i| (0..n).map(|j| f64::from(u8::from(i == j))).collect();
    let mut right: Columns = (0..n).map(unit).collect();

    let mut sweeps = 0..SWEEPS;
    loop {
        let mut turned = false;
        for p in 0..n {
            for q in p + 1..n {
                let (a, b) = (dot(&columns[p], &columns[p]), dot(&columns[q], &columns[q]));
                let c = dot(&columns[p], &columns[q]);
                // Beside elements near 1 what is below the least bound is nothing.
                if c.abs() <= (f64::EPSILON * (a * b).sqrt()).max(1e-300) {
                    continue;
                }
                turned = true;
                let zeta = (b - a) / (2.0 * c);
                let tangent = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
                turn(&mut columns, p, q, tangent);
                turn(&mut right, p, q, tangent);
            }
        }
        if !turned {
            break;
        }
        if sweeps.next().is_none() {
            return Err(Error::argument(
                "svd",
                format!("no convergence in {SWEEPS} sweeps"),
            ));
        }
    }

    let norms: Vec<f64> = columns.iter().map(|column| dot(column, column).sqrt()).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| norms[j].total_cmp(&norms[i]));
    // Below this the direction of a column is that of rounding errors.
    let least = norms.iter().fold(0.0, |max: f64, &x| max.max(x)) * f64::EPSILON;
    let known = order.iter().filter(|&&i| norms[i] > least);
    let direction = |&i: &usize| columns[i].iter().map(|x| x / norms[i]).collect();
    let mut left = known.map(direction).collect();
    complete(&mut left, n, columns[0].len());
    let values = order.iter().map(|&i| norms[i] * scale).collect();
    let right = order.into_iter().map(|i| std::mem::take(&mut right[i])).collect();
    Ok((left, values, right))
}

/// Rotates two columns.
fn turn(columns: &mut Columns, p: usize, q: usize, tangent: f64) {
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = cosine * tangent;
    let (before, from) = columns.split_at_mut(q);
    for (x, y) in before[p].iter_mut().zip(&mut from[0]) {
        (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
    }
}

/// Adds orthonormal vectors of length `len` up to `count`: each time the unit vector that is farthest from the span of
/// those that there are, less what of it lies in there.
fn complete(vectors: &mut Columns, count: usize, len: usize) {
    while vectors.len() < count {
        let inside = |i: usize| vectors.iter().map(|v| v[i] * v[i]).sum::<f64>();
        let farthest = (0..len).min_by(|&i, &j| inside(i).total_cmp(&inside(j)));
        let mut new: Vec<f64> = (0..len)
            .map(|i| f64::from(u8::from(Some(i) == farthest)))
            .collect();
        // Once more, for what rounding left of it.
        for _ in 0..2 {
            for v in vectors.iter() {
                let along = dot(v, &new);
                new.iter_mut().zip(v).for_each(|(x, y)| *x -= along * y);
            }
        }
        let norm = dot(&new, &new).sqrt();
        new.iter_mut().for_each(|x| *x /= norm);
        vectors.push(new);
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}
