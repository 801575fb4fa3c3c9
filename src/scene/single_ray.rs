//! Queries of one ray and one sphere, on the calling thread and without a device. The intersection is the same as in a scene.

use glam::Vec3;

use crate::batch::sphere_set::SphereAttributes;
use crate::cpu::collector::Resolved;
use crate::cpu::query::kind::RayQuery;
use crate::cpu::query::kinds as queries;
use crate::cpu::view::Candidates;
use crate::error::Result;
use crate::intersect::classify::Roots;
use crate::intersect::exact::ExactRoots;
use crate::intersect::motion::Target;
use crate::intersect::resolve::round_roots;
use crate::query::policy::{Near, Precision, Query};
use crate::query::validate::{check_ray, check_sphere};
use crate::records::{Approach, Hit, Ray, Sphere};

impl Ray {
    /// `None` if ray or sphere is invalid.
    fn resolve<Q: RayQuery>(&self, sphere: &Sphere, query: &Query) -> Option<Resolved<Q::Record>> {
        check_ray(0, self).and(check_sphere(0, sphere)).ok()?;
        let query = Query { precision: query.precision.resolved(false), ..*query };
        Some(Q::resolve_ray(self, Candidates::Pair(0, Target::at_rest(sphere)), &query, &SphereAttributes::NONE))
    }

    /// Computes the hit of this ray on a sphere, whose id is 0. `None` for a miss, and if ray or sphere is invalid (see [`Ray::check`],
    /// [`Sphere::check`]).
    pub fn hit(&self, sphere: &Sphere, query: &Query) -> Option<Hit> {
        let hit = |ray: Self, query: &Query| {
            ray.resolve::<queries::Closest>(sphere, query).map(|found| found.record).filter(Hit::is_hit)
        };
        let is_blocked = query.near == Near::Block && hit(self.to_start(), &query.before_start()).is_some();
        if is_blocked { None } else { hit(*self, query) }
    }

    /// Whether the ray misses the sphere only because `t` exceeds the largest f32. False if ray or sphere is invalid.
    pub fn exceeds_f32(&self, sphere: &Sphere, query: &Query) -> bool {
        self.resolve::<queries::Closest>(sphere, query).is_some_and(|found| found.overflowed)
    }

    /// Computes both roots of the whole line, correctly rounded; the ray's ends are ignored. The roots of a tangent line are equal. `None`
    /// if the line misses the sphere, and if ray or sphere is invalid.
    pub fn roots(&self, sphere: &Sphere) -> Option<(f32, f32)> {
        check_ray(0, self).and(check_sphere(0, sphere)).ok()?;
        let crosses = ExactRoots::new(self, sphere).discriminant_sign()?.is_ge();
        crosses.then(|| round_roots(self, Target::at_rest(sphere)))
    }

    /// Computes the closest approach of the ray to a sphere, between the ray's ends, correctly rounded. `None` if ray or sphere is invalid.
    pub fn approach(&self, sphere: &Sphere) -> Option<Approach> {
        self.resolve::<queries::Approach>(sphere, &Query::at(Precision::Exact)).map(|found| found.record)
    }

    /// Checks that the ray is valid: see `check_ray`.
    ///
    /// # Errors
    /// [`Error::BadRecord`](crate::Error::BadRecord) with index 0, the field and the value.
    pub fn check(&self) -> Result<()> {
        check_ray(0, self)
    }
}

impl Sphere {
    /// Whether the closed ball contains the point, decided exactly. False if the point is not finite, or if the sphere is invalid.
    pub fn contains(&self, point: impl Into<Vec3>) -> bool {
        let ray = Ray::new(point, [1.0, 0.0, 0.0]);
        check_sphere(0, self).is_ok() && ray.check().is_ok() && ExactRoots::new(&ray, self).origin_side().is_le()
    }

    /// Checks that the sphere is valid: see `check_sphere`.
    ///
    /// # Errors
    /// [`Error::BadRecord`](crate::Error::BadRecord) with index 0, the field and the value.
    pub fn check(&self) -> Result<()> {
        check_sphere(0, self)
    }
}
