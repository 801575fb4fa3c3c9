//! Visible fractions of rows that each have their own observer, light and bodies.

use umbracast::glam::DVec3;
use umbracast::shadow::{Ball, Lighting, LimbDarkening, ShadowFlux, ShadowKind, ShadowRow, Spheroid, visible_fraction};
use umbracast::{Device, Error};
use umbracast_testing::{Numbers, cpu, devices, root, scaled};

use super::{Overlap, table};

/// The results of rows in a list.
fn of(device: &Device, rows: &[ShadowRow], limb: Option<LimbDarkening>) -> Vec<ShadowFlux> {
    let fill = |i: usize, row: &mut ShadowRow| {
        row.clone_from(&rows[i]);
        row.limb_darkening = limb;
    };
    device.shadows_by_row(rows.len(), &fill).unwrap()
}

/// Spheres alone run kernels without spheroids. In the mixture, spheres and spheroids are in the same blocks, and rows of two bodies are
/// next to rows of one.
#[test]
fn the_tables_of_overlaps_are_reproduced_in_one_call() {
    let (spheres, mut spheroids) = (super::sphere_overlaps(), super::spheroid_overlaps().into_iter().enumerate());
    for Overlap { row, fraction, .. } in &spheres {
        let [body] = row.bodies[..] else { panic!("{row:?}") };
        let found = visible_fraction(row.observer, row.light, &[Ball::new(body.center, body.radius)]).unwrap();
        assert!((found - fraction).abs() <= 1e-9, "{found} for {fraction}: {row:?}");
    }
    let mut mixed = Vec::new();
    for sphere in super::sphere_overlaps() {
        mixed.push(sphere);
        if let Some((i, mut spheroid)) = spheroids.next() {
            if i % 2 == 0 {
                let behind = 2.0 * spheroid.row.observer - spheroid.row.light.center;
                spheroid.row.bodies.push(Ball::new(behind, 1.0).into());
            }
            mixed.push(spheroid);
        }
    }
    assert_eq!(mixed.len(), 2510);
    for (name, expected) in [("spheres", spheres), ("the mixture", mixed)] {
        let rows: Vec<ShadowRow> = expected.iter().map(|one| one.row.clone()).collect();
        for device in devices() {
            let mut worst = 0.0_f64;
            for (i, (found, expected)) in of(device, &rows, None).iter().zip(&expected).enumerate() {
                let round = expected.row.bodies[0].radius == expected.row.bodies[0].polar_radius;
                let allowed = if device.is_cpu() {
                    1e-9
                } else if round {
                    1e-4
                } else {
                    1e-3
                };
                let apart = (found.shadow.fraction - expected.fraction).abs();
                worst = worst.max(apart);
                assert!(apart <= allowed, "{} row {i} of {name}: {found:?} for {expected:?}", device.name());
                assert_eq!(found.flux, found.shadow.fraction);
                if device.is_cpu() && !expected.touches(0.0, 1e-9) {
                    assert_eq!(found.shadow.kind.word(), expected.kind, "row {i} of {name}");
                }
            }
            println!("{}: {name}: worst {worst:.1e}", device.name());
        }
    }
}

/// Random rows of up to four bodies with the same light and the same bodies have the results of one call of `shadows`, to the bit.
#[test]
fn rows_agree_with_many_observers_of_one_light() {
    let mut n = Numbers(31);
    let mut kinds = [0; 4];
    for case in 0..scaled(60) {
        let mut point = |scale: f64| DVec3::from_array(n.vector().map(f64::from)) * scale;
        let light = Ball::new(point(3.0) + DVec3::Z * 40.0, 4.0);
        let balls: Vec<Ball> = (0..case % 4).map(|i| Ball::new(point(2.0) + DVec3::Z * 20.0, 0.7 + i as f64)).collect();
        let spheroids: Vec<Spheroid> =
            (0..case % 3).map(|_| Spheroid::new(point(2.0) + DVec3::Z * 18.0, 1.0, 0.6, point(1.0) + 2.0)).collect();
        let observers: Vec<DVec3> = (0..700).map(|_| point(6.0)).collect();
        let lighting = Lighting::new(light, balls.clone()).unwrap().with_spheroids(spheroids.clone()).unwrap();
        let bodies: Vec<Spheroid> = balls.into_iter().map(Spheroid::from).chain(spheroids).collect();
        let rows: Vec<ShadowRow> =
            observers.iter().map(|&observer| ShadowRow::new(observer, light, bodies.clone())).collect();
        for level in Device::levels() {
            let device = cpu().with_level(level);
            let expected = device.shadows(&lighting, &observers).unwrap();
            let found: Vec<_> = of(&device, &rows, None).iter().map(|one| one.shadow).collect();
            assert_eq!(found, expected, "case {case}: {level}");
            if case < 12 && level == Device::levels()[0] {
                let law = LimbDarkening::new(0.44, 0.23).unwrap();
                let fluxes = device.fluxes(&lighting.clone().with_limb_darkening(law), &observers, &expected).unwrap();
                let found = of(&device, &rows, Some(law));
                let apart = found.iter().zip(&fluxes).map(|(one, flux)| (one.flux - flux).abs()).fold(0.0, f64::max);
                assert!(apart < 1e-12, "case {case}: {apart:e}");
            }
            found.iter().for_each(|shadow| kinds[shadow.kind as usize] += 1);
        }
    }
    println!("lit, penumbra, antumbra, umbra: {kinds:?}");
    assert!(kinds.iter().all(|count| *count > 500), "{kinds:?}");
}

/// Discs are flat for a light of an angular radius of 10⁻⁶: the light's has the radius 1, the bodies' are given in that unit.
fn flat(discs: &[[f64; 3]]) -> ShadowRow {
    let light = Ball::new([0.0, 0.0, 2e6], 2.0);
    ShadowRow::new([0.0; 3], light, discs.iter().map(|&[x, y, r]| Ball::new([x, y, 1e6], r).into()).collect::<Vec<_>>())
}

/// The fraction and the flux past flat discs by brute force: the disc is cut into strips, and along each strip the brightness between the
/// discs has a closed form.
fn sampled(discs: &[[f64; 3]], [u1, u2]: [f64; 2], strips: usize) -> [f64; 2] {
    let mut sums = [0.0; 2];
    for i in 0..strips {
        // Strips are narrow at the sides, where they are short.
        let angle = std::f64::consts::PI * (i as f64 + 0.5) / strips as f64;
        let (x, width) = (-angle.cos(), angle.sin() * std::f64::consts::PI / strips as f64);
        let most = 1.0 - x * x;
        let half = most.sqrt();
        // With μ² = most − y²: the integrals of 1, μ and μ² along y.
        let upto = |y: f64| {
            let mu = (most - y * y).max(0.0).sqrt();
            let round = 0.5 * (y * mu + most * (y / half).clamp(-1.0, 1.0).asin());
            [y, (1.0 - u1 - u2) * y + (u1 + 2.0 * u2) * round - u2 * (most * y - y * y * y / 3.0)]
        };
        let mut covered: Vec<[f64; 2]> = discs
            .iter()
            .filter(|[cx, _, r]| (x - cx).abs() < *r)
            .map(|[cx, cy, r]| {
                let reach = (r * r - (x - cx).powi(2)).sqrt();
                [(cy - reach).clamp(-half, half), (cy + reach).clamp(-half, half)]
            })
            .collect();
        covered.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let mut cursor = -half;
        for [from, to] in covered.into_iter().chain([[half, half]]) {
            if from > cursor {
                let (end, start) = (upto(from), upto(cursor));
                (0..2).for_each(|k| sums[k] += width * (end[k] - start[k]));
            }
            cursor = cursor.max(to);
        }
    }
    let pi = std::f64::consts::PI;
    [sums[0] / pi, sums[1] / (pi * (1.0 - u1 / 3.0 - u2 / 6.0))]
}

#[test]
fn three_overlapping_bodies_agree_with_brute_force() {
    let mut n = Numbers(8);
    let law = [0.44, 0.23];
    let mut cases = vec![
        [[0.3, 0.1, 0.4], [-0.1, 0.3, 0.5], [0.2, -0.4, 0.35]],
        [[1.1, 0.2, 0.6], [0.9, -0.3, 0.5], [-8.2, 0.0, 8.0]],
    ];
    for _ in 0..scaled(60) {
        cases.push(std::array::from_fn(|_| {
            let [x, y, _] = n.vector().map(f64::from);
            [x, y, 0.2 + 0.7 * n.unit_f64()]
        }));
    }
    let rows: Vec<ShadowRow> = cases.iter().map(|discs| flat(discs)).collect();
    let found = of(&cpu(), &rows, Some(LimbDarkening::new(law[0], law[1]).unwrap()));
    let mut worst = [0.0_f64; 2];
    for (discs, found) in cases.iter().zip(&found) {
        // The strips differ from the integral where an outline begins: the error falls with the power 1.5 of their number.
        let [fraction, flux] = sampled(discs, law, 400_000);
        let apart = [(found.shadow.fraction - fraction).abs(), (found.flux - flux).abs()];
        worst = [worst[0].max(apart[0]), worst[1].max(apart[1])];
        assert!(apart[0].max(apart[1]) < 2e-8, "{discs:?}: {found:?} for {fraction}, {flux}");
        assert_eq!(found.shadow.kind == ShadowKind::Umbra, fraction == 0.0, "{discs:?}: {found:?}");
    }
    println!("worst: {:.1e}, {:.1e}", worst[0], worst[1]);
    let partly = found.iter().filter(|one| one.shadow.fraction > 0.01 && one.shadow.fraction < 0.9).count();
    assert!(partly > cases.len() / 2, "{partly}");
}

/// The fraction past one spheroid may be an integral along its outline; past two, it is one over all directions.
#[test]
fn a_spheroid_that_is_there_twice_counts_once() {
    let mut n = Numbers(17);
    let mut unit = || n.unit_f64();
    let rows: Vec<ShadowRow> = (0..scaled(4000))
        .map(|_| {
            // Lights from a thousandth of a degree to most of the sky, and bodies from a hundredth to a hundred times as wide.
            let wide = 10_f64.powf(-5.0 * unit()) * 0.9;
            let light = Ball::new([0.0, 0.0, 1.0], wide);
            let far = (0.9 - wide).max(0.05) * unit().max(0.01);
            let radius = (wide * far * 10_f64.powf(4.0 * unit() - 2.0)).min(0.7 * far);
            let polar_radius = radius * (0.4 + 1.4 * unit());
            let angle = (radius / far).asin() + wide.asin() * (2.0 * unit() - 1.0);
            let (sine, cosine) = (std::f64::consts::TAU * unit()).sin_cos();
            let center = far * DVec3::new(angle.sin() * cosine, angle.sin() * sine, angle.cos());
            let pole = DVec3::new(unit() - 0.5, unit() - 0.5, unit() - 0.5);
            ShadowRow::new([0.0; 3], light, [Spheroid::new(center, radius, polar_radius, pole)])
        })
        .filter(|row| row.check(0).is_ok())
        .collect();
    let twice: Vec<ShadowRow> =
        rows.iter().map(|row| ShadowRow { bodies: vec![row.bodies[0]; 2], ..row.clone() }).collect();
    let mut partly = 0;
    for ((one, two), row) in of(&cpu(), &rows, None).iter().zip(&of(&cpu(), &twice, None)).zip(&rows) {
        let apart = (one.shadow.fraction - two.shadow.fraction).abs();
        assert!(apart < 1e-9 && one.shadow.kind == two.shadow.kind, "{row:?}: {one:?}, {two:?}");
        partly += usize::from(one.shadow.kind == ShadowKind::Penumbra);
    }
    assert!(partly > rows.len() / 4, "{partly} of {}", rows.len());
}

#[test]
fn the_flux_agrees_with_the_reference_in_one_call_per_law() {
    let text = include_str!("../data/limb_darkening.csv");
    let mut laws: Vec<(String, Vec<Vec<f64>>)> = Vec::new();
    for (v, cells) in table(text) {
        match laws.iter_mut().find(|(law, _)| *law == cells[0]) {
            Some((_, rows)) => rows.push(v),
            None => laws.push((cells[0].into(), vec![v])),
        }
    }
    assert!(laws.len() >= 3, "{}", laws.len());
    // All laws in one call, row by row.
    let (mixed, expected): (Vec<ShadowRow>, Vec<f64>) = table(text)
        .map(|(v, _)| {
            let limb_darkening = Some(LimbDarkening::new(v[1], v[2]).unwrap());
            (ShadowRow { limb_darkening, ..flat(&[[v[4], 0.0, v[3]]]) }, v[5])
        })
        .unzip();
    for device in devices() {
        let found = device.shadows_by_row(mixed.len(), &|i, row| row.clone_from(&mixed[i])).unwrap();
        let apart = found.iter().zip(&expected).map(|(found, expected)| (found.flux - expected).abs());
        let (worst, allowed) = (apart.fold(0.0, f64::max), if device.is_cpu() { 1e-9 } else { 1e-7 });
        assert!(worst <= allowed, "{}: {worst:e}", device.name());
    }
    for (law, cases) in laws {
        let limb = LimbDarkening::new(cases[0][1], cases[0][2]).unwrap();
        let rows: Vec<ShadowRow> = cases.iter().map(|v| flat(&[[v[4], 0.0, v[3]]])).collect();
        for device in devices() {
            for (found, v) in of(device, &rows, Some(limb)).iter().zip(&cases) {
                let allowed = if device.is_cpu() { 1e-9 } else { 1e-3 };
                assert!((found.flux - v[5]).abs() <= allowed, "{} {law}: {found:?} for {v:?}", device.name());
            }
        }
    }
}

#[test]
fn laws_of_powers_agree_with_the_reference() {
    let mut worst = 0.0_f64;
    for (v, cells) in table(include_str!("../data/limb_laws.csv")) {
        let limb = match cells[0] {
            "power-2" => LimbDarkening::power_2(v[1], v[2]),
            _ => LimbDarkening::four_parameter([v[1], v[2], v[3], v[4]]),
        };
        let row = flat(&[[v[6], 0.0, v[5]]]);
        for device in devices() {
            let found = of(device, std::slice::from_ref(&row), Some(limb.clone().unwrap()))[0].flux;
            worst = worst.max((found - v[7]).abs());
            assert!((found - v[7]).abs() < 1e-9, "{}: {found} for {cells:?}", device.name());
        }
    }
    println!("worst: {worst:.1e}");
    assert!(worst > 0.0);
    // Laws of which one is a case of another.
    let same = [
        [LimbDarkening::new(0.6, 0.0), LimbDarkening::power_2(0.6, 1.0)],
        [LimbDarkening::new(0.6, -0.2), LimbDarkening::four_parameter([0.0, 0.2, 0.0, 0.2])],
        [LimbDarkening::power_2(0.7, 0.5), LimbDarkening::four_parameter([0.7, 0.0, 0.0, 0.0])],
    ];
    for laws in same {
        for wide in [1e-3, 0.5] {
            let light = Ball::new([0.0, 0.0, 10.0], 10.0 * wide);
            let row = ShadowRow::new([0.0; 3], light, [Ball::new([2.0 * wide, wide, 5.0], 2.0 * wide).into()]);
            let [one, other] =
                laws.clone().map(|law| of(&cpu(), std::slice::from_ref(&row), Some(law.unwrap()))[0].flux);
            assert!((one - other).abs() < 1e-11 && one > 0.1 && one < 0.9, "{laws:?}: {one} {other}");
        }
    }
    let bad = [
        (LimbDarkening::power_2(1.1, 1.0), "c must be between -10 and 1"),
        (LimbDarkening::power_2(0.5, 0.0), "alpha"),
        (LimbDarkening::power_2(f64::NAN, 1.0), "NaN"),
        (LimbDarkening::four_parameter([0.0, 0.0, 0.0, 1.1]), "falls to -0.1"),
        (LimbDarkening::four_parameter([-9.0, 9.0, 0.0, 0.0]), "falls to -1.25"),
        (LimbDarkening::four_parameter([0.0, f64::INFINITY, 0.0, 0.0]), "between -10 and 10"),
    ];
    for (law, words) in bad {
        let error = law.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

/// Spheroids of half the light's radius to a ten-thousandth of it: inside the disc, around its centre, at its edge, across it, and two that
/// overlap. What they hide is compared relative to their size, too: one that was overlooked would hide nothing.
#[test]
fn the_flux_past_spheroids_agrees_with_the_reference() {
    let text = include_str!("../data/limb_spheroids.csv");
    let laws = [
        LimbDarkening::new(0.0, 0.0),
        LimbDarkening::new(0.4, 0.25),
        LimbDarkening::power_2(0.7, 0.6),
        LimbDarkening::four_parameter([0.5, -0.2, 0.6, -0.1]),
    ];
    // The outlines of the reference are those seen from infinity.
    let light = Ball::new([0.0, 0.0, 2e11], 2.0);
    let mut rows = Vec::new();
    let mut hidden = Vec::new();
    for (v, _) in table(text) {
        let body = |b: &[f64]| Spheroid::new([b[0], b[1], 1e11], b[2], b[3], [b[4], b[5], b[6]]);
        let bodies: Vec<_> = v[..14].chunks(7).filter(|body| body[2] > 0.0).map(body).collect();
        rows.push(ShadowRow::new([0.0; 3], light, bodies));
        hidden.push(v[14..].to_vec());
    }
    for device in devices() {
        let mut worst = [0.0_f64; 4];
        for (k, law) in laws.iter().enumerate() {
            for ((row, hidden), found) in rows.iter().zip(&hidden).zip(of(device, &rows, Some(law.clone().unwrap()))) {
                let area = row.bodies.iter().map(|body| body.radius * body.polar_radius).sum::<f64>();
                let apart = (1.0 - found.flux - hidden[k]).abs();
                let allowed = if device.is_cpu() { (1e-3 * area).min(1e-9) } else { 1e-3 };
                worst[k] = worst[k].max(apart / area);
                assert!(apart < allowed, "{}: {} for {} past {row:?}", device.name(), 1.0 - found.flux, hidden[k]);
            }
        }
        let worst = worst.map(|worst| format!("{worst:.1e}"));
        println!("{}: largest errors, relative to the area of the bodies: {worst:?}", device.name());
    }
}

#[test]
fn without_darkening_the_flux_past_small_spheroids_is_the_fraction() {
    let mut n = Numbers(5);
    let mut unit = || n.unit_f64();
    let rows: Vec<ShadowRow> = (0..scaled(20_000))
        .map(|i| {
            let radius = 0.5 * 10_f64.powf(-3.7 * unit());
            // Inside the disc, around its centre, and across its edge.
            let aside = match i % 4 {
                0 => 1.2 * radius * unit(),
                1 => 1.0 + 1.2 * radius * (unit() - 0.5),
                _ => unit(),
            };
            let (sine, cosine) = (std::f64::consts::TAU * unit()).sin_cos();
            let pole = DVec3::new(unit() - 0.5, unit() - 0.5, unit() - 0.5);
            let body = Spheroid::new([aside * cosine, aside * sine, 1e6], radius, radius * (0.5 + unit()), pole);
            ShadowRow::new([0.0; 3], Ball::new([0.0, 0.0, 2e6], 2.0), [body])
        })
        .collect();
    let mut worst = 0.0_f64;
    for (row, found) in rows.iter().zip(of(&cpu(), &rows, Some(LimbDarkening::new(0.0, 0.0).unwrap()))) {
        let apart = (found.flux - found.shadow.fraction).abs();
        worst = worst.max(apart);
        let area = row.bodies[0].radius * row.bodies[0].polar_radius;
        assert!(apart < (1e-2 * area).min(1e-9), "{found:?} past {row:?}");
    }
    println!("worst: {worst:.1e}");
}

#[test]
fn a_body_without_extent_hides_nothing() {
    let light = Ball::new([0.0, 0.0, 10.0], 2.0);
    let before = |x: f64| ShadowRow::new([0.0; 3], light, [Ball::new([x, 0.0, 5.0], 0.0).into()]);
    let rows = [0.0, 0.3, 0.999, 1.0, 2.0].map(before);
    for device in devices() {
        for found in of(device, &rows, Some(LimbDarkening::new(0.4, 0.2).unwrap())) {
            assert_eq!(
                (found.shadow.fraction, found.shadow.kind, found.flux),
                (1.0, ShadowKind::Lit, 1.0),
                "{}",
                device.name()
            );
        }
    }
}

/// The rows of a table of `reference/` as text.
fn reference(name: &str) -> Vec<Vec<String>> {
    let csv = std::fs::read_to_string(root().join(format!("reference/{name}.csv"))).unwrap();
    csv.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// Numbers of a row; an empty cell is 0.
fn numbers(row: &[String]) -> Vec<f64> {
    row.iter().map(|cell| if cell.is_empty() { 0.0 } else { cell.parse().unwrap_or(f64::NAN) }).collect()
}

#[test]
fn the_published_tables_of_shadows_are_reproduced() {
    let mut rows: Vec<(ShadowRow, f64)> = Vec::new();
    for row in reference("shadows") {
        let v = numbers(&row);
        let body = |b: &[f64]| Spheroid::new([b[0], b[1], b[2]], b[3], b[4], [b[5], b[6], b[7]]);
        let bodies: Vec<_> = v[9..].chunks_exact(8).take(v[8] as usize).map(body).collect();
        rows.push((ShadowRow::new([v[1], v[2], v[3]], Ball::new([v[4], v[5], v[6]], v[7]), bodies), v[41]));
    }
    let shadows = rows.len();
    // A light of 80 degrees around the pole contains all caps, and spheres cover them.
    for row in reference("caps") {
        let v = numbers(&row);
        let ball = |c: &[f64]| {
            let [longitude, latitude, radius] = [c[0], c[1], c[2]].map(f64::to_radians);
            let toward = DVec3::new(longitude.cos() * latitude.cos(), longitude.sin() * latitude.cos(), latitude.sin());
            Ball::new(toward, radius.sin()).into()
        };
        let bodies: Vec<Spheroid> = v[1..].chunks_exact(3).take(v[0] as usize).map(ball).collect();
        let half = 80_f64.to_radians();
        let light = Ball::new([0.0, 0.0, 200.0], 200.0 * half.sin());
        rows.push((
            ShadowRow::new([0.0; 3], light, bodies),
            1.0 - v[10] / (std::f64::consts::TAU * (1.0 - half.cos())),
        ));
    }
    assert!(shadows >= 15 && rows.len() >= shadows + 20);
    let others = rows.len();
    // The observer is at the origin.
    for row in reference("mutual_events") {
        let v = numbers(&row);
        let ball = |c: &[f64]| Ball::new([c[0], c[1], c[2]], c[3]);
        rows.push((ShadowRow::new([0.0; 3], ball(&v[8..12]), [ball(&v[12..16]).into()]), v[16]));
    }
    assert_eq!(rows.len(), others + 335);
    let given: Vec<ShadowRow> = rows.iter().map(|row| row.0.clone()).collect();
    for device in devices() {
        let mut worst = 0.0_f64;
        for (found, (row, fraction)) in of(device, &given, None).iter().zip(&rows) {
            let apart = (found.shadow.fraction - fraction).abs();
            worst = worst.max(apart);
            assert!(apart < if device.is_cpu() { 1e-9 } else { 1e-3 }, "{found:?} for {fraction}, {row:?}");
        }
        println!("{}: worst {worst:.1e}", device.name());
    }
}

/// Moving everything by an astronomical unit changes nothing. The coordinates are multiples of 2⁻²⁰ km, so that moving does not round them.
#[test]
fn far_coordinates_keep_nine_digits() {
    let mut n = Numbers(4);
    let step = |x: f64| (x * 1_048_576.0).round() / 1_048_576.0;
    let shift = DVec3::new(-71_234_567.0, 131_072_000.5, 1_234_567.25);
    let bodies = [Ball::new([0.0; 3], 6_371.0), Ball::new([-380_000.0, 4_000.0, 0.0], 1_737.5)];
    let rows: Vec<ShadowRow> = (0..2000)
        .map(|_| {
            let behind = 7_000.0 + 60_000.0 * n.unit_f64();
            let aside = 6_371.0 + behind * 0.0047 * f64::from(n.signed());
            let (sine, cosine) = (std::f64::consts::TAU * n.unit_f64()).sin_cos();
            let observer = DVec3::new(step(behind), step(aside * cosine), step(aside * sine));
            let light = Ball::new([-149_597_870.75, 0.0, 0.0], 695_700.0);
            ShadowRow::new(observer, light, bodies.map(Spheroid::from))
        })
        .collect();
    let moved: Vec<ShadowRow> = rows
        .iter()
        .map(|row| {
            let bodies = bodies.map(|ball| Ball { center: ball.center + shift, ..ball }.into());
            ShadowRow::new(row.observer + shift, Ball { center: row.light.center + shift, ..row.light }, bodies)
        })
        .collect();
    let (found, far) = (of(&cpu(), &rows, None), of(&cpu(), &moved, None));
    let worst = found.iter().zip(&far).map(|(a, b)| (a.shadow.fraction - b.shadow.fraction).abs()).fold(0.0, f64::max);
    assert!(found.iter().filter(|one| one.shadow.kind == ShadowKind::Penumbra).count() > 1000);
    assert!(worst < 1e-9, "{worst:e}");
}

#[test]
fn the_first_invalid_row_is_named() {
    let body = Spheroid::new([0.0, 0.0, 5.0], 1.0, 0.5, DVec3::X);
    let good = ShadowRow::new([0.0; 3], Ball::new([0.0, 0.0, 9.0], 1.0), [Ball::new([9.0; 3], 1.0).into(), body]);
    let with = |change: &dyn Fn(&mut ShadowRow)| {
        let mut row = good.clone();
        change(&mut row);
        row
    };
    let cases = [
        ("observer 9000: y is NaN", with(&|row| row.observer.y = f64::NAN)),
        ("light 9000: x is -inf", with(&|row| row.light.center.x = f64::NEG_INFINITY)),
        ("light 9000: radius is 0", with(&|row| row.light.radius = 0.0)),
        ("light 9000: radius is NaN", with(&|row| row.light.radius = f64::NAN)),
        ("row 9000: z is 1000", with(&|row| row.bodies[1].center.z = 1e200)),
        ("row 9000: radius is -1", with(&|row| row.bodies[0] = Ball::new([9.0; 3], -1.0).into())),
        ("row 9000: radius is NaN", with(&|row| row.bodies[0] = Ball::new([9.0; 3], f64::NAN).into())),
        ("row 9000: polar_radius is NaN", with(&|row| row.bodies[1].polar_radius = f64::NAN)),
        ("row 9000: polar_radius is 1000", with(&|row| row.bodies[1].polar_radius = 1e3)),
        ("row 9000: pole is [0, 0, 0]", with(&|row| row.bodies[1].pole = DVec3::ZERO)),
        ("observer 9000: position is [0, 0.3, 5]", with(&|row| row.observer = DVec3::new(0.0, 0.3, 5.0))),
    ];
    for (words, bad) in &cases {
        for device in devices() {
            // A later row is invalid, too.
            let fill =
                |i: usize, row: &mut ShadowRow| row.clone_from(if i == 9_000 || i == 30_000 { bad } else { &good });
            let error = device.shadows_by_row(40_000, &fill).unwrap_err();
            assert!(matches!(error, Error::BadRecord { index: 9_000, .. }), "{error}");
            assert!(error.to_string().contains(words), "{error} for {words}");
        }
    }
    let error = cases[10].1.check(7).unwrap_err().to_string();
    assert!(error.contains("inside body 1 of the row"), "{error}");
    // On the surface, and in the bounding sphere of a spheroid but outside it.
    let near = [[0.0, 1.0, 5.0], [0.5, 0.0, 5.0], [0.8, 0.0, 5.0]];
    let rows: Vec<ShadowRow> = near.iter().map(|&at| with(&|row| row.observer = at.into())).collect();
    rows.iter().for_each(|row| row.check(0).unwrap());
    assert_eq!(of(&cpu(), &rows, None).len(), 3);
    assert_eq!(of(&cpu(), &[], None), []);
}
