//! Ray generators: compute rays from a few numbers where they are cast, also on the GPU, instead of reading a list of records.
//!
//! | source | rays | upload to a GPU |
//! |---|---|---|
//! | [`Parallel`] | from points in one direction, such as towards the sun | 12 bytes per ray |
//! | [`Toward`] | from points to one point, or to the surface of a sphere | 12 bytes per ray |
//! | [`Image`] | of a camera, one through the centre of each pixel | 8 bytes per row and per column |
//! | [`Lidar`] | of a LiDAR, for poses × elevations × azimuths | 8 bytes per angle, 48 per pose |
//!
//! Every query that takes rays also takes a generator:
//!
//! ```
//! use umbracast::raygen::Toward;
//! use umbracast::{Device, DeviceOptions, Query, SceneOptions, Sphere};
//!
//! let ball = [Sphere::new([0.0, 0.0, 5.0], 1.0)];
//! let floor = [[0.0, 0.0, 0.0], [3.0, 0.0, 0.0]];
//!
//! let device = Device::open(&DeviceOptions::default())?;
//! let scene = device.scene(&ball, &SceneOptions::default())?;
//! let lamp = Toward { points: &floor, target: [0.0, 0.0, 10.0], radius: 0.0 };
//! let dark = scene.occluded(&lamp, &Query::default())?;
//! assert_eq!(dark.iter().collect::<Vec<_>>(), [true, false]);
//! # Ok::<(), umbracast::Error>(())
//! ```
//!
//! A generator makes bit-identical rays on every device. Its numbers are rounded to f32 once, on the host. The device computes only
//! sums, differences and products in a fixed order, each rounded as IEEE 754 requires. If the probe of a GPU shows other rounding, the
//! rays themselves are uploaded instead; this is also done if the tables would take more than half the bytes of the rays. (On devices
//! that flush subnormal numbers, components of a direction below 1.2e-38 may be 0.) [`Rays::ray`](crate::Rays::ray) returns a ray.
//!
//! Invalid points and poses are treated like invalid rays: they are errors, or skipped and counted ([`OnBad`](crate::OnBad)). An input
//! that makes all rays invalid, such as a target that is not finite, is always an error.

#[cfg_attr(not(feature = "shadow"), allow(dead_code, reason = "shadows and pictures use all of it"))]
pub(crate) mod camera;
pub(crate) mod grid;
pub(crate) mod lidar;
pub(crate) mod points;
#[cfg_attr(not(feature = "shadow"), allow(dead_code, reason = "shadows and pictures use all of it"))]
pub(crate) mod projection;
pub(crate) mod source;

pub use camera::Image;
pub use lidar::{Lidar, Pose, linspace};
pub use points::{Parallel, Toward, check_point};
