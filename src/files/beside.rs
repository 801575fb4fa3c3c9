//! Columns beside records: whole numbers that a file may hold for each.

use super::rows::{Converter, Kind, Row};
use crate::batch::{Points, Rays, Spheres};
use crate::error::Result;
use crate::records::NO_SPHERE;

/// What columns beside records may be called, in the order of [`Beside`].
pub(super) const MASK: &str = "mask";
pub(super) const SKIP_ID: &str = "skip_id";

/// Whole numbers for each record, in columns that are there or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// Masks of spheres, of rays or of points.
    pub masks: Option<Vec<u32>>,
    /// The spheres that rays or points skip; [`NO_SPHERE`] for none.
    pub skip_ids: Option<Vec<u32>>,
}

impl Beside {
    /// Those of a file whose columns fill these fields, still empty.
    pub(super) fn of(kind: &Kind, filled: &[usize]) -> Self {
        let has = |name| kind.beside.iter().position(|n| *n == name).map(|k| kind.fields.len() + k);
        let column = |name| has(name).filter(|field| filled.contains(field)).map(|_| Vec::new());
        Self { masks: column(MASK), skip_ids: column(SKIP_ID) }
    }

    pub(super) fn clear(&mut self) {
        self.masks.iter_mut().chain(&mut self.skip_ids).for_each(Vec::clear);
    }

    /// Takes in what a row holds.
    pub(super) fn push(&mut self, kind: &Kind, converter: &Converter, row: &Row<'_>) -> Result<()> {
        for (k, name) in kind.beside.iter().enumerate() {
            let column = if *name == MASK { &mut self.masks } else { &mut self.skip_ids };
            let Some(column) = column else { continue };
            // A cell without a number skips nothing.
            let empty = (*name == SKIP_ID).then_some(NO_SPHERE);
            column.push(converter.whole(row, kind.fields.len() + k, name, empty)?);
        }
        Ok(())
    }

    /// Puts them beside rays, as many as there are numbers.
    pub fn rays<'a>(&'a self, mut rays: Rays<'a>) -> Rays<'a> {
        if let Some(masks) = &self.masks {
            rays = rays.masks(masks);
        }
        if let Some(ids) = &self.skip_ids {
            rays = rays.skip_ids(ids);
        }
        rays
    }

    /// Puts them beside points, as many as there are numbers.
    pub fn points<'a>(&'a self, mut points: Points<'a>) -> Points<'a> {
        if let Some(masks) = &self.masks {
            points = points.masks(masks);
        }
        if let Some(ids) = &self.skip_ids {
            points = points.skip_ids(ids);
        }
        points
    }

    /// Puts them beside spheres, as many as there are numbers.
    pub fn spheres<'a>(&'a self, spheres: Spheres<'a>) -> Spheres<'a> {
        match &self.masks {
            Some(masks) => spheres.masks(masks),
            None => spheres,
        }
    }
}
