//! Bind group of the programs of a cast.

use crate::error::Result;
use crate::gpu::bvh::resident::GpuBvh;
use crate::gpu::engine::GpuEngine;
use crate::gpu::uniforms::Params;

impl GpuEngine {
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
        let params = wgpu::BufferBinding { size: std::num::NonZeroU64::new(size_of::<Params>() as u64), ..params };
        let entry = |binding, buffer| wgpu::BindGroupEntry { binding, resource: wgpu::BindingResource::Buffer(buffer) };
        self.scoped(|| {
            self.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &self.cast.0,
                entries: &[
                    entry(0, params),
                    entry(1, spheres.as_entire_buffer_binding()),
                    entry(2, rays),
                    entry(3, state),
                    entry(4, results),
                    entry(5, nodes.as_entire_buffer_binding()),
                    entry(6, order.as_entire_buffer_binding()),
                    entry(7, ray_attributes),
                    entry(8, attributes.as_entire_buffer_binding()),
                ],
            })
        })
        .await
    }
}
