//! Plan of a cast, which all its chunks share: programs, ranges of spheres, and buffer sizes.

use std::sync::Arc;

use wgpu::{BindGroup, ComputePipeline};

use super::kernels::Kernels;
use super::raygen::{Maker, Seeds};
use super::staging::{Sizes, Slot, Upload};
use crate::batch::ray_batch::Batch;
use crate::cpu::scene::CpuScene;
use crate::error::{Error, Result};
use crate::gpu::context::pipelines::Overrides;
use crate::gpu::context::throughput::Pace;
use crate::gpu::engine::GpuEngine;
use crate::gpu::scene::GpuScene;
use crate::gpu::sphere_attributes::{beside, words};
use crate::gpu::uniforms::{Params, UNIFORM_STEP};
use crate::query::policy::{Precision, Query};
use crate::records::{Extra, Ray, Sphere};

/// How to search for the spheres that rays hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// BVH traversal, if there is a BVH.
    Tree,
    /// Brute force: every sphere is tested.
    Brute,
}

/// Assumed cost of one traversal, in sphere tests. Throughput is measured for each search method, so the value need not be accurate.
const WALK_WEIGHT: u64 = 512;

/// Spheres `begin..end` of a part, searched in one dispatch.
pub(crate) struct Range {
    pub(crate) part: usize,
    begin: u32,
    end: u32,
    /// Cost per ray, in sphere tests.
    pub(crate) weight: u64,
}

/// Programs, ranges and parameters that all chunks of a cast share.
pub(crate) struct Plan<'a> {
    pub(crate) gpu: &'a GpuEngine,
    pub(crate) scene: &'a GpuScene,
    pub(crate) host: &'a Arc<CpuScene>,
    pub(crate) batch: Batch<'a>,
    kernels: Kernels,
    pub(crate) search: ComputePipeline,
    /// Rays per thread of `search`.
    pub(crate) rays_a_thread: u64,
    pub(crate) finish: Option<ComputePipeline>,
    /// The program that generates rays on the device; `None` if they are uploaded.
    pub(crate) maker: Option<Maker>,
    pub(crate) ranges: Vec<Range>,
    walks: bool,
    /// Whether ray attributes are uploaded.
    brings: bool,
}

impl<'a> Plan<'a> {
    pub(crate) async fn new(
        gpu: &'a GpuEngine,
        scene: &'a GpuScene,
        host: &'a Arc<CpuScene>,
        batch: Batch<'a>,
        way: Way,
        kernels: Kernels,
    ) -> Result<Self> {
        let walk = kernels.bvh.filter(|_| way == Way::Tree && scene.is_planted());
        let mut ranges = Vec::new();
        if host.pairwise {
            ranges.push(Range { part: 0, begin: 0, end: 1, weight: 1 });
        }
        for (part, spheres) in scene.parts.iter().enumerate() {
            let weight = |begin, end| if walk.is_some() { WALK_WEIGHT } else { u64::from(end - begin) };
            let own = spheres.ranges(walk.is_some());
            ranges.extend(own.map(|(begin, end)| Range { part, begin, end, weight: weight(begin, end) }));
        }
        if ranges.is_empty() {
            // One empty range, so that a dispatch marks every ray as a miss.
            ranges.push(Range { part: 0, begin: 0, end: 0, weight: 1 });
        }
        let (picky, moving) = (host.picks(&batch.extras), host.moves(&batch.extras));
        let (held, mapped) = (host.columns.change(), host.columns.maps.is_some());
        let own = Overrides { picky, moving, held, mapped, ..variant(gpu, batch.query) };
        Ok(Self {
            gpu,
            scene,
            host,
            batch,
            search: gpu.cast_pipeline(walk.unwrap_or(kernels.brute_force), own).await?,
            rays_a_thread: if walk.is_some() { 1 } else { kernels.rays_per_thread },
            finish: match kernels.finalize {
                Some(program) => Some(gpu.cast_pipeline(program, own).await?),
                None => None,
            },
            kernels,
            maker: Maker::of(gpu, batch.rays).await?,
            ranges,
            walks: walk.is_some(),
            brings: picky || moving,
        })
    }

    /// Measured throughput of the scene with this search method.
    pub(crate) fn pace(&self) -> &'a Pace {
        self.scene.pace(self.walks)
    }

    /// Number of rays of the next chunk, from the current throughput. Fails if a single ray does not fit into a binding.
    pub(crate) fn piece(&self) -> Result<usize> {
        let weight = self.ranges.iter().map(|range| range.weight).sum();
        let piece = GpuScene::piece(self.gpu, self.pace().budget(), weight);
        // All uploads of a chunk share one buffer.
        let (one, params) = (Self::bytes_a_ray(self.host.pairwise), self.params_bytes() + 4 * Sizes::STEP);
        let allowed = self.gpu.largest_binding();
        let one = one + self.extra_bytes(1) + self.beside_bytes(1);
        match allowed.saturating_sub(params) / one {
            0 => {
                let device = self.gpu.name().into();
                Err(Error::TooLarge { what: "what a ray takes along", asked: params + one, allowed, device })
            }
            room => Ok(piece.min(room) as usize),
        }
    }

    fn bytes_a_ray(pairwise: bool) -> u64 {
        (size_of::<Ray>() + if pairwise { size_of::<Sphere>() } else { 0 }) as u64
    }

    /// Bytes of the attributes of the spheres that are uploaded with `rays` rays; 0 unless the scene is pairwise.
    fn beside_bytes(&self, rays: u64) -> u64 {
        if self.host.pairwise { 4 * rays * words(&self.host.columns) as u64 } else { 0 }
    }

    /// Bytes of the attributes of `rays` rays; 0 if they are not uploaded.
    fn extra_bytes(&self, rays: u64) -> u64 {
        if self.brings { rays * size_of::<Extra>() as u64 } else { 0 }
    }

    fn params_bytes(&self) -> u64 {
        self.ranges.len() as u64 * UNIFORM_STEP
    }

    /// The end of the ranges that fit into one submission of `rays` rays, from `begin` on; at least one range.
    pub(crate) fn together(&self, begin: usize, rays: u64) -> usize {
        let budget = self.pace().budget();
        let mut weight = 0;
        let fit = self.ranges[begin..].iter().take_while(|range| {
            weight += rays * range.weight;
            weight <= budget
        });
        self.ranges.len().min(begin + fit.count().max(1))
    }

    /// Buffer sizes of a chunk. `extra` is the size of its results of variable length, in bytes.
    pub(crate) fn sizes(&self, seeds: &Seeds<'_>, extra: u64) -> Sizes {
        let rays = seeds.rays().len() as u64;
        Sizes {
            params: self.params_bytes(),
            up: seeds.bytes(),
            seeds: if seeds.made() { seeds.bytes() } else { 0 },
            rays: rays * size_of::<Ray>() as u64,
            pairs: if self.host.pairwise { rays * size_of::<Sphere>() as u64 } else { 0 },
            beside: self.beside_bytes(rays),
            extras: self.extra_bytes(rays),
            state: (self.kernels.state_bytes)(rays),
            results: extra + (self.kernels.result_bytes)(rays),
        }
    }

    /// Writes a chunk's data into mapped memory. Returns the indices of invalid rays.
    pub(crate) fn write(&self, mut upload: Upload, seeds: &Seeds<'_>, start: usize) -> Result<Vec<u32>> {
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
                ..self.scene.framed(Params::of(self.batch.query))
            };
            upload.params(n * UNIFORM_STEP, &params);
        }
        let check = |at| self.batch.check_one(start + at);
        let bad = seeds.write(&mut upload, self.batch.query.on_bad, self.brings, check)?;
        if self.host.pairwise {
            let own = first as usize..first as usize + rays.len();
            upload.pairs(&self.host.spheres[own.clone()]);
            let columns = &self.host.columns;
            if columns.change() {
                let each = own.map(|id| beside(columns, id, &self.host.spheres[id], u32::MAX));
                upload.beside(words(columns), each);
            }
        }
        if self.brings {
            let extra = |i| {
                let extra = self.batch.extras.of(start + i);
                // Masks of pairs are not uploaded. A ray that must not hit its sphere gets mask 0, so that it hits nothing.
                let none = self.host.pairwise && !self.host.admits(&extra, first as u32 + i as u32);
                if none { Extra { mask: 0, ..extra } } else { extra }
            };
            upload.extras((0..rays.len()).map(extra));
        }
        Ok(bad)
    }

    /// Two bind groups per part: for the search program and for the finalize program.
    pub(crate) async fn groups(&self, slot: &Slot) -> Result<Vec<[BindGroup; 2]>> {
        let extras = if self.brings { &slot.extras } else { &self.gpu.no_extra };
        let own = [&slot.params, &slot.rays, &slot.state, &slot.results, extras];
        let mut groups = Vec::new();
        for part in &self.scene.parts {
            groups.push(part.groups(self.gpu, own, self.walks).await?);
        }
        if groups.is_empty() {
            let beside = if self.beside_bytes(1) > 0 { &slot.beside } else { &self.gpu.every_bit };
            let group = self.gpu.cast_group(own, [&slot.pairs, beside], None).await?;
            groups.push([group.clone(), group]);
        }
        Ok(groups)
    }
}

/// Pipeline constants for a query. On a device that fails the probe, `exact` uses plain intersection, with its wider error bounds.
fn variant(gpu: &GpuEngine, query: &Query) -> Overrides {
    let exact = query.precision == Precision::Exact;
    let fast = query.precision == Precision::Fast || (exact && gpu.probe.failure.is_some());
    Overrides { fast, exact, ..Overrides::default() }
}
