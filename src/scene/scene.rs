//! A scene: spheres resident on one device, and the path of a query from its arguments to its result.

use std::sync::Arc;

use glam::Vec3;
use rayon::prelude::*;

use super::device::Device;
use super::memory_estimate::Workload;
use crate::batch::input::{Rays, Spheres};
use crate::batch::ray_attributes::RayAttributeColumns;
use crate::batch::ray_batch::RayBatch;
use crate::batch::sphere_set::{SphereAttributes, SphereSet};
use crate::cpu::query::kind::RayQuery;
use crate::cpu::query::kinds::{Closest, Occluded};
use crate::cpu::scene::CpuScene;
use crate::error::{Error, Result};
use crate::gpu::cast::resolve::GpuQuery;
use crate::gpu::scene::GpuScene;
use crate::intersect::surface::SurfaceDistance;
use crate::query::policy::{Motion, Precision, Query, check_same_length, setters};
use crate::query::results::{Answer, Bits, Report, Tally};
use crate::query::validate::usage;
use crate::records::{Hit, Sphere};
use crate::runtime::block_on::{BoxedFuture, block_on};
use crate::runtime::cancel::CancelToken;
use crate::runtime::memory::{self, try_repeat};
use crate::runtime::{Instant, Limits};

/// Options for building a scene. Start from [`SceneOptions::default`] and change some of them. Every scene has a BVH, unless it has so few
/// spheres that testing each of them is faster.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SceneOptions {
    /// First and last time at which moving spheres are queried; finite, and in order. Default: 0 and 1. The BVH contains the paths of the
    /// spheres between these times, so a longer range means larger AABBs.
    pub time_range: [f32; 2],
    /// Minimum number of spheres for a BVH; `None` for that of the device. For tests: results do not depend on it.
    #[doc(hidden)]
    pub tree_from: Option<usize>,
    /// Whether a GPU builds its BVH itself; `None`: if that is faster than a build on the CPU. For tests: the BVH has the same bytes.
    #[doc(hidden)]
    pub tree_on_gpu: Option<bool>,
}

impl Default for SceneOptions {
    fn default() -> Self {
        Self { time_range: [0.0, 1.0], tree_from: None, tree_on_gpu: None }
    }
}

impl SceneOptions {
    setters! {
        /// Sets the time range.
        time_range: [f32; 2];
        /// Sets the minimum number of spheres for a BVH.
        #[doc(hidden)]
        tree_from: usize, Some;
        /// Sets whether a GPU builds its BVH itself.
        #[doc(hidden)]
        tree_on_gpu: bool, Some;
    }
}

/// Spheres resident on a device. Clones share them until one of the clones is [updated](Self::update).
#[derive(Clone)]
pub struct Scene {
    pub(crate) device: Device,
    pub(crate) host: Arc<CpuScene>,
    pub(crate) gpu: Option<Arc<GpuScene>>,
    pub(crate) options: SceneOptions,
    pub(crate) cancel: CancelToken,
}

impl Device {
    /// Builds a scene: its queries cast every ray against every sphere. The index of a sphere in the list is its id.
    ///
    /// The call blocks until the BVH is built. It copies the spheres and their attributes; [`estimate_bytes`](Self::estimate_bytes) tells
    /// how much memory they and the BVH take.
    ///
    /// # Errors
    /// * [`Error::BadRecord`]: a sphere or one of its attributes is invalid.
    /// * [`Error::LengthsDiffer`]: a column of sphere attributes does not have one entry per sphere.
    /// * [`Error::TooLarge`]: the scene exceeds the memory of device or machine, [`Limits::memory`](crate::Limits::memory), or 2³² − 1
    ///   spheres.
    /// * [`Error::InvalidArgument`]: a time range with an end that is not finite or before its start.
    /// * [`Error::Cancelled`]: the device's [cancel token](Self::with_cancel) was cancelled.
    /// * Device errors, as for [`Scene::closest`].
    pub fn scene<'a>(&self, spheres: impl Into<Spheres<'a>>, options: &SceneOptions) -> Result<Scene> {
        block_on(Scene::new(self, spheres.into(), false, options))
    }

    /// [`scene`](Self::scene), for code that must not block. On the CPU engine the scene is built when the future is first polled.
    pub async fn scene_async(&self, spheres: impl Into<Spheres<'_>>, options: &SceneOptions) -> Result<Scene> {
        Scene::new(self, spheres.into(), false, options).await
    }

    /// Builds a pairwise scene: its queries cast ray i against sphere i only. A query must have as many rays as the scene has spheres,
    /// unless the rays are [a numbered part](Rays::numbered_from) of a longer list. The call copies the spheres, and builds no BVH.
    ///
    /// ```
    /// use umbracast::{Device, DeviceOptions, Query, Ray, Sphere};
    ///
    /// let device = Device::open(&DeviceOptions::new("cpu"))?;
    /// let scene = device.pairwise(&[Sphere::new([5.0, 0.0, 0.0], 1.0), Sphere::new([0.0, 5.0, 0.0], 1.0)], &Default::default())?;
    /// let rays = [Ray::new([0.0; 3], [1.0, 0.0, 0.0]), Ray::new([0.0; 3], [1.0, 0.0, 0.0])];
    /// let hits = scene.closest(&rays, &Query::default())?;
    /// assert!(hits[0].is_hit() && !hits[1].is_hit());
    /// # Ok::<(), umbracast::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scene`](Self::scene).
    pub fn pairwise<'a>(&self, spheres: impl Into<Spheres<'a>>, options: &SceneOptions) -> Result<Scene> {
        block_on(Scene::new(self, spheres.into(), true, options))
    }

    /// [`pairwise`](Self::pairwise), for code that must not block, as [`scene_async`](Self::scene_async).
    pub async fn pairwise_async(&self, spheres: impl Into<Spheres<'_>>, options: &SceneOptions) -> Result<Scene> {
        Scene::new(self, spheres.into(), true, options).await
    }
}

impl Scene {
    pub(crate) fn new<'a>(
        device: &'a Device,
        set: Spheres<'a>,
        pairwise: bool,
        options: &'a SceneOptions,
    ) -> BoxedFuture<'a, Self> {
        Box::pin(async move {
            let SceneOptions { time_range, tree_from, tree_on_gpu } = *options;
            let [from, to] = time_range;
            if !(from.is_finite() && to.is_finite() && from <= to) {
                let rule = "both times must be finite, and the first must not exceed the last";
                return usage(format!("the time range is {from} to {to}: {rule}"));
            }
            // The largest id is reserved: it means "no sphere".
            let [asked, allowed] = [set.len() as u64, u32::MAX.into()].map(|count| count * size_of::<Sphere>() as u64);
            memory::check_within("spheres", asked, allowed, device.name())?;
            let load = Workload::of(&set, 0, pairwise);
            device.check_limit("the scene", &load)?;
            let here = if device.kind() == "software" { device } else { &Device::cpu_within(Limits::default()) };
            memory::check("the scene", here.bytes(&load))?;
            let mut set = SphereSet::new(&set, SphereAttributes::default(), time_range, &device.cancel)?;
            (set.tree_from, set.tree_on_gpu) = (tree_from, tree_on_gpu);
            let gpu = match device.on_gpu() {
                Some(gpu) => Some(Arc::new(GpuScene::new(gpu, &set, pairwise).await?)),
                None => None,
            };
            let host = Arc::new(CpuScene::for_device(gpu.is_some(), device.level, set, pairwise)?);
            // The cancel token of the build does not apply to the finished scene.
            Ok(Self {
                device: device.with_cancel(&CancelToken::new()),
                host,
                gpu,
                options: *options,
                cancel: CancelToken::new(),
            })
        })
    }

    /// The device of the scene.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Number of spheres.
    pub fn len(&self) -> usize {
        self.host.spheres.len()
    }

    /// Whether there are no spheres. Every ray then misses.
    pub fn is_empty(&self) -> bool {
        self.host.spheres.is_empty()
    }

    /// The spheres; the index of a sphere is its id. For ellipsoids, the balls around them.
    pub fn spheres(&self) -> &[Sphere] {
        &self.host.spheres
    }

    /// [Masks](Spheres::masks) of the spheres; `None` if they have none.
    pub fn masks(&self) -> Option<&[u32]> {
        self.host.attributes.masks.as_deref()
    }

    /// [Velocities](Spheres::velocities) of the spheres; `None` if they have none.
    pub fn velocities(&self) -> Option<&[Vec3]> {
        self.host.attributes.velocities.as_deref()
    }

    /// Returns the same scene with `cancel` attached: its queries report progress to `cancel`, and end when it is cancelled. Cancelling
    /// also ends [`update`](Self::update) and [`rebuild`](Self::rebuild).
    #[must_use]
    pub fn with_cancel(&self, cancel: &CancelToken) -> Self {
        Self { cancel: cancel.clone(), ..self.clone() }
    }

    /// Casts rays for records, in new memory.
    pub(super) async fn answer<Q: GpuQuery>(&self, rays: Rays<'_>, query: &Query) -> Result<Answer<Q::Record>> {
        let mut records = try_repeat(Q::MISS, rays.len())?;
        let report = self.cast::<Q>(rays, query, &mut records).await?;
        Ok(Answer { records, report })
    }

    /// Casts rays for records, in the caller's memory.
    pub(super) async fn cast<Q: GpuQuery>(
        &self,
        rays: Rays<'_>,
        query: &Query,
        out: &mut [Q::Record],
    ) -> Result<Report> {
        let start = Instant::now();
        check_same_length("rays", rays.len(), "results", out.len())?;
        if Q::IS_APPROACH {
            self.refuse_ellipsoids("approach queries")?;
        }
        query.near.refuse_block(Q::CANNOT_BLOCK)?;
        let query = &self.resolved(query);
        let batch = self.batch(&rays, query)?;
        let off_surface = self.off_surface(&batch);
        let mut tally = self.dispatch::<Q>(batch, out).await?;
        if Q::CANNOT_BLOCK.is_none() {
            let blocked = self.blocked(&rays, query).await?;
            for (record, _) in out.iter_mut().zip(blocked).filter(|(_, blocked)| *blocked) {
                tally.hits -= u64::from(Q::is_hit(record));
                *record = Q::MISS;
            }
        }
        let report = Report::new(rays.len(), Tally { off_surface, ..tally }, query.precision, start);
        Ok(Report { inside: query.inside, motion: query.motion, ..report })
    }

    /// Casts rays for the closest hits, in the caller's memory.
    pub(crate) fn hits_into<'a>(
        &'a self,
        rays: Rays<'a>,
        query: &'a Query,
        hits: &'a mut [Hit],
    ) -> BoxedFuture<'a, Report> {
        Box::pin(self.cast::<Closest>(rays, query, hits))
    }

    /// Casts rays for bits.
    pub(super) async fn cast_bits(&self, rays: Rays<'_>, query: &Query) -> Result<Bits> {
        let start = Instant::now();
        let len = rays.len();
        query.near.refuse_block(Occluded::CANNOT_BLOCK)?;
        let query = &self.resolved(query);
        let batch = self.batch(&rays, query)?;
        let mut words = vec![0u32; len.div_ceil(32)];
        let off_surface = self.off_surface(&batch);
        let tally = self.dispatch::<Occluded>(batch, &mut words).await?;
        Ok(Bits { words, len, report: Report::new(len, Tally { off_surface, ..tally }, query.precision, start) })
    }

    /// The query with the precision that it means in this scene.
    pub(crate) fn resolved(&self, query: &Query) -> Query {
        Query { precision: query.precision.resolved(self.host.attributes.maps.is_some()), ..*query }
    }

    /// Returns an error if the scene contains ellipsoids. `what` names an operation that supports only spheres.
    pub(crate) fn refuse_ellipsoids(&self, what: &str) -> Result<()> {
        if self.host.attributes.maps.is_none() {
            return Ok(());
        }
        usage(format!("{what} do not support ellipsoids, which this scene contains"))
    }

    /// Checks everything that can be checked before casting, and returns the batch.
    pub(crate) fn batch<'a>(&'a self, rays: &Rays<'a>, query: &'a Query) -> Result<RayBatch<'a>> {
        let first = rays.first.unwrap_or(0);
        let Some(end) = first.checked_add(rays.len() as u64) else {
            let name = rays.source.names()[1];
            return usage(format!("{} {name} numbered from {first}: the numbers must be below 2^64", rays.len()));
        };
        if self.host.pairwise {
            // A part of the rays may leave spheres without a ray. A ray without a sphere is always an error.
            if (rays.first.is_none() && end != self.len() as u64) || end > self.len() as u64 {
                let (name, left, right) = (rays.source.names()[1], rays.len() as u64, self.len() as u64);
                if first > 0 {
                    return usage(format!(
                        "{left} {name} numbered from {first}, and {right} spheres: the numbers must be below {right}"
                    ));
                }
                return Err(Error::LengthsDiffer { left_name: name, left, right_name: "spheres", right });
            }
        }
        self.device.on_gpu().map_or(Ok(()), |gpu| gpu.check_precision(query.precision))?;
        if self.host.attributes.maps.is_some() && query.precision == Precision::Exact {
            let (device, asked, instead) = (self.device.name().into(), query.precision.word(), "fast or standard");
            return Err(Error::NoPrecision { device, asked, why: "the scene contains ellipsoids".into(), instead });
        }
        if rays.ray_attributes.radii.is_some() {
            self.refuse_ellipsoids("rays with a radius")?;
        }
        rays.source.check()?;
        rays.ray_attributes.check(rays.source.names()[1], rays.len())?;
        self.device.check_limit("scene and query", &self.workload(rays.len() as u64))?;
        let time_range = self.host.attributes.velocities.as_ref().map(|_| self.options.time_range);
        let ray_attributes = self.with_motion(rays.ray_attributes, query);
        if ray_attributes.moves_with_ray && ray_attributes.from_ids.is_some() {
            let message = "rays that start on surfaces (from_ids) are not supported if spheres move while rays travel";
            return usage(message);
        }
        Ok(RayBatch { first, rays: rays.source, ray_attributes, query, time_range, cancel: &self.cancel })
    }

    /// Checks that each ray starts on the surface of the sphere that [`Rays::from_ids`] names.
    ///
    /// # Errors
    /// The error of the first ray that does not, as [`closest`](Self::closest) returns it; [`Error::LengthsDiffer`]; [`Error::InvalidArgument`] as
    /// for [`closest`](Self::closest).
    pub fn check_starts<'a>(&'a self, rays: impl Into<Rays<'a>>) -> Result<()> {
        let query = self.resolved(&Query::default());
        let batch = self.batch(&rays.into(), &query)?;
        (0..batch.rays.len()).try_for_each(|i| batch.check_one(i, self.host.start_check()))
    }

    /// Number of rays that start far from the surface on which they should start; see [`Report::off_surface`].
    pub(super) fn off_surface(&self, batch: &RayBatch<'_>) -> u64 {
        if batch.ray_attributes.from_ids.is_none() {
            return 0;
        }
        let is_off = |i: &usize| {
            let (ray, attributes) = (batch.rays.ray(*i), batch.ray_attributes.of(*i));
            let target = self.host.target(attributes.from_id, &attributes);
            target.is_some_and(|target| SurfaceDistance::of(&ray, target) == SurfaceDistance::Near)
        };
        (0..batch.rays.len()).into_par_iter().filter(is_off).count() as u64
    }

    /// Load of this scene and of `rays` rays.
    fn workload(&self, rays: u64) -> Workload {
        let columns = &self.host.attributes;
        Workload {
            spheres: self.len() as u64,
            rays,
            has_masks: columns.masks.is_some(),
            has_motion: columns.velocities.is_some(),
            has_ellipsoids: columns.maps.is_some(),
            has_depths: columns.optical_depths.is_some(),
            pairwise: self.host.pairwise,
        }
    }

    /// Ray attributes, with the flag that says whether spheres move while rays travel.
    pub(crate) fn with_motion<'a>(
        &self,
        ray_attributes: RayAttributeColumns<'a>,
        query: &Query,
    ) -> RayAttributeColumns<'a> {
        let relative = self.host.attributes.velocities.is_some() && query.motion == Motion::WithRay;
        RayAttributeColumns { moves_with_ray: relative, ..ray_attributes }
    }
}
