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
use crate::query::policy::{Precision, Query};
use crate::query::validate::{check_ray, check_sphere};
use crate::records::{Approach, Hit, Ray, Sphere};

impl Ray {
    fn cast_alone<Q: RayQuery>(&self, sphere: &Sphere, query: &Query) -> Option<Q::Record> {
        if check_ray(0, self).is_err() || check_sphere(0, sphere).is_err() {
            return None;
        }
        Some(self.resolve::<Q>(sphere, query).record)
    }

    fn resolve<Q: RayQuery>(&self, sphere: &Sphere, query: &Query) -> Resolved<Q::Record> {
        let query = Query { precision: query.precision.resolved(false), ..*query };
        Q::resolve_ray(self, Candidates::Pair(0, Target::at_rest(sphere)), &query, &SphereAttributes::NONE)
    }

    /// Computes the hit of this ray on a sphere, whose id is 0. `None` for a miss, and if ray or sphere is invalid (see [`Ray::check`],
    /// [`Sphere::check`]).
    pub fn hit(&self, sphere: &Sphere, query: &Query) -> Option<Hit> {
        self.cast_alone::<queries::Closest>(sphere, query).filter(Hit::is_hit)
    }

    /// Whether the ray misses the sphere only because `t` exceeds the largest f32. False if ray or sphere is invalid.
    pub fn exceeds_f32(&self, sphere: &Sphere, query: &Query) -> bool {
        let usable = check_ray(0, self).is_ok() && check_sphere(0, sphere).is_ok();
        usable && self.resolve::<queries::Closest>(sphere, query).overflowed
    }

    /// Computes both roots of the whole line, correctly rounded; the ray's ends are ignored. The roots of a tangent line are equal. `None`
    /// if the line misses the sphere, and if ray or sphere is invalid.
    pub fn roots(&self, sphere: &Sphere) -> Option<(f32, f32)> {
        if check_ray(0, self).is_err() || check_sphere(0, sphere).is_err() {
            return None;
        }
        let crosses = ExactRoots::new(self, sphere).discriminant_sign()?.is_ge();
        crosses.then(|| round_roots(self, Target::at_rest(sphere)))
    }

    /// Computes the closest approach of the ray to a sphere, between the ray's ends, correctly rounded. `None` if ray or sphere is invalid.
    pub fn approach(&self, sphere: &Sphere) -> Option<Approach> {
        self.cast_alone::<queries::Approach>(sphere, &Query::at(Precision::Exact))
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
