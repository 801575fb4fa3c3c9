//! Collector that determines whether a ray hits anything.

use super::kind::RayQuery;
use crate::batch::sphere_set::SphereAttributes;
use crate::bvh::bvh8::node::WIDTH;
use crate::cpu::collector::{HitCollector, Resolved, Settled};
use crate::cpu::query::kinds as queries;
use crate::cpu::view::Candidates;
use crate::intersect::classify::{HitClass, classify};
use crate::intersect::motion::Target;
use crate::intersect::resolve::{intersect, resolve_pair, with_finite_ends};
use crate::intersect::sphere::SphereRoots;
use crate::query::policy::{Precision, Query};
use crate::records::Ray;

/// Determines whether any sphere is hit.
pub(crate) struct Occluded<'a, const EXACT: bool> {
    query: &'a Query,
    pub(crate) answer: bool,
    undecided: bool,
    overflowed: bool,
}

/// Determines whether any sphere is hit by exact arithmetic alone.
pub(crate) type ExactOccluded<'a> = Occluded<'a, true>;

impl<'a, const EXACT: bool> Occluded<'a, EXACT> {
    #[inline]
    pub(crate) fn new(query: &'a Query) -> Self {
        Self { query, answer: false, undecided: false, overflowed: false }
    }

    fn record(&mut self, class: HitClass) {
        match class {
            HitClass::Hit => self.answer = true,
            HitClass::Undecided => self.undecided = true,
            HitClass::Overflow => self.overflowed = true,
            HitClass::Miss => {}
        }
    }
}

impl<const EXACT: bool> HitCollector for Occluded<'_, EXACT> {
    const ACCEPTS_ROOTS: bool = !EXACT;

    fn test(&mut self, ray: &Ray, id: u32, target: Target<'_>) {
        match EXACT {
            true => self.record(resolve_pair(ray, target, self.query).0),
            false => self.accept(ray, id, target, &intersect(ray, target)),
        }
    }

    fn accept(&mut self, ray: &Ray, _: u32, _: Target<'_>, solved: &SphereRoots) {
        let use_bounds = self.query.precision == Precision::Exact;
        self.record(classify(solved, &with_finite_ends(ray), self.query, use_bounds).class);
    }

    fn cutoff(&self, _ray: &Ray) -> Option<f32> {
        (!self.answer).then_some(f32::MAX)
    }

    fn accept_certain(&mut self, _: &[u32; WIDTH], _: u32) -> Settled {
        self.answer = true;
        Settled::Everything
    }
}

impl RayQuery for queries::Occluded {
    type Record = bool;
    const MISS: bool = false;
    const CANNOT_BLOCK: Option<&'static str> = Some("occluded");
    type Collector<'a> = Occluded<'a, false>;
    #[inline]
    fn collector<'a>(query: &'a Query, _: &SphereAttributes) -> Occluded<'a, false> {
        Occluded::new(query)
    }
    #[inline]
    fn finish<'c>(
        collector: &Occluded<'_, false>,
        ray: &Ray,
        candidates: impl Fn() -> Candidates<'c>,
    ) -> Resolved<bool> {
        let &Occluded { query, answer, undecided, overflowed } = collector;
        if undecided && !answer {
            let exact = candidates().collect(ray, ExactOccluded::new(query), query);
            return Resolved { record: exact.answer, exact: true, overflowed: exact.overflowed && !exact.answer };
        }
        Resolved { record: answer, exact: false, overflowed: overflowed && !answer }
    }
}
