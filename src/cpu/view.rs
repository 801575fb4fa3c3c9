//! View of a scene for candidate searches: its spheres, their attributes, and the acceleration structure.

use super::accel::Index;
use super::collector::Visitor;
use crate::batch::sphere_set::Columns;
use crate::intersect::motion::Target;
use crate::records::{Extra, Ray, Sphere};
use crate::runtime::prefetch::fetch;

/// A borrowed scene.
#[derive(Clone, Copy)]
pub(crate) struct Spheres<'a> {
    pub(crate) spheres: &'a [Sphere],
    pub(crate) columns: &'a Columns,
    pub(crate) index: &'a Index,
}

impl<'a> Spheres<'a> {
    /// A sphere with its motion and its map, for a ray with these attributes; None if there is no such id.
    #[inline(always)]
    pub(crate) fn target(&self, id: u32, extra: Option<&Extra>) -> Option<Target<'a>> {
        let sphere = self.spheres.get(id as usize)?;
        let Columns { velocities, maps, .. } = self.columns;
        let velocity = velocities.as_ref().map(|velocities| velocities[id as usize]);
        let map = maps.as_ref().map(|maps| &maps[id as usize]);
        Some(extra.map_or(Target::at_rest(sphere), |extra| Target::new(sphere, velocity, map, extra)))
    }

    /// Prefetches a sphere and its attributes.
    pub(crate) fn fetch(&self, id: u32) {
        let (id, Columns { velocities, maps, .. }) = (id as usize, self.columns);
        self.spheres.get(id).into_iter().for_each(fetch);
        velocities.iter().filter_map(|velocities| velocities.get(id)).for_each(fetch);
        maps.iter().filter_map(|maps| maps.get(id)).for_each(fetch);
    }

    /// Whether a ray with these attributes may hit a sphere.
    #[inline(always)]
    pub(crate) fn admits(&self, extra: &Extra, id: u32) -> bool {
        extra.admits(self.columns.masks.as_ref().map_or(u32::MAX, |masks| masks[id as usize]), id)
    }

    /// Passes every sphere that the ray may hit to one collector.
    pub(crate) fn show_all<V: Visitor>(&self, ray: &Ray, extra: Option<&Extra>, visitor: &mut V) {
        for id in 0..self.spheres.len() as u32 {
            if let Some(target) = self.target(id, extra)
                && extra.is_none_or(|extra| self.admits(extra, id))
            {
                visitor.see(ray, id, target);
            }
        }
    }
}
