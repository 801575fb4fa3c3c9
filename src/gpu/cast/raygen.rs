//! Uploads rays, or the seeds from which the device generates them. See `shaders/raygen.wgsl`.

use bytemuck::{Pod, Zeroable};
use wgpu::{BindGroup, ComputePipeline};

use super::staging::{BufferSizes, Excluded, Staging, TASK_RECORDS, Upload};
use crate::batch::raygen::grid::GridSlice;
use crate::batch::raygen::points::{PointRays, PointTarget};
use crate::batch::raygen::source::RaySource;
use crate::error::Result;
use crate::gpu::context::pipelines::KernelConstants;
use crate::gpu::engine::GpuEngine;
use crate::gpu::programs;
use crate::intersect::resolve::with_finite_ends;
use crate::query::policy::OnBad;
use crate::records::Ray;
use crate::runtime::map_tasks;

/// Header of the seeds of a chunk; points or tables follow it. Twin of `RayGenParams` in `shaders/raygen.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(crate) struct RayGenParams {
    pub(crate) kind: u32,
    pub(crate) count: u32,
    pub(crate) zero: u32,
    pub(crate) columns: u32,
    pub(crate) first_column: u32,
    pub(crate) rows: u32,
    pub(crate) first_row: u32,
    pub(crate) rows_at: u32,
    pub(crate) frames_at: u32,
    pub(crate) radius: f32,
    pub(crate) t_min: f32,
    pub(crate) t_max: f32,
    pub(crate) toward: [f32; 3],
    pub(crate) unused: u32,
}

const PARALLEL: u32 = 0;
const TOWARD: u32 = 1;
const GRID: u32 = 2;
const ORTHOGRAPHIC: u32 = 3;

/// Maximum size of a grid's tables, in bytes per ray. Larger tables cost more than they save; the rays are uploaded instead.
const MAX_TABLE_BYTES: usize = size_of::<Ray>() / 2;

/// The program that generates rays. `None` if rays are given as records, or if the device fails the probe, as it might generate different
/// rays.
pub(crate) async fn generator(gpu: &GpuEngine, rays: RaySource<'_>) -> Result<Option<ComputePipeline>> {
    if matches!(rays, RaySource::Records(_)) || gpu.probe.failure.is_some() {
        return Ok(None);
    }
    gpu.pipeline(&programs::RAYGEN, KernelConstants::default()).await.map(Some)
}

/// Upload of a chunk's rays: the rays themselves, or the seeds from which the device generates them.
pub(crate) enum RaySeeds<'a> {
    Rays(RaySource<'a>),
    Points(PointRays<'a>),
    Grid(GridSlice<'a>, RayGenParams, Vec<f32>),
}

impl<'a> RaySeeds<'a> {
    /// Chooses how to upload rays. `makes` says whether the device can generate rays.
    pub(crate) fn of(rays: RaySource<'a>, makes: bool) -> Self {
        match rays {
            RaySource::Points(points) if makes => Self::Points(points),
            RaySource::Grid(part) if makes => {
                let (head, tables) = grid_params(part);
                if size_of_val(&tables[..]) > MAX_TABLE_BYTES * part.len() {
                    return Self::Rays(rays);
                }
                Self::Grid(part, head, tables)
            }
            _ => Self::Rays(rays),
        }
    }

    /// The rays themselves.
    pub(crate) fn rays(&self) -> RaySource<'a> {
        match self {
            Self::Rays(rays) => *rays,
            Self::Points(points) => RaySource::Points(*points),
            Self::Grid(part, ..) => RaySource::Grid(*part),
        }
    }

    /// Whether the device generates the rays.
    pub(crate) fn are_generated(&self) -> bool {
        !matches!(self, Self::Rays(_))
    }

    /// The generator with its bind group, if it generates these rays.
    pub(crate) async fn bind_group<'g>(
        &self,
        gpu: &GpuEngine,
        generator: Option<&'g ComputePipeline>,
        staging: &Staging,
    ) -> Result<Option<(&'g ComputePipeline, BindGroup)>> {
        let Some(generator) = generator.filter(|_| self.are_generated()) else { return Ok(None) };
        Ok(Some((generator, gpu.bind(generator, &[(0, &staging.seeds), (1, &staging.rays)]).await?)))
    }

    /// Bytes to upload.
    pub(crate) fn bytes(&self) -> u64 {
        let bytes = match self {
            Self::Rays(rays) => rays.len() * size_of::<Ray>(),
            Self::Points(points) => size_of::<RayGenParams>() + size_of_val(points.points),
            Self::Grid(_, _, tables) => size_of::<RayGenParams>() + size_of_val(&tables[..]),
        };
        bytes as u64
    }

    /// Writes the rays or seeds into the upload, on all CPU cores. `check` refuses a ray, or says whether the device casts it. Returns the
    /// others; with [`OnBad::Refuse`] the first error is returned instead. A harmless ray replaces each that is excluded, and its result is
    /// ignored. `each` says whether `check` looks at more than what the ray generator has checked. `plain` says, in less time, that the
    /// device casts all of some records.
    pub(crate) fn write(
        &self,
        upload: &mut Upload,
        on_bad: OnBad,
        each: bool,
        check: impl Fn(usize) -> Result<bool> + Sync,
        plain: impl Fn(&[Ray]) -> bool + Sync,
    ) -> Result<Excluded> {
        let usable = |at: usize, excluded: &mut Excluded| match check(at) {
            Ok(true) => Ok(true),
            Err(error) if on_bad == OnBad::Refuse => Err(error),
            other => {
                let list = if other.is_ok() { &mut excluded.on_host } else { &mut excluded.invalid };
                list.push(at as u32);
                Ok(false)
            }
        };
        match self {
            Self::Rays(rays) => {
                // Replaces an invalid ray. Its range is empty: the start is greater than the end.
                let none = Ray::new([0.0; 3], [1.0, 0.0, 0.0]).between(f32::MAX, -f32::MAX);
                upload.write_rays::<_, { TASK_RECORDS * size_of::<Ray>() }>(0, rays.len(), |own, ready, excluded| {
                    if let RaySource::Records(all) = rays
                        && plain(&all[own.clone()])
                    {
                        ready.iter_mut().zip(&all[own]).for_each(|(ready, ray)| *ready = with_finite_ends(ray));
                        return Ok(());
                    }
                    for (at, ready) in own.zip(ready) {
                        *ready = if usable(at, excluded)? { with_finite_ends(&rays.ray(at)) } else { none };
                    }
                    Ok(())
                })
            }
            Self::Points(points) => {
                let (head, harmless) = point_params(points);
                upload.rays(0, &[head]);
                upload.write_rays::<_, { TASK_RECORDS * size_of::<[f32; 3]>() }>(
                    size_of::<RayGenParams>(),
                    points.points.len(),
                    |own, ready, excluded| {
                        for (at, ready) in own.zip(ready) {
                            *ready = if usable(at, excluded)? { points.points[at] } else { harmless };
                        }
                        Ok(())
                    },
                )
            }
            Self::Grid(part, head, tables) => {
                upload.rays(0, &[*head]);
                upload.rays(size_of::<RayGenParams>(), tables);
                let count = if !part.grid.invalid_frames.is_empty() || each { part.len() } else { 0 };
                let task = |start: usize| {
                    let mut excluded = Excluded::default();
                    (start..count.min(start + TASK_RECORDS))
                        .try_for_each(|at| usable(at, &mut excluded).map(|_| ()))?;
                    Ok(excluded)
                };
                Excluded::join(map_tasks((0..count).step_by(TASK_RECORDS), task))
            }
        }
    }
}

/// The header for points, and a valid point that replaces invalid ones.
fn point_params(points: &PointRays<'_>) -> (RayGenParams, [f32; 3]) {
    let count = points.points.len() as u32;
    match points.target {
        PointTarget::Along { direction, t_max } => {
            let t_max = t_max.min(f32::MAX);
            (
                RayGenParams { kind: PARALLEL, count, toward: direction.to_array(), t_max, ..RayGenParams::default() },
                [0.0; 3],
            )
        }
        PointTarget::At { target, radius } => {
            let harmless = [if target.x == 0.0 { 1.0 } else { 0.0 }, 0.0, 0.0];
            (
                RayGenParams { kind: TOWARD, count, toward: target.to_array(), radius, ..RayGenParams::default() },
                harmless,
            )
        }
    }
}

/// The header and the tables of a grid, limited to the entries that its rays need. Each table begins with the entry of the first ray;
/// columns and rows wrap around.
fn grid_params(part: GridSlice<'_>) -> (RayGenParams, Vec<f32>) {
    let grid = part.grid;
    let (first, count) = (part.index_of(0), part.len());
    let (columns, rows) = (grid.columns.len(), grid.rows.len());
    let own_rows = (first.column + count).div_ceil(columns);
    let own_frames = (first.row + own_rows).div_ceil(rows);
    let mut tables = Vec::new();
    tables.extend(grid.columns.iter().cycle().skip(first.column).take(columns.min(count)).flatten());
    let rows_at = tables.len() as u32;
    tables.extend(grid.rows.iter().cycle().skip(first.row).take(rows.min(own_rows)).flatten());
    let frames_at = tables.len() as u32;
    for frame in &grid.frames[first.frame..first.frame + own_frames] {
        // The position of an unusable frame is NaN, which must not reach a device.
        let position = if frame.position.is_finite() { frame.position } else { glam::Vec3::ZERO };
        for axis in [position, frame.forward, frame.side, frame.up] {
            tables.extend(axis.to_array());
        }
    }
    let ends = with_finite_ends(&Ray::new([0.0; 3], [1.0, 0.0, 0.0]).between(grid.t_min, grid.t_max));
    let head = RayGenParams {
        kind: if grid.orthographic { ORTHOGRAPHIC } else { GRID },
        count: count as u32,
        columns: columns as u32,
        first_column: first.column as u32,
        rows: rows as u32,
        first_row: first.row as u32,
        rows_at,
        frames_at,
        t_min: ends.t_min,
        t_max: ends.t_max,
        ..RayGenParams::default()
    };
    (head, tables)
}

/// Generates rays on a device and reads them back. Returns them and the number of bytes uploaded. For tests.
pub(crate) async fn generated_rays(gpu: &GpuEngine, rays: RaySource<'_>) -> Result<(Vec<Ray>, u64)> {
    let generator = generator(gpu, rays).await?;
    let seeds = RaySeeds::of(rays, generator.is_some());
    let records = (rays.len() * size_of::<Ray>()) as u64;
    let up = seeds.bytes();
    let sizes = BufferSizes {
        upload_rays: up,
        seeds: if seeds.are_generated() { up } else { 0 },
        rays: records,
        results: records,
        ..BufferSizes::default()
    };
    let staging = Staging::new(gpu, sizes).await?;
    let check = |at| rays.check_one(at, at as u64).map(|()| true);
    seeds.write(&mut staging.view(gpu).await?, OnBad::Skip, false, check, |_| false)?;
    let group = seeds.bind_group(gpu, generator.as_ref(), &staging).await?;
    let submission = gpu
        .scoped(|| {
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            staging.record_upload(&mut encoder, &sizes);
            if let Some((pipeline, group)) = &group {
                let mut pass = encoder.begin_compute_pass(&Default::default());
                pass.set_pipeline(pipeline);
                pass.set_bind_group(0, group, &[]);
                pass.dispatch_workgroups(rays.len().div_ceil(64) as u32, 1, 1);
            }
            staging.record_readback(&mut encoder, &staging.rays, 0, records);
            gpu.queue.submit([encoder.finish()])
        })
        .await?;
    let pending = gpu.scoped(|| staging.map_after(submission, records)).await?;
    let view = staging.wait(gpu, pending, records).await?;
    let made = bytemuck::pod_collect_to_vec(&view);
    drop(view);
    gpu.scoped(|| staging.unmap()).await?;
    Ok((made, up))
}
