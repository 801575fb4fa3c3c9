//! Arguments that several subcommands share.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use umbracast::glam::DVec3;
use umbracast::{Builder, DeviceOptions, Ends, Inside, OnBad, Precision, Query, SceneOptions, Touch};

/// Where to work.
#[derive(Debug, Args)]
pub(crate) struct DeviceArgs {
    /// auto (the best real GPU that can promise the precision, else the CPU engine), gpu (the best adapter, software ones too), cpu, a number from
    /// `umbracast devices`, or part of an adapter's name
    ///
    /// Without it the environment's UMBRACAST_DEVICE holds, else auto.
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
}

impl DeviceArgs {
    /// The device asked for, able to promise `precision` where it is `auto` that chooses.
    pub(crate) fn options(&self, precision: Precision) -> DeviceOptions {
        let mut options = DeviceOptions::default().at(precision);
        if let Some(choice) = &self.device {
            options.choice.clone_from(choice);
        }
        options
    }
}

/// How the scene is built.
#[derive(Debug, Args)]
pub(crate) struct TreeArgs {
    /// Who builds the tree that a GPU walks; it is the same tree
    #[arg(long, value_parser = words([
        ("auto", "the GPU, or the CPU for adapters in software", Builder::Auto),
        ("cpu", "every core of the CPU", Builder::Cpu),
        ("gpu", "the GPU: refused on the CPU engine", Builder::Gpu),
    ]), default_value = "auto")]
    builder: Builder,
}

impl TreeArgs {
    pub(crate) fn options(&self) -> SceneOptions {
        SceneOptions::default().built_by(self.builder)
    }
}

/// What counts as a hit.
#[derive(Debug, Args)]
#[command(next_help_heading = "Policies")]
pub(crate) struct PolicyArgs {
    /// How a ray is treated that starts inside a sphere [default: enter]
    #[arg(long, value_parser = insides())]
    inside: Option<Inside>,
    /// Whether an exactly tangent ray meets the sphere [default: hit]
    #[arg(long, value_parser = words([("hit", "it does", Touch::Hit), ("miss", "it does not", Touch::Miss)]))]
    touch: Option<Touch>,
    /// Whether the last point of a ray belongs to it [default: closed]
    #[arg(long, value_parser = words([
        ("closed", "[t_min, t_max]", Ends::Closed),
        ("half-open", "[t_min, t_max), for stepping frame by frame", Ends::HalfOpen),
    ]))]
    ends: Option<Ends>,
    /// How exact the answer is
    #[arg(long, value_parser = precisions(), default_value = "standard")]
    precision: Precision,
}

impl PolicyArgs {
    /// A policy of hits that was given.
    pub(crate) fn of_hits(&self) -> Option<&'static str> {
        let given =
            [("--inside", self.inside.is_some()), ("--touch", self.touch.is_some()), ("--ends", self.ends.is_some())];
        given.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }

    pub(crate) fn query(&self, on_bad: OnBad) -> Query {
        Query {
            inside: self.inside.unwrap_or_default(),
            touch: self.touch.unwrap_or_default(),
            ends: self.ends.unwrap_or_default(),
            precision: self.precision,
            on_bad,
            ..Query::default()
        }
    }
}

/// What becomes of rays that start inside a sphere.
pub(crate) fn insides() -> impl TypedValueParser<Value = Inside> {
    words(INSIDES)
}

/// As arguments: the word, what it does, and its value.
pub(crate) const INSIDES: [(&str, &str, Inside); 3] = [
    ("enter", "the ball is solid: it is met where the ray starts", Inside::Enter),
    ("exit", "only the surface counts: it is met on the way out", Inside::Exit),
    ("ignore", "a sphere around the start does not count", Inside::Ignore),
];

/// The precisions, each with what it promises.
pub(crate) fn precisions() -> impl TypedValueParser<Value = Precision> {
    words([
        ("fast", "plain f32, its bounds valid on every device", Precision::Fast),
        ("standard", "error-free corrections: wrong only within 2^-40 of tangency", Precision::Standard),
        ("exact", "the same hits on every device: doubtful rays are decided by exact arithmetic", Precision::Exact),
    ])
}

/// A parser of one word of a few, each with its meaning for `--help`.
pub(crate) fn words<T, const N: usize>(table: [(&'static str, &'static str, T); N]) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let values = table.map(|(word, meaning, _)| PossibleValue::new(word).help(meaning));
    // The word is one of the table's: clap has refused all others.
    PossibleValuesParser::new(values)
        .map(move |given| table.iter().find(|(word, ..)| *word == given).map_or(table[0].2, |(.., value)| *value))
}

/// A number given on the command line: as exact as f64 has it, and rounded once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given {
    pub(crate) wide: f64,
    pub(crate) narrow: f32,
}

/// Numbers separated by commas, as many as one of `counts`.
pub(crate) fn numbers(text: &str, names: &str, counts: &[usize]) -> Result<Vec<Given>, String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if !counts.contains(&parts.len()) {
        let counts = counts.iter().map(usize::to_string).collect::<Vec<_>>().join(" or ");
        return Err(format!("there are {} numbers: expected {counts}, {names}", parts.len()));
    }
    let field = |i: usize| names.split([',', '[', ']']).filter(|n| !n.is_empty()).nth(i).unwrap_or("number");
    parts
        .into_iter()
        .enumerate()
        .map(|(i, part)| match (part.parse::<f64>(), part.parse::<f32>()) {
            (Ok(_), Ok(narrow)) if narrow.is_infinite() && part.contains(|c: char| c.is_ascii_digit()) => {
                Err(format!("{} is {part}: it exceeds the largest f32, 3.4e38", field(i)))
            }
            (Ok(wide), Ok(narrow)) => Ok(Given { wide, narrow }),
            _ => Err(format!("{} is '{part}': expected a number", field(i))),
        })
        .collect()
}

/// What to subtract from every position before it is rounded to f32.
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
                _ => return Err(format!("'{part}' is not a finite number: expected x,y,z or auto")),
            }
        }
        match parts[..] {
            [x, y, z] => Ok(Self::At(DVec3::new(x, y, z))),
            _ => Err(format!("there are {} numbers: expected x,y,z or auto", parts.len())),
        }
    }
}
