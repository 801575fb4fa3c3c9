//! Options of readers: the format of standard input, and the treatment of unknown columns and of atoms.

use super::input::Input;
use crate::error::Result;
use crate::error::bad_file;
use crate::format::StreamFormat;
use crate::schema::headings::split;
use umbracast::OnBad;

/// Treatment of columns that a table does not need and the program does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExtraColumns {
    /// They are an error, because a misspelt name would otherwise go unnoticed.
    #[default]
    Refuse,
    /// They are not read.
    Ignore,
    /// They are read as text, so that results can repeat them. Only `.csv` and `.parquet` can be read in this way.
    Keep,
}

/// Treatment of atoms whose element is unknown, such as virtual sites, when spheres are read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum UnknownAtoms {
    /// They are left out and counted. Their rows keep their ids.
    #[default]
    Skip,
    /// They are spheres of this radius.
    Radius(f64),
    /// They are an error.
    Refuse,
}

/// Which models of a `.pdb`, or frames of a `.xyz`, are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Models {
    /// The first one. The others are counted.
    #[default]
    First,
    /// All of them, one after the other.
    All,
}

/// How tables are read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Format of standard input (the path `-`) and of pipes whose name has no extension. By default the first byte decides: `.npy`, `.ply`,
    /// or else text with named columns. Raw records cannot be recognised.
    pub stream_format: Option<StreamFormat>,
    /// Unknown columns.
    pub extra: ExtraColumns,
    /// Radius of all spheres of a file that has points: no column `r`, no semi-axes and no atoms.
    pub sphere_radius: Option<f64>,
    /// Invalid spheres and observers. (Rays and points: see [`RayFile::read`](super::ray_stream::RayFile::read).) With [`OnBad::Skip`],
    /// they are kept as rows that nothing hits or sees. Text that is not a number is still refused.
    pub on_bad: OnBad,
    /// Unit of length that names of columns may have, such as `x [km]`. By default metres.
    pub unit: Option<&'static str>,
    /// Atoms whose element is unknown.
    pub unknown_atoms: UnknownAtoms,
    /// Models or frames of atoms.
    pub models: Models,
    /// With [`ExtraColumns::Keep`]: of the columns without a field, only these are read, by their lower-case names without a unit.
    pub(crate) only: Option<&'static [&'static str]>,
    /// Name of a field whose column of text is found, but not read as numbers. It can be kept.
    pub(crate) unread: Option<&'static str>,
}

impl ReadOptions {
    /// Whether a column without a field is kept as text.
    pub(crate) fn keeps(&self, heading: &str) -> bool {
        let is_asked = |texts: &[&str]| texts.contains(&split(heading).0.as_str());
        self.extra == ExtraColumns::Keep && self.only.is_none_or(is_asked)
    }

    /// Sets the format of standard input.
    #[must_use]
    pub fn stream_format(self, format: Option<StreamFormat>) -> Self {
        Self { stream_format: format, ..self }
    }

    /// Sets the treatment of unknown columns.
    #[must_use]
    pub fn extra(self, extra: ExtraColumns) -> Self {
        Self { extra, ..self }
    }

    /// Sets the radius of spheres that have none.
    #[must_use]
    pub fn sphere_radius(self, sphere_radius: Option<f64>) -> Self {
        Self { sphere_radius, ..self }
    }

    /// Sets the treatment of invalid spheres and observers.
    #[must_use]
    pub fn on_bad(self, on_bad: OnBad) -> Self {
        Self { on_bad, ..self }
    }

    /// Sets the unit of length that names of columns may have.
    #[must_use]
    pub fn unit(self, unit: Option<&'static str>) -> Self {
        Self { unit, ..self }
    }

    /// Sets the treatment of atoms whose element is unknown.
    #[must_use]
    pub fn unknown_atoms(self, unknown_atoms: UnknownAtoms) -> Self {
        Self { unknown_atoms, ..self }
    }

    /// Sets which models or frames of atoms are read.
    #[must_use]
    pub fn models(self, models: Models) -> Self {
        Self { models, ..self }
    }
}

impl ReadOptions {
    /// Whether a file may have unknown columns.
    pub(crate) fn ignores_unknown(&self) -> bool {
        self.extra != ExtraColumns::Refuse
    }
}

/// Refuses to keep the unknown columns of a format that is not text.
pub(crate) fn refuse_kept(input: &Input, options: &ReadOptions) -> Result<()> {
    if options.extra == ExtraColumns::Keep {
        return Err(bad_file(
            &input.path,
            "unknown columns can be kept only from .csv and .parquet; use --ignore-extra",
        ));
    }
    Ok(())
}
