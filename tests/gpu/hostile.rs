//! Devices that compute as badly as WGSL allows (`umbracast_testing::hostile`): `exact` gives the bytes of the CPU engine, `standard` stays
//! within its bounds, and the builder, lists and pictures are right.

use std::process::Command;

use umbracast::{Device, Precision, Probe, Query};
use umbracast_testing::hostile::{Hostile, SEED};
use umbracast_testing::{corpus, devices, scaled};

/// The tests that each seed runs, as filters of their names.
const TESTS: [&str; 9] = [
    "queries::corpus",
    "queries::climb",
    "queries::lists::",
    "queries::properties",
    "queries::degenerate",
    "bvh::updates::both_bvh_builders",
    "primitives::motion::",
    "primitives::ellipsoids::",
    "shadow::pictures",
];

fn opened(hostile: Hostile) -> Device {
    pollster::block_on(Device::open_edited(0, hostile.edit())).unwrap()
}

#[test]
fn hostile_devices_compute_as_badly_as_they_should() {
    let rows = corpus();
    let (rays, spheres): (Vec<_>, Vec<_>) = rows.iter().map(|row| (row.ray.line(), row.sphere)).unzip();
    let roots = |device: &Device| {
        let pairs = device.pairwise(&spheres, &Default::default()).unwrap();
        pairs.interval(&rays, &Query::at(Precision::Fast)).unwrap().records
    };
    let expected = roots(&devices()[0]);
    let mut fused = Vec::new();
    for seed in 0..4 {
        let hostile = Hostile::new(seed);
        let device = opened(hostile);
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
    for seed in 0..scaled(2).clamp(2, 32) {
        let done = Command::new(std::env::current_exe().unwrap())
            .args(TESTS)
            .env(SEED, seed.to_string())
            .env("UMBRACAST_INTENSITY", "0.1")
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&done.stdout);
        let passed: usize = printed
            .lines()
            .find_map(|line| line.strip_prefix("test result: ok. ")?.split_once(' ')?.0.parse().ok())
            .unwrap_or_else(|| panic!("seed {seed} ({SEED}={seed}):\n{printed}"));
        // A filter that matches no test would succeed, too.
        assert!(done.status.success() && passed > 3 * TESTS.len(), "seed {seed}:\n{printed}");
    }
}
