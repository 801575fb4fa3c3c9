//! Batch ray–sphere queries and physically right shadows on any GPU.

pub mod blocking;
mod cpu;
mod device;
mod error;
pub mod exact;
#[cfg(feature = "cli")]
pub mod files;
mod gpu;
mod query;
mod records;
mod scene;
mod single;
pub mod wgsl;

pub use device::{Device, DeviceInfo, DeviceOptions};
pub use error::{Error, Result};
pub use glam;
pub use gpu::adapters::{required_features, required_limits};
pub use gpu::probe::Probe;
pub use query::{Ends, Inside, OnBad, Precision, Query, Touch, check_ray, check_sphere};
pub use records::{Approach, Hit, Interval, NO_SPHERE, Ray, Sphere};
pub use scene::{Answer, Bits, Hits, Rays, Report, Scene, SceneOptions, Spheres};
pub use wgpu;
