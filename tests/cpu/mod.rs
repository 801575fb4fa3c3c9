//! The CPU engine.

mod levels;
mod threads;
