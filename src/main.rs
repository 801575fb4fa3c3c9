//! The command line: parses, calls, and turns errors into one line and an exit code.

mod cli;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let arguments = match cli::Cli::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version too. A reader that has gone away is no concern of theirs.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    match cli::run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let hint = cli::hint(&error).map(|hint| format!(" ({hint})")).unwrap_or_default();
            cli::say(&format!("error: {error}{hint}"));
            ExitCode::from(error.exit_code())
        }
    }
}
