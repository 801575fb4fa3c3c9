//! The GPU engine: a device with its probe, its pipelines, the layout of a cast, and staging buffers for later casts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Mutex;

use super::cast::staging::StagingPool;
use super::context::adapters::shares_loads;
use super::context::device::{GpuContext, lock};
use super::context::pipelines::{KernelConstants, Variant, cast_layout, constant};
use super::probe::Probe;
use super::programs::{self, Program};
use crate::error::{Error, Result};
use crate::query::policy::Precision;
use crate::records::RayAttributes;

/// An opened GPU that runs queries.
pub(crate) struct GpuEngine {
    context: GpuContext,
    pub(crate) probe: Probe,
    pipelines: Mutex<HashMap<Variant, wgpu::ComputePipeline>>,
    /// The layout that all programs of a cast share.
    pub(crate) cast: (wgpu::BindGroupLayout, wgpu::PipelineLayout),
    /// Bound in place of missing attributes: masks with all bits set for spheres, `RayAttributes::NONE` for rays.
    pub(crate) every_bit: wgpu::Buffer,
    pub(crate) no_ray_attributes: wgpu::Buffer,
    /// Staging buffers for later casts.
    pub(crate) staging: StagingPool,
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

    /// Returns the pipeline of a program of a cast; these share one layout. Created at first use.
    pub(crate) async fn cast_pipeline(&self, program: &Program, own: KernelConstants) -> Result<wgpu::ComputePipeline> {
        self.pipeline_in(program, own, Some(&self.cast.1)).await
    }

    async fn pipeline_in(
        &self,
        program: &Program,
        own: KernelConstants,
        layout: Option<&wgpu::PipelineLayout>,
    ) -> Result<wgpu::ComputePipeline> {
        let own = KernelConstants { rounds_correctly: self.probe.rounds_correctly(), ..own };
        let asked = (program.name, own);
        if let Some(pipeline) = lock(&self.pipelines).get(&asked) {
            return Ok(pipeline.clone());
        }
        // Flags that the program does not have make no other pipeline.
        let own = own.of_program(program.source);
        let variant = (program.name, own);
        let known = lock(&self.pipelines).get(&variant).cloned();
        if let Some(pipeline) = known {
            lock(&self.pipelines).insert(asked, pipeline.clone());
            return Ok(pipeline);
        }
        let pipeline = self
            .scoped(|| {
                let mut source = Cow::Borrowed(program.source);
                if shares_loads(&self.device, &self.info) {
                    source = programs::with_shared_loads(&source).into();
                }
                source = own.source(source);
                let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                    label: Some(program.name),
                    source: match &self.edit {
                        None => wgpu::ShaderSource::Wgsl(source),
                        Some(edit) => edit.apply(variant, &source),
                    },
                });
                self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                    label: Some(program.name),
                    layout,
                    module: &module,
                    entry_point: Some("main"),
                    compilation_options: wgpu::PipelineCompilationOptions {
                        constants: &own.set(),
                        ..Default::default()
                    },
                    cache: None,
                })
            })
            .await?;
        lock(&self.pipelines).extend([(asked, pipeline.clone()), (variant, pipeline.clone())]);
        Ok(pipeline)
    }
}
