//! What a query collects from the spheres that a traversal shows it.

use crate::intersect::motion::Target;
use crate::intersect::sphere::Solved;
use crate::records::Ray;

/// An answer, and how it came about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Found<T> {
    pub(crate) answer: T,
    /// Decided by exact arithmetic.
    pub(crate) judged: bool,
    /// A miss only because the root exceeds f32.
    pub(crate) beyond: bool,
}

/// Which spheres a ray wants to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Those it may meet, at a `t` that still counts.
    Met,
    /// Those that may be as near as still counts.
    Near,
}

impl Wanted {
    /// So many spheres are looked at sooner than filtered.
    pub(crate) fn few(self) -> usize {
        match self {
            Wanted::Met => 1,
            Wanted::Near => 4,
        }
    }
}

/// What somebody knows who is told that spheres are met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// Nothing yet.
    Nothing,
    /// All that is asked of these spheres.
    These,
    /// All that is asked.
    Everything,
}

/// Someone who is shown spheres.
pub(crate) trait Visitor {
    /// What is wanted.
    const WANTED: Wanted;
    /// Sees one sphere; the order does not matter.
    fn see(&mut self, ray: &Ray, id: u32, target: Target<'_>);
    /// Whether all that it makes of a sphere comes from the solve at the query's precision. Those of a batch are alike in this.
    fn solves(&self) -> bool {
        false
    }
    /// Sees one sphere that was solved, if it [`solves`](Self::solves).
    fn take(&mut self, _ray: &Ray, _id: u32, _target: Target<'_>, _solved: &Solved) {}
    /// The `t` (or clearance) above which nothing counts any more; `None` when nothing does at all.
    fn counts(&self, ray: &Ray) -> Option<f32>;
    /// Is told of so many spheres that are met for certain, unsolved; what it then knows.
    fn certain(&mut self, _count: u32) -> Known {
        Known::Nothing
    }
    /// Where along the ray the stretch ends that counts, when it has ended at `far` and a sphere is met for certain that begins
    /// before `high`.
    fn cut(&mut self, far: f32, high: f32) -> f32 {
        far.min(high)
    }
}
