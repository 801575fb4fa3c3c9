//! What goes in: spheres and rays, borrowed.

use crate::records::{Ray, Sphere};

/// Spheres to make a scene of: a borrowed slice, later with more columns.
#[derive(Clone, Copy, Debug)]
pub struct Spheres<'a> {
    pub(crate) records: &'a [Sphere],
}

/// Rays to cast: a borrowed slice, later with more columns.
#[derive(Clone, Copy, Debug)]
pub struct Rays<'a> {
    pub(crate) records: &'a [Ray],
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
}

macro_rules! from_slices {
    ($columns:ident, $record:ident $(, $field:ident: $value:expr)?) => {
        impl<'a> From<&'a [$record]> for $columns<'a> {
            fn from(records: &'a [$record]) -> Self {
                Self { records $(, $field: $value)? }
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
from_slices!(Spheres, Sphere);
from_slices!(Rays, Ray, first: None);
