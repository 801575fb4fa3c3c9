//! The scaled units of the CPU engine, in which its BVH is built and traversed, and the lines of rays in them.
//!
//! A pair of ray and sphere is projected on the plane perpendicular to the ray. Every direction d has a perpendicular with z = 0, namely
//! u = (−dy, dx, 0) / |(dx, dy)|, which is free of cancellation. With v = d × u / |d|, the distance b of a centre c from the line through o
//! follows from b² = x² + y², where x = c·u − o·u and y = c·v − o·v. Everything that depends on the ray alone is computed once. The tests are
//! conservative: a sphere that they leave out is a certain miss, for every intersection test and for any fusing of the sums.
//!
//! Error analysis, to first order in U = 2⁻²⁴. Lengths are scaled by a power of two so that those of the scene are below 2. c is relative
//! to a point m in the middle of the scene, and F is the point of the line nearest to m.
//!
//! * The intersection test reports a miss if b > r + 2⁻³⁸ (r + |c − o|).
//! * The error of (x, y) is at most 8 U (|c| + |F|) + 2⁻⁵⁰ |o|. It consists of the rounding of the columns, U |c|; that of u or v, U (|c| +
//!   |F|), which counts from F, because the same error is in α = F·u; that of α, U |F|; and three or four roundings in a row.
//! * So a sphere that may be hit has |(x, y)| ≤ ρ + δ. The sphere's share is ρ = r + 72 U (|c| + r), the ray's share is δ = 16 U |F| + 2⁻³⁸
//!   |o|.
//! * The error of y² + (x² − w) is at most 6 U (x² + y² + w), and w ≥ ρ² (1 + 31 U) compensates for it: a sphere that may be hit has y² +
//!   (x² − w) ≤ (2 ρ δ + δ²)(1 + 6 U). The term 2⁻¹⁰⁰ in its bound is larger than any loss by underflow.

use glam::DVec3;
use rayon::prelude::*;

use crate::math::float::U_WIDE as U;
use crate::records::{Ray, RayAttributes, Sphere};

/// Largest number of spheres from which a median is computed. The frame need not be optimal.
const MEDIAN_SAMPLE: usize = 4096;

/// Rays whose origin is farther out than this, in radii of the scene, exceed what f64 can project: nothing is culled for them.
pub(crate) const MAX_START: f64 = 1.152_921_504_606_847e18;

/// The scaled units of a scene.
#[derive(Clone, Copy)]
pub(crate) struct CpuFrame {
    pub(crate) middle: DVec3,
    /// The power of two by which lengths are multiplied.
    pub(crate) scale: f64,
    /// Largest ratio of the longest to the shortest semi-axis of an ellipsoid; 0 if all are spheres.
    pub(crate) slimness: f64,
}

/// A ray prepared for a search for the closest approach, in scaled units.
#[derive(Clone, Copy)]
pub(crate) struct RayLine {
    /// The perpendiculars (the first has no z), and the coordinates of the line along them, negated.
    pub(crate) u: [f32; 2],
    pub(crate) v: [f32; 3],
    pub(crate) minus_alpha: f32,
    pub(crate) minus_beta: f32,
    /// The unit direction, and the segment along it in which a sphere still counts.
    pub(crate) d: [f32; 3],
    pub(crate) near: f32,
    pub(crate) far: f32,
    /// Largest distance from the line at which a surface still counts.
    pub(crate) limit: f32,
}

/// Converts `t` of a ray to positions along its [`RayLine`].
#[derive(Clone, Copy)]
pub(crate) struct RayParameter {
    /// Position of `t = 0`, length of one unit of `t`, and the error of a root.
    start: f64,
    step: f64,
    slack: f64,
    /// The scene's scale, and the error of a clearance.
    scale: f64,
    clearance_slack: f64,
}

/// Median of a sample of the centres along an axis. Unlike the mean, it is not affected by a few that are far out.
fn median(spheres: &[Sphere], axis: usize) -> f64 {
    let mut values: Vec<f32> =
        spheres.iter().step_by(spheres.len() / MEDIAN_SAMPLE + 1).map(|s| s.center[axis]).collect();
    let half = values.len() / 2;
    if values.is_empty() { 0.0 } else { f64::from(*values.select_nth_unstable_by(half, f32::total_cmp).1) }
}

impl CpuFrame {
    pub(crate) fn of(spheres: &[Sphere]) -> Self {
        let middle = DVec3::from_array(std::array::from_fn(|axis| median(spheres, axis)));
        let size = |s: &Sphere| (s.center.as_dvec3() - middle).abs().max_element().max(s.radius.into());
        // In chunks, because rayon's call of `f64::max` for each sphere is not inlined.
        let largest_of = |part: &[Sphere]| part.iter().map(size).fold(0.0, f64::max);
        let largest = spheres.par_chunks(1 << 12).map(largest_of).reduce(|| 0.0, f64::max);
        // The power of two that scales it to [1, 2). f64 has it for every f32.
        let exponent = (largest.max(f64::MIN_POSITIVE).to_bits() >> 52) as i64 - 1023;
        let scale = if largest == 0.0 { 1.0 } else { f64::from_bits(((1023 - exponent) as u64) << 52) };
        Self { middle, scale, slimness: 0.0 }
    }

    /// A sphere in scaled units: centre, and the radius plus the sphere's share of the errors.
    pub(crate) fn sphere(&self, sphere: &Sphere) -> (DVec3, f32) {
        let (c, r) = (self.scaled_point(sphere.center.as_dvec3()), f64::from(sphere.radius) * self.scale);
        (c, (r + 128.0 * U * (c.length() + r)) as f32)
    }

    pub(crate) fn scaled_point(&self, point: DVec3) -> DVec3 {
        (point - self.middle) * self.scale
    }

    /// Prepares a ray for a search for the closest approach; `None` if it starts too far away, so that everything may be near.
    pub(crate) fn prepare(&self, ray: &Ray, attributes: Option<&RayAttributes>) -> Option<(RayLine, RayParameter)> {
        let o = self.scaled_point(ray.origin.as_dvec3());
        let d = ray.direction.as_dvec3();
        let distance = o.length();
        if distance >= MAX_START {
            return None;
        }
        let unit = d * (1.0 / d.length());
        let across = d.x * d.x + d.y * d.y;
        let u = if across > 0.0 { DVec3::new(-d.y, d.x, 0.0) * (1.0 / across.sqrt()) } else { DVec3::X };
        let v = unit.cross(u);
        let mut parameter = self.parameter(ray);
        let foot = o - parameter.start * unit;
        let (u, v, unit) = (u.as_vec3(), v.as_vec3(), unit.as_vec3());
        let delta = 16.0 * U * foot.length() + FLAG_ERROR * distance;
        // Clearances come from compensated arithmetic, but may be subnormal.
        parameter.clearance_slack = delta + 1e-10 * distance + 1e-44 * self.scale + 1e-18;
        parameter.grow(attributes.map_or(0.0, |attributes| self.inflation(ray, attributes).axial));
        let (near, far) = parameter.ends(ray);
        let line = RayLine {
            u: [u.x, u.y],
            v: v.to_array(),
            minus_alpha: -foot.dot(u.as_dvec3()) as f32,
            minus_beta: -foot.dot(v.as_dvec3()) as f32,
            d: unit.to_array(),
            near,
            far,
            limit: f32::INFINITY,
        };
        Some((line, parameter))
    }

    /// The part of [`prepare`](Self::prepare) that hits need: without the error of clearances.
    pub(crate) fn parameter(&self, ray: &Ray) -> RayParameter {
        let o = self.scaled_point(ray.origin.as_dvec3());
        let d = ray.direction.as_dvec3();
        let (length, distance) = (d.length(), o.length());
        let (start, step) = (o.dot(d * (1.0 / length)), length * self.scale);
        // The bounds of a root are at least 2⁻¹²⁵, see `finish` in `src/intersect/sphere.rs`.
        let slack = 128.0 * U * distance + 4.8e-38 * step + 1e-18;
        RayParameter { start, step, slack, scale: self.scale, clearance_slack: f64::INFINITY }
    }

    /// Inflation of a ray for its attributes and for ellipsoids, lateral and axial. It covers the ray's radius, and the low parts of its
    /// direction at the distance of the spheres. In the space where an ellipsoid is a ball, distances are longer by its slimness, and so
    /// are the errors of the intersection test; transformed back, they are not larger than there. A root has only the digits of f32.
    pub(crate) fn inflation(&self, ray: &Ray, attributes: &RayAttributes) -> Inflation {
        if !attributes.moves() && self.slimness == 0.0 {
            return Inflation::default();
        }
        let o = self.scaled_point(ray.origin.as_dvec3());
        let low =
            DVec3::from_array(attributes.direction_low.map(f64::from)).length() / ray.direction.as_dvec3().length();
        let by = |relative_error: f64| {
            let off = low + 4.0 * relative_error * self.slimness;
            (f64::from(attributes.radius) * self.scale + (o.length() + 4.0) * off) * 1.00001
        };
        Inflation { lateral: by(FLAG_ERROR), axial: by(32.0 * U) }
    }
}

/// Inflation of a ray, in scaled units: lateral and axial.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Inflation {
    pub(crate) lateral: f64,
    pub(crate) axial: f64,
}

/// Error of an intersection test's decision between hit and miss, as a fraction of r + |c − o|.
pub(crate) const FLAG_ERROR: f64 = 3.7e-12;

/// The nearest f32 that is not below `x`.
pub(crate) fn round_up(x: f64) -> f32 {
    let y = x as f32;
    if f64::from(y) < x { y.next_up() } else { y }
}

impl RayParameter {
    /// Inflates by `by`, in scaled units, along the line and for clearances.
    pub(crate) fn grow(&mut self, by: f64) {
        self.clearance_slack += by;
        self.slack += by;
    }

    /// Upper bound of the ray's position, in scaled units, beyond which all hits come later than `t`.
    ///
    /// The computed t is free of cancellation only for a sphere wholly ahead, t · |d| ≥ K − r with K = (c − o)·d / |d| > r. Then |c − o| ≤
    /// 1.42 K and C/q ≥ (K² − r²)/(K + r). The error of t is less than 28 U (|c − o| + r), and its bound and the foot's together are less
    /// than 70 U (|c − o| + r): 128 U covers them. Therefore `t` is clamped to at least 0.
    pub(crate) fn far(&self, t: f32) -> f32 {
        if t >= f32::MAX {
            f32::INFINITY
        } else {
            round_up(self.start + f64::from(t.max(0.0)) * self.step + self.slack)
        }
    }

    /// The segment between the ray's own ends, for `approach`: only points between the ends count, so `t` is not clamped here. Beyond the
    /// ends, clearances are larger.
    pub(crate) fn ends(&self, ray: &Ray) -> (f32, f32) {
        let at = |t: f32| self.start + f64::from(t) * self.step;
        // The `t` that decides whether the foot lies beyond an end is at least as accurate as one rounded to f32, or to a multiple of 2⁻¹⁴⁹.
        let rounding = |t: f32| 2.0 * U * f64::from(t).abs() * self.step + 2.9e-45 * self.step;
        let slack = |t: f32| self.clearance_slack + 1e-15 * self.start.abs() + rounding(t);
        // An end at the largest finite f32 means that there is none, as in the intersection test.
        let near =
            if ray.t_min <= -f32::MAX { f32::NEG_INFINITY } else { -round_up(-(at(ray.t_min) - slack(ray.t_min))) };
        let far = if ray.t_max >= f32::MAX { f32::INFINITY } else { round_up(at(ray.t_max) + slack(ray.t_max)) };
        (near, far)
    }

    /// Largest distance of a surface from the line if clearances above `clearance` do not count. The sphere's own slack, in ρ, is not
    /// included.
    pub(crate) fn limit(&self, clearance: f32) -> f32 {
        if clearance >= f32::MAX {
            return f32::INFINITY;
        }
        let scaled = f64::from(clearance) * self.scale;
        round_up(scaled + 64.0 * U * scaled.abs() + self.clearance_slack)
    }
}

#[cfg(test)]
#[path = "frame_tests.rs"]
pub(crate) mod tests;
