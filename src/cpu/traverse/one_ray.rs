//! Search of one ray on the calling thread: it has no stream, so it allocates nothing, and it waits for no other ray.
//!
//! Candidates are intersected at the end, when most of them lie behind a certain hit.

use std::cell::RefCell;

use super::deferred::far_after;
use super::leaf::{AnyLeaves, LeafHits, StartInside, admitted_lanes};
use super::single::{ChildStack, END};
use super::stream::prepare_attributes;
use crate::bvh::bvh8::node::WIDTH;
use crate::cpu::accel::CpuBvh;
use crate::cpu::collector::{HitCollector, Settled};
use crate::cpu::view::SceneView;
use crate::query::policy::Query;
use crate::records::{NO_SPHERE, Ray, RayAttributes};

/// Candidates that wait for their intersection.
const MAX_WAITING: usize = 16;

thread_local! {
    static STACK: RefCell<ChildStack> = const { RefCell::new(ChildStack::EMPTY) };
}

/// The candidates of a ray that are not intersected yet.
struct Waiting {
    /// Position along the ray before which the sphere is not hit, and the id of the sphere.
    pairs: [(f32, u32); MAX_WAITING],
    count: usize,
}

/// Passes the spheres that a ray may hit to its collector.
pub(crate) fn search<V: HitCollector>(
    bvh: &CpuBvh,
    scene: SceneView<'_>,
    ray: &Ray,
    attributes: Option<&RayAttributes>,
    collector: &mut V,
    query: &Query,
) {
    let mut prepared = bvh.level.prepare_ray(&bvh.frame, ray);
    if let Some(attributes) = attributes {
        if attributes.from_id != NO_SPHERE {
            scene.visit_start(ray, attributes, collector);
            if collector.cutoff(ray).is_none() {
                return;
            }
        }
        prepare_attributes(bvh, &mut prepared, ray, attributes);
    }
    if prepared.margin == f32::INFINITY {
        // From so far away everything may be hit.
        return scene.visit_all(ray, attributes, collector);
    }
    let leaves = AnyLeaves { bvh, moves_with_ray: attributes.is_some_and(|own| own.moves_with_ray != 0) };
    // Positions in the scene lie within ±2 √3. Only a ray that begins there can begin inside a sphere.
    let inside = if prepared.begin.abs() < 4.0 { StartInside::of(query) } else { StartInside::Undecided };
    let mut far = prepared.far;
    let mut waiting = Waiting { pairs: [(0.0, 0); MAX_WAITING], count: 0 };
    let mut hits = LeafHits::NONE;
    STACK.with_borrow_mut(|stack| {
        stack.inside = inside;
        stack.start(0);
        loop {
            let leaf = bvh.level.next_leaf(&leaves, &prepared, far, stack, &mut hits);
            if leaf == END {
                return;
            }
            let leaf = leaf as usize;
            let (mut left, mut certain) = (hits.candidates, hits.certain);
            if let Some(attributes) = attributes {
                left &= admitted_lanes(bvh, scene, attributes, leaf);
                certain &= left;
            }
            if certain != 0 {
                match collector.accept_certain(&bvh.tree.ids[leaf], certain) {
                    Settled::Nothing => {}
                    Settled::These => left &= !certain,
                    Settled::Everything => {
                        waiting.count = 0;
                        return;
                    }
                }
            }
            while left != 0 {
                let k = left.trailing_zeros() as usize % WIDTH;
                left &= left - 1;
                if hits.low[k] > far {
                    continue;
                }
                if certain >> k & 1 == 1 {
                    far = collector.shorten(far, hits.high[k]);
                }
                if waiting.count == MAX_WAITING {
                    waiting.intersect(scene, ray, attributes, collector, far);
                    match collector.cutoff(ray) {
                        None => return,
                        Some(t) if t < f32::MAX => far = far.min(far_after(bvh, &prepared, ray, attributes, t)),
                        Some(_) => {}
                    }
                }
                let id = bvh.tree.ids[leaf][k];
                scene.prefetch(id);
                waiting.pairs[waiting.count] = (hits.low[k], id);
                waiting.count += 1;
            }
        }
    });
    waiting.intersect(scene, ray, attributes, collector, far);
}

impl Waiting {
    /// Intersects those that begin before `far`.
    fn intersect<V: HitCollector>(
        &mut self,
        scene: SceneView<'_>,
        ray: &Ray,
        attributes: Option<&RayAttributes>,
        collector: &mut V,
        far: f32,
    ) {
        for &(low, id) in &self.pairs[..std::mem::take(&mut self.count)] {
            if low <= far
                && let Some(target) = scene.target(id, attributes)
            {
                collector.test(ray, id, target);
            }
        }
    }
}
