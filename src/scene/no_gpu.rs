//! Stands for `on_gpu.rs` in builds without the feature `gpu`; see `src/no_gpu.rs`.

use super::backend::Output;
use super::device::{Device, DeviceInfo, DeviceOptions};
use super::hit_lists::Listed;
use super::scene::Scene;
use crate::batch::ray_batch::RayBatch;
use crate::error::{Error, Result};
use crate::gpu::engine::GpuEngine;
use crate::gpu::scene::GpuScene;
use crate::query::results::Tally;

impl Device {
    /// The CPU engine if the choice is `auto`, else an error.
    pub(super) async fn open_gpu(choice: &str, options: &DeviceOptions) -> Result<Self> {
        if choice.eq_ignore_ascii_case("auto") || choice == "0" {
            return Ok(Self::cpu_within(options.limits));
        }
        let seen = "this build has no GPU support (feature gpu); available is 0: cpu".into();
        Err(Error::NoDevice { asked: choice.into(), seen })
    }

    pub(super) async fn list_gpus() -> Vec<DeviceInfo> {
        Vec::new()
    }
}

impl Scene {
    pub(super) async fn cast_gpu<O: Output>(
        &self,
        device: &GpuEngine,
        _: &GpuScene,
        _: RayBatch<'_>,
        _: &mut [O::Word],
    ) -> Result<Tally> {
        match *device {}
    }

    pub(super) async fn list_gpu(&self, device: &GpuEngine, _: &GpuScene, _: RayBatch<'_>, _: u32) -> Result<Listed> {
        match *device {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_gpus_opens_the_cpu_engine_and_says_why_it_opens_nothing_else() {
        for choice in ["auto", "cpu", "0"] {
            assert!(Device::open(&DeviceOptions::new(choice)).unwrap().is_cpu());
        }
        assert_eq!(Device::list().len(), 1);
        for choice in ["gpu", "1", "llvmpipe"] {
            let error = Device::open(&DeviceOptions::new(choice)).unwrap_err();
            assert!(matches!(error, Error::NoDevice { .. }) && error.to_string().contains("no GPU support"), "{error}");
        }
    }
}
