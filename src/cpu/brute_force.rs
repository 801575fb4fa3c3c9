//! Candidate search for a batch of rays: by the BVH if there is one, else by brute force over blocks of spheres, where culling marks the
//! spheres that a ray may hit and only these are intersected.

use super::accel::Accel;
use super::collector::{CandidateTest, HitCollector};
use super::cull::{self, BLOCK, Block, RayLine, RayParameter};
use super::traverse::ray_order::RayOrder;
use super::traverse::{best_first, stream};
use super::view::SceneView;
use crate::query::policy::Query;
use crate::records::{Ray, RayAttributes};

impl SceneView<'_> {
    /// Passes the candidates of every ray to its collector. `collectors` has one entry per ray. `ray_attributes` has one, too, or is empty.
    /// `order` only affects speed.
    pub(crate) fn visit_candidates<V: HitCollector>(
        &self,
        rays: &[Ray],
        ray_attributes: &[RayAttributes],
        collectors: &mut [V],
        query: &Query,
        order: RayOrder,
    ) {
        let precision = query.precision;
        self.visit_starts(rays, ray_attributes, collectors);
        let Self { spheres, accel: index, .. } = *self;
        let columns = match index {
            Accel::Blocks(columns) => columns,
            Accel::Bvh(bvh) if V::CANDIDATES == CandidateTest::Hits => {
                return stream::traverse(bvh, *self, rays, ray_attributes, collectors, query, order);
            }
            Accel::Bvh(bvh) => {
                for (i, (ray, collector)) in rays.iter().zip(collectors).enumerate() {
                    if spheres.len() <= V::CANDIDATES.max_unculled() {
                        self.visit_all(ray, ray_attributes.get(i), collector);
                    } else {
                        best_first::search(bvh, *self, ray, ray_attributes.get(i), collector, precision);
                    }
                }
                return;
            }
        };
        let (mut lines, mut under) = (Vec::with_capacity(rays.len()), Vec::with_capacity(rays.len()));
        for (slot, ray) in rays.iter().enumerate() {
            let collector = &mut collectors[slot];
            if spheres.len() <= V::CANDIDATES.max_unculled() {
                self.visit_all(ray, ray_attributes.get(slot), collector);
                continue;
            }
            let Some(cutoff) = collector.cutoff(ray) else { continue };
            let (mut line, mut parameter) = columns.frame.prepare(ray, precision);
            if let Some(attributes) = ray_attributes.get(slot) {
                let by = columns.frame.inflation(ray, attributes, precision);
                line.inflate(by.lateral);
                parameter.grow(by.axial);
            }
            match V::CANDIDATES {
                CandidateTest::Hits => (line.near, line.far) = (parameter.near(ray.t_min), parameter.far(ray.t_max)),
                CandidateTest::ClosestApproach => (line.near, line.far) = parameter.ends(ray),
            }
            apply_cutoff::<V>(&mut line, &parameter, cutoff);
            lines.push(line);
            under.push(ActiveRay { slot, ray, parameter });
        }
        let mut masks = vec![0; lines.len()];
        for (block, first) in columns.blocks.iter().zip((0..).step_by(BLOCK)) {
            match V::CANDIDATES {
                CandidateTest::Hits => columns.level.cull_hits(block, &lines, &mut masks),
                CandidateTest::ClosestApproach => columns.level.cull_clearance(block, &lines, &mut masks),
            }
            // Backwards: a finished ray is replaced by the last one, which has already had its turn.
            for i in (0..lines.len()).rev() {
                let mut mask = masks[i];
                if mask == 0 {
                    continue;
                }
                if V::CANDIDATES == CandidateTest::Hits {
                    mask &= columns.level.cull_range(block, &lines[i]);
                    if mask == 0 {
                        continue;
                    }
                }
                let (line, ActiveRay { slot, ray, parameter }) = (&mut lines[i], &under[i]);
                let collector = &mut collectors[*slot];
                let mut cutoff = collector.cutoff(ray);
                while mask != 0 {
                    let id = first + mask.trailing_zeros();
                    mask &= mask - 1;
                    // The last block may have unused lanes.
                    let Some(target) = self.target(id, ray_attributes.get(*slot)) else { break };
                    if ray_attributes.get(*slot).is_some_and(|attributes| !self.admits(attributes, id)) {
                        continue;
                    }
                    collector.test(ray, id, target);
                    let before = std::mem::replace(&mut cutoff, collector.cutoff(ray));
                    if cutoff == before {
                        continue;
                    }
                    let Some(cutoff) = cutoff else { break };
                    apply_cutoff::<V>(line, parameter, cutoff);
                    if mask != 0 {
                        // An intersection test costs more than culling the whole block again.
                        mask &= retest_block::<V>(columns, block, line);
                    }
                }
                if cutoff.is_none() {
                    lines.swap_remove(i);
                    under.swap_remove(i);
                }
            }
            if lines.is_empty() {
                break;
            }
        }
    }
}

/// A ray that still has candidates: the index of its collector, its record, and its `RayParameter`.
struct ActiveRay<'a> {
    slot: usize,
    ray: &'a Ray,
    parameter: RayParameter,
}

/// Updates the limits of a line: `cutoff` is the new limit of the collector.
fn apply_cutoff<V: HitCollector>(line: &mut RayLine, parameter: &RayParameter, cutoff: f32) {
    match V::CANDIDATES {
        CandidateTest::Hits => line.far = line.far.min(parameter.far(cutoff)),
        CandidateTest::ClosestApproach => line.limit = parameter.limit(cutoff),
    }
}

/// Culls a block again with the new limits of a line. The result is only valid together with the mask before: for hits, only the segment is
/// tested.
fn retest_block<V: HitCollector>(columns: &cull::SphereBlocks, block: &Block, line: &RayLine) -> u64 {
    match V::CANDIDATES {
        CandidateTest::Hits => columns.level.cull_range(block, line),
        CandidateTest::ClosestApproach => {
            let mut mask = [0];
            columns.level.cull_clearance(block, std::slice::from_ref(line), &mut mask);
            mask[0]
        }
    }
}

#[cfg(test)]
#[path = "brute_force_tests.rs"]
mod tests;
