//! Ordered traversal of single rays: a ray visits the children of a node by the distance at which it enters them.
//!
//! A stream visits children by octant and shares each node among the rays of its list. A list of a few rays shares little: there the cost
//! per list and the mispredicted ends of its loops exceed the work itself. `output/bench/README.md` has the measurements.

use super::boxes::enter_boxes;
use super::kernels::{LeafHits, StartInside, cull_leaf_by_one};
use super::prepared_ray::PreparedRay;
use super::visits::Visits;
use crate::bvh::bvh8::node::{Bvh8, Child, ChildRef, WIDTH};
use crate::math::float::ordered_bits;
use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{SimdLevel, multiversion};

/// Maximum length of a list whose rays are traversed one by one.
pub(crate) const SHORT_LIST: usize = 4;

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
}

impl ChildStack {
    /// Starts a traversal at a node. `depth` is the depth of the tree. `inside` is for all leaf tests of the traversal.
    pub(crate) fn start(&mut self, node: usize, depth: usize, inside: StartInside) {
        let size = 1 + WIDTH * depth;
        if self.entries.len() < size {
            self.entries.resize(size, 0);
        }
        self.entries[0] = node as u64;
        self.count = 1;
        self.inside = inside;
    }

    /// Returns the visits since the last call.
    pub(crate) fn take_visits(&mut self) -> Visits {
        std::mem::take(&mut self.visits)
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
    let (far_key, octant) = (ordered_bits(far), ray.octant());
    let ChildStack { entries, count, inside, visits } = stack;
    let entries = &mut entries[..];
    let mut top = *count;
    let mut at = [0.0; WIDTH];
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
            let mut mask = enter_boxes(lanes, node, octant, ray, far, &mut at);
            if mask == 0 {
                break;
            }
            let first = mask.trailing_zeros() as usize % WIDTH;
            mask &= mask - 1;
            if mask == 0 {
                child = node.children[first];
                continue;
            }
            let entry = |child: usize| u64::from(ordered_bits(at[child])) << 32 | u64::from(node.children[child].0);
            // The nearest is visited at once, the others wait on the stack.
            let bottom = top;
            let mut nearest = entry(first);
            while mask != 0 {
                let new = entry(mask.trailing_zeros() as usize % WIDTH);
                mask &= mask - 1;
                let later = nearest.max(new);
                nearest = nearest.min(new);
                let mut i = top;
                while i > bottom && entries[i - 1] < later {
                    entries[i] = entries[i - 1];
                    i -= 1;
                }
                entries[i] = later;
                top += 1;
                tree.prefetch(Child(later as u32));
            }
            child = Child(nearest as u32);
        }
    }
    *count = 0;
    END
}
