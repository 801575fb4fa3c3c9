//! Collector that determines whether a ray hits anything.

use super::kind::CpuQuery;
use crate::cpu::candidates::Against;
use crate::cpu::collector::{Found, Known, Visitor, Wanted};
use crate::intersect::classify::{Met, decide};
use crate::intersect::motion::Target;
use crate::intersect::resolve::judge_pair;
use crate::intersect::scalar::{finite, solve};
use crate::intersect::sphere::Solved;
use crate::query::policy::{Precision, Query};
use crate::records::Ray;

/// Determines whether any sphere is hit.
pub(crate) struct Occluded<'a> {
    query: &'a Query,
    /// Whether every pair is resolved by exact arithmetic, without regard for error bounds.
    judging: bool,
    answer: bool,
    doubt: bool,
    beyond: bool,
}

impl<'a> Occluded<'a> {
    #[inline]
    pub(crate) fn new(query: &'a Query) -> Self {
        Self { query, judging: false, answer: false, doubt: false, beyond: false }
    }

    #[inline]
    pub(crate) fn found(self, ray: &Ray, against: Against<'_>) -> Found<bool> {
        if self.doubt && !self.answer {
            let judge = Self { judging: true, ..Self::new(self.query) };
            let Self { answer, beyond, .. } = against.show(ray, judge, self.query.precision);
            return Found { answer, judged: true, beyond: beyond && !answer };
        }
        Found { answer: self.answer, judged: false, beyond: self.beyond && !self.answer }
    }
}

impl Occluded<'_> {
    fn hear(&mut self, met: Met) {
        match met {
            Met::Yes => self.answer = true,
            Met::Maybe => self.doubt = true,
            Met::Beyond => self.beyond = true,
            Met::No => {}
        }
    }
}

impl Visitor for Occluded<'_> {
    const WANTED: Wanted = Wanted::Met;

    fn see(&mut self, ray: &Ray, id: u32, target: Target<'_>) {
        if self.judging {
            self.hear(judge_pair(ray, target, self.query).0);
        } else {
            self.take(ray, id, target, &solve(ray, target, self.query.precision));
        }
    }

    fn solves(&self) -> bool {
        !self.judging
    }

    fn take(&mut self, ray: &Ray, _: u32, _: Target<'_>, solved: &Solved) {
        self.hear(decide(solved, &finite(ray), self.query, self.query.precision == Precision::Exact).met);
    }

    fn counts(&self, _ray: &Ray) -> Option<f32> {
        (!self.answer).then_some(f32::MAX)
    }

    fn certain(&mut self, _: u32) -> Known {
        self.answer = true;
        Known::Everything
    }
}

impl CpuQuery for bool {
    const MISS: Self = false;
    type Visitor<'a> = Occluded<'a>;
    #[inline]
    fn is_hit(&self) -> bool {
        *self
    }
    #[inline]
    fn visitor(query: &Query) -> Occluded<'_> {
        Occluded::new(query)
    }
    #[inline]
    fn found(visitor: Occluded<'_>, ray: &Ray, against: Against<'_>) -> Found<Self> {
        visitor.found(ray, against)
    }
}
