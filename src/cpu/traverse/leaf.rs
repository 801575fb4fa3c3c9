//! Kernels of the stream traversal: many rays are tested against one node or one leaf in a row (Barringer & Akenine-Möller 2014, Dynamic
//! ray stream traversal). The node stays in registers, no ray waits for another, and no branch depends on the result of a slab test.
//!
//! Error analysis, with U, F, δ, ρ as in `src/cpu/frame.rs`. A ray is the line F + s · d in scaled units. All values in the tests of AABBs
//! and leaves stay as small as the scene, wherever the ray starts. The line intersects a plane of an AABB at s = plane · (1/d) − (F ±
//! δ')/d, with one rounding of each part: this is equivalent to an error of 4 U (|plane| + |F|) of the plane. The rounding of d and F moves
//! the line by as much again. The part that depends on the plane is covered by the 128 U (|c| + r) in every sphere's `padded_radius`; the part that
//! depends on the ray is covered by δ' = 2 δ + 64 U |F|. The error of an intersection test is equivalent to an error of 32 U (|c| + r) + δ
//! of the radius, which `padded_radius` and δ' cover, too.
//!
//! In a leaf, h² = ρ² − b² bounds the chord: entry and exit lie within s = c·d ± h. The upper bound of h uses the radius ρ + δ, the lower
//! bound uses 2 r − ρ − δ, and c·d has an error of 32 U (|c| + ρ). A sphere ahead is a certain hit under every policy if even the lower bound
//! gives a chord, and if the sphere begins after the ray's start and before its end by more than the error of a root (`margin`). What
//! begins later than a certain hit by more than `margin` does not matter. None of this needs an intersection test.
//!
//! A sphere that certainly contains the start of the ray is decided too, by the policy for such spheres. There the roots are quotients with a
//! divisor of at least the half chord h, and their error is up to r / h times that of a sphere ahead, 28 U (|c − o| + r). So h must be at
//! least r / 4: then the error is below 128 U (|c − o| + r), which `margin` and the slack cover.
//!
//! Visits of leaves: the leaf test, and what collectors receive from it.

use super::deferred::{DeferredPair, MAX_DEFERRED};
use super::moving_leaf::{MovingLeaf8, cull_passing_leaf};
use super::packet::{ActiveRays, PACKET_RAYS, Packet, is_sparse};
use super::ray_setup::{NUMBERS, PreparedRay, place_of};
use super::stream::StreamTraversal;
use crate::bvh::bvh8::node::{Leaf8, WIDTH};
use crate::cpu::accel::CpuBvh;
use crate::cpu::collector::{HitCollector, Settled};
use crate::cpu::view::SceneView;
use crate::intersect::sphere_soa::BATCH_WIDTH;
use crate::math::float::U;
use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{SimdLevel, multiversion};
use crate::query::policy::{Ends, Inside, Query};
use crate::records::{NO_SPHERE, RayAttributes};

/// Conclusion of a leaf test about a sphere that certainly contains the start of a ray.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum StartInside {
    /// Nothing: the pair is intersected.
    #[default]
    Undecided,
    /// It is hit at the start.
    HitAtStart,
    /// It is hit where the ray leaves it.
    HitAtExit,
    /// It is not hit.
    Ignored,
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

/// Spheres of a leaf that a ray may hit.
#[derive(Clone, Copy)]
pub(crate) struct LeafHits {
    pub(crate) ray: u32,
    /// One bit per sphere: may be hit, and certainly hit, under the policies of the query.
    pub(crate) candidates: u32,
    pub(crate) certain: u32,
    /// Positions along the ray: a sphere is not hit before `low`. A certain hit lies between `low` and `high`.
    pub(crate) low: [f32; WIDTH],
    pub(crate) high: [f32; WIDTH],
}

impl LeafHits {
    pub(crate) const NONE: Self = Self { ray: 0, candidates: 0, certain: 0, low: [0.0; WIDTH], high: [0.0; WIDTH] };
}

/// Rays of a packet that may hit a sphere: a vector of rays from number `first` on, and one sphere of a leaf.
#[derive(Clone, Copy)]
pub(crate) struct PacketHits {
    pub(crate) first: u32,
    pub(crate) lane: u32,
    /// One bit per ray: may hit, and certainly hits.
    pub(crate) candidates: u64,
    pub(crate) certain: u64,
    /// Positions along the rays, as in [`LeafHits`].
    pub(crate) low: [f32; MAX_LANES],
    pub(crate) high: [f32; MAX_LANES],
}

impl PacketHits {
    pub(crate) const NONE: Self =
        Self { first: 0, lane: 0, candidates: 0, certain: 0, low: [0.0; MAX_LANES], high: [0.0; MAX_LANES] };
    /// Largest number of entries of a leaf, with vectors of four rays.
    pub(crate) const MAX: usize = WIDTH * PACKET_RAYS / 4;
}

/// Largest number of lanes.
const MAX_LANES: usize = 16;

multiversion! {
    /// Tests a list of rays against the spheres of a leaf. Writes one entry of `leaf_hits` per ray that may hit a sphere, and returns their
    /// number.
    cull_leaf, (
        leaf: &Leaf8, rays: &[PreparedRay], s_far: &[f32], list: &[u32], inside: StartInside, leaf_hits: &mut [LeafHits]
    ) -> usize, |lanes| {
        cull_spheres(lanes.narrow(), &Resting::of(leaf), rays, s_far, list.iter().copied(), inside, leaf_hits)
    }
}
multiversion! {
    /// Like `cull_leaf`, for few active rays of a packet. A list of them would be written as vectors and read as integers right after, which
    /// waits for the vectors.
    cull_sparse_leaf, (
        leaf: &Leaf8, rays: &[PreparedRay], s_far: &[f32], active: ActiveRays, inside: StartInside, leaf_hits: &mut [LeafHits]
    ) -> usize, |lanes| {
        cull_spheres(lanes.narrow(), &Resting::of(leaf), rays, s_far, active, inside, leaf_hits)
    }
}

multiversion! {
    /// Tests the active rays of a packet against the spheres of a leaf: vectors of rays against one sphere, because most rays are active.
    /// Writes the entries with candidates, and returns their number.
    cull_packet_leaf, (
        leaf: &Leaf8,
        packet: &Packet,
        s_far: &[f32; PACKET_RAYS],
        active: u64,
        inside: StartInside,
        hits: &mut [PacketHits; PacketHits::MAX]
    ) -> usize
}
multiversion! {
    /// Like `cull_leaf`, for ellipsoids: the leaf has balls around them and their paths. `inner` has the radii of balls that the ellipsoids
    /// contain at all times, negative where there is none.
    cull_swept_leaf, (
        leaf: &Leaf8, inner: &[f32; WIDTH], rays: &[PreparedRay], s_far: &[f32], list: &[u32], leaf_hits: &mut [LeafHits]
    ) -> usize, |lanes| {
        let spheres = Resting { leaf, inner };
        cull_spheres(lanes.narrow(), &spheres, rays, s_far, list.iter().copied(), StartInside::Undecided, leaf_hits)
    }
}

multiversion! {
    /// Like `cull_leaf`, for moving spheres, each at its position at the time of the ray.
    cull_moved_leaf, (
        moving_leaf: &MovingLeaf8, rays: &[PreparedRay], s_far: &[f32], list: &[u32], leaf_hits: &mut [LeafHits]
    ) -> usize, |lanes| {
        cull_spheres(lanes.narrow(), &Moved(moving_leaf), rays, s_far, list.iter().copied(), StartInside::Undecided, leaf_hits)
    }
}

/// The spheres of a leaf at the time of a ray. (A trait, because a closure with two callers is not inlined.)
pub(super) trait LeafSpheres<L: Lanes> {
    /// Centres, radii with an allowance for errors, and radii of balls that the spheres contain, from lane `i` on. The last are still too
    /// large by up to twice the allowance, which the leaf test subtracts.
    fn load(&self, lanes: L, ray: &PreparedRay, i: usize) -> [L; 5];
}

/// Spheres at rest.
pub(super) struct Resting<'a> {
    leaf: &'a Leaf8,
    inner: &'a [f32; WIDTH],
}

impl<'a> Resting<'a> {
    /// The spheres of a leaf, not ellipsoids.
    #[inline(always)]
    pub(super) fn of(leaf: &'a Leaf8) -> Self {
        Self { leaf, inner: &leaf.padded_radius }
    }
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

/// Numbers of spheres for the leaf test: of one sphere per lane, or of one in all lanes.
#[derive(Clone, Copy)]
struct SphereLanes<L> {
    center: [L; 3],
    reach: L,
    /// The negated square of `reach`, rounded down.
    minus_square: L,
    /// The error of a position along a ray.
    slack: L,
    /// The square of the radius that the sphere certainly has, less that of `reach`.
    least: L,
}

impl<L: Lanes> SphereLanes<L> {
    #[inline(always)]
    fn of(lanes: L, [x, y, z, reach, inner]: [L; 5]) -> Self {
        let splat = |value| lanes.splat(value);
        let minus_square = splat(0.0).sub(reach.mul(reach).mul(splat(1.0 + 64.0 * U)));
        let size = x.abs().add(y.abs()).add(z.abs()).add(reach);
        // The radius without its allowance, and less by the same amount again.
        let least = inner.sub(size.mul(splat(320.0 * U))).max(splat(0.0));
        let least = least.mul(least).mul(splat(1.0 - 64.0 * U)).add(minus_square);
        Self { center: [x, y, z], reach, minus_square, slack: size.mul(splat(32.0 * U)), least }
    }
}

/// Numbers of rays for the leaf test: of one ray in all lanes, or of one ray per lane.
struct RayLanes<L> {
    u: [L; 2],
    v: [L; 3],
    minus_alpha: L,
    minus_beta: L,
    spread: L,
    floor: L,
    d: [L; 3],
    near: L,
    margin: L,
    begin: L,
    end: L,
    before: L,
}

impl<L: Lanes> RayLanes<L> {
    /// `number` gives the numbers of [`PreparedRay`] by their places.
    #[inline(always)]
    fn of(number: impl Fn(usize) -> L) -> Self {
        let [u, v, d] = [place_of!(line.u), place_of!(line.v), place_of!(line.d)];
        Self {
            u: [number(u), number(u + 1)],
            v: [number(v), number(v + 1), number(v + 2)],
            minus_alpha: number(place_of!(line.minus_alpha)),
            minus_beta: number(place_of!(line.minus_beta)),
            spread: number(place_of!(line.spread)),
            floor: number(place_of!(line.floor)),
            d: [number(d), number(d + 1), number(d + 2)],
            near: number(place_of!(near)),
            margin: number(place_of!(margin)),
            begin: number(place_of!(begin)),
            end: number(place_of!(end)),
            before: number(place_of!(before)),
        }
    }

    #[inline(always)]
    fn one(lanes: L, ray: &PreparedRay) -> Self {
        let numbers: &[f32; NUMBERS] = bytemuck::cast_ref(ray);
        Self::of(|k| lanes.splat(numbers[k]))
    }

    #[inline(always)]
    fn some(lanes: L, packet: &Packet, first: usize) -> Self {
        Self::of(|k| lanes.load(&packet.column(k)[first..]))
    }

    /// Squared distances of centres from lines, less the squared radii; and the largest values at which spheres are candidates.
    #[inline(always)]
    fn distances(&self, spheres: &SphereLanes<L>) -> (L, L) {
        let SphereLanes { center: [x, y, z], reach, minus_square, .. } = *spheres;
        let ([ux, uy], [vx, vy, vz]) = (self.u, self.v);
        let across = y.mul_add(uy, x.mul_add(ux, self.minus_alpha));
        let over = z.mul_add(vz, y.mul_add(vy, x.mul_add(vx, self.minus_beta)));
        (over.mul_add(over, across.mul_add(across, minus_square)), reach.mul_add(self.spread, self.floor))
    }
}

/// Whether a ray's line comes near any sphere of a leaf.
#[inline(always)]
pub(super) fn is_near_any<L: Lanes>(lanes: L, spheres: &impl LeafSpheres<L>, ray: &PreparedRay) -> bool {
    let mut mask = 0;
    for i in (0..WIDTH).step_by(L::COUNT) {
        let spheres = SphereLanes::of(lanes, spheres.load(lanes, ray, i));
        let (square, limit) = RayLanes::one(lanes, ray).distances(&spheres);
        mask |= square.le_mask(limit);
    }
    mask != 0
}

#[inline(always)]
fn cull_packet_leaf<L: Lanes>(
    lanes: L,
    leaf: &Leaf8,
    packet: &Packet,
    s_far: &[f32; PACKET_RAYS],
    active: u64,
    inside: StartInside,
    hits: &mut [PacketHits; PacketHits::MAX],
) -> usize {
    let narrow = lanes.narrow();
    let mut numbers = [[0.0; WIDTH]; 7];
    for i in (0..WIDTH).step_by(<L::Narrow as Lanes>::COUNT) {
        let reach = narrow.load(&leaf.padded_radius[i..]);
        let [x, y, z] = [narrow.load(&leaf.x[i..]), narrow.load(&leaf.y[i..]), narrow.load(&leaf.z[i..])];
        let SphereLanes { minus_square, slack, least, .. } = SphereLanes::of(narrow, [x, y, z, reach, reach]);
        for (to, number) in numbers.iter_mut().zip([x, y, z, reach, minus_square, slack, least]) {
            number.store(&mut to[i..]);
        }
    }
    let sphere = |k: usize| {
        let number = |n: usize| lanes.splat(numbers[n][k % WIDTH]);
        SphereLanes {
            center: [number(0), number(1), number(2)],
            reach: number(3),
            minus_square: number(4),
            slack: number(5),
            least: number(6),
        }
    };
    let (mut near, all) = (0, (1 << L::COUNT) - 1);
    for first in (0..PACKET_RAYS).step_by(L::COUNT) {
        let active = active >> first & all;
        if active == 0 {
            continue;
        }
        let rays = RayLanes::some(lanes, packet, first);
        let (mut any, mut masks) = (0, [0; WIDTH]);
        for (k, mask) in masks.iter_mut().enumerate() {
            let (square, limit) = rays.distances(&sphere(k));
            *mask = square.le_mask(limit) & active;
            any |= *mask;
        }
        if any == 0 {
            continue;
        }
        for (k, &candidates) in masks.iter().enumerate() {
            let hits = &mut hits[near % PacketHits::MAX];
            (hits.first, hits.lane, hits.candidates) = (first as u32, k as u32, candidates);
            // Branchless, because about half of the spheres are near a ray.
            near += usize::from(candidates != 0);
        }
    }
    let mut count = 0;
    for j in 0..near {
        let PacketHits { first, lane, candidates, .. } = hits[j % PacketHits::MAX];
        let from = first as usize % PACKET_RAYS;
        let (rays, sphere) = (RayLanes::some(lanes, packet, from), sphere(lane as usize));
        let far = lanes.load(&s_far[from..]);
        let distances = rays.distances(&sphere);
        let hits = &mut hits[count % PacketHits::MAX];
        (hits.first, hits.lane) = (first, lane);
        let PacketHits { low, high, .. } = hits;
        (hits.candidates, hits.certain) = decide(lanes, &sphere, &rays, distances, candidates, far, inside, low, high);
        count += usize::from(hits.candidates != 0);
    }
    count
}

/// The leaf test. It first selects the rays whose line comes near a sphere, because most miss all spheres.
#[inline(always)]
fn cull_spheres<L: Lanes>(
    lanes: L,
    spheres: &impl LeafSpheres<L>,
    rays: &[PreparedRay],
    s_far: &[f32],
    list: impl Iterator<Item = u32>,
    inside: StartInside,
    leaf_hits: &mut [LeafHits],
) -> usize {
    let mut near = 0;
    for number in list {
        let near_any = is_near_any(lanes, spheres, &rays[number as usize]);
        // Branchless, because about half of the rays are selected.
        let Some(hits) = leaf_hits.get_mut(near) else { break };
        hits.ray = number;
        near += usize::from(near_any);
    }
    let mut count = 0;
    for j in 0..near {
        let number = leaf_hits[j].ray;
        let hits = &mut leaf_hits[count];
        hits.ray = number;
        classify::<L, false>(lanes, spheres, &rays[number as usize], s_far[number as usize], inside, hits);
        // Branchless: half of the rays have a hit.
        count += usize::from(hits.candidates != 0);
    }
    count
}

/// The leaves of a scene, whose spheres may move or be ellipsoids.
#[derive(Clone, Copy)]
pub(crate) struct AnyLeaves<'a> {
    pub(crate) bvh: &'a CpuBvh,
    pub(crate) moves_with_ray: bool,
}

impl AnyLeaves<'_> {
    /// Like `cull_leaf` for one ray, in leaf number `number`, without a separate pass that selects rays. If the ray's line misses all
    /// spheres, the rest is skipped.
    #[inline(always)]
    pub(crate) fn cull_by_one(
        &self,
        lanes: impl Lanes,
        number: usize,
        ray: &PreparedRay,
        far: f32,
        inside: StartInside,
        hits: &mut LeafHits,
    ) {
        let CpuBvh { tree, moving_leaves, inner_radii, .. } = self.bvh;
        match (moving_leaves, inner_radii) {
            (Some(moving), _) if self.moves_with_ray => {
                hits.candidates = 0;
                let (ray, hits) = (std::slice::from_ref(ray), std::slice::from_mut(hits));
                cull_passing_leaf(lanes, &moving[number], ray, &[far], &[0], hits);
            }
            (Some(moving), _) => {
                classify::<_, true>(lanes, &Moved(&moving[number]), ray, far, StartInside::Undecided, hits);
            }
            (_, Some(inner)) => {
                let spheres = Resting { leaf: &tree.leaves[number], inner: &inner[number] };
                classify::<_, true>(lanes, &spheres, ray, far, StartInside::Undecided, hits);
            }
            _ => classify::<_, true>(lanes, &Resting::of(&tree.leaves[number]), ray, far, inside, hits),
        }
    }
}

/// Classifies the spheres of a leaf for one ray. With `SKIP_MISSES`, it skips the rest for a vector of spheres that the ray's line misses.
#[inline(always)]
pub(super) fn classify<L: Lanes, const SKIP_MISSES: bool>(
    lanes: L,
    spheres: &impl LeafSpheres<L>,
    ray: &PreparedRay,
    far: f32,
    inside: StartInside,
    hits: &mut LeafHits,
) {
    let LeafHits { candidates, certain, low, high, .. } = hits;
    (*candidates, *certain) = (0, 0);
    let rays = RayLanes::one(lanes, ray);
    for i in (0..WIDTH).step_by(L::COUNT) {
        let spheres = SphereLanes::of(lanes, spheres.load(lanes, ray, i));
        let distances = rays.distances(&spheres);
        let near = distances.0.le_mask(distances.1);
        if SKIP_MISSES && near == 0 {
            continue;
        }
        let (low, high) = (&mut low[i..], &mut high[i..]);
        let (may, must) = decide(lanes, &spheres, &rays, distances, near, lanes.splat(far), inside, low, high);
        *candidates |= (may as u32) << i;
        *certain |= (must as u32) << i;
    }
}

/// Decides about the `near` ones of some pairs of a ray and a sphere, whose distances are given. Returns masks of candidates and of certain
/// hits, and writes positions along the rays: see [`LeafHits`].
#[allow(clippy::too_many_arguments, reason = "all of them are vectors, which a record would pass through memory")]
#[inline(always)]
fn decide<L: Lanes>(
    lanes: L,
    spheres: &SphereLanes<L>,
    rays: &RayLanes<L>,
    (square, limit): (L, L),
    near: u64,
    far: L,
    inside: StartInside,
    lows: &mut [f32],
    highs: &mut [f32],
) -> (u64, u64) {
    let splat = |value| lanes.splat(value);
    let zero = splat(0.0);
    let &SphereLanes { center: [x, y, z], minus_square, slack, least, .. } = spheres;
    let &RayLanes { d: [dx, dy, dz], margin, begin, .. } = rays;
    let along = z.mul_add(dz, y.mul_add(dy, x.mul(dx)));
    let half = limit.sub(square).max(zero).sqrt().add(slack);
    let (low, exit) = (along.sub(half), along.add(half));
    let mut mask = near & low.le_mask(far) & rays.near.le_mask(exit);
    let chord = least.sub(square).sub(limit);
    let root = chord.max(zero).sqrt();
    let error = slack.add(margin);
    let high = along.sub(root).add(error);
    let mut certainly =
        splat(f32::MIN_POSITIVE).le_mask(chord) & begin.le_mask(low) & high.le_mask(far) & high.le_mask(rays.end);
    low.store(lows);
    high.store(highs);
    // Few rays start inside a sphere, so this branch is predicted.
    let started = if inside == StartInside::Undecided { 0 } else { mask & high.le_mask(rays.before) };
    if started != 0 {
        // The chord is at least a quarter of the diameter: see above.
        let least_exit = along.add(root).sub(error);
        let around = started & zero.sub(minus_square).mul(splat(1.0 / 16.0)).le_mask(chord) & begin.le_mask(least_exit);
        match inside {
            StartInside::Undecided => {}
            StartInside::HitAtStart => {
                certainly |= around;
                high.max(begin).store(highs);
            }
            StartInside::HitAtExit => {
                let most_exit = exit.add(margin);
                mask &= !(around & !least_exit.le_mask(far));
                certainly |= around & most_exit.le_mask(far) & most_exit.le_mask(rays.end);
                let mut exits = [[0.0; MAX_LANES]; 2];
                least_exit.store(&mut exits[0]);
                most_exit.store(&mut exits[1]);
                for k in (0..L::COUNT).filter(|k| around >> k & 1 == 1) {
                    (lows[k], highs[k]) = (exits[0][k], exits[1][k]);
                }
            }
            StartInside::Ignored => mask &= !around,
        }
    }
    (mask, mask & certainly)
}

impl<V: HitCollector> StreamTraversal<'_, V> {
    /// Tests a list of rays against a leaf.
    pub(crate) fn leaf(&mut self, number: usize, list: &[u32]) {
        let leaf = &self.bvh.tree.leaves[number];
        let CpuBvh { level, inner_radii: inner, moving_leaves, .. } = self.bvh;
        let count = match (moving_leaves, inner) {
            (Some(moving), _) if self.moves_with_ray => {
                level.cull_passing_leaf(&moving[number], self.rays, self.s_far, list, self.leaf_hits)
            }
            (Some(moving), _) => level.cull_moved_leaf(&moving[number], self.rays, self.s_far, list, self.leaf_hits),
            (_, Some(inner)) => {
                level.cull_swept_leaf(leaf, &inner[number], self.rays, self.s_far, list, self.leaf_hits)
            }
            _ => level.cull_leaf(leaf, self.rays, self.s_far, list, self.inside, self.leaf_hits),
        };
        self.finish_leaf(number, count);
    }

    /// Tests the active rays of a packet against a leaf. Spheres of packets are at rest.
    pub(crate) fn packet_leaf(&mut self, leaf: usize, (number, packet): (usize, &Packet), active: u64) {
        let before = number * PACKET_RAYS;
        if is_sparse(active) {
            self.complete(number, active);
            let Self { bvh, rays, s_far, inside, leaf_hits, .. } = self;
            let active = ActiveRays { first: before as u32, mask: active };
            let spheres = &bvh.tree.leaves[leaf];
            let found = bvh.level.cull_sparse_leaf(spheres, rays, s_far, active, *inside, leaf_hits);
            return self.finish_leaf(leaf, found);
        }
        let Self { bvh, s_far, inside, packet_hits, .. } = self;
        let Some(far) = s_far[before..].first_chunk() else { return };
        let tree = &bvh.tree;
        let found = bvh.level.cull_packet_leaf(&tree.leaves[leaf], packet, far, active, *inside, packet_hits);
        for entry in 0..found {
            let PacketHits { first, lane, candidates, certain, low, high } = &self.packet_hits[entry];
            let (lane, ids, mut candidates) = (*lane as usize % WIDTH, &tree.ids[leaf], *candidates);
            while candidates != 0 {
                let i = candidates.trailing_zeros() as usize % MAX_LANES;
                candidates &= candidates - 1;
                let ray = before + *first as usize + i;
                let (collector, far) = (&mut self.collectors[ray], &mut self.s_far[ray]);
                let pair = DeferredPair { ray: ray as u32, slot: (leaf * WIDTH + lane) as u32, s_lower: low[i] };
                if pair.s_lower > *far {
                    continue;
                }
                if certain >> i & 1 == 0 {
                    self.undecided.push(pair);
                    continue;
                }
                match collector.accept_certain(ids, 1 << lane) {
                    Settled::Nothing => {
                        *far = collector.shorten(*far, high[i]);
                        self.certain.push(pair);
                    }
                    Settled::These => {}
                    Settled::Everything => *far = f32::NEG_INFINITY,
                }
            }
        }
        self.intersect_if_many();
    }

    /// Takes the candidates of the `found` rays that a leaf test has left.
    fn finish_leaf(&mut self, number: usize, found: usize) {
        for entry in 0..found {
            self.take_leaf_hit(number, entry);
        }
        self.intersect_if_many();
    }

    /// Passes an entry of `leaf_hits` to its collector.
    #[inline(always)]
    pub(crate) fn take_leaf_hit(&mut self, number: usize, entry: usize) {
        let ids = &self.bvh.tree.ids[number];
        let LeafHits { ray, candidates, certain, low, high } = &self.leaf_hits[entry];
        let number_of = |k: u32| (number * WIDTH) as u32 + k;
        let (mut left, mut certain) = (*candidates, *certain);
        if let Some(attributes) = self.ray_attributes.get(*ray as usize) {
            left &= admitted_lanes(self.bvh, self.scene, attributes, number);
            certain &= left;
        }
        let (collector, far) = (&mut self.collectors[*ray as usize], &mut self.s_far[*ray as usize]);
        if certain != 0 {
            match collector.accept_certain(ids, certain) {
                Settled::Nothing => {}
                Settled::These => left &= !certain,
                Settled::Everything => {
                    *far = f32::NEG_INFINITY;
                    self.shortened += 1;
                    return;
                }
            }
        }
        while left != 0 {
            let k = left.trailing_zeros();
            left &= left - 1;
            let pair = DeferredPair { ray: *ray, slot: number_of(k), s_lower: low[k as usize % WIDTH] };
            if certain >> k & 1 == 0 {
                self.undecided.push(pair);
            } else if pair.s_lower <= *far {
                let shorter = collector.shorten(*far, high[k as usize % WIDTH]);
                self.shortened += usize::from(shorter < *far);
                *far = shorter;
                self.certain.push(pair);
            }
        }
    }

    /// Intersects the deferred pairs if there are many.
    pub(crate) fn intersect_if_many(&mut self) {
        if self.undecided.len() >= BATCH_WIDTH {
            self.intersect_undecided();
        }
        if self.certain.len() >= MAX_DEFERRED {
            self.intersect_certain();
        }
    }
}

/// Mask of a leaf's spheres that the ray may hit according to its attributes.
pub(crate) fn admitted_lanes(bvh: &CpuBvh, scene: SceneView<'_>, attributes: &RayAttributes, leaf: usize) -> u32 {
    let mut admitted = u32::MAX;
    if let Some(masks) = &bvh.masks {
        admitted = lane_mask(&masks[leaf], |mask| mask & attributes.mask != 0);
    } else if attributes.mask == 0 {
        return 0;
    }
    // Neither of them: `NO_SPHERE` has all bits.
    if attributes.skip_id & attributes.from_id == NO_SPHERE {
        return admitted;
    }
    let ids = &bvh.tree.ids[leaf];
    if attributes.from_id != NO_SPHERE {
        admitted &= lanes_without_start(scene, attributes, ids);
    }
    admitted & lane_mask(ids, |id| id != attributes.skip_id)
}

/// Mask of a leaf's spheres on whose surfaces the ray does not start. Few batches have such rays: inlined, it would make others slower.
#[cold]
fn lanes_without_start(scene: SceneView<'_>, attributes: &RayAttributes, ids: &[u32; WIDTH]) -> u32 {
    let is_sphere = |id: u32| (id as usize) < scene.spheres.len();
    lane_mask(ids, |id| is_sphere(id) && !scene.is_start(attributes, id))
}

/// Mask of the words for which `holds` is true. The compiler makes a few vector instructions of it.
#[inline(always)]
fn lane_mask(words: &[u32; WIDTH], holds: impl Fn(u32) -> bool) -> u32 {
    let bits: [u32; WIDTH] = std::array::from_fn(|k| if holds(words[k]) { 1 << k } else { 0 });
    bits.iter().fold(0, |all, bit| all | bit)
}

#[cfg(test)]
#[path = "leaf_tests.rs"]
pub(crate) mod tests;
