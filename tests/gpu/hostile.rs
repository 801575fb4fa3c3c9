//! Devices that compute as badly as WGSL allows (`umbracast_testing::hostile`): `exact` gives the bytes of the CPU engine, `standard` stays
//! within its bounds, and the builder, lists and pictures are right.

use std::io::Write;
use std::process::Command;
use std::sync::Arc;

use umbracast::{Device, Precision, Probe, Query, ShaderEdit};
use umbracast_testing::hostile::{Hostile, SEED};
use umbracast_testing::{corpus, devices, scaled};

/// The tests that each seed runs, as filters of their names.
const TESTS: [&str; 8] = [
    "queries::corpus",
    "queries::climb",
    "queries::degenerate",
    "queries::lists::hit_lists_do_not_depend",
    "bvh::updates::both_bvh_builders",
    "shadow::fraction",
    "shadow::pictures::casts_and_receives",
    "shadow::large_pictures::a_gpu_misses",
];

/// The tests that each seed runs in the long run, too.
const MORE: [&str; 7] = [
    "queries::lists::",
    "queries::properties",
    "queries::agreement::devices",
    "primitives::motion::",
    "primitives::ellipsoids::the_corpus",
    "raygen::",
    "shadow::pictures",
];

/// Index of the adapter whose arithmetic is made worse: a software adapter, which rounds correctly. Not SwiftShader, which compiles programs of
/// this length for minutes.
fn adapter() -> Option<usize> {
    let found =
        devices().iter().position(|device| device.kind() == "software" && !device.name().contains("SwiftShader"));
    if found.is_none() {
        // Written directly to stderr, which the test harness does not capture: a test that checks nothing must report this.
        let _ = writeln!(std::io::stderr(), "NOT TESTED: hostile arithmetic, because there is no llvmpipe");
    }
    found
}

fn opened(adapter: usize, edit: ShaderEdit) -> Device {
    pollster::block_on(Device::open_edited(adapter, edit)).unwrap()
}

#[test]
fn hostile_devices_compute_as_badly_as_they_should() {
    let Some(adapter) = adapter() else { return };
    let rows = corpus();
    let (rays, spheres): (Vec<_>, Vec<_>) = rows.iter().map(|row| (row.ray.line(), row.sphere)).unzip();
    let roots = |device: &Device| {
        let pairs = device.pairwise(&spheres, &Default::default()).unwrap();
        pairs.interval(&rays, &Query::at(Precision::Fast)).unwrap().records
    };
    let expected = roots(&devices()[adapter]);
    let mut fused = Vec::new();
    for seed in 0..4 {
        let hostile = Hostile::new(seed);
        let device = opened(adapter, hostile.edit());
        let changed = roots(&device).iter().zip(&expected).filter(|(found, expected)| found != expected).count();
        println!("seed {seed}: {changed} of {} pairs of roots differ; {:?}", rows.len(), device.probe().unwrap());
        assert!(changed > rows.len() / 100, "seed {seed}: {changed}");
        let Probe { division_ulp, root_ulp, expression_fused, subnormals, .. } = *device.probe().unwrap();
        assert!(division_ulp > 2.3 && division_ulp <= 2.5, "seed {seed}: {division_ulp}");
        let most = f64::from(hostile.root_steps);
        assert!(root_ulp > most && root_ulp <= most + 0.5, "seed {seed}: {root_ulp}");
        assert_eq!(subnormals, !hostile.flushes, "seed {seed}");
        fused.push(expression_fused);
    }
    assert!(fused.contains(&0.0) && fused.contains(&1.0), "{fused:?}");
}

#[test]
fn every_promise_holds_on_hostile_devices() {
    if adapter().is_none() {
        return;
    }
    let seeds = scaled(2).clamp(2, 32);
    let more = if seeds > 2 { &MORE[..] } else { &[] };
    for seed in 0..seeds {
        let done = Command::new(std::env::current_exe().unwrap())
            .args(TESTS.iter().chain(more))
            .env(SEED, seed.to_string())
            // Without SwiftShader.
            .env_remove("VK_ADD_DRIVER_FILES")
            .env("UMBRACAST_INTENSITY", if more.is_empty() { "0.1" } else { "0.3" })
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&done.stdout);
        let passed: usize = printed
            .lines()
            .find_map(|line| line.strip_prefix("test result: ok. ")?.split_once(' ')?.0.parse().ok())
            .unwrap_or_else(|| panic!("seed {seed} ({SEED}={seed}):\n{printed}"));
        // A filter that matches no test would succeed, too.
        assert!(done.status.success() && passed > 2 * TESTS.len(), "seed {seed}: {passed} tests\n{printed}");
    }
}

#[test]
fn the_probe_refuses_standard_where_the_correction_is_missing() {
    let Some(adapter) = adapter() else { return };
    for seed in 0..4 {
        let ShaderEdit::Module(make) = Hostile::new(seed).edit() else { unreachable!() };
        let uncorrected = move |pipeline: &str, source: &str| {
            let source = source.replace("if (!corrects", "if (!false").replace("if (corrects)", "if (false)");
            make(pipeline, &source)
        };
        let device = opened(adapter, ShaderEdit::Module(Arc::new(uncorrected)));
        let probe = device.probe().unwrap();
        println!("seed {seed}: {probe:?}");
        assert!(probe.failure.as_ref().is_some_and(|why| why.contains("errors of roots reach")), "{probe:?}");
    }
}
