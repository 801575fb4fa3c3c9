//! The built-in CPU engine: every core, no driver, and the last word on rays that a GPU cannot decide.

pub(crate) mod angles;
pub(crate) mod caps;
mod cast;
pub(crate) mod cones;
pub(crate) mod coverage;
pub(crate) mod decide;
mod double;
mod every;
mod filter;
mod index;
mod judge;
mod lanes;
// Its macro serves those after it.
#[macro_use]
mod level;
mod aim;
mod fetch;
pub(crate) mod lens;
pub(crate) mod lists;
mod lot;
mod near;
mod order;
pub(crate) mod paint;
mod pairs;
pub(crate) mod picture;
pub(crate) mod pool;
mod roots;
pub(crate) mod sift;
mod solve;
pub(crate) mod stars;
mod stream;
mod sweep;
mod walk;
mod wide;

use std::ops::Range;

use rayon::prelude::*;

pub(crate) use cast::{Against, Found, finite};
use cast::{Closest, Nearest, Occluded};
use every::Count;
pub(crate) use every::key_of;
use fetch::fetch;
pub(crate) use filter::{columns_bytes, largest_of};
use index::Index;
pub(crate) use index::{index_bytes, sweep_only};
pub(crate) use judge::{judge_approach, round_hit, round_roots};
pub(crate) use level::Level;

use crate::emit::Source;
use crate::error::{Error, Result};
use crate::memory::room;
use crate::query::{OnBad, Query};
use crate::records::{Approach, Hit, Interval, Ray, Sphere};
use crate::watch::Watch;
use order::Sorter;
use sweep::{Spheres, Visitor};
use walk::STREAM;

/// Rays a task takes at a time: long enough to hide the hand-over, short enough to share evenly.
const TASK: usize = 256;

/// Rays that a task brings in order at the most: the more, the more of them take the same way, and the farther apart they lie. From
/// 2¹⁵ to 2¹⁸ small scenes take the same time, and a million spheres are slower below 2¹⁷.
const SORTED: usize = 1 << 17;

/// Spheres held for the CPU engine.
pub(crate) struct CpuScene {
    pub(crate) spheres: Vec<Sphere>,
    index: Index,
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
    pub(crate) rays: Source<'a>,
    pub(crate) query: &'a Query,
    pub(crate) watch: &'a Watch,
}

impl<'a> Batch<'a> {
    /// Some of the rays.
    fn part(&self, range: Range<usize>) -> Self {
        Self { first: self.first + range.start as u64, rays: self.rays.part(range), ..*self }
    }

    /// Some of the rays for a task that outlives the caller's borrow, and the number of the first. Once written down they no longer
    /// know where they came from: what is to be refused is named before.
    pub(crate) fn owned(&self, range: Range<usize>) -> Result<(u64, Vec<Ray>)> {
        let Self { first, rays, .. } = self.part(range);
        if self.query.on_bad == OnBad::Refuse && !matches!(rays, Source::Records(_)) {
            (first..).zip(0..rays.len()).try_for_each(|(number, i)| rays.check_one(i, number))?;
        }
        Ok((first, rays.records().into_owned()))
    }
}

impl Batch<'_> {
    /// Numbers of those of its rays, written down, that can be used.
    fn usable(&self, rays: &[Ray]) -> Result<Vec<u32>> {
        let mut usable = Vec::with_capacity(rays.len());
        for i in 0..rays.len() {
            match self.rays.check_one(i, self.first + i as u64) {
                Ok(()) => usable.push(i as u32),
                Err(error) if self.query.on_bad == OnBad::Refuse => return Err(error),
                Err(_) => {}
            }
        }
        Ok(usable)
    }
}

/// What two neighbouring tasks say together: of two errors the first, so that the ray named is the first bad one.
fn both(a: Result<Tally>, b: Result<Tally>) -> Result<Tally> {
    Ok(a? + b?)
}

impl CpuScene {
    pub(crate) fn new(spheres: &[Sphere]) -> Result<Self> {
        Self::with(spheres, Index::new(spheres, Level::best())?)
    }

    /// Pairs are looked up one by one: no index.
    pub(crate) fn pairs(spheres: &[Sphere]) -> Result<Self> {
        Ok(Self { pairwise: true, ..Self::with(spheres, Index::blocks(&[], Level::best())?)? })
    }

    /// For the few rays that a GPU leaves undecided: a tree would take longer to grow than it saves.
    pub(crate) fn judging(spheres: &[Sphere]) -> Result<Self> {
        Self::with(spheres, Index::blocks(spheres, Level::best())?)
    }

    /// For the device that casts: itself, or a GPU that it judges for.
    pub(crate) fn beside(gpu: bool, spheres: &[Sphere], pairwise: bool) -> Result<Self> {
        match gpu {
            _ if pairwise => Self::pairs(spheres),
            true => Self::judging(spheres),
            false => Self::new(spheres),
        }
    }

    fn with(spheres: &[Sphere], index: Index) -> Result<Self> {
        let mut own = room(spheres.len())?;
        own.extend_from_slice(spheres);
        Ok(Self { spheres: own, index, pairwise: false })
    }

    fn spheres(&self) -> Spheres<'_> {
        Spheres { spheres: &self.spheres, index: &self.index }
    }

    /// What ray number `ray` of the whole input is cast against.
    fn against(&self, ray: u64) -> Option<Against<'_>> {
        if self.pairwise {
            self.spheres.get(ray as usize).map(|sphere| Against::One(ray as u32, sphere))
        } else {
            Some(Against::Scene(self.spheres()))
        }
    }

    /// How many rays a task of so large a batch takes.
    fn task_size(&self, rays: usize) -> usize {
        match &self.index {
            Index::Blocks(_) => TASK,
            // A few tasks a core, for an even share.
            Index::Tree(_) => (rays / (4 * rayon::current_num_threads())).next_multiple_of(TASK).clamp(TASK, SORTED),
        }
    }

    /// Some of the rays in the order in which they are cast; `sorted` when that is worth it.
    fn in_order(&self, rays: &[Ray], usable: Vec<u32>, sorted: bool) -> Vec<u32> {
        match &self.index {
            Index::Tree(planted) if sorted => Sorter::new(planted).order(planted, rays, usable),
            _ => usable,
        }
    }

    /// Answers a batch on every core.
    pub(crate) fn cast<T: CpuQuery>(&self, batch: Batch<'_>, out: &mut [T]) -> Result<Tally> {
        let size = self.task_size(batch.rays.len());
        let tasks = out.par_chunks_mut(size).enumerate();
        let task = |(i, out): (usize, &mut [T])| self.task(batch.part(i * size..i * size + out.len()), out);
        tasks.map(task).reduce(|| Ok(Tally::default()), both)
    }

    /// The same for `occluded`: one bit a ray, whole words.
    pub(crate) fn cast_bits(&self, batch: Batch<'_>, words: &mut [u32]) -> Result<Tally> {
        let size = self.task_size(batch.rays.len());
        let tasks = words.par_chunks_mut(size / 32).enumerate();
        let task = |(i, words): (usize, &mut [u32])| {
            let part = batch.part(i * size..batch.rays.len().min((i + 1) * size));
            let mut flags = vec![false; part.rays.len()];
            let tally = self.task(part, &mut flags)?;
            for (word, flags) in words.iter_mut().zip(flags.chunks(32)) {
                *word = flags.iter().rev().fold(0, |word, flag| word << 1 | u32::from(*flag));
            }
            Ok(tally)
        };
        tasks.map(task).reduce(|| Ok(Tally::default()), both)
    }

    /// One core's share.
    fn task<T: CpuQuery>(&self, batch: Batch<'_>, out: &mut [T]) -> Result<Tally> {
        let Batch { first, query, watch, .. } = batch;
        watch.check()?;
        let rays = batch.rays.records();
        let mut tally = Tally::default();
        let order = self.in_order(&rays, batch.usable(&rays)?, T::SORTED);
        tally.skipped = (rays.len() - order.len()) as u64;
        out.fill(T::MISS);
        let mut take = |place: &mut T, found: Found<T>| {
            tally.hits += u64::from(found.answer.is_hit());
            tally.judged += u64::from(found.judged);
            tally.beyond += u64::from(found.beyond);
            *place = found.answer;
        };
        for places in order.chunks(STREAM) {
            watch.check()?;
            if self.pairwise {
                for &i in places {
                    if let Some(against) = self.against(first + u64::from(i)) {
                        take(&mut out[i as usize], T::find(&rays[i as usize], against, query));
                    }
                }
            } else {
                // In order they lie apart: the rays, and where their answers go.
                places.iter().for_each(|&i| {
                    fetch(&rays[i as usize]);
                    fetch(&out[i as usize]);
                });
                let own: Vec<Ray> = places.iter().map(|&i| rays[i as usize]).collect();
                let mut visitors: Vec<_> = places.iter().map(|_| T::visitor(query)).collect();
                self.spheres().sweep(&own, &mut visitors, query.precision);
                for ((&i, ray), visitor) in places.iter().zip(&own).zip(visitors) {
                    take(&mut out[i as usize], T::found(visitor, ray, Against::Scene(self.spheres())));
                }
            }
            watch.add(places.len() as u64);
        }
        watch.add(tally.skipped);
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
    /// Whether rays are worth sorting.
    const SORTED: bool = true;
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

impl CpuQuery for Hit {
    const MISS: Self = Hit::MISS;
    type Visitor<'a> = Closest<'a>;
    fn is_hit(&self) -> bool {
        Hit::is_hit(self)
    }
    fn visitor(query: &Query) -> Closest<'_> {
        Closest::new(query)
    }
    fn found(visitor: Closest<'_>, ray: &Ray, against: Against<'_>) -> Found<Self> {
        visitor.found(ray, against)
    }
}

impl CpuQuery for Interval {
    const MISS: Self = Interval::MISS;
    type Visitor<'a> = Closest<'a>;
    fn is_hit(&self) -> bool {
        Interval::is_hit(self)
    }
    fn visitor(query: &Query) -> Closest<'_> {
        Closest::new(query)
    }
    fn found(visitor: Closest<'_>, ray: &Ray, against: Against<'_>) -> Found<Self> {
        visitor.found_interval(ray, against)
    }
}

impl CpuQuery for u32 {
    const MISS: Self = 0;
    type Visitor<'a> = Count<'a>;
    fn is_hit(&self) -> bool {
        *self > 0
    }
    fn visitor(query: &Query) -> Count<'_> {
        Count::new(query)
    }
    fn found(visitor: Count<'_>, ray: &Ray, against: Against<'_>) -> Found<Self> {
        visitor.found(ray, against)
    }
}

impl CpuQuery for Approach {
    const MISS: Self = Approach::NONE;
    const SORTED: bool = false;
    type Visitor<'a> = Nearest<'a>;
    fn is_hit(&self) -> bool {
        self.clearance <= 0.0
    }
    fn visitor(query: &Query) -> Nearest<'_> {
        Nearest::new(query)
    }
    fn found(visitor: Nearest<'_>, ray: &Ray, against: Against<'_>) -> Found<Self> {
        visitor.found(ray, against)
    }
}

impl CpuQuery for bool {
    const MISS: Self = false;
    type Visitor<'a> = Occluded<'a>;
    fn is_hit(&self) -> bool {
        *self
    }
    fn visitor(query: &Query) -> Occluded<'_> {
        Occluded::new(query)
    }
    fn found(visitor: Occluded<'_>, ray: &Ray, against: Against<'_>) -> Found<Self> {
        visitor.found(ray, against)
    }
}
