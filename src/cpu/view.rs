//! A scene as traversals see it: its spheres, their attributes, and how they are found.

use super::accel::Index;
use super::collector::Visitor;
use crate::batch::sphere_set::Columns;
use crate::intersect::motion::Target;
use crate::records::{Extra, Ray, Sphere};
use crate::runtime::prefetch::fetch;

/// A scene as a sweep needs it.
#[derive(Clone, Copy)]
pub(crate) struct Spheres<'a> {
    pub(crate) spheres: &'a [Sphere],
    pub(crate) columns: &'a Columns,
    pub(crate) index: &'a Index,
}

impl<'a> Spheres<'a> {
    /// A sphere as a ray sees it that brings something along.
    #[inline(always)]
    pub(crate) fn target(&self, id: u32, extra: Option<&Extra>) -> Option<Target<'a>> {
        let sphere = self.spheres.get(id as usize)?;
        let Columns { velocities, maps, .. } = self.columns;
        let velocity = velocities.as_ref().map(|velocities| velocities[id as usize]);
        let map = maps.as_ref().map(|maps| &maps[id as usize]);
        Some(extra.map_or(Target::at_rest(sphere), |extra| Target::new(sphere, velocity, map, extra)))
    }

    /// Brings a sphere into the cache, and what is beside it.
    pub(crate) fn fetch(&self, id: u32) {
        let (id, Columns { velocities, maps, .. }) = (id as usize, self.columns);
        self.spheres.get(id).into_iter().for_each(fetch);
        velocities.iter().filter_map(|velocities| velocities.get(id)).for_each(fetch);
        maps.iter().filter_map(|maps| maps.get(id)).for_each(fetch);
    }

    /// Whether a ray that brings this along may meet a sphere.
    #[inline(always)]
    pub(crate) fn admits(&self, extra: &Extra, id: u32) -> bool {
        extra.admits(self.columns.masks.as_ref().map_or(u32::MAX, |masks| masks[id as usize]), id)
    }

    /// Shows one visitor every sphere that is for its ray.
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
