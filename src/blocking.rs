//! Blocking versions of the async calls. Not for browsers, where blocking hangs.

use glam::DVec3;

use crate::batch::input::{Points, Rays, Spheres};
use crate::bullets::flights::{Bullets, Flights};
use crate::error::Result;
use crate::gpu::encode::pass::CastPass;
use crate::gpu::encode::plan::CastPlan;
use crate::query::kind::QueryKind;
use crate::query::policy::Query;
use crate::query::results::{ALL, Answer, Bits, HitLists, Hits, Report};
use crate::records::{Approach, Containment, Hit, Interval};
use crate::scene::device::{Device, DeviceInfo, DeviceOptions};
use crate::scene::hit_lists::at_least_one;
use crate::scene::scene::{Scene, SceneOptions, Wait};
use crate::scene::update::Update;
use crate::shadow::ball::Shadow;
use crate::shadow::lighting::Lighting;
use crate::shadow::picture::image::Picture;
use crate::shadow::picture::progress::Progress;
use crate::shadow::system::System;
use crate::shadow::visibility::VisibilityQuery;

/// Blocking version of [`Device::open`].
///
/// # Errors
/// As [`Device::open`].
pub fn open(options: &DeviceOptions) -> Result<Device> {
    pollster::block_on(Device::open(options))
}

/// Blocking version of [`Device::from_wgpu`].
///
/// # Errors
/// As [`Device::from_wgpu`].
pub fn from_wgpu(device: wgpu::Device, queue: wgpu::Queue) -> Result<Device> {
    Device::from_wgpu(device, queue)
}

/// Blocking version of [`Device::list`].
pub fn list() -> Vec<DeviceInfo> {
    Device::list()
}

/// Blocking version of [`Device::scene`].
///
/// # Errors
/// As [`Device::scene`].
pub fn scene<'a>(device: &Device, spheres: impl Into<Spheres<'a>>, options: &SceneOptions) -> Result<Scene> {
    pollster::block_on(device.scene_async(spheres.into(), options))
}

/// Blocking version of [`Device::pairwise`].
///
/// # Errors
/// As [`Device::pairwise`].
pub fn pairwise<'a>(device: &Device, spheres: impl Into<Spheres<'a>>) -> Result<Scene> {
    pollster::block_on(device.pairwise_async(spheres.into()))
}

/// Blocking version of [`Device::pairwise_with`].
///
/// # Errors
/// As [`Device::pairwise_with`].
pub fn pairwise_with<'a>(device: &Device, spheres: impl Into<Spheres<'a>>, options: &SceneOptions) -> Result<Scene> {
    pollster::block_on(device.pairwise_with(spheres.into(), options))
}

/// Blocking version of [`Scene::update`].
///
/// # Errors
/// As [`Scene::update`].
pub fn update<'a>(scene: &mut Scene, spheres: impl Into<Spheres<'a>>) -> Result<Update> {
    pollster::block_on(scene.update_async(spheres.into()))
}

/// Blocking version of [`Scene::rebuild`].
///
/// # Errors
/// As [`Scene::rebuild`].
pub fn rebuild(scene: &mut Scene) -> Result<()> {
    pollster::block_on(scene.rebuild_async())
}

/// Blocking version of [`Scene::closest`].
///
/// # Errors
/// As [`Scene::closest`].
pub fn closest<'a>(scene: &Scene, rays: impl Into<Rays<'a>>, query: &Query) -> Result<Hits> {
    pollster::block_on(scene.hits(rays.into(), query, Wait::Blocking))
}

/// Blocking version of [`Scene::closest_into`].
///
/// # Errors
/// As [`Scene::closest_into`].
pub fn closest_into<'a>(scene: &Scene, rays: impl Into<Rays<'a>>, hits: &mut [Hit], query: &Query) -> Result<Report> {
    pollster::block_on(scene.hits_into(rays.into(), query, hits, Wait::Blocking))
}

/// Blocking version of [`Scene::interval`].
///
/// # Errors
/// As [`Scene::interval`].
pub fn interval<'a>(scene: &Scene, rays: impl Into<Rays<'a>>, query: &Query) -> Result<Answer<Interval>> {
    pollster::block_on(scene.intervals(rays.into(), query, Wait::Blocking))
}

/// Blocking version of [`Scene::approach`].
///
/// # Errors
/// As [`Scene::approach`].
pub fn approach<'a>(scene: &Scene, rays: impl Into<Rays<'a>>, query: &Query) -> Result<Answer<Approach>> {
    pollster::block_on(scene.approaches(rays.into(), query, Wait::Blocking))
}

/// Blocking version of [`Scene::occluded`].
///
/// # Errors
/// As [`Scene::occluded`].
pub fn occluded<'a>(scene: &Scene, rays: impl Into<Rays<'a>>, query: &Query) -> Result<Bits> {
    pollster::block_on(scene.bits(rays.into(), query, Wait::Blocking))
}

/// Blocking version of [`Scene::count`].
///
/// # Errors
/// As [`Scene::count`].
pub fn count<'a>(scene: &Scene, rays: impl Into<Rays<'a>>, query: &Query) -> Result<Answer<u32>> {
    pollster::block_on(scene.counted(rays.into(), query, Wait::Blocking))
}

/// Blocking version of [`Scene::transmittance`].
///
/// # Errors
/// As [`Scene::transmittance`].
pub fn transmittance<'a>(scene: &Scene, rays: impl Into<Rays<'a>>, query: &Query) -> Result<Answer<f32>> {
    pollster::block_on(scene.transmittances(rays.into(), query, Wait::Blocking))
}

/// Blocking version of [`Scene::contains`].
///
/// # Errors
/// As [`Scene::contains`].
pub fn contains<'a>(scene: &Scene, points: impl Into<Points<'a>>, query: &Query) -> Result<Answer<Containment>> {
    pollster::block_on(scene.containments(points.into(), query, Wait::Blocking))
}

/// Blocking version of [`Scene::all`].
///
/// # Errors
/// As [`Scene::all`].
pub fn all<'a>(scene: &Scene, rays: impl Into<Rays<'a>>, query: &Query) -> Result<HitLists> {
    pollster::block_on(scene.list(rays.into(), ALL, query, Wait::Blocking))
}

/// Blocking version of [`Scene::nearest`].
///
/// # Errors
/// As [`Scene::nearest`].
pub fn nearest<'a>(scene: &Scene, rays: impl Into<Rays<'a>>, k: u32, query: &Query) -> Result<HitLists> {
    pollster::block_on(scene.list(rays.into(), at_least_one(k)?, query, Wait::Blocking))
}

/// Blocking version of [`Scene::bullets`].
///
/// # Errors
/// As [`Scene::bullets`].
pub fn bullets<'a>(scene: &Scene, bullets: impl Into<Bullets<'a>>, most: u32, query: &Query) -> Result<Flights> {
    pollster::block_on(scene.trace_bullets(bullets.into(), most, query, Wait::Blocking))
}

/// Blocking version of [`Scene::plan`].
///
/// # Errors
/// As [`Scene::plan`].
pub fn plan(scene: &Scene, query_kind: QueryKind, most_rays: u64, query: &Query) -> Result<CastPlan> {
    pollster::block_on(scene.plan_async(query_kind, most_rays, query))
}

/// Blocking version of [`CastPlan::bind`].
///
/// # Errors
/// As [`CastPlan::bind`].
pub fn bind(
    plan: &CastPlan,
    count: u64,
    rays: wgpu::BufferSlice<'_>,
    out: wgpu::BufferSlice<'_>,
    status: Option<wgpu::BufferSlice<'_>>,
) -> Result<CastPass> {
    pollster::block_on(plan.bind_async(count, rays, out, status))
}

/// Blocking version of [`CastPlan::bind_at`].
///
/// # Errors
/// As [`CastPlan::bind_at`].
pub fn bind_at(
    plan: &CastPlan,
    count: u64,
    rays: wgpu::BufferSlice<'_>,
    times: wgpu::BufferSlice<'_>,
    out: wgpu::BufferSlice<'_>,
    status: Option<wgpu::BufferSlice<'_>>,
) -> Result<CastPass> {
    pollster::block_on(plan.bind_at(count, rays, times, out, status))
}

/// Blocking version of [`Device::render`].
///
/// # Errors
/// As [`Device::render`].
pub fn render(device: &Device, system: &System, progress: Option<Progress>) -> Result<Picture> {
    pollster::block_on(device.render_async(system, progress))
}

/// Blocking version of [`Device::visible_fractions`].
///
/// # Errors
/// As [`Device::visible_fractions`].
pub fn visible_fractions(device: &Device, sights: &[VisibilityQuery]) -> Result<Vec<f64>> {
    pollster::block_on(device.visible_fractions_async(sights))
}

/// Blocking version of [`Device::shadows`].
///
/// # Errors
/// As [`Device::shadows`].
pub fn shadows(device: &Device, lighting: &Lighting, observers: &[DVec3]) -> Result<Vec<Shadow>> {
    pollster::block_on(device.shadows_of(lighting, observers, Wait::Blocking))
}

/// Blocking version of [`Device::shadows_into`].
///
/// # Errors
/// As [`Device::shadows_into`].
pub fn shadows_into(device: &Device, lighting: &Lighting, observers: &[DVec3], out: &mut [Shadow]) -> Result<()> {
    pollster::block_on(device.shade(lighting, observers, out, Wait::Blocking))
}

/// Blocking version of [`Device::fluxes`].
///
/// # Errors
/// As [`Device::fluxes`].
pub fn fluxes(device: &Device, lighting: &Lighting, observers: &[DVec3], shadows: &[Shadow]) -> Result<Vec<f64>> {
    pollster::block_on(device.fluxes_async(lighting, observers, shadows))
}
