//! Visits of leaves: the leaf test, and what collectors receive from it.

use super::deferred::MAX_DEFERRED;
use super::kernels::LeafHits;
use super::packet::ActiveRays;
use super::pairs::DeferredPair;
use super::stream::StreamTraversal;
use crate::bvh::bvh8::node::WIDTH;
use crate::cpu::accel::CpuBvh;
use crate::cpu::collector::{HitCollector, Settled};
use crate::intersect::sphere_soa::BATCH_WIDTH;
use crate::records::{NO_SPHERE, RayAttributes};

impl<V: HitCollector> StreamTraversal<'_, V> {
    /// Takes notice of some leaf tests, `found` of which found candidates, and chooses how later ones proceed.
    fn adapt_rules(&mut self, tested: usize, found: usize) {
        let [all, candidates] = &mut self.tests;
        (*all, *candidates) = (*all + tested, *candidates + found);
        self.rules.select = 5 * *candidates < 2 * *all;
        if *all > 1024 {
            (*all, *candidates) = (*all / 2, *candidates / 2);
        }
    }

    /// Tests a list of rays against a leaf.
    pub(crate) fn leaf(&mut self, number: usize, list: &[u32]) {
        let leaf = &self.bvh.tree.leaves[number];
        let CpuBvh { level, inner_radii: inner, .. } = self.bvh;
        let count = match (self.moving_leaves, inner) {
            (Some(moving_leaf), _) if self.moves_with_ray => {
                level.cull_passing_leaf(&moving_leaf[number], self.rays, self.s_far, list, self.leaf_hits)
            }
            (Some(moving_leaf), _) => {
                level.cull_moved_leaf(&moving_leaf[number], self.rays, self.s_far, list, self.leaf_hits)
            }
            (_, Some(inner)) => {
                level.cull_swept_leaf(leaf, &inner[number], self.rays, self.s_far, list, self.leaf_hits)
            }
            _ => level.cull_leaf(leaf, self.rays, self.s_far, list, self.rules, self.leaf_hits),
        };
        self.finish_leaf(number, list.len(), count);
    }

    /// Tests the active rays of a packet against a leaf. Spheres of packets are at rest.
    pub(crate) fn packet_leaf(&mut self, number: usize, active: ActiveRays) {
        let Self { bvh, rays, s_far, rules, leaf_hits, .. } = self;
        let leaf = &bvh.tree.leaves[number];
        let count = bvh.level.cull_packet_leaf(leaf, rays, s_far, active, *rules, leaf_hits);
        self.finish_leaf(number, active.mask.count_ones() as usize, count);
    }

    /// Takes notice of a leaf test of `tested` rays, of which `found` have candidates.
    fn finish_leaf(&mut self, number: usize, tested: usize, found: usize) {
        self.visits.leaves += tested as u64;
        self.adapt_rules(tested, found);
        for entry in 0..found {
            self.take_leaf_hit(number, entry);
        }
        self.intersect_if_many();
    }

    /// Passes an entry of `leaf_hits` to its collector.
    #[inline(always)]
    pub(crate) fn take_leaf_hit(&mut self, number: usize, entry: usize) {
        let ids = &self.bvh.tree.ids[number];
        let LeafHits { ray, candidates, certain, low, high } = &self.leaf_hits[entry];
        let number_of = |k: u32| (number * WIDTH) as u32 + k;
        let (mut left, mut certain) = (*candidates, *certain);
        if let Some(attributes) = self.ray_attributes.get(*ray as usize) {
            left &= self.admitted_lanes(attributes, number);
            certain &= left;
        }
        let (collector, far) = (&mut self.collectors[*ray as usize], &mut self.s_far[*ray as usize]);
        if certain != 0 {
            match collector.accept_certain(ids, certain) {
                Settled::Nothing => {}
                Settled::These => left &= !certain,
                Settled::Everything => {
                    *far = f32::NEG_INFINITY;
                    self.shortened += 1;
                    return;
                }
            }
        }
        while left != 0 {
            let k = left.trailing_zeros();
            left &= left - 1;
            let pair = DeferredPair { ray: *ray, slot: number_of(k), s_lower: low[k as usize % WIDTH] };
            if certain >> k & 1 == 0 {
                self.undecided.push(pair);
            } else if pair.s_lower <= *far {
                let shorter = collector.shorten(*far, high[k as usize % WIDTH]);
                self.shortened += usize::from(shorter < *far);
                *far = shorter;
                self.certain.push(pair);
            }
        }
    }

    /// Intersects the deferred pairs if there are many.
    pub(crate) fn intersect_if_many(&mut self) {
        if self.undecided.len() >= BATCH_WIDTH {
            self.intersect_undecided();
        }
        if self.certain.len() >= MAX_DEFERRED {
            self.intersect_certain();
        }
    }

    /// Mask of a leaf's spheres that the ray may hit according to its attributes.
    fn admitted_lanes(&self, attributes: &RayAttributes, leaf: usize) -> u32 {
        let mut admitted = u32::MAX;
        if let Some(masks) = &self.bvh.masks {
            admitted = lane_mask(&masks[leaf], |mask| mask & attributes.mask != 0);
        } else if attributes.mask == 0 {
            return 0;
        }
        // Neither of them: `NO_SPHERE` has all bits.
        if attributes.skip_id & attributes.from_id == NO_SPHERE {
            return admitted;
        }
        if attributes.from_id != NO_SPHERE {
            admitted &= self.lanes_without_start(attributes, leaf);
        }
        admitted & lane_mask(&self.bvh.tree.ids[leaf], |id| id != attributes.skip_id)
    }

    /// Mask of a leaf's spheres on whose surfaces the ray does not start. Few batches have such rays: inlined, it would make others slower.
    #[cold]
    fn lanes_without_start(&self, attributes: &RayAttributes, leaf: usize) -> u32 {
        let is_sphere = |id: u32| (id as usize) < self.scene.spheres.len();
        lane_mask(&self.bvh.tree.ids[leaf], |id| is_sphere(id) && !self.scene.is_start(attributes, id))
    }
}

/// Mask of the words for which `holds` is true. The compiler makes a few vector instructions of it.
#[inline(always)]
fn lane_mask(words: &[u32; WIDTH], holds: impl Fn(u32) -> bool) -> u32 {
    let bits: [u32; WIDTH] = std::array::from_fn(|k| if holds(words[k]) { 1 << k } else { 0 });
    bits.iter().fold(0, |all, bit| all | bit)
}
