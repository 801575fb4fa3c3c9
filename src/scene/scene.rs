//! A scene, spheres resident on one device, and the questions it answers.

use std::sync::Arc;
use std::time::Instant;

use glam::Vec3;

use super::device::Device;
use super::memory_estimate::Load;
use crate::batch::input::{Rays, Spheres};
use crate::batch::ray_attributes::Extras;
use crate::batch::ray_batch::Batch;
use crate::batch::sphere_set::{Columns, Given};
use crate::bvh::builder::Builder;
use crate::cpu::scene::CpuScene;
use crate::error::{Error, Result};
use crate::gpu::cast::plan::Way;
use crate::gpu::cast::readback::{Naive, Records};
use crate::gpu::cast::resolve::GpuQuery;
use crate::gpu::engine::GpuEngine;
use crate::gpu::scene::GpuScene;
use crate::query::policy::{Motion, Precision, Query, same_length};
use crate::query::results::{Answer, Bits, Hits, Report};
use crate::records::{Hit, Sphere};
use crate::runtime::boxed::Boxed;
use crate::runtime::cancel::Watch;
use crate::runtime::memory::{check_memory, room};

/// Rays the CPU engine copies at a time for callers that poll: its tasks may outlive the caller's borrow, so they own what
/// they read.
pub(crate) const CPU_CHUNK: usize = 1 << 18;

/// How to build a scene: take [`SceneOptions::default`] and set what is to differ. Spheres are put into a tree, unless so
/// few that testing each is quicker.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SceneOptions {
    /// Who builds the tree that a GPU walks.
    pub builder: Builder,
    /// The first and the last time at which moving spheres are asked about: the tree holds them wherever they are in between. The
    /// longer, the larger its boxes.
    pub time_range: [f32; 2],
}

impl Default for SceneOptions {
    fn default() -> Self {
        Self { builder: Builder::default(), time_range: [0.0, 1.0] }
    }
}

impl SceneOptions {
    /// The same with another builder.
    #[must_use]
    pub fn built_by(self, builder: Builder) -> Self {
        Self { builder, ..self }
    }

    /// The same for other times.
    #[must_use]
    pub fn over(self, time_range: [f32; 2]) -> Self {
        Self { time_range, ..self }
    }
}

/// Spheres resident on a device; clones share them, until one is [updated](Self::update).
#[derive(Clone)]
pub struct Scene {
    pub(crate) device: Device,
    pub(crate) host: Arc<CpuScene>,
    pub(crate) gpu: Option<Arc<GpuScene>>,
    pub(crate) options: SceneOptions,
    pub(crate) watch: Watch,
}

/// What the caller's thread may be used for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    /// It polls: nothing may keep it long.
    Polls,
    /// It waits: on the CPU engine, the caller's memory is read and written in place.
    Waits,
}

impl Device {
    /// Makes a scene: every ray will be cast against every sphere. The spheres' numbers in the list are their ids.
    ///
    /// # Errors
    /// [`Error::BadRecord`] for a sphere that cannot be used, [`Error::TooLarge`] when they exceed what the device can hold,
    /// [`Error::Usage`] for a [`Builder`](crate::Builder) that it is not.
    pub async fn scene(&self, spheres: impl Into<Spheres<'_>>, options: &SceneOptions) -> Result<Scene> {
        Scene::new(self, spheres.into(), false, options).await
    }

    /// Makes a scene in which ray i is cast against sphere i only. Queries must then have as many rays as it has spheres.
    ///
    /// # Errors
    /// [`Error::BadRecord`] for a sphere that cannot be used.
    pub async fn pairwise(&self, spheres: impl Into<Spheres<'_>>) -> Result<Scene> {
        self.pairwise_with(spheres, &SceneOptions::default()).await
    }

    /// The same for spheres that move, of which the options tell when.
    ///
    /// # Errors
    /// As [`pairwise`](Self::pairwise), and as [`scene`](Self::scene).
    pub async fn pairwise_with(&self, spheres: impl Into<Spheres<'_>>, options: &SceneOptions) -> Result<Scene> {
        Scene::new(self, spheres.into(), true, options).await
    }
}

impl Scene {
    pub(crate) fn new<'a>(
        device: &'a Device,
        given: Spheres<'a>,
        pairwise: bool,
        options: &'a SceneOptions,
    ) -> Boxed<'a, Self> {
        Box::pin(Self::build(device, given, pairwise, options))
    }

    async fn build(device: &Device, given: Spheres<'_>, pairwise: bool, options: &SceneOptions) -> Result<Self> {
        let SceneOptions { builder, time_range: span } = *options;
        check_span(span)?;
        let spheres = given.records;
        // The last id means "no sphere".
        let most = u64::from(u32::MAX);
        if spheres.len() as u64 > most {
            let (asked, allowed) = (spheres.len() as u64 * 16, most * 16);
            return Err(Error::TooLarge { what: "spheres", asked, allowed, device: device.name().into() });
        }
        let load = Load::of(&given, 0, pairwise);
        device.admit("the scene", &load)?;
        let here = if device.kind() == "software" { device } else { &Device::cpu() };
        check_memory("the scene", here.bytes(&load))?;
        let given = Given::new(&given, Columns::default(), span, &device.watch)?;
        let gpu = match device.gpu() {
            None if builder == Builder::Gpu => return Err(Builder::needs_gpu()),
            None => None,
            Some(gpu) => Some(Arc::new(GpuScene::new(gpu, &given, pairwise, builder).await?)),
        };
        let host = Arc::new(CpuScene::beside(gpu.is_some(), given, pairwise)?);
        // The scene outlives its being built.
        Ok(Self { device: device.watched(&Watch::new()), host, gpu, options: *options, watch: Watch::new() })
    }

    /// The device the scene lives on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The GPU and its spheres; none on the CPU engine.
    pub(crate) fn on_gpu(&self) -> Option<(&GpuEngine, &GpuScene)> {
        Some((self.device.gpu()?, self.gpu.as_ref()?))
    }

    /// Its spheres where a GPU holds them: not on the CPU engine, and not those of pairs, which travel with their rays.
    pub(crate) fn resident(&self) -> Option<&Arc<GpuScene>> {
        self.gpu.as_ref().filter(|_| !self.host.pairwise)
    }

    /// How many spheres it holds.
    pub fn len(&self) -> usize {
        self.host.spheres.len()
    }

    /// Whether it holds none: every ray misses.
    pub fn is_empty(&self) -> bool {
        self.host.spheres.is_empty()
    }

    /// The spheres it holds, each at its id.
    pub fn spheres(&self) -> &[Sphere] {
        &self.host.spheres
    }

    /// Their [masks](Spheres::masks), if they were given any.
    pub fn masks(&self) -> Option<&[u32]> {
        self.host.columns.masks.as_deref()
    }

    /// Their [velocities](Spheres::velocities), if they were given any.
    pub fn velocities(&self) -> Option<&[Vec3]> {
        self.host.columns.velocities.as_deref()
    }

    /// The same scene, whose queries tell `watch` how far they are and end when it is cancelled, as do [`update`](Self::update) and
    /// [`rebuild`](Self::rebuild).
    #[must_use]
    pub fn watched(&self, watch: &Watch) -> Self {
        Self { watch: watch.clone(), ..self.clone() }
    }

    /// Records for rays, in new memory.
    pub(crate) async fn answer<T: GpuQuery>(&self, rays: Rays<'_>, query: &Query, caller: Caller) -> Result<Answer<T>> {
        let mut records = room(rays.len())?;
        records.resize(rays.len(), T::MISS);
        let report = self.cast(rays, query, &mut records, caller).await?;
        Ok(Answer { records, report })
    }

    /// Records for rays, in the caller's memory.
    pub(crate) async fn cast<T: GpuQuery>(
        &self,
        rays: Rays<'_>,
        query: &Query,
        out: &mut [T],
        caller: Caller,
    ) -> Result<Report> {
        let start = Instant::now();
        same_length("rays", rays.len(), "results", out.len())?;
        if T::NEARS {
            self.check_round("nearest passes")?;
        }
        let batch = self.batch(&rays, query)?;
        let tally = self.dispatch(batch, out, caller).await?;
        Ok(Report::new(rays.len(), tally, start))
    }

    /// [`closest`](Self::closest) on a GPU by the program that one would write first, for comparison; see [`crate::bench`].
    pub(crate) async fn closest_naive(&self, rays: Rays<'_>, query: &Query) -> Result<Option<Hits>> {
        let start = Instant::now();
        let batch = self.batch(&rays, query)?;
        let Some((engine, scene)) = self.on_gpu() else { return Ok(None) };
        let mut records = vec![Hit::MISS; rays.len()];
        let tally = scene.cast(engine, &self.host, batch, &mut Naive(Records(&mut records)), Way::Brute).await?.0;
        Ok(Some(Answer { report: Report::new(records.len(), tally, start), records }))
    }

    /// Bits for rays.
    pub(crate) async fn cast_bits(&self, rays: Rays<'_>, query: &Query, caller: Caller) -> Result<Bits> {
        let start = Instant::now();
        let len = rays.len();
        let batch = self.batch(&rays, query)?;
        let mut words = vec![0u32; len.div_ceil(32)];
        let tally = self.dispatch_bits(batch, &mut words, caller).await?;
        Ok(Bits { words, len, report: Report::new(len, tally, start) })
    }

    /// Refuses what is not known of ellipsoids.
    pub(crate) fn check_round(&self, what: &str) -> Result<()> {
        if self.host.columns.maps.is_none() {
            return Ok(());
        }
        Err(Error::Usage(format!("{what} are for spheres: this scene holds ellipsoids")))
    }

    /// The batch that a caller's rays are, once what can be refused at once is refused.
    pub(crate) fn batch<'a>(&'a self, rays: &Rays<'a>, query: &'a Query) -> Result<Batch<'a>> {
        let first = rays.first.unwrap_or(0);
        let Some(end) = first.checked_add(rays.len() as u64) else {
            return Err(Error::Usage(format!("{} rays numbered from {first} exceed 2^64", rays.len())));
        };
        if self.host.pairwise {
            // A part of the rays may leave spheres over, rays without a sphere are never right.
            if (rays.first.is_none() && end != self.len() as u64) || end > self.len() as u64 {
                let (left, right) = (end, self.len() as u64);
                return Err(Error::LengthsDiffer { left_name: "rays", left, right_name: "spheres", right });
            }
        }
        if let Some(gpu) = self.device.gpu() {
            gpu.check_precision(query.precision)?;
        }
        if self.host.columns.maps.is_some() && query.precision == Precision::Exact {
            let (device, asked, instead) = (self.device.name().into(), query.precision.word(), "fast or standard");
            return Err(Error::NoPrecision { device, asked, why: "the scene holds ellipsoids".into(), instead });
        }
        if rays.extras.radii.is_some() {
            self.check_round("rays with a radius")?;
        }
        rays.source.check()?;
        rays.extras.check(rays.len())?;
        self.device.admit("scene and query", &self.load(rays.len() as u64))?;
        let span = self.host.columns.velocities.as_ref().map(|_| self.options.time_range);
        let extras = self.moving(rays.extras, query);
        Ok(Batch { first, rays: rays.source, extras, query, span, watch: &self.watch })
    }

    /// How much there is of what.
    fn load(&self, rays: u64) -> Load {
        let (columns, pairwise) = (&self.host.columns, self.host.pairwise);
        let (masked, moving) = (columns.masks.is_some(), columns.velocities.is_some());
        Load { spheres: self.len() as u64, rays, masked, moving, mapped: columns.maps.is_some(), pairwise }
    }

    /// What rays bring along, once it says whether spheres move while they travel.
    pub(crate) fn moving<'a>(&self, extras: Extras<'a>, query: &Query) -> Extras<'a> {
        let relative = self.host.columns.velocities.is_some() && query.motion == Motion::WithRay;
        Extras { relative, ..extras }
    }
}

/// Refuses what is no range of times.
fn check_span([from, to]: [f32; 2]) -> Result<()> {
    if from.is_finite() && to.is_finite() && from <= to {
        return Ok(());
    }
    Err(Error::Usage(format!("the time range {from} to {to} must be finite and in order")))
}
