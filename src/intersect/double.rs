//! Roots in f64 with error bounds, for pair batches at `exact` and for pairs that f32 leaves undecided. The twin
//! `shaders/intersect/double.wgsl` uses pairs of f32 instead.
//!
//! Squares of f32 values fit into the range of f64, so no scaling is needed. The bounds are a running error analysis of the operations
//! below with the unit roundoff U = 2⁻⁵³, doubled.

use std::cmp::Ordering;

use glam::DVec3;

use super::classify::{Root, Roots};
use super::motion::Target;
use super::sphere::SphereRoots;
use crate::math::float::{U as U_F32, U_F64 as U};
use crate::records::{Ray, Sphere};

/// Offset of the centre from the origin, relative direction and sum of the radii of a pair, and the error bound of the offset beyond one
/// rounding. An ellipsoid counts as the ball around it.
#[inline(always)]
pub(crate) fn double_pair(ray: &Ray, target: Target<'_>) -> (DVec3, DVec3, f64, f64) {
    let sphere = target.sphere;
    let (o, mut d, mut c) = (ray.origin.as_dvec3(), ray.direction.as_dvec3(), sphere.center.as_dvec3());
    let (mut r, mut slop) = (f64::from(sphere.radius), 0.0);
    if let Some(moves) = &target.motion {
        let velocity = moves.velocity.as_dvec3();
        // The centre at the pair's time, with one rounding per component. The rounding errors of d and r are no larger than those of
        // the operations that use them: where direction and velocity cancel, their difference is exact, and the low part is small.
        c += velocity * f64::from(moves.time);
        slop = 8.0 * U * (sphere.center.as_dvec3().length() + c.length() + o.length());
        d = (d - if moves.moves_with_ray { velocity } else { DVec3::ZERO }) + moves.direction_low.as_dvec3();
        r += f64::from(moves.radius);
    }
    let e: DVec3 = c - o;
    if target.motion.is_some() {
        // d and r have one more rounding each.
        slop += 8.0 * U * (e.length() + r);
    }
    (e, d, r, slop)
}

/// Both roots of one pair in f64, with error bounds.
pub(crate) struct DoubleRoots {
    disc: f64,
    disc_bound: f64,
    t: [f64; 2],
    bound: [f64; 2],
    /// If the sign of the discriminant of a pair at rest is uncertain, the roots, if any, lie within `foot ± foot_bound`.
    foot: f64,
    foot_bound: f64,
}

impl DoubleRoots {
    /// Computes the roots of one pair. Inputs must be finite, and the direction must not be zero.
    pub(crate) fn new(ray: &Ray, target: Target<'_>) -> Self {
        let (e, d, r, slop) = double_pair(ray, target);
        Self::of_offset(e, d, r, slop)
    }

    /// Computes the roots from the offset of the centre, the direction and the radius, without branches. `slop` bounds the error of the
    /// offset, beyond one rounding. Bounds use |x| + |y| + |z| in place of lengths, and quotients share reciprocals: roots and quotients
    /// take most of the time.
    #[inline(always)]
    pub(crate) fn of_offset(e: DVec3, d: DVec3, r: f64, slop: f64) -> Self {
        let (a, b, ee) = (d.dot(d), e.dot(d), e.dot(e));
        let per_a = 1.0 / a;
        let k = b * per_a;
        let p = e - k * d;
        let pp = p.dot(p);
        let disc = r * r - pp;
        // |δp| ≤ 11 U |e|: one rounding in e, three each in a and b, two in k, one each in k·d and the difference, with |k d| ≤ |e|.
        let (em, dm, pm) = (e.abs().element_sum(), d.abs().element_sum(), p.abs().element_sum());
        let dp = 24.0 * U * em + 4.0 * slop;
        let disc_bound = 2.0 * dp * pm + dp * dp + 16.0 * U * (r * r + pp) + 2.0 * slop * r;
        // The root of the discriminant times |d|.
        let w = (a * disc).max(0.0).sqrt();
        let dw = if w > 0.0 { a * disc_bound / w } else { f64::INFINITY };
        let constant = ee - r * r;
        // One rounding of e changes e·e by 2 U |e|². The roundings of its products and sums change it by 5 U |e|².
        let dconstant = 16.0 * U * (ee + r * r) + 4.0 * slop * (em + r + slop);
        let q = if b < 0.0 { b - w } else { b + w };
        let dq = (16.0 * U * em + 4.0 * slop) * dm + dw + 4.0 * U * w;
        let per_q = 1.0 / q;
        let (far, near) = (q * per_a, if q == 0.0 { 0.0 } else { constant * per_q });
        let dfar = dq * per_a + 12.0 * U * far.abs();
        // With |q| > 2 |δq|, the reciprocal of the least |q| is at most twice that of |q|.
        let dnear = 2.0 * (dconstant + near.abs() * dq) * per_q.abs() + 8.0 * U * near.abs();
        let dnear = if q.abs() > 2.0 * dq { dnear } else { f64::INFINITY };
        let ordered = near <= far;
        let t = if ordered { [near, far] } else { [far, near] };
        let bound = if ordered { [dnear, dfar] } else { [dfar, dnear] };
        // Half the longest chord of an uncertain discriminant is √(2 · disc_bound) ≤ 2⁻²² (|e| + r), the foot's own error 2⁻⁴⁹ |e|.
        let foot_bound = 8.0 * f64::from(U_F32) * (em + r) * dm * per_a;
        Self { disc, disc_bound, t, bound, foot: k, foot_bound }
    }

    /// The roots of a pair at rest in f32, without branches: with bounds, and rounded once where f64 suffices for that.
    #[inline(always)]
    pub(crate) fn as_sphere_roots(&self) -> SphereRoots {
        let max = f64::from(f32::MAX);
        // Adding 0 turns a negative zero into zero.
        let saturated = |x: f64| x.max(-max).min(max) as f32 + 0.0;
        // One rounding of the number, one of the sum that uses the bound, and more than half an ulp, so that two roots with disjoint
        // intervals also differ after rounding. The bounds themselves are doubled.
        let bound = |x: f64, bound: f64| saturated(bound + 4.0 * f64::from(U_F32) * x.abs()) + f32::MIN_POSITIVE;
        // The sign alone, because the number may exceed f32.
        let not_negative = if self.disc > 0.0 { 1.0 } else { 0.0 };
        SphereRoots {
            disc: if self.disc < 0.0 { -1.0 } else { not_negative },
            disc_bound: if self.disc.abs() > self.disc_bound { 0.0 } else { 2.0 },
            t_enter: saturated(self.t[0]),
            t_exit: saturated(self.t[1]),
            enter_bound: bound(self.t[0], self.bound[0]),
            exit_bound: bound(self.t[1], self.bound[1]),
            foot: saturated(self.foot),
            foot_bound: bound(self.foot, self.foot_bound),
            rounded: self.rounded().0,
        }
    }

    /// Both roots rounded once to f32, or NaN where f64 does not suffice for that. Without branches.
    #[inline(always)]
    pub(crate) fn rounded(&self) -> RoundedRoots {
        let mut rounded = [f32::NAN; 2];
        for (rounded, root) in rounded.iter_mut().zip([Root::Enter, Root::Exit]) {
            let (low, high) = self.bounds(root);
            // Adding 0 turns a negative zero into zero. If a bound is NaN, the comparison fails, as intended.
            let (low, high) = (low as f32 + 0.0, high as f32 + 0.0);
            *rounded = if low == high { low } else { f32::NAN };
        }
        RoundedRoots(rounded)
    }

    #[inline(always)]
    fn bounds(&self, root: Root) -> (f64, f64) {
        let i = usize::from(root == Root::Exit);
        (self.t[i] - self.bound[i], self.t[i] + self.bound[i])
    }
}

impl Roots for DoubleRoots {
    fn discriminant_sign(&self) -> Option<Ordering> {
        if self.disc > self.disc_bound {
            Some(Ordering::Greater)
        } else if self.disc < -self.disc_bound {
            Some(Ordering::Less)
        } else {
            None
        }
    }

    fn compare(&self, root: Root, t: f32) -> Option<Ordering> {
        let (low, high) = self.bounds(root);
        let t = f64::from(t);
        if low > t {
            Some(Ordering::Greater)
        } else if high < t {
            Some(Ordering::Less)
        } else {
            None
        }
    }

    fn round(&self, root: Root) -> Option<f32> {
        self.rounded().round(root)
    }
}

/// Both roots of a pair that certainly has two, rounded once to f32; NaN if unknown.
pub(crate) struct RoundedRoots(pub(crate) [f32; 2]);

impl Roots for RoundedRoots {
    fn discriminant_sign(&self) -> Option<Ordering> {
        Some(Ordering::Greater)
    }

    /// Rounding is monotonic: a root has the order of its rounded value, unless they are equal.
    fn compare(&self, root: Root, t: f32) -> Option<Ordering> {
        self.round(root)?.partial_cmp(&t).filter(|order| order.is_ne())
    }

    fn round(&self, root: Root) -> Option<f32> {
        let rounded = self.0[usize::from(root == Root::Exit)];
        (!rounded.is_nan()).then_some(rounded)
    }
}

/// Closest approach in f64: parameter and clearance, each rounded once. Returns `None` if the precision of f64 does not suffice for that.
pub(crate) fn double_approach(ray: &Ray, sphere: &Sphere) -> Option<(f32, f32)> {
    let (o, d, c) = (ray.origin.as_dvec3(), ray.direction.as_dvec3(), sphere.center.as_dvec3());
    let (r, e) = (f64::from(sphere.radius), c - o);
    let (length, em) = (d.length(), e.length());
    let foot = e.dot(d) / (length * length);
    let foot_bound = 16.0 * U * (em / length + foot.abs());
    let settled = |value: f64, bound: f64| {
        let (low, high) = ((value - bound) as f32 + 0.0, (value + bound) as f32 + 0.0);
        (low == high).then_some(low)
    };
    let (t_min, t_max) = (f64::from(ray.t_min), f64::from(ray.t_max));
    let (t, rounded) = if foot + foot_bound < t_min {
        (t_min, ray.t_min)
    } else if foot - foot_bound > t_max {
        (t_max, ray.t_max)
    } else if foot - foot_bound >= t_min && foot + foot_bound <= t_max {
        (foot, settled(foot, foot_bound)?)
    } else {
        return None;
    };
    let p = e - t * d;
    let pm = p.length();
    let dp = 24.0 * U * (em + t.abs() * length);
    // |p| − r is computed from the difference of squares, which keeps its digits near the surface.
    let clearance = (p.dot(p) - r * r) / (pm + r);
    Some((rounded, settled(clearance, dp + 16.0 * U * (pm + r))?))
}
