//! The command line `umbracast`: parses arguments, runs a subcommand, and reports an error as one line and an exit code.
//!
//! A library, so that the program and the Python package run the same code. It has no other interface than [`main_with`].

mod args;
mod bench;
mod bullet;
mod bullets;
mod cast;
mod cast_query;
mod coarse;
mod compare;
mod contains;
mod describe;
mod devices;
mod drawing;
mod error;
mod flight_summary;
mod left_out;
mod manuals;
mod outputs;
mod picture_warnings;
mod pictures;
mod plot;
mod progress;
mod ray_input;
mod render;
#[cfg(test)]
mod schema;
mod shadow;
mod sidecar;
mod signals;
mod single;
mod sky;
mod stream;
mod summary;
mod sunlight;

use std::ffi::OsString;
use std::io::Write;

use crate::error::{Error, Result};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use signals::exit_code;
use umbracast::{Device, DeviceOptions};
use umbracast_files::STANDARD_STREAM;

/// Batch ray–sphere queries and physically accurate shadows, on the CPU or on a GPU through wgpu
///
/// Tested on Linux and x86-64: the CPU engine, an NVIDIA H100, and the software adapters llvmpipe and SwiftShader.
#[derive(Debug, Parser)]
#[command(
    name = "umbracast",
    version,
    long_version = LONG_VERSION,
    arg_required_else_help = true,
    max_term_width = 110,
    after_help = EXIT_CODES
)]
struct Cli {
    /// Number of threads of the CPU engine [default: one per core]
    #[arg(long, global = true, value_name = "N", hide_short_help = true, value_parser = clap::value_parser!(u32).range(1..=4096))]
    threads: Option<u32>,
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    there is no eclipse on this day
  2    bad usage or input
  3    no such device or precision
  4    the device failed
  5    reading or writing failed
  6    a guarantee is violated, found by --compare
  129, 130, 143   cancelled by SIGHUP, SIGINT (Ctrl-C) or SIGTERM";

#[derive(Debug, Subcommand)]
enum Command {
    /// Cast rays at spheres: find the closest hit, all hits, occlusion or clearance per ray
    Cast(Box<cast::CastArgs>),
    /// For each point, count the spheres that contain it and report the lowest id
    Contains(contains::ContainsArgs),
    /// Shoot bullets at spheres: find what each bullet hits, when, and how it ricochets
    Bullets(Box<bullets::BulletsArgs>),
    /// Render a system of a light and bodies, with accurate umbra and penumbra
    Render(Box<render::RenderArgs>),
    /// Compute the visible fraction of a light for each observer: umbra, penumbra, antumbra
    Shadow(shadow::ShadowArgs),
    /// Compute the sunlight along trajectories of satellites: the visible fraction of the Sun, and when Earth and Moon hide it
    Sunlight(sunlight::SunlightArgs),
    /// Find the eclipse of a date, print its data or render it, or list the eclipses of some years
    Eclipse(Box<sky::eclipse::EclipseArgs>),
    /// Compute the local circumstances of an eclipse: contacts, magnitude, obscuration, altitude of the Sun or the Moon
    Circumstances(sky::circumstances::CircumstancesArgs),
    /// Draw a map of a solar eclipse: obscuration, contours, centre line and limits
    Map(sky::map::MapArgs),
    /// Write a system file with the bodies of the solar system at an instant, for `render` and `shadow`
    System(sky::system::SystemArgs),
    /// List the devices of this machine, and the precisions that each one guarantees
    Devices(devices::DevicesArgs),
    /// Measure the speed of this machine, with hit counts for comparison
    Bench(bench::BenchArgs),
    /// Print shell completions
    Completions(manuals::CompletionsArgs),
    /// Write manual pages into a folder
    Man(manuals::ManArgs),
}

/// Version, commit, features, and version of wgpu.
const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit    ",
    env!("UMBRACAST_COMMIT"),
    "\nfeatures  ",
    env!("UMBRACAST_FEATURES"),
    "\nwgpu      ",
    env!("UMBRACAST_WGPU")
);

/// Runs the command line and returns its exit code. The first argument is the name of the program.
///
/// For the main function of a process: it handles signals, and sets the number of threads for the rest of the process.
pub fn main_with(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let code = exit_code_of(arguments);
    // A process of Python does not flush the standard output of Rust. Functions that print report errors themselves.
    let _ = std::io::stdout().flush();
    code
}

fn exit_code_of(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let parsed = with_any_case(Cli::command()).try_get_matches_from(&arguments);
    let parsed = match parsed.and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches)) {
        Ok(parsed) => parsed,
        Err(error) => {
            let code = error.exit_code();
            // Help and version exit with 0. A closed pipe (`| head`) is not an error.
            let _ = if code == 0 { error.print() } else { helpful(error, &arguments).print() };
            return u8::try_from(code).unwrap_or(2);
        }
    };
    start_threads(parsed.threads);
    match run(parsed) {
        Ok(()) => 0,
        Err(error) => {
            let hint = hint(&error).map(|hint| format!(" ({hint})")).unwrap_or_default();
            let _ = writeln!(std::io::stderr(), "error: {}{hint}", error.printable());
            exit_code(&error)
        }
    }
}

/// Sets the number of threads. If the system refuses to start any, this thread does all work.
fn start_threads(count: Option<u32>) {
    let can_start = std::thread::Builder::new().spawn(|| ()).is_ok();
    let builder = rayon::ThreadPoolBuilder::new().num_threads(count.unwrap_or(0) as usize);
    let builder = if can_start { builder } else { builder.num_threads(1).use_current_thread() };
    // An error would come again where the threads are needed.
    let _ = builder.build_global();
}

/// Accepts the keywords of options in any case, and negative numbers, which the parsers of the options then refuse with their limits.
fn with_any_case(command: clap::Command) -> clap::Command {
    let option = |arg: clap::Arg| {
        let takes_values = arg.get_action().takes_values();
        let negative = takes_values && !arg.is_positional();
        arg.ignore_case(takes_values).allow_negative_numbers(negative)
    };
    command.mut_args(option).mut_subcommands(with_any_case)
}

/// The same error in words that help. Arguments are escaped and shortened: the messages of clap repeat them unchanged.
fn helpful(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    if let (ErrorKind::UnknownArgument, Some(ContextValue::String(unknown))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
    {
        let behind = arguments.iter().skip_while(|one| *one != "--").any(|one| **one == **unknown);
        let is_number = unknown[1..].starts_with(|c: char| c.is_ascii_digit());
        let tip = match (behind, is_number) {
            (true, _) => Some("options go before '--'"),
            (_, true) => {
                Some("what begins with '-' goes last, after '--'; in an option, after '=', as in --list=-0600..-0580")
            }
            _ => None,
        };
        if let Some(tip) = tip {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
        }
    }
    let context: Vec<_> = error.context().map(|(kind, value)| (kind, value.clone())).collect();
    for (kind, value) in context {
        match value {
            ContextValue::String(text) => {
                error.insert(kind, ContextValue::String(umbracast_files::escape::quoted(&text)));
            }
            ContextValue::Strings(texts) => {
                let quoted = texts.iter().map(|text| umbracast_files::escape::quoted(text)).collect();
                error.insert(kind, ContextValue::Strings(quoted));
            }
            // `-- --option` would be the name of a file.
            ContextValue::StyledStrs(mut tips) if kind == ContextKind::Suggested => {
                tips.retain(|tip| !tip.to_string().contains("as a value"));
                error.remove(kind);
                if !tips.is_empty() {
                    error.insert(kind, ContextValue::StyledStrs(tips));
                }
            }
            _ => {}
        }
    }
    let source = std::error::Error::source(&error);
    let expected = match source {
        Some(source) if source.is::<std::num::ParseIntError>() => "a whole number",
        Some(source) if source.is::<std::num::ParseFloatError>() => "a number",
        _ => return error,
    };
    let of = |kind| error.get(kind).map(ToString::to_string).unwrap_or_default();
    let (value, option) = (of(ContextKind::InvalidValue), of(ContextKind::InvalidArg));
    let message =
        format!("invalid value '{value}' for '{option}': expected {expected}\n\nFor more information, try '--help'.\n");
    clap::Error::raw(error.kind(), message)
}

fn run(cli: Cli) -> Result<()> {
    umbracast::memory::set_limit_from_env()?;
    match cli.command {
        Command::Cast(args) => cast::run(&args),
        Command::Contains(args) => contains::run(&args),
        Command::Bullets(args) => bullets::run(&args),
        Command::Render(args) => render::run(&args),
        Command::Shadow(args) => shadow::run(&args),
        Command::Sunlight(args) => sunlight::run(&args),
        Command::Map(args) => sky::map::run(&args),
        Command::Eclipse(args) => sky::eclipse::run(&args),
        Command::Circumstances(args) => sky::circumstances::run(&args),
        Command::System(args) => sky::system::run(&args),
        Command::Devices(args) => devices::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Completions(args) => manuals::complete(&args, Cli::command()),
        Command::Man(args) => manuals::write_pages(&args, Cli::command()),
    }
}

/// The consequence of an error, or advice, if the error itself does not state it.
fn hint(error: &Error) -> Option<&'static str> {
    use umbracast::Error;
    match error.of_records()? {
        Error::NoDevice { asked, .. }
            if std::env::var_os("UMBRACAST_DEVICE").is_some_and(|set| set.to_string_lossy() == *asked) =>
        {
            Some("this name was set by UMBRACAST_DEVICE")
        }
        Error::NoDevice { seen, .. } if seen.starts_with("no GPU driver") => Some(devices::no_adapter_hint()),
        Error::NoPrecision { .. } => Some("--precision selects one, --device cpu the CPU engine"),
        // Another device would not help.
        Error::OutOfMemory { device, .. } | Error::TooLarge { device, .. }
            if ["this machine", "any device"].contains(&device.as_str()) =>
        {
            None
        }
        Error::Cancelled { .. } => Some("nothing was written"),
        Error::TooLarge { .. } | Error::OutOfMemory { .. } | Error::DeviceLost { .. } | Error::TimedOut { .. } => {
            Some("try --device cpu, which needs no GPU")
        }
        _ => None,
    }
}

/// Prints one line on stderr, escaped where it is not printable. A closed stderr is not an error.
pub(crate) fn say(line: &str) {
    let line = umbracast_files::escape::printable(line).replace('\n', "\\n");
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Opens the reference device for `--compare` of pictures and shadows. The CPU engine has only one method for them, so for results of the
/// CPU engine there is no reference: prints a warning, even with `--quiet`, and returns `None`.
pub(crate) fn open_reference(asked: bool, on_cpu: bool) -> Result<Option<Device>> {
    if asked && on_cpu {
        say("warning: --compare has no effect here: the results come from the CPU engine, which is also the reference");
    }
    Ok((asked && !on_cpu).then(|| Device::open(&DeviceOptions::new("cpu"))).transpose()?)
}

/// Prints text on stdout. A closed pipe (`| head`) is not an error.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Error::cannot_write(STANDARD_STREAM, e)),
        _ => Ok(()),
    }
}

/// Prints a summary: as JSON on stdout, else as a line on stderr unless `quiet`.
pub(crate) fn print_summary(value: &impl serde::Serialize, line: &str, json: bool, quiet: bool) -> Result<()> {
    if json {
        return print_json(value);
    }
    if !quiet {
        say(line);
    }
    Ok(())
}

/// Prints a value as one line of JSON on stdout.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<()> {
    let text = serde_json::to_string(value).map_err(|e| Error::cannot_write(STANDARD_STREAM, e.into()))?;
    print(&format!("{text}\n"))
}
