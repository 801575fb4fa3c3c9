//! Results of a query: records, bits or lists, and a report.

use std::ops::Deref;

use super::policy::{Inside, Motion, Precision};
use crate::records::{Hit, Interval};
use crate::runtime::Instant;

/// Counts of a batch. Their sums are the counts of the query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) hits: u64,
    pub(crate) skipped: u64,
    pub(crate) exact: u64,
    pub(crate) overflowed: u64,
    pub(crate) off_surface: u64,
}

impl std::ops::Add for Tally {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            hits: self.hits + other.hits,
            skipped: self.skipped + other.skipped,
            exact: self.exact + other.exact,
            overflowed: self.overflowed + other.overflowed,
            off_surface: self.off_surface + other.off_surface,
        }
    }
}

/// Statistics of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Number of rays cast.
    pub rays: u64,
    /// Rays that hit a sphere (for `approach`: rays that touch or enter one).
    pub rays_hit: u64,
    /// Invalid rays, treated as misses ([`OnBad::Skip`](crate::OnBad::Skip)).
    pub skipped: u64,
    /// Overflow: rays that miss only because their root exceeds the largest f32.
    pub overflowed: u64,
    /// Rays resolved by exact arithmetic ([`Precision::Exact`](crate::Precision::Exact)).
    pub resolved_exactly: u64,
    /// Rays that start far from the surface of the sphere on which they [should start](crate::Rays::from_ids): farther than
    /// 2⁻²⁰ (|o| + |c| + r), for the origin o, the centre c and the radius r.
    pub off_surface: u64,
    /// Precision of the results: never [`Auto`](Precision::Auto), except in a report of nothing.
    pub precision: Precision,
    /// Wall-clock time in seconds.
    pub seconds: f64,
    /// The policy and the motion of the rays, for rays from their hits.
    pub(crate) inside: Inside,
    pub(crate) motion: Motion,
}

impl Report {
    pub(crate) fn new(rays: usize, tally: Tally, precision: Precision, start: Instant) -> Self {
        let Tally { hits: rays_hit, skipped, exact: resolved_exactly, overflowed, off_surface } = tally;
        let seconds = start.elapsed().as_secs_f64();
        let rays = rays as u64;
        Self {
            rays,
            rays_hit,
            skipped,
            overflowed,
            resolved_exactly,
            off_surface,
            precision,
            seconds,
            ..Self::default()
        }
    }
}

impl std::ops::Add for Report {
    type Output = Self;

    /// Report of two parts that were cast one after the other.
    fn add(self, other: Self) -> Self {
        Self {
            rays: self.rays + other.rays,
            rays_hit: self.rays_hit + other.rays_hit,
            skipped: self.skipped + other.skipped,
            overflowed: self.overflowed + other.overflowed,
            resolved_exactly: self.resolved_exactly + other.resolved_exactly,
            off_surface: self.off_surface + other.off_surface,
            precision: self.precision.max(other.precision),
            seconds: self.seconds + other.seconds,
            ..self
        }
    }
}

/// One record per ray, in the order of the rays, and a report. It dereferences to a slice, and a `for` loop takes its records.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Answer<T> {
    /// One record per ray.
    pub records: Vec<T>,
    /// Statistics of the query.
    pub report: Report,
}

/// Result of `closest`.
pub type Hits = Answer<Hit>;

impl<T> Deref for Answer<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.records
    }
}

impl<T> IntoIterator for Answer<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;
    fn into_iter(self) -> Self::IntoIter {
        self.records.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Answer<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.records.iter()
    }
}

/// Result of `occluded`: one bit per ray, ray 0 in bit 0 of word 0. Bits after the last ray are 0.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Bits {
    /// Packed words.
    pub words: Vec<u32>,
    /// Number of rays.
    pub len: usize,
    /// Statistics of the query.
    pub report: Report,
}

impl Bits {
    /// Whether ray `i` hit a sphere; `None` if `i` is out of range.
    pub fn get(&self, i: usize) -> Option<bool> {
        let word = self.words.get(i / 32)?;
        (i < self.len).then(|| word >> (i % 32) & 1 == 1)
    }

    /// Whether each ray hit a sphere, in the order of the rays.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = bool> + '_ {
        (0..self.len).map(|i| self.get(i) == Some(true))
    }
}

/// A list of records per ray, one ray after the other, and a report.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Lists<T> {
    /// Index in `records` at which each ray's list begins: one entry more than there are rays, from 0 to the number of records.
    pub offsets: Vec<u64>,
    /// The records of all lists.
    pub records: Vec<T>,
    /// Statistics of the query. A ray that hits any sphere counts as one hit.
    pub report: Report,
}

/// Result of `all` and `nearest`: both roots of each hit, never clipped to the ray's ends, and the id. The hits of a ray are ordered by
/// (`t`, id), where `t` follows the policy ([`Interval::hit_t`]). The chord inside a sphere is `t_exit − t_enter`, in units of the direction.
pub type HitLists = Lists<Interval>;

impl<T> Lists<T> {
    /// Number of rays.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there were no rays.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// List of ray `i`, in order; empty if there is nothing in it, `None` if `i` is out of range.
    pub fn get(&self, i: usize) -> Option<&[T]> {
        let (start, end) = (*self.offsets.get(i)?, *self.offsets.get(i + 1)?);
        self.records.get(start as usize..end as usize)
    }

    /// List of every ray, in the order of the rays.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[T]> {
        (0..self.len()).map(|i| self.get(i).unwrap_or_default())
    }
}

/// List limit that means all hits.
pub(crate) const ALL: u32 = u32::MAX;
