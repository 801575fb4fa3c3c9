//! Distances of starts of rays from the nearest surface: how much rounding to f32 changes them, and an origin that keeps them.

use glam::{DQuat, DVec3, Vec3};

use super::rounding::{Moved, Rounding, U};
use umbracast::Sphere;
use umbracast::Spheres;

/// A larger mean change, as a share of the distance, is coarse.
const SHARE: f64 = 1e-3;

/// How much rounding to f32 changes the distances of starts of rays from the nearest surface. A sample of the starts is measured.
#[derive(Clone, Debug, Default)]
pub struct Heights {
    measured: u64,
    /// Sum over the starts: the change as a share of the distance, at most 1.
    shares: f64,
    worst: Option<Height>,
    starts: Vec<Start>,
    /// The largest change of the centres along each axis.
    moved: [Moved; 3],
}

/// The start of a ray that rounding changes most, relative to its distance from the nearest surface.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Height {
    /// The start, rounded.
    pub start: Vec3,
    /// Distance from the nearest surface, after rounding.
    pub distance: f64,
    /// Upper bound of the change of the start and of the nearest centre along each axis.
    pub positions: [f64; 3],
    /// Upper bound of the change of the radius.
    pub radius: f64,
    center: DVec3,
}

impl Height {
    /// Upper bound of the change of the distance.
    pub fn change(&self) -> f64 {
        self.positions.iter().sum::<f64>() + self.radius
    }

    /// The axes along which positions change most.
    pub fn axes(&self) -> impl Iterator<Item = usize> {
        let most = 0.1 * self.change();
        (0..3).filter(move |axis| self.positions[*axis] > most)
    }

    /// Whether an origin at least halves the change of positions along an axis.
    pub fn is_helped_by(&self, origin: DVec3, axis: usize) -> bool {
        rounded(self.start.as_dvec3() - origin, self.center - origin)[axis] < 0.5 * self.positions[axis]
    }

    fn share(&self) -> f64 {
        // The distance before rounding can be larger by the change. A change of 0 is no share of any distance.
        let change = self.change();
        if change > 0.0 { (change / self.distance.max(change)).min(1.0) } else { 0.0 }
    }
}

impl Heights {
    /// Pairs of a start and a sphere per call: some tens of milliseconds.
    const PAIRS: usize = 1 << 22;
    /// Number of starts per call, unless there are too many spheres.
    const STARTS: usize = 256;

    /// Measures some of `count` starts among spheres with this rounding. `start` returns a start, its change along each axis, and the id of
    /// a sphere that the ray skips. Moving spheres are not measured.
    pub fn add(
        &mut self,
        spheres: Spheres<'_>,
        rounding: &Rounding,
        count: usize,
        start: impl Fn(usize) -> Option<(Vec3, [f64; 3], u32)>,
    ) {
        self.moved = rounding.positions;
        let most = (Self::PAIRS / spheres.len().max(1)).clamp(16, Self::STARTS);
        let some = (0..count).step_by(count.div_ceil(most).max(1)).filter_map(start).filter(|(at, ..)| at.is_finite());
        let some: Vec<_> = some.collect();
        let is_first = self.starts.is_empty();
        if is_first {
            self.starts.extend(some.iter().map(|(at, ..)| Start::new(at.as_dvec3())));
        }
        let is_rounded = rounding.radius > 0.0
            || rounding.positions.iter().any(|moved| moved.by > 0.0)
            || some.iter().any(|(_, change, _)| *change != [0.0; 3]);
        let is_full = self.measured.saturating_mul(spheres.len() as u64) >= 2 * Self::PAIRS as u64;
        if is_full || spheres.velocities.is_some() || !is_rounded {
            return;
        }
        for (i, (at, change, skipped)) in some.into_iter().enumerate() {
            let mut start = Start::new(at.as_dvec3());
            let mut nearest = None;
            for (id, sphere) in spheres.records.iter().enumerate().filter(|(id, _)| *id != skipped as usize) {
                let (center, radius) = (sphere.center.as_dvec3(), f64::from(sphere.radius));
                let distance = match spheres.shapes.map(|all| &all[id]) {
                    None => distance(start.at - center, radius),
                    Some(shape) => {
                        distance_of_ellipsoid(start.at - center, shape.radii.as_dvec3(), shape.rotation.as_dquat())
                    }
                };
                if distance < start.distance {
                    (start, nearest) = (Start { distance, center: self.wide(center), radius, ..start }, Some(sphere));
                }
            }
            let Some(sphere) = nearest else { continue };
            if is_first {
                self.starts[i] = start;
            }
            let distance = start.distance;
            let center = rounding.change_of(sphere.center);
            let positions = [0, 1, 2].map(|k| change[k] + center[k]);
            let radius = rounding.radius.min(U * f64::from(sphere.radius));
            let found = Height { start: at, distance, positions, radius, center: start.center };
            self.measured += 1;
            self.shares += found.share();
            if self.worst.is_none_or(|worst| worst.share() < found.share()) {
                self.worst = Some(found);
            }
        }
    }

    /// The start that rounding changes most, if the distances from the nearest surface change by more than a thousandth in the mean. Of many
    /// starts, one may be near a surface by chance.
    pub fn coarse(&self) -> Option<Height> {
        let worst = self.worst?;
        let chance = if self.measured >= 16 { worst.share() } else { 0.0 };
        (self.shares - chance > SHARE * self.measured as f64).then_some(worst)
    }

    /// An origin for spheres and the starts that were measured, in the same coordinates.
    pub fn origin(&self, spheres: &[Sphere]) -> DVec3 {
        let mut finder = OriginFinder { starts: self.starts.clone(), ..OriginFinder::new(&[]) };
        spheres.iter().for_each(|sphere| finder.add(self.wide(sphere.center.as_dvec3()), f64::from(sphere.radius)));
        finder.origin()
    }

    /// A centre before rounding, as far as that is known: along each axis, of the centre that changed most.
    fn wide(&self, center: DVec3) -> DVec3 {
        let known = |k: usize| Some(self.moved[k].value).filter(|value| f64::from(*value as f32) == center[k]);
        DVec3::from([0, 1, 2].map(|k| known(k).unwrap_or(center[k])))
    }
}

/// Upper bound of the change along each axis if a start and a centre are rounded. The start is rounded already.
fn rounded(start: DVec3, center: DVec3) -> DVec3 {
    U * start.abs() + (center.as_vec3().as_dvec3() - center).abs()
}

/// Distance of a point from the surface of a sphere, relative to its centre.
fn distance(offset: DVec3, radius: f64) -> f64 {
    (offset.length() - radius).abs()
}

/// Distance of a point from the surface of an ellipsoid, relative to its centre: to first order, which is accurate near the surface.
fn distance_of_ellipsoid(offset: DVec3, axes: DVec3, rotation: DQuat) -> f64 {
    // A file without rotations has zeros.
    let own = if rotation.length_squared() > 0.0 { rotation.normalize().inverse() * offset } else { offset };
    let (unit, slope) = ((own / axes).length(), (own / (axes * axes)).length());
    if slope > 0.0 { (unit - 1.0).abs() * unit / slope } else { axes.min_element() }
}

/// Finds the origin that `--origin auto` subtracts: the centre of the spheres; or a point near starts of rays, if the centre would leave too
/// few digits of their distances from the nearest surface.
#[derive(Clone, Debug)]
pub struct OriginFinder {
    starts: Vec<Start>,
    /// AABB of the spheres, of their centres, and of those whose rounding could move the surface by much of its distance from a start.
    spheres: [DVec3; 2],
    centers: [DVec3; 2],
    anchors: [DVec3; 2],
}

/// A start, with the nearest surface.
#[derive(Clone, Copy, Debug)]
struct Start {
    at: DVec3,
    distance: f64,
    center: DVec3,
    radius: f64,
}

impl Start {
    fn new(at: DVec3) -> Self {
        Self { at, distance: f64::INFINITY, center: DVec3::ZERO, radius: 0.0 }
    }

    /// How much rounding changes the start and the nearest centre after `origin` is subtracted, as a share of the distance between start
    /// and surface, or of the radius if that is smaller.
    fn loss(&self, origin: DVec3) -> f64 {
        let size = if self.radius > 0.0 { self.distance.min(self.radius) } else { self.distance };
        let moved = rounded(self.at - origin, self.center - origin).element_sum();
        if moved > 0.0 { (moved / size).min(1.0) } else { 0.0 }
    }
}

impl OriginFinder {
    /// Maximum number of starts that are kept.
    const STARTS: usize = 32;

    /// Takes starts of rays, evenly spaced if there are many. Without starts, the origin is the centre of the spheres.
    pub fn new(starts: &[DVec3]) -> Self {
        let step = starts.len().div_ceil(Self::STARTS).max(1);
        let starts = starts.iter().step_by(step).filter(|at| at.is_finite()).map(|at| Start::new(*at)).collect();
        let nothing = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        Self { starts, spheres: nothing, centers: nothing, anchors: nothing }
    }

    /// Adds a sphere. Spheres and ellipsoids that are not finite are ignored.
    pub fn add(&mut self, center: DVec3, radius: f64) {
        self.extend(center, radius, |offset| distance(offset, radius));
    }

    /// Adds an ellipsoid.
    pub fn add_ellipsoid(&mut self, center: DVec3, axes: DVec3, rotation: DQuat) {
        self.extend(center, axes.max_element(), |offset| distance_of_ellipsoid(offset, axes, rotation));
    }

    fn extend(&mut self, center: DVec3, radius: f64, distance: impl Fn(DVec3) -> f64) {
        if !center.is_finite() || !radius.is_finite() {
            return;
        }
        let widen = |[low, high]: [DVec3; 2], by: f64| [low.min(center - by), high.max(center + by)];
        (self.spheres, self.centers) = (widen(self.spheres, radius), widen(self.centers, 0.0));
        for start in &mut self.starts {
            let distance = distance(start.at - center);
            if U * (start.at - center).length() > SHARE * distance {
                self.anchors = widen(self.anchors, 0.0);
            }
            if distance < start.distance {
                *start = Start { distance, center, radius, ..*start };
            }
        }
    }

    /// The origin. Zero without spheres.
    pub fn origin(&self) -> DVec3 {
        // Halved before the addition, because the sum of two large corners could overflow.
        let middle = |[low, high]: [DVec3; 2]| 0.5 * low + 0.5 * high;
        let center = middle(self.spheres);
        if !center.is_finite() {
            return DVec3::ZERO;
        }
        let loss = |origin: DVec3| self.starts.iter().map(|start| start.loss(origin)).sum::<f64>();
        let bounds = self.starts.iter().map(|start| [start.at; 2]);
        let among = bounds.reduce(|[low, high], [from, to]| [low.min(from), high.max(to)]).map(middle);
        let nearest = self.starts.iter().min_by(|a, b| a.distance.total_cmp(&b.distance)).map(|start| start.at);
        let candidates = among.into_iter().chain(nearest).map(|origin| self.on_grid(origin));
        let best = candidates.min_by(|a, b| loss(*a).total_cmp(&loss(*b)));
        // A point near the starts must keep at least one more bit, where bits are missing.
        let is_coarse = loss(center) > SHARE * self.starts.len() as f64;
        best.filter(|best| is_coarse && loss(*best) < 0.5 * loss(center)).unwrap_or(center)
    }

    /// Moves an origin to the f32 grid of the farthest centre along each axis, counted from the farthest of the anchors, which then stays
    /// exact. So do the centres that are a multiple of the step away from it.
    fn on_grid(&self, origin: DVec3) -> DVec3 {
        let axis = |k: usize| {
            let from_origin = |center: f64| (center - origin[k]).abs();
            let farther = |[low, high]: [DVec3; 2]| {
                if from_origin(low[k]) > from_origin(high[k]) { low[k] } else { high[k] }
            };
            let (farthest, anchor) = (farther(self.centers), farther(self.anchors));
            let anchor = if anchor.is_finite() { anchor } else { farthest };
            let exponent = f32::from_bits((from_origin(farthest) as f32).to_bits() & f32::INFINITY.to_bits());
            let step = 2.0 * U * f64::from(exponent);
            if step > 0.0 { anchor - ((anchor - origin[k]) / step).round() * step } else { origin[k] }
        };
        DVec3::new(axis(0), axis(1), axis(2))
    }
}
