//! Enumerates adapters, and chooses the limits and features of their devices.

use wgpu::{
    Adapter, AdapterInfo, Backend, Backends, DeviceType, Instance, InstanceDescriptor, InstanceFlags, Limits,
    PowerPreference, RequestAdapterOptions,
};

/// The largest binding used on any device, in bytes. Drivers that allow more have computed wrong results beyond 2³¹ bytes (wgpu issues
/// 2361 and 10305).
const LARGEST_BINDING: u64 = (1 << 31) - 256;

/// Every adapter of this machine, best first: discrete, integrated, virtual, unknown, software.
pub(crate) async fn adapters() -> Vec<Adapter> {
    let mut description = InstanceDescriptor::new_without_display_handle();
    description.backends = Backends::VULKAN | Backends::METAL | Backends::DX12 | Backends::BROWSER_WEBGPU;
    // Validation layers would print to stderr and slow every call. `WGPU_VALIDATION` and related variables still enable them.
    description.flags = InstanceFlags::empty().with_env();
    let instance = Instance::new(description);
    let mut found = if cfg!(target_arch = "wasm32") {
        // A browser has one adapter for each of these preferences.
        let options =
            RequestAdapterOptions { power_preference: PowerPreference::HighPerformance, ..Default::default() };
        instance.request_adapter(&options).await.into_iter().collect()
    } else {
        instance.enumerate_adapters(Backends::all()).await
    };
    found.sort_by_key(|adapter| rank_and_kind(&adapter.get_info()).0);
    found
}

/// The rank of an adapter among others, and its kind, as shown to users.
pub(crate) fn rank_and_kind(info: &AdapterInfo) -> (u8, &'static str) {
    match info.device_type {
        DeviceType::DiscreteGpu => (0, "discrete GPU"),
        DeviceType::IntegratedGpu => (1, "integrated GPU"),
        DeviceType::VirtualGpu => (2, "virtual GPU"),
        DeviceType::Other => (3, "unknown kind"),
        DeviceType::Cpu => (4, "software"),
    }
}

pub(crate) fn is_software(info: &AdapterInfo) -> bool {
    info.device_type == DeviceType::Cpu
}

/// The limits for creating a device for [`Device::from_wgpu`](crate::Device::from_wgpu): WebGPU's defaults, except for the sizes of
/// buffers and storage bindings. These are the adapter's own; bindings are limited to just below 2³¹ bytes.
pub fn required_limits(adapter: &Adapter) -> Limits {
    let own = adapter.limits();
    Limits {
        max_storage_buffer_binding_size: own.max_storage_buffer_binding_size.min(LARGEST_BINDING),
        max_buffer_size: own.max_buffer_size,
        ..Limits::default()
    }
}

/// The features for creating a device for [`Device::from_wgpu`](crate::Device::from_wgpu): none beyond WebGPU's core, except subgroups
/// on software adapters, where they increase the speed by half.
pub fn required_features(adapter: &Adapter) -> wgpu::Features {
    if is_software(&adapter.get_info()) {
        adapter.features() & wgpu::Features::SUBGROUP
    } else {
        wgpu::Features::empty()
    }
}

/// Whether threads of a subgroup share their loads of spheres. This pays off on software adapters, where loads are expensive, if
/// subgroups have at least eight threads. Not in browsers: they require `enable subgroups;`, which naga does not parse.
pub(crate) fn shares_loads(device: &wgpu::Device, info: &AdapterInfo) -> bool {
    info.backend != Backend::BrowserWebGpu
        && is_software(info)
        && device.features().contains(wgpu::Features::SUBGROUP)
        && info.subgroup_min_size >= 8
}
