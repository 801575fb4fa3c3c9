//! Conservative culling of spheres in blocks of 64, in plain f32: seven operations and a comparison per pair of ray and sphere.
//! `shaders/cull/blocks.wgsl` does the same on a GPU.
//!
//! The pair is projected on the plane perpendicular to the ray. Every direction d has a perpendicular with z = 0, namely u = (−dy, dx, 0) /
//! |(dx, dy)|, which is free of cancellation. With v = d × u / |d|, the distance b of a centre c from the line through o follows from b² =
//! x² + y², where x = c·u − o·u and y = c·v − o·v. Everything that depends on the ray alone is computed once, in f64. The test is
//! conservative: a culled sphere is a certain miss, for every intersection test and for any fusing of the sums.
//!
//! Error analysis, to first order in U = 2⁻²⁴. Lengths are scaled by a power of two so that those of the scene are below 2. c is relative
//! to a point m in the middle of the scene, and F is the point of the line nearest to m.
//!
//! * `intersect_fast` reports a miss if b > r + 32 U (r + |c − o|); for the other tests, 2⁻³⁸ replaces 32 U.
//! * The error of (x, y) is at most 8 U (|c| + |F|) + 2⁻⁵⁰ |o|. It consists of the rounding of the columns, U |c|; that of u or v, U (|c| +
//!   |F|), which counts from F, because the same error is in α = F·u; that of α, U |F|; and three or four roundings in a row. With
//!   arithmetic that is only accurate to 2 U, and with α computed in f32 from o, it is 36 U (|c| + |o|) + 6 U r: this is the case on the
//!   GPU.
//! * So a sphere that may be hit has |(x, y)| ≤ ρ + δ. The sphere's share is ρ = r + 72 U (|c| + r), the ray's share is δ = 16 U |F| + (32
//!   U or 2⁻³⁸) |o|; 8 + 32 and 36 + 32 are less than 72.
//! * The error of y² + (x² − w) is at most 6 U (x² + y² + w), and w ≥ ρ² (1 + 31 U) compensates for it: a sphere that may be hit has y² +
//!   (x² − w) ≤ (2 ρ δ + δ²)(1 + 6 U) ≤ s. The term 2⁻¹⁰⁰ in s is larger than any loss by underflow.

use glam::DVec3;
use rayon::prelude::*;

use crate::error::Result;
use crate::math::float::U_WIDE as U;
use crate::math::simd::level::SimdLevel;
use crate::query::policy::Precision;
use crate::records::{Ray, RayAttributes, Sphere};
use crate::runtime::cpu_pool;
use crate::runtime::memory::try_with_capacity;

/// Spheres per block: a mask has one bit for each.
pub(crate) const BLOCK: usize = 64;

/// Largest number of spheres from which a median is computed. The frame need not be optimal.
const MEDIAN_SAMPLE: usize = 4096;

/// Rays whose origin is farther out than this, in radii of the scene, exceed what f64 can project: nothing is culled for them.
pub(crate) const MAX_START: f64 = 1.152_921_504_606_847e18;

/// A block of spheres in SoA layout, in scaled units, aligned to cache lines.
#[repr(C, align(64))]
pub(crate) struct Block {
    pub(crate) x: [f32; BLOCK],
    pub(crate) y: [f32; BLOCK],
    pub(crate) z: [f32; BLOCK],
    /// −w; ∞ in unused lanes.
    pub(crate) minus_w: [f32; BLOCK],
    /// The radius plus the error of a position along the line.
    pub(crate) padded_radius: [f32; BLOCK],
    /// The largest ρ.
    pub(crate) widest: f32,
}

/// A scene's spheres, prepared for culling.
pub(crate) struct SphereBlocks {
    pub(crate) blocks: Vec<Block>,
    pub(crate) level: SimdLevel,
    pub(crate) frame: CullFrame,
}

/// The scaled units of a scene.
#[derive(Clone, Copy)]
pub(crate) struct CullFrame {
    middle: DVec3,
    scale: f64,
    /// Largest ratio of the longest to the shortest semi-axis of an ellipsoid; 0 if all are spheres.
    pub(crate) slimness: f64,
}

/// A ray prepared for culling, in scaled units.
#[derive(Clone, Copy)]
pub(crate) struct RayLine {
    /// The perpendiculars (the first has no z), and the coordinates of the line along them, negated.
    pub(crate) u: [f32; 2],
    pub(crate) v: [f32; 3],
    pub(crate) minus_alpha: f32,
    pub(crate) minus_beta: f32,
    /// 2 δ and δ²: s is `spread · widest + floor`.
    pub(crate) spread: f32,
    pub(crate) floor: f32,
    /// The unit direction, and the segment along it in which a sphere still counts.
    pub(crate) d: [f32; 3],
    pub(crate) near: f32,
    pub(crate) far: f32,
    /// Largest distance from the line at which a surface still counts: only for `approach`.
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

/// Memory that the blocks of `spheres` spheres take.
pub(crate) fn blocks_bytes(spheres: u64) -> u64 {
    spheres.div_ceil(BLOCK as u64).saturating_mul(size_of::<Block>() as u64)
}

/// Median of a sample of the centres along an axis. Unlike the mean, it is not affected by a few that are far out.
fn median(spheres: &[Sphere], axis: usize) -> f64 {
    let mut values: Vec<f32> =
        spheres.iter().step_by(spheres.len() / MEDIAN_SAMPLE + 1).map(|s| s.center[axis]).collect();
    let half = values.len() / 2;
    if values.is_empty() { 0.0 } else { f64::from(*values.select_nth_unstable_by(half, f32::total_cmp).1) }
}

impl SphereBlocks {
    pub(crate) fn new(spheres: &[Sphere], level: SimdLevel) -> Result<Self> {
        let frame = CullFrame::of(spheres);
        let mut blocks = try_with_capacity(spheres.len().div_ceil(BLOCK))?;
        blocks.extend(spheres.chunks(BLOCK).map(|chunk| Block::new(chunk, &frame)));
        Ok(Self { blocks, level, frame })
    }
}

impl CullFrame {
    pub(crate) fn of(spheres: &[Sphere]) -> Self {
        let middle = DVec3::from_array(std::array::from_fn(|axis| median(spheres, axis)));
        let size = |s: &Sphere| (s.center.as_dvec3() - middle).abs().max_element().max(s.radius.into());
        cpu_pool::ensure_pool();
        let largest = spheres.par_iter().map(size).reduce(|| 0.0, f64::max);
        // The power of two that scales it to [1, 2). f64 has it for every f32.
        let exponent = (largest.max(f64::MIN_POSITIVE).to_bits() >> 52) as i64 - 1023;
        let scale = if largest == 0.0 { 1.0 } else { f64::from_bits(((1023 - exponent) as u64) << 52) };
        Self { middle, scale, slimness: 0.0 }
    }

    /// A sphere in scaled units: centre, radius, and `padded_radius` as in [`Block`].
    pub(crate) fn sphere(&self, sphere: &Sphere) -> (DVec3, f64, f32) {
        let (c, r) = ((sphere.center.as_dvec3() - self.middle) * self.scale, f64::from(sphere.radius) * self.scale);
        (c, r, (r + 128.0 * U * (c.length() + r)) as f32)
    }

    /// A point in scaled units.
    pub(crate) fn scaled_point(&self, point: DVec3) -> DVec3 {
        (point - self.middle) * self.scale
    }

    pub(crate) fn middle(&self) -> DVec3 {
        self.middle
    }

    /// The power of two by which lengths are multiplied.
    pub(crate) fn scale(&self) -> f64 {
        self.scale
    }

    /// Prepares a ray for culling, with an allowance for the errors of the intersection test at `precision`.
    pub(crate) fn prepare(&self, ray: &Ray, precision: Precision) -> (RayLine, RayParameter) {
        let o = (ray.origin.as_dvec3() - self.middle) * self.scale;
        let d = ray.direction.as_dvec3();
        let (length, distance) = (d.length(), o.length());
        let unit = d * (1.0 / length);
        let across = d.x * d.x + d.y * d.y;
        let u = if across > 0.0 { DVec3::new(-d.y, d.x, 0.0) * (1.0 / across.sqrt()) } else { DVec3::X };
        let v = unit.cross(u);
        let parameter = self.parameter(ray);
        let foot = o - parameter.start * unit;
        let (u, v, unit) = (u.as_vec3(), v.as_vec3(), unit.as_vec3());
        let too_far = distance >= MAX_START;
        let foot = if too_far { DVec3::ZERO } else { foot };
        let relative_error = flag_error(precision);
        let delta = if too_far { 0.0 } else { 16.0 * U * foot.length() + relative_error * distance };
        let infinite = if too_far { f64::INFINITY } else { 0.0 };
        let line = RayLine {
            u: [u.x, u.y],
            v: v.to_array(),
            minus_alpha: -foot.dot(u.as_dvec3()) as f32,
            minus_beta: -foot.dot(v.as_dvec3()) as f32,
            spread: (2.0 * delta * (1.0 + 32.0 * U)) as f32,
            floor: (delta * delta * (1.0 + 32.0 * U) + 7.9e-31 + infinite) as f32,
            d: unit.to_array(),
            near: f32::NEG_INFINITY,
            far: f32::INFINITY,
            limit: f32::INFINITY,
        };
        // Clearances come from compensated arithmetic, but may be subnormal.
        let clearance_slack = delta + 1e-10 * distance + 1e-44 * self.scale + 1e-18 + infinite;
        (line, RayParameter { clearance_slack, ..parameter })
    }

    /// The part of [`prepare`](Self::prepare) that hits need: without the error of clearances.
    pub(crate) fn parameter(&self, ray: &Ray) -> RayParameter {
        let o = (ray.origin.as_dvec3() - self.middle) * self.scale;
        let d = ray.direction.as_dvec3();
        let (length, distance) = (d.length(), o.length());
        let (start, step) = (o.dot(d * (1.0 / length)), length * self.scale);
        // The bounds of a root are at least 2⁻¹²⁵, see `finish` in `src/intersect/sphere.rs`.
        let slack = 128.0 * U * distance + 4.8e-38 * step + 1e-18;
        RayParameter { start, step, slack, scale: self.scale, clearance_slack: f64::INFINITY }
    }

    /// Inflation of a ray for its attributes and for ellipsoids, lateral and axial. It covers the ray's radius, and the low parts of its
    /// direction at the distance of the spheres. In the space where an ellipsoid is a ball, distances are longer by its slimness, and so
    /// are the errors of the intersection test; transformed back, they are not larger than there. For the hit flag they matter only at
    /// [`Precision::Fast`]; a root has only the digits of f32 at any precision.
    pub(crate) fn inflation(&self, ray: &Ray, attributes: &RayAttributes, precision: Precision) -> Inflation {
        if !attributes.moves() && self.slimness == 0.0 {
            return Inflation::default();
        }
        let o = (ray.origin.as_dvec3() - self.middle) * self.scale;
        let low =
            DVec3::from_array(attributes.direction_low.map(f64::from)).length() / ray.direction.as_dvec3().length();
        let by = |relative_error: f64| {
            let off = low + 4.0 * relative_error * self.slimness;
            (f64::from(attributes.radius) * self.scale + (o.length() + 4.0) * off) * 1.00001
        };
        Inflation { lateral: by(flag_error(precision)), axial: by(flag_error(Precision::Fast)) }
    }
}

/// Inflation of a ray, in scaled units: lateral and axial.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Inflation {
    pub(crate) lateral: f64,
    pub(crate) axial: f64,
}

/// Error of an intersection test's decision between hit and miss, as a fraction of r + |c − o|.
pub(crate) fn flag_error(precision: Precision) -> f64 {
    if precision == Precision::Fast { 32.0 * U } else { 3.7e-12 }
}

impl RayLine {
    /// Inflates the line laterally by `by`, in scaled units.
    pub(crate) fn inflate(&mut self, by: f64) {
        if by > 0.0 {
            let delta = f64::from(self.floor).sqrt() + by;
            self.spread = round_up(f64::from(self.spread) + 2.0 * by * (1.0 + 32.0 * U));
            self.floor = round_up(delta * delta * (1.0 + 32.0 * U));
        }
    }
}

impl Block {
    fn new(spheres: &[Sphere], frame: &CullFrame) -> Self {
        let mut block = Self {
            x: [0.0; BLOCK],
            y: [0.0; BLOCK],
            z: [0.0; BLOCK],
            minus_w: [f32::INFINITY; BLOCK],
            padded_radius: [f32::NEG_INFINITY; BLOCK],
            widest: 0.0,
        };
        for (i, sphere) in spheres.iter().enumerate() {
            let (c, r, reach) = frame.sphere(sphere);
            let rho = r + 72.0 * U * (c.length() + r);
            (block.x[i], block.y[i], block.z[i]) = (c.x as f32, c.y as f32, c.z as f32);
            block.minus_w[i] = -(rho * rho * (1.0 + 32.0 * U)) as f32;
            block.padded_radius[i] = reach;
            block.widest = block.widest.max((rho * (1.0 + 4.0 * U)) as f32);
        }
        block
    }
}

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

    /// Beginning of the segment if spheres that the ray leaves before `t` do not count: the mirror image of [`far`](Self::far).
    pub(crate) fn near(&self, t: f32) -> f32 {
        if t <= -f32::MAX {
            f32::NEG_INFINITY
        } else {
            -round_up(-(self.start + f64::from(t.min(0.0)) * self.step - self.slack))
        }
    }

    /// The segment between the ray's own ends, for `approach`: only points between the ends count, so `t` is not clamped here. Beyond the
    /// ends, clearances are larger.
    pub(crate) fn ends(&self, ray: &Ray) -> (f32, f32) {
        let at = |t: f32| self.start + f64::from(t) * self.step;
        // Whether the foot lies beyond an end depends on its `t` rounded to f32, in the worst case to a multiple of 2⁻¹⁴⁹.
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
#[path = "cull_tests.rs"]
pub(crate) mod tests;
