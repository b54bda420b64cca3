//! Discrete Fourier transforms of rows, as products with small matrices.

use super::Raw;
use crate::backend::Backend;
use crate::backend::memory::room;
use crate::element::DType;
use crate::error::Error;
use crate::op::checked;
use crate::op::roots::{Sign, roots, smooth};
use crate::shape::{Dims, Shape};

/// The longest transform that is one product. Longer ones are made of such, as long as no prime factor is greater.
const MAX_RADIX: usize = 64;

/// Numbers with an imaginary part.
#[derive(Clone)]
pub(crate) struct Complex<B: Backend> {
    pub(crate) re: Raw<B>,
    pub(crate) im: Raw<B>,
}

impl<B: Backend> Complex<B> {
    pub(super) fn new(re: Raw<B>, im: Raw<B>) -> Self {
        Complex { re, im }
    }

    fn map(self, f: impl Fn(Raw<B>) -> Result<Raw<B>, Error>) -> Result<Self, Error> {
        Ok(Complex::new(f(self.re)?, f(self.im)?))
    }

    fn mul(self, other: Self) -> Result<Self, Error> {
        let (a, b) = (self, other);
        let re =
            a.re.clone()
                .mul(b.re.clone())?
                .sub(a.im.clone().mul(b.im.clone())?)?;
        let im = a.re.mul(b.im)?.add(a.im.mul(b.re)?)?;
        Ok(Complex::new(re, im))
    }

    /// Both parts along a new axis.
    pub(super) fn stack(self, axis: usize) -> Result<Raw<B>, Error> {
        Raw::stack(vec![self.re, self.im], axis)
    }

    pub(crate) fn unstack(x: Raw<B>, axis: usize) -> Result<Self, Error> {
        let part = |i| x.clone().narrow(axis, i, 1)?.squeeze_dim(axis);
        Ok(Complex::new(part(0)?, part(1)?))
    }

    /// Constants beside `like`, of its element type and on its device, of this shape.
    fn constants(values: &[(f64, f64)], shape: &[usize], like: &Raw<B>) -> Result<Self, Error> {
        let re = constants(values.iter().map(|v| v.0), shape, like)?;
        Ok(Complex::new(
            re,
            constants(values.iter().map(|v| v.1), shape, like)?,
        ))
    }
}

/// [`FusedOp::Rfft`](crate::op::FusedOp::Rfft) by other ops.
pub(crate) fn rfft<B: Backend>(x: Raw<B>) -> Result<Raw<B>, Error> {
    let rows = Rows::of("rfft", &x);
    rows.two(rows.n / 2 + 1, &x, || {
        let y = forward_real(rows.join(&x)?)?;
        Ok(Complex::new(y.re, only_paired(y.im, rows.n)?))
    })
}

/// [`FusedOp::Irfft`](crate::op::FusedOp::Irfft) by other ops.
pub(crate) fn irfft<B: Backend>(re: Raw<B>, im: Raw<B>, n: usize) -> Result<Raw<B>, Error> {
    let rows = Rows::of("irfft", &re);
    let shape = rows.shape(&[], n);
    if rows.count == 0 {
        return Raw::zeros(shape, re.dtype(), &re.device());
    }
    let x = Complex::new(rows.join(&re)?, rows.join(&im)?);
    inverse_real(x, n)?.reshape(shape)?.cast(re.dtype())
}

/// [`FusedOp::Cfft`](crate::op::FusedOp::Cfft) by other ops.
pub(crate) fn cfft<B: Backend>(re: Raw<B>, im: Raw<B>, inverse: bool) -> Result<Raw<B>, Error> {
    let rows = Rows::of("cfft", &re);
    rows.two(rows.n, &re, || {
        complex(Complex::new(rows.join(&re)?, rows.join(&im)?), inverse)
    })
}

/// The last axis of a tensor, as the rows of a matrix.
struct Rows {
    op: &'static str,
    outer: Dims,
    count: usize,
    n: usize,
}

impl Rows {
    fn of<B: Backend>(op: &'static str, x: &Raw<B>) -> Self {
        let (&n, outer) = x.shape().split_last().expect("`infer` asks for an axis");
        Rows {
            op,
            outer: outer.into(),
            count: outer.iter().product(),
            n,
        }
    }

    fn shape(&self, parts: &[usize], n: usize) -> Shape {
        parts.iter().chain(&self.outer).chain([&n]).copied().collect()
    }

    /// The rows, of no half type.
    fn join<B: Backend>(&self, x: &Raw<B>) -> Result<Raw<B>, Error> {
        // Roots of unity, as many as a row has numbers or twice as many.
        room(self.op, &checked(self.op, [4, self.n].into(), DType::F64)?)?;
        x.clone().widen()?.reshape([self.count, self.n])
    }

    /// Both parts of what `f` gives for the rows: `[2, …, n]`.
    fn two<B: Backend>(
        &self,
        n: usize,
        like: &Raw<B>,
        f: impl FnOnce() -> Result<Complex<B>, Error>,
    ) -> Result<Raw<B>, Error> {
        let shape = self.shape(&[2], n);
        if self.count == 0 {
            return Raw::zeros(shape, like.dtype(), &like.device());
        }
        f()?.stack(0)?.reshape(shape)?.cast(like.dtype())
    }
}

/// The spectrum of each row of real numbers, `[rows, n]`, up to frequency `n / 2`.
fn forward_real<B: Backend>(x: Raw<B>) -> Result<Complex<B>, Error> {
    let [rows, n] = x.shape().dims();
    let kept = n / 2 + 1;
    let Some(radices) = radices(n) else {
        let im = None;
        return chirp(x, im, n, kept, Sign::Minus, 1.0);
    };
    let radix = radices[0];
    let others = n / radix;
    let y = Transform {
        radices: &radices,
        sign: Sign::Minus,
        scale: 1.0,
        real: Real::Input,
    }
    .run(x.reshape([rows, 1, n])?)?;
    // The lowest digit of a frequency is at most radix / 2; frequency k is the conjugate of n - k.
    let half = radix / 2 + 1;
    let y = y.reshape([2, rows, others, half])?;
    let y = Complex::unstack(y, 0)?;
    let periods = (kept - 1) / radix + 1;
    let direct = y.clone().map(|x| x.narrow(1, 0, periods))?;
    if kept <= half {
        return direct.map(|x| x.reshape([rows, half])?.narrow(1, 0, kept));
    }
    let mirrored = y.map(|x| {
        x.narrow(1, others - periods, periods)?
            .narrow(2, 1, radix - half)?
            .flip([1, 2])
    })?;
    let re = Raw::cat(vec![direct.re, mirrored.re], 2)?;
    let im = Raw::cat(vec![direct.im, mirrored.im.neg()?], 2)?;
    Complex::new(re, im).map(|x| x.reshape([rows, periods * radix])?.narrow(1, 0, kept))
}

/// The spectrum of each row, `[rows, n]`, or what it is the spectrum of.
fn complex<B: Backend>(x: Complex<B>, inverse: bool) -> Result<Complex<B>, Error> {
    let [rows, n] = x.re.shape().dims();
    let (sign, scale) = if inverse {
        (Sign::Plus, 1.0 / n as f64)
    } else {
        (Sign::Minus, 1.0)
    };
    let Some(radices) = radices(n) else {
        return chirp(x.re, Some(x.im), n, n, sign, scale);
    };
    let y = Transform {
        radices: &radices,
        sign,
        scale,
        real: Real::No,
    }
    .run(x.stack(1)?)?;
    Complex::unstack(y.reshape([2, rows, n])?, 0)
}

/// The `n` real numbers of which each row, `[rows, n / 2 + 1]`, is the spectrum. The imaginary parts of frequencies 0 and
/// `n / 2`, which those have not, count as 0.
fn inverse_real<B: Backend>(x: Complex<B>, n: usize) -> Result<Raw<B>, Error> {
    let rows = x.re.shape()[0];
    let scale = 1.0 / n as f64;
    let x = Complex::new(x.re, only_paired(x.im, n)?);
    let Some(mut radices) = radices(n) else {
        let twice = weights(n, 1.0, 2.0, &x.re)?;
        let x = x.map(|x| x.mul(twice.clone()))?;
        return Ok(chirp(x.re, Some(x.im), n, n, Sign::Plus, scale)?.re);
    };
    radices.reverse();
    let radix = radices[radices.len() - 1];
    let x = hermitian(x, n)?;
    let x = x.map(|x| x.reshape([rows, n / radix, radix])?.narrow(2, 0, radix / 2 + 1))?;
    let y = Transform {
        radices: &radices,
        sign: Sign::Plus,
        scale,
        real: Real::Output,
    }
    .run(x.stack(1)?)?;
    y.reshape([rows, n])
}

/// A factor for each frequency up to `n / 2`, along the last axis: `alone`, or `paired` for those that have a conjugate among
/// the others.
pub(crate) fn weights<B: Backend>(n: usize, alone: f64, paired: f64, like: &Raw<B>) -> Result<Raw<B>, Error> {
    let kept = n / 2 + 1;
    let weight = |k| if k == 0 || 2 * k == n { alone } else { paired };
    let mut shape: Dims = smallvec::smallvec![1; like.rank()];
    shape[like.rank() - 1] = kept;
    constants((0..kept).map(weight), &shape, like)
}

/// Zeros for the frequencies that have no conjugate, along the last axis of those up to `n / 2`.
pub(crate) fn only_paired<B: Backend>(x: Raw<B>, n: usize) -> Result<Raw<B>, Error> {
    let (last, kept) = (x.rank() - 1, n / 2 + 1);
    let paired = n - kept;
    x.narrow(last, 1, paired)?.pad([(1, kept - 1 - paired)], 0)
}

/// All `n` frequencies of a spectrum of real numbers, from those up to `n / 2`.
pub(super) fn hermitian<B: Backend>(x: Complex<B>, n: usize) -> Result<Complex<B>, Error> {
    let paired = n - (n / 2 + 1);
    let mirror = |x: &Raw<B>| x.clone().narrow(1, 1, paired)?.flip([1]);
    let (re, im) = (mirror(&x.re)?, mirror(&x.im)?.neg()?);
    Ok(Complex::new(
        Raw::cat(vec![x.re, re], 1)?,
        Raw::cat(vec![x.im, im], 1)?,
    ))
}

#[derive(Clone, Copy, PartialEq)]
enum Real {
    No,
    Input,
    Output,
}

/// `Y[k] = scale Σ X[j] exp(± 2πi jk / n)` by the algorithm of Cooley and Tukey (1965): in the mixed base of the radices, the
/// sum runs over the highest digit of j first, which leaves the lowest digit of k.
///
/// Of real numbers, the lowest digit of k needs to be taken to half its radix only: the others have their conjugates there.
/// To real numbers, the same holds for the lowest digit of j.
struct Transform<'a> {
    radices: &'a [usize],
    sign: Sign,
    scale: f64,
    real: Real,
}

impl Transform<'_> {
    /// `x` is `[rows, parts, indices…]`; the result is `[parts, rows, digits of k…]`, the highest first, as a view.
    fn run<B: Backend>(&self, x: Raw<B>) -> Result<Raw<B>, Error> {
        let rows = x.shape()[0];
        let mut left = x.shape()[2..].iter().product::<usize>();
        let mut y = x;
        let mut digits: Dims = smallvec::smallvec![rows];
        // The frequencies that the digits so far make up, and how many numbers they can make up.
        let (mut frequencies, mut span) = (vec![0], 1);
        for (at, &radix) in self.radices.iter().enumerate() {
            let (first, last) = (at == 0, at + 1 == self.radices.len());
            let half = radix / 2 + 1;
            let (inputs, parts_in, outputs, parts_out) = match self.real {
                Real::Input if first => (radix, 1, half, 2),
                Real::Output if last => (half, 2, radix, 1),
                _ => (radix, 2, radix, 2),
            };
            left /= inputs;
            let stage = Stage {
                radix,
                span,
                inputs,
                outputs,
                parts_in,
                parts_out,
                sign: self.sign,
                scale: if first { self.scale } else { 1.0 },
            };
            y = stage.run(y, rows, &frequencies, left)?;
            frequencies = (frequencies.iter())
                .flat_map(|k| (0..outputs).map(move |digit| k + span * digit))
                .collect();
            span *= radix;
            digits.push(outputs);
        }
        let parts = if self.real == Real::Output { 1 } else { 2 };
        digits.push(parts);
        let order: Dims = [digits.len() - 1, 0]
            .into_iter()
            .chain((1..digits.len() - 1).rev())
            .collect();
        y.reshape(digits)?.permute(order)
    }
}

/// The sum over one digit of j.
struct Stage {
    radix: usize,
    /// The product of the radices before.
    span: usize,
    inputs: usize,
    outputs: usize,
    parts_in: usize,
    parts_out: usize,
    sign: Sign,
    scale: f64,
}

impl Stage {
    /// `[rows, frequencies, parts, inputs, left]` to `[rows, frequencies, outputs, parts, left]`
    fn run<B: Backend>(
        &self,
        y: Raw<B>,
        rows: usize,
        frequencies: &[usize],
        left: usize,
    ) -> Result<Raw<B>, Error> {
        let before = frequencies.len();
        let width = self.parts_in * self.inputs;
        // Matrices that hold the twiddle factors too, one for each frequency so far, where each meets enough vectors to be
        // worth it.
        if before == 1 || rows * left >= 4 * self.radix {
            let matrix = self.matrix(frequencies, self.span * self.radix, &y)?;
            if left == 1 {
                let y = y.reshape([rows, before, width])?.swap_dims(0, 1)?;
                return y.matmul(matrix.transpose()?)?.swap_dims(0, 1);
            }
            let y = y.reshape([rows, before, width, left])?;
            return matrix.unsqueeze_dim(0)?.matmul(y);
        }
        let y = y.reshape([rows, before, 2, self.inputs, left])?;
        let y = self.twiddled(y, frequencies)?;
        let matrix = self.matrix(&[0], self.radix, &y)?;
        if left == 1 {
            return y
                .reshape([rows * before, width])?
                .matmul(matrix.squeeze_dim(0)?.transpose()?);
        }
        matrix.matmul(y.reshape([rows * before, width, left])?)
    }

    /// `y` times `exp(± 2πi jk / n)`, where k are the frequencies so far.
    fn twiddled<B: Backend>(&self, y: Raw<B>, frequencies: &[usize]) -> Result<Raw<B>, Error> {
        let factors = self.factors(frequencies.iter().copied(), self.span * self.radix);
        let factors = Complex::constants(&factors, &[1, frequencies.len(), self.inputs, 1], &y)?;
        Complex::unstack(y, 2)?.mul(factors)?.stack(2)
    }

    /// `exp(± 2πi jk / n)` for each k and each j.
    fn factors(&self, frequencies: impl Iterator<Item = usize>, n: usize) -> Vec<(f64, f64)> {
        let roots = roots(n, self.sign);
        let mut factors = Vec::new();
        for k in frequencies {
            // jk modulo n, without a division each.
            let mut at = 0;
            factors.extend((0..self.inputs).map(|_| {
                let factor = roots[at];
                at += k;
                at -= if at >= n { n } else { 0 };
                factor
            }));
        }
        factors
    }

    /// A matrix for each frequency so far: `[frequencies, outputs · parts, parts · inputs]`.
    fn matrix<B: Backend>(&self, frequencies: &[usize], n: usize, like: &Raw<B>) -> Result<Raw<B>, Error> {
        let (width, height) = (self.parts_in * self.inputs, self.outputs * self.parts_out);
        let step = n / self.radix;
        let all = |&before: &usize| (0..self.outputs).map(move |output| before + step * output);
        let mut factors = self.factors(frequencies.iter().flat_map(all), n);
        let mut values = Vec::with_capacity(frequencies.len() * width * height);
        for row in factors.chunks_exact_mut(self.inputs) {
            for (j, (re, im)) in row.iter_mut().enumerate() {
                // Two conjugates add up to twice the real part.
                let paired = self.parts_out == 1 && j != 0 && 2 * j != self.radix;
                let weight = if paired { 2.0 * self.scale } else { self.scale };
                (*re, *im) = (weight * *re, weight * *im);
            }
            values.extend(row.iter().map(|w| w.0));
            if self.parts_in == 2 {
                values.extend(row.iter().map(|w| -w.1));
            }
            if self.parts_out == 2 {
                values.extend(row.iter().map(|w| w.1));
                if self.parts_in == 2 {
                    values.extend(row.iter().map(|w| w.0));
                }
            }
        }
        constants(values.into_iter(), &[frequencies.len(), height, width], like)
    }
}

/// The first `kept` of `n` frequencies, whatever n is, as a convolution with a chirp (L. I. Bluestein 1970):
/// `jk = (j² + k² - (k - j)²) / 2`.
fn chirp<B: Backend>(
    re: Raw<B>,
    im: Option<Raw<B>>,
    n: usize,
    kept: usize,
    sign: Sign,
    scale: f64,
) -> Result<Complex<B>, Error> {
    let given = re.shape()[1];
    let len = smooth(given + kept - 1);
    // exp(± πi j² / n)
    let table = roots(2 * n, sign);
    let at = |j: usize| table[(j as u128 * j as u128 % (2 * n as u128)) as usize];
    let factors = |len: usize| (0..len).map(at).collect::<Vec<_>>();
    let before = Complex::constants(&factors(given), &[1, given], &re)?;
    let after: Vec<_> = factors(kept)
        .into_iter()
        .map(|(re, im)| (re * scale, im * scale))
        .collect();
    let after = Complex::constants(&after, &[1, kept], &re)?;
    let mut kernel = vec![(0.0, 0.0); len];
    for j in 0..given.max(kept) {
        let (re, im) = at(j);
        if j < kept {
            kernel[j] = (re, -im);
        }
        if (1..given).contains(&j) {
            kernel[len - j] = (re, -im);
        }
    }
    let kernel = complex(Complex::constants(&kernel, &[1, len], &re)?, false)?;
    let x = match im {
        Some(im) => Complex::new(re, im).mul(before)?,
        None => Complex::new(re.clone().mul(before.re)?, re.mul(before.im)?),
    };
    let x = complex(x.map(|x| x.pad([(0, len - given)], 0))?, false)?;
    let y = complex(x.mul(kernel)?, true)?;
    y.map(|y| y.narrow(1, 0, kept))?.mul(after)
}

/// Numbers of which `n` is the product, each at most [`MAX_RADIX`] and all about equal, the greatest first; `None` if a prime
/// factor is greater.
fn radices(n: usize) -> Option<Vec<usize>> {
    let (mut primes, mut rest) = (vec![], n);
    for p in 2..=MAX_RADIX {
        while rest % p == 0 {
            primes.push(p);
            rest /= p;
        }
    }
    if rest != 1 {
        return None;
    }
    let balanced = |count: usize| {
        let mut radices = vec![1; count];
        for p in primes.iter().rev() {
            let least = (0..count).min_by_key(|&i| radices[i])?;
            radices[least] *= p;
        }
        radices.iter().all(|&radix| radix <= MAX_RADIX).then_some(radices)
    };
    let mut radices = (1..).find_map(balanced)?;
    radices.sort_unstable_by(|a, b| b.cmp(a));
    Some(radices)
}

/// Constants beside `like`, of its element type, `f32` or `f64`, and on its device.
fn constants<B: Backend>(
    values: impl Iterator<Item = f64>,
    shape: &[usize],
    like: &Raw<B>,
) -> Result<Raw<B>, Error> {
    let (shape, device) = (Shape::from(shape), like.device());
    if like.dtype() == DType::F64 {
        return Raw::from_vec(values.collect::<Vec<f64>>(), shape, &device);
    }
    Raw::from_vec(values.map(|v| v as f32).collect::<Vec<f32>>(), shape, &device)
}
