//! Which GPUs there are, and what may be asked of them.

use wgpu::{Adapter, AdapterInfo, Backends, DeviceType, Instance, InstanceDescriptor, InstanceFlags, Limits};

/// The largest binding used anywhere: drivers that allow more have computed wrong numbers past 2³¹ bytes (wgpu issues 2361
/// and 10305).
const LARGEST_BINDING: u64 = (1 << 31) - 256;

/// Every adapter of this machine, best first: discrete, integrated, virtual, unknown, software.
pub(crate) async fn adapters() -> Vec<Adapter> {
    let mut description = InstanceDescriptor::new_without_display_handle();
    description.backends = Backends::VULKAN | Backends::METAL | Backends::DX12;
    // Validation layers would print to stderr and slow every call; WGPU_VALIDATION and its kin still turn them on.
    description.flags = InstanceFlags::empty().with_env();
    let mut found = Instance::new(description).enumerate_adapters(Backends::all()).await;
    found.sort_by_key(|adapter| rank(&adapter.get_info()));
    found
}

fn rank(info: &AdapterInfo) -> u8 {
    match info.device_type {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => 4,
    }
}

/// Whether the adapter is a program rather than a GPU.
pub(crate) fn is_software(info: &AdapterInfo) -> bool {
    info.device_type == DeviceType::Cpu
}

/// One word for the kind of adapter.
pub(crate) fn kind(info: &AdapterInfo) -> &'static str {
    match info.device_type {
        DeviceType::DiscreteGpu => "discrete GPU",
        DeviceType::IntegratedGpu => "integrated GPU",
        DeviceType::VirtualGpu => "virtual GPU",
        DeviceType::Other => "unknown kind",
        DeviceType::Cpu => "software",
    }
}

/// The limits to create a device with for [`Device::from_wgpu`](crate::Device::from_wgpu): WebGPU's defaults, but for the
/// sizes of buffers and bindings, where it is the adapter's own.
pub fn required_limits(adapter: &Adapter) -> Limits {
    let own = adapter.limits();
    Limits {
        max_storage_buffer_binding_size: own.max_storage_buffer_binding_size.min(LARGEST_BINDING),
        max_buffer_size: own.max_buffer_size,
        ..Limits::default()
    }
}

/// The features to create a device with for [`Device::from_wgpu`](crate::Device::from_wgpu): none beyond WebGPU's core, but
/// for the subgroups of software adapters, which gain by half from them.
pub fn required_features(adapter: &Adapter) -> wgpu::Features {
    if is_software(&adapter.get_info()) {
        adapter.features() & wgpu::Features::SUBGROUP
    } else {
        wgpu::Features::empty()
    }
}

/// Whether threads of a subgroup had better load spheres for each other: in software, where a load is dear, and where eight
/// threads at least do the same thing at once.
pub(crate) fn shares_loads(device: &wgpu::Device, info: &AdapterInfo) -> bool {
    is_software(info) && device.features().contains(wgpu::Features::SUBGROUP) && info.subgroup_min_size >= 8
}
