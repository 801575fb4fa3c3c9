//! Collapse of a binary BVH into nodes of eight children.

use glam::Vec3A;
use rayon::prelude::*;

use super::binary::{BinaryNode, Kind};
use super::node::{Bounds, BuildItem, Bvh8, Bvh8Node, Child, Leaf8, WIDTH};
use crate::error::Result;
use crate::records::NO_SPHERE;
use crate::runtime::cancel::CancelToken;
use crate::runtime::memory::try_with_capacity;

/// The wide nodes so far. Leaves are numbered as they are emitted.
struct WideBuilder {
    nodes: Vec<Bvh8Node>,
    /// Items of each leaf: the first, and the number.
    leaves: Vec<(u32, u32)>,
    depth: usize,
}

impl WideBuilder {
    /// Emits the node that a subtree becomes, and all nodes below; returns its index.
    fn node(&mut self, subtree: &BinaryNode, depth: usize) -> u32 {
        self.depth = self.depth.max(depth);
        let number = self.nodes.len();
        self.nodes.push(Bvh8Node::of(&[]));
        let mut parts = Vec::with_capacity(WIDTH);
        subtree.fill_slots(WIDTH, &mut parts);
        let mut children = [(Bounds::EMPTY, Child::NOTHING); WIDTH];
        for (child, part) in children.iter_mut().zip(&parts) {
            let reference = match part.kind {
                Kind::Leaf { first, count } => {
                    self.leaves.push((first, count));
                    (self.leaves.len() - 1) as u32 | Child::LEAF
                }
                Kind::Inner(_) => self.node(part, depth + 1),
            };
            *child = (part.bounds(), Child(reference));
        }
        self.nodes[number] = Bvh8Node::of(&children[..parts.len()]);
        number as u32
    }
}

/// Makes the tree of a binary BVH. The items are in leaf order.
pub(super) fn collapse(root: BinaryNode, items: &[BuildItem], cancel: &CancelToken) -> Result<Bvh8> {
    let (nodes, leaves) = (try_with_capacity(items.len() / 40 + 1)?, try_with_capacity(items.len() / 7 + 1)?);
    let mut wide = WideBuilder { nodes, leaves, depth: 0 };
    wide.node(&root, 1);
    drop(root);
    let WideBuilder { nodes, leaves: ranges, depth } = wide;
    cancel.check()?;
    let (mut leaves, mut ids) = (try_with_capacity(ranges.len())?, try_with_capacity(ranges.len())?);
    let leaf = |&(first, count): &(u32, u32)| Leaf8::new(&items[first as usize..][..count as usize]);
    ranges.par_iter().map(leaf).unzip_into_vecs(&mut leaves, &mut ids);
    Ok(Bvh8 { nodes, leaves, ids, depth })
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
}

impl Bvh8Node {
    /// A node of at most eight children.
    pub(crate) fn of(children: &[(Bounds, Child)]) -> Self {
        let mut node = Self {
            bounds: [[[f32::INFINITY; WIDTH]; 3], [[f32::NEG_INFINITY; WIDTH]; 3]],
            children: [Child::NOTHING; WIDTH],
            order: [0; 8],
        };
        for (i, (bounds, child)) in children.iter().enumerate() {
            for axis in 0..3 {
                node.bounds[0][axis][i] = bounds.low[axis];
                node.bounds[1][axis][i] = bounds.high[axis];
            }
            node.children[i] = *child;
        }
        for octant in 0..8 {
            let toward = Vec3A::from_array(std::array::from_fn(|k| if octant >> k & 1 == 0 { 1.0 } else { -1.0 }));
            let mut places: [usize; WIDTH] = std::array::from_fn(|i| i);
            let along = |&i: &usize| children.get(i).map_or(f32::INFINITY, |(b, _)| (b.low + b.high).dot(toward));
            places.sort_by(|a, b| along(a).total_cmp(&along(b)));
            node.order[octant] = places.iter().rev().fold(0, |order, &place| order << 3 | place as u32);
        }
        node
    }
}
