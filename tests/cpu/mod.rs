//! The CPU engine.

mod levels;
