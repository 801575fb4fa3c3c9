//! What comes out: records or bits, and a report.

use std::ops::Deref;
use std::time::Instant;

use crate::records::{Hit, Interval};

/// Counts of a batch, which add up to those of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) hits: u64,
    pub(crate) skipped: u64,
    pub(crate) judged: u64,
    pub(crate) beyond: u64,
}

impl std::ops::Add for Tally {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            hits: self.hits + other.hits,
            skipped: self.skipped + other.skipped,
            judged: self.judged + other.judged,
            beyond: self.beyond + other.beyond,
        }
    }
}

/// How a query went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Rays cast.
    pub rays: u64,
    /// Rays that met a sphere (for `approach`: that touch or enter one).
    pub hits: u64,
    /// Rays that could not be used and missed ([`OnBad::Skip`](crate::OnBad::Skip)).
    pub skipped: u64,
    /// Rays that miss only because their root exceeds the largest f32.
    pub beyond: u64,
    /// Rays decided by exact arithmetic ([`Precision::Exact`](crate::Precision::Exact)).
    pub judged: u64,
    /// Wall time.
    pub seconds: f64,
}

impl Report {
    pub(crate) fn new(rays: usize, tally: Tally, start: Instant) -> Self {
        let Tally { hits, skipped, judged, beyond } = tally;
        Self { rays: rays as u64, hits, skipped, beyond, judged, seconds: start.elapsed().as_secs_f64() }
    }
}

impl std::ops::Add for Report {
    type Output = Self;

    /// The report of two parts cast one after the other.
    fn add(self, other: Self) -> Self {
        Self {
            rays: self.rays + other.rays,
            hits: self.hits + other.hits,
            skipped: self.skipped + other.skipped,
            beyond: self.beyond + other.beyond,
            judged: self.judged + other.judged,
            seconds: self.seconds + other.seconds,
        }
    }
}

/// One record a ray, in their order, and how it went.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Answer<T> {
    /// One for each ray.
    pub records: Vec<T>,
    /// How it went.
    pub report: Report,
}

/// The answer of `closest`.
pub type Hits = Answer<Hit>;

impl<T> Deref for Answer<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.records
    }
}

/// The answer of `occluded`: one bit a ray, ray 0 in bit 0 of word 0; bits past the last ray are 0.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Bits {
    /// The words.
    pub words: Vec<u32>,
    /// How many rays.
    pub len: usize,
    /// How it went.
    pub report: Report,
}

impl Bits {
    /// Whether ray `i` met a sphere; `None` past the last ray.
    pub fn get(&self, i: usize) -> Option<bool> {
        let word = self.words.get(i / 32)?;
        (i < self.len).then(|| word >> (i % 32) & 1 == 1)
    }

    /// All of them in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = bool> + '_ {
        (0..self.len).map(|i| self.get(i) == Some(true))
    }
}

/// The answer of `all` and `nearest`: each ray's spheres one after the other, in order of (`t`, id) where `t` is the policy's
/// ([`Interval::met_at`]). Their raw roots tell how long a ray is inside: a chord is `t_exit − t_enter`, in units of the direction.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Lists {
    /// Where each ray's spheres begin among the records: one more than there are rays, from 0 to the number of records.
    pub offsets: Vec<u64>,
    /// What was met: both roots, never clipped to the ray's ends, and the id.
    pub records: Vec<Interval>,
    /// How it went; a ray that meets anything is one hit.
    pub report: Report,
}

impl Lists {
    /// How many rays.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there were no rays.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The spheres that ray `i` meets, in order, none of them when it misses; `None` past the last ray.
    pub fn get(&self, i: usize) -> Option<&[Interval]> {
        let (start, end) = (*self.offsets.get(i)?, *self.offsets.get(i + 1)?);
        self.records.get(start as usize..end as usize)
    }

    /// The spheres of every ray, in the order of the rays.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[Interval]> {
        (0..self.len()).map(|i| self.get(i).unwrap_or_default())
    }
}

/// All spheres, not only the first so many.
pub(crate) const ALL: u32 = u32::MAX;
