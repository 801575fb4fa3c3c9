//! A wgpu device of the caller, and comparisons of encoded queries with ordinary ones.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use umbracast::wgpu::{self, BufferUsages};
use umbracast::{
    Device, OnBad, Precision, Query, QueryKind, Ray, Rays, Scene, SceneOptions, Sphere, required_features,
    required_limits,
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

    pub(super) fn submit(&self, record: impl FnOnce(&mut wgpu::CommandEncoder)) {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        record(&mut encoder);
        self.queue.submit([encoder.finish()]);
    }

    /// Encodes a query, and returns its results, its status, and the indices of its open rays in order. Rays and results start `at` bytes
    /// into their buffers. The words around the results and the status must not change.
    pub(super) fn encoded(
        &self,
        scene: &Scene,
        kind: QueryKind,
        rays: &[Ray],
        query: &Query,
        at: usize,
    ) -> (Vec<u32>, [u32; 4], Vec<usize>) {
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
    ) -> (Vec<u32>, [u32; 4], Vec<usize>) {
        const UNTOUCHED: u32 = 0xabcd_ef01;
        let words = words_of(kind, rays.len());
        let given = self.filled(at, bytemuck::cast_slice(rays));
        let out = self.filled(0, &vec![UNTOUCHED; at / 4 + words + 3]);
        let lists_open = query.precision == Precision::Exact;
        let list = if lists_open { rays.len() + 1 } else { 0 };
        let status = self.filled(0, &[&[UNTOUCHED; 2][..], &[0; 4], &vec![0; list], &[UNTOUCHED; 2]].concat());
        // The plan has a capacity for more rays than there are.
        let plan = scene.plan(kind, rays.len() as u64 + 7, query).unwrap();
        let slice = |buffer| wgpu::Buffer::slice(buffer, at as u64..);
        let (count, counts) = (rays.len() as u64, Some(status.slice(8..24 + 4 * list as u64)));
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
        self.submit(|encoder| pass.encode(encoder));
        assert_eq!(self.ours.buffers_made(), made, "encoding creates no buffers");
        let all = self.read(&out);
        let (before, rest) = all.split_at(at / 4);
        let (answers, after) = rest.split_at(words);
        assert!(
            before.iter().chain(&after[..3]).all(|word| *word == UNTOUCHED),
            "{kind:?}: words outside the results were overwritten"
        );
        let status = self.read(&status);
        assert!([&status[..2], &status[6 + list..][..2]].concat().iter().all(|word| *word == UNTOUCHED), "{status:x?}");
        let mut open: Vec<usize> = match &status[6..6 + list] {
            [] => Vec::new(),
            [count, indices @ ..] => indices[..*count as usize].iter().map(|index| *index as usize).collect(),
        };
        open.sort_unstable();
        assert!(open.windows(2).all(|pair| pair[0] < pair[1]), "{kind:?}: {open:?}");
        (answers.to_vec(), status[2..6].try_into().unwrap(), open)
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
    let exact = query.precision == Precision::Exact;
    for &kind in kinds.iter().filter(|kind| !exact || **kind != QueryKind::Approach) {
        // One time for all rays, or one per ray.
        let each: Option<Vec<f32>> = times.map(|times| (0..rays.len()).map(|i| times[i % times.len()]).collect());
        let timed = each.as_ref().map_or(Rays::from(rays), |each| Rays::from(rays).times(each));
        let (expected, [bad, beyond, hits]) = ordinary(scene, kind, timed, query);
        let (mut found, counts, open) = own.encoded_at(scene, kind, rays, times, query, at);
        let what = format!("{kind:?}, {} rays at {at}, {} spheres, {query:?}", rays.len(), scene.len());
        let width = words_of(kind, 1);
        // For a segment far outside the scene all spheres are about equally near, so a traversal for the nearest pass may stay unfinished.
        let has_result = |words: &[u32]| !(f32::from_bits(words[0]).is_nan() && words[width - 1] == u32::MAX);
        let mut undone = 0;
        if kind == QueryKind::Approach {
            for (found, expected) in found.chunks_mut(3).zip(expected.chunks(3)).filter(|(f, _)| !has_result(f)) {
                undone += 1;
                found.copy_from_slice(expected);
            }
            assert!(undone <= 3, "{what}: {undone} unfinished");
        }
        // The caller casts the open rays.
        let mut open_hits = 0;
        for &i in &open {
            if kind == QueryKind::Occluded {
                let bit = expected[i / 32] >> (i % 32) & 1;
                assert_eq!(found[i / 32] >> (i % 32) & 1, 0, "{what}: ray {i}");
                found[i / 32] |= bit << (i % 32);
                open_hits += bit;
            } else {
                let at = width * i..width * (i + 1);
                assert!(!has_result(&found[at.clone()]), "{what}: ray {i}");
                found[at.clone()].copy_from_slice(&expected[at.clone()]);
                open_hits += u32::from(expected[at.end - 1] != u32::MAX);
            }
        }
        if exact {
            assert!(counts[1] as usize <= open.len() && counts[2] <= beyond, "{what}: {counts:?}");
            assert_eq!([counts[0], counts[3] + open_hits], [bad, hits], "{what}");
        } else {
            assert_eq!((counts, &open[..]), ([bad, undone, beyond, hits], &[][..]), "{what}");
        }
        let differs = found.iter().zip(&expected).position(|(a, b)| a != b);
        assert_eq!(differs.map(|i| (i, found[i], expected[i])), None, "{what}");
    }
}
