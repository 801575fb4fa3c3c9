//! A binary BVH, and its collapse into nodes of eight children.
//!
//! The costs are those of Ylitie et al. 2017, Efficient incoherent ray traversal on GPUs through compressed wide BVHs: the least total
//! surface area of wide nodes, by dynamic programming from the leaves up. The leaves are given, so only nodes cost anything.

use std::iter;

use bytemuck::Zeroable;
use glam::Vec3A;
use rayon::prelude::*;

use super::build_sah::PARALLEL_BUILD_SPHERES;
use super::node::{Bounds, BuildItem, Bvh8, Bvh8Node, Child, ChildRef, Leaf8, MIN_PARALLEL, WIDTH};
use crate::error::Result;
use crate::records::NO_SPHERE;
use crate::runtime::cancel::CancelToken;
use crate::runtime::memory::{try_append, try_collect_parallel, try_with_capacity};

#[derive(Clone, Copy, Zeroable)]
struct BinaryNode {
    corners: [[f32; 3]; 2],
    /// A leaf has `count` items from `first`, at most [`WIDTH`]. An inner node has no items of its own, and `first` is its place in the
    /// list of all.
    first: u32,
    count: u32,
}

/// An inner node: its halves and costs.
#[derive(Clone, Copy, Zeroable)]
pub(super) struct Inner {
    halves: [BinaryNode; 2],
    costs: Costs,
}

/// Element `i`: the least area of all wide nodes if at most `i + 1` slots of a wide node refer to a subtree. Leaves cost nothing.
type Costs = [f32; WIDTH - 1];

/// The root of a subtree with its costs.
pub(super) struct Subtree {
    node: BinaryNode,
    costs: Costs,
}

/// The list of all inner nodes, or a part of it with the place where the part starts. One allocation: of many small ones, the allocator would
/// keep 17 bytes per sphere after the build.
pub(super) struct InnerNodes<'a> {
    nodes: &'a mut [Inner],
    start: usize,
}

impl<'a> InnerNodes<'a> {
    pub(super) fn new(nodes: &'a mut [Inner]) -> Self {
        Self { nodes, start: 0 }
    }

    /// One place for the node itself, `left` for its left half, and the rest for its right half.
    pub(super) fn split(&mut self, left: usize) -> (InnerNodes<'_>, InnerNodes<'_>) {
        let (lefts, rights) = self.nodes[1..].split_at_mut(left);
        let start = self.start + 1;
        (InnerNodes { nodes: lefts, start }, InnerNodes { nodes: rights, start: start + left })
    }

    /// The inner node of two halves, in the first place.
    pub(super) fn join(self, [left, right]: [Subtree; 2]) -> Subtree {
        let bounds = left.node.bounds().join(right.node.bounds());
        let half_costs = [left.costs, right.costs];
        let as_node = bounds.area() + divide(&half_costs, WIDTH).0;
        let mut costs = [as_node; WIDTH - 1];
        for slots in 2..WIDTH {
            costs[slots - 1] = as_node.min(divide(&half_costs, slots).0);
        }
        self.nodes[0] = Inner { halves: [left.node, right.node], costs };
        Subtree { node: BinaryNode::new(bounds, self.start, 0), costs }
    }
}

impl Subtree {
    pub(super) fn leaf(bounds: Bounds, first: usize, count: usize) -> Self {
        Self { node: BinaryNode::new(bounds, first, count), costs: [0.0; WIDTH - 1] }
    }
}

impl BinaryNode {
    fn new(bounds: Bounds, first: usize, count: usize) -> Self {
        let corners = [bounds.low.to_array(), bounds.high.to_array()];
        Self { corners, first: first as u32, count: count as u32 }
    }

    fn bounds(&self) -> Bounds {
        let [low, high] = self.corners.map(Vec3A::from_array);
        Bounds { low, high }
    }

    fn is_leaf(&self) -> bool {
        self.count > 0
    }
}

/// The best division of slots among two halves with these costs: the cost, and the slots of the first half.
#[inline]
fn divide(costs: &[Costs; 2], slots: usize) -> (f32, usize) {
    let mut best = (f32::INFINITY, 1);
    for left in 1..slots {
        let cost = costs[0][left - 1] + costs[1][slots - left - 1];
        if cost < best.0 {
            best = (cost, left);
        }
    }
    best
}

/// Depth of the subtrees that become wide nodes in parallel, at most 64 of them.
const PART_DEPTH: usize = 3;

/// The wide nodes of a part of the tree. Nodes and leaves are numbered as they are emitted.
struct WideBuilder<'a> {
    inner: &'a [Inner],
    nodes: Vec<Bvh8Node>,
    /// Items of each leaf: the first, and the number.
    leaves: Vec<(u32, u32)>,
    depth: usize,
    /// Depth from which subtrees are other parts.
    end: usize,
    /// Those subtrees, with the node and the slot that refer to each.
    below: Vec<(BinaryNode, usize, usize)>,
}

impl<'a> WideBuilder<'a> {
    /// The wide nodes of a subtree whose root is at depth `depth`.
    fn of(inner: &'a [Inner], subtree: BinaryNode, depth: usize, end: usize) -> Result<Self> {
        let mut part = Self { inner, nodes: Vec::new(), leaves: Vec::new(), depth, end, below: Vec::new() };
        part.node(subtree, depth)?;
        Ok(part)
    }

    fn costs(&self, node: &BinaryNode) -> Costs {
        if node.is_leaf() { [0.0; WIDTH - 1] } else { self.inner[node.first as usize].costs }
    }

    /// Appends the roots of the subtrees that fill at most `slots` slots of a wide node. For all [`WIDTH`] slots these are the children of
    /// the wide node that this node becomes: they always cost less than the node itself. A leaf is its only root.
    fn fill_slots(&self, node: BinaryNode, slots: usize, roots: &mut Vec<BinaryNode>) {
        if !node.is_leaf() && slots >= 2 {
            let Inner { halves: [left, right], costs } = self.inner[node.first as usize];
            let (cost, left_slots) = divide(&[self.costs(&left), self.costs(&right)], slots);
            // If areas are 0, a node with many children is better.
            if cost <= costs[0] {
                self.fill_slots(left, left_slots, roots);
                self.fill_slots(right, slots - left_slots, roots);
                return;
            }
        }
        roots.push(node);
    }

    /// Emits the node that a subtree becomes, and all nodes below; returns its index.
    fn node(&mut self, subtree: BinaryNode, depth: usize) -> Result<u32> {
        self.depth = self.depth.max(depth);
        let number = self.nodes.len();
        try_append(&mut self.nodes, Bvh8Node::of(&[]))?;
        let mut roots = Vec::with_capacity(WIDTH);
        self.fill_slots(subtree, WIDTH, &mut roots);
        let mut children = [(Bounds::EMPTY, Child::NOTHING); WIDTH];
        for (i, (child, root)) in children.iter_mut().zip(&roots).enumerate() {
            let reference = if root.is_leaf() {
                try_append(&mut self.leaves, (root.first, root.count))?;
                (self.leaves.len() - 1) as u32 | Child::LEAF
            } else if depth + 1 == self.end {
                self.below.push((*root, number, i));
                // Until the place of the part is known.
                0
            } else {
                self.node(*root, depth + 1)?
            };
            *child = (root.bounds(), Child(reference));
        }
        self.nodes[number] = Bvh8Node::of(&children[..roots.len()]);
        Ok(number as u32)
    }
}

/// The number of the list that contains element `i` of all lists, and its place there. `starts` has the first element of each list.
fn locate(starts: &[usize], i: usize) -> (usize, usize) {
    let list = starts.partition_point(|&start| start <= i) - 1;
    (list, i - starts[list])
}

/// The first element of each list in all lists, and the number of all.
fn starts(lengths: impl Iterator<Item = usize>) -> (Vec<usize>, usize) {
    let (mut starts, mut count) = (Vec::new(), 0);
    for length in lengths {
        starts.push(count);
        count += length;
    }
    (starts, count)
}

/// Makes the tree of a binary BVH. The items are in leaf order.
pub(super) fn collapse(root: &Subtree, inner: Vec<Inner>, items: &[BuildItem], cancel: &CancelToken) -> Result<Bvh8> {
    let mut top = WideBuilder::of(&inner, root.node, 1, PART_DEPTH)?;
    let below = std::mem::take(&mut top.below);
    let part = |(subtree, ..): &(BinaryNode, usize, usize)| {
        cancel.check()?;
        WideBuilder::of(&inner, *subtree, PART_DEPTH, usize::MAX)
    };
    // Waking other threads takes longer than a small tree.
    let least = if items.len() > PARALLEL_BUILD_SPHERES { 1 } else { usize::MAX };
    let parts: Vec<_> = below.par_iter().with_min_len(least).map(part).collect::<Result<_>>()?;
    let depth = parts.iter().fold(top.depth, |depth, part| depth.max(part.depth));
    let (mut nodes, ranges): (Vec<_>, Vec<_>) =
        iter::once(top).chain(parts).map(|part| (part.nodes, part.leaves)).unzip();
    drop(inner);
    cancel.check()?;
    let (node_starts, node_count) = starts(nodes.iter().map(Vec::len));
    let (leaf_starts, leaf_count) = starts(ranges.iter().map(Vec::len));
    for ((_, number, slot), &start) in below.iter().zip(&node_starts[1..]) {
        nodes[0][*number].children[*slot] = Child(start as u32);
    }
    let node = |i| {
        let (part, place) = locate(&node_starts, i);
        let mut node: Bvh8Node = nodes[part][place];
        for child in &mut node.children {
            child.0 += match child.kind() {
                ChildRef::Node(_) => node_starts[part] as u32,
                ChildRef::Leaf(_) => leaf_starts[part] as u32,
                ChildRef::Nothing => 0,
            };
        }
        node.order_children();
        node
    };
    let all = try_collect_parallel((0..node_count).into_par_iter().with_min_len(MIN_PARALLEL).map(node))?;
    drop(nodes);
    let leaf = |i| {
        let (part, place) = locate(&leaf_starts, i);
        let (first, count) = ranges[part][place];
        Leaf8::new(&items[first as usize..][..count as usize])
    };
    let (mut leaves, mut ids) = (try_with_capacity(leaf_count)?, try_with_capacity(leaf_count)?);
    (0..leaf_count).into_par_iter().with_min_len(8 * MIN_PARALLEL).map(leaf).unzip_into_vecs(&mut leaves, &mut ids);
    Ok(Bvh8 { nodes: all, leaves, ids, depth })
}

impl Leaf8 {
    /// A leaf of at most eight items, and their ids.
    pub(crate) fn new(items: &[BuildItem]) -> (Self, [u32; WIDTH]) {
        let mut leaf = Self { x: [f32::NAN; WIDTH], y: [0.0; WIDTH], z: [0.0; WIDTH], padded_radius: [0.0; WIDTH] };
        let mut ids = [NO_SPHERE; WIDTH];
        for (i, item) in items.iter().enumerate() {
            [leaf.x[i], leaf.y[i], leaf.z[i]] = item.center;
            (leaf.padded_radius[i], ids[i]) = (item.padded_radius, item.id);
        }
        (leaf, ids)
    }

    /// Lower and upper corner of the bounds of its spheres.
    pub(crate) fn corners(&self) -> [[f32; 3]; 2] {
        let item = |i| BuildItem {
            center: [self.x[i], self.y[i], self.z[i]],
            padded_radius: self.padded_radius[i],
            id: NO_SPHERE,
        };
        let used = (0..WIDTH).map(item).filter(|item| !item.center[0].is_nan());
        let Bounds { low, high } = used.fold(Bounds::EMPTY, |bounds, item| bounds.join(item.bounds()));
        [low.to_array(), high.to_array()]
    }
}

impl Bvh8Node {
    /// A node of at most eight children, which are not ordered yet.
    pub(crate) fn of(children: &[(Bounds, Child)]) -> Self {
        let mut node = Self {
            bounds: [[[f32::INFINITY; WIDTH]; 3], [[f32::NEG_INFINITY; WIDTH]; 3]],
            children: [Child::NOTHING; WIDTH],
            order: [0; 8],
        };
        for (i, (bounds, child)) in children.iter().enumerate() {
            node.set_slot(i, [bounds.low.to_array(), bounds.high.to_array()]);
            node.children[i] = *child;
        }
        node
    }

    /// Orders the children along the directions of each octant: a pass of its own, which needs no other node and runs on all cores.
    pub(crate) fn order_children(&mut self) {
        let twice_center: [Vec3A; WIDTH] = std::array::from_fn(|i| self.slot(i).low + self.slot(i).high);
        let used = self.children.iter().take_while(|&&child| child != Child::NOTHING).count();
        for octant in 0..8 {
            let toward = Vec3A::from_array(std::array::from_fn(|k| if octant >> k & 1 == 0 { 1.0 } else { -1.0 }));
            let along: [f32; WIDTH] =
                std::array::from_fn(|i| if i < used { twice_center[i].dot(toward) } else { f32::INFINITY });
            let mut places: [usize; WIDTH] = std::array::from_fn(|i| i);
            places.sort_by(|&a, &b| along[a].total_cmp(&along[b]));
            self.order[octant] = places.iter().rev().fold(0, |order, &place| order << 3 | place as u32);
        }
    }
}
