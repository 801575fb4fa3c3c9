#![no_main]

use umbracast::fuzz;

libfuzzer_sys::fuzz_target!(init: fuzz::allow_caught_panics(), |data: &[u8]| fuzz::sources(data));
