//! Kernels of the stream traversal: many rays are tested against one node or one leaf in a row (Barringer & Akenine-Möller 2014, Dynamic
//! ray stream traversal). The node stays in registers, no ray waits for another, and no branch depends on the result of a slab test.
//!
//! Error analysis, with U, F, δ, ρ as in `src/cpu/cull.rs`. A ray is the line F + s · d in scaled units. All values in the tests of AABBs
//! and leaves stay as small as the scene, wherever the ray starts. The line intersects a plane of an AABB at s = plane · (1/d) − (F ±
//! δ')/d, with one rounding of each part: this is equivalent to an error of 4 U (|plane| + |F|) of the plane. The rounding of d and F moves
//! the line by as much again. The part that depends on the plane is covered by the 128 U (|c| + r) in every sphere's `reach`; the part that
//! depends on the ray is covered by δ' = 2 δ + 64 U |F|. The error of an intersection test is equivalent to an error of 32 U (|c| + r) + δ
//! of the radius, which `reach` and δ' cover, too.
//!
//! In a leaf, h² = ρ² − b² bounds the chord: entry and exit lie within s = c·d ± h. The upper bound of h uses the radius ρ + δ, the lower
//! bound uses 2 r − ρ − δ, and c·d has an error of 32 U (|c| + ρ). A sphere is a certain hit under every policy if even the lower bound
//! gives a chord, and if the sphere begins after the ray's start and before its end by more than the error of a root (`margin`). What
//! begins later than a certain hit by more than `margin` does not matter. None of this needs an intersection test.

use bytemuck::{Pod, Zeroable};

use crate::bvh::bvh8::node::{Leaf, Node, WIDTH};
use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{Level, dispatch};
use crate::runtime::prefetch::fetch;

pub(crate) const U: f32 = 1.0 / 16_777_216.0;

/// A ray prepared for the tests of AABBs and leaves. The fields for AABBs fill one cache line.
#[repr(C, align(64))]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct StreamRay {
    /// 1/d, and the offsets for the planes where the ray enters and leaves.
    pub(crate) inverse: [f32; 3],
    pub(crate) enter: [f32; 3],
    pub(crate) leave: [f32; 3],
    /// Beginning of the segment in which spheres count, and its end before any hit.
    pub(crate) near: f32,
    pub(crate) far: f32,
    /// Error of a root.
    pub(crate) margin: f32,
    /// Positions from `begin` to `end` certainly lie between the ray's own ends. `near` and `far` do not imply that: they are never moved
    /// past t = 0.
    pub(crate) begin: f32,
    pub(crate) end: f32,
    /// u, v, −α, −β, `spread`, `floor` and d of a [`Line`](crate::cpu::cull::Line). If spheres move while the ray travels, the first three
    /// are the ray's point at `pivot`.
    pub(crate) line: [f32; 12],
    /// Time at which the ray sees moving spheres, relative to the middle of their time range. If they move while the ray travels, it is the
    /// time at which the ray is at `pivot`; the other fields are only for this case, see [`moving_leaf`](super::moving_leaf).
    pub(crate) moment: f32,
    pub(crate) pivot: f32,
    pub(crate) pace: f32,
    pub(crate) flag: f32,
    /// Padding to the end of the cache line.
    rest: [f32; 2],
}

/// Eight moving spheres in SoA layout, in scaled units: centres in the middle of the time range in which the motion is known, velocities,
/// radii with an allowance for errors, and radii of balls that the spheres certainly contain.
#[repr(C, align(64))]
#[derive(Clone, Copy, Zeroable)]
pub(crate) struct Ways {
    pub(crate) center: [[f32; WIDTH]; 3],
    pub(crate) velocity: [[f32; WIDTH]; 3],
    pub(crate) reach: [f32; WIDTH],
    pub(crate) inner: [f32; WIDTH],
}

impl Ways {
    /// Corners of an AABB that contains the spheres at all times within `half` of the middle.
    pub(crate) fn corners(&self, half: f64) -> [[f32; 3]; 2] {
        let [mut low, mut high] = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
        for k in (0..WIDTH).filter(|&k| !self.center[0][k].is_nan()) {
            for (axis, (low, high)) in low.iter_mut().zip(&mut high).enumerate() {
                let (center, velocity) = (f64::from(self.center[axis][k]), f64::from(self.velocity[axis][k]));
                let reach = f64::from(self.reach[k]) + velocity.abs() * half * (1.0 + 1e-6);
                *low = low.min(((center - reach) as f32).next_down());
                *high = high.max(((center + reach) as f32).next_up());
            }
        }
        [low, high]
    }

    /// Prefetches the four cache lines.
    pub(crate) fn fetch(&self) {
        [&self.center[0], &self.center[2], &self.velocity[1], &self.reach].into_iter().for_each(fetch);
    }
}

/// Spheres of a leaf that a ray may hit.
#[derive(Clone, Copy)]
pub(crate) struct Met {
    pub(crate) ray: u32,
    /// One bit per sphere: may be hit, and certainly hit, whatever the policies.
    pub(crate) maybe: u32,
    pub(crate) certain: u32,
    /// Positions along the ray: a sphere is not hit before `low`. What begins after the `high` of a certain hit does not matter.
    pub(crate) low: [f32; WIDTH],
    pub(crate) high: [f32; WIDTH],
}

impl Met {
    pub(crate) const NONE: Self = Self { ray: 0, maybe: 0, certain: 0, low: [0.0; WIDTH], high: [0.0; WIDTH] };
}

impl StreamRay {
    /// Inflates the ray laterally by `beside` and axially by `along`, in scaled units. The conditions for certain hits become stricter by
    /// as much.
    pub(crate) fn grow(&mut self, beside: f32, along: f32) {
        let [beside, along] = [beside, along].map(|by| by * 1.000_001);
        if along > 0.0 {
            (self.near, self.far) = ((self.near - along).next_down(), (self.far + along).next_up());
            (self.begin, self.end) = ((self.begin + along).next_up(), (self.end - along).next_down());
            self.margin = (self.margin + along).next_up();
        }
        if beside > 0.0 {
            for k in 0..3 {
                let more = (beside * self.inverse[k].abs()) * 1.000_001;
                self.enter[k] -= more;
                self.leave[k] += more;
            }
            let [.., spread, floor, _, _, _] = &mut self.line;
            let delta = (floor.sqrt() + beside) * 1.000_001;
            (*spread, *floor) = ((*spread + 2.0 * beside) * 1.000_001, delta * delta * 1.000_001);
        }
    }

    /// Octant of the direction. All rays of an octant enter AABBs through the same faces.
    pub(crate) fn octant(&self) -> usize {
        (0..3).fold(0, |octant, i| octant | usize::from(self.inverse[i] < 0.0) << i)
    }
}

/// Hits of a list of rays with the AABBs of a node.
#[derive(Default)]
pub(crate) struct Entered {
    /// Position where each ray of the list enters each AABB.
    at: Vec<[f32; WIDTH]>,
    /// One word per eight rays of the list: one byte per ray, one bit per AABB.
    masks: Vec<u64>,
    /// Mask of the AABBs that any ray enters.
    pub(crate) any: u64,
}

impl Entered {
    /// Compacts a list of rays for a child: writes those of `list` that enter child `place` before the end of their segment to `out`.
    /// Returns their number. Takes one iteration per ray that enters, none for the others, and has no branch that depends on a ray.
    #[inline(always)]
    fn pass(&self, place: usize, list: &[u32], fars: &[f32], out: &mut [u32]) -> usize {
        let mut count = 0;
        let masks = &self.masks[..list.len().div_ceil(8)];
        let out = &mut out[..list.len()];
        for ((masks, list), at) in masks.chunks(8).zip(list.chunks(64)).zip(self.at.chunks(64)) {
            let at = &at[..list.len()];
            // One bit of each of the eight bytes; the product brings them together.
            let bits = |mask: u64| (mask >> place & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            let mut word = masks.iter().rev().fold(0, |word, &mask| word << 8 | bits(mask));
            while word != 0 {
                let i = word.trailing_zeros() as usize;
                word &= word - 1;
                let ray = list[i];
                out[count] = ray;
                count += usize::from(at[i][place % WIDTH] <= fars[ray as usize]);
            }
        }
        count
    }
}

dispatch! {
    /// See [`Entered::pass`].
    pass, (entered: &Entered, place: usize, list: &[u32], fars: &[f32], out: &mut [u32]) -> usize
}

// Compiled per instruction set for its bit-scan instructions. The lanes themselves are not used.
#[inline(always)]
fn pass(_: impl Lanes, entered: &Entered, place: usize, list: &[u32], fars: &[f32], out: &mut [u32]) -> usize {
    entered.pass(place, list, fars, out)
}

dispatch! {
    /// Tests a list of rays against the AABBs of a node.
    enter_boxes, (node: &Node, octant: usize, rays: &[StreamRay], fars: &[f32], list: &[u32], entered: &mut Entered)
}
dispatch! {
    /// Tests a list of rays against the spheres of a leaf. Writes one entry of `met` per ray that may hit a sphere, and returns their
    /// number.
    meet_leaf, (leaf: &Leaf, rays: &[StreamRay], fars: &[f32], list: &[u32], met: &mut [Met]) -> usize
}
dispatch! {
    /// Like `meet_leaf`, for ellipsoids: the leaf has balls around them and their paths. `inner` has the radii of balls that the ellipsoids
    /// contain at all times, negative where there is none.
    meet_swept_leaf, (
        leaf: &Leaf, inner: &[f32; WIDTH], rays: &[StreamRay], fars: &[f32], list: &[u32], met: &mut [Met]
    ) -> usize
}

dispatch! {
    /// Like `meet_leaf`, for moving spheres, each at its position at the time of the ray.
    meet_moved_leaf, (ways: &Ways, rays: &[StreamRay], fars: &[f32], list: &[u32], met: &mut [Met]) -> usize
}

#[inline(always)]
fn enter_boxes<L: Lanes>(
    lanes: L,
    node: &Node,
    octant: usize,
    rays: &[StreamRay],
    fars: &[f32],
    list: &[u32],
    entered: &mut Entered,
) {
    let lanes = lanes.narrow();
    let first: [&[f32; WIDTH]; 3] = std::array::from_fn(|k| &node.faces[octant >> k & 1][k]);
    let last: [&[f32; WIDTH]; 3] = std::array::from_fn(|k| &node.faces[1 - (octant >> k & 1)][k]);
    if entered.at.len() < list.len() {
        entered.at.resize(list.len(), [0.0; WIDTH]);
        entered.masks.resize(list.len().div_ceil(8), 0);
    }
    let mut any = 0;
    for ((list, at), masks) in list.chunks(8).zip(entered.at.chunks_mut(8)).zip(&mut entered.masks) {
        let mut eight = 0;
        for (i, (&number, at)) in list.iter().zip(at).enumerate() {
            let (ray, far) = (&rays[number as usize], fars[number as usize]);
            let mut mask = 0;
            for i in (0..WIDTH).step_by(L::Narrow::COUNT) {
                let plane = |faces: &[&[f32; WIDTH]; 3], k: usize, add: &[f32; 3]| {
                    let face = lanes.load(&faces[k][i..]);
                    face.mul_add(lanes.splat(ray.inverse[k]), lanes.splat(add[k]))
                };
                let enter = |k| plane(&first, k, &ray.enter);
                let leave = |k| plane(&last, k, &ray.leave);
                let enter = enter(0).max(enter(1)).max(enter(2).max(lanes.splat(ray.near)));
                let leave = leave(0).min(leave(1)).min(leave(2).min(lanes.splat(far)));
                enter.store(&mut at[i..]);
                mask |= enter.at_most(leave) << i;
            }
            eight |= mask << (8 * i);
            any |= mask;
        }
        *masks = eight;
    }
    entered.any = any;
}

#[inline(always)]
fn meet_leaf(lanes: impl Lanes, leaf: &Leaf, rays: &[StreamRay], fars: &[f32], list: &[u32], met: &mut [Met]) -> usize {
    meet_swept_leaf(lanes, leaf, &leaf.reach, rays, fars, list, met)
}

#[inline(always)]
fn meet_swept_leaf(
    lanes: impl Lanes,
    leaf: &Leaf,
    inner: &[f32; WIDTH],
    rays: &[StreamRay],
    fars: &[f32],
    list: &[u32],
    met: &mut [Met],
) -> usize {
    let lanes = lanes.narrow();
    let load = |column: &[f32; WIDTH], i: usize| lanes.load(&column[i..]);
    // Not `map`: the compiler calls it as a function and passes vectors through memory.
    let spheres = |_: &StreamRay, i: usize| {
        [load(&leaf.x, i), load(&leaf.y, i), load(&leaf.z, i), load(&leaf.reach, i), load(inner, i)]
    };
    meet_spheres(lanes, spheres, rays, fars, list, met)
}

#[inline(always)]
fn meet_moved_leaf(
    lanes: impl Lanes,
    ways: &Ways,
    rays: &[StreamRay],
    fars: &[f32],
    list: &[u32],
    met: &mut [Met],
) -> usize {
    let lanes = lanes.narrow();
    let load = |column: &[f32; WIDTH], i: usize| lanes.load(&column[i..]);
    let spheres = |ray: &StreamRay, i: usize| {
        let moment = lanes.splat(ray.moment);
        let at = |k: usize| load(&ways.velocity[k], i).mul_add(moment, load(&ways.center[k], i));
        [at(0), at(1), at(2), load(&ways.reach, i), load(&ways.inner, i)]
    };
    meet_spheres(lanes, spheres, rays, fars, list, met)
}

/// The leaf test. `spheres` returns the centres, the radii with an allowance for errors, and the radii of balls whose hits are certain; the
/// rounding errors of the latter are subtracted here.
#[inline(always)]
fn meet_spheres<L: Lanes>(
    lanes: L,
    spheres: impl Fn(&StreamRay, usize) -> [L; 5],
    rays: &[StreamRay],
    fars: &[f32],
    list: &[u32],
    met: &mut [Met],
) -> usize {
    let splat = |value| lanes.splat(value);
    let zero = splat(0.0);
    let mut count = 0;
    for &number in list {
        let (ray, far) = (&rays[number as usize], splat(fars[number as usize]));
        let Some(Met { ray: name, maybe, certain, low: lows, high: highs }) = met.get_mut(count) else { break };
        (*name, *maybe, *certain) = (number, 0, 0);
        let [ux, uy, vx, vy, vz, minus_alpha, minus_beta, spread, floor, dx, dy, dz] = ray.line;
        for i in (0..WIDTH).step_by(L::COUNT) {
            let [x, y, z, reach, inner] = spheres(ray, i);
            let size = x.abs().add(y.abs()).add(z.abs()).add(reach);
            let slack = size.mul(splat(32.0 * U));
            let minus_w = zero.sub(reach.mul(reach).mul(splat(1.0 + 64.0 * U)));
            // The radius without its allowance, and less by the same amount again.
            let least = inner.sub(size.mul(splat(320.0 * U))).max(zero);
            let least = least.mul(least).mul(splat(1.0 - 64.0 * U)).add(minus_w);
            let across = y.mul_add(splat(uy), x.mul_add(splat(ux), splat(minus_alpha)));
            let over = z.mul_add(splat(vz), y.mul_add(splat(vy), x.mul_add(splat(vx), splat(minus_beta))));
            let square = over.mul_add(over, across.mul_add(across, minus_w));
            let room = reach.mul_add(splat(spread), splat(floor));
            let along = z.mul_add(splat(dz), y.mul_add(splat(dy), x.mul(splat(dx))));
            let half = room.sub(square).max(zero).sqrt().add(slack);
            let (low, exit) = (along.sub(half), along.add(half));
            let mask = square.at_most(room) & low.at_most(far) & splat(ray.near).at_most(exit);
            let chord = least.sub(square).sub(room);
            let high = along.sub(chord.max(zero).sqrt()).add(slack).add(splat(ray.margin));
            let sure = splat(f32::MIN_POSITIVE).at_most(chord)
                & splat(ray.begin).at_most(low)
                & high.at_most(far)
                & high.at_most(splat(ray.end));
            low.store(&mut lows[i..]);
            high.store(&mut highs[i..]);
            *maybe |= (mask as u32) << i;
            *certain |= ((mask & sure) as u32) << i;
        }
        // Branchless: half of the rays have a hit.
        count += usize::from(*maybe != 0);
    }
    count
}
