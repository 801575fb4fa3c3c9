#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| umbracast::fuzz::messages(data));
