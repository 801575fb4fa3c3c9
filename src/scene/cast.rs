//! The queries of a scene that answer with one record or one bit per ray. [`crate::scene::hit_lists`] has those that answer with lists.
//!
//! Each is there twice: for callers that poll, and boxed, for both kinds of callers.

use super::scene::{Caller, Scene};
use crate::batch::input::Rays;
use crate::error::Result;
use crate::query::policy::Query;
use crate::query::results::{Answer, Bits, Hits, Report};
use crate::records::{Approach, Hit, Interval};
use crate::runtime::boxed::Boxed;

impl Scene {
    /// For each ray the smallest valid `t` over all spheres, and the id; [`Hit::MISS`] when there is none.
    ///
    /// # Errors
    /// [`Error::BadRecord`](crate::Error::BadRecord) for a ray that cannot be used,
    /// [`Error::NoPrecision`](crate::Error::NoPrecision), [`Error::Cancelled`](crate::Error::Cancelled), and what the device
    /// can suffer.
    pub async fn closest(&self, rays: impl Into<Rays<'_>>, query: &Query) -> Result<Hits> {
        self.hits(rays.into(), query, Caller::Polls).await
    }

    /// [`closest`](Self::closest) into the caller's memory, which is undefined after an error.
    ///
    /// # Errors
    /// As [`closest`](Self::closest); [`Error::LengthsDiffer`](crate::Error::LengthsDiffer) unless `hits` has one record a ray.
    pub async fn closest_into(&self, rays: impl Into<Rays<'_>>, hits: &mut [Hit], query: &Query) -> Result<Report> {
        self.hits_into(rays.into(), query, hits, Caller::Polls).await
    }

    /// For each ray both roots of its closest sphere, never clipped to the ray's ends.
    ///
    /// # Errors
    /// As [`closest`](Self::closest).
    pub async fn interval(&self, rays: impl Into<Rays<'_>>, query: &Query) -> Result<Answer<Interval>> {
        self.intervals(rays.into(), query, Caller::Polls).await
    }

    /// For each ray where it passes nearest to a surface, within its ends: the least clearance, then the least `t`, then the
    /// lowest id. Of the query only the precision and `on_bad` matter.
    ///
    /// # Errors
    /// As [`closest`](Self::closest).
    pub async fn approach(&self, rays: impl Into<Rays<'_>>, query: &Query) -> Result<Answer<Approach>> {
        self.approaches(rays.into(), query, Caller::Polls).await
    }

    /// For each ray whether it meets any sphere.
    ///
    /// # Errors
    /// As [`closest`](Self::closest).
    pub async fn occluded(&self, rays: impl Into<Rays<'_>>, query: &Query) -> Result<Bits> {
        self.bits(rays.into(), query, Caller::Polls).await
    }

    /// For each ray how many spheres it meets: the length of its list in [`all`](Self::all).
    ///
    /// # Errors
    /// As [`closest`](Self::closest).
    pub async fn count(&self, rays: impl Into<Rays<'_>>, query: &Query) -> Result<Answer<u32>> {
        self.counted(rays.into(), query, Caller::Polls).await
    }

    /// [`closest`](Self::closest).
    pub(crate) fn hits<'a>(&'a self, rays: Rays<'a>, query: &'a Query, caller: Caller) -> Boxed<'a, Hits> {
        Box::pin(self.answer(rays, query, caller))
    }

    /// [`closest_into`](Self::closest_into).
    pub(crate) fn hits_into<'a>(
        &'a self,
        rays: Rays<'a>,
        query: &'a Query,
        hits: &'a mut [Hit],
        caller: Caller,
    ) -> Boxed<'a, Report> {
        Box::pin(self.cast(rays, query, hits, caller))
    }

    /// [`interval`](Self::interval).
    pub(crate) fn intervals<'a>(
        &'a self,
        rays: Rays<'a>,
        query: &'a Query,
        caller: Caller,
    ) -> Boxed<'a, Answer<Interval>> {
        Box::pin(self.answer(rays, query, caller))
    }

    /// [`approach`](Self::approach).
    pub(crate) fn approaches<'a>(
        &'a self,
        rays: Rays<'a>,
        query: &'a Query,
        caller: Caller,
    ) -> Boxed<'a, Answer<Approach>> {
        Box::pin(self.answer(rays, query, caller))
    }

    /// [`occluded`](Self::occluded).
    pub(crate) fn bits<'a>(&'a self, rays: Rays<'a>, query: &'a Query, caller: Caller) -> Boxed<'a, Bits> {
        Box::pin(self.cast_bits(rays, query, caller))
    }
}
