//! The loops of an op, over slices. What divides and gathers operands is compiled once per element type, and these
//! once per op and element type.

use super::super::parallel::Part;
use super::super::simd::{vectorised, vectorised_widest};
use super::super::source::BLOCK;

/// The loops of a unary op that gives its operand's element type.
pub(super) trait Unary<E>: Sync {
    /// `f(x)` for each `x`, into `out`.
    fn write(&self, x: &[E], out: &mut Part<E>);
    /// `x = f(x)` for each `x`.
    fn update(&self, x: &mut [E]);
    /// How many times longer than an addition an element takes.
    fn weight(&self) -> usize;
}

/// The loop of a binary op that may give another element type.
pub(super) trait Zip<E, R>: Sync {
    /// `f(a, b)` for each pair, into `out`.
    fn write(&self, a: &[E], b: &[E], out: &mut Part<R>);
}

/// The loops of a binary op that gives its operands' element type.
pub(super) trait Binary<E>: Zip<E, E> {
    /// `a = f(a, b)` for each pair.
    fn update(&self, a: &mut [E], b: &[E]);
    /// How many times longer than an addition an element takes.
    fn weight(&self) -> usize;
}

/// An op that takes about as long as an addition.
pub(super) struct Light<F>(pub(super) F);

/// An op of many instructions, all of which vectorise.
pub(super) struct Heavy<F>(pub(super) F);

/// An op that does not vectorise.
pub(super) struct Serial<F>(pub(super) F);

macro_rules! loops {
    ($kind:ident, $weight:expr, $run:path) => {
        impl<E: Copy, F: Fn(E) -> E + Sync> Unary<E> for $kind<F> {
            fn write(&self, x: &[E], out: &mut Part<E>) {
                $run(|| out.extend(x.iter().map(|&x| (self.0)(x))))
            }
            fn update(&self, x: &mut [E]) {
                $run(|| x.iter_mut().for_each(|x| *x = (self.0)(*x)))
            }
            fn weight(&self) -> usize {
                $weight
            }
        }

        impl<E: Copy, R: Copy, F: Fn(E, E) -> R + Sync> Zip<E, R> for $kind<F> {
            fn write(&self, a: &[E], b: &[E], out: &mut Part<R>) {
                $run(|| out.extend(a.iter().zip(b).map(|(&a, &b)| (self.0)(a, b))))
            }
        }

        impl<E: Copy, F: Fn(E, E) -> E + Sync> Binary<E> for $kind<F> {
            fn update(&self, a: &mut [E], b: &[E]) {
                $run(|| a.iter_mut().zip(b).for_each(|(a, &b)| *a = (self.0)(*a, b)))
            }
            fn weight(&self) -> usize {
                $weight
            }
        }
    };
}

loops!(Light, 1, vectorised);
loops!(Heavy, 2, vectorised_widest);
loops!(Serial, 32, plainly);

fn plainly(f: impl FnOnce()) {
    f()
}

/// A function of `f32` with a fast form for all but huge arguments, and one for any.
pub(super) struct Bounded<F, G> {
    /// The greatest magnitude that the fast form takes.
    pub(super) limit: f32,
    pub(super) fast: F,
    pub(super) any: G,
}

impl<F: Fn(f32) -> f32 + Sync, G: Fn(f32) -> f32 + Sync> Unary<f32> for Bounded<F, G> {
    fn write(&self, x: &[f32], out: &mut Part<f32>) {
        for x in x.chunks(BLOCK) {
            if self.within(x) {
                vectorised_widest(|| out.extend(x.iter().map(|&x| (self.fast)(x))));
            } else {
                out.extend(x.iter().map(|&x| (self.any)(x)));
            }
        }
    }
    fn update(&self, x: &mut [f32]) {
        for x in x.chunks_mut(BLOCK) {
            if self.within(x) {
                vectorised_widest(|| x.iter_mut().for_each(|x| *x = (self.fast)(*x)));
            } else {
                x.iter_mut().for_each(|x| *x = (self.any)(*x));
            }
        }
    }
    fn weight(&self) -> usize {
        8
    }
}

impl<F, G> Bounded<F, G> {
    fn within(&self, x: &[f32]) -> bool {
        vectorised(|| {
            x.iter()
                .fold(true, |within, x| within & ((x.abs() <= self.limit) | x.is_nan()))
        })
    }
}
