//! Transforms side by side.

use super::transform::Float;
use crate::backend::flex::fused::real;
use crate::backend::flex::simd::vectorised;
use crate::op::roots::turn;

/// How many transforms run side by side: a cache line of `f32`, and one or more of any processor's vectors.
pub(super) const LANES: usize = 16;

/// The greatest prime factor of a length that has a stage.
pub(super) const MAX_RADIX: usize = 31;

/// A real and an imaginary part.
pub(super) type Number<F> = (F, F);

/// One number of each of the transforms.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Pack<F> {
    pub(super) re: [F; LANES],
    pub(super) im: [F; LANES],
}

impl<F: Float> Pack<F> {
    pub(super) const ZERO: Self = Pack {
        re: [F::ZERO; LANES],
        im: [F::ZERO; LANES],
    };

    #[inline(always)]
    pub(super) fn at(&self, lane: usize) -> Number<F> {
        (self.re[lane], self.im[lane])
    }

    #[inline(always)]
    fn times(&self, factor: Number<F>) -> Self {
        let mut product = Pack::ZERO;
        for l in 0..LANES {
            product.set(l, times(self.at(l), factor));
        }
        product
    }

    #[inline(always)]
    pub(super) fn set(&mut self, lane: usize, (re, im): Number<F>) {
        self.re[lane] = re;
        self.im[lane] = im;
    }
}

/// `Σ x[j] exp(-2πi jk / len)` in every lane, by the algorithm of T. G. Stockham (1966): Cooley and Tukey's, where each stage
/// writes what it has in the order of the result.
pub(super) struct Stages<F> {
    pub(super) len: usize,
    stages: Vec<Stage<F>>,
}

struct Stage<F> {
    radix: usize,
    /// The roots of unity of this order.
    roots: Vec<Number<F>>,
    /// `exp(-2πi pk / len)`, where `len` is that of what is left to transform, for each p below `len / radix` and each k from 1
    /// on below the radix.
    twiddles: Vec<Number<F>>,
}

/// Whether no prime factor is above [`MAX_RADIX`].
pub(super) fn has_stages(len: usize) -> bool {
    radices(len).iter().product::<usize>() == len
}

/// Of the stages of a length, as far as it has them.
fn radices(mut len: usize) -> Vec<usize> {
    let mut radices = Vec::new();
    if len.trailing_zeros() % 2 == 1 {
        radices.push(2);
        len /= 2;
    }
    for radix in [4, 3].into_iter().chain((5..=MAX_RADIX).step_by(2)) {
        while len.is_multiple_of(radix) {
            radices.push(radix);
            len /= radix;
        }
    }
    radices
}

impl<F: Float> Stages<F> {
    /// Of a length that [`has_stages`].
    pub(super) fn new(len: usize) -> Self {
        let mut left = len;
        let stages = radices(len).into_iter().map(|radix| {
            left /= radix;
            Stage::new(radix, left)
        });
        Stages {
            stages: stages.collect(),
            len,
        }
    }

    /// Transforms `x`, with `room` for as much; the result is in one of both.
    pub(super) fn run<'a>(&self, mut x: &'a mut [Pack<F>], mut room: &'a mut [Pack<F>]) -> &'a mut [Pack<F>] {
        vectorised(
            #[inline(always)]
            move || {
                let mut stride = 1;
                for stage in &self.stages {
                    stage.run(x, room, stride);
                    stride *= stage.radix;
                    (x, room) = (room, x);
                }
                x
            },
        )
    }
}

impl<F: Float> Stage<F> {
    /// The stage that leaves transforms of length `rest`.
    fn new(radix: usize, rest: usize) -> Self {
        let twiddles = (0..rest).flat_map(|p| (1..radix).map(move |k| root(p * k, rest * radix)));
        Stage {
            radix,
            roots: (0..radix).map(|k| root(k, radix)).collect(),
            twiddles: twiddles.collect(),
        }
    }

    /// From `[radix, p, stride]` to `[p, radix, stride]`, where the stride holds the frequencies so far.
    #[inline(always)]
    fn run(&self, x: &[Pack<F>], y: &mut [Pack<F>], stride: usize) {
        match self.radix {
            2 => self.each(x, y, stride, two),
            3 => self.each(x, y, stride, three),
            4 => self.each(x, y, stride, four),
            5 => self.each(x, y, stride, five),
            _ => self.odd(x, y, stride),
        }
    }

    #[inline(always)]
    fn each<const R: usize>(
        &self,
        x: &[Pack<F>],
        y: &mut [Pack<F>],
        stride: usize,
        f: impl Fn([Number<F>; R], &[Number<F>]) -> [Number<F>; R],
    ) {
        let step = x.len() / R;
        // Apart from what is written, so that the loop over the lanes can be one of vectors.
        let mut room = [Pack::ZERO; R];
        let blocks = y.chunks_exact_mut(R * stride);
        for ((p, y), twiddles) in blocks.enumerate().zip(self.twiddles.chunks_exact(R - 1)) {
            for q in 0..stride {
                let x: [&Pack<F>; R] = std::array::from_fn(|j| &x[j * step + p * stride + q]);
                if p == 0 {
                    // Factors of 1: an infinite part times their 0 would be NaN.
                    for l in 0..LANES {
                        let values = f(x.map(|x| x.at(l)), &self.roots);
                        for k in 0..R {
                            room[k].set(l, values[k]);
                        }
                    }
                } else {
                    for l in 0..LANES {
                        let values = f(x.map(|x| x.at(l)), &self.roots);
                        room[0].set(l, values[0]);
                        for k in 1..R {
                            room[k].set(l, times(values[k], twiddles[k - 1]));
                        }
                    }
                }
                for (k, room) in room.iter().enumerate() {
                    y[k * stride + q] = *room;
                }
            }
        }
    }

    /// Of any odd radix: `x[j]` and `x[radix - j]` share their cosines, and their sines but for the sign.
    #[inline(always)]
    fn odd(&self, x: &[Pack<F>], y: &mut [Pack<F>], stride: usize) {
        let radix = self.radix;
        let (step, half) = (x.len() / radix, radix / 2);
        let mut sums = [Pack::ZERO; MAX_RADIX / 2];
        let mut differences = [Pack::ZERO; MAX_RADIX / 2];
        let blocks = y.chunks_exact_mut(radix * stride);
        for ((p, y), twiddles) in blocks.enumerate().zip(self.twiddles.chunks_exact(radix - 1)) {
            for q in 0..stride {
                let x = |j: usize| &x[j * step + p * stride + q];
                let mut total = *x(0);
                for j in 1..=half {
                    for l in 0..LANES {
                        let (a, b) = (x(j).at(l), x(radix - j).at(l));
                        sums[j - 1].set(l, plus(a, b));
                        differences[j - 1].set(l, minus(a, b));
                        total.set(l, plus(total.at(l), plus(a, b)));
                    }
                }
                y[q] = total;
                for k in 1..=half {
                    let (mut even, mut odd) = (*x(0), Pack::ZERO);
                    let mut at = 0;
                    for (sum, difference) in sums.iter().zip(&differences).take(half) {
                        at += k;
                        at -= if at >= radix { radix } else { 0 };
                        let (cos, sin) = self.roots[at];
                        for l in 0..LANES {
                            even.set(l, plus(even.at(l), scaled(sum.at(l), cos)));
                            odd.set(l, plus(odd.at(l), scaled(difference.at(l), sin)));
                        }
                    }
                    let (mut low, mut high) = (Pack::ZERO, Pack::ZERO);
                    for l in 0..LANES {
                        let (even, odd) = (even.at(l), turned(odd.at(l)));
                        low.set(l, minus(even, odd));
                        high.set(l, plus(even, odd));
                    }
                    for (k, pack) in [(k, low), (radix - k, high)] {
                        y[k * stride + q] = if p > 0 { pack.times(twiddles[k - 1]) } else { pack };
                    }
                }
            }
        }
    }
}

/// `exp(-2πi k / n)`
pub(super) fn root<F: Float>(k: usize, n: usize) -> Number<F> {
    let (cos, sin) = turn(k, n);
    (real(cos), real(-sin))
}

#[inline(always)]
pub(super) fn plus<F: Float>(a: Number<F>, b: Number<F>) -> Number<F> {
    (a.0 + b.0, a.1 + b.1)
}

#[inline(always)]
pub(super) fn minus<F: Float>(a: Number<F>, b: Number<F>) -> Number<F> {
    (a.0 - b.0, a.1 - b.1)
}

#[inline(always)]
pub(super) fn times<F: Float>(a: Number<F>, b: Number<F>) -> Number<F> {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

#[inline(always)]
fn scaled<F: Float>(a: Number<F>, factor: F) -> Number<F> {
    (a.0 * factor, a.1 * factor)
}

/// `-i a`
#[inline(always)]
fn turned<F: Float>(a: Number<F>) -> Number<F> {
    (a.1, -a.0)
}

#[inline(always)]
fn two<F: Float>([a, b]: [Number<F>; 2], _: &[Number<F>]) -> [Number<F>; 2] {
    [plus(a, b), minus(a, b)]
}

#[inline(always)]
fn three<F: Float>([a, b, c]: [Number<F>; 3], roots: &[Number<F>]) -> [Number<F>; 3] {
    let (cos, sin) = roots[1];
    let sum = plus(b, c);
    let even = plus(a, scaled(sum, cos));
    // The sine of a root is negative here: `sin` times i is what `turned` takes back.
    let odd = turned(scaled(minus(b, c), -sin));
    [plus(a, sum), plus(even, odd), minus(even, odd)]
}

#[inline(always)]
fn four<F: Float>([a, b, c, d]: [Number<F>; 4], _: &[Number<F>]) -> [Number<F>; 4] {
    let (even, odd) = (plus(a, c), plus(b, d));
    let (even_rest, odd_rest) = (minus(a, c), turned(minus(b, d)));
    [
        plus(even, odd),
        plus(even_rest, odd_rest),
        minus(even, odd),
        minus(even_rest, odd_rest),
    ]
}

#[inline(always)]
fn five<F: Float>([a, b, c, d, e]: [Number<F>; 5], roots: &[Number<F>]) -> [Number<F>; 5] {
    let [(cos, sin), (cos2, sin2)] = [roots[1], roots[2]];
    let (outer, inner) = (plus(b, e), plus(c, d));
    let (outer_rest, inner_rest) = (minus(b, e), minus(c, d));
    let even = plus(a, plus(scaled(outer, cos), scaled(inner, cos2)));
    let even2 = plus(a, plus(scaled(outer, cos2), scaled(inner, cos)));
    let odd = turned(plus(scaled(outer_rest, -sin), scaled(inner_rest, -sin2)));
    let odd2 = turned(minus(scaled(outer_rest, -sin2), scaled(inner_rest, -sin)));
    [
        plus(a, plus(outer, inner)),
        plus(even, odd),
        plus(even2, odd2),
        minus(even2, odd2),
        minus(even, odd),
    ]
}
