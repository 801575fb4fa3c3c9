//! Deferred intersection tests of a stream traversal: pairs of a ray and a sphere, intersected in pair batches.

use super::certain_miss::misses;
use super::packet::PACKET_RAYS;
use super::ray_setup::PreparedRay;
use super::stream::{STREAM_RAYS, StreamTraversal};
use crate::cpu::accel::CpuBvh;
use crate::cpu::collector::HitCollector;
use crate::intersect::motion::Target;
use crate::intersect::sphere_soa::{BATCH_WIDTH, PairBatch};
use crate::records::{Ray, RayAttributes, Sphere};

/// Number of deferred certain hits at which they are intersected before the end of the traversal, so that memory is bounded if all spheres
/// overlap.
pub(crate) const MAX_DEFERRED: usize = 4 * STREAM_RAYS;

/// Position in scaled units beyond which every hit of a ray has a larger `t`.
pub(super) fn far_after(
    bvh: &CpuBvh,
    prepared: &PreparedRay,
    ray: &Ray,
    attributes: Option<&RayAttributes>,
    t: f32,
) -> f32 {
    if ray.t_min >= 0.0 {
        return prepared.far_after(ray.t_min, t);
    }
    let mut parameter = bvh.frame.parameter(ray);
    if let Some(attributes) = attributes {
        parameter.grow(bvh.frame.inflation(ray, attributes).axial);
    }
    parameter.far(t)
}

impl<V: HitCollector> StreamTraversal<'_, V> {
    /// Intersects the undecided pairs. The results may shorten the segments of their rays for the rest of the traversal.
    pub(crate) fn intersect_undecided(&mut self) {
        let mut pairs = std::mem::take(self.undecided);
        self.reject_ellipsoids(&mut pairs);
        self.intersect_pairs(&mut pairs);
        pairs.clear();
        *self.undecided = pairs;
        for i in 0..self.intersecting.changed.len() {
            let number = self.intersecting.changed[i] as usize;
            let cutoff = self.collectors[number].cutoff(&self.input[number]);
            if cutoff.is_some_and(|cutoff| cutoff >= f32::MAX) {
                continue;
            }
            let far = cutoff.map_or(f32::NEG_INFINITY, |cutoff| self.far(number, cutoff));
            if far < self.s_far[number] {
                self.s_far[number] = far;
                self.shortened += 1;
            }
        }
    }

    /// Removes the pairs whose ray certainly misses the ellipsoid, though not the ball around it.
    fn reject_ellipsoids(&self, pairs: &mut Vec<DeferredPair>) {
        if self.scene.attributes.maps.is_none() {
            return;
        }
        let slots = self.bvh.tree.ids.as_flattened();
        pairs.iter().for_each(|pair| self.scene.prefetch(slots[pair.slot as usize]));
        pairs.retain(|pair| {
            let number = pair.ray as usize;
            let target = self.scene.target(slots[pair.slot as usize], self.ray_attributes.get(number));
            pair.s_lower <= self.s_far[number] && !target.is_some_and(|target| misses(&self.input[number], &target))
        });
    }

    fn far(&mut self, number: usize, t: f32) -> f32 {
        self.complete(number / PACKET_RAYS, 1 << (number % PACKET_RAYS));
        far_after(self.bvh, &self.rays[number], &self.input[number], self.ray_attributes.get(number), t)
    }

    pub(crate) fn intersect_certain(&mut self) {
        let mut pairs = std::mem::take(self.certain);
        self.intersect_pairs(&mut pairs);
        pairs.clear();
        *self.certain = pairs;
    }

    fn intersect_moving(&mut self, pairs: &[DeferredPair]) {
        let IntersectScratch { ids, batch, changed, .. } = &mut *self.intersecting;
        changed.extend(pairs.iter().map(|pair| pair.ray));
        ids.iter().for_each(|&id| self.scene.prefetch(id));
        let target = |pair: &DeferredPair, id: u32| self.scene.target(id, self.ray_attributes.get(pair.ray as usize));
        for (pairs, ids) in pairs.chunks(BATCH_WIDTH).zip(ids.chunks(BATCH_WIDTH)) {
            for (i, (pair, &id)) in pairs.iter().zip(ids).enumerate() {
                if let Some(target) = target(pair, id) {
                    batch.set_moving(i, &self.input[pair.ray as usize], &target);
                }
            }
            batch.intersect_moving(self.bvh.level, self.precision, self.scene.attributes.maps.is_some());
            for (i, (pair, &id)) in pairs.iter().zip(ids).enumerate() {
                let Some(target) = target(pair, id) else { continue };
                let (ray, collector) = (&self.input[pair.ray as usize], &mut self.collectors[pair.ray as usize]);
                if target.keeps_distance(ray) {
                    collector.test(ray, id, target);
                } else {
                    collector.accept(ray, id, target, &batch.roots(i));
                }
            }
        }
    }

    /// Intersects the pairs that are not culled by now, passes the roots that may be hits to the collectors, and lists the rays of these. All
    /// ids are gathered first, then all spheres, so that their cache misses overlap.
    fn intersect_pairs(&mut self, pairs: &mut Vec<DeferredPair>) {
        pairs.retain(|pair| pair.s_lower <= self.s_far[pair.ray as usize]);
        let IntersectScratch { ids, spheres, batch, changed } = &mut *self.intersecting;
        let slots = self.bvh.tree.ids.as_flattened();
        changed.clear();
        ids.clear();
        ids.extend(pairs.iter().map(|pair| slots[pair.slot as usize]));
        if !V::ACCEPTS_ROOTS {
            for (pair, &id) in pairs.iter().zip(&*ids) {
                let number = pair.ray as usize;
                changed.push(pair.ray);
                if let Some(target) = self.scene.target(id, self.ray_attributes.get(number)) {
                    self.collectors[number].test(&self.input[number], id, target);
                }
            }
            return;
        }
        if !self.at_rest {
            return self.intersect_moving(pairs);
        }
        spheres.clear();
        spheres.extend(ids.iter().map(|&id| self.scene.spheres[id as usize]));
        let batches = pairs.chunks(BATCH_WIDTH).zip(ids.chunks(BATCH_WIDTH)).zip(spheres.chunks(BATCH_WIDTH));
        for ((pairs, ids), spheres) in batches {
            for (i, (pair, sphere)) in pairs.iter().zip(spheres).enumerate() {
                batch.set(i, &self.input[pair.ray as usize], sphere);
            }
            let mut hits = batch.intersect(self.bvh.level, self.precision) & (u32::MAX >> (32 - pairs.len()));
            while hits != 0 {
                let i = hits.trailing_zeros() as usize;
                hits &= hits - 1;
                let number = pairs[i].ray as usize;
                changed.push(pairs[i].ray);
                self.collectors[number].accept(
                    &self.input[number],
                    ids[i],
                    Target::at_rest(&spheres[i]),
                    &batch.roots(i),
                );
            }
        }
    }
}

/// A candidate pair of a ray and a sphere, to be intersected.
#[derive(Clone, Copy)]
pub(crate) struct DeferredPair {
    pub(crate) ray: u32,
    /// Eight times the index of the leaf, plus the lane in it.
    pub(crate) slot: u32,
    /// Position along the ray before which the sphere is not hit.
    pub(crate) s_lower: f32,
}

/// Scratch memory for intersecting pairs.
#[derive(Default)]
pub(crate) struct IntersectScratch {
    pub(crate) ids: Vec<u32>,
    pub(crate) spheres: Vec<Sphere>,
    /// Rays whose collectors received roots that may be a hit.
    pub(crate) changed: Vec<u32>,
    pub(crate) batch: PairBatch,
}
