//! Rows of atoms that are left out.

use crate::escape::quoted;

/// Why a row is left out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Omitted<'a> {
    /// The atom is read at another of its alternate locations.
    AlternateLocation,
    /// The element of the atom is unknown. Contains the label of the atom.
    UnknownAtom(&'a str),
    /// The row stands for all rows of a further model or frame.
    Model,
}

/// What was left out of a file of atoms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOut {
    /// Number of alternate locations.
    pub alternate_locations: u64,
    /// Number of atoms whose element is unknown.
    pub unknown_atoms: u64,
    /// Label and place of the first atom whose element is unknown.
    pub first_unknown: String,
    /// Number of models or frames after the first.
    pub models: u64,
}

impl LeftOut {
    /// Counts a row. `place` describes where it is.
    pub(crate) fn note(&mut self, omitted: Omitted<'_>, place: impl FnOnce() -> String) {
        match omitted {
            Omitted::AlternateLocation => self.alternate_locations += 1,
            Omitted::UnknownAtom(label) => {
                if self.unknown_atoms == 0 {
                    self.first_unknown = format!("'{}' in {}", quoted(label), place());
                }
                self.unknown_atoms += 1;
            }
            Omitted::Model => self.models += 1,
        }
    }
}
