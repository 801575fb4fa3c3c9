//! `--compare`: runs the same query on the CPU engine, counts the differences, and determines which of them violate a guarantee of the
//! precision. Results of the CPU engine itself are compared with a brute-force test of every sphere. A *flag* is hit or miss.

mod line;
mod lists;
pub(crate) mod records;

use std::fmt;

use super::progress::ProgressDisplay;
use crate::error::Result;
use line::{Line, U};
use records::{Comparable, steps};
use serde::Serialize;
use umbracast::glam::DVec3;
use umbracast::{Device, Ellipsoid, Inside, Motion, Precision, Query, Ray, Scene, SceneOptions, Sphere, Spheres};
use umbracast_files::OptionalColumns;

/// The reference for a comparison: a method other than the one that computed the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) enum Reference {
    /// The CPU engine.
    #[default]
    #[serde(rename = "the CPU engine")]
    CpuEngine,
    /// The CPU engine without a BVH, with exact arithmetic.
    #[serde(rename = "an exact test of every sphere")]
    EverySphereExactly,
    /// The CPU engine without a BVH, at the same precision: for ellipsoids, which have no exact arithmetic, and for bullets.
    #[serde(rename = "a test of every sphere")]
    EverySphere,
}

impl Reference {
    /// The reference for results of `device`, for spheres or ellipsoids.
    pub(crate) fn of(device: &Device, ellipsoids: bool) -> Self {
        match (device.is_cpu(), ellipsoids) {
            (false, _) => Self::CpuEngine,
            (true, false) => Self::EverySphereExactly,
            (true, true) => Self::EverySphere,
        }
    }

    /// The options of the reference scene, which has no BVH if every sphere is to be tested.
    fn options(self, time_range: [f32; 2]) -> SceneOptions {
        let options = SceneOptions::default().time_range(time_range);
        if self == Self::CpuEngine { options } else { options.tree_from(usize::MAX) }
    }

    /// Builds the scene of the results on `device`, and the scene of the reference if there is a device for it.
    pub(crate) fn scenes(
        self,
        device: &Device,
        reference: Option<Device>,
        spheres: Spheres<'_>,
        time_range: [f32; 2],
        (pairwise, quiet): (bool, bool),
    ) -> Result<(Scene, Option<Scene>)> {
        let what = format!("building a scene of {} spheres on {}", spheres.len(), device.name());
        let _working = ProgressDisplay::on(what, quiet);
        let scene = |device: &Device, options: &SceneOptions| match pairwise {
            true => device.pairwise(spheres, options),
            false => device.scene(spheres, options),
        };
        let found = scene(device, &SceneOptions::default().time_range(time_range))?;
        let reference = reference.map(|cpu| scene(&cpu, &self.options(time_range)));
        Ok((found, reference.transpose()?))
    }

    /// The query for the reference, in place of `query`.
    pub(crate) fn query(self, query: &Query) -> Query {
        match self {
            Self::EverySphereExactly => query.precision(Precision::Exact),
            _ => *query,
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CpuEngine => "the CPU engine",
            Self::EverySphereExactly => "brute force in exact arithmetic",
            Self::EverySphere => "brute force",
        })
    }
}

/// Counts of the differences between two sets of results.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Comparison {
    /// The reference.
    pub(crate) with: Reference,
    rays: u64,
    /// Hit on one device, missed on the other: the only sphere of the ray, or the nearer one of two.
    flags_differ: u64,
    /// Those of them with an end of the ray so close to a root that f32 roots cannot be certain.
    flags_at_ends: u64,
    /// Those of the others that are tangent within the band of the precision.
    flags_grazing: u64,
    /// Different spheres whose `t` differ by more than the sum of both bounds, and neither an end nor tangency explains it.
    ids_differ: u64,
    /// Different spheres whose `t` differ by at most the sum of both bounds.
    ids_tied: u64,
    /// The same sphere, but values that differ by more than the sum of both bounds.
    beyond_bounds: u64,
    /// Results that are not identical, for any reason.
    not_identical: u64,
    /// Largest difference between two results with the same sphere, in ulp of f32.
    worst_ulp: u64,
    worst_ray: Option<u64>,
}

impl Comparison {
    /// An empty comparison with a reference.
    pub(crate) fn to(with: Reference) -> Self {
        Self { with, ..Self::default() }
    }
}

impl std::ops::AddAssign for Comparison {
    /// Adds the comparison of the next part.
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

/// Describes the differences that violate a guarantee of the precision; `None` if there are none.
///
/// * `exact` guarantees the same results everywhere: any difference is a violation.
/// * `standard` guarantees at most 3 wrong flags per 10,000 rays, not counting rays with an end within a few ulp of a root. Fewer than
///   10,000 rays count as 10,000, because a few tangent rays prove nothing.
/// * `fast` guarantees flags outside a band around tangency, 32 u (E + r) wide. Differences inside it are reported, but any number is
///   allowed.
/// * For an ellipsoid the same guarantees hold in the space in which it is a ball, except for the effect of moving it by 2⁻⁴² of its
///   distance.
/// * `standard` and `fast` guarantee every `t` within its bound, and ids unless two `t` differ by at most the sum of their bounds.
pub(crate) fn broken(c: &Comparison, precision: Precision) -> Option<String> {
    let (doubtless, allowed) = match precision {
        Precision::Fast => (c.flags_differ - c.flags_at_ends - c.flags_grazing, 0),
        _ => (c.flags_differ - c.flags_at_ends, 3 * c.rays.div_ceil(10_000)),
    };
    let mut faults = Vec::new();
    if precision == Precision::Exact && c.not_identical > 0 {
        faults
            .push(format!("{} of {} results differ; --precision exact allows no differences", c.not_identical, c.rays));
    }
    if doubtless > allowed {
        faults.push(format!("{doubtless} of {} rays differ in hit or miss; at most {allowed} are allowed", c.rays));
    }
    if c.ids_differ > 0 {
        faults.push(format!(
            "{} ids differ, and the t of these spheres differ by more than the error bounds",
            c.ids_differ
        ));
    }
    if c.beyond_bounds > 0 {
        faults.push(format!("{} results differ by more than the error bounds", c.beyond_bounds));
    }
    let worst =
        c.worst_ray.map(|ray| format!(" (largest difference: {} ulp, at ray {ray})", c.worst_ulp)).unwrap_or_default();
    (!faults.is_empty()).then(|| faults.join("; ") + &worst)
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.not_identical == 0 {
            return write!(f, "all results equal those of {}", self.with);
        }
        write!(
            f,
            "{} results differ from those of {}: {} in hit or miss",
            self.not_identical, self.with, self.flags_differ
        )?;
        if self.flags_differ > 0 {
            write!(f, " ({} at an end of the ray, {} tangent)", self.flags_at_ends, self.flags_grazing)?;
        }
        write!(f, ", {} ids, {} tied ids, t by at most {} ulp", self.ids_differ, self.ids_tied, self.worst_ulp)
    }
}

/// The input of a query.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    pub(crate) spheres: &'a [Sphere],
    /// Optional columns of the spheres: velocities, and shapes of ellipsoids.
    pub(crate) held: Option<&'a OptionalColumns>,
    pub(crate) rays: &'a [Ray],
    /// Number of the first ray in the whole input.
    pub(crate) first: u64,
    pub(crate) query: &'a Query,
    pub(crate) pairwise: bool,
    /// Optional columns of the rays, and the row of the first ray in them.
    pub(crate) optional: Option<(&'a OptionalColumns, usize)>,
}

/// A ray and a sphere, with motion, radius of the ray and shape.
#[derive(Clone, Copy)]
pub(crate) struct Pair<'a> {
    ray: &'a Ray,
    sphere: &'a Sphere,
    velocity: DVec3,
    time: f64,
    /// Whether the sphere moves while the ray travels.
    relative: bool,
    /// Radius of the ray.
    radius: f64,
    /// The ellipsoid whose bounding ball `sphere` is, if any.
    ellipsoid: Option<Ellipsoid>,
    /// Whether the ray starts on the surface of the sphere, or of an equal one.
    on_surface: bool,
}

impl<'a> Input<'a> {
    /// The pair of a ray, with its number in the whole input, and a sphere. `None` if there is no sphere with this id.
    fn pair(&self, number: u64, ray: &'a Ray, id: u32) -> Option<Pair<'a>> {
        let sphere = self.spheres.get(id as usize)?;
        let column = |column: fn(&OptionalColumns) -> Option<&Vec<f32>>| {
            let (optional, begin) = self.optional?;
            column(optional)?.get(begin + (number - self.first) as usize).copied().map(f64::from)
        };
        let velocities = self.held.and_then(|held| held.velocities.as_deref());
        let relative = velocities.is_some() && self.query.motion == Motion::WithRay;
        let velocity = velocities.and_then(|all| all.get(id as usize)).map_or(DVec3::ZERO, |v| v.as_dvec3());
        let time = column(|optional| optional.times.as_ref()).filter(|_| !relative).unwrap_or(0.0);
        let radius = column(|optional| optional.radii.as_ref()).unwrap_or(0.0);
        let ellipsoid = self.held.and_then(|held| held.ellipsoid(id as usize, sphere));
        let from = self.optional.and_then(|(optional, begin)| {
            optional.from_ids.as_ref()?.get(begin + (number - self.first) as usize).copied()
        });
        let on_surface = from.is_some_and(|from| self.spheres.get(from as usize) == Some(sphere));
        Some(Pair { ray, sphere, velocity, time, relative, radius, ellipsoid, on_surface })
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

    /// Compares two results of ray `number`.
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
                    // Every ray has a nearest pass.
                    c.beyond_bounds += 1;
                }
            }
            (Some(p), Some(q)) => {
                let (m, n) = (a.bounds(self, &p), b.bounds(self, &q));
                if a.id() != b.id() {
                    // The other device missed the nearer sphere, so the flag of that sphere differs.
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
                    // A NaN counts as beyond the bounds. Two roundings of the same number may differ by 1 ulp.
                    let within = (f64::from(x) - f64::from(y)).abs() <= m.values[i] + n.values[i];
                    beyond |= apart > 1 && !within;
                }
                c.beyond_bounds += u64::from(beyond && !(T::ENDS && self.at_end(&p)));
            }
            (None, None) => c.beyond_bounds += 1,
        }
    }

    /// Compares results that must be equal: bits, counts and transmittances. A difference counts as a hit that only one has. All spheres are
    /// candidates for a hit at an end of the ray.
    pub(crate) fn compare_equal<T: PartialEq>(&self, found: &[T], expected: &[T]) -> Comparison {
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

    /// Counts a flag that differs, and whether an end or tangency explains it for any candidate. For bits, the sphere with the differing
    /// flag is unknown.
    fn count_flag<I: Iterator<Item = Pair<'a>>>(&self, c: &mut Comparison, candidates: impl Fn() -> I) {
        c.flags_differ += 1;
        if candidates().any(|pair| self.at_end(&pair)) {
            c.flags_at_ends += 1;
        } else if candidates().any(|pair| self.grazes(&pair)) {
            c.flags_grazing += 1;
        }
    }

    /// Whether the line is tangent within the band of the precision: |b − r| ≤ 32 u (E + r) for `fast`, otherwise 2⁻⁴⁰ (E + r), plus
    /// `position_error`. b is the distance of the line from the centre, E that of the origin.
    fn grazes(&self, pair: &Pair<'_>) -> bool {
        let line = Line::new(pair);
        let band = if self.query.precision == Precision::Fast { 32.0 * U } else { (-40.0_f64).exp2() };
        let distance = (line.radius * line.radius - line.half_chord_squared()).max(0.0).sqrt();
        (distance - line.radius).abs() <= band * (line.offset.length() + line.radius) + line.position_error
    }

    /// Whether a root is so close to an end of the ray that the sphere may count on one device but not on another: within its error bound,
    /// or within 32 times the machine epsilon of f32, relative to the end.
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

    /// The `t` by which the policies order spheres, from the roots.
    fn policy_t(&self, ray: &Ray, enter: f32, exit: f32) -> f64 {
        f64::from(match self.query.inside {
            Inside::Enter => enter.max(ray.t_min),
            Inside::Exit if enter < ray.t_min => exit,
            _ => enter,
        })
    }
}

#[cfg(test)]
mod tests;
