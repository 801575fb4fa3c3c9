//! Rays from the points that other rays have hit.

use glam::{DVec3, Vec3};

use super::input::Rays;
use crate::error::Result;
use crate::query::policy::{Inside, Motion, check_same_length};
use crate::query::results::{Hits, Report};
use crate::records::{NO_SPHERE, Ray};

/// Rays that start at hit points, one for each ray that hit a sphere, in the order of the rays; with the spheres on which they start
/// ([`Rays::from_ids`]), and the times and radii of the rays that hit them; after [`Motion::WithRay`] the times are those of the hits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceRays {
    /// The rays.
    pub rays: Vec<Ray>,
    /// Per ray the sphere on whose surface it starts. [`NO_SPHERE`] where the hit was the start of a ray, at `t_min`, with
    /// [`Inside::Enter`]: the ray started inside a sphere, or exactly on its surface.
    pub from_ids: Vec<u32>,
    /// Per ray the index of the ray that hit that sphere.
    pub indices: Vec<usize>,
    times: Option<Vec<f32>>,
    radii: Option<Vec<f32>>,
}

impl Hits {
    /// Rays from the hit points to a target, with `t` in `[0, 1]`. `rays` are the rays that were cast.
    ///
    /// ```
    /// use umbracast::{Device, DeviceOptions, Query, Ray, SceneOptions, Sphere};
    ///
    /// let device = Device::open(&DeviceOptions::new("cpu"))?;
    /// let scene = device.scene(&[Sphere::new([5.0, 0.0, 0.0], 1.0)], &SceneOptions::default())?;
    /// let rays = [Ray::new([0.0; 3], [1.0, 0.1, 0.0]), Ray::new([0.0; 3], [0.0, 1.0, 0.0])];
    /// let hits = scene.closest(&rays, &Query::default())?;
    /// let back = hits.rays_to(&rays, [0.0; 3])?;
    /// assert_eq!(back.indices, [0]);
    /// assert_eq!(scene.occluded(&back, &Query::default())?.get(0), Some(false));
    ///
    /// // A ray that starts inside a sphere hits it there, not on its surface.
    /// let rays = [Ray::new([5.5, 0.0, 0.0], [1.0, 0.0, 0.0])];
    /// let back = scene.closest(&rays, &Query::default())?.rays_to(&rays, [0.0; 3])?;
    /// assert_eq!(back.from_ids, [umbracast::NO_SPHERE]);
    /// assert_eq!(scene.occluded(&back, &Query::default())?.get(0), Some(true));
    /// # Ok::<(), umbracast::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthsDiffer`](crate::Error::LengthsDiffer) if there is not one hit per ray.
    pub fn rays_to<'a>(&self, rays: impl Into<Rays<'a>>, target: impl Into<Vec3>) -> Result<SurfaceRays> {
        let target = target.into();
        self.rays_from_points(rays.into(), |point| Ray::segment(point, target))
    }

    /// Rays from the hit points in one direction, with `t` in `[0, ∞)`. `rays` are the rays that were cast.
    ///
    /// # Errors
    /// As [`rays_to`](Self::rays_to).
    pub fn rays_along<'a>(&self, rays: impl Into<Rays<'a>>, direction: impl Into<Vec3>) -> Result<SurfaceRays> {
        let direction = direction.into();
        self.rays_from_points(rays.into(), |point| Ray::new(point, direction))
    }

    fn rays_from_points(&self, rays: Rays<'_>, make: impl Fn(Vec3) -> Ray) -> Result<SurfaceRays> {
        check_same_length("rays", rays.len(), "hits", self.len())?;
        let Report { inside, motion, .. } = self.report;
        let columns = rays.ray_attributes;
        columns.check("rays", rays.len())?;
        let mut found = SurfaceRays {
            times: (columns.times.is_some() || motion == Motion::WithRay).then(Vec::new),
            radii: columns.radii.map(|_| Vec::new()),
            ..SurfaceRays::default()
        };
        for (i, hit) in self.iter().enumerate().filter(|(_, hit)| hit.is_hit()) {
            let (ray, attributes) = (rays.source.ray(i), columns.of(i));
            let direction = ray.direction.as_dvec3() + Vec3::from(attributes.direction_low).as_dvec3();
            let point: DVec3 = ray.origin.as_dvec3() + f64::from(hit.t) * direction;
            found.rays.push(make(point.as_vec3()));
            // A ray that goes into the sphere on which it starts is at its surface.
            let is_inside =
                inside == Inside::Enter && hit.t == ray.t_min && (hit.t != 0.0 || hit.id != attributes.from_id);
            found.from_ids.push(if is_inside { NO_SPHERE } else { hit.id });
            found.indices.push(i);
            let time = if motion == Motion::WithRay { hit.t } else { attributes.time };
            found.times.iter_mut().for_each(|times| times.push(time));
            found.radii.iter_mut().for_each(|radii| radii.push(attributes.radius));
        }
        Ok(found)
    }
}

impl<'a> From<&'a SurfaceRays> for Rays<'a> {
    fn from(from: &'a SurfaceRays) -> Self {
        let mut rays = Self::from(&from.rays).from_ids(&from.from_ids);
        rays.ray_attributes.times = from.times.as_deref();
        rays.ray_attributes.radii = from.radii.as_deref();
        rays
    }
}
