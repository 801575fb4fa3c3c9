//! Roots of trigonometric polynomials of degree two, which describe the intersections of two cones.

use std::f64::consts::{FRAC_PI_2, PI};

/// The function `constant + once · (cos x, sin x) + twice · (cos 2x, sin 2x)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wave {
    pub(crate) constant: f64,
    pub(crate) once: [f64; 2],
    pub(crate) twice: [f64; 2],
}

/// Cosine and sine of 0, 1, 2, 3 and 4 fifths of a turn.
pub(crate) const FIFTHS: [[f64; 2]; 5] = [
    [1.0, 0.0],
    [0.309_016_994_374_947_45, 0.951_056_516_295_153_5],
    [-0.809_016_994_374_947_5, 0.587_785_252_292_473_1],
    [-0.809_016_994_374_947_5, -0.587_785_252_292_473_1],
    [0.309_016_994_374_947_45, -0.951_056_516_295_153_5],
];

impl Wave {
    /// Interpolates the values at 0, 1, 2, 3 and 4 fifths of a turn.
    pub(crate) fn through(values: [f64; 5]) -> Self {
        let sum = |turns: usize| {
            [0, 1].map(|part| (0..5).map(|i| values[i] * FIFTHS[turns * i % 5][part]).sum::<f64>() * 0.4)
        };
        Self { constant: values.iter().sum::<f64>() * 0.2, once: sum(1), twice: sum(2) }
    }

    /// Calls `take` with the angles where the function changes sign, if `once` is 0: the function has a period of half a turn.
    pub(crate) fn roots_of_period(self, mut take: impl FnMut(f64)) {
        let Self { constant: a, twice: [b, c], .. } = self;
        let size = b.hypot(c);
        if a.abs() < size {
            let (middle, half) = (c.atan2(b), ((size - a) * (size + a)).sqrt().atan2(-a));
            for root in [0.5 * (middle - half), 0.5 * (middle + half)] {
                take(root);
                take(root + PI);
            }
        }
    }

    /// Calls `take` with every angle in `[−π/2, 3π/2]` where the function changes sign; their number is even. In each half turn the
    /// function is a quartic in the tangent of half the angle.
    pub(crate) fn roots(self, mut take: impl FnMut(f64)) {
        let Self { constant: a, twice: [b2, c2], .. } = self;
        let quartics = [1.0, -1.0].map(|sign| {
            let [b1, c1] = self.once.map(|x| sign * x);
            [a + b1 + b2, 2.0 * c1 + 4.0 * c2, 2.0 * a - 6.0 * b2, 2.0 * c1 - 4.0 * c2, a - b1 + b2]
        });
        for (quartic, before, start) in [(quartics[0], quartics[1], 0.0), (quartics[1], quartics[0], PI)] {
            // Both quartics are rounded at the angle where the half turns join, so a sign change may fall between them.
            if (value(&before, 1.0) < 0.0) != (value(&quartic, -1.0) < 0.0) {
                take(start - FRAC_PI_2);
            }
            let (roots, count) = between_ones(quartic);
            roots[..count].iter().for_each(|t| take(start + 2.0 * t.atan()));
        }
    }
}

/// Value of a polynomial; the constant coefficient comes first.
fn value(polynomial: &[f64; 5], t: f64) -> f64 {
    polynomial.iter().rev().fold(0.0, |sum, c| sum * t + c)
}

/// The roots in −1…1 where a quartic changes sign, in ascending order. Between two neighbouring roots of its derivative the quartic is
/// monotone, and likewise each derivative between the roots of the next. However close two roots are, none is missed unless rounding hides
/// it.
pub(crate) fn between_ones(quartic: [f64; 5]) -> ([f64; 4], usize) {
    let mut roots = [0.0; 4];
    let mut count = 0;
    // In Bernstein's basis, the number of sign changes of the coefficients bounds the number of roots (Descartes' rule of signs).
    let [c0, c1, c2, c3, c4] = quartic;
    let (even, odd) = (c0 - c4, 0.5 * (c3 - c1));
    let basis = [value(&quartic, -1.0), even + odd, c0 - c2 / 3.0 + c4, even - odd, value(&quartic, 1.0)];
    let changes = basis.windows(2).filter(|pair| (pair[0] < 0.0) != (pair[1] < 0.0)).count();
    // With at most one change, the derivatives are not needed.
    let lowest = if changes > 1 { 1 } else { 4 };
    for degree in (lowest..=4).take_while(|_| changes > 0) {
        // The coefficients of the derivative that has this degree.
        let mut c = [0.0; 5];
        for (power, c) in c[..=degree].iter_mut().enumerate() {
            let lowered = power + 4 - degree;
            *c = quartic[lowered] * (power + 1..=lowered).map(|k| k as f64).product::<f64>();
        }
        let value = |t| value(&c, t);
        let slope = |t: f64| (1..5).rev().fold(0.0, |sum, k| sum * t + k as f64 * c[k]);
        let (turns, turn_count) = (roots, count);
        count = 0;
        let mut low = -1.0;
        for &high in turns[..turn_count].iter().chain(&[1.0]) {
            if (value(low) < 0.0) != (value(high) < 0.0) {
                roots[count] = root_between(low, high, value, slope);
                count += 1;
            }
            low = high;
        }
    }
    (roots, count)
}

/// The root of a monotone function with different signs at both ends: Newton's method, with bisection when a step leaves the interval.
fn root_between(mut low: f64, mut high: f64, value: impl Fn(f64) -> f64, slope: impl Fn(f64) -> f64) -> f64 {
    let falls = value(low) >= 0.0;
    let mut t = 0.5 * (low + high);
    for _ in 0..60 {
        let v = value(t);
        if (v >= 0.0) == falls {
            low = t
        } else {
            high = t
        }
        let step = t - v / slope(t);
        let next = if step > low && step < high { step } else { 0.5 * (low + high) };
        if (next - t).abs() <= 1e-16 {
            return next;
        }
        t = next;
    }
    t
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;
    use crate::intensity::scaled;
    use crate::numbers::Numbers;

    #[test]
    fn roots_of_half_the_period_are_all_found() {
        let mut numbers = Numbers(2);
        let mut unit = || 2.0 * numbers.unit_f64() - 1.0;
        for _ in 0..scaled(500) {
            let wave = Wave { constant: unit(), once: [0.0; 2], twice: [unit(), unit()] };
            let (mut short, mut long) = (Vec::new(), Vec::new());
            wave.roots_of_period(|x| short.push((x + FRAC_PI_2).rem_euclid(TAU)));
            wave.roots(|x| long.push((x + FRAC_PI_2).rem_euclid(TAU)));
            short.sort_by(f64::total_cmp);
            long.sort_by(f64::total_cmp);
            assert_eq!(short.len(), long.len(), "{wave:?}");
            short.iter().zip(&long).for_each(|(a, b)| assert!((a - b).abs() < 1e-7, "{wave:?}: {short:?}, {long:?}"));
        }
    }

    #[test]
    fn all_sign_changes_of_the_trigonometric_polynomial_are_found() {
        let mut numbers = Numbers(1);
        let mut unit = || 2.0 * numbers.unit_f64() - 1.0;
        let mut counts = [0; 5];
        for _ in 0..scaled(2000) {
            let wave = Wave { constant: 1.5 * unit(), once: [unit(), unit()], twice: [unit(), unit()] };
            let at = |x: f64| {
                wave.constant
                    + wave.once[0] * x.cos()
                    + wave.once[1] * x.sin()
                    + wave.twice[0] * (2.0 * x).cos()
                    + wave.twice[1] * (2.0 * x).sin()
            };
            let mut found = Vec::new();
            wave.roots(|x| found.push(x));
            found.iter().for_each(|&x| assert!(at(x).abs() < 1e-14, "{wave:?}: {x} {}", at(x)));
            let steps = 20_000;
            let values: Vec<f64> = (0..=steps).map(|i| at(f64::from(i) * TAU / f64::from(steps) - 0.5 * PI)).collect();
            let seen = values.windows(2).filter(|pair| (pair[0] < 0.0) != (pair[1] < 0.0)).count();
            assert!(found.len() == seen || found.len() == seen + 2, "{wave:?}: {found:?} for {seen}");
            counts[found.len()] += 1;
            let again = Wave::through([0.0, 1.0, 2.0, 3.0, 4.0].map(|i| at(i * TAU / 5.0)));
            assert!((again.twice[1] - wave.twice[1]).abs() < 1e-14 && (again.once[0] - wave.once[0]).abs() < 1e-14);
        }
        assert!(counts[0] > 100 && counts[2] > 100 && counts[4] > 100, "{counts:?}");
    }
}
