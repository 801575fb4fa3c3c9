//! One ray and one sphere: no device, the same solve, at once.

use glam::{DVec3, Vec3};

use crate::cpu::decide::Roots;
use crate::cpu::{Against, CpuQuery, Found, round_roots};
use crate::error::Result;
use crate::exact::ExactRoots;
use crate::query::{Precision, Query, check_ray, check_sphere};
use crate::records::{Approach, Hit, Ray, Sphere};

impl Ray {
    fn ask<T: CpuQuery>(&self, sphere: &Sphere, query: &Query) -> Option<T> {
        if check_ray(0, self).is_err() || check_sphere(0, sphere).is_err() {
            return None;
        }
        let Found { answer, .. } = T::find(self, Against::One(0, sphere), query);
        Some(answer)
    }

    /// Where the ray meets the sphere, with id 0; `None` when it does not, or when either of them cannot be used
    /// (see [`Ray::check`]).
    pub fn hit(&self, sphere: &Sphere, query: &Query) -> Option<Hit> {
        self.ask::<Hit>(sphere, query).filter(Hit::is_hit)
    }

    /// Both roots of the whole line, correctly rounded, whatever the ray's ends: equal when the line is tangent, `None` when
    /// it passes by or either of them cannot be used.
    pub fn roots(&self, sphere: &Sphere) -> Option<(f32, f32)> {
        if check_ray(0, self).is_err() || check_sphere(0, sphere).is_err() {
            return None;
        }
        let crosses = ExactRoots::new(self, sphere).crossing()?.is_ge();
        crosses.then(|| round_roots(self, sphere))
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

impl Hit {
    /// The point that was met, on the sphere's surface: from the foot of the perpendicular, in f64, not from
    /// `origin + t · direction`, which loses the digits of a small sphere far away. A hit inside the ball (`inside = enter`)
    /// gives the ray's own point.
    pub fn point(&self, ray: &Ray, sphere: &Sphere) -> Vec3 {
        let (offset, on_surface) = offset(self, ray, sphere);
        if on_surface { (sphere.center.as_dvec3() + offset).as_vec3() } else { ray.point_at(self.t) }
    }

    /// The outward unit normal at the point that was met; zero at the centre, or for a radius of 0.
    pub fn normal(&self, ray: &Ray, sphere: &Sphere) -> Vec3 {
        offset(self, ray, sphere).0.normalize_or_zero().as_vec3()
    }
}

/// From the centre to the point met, and whether that lies on the surface.
fn offset(hit: &Hit, ray: &Ray, sphere: &Sphere) -> (DVec3, bool) {
    let (d, e) = (ray.direction.as_dvec3(), sphere.center.as_dvec3() - ray.origin.as_dvec3());
    let r = f64::from(sphere.radius);
    let foot = e.dot(d) / d.length_squared();
    let p = e - foot * d;
    let half = ((r - p.length()) * (r + p.length())).max(0.0).sqrt();
    let t = f64::from(hit.t);
    let along = (t - foot) * d.length();
    // Nearer to one of the two ends of the chord than f32 can tell: on the surface.
    let tolerance = (t.abs() * d.length() + half) * 1e-6 + r * 1e-6;
    if (along.abs() - half).abs() <= tolerance {
        let q = -p + d.normalize() * half.copysign(along);
        let length = q.length();
        (if length > 0.0 { q * (r / length) } else { q }, true)
    } else {
        (t * d - e, false)
    }
}
