//! Physically accurate shadows: the visible fraction of a light's disc, and rendered pictures.

pub(crate) mod ball;
pub(crate) mod ball_bvh;
pub(crate) mod coverage;
pub(crate) mod fluxes;
pub(crate) mod framing;
#[cfg_attr(not(feature = "gpu"), path = "no_gpu.rs")]
pub(crate) mod gpu;
pub(crate) mod interiors;
pub(crate) mod light_frame;
pub(crate) mod lighting;
pub(crate) mod limb_darkening;
pub(crate) mod observers;
pub(crate) mod occluder_bvh;
pub(crate) mod picture;
pub(crate) mod render;
pub(crate) mod rows;
pub(crate) mod spheroid;
pub(crate) mod surface;
pub(crate) mod system;
pub(crate) mod validate;
pub(crate) mod visibility;

pub use ball::{Ball, Shadow, ShadowFlux, ShadowKind};
pub use coverage::caps::covered_fraction;
pub use interiors::{InsideBody, Interiors};
pub use lighting::Lighting;
pub use limb_darkening::LimbDarkening;
pub use picture::image::{Color, CpuFallback, Picture};
pub use picture::progress::{Progress, RenderProgress};
pub use rows::ShadowRow;
pub use spheroid::Spheroid;
pub use surface::{ColorAt, SurfaceMap, Texture};
pub use system::{
    Body, LightSource, MAX_AMBIENT_SAMPLES, MAX_BALLS, MAX_PIXELS, MAX_SAMPLES, MAX_SIDE, PictureOptions, System,
};
pub use validate::check_observer;
pub use visibility::visible_fraction;

pub use crate::batch::raygen::camera::{Camera, Lens};
