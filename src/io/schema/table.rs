//! A table read whole: records with their optional columns.

use super::optional::Beside;
use super::rounding::Rounding;
use crate::batch::input::Spheres;
use crate::records::Sphere;

/// What a file held.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table<T> {
    /// The records, in the file's order.
    pub records: Vec<T>,
    /// What the file holds beside them.
    pub beside: Beside,
    /// What rounding to f32 did to them.
    pub rounding: Rounding,
}

impl Table<Sphere> {
    /// The spheres, with what is beside them.
    pub fn spheres(&self) -> Spheres<'_> {
        self.beside.spheres((&self.records).into())
    }
}
