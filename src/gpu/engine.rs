//! The GPU engine: a device with its probe, its pipelines, the layout of a cast, and staging buffers for later casts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::iter::once;
use std::ops::Deref;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};

use super::cast::kernels::Kernels;
use super::cast::staging::StagingPool;
use super::context::adapters::shares_loads;
use super::context::device::{GpuContext, lock};
use super::context::pipelines::{KernelConstants, Variant, cast_layout, constant};
use super::probe::Probe;
use super::programs::{self, Program, ShaderEdit};
use crate::error::{Error, Result};
use crate::query::policy::Precision;
use crate::records::RayAttributes;
use crate::runtime::block_on::BoxedFuture;
#[cfg(not(target_arch = "wasm32"))]
use crate::runtime::map_tasks;

/// A pipeline, or the place where it is being created.
type Slot = Arc<OnceLock<wgpu::ComputePipeline>>;

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
    /// Creates an engine without running the probe; `src/gpu/open.rs` runs it.
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
        self.pipeline_in(program, own, None).await
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
        self.prepare(&Vec::from_iter(once(search).chain(kernels.finalize).map(|program| (program, own, layout))))
            .await?;
        let search = self.pipeline_in(search, own, layout).await?;
        let finalize = match kernels.finalize {
            Some(program) => Some(self.pipeline_in(program, own, layout).await?),
            None => None,
        };
        Ok((search, finalize))
    }

    /// Creates pipelines in parallel, so that later calls find them.
    pub(crate) async fn prepare(&self, asked: &[Asked<'_>]) -> Result<()> {
        self.check()?;
        let create = |asked: &Asked<'_>| self.create(*asked).1;
        // In a browser, wgpu belongs to one thread, and another process compiles the shaders.
        #[cfg(target_arch = "wasm32")]
        let outcomes: Vec<_> = asked.iter().map(create).collect();
        #[cfg(not(target_arch = "wasm32"))]
        let outcomes = map_tasks(asked.iter(), create);
        for outcome in outcomes {
            outcome.await?;
        }
        Ok(())
    }

    async fn pipeline_in(
        &self,
        program: &Program,
        own: KernelConstants,
        layout: Option<&wgpu::PipelineLayout>,
    ) -> Result<wgpu::ComputePipeline> {
        self.check()?;
        let (pipeline, outcome) = self.create((program, own, layout));
        outcome.await.map(|()| pipeline)
    }

    /// Creates a pipeline if it does not exist, once also for callers at the same time. The future returns the error of its creation.
    fn create(&self, (program, own, layout): Asked<'_>) -> (wgpu::ComputePipeline, BoxedFuture<'_, ()>) {
        let own = KernelConstants { rounds_correctly: self.probe.rounds_correctly(), ..own };
        let slot = self.slot(program, own);
        let mut created = None;
        let pipeline = slot.get_or_init(|| {
            let scopes = self.open_scopes();
            let pipeline = self.compile(program, own.of_program(program.source), layout);
            created = Some(self.close_scopes(scopes));
            pipeline
        });
        let pipeline = pipeline.clone();
        let outcome: BoxedFuture<'_, ()> = Box::pin(async move {
            let Some(created) = created else { return Ok(()) };
            // What failed is not kept.
            created.await.inspect_err(|_| lock(&self.pipelines).retain(|_, other| !Arc::ptr_eq(other, &slot)))
        });
        (pipeline, outcome)
    }

    /// The place of a pipeline. Flags that the program does not have make no other pipeline; its source is searched for them once.
    fn slot(&self, program: &Program, own: KernelConstants) -> Slot {
        let mut pipelines = lock(&self.pipelines);
        if let Some(slot) = pipelines.get(&(program.name, own)) {
            return slot.clone();
        }
        let slot = pipelines.entry((program.name, own.of_program(program.source))).or_default().clone();
        pipelines.insert((program.name, own), slot.clone());
        slot
    }

    fn compile(
        &self,
        program: &Program,
        own: KernelConstants,
        layout: Option<&wgpu::PipelineLayout>,
    ) -> wgpu::ComputePipeline {
        let mut source = Cow::Borrowed(program.source);
        if shares_loads(&self.device, &self.info) {
            source = programs::with_shared_loads(&source).into();
        }
        source = own.source(source);
        let source = match &self.edit {
            Some(edit) => edit.apply((program.name, own), &source),
            None => wgpu::ShaderSource::Wgsl(source),
        };
        let description = wgpu::ShaderModuleDescriptor { label: Some(program.name), source };
        let module = match &self.edit {
            Some(ShaderEdit::UnboundedLoops) => {
                let checks = wgpu::ShaderRuntimeChecks { force_loop_bounding: false, ..Default::default() };
                // SAFETY: every loop of the programs ends: it counts up to a number of the host, or its steps up to a limit.
                unsafe { self.device.create_shader_module_trusted(description, checks) }
            }
            _ => self.device.create_shader_module(description),
        };
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::context::adapters::adapters;
    use crate::runtime::limits::Limits;

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
}
