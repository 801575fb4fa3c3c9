//! The CPU engine returns the same bytes with every instruction set, with and without a tree.

use umbracast::{Device, Ends, Inside, OnBad, Precision, Query, Ray, Scene, SceneOptions, Sphere};
use umbracast_testing::{Numbers, bytes, cpu, hard_scenes, scaled};

fn scene(rays: usize) -> (Vec<Sphere>, Vec<Ray>) {
    let mut n = Numbers(5);
    let spheres = (0..1000).map(|_| Sphere::new(n.vector(), 0.01 + 0.05 * n.unit())).collect();
    let ray = |n: &mut Numbers| {
        let (from, to) = (n.vector().map(|x| 3.0 * x), n.vector());
        Ray::segment(from, to).between(0.0, f32::INFINITY)
    };
    (spheres, (0..rays).map(|_| ray(&mut n)).collect())
}

#[test]
fn every_instruction_set_gives_the_same_bytes() {
    let (spheres, rays) = scene(20_000);
    let levels = Device::levels();
    println!("{}", levels.join(", "));
    assert!(levels.len() > 1 || cfg!(not(target_arch = "x86_64")), "{levels:?}");
    let list = Device::list();
    assert!(
        list.last().unwrap().driver.ends_with(levels[0]),
        "`devices` reports the instruction set: {:?}",
        list.last()
    );
    let answers = levels.iter().map(|level| {
        let scene = cpu().with_level(level).scene(&spheres, &SceneOptions::default()).unwrap();
        Precision::ALL.map(|precision| {
            let query = Query::at(precision);
            let hits = scene.closest(&rays, &query).unwrap();
            let bits = scene.occluded(&rays, &query).unwrap();
            let passes = scene.approach(&rays[..2000], &query).unwrap();
            let bytes: (&[u8], &[u8]) = (bytemuck::cast_slice(&hits.records), bytemuck::cast_slice(&passes.records));
            (bytes.0.to_vec(), bytes.1.to_vec(), bits.words, hits.report.rays_hit, hits.report.resolved_exactly)
        })
    });
    let answers: Vec<_> = answers.collect();
    assert!((1000..19_000).contains(&answers[0][0].3), "{} hits", answers[0][0].3);
    for (level, answer) in levels.iter().zip(&answers) {
        assert!(*answer == answers[0], "{level}");
    }
}

/// Results of a batch as bytes, and how many rays hit anything. `closest` and `occluded` are asked, and with `every` two more.
fn answers(scene: &Scene, rays: &[Ray], query: &Query, every: bool) -> (Vec<Vec<u8>>, u64) {
    let hits = scene.closest(rays, query).unwrap();
    let mut answers = vec![bytes(&hits.records), bytes(&scene.occluded(rays, query).unwrap().words)];
    if every {
        answers.push(bytes(&scene.interval(rays, query).unwrap().records));
        answers.push(bytes(&scene.approach(rays, query).unwrap().records));
    }
    (answers, hits.report.rays_hit)
}

/// Compares the answers of trees on every instruction set with those of testing every sphere. The batches are cast in parts of each of
/// these sizes. Returns the number of rays that hit anything.
fn compare(name: &str, spheres: &[Sphere], rays: &[Ray], sizes: &[usize], query: &Query, every: bool) -> u64 {
    let swept = cpu().scene(spheres, &SceneOptions::default().tree_from(usize::MAX)).unwrap();
    let mut found = 0;
    for size in sizes {
        let parts: Vec<_> = rays.chunks(*size).map(|rays| (rays, answers(&swept, rays, query, every))).collect();
        found = parts.iter().map(|(_, wanted)| wanted.1).sum();
        for level in Device::levels() {
            let grown = cpu().with_level(level).scene(spheres, &SceneOptions::default().tree_from(1)).unwrap();
            for (i, (rays, wanted)) in parts.iter().enumerate() {
                let same = answers(&grown, rays, query, every) == *wanted;
                assert!(same, "{name}, part {i} of {size}, {level}, {query:?}");
            }
        }
    }
    found
}

/// Spheres of all sizes: some are duplicates, one is around everything, one is very far away. Half-lines, segments, lines, origins inside
/// spheres and far away, a few invalid rays.
fn of_all_kinds(count: usize, radius: f32, rays: usize) -> (Vec<Sphere>, Vec<Ray>) {
    let n = &mut Numbers(count as u64);
    let mut spheres: Vec<Sphere> = (0..count).map(|_| Sphere::new(n.vector(), radius * n.unit())).collect();
    for i in (7..count).step_by(9) {
        spheres[i] = spheres[i - 5];
    }
    if count > 40 {
        spheres[11] = Sphere::new([0.0; 3], 5.0);
        spheres[33] = Sphere::new([3e30, 1.0, 0.0], 1e29);
    }
    let ray = |i: usize| {
        let (from, to) = (n.vector(), n.vector());
        // From very far away every pair is undecided at `exact`, and integer arithmetic is slow.
        let far = if i.is_multiple_of(59) { 1e25 } else { [1.0, 3.0, 1e4][i * 7 % 3] };
        let ray = Ray::new(from.map(|x| x * far), std::array::from_fn::<_, 3, _>(|k| to[k] - from[k] * far));
        match i % 11 {
            0..3 => ray.between(0.0, n.unit()),
            3 => ray.line(),
            4 => ray.between(-n.unit(), 2.0 * n.unit()),
            5 => ray.between(f32::NAN, 1.0),
            _ => ray,
        }
    };
    let rays = (0..rays).map(ray).collect();
    (spheres, rays)
}

#[test]
fn batches_of_any_size_give_the_results_of_brute_force() {
    for (count, radius) in [(0, 0.1), (1, 2.0), (5, 0.5), (64, 0.3), (65, 0.1), (700, 0.05), (300, 1.0)] {
        let (spheres, rays) = of_all_kinds(count, radius, scaled(300));
        for precision in Precision::ALL {
            for (inside, ends) in
                [(Inside::Enter, Ends::Closed), (Inside::Exit, Ends::HalfOpen), (Inside::Ignore, Ends::Closed)]
            {
                let query = Query::at(precision).inside(inside).ends(ends).on_bad(OnBad::Skip);
                compare(&format!("{count} spheres"), &spheres, &rays, &[1, 37, 300], &query, true);
            }
        }
    }
}

/// Rays of a picture of 256 x 32 pixels, whose directions have four octants; of a LiDAR with 64 channels, one azimuth after the other; and
/// short ones from the surfaces of spheres, in no order.
fn batches(spheres: &[Sphere]) -> [(&'static str, Vec<Ray>); 3] {
    let pixel = |i: i32| [(i % 256 - 128) as f32 * 0.002, (i / 256 - 16) as f32 * 0.015, 1.0];
    let beam = |i: i32| {
        let azimuth = (i / 64) as f32 * (std::f32::consts::TAU / 128.0);
        Ray::new([0.1, 0.2, 0.3], [azimuth.cos(), azimuth.sin(), (i % 64) as f32 * 0.01 - 0.4])
    };
    let mut numbers = Numbers(7);
    let short = |i: usize| {
        let sphere = spheres[i * 31 % spheres.len()];
        let d: [f32; 3] = numbers.vector();
        let r = sphere.radius * 1.001 / (d.iter().map(|d| d * d).sum::<f32>().sqrt().max(1e-3));
        Ray::new(std::array::from_fn(|k| sphere.center.to_array()[k] + r * d[k]), d).between(0.0, 2.0)
    };
    [
        ("picture", (0..256 * 32).map(|i| Ray::new([0.3, 0.2, -40.0], pixel(i))).collect()),
        ("LiDAR", (0..64 * 128).map(beam).collect()),
        ("short", (0..5000).map(short).collect()),
    ]
}

#[test]
fn rays_in_any_order_give_the_results_of_brute_force() {
    let mut numbers = Numbers(3);
    for (count, radius) in [(1500, 0.4), (1500, 0.15), (300, 3.0)] {
        let spheres: Vec<Sphere> =
            (0..count).map(|_| Sphere::new(numbers.vector().map(|x| 10.0 * x), radius)).collect();
        for (name, rays) in batches(&spheres) {
            for precision in [Precision::Standard, Precision::Exact] {
                let hits = compare(name, &spheres, &rays, &[rays.len()], &Query::at(precision), false);
                assert!(hits > 20, "{name} with radius {radius}: only {hits} hits");
            }
        }
    }
    for hard in &hard_scenes::SCENES {
        let spheres = hard_scenes::spheres(hard, 700);
        // Neighbouring rays alike: each of a few rays 64 times, from slightly different origins.
        let rays = hard_scenes::rays(&spheres, hard.2, 24);
        let near = |ray: &Ray, i: i32| Ray { origin: ray.origin * (1.0 + i as f32 * 1e-5), ..*ray };
        let rays: Vec<Ray> = rays.iter().flat_map(|ray| (0..64).map(|i| near(ray, i))).collect();
        compare(hard.0, &spheres, &rays, &[rays.len()], &Query::at(Precision::Standard), false);
    }
}

#[test]
fn hits_with_overflowing_roots_do_not_hide_other_hits() {
    // The roots of the large sphere overflow f32; the points are hit.
    let spheres: Vec<Sphere> =
        (0..9).map(|i| Sphere::new([0.0, 0.0, i as f32], if i == 4 { 1.2e25 } else { 0.0 })).collect();
    let ray = Ray::new([0.0; 3], [0.0, 0.0, -1e-45]);
    let rays = [ray.line(), ray.between(f32::NEG_INFINITY, 0.0), ray, Ray::new([0.0, 0.0, 1.5e25], [0.0, 0.0, -1e-45])];
    for precision in Precision::ALL {
        for inside in [Inside::Enter, Inside::Exit, Inside::Ignore] {
            compare("beyond", &spheres, &rays, &[rays.len()], &Query::at(precision).inside(inside), false);
        }
    }
}
