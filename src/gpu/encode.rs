//! Queries as steps of the caller's own command encoder, over the caller's own buffers.

use std::num::NonZeroU64;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use wgpu::{BindGroup, Buffer, BufferBinding, BufferSlice, BufferUsages, CommandEncoder, ComputePipeline};

use super::gather::{Gather, Records, Words};
use super::params::{Params, UNIFORM_STEP};
use super::pipelines::Overrides;
use super::{GpuDevice, GpuScene};
use crate::encode::Question;
use crate::error::{Error, Result};
use crate::query::{Precision, Query};
use crate::records::{Approach, Hit, Interval, Ray};
use crate::wgsl::{self, Program};

/// Threads a workgroup, in every program.
const WORKGROUP: u64 = 64;
/// Bytes of a ray.
const RAY: u64 = size_of::<Ray>() as u64;
/// Bytes of the counts.
const STATUS: u64 = 16;

/// What a query is told of the caller's buffers. Twin of `shaders/task.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(crate) struct Task {
    pub(crate) count: u32,
    pub(crate) rays_at: u32,
    pub(crate) out_at: u32,
    pub(crate) status_at: u32,
    pub(crate) width: u32,
    pub(crate) approach: u32,
}

/// A question's programs, and what it keeps of rays.
struct Programs {
    search: &'static Program,
    walk: Option<&'static Program>,
    rays_a_thread: u64,
    finish: Option<&'static Program>,
    state: fn(u64) -> u64,
    results: fn(u64) -> u64,
}

impl Programs {
    fn of<G: Gather>() -> Self {
        Self {
            search: G::SEARCH,
            walk: G::WALK,
            rays_a_thread: G::RAYS,
            finish: G::FINISH,
            state: G::state_bytes,
            results: G::result_bytes,
        }
    }

    fn for_question(question: Question) -> Self {
        match question {
            Question::Closest => Self::of::<Records<'_, Hit>>(),
            Question::Interval => Self::of::<Records<'_, Interval>>(),
            Question::Approach => Self::of::<Records<'_, Approach>>(),
            Question::Occluded => Self::of::<Words<'_>>(),
        }
    }
}

/// A question made ready to be encoded: its pipelines, and the memory it works in. Made by [`Scene::plan`](crate::Scene::plan),
/// where the contract is told; its passes share that memory, so they run one after the other, which wgpu sees to.
pub struct CastPlan {
    gpu: Arc<GpuDevice>,
    scene: Arc<GpuScene>,
    question: Question,
    most: u64,
    /// What all dispatches are told alike.
    params: Params,
    programs: Programs,
    walks: bool,
    admit: ComputePipeline,
    search: ComputePipeline,
    finish: Option<ComputePipeline>,
    deliver: ComputePipeline,
    rays: Buffer,
    state: Buffer,
    results: Buffer,
    /// For callers that do not want the counts, and as the spheres of an empty scene.
    spare: Buffer,
}

/// One dispatch.
struct Step {
    pipeline: ComputePipeline,
    group: BindGroup,
    offset: Option<u32>,
    groups: u32,
}

/// A plan bound to buffers: what [`CastPlan::bind`] made. It keeps alive all that it needs, the scene's buffers included.
pub struct CastPass {
    /// What is to be zero before the first step.
    cleared: Option<(Buffer, u64)>,
    steps: Vec<Step>,
}

impl CastPlan {
    pub(crate) async fn new(
        gpu: &Arc<GpuDevice>,
        scene: &Arc<GpuScene>,
        question: Question,
        most: u64,
        query: &Query,
    ) -> Result<Self> {
        let refuse = |why: &str, instead| {
            let device = gpu.name().into();
            Err(Error::NoPrecision { device, asked: query.precision.word(), why: why.into(), instead })
        };
        if query.precision == Precision::Exact {
            return refuse(
                "what f32 leaves open is settled on the host, where an encoded query never is",
                "fast or standard",
            );
        }
        gpu.check_precision(query.precision)?;
        if scene.facts.changed {
            return Err(Error::Usage(
                "an encoded query knows spheres at rest alone: moving ones and ellipsoids cannot be asked by one"
                    .into(),
            ));
        }
        let too_large = |what, asked, allowed| Err(Error::TooLarge { what, asked, allowed, device: gpu.name().into() });
        if let [first, rest @ ..] = &scene.parts[..]
            && !rest.is_empty()
        {
            let spheres: u64 = scene.parts.iter().map(|part| u64::from(part.count)).sum();
            return too_large("the spheres of an encoded query", spheres * 16, u64::from(first.count) * 16);
        }
        let groups = u64::from(gpu.device.limits().max_compute_workgroups_per_dimension);
        let allowed = gpu.largest_binding().min(groups * WORKGROUP * RAY).min(u64::from(u32::MAX));
        if most > allowed / RAY {
            return too_large("the rays of an encoded query", most.saturating_mul(RAY), allowed);
        }
        let programs = Programs::for_question(question);
        let fast = query.precision == Precision::Fast;
        let own = Overrides { fast, picky: scene.facts.masked, ..Overrides::default() };
        let walk = programs.walk.filter(|_| scene.is_planted());
        let storage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let results = if programs.finish.is_some() { (programs.results)(most) } else { 0 };
        Ok(Self {
            question,
            most,
            params: Params { steps: gpu.steps(), ..scene.framed(Params::of(query)) },
            walks: walk.is_some(),
            admit: gpu.pipeline(&wgsl::ADMIT, Overrides::default()).await?,
            search: gpu.cast_pipeline(walk.unwrap_or(programs.search), own).await?,
            finish: match programs.finish {
                Some(program) => Some(gpu.cast_pipeline(program, own).await?),
                None => None,
            },
            deliver: gpu.pipeline(&wgsl::DELIVER, Overrides::default()).await?,
            rays: gpu.buffer("encoded rays", most * RAY, storage).await?,
            state: gpu.buffer("encoded state", (programs.state)(most), storage).await?,
            results: gpu.buffer("encoded results", results, storage).await?,
            spare: gpu.buffer("unwanted counts", STATUS, storage).await?,
            programs,
            gpu: gpu.clone(),
            scene: scene.clone(),
        })
    }

    /// Rays that a pass may have.
    pub fn most_rays(&self) -> u64 {
        self.most
    }

    /// Binds the plan to `count` rays of the caller's and to where their answers go; with `status`, to where they are counted.
    /// See [`Scene::plan`](crate::Scene::plan) for what the three hold. Do it once for the same buffers and the same number of
    /// rays, not each frame: it makes a few bind groups and one small buffer, and nothing is written but that one.
    ///
    /// # Errors
    /// [`Error::TooLarge`] with figures when there are more rays than the plan has room for, or a slice is smaller than they need;
    /// [`Error::Usage`] for a buffer without `STORAGE`, one of another device, one that was destroyed, one in two places, and an
    /// offset that is not a multiple of 4. No error is left on the device. A buffer of another [`wgpu::Instance`] is never to be
    /// given: wgpu 30 takes it for one of this instance.
    pub async fn bind(
        &self,
        count: u64,
        rays: BufferSlice<'_>,
        out: BufferSlice<'_>,
        status: Option<BufferSlice<'_>>,
    ) -> Result<CastPass> {
        let gpu = &*self.gpu;
        if count > self.most {
            let (asked, allowed, device) = (count.saturating_mul(RAY), self.most * RAY, gpu.name().into());
            return Err(Error::TooLarge { what: "the rays of a pass", asked, allowed, device });
        }
        let width = self.question.width();
        let answers = if width == 0 { count.div_ceil(32) * 4 } else { count * width * 4 };
        let (given, rays_at) = self.window("the rays", &rays, count * RAY)?;
        let (answered, out_at) = self.window("the answers", &out, answers)?;
        let (counted, status_at) = match &status {
            Some(status) => self.window("the status", status, STATUS)?,
            None => (self.spare.as_entire_buffer_binding(), 0),
        };
        let same = |a: &BufferBinding<'_>, b: &BufferBinding<'_>| a.buffer == b.buffer;
        if same(&given, &answered) || same(&given, &counted) || same(&answered, &counted) {
            return Err(Error::Usage("rays, answers and status must be three buffers".into()));
        }
        if count == 0 {
            return Ok(CastPass { cleared: None, steps: Vec::new() });
        }
        let part = self.scene.parts.first();
        let spheres = part.map_or(0, |part| part.count);
        // Somebody has to say that every ray misses.
        let ranges = part.map_or_else(|| vec![(0, 0)], |part| part.ranges(self.walks).collect());
        let task_at = ranges.len() * UNIFORM_STEP as usize;
        let task = Task {
            count: count as u32,
            rays_at,
            out_at,
            status_at,
            width: width as u32,
            approach: u32::from(self.question == Question::Approach),
        };
        let mut told = vec![0u8; task_at + size_of::<Task>()];
        for (n, (begin, end)) in ranges.iter().enumerate() {
            let params = Params {
                ray_count: count as u32,
                sphere_begin: *begin,
                sphere_end: *end,
                sphere_count: spheres,
                fresh: u32::from(n == 0),
                ..self.params
            };
            let at = n * UNIFORM_STEP as usize;
            told[at..at + size_of::<Params>()].copy_from_slice(bytemuck::bytes_of(&params));
        }
        told[task_at..].copy_from_slice(bytemuck::bytes_of(&task));
        let params =
            gpu.buffer("encoded params", told.len() as u64, BufferUsages::UNIFORM | BufferUsages::COPY_DST).await?;

        let task = BufferBinding { buffer: &params, offset: task_at as u64, size: None };
        let found = if self.finish.is_some() { &self.results } else { &self.state };
        let rays = self.rays.as_entire_buffer_binding();
        let admit = self.group(&self.admit, [task.clone(), given.clone(), rays.clone()]).await?;
        let found = found.as_entire_buffer_binding();
        let deliver = self.group(&self.deliver, [task, given, rays, found, answered, counted]).await?;
        // No ray brings anything along.
        let own = [&params, &self.rays, &self.state, &self.results, &gpu.no_extra];
        let [search, finish] = match part {
            Some(part) => part.groups(gpu, own, self.walks).await?,
            None => {
                let group = gpu.cast_group(own, [&self.spare, &gpu.every_bit], None).await?;
                [group.clone(), group]
            }
        };
        gpu.write(&params, &told).await?;

        let groups = |threads: u64| threads.div_ceil(WORKGROUP) as u32;
        let step = |pipeline: &ComputePipeline, group: &BindGroup, offset, groups| Step {
            pipeline: pipeline.clone(),
            group: group.clone(),
            offset,
            groups,
        };
        let mut steps = vec![step(&self.admit, &admit, None, groups(count))];
        let rays_a_thread = if self.walks { 1 } else { self.programs.rays_a_thread };
        for n in 0..ranges.len() as u32 {
            let offset = Some(n * UNIFORM_STEP as u32);
            steps.push(step(&self.search, &search, offset, groups(count.div_ceil(rays_a_thread))));
        }
        steps.extend(self.finish.as_ref().map(|program| step(program, &finish, Some(0), groups(count))));
        let threads = if width == 0 { count.div_ceil(32) } else { count };
        steps.push(step(&self.deliver, &deliver, None, groups(threads)));
        // What has no finish sets bits.
        let cleared = self.finish.is_none().then(|| (self.state.clone(), (self.programs.state)(count)));
        Ok(CastPass { cleared, steps })
    }

    /// The first `bytes` of a slice, bound from where a device can bind; and how many words before them.
    fn window<'a>(&self, what: &'static str, slice: &BufferSlice<'a>, bytes: u64) -> Result<(BufferBinding<'a>, u32)> {
        let (buffer, at) = (slice.buffer(), slice.offset());
        if !buffer.usage().contains(BufferUsages::STORAGE) {
            return Err(Error::Usage(format!(
                "{what}: the buffer needs the usage STORAGE and has {:?}",
                buffer.usage()
            )));
        }
        if !at.is_multiple_of(4) {
            return Err(Error::Usage(format!("{what}: byte {at} of the buffer is not a multiple of 4")));
        }
        let device = || self.gpu.name().into();
        if slice.size() < bytes {
            return Err(Error::TooLarge { what, asked: bytes, allowed: slice.size(), device: device() });
        }
        let before = at % u64::from(self.gpu.device.limits().min_storage_buffer_offset_alignment);
        let (asked, allowed) = (before + bytes, self.gpu.largest_binding());
        if asked > allowed {
            return Err(Error::TooLarge { what, asked, allowed, device: device() });
        }
        Ok((BufferBinding { buffer, offset: at - before, size: NonZeroU64::new(asked) }, (before / 4) as u32))
    }

    /// Binds a program's buffers; what wgpu has against them is against the caller's.
    async fn group<const N: usize>(
        &self,
        pipeline: &ComputePipeline,
        bound: [BufferBinding<'_>; N],
    ) -> Result<BindGroup> {
        let entries = (0..)
            .zip(bound)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: wgpu::BindingResource::Buffer(buffer) });
        let entries: Vec<_> = entries.collect();
        let bound = self.gpu.scoped(|| {
            self.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &pipeline.get_bind_group_layout(0),
                entries: &entries,
            })
        });
        bound.await.map_err(|error| match error {
            Error::DeviceFailed { message, .. } => Error::Usage(format!("a buffer cannot be bound: {message}")),
            other => other,
        })
    }
}

impl CastPass {
    /// Adds the query to the caller's commands, as one compute pass. Nothing is allocated on the device, submitted or waited for.
    /// The encoder must be of the same device, which cannot be checked here: wgpu says so when it is finished.
    pub fn encode(&self, encoder: &mut CommandEncoder) {
        if let Some((state, bytes)) = &self.cleared {
            encoder.clear_buffer(state, 0, Some(*bytes));
        }
        let mut pass = encoder
            .begin_compute_pass(&wgpu::ComputePassDescriptor { label: Some("umbracast"), timestamp_writes: None });
        for step in &self.steps {
            pass.set_pipeline(&step.pipeline);
            pass.set_bind_group(0, &step.group, step.offset.as_slice());
            pass.dispatch_workgroups(step.groups, 1, 1);
        }
    }
}
