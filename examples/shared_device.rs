//! Queries between the passes of an application that already has a wgpu device. The application's shaders generate rays and umbracast finds
//! their hits; the shaders generate rays from there towards the sun and umbracast finds which of them are occluded; then the shaders shade.
//! All of this is one submission: rays and results never leave the device.
//!
//! `cargo run --release -p umbracast --example shared_device [PICTURE.png]`

use std::error::Error;
use std::path::Path;

use umbracast::wgpu::{self, BufferUsages};
use umbracast::{Hit, Query, QueryKind, Ray, SceneOptions, Sphere, required_features, required_limits};

const SIZE: [u32; 2] = [960, 600];
const RAYS: u32 = SIZE[0] * SIZE[1];

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).map_or_else(|| std::env::temp_dir().join("shared_device.png"), Into::into);
    pollster::block_on(picture(&path))
}

async fn picture(path: &Path) -> Result<(), Box<dyn Error>> {
    // The application's device. Umbracast needs no features and limits beyond WebGPU's defaults, but benefits from some.
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = instance.request_adapter(&Default::default()).await?;
    let description = wgpu::DeviceDescriptor {
        required_features: required_features(&adapter),
        required_limits: required_limits(&adapter),
        ..Default::default()
    };
    let (device, queue) = adapter.request_device(&description).await?;

    // A spiral of balls on a ground that is a ball, too.
    let mut spheres = vec![Sphere::new([0.0, 0.0, -1000.0], 1000.0)];
    spheres.extend((1..900).map(|i| {
        let (turn, away) = (i as f32 * 2.399_963, 0.32 * (i as f32).sqrt());
        let radius = 0.12 + 0.1 * (away * 2.2).sin().abs();
        Sphere::new([away * turn.cos(), away * turn.sin(), 0.25 + 0.9 * (away * 1.1).cos().powi(2)], radius)
    }));

    // The application's buffers. Umbracast needs the usage STORAGE; the application chooses any others.
    let buffer = |bytes: usize, usage| {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: bytes as u64,
            usage,
            mapped_at_creation: false,
        })
    };
    let count = RAYS as usize;
    let drawn = buffer(size_of_val(&spheres[..]), BufferUsages::STORAGE | BufferUsages::COPY_DST);
    let rays = buffer(count * size_of::<Ray>(), BufferUsages::STORAGE);
    let hits = buffer(count * size_of::<Hit>(), BufferUsages::STORAGE);
    let shadow_rays = buffer(count * size_of::<Ray>(), BufferUsages::STORAGE);
    let shadows = buffer(count.div_ceil(32) * 4, BufferUsages::STORAGE);
    let status = buffer(16, BufferUsages::STORAGE | BufferUsages::COPY_SRC);
    let pixels = buffer(count * 4, BufferUsages::STORAGE | BufferUsages::COPY_SRC);
    let back = buffer(count * 4 + 16, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
    queue.write_buffer(&drawn, 0, bytemuck::cast_slice(&spheres));

    // Once: the scene, and the plans of the queries.
    let ours = umbracast::Device::from_wgpu_async(device.clone(), queue.clone()).await?;
    let scene = ours.scene_async(&spheres, &SceneOptions::default()).await?;
    let (rays_count, counts) = (u64::from(RAYS), status.slice(..));
    let closest = scene.plan_async(QueryKind::Closest, rays_count, &Query::default()).await?;
    let closest = closest.bind_async(rays_count, rays.slice(..), None, hits.slice(..), Some(counts)).await?;
    let occluded = scene.plan_async(QueryKind::Occluded, rays_count, &Query::default()).await?;
    let occluded =
        occluded.bind_async(rays_count, shadow_rays.slice(..), None, shadows.slice(..), Some(counts)).await?;

    let module = device.create_shader_module(wgpu::include_wgsl!("shared_device.wgsl"));
    let bound = [&drawn, &rays, &hits, &shadow_rays, &shadows, &pixels];
    let own = |encoder: &mut wgpu::CommandEncoder, entry, uses: &[usize], groups: [u32; 2]| {
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(entry),
            layout: None,
            module: &module,
            entry_point: Some(entry),
            compilation_options: Default::default(),
            cache: None,
        });
        let binding = |n: &usize| wgpu::BindGroupEntry { binding: *n as u32, resource: bound[*n].as_entire_binding() };
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(entry),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &uses.iter().map(binding).collect::<Vec<_>>(),
        });
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(groups[0], groups[1], 1);
    };

    // Per frame: five passes, two of them recorded by umbracast.
    let mut encoder = device.create_command_encoder(&Default::default());
    own(&mut encoder, "look", &[1], [SIZE[0] / 8, SIZE[1] / 8]);
    closest.encode(&mut encoder);
    own(&mut encoder, "aim", &[1, 2, 3], [RAYS / 64, 1]);
    occluded.encode(&mut encoder);
    own(&mut encoder, "shade", &[0, 1, 2, 4, 5], [RAYS / 64, 1]);
    encoder.copy_buffer_to_buffer(&pixels, 0, &back, 0, pixels.size());
    encoder.copy_buffer_to_buffer(&status, 0, &back, pixels.size(), 16);
    queue.submit([encoder.finish()]);

    back.map_async(wgpu::MapMode::Read, .., |_| ());
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let view = back.get_mapped_range(..)?;
    let (pixels, counts) = view.split_at(count * 4);
    let [bad, undone, _, hits] = bytemuck::pod_read_unaligned::<[u32; 4]>(counts);
    image::save_buffer(path, pixels, SIZE[0], SIZE[1], image::ColorType::Rgba8)?;
    let path = path.display();
    println!("{path}: {hits} hits of {} rays, {bad} bad, {undone} undone, on {}", 2 * RAYS, ours.name());
    Ok(())
}
