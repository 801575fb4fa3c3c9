//! `all`, `count` and `nearest`: every sphere that a ray hits, once each and in order. Compared with single pairs, with f64 and with
//! exact arithmetic, on every device, with and without a tree.

use std::cmp::Ordering;

use rayon::prelude::*;
use umbracast::exact::{ExactRoots, Root, Roots};
use umbracast::raygen::Parallel;
use umbracast::{
    Device, DeviceOptions, Ends, Error, HitLists, Inside, Interval, Limits, OnBad, Precision, Query, Ray, Rays, Scene,
    SceneOptions, Sphere, Touch,
};
use umbracast_testing::{
    Numbers, byte_precisions, cpu, devices, hard_scenes, reference, scaled, scenes, with_and_without_tree,
};

fn policies() -> impl Iterator<Item = Query> {
    let all = [Inside::Enter, Inside::Exit, Inside::Ignore].into_iter().flat_map(|inside| {
        [(Touch::Hit, Ends::Closed), (Touch::Miss, Ends::HalfOpen)]
            .map(|(touch, ends)| Query::default().inside(inside).touch(touch).ends(ends))
    });
    all.flat_map(|query| Precision::ALL.map(|precision| query.precision(precision)))
}

/// The expected lists: the roots of all hits of each ray, from pairwise queries.
fn pair_by_pair(device: &Device, spheres: &[Sphere], rays: &[Ray], query: &Query) -> Vec<Vec<Interval>> {
    let scene = device.pairwise(spheres, &Default::default()).unwrap();
    let list = |ray: &Ray| {
        let rays = vec![*ray; spheres.len()];
        let hits = scene.closest(&rays, query).unwrap();
        let roots = scene.interval(&rays, query).unwrap();
        let mut both: Vec<_> = hits.iter().zip(roots.iter()).filter(|(hit, _)| hit.is_hit()).collect();
        both.sort_by(|(a, _), (b, _)| (a.t, a.id).partial_cmp(&(b.t, b.id)).unwrap());
        both.into_iter().map(|(_, roots)| *roots).collect()
    };
    rays.iter().map(list).collect()
}

/// Checks the lists for consistency with `count`, `closest`, `interval` and `nearest`.
fn check(what: &str, scene: &Scene, rays: &[Ray], query: &Query, lists: &HitLists) {
    assert_eq!((lists.len(), lists.offsets.len(), lists.offsets[0]), (rays.len(), rays.len() + 1, 0), "{what}");
    assert_eq!(*lists.offsets.last().unwrap(), lists.records.len() as u64, "{what}");
    let counts = scene.count(rays, query).unwrap();
    let closest = scene.closest(rays, query).unwrap();
    let interval = scene.interval(rays, query).unwrap();
    let of = |report: umbracast::Report| (report.rays, report.rays_hit, report.skipped, report.overflowed);
    assert_eq!(of(lists.report), of(closest.report), "{what}");
    assert_eq!(of(counts.report), of(closest.report), "{what}");
    for (i, (list, ray)) in lists.iter().zip(rays).enumerate() {
        assert_eq!(list.len() as u32, counts[i], "{what}, ray {i}: {ray:?}");
        let first = list.first().copied().unwrap_or(Interval::MISS);
        assert_eq!(first, interval[i], "{what}, ray {i}: {ray:?}");
        assert_eq!(first.id, closest[i].id, "{what}, ray {i}");
        if let Some(hit) = list.first().filter(|_| query.precision != Precision::Exact) {
            assert_eq!(hit.hit_t(ray, query.inside), closest[i].t, "{what}, ray {i}");
        }
        let mut ids: Vec<u32> = list.iter().map(|hit| hit.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), list.len(), "{what}, ray {i}: a sphere is listed twice");
    }
    for k in [1, 2, 3, 10, 70, 5000] {
        let nearest = scene.nearest(rays, k, query).unwrap();
        assert_eq!(of(nearest.report), of(closest.report), "{what}");
        for (i, (list, all)) in nearest.iter().zip(lists.iter()).enumerate() {
            assert_eq!(list, &all[..all.len().min(k as usize)], "{what}, nearest {k}, ray {i}: {:?}", rays[i]);
        }
    }
}

#[test]
fn hit_lists_agree_with_single_pairs() {
    let mut hit_count = 0;
    for device in devices() {
        for scene in &hard_scenes::SCENES {
            let spheres = hard_scenes::spheres(scene, 230);
            let rays: Vec<Ray> = hard_scenes::rays(&spheres, scene.2, scaled(40)).into_iter().step_by(5).collect();
            let scenes = with_and_without_tree(device, &spheres);
            for query in policies().filter(|query| byte_precisions(device).contains(&query.precision)) {
                let expected = pair_by_pair(&reference(device, query.precision), &spheres, &rays, &query);
                for (search, built) in ["tree", "brute"].iter().zip(&scenes) {
                    let what = format!("{} on {} by {search}, {query:?}", scene.0, device.name());
                    let lists = built.all(&rays, &query).unwrap();
                    // A device may flush subnormal numbers, so its lists are compared only with its own other queries.
                    if scene.0 != "subnormal" || device.is_cpu() {
                        for (i, (list, expected)) in lists.iter().zip(&expected).enumerate() {
                            assert_eq!(list, expected, "{what}, ray {i}: {:?}", rays[i]);
                        }
                    }
                    check(&what, built, &rays, &query, &lists);
                    hit_count += lists.records.len();
                }
            }
        }
    }
    // Of three precisions, a GPU may have one.
    assert!(hit_count > 30_000, "{hit_count}");
}

/// Classifies a pair in f64: a certain miss (`Some(None)`), the roots of a certain crossing, or `None` if undecided.
fn in_f64(ray: &Ray, sphere: &Sphere) -> Option<Option<[f64; 2]>> {
    let (o, d, c) = (ray.origin.as_dvec3(), ray.direction.as_dvec3(), sphere.center.as_dvec3());
    let (e, r) = (c - o, f64::from(sphere.radius));
    let k = e.dot(d) / d.length_squared();
    let apart = (e - k * d).length();
    let slack = 1e-11 * (e.length() + r);
    if apart > r + slack {
        return Some(None);
    }
    let half = (r * r - apart * apart).max(0.0).sqrt() / d.length();
    let (enter, exit) = (k - half, k + half);
    let near = |t: f64| (t - f64::from(ray.t_min)).abs() < 1e-6 || (t - f64::from(ray.t_max)).abs() < 1e-6;
    (apart < r * 0.999 && !near(enter) && !near(exit)).then_some(Some([enter, exit]))
}

/// The roots of a hit in exact arithmetic, for closed ends and solid balls.
fn in_integers(ray: &Ray, sphere: &Sphere) -> Option<[f64; 2]> {
    let roots = ExactRoots::new(ray, sphere);
    let is_hit = roots.crossing != Ordering::Less
        && roots.compare(Root::Exit, ray.t_min) != Some(Ordering::Less)
        && roots.compare(Root::Enter, ray.t_max) != Some(Ordering::Greater);
    is_hit.then(|| [Root::Enter, Root::Exit].map(|root| roots.round_f64(root)))
}

#[test]
fn a_billion_pairs_agree_with_exact_arithmetic() {
    let spheres: Vec<Sphere> = {
        let n = &mut Numbers(5);
        (0..10_000).map(|i| Sphere::new(n.vector(), if i % 100 == 0 { 0.5 } else { 0.08 } * n.unit())).collect()
    };
    let n = &mut Numbers(6);
    let query = Query::at(Precision::Exact);
    let scene = cpu().scene(&spheres, &SceneOptions::default()).unwrap();
    let (mut hit_count, mut worst) = (0, 0.0f64);
    // A billion pairs at a time, so that memory stays constant.
    for round in 0..scaled(1) {
        let mut rays: Vec<Ray> = (0..80_000).map(|_| Ray::new(n.vector(), n.vector())).collect();
        rays.extend((0..20_000).map(|_| Ray::segment(n.vector(), n.vector())));
        let expected: Vec<Vec<(u32, [f64; 2])>> = rays
            .par_iter()
            .map(|ray| {
                let one = |(id, sphere): (u32, &Sphere)| {
                    let found = in_f64(ray, sphere).map_or_else(
                        || in_integers(ray, sphere),
                        |sure| sure.filter(|[enter, exit]| *exit > ray.t_min.into() && *enter < ray.t_max.into()),
                    );
                    found.map(|roots| (id, roots))
                };
                (0..).zip(&spheres).filter_map(one).collect()
            })
            .collect();
        let lists = scene.all(&rays, &query).unwrap();
        let counts = scene.count(&rays, &query).unwrap();
        for (i, ((list, expected), ray)) in lists.iter().zip(&expected).zip(&rays).enumerate() {
            let t = |roots: [f64; 2]| roots[0].max(ray.t_min.into());
            let of = |id: u32| expected[expected.binary_search_by_key(&id, |(id, _)| *id).unwrap()].1;
            let mut ids: Vec<u32> = list.iter().map(|hit| hit.id).collect();
            ids.sort_unstable();
            assert!(ids.iter().eq(expected.iter().map(|(id, _)| id)), "round {round}, ray {i}: {ids:?}, {expected:?}");
            assert_eq!(counts[i] as usize, expected.len(), "round {round}, ray {i}");
            for found in list {
                for (found, exact) in [found.t_enter, found.t_exit].into_iter().zip(of(found.id)) {
                    // One rounding to f32. The error of the f64 values is far smaller.
                    let off = (f64::from(found) - exact).abs() / (exact.abs() * (1.0 / 16_777_216.0)).max(1e-8);
                    worst = worst.max(off);
                }
            }
            for pair in list.windows(2) {
                let (a, b) = (t(of(pair[0].id)), t(of(pair[1].id)));
                let tied = a as f32 == b as f32;
                assert!(
                    if tied { pair[0].id < pair[1].id } else { a < b },
                    "round {round}, ray {i}: {pair:?}, {a}, {b}"
                );
            }
            hit_count += list.len();
        }
    }
    assert!(hit_count > 1_000_000, "{hit_count}");
    assert!(worst < 1.001, "{worst} half steps");
}

#[test]
fn hit_lists_do_not_depend_on_the_batch() {
    let spheres = hard_scenes::spheres(&hard_scenes::SCENES[0], 3000);
    let rays = hard_scenes::rays(&spheres, 2.0, 700);
    for device in devices() {
        for built in with_and_without_tree(device, &spheres) {
            let query = Query::default();
            let whole = built.all(&rays, &query).unwrap();
            let polled = pollster::block_on(built.cast_async(umbracast::queries::All, &rays, &query)).unwrap();
            assert_eq!((&whole.offsets, &whole.records), (&polled.offsets, &polled.records));
            let count = pollster::block_on(built.cast_async(umbracast::queries::Count, &rays, &query)).unwrap();
            assert_eq!(count.records, built.count(&rays, &query).unwrap().records);
            let near = pollster::block_on(built.cast_async(umbracast::queries::Nearest(2), &rays, &query)).unwrap();
            assert_eq!(near.records, built.nearest(&rays, 2, &query).unwrap().records);
            for range in [0..1, 1..65, 65..1000, 1000..rays.len()] {
                let part = built.all(Rays::from(&rays).slice(range.clone()), &query).unwrap();
                for (i, list) in range.zip(part.iter()) {
                    assert_eq!(Some(list), whole.get(i), "ray {i} on {}", device.name());
                }
            }
        }
    }
}

#[test]
fn pairwise_lists_have_at_most_one_hit() {
    for device in devices() {
        let spheres = hard_scenes::spheres(&hard_scenes::SCENES[0], 500);
        let rays = &hard_scenes::rays(&spheres, 2.0, 500)[..500];
        let scene = device.pairwise(&spheres, &Default::default()).unwrap();
        for query in policies() {
            let lists = scene.all(rays, &query).unwrap();
            assert!(lists.iter().all(|list| list.len() <= 1));
            if !byte_precisions(device).contains(&query.precision) {
                continue;
            }
            check(&format!("pairs on {}, {query:?}", device.name()), &scene, rays, &query, &lists);
        }
    }
}

#[test]
fn empty_scenes_and_batches_have_empty_lists() {
    for device in devices() {
        let none = device.scene(&[], &SceneOptions::default()).unwrap();
        let ray = [Ray::new([0.0; 3], [1.0, 0.0, 0.0])];
        let lists = none.all(&ray, &Query::default()).unwrap();
        assert_eq!((lists.offsets.as_slice(), lists.records.len()), (&[0, 0][..], 0));
        assert_eq!((lists.get(0), lists.get(1)), (Some(&[][..]), None));
        assert_eq!(none.count(&ray, &Query::default()).unwrap().records, [0]);
        let one = device.scene(&[Sphere::new([5.0, 0.0, 0.0], 1.0)], &SceneOptions::default()).unwrap();
        let lists = one.all(&[], &Query::default()).unwrap();
        assert_eq!((lists.offsets.as_slice(), lists.is_empty()), (&[0][..], true));
        let lists = one.nearest(&ray, 3, &Query::default()).unwrap();
        assert_eq!(lists.records, [Interval { t_enter: 4.0, t_exit: 6.0, id: 0 }]);
    }
}

#[test]
fn an_overflowing_root_is_counted_and_not_listed() {
    for device in devices() {
        let spheres = [Sphere::new([1e30, 0.0, 0.0], 1.0), Sphere::new([0.0, 1e30, 0.0], 1.0)];
        let scene = device.scene(&spheres, &SceneOptions::default()).unwrap();
        let rays = [Ray::new([0.0; 3], [1e-30, 0.0, 0.0]), Ray::new([0.0; 3], [0.0, 1.0, 0.0])];
        for &precision in byte_precisions(device) {
            let lists = scene.all(&rays, &Query::at(precision)).unwrap();
            assert_eq!((lists.get(0).unwrap().len(), lists.get(1).unwrap().len()), (0, 1), "{}", device.name());
            let closest = scene.closest(&rays, &Query::at(precision)).unwrap();
            let count = scene.count(&rays, &Query::at(precision)).unwrap();
            let beyond = [lists.report, count.report, closest.report].map(|report| report.overflowed);
            assert_eq!(beyond, [1; 3], "{precision:?} on {}", device.name());
        }
    }
}

#[test]
fn bad_rays_are_refused_or_skipped() {
    for device in devices() {
        let spheres = scenes::spheres("uniform", 3000);
        let scene = device.scene(&spheres, &SceneOptions::default()).unwrap();
        let mut rays = scenes::rays("random", &spheres, 200);
        let good = scene.all(&rays, &Query::default()).unwrap();
        rays[77].direction.y = f32::NAN;
        rays[150].t_min = f32::INFINITY;
        let refuse = |error: Error| match error {
            Error::BadRecord { what, index, field, .. } => assert_eq!((what, index, field), ("ray", 77, "dy")),
            other => panic!("{other}"),
        };
        refuse(scene.all(&rays, &Query::default()).unwrap_err());
        refuse(scene.count(&rays, &Query::default()).unwrap_err());
        let skip = Query::default().on_bad(OnBad::Skip);
        let lists = scene.all(&rays, &skip).unwrap();
        let counts = scene.count(&rays, &skip).unwrap();
        assert_eq!((lists.report.skipped, counts.report.skipped), (2, 2), "{}", device.name());
        for (i, (list, good)) in lists.iter().zip(good.iter()).enumerate() {
            let expected = if [77, 150].contains(&i) { &[][..] } else { good };
            assert_eq!((list, counts[i] as usize), (expected, expected.len()), "ray {i} on {}", device.name());
        }
        assert!(matches!(scene.nearest(&rays, 0, &skip), Err(Error::InvalidArgument(_))));

        // Rays that the device generates, some from invalid points.
        let mut points = [[0.5, 0.5, -1.0]; 130];
        (points[3][0], points[70][2]) = (f32::NAN, f32::INFINITY);
        let made = Parallel { points: &points, direction: [0.01, 0.02, 1.0] };
        let lists = scene.all(&made, &skip).unwrap();
        let counts = scene.count(&made, &skip).unwrap();
        assert_eq!((lists.report.skipped, counts.report.skipped), (2, 2), "{}", device.name());
        let good = lists.get(0).unwrap();
        assert!(good.len() > 5, "{}", good.len());
        for (i, list) in lists.iter().enumerate() {
            let expected = if [3, 70].contains(&i) { &[][..] } else { good };
            assert_eq!((list, counts[i] as usize), (expected, expected.len()), "point {i} on {}", device.name());
        }
    }
}

#[test]
fn hit_lists_above_the_memory_limit_are_refused_with_figures() {
    let spheres = vec![Sphere::new([5.0, 0.0, 0.0], 1.0); 3000];
    let rays = vec![Ray::new([0.0; 3], [1.0, 0.0, 0.0]); 3000];
    let names = devices().iter().enumerate().map(|(i, _)| i.to_string());
    for name in names {
        let mut limits = Limits::default();
        limits.memory = 60 << 20;
        let device = Device::open(&DeviceOptions::new(name).limits(limits)).unwrap();
        let scene = device.scene(&spheres, &SceneOptions::default()).unwrap();
        let error = scene.all(&rays, &Query::default()).unwrap_err();
        let Error::TooLarge { what, asked, allowed, .. } = error else { panic!("{error}") };
        assert!(asked > allowed && allowed <= 60 << 20, "{what}: {asked} of {allowed}");
        let few = scene.all(&rays[..300], &Query::default()).unwrap();
        assert_eq!(few.records.len(), 300 * 3000);
        assert!(few.get(7).unwrap().iter().map(|hit| hit.id).eq(0..3000));
        assert_eq!(scene.nearest(&rays, 2, &Query::default()).unwrap().records.len(), 6000);
        assert_eq!(scene.count(&rays, &Query::default()).unwrap().records, vec![3000; 3000]);
    }
}
