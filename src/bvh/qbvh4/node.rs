//! A node of four boxes in 64 bytes, as shaders read it. Twin of `shaders/traverse/qnode.wgsl` and of the executor in shaders.
//!
//! Boxes are told in eighths of a byte an axis and side: multiples of a power of two from the corner that all four share, rounded
//! outwards (Ylitie, Karras & Laine 2017, Efficient Incoherent Ray Traversal on GPUs Through Compressed Wide BVHs). Everything is
//! in units of the scene's [`Frame`](crate::gpu::Frame), where no coordinate exceeds 2.

use bytemuck::{Pod, Zeroable};

use crate::bvh::scene_frame::Frame;
use crate::records::Sphere;

/// Boxes in a node.
pub(crate) const WIDTH: usize = 4;

/// Spheres in a leaf at most.
pub(crate) const LEAF: usize = 7;

/// Four boxes and what lies in them.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct Quad {
    /// The bits of the lower corner of all boxes.
    pub(crate) origin: [u32; 3],
    /// A byte an axis: the exponent of its unit, with 127 added; above them how many children there are.
    pub(crate) units: u32,
    /// A word an axis, a byte a child: the lower faces, in units from the origin.
    pub(crate) low: [u32; 3],
    /// The upper faces.
    pub(crate) high: [u32; 3],
    /// The number of a node; or with the highest bit set the count of a leaf's spheres, three bits, and where they begin, 28.
    pub(crate) children: [u32; WIDTH],
    /// All spheres below it: where they begin, and how many there are. A refit asks for them.
    pub(crate) range: [u32; 2],
}

/// What a box holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Child {
    Node(u32),
    Leaf { first: u32, count: u32 },
}

impl Child {
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

/// Less than this is taken for it, so that no subnormal number ever decides: devices may flush those.
pub(crate) const TINY: f32 = 1.0 / (1u64 << 60) as f32;

/// The next number below x, or −2⁻⁶⁰ where x is smaller than that.
pub(crate) fn down(x: f32) -> f32 {
    -up(-x)
}

/// The next number above x, or 2⁻⁶⁰ where x is smaller than that.
pub(crate) fn up(x: f32) -> f32 {
    if x.abs() < TINY {
        return TINY;
    }
    let bits = x.to_bits();
    f32::from_bits(if x > 0.0 { bits + 1 } else { bits - 1 })
}

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) low: [f32; 3],
    pub(crate) high: [f32; 3],
}

impl Bounds {
    /// Turned inside out: joined with another, it is the other.
    pub(crate) const EMPTY: Self = Self { low: [f32::MAX; 3], high: [-f32::MAX; 3] };

    /// What a sphere reaches, not less, and where a solve takes subnormal coordinates for 0, as devices may, too.
    pub(crate) fn of(sphere: &Sphere, frame: &Frame) -> Self {
        let ((center, radius), given) = (frame.sphere(sphere), sphere.center.to_array());
        let flushed = |k: usize| if given[k].is_subnormal() { -frame.middle[k] } else { center[k] };
        Self {
            low: std::array::from_fn(|k| down(center[k].min(flushed(k)) - radius)),
            high: std::array::from_fn(|k| up(center[k].max(flushed(k)) + radius)),
        }
    }

    pub(crate) fn join(self, other: Self) -> Self {
        Self {
            low: std::array::from_fn(|k| self.low[k].min(other.low[k])),
            high: std::array::from_fn(|k| self.high[k].max(other.high[k])),
        }
    }

    /// The sum of the edges: as good as the surface for choosing what to open, and no product that a compiler may fuse.
    pub(crate) fn edges(&self) -> f32 {
        (self.high[0] - self.low[0]) + (self.high[1] - self.low[1]) + (self.high[2] - self.low[2])
    }
}

/// 2^n for n in −126..128.
fn power_of_two(n: i32) -> f32 {
    f32::from_bits(((n + 127) as u32) << 23)
}

impl Quad {
    /// A node of up to four boxes, over a range of spheres.
    pub(crate) fn new(children: &[(Bounds, Child)], range: [u32; 2]) -> Self {
        if children.is_empty() {
            return Self::default();
        }
        let all = children.iter().fold(Bounds::EMPTY, |all, (bounds, _)| all.join(*bounds));
        let mut quad = Self { units: (children.len() as u32) << 24, range, ..Self::default() };
        for k in 0..3 {
            let origin = all.low[k];
            let unit = unit_of(up(all.high[k] - origin));
            quad.origin[k] = origin.to_bits();
            quad.units |= ((unit + 127) as u32) << (8 * k);
            let scale = power_of_two(-unit);
            for (i, (bounds, _)) in children.iter().enumerate() {
                let low = (down(bounds.low[k] - origin) * scale).floor().max(0.0);
                let high = (up(bounds.high[k] - origin) * scale).ceil();
                quad.low[k] |= (low as u32) << (8 * i);
                quad.high[k] |= (high as u32) << (8 * i);
            }
        }
        for (i, (_, child)) in children.iter().enumerate() {
            quad.children[i] = child.pack();
        }
        quad
    }

    /// How many children there are.
    pub(crate) fn count(&self) -> usize {
        (self.units >> 24) as usize
    }

    /// A child and its box; f64 holds the box exactly.
    pub(crate) fn child(&self, i: usize) -> ([[f64; 3]; 2], Child) {
        let face = |words: &[u32; 3], k: usize| {
            let unit = (self.units >> (8 * k) & 255) as i32 - 127;
            let steps = f64::from(words[k] >> (8 * i) & 255);
            f64::from(f32::from_bits(self.origin[k])) + steps * f64::from(power_of_two(unit))
        };
        let corner = |words| std::array::from_fn(|k| face(words, k));
        ([corner(&self.low), corner(&self.high)], Child::unpack(self.children[i]))
    }
}

/// The exponent of the least unit of which 255 make `width`, which is at least 2⁻⁶⁰.
fn unit_of(width: f32) -> i32 {
    let unit = (width.to_bits() >> 23) as i32 - 127 - 7;
    if width > 255.0 * power_of_two(unit) { unit + 1 } else { unit }
}
