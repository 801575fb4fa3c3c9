//! A device's programs as pipelines, each made once, and what those of a cast are bound to.

use std::borrow::Cow;

use super::adapters::shares_loads;
use super::device::{GpuDevice, lock};
use crate::error::Result;
use crate::gpu::bvh::resident::Planted;
use crate::gpu::programs::{self, Program};

/// What the host decides of a program: twins of the overrides of `shaders/cast.wgsl` and `shaders/brought.wgsl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Overrides {
    /// The plain solve.
    pub(crate) fast: bool,
    /// The solve's bounds decide.
    pub(crate) exact: bool,
    /// Rays and spheres have masks, or rays spheres to skip.
    pub(crate) picky: bool,
    /// Not everything is what it is at rest.
    pub(crate) moving: bool,
    /// Spheres are held beside: they move, or are ellipsoids.
    pub(crate) held: bool,
    /// They are ellipsoids.
    pub(crate) mapped: bool,
    /// All bodies of a shadow are round: then its program is half as long and twice as fast.
    pub(crate) round: bool,
}

/// A pipeline of one program.
pub(crate) type Variant = (&'static str, Overrides);

impl GpuDevice {
    /// A program's pipeline, made on first use; its layout is its own.
    pub(crate) async fn pipeline(&self, program: &Program, own: Overrides) -> Result<wgpu::ComputePipeline> {
        self.pipeline_in(program, own, None).await
    }

    /// The same for the programs of a cast, which share one layout.
    pub(crate) async fn cast_pipeline(&self, program: &Program, own: Overrides) -> Result<wgpu::ComputePipeline> {
        self.pipeline_in(program, own, Some(&self.cast.1)).await
    }

    /// What a cast's programs see: parameters, rays, state, results, what rays bring along; the spheres of one part and what is
    /// beside them, and a tree.
    pub(crate) async fn cast_group(
        &self,
        [params, rays, state, results, extras]: [&wgpu::Buffer; 5],
        [spheres, beside]: [&wgpu::Buffer; 2],
        planted: Option<&Planted>,
    ) -> Result<wgpu::BindGroup> {
        // Programs without a tree do not look at it.
        let (nodes, order) = planted.map_or((spheres, spheres), |planted| (&planted.nodes, &planted.order));
        let params = wgpu::BufferBinding {
            buffer: params,
            offset: 0,
            size: std::num::NonZeroU64::new(size_of::<crate::gpu::uniforms::Params>() as u64),
        };
        let entry = |binding, resource| wgpu::BindGroupEntry { binding, resource };
        self.scoped(|| {
            self.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &self.cast.0,
                entries: &[
                    entry(0, wgpu::BindingResource::Buffer(params)),
                    entry(1, spheres.as_entire_binding()),
                    entry(2, rays.as_entire_binding()),
                    entry(3, state.as_entire_binding()),
                    entry(4, results.as_entire_binding()),
                    entry(5, nodes.as_entire_binding()),
                    entry(6, order.as_entire_binding()),
                    entry(7, extras.as_entire_binding()),
                    entry(8, beside.as_entire_binding()),
                ],
            })
        })
        .await
    }

    async fn pipeline_in(
        &self,
        program: &Program,
        own: Overrides,
        layout: Option<&wgpu::PipelineLayout>,
    ) -> Result<wgpu::ComputePipeline> {
        let variant = (program.name, own);
        if let Some(pipeline) = lock(&self.pipelines).get(&variant) {
            return Ok(pipeline.clone());
        }
        let pipeline = self
            .scoped(|| {
                let mut source = Cow::Borrowed(program.source);
                if shares_loads(&self.device, &self.info) {
                    source = programs::with_shared_loads(&source).into();
                }
                if own.round {
                    source = programs::without_spheroids(&source).into();
                }
                if let Some((from, to)) = self.edit {
                    source = source.replace(from, to).into();
                }
                let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                    label: Some(program.name),
                    source: wgpu::ShaderSource::Wgsl(source),
                });
                let mut constants = Vec::new();
                let Overrides { fast, exact, picky, moving, held, mapped, .. } = own;
                let values = [
                    ("fast", fast),
                    ("exact", exact),
                    ("picky", picky),
                    ("moving", moving),
                    ("held", held),
                    ("mapped", mapped),
                ];
                for (name, value) in values {
                    if program.source.contains(&format!("override {name}:")) {
                        constants.push((name, f64::from(u8::from(value))));
                    }
                }
                self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                    label: Some(program.name),
                    layout,
                    module: &module,
                    entry_point: Some("main"),
                    compilation_options: wgpu::PipelineCompilationOptions {
                        constants: &constants,
                        ..Default::default()
                    },
                    cache: None,
                })
            })
            .await?;
        lock(&self.pipelines).insert(variant, pipeline.clone());
        Ok(pipeline)
    }
}

/// Parameters at an offset, spheres, rays, state, results; a tree's nodes and its order; what rays bring along, and what is beside spheres.
pub(crate) fn cast_layout(device: &wgpu::Device) -> (wgpu::BindGroupLayout, wgpu::PipelineLayout) {
    let entry = |binding, ty, has_dynamic_offset| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
        count: None,
    };
    let storage = |read_only| wgpu::BufferBindingType::Storage { read_only };
    let group = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("cast"),
        entries: &[
            entry(0, wgpu::BufferBindingType::Uniform, true),
            entry(1, storage(true), false),
            entry(2, storage(true), false),
            entry(3, storage(false), false),
            entry(4, storage(false), false),
            entry(5, storage(true), false),
            entry(6, storage(true), false),
            entry(7, storage(true), false),
            entry(8, storage(true), false),
        ],
    });
    let pipeline = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("cast"),
        bind_group_layouts: &[Some(&group)],
        immediate_size: 0,
    });
    (group, pipeline)
}

/// A small buffer with these bytes. Of a lost device there is none, and nothing is asked of it either.
pub(crate) fn constant(device: &wgpu::Device, label: &str, bytes: &[u8]) -> wgpu::Buffer {
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size: bytes.len() as u64,
        usage: wgpu::BufferUsages::STORAGE,
        mapped_at_creation: true,
    });
    if let Ok(mut view) = buffer.get_mapped_range_mut(..) {
        view.slice(..).copy_from_slice(bytes);
    }
    buffer.unmap();
    buffer
}
