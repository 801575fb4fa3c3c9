//! Pictures on a GPU.

use wgpu::{Buffer, BufferUsages, ComputePipeline};

use super::tree::PictureTree;
use super::uniforms::{CenterSample, Occluder, Receiver, RenderUniforms, SurfacePattern};
use crate::batch::raygen::projection::Projection;
use crate::bvh::gpu_frame::max_magnitude;
use crate::error::Result;
use crate::gpu::context::pipelines::KernelConstants;
use crate::gpu::engine::GpuEngine;
use crate::gpu::programs::{self, Program};
use crate::gpu::scene::GpuScene;
use crate::gpu::uniforms::Params;
use crate::query::policy::{Inside, Query};
use crate::records::Sphere;
use crate::runtime::cancel::CancelToken;
use crate::shadow::limb_darkening::LimbDarkening;
use crate::shadow::picture::image::{CpuFallback, Picture, Pixel};
use crate::shadow::picture::prepared::PreparedPicture;
use crate::shadow::picture::progress::{RenderClock, RenderProgress};
use crate::shadow::picture::receiver_lists::ReceiverLists;
use crate::shadow::picture::render_cpu as twin;
use crate::shadow::picture::shade::ShadingScratch;
use crate::shadow::spheroid::Spheroid;
use crate::shadow::system::System;

pub(super) const WORKGROUP: u32 = 64;
/// The sum of a pixel that the CPU has to recompute is at least this. Twin of `UNDONE` in `shaders/shadow/render.wgsl`.
const UNDONE: f32 = 1024.0;

/// How the shaders find the bodies of a picture.
enum Bodies {
    /// Lists of spheres per tile, and of occluders per receiver: for few spheres, or few that shade one another.
    Lists(ReceiverLists),
    /// A BVH: for any number of spheres.
    Tree(PictureTree),
}

impl Bodies {
    /// Prepares the bodies of a picture: lists if they are short and precise, otherwise a BVH. Returns the reason if this GPU cannot render
    /// the picture.
    fn new(gpu: &GpuEngine, picture: &PreparedPicture) -> Result<std::result::Result<Self, CpuFallback>> {
        if let Some(lists) = ReceiverLists::new(picture)?.filter(|lists| lists.are_precise(picture)) {
            return Ok(Ok(Self::Lists(lists)));
        }
        // The low parts of positions need the error terms that the probe checks.
        if gpu.probe.failure.is_some() {
            return Ok(Err(CpuFallback::Probe));
        }
        Ok(PictureTree::new(picture, gpu.largest_binding())?.map(Self::Tree))
    }

    /// Upper bound or estimate of the tests of a pixel.
    fn tests(&self, picture: &PreparedPicture, size: [u32; 2]) -> u64 {
        match self {
            Self::Lists(lists) => lists.most_tests(picture, size),
            Self::Tree(tree) => tree.tests(),
        }
    }

    /// Uniforms of the shader that finds the bodies.
    fn set_uniforms(&self, picture: &PreparedPicture, uniforms: &mut RenderUniforms) {
        match self {
            Self::Lists(lists) => {
                uniforms.first_list = lists.tiles.first;
                uniforms.columns = lists.tiles.columns;
                uniforms.level = lists.tiles.level;
                uniforms.figures = picture.spheroids.len() as u32;
            }
            Self::Tree(tree) => {
                uniforms.nodes = tree.nodes.len() as u32;
                if picture.view.projection == Projection::Orthographic {
                    // The picture plane is measured in lengths; in perspective, in tangents of angles.
                    uniforms.half = (picture.view.half / tree.unit).as_vec2().to_array();
                    uniforms.pixel = (picture.view.pixel / tree.unit) as f32;
                }
            }
        }
    }

    /// The program, and the buffers of the bodies with their binding numbers.
    async fn upload(
        &self,
        gpu: &GpuEngine,
        picture: &PreparedPicture,
    ) -> Result<(&'static Program, Vec<(u32, Buffer)>)> {
        match self {
            Self::Lists(lists) => {
                let mut spheres = spheres_of(picture);
                spheres.extend(picture.spheroids.iter().flat_map(records_of));
                let receivers: Vec<Receiver> = lists.receivers.iter().map(Receiver::from).collect();
                let shapes_at = lists.occluders.len();
                let mut occluders: Vec<Occluder> =
                    lists.occluders.iter().map(|one| Occluder::new(one, shapes_at)).collect();
                occluders.extend(lists.shapes.iter().map(Occluder::from));
                let buffers = vec![
                    (1, gpu.filled("spheres", &spheres).await?),
                    (3, gpu.filled("receivers", &or_one(receivers)).await?),
                    (4, gpu.filled("occluders", &or_one(occluders)).await?),
                    (9, gpu.filled("grid lists", &lists.words).await?),
                ];
                Ok((&programs::RENDER, buffers))
            }
            Self::Tree(tree) => {
                let buffers = vec![
                    (1, gpu.filled("nodes of a picture", &or_one(tree.nodes.clone())).await?),
                    (3, gpu.filled("spheres of a picture", &tree.balls).await?),
                    (4, gpu.filled("bodies of a picture", &tree.bodies).await?),
                ];
                Ok((&programs::RENDER_TREE, buffers))
            }
        }
    }

    /// Factor from the distances of the shader to those of the system.
    fn unit(&self) -> f32 {
        match self {
            Self::Lists(_) => 1.0,
            Self::Tree(tree) => tree.unit as f32,
        }
    }
}

/// Buffers, bind group and pipeline of a picture.
struct RenderBuffers {
    uniforms: Buffer,
    sums: Buffer,
    middles: Buffer,
    staging: Buffer,
    group: wgpu::BindGroup,
    pipeline: ComputePipeline,
}

/// Renders a system, or returns the reason why the CPU has to. The CPU computes the pixels where more than sixteen spheres overlap in front
/// of the light, and those that need more tests than a dispatch may run.
pub(crate) async fn picture(
    gpu: &GpuEngine,
    system: &System,
    prepared_picture: &PreparedPicture,
    cancel: &CancelToken,
    progress: &(dyn Fn(RenderProgress) + Send + Sync),
) -> Result<std::result::Result<Picture, CpuFallback>> {
    let bodies = match system.cpu_fallback() {
        Some(reason) => Err(reason),
        None => Bodies::new(gpu, prepared_picture)?,
    };
    let bodies = &match bodies {
        Ok(bodies) => bodies,
        Err(reason) => return Ok(Err(reason)),
    };
    let [width, height] = system.picture().size;
    // A system's picture has at most 2²⁶ pixels.
    let pixels = width * height;
    let mut picture = Picture::new([width, height], system.picture().transparent)?;
    let clock = RenderClock::start(progress);
    // Pixels per dispatch, limited like rays: at most 2²⁰, 16 MiB of sums.
    let band = GpuScene::band_rays(gpu, bodies.tests(prepared_picture, [width, height])).min(u64::from(pixels)) as u32;
    let work = prepare(gpu, prepared_picture, bodies, band).await?;
    let samples = system.picture().samples;
    let share = 1.0 / f64::from(samples * samples);
    for first in (0..pixels).step_by(band as usize) {
        let count = band.min(pixels - first);
        let mut uniforms = RenderUniforms {
            first_pixel: first,
            pixels: count,
            middle: 1,
            within: [0.5; 2],
            ..render_uniforms(system, prepared_picture, bodies)
        };
        let mut running = expose(gpu, &work, &uniforms).await?;
        uniforms.middle = 0;
        for sample in 0..samples * samples {
            cancel.check()?;
            let within = |i: u32| ((f64::from(i) + 0.5) / f64::from(samples)) as f32;
            uniforms.within = [within(sample % samples), within(sample / samples)];
            uniforms.fresh = u32::from(sample == 0);
            let next = expose(gpu, &work, &uniforms).await?;
            gpu.wait(std::mem::replace(&mut running, next)).await?;
            let part = f64::from(count) * f64::from(sample + 1) * share;
            clock.report((f64::from(first) + part) / f64::from(pixels));
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
                t: f32::from_bits(middle.t) * bodies.unit(),
                id: middle.id,
                fraction: middle.fraction,
            };
            picture.set(at, pixel);
        }
        picture.cpu_pixels += crowded.len();
        // In f64 by the CPU.
        let exact = |scratch: &mut ShadingScratch, at| twin::pixel(system, prepared_picture, scratch, at);
        twin::each_pixel(&crowded, exact).for_each(|(at, pixel)| picture.set(at, pixel));
    }
    Ok(Ok(picture))
}

/// The uniforms that all dispatches share.
fn render_uniforms(system: &System, prepared_picture: &PreparedPicture, bodies: &Bodies) -> RenderUniforms {
    let view = &prepared_picture.view;
    let options = system.picture();
    let axes = view.axes.map(|axis| axis.as_vec3().to_array());
    let mut uniforms = RenderUniforms {
        size: options.size,
        half: view.half.as_vec2().to_array(),
        right: axes[0],
        pixel: view.pixel as f32,
        up: axes[1],
        stars: options.stars as f32,
        forward: axes[2],
        exposure: options.exposure as f32,
        light: system.light().color.0.map(|part| part as f32),
        ambient: options.ambient as f32,
        background: options.shown_background().as_vec3().to_array(),
        light_id: prepared_picture.bodies.len() as u32,
        projection: view.projection as u32,
        limb: prepared_picture
            .limb_darkening
            .and_then(LimbDarkening::quadratic)
            .map_or([0.0; 2], |law| law.map(|u| u as f32)),
        ..bytemuck::Zeroable::zeroed()
    };
    bodies.set_uniforms(prepared_picture, &mut uniforms);
    uniforms
}

async fn prepare(
    gpu: &GpuEngine,
    prepared_picture: &PreparedPicture,
    bodies: &Bodies,
    band: u32,
) -> Result<RenderBuffers> {
    let colors: Vec<[f32; 4]> =
        prepared_picture.colors.iter().map(|c| [c[0] as f32, c[1] as f32, c[2] as f32, 0.0]).collect();
    let patterns: Vec<SurfacePattern> = prepared_picture.patterns.iter().map(SurfacePattern::from).collect();
    let uniform = BufferUsages::UNIFORM | BufferUsages::COPY_DST;
    let storage = BufferUsages::STORAGE | BufferUsages::COPY_SRC;
    let bytes = u64::from(band) * 16;
    // Rays ignore spheres that contain their origin: the camera looks out of them. All other spheres are hit from outside.
    let query = Query { inside: Inside::Ignore, ..Query::default() };
    let params = Params { largest: max_magnitude(&spheres_of(prepared_picture)), ..Params::of(&query) };
    let params_of_all = gpu.uniform("params", &params).await?;
    let uniforms = gpu.buffer("uniforms", size_of::<RenderUniforms>() as u64, uniform).await?;
    // Empty lists are bound with one record: a minimal buffer of 16 bytes would be smaller than the record.
    let patterns = gpu.filled("surface patterns", &or_one(patterns)).await?;
    let colors = gpu.filled("colors", &colors).await?;
    let (program, buffers) = bodies.upload(gpu, prepared_picture).await?;
    let sums = gpu.buffer("sums", bytes, storage).await?;
    let middles = gpu.buffer("middles", bytes, storage).await?;
    let staging = gpu.staging_buffer("staging", bytes).await?;
    // A device that fails the probe renders with plain arithmetic (`fast`): pictures have no guaranteed bound on t.
    let own = KernelConstants {
        fast: gpu.probe.failure.is_some(),
        round: prepared_picture.shapes.is_empty() && matches!(bodies, Bodies::Lists(_)),
        uniform_light: prepared_picture.limb_darkening.is_none(),
        ..KernelConstants::default()
    };
    let pipeline = gpu.pipeline(program, own).await?;
    let mut bound: Vec<_> = buffers.iter().map(|(binding, buffer)| (*binding, buffer)).collect();
    bound.extend([(0, &params_of_all), (2, &uniforms), (5, &patterns), (6, &colors), (7, &sums), (8, &middles)]);
    let group = gpu.bind(&pipeline, &bound).await?;
    Ok(RenderBuffers { uniforms, sums, middles, staging, group, pipeline })
}

/// The spheres of a picture in camera space, the light last.
fn spheres_of(picture: &PreparedPicture) -> Vec<Sphere> {
    picture.balls.iter().map(|ball| Sphere::new(ball.center.as_vec3(), ball.radius as f32)).collect()
}

/// The records of a spheroid, as `shaders/shadow/lists.wgsl` reads them.
fn records_of((id, body): &(u32, Spheroid)) -> [Sphere; 3] {
    let stretch = body.radius / body.polar_radius;
    let center = body.center + (stretch - 1.0) * body.center.dot(body.pole) * body.pole;
    [
        Sphere::new(center.as_vec3(), body.radius as f32),
        Sphere::new(body.pole.as_vec3(), stretch as f32),
        // Ids are below 2¹⁶.
        Sphere::new([body.bounding_ball().radius as f32, 0.0, 0.0], *id as f32),
    ]
}

/// The list, or one zero record in place of an empty list.
pub(super) fn or_one<T: bytemuck::Zeroable>(mut list: Vec<T>) -> Vec<T> {
    if list.is_empty() {
        list.push(T::zeroed());
    }
    list
}

/// Submits one dispatch over a band. No submission contains more than one sample per pixel, so that none runs into a time limit; the caller
/// waits for the one before, so that the device always has work.
async fn expose(gpu: &GpuEngine, work: &RenderBuffers, uniforms: &RenderUniforms) -> Result<wgpu::SubmissionIndex> {
    gpu.write(&work.uniforms, &[*uniforms]).await?;
    gpu.dispatch(&work.pipeline, &work.group, uniforms.pixels.div_ceil(WORKGROUP)).await
}
