//! Build of an [`QBvh4`] on all CPU cores: Morton codes, sort, radix tree, collapse into nodes of four children.

use rayon::prelude::*;

use super::node::{MAX_LEAF_SPHERES, QBounds, QBvh4, QChild, QNode4, TINY, WIDTH};
use crate::bvh::gpu_frame::GpuFrame;
use crate::error::Result;
use crate::records::Sphere;
use crate::runtime::cancel::CancelToken;
use crate::runtime::memory::{try_collect_parallel, try_with_capacity};

/// Bits of a Morton code per axis.
const BITS: u32 = 21;

/// Above this number of spheres, the two halves of a part are built in parallel.
const PARALLEL_SPHERES: usize = 1 << 13;

/// Nodes at a smaller depth open the child with the largest bounds first. All others open the child with the most spheres, which bounds
/// the depth: on every path, each such node descends two levels of the radix tree or halves the spheres that are left. The radix tree
/// has 63 levels, and 28 more where codes are equal. So the depth is at most 12 + 46 + 28, which is less than
/// [`MAX_LEVELS`](QBvh4::MAX_LEVELS).
const SIZE_ORDER_DEPTH: usize = 12;

/// Morton code of a sphere, and its index in the sphere buffer.
type Key = (u64, u32);

/// Grid of the Morton curve: its lower corner, and cubic cells per unit length.
pub(crate) struct MortonGrid {
    pub(crate) low: [f32; 3],
    pub(crate) cells: f32,
}

impl MortonGrid {
    /// A grid of at most 2²¹ cells per axis that covers all centres of the scene.
    pub(crate) fn new(frame: &GpuFrame) -> Self {
        // Rounding is monotonic, so these corners are the minimum and the maximum of the centres in the frame.
        let [low, high] = frame.corners.map(|corner| flush_tiny(frame.center(corner)));
        let width = (0..3).map(|k| high[k] - low[k]).fold(0.0, f32::max);
        // A power of two, so that the multiplication does not round. Centres on the far side of the last cell count as inside (`key`).
        let exponent = if width > 0.0 { (width.to_bits() >> 23) as i32 - 127 } else { 0 };
        let cells = f32::from_bits((((BITS as i32 - 1 - exponent).clamp(-126, 126) + 127) as u32) << 23);
        Self { low, cells }
    }

    fn key(&self, center: [f32; 3]) -> u64 {
        let (center, last) = (flush_tiny(center), (1 << BITS) - 1);
        let cell = |k: usize| (((center[k] - self.low[k]) * self.cells) as u32).min(last);
        spread_bits(cell(0)) << 2 | spread_bits(cell(1)) << 1 | spread_bits(cell(2))
    }
}

/// Replaces coordinates below [`TINY`] by 0, so that a device that flushes subnormal numbers computes the same codes.
fn flush_tiny(center: [f32; 3]) -> [f32; 3] {
    center.map(|x| if x.abs() < TINY { 0.0 } else { x })
}

/// Spreads the bits of x, with two zeros between neighbours.
fn spread_bits(x: u32) -> u64 {
    let mut x = u64::from(x);
    for (shift, mask) in [
        (32, 0x001f_0000_0000_ffff),
        (16, 0x001f_0000_ff00_00ff),
        (8, 0x100f_00f0_0f00_f00f),
        (4, 0x10c3_0c30_c30c_30c3),
        (2, 0x1249_2492_4924_9249),
    ] {
        x = (x | x << shift) & mask;
    }
    x
}

/// A subtree of the radix tree: `count` keys from `first`. A leaf has no halves.
struct RadixNode {
    bounds: QBounds,
    first: usize,
    count: usize,
    children: Option<Box<[RadixNode; 2]>>,
}

/// The spheres in the order of their keys.
struct SortedSpheres<'a> {
    spheres: &'a [Sphere],
    frame: &'a GpuFrame,
    keys: &'a [Key],
    cancel: &'a CancelToken,
}

impl SortedSpheres<'_> {
    fn build_node(&self, first: usize, count: usize) -> Result<RadixNode> {
        if count <= MAX_LEAF_SPHERES {
            let bounds = self.keys[first..][..count].iter().fold(QBounds::EMPTY, |all, (_, place)| {
                all.join(QBounds::of(&self.spheres[*place as usize], self.frame))
            });
            return Ok(RadixNode { bounds, first, count, children: None });
        }
        let left = self.split(first, count);
        let (build_left, build_right) =
            (|| self.build_node(first, left), || self.build_node(first + left, count - left));
        let (left, right) = if count > PARALLEL_SPHERES {
            self.cancel.check()?;
            rayon::join(build_left, build_right)
        } else {
            (build_left(), build_right())
        };
        let halves = [left?, right?];
        Ok(RadixNode {
            bounds: halves[0].bounds.join(halves[1].bounds),
            first,
            count,
            children: Some(Box::new(halves)),
        })
    }

    /// Splits a range at the highest bit in which its Morton codes differ; returns the count of keys with that bit clear. If all codes
    /// are equal, the position in the order takes their place.
    fn split(&self, first: usize, count: usize) -> usize {
        let keys = &self.keys[first..][..count];
        let differing = keys[0].0 ^ keys[count - 1].0;
        if differing == 0 {
            let last = first + count - 1;
            let bit = 31 - (first as u32 ^ last as u32).leading_zeros();
            return (last >> bit << bit) - first;
        }
        let bit = 63 - differing.leading_zeros();
        keys.partition_point(|(key, _)| key >> bit & 1 == 0)
    }
}

/// Opens a part into the children of a node, at most four.
fn open_children(part: &RadixNode, depth: usize) -> Vec<&RadixNode> {
    let mut parts = vec![part];
    while parts.len() < WIDTH {
        // Edges are not negative, so their bits are in the order of the numbers.
        let size = |part: &RadixNode| {
            if depth < SIZE_ORDER_DEPTH { part.bounds.edge_sum().to_bits() } else { part.count as u32 }
        };
        let mut largest: Option<usize> = None;
        for (i, part) in parts.iter().enumerate().filter(|(_, part)| part.children.is_some()) {
            if largest.is_none_or(|largest| size(part) > size(parts[largest])) {
                largest = Some(i);
            }
        }
        let Some((i, [left, right])) = largest.and_then(|i| Some((i, parts[i].children.as_deref()?))) else { break };
        parts[i] = left;
        parts.push(right);
    }
    parts
}

impl QBvh4 {
    /// Builds the tree; `spheres` may be empty.
    pub(crate) fn new(spheres: &[Sphere], frame: &GpuFrame, cancel: &CancelToken) -> Result<Self> {
        let center = |sphere: &Sphere| frame.sphere(sphere).0;
        let grid = MortonGrid::new(frame);
        let key = |(place, sphere)| (grid.key(center(sphere)), place as u32);
        let mut keys: Vec<Key> = try_collect_parallel(spheres.par_iter().enumerate().map(key))?;
        keys.par_sort_unstable();
        let root = SortedSpheres { spheres, frame, keys: &keys, cancel }.build_node(0, keys.len())?;
        let order = try_collect_parallel(keys.par_iter().map(|(_, place)| *place))?;
        drop(keys);
        let (nodes, levels) = collapse(&root, cancel)?;
        let tree = Self { nodes, order, levels };
        debug_assert_eq!(tree.check(spheres, frame), Ok(()));
        Ok(tree)
    }
}

/// Collapses the radix tree into nodes of four children, level by level. Returns the nodes and the end of each level.
fn collapse(root: &RadixNode, cancel: &CancelToken) -> Result<(Vec<QNode4>, Vec<u32>)> {
    let mut nodes: Vec<QNode4> = try_with_capacity(root.count / 8 + 1)?;
    let mut levels = Vec::new();
    let mut level = vec![root];
    while !level.is_empty() {
        cancel.check()?;
        // The next level begins where this one ends.
        let mut next = Vec::new();
        let begin = (nodes.len() + level.len()) as u32;
        for part in level {
            let child = |part: &&'_ RadixNode| {
                let child = QChild::Leaf { first: part.first as u32, count: part.count as u32 };
                (part.bounds, child)
            };
            let parts = open_children(part, levels.len());
            let mut children: Vec<(QBounds, QChild)> = parts.iter().map(child).collect();
            for (part, (_, child)) in parts.into_iter().zip(&mut children) {
                if part.children.is_some() {
                    *child = QChild::Node(begin + next.len() as u32);
                    next.push(part);
                }
            }
            children.retain(|(_, child)| !matches!(child, QChild::Leaf { count: 0, .. }));
            nodes.push(QNode4::new(&children, [part.first as u32, part.count as u32]));
        }
        levels.push(begin);
        level = next;
    }
    Ok((nodes, levels))
}
