//! Five published texts about ray–sphere intersection ("seeds" 000 to 004): their worked examples, and inputs on which their formulas
//! fail. They differ in how they treat tangency, origins inside and ends; the policies of a [`Query`] cover all five.
//! The file has more than 400 lines because each text is one test, with its own cases.

use std::f32::consts::{FRAC_PI_2, FRAC_PI_6};

use umbracast::glam::Vec3;
use umbracast::{
    Approach, Bullet, Device, Ends, Error, Hit, Inside, Leg, LegStatus, Precision, Query, Ray, Sphere, Touch,
};
use umbracast_testing::{Numbers, cpu, devices, scaled, steps};

fn exact(inside: Inside, touch: Touch, ends: Ends) -> Query {
    Query::at(Precision::Exact).inside(inside).touch(touch).ends(ends)
}

/// The `t` of the hit of each ray and its sphere, from the function for a single pair. Asserts that `closest`, `occluded` and
/// `interval` of the whole batch give the same bits on every device.
fn hit_times(pairs: &[(Ray, Sphere)], query: &Query) -> Vec<Option<f32>> {
    let (rays, spheres): (Vec<Ray>, Vec<Sphere>) = pairs.iter().copied().unzip();
    let alone: Vec<Option<Hit>> = pairs.iter().map(|(ray, sphere)| ray.hit(sphere, query)).collect();
    for device in devices() {
        let scene = device.pairwise(&spheres, &Default::default()).unwrap();
        let hits = scene.closest(&rays, query).unwrap();
        let occluded = scene.occluded(&rays, query).unwrap();
        let both = scene.interval(&rays, query).unwrap();
        for (i, expected) in alone.iter().enumerate() {
            let what = format!("{} {query:?} {:?}", device.name(), pairs[i]);
            assert_eq!(hits[i].is_hit().then_some(hits[i].t), expected.map(|hit| hit.t), "{what}");
            assert_eq!(occluded.get(i), Some(expected.is_some()), "{what}");
            let roots = both[i].is_hit().then_some((both[i].t_enter, both[i].t_exit));
            assert_eq!(roots, expected.and_then(|_| rays[i].roots(&spheres[i])), "{what}");
        }
    }
    alone.into_iter().map(|hit| hit.map(|hit| hit.t)).collect()
}

fn hit_time(ray: Ray, sphere: Sphere, query: &Query) -> Option<f32> {
    hit_times(&[(ray, sphere)], query)[0]
}

/// The closest approach. Asserts that it is the same on every device.
fn approach_of(ray: Ray, sphere: Sphere) -> Approach {
    let alone = ray.approach(&sphere).unwrap();
    for device in devices() {
        let scene = device.pairwise(&[sphere], &Default::default()).unwrap();
        let found = scene.approach(&[ray], &Query::at(Precision::Exact)).unwrap();
        assert_eq!(found[0], alone, "{} {ray:?} {sphere:?}", device.name());
    }
    alone
}

fn ray(origin: [f32; 3], direction: [f32; 3]) -> Ray {
    Ray::new(origin, direction)
}

fn ball(center: [f32; 3], radius: f32) -> Sphere {
    Sphere::new(center, radius)
}

const UNIT: Sphere = Sphere { center: Vec3::ZERO, radius: 1.0 };

fn near(found: Vec3, expected: [f32; 3], tolerance: f32) {
    assert!((found - Vec3::from(expected)).length() <= tolerance, "{found} for {expected:?}");
}

/// Points with integer coordinates at integer distances from the origin: starts that lie exactly on a sphere.
fn on_whole_spheres() -> Vec<(Vec3, f32)> {
    let mut points = Vec::new();
    for [x, y, z, r] in
        [[1, 2, 2, 3], [2, 3, 6, 7], [1, 4, 8, 9], [4, 4, 7, 9], [2, 6, 9, 11], [6, 6, 7, 11], [0, 3, 4, 5]]
    {
        for [a, b, c] in [[x, y, z], [y, z, x], [z, x, y]] {
            for sign in 0..8 {
                let flip = |v: i32, bit: i32| (if sign >> bit & 1 == 1 { -v } else { v }) as f32;
                points.push((Vec3::new(flip(a, 0), flip(b, 1), flip(c, 2)), r as f32));
            }
        }
    }
    points
}

/// Seed 000, the time of the hit: with a closed ball, at its first point, or at the start if that is inside. Tangency is a hit.
#[test]
fn seed_000_time_of_hit() {
    let query = exact(Inside::Enter, Touch::Hit, Ends::Closed);
    assert_eq!(query, Query::at(Precision::Exact), "these are the defaults");

    // The time and the point at that time.
    let along = ray([-3.0, 0.0, 0.0], [1.0, 0.0, 0.0]);
    assert_eq!(hit_time(along, UNIT, &query), Some(2.0));
    assert_eq!(along.point_at(2.0), Vec3::new(-1.0, 0.0, 0.0));

    // A direction of any length: t is in units of it.
    assert_eq!(hit_time(ray([-3.0, 0.0, 0.0], [2.0, 0.0, 0.0]), UNIT, &query), Some(1.0));
    assert_eq!(hit_time(ray([-3.0, 0.0, 0.0], [0.25, 0.0, 0.0]), UNIT, &query), Some(8.0));

    // From inside, the time is 0 for every direction.
    assert_eq!(hit_time(ray([0.0; 3], [1.0, 0.0, 0.0]), UNIT, &query), Some(0.0));
    assert_eq!(hit_time(ray([0.5, 0.0, 0.0], [1.0, 0.0, 0.0]), UNIT, &query), Some(0.0));
    assert_eq!(hit_time(ray([0.5, 0.25, 0.0], [-1.0, 0.0, 3.0]), UNIT, &query), Some(0.0));

    // A sphere behind has two negative roots and is a miss: roots are not clamped to a hit at 0.
    let behind = ray([3.0, 0.0, 0.0], [1.0, 0.0, 0.0]);
    assert_eq!(behind.roots(&UNIT), Some((-4.0, -2.0)));
    assert_eq!(hit_time(behind, UNIT, &query), None);

    // On the surface and leaving, the closed ball is hit at 0. A small t_min avoids that.
    let leaving = ray([1.0, 0.0, 0.0], [1.0, 0.0, 0.0]);
    assert_eq!(leaving.roots(&UNIT), Some((-2.0, 0.0)));
    assert_eq!(hit_time(leaving, UNIT, &query), Some(0.0));
    assert_eq!(hit_time(leaving.between(1e-6, f32::INFINITY), UNIT, &query), None);

    // Tangency: the two roots are equal.
    let tangent = ray([-3.0, 1.0, 0.0], [1.0, 0.0, 0.0]);
    assert_eq!(tangent.roots(&UNIT), Some((3.0, 3.0)));
    assert_eq!(hit_time(tangent, UNIT, &query), Some(3.0));

    // A ray that misses a unit sphere 10⁴ away by half its radius. In f32 b² − c is 0, which would be a hit at 10000. It is a miss at
    // every precision.
    let (b, c) = (1e4f32, 1.5 * 1.5 + 1e8f32 - 1.0);
    assert_eq!(b * b - c, 0.0);
    let (past, far) = (ray([1.5, 0.0, 0.0], [0.0, 0.0, 1.0]), ball([0.0, 0.0, 1e4], 1.0));
    for precision in Precision::ALL {
        assert_eq!(past.hit(&far, &Query::at(precision)), None, "{precision:?}");
        for device in devices() {
            let scene = device.pairwise(&[far], &Default::default()).unwrap();
            let hits = scene.closest(&[past], &Query::at(precision)).unwrap();
            assert_eq!(hits[0], Hit::MISS, "{} {precision:?}", device.name());
        }
    }
    assert_eq!(approach_of(past, far), Approach { t: 1e4, clearance: 0.5, id: 0 });

    // Two metres above a planet, down a slope of 4 in 3: −b − √D cancels to an error of several per cent; t is 0.5.
    let down = ray([0.0, 2.0, 0.0], [3.0, -4.0, 0.0]);
    let t = hit_time(down, ball([0.0, -6.4e6, 0.0], 6.4e6), &query).unwrap();
    assert_eq!(t, 0.500_000_043_958_425_6f64 as f32);
}

/// The first leg of a bullet. Asserts that it is the same on every device.
fn bullet(from: [f32; 3], to: [f32; 3], speed: f32, sphere: Sphere) -> Leg {
    let leg_on = |device: &Device| {
        let scene = device.scene(&[sphere], &Default::default()).unwrap();
        scene.bullets(&[Bullet::new(from, to, speed)], 1, &Query::at(Precision::Exact)).unwrap().records[0]
    };
    let leg = leg_on(&cpu());
    for device in devices() {
        assert_eq!(format!("{:?}", leg_on(device)), format!("{leg:?}"), "{}", device.name());
    }
    leg
}

/// Seed 001, the bullet: the first root that is not negative, only from outside. Tangency is a hit.
#[test]
fn seed_001_bullet() {
    // The example of the text: from the origin towards (4, 4, 4), speed 3, a sphere of radius 4 at (4, 4, 0).
    let sphere = ball([4.0, 4.0, 0.0], 4.0);
    let found = bullet([0.0; 3], [4.0; 3], 3.0, sphere);
    assert!(steps(found.distance, (4.0 / 3f64.sqrt()) as f32) <= 2, "{found:?}");
    assert!((found.frames - 0.769_800_4).abs() < 2e-7, "{found:?}");
    near(found.point, [4.0 / 3.0; 3], 5e-7);
    assert!((found.grazing_rad - 0.615_479_7).abs() < 3e-7, "{found:?}");
    assert!((found.grazing_rad.to_degrees() - 35.264_4).abs() < 1e-4);
    near(found.velocity, [-0.577_350_27, -0.577_350_27, 2.886_751_3], 2e-6);
    let path = ray([0.0; 3], [4.0; 3]);
    let hit = path.hit(&sphere, &Query::at(Precision::Exact)).unwrap();
    near(-hit.normal(&path, &sphere), [2.0 / 3.0, 2.0 / 3.0, -1.0 / 3.0], 2e-7);
    // U·T = 1/√3 is the sine of the angle to the tangent plane.
    assert!((found.grazing_rad.sin() - 1.0 / 3f32.sqrt()).abs() < 2e-7);
    let (_, far) = path.roots(&sphere).unwrap();
    assert!((far * path.direction.length() - 6.928_203).abs() < 1e-6);

    // Head on, the bullet is reflected back and the angle is 90°, also if U·T rounds to more than 1, which must not become NaN.
    let mut numbers = Numbers(1);
    for _ in 0..200 {
        let start = Vec3::from(numbers.vector()) * 9.0 + Vec3::new(30.0, 0.0, 0.0);
        let found = bullet(start.to_array(), [1.0, 2.0, 3.0], 5.0, ball([1.0, 2.0, 3.0], 1.5));
        // 1 − cos x is x²/2: half an ulp of the sine is 3.5e-4 rad of angle.
        assert!((found.grazing_rad - FRAC_PI_2).abs() < 7e-4, "{found:?}");
        let back = (start - Vec3::new(1.0, 2.0, 3.0)).normalize() * 5.0;
        assert!((found.velocity - back).length() < 5e-6, "{found:?} {back}");
    }

    // A bullet does not fly backwards, and one that starts inside has no ricochet.
    assert_eq!(bullet([0.0; 3], [-4.0; 3], 3.0, sphere).status, LegStatus::Miss);
    assert_eq!(bullet([3.0, 3.0, 0.0], [9.0, 9.0, 0.0], 3.0, sphere).status, LegStatus::StartedInside);
    assert!(sphere.contains([3.0, 3.0, 0.0]));

    // A grazing hit does not change the velocity.
    let found = bullet([-5.0, 4.0, 0.0], [0.0, 4.0, 0.0], 2.0, ball([0.0; 3], 4.0));
    assert_eq!((found.distance, found.frames, found.grazing_rad), (5.0, 2.5, 0.0));
    assert_eq!((found.point, found.velocity), (Vec3::new(0.0, 4.0, 0.0), Vec3::new(2.0, 0.0, 0.0)));

    // Half a radius off the centre: 30° to the normal, so 60° to the tangent plane.
    let found = bullet([-5.0, 2.0, 0.0], [0.0, 2.0, 0.0], 1.0, ball([0.0; 3], 4.0));
    assert!((found.grazing_rad - 2.0 * FRAC_PI_6).abs() < 3e-7, "{found:?}");

    // (a − b)² computed as a² − 2ab + b² in f32: for 10001 and 10000, which are 1 apart, it is 0; for 4097.25 and 4096, which are 1.25
    // apart, it is 2 instead of 1.5625.
    for (center, at, apart, expanded) in [(10001.0f32, 1e4f32, 1.0f32, 0.0), (4097.25, 4096.0, 1.25, 2.0)] {
        assert_eq!(center * center - 2.0 * center * at + at * at, expanded);
        let path = ray([at, 0.0, 0.0], [0.0, 1.0, 0.0]);
        for (radius, expected) in [(apart - 0.125, false), (apart, true), (apart + 0.125, true)] {
            let query = exact(Inside::Ignore, Touch::Hit, Ends::Closed);
            let sphere = ball([center, 5.0, 0.0], radius);
            assert_eq!(hit_time(path, sphere, &query).is_some(), expected, "{center} {radius}");
            assert_eq!(approach_of(path, sphere).clearance, apart - radius);
        }
    }

    // From a point on the surface inwards, the distance is 0. With roots in f32, a third of such starts report the far side.
    let mut inward = Vec::new();
    for (start, radius) in on_whole_spheres() {
        for shift in [Vec3::ZERO, Vec3::new(1000.0, -37.0, 512.5)] {
            let mut direction = Vec3::from(numbers.vector());
            if direction.dot(start) > 0.0 {
                direction = -direction;
            }
            inward.push((Ray::new(start + shift, direction), Sphere::new(shift, radius)));
        }
    }
    assert_eq!(inward.len(), 336);
    let found = hit_times(&inward, &exact(Inside::Ignore, Touch::Hit, Ends::Closed));
    assert!(found.iter().all(|t| *t == Some(0.0)), "{found:?}");
    // Outwards, there is no hit: the sphere that the bullet starts on is ignored.
    let outward: Vec<_> = inward.iter().map(|(ray, sphere)| (Ray::new(ray.origin, -ray.direction), *sphere)).collect();
    assert!(hit_times(&outward, &exact(Inside::Ignore, Touch::Hit, Ends::Closed)).iter().all(Option::is_none));
}

/// Seed 002, the geometric solution and its table of seven rows: from inside, the exit is reported. Tangency is a hit.
#[test]
fn seed_002_geometric() {
    let query = exact(Inside::Exit, Touch::Hit, Ends::Closed);
    // The directions are as printed, not of unit length; t is in units of them. Rows 2 and 4 are exactly tangent.
    let row = |o, d, c, expected, roots| (Ray::new(o, d), Sphere::new(c, 2.0), expected, roots);
    let (left, right) = ([-2.0f32, 1.0, 0.0], [2.0f32, 0.0, 0.0]);
    let root_3 = 3f64.sqrt();
    let table: [(Ray, Sphere, bool, Option<[f64; 2]>); 7] = [
        row(left, right, right, true, Some([2.0 - root_3 / 2.0, 2.0 + root_3 / 2.0])),
        row([-2.0, 0.0, 0.0], right, [2.0, 2.0, 0.0], true, Some([2.0, 2.0])),
        row([-2.0, 0.0, 0.0], right, [0.0; 3], true, Some([0.0, 2.0])),
        row([-2.0, 2.0, 0.0], [2.0, -1.0, 2.0], [0.0; 3], true, Some([2.0 / 3.0, 2.0 / 3.0])),
        row([2.0, 1.0, 0.0], right, right, true, Some([-root_3 / 2.0, root_3 / 2.0])),
        row(left, [-1.0, 0.0, 0.0], right, false, Some([-4.0 - root_3, -4.0 + root_3])),
        row([-5.0, 1.0, 0.0], [2.0, 0.4, 0.0], right, false, None),
    ];
    assert_eq!(table.map(|row| row.2), [true, true, true, true, true, false, false]);
    // To seven digits: 1.133975 and 2.866025, −0.866025 and 0.866025, −5.732051 and −2.267949.
    let pairs = table.map(|(ray, sphere, ..)| (ray, sphere));
    let found = hit_times(&pairs, &query);
    for (i, ((ray, sphere, expected, roots), t)) in table.iter().zip(&found).enumerate() {
        assert_eq!(t.is_some(), *expected, "row {}", i + 1);
        assert_eq!(ray.roots(sphere), roots.map(|[t0, t1]| (t0 as f32, t1 as f32)), "row {}", i + 1);
        let first = roots.and_then(|roots| roots.into_iter().find(|t| *t >= 0.0));
        assert_eq!(*t, first.map(|t| t as f32), "row {}", i + 1);
    }
    // The text writes −1 for "no collision".
    let written: Vec<f32> = found.iter().map(|t| t.unwrap_or(-1.0)).collect();
    assert_eq!(written, [1.133_974_6, 2.0, 0.0, 2.0 / 3.0, 0.866_025_4, -1.0, -1.0]);

    // The points of the hits, on the sphere to within a rounding.
    let points = [
        [0.267_949_2, 1.0, 0.0],
        [2.0, 0.0, 0.0],
        [-2.0, 0.0, 0.0],
        [-2.0 / 3.0, 4.0 / 3.0, 4.0 / 3.0],
        [3.732_051, 1.0, 0.0],
    ];
    for ((ray, sphere), point) in pairs.iter().zip(points) {
        let hit = ray.hit(sphere, &query).unwrap();
        near(hit.point(ray, sphere), point, 3e-7);
        near(ray.point_at(hit.t), point, 3e-7);
    }
    // In the two tangent rows, a single rounding decides between hit and miss. With radii of 2.1 or 1.9 the answer is clear.
    for (i, roots) in [(1, (1.679_843_8, 2.320_156)), (3, (0.453_229_2, 0.880_104_1))] {
        let (ray, sphere) = (pairs[i].0, Sphere { radius: 2.1, ..pairs[i].1 });
        let (enter, exit) = ray.roots(&sphere).unwrap();
        assert!((enter - roots.0).abs() < 1e-6 && (exit - roots.1).abs() < 1e-6, "{enter} {exit}");
        assert_eq!(hit_time(ray, sphere, &query), Some(enter));
        assert_eq!(hit_time(ray, Sphere { radius: 1.9, ..sphere }, &query), None);
    }
    // With `Touch::Miss`, the two tangent rows are misses.
    let without = hit_times(&pairs, &query.touch(Touch::Miss));
    assert_eq!(without.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, true, false, true, false, false]);

    // Rays through the centre, from any direction: |e|² − a² rounds below 0 for a third of unit directions, and its square root is NaN.
    let mut numbers = Numbers(2);
    let aimed: Vec<(Ray, Sphere)> = (0..scaled(500))
        .map(|_| {
            let direction = Vec3::from(numbers.vector()).normalize_or(Vec3::X);
            (Ray::new(-8.0 * direction, direction), UNIT)
        })
        .collect();
    for t in hit_times(&aimed, &query) {
        assert!((t.unwrap() - 7.0).abs() < 2e-6, "{t:?}");
    }
    // The text treats a start on the surface as outside: 0 for entering rays, a miss for leaving ones. For a closed ball both are 0.
    assert_eq!(hit_time(ray([-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]), UNIT, &query), Some(0.0));
    assert_eq!(hit_time(ray([1.0, 0.0, 0.0], [1.0, 0.0, 0.0]), UNIT, &query), Some(0.0));
}

/// Seed 003, whether a point is in a sphere and whether a segment hits it; from inside it does. Its open ball is `Touch::Miss`.
#[test]
fn seed_003_point_and_segment() {
    let closed = exact(Inside::Enter, Touch::Hit, Ends::Closed);
    let open = closed.touch(Touch::Miss);
    let meets = |ray: Ray, sphere: Sphere, query: &Query| hit_time(ray, sphere, query).is_some();

    // Point in sphere: the closed ball, decided exactly.
    let sphere = ball([1.0, 2.0, 3.0], 3.0);
    assert!(sphere.contains([1.0, 2.0, 3.0]) && sphere.contains([2.0, 4.0, 5.0]));
    assert!(!sphere.contains([2.0, 4.0, 5.000_000_5]) && sphere.contains([2.0, 4.0, 4.999_999_5]));

    // A segment ends at its end point: (0,0,0)–(1,0,0) does not reach a unit sphere at 5, its line does.
    let (short, five) = (Ray::segment([0.0; 3], [1.0, 0.0, 0.0]), ball([5.0, 0.0, 0.0], 1.0));
    assert!(!meets(short, five, &closed));
    assert_eq!(hit_time(Ray::new([0.0; 3], [1.0, 0.0, 0.0]), five, &closed), Some(4.0));
    assert_eq!(approach_of(short, five), Approach { t: 1.0, clearance: 3.0, id: 0 });
    // The end point belongs to the segment, unless ends are half-open.
    let touching = Ray::segment([0.0; 3], [4.0, 0.0, 0.0]);
    assert_eq!(hit_time(touching, five, &closed), Some(1.0));
    assert!(!meets(touching, five, &closed.ends(Ends::HalfOpen)));
    assert!(!meets(Ray::segment([0.0; 3], [3.999_999_8, 0.0, 0.0]), five, &closed));
    // A segment does not extend backwards either.
    assert!(!meets(Ray::segment([7.0, 0.0, 0.0], [9.0, 0.0, 0.0]), five, &closed));

    // The text's projection assumes a unit direction: with length 2 the projected point is twice as far away, a miss. The hit is at 4.5.
    let ten = ball([10.0, 0.0, 0.0], 1.0);
    assert_eq!(hit_time(ray([0.0; 3], [2.0, 0.0, 0.0]), ten, &closed), Some(4.5));
    assert_eq!(approach_of(ray([0.0; 3], [2.0, 0.0, 0.0]), ten).t, 5.0);

    // A start inside is a hit for every direction, also if the whole segment is inside. Then the surface is not hit.
    let within = Ray::segment([4.5, 0.0, 0.0], [5.5, 0.25, 0.0]);
    assert!(meets(within, five, &closed) && meets(within, five, &open));
    assert!(!meets(within, five, &closed.inside(Inside::Exit)));
    assert!(meets(ray([5.5, 0.0, 0.0], [1.0, 0.0, 0.0]), five, &open));

    // Tangency: a hit of the closed ball and a miss of the open one, also if the ray starts at the point of tangency.
    for tangent in [ray([0.0, 1.0, 0.0], [1.0, 0.0, 0.0]), ray([5.0, 1.0, 0.0], [0.0, 0.0, 2.0])] {
        assert!(meets(tangent, five, &closed) && !meets(tangent, five, &open));
    }
    // One f32 below and one above the tangent, the policies agree.
    assert!(meets(ray([0.0, 1.0f32.next_down(), 0.0], [1.0, 0.0, 0.0]), five, &open));
    assert!(!meets(ray([0.0, 1.0f32.next_up(), 0.0], [1.0, 0.0, 0.0]), five, &closed));

    // On the surface: an entering ray hits both balls. A leaving ray hits the closed ball at 0, and misses with `Inside::Ignore`.
    assert_eq!(hit_time(ray([4.0, 0.0, 0.0], [1.0, 0.0, 0.0]), five, &open), Some(0.0));
    let leaving = ray([6.0, 0.0, 0.0], [1.0, 0.0, 0.0]);
    assert_eq!(hit_time(leaving, five, &closed), Some(0.0));
    assert!(!meets(leaving, five, &open.inside(Inside::Ignore)));
    // Outside and pointing away: a miss.
    assert!(!meets(ray([7.0, 0.0, 0.0], [1.0, 0.0, 0.0]), five, &closed));
}

/// Seed 004, jHitSphere, for bullets within a frame and stars behind planets: half-open time, a solid ball, and tangency is a miss.
#[test]
fn seed_004_half_open_time() {
    let query = exact(Inside::Enter, Touch::Miss, Ends::HalfOpen);
    let blocked = |ray: Ray, query: &Query| hit_time(ray, UNIT, query).is_some();
    let coming = ray([-3.0, 0.0, 0.0], [1.0, 0.0, 0.0]);
    let frame = |from: f32, to: f32| coming.between(from, to);

    // A hit within the frame, and one after it. A hit at exactly dt belongs to the next frame, which finds it at its start.
    assert!(blocked(frame(0.0, 2.5), &query));
    assert!(!blocked(frame(0.0, 1.5), &query));
    assert!(!blocked(frame(0.0, 2.0), &query));
    assert!(blocked(frame(0.0, 2.0f32.next_up()), &query));
    assert_eq!(hit_time(frame(2.0, 4.0), UNIT, &query), Some(2.0));
    assert_eq!(hit_time(ray([-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]).between(0.0, 2.0), UNIT, &query), Some(0.0));
    // With closed ends, both frames find it.
    assert_eq!(hit_time(frame(0.0, 2.0), UNIT, &query.ends(Ends::Closed)), Some(2.0));
    // A half-open frame of length 0 is empty; a closed one is a point.
    assert!(!blocked(frame(3.0, 3.0), &query));
    assert_eq!(hit_time(frame(3.0, 3.0), UNIT, &query.ends(Ends::Closed)), Some(3.0));

    // Over consecutive frames, the entry is found in exactly one, also if it lies on a frame boundary.
    let mut numbers = Numbers(4);
    let once = exact(Inside::Ignore, Touch::Miss, Ends::HalfOpen);
    let mut steps = Vec::new();
    for _ in 0..scaled(40) {
        let path = Ray::new([-3.0, 0.9 * numbers.signed(), 0.0], [1.0, 0.0, 0.0]);
        let (enter, _) = path.roots(&UNIT).unwrap();
        let mut ends = [0.0, 1.0, enter.next_down(), enter, enter.next_up(), 3.5, 8.0];
        ends.sort_by(f32::total_cmp);
        steps.extend(ends.windows(2).map(|pair| (path.between(pair[0], pair[1]), UNIT)));
    }
    let found = hit_times(&steps, &once);
    for (frames, steps) in found.chunks(6).zip(steps.chunks(6)) {
        assert_eq!(frames.iter().flatten().count(), 1, "{frames:?} {steps:?}");
    }

    // Overlap with the solid ball: from inside, and with a frame that lies wholly inside; a frame after the exit misses.
    assert_eq!(hit_time(ray([0.5, 0.0, 0.0], [1.0, 0.0, 0.0]).between(0.0, 0.25), UNIT, &query), Some(0.0));
    assert_eq!(hit_time(frame(2.5, 3.0), UNIT, &query), Some(2.5));
    assert!(!blocked(frame(4.5, 9.0), &query));
    // The lower end is closed: an exit root of 0 is a hit.
    assert_eq!(hit_time(ray([1.0, 0.0, 0.0], [1.0, 0.0, 0.0]).between(0.0, 1.0), UNIT, &query), Some(0.0));

    // The text rejects D ≤ 0: tangency is a miss.
    let tangent = ray([-3.0, 1.0, 0.0], [1.0, 0.0, 0.0]);
    assert!(!blocked(tangent, &query) && blocked(tangent, &query.touch(Touch::Hit)));

    // Squares outside f32's range: |d|² underflows for |d| = 1e-25 (a miss in f32) and overflows for |d| = 1e20 (NaN).
    let (slow, fast) = (ray([-3.0, 0.0, 0.0], [1e-25, 0.0, 0.0]), ray([-3.0, 0.0, 0.0], [1e20, 0.0, 0.0]));
    assert_eq!((3e-25f32 * 3e-25, 1e20f32 * 1e20), (0.0, f32::INFINITY));
    for (path, truth) in [(slow, 2e25f32), (fast, 2e-20)] {
        let t = hit_time(path, UNIT, &query).unwrap();
        assert!(umbracast_testing::steps(t, truth) <= 1, "{t}");
        for precision in Precision::ALL {
            for device in devices() {
                let scene = device.pairwise(&[UNIT], &Default::default()).unwrap();
                let hits = scene.closest(&[path], &query.precision(precision)).unwrap();
                assert!(
                    umbracast_testing::steps(hits[0].t, truth) <= 64,
                    "{} {precision:?} {:?}",
                    device.name(),
                    hits[0]
                );
            }
        }
    }

    // A zero direction is refused with an error that names the field. `contains` still answers whether the start is inside.
    let still = ray([0.5, 0.0, 0.0], [0.0; 3]);
    assert!(matches!(still.check(), Err(Error::BadRecord { what: "ray", field: "direction", .. })));
    assert!(still.hit(&UNIT, &query).is_none() && UNIT.contains(still.origin));

    // The closest approach is at the mean of the roots, and is defined also if there are no roots.
    let (enter, exit) = coming.roots(&UNIT).unwrap();
    assert_eq!(approach_of(coming, UNIT), Approach { t: (enter + exit) / 2.0, clearance: -1.0, id: 0 });
    let wide = ray([-3.0, 4.0, 0.0], [0.5, 0.0, 0.0]);
    assert_eq!(wide.roots(&UNIT), None);
    assert_eq!(approach_of(wide, UNIT), Approach { t: 6.0, clearance: 3.0, id: 0 });
}
