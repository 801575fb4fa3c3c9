//! Where work runs: a GPU, or the built-in CPU engine.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::gpu::context::adapters;
use crate::gpu::context::readback::Readback;
use crate::gpu::engine::GpuEngine;
use crate::gpu::probe::Probe;
use crate::gpu::programs::PROGRAMS;
use crate::math::simd::level::Level;
use crate::query::policy::Precision;
use crate::runtime::cancel::Watch;
use crate::runtime::cpu_pool;
use crate::runtime::limits::Limits;

/// Which device to open.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceOptions {
    /// `auto` (the best real GPU, else the CPU engine), `gpu` (the best adapter, software ones included), `cpu` (never loads a
    /// driver), a number from [`Device::list`], or part of an adapter's name in any case. A GPU that `auto` chose leaves to the
    /// CPU engine exact queries that are answered there before word could come back from it.
    pub choice: String,
    /// What the device will be asked for: `auto` passes over GPUs whose probe does not bear it out. Of the others, a query
    /// finds out.
    pub precision: Precision,
    /// What it may be asked for at once.
    pub limits: Limits,
}

impl Default for DeviceOptions {
    /// What the environment variable `UMBRACAST_DEVICE` says, else `auto`.
    fn default() -> Self {
        // What is not UTF-8 names no device: opening it says so.
        let choice = std::env::var_os("UMBRACAST_DEVICE").filter(|value| !value.is_empty());
        Self {
            choice: choice.map_or_else(|| "auto".into(), |value| value.to_string_lossy().into_owned()),
            ..Self::new("")
        }
    }
}

impl DeviceOptions {
    /// Options with a choice.
    pub fn new(choice: impl Into<String>) -> Self {
        Self { choice: choice.into(), precision: Precision::default(), limits: Limits::default() }
    }

    /// The same for another precision.
    #[must_use]
    pub fn at(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// The same with other limits.
    #[must_use]
    pub fn within(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }
}

/// An opened device; clones share it.
#[derive(Clone)]
pub struct Device {
    /// None: the CPU engine.
    gpu: Option<Arc<GpuEngine>>,
    pub(crate) limits: Limits,
    /// Pairs of a ray and a sphere that the CPU engine tests before word could come back from this GPU; 0 unless `auto` chose it.
    few: u64,
    pub(crate) watch: Watch,
}

/// Pairs that one core tests in a second at the least, with SSE2 or wider instructions (`umbracast bench brute`).
const CPU_RATE: f64 = 1e9;

/// One line of [`Device::list`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// What to pass as the choice.
    pub index: usize,
    /// The adapter's name; `cpu` for the CPU engine.
    pub name: String,
    /// Discrete GPU, integrated GPU, virtual GPU, software, or the CPU engine.
    pub kind: &'static str,
    /// Vulkan, Metal, Dx12; `built in` for the CPU engine.
    pub backend: String,
    /// The driver and its version.
    pub driver: String,
    /// The largest buffer a program can see, in bytes.
    pub largest_binding: u64,
    /// Workgroups in one dimension of a dispatch.
    pub largest_dispatch: u32,
    /// What the probe measured; `None` for the CPU engine.
    pub probe: Option<Probe>,
    /// What opening it said, when it failed.
    pub failure: Option<Error>,
    /// The precisions it can promise, from the quickest.
    pub precisions: Vec<Precision>,
}

const CPU_NAME: &str = "cpu";

impl Device {
    /// Opens a device and, when it is a GPU, probes what its arithmetic can promise.
    ///
    /// # Errors
    /// [`Error::NoDevice`] with what there is; [`Error::DeviceFailed`] when a driver refuses.
    pub async fn open(options: &DeviceOptions) -> Result<Self> {
        let choice = options.choice.trim();
        if choice.eq_ignore_ascii_case(CPU_NAME) {
            return Ok(Self::cpu_within(options.limits));
        }
        let found = adapters::adapters().await;
        let infos: Vec<_> = found.iter().map(|adapter| adapter.get_info()).collect();
        let chosen = match choice.to_ascii_lowercase().as_str() {
            "auto" => return Ok(Self::best(&found, options).await),
            "gpu" if !found.is_empty() => 0,
            "gpu" => return Err(no_device(choice, &infos)),
            lower => match lower.parse::<usize>() {
                Ok(index) if index == found.len() => return Ok(Self::cpu_within(options.limits)),
                Ok(index) if index < found.len() => index,
                Ok(_) => return Err(no_device(choice, &infos)),
                Err(_) => infos
                    .iter()
                    .position(|info| !lower.is_empty() && info.name.to_lowercase().contains(lower))
                    .ok_or_else(|| no_device(choice, &infos))?,
            },
        };
        Ok(Self::of_gpu(GpuEngine::open(&found[chosen], options.limits, None).await?))
    }

    /// The first real GPU that opens and can promise the precision, else the CPU engine, which is faster than any software
    /// adapter. What kept a GPU from it is in [`Device::list`].
    async fn best(found: &[wgpu::Adapter], options: &DeviceOptions) -> Self {
        for adapter in found.iter().filter(|adapter| !adapters::is_software(&adapter.get_info())) {
            if let Ok(gpu) = GpuEngine::open(adapter, options.limits, None).await
                && gpu.check_precision(options.precision).is_ok()
            {
                let device = Self::of_gpu(gpu);
                // One that fails already fails at the first query, too.
                return device.clone().sparing_few().await.unwrap_or(device);
            }
        }
        Self::cpu_within(options.limits)
    }

    /// The CPU engine, without limits.
    pub(crate) fn cpu() -> Self {
        Self::cpu_within(Limits::default())
    }

    fn cpu_within(limits: Limits) -> Self {
        Self { gpu: None, limits, few: 0, watch: Watch::new() }
    }

    fn of_gpu(gpu: GpuEngine) -> Self {
        Self { limits: *gpu.limits(), gpu: Some(Arc::new(gpu)), few: 0, watch: Watch::new() }
    }

    /// The same as `auto` chooses it: what the CPU engine answers, to the bit, before word could come back from this GPU, is
    /// left to it.
    ///
    /// # Errors
    /// What the device can suffer.
    #[doc(hidden)]
    pub async fn sparing_few(self) -> Result<Self> {
        let Some(gpu) = self.gpu() else { return Ok(self) };
        let few = (round_trip(gpu).await?.as_secs_f64() * CPU_RATE) as u64;
        Ok(Self { few, ..self })
    }

    /// Whether the CPU engine should answer so small a query for the GPU. Only exact answers are the same bytes on both, and a
    /// ray's answer must not depend on how many it travels with.
    pub(crate) fn spares(&self, spheres: u64, rays: u64, precision: Precision) -> bool {
        precision == Precision::Exact && spheres.saturating_mul(rays) < self.few
    }

    /// Uses a wgpu device that belongs to the caller. Nothing global is installed on it: no error handlers, no callbacks.
    /// Create it with [`required_limits`](crate::required_limits) and [`required_features`](crate::required_features). The
    /// default [`Limits`] hold. Do not destroy it while a query runs *and* poll it from another thread: wgpu 30 then frees
    /// memory that the query is writing.
    ///
    /// # Errors
    /// [`Error::DeviceFailed`] when the device cannot run the probe.
    pub async fn from_wgpu(device: wgpu::Device, queue: wgpu::Queue) -> Result<Self> {
        Ok(Self::of_gpu(GpuEngine::adopt(device, queue).await?))
    }

    /// Opens an adapter whose programs are changed before they are compiled: how tests see that a broken device is caught.
    ///
    /// # Errors
    /// As [`open`](Self::open), and where no program says what is to be changed: else a test would see nothing and pass.
    #[doc(hidden)]
    pub async fn open_edited(index: usize, edit: (&'static str, &'static str)) -> Result<Self> {
        if !PROGRAMS.iter().any(|program| program.source.contains(edit.0)) {
            let message = format!("no program says '{}'", edit.0);
            return Err(Error::DeviceFailed { device: "edited".into(), message });
        }
        let found = adapters::adapters().await;
        let adapter = found.get(index).ok_or_else(|| no_device(&index.to_string(), &[]))?;
        Ok(Self::of_gpu(GpuEngine::open(adapter, Limits::default(), Some(edit)).await?))
    }

    /// Everything that can be opened here, the CPU engine last. Opens and probes each.
    pub async fn list() -> Vec<DeviceInfo> {
        let mut list = Vec::new();
        for (index, adapter) in adapters::adapters().await.iter().enumerate() {
            let info = adapter.get_info();
            let limits = adapters::required_limits(adapter);
            let opened = GpuEngine::open(adapter, Limits::default(), None).await;
            let precisions = match &opened {
                Ok(gpu) if gpu.probe.failure.is_none() => Precision::ALL.to_vec(),
                Ok(gpu) if gpu.probe.broken.is_none() => vec![Precision::Fast, Precision::Exact],
                Ok(_) => Vec::new(),
                Err(_) => Vec::new(),
            };
            list.push(DeviceInfo {
                index,
                kind: adapters::kind(&info),
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
        list.push(DeviceInfo {
            index: list.len(),
            name: CPU_NAME.into(),
            kind: "CPU engine",
            backend: "built in".into(),
            driver: format!("{} threads, {}, {}", cpu_pool::count(), std::env::consts::ARCH, Level::best().word()),
            largest_binding: u64::MAX,
            largest_dispatch: u32::MAX,
            probe: None,
            failure: None,
            precisions: Precision::ALL.to_vec(),
        });
        list
    }

    /// The GPU, unless this is the CPU engine. `src/scene/backend.rs` chooses by it for queries, `src/shadow` for pictures and shadows.
    pub(crate) fn gpu(&self) -> Option<&Arc<GpuEngine>> {
        self.gpu.as_ref()
    }

    /// The adapter's name, or `cpu`.
    pub fn name(&self) -> &str {
        self.gpu().map_or(CPU_NAME, |gpu| gpu.name())
    }

    /// What kind of device it is, in words.
    pub fn kind(&self) -> &'static str {
        self.gpu().map_or("CPU engine", |gpu| gpu.kind())
    }

    /// Whether this is the built-in CPU engine.
    pub fn is_cpu(&self) -> bool {
        self.gpu.is_none()
    }

    /// What the probe measured; `None` for the CPU engine, whose arithmetic is known.
    pub fn probe(&self) -> Option<&Probe> {
        self.gpu().map(|gpu| &gpu.probe)
    }

    /// The same device, which ends what it builds and draws when `watch` is cancelled: scenes, [pictures](Self::render) and
    /// [shadows](Self::shadows), whose observers `watch` counts. Queries of its scenes have [their own](crate::Scene::watched).
    #[must_use]
    pub fn watched(&self, watch: &Watch) -> Self {
        Self { watch: watch.clone(), ..self.clone() }
    }

    /// Buffers made on a GPU so far: how tests see that repeated calls make none.
    #[doc(hidden)]
    pub fn buffers_made(&self) -> u64 {
        self.gpu().map_or(0, |gpu| gpu.made.load(std::sync::atomic::Ordering::Relaxed))
    }
}

/// The least time in which a device copies a word and says so: what a query cannot go below.
async fn round_trip(gpu: &GpuEngine) -> Result<Duration> {
    let word = Readback::new(gpu, 4).await?;
    let mut least = Duration::MAX;
    for _ in 0..8 {
        let start = Instant::now();
        word.in_place(gpu).await?;
        least = least.min(start.elapsed());
    }
    Ok(least)
}

fn no_device(asked: &str, infos: &[wgpu::AdapterInfo]) -> Error {
    let seen = if infos.is_empty() {
        "no GPU driver was found here. The CPU engine needs none (--device cpu); for a software Vulkan adapter install \
         mesa-vulkan-drivers"
            .to_owned()
    } else {
        let names: Vec<_> = infos.iter().enumerate().map(|(i, info)| format!("{i}: {}", info.name)).collect();
        format!("those here are {}, {}: cpu", names.join(", "), infos.len())
    };
    let by_variable = std::env::var_os("UMBRACAST_DEVICE").is_some_and(|value| value.to_string_lossy() == asked);
    let seen = if by_variable { format!("UMBRACAST_DEVICE asks for it; {seen}") } else { seen };
    Error::NoDevice { asked: asked.into(), seen }
}
