//! The CPU engine's scene: casts batches on all cores, and resolves the rays that a GPU leaves undecided.

use std::borrow::Cow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::accel::{CpuBvh, TREE_FROM, bvh_bytes};
use super::collector::Resolved;
use super::query::kind::RayQuery;
use super::subnormal::Magnitudes;
use super::traverse::ray_order::{RayOrder, RaySorter, group_octants, sample_order};
use super::traverse::stream::STREAM_RAYS;
use super::twins::Twins;
use super::view::{Candidates, SceneView};
use crate::batch::input::Spheres;
use crate::batch::ray_attributes::RayAttributeColumns;
use crate::batch::ray_batch::{CheckStart, RayBatch};
use crate::batch::sphere_set::{SphereAttributes, SphereSet};
use crate::cpu::query::kinds::Occluded;
use crate::error::{Error, Result};
use crate::intersect::motion::Target;
use crate::intersect::surface::SurfaceDistance;
use crate::math::simd::level::SimdLevel;
use crate::query::policy::Query;
use crate::query::results::Tally;
use crate::records::{NO_SPHERE, Ray, RayAttributes, Sphere};
use crate::runtime::cancel::CancelToken;
use crate::runtime::map_tasks;
use crate::runtime::memory::{self, try_zeroed};
use crate::runtime::prefetch::prefetch;

/// Rays per task: enough to hide the cost of a task, few enough for an even distribution.
const TASK_RAYS: usize = 256;

/// Largest number of rays that a task sorts. The more there are, the more of them take the same path through the BVH, and the farther apart
/// they lie in memory. From 2¹⁵ to 2¹⁸ small scenes take the same time, and a million spheres are slower below 2¹⁷.
const MAX_SORTED_RAYS: usize = 1 << 17;

/// Number of undecided rays for which building a BVH takes about as long as testing each against all spheres: 0.3 µs per sphere, and per ray
/// and sphere 0.8 ns at rest and 3 ns otherwise.
const RAYS_PER_BUILD: usize = 256;

/// Tasks per core, for an even distribution.
const TASKS_PER_CORE: usize = 4;

/// How a batch is divided and ordered.
#[derive(Clone, Copy)]
pub(crate) struct TaskPlan {
    /// Rays per task.
    pub(crate) size: usize,
    pub(crate) order: RayOrder,
}

pub(crate) struct CpuScene {
    pub(crate) spheres: Vec<Sphere>,
    pub(crate) attributes: SphereAttributes,
    /// Set when it is built; without it, a ray is tested against every sphere.
    bvh: OnceLock<CpuBvh>,
    /// Number of rays that a GPU has left undecided so far.
    undecided: AtomicUsize,
    /// Minimum number of spheres for it.
    tree_from: usize,
    pub(crate) level: SimdLevel,
    /// Time range of the motion of the spheres.
    time_range: [f32; 2],
    /// Ray i is tested against sphere i only.
    pub(crate) pairwise: bool,
    /// Magnitudes of the scene's numbers, computed at first use.
    pub(crate) magnitudes: OnceLock<Magnitudes>,
    /// Equal spheres, found at first use.
    twins: OnceLock<Twins>,
}

/// Adds up the tallies of neighbouring tasks. Of several errors the first counts, so that it names the first invalid ray.
fn merge_results(tasks: Vec<Result<Tally>>) -> Result<Tally> {
    tasks.into_iter().try_fold(Tally::default(), |sum, tally| Ok(sum + tally?))
}

impl CpuScene {
    /// Creates a scene for the CPU engine itself, or (`gpu`) for resolving the rays that a GPU leaves undecided. These are few, so it has
    /// no BVH until [`expect_rays`](Self::expect_rays) builds one. A pairwise scene needs none.
    pub(crate) fn for_device(gpu: bool, level: SimdLevel, set: SphereSet<'_>, pairwise: bool) -> Result<Self> {
        let tree_from = if pairwise { usize::MAX } else { set.tree_from.unwrap_or(TREE_FROM) };
        let bvh = (!gpu && set.spheres.len() >= tree_from).then(|| CpuBvh::of(&set, level)).transpose()?;
        Self::of(set, bvh, level, tree_from, pairwise)
    }

    /// The scene of the CPU engine itself with as many other spheres, and the increase of the cost of its BVH since that was built.
    pub(crate) fn updated(&self, set: SphereSet<'_>) -> Result<(Self, f32)> {
        let (bvh, loss) = self.bvh.get().map(|bvh| bvh.updated(&set)).transpose()?.unzip();
        Ok((Self::of(set, bvh, self.level, self.tree_from, self.pairwise)?, loss.unwrap_or(0.0)))
    }

    fn of(set: SphereSet<'_>, bvh: Option<CpuBvh>, level: SimdLevel, tree_from: usize, pairwise: bool) -> Result<Self> {
        // In parts, because a core alone cannot use the memory's bandwidth.
        const PART: usize = 1 << 16;
        let mut spheres = try_zeroed(set.spheres.len())?;
        let parts = spheres.par_chunks_mut(PART).zip(set.spheres.par_chunks(PART));
        parts.for_each(|(part, from)| part.copy_from_slice(from));
        Ok(Self {
            spheres,
            attributes: set.attributes,
            bvh: bvh.map(OnceLock::from).unwrap_or_default(),
            undecided: AtomicUsize::new(0),
            tree_from,
            level,
            time_range: set.time_range,
            pairwise,
            magnitudes: OnceLock::new(),
            twins: OnceLock::new(),
        })
    }

    /// Prepares for `rays` more rays that a GPU left undecided: builds a BVH once a loop over all spheres for each of them, and of those
    /// before, takes longer.
    pub(crate) fn expect_rays(&self, rays: usize) {
        let all = self.undecided.fetch_add(rays, Ordering::Relaxed) + rays;
        if all >= RAYS_PER_BUILD {
            self.build_bvh();
        }
    }

    /// Builds the BVH if there is none, though there are enough spheres.
    #[inline]
    pub(crate) fn build_bvh(&self) {
        if self.bvh.get().is_none() && self.spheres.len() >= self.tree_from {
            self.build_bvh_now();
        }
    }

    /// If there is no memory for it, rays are cast without.
    #[cold]
    fn build_bvh_now(&self) {
        let (spheres, cancel) = (Spheres::from(&self.spheres[..]), CancelToken::new());
        let build = || {
            memory::check("the BVH", bvh_bytes(self.spheres.len() as u64))?;
            let set = SphereSet::new(&spheres, self.attributes.clone(), self.time_range, &cancel)?;
            CpuBvh::of(&set, self.level)
        };
        // Not `get_or_init`: a worker that waits for the build may take up a task that waits for the same BVH.
        if let Ok(bvh) = build() {
            let _ = self.bvh.set(bvh);
        }
    }

    pub(crate) fn spheres(&self) -> SceneView<'_> {
        let (spheres, bvh) = (&self.spheres, self.bvh.get());
        SceneView { spheres, attributes: &self.attributes, bvh, twins: &self.twins, level: self.level }
    }

    /// Whether masks, skipped ids or spheres on which rays start restrict the spheres that a ray can hit.
    pub(crate) fn has_filters(&self, ray_attributes: &RayAttributeColumns<'_>) -> bool {
        self.attributes.masks.is_some() || ray_attributes.has_filters()
    }

    /// Whether the records of rays and spheres alone do not determine the hits: spheres move or are ellipsoids, or rays have a radius or
    /// low parts of their direction.
    pub(crate) fn has_motion_or_shape(&self, ray_attributes: &RayAttributeColumns<'_>) -> bool {
        self.attributes.has_motion_or_shape() || ray_attributes.has_motion()
    }

    /// A sphere with its motion and its map, for a ray with these attributes; None if there is no such id.
    pub(crate) fn target(&self, id: u32, attributes: &RayAttributes) -> Option<Target<'_>> {
        self.spheres().target(id, Some(attributes))
    }

    /// Whether a ray with these attributes may hit a sphere.
    pub(crate) fn admits(&self, attributes: &RayAttributes, id: u32) -> bool {
        self.spheres().admits(attributes, id)
    }

    /// The spheres that a ray, which has index `number` in the whole input, is cast against. None in a pairwise scene if the ray may not
    /// hit its sphere.
    pub(crate) fn candidates(&self, number: u64, ray: &Ray, attributes: RayAttributes) -> Option<Candidates<'_>> {
        if !self.pairwise {
            return Some(Candidates::Scene(self.spheres(), attributes));
        }
        let id = u32::try_from(number).ok()?;
        if attributes.from_id == id {
            let elsewhere = RayAttributes { from_id: NO_SPHERE, ..attributes };
            let entered = self.spheres().entered_start(ray, &attributes).filter(|_| self.admits(&elsewhere, id));
            return entered.map(|target| Candidates::Pair(id, target));
        }
        self.target(id, &attributes).filter(|_| self.admits(&attributes, id)).map(|target| Candidates::Pair(id, target))
    }

    /// The attributes of a ray for a query about closest approaches (`is_approach`) or hits. Only an approach intersects a sphere on whose
    /// surface the ray starts like any other if the ray goes into it.
    pub(crate) fn attributes_for(&self, ray: &Ray, attributes: RayAttributes, is_approach: bool) -> RayAttributes {
        match is_approach && self.spheres().entered_start(ray, &attributes).is_some() {
            true => RayAttributes { from_id: NO_SPHERE, ..attributes },
            false => attributes,
        }
    }

    /// The attributes with which a GPU casts a ray that starts on the surface of a sphere: it skips that sphere. `None` if the host must
    /// cast the ray: it goes into the sphere, the sphere has twins, or the ray skips another sphere, too.
    pub(crate) fn attributes_on_gpu(&self, ray: &Ray, attributes: RayAttributes) -> Option<RayAttributes> {
        let RayAttributes { from_id, skip_id, .. } = attributes;
        let scene = self.spheres();
        let skips_one = skip_id == NO_SPHERE || skip_id == from_id;
        if !skips_one || scene.entered_start(ray, &attributes).is_some() || scene.twins().get(from_id).is_some() {
            return None;
        }
        Some(RayAttributes { skip_id: from_id, from_id: NO_SPHERE, ..attributes })
    }

    /// Whether a sphere seems to be left out: readers replace such a sphere by a copy of the one before or after it, with mask 0.
    fn is_left_out(&self, id: usize) -> bool {
        let is_masked = self.attributes.masks.as_ref().is_some_and(|masks| masks.get(id) == Some(&0));
        let beside = || [id.checked_sub(1), Some(id + 1)].into_iter().flatten().filter_map(|id| self.spheres.get(id));
        is_masked && beside().any(|other| *other == self.spheres[id])
    }

    /// Checks the sphere on whose surface a ray should start.
    pub(crate) fn start_check(&self) -> impl CheckStart {
        |number: u64, ray: &Ray, attributes: &RayAttributes| {
            let id = attributes.from_id;
            if id == NO_SPHERE {
                return Ok(());
            }
            if self.is_left_out(id as usize) {
                let why = "no ray starts on this sphere: it was left out, or its mask is 0 and it equals the sphere in the row before or after it; leave from_id empty";
                return Err(Error::record("ray", number, "from_id", id, why));
            }
            let target = self.target(id, attributes);
            SurfaceDistance::check(number, ray, attributes, target, self.pairwise.then_some(number))
        }
    }

    /// Chooses how a batch is divided and ordered. The rays are not sorted unless `sortable`. `divisible`: tasks of sorted rays are divided
    /// again, after sorting.
    pub(crate) fn plan(&self, batch: &RayBatch<'_>, sortable: bool, divisible: bool) -> TaskPlan {
        let rays = batch.rays.len();
        let Some(bvh) = self.bvh.get() else { return TaskPlan { size: TASK_RAYS, order: RayOrder::Coherent } };
        let order = if sortable { sample_order(bvh, rays, |i| batch.rays.ray(i)) } else { RayOrder::Coherent };
        let per_core = if divisible && order.is_sorted() { 1 } else { TASKS_PER_CORE };
        let cores = per_core * rayon::current_num_threads();
        let tasks = cores * rays.div_ceil(cores * MAX_SORTED_RAYS).max(1);
        TaskPlan { size: rays.div_ceil(tasks).next_multiple_of(TASK_RAYS).max(TASK_RAYS), order }
    }

    /// The valid rays, by index, in the order in which they are cast.
    pub(crate) fn ordered(&self, rays: &[Ray], usable: Vec<u32>, plan: TaskPlan) -> Vec<u32> {
        match (self.bvh.get(), plan.order) {
            // Rays that fit into one stream gain nothing from sorting.
            (Some(bvh), order) if order.is_sorted() && rays.len() > STREAM_RAYS => {
                RaySorter::new(bvh, order).sort(bvh, rays, usable)
            }
            (Some(_), RayOrder::CoherentPerOctant) => group_octants(rays, &usable),
            _ => usable,
        }
    }

    pub(crate) fn cast<Q: RayQuery>(&self, batch: RayBatch<'_>, out: &mut [Q::Record]) -> Result<Tally> {
        let plan = self.plan(&batch, !Q::IS_APPROACH, true);
        let size = plan.size;
        let task = |(i, out): (usize, &mut [Q::Record])| {
            self.task::<Q>(batch.slice(i * size..i * size + out.len()), plan, out)
        };
        merge_results(map_tasks(out.chunks_mut(size).enumerate(), task))
    }

    /// Casts a batch of `occluded` on all cores: one bit per ray. Tasks write whole words.
    pub(crate) fn cast_bits(&self, batch: RayBatch<'_>, words: &mut [u32]) -> Result<Tally> {
        let plan = self.plan(&batch, true, true);
        let size = plan.size;
        let task = |(i, words): (usize, &mut [u32])| {
            let part = batch.slice(i * size..batch.rays.len().min((i + 1) * size));
            let mut flags = vec![false; part.rays.len()];
            let tally = self.task::<Occluded>(part, plan, &mut flags)?;
            for (word, flags) in words.iter_mut().zip(flags.chunks(32)) {
                *word = flags.iter().rev().fold(0, |word, flag| word << 1 | u32::from(*flag));
            }
            Ok(tally)
        };
        merge_results(map_tasks(words.chunks_mut(size / 32).enumerate(), task))
    }

    fn task<Q: RayQuery>(&self, batch: RayBatch<'_>, plan: TaskPlan, out: &mut [Q::Record]) -> Result<Tally> {
        let cancel = batch.cancel;
        cancel.check()?;
        let rays = batch.rays.records();
        let order = self.ordered(&rays, batch.valid_rays(self.level, &rays, self.start_check())?, plan);
        let skipped = (rays.len() - order.len()) as u64;
        out.fill(Q::MISS);
        let mut tally = if plan.order.is_sorted() && order.len() > STREAM_RAYS {
            // One task per core sorts as many rays as it can. Idle cores take parts of its work.
            let part = order.len().div_ceil(TASKS_PER_CORE).next_multiple_of(STREAM_RAYS);
            let cast = |places: &[u32]| {
                let mut records = Vec::with_capacity(places.len());
                let tally = self.cast_places::<Q>(&batch, &rays, places, plan, |_, record| records.push(record))?;
                Ok((records, tally))
            };
            let mut tally = Tally::default();
            for (places, result) in order.chunks(part).zip(map_tasks(order.chunks(part), cast)) {
                let (records, own) = result?;
                places.iter().zip(records).for_each(|(&i, record)| out[i as usize] = record);
                tally = tally + own;
            }
            tally
        } else {
            self.cast_places::<Q>(&batch, &rays, &order, plan, |i, record| out[i] = record)?
        };
        tally.skipped = skipped;
        cancel.add(skipped);
        Ok(tally)
    }

    /// Casts the rays in `places` of a batch's records, in this order, and passes the index and the result of each to `put`.
    fn cast_places<Q: RayQuery>(
        &self,
        batch: &RayBatch<'_>,
        rays: &[Ray],
        places: &[u32],
        plan: TaskPlan,
        mut put: impl FnMut(usize, Q::Record),
    ) -> Result<Tally> {
        let RayBatch { first, ray_attributes, query, cancel, .. } = *batch;
        let mut tally = Tally::default();
        let mut take = |tally: &mut Tally, place: usize, found: Resolved<Q::Record>| {
            tally.hits += u64::from(Q::is_hit(&found.record));
            tally.exact += u64::from(found.exact);
            tally.overflowed += u64::from(found.overflowed);
            put(place, found.record);
        };
        let mut collectors = Vec::new();
        // The packets of coherent rays share nothing: fewer prepared rays stay in the first-level cache.
        let size = if plan.order.is_sorted() { STREAM_RAYS } else { 256 };
        for places in places.chunks(size) {
            cancel.check()?;
            if self.pairwise {
                for &i in places {
                    let ray = &rays[i as usize];
                    let attributes = self.attributes_for(ray, ray_attributes.of(i as usize), Q::IS_APPROACH);
                    if let Some(candidates) = self.candidates(first + u64::from(i), ray, attributes) {
                        take(&mut tally, i as usize, Q::resolve_ray(ray, candidates, query, &self.attributes));
                    }
                }
            } else {
                let first = places[0];
                let ascends = plan.order == RayOrder::Coherent;
                let own = if ascends && places.last() == Some(&(first + places.len() as u32 - 1)) {
                    Cow::Borrowed(&rays[first as usize..][..places.len()])
                } else {
                    // Sorted rays are scattered in memory: they are prefetched.
                    places.iter().for_each(|&i| prefetch(&rays[i as usize]));
                    if ray_attributes.any() {
                        places.iter().for_each(|&i| ray_attributes.prefetch(i as usize));
                    }
                    Cow::Owned(places.iter().map(|&i| rays[i as usize]).collect::<Vec<_>>())
                };
                let picked = self.gather_attributes(batch, rays, places, Q::IS_APPROACH);
                collectors.extend(places.iter().map(|_| Q::collector(query, &self.attributes)));
                let spheres = self.spheres();
                spheres.visit_candidates(&own, &picked, &mut collectors, query, plan.order);
                // Counted apart: these numbers stay in registers.
                let mut part = Tally::default();
                for (n, ((&i, ray), collector)) in places.iter().zip(&*own).zip(&collectors).enumerate() {
                    let attributes = || picked.get(n).copied().unwrap_or(RayAttributes::NONE);
                    let found = Q::finish(collector, ray, || Candidates::Scene(spheres, attributes()));
                    take(&mut part, i as usize, found);
                }
                tally = tally + part;
                collectors.clear();
            }
            cancel.add(places.len() as u64);
        }
        Ok(tally)
    }

    /// Attributes of the rays with these indices among the `rays` of a batch; empty if no attribute of rays or spheres affects the hits.
    pub(crate) fn gather_attributes(
        &self,
        batch: &RayBatch<'_>,
        rays: &[Ray],
        places: &[u32],
        is_approach: bool,
    ) -> Vec<RayAttributes> {
        let columns = &batch.ray_attributes;
        if !self.has_filters(columns) && !self.has_motion_or_shape(columns) {
            return Vec::new();
        }
        let one = |&i: &u32| self.attributes_for(&rays[i as usize], columns.of(i as usize), is_approach);
        places.iter().map(one).collect()
    }

    /// Casts one ray, which has index `number` in the whole input.
    pub(crate) fn cast_one<Q: RayQuery>(
        &self,
        number: u64,
        ray: &Ray,
        attributes: RayAttributes,
        query: &Query,
    ) -> Option<Resolved<Q::Record>> {
        let attributes = self.attributes_for(ray, attributes, Q::IS_APPROACH);
        let candidates = self.candidates(number, ray, attributes)?;
        Some(Q::resolve_ray(ray, candidates, query, &self.attributes))
    }

    pub(crate) fn magnitudes(&self) -> &Magnitudes {
        self.magnitudes.get_or_init(|| Magnitudes::of_scene(&self.spheres, self.attributes.velocities.as_deref()))
    }

    /// Whether a device that flushes subnormal numbers to 0 could give another result than exact arithmetic for every ray.
    /// `is_approach`: the query is `approach`.
    pub(crate) fn needs_subnormals(&self, is_approach: bool) -> bool {
        self.magnitudes().need_subnormals(self.attributes.velocities.is_some(), is_approach)
    }

    /// The same for one ray, if it is not so for every ray.
    pub(crate) fn ray_needs_subnormals(&self, ray: &Ray, attributes: &RayAttributes, is_approach: bool) -> bool {
        self.magnitudes().ray_needs_subnormals(ray, attributes, is_approach)
    }

    /// The same for any of these rays without attributes.
    pub(crate) fn rays_need_subnormals(&self, rays: &[Ray], is_approach: bool) -> bool {
        let magnitudes = self.magnitudes();
        let needs = |ray| magnitudes.ray_needs_subnormals(ray, &RayAttributes::NONE, is_approach);
        rays.iter().fold(false, |any, ray| any | needs(ray))
    }
}
