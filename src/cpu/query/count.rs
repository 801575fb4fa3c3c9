//! Collector that counts the spheres that a ray hits.

use super::all_hits::settle;
use super::kind::CpuQuery;
use crate::cpu::candidates::Against;
use crate::cpu::collector::{Found, Known, Visitor, Wanted};
use crate::intersect::classify::Met;
use crate::intersect::motion::Target;
use crate::intersect::scalar::solve;
use crate::intersect::sphere::Solved;
use crate::query::policy::Query;
use crate::records::Ray;

/// Counts hits.
pub(crate) struct Count<'a> {
    query: &'a Query,
    count: u32,
    judged: bool,
    beyond: bool,
}

impl<'a> Count<'a> {
    #[inline]
    pub(crate) fn new(query: &'a Query) -> Self {
        Self { query, count: 0, judged: false, beyond: false }
    }

    #[inline]
    pub(crate) fn found(self, _: &Ray, _: Against<'_>) -> Found<u32> {
        Found { answer: self.count, judged: self.judged, beyond: self.beyond && self.count == 0 }
    }
}

impl Visitor for Count<'_> {
    const WANTED: Wanted = Wanted::Met;

    fn see(&mut self, ray: &Ray, id: u32, target: Target<'_>) {
        self.take(ray, id, target, &solve(ray, target, self.query.precision));
    }

    fn solves(&self) -> bool {
        true
    }

    fn take(&mut self, ray: &Ray, _: u32, target: Target<'_>, solved: &Solved) {
        let (met, _, judged) = settle(ray, target, solved, self.query);
        self.count += u32::from(met == Met::Yes);
        self.beyond |= met == Met::Beyond;
        self.judged |= judged;
    }

    fn counts(&self, _: &Ray) -> Option<f32> {
        Some(f32::MAX)
    }

    /// Certain hits are counted without an intersection test.
    fn certain(&mut self, count: u32) -> Known {
        self.count += count;
        Known::These
    }

    fn cut(&mut self, far: f32, _: f32) -> f32 {
        far
    }
}

impl CpuQuery for u32 {
    const MISS: Self = 0;
    type Visitor<'a> = Count<'a>;
    #[inline]
    fn is_hit(&self) -> bool {
        *self > 0
    }
    #[inline]
    fn visitor(query: &Query) -> Count<'_> {
        Count::new(query)
    }
    #[inline]
    fn found(visitor: Count<'_>, ray: &Ray, against: Against<'_>) -> Found<Self> {
        visitor.found(ray, against)
    }
}
