//! Trait of the CPU engine's queries, implemented by their marker types.

use crate::batch::sphere_set::SphereAttributes;
use crate::cpu::collector::{HitCollector, Resolved};
use crate::cpu::view::Candidates;
use crate::query::policy::Query;
use crate::records::Ray;

/// A query that has one result per ray.
pub(crate) trait RayQuery: Send + Sync + 'static {
    /// The result of a ray.
    type Record: Copy + PartialEq + Send + Sync + 'static;
    /// The result of a ray that hits nothing.
    const MISS: Self::Record;
    /// Whether the query is about clearances instead of hits.
    const IS_APPROACH: bool = <Self::Collector<'static> as HitCollector>::IS_APPROACH;
    /// The name of a query that cannot obey [`Near::Block`](crate::query::policy::Near::Block), for the message.
    const CANNOT_BLOCK: Option<&'static str>;
    /// The collector of the query.
    type Collector<'a>: HitCollector;
    /// Whether a result counts as a hit in the report.
    #[inline]
    fn is_hit(record: &Self::Record) -> bool {
        *record != Self::MISS
    }
    /// A collector that has not received any sphere.
    fn collector<'a>(query: &'a Query, attributes: &'a SphereAttributes) -> Self::Collector<'a>;
    /// The result, after the collector has received all candidates. Few rays need these again.
    fn finish<'c>(
        collector: &Self::Collector<'_>,
        ray: &Ray,
        candidates: impl Fn() -> Candidates<'c>,
    ) -> Resolved<Self::Record>;

    /// Casts one ray.
    fn resolve_ray(
        ray: &Ray,
        candidates: Candidates<'_>,
        query: &Query,
        attributes: &SphereAttributes,
    ) -> Resolved<Self::Record> {
        Self::finish(&candidates.collect(ray, Self::collector(query, attributes), query), ray, || candidates)
    }
}
