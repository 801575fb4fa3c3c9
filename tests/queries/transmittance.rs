//! Transmittances: the product over the spheres of a ray's list, on every device, with a tree and without.

use umbracast::glam::{Quat, Vec3};
use umbracast::{
    Answer, Device, Ellipsoid, Ellipsoids, Error, HitLists, Inside, Limits, Motion, OnBad, Precision, Query, Ray, Rays,
    SceneOptions, Segments, Sphere, Spheres,
};
use umbracast_testing::{
    Numbers, both_searches, byte_precisions, cpu, devices, hard_scenes, limited, reference, with_and_without_tree,
};

/// Half of them from 0 to 1; the others opaque, invisible, tiny, and almost 1. One in `opaque` is opaque.
fn transmittances(count: usize, opaque: u32) -> Vec<f32> {
    let n = &mut Numbers(31);
    let one = |_| match n.bits() % 8 {
        0 => 1.0,
        1 if n.bits().is_multiple_of(opaque) => 0.0,
        1 => f32::from_bits(1 + n.bits() % 9),
        2 => 1.0_f32.next_down(),
        3 => 1e-10 * n.unit(),
        _ => n.unit(),
    };
    (0..count).map(one).collect()
}

/// The product over the spheres of each list, by the definition: sums in 64 bits, cut off once.
fn products(lists: &HitLists, of: &[f32]) -> Vec<f32> {
    let depth = |t: f32| (-f64::from(t).log2() * 16_777_216.0).round().min(150.0 * 16_777_216.0) as u64;
    let product = |sum: u64| if sum >= 150 << 24 { 0.0 } else { (-(sum as f64) / 16_777_216.0).exp2() as f32 };
    lists.iter().map(|list| product(list.iter().map(|met| depth(of[met.id as usize])).sum())).collect()
}

/// Compares bits, the report, and the definition's error bound.
fn check(found: &Answer<f32>, lists: &HitLists, of: &[f32], what: &str) -> [usize; 3] {
    let expected = products(lists, of);
    let mut kinds = [0; 3];
    for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(found.to_bits(), expected.to_bits(), "{what}, ray {i}: {found} instead of {expected}");
        let list = lists.get(i).unwrap();
        let product: f64 = list.iter().map(|met| f64::from(of[met.id as usize])).product();
        let bound = (1.0 + 0.35 * list.len() as f64) * 1.001 / 16_777_216.0 * product + 2f64.powi(-150);
        assert!((f64::from(*found) - product).abs() <= bound, "{what}, ray {i}: {found} for {product}");
        kinds[if *found == 0.0 { 0 } else { 1 + usize::from(*found == 1.0) }] += 1;
    }
    assert_eq!(found.len(), expected.len(), "{what}");
    assert_eq!(found.report.rays_hit, expected.iter().filter(|t| **t < 1.0).count() as u64, "{what}");
    kinds
}

fn add(kinds: &mut [usize; 3], more: [usize; 3]) {
    kinds.iter_mut().zip(more).for_each(|(all, more)| *all += more);
}

#[test]
fn the_product_is_that_of_the_list() {
    let mut kinds = [0; 3];
    for k in [0, 2, 4, 6, 8, 10] {
        let scene = &hard_scenes::SCENES[k];
        let spheres = hard_scenes::spheres(scene, 500);
        let rays = hard_scenes::rays(&spheres, scene.2, 150);
        let of = transmittances(spheres.len(), 3);
        for inside in [Inside::Enter, Inside::Exit, Inside::Ignore] {
            for precision in Precision::ALL {
                let query = Query::at(precision).inside(inside);
                for device in devices().iter().filter(|device| byte_precisions(device).contains(&precision)) {
                    let all = reference(device, precision).scene(&spheres, &SceneOptions::default());
                    let lists = all.unwrap().all(&rays, &query).unwrap();
                    for scene in with_and_without_tree(device, Spheres::from(&spheres).transmittances(&of)) {
                        let found = scene.transmittance(&rays, &query).unwrap();
                        add(
                            &mut kinds,
                            check(&found, &lists, &of, &format!("scene {k} on {}, {query:?}", device.name())),
                        );
                    }
                }
            }
        }
    }
    println!("opaque, partly, clear: {kinds:?}");
    assert!(kinds.iter().all(|count| *count > 1000), "{kinds:?}");
}

#[test]
fn masks_and_skips_choose_the_factors() {
    let spheres = hard_scenes::spheres(&hard_scenes::SCENES[0], 700);
    let rays = hard_scenes::rays(&spheres, 2.0, 200);
    let n = &mut Numbers(5);
    let of = transmittances(spheres.len(), 9);
    let masks: Vec<u32> = spheres.iter().map(|_| 1 << (n.bits() % 4)).collect();
    let own: Vec<u32> = rays.iter().map(|_| n.bits() % 16).collect();
    let skips: Vec<u32> = rays.iter().map(|_| n.bits() % spheres.len() as u32).collect();
    let some = Rays::from(&rays).masks(&own).skip_ids(&skips);
    for device in devices() {
        for masked in [true, false] {
            let mut set = Spheres::from(&spheres).transmittances(&of);
            if masked {
                set = set.masks(&masks);
            }
            for scene in with_and_without_tree(device, set) {
                let lists = scene.all(some, &Query::default()).unwrap();
                let found = scene.transmittance(some, &Query::default()).unwrap();
                let kinds = check(&found, &lists, &of, &format!("{}, {masked}", device.name()));
                assert!(kinds.iter().all(|count| *count > 20), "{kinds:?}");
            }
        }
    }
}

fn drift(count: usize) -> Vec<Vec3> {
    let n = &mut Numbers(8);
    (0..count).map(|_| Vec3::from(n.vector())).collect()
}

#[test]
fn moving_spheres_ellipsoids_segments_and_thick_rays() {
    let spheres = hard_scenes::spheres(&hard_scenes::SCENES[0], 400);
    let n = &mut Numbers(77);
    let ends: Vec<_> = (0..900).map(|_| [n.vector(), n.vector()]).collect();
    let (times, radii): (Vec<f32>, Vec<f32>) = ends.iter().map(|_| (n.unit(), 0.1 * n.unit())).unzip();
    let segments = Segments::new(ends);
    let (velocities, of) = (drift(spheres.len()), transmittances(spheres.len(), 9));
    let turned = |sphere: &Sphere| {
        let radii = Vec3::from([n.unit(), n.unit(), n.unit()]) * 0.15 + 0.01;
        Ellipsoid::new(sphere.center, radii).turned(Quat::from_euler(Default::default(), n.unit(), n.unit(), n.unit()))
    };
    let ellipsoids = Ellipsoids::new(spheres.iter().map(turned));
    for device in devices() {
        for kind in 0..4 {
            let (round, moving) = (kind % 2 == 0, kind / 2 == 1);
            let mut set = if round { Spheres::from(&spheres) } else { Spheres::from(&ellipsoids) }.transmittances(&of);
            let mut rays = Rays::from(&segments);
            if round {
                rays = rays.radii(&radii);
            }
            if moving {
                (set, rays) = (set.velocities(&velocities), rays.times(&times));
            }
            for scene in both_searches(device, set, &SceneOptions::default().time_range([0.0, 2.0])) {
                for precision in Precision::ALL.into_iter().filter(|p| round || *p != Precision::Exact) {
                    for motion in [Motion::AtTime, Motion::WithRay] {
                        let query = Query::at(precision).motion(motion);
                        let lists = scene.all(rays, &query).unwrap();
                        let found = scene.transmittance(rays, &query).unwrap();
                        let what = format!("{}: {kind}, {query:?}", device.name());
                        let kinds = check(&found, &lists, &of, &what);
                        assert!(kinds.iter().all(|count| *count > 5), "{what}: {kinds:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn every_instruction_set_and_every_part_sums_the_same() {
    let spheres = hard_scenes::spheres(&hard_scenes::SCENES[0], 29_000);
    let rays = hard_scenes::rays(&spheres, 2.0, 100);
    let n = &mut Numbers(3);
    let of: Vec<f32> = (0..spheres.len()).map(|i| if i % 900 == 7 { 0.0 } else { 1.0 - 0.05 * n.unit() }).collect();
    let set = Spheres::from(&spheres).transmittances(&of);
    let query = Query::at(Precision::Exact);
    let lists = with_and_without_tree(&cpu(), set)[0].all(&rays, &query).unwrap();
    for level in Device::levels() {
        for scene in with_and_without_tree(&cpu().with_level(level), set) {
            let kinds = check(&scene.transmittance(&rays, &query).unwrap(), &lists, &of, level);
            assert!(kinds.iter().all(|count| *count > 5), "{kinds:?}");
        }
    }
    // Several buffers of spheres, and few rays at a time.
    let mut limits = Limits::default();
    (limits.binding, limits.rays) = (28 << 14, 300);
    let masks = vec![u32::MAX; spheres.len()];
    let velocities = vec![Vec3::ZERO; spheres.len()];
    for device in limited(limits) {
        for set in [set, set.masks(&masks), set.velocities(&velocities)] {
            for scene in with_and_without_tree(device, set) {
                check(&scene.transmittance(&rays, &query).unwrap(), &lists, &of, device.name());
                let polled =
                    pollster::block_on(scene.cast_async(umbracast::queries::Transmittance, &rays, &query)).unwrap();
                check(&polled, &lists, &of, device.name());
            }
        }
    }
}

#[test]
fn without_the_column_every_sphere_is_opaque() {
    let spheres = hard_scenes::spheres(&hard_scenes::SCENES[0], 600);
    let mut rays = hard_scenes::rays(&spheres, 2.0, 100);
    rays[5].direction = Vec3::ZERO;
    let query = Query::default().on_bad(OnBad::Skip);
    for device in devices() {
        for mut scene in with_and_without_tree(device, &spheres) {
            let dark = scene.occluded(&rays, &query).unwrap();
            let found = scene.transmittance(&rays, &query).unwrap();
            assert!(found.iter().zip(dark.iter()).all(|(t, dark)| *t == if dark { 0.0 } else { 1.0 }));
            assert_eq!((found[5], found.report.skipped), (1.0, 1));
            // An update may add the column, and without a new column the scene keeps it.
            let of = transmittances(spheres.len(), 9);
            for set in [Spheres::from(&spheres).transmittances(&of), Spheres::from(&spheres)] {
                let _ = scene.update(set).unwrap();
                let lists = scene.all(&rays, &query).unwrap();
                check(&scene.transmittance(&rays, &query).unwrap(), &lists, &of, device.name());
            }
        }
        let none = device.scene(&[] as &[Sphere], &SceneOptions::default()).unwrap();
        assert_eq!(none.transmittance(&rays[..2], &query).unwrap().records, [1.0; 2]);
    }
}

#[test]
fn pairs_have_one_factor_each() {
    let spheres: Vec<Sphere> = (0..500).map(|i| Sphere::new([3.0 * i as f32, 0.0, 0.0], 1.0)).collect();
    let rays: Vec<Ray> = (0..500).map(|i| Ray::new([3.2 * i as f32, 0.0, 5.0], [0.0, 0.0, -1.0])).collect();
    let of = transmittances(spheres.len(), 2);
    for device in devices() {
        let scene = device.pairwise(Spheres::from(&spheres).transmittances(&of), &Default::default()).unwrap();
        let found = scene.transmittance(&rays, &Query::default()).unwrap();
        let lists = scene.all(&rays, &Query::default()).unwrap();
        check(&found, &lists, &of, device.name());
        let part = Rays::from(&rays[2..5]).numbered_from(2);
        assert_eq!(scene.transmittance(part, &Query::default()).unwrap()[..], found[2..5]);
    }
}

#[test]
fn other_values_are_refused() {
    let spheres = [Sphere::new([0.0; 3], 1.0); 3];
    for device in devices() {
        for value in [f32::NAN, f32::INFINITY, -f32::INFINITY, -f32::MIN_POSITIVE, 1.0_f32.next_up(), 7.0] {
            let of = [0.5, value, -1.0];
            let set = Spheres::from(&spheres).transmittances(&of);
            let refused = device.scene(set, &SceneOptions::default()).err();
            let Some(Error::BadRecord { what, index, field, value: text, .. }) = refused else { panic!("{refused:?}") };
            assert_eq!((what, index, field, text), ("sphere", 1, "transmittance", value.to_string()));
        }
        let few = device.scene(Spheres::from(&spheres).transmittances(&[0.5]), &SceneOptions::default());
        let few = few.err();
        assert!(matches!(few, Some(Error::LengthsDiffer { right_name: "transmittances", right: 1, .. })), "{few:?}");
    }
}
