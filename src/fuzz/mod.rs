//! Fuzz targets: functions of arbitrary bytes that panic if a guarantee is broken. `fuzz/` runs them with libFuzzer. `tests` below runs
//! them with the corpus in `fuzz/corpus` and with random changes of it. `fuzz/README.md` lists the checks of each target.
//!
//! A target that needs private items of a module is a child of that module.

pub(crate) mod bytes;
pub(crate) mod caps;
pub(crate) mod casts;
pub(crate) mod memory;
pub(crate) mod messages;
pub(crate) mod ricochet;
#[cfg(test)]
pub(crate) mod tests;

pub use caps::caps;
pub use casts::casts;
pub use messages::messages;
pub use ricochet::ricochet;

pub use crate::bvh::qbvh4::fuzz::quads;
pub use crate::io::fuzz::{answers, npy, number, parquet, sources};
pub use crate::shadow::fuzz::{cull, systems};

/// Removes libFuzzer's panic hook, which ends the program at every panic. Some files make the parquet crate panic, and the reader catches
/// these panics. An uncaught panic still ends the program.
pub fn allow_caught_panics() {
    drop(std::panic::take_hook());
}
