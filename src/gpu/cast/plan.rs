//! Plan of a cast, which all its chunks share: programs, ranges of spheres, and buffer sizes.

use wgpu::{BindGroup, ComputePipeline};

use super::kernels::Kernels;
use super::raygen::{RaySeeds, generator};
use super::staging::{BufferSizes, Excluded, Staging, TASK_RECORDS, Upload};
use crate::batch::ray_batch::RayBatch;
use crate::cpu::scene::CpuScene;
use crate::error::{Error, Result};
use crate::gpu::context::pipelines::KernelConstants;
use crate::gpu::context::throughput::Throughput;
use crate::gpu::engine::GpuEngine;
use crate::gpu::scene::GpuScene;
use crate::gpu::sphere_attributes::{attribute_words, pack_attributes};
use crate::gpu::uniforms::{Params, UNIFORM_STEP};
use crate::query::policy::{Precision, Query};
use crate::records::{NO_SPHERE, Ray, RayAttributes, Sphere};

/// How to search for the spheres that rays hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Search {
    /// BVH traversal, if there is a BVH.
    Bvh,
    /// Brute force: every sphere is tested.
    BruteForce,
}

/// Assumed cost of one traversal, in sphere tests. Throughput is measured for each search method, so the value need not be accurate.
const BVH_WEIGHT: u64 = 512;

/// Spheres `begin..end` of a part, searched in one dispatch.
pub(crate) struct SphereRange {
    pub(crate) part: usize,
    begin: u32,
    end: u32,
    /// Cost per ray, in sphere tests.
    pub(crate) weight: u64,
}

/// Programs, ranges and parameters that all chunks of a cast share.
pub(crate) struct DispatchPlan<'a> {
    pub(crate) gpu: &'a GpuEngine,
    pub(crate) scene: &'a GpuScene,
    pub(crate) host: &'a CpuScene,
    pub(crate) batch: RayBatch<'a>,
    kernels: Kernels,
    pub(crate) search_pipeline: ComputePipeline,
    /// Rays per thread of `search_pipeline`.
    pub(crate) rays_per_thread: u64,
    pub(crate) finalize_pipeline: Option<ComputePipeline>,
    /// The program that generates rays on the device; `None` if they are uploaded.
    pub(crate) generator: Option<ComputePipeline>,
    pub(crate) ranges: Vec<SphereRange>,
    uses_bvh: bool,
    /// Whether ray attributes are uploaded.
    uploads_ray_attributes: bool,
    /// Whether the device flushes subnormal numbers to 0 and the precision is `exact`: the host then casts the rays that need them.
    needs_subnormals: bool,
    is_approach: bool,
}

impl<'a> DispatchPlan<'a> {
    pub(crate) async fn new(
        gpu: &'a GpuEngine,
        scene: &'a GpuScene,
        host: &'a CpuScene,
        batch: RayBatch<'a>,
        search: Search,
        kernels: Kernels,
        is_approach: bool,
    ) -> Result<Self> {
        let bvh_kernel = kernels.bvh.filter(|_| search == Search::Bvh && scene.has_bvh());
        let mut ranges = Vec::new();
        if host.pairwise {
            ranges.push(SphereRange { part: 0, begin: 0, end: 1, weight: 1 });
        }
        for (part, spheres) in scene.parts.iter().enumerate() {
            let weight = |begin, end| if bvh_kernel.is_some() { BVH_WEIGHT } else { u64::from(end - begin) };
            let own = spheres.ranges(bvh_kernel.is_some());
            ranges.extend(own.map(|(begin, end)| SphereRange { part, begin, end, weight: weight(begin, end) }));
        }
        if ranges.is_empty() {
            // One empty range, so that a dispatch marks every ray as a miss.
            ranges.push(SphereRange { part: 0, begin: 0, end: 0, weight: 1 });
        }
        let has_filters = host.has_filters(&batch.ray_attributes);
        let has_motion_or_shape = host.has_motion_or_shape(&batch.ray_attributes);
        let own = KernelConstants {
            has_filters,
            has_motion_or_shape,
            has_sphere_attributes: host.attributes.has_motion_or_shape(),
            has_ellipsoids: host.attributes.maps.is_some(),
            has_transmittances: host.attributes.optical_depths.is_some(),
            shallow: scene.is_shallow(),
            ..kernel_constants(gpu, batch.query)
        };
        let (search_pipeline, finalize_pipeline) = gpu.cast_pipelines(&kernels, bvh_kernel.is_some(), own).await?;
        Ok(Self {
            gpu,
            scene,
            host,
            batch,
            search_pipeline,
            finalize_pipeline,
            rays_per_thread: if bvh_kernel.is_some() { 1 } else { kernels.rays_per_thread },
            kernels,
            generator: generator(gpu, batch.rays).await?,
            ranges,
            uses_bvh: bvh_kernel.is_some(),
            uploads_ray_attributes: has_filters || has_motion_or_shape,
            needs_subnormals: !gpu.probe.subnormals && batch.query.precision == Precision::Exact,
            is_approach,
        })
    }

    /// Measured throughput of the scene with this search method.
    pub(crate) fn throughput(&self) -> &'a Throughput {
        self.scene.throughput(self.uses_bvh)
    }

    /// Number of rays of the next chunk, from the current throughput. Fails if a single ray does not fit into a binding.
    pub(crate) fn next_chunk_rays(&self) -> Result<usize> {
        let weight = self.ranges.iter().map(|range| range.weight).sum();
        let chunk = GpuScene::chunk_rays(self.gpu, self.throughput().budget(), weight);
        // All uploads of a chunk share one buffer.
        let (one, params) = (Self::bytes_per_ray(self.host.pairwise), self.params_bytes() + 4 * BufferSizes::SIZE_STEP);
        let allowed = self.gpu.largest_binding();
        let one = one + self.ray_attribute_bytes(1) + self.pair_attribute_bytes(1);
        match allowed.saturating_sub(params) / one {
            0 => {
                let device = self.gpu.name().into();
                Err(Error::TooLarge { what: "one ray with its attributes", asked: params + one, allowed, device })
            }
            room => Ok(chunk.min(room) as usize),
        }
    }

    fn bytes_per_ray(pairwise: bool) -> u64 {
        (size_of::<Ray>() + if pairwise { size_of::<Sphere>() } else { 0 }) as u64
    }

    /// Bytes of the attributes of the spheres that are uploaded with `rays` rays; 0 unless the scene is pairwise.
    fn pair_attribute_bytes(&self, rays: u64) -> u64 {
        if self.host.pairwise { 4 * rays * attribute_words(&self.host.attributes) as u64 } else { 0 }
    }

    /// Bytes of the attributes of `rays` rays; 0 if they are not uploaded.
    fn ray_attribute_bytes(&self, rays: u64) -> u64 {
        if self.uploads_ray_attributes { rays * RayAttributes::UPLOADED_BYTES as u64 } else { 0 }
    }

    fn params_bytes(&self) -> u64 {
        self.ranges.len() as u64 * UNIFORM_STEP
    }

    /// The end of the ranges that fit into one submission of `rays` rays, from `begin` on; at least one range.
    pub(crate) fn ranges_per_submission(&self, begin: usize, rays: u64) -> usize {
        let budget = self.throughput().budget();
        let mut weight = 0;
        let fit = self.ranges[begin..].iter().take_while(|range| {
            weight += rays * range.weight;
            weight <= budget
        });
        self.ranges.len().min(begin + fit.count().max(1))
    }

    /// Buffer sizes of a chunk. `list_bytes` is the size of its results of variable length.
    pub(crate) fn buffer_sizes(&self, seeds: &RaySeeds<'_>, list_bytes: u64) -> BufferSizes {
        let rays = seeds.rays().len() as u64;
        BufferSizes {
            params: self.params_bytes(),
            upload_rays: seeds.bytes(),
            seeds: if seeds.are_generated() { seeds.bytes() } else { 0 },
            rays: rays * size_of::<Ray>() as u64,
            pairs: if self.host.pairwise { rays * size_of::<Sphere>() as u64 } else { 0 },
            pair_attributes: self.pair_attribute_bytes(rays),
            ray_attributes: self.ray_attribute_bytes(rays),
            state: (self.kernels.state_bytes)(rays),
            results: list_bytes + (self.kernels.result_bytes)(rays),
        }
    }

    /// Writes a chunk's data into mapped memory. Returns the rays that the device does not cast.
    pub(crate) fn write_upload(&self, mut upload: Upload, seeds: &RaySeeds<'_>, start: usize) -> Result<Excluded> {
        let (rays, first) = (seeds.rays(), self.batch.first + start as u64);
        for (n, range) in (0..).zip(&self.ranges) {
            let part = self.scene.parts.get(range.part);
            let params = Params {
                ray_count: rays.len() as u32,
                sphere_begin: range.begin,
                sphere_end: range.end,
                first_id: if self.host.pairwise { first as u32 } else { part.map_or(0, |part| part.first) },
                sphere_count: if self.host.pairwise { rays.len() as u32 } else { part.map_or(0, |part| part.count) },
                pairwise: u32::from(self.host.pairwise),
                fresh: u32::from(n == 0),
                steps: self.gpu.steps(),
                ..self.scene.with_frame(Params::of(self.batch.query))
            };
            upload.params(n * UNIFORM_STEP, &params);
        }
        let check = |at| {
            self.batch.check_one(start + at, self.host.start_check())?;
            if !self.needs_subnormals {
                return Ok(true);
            }
            let has_attributes = self.uploads_ray_attributes;
            let attributes =
                if has_attributes { self.batch.ray_attributes.of(start + at) } else { RayAttributes::NONE };
            Ok(!self.host.ray_needs_subnormals(&rays.ray(at), &attributes, self.is_approach))
        };
        let plain = |records: &[Ray]| {
            self.batch.are_usable(self.host.level, records)
                && !(self.needs_subnormals
                    && (self.uploads_ray_attributes || self.host.rays_need_subnormals(records, self.is_approach)))
        };
        let each = self.uploads_ray_attributes || self.needs_subnormals;
        let mut excluded = seeds.write(&mut upload, self.batch.query.on_bad, each, check, plain)?;
        if self.host.pairwise {
            let own = first as usize..first as usize + rays.len();
            upload.pairs(&self.host.spheres[own.clone()]);
            let columns = &self.host.attributes;
            if columns.has_motion_or_shape() {
                let each = own.map(|id| pack_attributes(columns, id, &self.host.spheres[id], u32::MAX));
                upload.pair_attributes(attribute_words(columns), each);
            }
        }
        if self.uploads_ray_attributes {
            let invalid = &excluded.invalid;
            let attributes = |i: usize, excluded: &mut Excluded| {
                let all = self.batch.ray_attributes.of(start + i);
                let attributes = match all.from_id {
                    NO_SPHERE => Some(all),
                    _ if invalid.binary_search(&(i as u32)).is_ok() => None,
                    _ => self.host.attributes_on_gpu(&rays.ray(i), all).or_else(|| {
                        excluded.on_host.push(i as u32);
                        None
                    }),
                };
                // Masks of pairs are not uploaded. A ray that must not hit its sphere gets mask 0, so that it hits nothing.
                let is_pair = |attributes: &RayAttributes| self.host.admits(attributes, first as u32 + i as u32);
                let attributes = attributes.filter(|attributes| !self.host.pairwise || is_pair(attributes));
                attributes.unwrap_or(RayAttributes { mask: 0, ..all }).uploaded()
            };
            let more = upload
                .write_ray_attributes::<_, { TASK_RECORDS * RayAttributes::UPLOADED_BYTES }>(rays.len(), attributes)?;
            excluded.on_host.extend(more.on_host);
            excluded.on_host.sort_unstable();
            excluded.on_host.dedup();
        }
        Ok(excluded)
    }

    /// Two bind groups per part: for the search program and for the finalize program.
    pub(crate) async fn bind_groups(&self, staging: &Staging) -> Result<Vec<[BindGroup; 2]>> {
        let ray_attributes =
            if self.uploads_ray_attributes { &staging.ray_attributes } else { &self.gpu.no_ray_attributes };
        let own = [&staging.params, &staging.rays, &staging.state, &staging.results, ray_attributes]
            .map(wgpu::Buffer::as_entire_buffer_binding);
        let mut groups = Vec::new();
        for part in &self.scene.parts {
            groups.push(part.bind_groups(self.gpu, own.clone(), self.uses_bvh).await?);
        }
        if groups.is_empty() {
            let attributes =
                if self.pair_attribute_bytes(1) > 0 { &staging.pair_attributes } else { &self.gpu.every_bit };
            let group = self.gpu.cast_group(own, [&staging.pairs, attributes], None).await?;
            groups.push([group.clone(), group]);
        }
        Ok(groups)
    }
}

/// Pipeline constants for a query. On a device that fails the probe, `exact` uses plain intersection, with its wider error bounds.
pub(crate) fn kernel_constants(gpu: &GpuEngine, query: &Query) -> KernelConstants {
    let exact = query.precision == Precision::Exact;
    let fast = query.precision == Precision::Fast || (exact && gpu.probe.failure.is_some());
    KernelConstants { fast, exact, ..KernelConstants::default() }
}
