//! Instructions of small workloads, and what they wait for: branches that the processor predicts wrongly, and memory. Callgrind counts them: a
//! measure of speed that does not depend on the machine and its load. (`umbracast bench` measures time, on a quiet machine.)
//!
//! `tests/data/instructions.tsv` contains the counts per ray, and the compiler that built the measured program. Branches and caches are
//! Callgrind's simulations: a predictor that is simpler than a processor's, and a first-level cache of 32 KiB. The test fails if a
//! workload takes over 3 % more instructions, 40 % more mispredictions or 50 % more misses, or the median of all over 2 to 4 % more, and also if they
//! take so much less, so that the gain is recorded. To update the counts, find out why they changed, run
//! `UMBRACAST_BLESS=1 cargo test --release -p umbracast --test integration instructions`
//! and commit the file with the reason. Callgrind does not support AVX-512: the counts are for AVX2 and SSE2. The workloads are in
//! `crates/bench`; they run on one thread.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use umbracast_testing::folder::Folder;
use umbracast_testing::{compiler, root};

/// The counts: their names in the table, Callgrind's events that add up to each, the maximum relative difference from the stored count, a
/// difference that is always allowed, and the maximum of the median difference of all workloads. Where code and memory lie changes from
/// build to build, and mispredictions and cache misses of single workloads with it, but hardly their median.
const COUNTS: [(&str, &[&str], f64, f64, f64); 3] = [
    ("instructions", &["Ir"], 0.03, 0.0, 0.03),
    // The simulated predictor chooses its entries by addresses: the same code in another place has up to 26 % more or fewer, but 2 % in the
    // median. An unpredictable branch in the leaf test adds 6 % to the median.
    ("mispredictions", &["Bcm", "Bim"], 0.4, 0.5, 0.04),
    // Lists that lie on each other's sets of the cache take up to 43 % more, but less than 1 % in the median. A random access in the leaf test adds
    // 4 % to the median.
    ("cache misses", &["D1mr", "D1mw"], 0.5, 0.3, 0.02),
];

/// Caches of 32 KiB and 1 MiB, whatever the machine has.
const SIMULATED: [&str; 5] =
    ["--branch-sim=yes", "--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64"];

fn harness() -> PathBuf {
    // `tests/run.sh` builds it.
    let path = std::env::current_exe().unwrap().parent().unwrap().with_file_name("count_instructions");
    assert!(path.exists(), "{}: build it with cargo build --release -p umbracast-bench", path.display());
    path
}

/// The counts of a workload per ray, in the order of [`COUNTS`].
type Counted = [f64; COUNTS.len()];

/// Runs the workloads under callgrind. Returns the name of each, after the instruction set and a tab, and its counts.
fn counts(level: &str, folder: &Path) -> Vec<(String, Counted)> {
    let out = format!("--callgrind-out-file={}", folder.join("out").display());
    let measured = "count_instructions::measured";
    let harness = harness();
    // The environment and the path lie on the program's stack, and move what lies below them across lines of the cache.
    let done = Command::new("valgrind")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .current_dir(harness.parent().unwrap())
        .args(["--tool=callgrind", "--quiet", &out])
        .args([format!("--toggle-collect={measured}"), format!("--dump-after={measured}")])
        .args(SIMULATED)
        .arg(Path::new(".").join(harness.file_name().unwrap()))
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
        let words = |start: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(start));
            line.unwrap_or_else(|| panic!("no '{start}' in Callgrind's file")).split_whitespace()
        };
        // Zeros at the end of the line are left out.
        let numbers = || words("totals: ").map(|total| total.parse::<f64>().unwrap()).chain(std::iter::repeat(0.0));
        let totals = || words("events: ").zip(numbers());
        let pieces: f64 = pieces.parse().unwrap();
        let per_ray = COUNTS.map(|(_, events, ..)| {
            let known = totals().filter(|(event, _)| events.contains(event));
            assert_eq!(known.clone().count(), events.len(), "{events:?}");
            known.map(|(_, total)| total).sum::<f64>() / pieces
        });
        assert!(per_ray[0] * pieces > 1e6, "{name}: {per_ray:?} per ray are too few to compare");
        counted.push((format!("{level}\t{name}"), per_ray));
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
        let row = |(name, counts): &(String, Counted)| {
            counts.iter().fold(name.clone(), |row, count| format!("{row}\t{count:.1}"))
        };
        let rows: Vec<String> = counted.iter().map(row).collect();
        let columns = COUNTS.map(|(name, ..)| name).join("\t");
        let text = format!("{made_by}\ninstruction set\tworkload\t{columns}\n{}\n", rows.join("\n"));
        std::fs::write(&path, text).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    let mut lines = kept.lines();
    let same_compiler = lines.next() == Some(made_by.as_str());
    let kept: Vec<(String, Counted)> = lines
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            (cells[..2].join("\t"), std::array::from_fn(|i| cells[2 + i].parse().unwrap()))
        })
        .collect();
    let names = |rows: &mut dyn Iterator<Item = String>| rows.collect::<Vec<_>>();
    assert_eq!(
        names(&mut kept.iter().map(|row| row.0.clone())),
        names(&mut counted.iter().map(|row| row.0.clone())),
        "workloads were added or removed: update {}",
        path.display()
    );
    let mut different = String::new();
    for ((name, before), (_, now)) in kept.iter().zip(&counted) {
        for ((before, now), (count, _, slack, always, _)) in before.iter().zip(now).zip(COUNTS) {
            let more = now - before;
            if more.abs() > slack * before + always {
                let what = if more > 0.0 { "slower" } else { "faster: update the counts" };
                let change = 100.0 * more / before;
                different += &format!("  {name}: {before:.1} {count} before, {now:.1} now, {change:+.1} %, {what}\n");
            }
        }
    }
    for level in ["AVX2", "SSE2"] {
        for (i, (count, .., most)) in COUNTS.iter().enumerate() {
            let rows = kept.iter().zip(&counted).filter(|((name, _), _)| name.starts_with(level));
            let mut changes: Vec<f64> = rows.map(|((_, before), (_, now))| now[i] / before[i] - 1.0).collect();
            changes.sort_by(f64::total_cmp);
            let median = changes[changes.len() / 2];
            if median.abs() > *most {
                different += &format!("  {level}: {:+.1} % {count} in the median of all workloads\n", 100.0 * median);
            }
        }
    }
    if !same_compiler {
        let _ = writeln!(std::io::stderr(), "NOT TESTED: instructions, because the compiler differs:\n{different}");
        return;
    }
    assert!(different.is_empty(), "the counts changed:\n{different}");
}
