//! Collector that determines whether a ray hits anything.

use super::kind::RayQuery;
use crate::batch::sphere_set::SphereAttributes;
use crate::bvh::bvh8::node::WIDTH;
use crate::cpu::collector::{HitCollector, Resolved, Settled};
use crate::cpu::view::Candidates;
use crate::intersect::classify::{HitClass, classify};
use crate::intersect::motion::Target;
use crate::intersect::resolve::{resolve_pair, with_finite_ends};
use crate::intersect::sphere::SphereRoots;
use crate::query::kind as queries;
use crate::query::policy::{Precision, Query};
use crate::records::Ray;

/// Determines whether any sphere is hit.
pub(crate) struct Occluded<'a> {
    query: &'a Query,
    answer: bool,
    undecided: bool,
    overflowed: bool,
}

impl<'a> Occluded<'a> {
    #[inline]
    pub(crate) fn new(query: &'a Query) -> Self {
        Self { query, answer: false, undecided: false, overflowed: false }
    }

    #[inline]
    pub(crate) fn resolve(self, ray: &Ray, candidates: Candidates<'_>) -> Resolved<bool> {
        if self.undecided && !self.answer {
            let collector = ExactOccluded(Self::new(self.query));
            let ExactOccluded(Self { answer, overflowed, .. }) = candidates.collect(ray, collector, self.query);
            return Resolved { record: answer, exact: true, overflowed: overflowed && !answer };
        }
        Resolved { record: self.answer, exact: false, overflowed: self.overflowed && !self.answer }
    }
}

impl Occluded<'_> {
    fn record(&mut self, class: HitClass) {
        match class {
            HitClass::Hit => self.answer = true,
            HitClass::Undecided => self.undecided = true,
            HitClass::Overflow => self.overflowed = true,
            HitClass::Miss => {}
        }
    }
}

impl HitCollector for Occluded<'_> {
    const ACCEPTS_ROOTS: bool = true;

    fn accept(&mut self, ray: &Ray, _: u32, _: Target<'_>, solved: &SphereRoots) {
        self.record(
            classify(solved, &with_finite_ends(ray), self.query, self.query.precision == Precision::Exact).class,
        );
    }

    fn cutoff(&self, _ray: &Ray) -> Option<f32> {
        (!self.answer).then_some(f32::MAX)
    }

    fn accept_certain(&mut self, _: &[u32; WIDTH], _: u32) -> Settled {
        self.answer = true;
        Settled::Everything
    }

    fn shorten(&mut self, far: f32, high: f32) -> f32 {
        far.min(high)
    }
}

/// Determines whether any sphere is hit by exact arithmetic alone.
struct ExactOccluded<'a>(Occluded<'a>);

impl HitCollector for ExactOccluded<'_> {
    fn test(&mut self, ray: &Ray, _: u32, target: Target<'_>) {
        self.0.record(resolve_pair(ray, target, self.0.query).0);
    }

    fn cutoff(&self, ray: &Ray) -> Option<f32> {
        self.0.cutoff(ray)
    }

    fn accept_certain(&mut self, ids: &[u32; WIDTH], certain: u32) -> Settled {
        self.0.accept_certain(ids, certain)
    }

    fn shorten(&mut self, far: f32, high: f32) -> f32 {
        self.0.shorten(far, high)
    }
}

impl RayQuery for queries::Occluded {
    type Record = bool;
    const MISS: bool = false;
    const CANNOT_BLOCK: Option<&'static str> = Some("occluded");
    type Collector<'a> = Occluded<'a>;
    #[inline]
    fn is_hit(record: &bool) -> bool {
        *record
    }
    #[inline]
    fn collector<'a>(query: &'a Query, _: &SphereAttributes) -> Occluded<'a> {
        Occluded::new(query)
    }
    #[inline]
    fn finish(collector: Occluded<'_>, ray: &Ray, candidates: Candidates<'_>) -> Resolved<bool> {
        collector.resolve(ray, candidates)
    }
}
