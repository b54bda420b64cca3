//! Rows of real or complex numbers and their spectra.

use std::sync::{Arc, Mutex, PoisonError};

use super::plan::{Plan, Scratch, Sink, Source};
use super::stages::{LANES, times};
use crate::backend::flex::elementwise::Real;
use crate::backend::flex::fused::real;
use crate::backend::flex::parallel::{divide, job_size};
use crate::backend::flex::simd::vectorised;
use crate::element::Element;
use crate::op::roots::{Sign, roots};

/// How many times longer than an addition a number takes.
const WEIGHT: usize = 16;

/// How many transforms are kept for the next call, and the greatest sum of their lengths.
pub(super) const KEPT: usize = 16;
const KEPT_NUMBERS: usize = 1 << 18;

/// A float type that there is a kernel for.
pub(super) trait Float: Real + Element {
    /// The transforms that were used last, the latest at the end.
    fn kept() -> &'static Mutex<Vec<Arc<Transform<Self>>>>;
}

impl Float for f64 {
    fn kept() -> &'static Mutex<Vec<Arc<Transform<Self>>>> {
        static TRANSFORMS: Mutex<Vec<Arc<Transform<f64>>>> = Mutex::new(Vec::new());
        &TRANSFORMS
    }
}

impl Float for f32 {
    fn kept() -> &'static Mutex<Vec<Arc<Transform<Self>>>> {
        static TRANSFORMS: Mutex<Vec<Arc<Transform<f32>>>> = Mutex::new(Vec::new());
        &TRANSFORMS
    }
}

/// What is known of transforms of one length before there are rows.
pub(super) struct Transform<F> {
    /// Of the rows; the plan's is half of it where two real numbers are one complex.
    len: usize,
    of_real: bool,
    many: bool,
    plan: Plan<F>,
    /// `exp(-2πi k / len) / 2` where two real numbers are one complex, for each k below half the length.
    halves: [Vec<F>; 2],
}

/// Rows that are transformed together, and their places in the result.
pub(super) struct Block<'a, F> {
    first: usize,
    rows: usize,
    re: &'a mut [F],
    im: &'a mut [F],
}

/// What a job needs for its blocks.
pub(super) struct Room<F> {
    scratch: Scratch<F>,
    /// The parts of rows, twice.
    parts: [Vec<F>; 4],
}

impl<F: Float> Transform<F> {
    /// How many numbers making a transform and running it takes for each of a row, at most.
    pub(super) fn numbers(len: usize) -> usize {
        Plan::<F>::numbers(len) + 10
    }

    /// Of rows of `len` numbers, which are real ones on one side.
    pub(super) fn get(len: usize, of_real: bool, rows: usize) -> Arc<Self> {
        let many = rows >= LANES;
        let kept = || F::kept().lock().unwrap_or_else(PoisonError::into_inner);
        let find = |kept: &mut Vec<Arc<Self>>| {
            let found = kept
                .iter()
                .position(|x| (x.len, x.of_real, x.many) == (len, of_real, many))?;
            kept[found..].rotate_left(1);
            kept.last().cloned()
        };
        if let Some(found) = find(&mut kept()) {
            return found;
        }
        let new = Arc::new(Self::new(len, of_real, many));
        if len <= KEPT_NUMBERS {
            let mut kept = kept();
            kept.push(new.clone());
            while kept.len() > KEPT || kept.iter().map(|x| x.len).sum::<usize>() > KEPT_NUMBERS {
                kept.remove(0);
            }
        }
        new
    }

    fn new(len: usize, of_real: bool, many: bool) -> Self {
        let pairs = of_real && len.is_multiple_of(2);
        let half = if pairs { len / 2 } else { 0 };
        let halves = roots(len, Sign::Minus).into_iter().take(half);
        let (re, im) = halves
            .map(|(re, im)| (real::<F>(re / 2.0), real::<F>(im / 2.0)))
            .unzip();
        Transform {
            len,
            of_real,
            many,
            plan: Plan::new(if pairs { half } else { len }, many),
            halves: [re, im],
        }
    }

    fn pairs(&self) -> bool {
        !self.halves[0].is_empty()
    }

    /// A result of so many parts of so many rows, of which `job` fills the blocks.
    pub(super) fn run(
        &self,
        [parts, rows, width]: [usize; 3],
        job: &(dyn Fn(&mut Block<F>, &mut Room<F>) + Sync),
    ) -> Vec<F> {
        let mut out = vec![F::ZERO; parts * rows * width];
        let size = self.plan.block();
        let (re, im) = out.split_at_mut(rows * width);
        let mut im = im.chunks_mut(size * width);
        let blocks = re.chunks_mut(size * width).enumerate().map(|(i, re)| Block {
            first: i * size,
            rows: re.len() / width,
            re,
            im: im.next().unwrap_or_default(),
        });
        let mut blocks: Vec<_> = blocks.collect();
        let jobs = job_size(blocks.len(), WEIGHT * size * self.len);
        divide(&mut blocks, jobs, &|_, blocks| {
            let mut room = self.room();
            blocks.iter_mut().for_each(|block| job(block, &mut room));
        });
        drop(blocks);
        out
    }

    fn room(&self) -> Room<F> {
        let len = if self.of_real {
            self.plan.block() * self.plan.len()
        } else {
            0
        };
        let more = if self.pairs() { 0 } else { len };
        Room {
            scratch: self.plan.scratch(),
            parts: [len, len, more, more].map(|len| vec![F::ZERO; len]),
        }
    }

    /// The spectra of complex rows, or what they are the spectra of.
    pub(super) fn complex(
        &self,
        re: &[F],
        im: &[F],
        inverse: bool,
        block: &mut Block<F>,
        room: &mut Room<F>,
    ) {
        let range = block.first * self.len..(block.first + block.rows) * self.len;
        let (re, im) = (&re[range.clone()], &im[range]);
        let Block {
            rows,
            re: to_re,
            im: to_im,
            ..
        } = block;
        if !inverse {
            return self.plan.run(
                *rows,
                Source::Parts(re, im),
                Sink::Parts(to_re, to_im),
                &mut room.scratch,
            );
        }
        // The sum with exp(iφ) is the one with exp(-iφ) with the parts exchanged.
        self.plan.run(
            *rows,
            Source::Parts(im, re),
            Sink::Parts(to_im, to_re),
            &mut room.scratch,
        );
        let scale = real(1.0 / self.len as f64);
        for part in [to_re, to_im] {
            vectorised(
                #[inline(always)]
                || part.iter_mut().for_each(|x| *x = *x * scale),
            );
        }
    }

    /// The spectra of real rows.
    pub(super) fn real(&self, x: &[F], block: &mut Block<F>, room: &mut Room<F>) {
        let (rows, len, half) = (block.rows, self.plan.len(), self.len / 2);
        let x = &x[block.first * self.len..][..rows * self.len];
        let Room {
            scratch,
            parts: [re, im, ..],
        } = room;
        let source = if self.pairs() {
            Source::Pairs(x)
        } else {
            Source::Real(x)
        };
        self.plan.run(
            rows,
            source,
            Sink::Parts(&mut re[..rows * len], &mut im[..rows * len]),
            scratch,
        );
        let to = block
            .re
            .chunks_exact_mut(half + 1)
            .zip(block.im.chunks_exact_mut(half + 1));
        let from = re.chunks_exact(len).zip(im.chunks_exact(len));
        for ((re, im), (to_re, to_im)) in from.zip(to) {
            if self.pairs() {
                vectorised(
                    #[inline(always)]
                    || self.separate(re, im, to_re, to_im),
                );
            } else {
                to_re.copy_from_slice(&re[..=half]);
                to_im.copy_from_slice(&im[..=half]);
            }
            to_im[0] = F::ZERO;
        }
    }

    /// The spectrum of real numbers from that of `x[2j] + i x[2j + 1]`: the spectra of both are the sum and the difference of what
    /// it has at `k` and the conjugate at `-k`.
    #[inline(always)]
    fn separate(&self, re: &[F], im: &[F], to_re: &mut [F], to_im: &mut [F]) {
        let half = re.len();
        (to_re[0], to_re[half]) = (re[0] + im[0], re[0] - im[0]);
        to_im[half] = F::ZERO;
        let count = half - 1;
        let [w, v] = &self.halves;
        let [re, im, w, v] = [re, im, w, v].map(|x| &x[1..][..count]);
        let (to_re, to_im) = (&mut to_re[1..][..count], &mut to_im[1..][..count]);
        let one_half: F = real(0.5);
        for k in 0..count {
            let (a, b, c, d) = (re[k], im[k], re[count - 1 - k], im[count - 1 - k]);
            let odd = times((b + d, c - a), (w[k], v[k]));
            to_re[k] = one_half * (a + c) + odd.0;
            to_im[k] = one_half * (b - d) + odd.1;
        }
    }

    /// The inverse of [`Transform::real`].
    pub(super) fn to_real(&self, re: &[F], im: &[F], block: &mut Block<F>, room: &mut Room<F>) {
        let (rows, len, kept) = (block.rows, self.plan.len(), self.len / 2 + 1);
        let range = block.first * kept..(block.first + rows) * kept;
        let from = re[range.clone()]
            .chunks_exact(kept)
            .zip(im[range].chunks_exact(kept));
        let Room {
            scratch,
            parts: [z_re, z_im, y_re, y_im],
        } = room;
        let to = z_re.chunks_exact_mut(len).zip(z_im.chunks_exact_mut(len));
        for ((re, im), (z_re, z_im)) in from.zip(to) {
            if self.pairs() {
                vectorised(
                    #[inline(always)]
                    || self.join(re, im, z_re, z_im),
                );
            } else {
                self.mirror(re, im, z_re, z_im);
            }
        }
        // The parts are exchanged, as in an inverse.
        let source = Source::Parts(&z_im[..rows * len], &z_re[..rows * len]);
        if self.pairs() {
            return self.plan.run(rows, source, Sink::Exchanged(block.re), scratch);
        }
        self.plan.run(
            rows,
            source,
            Sink::Parts(&mut y_im[..rows * len], &mut y_re[..rows * len]),
            scratch,
        );
        block.re.copy_from_slice(&y_re[..rows * len]);
    }

    /// The inverse of [`Transform::separate`], over the length.
    #[inline(always)]
    fn join(&self, re: &[F], im: &[F], z_re: &mut [F], z_im: &mut [F]) {
        let half = z_re.len();
        let scale: F = real(1.0 / half as f64);
        let one_half: F = real(0.5);
        z_re[0] = scale * one_half * (re[0] + re[half]);
        z_im[0] = scale * one_half * (re[0] - re[half]);
        let count = half - 1;
        let [w, v] = &self.halves;
        let [re, im, w, v] = [re, im, w, v].map(|x| &x[1..][..count]);
        let (z_re, z_im) = (&mut z_re[1..][..count], &mut z_im[1..][..count]);
        for k in 0..count {
            let (a, b, c, d) = (re[k], im[k], re[count - 1 - k], im[count - 1 - k]);
            let odd = times((a - c, b + d), (w[k], -v[k]));
            z_re[k] = scale * (one_half * (a + c) - odd.1);
            z_im[k] = scale * (one_half * (b - d) + odd.0);
        }
    }

    /// All frequencies from those up to half the length, over the length.
    fn mirror(&self, re: &[F], im: &[F], z_re: &mut [F], z_im: &mut [F]) {
        let (n, scale) = (self.len, real::<F>(1.0 / self.len as f64));
        (z_re[0], z_im[0]) = (scale * re[0], F::ZERO);
        for k in 1..re.len() {
            (z_re[k], z_im[k]) = (scale * re[k], scale * im[k]);
            (z_re[n - k], z_im[n - k]) = (z_re[k], -z_im[k]);
        }
    }
}
