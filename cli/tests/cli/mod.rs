//! The command line, run as a user runs it.

mod bench;
mod busy;
mod casts;
mod commands;
#[cfg(unix)]
mod disturbed;
mod documents;
mod examples;
mod gallery;
mod help;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod kernels;
mod large;
mod maps;
mod messages;
mod observer_refusals;
mod observers;
mod pipes;
mod plots;
pub(crate) mod query_schemas;
mod refusals;
mod render;
mod schema;
mod shell;
mod sky;
mod sky_pictures;
mod starts;
mod surprises;
mod svg;
mod threads;
