//! CSV writer of results: a header, then one line per ray. The cells of a miss are empty.

use std::fmt::Write as _;
use std::io::{Result, Write};

use rayon::prelude::*;

use super::file_writer::{BatchWriter, Output};
use crate::schema::answer_row::{AnswerRow, Column, Number};
use crate::schema::kept::KeptColumns;
use umbracast::HitLists;
use umbracast::{Interval, NO_SPHERE};

/// Rows per task.
const TASK: usize = 8192;

/// Writer of records, one line each.
pub(crate) struct Rows<T> {
    columns: Vec<Column<T>>,
}

/// Kept columns with the names that results do not have. Cells with commas, quotes or line ends are quoted.
fn kept_cells<'a>(text: &mut String, cells: impl Iterator<Item = &'a str>) {
    for cell in cells {
        if cell.contains([',', '"', '\n', '\r']) {
            let _ = write!(text, "\"{}\",", cell.replace('"', "\"\""));
        } else {
            text.push_str(cell);
            text.push(',');
        }
    }
}

impl<T: AnswerRow> Rows<T> {
    /// Writes the header.
    pub(crate) fn begin(out: &mut Output, columns: Vec<Column<T>>, kept: &[String]) -> Result<Self> {
        let mut names = String::new();
        kept_cells(&mut names, kept.iter().map(String::as_str));
        out.write_all(names.as_bytes())?;
        header(out, &columns)?;
        Ok(Self { columns })
    }
}

impl<T: AnswerRow> BatchWriter<[T]> for Rows<T> {
    /// Formats rows in parallel, because formatting takes longer than casting if there are few spheres.
    fn write(&mut self, out: &mut Output, answers: &[T]) -> Result<()> {
        let texts: Vec<String> = answers.par_chunks(TASK).map(|answers| lines(&self.columns, answers)).collect();
        texts.iter().try_for_each(|text| out.write_all(text.as_bytes()))
    }

    fn write_kept(&mut self, out: &mut Output, answers: &[T], kept: &KeptColumns, first: usize) -> Result<()> {
        let mut text = String::new();
        for (row, answer) in (first..).zip(answers) {
            kept_cells(&mut text, kept.row(row));
            text += &lines(&self.columns, std::slice::from_ref(answer));
        }
        out.write_all(text.as_bytes())
    }
}

fn header<T>(out: &mut impl Write, columns: &[Column<T>]) -> Result<()> {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    writeln!(out, "{}", names.join(","))
}

fn lines<T: AnswerRow>(columns: &[Column<T>], answers: &[T]) -> String {
    let mut text = String::with_capacity(8 * columns.len() * answers.len());
    for answer in answers {
        for (i, (name, number)) in columns.iter().enumerate() {
            if i > 0 {
                text.push(',');
            }
            if !answer.is_miss() || T::OF_RAY.contains(name) {
                cell(&mut text, number(answer));
            }
        }
        text.push('\n');
    }
    text
}

/// Writes one cell. `{:?}` is the shortest text that is parsed to the same number, with an exponent if that is shorter. Writing to a string
/// cannot fail.
fn cell(text: &mut String, number: Number) {
    let _ = match number {
        Number::Float(x) => write!(text, "{x:?}"),
        Number::Double(x) => write!(text, "{x:?}"),
        Number::Word(_, word) => write!(text, "{word}"),
        Number::Blank(_) | Number::BlankDouble(_) | Number::Id(NO_SPHERE) => Ok(()),
        Number::Id(number) | Number::Count(number) => write!(text, "{number}"),
        Number::Offset(number) => write!(text, "{number}"),
        Number::Flag(flag) => write!(text, "{flag}"),
    };
}

/// Writer of hit lists, one line per sphere that a ray hits.
pub(crate) struct ListRows {
    /// Index in the file of the next ray.
    rays: u64,
}

impl ListRows {
    /// Writes the header.
    pub(crate) fn begin(out: &mut Output) -> Result<Self> {
        write!(out, "ray,")?;
        header(out, Interval::COLUMNS)?;
        Ok(Self { rays: 0 })
    }
}

impl BatchWriter<HitLists> for ListRows {
    fn write(&mut self, out: &mut Output, lists: &HitLists) -> Result<()> {
        let first = self.rays;
        self.rays += lists.len() as u64;
        // Tasks are ranges of records, not of rays: one ray may hit all spheres. Only a few texts per thread exist at a time.
        let tasks: Vec<usize> = (0..lists.records.len()).step_by(TASK).collect();
        for tasks in tasks.chunks(4 * rayon::current_num_threads()) {
            let texts: Vec<String> = tasks.par_iter().map(|start| list_lines(lists, first, *start)).collect();
            texts.iter().try_for_each(|text| out.write_all(text.as_bytes()))?;
        }
        Ok(())
    }
}

fn list_lines(lists: &HitLists, first: u64, start: usize) -> String {
    let mut text = String::new();
    let end = lists.records.len().min(start + TASK);
    // Ray of the first record. A ray without hits has the same offset as the next ray, so the last ray with this offset is taken.
    let mut ray = lists.offsets.partition_point(|offset| *offset <= start as u64) - 1;
    for (at, hit) in (start..).zip(&lists.records[start..end]) {
        while lists.offsets[ray + 1] <= at as u64 {
            ray += 1;
        }
        cell(&mut text, Number::Offset(first + ray as u64));
        for (_, number) in Interval::COLUMNS {
            text.push(',');
            cell(&mut text, number(hit));
        }
        text.push('\n');
    }
    text
}
