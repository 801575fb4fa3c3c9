//! Property tests on random scenes, ordinary and degenerate: `exact` results are compared with integer arithmetic and with a second
//! implementation of the policies.

use proptest::prelude::*;
use umbracast::exact::{self, ExactRoots, Root, Roots};
use umbracast::{Ends, Hit, Inside, Motion, Precision, Query, Ray, Rays, SceneOptions, Sphere, Spheres, Touch};
use umbracast_testing::{both_searches, devices, oracle, scaled, with_and_without_tree};

/// Any finite f32, including subnormals and the largest numbers.
fn any_finite() -> BoxedStrategy<f32> {
    any::<u32>().prop_map(f32::from_bits).prop_filter("finite", |x| x.is_finite()).boxed()
}

/// Small multiples of powers of two, which often give tangents, starts on a surface and equal `t`.
fn lattice() -> BoxedStrategy<f32> {
    (-6i8..=6, -2i8..=2).prop_map(|(m, e)| f32::from(m) * 2f32.powi(e.into())).boxed()
}

/// Numbers of ordinary magnitude.
fn ordinary() -> BoxedStrategy<f32> {
    (-10.0f32..10.0).boxed()
}

fn sphere(x: BoxedStrategy<f32>) -> impl Strategy<Value = Sphere> {
    ([x.clone(), x.clone(), x.clone()], x).prop_map(|(c, r)| Sphere::new(c, r.abs()))
}

fn ray(x: BoxedStrategy<f32>) -> impl Strategy<Value = Ray> {
    let end = prop_oneof![3 => x.clone(), 1 => Just(f32::INFINITY), 1 => Just(f32::NEG_INFINITY), 2 => Just(0.0)];
    let (o, d) = ([x.clone(), x.clone(), x.clone()], [x.clone(), x.clone(), x]);
    (o, d, end.clone(), end)
        .prop_map(|(o, d, a, b)| Ray::new(o, d).between(a.min(b), a.max(b)))
        .prop_filter("usable", |ray| ray.check().is_ok())
}

fn query() -> impl Strategy<Value = Query> {
    let inside = prop_oneof![Just(Inside::Enter), Just(Inside::Exit), Just(Inside::Ignore)];
    let touch = prop_oneof![Just(Touch::Hit), Just(Touch::Miss)];
    let ends = prop_oneof![Just(Ends::Closed), Just(Ends::HalfOpen)];
    (inside, touch, ends)
        .prop_map(|(inside, touch, ends)| Query::at(Precision::Exact).inside(inside).touch(touch).ends(ends))
}

/// Tangents whose perpendicular foot is not representable, some of them offset by less than f64 resolves: only integers decide
/// them.
fn tangents() -> impl Strategy<Value = Case> {
    let pair = (2i32..24, 1i32..24, -2000i32..2000, -2000i32..2000, -60i32..-20, any::<bool>());
    let pair = pair.prop_map(|(m, n, x, y, exponent, exact)| {
        // A Pythagorean direction of length q and a centre q · (x, y): the distance |x b − y a| is an integer.
        let (a, b, q) = (m * m - n * n, 2 * m * n, m * m + n * n);
        let offset = if exact { 0.0 } else { 2f32.powi(exponent) };
        let sphere = Sphere::new([(q * x) as f32, (q * y) as f32, offset], (x * b - y * a).abs() as f32);
        (sphere, Ray::new([0.0; 3], [a as f32, b as f32, 0.0]).line())
    });
    (prop::collection::vec(pair, 1..6), query()).prop_map(|(pairs, query)| {
        let (spheres, rays) = pairs.into_iter().unzip();
        (spheres, rays, query)
    })
}

/// Long rays that end or start among the spheres: the `t` of most feet round to that end, on either side of it.
fn feet_at_an_end() -> impl Strategy<Value = Case> {
    let rays = prop::collection::vec((prop::array::uniform3(ordinary()), -10i32..10, any::<bool>()), 1..8);
    let spheres = prop::collection::vec(sphere(ordinary()), 2..6);
    (spheres, rays, -10i32..30, query()).prop_map(|(spheres, rays, size, query)| {
        let (size, unit) = (2f32.powi(size), 2f32.powi(size - 24));
        let sphere = |s: &Sphere| Sphere::new((s.center * unit).to_array(), s.radius * unit);
        let ray = |&(d, exponent, starts): &([f32; 3], i32, bool)| {
            let t = 2f32.powi(exponent);
            let ray = Ray::new(d.map(|x| -x * size), d.map(|x| x * size / t));
            if starts { ray.between(t, 2.0 * t) } else { ray.between(0.0, t) }
        };
        (spheres.iter().map(sphere).collect(), rays.iter().map(ray).collect(), query)
    })
}

type Case = (Vec<Sphere>, Vec<Ray>, Query);

fn case(x: BoxedStrategy<f32>) -> impl Strategy<Value = Case> {
    (prop::collection::vec(sphere(x.clone()), 1..6), prop::collection::vec(ray(x), 1..8), query())
}

/// The closest approach by integer arithmetic: clearance and `t`.
fn least_clearance(ray: &Ray, spheres: &[Sphere]) -> (f32, f32) {
    let all = spheres.iter().map(|sphere| exact::approach(ray, sphere)).map(|(t, clearance)| (clearance, t));
    all.min_by(|a, b| a.partial_cmp(b).unwrap()).unwrap()
}

/// Compares `closest`, `occluded` and `approach` on every device, with and without a tree, with the oracle: one batch.
fn check((spheres, rays, query): &Case) -> Result<(), TestCaseError> {
    let expected: Vec<Hit> = rays.iter().map(|ray| oracle::closest(ray, spheres, query)).collect();
    let scenes = |device| with_and_without_tree(device, spheres).map(|scene| (device, scene));
    for (device, scene) in devices().iter().flat_map(scenes) {
        let hits = scene.closest(rays, query).unwrap();
        prop_assert_eq!(&hits.records, &expected, "{}", device.name());
        let occluded: Vec<bool> = scene.occluded(rays, query).unwrap().iter().collect();
        prop_assert_eq!(occluded, expected.iter().map(Hit::is_hit).collect::<Vec<_>>(), "{}", device.name());
        let approaches = scene.approach(rays, query).unwrap();
        for (ray, found) in rays.iter().zip(approaches.iter()) {
            prop_assert_eq!((found.clearance, found.t), least_clearance(ray, spheres), "{} {:?}", device.name(), ray);
        }
    }
    Ok(())
}

/// Compares `approach` of the first ray, thick and as fast again as spheres without a radius that move along it, with that of the ray among
/// spheres of its radius at rest.
fn check_moving((spheres, rays, query): &Case) -> Result<(), TestCaseError> {
    let (ray, radius) = (&rays[0], spheres[0].radius);
    let of_radius = |radius| -> Vec<Sphere> { spheres.iter().map(|s| Sphere { radius, ..*s }).collect() };
    let (points, velocities) = (of_radius(0.0), vec![ray.direction; spheres.len()]);
    let (fast, radii) = ([Ray { direction: 2.0 * ray.direction, ..*ray }], [radius]);
    let (fast, query) = (Rays::from(&fast).radii(&radii), query.motion(Motion::WithRay));
    let options = SceneOptions::default().time_range([0.0, ray.t_max]);
    for device in devices() {
        for scene in both_searches(device, Spheres::from(&points).velocities(&velocities), &options) {
            let found = scene.approach(fast, &query).unwrap()[0];
            let least = least_clearance(ray, &of_radius(radius));
            prop_assert_eq!((found.clearance, found.t), least, "{}", device.name());
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: scaled(256) as u32,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn exact_agrees_with_integers_for_ordinary_numbers(case in case(ordinary())) {
        check(&case)?;
    }

    #[test]
    fn exact_agrees_with_integers_on_a_lattice(case in case(lattice())) {
        check(&case)?;
    }

    #[test]
    fn exact_agrees_with_integers_for_any_f32(case in case(any_finite())) {
        check(&case)?;
    }

    #[test]
    fn exact_agrees_with_integers_for_near_tangents(case in tangents()) {
        check(&case)?;
    }

    #[test]
    fn exact_agrees_with_integers_for_feet_at_an_end(case in feet_at_an_end()) {
        check(&case)?;
    }

    #[test]
    fn exact_agrees_with_integers_for_moving_feet_at_an_end(case in feet_at_an_end()) {
        check_moving(&case)?;
    }

    #[test]
    fn single_pairs_agree_with_integers((spheres, rays, query) in case(lattice())) {
        let (ray, sphere) = (rays[0], spheres[0]);
        prop_assert_eq!(ray.hit(&sphere, &query).map(|hit| hit.t), oracle::hit(&ray, &sphere, &query));
        prop_assert_eq!(ray.roots(&sphere).is_some(), ExactRoots::new(&ray, &sphere).crossing.is_ge());
        if let Some((enter, exit)) = ray.roots(&sphere) {
            let roots = ExactRoots::new(&ray, &sphere);
            prop_assert_eq!((Some(enter), Some(exit)), (roots.round(Root::Enter), roots.round(Root::Exit)));
        }
    }
}
