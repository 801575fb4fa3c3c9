//! The CPU engine's BVH: nodes of eight boxes over leaves of eight spheres.
//!
//! A leaf is a SoA record in the scaled units of the culling pass (`src/cpu/frame.rs`), so that each component is one or two SIMD
//! vectors. Spheres have no boxes of their own. A box contains its spheres with padded radii. The padding covers the sphere's share of
//! the error of every intersection method. The ray's share is added when the ray is tested against the box.

use glam::Vec3A;
use rayon::prelude::*;

use crate::runtime::prefetch::prefetch_address;

/// Boxes per node, and spheres per leaf.
pub(crate) const WIDTH: usize = 8;

/// Minimum number of nodes or leaves for which a refit uses other threads: waking them takes several µs.
pub(crate) const MIN_PARALLEL: usize = 128;

/// Maximum number of nodes on a path from the root to a leaf, see `build_sah.rs`.
pub(crate) const MAX_DEPTH: usize = 81;

/// Node: eight boxes and the children inside them.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct Bvh8Node {
    /// Lower faces per axis, then upper faces. The box of an empty slot is inverted, so no ray enters it.
    pub(crate) bounds: [[[f32; WIDTH]; 3]; 2],
    /// Empty slots are last.
    pub(crate) children: [Child; WIDTH],
    /// For each octant of directions, the slots from front to back: three bits each, lowest bits first.
    pub(crate) order: [u32; 8],
}

/// Packed reference to a child: a node, a leaf (highest bit set), or nothing.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Child(pub(crate) u32);

/// A [`Child`] unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChildRef {
    Node(usize),
    Leaf(usize),
    Nothing,
}

impl Child {
    pub(crate) const NOTHING: Self = Self(u32::MAX);
    pub(crate) const LEAF: u32 = 1 << 31;

    #[inline(always)]
    pub(crate) fn kind(self) -> ChildRef {
        if self == Self::NOTHING {
            ChildRef::Nothing
        } else if self.0 & Self::LEAF != 0 {
            ChildRef::Leaf((self.0 & !Self::LEAF) as usize)
        } else {
            ChildRef::Node(self.0 as usize)
        }
    }
}

/// Leaf: eight spheres in SoA layout, in scaled units. In an empty slot `x` is NaN, so every comparison fails.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct Leaf8 {
    pub(crate) x: [f32; WIDTH],
    pub(crate) y: [f32; WIDTH],
    pub(crate) z: [f32; WIDTH],
    /// Padded radius: the radius plus the sphere's share of the error bounds.
    pub(crate) padded_radius: [f32; WIDTH],
}

/// Input of the build: a sphere in scaled units, with its padded radius.
#[derive(Clone, Copy, Default)]
pub(crate) struct BuildItem {
    pub(crate) center: [f32; 3],
    pub(crate) padded_radius: f32,
    pub(crate) id: u32,
}

/// BVH with nodes of eight boxes. The first node is the root.
pub(crate) struct Bvh8 {
    pub(crate) nodes: Vec<Bvh8Node>,
    pub(crate) leaves: Vec<Leaf8>,
    /// Sphere ids of each leaf; [`NO_SPHERE`](crate::NO_SPHERE) in empty slots.
    pub(crate) ids: Vec<[u32; WIDTH]>,
    /// Number of nodes on the longest path from the root to a leaf.
    pub(crate) depth: usize,
}

impl Bvh8 {
    /// Memory of the tree in bytes.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> u64 {
        (size_of_val(&self.nodes[..]) + size_of_val(&self.leaves[..]) + size_of_val(&self.ids[..])) as u64
    }

    /// Lower and upper corner of the bounds of the whole tree.
    pub(crate) fn corners(&self) -> [[f32; 3]; 2] {
        self.nodes[0].corners()
    }

    /// Prefetches a child. For a node these are its faces: three of its four cache lines. Without a branch, because the kind of a child is
    /// hard to predict: of a leaf, a line of the next one arrives, too.
    #[inline(always)]
    pub(crate) fn prefetch(&self, child: Child) {
        let (nodes, leaves) = (self.nodes.as_ptr().cast::<u8>(), self.leaves.as_ptr().cast::<u8>());
        let is_leaf = child.0 & Child::LEAF != 0;
        let offset = (child.0 & !Child::LEAF) as usize * size_of::<Leaf8>();
        let start = if is_leaf { leaves } else { nodes }.wrapping_add(offset << usize::from(!is_leaf));
        [0, 64, 128].into_iter().for_each(|line| prefetch_address(start.wrapping_add(line)));
    }

    /// Number of AABBs that a random ray through the bounds of the whole tree enters, as the surface area heuristic estimates it.
    pub(crate) fn cost(&self) -> f32 {
        // The AABB of an empty slot is inverted, and has no area.
        let boxes = |node: &Bvh8Node| -> f32 { (0..WIDTH).map(|i| node.slot(i).area()).sum() };
        // In parts of one size, so that the sum does not depend on the number of threads.
        let parts = self.nodes.par_chunks(1 << 12).map(|nodes| nodes.iter().map(boxes).sum::<f32>());
        let [low, high] = self.corners().map(Vec3A::from_array);
        parts.collect::<Vec<_>>().iter().sum::<f32>() / Bounds { low, high }.area()
    }

    /// Refits all boxes: those of leaves in parallel, then those of nodes bottom-up. `leaf` returns the corners of a leaf's box.
    pub(crate) fn refit(&mut self, leaf: impl Fn(usize) -> [[f32; 3]; 2] + Sync) {
        self.nodes.par_iter_mut().with_min_len(MIN_PARALLEL).for_each(|node| {
            for place in 0..WIDTH {
                if let ChildRef::Leaf(number) = node.children[place].kind() {
                    node.set_slot(place, leaf(number));
                }
            }
        });
        // A node precedes its descendants.
        for number in (0..self.nodes.len()).rev() {
            for place in 0..WIDTH {
                if let ChildRef::Node(below) = self.nodes[number].children[place].kind() {
                    let corners = self.nodes[below].corners();
                    self.nodes[number].set_slot(place, corners);
                }
            }
        }
    }
}

impl Bvh8Node {
    pub(crate) fn slot(&self, i: usize) -> Bounds {
        let [low, high] = self.bounds.each_ref().map(|faces| Vec3A::new(faces[0][i], faces[1][i], faces[2][i]));
        Bounds { low, high }
    }

    pub(super) fn set_slot(&mut self, i: usize, corners: [[f32; 3]; 2]) {
        for (faces, corner) in self.bounds.iter_mut().zip(corners) {
            faces.iter_mut().zip(corner).for_each(|(face, x)| face[i] = x);
        }
    }

    /// Lower and upper corner of the union of its boxes.
    fn corners(&self) -> [[f32; 3]; 2] {
        let [low, high] = self.bounds;
        let least = |face: [f32; WIDTH]| face.into_iter().fold(f32::INFINITY, f32::min);
        let most = |face: [f32; WIDTH]| face.into_iter().fold(f32::NEG_INFINITY, f32::max);
        [low.map(least), high.map(most)]
    }
}

/// Upper bound of a tree's memory in bytes. Measured: about 27 bytes per sphere, that is 20 bytes per slot in leaves of which one slot
/// in fifteen is empty, and a node of 256 bytes per about 40 spheres. The constant covers the few extra nodes that count in small
/// scenes. Tests check this bound.
pub(crate) fn tree_bytes(spheres: u64) -> u64 {
    spheres.saturating_mul(32).saturating_add(4096)
}

/// Upper bound of the leaf slots of a tree: one slot in five may be empty, and a few more in small trees.
pub(crate) fn leaf_slots(spheres: u64) -> u64 {
    (spheres / 4).saturating_mul(5).saturating_add(128)
}

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) low: Vec3A,
    pub(crate) high: Vec3A,
}

impl Bounds {
    pub(crate) const EMPTY: Self = Self { low: Vec3A::INFINITY, high: Vec3A::NEG_INFINITY };

    pub(crate) fn point(p: Vec3A) -> Self {
        Self { low: p, high: p }
    }

    pub(crate) fn join(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Half the surface area.
    pub(crate) fn area(&self) -> f32 {
        let d = (self.high - self.low).max(Vec3A::ZERO);
        d.x * d.y + d.y * d.z + d.z * d.x
    }
}
