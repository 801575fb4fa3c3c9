//! What a device's arithmetic does: run once when it is opened, so that no precision is promised on trust.
//!
//! WGSL lets compilers reorder, fuse and cancel. The standard solve rests on error-free transforms surviving that, and on
//! division and square root being nearly right; the probe tries both on a few thousand values and on hard rays.

use std::cmp::Ordering;

use crate::intersect::classify::Root;
use crate::intersect::exact::ExactRoots;
use crate::records::{Ray, Sphere};

const U: f64 = 1.0 / 16_777_216.0;

/// Pairs of numbers, and rays, that are tried.
pub(crate) const ROWS: usize = 4096;
/// Results a row, four numbers each.
pub(crate) const RESULTS: usize = 5;
/// Rows judged by integer arithmetic: the rest only tests the pairs.
const JUDGED: usize = 512;

/// What the probe found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Probe {
    /// Pairs tried.
    pub pairs: usize,
    /// Pairs whose sum's error term was wrong.
    pub sums_wrong: usize,
    /// Pairs whose product's error term was wrong.
    pub products_wrong: usize,
    /// Share of `a * b + c` that were fused.
    pub expression_fused: f64,
    /// Share of `fma(a, b, c)` that were fused.
    pub fma_fused: f64,
    /// Largest error of a division, in units in the last place.
    pub division_ulp: f64,
    /// Largest error of a square root, in units in the last place.
    pub root_ulp: f64,
    /// Whether subnormal numbers, those below 2⁻¹²⁶, survive arithmetic. Where they do not the device takes them for 0: at
    /// [`Exact`](crate::Precision::Exact) rays for which that could matter are answered by the CPU engine.
    pub subnormals: bool,
    /// Hard rays tried.
    pub rays: usize,
    /// Hard rays that the standard solve got certainly wrong.
    pub flags_wrong: usize,
    /// Largest error of a standard root as a share of what is promised.
    pub roots_of_bound: f64,
    /// Largest error of a plain root as a share of what `fast` promises; infinite when a flag was certainly wrong.
    pub fast_of_bound: f64,
    /// Why the standard precision cannot be promised, if it cannot.
    pub failure: Option<String>,
    /// Why nothing at all can be promised, not even `fast`, if so.
    pub broken: Option<String>,
}

/// A small generator with a fixed seed: the probe must ask the same everywhere.
struct Numbers(u64);

impl Numbers {
    /// Uniform in [0, 1).
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / f64::from(1 << 24)
    }

    /// Uniform in [−1, 1).
    fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    fn vector(&mut self) -> glam::DVec3 {
        glam::DVec3::new(self.signed(), self.signed(), self.signed())
    }

    /// A ray that passes a sphere far away or close by, often near its edge.
    fn row(&mut self) -> (Ray, Sphere) {
        let direction = (self.vector() + glam::DVec3::new(1.5, 0.0, 0.0)) * 2f64.powf(4.0 * self.signed());
        let distance = 10f64.powf(6.0 * self.unit());
        let aside = direction.cross(self.vector()).normalize_or_zero();
        let radius = 0.5 + self.unit();
        let miss = if self.unit() < 0.5 { 2.0 * self.unit() } else { 1.0 + 1e-6 * self.signed() };
        let origin = self.vector() * 10.0;
        let center = origin + direction.normalize() * distance + aside * (radius * miss);
        let ray = Ray::new(origin.as_vec3(), direction.as_vec3());
        (ray, Sphere::new(center.as_vec3(), radius as f32))
    }
}

/// Rays and spheres that are tried, the same everywhere.
pub(crate) fn rows() -> (Vec<Ray>, Vec<Sphere>) {
    let mut numbers = Numbers(2024);
    (0..ROWS).map(|_| numbers.row()).unzip()
}

/// Judges the results of the probe program.
pub(crate) fn judge(rays: &[Ray], spheres: &[Sphere], results: &[[[f32; 4]; RESULTS]]) -> Probe {
    let mut probe = Probe { pairs: rays.len(), rays: rays.len().min(JUDGED), ..Probe::default() };
    let (mut inexact, mut fused, mut fma_fused) = (0u32, 0u32, 0u32);
    for (ray, found) in rays.iter().zip(results) {
        let (a, b) = (ray.origin.x, ray.direction.x);
        let (wide_a, wide_b) = (f64::from(a), f64::from(b));
        // The sum of a pair is exact in f64 when their exponents are as close as here; a product always is.
        let pair = |i: usize| f64::from(found[0][i]) + f64::from(found[0][i + 1]);
        probe.sums_wrong += usize::from(pair(0) != wide_a + wide_b);
        probe.products_wrong += usize::from(pair(2) != wide_a * wide_b);
        let error = wide_a * wide_b - f64::from(a * b);
        if error != 0.0 {
            inexact += 1;
            fused += u32::from(found[1][0] != 0.0);
            fma_fused += u32::from(found[1][1] != 0.0);
        }
        probe.division_ulp = probe.division_ulp.max(ulps(found[1][2], wide_a / wide_b));
        probe.root_ulp = probe.root_ulp.max(ulps(found[1][3], wide_a.abs().sqrt()));
    }
    probe.expression_fused = f64::from(fused) / f64::from(inexact.max(1));
    probe.fma_fused = f64::from(fma_fused) / f64::from(inexact.max(1));
    // Doubled; taken in by the solve and brought to 1; given back by it.
    let kept = |found: &[[f32; 4]; RESULTS]| {
        let low = |k: usize| found[2][k].to_bits() & 0xffff;
        low(0) == 0x200 && found[2][1] == 1.0 && low(2) == 0x100
    };
    probe.subnormals = results.iter().all(kept);
    let mut certain = [0; 2];
    for ((ray, sphere), found) in rays.iter().zip(spheres).zip(results).take(JUDGED) {
        let row = Row::new(ray, sphere);
        let [standard, plain] = [(found[3], Row::standard as Promise), (found[4], Row::fast as Promise)]
            .map(|(found, promise)| row.check(&found, promise));
        certain[0] += usize::from(standard.is_some());
        certain[1] += usize::from(plain.is_some());
        let standard = standard.unwrap_or(0.0);
        probe.flags_wrong += usize::from(standard.is_infinite());
        probe.roots_of_bound = probe.roots_of_bound.max(if standard.is_infinite() { 0.0 } else { standard });
        probe.fast_of_bound = probe.fast_of_bound.max(plain.unwrap_or(0.0));
    }
    let mut reasons = Vec::new();
    // Most of these rays are decided by either solve where arithmetic is as it should be: 490 and 276 of 512.
    if certain[0] < probe.rays * 4 / 5 || certain[1] < probe.rays * 2 / 5 {
        reasons.push(format!("only {} and {} of {} hard rays are decided at all", certain[0], certain[1], probe.rays));
    }
    if probe.fast_of_bound > 1.0 {
        let why = format!("plain f32 is off by {:.1} times its bound", probe.fast_of_bound);
        reasons.push(why.clone());
        probe.broken = Some(why);
    }
    if probe.sums_wrong + probe.products_wrong > 0 {
        let (s, p, n) = (probe.sums_wrong, probe.products_wrong, probe.pairs);
        reasons.push(format!("{s} of {n} sums and {p} of {n} products lose their error terms"));
    }
    if probe.flags_wrong > 0 {
        reasons.push(format!("{} of {} hard rays are decided wrongly", probe.flags_wrong, probe.rays));
    }
    if probe.roots_of_bound > 1.0 {
        reasons.push(format!("roots are off by {:.1} times the promise", probe.roots_of_bound));
    }
    probe.failure = (!reasons.is_empty()).then(|| reasons.join("; "));
    probe
}

/// How far a root may be off, from the root, as a parameter.
type Promise = fn(&Row, f64) -> f64;

/// One hard ray and the truth about it.
struct Row {
    crossing: Ordering,
    /// Both roots, when there are two.
    roots: [f64; 2],
    length: f64,
    e: f64,
    r: f64,
    half: f64,
}

impl Row {
    fn new(ray: &Ray, sphere: &Sphere) -> Self {
        let exact = ExactRoots::new(ray, sphere);
        let two = exact.crossing == Ordering::Greater;
        let roots = [Root::Enter, Root::Exit].map(|root| if two { exact.round_f64(root) } else { 0.0 });
        let length = ray.direction.as_dvec3().length();
        Self {
            crossing: exact.crossing,
            roots,
            length,
            e: (sphere.center.as_dvec3() - ray.origin.as_dvec3()).length(),
            r: f64::from(sphere.radius),
            half: (roots[1] - roots[0]) / 2.0 * length,
        }
    }

    /// |δt|·|d| ≤ 8 u (|t|·|d| + r·r/h); see src/intersect/sphere.rs.
    fn standard(&self, t: f64) -> f64 {
        8.0 * U * (t.abs() * self.length + self.r * self.r / self.half) / self.length
    }

    /// |δt|·|d| ≤ 32 u (E + r + E·r/h); see src/intersect/sphere.rs.
    fn fast(&self, _: f64) -> f64 {
        32.0 * U * (self.e + self.r + self.e * self.r / self.half) / self.length
    }

    /// What a solve found (discriminant, roots, the discriminant's bound): its worst root as a share of the promise,
    /// infinite for a flag that is certainly wrong or no number at all, `None` where the solve is in doubt.
    fn check(&self, found: &[f32; 4], promise: Promise) -> Option<f64> {
        let [disc, t_enter, t_exit, bound] = *found;
        if found.iter().any(|x| !x.is_finite()) {
            return Some(f64::INFINITY);
        }
        if disc.abs() <= bound {
            return None;
        }
        if (disc > 0.0) != (self.crossing == Ordering::Greater) {
            return Some(f64::INFINITY);
        }
        if disc < 0.0 {
            return Some(0.0);
        }
        let share = |t: f32, truth: f64| (f64::from(t) - truth).abs() / promise(self, truth);
        Some(share(t_enter, self.roots[0]).max(share(t_exit, self.roots[1])))
    }
}

/// The distance between a result and the truth in units in the last place of the truth.
fn ulps(found: f32, truth: f64) -> f64 {
    let spacing = 2f64.powi(truth.abs().max(f64::from(f32::MIN_POSITIVE)).log2().floor() as i32 - 23);
    (f64::from(found) - truth).abs() / spacing
}
