//! The CPU engine's tree: nodes of eight boxes over leaves of eight spheres.
//!
//! The leaves are the filter's columns (`src/cpu/cull.rs`) in the tree's order, so that a leaf is one or two vectors; no
//! sphere has a box of its own. A box holds what its spheres' columns reach, in scaled units, and that includes what every
//! solve may get wrong on the sphere's account: what a ray gets wrong is added where the ray meets the box.

use glam::Vec3A;

/// Boxes in a node, and spheres in a leaf.
pub(crate) const WIDTH: usize = 8;

/// Nodes from the root to a leaf at the most, see `build_sah.rs`.
pub(crate) const DEEPEST: usize = 80;

/// Eight boxes and what lies in them.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct Node {
    /// The lower faces an axis, then the upper ones. An empty place has a box turned inside out, which nothing enters.
    pub(crate) faces: [[[f32; WIDTH]; 3]; 2],
    /// Empty places are last.
    pub(crate) children: [Child; WIDTH],
    /// For each octant of directions the places from front to back, three bits each.
    pub(crate) order: [u32; 8],
}

/// What a box holds: a node, a leaf (the highest bit set), or nothing.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Child(pub(crate) u32);

/// A [`Child`] unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Node(usize),
    Leaf(usize),
    Nothing,
}

impl Child {
    pub(crate) const NOTHING: Self = Self(u32::MAX);
    pub(crate) const LEAF: u32 = 1 << 31;

    #[inline(always)]
    pub(crate) fn kind(self) -> Kind {
        if self == Self::NOTHING {
            Kind::Nothing
        } else if self.0 & Self::LEAF != 0 {
            Kind::Leaf((self.0 & !Self::LEAF) as usize)
        } else {
            Kind::Node(self.0 as usize)
        }
    }
}

/// Eight spheres as columns, in scaled units. Where there is no sphere `x` is NaN, which compares with nothing.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct Leaf {
    pub(crate) x: [f32; WIDTH],
    pub(crate) y: [f32; WIDTH],
    pub(crate) z: [f32; WIDTH],
    /// The radius and what arithmetic can add to it.
    pub(crate) reach: [f32; WIDTH],
}

/// A sphere in scaled units, on its way into a leaf.
#[derive(Clone, Copy)]
pub(crate) struct Item {
    pub(crate) center: [f32; 3],
    pub(crate) reach: f32,
    pub(crate) id: u32,
}

/// The whole tree. The first node is the root.
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    pub(crate) leaves: Vec<Leaf>,
    /// Whose columns a leaf holds; [`NO_SPHERE`](crate::NO_SPHERE) where there is no sphere.
    pub(crate) ids: Vec<[u32; WIDTH]>,
    /// Nodes from the root to the farthest leaf.
    pub(crate) depth: usize,
}

impl Tree {
    /// What it takes.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> u64 {
        (size_of_val(&self.nodes[..]) + size_of_val(&self.leaves[..]) + size_of_val(&self.ids[..])) as u64
    }

    /// Two corners of what holds everything.
    pub(crate) fn corners(&self) -> [[f32; 3]; 2] {
        self.nodes[0].corners()
    }

    /// Gives all nodes other boxes: `leaf` tells the corners of each leaf's.
    pub(crate) fn fit(&mut self, leaf: impl Fn(usize) -> [[f32; 3]; 2]) {
        // A node comes before those below it.
        for number in (0..self.nodes.len()).rev() {
            for place in 0..WIDTH {
                let corners = match self.nodes[number].children[place].kind() {
                    Kind::Node(below) => self.nodes[below].corners(),
                    Kind::Leaf(number) => leaf(number),
                    Kind::Nothing => continue,
                };
                for (faces, corner) in self.nodes[number].faces.iter_mut().zip(corners) {
                    faces.iter_mut().zip(corner).for_each(|(face, x)| face[place] = x);
                }
            }
        }
    }
}

impl Node {
    /// Two corners of what holds all of its boxes.
    fn corners(&self) -> [[f32; 3]; 2] {
        let [low, high] = self.faces;
        let least = |face: [f32; WIDTH]| face.into_iter().fold(f32::INFINITY, f32::min);
        let most = |face: [f32; WIDTH]| face.into_iter().fold(f32::NEG_INFINITY, f32::max);
        [low.map(least), high.map(most)]
    }
}

/// What a tree of so many spheres takes at the most. By count some 27 bytes a sphere: 20 in leaves of which one place in fifteen is
/// empty, and 256 for the node of some 40 spheres; the tests hold scenes to this bound. In small scenes a few nodes more count.
pub(crate) fn tree_bytes(spheres: u64) -> u64 {
    spheres.saturating_mul(32).saturating_add(4096)
}

/// Places in the leaves of such a tree at the most: one in five is empty, and of few spheres a few more.
pub(crate) fn places(spheres: u64) -> u64 {
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

    /// Half the surface.
    pub(crate) fn area(&self) -> f32 {
        let d = (self.high - self.low).max(Vec3A::ZERO);
        d.x * d.y + d.y * d.z + d.z * d.x
    }
}
