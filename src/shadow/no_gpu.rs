//! Stands for the folder `gpu` in builds without the feature of that name; see `src/no_gpu.rs`.

#[path = "gpu/uniforms.rs"]
pub(crate) mod uniforms;

pub(crate) mod visibility {
    use super::uniforms::Shade;
    use crate::error::Result;
    use crate::gpu::engine::GpuEngine;
    use crate::shadow::visibility::LocalVisibility;

    pub(crate) const LEFT_TO_CPU: u32 = 4;

    pub(crate) async fn visible_shades(
        gpu: &GpuEngine,
        _: &[LocalVisibility],
        _: Option<[f64; 2]>,
    ) -> Result<Vec<Shade>> {
        match *gpu {}
    }
}

pub(crate) mod render {
    use crate::error::Result;
    use crate::gpu::engine::GpuEngine;
    use crate::runtime::cancel::CancelToken;
    use crate::shadow::picture::image::{CpuFallback, Picture};
    use crate::shadow::picture::prepared::PreparedPicture;
    use crate::shadow::picture::progress::RenderProgress;
    use crate::shadow::system::System;

    pub(crate) async fn picture(
        gpu: &GpuEngine,
        _: &System,
        _: &PreparedPicture,
        _: &CancelToken,
        _: &(dyn Fn(RenderProgress) + Send + Sync),
    ) -> Result<std::result::Result<Picture, CpuFallback>> {
        match *gpu {}
    }
}
