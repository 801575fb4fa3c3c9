//! The subcommand.
