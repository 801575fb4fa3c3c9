//! Answers as text: a header, then one line a ray, its cells empty on a miss.

use std::fmt::Write as _;
use std::io::{Result, Write};

use rayon::prelude::*;

use crate::io::schema::answer_row::{AnswerRow, Column, Number};
use crate::query::results::Lists;
use crate::records::{Interval, NO_SPHERE};
use crate::runtime::cpu_pool;

/// Rows a core formats at a time.
const TASK: usize = 8192;

pub(crate) fn header<T>(out: &mut impl Write, columns: &[Column<T>]) -> Result<()> {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    writeln!(out, "{}", names.join(","))
}

/// Formatting costs more than casting at few spheres: every core takes a part.
pub(crate) fn rows<T: AnswerRow>(out: &mut impl Write, columns: &[Column<T>], answers: &[T]) -> Result<()> {
    cpu_pool::ready();
    let texts: Vec<String> = answers.par_chunks(TASK).map(|answers| lines(columns, answers)).collect();
    texts.iter().try_for_each(|text| out.write_all(text.as_bytes()))
}

fn lines<T: AnswerRow>(columns: &[Column<T>], answers: &[T]) -> String {
    let mut text = String::with_capacity(8 * columns.len() * answers.len());
    for answer in answers {
        for (i, (_, number)) in columns.iter().enumerate() {
            if i > 0 {
                text.push(',');
            }
            if answer.is_miss() {
                continue;
            }
            cell(&mut text, number(answer));
        }
        text.push('\n');
    }
    text
}

/// `{:?}` is the shortest text that reads back to the same f32, with an exponent where that is shorter. Writing to a string cannot
/// fail.
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

/// The header of lists.
pub(crate) fn list_header(out: &mut impl Write) -> Result<()> {
    write!(out, "ray,")?;
    header(out, Interval::COLUMNS)
}

/// A line for each sphere that a ray meets; the first ray is number `first` of the file.
pub(crate) fn list_rows(out: &mut impl Write, lists: &Lists, first: u64) -> Result<()> {
    cpu_pool::ready();
    // By records, not by rays: one ray may meet them all. So many texts at a time as there are cores to make them.
    let tasks: Vec<usize> = (0..lists.records.len()).step_by(TASK).collect();
    for tasks in tasks.chunks(4 * rayon::current_num_threads()) {
        let texts: Vec<String> = tasks.par_iter().map(|start| list_lines(lists, first, *start)).collect();
        texts.iter().try_for_each(|text| out.write_all(text.as_bytes()))?;
    }
    Ok(())
}

fn list_lines(lists: &Lists, first: u64, start: usize) -> String {
    let mut text = String::new();
    let end = lists.records.len().min(start + TASK);
    // The ray of the first record; rays that meet nothing begin where the next one does.
    let mut ray = lists.offsets.partition_point(|offset| *offset <= start as u64) - 1;
    for (at, met) in (start..).zip(&lists.records[start..end]) {
        while lists.offsets[ray + 1] <= at as u64 {
            ray += 1;
        }
        cell(&mut text, Number::Offset(first + ray as u64));
        for (_, number) in Interval::COLUMNS {
            text.push(',');
            cell(&mut text, number(met));
        }
        text.push('\n');
    }
    text
}
