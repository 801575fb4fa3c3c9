//! The GPU engine: a device with its probe, its pipelines, the layout of a cast, and staging buffers for later casts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::iter::once;
use std::num::NonZeroU64;
use std::ops::Deref;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Waker};

use wgpu::BufferUsages;

use super::bvh::resident::GpuBvh;
use super::cast::kernels::Kernels;
use super::cast::staging::StagingPool;
use super::context::adapters::shares_loads;
use super::context::device::{GpuContext, lock};
use super::context::pipelines::{KernelConstants, Variant, cast_layout, constant};
use super::probe::{self, Probe, RESULTS, ROWS};
use super::programs::{self, Program, ShaderEdit};
use super::uniforms::Params;
use crate::error::{Error, Result};
use crate::query::policy::{Precision, Query};
use crate::records::RayAttributes;
use crate::runtime::Limits;
use crate::runtime::block_on::BoxedFuture;
#[cfg(not(target_arch = "wasm32"))]
use crate::runtime::map_tasks;

/// A pipeline, the error of its creation, or the place where it is being created.
type Slot = Arc<OnceLock<Result<wgpu::ComputePipeline>>>;

/// A program, its constants, and its layout unless it has its own.
pub(crate) type Asked<'a> = (&'a Program, KernelConstants, Option<&'a wgpu::PipelineLayout>);

/// An opened GPU that runs queries.
pub(crate) struct GpuEngine {
    context: GpuContext,
    pub(crate) probe: Probe,
    pipelines: Mutex<HashMap<Variant, Slot>>,
    /// The layout that all programs of a cast share.
    pub(crate) cast: (wgpu::BindGroupLayout, wgpu::PipelineLayout),
    /// Bound in place of missing attributes: masks with all bits set for spheres, `RayAttributes::NONE` for rays.
    pub(crate) every_bit: wgpu::Buffer,
    pub(crate) no_ray_attributes: wgpu::Buffer,
    /// Staging buffers for later casts.
    pub(crate) staging: StagingPool,
    /// Whether this device could not build a BVH.
    pub(crate) builder_failed: AtomicBool,
}

impl Deref for GpuEngine {
    type Target = GpuContext;

    fn deref(&self) -> &GpuContext {
        &self.context
    }
}

impl GpuEngine {
    /// Creates an engine without running the probe.
    pub(crate) fn new(context: GpuContext) -> Self {
        let device = &context.device;
        Self {
            cast: cast_layout(device),
            every_bit: constant(device, "all mask bits", &[0xff; 16]),
            no_ray_attributes: constant(device, "default ray attributes", &RayAttributes::NONE.uploaded()),
            probe: Probe::default(),
            pipelines: Mutex::default(),
            staging: StagingPool::default(),
            builder_failed: AtomicBool::new(false),
            context,
        }
    }

    /// Returns [`Error::NoPrecision`] if the probe found that this device cannot guarantee `precision`, or, for `Auto`, any of them.
    pub(crate) fn check_precision(&self, precision: Precision) -> Result<()> {
        let refuse = |why: &String, instead| {
            Err(Error::NoPrecision { device: self.name().into(), asked: precision.word(), why: why.clone(), instead })
        };
        match (precision, &self.probe.failure, &self.probe.broken) {
            (_, _, Some(why)) => refuse(why, "the CPU engine"),
            (Precision::Auto | Precision::Standard, Some(why), None) => refuse(why, "fast or exact, or the CPU engine"),
            _ => Ok(()),
        }
    }

    pub(crate) fn probe(&self) -> &Probe {
        &self.probe
    }

    /// Returns the pipeline of a program with its own layout; created at first use.
    pub(crate) async fn pipeline(&self, program: &Program, own: KernelConstants) -> Result<wgpu::ComputePipeline> {
        self.check()?;
        self.create((program, own, None)).await
    }

    /// Bind group of a cast's programs: parameters, rays, state, results, ray attributes; the spheres of one part and their attributes;
    /// and a BVH.
    pub(crate) async fn cast_group(
        &self,
        [params, rays, state, results, ray_attributes]: [wgpu::BufferBinding<'_>; 5],
        [spheres, attributes]: [&wgpu::Buffer; 2],
        bvh: Option<&GpuBvh>,
    ) -> Result<wgpu::BindGroup> {
        // Programs that do not traverse a BVH never read these two bindings.
        let (nodes, order) = bvh.map_or((spheres, spheres), |bvh| (&bvh.nodes, &bvh.order));
        let params = wgpu::BufferBinding { size: NonZeroU64::new(size_of::<Params>() as u64), ..params };
        let [spheres, nodes, order, attributes] =
            [spheres, nodes, order, attributes].map(wgpu::Buffer::as_entire_buffer_binding);
        let bindings = [params, spheres, rays, state, results, nodes, order, ray_attributes, attributes];
        self.bind_group(&self.cast.0, (0..).zip(bindings)).await
    }

    /// Returns the pipelines of a cast, which share one layout: the search, by traversal or by brute force, and the one that finalizes its
    /// results. Created at first use, both at the same time.
    pub(crate) async fn cast_pipelines(
        &self,
        kernels: &Kernels,
        traverses: bool,
        own: KernelConstants,
    ) -> Result<(wgpu::ComputePipeline, Option<wgpu::ComputePipeline>)> {
        let layout = Some(&self.cast.1);
        let search = kernels.bvh.filter(|_| traverses).unwrap_or(kernels.brute_force);
        self.prepare(&Vec::from_iter(once(search).chain(kernels.finalize).map(|program| (program, own, layout))));
        self.check()?;
        let search = self.create((search, own, layout)).await?;
        let finalize = match kernels.finalize {
            Some(program) => Some(self.create((program, own, layout)).await?),
            None => None,
        };
        Ok((search, finalize))
    }

    /// Creates pipelines in parallel, so that later calls find them. What fails is created again, and reported, by its user.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn prepare(&self, asked: &[Asked<'_>]) {
        let missing: Vec<_> =
            asked.iter().filter(|(program, own, _)| self.slot(program, *own).get().is_none()).collect();
        if missing.len() > 1 {
            map_tasks(missing.into_iter(), |asked| drop(self.create(*asked)));
        }
    }

    /// Does nothing: in a browser, wgpu belongs to one thread, and another process compiles the shaders.
    #[cfg(target_arch = "wasm32")]
    pub(crate) fn prepare(&self, _: &[Asked<'_>]) {}

    /// Creates a pipeline if it does not exist, once also for callers at the same time.
    fn create(&self, (program, own, layout): Asked<'_>) -> BoxedFuture<'_, wgpu::ComputePipeline> {
        let slot = self.slot(program, own);
        let mut pending = None;
        let found = slot.get_or_init(|| {
            let scopes = self.open_scopes();
            let pipeline = self.compile(program, self.constants(program, own), layout);
            let mut outcome = self.close_scopes(scopes);
            // Only a browser answers later.
            match outcome.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(outcome) => outcome.map(|()| pipeline),
                Poll::Pending => {
                    pending = Some(outcome);
                    Ok(pipeline)
                }
            }
        });
        let found = found.clone();
        // What failed is not kept.
        let forget = move || lock(&self.pipelines).retain(|_, other| !Arc::ptr_eq(other, &slot));
        if found.is_err() {
            forget();
        }
        Box::pin(async move {
            if let Some(outcome) = pending {
                outcome.await.inspect_err(|_| forget())?;
            }
            found
        })
    }

    /// The constants of a program's pipeline on this device. Flags that the program does not have make no other pipeline.
    fn constants(&self, program: &Program, own: KernelConstants) -> KernelConstants {
        KernelConstants { rounds_correctly: self.probe.rounds_correctly(), ..own }.of_program(&program.source())
    }

    /// The place of a pipeline. The program's source is searched for flags once.
    fn slot(&self, program: &Program, own: KernelConstants) -> Slot {
        let asked = (program.name, KernelConstants { rounds_correctly: self.probe.rounds_correctly(), ..own });
        let mut pipelines = lock(&self.pipelines);
        if let Some(slot) = pipelines.get(&asked) {
            return slot.clone();
        }
        let slot = pipelines.entry((program.name, self.constants(program, own))).or_default().clone();
        pipelines.insert(asked, slot.clone());
        slot
    }

    fn compile(
        &self,
        program: &Program,
        own: KernelConstants,
        layout: Option<&wgpu::PipelineLayout>,
    ) -> wgpu::ComputePipeline {
        let mut source = Cow::Owned(program.source());
        if shares_loads(&self.device, &self.info) {
            source = programs::with_shared_loads(&source).into();
        }
        source = own.source(source);
        let source = match &self.edit {
            Some(edit) => edit.apply((program.name, own), &source),
            None => wgpu::ShaderSource::Wgsl(source),
        };
        let description = wgpu::ShaderModuleDescriptor { label: Some(program.name), source };
        let checks = wgpu::ShaderRuntimeChecks {
            force_loop_bounding: matches!(self.edit, Some(ShaderEdit::BoundedLoops)),
            ..Default::default()
        };
        // SAFETY: every loop of the programs ends: it counts to a number of the host, counts its steps to a limit, halves a range, clears
        // bits of a word, or empties a stack.
        let module = unsafe { self.device.create_shader_module_trusted(description, checks) };
        self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(program.name),
            layout,
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &own.set(),
                // Programs write what they read. On Metal and Direct3D a single thread would zero all of it.
                zero_initialize_workgroup_memory: false,
            },
            cache: None,
        })
    }

    pub(crate) async fn open(adapter: &wgpu::Adapter, limits: Limits, edit: Option<ShaderEdit>) -> Result<Self> {
        Self::new(GpuContext::open(adapter, limits, edit).await?).probed().await
    }

    /// Uses a device of the caller, and probes it. Sets no callbacks on it.
    pub(crate) async fn adopt(device: wgpu::Device, queue: wgpu::Queue, edit: Option<ShaderEdit>) -> Result<Self> {
        Self::new(GpuContext::adopt(device, queue, edit)).probed().await
    }

    async fn probed(mut self) -> Result<Self> {
        self.probe = run_probe(&self).await?;
        if !self.probe.rounds_correctly() {
            // The first result turns the correction on.
            self.probe = run_probe(&self).await?;
        }
        Ok(self)
    }
}

/// Runs the probe program and evaluates its results.
async fn run_probe(gpu: &GpuEngine) -> Result<Probe> {
    let (rays, spheres) = probe::rows();
    let pipeline = gpu.pipeline(&programs::PROBE, KernelConstants::default()).await?;
    let params = Params { ray_count: ROWS as u32, ..Params::of(&Query::default()) };
    let params_buffer = gpu.uniform("probe params", &params).await?;
    let (rays_buffer, spheres_buffer) =
        (gpu.filled("probe rays", &rays).await?, gpu.filled("probe spheres", &spheres).await?);
    let bytes = (ROWS * RESULTS * 16) as u64;
    let out = gpu.buffer("probe results", bytes, BufferUsages::STORAGE | BufferUsages::COPY_SRC).await?;
    let staging = gpu.staging_buffer("probe staging", bytes).await?;
    let group = gpu.bind(&pipeline, &[(0, &params_buffer), (1, &spheres_buffer), (2, &rays_buffer), (3, &out)]).await?;
    let _ = gpu.dispatch(&pipeline, &group, (ROWS / 64) as u32).await?;
    let mut results = vec![[[0f32; 4]; RESULTS]; ROWS];
    let target: &mut [u8] = bytemuck::cast_slice_mut(&mut results);
    gpu.read_in_place(&out, &staging, bytes, gpu.watchdog(), |view| target.copy_from_slice(view)).await?;
    Ok(probe::evaluate(&rays, &spheres, &results))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::context::adapters::adapters;

    #[test]
    fn callers_at_the_same_time_share_one_pipeline() {
        for adapter in pollster::block_on(adapters()) {
            let gpu = pollster::block_on(GpuContext::open(&adapter, Limits::default(), None)).unwrap();
            let gpu = GpuEngine::new(gpu);
            // The program has no flag: four constants, one pipeline.
            let all = KernelConstants { fast: true, exact: true, has_filters: true, ..KernelConstants::default() };
            let asked = [all, KernelConstants::default(), all, KernelConstants { fast: true, ..all }];
            let task = |own| pollster::block_on(gpu.pipeline(&programs::MORTON_CODES, own)).unwrap();
            let pipelines = map_tasks(asked.into_iter(), task);
            assert!(pipelines.iter().all(|pipeline| *pipeline == pipelines[0]));
            let other = pollster::block_on(gpu.pipeline(&programs::RADIX_COUNT, all)).unwrap();
            assert!(other != pipelines[0]);
        }
    }

    #[test]
    fn pipelines_that_fail_are_created_again_and_reported() {
        let edit = ShaderEdit::Text("fn main(", "fn main(nothing: Nothing, ");
        for adapter in pollster::block_on(adapters()) {
            let gpu = pollster::block_on(GpuContext::open(&adapter, Limits::default(), Some(edit.clone()))).unwrap();
            let gpu = GpuEngine::new(gpu);
            let none = KernelConstants::default();
            for _ in 0..2 {
                gpu.prepare(&[(&programs::MORTON_CODES, none, None), (&programs::RADIX_COUNT, none, None)]);
                let task = |program| pollster::block_on(gpu.pipeline(program, none)).unwrap_err().to_string();
                for error in map_tasks([&programs::MORTON_CODES, &programs::RADIX_COUNT].into_iter(), task) {
                    assert!(error.contains("Nothing"), "{error}");
                }
            }
        }
    }
}
