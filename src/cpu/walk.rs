//! Rays walked through the tree in streams, front to back: every ray's visitor sees what the filter of the leaves leaves over,
//! and of that only what no certain hit lies before.

use std::cell::RefCell;

use super::aim::LANES;
use super::filter::Ruler;
use super::index::Planted;
use super::stream::{Entry, StreamRay, Survivor};
use super::sweep::Visitor;
use crate::query::Precision;
use crate::records::{Ray, Sphere};
use crate::tree::{Child, Kind, WIDTH};

/// Rays walked together: with what a leaf and the lists take they have to fit the second cache.
pub(crate) const STREAM: usize = 2048;

/// Spheres a ray may leave for later.
const PENDING: usize = 6;

/// Spheres that will be seen if nothing is met before them.
#[derive(Clone, Copy)]
struct Pending {
    count: usize,
    spheres: [(u32, f32); PENDING],
}

impl Pending {
    const NONE: Self = Self { count: 0, spheres: [(0, 0.0); PENDING] };
}

/// Memory that a worker keeps from one stream to the next.
#[derive(Default)]
struct Scratch {
    rays: Vec<StreamRay>,
    rulers: Vec<Ruler>,
    pending: Vec<Pending>,
    lists: Vec<Entry>,
    survivors: Vec<Survivor>,
    last: Vec<(u32, u32)>,
    seen: Vec<(u32, Sphere)>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// A walk: the scene, and the rays with their visitors.
struct Walk<'a, V> {
    planted: &'a Planted,
    spheres: &'a [Sphere],
    input: &'a [Ray],
    visitors: &'a mut [V],
    rays: &'a mut [StreamRay],
    rulers: &'a [Ruler],
    pending: &'a mut [Pending],
    survivors: &'a mut Vec<Survivor>,
}

/// Shows every ray's visitor the spheres it may meet.
pub(crate) fn walk<V: Visitor>(
    planted: &Planted,
    spheres: &[Sphere],
    rays: &[Ray],
    visitors: &mut [V],
    precision: Precision,
) {
    SCRATCH.with_borrow_mut(|scratch| {
        for (rays, visitors) in rays.chunks(STREAM).zip(visitors.chunks_mut(STREAM)) {
            stream(scratch, planted, spheres, rays, visitors, precision);
        }
    });
}

fn stream<V: Visitor>(
    scratch: &mut Scratch,
    planted: &Planted,
    spheres: &[Sphere],
    input: &[Ray],
    visitors: &mut [V],
    precision: Precision,
) {
    let Scratch { rays, rulers, pending, lists, survivors, last, seen } = scratch;
    let whole = input.len().next_multiple_of(LANES);
    if rays.len() < whole {
        rays.resize(whole, StreamRay::NONE);
        rulers.resize(whole, Ruler::new(0.0, 0.0, 0.0, 0.0));
    }
    let aimed = rays.as_chunks_mut().0.iter_mut().zip(rulers.as_chunks_mut().0);
    for (input, (rays, rulers)) in input.chunks(LANES).zip(aimed) {
        let few = std::array::from_fn(|i| input[i.min(input.len() - 1)]);
        planted.level.aim_rays(&planted.frame, &few, precision, rays, rulers);
    }
    let rays = &mut rays[..input.len()];
    let mut octants = [const { Vec::new() }; 8];
    for (number, aimed) in rays.iter().enumerate() {
        if aimed.margin == f32::INFINITY {
            // From so far everything may be met.
            (0..).zip(spheres).for_each(|(id, sphere)| visitors[number].see(&input[number], id, sphere));
        } else {
            octants[aimed.octant()].push(StreamRay::start(number));
        }
    }
    pending.clear();
    pending.resize(rays.len(), Pending::NONE);
    // One list of all rays a box, a level.
    let room = rays.len() * WIDTH * planted.tree.depth;
    if lists.len() < room {
        *lists = vec![0; room];
    }
    let mut walk = Walk { planted, spheres, input, visitors, rays, rulers, pending, survivors };
    for (octant, list) in octants.iter().enumerate().filter(|(_, list)| !list.is_empty()) {
        walk.node(0, octant, list, lists);
    }
    walk.settle_all(last, seen);
}

impl<V: Visitor> Walk<'_, V> {
    /// As deep as the tree is.
    fn node(&mut self, node: usize, octant: usize, list: &[Entry], lists: &mut [Entry]) {
        let node = &self.planted.tree.nodes[node];
        let (out, rest) = lists.split_at_mut(WIDTH * list.len());
        let mut lengths = [0; WIDTH];
        self.planted.level.enter_boxes(node, octant, self.rays, list, out, &mut lengths);
        let mut order = node.order[octant];
        for _ in 0..WIDTH {
            let place = (order & 7) as usize;
            order >>= 3;
            if lengths[place] > 0 {
                let list = &out[place * list.len()..][..lengths[place]];
                self.child(node.children[place], octant, list, rest);
            }
        }
    }

    fn child(&mut self, child: Child, octant: usize, list: &[Entry], lists: &mut [Entry]) {
        match child.kind() {
            Kind::Node(number) => self.node(number, octant, list, lists),
            Kind::Leaf(number) => self.leaf(number, list),
            Kind::Nothing => {}
        }
    }

    fn leaf(&mut self, number: usize, list: &[Entry]) {
        self.survivors.clear();
        self.planted.level.meet_leaf(&self.planted.tree.leaves[number], number, self.rays, list, self.survivors);
        for i in 0..self.survivors.len() {
            let Survivor { ray, slot, low, high } = self.survivors[i];
            let ray = ray as usize;
            if low > self.rays[ray].far {
                continue;
            }
            if high == f32::INFINITY {
                self.see(ray, slot);
            } else if self.visitors[ray].certain() {
                self.rays[ray].settle();
            } else {
                self.rays[ray].narrow(high);
                self.later(ray, slot, low);
            }
        }
    }

    /// Keeps a sphere until more is known.
    fn later(&mut self, ray: usize, slot: u32, low: f32) {
        let far = self.rays[ray].far;
        let pending = &mut self.pending[ray];
        if pending.count == PENDING {
            let mut kept = 0;
            for i in 0..PENDING {
                if pending.spheres[i].1 <= far {
                    pending.spheres[kept] = pending.spheres[i];
                    kept += 1;
                }
            }
            pending.count = kept;
        }
        if pending.count == PENDING {
            self.settle(ray);
        }
        let pending = &mut self.pending[ray];
        pending.spheres[pending.count] = (slot, low);
        pending.count += 1;
    }

    /// Shows the visitor what is left of what was kept.
    fn settle(&mut self, ray: usize) {
        for i in 0..std::mem::take(&mut self.pending[ray].count) {
            let (slot, low) = self.pending[ray].spheres[i];
            if low <= self.rays[ray].far {
                self.see(ray, slot);
            }
        }
    }

    /// The same for all rays. The spheres are fetched first, all at once: one by one, each would be waited for.
    fn settle_all(&mut self, last: &mut Vec<(u32, u32)>, seen: &mut Vec<(u32, Sphere)>) {
        last.clear();
        for (number, (pending, ray)) in (0..).zip(self.pending.iter().zip(self.rays.iter())) {
            let spheres = &pending.spheres[..pending.count];
            last.extend(spheres.iter().filter(|(_, low)| *low <= ray.far).map(|(slot, _)| (number, *slot)));
        }
        let ids = self.planted.tree.ids.as_flattened();
        last.iter_mut().for_each(|(_, slot)| *slot = ids[*slot as usize]);
        seen.clear();
        seen.extend(last.iter().map(|&(number, id)| (number, self.spheres[id as usize])));
        for ((number, sphere), (_, id)) in seen.iter().zip(last.iter()) {
            let number = *number as usize;
            self.visitors[number].see(&self.input[number], *id, sphere);
        }
    }

    fn see(&mut self, number: usize, slot: u32) {
        let id = self.planted.tree.ids.as_flattened()[slot as usize];
        let Some(sphere) = self.spheres.get(id as usize) else { return };
        let (ray, visitor, aimed) = (&self.input[number], &mut self.visitors[number], &mut self.rays[number]);
        visitor.see(ray, id, sphere);
        match visitor.counts(ray) {
            Some(counts) => aimed.narrow(self.rulers[number].far(counts)),
            None => aimed.settle(),
        }
    }
}

#[cfg(test)]
#[path = "walk_tests.rs"]
mod tests;
