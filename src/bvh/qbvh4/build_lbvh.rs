//! Build of an [`Lbvh`] on all CPU cores: Morton codes, sort, radix tree, collapse into nodes of four children.

use rayon::prelude::*;

use super::node::{Bounds, Child, LEAF, Quad, TINY, WIDTH};
use super::tree::Lbvh;
use crate::bvh::scene_frame::Frame;
use crate::error::Result;
use crate::records::Sphere;
use crate::runtime::cancel::Watch;
use crate::runtime::cpu_pool;
use crate::runtime::memory::room;

/// Bits of a Morton code per axis.
const BITS: u32 = 21;

/// Above this number of spheres, the two halves of a part are built in parallel.
const FORK: usize = 1 << 13;

/// Nodes at a smaller depth open the child with the largest bounds first. All others open the child with the most spheres, which bounds
/// the depth: on every path, each such node descends two levels of the radix tree or halves the spheres that are left. The radix tree
/// has 63 levels, and 28 more where codes are equal. So the depth is at most 12 + 46 + 28, which is less than
/// [`DEEPEST`](Lbvh::DEEPEST).
const DEEP: usize = 12;

/// Morton code of a sphere, and its index in the sphere buffer.
type Key = (u64, u32);

/// Grid of the Morton curve: its lower corner, and cubic cells per unit length.
pub(crate) struct Grid {
    pub(crate) low: [f32; 3],
    pub(crate) cells: f32,
}

impl Grid {
    /// A grid of at most 2²¹ cells per axis that covers all centres of the scene.
    pub(crate) fn new(frame: &Frame) -> Self {
        // Rounding is monotonic, so these corners are the minimum and the maximum of the centres in the frame.
        let [low, high] = frame.corners.map(|corner| plain(frame.center(corner)));
        let width = (0..3).map(|k| high[k] - low[k]).fold(0.0, f32::max);
        // A power of two, so that the multiplication does not round. Centres on the far side of the last cell count as inside (`key`).
        let exponent = if width > 0.0 { (width.to_bits() >> 23) as i32 - 127 } else { 0 };
        let cells = f32::from_bits((((BITS as i32 - 1 - exponent).clamp(-126, 126) + 127) as u32) << 23);
        Self { low, cells }
    }

    fn key(&self, center: [f32; 3]) -> u64 {
        let (center, last) = (plain(center), (1 << BITS) - 1);
        let cell = |k: usize| (((center[k] - self.low[k]) * self.cells) as u32).min(last);
        spread(cell(0)) << 2 | spread(cell(1)) << 1 | spread(cell(2))
    }
}

/// Replaces coordinates below [`TINY`] by 0, so that a device that flushes subnormal numbers computes the same codes.
fn plain(center: [f32; 3]) -> [f32; 3] {
    center.map(|x| if x.abs() < TINY { 0.0 } else { x })
}

/// Spreads the bits of x, with two zeros between neighbours.
fn spread(x: u32) -> u64 {
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
struct Part {
    bounds: Bounds,
    first: usize,
    count: usize,
    halves: Option<Box<[Part; 2]>>,
}

/// The spheres in the order of their keys.
struct Sorted<'a> {
    spheres: &'a [Sphere],
    frame: &'a Frame,
    keys: &'a [Key],
    watch: &'a Watch,
}

impl Sorted<'_> {
    fn part(&self, first: usize, count: usize) -> Result<Part> {
        if count <= LEAF {
            let bounds = self.keys[first..][..count].iter().fold(Bounds::EMPTY, |all, (_, place)| {
                all.join(Bounds::of(&self.spheres[*place as usize], self.frame))
            });
            return Ok(Part { bounds, first, count, halves: None });
        }
        let left = self.cut(first, count);
        let halves = || (self.part(first, left), self.part(first + left, count - left));
        let forked = || rayon::join(|| self.part(first, left), || self.part(first + left, count - left));
        let (left, right) = if count > FORK {
            self.watch.check()?;
            forked()
        } else {
            halves()
        };
        let halves = [left?, right?];
        Ok(Part { bounds: halves[0].bounds.join(halves[1].bounds), first, count, halves: Some(Box::new(halves)) })
    }

    /// Splits a range at the highest bit in which its Morton codes differ; returns the count of keys with that bit clear. If all codes
    /// are equal, the position in the order takes their place.
    fn cut(&self, first: usize, count: usize) -> usize {
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
fn open(part: &Part, depth: usize) -> Vec<&Part> {
    let mut parts = vec![part];
    while parts.len() < WIDTH {
        // Edges are not negative, so their bits are in the order of the numbers.
        let size = |part: &Part| if depth < DEEP { part.bounds.edges().to_bits() } else { part.count as u32 };
        let mut largest: Option<usize> = None;
        for (i, part) in parts.iter().enumerate().filter(|(_, part)| part.halves.is_some()) {
            if largest.is_none_or(|largest| size(part) > size(parts[largest])) {
                largest = Some(i);
            }
        }
        let Some((i, [left, right])) = largest.and_then(|i| Some((i, parts[i].halves.as_deref()?))) else { break };
        parts[i] = left;
        parts.push(right);
    }
    parts
}

impl Lbvh {
    /// Builds the tree; `spheres` may be empty.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Cancelled`](crate::Error::Cancelled).
    pub(crate) fn new(spheres: &[Sphere], frame: &Frame, watch: &Watch) -> Result<Self> {
        cpu_pool::ready();
        let center = |sphere: &Sphere| frame.sphere(sphere).0;
        let grid = Grid::new(frame);
        let mut keys: Vec<Key> = room(spheres.len())?;
        let key = |(place, sphere)| (grid.key(center(sphere)), place as u32);
        spheres.par_iter().enumerate().map(key).collect_into_vec(&mut keys);
        keys.par_sort_unstable();
        let root = Sorted { spheres, frame, keys: &keys, watch }.part(0, keys.len())?;
        let mut order = room(keys.len())?;
        keys.par_iter().map(|(_, place)| *place).collect_into_vec(&mut order);
        drop(keys);
        let (nodes, levels) = collapse(&root, watch)?;
        let tree = Self { nodes, order, levels };
        debug_assert_eq!(tree.check(spheres, frame), Ok(()));
        Ok(tree)
    }
}

/// Collapses the radix tree into nodes of four children, level by level. Returns the nodes and the end of each level.
fn collapse(root: &Part, watch: &Watch) -> Result<(Vec<Quad>, Vec<u32>)> {
    let mut nodes: Vec<Quad> = room(root.count / 8 + 1)?;
    let mut levels = Vec::new();
    let mut level = vec![root];
    while !level.is_empty() {
        watch.check()?;
        // The next level begins where this one ends.
        let mut next = Vec::new();
        let begin = (nodes.len() + level.len()) as u32;
        for part in level {
            let child = |part: &&'_ Part| {
                let child = Child::Leaf { first: part.first as u32, count: part.count as u32 };
                (part.bounds, child)
            };
            let parts = open(part, levels.len());
            let mut children: Vec<(Bounds, Child)> = parts.iter().map(child).collect();
            for (part, (_, child)) in parts.into_iter().zip(&mut children) {
                if part.halves.is_some() {
                    *child = Child::Node(begin + next.len() as u32);
                    next.push(part);
                }
            }
            children.retain(|(_, child)| !matches!(child, Child::Leaf { count: 0, .. }));
            nodes.push(Quad::new(&children, [part.first as u32, part.count as u32]));
        }
        levels.push(begin);
        level = next;
    }
    Ok((nodes, levels))
}
