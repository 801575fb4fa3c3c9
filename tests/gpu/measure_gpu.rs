//! `measure_gpu`, the program for people with a GPU that we do not have, from beginning to end on a software adapter.

use std::io::Write;
use std::process::Command;

use serde_json::Value;
use umbracast_testing::devices;
use umbracast_testing::folder::Folder;

#[test]
fn measure_gpu_checks_answers_and_measures_every_variant() {
    if !devices().iter().any(|device| device.name().contains("llvmpipe")) {
        // Written directly to stderr, which the test harness does not capture: a test that checks nothing must report this.
        let _ = writeln!(std::io::stderr(), "NOT TESTED: measure_gpu, because there is no llvmpipe");
        return;
    }
    // `tests/run.sh` builds it.
    let program = std::env::current_exe().unwrap().parent().unwrap().with_file_name("measure_gpu");
    assert!(program.exists(), "{}: build it with cargo build --release -p umbracast-bench", program.display());
    let folder = Folder::new();
    let done = Command::new(&program).arg("llvmpipe").current_dir(folder.root()).output().unwrap();
    let printed = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{printed}{}", String::from_utf8_lossy(&done.stderr));
    let report: Value = serde_json::from_str(&folder.text("umbracast-gpu.json")).unwrap();
    let rows = |value: &Value| value.as_array().unwrap().clone();
    for row in rows(&report["answers"]).iter().filter(|row| row["precision"] == "exact") {
        for wrong in ["hits_wrong", "records_unlike_exact", "bytes_unlike_cpu"] {
            assert!(row[wrong].is_null() || row[wrong] == 0, "{row}");
        }
    }
    let kernels: Vec<_> = rows(&report["rates"]).into_iter().filter(|row| !row["kernel_seconds"].is_null()).collect();
    assert_eq!(kernels.len(), 12, "three scenes, two queries, `fast` and `standard`");
    assert!(kernels.iter().all(|row| row["kernel_seconds"].as_f64() > Some(0.0) && row["hits"].as_u64() > Some(1000)));
    // Rays per second of the host alone with one core, two and all; then the kernel that traverses nothing.
    let host = rows(&report["host_alone"]);
    assert!(host.len() == 4 && host[..3].iter().all(|row| row["rays_per_second"].as_f64() > Some(0.0)), "{host:?}");
    assert_eq!(rows(&report["order"]).len(), 8, "two scenes, two orders, two queries");
    let variants = rows(&report["variants"]["rows"]);
    assert_eq!(variants.len(), 17, "{variants:?}");
    for row in variants {
        // These change where numbers are kept, not what is computed; stacks of eight overflow on some scenes, but not on these.
        assert_eq!(row["words_changed"], 0.0, "{row}");
        assert!(row["speed"].as_f64() > Some(0.0), "{row}");
    }
    assert!(printed.contains("What to change for this GPU") && rows(&report["advice"]).len() > 5, "{printed}");
}
