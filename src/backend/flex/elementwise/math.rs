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
    let p = p.mul_add(r, 0.5);
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

/// The greatest magnitude whose quadrant [`quadrant`] finds.
pub(super) const TRIG_LIMIT: f32 = 4e8;

/// `x = n π/2 + r` with `|r| <= π/4`: gives the low bits of `n`, and `r`. The two parts of π/2 are those of FreeBSD's
/// `e_rem_pio2f.c`: the first has 25 bits, so that its product with `n` is exact.
#[inline(always)]
fn quadrant(x: f32) -> (u64, f64) {
    const ROUNDER: f64 = 6_755_399_441_055_744.0;
    let x = f64::from(x);
    let sum = x * std::f64::consts::FRAC_2_PI + ROUNDER;
    let n = sum - ROUNDER;
    let r = x - n * 1.570_796_310_901_641_8 - n * 1.589_325_477_352_819_7e-8;
    (sum.to_bits(), r)
}

/// The sine for `|r| <= π/4`. Coefficients: FreeBSD's `k_sinf.c`.
#[inline(always)]
fn sin_reduced(r: f64) -> f64 {
    let z = r * r;
    let p = 2.718_311_493_989_822e-6_f64;
    let p = p * z - 1.983_933_482_360_966_3e-4;
    let p = p * z + 8.333_329_385_889_463e-3;
    let p = p * z - 0.166_666_666_416_265_24;
    r + r * z * p
}

/// The cosine for `|r| <= π/4`. Coefficients: FreeBSD's `k_cosf.c`.
#[inline(always)]
fn cos_reduced(r: f64) -> f64 {
    let z = r * r;
    let p = 2.439_044_879_627_741_7e-5_f64;
    let p = p * z - 1.388_676_377_460_993e-3;
    let p = p * z + 4.166_662_332_373_906e-2;
    let p = p * z - 0.499_999_997_251_031;
    1.0 + z * p
}

#[inline(always)]
pub(super) fn sin(x: f32) -> f32 {
    let (n, r) = quadrant(x);
    let y = if n & 1 == 0 {
        sin_reduced(r)
    } else {
        cos_reduced(r)
    };
    let y = (if n & 2 == 0 { y } else { -y }) as f32;
    // Keeps the sign of zero.
    if x == 0.0 { x } else { y }
}

#[inline(always)]
pub(super) fn cos(x: f32) -> f32 {
    let (n, r) = quadrant(x);
    let y = if n & 1 == 0 {
        cos_reduced(r)
    } else {
        sin_reduced(r)
    };
    (if n.wrapping_add(1) & 2 == 0 { y } else { -y }) as f32
}

#[inline(always)]
pub(super) fn tan(x: f32) -> f32 {
    let (n, r) = quadrant(x);
    let (s, c) = (sin_reduced(r), cos_reduced(r));
    let y = (if n & 1 == 0 { s / c } else { -c / s }) as f32;
    if x == 0.0 { x } else { y }
}

/// Two polynomials, through the values at the Chebyshev nodes: of `erf(x) / x - 1` in `x²` up to 1, and of
/// `-ln(1 - erf(x))` from there to 4, where the result rounds to 1.
#[inline(always)]
pub(super) fn erf(x: f32) -> f32 {
    let s = x * x;
    let p = 7.875_875e-5_f32;
    let p = p.mul_add(s, -8.016_864_3e-4);
    let p = p.mul_add(s, 5.189_087_4e-3);
    let p = p.mul_add(s, -2.685_421_2e-2);
    let p = p.mul_add(s, 0.112_835_95);
    let p = p.mul_add(s, -0.376_126_27);
    let p = p.mul_add(s, 0.128_379_17);
    let small = x.mul_add(p, x);

    let t = x.abs().clamp(1.0, 4.0);
    let q = -1.637_151_4e-6_f32;
    let q = q.mul_add(t, 4.605_804e-5);
    let q = q.mul_add(t, -5.968_057_6e-4);
    let q = q.mul_add(t, 4.759_596e-3);
    let q = q.mul_add(t, -2.642_113_6e-2);
    let q = q.mul_add(t, 0.110_080_086);
    let q = q.mul_add(t, 0.631_826_05);
    let q = q.mul_add(t, 1.130_233_4);
    let q = q.mul_add(t, -3.201_380_5e-4);
    let large = (1.0 - exp(-q)).copysign(x);

    if x.abs() > 1.0 { large } else { small }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The distance to the exact value, in units of the last place of the nearest `f32`.
    fn ulps(got: f32, exact: f64) -> f64 {
        let near = exact as f32;
        if got == near || got.is_nan() && near.is_nan() {
            return 0.0;
        }
        if !got.is_finite() || !near.is_finite() {
            return f64::INFINITY;
        }
        let magnitude = near.abs().max(f32::MIN_POSITIVE);
        let unit = f64::from(f32::from_bits(magnitude.to_bits() + 1)) - f64::from(magnitude);
        (f64::from(got) - exact).abs() / unit
    }

    /// The greatest distance over all exponents and both signs.
    fn worst(f: impl Fn(f32) -> f32, exact: impl Fn(f64) -> f64) -> (f64, f32) {
        let every = (0..=u32::MAX).step_by(4099).map(f32::from_bits);
        let dense = (-400_000..400_000).map(|i| i as f32 * 2.6e-4);
        let edges = [0.0, -0.0, 1.0, -1.0, 88.7, 88.73, -87.4, -103.9, -104.1, f32::NAN];
        let edges = edges.into_iter().chain([f32::INFINITY, f32::NEG_INFINITY]);
        every.chain(dense).chain(edges).fold((0.0, 0.0), |(most, at), x| {
            let y = f(x);
            let off = ulps(y, exact(f64::from(x)));
            assert!(
                y != 0.0 || y.is_sign_negative() == (exact(f64::from(x)) as f32).is_sign_negative(),
                "{x:e}"
            );
            if off > most { (off, x) } else { (most, at) }
        })
    }

    #[test]
    fn errors_are_a_few_units_of_the_last_place() {
        let sigmoid_exact = |x: f64| 1.0 / (1.0 + (-x).exp());
        for (name, (worst, at), bound) in [
            ("exp", worst(exp, f64::exp), 2.0),
            ("expm1", worst(expm1, f64::exp_m1), 3.0),
            ("log", worst(log, f64::ln), 2.0),
            ("log1p", worst(log1p, f64::ln_1p), 4.0),
            ("tanh", worst(tanh, f64::tanh), 4.0),
            ("sigmoid", worst(sigmoid, sigmoid_exact), 4.0),
            ("erf", worst(erf, libm::erf), 4.0),
        ] {
            println!("{name}: {worst:.2} ulp at {at:e}");
            assert!(worst <= bound, "{name}: {worst} ulp at {at:e}");
        }
    }

    #[test]
    fn angles_are_reduced_up_to_the_limit() {
        let within = |f: fn(f32) -> f32| move |x: f32| f(if x.abs() > TRIG_LIMIT { 1.0 } else { x });
        let exact =
            |f: fn(f64) -> f64| move |x: f64| f(if x.abs() > f64::from(TRIG_LIMIT) { 1.0 } else { x });
        for (name, (worst, at)) in [
            ("sin", worst(within(sin), exact(f64::sin))),
            ("cos", worst(within(cos), exact(f64::cos))),
            ("tan", worst(within(tan), exact(f64::tan))),
        ] {
            println!("{name}: {worst:.2} ulp at {at:e}");
            assert!(worst <= 1.0, "{name}: {worst} ulp at {at:e}");
        }
    }
}
