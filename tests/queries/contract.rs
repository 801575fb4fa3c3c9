//! The documented semantics of queries, one test per property, on every device.

use umbracast::{
    Approach, Device, DeviceOptions, Ends, Error, Hit, Inside, Interval, NO_SPHERE, Precision, Query, Ray,
    SceneOptions, Sphere, Touch,
};
use umbracast_testing::{Numbers, cpu, devices, scaled};

pub(super) const X: [f32; 3] = [1.0, 0.0, 0.0];

pub(super) fn scene(device: &Device, spheres: &[Sphere]) -> umbracast::Scene {
    device.scene(spheres, &SceneOptions::default()).unwrap()
}

pub(super) fn random_spheres(seed: u64, count: usize) -> Vec<Sphere> {
    let mut n = Numbers(seed);
    (0..count).map(|_| Sphere::new(n.vector(), 0.2 * n.unit() * n.unit())).collect()
}

/// Half-lines, segments and whole lines, some starting inside a sphere.
pub(super) fn random_rays(seed: u64, count: usize) -> Vec<Ray> {
    let mut n = Numbers(seed);
    (0..count)
        .map(|i| {
            let ray = Ray::new(n.vector(), n.vector());
            match i % 4 {
                0 => ray,
                1 => ray.between(0.0, n.unit()),
                2 => ray.line(),
                _ => ray.between(n.signed(), 1.0 + n.unit()),
            }
        })
        .collect()
}

fn every_query() -> Vec<Query> {
    let mut queries = Vec::new();
    for precision in Precision::ALL {
        for inside in [Inside::Enter, Inside::Exit, Inside::Ignore] {
            for touch in [Touch::Hit, Touch::Miss] {
                for ends in [Ends::Closed, Ends::HalfOpen] {
                    queries.push(Query::default().inside(inside).touch(touch).ends(ends).precision(precision));
                }
            }
        }
    }
    queries
}

#[test]
fn a_sphere_behind_the_start_is_never_hit() {
    let behind = [Sphere::new([-5.0, 0.0, 0.0], 1.0)];
    for device in devices() {
        let scene = scene(device, &behind);
        for query in every_query() {
            let rays = [Ray::new([0.0; 3], X), Ray::new([0.0; 3], X).between(-3.9, 9.0)];
            assert_eq!(scene.closest(&rays, &query).unwrap().records, [Hit::MISS; 2]);
            assert_eq!(scene.interval(&rays, &query).unwrap().records, [Interval::MISS; 2]);
            assert_eq!(scene.occluded(&rays, &query).unwrap().words, [0]);
        }
    }
}

#[test]
fn a_miss_overwrites_the_output() {
    for device in devices() {
        let scene = scene(device, &[Sphere::new([5.0, 0.0, 0.0], 1.0)]);
        let rays = [Ray::new([0.0; 3], X), Ray::new([0.0, 3.0, 0.0], X)];
        let mut hits = [Hit { t: 7.0, id: 7 }; 2];
        let report = scene.closest_into(&rays, &mut hits, &Query::default()).unwrap();
        assert_eq!(hits, [Hit { t: 4.0, id: 0 }, Hit { t: f32::INFINITY, id: 4_294_967_295 }]);
        assert_eq!((report.rays, report.rays_hit), (2, 1));
        let error = scene.closest_into(&rays, &mut hits[..1], &Query::default()).unwrap_err();
        assert!(matches!(error, Error::LengthsDiffer { left: 2, right: 1, .. }), "{error}");
    }
}

#[test]
fn whole_lines_extend_in_both_directions() {
    let spheres = [Sphere::new([5.0, 0.0, 0.0], 1.0), Sphere::new([-5.0, 0.0, 0.0], 1.0)];
    for device in devices() {
        let scene = scene(device, &spheres);
        for precision in Precision::ALL {
            let query = Query::at(precision);
            let line = Ray::new([0.0; 3], [2.0, 0.0, 0.0]).line();
            assert_eq!(scene.closest(&[line], &query).unwrap().records, [Hit { t: -3.0, id: 1 }]);
            assert_eq!(
                scene.interval(&[line], &query).unwrap().records,
                [Interval { t_enter: -3.0, t_exit: -2.0, id: 1 }]
            );
        }
    }
}

#[test]
fn an_overflowing_root_is_a_miss_and_is_counted() {
    // The sphere begins at t = 9e38 in units of a direction of 1e-30.
    let sphere = [Sphere::new([9.1e8, 0.0, 0.0], 1e7)];
    let ray = Ray::new([0.0; 3], [1e-30, 0.0, 0.0]);
    for device in devices() {
        let scene = scene(device, &sphere);
        for query in every_query() {
            let hits = scene.closest(&[ray, ray.line(), ray.between(0.0, 1e38)], &query).unwrap();
            assert_eq!(hits.records, [Hit::MISS; 3], "{} {query:?}", device.name());
            // The third ray ends long before the sphere: an ordinary miss.
            assert_eq!(hits.report.overflowed, 2, "{} {query:?}", device.name());
            let bits = scene.occluded(&[ray, ray.line(), ray.between(0.0, 1e38)], &query).unwrap();
            assert_eq!((bits.words, bits.report.overflowed), (vec![0], 2), "{} {query:?}", device.name());
        }
    }
    // From inside a huge sphere with a tiny direction: a hit at the start, whose roots are outside f32's range.
    let around = [Sphere::new([0.0; 3], 1e9)];
    for device in devices() {
        for precision in Precision::ALL {
            let found = scene(device, &around).interval(&[ray], &Query::at(precision)).unwrap();
            let whole = Interval { t_enter: f32::NEG_INFINITY, t_exit: f32::INFINITY, id: 0 };
            assert_eq!(found.records, [whole], "{} {precision:?}", device.name());
        }
    }
}

#[test]
fn equal_t_reports_the_lowest_id() {
    // Equal spheres, a sphere with the same first point, and several spheres that contain the start.
    let mut spheres = vec![Sphere::new([9.0, 0.0, 0.0], 1.0), Sphere::new([6.0, 0.0, 0.0], 2.0)];
    spheres.extend([Sphere::new([5.0, 0.0, 0.0], 1.0); 3]);
    let around = [Sphere::new([0.1, 0.0, 0.0], 1.0), Sphere::new([0.0; 3], 3.0), Sphere::new([0.0; 3], 3.0)];
    for device in devices() {
        for precision in Precision::ALL {
            let query = Query::at(precision);
            let ray = [Ray::new([0.0; 3], X)];
            let hit = scene(device, &spheres).closest(&ray, &query).unwrap();
            assert_eq!(hit.records, [Hit { t: 4.0, id: 1 }], "{} {precision:?}", device.name());
            let inside = scene(device, &around).closest(&ray, &query).unwrap();
            assert_eq!(inside.records, [Hit { t: 0.0, id: 0 }]);
            assert_eq!(inside.report.resolved_exactly, 0, "a tie at the start is certain");
            let nearest = scene(device, &spheres[2..]).approach(&ray, &query).unwrap();
            assert_eq!(nearest.records, [Approach { t: 5.0, clearance: -1.0, id: 0 }]);
        }
    }
}

#[test]
fn nearly_equal_t_is_decided_exactly() {
    // In the first two pairs the roots differ by 0.01 ulp: they round to the same t, and the lower id is reported. In the third they
    // differ by 1 ulp.
    let near = Sphere::new([5.0, 0.0, 0.0], 1.0);
    let pairs = [
        ([near, Sphere::new([5.0, 1e-4, 0.0], 1.0)], 0),
        ([Sphere::new([5.0, 1e-4, 0.0], 1.0), near], 0),
        ([Sphere::new([5.0, 1e-3, 0.0], 1.0), near], 1),
    ];
    for device in devices() {
        for (spheres, id) in &pairs {
            let ray = [Ray::new([0.0; 3], X)];
            let hit = scene(device, spheres).closest(&ray, &Query::at(Precision::Exact)).unwrap();
            assert_eq!(hit.records, [Hit { t: 4.0, id: *id }], "{}", device.name());
            assert_eq!(hit.report.resolved_exactly, 1);
        }
    }
}

#[test]
fn results_do_not_depend_on_the_batch() {
    let (spheres, rays) = (random_spheres(1, 300), random_rays(2, 1000));
    for device in devices() {
        let scene = scene(device, &spheres);
        for precision in Precision::ALL {
            let query = Query::at(precision).inside(Inside::Exit);
            let whole = scene.interval(&rays, &query).unwrap().records;
            let shadow: Vec<bool> = scene.occluded(&rays, &query).unwrap().iter().collect();
            for size in [1, 7, 64, 65] {
                let (mut pieces, mut bits) = (Vec::new(), Vec::new());
                for piece in rays.chunks(size).take(40) {
                    pieces.extend(scene.interval(piece, &query).unwrap().records);
                    bits.extend(scene.occluded(piece, &query).unwrap().iter());
                }
                assert_eq!(
                    bytemuck::cast_slice::<_, u8>(&pieces),
                    bytemuck::cast_slice::<_, u8>(&whole[..pieces.len()])
                );
                assert_eq!(bits, shadow[..bits.len()]);
            }
        }
    }
}

#[test]
fn every_query_agrees_across_devices_at_every_policy() {
    let (spheres, rays) = (random_spheres(3, 200), random_rays(4, scaled(2000)));
    let truth = scene(&cpu(), &spheres);
    for device in devices().iter().filter(|device| !device.is_cpu()) {
        let scene = scene(device, &spheres);
        for query in every_query() {
            let hits = scene.closest(&rays, &query).unwrap();
            let expected = truth.closest(&rays, &query).unwrap();
            let differ = hits.iter().zip(expected.iter()).filter(|(a, b)| a.is_hit() != b.is_hit()).count();
            assert_eq!(differ, 0, "{} {query:?}", device.name());
            if query.precision == Precision::Exact {
                assert_eq!(hits.records, expected.records);
                let intervals = truth.interval(&rays, &query).unwrap().records;
                assert_eq!(scene.interval(&rays, &query).unwrap().records, intervals);
            }
            let occluded: Vec<bool> = scene.occluded(&rays, &query).unwrap().iter().collect();
            assert_eq!(occluded, hits.iter().map(Hit::is_hit).collect::<Vec<_>>());
        }
        let query = Query::at(Precision::Exact);
        let nearest = truth.approach(&rays, &query).unwrap().records;
        assert_eq!(scene.approach(&rays, &query).unwrap().records, nearest, "{}", device.name());
    }
}

#[test]
fn empty_scenes_and_batches_are_valid() {
    for device in devices() {
        let empty = scene(device, &[]);
        assert!(empty.is_empty());
        let query = Query::at(Precision::Exact);
        let rays = [Ray::new([0.0; 3], X); 3];
        assert_eq!(empty.closest(&rays, &query).unwrap().records, [Hit::MISS; 3]);
        assert_eq!(empty.approach(&rays, &query).unwrap().records, [Approach::NONE; 3]);
        assert_eq!(empty.occluded(&rays, &query).unwrap().words, [0]);
        let some = scene(device, &[Sphere::new([0.0; 3], 1.0)]);
        let no_rays: [Ray; 0] = [];
        assert!(some.closest(&no_rays, &query).unwrap().is_empty());
        assert_eq!(some.occluded(&no_rays, &query).unwrap().len, 0);
    }
}

#[test]
fn scenes_past_a_dispatch_and_past_the_loop_limit() {
    // lavapipe stops a thread silently after 65,535 loop iterations.
    let (spheres, rays) = (random_spheres(5, 70_000), random_rays(6, 200));
    for spheres in [&spheres[..16_384], &spheres[..16_385], &spheres[..]] {
        // Only the last sphere is large, so that a truncated loop is noticed.
        let mut spheres: Vec<Sphere> = spheres.iter().map(|s| Sphere::new(s.center, s.radius * 0.01)).collect();
        spheres.push(Sphere::new([3.0, 0.0, 0.0], 1.5));
        let expected = scene(&cpu(), &spheres).closest(&rays, &Query::default()).unwrap();
        assert!(expected.iter().any(|hit| hit.id as usize == spheres.len() - 1));
        for device in devices() {
            let found = scene(device, &spheres).closest(&rays, &Query::default()).unwrap();
            assert_eq!(found.records, expected.records, "{} {}", device.name(), spheres.len());
        }
    }
}

#[test]
fn batch_sizes_around_words_and_workgroups() {
    let spheres = random_spheres(8, 10);
    let rays = random_rays(9, 70_000);
    let expected = scene(&cpu(), &spheres).closest(&rays, &Query::default()).unwrap();
    for device in devices() {
        let scene = scene(device, &spheres);
        for count in [1, 31, 32, 33, 63, 64, 65, 4095, 4096, 4097, 65_537] {
            let found = scene.closest(&rays[..count], &Query::default()).unwrap();
            assert_eq!(found.records, expected.records[..count], "{} {count}", device.name());
            let bits = scene.occluded(&rays[..count], &Query::default()).unwrap();
            assert!(bits.iter().eq(found.iter().map(Hit::is_hit)), "{} {count}", device.name());
            assert_eq!(bits.get(count), None);
        }
    }
}

#[test]
fn single_pairs_need_no_device() {
    let ray = Ray::segment([0.0, 0.0, 0.0], [8.0, 0.0, 0.0]);
    let sphere = Sphere::new([5.0, 0.0, 0.0], 1.0);
    let hit = ray.hit(&sphere, &Query::default()).unwrap();
    assert_eq!(hit, Hit { t: 0.5, id: 0 });
    assert_eq!(hit.point(&ray, &sphere).to_array(), [4.0, 0.0, 0.0]);
    assert_eq!(hit.normal(&ray, &sphere).to_array(), [-1.0, 0.0, 0.0]);
    assert_eq!(ray.roots(&sphere), Some((0.5, 0.75)));
    assert_eq!(ray.approach(&sphere), Some(Approach { t: 0.625, clearance: -1.0, id: 0 }));
    assert!(sphere.contains([6.0, 0.0, 0.0]) && !sphere.contains([6.000_001, 0.0, 0.0]));
    assert_eq!(ray.point_at(0.5).to_array(), [4.0, 0.0, 0.0]);
    // From two million radii away the point still lies on the sphere.
    let far = Ray::new([1e6, 0.3, 0.0], [-1.0, 0.0, 0.0]);
    let small = Sphere::new([0.0; 3], 0.5);
    let point = far.hit(&small, &Query::default()).unwrap().point(&far, &small);
    assert!((point.length() - 0.5).abs() < 1e-6 && (point.y - 0.3).abs() < 1e-6, "{point}");
    assert_eq!(NO_SPHERE, u32::MAX);
}

#[test]
fn devices_are_chosen_by_keyword_index_or_name() {
    let list = Device::list();
    assert_eq!(list.last().unwrap().name, "cpu");
    assert!(Device::open(&DeviceOptions::new("CPU")).unwrap().is_cpu());
    assert!(Device::open(&DeviceOptions::new((list.len() - 1).to_string())).unwrap().is_cpu());
    assert!(!Device::open(&DeviceOptions::new("gpu")).unwrap().is_cpu());
    let first = &list[0];
    let part = first.name[..5].to_uppercase();
    assert_eq!(Device::open(&DeviceOptions::new(part)).unwrap().name(), first.name);
    // Software adapters are slower than the CPU engine, so `auto` never chooses one.
    let auto = Device::open(&DeviceOptions::new("auto")).unwrap();
    assert_ne!(auto.kind(), "software");
    for wrong in ["nosuchgpu", "99", "-1"] {
        let error = Device::open(&DeviceOptions::new(wrong)).err().unwrap();
        assert!(matches!(error, Error::NoDevice { .. }), "{error}");
        assert!(error.to_string().contains(&first.name), "{error}");
    }
}

#[test]
fn futures_may_move_between_threads() {
    fn send<T: Send>(value: T) -> T {
        value
    }
    let device = cpu();
    let hits = std::thread::spawn(move || {
        pollster::block_on(send(async move {
            let scene = device.scene_async(&[Sphere::new([5.0, 0.0, 0.0], 1.0)], &SceneOptions::default()).await?;
            scene.cast_async(umbracast::queries::Closest, &[Ray::new([0.0; 3], X)], &Query::default()).await
        }))
    });
    assert_eq!(hits.join().unwrap().unwrap().records, [Hit { t: 4.0, id: 0 }]);
    for device in devices() {
        drop(send(device.scene_async(&[], &SceneOptions::default())));
    }
}

#[test]
fn a_query_from_inside_a_rayon_pool_does_not_hang() {
    use rayon::prelude::*;
    let scene = scene(&cpu(), &random_spheres(30, 100));
    let rays = random_rays(31, 500);
    let alone = scene.closest(&rays, &Query::default()).unwrap().records;
    (0..64).into_par_iter().for_each(|_| {
        assert_eq!(scene.closest(&rays, &Query::default()).unwrap().records, alone);
    });
}

#[test]
fn exact_works_at_the_limits_of_f32() {
    let exact = Query::at(Precision::Exact);
    let (two, max) = (2f32.powi(125), f32::MAX);
    for device in devices() {
        // A ray that starts at the largest f32 still hits a sphere there.
        let far = [Sphere::new([2f32.powi(28), 0.0, 0.0], 2f32.powi(26))];
        let ray = [Ray::new([0.0; 3], [2f32.powi(-100), 0.0, 0.0]).between(max, f32::INFINITY)];
        assert_eq!(scene(device, &far).closest(&ray, &exact).unwrap().records, [Hit { t: max, id: 0 }]);
        assert_eq!(scene(device, &far).occluded(&ray, &exact).unwrap().words, [1]);
        // If the large coordinates are equal, the small ones decide.
        let near = [Sphere::new([two, 5.792_252e-38, 8.944_747_6e-38], 1.065_639_3e-37)];
        let ray = [Ray::new([two, 0.0, 0.0], [2f32.powi(-126), 0.0, 0.0]).between(-1.0, 1.0)];
        assert!(scene(device, &near).closest(&ray, &exact).unwrap()[0].is_hit(), "{}", device.name());
        // Ends above 2^127: both clearances round to the same f32, so the lower id is reported.
        let small = [Sphere::new([0.1, 0.0, 0.0], 0.01), Sphere::new([0.1, 0.0, 0.0], 0.05)];
        let ray = [Ray::new([0.0; 3], [1e-30, 0.0, 0.0]).between(2e38, 3e38)];
        for precision in Precision::ALL {
            let found = scene(device, &small).approach(&ray, &Query::at(precision)).unwrap();
            assert!((found[0].clearance / 2e8 - 1.0).abs() < 1e-6, "{} {precision:?} {found:?}", device.name());
            assert_eq!((found[0].t, found[0].id), (2e38, 0), "{} {precision:?}", device.name());
        }
    }
}
