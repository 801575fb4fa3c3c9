//! Table in memory: records with their optional columns.

use super::left_out::LeftOut;
use super::optional::OptionalColumns;
use super::rounding::Rounding;
use crate::batch::input::Spheres;
use crate::records::Sphere;

/// Contents of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table<T> {
    /// The records, in the order of the file.
    pub records: Vec<T>,
    /// The optional columns.
    pub optional: OptionalColumns,
    /// How rounding to f32 changed the records.
    pub rounding: Rounding,
    /// What was left out of a file of atoms. The records of such atoms have mask 0.
    pub left_out: LeftOut,
}

impl Table<Sphere> {
    /// The spheres with their optional columns.
    pub fn spheres(&self) -> Spheres<'_> {
        self.optional.spheres((&self.records).into())
    }
}
