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
use super::packet::ActiveRays;
use super::ray_setup::{Line, PreparedRay};
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
    /// Like `cull_leaf`, for the active rays of a packet. A list of them would be written as vectors and read as integers right after, which
    /// waits for the vectors.
    cull_packet_leaf, (
        leaf: &Leaf8, rays: &[PreparedRay], s_far: &[f32], active: ActiveRays, inside: StartInside, leaf_hits: &mut [LeafHits]
    ) -> usize, |lanes| {
        cull_spheres(lanes.narrow(), &Resting::of(leaf), rays, s_far, active, inside, leaf_hits)
    }
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

/// Squared distances of centres from a ray's line, less the squared radii; and the largest values at which spheres are candidates.
#[inline(always)]
fn distances<L: Lanes>(lanes: L, ray: &PreparedRay, x: L, y: L, z: L, reach: L) -> (L, L) {
    let splat = |value| lanes.splat(value);
    let Line { u: [ux, uy], v: [vx, vy, vz], minus_alpha, minus_beta, spread, floor, .. } = ray.line;
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

/// Whether a ray's line comes near any sphere of a leaf.
#[inline(always)]
pub(super) fn is_near_any<L: Lanes>(lanes: L, spheres: &impl LeafSpheres<L>, ray: &PreparedRay) -> bool {
    let mut mask = 0;
    for i in (0..WIDTH).step_by(L::COUNT) {
        let [x, y, z, reach, _] = spheres.load(lanes, ray, i);
        let (square, limit) = distances(lanes, ray, x, y, z, reach);
        mask |= square.le_mask(limit);
    }
    mask != 0
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
    let splat = |value| lanes.splat(value);
    let (zero, far) = (splat(0.0), splat(far));
    let LeafHits { candidates, certain, low: lows, high: highs, .. } = hits;
    (*candidates, *certain) = (0, 0);
    let [dx, dy, dz] = ray.line.d;
    for i in (0..WIDTH).step_by(L::COUNT) {
        let [x, y, z, reach, inner] = spheres.load(lanes, ray, i);
        let (square, limit) = distances(lanes, ray, x, y, z, reach);
        let near = square.le_mask(limit);
        if SKIP_MISSES && near == 0 {
            continue;
        }
        let size = x.abs().add(y.abs()).add(z.abs()).add(reach);
        let slack = size.mul(splat(32.0 * U));
        let minus_w = minus_squared(lanes, reach);
        // The radius without its allowance, and less by the same amount again.
        let least = inner.sub(size.mul(splat(320.0 * U))).max(zero);
        let least = least.mul(least).mul(splat(1.0 - 64.0 * U)).add(minus_w);
        let along = z.mul_add(splat(dz), y.mul_add(splat(dy), x.mul(splat(dx))));
        let half = limit.sub(square).max(zero).sqrt().add(slack);
        let (low, exit) = (along.sub(half), along.add(half));
        let mut mask = near & low.le_mask(far) & splat(ray.near).le_mask(exit);
        let chord = least.sub(square).sub(limit);
        let root = chord.max(zero).sqrt();
        let error = slack.add(splat(ray.margin));
        let high = along.sub(root).add(error);
        let mut certainly = splat(f32::MIN_POSITIVE).le_mask(chord)
            & splat(ray.begin).le_mask(low)
            & high.le_mask(far)
            & high.le_mask(splat(ray.end));
        low.store(&mut lows[i..]);
        high.store(&mut highs[i..]);
        // Few rays start inside a sphere, so this branch is predicted.
        let started = if inside == StartInside::Undecided { 0 } else { mask & high.le_mask(splat(ray.before)) };
        if started != 0 {
            // The chord is at least a quarter of the diameter: see above.
            let least_exit = along.add(root).sub(error);
            let around = started
                & zero.sub(minus_w).mul(splat(1.0 / 16.0)).le_mask(chord)
                & splat(ray.begin).le_mask(least_exit);
            match inside {
                StartInside::Undecided => {}
                StartInside::HitAtStart => {
                    certainly |= around;
                    high.max(splat(ray.begin)).store(&mut highs[i..]);
                }
                StartInside::HitAtExit => {
                    let most_exit = exit.add(splat(ray.margin));
                    mask &= !(around & !least_exit.le_mask(far));
                    certainly |= around & most_exit.le_mask(far) & most_exit.le_mask(splat(ray.end));
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
        *candidates |= (mask as u32) << i;
        *certain |= ((mask & certainly) as u32) << i;
    }
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
    pub(crate) fn packet_leaf(&mut self, number: usize, active: ActiveRays) {
        let Self { bvh, rays, s_far, inside, leaf_hits, .. } = self;
        let leaf = &bvh.tree.leaves[number];
        let count = bvh.level.cull_packet_leaf(leaf, rays, s_far, active, *inside, leaf_hits);
        self.finish_leaf(number, count);
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
