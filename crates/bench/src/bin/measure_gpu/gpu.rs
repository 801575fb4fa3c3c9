//! A device that can time its kernels, and rays that stay on it.

use std::time::Instant;

use rayon::prelude::*;
use umbracast::wgpu::{self, BufferUsages, Features};
use umbracast::{Device, Precision, Query, QueryKind, Ray, Scene, ShaderEdit, required_features, required_limits};

use crate::Result;

/// A device with the library on it.
pub(crate) struct Gpu {
    pub(crate) device: Device,
    wgpu: wgpu::Device,
    queue: wgpu::Queue,
}

/// Rays on the device, and space for results.
pub(crate) struct RaysOnGpu {
    rays: wgpu::Buffer,
    results: wgpu::Buffer,
    status: wgpu::Buffer,
    count: u64,
}

/// What a cast on the device took and found.
pub(crate) struct Cast {
    pub(crate) seconds: f64,
    /// Bad, undone and beyond rays, and hits.
    pub(crate) status: [u32; 4],
    pub(crate) results: Vec<u32>,
}

/// Every adapter, in the order of the system.
pub(crate) fn adapters() -> Vec<wgpu::Adapter> {
    let mut description = wgpu::InstanceDescriptor::new_without_display_handle();
    description.backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    let mut found = pollster::block_on(wgpu::Instance::new(description).enumerate_adapters(wgpu::Backends::all()));
    found.sort_by_key(|adapter| adapter.get_info().device_type == wgpu::DeviceType::Cpu);
    found
}

/// The adapter with an index, or with a name that contains a text.
pub(crate) fn choose(choice: &str) -> Result<wgpu::Adapter> {
    let found = adapters();
    if found.is_empty() {
        return Err(
            "no GPU adapter: install a driver for Vulkan, and its loader (on Debian: apt-get install libvulkan1)"
                .into(),
        );
    }
    let at = match choice.parse::<usize>() {
        Ok(index) => Some(index),
        Err(_) => found.iter().position(|one| one.get_info().name.to_lowercase().contains(&choice.to_lowercase())),
    };
    let missing = || format!("no adapter '{choice}': `measure_gpu --help` lists them");
    Ok(at.and_then(|at| found.into_iter().nth(at)).ok_or_else(missing)?)
}

/// Median seconds of `repeat` calls, after one that warms up.
pub(crate) fn median<T>(repeat: usize, mut work: impl FnMut() -> Result<T>) -> Result<f64> {
    drop(work()?);
    let mut seconds = Vec::new();
    for _ in 0..repeat {
        let start = Instant::now();
        let value = work()?;
        seconds.push(start.elapsed().as_secs_f64());
        drop(value);
    }
    seconds.sort_by(f64::total_cmp);
    Ok(seconds[repeat / 2])
}

const TIMESTAMPS: Features = Features::TIMESTAMP_QUERY.union(Features::TIMESTAMP_QUERY_INSIDE_ENCODERS);

impl Gpu {
    pub(crate) fn open(adapter: &wgpu::Adapter, edit: Option<ShaderEdit>) -> Result<Self> {
        let description = wgpu::DeviceDescriptor {
            required_features: required_features(adapter) | (adapter.features() & TIMESTAMPS),
            required_limits: required_limits(adapter),
            ..Default::default()
        };
        let (wgpu, queue) = pollster::block_on(adapter.request_device(&description))?;
        let device = match edit {
            Some(edit) => Device::from_wgpu_edited(wgpu.clone(), queue.clone(), edit)?,
            None => Device::from_wgpu(wgpu.clone(), queue.clone())?,
        };
        Ok(Self { device, wgpu, queue })
    }

    /// What the seconds of a kernel come from.
    pub(crate) fn timed_by(&self) -> &'static str {
        if self.wgpu.features().contains(TIMESTAMPS) { "timestamps" } else { "the host's clock" }
    }

    fn buffer(&self, bytes: u64, usage: BufferUsages) -> wgpu::Buffer {
        self.wgpu.create_buffer(&wgpu::BufferDescriptor { label: None, size: bytes, usage, mapped_at_creation: false })
    }

    fn wait(&self) -> Result<()> {
        self.wgpu.poll(wgpu::PollType::wait_indefinitely())?;
        Ok(())
    }

    /// Maps a buffer, and returns what `work` makes of its bytes.
    fn mapped<T>(&self, buffer: &wgpu::Buffer, work: impl FnOnce(&[u8]) -> T) -> Result<T> {
        buffer.map_async(wgpu::MapMode::Read, .., |_| ());
        self.wait()?;
        let value = work(&buffer.get_mapped_range(..)?);
        buffer.unmap();
        Ok(value)
    }

    fn read(&self, from: &wgpu::Buffer, bytes: u64) -> Result<Vec<u32>> {
        let staging = self.buffer(bytes, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
        let mut encoder = self.wgpu.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(from, 0, &staging, 0, bytes);
        self.queue.submit([encoder.finish()]);
        self.mapped(&staging, bytemuck::pod_collect_to_vec)
    }

    /// Seconds that the device takes for recorded work: the median of five, after one that warms up.
    fn timed(&self, record: impl Fn(&mut wgpu::CommandEncoder)) -> Result<f64> {
        if self.timed_by() != "timestamps" {
            return median(5, || {
                let mut encoder = self.wgpu.create_command_encoder(&Default::default());
                record(&mut encoder);
                self.queue.submit([encoder.finish()]);
                self.wait()
            });
        }
        let description = wgpu::QuerySetDescriptor { label: None, ty: wgpu::QueryType::Timestamp, count: 2 };
        let set = self.wgpu.create_query_set(&description);
        let ticks = self.buffer(16, BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC);
        let mut seconds = Vec::new();
        for _ in 0..6 {
            let mut encoder = self.wgpu.create_command_encoder(&Default::default());
            encoder.write_timestamp(&set, 0);
            record(&mut encoder);
            encoder.write_timestamp(&set, 1);
            encoder.resolve_query_set(&set, 0..2, &ticks, 0);
            self.queue.submit([encoder.finish()]);
            let words = self.read(&ticks, 16)?;
            let tick = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
            seconds.push(tick(2).saturating_sub(tick(0)) as f64 * f64::from(self.queue.get_timestamp_period()) * 1e-9);
        }
        let mut warm = seconds.split_off(1);
        warm.sort_by(f64::total_cmp);
        Ok(warm[2])
    }

    /// Casts rays that are on the device.
    pub(crate) fn cast(&self, scene: &Scene, kind: QueryKind, precision: Precision, on: &RaysOnGpu) -> Result<Cast> {
        let plan = scene.plan(kind, on.count, &Query::at(precision))?;
        let pass = plan.bind(on.count, on.rays.slice(..), None, on.results.slice(..), Some(on.status.slice(..)))?;
        let seconds = self.timed(|encoder| {
            encoder.clear_buffer(&on.status, 0, None);
            pass.encode(encoder);
        })?;
        let bytes = if kind == QueryKind::Occluded { on.count.div_ceil(32) * 4 } else { on.count * 8 };
        let status = self.read(&on.status, 16)?;
        Ok(Cast {
            seconds,
            status: [status[0], status[1], status[2], status[3]],
            results: self.read(&on.results, bytes)?,
        })
    }

    /// Gigabytes per second between the host and the device, and on the device, each with its name.
    pub(crate) fn transfers(&self, bytes: u64) -> Result<Vec<(&'static str, f64)>> {
        let own = [(); 2]
            .map(|()| self.buffer(bytes, BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC));
        let up = self.buffer(bytes, BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC);
        let down = self.buffer(bytes, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
        let copy = |from: &wgpu::Buffer, to: &wgpu::Buffer| {
            self.timed(|encoder| encoder.copy_buffer_to_buffer(from, 0, to, 0, bytes))
        };
        let source = vec![1u8; bytes as usize];
        let mut target = vec![0u8; bytes as usize];
        let plain = least(|| {
            target.par_chunks_mut(PIECE).zip(source.par_chunks(PIECE)).for_each(|(to, from)| to.copy_from_slice(from));
            Ok(())
        })?;
        let mut seconds = vec![
            ("fill_mapped", self.fill(&up, |view| view.slice(..).copy_from_slice(&source))?),
            ("fill_mapped_all_cores", self.fill(&up, |view| fill_all_cores(view, &source))?),
            ("copy_host_all_cores", plain),
            ("upload", copy(&up, &own[0])?),
        ];
        if let Some(cached) = self.cached_upload(bytes) {
            seconds.push(("fill_cached", self.fill(&cached, |view| view.slice(..).copy_from_slice(&source))?));
            seconds.push(("fill_cached_all_cores", self.fill(&cached, |view| fill_all_cores(view, &source))?));
            seconds.push(("upload_cached", copy(&cached, &own[0])?));
        }
        seconds.push(("copy_on_device", copy(&own[0], &own[1])?));
        seconds.push(("download", copy(&own[1], &down)?));
        target.fill(0);
        let read = |all: &mut [u8]| {
            self.mapped(&down, |view| {
                let start = Instant::now();
                all.par_chunks_mut(PIECE).zip(view.par_chunks(PIECE)).for_each(|(to, from)| to.copy_from_slice(from));
                start.elapsed().as_secs_f64()
            })
        };
        let first = read(&mut target)?;
        seconds.push(("read_mapped_all_cores", read(&mut target)?.min(first)));
        if target != source {
            return Err("a buffer came back changed".into());
        }
        Ok(seconds.into_iter().map(|(name, seconds)| (name, bytes as f64 / seconds * 1e-9)).collect())
    }

    /// The least of three times in which `write` fills a buffer that is mapped.
    fn fill(&self, buffer: &wgpu::Buffer, write: impl Fn(&mut wgpu::BufferViewMut)) -> Result<f64> {
        let mut least = f64::INFINITY;
        for _ in 0..3 {
            buffer.map_async(wgpu::MapMode::Write, .., |_| ());
            self.wait()?;
            let start = Instant::now();
            write(&mut buffer.get_mapped_range_mut(..)?);
            least = least.min(start.elapsed().as_secs_f64());
            buffer.unmap();
        }
        Ok(least)
    }

    /// An upload buffer in memory of the host that the processor caches. wgpu takes memory of the GPU where the processor can write there.
    fn cached_upload(&self, bytes: u64) -> Option<wgpu::Buffer> {
        #[cfg(not(target_os = "macos"))]
        {
            use wgpu::hal::{Device, MemoryFlags, api::Vulkan};
            let description = wgpu::hal::BufferDescriptor {
                label: None,
                size: bytes,
                // The driver is asked for cached memory for buffers that are read.
                usage: wgpu::wgt::BufferUses::MAP_READ | wgpu::wgt::BufferUses::COPY_SRC,
                memory_flags: MemoryFlags::empty(),
            };
            let usage = BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC;
            let described = wgpu::BufferDescriptor { label: None, size: bytes, usage, mapped_at_creation: false };
            // SAFETY: the buffer is of this device, is not empty, and has its memory to itself. Its memory can be written when mapped, too.
            unsafe {
                let raw = self.wgpu.as_hal::<Vulkan>()?.create_buffer(&description).ok()?;
                Some(self.wgpu.create_buffer_from_hal::<Vulkan>(raw, &described))
            }
        }
        #[cfg(target_os = "macos")]
        None
    }
}

/// Bytes that a thread copies at a time.
const PIECE: usize = 1 << 19;

fn fill_all_cores(view: &mut wgpu::BufferViewMut, source: &[u8]) {
    let (whole, _) = view.slice(..).into_chunks::<PIECE>();
    let pieces: Vec<wgpu::WriteOnly<'_, [u8; PIECE]>> = whole.into_iter().collect();
    pieces.into_par_iter().zip(source.par_chunks(PIECE)).for_each(|(to, from)| {
        let mut to: wgpu::WriteOnly<'_, [u8]> = to.into();
        to.copy_from_slice(from);
    });
}

/// The least time of three calls.
fn least(mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        work()?;
        least = least.min(start.elapsed().as_secs_f64());
    }
    Ok(least)
}

impl RaysOnGpu {
    pub(crate) fn new(gpu: &Gpu, rays: &[Ray]) -> Result<Self> {
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
        let on = Self {
            rays: gpu.buffer(size_of_val(rays) as u64, usage),
            results: gpu.buffer(8 * rays.len() as u64, usage),
            status: gpu.buffer(16, usage),
            count: rays.len() as u64,
        };
        gpu.queue.write_buffer(&on.rays, 0, bytemuck::cast_slice(rays));
        gpu.queue.submit([]);
        gpu.wait()?;
        Ok(on)
    }
}
