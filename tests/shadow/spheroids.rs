//! Oblate and prolate occluders: visible fractions compared with 30-digit values and with ray casting.

use umbracast::Error;
use umbracast::glam::{DQuat, DVec3};
use umbracast::shadow::{Ball, Lighting, ShadowKind, Spheroid};

use umbracast_testing::{Numbers, cpu, devices};

/// The error of a fraction that is allowed on a device.
fn allowed(device: &umbracast::Device) -> f64 {
    if device.is_cpu() { 1e-9 } else { 1e-3 }
}

#[test]
fn the_table_of_spheroid_overlaps_is_reproduced() {
    let text = include_str!("../data/ellipsoid_overlap.csv");
    for device in devices() {
        let (mut worst, mut rows, mut misses) = (0.0_f64, 0, Vec::new());
        for (i, line) in text.lines().skip(1).enumerate() {
            let cells: Vec<&str> = line.split(',').collect();
            let v = |i: usize| cells[i].parse::<f64>().unwrap();
            let spheroid = Spheroid::new([0.0; 3], v(9), v(10), DVec3::Z);
            let light = Ball::new([v(5), v(6), v(7)], v(8));
            let lighting = Lighting::new(light, []).unwrap().with_spheroids([spheroid]).unwrap();
            let found = device.shadows(&lighting, &[DVec3::new(v(2), v(3), v(4))]).unwrap()[0];
            let apart = (found.fraction - v(11)).abs();
            worst = worst.max(apart);
            rows += 1;
            if apart.is_nan() || apart > allowed(device) || found.kind.word() != super::kind_word(cells[12]) {
                misses.push(format!("row {i} {}: {found:?} for {} {}", cells[0], v(11), cells[12]));
            }
        }
        println!("{}: worst {worst:.1e}", device.name());
        assert_eq!(rows, 500);
        assert!(misses.is_empty(), "{}: {} misses: {misses:#?}", device.name(), misses.len());
    }
}

/// A random rotation of the whole scene.
fn turned(numbers: &mut Numbers) -> DQuat {
    let mut next = || f64::from(numbers.signed());
    DQuat::from_xyzw(next(), next(), next(), next()).normalize()
}

#[test]
fn the_pole_may_have_any_direction_and_length() {
    let text = include_str!("../data/ellipsoid_overlap.csv");
    let mut numbers = Numbers(5);
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let v = |i: usize| cells[i].parse::<f64>().unwrap();
        let turn = turned(&mut numbers);
        let pole = turn * DVec3::Z * 10_f64.powf(30.0 * f64::from(numbers.signed()));
        let spheroid = Spheroid::new([0.0; 3], v(9), v(10), pole);
        let light = Ball::new(turn * DVec3::new(v(5), v(6), v(7)), v(8));
        let lighting = Lighting::new(light, []).unwrap().with_spheroids([spheroid]).unwrap();
        let found = cpu().shadows(&lighting, &[turn * DVec3::new(v(2), v(3), v(4))]).unwrap()[0];
        assert!((found.fraction - v(11)).abs() < 1e-9, "{found:?} for {line}");
        assert_eq!(found.kind.word(), super::kind_word(cells[12]), "{line}");
    }
}

/// A spheroid with equal radii takes another code path than a sphere, and must give the same fractions.
#[test]
fn spheroids_with_equal_radii_agree_with_spheres() {
    let text = include_str!("../data/sphere_overlap.csv");
    let mut numbers = Numbers(6);
    for device in devices() {
        let mut kinds = 0;
        for line in text.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let v = |i: usize| cells[i].parse::<f64>().unwrap();
            let pole = turned(&mut numbers) * DVec3::Z;
            let spheroid = Spheroid::new([v(5), v(6), v(7)], v(8), v(8), pole);
            let light = Ball::new([v(9), v(10), v(11)], v(12));
            let lighting = Lighting::new(light, []).unwrap().with_spheroids([spheroid]).unwrap();
            let found = device.shadows(&lighting, &[DVec3::new(v(2), v(3), v(4))]).unwrap()[0];
            assert!((found.fraction - v(13)).abs() < allowed(device), "{}: {found:?} for {line}", device.name());
            let kind = super::kind_word(cells[14]);
            if found.kind.word() != kind {
                kinds += 1;
                // Where two edges touch, the last digit decides. A GPU samples the rim in 32 directions, and between them it may not
                // see an overlap of that width.
                let (a, b, c) = (v(15), v(16), v(17));
                let near = (c - (a + b)).abs().min((c - (a - b).abs()).abs());
                let (few, share) = if device.is_cpu() { (1e-13, 1e-9) } else { (3e-7, 1e-2) };
                // Nor does f32 hold a fraction that differs from 1 by less than half a unit in the last place.
                let unseen = !device.is_cpu() && 1.0 - v(13) < 6e-8;
                assert!(
                    unseen || near < few * (a + b + c) + share * a.min(b),
                    "{}: {found:?} for {line}",
                    device.name()
                );
            }
        }
        println!("{}: {kinds} kinds differ", device.name());
    }
}

/// Whether a ray hits a spheroid: stretched along the pole, the spheroid is a ball.
fn hits_spheroid(observer: DVec3, direction: DVec3, body: &Spheroid) -> bool {
    let (pole, k) = (body.pole.normalize(), body.radius / body.polar_radius);
    let stretched = |v: DVec3| v + (k - 1.0) * v.dot(pole) * pole;
    let (o, d) = (stretched(body.center - observer), stretched(direction).normalize());
    o.dot(d) > 0.0 && o.cross(d).length() <= body.radius
}

/// The visible fraction by ray casting: along many radii of the light's disc, finds by bisection the two angles between which rays hit
/// a body.
fn by_rays(observer: DVec3, light: Ball, bodies: &[Spheroid]) -> f64 {
    const TURNS: usize = 8_000;
    const STEPS: usize = 100;
    let toward = (light.center - observer).normalize();
    let (x, y) = toward.any_orthonormal_pair();
    let edge = (light.radius / (light.center - observer).length()).asin();
    let versine = |angle: f64| 2.0 * (0.5 * angle).sin().powi(2);
    let mut open = 0.0;
    for turn in 0..TURNS {
        let (sine, cosine) = (std::f64::consts::TAU * (turn as f64 + 0.5) / TURNS as f64).sin_cos();
        let mut spans = Vec::new();
        for body in bodies {
            let hit_at = |angle: f64| {
                hits_spheroid(observer, toward * angle.cos() + (x * cosine + y * sine) * angle.sin(), body)
            };
            let at = |step: usize| edge * step as f64 / STEPS as f64;
            let Some(first) = (0..=STEPS).find(|&step| hit_at(at(step))) else { continue };
            let last = (first..=STEPS).rfind(|&step| hit_at(at(step))).unwrap();
            let end = |mut inside: f64, mut outside: f64| {
                for _ in 0..30 {
                    let middle = 0.5 * (inside + outside);
                    *(if hit_at(middle) { &mut inside } else { &mut outside }) = middle;
                }
                inside
            };
            let from = if first > 0 { end(at(first), at(first - 1)) } else { 0.0 };
            let to = if last < STEPS { end(at(last), at(last + 1)) } else { edge };
            spans.push((from, to));
        }
        spans.sort_by(|a: &(f64, f64), b| a.0.total_cmp(&b.0));
        let mut reached = 0.0;
        for (from, to) in spans.into_iter().chain([(edge, edge)]) {
            open += (versine(from) - versine(reached)).max(0.0);
            reached = to.max(reached);
        }
    }
    open / (TURNS as f64 * versine(edge))
}

/// Areas where the discs of spheroids and spheres overlap count once.
#[test]
fn unions_of_spheroids_agree_with_ray_casting() {
    let mut numbers = Numbers(11);
    let light = Ball::new([3.0, -2.0, 40.0], 6.0);
    let (mut worst, mut overlaps) = (0.0_f64, 0);
    for case in 0..36 {
        let mut body = || {
            let mut next = || f64::from(numbers.signed());
            let center = DVec3::new(1.0 + 2.5 * next(), -0.7 + 2.5 * next(), 15.0 + 4.0 * next());
            let (radius, ratio) = (1.1 + next(), 10_f64.powf(0.7 * next()));
            Spheroid::new(center, radius, radius * ratio, DVec3::new(next(), next(), next()))
        };
        let flat: Vec<Spheroid> = (0..1 + case % 3).map(|_| body()).collect();
        let round: Vec<Ball> = (0..case % 4).map(|_| body()).map(|one| Ball::new(one.center, one.radius)).collect();
        let as_spheroid = |ball: &Ball| Spheroid::new(ball.center, ball.radius, ball.radius, DVec3::Z);
        let bodies: Vec<Spheroid> = flat.iter().copied().chain(round.iter().map(as_spheroid)).collect();
        let lighting = Lighting::new(light, round).unwrap().with_spheroids(flat).unwrap();
        let expected = by_rays(DVec3::ZERO, light, &bodies);
        let alone = bodies.iter().map(|&one| 1.0 - by_rays(DVec3::ZERO, light, &[one])).sum::<f64>();
        overlaps += usize::from(1.0 - alone < expected - 1e-3);
        let found = cpu().shadows(&lighting, &[DVec3::ZERO]).unwrap()[0];
        worst = worst.max((found.fraction - expected).abs());
        assert!((found.fraction - expected).abs() < 5e-6, "{case}: {found:?} for {expected}: {lighting:?}");
        for device in devices() {
            let found = device.shadows(&lighting, &[DVec3::ZERO]).unwrap()[0];
            assert!((found.fraction - expected).abs() < 1e-3, "{} {case}: {found:?} for {expected}", device.name());
        }
    }
    println!("worst {worst:.1e}, {overlaps} with overlaps");
    assert!(overlaps > 15, "{overlaps}");
}

/// Two outlines that coincide, exactly or nearly, hide as much as one of them.
#[test]
fn coinciding_outlines_count_once() {
    let light = Ball::new([0.3, 0.1, 100.0], 2.0);
    let one = Spheroid::new([0.2, 0.3, 40.0], 0.7, 0.4, [0.3, 0.5, 0.2]);
    let ball = Ball::new([0.4, 0.0, 41.0], 0.5);
    let of = |balls: &[Ball], spheroids: &[Spheroid]| {
        let lighting = Lighting::new(light, balls).unwrap().with_spheroids(spheroids).unwrap();
        cpu().shadows(&lighting, &[DVec3::ZERO]).unwrap()[0]
    };
    let shadow = of(&[], &[one]);
    assert!(shadow.kind == ShadowKind::Penumbra || shadow.kind == ShadowKind::Antumbra);
    for factor in [1.0, 1.0 + 1e-15, 1.0 - 1e-13, 1.0 + 1e-11] {
        let again = Spheroid { radius: one.radius * factor, polar_radius: one.polar_radius * factor, ..one };
        let both = of(&[], &[one, again]);
        assert!((both.fraction - shadow.fraction).abs() < 1e-9, "{factor}: {both:?} {shadow:?}");
        assert_eq!(both.kind, shadow.kind);
        let round = Spheroid::new(ball.center, ball.radius * factor, ball.radius * factor, DVec3::Y);
        let both = of(&[ball], &[round]);
        assert!((both.fraction - of(&[ball], &[]).fraction).abs() < 1e-9, "{factor}: {both:?}");
    }
}

#[test]
fn observers_with_obvious_results() {
    let light = Ball::new([0.0, 0.0, 1000.0], 5.0);
    // A flat planet: equatorial radius 10, poles at ±1 along z.
    let flat = Spheroid::new([0.0; 3], 10.0, 1.0, [0.0, 0.0, 2.0]);
    let lighting = Lighting::new(light, []).unwrap().with_spheroids([flat]).unwrap();
    let observers = [
        // Inside; above the south pole and above the north pole, both within the bounding ball; on the surface at the north and at the
        // south pole; outside, next to the equator.
        [0.0, 0.0, 0.5],
        [0.0, 0.0, -1.5],
        [0.0, 0.0, 1.5],
        [0.0, 0.0, 1.0],
        [0.0, 0.0, -1.0],
        [10.5, 0.0, 0.0],
        // Inside the light.
        [0.0, 0.0, 1003.0],
    ];
    use ShadowKind::{Lit, Umbra};
    let kinds = [Umbra, Umbra, Lit, Lit, Umbra, Lit, Lit];
    for device in devices() {
        let found = device.shadows(&lighting, &observers.map(DVec3::from_array)).unwrap();
        assert_eq!(found.iter().map(|one| one.kind).collect::<Vec<_>>(), kinds, "{}", device.name());
        for one in found {
            assert_eq!(one.fraction, if one.kind == Umbra { 0.0 } else { 1.0 }, "{}", device.name());
        }
    }
    // Edge-on, a thin body in front of a large light leaves two halves visible; a point light is visible or not.
    let edge_on = Spheroid::new([0.0, 0.0, 500.0], 10.0, 0.1, [0.0, 1.0, 0.0]);
    let point = Ball::new(light.center, 0.0);
    for (light, observer, kind) in
        [(light, [0.0; 3], ShadowKind::Penumbra), (point, [0.0; 3], Umbra), (point, [0.0, 0.3, 0.0], Lit)]
    {
        let lighting = Lighting::new(light, []).unwrap().with_spheroids([edge_on]).unwrap();
        let found = cpu().shadows(&lighting, &[observer.into()]).unwrap()[0];
        assert_eq!(found.kind, kind, "{found:?}");
        // A bar of 0.2 by 20 at half the distance, in front of a disc of diameter 10: it covers about 0.4 × 10 of 25 π.
        if kind == ShadowKind::Penumbra {
            assert!((1.0 - found.fraction - 4.0 / (25.0 * std::f64::consts::PI)).abs() < 1e-3, "{found:?}");
        }
    }
}

#[test]
fn invalid_spheroids_are_refused() {
    let light = Ball::new([0.0, 0.0, 100.0], 1.0);
    let good = Spheroid::new([0.0; 3], 1.0, 0.9, DVec3::Z);
    let cases = [
        (Spheroid { polar_radius: 0.0, ..good }, "spheroid 1: polar_radius is 0"),
        (Spheroid { polar_radius: -0.9, ..good }, "spheroid 1: polar_radius is -0.9"),
        (Spheroid { polar_radius: f64::NAN, ..good }, "spheroid 1: polar_radius is NaN"),
        (Spheroid { polar_radius: f64::INFINITY, ..good }, "spheroid 1: polar_radius is inf"),
        (Spheroid { polar_radius: 0.009, ..good }, "spheroid 1: polar_radius is 0.009"),
        (Spheroid { radius: 0.0, ..good }, "spheroid 1: radius is 0"),
        (Spheroid { radius: -1.0, ..good }, "spheroid 1: radius is -1"),
        (Spheroid { center: DVec3::NAN, ..good }, "spheroid 1: x is NaN"),
        (Spheroid { pole: DVec3::ZERO, ..good }, "spheroid 1: pole is [0, 0, 0]"),
        (Spheroid { pole: DVec3::new(f64::NAN, 0.0, 1.0), ..good }, "spheroid 1: pole is [NaN, 0, 1]"),
    ];
    for (bad, message) in cases {
        let error = Lighting::new(light, []).unwrap().with_spheroids([good, bad]).unwrap_err();
        assert!(matches!(error, Error::BadRecord { .. }), "{error}");
        assert!(error.to_string().starts_with(message), "{error}");
    }
}
