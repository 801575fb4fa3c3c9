//! Queries that return one record or one bit per ray, and the trait of all queries. [`crate::scene::hit_lists`] and
//! [`crate::scene::contains`] contain the others.

use super::scene::Scene;
use crate::batch::input::{Points, Rays};
use crate::cpu::query::kinds::{self as queries, All, Contains, Nearest};
use crate::error::Result;
use crate::query::policy::Query;
use crate::query::results::{ALL, Answer, Bits, HitLists, Hits, Report};
use crate::query::validate::usage;
use crate::records::{Approach, Containment, Hit, Interval};
use crate::runtime::block_on::{BoxedFuture, block_on};

/// A query that [`Scene::cast_async`] asks: one of the types of [`queries`](crate::queries). No other type can implement this trait.
pub trait Cast: sealed::Sealed {
    /// What is asked about: rays or points.
    type Input<'a>;
    /// The answer.
    type Output;
    /// The future of the answer.
    #[doc(hidden)]
    fn start<'a>(self, scene: &'a Scene, input: Self::Input<'a>, query: &'a Query) -> BoxedFuture<'a, Self::Output>;
}

mod sealed {
    pub trait Sealed {}
}

/// Implements [`Cast`] for each query. The functions are not generic, so that they are compiled here, with all that they call.
macro_rules! casts {
    ($($kind:ty: $input:ident => $output:ty, |$own:pat_param, $scene:ident, $from:ident, $query:ident| $ask:expr;)*) => {$(
        impl sealed::Sealed for $kind {}

        impl Cast for $kind {
            type Input<'a> = $input<'a>;
            type Output = $output;
            fn start<'a>(self, $scene: &'a Scene, $from: $input<'a>, $query: &'a Query) -> BoxedFuture<'a, $output> {
                let $own = self;
                Box::pin($ask)
            }
        }
    )*};
}

/// [`casts`] for queries with a record per ray, and what stands for their programs in builds without GPUs.
macro_rules! record_casts {
    ($($kind:ident => $record:ty;)*) => {
        casts! {$(
            queries::$kind: Rays => Answer<$record>, |_, scene, rays, query| scene.answer::<Self>(rays, query);
        )*}
        $(
            #[cfg(not(feature = "gpu"))]
            impl crate::gpu::cast::resolve::GpuQuery for queries::$kind {}
        )*
    };
}
record_casts! {
    Closest => Hit;
    Interval => Interval;
    Approach => Approach;
    Count => u32;
    Transmittance => f32;
}
casts! {
    queries::Occluded: Rays => Bits, |_, scene, rays, query| scene.cast_bits(rays, query);
    Contains: Points => Answer<Containment>, |_, scene, points, query| scene.find_containments(points, query);
    All: Rays => HitLists, |_, scene, rays, query| scene.list(rays, ALL, query);
    Nearest: Rays => HitLists, |Nearest(k), scene, rays, query| async move {
        match k {
            0 => usage("k is 0: nearest needs a k of at least 1"),
            _ => scene.list(rays, k, query).await,
        }
    };
}

impl Scene {
    /// Asks one of the [`queries`](crate::queries), for code that must not block: in a browser, and in servers that wait for many things.
    /// The answer is that of the blocking method, whose documentation applies.
    ///
    /// On a scene of the CPU engine nothing is awaited: the first poll of the future computes the whole answer on all cores, and blocks
    /// its thread meanwhile. On a GPU the future waits for the device without blocking, and computes on all cores what the device leaves to
    /// the CPU. Rays are borrowed until the answer is there. They are copied only to the device.
    ///
    /// ```
    /// use umbracast::queries::{Closest, Nearest};
    /// use umbracast::{DeviceOptions, Query, Ray, Result, Sphere};
    ///
    /// # fn main() -> Result<()> { pollster::block_on(ask()) }
    /// async fn ask() -> Result<()> {
    ///     let device = umbracast::Device::open_async(&DeviceOptions::new("cpu")).await?;
    ///     let scene = device.scene_async(&[Sphere::new([5.0, 0.0, 0.0], 1.0)], &Default::default()).await?;
    ///     let rays = [Ray::new([0.0; 3], [1.0, 0.0, 0.0])];
    ///     let hits = scene.cast_async(Closest, &rays, &Query::default()).await?;
    ///     let lists = scene.cast_async(Nearest(2), &rays, &Query::default()).await?;
    ///     assert_eq!((hits[0].t, lists.records[0].t_exit), (4.0, 6.0));
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// Those of the blocking method.
    pub async fn cast_async<'a, Q: Cast>(
        &'a self,
        kind: Q,
        input: impl Into<Q::Input<'a>>,
        query: &'a Query,
    ) -> Result<Q::Output> {
        kind.start(self, input.into(), query).await
    }

    /// Finds the closest hit of each ray: the smallest valid `t` over all spheres, and the id of the sphere. If several spheres have the
    /// same `t`, the lowest id wins.
    ///
    /// The result contains one record per ray, in the order of the rays; [`Hit::MISS`] for a ray that hits nothing. `t` is in units of the
    /// ray's direction, and lies between the ray's ends. The [`Query`] sets the policies for tangent rays, rays that start inside a sphere,
    /// and the ends of rays.
    ///
    /// The call blocks until all rays are cast, and allocates 8 bytes per ray for the result. The CPU engine works on all cores, reads the
    /// rays in place, and needs scratch memory per core. A GPU casts in chunks, through buffers that later calls use again.
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
    pub fn closest<'a>(&'a self, rays: impl Into<Rays<'a>>, query: &'a Query) -> Result<Hits> {
        block_on(queries::Closest.start(self, rays.into(), query))
    }

    /// Writes the results of [`closest`](Self::closest) into the caller's memory: `hits[i]` is the result of ray `i`. Returns the report.
    /// After an error the contents of `hits` are unspecified. It blocks as [`closest`](Self::closest) does, and allocates no results.
    ///
    /// # Errors
    /// As [`closest`](Self::closest); [`Error::LengthsDiffer`](crate::Error::LengthsDiffer) also unless `hits` has one record per ray.
    pub fn closest_into<'a>(
        &'a self,
        rays: impl Into<Rays<'a>>,
        hits: &'a mut [Hit],
        query: &'a Query,
    ) -> Result<Report> {
        block_on(self.hits_into(rays.into(), query, hits))
    }

    /// Finds both roots of the closest sphere of each ray: the sphere that [`closest`](Self::closest) reports. The roots are never clipped
    /// to the ray's ends. The result contains one record per ray; [`Interval::MISS`] for a ray that hits nothing. The call blocks as
    /// [`closest`](Self::closest) does, and allocates 12 bytes per ray.
    ///
    /// # Errors
    /// As [`closest`](Self::closest).
    pub fn interval<'a>(&'a self, rays: impl Into<Rays<'a>>, query: &'a Query) -> Result<Answer<Interval>> {
        block_on(queries::Interval.start(self, rays.into(), query))
    }

    /// Finds the point of each ray, between its ends, with the smallest clearance from any sphere: the distance to the centre minus the
    /// radius, negative inside the sphere. Of equal clearances the smallest `t` wins, then the lowest id. The result contains one record
    /// per ray.
    ///
    /// Of the query only the precision, `on_bad` and, if spheres move, `motion` are used. In the report, a ray that touches or enters a
    /// sphere counts as a hit. The call blocks as [`closest`](Self::closest) does, and allocates 12 bytes per ray.
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
    pub fn approach<'a>(&'a self, rays: impl Into<Rays<'a>>, query: &'a Query) -> Result<Answer<Approach>> {
        block_on(queries::Approach.start(self, rays.into(), query))
    }

    /// Tests whether each ray hits any sphere. The result contains one bit per ray, set for a hit: that is all that it allocates. The call
    /// blocks as [`closest`](Self::closest) does.
    ///
    /// # Errors
    /// As [`closest`](Self::closest).
    pub fn occluded<'a>(&'a self, rays: impl Into<Rays<'a>>, query: &'a Query) -> Result<Bits> {
        block_on(queries::Occluded.start(self, rays.into(), query))
    }

    /// Counts the spheres that each ray hits: the length of its list in [`all`](Self::all), with [`Near::Pass`](crate::Near::Pass). The result
    /// contains one count per ray.
    /// The call blocks as [`closest`](Self::closest) does, and allocates 4 bytes per ray.
    ///
    /// # Errors
    /// As [`closest`](Self::closest).
    pub fn count<'a>(&'a self, rays: impl Into<Rays<'a>>, query: &'a Query) -> Result<Answer<u32>> {
        block_on(queries::Count.start(self, rays.into(), query))
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
    /// The call blocks as [`closest`](Self::closest) does, and allocates 4 bytes per ray.
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
    pub fn transmittance<'a>(&'a self, rays: impl Into<Rays<'a>>, query: &'a Query) -> Result<Answer<f32>> {
        block_on(queries::Transmittance.start(self, rays.into(), query))
    }
}
