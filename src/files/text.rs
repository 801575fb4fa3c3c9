//! Answers as text: a header, then one line a ray, its cells empty on a miss.

use std::fmt::Write as _;
use std::io::{Result, Write};

use super::answers::{AnswerRow, Column, Number};
use rayon::prelude::*;

/// Rows a core formats at a time.
const TASK: usize = 8192;

pub(super) fn header<T>(out: &mut impl Write, columns: &[Column<T>]) -> Result<()> {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    writeln!(out, "{}", names.join(","))
}

/// Formatting costs more than casting at few spheres: every core takes a part.
pub(super) fn rows<T: AnswerRow>(out: &mut impl Write, columns: &[Column<T>], answers: &[T]) -> Result<()> {
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
            // `{:?}` is the shortest text that reads back to the same f32, with an exponent where that is shorter. Writing to a
            // string cannot fail.
            let _ = match number(answer) {
                Number::Float(x) => write!(text, "{x:?}"),
                Number::Id(id) => write!(text, "{id}"),
                Number::Flag(flag) => write!(text, "{flag}"),
            };
        }
        text.push('\n');
    }
    text
}
