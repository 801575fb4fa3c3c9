//! A query of the CPU engine, named by its answer.

use crate::cpu::candidates::Against;
use crate::cpu::collector::{Found, Visitor};
use crate::query::policy::Query;
use crate::records::Ray;

/// A query, named by its answer.
pub(crate) trait CpuQuery: Copy + Send + 'static {
    /// The answer of a ray that meets nothing.
    const MISS: Self;
    /// Whether it asks how near a sphere comes, not whether it is met.
    const NEARS: bool = false;
    /// Looks at spheres on a ray's behalf.
    type Visitor<'a>: Visitor;
    /// Whether it counts as a hit in the report.
    fn is_hit(&self) -> bool;
    /// Has seen nothing yet.
    fn visitor(query: &Query) -> Self::Visitor<'_>;
    /// What it makes of all it has seen.
    fn found(visitor: Self::Visitor<'_>, ray: &Ray, against: Against<'_>) -> Found<Self>;

    /// Answers one ray.
    fn find(ray: &Ray, against: Against<'_>, query: &Query) -> Found<Self> {
        Self::found(against.show(ray, Self::visitor(query), query.precision), ray, against)
    }
}
