//! Outputs of records: a table of text, CSV or JSON, on standard output or in a file.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::args::words;
use crate::error::{Error, Result};
use crate::summary::counted;
use clap::Args;
use serde::ser::{Serialize, SerializeMap, Serializer};
use umbracast_files::{is_standard_stream, write_atomic};
use umbracast_sky::{Cell, Conventions, LunarEclipseRecord, Record, SolarEclipseRecord};

use super::{conventions_text, delta_t_text, duration_text, latitude_text, longitude_text};
use crate::outputs::{OutputFile, check_outputs, is_input, overwrites};
use crate::{print, print_json, print_summary, say};

/// Format of records in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Csv,
    Json,
    /// A picture of an eclipse instead of its record.
    Png,
}

/// The output of records.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// Format of standard output, for `-o -` [default: csv]
    #[arg(long, requires = "output", hide_short_help = true, value_parser = words([
        ("csv", "one row per result", Format::Csv),
        ("json", "one object", Format::Json),
        ("png", "a picture, of `eclipse` only", Format::Png),
    ]))]
    format: Option<Format>,
    /// Print one JSON object on stdout: the results, or with -o a summary
    #[arg(long)]
    pub(crate) json: bool,
    /// No line about conventions, no summary and no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

impl RecordArgs {
    /// The output and its format: by its extension, or for `-` by `--format`. Refuses, before any work, another format, a file that cannot
    /// be written, and one of the `inputs`.
    pub(crate) fn check<'a>(
        &self,
        output: Option<&'a Path>,
        extensions: &'static [&'static str],
        inputs: &[PathBuf],
    ) -> Result<Option<(&'a Path, Format)>> {
        let Some(path) = output else { return Ok(None) };
        let has = |word: &str| path.extension().is_some_and(|own| own.eq_ignore_ascii_case(word));
        if has("geojson") {
            return Err(Error::Usage("`umbracast map --geojson FILE` writes GeoJSON".into()));
        }
        let file = OutputFile { path, name: "-o", content: "this result", extensions };
        let targets = check_outputs([file], self.json)?;
        if inputs.iter().any(|input| overwrites(&targets, input)) {
            return Err(is_input(path));
        }
        let format = match self.format {
            Some(_) if !is_standard_stream(path) => {
                let message = format!("--format is for `-o -`: the extension of {} selects the format", path.display());
                return Err(Error::Usage(message));
            }
            Some(Format::Png) if !extensions.contains(&"png") => {
                return Err(Error::Usage("--format png is for the picture of one eclipse".into()));
            }
            Some(format) => format,
            None if has("json") => Format::Json,
            None if has("png") => Format::Png,
            None => Format::Csv,
        };
        Ok(Some((path, format)))
    }

    /// Writes the records of several events, with the conventions of the list. `title` is their name in JSON.
    pub(crate) fn write_list(
        &self,
        output: Option<(&Path, Format)>,
        (title, records): (&'static str, &[Box<dyn Record>]),
        conventions: Conventions,
        table: impl FnOnce() -> String,
    ) -> Result<()> {
        // Delta T and the time scale may differ between them.
        let scale = format!("times in {}", conventions.time_scale);
        let mut line = conventions_text(&conventions).replacen(&scale, "times in UTC (UT1 before 1972)", 1);
        if conventions.delta_t_source != "given" {
            line = line.replacen(&delta_t_text(&conventions), "delta T as listed", 1);
        }
        self.write(output, records, &Titled(title, records, &conventions), (&conventions, &line), table)
    }

    /// Writes records to `output`, or prints them: as JSON, or as the text of `table`. `json` is the object of JSON, and `line` describes the
    /// conventions.
    pub(crate) fn write(
        &self,
        output: Option<(&Path, Format)>,
        records: &[Box<dyn Record>],
        json: &impl Serialize,
        (conventions, line): (&Conventions, &str),
        table: impl FnOnce() -> String,
    ) -> Result<()> {
        let Some((path, format)) = output else {
            if self.json {
                return print_json(json);
            }
            print(&table())?;
            if !self.quiet {
                say(line);
            }
            return Ok(());
        };
        write_atomic(path, |out| match format {
            Format::Json => {
                serde_json::to_writer(&mut *out, json)?;
                std::io::Write::write_all(out, b"\n")
            }
            _ => write_csv(out, records),
        })?;
        let line = match is_standard_stream(path) {
            true => line.to_string(),
            false => format!("{}; {line}; wrote {}", counted(records.len() as u64, "row"), path.display()),
        };
        let summary = Summary { rows: records.len(), output: path, conventions };
        print_summary(&summary, &line, self.json, self.quiet)
    }
}

/// The object of `--json`: records under a name, and their conventions.
struct Titled<'a>(&'static str, &'a [Box<dyn Record>], &'a Conventions);

impl Serialize for Titled<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry(self.0, self.1)?;
        map.serialize_entry("conventions", self.2)?;
        map.end()
    }
}

/// What `--json` prints about a file.
#[derive(serde::Serialize)]
struct Summary<'a> {
    rows: usize,
    output: &'a Path,
    conventions: &'a Conventions,
}

/// Writes records as CSV. If there are both solar and lunar eclipses, the columns are the fields of both, and those of the other are empty.
fn write_csv(out: impl std::io::Write, records: &[Box<dyn Record>]) -> std::io::Result<()> {
    let failed = |error: csv::Error| match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => std::io::Error::other(format!("{other:?}")),
    };
    let mut writer = csv::Writer::from_writer(out);
    let first = records.first().map_or(&[][..], |record| record.fields());
    if records.iter().all(|record| std::ptr::eq(record.fields(), first)) {
        records.iter().try_for_each(|record| writer.serialize(record)).map_err(failed)?;
        return writer.flush();
    }
    let mut names: Vec<&str> = SolarEclipseRecord::fields().iter().map(|field| field.name).collect();
    names.extend(LunarEclipseRecord::fields().iter().map(|field| field.name));
    let mut known = HashSet::new();
    names.retain(|name| known.insert(*name));
    writer.write_record(&names).map_err(failed)?;
    for record in records {
        // The row as it would be alone.
        let mut row = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
        row.serialize(record).map_err(failed)?;
        let bytes = row.into_inner().map_err(|e| e.into_error())?;
        let cells = csv::ReaderBuilder::new().has_headers(false).from_reader(&*bytes).records().next();
        let cells = cells.transpose().map_err(failed)?.unwrap_or_default();
        let at = |name: &&str| record.fields().iter().position(|field| field.name == *name);
        let row = names.iter().map(|name| at(name).and_then(|at| cells.get(at)).unwrap_or_default());
        writer.write_record(row).map_err(failed)?;
    }
    writer.flush()
}

/// A record as lines of text, one per field that is not empty; latitude and longitude are one line.
pub(crate) fn lines(record: &dyn Record) -> String {
    let cells = record.cells();
    let mut text = String::new();
    for (i, (field, cell)) in record.fields().iter().zip(&cells).enumerate() {
        let (name, unit) = match field.name.rsplit_once('_') {
            Some((name, unit @ ("s" | "km" | "deg" | "arcsec"))) => (name, unit),
            _ => (field.name, ""),
        };
        let value = match (cell, unit) {
            (Cell::Number(latitude), "deg") if name.ends_with("latitude") => match cells.get(i + 1) {
                Some(Cell::Number(longitude)) => {
                    format!("{}, {}", latitude_text(*latitude), longitude_text(*longitude))
                }
                _ => continue,
            },
            (Cell::Empty, _) => continue,
            (_, "deg") if name.ends_with("longitude") => continue,
            (Cell::Number(seconds), "s") if field.name != "delta_t_s" => duration_text(*seconds),
            (Cell::Number(number), "deg") => format!("{:.1} degrees", number + 0.0),
            (Cell::Number(number), "km" | "s") => format!("{number:.2} {unit}"),
            (Cell::Number(number), "arcsec") => format!("{number:.2}\""),
            (Cell::Number(number), _) => format!("{number:.5}"),
            (Cell::Integer(number), _) => number.to_string(),
            (Cell::Time(time), _) => time.to_string(),
            (Cell::Text(text), _) => (*text).to_string(),
        };
        let name = if name.ends_with("latitude") { name.replacen("latitude", "place", 1) } else { name.to_string() };
        text += &format!("  {:<22} {value}\n", name.replace('_', " "));
    }
    text
}
