//! Build of a [`Bvh8`]: a binary BVH by the binned surface area heuristic (Wald 2007), down to sets of at most 64 spheres, then
//! collapsed into nodes of eight children.
//!
//! A set is split at multiples of eight, so that only its last leaf can have empty slots. The depth is bounded by construction: from
//! depth [`MIN_PART_DEPTH`] on, each side of a split has at least 1/32 of the spheres; from depth [`MEDIAN_DEPTH`] on, every split halves.

use glam::Vec3A;
use rayon::prelude::*;

use super::node::{Bounds, BuildItem, Bvh8, Bvh8Node, Child, Leaf8, WIDTH};
use crate::error::Result;
use crate::records::NO_SPHERE;
use crate::runtime::cancel::CancelToken;
use crate::runtime::memory::try_with_capacity;

/// Maximum number of spheres in a set, that is in the leaves of one node.
const SUBTREE_SPHERES: usize = WIDTH * WIDTH;

/// Bins per axis. Splits are considered at the `BINS - 1` boundaries between them.
const BINS: usize = 16;

/// Depth from which each side of a split has a minimum size. Above it, a split may separate one huge sphere from all others.
const MIN_PART_DEPTH: usize = 8;

/// Minimum number of spheres per side of a split, from depth [`MIN_PART_DEPTH`] on. Smaller sets would waste nodes and leaves.
const MIN_PART_SPHERES: usize = 16;

/// Depth from which splits halve. 48 levels and the 26 halvings from 2³² spheres to a set are fewer than `MAX_DEPTH`.
const MEDIAN_DEPTH: usize = 48;

/// Above this number of spheres, the two sides of a split are built in parallel.
const PARALLEL_BUILD_SPHERES: usize = 1 << 13;

/// Minimum number of spheres for which the bins of one split are filled in parallel.
const PARALLEL_BINNING_SPHERES: usize = 1 << 17;

/// A node of the binary BVH: `count` items from `first`. A leaf has no children.
struct BuildNode {
    bounds: Bounds,
    first: usize,
    count: usize,
    children: Option<Box<[BuildNode; 2]>>,
}

impl BuildItem {
    fn position(&self) -> Vec3A {
        Vec3A::from_array(self.center)
    }

    /// Conservative bounds of the padded sphere.
    fn bounds(&self) -> Bounds {
        let (c, r) = (self.position(), Vec3A::splat(self.padded_radius));
        let (low, high) = (c - r, c + r);
        // At least the error of one rounding.
        let slack = (low.abs().max(high.abs())) * 1.2e-7 + Vec3A::splat(f32::MIN_POSITIVE);
        Bounds { low: low - slack, high: high + slack }
    }
}

/// Reduces all items with `add`, in parallel from [`PARALLEL_BINNING_SPHERES`] items on. `join` combines partial results.
fn fold_items<T: Clone + Send + Sync>(
    items: &[BuildItem],
    none: &T,
    add: impl Fn(&mut T, &BuildItem) + Sync,
    join: impl Fn(&mut T, &T) + Send + Sync,
) -> T {
    let sum = |items: &[BuildItem]| {
        let mut sum = none.clone();
        items.iter().for_each(|item| add(&mut sum, item));
        sum
    };
    if items.len() < PARALLEL_BINNING_SPHERES {
        return sum(items);
    }
    let both = |mut a: T, b: T| {
        join(&mut a, &b);
        a
    };
    items.par_chunks(PARALLEL_BINNING_SPHERES / 8).map(sum).reduce(|| none.clone(), both)
}

/// Bounds and number of the items in one bin of an axis.
#[derive(Clone, Copy)]
struct Bin {
    bounds: Bounds,
    count: usize,
}

type Bins = [[Bin; BINS]; 3];

const NO_BINS: Bins = [[Bin { bounds: Bounds::EMPTY, count: 0 }; BINS]; 3];

/// Maps the centre of an item to its bin on each axis.
#[derive(Clone, Copy)]
struct BinGrid {
    low: Vec3A,
    scale: Vec3A,
}

impl BinGrid {
    fn new(centers: &Bounds) -> Self {
        let extent = centers.high - centers.low;
        let scale = extent.to_array().map(|e| if e > 1e-30 { BINS as f32 * 0.9999 / e } else { 0.0 });
        Self { low: centers.low, scale: Vec3A::from_array(scale) }
    }

    #[inline(always)]
    fn bins_of(&self, item: &BuildItem) -> [usize; 3] {
        ((item.position() - self.low) * self.scale).to_array().map(|x| (x as usize).min(BINS - 1))
    }
}

/// Best split by the surface area heuristic: axis, and the first bin of the right side. Each side has at least `least` items.
fn best_split(bins: &Bins, grid: &BinGrid, least: usize) -> Option<(usize, usize)> {
    let mut best = (f32::INFINITY, None);
    for axis in (0..3).filter(|&axis| grid.scale[axis] > 0.0) {
        let row = &bins[axis];
        let join = |a: Bin, b: &Bin| Bin { bounds: a.bounds.join(b.bounds), count: a.count + b.count };
        let mut right = [NO_BINS[0][0]; BINS];
        let mut all = NO_BINS[0][0];
        for i in (0..BINS).rev() {
            all = join(all, &row[i]);
            right[i] = all;
        }
        let mut left = NO_BINS[0][0];
        for i in 1..BINS {
            left = join(left, &row[i - 1]);
            if left.count < least || right[i].count < least {
                continue;
            }
            let cost = left.bounds.area() * left.count as f32 + right[i].bounds.area() * right[i].count as f32;
            if cost < best.0 {
                best = (cost, Some((axis, i)));
            }
        }
    }
    best.1
}

fn largest_axis(items: &[BuildItem]) -> usize {
    let around = items.iter().fold(Bounds::EMPTY, |b, item| b.join(Bounds::point(item.position())));
    let extent = around.high - around.low;
    if extent.x >= extent.y && extent.x >= extent.z {
        0
    } else if extent.y >= extent.z {
        1
    } else {
        2
    }
}

fn median_split(items: &mut [BuildItem], at: usize) {
    let axis = largest_axis(items);
    items.select_nth_unstable_by(at, |a, b| a.center[axis].total_cmp(&b.center[axis]));
}

/// Sorts a set into leaf order, by median splits at multiples of eight.
fn order_subtree(items: &mut [BuildItem]) {
    if items.len() > WIDTH {
        let at = items.len().div_ceil(2 * WIDTH) * WIDTH;
        if at < items.len() {
            median_split(items, at);
        }
        let (left, right) = items.split_at_mut(at.min(items.len()));
        order_subtree(left);
        order_subtree(right);
    }
}

/// Splits items in two; returns the number of items on the left side.
fn split(items: &mut [BuildItem], depth: usize) -> usize {
    let count = items.len();
    if depth < MEDIAN_DEPTH {
        let around = |b: &mut Bounds, item: &BuildItem| *b = b.join(Bounds::point(item.position()));
        let grid = BinGrid::new(&fold_items(items, &Bounds::EMPTY, around, |a, b| *a = a.join(*b)));
        let add = |bins: &mut Bins, item: &BuildItem| {
            let bounds = item.bounds();
            for (row, place) in bins.iter_mut().zip(grid.bins_of(item)) {
                let bin = &mut row[place];
                bin.bounds = bin.bounds.join(bounds);
                bin.count += 1;
            }
        };
        let join = |a: &mut Bins, b: &Bins| {
            for (a, b) in a.as_flattened_mut().iter_mut().zip(b.as_flattened()) {
                *a = Bin { bounds: a.bounds.join(b.bounds), count: a.count + b.count };
            }
        };
        let least = if depth < MIN_PART_DEPTH { 1 } else { (count / 32).max(MIN_PART_SPHERES) };
        if let Some((axis, first_right)) = best_split(&fold_items(items, &NO_BINS, add, join), &grid, least) {
            let mut at = 0;
            for i in 0..count {
                // Branch-free, because the branch would be unpredictable.
                let left = grid.bins_of(&items[i])[axis] < first_right;
                items.swap(at, i);
                at += usize::from(left);
            }
            return at;
        }
    }
    let at = (count / 2).next_multiple_of(WIDTH);
    median_split(items, at);
    at
}

fn build_subtree(items: &mut [BuildItem], first: usize, depth: usize, cancel: &CancelToken) -> Result<BuildNode> {
    let count = items.len();
    if count <= SUBTREE_SPHERES {
        order_subtree(items);
        let bounds = items.iter().fold(Bounds::EMPTY, |b, item| b.join(item.bounds()));
        return Ok(BuildNode { bounds, first, count, children: None });
    }
    let at = split(items, depth);
    let (left, right) = items.split_at_mut(at);
    let (left, right) = if count > PARALLEL_BUILD_SPHERES {
        cancel.check()?;
        rayon::join(
            || build_subtree(left, first, depth + 1, cancel),
            || build_subtree(right, first + at, depth + 1, cancel),
        )
    } else {
        (build_subtree(left, first, depth + 1, cancel), build_subtree(right, first + at, depth + 1, cancel))
    };
    let halves = [left?, right?];
    Ok(BuildNode { bounds: halves[0].bounds.join(halves[1].bounds), first, count, children: Some(Box::new(halves)) })
}

impl Leaf8 {
    fn new(items: &[BuildItem]) -> (Self, [u32; WIDTH]) {
        let mut leaf = Self { x: [f32::NAN; WIDTH], y: [0.0; WIDTH], z: [0.0; WIDTH], padded_radius: [0.0; WIDTH] };
        let mut ids = [NO_SPHERE; WIDTH];
        for (i, item) in items.iter().enumerate() {
            [leaf.x[i], leaf.y[i], leaf.z[i]] = item.center;
            (leaf.padded_radius[i], ids[i]) = (item.padded_radius, item.id);
        }
        (leaf, ids)
    }
}

/// The largest number 64 · 8ⁿ below `count`. `count` is above 64.
fn largest_full_subtree(count: usize) -> usize {
    let mut cap = SUBTREE_SPHERES;
    while cap.saturating_mul(WIDTH) < count {
        cap *= WIDTH;
    }
    cap
}

/// State of the collapse into wide nodes. Leaves are numbered as they are emitted.
struct WideBuilder<'a> {
    items: &'a [BuildItem],
    nodes: Vec<Bvh8Node>,
    /// Items of each leaf: the first, and the number.
    leaves: Vec<(usize, usize)>,
    depth: usize,
}

impl WideBuilder<'_> {
    /// Emits the node of a part, and all nodes below; returns its index.
    fn node(&mut self, part: &BuildNode, depth: usize) -> u32 {
        self.depth = self.depth.max(depth);
        let number = self.nodes.len();
        self.nodes.push(Bvh8Node::of(&[]));
        let mut children = Vec::with_capacity(WIDTH);
        if part.children.is_none() {
            self.push_leaves(part, &mut children);
        } else {
            let cap = largest_full_subtree(part.count);
            let mut parts = vec![part];
            // Opens the part with the largest surface area first, but no part that fits into a full subtree one level below.
            while parts.len() < WIDTH {
                let open = |p: &&BuildNode| p.children.is_some() && (p.count > cap || p.count == part.count);
                let by_area = |a: &(usize, &&BuildNode), b: &(usize, &&BuildNode)| {
                    a.1.bounds.area().total_cmp(&b.1.bounds.area())
                };
                let Some((i, _)) = parts.iter().enumerate().filter(|(_, p)| open(p)).max_by(by_area) else { break };
                let Some(halves) = parts[i].children.as_deref() else { break };
                parts.splice(i..=i, halves.iter());
            }
            // The leaves of small sets go into the remaining slots, which saves the nodes of these sets.
            let mut spare = WIDTH - parts.len();
            for part in parts {
                let more = part.count.div_ceil(WIDTH) - 1;
                if part.children.is_none() && more <= spare {
                    spare -= more;
                    self.push_leaves(part, &mut children);
                } else {
                    children.push((part.bounds, Child(self.node(part, depth + 1))));
                }
            }
        }
        self.nodes[number] = Bvh8Node::of(&children);
        number as u32
    }

    fn push_leaves(&mut self, set: &BuildNode, children: &mut Vec<(Bounds, Child)>) {
        for (i, items) in self.items[set.first..][..set.count].chunks(WIDTH).enumerate() {
            let bounds = items.iter().fold(Bounds::EMPTY, |b, item| b.join(item.bounds()));
            children.push((bounds, Child(self.leaves.len() as u32 | Child::LEAF)));
            self.leaves.push((set.first + i * WIDTH, items.len()));
        }
    }
}

impl Bvh8Node {
    fn of(children: &[(Bounds, Child)]) -> Self {
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

impl Bvh8 {
    /// Builds the tree of at least one item. Sorts the items into leaf order.
    pub(crate) fn new(items: &mut [BuildItem], cancel: &CancelToken) -> Result<Self> {
        let root = build_subtree(items, 0, 0, cancel)?;
        let (nodes, leaves) = (try_with_capacity(items.len() / 40 + 1)?, try_with_capacity(items.len() / 7 + 1)?);
        let mut widening = WideBuilder { items, nodes, leaves, depth: 0 };
        widening.node(&root, 1);
        drop(root);
        let WideBuilder { nodes, leaves: ranges, depth, .. } = widening;
        cancel.check()?;
        let (mut leaves, mut ids) = (try_with_capacity(ranges.len())?, try_with_capacity(ranges.len())?);
        let leaf = |&(first, count): &(usize, usize)| Leaf8::new(&items[first..][..count]);
        ranges.par_iter().map(leaf).unzip_into_vecs(&mut leaves, &mut ids);
        let tree = Self { nodes, leaves, ids, depth };
        debug_assert_eq!(tree.check(items.len()), Ok(()));
        Ok(tree)
    }
}
