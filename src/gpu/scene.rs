//! Spheres on a GPU, in as many parts as its bindings demand.

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

/// Spheres that a shader looks at between two solves; buffers are padded to whole spans. `BLOCKS * BLOCK` of
/// `shaders/cull/blocks.wgsl`.
pub(crate) const SPAN: u64 = 128;
/// Spheres a dispatch at most. Each is a candidate of eight rays at worst, and its loops then stay far below the 65,535
/// iterations after which lavapipe stops a thread without a word: 8 × 4,096 candidates and 1,200 for the rest.
pub(crate) const RANGE: u64 = 4096;

/// From so many spheres on there is a tree. On a software adapter random rays' walks still cost more than tests of all 2,048 spheres, and
/// less than tests of all 4,096.
const TREE_FROM_SOFTWARE: usize = 2500;
/// On other GPUs: not measured; a walk is some 1,800 issue slots and a test 14, and threads of a walk part company.
const TREE_FROM: usize = 512;

thread_local! {
    /// The number of spheres from which on scenes of this thread have a tree, set by [`crate::bench::tree_from`]; 0 when it is not.
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

/// Spheres a part at the most: a tree's leaves have 28 bits for where they begin.
const MOST: u64 = 1 << 28;

/// Spheres on a GPU.
pub(crate) struct GpuScene {
    pub(crate) parts: Vec<Part>,
    /// By the tree, and without.
    pub(crate) paces: [Pace; 2],
    pub(crate) frame: Frame,
    pub(crate) facts: Facts,
}

/// What holds of all spheres of a scene together.
#[derive(Clone, Copy)]
pub(crate) struct Facts {
    /// The largest coordinate or radius.
    largest: f32,
    /// How many times as long as wide the slimmest is; 0 where all are round.
    slimness: f32,
    /// Whether they have masks.
    pub(crate) masked: bool,
    /// The middle of the time for which they move.
    midway: f32,
    /// Whether they are not just where, and what, their records say.
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

/// Spheres in one buffer.
pub(crate) struct Part {
    /// The id of the first one.
    pub(crate) first: u32,
    pub(crate) count: u32,
    pub(crate) spheres: Buffer,
    /// What is beside them: masks, or all of [`beside`]. None where there is nothing.
    pub(crate) beside: Option<Buffer>,
    pub(crate) planted: Option<Planted>,
    /// What the tree cost when it was built, once it has been fitted to other spheres; see [`Planted::cost`].
    pub(crate) built_cost: Option<f64>,
}

impl Part {
    /// First and last sphere, the last not included, of what is searched in one dispatch each: by the tree all of them.
    pub(crate) fn ranges(&self, walks: bool) -> impl Iterator<Item = (u32, u32)> {
        let (count, step) = (self.count, if walks { self.count } else { RANGE as u32 });
        (0..count).step_by(step.max(1) as usize).map(move |begin| (begin, begin + step.min(count - begin)))
    }

    /// What a cast's programs see of it and of parameters, rays, state, results and what rays bring along: the search, and the
    /// finish.
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
    /// Uploads spheres, but for those of pairs, which travel with their rays.
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

    /// Whether rays can walk: every part has a tree, and there is one.
    pub(crate) fn is_planted(&self) -> bool {
        !self.parts.is_empty() && self.parts.iter().all(|part| part.planted.is_some())
    }

    /// Whether so many spheres are worth a tree, and one can be told.
    pub(crate) fn has_trees(gpu: &GpuEngine, spheres: usize, frame: &Frame) -> bool {
        spheres >= tree_from(gpu) && frame.reaches()
    }

    /// The spheres of one part.
    pub(crate) async fn upload(gpu: &GpuEngine, spheres: &[Sphere]) -> Result<Buffer> {
        let bytes = (spheres.len() as u64).next_multiple_of(SPAN) * SPHERE;
        let buffer = gpu.buffer("spheres", bytes, BufferUsages::STORAGE | BufferUsages::COPY_DST).await?;
        gpu.upload(&buffer, spheres).await?;
        Ok(buffer)
    }

    /// What is beside the spheres of one part, if there is anything.
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

    /// How fast it goes one way.
    pub(crate) fn pace(&self, walks: bool) -> &Pace {
        &self.paces[usize::from(!walks)]
    }

    /// Spheres a binding holds, in whole ranges where it holds one.
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

    /// Bytes that so many spheres take, with a tree 72 a sphere more for as long as it is made.
    pub(crate) fn bytes(gpu: &GpuEngine, spheres: u64) -> u64 {
        let tree = if spheres >= tree_from(gpu) as u64 {
            Planted::bytes(spheres).saturating_add(spheres.saturating_mul(72))
        } else {
            0
        };
        spheres.saturating_add(SPAN).saturating_mul(SPHERE).saturating_add(tree)
    }

    /// What the filter has to know.
    pub(crate) fn framed(&self, params: Params) -> Params {
        let Frame { scale, middle, far, .. } = self.frame;
        let Facts { largest, slimness, midway, .. } = self.facts;
        Params { scale, middle, far, largest, slimness, midway, ..params }
    }
}
