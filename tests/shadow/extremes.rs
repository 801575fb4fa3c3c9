//! Discs that are equal to within a rounding, and observers so far away that squares of angles are outside f32's range.

use umbracast::glam::DVec3;
use umbracast::shadow::{Ball, Lighting, Shadow, ShadowKind, visible_fraction};

use umbracast_testing::{Numbers, devices};

/// Three axes and 40 random unit vectors.
fn directions() -> Vec<DVec3> {
    let n = &mut Numbers(17);
    let any = (0..40).map(|_| DVec3::from(n.vector().map(f64::from)).normalize());
    [DVec3::Z, DVec3::NEG_X, DVec3::Y].into_iter().chain(any).collect()
}

/// Pairs of a light and a ball in front of it whose discs, seen from the origin, are equal to within a few roundings.
fn equal_discs() -> Vec<(Ball, Ball)> {
    let n = &mut Numbers(3);
    let mut rows = vec![(
        Ball::new([0.0, 0.0, 6.827_541_486_738_309], 1.458_999_520_654_986_2),
        Ball::new([0.0, 0.0, 0.132_300_670_175_004_3], 0.028_271_760_009_455_24),
    )];
    for direction in directions() {
        for step in -2..=2 {
            let (far, sine) = (f64::from(n.unit()) * 10.0 + 1.0, f64::from(n.unit()) * 0.5 + 0.01);
            let share = f64::from(n.unit()) * 0.5 + 0.01;
            let equal = (1.0 + f64::from(step) * f64::EPSILON) * sine;
            let ball = |distance: f64, sine: f64| Ball::new(direction * distance, distance * sine);
            rows.push((ball(far, sine), ball(far * share, equal)));
            // With exactly the same direction: all components are scaled by a power of two.
            let light = ball(far, sine);
            rows.push((light, Ball { center: light.center * 0.25, radius: light.radius * 0.25 }));
        }
    }
    rows
}

/// Whether a shadow is a valid result for a disc covered by an equal concentric one: total, or annular with a thin ring.
fn is_total_or_thin_ring(shadow: Shadow) -> bool {
    match shadow.kind {
        ShadowKind::Umbra => shadow.fraction == 0.0,
        ShadowKind::Antumbra => shadow.fraction > 0.0 && shadow.fraction < 1e-4,
        ShadowKind::Lit | ShadowKind::Penumbra => false,
    }
}

#[test]
fn equal_concentric_discs_are_total_or_annular() {
    for device in devices() {
        let mut wrong = Vec::new();
        for (light, ball) in equal_discs() {
            // The ball alone, and together with another one that covers a part of the same area.
            let smaller = Ball { radius: 0.5 * ball.radius, ..ball };
            let beside =
                Ball::new(ball.center + 0.5 * ball.radius * ball.center.any_orthonormal_vector(), 1e-3 * ball.radius);
            for occluders in [vec![ball], vec![ball, smaller], vec![ball, beside]] {
                let lighting = Lighting::new(light, occluders).unwrap();
                let found = device.shadows(&lighting, &[DVec3::ZERO; 3]).unwrap();
                if !is_total_or_thin_ring(found[0]) || found[1] != found[0] {
                    wrong.push(format!("{light:?} {:?}: {:?}", lighting.occluders(), found[0]));
                }
            }
        }
        assert!(wrong.is_empty(), "{}: {} wrong: {:#?}", device.name(), wrong.len(), &wrong[..wrong.len().min(5)]);
    }
}

#[test]
fn very_distant_observers_have_the_right_fraction() {
    let light = Ball::new([0.0, 0.0, 100.0], 10.0);
    let lighting = Lighting::new(light, [Ball::new([0.0, 0.0, 50.0], 1.0), Ball::new([5.0, 0.0, 30.0], 2.0)]).unwrap();
    let observers: Vec<DVec3> = (12..150).map(|exponent| DVec3::NEG_Z * 10.0_f64.powi(exponent)).collect();
    // Observers near a small system, with a wide light very far away.
    let wide = Lighting::new(Ball::new([0.0, 0.0, 1e24], 1e22), [Ball::new([0.0, 0.0, 1e3], 5.0)]).unwrap();
    // A single occluder takes another code path.
    let one = |radius: f64| Lighting::new(light, [Ball::new([0.0, 0.0, 50.0], radius)]).unwrap();
    let cases = [
        (lighting, 0.95, ShadowKind::Antumbra),
        (one(1.0), 0.99, ShadowKind::Antumbra),
        (one(11.0), 0.0, ShadowKind::Umbra),
    ];
    for device in devices() {
        for (lighting, fraction, kind) in &cases {
            for (observer, found) in observers.iter().zip(device.shadows(lighting, &observers).unwrap()) {
                let expected = visible_fraction(*observer, light, lighting.occluders()).unwrap();
                assert!((expected - fraction).abs() < 1e-9, "{expected}");
                assert!((found.fraction - expected).abs() < 1e-4, "{}: {observer}: {found:?}", device.name());
                assert_eq!(found.kind, *kind, "{}: {observer}", device.name());
            }
        }
        let near = [DVec3::ZERO, DVec3::new(2.0, 0.0, 0.0), DVec3::new(12.0, 0.0, 0.0)];
        for (observer, found) in near.iter().zip(device.shadows(&wide, &near).unwrap()) {
            let expected = visible_fraction(*observer, wide.light(), wide.occluders()).unwrap();
            assert!((found.fraction - expected).abs() < 1e-4, "{}: {observer}: {found:?}, {expected}", device.name());
        }
    }
}
