//! The intersection functions of umbracast in the caller's own compute pipeline: a kernel calls `scale`, `intersect_compensated` and
//! `classify` for a million pairs of a ray and a sphere, and each result is compared with `ray.hit`.
//!
//! `cargo run --release -p umbracast --example solve_in_your_shader`

use std::error::Error;

use umbracast::glam::Vec3;
use umbracast::wgpu::util::DeviceExt as _;
use umbracast::wgpu::{self, BufferUsages};
use umbracast::{Hit, Precision, Query, Ray, Sphere, wgsl};

const PAIRS: usize = 1 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    pollster::block_on(compare())
}

async fn compare() -> Result<(), Box<dyn Error>> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = instance.request_adapter(&Default::default()).await?;
    let (device, queue) = adapter.request_device(&Default::default()).await?;

    let (rays, spheres) = pairs();
    let buffer = |bytes: &[u8], usage| {
        device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents: bytes, usage })
    };
    let hits_bytes = (PAIRS * size_of::<Hit>()) as u64;
    let own = |usage| {
        let about = wgpu::BufferDescriptor { label: None, size: hits_bytes, usage, mapped_at_creation: false };
        device.create_buffer(&about)
    };
    let bound = [
        buffer(bytemuck::cast_slice(&rays), BufferUsages::STORAGE),
        buffer(bytemuck::cast_slice(&spheres), BufferUsages::STORAGE),
        own(BufferUsages::STORAGE | BufferUsages::COPY_SRC),
        buffer(bytemuck::cast_slice(&[PAIRS as u32, 0, 0, 0]), BufferUsages::UNIFORM),
    ];
    let back = own(BufferUsages::MAP_READ | BufferUsages::COPY_DST);

    // The intersection functions and the kernel are joined into one module.
    let source = [wgsl::SOLVE, include_str!("solve_in_your_shader.wgsl")].concat();
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("solve_in_your_shader"),
        source: wgpu::ShaderSource::Wgsl(source.into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some("my_kernel"),
        compilation_options: Default::default(),
        cache: None,
    });
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &(0..)
            .zip(&bound)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect::<Vec<_>>(),
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(PAIRS.div_ceil(64) as u32, 1, 1);
    drop(pass);
    encoder.copy_buffer_to_buffer(&bound[2], 0, &back, 0, hits_bytes);
    queue.submit([encoder.finish()]);
    back.map_async(wgpu::MapMode::Read, .., |_| ());
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let view = back.get_mapped_range(..)?;
    let hits: &[Hit] = bytemuck::cast_slice(&view);

    let query = Query::at(Precision::Standard);
    let (mut met, mut identical, mut flags, mut worst) = (0, 0, 0, 0.0_f64);
    for (i, ((ray, sphere), hit)) in rays.iter().zip(&spheres).zip(hits).enumerate() {
        let expected = ray.hit(sphere, &query).map_or(Hit::MISS, |hit| Hit { id: i as u32, ..hit });
        met += u32::from(hit.is_hit());
        identical += u32::from(*hit == expected);
        if hit.is_hit() != expected.is_hit() {
            flags += 1;
        } else if hit.is_hit() {
            worst = worst.max(f64::from(hit.t - expected.t).abs() / bound_of(ray, sphere, expected.t));
        }
    }
    let name = adapter.get_info().name;
    println!(
        "{PAIRS} pairs on {name}: {met} hits, {identical} answers identical to ray.hit, {flags} flags differ, \
         t by at most {worst:.2} of the bound"
    );
    // Device and host both satisfy the bounds of `standard`, so they may differ by twice the bound.
    if flags > PAIRS / 10_000 * 3 || worst > 2.0 {
        return Err("the device does not bear out the error terms: see umbracast devices".into());
    }
    Ok(())
}

/// Error bound of `t` at `standard`: |δt|·|d| ≤ 8 u (|t|·|d| + r·r/h), in units of `t`.
fn bound_of(ray: &Ray, sphere: &Sphere, t: f32) -> f64 {
    let (d, e) = (ray.direction.as_dvec3(), (sphere.center - ray.origin).as_dvec3());
    let (r, length) = (f64::from(sphere.radius), d.length());
    let aside = (e - e.dot(d) / d.length_squared() * d).length();
    let half = ((r - aside) * (r + aside)).max(1e-12 * r * r).sqrt();
    8.0 / 16_777_216.0 * (f64::from(t.abs()) * length + r * r / half) / length
}

/// Rays towards spheres near and far, large and small. Many rays graze their sphere.
fn pairs() -> (Vec<Ray>, Vec<Sphere>) {
    let mut state = 1_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 24) as f32
    };
    (0..PAIRS)
        .map(|_| {
            let mut unit = || Vec3::new(random() - 0.5, random() - 0.5, random() - 0.5).normalize_or(Vec3::X);
            let (direction, center) = (unit(), 20.0 * unit());
            let aside = direction.any_orthonormal_vector();
            let (radius, distance) = (10_f32.powf(2.0 * random() - 1.0), 10_f32.powf(4.0 * random()));
            let origin = center - direction * distance + aside * radius * (1.2 * random());
            // Shaders must not use infinities: a ray without an end ends at the largest f32.
            let ray = Ray::new(origin, direction * 10_f32.powf(2.0 * random() - 1.0)).between(0.0, f32::MAX);
            (ray, Sphere::new(center, radius))
        })
        .unzip()
}
