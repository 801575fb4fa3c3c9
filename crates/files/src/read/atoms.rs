//! Tables of atoms as text, one atom per line: shared by `.xyz` and `.pdb`. An atom fills position, radius and element, as far as the table
//! has them.

use std::path::PathBuf;

use super::bounded_text::{LONE_RETURN, LONGEST, too_long};
use super::csv;
use super::elements::radius;
use super::encoding::decode;
use super::input::Input;
use super::read_options::{ReadOptions, UnknownAtoms, refuse_kept};
use super::table::RowSink;
use crate::error::{Error, Result};
use crate::error::{bad_file, cannot_read};
use crate::escape::quoted;
use crate::schema::convert::{Number, Row, RowLocation};
use crate::schema::kinds::{ELEMENT, TableSchema};
use crate::schema::left_out::Omitted;

/// The tables that atoms can be: those with a position and at most a radius.
pub(crate) const TABLES: [&str; 3] = ["spheres", "points", "observers"];

/// An atom as the file has it.
pub(crate) struct Atom<'a> {
    pub(crate) place: RowLocation,
    pub(crate) label: &'a str,
    /// Atomic number; `None` if it is unknown.
    pub(crate) element: Option<u32>,
    /// Radius in the file, which replaces that of the element.
    pub(crate) radius: Option<&'a str>,
    /// x, y and z.
    pub(crate) position: [&'a str; 3],
    /// Whether the atom is at another location that is read.
    pub(crate) is_alternate: bool,
}

/// Lines of text, with the place of the current one.
#[derive(Debug)]
pub(crate) struct Lines {
    input: Input,
    path: PathBuf,
    pub(crate) options: ReadOptions,
    pub(crate) schema: &'static TableSchema,
    pub(crate) place: RowLocation,
    /// Bytes and lines read so far.
    position: u64,
    count: u64,
}

impl Lines {
    /// # Errors
    /// [`Error::BadFile`] for unknown columns that must be kept.
    pub(crate) fn new(input: Input, schema: &'static TableSchema, options: &ReadOptions) -> Result<Self> {
        refuse_kept(&input, options)?;
        let path = input.path.clone();
        Ok(Self { input, path, options: *options, schema, place: RowLocation::Byte(0), position: 0, count: 0 })
    }

    /// Refuses another unit of lengths than that of atoms, such as that of a system.
    pub(crate) fn check_unit(&self) -> Result<()> {
        match self.options.unit {
            None | Some("angstrom") => Ok(()),
            Some(unit) => {
                let remedy = "write unit = \"angstrom\", or convert the atoms to a .csv";
                Err(self.fault(&format!("atoms are in angstrom, but the unit of the system is {unit}: {remedy}")))
            }
        }
    }

    /// The fields that atoms fill.
    pub(crate) fn fields(&self) -> Vec<usize> {
        let element = self.radius_field().and_then(|_| self.schema.place(ELEMENT));
        [0, 1, 2].into_iter().chain(self.radius_field()).chain(element).collect()
    }

    /// Reads the next line. False at the end.
    pub(crate) fn next(&mut self, line: &mut String) -> Result<bool> {
        self.place = match self.input.length() {
            Some(_) => RowLocation::Byte(self.position),
            None => RowLocation::Index(self.count),
        };
        let mut bytes = Vec::new();
        let count = self.input.read_line(&mut bytes, LONGEST as usize + 1).map_err(|e| cannot_read(&self.path, e))?;
        if count as u64 > LONGEST {
            return Err(self.fault(&too_long()));
        }
        self.position += count as u64;
        self.count += 1;
        *line = decode(bytes).map_err(|why| self.fault(why))?;
        if line.trim_end().contains('\r') {
            return Err(self.fault(LONE_RETURN));
        }
        Ok(count > 0)
    }

    /// An error about the current line.
    pub(crate) fn fault(&self, why: &str) -> Error {
        self.fault_at(self.place, why)
    }

    pub(crate) fn fault_at(&self, place: RowLocation, why: &str) -> Error {
        bad_file(&self.path, format!("{}: {why}", place.describe(&self.path)))
    }

    /// An error about the whole file.
    pub(crate) fn fault_of_file(&self, why: &str) -> Error {
        bad_file(&self.path, why)
    }

    /// Index of the radius in a row. Points and observers have none.
    pub(crate) fn radius_field(&self) -> Option<usize> {
        self.schema.fields.iter().position(|name| *name == "r")
    }

    /// What the user writes to give unknown atoms a radius: a key of a system file, or an option.
    pub(crate) fn radius_option(&self) -> &'static str {
        if self.schema.place(ELEMENT).is_some() { "unknown_atoms = RADIUS" } else { "--unknown-atoms RADIUS" }
    }

    /// Passes an atom to `sink`.
    pub(crate) fn add(&self, atom: &Atom<'_>, sink: &mut RowSink<'_>) -> Result<()> {
        let schema = self.schema;
        let mut row = Row { place: atom.place, ..Row::new(schema) };
        let number = |field: usize, text: &str| -> Result<Number> {
            csv::number(text).ok_or_else(|| {
                self.fault_at(atom.place, &format!("{} is '{}': expected a number", schema.name(field), quoted(text)))
            })
        };
        for (field, text) in atom.position.into_iter().enumerate() {
            row.texts[field] = text;
            row.numbers[field] = number(field, text)?;
        }
        // Points and observers have no radius, so any label will do.
        let Some(field) = self.radius_field() else { return sink(&row) };
        row.omitted = atom.is_alternate.then_some(Omitted::AlternateLocation);
        match (atom.radius, atom.element, self.options.unknown_atoms) {
            (Some(text), ..) => {
                row.texts[field] = text;
                row.numbers[field] = number(field, text)?;
            }
            (None, Some(element), _) => row.numbers[field] = radius(element).into(),
            (None, None, UnknownAtoms::Radius(radius)) => row.numbers[field] = radius.into(),
            (None, None, _) if atom.is_alternate => {}
            (None, None, UnknownAtoms::Skip) => row.omitted = Some(Omitted::UnknownAtom(atom.label)),
            (None, None, UnknownAtoms::Refuse) => {
                let (label, radius) = (quoted(atom.label), self.radius_option());
                let why = format!(
                    "'{label}' is not a chemical element; {radius} gives such atoms a radius, and skip leaves them out"
                );
                return Err(self.fault_at(atom.place, &why));
            }
        }
        if let Some(field) = schema.place(ELEMENT) {
            row.numbers[field] = f64::from(atom.element.unwrap_or(0)).into();
        }
        sink(&row)
    }

    /// Tells `sink` that a model or frame is left out.
    pub(crate) fn leave_out_model(&self, sink: &mut RowSink<'_>) -> Result<()> {
        sink(&Row { place: self.place, omitted: Some(Omitted::Model), ..Row::new(self.schema) })
    }
}
