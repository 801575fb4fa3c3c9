//! Collector that counts the spheres that a ray hits.

use super::all_hits::classify_fully;
use super::kind::RayQuery;
use crate::batch::sphere_set::SphereAttributes;
use crate::bvh::bvh8::node::WIDTH;
use crate::cpu::collector::{CandidateTest, HitCollector, Resolved, Settled};
use crate::cpu::view::Candidates;
use crate::intersect::classify::HitClass;
use crate::intersect::motion::Target;
use crate::intersect::resolve::intersect;
use crate::intersect::sphere::SphereRoots;
use crate::query::kind as queries;
use crate::query::policy::Query;
use crate::records::Ray;

/// Counts hits.
pub(crate) struct Count<'a> {
    query: &'a Query,
    count: u32,
    used_exact: bool,
    overflowed: bool,
}

impl<'a> Count<'a> {
    #[inline]
    pub(crate) fn new(query: &'a Query) -> Self {
        Self { query, count: 0, used_exact: false, overflowed: false }
    }

    #[inline]
    pub(crate) fn resolve(self, _: &Ray, _: Candidates<'_>) -> Resolved<u32> {
        Resolved { record: self.count, exact: self.used_exact, overflowed: self.overflowed && self.count == 0 }
    }
}

impl HitCollector for Count<'_> {
    const CANDIDATES: CandidateTest = CandidateTest::Hits;
    const ACCEPTS_ROOTS: bool = true;

    fn test(&mut self, ray: &Ray, id: u32, target: Target<'_>) {
        self.accept(ray, id, target, &intersect(ray, target));
    }

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

    fn shorten(&mut self, far: f32, _: f32) -> f32 {
        far
    }
}

impl RayQuery for queries::Count {
    type Record = u32;
    const MISS: u32 = 0;
    const CANNOT_BLOCK: Option<&'static str> = Some("count and transmittance");
    type Collector<'a> = Count<'a>;
    #[inline]
    fn is_hit(record: &u32) -> bool {
        *record > 0
    }
    #[inline]
    fn collector<'a>(query: &'a Query, _: &SphereAttributes) -> Count<'a> {
        Count::new(query)
    }
    #[inline]
    fn finish(collector: Count<'_>, ray: &Ray, candidates: Candidates<'_>) -> Resolved<u32> {
        collector.resolve(ray, candidates)
    }
}
