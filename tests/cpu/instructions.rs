//! Instruction counts of small workloads, measured by callgrind: a measure of speed that does not depend on the machine and its load.
//! (`umbracast bench` measures time, on a quiet machine.)
//!
//! `tests/data/instructions.tsv` contains the counts per ray, and the compiler that built the measured program. The test fails if a
//! workload takes over 3 % more, and also if it takes over 3 % less, so that the gain is recorded. To update the counts, find out why
//! they changed, run
//! `UMBRACAST_BLESS=1 cargo test --release -p umbracast --test integration instructions`
//! and commit the file with the reason. Callgrind does not support AVX-512: the counts are for AVX2 and SSE2. The workloads are in
//! `crates/bench`; they run on one thread.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use umbracast_testing::folder::Folder;
use umbracast_testing::{compiler, root};

/// Maximum relative difference from the stored count.
const SLACK: f64 = 0.03;

fn harness() -> PathBuf {
    // `tests/run.sh` builds it.
    let path = std::env::current_exe().unwrap().parent().unwrap().with_file_name("count_instructions");
    assert!(path.exists(), "{}: build it with cargo build --release -p umbracast-bench", path.display());
    path
}

/// Runs the workloads under callgrind. Returns the name of each, after the instruction set and a tab, and its instructions per ray.
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
        // Callgrind numbers its files from 1.
        let text = std::fs::read_to_string(folder.join(format!("out.{}", i + 1))).unwrap();
        let total =
            text.lines().find_map(|line| line.strip_prefix("totals: ")).expect("a line with callgrind's totals");
        let (total, pieces): (f64, f64) = (total.trim().parse().unwrap(), pieces.parse().unwrap());
        assert!(total > 1e6, "{name}: {total} instructions are too few to compare");
        counted.push((format!("{level}\t{name}"), total / pieces));
    }
    assert!(counted.len() > 20, "{names}");
    counted
}

#[test]
fn no_workload_takes_more_instructions_than_recorded() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        // Written directly to stderr, which the test harness does not capture: a test that checks nothing must report this.
        let _ = writeln!(
            std::io::stderr(),
            "NOT TESTED: instructions, because valgrind is missing (tests/run.sh installs it)"
        );
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
        "workloads were added or removed: update {}",
        path.display()
    );
    let mut different = String::new();
    for ((name, before), (_, now)) in kept.iter().zip(&counted) {
        let change = now / before - 1.0;
        if change.abs() > SLACK {
            let what = if change > 0.0 { "slower" } else { "faster: update the counts" };
            different +=
                &format!("  {name}: {before:.1} instructions before, {now:.1} now, {:+.1} %, {what}\n", 100.0 * change);
        }
    }
    if !same_compiler {
        let _ = writeln!(std::io::stderr(), "NOT TESTED: instructions, because the compiler differs:\n{different}");
        return;
    }
    assert!(different.is_empty(), "the counts changed:\n{different}");
}
