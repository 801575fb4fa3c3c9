//! Examples that check themselves: run as they are, on the adapter that they choose.
//! (Those that make pictures are in `gallery.rs`.)

use std::process::Command;

#[test]
fn the_solve_in_a_shader_of_ones_own() {
    // Beside the tests: cargo builds examples with them.
    let example = std::env::current_exe().unwrap().parent().unwrap().join("../examples/solve_in_your_shader");
    let done = Command::new(&example).output();
    let done = done.unwrap_or_else(|e| panic!("{}: {e}: build the examples too", example.display()));
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    // Half of the rays and more aim at their sphere.
    let hits: u32 = said.split(": ").nth(1).and_then(|text| text.split(' ').next()?.parse().ok()).unwrap();
    assert!(said.starts_with("1048576 pairs") && hits > 500_000, "{said}");
}
