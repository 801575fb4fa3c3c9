//! Tells the program which commit it is built from, and the version of wgpu, for `--version` and bug reports.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=../Cargo.lock");
    println!("cargo:rustc-env=UMBRACAST_COMMIT={}", commit().unwrap_or_else(|| "unknown".into()));
    let features = if std::env::var_os("CARGO_FEATURE_PARQUET").is_some() { "parquet" } else { "none" };
    println!("cargo:rustc-env=UMBRACAST_FEATURES={features}");
    println!("cargo:rustc-env=UMBRACAST_WGPU={}", wgpu_version().unwrap_or_else(|| "30".into()));
}

/// The commit: git's, or the one that `cargo package` noted. `None` for an archive without either.
fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let done = Command::new("git").args(arguments).output().ok().filter(|done| done.status.success())?;
        Some(String::from_utf8(done.stdout).ok()?.trim().to_owned())
    };
    // In a repository of another project, the lock file is not tracked.
    if git(&["ls-files", "--error-unmatch", "../Cargo.lock"]).is_some()
        && let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"])
    {
        // Each commit and each checkout appends a line.
        println!("cargo:rerun-if-changed={log}");
        return git(&["rev-parse", "--short=12", "HEAD"]);
    }
    let noted = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = noted.split_once("\"sha1\": \"")?;
    Some(rest.chars().take(12).collect())
}

/// The version of wgpu in the lock file.
fn wgpu_version() -> Option<String> {
    let lock = std::fs::read_to_string("../Cargo.lock").or_else(|_| std::fs::read_to_string("Cargo.lock")).ok()?;
    let (_, rest) = lock.split_once("name = \"wgpu\"\nversion = \"")?;
    Some(rest.split_once('"')?.0.to_owned())
}
