//! Rays that nobody has to write down: made where they are cast, on a GPU too, from a few numbers.
//!
//! | source | rays | what goes up to a GPU |
//! |---|---|---|
//! | [`Parallel`] | from points in one direction: towards the sun | 12 bytes a ray |
//! | [`Toward`] | from points to one point, or to where a sphere begins | 12 bytes a ray |
//! | [`Image`] | of a camera, one through the centre of each pixel | 8 bytes a row and a column |
//! | [`Sensor`] | of poses × elevations × azimuths, as LiDARs are described | 8 bytes an angle, 48 a pose |
//!
//! Each goes where rays go, in every query:
//!
//! ```
//! use umbracast::raygen::Toward;
//! use umbracast::{DeviceOptions, Query, SceneOptions, Sphere, blocking};
//!
//! let ball = [Sphere::new([0.0, 0.0, 5.0], 1.0)];
//! let floor = [[0.0, 0.0, 0.0], [3.0, 0.0, 0.0]];
//!
//! let device = blocking::open(&DeviceOptions::default())?;
//! let scene = blocking::scene(&device, &ball, &SceneOptions::default())?;
//! let lamp = Toward { points: &floor, target: [0.0, 0.0, 10.0], radius: 0.0 };
//! let dark = blocking::occluded(&scene, &lamp, &Query::default())?;
//! assert_eq!(dark.iter().collect::<Vec<_>>(), [true, false]);
//! # Ok::<(), umbracast::Error>(())
//! ```
//!
//! A source makes the same rays everywhere, bit for bit: its numbers are rounded to f32 once, on the host, and what a device does to
//! them is sums, differences and products in a fixed order, each rounded as IEEE 754 says. A GPU whose probe does not bear that out
//! is sent the rays instead, and so is one where the tables would be larger than the rays. (On devices that flush them, parts of a
//! direction below 1.2e-38 may be 0.) [`Rays::ray`](crate::Rays::ray) tells what a ray is.
//!
//! Bad points and poses are refused, or skipped and counted, as bad rays are ([`OnBad`](crate::OnBad)); what spoils all rays, such
//! as a target that is not finite, is always refused.

pub(crate) mod camera;
pub(crate) mod grid;
pub(crate) mod image;
pub(crate) mod lidar;
pub(crate) mod points;
pub(crate) mod source;

pub use image::Image;
pub use lidar::{Pose, Sensor, steps};
pub use points::{Parallel, Toward};
