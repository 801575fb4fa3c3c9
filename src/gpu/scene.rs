//! The spheres of a scene on a GPU, in as many parts as the limit of a binding requires.

use wgpu::{BindGroup, Buffer, BufferUsages};

use super::bvh::resident::{GpuBvh, LeafMotion};
use super::context::throughput::Throughput;
use super::sphere_attributes::{attribute_words, buffer_words, pack_attributes};
use super::uniforms::Params;
use crate::batch::sphere_set::SphereSet;
use crate::bvh::gpu_frame::{GpuFrame, max_magnitude};
use crate::bvh::qbvh4::node::QBvh4;
use crate::error::{Error, Result};
use crate::gpu::engine::GpuEngine;
use crate::intersect::motion::midpoint;
use crate::records::Sphere;
use crate::runtime::memory::try_with_capacity;

/// Spheres that a shader culls before it intersects the candidates among them: `BLOCKS * BLOCK` of `shaders/cull/blocks.wgsl`. Buffers
/// are padded to a multiple of it.
pub(crate) const SPAN: u64 = 128;
/// Maximum number of spheres per dispatch of brute force. At worst each is a candidate of eight rays; loops then have 8 × 4,096
/// iterations for candidates and 1,200 for the rest. This is far below the 65,535 iterations after which lavapipe silently stops a
/// thread.
pub(crate) const MAX_RANGE_SPHERES: u64 = 4096;

/// Minimum number of spheres for a BVH on a software adapter. Measured with random rays, a traversal costs more than tests of all 2,048
/// spheres, and less than tests of all 4,096.
const TREE_FROM_SOFTWARE: usize = 2500;
/// Minimum number of spheres for a BVH on other GPUs. Measured on an H100 with random rays: a traversal takes 1.1 times as long as tests of
/// all 256 spheres, and 0.8 times as long as tests of all 512.
const TREE_FROM: usize = 512;

/// Minimum number of spheres for a BVH on a GPU.
fn tree_from(gpu: &GpuEngine) -> usize {
    if gpu.is_software() { TREE_FROM_SOFTWARE } else { TREE_FROM }
}

const SPHERE_BYTES: u64 = size_of::<Sphere>() as u64;

/// Maximum number of spheres per part: BVH leaves have 28 bits for the position of their first sphere.
const MAX_PART_SPHERES: u64 = 1 << 28;

pub(crate) struct GpuScene {
    pub(crate) parts: Vec<ScenePart>,
    /// Throughput with the BVH, and without it.
    pub(crate) throughputs: [Throughput; 2],
    pub(crate) frame: GpuFrame,
    pub(crate) info: SceneInfo,
}

/// Properties of all spheres of a scene together.
#[derive(Clone, Copy, Default)]
pub(crate) struct SceneInfo {
    /// The largest coordinate or radius.
    largest: f32,
    /// Largest ratio of longest to shortest semi-axis; 0 if all are spheres.
    max_axis_ratio: f32,
    /// Whether spheres have masks.
    pub(crate) has_masks: bool,
    /// Middle of the time range of their motion.
    mid_time: f32,
    /// Whether spheres move or are ellipsoids.
    pub(crate) has_motion_or_shape: bool,
}

impl SceneInfo {
    pub(crate) fn of(set: &SphereSet<'_>) -> Self {
        let columns = &set.attributes;
        Self {
            largest: max_magnitude(set.swept_bounds()),
            max_axis_ratio: columns.max_axis_ratio(),
            has_masks: columns.masks.is_some(),
            mid_time: midpoint(set.time_range),
            has_motion_or_shape: columns.has_motion_or_shape(),
        }
    }
}

/// The spheres of one buffer, with their attributes and BVH.
pub(crate) struct ScenePart {
    /// Id of the first sphere.
    pub(crate) first: u32,
    pub(crate) count: u32,
    pub(crate) spheres: Buffer,
    /// Attributes: masks, or everything that [`pack_attributes`] packs. `None` if there are none.
    pub(crate) attributes: Option<Buffer>,
    pub(crate) bvh: Option<GpuBvh>,
    /// SAH cost of the BVH when it was built, known after the first refit; see [`GpuBvh::cost`].
    pub(crate) built_cost: Option<f64>,
}

impl ScenePart {
    /// The ranges of spheres, begin and end, that are searched in one dispatch each. With the BVH it is one range of all spheres.
    pub(crate) fn ranges(&self, walks: bool) -> impl Iterator<Item = (u32, u32)> {
        let (count, step) = (self.count, if walks { self.count } else { MAX_RANGE_SPHERES as u32 });
        (0..count).step_by(step.max(1) as usize).map(move |begin| (begin, begin + step.min(count - begin)))
    }

    /// Bind groups of the search program and of the finalize program for this part. `own` has the buffers of parameters, rays, state,
    /// results and ray attributes.
    pub(crate) async fn bind_groups(
        &self,
        gpu: &GpuEngine,
        own: [wgpu::BufferBinding<'_>; 5],
        walks: bool,
    ) -> Result<[BindGroup; 2]> {
        let attributes = self.attributes.as_ref().unwrap_or(&gpu.every_bit);
        let finish = gpu.cast_group(own.clone(), [&self.spheres, attributes], None).await?;
        let search = match self.bvh.as_ref().filter(|_| walks) {
            Some(bvh) => gpu.cast_group(own, [&bvh.leaves, attributes], Some(bvh)).await?,
            None => finish.clone(),
        };
        Ok([search, finish])
    }
}

impl GpuScene {
    /// Uploads the spheres and builds their BVHs. The spheres of a pairwise scene are uploaded with their rays instead.
    pub(crate) async fn new(gpu: &GpuEngine, set: &SphereSet<'_>, pairwise: bool) -> Result<Self> {
        let spheres = set.swept_bounds();
        let mut parts = Vec::new();
        let frame = GpuFrame::of(spheres);
        let capacity = Self::capacity(gpu, buffer_words(&set.attributes))? as usize;
        let resident = if pairwise { &[] } else { spheres };
        let trees = Self::worth_bvh(gpu, set.spheres.len(), set.tree_from, &frame);
        for (n, chunk) in resident.chunks(capacity).enumerate() {
            let spheres = Self::upload(gpu, chunk).await?;
            set.cancel.check()?;
            let (first, count) = ((n * capacity) as u32, chunk.len() as u32);
            let attributes = Self::upload_attributes(gpu, set, first, count).await?;
            let motion = LeafMotion::of(&attributes, set);
            let bvh = match trees {
                true => Some(GpuBvh::new(gpu, &spheres, chunk, &frame, motion, set).await?),
                false => None,
            };
            set.cancel.check()?;
            parts.push(ScenePart { first, count, spheres, attributes, bvh, built_cost: None });
        }
        let throughputs = [(); 2].map(|()| Throughput::new(gpu.is_software()));
        Ok(Self { parts, throughputs, frame, info: SceneInfo::of(set) })
    }

    /// Whether rays can traverse: there is a part, and every part has a BVH.
    pub(crate) fn has_bvh(&self) -> bool {
        !self.parts.is_empty() && self.parts.iter().all(|part| part.bvh.is_some())
    }

    /// Whether a short stack suffices to traverse every BVH.
    pub(crate) fn is_shallow(&self) -> bool {
        self.parts.iter().flat_map(|part| &part.bvh).all(|bvh| bvh.levels.len() <= QBvh4::SHALLOW_LEVELS)
    }

    /// Whether a scene has BVHs: there are enough spheres, and the frame can represent a BVH.
    pub(crate) fn worth_bvh(gpu: &GpuEngine, spheres: usize, from: Option<usize>, frame: &GpuFrame) -> bool {
        spheres >= from.unwrap_or_else(|| tree_from(gpu)) && frame.supports_bvh()
    }

    /// A scene of one part, whose spheres are at rest.
    pub(crate) fn of_part(gpu: &GpuEngine, part: ScenePart, frame: GpuFrame) -> Self {
        let largest = max_magnitude(&frame.corners.map(|corner| Sphere { center: corner.into(), radius: 0.0 }));
        let throughputs = [(); 2].map(|()| Throughput::new(gpu.is_software()));
        Self { parts: vec![part], throughputs, frame, info: SceneInfo { largest, ..SceneInfo::default() } }
    }

    /// A buffer for the spheres of one part, padded to whole spans.
    pub(crate) async fn space(gpu: &GpuEngine, spheres: u64) -> Result<Buffer> {
        let bytes = spheres.next_multiple_of(SPAN) * SPHERE_BYTES;
        gpu.buffer("spheres", bytes, BufferUsages::STORAGE | BufferUsages::COPY_DST).await
    }

    /// Uploads the spheres of one part.
    pub(crate) async fn upload(gpu: &GpuEngine, spheres: &[Sphere]) -> Result<Buffer> {
        let buffer = Self::space(gpu, spheres.len() as u64).await?;
        gpu.upload(&buffer, spheres).await?;
        Ok(buffer)
    }

    /// Uploads the attributes of the spheres of one part; `None` if there are none.
    pub(crate) async fn upload_attributes(
        gpu: &GpuEngine,
        set: &SphereSet<'_>,
        first: u32,
        count: u32,
    ) -> Result<Option<Buffer>> {
        let own = first as usize..(first + count) as usize;
        let masks = set.attributes.masks.as_ref().map(|masks| &masks[own.clone()]);
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let words = attribute_words(&set.attributes);
        let depths = set.attributes.optical_depths.as_ref().map(|depths| &depths[own.clone()]);
        if words > 0 || depths.is_some() {
            let mut all: Vec<u32> = try_with_capacity(count as usize * buffer_words(&set.attributes))?;
            for (i, id) in own.enumerate() {
                let mask = masks.map_or(u32::MAX, |masks| masks[i]);
                match words {
                    0 => all.push(mask),
                    _ => all.extend_from_slice(&pack_attributes(&set.attributes, id, &set.spheres[id], mask)[..words]),
                }
            }
            all.extend_from_slice(depths.unwrap_or_default());
            let buffer = gpu.buffer("sphere attributes", size_of_val(&all[..]) as u64, usage).await?;
            gpu.upload(&buffer, &all).await?;
            return Ok(Some(buffer));
        }
        let Some(masks) = masks else { return Ok(None) };
        let buffer = gpu.buffer("masks", size_of_val(masks).next_multiple_of(16) as u64, usage).await?;
        gpu.upload(&buffer, masks).await?;
        Ok(Some(buffer))
    }

    /// Throughput with or without the BVH.
    pub(crate) fn throughput(&self, walks: bool) -> &Throughput {
        &self.throughputs[usize::from(!walks)]
    }

    /// Number of spheres per binding: whole ranges if at least one fits, else whole spans.
    fn capacity(gpu: &GpuEngine, words: usize) -> Result<u64> {
        let most = gpu.largest_binding() / SPHERE_BYTES.max(4 * words as u64);
        let unit = if most >= MAX_RANGE_SPHERES { MAX_RANGE_SPHERES } else { SPAN };
        let capacity = (most / unit * unit).min(MAX_PART_SPHERES);
        if capacity == 0 {
            let (asked, allowed, device) = (SPAN * SPHERE_BYTES, gpu.largest_binding(), gpu.name().into());
            return Err(Error::TooLarge { what: "spheres", asked, allowed, device });
        }
        Ok(capacity)
    }

    /// Bytes of `spheres` spheres on the device. With a BVH this includes 72 bytes per sphere that are needed only while it is built.
    pub(crate) fn bytes(gpu: &GpuEngine, spheres: u64) -> u64 {
        let tree = if spheres >= tree_from(gpu) as u64 {
            GpuBvh::bytes(spheres).saturating_add(spheres.saturating_mul(72))
        } else {
            0
        };
        spheres.saturating_add(SPAN).saturating_mul(SPHERE_BYTES).saturating_add(tree)
    }

    /// Adds the scene's frame and properties, which culling needs, to the parameters.
    pub(crate) fn with_frame(&self, params: Params) -> Params {
        let GpuFrame { scale, middle, far, .. } = self.frame;
        let SceneInfo { largest, max_axis_ratio, mid_time, .. } = self.info;
        Params { scale, middle, far, largest, max_axis_ratio, mid_time, ..params }
    }

    /// Returns the scene with other spheres, as many as before, and the relative increase of the SAH cost of its BVHs since they were
    /// built.
    pub(crate) async fn updated(&self, gpu: &GpuEngine, set: &SphereSet<'_>) -> Result<(Self, f64)> {
        let spheres = set.swept_bounds();
        let frame = GpuFrame::of(spheres);
        let trees = Self::worth_bvh(gpu, set.spheres.len(), set.tree_from, &frame);
        let mut parts = Vec::new();
        let (mut now, mut before) = (0.0, 0.0);
        for old in &self.parts {
            set.cancel.check()?;
            let own = &spheres[old.first as usize..][..old.count as usize];
            let buffer = Self::upload(gpu, own).await?;
            let attributes = Self::upload_attributes(gpu, set, old.first, old.count).await?;
            let mut part = ScenePart { spheres: buffer, attributes, bvh: None, built_cost: None, ..*old };
            let motion = LeafMotion::of(&part.attributes, set);
            match (&old.bvh, gpu.probe.failure.is_none()) {
                _ if !trees => {}
                (Some(bvh), true) => {
                    let fitted = bvh.refit(gpu, &part.spheres, part.count, &frame, motion).await?;
                    let built = match old.built_cost {
                        Some(cost) => cost,
                        None => bvh.cost(gpu).await?,
                    };
                    now += fitted.cost(gpu).await?;
                    before += built;
                    (part.bvh, part.built_cost) = (Some(fitted), Some(built));
                }
                _ => part.bvh = Some(GpuBvh::new(gpu, &part.spheres, own, &frame, motion, set).await?),
            }
            parts.push(part);
        }
        let loss = if before > 0.0 { now / before - 1.0 } else { 0.0 };
        Ok((Self { parts, info: SceneInfo::of(set), ..self.empty_like(frame) }, loss))
    }

    /// Returns the scene with new BVHs.
    pub(crate) async fn rebuilt(&self, gpu: &GpuEngine, set: &SphereSet<'_>) -> Result<Self> {
        let mut parts = Vec::new();
        for old in &self.parts {
            let own = &set.swept_bounds()[old.first as usize..][..old.count as usize];
            let motion = LeafMotion::of(&old.attributes, set);
            let bvh = match &old.bvh {
                Some(_) => Some(GpuBvh::new(gpu, &old.spheres, own, &self.frame, motion, set).await?),
                None => None,
            };
            let (spheres, attributes) = (old.spheres.clone(), old.attributes.clone());
            parts.push(ScenePart { spheres, attributes, bvh, built_cost: None, ..*old });
        }
        Ok(Self { parts, ..self.empty_like(self.frame) })
    }

    /// Returns a scene without spheres, with the throughputs measured so far.
    fn empty_like(&self, frame: GpuFrame) -> Self {
        Self {
            parts: Vec::new(),
            throughputs: self.throughputs.each_ref().map(Throughput::for_similar_scene),
            frame,
            info: self.info,
        }
    }
}
