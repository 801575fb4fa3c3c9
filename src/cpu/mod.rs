//! The built-in CPU engine: every core, no driver, and the last word on rays that a GPU cannot decide.

pub(crate) mod angles;
pub(crate) mod caps;
mod cast;
pub(crate) mod coverage;
pub(crate) mod decide;
mod double;
mod filter;
mod judge;
pub(crate) mod paint;
mod pairs;
pub(crate) mod picture;
mod solve;
pub(crate) mod stars;

use rayon::prelude::*;

pub(crate) use cast::{Against, Found};
use filter::Columns;
pub(crate) use filter::largest_of;
pub(crate) use judge::{judge_approach, round_hit, round_roots};

use crate::error::{Error, Result};
use crate::query::Query;
use crate::records::{Approach, Hit, Interval, Ray, Sphere};

/// Rays a task takes at a time: long enough to hide the hand-over, short enough to share evenly.
const TASK: usize = 256;

/// Spheres held for the CPU engine.
pub(crate) struct CpuScene {
    pub(crate) spheres: Vec<Sphere>,
    columns: Columns,
    /// Ray i meets sphere i only.
    pub(crate) pairwise: bool,
}

/// Runs work on rayon's workers, never in whoever polls.
pub(crate) async fn on_cores<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    if rayon::current_thread_index().is_some() {
        // Already on a worker: handing over and waiting could leave no worker to do it.
        return Ok(work());
    }
    let (done, answer) = futures_channel::oneshot::channel();
    // Nobody may be listening any more.
    rayon::spawn(move || drop(done.send(work())));
    answer.await.map_err(|_| Error::DeviceFailed { device: "cpu".into(), message: "a worker ended early".into() })
}

/// How a batch went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) judged: u64,
    pub(crate) beyond: u64,
}

impl std::ops::Add for Tally {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { judged: self.judged + other.judged, beyond: self.beyond + other.beyond }
    }
}

impl CpuScene {
    pub(crate) fn new(spheres: &[Sphere], pairwise: bool) -> Self {
        // Pairs are looked up one by one: no columns.
        Self { spheres: spheres.to_vec(), columns: Columns::new(if pairwise { &[] } else { spheres }), pairwise }
    }

    /// What ray number `ray` of the whole input is cast against.
    fn against(&self, ray: u64) -> Option<Against<'_>> {
        if self.pairwise {
            self.spheres.get(ray as usize).map(|sphere| Against::One(ray as u32, sphere))
        } else {
            Some(Against::Scene(&self.spheres, &self.columns))
        }
    }

    /// Answers a batch whose first ray is number `first` of the whole input.
    pub(crate) fn cast<T: CpuQuery>(&self, first: u64, rays: &[Ray], query: &Query, out: &mut [T]) -> Tally {
        let task = |(i, (rays, out)): (usize, (&[Ray], &mut [T]))| {
            let mut tally = Tally::default();
            for (j, (ray, out)) in rays.iter().zip(out).enumerate() {
                // A ray that was skipped: it ends before it starts.
                if ray.t_min > ray.t_max {
                    continue;
                }
                let Some(against) = self.against(first + (i * TASK + j) as u64) else { continue };
                let found = T::find(ray, against, query);
                *out = found.answer;
                tally.judged += u64::from(found.judged);
                tally.beyond += u64::from(found.beyond);
            }
            tally
        };
        rays.par_chunks(TASK).zip(out.par_chunks_mut(TASK)).enumerate().map(task).reduce(Tally::default, |a, b| a + b)
    }

    /// Answers one ray, number `ray` of the whole input.
    pub(crate) fn cast_one<T: CpuQuery>(&self, number: u64, ray: &Ray, query: &Query) -> Option<Found<T>> {
        self.against(number).map(|against| T::find(ray, against, query))
    }
}

/// A query, named by its answer.
pub(crate) trait CpuQuery: Sized + Send {
    /// Answers one ray.
    fn find(ray: &Ray, against: Against<'_>, query: &Query) -> Found<Self>;
}

impl CpuQuery for Hit {
    fn find(ray: &Ray, against: Against<'_>, query: &Query) -> Found<Self> {
        cast::closest(ray, against, query)
    }
}

impl CpuQuery for Interval {
    fn find(ray: &Ray, against: Against<'_>, query: &Query) -> Found<Self> {
        cast::interval(ray, against, query)
    }
}

impl CpuQuery for Approach {
    fn find(ray: &Ray, against: Against<'_>, query: &Query) -> Found<Self> {
        cast::approach(ray, against, query)
    }
}

impl CpuQuery for bool {
    fn find(ray: &Ray, against: Against<'_>, query: &Query) -> Found<Self> {
        cast::occluded(ray, against, query)
    }
}
