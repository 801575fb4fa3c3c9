//! Collector of the transmittance along a ray: sums the optical depths of the spheres that it hits.

use super::all_hits::classify_fully;
use super::kind::RayQuery;
use crate::batch::sphere_set::SphereAttributes;
use crate::bvh::bvh8::node::WIDTH;
use crate::cpu::collector::{HitCollector, Resolved, Settled};
use crate::cpu::query::kinds as queries;
use crate::cpu::view::Candidates;
use crate::intersect::classify::HitClass;
use crate::intersect::motion::Target;
use crate::intersect::sphere::SphereRoots;
use crate::query::optical_depth::{OPAQUE, add_depths, transmittance};
use crate::query::policy::Query;
use crate::records::Ray;

/// Sums optical depths.
pub(crate) struct Transmittance<'a> {
    query: &'a Query,
    /// Depths of the spheres; None if all are opaque.
    depths: Option<&'a [u32]>,
    depth: u32,
    used_exact: bool,
    overflowed: bool,
}

impl Transmittance<'_> {
    #[inline]
    fn add(&mut self, id: u32) {
        self.depth = add_depths(self.depth, self.depths.map_or(OPAQUE, |depths| depths[id as usize]));
    }
}

impl HitCollector for Transmittance<'_> {
    const ACCEPTS_ROOTS: bool = true;

    fn accept(&mut self, ray: &Ray, id: u32, target: Target<'_>, solved: &SphereRoots) {
        if self.depth == OPAQUE {
            return;
        }
        let (class, _, exact) = classify_fully(ray, target, solved, self.query);
        if class == HitClass::Hit {
            self.add(id);
        }
        self.overflowed |= class == HitClass::Overflow;
        self.used_exact |= exact;
    }

    fn cutoff(&self, _: &Ray) -> Option<f32> {
        (self.depth < OPAQUE).then_some(f32::MAX)
    }

    /// The depths of certain hits are added without an intersection test.
    fn accept_certain(&mut self, ids: &[u32; WIDTH], mut certain: u32) -> Settled {
        while certain != 0 {
            self.add(ids[certain.trailing_zeros() as usize % WIDTH]);
            certain &= certain - 1;
        }
        if self.depth == OPAQUE { Settled::Everything } else { Settled::These }
    }
}

impl RayQuery for queries::Transmittance {
    type Record = f32;
    const MISS: f32 = 1.0;
    const CANNOT_BLOCK: Option<&'static str> = Some("count and transmittance");
    type Collector<'a> = Transmittance<'a>;
    #[inline]
    fn collector<'a>(query: &'a Query, attributes: &'a SphereAttributes) -> Transmittance<'a> {
        let depths = attributes.optical_depths.as_deref();
        Transmittance { query, depths, depth: 0, used_exact: false, overflowed: false }
    }
    #[inline]
    fn finish<'c>(collector: &Transmittance<'_>, _: &Ray, _: impl Fn() -> Candidates<'c>) -> Resolved<f32> {
        let &Transmittance { depth, used_exact: exact, overflowed, .. } = collector;
        Resolved { record: transmittance(depth), exact, overflowed: overflowed && depth == 0 }
    }
}
