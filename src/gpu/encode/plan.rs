//! Plans of queries that are recorded into the caller's command encoder, over the caller's buffers.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use wgpu::{Buffer, BufferUsages, ComputePipeline};

use crate::batch::sphere_set::SphereAttributes;
use crate::cpu::query::kinds::{Approach, Closest, Interval};
use crate::cpu::scene::CpuScene;
use crate::error::{Error, Result};
use crate::gpu::cast::kernels::Kernels;
use crate::gpu::cast::plan::kernel_constants;
use crate::gpu::cast::readback::BitWriter;
use crate::gpu::cast::resolve::GpuQuery;
use crate::gpu::context::pipelines::KernelConstants;
use crate::gpu::engine::GpuEngine;
use crate::gpu::programs;
use crate::gpu::scene::GpuScene;
use crate::gpu::uniforms::Params;
use crate::query::kind::QueryKind;
use crate::query::policy::{Motion, Precision, Query};
use crate::records::{Ray, RayAttributes};

/// Threads per workgroup, in every program used here.
pub(crate) const WORKGROUP: u64 = 64;
/// Bytes per ray.
pub(crate) const RAY_BYTES: u64 = size_of::<Ray>() as u64;
/// Bytes of the status, which is four counts. At `exact`, the number of open rays and their indices follow.
pub(crate) const STATUS_BYTES: u64 = 16;

/// Uniform of an encoded query: offsets in the caller's buffers, and parameters. Twin of `Task` in `shaders/encode/task.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(crate) struct Task {
    pub(crate) count: u32,
    pub(crate) rays_at: u32,
    pub(crate) out_at: u32,
    pub(crate) status_at: u32,
    pub(crate) width: u32,
    pub(crate) approach: u32,
    pub(crate) times_at: u32,
    pub(crate) last_time: u32,
    pub(crate) time_from: u32,
    pub(crate) time_to: u32,
    pub(crate) moves_with_ray: u32,
    pub(crate) lists_open: u32,
    pub(crate) smallest: u32,
    pub(crate) longest: u32,
}

impl Kernels {
    fn for_query(query_kind: QueryKind) -> Self {
        match query_kind {
            QueryKind::Closest => Closest::KERNELS,
            QueryKind::Interval => Interval::KERNELS,
            QueryKind::Approach => Approach::KERNELS,
            QueryKind::Occluded => BitWriter::KERNELS,
        }
    }
}

/// A query prepared for encoding: its pipelines and its working memory. [`Scene::plan`](crate::Scene::plan) makes it and documents the
/// contract. Passes of one plan share the working memory, so they run one after the other; wgpu ensures this.
pub struct CastPlan {
    pub(crate) gpu: Arc<GpuEngine>,
    pub(crate) scene: Arc<GpuScene>,
    pub(crate) query_kind: QueryKind,
    pub(crate) max_rays: u64,
    /// Whether the status has a list of open rays.
    pub(crate) lists_open: bool,
    /// Rays beyond these limits are open: see [`Magnitudes::ray_limits`](crate::cpu::subnormal::Magnitudes::ray_limits).
    pub(crate) ray_limits: [f32; 2],
    /// Parameters that all dispatches have in common.
    pub(crate) params: Params,
    pub(crate) kernels: Kernels,
    pub(crate) uses_bvh: bool,
    pub(crate) search_pipeline: ComputePipeline,
    pub(crate) finalize_pipeline: Option<ComputePipeline>,
    /// The programs that copy the caller's rays and write the results; `None` if the search does both.
    pub(crate) around: Option<[ComputePipeline; 2]>,
    pub(crate) rays: Buffer,
    pub(crate) state: Buffer,
    pub(crate) results: Buffer,
    /// Ray attributes; `None` if no sphere moves.
    pub(crate) ray_attributes: Option<Buffer>,
    /// The time 0, for callers that pass no times.
    pub(crate) no_time: Buffer,
    /// `None` if no sphere moves.
    pub(crate) times: Option<Times>,
    /// Status buffer for callers that pass none; also bound as the spheres of an empty scene.
    pub(crate) spare: Buffer,
}

/// The scene's time range, and whether spheres move while rays travel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) range: [f32; 2],
    pub(crate) relative: bool,
}

impl CastPlan {
    pub(crate) async fn new(
        gpu: &Arc<GpuEngine>,
        scene: &Arc<GpuScene>,
        host: Option<&CpuScene>,
        range: [f32; 2],
        query_kind: QueryKind,
        most: u64,
        query: &Query,
    ) -> Result<Self> {
        gpu.check_precision(query.precision)?;
        let columns = host.map_or(&SphereAttributes::NONE, |host| &host.attributes);
        let lists_open = query.precision == Precision::Exact;
        // A device that flushes subnormal numbers is exact for ordinary numbers.
        let flushes = lists_open && !gpu.probe.subnormals;
        let ordinary = host.filter(|host| flushes && columns.velocities.is_none() && !host.needs_subnormals(false));
        let not_exact = match query_kind {
            _ if columns.maps.is_some() => Some("the scene contains ellipsoids"),
            _ if flushes && ordinary.is_none() => Some("the device flushes subnormal numbers to zero"),
            QueryKind::Approach => Some("closest approaches are rounded on the host"),
            _ => None,
        };
        if let Some(why) = not_exact.filter(|_| lists_open) {
            let (device, asked) = (gpu.name().into(), query.precision.word());
            return Err(Error::NoPrecision { device, asked, why: why.into(), instead: "fast or standard" });
        }
        let too_large = |what, asked, allowed| Err(Error::TooLarge { what, asked, allowed, device: gpu.name().into() });
        if let [first, rest @ ..] = &scene.parts[..]
            && !rest.is_empty()
        {
            let spheres: u64 = scene.parts.iter().map(|part| u64::from(part.count)).sum();
            return too_large("spheres of an encoded query", spheres * 16, u64::from(first.count) * 16);
        }
        let groups = u64::from(gpu.device.limits().max_compute_workgroups_per_dimension);
        let allowed = gpu.largest_binding().min(groups * WORKGROUP * RAY_BYTES).min(u64::from(u32::MAX));
        if most > allowed / RAY_BYTES {
            return too_large("rays of an encoded query", most.saturating_mul(RAY_BYTES), allowed);
        }
        let mut kernels = Kernels::for_query(query_kind);
        let uses_bvh = kernels.bvh.is_some() && scene.has_bvh();
        let is_single = query_kind == QueryKind::Closest && uses_bvh && columns.velocities.is_none() && !lists_open;
        if is_single {
            let bvh = Some(&programs::ENCODED_CLOSEST);
            kernels = Kernels { bvh, finalize: None, state_bytes: |_| 0, ..kernels };
        }
        let (has_filters, changes) = (scene.info.has_masks, scene.info.has_motion_or_shape);
        let own = KernelConstants {
            has_filters,
            has_motion_or_shape: changes,
            has_sphere_attributes: changes,
            has_ellipsoids: columns.maps.is_some(),
            shallow: scene.is_shallow(),
            ..kernel_constants(gpu, query)
        };
        let relative = query.motion == Motion::WithRay;
        let times = columns.velocities.as_ref().map(|_| Times { range, relative });
        let (search_pipeline, finalize_pipeline) = gpu.cast_pipelines(&kernels, uses_bvh, own).await?;
        let none = KernelConstants::default();
        let storage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let prepare = if times.is_some() { &programs::PREPARE_MOVING_RAYS } else { &programs::PREPARE_RAYS };
        let results = if kernels.finalize.is_some() { (kernels.result_bytes)(most) } else { 0 };
        Ok(Self {
            query_kind,
            max_rays: most,
            lists_open,
            ray_limits: ordinary.map_or([0.0, f32::INFINITY], |host| host.magnitudes().ray_limits(0.0, false)),
            params: Params { steps: gpu.steps(), ..scene.with_frame(Params::of(query)) },
            uses_bvh,
            search_pipeline,
            finalize_pipeline,
            around: match is_single {
                true => None,
                false => {
                    Some([gpu.pipeline(prepare, none).await?, gpu.pipeline(&programs::WRITE_RESULTS, none).await?])
                }
            },
            rays: gpu.buffer("encoded rays", if is_single { 0 } else { most * RAY_BYTES }, storage).await?,
            state: gpu.buffer("encoded state", (kernels.state_bytes)(most), storage).await?,
            results: gpu.buffer("encoded results", results, storage).await?,
            ray_attributes: match times {
                Some(_) => Some(
                    gpu.buffer("encoded ray attributes", most * RayAttributes::UPLOADED_BYTES as u64, storage).await?,
                ),
                None => None,
            },
            no_time: gpu.buffer("no time", 4, storage).await?,
            times,
            spare: gpu.buffer("spare status", STATUS_BYTES, storage).await?,
            kernels,
            gpu: gpu.clone(),
            scene: scene.clone(),
        })
    }

    /// Maximum number of rays per pass.
    pub fn max_rays(&self) -> u64 {
        self.max_rays
    }
}
