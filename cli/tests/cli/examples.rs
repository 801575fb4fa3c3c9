//! Runs the examples that check themselves, on the adapter that they choose.
//! (Examples that render pictures are in `gallery.rs`.)

use std::process::Command;

/// Runs an example, which must succeed, and returns its output.
fn said(name: &str) -> String {
    // The examples are built next to the tests, by `tests/run.sh`.
    let example = std::env::current_exe().unwrap().parent().unwrap().join("../examples").join(name);
    let done = Command::new(&example).output();
    let done = done.unwrap_or_else(|e| panic!("{}: {e}: build the examples too", example.display()));
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    said.into_owned()
}

#[test]
fn the_intersection_functions_work_in_a_custom_shader() {
    let said = said("solve_in_your_shader");
    // Most rays hit their sphere.
    let hits: u32 = said.split(": ").nth(1).and_then(|text| text.split(' ').next()?.parse().ok()).unwrap();
    assert!(said.starts_with("1048576 pairs") && hits > 500_000, "{said}");
}

#[test]
fn bullets_in_a_room() {
    let said = said("bullets");
    for words in
        [": 1000 ricochets\n", ", speed 3.000000\n", "frame 2: met at [6, 0, 0], and thrown back at [-5, 0, 0]"]
    {
        assert!(said.contains(words), "'{words}' is not in: {said}");
    }
}
