//! Build of the lowest levels of the BVH: a set of at most 64 spheres is split into leaves by a sweep over all positions on all axes.
//!
//! A set is split only where its halves need as many leaves as the set itself, so at most one leaf of a set has empty slots. There are at
//! most seven splits on a path.

use super::collapse::{InnerNodes, Subtree};
use super::node::{Bounds, BuildItem, WIDTH};
use crate::math::float::ordered_bits;

/// Maximum number of spheres in a set.
pub(super) const SET_SPHERES: usize = WIDTH * WIDTH;

/// A set: the bounds of its items, and their numbers in order of the centres on each axis.
struct Set {
    bounds: [Bounds; SET_SPHERES],
    order: [[u8; SET_SPHERES]; 3],
}

/// Builds the binary BVH of a set, whose first item has number `first` in the whole input, and sorts the items into leaf order.
pub(super) fn build_set(items: &mut [BuildItem], first: usize, inner: InnerNodes) -> Subtree {
    debug_assert!(items.len() <= SET_SPHERES);
    let mut set = Set { bounds: [Bounds::EMPTY; SET_SPHERES], order: [[0; SET_SPHERES]; 3] };
    for (bounds, item) in set.bounds.iter_mut().zip(&*items) {
        *bounds = item.bounds();
    }
    for (axis, order) in set.order.iter_mut().enumerate() {
        let mut keys = [0; SET_SPHERES];
        let keys = &mut keys[..items.len()];
        for (i, (key, item)) in keys.iter_mut().zip(&*items).enumerate() {
            *key = u64::from(ordered_bits(item.center[axis])) << 32 | i as u64;
        }
        keys.sort_unstable();
        order.iter_mut().zip(keys).for_each(|(number, key)| *number = *key as u8);
    }
    let root = set.split(0, items.len(), first, inner);
    let mut sorted = [BuildItem::default(); SET_SPHERES];
    for (to, &number) in sorted.iter_mut().zip(&set.order[0][..items.len()]) {
        *to = items[number as usize];
    }
    items.copy_from_slice(&sorted[..items.len()]);
    root
}

impl Set {
    /// Builds the BVH of the items in places `from` to `to` of each order. Afterwards all orders have the items of a leaf in the same places.
    fn split(&mut self, from: usize, to: usize, first: usize, mut inner: InnerNodes) -> Subtree {
        let count = to - from;
        let leaves = count.div_ceil(WIDTH);
        if leaves <= 1 {
            let numbers = &self.order[0][from..to];
            let bounds = numbers.iter().fold(Bounds::EMPTY, |b, &number| b.join(self.bounds[number as usize]));
            return Subtree::leaf(bounds, first + from, count);
        }
        let (axis, left) = self.best_split(from, to);
        let mut on_left = 0_u64;
        self.order[axis][from..from + left].iter().for_each(|number| on_left |= 1 << number);
        for other in (0..3).filter(|&other| other != axis) {
            let numbers = &mut self.order[other][from..to];
            let (mut right, mut rights) = ([0; SET_SPHERES], 0);
            let mut lefts = 0;
            for i in 0..count {
                // Branch-free, because the branch would be unpredictable.
                let number = numbers[i];
                let is_left = (on_left >> number & 1) as usize;
                numbers[lefts] = number;
                right[rights] = number;
                lefts += is_left;
                rights += 1 - is_left;
            }
            numbers[lefts..].copy_from_slice(&right[..rights]);
        }
        let (lefts, rights) = inner.split(left.div_ceil(WIDTH) - 1);
        let halves = [self.split(from, from + left, first, lefts), self.split(from + left, to, first, rights)];
        inner.join(halves)
    }

    /// Best split by the surface area heuristic: the axis, and the number of items on the left side.
    fn best_split(&self, from: usize, to: usize) -> (usize, usize) {
        let count = to - from;
        let leaves = |items: usize| items.div_ceil(WIDTH);
        let keeps_leaves = |i: usize| leaves(i) + leaves(count - i) == leaves(count);
        // All axes at once, because each sweep waits for its own bounds.
        let (mut lefts, mut rights) = ([Bounds::EMPTY; 3], [Bounds::EMPTY; 3]);
        let mut right_costs = [[0.0; 3]; SET_SPHERES];
        for i in (1..count).rev() {
            for (right, order) in rights.iter_mut().zip(&self.order) {
                *right = right.join(self.bounds[order[from + i] as usize]);
            }
            if keeps_leaves(i) {
                right_costs[i] = rights.map(|right| right.area() * leaves(count - i) as f32);
            }
        }
        let mut best = [(f32::INFINITY, WIDTH); 3];
        for i in 1..count {
            for (left, order) in lefts.iter_mut().zip(&self.order) {
                *left = left.join(self.bounds[order[from + i - 1] as usize]);
            }
            if keeps_leaves(i) {
                for axis in 0..3 {
                    let cost = lefts[axis].area() * leaves(i) as f32 + right_costs[i][axis];
                    if cost < best[axis].0 {
                        best[axis] = (cost, i);
                    }
                }
            }
        }
        let axis = (1..3).fold(0, |least, axis| if best[axis].0 < best[least].0 { axis } else { least });
        (axis, best[axis].1)
    }
}
