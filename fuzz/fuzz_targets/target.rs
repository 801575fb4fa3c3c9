//! Gives the inputs of libFuzzer to the target that the environment variable UMBRACAST_TARGET names.
#![no_main]

use std::sync::LazyLock;

static NAME: LazyLock<String> =
    LazyLock::new(|| std::env::var("UMBRACAST_TARGET").expect("UMBRACAST_TARGET names a target"));

libfuzzer_sys::fuzz_target!(
    // libFuzzer's panic hook would end the program at every panic. Some files make the parquet crate panic, and the reader catches these
    // panics. An uncaught panic still ends the program.
    init: drop(std::panic::take_hook()),
    |data: &[u8]| umbracast_fuzz::run(&NAME, data)
);
