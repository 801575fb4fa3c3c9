//! `umbracast completions` and `umbracast man`: shell completions and manual pages, made from the options of the program.

use std::path::PathBuf;

use crate::error::{Error, Result};
use clap::{Args, Command};
use clap_complete::Shell;

/// Arguments of `umbracast completions`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  umbracast completions bash > /etc/bash_completion.d/umbracast
  umbracast completions zsh > ~/.zfunc/_umbracast   (a folder in fpath)
  umbracast completions fish > ~/.config/fish/completions/umbracast.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Arguments of `umbracast man`.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  umbracast man ~/.local/share/man/man1      then: man umbracast-cast")]
pub(crate) struct ManArgs {
    /// Folder for the pages: one for the program, and one per command
    folder: PathBuf,
}

/// Prints the completions of a shell.
pub(crate) fn complete(args: &CompletionsArgs, mut command: Command) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "umbracast", &mut script);
    super::print(&String::from_utf8_lossy(&script))
}

/// Writes the manual pages.
pub(crate) fn write_pages(args: &ManArgs, command: Command) -> Result<()> {
    let failed = |e: std::io::Error| Error::cannot_write(&args.folder, e);
    std::fs::create_dir_all(&args.folder).map_err(failed)?;
    clap_mangen::generate_to(command.disable_help_subcommand(true), &args.folder).map_err(failed)
}
