//! The spheres of a scene on a GPU, in as many parts as the limit of a binding requires.

use std::cell::Cell;

use wgpu::{BindGroup, Buffer, BufferUsages};

use super::bvh::motion::Ways;
use super::bvh::resident::Planted;
use super::context::throughput::Pace;
use super::sphere_attributes::{beside, words};
use super::uniforms::Params;
use crate::batch::sphere_set::Given;
use crate::bvh::builder::Builder;
use crate::bvh::scene_frame::{Frame, largest_of};
use crate::error::{Error, Result};
use crate::gpu::engine::GpuEngine;
use crate::intersect::motion::midway;
use crate::records::Sphere;
use crate::runtime::memory::room;

/// Spheres that a shader culls before it intersects the candidates among them: `BLOCKS * BLOCK` of `shaders/cull/blocks.wgsl`. Buffers
/// are padded to a multiple of it.
pub(crate) const SPAN: u64 = 128;
/// Maximum number of spheres per dispatch of brute force. At worst each is a candidate of eight rays; loops then have 8 × 4,096
/// iterations for candidates and 1,200 for the rest. This is far below the 65,535 iterations after which lavapipe silently stops a
/// thread.
pub(crate) const RANGE: u64 = 4096;

/// Number of spheres from which on a scene has a BVH on a software adapter. Measured with random rays, a traversal costs more than tests
/// of all 2,048 spheres, and less than tests of all 4,096.
const TREE_FROM_SOFTWARE: usize = 2500;
/// Number of spheres from which on a scene has a BVH on other GPUs. Estimated, not measured: a traversal takes about 1,800 issue slots and
/// a test 14, and the threads of a traversal diverge.
const TREE_FROM: usize = 512;

thread_local! {
    /// Number of spheres from which on scenes of this thread have a BVH, set by [`crate::bench::tree_from`]; 0 if it is not set.
    pub(crate) static TREE_FROM_CHOSEN: Cell<usize> = const { Cell::new(0) };
}

fn tree_from(gpu: &GpuEngine) -> usize {
    match TREE_FROM_CHOSEN.get() {
        0 if gpu.is_software() => TREE_FROM_SOFTWARE,
        0 => TREE_FROM,
        chosen => chosen,
    }
}

const SPHERE: u64 = size_of::<Sphere>() as u64;

/// Maximum number of spheres per part: BVH leaves have 28 bits for the position of their first sphere.
const MOST: u64 = 1 << 28;

/// The spheres of a scene on a GPU.
pub(crate) struct GpuScene {
    pub(crate) parts: Vec<Part>,
    /// Throughput with the BVH, and without it.
    pub(crate) paces: [Pace; 2],
    pub(crate) frame: Frame,
    pub(crate) facts: Facts,
}

/// Properties of all spheres of a scene together.
#[derive(Clone, Copy)]
pub(crate) struct Facts {
    /// The largest coordinate or radius.
    largest: f32,
    /// Largest ratio of longest to shortest semi-axis; 0 if all are spheres.
    slimness: f32,
    /// Whether spheres have masks.
    pub(crate) masked: bool,
    /// Middle of the time range of their motion.
    midway: f32,
    /// Whether spheres move or are ellipsoids.
    pub(crate) changed: bool,
}

impl Facts {
    pub(crate) fn of(given: &Given<'_>) -> Self {
        let columns = &given.columns;
        Self {
            largest: largest_of(given.bounds()),
            slimness: columns.slimness(),
            masked: columns.masks.is_some(),
            midway: midway(given.span),
            changed: columns.change(),
        }
    }
}

/// The spheres of one buffer, with their attributes and BVH.
pub(crate) struct Part {
    /// Id of the first sphere.
    pub(crate) first: u32,
    pub(crate) count: u32,
    pub(crate) spheres: Buffer,
    /// Attributes: masks, or everything that [`beside`] packs. `None` if there are none.
    pub(crate) beside: Option<Buffer>,
    pub(crate) planted: Option<Planted>,
    /// SAH cost of the BVH when it was built, known after the first refit; see [`Planted::cost`].
    pub(crate) built_cost: Option<f64>,
}

impl Part {
    /// The ranges of spheres, begin and end, that are searched in one dispatch each. With the BVH it is one range of all spheres.
    pub(crate) fn ranges(&self, walks: bool) -> impl Iterator<Item = (u32, u32)> {
        let (count, step) = (self.count, if walks { self.count } else { RANGE as u32 });
        (0..count).step_by(step.max(1) as usize).map(move |begin| (begin, begin + step.min(count - begin)))
    }

    /// Bind groups of the search program and of the finalize program for this part. `own` has the buffers of parameters, rays, state,
    /// results and ray attributes.
    pub(crate) async fn groups(&self, gpu: &GpuEngine, own: [&Buffer; 5], walks: bool) -> Result<[BindGroup; 2]> {
        let beside = self.beside.as_ref().unwrap_or(&gpu.every_bit);
        let finish = gpu.cast_group(own, [&self.spheres, beside], None).await?;
        let search = match self.planted.as_ref().filter(|_| walks) {
            Some(planted) => gpu.cast_group(own, [&planted.leaves, beside], Some(planted)).await?,
            None => finish.clone(),
        };
        Ok([search, finish])
    }
}

impl GpuScene {
    /// Uploads the spheres and builds their BVHs. The spheres of a pairwise scene are uploaded with their rays instead.
    pub(crate) async fn new(gpu: &GpuEngine, given: &Given<'_>, pairwise: bool, builder: Builder) -> Result<Self> {
        let spheres = given.bounds();
        let mut parts = Vec::new();
        let frame = Frame::of(spheres);
        let capacity = Self::capacity(gpu, words(&given.columns))? as usize;
        let resident = if pairwise { &[] } else { spheres };
        let trees = Self::has_trees(gpu, spheres.len(), &frame);
        for (n, chunk) in resident.chunks(capacity).enumerate() {
            let spheres = Self::upload(gpu, chunk).await?;
            given.watch.check()?;
            let (first, count) = ((n * capacity) as u32, chunk.len() as u32);
            let beside = Self::upload_beside(gpu, given, first, count).await?;
            let ways = Ways::of(&beside, given);
            let planted = match trees {
                true => Some(Planted::new(gpu, &spheres, chunk, &frame, ways, builder, given.watch).await?),
                false => None,
            };
            given.watch.check()?;
            parts.push(Part { first, count, spheres, beside, planted, built_cost: None });
        }
        let paces = [(); 2].map(|()| Pace::new(gpu.is_software()));
        Ok(Self { parts, paces, frame, facts: Facts::of(given) })
    }

    /// Whether rays can traverse: there is a part, and every part has a BVH.
    pub(crate) fn is_planted(&self) -> bool {
        !self.parts.is_empty() && self.parts.iter().all(|part| part.planted.is_some())
    }

    /// Whether a scene of `spheres` spheres has BVHs: there are enough spheres, and the frame can represent a BVH.
    pub(crate) fn has_trees(gpu: &GpuEngine, spheres: usize, frame: &Frame) -> bool {
        spheres >= tree_from(gpu) && frame.reaches()
    }

    /// Uploads the spheres of one part.
    pub(crate) async fn upload(gpu: &GpuEngine, spheres: &[Sphere]) -> Result<Buffer> {
        let bytes = (spheres.len() as u64).next_multiple_of(SPAN) * SPHERE;
        let buffer = gpu.buffer("spheres", bytes, BufferUsages::STORAGE | BufferUsages::COPY_DST).await?;
        gpu.upload(&buffer, spheres).await?;
        Ok(buffer)
    }

    /// Uploads the attributes of the spheres of one part; `None` if there are none.
    pub(crate) async fn upload_beside(
        gpu: &GpuEngine,
        given: &Given<'_>,
        first: u32,
        count: u32,
    ) -> Result<Option<Buffer>> {
        let own = first as usize..(first + count) as usize;
        let masks = given.columns.masks.as_ref().map(|masks| &masks[own.clone()]);
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let words = words(&given.columns);
        if words > 0 {
            let mut all: Vec<u32> = room(count as usize * words)?;
            for (i, id) in own.enumerate() {
                let mask = masks.map_or(u32::MAX, |masks| masks[i]);
                all.extend_from_slice(&beside(&given.columns, id, &given.spheres[id], mask)[..words]);
            }
            let buffer = gpu.buffer("moving spheres and ellipsoids", size_of_val(&all[..]) as u64, usage).await?;
            gpu.upload(&buffer, &all).await?;
            return Ok(Some(buffer));
        }
        let Some(masks) = masks else { return Ok(None) };
        let buffer = gpu.buffer("masks", size_of_val(masks).next_multiple_of(16) as u64, usage).await?;
        gpu.upload(&buffer, masks).await?;
        Ok(Some(buffer))
    }

    /// Throughput with or without the BVH.
    pub(crate) fn pace(&self, walks: bool) -> &Pace {
        &self.paces[usize::from(!walks)]
    }

    /// Number of spheres per binding: whole ranges if at least one fits, else whole spans.
    fn capacity(gpu: &GpuEngine, words: usize) -> Result<u64> {
        let most = gpu.largest_binding() / SPHERE.max(4 * words as u64);
        let unit = if most >= RANGE { RANGE } else { SPAN };
        let capacity = (most / unit * unit).min(MOST);
        if capacity == 0 {
            let (asked, allowed, device) = (SPAN * SPHERE, gpu.largest_binding(), gpu.name().into());
            return Err(Error::TooLarge { what: "spheres", asked, allowed, device });
        }
        Ok(capacity)
    }

    /// Bytes of `spheres` spheres on the device. With a BVH this includes 72 bytes per sphere that are needed only while it is built.
    pub(crate) fn bytes(gpu: &GpuEngine, spheres: u64) -> u64 {
        let tree = if spheres >= tree_from(gpu) as u64 {
            Planted::bytes(spheres).saturating_add(spheres.saturating_mul(72))
        } else {
            0
        };
        spheres.saturating_add(SPAN).saturating_mul(SPHERE).saturating_add(tree)
    }

    /// Adds the scene's frame and properties, which culling needs, to the parameters.
    pub(crate) fn framed(&self, params: Params) -> Params {
        let Frame { scale, middle, far, .. } = self.frame;
        let Facts { largest, slimness, midway, .. } = self.facts;
        Params { scale, middle, far, largest, slimness, midway, ..params }
    }
}
