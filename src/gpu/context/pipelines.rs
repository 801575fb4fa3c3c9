//! Pipeline-overridable constants of programs, and the layout that the programs of a cast share.

use std::borrow::Cow;

use crate::gpu::programs;

/// Pipeline constants that the host sets. Twins of the overrides of `shaders/query/closest_state.wgsl`,
/// `shaders/intersect/attributes.wgsl` and `shaders/intersect/sphere.wgsl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct KernelConstants {
    /// Intersect in plain instead of compensated arithmetic.
    pub(crate) fast: bool,
    /// Only classifications that the error bounds prove are certain.
    pub(crate) exact: bool,
    /// Rays or spheres have masks, or rays have spheres to skip.
    pub(crate) has_filters: bool,
    /// Spheres move or are ellipsoids, or rays have a radius or the low part of a direction.
    pub(crate) has_motion_or_shape: bool,
    /// Spheres move or are ellipsoids, and have their data in the buffer of sphere attributes.
    pub(crate) has_sphere_attributes: bool,
    /// The primitives of the scene are ellipsoids.
    pub(crate) has_ellipsoids: bool,
    /// Spheres have transmittances. Only `shaders/query/transmittance_state.wgsl` declares it.
    pub(crate) has_transmittances: bool,
    /// The device rounds quotients and square roots correctly, so that they need no correction. `shaders/intersect/sphere.wgsl` declares it.
    pub(crate) rounds_correctly: bool,
    /// No BVH of the scene has more than `QBvh4::SHALLOW_LEVELS` levels, so that a traversal needs no longer stack.
    pub(crate) shallow: bool,
    /// All bodies of a shadow are spheres: its program is then half as long and twice as fast.
    pub(crate) round: bool,
    /// The light of a shadow has no limb darkening.
    pub(crate) uniform_light: bool,
}

impl KernelConstants {
    /// The overrides with their names.
    pub(crate) fn overrides(&mut self) -> [(&'static str, &mut bool); 8] {
        [
            ("fast", &mut self.fast),
            ("exact", &mut self.exact),
            ("has_filters", &mut self.has_filters),
            ("has_motion_or_shape", &mut self.has_motion_or_shape),
            ("has_sphere_attributes", &mut self.has_sphere_attributes),
            ("has_ellipsoids", &mut self.has_ellipsoids),
            ("has_transmittances", &mut self.has_transmittances),
            ("rounds_correctly", &mut self.rounds_correctly),
        ]
    }

    /// The constants without the overrides that a program does not declare.
    pub(crate) fn of_program(mut self, source: &str) -> Self {
        for (name, value) in self.overrides() {
            *value &= source.contains(&format!("override {name}:"));
        }
        self.shallow &= source.contains(programs::STACK);
        self
    }

    /// The source of a program without the parts that these constants leave out.
    pub(crate) fn source(self, mut source: Cow<'_, str>) -> Cow<'_, str> {
        if self.shallow {
            source = programs::with_short_stack(&source).into();
        }
        if self.round {
            source = programs::without_spheroids(&source).into();
        }
        if self.uniform_light {
            source = programs::without_limb_darkening(&source).into();
        }
        source
    }

    /// The overrides to set: every override is false by default.
    pub(crate) fn set(mut self) -> Vec<(&'static str, f64)> {
        self.overrides().into_iter().filter(|(_, value)| **value).map(|(name, _)| (name, 1.0)).collect()
    }
}

/// Key of a pipeline: the program's name and its constants.
pub(crate) type Variant = (&'static str, KernelConstants);

/// Bindings of the programs of a cast: parameters at a dynamic offset, spheres, rays, state, results, BVH nodes, leaf order, ray
/// attributes, sphere attributes.
pub(crate) fn cast_bindings() -> [wgpu::BindGroupLayoutEntry; 9] {
    let entry = |binding, ty, has_dynamic_offset| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
        count: None,
    };
    std::array::from_fn(|number| match number {
        0 => entry(0, wgpu::BufferBindingType::Uniform, true),
        // Only state and results are written.
        _ => entry(number as u32, wgpu::BufferBindingType::Storage { read_only: number != 3 && number != 4 }, false),
    })
}

pub(crate) fn cast_layout(device: &wgpu::Device) -> (wgpu::BindGroupLayout, wgpu::PipelineLayout) {
    let group = device
        .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some("cast"), entries: &cast_bindings() });
    let pipeline = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("cast"),
        bind_group_layouts: &[Some(&group)],
        immediate_size: 0,
    });
    (group, pipeline)
}

/// Creates a small buffer with these bytes. On a lost device it stays empty, which does not matter because no query runs there.
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
