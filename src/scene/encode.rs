//! A query as a part of the caller's own GPU work: rays and answers never leave the device.

use super::scene::Scene;
use crate::error::{Error, Result};
use crate::gpu::encode::plan::CastPlan;
use crate::query::kind::Question;
use crate::query::policy::Query;

impl Scene {
    /// Makes a question ready to be encoded into a [`wgpu::CommandEncoder`] of the caller's, for up to `most_rays` rays in the
    /// caller's own buffers, on a scene of a device given to [`Device::from_wgpu`](crate::Device::from_wgpu):
    ///
    /// ```no_run
    /// # use umbracast::{Query, Question, Result, Scene, wgpu};
    /// # async fn frame(scene: &Scene, device: &wgpu::Device, queue: &wgpu::Queue, rays: &wgpu::Buffer, hits: &wgpu::Buffer,
    /// #     status: &wgpu::Buffer) -> Result<()> {
    /// // Once:
    /// let plan = scene.plan(Question::Closest, 1_000_000, &Query::default()).await?;
    /// let cast = plan.bind(1_000_000, rays.slice(..), hits.slice(..), Some(status.slice(..))).await?;
    /// // Every frame, between passes of your own:
    /// let mut encoder = device.create_command_encoder(&Default::default());
    /// encoder.clear_buffer(status, 0, None);
    /// cast.encode(&mut encoder);
    /// queue.submit([encoder.finish()]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The three are different buffers with the usage `STORAGE`; slices of them may begin at any multiple of 4 bytes.
    ///
    /// * **Rays** are [`Ray`](crate::Ray)s, 32 bytes each, infinite ends included. Whatever wrote them, they are checked on the
    ///   device, bit by bit: one that [`check_ray`](crate::check_ray) refuses misses, and is counted. `on_bad` is not looked at.
    /// * **Answers** are the same bytes as those of the ordinary call on this device, misses included (the bits of `+∞`, and
    ///   [`NO_SPHERE`](crate::NO_SPHERE)): in a shader of yours, ask whether the id is `0xffffffff` rather than compare with an
    ///   infinity. Nothing behind the last answer is written, but that bits come in whole words, the rest of the last one 0.
    /// * **The status**, if wanted, is four counts (`u32`), which every pass adds to, so that one may serve many: clear it when
    ///   you begin. They are rays that are *bad*; *undone*; *beyond* (missing only because the root exceeds f32); and *hits* (for
    ///   `approach`: touched or entered).
    ///
    /// An undone ray is one that the scene's tree cannot answer, which the ordinary call would cast again without it: from
    /// farther away than 2⁵⁰ times the scene's size, along a direction longer or shorter than it by 2⁶⁰, or through more of a
    /// degenerate tree than a software adapter allows. Its numbers are NaN (`0x7fc00004`) and its id is
    /// [`NO_SPHERE`](crate::NO_SPHERE); its bit is 0. Scenes without a tree, of a few hundred spheres, have none.
    ///
    /// The CPU engine answers no ray of a plan. On a device that takes subnormal numbers for zero ([`Probe::subnormals`](crate::Probe::subnormals)
    /// is false) coordinates, radii and directions below 2⁻¹²⁶ may therefore count as 0, and a `t` below 2⁻¹²⁶ may be written as 0 or −0, as in
    /// the ordinary calls at `fast` and `standard`. A ray whose direction is not zero, but has no part of 2⁻¹²⁶ or more, is not a bad
    /// one; it may miss.
    ///
    /// Spheres that move are seen at the times that [`CastPlan::bind_at`] is given, or move while rays travel, as the query says. Then
    /// a ray that leaves the scene's time range is a bad one too. Ellipsoids are answered as by the ordinary calls. Masks of
    /// spheres hold for rays without one.
    ///
    /// The plan takes up to 68 bytes a ray on the device, 100 where spheres move, and keeps the spheres that the scene has now: after
    /// [`update`](Scene::update), make another. Everything lives as long as it is needed: scene, plan and pass may be
    /// dropped before the commands are submitted. A pass goes to the device as it is, in one submission of the caller's, however
    /// long it takes: some drivers reset a device whose submission takes seconds.
    ///
    /// # Errors
    /// [`Error::Usage`] on the CPU engine, for a scene of pairs and for nearest passes of ellipsoids; [`Error::NoPrecision`] for `exact`, whose doubtful rays are
    /// settled on the host; [`Error::TooLarge`] with figures when the scene does not fit one buffer of the device, or the rays do
    /// not fit one buffer or one dispatch (4,194,240 with WebGPU's default limits); and what the device can suffer.
    pub async fn plan(&self, question: Question, most_rays: u64, query: &Query) -> Result<CastPlan> {
        let (Some(gpu), Some(spheres)) = (self.device().gpu(), self.resident()) else {
            let message = "queries are encoded on a GPU, and this scene is on the CPU engine or one of pairs";
            return Err(Error::Usage(message.into()));
        };
        if question == Question::Approach {
            self.check_round("nearest passes")?;
        }
        let range = self.options.time_range;
        CastPlan::new(gpu, spheres, &self.host, range, question, most_rays, query).await
    }
}
