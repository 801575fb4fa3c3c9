//! View of a scene for candidate searches: its spheres, their attributes, and the acceleration structure.

use super::accel::Accel;
use super::collector::HitCollector;
use crate::batch::sphere_set::SphereAttributes;
use crate::intersect::motion::Target;
use crate::records::{Ray, RayAttributes, Sphere};
use crate::runtime::prefetch::prefetch;

/// A borrowed scene.
#[derive(Clone, Copy)]
pub(crate) struct SceneView<'a> {
    pub(crate) spheres: &'a [Sphere],
    pub(crate) attributes: &'a SphereAttributes,
    pub(crate) accel: &'a Accel,
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

    /// Prefetches a sphere and its attributes.
    pub(crate) fn prefetch(&self, id: u32) {
        let (id, SphereAttributes { velocities, maps, .. }) = (id as usize, self.attributes);
        self.spheres.get(id).into_iter().for_each(prefetch);
        velocities.iter().filter_map(|velocities| velocities.get(id)).for_each(prefetch);
        maps.iter().filter_map(|maps| maps.get(id)).for_each(prefetch);
    }

    /// Whether a ray with these attributes may hit a sphere.
    #[inline(always)]
    pub(crate) fn admits(&self, attributes: &RayAttributes, id: u32) -> bool {
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
