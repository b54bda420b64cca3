//! The counter-based generator that every backend shares: Philox 4×32-10 (Salmon et al., "Parallel Random Numbers: As
//! Easy as 1, 2, 3", 2011).
//!
//! A random op carries a [`Key`]; element `i` depends on the key and on `i` alone, so recomputation, replay and any
//! split between threads give the same bits. Types narrower than `f64` take one 32-bit word per element (word `i % 4` of
//! block `offset + i / 4`), `f64` takes two (words `2 (i % 2)` and the next of block `offset + i / 2`).

use std::sync::atomic::{AtomicU64, Ordering};

use half::{bf16, f16};
use serde::{Deserialize, Serialize};

use crate::element::DType;

/// Which random numbers: a stream and a position in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// The stream.
    pub seed: u64,
    /// The first block, of four words each.
    pub offset: u64,
}

/// The source of keys that a device handle holds.
#[derive(Debug)]
pub struct KeySource {
    seed: AtomicU64,
    offset: AtomicU64,
}

impl KeySource {
    /// The stream of a seed, from its start.
    pub fn new(seed: u64) -> Self {
        KeySource {
            seed: AtomicU64::new(seed),
            offset: AtomicU64::new(0),
        }
    }

    /// Goes to the start of the stream of another seed.
    pub fn reseed(&self, seed: u64) {
        self.seed.store(seed, Ordering::Relaxed);
        self.offset.store(0, Ordering::Relaxed);
    }

    /// A key for `elements` random values, which no other key of this stream overlaps.
    pub fn next(&self, elements: usize) -> Key {
        let blocks = elements as u64 / 2 + 1;
        let offset = self.offset.fetch_add(blocks, Ordering::Relaxed);
        Key {
            seed: self.seed.load(Ordering::Relaxed),
            offset,
        }
    }
}

/// One block of four random words.
pub fn philox(seed: u64, block: u64) -> [u32; 4] {
    const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
    const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
    let mut key = [seed as u32, (seed >> 32) as u32];
    let mut c = [block as u32, (block >> 32) as u32, 0, 0];
    for _ in 0..10 {
        let p0 = u64::from(MULTIPLIERS[0]) * u64::from(c[0]);
        let p1 = u64::from(MULTIPLIERS[1]) * u64::from(c[2]);
        c = [
            (p1 >> 32) as u32 ^ c[1] ^ key[0],
            p1 as u32,
            (p0 >> 32) as u32 ^ c[3] ^ key[1],
            p0 as u32,
        ];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    c
}

/// `len` values uniform in `0..1`, as multiples of 2⁻²⁴; element `first` of the key's stream comes first.
pub fn uniform_f32(key: Key, first: usize, len: usize) -> impl Iterator<Item = f32> {
    words(key, first, len).map(unit_f32)
}

/// `len` values uniform in `0..1`, as multiples of 2⁻⁵³; element `first` of the key's stream comes first.
pub fn uniform_f64(key: Key, first: usize, len: usize) -> impl Iterator<Item = f64> {
    word_pairs(key, first, len).map(|(a, b)| unit_f64(a, b))
}

/// `len` standard normal values by the transform of Box and Muller (1958), which makes elements `2j` and `2j + 1` of
/// the words of both; element `first` of the key's stream comes first.
pub fn normal_f32(key: Key, first: usize, len: usize) -> impl Iterator<Item = f32> {
    let pairs = (first / 4..).flat_map(move |block| {
        let [a, b, c, d] = philox(key.seed, key.offset.wrapping_add(block as u64));
        [(a, b), (c, d)].map(|(a, b)| box_muller(1.0 - f64::from(unit_f32(a)), f64::from(unit_f32(b))))
    });
    pairs.flatten().skip(first % 4).take(len).map(|x| x as f32)
}

/// As [`normal_f32`], of twice as many words.
pub fn normal_f64(key: Key, first: usize, len: usize) -> impl Iterator<Item = f64> {
    let pairs = (first / 2..).map(move |block| {
        let [a, b, c, d] = philox(key.seed, key.offset.wrapping_add(block as u64));
        box_muller(1.0 - unit_f64(a, b), unit_f64(c, d))
    });
    pairs.flatten().skip(first % 2).take(len)
}

/// A unit value taken to `low..high` in `f32`, and rounded to `dtype` if that is narrower. Rounding never gives `high`.
pub fn scale_f32(unit: f32, low: f64, high: f64, dtype: DType) -> f32 {
    let value = low as f32 + unit * (high - low) as f32;
    let value = match dtype {
        DType::F16 => f16::from_f32(value).to_f32(),
        DType::BF16 => bf16::from_f32(value).to_f32(),
        _ => value,
    };
    if value >= high as f32 { low as f32 } else { value }
}

/// A unit value taken to `low..high` in `f64`. Rounding never gives `high`.
pub fn scale_f64(unit: f64, low: f64, high: f64) -> f64 {
    let value = low + unit * (high - low);
    if value >= high { low } else { value }
}

fn unit_f32(word: u32) -> f32 {
    (word >> 8) as f32 * (1.0 / (1u32 << 24) as f32)
}

fn unit_f64(high: u32, low: u32) -> f64 {
    let bits = (u64::from(high) << 32 | u64::from(low)) >> 11;
    bits as f64 * (1.0 / (1u64 << 53) as f64)
}

fn box_muller(u: f64, v: f64) -> [f64; 2] {
    let radius = (-2.0 * u.ln()).sqrt();
    let (sin, cos) = (std::f64::consts::TAU * v).sin_cos();
    [radius * cos, radius * sin]
}

fn words(key: Key, first: usize, len: usize) -> impl Iterator<Item = u32> {
    let blocks = (first / 4) as u64..((first + len).div_ceil(4)) as u64;
    blocks
        .flat_map(move |b| philox(key.seed, key.offset.wrapping_add(b)))
        .skip(first % 4)
        .take(len)
}

fn word_pairs(key: Key, first: usize, len: usize) -> impl Iterator<Item = (u32, u32)> {
    let blocks = (first / 2) as u64..((first + len).div_ceil(2)) as u64;
    let pairs = move |b| {
        let [a, b, c, d] = philox(key.seed, key.offset.wrapping_add(b));
        [(a, b), (c, d)]
    };
    blocks.flat_map(pairs).skip(first % 2).take(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers of the Random123 library.
    #[test]
    fn philox_matches_its_authors() {
        assert_eq!(philox(0, 0), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
    }

    #[test]
    fn any_split_gives_the_same_bits() {
        let key = Key { seed: 7, offset: 3 };
        let whole: Vec<f32> = uniform_f32(key, 0, 23).collect();
        let parts: Vec<f32> = uniform_f32(key, 0, 5).chain(uniform_f32(key, 5, 18)).collect();
        assert_eq!(whole, parts);
        let whole: Vec<f64> = uniform_f64(key, 0, 23).collect();
        let parts: Vec<f64> = uniform_f64(key, 0, 5).chain(uniform_f64(key, 5, 18)).collect();
        assert_eq!(whole, parts);
    }

    #[test]
    fn rounding_never_reaches_the_bound() {
        for dtype in [DType::F32, DType::F16, DType::BF16] {
            let greatest = scale_f32(unit_f32(u32::MAX), 0.0, 1.0, dtype);
            assert!(greatest < 1.0, "{dtype}: {greatest}");
        }
    }

    #[test]
    fn moments_are_right() {
        let key = Key { seed: 1, offset: 0 };
        let n = 100_000;
        let mean = uniform_f32(key, 0, n).map(f64::from).sum::<f64>() / n as f64;
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
        for values in [
            normal_f32(key, 0, n).map(f64::from).collect::<Vec<_>>(),
            normal_f64(key, 0, n).collect(),
        ] {
            let mean = values.iter().sum::<f64>() / n as f64;
            let var = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64;
            assert!(mean.abs() < 0.02 && (var - 1.0).abs() < 0.02, "{mean} {var}");
        }
    }
}
