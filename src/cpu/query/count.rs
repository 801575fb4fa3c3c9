//! Collector that counts the spheres that a ray hits.

use super::all_hits::classify_fully;
use super::kind::RayQuery;
use crate::batch::sphere_set::SphereAttributes;
use crate::bvh::bvh8::node::WIDTH;
use crate::cpu::collector::{HitCollector, Resolved, Settled};
use crate::cpu::query::kinds as queries;
use crate::cpu::view::Candidates;
use crate::intersect::classify::HitClass;
use crate::intersect::motion::Target;
use crate::intersect::sphere::SphereRoots;
use crate::query::policy::Query;
use crate::records::Ray;

/// Counts hits.
pub(crate) struct Count<'a> {
    query: &'a Query,
    count: u32,
    used_exact: bool,
    overflowed: bool,
}

impl HitCollector for Count<'_> {
    const ACCEPTS_ROOTS: bool = true;

    fn accept(&mut self, ray: &Ray, _: u32, target: Target<'_>, solved: &SphereRoots) {
        let (class, _, exact) = classify_fully(ray, target, solved, self.query);
        self.count += u32::from(class == HitClass::Hit);
        self.overflowed |= class == HitClass::Overflow;
        self.used_exact |= exact;
    }

    fn cutoff(&self, _: &Ray) -> Option<f32> {
        Some(f32::MAX)
    }

    /// Certain hits are counted without an intersection test.
    fn accept_certain(&mut self, _: &[u32; WIDTH], certain: u32) -> Settled {
        self.count += certain.count_ones();
        Settled::These
    }
}

impl RayQuery for queries::Count {
    type Record = u32;
    const MISS: u32 = 0;
    const CANNOT_BLOCK: Option<&'static str> = Some("count and transmittance");
    type Collector<'a> = Count<'a>;
    #[inline]
    fn collector<'a>(query: &'a Query, _: &SphereAttributes) -> Count<'a> {
        Count { query, count: 0, used_exact: false, overflowed: false }
    }
    #[inline]
    fn finish<'c>(collector: &Count<'_>, _: &Ray, _: impl Fn() -> Candidates<'c>) -> Resolved<u32> {
        let &Count { count: record, used_exact: exact, overflowed, .. } = collector;
        Resolved { record, exact, overflowed: overflowed && record == 0 }
    }
}
