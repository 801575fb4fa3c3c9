//! Kernels of the stream traversal: many rays are tested against one node or one leaf in a row (Barringer & Akenine-Möller 2014, Dynamic
//! ray stream traversal). The node stays in registers, no ray waits for another, and no branch depends on the result of a slab test.
//!
//! Error analysis, with U, F, δ, ρ as in `src/cpu/cull.rs`. A ray is the line F + s · d in scaled units. All values in the tests of AABBs
//! and leaves stay as small as the scene, wherever the ray starts. The line intersects a plane of an AABB at s = plane · (1/d) − (F ±
//! δ')/d, with one rounding of each part: this is equivalent to an error of 4 U (|plane| + |F|) of the plane. The rounding of d and F moves
//! the line by as much again. The part that depends on the plane is covered by the 128 U (|c| + r) in every sphere's `padded_radius`; the part that
//! depends on the ray is covered by δ' = 2 δ + 64 U |F|. The error of an intersection test is equivalent to an error of 32 U (|c| + r) + δ
//! of the radius, which `padded_radius` and δ' cover, too.
//!
//! In a leaf, h² = ρ² − b² bounds the chord: entry and exit lie within s = c·d ± h. The upper bound of h uses the radius ρ + δ, the lower
//! bound uses 2 r − ρ − δ, and c·d has an error of 32 U (|c| + ρ). A sphere is a certain hit under every policy if even the lower bound
//! gives a chord, and if the sphere begins after the ray's start and before its end by more than the error of a root (`margin`). What
//! begins later than a certain hit by more than `margin` does not matter. None of this needs an intersection test.
//!
//! A sphere that certainly contains the start of the ray is decided too, by the policy for such spheres. There the roots are quotients with a
//! divisor of at least the half chord h, and their error is up to r / h times that of a sphere ahead, 28 U (|c − o| + r). So h must be at
//! least r / 4: then the error is below 128 U (|c − o| + r), which `margin` and the slack cover.

use bytemuck::{Pod, Zeroable};

use crate::bvh::bvh8::node::{Bvh8Node, Leaf8, WIDTH};
use crate::math::float::U;
use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{SimdLevel, multiversion};
use crate::query::policy::{Ends, Inside, Query};
use crate::runtime::prefetch::prefetch;

/// A ray prepared for the tests of AABBs and leaves. The fields for AABBs fill one cache line.
#[repr(C, align(64))]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct PreparedRay {
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
    /// u, v, −α, −β, `spread`, `floor` and d of a [`RayLine`](crate::cpu::cull::RayLine). If spheres move while the ray travels, the first three
    /// are the ray's point at `pivot`.
    pub(crate) line: [f32; 12],
    /// Time at which the ray sees moving spheres, relative to the middle of their time range. If they move while the ray travels, it is the
    /// time at which the ray is at `pivot`; the other fields are only for this case, see [`moving_leaf`](super::moving_leaf).
    pub(crate) time: f32,
    /// Positions up to this one certainly lie before the ray's beginning.
    pub(crate) before: f32,
    pub(crate) pivot: f32,
    pub(crate) pace: f32,
    pub(crate) flag: f32,
    /// Padding to the end of the cache line.
    padding: f32,
}

/// What a leaf test concludes about a sphere that certainly contains the start of a ray.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartInside {
    /// Nothing: the pair is intersected.
    Undecided,
    /// It is hit at the start.
    HitAtStart,
    /// It is hit where the ray leaves it.
    HitAtExit,
    /// It is not hit.
    Ignored,
}

/// How a leaf test proceeds.
#[derive(Clone, Copy)]
pub(crate) struct LeafRules {
    pub(crate) inside: StartInside,
    /// Selects the rays whose line comes near a sphere first. That pays if most pass all spheres.
    pub(crate) select: bool,
}

impl Default for LeafRules {
    fn default() -> Self {
        Self::PLAIN
    }
}

impl LeafRules {
    const PLAIN: Self = Self { inside: StartInside::Undecided, select: true };
}

impl StartInside {
    /// The conclusion for a query.
    pub(crate) fn of(query: &Query) -> Self {
        match (query.inside, query.ends) {
            // The segment of a ray may be empty.
            (Inside::Enter, Ends::HalfOpen) => Self::Undecided,
            (Inside::Enter, Ends::Closed) => Self::HitAtStart,
            (Inside::Exit, _) => Self::HitAtExit,
            (Inside::Ignore, _) => Self::Ignored,
        }
    }
}

/// Eight moving spheres in SoA layout, in scaled units: centres in the middle of the time range in which the motion is known, velocities,
/// radii with an allowance for errors, and radii of balls that the spheres certainly contain.
#[repr(C, align(64))]
#[derive(Clone, Copy, Zeroable)]
pub(crate) struct MovingLeaf8 {
    pub(crate) center: [[f32; WIDTH]; 3],
    pub(crate) velocity: [[f32; WIDTH]; 3],
    pub(crate) padded_radius: [f32; WIDTH],
    pub(crate) inner_radius: [f32; WIDTH],
}

impl MovingLeaf8 {
    /// Corners of an AABB that contains the spheres at all times within `half` of the middle.
    pub(crate) fn corners(&self, half: f64) -> [[f32; 3]; 2] {
        let [mut low, mut high] = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
        for k in (0..WIDTH).filter(|&k| !self.center[0][k].is_nan()) {
            for (axis, (low, high)) in low.iter_mut().zip(&mut high).enumerate() {
                let (center, velocity) = (f64::from(self.center[axis][k]), f64::from(self.velocity[axis][k]));
                let reach = f64::from(self.padded_radius[k]) + velocity.abs() * half * (1.0 + 1e-6);
                *low = low.min(((center - reach) as f32).next_down());
                *high = high.max(((center + reach) as f32).next_up());
            }
        }
        [low, high]
    }

    /// Prefetches the four cache lines.
    pub(crate) fn prefetch(&self) {
        [&self.center[0], &self.center[2], &self.velocity[1], &self.padded_radius].into_iter().for_each(prefetch);
    }
}

/// Spheres of a leaf that a ray may hit.
#[derive(Clone, Copy, Default)]
pub(crate) struct LeafHits {
    pub(crate) ray: u32,
    /// One bit per sphere: may be hit, and certainly hit, whatever the policies.
    pub(crate) candidates: u32,
    pub(crate) certain: u32,
    /// Positions along the ray: a sphere is not hit before `low`. A certain hit begins before its `high`.
    pub(crate) low: [f32; WIDTH],
    pub(crate) high: [f32; WIDTH],
}

impl LeafHits {
    pub(crate) const NONE: Self = Self { ray: 0, candidates: 0, certain: 0, low: [0.0; WIDTH], high: [0.0; WIDTH] };
}

impl PreparedRay {
    /// Inflates the ray laterally by `lateral` and axially by `along`, in scaled units. The conditions for certain hits become stricter
    /// by the same amounts.
    pub(crate) fn inflate(&mut self, lateral: f32, along: f32) {
        let [lateral, along] = [lateral, along].map(|by| by * 1.000_001);
        if along > 0.0 {
            (self.near, self.far) = ((self.near - along).next_down(), (self.far + along).next_up());
            (self.begin, self.end) = ((self.begin + along).next_up(), (self.end - along).next_down());
            self.margin = (self.margin + along).next_up();
            self.before = (self.before - along).next_down();
        }
        if lateral > 0.0 {
            for k in 0..3 {
                let more = (lateral * self.inverse[k].abs()) * 1.000_001;
                self.enter[k] -= more;
                self.leave[k] += more;
            }
            let [.., spread, floor, _, _, _] = &mut self.line;
            let delta = (floor.sqrt() + lateral) * 1.000_001;
            (*spread, *floor) = ((*spread + 2.0 * lateral) * 1.000_001, delta * delta * 1.000_001);
        }
    }

    /// Octant of the direction. All rays of an octant enter AABBs through the same faces.
    pub(crate) fn octant(&self) -> usize {
        (0..3).fold(0, |octant, i| octant | usize::from(self.inverse[i] < 0.0) << i)
    }
}

/// Hits of a list of rays with the AABBs of a node.
#[derive(Default)]
pub(crate) struct ChildHits {
    /// Position where each ray of the list enters each AABB.
    t_enter: Vec<[f32; WIDTH]>,
    /// One word per eight rays of the list: one byte per ray, one bit per AABB.
    masks: Vec<u64>,
    /// Mask of the AABBs that any ray enters.
    pub(crate) any: u64,
}

/// List of rays, padded to a multiple of [`LIST_GROUP`] words.
#[derive(Clone, Copy)]
pub(crate) struct RayList<'a> {
    padded: &'a [u32],
    count: usize,
}

/// Lists are compacted in groups of this size.
pub(crate) const LIST_GROUP: usize = 16;

impl<'a> RayList<'a> {
    /// The first `count` words of a buffer that is long enough for the padding.
    pub(crate) fn new(buffer: &'a [u32], count: usize) -> Self {
        Self { padded: &buffer[..count.next_multiple_of(LIST_GROUP)], count }
    }

    pub(crate) fn rays(self) -> &'a [u32] {
        &self.padded[..self.count]
    }
}

/// Bit `place` of each byte of a word. The product brings the bits together.
#[inline(always)]
fn bits_of_bytes(word: u64, place: usize) -> u64 {
    (word >> place & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

multiversion! {
    /// Compacts a list of rays for a child: writes those that enter child `place` to `out`, which is as long as the padded list, and returns
    /// their number. With `shortened`, leaves out those whose segment ends before the child by now.
    compact, (entered: &ChildHits, place: usize, list: RayList<'_>, t_far: &[f32], shortened: bool, out: &mut [u32]) -> usize
}

#[inline(always)]
fn compact<L: Lanes>(
    lanes: L,
    entered: &ChildHits,
    place: usize,
    list: RayList<'_>,
    t_far: &[f32],
    shortened: bool,
    out: &mut [u32],
) -> usize {
    let mut count = 0;
    let masks = &entered.masks[..list.count.div_ceil(8)];
    if L::COMPRESSES && !shortened {
        for (masks, group) in masks.chunks(2).zip(list.padded.as_chunks().0) {
            let mask = masks.iter().rev().fold(0, |word, &mask| word << 8 | bits_of_bytes(mask, place)) as u32;
            let Some(to) = out.get_mut(count..).and_then(|out| out.first_chunk_mut()) else { break };
            lanes.compress(group, mask, to);
            count += mask.count_ones() as usize;
        }
        return count;
    }
    let list = list.rays();
    let out = &mut out[..list.len()];
    // One iteration per ray that enters, none for the others, and no branch that depends on a ray.
    for ((masks, list), at) in masks.chunks(8).zip(list.chunks(64)).zip(entered.t_enter.chunks(64)) {
        let at = &at[..list.len()];
        let mut word = masks.iter().rev().fold(0, |word, &mask| word << 8 | bits_of_bytes(mask, place));
        while word != 0 {
            let i = word.trailing_zeros() as usize;
            word &= word - 1;
            let ray = list[i];
            out[count] = ray;
            count += usize::from(at[i][place % WIDTH] <= t_far[ray as usize]);
        }
    }
    count
}

multiversion! {
    /// Tests a list of rays against the AABBs of a node.
    intersect_children, (node: &Bvh8Node, octant: usize, rays: &[PreparedRay], t_far: &[f32], list: &[u32], entered: &mut ChildHits)
}
multiversion! {
    /// Tests a list of rays against the spheres of a leaf. Writes one entry of `leaf_hits` per ray that may hit a sphere, and returns their
    /// number.
    cull_leaf, (
        leaf: &Leaf8, rays: &[PreparedRay], t_far: &[f32], list: &[u32], rules: LeafRules, leaf_hits: &mut [LeafHits]
    ) -> usize
}
multiversion! {
    /// Like `cull_leaf`, for ellipsoids: the leaf has balls around them and their paths. `inner_radius` has the radii of balls that the ellipsoids
    /// contain at all times, negative where there is none.
    cull_swept_leaf, (
        leaf: &Leaf8, inner: &[f32; WIDTH], rays: &[PreparedRay], t_far: &[f32], list: &[u32], leaf_hits: &mut [LeafHits]
    ) -> usize
}

multiversion! {
    /// Like `cull_leaf`, for moving spheres, each at its position at the time of the ray.
    cull_moved_leaf, (moving_leaf: &MovingLeaf8, rays: &[PreparedRay], t_far: &[f32], list: &[u32], leaf_hits: &mut [LeafHits]) -> usize
}

#[inline(always)]
fn intersect_children<L: Lanes>(
    lanes: L,
    node: &Bvh8Node,
    octant: usize,
    rays: &[PreparedRay],
    t_far: &[f32],
    list: &[u32],
    entered: &mut ChildHits,
) {
    let lanes = lanes.narrow();
    let first: [&[f32; WIDTH]; 3] = std::array::from_fn(|k| &node.bounds[octant >> k & 1][k]);
    let last: [&[f32; WIDTH]; 3] = std::array::from_fn(|k| &node.bounds[1 - (octant >> k & 1)][k]);
    if entered.t_enter.len() < list.len() {
        entered.t_enter.resize(list.len(), [0.0; WIDTH]);
        entered.masks.resize(list.len().div_ceil(8), 0);
    }
    let mut any = 0;
    for ((list, at), masks) in list.chunks(8).zip(entered.t_enter.chunks_mut(8)).zip(&mut entered.masks) {
        let mut eight = 0;
        for (i, (&number, at)) in list.iter().zip(at).enumerate() {
            let (ray, far) = (&rays[number as usize], t_far[number as usize]);
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
                mask |= enter.le_mask(leave) << i;
            }
            eight |= mask << (8 * i);
            any |= mask;
        }
        *masks = eight;
    }
    entered.any = any;
}

/// Tests one ray against the boxes of a node: writes the positions where it enters them, and returns the mask of those that it enters before
/// `far`.
#[inline(always)]
pub(crate) fn enter_boxes<L: Lanes>(
    lanes: L,
    node: &Bvh8Node,
    ray: &PreparedRay,
    far: f32,
    at: &mut [f32; WIDTH],
) -> u64 {
    let octant = ray.octant();
    let mut mask = 0;
    for i in (0..WIDTH).step_by(L::COUNT) {
        let plane = |side: usize, k: usize, add: &[f32; 3]| {
            let face = lanes.load(&node.bounds[side ^ (octant >> k & 1)][k][i..]);
            face.mul_add(lanes.splat(ray.inverse[k]), lanes.splat(add[k]))
        };
        let (enter, leave) = (|k| plane(0, k, &ray.enter), |k| plane(1, k, &ray.leave));
        let enter = enter(0).max(enter(1)).max(enter(2).max(lanes.splat(ray.near)));
        let leave = leave(0).min(leave(1)).min(leave(2).min(lanes.splat(far)));
        enter.store(&mut at[i..]);
        mask |= enter.le_mask(leave) << i;
    }
    mask
}

#[inline(always)]
pub(crate) fn cull_leaf(
    lanes: impl Lanes,
    leaf: &Leaf8,
    rays: &[PreparedRay],
    t_far: &[f32],
    list: &[u32],
    rules: LeafRules,
    leaf_hits: &mut [LeafHits],
) -> usize {
    cull_resting(lanes, leaf, &leaf.padded_radius, rays, t_far, list, rules, leaf_hits)
}

#[inline(always)]
fn cull_swept_leaf(
    lanes: impl Lanes,
    leaf: &Leaf8,
    inner: &[f32; WIDTH],
    rays: &[PreparedRay],
    t_far: &[f32],
    list: &[u32],
    leaf_hits: &mut [LeafHits],
) -> usize {
    cull_resting(lanes, leaf, inner, rays, t_far, list, LeafRules::PLAIN, leaf_hits)
}

#[allow(clippy::too_many_arguments, reason = "a kernel, inlined into the functions that name its variants")]
#[inline(always)]
fn cull_resting(
    lanes: impl Lanes,
    leaf: &Leaf8,
    inner: &[f32; WIDTH],
    rays: &[PreparedRay],
    t_far: &[f32],
    list: &[u32],
    rules: LeafRules,
    leaf_hits: &mut [LeafHits],
) -> usize {
    cull_spheres(lanes.narrow(), &Resting { leaf, inner }, rays, t_far, list, rules, leaf_hits)
}

#[inline(always)]
fn cull_moved_leaf(
    lanes: impl Lanes,
    moving_leaf: &MovingLeaf8,
    rays: &[PreparedRay],
    t_far: &[f32],
    list: &[u32],
    leaf_hits: &mut [LeafHits],
) -> usize {
    cull_spheres(lanes.narrow(), &Moved(moving_leaf), rays, t_far, list, LeafRules::PLAIN, leaf_hits)
}

/// The spheres of a leaf as a ray sees them. (A trait, because a closure with two callers is not inlined.)
trait LeafSpheres<L: Lanes> {
    /// Centres, radii with an allowance for errors, and radii of balls whose hits are certain, from lane `i` on. The rounding errors of the
    /// last are not subtracted yet.
    fn load(&self, lanes: L, ray: &PreparedRay, i: usize) -> [L; 5];
}

/// Spheres at rest.
struct Resting<'a> {
    leaf: &'a Leaf8,
    inner: &'a [f32; WIDTH],
}

impl<L: Lanes> LeafSpheres<L> for Resting<'_> {
    #[inline(always)]
    fn load(&self, lanes: L, _: &PreparedRay, i: usize) -> [L; 5] {
        let Self { leaf, inner } = self;
        [
            lanes.load(&leaf.x[i..]),
            lanes.load(&leaf.y[i..]),
            lanes.load(&leaf.z[i..]),
            lanes.load(&leaf.padded_radius[i..]),
            lanes.load(&inner[i..]),
        ]
    }
}

/// Moving spheres at the time of a ray.
struct Moved<'a>(&'a MovingLeaf8);

impl<L: Lanes> LeafSpheres<L> for Moved<'_> {
    #[inline(always)]
    fn load(&self, lanes: L, ray: &PreparedRay, i: usize) -> [L; 5] {
        let MovingLeaf8 { center, velocity, padded_radius, inner_radius } = self.0;
        let moment = lanes.splat(ray.time);
        [
            lanes.load(&velocity[0][i..]).mul_add(moment, lanes.load(&center[0][i..])),
            lanes.load(&velocity[1][i..]).mul_add(moment, lanes.load(&center[1][i..])),
            lanes.load(&velocity[2][i..]).mul_add(moment, lanes.load(&center[2][i..])),
            lanes.load(&padded_radius[i..]),
            lanes.load(&inner_radius[i..]),
        ]
    }
}

/// Squared distances of centres from a ray's line, less the squared radii; and the largest values at which spheres are candidates.
#[inline(always)]
fn distances<L: Lanes>(lanes: L, ray: &PreparedRay, x: L, y: L, z: L, reach: L) -> (L, L) {
    let splat = |value| lanes.splat(value);
    let [ux, uy, vx, vy, vz, minus_alpha, minus_beta, spread, floor, ..] = ray.line;
    let minus_w = minus_squared(lanes, reach);
    let across = y.mul_add(splat(uy), x.mul_add(splat(ux), splat(minus_alpha)));
    let over = z.mul_add(splat(vz), y.mul_add(splat(vy), x.mul_add(splat(vx), splat(minus_beta))));
    (over.mul_add(over, across.mul_add(across, minus_w)), reach.mul_add(splat(spread), splat(floor)))
}

/// The negated squares of radii, rounded down.
#[inline(always)]
fn minus_squared<L: Lanes>(lanes: L, reach: L) -> L {
    lanes.splat(0.0).sub(reach.mul(reach).mul(lanes.splat(1.0 + 64.0 * U)))
}

/// The leaf test.
#[inline(always)]
fn cull_spheres<L: Lanes>(
    lanes: L,
    spheres: &impl LeafSpheres<L>,
    rays: &[PreparedRay],
    t_far: &[f32],
    list: &[u32],
    rules: LeafRules,
    leaf_hits: &mut [LeafHits],
) -> usize {
    let splat = |value| lanes.splat(value);
    let zero = splat(0.0);
    let mut near = 0;
    for &number in list {
        let mut mask = u64::from(!rules.select);
        if rules.select {
            let ray = &rays[number as usize];
            for i in (0..WIDTH).step_by(L::COUNT) {
                let [x, y, z, reach, _] = spheres.load(lanes, ray, i);
                let (square, room) = distances(lanes, ray, x, y, z, reach);
                mask |= square.le_mask(room);
            }
        }
        // Branchless: about as many rays pass as do not.
        let Some(hits) = leaf_hits.get_mut(near) else { break };
        hits.ray = number;
        near += usize::from(mask != 0);
    }
    let mut count = 0;
    for j in 0..near {
        let number = leaf_hits[j].ray;
        let (ray, far) = (&rays[number as usize], splat(t_far[number as usize]));
        let LeafHits { ray: name, candidates: maybe, certain, low: lows, high: highs } = &mut leaf_hits[count];
        (*name, *maybe, *certain) = (number, 0, 0);
        let [.., dx, dy, dz] = ray.line;
        for i in (0..WIDTH).step_by(L::COUNT) {
            let [x, y, z, reach, inner] = spheres.load(lanes, ray, i);
            let size = x.abs().add(y.abs()).add(z.abs()).add(reach);
            let slack = size.mul(splat(32.0 * U));
            let minus_w = minus_squared(lanes, reach);
            // The radius without its allowance, and less by the same amount again.
            let least = inner.sub(size.mul(splat(320.0 * U))).max(zero);
            let least = least.mul(least).mul(splat(1.0 - 64.0 * U)).add(minus_w);
            let (square, room) = distances(lanes, ray, x, y, z, reach);
            let along = z.mul_add(splat(dz), y.mul_add(splat(dy), x.mul(splat(dx))));
            let half = room.sub(square).max(zero).sqrt().add(slack);
            let (low, exit) = (along.sub(half), along.add(half));
            let mut mask = square.le_mask(room) & low.le_mask(far) & splat(ray.near).le_mask(exit);
            let chord = least.sub(square).sub(room);
            let root = chord.max(zero).sqrt();
            let error = slack.add(splat(ray.margin));
            let high = along.sub(root).add(error);
            let mut sure = splat(f32::MIN_POSITIVE).le_mask(chord)
                & splat(ray.begin).le_mask(low)
                & high.le_mask(far)
                & high.le_mask(splat(ray.end));
            low.store(&mut lows[i..]);
            high.store(&mut highs[i..]);
            // Few rays start inside a sphere, so this branch is predicted.
            let started =
                if rules.inside == StartInside::Undecided { 0 } else { mask & high.le_mask(splat(ray.before)) };
            if started != 0 {
                // The chord is at least a quarter of the diameter: see above.
                let least_exit = along.add(root).sub(error);
                let around = started
                    & zero.sub(minus_w).mul(splat(1.0 / 16.0)).le_mask(chord)
                    & splat(ray.begin).le_mask(least_exit);
                match rules.inside {
                    StartInside::Undecided => {}
                    StartInside::HitAtStart => {
                        sure |= around;
                        high.max(splat(ray.begin)).store(&mut highs[i..]);
                    }
                    StartInside::HitAtExit => {
                        let most_exit = exit.add(splat(ray.margin));
                        mask &= !(around & !least_exit.le_mask(far));
                        sure |= around & most_exit.le_mask(far) & most_exit.le_mask(splat(ray.end));
                        let mut exits = [[0.0; WIDTH]; 2];
                        least_exit.store(&mut exits[0][i..]);
                        most_exit.store(&mut exits[1][i..]);
                        for k in (i..i + L::COUNT).filter(|k| around >> (k - i) & 1 == 1) {
                            (lows[k], highs[k]) = (exits[0][k], exits[1][k]);
                        }
                    }
                    StartInside::Ignored => mask &= !around,
                }
            }
            *maybe |= (mask as u32) << i;
            *certain |= ((mask & sure) as u32) << i;
        }
        // Branchless: half of the rays have a hit.
        count += usize::from(*maybe != 0);
    }
    count
}

#[cfg(test)]
#[path = "leaf_tests.rs"]
mod tests;
