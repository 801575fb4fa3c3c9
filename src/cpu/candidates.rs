//! Candidates of a ray: the spheres of a scene, or one sphere in a pairwise scene.

use super::collector::HitCollector;
use super::traverse::ray_order::RayOrder;
use super::view::SceneView;
use crate::intersect::motion::Target;
use crate::query::policy::Query;
use crate::records::{Ray, RayAttributes};

/// The spheres that a ray is cast against.
#[derive(Clone, Copy)]
pub(crate) enum Candidates<'a> {
    /// Every sphere of a scene that the ray may hit, and the ray's attributes.
    Scene(SceneView<'a>, RayAttributes),
    /// One sphere and its id.
    Pair(u32, Target<'a>),
}

impl Candidates<'_> {
    /// Passes the candidates of one ray to its collector, and returns the collector.
    pub(crate) fn collect<V: HitCollector>(self, ray: &Ray, mut collector: V, query: &Query) -> V {
        self.collect_into(ray, &mut collector, query);
        collector
    }

    /// Passes the candidates of one ray to its collector.
    pub(crate) fn collect_into<V: HitCollector>(self, ray: &Ray, collector: &mut V, query: &Query) {
        match self {
            Candidates::Pair(id, target) => collector.test(ray, id, target),
            Candidates::Scene(scene, attributes) => {
                let plain = scene.attributes.masks.is_none()
                    && !scene.attributes.has_motion_or_shape()
                    && attributes == RayAttributes::NONE;
                let picked = if plain { &[] } else { &[attributes][..] };
                scene.visit_candidates(
                    std::slice::from_ref(ray),
                    picked,
                    std::slice::from_mut(collector),
                    query,
                    RayOrder::Incoherent,
                );
            }
        }
    }

    pub(crate) fn target(&self, id: u32) -> Option<Target<'_>> {
        match self {
            Candidates::Pair(own, target) => (*own == id).then_some(*target),
            Candidates::Scene(scene, attributes) => {
                let target = scene.target(id, Some(attributes))?;
                // A hit on the sphere on which the ray starts is one from inside.
                Some(if scene.is_start(attributes, id) { target.with_surface_start() } else { target })
            }
        }
    }
}
