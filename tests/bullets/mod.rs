//! Bullets: accuracy of ricochets, flights in closed rooms, and input that is rejected.

mod moving;
mod rooms;

use umbracast::glam::{DVec3, Vec3};
use umbracast::{
    Bullet, Bullets, Error, Leg, LegStatus, MovingSphere, NO_SPHERE, OnBad, Precision, Query, Ray, Ricochet,
    SceneOptions, Sphere,
};
use umbracast_testing::{Numbers, cpu, devices, scaled, steps, with_and_without_tree};

const EXACT: Query = Query::new()
    .inside(umbracast::Inside::Enter)
    .touch(umbracast::Touch::Hit)
    .ends(umbracast::Ends::Closed)
    .precision(Precision::Exact)
    .on_bad(OnBad::Refuse)
    .motion(umbracast::Motion::AtTime);

/// One record of `tests/data/ricochet.bin`.
struct Row {
    from: Vec3,
    /// The target point (case 0), or the velocity.
    towards: Vec3,
    sphere: Sphere,
    drift: Vec3,
    speed: f32,
    /// Exact time, point, normal, velocity after the hit, and angle.
    truth: Ricochet,
    case: u8,
}

fn rows() -> Vec<Row> {
    let bytes = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ricochet.bin")).unwrap();
    assert_eq!((&bytes[..8], bytes.len()), (&b"RSPHCOR1"[..], 32 + 160 * 1000));
    let row = |record: &[u8]| {
        let f: Vec<f32> = bytemuck::pod_collect_to_vec(&record[..56]);
        let g: Vec<f64> = bytemuck::pod_collect_to_vec(&record[56..144]);
        let [from, towards, center, drift] = [0, 3, 6, 9].map(|at| Vec3::from_slice(&f[at..at + 3]));
        let [point, normal, velocity] = [1, 4, 7].map(|at| DVec3::from_slice(&g[at..at + 3]));
        let truth = Ricochet { time: g[0], point, normal, grazing_rad: g[10], velocity };
        Row { from, towards, sphere: Sphere::new(center, f[12]), drift, speed: f[13], truth, case: record[144] }
    };
    bytes[32..].chunks(160).map(row).collect()
}

impl Row {
    /// Velocity of the bullet. For case 0 it is per frame, because the time of these records is in frames.
    fn velocity(&self) -> DVec3 {
        match self.case {
            0 => (self.towards.as_dvec3() - self.from.as_dvec3()).normalize() * f64::from(self.speed),
            _ => self.towards.as_dvec3(),
        }
    }

    fn target(&self) -> MovingSphere {
        MovingSphere { velocity: self.drift.as_dvec3(), ..MovingSphere::from(&self.sphere) }
    }
}

/// Compares a thousand ricochets off spheres at rest and moving spheres with exact arithmetic. The error of f64 is at most a few
/// roundings, amplified by the distance and by the ratio of distance and chord.
#[test]
fn ricochets_agree_with_exact_arithmetic() {
    let mut worst = [0.0_f64; 5];
    let mut cases = [0; 3];
    for (i, row) in rows().iter().enumerate() {
        let (velocity, target, truth) = (row.velocity(), row.target(), row.truth);
        let found = target.ricochet(row.from.as_dvec3(), velocity).unwrap();
        let (e, half) = ((target.center - row.from.as_dvec3()).length(), target.radius * truth.grazing_rad.sin());
        // One rounding of the distance, as a length and as an angle.
        let along = f64::EPSILON * (e + e * target.radius / half + truth.point.length() + target.center.length());
        let across = f64::EPSILON * (1.0 + e / half);
        let passing = (velocity - target.velocity).length();
        let part = [
            (found.time - truth.time).abs() * passing / along,
            (found.point - truth.point).length() / (along * (1.0 + target.velocity.length() / passing)),
            (found.normal - truth.normal).length() / across,
            (found.grazing_rad - truth.grazing_rad).abs() / across,
            (found.velocity - truth.velocity).length() / (across * (velocity.length() + passing)),
        ];
        worst.iter_mut().zip(part).for_each(|(worst, part)| *worst = worst.max(part));
        cases[usize::from(row.case)] += 1;
        assert!(part.iter().all(|part| *part < 4.0), "record {i}: {part:?} {found:?} {truth:?}");
    }
    println!("largest errors in units of one f64 rounding: {worst:.2?}");
    assert_eq!(cases, [416, 286, 298]);
}

/// Compares ricochets off spheres at rest with exact arithmetic on every device: one bullet and one sphere per scene, one leg per bullet.
#[test]
fn ricochets_agree_with_exact_arithmetic_on_every_device() {
    const U: f64 = 1.0 / 16_777_216.0;
    for device in devices() {
        let mut worst = [0.0_f64; 5];
        for (i, row) in rows().iter().enumerate().filter(|(_, row)| row.case == 0) {
            let bullet = Bullet::new(row.from, row.towards, row.speed);
            let scene = device.scene(&[row.sphere], &SceneOptions::default()).unwrap();
            let flights = scene.bullets(&[bullet], 1, &EXACT).unwrap();
            let (leg, truth) = (flights.records[0], row.truth);
            assert_eq!((leg.status, leg.id), (LegStatus::Hit, 0), "record {i}");
            let off = |found: Vec3, truth: DVec3| (found.as_dvec3() - truth).length() / truth.length().max(1e-30);
            let part = [
                (f64::from(leg.frames) - truth.time).abs() / truth.time,
                off(leg.point, truth.point),
                f64::from(leg.grazing_rad - truth.grazing_rad as f32).abs(),
                off(leg.velocity, truth.velocity),
                (f64::from(leg.distance) - truth.time * f64::from(row.speed)).abs() / f64::from(leg.distance),
            ];
            worst.iter_mut().zip(part).for_each(|(worst, part)| *worst = worst.max(part));
            // One rounding to f32, and the preceding error of f64.
            let u = 1.01 * U;
            assert!(
                part.iter().all(|part| *part <= 2.0 * u),
                "{} record {i}: {part:?} {leg:?} {truth:?}",
                device.name()
            );
        }
        println!("{}: frames, point, angle, velocity, distance within {worst:?}", device.name());
    }
}

/// Checks the hit times on every device for the other records. Their velocities are not differences of two f32 points, so they are cast
/// as rays. If the sphere moves too (case 2), the difference of the two velocities is rounded to f32.
#[test]
fn hit_times_agree_with_exact_arithmetic_on_every_device() {
    let rows: Vec<Row> = rows().into_iter().filter(|row| row.case > 0).collect();
    let rays: Vec<Ray> = rows.iter().map(|row| Ray::new(row.from, row.towards - row.drift)).collect();
    let spheres: Vec<Sphere> = rows.iter().map(|row| row.sphere).collect();
    for device in devices() {
        let pairs = device.pairwise(&spheres, &Default::default()).unwrap();
        let hits = pairs.closest(&rays, &EXACT).unwrap();
        let mut worst = 0.0_f64;
        for (i, (row, hit)) in rows.iter().zip(hits.iter()).enumerate() {
            let what = format!("{} record {i}: {hit:?}", device.name());
            if row.case == 1 {
                assert_eq!(hit.t, row.truth.time as f32, "{what}");
                continue;
            }
            // A rounding error in the direction changes the hit time; the change grows towards grazing incidence.
            let allowed = 2.0 / 16_777_216.0 * row.truth.time * (1.0 + 1.0 / row.truth.grazing_rad.sin());
            let part = (f64::from(hit.t) - row.truth.time).abs() / allowed;
            assert!(part <= 1.0, "{what}: {part}");
            worst = worst.max(part);
        }
        println!("{}: {worst:.2} of the error allowed for rounded velocities", device.name());
    }
}

/// The default bullet of the original bullet program.
#[test]
fn the_default_bullet_has_the_ricochet_of_the_original_program() {
    for device in devices() {
        let spheres = [Sphere::new([4.0, 4.0, 0.0], 4.0)];
        let scene = device.scene(&spheres, &SceneOptions::default()).unwrap();
        let flights = scene.bullets(&[Bullet::new([0.0; 3], [4.0; 3], 3.0)], 1, &EXACT).unwrap();
        let leg = flights.records[0];
        assert_eq!((leg.status, leg.id), (LegStatus::Hit, 0));
        let root = 3.0_f64.sqrt();
        assert_eq!(leg.distance, (4.0 / root) as f32);
        assert_eq!(leg.frames, (4.0 / root / 3.0) as f32);
        assert_eq!(leg.point, Vec3::splat(4.0 / 3.0));
        assert_eq!(leg.grazing_rad, (1.0 / root).asin() as f32);
        let close = |a: f32, b: f64| steps(a, b as f32) <= 1;
        let [x, y, z] = leg.velocity.to_array();
        assert!(close(x, -1.0 / root) && close(y, -1.0 / root) && close(z, 5.0 / root), "{leg:?}");
        assert_eq!((flights.report.rays, flights.report.rays_hit), (1, 1));
    }
}

#[test]
fn bullets_may_start_inside_on_and_outside_spheres() {
    let spheres = [Sphere::new([0.0; 3], 5.0), Sphere::new([1.0, 0.0, 0.0], 5.0), Sphere::new([0.0, 0.0, 40.0], 10.0)];
    let hit = |id, distance, point: [f32; 3]| (LegStatus::Hit, id, distance, Vec3::from(point));
    let miss = (LegStatus::Miss, NO_SPHERE, f32::INFINITY, Vec3::ZERO);
    let inside = |id| (LegStatus::StartedInside, id, f32::INFINITY, Vec3::ZERO);
    let shots = [
        // Strictly inside both spheres, sphere 1, sphere 0: the lowest id is reported.
        ([0.0, 0.0, 1.0], [9.0, 9.0, 9.0], inside(0)),
        ([5.5, 0.0, 0.0], [-9.0, 0.0, 0.0], inside(1)),
        ([-4.5, 0.0, 0.0], [-9.0, 0.0, 0.0], inside(0)),
        // On a surface: inwards is a hit at once, outwards is no hit of this sphere, along the tangent is a touch.
        ([-5.0, 0.0, 0.0], [0.0, 1.0, 0.0], hit(0, 0.0, [-5.0, 0.0, 0.0])),
        ([-5.0, 0.0, 0.0], [-6.0, 0.0, 0.0], miss),
        ([-5.0, 0.0, 0.0], [-5.0, 0.0, 7.0], hit(0, 0.0, [-5.0, 0.0, 0.0])),
        ([-3.0, 0.0, 4.0], [-3.0, 0.0, 5.0], hit(2, 40.0 - 4.0 - 91.0_f32.sqrt(), [-3.0, 0.0, 40.0 - 91.0_f32.sqrt()])),
        // On the surface of one sphere, inside the other.
        ([4.0, 3.0, 0.0], [9.0, 9.0, 0.0], inside(1)),
        // The sphere is ahead, behind, next to the path, and touched.
        ([-9.0, 0.0, 0.0], [-8.0, 0.0, 0.0], hit(0, 4.0, [-5.0, 0.0, 0.0])),
        ([-9.0, 0.0, 0.0], [-10.0, 0.0, 0.0], miss),
        ([-9.0, 5.25, 0.0], [0.0, 5.25, 0.0], miss),
        ([-9.0, 0.0, 50.0], [9.0, 0.0, 50.0], hit(2, 9.0, [0.0, 0.0, 50.0])),
    ];
    for device in devices() {
        for scene in with_and_without_tree(device, &spheres) {
            let bullets: Vec<Bullet> = shots.iter().map(|(from, to, _)| Bullet::new(*from, *to, 2.0)).collect();
            let flights = scene.bullets(&bullets, 1, &EXACT).unwrap();
            assert_eq!(flights.offsets, (0..=shots.len() as u64).collect::<Vec<_>>());
            for (leg, (from, to, expected)) in flights.iter().zip(&shots) {
                let what = format!("{} {from:?} to {to:?}: {leg:?}", device.name());
                let [leg] = leg else { panic!("{what}") };
                assert_eq!(
                    (leg.status, leg.id, leg.is_hit()),
                    (expected.0, expected.1, expected.0 == LegStatus::Hit),
                    "{what}"
                );
                assert!(leg.distance == expected.2 || (leg.distance - expected.2).abs() <= 3e-6, "{what}");
                assert_eq!(leg.frames, leg.distance / 2.0, "{what}");
                if leg.is_hit() {
                    assert!((leg.point - expected.3).length() <= 4e-6, "{what}");
                    assert!((leg.velocity.length() - 2.0).abs() < 1e-6, "{what}");
                } else {
                    assert!(leg.point.is_nan() && leg.velocity.is_nan() && leg.grazing_rad.is_nan(), "{what}");
                }
            }
            // A touch does not change the velocity, and the sphere does not block the next leg.
            let along = flights.get(5).unwrap()[0];
            assert_eq!((along.grazing_rad, along.velocity), (0.0, Vec3::new(0.0, 0.0, 2.0)));
            let flights = scene.bullets(&bullets, 9, &EXACT).unwrap();
            let statuses = |i: usize| flights.get(i).unwrap().iter().map(|leg| leg.status).collect::<Vec<_>>();
            assert_eq!(statuses(0), [LegStatus::StartedInside]);
            assert_eq!(statuses(3), [LegStatus::Hit, LegStatus::Miss]);
            assert_eq!(statuses(4), [LegStatus::Miss]);
            assert_eq!(flights.report.rays_hit, 5);
            // The next leg hits sphere 2 above at (−5, 0, 40 − √75).
            let on = flights.get(5).unwrap();
            assert_eq!((on[1].id, on[1].status), (2, LegStatus::Hit));
            assert!((on[1].distance - (40.0 - 75.0_f32.sqrt())).abs() < 4e-6, "{on:?}");
        }
    }
}

/// f32 cannot hold the direction (1 − 2⁻²⁵, 1, 0). At a distance of 2¹⁷, the ray with the rounded direction is 2⁻⁸ away from the line.
#[test]
fn the_first_leg_follows_the_line_of_the_given_points() {
    let far = 2f32.powi(17);
    let spheres = [
        Sphere::new([far - 2f32.powi(-7), far, 0.0], 0.9 * 2f32.powi(-8)),
        Sphere::new([-far, far, 0.0], 2f32.powi(-9)),
    ];
    let nearly = 2f32.powi(-25);
    let bullets = [
        Bullet::new([nearly, 0.0, 0.0], [1.0, 1.0, 0.0], 1.0),
        Bullet::new([-nearly, 0.0, 0.0], [-1.0, 1.0, 0.0], 1.0),
    ];
    for device in devices() {
        for scene in with_and_without_tree(device, &spheres) {
            let flights = scene.bullets(&bullets, 1, &EXACT).unwrap();
            assert_eq!(flights.iter().map(|legs| legs[0].id).collect::<Vec<_>>(), [0, NO_SPHERE], "{}", device.name());
        }
    }
}

#[test]
fn a_bullet_that_touches_two_balls_at_one_point_flies_on() {
    let spheres = [
        Sphere::new([5.0, 1.0, 0.0], 1.0),
        Sphere::new([5.0, -1.0, 0.0], 1.0),
        Sphere::new([12.0, 0.0, 0.0], 1.0),
        Sphere::new([5.0, 9.0, 0.0], 1.0),
    ];
    // From afar, and from the point where the two balls touch.
    let bullets = [Bullet::new([0.0; 3], [1.0, 0.0, 0.0], 1.0), Bullet::new([5.0, 0.0, 0.0], [5.0, 0.0, 1.0], 1.0)];
    for device in devices() {
        for scene in with_and_without_tree(device, &spheres) {
            let flights = scene.bullets(&bullets, 9, &EXACT).unwrap();
            let legs = |i: usize| flights.get(i).unwrap().iter().map(|leg| (leg.id, leg.distance)).collect::<Vec<_>>();
            assert_eq!(legs(0)[..2], [(0, 5.0), (2, 11.0)], "{}", device.name());
            assert_eq!(legs(1), [(0, 0.0), (NO_SPHERE, f32::INFINITY)], "{}", device.name());
        }
    }
}

/// Compares the first four legs with an independent f64 computation that tests every sphere. Later legs would diverge: errors grow
/// with every ricochet.
#[test]
fn the_first_ricochets_agree_with_f64() {
    let n = &mut Numbers(5);
    let spheres: Vec<Sphere> =
        (0..300).map(|_| Sphere::new(Vec3::from(n.vector()) * 10.0, 0.2 + 0.6 * n.unit())).collect();
    let bullets: Vec<Bullet> = (0..scaled(2000))
        .map(|_| Bullet::new(Vec3::from(n.vector()) * 30.0, Vec3::from(n.vector()) * 8.0, 1.0 + n.unit()))
        .collect();
    for device in devices() {
        let scene = device.scene(&spheres, &SceneOptions::default()).unwrap();
        let flights = scene.bullets(&bullets, 4, &EXACT).unwrap();
        let (mut second, mut inside) = (0, 0);
        for (i, (bullet, legs)) in bullets.iter().zip(flights.iter()).enumerate() {
            if spheres.iter().any(|ball| ball.contains(bullet.from)) {
                assert_eq!(legs.iter().map(|leg| leg.status).collect::<Vec<_>>(), [LegStatus::StartedInside]);
                inside += 1;
                continue;
            }
            let (mut at, mut along) =
                (bullet.from.as_dvec3(), (bullet.to.as_dvec3() - bullet.from.as_dvec3()).normalize());
            let mut left = NO_SPHERE;
            for (k, leg) in legs.iter().enumerate() {
                let ahead = (0..).zip(&spheres).filter(|(id, _)| *id != left);
                let met = ahead.filter_map(|(id, ball)| Some((id, MovingSphere::from(ball).ricochet(at, along)?)));
                let what = format!("{} bullet {i} leg {k}: {leg:?}", device.name());
                let Some((id, turned)) = met.min_by(|(_, a), (_, b)| a.time.total_cmp(&b.time)) else {
                    assert_eq!(leg.status, LegStatus::Miss, "{what}");
                    break;
                };
                assert_eq!(leg.id, id, "{what} {turned:?}");
                // Every ricochet multiplies the error, but f64 has digits to spare.
                assert!((leg.point.as_dvec3() - turned.point).length() < 2e-6, "{what} {turned:?}");
                let velocity = turned.velocity * f64::from(bullet.speed);
                assert!((leg.velocity.as_dvec3() - velocity).length() < 1e-6, "{what} {turned:?}");
                (at, along, left) = (turned.point, turned.velocity, id);
                second += usize::from(k == 1);
            }
            let ended = legs.last().unwrap();
            assert!(legs.len() == 4 || !ended.is_hit(), "{ended:?}");
        }
        assert!(second > 200 && inside > 0, "{second} {inside}");
    }
}

#[test]
fn huge_and_tiny_numbers_are_handled() {
    let shots = [
        (Bullet::new([-3e38, 0.0, 0.0], [3e38, 0.0, 0.0], 1e30), LegStatus::Hit),
        (Bullet::new([-3e38, 0.0, 0.0], [3e38, 0.0, 0.0], 1e-38), LegStatus::Hit),
        (Bullet::new([-3.0, 0.0, 0.0], [-3.0 + 1e-6, 0.0, 0.0], 1.0), LegStatus::Hit),
        (Bullet::new([0.0, 0.0, -1.5], [0.0, 1e-42, -1.5], 1.0), LegStatus::Miss),
        (Bullet::new([3e38, 3e38, 3e38], [-3e38, -3e38, -3e38], 3e38), LegStatus::Hit),
    ];
    let bullets: Vec<Bullet> = shots.iter().map(|(bullet, _)| *bullet).collect();
    for device in devices() {
        let spheres = [Sphere::new([0.0; 3], 1.0), Sphere::new([3e38, -3e38, 0.0], 3e38)];
        let scene = device.scene(&spheres[..1], &SceneOptions::default()).unwrap();
        let flights = scene.bullets(&bullets, 3, &EXACT).unwrap();
        for (i, (legs, (_, status))) in flights.iter().zip(&shots).enumerate() {
            assert_eq!(legs[0].status, *status, "{} {i}: {legs:?}", device.name());
            if legs[0].is_hit() {
                assert!((legs[0].point.length() - 1.0).abs() < 1e-6 && legs[0].distance > 1.0, "{legs:?}");
            }
        }
        assert_eq!(flights.get(1).unwrap()[0].frames, f32::INFINITY, "a distance of 3e38 at 1e-38 per frame");
        let scene = device.scene(&spheres[1..], &SceneOptions::default()).unwrap();
        // After the ricochet the bullet flies beyond the range of f32.
        let away = Bullet::new([3.3e38, 3e38, 0.0], [3.3e38, -3e38, 0.0], 1.0);
        let flights = scene.bullets(&[away], 5, &EXACT).unwrap();
        assert!(flights.len() == 1 && flights.records[0].is_hit(), "{flights:?}");
    }
}

#[test]
fn invalid_bullets_are_refused() {
    let spheres = [Sphere::new([4.0, 0.0, 0.0], 1.0)];
    let scene = cpu().scene(&spheres, &SceneOptions::default()).unwrap();
    let good = Bullet::new([0.0; 3], [1.0, 0.0, 0.0], 2.0);
    for (bullet, said) in [
        (Bullet { speed: 0.0, ..good }, "speed is 0: a speed must be above 0"),
        (Bullet { speed: -0.0, ..good }, "speed is -0: a speed must be above 0"),
        (Bullet { speed: -2.0, ..good }, "speed is -2: a speed must be above 0"),
        (Bullet { speed: f32::NAN, ..good }, "speed is NaN: a speed must be finite"),
        (Bullet { speed: f32::INFINITY, ..good }, "speed is inf: a speed must be finite"),
        (Bullet { to: Vec3::ZERO, ..good }, "x2,y2,z2 is the start point: the target point must differ from it"),
        (Bullet { from: Vec3::new(0.0, f32::NAN, 0.0), ..good }, "y1 is NaN: a start point must be finite"),
        (Bullet { to: Vec3::new(0.0, 0.0, -f32::INFINITY), ..good }, "z2 is -inf: a target point must be finite"),
    ] {
        assert_eq!(bullet.check().unwrap_err().to_string(), format!("bullet 0: {said}"));
        let list = [good, good, bullet];
        let error = scene.bullets(Bullets::from(&list).numbered_from(70), 1, &EXACT).unwrap_err();
        assert_eq!(error.to_string(), format!("bullet 72: {said}"));
        let skip = EXACT.on_bad(OnBad::Skip);
        let flights = scene.bullets(&[good, bullet, good], 2, &skip).unwrap();
        assert_eq!(flights.iter().map(<[Leg]>::len).collect::<Vec<_>>(), [2, 1, 2]);
        let statuses: Vec<LegStatus> = flights.records.iter().map(|leg| leg.status).collect();
        use LegStatus::{Hit, Miss};
        assert_eq!(statuses, [Hit, Miss, Miss, Hit, Miss]);
        assert_eq!((flights.report.rays, flights.report.rays_hit, flights.report.skipped), (3, 2, 1));
    }
    let error = scene.bullets(&[good], 0, &EXACT).unwrap_err();
    assert!(matches!(&error, Error::InvalidArgument(said) if said.contains("is 0: it must be at least 1")), "{error}");
    let pairs = cpu().pairwise(&spheres, &Default::default()).unwrap();
    let error = pairs.bullets(&[good], 1, &EXACT).unwrap_err();
    assert!(matches!(&error, Error::InvalidArgument(said) if said.contains("pairwise")), "{error}");
    let drift = vec![umbracast::glam::Vec3::X; spheres.len()];
    let given = umbracast::Spheres::from(&spheres).velocities(&drift);
    let late = cpu().scene(given, &SceneOptions::default().time_range([0.5, 1.0])).unwrap();
    let error = late.bullets(&[good], 1, &EXACT).unwrap_err();
    assert!(
        matches!(&error, Error::InvalidArgument(said) if said.contains("outside the time range of the scene, 0.5 to 1")),
        "{error}"
    );
    let flat = [spheres[0], Sphere::new([0.0; 3], 0.0)];
    let scene = cpu().scene(&flat, &SceneOptions::default()).unwrap();
    let error = scene.bullets(&[good], 1, &EXACT).unwrap_err();
    assert!(matches!(error, Error::BadRecord { what: "sphere", index: 1, field: "r", .. }), "{error}");
    assert!(error.to_string().contains("the radius must be above 0"), "{error}");
}

#[test]
fn empty_batches_and_scenes_are_valid() {
    for device in devices() {
        let none = device.scene(&[], &SceneOptions::default()).unwrap();
        let flights = none.bullets(&[Bullet::new([0.0; 3], [1.0; 3], 1.0)], 7, &EXACT).unwrap();
        assert_eq!((flights.len(), flights.records[0].status, flights.records[0].id), (1, LegStatus::Miss, NO_SPHERE));
        let flights = none.bullets(&[], 7, &EXACT).unwrap();
        assert_eq!((flights.len(), flights.is_empty(), &flights.offsets[..]), (0, true, &[0][..]));
    }
}

/// The async method returns the same as the blocking one, and the first leg hits the same sphere as a ray with the same path.
#[test]
fn the_async_method_returns_the_same_as_the_blocking_one() {
    let spheres: Vec<Sphere> = (0..9).map(|i| Sphere::new([3.0 * i as f32, 0.0, 0.0], 1.25)).collect();
    let bullets: Vec<Bullet> =
        (0..500).map(|i| Bullet::new([0.1 * i as f32 - 9.0, 8.0, 0.0], [0.05 * i as f32, 0.0, 0.0], 1.0)).collect();
    for device in devices() {
        let scene = device.scene(&spheres, &SceneOptions::default()).unwrap();
        let waited = scene.bullets(&bullets, 6, &EXACT).unwrap();
        let polled = pollster::block_on(scene.bullets_async(&bullets, 6, &EXACT)).unwrap();
        assert_eq!(
            (&waited.offsets, format!("{:?}", waited.records)),
            (&polled.offsets, format!("{:?}", polled.records))
        );
        for (bullet, legs) in bullets.iter().zip(waited.iter()) {
            let path = Ray::new(bullet.from, bullet.to - bullet.from);
            let hit = scene.closest(&[path], &EXACT).unwrap()[0];
            assert_eq!(legs[0].id, hit.id, "{bullet:?}");
        }
    }
}
