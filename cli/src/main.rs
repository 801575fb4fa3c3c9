//! The command line: parses, calls, and turns errors into one line and an exit code. One file per subcommand.

mod args;
mod asked;
mod bench;
mod bullet;
mod bullets;
mod cast;
mod coarse;
mod compare;
mod contains;
mod describe;
mod devices;
mod feed;
mod flown;
mod pictures;
mod plot;
mod progress;
mod render;
mod shadow;
mod signals;
mod single;
mod stream;
mod summary;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use signals::exit_code;
use umbracast::{Device, DeviceOptions, Error, Result, blocking};

/// Batch ray–sphere queries and physically accurate shadows on any GPU
#[derive(Debug, Parser)]
#[command(
    name = "umbracast",
    version,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    max_term_width = 110
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Cast rays at spheres: which one does each ray meet, and when?
    Cast(Box<cast::CastArgs>),
    /// Which spheres hold each point: how many, and the lowest number
    Contains(contains::ContainsArgs),
    /// Shoot bullets at spheres: what does each meet, when, and how does it glance off?
    Bullets(Box<bullets::BulletsArgs>),
    /// Draw a system of a light and bodies, with umbra and penumbra as they are
    Render(Box<render::RenderArgs>),
    /// How much of a light each observer sees past bodies: umbra, penumbra, antumbra
    Shadow(shadow::ShadowArgs),
    /// List what work can run on here, and what each can promise
    Devices(devices::DevicesArgs),
    /// Measure how fast this machine is, with hit counts to compare
    Bench(bench::BenchArgs),
}

fn main() -> ExitCode {
    quiet_mesa();
    let arguments = match Cli::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let code = error.exit_code();
            // Help and version exit with 0. A closed pipe (`| head`) is not an error.
            let _ = if code == 0 { error.print() } else { with_quoted_arguments(error).print() };
            return ExitCode::from(u8::try_from(code).unwrap_or(2));
        }
    };
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let hint = hint(&error).map(|hint| format!(" ({hint})")).unwrap_or_default();
            // It is printable already, and what drivers say may have several lines.
            let _ = writeln!(std::io::stderr(), "error: {error}{hint}");
            ExitCode::from(exit_code(&error))
        }
    }
}

/// The same error for the same arguments, escaped and shortened: messages of the parser repeat arguments as they are.
fn with_quoted_arguments(error: clap::Error) -> clap::Error {
    let quoted = std::env::args_os().map(|argument| umbracast::quoted(&argument.to_string_lossy()));
    Cli::try_parse_from(quoted).err().unwrap_or(error)
}

/// Mesa's layer that picks a GPU for desktops prints two errors for each adapter where there is no desktop. Nothing to pick
/// from is lost by switching it off there: `--device` chooses.
fn quiet_mesa() {
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() && std::env::var_os("NODEVICE_SELECT").is_none() {
        // SAFETY: no other thread runs yet that could read the environment.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}

fn run(cli: Cli) -> Result<()> {
    umbracast::memory::check_variable()?;
    match cli.command {
        Command::Cast(args) => cast::run(&args),
        Command::Contains(args) => contains::run(&args),
        Command::Bullets(args) => bullets::run(&args),
        Command::Render(args) => render::run(&args),
        Command::Shadow(args) => shadow::run(&args),
        Command::Devices(args) => devices::run(&args),
        Command::Bench(args) => bench::run(&args),
    }
}

/// What follows from an error or helps, where the error alone does not say it.
fn hint(error: &Error) -> Option<&'static str> {
    match error {
        // Another device would not help.
        Error::OutOfMemory { device, .. } | Error::TooLarge { device, .. }
            if ["this machine", "any device"].contains(&device.as_str()) =>
        {
            None
        }
        Error::Cancelled { .. } => Some("nothing was written"),
        Error::TooLarge { .. } | Error::OutOfMemory { .. } | Error::DeviceLost { .. } | Error::TimedOut { .. } => {
            Some("--device cpu needs no GPU")
        }
        _ => None,
    }
}

/// Prints one line on stderr, escaped where it is not printable. A closed stderr is not an error.
pub(crate) fn say(line: &str) {
    let line = umbracast::printable(line).replace('\n', "\\n");
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Opens what pictures and shadows of `device` are compared with, where that is asked for. The CPU engine has only one way to them:
/// then there is nothing to compare with, and that is said even where a summary is not wanted.
pub(crate) fn open_judge(asked: bool, device: &Device) -> Result<Option<Device>> {
    if asked && device.is_cpu() {
        say("warning: --compare has nothing to compare: these answers are the CPU engine's own");
    }
    (asked && !device.is_cpu()).then(|| blocking::open(&DeviceOptions::new("cpu"))).transpose()
}

/// Text on stdout. A reader that has had enough (`| head`) ends it quietly.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::Io { action: "write", path: PathBuf::from("stdout"), message: e.to_string() })
        }
        _ => Ok(()),
    }
}

/// JSON on stdout, on one line.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<()> {
    let text = serde_json::to_string(value).map_err(|e| Error::Io {
        action: "write",
        path: PathBuf::from("stdout"),
        message: e.to_string(),
    })?;
    print(&format!("{text}\n"))
}
