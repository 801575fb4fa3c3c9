//! Traversal of single rays: a ray visits the children of a node by the distance at which it enters them. A stream visits children by octant
//! and shares each node among the rays of its list. A list of a few rays shares little: there the cost per list and the mispredicted ends of
//! its loops exceed the work itself. `output/bench/README.md` has the measurements.
//!
//! Very few rays are traversed one by one. In the interleaved traversal, the rays of a list traverse the tree side by side, each in its own
//! order. A single ray waits for memory, for each test before the next, and after branches that the processor predicts wrongly: that takes
//! most of its time. There every ray makes a step before any makes the next one: those at a node are tested against its children and choose
//! the nearest, the others choose the nearest child that waits, and then the leaves are tested. No iteration of these loops waits for the one
//! before, and no branch depends on a ray.

use super::leaf::{AnyLeaves, LeafHits, Resting, StartInside, classify, is_near_any};
use super::ray_setup::PreparedRay;
use super::stream::{cross_slabs, enter_boxes, faces};
use crate::bvh::bvh8::node::{Bvh8, Bvh8Node, Child, ChildRef, MAX_DEPTH, WIDTH};
use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{SimdLevel, multiversion};
use crate::runtime::prefetch::prefetch;

/// Maximum number of rays side by side. Their stacks have to fit into the first-level cache.
pub(crate) const SIDE_BY_SIDE: usize = 64;

/// The children of a node that a ray has yet to visit.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct WaitingChildren {
    /// Keys of the children: the position where the ray enters a child, with the number of the child in the lowest three bits. Infinite for
    /// those that it does not visit.
    keys: [f32; WIDTH],
    children: [Child; WIDTH],
}

struct RayStates {
    /// Their numbers in the stream.
    rays: [u32; SIDE_BY_SIDE],
    octants: [u8; SIDE_BY_SIDE],
    /// Numbers of nodes on their stacks.
    depths: [u32; SIDE_BY_SIDE],
}

/// A ray, as the index of its state, and the child that it visits next.
#[derive(Clone, Copy)]
struct Visit(u64);

impl Visit {
    const NONE: Self = Self(0);

    #[inline(always)]
    fn new(ray: usize, child: Child) -> Self {
        Self((ray as u64) << 32 | u64::from(child.0))
    }

    #[inline(always)]
    fn ray(self) -> usize {
        (self.0 >> 32) as usize % SIDE_BY_SIDE
    }

    #[inline(always)]
    fn is_leaf(self) -> bool {
        self.0 as u32 & Child::LEAF != 0
    }

    /// Number of the node or leaf.
    #[inline(always)]
    fn place(self) -> usize {
        (self.0 as u32 & !Child::LEAF) as usize
    }
}

/// The rays by what they do next: a list, and how long it is.
struct Lists<'a> {
    at_node: &'a mut [Visit; SIDE_BY_SIDE],
    nodes: usize,
    at_leaf: &'a mut [Visit; SIDE_BY_SIDE],
    leaves: usize,
    /// Indices of the rays that choose among the children on their stack.
    choosing: &'a mut [u32; SIDE_BY_SIDE],
    choices: usize,
}

impl Lists<'_> {
    /// Adds a ray that chose a child, if it `enters` it. Otherwise the ray chooses again if any children wait.
    #[inline(always)]
    fn add(&mut self, visit: Visit, enters: bool, waiting: bool) {
        let is_leaf = visit.is_leaf();
        self.at_node[self.nodes % SIDE_BY_SIDE] = visit;
        self.nodes += usize::from(enters & !is_leaf);
        self.at_leaf[self.leaves % SIDE_BY_SIDE] = visit;
        self.leaves += usize::from(enters & is_leaf);
        self.choosing[self.choices % SIDE_BY_SIDE] = visit.ray() as u32;
        self.choices += usize::from(!enters & waiting);
    }
}

/// Scratch memory of an interleaved traversal.
pub(crate) struct InterleavedRays {
    states: RayStates,
    /// The stacks of all rays: their first nodes, their second nodes, and so on.
    stacks: Vec<[WaitingChildren; SIDE_BY_SIDE]>,
    /// The lists of [`Lists`], and how long they are between two calls.
    at_node: [Visit; SIDE_BY_SIDE],
    at_leaf: [Visit; SIDE_BY_SIDE],
    choosing: [u32; SIDE_BY_SIDE],
    counts: [usize; 3],
    /// The leaf of each entry of the leaf hits.
    pub(crate) hit_leaves: [u32; SIDE_BY_SIDE],
}

impl Default for InterleavedRays {
    fn default() -> Self {
        Self {
            states: RayStates { rays: [0; SIDE_BY_SIDE], octants: [0; SIDE_BY_SIDE], depths: [0; SIDE_BY_SIDE] },
            stacks: Vec::new(),
            at_node: [Visit::NONE; SIDE_BY_SIDE],
            at_leaf: [Visit::NONE; SIDE_BY_SIDE],
            choosing: [0; SIDE_BY_SIDE],
            counts: [0; 3],
            hit_leaves: [0; SIDE_BY_SIDE],
        }
    }
}

impl InterleavedRays {
    /// Starts the traversal of at most [`SIDE_BY_SIDE`] rays from a node on.
    pub(crate) fn start(&mut self, tree: &Bvh8, node: usize, rays: &[PreparedRay], list: &[u32]) {
        let none = WaitingChildren { keys: [f32::INFINITY; WIDTH], children: [Child::NOTHING; WIDTH] };
        if self.stacks.len() < tree.depth {
            self.stacks.resize(tree.depth, [none; SIDE_BY_SIDE]);
        }
        for (i, &ray) in list.iter().enumerate() {
            (self.states.rays[i], self.states.depths[i]) = (ray, 0);
            self.states.octants[i] = rays[ray as usize].octant() as u8;
            self.at_node[i] = Visit::new(i, Child(node as u32));
        }
        self.counts = [list.len(), 0, 0];
    }
}

/// Positions in the scene lie within ±2 √3. Others are replaced by this one, with the same sign.
const OUTSIDE: f32 = 4.0;

/// The numbers of the children, as bits.
const NUMBERS: [f32; WIDTH] = {
    let mut numbers = [0.0; WIDTH];
    let mut k = 0;
    while k < WIDTH {
        numbers[k] = f32::from_bits(k as u32);
        k += 1;
    }
    numbers
};

/// Tests a ray against the children of a node. Writes their keys, and returns a mask of those that it enters.
#[inline(always)]
fn enter_children<L: Lanes>(
    lanes: L,
    node: &Bvh8Node,
    octant: usize,
    ray: &PreparedRay,
    far: f32,
    keys: &mut [f32; WIDTH],
) -> u64 {
    let mut mask = 0;
    for (i, faces) in (0..WIDTH).step_by(L::COUNT).zip(&faces(lanes, node, octant)) {
        let (enter, leave) = cross_slabs(lanes, faces, ray, far);
        mask |= enter.le_mask(leave) << i;
        let position = enter.max(lanes.splat(-OUTSIDE)).min(lanes.splat(OUTSIDE));
        position.with_low_bits(lanes.load(&NUMBERS[i..])).where_le(enter, leave).store(&mut keys[i..]);
    }
    mask
}

/// Upper bound of the keys of positions up to `far`: a key is at most seven units in the last place above the position. NaN for −∞, the
/// end of a ray that needs no more hits: then no key is at most the bound.
#[inline(always)]
fn largest_key(far: f32) -> f32 {
    far + far.abs() * 2e-6 + f32::MIN_POSITIVE
}

/// Finds the least key, and writes the others to `others`. Returns the least key, and whether any of the others is at most `limit`.
#[inline(always)]
fn take_least<L: Lanes>(lanes: L, keys: &[f32; WIDTH], limit: f32, others: &mut [f32; WIDTH]) -> (f32, bool) {
    let first = lanes.load(keys);
    let least = (L::COUNT..WIDTH).step_by(L::COUNT).fold(first, |least, i| least.min(lanes.load(&keys[i..]))).least();
    let mut left = 0;
    for i in (0..WIDTH).step_by(L::COUNT) {
        let keys = lanes.load(&keys[i..]);
        // All finite keys differ.
        let rest = keys.except_le(keys, lanes.splat(least));
        left |= rest.le_mask(lanes.splat(limit));
        rest.store(&mut others[i..]);
    }
    (least, left != 0)
}

/// The child with a key.
#[inline(always)]
fn child_of(key: f32, children: &[Child; WIDTH]) -> Child {
    children[key.to_bits() as usize % WIDTH]
}

multiversion! {
    /// Advances the rays until half of them are at leaves, and tests these. Writes an entry of `leaf_hits` for each ray with candidates,
    /// and returns their number, or None at the end of all traversals.
    next_leaves, (
        tree: &Bvh8,
        rays: &[PreparedRay],
        s_far: &[f32],
        inside: StartInside,
        all: &mut InterleavedRays,
        leaf_hits: &mut [LeafHits]
    ) -> Option<usize>
}

#[inline(always)]
fn next_leaves<L: Lanes>(
    lanes: L,
    tree: &Bvh8,
    rays: &[PreparedRay],
    s_far: &[f32],
    inside: StartInside,
    all: &mut InterleavedRays,
    leaf_hits: &mut [LeafHits],
) -> Option<usize> {
    let lanes = lanes.narrow();
    let InterleavedRays { states, stacks, at_node, at_leaf, choosing, counts, hit_leaves } = all;
    let stacks = &mut stacks[..];
    let [nodes, leaves, choices] = *counts;
    let mut lists = Lists { at_node, nodes, at_leaf, leaves: 0, choosing, choices };
    // The rays that were at leaves go on.
    for n in 0..leaves.min(SIDE_BY_SIDE) {
        let visit = lists.at_leaf[n];
        lists.add(visit, false, states.depths[visit.ray()] != 0);
    }
    if lists.nodes + lists.choices == 0 {
        return None;
    }
    while lists.nodes + lists.choices > lists.leaves {
        let count = std::mem::take(&mut lists.nodes);
        for n in 0..count.min(SIDE_BY_SIDE) {
            let visit = lists.at_node[n];
            let (i, node) = (visit.ray(), &tree.nodes[visit.place()]);
            let (number, octant) = (states.rays[i] as usize, usize::from(states.octants[i] % 8));
            let mut keys = [0.0; WIDTH];
            let entered = enter_children(lanes, node, octant, &rays[number], s_far[number], &mut keys);
            let depth = states.depths[i];
            let waiting = &mut stacks[depth as usize][i];
            let (nearest, _) = take_least(lanes, &keys, f32::MAX, &mut waiting.keys);
            waiting.children = node.children;
            let child = child_of(nearest, &node.children);
            tree.prefetch(child);
            states.depths[i] = depth + u32::from(entered & entered.wrapping_sub(1) != 0);
            lists.add(Visit::new(i, child), entered != 0, depth != 0);
        }
        let count = std::mem::take(&mut lists.choices);
        for n in 0..count.min(SIDE_BY_SIDE) {
            let i = lists.choosing[n] as usize % SIDE_BY_SIDE;
            let depth = states.depths[i] - 1;
            let waiting = &mut stacks[depth as usize][i];
            let (keys, limit) = (waiting.keys, largest_key(s_far[states.rays[i] as usize]));
            let (nearest, others) = take_least(lanes, &keys, limit, &mut waiting.keys);
            let child = child_of(nearest, &waiting.children);
            tree.prefetch(child);
            states.depths[i] = depth + u32::from(others);
            lists.add(Visit::new(i, child), nearest <= limit, depth != 0);
        }
    }
    *counts = [lists.nodes, lists.leaves, lists.choices];
    let at_leaf = &lists.at_leaf[..lists.leaves.min(SIDE_BY_SIDE)];
    // About half of the rays come near a sphere.
    let (mut near, mut count) = ([Visit::NONE; SIDE_BY_SIDE], 0);
    for visit in at_leaf {
        let ray = &rays[states.rays[visit.ray()] as usize];
        near[count % SIDE_BY_SIDE] = *visit;
        count += usize::from(is_near_any(lanes, &Resting::of(&tree.leaves[visit.place()]), ray));
    }
    let mut hit = 0;
    for visit in &near[..count.min(SIDE_BY_SIDE)] {
        let number = states.rays[visit.ray()];
        let (Some(hits), Some(place)) = (leaf_hits.get_mut(hit), hit_leaves.get_mut(hit)) else { break };
        let leaf = &tree.leaves[visit.place()];
        let (ray, far) = (&rays[number as usize], s_far[number as usize]);
        classify::<_, true>(lanes, &Resting::of(leaf), ray, far, inside, hits);
        (hits.ray, *place) = (number, visit.place() as u32);
        hit += usize::from(hits.candidates != 0);
    }
    Some(hit)
}

/// Returned by `next_leaf` at the end of a traversal.
pub(crate) const END: u32 = u32::MAX;

/// The children that a ray has yet to visit, those of a node nearest last. An entry has the position where the ray enters the child, as a
/// key, above the child.
pub(crate) struct ChildStack {
    entries: [u64; 1 + WIDTH * MAX_DEPTH],
    count: usize,
    /// Conclusion of the leaf tests about spheres that contain the start of the ray.
    pub(crate) inside: StartInside,
}

/// The children of a node that a ray enters.
#[derive(Clone, Copy)]
struct Entered {
    mask: u64,
    /// Positions where the ray enters them, plus [`OFFSET`].
    at: [f32; WIDTH],
}

impl Entered {
    const NONE: Self = Self { mask: 0, at: [0.0; WIDTH] };
}

impl Default for ChildStack {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl ChildStack {
    pub(crate) const EMPTY: Self =
        Self { entries: [0; 1 + WIDTH * MAX_DEPTH], count: 0, inside: StartInside::Undecided };

    /// Starts the traversal of a ray from a node on.
    pub(crate) fn start(&mut self, node: usize) {
        (self.entries[0], self.count) = (node as u64, 1);
    }
}

/// Added to positions, so that those in the scene, within about ±2 √3, are not negative: then their bits are in order.
const OFFSET: f32 = 4.0;

/// Key of a position on the stack. The order of two keys is that of the positions, or the keys are equal.
#[inline(always)]
fn position_key(position: f32) -> u32 {
    (position.max(-OFFSET) + OFFSET).to_bits()
}

/// Pushes the children that a ray enters, farthest first, except for the nearest, which it returns.
#[inline(always)]
fn push_children(tree: &Bvh8, node: &Bvh8Node, entered: &Entered, entries: &mut [u64], top: &mut usize) -> u64 {
    let (mut mask, at) = (entered.mask, &entered.at);
    let mut next = || {
        let child = mask.trailing_zeros() as usize % WIDTH;
        mask &= mask - 1;
        (u64::from(at[child].to_bits()) << 32 | u64::from(node.children[child].0), mask)
    };
    let bottom = *top;
    let (mut nearest, mut left) = next();
    while left != 0 {
        let new;
        (new, left) = next();
        let mut later = nearest.max(new);
        nearest = nearest.min(new);
        tree.prefetch(Child(later as u32));
        for entry in &mut entries[bottom..*top] {
            (*entry, later) = ((*entry).max(later), (*entry).min(later));
        }
        entries[*top] = later;
        *top += 1;
    }
    nearest
}

/// Tests a ray against the children of a node.
#[inline(always)]
fn enter_node<L: Lanes>(lanes: L, node: &Bvh8Node, octant: usize, ray: &PreparedRay, far: f32, entered: &mut Entered) {
    entered.mask = enter_boxes(lanes, &faces(lanes, node, octant), ray, far, &mut entered.at);
    for i in (0..WIDTH).step_by(L::COUNT) {
        let at = &mut entered.at[i..];
        lanes.load(at).max(lanes.splat(-OFFSET)).add(lanes.splat(OFFSET)).store(at);
    }
}

multiversion! {
    /// Continues the traversal of a ray up to the next leaf in which it has candidates, which it writes to `hits`. Returns the leaf, or
    /// [`END`].
    next_leaf, (leaves: &AnyLeaves<'_>, ray: &PreparedRay, far: f32, stack: &mut ChildStack, hits: &mut LeafHits) -> u32
}

#[inline(always)]
fn next_leaf<L: Lanes>(
    lanes: L,
    leaves: &AnyLeaves<'_>,
    ray: &PreparedRay,
    far: f32,
    stack: &mut ChildStack,
    hits: &mut LeafHits,
) -> u32 {
    let tree = &leaves.bvh.tree;
    let lanes = lanes.narrow();
    let (far_key, octant) = (position_key(far), ray.octant());
    let ChildStack { entries, count, inside, .. } = stack;
    let entries = &mut entries[..];
    let mut top = *count;
    let mut entered = Entered::NONE;
    while top > 0 {
        top -= 1;
        let entry = entries[top];
        if (entry >> 32) as u32 > far_key {
            continue;
        }
        let mut child = Child(entry as u32);
        loop {
            let node = match child.kind() {
                ChildRef::Node(node) => &tree.nodes[node],
                ChildRef::Leaf(leaf) => {
                    prefetch(&tree.ids[leaf]);
                    leaves.cull_by_one(lanes, leaf, ray, far, *inside, hits);
                    if hits.candidates != 0 {
                        *count = top;
                        return leaf as u32;
                    }
                    break;
                }
                ChildRef::Nothing => break,
            };
            // They lie in the last cache line.
            prefetch(&node.children);
            enter_node(lanes, node, octant, ray, far, &mut entered);
            let mask = entered.mask;
            if mask == 0 {
                break;
            }
            if mask & (mask - 1) == 0 {
                child = node.children[mask.trailing_zeros() as usize % WIDTH];
                continue;
            }
            // The nearest is visited at once, the others wait on the stack.
            child = Child(push_children(tree, node, &entered, entries, &mut top) as u32);
        }
    }
    *count = 0;
    END
}

#[cfg(test)]
#[path = "single_tests.rs"]
mod tests;
