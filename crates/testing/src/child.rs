//! Runs a test again in a child process, for tests that need a process of their own.

use std::process::Command;

/// Runs one test of this program in a child process and returns its output. `test` is the path of the test including the program's
/// name: `concat!(module_path!(), "::name")`. The environment variable tells the test that it runs in the child.
#[track_caller]
pub fn run_alone(test: &str, variable: &str, value: &str) -> String {
    let (_, name) = test.split_once("::").expect("module_path!() begins with the program's name");
    let done = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(variable, value)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
    // A name that matches no test would succeed, too.
    assert!(done.status.success() && printed.contains("1 passed"), "{name} in a child: {printed}");
    printed
}
