//! The visible fraction, for several occluders compared with quasi-Monte Carlo sampling.

use std::f64::consts::{FRAC_PI_2, TAU};

use umbracast::Device;
use umbracast::glam::DVec3;
use umbracast::shadow::{Ball, Lighting, ShadowRow, Spheroid, covered_fraction, visible_fraction};

use umbracast_testing::{Numbers, devices, scaled};

/// An observer, a light and occluders.
#[derive(Debug)]
struct View {
    observer: DVec3,
    light: Ball,
    occluders: Vec<Ball>,
}

/// The visible fraction of each light.
fn fractions(device: &Device, views: &[View]) -> Vec<f64> {
    let row = |i: usize, row: &mut ShadowRow| {
        let View { observer, light, occluders } = &views[i];
        *row = ShadowRow::new(*observer, *light, occluders.iter().map(|&ball| ball.into()).collect::<Vec<Spheroid>>());
    };
    device.shadows_by_row(views.len(), &row).unwrap().iter().map(|one| one.shadow.fraction).collect()
}

/// A light of 0.5 to 40 degrees, and overlapping spheres in front of it.
fn crowd(case: usize, count: usize) -> View {
    let mut numbers = Numbers(1 + case as u64);
    let mut random = || numbers.unit_f64();
    let angle = [0.0047, 0.05, 0.35][case % 3];
    let light = Ball::new([0.0, 0.0, 100.0], 100.0 * f64::sin(angle));
    let occluders = (0..count)
        .map(|i| {
            let distance = 10.0 + 60.0 * i as f64 / count as f64;
            let size = angle * (0.2 + 1.3 * random());
            let (away, turn) = (angle * 1.5 * random(), TAU * random());
            let direction = DVec3::new(away.sin() * turn.cos(), away.sin() * turn.sin(), away.cos());
            Ball { center: direction * distance, radius: distance * size.sin() }
        })
        .collect();
    View { observer: DVec3::ZERO, light, occluders }
}

/// Several occluders, compared with a low-discrepancy sampling of the disc.
#[test]
fn unions_of_occluders_agree_with_sampling() {
    const POINTS: u32 = 200_000;
    let (mut worst, mut mean, mut partial) = (0.0_f64, 0.0, 0);
    let cases = 300;
    for case in 0..cases {
        let query = crowd(case, 2 + case % 4);
        let angle = (query.light.radius / 100.0).asin();
        let mut open = 0;
        for i in 0..POINTS {
            // Uniform in solid angle: 1 − cos is uniform. An additive recurrence with the plastic number.
            let u = (0.5 + f64::from(i) * 0.754_877_666_246_692_7).fract();
            let v = (0.5 + f64::from(i) * 0.569_840_290_998_053_3).fract();
            let z = 1.0 - u * 2.0 * f64::sin(0.5 * angle).powi(2);
            let r = (1.0 - z * z).sqrt();
            let point = DVec3::new(r * f64::cos(TAU * v), r * f64::sin(TAU * v), z);
            open += u32::from(query.occluders.iter().all(|ball| {
                let along = ball.center.dot(point);
                along <= 0.0 || (ball.center - along * point).length() > ball.radius
            }));
        }
        let truth = f64::from(open) / f64::from(POINTS);
        let got = visible_fraction(query.observer, query.light, &query.occluders).unwrap();
        worst = worst.max((got - truth).abs());
        mean += (got - truth).abs() / cases as f64;
        partial += u32::from(truth > 0.0 && truth < 1.0);
    }
    println!("{partial} of {cases} partial: worst {worst:.1e}, mean {mean:.1e}");
    assert!(partial > 100 && worst < 1e-3, "{worst}");
}

/// GPUs compute unions in f32, to 10⁻⁴ too. Discs with more than sixteen occluders are computed on the CPU.
#[test]
fn unions_of_occluders_agree_on_every_device() {
    let count = scaled(30_000);
    // In parts, so that memory stays constant.
    for first in (0..count).step_by(30_000) {
        let cases = first..count.min(first + 30_000);
        let queries: Vec<View> = cases.map(|case| crowd(case, 2 + case % 25)).collect();
        let expected: Vec<f64> =
            queries.iter().map(|s| visible_fraction(s.observer, s.light, &s.occluders).unwrap()).collect();
        for device in devices() {
            let found = fractions(device, &queries);
            let (case, worst) = (first..)
                .zip(found.iter().zip(&expected))
                .map(|(case, (a, b))| (case, (a - b).abs()))
                .max_by(|a, b| a.1.total_cmp(&b.1))
                .unwrap();
            println!("{}: worst {worst:.1e}, case {case}", device.name());
            assert!(worst < 1e-4, "{}: case {case} is off by {worst}", device.name());
        }
    }
}

#[test]
fn only_occluders_between_observer_and_light_count() {
    let sun = Ball::new([0.0, 0.0, 100.0], 1.0);
    let ball = |x: f64, z: f64, radius: f64| Ball::new([x, 0.0, z], radius);
    let half = visible_fraction(DVec3::ZERO, sun, &[ball(3.0, 10.0, 3.0)]).unwrap();
    assert!((half - 0.5).abs() < 0.03, "an edge through the centre of the disc: {half}");
    let cases = [
        ("no occluder", vec![], 1.0),
        ("in front of it", vec![ball(0.0, 50.0, 0.6)], 0.0),
        ("of exactly equal size", vec![ball(0.0, 50.0, 0.5)], 0.0),
        ("behind it", vec![ball(0.0, 150.0, 20.0)], 1.0),
        ("behind the observer", vec![ball(0.0, -50.0, 20.0)], 1.0),
        ("around the observer", vec![ball(0.0, -5.0, 20.0)], 0.0),
        ("next to it", vec![ball(10.0, 50.0, 1.0)], 1.0),
        ("a point", vec![ball(0.0, 50.0, 0.0)], 1.0),
        ("half the angular radius", vec![ball(0.0, 50.0, 0.25)], 0.75),
        ("the same ball twice", vec![ball(0.0, 50.0, 0.25), ball(0.0, 50.0, 0.25)], 0.75),
        ("one behind another", vec![ball(0.0, 50.0, 0.25), ball(0.0, 10.0, 0.04)], 0.75),
        ("one around another", vec![ball(0.0, 50.0, 0.25), ball(0.0, 51.0, 0.9)], 0.0),
    ];
    let queries: Vec<View> = cases
        .iter()
        .map(|(_, occluders, _)| View { observer: DVec3::ZERO, light: sun, occluders: occluders.clone() })
        .collect();
    for device in devices() {
        // `shadows`, because one observer is inside a body, which rows refuse.
        let found = queries.iter().map(|View { observer, light, occluders }| {
            let lighting = Lighting::new(*light, occluders.clone()).unwrap();
            device.shadows(&lighting, &[*observer]).unwrap()[0].fraction
        });
        for ((name, _, expected), got) in cases.iter().zip(found) {
            // By solid angle, a disc of half the angular radius is not exactly a quarter: hence the tolerance.
            assert!((got - expected).abs() < 1e-4, "{}: {name}: {got}", device.name());
        }
    }
    // A point light is visible or not. An observer inside a light sees it.
    let point = Ball::new([0.0, 0.0, 100.0], 0.0);
    for (x, expected) in [(0.0, 0.0), (0.999, 0.0), (1.001, 1.0)] {
        assert_eq!(visible_fraction(DVec3::ZERO, point, &[ball(x, 50.0, 1.0)]).unwrap(), expected);
    }
    assert_eq!(visible_fraction([0.0, 0.0, 99.5].into(), sun, &[ball(0.0, 50.0, 1.0)]).unwrap(), 1.0);
    assert_eq!(visible_fraction(sun.center, sun, &[]).unwrap(), 1.0);
    assert_eq!(visible_fraction(sun.center, sun, &[ball(0.0, 100.0, 0.5)]).unwrap(), 0.0);
}

/// Two nearly equal occluders hide nearly the same as one of them, down to differences of a rounding.
#[test]
fn nearly_equal_occluders_hide_as_much_as_one() {
    let light = Ball::new([0.0, 0.0, 100.0], 1.0);
    let query = |occluders: Vec<Ball>| View { observer: DVec3::ZERO, light, occluders };
    let mut queries = Vec::new();
    let mut changes = Vec::new();
    for x in [0.0, 0.05, 0.3, 0.5, 0.6] {
        for radius in [0.1, 0.25, 0.4, 3.0] {
            let one = Ball::new([x * radius / 0.25, 0.1 * x, 50.0], radius);
            queries.push(query(vec![one]));
            changes.push(None);
            for exponent in 2..17 {
                let change = 0.1_f64.powi(exponent);
                for [dx, dy, wider] in
                    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.7, -0.4, 0.5], [-0.2, 0.3, -0.1], [0.0, 0.0, 1.0]]
                {
                    let center = one.center + change * DVec3::new(dx, dy, 0.0);
                    queries.push(query(vec![one, Ball { center, radius: radius + change * wider }]));
                    changes.push(Some(change));
                }
            }
        }
    }
    for device in devices() {
        let found = fractions(device, &queries);
        let mut alone = 0.0;
        for ((change, got), query) in changes.iter().zip(found).zip(&queries) {
            let Some(change) = change else {
                alone = got;
                continue;
            };
            // Moving the whole edge of the disc by this amount changes the fraction by twice the relative change.
            let may = 8.0 * change + if device.is_cpu() { 1e-9 } else { 1e-4 };
            assert!((got - alone).abs() <= may, "{}: {got}, alone {alone}: {query:?}", device.name());
        }
    }
}

#[test]
fn invalid_input_is_refused_by_name() {
    let good = Ball::new([0.0, 0.0, 1.0], 0.1);
    let bad = |observer: DVec3, light, occluders: &[Ball]| {
        visible_fraction(observer, light, occluders).unwrap_err().to_string()
    };
    let nan = DVec3::new(0.0, f64::NAN, 0.0);
    assert!(bad(nan, good, &[]).contains("observer 0: y is NaN"));
    assert!(bad(DVec3::ZERO, Ball { radius: -1.0, ..good }, &[]).contains("light 0: radius is -1"));
    let endless = Ball { center: DVec3::INFINITY, ..good };
    assert!(bad(DVec3::ZERO, good, &[good, endless]).contains("occluder 1: x is inf"));
    for angles in
        [[2.0, 0.2, 1.0], [0.1, 1.6, 1.0], [0.1, 0.1, -0.1], [0.1, 0.1, 3.2], [1e-163, 5e-164, 0.0], [f64::NAN; 3]]
    {
        let [disc, cover, separation] = angles;
        assert!(covered_fraction(disc, cover, separation).is_nan(), "{angles:?}");
    }
    assert_eq!(covered_fraction(FRAC_PI_2, FRAC_PI_2, 0.0), 1.0);
    assert!((covered_fraction(1e-150, 5e-151, 0.0) - 0.25).abs() < 1e-15);
}

#[test]
fn the_last_of_very_many_occluders_counts() {
    // lavapipe silently stops a thread after 65,535 loop iterations.
    let (observer, light) = (DVec3::ZERO, Ball::new([0.0, 0.0, 100.0], 1.0));
    let query = |count: usize| {
        let aside = (0..count).map(|i| Ball::new([100.0 + i as f64, 50.0, 50.0], 0.1));
        View { observer, light, occluders: aside.chain([Ball::new([0.0, 0.0, 50.0], 5.0)]).collect() }
    };
    let queries = [query(10), query(4095), query(4096), query(30_000), query(0)];
    for device in devices() {
        assert_eq!(fractions(device, &queries), [0.0; 5], "{}", device.name());
    }
}
