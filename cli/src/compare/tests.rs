//! Tests of the differences that `--compare` allows and rejects.

use umbracast::glam::Vec3;
use umbracast::{Approach, Device, DeviceOptions, Hit, Interval, SceneOptions};

use super::*;
use crate::bench::numbers::Numbers;

const SPHERES: [f32; 2] = [4.0, 8.0];

fn spheres() -> Vec<Sphere> {
    SPHERES.map(|x| Sphere::new([x, 0.0, 0.0], 1.0)).to_vec()
}

/// Input of rays and spheres at rest.
fn at_rest<'a>(spheres: &'a [Sphere], rays: &'a [Ray], query: &'a Query) -> Input<'a> {
    Input { spheres, held: None, rays, first: 0, query, pairwise: false, optional: None }
}

/// Compares results of equal rays at height `y`; with 0 they pass through the centres of both spheres.
fn compare<T: Comparable>(precision: Precision, y: f32, t_max: f32, found: &[T], expected: &[T]) -> Option<String> {
    let rays = vec![Ray::new([0.0, y, 0.0], [1.0, 0.0, 0.0]).between(0.0, t_max); found.len()];
    let query = Query::at(precision);
    broken(&at_rest(&spheres(), &rays, &query).compare(found, expected), precision)
}

fn hit(t: f32, id: u32) -> Hit {
    Hit { t, id }
}

const FAR: f32 = f32::INFINITY;

#[test]
fn equal_results_have_no_differences() {
    for precision in Precision::ALL {
        assert_eq!(compare(precision, 0.0, FAR, &[hit(3.0, 0), Hit::MISS], &[hit(3.0, 0), Hit::MISS]), None);
    }
}

#[test]
fn exact_allows_no_difference_and_standard_allows_those_within_the_bounds() {
    let (found, expected) = ([hit(3.0_f32.next_up(), 0)], [hit(3.0, 0)]);
    assert!(compare(Precision::Exact, 0.0, FAR, &found, &expected).is_some_and(|w| w.contains("1 ulp, at ray 0")));
    assert_eq!(compare(Precision::Standard, 0.0, FAR, &found, &expected), None);
    assert_eq!(compare(Precision::Fast, 0.0, FAR, &found, &expected), None);
}

#[test]
fn a_slightly_scaled_half_chord_exceeds_the_bounds() {
    let (found, expected) = ([hit(4.0 - 1.0001, 0)], [hit(3.0, 0)]);
    for precision in Precision::ALL {
        assert!(compare(precision, 0.0, FAR, &found, &expected).is_some_and(|w| w.contains("the error bounds")));
    }
    let (found, expected) =
        (Interval { t_enter: 3.0, t_exit: 5.0001, id: 0 }, Interval { t_enter: 3.0, t_exit: 5.0, id: 0 });
    assert!(compare(Precision::Standard, 0.0, FAR, &[found], &[expected]).is_some());
    let (found, expected) =
        (Approach { t: 4.0, clearance: -1.0, id: 0 }, Approach { t: 4.001, clearance: -1.0, id: 0 });
    assert!(compare(Precision::Standard, 0.0, FAR, &[found], &[expected]).is_some());
}

#[test]
fn a_few_hit_flags_may_differ_at_standard() {
    let expected = vec![hit(3.0, 0); 100];
    for (wrong, breaks) in [(3, false), (4, true)] {
        let mut found = expected.clone();
        found[..wrong].fill(Hit::MISS);
        assert_eq!(compare(Precision::Standard, 0.0, FAR, &found, &expected).is_some(), breaks);
        assert!(compare(Precision::Fast, 0.0, FAR, &found, &expected).is_some(), "no tangent: outside the band");
        // An end of the ray on the root explains any number of differences, except at `exact`.
        assert_eq!(compare(Precision::Standard, 0.0, 3.0, &found, &expected), None);
        assert!(compare(Precision::Exact, 0.0, 3.0, &found, &expected).is_some());
        // Tangency explains any number of differences at `fast`.
        assert_eq!(compare(Precision::Fast, 1.0, FAR, &found, &vec![hit(4.0, 0); 100]), None);
    }
}

#[test]
fn different_ids_need_equal_t_within_the_bounds() {
    let near = [hit(3.0, 0), hit(3.0, 1)];
    assert_eq!(compare(Precision::Standard, 0.0, FAR, &near[..1], &near[1..]), None);
    let far = [hit(3.0, 0), hit(7.0, 1)];
    assert!(compare(Precision::Standard, 0.0, FAR, &far[..1], &far[1..]).is_some_and(|w| w.contains("1 ids")));
    // If a tangent sphere is missed and the next one is hit, a flag differs.
    let tangent = [hit(4.0, 0), hit(8.0, 1)];
    assert_eq!(compare(Precision::Fast, 1.0, FAR, &tangent[..1], &tangent[1..]), None);
}

#[test]
fn a_sphere_that_only_one_list_has_room_for_is_no_difference() {
    let (spheres, query) = (spheres(), Query::at(Precision::Standard));
    let ray = Ray::new([0.0; 3], [1.0, 0.0, 0.0]).between(5.0, FAR);
    let at_start = [Interval { t_enter: 3.0, t_exit: 5.0, id: 0 }];
    let next = [Interval { t_enter: 7.0, t_exit: 9.0, id: 1 }];
    // The rays start where they leave the first sphere, which may be missed. Then the next one takes its place in a list of one.
    for (found, expected) in [(&at_start, &next), (&next, &at_start)] {
        for (most, breaks) in [(Some(1), false), (Some(2), true), (None, true)] {
            let mut c = Comparison { rays: 1, ..Comparison::default() };
            let rays = vec![ray; 4];
            for number in 0..4 {
                at_rest(&spheres, &rays, &query).compare_list(&mut c, number, &rays[0], found, expected, most);
            }
            assert_eq!(broken(&c, Precision::Standard).is_some(), breaks, "{most:?}: {c:?}");
        }
    }
}

#[test]
fn occlusion_bits_are_compared_one_by_one() {
    let rays = vec![Ray::new([0.0, 0.0, 0.0], [1.0, 0.0, 0.0]); 40];
    let query = Query::at(Precision::Standard);
    let spheres = spheres();
    let input = at_rest(&spheres, &rays, &query);
    let bits = |low: u8| -> Vec<bool> { (0..40).map(|i| i < 32 || low >> (i - 32) & 1 == 1).collect() };
    let c = input.compare_equal(&bits(0b1100_0011), &bits(0b1111_1111));
    assert_eq!((c.flags_differ, c.flags_at_ends, c.flags_grazing), (4, 0, 0));
    assert!(broken(&c, Precision::Standard).is_some_and(|w| w.contains("4 of 40 rays differ in hit or miss")));
}

#[test]
fn differences_of_chunks_add_up_and_keep_ray_ids() {
    let spheres = spheres();
    let rays = [Ray::new([0.0; 3], [1.0, 0.0, 0.0]); 4];
    let (found, expected) = ([hit(3.0, 0), hit(2.0, 0), hit(3.5, 0), Hit::MISS], [hit(3.0, 0); 4]);
    let query = Query::at(Precision::Standard);
    let part = |first: usize, end: usize| {
        let rays = &rays[first..end];
        Input { first: first as u64, ..at_rest(&spheres, rays, &query) }
            .compare(&found[first..end], &expected[first..end])
    };
    let whole = part(0, 4);
    assert_eq!((whole.not_identical, whole.flags_differ, whole.worst_ray), (3, 1, Some(1)));
    for cut in 0..=4 {
        let mut sum = part(0, cut);
        sum += part(cut, 4);
        assert_eq!(serde_json::to_string(&sum).unwrap(), serde_json::to_string(&whole).unwrap(), "{cut}");
    }
    // Pairwise: the number of the ray is the id of its only sphere.
    let input = Input { first: 1, pairwise: true, ..at_rest(&spheres, &rays[..1], &query) };
    let at_end = Ray::new([0.0; 3], [1.0, 0.0, 0.0]).between(0.0, 7.0);
    let c = Input { rays: &[at_end], ..input }.compare_equal(&[true], &[false]);
    assert_eq!((c.flags_differ, c.flags_at_ends), (1, 1), "the end lies on the second sphere");
}

/// Of a ray that starts on a surface only the other root is an end, and it does not depend on which side of the surface the start is.
#[test]
fn rays_that_start_on_a_surface_have_its_roots() {
    let spheres = [Sphere::new([0.0; 3], 1.0)];
    let query = Query::at(Precision::Standard);
    let flags = |start: f32, t_max: f32, from: u32| {
        let rays = [Ray::new([start, 0.0, 0.0], [-1.0, 0.0, 0.0]).between(0.0, t_max)];
        let mut optional = OptionalColumns::default();
        optional.from_ids = Some(vec![from]);
        let input = Input { optional: Some((&optional, 0)), ..at_rest(&spheres, &rays, &query) };
        let c = input.compare_equal(&[true], &[false]);
        (c.flags_differ, c.flags_at_ends)
    };
    // The line leaves the sphere at 2.0005, and the ray at 2.001.
    assert_eq!([2.001, 2.0005, 1.0].map(|t_max| flags(1.0005, t_max, 0)), [(1, 1), (1, 0), (1, 0)]);
    assert_eq!([2.001, 2.0005, 1.0].map(|t_max| flags(1.0005, t_max, umbracast::NO_SPHERE)), [(1, 0), (1, 1), (1, 0)]);
}

#[test]
fn the_nearest_pass_of_a_ray_that_begins_far_away_has_the_bound_of_its_distance() {
    let spheres = [Sphere::new([1.0, 0.0, 0.0], 1.0)];
    let rays = [Ray::new([0.0; 3], [1.0, 0.0, 0.0]).between(1000.0, FAR)];
    let query = Query::at(Precision::Standard);
    let beyond = |ulps: f32| {
        let pass = |clearance: f32| Approach { t: 1000.0, clearance, id: 0 };
        let found = [pass(998.0 + ulps * 2.0_f32.powi(-14))];
        at_rest(&spheres, &rays, &query).compare(&found, &[pass(998.0)]).beyond_bounds
    };
    // The sum of both bounds is 16 u (1 + 1000 + 1): 15.7 ulp.
    assert_eq!([2.0, 15.0, 17.0].map(beyond), [0, 0, 1]);
}

/// The bounds are those of the actual pair: the sphere at its position at the time, with the radius of the ray added.
#[test]
fn moving_pairs_have_bounds_of_the_actual_positions() {
    let spheres = [Sphere::new([1000.0, -24.75, 0.0], 1.0)];
    let mut held = OptionalColumns::default();
    held.velocities = Some(vec![Vec3::new(-10.0, 0.25, 0.0)]);
    let along = |y: f32| [Ray::new([0.0, y, 0.0], [1.0, 0.0, 0.0]).between(0.0, 200.0)];
    let query = Query::at(Precision::Standard);
    let optional = |time: f32, radius: f32| {
        let mut optional = OptionalColumns::default();
        (optional.times, optional.radii) = (Some(vec![9.0, time]), Some(vec![9.0, radius]));
        optional
    };
    let of = |y: f32, optional: &OptionalColumns, query: &Query, t: f32, off: f32| {
        let rays = along(y);
        let (held, optional) = (Some(&held), Some((optional, 1)));
        let input = Input { first: 7, held, optional, ..at_rest(&spheres, &rays, query) };
        broken(&input.compare(&[hit(t + off, 0)], &[hit(t, 0)]), query.precision).is_some()
    };
    // At time 99 the sphere is at (10, 0). At time 0 the ray misses it, and the bound is infinite.
    assert!(of(0.0, &optional(99.0, 0.0), &query, 9.0, 1e-4) && !of(0.0, &optional(99.0, 0.0), &query, 9.0, 2e-6));
    assert!(!of(0.0, &optional(0.0, 0.0), &query, 9.0, 1e-4));
    // A ray that grazes with its radius does not graze without it.
    let aside = along(1.5_f32.next_up());
    let fast = Query::at(Precision::Fast);
    let flags = |radius: f32| {
        let optional = optional(99.0, radius);
        let (held, optional) = (Some(&held), Some((&optional, 1)));
        Input { first: 7, held, optional, ..at_rest(&spheres, &aside, &fast) }
            .compare(&[hit(10.0, 0)], &[Hit::MISS])
            .flags_grazing
    };
    assert_eq!([flags(0.0), flags(0.5), flags(0.75)], [0, 1, 0]);
    // The ray has the relative velocity (11, -0.25). The ray would miss the sphere at its position at the start.
    let (with, none) = (query.motion(Motion::WithRay), optional(0.0, 0.0));
    assert!(of(-2.0, &none, &with, 90.0, 1e-3) && !of(-2.0, &none, &with, 90.0, 2e-5));
}

/// Reads ellipsoids, one per line.
fn ellipsoids(lines: &str) -> umbracast_files::Table<Sphere> {
    let file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    std::fs::write(file.path(), format!("x,y,z,rx,ry,rz,qw,qx,qy,qz\n{lines}")).unwrap();
    umbracast_files::read_spheres(file.path(), DVec3::ZERO).unwrap()
}

/// The bounds of a needle are not those of its bounding ball: a ray that grazes the needle passes deep inside the ball.
#[test]
fn ellipsoids_have_bounds_of_their_own() {
    // A needle along x, rotated to lie along y; its width is 1/128 of its length.
    let table = ellipsoids("10,0,0,1,0.0078125,0.0078125,1,0,0,1\n");
    let aside = |z: f32| [Ray::new([0.0, 0.5, z], [1.0, 0.0, 0.0])];
    let (fast, standard) = (Query::at(Precision::Fast), Query::at(Precision::Standard));
    let of = |rays: &[Ray], query: &Query, found: Hit, expected: Hit| {
        let input = Input { held: Some(&table.optional), ..at_rest(&table.records, rays, query) };
        input.compare(&[found], &[expected])
    };
    let z = 0.75_f32.sqrt() / 128.0;
    // At half of its semi-axis, the needle has √(3/4) of its width.
    let c = of(&aside(z), &fast, hit(10.0, 0), Hit::MISS);
    assert_eq!((c.flags_differ, c.flags_grazing), (1, 1));
    let c = of(&aside(0.9 * z), &fast, hit(10.0, 0), Hit::MISS);
    assert_eq!((c.flags_differ, c.flags_grazing), (1, 0));
    let half = f64::from(z) * (1.0 - 0.81_f64).sqrt();
    let enter = (10.0 - half) as f32;
    for (off, beyond) in [(4e-6, 0), (1.5e-5, 1)] {
        let c = of(&aside(0.9 * z), &standard, hit(enter + off, 0), hit(enter, 0));
        assert_eq!((c.not_identical, c.beyond_bounds), (1, beyond), "{off}");
    }
    // The closer to tangency, the larger is the bound.
    let c = of(&aside(z * (1.0 - 2e-7)), &standard, hit(10.0 + 1.5e-5, 0), hit(10.0, 0));
    assert_eq!((c.not_identical, c.beyond_bounds), (1, 0));
}

/// Compares `fast` with `standard` for balls, needles and discs, with grazing and with central hits: the CPU engine computes both alike.
#[test]
fn fast_is_standard_for_ellipsoids_on_the_cpu() {
    let mut numbers = Numbers(1);
    let mut random = || numbers.unit();
    let mut lines = String::new();
    for i in 0..100 {
        let far = if i % 10 == 0 { 1e4 } else { 1.0 };
        let mut number = |size: f32| (size * (2.0 * random() - 1.0)).to_string();
        let center = [10.0 * far; 3].map(&mut number).join(",");
        let turn = [1.0; 4].map(&mut number).join(",");
        let radii = [0; 3].map(|_| (far * 10.0_f32.powf(-3.0 * random())).to_string()).join(",");
        lines += &format!("{center},{radii},{turn}\n");
    }
    let table = ellipsoids(&lines);
    let mut rays = Vec::new();
    for i in 0..30_000 {
        let ellipsoid = table.optional.ellipsoid(i % 100, &table.records[i % 100]).unwrap();
        let mut unit = || Vec3::new(random() - 0.5, random() - 0.5, random() - 0.5).normalize();
        // A line tangent to the unit ball maps to a line tangent to the ellipsoid.
        let normal = unit();
        let (along, miss) = (normal.cross(unit()), [1.0, 1.0 + 1e-6, 1.0 - 1e-5, 0.9, 0.3][i % 5]);
        let turned = |v: Vec3| ellipsoid.rotation.normalize() * (v * ellipsoid.radii);
        let (point, way) = (ellipsoid.center + turned(normal * miss), turned(along));
        let (distance, length) = (10.0_f32.powf(4.0 * random() - 1.0), 10.0_f32.powf(4.0 * random() - 2.0));
        rays.push(Ray::new(point - way.normalize() * distance, way.normalize() * length));
    }
    let device = Device::open(&DeviceOptions::new("cpu")).unwrap();
    let scene = device.scene(table.spheres(), &SceneOptions::default()).unwrap();
    let [fast, standard] = [Precision::Fast, Precision::Standard].map(Query::at);
    let input = Input { held: Some(&table.optional), ..at_rest(&table.records, &rays, &fast) };
    let closest = |query| scene.closest(&rays, query).unwrap();
    let interval = |query| scene.interval(&rays, query).unwrap();
    let all = |query| scene.all(&rays, query).unwrap();
    for c in [
        input.compare(&closest(&fast), &closest(&standard)),
        input.compare(&interval(&fast), &interval(&standard)),
        input.compare_lists(&all(&fast), &all(&standard), None),
    ] {
        assert_eq!((c.not_identical, broken(&c, Precision::Fast)), (0, None), "{c:?}");
        assert!(c.rays > 0, "nothing was tried");
    }
}

/// Rays nearly tangent to small, large, near and far spheres, some with an end on a root. Here plain f32 is wrong for one ray in seven, but
/// within its guarantees.
#[test]
fn nearly_tangent_rays_stay_within_the_bounds_of_every_precision() {
    let mut numbers = Numbers(1);
    let mut random = || numbers.unit();
    let mut spheres = Vec::new();
    let mut rays = Vec::new();
    for i in 0..100 {
        let far = if i % 10 == 0 { 1e4 } else { 1.0 };
        let center = [20.0 * random() - 10.0, 20.0 * random() - 10.0, 20.0 * random() - 10.0].map(|x| far * x);
        spheres.push(Sphere::new(center, far * 10.0_f32.powf(3.0 * random() - 3.0)));
    }
    for i in 0..30_000 {
        let sphere = spheres[i % spheres.len()];
        let mut unit = || Vec3::new(random() - 0.5, random() - 0.5, random() - 0.5).normalize();
        let (direction, other) = (unit(), unit());
        let aside = direction.cross(other).normalize();
        let miss = [1.0, 1.0 + 1e-7, 1.0 - 1e-7, 1.0 - 1e-5, 0.5][(random() * 4.99) as usize];
        let (distance, length) = (10.0_f32.powf(5.0 * random() - 1.0), 10.0_f32.powf(4.0 * random() - 2.0));
        let ray = Ray::new(sphere.center + aside * sphere.radius * miss - direction * distance, direction * length);
        let end = ray.roots(&sphere).map_or(1.0, |(enter, exit)| if random() < 0.5 { enter } else { exit });
        rays.push(match (i % 4, end > 0.0) {
            (0, true) => ray.between(0.0, end),
            (1, _) => ray.between(end, f32::INFINITY),
            _ => ray,
        });
    }
    let device = Device::open(&DeviceOptions::new("cpu")).unwrap();
    let scene = device.scene(&spheres, &SceneOptions::default()).unwrap();
    let exact = Query::at(Precision::Exact);
    for precision in [Precision::Fast, Precision::Standard] {
        let query = Query::at(precision);
        let input = at_rest(&spheres, &rays, &query);
        let closest = |query| scene.closest(&rays, query).unwrap();
        let interval = |query| scene.interval(&rays, query).unwrap();
        let approach = |query| scene.approach(&rays, query).unwrap();
        let occluded = |query| scene.occluded(&rays, query).unwrap().iter().collect::<Vec<bool>>();
        for c in [
            input.compare(&closest(&query), &closest(&exact)),
            input.compare(&interval(&query), &interval(&exact)),
            input.compare(&approach(&query), &approach(&exact)),
            input.compare_equal(&occluded(&query), &occluded(&exact)),
        ] {
            assert!(c.not_identical > 0, "nothing was tried");
            assert_eq!(broken(&c, precision), None, "{precision:?} {c:?}");
        }
    }
}
