//! Functions of `f32` without branches, so that loops over them vectorise.

use std::f32::consts::LOG2_E;

/// ln 2 in two parts; the first has few bits, so that its product with a small integer is exact.
const LN2_HIGH: f32 = 0.693_359_4;
const LN2_LOW: f32 = -2.121_944_4e-4;

/// `x = n ln 2 + r` with `|r| <= ln 2 / 2`: gives `n` and `r`, for `|n|` below 2²².
#[inline(always)]
fn reduce(x: f32) -> (i32, f32) {
    // Adding and subtracting this rounds to an integer, which is left in the low bits of the sum.
    const ROUNDER: f32 = 12_582_912.0;
    let sum = x.mul_add(LOG2_E, ROUNDER);
    let n = sum - ROUNDER;
    let r = n.mul_add(-LN2_LOW, n.mul_add(-LN2_HIGH, x));
    ((sum.to_bits() as i32).wrapping_sub(ROUNDER.to_bits() as i32), r)
}

/// `eʳ - 1` for `|r| <= ln 2 / 2`. Coefficients: Cephes, `expf.c`.
#[inline(always)]
fn expm1_reduced(r: f32) -> f32 {
    let p = 1.987_569_1e-4_f32;
    let p = p.mul_add(r, 1.398_199_9e-3);
    let p = p.mul_add(r, 8.333_452e-3);
    let p = p.mul_add(r, 4.166_579_6e-2);
    let p = p.mul_add(r, 1.666_666_5e-1);
    let p = p.mul_add(r, 5.000_000_1e-1);
    (r * r).mul_add(p, r)
}

/// `2ⁿ` for a normal result.
#[inline(always)]
fn exp2i(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}

#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    // Beyond these the result is infinite or zero.
    let (n, r) = reduce(x.clamp(-104.0, 89.0));
    // In two steps, since `2ⁿ` itself may be too large, or subnormal.
    let half = n >> 1;
    (1.0 + expm1_reduced(r)) * exp2i(half) * exp2i(n.wrapping_sub(half))
}

#[inline(always)]
pub(super) fn expm1(x: f32) -> f32 {
    // Below the lower bound the result rounds to -1.
    let (n, r) = reduce(x.clamp(-18.0, 89.0));
    // Half of the result, since `2ⁿ` itself may be too large.
    let scale = exp2i(n.wrapping_sub(1));
    let y = 2.0 * scale.mul_add(expm1_reduced(r), scale - 0.5);
    // Keeps the sign of zero and the bits of subnormals.
    if x.abs() < 1e-8 { x } else { y }
}

#[inline(always)]
pub(super) fn tanh(x: f32) -> f32 {
    let e = expm1(-2.0 * x.abs());
    (-e / (2.0 + e)).copysign(x)
}

#[inline(always)]
pub(super) fn sigmoid(x: f32) -> f32 {
    // Never exponentiates a positive number, so that neither end overflows.
    let e = exp(-x.abs());
    (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
}

/// Coefficients and scheme: FreeBSD's `e_logf.c`, after fdlibm's `e_log.c`.
#[inline(always)]
pub(super) fn log(x: f32) -> f32 {
    const LN2_HIGH: f32 = 0.693_138_1;
    const LN2_LOW: f32 = 9.058_001e-6;
    const SQRT_HALF: u32 = 0x3f35_04f3;
    // Subnormals become normal first.
    let subnormal = x < f32::MIN_POSITIVE;
    let bits = (if subnormal { x * 33_554_432.0 } else { x }).to_bits();
    // `x = 2ᵏ (1 + f)` with `1 + f` between the root of a half and that of 2.
    let shifted = bits.wrapping_add(0x3f80_0000 - SQRT_HALF);
    let k = (shifted >> 23) as i32 - if subnormal { 127 + 25 } else { 127 };
    let f = f32::from_bits((shifted & 0x007f_ffff) + SQRT_HALF) - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let odd = z * w.mul_add(0.284_987_87, 0.666_666_6);
    let even = w * w.mul_add(0.242_790_79, 0.400_009_72);
    let half = 0.5 * f * f;
    let k = k as f32;
    let y = s.mul_add(half + (odd + even), k * LN2_LOW) - half + f + k * LN2_HIGH;
    if x > 0.0 && x < f32::INFINITY {
        y
    } else if x == 0.0 {
        f32::NEG_INFINITY
    } else if x < 0.0 {
        f32::NAN
    } else {
        x
    }
}

/// By Kahan's correction for the rounding of `1 + x`: the relative errors of `ln u` and of `u - 1` cancel.
#[inline(always)]
pub(super) fn log1p(x: f32) -> f32 {
    let u = 1.0 + x;
    if u == 1.0 || x == f32::INFINITY {
        x
    } else {
        log(u) * (x / (u - 1.0))
    }
}
