//! How rows of one length are transformed.

use super::stages::{LANES, Number, Pack, Stages, has_stages, times};
use super::transform::Float;
use crate::backend::flex::fused::real;
use crate::backend::flex::simd::vectorised;
use crate::op::roots::{Sign, roots, smooth};

/// From this length on, the lanes hold parts of one row, even where there are rows for all of them: they do not fit the
/// nearest cache.
const LONG: usize = 256;

/// `Σ x[j] exp(-2πi jk / len)` of rows of one length.
pub(super) struct Plan<F> {
    smooth: Smooth<F>,
    chirp: Option<Chirp<F>>,
}

/// For lengths whose prime factors have stages.
struct Smooth<F> {
    columns: Stages<F>,
    /// None if each lane holds a row.
    rows: Option<Rest<F>>,
}

/// Of a row as a matrix, whose columns are transformed first (the four steps of W. M. Gentleman and G. Sande 1966).
struct Rest<F> {
    stages: Stages<F>,
    /// `exp(-2πi jk / len)` for the frequency k of a column and its place j, in packs of columns.
    twiddles: Vec<Pack<F>>,
}

/// For other lengths: a convolution with `exp(πi j² / len)`, by transforms of a smooth length (L. I. Bluestein 1970):
/// `jk = (j² + k² - (k - j)²) / 2`.
struct Chirp<F> {
    len: usize,
    /// `exp(-πi j² / len)`
    factors: Vec<Number<F>>,
    /// The spectrum of its inverse, over the smooth length.
    kernel: [Vec<F>; 2],
}

/// Rows to transform, one after another.
#[derive(Clone, Copy)]
pub(super) enum Source<'a, F> {
    Parts(&'a [F], &'a [F]),
    /// Real parts.
    Real(&'a [F]),
    /// A real part, an imaginary part, and so on.
    Pairs(&'a [F]),
}

/// Where their spectra go.
pub(super) enum Sink<'a, F> {
    Parts(&'a mut [F], &'a mut [F]),
    /// An imaginary part, a real part, and so on: pairs of which the parts were exchanged.
    Exchanged(&'a mut [F]),
}

/// What a transform needs beside what it reads and writes.
pub(super) struct Scratch<F> {
    packs: Vec<Pack<F>>,
    /// The parts of the rows of a chirp, twice.
    parts: [Vec<F>; 4],
}

impl<F: Float> Plan<F> {
    /// How many numbers making a plan and running it takes for each of a row, at most: mostly roots of unity, in `f64`, and
    /// copies of the row; for a convolution, of 2.5 times its length.
    pub(super) fn numbers(len: usize) -> usize {
        if has_stages(len) { 12 } else { 60 }
    }

    /// For rows of `len` numbers, of which there are `many` or a few.
    pub(super) fn new(len: usize, many: bool) -> Self {
        if let Some(smooth) = Smooth::new(len, many) {
            return Plan { smooth, chirp: None };
        }
        let smooth = Smooth::new(smooth(2 * len - 1), many).expect("2, 3 and 5 have stages");
        Plan {
            chirp: Some(Chirp::new(len, &smooth)),
            smooth,
        }
    }

    /// How many rows there are in a block.
    pub(super) fn block(&self) -> usize {
        self.smooth.block()
    }

    pub(super) fn len(&self) -> usize {
        self.chirp.as_ref().map_or(self.smooth.len(), |chirp| chirp.len)
    }

    pub(super) fn scratch(&self) -> Scratch<F> {
        let part = if self.chirp.is_some() {
            self.block() * self.smooth.len()
        } else {
            0
        };
        Scratch {
            packs: vec![Pack::ZERO; self.smooth.packs()],
            parts: std::array::from_fn(|_| vec![F::ZERO; part]),
        }
    }

    /// Transforms a block of rows or less.
    pub(super) fn run(&self, rows: usize, x: Source<F>, y: Sink<F>, scratch: &mut Scratch<F>) {
        match &self.chirp {
            Some(chirp) => chirp.run(&self.smooth, rows, x, y, scratch),
            None => self.smooth.run(rows, x, y, &mut scratch.packs),
        }
    }
}

impl<F: Float> Smooth<F> {
    fn new(len: usize, many: bool) -> Option<Self> {
        if !has_stages(len) {
            return None;
        }
        let in_lanes = |len| Smooth {
            columns: Stages::new(len),
            rows: None,
        };
        if len < if many { LONG } else { LANES } {
            return Some(in_lanes(len));
        }
        // Packs in which few lanes are empty, then sides that are about equal.
        let packs = |a: usize| a.div_ceil(LANES) * (len / a) + (len / a).div_ceil(LANES) * a;
        let sides = (2..=len.isqrt()).filter(|&a| len.is_multiple_of(a));
        let Some(side) = sides.min_by_key(|&a| (packs(a), len - a)) else {
            return Some(in_lanes(len));
        };
        if !many && packs(side) >= len {
            return Some(in_lanes(len));
        }
        let (columns, rows) = (Stages::new(side), Stages::new(len / side));
        let all = roots(len, Sign::Minus);
        let mut twiddles = vec![Pack::ZERO; rows.len.div_ceil(LANES) * side];
        for (i, pack) in twiddles.iter_mut().enumerate() {
            let first = i / side * LANES;
            for j in first..rows.len.min(first + LANES) {
                let (re, im) = all[j * (i % side)];
                pack.set(j - first, (real(re), real(im)));
            }
        }
        Some(Smooth {
            columns,
            rows: Some(Rest {
                stages: rows,
                twiddles,
            }),
        })
    }

    fn len(&self) -> usize {
        self.columns.len * self.rows.as_ref().map_or(1, |rows| rows.stages.len)
    }

    fn block(&self) -> usize {
        if self.rows.is_some() { 1 } else { LANES }
    }

    /// How many packs of scratch a block needs.
    fn packs(&self) -> usize {
        let columns = self.columns.len.next_multiple_of(LANES);
        match &self.rows {
            None => 2 * columns,
            Some(rows) => {
                let rows = rows.stages.len.next_multiple_of(LANES);
                2 * columns.max(rows) + columns / LANES * rows
            }
        }
    }

    fn run(&self, count: usize, x: Source<F>, y: Sink<F>, packs: &mut [Pack<F>]) {
        match &self.rows {
            None => self.rows_in_lanes(count, x, y, packs),
            Some(rows) => self.four_steps(rows, x, y, packs),
        }
    }

    fn rows_in_lanes(&self, count: usize, x: Source<F>, mut y: Sink<F>, packs: &mut [Pack<F>]) {
        let len = self.columns.len;
        let (packs, room) = packs.split_at_mut(packs.len() / 2);
        let mut lanes = [Pack::ZERO; LANES];
        let firsts = (0..len).step_by(LANES);
        vectorised(
            #[inline(always)]
            || {
                for (first, packs) in firsts.clone().zip(packs.as_chunks_mut().0) {
                    for (row, lanes) in lanes[..count].iter_mut().enumerate() {
                        x.load(row * len + first, LANES.min(len - first), lanes);
                    }
                    transpose(&lanes, packs);
                }
            },
        );
        let spectra = self.columns.run(&mut packs[..len], &mut room[..len]);
        vectorised(
            #[inline(always)]
            || {
                for (first, spectra) in firsts.zip(spectra.chunks(LANES)) {
                    transpose(spectra, &mut lanes);
                    for (row, lanes) in lanes[..count].iter().enumerate() {
                        y.store(row * len + first, spectra.len(), lanes);
                    }
                }
            },
        );
    }

    fn four_steps(&self, rows: &Rest<F>, x: Source<F>, mut y: Sink<F>, packs: &mut [Pack<F>]) {
        let (height, width) = (self.columns.len, rows.stages.len);
        let most = height.max(width).next_multiple_of(LANES);
        let (packs, between) = packs.split_at_mut(2 * most);
        let (packs, room) = packs.split_at_mut(most);
        let pitch = width.next_multiple_of(LANES);
        for (i, twiddles) in rows.twiddles.chunks_exact(height).enumerate() {
            let first = i * LANES;
            let count = LANES.min(width - first);
            vectorised(
                #[inline(always)]
                || {
                    for (j, pack) in packs[..height].iter_mut().enumerate() {
                        x.load(j * width + first, count, pack);
                    }
                },
            );
            let spectra = self.columns.run(&mut packs[..height], &mut room[..height]);
            vectorised(
                #[inline(always)]
                || {
                    turn(spectra, twiddles);
                    for (spectra, row) in spectra.chunks(LANES).zip(between.chunks_exact_mut(pitch)) {
                        let to = row[first..]
                            .first_chunk_mut()
                            .expect("the pitch is a multiple of LANES");
                        transpose(spectra, to);
                    }
                },
            );
        }
        for (i, row) in between.chunks_exact_mut(pitch).enumerate() {
            let first = i * LANES;
            let spectra = rows.stages.run(&mut row[..width], &mut room[..width]);
            vectorised(
                #[inline(always)]
                || {
                    for (k, pack) in spectra.iter().enumerate() {
                        y.store(k * height + first, LANES.min(height - first), pack);
                    }
                },
            );
        }
    }
}

impl<F: Float> Chirp<F> {
    fn new(len: usize, smooth: &Smooth<F>) -> Self {
        // j² modulo 2 len, which (j + 1)² exceeds by 2j + 1.
        let all = roots(2 * len, Sign::Minus);
        let squares = (0..len).scan(0, |square, j| {
            let now = *square;
            *square += 2 * j + 1;
            *square -= if *square >= 2 * len { 2 * len } else { 0 };
            Some(now)
        });
        let chirp: Vec<_> = squares.map(|square| all[square]).collect();
        let size = smooth.len();
        let mut parts = [vec![F::ZERO; size], vec![F::ZERO; size]];
        for (j, &(re, im)) in chirp.iter().enumerate() {
            // What the inverse transform divides by is here.
            let (re, im) = (real(re / size as f64), real(-im / size as f64));
            for place in [j, (size - j) % size] {
                (parts[0][place], parts[1][place]) = (re, im);
            }
        }
        let mut kernel = [vec![F::ZERO; size], vec![F::ZERO; size]];
        let [re, im] = &mut kernel;
        let mut packs = vec![Pack::ZERO; smooth.packs()];
        smooth.run(
            1,
            Source::Parts(&parts[0], &parts[1]),
            Sink::Parts(re, im),
            &mut packs,
        );
        Chirp {
            len,
            factors: chirp.into_iter().map(|(re, im)| (real(re), real(im))).collect(),
            kernel,
        }
    }

    fn run(&self, smooth: &Smooth<F>, count: usize, x: Source<F>, mut y: Sink<F>, scratch: &mut Scratch<F>) {
        let (len, size) = (self.len, smooth.len());
        let Scratch { packs, parts } = scratch;
        let [a_re, a_im, b_re, b_im] = parts.each_mut().map(|part| &mut part[..count * size]);
        let mut pack = Pack::ZERO;
        vectorised(
            #[inline(always)]
            || {
                let rows = a_re.chunks_exact_mut(size).zip(a_im.chunks_exact_mut(size));
                for (row, (re, im)) in rows.enumerate() {
                    for (i, factors) in self.factors.chunks(LANES).enumerate() {
                        let first = i * LANES;
                        x.load(row * len + first, factors.len(), &mut pack);
                        for (l, &factor) in factors.iter().enumerate() {
                            (re[first + l], im[first + l]) = times(pack.at(l), factor);
                        }
                    }
                    re[len..].fill(F::ZERO);
                    im[len..].fill(F::ZERO);
                }
            },
        );
        smooth.run(count, Source::Parts(a_re, a_im), Sink::Parts(b_re, b_im), packs);
        vectorised(
            #[inline(always)]
            || {
                let [kernel_re, kernel_im] = &self.kernel;
                for (re, im) in b_re.chunks_exact_mut(size).zip(b_im.chunks_exact_mut(size)) {
                    let factors = kernel_re.iter().zip(kernel_im);
                    for ((re, im), (&w, &v)) in re.iter_mut().zip(im).zip(factors) {
                        (*re, *im) = times((*re, *im), (w, v));
                    }
                }
            },
        );
        // The inverse is the transform with the parts exchanged.
        smooth.run(count, Source::Parts(b_im, b_re), Sink::Parts(a_im, a_re), packs);
        vectorised(
            #[inline(always)]
            || {
                for row in 0..count {
                    for (i, factors) in self.factors.chunks(LANES).enumerate() {
                        let first = i * LANES;
                        for (l, &factor) in factors.iter().enumerate() {
                            let place = row * size + first + l;
                            pack.set(l, times((a_re[place], a_im[place]), factor));
                        }
                        y.store(row * len + first, factors.len(), &pack);
                    }
                }
            },
        );
    }
}

impl<F: Float> Source<'_, F> {
    /// Fills the first `count` lanes with the numbers from `start` on.
    #[inline(always)]
    fn load(&self, start: usize, count: usize, to: &mut Pack<F>) {
        match *self {
            Source::Parts(re, im) => {
                copy(&re[start..][..count], &mut to.re);
                copy(&im[start..][..count], &mut to.im);
            }
            Source::Real(re) => {
                copy(&re[start..][..count], &mut to.re);
                to.im = [F::ZERO; LANES];
            }
            Source::Pairs(x) => {
                let pairs = &x[2 * start..][..2 * count];
                let mut whole = [F::ZERO; 2 * LANES];
                let pairs = pairs.first_chunk().unwrap_or_else(|| {
                    whole[..pairs.len()].copy_from_slice(pairs);
                    &whole
                });
                for l in 0..LANES {
                    to.set(l, (pairs[2 * l], pairs[2 * l + 1]));
                }
            }
        }
    }
}

impl<F: Float> Sink<'_, F> {
    /// Writes the first `count` lanes to the places from `start` on.
    #[inline(always)]
    fn store(&mut self, start: usize, count: usize, pack: &Pack<F>) {
        match self {
            Sink::Parts(re, im) => {
                put(&pack.re, &mut re[start..][..count]);
                put(&pack.im, &mut im[start..][..count]);
            }
            Sink::Exchanged(y) => {
                let mut whole = [F::ZERO; 2 * LANES];
                for l in 0..LANES {
                    whole[2 * l] = pack.im[l];
                    whole[2 * l + 1] = pack.re[l];
                }
                let y = &mut y[2 * start..][..2 * count];
                match y.first_chunk_mut() {
                    Some(y) => *y = whole,
                    None => y.copy_from_slice(&whole[..2 * count]),
                }
            }
        }
    }
}

/// Copies `LANES` numbers or less; all of them without a call.
#[inline(always)]
fn copy<F: Float>(from: &[F], to: &mut [F; LANES]) {
    match from.first_chunk() {
        Some(from) => *to = *from,
        None => to[..from.len()].copy_from_slice(from),
    }
}

#[inline(always)]
fn put<F: Float>(from: &[F; LANES], to: &mut [F]) {
    match to.first_chunk_mut() {
        Some(to) => *to = *from,
        None => to.copy_from_slice(&from[..to.len()]),
    }
}

/// Multiplies packs by others.
#[inline(always)]
fn turn<F: Float>(packs: &mut [Pack<F>], by: &[Pack<F>]) {
    for (pack, by) in packs.iter_mut().zip(by) {
        let mut product = Pack::ZERO;
        for l in 0..LANES {
            product.set(l, times(pack.at(l), by.at(l)));
        }
        *pack = product;
    }
}

/// Numbers of `LANES` packs or less, each in a lane of its own.
#[inline(always)]
fn transpose<F: Float>(from: &[Pack<F>], to: &mut [Pack<F>; LANES]) {
    for (i, from) in from.iter().enumerate() {
        for (l, to) in to.iter_mut().enumerate() {
            to.set(i, from.at(l));
        }
    }
}
