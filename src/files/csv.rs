//! `.csv`: columns by name, in any order; and answers as text that reads back to the same bits.

use std::io::{BufReader, Write};
use std::path::Path;

use super::output::Answers;
use super::rows::{Kind, MOST_FIELDS, Number, Place, RAYS, Row, SPHERES};
use super::{bad_file, cannot_read, open};
use crate::error::{Error, Result};
use ::csv::{ReaderBuilder, StringRecord, Trim};

/// Reads a table whose first line names the columns.
pub(super) fn read(path: &Path, kind: &'static Kind, sink: &mut dyn FnMut(&Row<'_>) -> Result<()>) -> Result<()> {
    let (file, length) = open(path)?;
    if length == 0 {
        let columns = required(kind).join(",");
        return Err(bad_file(path, format!("it is empty (0 bytes): the first line must name the columns, {columns}")));
    }
    let mut reader = ReaderBuilder::new().trim(Trim::All).from_reader(BufReader::with_capacity(1 << 16, file));
    let header = reader.headers().map_err(|e| fault(path, &e))?.clone();
    let columns = columns(path, kind, &header)?;

    let mut numbers = [Number::default(); MOST_FIELDS];
    for (field, number) in numbers.iter_mut().enumerate().take(kind.fields.len()) {
        *number = (kind.default)(field).unwrap_or(0.0).into();
    }
    let mut record = StringRecord::new();
    while reader.read_record(&mut record).map_err(|e| fault(path, &e))? {
        let mut row = Row { place: place(record.position()), numbers, texts: [""; MOST_FIELDS] };
        for (&field, text) in columns.iter().zip(&record) {
            row.texts[field] = if text.is_empty() { "empty" } else { text };
            row.numbers[field] = number(text).ok_or_else(|| {
                let (place, name) = (row.place.spoken(path), kind.fields[field]);
                bad_file(path, format!("{place}: {name} is '{text}': expected a number"))
            })?;
        }
        sink(&row)?;
    }
    Ok(())
}

/// The number that a cell holds; NaN when it is empty, none when it is something else.
fn number(text: &str) -> Option<Number> {
    if text.is_empty() {
        return Some(f64::NAN.into());
    }
    let (wide, narrow) = (text.parse::<f64>().ok()?, text.parse::<f32>().ok()?);
    // What exceeds even f64 must not pass for an infinity: only the word is one.
    let word = text.trim_start_matches(['+', '-']).starts_with(['i', 'I', 'n', 'N']);
    let wide = if wide.is_infinite() && !word { f64::MAX.copysign(wide) } else { wide };
    Some(Number { wide, narrow })
}

fn place(position: Option<&::csv::Position>) -> Place {
    // The reader's own line number leaves out the blank lines that it skipped.
    Place::Byte(position.map_or(0, ::csv::Position::byte))
}

/// Which field each column fills.
fn columns(path: &Path, kind: &Kind, header: &StringRecord) -> Result<Vec<usize>> {
    let wanted = required(kind).join(",");
    let optional = kind.fields.iter().enumerate().filter(|(i, _)| (kind.default)(*i).is_some()).map(|(_, name)| *name);
    let optional = optional.collect::<Vec<_>>().join(",");
    let known = if optional.is_empty() { wanted.clone() } else { format!("{wanted}, optional {optional}") };
    let bad = |why: String| bad_file(path, format!("line 1: {why}"));

    if header.iter().all(|name| name.parse::<f64>().is_ok()) {
        return Err(bad(format!("there are numbers where the names of the columns should be: {wanted}")));
    }
    if let (1, Some(other)) = (header.len(), header.get(0).and_then(|h| h.chars().find(|c| ";\t|".contains(*c)))) {
        return Err(bad(format!("columns are separated by {other:?}: expected commas")));
    }
    let mut columns = Vec::with_capacity(header.len());
    for name in header {
        let Some(field) = kind.fields.iter().position(|f| *f == name) else {
            if kind.later.contains(&name) {
                return Err(bad(format!("column '{name}' is not supported yet; known are {known}")));
            }
            let other = if kind.plural == "spheres" { &RAYS } else { &SPHERES };
            if other.fields.contains(&name) {
                let plural = other.plural;
                return Err(bad(format!(
                    "column '{name}' is one of {plural}; the order is SPHERES, then RAYS; known are {known}"
                )));
            }
            let guess = nearest(name, kind.fields).map(|f| format!(" (did you mean '{f}'?)")).unwrap_or_default();
            return Err(bad(format!("unknown column '{name}'{guess}; known are {known}")));
        };
        if columns.contains(&field) {
            return Err(bad(format!("column '{name}' is there twice")));
        }
        columns.push(field);
    }
    for (field, name) in kind.fields.iter().enumerate() {
        if (kind.default)(field).is_none() && !columns.contains(&field) {
            return Err(bad(format!("column '{name}' is missing; {} need {known}", kind.plural)));
        }
    }
    Ok(columns)
}

fn required(kind: &Kind) -> Vec<&'static str> {
    kind.fields.iter().enumerate().filter(|(i, _)| (kind.default)(*i).is_none()).map(|(_, name)| *name).collect()
}

/// The known name that somebody who wrote `name` most likely meant.
fn nearest(name: &str, known: &[&'static str]) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let initials: String = name.split(['_', ' ', '.', '-']).filter_map(|word| word.chars().next()).collect();
    let near = known.iter().map(|k| (edits(&name, k), *k)).filter(|(edits, k)| 2 * edits <= k.len()).min();
    near.map(|(_, k)| k)
        .or_else(|| known.iter().copied().find(|k| *k == initials))
        .or_else(|| known.iter().copied().find(|k| name.starts_with(k) || name.ends_with(k)))
}

/// How many letters must be put in, taken out or replaced to make one word of the other (Levenshtein).
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// What the reader found wrong, in our words and with the line.
fn fault(path: &Path, error: &::csv::Error) -> Error {
    let line = place(error.position()).spoken(path);
    match error.kind() {
        ::csv::ErrorKind::Io(e) => cannot_read(path, e),
        ::csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            bad_file(path, format!("{line}: there are {len} cells: expected {expected_len}, as in the first line"))
        }
        ::csv::ErrorKind::Utf8 { .. } => bad_file(path, format!("{line}: the text is not UTF-8")),
        _ => bad_file(path, format!("{line}: {error}")),
    }
}

/// Writes answers: a header, then one line a ray, its cells empty on a miss.
pub(super) fn write(out: &mut dyn Write, answers: &Answers<'_>) -> std::io::Result<()> {
    // `{:?}` is the shortest text that reads back to the same f32, with an exponent where that is shorter.
    match answers {
        Answers::Closest(hits) => {
            writeln!(out, "t,id")?;
            for hit in *hits {
                if hit.is_hit() { writeln!(out, "{:?},{}", hit.t, hit.id)? } else { writeln!(out, ",")? }
            }
        }
        Answers::Occluded { words, len } => {
            writeln!(out, "occluded")?;
            for bit in super::output::bits(words, *len) {
                writeln!(out, "{bit}")?;
            }
        }
        Answers::Interval(intervals) => {
            writeln!(out, "t_enter,t_exit,id")?;
            for found in *intervals {
                if found.is_hit() {
                    writeln!(out, "{:?},{:?},{}", found.t_enter, found.t_exit, found.id)?;
                } else {
                    writeln!(out, ",,")?;
                }
            }
        }
        Answers::Approach(passes) => {
            writeln!(out, "t,clearance,id")?;
            for pass in *passes {
                if pass.id == crate::records::NO_SPHERE {
                    writeln!(out, ",,")?;
                } else {
                    writeln!(out, "{:?},{:?},{}", pass.t, pass.clearance, pass.id)?;
                }
            }
        }
    }
    Ok(())
}
