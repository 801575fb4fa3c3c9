//! Table in memory: records with their optional columns.

use super::left_out::LeftOut;
use super::optional::OptionalColumns;
use super::rounding::Rounding;
use umbracast::Sphere;
use umbracast::Spheres;

/// Contents of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table<T> {
    /// The records, in the order of the file.
    pub records: Vec<T>,
    /// The optional columns.
    pub optional: OptionalColumns,
    /// Ids of invalid records, in ascending order. Their places have copies of others with mask 0, which no ray hits.
    pub skipped: Vec<u32>,
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
