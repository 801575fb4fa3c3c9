//! View of a scene for candidate searches: its spheres, their attributes, and the acceleration structure.

use std::cmp::Ordering;
use std::sync::OnceLock;

use super::accel::Accel;
use super::collector::HitCollector;
use super::twins::Twins;
use crate::batch::sphere_set::SphereAttributes;
use crate::intersect::motion::Target;
use crate::intersect::surface::SurfaceRoots;
use crate::records::{NO_SPHERE, Ray, RayAttributes, Sphere};
use crate::runtime::prefetch::prefetch;

/// A borrowed scene.
#[derive(Clone, Copy)]
pub(crate) struct SceneView<'a> {
    pub(crate) spheres: &'a [Sphere],
    pub(crate) attributes: &'a SphereAttributes,
    pub(crate) accel: &'a Accel,
    pub(crate) twins: &'a OnceLock<Twins>,
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
    fn visit_start<V: HitCollector>(&self, ray: &Ray, attributes: &RayAttributes, collector: &mut V) {
        let Some(target) = self.entered_start(ray, attributes) else { return };
        for &id in self.twins().get(attributes.from_id).unwrap_or(&[attributes.from_id]) {
            if self.has_admitted_mask(attributes, id) {
                collector.test(ray, id, target);
            }
        }
    }

    /// Calls [`visit_start`](Self::visit_start) for each ray.
    pub(crate) fn visit_starts<V: HitCollector>(
        &self,
        rays: &[Ray],
        ray_attributes: &[RayAttributes],
        collectors: &mut [V],
    ) {
        for ((ray, attributes), collector) in rays.iter().zip(ray_attributes).zip(collectors) {
            if attributes.from_id != NO_SPHERE {
                self.visit_start(ray, attributes, collector);
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

    /// Passes every sphere that the ray may hit to one collector.
    pub(crate) fn visit_all<V: HitCollector>(&self, ray: &Ray, attributes: Option<&RayAttributes>, collector: &mut V) {
        for id in 0..self.spheres.len() as u32 {
            if let Some(target) = self.target(id, attributes)
                && attributes.is_none_or(|attributes| self.admits(attributes, id))
            {
                collector.test(ray, id, target);
            }
        }
    }
}
