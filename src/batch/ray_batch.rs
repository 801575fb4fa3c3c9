//! A batch of rays with its attributes, policies and time range.

use std::ops::Range;

use super::ray_attributes::{OwnedRayAttributes, RayAttributeColumns};
use super::raygen::source::RaySource;
use crate::error::{Error, Result};
use crate::math::simd::level::SimdLevel;
use crate::query::policy::{OnBad, Query};
use crate::query::validate::commas;
use crate::records::{Ray, RayAttributes};
use crate::runtime::cancel::CancelToken;

/// Checks the sphere on whose surface a ray starts, if its attributes name one. The scene knows the spheres; the number is the index of the
/// ray in the whole input.
pub(crate) trait CheckStart: Fn(u64, &Ray, &RayAttributes) -> Result<()> + Copy {}

impl<F: Fn(u64, &Ray, &RayAttributes) -> Result<()> + Copy> CheckStart for F {}

/// Rays that are cast together. `first` is the index of the first one in the whole input.
#[derive(Clone, Copy)]
pub(crate) struct RayBatch<'a> {
    pub(crate) first: u64,
    pub(crate) rays: RaySource<'a>,
    pub(crate) ray_attributes: RayAttributeColumns<'a>,
    pub(crate) query: &'a Query,
    /// Time range in which the motion of the spheres is known; None if they rest.
    pub(crate) time_range: Option<[f32; 2]>,
    pub(crate) cancel: &'a CancelToken,
}

/// Gathered rays of a batch, with their attributes.
pub(crate) struct OwnedRayBatch {
    first: u64,
    rays: Vec<Ray>,
    ray_attributes: OwnedRayAttributes,
    time_range: Option<[f32; 2]>,
}

impl OwnedRayBatch {
    /// Borrows the copy as a batch.
    pub(crate) fn batch<'a>(&'a self, query: &'a Query, cancel: &'a CancelToken) -> RayBatch<'a> {
        let (rays, ray_attributes) = (RaySource::Records(&self.rays), self.ray_attributes.as_columns());
        RayBatch { first: self.first, rays, ray_attributes, query, time_range: self.time_range, cancel }
    }
}

impl<'a> RayBatch<'a> {
    /// A slice of the batch.
    pub(crate) fn slice(&self, range: Range<usize>) -> Self {
        let (first, rays) = (self.first + range.start as u64, self.rays.slice(range.clone()));
        Self { first, rays, ray_attributes: self.ray_attributes.slice(range), ..*self }
    }

    /// Gathers the rays with these indices, to cast them again. They are not checked: the first cast has reported errors.
    pub(crate) fn gather(&self, numbers: &[usize]) -> OwnedRayBatch {
        let rays = numbers.iter().map(|&i| self.rays.ray(i)).collect();
        OwnedRayBatch {
            first: self.first,
            rays,
            ray_attributes: self.ray_attributes.gather(numbers.iter().copied()),
            time_range: self.time_range,
        }
    }

    /// Returns an error if ray `i` is invalid. `check_start` checks the sphere on which it starts.
    #[inline]
    pub(crate) fn check_one(&self, i: usize, check_start: impl CheckStart) -> Result<()> {
        let number = self.first + i as u64;
        self.rays.check_one(i, number).map_err(|error| self.as_given(i, error))?;
        if !self.at_rest() {
            let checked = self.ray_attributes.check_one(i, number, &self.rays.ray(i), self.time_range);
            checked.map_err(|error| self.as_given(i, error))?;
        }
        if self.ray_attributes.from_ids.is_none() {
            return Ok(());
        }
        check_start(number, &self.rays.ray(i), &self.ray_attributes.of(i))
    }

    /// The error of ray `i`, in the words of its caller, who may have given a point, or a segment without a direction.
    #[cold]
    fn as_given(&self, i: usize, error: Error) -> Error {
        let Error::BadRecord { what: "ray", index, field, value, why } = error else { return error };
        let Ray { origin, direction, .. } = self.rays.ray(i);
        let is_segment = self.ray_attributes.directions_low.is_some();
        let segment = |end, place, why: &'static str| Error::record("segment", index, end, commas(place), why);
        match field {
            "direction" if is_segment => {
                // Not the coordinates: the caller may have subtracted an origin.
                let why = "both ends are the same point, which has no direction; `contains` tests points";
                Error::record("segment", index, "end", "the start", why)
            }
            "ox" | "oy" | "oz" if is_segment => segment("start", origin, "a start must be finite"),
            "dx" | "dy" | "dz" if is_segment => {
                segment("end", origin + direction, "both ends must be finite, and less than 3.4e38 apart in x, y and z")
            }
            _ => Error::BadRecord { what: self.rays.names()[0], index, field, value, why },
        }
    }

    /// Whether nothing moves and no attribute changes the intersection, so that the record alone decides whether a ray is valid.
    fn at_rest(&self) -> bool {
        self.time_range.is_none() && !self.ray_attributes.has_motion()
    }

    /// Whether these rays of the batch are valid, if they are given as records, which alone decide it. Usually they are: one pass without
    /// branches confirms it.
    pub(crate) fn are_usable(&self, level: SimdLevel, rays: &[Ray]) -> bool {
        let records_alone =
            matches!(self.rays, RaySource::Records(_)) && self.at_rest() && self.ray_attributes.from_ids.is_none();
        records_alone && level.are_usable(rays)
    }

    /// Indices of the valid rays. `rays` are the rays of this batch as records.
    ///
    /// # Errors
    /// The error of the first invalid ray, if the query refuses invalid rays.
    pub(crate) fn valid_rays(&self, level: SimdLevel, rays: &[Ray], check_start: impl CheckStart) -> Result<Vec<u32>> {
        if self.are_usable(level, rays) {
            return Ok((0..rays.len() as u32).collect());
        }
        let mut usable = Vec::with_capacity(rays.len());
        for i in 0..rays.len() {
            match self.check_one(i, check_start) {
                Ok(()) => usable.push(i as u32),
                Err(error) if self.query.on_bad == OnBad::Refuse => return Err(error),
                Err(_) => {}
            }
        }
        Ok(usable)
    }
}
