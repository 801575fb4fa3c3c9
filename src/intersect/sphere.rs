//! Intersection of one ray and one sphere in f32: both roots, with error bounds of the roots and of the discriminant.
//! Twin of `shaders/intersect/sphere.wgsl`: same functions, same order, same operations. Only shaders have `intersect_fast`, and the correction
//! of quotients and square roots that a device does not round correctly.
//!
//! The method is that of Haines, Günther and Akenine-Möller (Ray Tracing Gems, chapter 7): the discriminant is computed from the foot of
//! the perpendicular, not as `b² − ac`. The direction is used as given. `intersect_compensated` adds error-free corrections to the foot, to
//! the discriminant and to the constant term. Notation of the bounds: u = 2⁻²⁴, e is the vector from the origin to the centre, p the vector
//! from the foot to the centre, h half the chord.

use glam::Vec3;

use crate::math::error_free::{dot3, norm1, quick_two_sum, two_product, two_sum};
use crate::math::float::{U, exponent, power_of_two};
use crate::records::{Ray, Sphere};

/// A pair scaled by exact powers of two, so that no later operation overflows or loses digits to underflow.
#[derive(Clone, Copy)]
pub(crate) struct ScaledPair {
    /// Centre minus origin: rounded, and the rounding error.
    pub(crate) eh: Vec3,
    pub(crate) el: Vec3,
    pub(crate) d: Vec3,
    pub(crate) r: f32,
    /// Low parts of direction and radius, and the error bound of `eh + el`. They are 0 unless the pair moves or its sphere is an ellipsoid,
    /// see `motion.rs` and `ellipsoid.rs`. The functions below read them only if their parameter `M` is true: the pair moves, or its
    /// sphere is an ellipsoid.
    pub(crate) dl: Vec3,
    pub(crate) rl: f32,
    pub(crate) position_error: f32,
    /// An unscaled length is the scaled length times `2^length`. An unscaled `t` is the scaled `t` times `2^(length − direction)`.
    pub(crate) length: i32,
    pub(crate) direction: i32,
}

/// Foot of the perpendicular from the centre to the line.
#[derive(Clone, Copy)]
pub(crate) struct Foot {
    /// Parameter of the foot, and its correction.
    pub(crate) k: f32,
    pub(crate) dk: f32,
    /// Vector from the foot to the centre.
    pub(crate) p: Vec3,
    /// r² − |p|²: the discriminant without the factor |d|².
    pub(crate) disc: f32,
}

/// Both roots with their error bounds. On a miss the roots and their bounds are meaningless.
#[derive(Clone, Copy)]
pub(crate) struct SphereRoots {
    /// r² − |p|², in scaled units: negative for a miss, 0 for tangency. Outside this file, use only its sign and its ratio to
    /// `disc_bound`.
    pub(crate) disc: f32,
    /// The sign of `disc` is certain if |disc| exceeds this bound.
    pub(crate) disc_bound: f32,
    pub(crate) t_enter: f32,
    pub(crate) t_exit: f32,
    pub(crate) enter_bound: f32,
    pub(crate) exit_bound: f32,
    /// If the sign of the discriminant is uncertain, the roots, if any, lie within `foot ± foot_bound`.
    pub(crate) foot: f32,
    pub(crate) foot_bound: f32,
    /// Both roots rounded once to f32; NaN if unknown.
    pub(crate) rounded: [f32; 2],
}

#[inline(always)]
pub(crate) fn largest(v: Vec3) -> f32 {
    v.x.abs().max(v.y.abs()).max(v.z.abs())
}

/// Scales a pair. Every factor is a power of two, so nothing is rounded.
#[inline(always)]
pub(crate) fn scale(ray: &Ray, sphere: &Sphere) -> ScaledPair {
    // c − o must neither overflow nor lose its digits to underflow.
    let m = largest(ray.origin).max(largest(sphere.center)).max(sphere.radius);
    let before = if m >= power_of_two(125) {
        // If the large coordinates are equal, the small ones determine the result: they must not be scaled away.
        let s = power_of_two(-3);
        let near = largest(sphere.center * s - ray.origin * s).max(sphere.radius * s);
        if near < power_of_two(100) { 0 } else { -3 }
    } else if m < power_of_two(-60) {
        60
    } else {
        0
    };
    let s = power_of_two(before);
    let (o, c) = (ray.origin * s, sphere.center * s);
    let (eh, el) = two_sum(c, -o);
    let (d, dl, r) = (ray.direction, Vec3::ZERO, sphere.radius * s);
    normalize_range(&ScaledPair { eh, el, d, r, dl, rl: 0.0, position_error: 0.0, length: -before, direction: 0 })
}

/// Scales lengths and directions to about 1, by powers of two.
#[inline(always)]
pub(crate) fn normalize_range(s: &ScaledPair) -> ScaledPair {
    let e = largest(s.eh).max(s.r).clamp(power_of_two(-126), power_of_two(126));
    let se = power_of_two(-exponent(e));
    // A direction near the subnormal range is scaled up first.
    let lift = if largest(s.d) < power_of_two(-100) { 24 } else { 0 };
    let lifted = s.d * power_of_two(lift);
    let g = largest(lifted).clamp(power_of_two(-126), power_of_two(126));
    let sd = power_of_two(-exponent(g));
    ScaledPair {
        eh: s.eh * se,
        el: s.el * se,
        d: lifted * sd,
        r: s.r * se,
        dl: (s.dl * power_of_two(lift)) * sd,
        rl: s.rl * se,
        position_error: s.position_error * se,
        length: exponent(e) + s.length,
        direction: exponent(g) - lift + s.direction,
    }
}

/// `x · 2^n`, saturated at the largest f32. Results below the subnormal range become 0.
#[inline(always)]
pub(crate) fn unscale(x: f32, n: i32) -> f32 {
    let bits = x.to_bits();
    let e = (bits >> 23 & 0xff) as i32 + n;
    if x == 0.0 || e < -24 {
        return 0.0;
    }
    if e >= 255 {
        return f32::MAX.copysign(x);
    }
    if e >= 1 {
        return f32::from_bits(bits & 0x807f_ffff | (e as u32) << 23);
    }
    // Subnormal result: the product rounds once.
    f32::from_bits(bits & 0x807f_ffff | ((e + 100) as u32) << 23) * power_of_two(-100)
}

/// Vector from the point at parameter `k` to the centre, as high and low parts.
#[inline(always)]
fn perpendicular<const M: bool>(s: &ScaledPair, k: f32) -> (Vec3, Vec3) {
    let (mx, my, mz) = (two_product(k, s.d.x), two_product(k, s.d.y), two_product(k, s.d.z));
    let (hx, hy, hz) = (two_sum(s.eh.x, -mx.0), two_sum(s.eh.y, -my.0), two_sum(s.eh.z, -mz.0));
    let high = Vec3::new(hx.0, hy.0, hz.0);
    let low = Vec3::new((hx.1 - mx.1) + s.el.x, (hy.1 - my.1) + s.el.y, (hz.1 - mz.1) + s.el.z);
    (high, if M { low - k * s.dl } else { low })
}

/// r² as high and low parts.
#[inline(always)]
fn square_of_radius<const M: bool>(s: &ScaledPair) -> (f32, f32) {
    let rr = two_product(s.r, s.r);
    if M { (rr.0, rr.1 + (s.r + s.r) * s.rl) } else { rr }
}

/// r² − |h + l|², corrected by the rounding errors of the squares. Also returns the rounded sum h + l.
#[inline(always)]
fn difference_of_squares<const M: bool>(s: &ScaledPair, high: Vec3, low: Vec3) -> (f32, Vec3) {
    let rr = square_of_radius::<M>(s);
    let x = quick_two_sum(high.x, low.x);
    let y = quick_two_sum(high.y, low.y);
    let z = quick_two_sum(high.z, low.z);
    let mx = two_product(x.0, x.0);
    let tx = two_sum(rr.0, -mx.0);
    let my = two_product(y.0, y.0);
    let ty = two_sum(tx.0, -my.0);
    let mz = two_product(z.0, z.0);
    let tz = two_sum(ty.0, -mz.0);
    let mut rest = rr.1 + (tx.1 - ((x.0 + x.0) * x.1 + mx.1));
    rest += ty.1 - ((y.0 + y.0) * y.1 + my.1);
    rest += tz.1 - ((z.0 + z.0) * z.1 + mz.1);
    (tz.0 + rest, Vec3::new(x.0, y.0, z.0))
}

/// Computes the foot with error-free corrections. `p` is perpendicular to `d` to about 2⁻⁴⁴.
#[inline(always)]
pub(crate) fn foot_compensated<const M: bool>(s: &ScaledPair) -> Foot {
    let a = dot3(s.d, s.d);
    let k = dot3(s.eh, s.d) / a;
    let (high, low) = perpendicular::<M>(s, k);
    let rest = dot3(high, s.d) + dot3(low, s.d);
    let dk = if M { rest + dot3(high, s.dl) } else { rest } / a;
    let (disc, p) = difference_of_squares::<M>(s, high, low - dk * s.d);
    Foot { k, dk, p, disc }
}

/// |e|² − r², corrected by the rounding errors of the squares.
#[inline(always)]
fn constant_compensated<const M: bool>(s: &ScaledPair) -> f32 {
    let (mx, my, mz) = (two_product(s.eh.x, s.eh.x), two_product(s.eh.y, s.eh.y), two_product(s.eh.z, s.eh.z));
    let rr = square_of_radius::<M>(s);
    let ty = two_sum(mx.0, my.0);
    let tz = two_sum(ty.0, mz.0);
    let tr = two_sum(tz.0, -rr.0);
    let mut rest = mx.1 + (my.1 + ty.1);
    rest += mz.1 + tz.1;
    rest += tr.1 - rr.1;
    rest += 2.0 * dot3(s.eh, s.el);
    tr.0 + rest
}

/// Computes both roots from the foot and the constant term, with the quotient that avoids cancellation.
#[inline(always)]
fn roots<const M: bool>(s: &ScaledPair, foot: &Foot, constant: f32) -> (f32, f32) {
    let plain = dot3(s.d, s.d);
    let more = if M { 2.0 * dot3(s.d, s.dl) } else { 0.0 };
    let a = if M { plain + more } else { plain };
    let w = (a * foot.disc).max(0.0).sqrt();
    let b = dot3(s.eh, s.d) + foot.dk * a;
    let b = if M { b + foot.k * more } else { b };
    let q = b + if b < 0.0 { -w } else { w };
    if q == 0.0 {
        return (0.0, 0.0);
    }
    let (t0, t1) = (constant / q, q / a);
    (t0.min(t1), t0.max(t1))
}

/// Scales roots and bounds back. Every bound also covers the rounding to f32 and the error of underflow.
#[inline(always)]
fn finish(
    s: &ScaledPair,
    foot: &Foot,
    roots: (f32, f32),
    disc_bound: f32,
    bounds: (f32, f32),
    foot_bound: f32,
) -> SphereRoots {
    let shift = s.length - s.direction;
    let tiny = power_of_two(-125);
    SphereRoots {
        disc: foot.disc,
        disc_bound,
        t_enter: unscale(roots.0, shift),
        t_exit: unscale(roots.1, shift),
        enter_bound: unscale(bounds.0, shift) + tiny,
        exit_bound: unscale(bounds.1, shift) + tiny,
        foot: unscale(foot.k + foot.dk, shift),
        foot_bound: unscale(foot_bound, shift) + tiny,
        rounded: [f32::NAN; 2],
    }
}

/// Bound on the distance of the roots from the computed foot if the discriminant is uncertain, in units of the scaled t: half the longest
/// chord that the uncertainty allows, plus the error of the foot.
#[inline(always)]
fn half_chord_bound<const M: bool>(s: &ScaledPair, foot: &Foot, disc_bound: f32) -> f32 {
    let half = (foot.disc.abs() + disc_bound).sqrt() * 1.01;
    let half = if M { half + 4.0 * s.position_error } else { half };
    (half + 32.0 * U * (norm1(s.eh) + s.r)) / dot3(s.d, s.d).sqrt()
}

/// Whether the relative direction is zero, so that the distance between ray and sphere does not change.
#[inline(always)]
fn has_no_relative_direction(s: &ScaledPair) -> bool {
    s.d.x == 0.0 && s.d.y == 0.0 && s.d.z == 0.0
}

/// Intersects a pair whose relative direction is zero. A ray inside the sphere is inside for all times, so its roots are ∓ the largest f32.
#[inline(always)]
fn roots_without_direction(s: &ScaledPair) -> SphereRoots {
    let (disc, _) = difference_of_squares::<true>(s, s.eh, s.el);
    let e = norm1(s.eh) + s.r;
    SphereRoots {
        disc,
        disc_bound: power_of_two(-39) * e * e + 8.0 * s.position_error * e + 4.0 * s.position_error * s.position_error,
        t_enter: -f32::MAX,
        t_exit: f32::MAX,
        enter_bound: 0.0,
        exit_bound: 0.0,
        foot: 0.0,
        foot_bound: f32::MAX,
        rounded: [f32::NAN; 2],
    }
}

/// Error of the discriminant caused by `position_error`.
#[inline(always)]
fn position_error_bounds(s: &ScaledPair, foot: &Foot) -> f32 {
    4.0 * s.position_error * (norm1(foot.p) + s.r) + 4.0 * s.position_error * s.position_error
}

/// Error of a root caused by `position_error`, in units of the scaled t.
#[inline(always)]
fn position_error_along(s: &ScaledPair, h: f32) -> f32 {
    4.0 * s.position_error * (1.0 + s.r / h) / dot3(s.d, s.d).sqrt()
}

/// Intersects a pair in compensated f32. With E = |e| and b = |p|, hit or miss is right if |b/r − 1| > 2⁻⁴⁰ (1 + E/r), and the error of a
/// root satisfies |δt|·|d| ≤ 8 u (|t|·|d| + r·r/h).
#[inline(always)]
pub(crate) fn intersect_compensated<const M: bool>(s: &ScaledPair) -> SphereRoots {
    if M && has_no_relative_direction(s) {
        roots_without_direction(s)
    } else {
        intersect_compensated_branchless::<M>(s)
    }
}

/// [`intersect_compensated`] for a pair whose relative direction is not zero. Has no branch.
#[inline(always)]
pub(crate) fn intersect_compensated_branchless<const M: bool>(s: &ScaledPair) -> SphereRoots {
    let foot = foot_compensated::<M>(s);
    let e = norm1(s.eh) + s.r;
    let disc_bound = power_of_two(-39) * e * (norm1(foot.p) + s.r) + power_of_two(-80) * e * e;
    let disc_bound = if M { disc_bound + position_error_bounds(s, &foot) } else { disc_bound };
    let (t0, t1) = roots::<M>(s, &foot, constant_compensated::<M>(s));
    let h = foot.disc.max(power_of_two(-80)).sqrt();
    // 10 u instead of the promised 8 u: the margin exceeds half an ulp, so two roots with disjoint intervals also differ after rounding.
    let grazing = 10.0 * U * s.r * s.r / (h * dot3(s.d, s.d).sqrt());
    let grazing = if M { grazing + position_error_along(s, h) } else { grazing };
    let bounds = (10.0 * U * t0.abs() + grazing, 10.0 * U * t1.abs() + grazing);
    finish(s, &foot, (t0, t1), disc_bound, bounds, half_chord_bound::<M>(s, &foot, disc_bound))
}

/// Clearance at parameter `t`: distance to the centre minus radius, from compensated differences. `t` is unscaled and finite; the result is
/// unscaled.
#[inline(always)]
pub(crate) fn clearance_at<const M: bool>(s: &ScaledPair, t: f32) -> f32 {
    let lift = if t.abs() < power_of_two(-100) { 24 } else { 0 };
    let lifted = t * power_of_two(lift);
    let k = unscale(lifted, s.direction - s.length - lift);
    if k.abs() > power_of_two(30) {
        // At this distance the sphere is effectively a point. k · d may exceed f32, and so may its square.
        let length = dot3(s.d, s.d).sqrt();
        let along = dot3(s.eh, s.d) / length;
        // 2^-127 is not a normal number.
        let e = exponent(lifted).min(126);
        let far = unscale(lifted.abs() * power_of_two(-e) * length, e - lift + s.direction);
        let near = unscale(s.r + if k < 0.0 { -along } else { along }, s.length);
        return if far >= f32::MAX { far } else { far - near };
    }
    let (high, low) = perpendicular::<M>(s, k);
    let (disc, p) = difference_of_squares::<M>(s, high, low);
    clearance(s, disc, p)
}

/// Clearance |p| − r, computed as −disc / (|p| + r): accurate near the surface. The result is unscaled.
#[inline(always)]
fn clearance(s: &ScaledPair, disc: f32, p: Vec3) -> f32 {
    let sum = dot3(p, p).sqrt() + s.r;
    if sum == 0.0 {
        return 0.0;
    }
    unscale(-disc / sum, s.length)
}

/// Closest approach of the ray to the sphere's centre, within the ray's ends: parameter and clearance.
#[inline(always)]
pub(crate) fn closest_approach<const M: bool>(s: &ScaledPair, t_min: f32, t_max: f32) -> (f32, f32) {
    if M && has_no_relative_direction(s) {
        let (disc, p) = difference_of_squares::<M>(s, s.eh, s.el);
        return (t_min, clearance(s, disc, p));
    }
    let foot = foot_compensated::<M>(s);
    let (k, rest) = two_sum(foot.k, foot.dk);
    let t = unscale(k, s.length - s.direction);
    // A foot whose t rounds to an end may still be outside: its rest decides. A saturated t may stand for any larger one.
    let rest = if t.abs() < f32::MAX { rest } else { 0.0 };
    if (t, rest) < (t_min, 0.0) {
        (t_min, clearance_at::<M>(s, t_min))
    } else if (t, rest) > (t_max, 0.0) {
        (t_max, clearance_at::<M>(s, t_max))
    } else {
        (t, clearance(s, foot.disc, foot.p))
    }
}
