//! Visible fractions on a GPU, each for its own observer and occluders.

use wgpu::BufferUsages;

use super::render::{WORKGROUP, or_one};
use super::uniforms::{Light, Occluder, Shade, VisibilityParams, VisibilityQuery};
use crate::error::Result;
use crate::gpu::context::pipelines::KernelConstants;
use crate::gpu::engine::GpuEngine;
use crate::gpu::programs;
use crate::shadow::visibility::LocalVisibility;

/// Maximum number of visibility queries per dispatch: 16,384 workgroups, below every default limit.
const BAND: usize = 1 << 20;

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
fn needs_cpu(gpu: &GpuEngine, one: &LocalVisibility) -> bool {
    one.occluders.len() > MAX_OCCLUDERS_PER_THREAD || one.exceeds_f32(gpu.probe.rounds_correctly())
}

/// Kind of a result that the CPU has to compute.
pub(crate) const LEFT_TO_CPU: u32 = 4;

/// Visible fractions of many queries, or visible fluxes of a light with the limb darkening of a quadratic law.
pub(crate) async fn visible_shades(
    gpu: &GpuEngine,
    prepared: &[LocalVisibility],
    darkening: Option<[f64; 2]>,
) -> Result<Vec<Shade>> {
    let mut out = Vec::with_capacity(prepared.len());
    let round = prepared.iter().all(|one| one.shapes.is_empty());
    let own = KernelConstants { round, uniform_light: darkening.is_none(), ..KernelConstants::default() };
    let pipeline = gpu.pipeline(&programs::VISIBILITY, own).await?;
    let limb = darkening.map_or([0.0; 2], |law| law.map(|u| u as f32));
    let mut rest = prepared;
    while !rest.is_empty() {
        let (chunk, later) = rest.split_at(queries_per_submission(rest));
        rest = later;
        let mut queries = Vec::with_capacity(chunk.len());
        let mut occluders: Vec<Occluder> = Vec::new();
        for one in chunk {
            let first = occluders.len() as u32;
            let own = if needs_cpu(gpu, one) { &[][..] } else { &one.occluders[..] };
            let shapes_at = occluders.len() + own.len();
            occluders.extend(own.iter().map(|one| Occluder::new(one, shapes_at)));
            if !own.is_empty() {
                occluders.extend(one.shapes.iter().map(Occluder::from));
            }
            let light = Light { inverse_distance: one.light.inverse_distance as f32, ratio: one.light.ratio as f32 };
            queries.push(VisibilityQuery { light, first, count: own.len() as u32 });
        }
        let bytes = (chunk.len() * size_of::<Shade>()) as u64;
        let params = VisibilityParams { count: chunk.len() as u32, zero: 0, limb };
        let params = gpu.uniform("params", &params).await?;
        let queries = gpu.filled("visibility queries", &or_one(queries)).await?;
        let occluders = gpu.filled("occluders of visibility queries", &or_one(occluders)).await?;
        let results = gpu.buffer("shadow results", bytes, BufferUsages::STORAGE | BufferUsages::COPY_SRC).await?;
        let staging = gpu.staging_buffer("staging", bytes).await?;
        let group = gpu.bind(&pipeline, &[(0, &params), (1, &queries), (2, &occluders), (3, &results)]).await?;
        let _ = gpu.dispatch(&pipeline, &group, (chunk.len() as u32).div_ceil(WORKGROUP)).await?;
        let mut raw = vec![Shade { fraction: 0.0, kind: LEFT_TO_CPU }; chunk.len()];
        gpu.read(&results, &staging, &mut raw).await?;
        for (raw, one) in raw.iter_mut().zip(chunk) {
            if needs_cpu(gpu, one) {
                raw.kind = LEFT_TO_CPU;
            }
        }
        out.append(&mut raw);
    }
    Ok(out)
}
