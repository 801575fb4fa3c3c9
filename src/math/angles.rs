//! Angle functions in f64. The twin `shaders/math/angles.wgsl` needs polynomials of its own.
//!
//! WGSL guarantees `sin` only to 2⁻¹¹ and `atan2` only to 4096 ulp, so the shader has functions accurate to 10⁻⁷. Here the standard library
//! is accurate enough, and only differences that would cancel are written out.

/// The sine of an angle in `[0, 2π]`.
pub(crate) fn sine(x: f64) -> f64 {
    x.sin()
}

/// The angle in `[0, π]` of the vector `(x, y)`, for `y ≥ 0`.
pub(crate) fn arc(y: f64, x: f64) -> f64 {
    y.atan2(x)
}

/// `1 − cos x` without cancellation.
pub(crate) fn versine(x: f64) -> f64 {
    let half = sine(0.5 * x);
    2.0 * half * half
}

/// `x − sin x` for `x` in `[0, 2π]`, to full relative accuracy near 0.
pub(crate) fn angle_minus_sine(x: f64) -> f64 {
    if x < 0.3 {
        let s = x * x;
        let tail = 1.0 - s / 72.0 * (1.0 - s / 110.0 * (1.0 - s / 156.0));
        x * s / 6.0 * (1.0 - s / 20.0 * (1.0 - s / 42.0 * tail))
    } else {
        x - sine(x)
    }
}

/// `x − atan x` for `|x| ≤ 1/4`, to full relative accuracy near 0.
pub(crate) fn x_minus_arctangent(x: f64) -> f64 {
    if x.abs() < 0.05 {
        let s = x * x;
        x * s * (1.0 / 3.0 - s * (1.0 / 5.0 - s * (1.0 / 7.0 - s * (1.0 / 9.0 - s / 11.0))))
    } else {
        x - x.atan()
    }
}
