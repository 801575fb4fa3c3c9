//! What only a GPU does: devices are opened and listed, and batches are cast.

use std::sync::Arc;
use std::time::Duration;

use wgpu::BufferUsages;

use super::backend::Output;
use super::device::{Device, DeviceInfo, DeviceOptions};
use super::hit_lists::Listed;
use super::scene::Scene;
use crate::batch::input::Rays;
use crate::batch::ray_batch::RayBatch;
use crate::error::{Error, Result};
use crate::gpu::cast::hit_lists::{ListLengthWriter, ListSlot, ListWriter};
use crate::gpu::cast::plan::Search;
use crate::gpu::cast::raygen::generated_rays;
use crate::gpu::context::adapters;
use crate::gpu::engine::GpuEngine;
use crate::gpu::programs::{PROGRAMS, ShaderEdit};
use crate::gpu::scene::GpuScene;
use crate::query::policy::Precision;
use crate::query::results::Tally;
use crate::records::{Interval, Ray};
use crate::runtime::block_on::block_on;
use crate::runtime::memory::{self, try_repeat, try_with_capacity};
use crate::runtime::{Instant, Limits};

/// Pairs that one core tests per second, at least, with SSE2 or wider instructions.
const CPU_RATE: f64 = 1e9;

impl Device {
    /// Opens the GPU that a choice other than `cpu` names.
    pub(super) async fn open_gpu(choice: &str, options: &DeviceOptions) -> Result<Self> {
        let found = adapters::adapters().await;
        let infos: Vec<_> = found.iter().map(|adapter| adapter.get_info()).collect();
        let lower = choice.to_ascii_lowercase();
        let is_named = |info: &wgpu::AdapterInfo| !lower.is_empty() && info.name.to_lowercase().contains(&lower);
        let chosen = match (&*lower, lower.parse::<usize>()) {
            ("auto", _) => return Ok(Self::best(&found, options).await),
            (_, Ok(index)) if index == found.len() => return Ok(Self::cpu_within(options.limits)),
            (_, Ok(index)) => found.get(index),
            ("gpu", _) => found.first(),
            _ => infos.iter().position(is_named).map(|index| &found[index]),
        };
        let adapter = chosen.ok_or_else(|| no_device(choice, &infos))?;
        Ok(Self::of_gpu(GpuEngine::open(adapter, options.limits, None).await?))
    }

    /// Opens the first GPU that allows the precision and is not a software adapter; else the CPU engine, which is faster than any software
    /// adapter. [`Device::list`] shows why a GPU was not chosen.
    async fn best(found: &[wgpu::Adapter], options: &DeviceOptions) -> Self {
        for adapter in found.iter().filter(|adapter| !adapters::is_software(&adapter.get_info())) {
            if let Ok(gpu) = GpuEngine::open(adapter, options.limits, None).await
                && gpu.check_precision(options.precision).is_ok()
            {
                let device = Self::of_gpu(gpu);
                // A device that fails already at the measurement also fails at the first query, which reports the error.
                return device.clone().with_cpu_for_few().await.unwrap_or(device);
            }
        }
        Self::cpu_within(options.limits)
    }

    fn of_gpu(gpu: GpuEngine) -> Self {
        let limits = *gpu.limits();
        Self { gpu: Some(Arc::new(gpu)), ..Self::cpu_within(limits) }
    }

    /// The device as `auto` returns it: a query that the CPU engine answers bit-identically, and before a round trip to this GPU ends, runs
    /// on the CPU engine.
    #[doc(hidden)]
    pub async fn with_cpu_for_few(self) -> Result<Self> {
        let Some(gpu) = self.on_gpu() else { return Ok(self) };
        let few = (round_trip(gpu).await?.as_secs_f64() * CPU_RATE) as u64;
        Ok(Self { few, ..self })
    }

    /// Uses a wgpu device of the caller, with the default [`Limits`]. Create it with [`required_limits`](crate::required_limits) and
    /// [`required_features`](crate::required_features). No error handlers and no callbacks are installed on it. A query polls the device on
    /// the thread that waits for it, and so may run the caller's own callbacks there; an async query does so for at most a millisecond at a
    /// time.
    /// The call blocks until the device is probed, and allocates a few kilobytes on it.
    ///
    /// Do not destroy the device while a query runs *and* poll it from another thread: wgpu 30 then frees memory that the query is writing.
    ///
    /// # Errors
    /// [`Error::DeviceFailed`] if the device cannot run the probe.
    pub fn from_wgpu(device: wgpu::Device, queue: wgpu::Queue) -> Result<Self> {
        block_on(Self::from_wgpu_async(device, queue))
    }

    /// [`from_wgpu`](Self::from_wgpu), for code that must not block.
    ///
    /// # Errors
    /// As [`from_wgpu`](Self::from_wgpu).
    pub async fn from_wgpu_async(device: wgpu::Device, queue: wgpu::Queue) -> Result<Self> {
        Ok(Self::of_gpu(GpuEngine::adopt(device, queue, None).await?))
    }

    /// [`from_wgpu`](Self::from_wgpu) with changed programs.
    #[doc(hidden)]
    pub fn from_wgpu_edited(device: wgpu::Device, queue: wgpu::Queue, edit: impl Into<ShaderEdit>) -> Result<Self> {
        Ok(Self::of_gpu(block_on(GpuEngine::adopt(device, queue, Some(edit.into())))?))
    }

    /// Opens an adapter after changing its programs, before they are compiled. Tests use it to check that a faulty device is detected.
    /// `edit` is the text to replace and its replacement, or makes the program.
    ///
    /// # Errors
    /// As [`open`](Self::open). Also an error if no program contains the text: the test would otherwise pass without testing anything.
    #[doc(hidden)]
    pub async fn open_edited(index: usize, edit: impl Into<ShaderEdit>) -> Result<Self> {
        let edit = edit.into();
        if let ShaderEdit::Text(from, _) = edit
            && !PROGRAMS.iter().any(|program| program.source().contains(from))
        {
            let message = format!("no program contains '{from}'");
            return Err(Error::DeviceFailed { device: "edited".into(), message });
        }
        let found = adapters::adapters().await;
        let adapter = found.get(index).ok_or_else(|| no_device(&index.to_string(), &[]))?;
        Ok(Self::of_gpu(GpuEngine::open(adapter, Limits::default(), Some(edit)).await?))
    }

    /// The GPUs of this machine, opened and probed.
    pub(super) async fn list_gpus() -> Vec<DeviceInfo> {
        let mut list = Vec::new();
        for (index, adapter) in adapters::adapters().await.iter().enumerate() {
            let info = adapter.get_info();
            let limits = adapters::required_limits(adapter);
            let opened = GpuEngine::open(adapter, Limits::default(), None).await;
            let precisions = match &opened {
                Ok(gpu) if gpu.probe.failure.is_none() => Precision::ALL.to_vec(),
                Ok(gpu) if gpu.probe.broken.is_none() => vec![Precision::Fast, Precision::Exact],
                _ => Vec::new(),
            };
            list.push(DeviceInfo {
                index,
                kind: adapters::rank_and_kind(&info).1,
                backend: format!("{:?}", info.backend),
                driver: [info.driver.as_str(), &info.driver_info].join(" ").trim().to_owned(),
                name: info.name,
                largest_binding: limits.max_storage_buffer_binding_size.min(limits.max_buffer_size),
                largest_dispatch: limits.max_compute_workgroups_per_dimension,
                probe: opened.as_ref().ok().map(|gpu| gpu.probe.clone()),
                failure: opened.err(),
                precisions,
            });
        }
        list
    }

    /// For tests: the rays that this device generates, with infinite ends as the largest f32, and the bytes uploaded for them. `None` on
    /// the CPU engine.
    #[doc(hidden)]
    pub fn generated_rays<'a>(&self, rays: impl Into<Rays<'a>>) -> Result<Option<(Vec<Ray>, u64)>> {
        let source = rays.into().source;
        self.on_gpu().map(|gpu| block_on(generated_rays(gpu, source))).transpose()
    }

    /// Number of buffers created on the GPU so far. Tests use it to check that repeated calls create none.
    #[doc(hidden)]
    pub fn buffers_made(&self) -> u64 {
        self.on_gpu().map_or(0, |gpu| gpu.made.load(std::sync::atomic::Ordering::Relaxed))
    }
}

/// Shortest measured time in which a device copies a word and reports it: a lower bound of the time of a query.
async fn round_trip(gpu: &GpuEngine) -> Result<Duration> {
    let word = gpu.buffer("source", 4, BufferUsages::COPY_SRC | BufferUsages::COPY_DST).await?;
    let staging = gpu.staging_buffer("staging", 4).await?;
    let mut least = Duration::MAX;
    for _ in 0..8 {
        let start = Instant::now();
        gpu.read_in_place(&word, &staging, 4, gpu.patience(), |_| ()).await?;
        least = least.min(start.elapsed());
    }
    Ok(least)
}

fn no_device(asked: &str, infos: &[wgpu::AdapterInfo]) -> Error {
    let seen = if infos.is_empty() {
        "no GPU driver was found, so only cpu is available".to_owned()
    } else {
        let names: Vec<_> = infos.iter().enumerate().map(|(i, info)| format!("{i}: {}", info.name)).collect();
        format!("available are {}, {}: cpu", names.join(", "), infos.len())
    };
    Error::NoDevice { asked: asked.into(), seen }
}

impl Scene {
    /// Casts a batch on a GPU, with the BVH. Rays that the traversal does not finish are cast again by brute force.
    pub(super) async fn cast_gpu<O: Output>(
        &self,
        device: &GpuEngine,
        gpu: &GpuScene,
        batch: RayBatch<'_>,
        out: &mut [O::Word],
    ) -> Result<Tally> {
        let (tally, again) = gpu.cast(device, &self.host, batch, &mut O::writer(out), Search::Bvh).await?;
        let rest = batch.gather(&again);
        let mut results = vec![O::EMPTY; again.len().div_ceil(O::RAYS_PER_WORD)];
        let rest = rest.batch(batch.query, batch.cancel);
        let (more, _) = gpu.cast(device, &self.host, rest, &mut O::writer(&mut results), Search::BruteForce).await?;
        again.into_iter().enumerate().for_each(|(i, at)| O::copy(out, at, &results, i));
        Ok(tally + more)
    }

    /// Lists hits on a GPU in two passes: the first counts them, the second writes the records, if there is memory for them.
    pub(super) async fn list_gpu(
        &self,
        device: &GpuEngine,
        gpu: &GpuScene,
        batch: RayBatch<'_>,
        most: u32,
    ) -> Result<Listed> {
        let (counts, mut tally, again) = self.lengths(device, gpu, batch, Search::Bvh).await?;
        let ListCounts { mut device_counts, mut made } = counts;
        // Rays that the BVH traversal does not finish: the device counts their hits by brute force.
        let rest = batch.gather(&again);
        let rest = rest.batch(batch.query, batch.cancel);
        let (counts, more, _) = self.lengths(device, gpu, rest, Search::BruteForce).await?;
        tally = tally + more;
        made.extend(counts.made.into_iter().map(|(i, list)| (again[i], list)));
        again.iter().zip(&counts.device_counts).for_each(|(&at, count)| device_counts[at] = *count);

        // Offsets of the lists: a prefix sum of their lengths.
        let mut offsets: Vec<u64> = try_with_capacity(batch.rays.len() + 1)?;
        offsets.push(0);
        offsets.extend(device_counts.iter().map(|count| u64::from((*count).min(most))));
        made.iter().for_each(|(at, list)| offsets[at + 1] = (list.len() as u64).min(most.into()));
        let mut end = 0;
        for offset in &mut offsets {
            end += *offset;
            *offset = end;
        }
        let asked = end.saturating_mul(size_of::<Interval>() as u64);
        memory::check_within("hit lists", asked, self.device.limits.memory, self.device.name())?;
        memory::check("hit lists", asked)?;
        let mut records = try_repeat(Interval::MISS, end as usize)?;
        for (at, list) in made {
            let place = &mut records[offsets[at] as usize..offsets[at + 1] as usize];
            place.copy_from_slice(&list[..place.len()]);
        }

        let place = |at: usize, count: u32| ListSlot { at: offsets[at] as usize, count };
        let brute: Vec<(usize, ListSlot)> = again.into_iter().map(|at| (at, place(at, device_counts[at]))).collect();
        brute.iter().for_each(|(at, _)| device_counts[*at] = 0);
        let silent = batch.cancel.without_progress();
        let batch = RayBatch { cancel: &silent, ..batch };
        let listed = device_counts.iter().filter(|count| **count > 0).count();
        let places = (0..).zip(&device_counts).map(|(at, &count)| (at, place(at, count)));
        let mut fill = ListFill { scene: self, device, gpu, batch, most, records: &mut records };
        // If few rays hit anything, only they are cast again. In a pairwise scene the index of a ray must not change.
        let unfinished = if self.host.pairwise || listed > batch.rays.len() / 2 {
            fill.write(batch, &places.map(|(_, place)| place).collect::<Vec<_>>(), Search::Bvh).await?
        } else {
            fill.write_some(places.filter(|(_, place)| place.count > 0).collect(), Search::Bvh).await?
        };
        let unfinished = unfinished.into_iter().map(|at| (at, place(at, device_counts[at])));
        let some = unfinished.chain(brute.into_iter().filter(|(_, place)| place.count > 0)).collect();
        let differ = fill.write_some(some, Search::BruteForce).await?;
        let listed = (offsets, records, tally);
        if differ.is_empty() { Ok(listed) } else { self.relist(batch, most, listed, differ) }
    }

    /// Builds on the host the lists of rays for which two programs of a device disagree about the number of hits: below `exact`, each may
    /// round a grazing pair in its own way.
    fn relist(&self, batch: RayBatch<'_>, most: u32, listed: Listed, mut differ: Vec<usize>) -> Result<Listed> {
        let (before, old, tally) = listed;
        differ.sort_unstable();
        let mut differ = differ.into_iter().peekable();
        let (mut offsets, mut records) = (vec![0], Vec::new());
        for (at, ends) in before.windows(2).enumerate() {
            if differ.next_if_eq(&at).is_some() {
                let (ray, attributes) = (batch.rays.ray(at), batch.ray_attributes.of(at));
                let (own, _) = self.host.list_one(batch.first + at as u64, &ray, attributes, batch.query, most)?;
                records.extend(own);
            } else {
                records.extend_from_slice(&old[ends[0] as usize..ends[1] as usize]);
            }
            offsets.push(records.len() as u64);
        }
        Ok((offsets, records, tally))
    }

    /// Counts the hits of each ray. Also returns the counts of the batch, and the indices of the rays to cast again.
    async fn lengths(
        &self,
        device: &GpuEngine,
        gpu: &GpuScene,
        batch: RayBatch<'_>,
        search: Search,
    ) -> Result<(ListCounts, Tally, Vec<usize>)> {
        let mut counts = try_repeat(0, batch.rays.len())?;
        let most = device.largest_binding() / (2 * size_of::<Interval>() as u64);
        let mut lengths = ListLengthWriter { counts: &mut counts, made: Vec::new(), most };
        let (tally, again) = gpu.cast(device, &self.host, batch, &mut lengths, search).await?;
        let made = lengths.made.into_iter().map(|(at, list)| Ok((at, list?))).collect::<Result<Vec<_>>>()?;
        Ok((ListCounts { device_counts: counts, made }, tally, again))
    }
}

/// Lengths of hit lists.
struct ListCounts {
    /// Number of hits that the device will write per ray.
    device_counts: Vec<u32>,
    /// Lists that the host has built instead, each with the index of its ray.
    made: Vec<(usize, Vec<Interval>)>,
}

/// Second pass: writes the hits into lists of known lengths.
struct ListFill<'a> {
    scene: &'a Scene,
    device: &'a GpuEngine,
    gpu: &'a GpuScene,
    batch: RayBatch<'a>,
    most: u32,
    records: &'a mut [Interval],
}

impl ListFill<'_> {
    /// Writes the lists of all rays of a batch. Returns the indices of unfinished rays.
    async fn write(&mut self, batch: RayBatch<'_>, places: &[ListSlot], search: Search) -> Result<Vec<usize>> {
        let host = &self.scene.host;
        let ray_attributes = host.has_motion_or_shape(&batch.ray_attributes).then_some(batch.ray_attributes);
        let (most, inside) = (self.most, batch.query.inside);
        let mut fill = ListWriter { places, records: self.records, most, inside, ray_attributes };
        Ok(self.gpu.cast(self.device, host, batch, &mut fill, search).await?.1)
    }

    /// Writes the lists of some rays, given by their indices. Returns the indices of unfinished rays.
    async fn write_some(&mut self, some: Vec<(usize, ListSlot)>, search: Search) -> Result<Vec<usize>> {
        let (numbers, places): (Vec<usize>, Vec<ListSlot>) = some.into_iter().unzip();
        let (batch, rest) = (self.batch, self.batch.gather(&numbers));
        let unfinished = self.write(rest.batch(batch.query, batch.cancel), &places, search).await?;
        Ok(unfinished.into_iter().map(|i| numbers[i]).collect())
    }
}
