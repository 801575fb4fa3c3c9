//! Node of four quantised boxes in 64 bytes, in the layout that shaders read. Twin of `shaders/traverse/qnode.wgsl` (traversal) and of
//! `shaders/build/aabb.wgsl` and `pack_node.wgsl` (build).
//!
//! Each box has one byte per axis and side: a multiple of a power of two, relative to the lower corner that all four boxes share,
//! rounded outwards (Ylitie, Karras & Laine 2017, Efficient Incoherent Ray Traversal on GPUs Through Compressed Wide BVHs). Everything
//! is in units of the scene's [`GpuFrame`], where no coordinate exceeds 2.
//!
//! LBVH that shaders traverse: spheres are sorted along a Morton curve, a radix tree is built over them (Karras 2012, Maximizing
//! Parallelism in the Construction of BVHs, Octrees, and k-d Trees), and it is collapsed into nodes of four boxes.
//!
//! The algorithm has two implementations with bit-identical results: this one for all CPU cores, and the shaders of `shaders/build`. So
//! the only rounded operations here are sums and products of two numbers, which every device rounds alike.

use bytemuck::{Pod, Zeroable};

use crate::bvh::gpu_frame::GpuFrame;
use crate::math::float::power_of_two;
use crate::records::Sphere;

/// Boxes per node.
pub(crate) const WIDTH: usize = 4;

/// Maximum number of spheres per leaf. On an H200, 4 instead of 7 takes 0.87 of the time of random and shadow rays.
pub(crate) const MAX_LEAF_SPHERES: usize = 4;

/// Node: four quantised boxes and the children inside them.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct QNode4 {
    /// Common lower corner of all boxes, as the bits of f32.
    pub(crate) origin: [u32; 3],
    /// One byte per axis: the exponent of its unit, plus 127. The highest byte is the number of children.
    pub(crate) units: u32,
    /// Lower faces in units from the origin: one word per axis, one byte per child.
    pub(crate) low: [u32; 3],
    /// Upper faces, in the same layout as the lower ones.
    pub(crate) high: [u32; 3],
    /// Index of a node; or, with the highest bit set, a leaf: the number of its spheres (3 bits) and the first of them (28 bits).
    pub(crate) children: [u32; WIDTH],
    /// All spheres below the node: the first, and their number. Read by a refit.
    pub(crate) range: [u32; 2],
}

/// A child of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QChild {
    Node(u32),
    Leaf { first: u32, count: u32 },
}

impl QChild {
    pub(crate) fn pack(self) -> u32 {
        match self {
            Self::Node(number) => number,
            Self::Leaf { first, count } => 1 << 31 | count << 28 | first,
        }
    }

    pub(crate) fn unpack(word: u32) -> Self {
        if word >> 31 == 0 { Self::Node(word) } else { Self::Leaf { first: word & 0x0fff_ffff, count: word >> 28 & 7 } }
    }
}

/// 2⁻⁶⁰. Rounding of bounds replaces smaller magnitudes by it, so that no result depends on subnormal numbers, which devices may flush.
pub(crate) const TINY: f32 = 1.0 / (1u64 << 60) as f32;

/// The next f32 below x; −2⁻⁶⁰ if |x| < 2⁻⁶⁰.
pub(crate) fn next_below(x: f32) -> f32 {
    -next_above(-x)
}

/// The next f32 above x; 2⁻⁶⁰ if |x| < 2⁻⁶⁰.
pub(crate) fn next_above(x: f32) -> f32 {
    if x.abs() < TINY {
        return TINY;
    }
    let bits = x.to_bits();
    f32::from_bits(if x > 0.0 { bits + 1 } else { bits - 1 })
}

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct QBounds {
    pub(crate) low: [f32; 3],
    pub(crate) high: [f32; 3],
}

impl QBounds {
    /// Inverted box: the identity of [`QBounds::join`].
    pub(crate) const EMPTY: Self = Self { low: [f32::MAX; 3], high: [-f32::MAX; 3] };

    /// Conservative bounds of a sphere in the frame. Devices may treat subnormal coordinates as 0 in an intersection test, so the bounds
    /// contain that position, too.
    #[inline]
    pub(crate) fn of(sphere: &Sphere, frame: &GpuFrame) -> Self {
        let ((center, radius), set) = (frame.sphere(sphere), sphere.center.to_array());
        let flushed = |k: usize| if set[k].is_subnormal() { -frame.middle[k] } else { center[k] };
        Self {
            low: std::array::from_fn(|k| next_below(center[k].min(flushed(k)) - radius)),
            high: std::array::from_fn(|k| next_above(center[k].max(flushed(k)) + radius)),
        }
    }

    pub(crate) fn join(self, other: Self) -> Self {
        Self {
            low: std::array::from_fn(|k| self.low[k].min(other.low[k])),
            high: std::array::from_fn(|k| self.high[k].max(other.high[k])),
        }
    }

    /// Sum of the three edge lengths. It is as good as the surface area for choosing the child to open, and has no product that a
    /// compiler could fuse.
    pub(crate) fn edge_sum(&self) -> f32 {
        (self.high[0] - self.low[0]) + (self.high[1] - self.low[1]) + (self.high[2] - self.low[2])
    }
}

impl QNode4 {
    /// A node of up to four boxes, over a range of spheres.
    pub(crate) fn new(children: &[(QBounds, QChild)], range: [u32; 2]) -> Self {
        if children.is_empty() {
            return Self::default();
        }
        let all = children.iter().fold(QBounds::EMPTY, |all, (bounds, _)| all.join(*bounds));
        let mut quad = Self { units: (children.len() as u32) << 24, range, ..Self::default() };
        for k in 0..3 {
            let origin = all.low[k];
            let unit = unit_exponent(next_above(all.high[k] - origin));
            quad.origin[k] = origin.to_bits();
            quad.units |= ((unit + 127) as u32) << (8 * k);
            let scale = power_of_two(-unit);
            for (i, (bounds, _)) in children.iter().enumerate() {
                let low = (next_below(bounds.low[k] - origin) * scale).floor().max(0.0);
                let high = (next_above(bounds.high[k] - origin) * scale).ceil();
                quad.low[k] |= (low as u32) << (8 * i);
                quad.high[k] |= (high as u32) << (8 * i);
            }
        }
        for (i, (_, child)) in children.iter().enumerate() {
            quad.children[i] = child.pack();
        }
        quad
    }

    /// Number of children.
    pub(crate) fn count(&self) -> usize {
        (self.units >> 24) as usize
    }

    /// Box of child `i`, exact in f64, and the child.
    pub(crate) fn child(&self, i: usize) -> ([[f64; 3]; 2], QChild) {
        let face = |words: &[u32; 3], k: usize| {
            let unit = (self.units >> (8 * k) & 255) as i32 - 127;
            let steps = f64::from(words[k] >> (8 * i) & 255);
            f64::from(f32::from_bits(self.origin[k])) + steps * f64::from(power_of_two(unit))
        };
        let corner = |words| std::array::from_fn(|k| face(words, k));
        ([corner(&self.low), corner(&self.high)], QChild::unpack(self.children[i]))
    }
}

/// Exponent of the smallest power of two of which 255 cover `width`. `width` is at least 2⁻⁶⁰.
fn unit_exponent(width: f32) -> i32 {
    let unit = (width.to_bits() >> 23) as i32 - 127 - 7;
    if width > 255.0 * power_of_two(unit) { unit + 1 } else { unit }
}

/// LBVH over the spheres of one buffer.
pub(crate) struct QBvh4 {
    /// All nodes, the root first, then level by level.
    pub(crate) nodes: Vec<QNode4>,
    /// Index in the buffer of each sphere, in leaf order.
    pub(crate) order: Vec<u32>,
    /// End of each level, as a node index; the first level, the root, ends at 1.
    pub(crate) levels: Vec<u32>,
}

impl QBvh4 {
    /// Maximum number of levels of nodes, see `build_lbvh.rs`.
    pub(crate) const MAX_LEVELS: usize = 96;

    /// The largest number of levels for which a traversal uses a short stack. BVHs of 10⁶ spheres, uniform or clustered, have 11 to 20.
    pub(crate) const SHALLOW_LEVELS: usize = 36;
}
