//! Reader of `.xyz`, atoms as text: the number of atoms, a line of comment, and one line per atom with its element (symbol or atomic
//! number) and x, y, z in angstrom. Further cells of a line, and further frames of a trajectory, are ignored.

use super::atoms::{AtomText, Lines, fields};
use super::input::Input;
use super::read_options::{ReadOptions, refuse_kept};
use super::table_reader::{ReadFormat, RowSink, TableReader};
use crate::error::Result;
use crate::io::schema::kinds::TableSchema;

pub(crate) const FORMAT: ReadFormat = ReadFormat { extension: "xyz", first_byte: None, open };

/// A file whose first two lines have been read.
#[derive(Debug)]
struct XyzReader {
    lines: Lines,
    atoms: u64,
    fields: Vec<usize>,
}

fn open(input: Input, schema: &'static TableSchema, options: &ReadOptions) -> Result<Box<dyn TableReader>> {
    refuse_kept(&input, options)?;
    let fields = fields(&input, schema)?;
    let mut lines = Lines::new(input);
    let mut line = String::new();
    lines.next(&mut line)?;
    let Ok(atoms) = line.trim().parse::<u64>() else {
        return Err(lines.fault("expected the number of atoms; for a table of numbers, use .csv"));
    };
    // The comment may be blank.
    lines.next(&mut line)?;
    Ok(Box::new(XyzReader { lines, atoms, fields }))
}

impl TableReader for XyzReader {
    fn fields(&self) -> &[usize] {
        &self.fields
    }

    /// The number in the file is a claim, which no memory should be reserved for.
    fn rows(&self) -> Option<u64> {
        None
    }

    fn read(self: Box<Self>, schema: &'static TableSchema, sink: &mut RowSink<'_>) -> Result<()> {
        let Self { mut lines, atoms, .. } = *self;
        let mut line = String::new();
        for atom in 0..atoms {
            if !lines.next(&mut line)? {
                let why = format!("the first line claims {atoms} atoms, but the file has {atom}: it is truncated");
                return Err(lines.fault_of_file(&why));
            }
            let mut words = line.split_ascii_whitespace();
            let (Some(element), Some(x), Some(y), Some(z)) = (words.next(), words.next(), words.next(), words.next())
            else {
                return Err(lines.fault("expected an element and x, y, z"));
            };
            lines.add(&AtomText { element, position: [x, y, z] }, schema, sink)?;
        }
        Ok(())
    }
}
