//! Uniform of a dispatch, and the state of a ray between two dispatches. Twins of `shaders/records.wgsl`.

use bytemuck::{Pod, Zeroable};

use crate::query::policy::Query;

/// Bytes between the parameters of two dispatches in their buffer: the largest alignment that WebGPU may require.
pub(crate) const UNIFORM_STEP: u64 = 256;

/// Uniform of the programs of a cast.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(crate) struct Params {
    pub(crate) ray_count: u32,
    pub(crate) sphere_begin: u32,
    pub(crate) sphere_end: u32,
    pub(crate) first_id: u32,
    pub(crate) inside: u32,
    pub(crate) touch: u32,
    pub(crate) ends: u32,
    pub(crate) pairwise: u32,
    pub(crate) fresh: u32,
    pub(crate) zero: u32,
    pub(crate) largest: f32,
    pub(crate) scale: f32,
    pub(crate) middle: [f32; 3],
    pub(crate) far: f32,
    pub(crate) sphere_count: u32,
    pub(crate) steps: u32,
    pub(crate) max_axis_ratio: f32,
    pub(crate) mid_time: f32,
    pub(crate) rays_at: u32,
    pub(crate) out_at: u32,
    pub(crate) status_at: u32,
    /// WGSL rounds the size up to 16 bytes.
    pub(crate) padding: u32,
}

impl Params {
    /// The policies of a query, whose variants have the numbers of the shaders; the rest is zero.
    pub(crate) fn of(query: &Query) -> Self {
        let Query { inside, touch, ends, .. } = *query;
        Self { inside: inside as u32, touch: touch as u32, ends: ends as u32, ..Self::default() }
    }
}

/// State of `closest` and `interval` per ray: the best hit so far. Only its layout matters here.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct ClosestState {
    pub(crate) t: f32,
    pub(crate) low: f32,
    pub(crate) high: f32,
    pub(crate) rival: f32,
    pub(crate) id: u32,
    pub(crate) flags: u32,
}

/// State of `approach` per ray: the best sphere so far. Only its layout matters here.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct ApproachState {
    pub(crate) t: f32,
    pub(crate) clearance: f32,
    pub(crate) low: f32,
    pub(crate) high: f32,
    pub(crate) rival: f32,
    pub(crate) id: u32,
}

/// State of `count` per ray: the number of spheres hit, and flags.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct CountState {
    pub(crate) count: u32,
    pub(crate) flags: u32,
}

/// Flags of a [`CountState`]: undecided, overflow, unfinished. Twins of the constants of the same names in WGSL.
pub(crate) const COUNT_UNDECIDED: u32 = 1;
pub(crate) const COUNT_OVERFLOW: u32 = 2;
pub(crate) const COUNT_UNFINISHED: u32 = 4;

/// In place of `t`: resolve the ray exactly. This tag and the next three are twins of the constants of the same names in WGSL.
pub(crate) const TAG_UNDECIDED: u32 = 0x7fc0_0001;
/// In place of `t`: the sphere is certain; the host rounds its roots.
pub(crate) const TAG_UNROUNDED: u32 = 0x7fc0_0002;
/// In place of `t`: overflow, a miss only because the root exceeds f32.
pub(crate) const TAG_OVERFLOW: u32 = 0x7fc0_0003;
/// In place of `t`: unfinished; cast the ray again without the BVH.
pub(crate) const TAG_UNFINISHED: u32 = 0x7fc0_0004;
