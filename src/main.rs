//! The command line: parses, calls, and turns errors into one line and an exit code.

mod cli;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    quiet_mesa();
    let arguments = match cli::Cli::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version too. A reader that has gone away is no concern of theirs.
            if error.exit_code() == 0 || std::env::args_os().all(|argument| is_short_and_plain(&argument)) {
                let _ = error.print();
            } else {
                cli::say_wrong_usage(&error.render().to_string());
            }
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    match cli::run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let hint = cli::hint(&error).map(|hint| format!(" ({hint})")).unwrap_or_default();
            cli::say(&format!("error: {error}{hint}"));
            ExitCode::from(cli::exit_code(&error))
        }
    }
}

/// Whether an argument can be shown as it is.
fn is_short_and_plain(argument: &std::ffi::OsStr) -> bool {
    let text = argument.to_string_lossy();
    text.len() <= 200 && umbracast::printable(&text) == text && !text.contains('\n')
}

/// Mesa's layer that picks a GPU for desktops prints two errors for each adapter where there is no desktop. Nothing to pick
/// from is lost by switching it off there: `--device` chooses.
fn quiet_mesa() {
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() && std::env::var_os("NODEVICE_SELECT").is_none() {
        // SAFETY: no other thread runs yet that could read the environment.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}
