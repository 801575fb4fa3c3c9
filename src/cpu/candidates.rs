//! Candidates of a ray: the spheres of a scene, or one sphere in a pairwise scene.

use super::collector::Visitor;
use super::view::Spheres;
use crate::intersect::motion::Target;
use crate::query::policy::Precision;
use crate::records::{Extra, Ray};

/// The spheres that a ray is cast against.
#[derive(Clone, Copy)]
pub(crate) enum Against<'a> {
    /// Every sphere of a scene that the ray may hit, and the ray's attributes.
    Scene(Spheres<'a>, Extra),
    /// One sphere and its id.
    One(u32, Target<'a>),
}

impl Against<'_> {
    /// Passes the candidates of one ray to its collector, and returns the collector.
    pub(crate) fn show<V: Visitor>(self, ray: &Ray, mut visitor: V, precision: Precision) -> V {
        self.show_to(ray, &mut visitor, precision);
        visitor
    }

    /// Passes the candidates of one ray to its collector.
    pub(crate) fn show_to<V: Visitor>(self, ray: &Ray, visitor: &mut V, precision: Precision) {
        match self {
            Against::One(id, target) => visitor.see(ray, id, target),
            Against::Scene(scene, extra) => {
                let plain = scene.columns.masks.is_none() && !scene.columns.change() && extra == Extra::NONE;
                let picked = if plain { &[] } else { &[extra][..] };
                scene.sweep(std::slice::from_ref(ray), picked, std::slice::from_mut(visitor), precision);
            }
        }
    }

    pub(crate) fn target(&self, id: u32) -> Option<Target<'_>> {
        match self {
            Against::One(own, target) => (*own == id).then_some(*target),
            Against::Scene(scene, extra) => scene.target(id, Some(extra)),
        }
    }
}
