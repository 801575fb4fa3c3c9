//! Pictures and visible fractions on a GPU.

use std::sync::Arc;

use wgpu::{Buffer, BufferUsages, ComputePipeline};

use super::uniforms::{
    CenterSample, Light, Occluder, Receiver, RenderUniforms, Shade, SurfacePattern, VisibilityParams, VisibilityQuery,
};
use crate::error::Result;
use crate::gpu::context::pipelines::KernelConstants;
use crate::gpu::engine::GpuEngine;
use crate::gpu::programs;
use crate::gpu::scene::GpuScene;
use crate::gpu::uniforms::Params;
use crate::query::policy::{Inside, Query};
use crate::records::Sphere;
use crate::runtime::cancel::CancelToken;
use crate::runtime::cpu_pool;
use crate::shadow::limb_darkening::LimbDarkening;
use crate::shadow::picture::image::{Picture, Pixel};
use crate::shadow::picture::prepared::{PreparedPicture, RenderedSpheroid};
use crate::shadow::picture::progress::{RenderClock, RenderProgress};
use crate::shadow::picture::receiver_lists::ReceiverLists;
use crate::shadow::picture::render_cpu as twin;
use crate::shadow::picture::shade::ShadingScratch;
use crate::shadow::system::System;
use crate::shadow::visibility::LocalVisibility;

const WORKGROUP: u32 = 64;
/// The sum of a pixel that the CPU has to recompute is at least this. Twin of `UNDONE` in `shaders/shadow/render.wgsl`.
const UNDONE: f32 = 1024.0;
/// Maximum number of visibility queries per dispatch: 16,384 workgroups, below every default limit.
const BAND: usize = 1 << 20;
/// Buffers, bind group and pipeline of a picture.
struct RenderBuffers {
    uniforms: Buffer,
    sums: Buffer,
    middles: Buffer,
    staging: Buffer,
    group: wgpu::BindGroup,
    pipeline: ComputePipeline,
}

/// Renders a system. The CPU computes the pixels where more than sixteen spheres overlap in front of the light, and those that need more
/// tests than a dispatch may run.
pub(crate) async fn picture(
    gpu: &GpuEngine,
    system: &Arc<System>,
    prepared_picture: &Arc<PreparedPicture>,
    lists: &ReceiverLists,
    cancel: &CancelToken,
    progress: &(dyn Fn(RenderProgress) + Send + Sync),
) -> Result<Picture> {
    let [width, height] = system.picture().size;
    // A system's picture has at most 2²⁶ pixels.
    let pixels = width * height;
    let mut picture = Picture::new([width, height], system.picture().transparent)?;
    let mut clock = RenderClock::start(progress);
    // Pixels per dispatch, limited like rays: at most 2²⁰, 16 MiB of sums.
    let band =
        GpuScene::band_rays(gpu, lists.most_tests(prepared_picture, [width, height])).min(u64::from(pixels)) as u32;
    let work = prepare(gpu, prepared_picture, lists, band).await?;
    let samples = system.picture().samples;
    let share = 1.0 / f64::from(samples * samples);
    for first in (0..pixels).step_by(band as usize) {
        let count = band.min(pixels - first);
        let mut uniforms = RenderUniforms {
            first_pixel: first,
            pixels: count,
            middle: 1,
            within: [0.5; 2],
            ..render_uniforms(system, prepared_picture, lists)
        };
        expose(gpu, &work, &uniforms).await?;
        uniforms.middle = 0;
        for sample in 0..samples * samples {
            cancel.check()?;
            let within = |i: u32| ((f64::from(i) + 0.5) / f64::from(samples)) as f32;
            uniforms.within = [within(sample % samples), within(sample / samples)];
            uniforms.fresh = u32::from(sample == 0);
            expose(gpu, &work, &uniforms).await?;
            let part = f64::from(count) * f64::from(sample + 1) * share;
            clock.report((f64::from(first) + part) / f64::from(pixels))?;
        }
        let mut sums = vec![[0.0_f32; 4]; count as usize];
        let mut middles = vec![<CenterSample as bytemuck::Zeroable>::zeroed(); count as usize];
        gpu.read(&work.sums, &work.staging, &mut sums).await?;
        gpu.read(&work.middles, &work.staging, &mut middles).await?;
        let share = share as f32;
        let mut crowded = Vec::new();
        for (i, (sum, middle)) in sums.iter().zip(&middles).enumerate() {
            let at = first as usize + i;
            let [r, g, b, covered] = *sum;
            if covered >= UNDONE || middle.crowded != 0 {
                crowded.push(at);
                continue;
            }
            let pixel = Pixel {
                rgb: [r * share, g * share, b * share],
                alpha: covered * share,
                t: f32::from_bits(middle.t),
                id: middle.id,
                fraction: middle.fraction,
            };
            picture.set(at, pixel);
        }
        for (at, pixel) in finish(system, prepared_picture, crowded).await? {
            picture.set(at, pixel);
        }
    }
    Ok(picture)
}

/// Computes in f64 the pixels that the device left to the CPU.
async fn finish(
    system: &Arc<System>,
    prepared_picture: &Arc<PreparedPicture>,
    pixels: Vec<usize>,
) -> Result<Vec<(usize, Pixel)>> {
    if pixels.is_empty() {
        return Ok(Vec::new());
    }
    let (system, prepared_picture) = (system.clone(), prepared_picture.clone());
    cpu_pool::run_on_pool(move || {
        let task = |pixels: &[usize]| {
            let mut scratch = ShadingScratch::default();
            let one = |&at: &usize| (at, twin::pixel(&system, &prepared_picture, &mut scratch, at));
            pixels.iter().map(one).collect::<Vec<_>>()
        };
        cpu_pool::map_tasks(pixels.chunks(twin::TASK_PIXELS), task).into_iter().flatten().collect()
    })
    .await
}

/// The uniforms that all dispatches share.
fn render_uniforms(system: &System, prepared_picture: &PreparedPicture, lists: &ReceiverLists) -> RenderUniforms {
    let view = &prepared_picture.view;
    let palette = twin::palette(system);
    let axes = view.axes.map(|axis| axis.as_vec3().to_array());
    RenderUniforms {
        size: system.picture().size,
        half: view.half.as_vec2().to_array(),
        right: axes[0],
        pixel: view.pixel as f32,
        up: axes[1],
        stars: palette.stars as f32,
        forward: axes[2],
        exposure: palette.exposure as f32,
        light: palette.light.as_vec3().to_array(),
        ambient: palette.ambient as f32,
        background: palette.background.as_vec3().to_array(),
        light_id: prepared_picture.bodies.len() as u32,
        projection: view.projection as u32,
        first_list: lists.tiles.first,
        columns: lists.tiles.columns,
        level: lists.tiles.level,
        figures: prepared_picture.spheroids.len() as u32,
        limb: prepared_picture.limb_darkening.map_or([0.0; 2], limb),
        ..bytemuck::Zeroable::zeroed()
    }
}

async fn prepare(
    gpu: &GpuEngine,
    prepared_picture: &PreparedPicture,
    lists: &ReceiverLists,
    band: u32,
) -> Result<RenderBuffers> {
    let mut spheres: Vec<Sphere> =
        prepared_picture.balls.iter().map(|ball| Sphere::new(ball.center.as_vec3(), ball.radius as f32)).collect();
    let colors: Vec<[f32; 4]> =
        prepared_picture.colors.iter().map(|c| [c[0] as f32, c[1] as f32, c[2] as f32, 0.0]).collect();
    let receivers: Vec<Receiver> = lists.receivers.iter().map(Receiver::from).collect();
    let shapes_at = lists.occluders.len();
    let mut occluders: Vec<Occluder> = lists.occluders.iter().map(|one| Occluder::new(one, shapes_at)).collect();
    occluders.extend(lists.shapes.iter().map(Occluder::from));
    let patterns: Vec<SurfacePattern> = prepared_picture.patterns.iter().map(SurfacePattern::from).collect();
    let uniform = BufferUsages::UNIFORM | BufferUsages::COPY_DST;
    let storage = BufferUsages::STORAGE | BufferUsages::COPY_SRC;
    let bytes = u64::from(band) * 16;
    // Rays ignore spheres that contain their origin: the camera looks out of them. All other spheres are hit from outside.
    let query = Query { inside: Inside::Ignore, ..Query::default() };
    let params = Params { largest: crate::bvh::scene_frame::max_magnitude(&spheres), ..Params::of(&query) };
    spheres.extend(prepared_picture.spheroids.iter().flat_map(records_of));
    let params_of_all = gpu.buffer("params", size_of::<Params>() as u64, uniform).await?;
    gpu.write(&params_of_all, &[params]).await?;
    let spheres = gpu.filled("spheres", &spheres).await?;
    let uniforms = gpu.buffer("uniforms", size_of::<RenderUniforms>() as u64, uniform).await?;
    // Empty lists are bound with one record: a minimal buffer of 16 bytes would be smaller than the record.
    let receivers = gpu.filled("receivers", &or_one(receivers)).await?;
    let occluders = gpu.filled("occluders", &or_one(occluders)).await?;
    let patterns = gpu.filled("surface patterns", &or_one(patterns)).await?;
    let colors = gpu.filled("colors", &colors).await?;
    let words = gpu.filled("grid lists", &lists.words).await?;
    let sums = gpu.buffer("sums", bytes, storage).await?;
    let middles = gpu.buffer("middles", bytes, storage).await?;
    let staging = gpu.buffer("staging", bytes, BufferUsages::MAP_READ | BufferUsages::COPY_DST).await?;
    // A device that fails the probe renders with plain arithmetic (`fast`): pictures have no guaranteed bound on t.
    let own = KernelConstants {
        fast: gpu.probe.failure.is_some(),
        round: prepared_picture.shapes.is_empty(),
        uniform_light: prepared_picture.limb_darkening.is_none(),
        ..KernelConstants::default()
    };
    let pipeline = gpu.pipeline(&programs::RENDER, own).await?;
    let bound = [
        (0, &params_of_all),
        (1, &spheres),
        (2, &uniforms),
        (3, &receivers),
        (4, &occluders),
        (5, &patterns),
        (6, &colors),
        (7, &sums),
        (8, &middles),
        (9, &words),
    ];
    let group = gpu.bind(&pipeline, &bound).await?;
    Ok(RenderBuffers { uniforms, sums, middles, staging, group, pipeline })
}

/// The records of a spheroid, as `shaders/shadow/shade.wgsl` reads them.
fn records_of(body: &RenderedSpheroid) -> [Sphere; 3] {
    let center = body.center + (body.stretch - 1.0) * body.center.dot(body.pole) * body.pole;
    [
        Sphere::new(center.as_vec3(), body.radius as f32),
        Sphere::new(body.pole.as_vec3(), body.stretch as f32),
        // Ids are below 2¹⁶.
        Sphere::new([body.around as f32, 0.0, 0.0], body.id as f32),
    ]
}

/// The coefficients of limb darkening in f32.
fn limb(law: LimbDarkening) -> [f32; 2] {
    law.coefficients().map(|u| u as f32)
}

fn or_one<T: bytemuck::Zeroable>(mut list: Vec<T>) -> Vec<T> {
    if list.is_empty() {
        list.push(T::zeroed());
    }
    list
}

/// Runs one dispatch over a band and waits for it. No submission contains more than one sample per pixel.
async fn expose(gpu: &GpuEngine, work: &RenderBuffers, uniforms: &RenderUniforms) -> Result<()> {
    gpu.write(&work.uniforms, &[*uniforms]).await?;
    let submission = gpu.dispatch(&work.pipeline, &work.group, uniforms.pixels.div_ceil(WORKGROUP)).await?;
    gpu.wait(submission).await?;
    Ok(())
}

/// Maximum number of occluders per query on the GPU. Each costs up to three of the 65,535 loop iterations after which lavapipe silently
/// stops a thread. The CPU computes queries with more.
const MAX_OCCLUDERS_PER_THREAD: usize = 4096;
/// Maximum number of occluders and shapes per upload: 32 MiB.
const MAX_OCCLUDERS_PER_SUBMISSION: usize = 1 << 20;

/// Number of leading queries that are uploaded together.
fn queries_per_submission(prepared: &[LocalVisibility]) -> usize {
    let mut sent = 0;
    let fits = |one: &&LocalVisibility| {
        sent += (one.occluders.len() + one.shapes.len()).min(2 * MAX_OCCLUDERS_PER_THREAD);
        sent <= MAX_OCCLUDERS_PER_SUBMISSION
    };
    prepared.iter().take(BAND).take_while(fits).count()
}

/// Whether the CPU has to compute a query: its occluders would exceed the iteration limit, or f32 is not precise enough.
fn needs_cpu(one: &LocalVisibility) -> bool {
    one.occluders.len() > MAX_OCCLUDERS_PER_THREAD || one.exceeds_f32()
}

/// Kind of a result that the CPU has to compute.
pub(crate) const LEFT_TO_CPU: u32 = 4;

/// Visible fractions of many queries, or visible fluxes of a light with limb darkening.
pub(crate) async fn visible_shades(
    gpu: &GpuEngine,
    prepared: &[LocalVisibility],
    darkening: Option<LimbDarkening>,
) -> Result<Vec<Shade>> {
    let mut out = Vec::with_capacity(prepared.len());
    let round = prepared.iter().all(|one| one.shapes.is_empty());
    let own = KernelConstants { round, uniform_light: darkening.is_none(), ..KernelConstants::default() };
    let pipeline = gpu.pipeline(&programs::VISIBILITY, own).await?;
    let limb = darkening.map_or([0.0; 2], limb);
    let mut rest = prepared;
    while !rest.is_empty() {
        let (chunk, later) = rest.split_at(queries_per_submission(rest));
        rest = later;
        let mut queries = Vec::with_capacity(chunk.len());
        let mut occluders: Vec<Occluder> = Vec::new();
        for one in chunk {
            let first = occluders.len() as u32;
            let own = if needs_cpu(one) { &[][..] } else { &one.occluders[..] };
            let shapes_at = occluders.len() + own.len();
            occluders.extend(own.iter().map(|one| Occluder::new(one, shapes_at)));
            if !own.is_empty() {
                occluders.extend(one.shapes.iter().map(Occluder::from));
            }
            queries.push(VisibilityQuery { light: Light::from(one.light), first, count: own.len() as u32 });
        }
        let bytes = (chunk.len() * size_of::<Shade>()) as u64;
        let uniform = BufferUsages::UNIFORM | BufferUsages::COPY_DST;
        let params = gpu.buffer("params", size_of::<VisibilityParams>() as u64, uniform).await?;
        gpu.write(&params, &[VisibilityParams { count: chunk.len() as u32, zero: 0, limb }]).await?;
        let queries = gpu.filled("visibility queries", &or_one(queries)).await?;
        let occluders = gpu.filled("occluders of visibility queries", &or_one(occluders)).await?;
        let results = gpu.buffer("shadow results", bytes, BufferUsages::STORAGE | BufferUsages::COPY_SRC).await?;
        let staging = gpu.buffer("staging", bytes, BufferUsages::MAP_READ | BufferUsages::COPY_DST).await?;
        let group = gpu.bind(&pipeline, &[(0, &params), (1, &queries), (2, &occluders), (3, &results)]).await?;
        let _ = gpu.dispatch(&pipeline, &group, (chunk.len() as u32).div_ceil(WORKGROUP)).await?;
        let mut raw = vec![Shade { fraction: 0.0, kind: LEFT_TO_CPU }; chunk.len()];
        gpu.read(&results, &staging, &mut raw).await?;
        for (raw, one) in raw.iter_mut().zip(chunk) {
            if needs_cpu(one) {
                raw.kind = LEFT_TO_CPU;
            }
        }
        out.append(&mut raw);
    }
    Ok(out)
}
