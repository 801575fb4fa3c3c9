//! A batch of rays with its attributes, policies and time range.

use std::ops::Range;

use super::ray_attributes::{Extras, OwnExtras};
use super::raygen::source::Source;
use crate::error::Result;
use crate::query::policy::{OnBad, Query};
use crate::query::validate::is_usable;
use crate::records::Ray;
use crate::runtime::cancel::Watch;

/// Rays that are cast together. `first` is the index of the first one in the whole input.
#[derive(Clone, Copy)]
pub(crate) struct Batch<'a> {
    pub(crate) first: u64,
    pub(crate) rays: Source<'a>,
    pub(crate) extras: Extras<'a>,
    pub(crate) query: &'a Query,
    /// Time range in which the motion of the spheres is known; None if they rest.
    pub(crate) span: Option<[f32; 2]>,
    pub(crate) watch: &'a Watch,
}

/// Owned copy of some rays of a batch with their attributes: a range for a task that outlives the caller's borrow, or gathered rays.
pub(crate) struct Taken {
    first: u64,
    pub(crate) rays: Vec<Ray>,
    extras: OwnExtras,
    span: Option<[f32; 2]>,
}

impl Taken {
    /// Borrows the copy as a batch.
    pub(crate) fn batch<'a>(&'a self, query: &'a Query, watch: &'a Watch) -> Batch<'a> {
        let (rays, extras) = (Source::Records(&self.rays), self.extras.lend());
        Batch { first: self.first, rays, extras, query, span: self.span, watch }
    }
}

impl<'a> Batch<'a> {
    /// A slice of the batch.
    pub(crate) fn part(&self, range: Range<usize>) -> Self {
        let (first, rays) = (self.first + range.start as u64, self.rays.part(range.clone()));
        Self { first, rays, extras: self.extras.part(range), ..*self }
    }

    /// Copies a range of the rays for a task that outlives the caller's borrow. The copy consists of records and no longer knows its
    /// source. So rays from generators are checked here, if invalid ones are errors, where the message can name the point or pose.
    pub(crate) fn owned(&self, range: Range<usize>) -> Result<Taken> {
        let part = self.part(range);
        let Self { first, rays, extras, span, .. } = part;
        if self.query.on_bad == OnBad::Refuse && !matches!(rays, Source::Records(_)) {
            (0..rays.len()).try_for_each(|i| part.check_one(i))?;
        }
        Ok(Taken { first, rays: rays.records().into_owned(), extras: extras.some(0..rays.len()), span })
    }

    /// Gathers the rays with these indices, to cast them again. They are not checked: the first cast has reported errors.
    pub(crate) fn some(&self, numbers: &[usize]) -> Taken {
        let rays = numbers.iter().map(|&i| self.rays.ray(i)).collect();
        Taken { first: self.first, rays, extras: self.extras.some(numbers.iter().copied()), span: self.span }
    }
}

impl Batch<'_> {
    /// Returns an error if ray `i` is invalid.
    #[inline]
    pub(crate) fn check_one(&self, i: usize) -> Result<()> {
        let number = self.first + i as u64;
        self.rays.check_one(i, number)?;
        if self.at_rest() {
            return Ok(());
        }
        self.extras.check_one(i, number, &self.rays.ray(i), self.span)
    }

    /// Whether nothing moves and no attribute changes the intersection, so that the record alone decides whether a ray is valid.
    fn at_rest(&self) -> bool {
        self.span.is_none() && !self.extras.move_things()
    }

    /// Indices of the valid rays. `rays` are the rays of this batch as records.
    ///
    /// # Errors
    /// The error of the first invalid ray, if the query refuses invalid rays.
    pub(crate) fn usable(&self, rays: &[Ray]) -> Result<Vec<u32>> {
        // Usually every ray is valid. One pass without branches confirms it.
        let records_alone = matches!(self.rays, Source::Records(_)) && self.at_rest();
        if records_alone && rays.iter().fold(true, |all, ray| all & is_usable(ray)) {
            return Ok((0..rays.len() as u32).collect());
        }
        let mut usable = Vec::with_capacity(rays.len());
        for i in 0..rays.len() {
            match self.check_one(i) {
                Ok(()) => usable.push(i as u32),
                Err(error) if self.query.on_bad == OnBad::Refuse => return Err(error),
                Err(_) => {}
            }
        }
        Ok(usable)
    }
}
