//! Roots of unity, and the lengths of transforms.

use std::f64::consts::TAU;

/// Of the angle.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Sign {
    Minus,
    Plus,
}

/// `exp(± 2πi k / n)` for all k below n.
pub(crate) fn roots(n: usize, sign: Sign) -> Vec<(f64, f64)> {
    // Each is the product of two of about 2 √n.
    let block = 1 << (n.ilog2() / 2);
    let turn = |k: usize| match (turn(k, n), sign) {
        ((cos, sin), Sign::Plus) => (cos, sin),
        ((cos, sin), Sign::Minus) => (cos, -sin),
    };
    let fine: Vec<_> = (0..block).map(turn).collect();
    let mut roots = Vec::with_capacity(n);
    for start in (0..n).step_by(block) {
        let (a, b) = turn(start);
        roots.extend(
            fine[..block.min(n - start)]
                .iter()
                .map(|&(c, d)| (a * c - b * d, a * d + b * c)),
        );
    }
    roots
}

/// Cosine and sine of `k / n` of a turn, from an angle of at most an eighth; those of opposite angles are conjugates.
pub(crate) fn turn(k: usize, n: usize) -> (f64, f64) {
    let k = k % n;
    if k > n - k {
        let (cos, sin) = turn(n - k, n);
        return (cos, -sin);
    }
    let (k, n) = (k as u128, n as u128);
    // The nearest quarter, and how far from it.
    let quarter = (8 * k + n) / (2 * n);
    let off = 4 * k as i128 - (quarter * n) as i128;
    let (sin, cos) = (off as f64 / n as f64 * (TAU / 4.0)).sin_cos();
    match quarter {
        0 => (cos, sin),
        1 => (-sin, cos),
        _ => (-cos, -sin),
    }
}

/// The least of some numbers with small prime factors that are not below `n`.
pub(crate) fn smooth(n: usize) -> usize {
    let candidate = |odd: usize| odd * n.div_ceil(odd).next_power_of_two();
    [1, 3, 5, 9, 15].map(candidate).into_iter().min().unwrap_or(n)
}
