//! Collectors: a collector receives the candidates of one ray and keeps the result of a query.

use crate::intersect::motion::Target;
use crate::intersect::sphere::Solved;
use crate::records::Ray;

/// The result of one ray, and how it was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Found<T> {
    pub(crate) answer: T,
    /// Resolved by exact arithmetic.
    pub(crate) judged: bool,
    /// A miss only because the root overflows f32.
    pub(crate) beyond: bool,
}

/// The test that makes a sphere a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The ray may hit it, at a `t` that still counts.
    Met,
    /// Its clearance may be as small as still counts.
    Near,
}

impl Wanted {
    /// Up to this number of spheres, passing all of them to the collector is faster than culling.
    pub(crate) fn few(self) -> usize {
        match self {
            Wanted::Met => 1,
            Wanted::Near => 4,
        }
    }
}

/// The part of a result that is known after a report of certain hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// Nothing: the spheres have to be intersected.
    Nothing,
    /// The whole contribution of these spheres: they need no intersection test.
    These,
    /// The whole result of the ray.
    Everything,
}

/// Receives the candidates of one ray.
pub(crate) trait Visitor {
    /// The candidate test.
    const WANTED: Wanted;
    /// Receives one sphere, not intersected yet. The order of the spheres does not matter.
    fn see(&mut self, ray: &Ray, id: u32, target: Target<'_>);
    /// Whether the collector needs nothing of a sphere but its roots at the query's precision. The same for all collectors of a batch.
    fn solves(&self) -> bool {
        false
    }
    /// Receives one sphere with its roots, if it [`solves`](Self::solves).
    fn take(&mut self, _ray: &Ray, _id: u32, _target: Target<'_>, _solved: &Solved) {}
    /// The `t` (or clearance) above which nothing counts any more; `None` if nothing counts at all.
    fn counts(&self, ray: &Ray) -> Option<f32>;
    /// Receives the number of spheres that are certain hits, not intersected yet. Returns what is known then.
    fn certain(&mut self, _count: u32) -> Known {
        Known::Nothing
    }
    /// New end of the segment in which spheres count, as a position along the ray. `far` is the end so far. A certain hit begins before
    /// `high`.
    fn cut(&mut self, far: f32, high: f32) -> f32 {
        far.min(high)
    }
}
