//! The readers and writers as a library.

mod formats;
mod lines;
mod output;
mod ply;
mod vectors;
