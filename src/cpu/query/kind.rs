//! Trait of the CPU engine's queries, implemented by their result types.

use crate::cpu::candidates::Against;
use crate::cpu::collector::{Found, Visitor};
use crate::query::policy::Query;
use crate::records::Ray;

/// A query, identified by its result type.
pub(crate) trait CpuQuery: Copy + Send + 'static {
    /// The result of a ray that hits nothing.
    const MISS: Self;
    /// Whether the query is about clearances instead of hits.
    const NEARS: bool = false;
    /// The collector of the query.
    type Visitor<'a>: Visitor;
    /// Whether the result counts as a hit in the report.
    fn is_hit(&self) -> bool;
    /// A collector that has not received any sphere.
    fn visitor(query: &Query) -> Self::Visitor<'_>;
    /// The result, after the collector has received all candidates.
    fn found(visitor: Self::Visitor<'_>, ray: &Ray, against: Against<'_>) -> Found<Self>;

    /// Casts one ray.
    fn find(ray: &Ray, against: Against<'_>, query: &Query) -> Found<Self> {
        Self::found(against.show(ray, Self::visitor(query), query.precision), ray, against)
    }
}
