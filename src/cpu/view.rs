//! View of a scene for candidate searches: its spheres, their attributes, and its BVH; and the search for the candidates of rays.

use std::cmp::Ordering;
use std::sync::OnceLock;

use super::accel::CpuBvh;
use super::collector::HitCollector;
use super::traverse::certain_miss::{GROUP, misses};
use super::traverse::ray_order::RayOrder;
use super::traverse::{best_first, one_ray, stream};
use super::twins::Twins;
use crate::batch::sphere_set::SphereAttributes;
use crate::intersect::motion::Target;
use crate::intersect::surface::SurfaceRoots;
use crate::math::simd::level::SimdLevel;
use crate::query::policy::Query;
use crate::records::{NO_SPHERE, Ray, RayAttributes, Sphere};
use crate::runtime::prefetch::prefetch;

/// Minimum number of spheres for which a search for the closest approach is faster than a test of all.
const APPROACH_FROM: usize = 5;

/// A borrowed scene.
#[derive(Clone, Copy)]
pub(crate) struct SceneView<'a> {
    pub(crate) spheres: &'a [Sphere],
    pub(crate) attributes: &'a SphereAttributes,
    /// Without it, every sphere is tested.
    pub(crate) bvh: Option<&'a CpuBvh>,
    pub(crate) twins: &'a OnceLock<Twins>,
    pub(crate) level: SimdLevel,
}

impl<'a> SceneView<'a> {
    /// A sphere with its motion and its map, for a ray with these attributes; None if there is no such id.
    #[inline(always)]
    pub(crate) fn target(&self, id: u32, attributes: Option<&RayAttributes>) -> Option<Target<'a>> {
        let sphere = self.spheres.get(id as usize)?;
        let SphereAttributes { velocities, maps, .. } = self.attributes;
        let velocity = velocities.as_ref().map(|velocities| velocities[id as usize]);
        let map = maps.as_ref().map(|maps| &maps[id as usize]);
        Some(attributes.map_or(Target::at_rest(sphere), |attributes| Target::new(sphere, velocity, map, attributes)))
    }

    /// The numbers of a sphere that decide where its surface is.
    fn numbers(&self, id: u32) -> impl PartialOrd + use<'a> {
        let SphereAttributes { velocities, maps, .. } = self.attributes;
        let (id, Sphere { center, radius }) = (id as usize, self.spheres[id as usize]);
        let velocity = velocities.as_ref().map(|velocities| velocities[id].to_array());
        let map = maps.as_ref().map(|maps| (maps[id].high, maps[id].low));
        (center.to_array(), radius, velocity, map)
    }

    /// Whether two spheres have the same surface.
    pub(crate) fn are_twins(&self, a: u32, b: u32) -> bool {
        self.numbers(a).partial_cmp(&self.numbers(b)) == Some(Ordering::Equal)
    }

    /// Whether the ray starts on the surface of this sphere.
    #[inline]
    pub(crate) fn is_start(&self, attributes: &RayAttributes, id: u32) -> bool {
        attributes.from_id != NO_SPHERE && self.are_twins(attributes.from_id, id)
    }

    /// The sphere on whose surface the ray starts, if it goes inwards.
    pub(crate) fn entered_start(&self, ray: &Ray, attributes: &RayAttributes) -> Option<Target<'a>> {
        if attributes.from_id == NO_SPHERE {
            return None;
        }
        let target = self.target(attributes.from_id, Some(attributes))?.with_surface_start();
        SurfaceRoots::new(ray, target).map(|_| target)
    }

    /// The equal spheres of the scene.
    pub(crate) fn twins(&self) -> &'a Twins {
        self.twins.get_or_init(|| Twins::of(self.spheres, |a, b| self.are_twins(a, b)))
    }

    /// Passes the spheres on whose surface a ray starts and into which it goes to its collector. The search leaves them out.
    #[cold]
    pub(crate) fn visit_start<V: HitCollector>(&self, ray: &Ray, attributes: &RayAttributes, collector: &mut V) {
        let Some(target) = self.entered_start(ray, attributes) else { return };
        for &id in self.twins().get(attributes.from_id).unwrap_or(&[attributes.from_id]) {
            if self.has_admitted_mask(attributes, id) {
                collector.test(ray, id, target);
            }
        }
    }

    /// Prefetches a sphere and its attributes.
    pub(crate) fn prefetch(&self, id: u32) {
        let (id, SphereAttributes { velocities, maps, .. }) = (id as usize, self.attributes);
        self.spheres.get(id).into_iter().for_each(prefetch);
        velocities.iter().filter_map(|velocities| velocities.get(id)).for_each(prefetch);
        maps.iter().filter_map(|maps| maps.get(id)).for_each(prefetch);
    }

    /// Whether a search may pass a sphere to the collector of a ray with these attributes.
    #[inline(always)]
    pub(crate) fn admits(&self, attributes: &RayAttributes, id: u32) -> bool {
        self.has_admitted_mask(attributes, id) && !self.is_start(attributes, id)
    }

    /// Whether mask and skipped id of a ray let it hit a sphere.
    #[inline(always)]
    fn has_admitted_mask(&self, attributes: &RayAttributes, id: u32) -> bool {
        attributes.admits(self.attributes.masks.as_ref().map_or(u32::MAX, |masks| masks[id as usize]), id)
    }

    /// Passes the candidates of at most [`STREAM_RAYS`](stream::STREAM_RAYS) rays to their collectors. `collectors` has one entry per ray.
    /// `ray_attributes` has one, too, or is empty.
    /// `order` only affects speed.
    pub(crate) fn visit_candidates<V: HitCollector>(
        &self,
        rays: &[Ray],
        ray_attributes: &[RayAttributes],
        collectors: &mut [V],
        query: &Query,
        order: RayOrder,
    ) {
        for ((ray, attributes), collector) in rays.iter().zip(ray_attributes).zip(&mut *collectors) {
            if attributes.from_id != NO_SPHERE {
                self.visit_start(ray, attributes, collector);
            }
        }
        if let (Some(bvh), false) = (self.bvh, V::IS_APPROACH) {
            return stream::traverse(bvh, *self, rays, ray_attributes, collectors, query, order);
        }
        let bvh = self.bvh.filter(|_| self.spheres.len() >= APPROACH_FROM);
        for (i, (ray, collector)) in rays.iter().zip(collectors).enumerate() {
            match bvh {
                Some(bvh) => best_first::search(bvh, *self, ray, ray_attributes.get(i), collector),
                None => self.visit_all(ray, ray_attributes.get(i), collector),
            }
        }
    }

    /// Passes every sphere that the ray may hit to one collector. Not inlined, so that its callers are.
    #[inline(never)]
    pub(crate) fn visit_all<V: HitCollector>(&self, ray: &Ray, attributes: Option<&RayAttributes>, collector: &mut V) {
        for (first, spheres) in (0..).step_by(GROUP).zip(self.spheres.chunks(GROUP)) {
            let mut left = match (V::IS_APPROACH, attributes) {
                (false, None) => self.level.possible_hits(ray, spheres),
                _ => u64::MAX >> (GROUP - spheres.len()),
            };
            while left != 0 {
                let id = first + left.trailing_zeros();
                left &= left - 1;
                let Some(target) = self.target(id, attributes) else { continue };
                let missed = || !V::IS_APPROACH && misses(ray, &target);
                if attributes.is_none_or(|attributes| self.admits(attributes, id) && !missed()) {
                    collector.test(ray, id, target);
                }
            }
        }
    }
}

/// The spheres that a ray is cast against.
#[derive(Clone, Copy)]
pub(crate) enum Candidates<'a> {
    /// Every sphere of a scene that the ray may hit, and the ray's attributes.
    Scene(SceneView<'a>, RayAttributes),
    /// One sphere and its id.
    Pair(u32, Target<'a>),
}

impl<'a> Candidates<'a> {
    /// Passes the candidates of one ray to its collector, and returns the collector.
    pub(crate) fn collect<V: HitCollector>(self, ray: &Ray, mut collector: V, query: &Query) -> V {
        self.collect_into(ray, &mut collector, query);
        collector
    }

    /// Passes the candidates of one ray to its collector. Not inlined, so that its callers are.
    #[inline(never)]
    pub(crate) fn collect_into<V: HitCollector>(self, ray: &Ray, collector: &mut V, query: &Query) {
        match self {
            Candidates::Pair(id, target) => collector.test(ray, id, target),
            Candidates::Scene(scene, attributes) => {
                let plain = scene.attributes.masks.is_none()
                    && !scene.attributes.has_motion_or_shape()
                    && attributes == RayAttributes::NONE;
                if let (Some(bvh), false) = (scene.bvh, V::IS_APPROACH) {
                    return one_ray::search(bvh, scene, ray, (!plain).then_some(&attributes), collector, query);
                }
                let picked = if plain { &[] } else { &[attributes][..] };
                let collectors = std::slice::from_mut(collector);
                scene.visit_candidates(std::slice::from_ref(ray), picked, collectors, query, RayOrder::Incoherent);
            }
        }
    }

    pub(crate) fn target(self, id: u32) -> Option<Target<'a>> {
        match self {
            Candidates::Pair(own, target) => (own == id).then_some(target),
            Candidates::Scene(scene, attributes) => {
                let target = scene.target(id, Some(&attributes))?;
                // A hit on the sphere on which the ray starts is one from inside.
                Some(if scene.is_start(&attributes, id) { target.with_surface_start() } else { target })
            }
        }
    }
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
