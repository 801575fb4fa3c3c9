//! One ray and one sphere: no device, the same solve, at once.

use glam::Vec3;

use crate::cpu::candidates::Against;
use crate::cpu::collector::Found;
use crate::cpu::query::kind::CpuQuery;
use crate::error::Result;
use crate::intersect::classify::Roots;
use crate::intersect::exact::ExactRoots;
use crate::intersect::motion::Target;
use crate::intersect::resolve::round_roots;
use crate::query::policy::{Precision, Query};
use crate::query::validate::{check_ray, check_sphere};
use crate::records::{Approach, Hit, Ray, Sphere};

impl Ray {
    fn ask<T: CpuQuery>(&self, sphere: &Sphere, query: &Query) -> Option<T> {
        if check_ray(0, self).is_err() || check_sphere(0, sphere).is_err() {
            return None;
        }
        let Found { answer, .. } = T::find(self, Against::One(0, Target::at_rest(sphere)), query);
        Some(answer)
    }

    /// Where the ray meets the sphere, with id 0; `None` when it does not, or when either of them cannot be used
    /// (see [`Ray::check`]).
    pub fn hit(&self, sphere: &Sphere, query: &Query) -> Option<Hit> {
        self.ask::<Hit>(sphere, query).filter(Hit::is_hit)
    }

    /// Whether the ray misses the sphere only because `t` would exceed the largest f32; false when either of them cannot be used.
    pub fn exceeds_f32(&self, sphere: &Sphere, query: &Query) -> bool {
        let usable = check_ray(0, self).is_ok() && check_sphere(0, sphere).is_ok();
        usable && <Hit as CpuQuery>::find(self, Against::One(0, Target::at_rest(sphere)), query).beyond
    }

    /// Both roots of the whole line, correctly rounded, whatever the ray's ends: equal when the line is tangent, `None` when
    /// it passes by or either of them cannot be used.
    pub fn roots(&self, sphere: &Sphere) -> Option<(f32, f32)> {
        if check_ray(0, self).is_err() || check_sphere(0, sphere).is_err() {
            return None;
        }
        let crosses = ExactRoots::new(self, sphere).crossing()?.is_ge();
        crosses.then(|| round_roots(self, Target::at_rest(sphere)))
    }

    /// Where the ray passes nearest to the sphere, correctly rounded; `None` when either of them cannot be used.
    pub fn approach(&self, sphere: &Sphere) -> Option<Approach> {
        self.ask::<Approach>(sphere, &Query::at(Precision::Exact))
    }

    /// Says why the ray cannot be used, if it cannot.
    ///
    /// # Errors
    /// [`Error::BadRecord`](crate::Error::BadRecord) with index 0, the field and the value.
    pub fn check(&self) -> Result<()> {
        check_ray(0, self)
    }
}

impl Sphere {
    /// Whether the closed ball holds the point, decided exactly; false when either is not finite or the radius is negative.
    pub fn contains(&self, point: impl Into<Vec3>) -> bool {
        let ray = Ray::new(point, [1.0, 0.0, 0.0]);
        check_sphere(0, self).is_ok() && ray.check().is_ok() && ExactRoots::new(&ray, self).origin_side().is_le()
    }

    /// Says why the sphere cannot be used, if it cannot.
    ///
    /// # Errors
    /// [`Error::BadRecord`](crate::Error::BadRecord) with index 0, the field and the value.
    pub fn check(&self) -> Result<()> {
        check_sphere(0, self)
    }
}
