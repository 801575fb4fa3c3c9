//! Oblate and prolate occluders: visible fractions compared with 30-digit values and with ray casting.

use umbracast::Error;
use umbracast::glam::{DQuat, DVec3};
use umbracast::shadow::{Ball, Interiors, Lighting, LimbDarkening, ShadowKind, ShadowRow, Spheroid, visible_fraction};

use umbracast_testing::{Numbers, cpu, devices};

/// The error of a fraction that is allowed on a device.
fn allowed(device: &umbracast::Device) -> f64 {
    if device.is_cpu() { 1e-9 } else { 1e-3 }
}

/// A random rotation of the whole scene.
fn turned(numbers: &mut Numbers) -> DQuat {
    let mut next = || f64::from(numbers.signed());
    DQuat::from_xyzw(next(), next(), next(), next()).normalize()
}

#[test]
fn the_pole_may_have_any_direction_and_length() {
    let rows = super::spheroid_overlaps();
    for device in devices() {
        let mut numbers = Numbers(5);
        for (i, expected) in rows.iter().enumerate() {
            let (row, body) = (&expected.row, expected.row.bodies[0]);
            let (turn, length) = (turned(&mut numbers), 10_f64.powf(30.0 * f64::from(numbers.signed())));
            // Every second row as it is in the table.
            let (turn, length) = if i % 2 == 0 { (turn, length) } else { (DQuat::IDENTITY, 1.0) };
            let spheroid = Spheroid { pole: turn * body.pole * length, ..body };
            let light = Ball::new(turn * row.light.center, row.light.radius);
            let lighting = Lighting::new(light, []).unwrap().with_spheroids([spheroid]).unwrap();
            let found = device.shadows(&lighting, &[turn * row.observer]).unwrap()[0];
            let apart = (found.fraction - expected.fraction).abs();
            assert!(apart < allowed(device), "{} row {i}: {found:?} for {expected:?}", device.name());
            assert_eq!(found.kind.word(), expected.kind, "{} row {i}", device.name());
        }
    }
}

/// A spheroid with equal radii takes another code path than a sphere, and must give the same fractions.
#[test]
fn spheroids_with_equal_radii_agree_with_spheres() {
    let rows = super::sphere_overlaps();
    let mut numbers = Numbers(6);
    for device in devices() {
        let mut kinds = 0;
        for expected in &rows {
            let pole = turned(&mut numbers) * DVec3::Z;
            let spheroid = Spheroid { pole, ..expected.row.bodies[0] };
            let lighting = Lighting::new(expected.row.light, []).unwrap().with_spheroids([spheroid]).unwrap();
            let found = device.shadows(&lighting, &[expected.row.observer]).unwrap()[0];
            let apart = (found.fraction - expected.fraction).abs();
            assert!(apart < allowed(device), "{}: {found:?} for {expected:?}", device.name());
            if found.kind.word() != expected.kind {
                kinds += 1;
                // A GPU samples the rim in 32 directions, and between them it may not see an overlap of the width of a touch.
                let (few, share) = if device.is_cpu() { (1e-13, 1e-9) } else { (3e-7, 1e-2) };
                // Nor does f32 hold a fraction that differs from 1 by less than half a unit in the last place.
                let unseen = !device.is_cpu() && 1.0 - expected.fraction < 6e-8;
                let may_differ = unseen || expected.touches(few, share);
                assert!(may_differ, "{}: {found:?} for {expected:?}", device.name());
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

/// A spheroid with a point of its surface at `observer`, and the outward normal there. The observer is deeper than rounding shows, and less deep
/// than counts. `at` is the longitude and the reduced latitude.
fn ground(observer: DVec3, at: [f64; 2], polar_radius: f64) -> (Spheroid, DVec3) {
    let pole = DVec3::new(0.48, -0.6, 0.64).normalize();
    let (x, y) = pole.any_orthonormal_pair();
    let [(sine, cosine), (high, across)] = at.map(f64::sin_cos);
    let out = across * (x * cosine + y * sine);
    let normal = (out * polar_radius + pole * high).normalize();
    let center = observer - (out + pole * (high * polar_radius)) + 5e-14 * polar_radius * normal;
    (Spheroid::new(center, 1.0, polar_radius, 3.0 * pole), normal)
}

/// With the light across the horizon, a spheroid covers what a sphere with the same horizon covers, also together with a further body and
/// with limb darkening.
#[test]
fn observers_on_the_surface_see_half_the_sky() {
    let mut numbers = Numbers(8);
    let limb = LimbDarkening::new(0.44, 0.23).unwrap();
    let mut worst = vec![0.0_f64; devices().len()];
    let mut partial = 0;
    for case in 0..120 {
        let mut next = || f64::from(numbers.signed());
        let observer = 0.3 * DVec3::new(next(), next(), next());
        let polar_radius = [0.99664719, 0.2, 5.0, 1.0][case % 4];
        let (body, normal) = ground(observer, [3.0 * next(), 1.5 * next()], polar_radius);
        let round = Ball::new(observer - (1.0 - 5e-14) * normal, 1.0);
        let width = [0.00465, 0.1, 0.6][case / 4 % 3];
        let (x, y) = normal.any_orthonormal_pair();
        let toward = |up: f64, side: f64| {
            let [(up, level), (side, ahead)] = [up, side].map(|share| (share * width).sin_cos());
            up * normal + level * (ahead * x + side * y)
        };
        let light = Ball::new(observer + 1e5 * toward(1.1 * next(), 0.0), 1e5 * f64::sin(width));
        let moon = Ball::new(observer + 50.0 * toward(0.7 * next(), 0.7 * next()), 20.0 * f64::sin(width));
        let as_spheroid = Spheroid::new(moon.center, moon.radius, moon.radius, DVec3::X);
        let of = |balls: &[Ball], spheroids: &[Spheroid]| {
            Lighting::new(light, balls).unwrap().with_spheroids(spheroids).unwrap().with_limb_darkening(limb)
        };
        let by = |device: &umbracast::Device, lighting: &Lighting| {
            let shadow = device.shadows(lighting, &[observer]).unwrap();
            (shadow[0], device.fluxes(lighting, &[observer], &shadow).unwrap()[0])
        };
        for (same, others) in [
            (of(&[round], &[]), vec![of(&[], &[body])]),
            (of(&[round, moon], &[]), vec![of(&[moon], &[body]), of(&[round], &[as_spheroid])]),
        ] {
            let (expected, flux) = by(&cpu(), &same);
            partial += usize::from(expected.kind == ShadowKind::Penumbra);
            for other in others {
                for (device, worst) in devices().iter().zip(&mut worst) {
                    let (found, found_flux) = by(device, &other);
                    let (apart, flux_apart) = ((found.fraction - expected.fraction).abs(), (found_flux - flux).abs());
                    *worst = worst.max(apart).max(flux_apart);
                    let name = device.name();
                    // Halving finds the rings through intersections of a spheroid's outline with another only roughly.
                    let is_near = apart < allowed(device) && flux_apart < allowed(device).max(1e-8);
                    assert!(
                        is_near && found.kind == expected.kind,
                        "{name} {case}: {found:?} {found_flux} for {expected:?} {flux}: {other:?}"
                    );
                }
            }
        }
    }
    println!("{partial} partial, largest errors: {worst:?}");
    assert!(partial > 180, "{partial}");
}

/// Close to the surface the horizon is below the horizontal by √(2 h): the fraction changes without a step, also where f64 cannot tell the
/// cone from half the sky.
#[test]
fn the_horizon_sinks_from_the_surface_on() {
    let body = Spheroid::new([0.0, 0.0, -1.0], 1.0, 1.0, DVec3::Y);
    let mut worst = 0.0_f64;
    for exponent in -44..=-20 {
        for height in [1.0, 2.0, 4.0, 7.0].map(|digit| digit * 10_f64.powf(0.5 * f64::from(exponent))) {
            for (width, up) in [(1e-3, 0.3), (0.00465, 0.0), (0.00465, -0.99999), (0.03, -0.4), (0.1, 0.8)] {
                let observer = DVec3::new(0.0, 0.0, height);
                let (high, level) = f64::sin_cos(up * width);
                let light = Ball::new([1e3 * level, 0.0, 1e3 * high], 1e3 * f64::sin(width));
                let expected = visible_fraction(observer, light, &[Ball::new(body.center, body.radius)]).unwrap();
                let lighting = Lighting::new(light, []).unwrap().with_spheroids([body]).unwrap();
                let found = cpu().shadows(&lighting, &[observer]).unwrap()[0].fraction;
                worst = worst.max((found - expected).abs());
                assert!((found - expected).abs() < 1e-9, "{height} {width} {up}: {found} for {expected}");
            }
        }
    }
    println!("largest error: {worst:.1e}");
}

/// Shadows, the warning about observers inside bodies and the check of rows have the same limit of depth for bodies of any shape.
#[test]
fn the_depth_that_counts_as_on_the_surface_is_the_same_everywhere() {
    let mut numbers = Numbers(9);
    for polar_radius in [0.01, 0.1, 0.5, 0.9, 1.1, 10.0, 100.0] {
        for case in 0..12 {
            let toward = match case {
                0 => DVec3::Z,
                1 => DVec3::X,
                _ => DVec3::from_array(numbers.vector().map(f64::from)).normalize(),
            };
            let body = Spheroid::new([0.0; 3], 1.0, polar_radius, 2.0 * DVec3::Z);
            let surface = 1.0 / toward.truncate().length().hypot(toward.z / polar_radius);
            let light = Ball::new(toward * 1e5, 10.0);
            let lighting = Lighting::new(light, []).unwrap().with_spheroids([body]).unwrap();
            for (share, on) in [(0.1, true), (0.99, true), (1.01, false), (3.0, false)] {
                let observer = toward * (surface * (1.0 - share * 2_f64.powi(-22)));
                let row = ShadowRow::new(observer, light, [body]);
                let expected = if on { ShadowKind::Lit } else { ShadowKind::Umbra };
                for device in devices() {
                    let found = device.shadows(&lighting, &[observer]).unwrap()[0];
                    let name = device.name();
                    assert_eq!(found.kind, expected, "{name} {polar_radius} {toward} {share}: {found:?}");
                    let found = device.shadows_by_row(1, &|_, into| into.clone_from(&row));
                    assert_eq!(found.is_ok(), on, "{name} {polar_radius} {toward} {share}: {found:?}");
                    assert!(found.is_err() || found.unwrap()[0].shadow.kind == ShadowKind::Lit);
                }
                let inside = Interiors::new(&lighting).unwrap().around(observer);
                assert_eq!(inside.is_none(), on, "{polar_radius} {toward} {share}: {inside:?}");
            }
        }
    }
}

/// The bounding sphere decides what is in front of the light, so the light must be outside it.
#[test]
fn a_light_in_the_bounding_sphere_of_a_spheroid_is_refused() {
    let light = Ball::new([0.0, 0.0, 100.0], 1.0);
    let flat = |z: f64, polar_radius| Spheroid::new([0.0, 0.0, z], 50.0, polar_radius, DVec3::Z);
    for (z, how) in [
        (102.0, "the light is inside this body: the centres are 2 apart, and the radii are 50 and 1"),
        (149.5, "the centre of the light is inside this body: the centres are 49.5 apart, and the radii are 50 and 1"),
        (49.5, "the body touches or overlaps the light: the centres are 50.5 apart, and the radii are 50 and 1"),
    ] {
        let words = format!("0: center is [0, 0, {z}]: {how} (of its bounding sphere)");
        let error = Lighting::new(light, []).unwrap().with_spheroids([flat(z, 0.5)]).unwrap_err().to_string();
        assert_eq!(error, format!("spheroid {words}"));
        let row = ShadowRow::new([0.0, 0.0, -60.0], light, [flat(z, 0.5)]);
        for device in devices() {
            let error = device.shadows_by_row(1, &|_, into| into.clone_from(&row)).unwrap_err().to_string();
            assert_eq!(error, format!("row {words} (body 0 of the row)"));
        }
        // A sphere may overlap the light.
        Lighting::new(light, []).unwrap().with_spheroids([flat(z, 50.0)]).unwrap();
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
