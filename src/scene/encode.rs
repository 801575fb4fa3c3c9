//! Encoded queries: recorded into the caller's command encoder, so that rays and results stay on the device.

use glam::Vec3;

use super::device::Device;
use super::scene::{Scene, SceneOptions};
use crate::error::Result;
use crate::gpu::encode::plan::CastPlan;
use crate::gpu::encode::resident::ResidentScene;
use crate::query::kind::QueryKind;
use crate::query::policy::Query;
use crate::query::validate::usage;
use crate::runtime::block_on::block_on;

impl Scene {
    /// Prepares a query for recording into a [`wgpu::CommandEncoder`] of the caller, for up to `most_rays` rays in the caller's buffers.
    /// The scene must be on a device from [`Device::from_wgpu`](crate::Device::from_wgpu):
    ///
    /// ```no_run
    /// # use umbracast::{Query, QueryKind, Result, Scene, wgpu};
    /// # fn frame(scene: &Scene, device: &wgpu::Device, queue: &wgpu::Queue, rays: &wgpu::Buffer, hits: &wgpu::Buffer,
    /// #     status: &wgpu::Buffer) -> Result<()> {
    /// // Once:
    /// let plan = scene.plan(QueryKind::Closest, 1_000_000, &Query::default())?;
    /// let cast = plan.bind(1_000_000, rays.slice(..), None, hits.slice(..), Some(status.slice(..)))?;
    /// // Per frame, between the caller's own passes:
    /// let mut encoder = device.create_command_encoder(&Default::default());
    /// encoder.clear_buffer(status, 0, None);
    /// cast.encode(&mut encoder);
    /// queue.submit([encoder.finish()]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Rays, results and status are three different buffers with usage `STORAGE`. Slices of them may start at any multiple of 4 bytes.
    ///
    /// * **Rays** are [`Ray`](crate::Ray)s, 32 bytes each; infinite ends are allowed. The device validates them: a ray that
    ///   [`Ray::check`](crate::Ray::check) refuses is a miss, and is counted. `on_bad` is ignored.
    /// * **Results** are byte-identical to those of the ordinary call on this device. A miss is the bits of `+∞` and
    ///   [`NO_SPHERE`](crate::NO_SPHERE). In a shader, compare the id with `0xffffffff`, not `t` with an infinity. Nothing is written after
    ///   the last result, except that bits are written as whole words: the unused bits of the last word are 0.
    /// * **Status** is optional: four counts (`u32`). Every pass adds to them, so that several passes can share a status; clear it before
    ///   the first. The counts are, in this order: *bad* rays, which are invalid; *undone* rays, see below; *beyond*, rays that miss only
    ///   because the root exceeds the largest f32; and *hits* (for `approach`: rays that touch or enter a sphere).
    ///
    /// An undone ray is one that the BVH traversal cannot finish. (The ordinary call casts it again by brute force.) Either its origin is
    /// farther away than 2⁵⁰ times the size of the scene, or its direction is longer or shorter than that size by a factor of 2⁶⁰, or a
    /// degenerate BVH needs more steps than a software adapter allows. The numbers of its result are NaN (`0x7fc00004`) and the id is
    /// [`NO_SPHERE`](crate::NO_SPHERE); its bit is 0. Scenes of up to a few hundred spheres have no BVH, and so no undone rays.
    ///
    /// At [`Exact`](crate::Precision::Exact) the device writes what it can prove, and lists the other rays: the *open* ones, which are undone, or
    /// undecided within the device's error bounds. Their results are those of undone rays, and *beyond* and *hits* leave them out. A status is
    /// required, and has `4 · (5 + rays)` bytes: after the four counts the number of open rays, then their indices, in no order. A pass needs a
    /// status of its own then. Cast the open rays by an ordinary call, or one by one by [`hit`](Self::hit) and [`occludes`](Self::occludes),
    /// which answer on the CPU; for a [`ResidentScene`], in a scene of the spheres that its buffer then contains. About one of 10⁴ random rays
    /// is open. More are open among moving spheres and on a device that fails the probe of `standard`: there every ray with a hit, but not
    /// of [`Occluded`](QueryKind::Occluded). On a device that flushes subnormal numbers, rays with numbers below 2⁻¹⁰⁰ are open, too, and
    /// those with a direction longer than 2⁷⁰ times the least radius.
    ///
    /// The CPU engine never takes over rays of a plan. Below `exact`, a device that flushes subnormal numbers to zero
    /// ([`Probe::subnormals`](crate::Probe::subnormals) is false) may therefore treat coordinates, radii and directions below 2⁻¹²⁶ as 0,
    /// and may write 0 or −0 for a `t` below 2⁻¹²⁶, as in ordinary calls at `fast` and `standard`. A ray whose direction is not zero, but
    /// has no component of 2⁻¹²⁶ or more, is not a bad ray; it may miss.
    ///
    /// Moving spheres are evaluated at the times passed to [`CastPlan::bind`], or move while rays travel, as the query's
    /// [`Motion`](crate::Motion) says. A ray outside the scene's time range is then a bad ray, too: in the first case because of its time,
    /// in the second because of its ends. Ellipsoids are handled as in ordinary calls. Spheres may have masks; the rays have none.
    ///
    /// The call blocks until the pipelines are compiled. The plan allocates up to 68 bytes per ray on the device, or 100 if spheres move, and none for
    /// [`Closest`](QueryKind::Closest) below `exact` if a BVH of spheres at rest is traversed. It keeps the spheres that the scene has now: after
    /// [`update`](Scene::update), make a new plan. Scene, plan and pass may be dropped before the commands are submitted: everything lives
    /// as long as it is needed. A pass is not split. It is part of one submission of the caller, however long it takes, and some drivers
    /// reset a device if a submission takes seconds.
    ///
    /// # Errors
    /// * [`Error::InvalidArgument`](crate::Error::InvalidArgument): the scene is on the CPU engine or pairwise, or `approach` is requested for ellipsoids.
    /// * [`Error::NoPrecision`](crate::Error::NoPrecision): a precision that the device's probe does not allow; `exact` for ellipsoids and
    ///   `approach`; and, on a device that flushes subnormal numbers, for moving spheres, numbers below 2⁻¹⁰⁰ and [`ResidentScene`]s.
    /// * [`Error::TooLarge`](crate::Error::TooLarge), with both sizes: the scene does not fit into one buffer of the device, or the rays do not fit into one buffer
    ///   or one dispatch (at most 4,194,240 with WebGPU's default limits).
    /// * Device errors, as for [`closest`](Self::closest).
    pub fn plan(&self, query_kind: QueryKind, most_rays: u64, query: &Query) -> Result<CastPlan> {
        block_on(self.plan_async(query_kind, most_rays, query))
    }

    /// [`plan`](Self::plan), for code that must not block.
    pub async fn plan_async(&self, query_kind: QueryKind, most_rays: u64, query: &Query) -> Result<CastPlan> {
        // The spheres of a pairwise scene are not on the device: they are uploaded with their rays.
        let Some((gpu, spheres)) = self.on_gpu().filter(|_| !self.host.pairwise) else {
            let message = "encoded queries need a scene on a GPU that is not pairwise, but this scene is on the CPU engine or pairwise";
            return usage(message);
        };
        query.near.refuse_block(Some("an encoded query"))?;
        if query_kind == QueryKind::Approach {
            self.refuse_ellipsoids("approach queries")?;
        }
        let range = self.options.time_range;
        // By default, no ray is left to the caller.
        let query = &Query { precision: query.precision.resolved(true), ..*query };
        CastPlan::new(gpu, spheres, Some(&self.host), range, query_kind, most_rays, query).await
    }
}

impl Device {
    /// Makes a scene over spheres that are in a buffer of the caller and stay there. The device must be one from
    /// [`from_wgpu`](Self::from_wgpu), with a GPU. Once per frame, the caller's shader moves the spheres, and
    /// [`rebuild`](ResidentScene::rebuild) or [`refit`](ResidentScene::refit) takes them:
    ///
    /// ```no_run
    /// # use umbracast::{Device, Query, QueryKind, ResidentScene, Result, SceneOptions, glam::Vec3, wgpu};
    /// # fn start(device: &Device, spheres: &wgpu::Buffer, rays: &wgpu::Buffer, hits: &wgpu::Buffer, move_spheres: impl Fn(&mut wgpu::CommandEncoder),
    /// #     encoder: &mut wgpu::CommandEncoder) -> Result<()> {
    /// // Once:
    /// let bounds = [Vec3::splat(-1.0), Vec3::splat(1.0)];
    /// let scene = device.resident_scene(spheres.slice(..), 100_000, bounds, &SceneOptions::default())?;
    /// let plan = scene.plan(QueryKind::Closest, 1_000_000, &Query::default())?;
    /// let cast = plan.bind(1_000_000, rays.slice(..), None, hits.slice(..), None)?;
    /// // Per frame:
    /// move_spheres(encoder);
    /// scene.rebuild(encoder);
    /// cast.encode(encoder);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// `spheres` has the usage `STORAGE` and contains `count` spheres, 16 bytes each: centre and radius. The slice may start at any multiple
    /// of 4 bytes. `bounds` are the lower and the upper corner of a box in which the spheres lie, whole and for ever: the smaller it is,
    /// the better spheres are culled. The time range of the options is not used. The id of a sphere is its index in the buffer. Results are those of an ordinary scene of the same spheres on this device.
    ///
    /// The call builds the BVH on the device, and blocks until it is built. It allocates about 110 bytes per sphere.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) on the CPU engine, for a buffer that cannot be bound, bounds that are not
    /// finite or not in order, no sphere, and spheres that are bad now; see [`ResidentScene::refit`].
    /// [`Error::NoPrecision`](crate::Error::NoPrecision) if the device cannot guarantee `standard`.
    /// [`Error::TooLarge`](crate::Error::TooLarge) if the slice is too small for `count` spheres, or the spheres do not fit into one buffer.
    /// Device errors.
    pub fn resident_scene(
        &self,
        spheres: wgpu::BufferSlice<'_>,
        count: u32,
        bounds: [Vec3; 2],
        options: &SceneOptions,
    ) -> Result<ResidentScene> {
        let Some(gpu) = self.on_gpu() else {
            return usage("a resident scene needs a device from Device::from_wgpu, but this is the CPU engine");
        };
        block_on(ResidentScene::new(gpu, spheres, count, bounds, options.tree_from))
    }
}

impl ResidentScene {
    /// Prepares a query for recording, as [`Scene::plan`](crate::Scene::plan) does, with the same rays, results and status. Spheres are at
    /// rest while a pass runs.
    ///
    /// # Errors
    /// As [`Scene::plan`](crate::Scene::plan).
    pub fn plan(&self, query_kind: QueryKind, most_rays: u64, query: &Query) -> Result<CastPlan> {
        query.near.refuse_block(Some("an encoded query"))?;
        let query = &Query { precision: query.precision.resolved(true), ..*query };
        block_on(CastPlan::new(&self.gpu, &self.scene, None, [0.0; 2], query_kind, most_rays, query))
    }
}
