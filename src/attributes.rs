//! What follows from a hit: the point that was met, how the sphere faces there, how steeply and how far away.
//!
//! All of it comes from the foot of the perpendicular, in f64: `origin + t · direction − center` loses the digits of a small
//! sphere far away, and those of `t` (Haines, Günther and Akenine-Möller, Ray Tracing Gems, chapter 7). With p from the foot to
//! the centre and h the half chord, the normal is −(p ± h d̂)/r, and the angle has sine |p|/r and cosine ±h/r.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use crate::batch::Rays;
use crate::error::{Error, Result};
use crate::foot::Foot;
use crate::memory::room;
use crate::records::{Hit, Ray, Sphere};
use crate::scene::Scene;

/// What a hit was like.
///
/// With u = 2⁻²⁴, E the distance from the origin to the centre, r the radius and h the half chord: point, normal and angle are
/// within 1.01 u of their own sizes of those of the exact root that was met, and besides the direction from the centre may be
/// turned by 2⁻⁵⁰ E/h, at most by √(2⁻⁵⁰ E/r), which shows only where a ray grazes what is far away. They do not inherit the
/// error of `t`, which only says which root was met. Where a ray starts on the way out of a ball within one rounding of `t` it
/// is the start that is described.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attributes {
    /// Where the sphere was met: on its surface, or where the ray starts when that is inside (`inside = enter`).
    pub point: Vec3,
    /// The outward unit normal there: away from the centre. Zero for a radius of 0 and at the centre.
    pub normal: Vec3,
    /// Between the way back along the ray and the normal, in radians: 0 straight on, π/2 grazing, above on the way out. 0 where
    /// there is no normal.
    pub angle: f32,
    /// `t · |direction|`: how far from the origin, negative behind it; infinite beyond the largest f32. As exact as `t`.
    pub distance: f32,
}

impl Attributes {
    /// What a miss has: NaN, as far away as can be.
    pub const MISS: Self = Self { point: Vec3::NAN, normal: Vec3::NAN, angle: f32::NAN, distance: f32::INFINITY };
}

impl Hit {
    /// The point, normal, angle and distance of a hit of this ray on this sphere; [`Attributes::MISS`] of a miss.
    pub fn attributes(&self, ray: &Ray, sphere: &Sphere) -> Attributes {
        if !self.is_hit() {
            return Attributes::MISS;
        }
        let Met { offset, sine, cosine } = Met::of(self, ray, sphere);
        let distance = f64::from(self.t) * ray.direction.as_dvec3().length();
        Attributes {
            point: (sphere.center.as_dvec3() + offset).as_vec3(),
            normal: offset.normalize_or_zero().as_vec3(),
            angle: if offset == DVec3::ZERO { 0.0 } else { sine.atan2(cosine) as f32 },
            distance: distance as f32,
        }
    }

    /// The point that was met, on the sphere's surface: from the foot of the perpendicular, in f64, not from
    /// `origin + t · direction`, which loses the digits of a small sphere far away. A hit inside the ball (`inside = enter`)
    /// gives the ray's own point.
    pub fn point(&self, ray: &Ray, sphere: &Sphere) -> Vec3 {
        self.attributes(ray, sphere).point
    }

    /// The outward unit normal at the point that was met; zero at the centre, or for a radius of 0.
    pub fn normal(&self, ray: &Ray, sphere: &Sphere) -> Vec3 {
        self.attributes(ray, sphere).normal
    }
}

impl Scene {
    /// What each hit of [`closest`](Self::closest) was like, from these rays and the scene's spheres, on every core: one
    /// record a hit, [`Attributes::MISS`] for a miss. Asks no device, and needs no more memory than the answer.
    ///
    /// # Errors
    /// [`Error::LengthsDiffer`] unless there is one hit a ray, [`Error::BadRecord`] for a hit on a sphere that the scene does
    /// not have, [`Error::Usage`] for ellipsoids, [`Error::OutOfMemory`].
    pub fn attributes<'a>(&self, rays: impl Into<Rays<'a>>, hits: &[Hit]) -> Result<Vec<Attributes>> {
        let rays = rays.into();
        let (left, right) = (rays.len() as u64, hits.len() as u64);
        if left != right {
            return Err(Error::LengthsDiffer { left_name: "rays", left, right_name: "hits", right });
        }
        self.check_round("attributes of hits")?;
        let spheres = &self.host.spheres;
        if let Some(index) = hits.iter().position(|hit| hit.is_hit() && hit.id as usize >= spheres.len()) {
            let (index, value) = (index as u64, hits[index].id.to_string());
            return Err(Error::BadRecord {
                what: "hit",
                index,
                field: "id",
                value,
                why: "the scene has no such sphere",
            });
        }
        let mut list = room(hits.len())?;
        let one = |(i, hit): (usize, &Hit)| match (rays.ray(i), spheres.get(hit.id as usize)) {
            (Some(ray), Some(sphere)) => hit.attributes(&ray, sphere),
            _ => Attributes::MISS,
        };
        hits.par_iter().enumerate().map(one).collect_into_vec(&mut list);
        Ok(list)
    }
}

/// Where a sphere was met.
struct Met {
    /// From the centre.
    offset: DVec3,
    /// Of the angle of incidence, times a common factor.
    sine: f64,
    cosine: f64,
}

impl Met {
    fn of(hit: &Hit, ray: &Ray, sphere: &Sphere) -> Self {
        let (d, e) = (ray.direction.as_dvec3(), sphere.center.as_dvec3() - ray.origin.as_dvec3());
        let (r, t, length) = (f64::from(sphere.radius), f64::from(hit.t), d.length());
        let Foot { t: foot, p, half } = Foot::of(e, d, r);
        let start = f64::from(ray.t_min);
        // A solid ball is met where a ray starts within it, however little: where that is, f64 knows.
        let within = (start - foot) * length + half;
        if t == start && within > (e.length() + r) * (-48.0_f64).exp2() {
            let offset = t * d - e;
            return Self { offset, sine: offset.cross(d).length(), cosine: -offset.dot(d) };
        }
        // On which side of the foot: as t says, unless f32 can hardly tell the roots apart. Then it is the first one, which a
        // ray from before it meets under every policy.
        let sure = half * half > (1.0 / 262_144.0) * (half * t.abs() * length + r * r);
        let leaves = (sure || within > 0.0) && t > foot;
        let side = if leaves { half } else { -half };
        let offset = side * (d / length) - p;
        let reach = offset.length();
        let offset = if reach > 0.0 { offset * (r / reach) } else { offset };
        Self { offset, sine: p.length(), cosine: -side }
    }
}
