//! Particles that live on the GPU: the application's shader moves them, umbracast builds a BVH over them and casts rays, all in one
//! submission per frame. No sphere, ray or hit passes through the host; it reads four counts at the end.
//!
//! `cargo run --release -p umbracast --example moving_particles [PARTICLES [RAYS [FRAMES]]]`

use std::error::Error;
use std::time::Instant;

use umbracast::glam::Vec3;
use umbracast::wgpu::{self, BufferUsages};
use umbracast::{Query, QueryKind, SceneOptions, required_features, required_limits};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u32>());
    let mut number = |usual| arguments.next().unwrap_or(Ok(usual));
    let (particles, rays, frames) = (number(10_000)?, number(20_000)?, number(10)?);

    // The application's device and buffers. Umbracast needs the usage STORAGE.
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = pollster::block_on(instance.request_adapter(&Default::default()))?;
    let description = wgpu::DeviceDescriptor {
        required_features: required_features(&adapter),
        required_limits: required_limits(&adapter),
        ..Default::default()
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&description))?;
    let buffer = |bytes: u64, usage| {
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size: bytes, usage, mapped_at_creation: false })
    };
    let spheres = buffer(16 * u64::from(particles), BufferUsages::STORAGE);
    let velocities = buffer(16 * u64::from(particles), BufferUsages::STORAGE);
    let sensor = buffer(32 * u64::from(rays), BufferUsages::STORAGE);
    let hits = buffer(8 * u64::from(rays), BufferUsages::STORAGE);
    let status = buffer(16, BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC);
    let back = buffer(32, BufferUsages::MAP_READ | BufferUsages::COPY_DST);

    let module = device.create_shader_module(wgpu::include_wgsl!("moving_particles.wgsl"));
    let bound = [&spheres, &velocities, &sensor];
    let pass = |entry, uses: &[usize]| {
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
        move |encoder: &mut wgpu::CommandEncoder, threads: u32| {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(threads.div_ceil(64), 1, 1);
        }
    };
    let (place, aim, advance) = (pass("place", &[0, 1]), pass("aim", &[2]), pass("advance", &[0, 1]));
    let mut encoder = device.create_command_encoder(&Default::default());
    place(&mut encoder, particles);
    aim(&mut encoder, rays);
    queue.submit([encoder.finish()]);

    // Once: the scene, and the plan of the query. The shader keeps the particles in this box.
    let ours = umbracast::Device::from_wgpu(device.clone(), queue.clone())?;
    let bounds = [Vec3::splat(-1.0), Vec3::splat(1.0)];
    let scene = ours.resident_scene(spheres.slice(..), particles, bounds, &SceneOptions::default())?;
    let plan = scene.plan(QueryKind::Closest, rays.into(), &Query::default())?;
    let cast = plan.bind(rays.into(), sensor.slice(..), None, hits.slice(..), Some(status.slice(..)))?;

    let start = Instant::now();
    for _ in 0..frames {
        let mut encoder = device.create_command_encoder(&Default::default());
        advance(&mut encoder, particles);
        scene.rebuild(&mut encoder);
        encoder.clear_buffer(&status, 0, None);
        cast.encode(&mut encoder);
        encoder.copy_buffer_to_buffer(&status, 0, &back, 0, 16);
        encoder.copy_buffer_to_buffer(scene.bad_spheres(), 0, &back, 16, 4);
        queue.submit([encoder.finish()]);
    }
    back.map_async(wgpu::MapMode::Read, .., |_| ());
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let seconds = start.elapsed().as_secs_f64() / f64::from(frames);
    let [bad, undone, _, hits, left] = bytemuck::pod_read_unaligned::<[u32; 5]>(&back.get_mapped_range(..)?[..20]);
    println!(
        "{particles} particles, {rays} rays per frame, {frames} frames on {}: {:.2} ms per frame",
        ours.name(),
        1e3 * seconds
    );
    println!("last frame: {hits} hits, {bad} bad rays, {undone} undone, {left} particles outside the box");
    Ok(())
}
