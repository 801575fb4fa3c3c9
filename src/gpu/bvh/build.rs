//! LBVH builder on the GPU: runs the algorithm of `src/bvh/qbvh4` in shaders. The steps are Morton codes, a radix sort, AABBs of 8, 64,
//! ... neighbours, then the nodes level by level from the root. No workgroup waits for another one, so no atomics are needed between
//! workgroups. Only the counts of the sort are atomic, within a workgroup.

use std::iter::once;

use bytemuck::{Pod, Zeroable};
use wgpu::{BindGroup, Buffer, BufferBinding, BufferUsages, CommandEncoder, ComputePipeline};

use super::resident::{GpuBvh, LeafMotion, USAGE};
use crate::bvh::gpu_frame::GpuFrame;
use crate::bvh::qbvh4::build_lbvh::MortonGrid;
use crate::bvh::qbvh4::node::{MAX_LEAF_SPHERES, QBvh4, QNode4};
use crate::error::Result;
use crate::gpu::context::dispatch::{DispatchQueue, Groups, Step, THREADS};
use crate::gpu::context::pipelines::KernelConstants;
use crate::gpu::engine::GpuEngine;
use crate::gpu::programs::{self, Program};
use crate::gpu::uniforms::UNIFORM_STEP;
use crate::records::Sphere;
use crate::runtime::cancel::CancelToken;
use crate::runtime::memory::check_within;

/// Bits per pass of the radix sort. Eight would halve the number of passes, but need subgroups to be fast. This has not been measured.
const DIGIT: u32 = 4;
const PASSES: u32 = 64 / DIGIT;
const BINS: u32 = 1 << DIGIT;
/// Items per workgroup of the sort: `TILE` of `shaders/build/radix_digit.wgsl`.
const TILE: u32 = 2048;
/// Levels to build between two readbacks of the build state, after the first readback.
const LEVELS: u32 = 8;

/// The programs of a build, except `LEAF_MOTION`, which only moving spheres need.
const BUILD_PROGRAMS: [&Program; 10] = [
    &programs::MORTON_CODES,
    &programs::RADIX_COUNT,
    &programs::RADIX_SCAN,
    &programs::RADIX_SCATTER,
    &programs::LEAF_ORDER,
    &programs::LEAVES,
    &programs::AABB_REDUCE8,
    &programs::EMIT_NODES,
    &programs::NEXT_LEVEL,
    &programs::LINK_CHILDREN,
];

/// Uniform of the build programs. Twin of `BuildParams` in `shaders/build/common.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub(crate) struct BuildParams {
    pub(crate) count: u32,
    pub(crate) shift: u32,
    pub(crate) begin: u32,
    pub(crate) next: u32,
    pub(crate) low: [f32; 3],
    pub(crate) cells: f32,
    pub(crate) middle: [f32; 3],
    pub(crate) scale: f32,
    pub(crate) jobs: u32,
    pub(crate) zero: u32,
    pub(crate) least: f32,
    pub(crate) fastest: f32,
    pub(crate) half: f32,
    pub(crate) unused: [u32; 3],
}

/// State of the level-by-level build. Twin of `LevelState` in `shaders/build/level_state.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct LevelState {
    pub(crate) begin: u32,
    pub(crate) count: u32,
    pub(crate) next: u32,
    pub(crate) next_count: u32,
    pub(crate) depth: u32,
    pub(crate) unused: u32,
    pub(crate) link_dispatch: [u32; 3],
    pub(crate) emit_dispatch: [u32; 3],
    pub(crate) levels: [u32; 114],
}

impl LevelState {
    /// The state before the first level, which is the root.
    fn first() -> Self {
        Self { next_count: 1, emit_dispatch: [1; 3], ..Self::zeroed() }
    }
}

/// Bytes of as many nodes as a BVH over `count` spheres can have: a full node has four children, and a node that is not full contains more
/// spheres than a leaf.
fn most_nodes(count: u32) -> u64 {
    u64::from(count / 3 + 1) * size_of::<QNode4>() as u64
}

/// The most nodes of one level of a BVH over `count` spheres: every node but the root contains more spheres than a leaf.
fn widest_level(count: u32) -> u32 {
    count / (MAX_LEAF_SPHERES as u32 + 1) + 1
}

/// The build of the nodes, one level per round: programs with their bind groups, one per parity of the level where both differ.
struct Levels {
    open: (ComputePipeline, [BindGroup; 2]),
    next: (ComputePipeline, BindGroup),
    number: (ComputePipeline, [BindGroup; 2]),
    nodes: Buffer,
    control: Buffer,
    /// The range of spheres of the root.
    first_part: Buffer,
}

/// A build and a refit that are recorded into a caller's encoder, any number of times.
pub(crate) struct RecordedBuild {
    /// Computes the order of the spheres.
    sort: Vec<Step>,
    /// Writes the spheres in this order, and the AABBs of neighbours.
    leaves: Vec<Step>,
    nodes: Vec<Step>,
    /// Fits the nodes to the leaves, in place of `nodes`.
    refit: Step,
    /// State and range of the root before the first level, each with its copy.
    reset: [(Buffer, Buffer); 2],
    /// The state, which knows the number of nodes, and the parameters of the refit, which need it.
    control: Buffer,
    refit_params: Buffer,
}

impl RecordedBuild {
    /// Records a build. `take` precedes it in the same pass.
    pub(crate) fn build(&self, encoder: &mut CommandEncoder, take: &Step) {
        for (from, to) in &self.reset {
            encoder.copy_buffer_to_buffer(from, 0, to, 0, from.size().min(to.size()));
        }
        {
            let mut pass = encoder.begin_compute_pass(&PASS);
            let steps = self.sort.iter().chain(&self.leaves).chain(&self.nodes);
            once(take).chain(steps).for_each(|step| step.record(&mut pass));
        }
        let (next, jobs) = (std::mem::offset_of!(LevelState, next), std::mem::offset_of!(BuildParams, jobs));
        encoder.copy_buffer_to_buffer(&self.control, next as u64, &self.refit_params, jobs as u64, 4);
    }

    /// Records a refit. `take` precedes it in the same pass.
    pub(crate) fn refit(&self, encoder: &mut CommandEncoder, take: &Step) {
        let mut pass = encoder.begin_compute_pass(&PASS);
        let steps = self.leaves.iter().chain([&self.refit]);
        once(take).chain(steps).for_each(|step| step.record(&mut pass));
    }
}

const PASS: wgpu::ComputePassDescriptor<'static> =
    wgpu::ComputePassDescriptor { label: Some("umbracast build"), timestamp_writes: None };

/// Bytes of an item of the sort, one item per sphere: three words, the Morton code and the sphere's position.
const ITEM_BYTES: u64 = 12;
/// Bytes of an AABB.
const BOX_BYTES: u64 = 32;

/// The number of AABBs of 8 spheres, of 64 spheres, and so on.
fn box_levels(count: u32) -> Vec<u32> {
    std::iter::successors(Some(count / 8), |n| Some(n / 8)).take_while(|n| *n > 0).collect()
}

/// Builder of a BVH: records the dispatches of the build programs, with their parameters.
pub(crate) struct LbvhBuilder<'a> {
    pub(crate) gpu: &'a GpuEngine,
    pub(crate) steps: DispatchQueue<'a>,
    pub(crate) params: BuildParams,
    motion: Option<LeafMotion<'a>>,
}

impl<'a> LbvhBuilder<'a> {
    pub(crate) fn new(gpu: &'a GpuEngine, count: u32, frame: &GpuFrame, motion: Option<LeafMotion<'a>>) -> Self {
        let MortonGrid { low, cells } = MortonGrid::new(frame);
        let GpuFrame { scale, middle, .. } = *frame;
        let least = (f64::from(scale) * (-149f64).exp2()) as f32;
        let (fastest, half) = motion.map_or((0.0, -1.0), |motion| motion.scaled_limits(frame));
        let params = BuildParams { count, low, cells, middle, scale, least, fastest, half, ..BuildParams::default() };
        Self { gpu, steps: DispatchQueue::new(gpu), params, motion }
    }

    /// Uploads the parameters of several dispatches into one uniform buffer, `UNIFORM_STEP` bytes apart.
    pub(crate) async fn upload_params(&self, all_params: &[BuildParams]) -> Result<Buffer> {
        let mut bytes = vec![0; all_params.len().max(1) * UNIFORM_STEP as usize];
        for (params, own) in all_params.iter().zip(bytes.chunks_exact_mut(UNIFORM_STEP as usize)) {
            own[..size_of::<BuildParams>()].copy_from_slice(bytemuck::bytes_of(params));
        }
        let usage = BufferUsages::UNIFORM | BufferUsages::COPY_DST;
        let buffer = self.gpu.buffer("parameters of the BVH builder", bytes.len() as u64, usage).await?;
        self.gpu.write(&buffer, &bytes).await?;
        Ok(buffer)
    }

    pub(crate) async fn pipeline(&self, program: &Program) -> Result<ComputePipeline> {
        self.gpu.pipeline(program, KernelConstants::default()).await
    }

    /// Bind group of a dispatch: entry `n` of `params_buffer` at binding 0, then `buffers` from binding 1 on.
    pub(crate) async fn bind(
        &self,
        pipeline: &ComputePipeline,
        (params_buffer, n): (&Buffer, usize),
        buffers: &[&Buffer],
    ) -> Result<BindGroup> {
        let size = std::num::NonZeroU64::new(size_of::<BuildParams>() as u64);
        let params = BufferBinding { buffer: params_buffer, offset: n as u64 * UNIFORM_STEP, size };
        let bindings = once(params).chain(buffers.iter().map(|buffer| buffer.as_entire_buffer_binding()));
        self.gpu.bind_group(&pipeline.get_bind_group_layout(0), (0..).zip(bindings)).await
    }

    /// Records one dispatch of `threads` threads, rounded up to whole workgroups.
    pub(crate) async fn step(
        &mut self,
        program: &Program,
        params_buffer: (&Buffer, usize),
        buffers: &[&Buffer],
        threads: u32,
    ) -> Result<()> {
        let pipeline = self.pipeline(program).await?;
        let group = self.bind(&pipeline, params_buffer, buffers).await?;
        self.steps.dispatch(&pipeline, &group, Groups::in_rows(threads.div_ceil(THREADS)), u64::from(threads)).await
    }

    pub(crate) async fn scratch(&self, what: &'static str, bytes: u64) -> Result<Buffer> {
        self.gpu.buffer(what, bytes, USAGE).await
    }

    /// Computes the Morton codes of the spheres and sorts them. Returns the codes, and the positions of the spheres in their order.
    async fn sorted(&mut self, spheres: &Buffer) -> Result<(Buffer, Buffer)> {
        let count = self.params.count;
        let tiles = count.div_ceil(TILE);
        let shifts = (0..PASSES).map(|pass| BuildParams { shift: pass * DIGIT, jobs: tiles, ..self.params });
        let params_buffer = self.upload_params(&shifts.collect::<Vec<_>>()).await?;
        let items = [
            self.scratch("BVH sort keys", u64::from(count) * ITEM_BYTES).await?,
            self.scratch("BVH sort keys", u64::from(count) * ITEM_BYTES).await?,
        ];
        let counts = self.scratch("BVH sort counts", u64::from(BINS) * (u64::from(tiles) + 1) * 4).await?;
        self.step(&programs::MORTON_CODES, (&params_buffer, 0), &[spheres, &items[0]], count).await?;
        for pass in 0..PASSES as usize {
            let (from, to) = (&items[pass % 2], &items[(pass + 1) % 2]);
            self.step(&programs::RADIX_COUNT, (&params_buffer, pass), &[from, &counts], tiles * THREADS).await?;
            self.step(&programs::RADIX_SCAN, (&params_buffer, pass), &[&counts], BINS * THREADS).await?;
            self.step(&programs::RADIX_SCATTER, (&params_buffer, pass), &[from, &counts, to], tiles * THREADS).await?;
        }
        let [sorted, _] = items;
        let order = self.scratch("BVH sphere order", u64::from(count) * 4).await?;
        let params_buffer = self.upload_params(&[self.params]).await?;
        self.step(&programs::LEAF_ORDER, (&params_buffer, 0), &[&sorted, &order], count).await?;
        Ok((sorted, order))
    }

    /// Writes the spheres in leaf order, followed by their motion if they move, and the AABBs of 8, 64, ... of them. Returns both
    /// buffers.
    pub(crate) async fn leaves(&mut self, spheres: &Buffer, order: &Buffer) -> Result<(Buffer, Buffer)> {
        let count = self.params.count;
        let levels = box_levels(count);
        let boxes = self.scratch("BVH bounds", u64::from(levels.iter().sum::<u32>().max(1)) * BOX_BYTES).await?;
        let records = if self.motion.is_some() { 2 } else { 1 };
        let leaves = self.scratch("BVH leaves", records * u64::from(count) * size_of::<Sphere>() as u64).await?;
        let mut all_params = vec![self.params];
        let mut begin = 0;
        for pair in levels.windows(2) {
            all_params.push(BuildParams { begin, next: begin + pair[0], jobs: pair[1], ..self.params });
            begin += pair[0];
        }
        let params_buffer = self.upload_params(&all_params).await?;
        if let Some(LeafMotion { attributes, .. }) = self.motion {
            self.step(&programs::LEAF_MOTION, (&params_buffer, 0), &[order, attributes, &leaves], count).await?;
        }
        let buffers = [spheres, order, &leaves, &boxes];
        self.step(&programs::LEAVES, (&params_buffer, 0), &buffers, count.div_ceil(8)).await?;
        for (n, params) in all_params.iter().enumerate().skip(1) {
            self.step(&programs::AABB_REDUCE8, (&params_buffer, n), &[&boxes], params.jobs).await?;
        }
        Ok((leaves, boxes))
    }

    /// Prepares the build of the nodes.
    async fn levels(&self, items: &Buffer, leaves: &Buffer, boxes: &Buffer) -> Result<Levels> {
        let (gpu, count) = (self.gpu, self.params.count);
        let nodes = self.scratch("BVH nodes", most_nodes(count).min(gpu.largest_binding() / 64 * 64)).await?;
        let widest = widest_level(count);
        let parts = [
            self.scratch("BVH build ranges", u64::from(widest) * 8).await?,
            self.scratch("BVH build ranges", u64::from(widest) * 8).await?,
        ];
        let children = self.scratch("BVH build children", u64::from(widest) * 16).await?;
        let found = self.scratch("BVH build counts", u64::from(widest.div_ceil(THREADS)) * 4).await?;
        let usage = USAGE | BufferUsages::INDIRECT;
        let control = gpu.buffer("BVH build state", size_of::<LevelState>() as u64, usage).await?;
        let params_buffer = self.upload_params(&[self.params]).await?;
        let [open, level, number] = [
            self.pipeline(&programs::EMIT_NODES).await?,
            self.pipeline(&programs::NEXT_LEVEL).await?,
            self.pipeline(&programs::LINK_CHILDREN).await?,
        ];
        let opening = async |n: usize| {
            let buffers = [leaves, boxes, &nodes, items, &control, &parts[n], &children, &found];
            self.bind(&open, (&params_buffer, 0), &buffers).await
        };
        let numbering = async |n: usize| {
            self.bind_only(&number, &[&control, &found, &nodes, &parts[n], &children, &parts[1 - n]]).await
        };
        let openings = [opening(0).await?, opening(1).await?];
        let next_level = self.bind_only(&level, &[&control, &found]).await?;
        let numberings = [numbering(0).await?, numbering(1).await?];
        let [first_part, _] = parts;
        Ok(Levels {
            open: (open, openings),
            next: (level, next_level),
            number: (number, numberings),
            nodes,
            control,
            first_part,
        })
    }

    /// Records the build of one level. Rounds after the last level do nothing.
    async fn round(&mut self, levels: &Levels, depth: u32, threads: u64) -> Result<()> {
        let n = depth as usize % 2;
        let Levels { open, next, number, control, .. } = levels;
        // What is recorded for later has as many workgroups as the level can need: wgpu checks each indirect dispatch by one more.
        let nodes = 4u32.saturating_pow(depth).min(widest_level(self.params.count));
        let most = self.steps.collected.is_some().then(|| Groups::in_rows(nodes.div_ceil(THREADS)));
        let offset = |field: usize| most.clone().unwrap_or_else(|| Groups::Indirect(control.clone(), field as u64));
        let (opens, numbers) =
            (std::mem::offset_of!(LevelState, emit_dispatch), std::mem::offset_of!(LevelState, link_dispatch));
        self.steps.dispatch(&open.0, &open.1[n], offset(opens), 8 * threads).await?;
        self.steps.dispatch(&next.0, &next.1, Groups::in_rows(1), u64::from(THREADS)).await?;
        self.steps.dispatch(&number.0, &number.1[n], offset(numbers), threads).await
    }

    /// Builds the nodes, level by level. Returns them and the end of each level.
    async fn nodes(&mut self, items: &Buffer, leaves: &Buffer, boxes: &Buffer) -> Result<(Buffer, Vec<u32>)> {
        let (gpu, count) = (self.gpu, self.params.count);
        let levels = self.levels(items, leaves, boxes).await?;
        let Levels { nodes, control, first_part, .. } = &levels;
        gpu.write(control, &[LevelState::first()]).await?;
        gpu.write(first_part, &[[0, count]]).await?;
        let staging = gpu.staging_buffer("BVH build state", size_of::<LevelState>() as u64).await?;
        let mut depth = 0;
        let mut rounds = count.ilog(4) + 3;
        let done = loop {
            for _ in 0..rounds {
                // As a rule, all levels together have fewer than `count / 5` nodes.
                self.round(&levels, depth, u64::from(count / 5 / rounds)).await?;
                depth += 1;
            }
            self.steps.finish().await?;
            let mut seen = [LevelState::zeroed()];
            gpu.read(control, &staging, &mut seen).await?;
            let [seen] = seen;
            if seen.next_count == 0 {
                break seen;
            }
            if depth as usize > QBvh4::MAX_LEVELS + LEVELS as usize {
                return Err(gpu.failed("the build of a BVH did not terminate".into()));
            }
            rounds = LEVELS;
        };
        let ends = done.levels.get(..done.depth as usize).unwrap_or_default().to_vec();
        let asked = u64::from(done.next) * size_of::<QNode4>() as u64;
        check_within("BVH nodes", asked, nodes.size(), gpu.name())?;
        let fitted = self.scratch("BVH nodes", asked).await?;
        gpu.wait(gpu.submit(|encoder| encoder.copy_buffer_to_buffer(nodes, 0, &fitted, 0, asked)).await?).await?;
        Ok((fitted, ends))
    }

    /// Bind group of a program without parameters: `buffers` from binding 1 on.
    async fn bind_only(&self, pipeline: &ComputePipeline, buffers: &[&Buffer]) -> Result<BindGroup> {
        let numbered: Vec<_> = (1..).zip(buffers.iter().copied()).collect();
        self.gpu.bind(pipeline, &numbered).await
    }
}

impl GpuBvh {
    /// Prepares builds and refits of a BVH over the first `count` spheres of a buffer, at least one, that are recorded later. The BVH is
    /// empty until the first build.
    pub(crate) async fn recorded(
        gpu: &GpuEngine,
        spheres: &Buffer,
        count: u32,
        frame: &GpuFrame,
    ) -> Result<(Self, RecordedBuild)> {
        gpu.prepare(&BUILD_PROGRAMS.map(|program| (program, KernelConstants::default(), None)));
        // With fewer bytes a build could end before its last node.
        check_within("BVH nodes", most_nodes(count), gpu.largest_binding(), gpu.name())?;
        let mut builder = LbvhBuilder::new(gpu, count, frame, None);
        builder.steps.collected = Some(Vec::new());
        let taken = |builder: &mut LbvhBuilder<'_>| builder.steps.collected.replace(Vec::new()).unwrap_or_default();
        let (items, order) = builder.sorted(spheres).await?;
        let sort = taken(&mut builder);
        let (leaves, boxes) = builder.leaves(spheres, &order).await?;
        let leaf_steps = taken(&mut builder);
        let levels = builder.levels(&items, &leaves, &boxes).await?;
        // No BVH has more levels, so no build is cut off.
        for depth in 0..QBvh4::MAX_LEVELS as u32 {
            builder.round(&levels, depth, 0).await?;
        }
        let nodes = taken(&mut builder);
        let refit_params = builder.upload_params(&[builder.params]).await?;
        let threads = count / 3 + 1;
        builder.step(&programs::REFIT, (&refit_params, 0), &[&leaves, &boxes, &levels.nodes], threads).await?;
        let refit = taken(&mut builder).swap_remove(0);
        let Levels { nodes: node_buffer, control, first_part, .. } = levels;
        let reset = [
            (gpu.filled("first BVH build state", &[LevelState::first()]).await?, control.clone()),
            (gpu.filled("first BVH build range", &[[0, count]]).await?, first_part),
        ];
        let bvh = Self { nodes: node_buffer, order, leaves, node_count: 0, levels: vec![0; QBvh4::MAX_LEVELS] };
        Ok((bvh, RecordedBuild { sort, leaves: leaf_steps, nodes, refit, reset, control, refit_params }))
    }

    /// Builds a BVH over the first `count` spheres of a buffer; `count` is at least 1.
    pub(crate) async fn build(
        gpu: &GpuEngine,
        spheres: &Buffer,
        count: u32,
        frame: &GpuFrame,
        motion: Option<LeafMotion<'_>>,
        cancel: &CancelToken,
    ) -> Result<Self> {
        gpu.prepare(&BUILD_PROGRAMS.map(|program| (program, KernelConstants::default(), None)));
        let mut builder = LbvhBuilder::new(gpu, count, frame, motion);
        builder.steps.cancel = cancel.clone();
        let (items, order) = builder.sorted(spheres).await?;
        let (leaves, boxes) = builder.leaves(spheres, &order).await?;
        let (nodes, levels) = builder.nodes(&items, &leaves, &boxes).await?;
        let node_count = levels.last().copied().unwrap_or(0);
        Ok(Self { nodes, order, leaves, node_count, levels })
    }
}
