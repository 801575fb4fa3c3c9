//! What pipelines are made of: the overrides of a program, and the layout that the programs of a cast share.

/// What the host decides of a program: twins of the overrides of `shaders/query/closest_state.wgsl` and `shaders/intersect/attributes.wgsl`.
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
