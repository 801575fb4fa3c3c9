//! Runs the examples that check themselves, on the adapter that they choose.
//! (The example that writes the moonlets of a system is in `gallery.rs`.)

use std::process::Command;

use umbracast_testing::folder::Folder;

/// Runs an example, which must succeed, and returns its output.
fn said(name: &str) -> String {
    said_of(name, &[])
}

pub(super) fn said_of(name: &str, arguments: &[&str]) -> String {
    // The examples are built next to the tests, by `tests/run.sh`.
    let example = std::env::current_exe().unwrap().parent().unwrap().join("../examples").join(name);
    let done = Command::new(&example).args(arguments).output();
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
fn particles_that_a_shader_moves() {
    let said = said_of("moving_particles", &["3000", "5000", "7"]);
    let last = said.lines().nth(1).unwrap_or_default();
    let hits: u32 = last.split(' ').nth(2).and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("{said}"));
    // The discs of 3,000 particles at distances of 0.005 to 1.7 cover 3,000 · 0.005² / 4 · mean(1 / d²) = 3.7 % of the view.
    assert!(
        (100..1000).contains(&hits) && last.ends_with(", 0 bad rays, 0 undone, 0 particles outside the box"),
        "{said}"
    );
}

#[test]
fn a_beam_among_mirror_balls() {
    let said = said("game_loop");
    let bounces = |line: &str| line.split(' ').nth(2).and_then(|word| word.parse::<u32>().ok()).unwrap();
    let frames: Vec<u32> = said.lines().map(bounces).collect();
    // The balls swing, so the beam takes another way in each frame.
    assert!(frames.len() == 4 && frames.iter().all(|bounces| (2..200).contains(bounces)), "{said}");
    assert!(frames.iter().any(|bounces| *bounces != frames[0]), "{said}");
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

#[test]
fn a_shadow_has_the_fraction_of_its_closed_form() {
    let said = said("shadow");
    assert!(said.starts_with("0.00 m from the middle: 0.640 of the lamp is visible\n"), "{said}");
    assert!(said.ends_with("closed form in the middle: 0.640\n"), "{said}");
}

#[test]
fn an_eclipse_seen_from_a_city() {
    let said = said("eclipse");
    for words in ["Burgos: Total, 100.0 %", "the central eclipse lasts 107 s"] {
        assert!(said.contains(words), "'{words}' is not in: {said}");
    }
}

#[test]
fn a_picture_of_balls_on_the_ground() {
    let folder = Folder::new();
    let path = folder.path("picture.png");
    let said = said_of("picture", &[path.to_str().unwrap()]);
    let penumbra: u32 = said.split(" shows ").nth(1).and_then(|text| text.split(' ').next()?.parse().ok()).unwrap();
    assert!((2_000..5_000).contains(&penumbra), "{said}");
    assert_eq!(image::open(path).unwrap().to_rgb8().dimensions(), (640, 400));
}
