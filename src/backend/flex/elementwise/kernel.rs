//! The loops of an op, over slices. What divides and gathers operands is compiled once per element type, and these
//! once per op and element type.

use super::super::parallel::Part;
use super::super::simd::vectorised;

/// The loops of a unary op that gives its operand's element type.
pub(super) trait Unary<E>: Sync {
    /// `f(x)` for each `x`, into `out`.
    fn write(&self, x: &[E], out: &mut Part<E>);
    /// `x = f(x)` for each `x`.
    fn update(&self, x: &mut [E]);
    /// How many times longer than an addition an element takes.
    fn weight(&self) -> usize;
}

/// The loop of a binary op that gives another element type.
pub(super) trait Zip<E, R>: Sync {
    /// `f(a, b)` for each pair, into `out`.
    fn write(&self, a: &[E], b: &[E], out: &mut Part<R>);
}

/// The loops of a binary op that gives its operands' element type.
pub(super) trait Binary<E>: Zip<E, E> {
    /// `a = f(a, b)` for each pair.
    fn update_left(&self, a: &mut [E], b: &[E]);
    /// `b = f(a, b)` for each pair.
    fn update_right(&self, a: &[E], b: &mut [E]);
    /// How many times longer than an addition an element takes.
    fn weight(&self) -> usize;
}

/// An op that takes about as long as an addition.
pub(super) struct Light<F>(pub(super) F);

/// An op that takes much longer than an addition.
pub(super) struct Heavy<F>(pub(super) F);

const HEAVY: usize = 8;

macro_rules! loops {
    ($kind:ident, $weight:expr) => {
        impl<E: Copy, F: Fn(E) -> E + Sync> Unary<E> for $kind<F> {
            fn write(&self, x: &[E], out: &mut Part<E>) {
                vectorised(|| out.extend(x.iter().map(|&x| (self.0)(x))))
            }
            fn update(&self, x: &mut [E]) {
                vectorised(|| x.iter_mut().for_each(|x| *x = (self.0)(*x)))
            }
            fn weight(&self) -> usize {
                $weight
            }
        }

        impl<E: Copy, R: Copy, F: Fn(E, E) -> R + Sync> Zip<E, R> for $kind<F> {
            fn write(&self, a: &[E], b: &[E], out: &mut Part<R>) {
                vectorised(|| out.extend(a.iter().zip(b).map(|(&a, &b)| (self.0)(a, b))))
            }
        }

        impl<E: Copy, F: Fn(E, E) -> E + Sync> Binary<E> for $kind<F> {
            fn update_left(&self, a: &mut [E], b: &[E]) {
                vectorised(|| a.iter_mut().zip(b).for_each(|(a, &b)| *a = (self.0)(*a, b)))
            }
            fn update_right(&self, a: &[E], b: &mut [E]) {
                vectorised(|| a.iter().zip(b).for_each(|(&a, b)| *b = (self.0)(a, *b)))
            }
            fn weight(&self) -> usize {
                $weight
            }
        }
    };
}

loops!(Light, 1);
loops!(Heavy, HEAVY);
