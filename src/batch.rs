//! What goes in: spheres, rays and points, borrowed.

use std::ops::Range;

use crate::emit::Source;
use crate::extras::Extras;
use crate::records::{Ray, Sphere};

/// Spheres to make a scene of: a borrowed slice, and columns beside it.
#[derive(Clone, Copy, Debug)]
pub struct Spheres<'a> {
    pub(crate) records: &'a [Sphere],
    pub(crate) masks: Option<&'a [u32]>,
}

impl<'a> Spheres<'a> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Gives each sphere a mask: a ray meets it only when their masks share a bit. Without, every bit is set: only a ray with mask 0
    /// passes through.
    #[must_use]
    pub fn masks(self, masks: &'a [u32]) -> Self {
        Self { masks: Some(masks), ..self }
    }
}

/// Rays to cast: a borrowed slice, or a [source](crate::emit) that makes them.
#[derive(Clone, Copy, Debug)]
pub struct Rays<'a> {
    pub(crate) source: Source<'a>,
    /// The number of the first one, when they are a part of a longer list.
    pub(crate) first: Option<u64>,
    pub(crate) extras: Extras<'a>,
}

impl<'a> Rays<'a> {
    /// Gives each ray a mask: it meets only spheres whose [masks](Spheres::masks) share a bit with it. Without, every bit is set.
    #[must_use]
    pub fn masks(self, masks: &'a [u32]) -> Self {
        Self { extras: Extras { masks: Some(masks), ..self.extras }, ..self }
    }

    /// Names for each ray one sphere that it does not meet, such as the one it starts on; [`NO_SPHERE`](crate::NO_SPHERE) for none.
    #[must_use]
    pub fn skip_ids(self, ids: &'a [u32]) -> Self {
        Self { extras: Extras { skip_ids: Some(ids), ..self.extras }, ..self }
    }

    /// Says that these are a part of a longer list, in which the first one has number `first`. Errors then name rays by
    /// their numbers there, and a pairwise scene of the whole list pairs them by it.
    #[must_use]
    pub fn numbered_from(self, first: u64) -> Self {
        Self { first: Some(first), ..self }
    }

    /// Rays `range` of these, as far as there are so many, numbered as they are here.
    #[must_use]
    pub fn part(self, range: Range<usize>) -> Self {
        let end = range.end.min(self.len());
        let start = range.start.min(end);
        let first = self.first.unwrap_or(0).saturating_add(start as u64);
        Self { source: self.source.part(start..end), first: Some(first), extras: self.extras.part(start..end) }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.source.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ray `i`, as every device casts it, though it may be one that cannot be used; none when there are fewer.
    pub fn ray(&self, i: usize) -> Option<Ray> {
        (i < self.len()).then(|| self.source.ray(i))
    }
}

impl<'a> From<Source<'a>> for Rays<'a> {
    fn from(source: Source<'a>) -> Self {
        Self { source, first: None, extras: Extras::default() }
    }
}

/// Points to be looked at: a borrowed slice.
#[derive(Clone, Copy, Debug)]
pub struct Points<'a> {
    pub(crate) records: &'a [Point],
    pub(crate) first: u64,
    pub(crate) extras: Extras<'a>,
}

type Point = [f32; 3];

impl<'a> Points<'a> {
    /// Gives each point a mask: it looks only at spheres whose [masks](Spheres::masks) share a bit with it.
    #[must_use]
    pub fn masks(self, masks: &'a [u32]) -> Self {
        Self { extras: Extras { masks: Some(masks), ..self.extras }, ..self }
    }

    /// Names for each point one sphere that it does not look at; [`NO_SPHERE`](crate::NO_SPHERE) for none.
    #[must_use]
    pub fn skip_ids(self, ids: &'a [u32]) -> Self {
        Self { extras: Extras { skip_ids: Some(ids), ..self.extras }, ..self }
    }

    /// Says that these are a part of a longer list, in which the first one has number `first`. Errors then name points by
    /// their numbers there, and a pairwise scene of the whole list pairs them by it.
    #[must_use]
    pub fn numbered_from(self, first: u64) -> Self {
        Self { first, ..self }
    }
}

macro_rules! from_slices {
    ($columns:ident, $record:ident, $of:expr) => {
        impl<'a> From<&'a [$record]> for $columns<'a> {
            fn from(records: &'a [$record]) -> Self {
                $of(records)
            }
        }
        impl<'a> From<&'a Vec<$record>> for $columns<'a> {
            fn from(records: &'a Vec<$record>) -> Self {
                records.as_slice().into()
            }
        }
        impl<'a, const N: usize> From<&'a [$record; N]> for $columns<'a> {
            fn from(records: &'a [$record; N]) -> Self {
                records.as_slice().into()
            }
        }
    };
}
from_slices!(Spheres, Sphere, |records| Spheres { records, masks: None });
from_slices!(Rays, Ray, |records| Source::Records(records).into());
from_slices!(Points, Point, |records| Points { records, first: 0, extras: Extras::default() });
