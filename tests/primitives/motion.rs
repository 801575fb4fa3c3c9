//! Moving spheres, thick rays and segments: compared with exact corpora, and with scenes at rest.

use umbracast::glam::Vec3;
use umbracast::{
    Approach, Device, Hit, Inside, Interval, Motion, Precision, Query, Ray, Rays, Scene, SceneOptions, Segments,
    Sphere, Spheres,
};
use umbracast_testing::{Numbers, both_searches, byte_precisions, devices, hard_scenes, quarters, reference, scaled};

/// A binary corpus of `tests/data`; README.md there has the format.
struct Corpus {
    bytes: Vec<u8>,
    size: usize,
}

impl Corpus {
    fn read(name: &str, size: usize, count: usize) -> Self {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
        let bytes = std::fs::read(path).unwrap();
        assert_eq!((&bytes[..8], bytes.len()), (&b"RSPHCOR1"[..], 32 + size * count), "{name}");
        Self { bytes, size }
    }

    fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes[32..].chunks_exact(self.size)
    }
}

fn f32_at(row: &[u8], i: usize) -> f32 {
    f32::from_le_bytes(row[4 * i..4 * i + 4].try_into().unwrap())
}

fn vec_at(row: &[u8], i: usize) -> Vec3 {
    Vec3::new(f32_at(row, i), f32_at(row, i + 1), f32_at(row, i + 2))
}

fn f64_at(row: &[u8], byte: usize) -> f64 {
    f64::from_le_bytes(row[byte..byte + 8].try_into().unwrap())
}

/// The error of a number in units of the spacing of f32 at the exact value.
fn steps(found: f32, exact: f64) -> f64 {
    let size = (exact.abs() as f32).max(f32::MIN_POSITIVE);
    (f64::from(found) - exact).abs() / f64::from(size.next_up() - size)
}

#[test]
fn hits_of_moving_spheres_agree_with_exact_arithmetic() {
    let corpus = Corpus::read("moving.bin", 96, 2000);
    let rows: Vec<&[u8]> = corpus.rows().collect();
    let rays: Vec<Ray> =
        rows.iter().map(|row| Ray::new(vec_at(row, 0), vec_at(row, 3)).between(0.0, f32_at(row, 13))).collect();
    let spheres: Vec<Sphere> = rows.iter().map(|row| Sphere::new(vec_at(row, 6), f32_at(row, 12))).collect();
    let velocities: Vec<Vec3> = rows.iter().map(|row| vec_at(row, 9)).collect();
    let last = rays.iter().map(|ray| ray.t_max).fold(0.0, f32::max);
    for device in devices() {
        let given = Spheres::from(&spheres).velocities(&velocities);
        let options = SceneOptions::default().time_range([0.0, last]);
        let pairs = device.pairwise(given, &options).unwrap();
        for precision in Precision::ALL {
            let query = Query::at(precision).motion(Motion::WithRay);
            let found = pairs.interval(&rays, &query).unwrap();
            let hits = pairs.closest(&rays, &query).unwrap();
            let (mut wrong, mut worst, mut hit_count) = (0, 0.0f64, 0);
            for (i, row) in rows.iter().enumerate() {
                let (t, gap) = ([f64_at(row, 56), f64_at(row, 64)], f64_at(row, 72));
                let (hit, case) = (row[82] == 1, row[83]);
                assert_eq!(found[i].is_hit(), hits[i].is_hit(), "row {i}");
                if found[i].is_hit() != hit {
                    wrong += 1;
                    assert_eq!(precision, Precision::Fast, "row {i} (case {case}) on {}: gap {gap}", device.name());
                    continue;
                }
                if !hit || case == 3 {
                    continue;
                }
                hit_count += 1;
                // Roots are compared only if the half chord is at least a tenth of the radius.
                if (1.0 - (1.0 + gap) * (1.0 + gap)).max(0.0).sqrt() < 0.1 && precision != Precision::Exact {
                    continue;
                }
                let roots = [found[i].t_enter, found[i].t_exit];
                for (root, t) in roots.into_iter().zip(t) {
                    let off = steps(root, t);
                    if precision == Precision::Exact {
                        assert!(root == t as f32, "row {i} on {}: {root}, {t}", device.name());
                    } else {
                        worst = worst.max(off);
                    }
                }
            }
            eprintln!("{} {precision:?}: {hit_count} hits, {wrong} wrong flags, worst {worst:.2} steps", device.name());
            assert!(hit_count > 700 && wrong <= 20, "{hit_count}, {wrong}");
            if precision == Precision::Standard {
                assert!(worst < 16.0, "{worst}");
            }
        }
    }
}

/// Near zero, pairs are enlarged by 2⁶⁰ before they are intersected. Such velocities would then exceed f32.
#[test]
fn tiny_spheres_may_be_fast() {
    let (spheres, velocities) = ([Sphere::new([5e-23, -5e-23, 5e-23], 8e-23)], [Vec3::new(-2e21, 8e20, 1.6e21)]);
    // Through the centre, past it, and through the place where the sphere is at time 2⁻¹⁴⁰.
    let time = 2f32.powi(-140);
    let later = Vec3::new(5e-23, -5e-23, 5e-23) + velocities[0] * time;
    let rays = [
        Ray::new([0.0, -5e-23, 5e-23], [1e-22, 0.0, 0.0]).between(-1.0, 2.0),
        Ray::new([0.0; 3], [1e-22, 0.0, 0.0]),
        Ray::new(later - 1e-22 * Vec3::X, [1e-22, 0.0, 0.0]),
    ];
    let expected = [-0.3, 0.5 - 0.1 * 14f32.sqrt(), 0.2];
    for device in devices() {
        let of = Spheres::from(&spheres[..]).velocities(&velocities);
        let scene = device.scene(of, &SceneOptions::default().time_range([-1.0, 1.0])).unwrap();
        for precision in Precision::ALL {
            let hits = scene.closest(Rays::from(&rays[..]).times(&[0.0, 0.0, time]), &Query::at(precision)).unwrap();
            // Some devices flush such a time to 0, and resolve it only at `exact`.
            let kept = if precision == Precision::Exact { 3 } else { 2 };
            let near = hits.iter().zip(expected).take(kept).all(|(hit, t)| (hit.t - t).abs() < 1e-5);
            assert!(near, "{} {precision:?}: {hits:?}", device.name());
        }
    }
}

#[test]
fn segments_agree_with_exact_arithmetic() {
    let corpus = Corpus::read("segments.bin", 104, 1500);
    let rows: Vec<&[u8]> = corpus.rows().collect();
    let ends = rows.iter().map(|row| [vec_at(row, 0).to_array(), vec_at(row, 3).to_array()]);
    let segments = Segments::new(ends);
    let spheres: Vec<Sphere> = rows.iter().map(|row| Sphere::new(vec_at(row, 6), f32_at(row, 9))).collect();
    for device in devices() {
        let pairs = device.pairwise(&spheres, &Default::default()).unwrap();
        for precision in Precision::ALL {
            let query = Query::at(precision);
            let hits = pairs.closest(&segments, &query).unwrap();
            let found = pairs.interval(&segments, &query).unwrap();
            let near = pairs.approach(&segments, &query).unwrap();
            let occluded = pairs.occluded(&segments, &query).unwrap();
            let (mut wrong, mut worst, mut hit_count) = (0, [0.0f64; 2], 0);
            for (i, row) in rows.iter().enumerate() {
                let [t0, t1, s, distance, gap] = [40, 48, 56, 64, 72].map(|byte| f64_at(row, byte));
                let solid = row[84] == 1;
                if byte_precisions(device).contains(&precision) {
                    let both = (found[i].is_hit(), Some(hits[i].is_hit()));
                    assert_eq!((hits[i].is_hit(), occluded.get(i)), both, "row {i}");
                }
                if hits[i].is_hit() != solid {
                    wrong += 1;
                    assert_eq!(precision, Precision::Fast, "row {i} on {}: gap {gap}", device.name());
                    continue;
                }
                let r = f64::from(spheres[i].radius);
                if precision == Precision::Exact {
                    assert_eq!(near[i].t, s as f32, "row {i} on {}", device.name());
                    assert_eq!(near[i].clearance, (distance - r) as f32, "row {i} on {}", device.name());
                }
                if !solid {
                    continue;
                }
                hit_count += 1;
                let chord = (1.0 - (1.0 + gap) * (1.0 + gap)).max(0.0).sqrt();
                for (root, t) in [found[i].t_enter, found[i].t_exit].into_iter().zip([t0, t1]) {
                    if precision == Precision::Exact {
                        assert!(root == t as f32, "row {i} on {}: {root}, {t}", device.name());
                    } else if chord > 0.1 {
                        // For a start near the surface, the near root has the absolute error of the far one.
                        worst[0] = worst[0].max(steps(root, t).min(steps(root - t as f32, 0.0)));
                        worst[1] = worst[1].max((f64::from(root) - t).abs() / (t1 - t0));
                    }
                }
            }
            eprintln!("{} {precision:?}: {hit_count} hits, {wrong} wrong flags, worst {worst:?}", device.name());
            assert!(hit_count > 500 && wrong <= 20, "{hit_count}, {wrong}");
        }
    }
}

/// A scene with a tree, however few the spheres, and one without.
pub(super) fn scenes(device: &Device, spheres: Spheres<'_>, range: [f32; 2]) -> [Scene; 2] {
    both_searches(device, spheres, &SceneOptions::default().time_range(range))
}

/// The results of all queries.
#[derive(Debug, PartialEq)]
struct Answers {
    hits: Vec<Hit>,
    roots: Vec<Interval>,
    near: Vec<Approach>,
    occluded: Vec<bool>,
    counts: Vec<u32>,
    lists: (Vec<u64>, Vec<Interval>),
    firsts: Vec<Interval>,
}

fn run_all(scene: &Scene, rays: Rays<'_>, query: &Query) -> Answers {
    let lists = scene.all(rays, query).unwrap();
    Answers {
        hits: scene.closest(rays, query).unwrap().records,
        roots: scene.interval(rays, query).unwrap().records,
        near: scene.approach(rays, query).unwrap().records,
        occluded: scene.occluded(rays, query).unwrap().iter().collect(),
        counts: scene.count(rays, query).unwrap().records,
        lists: (lists.offsets, lists.records),
        firsts: scene.nearest(rays, 2, query).unwrap().records,
    }
}

#[test]
fn the_bvh_of_moving_spheres_gives_the_results_of_brute_force() {
    let range = [-1.0, 3.0];
    for scene in [0, 2, 5] {
        let scene = &hard_scenes::SCENES[scene];
        let spheres = hard_scenes::spheres(scene, 300);
        let n = &mut Numbers(9);
        let size = spheres.iter().map(|s| s.center.abs().max_element()).fold(0.0, f32::max);
        let velocities: Vec<Vec3> = spheres.iter().map(|_| Vec3::from(n.vector()) * 0.1 * size).collect();
        let rays: Vec<Ray> = hard_scenes::rays(&spheres, scene.2, scaled(60).max(60));
        let rays: Vec<Ray> =
            rays.into_iter().map(|ray| ray.between(ray.t_min.clamp(-1.0, 0.5), ray.t_max.clamp(1.0, 3.0))).collect();
        let times: Vec<f32> = rays.iter().map(|_| 1.0 + 2.0 * n.unit() * 0.99).collect();
        let radii: Vec<f32> =
            (0..rays.len()).map(|i| if i % 3 == 0 { 0.01 * size * n.unit().abs() } else { 0.0 }).collect();
        let given = Spheres::from(&spheres).velocities(&velocities);
        for motion in [Motion::AtTime, Motion::WithRay] {
            for precision in Precision::ALL {
                for inside in [Inside::Enter, Inside::Exit] {
                    let query = Query::at(precision).motion(motion).inside(inside);
                    let attributed_rays = Rays::from(&rays).times(&times).radii(&radii);
                    for device in devices().iter().filter(|device| byte_precisions(device).contains(&precision)) {
                        // The reference has no tree.
                        let [_, plain] = scenes(&reference(device, precision), given, range);
                        let expected = run_all(&plain, attributed_rays, &query);
                        let hit_count = expected.hits.iter().filter(|hit| hit.is_hit()).count();
                        assert!(hit_count > 20 && hit_count < rays.len(), "{}, {query:?}: {hit_count}", scene.0);
                        for (search, built) in ["tree", "brute"].iter().zip(scenes(device, given, range)) {
                            let found = run_all(&built, attributed_rays, &query);
                            assert!(found == expected, "{} on {} by {search}, {query:?}", scene.0, device.name());
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn pairwise_motion_equals_scenes_of_one_sphere() {
    let n = &mut Numbers(4);
    let spheres: Vec<Sphere> = (0..300).map(|_| Sphere::new(n.vector(), 0.6)).collect();
    let velocities: Vec<Vec3> = spheres.iter().map(|_| n.vector().into()).collect();
    let rays: Vec<Ray> = spheres.iter().map(|_| Ray::new(n.vector(), n.vector()).between(0.0, 1.0)).collect();
    let radii = vec![0.1; 300];
    for device in devices() {
        for motion in [Motion::AtTime, Motion::WithRay] {
            let query = Query::default().motion(motion);
            let given = Spheres::from(&spheres).velocities(&velocities);
            let pairs = device.pairwise(given, &Default::default()).unwrap();
            let times = vec![0.5; 300];
            let all = pairs.closest(Rays::from(&rays).radii(&radii).times(&times), &query).unwrap();
            assert!((20..280).contains(&all.report.rays_hit), "{}", all.report.rays_hit);
            for i in (0..300).step_by(7) {
                let one = Spheres::from(&spheres[i..=i]).velocities(&velocities[i..=i]);
                let scene = device.scene(one, &SceneOptions::default()).unwrap();
                let ray = Rays::from(&rays[i..=i]).radii(&radii[i..=i]).times(&times[i..=i]);
                let hit = scene.closest(ray, &query).unwrap()[0];
                assert_eq!((hit.t, hit.is_hit()), (all[i].t, all[i].is_hit()), "pair {i} on {}", device.name());
            }
        }
    }
}

#[test]
fn a_fixed_time_equals_a_scene_at_rest_and_a_thick_ray_a_larger_sphere() {
    let n = &mut Numbers(21);
    let spheres: Vec<Sphere> = (0..200).map(|_| Sphere::new(quarters(n), 0.5)).collect();
    let velocities: Vec<Vec3> = spheres.iter().map(|_| quarters(n) * 0.25).collect();
    let rays: Vec<Ray> = (0..scaled(150)).map(|_| Ray::new(n.vector().map(|x| 12.0 * x), n.vector())).collect();
    for device in devices() {
        for precision in byte_precisions(device).iter().copied() {
            let query = Query::at(precision);
            let moving = Spheres::from(&spheres).velocities(&velocities);
            for built in scenes(device, moving, [0.0, 4.0]) {
                for time in [0.0, 0.5, 4.0] {
                    let there = |(sphere, velocity): (&Sphere, &Vec3)| Sphere {
                        center: sphere.center + *velocity * time,
                        ..*sphere
                    };
                    let still: Vec<Sphere> = spheres.iter().zip(&velocities).map(there).collect();
                    let [_, rest] = scenes(device, (&still).into(), [0.0, 1.0]);
                    let times = vec![time; rays.len()];
                    let found = run_all(&built, Rays::from(&rays).times(&times), &query);
                    assert!(found == run_all(&rest, (&rays).into(), &query), "{time} on {}, {query:?}", device.name());
                }
            }
            let larger: Vec<Sphere> = spheres.iter().map(|s| Sphere { radius: s.radius + 0.25, ..*s }).collect();
            let [_, large] = scenes(device, (&larger).into(), [0.0, 1.0]);
            for built in scenes(device, (&spheres).into(), [0.0, 1.0]) {
                let radii = vec![0.25; rays.len()];
                let found = run_all(&built, Rays::from(&rays).radii(&radii), &query);
                assert!(found == run_all(&large, (&rays).into(), &query), "on {}, {query:?}", device.name());
            }
        }
    }
}

#[test]
fn without_relative_motion_a_sphere_is_hit_always_or_never() {
    let along = [Vec3::new(0.0, 3.0, 0.0)];
    let sphere = [Sphere::new([5.0, 0.0, 0.0], 1.0)];
    let ray = |x: f32| Ray::new([x, 0.0, 0.0], along[0]).between(0.0, 1.0);
    let rays = [ray(4.5), ray(4.0), ray(3.9)];
    for device in devices() {
        for scene in scenes(device, Spheres::from(&sphere).velocities(&along), [0.0, 1.0]) {
            for precision in Precision::ALL {
                let query = Query::at(precision).motion(Motion::WithRay);
                let hits = scene.closest(&rays, &query).unwrap();
                let inside = Hit { t: 0.0, id: 0 };
                assert_eq!(*hits, [inside, inside, Hit::MISS], "{precision:?} on {}", device.name());
                let near = scene.approach(&rays, &query).unwrap();
                let found = [near[0].clearance + 0.5, near[1].clearance, near[0].t];
                let most = if byte_precisions(device).contains(&precision) { 0.0 } else { 2e-7 };
                assert!(found.iter().all(|off| off.abs() <= most), "{found:?} {precision:?} on {}", device.name());
                assert!((near[2].clearance - 0.1).abs() < 1e-6);
                let out = query.inside(Inside::Exit);
                assert!(scene.closest(&rays[..1], &out).unwrap().iter().all(|hit| !hit.is_hit()));
            }
        }
    }
}
