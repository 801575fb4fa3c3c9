//! Stream traversal of the BVH, front to back: every ray's collector receives the spheres that the leaf tests leave as candidates, except
//! those that lie behind certain hits.
//!
//! Certain hits that the collector does not settle at once are deferred to the end of the traversal: by then most of them lie behind
//! something nearer, and the rest are intersected in pair batches. An undecided candidate gives no information before it is intersected, so
//! this is done as soon as there are enough of them for a pair batch.
//! `leaf.rs` has the error analysis of the tests of AABBs.

use std::cell::RefCell;

use bytemuck::Zeroable;

use super::deferred::{DeferredPair, IntersectScratch};
use super::leaf::{AnyLeaves, LeafHits, PacketHits, StartInside};
use super::moving_leaf::prepare_moving;
use super::packet::{BEGIN, FAR, PACKET_RAYS, Packet, PacketKind};
use super::ray_order::RayOrder;
use super::ray_setup::{LANES, PreparedRay};
use super::single::{ChildStack, END, InterleavedRays, SIDE_BY_SIDE};
use crate::bvh::bvh8::node::{Bvh8Node, ChildRef, WIDTH};
use crate::cpu::accel::CpuBvh;
use crate::cpu::collector::HitCollector;
use crate::cpu::view::SceneView;
use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{SimdLevel, multiversion};
use crate::query::policy::{Precision, Query};
use crate::records::{NO_SPHERE, Ray, RayAttributes};
use crate::runtime::prefetch::prefetch;

/// Rays per stream: together with a leaf and the lists they have to fit into the second-level cache. Measurements show no difference from
/// 256 to 2048.
pub(crate) const STREAM_RAYS: usize = 1024;

/// Largest number of rays in a stream that are all traversed in their own order: in a small stream, few rays visit the same node.
const FEW_RAYS: usize = 128;

/// Maximum length of a list whose rays are traversed in their own order.
const SHORT_LIST: usize = 16;

/// Maximum length of a list whose rays are traversed one after the other.
const ONE_BY_ONE: usize = 4;

/// Number of leaves of a tree that exceeds the second-level cache by far. There, longer lists side by side wait less for memory.
const LARGE_TREE: usize = 1 << 16;

/// Level scratch: the memory for visiting one node on each level of the BVH.
#[derive(Default)]
struct LevelScratch {
    child_hits: ChildHits,
    /// The rays that enter the current child.
    list: Vec<u32>,
}

/// Scratch memory that a worker thread keeps from one stream to the next.
#[derive(Default)]
struct Scratch {
    rays: Vec<PreparedRay>,
    packets: Vec<Packet>,
    kinds: Vec<Option<PacketKind>>,
    complete: Vec<u64>,
    octants: [Vec<u32>; 8],
    s_far: Vec<f32>,
    levels: Vec<LevelScratch>,
    leaf_hits: Vec<LeafHits>,
    packet_hits: Vec<PacketHits>,
    stack: ChildStack,
    interleaved: InterleavedRays,
    certain: Vec<DeferredPair>,
    undecided: Vec<DeferredPair>,
    intersecting: IntersectScratch,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Traversal of one stream: the scene, and the rays with their collectors.
pub(crate) struct StreamTraversal<'a, V> {
    pub(crate) bvh: &'a CpuBvh,
    pub(crate) scene: SceneView<'a>,
    pub(crate) input: &'a [Ray],
    /// Attributes of the rays; empty if none affect the hits.
    pub(crate) ray_attributes: &'a [RayAttributes],
    /// Whether all pairs are at rest: no motion, ellipsoids, ray radii, or low parts of directions.
    pub(crate) at_rest: bool,
    /// Whether spheres move while rays travel.
    pub(crate) moves_with_ray: bool,
    pub(crate) collectors: &'a mut [V],
    pub(crate) precision: Precision,
    /// Maximum length of a list whose rays are traversed in their own order.
    short_list: usize,
    /// The rays. Those of packets are complete where `complete` has a bit: the packets have their numbers.
    pub(crate) rays: &'a mut [PreparedRay],
    packets: &'a [Packet],
    complete: &'a mut [u64],
    /// End of each ray's segment: what begins later does not count.
    pub(crate) s_far: &'a mut [f32],
    /// How many times `s_far` of any ray was reduced.
    pub(crate) shortened: usize,
    pub(crate) leaf_hits: &'a mut [LeafHits],
    pub(crate) packet_hits: &'a mut [PacketHits; PacketHits::MAX],
    stack: &'a mut ChildStack,
    interleaved: &'a mut InterleavedRays,
    pub(crate) inside: StartInside,
    pub(crate) certain: &'a mut Vec<DeferredPair>,
    pub(crate) undecided: &'a mut Vec<DeferredPair>,
    pub(crate) intersecting: &'a mut IntersectScratch,
}

/// Passes the spheres that each ray may hit to its collector. There are at most [`STREAM_RAYS`] rays.
pub(crate) fn traverse<V: HitCollector>(
    bvh: &CpuBvh,
    scene: SceneView<'_>,
    input: &[Ray],
    ray_attributes: &[RayAttributes],
    collectors: &mut [V],
    query: &Query,
    order: RayOrder,
) {
    debug_assert!(input.len() <= STREAM_RAYS);
    SCRATCH.with_borrow_mut(|scratch| {
        let (precision, inside) = (query.precision, StartInside::of(query));
        let Scratch {
            rays,
            packets,
            kinds,
            complete,
            octants,
            s_far,
            levels,
            leaf_hits,
            packet_hits,
            stack,
            interleaved,
            certain,
            undecided,
            intersecting,
        } = scratch;
        let whole = input.len().next_multiple_of(LANES);
        if rays.len() < whole {
            rays.resize(whole, PreparedRay::zeroed());
            leaf_hits.resize(whole, LeafHits::NONE);
        }
        let short = order == RayOrder::Short;
        let packed = order != RayOrder::Incoherent && ray_attributes.is_empty() && input.len() >= PACKET_RAYS;
        packets.resize(if packed { whole.div_ceil(PACKET_RAYS) } else { 1 }, Packet::EMPTY);
        octants.iter_mut().for_each(Vec::clear);
        kinds.clear();
        complete.clear();
        s_far.clear();
        // Positions in the scene lie within ±2 √3. Only a ray that begins there can begin inside a sphere.
        let (mut nearby, is_nearby) = (false, |begin: &f32| begin.abs() < 4.0);
        // Packet by packet, because the rays of one stay in the first-level cache.
        for (n, (input, rays)) in input.chunks(PACKET_RAYS).zip(rays[..whole].chunks_mut(PACKET_RAYS)).enumerate() {
            let (before, packet) = (n * PACKET_RAYS, &mut packets[if packed { n } else { 0 }]);
            bvh.level.prepare_packet(&bvh.frame, input, packet, packed && short);
            let kind = if packed {
                bvh.level.bound_packet(packet, short, input.len().next_multiple_of(LANES));
                packet.kind(short)
            } else {
                None
            };
            complete.push(if kind.is_some() { 0 } else { complete_rays(bvh.level, packet, u64::MAX, rays) });
            if ray_attributes.is_empty() {
                s_far.extend(&packet.column(FAR)[..input.len()]);
                nearby = nearby || packet.column(BEGIN)[..input.len()].iter().any(is_nearby);
            } else {
                let rays = rays.iter_mut().zip(input).zip(&ray_attributes[before..]).enumerate();
                for (i, ((prepared, ray), attributes)) in rays {
                    if attributes.from_id != NO_SPHERE && collectors[before + i].cutoff(ray).is_none() {
                        // The sphere on which the ray starts has settled everything.
                        prepared.far = f32::NEG_INFINITY;
                    }
                    prepare_attributes(bvh, prepared, ray, attributes);
                    s_far.push(prepared.far);
                    nearby = nearby || is_nearby(&prepared.begin);
                }
            }
            kinds.push(kind);
            if kind.is_some() {
                continue;
            }
            for (i, prepared) in rays[..input.len()].iter().enumerate() {
                if prepared.margin == f32::INFINITY {
                    // From so far away everything may be hit.
                    scene.visit_all(&input[i], ray_attributes.get(before + i), &mut collectors[before + i]);
                } else {
                    octants[prepared.octant()].push((before + i) as u32);
                }
            }
        }
        if packed {
            // Packets read whole vectors.
            s_far.resize(input.len().next_multiple_of(PACKET_RAYS), f32::NEG_INFINITY);
        }
        let at_rest = !scene.attributes.has_motion_or_shape() && !ray_attributes.iter().any(RayAttributes::moves);
        let passing = ray_attributes.first().is_some_and(|attributes| attributes.moves_with_ray != 0);
        if levels.len() < bvh.tree.depth {
            levels.resize_with(bvh.tree.depth, LevelScratch::default);
        }
        packet_hits.resize(PacketHits::MAX, PacketHits::NONE);
        let Some(packet_hits) = packet_hits.first_chunk_mut() else { return };
        let short_list = match (at_rest, input.len()) {
            (false, _) => 0,
            (true, ..=FEW_RAYS) => FEW_RAYS,
            (true, _) if bvh.tree.leaves.len() > LARGE_TREE => SIDE_BY_SIDE,
            (true, _) => SHORT_LIST,
        };
        let mut traversal = StreamTraversal {
            bvh,
            scene,
            input,
            ray_attributes,
            at_rest,
            moves_with_ray: passing,
            collectors,
            precision,
            short_list,
            rays,
            packets,
            complete,
            s_far,
            shortened: 0,
            leaf_hits,
            packet_hits,
            stack,
            interleaved,
            inside: if nearby { inside } else { StartInside::Undecided },
            certain,
            undecided,
            intersecting,
        };
        for (number, (packet, kind)) in traversal.packets.iter().zip(kinds).enumerate() {
            if let Some(kind) = *kind {
                let count = (input.len() - number * PACKET_RAYS).min(PACKET_RAYS);
                traversal.packet(0, kind, (number, packet), u64::MAX >> (PACKET_RAYS - count));
            }
        }
        for (octant, list) in octants.iter_mut().enumerate().filter(|(_, list)| !list.is_empty()) {
            let count = list.len();
            list.resize(count.next_multiple_of(LIST_GROUP), 0);
            traversal.node(0, octant, RayList::new(list, count), levels);
        }
        traversal.intersect_undecided();
        traversal.intersect_certain();
    });
}

/// Completes the groups of a packet that contain any of these rays. Returns the rays in them.
fn complete_rays(level: SimdLevel, packet: &Packet, mut rays: u64, prepared: &mut [PreparedRay]) -> u64 {
    let mut complete = 0;
    while rays != 0 {
        let group = rays.trailing_zeros() as usize / LANES;
        if let Some(prepared) = prepared.as_chunks_mut().0.get_mut(group) {
            level.copy_group(packet, group, prepared);
        }
        complete |= 0xff << (LANES * group);
        rays &= !complete;
    }
    complete
}

/// Completes the setup of a prepared ray for its attributes.
#[inline(always)]
pub(super) fn prepare_attributes(bvh: &CpuBvh, prepared: &mut PreparedRay, ray: &Ray, attributes: &RayAttributes) {
    let by = bvh.frame.inflation(ray, attributes);
    if by.axial > 0.0 {
        prepared.inflate(by.lateral as f32, by.axial as f32);
    }
    if attributes.moves_with_ray == 0 {
        prepared.time = (f64::from(attributes.time) - bvh.mid_time) as f32;
    } else if bvh.moving_leaves.is_some() {
        prepare_moving(prepared, &bvh.frame, ray, attributes, bvh.mid_time);
    }
}

impl<V: HitCollector> StreamTraversal<'_, V> {
    /// Completes rays of a packet: most never leave it.
    #[inline(always)]
    pub(crate) fn complete(&mut self, packet: usize, rays: u64) {
        let Some(complete) = self.complete.get_mut(packet) else { return };
        if rays & !*complete != 0 {
            let prepared = &mut self.rays[packet * PACKET_RAYS..];
            *complete |= complete_rays(self.bvh.level, &self.packets[packet], rays & !*complete, prepared);
        }
    }

    /// Visits a node. The recursion is as deep as the BVH, which is the length of `levels`.
    fn node(&mut self, node: usize, octant: usize, padded: RayList<'_>, levels: &mut [LevelScratch]) {
        let list = padded.rays();
        if list.len() <= self.short_list {
            return self.in_own_order(node, list);
        }
        let Some((LevelScratch { child_hits: entered, list: through }, levels)) = levels.split_first_mut() else {
            return;
        };
        let node = &self.bvh.tree.nodes[node];
        self.bvh.level.intersect_children(node, octant, self.rays, self.s_far, list, entered);
        let seen = self.shortened;
        if through.len() < padded.padded.len() {
            through.resize(padded.padded.len(), 0);
        }
        self.prefetch_children(node, entered.any);
        let mut order = node.order[octant];
        for _ in 0..WIDTH {
            let child = (order & 7) as usize;
            order >>= 3;
            if entered.any >> child & 1 == 0 {
                continue;
            }
            let shortened = self.shortened != seen;
            let count = self.bvh.level.compact(entered, child, padded, self.s_far, shortened, through);
            if count == 0 {
                continue;
            }
            let list = RayList::new(through, count);
            match node.children[child].kind() {
                ChildRef::Node(number) => self.node(number, octant, list, levels),
                ChildRef::Leaf(number) => self.leaf(number, list.rays()),
                ChildRef::Nothing => {}
            }
        }
    }

    /// Prefetches those children of a node that have a bit in `children`. They arrive while the first of them is visited.
    #[inline(always)]
    pub(crate) fn prefetch_children(&self, node: &Bvh8Node, children: u64) {
        let (CpuBvh { tree, masks, .. }, moving_leaves) = (self.bvh, self.bvh.moving_leaves.as_deref());
        for (_, child) in node.children.iter().enumerate().filter(|(k, _)| children >> k & 1 == 1) {
            if let ChildRef::Leaf(number) = child.kind() {
                if !self.ray_attributes.is_empty() {
                    prefetch(&tree.ids[number]);
                    masks.iter().for_each(|masks| prefetch(&masks[number]));
                }
                if let Some(moving_leaves) = moving_leaves {
                    moving_leaves[number].prefetch();
                    continue;
                }
            }
            tree.prefetch(*child);
        }
    }

    /// Traverses the tree from a node on with the rays of a list, each in its own order.
    pub(crate) fn in_own_order(&mut self, node: usize, list: &[u32]) {
        if list.len() <= ONE_BY_ONE {
            return self.one_by_one(node, list);
        }
        for list in list.chunks(SIDE_BY_SIDE) {
            self.side_by_side(node, list);
        }
    }

    fn one_by_one(&mut self, node: usize, list: &[u32]) {
        let leaves = AnyLeaves { bvh: self.bvh, moves_with_ray: self.moves_with_ray };
        for &ray in list {
            (self.stack.inside, self.leaf_hits[0].ray) = (self.inside, ray);
            self.stack.start(node);
            loop {
                let Self { bvh, rays, s_far, stack, leaf_hits, .. } = self;
                let (prepared, far) = (&rays[ray as usize], s_far[ray as usize]);
                let leaf = bvh.level.next_leaf(&leaves, prepared, far, stack, &mut leaf_hits[0]);
                if leaf == END {
                    break;
                }
                self.take_leaf_hit(leaf as usize, 0);
                self.intersect_if_many();
            }
        }
    }

    fn side_by_side(&mut self, node: usize, list: &[u32]) {
        let (level, tree, inside) = (self.bvh.level, &self.bvh.tree, self.inside);
        self.interleaved.start(tree, node, self.rays, list);
        loop {
            let Self { rays, s_far, interleaved, leaf_hits, .. } = self;
            let hits = level.next_leaves(tree, rays, s_far, inside, interleaved, leaf_hits);
            let Some(hits) = hits else { break };
            for i in 0..hits {
                let leaf = self.interleaved.hit_leaves[i];
                self.take_leaf_hit(leaf as usize, i);
            }
            self.intersect_if_many();
        }
    }
}

/// Hits of a list of rays with the AABBs of a node.
#[derive(Default)]
pub(crate) struct ChildHits {
    /// Position where each ray of the list enters each AABB.
    s_enter: Vec<[[f32; WIDTH]; LIST_GROUP]>,
    /// One byte per ray of the list, one bit per AABB.
    masks: Vec<[u8; LIST_GROUP]>,
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
pub(crate) const LIST_GROUP: usize = 64;

impl<'a> RayList<'a> {
    /// The first `count` words of a buffer that is long enough for the padding.
    pub(crate) fn new(buffer: &'a [u32], count: usize) -> Self {
        Self { padded: &buffer[..count.next_multiple_of(LIST_GROUP)], count }
    }

    pub(crate) fn rays(self) -> &'a [u32] {
        &self.padded[..self.count]
    }
}

multiversion! {
    /// Compacts a list of rays for a child: writes those that enter child number `child` to `out`, which is as long as the padded list, and
    /// returns their number. With `shortened`, leaves out those whose segment ends before the child by now.
    compact, (entered: &ChildHits, child: usize, list: RayList<'_>, s_far: &[f32], shortened: bool, out: &mut [u32]) -> usize
}

#[inline(always)]
fn compact<L: Lanes>(
    lanes: L,
    entered: &ChildHits,
    child: usize,
    list: RayList<'_>,
    s_far: &[f32],
    shortened: bool,
    out: &mut [u32],
) -> usize {
    let mut count = 0;
    for ((list, masks), at) in list.padded.as_chunks::<LIST_GROUP>().0.iter().zip(&entered.masks).zip(&entered.s_enter)
    {
        let out = out[count..].first_chunk_mut::<LIST_GROUP>().expect("there is room for whole groups");
        let (mut word, mut entering) = (lanes.bits_of_bytes(masks, child), 0);
        if L::COMPRESSES && !shortened {
            for list in list.as_chunks::<16>().0 {
                let to = out[entering..].first_chunk_mut().expect("there is room for whole groups");
                lanes.compress(list, word as u32 & 0xffff, to);
                entering += (word as u16).count_ones() as usize;
                word >>= 16;
            }
        } else {
            // One iteration per ray that enters, none for the others, and no branch that depends on a ray.
            while word != 0 {
                let i = word.trailing_zeros() as usize;
                word &= word - 1;
                out[entering % LIST_GROUP] = list[i];
                entering += usize::from(at[i][child % WIDTH] <= s_far[list[i] as usize]);
            }
        }
        count += entering;
    }
    count
}

multiversion! {
    /// Tests a list of rays against the AABBs of a node.
    intersect_children, (node: &Bvh8Node, octant: usize, rays: &[PreparedRay], s_far: &[f32], list: &[u32], entered: &mut ChildHits)
}

#[inline(always)]
fn intersect_children<L: Lanes>(
    lanes: L,
    node: &Bvh8Node,
    octant: usize,
    rays: &[PreparedRay],
    s_far: &[f32],
    list: &[u32],
    entered: &mut ChildHits,
) {
    let lanes = lanes.narrow();
    let groups = list.len().div_ceil(LIST_GROUP);
    if entered.s_enter.len() < groups {
        entered.s_enter.resize(groups, [[0.0; WIDTH]; LIST_GROUP]);
        entered.masks.resize(groups, [0; LIST_GROUP]);
    }
    // Loaded once: the compiler does not see that the positions are written elsewhere.
    let (faces, mut any) = (faces(lanes, node, octant), 0);
    for ((list, at), masks) in list.chunks(LIST_GROUP).zip(&mut entered.s_enter).zip(&mut entered.masks) {
        *masks = [0; LIST_GROUP];
        for ((&number, at), byte) in list.iter().zip(at).zip(masks) {
            let (ray, far) = (&rays[number as usize], s_far[number as usize]);
            let mask = enter_boxes(lanes, &faces, ray, far, at);
            *byte = mask as u8;
            any |= mask;
        }
    }
    entered.any = any;
}

/// Faces of a vector of boxes: where rays of an octant enter and where they leave, along each axis.
pub(crate) type Faces<L> = [[L; 3]; 2];

/// The faces of a node's boxes for rays of an octant, a vector of boxes at a time.
#[inline(always)]
pub(crate) fn faces<L: Lanes>(lanes: L, node: &Bvh8Node, octant: usize) -> [Faces<L>; 2] {
    let face = |i: usize, side: usize, k: usize| lanes.load(&node.bounds[side ^ (octant >> k & 1)][k][i..]);
    let faces =
        |i: usize| [[face(i, 0, 0), face(i, 0, 1), face(i, 0, 2)], [face(i, 1, 0), face(i, 1, 1), face(i, 1, 2)]];
    [faces(0), faces(L::COUNT % WIDTH)]
}

/// The slab test of one ray: writes the positions where it enters boxes, and returns the mask of those that it enters before `far`.
#[inline(always)]
pub(crate) fn enter_boxes<L: Lanes>(
    lanes: L,
    faces: &[Faces<L>; 2],
    ray: &PreparedRay,
    far: f32,
    at: &mut [f32; WIDTH],
) -> u64 {
    let mut mask = 0;
    for (i, faces) in (0..WIDTH).step_by(L::COUNT).zip(faces) {
        let (enter, leave) = cross_slabs(lanes, faces, ray, far);
        enter.store(&mut at[i..]);
        mask |= enter.le_mask(leave) << i;
    }
    mask
}

/// Positions where a ray enters and leaves boxes. It enters those that it does not leave before.
#[inline(always)]
pub(crate) fn cross_slabs<L: Lanes>(lanes: L, faces: &Faces<L>, ray: &PreparedRay, far: f32) -> (L, L) {
    let enter = |k: usize| faces[0][k].mul_add(lanes.splat(ray.inverse[k]), lanes.splat(ray.enter[k]));
    let leave = |k: usize| faces[1][k].mul_add(lanes.splat(ray.inverse[k]), lanes.splat(ray.leave[k]));
    (
        enter(0).max(enter(1)).max(enter(2).max(lanes.splat(ray.near))),
        leave(0).min(leave(1)).min(leave(2).min(lanes.splat(far))),
    )
}

#[cfg(test)]
#[path = "stream_tests.rs"]
pub(crate) mod tests;
