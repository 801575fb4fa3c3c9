//! Batch ray–sphere queries and physically right shadows on any GPU.

mod cpu;
mod error;
/// Exact arithmetic.
pub mod exact;
#[cfg(feature = "cli")]
pub mod files;
mod query;
mod records;
pub mod shadow;

pub use error::{Error, Result};
pub use glam;
pub use query::{Ends, Inside, OnBad, Precision, Query, Touch, check_ray, check_sphere};
pub use records::{Approach, Hit, Interval, NO_SPHERE, Ray, Sphere};
