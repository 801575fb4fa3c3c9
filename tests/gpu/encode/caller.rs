//! A wgpu device of the caller, and comparisons of encoded queries with ordinary ones.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use umbracast::wgpu::{self, BufferUsages};
use umbracast::{
    Device, OnBad, Query, QueryKind, Ray, Rays, Scene, SceneOptions, Sphere, required_features, required_limits,
};

pub(super) const QUERY_KINDS: [QueryKind; 4] =
    [QueryKind::Closest, QueryKind::Interval, QueryKind::Approach, QueryKind::Occluded];

/// A wgpu device of the caller, and our device that uses it.
pub(super) struct CallerDevice {
    pub(super) adapter: wgpu::Adapter,
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) ours: Device,
}

pub(super) fn own(edit: impl Fn(&mut wgpu::Limits)) -> Vec<CallerDevice> {
    let open = |adapter: wgpu::Adapter| {
        let mut limits = required_limits(&adapter);
        edit(&mut limits);
        let description = wgpu::DeviceDescriptor {
            required_features: required_features(&adapter),
            required_limits: limits,
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&description)).unwrap();
        let ours = Device::from_wgpu(device.clone(), queue.clone()).unwrap();
        CallerDevice { adapter, device, queue, ours }
    };
    umbracast_testing::adapters().into_iter().map(open).collect()
}

/// Devices with the required limits of their adapters. Only one test at a time uses them, because some count the buffers that a device
/// creates. They are opened once per run, because a new device compiles its kernels again.
pub(super) fn shared() -> MutexGuard<'static, Vec<CallerDevice>> {
    static SHARED: OnceLock<Mutex<Vec<CallerDevice>>> = OnceLock::new();
    SHARED.get_or_init(|| Mutex::new(own(|_| ()))).lock().unwrap_or_else(PoisonError::into_inner)
}

impl CallerDevice {
    pub(super) fn scene(&self, spheres: &[Sphere]) -> Scene {
        self.ours.scene(spheres, &SceneOptions::default()).unwrap()
    }

    pub(super) fn buffer(&self, bytes: usize, usage: BufferUsages) -> wgpu::Buffer {
        let size = (bytes as u64).max(4);
        self.device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    }

    /// Creates a buffer that contains the words from byte `at` on.
    pub(super) fn filled(&self, at: usize, words: &[u32]) -> wgpu::Buffer {
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
        let buffer = self.buffer(at + 4 * words.len() + 8, usage);
        self.queue.write_buffer(&buffer, at as u64, bytemuck::cast_slice(words));
        buffer
    }

    pub(super) fn read(&self, from: &wgpu::Buffer) -> Vec<u32> {
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
    pub(super) fn encoded(
        &self,
        scene: &Scene,
        kind: QueryKind,
        rays: &[Ray],
        query: &Query,
        at: usize,
    ) -> (Vec<u32>, [u32; 4]) {
        self.encoded_at(scene, kind, rays, None, query, at)
    }

    /// Like `encoded`, with times: one per ray, or one for all rays.
    pub(super) fn encoded_at(
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
        let plan = scene.plan(kind, rays.len() as u64 + 7, query).unwrap();
        let slice = |buffer| wgpu::Buffer::slice(buffer, at as u64..);
        let (count, counts) = (rays.len() as u64, Some(status.slice(8..24)));
        let pass = match times {
            None => plan.bind(count, slice(&given), None, slice(&out), counts),
            Some(times) => {
                let timed = self.filled(at + 4, bytemuck::cast_slice(times));
                let from = at as u64 + 4;
                let timed = timed.slice(from..from + 4 * times.len() as u64);
                plan.bind(count, slice(&given), Some(timed), slice(&out), counts)
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
    pub(super) fn without_errors<T>(&self, work: impl FnOnce() -> T) -> T {
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let value = work();
        assert_eq!(pollster::block_on(validation.pop()).map(|e| e.to_string()), None);
        assert_eq!(pollster::block_on(memory.pop()).map(|e| e.to_string()), None);
        value
    }
}

pub(super) fn words_of(kind: QueryKind, rays: usize) -> usize {
    match kind {
        QueryKind::Closest => 2 * rays,
        QueryKind::Interval | QueryKind::Approach => 3 * rays,
        QueryKind::Occluded => rays.div_ceil(32),
    }
}

/// Returns the results of the ordinary call as words, and the counts of a status without the count of unfinished rays.
pub(super) fn ordinary<'a>(
    scene: &Scene,
    kind: QueryKind,
    rays: impl Into<Rays<'a>>,
    query: &Query,
) -> (Vec<u32>, [u32; 3]) {
    let rays = rays.into();
    let query = &query.on_bad(OnBad::Skip);
    let (words, report) = match kind {
        QueryKind::Closest => {
            let found = scene.closest(rays, query).unwrap();
            (bytemuck::cast_slice(&found.records).to_vec(), found.report)
        }
        QueryKind::Interval => {
            let found = scene.interval(rays, query).unwrap();
            (bytemuck::cast_slice(&found.records).to_vec(), found.report)
        }
        QueryKind::Approach => {
            let found = scene.approach(rays, query).unwrap();
            (bytemuck::cast_slice(&found.records).to_vec(), found.report)
        }
        QueryKind::Occluded => {
            let found = scene.occluded(rays, query).unwrap();
            (found.words, found.report)
        }
    };
    (words, [report.skipped, report.overflowed, report.rays_hit].map(|count| count as u32))
}

pub(super) fn compare(own: &CallerDevice, scene: &Scene, rays: &[Ray], query: &Query, at: usize) {
    compare_at(own, scene, &QUERY_KINDS, rays, None, query, at);
}

pub(super) fn compare_at(
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
