//! What a ray is cast against: a scene, or one sphere of a pair.

use super::collector::Visitor;
use super::view::Spheres;
use crate::intersect::motion::Target;
use crate::query::policy::Precision;
use crate::records::{Extra, Ray};

/// What a ray is cast against.
#[derive(Clone, Copy)]
pub(crate) enum Against<'a> {
    /// Every sphere of a scene that is for the ray.
    Scene(Spheres<'a>, Extra),
    /// One sphere and its id.
    One(u32, Target<'a>),
}

impl Against<'_> {
    /// Shows the visitor of one ray what it wants.
    pub(crate) fn show<V: Visitor>(self, ray: &Ray, mut visitor: V, precision: Precision) -> V {
        self.show_to(ray, &mut visitor, precision);
        visitor
    }

    /// The same for one that stays where it is.
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
