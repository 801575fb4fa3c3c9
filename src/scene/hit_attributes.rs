//! Attributes of a hit: point, normal, angle of incidence and distance.
//!
//! They are computed in f64 from the foot of the perpendicular from the centre to the ray's line. `origin + t · direction − center` would
//! lose digits for a small distant sphere, and would be no more accurate than `t` (Haines, Günther and Akenine-Möller, Ray Tracing Gems,
//! chapter 7). Let p be the vector from the foot to the centre, h half the chord, d̂ the unit direction and r the radius. Then the normal
//! is −(p ± h d̂)/r, and the angle has sine |p|/r and cosine ±h/r. If the sphere moves while the ray travels, all of this is relative to
//! the sphere. If the ray has a radius, it is added to r.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::scene::Scene;
use crate::batch::input::Rays;
use crate::error::{Error, Result};
use crate::intersect::motion::{RelativeMotion, Target};
use crate::intersect::surface::{PerpendicularFoot, add_subtract};
use crate::query::policy::{Query, check_same_length};
use crate::records::{Hit, Ray, Sphere};
use crate::runtime::memory::try_collect_parallel;

/// Attributes of a hit, from [`Hit::attributes`] or [`Scene::attributes`].
///
/// With u = 2⁻²⁴, E the distance from the origin to the centre, r the radius and h half the chord: point, normal and angle differ from
/// those of the exact root by at most 1.01 u of their own sizes. In addition, the direction from the centre to the point may be rotated by
/// 2⁻⁵⁰ E/h, but at most by √(2⁻⁵⁰ E/r). This is noticeable only where a ray grazes a distant sphere. The error of `t` has no influence:
/// `t` only selects the root. If a ray starts inside a ball and leaves it within one rounding of `t`, the attributes are those of its
/// start.
///
/// A moving sphere is evaluated at the ray's time or, with [`Motion::WithRay`](crate::Motion::WithRay), at the time of the root. In the
/// latter case, path and angle are relative to the sphere: along w, the ray's direction minus the sphere's velocity v. For moving spheres,
/// E is measured at the time at which `t` is 0. For rays with a radius, r includes it. With `Motion::WithRay` the point may have an
/// additional error of 2⁻⁵⁰ |v|/|w| (E + E r/h).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attributes {
    /// The hit point: on the sphere's surface, or the start of a ray that starts inside (`inside = enter`). A ray with a radius touches the
    /// sphere there. If it overlaps the sphere at its start, the point is the start, moved towards the centre by the fraction that the
    /// ray's radius has of the sum of both radii.
    pub point: Vec3,
    /// The outward unit normal at the point: away from the centre at the time of the hit. Zero at the centre, and for a radius of 0.
    pub normal: Vec3,
    /// Angle in radians between the normal and the reversed path of the ray, as seen from the sphere: 0 head on, π/2 grazing, above
    /// π/2 where the ray leaves the sphere. 0 if there is no normal, and if the distance between ray and sphere does not change.
    pub incidence_rad: f32,
    /// Distance that the ray has travelled from its origin: `t · |direction|`, also if spheres move. Negative behind the origin; infinite
    /// if it exceeds the largest f32. As accurate as `t`.
    pub distance: f32,
}

impl Attributes {
    /// Attributes of a miss: NaN, and an infinite distance.
    pub const MISS: Self =
        Self { point: Vec3::NAN, normal: Vec3::NAN, incidence_rad: f32::NAN, distance: f32::INFINITY };

    /// Computes the attributes of a hit. The sphere may move, and the ray may have a radius.
    fn of(hit: &Hit, ray: &Ray, target: &Target<'_>) -> Self {
        let sphere = target.sphere;
        let RelativeMotion { velocity, time, moves_with_ray: relative, radius, direction_low: low, .. } =
            target.motion.unwrap_or(RelativeMotion::NONE);
        let v = if relative { velocity.as_dvec3() } else { DVec3::ZERO };
        let (c, along) = (sphere.center.as_dvec3(), ray.direction.as_dvec3());
        // Exact: both factors have 24 bits.
        let moved = velocity.as_dvec3() * f64::from(time);
        let e = add_subtract(c, moved, ray.origin.as_dvec3());
        let d = add_subtract(along, low.as_dvec3(), v);
        let (own, r) = (f64::from(sphere.radius), f64::from(sphere.radius) + f64::from(radius));
        // Fraction of the vector from the centre to the point on the ray's line that is inside the sphere.
        let inward = if r > 0.0 { own / r } else { 1.0 };
        let direction_length = (along + low.as_dvec3()).length();
        let (t, length) = (f64::from(hit.t), d.length());
        // From the time of the hit, that vector, and sine and cosine of the angle of incidence, times a common factor.
        let attributes = |time: f64, offset: DVec3, sine: f64, cosine: f64| {
            let center = c + moved + if relative { time * v } else { DVec3::ZERO };
            Self {
                point: (center + inward * offset).as_vec3(),
                normal: offset.normalize_or_zero().as_vec3(),
                incidence_rad: if offset == DVec3::ZERO { 0.0 } else { sine.atan2(cosine) as f32 },
                distance: (t * direction_length) as f32,
            }
        };
        let start = f64::from(ray.t_min);
        let PerpendicularFoot { t: foot, p, half } = PerpendicularFoot::of(e, d, r);
        // A ray that starts inside a solid ball hits it at its start, however little it is inside; f64 can resolve this. The start is also
        // the hit if the distance between ray and ball does not change: then there is no foot.
        let within = (start - foot) * length + half;
        if length == 0.0 || (t == start && within > (e.length() + r) * (-48.0_f64).exp2()) {
            let offset = t * d - e;
            let cosine = if length == 0.0 { 1.0 } else { -offset.dot(d) };
            return attributes(t, offset, offset.cross(d).length(), cosine);
        }
        // `t` shows on which side of the foot the root is, unless the roots are almost equal in f32. Then it is the first root: a ray that
        // starts before it hits it under every policy.
        let sure = half * half > (1.0 / 262_144.0) * (half * t.abs() * length + r * r);
        let leaves = (sure || within > 0.0) && t > foot;
        let side = if leaves { half } else { -half };
        let offset = side * (d / length) - p;
        let reach = offset.length();
        let offset = if reach > 0.0 { offset * (r / reach) } else { offset };
        attributes(foot + side / length, offset, p.length(), -side)
    }
}

impl Hit {
    /// Computes the attributes of this hit, of `ray` on `sphere`, which is at rest. [`Attributes::MISS`] for a miss.
    ///
    /// ```
    /// use umbracast::{Query, Ray, Sphere};
    ///
    /// let (ray, sphere) = (Ray::new([0.0; 3], [2.0, 0.0, 0.0]), Sphere::new([5.0, 0.0, 0.0], 1.0));
    /// let hit = ray.hit(&sphere, &Query::default()).expect("it lies ahead");
    /// let attributes = hit.attributes(&ray, &sphere);
    /// assert_eq!(attributes.point.to_array(), [4.0, 0.0, 0.0]);
    /// assert_eq!((attributes.incidence_rad, attributes.distance), (0.0, 4.0));
    /// ```
    pub fn attributes(&self, ray: &Ray, sphere: &Sphere) -> Attributes {
        if self.is_hit() { Attributes::of(self, ray, &Target::at_rest(sphere)) } else { Attributes::MISS }
    }

    /// Computes the hit point on the sphere's surface, or the start of a ray that starts inside the ball (`inside = enter`). NaN for a
    /// miss.
    ///
    /// The point is computed in f64 from the foot of the perpendicular. `origin + t · direction` would lose the digits of a small distant
    /// sphere.
    pub fn point(&self, ray: &Ray, sphere: &Sphere) -> Vec3 {
        self.attributes(ray, sphere).point
    }

    /// Computes the outward unit normal at the hit point; zero at the centre, and for a radius of 0. NaN for a miss.
    pub fn normal(&self, ray: &Ray, sphere: &Sphere) -> Vec3 {
        self.attributes(ray, sphere).normal
    }
}

impl Scene {
    /// Computes the attributes of each hit of [`closest`](Self::closest), on all cores. Pass the rays with all their attribute columns, the
    /// hits, and the query that was used; of the query only `motion` matters. The result contains one record per hit; [`Attributes::MISS`]
    /// for a miss. Uses no device, and no memory other than that of the result.
    ///
    /// # Errors
    /// * [`Error::LengthsDiffer`]: there is not one hit per ray, or a column of ray attributes has another length.
    /// * [`Error::BadRecord`]: a hit on a sphere that the scene does not have.
    /// * [`Error::InvalidArgument`]: the scene contains ellipsoids.
    /// * [`Error::OutOfMemory`].
    pub fn attributes<'a>(&self, rays: impl Into<Rays<'a>>, hits: &[Hit], query: &Query) -> Result<Vec<Attributes>> {
        let rays = rays.into();
        check_same_length("rays", rays.len(), "hits", hits.len())?;
        self.refuse_ellipsoids("attributes of hits")?;
        rays.ray_attributes.check("rays", rays.len())?;
        if let Some(index) = hits.iter().position(|hit| hit.is_hit() && hit.id as usize >= self.len()) {
            return Err(Error::record("hit", index as u64, "id", hits[index].id, "the scene has no such sphere"));
        }
        let ray_attributes = self.with_motion(rays.ray_attributes, query);
        let one = |(i, hit): (usize, &Hit)| match (rays.ray(i), self.host.target(hit.id, &ray_attributes.of(i))) {
            (Some(ray), Some(target)) => Attributes::of(hit, &ray, &target),
            _ => Attributes::MISS,
        };
        try_collect_parallel(hits.par_iter().enumerate().map(one))
    }
}
