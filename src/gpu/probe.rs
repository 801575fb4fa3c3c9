//! Probe of a device's arithmetic. It runs once when the device is opened, so that every precision offered has been tested.
//!
//! WGSL lets compilers reorder, fuse and cancel operations. Intersection at `standard` needs error-free transforms that survive this, and
//! nearly correct division and square root. The probe tests both on a few thousand values and on hard rays. Where it measures that division
//! or square root is not rounded correctly, the programs correct them, and the probe runs again with the correction.

use std::cmp::Ordering;

use crate::intersect::classify::Root;
use crate::intersect::exact::ExactRoots;
use crate::math::float::U_WIDE as U;
use crate::records::{Ray, Sphere};

/// Number of rows: each is a pair of numbers and a ray to test.
pub(crate) const ROWS: usize = 4096;
/// Results per row, four numbers each.
pub(crate) const RESULTS: usize = 7;
/// Number of rows whose rays are compared with integer arithmetic. The other rows test only their pair of numbers.
const EXACT_ROWS: usize = 512;

/// Results of the probe.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Probe {
    /// Pairs tested.
    pub pairs: usize,
    /// Pairs whose sum's error term was wrong.
    pub sums_wrong: usize,
    /// Pairs whose product's error term was wrong.
    pub products_wrong: usize,
    /// Fraction of the expressions `a * b + c` that were fused.
    pub expression_fused: f64,
    /// Fraction of the calls `fma(a, b, c)` that were fused.
    pub fma_fused: f64,
    /// Largest error of a division, in units in the last place. If it or `root_ulp` exceeds 0.5, the programs of `standard` and `exact`
    /// correct their quotients and roots.
    pub division_ulp: f64,
    /// Largest error of a square root, in units in the last place, likewise before it is corrected.
    pub root_ulp: f64,
    /// Whether subnormal numbers, those below 2⁻¹²⁶, survive arithmetic. If not, the device treats them as 0. At
    /// [`Exact`](crate::Precision::Exact) the CPU engine then casts the rays whose result this could change, and encoded queries list them.
    pub subnormals: bool,
    /// Hard rays tested.
    pub rays: usize,
    /// Hard rays for which intersection at `standard` was wrong although its bounds called the result certain.
    pub flags_wrong: usize,
    /// Largest error of a root at `standard`, as a fraction of the promised bound.
    pub roots_of_bound: f64,
    /// Largest error of a root as a pair of f32, which `exact` rounds once, as a fraction of its bound.
    pub pair_roots_of_bound: f64,
    /// Largest error of a root at `fast`, as a fraction of the promised bound; infinite if a hit or miss was wrong although the bounds
    /// called it certain.
    pub fast_of_bound: f64,
    /// Why `standard` cannot be offered; `None` if it can.
    pub failure: Option<String>,
    /// Why no precision can be offered, not even `fast`; `None` if one can.
    pub broken: Option<String>,
}

impl Probe {
    /// Whether no measured quotient or root is off by more than half a unit in the last place. f64, which measures, rounds itself.
    pub(crate) fn rounds_correctly(&self) -> bool {
        self.division_ulp.max(self.root_ulp) < 0.5 + 1e-6
    }
}

/// Linear congruential generator with a fixed seed: the probe must test the same values everywhere.
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

    /// A ray that passes a sphere at a large or small distance from its origin, often close to the sphere's edge.
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

/// The rays and spheres to test, the same everywhere.
pub(crate) fn rows() -> (Vec<Ray>, Vec<Sphere>) {
    let mut numbers = Numbers(2024);
    (0..ROWS).map(|_| numbers.row()).unzip()
}

/// Evaluates the results of the probe program.
pub(crate) fn evaluate(rays: &[Ray], spheres: &[Sphere], results: &[[[f32; 4]; RESULTS]]) -> Probe {
    let mut probe = Probe { pairs: rays.len(), rays: rays.len().min(EXACT_ROWS), ..Probe::default() };
    let (mut inexact, mut fused, mut fma_fused) = (0u32, 0u32, 0u32);
    for (ray, found) in rays.iter().zip(results) {
        let (a, b) = (ray.origin.x, ray.direction.x);
        let (wide_a, wide_b) = (f64::from(a), f64::from(b));
        // The sum of a pair is exact in f64, because the exponents are close enough here. A product always is.
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
    // A subnormal number: doubled; as the radius in `scale`, which brings it to 1; as a root that `unscale` returns.
    let kept = |found: &[[f32; 4]; RESULTS]| {
        let low = |k: usize| found[2][k].to_bits() & 0xffff;
        low(0) == 0x200 && found[2][1] == 1.0 && low(2) == 0x100
    };
    probe.subnormals = results.iter().all(kept);
    let mut certain = [0; 2];
    for ((ray, sphere), found) in rays.iter().zip(spheres).zip(results).take(EXACT_ROWS) {
        let row = Row::new(ray, sphere);
        let [standard, plain] = [(found[3], Row::standard as Promise), (found[4], Row::fast as Promise)]
            .map(|(found, promise)| row.check(&found, promise));
        certain[0] += usize::from(standard.is_some());
        certain[1] += usize::from(plain.is_some());
        let standard = standard.unwrap_or(0.0);
        probe.flags_wrong += usize::from(standard.is_infinite());
        probe.roots_of_bound = probe.roots_of_bound.max(if standard.is_infinite() { 0.0 } else { standard });
        probe.fast_of_bound = probe.fast_of_bound.max(plain.unwrap_or(0.0));
        probe.pair_roots_of_bound = probe.pair_roots_of_bound.max(row.check_pairs(&found[5], &found[6]));
    }
    let (rays, [standard, fast]) = (probe.rays, certain);
    let too_large =
        |what: &str, share: f64| (share > 1.0).then(|| format!("errors of {what} reach {share:.1} times their bound"));
    probe.broken = too_large("plain f32", probe.fast_of_bound);
    let (s, p, n) = (probe.sums_wrong, probe.products_wrong, probe.pairs);
    let reasons = [
        // With correct arithmetic, `standard` decides 490 of these 512 rays and `fast` decides 276.
        (standard < rays * 4 / 5 || fast < rays * 2 / 5).then(|| {
            format!("only {standard} (standard) and {fast} (fast) of {rays} hard rays are classified as certain")
        }),
        probe.broken.clone(),
        (s + p > 0).then(|| format!("the error terms of {s} of {n} sums and {p} of {n} products are wrong")),
        (probe.flags_wrong > 0).then(|| format!("{} of {rays} hard rays are classified wrongly", probe.flags_wrong)),
        too_large("roots", probe.roots_of_bound),
        too_large("roots as pairs", probe.pair_roots_of_bound),
    ];
    let reasons: Vec<String> = reasons.into_iter().flatten().collect();
    probe.failure = (!reasons.is_empty()).then(|| reasons.join("; "));
    probe
}

/// Computes the promised error bound of a root, in units of t, from the exact root.
type Promise = fn(&Row, f64) -> f64;

/// A hard ray with its exact results.
struct Row {
    crossing: Ordering,
    /// Both roots, if there are two.
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

    /// Checks results of the device: discriminant, both roots, bound of the discriminant. Returns the larger root error as a fraction of
    /// the promised bound, 0 for a correct miss, infinity if a value is not finite or if a hit or miss is wrong although the bound calls
    /// it certain, and `None` if the result is undecided.
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

    /// Checks roots as pairs of f32: entry and exit, each as high and low part; their bounds, and the exponent of the power of two that all
    /// of them lack. Returns the larger error as a fraction of its bound; 0 if the device computed none or there are none; infinity if a
    /// value is not finite.
    fn check_pairs(&self, roots: &[f32; 4], scale: &[f32; 4]) -> f64 {
        if roots.iter().chain(scale).any(|x| !x.is_finite()) {
            return f64::INFINITY;
        }
        // A root of 0 has an unknown sign: the host rounds it.
        if self.crossing != Ordering::Greater || roots[0] == 0.0 {
            return 0.0;
        }
        let unit = 2f64.powi(scale[2] as i32);
        let share = |i: usize| {
            let found = f64::from(roots[2 * i]) + f64::from(roots[2 * i + 1]);
            (found * unit - self.roots[i]).abs() / (f64::from(scale[i]) * unit)
        };
        share(0).max(share(1))
    }
}

/// Error of a result, in units in the last place of the exact value.
fn ulps(found: f32, truth: f64) -> f64 {
    let spacing = 2f64.powi(truth.abs().max(f64::from(f32::MIN_POSITIVE)).log2().floor() as i32 - 23);
    (f64::from(found) - truth).abs() / spacing
}
