//! Build of a [`Bvh8`]: a binary BVH by the binned surface area heuristic (Wald 2007) down to sets of at most 64 spheres, which
//! `split_set.rs` splits into leaves; then `collapse.rs` makes nodes of eight children of it.
//!
//! The depth is bounded by construction: from depth [`MIN_PART_DEPTH`] on, each side of a split has at least 1/32 of the spheres; from depth
//! [`MEDIAN_DEPTH`] on, every split halves; a set has at most eight leaves.

use glam::Vec3A;
use rayon::prelude::*;

use super::collapse::{Inner, InnerNodes, Subtree, collapse};
use super::node::{Bounds, BuildItem, Bvh8, WIDTH};
use super::split_set::{SET_SPHERES, build_set};
use crate::error::Result;
use crate::runtime::cancel::CancelToken;
use crate::runtime::memory::try_zeroed;

/// Bins per axis. Splits are considered at the `BINS - 1` boundaries between them.
const BINS: usize = 16;

/// Depth from which each side of a split has a minimum size. Above it, a split may separate one huge sphere from all others.
const MIN_PART_DEPTH: usize = 8;

/// Minimum number of spheres per side of a split, from depth [`MIN_PART_DEPTH`] on. Smaller sets would waste nodes and leaves.
const MIN_PART_SPHERES: usize = 16;

/// Depth from which splits halve. 48 levels, the 26 halvings from 2³² spheres to a set, and the 7 levels of a set add up to
/// `MAX_DEPTH`.
const MEDIAN_DEPTH: usize = 48;

/// Above this number of spheres, the two sides of a split are built in parallel.
pub(super) const PARALLEL_BUILD_SPHERES: usize = 1 << 13;

/// Minimum number of spheres for which one split runs in parallel, in parts of [`PART_SPHERES`].
const PARALLEL_SPLIT_SPHERES: usize = 1 << 15;

const PART_SPHERES: usize = 1 << 12;

impl BuildItem {
    fn position(&self) -> Vec3A {
        Vec3A::from_array(self.center)
    }

    /// Conservative bounds of the padded sphere.
    pub(super) fn bounds(&self) -> Bounds {
        let (c, r) = (self.position(), Vec3A::splat(self.padded_radius));
        let (low, high) = (c - r, c + r);
        // At least the error of one rounding.
        let slack = (low.abs().max(high.abs())) * 1.2e-7 + Vec3A::splat(f32::MIN_POSITIVE);
        Bounds { low: low - slack, high: high + slack }
    }
}

/// Reduces all items with `add`, in parallel from [`PARALLEL_SPLIT_SPHERES`] items on. `join` combines partial results.
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
    if items.len() < PARALLEL_SPLIT_SPHERES {
        return sum(items);
    }
    let both = |mut a: T, b: T| {
        join(&mut a, &b);
        a
    };
    items.par_chunks(PART_SPHERES).map(sum).reduce(|| none.clone(), both)
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
        ((item.position() - self.low) * self.scale).to_array().map(bin_of)
    }
}

/// The integer part of a number from 0 to 15.9998, and some bin for any other. The sum has the exponent of [`BINS`], so that its first
/// mantissa bits are the integer part (that of the next integer, if the sum is rounded up to it). A conversion would take a dozen
/// instructions for numbers out of range.
#[inline(always)]
fn bin_of(x: f32) -> usize {
    (x + BINS as f32).to_bits() as usize >> (f32::MANTISSA_DIGITS - 1 - BINS.ilog2()) & (BINS - 1)
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

/// Moves the items that belong to the left side to the front; returns their number.
fn partition(items: &mut [BuildItem], is_left: impl Fn(&BuildItem) -> bool) -> usize {
    let mut at = 0;
    for i in 0..items.len() {
        // Branch-free, because the branch would be unpredictable.
        let left = is_left(&items[i]);
        items.swap(at, i);
        at += usize::from(left);
    }
    at
}

/// Like [`partition`], in parallel from [`PARALLEL_SPLIT_SPHERES`] items on: first each part by itself, then the runs of items on the wrong side of
/// the whole change places.
fn partition_parts(items: &mut [BuildItem], is_left: impl Fn(&BuildItem) -> bool + Sync) -> usize {
    if items.len() < PARALLEL_SPLIT_SPHERES {
        return partition(items, is_left);
    }
    let counts: Vec<usize> = items.par_chunks_mut(PART_SPHERES).map(|part| partition(part, &is_left)).collect();
    let at = counts.iter().sum::<usize>();
    let (mut wrong_lefts, mut wrong_rights) = (Vec::new(), Vec::new());
    let mut place = 0;
    for (part, count) in items.chunks_mut(PART_SPHERES).zip(counts) {
        let (front, back) = part.split_at_mut(count);
        wrong_lefts.push(&mut front[count.min(at.saturating_sub(place))..]);
        let wrong = back.len().min(at.saturating_sub(place + count));
        place += count + back.len();
        wrong_rights.push(&mut back[..wrong]);
    }
    let mut pairs = Vec::new();
    let mut rights = wrong_rights.into_iter();
    let mut right: &mut [BuildItem] = &mut [];
    for mut left in wrong_lefts {
        while !left.is_empty() {
            while right.is_empty() {
                // There are as many on one side as on the other.
                right =
                    rights.next().expect("an item on the left side has one on the right side to change places with");
            }
            let count = left.len().min(right.len());
            pairs.extend(left.split_off_mut(..count).zip(right.split_off_mut(..count)));
        }
    }
    pairs.into_par_iter().for_each(|(left, right)| left.swap_with_slice(right));
    at
}

/// Splits items in two; returns the number of items on the left side.
fn split(items: &mut [BuildItem], depth: usize) -> usize {
    let count = items.len();
    if depth < MEDIAN_DEPTH {
        let around = |b: &mut Bounds, item: &BuildItem| *b = b.join(Bounds::point(item.position()));
        let grid = BinGrid::new(&fold_items(items, &Bounds::EMPTY, around, |a, b| *a = a.join(*b)));
        let add = |bins: &mut Bins, item: &BuildItem| {
            // Only for costs: without the allowance for rounding.
            let (c, r) = (item.position(), Vec3A::splat(item.padded_radius));
            let bounds = Bounds { low: c - r, high: c + r };
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
            let (low, scale) = (grid.low[axis], grid.scale[axis]);
            return partition_parts(items, |item| bin_of((item.center[axis] - low) * scale) < first_right);
        }
    }
    let at = (count / 2).next_multiple_of(WIDTH);
    let around = items.iter().fold(Bounds::EMPTY, |b, item| b.join(Bounds::point(item.position())));
    let axis = (around.high - around.low).max_position();
    items.select_nth_unstable_by(at, |a, b| a.center[axis].total_cmp(&b.center[axis]));
    at
}

/// Maximum number of inner nodes of a subtree: one less than leaves. A set of 17 spheres has most leaves per sphere, three; smaller ones
/// exist only where a side of a split has no minimum size, and have two at most.
fn most_inner_nodes(spheres: usize, depth: usize) -> usize {
    spheres * 3 / 17 + (2_usize << MIN_PART_DEPTH).unbounded_shr(depth as u32) - 1
}

fn build_subtree(
    items: &mut [BuildItem],
    mut inner: InnerNodes,
    first: usize,
    depth: usize,
    cancel: &CancelToken,
) -> Result<Subtree> {
    let count = items.len();
    if count <= SET_SPHERES {
        return Ok(build_set(items, first, inner));
    }
    let at = split(items, depth);
    debug_assert!((1..count).contains(&at), "{at} of {count}");
    let (lefts, rights) = inner.split(most_inner_nodes(at, depth + 1));
    let (left, right) = items.split_at_mut(at);
    let build_left = || build_subtree(left, lefts, first, depth + 1, cancel);
    let build_right = || build_subtree(right, rights, first + at, depth + 1, cancel);
    let (left, right) = if count > PARALLEL_BUILD_SPHERES {
        cancel.check()?;
        rayon::join(build_left, build_right)
    } else {
        (build_left(), build_right())
    };
    Ok(inner.join([left?, right?]))
}

/// Upper bound of the memory in bytes that a build takes in addition to its tree: the items, and the inner nodes of the binary BVH.
pub(crate) fn build_bytes(spheres: u64) -> u64 {
    let each = size_of::<BuildItem>() + size_of::<Inner>() * 3 / 17 + 1;
    let constant = most_inner_nodes(0, 0) * size_of::<Inner>();
    spheres.saturating_mul(each as u64).saturating_add(constant as u64)
}

impl Bvh8 {
    /// Builds the tree of at least one item. Sorts the items into leaf order.
    pub(crate) fn new(items: &mut [BuildItem], cancel: &CancelToken) -> Result<Self> {
        let mut inner = try_zeroed(most_inner_nodes(items.len(), 0))?;
        let root = build_subtree(items, InnerNodes::new(&mut inner), 0, 0, cancel)?;
        let tree = collapse(&root, inner, items, cancel)?;
        debug_assert_eq!(tree.check(items.len()), Ok(()));
        Ok(tree)
    }
}

#[cfg(test)]
mod tests {
    use super::{BuildItem, PARALLEL_SPLIT_SPHERES, partition_parts};

    #[test]
    fn parts_move_all_items_of_the_left_side_to_the_front() {
        let count = PARALLEL_SPLIT_SPHERES as u32 * 3 + 5;
        let scattered = |id: u32| id.wrapping_mul(0x9e37_79b9) >> 16;
        let left_sides: [&(dyn Fn(u32) -> bool + Sync); 6] = [
            &|id| scattered(id) < 20_000,
            &|id| scattered(id) < 100,
            &|id| id < count / 3,
            &|id| id > count / 3,
            &|_| true,
            &|_| false,
        ];
        for (number, is_left) in left_sides.into_iter().enumerate() {
            let mut items: Vec<_> = (0..count).map(|id| BuildItem { id, ..BuildItem::default() }).collect();
            let at = partition_parts(&mut items, |item| is_left(item.id));
            assert_eq!(at, (0..count).filter(|&id| is_left(id)).count(), "{number}");
            let wrong = items.iter().enumerate().position(|(place, item)| is_left(item.id) != (place < at));
            assert_eq!(wrong, None, "{number}: {at} of {count} on the left");
            items.sort_unstable_by_key(|item| item.id);
            assert!((0..count).eq(items.iter().map(|item| item.id)), "{number}: items were lost");
        }
    }
}
