//! The CPU engine's scene: casts batches on all cores, and resolves the rays that a GPU leaves undecided.

use super::accel::Index;
use super::candidates::Against;
use super::collector::Found;
use super::query::kind::CpuQuery;
use super::subnormal::Sizes;
use super::traverse::ray_sort::Sorter;
use super::traverse::stream::STREAM;
use super::view::Spheres;
use crate::batch::ray_attributes::Extras;
use crate::batch::ray_batch::Batch;
use crate::batch::sphere_set::{Columns, Given};
use crate::error::Result;
use crate::intersect::motion::Target;
use crate::math::simd::level::Level;
use crate::query::policy::Query;
use crate::query::results::Tally;
use crate::records::{Extra, Ray, Sphere};
use crate::runtime::cpu_pool;
use crate::runtime::memory::room;
use crate::runtime::prefetch::fetch;

use std::sync::OnceLock;

use rayon::prelude::*;

/// Rays per task: enough to hide the cost of a task, few enough for an even distribution.
const TASK: usize = 256;

/// Largest number of rays that a task sorts. The more there are, the more of them take the same path through the BVH, and the farther apart
/// they lie in memory. From 2¹⁵ to 2¹⁸ small scenes take the same time, and a million spheres are slower below 2¹⁷.
const SORTED: usize = 1 << 17;

/// A scene of the CPU engine.
pub(crate) struct CpuScene {
    pub(crate) spheres: Vec<Sphere>,
    pub(crate) columns: Columns,
    index: Index,
    /// Ray i is tested against sphere i only.
    pub(crate) pairwise: bool,
    /// Magnitudes of the scene's numbers, computed at first use.
    pub(crate) sizes: OnceLock<Sizes>,
}

/// Combines the results of two neighbouring tasks. Of two errors the first counts, so that it names the first invalid ray.
fn both(a: Result<Tally>, b: Result<Tally>) -> Result<Tally> {
    Ok(a? + b?)
}

impl CpuScene {
    /// Creates a scene for the CPU engine itself, or (`gpu`) for resolving the rays that a GPU leaves undecided. These are few: building a
    /// BVH would take longer than it saves. A pairwise scene needs no acceleration structure.
    pub(crate) fn beside(gpu: bool, given: Given<'_>, pairwise: bool) -> Result<Self> {
        cpu_pool::ready();
        let mut index = match gpu {
            _ if pairwise => Index::blocks(&[], Level::best())?,
            true => Index::blocks(given.bounds(), Level::best())?,
            false => Index::new(given.bounds(), Level::best(), given.watch)?,
        };
        let columns = &given.columns;
        index.frame_mut().slimness = columns.slimness().into();
        if let (Index::Tree(planted), Some(masks)) = (&mut index, &columns.masks) {
            planted.lay_masks(masks)?;
        }
        if let Index::Tree(planted) = &mut index {
            match columns {
                Columns { maps: Some(_), .. } => planted.lay_inner(&given)?,
                Columns { velocities: Some(velocities), .. } => planted.lay_ways(&given, velocities, given.span)?,
                _ => {}
            }
        }
        Ok(Self { columns: given.columns, pairwise, ..Self::with(given.spheres, index)? })
    }

    pub(crate) fn with(spheres: &[Sphere], index: Index) -> Result<Self> {
        let mut own = room(spheres.len())?;
        own.extend_from_slice(spheres);
        Ok(Self { spheres: own, columns: Columns::default(), index, pairwise: false, sizes: OnceLock::new() })
    }

    pub(crate) fn spheres(&self) -> Spheres<'_> {
        Spheres { spheres: &self.spheres, columns: &self.columns, index: &self.index }
    }

    /// Whether masks or skipped ids restrict the spheres that a ray can hit.
    pub(crate) fn picks(&self, extras: &Extras<'_>) -> bool {
        self.columns.masks.is_some() || extras.pick()
    }

    /// Whether the records of rays and spheres alone do not determine the hits: spheres move or are ellipsoids, or rays have a radius or
    /// low parts of their direction.
    pub(crate) fn moves(&self, extras: &Extras<'_>) -> bool {
        self.columns.change() || extras.move_things()
    }

    /// A sphere with its motion and its map, for a ray with these attributes; None if there is no such id.
    pub(crate) fn target(&self, id: u32, extra: &Extra) -> Option<Target<'_>> {
        self.spheres().target(id, Some(extra))
    }

    /// Whether a ray with these attributes may hit a sphere.
    pub(crate) fn admits(&self, extra: &Extra, id: u32) -> bool {
        self.spheres().admits(extra, id)
    }

    /// The spheres that the ray with index `ray` in the whole input is cast against. None in a pairwise scene if the ray may not hit its
    /// sphere.
    pub(crate) fn against(&self, ray: u64, extra: Extra) -> Option<Against<'_>> {
        if self.pairwise {
            let target = u32::try_from(ray).ok().and_then(|id| self.target(id, &extra));
            target.filter(|_| self.admits(&extra, ray as u32)).map(|target| Against::One(ray as u32, target))
        } else {
            Some(Against::Scene(self.spheres(), extra))
        }
    }

    /// Number of rays per task for a batch of `rays` rays.
    pub(crate) fn task_size(&self, rays: usize) -> usize {
        match &self.index {
            Index::Blocks(_) => TASK,
            // A few tasks per core, for an even distribution.
            Index::Tree(_) => (rays / (4 * cpu_pool::count())).next_multiple_of(TASK).clamp(TASK, SORTED),
        }
    }

    /// The valid rays, by index, in the order in which they are cast. They are sorted if `sorted` and if there is a BVH.
    pub(crate) fn in_order(&self, rays: &[Ray], usable: Vec<u32>, sorted: bool) -> Vec<u32> {
        match &self.index {
            Index::Tree(planted) if sorted => Sorter::new(planted).order(planted, rays, usable),
            _ => usable,
        }
    }

    /// Casts a batch on all cores.
    pub(crate) fn cast<T: CpuQuery>(&self, batch: Batch<'_>, out: &mut [T]) -> Result<Tally> {
        cpu_pool::ready();
        let size = self.task_size(batch.rays.len());
        let tasks = out.par_chunks_mut(size).enumerate();
        let task = |(i, out): (usize, &mut [T])| self.task(batch.part(i * size..i * size + out.len()), out);
        tasks.map(task).reduce(|| Ok(Tally::default()), both)
    }

    /// Casts a batch of `occluded` on all cores: one bit per ray. Tasks write whole words.
    pub(crate) fn cast_bits(&self, batch: Batch<'_>, words: &mut [u32]) -> Result<Tally> {
        cpu_pool::ready();
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

    /// Casts the rays of one task.
    fn task<T: CpuQuery>(&self, batch: Batch<'_>, out: &mut [T]) -> Result<Tally> {
        let Batch { first, extras, query, watch, .. } = batch;
        watch.check()?;
        let rays = batch.rays.records();
        let mut tally = Tally::default();
        let order = self.in_order(&rays, batch.usable(&rays)?, !T::NEARS);
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
                    if let Some(against) = self.against(first + u64::from(i), extras.of(i as usize)) {
                        take(&mut out[i as usize], T::find(&rays[i as usize], against, query));
                    }
                }
            } else {
                // Sorted rays are scattered in memory, and so are their results: both are prefetched.
                places.iter().for_each(|&i| {
                    fetch(&rays[i as usize]);
                    fetch(&out[i as usize]);
                    extras.fetch(i as usize);
                });
                let own: Vec<Ray> = places.iter().map(|&i| rays[i as usize]).collect();
                let picked = self.picked(&extras, places);
                let mut visitors: Vec<_> = places.iter().map(|_| T::visitor(query)).collect();
                self.spheres().sweep(&own, &picked, &mut visitors, query.precision);
                for (n, ((&i, ray), visitor)) in places.iter().zip(&own).zip(visitors).enumerate() {
                    let against = Against::Scene(self.spheres(), picked.get(n).copied().unwrap_or(Extra::NONE));
                    take(&mut out[i as usize], T::found(visitor, ray, against));
                }
            }
            watch.add(places.len() as u64);
        }
        watch.add(tally.skipped);
        Ok(tally)
    }

    /// Attributes of the rays with these indices; empty if no attribute of rays or spheres affects the hits.
    pub(crate) fn picked(&self, extras: &Extras<'_>, places: &[u32]) -> Vec<Extra> {
        if !self.picks(extras) && !self.moves(extras) {
            return Vec::new();
        }
        places.iter().map(|&i| extras.of(i as usize)).collect()
    }

    /// Casts one ray, which has index `number` in the whole input.
    pub(crate) fn cast_one<T: CpuQuery>(
        &self,
        number: u64,
        ray: &Ray,
        extra: Extra,
        query: &Query,
    ) -> Option<Found<T>> {
        self.against(number, extra).map(|against| T::find(ray, against, query))
    }

    /// Whether a device that flushes subnormal numbers to 0 could give another result for any of these rays than exact arithmetic. `nears`:
    /// the query is about closest approaches.
    pub(crate) fn needs_subnormals(&self, batch: &Batch<'_>, nears: bool) -> bool {
        let velocities = self.columns.velocities.as_deref();
        let sizes = self.sizes.get_or_init(|| Sizes::of_scene(&self.spheres, velocities));
        sizes.need_subnormals(batch, velocities.is_some(), nears)
    }
}
