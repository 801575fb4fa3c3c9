//! Rays that are cast together, and how that went.

use std::ops::Range;

use super::ray_attributes::{Extras, OwnExtras};
use super::raygen::source::Source;
use crate::error::Result;
use crate::query::policy::{OnBad, Query};
use crate::query::validate::is_usable;
use crate::records::Ray;
use crate::runtime::cancel::Watch;

/// Rays cast together: number `first` of the whole input, and those after it.
#[derive(Clone, Copy)]
pub(crate) struct Batch<'a> {
    pub(crate) first: u64,
    pub(crate) rays: Source<'a>,
    pub(crate) extras: Extras<'a>,
    pub(crate) query: &'a Query,
    /// The time for which spheres are known to move, if they do.
    pub(crate) span: Option<[f32; 2]>,
    pub(crate) watch: &'a Watch,
}

/// Some rays of a batch, and what they bring along, for who outlives the caller's borrow or picks them.
pub(crate) struct Taken {
    first: u64,
    pub(crate) rays: Vec<Ray>,
    extras: OwnExtras,
    span: Option<[f32; 2]>,
}

impl Taken {
    /// As a batch.
    pub(crate) fn batch<'a>(&'a self, query: &'a Query, watch: &'a Watch) -> Batch<'a> {
        let (rays, extras) = (Source::Records(&self.rays), self.extras.lend());
        Batch { first: self.first, rays, extras, query, span: self.span, watch }
    }
}

impl<'a> Batch<'a> {
    /// Some of the rays.
    pub(crate) fn part(&self, range: Range<usize>) -> Self {
        let (first, rays) = (self.first + range.start as u64, self.rays.part(range.clone()));
        Self { first, rays, extras: self.extras.part(range), ..*self }
    }

    /// Some of the rays for a task that outlives the caller's borrow. Once written down they no longer know where they came from:
    /// what is to be refused is named before.
    pub(crate) fn owned(&self, range: Range<usize>) -> Result<Taken> {
        let part = self.part(range);
        let Self { first, rays, extras, span, .. } = part;
        if self.query.on_bad == OnBad::Refuse && !matches!(rays, Source::Records(_)) {
            (0..rays.len()).try_for_each(|i| part.check_one(i))?;
        }
        Ok(Taken { first, rays: rays.records().into_owned(), extras: extras.some(0..rays.len()), span })
    }

    /// The rays with these numbers, to be cast again: errors have been found before.
    pub(crate) fn some(&self, numbers: &[usize]) -> Taken {
        let rays = numbers.iter().map(|&i| self.rays.ray(i)).collect();
        Taken { first: self.first, rays, extras: self.extras.some(numbers.iter().copied()), span: self.span }
    }
}

impl Batch<'_> {
    /// Why ray `i` cannot be used, if it cannot.
    #[inline]
    pub(crate) fn check_one(&self, i: usize) -> Result<()> {
        let number = self.first + i as u64;
        self.rays.check_one(i, number)?;
        if self.at_rest() {
            return Ok(());
        }
        self.extras.check_one(i, number, &self.rays.ray(i), self.span)
    }

    /// Whether nothing moves, so that a ray is checked by its record alone.
    fn at_rest(&self) -> bool {
        self.span.is_none() && !self.extras.move_things()
    }

    /// Numbers of those of its rays, written down, that can be used.
    pub(crate) fn usable(&self, rays: &[Ray]) -> Result<Vec<u32>> {
        // Usually every ray can be used. One pass without branches finds that out.
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
