//! What each reduction does with an element.

use super::super::elementwise::{Block, Half};
use super::super::source::BLOCK;
use super::fold::{Direct, Fold};

/// A reduction of elements `E`. Few elements are joined as `Leaf`, and many of those as `Acc`.
pub(super) trait Rule<E>: Sync {
    type Leaf: Copy;
    type Acc: Copy + Send + Sync;
    type Out;
    const START: Self::Leaf;
    fn load(x: E) -> Self::Leaf;
    fn step(a: Self::Leaf, b: Self::Leaf) -> Self::Leaf;
    fn widen(leaf: Self::Leaf) -> Self::Acc;
    fn merge(a: Self::Acc, b: Self::Acc) -> Self::Acc;
    /// The result, of `count` elements.
    fn finish(acc: Self::Acc, count: usize) -> Self::Out;
}

pub(super) struct Sum;
pub(super) struct Mean;
pub(super) struct Prod;
pub(super) struct Max;
pub(super) struct Min;
pub(super) struct Any;
pub(super) struct All;

macro_rules! rule {
    ($rule:ty, $E:ty, $Leaf:ty, $Acc:ty, $start:expr, $step:expr, $merge:expr, $finish:expr) => {
        impl Rule<$E> for $rule {
            type Leaf = $Leaf;
            type Acc = $Acc;
            type Out = $E;
            const START: $Leaf = $start;
            #[inline(always)]
            fn load(x: $E) -> $Leaf {
                x as $Leaf
            }
            #[inline(always)]
            fn step(a: $Leaf, b: $Leaf) -> $Leaf {
                ($step)(a, b)
            }
            #[inline(always)]
            fn widen(leaf: $Leaf) -> $Acc {
                leaf as $Acc
            }
            #[inline(always)]
            fn merge(a: $Acc, b: $Acc) -> $Acc {
                ($merge)(a, b)
            }
            #[inline(always)]
            fn finish(acc: $Acc, count: usize) -> $E {
                ($finish)(acc, count)
            }
        }
    };
    ($rule:ty, $E:ty, $start:expr, $step:expr) => {
        rule!($rule, $E, $E, $E, $start, $step, $step, |acc, _| acc);
    };
}

macro_rules! floats {
    ($($T:ident)*) => { $(
        rule!(Sum, $T, $T, f64, 0.0, |a, b| a + b, |a, b| a + b, |acc, _| acc as $T);
        rule!(Mean, $T, $T, f64, 0.0, |a, b| a + b, |a, b| a + b, |acc, count| (acc / count as f64) as $T);
        rule!(Prod, $T, f64, f64, 1.0, |a, b| a * b, |a, b| a * b, |acc, _| acc as $T);
        rule!(Max, $T, $T::NEG_INFINITY, |a: $T, b| if a.is_nan() || a >= b { a } else { b });
        rule!(Min, $T, $T::INFINITY, |a: $T, b| if a.is_nan() || a <= b { a } else { b });
    )* };
}
floats!(f32 f64);

macro_rules! ints {
    ($($T:ident)*) => { $(
        rule!(Sum, $T, 0, |a: $T, b| a.wrapping_add(b));
        rule!(Prod, $T, 1, |a: $T, b| a.wrapping_mul(b));
        rule!(Max, $T, $T::MIN, |a: $T, b| a.max(b));
        rule!(Min, $T, $T::MAX, |a: $T, b| a.min(b));
    )* };
}
ints!(i64 i32 i16 i8 u64 u32 u16 u8);

rule!(Any, bool, false, |a, b| a | b);
rule!(All, bool, true, |a, b| a & b);

/// A reduction of the elements of a half type as `f32`.
pub(super) struct Halved<T>(pub(super) Direct<T>);

impl<H: Half, A, T: Sync> Fold<H, A, H> for Halved<T>
where
    Direct<T>: Fold<f32, A, f32>,
{
    fn start(&self) -> A {
        self.0.start()
    }
    fn row(&self, mut acc: A, row: &[H]) -> A {
        let mut block = Block::new();
        for part in row.chunks(BLOCK) {
            acc = self.0.row(acc, block.widen(part));
        }
        acc
    }
    fn rows(&self, acc: &mut [A], rows: &[H], width: usize) {
        let mut block = Block::new();
        let whole = (BLOCK / width).max(1);
        for (acc, rows) in acc.chunks_mut(whole).zip(rows.chunks(whole * width)) {
            self.0.rows(acc, block.widen(rows), width);
        }
    }
    fn columns(&self, acc: &mut [A], rows: &[H], stride: usize, count: usize) {
        let mut block = Block::new();
        for start in (0..count).map(|row| row * stride) {
            let wide = block.widen(&rows[start..start + acc.len()]);
            self.0.columns(acc, wide, 0, 1);
        }
    }
    fn merge(&self, a: A, b: A) -> A {
        self.0.merge(a, b)
    }
    fn finish(&self, acc: A, count: usize) -> H {
        H::from_f32(self.0.finish(acc, count))
    }
}
