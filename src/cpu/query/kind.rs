//! Trait of the CPU engine's queries, implemented by their result types.

use crate::batch::sphere_set::SphereAttributes;
use crate::cpu::collector::{HitCollector, Resolved};
use crate::cpu::view::Candidates;
use crate::query::policy::Query;
use crate::records::Ray;

/// A query. Its result type identifies it, so that each query needs a result type of its own: `u32` is the count, and `f32` the
/// transmittance.
pub(crate) trait RayQuery: Copy + Send + 'static {
    /// The result of a ray that hits nothing.
    const MISS: Self;
    /// Whether the query is about clearances instead of hits.
    const IS_APPROACH: bool = false;
    /// The collector of the query.
    type Collector<'a>: HitCollector;
    /// Whether the result counts as a hit in the report.
    fn is_hit(&self) -> bool;
    /// A collector that has not received any sphere.
    fn collector<'a>(query: &'a Query, attributes: &'a SphereAttributes) -> Self::Collector<'a>;
    /// The result, after the collector has received all candidates.
    fn finish(collector: Self::Collector<'_>, ray: &Ray, candidates: Candidates<'_>) -> Resolved<Self>;

    /// Casts one ray.
    fn resolve_ray(
        ray: &Ray,
        candidates: Candidates<'_>,
        query: &Query,
        attributes: &SphereAttributes,
    ) -> Resolved<Self> {
        Self::finish(candidates.collect(ray, Self::collector(query, attributes), query), ray, candidates)
    }
}
