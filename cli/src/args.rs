//! Command-line arguments shared by several subcommands.

use std::path::Path;

use crate::error::Error;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use umbracast::glam::DVec3;
use umbracast::{DeviceOptions, Ends, Inside, Near, OnBad, Precision, Query, Touch};
use umbracast_files::escape::quoted;
use umbracast_files::{ExtraColumns, Models, ReadOptions, StreamFormat, UnknownAtoms, is_standard_stream};

/// Choice of the device.
#[derive(Debug, Args)]
pub(crate) struct DeviceArgs {
    /// Device: auto, gpu, cpu, a number from `umbracast devices`, or part of a name
    ///
    /// auto: the best hardware GPU that guarantees the precision, otherwise the CPU engine. gpu: the best adapter, including software
    /// adapters. Default: $UMBRACAST_DEVICE, or auto if unset.
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
}

impl DeviceArgs {
    /// Options that open the device. `auto` chooses only among devices that guarantee `precision`.
    pub(crate) fn options(&self, precision: Precision) -> DeviceOptions {
        let mut options = DeviceOptions::from_env().precision(precision);
        if let Some(choice) = &self.device {
            options.choice.clone_from(choice);
        }
        options
    }
}

/// The summary that a command prints at its end.
#[derive(Debug, Args)]
pub(crate) struct SummaryArgs {
    /// Print one JSON object on stdout instead of the summary
    #[arg(long)]
    pub(crate) json: bool,
    /// No summary and no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// How input and output streams and unknown columns are treated.
#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    /// Format of results without an extension, and of standard output, for `-o -`: there csv is the default
    #[arg(long, value_parser = formats(), hide_short_help = true)]
    pub(crate) format: Option<StreamFormat>,
    /// Format of standard input, for the file `-` [default: detected; f32 cannot be detected]
    #[arg(long, value_parser = formats(), hide_short_help = true)]
    input_format: Option<StreamFormat>,
    /// Ignore columns with other names than those below, instead of refusing them
    #[arg(long, hide_short_help = true)]
    ignore_extra: bool,
}

fn formats() -> impl TypedValueParser<Value = StreamFormat> {
    words([
        ("csv", "text with named columns", StreamFormat::Csv),
        ("npy", "an array of NumPy; of results a structured one", StreamFormat::Npy),
        ("f32", "raw little-endian records", StreamFormat::F32),
    ])
}

impl TableArgs {
    /// Options of the readers.
    pub(crate) fn read_options(&self) -> ReadOptions {
        let extra = if self.ignore_extra { ExtraColumns::Ignore } else { ExtraColumns::Refuse };
        ReadOptions::default().stream_format(self.input_format).extra(extra)
    }

    /// Rejects two inputs from standard input, JSON on the standard output of results, and formats of streams for files, whose extensions
    /// select the format.
    pub(crate) fn check(&self, inputs: &[&Path], output: &Path, json: bool) -> Result<(), Error> {
        if inputs.iter().filter(|path| is_standard_stream(path)).count() > 1 {
            return Err(Error::Usage("`-`, standard input, can be only one of the files".into()));
        }
        if json && is_standard_stream(output) {
            return Err(Error::Usage("--json and `-o -` would both write to standard output".into()));
        }
        let has_extension = |path: &Path, word| path.extension().is_some_and(|own| own.eq_ignore_ascii_case(word));
        if let Some(word) = self.format.map(StreamFormat::extension)
            && !is_standard_stream(output)
            && output.extension().is_some()
            && !has_extension(output, word)
        {
            let output = output.display();
            return Err(Error::Usage(format!(
                "--format {word} is for standard output and files without an extension: that of {output} selects another format"
            )));
        }
        if let Some(word) = self.input_format.map(StreamFormat::extension) {
            // Pipes often have a name without an extension.
            let is_stream =
                |path: &&Path| is_standard_stream(path) || path.extension().is_none() || has_extension(path, word);
            if !inputs.iter().any(is_stream) {
                let files = inputs.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" and ");
                return Err(Error::Usage(format!(
                    "--input-format {word} is for standard input, `-`: the extensions of {files} select other formats"
                )));
            }
        }
        Ok(())
    }
}

/// Columns that are copied to the results.
#[derive(Debug, Args)]
pub(crate) struct KeepArgs {
    /// Copy the unknown columns of the rows to OUT, before the results; both must be .csv or .parquet
    #[arg(long, hide_short_help = true)]
    keep: bool,
}

impl KeepArgs {
    pub(crate) fn is_given(&self) -> bool {
        self.keep
    }

    /// Options of the reader of the rows.
    pub(crate) fn read_options(&self, table: &TableArgs) -> ReadOptions {
        let options = table.read_options();
        if self.keep { options.extra(ExtraColumns::Keep) } else { options }
    }

    /// Options of the reader of the spheres, whose unknown columns are ignored.
    pub(crate) fn sphere_options(&self, table: &TableArgs) -> ReadOptions {
        let options = table.read_options();
        if self.keep { options.extra(ExtraColumns::Ignore) } else { options }
    }
}

/// How spheres and atoms are read.
#[derive(Debug, Args)]
pub(crate) struct SphereArgs {
    /// Radius of all spheres, if the file has points: no radii, no semi-axes, no atoms
    #[arg(long, value_name = "R", allow_negative_numbers = true, hide_short_help = true)]
    sphere_radius: Option<f64>,
    /// What to do with atoms of unknown element: skip (leave them out; ids stay rows of the file), error, or a radius
    #[arg(long, value_name = "skip|error|RADIUS", default_value = "skip", allow_negative_numbers = true, hide_short_help = true,
          value_parser = unknown_atoms)]
    unknown_atoms: UnknownAtoms,
    /// Models of a .pdb, or frames of a .xyz, to read
    #[arg(long, hide_short_help = true, value_parser = words([
        ("first", "the first one; the number of others is reported", Models::First),
        ("all", "all of them; ids count on", Models::All),
    ]), default_value = "first")]
    models: Models,
}

/// Parser of `--unknown-atoms`.
fn unknown_atoms(text: &str) -> Result<UnknownAtoms, String> {
    match text {
        "skip" => Ok(UnknownAtoms::Skip),
        "error" => Ok(UnknownAtoms::Refuse),
        radius => match radius.parse::<f64>() {
            Ok(radius) if (0.0..=f64::from(f32::MAX)).contains(&radius) => Ok(UnknownAtoms::Radius(radius)),
            _ => Err("expected skip, error, or a radius, which is finite and not negative".into()),
        },
    }
}

impl SphereArgs {
    pub(crate) fn options(&self, options: ReadOptions) -> ReadOptions {
        options.sphere_radius(self.sphere_radius).unknown_atoms(self.unknown_atoms).models(self.models)
    }
}

/// Policies that determine which intersections count as hits, and the precision.
#[derive(Debug, Args)]
#[command(next_help_heading = "Policies")]
pub(crate) struct PolicyArgs {
    /// How to treat a ray that starts inside a sphere [default: enter]
    #[arg(long, hide_short_help = true, value_parser = insides())]
    inside: Option<Inside>,
    /// Whether an exactly tangent ray hits the sphere [default: hit]
    #[arg(long, hide_short_help = true, value_parser = words([("hit", "it hits", Touch::Hit), ("miss", "it misses", Touch::Miss)]))]
    touch: Option<Touch>,
    /// Whether the last point of a ray, at t_max, belongs to the ray [default: closed]
    #[arg(long, hide_short_help = true, value_parser = words([
        ("closed", "[t_min, t_max]", Ends::Closed),
        ("half-open", "[t_min, t_max), for rays that continue frame by frame", Ends::HalfOpen),
    ]))]
    ends: Option<Ends>,
    /// Whether a surface nearer than t_min blocks the ray [default: block for --sensor, else pass]
    #[arg(long, hide_short_help = true, value_parser = words([
        ("pass", "nothing before t_min matters", Near::Pass),
        ("block", "the ray is a miss if it meets a surface at a t from 0 to below t_min", Near::Block),
    ]))]
    near: Option<Near>,
    /// Precision of the results [default: exact; for ellipsoids standard]
    #[arg(long, value_parser = precisions())]
    precision: Option<Precision>,
}

impl PolicyArgs {
    /// Name of the first hit policy on the command line; `None` if there is none.
    pub(crate) fn of_hits(&self) -> Option<&'static str> {
        let given =
            [("--inside", self.inside.is_some()), ("--touch", self.touch.is_some()), ("--ends", self.ends.is_some())];
        given.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }

    /// Whether surfaces before the start of a ray block it.
    pub(crate) fn blocks_near(&self) -> bool {
        self.near == Some(Near::Block)
    }

    pub(crate) fn query(&self, on_bad: OnBad) -> Query {
        Query::default()
            .inside(self.inside.unwrap_or_default())
            .touch(self.touch.unwrap_or_default())
            .ends(self.ends.unwrap_or_default())
            .near(self.near.unwrap_or_default())
            .precision(self.precision.unwrap_or_default())
            .on_bad(on_bad)
    }
}

/// Parser of `--inside`.
pub(crate) fn insides() -> impl TypedValueParser<Value = Inside> {
    words(INSIDES)
}

/// Values of `--inside`: word, help text and policy.
pub(crate) const INSIDES: [(&str, &str, Inside); 3] = [
    ("enter", "spheres are solid: the hit is at the start of the ray", Inside::Enter),
    ("exit", "spheres are hollow: the hit is where the ray leaves the sphere", Inside::Exit),
    ("ignore", "spheres that contain the start of the ray are skipped", Inside::Ignore),
];

/// Parser of `--precision`. The help texts say what each precision guarantees.
pub(crate) fn precisions() -> impl TypedValueParser<Value = Precision> {
    words([
        ("fast", "plain f32; the error bounds hold on every device", Precision::Fast),
        (
            "standard",
            "f32 with error-free corrections: hits can be wrong only near tangency, or if a ray ends within rounding of a surface",
            Precision::Standard,
        ),
        ("exact", "the same hits on every device: undecided rays are resolved by exact arithmetic", Precision::Exact),
    ])
}

/// Parser of a keyword. The table has the keyword, its help text and its value.
pub(crate) fn words<T, const N: usize>(table: [(&'static str, &'static str, T); N]) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let values = table.map(|(word, meaning, _)| PossibleValue::new(word).help(meaning));
    // clap has rejected all words that are not in the table. Their case does not matter: see `with_any_case`.
    PossibleValuesParser::new(values).map(move |given| {
        let is_given = |(word, ..): &&(&str, &str, T)| word.eq_ignore_ascii_case(&given);
        table.iter().find(is_given).map_or(table[0].2, |(.., value)| *value)
    })
}

/// A number from the command line: rounded once to f64 and once to f32, both from the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given {
    pub(crate) wide: f64,
    pub(crate) narrow: f32,
}

/// Parses numbers separated by commas. Their count must be in `counts`; `names` names them in errors.
pub(crate) fn numbers(text: &str, names: &str, counts: &[usize]) -> Result<Vec<Given>, String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if !counts.contains(&parts.len()) {
        let counts = counts.iter().map(usize::to_string).collect::<Vec<_>>().join(" or ");
        return Err(format!("found {}, expected {counts}: {names}", counted(parts.len())));
    }
    let field = |i: usize| names.split([',', '[', ']']).filter(|n| !n.is_empty()).nth(i).unwrap_or("number");
    parts
        .into_iter()
        .enumerate()
        .map(|(i, part)| match (part.parse::<f64>(), part.parse::<f32>()) {
            (Ok(_), Ok(narrow)) if narrow.is_infinite() && part.contains(|c: char| c.is_ascii_digit()) => {
                Err(format!("{} is {}: it exceeds the largest f32, 3.4e38", field(i), quoted(part)))
            }
            (Ok(wide), Ok(narrow)) => Ok(Given { wide, narrow }),
            _ => Err(format!("{} is '{}': expected a number", field(i), quoted(part))),
        })
        .collect()
}

/// `1 number`, `2 numbers`, and so on.
fn counted(numbers: usize) -> String {
    format!("{numbers} number{}", if numbers == 1 { "" } else { "s" })
}

/// The point that is subtracted from every position before rounding to f32 (`--origin`).
#[derive(Clone, Copy, Debug)]
pub(crate) enum Origin {
    At(DVec3),
    Auto,
}

impl std::str::FromStr for Origin {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let mut parts = Vec::new();
        for part in text.split(',') {
            match part.trim().parse::<f64>() {
                Ok(number) if number.is_finite() => parts.push(number),
                _ => return Err(format!("'{}' is not a finite number: expected x,y,z or auto", quoted(part))),
            }
        }
        match parts[..] {
            [x, y, z] => Ok(Self::At(DVec3::new(x, y, z))),
            _ => Err(format!("found {}, expected x,y,z or auto", counted(parts.len()))),
        }
    }
}

/// Joins the lines of each paragraph of a long help, so that clap alone wraps it. Lists stay as they are: lines that begin with a space,
/// and the line before the first of them.
pub(crate) fn paragraphs(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let is_text = |line: &str| !line.is_empty() && !line.starts_with(' ');
    let in_list = |i: usize| !is_text(lines[i]) || lines.get(i + 1).is_some_and(|next| next.starts_with(' '));
    let mut joined = String::new();
    for (i, line) in lines.iter().enumerate() {
        let continues = i > 0 && is_text(lines[i - 1]) && !in_list(i);
        joined.push_str(if i == 0 {
            ""
        } else if continues {
            " "
        } else {
            "\n"
        });
        joined.push_str(line);
    }
    joined
}
