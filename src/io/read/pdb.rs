//! Reader of `.pdb`, the Protein Data Bank's format: the `ATOM` and `HETATM` lines of the first model, in angstrom. Of alternate locations,
//! the first is read (blank, `A` or `1`). Other lines, such as bonds, are ignored.
//!
//! Columns, from 1: alternate location 17, x 31–38, y 39–46, z 47–54, element 77–78 (wwPDB format version 3.30). Without an element, the
//! letters in columns 13–14, the start of the atom's name, are the element.

use super::atoms::{AtomText, Lines, fields};
use super::input::Input;
use super::read_options::{ReadOptions, refuse_kept};
use super::table_reader::{ReadFormat, RowSink, TableReader};
use crate::error::Result;
use crate::io::schema::kinds::TableSchema;

pub(crate) const FORMAT: ReadFormat = ReadFormat { extension: "pdb", first_byte: None, open };

#[derive(Debug)]
struct PdbReader {
    lines: Lines,
    fields: Vec<usize>,
}

fn open(input: Input, schema: &'static TableSchema, options: &ReadOptions) -> Result<Box<dyn TableReader>> {
    refuse_kept(&input, options)?;
    let fields = fields(&input, schema)?;
    Ok(Box::new(PdbReader { lines: Lines::new(input), fields }))
}

impl TableReader for PdbReader {
    fn fields(&self) -> &[usize] {
        &self.fields
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn read(self: Box<Self>, schema: &'static TableSchema, sink: &mut RowSink<'_>) -> Result<()> {
        let Self { mut lines, .. } = *self;
        let (mut line, mut atoms) = (String::new(), 0_u64);
        while lines.next(&mut line)? {
            if line.starts_with("ENDMDL") {
                break;
            }
            if !line.starts_with("ATOM  ") && !line.starts_with("HETATM") {
                continue;
            }
            let cell = |from: usize, to: usize| {
                line.get(from - 1..to.min(line.len()).max(from - 1)).map(|cell| cell.trim_ascii()).unwrap_or_default()
            };
            if !["", "A", "1"].contains(&cell(17, 17)) {
                continue;
            }
            let name = cell(13, 14).trim_matches(|c: char| !c.is_ascii_alphabetic());
            let element = if cell(77, 78).is_empty() { name } else { cell(77, 78) };
            let position = [cell(31, 38), cell(39, 46), cell(47, 54)];
            lines.add(&AtomText { element, position }, schema, sink)?;
            atoms += 1;
        }
        if atoms == 0 {
            return Err(lines.fault_of_file("it has no line that begins with ATOM or HETATM"));
        }
        Ok(())
    }
}
