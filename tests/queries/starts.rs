//! Rays that start on surfaces (`from_ids`): every query against the rule in exact arithmetic, and hits against exact surface points in
//! f64, on every device, with and without a tree.

use std::cmp::Ordering;

use umbracast::exact::{ExactRoots, Root, Roots};
use umbracast::glam::{DVec3, Vec3};
use umbracast::{
    Approach, Device, Ellipsoid, Ellipsoids, Ends, Error, Hit, Inside, Interval, Motion, NO_SPHERE, OnBad, Precision,
    Query, Ray, Rays, SceneOptions, Segments, Sphere, Spheres, Touch,
};
use umbracast_testing::{Numbers, cpu, devices, scaled, with_and_without_tree};

/// u, the unit roundoff of f32.
const U: f64 = 1.0 / 16_777_216.0;

fn random_unit(n: &mut Numbers) -> DVec3 {
    loop {
        let v = DVec3::new(n.unit_f64(), n.unit_f64(), n.unit_f64()) * 2.0 - 1.0;
        if (0.01..1.0).contains(&v.length_squared()) {
            return v.normalize();
        }
    }
}

/// Spheres around a place at `distance` from the origin: apart, touching, overlapping, equal, contained.
fn cluster(n: &mut Numbers, distance: f64, count: usize) -> Vec<Sphere> {
    let middle = distance * random_unit(n);
    let mut spheres: Vec<Sphere> = Vec::new();
    for i in 0..count {
        let r = 0.5 + n.unit_f64();
        let place = middle + 6.0 * n.unit_f64() * random_unit(n);
        let last = spheres.last().copied().unwrap_or(Sphere::new(middle.as_vec3(), 1.0));
        spheres.push(match i % 8 {
            2 => last,
            4 => Sphere::new(last.center + Vec3::X * (last.radius + r as f32), r as f32),
            6 => Sphere::new(last.center, 0.5 * last.radius),
            _ => Sphere::new(place.as_vec3(), r as f32),
        });
    }
    spheres
}

/// A ray that starts on a sphere: the rounded ray, and the exact start in f64.
struct Start {
    ray: Ray,
    id: u32,
    point: DVec3,
}

/// Starts with directions of every inclination, the cosine to the normal down to 10⁻⁶.
fn starts(n: &mut Numbers, spheres: &[Sphere], count: usize) -> Vec<Start> {
    let one = |_| {
        let id = n.bits() % spheres.len() as u32;
        let Sphere { center, radius } = spheres[id as usize];
        let normal = random_unit(n);
        let point = center.as_dvec3() + f64::from(radius) * normal;
        let cosine = 10f64.powf(-6.0 * n.unit_f64()) * if n.bits() & 1 == 0 { 1.0 } else { -1.0 };
        let tangent = normal.cross(random_unit(n)).normalize();
        let along = cosine * normal + (1.0 - cosine * cosine).sqrt() * tangent;
        let direction = along * 2f64.powf(4.0 * n.unit_f64() - 2.0);
        Start { ray: Ray::new(point.as_vec3(), direction.as_vec3()), id, point }
    };
    (0..count).map(one).collect()
}

/// What a solid sphere is for a ray from an exact start: hit or not, or too close to tell after rounding.
fn expected_hit(start: &Start, id: u32, spheres: &[Sphere]) -> Option<bool> {
    let (own, sphere) = (spheres[start.id as usize], spheres[id as usize]);
    let (c, r, d) = (sphere.center.as_dvec3(), f64::from(sphere.radius), start.ray.direction.as_dvec3());
    let (e, size) = (c - start.point, c.length() + r);
    if sphere == own {
        let cosine = e.dot(d) / (r * d.length());
        return (cosine.abs() > 4.0 * U * (1.0 + size / r)).then_some(cosine > 0.0);
    }
    let foot = e.dot(d) / d.length_squared();
    let across = (e - foot * d).length();
    // A start that is moved by an ulp moves the line by as much, and the start relative to the surface.
    let slack = 4.0 * U * size;
    let doubtful_start = (e.length() - r).abs() <= slack;
    if (across - r).abs() <= slack || doubtful_start {
        return None;
    }
    Some(across < r && (foot > 0.0 || e.length() < r))
}

#[test]
fn rays_from_surfaces_hit_what_rays_from_exact_surface_points_hit() {
    let n = &mut Numbers(39);
    let (mut judged, mut own_hits, mut doubtful) = (0_u64, 0_u64, 0_u64);
    for distance in [0.0, 1.0, 30.0, 1e3, 1e4, 1e5] {
        let spheres = cluster(n, distance, 40);
        let starts = starts(n, &spheres, scaled(4000));
        let rays: Vec<Ray> = starts.iter().map(|start| start.ray).collect();
        let ids: Vec<u32> = starts.iter().map(|start| start.id).collect();
        let rays = Rays::from(&rays).from_ids(&ids);
        for device in devices() {
            for (precision, scene) in
                [Precision::Exact, Precision::Standard].into_iter().zip(with_and_without_tree(device, &spheres))
            {
                let query = Query::at(precision);
                let lists = scene.all(rays, &query).unwrap();
                let occluded = scene.occluded(rays, &query).unwrap();
                let counts = scene.count(rays, &query).unwrap();
                let hits = scene.closest(rays, &query).unwrap();
                for (i, (start, list)) in starts.iter().zip(lists.iter()).enumerate() {
                    for id in 0..spheres.len() as u32 {
                        let found = list.iter().find(|hit| hit.id == id);
                        let Some(hit) = expected_hit(start, id, &spheres) else {
                            doubtful += 1;
                            continue;
                        };
                        judged += 1;
                        assert_eq!(
                            found.is_some(),
                            hit,
                            "{precision:?} {start_id} {id} {:?}",
                            start.ray,
                            start_id = start.id
                        );
                        if let Some(found) = found.filter(|_| spheres[id as usize] == spheres[start.id as usize]) {
                            own_hits += 1;
                            let Sphere { center, radius } = spheres[id as usize];
                            let (d, e) = (start.ray.direction.as_dvec3(), center.as_dvec3() - start.point);
                            let exit = 2.0 * e.dot(d) / d.length_squared();
                            let slack = 8.0 * U * (e.length() + center.as_dvec3().length() + f64::from(radius));
                            assert_eq!(found.t_enter, 0.0);
                            assert!((f64::from(found.t_exit) - exit).abs() * d.length() <= slack, "{found:?} {exit}");
                        }
                    }
                    assert_eq!(occluded.get(i), Some(!list.is_empty()));
                    assert_eq!(counts[i] as usize, list.len());
                    assert_eq!(hits[i].is_hit(), !list.is_empty());
                }
            }
        }
    }
    eprintln!("{judged} pairs, {own_hits} hits of the own sphere, {doubtful} too close to tell");
    assert!(own_hits > 10_000 && doubtful < judged / 20, "{judged} {own_hits} {doubtful}");
}

/// Hit points of rays from far and near, cast back to where they came from and on through their sphere.
#[test]
fn hit_points_see_where_they_were_seen_from_and_nothing_behind_their_sphere() {
    let n = &mut Numbers(40);
    for distance in [0.0, 1e2, 1e4] {
        let spheres: Vec<Sphere> = cluster(n, distance, 40).into_iter().filter(|sphere| sphere.radius > 0.0).collect();
        let eye = (spheres[0].center.as_dvec3() + 50.0 * random_unit(n)).as_vec3();
        let rays: Vec<Ray> = (0..scaled(3000))
            .map(|i| {
                let sphere = spheres[i % spheres.len()];
                let aim = sphere.center.as_dvec3() + f64::from(sphere.radius) * n.unit_f64() * random_unit(n);
                Ray::new(eye, (aim - eye.as_dvec3()).as_vec3())
            })
            .collect();
        for device in devices() {
            for scene in with_and_without_tree(device, &spheres) {
                let query = Query::default();
                let hits = scene.closest(&rays, &query).unwrap();
                let mut points: Vec<(Vec3, u32)> = Vec::new();
                for (ray, hit) in rays.iter().zip(hits.iter()).filter(|(_, hit)| hit.is_hit()) {
                    let sphere = spheres[hit.id as usize];
                    let normal = (ray.point_at(hit.t).as_dvec3() - sphere.center.as_dvec3()).normalize();
                    let cosine = normal.dot((eye - sphere.center).as_dvec3().normalize());
                    let limit = 4.0 * U * (1.0 + sphere.center.as_dvec3().length() / f64::from(sphere.radius));
                    // Not those that graze their sphere, nor those whose way back may graze another.
                    let (from, way) = (ray.point_at(hit.t).as_dvec3(), (eye - ray.point_at(hit.t)).as_dvec3());
                    let alone = spheres.iter().all(|other| {
                        let e = other.center.as_dvec3() - from;
                        let gap = (e - (e.dot(way) / way.length_squared()).clamp(0.0, 1.0) * way).length();
                        *other == sphere || gap > f64::from(other.radius) * (1.0 + 1e-5) + 1e-6 * distance
                    });
                    let square = f64::from((eye - sphere.center).length());
                    if alone && (cosine - f64::from(sphere.radius) / square).abs() > 1e-3 + limit {
                        points.push((ray.point_at(hit.t), hit.id));
                    }
                }
                assert!(points.len() > rays.len() / 4, "{}", points.len());
                let ids: Vec<u32> = points.iter().map(|(_, id)| *id).collect();
                let back: Vec<Ray> = points.iter().map(|(point, _)| Ray::segment(*point, eye)).collect();
                let seen = scene.occluded(Rays::from(&back).from_ids(&ids), &query).unwrap();
                assert_eq!(seen.report.rays_hit, 0);
                let on: Vec<Ray> = back.iter().map(|ray| Ray::new(ray.origin, -ray.direction)).collect();
                let hidden = scene.occluded(Rays::from(&on).from_ids(&ids), &query).unwrap();
                assert_eq!(hidden.report.rays_hit, ids.len() as u64);
            }
        }
    }
}

/// The rule for one sphere, from the documentation: the `t` of the policies, and the roots.
fn rule(ray: &Ray, sphere: &Sphere, is_start: bool, query: &Query) -> Option<(f32, Interval)> {
    let roots = ExactRoots::new(ray, sphere);
    let (e, d) = (sphere.center.as_dvec3() - ray.origin.as_dvec3(), ray.direction.as_dvec3());
    // The numbers of these tests are so short that f64 is exact.
    let (a, b) = (d.length_squared(), e.dot(d));
    match (is_start, roots.crossing) {
        (true, _) if b <= 0.0 => return None,
        (false, Ordering::Less) => return None,
        (false, Ordering::Equal) if query.touch == Touch::Miss => return None,
        _ => {}
    }
    let exit_against = |t: f32| match is_start {
        true => (2.0 * b).total_cmp(&(f64::from(t) * a)),
        false => roots.compare(Root::Exit, t).unwrap(),
    };
    if exit_against(ray.t_min).is_lt() {
        return None;
    }
    let (t_enter, t_exit) = match is_start {
        true => (0.0, (2.0 * b / a) as f32),
        false => (roots.round(Root::Enter).unwrap(), roots.round(Root::Exit).unwrap()),
    };
    let starts_inside = is_start || roots.compare(Root::Enter, ray.t_min).unwrap().is_lt();
    let (t, against_end) = match (starts_inside, query.inside) {
        (false, _) => (t_enter, roots.compare(Root::Enter, ray.t_max).unwrap()),
        (true, Inside::Exit) => (t_exit, exit_against(ray.t_max)),
        (true, Inside::Ignore) => return None,
        (true, _) => (ray.t_min, ray.t_min.total_cmp(&ray.t_max)),
    };
    let past = against_end.is_gt() || (against_end.is_eq() && query.ends == Ends::HalfOpen);
    (!past).then_some((t, Interval { t_enter, t_exit, id: 0 }))
}

/// Short numbers: starts exactly on surfaces, on several at once, off them by rounding, along and across, with masks and skipped ids.
#[test]
fn every_query_follows_the_rule_exactly() {
    let n = &mut Numbers(41);
    let mut spheres: Vec<Sphere> = (0..24)
        .map(|_| {
            Sphere::new(
                Vec3::from_array(std::array::from_fn(|_| (n.bits() % 5) as f32)),
                0.5 * (1 + n.bits() % 3) as f32,
            )
        })
        .collect();
    spheres.extend([spheres[3], spheres[3], spheres[5], Sphere::new([2.0, 2.0, 2.0], 0.0)]);
    let sphere_masks: Vec<u32> = (0..spheres.len()).map(|_| 1 + n.bits() % 3).collect();
    let count = scaled(1500);
    let (mut rays, mut from, mut skips, mut masks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..count {
        let id = n.bits() % spheres.len() as u32;
        let axis: [f32; 3] =
            [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.6, 0.0, 0.8], [0.0, 0.28, -0.96]][n.bits() as usize % 4];
        let origin = spheres[id as usize].center + spheres[id as usize].radius * Vec3::from_array(axis);
        let mut direction = Vec3::from_array(std::array::from_fn(|_| (n.bits() % 5) as f32 - 2.0));
        if direction == Vec3::ZERO {
            direction = Vec3::Z;
        }
        let t_min = [0.0, 0.0, 0.25, 1.0][n.bits() as usize % 4];
        let t_max = [f32::INFINITY, 0.5, 1.0, 3.0][n.bits() as usize % 4].max(t_min);
        rays.push(Ray::new(origin, direction).between(t_min, t_max));
        from.push(if n.bits().is_multiple_of(8) { NO_SPHERE } else { id });
        skips.push(if n.bits().is_multiple_of(4) { n.bits() % spheres.len() as u32 } else { NO_SPHERE });
        masks.push(1 + n.bits() % 3);
    }
    let transmittances: Vec<f32> = (0..spheres.len()).map(|i| if i % 3 == 0 { 0.0 } else { 0.5 }).collect();
    let set = Spheres::from(&spheres).masks(&sphere_masks).transmittances(&transmittances);
    let batch = Rays::from(&rays).from_ids(&from).skip_ids(&skips).masks(&masks);
    let mut own = 0;
    for device in devices() {
        for scene in with_and_without_tree(device, set) {
            for inside in [Inside::Enter, Inside::Exit, Inside::Ignore] {
                for (ends, touch) in [(Ends::Closed, Touch::Hit), (Ends::HalfOpen, Touch::Miss)] {
                    let query = Query::at(Precision::Exact).inside(inside).ends(ends).touch(touch);
                    let lists = scene.all(batch, &query).unwrap();
                    let nearest = scene.nearest(batch, 2, &query).unwrap();
                    let hits = scene.closest(batch, &query).unwrap();
                    let intervals = scene.interval(batch, &query).unwrap();
                    let counts = scene.count(batch, &query).unwrap();
                    let occluded = scene.occluded(batch, &query).unwrap();
                    let light = scene.transmittance(batch, &query).unwrap();
                    for (i, ray) in rays.iter().enumerate() {
                        let is_start =
                            |id: u32| from[i] != NO_SPHERE && spheres[from[i] as usize] == spheres[id as usize];
                        let mut wanted: Vec<(f32, Interval)> = (0..spheres.len() as u32)
                            .filter(|id| masks[i] & sphere_masks[*id as usize] != 0 && skips[i] != *id)
                            .filter_map(|id| {
                                let (t, hit) = rule(ray, &spheres[id as usize], is_start(id), &query)?;
                                own += u32::from(is_start(id));
                                Some((t, Interval { id, ..hit }))
                            })
                            .collect();
                        wanted.sort_by(|(t, a), (s, b)| t.total_cmp(s).then(a.id.cmp(&b.id)));
                        let list: Vec<Interval> = wanted.iter().map(|(_, hit)| *hit).collect();
                        let what = format!("{query:?} {ray:?} from {} on {}", from[i], device.name());
                        assert_eq!(lists.get(i).unwrap(), list, "{what}");
                        assert_eq!(nearest.get(i).unwrap(), &list[..list.len().min(2)], "{what}");
                        let first = wanted.first().map_or(Hit::MISS, |(t, hit)| Hit { t: *t, id: hit.id });
                        assert_eq!(hits[i], first, "{what}");
                        assert_eq!(intervals[i], list.first().copied().unwrap_or(Interval::MISS), "{what}");
                        assert_eq!(counts[i] as usize, list.len(), "{what}");
                        assert_eq!(occluded.get(i), Some(!list.is_empty()), "{what}");
                        let product: f32 = list.iter().map(|hit| transmittances[hit.id as usize]).product();
                        assert_eq!(light[i], product, "{what}");
                    }
                    assert_eq!(hits.report.rays_hit, occluded.report.rays_hit);
                    assert_eq!(hits.report.rays_hit, hits.iter().filter(|hit| hit.is_hit()).count() as u64);
                }
            }
        }
    }
    assert!(own > 1000, "{own}");
}

/// The same bits at every instruction set, in one task and in many, and from the polling interface.
#[test]
fn rays_from_surfaces_give_the_same_bits_at_every_instruction_set() {
    let n = &mut Numbers(42);
    let spheres = cluster(n, 100.0, 600);
    let starts = starts(n, &spheres, 2000);
    let rays: Vec<Ray> = starts.iter().map(|start| start.ray).collect();
    let ids: Vec<u32> = starts.iter().map(|start| start.id).collect();
    let rays = Rays::from(&rays).from_ids(&ids);
    let query = Query::at(Precision::Exact);
    let mut first = None;
    for level in Device::levels() {
        let scene = cpu().with_level(level).scene(&spheres, &SceneOptions::default()).unwrap();
        let lists = scene.all(rays, &query).unwrap();
        let hits = scene.closest(rays, &query).unwrap();
        let near = scene.approach(rays, &query).unwrap();
        let polled = pollster::block_on(scene.cast_async(umbracast::queries::Closest, rays, &query)).unwrap();
        assert_eq!(hits.records, polled.records);
        let one: Vec<Hit> =
            (0..starts.len()).map(|i| scene.closest(rays.slice(i..i + 1), &query).unwrap()[0]).collect();
        assert_eq!(hits.records, one);
        let all = (lists.records, hits.records, near.records);
        assert_eq!(first.get_or_insert_with(|| all.clone()), &all, "{level}");
    }
}

/// `approach` leaves the sphere out that a ray leaves, and takes the one that it enters like any other.
/// A hit at `t_min` may be the start of a ray inside a sphere only if starts inside are hits.
#[test]
fn rays_from_hits_at_the_start_of_a_ray_have_their_sphere_unless_the_start_may_be_inside() {
    let scene = cpu().scene(&[Sphere::new([5.0, 0.0, 0.0], 1.0)], &SceneOptions::default()).unwrap();
    let on = [Ray::new([4.0, 0.0, 0.0], [1.0, 0.0, 0.0]), Ray::new([0.0; 3], [1.0, 0.0, 0.0]).between(4.0, 9.0)];
    for (inside, from, t) in [(Inside::Enter, NO_SPHERE, [0.0, 4.0]), (Inside::Ignore, 0, [0.0, 4.0])] {
        let hits = scene.closest(&on, &Query::new().inside(inside)).unwrap();
        assert_eq!(hits.iter().map(|hit| hit.t).collect::<Vec<_>>(), t);
        assert_eq!(hits.rays_to(&on, [0.0; 3]).unwrap().from_ids, [from; 2], "{inside:?}");
    }
    // The exit is at t_min.
    let last = [Ray::new([0.0; 3], [1.0, 0.0, 0.0]).between(6.0, 9.0)];
    let hits = scene.closest(&last, &Query::new().inside(Inside::Exit)).unwrap();
    let back = hits.rays_to(&last, [9.0, 0.0, 0.0]).unwrap();
    assert_eq!((hits[0].t, &back.from_ids[..]), (6.0, &[0][..]));
    assert_eq!(scene.occluded(&back, &Query::default()).unwrap().get(0), Some(false));
}

#[test]
fn rays_from_hits_of_rays_that_travel_with_spheres_have_the_times_of_the_hits() {
    let (ball, velocity) = ([Sphere::new([5.0, 0.0, 0.0], 1.0)], [Vec3::new(-0.1, 0.0, 0.0)]);
    let options = SceneOptions::default().time_range([0.0, 9.0]);
    let scene = cpu().scene(Spheres::from(&ball).velocities(&velocity), &options).unwrap();
    let ray = [Ray::new([0.0; 3], [1.0, 0.0, 0.0]).between(0.0, 9.0)];
    let hits = scene.closest(&ray, &Query::new().motion(Motion::WithRay)).unwrap();
    for (target, dark) in [([0.0; 3], false), ([9.0, 0.0, 0.0], true)] {
        let rays = hits.rays_to(&ray, target).unwrap();
        assert_eq!(scene.occluded(&rays, &Query::default()).unwrap().get(0), Some(dark));
    }
}

#[test]
fn approach_leaves_out_the_sphere_that_a_ray_leaves() {
    let spheres = [Sphere::new([0.0; 3], 1.0), Sphere::new([0.0; 3], 1.0), Sphere::new([9.0, 3.0, 0.0], 1.0)];
    let (out, into) = (Ray::new([1.0, 0.0, 0.0], [1.0, 0.0, 0.0]), Ray::new([1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]));
    for device in devices() {
        for scene in with_and_without_tree(device, &spheres) {
            for precision in Precision::ALL {
                let near = scene.approach(Rays::from(&[out, into]).from_ids(&[0, 1]), &Query::at(precision)).unwrap();
                assert_eq!(
                    near.records,
                    [Approach { t: 8.0, clearance: 2.0, id: 2 }, Approach { t: 1.0, clearance: -1.0, id: 0 }]
                );
            }
        }
    }
}

/// Moving spheres, thick rays, segments, ellipsoids and pairwise scenes.
#[test]
fn starts_are_taken_at_the_ray_s_time_on_enlarged_spheres_and_in_the_space_of_the_ball() {
    let query = Query::default();
    let out = Ray::new([11.0, 0.0, 0.0], [1.0, 0.0, 0.0]);
    let into = Ray::new([11.0, 0.0, 0.0], [-2.0, 0.0, 0.0]);
    let inside = |t_exit| [Interval { t_enter: 0.0, t_exit, id: 0 }];
    let (both, zeros) = ([out, into], [0, 0]);
    let rays = Rays::from(&both).from_ids(&zeros);
    for device in devices() {
        // At time 0.5 the sphere is at x = 10.
        let (sphere, velocity) = ([Sphere::new([0.0; 3], 1.0)], [Vec3::new(20.0, 0.0, 0.0)]);
        let scene = device.scene(Spheres::from(&sphere).velocities(&velocity), &SceneOptions::default()).unwrap();
        let timed = rays.times(&[0.5, 0.5]);
        let lists = scene.all(timed, &query).unwrap();
        assert_eq!((lists.get(0).unwrap(), lists.get(1).unwrap()), (&[][..], &inside(1.0)[..]));
        let error = scene.all(timed, &query.motion(Motion::WithRay)).unwrap_err();
        assert!(error.to_string().contains("from_ids"), "{error}");

        // The sphere of radius 1 is enlarged to 3.
        let scene = device.scene(&[Sphere::new([8.0, 0.0, 0.0], 1.0)], &SceneOptions::default()).unwrap();
        let lists = scene.all(rays.radii(&[2.0, 2.0]), &query).unwrap();
        assert_eq!((lists.get(0).unwrap(), lists.get(1).unwrap()), (&[][..], &inside(3.0)[..]));
        let segments = Segments::new([[[9.0, 0.0, 0.0], [20.0, 0.0, 0.0]], [[9.0, 0.0, 0.0], [5.0, 0.0, 0.0]]]);
        let lists = scene.all(Rays::from(&segments).from_ids(&[0, 0]), &query).unwrap();
        assert_eq!((lists.get(0).unwrap(), lists.get(1).unwrap()), (&[][..], &inside(0.5)[..]));

        let ellipsoids = Ellipsoids::new([Ellipsoid::new([8.0, 0.0, 0.0], [3.0, 1.0, 0.5])]);
        let scene = device.scene(&ellipsoids, &SceneOptions::default()).unwrap();
        let lists = scene.all(rays, &query).unwrap();
        assert_eq!((lists.get(0).unwrap(), lists.get(1).unwrap()), (&[][..], &inside(3.0)[..]));

        let spheres = [Sphere::new([10.0, 0.0, 0.0], 1.0), Sphere::new([10.0, 0.0, 0.0], 1.0)];
        let scene = device.pairwise(&spheres, &Default::default()).unwrap();
        let hits = scene.closest(Rays::from(&[out, into]).from_ids(&[0, 1]), &query.inside(Inside::Exit)).unwrap();
        assert_eq!(hits.records, [Hit::MISS, Hit { t: 1.0, id: 1 }]);
        let error = scene.closest(Rays::from(&[out, into]).from_ids(&[1, 1]), &query).unwrap_err();
        assert!(error.to_string().contains("paired with sphere 0"), "{error}");
    }
}

#[test]
fn rays_that_cannot_start_on_their_surface_are_refused_or_skipped_and_doubtful_ones_counted() {
    let spheres = [Sphere::new([10.0, 0.0, 0.0], 1.0)];
    let on = Ray::new([11.0, 0.0, 0.0], [-1.0, 0.0, 0.0]);
    let cases = [
        (on.between(-1.0, 5.0), 0, "t_min"),
        (on, 7, "no such sphere"),
        (Ray::new([11.1, 0.0, 0.0], [-1.0, 0.0, 0.0]), 0, "does not lie on the surface"),
        (Ray::new([10.0, 0.0, 0.0], [-1.0, 0.0, 0.0]), 0, "does not lie on the surface"),
    ];
    for device in devices() {
        for scene in with_and_without_tree(device, &spheres) {
            for (ray, id, why) in &cases {
                let (rays, ids) = ([on, *ray], [0, *id]);
                let rays = Rays::from(&rays).from_ids(&ids);
                let Err(Error::BadRecord { what: "ray", index: 1, .. }) = scene.closest(rays, &Query::default()) else {
                    panic!("{ray:?} {id}");
                };
                let error = pollster::block_on(scene.cast_async(umbracast::queries::Closest, rays, &Query::default()))
                    .unwrap_err();
                assert!(error.to_string().contains(why), "{error}");
                let skipped = scene.closest(rays, &Query::default().on_bad(OnBad::Skip)).unwrap();
                assert_eq!((skipped.records, skipped.report.skipped), (vec![Hit { t: 0.0, id: 0 }, Hit::MISS], 1));
            }
            // 2⁻²⁰ (11 + 10 + 1) is 2.1e-5, and 2⁻¹⁰ + 2⁻¹⁶ · 22 is 1.3e-3.
            for (offset, off_surface) in [(1e-5, 0), (4e-5, 1), (1e-3, 1)] {
                let rays = [Ray::new([11.0 + offset, 0.0, 0.0], [1.0, 0.0, 0.0])];
                let hits = scene.closest(Rays::from(&rays).from_ids(&[0]), &Query::default()).unwrap();
                assert_eq!((hits[0], hits.report.off_surface), (Hit::MISS, off_surface));
            }
        }
    }
    let (rays, short) = ([on], [0, 0]);
    let scene = cpu().scene(&spheres, &SceneOptions::default()).unwrap();
    let error = scene.closest(Rays::from(&rays).from_ids(&short), &Query::default()).unwrap_err();
    assert!(error.to_string().contains("from_ids"), "{error}");
}
