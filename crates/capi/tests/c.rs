//! Compiles a C program against the library and its header, and runs it.

#![cfg(unix)]

use std::path::Path;
use std::process::Command;

// So that the library is built.
use umbracast_c as _;

#[test]
fn a_c_program_calls_every_function() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Cargo builds the library next to the tests.
    let library = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("beam");
    let done = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-I"])
        .arg(here)
        .arg(here.join("tests/beam.c"))
        .arg("-L")
        .arg(&library)
        .args(["-lumbracast_c", "-lm"])
        .arg(format!("-Wl,-rpath,{}", library.display()))
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let done = Command::new(program).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(
        said.starts_with(&format!("umbracast {}: ", env!("CARGO_PKG_VERSION"))) && said.contains("bounces"),
        "{said}"
    );
}
