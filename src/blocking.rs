//! The same calls for code that is not async: each waits for its future. Not for browsers, where waiting hangs.

use glam::DVec3;

use crate::batch::input::{Points, Rays, Spheres};
use crate::bullets::flights::{Bullets, Flights};
use crate::error::Result;
use crate::gpu::encode::pass::CastPass;
use crate::gpu::encode::plan::CastPlan;
use crate::query::kind::Question;
use crate::query::policy::Query;
use crate::query::results::{ALL, Answer, Bits, Hits, Lists, Report};
use crate::records::{Approach, Hit, Holders, Interval};
use crate::scene::device::{Device, DeviceInfo, DeviceOptions};
use crate::scene::hit_lists::at_least_one;
use crate::scene::scene::{Caller, Scene, SceneOptions};
use crate::scene::update::Update;
use crate::shadow::ball::Shadow;
use crate::shadow::lighting::Lighting;
use crate::shadow::picture::image::Picture;
use crate::shadow::render::Progress;
use crate::shadow::system::System;
use crate::shadow::visibility::Sight;

/// [`Device::open`].
///
/// # Errors
/// As there.
pub fn open(options: &DeviceOptions) -> Result<Device> {
    pollster::block_on(Device::open(options))
}

/// [`Device::from_wgpu`].
///
/// # Errors
/// As there.
pub fn from_wgpu(device: wgpu::Device, queue: wgpu::Queue) -> Result<Device> {
    pollster::block_on(Device::from_wgpu(device, queue))
}

/// [`Device::list`].
pub fn list() -> Vec<DeviceInfo> {
    pollster::block_on(Device::list())
}

/// [`Device::scene`].
///
/// # Errors
/// As there.
pub fn scene<'a>(device: &Device, spheres: impl Into<Spheres<'a>>, options: &SceneOptions) -> Result<Scene> {
    pollster::block_on(device.scene(spheres.into(), options))
}

/// [`Device::pairwise`].
///
/// # Errors
/// As there.
pub fn pairwise<'a>(device: &Device, spheres: impl Into<Spheres<'a>>) -> Result<Scene> {
    pollster::block_on(device.pairwise(spheres.into()))
}

/// [`Device::pairwise_with`].
///
/// # Errors
/// As there.
pub fn pairwise_with<'a>(device: &Device, spheres: impl Into<Spheres<'a>>, options: &SceneOptions) -> Result<Scene> {
    pollster::block_on(device.pairwise_with(spheres.into(), options))
}

/// [`Scene::update`].
///
/// # Errors
/// As there.
pub fn update<'a>(scene: &mut Scene, spheres: impl Into<Spheres<'a>>) -> Result<Update> {
    pollster::block_on(scene.update(spheres.into()))
}

/// [`Scene::rebuild`].
///
/// # Errors
/// As there.
pub fn rebuild(scene: &mut Scene) -> Result<()> {
    pollster::block_on(scene.rebuild())
}

/// [`Scene::closest`].
///
/// # Errors
/// As there.
pub fn closest<'a>(scene: &Scene, rays: impl Into<Rays<'a>>, query: &Query) -> Result<Hits> {
    pollster::block_on(scene.hits(rays.into(), query, Caller::Waits))
}

/// [`Scene::closest_into`].
///
/// # Errors
/// As there.
pub fn closest_into<'a>(scene: &Scene, rays: impl Into<Rays<'a>>, hits: &mut [Hit], query: &Query) -> Result<Report> {
    pollster::block_on(scene.hits_into(rays.into(), query, hits, Caller::Waits))
}

/// [`Scene::interval`].
///
/// # Errors
/// As there.
pub fn interval<'a>(scene: &Scene, rays: impl Into<Rays<'a>>, query: &Query) -> Result<Answer<Interval>> {
    pollster::block_on(scene.intervals(rays.into(), query, Caller::Waits))
}

/// [`Scene::approach`].
///
/// # Errors
/// As there.
pub fn approach<'a>(scene: &Scene, rays: impl Into<Rays<'a>>, query: &Query) -> Result<Answer<Approach>> {
    pollster::block_on(scene.approaches(rays.into(), query, Caller::Waits))
}

/// [`Scene::occluded`].
///
/// # Errors
/// As there.
pub fn occluded<'a>(scene: &Scene, rays: impl Into<Rays<'a>>, query: &Query) -> Result<Bits> {
    pollster::block_on(scene.bits(rays.into(), query, Caller::Waits))
}

/// [`Scene::count`].
///
/// # Errors
/// As there.
pub fn count<'a>(scene: &Scene, rays: impl Into<Rays<'a>>, query: &Query) -> Result<Answer<u32>> {
    pollster::block_on(scene.counted(rays.into(), query, Caller::Waits))
}

/// [`Scene::contains`].
///
/// # Errors
/// As there.
pub fn contains<'a>(scene: &Scene, points: impl Into<Points<'a>>, query: &Query) -> Result<Answer<Holders>> {
    pollster::block_on(scene.holders(points.into(), query, Caller::Waits))
}

/// [`Scene::all`].
///
/// # Errors
/// As there.
pub fn all<'a>(scene: &Scene, rays: impl Into<Rays<'a>>, query: &Query) -> Result<Lists> {
    pollster::block_on(scene.list(rays.into(), ALL, query, Caller::Waits))
}

/// [`Scene::nearest`].
///
/// # Errors
/// As there.
pub fn nearest<'a>(scene: &Scene, rays: impl Into<Rays<'a>>, k: u32, query: &Query) -> Result<Lists> {
    pollster::block_on(scene.list(rays.into(), at_least_one(k)?, query, Caller::Waits))
}

/// [`Scene::bullets`].
///
/// # Errors
/// As there.
pub fn bullets<'a>(scene: &Scene, bullets: impl Into<Bullets<'a>>, most: u32, query: &Query) -> Result<Flights> {
    pollster::block_on(scene.fly(bullets.into(), most, query, Caller::Waits))
}

/// [`Scene::plan`].
///
/// # Errors
/// As there.
pub fn plan(scene: &Scene, question: Question, most_rays: u64, query: &Query) -> Result<CastPlan> {
    pollster::block_on(scene.plan(question, most_rays, query))
}

/// [`CastPlan::bind`].
///
/// # Errors
/// As there.
pub fn bind(
    plan: &CastPlan,
    count: u64,
    rays: wgpu::BufferSlice<'_>,
    out: wgpu::BufferSlice<'_>,
    status: Option<wgpu::BufferSlice<'_>>,
) -> Result<CastPass> {
    pollster::block_on(plan.bind(count, rays, out, status))
}

/// [`CastPlan::bind_at`].
///
/// # Errors
/// As there.
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

/// [`Device::render`].
///
/// # Errors
/// As there.
pub fn render(device: &Device, system: &System, progress: Option<Progress>) -> Result<Picture> {
    pollster::block_on(device.render(system, progress))
}

/// [`Device::visible_fractions`].
///
/// # Errors
/// As there.
pub fn visible_fractions(device: &Device, sights: &[Sight]) -> Result<Vec<f64>> {
    pollster::block_on(device.visible_fractions(sights))
}

/// [`Device::shadows`].
///
/// # Errors
/// As there.
pub fn shadows(device: &Device, lighting: &Lighting, observers: &[DVec3]) -> Result<Vec<Shadow>> {
    pollster::block_on(device.shadows_of(lighting, observers, Caller::Waits))
}

/// [`Device::shadows_into`].
///
/// # Errors
/// As there.
pub fn shadows_into(device: &Device, lighting: &Lighting, observers: &[DVec3], out: &mut [Shadow]) -> Result<()> {
    pollster::block_on(device.shade(lighting, observers, out, Caller::Waits))
}
