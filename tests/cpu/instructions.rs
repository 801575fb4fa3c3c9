//! Instructions of small workloads, counted by callgrind: a speed that does not depend on the machine or on what else it does. Time
//! is measured by `umbracast bench`, on a quiet machine.
//!
//! `tests/data/instructions.tsv` holds the counts per ray and the compiler that they belong to. A workload that takes 3 % more fails;
//! one that takes 3 % less asks for new figures, so that the gain is kept. To renew them, read why they changed, then run
//! `UMBRACAST_BLESS=1 cargo test --release -p umbracast -p umbracast-cli --features umbracast-cli/parquet instructions`
//! and commit the file with the reason. Callgrind knows no AVX-512: these are the counts of AVX2 and of SSE2. The workloads are in
//! `tools/count_instructions.rs`; they run on one thread.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::kernels::compiler;
use crate::support::folder::Folder;
use crate::support::root;

/// By how much a count may differ from the one that is kept.
const SLACK: f64 = 0.03;

fn harness() -> PathBuf {
    // Next to the tests: tests/run.sh builds the examples with them.
    let path = std::env::current_exe().unwrap().parent().unwrap().join("../examples/count_instructions");
    assert!(
        path.exists(),
        "{}: build it with cargo build --release -p umbracast --features parquet --example count_instructions",
        path.display()
    );
    path
}

/// The instructions of each workload, one line each: its name, its number of rays, and the count.
fn counts(level: &str, folder: &Path) -> Vec<(String, f64)> {
    let out = format!("--callgrind-out-file={}", folder.join("out").display());
    let measured = "count_instructions::measured";
    let done = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet", &out])
        .args([format!("--toggle-collect={measured}"), format!("--dump-after={measured}")])
        .arg(harness())
        .arg(level)
        .output()
        .unwrap_or_else(|e| panic!("valgrind: {e}"));
    assert!(done.status.success(), "{level}: {}", String::from_utf8_lossy(&done.stderr));
    let names = String::from_utf8(done.stdout).unwrap();
    let mut counted = Vec::new();
    for (i, line) in names.lines().enumerate() {
        let (name, pieces) = line.split_once('\t').unwrap();
        // Files are numbered from 1.
        let text = std::fs::read_to_string(folder.join(format!("out.{}", i + 1))).unwrap();
        let total = text.lines().find_map(|line| line.strip_prefix("totals: ")).expect("callgrind's totals");
        let (total, pieces): (f64, f64) = (total.trim().parse().unwrap(), pieces.parse().unwrap());
        assert!(total > 1e6, "{name}: {total} instructions are too few to tell anything");
        counted.push((format!("{level}\t{name}"), total / pieces));
    }
    assert!(counted.len() > 20, "{names}");
    counted
}

#[test]
fn no_workload_takes_more_instructions() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        // Written past the test's own output: a test that checks nothing must say so.
        let _ =
            writeln!(std::io::stderr(), "NOT TESTED: instructions, for want of valgrind, which tests/run.sh installs");
        return;
    }
    let folders = [Folder::new(), Folder::new()];
    let [first, second] = &folders;
    let (mut counted, rest) = std::thread::scope(|scope| {
        let rest = scope.spawn(|| counts("SSE2", second.root()));
        (counts("AVX2", first.root()), rest.join().unwrap())
    });
    counted.extend(rest);

    let made_by = format!("# {}", compiler(harness().to_str().unwrap()));
    let path = root().join("tests/data/instructions.tsv");
    if std::env::var_os("UMBRACAST_BLESS").is_some() {
        let rows: Vec<String> = counted.iter().map(|(name, count)| format!("{name}\t{count:.1}")).collect();
        let text = format!("{made_by}\ninstructions\tworkload\tper ray\n{}\n", rows.join("\n"));
        std::fs::write(&path, text).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    let mut lines = kept.lines();
    let same_compiler = lines.next() == Some(made_by.as_str());
    let kept: Vec<(&str, f64)> = lines
        .skip(1)
        .map(|line| line.rsplit_once('\t').unwrap())
        .map(|(name, count)| (name, count.parse().unwrap()))
        .collect();
    let names = |rows: &mut dyn Iterator<Item = String>| rows.collect::<Vec<_>>();
    assert_eq!(
        names(&mut kept.iter().map(|row| row.0.to_owned())),
        names(&mut counted.iter().map(|row| row.0.clone())),
        "workloads came or went: renew {}",
        path.display()
    );
    let mut different = String::new();
    for ((name, before), (_, now)) in kept.iter().zip(&counted) {
        let change = now / before - 1.0;
        if change.abs() > SLACK {
            let what = if change > 0.0 { "slower" } else { "faster: renew the figures" };
            different +=
                &format!("  {name}: {before:.1} instructions before, {now:.1} now, {:+.1} %, {what}\n", 100.0 * change);
        }
    }
    if !same_compiler {
        let _ = writeln!(std::io::stderr(), "NOT TESTED: instructions, which another compiler made:\n{different}");
        return;
    }
    assert!(different.is_empty(), "the counts changed:\n{different}");
}
