//! Reader of `.pdb`, the Protein Data Bank's format: the `ATOM` and `HETATM` lines, in angstrom. Other lines, such as bonds, are ignored.
//!
//! Columns, from 1: name 13–16, alternate location 17, residue 18–27, x 31–38, y 39–46, z 47–54, element 77–78 (wwPDB format version 3.30).
//! Without an element, the name decides (`pdb_names.rs`).

use std::collections::HashSet;

use super::atoms::{Atom, Lines};
use super::elements::number_of_label;
use super::input::Input;
use super::pdb_names::{self, Name};
use super::read_options::{Models, ReadOptions};
use super::table::{ReadFormat, RowSink, TableReader};
use crate::error::Result;
use crate::schema::convert::RowLocation;
use crate::schema::kinds::TableSchema;

pub(crate) const FORMAT: ReadFormat = ReadFormat { extension: "pdb", first_byte: None, open };

/// Maximum number of lines that are kept until a residue ends.
const LONGEST_RESIDUE: usize = 1 << 12;

/// The line of an atom.
struct AtomLine {
    text: String,
    place: RowLocation,
    /// Number of columns by which a serial number of more than five digits shifts the others.
    shift: usize,
    /// Last column of the name of the residue. Some programs use the blank column 21.
    residue_end: usize,
    is_polymer: bool,
}

/// Properties of the model so far.
#[derive(Default)]
struct Model {
    /// Whether names are justified to the left.
    left: bool,
    /// Atoms that were read at one of several locations.
    placed: HashSet<String>,
}

fn open(input: Input, schema: &'static TableSchema, options: &ReadOptions) -> Result<TableReader> {
    let lines = Lines::new(input, schema, options)?;
    lines.check_unit()?;
    Ok(TableReader::new(lines.fields(), None, move |sink| read(lines, sink)))
}

fn read(mut lines: Lines, sink: &mut RowSink<'_>) -> Result<()> {
    let (mut line, mut residue, mut model) = (String::new(), Vec::<AtomLine>::new(), Model::default());
    let (mut models, mut is_new) = (0_u64, true);
    while lines.next(&mut line)? {
        // Some programs write END between models.
        if ["MODEL", "ENDMDL", "END"].contains(&line.get(..6).unwrap_or(&line).trim_ascii()) {
            is_new = true;
        }
        // A long serial number may begin in column 5.
        let is_atom = line.starts_with("ATOM") && matches!(line.as_bytes().get(4), Some(b' ' | b'0'..=b'9'));
        if !is_atom && !line.starts_with("HETATM") {
            continue;
        }
        if is_new {
            model.add(&lines, &mut residue, sink)?;
            model.placed.clear();
            (models, is_new) = (models + 1, false);
            if models > 1 && lines.options.models == Models::First {
                lines.leave_out_model(sink)?;
            }
        }
        if models > 1 && lines.options.models == Models::First {
            continue;
        }
        // A column is one character, in any encoding.
        let text = std::mem::take(&mut line).replace(|c: char| !c.is_ascii(), "?");
        let atom = AtomLine::new(text, lines.place);
        let continues = residue.last().is_some_and(|last| last.columns(21, 27) == atom.columns(21, 27));
        if !continues || residue.len() == LONGEST_RESIDUE {
            model.add(&lines, &mut residue, sink)?;
        }
        residue.push(atom);
    }
    if models == 0 {
        return Err(lines.fault_of_file("it has no line that begins with ATOM or HETATM"));
    }
    model.add(&lines, &mut residue, sink)
}

impl AtomLine {
    fn new(text: String, place: RowLocation) -> Self {
        let is = |column: usize, of: fn(&u8) -> bool| text.as_bytes().get(column - 1).is_some_and(of);
        // The decimal points show whether the other columns moved.
        let has_points = |shift: &usize| [35, 43, 51].iter().all(|column| is(column + shift, |byte| *byte == b'.'));
        let shift = if is(12, u8::is_ascii_digit) { (0..=3).find(has_points).unwrap_or(0) } else { 0 };
        let mut atom = Self { text, place, shift, residue_end: 21, is_polymer: true };
        if !pdb_names::is_polymer(atom.residue()) {
            atom.residue_end = 20;
            atom.is_polymer = pdb_names::is_polymer(atom.residue());
        }
        atom
    }

    /// The characters in these columns.
    fn columns(&self, from: usize, to: usize) -> &str {
        let [from, to] = [from - 1, to].map(|column| (column + self.shift).min(self.text.len()));
        self.text.get(from..to).unwrap_or_default()
    }

    fn cell(&self, from: usize, to: usize) -> &str {
        self.columns(from, to).trim_ascii()
    }

    /// The coordinate that begins in this column. One that is too long for its columns runs into the next: then all of it, which is no
    /// number.
    fn coordinate(&self, from: usize) -> &str {
        let cell = self.cell(from, from + 7);
        let run = self.columns(from, self.text.len()).split_ascii_whitespace().next().unwrap_or_default();
        if self.columns(from + 4, from + 4) != "." && run.len() > cell.len() { run } else { cell }
    }

    fn residue(&self) -> &str {
        self.cell(18, self.residue_end)
    }

    fn name(&self) -> Name<'_> {
        Name { columns: self.columns(13, 16), residue: self.residue(), is_polymer: self.is_polymer }
    }

    /// Whether the atom has several locations.
    fn is_disordered(&self) -> bool {
        !self.cell(17, 17).is_empty()
    }

    /// Whether the location is the only or the first one.
    fn is_first(&self) -> bool {
        ["", "A", "1"].contains(&self.cell(17, 17))
    }

    /// Name and residue, without the location.
    fn id(&self) -> String {
        format!("{}{}", self.columns(13, 16), self.columns(18, 27))
    }

    fn element(&self, left: bool) -> Option<u32> {
        let (symbol, charge) = (self.cell(77, 78), self.cell(79, 80));
        // Before 1996, columns 73 to 80 had a code and a line number. Long names of segments also reach the column.
        if !symbol.starts_with(|c: char| c.is_ascii_alphabetic()) || charge.contains(|c: char| c.is_ascii_alphabetic())
        {
            return self.name().element(left);
        }
        let element = number_of_label(symbol);
        // Atoms of unknown residues may be any: some programs call all residues UNK.
        let is_likely = |element| pdb_names::is_common(element) || self.residue().eq_ignore_ascii_case("UNK");
        if self.is_polymer && !element.is_some_and(is_likely) {
            return self.name().element(left);
        }
        element
    }
}

impl Model {
    /// Passes the atoms of a residue to `sink`, and removes them.
    fn add(&mut self, lines: &Lines, residue: &mut Vec<AtomLine>, sink: &mut RowSink<'_>) -> Result<()> {
        self.left |= residue.iter().any(|atom| atom.name().is_left_justified());
        let alternates = self.alternates(residue);
        for (atom, is_alternate) in residue.iter().zip(alternates) {
            lines.add(
                &Atom {
                    place: atom.place,
                    label: atom.cell(13, 16),
                    element: atom.element(self.left),
                    radius: None,
                    position: [31, 39, 47].map(|from| atom.coordinate(from)),
                    is_alternate,
                },
                sink,
            )?;
        }
        residue.clear();
        Ok(())
    }

    /// For each atom of a residue, whether it is read at another location. The location that is read is blank, A or 1, or else the
    /// first one.
    fn alternates(&mut self, residue: &[AtomLine]) -> Vec<bool> {
        if residue.iter().all(|atom| !atom.is_disordered()) {
            return vec![false; residue.len()];
        }
        // Residues of two kinds may have the same number, as alternatives to each other: one of them is read.
        let kinds = |of: fn(&AtomLine) -> bool| -> HashSet<&str> {
            residue.iter().filter(|atom| of(atom)).map(AtomLine::residue).collect()
        };
        let (with_first, with_one) = (kinds(AtomLine::is_first), kinds(|atom| !atom.is_disordered()));
        let mut all = residue.iter().map(AtomLine::residue);
        let read = all.clone().find(|kind| with_first.contains(kind) && !with_one.contains(kind));
        let read = read.or_else(|| all.find(|kind| !with_first.contains(kind)));
        let ids = residue.iter().map(AtomLine::id);
        let firsts: HashSet<String> =
            ids.clone().zip(residue).filter(|(_, atom)| atom.is_first()).map(|(id, _)| id).collect();
        ids.zip(residue)
            .map(|(id, atom)| {
                let kind = atom.residue();
                let is_other = !atom.is_first()
                    && (firsts.contains(&id)
                        || !with_first.contains(kind) && Some(kind) != read
                        || self.placed.contains(&id));
                if atom.is_disordered() && !is_other {
                    self.placed.insert(id);
                }
                is_other
            })
            .collect()
    }
}
