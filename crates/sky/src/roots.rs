//! Roots and minima of smooth functions of one variable.

/// A root between `a` and `b`, where `f` has opposite signs, to within `tolerance` (regula falsi, Illinois variant, then bisection).
pub(crate) fn root(f: impl Fn(f64) -> f64, mut a: f64, mut b: f64, tolerance: f64) -> f64 {
    let (mut at_a, mut at_b) = (f(a), f(b));
    let (mut kept, mut last) = (0, f64::INFINITY);
    for round in 0..200 {
        if (b - a).abs() <= tolerance || at_b == 0.0 {
            break;
        }
        // Bisection every fourth round keeps the worst case short.
        let secant = b - at_b * (b - a) / (at_b - at_a);
        let x = if round % 4 == 3 || !secant.is_finite() { 0.5 * (a + b) } else { secant };
        let y = f(x);
        if (y < 0.0) == (at_b < 0.0) {
            if kept == 1 {
                at_a *= 0.5;
            }
            (b, at_b, kept) = (x, y, 1);
        } else {
            if kept == -1 {
                at_b *= 0.5;
            }
            (a, at_a, kept) = (x, y, -1);
        }
        if y == 0.0 {
            return x;
        }
        // The last steps of the secant are much shorter than the bracket: is the root within the tolerance of x?
        if x == secant && (x - last).abs() <= 0.01 * tolerance {
            let other = if x == b { a } else { b };
            if (f(x + tolerance * (other - x).signum()) < 0.0) != (y < 0.0) {
                return x;
            }
        }
        last = x;
    }
    if at_a.abs() < at_b.abs() { a } else { b }
}

/// The instants in seconds at which a body rises and sets between `first` and `last`, by its altitude above the horizon; of several, the
/// last ones.
pub(crate) fn rise_and_set(altitude: impl Fn(f64) -> f64, first: f64, last: f64) -> [Option<f64>; 2] {
    /// Steps of about 10 minutes.
    const STEPS: i32 = 36;
    let step = (last - first) / f64::from(STEPS);
    let mut found = [None; 2];
    for i in 0..STEPS {
        let (from, to) = (first + step * f64::from(i), first + step * f64::from(i + 1));
        let crossing = match (altitude(from) >= 0.0, altitude(to) >= 0.0) {
            (false, true) => 0,
            (true, false) => 1,
            _ => continue,
        };
        found[crossing] = Some(root(&altitude, from, to, 1e-3));
    }
    found
}

/// Finds the minimum of `f` near `x`. Each of four steps fits a parabola through three points and moves to its vertex. `step` is the first
/// spacing of the points; each step reduces it.
pub(crate) fn minimum(f: impl Fn(f64) -> f64, mut x: f64, step: f64) -> f64 {
    let mut step = step;
    for _ in 0..4 {
        let (before, here, after) = (f(x - step), f(x), f(x + step));
        let bend = before - 2.0 * here + after;
        if bend > 0.0 {
            x += (0.5 * step * (before - after) / bend).clamp(-2.0 * step, 2.0 * step);
        }
        step *= 0.4;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_and_minima_are_found() {
        for target in [1e-6, 0.3, 0.999_999] {
            let found = root(|x| x * x * x - target * target * target, 0.0, 1.0, 1e-12);
            assert!((found - target).abs() < 1e-9, "{found} {target}");
            let found = minimum(|x| (x - target).powi(2) * (1.0 + 0.1 * x), 0.5, 0.2);
            assert!((found - target).abs() < 1e-4, "{found} {target}");
        }
    }
}
