//! Flights that must not pass walls: closed rooms whose walls are spheres, and creases between overlapping spheres.

use super::EXACT;
use umbracast::glam::{DVec3, Vec3};
use umbracast::{Bullet, Device, Flights, Leg, LegStatus, SceneOptions, Sphere};
use umbracast_testing::{Numbers, devices, scaled, steps, with_and_without_tree};

/// Closed rooms whose walls are spheres: name, spheres, and the distance from the middle to the walls.
pub(crate) fn rooms() -> Vec<(&'static str, Vec<Sphere>, f32)> {
    let walls = |middle: Vec3, size: f32, radius: f32| {
        let ball = |axis: Vec3| Sphere::new(middle + axis * (size + radius), radius);
        [Vec3::X, Vec3::Y, Vec3::Z].into_iter().flat_map(|axis| [ball(axis), ball(-axis)]).collect::<Vec<_>>()
    };
    // Overlapping bricks: walls with 600 edges where a bullet could slip through.
    let bricks = || {
        let mut list = Vec::new();
        for (i, j) in (-5..=5).flat_map(|i| (-5..=5).map(move |j| (i as f32 * 0.25, j as f32 * 0.25))) {
            for side in [-1.25, 1.25_f32] {
                list.extend([[side, i, j], [i, side, j], [i, j, side]].map(|center| Sphere::new(center, 0.22)));
            }
        }
        list
    };
    vec![
        ("six large balls", walls(Vec3::ZERO, 1.0, 20.0), 1.0),
        ("six balls that hardly overlap", walls(Vec3::ZERO, 1.0, 4.46), 1.0),
        ("six planets", walls(Vec3::ZERO, 1.0, 6e6), 1.0),
        ("far from the origin", walls(Vec3::new(3e4, -2e4, 1e4), 1.0, 20.0), 1.0),
        ("bricks", bricks(), 1.0),
    ]
}

pub(crate) fn middle_of(spheres: &[Sphere]) -> DVec3 {
    spheres.iter().map(|ball| ball.center.as_dvec3()).sum::<DVec3>() / spheres.len() as f64
}

/// Ricochets of each bullet in a room. A GPU computes each in a round trip, and has to agree with the CPU engine; a software adapter takes
/// minutes for a thousand.
pub(crate) fn ricochets_on(device: &Device) -> usize {
    if device.is_cpu() { 1000 } else { scaled(100).min(1000) }
}

/// Whether flights begin with the same legs as those of the first device.
pub(crate) fn begin_alike(flights: &Flights, first: &mut Option<Flights>) -> bool {
    let first = first.get_or_insert_with(|| flights.clone());
    flights.len() == first.len()
        && flights
            .iter()
            .zip(first.iter())
            .all(|(legs, others)| legs.iter().zip(others).all(|(leg, other)| leg == other))
}

/// A thousand ricochets in closed rooms, on GPUs fewer. The speed is preserved, no leg penetrates a sphere by more than the rounding of its end points
/// to f32, and no bullet leaves the room.
#[test]
fn bullets_never_leave_a_closed_room() {
    for (name, spheres, size) in rooms() {
        let middle = middle_of(&spheres);
        let n = &mut Numbers(11);
        let bullets: Vec<Bullet> = (0..scaled(20))
            .map(|_| {
                let from = middle.as_vec3() + Vec3::from(n.vector()) * 0.3 * size;
                Bullet::new(from, from + Vec3::from(n.vector()), 0.125 + n.unit())
            })
            .collect();
        // One rounding of the coordinates, for their distance from the origin and for the length of a leg.
        let grid = f64::from(f32::EPSILON) * (middle.length() + 4.0 * f64::from(size));
        let mut first = None;
        for device in devices() {
            let scene = device.scene(&spheres, &SceneOptions::default()).unwrap();
            let most = ricochets_on(device);
            let flights = scene.bullets(&bullets, most as u32, &EXACT).unwrap();
            let mut deepest = 0.0_f64;
            for (bullet, legs) in bullets.iter().zip(flights.iter()) {
                assert_eq!(legs.len(), most, "{name} on {}: {:?} ends with {:?}", device.name(), bullet, legs.last());
                let (mut at, mut flown) = (bullet.from.as_dvec3(), 0.0);
                for (i, leg) in legs.iter().enumerate() {
                    let what = format!("{name} on {}, {bullet:?} leg {i}: {leg:?}", device.name());
                    assert_eq!(leg.status, LegStatus::Hit, "{what}");
                    let speed = leg.velocity.as_dvec3().length() / f64::from(bullet.speed);
                    assert!((speed - 1.0).abs() < 1e-6, "{what}: {speed}");
                    let to = leg.point.as_dvec3();
                    assert!((to - middle).length() < 3.5 * f64::from(size), "{what}: left the room");
                    let wall = spheres[leg.id as usize];
                    let off = (to - wall.center.as_dvec3()).length() - f64::from(wall.radius);
                    assert!(off.abs() <= grid, "{what}: {off:e} from the surface");
                    deepest = spheres.iter().map(|ball| depth(ball, at, to)).fold(deepest, f64::max);
                    assert!(deepest <= 2.0 * grid, "{what}: {deepest:e} deep in a sphere, one rounding is {grid:e}");
                    flown += (to - at).length();
                    assert!((f64::from(leg.distance) - flown).abs() <= (i + 1) as f64 * grid, "{what}: {flown}");
                    assert!(steps(leg.frames, leg.distance / bullet.speed) <= 1, "{what}");
                    at = to;
                }
            }
            println!("{name} on {}: at most {:.2} roundings deep", device.name(), deepest / grid);
            // The flights are bit-identical on every device.
            assert!(begin_alike(&flights, &mut first), "{name} on {}", device.name());
        }
    }
}

/// Bullets aimed at the crease of two or three overlapping spheres. Rounding puts nearly every bullet that glances off one sphere into
/// another one, which must reflect it too.
#[test]
fn bullets_do_not_slip_through_creases_between_spheres() {
    let n = &mut Numbers(21);
    let (mut spheres, mut bullets) = (Vec::new(), Vec::new());
    for i in 0..1000 {
        // The groups of spheres are far apart, and each has its own bullet.
        let middle = Vec3::new((i % 10) as f32, (i / 10 % 10) as f32, (i / 100) as f32) * 160.0;
        let up = Vec3::from(n.vector()).normalize();
        let aside = up.cross(Vec3::from(n.vector())).normalize();
        let third = up.cross(aside);
        let (r, apart) = (1.0 + 3.0 * n.unit(), 0.2 + 0.7 * n.unit());
        let around = match i % 3 {
            // The two surfaces intersect in a circle; the bullet is aimed at its highest point.
            0 => vec![aside * apart, -aside * apart],
            // One sphere is much larger than the other.
            1 => vec![aside * 0.5 * apart - up * 0.5 * r, -aside * 8.0 * r],
            _ => [0.0_f32, 2.1, 4.2].map(|turn| (aside * turn.cos() + third * turn.sin()) * apart).to_vec(),
        };
        let balls: Vec<Sphere> = around.iter().map(|at| Sphere::new(middle + *at, r)).collect();
        let crease = match i % 3 {
            1 => {
                let big = Sphere::new(middle + around[1], around[1].length() - 0.3 * r);
                spheres.extend([balls[0], big]);
                on_both(&balls[0], &big, up)
            }
            2 => {
                spheres.extend(&balls);
                let away = apart * (1.0 - f64::from(f32::EPSILON)) as f32;
                (middle + up * (r * r - away * away).sqrt()).as_dvec3()
            }
            _ => {
                spheres.extend(&balls);
                on_both(&balls[0], &balls[1], up)
            }
        };
        let from = middle + up * 20.0 + aside * 4.0 * n.unit() + third * 4.0 * n.signed();
        bullets.push(Bullet::new(from, crease.as_vec3(), 1.0));
    }
    let grid = f64::from(f32::EPSILON) * 1600.0;
    for device in devices() {
        for scene in with_and_without_tree(device, &spheres) {
            let flights = scene.bullets(&bullets, 30, &EXACT).unwrap();
            let (mut twice, mut deepest) = (0, 0.0_f64);
            for (i, (bullet, legs)) in bullets.iter().zip(flights.iter()).enumerate() {
                let mut at = bullet.from.as_dvec3();
                let hits: Vec<&Leg> = legs.iter().filter(|leg| leg.is_hit()).collect();
                assert!(!hits.is_empty() && hits.len() < 30, "{} {i}: {bullet:?} {legs:?}", device.name());
                // The path after the last hit, for 30 frames.
                let last = hits[hits.len() - 1];
                let away = last.point.as_dvec3() + 30.0 * last.velocity.as_dvec3();
                for to in hits.iter().map(|leg| leg.point.as_dvec3()).chain([away]) {
                    let here = spheres.iter().filter(|ball| ball.center.as_dvec3().distance(at) < 150.0);
                    let depth = here.map(|ball| depth(ball, at, to)).fold(0.0, f64::max);
                    assert!(depth <= 4.0 * grid, "{} {i}: {depth:e} deep: {bullet:?} {legs:?}", device.name());
                    deepest = deepest.max(depth);
                    at = to;
                }
                twice += usize::from(hits.len() > 1 && hits[1].distance - hits[0].distance <= 2.0 * grid as f32);
            }
            println!(
                "{}: {twice} bullets were reflected twice in the crease, at most {:.2} roundings deep",
                device.name(),
                deepest / grid
            );
            assert!(twice > 250, "{twice}");
        }
    }
}

/// Returns the highest point of the circle in which two spheres intersect.
fn on_both(a: &Sphere, b: &Sphere, up: Vec3) -> DVec3 {
    let (p, q) = (a.center.as_dvec3(), b.center.as_dvec3());
    let (r, s, d) = (f64::from(a.radius), f64::from(b.radius), p.distance(q));
    let along = (d * d + r * r - s * s) / (2.0 * d);
    let axis = (q - p) / d;
    let across = (up.as_dvec3() - up.as_dvec3().dot(axis) * axis).normalize();
    p + along * axis + across * (r * r - along * along).sqrt()
}

/// Returns how deep a segment penetrates a sphere; negative if it passes outside.
pub(crate) fn depth(ball: &Sphere, from: DVec3, to: DVec3) -> f64 {
    let (way, away) = (to - from, ball.center.as_dvec3() - from);
    let share = (away.dot(way) / way.length_squared().max(1e-300)).clamp(0.0, 1.0);
    f64::from(ball.radius) - (away - share * way).length()
}
