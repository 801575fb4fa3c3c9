//! Collectors: a collector receives the candidates of one ray and keeps the result of a query.

use crate::bvh::bvh8::node::WIDTH;
use crate::intersect::motion::Target;
use crate::intersect::resolve::intersect;
use crate::intersect::sphere::SphereRoots;
use crate::records::Ray;

/// The result of one ray, and how it was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Resolved<T> {
    pub(crate) record: T,
    /// Resolved by exact arithmetic.
    pub(crate) exact: bool,
    /// A miss only because the root overflows f32.
    pub(crate) overflowed: bool,
}

/// The part of a result that is known after a report of certain hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// Nothing: each of the spheres arrives again, intersected, unless a nearer hit excludes it.
    Nothing,
    /// The whole contribution of these spheres: they need no intersection test.
    These,
    /// The whole result of the ray.
    Everything,
}

/// Receives the candidates of one ray.
pub(crate) trait HitCollector {
    /// Whether a sphere is a candidate because its clearance may be as small as still counts, instead of a hit at a `t` that still counts.
    const IS_APPROACH: bool = false;
    /// Whether the collector takes roots at the query's precision, which are computed for a pair batch, through
    /// [`accept`](Self::accept) instead of [`test`](Self::test).
    const ACCEPTS_ROOTS: bool = false;
    /// Receives one sphere, not intersected yet. Spheres come in any order, and the result must not depend on it.
    fn test(&mut self, ray: &Ray, id: u32, target: Target<'_>) {
        self.accept(ray, id, target, &intersect(ray, target));
    }
    /// Receives one sphere with its roots, if it [accepts roots](Self::ACCEPTS_ROOTS).
    fn accept(&mut self, _ray: &Ray, _id: u32, _target: Target<'_>, _solved: &SphereRoots) {}
    /// Upper bound of the `t` (or clearance) of a sphere that can still change the result; `None` if none can.
    fn cutoff(&self, ray: &Ray) -> Option<f32>;
    /// Receives spheres of a leaf that are certain hits, not intersected yet: the ids of the leaf, and a mask of those that are hit.
    /// Returns the part of the result that this settles.
    fn accept_certain(&mut self, _ids: &[u32; WIDTH], _certain: u32) -> Settled {
        Settled::Nothing
    }
    /// New end of the segment in which spheres count, after a certain hit that begins before `high`. `far` is the end so far. All three are
    /// positions along the ray in scaled units of the scene, not `t`. A query for the closest hit returns the lesser of the two; one that
    /// needs every hit must return `far`.
    fn shorten(&mut self, far: f32, _high: f32) -> f32 {
        far
    }
}
