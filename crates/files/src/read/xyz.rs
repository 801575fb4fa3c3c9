//! Reader of `.xyz`, atoms as text: the number of atoms, a line of comment, and one line per atom with its element (a symbol, or a label
//! that begins with one) and x, y, z in angstrom. Further cells of a line are ignored. Several frames may follow each other.
//!
//! In an extended XYZ, the comment has `Properties=name:type:count:…`, the names of all cells of a line: `pos`, `species` or `Z` (atomic
//! numbers), and optional `radius`.

use super::atoms::{Atom, Lines};
use super::elements::number_of_label;
use super::input::Input;
use super::read_options::{Models, ReadOptions, UnknownAtoms};
use super::table::{ReadFormat, RowSink, TableReader};
use crate::error::Result;
use crate::escape::quoted;
use crate::schema::convert::RowLocation;
use crate::schema::kinds::TableSchema;

pub(crate) const FORMAT: ReadFormat = ReadFormat { extension: "xyz", first_byte: None, open };

/// The first two lines of a frame.
struct Frame {
    place: RowLocation,
    atoms: u64,
    columns: Columns,
}

/// Index of the first cell of each column.
struct Columns {
    label: Option<usize>,
    atomic_number: Option<usize>,
    radius: Option<usize>,
    position: usize,
    /// Number of cells of a line; `None` if there may be more.
    count: Option<usize>,
}

fn open(input: Input, schema: &'static TableSchema, options: &ReadOptions) -> Result<TableReader> {
    let mut lines = Lines::new(input, schema, options)?;
    let (fields, mut line) = (lines.fields(), String::new());
    lines.next(&mut line)?;
    let Ok(atoms) = line.trim().parse::<u64>() else {
        return Err(lines.fault("expected the number of atoms; for a table of numbers, use .csv"));
    };
    let first = Frame { place: lines.place, atoms, columns: read_columns(&mut lines)? };
    // The number in the file is a claim, which no memory should be reserved for.
    Ok(TableReader::new(fields, None, move |sink| read(lines, &first, sink)))
}

fn read(mut lines: Lines, first: &Frame, sink: &mut RowSink<'_>) -> Result<()> {
    let mut line = String::new();
    read_frame(&mut lines, first, sink)?;
    while lines.next(&mut line)? {
        if line.trim().is_empty() {
            continue;
        }
        let place = lines.place;
        let Ok(atoms) = line.trim().parse::<u64>() else {
            let why = format!(
                "expected the number of atoms of another frame, or the end: the last frame has {}",
                first.atoms
            );
            return Err(lines.fault(&why));
        };
        if lines.options.models == Models::All {
            let columns = read_columns(&mut lines)?;
            read_frame(&mut lines, &Frame { place, atoms, columns }, sink)?;
            continue;
        }
        lines.leave_out_model(sink)?;
        // The comment and the atoms.
        for _ in 0..=atoms {
            if !lines.next(&mut line)? {
                break;
            }
        }
    }
    Ok(())
}

fn read_frame(lines: &mut Lines, frame: &Frame, sink: &mut RowSink<'_>) -> Result<()> {
    let (Frame { columns, atoms, .. }, mut line) = (frame, String::new());
    for atom in 0..*atoms {
        if !lines.next(&mut line)? {
            let why = format!("it claims {atoms} atoms, but the file has {atom}: it is truncated");
            return Err(lines.fault_at(frame.place, &why));
        }
        let cells = if columns.count.is_some() { words(&line, false) } else { line.split_ascii_whitespace().collect() };
        match columns.count {
            None if cells.len() < 4 => return Err(lines.fault("expected an element and x, y, z")),
            Some(count) if count != cells.len() => {
                let why = format!("found {} cells, expected {count}, as Properties in the comment says", cells.len());
                return Err(lines.fault(&why));
            }
            _ => {}
        }
        let cell = |column: Option<usize>| column.map(|at| cells[at]);
        let label = cell(columns.label).or(cell(columns.atomic_number)).unwrap_or_default();
        let element = match cell(columns.atomic_number) {
            Some(number) => number.parse().ok().filter(|number| (1..=118).contains(number)),
            None => number_of_label(label),
        };
        let radius = cell(columns.radius);
        let is_type = columns.atomic_number.is_none() && label.parse::<f64>().is_ok();
        let is_needed = radius.is_none() && lines.radius_field().is_some();
        if is_type && is_needed && !matches!(lines.options.unknown_atoms, UnknownAtoms::Radius(_)) {
            let why = format!(
                "the element is {}, a number. If it is a type, write the symbol of its element instead (in LAMMPS with dump_modify and \
                 the keyword element), or give all types one radius with {}. If it is an atomic number, write Properties=Z:I:1:pos:R:3 \
                 into the comment",
                quoted(label),
                lines.radius_option()
            );
            return Err(lines.fault(&why));
        }
        let [x, y, z] = [0, 1, 2].map(|axis| cells[columns.position + axis]);
        let atom = Atom { place: lines.place, label, element, radius, position: [x, y, z], is_alternate: false };
        lines.add(&atom, sink)?;
    }
    Ok(())
}

/// Reads the comment of a frame.
fn read_columns(lines: &mut Lines) -> Result<Columns> {
    let mut comment = String::new();
    lines.next(&mut comment)?;
    let is_known = lines.radius_field().is_none() || matches!(lines.options.unknown_atoms, UnknownAtoms::Radius(_));
    let words = words(&comment, true);
    let properties = words.windows(3).find(|w| w[0].eq_ignore_ascii_case("Properties") && w[1] == "=");
    let columns = match properties {
        Some(&[_, _, properties]) => columns_of(properties).map_err(|why| lines.fault(&why))?,
        _ => Columns { label: Some(0), atomic_number: None, radius: None, position: 1, count: None },
    };
    // Balls with radii of their own are no atoms.
    if columns.radius.is_none() {
        lines.check_unit()?;
    }
    if !is_known && columns.label.or(columns.atomic_number).or(columns.radius).is_none() {
        let radius = lines.radius_option();
        let why = format!(
            "Properties has neither species:S:1, nor Z:I:1, nor radius:R:1; {radius} gives all atoms one radius"
        );
        return Err(lines.fault(&why));
    }
    Ok(columns)
}

/// The columns of `Properties`.
fn columns_of(properties: &str) -> Result<Columns, String> {
    let (mut columns, mut count) = (Vec::new(), 0);
    let parts: Vec<&str> = properties.split(':').collect();
    for part in parts.chunks(3) {
        let cells = match part {
            [_, "S" | "R" | "I" | "L", cells] => {
                cells.parse::<usize>().ok().filter(|cells| (1..1 << 16).contains(cells))
            }
            _ => None,
        };
        let cells = cells.ok_or_else(|| {
            format!(
                "Properties has '{}': expected name:type:count, with the type S, R, I or L",
                quoted(&part.join(":"))
            )
        })?;
        columns.push((part[0], cells, count));
        count += cells;
    }
    let find = |names: &[&str], expected: usize| {
        let mut found = columns.iter().filter(|(name, ..)| names.iter().any(|known| known.eq_ignore_ascii_case(name)));
        match (found.next(), found.next()) {
            (None, _) => Ok(None),
            (Some((name, ..)), Some((again, ..))) => {
                Err(format!("Properties has {name} and {again}, which mean the same: leave one out"))
            }
            (Some((_, cells, at)), None) if *cells == expected => Ok(Some(*at)),
            (Some((name, cells, _)), None) => {
                Err(format!("Properties has {name} with {cells} cells: expected {expected}"))
            }
        }
    };
    Ok(Columns {
        label: find(&["species", "element", "symbol"], 1)?,
        atomic_number: find(&["Z", "atomic_number", "numbers"], 1)?,
        radius: find(&["radius", "radii", "r"], 1)?,
        position: find(&["pos", "positions", "position"], 3)?.ok_or("Properties has no column pos:R:3")?,
        count: Some(count),
    })
}

/// The words of a line. Words in quotation marks may contain spaces, and `=` is a word of its own in a comment.
fn words(line: &str, is_comment: bool) -> Vec<&str> {
    let (mut words, mut rest) = (Vec::new(), line.trim_start());
    while let Some(first) = rest.chars().next() {
        let (word, after) = match first {
            '=' if is_comment => rest.split_at(1),
            '"' | '\'' => rest[1..].split_once(first).unwrap_or((&rest[1..], "")),
            _ => rest.split_at(rest.find(|c: char| is_comment && c == '=' || c.is_whitespace()).unwrap_or(rest.len())),
        };
        words.push(word);
        rest = after.trim_start();
    }
    words
}
