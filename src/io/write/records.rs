//! Answers as a stream: one row a ray, in batches, into a file that appears when it is complete.

use std::path::{Path, PathBuf};

use super::atomic_file::Whole;
#[cfg(feature = "parquet")]
use super::parquet;
use super::target::{Ready, check_output};
use super::{csv, npz};
use crate::error::{Error, Result};
use crate::io::format::extension;
use crate::records::{Approach, Hit, Holders, Interval, NO_SPHERE};
use crate::runtime::cancel::Watch;
use crate::shadow::lighting::Shadow;

/// A number of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// f4 in arrays.
    Float(f32),
    /// f4 in arrays, nothing in text: where there is nothing to be told.
    Blank(f32),
    /// f8 in arrays.
    Double(f64),
    /// f8 in arrays, nothing in text: where there is nothing to be told.
    BlankDouble(f64),
    /// u4 in arrays.
    Id(u32),
    /// u4 in arrays.
    Count(u32),
    /// u8 in arrays.
    Offset(u64),
    /// A byte in arrays, a word in text.
    Flag(bool),
    /// u1 in arrays, a word in text.
    Word(u8, &'static str),
}

impl Number {
    /// Bytes that it takes in an array.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Word(..) | Self::Flag(_) => 1,
            Self::Float(_) | Self::Blank(_) | Self::Id(_) | Self::Count(_) => 4,
            Self::Double(_) | Self::BlankDouble(_) | Self::Offset(_) => 8,
        }
    }
}

/// A column of answers: its name, and how to find its number.
pub type Column<T> = (&'static str, fn(&T) -> Number);

/// An answer that files can hold.
pub trait AnswerRow: Copy + Send + Sync + 'static {
    /// The columns, in order.
    const COLUMNS: &'static [Column<Self>];
    /// The answer of a ray that has none.
    const MISS: Self;
    /// Whether the ray has no answer: its cells are then empty in text.
    fn is_miss(&self) -> bool;
}

impl AnswerRow for Hit {
    const COLUMNS: &'static [Column<Self>] = &[("t", |hit| Number::Float(hit.t)), ("id", |hit| Number::Id(hit.id))];
    const MISS: Self = Hit::MISS;
    fn is_miss(&self) -> bool {
        !self.is_hit()
    }
}

impl AnswerRow for bool {
    const COLUMNS: &'static [Column<Self>] = &[("occluded", |bit| Number::Flag(*bit))];
    const MISS: Self = false;
    fn is_miss(&self) -> bool {
        false
    }
}

impl AnswerRow for u32 {
    const COLUMNS: &'static [Column<Self>] = &[("count", |count| Number::Count(*count))];
    const MISS: Self = 0;
    fn is_miss(&self) -> bool {
        false
    }
}

impl AnswerRow for Interval {
    const COLUMNS: &'static [Column<Self>] = &[
        ("t_enter", |found| Number::Float(found.t_enter)),
        ("t_exit", |found| Number::Float(found.t_exit)),
        ("id", |found| Number::Id(found.id)),
    ];
    const MISS: Self = Interval::MISS;
    fn is_miss(&self) -> bool {
        !self.is_hit()
    }
}

impl AnswerRow for Holders {
    const COLUMNS: &'static [Column<Self>] =
        &[("count", |found| Number::Count(found.count)), ("id", |found| Number::Id(found.id))];
    const MISS: Self = Holders::NONE;
    fn is_miss(&self) -> bool {
        false
    }
}

impl AnswerRow for Approach {
    const COLUMNS: &'static [Column<Self>] = &[
        ("t", |pass| Number::Float(pass.t)),
        ("clearance", |pass| Number::Float(pass.clearance)),
        ("id", |pass| Number::Id(pass.id)),
    ];
    const MISS: Self = Approach::NONE;
    fn is_miss(&self) -> bool {
        self.id == NO_SPHERE
    }
}

impl AnswerRow for Shadow {
    const COLUMNS: &'static [Column<Self>] = &[
        ("fraction", |shadow| Number::Double(shadow.fraction)),
        ("kind", |shadow| Number::Word(shadow.kind as u8, shadow.kind.word())),
    ];
    const MISS: Self = Shadow::LIT;
    fn is_miss(&self) -> bool {
        // Every observer has an answer.
        false
    }
}

/// Writes answers to `.npz`, `.csv` or `.parquet`, batch by batch. Until [`finish`](Self::finish) there is no file of that name, or the
/// one that was there before; dropped earlier, nothing is left behind.
pub struct AnswerWriter<T: AnswerRow> {
    path: PathBuf,
    file: Whole,
    columns: Vec<Column<T>>,
    format: Format<T>,
}

enum Format<T: AnswerRow> {
    Text,
    Arrays(npz::Spools<T>),
    #[cfg(feature = "parquet")]
    Groups(Box<parquet::Groups<T>>),
}

impl<T: AnswerRow> AnswerWriter<T> {
    /// Begins a file in the format of the extension.
    ///
    /// # Errors
    /// As [`check_output`]; [`Error::Io`] when nothing can be written there.
    pub fn create(path: &Path) -> Result<Self> {
        Self::create_with(path, T::COLUMNS.to_vec())
    }

    /// The same with other columns than the answer's own.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_with(path: &Path, columns: Vec<Column<T>>) -> Result<Self> {
        let target = check_output(path, &[])?;
        let failed = |e| cannot_write(path, &e);
        let mut file = Whole::create(target).map_err(failed)?;
        let format = match extension(path).as_str() {
            "npz" => Format::Arrays(npz::Spools::new(file.folder(), &columns).map_err(failed)?),
            // Through a handle of its own, at one position with the file's.
            #[cfg(feature = "parquet")]
            "parquet" => {
                let file = file.out.get_ref().try_clone().map_err(failed)?;
                Format::Groups(Box::new(parquet::Groups::new(file, &columns).map_err(failed)?))
            }
            _ => {
                csv::header(&mut file.out, &columns).map_err(failed)?;
                Format::Text
            }
        };
        Ok(Self { path: path.to_path_buf(), file, columns, format })
    }

    /// Adds answers.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(&mut self, answers: &[T]) -> Result<()> {
        let written = match &mut self.format {
            Format::Text => csv::rows(&mut self.file.out, &self.columns, answers),
            Format::Arrays(spools) => spools.write(answers),
            #[cfg(feature = "parquet")]
            Format::Groups(groups) => groups.write(answers),
        };
        written.map_err(|e| cannot_write(&self.path, &e))
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Cancelled`]; then everything is as it was before [`create`](Self::create).
    pub fn finish(self, watch: &Watch) -> Result<()> {
        self.complete(watch)?.appear()
    }

    /// Completes the file, which gets its name later: where there are several, none appears before all are complete.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn complete(self, watch: &Watch) -> Result<Ready> {
        let Self { path, mut file, format, .. } = self;
        let failed = |e| cannot_write(&path, &e);
        match format {
            Format::Text => {}
            Format::Arrays(spools) => {
                // The archive is as large as all that was written before: there is time to change one's mind.
                let assembled = spools.assemble(&mut file.out, watch);
                watch.check()?;
                assembled.map_err(failed)?;
            }
            #[cfg(feature = "parquet")]
            Format::Groups(groups) => groups.finish().map_err(failed)?,
        }
        file.flush().map_err(failed)?;
        watch.check()?;
        Ready::new(&path, file)
    }
}

pub(crate) fn cannot_write(path: &Path, error: &std::io::Error) -> Error {
    let text = error.to_string();
    // The crate of temporary files says which of them it was about, a name that nobody has chosen.
    let own = error.raw_os_error().is_none().then(|| text.rsplit_once(" at path ")).flatten();
    let message = own.map_or(text.as_str(), |(why, _)| why).to_owned();
    Error::Io { action: "write", path: path.to_path_buf(), message }
}
