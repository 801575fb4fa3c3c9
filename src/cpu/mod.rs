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
use crate::query::{OnBad, Query, check_ray};
use crate::records::{Approach, Hit, Interval, Ray, Sphere};
use crate::watch::Watch;

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
    pub(crate) hits: u64,
    pub(crate) skipped: u64,
    pub(crate) judged: u64,
    pub(crate) beyond: u64,
}

impl std::ops::Add for Tally {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            hits: self.hits + other.hits,
            skipped: self.skipped + other.skipped,
            judged: self.judged + other.judged,
            beyond: self.beyond + other.beyond,
        }
    }
}

/// Rays cast together: number `first` of the whole input, and those after it.
#[derive(Clone, Copy)]
pub(crate) struct Batch<'a> {
    pub(crate) first: u64,
    pub(crate) rays: &'a [Ray],
    pub(crate) query: &'a Query,
    pub(crate) watch: &'a Watch,
}

/// What two neighbouring tasks say together: of two errors the first, so that the ray named is the first bad one.
fn both(a: Result<Tally>, b: Result<Tally>) -> Result<Tally> {
    Ok(a? + b?)
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

    /// Answers a batch on every core.
    pub(crate) fn cast<T: CpuQuery>(&self, batch: Batch<'_>, out: &mut [T]) -> Result<Tally> {
        let tasks = batch.rays.par_chunks(TASK).zip(out.par_chunks_mut(TASK)).enumerate();
        let task = |(i, (rays, out)): (usize, (&[Ray], &mut [T]))| {
            self.task(Batch { first: batch.first + (i * TASK) as u64, rays, ..batch }, out)
        };
        tasks.map(task).reduce(|| Ok(Tally::default()), both)
    }

    /// The same for `occluded`: one bit a ray, whole words.
    pub(crate) fn cast_bits(&self, batch: Batch<'_>, words: &mut [u32]) -> Result<Tally> {
        let tasks = batch.rays.par_chunks(TASK).zip(words.par_chunks_mut(TASK / 32)).enumerate();
        let task = |(i, (rays, words)): (usize, (&[Ray], &mut [u32]))| {
            let mut flags = [false; TASK];
            let flags = &mut flags[..rays.len()];
            let tally = self.task(Batch { first: batch.first + (i * TASK) as u64, rays, ..batch }, flags)?;
            for (word, flags) in words.iter_mut().zip(flags.chunks(32)) {
                *word = flags.iter().rev().fold(0, |word, flag| word << 1 | u32::from(*flag));
            }
            Ok(tally)
        };
        tasks.map(task).reduce(|| Ok(Tally::default()), both)
    }

    /// One core's share.
    fn task<T: CpuQuery>(&self, batch: Batch<'_>, out: &mut [T]) -> Result<Tally> {
        let Batch { first, rays, query, watch } = batch;
        watch.check()?;
        let mut tally = Tally::default();
        for ((number, ray), out) in (first..).zip(rays).zip(out) {
            *out = T::MISS;
            if let Err(error) = check_ray(number, ray) {
                if query.on_bad == OnBad::Refuse {
                    return Err(error);
                }
                tally.skipped += 1;
                continue;
            }
            let Some(against) = self.against(number) else { continue };
            let found = T::find(ray, against, query);
            tally.hits += u64::from(found.answer.is_hit());
            tally.judged += u64::from(found.judged);
            tally.beyond += u64::from(found.beyond);
            *out = found.answer;
        }
        watch.add(rays.len() as u64);
        Ok(tally)
    }

    /// Answers one ray, number `ray` of the whole input.
    pub(crate) fn cast_one<T: CpuQuery>(&self, number: u64, ray: &Ray, query: &Query) -> Option<Found<T>> {
        self.against(number).map(|against| T::find(ray, against, query))
    }
}

/// A query, named by its answer.
pub(crate) trait CpuQuery: Copy + Send + 'static {
    /// The answer of a ray that meets nothing.
    const MISS: Self;
    /// Whether it counts as a hit in the report.
    fn is_hit(&self) -> bool;
    /// Answers one ray.
    fn find(ray: &Ray, against: Against<'_>, query: &Query) -> Found<Self>;
}

impl CpuQuery for Hit {
    const MISS: Self = Hit::MISS;
    fn is_hit(&self) -> bool {
        Hit::is_hit(self)
    }
    fn find(ray: &Ray, against: Against<'_>, query: &Query) -> Found<Self> {
        cast::closest(ray, against, query)
    }
}

impl CpuQuery for Interval {
    const MISS: Self = Interval::MISS;
    fn is_hit(&self) -> bool {
        Interval::is_hit(self)
    }
    fn find(ray: &Ray, against: Against<'_>, query: &Query) -> Found<Self> {
        cast::interval(ray, against, query)
    }
}

impl CpuQuery for Approach {
    const MISS: Self = Approach::NONE;
    fn is_hit(&self) -> bool {
        self.clearance <= 0.0
    }
    fn find(ray: &Ray, against: Against<'_>, query: &Query) -> Found<Self> {
        cast::approach(ray, against, query)
    }
}

impl CpuQuery for bool {
    const MISS: Self = false;
    fn is_hit(&self) -> bool {
        *self
    }
    fn find(ray: &Ray, against: Against<'_>, query: &Query) -> Found<Self> {
        cast::occluded(ray, against, query)
    }
}
