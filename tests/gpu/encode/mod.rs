//! Queries in a command encoder of the caller: the same bytes as the ordinary calls, and no errors on the caller's device.

mod caller;
mod moving;
mod resident;

use caller::{QUERY_KINDS, compare, ordinary, own, shared, words_of};
use umbracast::wgpu::{self, BufferUsages};
use umbracast::{Ends, Error, Hit, Inside, Precision, Query, QueryKind, Ray, SceneOptions, Sphere, Spheres, Touch};
use umbracast_testing::Numbers;

const UNFINISHED: u32 = 0x7fc0_0004;
/// A number of spheres for which every adapter uses a tree.
const TREE: usize = 3000;

pub(super) fn spheres(count: usize) -> Vec<Sphere> {
    let mut n = Numbers(count as u64 + 1);
    // Large enough that some rays start inside.
    let largest = if count < 100 { 0.6 } else { 0.1 };
    (0..count).map(|_| Sphere::new(n.vector(), largest * n.unit())).collect()
}

pub(super) fn rays(count: usize) -> Vec<Ray> {
    let mut n = Numbers(8);
    let mut ray = |i: usize| {
        let ray = Ray::new(n.vector().map(|x| 2.0 * x), n.vector());
        match i % 6 {
            0 => ray.line(),
            1 => ray.between(f32::NEG_INFINITY, 0.25),
            2 => ray.between(-1.0, 1.0),
            3 => ray.between(0.0, f32::MAX),
            4 => ray.between(-f32::MAX, 1.5),
            _ => ray,
        }
    };
    (0..count).map(&mut ray).collect()
}

/// Returns one ray of every kind that is invalid.
fn bad_rays() -> Vec<Ray> {
    let good = Ray::new([-3.0, 0.0, 0.0], [1.0, 0.0, 0.0]);
    let mut bad = Vec::new();
    for value in [f32::NAN, f32::from_bits(0xffc0_0001), f32::INFINITY, f32::NEG_INFINITY] {
        for axis in 0..3 {
            let (mut origin, mut direction) = (good, good);
            origin.origin[axis] = value;
            direction.direction[axis] = value;
            bad.extend([origin, direction]);
        }
    }
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    bad.extend([[0.0; 3], [-0.0, 0.0, -0.0]].map(|direction| Ray { direction: direction.into(), ..good }));
    let ends =
        [(nan, 1.0), (0.0, nan), (-nan, nan), (1.0, 0.5), (-0.5, -1.0), (1e-45, -1e-45), (inf, inf), (-inf, -inf)];
    bad.extend(ends.map(|(t_min, t_max)| good.between(t_min, t_max)));
    bad.extend([(inf, 0.0), (f32::MAX, -f32::MAX)].map(|(t_min, t_max)| good.between(t_min, t_max)));
    bad
}

#[test]
fn encoded_queries_give_the_bytes_of_ordinary_calls_at_every_policy() {
    for own in shared().iter() {
        for count in [60, TREE] {
            let (scene, rays) = (own.scene(&spheres(count)), rays(400));
            let (_, _, open) = own.encoded(&scene, QueryKind::Closest, &rays, &Query::at(Precision::Exact), 0);
            assert!(open.len() <= 4, "{} of {} rays are open", open.len(), rays.len());
            for precision in Precision::ALL {
                for inside in [Inside::Enter, Inside::Exit, Inside::Ignore] {
                    for (touch, ends) in [(Touch::Hit, Ends::HalfOpen), (Touch::Miss, Ends::Closed)] {
                        compare(own, &scene, &rays, &Query::at(precision).inside(inside).touch(touch).ends(ends), 0);
                    }
                }
            }
        }
    }
}

#[test]
fn encoded_queries_take_any_ray_count_at_any_offset() {
    for own in shared().iter() {
        for count in [0, 1, 513, TREE] {
            let scene = own.scene(&spheres(count));
            for (rays_count, at) in [(0, 0), (1, 4), (63, 256), (64, 252), (65, 1028), (1000, 12)] {
                compare(own, &scene, &rays(rays_count), &Query::at(Precision::Standard), at);
            }
        }
    }
}

#[test]
fn bad_rays_miss_and_are_counted() {
    let mut rays = rays(100);
    let bad = bad_rays();
    for (i, ray) in bad.iter().enumerate() {
        assert!(ray.check().is_err(), "{ray:?}");
        rays.insert(3 * i, *ray);
    }
    // Rays that are just valid.
    let good = Ray::new([-3.0, 0.0, 0.0], [1.0, 0.0, 0.0]);
    let ends =
        [(0.0, -0.0), (-0.0, 0.0), (f32::MAX, f32::MAX), (f32::NEG_INFINITY, -f32::MAX), (f32::MAX, f32::INFINITY)];
    rays.extend(ends.map(|(t_min, t_max)| good.between(t_min, t_max)));
    rays.push(Ray::new([f32::MAX, 0.0, 0.0], [-0.0, f32::MAX, 0.0]));
    for own in shared().iter() {
        // A tree would leave the last ray unfinished.
        let scene = own.scene(&[Sphere::new([0.0; 3], 1.0), Sphere::new([0.5, 0.0, 0.0], 1.0)]);
        compare(own, &scene, &rays, &Query::at(Precision::Standard), 0);
        let scene = own.scene(&spheres(TREE));
        compare(own, &scene, &rays[..rays.len() - 1], &Query::at(Precision::Standard), 0);
        let (_, counts, _) = own.encoded(&scene, QueryKind::Closest, &bad, &Query::at(Precision::Standard), 0);
        assert_eq!(counts, [bad.len() as u32, 0, 0, 0]);
    }
}

#[test]
fn unfinished_rays_are_counted_in_the_status() {
    let mut rays = rays(70);
    rays[65] = Ray::new([1e30, 0.0, 0.0], [0.0, 1.0, 0.0]);
    for own in shared().iter() {
        let scene = own.scene(&spheres(TREE));
        for kind in QUERY_KINDS {
            let (expected, [bad, beyond, hits]) = ordinary(&scene, kind, &rays, &Query::at(Precision::Standard));
            let (found, counts, _) = own.encoded(&scene, kind, &rays, &Query::at(Precision::Standard), 0);
            let width = if kind == QueryKind::Occluded { 0 } else { words_of(kind, 1) };
            assert_eq!(counts, [bad, 1, beyond, hits], "{kind:?}");
            if width > 0 {
                let (before, rest) = found.split_at(65 * width);
                assert_eq!(before, &expected[..65 * width]);
                assert!(rest[..width - 1].iter().all(|word| *word == UNFINISHED), "{kind:?}: {rest:x?}");
                assert_eq!(rest[width - 1], umbracast::NO_SPHERE);
                assert_eq!(rest[width..], expected[66 * width..]);
            } else {
                assert_eq!(found, expected);
            }
        }
    }
}

#[test]
fn rays_that_the_device_cannot_decide_are_listed_at_exact() {
    let mut rays = rays(70);
    // Along the surface of a sphere, and too far away for the traversal.
    let spheres = [spheres(TREE), vec![Sphere::new([0.0, 0.0, 5.0], 1.0)]].concat();
    rays[3] = Ray::new([-4.0, 1.0, 5.0], [1.0, 0.0, 0.0]);
    rays[65] = Ray::new([1e30, 0.0, 0.0], [0.0, 1.0, 0.0]);
    // Some devices flush such numbers to 0. Above the least number that they keep, and with a direction that makes t smaller than it.
    rays[7] = Ray::new([-4.0, 1e-40, 5.0], [1.0, 0.0, 0.0]);
    rays[8] = Ray::new([-4.0, 0.0, 5.0], [3e17, 0.0, 0.0]);
    rays[9] = Ray::new([-4.0, 1e-25, 5.0], [1.0, 0.0, 0.0]);
    let query = Query::at(Precision::Exact);
    for own in shared().iter() {
        let scene = own.scene(&spheres);
        let (found, counts, open) = own.encoded_at(&scene, QueryKind::Closest, &rays, None, &query, 8);
        assert_eq!(counts[1], 1);
        assert!(open.contains(&3) && open.contains(&65), "{open:?}");
        let flushes = !own.ours.probe().unwrap().subnormals;
        assert_eq!([7, 8, 9].map(|i| open.contains(&i)), [flushes, flushes, false], "{open:?}");
        compare(own, &scene, &rays[..65], &query, 0);
        let mut hits: Vec<Hit> = bytemuck::pod_collect_to_vec(&found);
        for i in open {
            assert!(hits[i].t.is_nan() && hits[i].id == umbracast::NO_SPHERE);
            hits[i] = scene.hit(&rays[i], &query).unwrap().unwrap_or(Hit::MISS);
        }
        assert_eq!(hits, scene.closest(&rays, &query).unwrap().records);
        assert_eq!((hits[3], hits[65].is_hit()), (Hit { t: 4.0, id: TREE as u32 }, false));
    }
}

#[test]
fn roots_beyond_f32_are_counted() {
    let ray = Ray::new([-3e38, 0.0, 0.0], [1e-3, 0.0, 0.0]);
    for own in shared().iter() {
        let scene = own.scene(&[Sphere::new([3e38, 0.0, 0.0], 1e37)]);
        compare(own, &scene, &[ray; 40], &Query::at(Precision::Standard), 0);
        let (_, counts, _) = own.encoded(&scene, QueryKind::Occluded, &[ray; 40], &Query::at(Precision::Standard), 0);
        assert_eq!(counts, [0, 0, 40, 0]);
        // The nearest pass is at the end of the ray, which may be infinite, the largest f32 or a small number.
        let back = Ray::new([-3e38, 0.0, 0.0], [-1e-3, 0.0, 0.0]);
        let ends = [ray, back].map(|ray| [ray.line(), ray.between(-f32::MAX, f32::MAX), ray.between(-2.0, 2.0)]);
        compare(own, &scene, ends.as_flattened(), &Query::at(Precision::Standard), 0);
    }
}

#[test]
fn encoded_queries_take_more_spheres_than_one_dispatch() {
    // One sphere is near the limit of f32, so there is no tree.
    let mut spheres = spheres(9000);
    spheres[5000].center = [3e38; 3].into();
    for own in shared().iter() {
        compare(own, &own.scene(&spheres), &rays(100), &Query::at(Precision::Standard), 0);
    }
}

#[test]
fn passes_may_share_encoder_plan_and_status_and_outlive_the_scene() {
    let all = rays(500);
    let query = Query::at(Precision::Standard);
    for own in shared().iter() {
        let scene = own.scene(&spheres(TREE));
        let (expected, [_, _, hits]) = ordinary(&scene, QueryKind::Closest, &all, &query);
        let (shadowed, [_, _, more]) = ordinary(&scene, QueryKind::Occluded, &all[..300], &query);
        let (behind, _) = ordinary(&scene, QueryKind::Occluded, &all[200..], &query);
        let given = own.filled(0, bytemuck::cast_slice(&all));
        let (first, rest, bits) = (own.filled(0, &[7; 400]), own.filled(0, &[7; 600]), own.filled(0, &[7; 10]));
        let (others, status) = (own.filled(0, &[7; 10]), own.filled(0, &[0; 4]));
        let mut encoder = own.device.create_command_encoder(&Default::default());
        {
            let plan = scene.plan(QueryKind::Closest, 400, &query).unwrap();
            assert_eq!(plan.max_rays(), 400);
            let other = scene.plan(QueryKind::Occluded, 300, &query).unwrap();
            let counts = status.slice(..16);
            let parts = [
                plan.bind(200, given.slice(..), None, first.slice(..), Some(counts)).unwrap(),
                plan.bind(300, given.slice(6400..), None, rest.slice(..), Some(counts)).unwrap(),
                other.bind(300, given.slice(..), None, bits.slice(..), Some(counts)).unwrap(),
                // The status is optional.
                other.bind(300, given.slice(6400..), None, others.slice(..), None).unwrap(),
            ];
            drop((scene, plan, other));
            parts.iter().for_each(|pass| pass.encode(&mut encoder));
        }
        own.queue.submit([encoder.finish()]);
        assert_eq!(own.read(&first)[..400], expected[..400]);
        assert_eq!(own.read(&rest)[..600], expected[400..]);
        assert_eq!(own.read(&bits)[..10], shadowed);
        assert_eq!(own.read(&others)[..10], behind);
        assert_eq!(own.read(&status)[..4], [0, 0, 0, hits + more]);
    }
}

#[track_caller]
fn assert_error<T>(result: Result<T, Error>, words: &[&str]) {
    let message = result.err().expect("expected an error").to_string();
    for word in words {
        assert!(message.contains(word), "'{word}' is not in: {message}");
    }
}

#[test]
fn unsupported_encoded_queries_are_refused() {
    let query = Query::at(Precision::Standard);
    let cpu = umbracast_testing::cpu().scene(&spheres(3), &SceneOptions::default()).unwrap();
    assert_error(cpu.plan(QueryKind::Closest, 1, &query), &["on a GPU", "CPU engine"]);
    let small = own(|limits| limits.max_storage_buffer_binding_size = 1 << 19);
    for own in &small {
        let scene = own.scene(&spheres(100));
        let plan = scene.plan(QueryKind::Closest, 1000, &query).unwrap();
        let (given, out) = (own.filled(0, &[0; 8000]), own.filled(0, &[0; 2000]));
        let status = own.filled(0, &[0; 8]);
        let parts = own.scene(&spheres(33_000));
        let pairs = own.ours.pairwise(&spheres(100), &Default::default()).unwrap();
        let plain = own.buffer(32_000, BufferUsages::COPY_DST);
        // A device of the same instance: wgpu cannot recognise buffers of another instance.
        let (other, _) = pollster::block_on(own.adapter.request_device(&Default::default())).unwrap();
        let usage = BufferUsages::STORAGE;
        let foreign = wgpu::BufferDescriptor { label: None, size: 8000, usage, mapped_at_creation: false };
        let foreign = other.create_buffer(&foreign);
        let gone = own.filled(0, &[0; 8000]);
        gone.destroy();
        own.without_errors(|| {
            let exact = scene.plan(QueryKind::Closest, 1000, &Query::at(Precision::Exact)).unwrap();
            let listing = |status| exact.bind(1000, given.slice(..), None, out.slice(..), status);
            let approach = scene.plan(QueryKind::Approach, 1, &Query::at(Precision::Exact));
            assert_error(approach, &["'exact'", "closest approaches", "fast or standard"]);
            assert_error(listing(None), &["'exact'", "needs a status"]);
            assert_error(listing(Some(status.slice(..))), &["the status", "4020 bytes", "40 allowed"]);
            let _ = scene.plan(QueryKind::Closest, 1, &Query::default()).unwrap();
            assert_error(parts.plan(QueryKind::Occluded, 1, &query), &["528000 bytes", "524288 allowed"]);
            assert_error(pairs.plan(QueryKind::Closest, 1, &query), &["pairwise"]);
            assert_error(scene.plan(QueryKind::Closest, 16_385, &query), &["524320 bytes", "524288 allowed"]);
            assert_error(scene.plan(QueryKind::Closest, u64::MAX, &query), &["allowed"]);
            let bind = |count, rays: &wgpu::Buffer, at, out: &wgpu::Buffer, to| {
                plan.bind(count, rays.slice(at..), None, out.slice(to..), Some(status.slice(..)))
            };
            assert!(bind(1000, &given, 0, &out, 0).is_ok());
            assert_error(bind(1001, &given, 0, &out, 0), &["32032 bytes", "32000 allowed"]);
            assert_error(bind(1000, &given, 12, &out, 0), &["the rays", "32000 bytes", "31996 allowed"]);
            assert_error(bind(1000, &given, 0, &out, 12), &["the results", "8000 bytes", "7996 allowed"]);
            assert_error(bind(1, &given, 2, &out, 0), &["the rays", "is 2 bytes", "multiple of 4"]);
            assert_error(bind(1, &plain, 0, &out, 0), &["the rays", "STORAGE", "COPY_DST"]);
            assert_error(bind(1, &given, 0, &plain, 0), &["the results", "STORAGE"]);
            assert_error(bind(1, &given, 0, &given, 0), &["in different buffers"]);
            assert_error(bind(1, &foreign, 0, &out, 0), &["cannot be bound", "Device"]);
            assert_error(bind(1, &given, 0, &foreign, 0), &["cannot be bound", "Device"]);
            assert_error(bind(1, &gone, 0, &out, 0), &["cannot be bound", "destroyed"]);
            let counted = |status: wgpu::BufferSlice<'_>| {
                plan.bind(1, given.slice(..), None, out.slice(..), Some(status)).map(|_| ())
            };
            assert_error(counted(status.slice(28..)), &["the status", "16 bytes", "12 allowed"]);
            assert_error(counted(out.slice(..)), &["in different buffers"]);
        });
        // The device still works.
        let expected = scene.closest(&rays(100), &query).unwrap();
        let (found, ..) = own.encoded(&scene, QueryKind::Closest, &rays(100), &query, 0);
        assert_eq!(bytemuck::cast_slice::<u32, Hit>(&found), &expected.records[..]);
    }
}

#[test]
fn sphere_masks_apply_in_encoded_queries() {
    let (spheres, rays) = (spheres(TREE), rays(500));
    let masks: Vec<u32> = (0..TREE as u32).map(|id| id % 3).collect();
    let query = Query::at(Precision::Standard);
    for own in shared().iter() {
        let masked = Spheres::from(&spheres).masks(&masks);
        compare(
            own,
            &own.ours.scene(masked, &SceneOptions::default()).unwrap(),
            &rays,
            &Query::at(Precision::Exact),
            0,
        );
        let scene = own.ours.scene(masked, &SceneOptions::default()).unwrap();
        let expected = scene.closest(&rays, &query).unwrap();
        assert!(expected.iter().all(|hit| !hit.is_hit() || hit.id % 3 != 0));
        let (found, ..) = own.encoded(&scene, QueryKind::Closest, &rays, &query, 0);
        assert_eq!(found, bytemuck::cast_slice::<Hit, u32>(&expected), "{}", own.adapter.get_info().name);
        let (all, ..) = own.encoded(&own.scene(&spheres), QueryKind::Closest, &rays, &query, 0);
        assert_ne!(all, found);
    }
}
