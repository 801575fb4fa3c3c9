//! Queries of one ray or point, on the calling thread.

use super::scene::Scene;
use crate::batch::input::{Points, Rays};
use crate::batch::raygen::source::{RaySource, rays_at_points};
use crate::cpu::collector::HitCollector;
use crate::cpu::query::closest::ExactClosest;
use crate::cpu::query::kind::RayQuery;
use crate::cpu::query::kinds::{Closest, Occluded};
use crate::cpu::query::occluded::ExactOccluded;
use crate::cpu::traverse::one_ray::search;
use crate::error::Result;
use crate::query::policy::{Near, Precision, Query};
use crate::query::validate::{check_ray, is_usable, usage};
use crate::records::{Hit, Ray, RayAttributes};

impl Scene {
    /// Finds the closest hit of one ray: the record of [`closest`](Self::closest), or `None` for a miss. For code that casts a ray, looks
    /// at its hit, and then knows the next one: a game loop, a path tracer, a Monte Carlo simulation. Many rays that are known at once are
    /// several times faster in one call of `closest`.
    ///
    /// The call computes on its own thread, and any number of threads may call it at once. It allocates nothing, takes no lock and reads no
    /// clock; of the scene's cancel token it takes no notice. In a scene of a GPU the CPU engine answers, and the first call builds its BVH.
    ///
    /// ```
    /// use umbracast::{Device, DeviceOptions, Query, Ray, Rays, Sphere};
    ///
    /// let device = Device::open(&DeviceOptions::new("cpu"))?;
    /// let scene = device.scene(&[Sphere::new([5.0, 0.0, 0.0], 1.0), Sphere::new([9.0, 0.0, 0.0], 1.0)], &Default::default())?;
    /// let ray = Ray::new([0.0; 3], [1.0, 0.0, 0.0]);
    /// let hit = scene.hit(&ray, &Query::default())?.expect("it lies ahead");
    /// assert_eq!((hit.t, hit.id), (4.0, 0));
    /// // The attributes of a ray are columns of length one.
    /// let behind = scene.hit(Rays::from(&ray).skip_ids(&[hit.id]), &Query::default())?;
    /// assert_eq!(behind.map(|hit| hit.id), Some(1));
    /// # Ok::<(), umbracast::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`closest`](Self::closest) about rays, attributes and policies; the index in [`Error::BadRecord`](crate::Error::BadRecord) is
    /// 0. [`Error::InvalidArgument`](crate::Error::InvalidArgument) also for more or fewer rays than one, for a pairwise scene, and for
    /// [`Near::Block`](crate::Near::Block). Invalid rays are errors, whatever [`Query::on_bad`] is.
    #[inline]
    pub fn hit<'a>(&self, ray: impl Into<Rays<'a>>, query: &Query) -> Result<Option<Hit>> {
        self.hit_of(OneRay::of(&ray.into()), query)
    }

    fn hit_of(&self, ray: OneRay<'_>, query: &Query) -> Result<Option<Hit>> {
        let query = self.resolved(query);
        if let OneRay::WithAttributes(rays) = ray
            && query.near == Near::Auto
            && query.near.blocks(rays)
        {
            // The ray of a sensor with a minimum range, which surfaces before it block.
            return Ok(self.closest(*rays, &query)?.first().copied().filter(Hit::is_hit));
        }
        let mut exact = ExactClosest::new(&query);
        let hit = self.cast_one::<Closest>(ray, &query, &mut exact)?.unwrap_or(exact.answer);
        Ok(hit.is_hit().then_some(hit))
    }

    /// Whether one ray hits any sphere: its bit of [`occluded`](Self::occluded). It computes as [`hit`](Self::hit) does.
    ///
    /// # Errors
    /// As [`hit`](Self::hit).
    #[inline]
    pub fn occludes<'a>(&self, ray: impl Into<Rays<'a>>, query: &Query) -> Result<bool> {
        self.is_occluded(OneRay::of(&ray.into()), query)
    }

    fn is_occluded(&self, ray: OneRay<'_>, query: &Query) -> Result<bool> {
        let query = self.resolved(query);
        let mut exact = ExactOccluded::new(&query);
        Ok(self.cast_one::<Occluded>(ray, &query, &mut exact)?.unwrap_or(exact.answer))
    }

    /// Whether any sphere contains a point, its surface included: whether [`contains`](Self::contains) finds one. Of the query only the
    /// precision is used. It computes as [`hit`](Self::hit) does.
    ///
    /// # Errors
    /// As [`hit`](Self::hit), for points.
    pub fn contains_point<'a>(&self, point: impl Into<Points<'a>>, query: &Query) -> Result<bool> {
        let Points { records, ray_attributes, .. } = point.into();
        let solid = Query::at(query.precision);
        self.is_occluded(OneRay::WithAttributes(&Rays { ray_attributes, ..rays_at_points(records).into() }), &solid)
    }

    /// Casts one ray. Returns its record, or `None` if `exact` has the answer: a collector of exact arithmetic that has received the
    /// ray's candidates.
    fn cast_one<Q: RayQuery>(
        &self,
        ray: OneRay<'_>,
        query: &Query,
        exact: &mut impl HitCollector,
    ) -> Result<Option<Q::Record>> {
        let host = &*self.host;
        if host.pairwise {
            return usage("a single ray has no sphere of its own in a pairwise scene: use a scene");
        }
        query.near.refuse_block(Some("a query of one ray"))?;
        let at_rest = !host.attributes.has_motion_or_shape();
        let checked;
        let (ray, attributes) = match ray {
            OneRay::Bare(ray) if at_rest => {
                if !is_usable(ray) {
                    check_ray(0, ray)?;
                }
                (ray, host.attributes.masks.as_ref().map(|_| &RayAttributes::NONE))
            }
            OneRay::Bare(_) | OneRay::WithAttributes(_) => {
                checked = match ray {
                    OneRay::Bare(ray) => self.with_attributes(&ray.into(), query)?,
                    OneRay::WithAttributes(rays) => self.with_attributes(rays, query)?,
                };
                (&checked.0, Some(&checked.1))
            }
        };
        host.build_bvh();
        let scene = host.spheres();
        if let Some(bvh) = scene.bvh.filter(|_| query.precision == Precision::Exact) {
            search(bvh, scene, ray, attributes, exact, query);
            return Ok(None);
        }
        let found = host.cast_one::<Q>(0, ray, attributes.copied().unwrap_or(RayAttributes::NONE), query);
        Ok(Some(found.map_or(Q::MISS, |found| found.record)))
    }

    /// A ray with its attributes, checked.
    fn with_attributes(&self, rays: &Rays<'_>, query: &Query) -> Result<(Ray, RayAttributes)> {
        if rays.len() != 1 {
            let (name, many) = match rays.source {
                RaySource::Points(_) => ("points", "contains takes"),
                _ => ("rays", "closest or occluded take"),
            };
            return usage(format!("{} {name}: this query takes one, and {many} many", rays.len()));
        }
        // The ray has no number but 0, as one without attributes.
        let batch = self.batch(&Rays { first: None, ..*rays }, query)?;
        batch.check_one(0, self.host.start_check())?;
        Ok((rays.source.ray(0), batch.ray_attributes.of(0)))
    }
}

/// The input of a query of one ray.
#[derive(Clone, Copy)]
enum OneRay<'a> {
    /// A ray without attributes. It needs few checks.
    Bare(&'a Ray),
    /// One ray, unless the caller made a mistake.
    WithAttributes(&'a Rays<'a>),
}

impl<'a> OneRay<'a> {
    #[inline]
    fn of(rays: &'a Rays<'a>) -> Self {
        match rays.source {
            RaySource::Records([ray]) if !rays.ray_attributes.any() => Self::Bare(ray),
            _ => Self::WithAttributes(rays),
        }
    }
}
