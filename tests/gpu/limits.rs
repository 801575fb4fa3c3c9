//! Limits of devices and of [`Limits`]. Batches and scenes that exceed a limit are split into chunks of rays, parts of the spheres
//! and ranges, and the results stay the same, byte for byte. What exceeds the memory limit is refused with an error that has the sizes.

use umbracast::glam::Vec3;
use umbracast::{
    Device, DeviceOptions, Ellipsoid, Ellipsoids, Error, Limits, Precision, Query, Ray, Rays, SceneOptions, Sphere,
    Spheres,
};
use umbracast_testing::child::run_alone;
use umbracast_testing::{Numbers, cpu, devices, limited};

fn rays_at_once(rays: u64) -> Limits {
    let mut limits = Limits::default();
    limits.rays = rays;
    limits
}

fn one_mebibyte() -> Limits {
    let mut limits = Limits::default();
    limits.binding = 1 << 20;
    limits
}

fn cloud(count: usize, radius: f32) -> Vec<Sphere> {
    let mut n = Numbers(31);
    (0..count).map(|_| Sphere::new(n.vector(), radius * n.unit())).collect()
}

fn rays(count: usize) -> Vec<Ray> {
    let mut n = Numbers(37);
    (0..count).map(|_| Ray::new(n.vector().map(|x| 2.0 * x), n.vector()).between(-0.5, 3.0 + n.unit())).collect()
}

/// The results of `closest`, `occluded`, `interval` and `approach` at one precision, as bytes.
fn answers(device: &Device, spheres: &[Sphere], rays: &[Ray], precision: Precision) -> [Vec<u8>; 4] {
    let scene = device.scene(spheres, &SceneOptions::default()).unwrap();
    let query = Query::at(precision);
    let closest = scene.closest(rays, &query).unwrap();
    let occluded = scene.occluded(rays, &query).unwrap();
    assert_eq!(closest.report.rays_hit, occluded.report.rays_hit, "{}", device.name());
    assert_eq!(closest.report.rays_hit, closest.records.iter().filter(|hit| hit.is_hit()).count() as u64);
    let interval = scene.interval(rays, &query).unwrap();
    let approach = scene.approach(rays, &query).unwrap();
    [
        bytemuck::cast_slice(&closest.records).to_vec(),
        bytemuck::cast_slice(&occluded.words).to_vec(),
        bytemuck::cast_slice(&interval.records).to_vec(),
        bytemuck::cast_slice(&approach.records).to_vec(),
    ]
}

/// Asserts that both devices return the same bytes at each precision of `wanted`. Returns the results at the last one.
fn compare(whole: &Device, limited: &Device, spheres: &[Sphere], rays: &[Ray], wanted: &[Precision]) -> [Vec<u8>; 4] {
    let mut last = Default::default();
    for &precision in wanted {
        let (a, b) = (answers(whole, spheres, rays, precision), answers(limited, spheres, rays, precision));
        for ((a, b), query) in a.iter().zip(&b).zip(["closest", "occluded", "interval", "approach"]) {
            assert!(a == b, "{} {query} {precision:?}: {} rays, {} spheres", whole.name(), rays.len(), spheres.len());
        }
        last = a;
    }
    last
}

#[test]
fn chunks_of_any_size_give_the_same_bytes() {
    let (spheres, rays) = (cloud(300, 0.15), rays(1301));
    for piece in [1, 7, 64, 65, 1 << 20] {
        for (whole, limited) in devices().iter().zip(limited(rays_at_once(piece))) {
            // Chunks of one ray are slow: 150 rays are enough.
            let rays = if piece == 1 { &rays[..150] } else { &rays };
            compare(whole, limited, &spheres, rays, &Precision::ALL);
        }
    }
}

#[test]
fn ray_counts_around_word_and_workgroup_sizes() {
    let spheres = cloud(100, 0.2);
    for count in [0, 1, 63, 64, 65, 511, 512, 513] {
        for (whole, limited) in devices().iter().zip(limited(rays_at_once(64))) {
            compare(whole, limited, &spheres, &rays(count), &Precision::ALL);
        }
    }
}

#[test]
fn ray_counts_around_the_largest_dispatch() {
    let spheres = cloud(3, 0.5);
    let rays = rays(65_535 * 64 + 1);
    let scenes: Vec<_> = devices().iter().map(|d| d.scene(&spheres, &SceneOptions::default()).unwrap()).collect();
    for count in [65_535 * 64 - 1, 65_535 * 64, 65_535 * 64 + 1] {
        let query = Query::at(Precision::Exact);
        let all: Vec<_> = scenes.iter().map(|scene| scene.closest(&rays[..count], &query).unwrap()).collect();
        assert!(all[0].report.rays_hit > 100_000, "{}", all[0].report.rays_hit);
        for (answer, device) in all.iter().zip(devices()) {
            assert!(answer.records == all[all.len() - 1].records, "{} at {count}", device.name());
            assert_eq!(answer.report.rays_hit, all[0].report.rays_hit, "{} at {count}", device.name());
        }
    }
}

#[test]
fn sphere_counts_around_every_limit() {
    // Around the sizes of a cull block (32), a span (128), a range (4,096), and the part that fits in 1 MiB (65,536 spheres).
    let counts = [1_usize, 31, 32, 33, 127, 128, 129, 4095, 4096, 4097, 65_535, 65_536, 65_537, 131_073];
    let spheres = cloud(131_073, 0.01);
    let mut rays = rays(32);
    for count in counts {
        // The first sphere, the last two and the middle one are each the target of a ray.
        for target in [0, count / 2, count.saturating_sub(2), count - 1] {
            rays.push(Ray::segment(spheres[target].center * 3.0, spheres[target].center));
        }
    }
    let last = devices().len() - 1;
    for count in counts {
        let cpu = answers(&devices()[last], &spheres[..count], &rays, Precision::Exact);
        for (whole, limited) in devices()[..last].iter().zip(limited(one_mebibyte())) {
            // The division into parts and ranges does not depend on the precision. Above 5,000 spheres one precision is enough.
            let wanted = if count > 5000 { &Precision::ALL[2..] } else { &Precision::ALL[..] };
            let exact = compare(whole, limited, &spheres[..count], &rays, wanted);
            assert!(exact == cpu, "{} {count}", whole.name());
        }
    }
}

#[test]
fn nested_spheres_stay_below_the_loop_limit() {
    // Nested spheres, the outermost last: each is a candidate, and the best so far. 9,000 candidates times eight rays per thread
    // exceed lavapipe's limit of 65,535 loop iterations per thread.
    let spheres: Vec<_> = (0..9000).map(|i| Sphere::new([0.0; 3], 1.0 + 1e-4 * i as f32)).collect();
    let mut n = Numbers(41);
    let rays: Vec<_> =
        (0..700).map(|_| Ray::segment(n.vector().map(|x| 9.0 + x), n.vector().map(|x| 0.1 * x))).collect();
    for device in devices() {
        let scene = device.scene(&spheres, &SceneOptions::default()).unwrap();
        for precision in [Precision::Fast, Precision::Standard] {
            let hits = scene.closest(&rays, &Query::at(precision)).unwrap();
            assert!(hits.iter().all(|hit| hit.id == 8999), "{}: {:?}", device.name(), &hits[..2]);
            let nearest = scene.approach(&rays, &Query::at(precision)).unwrap();
            assert!(nearest.iter().all(|pass| pass.id == 8999), "{}: {:?}", device.name(), &nearest[..2]);
        }
    }
}

#[test]
fn pairwise_queries_in_chunks() {
    let spheres = cloud(1000, 0.9);
    let rays: Vec<_> = rays(1000);
    for (whole, limited) in devices().iter().zip(limited(rays_at_once(65))) {
        let [a, b] = [whole, limited].map(|device| {
            let scene = device.pairwise(&spheres, &Default::default()).unwrap();
            let query = Query::at(Precision::Standard);
            let bits = scene.occluded(&rays, &query).unwrap();
            assert!(bits.report.rays_hit > 30, "{}", bits.report.rays_hit);
            (scene.interval(&rays, &query).unwrap().records, bits.words)
        });
        assert!(a == b, "{}", whole.name());
    }
}

#[test]
fn approaches_with_infinite_clearance_agree() {
    // All clearances exceed f32 and are equal (infinity). The last sphere has the smallest t, and wins.
    let mut spheres = vec![Sphere::new([0.0, -3e38, 0.0], 1.0); 128];
    spheres.push(Sphere::new([-1e38, -3.3e38, 0.0], 1.0));
    let ray = [Ray::new([0.0, 3e38, 0.0], [1.0, 0.0, 0.0]).between(f32::NEG_INFINITY, f32::INFINITY)];
    for device in devices() {
        let scene = device.scene(&spheres, &SceneOptions::default()).unwrap();
        for precision in Precision::ALL {
            let passes = scene.approach(&ray, &Query::at(precision)).unwrap();
            let found = (passes[0].id, passes[0].t, passes[0].clearance);
            assert_eq!(found, (128, -1e38, f32::INFINITY), "{} {precision:?}", device.name());
        }
    }
}

#[test]
fn ray_ids_above_u64_are_refused() {
    for device in devices() {
        let scene = device.scene(&cloud(3, 0.1), &SceneOptions::default()).unwrap();
        let rays = rays(2);
        let beyond = Rays::from(&rays).numbered_from(u64::MAX);
        let refused = scene.closest(beyond, &Query::at(Precision::Standard));
        assert!(matches!(refused, Err(Error::InvalidArgument(_))), "{refused:?}");
    }
}

#[test]
fn scenes_and_batches_above_the_memory_limit_are_refused_with_figures() {
    let spheres = cloud(100_000, 0.1);
    let mut limits = Limits::default();
    limits.memory = 1 << 20;
    for device in limited(limits) {
        let refused = device.scene(&spheres, &SceneOptions::default());
        let Err(error @ Error::TooLarge { asked, allowed, .. }) = refused.map(|_| ()) else {
            panic!("{}", device.name())
        };
        assert_eq!((asked, allowed), (device.estimate_bytes(100_000, 0), 1 << 20));
        assert!(asked >= 3_200_000, "{asked}");
        println!("{error}");
        // A scene that fits is built, and queries work until a batch has too many rays.
        let scene = device.scene(&spheres[..1000], &SceneOptions::default()).unwrap();
        assert!(scene.closest(&rays(10), &Query::at(Precision::Standard)).is_ok());
        let many = scene.closest(&rays(1 << 17), &Query::at(Precision::Standard));
        assert!(matches!(many, Err(Error::TooLarge { .. })), "{}", device.name());
    }
}

#[test]
fn optional_sphere_columns_count_towards_the_memory_limit() {
    let list = cloud(20_000, 0.1);
    let count = list.len() as u64;
    let (masks, velocities) = (vec![1; list.len()], vec![Vec3::X; list.len()]);
    let ellipsoids = Ellipsoids::new(list.iter().map(|s| Ellipsoid::new(s.center, [0.1, 0.2, 0.3])));
    let (spheres, stretched) = (Spheres::from(&list), Spheres::from(&ellipsoids));
    for (i, device) in devices().iter().enumerate() {
        let plain = device.estimate_bytes(count, 0);
        assert_eq!(device.estimate_bytes_of(spheres, 0), plain);
        // Least number of bytes per sphere: on the host, on a GPU, and in the leaves of the CPU's BVH.
        for (given, here, gpu, leaves) in [
            (spheres.masks(&masks), 4, 4, 4),
            (spheres.velocities(&velocities), 12, 32, 36),
            (spheres.velocities(&velocities).masks(&masks), 16, 32, 40),
            (stretched, 76, 108, 4),
            (stretched.velocities(&velocities).masks(&masks), 92, 108, 8),
        ] {
            let asked = device.estimate_bytes_of(given, 0);
            let least = plain + count * (here + if device.is_cpu() { leaves } else { gpu });
            assert!(asked >= least, "{}: {asked} for {least}", device.name());
            let within = |memory: u64| {
                let mut limits = Limits::default();
                limits.memory = memory;
                let device = Device::open(&DeviceOptions::new(i.to_string()).limits(limits)).unwrap();
                device.scene(given, &SceneOptions::default())
            };
            match within(asked - 1).map(|_| ()) {
                Err(Error::TooLarge { asked: reported, allowed, .. }) => {
                    assert_eq!((reported, allowed), (asked, asked - 1))
                }
                other => panic!("{}: {other:?}", device.name()),
            }
            // Each query adds the resident scene to its estimate. Here the scene fits exactly, and no ray does.
            let scene = within(asked).unwrap();
            let refused = scene.closest(&rays(1000), &Query::at(Precision::Standard));
            assert!(matches!(refused, Err(Error::TooLarge { .. })), "{}: {refused:?}", device.name());
        }
    }
}

/// Whether a test has this process to itself; otherwise it is run in one of its own, because other tests of this file allocate meanwhile.
#[cfg(target_os = "linux")]
fn is_alone(test: &str) -> bool {
    const ALONE: &str = "UMBRACAST_TEST_ALONE";
    let is_alone = std::env::var_os(ALONE).is_some();
    if !is_alone {
        println!("{}", run_alone(&format!("{}::{test}", module_path!()), ALONE, "1"));
    }
    is_alone
}

/// Resident memory of this process in KiB.
#[cfg(target_os = "linux")]
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn repeated_calls_create_no_buffers_and_leak_no_memory() {
    if !is_alone("repeated_calls_create_no_buffers_and_leak_no_memory") {
        return;
    }
    let (spheres, rays) = (cloud(50, 0.2), rays(3000));
    for device in devices() {
        let scene = device.scene(&spheres, &SceneOptions::default()).unwrap();
        let call = || {
            let _ = scene.closest(&rays, &Query::at(Precision::Standard)).unwrap();
            let _ = scene.occluded(&rays, &Query::at(Precision::Standard)).unwrap();
        };
        (0..100).for_each(|_| call());
        let (made, before) = (device.buffers_made(), resident());
        (0..1000).for_each(|_| call());
        let (after, now) = (device.buffers_made(), resident());
        println!("{}: {made} buffers, {before} KiB; {after} buffers, {now} KiB", device.name());
        assert_eq!(made, after, "{}", device.name());
        assert!(now < before + 1024, "{}: {before} KiB, {now} KiB", device.name());
    }
}

/// The CPU engine's BVH takes 27 bytes per sphere, and the scene's copy 16. What the build needs goes back to the system.
#[test]
#[cfg(target_os = "linux")]
fn a_scene_keeps_at_most_50_bytes_per_sphere() {
    if !is_alone("a_scene_keeps_at_most_50_bytes_per_sphere") {
        return;
    }
    let spheres = cloud(4_000_000, 0.002);
    let device = cpu();
    let before = resident();
    let scene = device.scene(&spheres, &SceneOptions::default()).unwrap();
    let kept = 1024.0 * (resident() - before) as f64 / spheres.len() as f64;
    println!("{kept:.1} bytes per sphere");
    assert!((40.0..50.0).contains(&kept), "{kept:.1} bytes per sphere");
    assert!(scene.occludes(&Ray::new(spheres[0].center, [0.0, 0.0, 1.0]), &Query::default()).unwrap());
}

#[test]
fn unfinished_traversals_of_one_part_survive_the_next_part() {
    // 1 MiB holds 65,536 spheres. The first part has nested spheres, whose traversal exceeds the step limit; the second has a few
    // spheres that are farther away.
    let mut spheres: Vec<_> = (0..65_536).map(|i| Sphere::new([0.0; 3], 1e-2 + 1e-7 * i as f32)).collect();
    spheres.extend((0..4000).map(|i| Sphere::new([0.1, 0.2, 1e-5 * i as f32], 1e-3)));
    let mut n = Numbers(43);
    let rays: Vec<_> = (0..40).map(|_| Ray::segment(n.vector(), n.vector().map(|x| 1e-3 * x))).collect();
    for device in limited(one_mebibyte()) {
        let scene = device.scene(&spheres, &SceneOptions::default()).unwrap();
        for precision in [Precision::Fast, Precision::Standard] {
            let nearest = scene.approach(&rays, &Query::at(precision)).unwrap();
            assert!(nearest.iter().all(|pass| pass.id == 65_535), "{}: {:?}", device.name(), &nearest[..2]);
            let hits = scene.closest(&rays, &Query::at(precision)).unwrap();
            // Radii differ by 1e-7, which `t` hardly resolves: the last few ids are accepted.
            assert!(hits.iter().all(|hit| hit.id >= 65_530), "{}: {:?}", device.name(), &hits[..2]);
        }
    }
}
