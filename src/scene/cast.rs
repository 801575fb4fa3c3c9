//! Queries that return one record or one bit per ray. [`crate::scene::hit_lists`] contains those that return lists.
//!
//! Each query exists twice: as a public async function, and boxed, for callers that poll and callers that block.

use super::output::SumOutput;
use super::scene::{Scene, Wait};
use crate::batch::input::Rays;
use crate::error::Result;
use crate::query::policy::Query;
use crate::query::results::{Answer, Bits, Hits, Report};
use crate::records::{Approach, Hit, Interval};
use crate::runtime::boxed::BoxedFuture;

impl Scene {
    /// Finds the closest hit of each ray: the smallest valid `t` over all spheres, and the id of the sphere. If several spheres have the
    /// same `t`, the lowest id wins.
    ///
    /// The result contains one record per ray, in the order of the rays; [`Hit::MISS`] for a ray that hits nothing. `t` is in units of the
    /// ray's direction, and lies between the ray's ends. The [`Query`] sets the policies for tangent rays, rays that start inside a sphere,
    /// and the ends of rays.
    ///
    /// # Errors
    /// * [`Error::BadRecord`](crate::Error::BadRecord): a ray or one of its attributes is invalid. With [`OnBad::Skip`](crate::OnBad::Skip)
    ///   such a ray is a miss instead.
    /// * [`Error::NoPrecision`](crate::Error::NoPrecision): the device fails the probe for this precision, or `Exact` is requested for
    ///   ellipsoids.
    /// * [`Error::LengthsDiffer`](crate::Error::LengthsDiffer): a column of ray attributes does not have one entry per ray, or a pairwise
    ///   scene does not have one sphere per ray.
    /// * [`Error::InvalidArgument`](crate::Error::InvalidArgument): rays with a radius in a scene of ellipsoids.
    /// * [`Error::TooLarge`](crate::Error::TooLarge): scene and query exceed [`Limits::memory`](crate::Limits::memory).
    /// * [`Error::Cancelled`](crate::Error::Cancelled): the scene's [cancel token](Self::with_cancel) was cancelled.
    /// * Device errors: [`OutOfMemory`](crate::Error::OutOfMemory), [`DeviceLost`](crate::Error::DeviceLost),
    ///   [`TimedOut`](crate::Error::TimedOut), [`DeviceFailed`](crate::Error::DeviceFailed).
    pub async fn closest(&self, rays: impl Into<Rays<'_>>, query: &Query) -> Result<Hits> {
        self.hits(rays.into(), query, Wait::Polling).await
    }

    /// Writes the results of [`closest`](Self::closest) into the caller's memory: `hits[i]` is the result of ray `i`. Returns the report.
    /// After an error the contents of `hits` are unspecified.
    ///
    /// # Errors
    /// As [`closest`](Self::closest); [`Error::LengthsDiffer`](crate::Error::LengthsDiffer) also unless `hits` has one record per ray.
    pub async fn closest_into(&self, rays: impl Into<Rays<'_>>, hits: &mut [Hit], query: &Query) -> Result<Report> {
        self.hits_into(rays.into(), query, hits, Wait::Polling).await
    }

    /// Finds both roots of the closest sphere of each ray: the sphere that [`closest`](Self::closest) reports. The roots are never clipped
    /// to the ray's ends. The result contains one record per ray; [`Interval::MISS`] for a ray that hits nothing.
    ///
    /// # Errors
    /// As [`closest`](Self::closest).
    pub async fn interval(&self, rays: impl Into<Rays<'_>>, query: &Query) -> Result<Answer<Interval>> {
        self.intervals(rays.into(), query, Wait::Polling).await
    }

    /// Finds the point of each ray, between its ends, with the smallest clearance from any sphere: the distance to the centre minus the
    /// radius, negative inside the sphere. Of equal clearances the smallest `t` wins, then the lowest id. The result contains one record
    /// per ray.
    ///
    /// Of the query only the precision, `on_bad` and, if spheres move, `motion` are used. In the report, a ray that touches or enters a
    /// sphere counts as a hit.
    ///
    /// ```
    /// use umbracast::{Approach, Device, DeviceOptions, Query, Ray, SceneOptions, Sphere};
    ///
    /// let device = Device::open(&DeviceOptions::new("cpu"))?;
    /// let scene = device.scene(&[Sphere::new([5.0, 3.0, 0.0], 1.0)], &SceneOptions::default())?;
    /// let nearest = scene.approach(&[Ray::new([0.0; 3], [2.0, 0.0, 0.0])], &Query::default())?;
    /// assert_eq!(nearest[0], Approach { t: 2.5, clearance: 2.0, id: 0 });
    /// # Ok::<(), umbracast::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`closest`](Self::closest); [`Error::InvalidArgument`](crate::Error::InvalidArgument) also for a scene of ellipsoids.
    pub async fn approach(&self, rays: impl Into<Rays<'_>>, query: &Query) -> Result<Answer<Approach>> {
        self.approaches(rays.into(), query, Wait::Polling).await
    }

    /// Tests whether each ray hits any sphere. The result contains one bit per ray, set for a hit.
    ///
    /// # Errors
    /// As [`closest`](Self::closest).
    pub async fn occluded(&self, rays: impl Into<Rays<'_>>, query: &Query) -> Result<Bits> {
        self.bits(rays.into(), query, Wait::Polling).await
    }

    /// Counts the spheres that each ray hits: the length of its list in [`all`](Self::all). The result contains one count per ray.
    ///
    /// # Errors
    /// As [`closest`](Self::closest).
    pub async fn count(&self, rays: impl Into<Rays<'_>>, query: &Query) -> Result<Answer<u32>> {
        self.counted(rays.into(), query, Wait::Polling).await
    }

    /// Computes the transmittance along each ray: the product of the [transmittances](crate::Spheres::transmittances) of all spheres that
    /// the ray hits, the spheres of its list in [`all`](Self::all). The result contains one f32 per ray: 1 for a ray that hits nothing,
    /// and 0 for a ray that hits an opaque sphere, where its search ends. Spheres without transmittances are opaque.
    ///
    /// The length of the ray's path inside a sphere does not matter. For n spheres with the exact product p, and u = 2⁻²⁴, the error is at
    /// most (1 + 0.35 n) u · p + 2⁻¹⁵⁰, to first order in u. A product below about 2⁻¹⁵⁰ is 0. The logarithms are summed in fixed point, so
    /// the result does not depend on the order of the spheres: engines that find the same hits, as all do at
    /// [`Precision::Exact`](crate::Precision::Exact), return the same bits.
    ///
    /// In the report, a ray counts as a hit if its transmittance is below 1. Pairwise scenes on a GPU use the CPU engine for this query.
    ///
    /// ```
    /// use umbracast::{Device, DeviceOptions, Query, Ray, SceneOptions, Sphere, Spheres};
    ///
    /// let device = Device::open(&DeviceOptions::new("cpu"))?;
    /// let spheres = [3.0, 6.0, 9.0].map(|x| Sphere::new([x, 0.0, 0.0], 1.0));
    /// let dust = Spheres::from(&spheres).transmittances(&[0.5, 0.25, 0.0]);
    /// let scene = device.scene(dust, &SceneOptions::default())?;
    /// let ray = Ray::new([0.0; 3], [1.0, 0.0, 0.0]);
    /// let rays = [ray.between(0.0, 7.0), ray, ray.between(-5.0, 0.0)];
    /// assert_eq!(scene.transmittance(&rays, &Query::default())?.records, [0.125, 0.0, 1.0]);
    /// # Ok::<(), umbracast::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`closest`](Self::closest).
    pub async fn transmittance(&self, rays: impl Into<Rays<'_>>, query: &Query) -> Result<Answer<f32>> {
        self.transmittances(rays.into(), query, Wait::Polling).await
    }

    /// Boxed version of [`transmittance`](Self::transmittance).
    pub(crate) fn transmittances<'a>(
        &'a self,
        rays: Rays<'a>,
        query: &'a Query,
        wait: Wait,
    ) -> BoxedFuture<'a, Answer<f32>> {
        Box::pin(self.cast_words::<SumOutput<f32>>(rays, query, wait))
    }

    /// Boxed version of [`closest`](Self::closest).
    pub(crate) fn hits<'a>(&'a self, rays: Rays<'a>, query: &'a Query, wait: Wait) -> BoxedFuture<'a, Hits> {
        Box::pin(self.answer(rays, query, wait))
    }

    /// Boxed version of [`closest_into`](Self::closest_into).
    pub(crate) fn hits_into<'a>(
        &'a self,
        rays: Rays<'a>,
        query: &'a Query,
        hits: &'a mut [Hit],
        wait: Wait,
    ) -> BoxedFuture<'a, Report> {
        Box::pin(self.cast(rays, query, hits, wait))
    }

    /// Boxed version of [`interval`](Self::interval).
    pub(crate) fn intervals<'a>(
        &'a self,
        rays: Rays<'a>,
        query: &'a Query,
        wait: Wait,
    ) -> BoxedFuture<'a, Answer<Interval>> {
        Box::pin(self.answer(rays, query, wait))
    }

    /// Boxed version of [`approach`](Self::approach).
    pub(crate) fn approaches<'a>(
        &'a self,
        rays: Rays<'a>,
        query: &'a Query,
        wait: Wait,
    ) -> BoxedFuture<'a, Answer<Approach>> {
        Box::pin(self.answer(rays, query, wait))
    }

    /// Boxed version of [`occluded`](Self::occluded).
    pub(crate) fn bits<'a>(&'a self, rays: Rays<'a>, query: &'a Query, wait: Wait) -> BoxedFuture<'a, Bits> {
        Box::pin(self.cast_bits(rays, query, wait))
    }
}
