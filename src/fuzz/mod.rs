//! Fuzz targets: functions of any bytes that panic where a promise is broken. `fuzz/` gives them to libFuzzer, and `tests` below runs
//! them with the corpus in `fuzz/corpus` and with inputs made from it at random. `fuzz/README.md` lists what each one checks.
//!
//! Those that need the insides of a module are a child of it.

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

/// Takes back libFuzzer's hook, which ends the program at every panic. Some files make the parquet crate panic, which its reader
/// catches; a panic that nobody catches still ends the program.
pub fn allow_caught_panics() {
    drop(std::panic::take_hook());
}
