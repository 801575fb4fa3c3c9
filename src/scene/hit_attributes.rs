//! What follows from a hit: the point that was met, how the sphere faces there, how steeply and how far away.
//!
//! All of it comes from the foot of the perpendicular, in f64: `origin + t · direction − center` loses the digits of a small
//! sphere far away, and those of `t` (Haines, Günther and Akenine-Möller, Ray Tracing Gems, chapter 7). With p from the foot to
//! the centre and h the half chord, the normal is −(p ± h d̂)/r, and the angle has sine |p|/r and cosine ±h/r. Of what moves, all of
//! this is as the sphere sees it; a ray with a radius meets a sphere that is larger by its own.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::scene::Scene;
use crate::batch::input::Rays;
use crate::error::{Error, Result};
use crate::intersect::motion::{Moves, Target};
use crate::intersect::perpendicular_foot::{Foot, less};
use crate::query::policy::Query;
use crate::records::{Hit, Ray, Sphere};
use crate::runtime::cpu_pool;
use crate::runtime::memory::room;

/// What a hit was like.
///
/// With u = 2⁻²⁴, E the distance from the origin to the centre, r the radius and h the half chord: point, normal and angle are
/// within 1.01 u of their own sizes of those of the exact root that was met, and besides the direction from the centre may be
/// turned by 2⁻⁵⁰ E/h, at most by √(2⁻⁵⁰ E/r), which shows only where a ray grazes what is far away. They do not inherit the
/// error of `t`, which only says which root was met. Where a ray starts on the way out of a ball within one rounding of `t` it
/// is the start that is described.
///
/// A sphere that moves is where it is at the ray's time, or with [`Motion::WithRay`](crate::Motion::WithRay) at the root itself, and
/// then path and angle are what the sphere sees: along w, the ray's direction less the sphere's velocity v. In the bounds E is measured
/// at the time for which t is 0, r has the ray's radius added, and with `Motion::WithRay` the point may be off by
/// 2⁻⁵⁰ |v|/|w| (E + E r/h) besides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attributes {
    /// Where the sphere was met: on its surface, or where the ray starts when that is inside (`inside = enter`). A ray with a radius
    /// touches the sphere there; where it starts overlapping the sphere, it is its start drawn towards the centre, by as much as its
    /// radius is of the sum of both.
    pub point: Vec3,
    /// The outward unit normal there: away from the centre, where the sphere then is. Zero for a radius of 0 and at the centre.
    pub normal: Vec3,
    /// Between the way back along the ray, as the sphere sees it, and the normal, in radians: 0 straight on, π/2 grazing, above on the
    /// way out. 0 where there is no normal, and where ray and sphere keep their distance.
    pub angle: f32,
    /// `t · |direction|`: how far from the origin the ray has come, whatever moves; negative behind it; infinite beyond the largest
    /// f32. As exact as `t`.
    pub distance: f32,
}

impl Attributes {
    /// What a miss has: NaN, as far away as can be.
    pub const MISS: Self = Self { point: Vec3::NAN, normal: Vec3::NAN, angle: f32::NAN, distance: f32::INFINITY };

    /// Of a hit, on a sphere that may move, of a ray that may have a radius.
    fn of(hit: &Hit, ray: &Ray, target: &Target<'_>) -> Self {
        let Met { center, offset, inward, sine, cosine, way } = Met::of(hit, ray, target);
        Self {
            point: (center + inward * offset).as_vec3(),
            normal: offset.normalize_or_zero().as_vec3(),
            angle: if offset == DVec3::ZERO { 0.0 } else { sine.atan2(cosine) as f32 },
            distance: (f64::from(hit.t) * way) as f32,
        }
    }
}

impl Hit {
    /// The point, normal, angle and distance of a hit of this ray on this sphere, at rest; [`Attributes::MISS`] of a miss.
    pub fn attributes(&self, ray: &Ray, sphere: &Sphere) -> Attributes {
        if self.is_hit() { Attributes::of(self, ray, &Target::at_rest(sphere)) } else { Attributes::MISS }
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
    /// What each hit of [`closest`](Self::closest) was like, from these rays, with all that they bring along, and the scene's spheres, on
    /// every core: one record a hit, [`Attributes::MISS`] for a miss. `query` is the one that was asked: how spheres move is all that
    /// matters of it. Asks no device, and needs no more memory than the answer.
    ///
    /// # Errors
    /// [`Error::LengthsDiffer`] unless there is one hit a ray, [`Error::BadRecord`] for a hit on a sphere that the scene does
    /// not have, [`Error::Usage`] for ellipsoids, [`Error::OutOfMemory`].
    pub fn attributes<'a>(&self, rays: impl Into<Rays<'a>>, hits: &[Hit], query: &Query) -> Result<Vec<Attributes>> {
        let rays = rays.into();
        let (left, right) = (rays.len() as u64, hits.len() as u64);
        if left != right {
            return Err(Error::LengthsDiffer { left_name: "rays", left, right_name: "hits", right });
        }
        self.check_round("attributes of hits")?;
        rays.extras.check(rays.len())?;
        if let Some(index) = hits.iter().position(|hit| hit.is_hit() && hit.id as usize >= self.len()) {
            return Err(Error::record("hit", index as u64, "id", hits[index].id, "the scene has no such sphere"));
        }
        let extras = self.moving(rays.extras, query);
        let mut list = room(hits.len())?;
        let one = |(i, hit): (usize, &Hit)| match (rays.ray(i), self.host.target(hit.id, &extras.of(i))) {
            (Some(ray), Some(target)) => Attributes::of(hit, &ray, &target),
            _ => Attributes::MISS,
        };
        cpu_pool::ready();
        hits.par_iter().enumerate().map(one).collect_into_vec(&mut list);
        Ok(list)
    }
}

/// Where a sphere was met.
struct Met {
    /// The sphere's centre, then.
    center: DVec3,
    /// From there to the ray's own point.
    offset: DVec3,
    /// How much of that lies in the sphere: its part of the sum of its radius and the ray's.
    inward: f64,
    /// Of the angle of incidence, times a common factor.
    sine: f64,
    cosine: f64,
    /// The length of the ray's direction.
    way: f64,
}

impl Met {
    fn of(hit: &Hit, ray: &Ray, target: &Target<'_>) -> Self {
        let sphere = target.sphere;
        let Moves { velocity, time, relative, radius, low } = target.moves.unwrap_or(Moves::NONE);
        let v = if relative { velocity.as_dvec3() } else { DVec3::ZERO };
        let (c, along) = (sphere.center.as_dvec3(), ray.direction.as_dvec3());
        // Without a rounding: both have 24 bits.
        let moved = velocity.as_dvec3() * f64::from(time);
        let e = less(c, moved, ray.origin.as_dvec3());
        let d = less(along, low.as_dvec3(), v);
        let (own, r) = (f64::from(sphere.radius), f64::from(sphere.radius) + f64::from(radius));
        let inward = if r > 0.0 { own / r } else { 1.0 };
        let way = (along + low.as_dvec3()).length();
        let (t, length) = (f64::from(hit.t), d.length());
        let start = f64::from(ray.t_min);
        let center = |t: f64| c + moved + if relative { t * v } else { DVec3::ZERO };
        let Foot { t: foot, p, half } = Foot::of(e, d, r);
        // A solid ball is met where a ray starts within it, however little: where that is, f64 knows. So is one that keeps its
        // distance from the ray, for which there is no foot.
        let within = (start - foot) * length + half;
        if length == 0.0 || (t == start && within > (e.length() + r) * (-48.0_f64).exp2()) {
            let offset = t * d - e;
            let cosine = if length == 0.0 { 1.0 } else { -offset.dot(d) };
            return Self { center: center(t), offset, inward, sine: offset.cross(d).length(), cosine, way };
        }
        // On which side of the foot: as t says, unless f32 can hardly tell the roots apart. Then it is the first one, which a
        // ray from before it meets under every policy.
        let sure = half * half > (1.0 / 262_144.0) * (half * t.abs() * length + r * r);
        let leaves = (sure || within > 0.0) && t > foot;
        let side = if leaves { half } else { -half };
        let offset = side * (d / length) - p;
        let reach = offset.length();
        let offset = if reach > 0.0 { offset * (r / reach) } else { offset };
        Self { center: center(foot + side / length), offset, inward, sine: p.length(), cosine: -side, way }
    }
}
