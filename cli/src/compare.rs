//! `--compare`: the same question to the CPU engine, the differences counted, and the policy that says which of them
//! break a promise. Answers of the CPU engine itself are compared with what testing every sphere gives.

mod line;
mod lists;

use std::fmt;

use serde::Serialize;
use umbracast::glam::DVec3;
use umbracast::io::Beside;
use umbracast::{
    Approach, Device, Ellipsoid, Hit, Inside, Interval, Motion, Precision, Query, Ray, Result, Sphere, bench,
};

use line::{Line, U};

/// What answers are compared with: another way to them than the one that they came by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) enum Judge {
    /// The CPU engine.
    #[default]
    #[serde(rename = "the CPU engine")]
    CpuEngine,
    /// The CPU engine without a tree, with exact arithmetic.
    #[serde(rename = "an exact test of every sphere")]
    EverySphereExactly,
    /// The CPU engine without a tree: what exact arithmetic is not there for.
    #[serde(rename = "a test of every sphere")]
    EverySphere,
}

impl Judge {
    /// For answers of a device, about spheres or ellipsoids.
    pub(crate) fn of(device: &Device, ellipsoids: bool) -> Self {
        match (device.is_cpu(), ellipsoids) {
            (false, _) => Self::CpuEngine,
            (true, false) => Self::EverySphereExactly,
            (true, true) => Self::EverySphere,
        }
    }

    /// The scene on the judging device, where there is one: without a tree where every sphere is to be tested.
    pub(crate) fn scene<T>(
        self,
        device: Option<Device>,
        build: impl FnOnce(&Device) -> Result<T>,
    ) -> Result<Option<T>> {
        let _no_tree = (self != Self::CpuEngine).then(|| bench::use_tree(false));
        device.as_ref().map(build).transpose()
    }

    /// What it is asked instead of `query`.
    pub(crate) fn query(self, query: &Query) -> Query {
        match self {
            Self::EverySphereExactly => Query { precision: Precision::Exact, ..*query },
            _ => *query,
        }
    }
}

impl fmt::Display for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CpuEngine => "the CPU engine",
            Self::EverySphereExactly => "an exact test of every sphere",
            Self::EverySphere => "a test of every sphere",
        })
    }
}

/// What two ways answered differently.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Comparison {
    /// What the answers are compared with.
    pub(crate) with: Judge,
    rays: u64,
    /// Met on one device, missed on the other: the ray's only sphere, or the nearer of two.
    flags_differ: u64,
    /// As many of them as have an end of the ray so near to a root that no f32 solve can be sure.
    flags_at_ends: u64,
    /// As many of the others as are tangent within the band of the precision.
    flags_grazing: u64,
    /// Another sphere, although its `t` lies farther away than both bounds, and neither ends nor tangency explain it.
    ids_differ: u64,
    /// Another sphere, as near as the bounds can tell.
    ids_tied: u64,
    /// The same sphere, but farther apart than both bounds.
    beyond_bounds: u64,
    /// Not the same numbers, whatever the reason.
    not_identical: u64,
    /// The largest distance between two answers of the same sphere, in steps of f32.
    worst_ulp: u64,
    worst_ray: Option<u64>,
}

impl Comparison {
    /// Of nothing so far.
    pub(crate) fn to(with: Judge) -> Self {
        Self { with, ..Self::default() }
    }
}

impl std::ops::AddAssign for Comparison {
    /// The comparison of two parts one after the other.
    fn add_assign(&mut self, other: Self) {
        self.rays += other.rays;
        self.flags_differ += other.flags_differ;
        self.flags_at_ends += other.flags_at_ends;
        self.flags_grazing += other.flags_grazing;
        self.ids_differ += other.ids_differ;
        self.ids_tied += other.ids_tied;
        self.beyond_bounds += other.beyond_bounds;
        self.not_identical += other.not_identical;
        if other.worst_ulp > self.worst_ulp {
            (self.worst_ulp, self.worst_ray) = (other.worst_ulp, other.worst_ray);
        }
    }
}

/// Which differences break a promise; none for those that may be.
///
/// * `exact` promises the same answer everywhere: any difference at all breaks it.
/// * `standard` promises at most 3 wrong flags in 10,000 rays, rays with an end within a few ulp of a root aside. Fewer
///   than 10,000 rays count as 10,000: a handful of tangents proves nothing.
/// * `fast` promises flags outside a band around tangency, 32 u (E + r) wide; inside it they are reported, however many.
/// * Of an ellipsoid the same is promised where it is a ball, but for what moving it by 2⁻⁴² of its distance would do.
/// * Both promise every `t` within its bound, and ids unless two `t` lie within the sum of theirs.
pub(crate) fn broken(c: &Comparison, precision: Precision) -> Option<String> {
    let (doubtless, allowed) = match precision {
        Precision::Fast => (c.flags_differ - c.flags_at_ends - c.flags_grazing, 0),
        _ => (c.flags_differ - c.flags_at_ends, 3 * c.rays.div_ceil(10_000)),
    };
    let mut faults = Vec::new();
    if precision == Precision::Exact && c.not_identical > 0 {
        faults.push(format!("{} of {} answers differ, none may with --precision exact", c.not_identical, c.rays));
    }
    if doubtless > allowed {
        faults.push(format!("{doubtless} flags of {} rays differ, {allowed} may", c.rays));
    }
    if c.ids_differ > 0 {
        faults.push(format!("{} ids differ although their t lie farther apart than the bounds", c.ids_differ));
    }
    if c.beyond_bounds > 0 {
        faults.push(format!("{} answers lie farther apart than the bounds", c.beyond_bounds));
    }
    let worst = c.worst_ray.map(|ray| format!(" (the worst by {} ulp, ray {ray})", c.worst_ulp)).unwrap_or_default();
    (!faults.is_empty()).then(|| faults.join("; ") + &worst)
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.not_identical == 0 {
            return write!(f, "all answers equal those of {}", self.with);
        }
        write!(f, "{} answers differ from those of {}: {} flags", self.not_identical, self.with, self.flags_differ)?;
        if self.flags_differ > 0 {
            write!(f, " ({} at an end of the ray, {} tangent)", self.flags_at_ends, self.flags_grazing)?;
        }
        write!(f, ", {} ids, {} tied ids, t by at most {} ulp", self.ids_differ, self.ids_tied, self.worst_ulp)
    }
}

/// An answer that can be compared.
pub(crate) trait Comparable: Copy {
    fn id(self) -> u32;
    /// What is compared to the step.
    fn values(self) -> [f32; 2];
    fn bounds(self, input: &Input<'_>, pair: &Pair<'_>) -> Bounds;
    /// Whether a sphere counts or not depends on where the ray ends.
    const ENDS: bool = true;
}

/// What an answer can be held to, in f64.
pub(crate) struct Bounds {
    /// What decides between spheres.
    key: f64,
    /// How far it may be off.
    key_may: f64,
    /// How far the values may be off.
    values: [f64; 2],
}

/// What was asked.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    pub(crate) spheres: &'a [Sphere],
    /// What is beside them: how they move, and how they are stretched.
    pub(crate) held: Option<&'a Beside>,
    pub(crate) rays: &'a [Ray],
    /// The number of the first of them in the whole input.
    pub(crate) first: u64,
    pub(crate) query: &'a Query,
    pub(crate) pairwise: bool,
    /// What is beside the rays, from number `begin` on.
    pub(crate) beside: Option<(&'a Beside, usize)>,
}

/// A ray and a sphere, and what makes them other than they are at rest.
#[derive(Clone, Copy)]
pub(crate) struct Pair<'a> {
    ray: &'a Ray,
    sphere: &'a Sphere,
    velocity: DVec3,
    time: f64,
    /// Whether the sphere moves while the ray travels.
    relative: bool,
    /// The ray's.
    radius: f64,
    /// What it is in the sphere's place.
    ellipsoid: Option<Ellipsoid>,
}

impl<'a> Input<'a> {
    /// The pair of a ray, by its number in the whole input, and a sphere.
    fn pair(&self, number: u64, ray: &'a Ray, id: u32) -> Option<Pair<'a>> {
        let sphere = self.spheres.get(id as usize)?;
        let column = |column: fn(&Beside) -> Option<&Vec<f32>>| {
            let (beside, begin) = self.beside?;
            column(beside)?.get(begin + (number - self.first) as usize).copied().map(f64::from)
        };
        let velocities = self.held.and_then(|held| held.velocities.as_deref());
        let relative = velocities.is_some() && self.query.motion == Motion::WithRay;
        let velocity = velocities.and_then(|all| all.get(id as usize)).map_or(DVec3::ZERO, |v| v.as_dvec3());
        let time = column(|beside| beside.times.as_ref()).filter(|_| !relative).unwrap_or(0.0);
        let radius = column(|beside| beside.radii.as_ref()).unwrap_or(0.0);
        let ellipsoid = self.held.and_then(|held| held.ellipsoid(id as usize, sphere));
        Some(Pair { ray, sphere, velocity, time, relative, radius, ellipsoid })
    }
}

impl<'a> Input<'a> {
    pub(crate) fn compare<T: Comparable>(&self, found: &[T], expected: &[T]) -> Comparison {
        let mut c = Comparison { rays: self.rays.len() as u64, ..Comparison::default() };
        for (number, ((&a, &b), ray)) in (self.first..).zip(found.iter().zip(expected).zip(self.rays)) {
            self.compare_one(&mut c, number, ray, a, b);
        }
        c
    }

    /// Compares two answers of ray `number`.
    fn compare_one<T: Comparable>(&self, c: &mut Comparison, number: u64, ray: &'a Ray, a: T, b: T) {
        if a.id() == b.id() && a.values() == b.values() {
            return;
        }
        c.not_identical += 1;
        match (self.pair(number, ray, a.id()), self.pair(number, ray, b.id())) {
            (Some(pair), None) | (None, Some(pair)) => {
                if T::ENDS {
                    self.count_flag(c, || std::iter::once(pair));
                } else {
                    // Every ray passes something.
                    c.beyond_bounds += 1;
                }
            }
            (Some(p), Some(q)) => {
                let (m, n) = (a.bounds(self, &p), b.bounds(self, &q));
                if a.id() != b.id() {
                    // The nearer sphere was missed on the other device: there its flag differs.
                    let nearer = if m.key < n.key { p } else { q };
                    if (m.key - n.key).abs() <= m.key_may + n.key_may {
                        c.ids_tied += 1;
                    } else if T::ENDS && (self.at_end(&nearer) || self.grazes(&nearer)) {
                        self.count_flag(c, || std::iter::once(nearer));
                    } else {
                        c.ids_differ += 1;
                    }
                    return;
                }
                let mut beyond = false;
                for i in 0..2 {
                    let (x, y) = (a.values()[i], b.values()[i]);
                    let apart = steps(x, y);
                    if apart > c.worst_ulp {
                        (c.worst_ulp, c.worst_ray) = (apart, Some(number));
                    }
                    // Written so that a NaN, should one ever come, counts as beyond. One step is what two roundings
                    // of the same number may differ by.
                    let within = (f64::from(x) - f64::from(y)).abs() <= m.values[i] + n.values[i];
                    beyond |= apart > 1 && !within;
                }
                c.beyond_bounds += u64::from(beyond && !(T::ENDS && self.at_end(&p)));
            }
            (None, None) => c.beyond_bounds += 1,
        }
    }

    /// Bits and numbers have no spheres: whether one of them is met at an end of the ray is asked of all.
    pub(crate) fn compare_bits<T: PartialEq>(&self, found: &[T], expected: &[T]) -> Comparison {
        let mut c = Comparison { rays: self.rays.len() as u64, ..Comparison::default() };
        for (number, ((a, b), ray)) in (self.first..).zip(found.iter().zip(expected).zip(self.rays)) {
            if a != b {
                c.not_identical += 1;
                let own = number as u32;
                let ids = if self.pairwise { own..own + 1 } else { 0..self.spheres.len() as u32 };
                self.count_flag(&mut c, || ids.clone().filter_map(|id| self.pair(number, ray, id)));
            }
        }
        c
    }

    /// Counts a differing flag, with what may explain it; of bits it is not known which of the spheres made it.
    fn count_flag<I: Iterator<Item = Pair<'a>>>(&self, c: &mut Comparison, candidates: impl Fn() -> I) {
        c.flags_differ += 1;
        if candidates().any(|pair| self.at_end(&pair)) {
            c.flags_at_ends += 1;
        } else if candidates().any(|pair| self.grazes(&pair)) {
            c.flags_grazing += 1;
        }
    }

    /// Whether the line is tangent as far as the precision can tell: |b − r| within 32 u (E + r), or 2⁻⁴⁰ (E + r).
    fn grazes(&self, pair: &Pair<'_>) -> bool {
        let line = Line::new(pair);
        let band = if self.query.precision == Precision::Fast { 32.0 * U } else { (-40.0_f64).exp2() };
        let distance = (line.radius * line.radius - line.half_chord_squared()).max(0.0).sqrt();
        (distance - line.radius).abs() <= band * (line.offset.length() + line.radius) + line.noise
    }

    /// Whether a root lies so close to an end of the ray that the sphere may count on one device and not on another.
    fn at_end(&self, pair: &Pair<'_>) -> bool {
        let (line, ray) = (Line::new(pair), pair.ray);
        let Some(roots) = line.roots() else { return false };
        roots.iter().any(|&root| {
            [ray.t_min, ray.t_max].into_iter().filter(|end| end.is_finite()).any(|end| {
                let end = f64::from(end);
                let near = 32.0 * f64::from(f32::EPSILON) * end.abs().max(f64::from(f32::MIN_POSITIVE));
                (root - end).abs() <= near.max(line.bound(self.query.precision, root))
            })
        })
    }

    /// The `t` by which the policies compare spheres, of raw roots.
    fn policy_t(&self, ray: &Ray, enter: f32, exit: f32) -> f64 {
        f64::from(match self.query.inside {
            Inside::Enter => enter.max(ray.t_min),
            Inside::Exit if enter < ray.t_min => exit,
            _ => enter,
        })
    }
}

impl Comparable for Hit {
    fn id(self) -> u32 {
        self.id
    }
    fn values(self) -> [f32; 2] {
        [self.t, 0.0]
    }
    fn bounds(self, input: &Input<'_>, pair: &Pair<'_>) -> Bounds {
        let t = f64::from(self.t);
        let may = Line::new(pair).bound(input.query.precision, t);
        Bounds { key: t, key_may: may, values: [may, 0.0] }
    }
}

impl Comparable for Interval {
    fn id(self) -> u32 {
        self.id
    }
    fn values(self) -> [f32; 2] {
        [self.t_enter, self.t_exit]
    }
    fn bounds(self, input: &Input<'_>, pair: &Pair<'_>) -> Bounds {
        let line = Line::new(pair);
        let may = |t| line.bound(input.query.precision, t);
        let key = input.policy_t(pair.ray, self.t_enter, self.t_exit);
        Bounds { key, key_may: may(key), values: self.values().map(|t| may(f64::from(t))) }
    }
}

impl Comparable for Approach {
    fn id(self) -> u32 {
        self.id
    }
    fn values(self) -> [f32; 2] {
        [self.t, self.clearance]
    }
    /// |δt|·|d| ≤ 8u (E + |t·d|), |δclearance| ≤ 8u (E + r).
    fn bounds(self, _: &Input<'_>, pair: &Pair<'_>) -> Bounds {
        let line = Line::new(pair);
        let (e, length, t) = (line.offset.length(), line.direction.length(), f64::from(self.t));
        let (may_t, may_clearance) =
            (8.0 * U * (e / length + t.abs()) + line.noise / length, 8.0 * U * (e + line.radius) + line.noise);
        Bounds { key: f64::from(self.clearance), key_may: may_clearance, values: [may_t, may_clearance] }
    }
    const ENDS: bool = false;
}

/// How many steps of f32 lie between two numbers.
fn steps(a: f32, b: f32) -> u64 {
    let ordered = |x: f32| {
        let bits = i64::from(x.to_bits() & 0x7fff_ffff);
        if x.is_sign_negative() { -bits } else { bits }
    };
    ordered(a).abs_diff(ordered(b))
}

#[cfg(test)]
mod tests;
