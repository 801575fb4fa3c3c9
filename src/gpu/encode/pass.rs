//! Binds a plan to the caller's buffers, and records it into the caller's command encoder.

use std::mem::offset_of;
use std::num::NonZeroU64;

use bytemuck::{Pod, Zeroable};
use wgpu::{BindGroup, Buffer, BufferBinding, BufferSlice, BufferUsages, CommandEncoder, ComputePipeline};

use super::plan::{CastPlan, RAY_BYTES, STATUS_BYTES, Task, Times, WORKGROUP};
use crate::error::{Error, Result};
use crate::gpu::context::dispatch::{Groups, Step};
use crate::gpu::context::pipelines::KernelConstants;
use crate::gpu::engine::GpuEngine;
use crate::gpu::programs;
use crate::gpu::uniforms::{Params, UNIFORM_STEP};
use crate::query::kind::QueryKind;
use crate::query::validate::usage;
use crate::runtime::block_on::block_on;

/// A plan bound to buffers, made by [`CastPlan::bind`]. It keeps alive everything that it needs, including the scene's buffers.
pub struct CastPass {
    /// The buffer to clear before the first step, and how many bytes of it.
    cleared: Option<(Buffer, u64)>,
    counted: Option<CountedRays>,
    steps: Vec<Step>,
}

/// A number of rays that the device knows: the dispatch that reads it, and where its first result is copied.
struct CountedRays {
    step: Step,
    counts: Buffer,
    params: Buffer,
    copied_to: Vec<u64>,
}

/// Uniform of the program that reads the number of rays. Twin of `RayCount` in `shaders/encode/count_rays.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct RayCount {
    pub(crate) count_at: u32,
    pub(crate) most: u32,
    pub(crate) rays_per_thread: u32,
    pub(crate) rays_per_word: u32,
}

/// Byte offsets of the workgroups of three dispatches in the results of that program: of one thread per ray, of the search, and of the
/// program that writes results.
const PER_RAY: u64 = 16;
const PER_SEARCH: u64 = 32;
const PER_RESULT: u64 = 48;
const COUNTS_BYTES: u64 = 64;

impl CastPlan {
    /// Binds the plan to the buffers of the caller: `count` rays, their times if spheres move, their results (`out`) and the counts
    /// (`status`), which are optional below `exact`. [`Scene::plan`](crate::Scene::plan) describes the contents. Bind once for the same buffers and the same number of
    /// rays, not per frame: this creates a few bind groups and one small buffer, writes only to that buffer, and blocks until that is done.
    ///
    /// `times` are the times at which rays see moving spheres ([`Motion::AtTime`](crate::Motion::AtTime)): one f32 per ray, or a slice of 4
    /// bytes with one f32 for all rays, so that a frame's time is one write. Without times, rays see the spheres at time 0. A ray whose
    /// time is NaN or not in the [time range](crate::SceneOptions::time_range) of the scene is a bad ray.
    ///
    /// # Errors
    /// [`Error::TooLarge`], with both sizes, if there are more rays than the plan allows or a slice is too small for them.
    /// [`Error::InvalidArgument`] for a buffer without `STORAGE`, a buffer of another device, a destroyed buffer, the same buffer given twice,
    /// and an offset that is not a multiple of 4. Also at `exact` without a status. Also for times if no sphere moves, or if spheres move while rays travel
    /// ([`Motion::WithRay`](crate::Motion::WithRay)): `t` is then the time. No error is left on the device. Never pass a buffer of another
    /// [`wgpu::Instance`]: wgpu 30 mistakes it for one of this instance.
    pub fn bind(
        &self,
        count: u64,
        rays: BufferSlice<'_>,
        times: Option<BufferSlice<'_>>,
        out: BufferSlice<'_>,
        status: Option<BufferSlice<'_>>,
    ) -> Result<CastPass> {
        block_on(self.bind_async(count, rays, times, out, status))
    }

    /// [`bind`](Self::bind) for a number of rays that a shader of the caller computes: each pass reads it, a `u32`, from the start of
    /// `count`, a fifth buffer, and dispatches as many workgroups as it needs. It is at most `most`; a larger number counts as `most`.
    /// Results after those of the last ray stay as they are, except that bits are written as whole words.
    ///
    /// # Errors
    /// As [`bind`](Self::bind).
    pub fn bind_counted(
        &self,
        most: u64,
        count: BufferSlice<'_>,
        rays: BufferSlice<'_>,
        times: Option<BufferSlice<'_>>,
        out: BufferSlice<'_>,
        status: Option<BufferSlice<'_>>,
    ) -> Result<CastPass> {
        block_on(self.bind_any(most, Some(count), rays, times, out, status))
    }

    /// [`bind`](Self::bind), for code that must not block.
    ///
    /// # Errors
    /// As [`bind`](Self::bind).
    pub async fn bind_async(
        &self,
        count: u64,
        rays: BufferSlice<'_>,
        times: Option<BufferSlice<'_>>,
        out: BufferSlice<'_>,
        status: Option<BufferSlice<'_>>,
    ) -> Result<CastPass> {
        self.bind_any(count, None, rays, times, out, status).await
    }

    async fn bind_any(
        &self,
        count: u64,
        counter: Option<BufferSlice<'_>>,
        rays: BufferSlice<'_>,
        times: Option<BufferSlice<'_>>,
        out: BufferSlice<'_>,
        status: Option<BufferSlice<'_>>,
    ) -> Result<CastPass> {
        let refusal = match self.times {
            None => Some("times need moving spheres, but the spheres of this scene are at rest"),
            Some(times) => times.relative.then_some("times cannot be used with Motion::WithRay: t is the time there"),
        };
        if let Some(message) = refusal.filter(|_| times.is_some()) {
            return Err(Error::InvalidArgument(message.into()));
        }
        let gpu = &*self.gpu;
        if count > self.max_rays {
            let (asked, allowed, device) =
                (count.saturating_mul(RAY_BYTES), self.max_rays * RAY_BYTES, gpu.name().into());
            return Err(Error::TooLarge { what: "rays of one pass", asked, allowed, device });
        }
        let width = self.query_kind.width();
        let answers = if width == 0 { count.div_ceil(32) * 4 } else { count * width * 4 };
        let (set, rays_at) = window(gpu, "the rays", &rays, count * RAY_BYTES)?;
        let (answered, out_at) = window(gpu, "the results", &out, answers)?;
        let list_bytes = if self.lists_open { 4 + 4 * count } else { 0 };
        let (counted, status_at) = match &status {
            Some(status) => window(gpu, "the status", status, STATUS_BYTES + list_bytes)?,
            None if self.lists_open => {
                return usage("a query at 'exact' needs a status, which has the list of open rays");
            }
            None => (self.spare.as_entire_buffer_binding(), 0),
        };
        let each = times.as_ref().is_some_and(|times| times.size() != 4);
        let last_time = if each { count.saturating_sub(1) } else { 0 };
        let (timed, times_at) = match &times {
            Some(times) => window(gpu, "the times", times, 4 * (last_time + 1))?,
            None => (self.no_time.as_entire_buffer_binding(), 0),
        };
        let counter = counter.map(|counter| window(gpu, "the number of rays", &counter, 4)).transpose()?;
        let mut all = vec![set.buffer, answered.buffer, counted.buffer, timed.buffer];
        all.extend(counter.iter().map(|(binding, _)| binding.buffer));
        if (1..all.len()).any(|i| all[..i].contains(&all[i])) {
            let message = "rays, times, results, status and number of rays must be in different buffers";
            return Err(Error::InvalidArgument(message.into()));
        }
        if count == 0 {
            return Ok(CastPass { cleared: None, counted: None, steps: Vec::new() });
        }
        let part = self.scene.parts.first();
        let spheres = part.map_or(0, |part| part.count);
        // An empty scene has one empty range, so that a dispatch marks every ray as a miss.
        let ranges = part.map_or_else(|| vec![(0, 0)], |part| part.ranges(self.uses_bvh).collect());
        let task_at = ranges.len() * UNIFORM_STEP as usize;
        let Times { range, relative } = self.times.unwrap_or(Times { range: [0.0; 2], relative: false });
        let task = Task {
            count: count as u32,
            rays_at,
            out_at,
            status_at,
            width: width as u32,
            approach: u32::from(self.query_kind == QueryKind::Approach),
            times_at,
            last_time: last_time as u32,
            time_from: range[0].to_bits(),
            time_to: range[1].to_bits(),
            moves_with_ray: u32::from(relative),
            lists_open: u32::from(self.lists_open),
            smallest: self.ray_limits[0].to_bits(),
            longest: self.ray_limits[1].to_bits(),
        };
        let mut params_bytes = vec![0u8; task_at + size_of::<Task>()];
        for (n, (begin, end)) in ranges.iter().enumerate() {
            let params = Params {
                ray_count: count as u32,
                sphere_begin: *begin,
                sphere_end: *end,
                sphere_count: spheres,
                fresh: u32::from(n == 0),
                rays_at,
                out_at,
                status_at,
                ..self.params
            };
            let at = n * UNIFORM_STEP as usize;
            params_bytes[at..at + size_of::<Params>()].copy_from_slice(bytemuck::bytes_of(&params));
        }
        params_bytes[task_at..].copy_from_slice(bytemuck::bytes_of(&task));
        let params = gpu
            .buffer("encoded params", params_bytes.len() as u64, BufferUsages::UNIFORM | BufferUsages::COPY_DST)
            .await?;

        let task = BufferBinding { buffer: &params, offset: task_at as u64, size: None };
        let [rays, state, results] =
            [&self.rays, &self.state, &self.results].map(wgpu::Buffer::as_entire_buffer_binding);
        let mut around = None;
        let mut own = [set.clone(), answered.clone(), counted.clone()];
        if let Some([prepare, write]) = &self.around {
            let prepare_rays = [task.clone(), set.clone(), rays.clone()];
            let prepare_rays = match &self.ray_attributes {
                Some(ray_attributes) => {
                    let [a, b, c] = prepare_rays;
                    bound(gpu, prepare, [a, b, c, timed, ray_attributes.as_entire_buffer_binding()]).await?
                }
                None => bound(gpu, prepare, prepare_rays).await?,
            };
            let found = if self.finalize_pipeline.is_some() { &results } else { &state };
            let write_results = bound(gpu, write, [task, set, rays.clone(), found.clone(), answered, counted]).await?;
            around = Some([(prepare, prepare_rays), (write, write_results)]);
            own = [rays, state, results];
        }
        // If nothing moves, rays have no attributes.
        let ray_attributes = self.ray_attributes.as_ref().unwrap_or(&gpu.no_ray_attributes);
        let [rays, state, results] = own;
        let params_binding = params.as_entire_buffer_binding();
        let own = [params_binding, rays, state, results, ray_attributes.as_entire_buffer_binding()];
        let [search, finish] = match part {
            Some(part) => part.bind_groups(gpu, own, self.uses_bvh).await.map_err(of_caller)?,
            None => {
                let group = gpu.cast_group(own, [&self.spare, &gpu.every_bit], None).await?;
                [group.clone(), group]
            }
        };
        gpu.write(&params, &params_bytes).await?;

        let rays_per_thread = if self.uses_bvh { 1 } else { self.kernels.rays_per_thread };
        let rays_per_word = if width == 0 { 32 } else { 1 };
        let counted = match counter {
            None => None,
            Some((counter, count_at)) => {
                let asked = RayCount {
                    count_at,
                    most: count as u32,
                    rays_per_thread: rays_per_thread as u32,
                    rays_per_word: rays_per_word as u32,
                };
                let uniform = gpu.uniform("number of rays", &asked).await?;
                let counts = gpu
                    .buffer(
                        "workgroups of the rays",
                        COUNTS_BYTES,
                        BufferUsages::STORAGE | BufferUsages::INDIRECT | BufferUsages::COPY_SRC,
                    )
                    .await?;
                let pipeline = gpu.pipeline(&programs::COUNT_RAYS, KernelConstants::default()).await?;
                let buffers = [uniform.as_entire_buffer_binding(), counter, counts.as_entire_buffer_binding()];
                let group = bound(gpu, &pipeline, buffers).await?;
                let step = Step { pipeline, group, offset: None, groups: Groups::Known([1, 1]) };
                let of_ranges =
                    (0..ranges.len() as u64).map(|n| n * UNIFORM_STEP + offset_of!(Params, ray_count) as u64);
                let copied_to = of_ranges.chain([(task_at + offset_of!(Task, count)) as u64]).collect();
                Some(CountedRays { step, counts, params, copied_to })
            }
        };
        let groups = |threads: u64, at: u64| match &counted {
            None => Groups::Known([threads.div_ceil(WORKGROUP) as u32, 1]),
            Some(counted) => Groups::Indirect(counted.counts.clone(), at),
        };
        let step = |pipeline: &ComputePipeline, group: &BindGroup, offset, groups| Step {
            pipeline: pipeline.clone(),
            group: group.clone(),
            offset,
            groups,
        };
        let mut steps = Vec::new();
        if let Some([(prepare, group), _]) = &around {
            steps.push(step(prepare, group, None, groups(count, PER_RAY)));
        }
        for n in 0..ranges.len() as u32 {
            let offset = Some(n * UNIFORM_STEP as u32);
            steps.push(step(
                &self.search_pipeline,
                &search,
                offset,
                groups(count.div_ceil(rays_per_thread), PER_SEARCH),
            ));
        }
        let finalized = self.finalize_pipeline.as_ref();
        steps.extend(finalized.map(|program| step(program, &finish, Some(0), groups(count, PER_RAY))));
        if let Some([_, (write, group)]) = &around {
            steps.push(step(write, group, None, groups(count.div_ceil(rays_per_word), PER_RESULT)));
        }
        // A query without a finalize program sets bits of its state, so the state must be zero at the start.
        let sets_bits = around.is_some() && self.finalize_pipeline.is_none();
        let cleared = sets_bits.then(|| (self.state.clone(), (self.kernels.state_bytes)(count)));
        Ok(CastPass { cleared, counted, steps })
    }
}

/// Returns a binding that contains the first `bytes` bytes of a slice, and their offset within it in words. The binding begins at the
/// last offset before the slice at which the device can bind.
pub(crate) fn window<'a>(
    gpu: &GpuEngine,
    what: &'static str,
    slice: &BufferSlice<'a>,
    bytes: u64,
) -> Result<(BufferBinding<'a>, u32)> {
    let (buffer, at) = (slice.buffer(), slice.offset());
    if !buffer.usage().contains(BufferUsages::STORAGE) {
        return Err(Error::InvalidArgument(format!(
            "{what}: the buffer must have the usage STORAGE, but has {:?}",
            buffer.usage()
        )));
    }
    if !at.is_multiple_of(4) {
        return Err(Error::InvalidArgument(format!(
            "{what}: the offset in the buffer is {at} bytes: it must be a multiple of 4"
        )));
    }
    let device = || gpu.name().into();
    if slice.size() < bytes {
        return Err(Error::TooLarge { what, asked: bytes, allowed: slice.size(), device: device() });
    }
    let before = at % u64::from(gpu.device.limits().min_storage_buffer_offset_alignment);
    let (asked, allowed) = (before + bytes, gpu.largest_binding());
    if asked > allowed {
        return Err(Error::TooLarge { what, asked, allowed, device: device() });
    }
    Ok((BufferBinding { buffer, offset: at - before, size: NonZeroU64::new(asked) }, (before / 4) as u32))
}

/// Creates the bind group of a program. A validation error of wgpu is about the caller's buffers: it becomes [`Error::InvalidArgument`].
pub(crate) async fn bound<const N: usize>(
    gpu: &GpuEngine,
    pipeline: &ComputePipeline,
    bound: [BufferBinding<'_>; N],
) -> Result<BindGroup> {
    let layout = pipeline.get_bind_group_layout(0);
    gpu.bind_group(&layout, (0..).zip(bound)).await.map_err(of_caller)
}

/// A validation error of wgpu about the caller's buffers.
fn of_caller(error: Error) -> Error {
    match error {
        Error::DeviceFailed { message, .. } => Error::InvalidArgument(format!("a buffer cannot be bound: {message}")),
        other => other,
    }
}

impl CastPass {
    /// Records the query into the caller's command encoder: one compute pass, or two if the number of rays is in a buffer. It allocates
    /// nothing on the device, submits nothing and waits for nothing. The encoder must belong to the same device. This cannot be checked here;
    /// wgpu reports it when the encoder is finished.
    pub fn encode(&self, encoder: &mut CommandEncoder) {
        if let Some((state, bytes)) = &self.cleared {
            encoder.clear_buffer(state, 0, Some(*bytes));
        }
        let description = wgpu::ComputePassDescriptor { label: Some("umbracast"), timestamp_writes: None };
        if let Some(CountedRays { step, counts, params, copied_to }) = &self.counted {
            step.record(&mut encoder.begin_compute_pass(&description));
            copied_to.iter().for_each(|at| encoder.copy_buffer_to_buffer(counts, 0, params, *at, 4));
        }
        let mut pass = encoder.begin_compute_pass(&description);
        self.steps.iter().for_each(|step| step.record(&mut pass));
    }
}
