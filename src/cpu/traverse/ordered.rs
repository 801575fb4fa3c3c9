//! Ordered traversal of single rays: a ray visits the children of a node by the distance at which it enters them.
//!
//! A stream visits children by octant and shares each node among the rays of its list. A list of a few rays shares little: there the cost
//! per list and the mispredicted ends of its loops exceed the work itself. `output/bench/README.md` has the measurements.

use super::boxes::enter_boxes;
use super::kernels::{LeafHits, StartInside, cull_leaf_by_one};
use super::prepared_ray::PreparedRay;
use super::visits::Visits;
use crate::bvh::bvh8::node::{Bvh8, Bvh8Node, Child, ChildRef, WIDTH};
use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{SimdLevel, multiversion};

/// Returned by `next_leaf` at the end of a traversal.
pub(crate) const END: u32 = u32::MAX;

/// The children that a ray has yet to visit, those of a node nearest last. An entry has the position where the ray enters the child, as a
/// key, above the child.
#[derive(Default)]
pub(crate) struct ChildStack {
    entries: Vec<u64>,
    count: usize,
    /// Conclusion of the leaf tests about spheres that contain the start of the ray.
    inside: StartInside,
    visits: Visits,
    /// For each ray of a list, the children of the first node that it enters.
    first: Vec<Entered>,
}

/// The children of a node that a ray enters.
#[derive(Clone, Copy, Default)]
struct Entered {
    mask: u64,
    /// Positions where the ray enters them, plus [`OFFSET`].
    at: [f32; WIDTH],
}

impl ChildStack {
    /// Prepares the traversals of a list of rays from a node on. `depth` is the depth of the tree. `inside` is for all leaf tests.
    pub(crate) fn prepare(&mut self, depth: usize, rays: usize, inside: StartInside) {
        let size = 1 + WIDTH * depth;
        if self.entries.len() < size {
            self.entries.resize(size, 0);
        }
        if self.first.len() < rays {
            self.first.resize(rays, Entered::default());
        }
        self.inside = inside;
    }

    /// Starts the traversal of ray number `i` of the list.
    pub(crate) fn start(&mut self, node: &Bvh8Node, i: usize, tree: &Bvh8) {
        let entered = &self.first[i];
        self.count = 0;
        if entered.mask != 0 {
            let nearest = push_children(tree, node, entered, &mut self.entries, &mut self.count);
            self.entries[self.count] = nearest;
            self.count += 1;
        }
    }

    /// Returns the visits since the last call.
    pub(crate) fn take_visits(&mut self) -> Visits {
        std::mem::take(&mut self.visits)
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
        let later = nearest.max(new);
        nearest = nearest.min(new);
        let mut i = *top;
        while i > bottom && entries[i - 1] < later {
            entries[i] = entries[i - 1];
            i -= 1;
        }
        entries[i] = later;
        *top += 1;
        tree.prefetch(Child(later as u32));
    }
    nearest
}

multiversion! {
    /// Tests a list of rays against the children of a node. One after the other, their tests do not wait for each other.
    enter_first, (node: &Bvh8Node, rays: &[PreparedRay], s_far: &[f32], list: &[u32], stack: &mut ChildStack)
}

#[inline(always)]
fn enter_first<L: Lanes>(
    lanes: L,
    node: &Bvh8Node,
    rays: &[PreparedRay],
    s_far: &[f32],
    list: &[u32],
    stack: &mut ChildStack,
) {
    for (&number, entered) in list.iter().zip(&mut stack.first) {
        let ray = &rays[number as usize];
        enter_node(lanes.narrow(), node, ray.octant(), ray, s_far[number as usize], entered);
    }
}

/// Tests a ray against the children of a node.
#[inline(always)]
fn enter_node<L: Lanes>(lanes: L, node: &Bvh8Node, octant: usize, ray: &PreparedRay, far: f32, entered: &mut Entered) {
    entered.mask = enter_boxes(lanes, node, octant, ray, far, &mut entered.at);
    for i in (0..WIDTH).step_by(L::COUNT) {
        let at = &mut entered.at[i..];
        lanes.load(at).max(lanes.splat(-OFFSET)).add(lanes.splat(OFFSET)).store(at);
    }
}

multiversion! {
    /// Continues the traversal of a ray up to the next leaf in which it has candidates, which it writes to `hits`. Returns the leaf, or
    /// [`END`].
    next_leaf, (
        tree: &Bvh8, rays: &[PreparedRay], s_far: &[f32], number: u32, stack: &mut ChildStack, hits: &mut LeafHits
    ) -> u32
}

#[inline(always)]
fn next_leaf<L: Lanes>(
    lanes: L,
    tree: &Bvh8,
    rays: &[PreparedRay],
    s_far: &[f32],
    number: u32,
    stack: &mut ChildStack,
    hits: &mut LeafHits,
) -> u32 {
    let lanes = lanes.narrow();
    let (ray, far) = (&rays[number as usize], s_far[number as usize]);
    let (far_key, octant) = (position_key(far), ray.octant());
    let ChildStack { entries, count, inside, visits, .. } = stack;
    let entries = &mut entries[..];
    let mut top = *count;
    let mut entered = Entered::default();
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
                    visits.leaves += 1;
                    cull_leaf_by_one(lanes, &tree.leaves[leaf], ray, far, *inside, hits);
                    if hits.candidates != 0 {
                        hits.ray = number;
                        *count = top;
                        return leaf as u32;
                    }
                    break;
                }
                ChildRef::Nothing => break,
            };
            visits.nodes += 1;
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
