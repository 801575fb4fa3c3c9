//! Queries in a command encoder of the caller: the same bytes as the ordinary calls, and no errors on the caller's device.

mod moving;

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::support::Numbers;
use umbracast::wgpu::{self, BufferUsages};
use umbracast::{
    Device, Ends, Error, Hit, Inside, OnBad, Precision, Query, QueryKind, Ray, Rays, Scene, SceneOptions, Sphere,
    Spheres, Touch, blocking, required_features, required_limits,
};

const QUERY_KINDS: [QueryKind; 4] = [QueryKind::Closest, QueryKind::Interval, QueryKind::Approach, QueryKind::Occluded];
const UNFINISHED: u32 = 0x7fc0_0004;
/// A number of spheres for which every adapter uses a tree.
const TREE: usize = 3000;

/// A wgpu device of the caller, and our device that uses it.
struct CallerDevice {
    adapter: wgpu::Adapter,
    device: wgpu::Device,
    queue: wgpu::Queue,
    ours: Device,
}

fn own(edit: impl Fn(&mut wgpu::Limits)) -> Vec<CallerDevice> {
    let mut description = wgpu::InstanceDescriptor::new_without_display_handle();
    description.backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    let found = pollster::block_on(wgpu::Instance::new(description).enumerate_adapters(wgpu::Backends::all()));
    assert!(!found.is_empty(), "no GPU adapter: run tests/run.sh, or apt-get install mesa-vulkan-drivers");
    let open = |adapter: wgpu::Adapter| {
        let mut limits = required_limits(&adapter);
        edit(&mut limits);
        let description = wgpu::DeviceDescriptor {
            required_features: required_features(&adapter),
            required_limits: limits,
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&description)).unwrap();
        let ours = blocking::from_wgpu(device.clone(), queue.clone()).unwrap();
        CallerDevice { adapter, device, queue, ours }
    };
    found.into_iter().map(open).collect()
}

/// Devices with the required limits of their adapters. Only one test at a time uses them, because some count the buffers that a device
/// creates. They are opened once per run, because a new device compiles its kernels again.
fn shared() -> MutexGuard<'static, Vec<CallerDevice>> {
    static SHARED: OnceLock<Mutex<Vec<CallerDevice>>> = OnceLock::new();
    SHARED.get_or_init(|| Mutex::new(own(|_| ()))).lock().unwrap_or_else(PoisonError::into_inner)
}

impl CallerDevice {
    fn scene(&self, spheres: &[Sphere]) -> Scene {
        blocking::scene(&self.ours, spheres, &SceneOptions::default()).unwrap()
    }

    fn buffer(&self, bytes: usize, usage: BufferUsages) -> wgpu::Buffer {
        let size = (bytes as u64).max(4);
        self.device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    }

    /// Creates a buffer that contains the words from byte `at` on.
    fn filled(&self, at: usize, words: &[u32]) -> wgpu::Buffer {
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
        let buffer = self.buffer(at + 4 * words.len() + 8, usage);
        self.queue.write_buffer(&buffer, at as u64, bytemuck::cast_slice(words));
        buffer
    }

    fn read(&self, from: &wgpu::Buffer) -> Vec<u32> {
        let staging = self.buffer(from.size() as usize, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(from, 0, &staging, 0, from.size());
        self.queue.submit([encoder.finish()]);
        staging.map_async(wgpu::MapMode::Read, .., |mapped| mapped.unwrap());
        self.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        bytemuck::pod_collect_to_vec(&staging.get_mapped_range(..).unwrap())
    }

    /// Encodes a query, and returns its results and its status. Rays and results start `at` bytes into their buffers. The words around
    /// the results must not change.
    fn encoded(&self, scene: &Scene, kind: QueryKind, rays: &[Ray], query: &Query, at: usize) -> (Vec<u32>, [u32; 4]) {
        self.encoded_at(scene, kind, rays, None, query, at)
    }

    /// Like `encoded`, with times: one per ray, or one for all rays.
    fn encoded_at(
        &self,
        scene: &Scene,
        kind: QueryKind,
        rays: &[Ray],
        times: Option<&[f32]>,
        query: &Query,
        at: usize,
    ) -> (Vec<u32>, [u32; 4]) {
        const UNTOUCHED: u32 = 0xabcd_ef01;
        let words = words_of(kind, rays.len());
        let given = self.filled(at, bytemuck::cast_slice(rays));
        let out = self.filled(0, &vec![UNTOUCHED; at / 4 + words + 3]);
        let status = self.filled(0, &[0; 16]);
        // The plan has a capacity for more rays than there are.
        let plan = blocking::plan(scene, kind, rays.len() as u64 + 7, query).unwrap();
        let slice = |buffer| wgpu::Buffer::slice(buffer, at as u64..);
        let (count, counts) = (rays.len() as u64, Some(status.slice(8..24)));
        let pass = match times {
            None => blocking::bind(&plan, count, slice(&given), slice(&out), counts),
            Some(times) => {
                let timed = self.filled(at + 4, bytemuck::cast_slice(times));
                let from = at as u64 + 4;
                let timed = timed.slice(from..from + 4 * times.len() as u64);
                blocking::bind_at(&plan, count, slice(&given), timed, slice(&out), counts)
            }
        }
        .unwrap();
        let made = self.ours.buffers_made();
        let mut encoder = self.device.create_command_encoder(&Default::default());
        pass.encode(&mut encoder);
        self.queue.submit([encoder.finish()]);
        assert_eq!(self.ours.buffers_made(), made, "encoding creates no buffers");
        let all = self.read(&out);
        let (before, rest) = all.split_at(at / 4);
        let (answers, after) = rest.split_at(words);
        assert!(
            before.iter().chain(&after[..3]).all(|word| *word == UNTOUCHED),
            "{kind:?}: words outside the results were overwritten"
        );
        let counts = self.read(&status);
        assert_eq!((&counts[..2], &counts[6..16]), (&[0; 2][..], &[0; 10][..]));
        (answers.to_vec(), counts[2..6].try_into().unwrap())
    }

    /// Runs `work`, which must cause no error on the device.
    fn without_errors<T>(&self, work: impl FnOnce() -> T) -> T {
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let value = work();
        assert_eq!(pollster::block_on(validation.pop()).map(|e| e.to_string()), None);
        assert_eq!(pollster::block_on(memory.pop()).map(|e| e.to_string()), None);
        value
    }
}

fn words_of(kind: QueryKind, rays: usize) -> usize {
    match kind {
        QueryKind::Closest => 2 * rays,
        QueryKind::Interval | QueryKind::Approach => 3 * rays,
        QueryKind::Occluded => rays.div_ceil(32),
    }
}

/// Returns the results of the ordinary call as words, and the counts of a status without the count of unfinished rays.
fn ordinary<'a>(scene: &Scene, kind: QueryKind, rays: impl Into<Rays<'a>>, query: &Query) -> (Vec<u32>, [u32; 3]) {
    let rays = rays.into();
    let query = &query.on_bad(OnBad::Skip);
    let (words, report) = match kind {
        QueryKind::Closest => {
            let found = blocking::closest(scene, rays, query).unwrap();
            (bytemuck::cast_slice(&found.records).to_vec(), found.report)
        }
        QueryKind::Interval => {
            let found = blocking::interval(scene, rays, query).unwrap();
            (bytemuck::cast_slice(&found.records).to_vec(), found.report)
        }
        QueryKind::Approach => {
            let found = blocking::approach(scene, rays, query).unwrap();
            (bytemuck::cast_slice(&found.records).to_vec(), found.report)
        }
        QueryKind::Occluded => {
            let found = blocking::occluded(scene, rays, query).unwrap();
            (found.words, found.report)
        }
    };
    (words, [report.skipped, report.overflowed, report.hits].map(|count| count as u32))
}

fn compare(own: &CallerDevice, scene: &Scene, rays: &[Ray], query: &Query, at: usize) {
    compare_at(own, scene, &QUERY_KINDS, rays, None, query, at);
}

fn compare_at(
    own: &CallerDevice,
    scene: &Scene,
    kinds: &[QueryKind],
    rays: &[Ray],
    times: Option<&[f32]>,
    query: &Query,
    at: usize,
) {
    for &kind in kinds {
        // One time for all rays, or one per ray.
        let each: Option<Vec<f32>> = times.map(|times| (0..rays.len()).map(|i| times[i % times.len()]).collect());
        let timed = each.as_ref().map_or(Rays::from(rays), |each| Rays::from(rays).times(each));
        let (expected, [bad, beyond, hits]) = ordinary(scene, kind, timed, query);
        let (found, counts) = own.encoded_at(scene, kind, rays, times, query, at);
        let what = format!("{kind:?}, {} rays at {at}, {} spheres, {query:?}", rays.len(), scene.len());
        // For a segment far outside the scene all spheres are about equally near, so a traversal for the nearest pass may stay unfinished.
        let unfinished = |words: &[u32]| f32::from_bits(words[0]).is_nan() && words[2] == u32::MAX;
        let (mut found, expected) = (found, expected);
        let mut undone = 0;
        if kind == QueryKind::Approach {
            for (found, expected) in found.chunks_mut(3).zip(expected.chunks(3)).filter(|(f, _)| unfinished(f)) {
                undone += 1;
                found.copy_from_slice(expected);
            }
            assert!(undone <= 3, "{what}: {undone} unfinished");
        }
        assert_eq!(counts, [bad, undone, beyond, hits], "{what}");
        let differs = found.iter().zip(&expected).position(|(a, b)| a != b);
        assert_eq!(differs.map(|i| (i, found[i], expected[i])), None, "{what}");
    }
}

fn spheres(count: usize) -> Vec<Sphere> {
    let mut n = Numbers(count as u64 + 1);
    // Large enough that some rays start inside.
    let largest = if count < 100 { 0.6 } else { 0.1 };
    (0..count).map(|_| Sphere::new(n.vector(), largest * n.unit())).collect()
}

fn rays(count: usize) -> Vec<Ray> {
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
            for precision in [Precision::Fast, Precision::Standard] {
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
                compare(own, &scene, &rays(rays_count), &Query::default(), at);
            }
        }
    }
}

#[test]
fn bad_rays_miss_and_are_counted() {
    let mut rays = rays(100);
    let bad = bad_rays();
    for (i, ray) in bad.iter().enumerate() {
        assert!(umbracast::check_ray(0, ray).is_err(), "{ray:?}");
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
        compare(own, &scene, &rays, &Query::default(), 0);
        let scene = own.scene(&spheres(TREE));
        compare(own, &scene, &rays[..rays.len() - 1], &Query::default(), 0);
        let (_, counts) = own.encoded(&scene, QueryKind::Closest, &bad, &Query::default(), 0);
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
            let (expected, [bad, beyond, hits]) = ordinary(&scene, kind, &rays, &Query::default());
            let (found, counts) = own.encoded(&scene, kind, &rays, &Query::default(), 0);
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
fn roots_beyond_f32_are_counted() {
    let ray = Ray::new([-3e38, 0.0, 0.0], [1e-3, 0.0, 0.0]);
    for own in shared().iter() {
        let scene = own.scene(&[Sphere::new([3e38, 0.0, 0.0], 1e37)]);
        compare(own, &scene, &[ray; 40], &Query::default(), 0);
        let (_, counts) = own.encoded(&scene, QueryKind::Occluded, &[ray; 40], &Query::default(), 0);
        assert_eq!(counts, [0, 0, 40, 0]);
        // The nearest pass is at the end of the ray, which may be infinite, the largest f32 or a small number.
        let back = Ray::new([-3e38, 0.0, 0.0], [-1e-3, 0.0, 0.0]);
        let ends = [ray, back].map(|ray| [ray.line(), ray.between(-f32::MAX, f32::MAX), ray.between(-2.0, 2.0)]);
        compare(own, &scene, ends.as_flattened(), &Query::default(), 0);
    }
}

#[test]
fn encoded_queries_take_more_spheres_than_one_dispatch() {
    // One sphere is near the limit of f32, so there is no tree.
    let mut spheres = spheres(9000);
    spheres[5000].center = [3e38; 3].into();
    for own in shared().iter() {
        compare(own, &own.scene(&spheres), &rays(100), &Query::default(), 0);
    }
}

#[test]
fn passes_may_share_encoder_plan_and_status_and_outlive_the_scene() {
    let all = rays(500);
    let query = Query::default();
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
            let plan = blocking::plan(&scene, QueryKind::Closest, 400, &query).unwrap();
            assert_eq!(plan.max_rays(), 400);
            let other = blocking::plan(&scene, QueryKind::Occluded, 300, &query).unwrap();
            let counts = status.slice(..16);
            let parts = [
                blocking::bind(&plan, 200, given.slice(..), first.slice(..), Some(counts)).unwrap(),
                blocking::bind(&plan, 300, given.slice(6400..), rest.slice(..), Some(counts)).unwrap(),
                blocking::bind(&other, 300, given.slice(..), bits.slice(..), Some(counts)).unwrap(),
                // The status is optional.
                blocking::bind(&other, 300, given.slice(6400..), others.slice(..), None).unwrap(),
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
    let query = Query::default();
    let cpu = blocking::scene(&crate::support::cpu(), &spheres(3), &SceneOptions::default()).unwrap();
    assert_error(blocking::plan(&cpu, QueryKind::Closest, 1, &query), &["on a GPU", "CPU engine"]);
    let small = own(|limits| limits.max_storage_buffer_binding_size = 1 << 19);
    for own in &small {
        let scene = own.scene(&spheres(100));
        let plan = blocking::plan(&scene, QueryKind::Closest, 1000, &query).unwrap();
        let (given, out) = (own.filled(0, &[0; 8000]), own.filled(0, &[0; 2000]));
        let status = own.filled(0, &[0; 8]);
        let parts = own.scene(&spheres(33_000));
        let pairs = blocking::pairwise(&own.ours, &spheres(100)).unwrap();
        let plain = own.buffer(32_000, BufferUsages::COPY_DST);
        // A device of the same instance: wgpu cannot recognise buffers of another instance.
        let (other, _) = pollster::block_on(own.adapter.request_device(&Default::default())).unwrap();
        let usage = BufferUsages::STORAGE;
        let foreign = wgpu::BufferDescriptor { label: None, size: 8000, usage, mapped_at_creation: false };
        let foreign = other.create_buffer(&foreign);
        let gone = own.filled(0, &[0; 8000]);
        gone.destroy();
        own.without_errors(|| {
            let exact = Query::at(Precision::Exact);
            assert_error(blocking::plan(&scene, QueryKind::Closest, 1, &exact), &["'exact'", "fast or standard"]);
            assert_error(blocking::plan(&parts, QueryKind::Occluded, 1, &query), &["528000 bytes", "524288 allowed"]);
            assert_error(blocking::plan(&pairs, QueryKind::Closest, 1, &query), &["pairwise"]);
            assert_error(
                blocking::plan(&scene, QueryKind::Closest, 16_385, &query),
                &["524320 bytes", "524288 allowed"],
            );
            assert_error(blocking::plan(&scene, QueryKind::Closest, u64::MAX, &query), &["allowed"]);
            let bind = |count, rays: &wgpu::Buffer, at, out: &wgpu::Buffer, to| {
                blocking::bind(&plan, count, rays.slice(at..), out.slice(to..), Some(status.slice(..)))
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
                blocking::bind(&plan, 1, given.slice(..), out.slice(..), Some(status)).map(|_| ())
            };
            assert_error(counted(status.slice(28..)), &["the status", "16 bytes", "12 allowed"]);
            assert_error(counted(out.slice(..)), &["in different buffers"]);
        });
        // The device still works.
        let expected = blocking::closest(&scene, &rays(100), &query).unwrap();
        let (found, _) = own.encoded(&scene, QueryKind::Closest, &rays(100), &query, 0);
        assert_eq!(bytemuck::cast_slice::<u32, Hit>(&found), &expected.records[..]);
    }
}

#[test]
fn sphere_masks_apply_in_encoded_queries() {
    let (spheres, rays) = (spheres(TREE), rays(500));
    let masks: Vec<u32> = (0..TREE as u32).map(|id| id % 3).collect();
    let query = Query::default();
    for own in shared().iter() {
        let masked = Spheres::from(&spheres).masks(&masks);
        let scene = blocking::scene(&own.ours, masked, &SceneOptions::default()).unwrap();
        let expected = blocking::closest(&scene, &rays, &query).unwrap();
        assert!(expected.iter().all(|hit| !hit.is_hit() || hit.id % 3 != 0));
        let (found, _) = own.encoded(&scene, QueryKind::Closest, &rays, &query, 0);
        assert_eq!(found, bytemuck::cast_slice::<Hit, u32>(&expected), "{}", own.adapter.get_info().name);
        let (all, _) = own.encoded(&own.scene(&spheres), QueryKind::Closest, &rays, &query, 0);
        assert_ne!(all, found);
    }
}
