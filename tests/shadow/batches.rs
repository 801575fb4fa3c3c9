//! Visible fractions of batches of observers: compared with single observers, on every device; invalid observers.

use super::fraction::{earth, lighting, moon, shadow, sun};
use ShadowKind::{Antumbra, Lit, Penumbra, Umbra};
use umbracast::glam::DVec3;
use umbracast::shadow::{Ball, Lighting, Shadow, ShadowKind, visible_fraction};
use umbracast::{Device, Error};
use umbracast_testing::{Numbers, cpu, devices, scaled};

fn between(numbers: &mut Numbers, low: f64, high: f64) -> f64 {
    low + (high - low) * f64::from(numbers.unit())
}

fn direction(numbers: &mut Numbers) -> DVec3 {
    let [x, y, z] = numbers.vector();
    DVec3::new(x.into(), y.into(), f64::from(z) + 1e-9).normalize()
}

/// A random light, balls of all scales, and observers near, on and inside the balls and the light, and near the edges of shadows.
fn scene(numbers: &mut Numbers, balls: usize, observers: usize) -> (Lighting, Vec<DVec3>) {
    let scale = 10_f64.powf(between(numbers, -6.0, 6.0));
    let center = direction(numbers) * scale * 10_f64.powf(between(numbers, 1.0, 5.0));
    let light = Ball { center, radius: center.length() * 10_f64.powf(between(numbers, -5.0, -0.1)) };
    let occluders: Vec<Ball> = (0..balls)
        .map(|_| {
            let center = direction(numbers) * scale * 10_f64.powf(between(numbers, -1.0, 1.5));
            Ball { center, radius: scale * 10_f64.powf(between(numbers, -2.0, 0.5)) }
        })
        .collect();
    let places = (0..observers).map(|i| {
        let ball = occluders.get(i % (balls + 1)).copied().unwrap_or(light);
        let away = direction(numbers);
        if i % 2 == 0 {
            let depth = [0.0, -1e-7, -1e-16, 1e-16, 1e-9, -2.4e-7, -3e-7, -1e-6, -0.5, 1e-3, 0.1, 1.0, 10.0][i % 13];
            return ball.center + away * ball.radius * (1.0 + depth);
        }
        // Behind the ball as seen from the light, near the edge of its shadow.
        let axis = (ball.center - light.center).normalize_or(DVec3::X);
        let aside = away.cross(axis).normalize_or(DVec3::Y);
        ball.center + ball.radius * (axis * between(numbers, 1.0, 30.0) + aside * between(numbers, 0.0, 1.5))
    });
    let places = places.collect();
    (Lighting::new(light, occluders).unwrap(), places)
}

/// Culling and SIMD lanes do not change the results: a batch agrees with single calls. The results are bit-identical in every lane and
/// at every instruction set.
#[test]
fn batches_agree_with_single_observers() {
    let device = cpu();
    let mut numbers = Numbers(5);
    let (mut kinds, mut worst) = ([0; 4], 0.0_f64);
    for case in 0..scaled(400) {
        let (lighting, observers) = scene(&mut numbers, case % 7, 200 + case % 400);
        let found = device.shadows(&lighting, &observers).unwrap();
        for (shadow, observer) in found.iter().zip(&observers) {
            let expected = visible_fraction(*observer, lighting.light(), lighting.occluders()).unwrap();
            let apart = (shadow.fraction - expected).abs();
            assert!(apart < 1e-10, "case {case}, {observer}: {shadow:?} {expected}");
            worst = worst.max(apart);
            assert!(shadow.kind != Umbra || shadow.fraction == 0.0, "case {case}, {observer}: {shadow:?}");
            assert!(shadow.kind != Lit || shadow.fraction == 1.0, "case {case}, {observer}: {shadow:?}");
            kinds[shadow.kind as usize] += 1;
        }
        for level in Device::levels() {
            let device = device.with_level(level);
            let again = device.shadows(&lighting, &observers).unwrap();
            // Each observer in a batch of its own, so that its lane is another one.
            let alone: Vec<_> = observers.iter().take(20).map(|one| shadow(&device, &lighting, *one)).collect();
            assert_eq!(again, found, "case {case}: {level}");
            assert_eq!(alone, found[..alone.len()], "case {case}: {level}");
        }
    }
    println!("none, partial, annular, total: {kinds:?}; worst {worst:.1e}");
    assert!(kinds.iter().all(|count| *count > 1000), "{kinds:?}");
}

/// Devices agree on the shadows of Earth and Moon, for more observers than fit in one dispatch.
#[test]
fn devices_agree_on_the_night_and_the_moons_shadow() {
    let lighting = lighting(sun(), [earth(), moon()]);
    let observers: Vec<DVec3> = (0..300_000)
        .map(|i| {
            // Evenly over spheres of 6,400 and of 30,000 km, and a tenth of all near the axis of the Moon's shadow.
            let z = 1.0 - 2.0 * (f64::from(i) + 0.5) / 300_000.0;
            let turn = f64::from(i) * 2.399_963_229_728_653;
            let r = (1.0 - z * z).sqrt();
            let up = DVec3::new(r * turn.cos(), r * turn.sin(), z);
            let axis = (moon().center - sun().center).normalize();
            if i % 10 == 0 {
                moon().center + axis * 350_000.0 + up * 4_000.0
            } else {
                up * if i % 2 == 0 { 6_400.0 } else { 30_000.0 }
            }
        })
        .collect();
    let expected = cpu().shadows(&lighting, &observers).unwrap();
    let count = |kind| expected.iter().filter(|shadow| shadow.kind == kind).count();
    println!("{:?}", ShadowKind::ALL.map(count));
    assert!(count(Umbra) > 50_000 && count(Penumbra) > 20_000 && count(Lit) > 100_000);
    for device in devices() {
        let mut found = vec![Shadow::default(); observers.len()];
        device.shadows_into(&lighting, &observers, &mut found).unwrap();
        let mut worst = 0.0_f64;
        for ((a, b), observer) in found.iter().zip(&expected).zip(&observers) {
            worst = worst.max((a.fraction - b.fraction).abs());
            if a.kind != b.kind {
                assert!((b.fraction - b.fraction.round()).abs() < 1e-4, "{} {observer}: {a:?} {b:?}", device.name());
            }
        }
        println!("{}: worst {worst:.1e}", device.name());
        assert!(worst < 1e-4, "{}", device.name());
    }
}

/// A swarm of 3,000 balls in front of a wide light: many overlap each observer's disc, and most do not.
#[test]
fn swarms_of_occluders_agree_with_single_observers() {
    let mut numbers = Numbers(11);
    let light = Ball::new([0.0, 0.0, 1_000.0], 30.0);
    let swarm: Vec<Ball> =
        (0..3_000).map(|_| Ball { center: direction(&mut numbers) * 40.0 + DVec3::Z * 100.0, radius: 0.4 }).collect();
    let observers: Vec<DVec3> =
        (0..scaled(1_500)).map(|_| direction(&mut numbers) * between(&mut numbers, 0.0, 40.0)).collect();
    let lighting = Lighting::new(light, swarm).unwrap();
    let one = |observer: &DVec3| visible_fraction(*observer, light, lighting.occluders()).unwrap();
    let expected: Vec<f64> = observers.iter().map(one).collect();
    let crowded = expected.iter().filter(|fraction| **fraction > 0.0 && **fraction < 0.95).count();
    assert!(crowded > 300, "{crowded}");
    for device in devices() {
        let found = device.shadows(&lighting, &observers).unwrap();
        let worst = found.iter().zip(&expected).map(|(a, b)| (a.fraction - b).abs()).fold(0.0, f64::max);
        println!("{}: {crowded} crowded, worst {worst:.1e}", device.name());
        assert!(worst < if device.is_cpu() { 1e-10 } else { 1e-4 }, "{}: {worst}", device.name());
    }
}

#[test]
fn observers_inside_on_and_around_balls_and_lights() {
    let (light, ball) = (Ball::new([0.0, 0.0, 100.0], 1.0), Ball::new([0.0, 0.0, 50.0], 5.0));
    let below = |depth: f64| DVec3::new(0.0, 0.0, 50.0 + 5.0 * (1.0 - depth));
    let cases: [(&str, DVec3, f64, ShadowKind); 11] = [
        ("behind the ball", DVec3::ZERO, 0.0, Umbra),
        ("in the light's centre", light.center, 1.0, Lit),
        ("inside the light", DVec3::new(0.0, 0.5, 100.0), 1.0, Lit),
        ("beyond the light", DVec3::new(0.0, 0.0, 300.0), 1.0, Lit),
        ("inside the ball", DVec3::new(0.0, 1.0, 51.0), 0.0, Umbra),
        ("in the ball's centre", ball.center, 0.0, Umbra),
        ("on the side that is lit", below(0.0), 1.0, Lit),
        ("a rounding below it", below(1.0 / 16_777_216.0), 1.0, Lit),
        ("a millionth below it", below(1e-6), 0.0, Umbra),
        ("on the dark side", DVec3::new(0.0, 0.0, 45.0), 0.0, Umbra),
        ("very far away", DVec3::new(1e150, 0.0, 0.0), 1.0, Lit),
    ];
    let observers = cases.map(|(_, observer, ..)| observer);
    let with_ball = lighting(light, [ball]);
    for device in devices() {
        for (found, (name, _, fraction, kind)) in device.shadows(&with_ball, &observers).unwrap().iter().zip(cases) {
            assert_eq!((found.fraction, found.kind), (fraction, kind), "{}: {name}", device.name());
        }
        // No observers, and no occluders.
        assert_eq!(device.shadows(&with_ball, &[]).unwrap(), []);
        assert_eq!(device.shadows(&lighting(light, []), &observers).unwrap(), [Shadow::LIT; 11]);
        // On the terminator the light's centre is on the horizon, and half of it is visible.
        let terminator = shadow(device, &with_ball, ball.center + 5.0 * DVec3::new(0.99_f64.sqrt(), 0.0, 0.1));
        assert_eq!(terminator.kind, Penumbra);
        assert!((terminator.fraction - 0.5).abs() < 1e-4, "{}: {terminator:?}", device.name());
        // Two small balls side by side in front of a large light; then one of them overlaps its rim.
        let wide = Ball::new([0.0, 0.0, 100.0], 50.0);
        let (left, right) = (Ball::new([-2.0, 0.0, 20.0], 1.0), Ball::new([2.0, 0.0, 20.0], 1.0));
        assert_eq!(shadow(device, &lighting(wide, [left, right]), DVec3::ZERO).kind, Antumbra);
        let at_rim = Ball::new([11.0, 0.0, 20.0], 1.0);
        assert_eq!(shadow(device, &lighting(wide, [left, at_rim]), DVec3::ZERO).kind, Penumbra);
        // A point light.
        let point = lighting(Ball { radius: 0.0, ..light }, [ball]);
        let found = device.shadows(&point, &[DVec3::ZERO, DVec3::new(30.0, 0.0, 0.0)]).unwrap();
        assert_eq!(found, [Shadow::DARK, Shadow::LIT]);
    }
}

#[test]
fn invalid_observers_and_balls_are_named() {
    let good = lighting(sun(), [moon()]);
    for device in devices() {
        let mut observers = vec![DVec3::ZERO; 300_000];
        observers[299_999].z = f64::NAN;
        observers[270_001].y = -1e300;
        let error = device.shadows(&good, &observers).unwrap_err();
        assert!(matches!(&error, Error::BadRecord { what: "observer", index: 270_001, field: "y", .. }), "{error}");
        let error = device.shadows_into(&good, &observers, &mut [Shadow::LIT; 3]).unwrap_err();
        assert!(matches!(error, Error::LengthsDiffer { left: 300_000, right: 3, .. }), "{error}");
    }
    let bad = |light, occluders: Vec<Ball>| Lighting::new(light, occluders).unwrap_err().to_string();
    assert!(bad(Ball { radius: -1.0, ..sun() }, vec![]).contains("light 0: radius is -1"));
    let endless = Ball::new([f64::INFINITY, 0.0, 0.0], 1.0);
    assert!(bad(sun(), vec![moon(), endless]).contains("occluder 1: x is inf"));
}

/// The async call returns the same as the blocking one.
#[test]
fn async_shadows_give_the_same_results() {
    let mut numbers = Numbers(9);
    let (lighting, observers) = scene(&mut numbers, 3, 300_000);
    let device = cpu();
    let found = pollster::block_on(device.shadows_async(&lighting, &observers)).unwrap();
    assert_eq!(found, device.shadows(&lighting, &observers).unwrap());
}
