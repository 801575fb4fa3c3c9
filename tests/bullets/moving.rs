//! Bullets with a radius, and bullets among moving spheres: compared with f64, with point bullets among larger spheres, and in moving
//! rooms.

use super::EXACT;
use super::rooms::{begin_alike, depth, middle_of, ricochets_on, rooms};
use umbracast::glam::{DVec3, Vec3};
use umbracast::{
    Bullet, Bullets, Error, Flights, Leg, LegStatus, MovingSphere, NO_SPHERE, OnBad, Query, SceneOptions, Sphere,
    Spheres,
};
use umbracast_testing::{Numbers, both_searches, cpu, devices, scaled, with_and_without_tree};

/// Formats legs as text for comparisons, because NaN is not equal to itself.
fn formatted(flights: &Flights) -> String {
    format!("{:?} {:?}", flights.offsets, flights.records)
}

/// An independent f64 computation that tests every sphere.
struct Truth<'a> {
    spheres: &'a [Sphere],
    velocities: &'a [Vec3],
    radius: f32,
    end: f64,
}

impl Truth<'_> {
    /// Returns the sphere that a bullet hits next, the time, the point, and the velocity after the hit.
    fn next(&self, at: DVec3, velocity: DVec3, now: f64, left: u32) -> Option<(u32, f64, DVec3, DVec3)> {
        let ahead = (0..).zip(self.spheres.iter().zip(self.velocities)).filter(|(id, _)| *id != left);
        let met = ahead.filter_map(|(id, (ball, drift))| {
            let drift = drift.as_dvec3();
            let radius = f64::from(ball.radius) + f64::from(self.radius);
            let target = MovingSphere { center: ball.center.as_dvec3() + now * drift, radius, velocity: drift };
            let turned = target.ricochet(at, velocity)?;
            (now + turned.time <= self.end).then_some((id, now + turned.time, turned.point, turned.velocity))
        });
        met.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

#[test]
fn the_first_ricochets_off_moving_spheres_agree_with_f64() {
    let n = &mut Numbers(5);
    let spheres: Vec<Sphere> =
        (0..200).map(|_| Sphere::new(Vec3::from(n.vector()) * 10.0, 0.2 + 0.6 * n.unit())).collect();
    let still = vec![Vec3::ZERO; spheres.len()];
    let drifts: Vec<Vec3> = spheres.iter().map(|_| Vec3::from(n.vector()) * 0.5).collect();
    let bullets: Vec<Bullet> = (0..scaled(1500))
        .map(|_| Bullet::new(Vec3::from(n.vector()) * 30.0, Vec3::from(n.vector()) * 8.0, 1.0 + n.unit()))
        .collect();
    let radii: Vec<f32> = (0..scaled(1500)).map(|i| if i % 4 == 0 { 0.0 } else { 0.3 * n.unit() }).collect();
    for (velocities, end) in [(&still, None), (&drifts, Some(40.0_f32))] {
        let mut before: Option<String> = None;
        for device in devices() {
            let scenes = match end {
                None => with_and_without_tree(device, &spheres),
                Some(end) => {
                    let given = Spheres::from(&spheres).velocities(velocities);
                    both_searches(device, given, &SceneOptions::default().time_range([0.0, end]))
                }
            };
            for scene in scenes {
                let flights = scene.bullets(Bullets::from(&bullets).radii(&radii), 4, &EXACT).unwrap();
                let (mut later, mut inside, mut gone) = (0, 0, 0);
                for (i, (bullet, legs)) in bullets.iter().zip(flights.iter()).enumerate() {
                    let away = |ball: &Sphere| {
                        (ball.center.as_dvec3() - bullet.from.as_dvec3()).length()
                            - f64::from(ball.radius)
                            - f64::from(radii[i])
                    };
                    if let Some(id) = (0..).zip(&spheres).find(|(_, ball)| away(ball) < 0.0).map(|(id, _)| id) {
                        assert_eq!((legs.len(), legs[0].status, legs[0].id), (1, LegStatus::StartedInside, id));
                        inside += 1;
                        continue;
                    }
                    let end = end.map_or(f64::INFINITY, f64::from);
                    let truth = Truth { spheres: &spheres, velocities, radius: radii[i], end };
                    let way = (bullet.to.as_dvec3() - bullet.from.as_dvec3()).normalize();
                    let (mut at, mut velocity) = (bullet.from.as_dvec3(), way * f64::from(bullet.speed));
                    let (mut left, mut now, mut flown) = (NO_SPHERE, 0.0, 0.0);
                    for (k, leg) in legs.iter().enumerate() {
                        let what = format!("{} bullet {i} leg {k}: {leg:?}", device.name());
                        let Some((id, time, point, after)) = truth.next(at, velocity, now, left) else {
                            assert_eq!(leg.status, LegStatus::Miss, "{what}");
                            gone += usize::from(k > 0);
                            break;
                        };
                        flown += (point - at).length();
                        assert_eq!(leg.id, id, "{what} {time}");
                        assert!((leg.point.as_dvec3() - point).length() < 3e-6, "{what} {point}");
                        assert!((leg.velocity.as_dvec3() - after).length() < 1e-6, "{what} {after}");
                        assert!((f64::from(leg.frames) - time).abs() < 1e-6 * time.max(1.0), "{what} {time}");
                        assert!((f64::from(leg.distance) - flown).abs() < 1e-6 * flown.max(1.0), "{what} {flown}");
                        (at, velocity, now, left) = (point, after, time, id);
                        later += usize::from(k > 0);
                    }
                }
                assert!(later > 80 && inside > 0 && gone > 100, "{later} {inside} {gone}");
                // The flights are bit-identical on every device, with and without a tree.
                let formatted = formatted(&flights);
                assert!(*before.get_or_insert_with(|| formatted.clone()) == formatted, "{}", device.name());
            }
        }
    }
}

/// A bullet with a radius flies like a point among spheres that are larger by this radius, if f32 adds the radii without rounding.
#[test]
fn a_bullet_with_a_radius_equals_a_point_among_larger_spheres() {
    let n = &mut Numbers(8);
    let ball = |n: &mut Numbers| Sphere::new(Vec3::from(n.vector()) * 10.0, 0.25 + 0.125 * (n.bits() % 4) as f32);
    let spheres: Vec<Sphere> = (0..150).map(|_| ball(n)).collect();
    let larger: Vec<Sphere> = spheres.iter().map(|ball| Sphere { radius: ball.radius + 0.5, ..*ball }).collect();
    let bullets: Vec<Bullet> = (0..scaled(500))
        .map(|_| Bullet::new(Vec3::from(n.vector()) * 20.0, Vec3::from(n.vector()) * 8.0, 2.0))
        .collect();
    let radii = vec![0.5; bullets.len()];
    for device in devices() {
        let [scene, _] = with_and_without_tree(device, &spheres);
        let found = scene.bullets(Bullets::from(&bullets).radii(&radii), 9, &EXACT).unwrap();
        let [scene, _] = with_and_without_tree(device, &larger);
        assert_eq!(formatted(&found), formatted(&scene.bullets(&bullets, 9, &EXACT).unwrap()), "{}", device.name());
        assert!(found.report.rays_hit > 200);
    }
}

/// A thousand ricochets, on GPUs fewer, in closed rooms that move, some with approaching walls. The speed relative to each wall is preserved, no leg
/// penetrates a sphere by more than the rounding of its end points to f32, and no bullet leaves the room.
#[test]
fn bullets_never_leave_a_moving_closed_room() {
    // "six planets" is left out: its rounding errors are as large as a leg.
    for (name, spheres, size) in rooms().into_iter().filter(|(name, ..)| *name != "six planets") {
        for closing in [0.0, 1e-4] {
            let middle = middle_of(&spheres);
            let n = &mut Numbers(13);
            let drift = Vec3::new(0.01, -0.02, 0.015);
            let inward = |ball: &Sphere| (middle.as_vec3() - ball.center).normalize_or_zero() * closing;
            let velocities: Vec<Vec3> = spheres.iter().map(|ball| drift + inward(ball)).collect();
            let shot = |n: &mut Numbers| {
                let from = middle.as_vec3() + Vec3::from(n.vector()) * 0.3 * size;
                let bullet = Bullet::new(from, from + Vec3::from(n.vector()), 0.5 + n.unit());
                (bullet, 0.01 * (n.bits() % 3) as f32 * size)
            };
            let (bullets, radii): (Vec<Bullet>, Vec<f32>) = (0..10).map(|_| shot(n)).unzip();
            let end = 4000.0;
            let given = Spheres::from(&spheres).velocities(&velocities);
            let mut first = None;
            for device in devices() {
                let scene = device.scene(given, &SceneOptions::default().time_range([0.0, end])).unwrap();
                let (shots, most) = (Bullets::from(&bullets).radii(&radii), ricochets_on(device));
                let flights = scene.bullets(shots, most as u32, &EXACT).unwrap();
                let mut worst = 0.0_f64;
                for ((bullet, radius), legs) in bullets.iter().zip(&radii).zip(flights.iter()) {
                    let what = format!("{name} closing {closing} on {}, {bullet:?}", device.name());
                    assert_eq!(legs.len(), most, "{what} ends with {:?}", legs.last());
                    let way = (bullet.to.as_dvec3() - bullet.from.as_dvec3()).normalize();
                    let (mut at, mut velocity, mut then) = (bullet.from.as_dvec3(), way * f64::from(bullet.speed), 0.0);
                    for (i, leg) in legs.iter().enumerate() {
                        let what = format!("{what} leg {i}: {leg:?}");
                        let (to, now) = (leg.point.as_dvec3(), f64::from(leg.frames));
                        // One rounding of the coordinates and of the time, for their magnitude and for the length of a leg.
                        let most = velocity.length() + 0.05;
                        let grid = f64::from(f32::EPSILON) * (middle.length() + 4.0 + 0.05 * now + most * now);
                        let here = middle + now * drift.as_dvec3();
                        assert!((to - here).length() < 3.5 * f64::from(size), "{what}: left the room");
                        let drift = velocities[leg.id as usize].as_dvec3();
                        let after = leg.velocity.as_dvec3();
                        let (past, then_past) = ((velocity - drift).length(), (after - drift).length());
                        assert!((past - then_past).abs() < 1e-6 * (1.0 + past), "{what}: {past} {then_past}");
                        let wall = spheres[leg.id as usize];
                        let reach = f64::from(wall.radius) + f64::from(*radius);
                        let off = (to - wall.center.as_dvec3() - now * drift).length() - reach;
                        assert!(off.abs() <= grid, "{what}: {off:e} from the surface, one rounding is {grid:e}");
                        for (ball, drift) in spheres.iter().zip(&velocities) {
                            let ball = Sphere { radius: ball.radius + radius, ..*ball };
                            let drift = drift.as_dvec3();
                            let deep = depth(&ball, at - then * drift, to - now * drift);
                            assert!(deep <= 2.0 * grid, "{what}: {deep:e} deep in {ball:?}, one rounding is {grid:e}");
                            worst = worst.max(deep / grid);
                        }
                        (at, velocity, then) = (to, after, now);
                    }
                    let speed = velocity.length();
                    assert!(
                        closing == 0.0 || !device.is_cpu() || speed > 1.05 * f64::from(bullet.speed),
                        "{what}: last speed {speed}"
                    );
                }
                println!("{name} closing {closing} on {}: at most {worst:.2} roundings deep", device.name());
                assert!(begin_alike(&flights, &mut first), "{name} on {}", device.name());
            }
        }
    }
}

#[test]
fn ricochets_off_moving_spheres_computed_by_hand() {
    let spheres = [Sphere::new([10.0, 0.0, 0.0], 1.0)];
    let of = |velocity: Vec3, end: f32, bullet: Bullet, radius: f32, most: u32| -> Vec<Leg> {
        let velocities = [velocity];
        let given = Spheres::from(&spheres).velocities(&velocities);
        let formatted: Vec<Vec<Leg>> = devices()
            .iter()
            .map(|device| {
                let scene = device.scene(given, &SceneOptions::default().time_range([-1.0, end])).unwrap();
                let shot = [bullet];
                scene.bullets(Bullets::from(&shot).radii(&[radius]), most, &EXACT).unwrap().records
            })
            .collect();
        assert!(formatted.iter().all(|legs| format!("{legs:?}") == format!("{:?}", formatted[0])));
        formatted[0].clone()
    };
    let ahead = Bullet::new([0.0; 3], [5.0, 0.0, 0.0], 2.0);
    // The sphere approaches at speed 1: the bullet returns at speed 2 + 2 · 1.
    let leg = of(Vec3::NEG_X, 10.0, ahead, 0.0, 1)[0];
    assert_eq!((leg.frames, leg.distance, leg.point.x, leg.velocity.x), (3.0, 6.0, 6.0, -4.0));
    let leg = of(Vec3::NEG_X, 10.0, ahead, 1.5, 1)[0];
    assert_eq!((leg.frames, leg.distance, leg.point.x, leg.velocity.x), (2.5, 5.0, 5.0, -4.0));
    // The time range ends exactly at the hit, which counts, and just before it, which is a miss.
    assert_eq!(of(Vec3::NEG_X, 3.0, ahead, 0.0, 1)[0].status, LegStatus::Hit);
    let late = of(Vec3::NEG_X, 3.0_f32.next_down(), ahead, 0.0, 1)[0];
    assert_eq!((late.status, late.id), (LegStatus::Miss, NO_SPHERE));
    // A sphere that recedes at speed 1 stops a bullet of speed 2. No other sphere hits the stopped bullet.
    let legs = of(Vec3::X, 100.0, ahead, 0.0, 5);
    assert_eq!((legs[0].frames, legs[0].velocity), (9.0, Vec3::ZERO));
    assert_eq!((legs.len(), legs[1].status), (2, LegStatus::Miss));
    // A sphere as fast as the bullet is never hit. A bullet starts inside the sphere, and one on its surface.
    assert_eq!(of(Vec3::X * 2.0, 10.0, ahead, 0.0, 3)[0].status, LegStatus::Miss);
    let inside = of(Vec3::X, 10.0, ahead, 9.25, 3);
    assert_eq!((inside.len(), inside[0].status, inside[0].id), (1, LegStatus::StartedInside, 0));
    let on = of(Vec3::NEG_X, 10.0, ahead, 9.0, 1)[0];
    assert_eq!((on.status, on.frames, on.velocity.x), (LegStatus::Hit, 0.0, -4.0));
}

#[test]
fn a_stopped_bullet_is_hit_by_the_next_sphere() {
    // Sphere 0 stops the bullet, and sphere 1 hits it from behind.
    let spheres = [Sphere::new([10.0, 0.0, 0.0], 1.0), Sphere::new([-20.0, 0.0, 0.0], 1.0)];
    let given = Spheres::from(&spheres).velocities(&[Vec3::X, Vec3::X]);
    for device in devices() {
        let scene = device.scene(given, &SceneOptions::default().time_range([0.0, 100.0])).unwrap();
        let flights = scene.bullets(&[Bullet::new([0.0; 3], [1.0, 0.0, 0.0], 2.0)], 2, &EXACT).unwrap();
        let legs = flights.get(0).unwrap();
        // The bullet rests at 18 from frame 9 on; the surface of sphere 1 is at −19 + t.
        assert_eq!((legs[1].id, legs[1].frames, legs[1].distance), (1, 37.0, 18.0), "{legs:?}");
        assert_eq!((legs[1].point.x, legs[1].velocity.x), (18.0, 2.0), "{legs:?}");
    }
}

/// At such late times consecutive f32 values are 4 frames apart. A leg begins between two of them, and must not skip a sphere just ahead.
#[test]
fn legs_may_begin_between_two_f32_times() {
    let far = (25.0_f32).exp2();
    let spheres = [Sphere::new([-far, 0.0, 0.0], 1.0), Sphere::new([1.2, 0.0, 0.0], 0.5)];
    for device in devices() {
        for speed in [0.9, 0.91, 0.92, 0.93] {
            let velocities = [Vec3::X * speed, Vec3::ZERO];
            let given = Spheres::from(&spheres).velocities(&velocities);
            let scene = device.scene(given, &SceneOptions::default().time_range([0.0, 1e8])).unwrap();
            let bullet = Bullet::new([0.0; 3], [1.0, 0.0, 0.0], 1e-12);
            let flights = scene.bullets(&[bullet], 2, &EXACT).unwrap();
            let [first, second] = flights.get(0).unwrap() else { panic!("{flights:?}") };
            assert!((first.id, second.id) == (0, 1), "{speed} on {}: {flights:?}", device.name());
            assert!((second.point.x - 0.7).abs() < 1e-6, "{speed} on {}: {flights:?}", device.name());
        }
    }
}

#[test]
fn invalid_bullet_radii_are_refused() {
    let spheres = [Sphere::new([4.0, 0.0, 0.0], 1.0)];
    let scene = cpu().scene(&spheres, &SceneOptions::default()).unwrap();
    let good = [Bullet::new([0.0; 3], [1.0, 0.0, 0.0], 2.0); 3];
    let shoot =
        |radii: &[f32], query: &Query| scene.bullets(Bullets::from(&good).radii(radii).numbered_from(7), 1, query);
    for bad in [-0.5, f32::NAN, f32::INFINITY] {
        let error = shoot(&[0.0, 1.0, bad], &EXACT).unwrap_err();
        let said = format!("bullet 9: radius is {bad}: a radius must be finite and not negative");
        assert_eq!(error.to_string(), said);
        let flights = shoot(&[0.0, bad, 1.0], &EXACT.on_bad(OnBad::Skip)).unwrap();
        let distances: Vec<f32> = flights.records.iter().map(|leg| leg.distance).collect();
        assert_eq!((distances, flights.report.skipped), (vec![3.0, f32::INFINITY, 2.0], 1));
    }
    let error = shoot(&[0.0], &EXACT).unwrap_err();
    assert_eq!(error, Error::LengthsDiffer { left_name: "bullets", left: 3, right_name: "radii", right: 1 });
}
