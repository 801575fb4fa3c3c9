//! What goes in: spheres, rays and points, borrowed.

use std::ops::Range;

use crate::emit::Source;
use crate::records::{Ray, Sphere};

/// Spheres to make a scene of: a borrowed slice, later with more columns.
#[derive(Clone, Copy, Debug)]
pub struct Spheres<'a> {
    pub(crate) records: &'a [Sphere],
}

/// Rays to cast: a borrowed slice, or a [source](crate::emit) that makes them.
#[derive(Clone, Copy, Debug)]
pub struct Rays<'a> {
    pub(crate) source: Source<'a>,
    /// The number of the first one, when they are a part of a longer list.
    pub(crate) first: Option<u64>,
}

impl Rays<'_> {
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
        Self { source: self.source.part(start..end), first: Some(first) }
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
        Self { source, first: None }
    }
}

/// Points to be looked at: a borrowed slice.
#[derive(Clone, Copy, Debug)]
pub struct Points<'a> {
    pub(crate) records: &'a [Point],
    pub(crate) first: u64,
}

type Point = [f32; 3];

impl Points<'_> {
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
from_slices!(Spheres, Sphere, |records| Spheres { records });
from_slices!(Rays, Ray, |records| Source::Records(records).into());
from_slices!(Points, Point, |records| Points { records, first: 0 });
