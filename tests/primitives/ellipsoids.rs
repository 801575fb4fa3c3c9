//! Ellipsoids: compared with an exact corpus, with f64 and with spheres, with and without a tree.

use std::f64::consts::PI;

use umbracast::glam::{DMat3, DQuat, DVec3, Quat, Vec3};
use umbracast::{
    Ellipsoid, Ellipsoids, Ends, Hit, Inside, Interval, Motion, Precision, Query, Ray, Rays, Scene, SceneOptions,
    Segments, Sphere, Spheres, Touch,
};
use umbracast_testing::{Numbers, both_searches, byte_precisions, devices, scaled};

const U: f64 = 1.0 / 16_777_216.0;

/// A ray and an ellipsoid in f64, in the space where the ellipsoid is the unit ball.
struct UnitBallPair {
    e: DVec3,
    d: DVec3,
    /// The ratio of the longest and the shortest semi-axis; and the distance in units of the longest one.
    slimness: f64,
    distance: f64,
}

impl UnitBallPair {
    fn of(ray: &Ray, ellipsoid: &Ellipsoid) -> Self {
        let q = ellipsoid.rotation;
        let q = DQuat::from_xyzw(q.x.into(), q.y.into(), q.z.into(), q.w.into()).normalize();
        let back = DMat3::from_quat(q).transpose();
        let radii = ellipsoid.radii.as_dvec3();
        let e = ellipsoid.center.as_dvec3() - ray.origin.as_dvec3();
        let longest = radii.max_element();
        Self {
            e: back * e / radii,
            d: back * ray.direction.as_dvec3() / radii,
            slimness: longest / radii.min_element(),
            distance: e.length() / longest,
        }
    }

    fn foot(&self) -> f64 {
        self.e.dot(self.d) / self.d.length_squared()
    }

    /// The distance of the line from the centre, minus 1.
    fn gap(&self) -> f64 {
        (self.e - self.foot() * self.d).length() - 1.0
    }

    fn roots(&self) -> Option<[f64; 2]> {
        let p = self.e - self.foot() * self.d;
        let half = (1.0 - p.length_squared()).max(0.0).sqrt() / self.d.length();
        let constant = self.e.length_squared() - 1.0;
        // The quotient form of the roots, without cancellation.
        let b = self.e.dot(self.d);
        let q = b + (half * self.d.length_squared()).copysign(b);
        let mut roots = [constant / q, q / self.d.length_squared()];
        roots.sort_by(f64::total_cmp);
        (self.gap() <= 0.0).then_some(roots)
    }

    /// The error bound of a root, with `share` as the factor of the term in 2⁻²⁴.
    fn bound(&self, t: f64, share: f64) -> f64 {
        let [enter, exit] = self.roots().unwrap();
        let (half, most) = (0.5 * (exit - enter), 1.0 / self.d.length());
        let moved = 2f64.powi(-42) * self.slimness * (self.distance + 1.0);
        share * U * (t.abs() + most * most / half) + moved * most * (1.0 + most / half)
    }
}

/// The rows of `tests/data/ray_ellipsoid.csv`: category, ellipsoid, ray, t, and the discriminant divided by b².
fn corpus() -> Vec<(String, Ellipsoid, Ray, Option<f64>, f64)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ray_ellipsoid.csv");
    let text = std::fs::read_to_string(path).unwrap();
    let rows = text.lines().skip(1).map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        let [a, b, c, ox, oy, oz, dx, dy, dz] = std::array::from_fn(|i| cells[1 + i].parse::<f64>().unwrap() as f32);
        let ray = Ray::new([ox, oy, oz], [dx, dy, dz]);
        let (t, disc) = (cells[10].parse().ok(), cells[11].parse().unwrap());
        (cells[0].to_owned(), Ellipsoid::new([0.0; 3], [a, b, c]), ray, t, disc)
    });
    rows.collect()
}

#[test]
fn the_corpus_of_planets_and_moons_is_reproduced_within_bounds() {
    let rows = corpus();
    assert_eq!(rows.len(), 2100);
    let ellipsoids = Ellipsoids::new(rows.iter().map(|row| row.1));
    let rays: Vec<Ray> = rows.iter().map(|row| row.2).collect();
    for device in devices() {
        let pairs = device.pairwise(&ellipsoids, &Default::default()).unwrap();
        for (precision, share) in [(Precision::Fast, f64::INFINITY), (Precision::Standard, 8.0)] {
            let query = Query::at(precision).inside(Inside::Exit);
            let found = pairs.closest(&rays, &query).unwrap();
            let (mut wrong, mut worst, mut hit_count) = (0, 0.0f64, 0);
            for (i, (category, ellipsoid, ray, t, disc)) in rows.iter().enumerate() {
                if found[i].is_hit() != t.is_some() {
                    let what = format!("row {i} ({category}) on {}: {:?}, {t:?}, {disc}", device.name(), found[i]);
                    assert_eq!(precision, Precision::Fast, "{what}");
                    wrong += 1;
                    continue;
                }
                let Some(t) = *t else { continue };
                let off = (f64::from(found[i].t) - t).abs() / UnitBallPair::of(ray, ellipsoid).bound(t, 1.0);
                (worst, hit_count) = (worst.max(off), hit_count + 1);
                assert!(off <= share, "row {i} ({category}) on {}: {:?}, {t}, {off}", device.name(), found[i]);
            }
            eprintln!("{} {precision:?}: {hit_count} hits, {wrong} wrong flags, worst {worst:.3} of u", device.name());
            assert!(hit_count > 1350 && wrong <= 60, "{hit_count}, {wrong}");
        }
    }
}

/// Ellipsoids with ratios of semi-axes up to `most` and random rotations.
pub(super) fn cloud(count: usize, size: f32, most: f32, n: &mut Numbers) -> Vec<Ellipsoid> {
    let turned = |n: &mut Numbers| Quat::from_xyzw(n.signed(), n.signed(), n.signed(), n.signed());
    let one = |n: &mut Numbers| {
        let radii = [0; 3].map(|_| size * most.powf(-n.unit()));
        Ellipsoid::new(n.vector(), radii).turned(turned(n))
    };
    (0..count).map(|_| one(n)).collect()
}

/// Rays towards ellipsoids, of which some miss: half-lines, segments and whole lines.
pub(super) fn rays_at(ellipsoids: &[Ellipsoid], count: usize, n: &mut Numbers) -> Vec<Ray> {
    let ray = |i: usize, n: &mut Numbers| {
        let target = ellipsoids[i * 7919 % ellipsoids.len()];
        let (from, aside) = (Vec3::from(n.vector()) * 3.0, Vec3::from(n.vector()) * 1.1 * target.radii.max_element());
        let to = target.center + if i.is_multiple_of(3) { aside } else { aside * 0.1 };
        let ray = Ray::new(from, (to - from) * (0.1 + n.unit()));
        match i % 4 {
            0 => ray.line(),
            1 => ray.between(n.signed(), 1.0 + n.unit()),
            _ => ray,
        }
    };
    (0..count).map(|i| ray(i, n)).collect()
}

#[test]
fn random_ellipsoids_agree_with_f64_on_every_device() {
    let n = &mut Numbers(31);
    for (most, size) in [(1.0, 0.1), (3.0, 0.2), (1e2, 0.4), (1e4, 0.6)] {
        let list = cloud(400, size, most, n);
        let rays = rays_at(&list, scaled(6000), n);
        let ellipsoids = Ellipsoids::new(list.iter().copied());
        // The first hit of each ray in f64; `None` if f64 cannot decide.
        let (mut sure, mut certain) = (Vec::new(), 0);
        for ray in &rays {
            let (mut best, mut doubt) = ((f64::INFINITY, 0), false);
            for (id, ellipsoid) in list.iter().enumerate() {
                let pair = UnitBallPair::of(ray, ellipsoid);
                doubt |= pair.gap().abs() < 1e-4;
                let Some([enter, exit]) = pair.roots() else { continue };
                let ends = [f64::from(ray.t_min), f64::from(ray.t_max)];
                let off = pair.bound(enter, 16.0) + pair.bound(exit, 16.0);
                doubt |= ends.iter().any(|end| (end - enter).abs() < off || (end - exit).abs() < off);
                if exit < ends[0] || enter > ends[1] {
                    continue;
                }
                let t = enter.max(ends[0]);
                // Two ellipsoids that contain the start tie there.
                doubt |= (t - best.0).abs() < 2.0 * off && t != best.0;
                if (t, id) < best {
                    best = (t, id);
                }
            }
            certain += usize::from(!doubt);
            sure.push((!doubt).then_some(best));
        }
        assert!(certain > 2500, "{certain} of slimness {most}");
        for device in devices() {
            for scene in both_searches(device, (&ellipsoids).into(), &SceneOptions::default()) {
                let query = Query::default();
                let hits = scene.closest(&rays, &query).unwrap();
                let both = scene.interval(&rays, &query).unwrap();
                let mut worst = 0.0f64;
                for (i, ray) in rays.iter().enumerate() {
                    let Some((t, id)) = sure[i] else { continue };
                    let what = || format!("ray {i} on {}: {:?}, {t} {id}", device.name(), hits[i]);
                    assert_eq!(hits[i].is_hit(), t < f64::INFINITY, "{}", what());
                    if !hits[i].is_hit() {
                        continue;
                    }
                    assert_eq!((hits[i].id as usize, both[i].id as usize), (id, id), "{}", what());
                    let pair = UnitBallPair::of(ray, &list[id]);
                    let [enter, exit] = pair.roots().unwrap();
                    for (found, t) in [(hits[i].t, t), (both[i].t_enter, enter), (both[i].t_exit, exit)] {
                        worst = worst.max((f64::from(found) - t).abs() / pair.bound(t, 1.0));
                    }
                }
                eprintln!("{}: slimness {most}: {certain} rays, worst {worst:.3} u", device.name());
                assert!(worst <= 8.0, "{worst}");
            }
        }
    }
}

/// The results of all queries that ellipsoids support, as bytes. Asserts that the queries agree with one another.
fn all_answers(scene: &Scene, rays: Rays<'_>, query: &Query) -> Vec<u8> {
    let hits = scene.closest(rays, query).unwrap();
    let both = scene.interval(rays, query).unwrap();
    let occluded = scene.occluded(rays, query).unwrap();
    let counts = scene.count(rays, query).unwrap();
    let lists = scene.all(rays, query).unwrap();
    let first = scene.nearest(rays, 2, query).unwrap();
    let (lists, first): (Vec<&[Interval]>, Vec<&[Interval]>) = (lists.iter().collect(), first.iter().collect());
    for i in 0..hits.len() {
        assert_eq!(hits[i].is_hit(), occluded.get(i).unwrap());
        assert_eq!(hits[i].is_hit(), counts[i] > 0);
        assert_eq!(lists[i].len(), counts[i] as usize);
        assert_eq!(first[i], &lists[i][..lists[i].len().min(2)]);
        assert_eq!(hits[i].id, lists[i].first().map_or(u32::MAX, |first| first.id), "ray {i}");
    }
    let list: Vec<Interval> = lists.concat();
    [bytemuck::cast_slice::<Hit, u8>(&hits), bytemuck::cast_slice(&both), bytemuck::cast_slice(&list)].concat()
}

#[test]
fn the_bvh_of_ellipsoids_gives_the_results_of_brute_force() {
    let n = &mut Numbers(7);
    let needle = |n: &mut Numbers, i: usize| match i % 3 {
        0 => [1.0, 1e-6, 1e-6],
        1 => [1e-6, 0.7, 0.9],
        _ => [0.3, 0.2, 0.1].map(|r| r * (0.1 + n.unit())),
    };
    let turned = |n: &mut Numbers| Quat::from_xyzw(n.signed(), n.signed(), n.signed(), n.signed());
    let scenes: [(&str, Vec<Ellipsoid>); 6] = [
        ("mixed", cloud(900, 0.2, 8.0, n)),
        ("needles and discs", (0..600).map(|i| Ellipsoid::new(n.vector(), needle(n, i)).turned(turned(n))).collect()),
        ("one centre", (0..300).map(|i| Ellipsoid::new([0.2; 3], needle(n, i)).turned(turned(n))).collect()),
        ("identical", vec![Ellipsoid::new([0.1, 0.2, 0.3], [0.5, 0.25, 0.125]); 200]),
        (
            "large and small",
            cloud(500, 1.0, 3.0, n).into_iter().map(|e| Ellipsoid { radii: e.radii * n.unit().powi(8), ..e }).collect(),
        ),
        ("touching", (0..200).map(|i| Ellipsoid::new([i as f32 * 0.5 - 50.0, 0.0, 0.0], [0.25, 0.5, 0.125])).collect()),
    ];
    for (name, list) in &scenes {
        let rays = rays_at(list, scaled(250), n);
        let ellipsoids = Ellipsoids::new(list.iter().copied());
        let segments = Segments::new(rays.iter().map(|ray| [ray.origin.to_array(), ray.point_at(2.0).to_array()]));
        for device in devices() {
            let [with_tree, without_tree] = both_searches(device, (&ellipsoids).into(), &SceneOptions::default());
            for precision in [Precision::Fast, Precision::Standard] {
                for (inside, touch, ends) in [
                    (Inside::Enter, Touch::Hit, Ends::Closed),
                    (Inside::Exit, Touch::Miss, Ends::HalfOpen),
                    (Inside::Ignore, Touch::Hit, Ends::Closed),
                ] {
                    let query = Query::at(precision).inside(inside).touch(touch).ends(ends);
                    for rays in [Rays::from(&rays), Rays::from(&segments)] {
                        let [a, b] = [&with_tree, &without_tree].map(|scene| all_answers(scene, rays, &query));
                        assert!(a == b, "{name} on {} by {query:?}", device.name());
                    }
                }
            }
        }
    }
}

#[test]
fn ellipsoids_with_equal_radii_give_the_bytes_of_spheres() {
    let n = &mut Numbers(5);
    let spheres: Vec<Sphere> = (0..700).map(|_| Sphere::new(n.vector(), 0.02 + 0.1 * n.unit())).collect();
    let list: Vec<Ellipsoid> = spheres.iter().map(|sphere| Ellipsoid::from(*sphere)).collect();
    let ellipsoids = Ellipsoids::new(list.iter().copied());
    let rays = rays_at(&list, scaled(2000), n);
    let masks: Vec<u32> = spheres.iter().map(|_| n.bits()).collect();
    let drift: Vec<Vec3> = spheres.iter().map(|_| Vec3::from(n.vector()) * 0.1).collect();
    let times: Vec<f32> = rays.iter().map(|_| n.unit()).collect();
    for device in devices() {
        for precision in [Precision::Fast, Precision::Standard] {
            if !byte_precisions(device).contains(&precision) {
                println!("NOT TESTED: the bytes of ellipsoids with equal radii on {}", device.name());
                continue;
            }
            let query = Query::at(precision);
            let plain = [Spheres::from(&spheres), Spheres::from(&ellipsoids)];
            let options = SceneOptions::default();
            let ask =
                |given: Spheres<'_>, rays: Rays<'_>| all_answers(&device.scene(given, &options).unwrap(), rays, &query);
            let [a, b] = plain.map(|given| ask(given.masks(&masks), Rays::from(&rays)));
            assert!(a == b, "{} {precision:?}", device.name());
            let rays = Rays::from(&rays).times(&times);
            let [a, b] = plain.map(|given| ask(given.velocities(&drift), rays));
            assert!(a == b, "{} {precision:?}, moving", device.name());
        }
    }
}

#[test]
fn moving_ellipsoids_agree_with_ellipsoids_at_rest_and_f64() {
    let n = &mut Numbers(11);
    // Multiples of a power of two, so that the later positions are exact.
    let list: Vec<Ellipsoid> = cloud(300, 0.2, 5.0, n)
        .into_iter()
        .map(|e| Ellipsoid { center: (e.center * 1024.0).round() / 1024.0, ..e })
        .collect();
    let drift: Vec<Vec3> = list.iter().map(|_| (Vec3::from(n.vector()) * 512.0).round() / 1024.0).collect();
    let rays = rays_at(&list, 1000, n);
    let later = list.iter().zip(&drift).map(|(e, v)| Ellipsoid { center: e.center + *v * 0.5, ..*e });
    let later = Ellipsoids::new(later);
    let ellipsoids = Ellipsoids::new(list.iter().copied());
    for device in devices() {
        let moving = both_searches(device, Spheres::from(&ellipsoids).velocities(&drift), &SceneOptions::default());
        let [expected, _] = both_searches(device, (&later).into(), &SceneOptions::default());
        let query = Query::default();
        let times = vec![0.5; rays.len()];
        let expected = all_answers(&expected, Rays::from(&rays), &query);
        for scene in &moving {
            let found = all_answers(scene, Rays::from(&rays).times(&times), &query);
            assert!(found == expected, "{}", device.name());
        }
        // With `Motion::WithRay`: with and without a tree, and compared with f64.
        let shots: Vec<Ray> = rays.iter().map(|ray| ray.between(0.0, 1.0)).collect();
        let with = query.motion(Motion::WithRay);
        let [a, b] = moving.each_ref().map(|scene| all_answers(scene, Rays::from(&shots), &with));
        assert!(a == b, "{}", device.name());
        let both = moving[0].interval(&shots, &with).unwrap();
        assert!(both.report.rays_hit > 300, "{}", both.report.rays_hit);
        for (shot, found) in shots.iter().zip(both.iter()).filter(|(_, found)| found.is_hit()) {
            let id = found.id as usize;
            let seen = Ray { direction: shot.direction - drift[id], ..*shot };
            let [enter, exit] = UnitBallPair::of(&seen, &list[id]).roots().unwrap_or([f64::NAN; 2]);
            let most = (exit - enter).max(1e-3);
            assert!((f64::from(found.t_enter) - enter).abs() < 1e-3 / most, "{found:?} {enter} {exit}");
        }
    }
}

#[test]
fn contains_agrees_with_f64_for_ellipsoids() {
    let n = &mut Numbers(13);
    let list = cloud(200, 0.7, 6.0, n);
    let points: Vec<[f32; 3]> = (0..scaled(3000)).map(|_| n.vector()).collect();
    let ellipsoids = Ellipsoids::new(list.iter().copied());
    for device in devices() {
        for scene in both_searches(device, (&ellipsoids).into(), &SceneOptions::default()) {
            let found = scene.contains(&points, &Query::default()).unwrap();
            let mut contained = 0;
            for (point, found) in points.iter().zip(found.iter()) {
                let depths =
                    list.iter().map(|e| UnitBallPair::of(&Ray::new(*point, [1.0, 0.0, 0.0]), e).e.length() - 1.0);
                let depths: Vec<f64> = depths.collect();
                if depths.iter().any(|depth| depth.abs() < 1e-5) {
                    continue;
                }
                let count = depths.iter().filter(|depth| **depth < 0.0).count();
                let first = depths.iter().position(|depth| *depth < 0.0).map_or(u32::MAX, |id| id as u32);
                assert_eq!((found.count as usize, found.id), (count, first), "{point:?} on {}", device.name());
                contained += usize::from(count > 0);
            }
            assert!(contained > 1000, "{contained}");
        }
    }
}

#[test]
fn updates_take_ellipsoids_or_their_bounding_balls() {
    let n = &mut Numbers(17);
    let list = cloud(500, 0.2, 4.0, n);
    let grown: Vec<Ellipsoid> = list.iter().map(|e| Ellipsoid { radii: e.radii * 2.0, ..*e }).collect();
    let other = cloud(500, 0.2, 4.0, n);
    let balls: Vec<Sphere> = grown.iter().map(|e| Sphere::new(e.center, e.radii.max_element())).collect();
    let rays = rays_at(&list, scaled(800), n);
    let [list, grown, other] = [list, grown, other].map(Ellipsoids::new);
    for device in devices() {
        let of = |given: &Ellipsoids| device.scene(given, &SceneOptions::default()).unwrap();
        let ask = |scene: &Scene| all_answers(scene, Rays::from(&rays), &Query::default());
        let mut scene = of(&list);
        scene.update(&other).unwrap();
        assert!(ask(&scene) == ask(&of(&other)), "{}", device.name());
        // An update with bounding balls keeps the shapes of the ellipsoids and scales them.
        let mut scene = of(&list);
        scene.update(&balls).unwrap();
        assert!(ask(&scene) == ask(&of(&grown)), "{}", device.name());
        scene.rebuild().unwrap();
        assert!(ask(&scene) == ask(&of(&grown)), "{}", device.name());
    }
}

#[test]
fn rotations_are_normalised_and_have_the_documented_direction() {
    // A rotation by 90° about z maps x to y.
    let turn = Quat::from_xyzw(0.0, 0.0, 3.0, 3.0);
    let ellipsoids = Ellipsoids::new([Ellipsoid::new([0.0; 3], [4.0, 1.0, 2.0]).turned(turn)]);
    let down = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| Ray::new([0.0; 3], axis).line());
    for device in devices() {
        let scene = device.scene(&ellipsoids, &SceneOptions::default()).unwrap();
        let found = scene.interval(&down, &Query::default()).unwrap();
        let ends: Vec<f32> = found.iter().map(|found| found.t_exit).collect();
        assert_eq!(ends, [1.0, 4.0, 2.0], "{}", device.name());
    }
    assert!((f64::from(turn.normalize().to_axis_angle().1) - PI / 2.0).abs() < 1e-6);
}
