//! Devices: a GPU, or the built-in CPU engine.

use std::sync::Arc;

use crate::bvh::gpu_frame::GpuFrame;
use crate::bvh::qbvh4::node::QBvh4;
use crate::error::{Error, Result};
use crate::gpu::engine::GpuEngine;
use crate::gpu::probe::Probe;
use crate::math::simd::level::SimdLevel;
use crate::query::policy::Precision;
use crate::records::Sphere;
use crate::runtime::Limits;
use crate::runtime::block_on::block_on;
use crate::runtime::cancel::CancelToken;

/// Options for opening a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceOptions {
    /// The device to open:
    ///
    /// * `auto`: the best GPU that is not a software adapter; the CPU engine if there is none. On such a GPU, a query at `Exact` runs on
    ///   the CPU engine if that finishes before a round trip to the GPU.
    /// * `gpu`: the best adapter, software adapters included.
    /// * `cpu`: the CPU engine. No driver is loaded.
    /// * An index from [`Device::list`].
    /// * A part of an adapter's name; case is ignored.
    pub choice: String,
    /// The precision that queries will use: the choice `auto` skips GPUs whose probe does not allow it. [`Precision::Auto`], the default,
    /// skips GPUs that do not support every precision. With any other choice, a query at a precision that the probe does not allow returns
    /// an error.
    pub precision: Precision,
    /// Limits on rays, buffers, memory and waiting time.
    pub limits: Limits,
}

impl Default for DeviceOptions {
    /// The choice `auto`.
    fn default() -> Self {
        Self::new("auto")
    }
}

impl DeviceOptions {
    /// Options for a choice of device, with the default precision and limits.
    pub fn new(choice: impl Into<String>) -> Self {
        Self { choice: choice.into(), precision: Precision::default(), limits: Limits::default() }
    }

    /// The choice in the environment variable `UMBRACAST_DEVICE`; `auto` if it is unset or empty.
    pub fn from_env() -> Self {
        // A value that is not UTF-8 matches no device, so opening it returns an error.
        let choice = std::env::var_os("UMBRACAST_DEVICE").filter(|value| !value.is_empty());
        choice.map_or_else(Self::default, |value| Self::new(value.to_string_lossy()))
    }

    /// Sets the precision.
    #[must_use]
    pub fn precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// Sets the limits.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }
}

/// An open device. Clones share it. `{:?}` prints its name.
#[derive(Clone)]
pub struct Device {
    /// `None` for the CPU engine.
    pub(super) gpu: Option<Arc<GpuEngine>>,
    pub(crate) limits: Limits,
    /// Number of pairs of a ray and a sphere that the CPU engine tests in the time of a round trip to this GPU; 0 unless `auto` chose the
    /// GPU.
    pub(super) few: u64,
    /// Instruction set of the CPU engine.
    pub(crate) level: SimdLevel,
    pub(crate) cancel: CancelToken,
}

/// Description of a device, from [`Device::list`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Index of the device. As text, it is a valid [`DeviceOptions::choice`].
    pub index: usize,
    /// Name of the adapter; `cpu` for the CPU engine.
    pub name: String,
    /// Kind of device: `discrete GPU`, `integrated GPU`, `virtual GPU`, `unknown kind`, `software` or `CPU engine`.
    pub kind: &'static str,
    /// Graphics API: `Vulkan`, `Metal` or `Dx12`; `built in` for the CPU engine.
    pub backend: String,
    /// Driver and its version. For the CPU engine: number of threads, architecture and instruction set.
    pub driver: String,
    /// Size of the largest buffer that a shader can bind, in bytes; `u64::MAX` for the CPU engine.
    pub largest_binding: u64,
    /// Maximum number of workgroups per dimension of a dispatch; `u32::MAX` for the CPU engine.
    pub largest_dispatch: u32,
    /// Results of the probe; `None` for the CPU engine, and if the device cannot be opened.
    pub probe: Option<Probe>,
    /// Why the device cannot be opened; `None` if it can.
    pub failure: Option<Error>,
    /// Precisions that the device supports, fastest first; empty if it cannot be opened, or if its probe allows none.
    pub precisions: Vec<Precision>,
}

const CPU_NAME: &str = "cpu";

impl DeviceInfo {
    fn of_cpu(index: usize) -> Self {
        Self {
            index,
            name: CPU_NAME.into(),
            kind: "CPU engine",
            backend: "built in".into(),
            driver: format!(
                "{} threads, {}, {}",
                rayon::current_num_threads(),
                std::env::consts::ARCH,
                SimdLevel::best().name()
            ),
            largest_binding: u64::MAX,
            largest_dispatch: u32::MAX,
            probe: None,
            failure: None,
            precisions: Precision::ALL.to_vec(),
        }
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("name", &self.name()).field("kind", &self.kind()).finish_non_exhaustive()
    }
}

impl Device {
    /// Opens a device. A GPU is probed first, to find the precisions that its arithmetic allows. The choice `auto` never fails, because it
    /// can always use the CPU engine.
    ///
    /// The call blocks until drivers are loaded and the GPU is probed, which takes up to a few seconds. The CPU engine opens at once, and
    /// allocates nothing.
    ///
    /// # Errors
    /// [`Error::NoDevice`], with the available devices, if none matches the choice; [`Error::DeviceFailed`] if a driver refuses.
    pub fn open(options: &DeviceOptions) -> Result<Self> {
        block_on(Self::open_async(options))
    }

    /// [`open`](Self::open), for code that must not block.
    pub async fn open_async(options: &DeviceOptions) -> Result<Self> {
        let choice = options.choice.trim();
        if choice.eq_ignore_ascii_case(CPU_NAME) {
            return Ok(Self::cpu_within(options.limits));
        }
        Self::open_gpu(choice, options).await
    }

    pub(super) fn cpu_within(limits: Limits) -> Self {
        Self { gpu: None, limits, few: 0, level: SimdLevel::best(), cancel: CancelToken::new() }
    }

    /// Lists all devices of this machine, best first, the CPU engine last. Opens and probes each of them, and blocks meanwhile. In a browser,
    /// which cannot wait, it lists only the CPU engine.
    pub fn list() -> Vec<DeviceInfo> {
        block_on(async { Ok(Self::list_async().await) }).unwrap_or_else(|_| vec![DeviceInfo::of_cpu(0)])
    }

    /// [`list`](Self::list), for code that must not block.
    pub async fn list_async() -> Vec<DeviceInfo> {
        let mut list = Self::list_gpus().await;
        list.push(DeviceInfo::of_cpu(list.len()));
        list
    }

    /// Name of the adapter; `cpu` for the CPU engine.
    pub fn name(&self) -> &str {
        self.on_gpu().map_or(CPU_NAME, |gpu| gpu.name())
    }

    /// Kind of device, as in [`DeviceInfo::kind`].
    pub fn kind(&self) -> &'static str {
        self.on_gpu().map_or("CPU engine", |gpu| gpu.kind())
    }

    /// Whether this is the built-in CPU engine.
    pub fn is_cpu(&self) -> bool {
        self.gpu.is_none()
    }

    /// Results of the probe; `None` for the CPU engine, whose arithmetic is known.
    pub fn probe(&self) -> Option<&Probe> {
        self.on_gpu().map(|gpu| gpu.probe())
    }

    /// Returns the same device with `cancel` attached. Cancelling it ends scene builds, [pictures](Self::render) and
    /// [shadows](Self::shadows); its progress counts the observers of shadows. Queries use [that of their
    /// scene](crate::Scene::with_cancel).
    #[must_use]
    pub fn with_cancel(&self, cancel: &CancelToken) -> Self {
        Self { cancel: cancel.clone(), ..self.clone() }
    }
    /// For tests: builds the BVH of a GPU on the CPU, and returns its number of nodes.
    #[doc(hidden)]
    pub fn gpu_bvh_nodes(spheres: &[Sphere]) -> Result<usize> {
        Ok(QBvh4::new(spheres, &GpuFrame::of(spheres), &CancelToken::new())?.nodes.len())
    }

    /// For tests: instruction sets of the CPU engine that this processor supports, fastest first.
    #[doc(hidden)]
    pub fn levels() -> Vec<&'static str> {
        SimdLevel::all().into_iter().map(SimdLevel::name).collect()
    }

    /// Returns the same device with another instruction set of the CPU engine: one of [`levels`](Self::levels). Results do not
    /// depend on it.
    ///
    /// # Panics
    /// If this processor does not support it.
    #[doc(hidden)]
    #[must_use]
    pub fn with_level(&self, name: &str) -> Self {
        let level = SimdLevel::all().into_iter().find(|level| name == level.name());
        let level = level.unwrap_or_else(|| panic!("'{name}' is not an instruction set of this processor"));
        Self { level, ..self.clone() }
    }
}
