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
//! use umbracast::emit::Toward;
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

mod grid;
mod image;
mod points;
mod sensor;

use std::borrow::Cow;
use std::ops::Range;

use crate::error::Result;
use crate::query::{check_ray, is_usable};
use crate::records::Ray;

pub(crate) use grid::GridPart;
pub use image::Image;
#[cfg(feature = "files")]
pub(crate) use points::check_point;
pub(crate) use points::{Aim, Points, here};
pub use points::{Parallel, Toward};
pub use sensor::{Pose, Sensor, steps};

/// Where the rays of a query come from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'a> {
    Records(&'a [Ray]),
    Points(Points<'a>),
    Grid(GridPart<'a>),
}

impl<'a> Source<'a> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Records(rays) => rays.len(),
            Self::Points(points) => points.points.len(),
            Self::Grid(part) => part.len(),
        }
    }

    /// Ray `i`, which may be one that cannot be used.
    pub(crate) fn ray(&self, i: usize) -> Ray {
        match self {
            Self::Records(rays) => rays[i],
            Self::Points(points) => points.ray(i),
            Self::Grid(part) => part.ray(i),
        }
    }

    /// Some of the rays, which must be there.
    pub(crate) fn part(&self, range: Range<usize>) -> Self {
        match self {
            Self::Records(rays) => Self::Records(&rays[range]),
            Self::Points(points) => Self::Points(Points { points: &points.points[range], ..*points }),
            Self::Grid(part) => Self::Grid(part.part(range)),
        }
    }

    /// All of them, written down.
    pub(crate) fn records(&self) -> Cow<'a, [Ray]> {
        match self {
            Self::Records(rays) => Cow::Borrowed(rays),
            _ => (0..self.len()).map(|i| self.ray(i)).collect(),
        }
    }

    /// Why none of the rays can be used, if so.
    pub(crate) fn check(&self) -> Result<()> {
        match self {
            Self::Points(points) => points.aim.check(),
            _ => Ok(()),
        }
    }

    /// Why ray `i`, number `number` of the whole input, cannot be used, if it cannot.
    #[inline]
    pub(crate) fn check_one(&self, i: usize, number: u64) -> Result<()> {
        match self {
            Self::Records(rays) if is_usable(&rays[i]) => Ok(()),
            Self::Records(rays) => check_ray(number, &rays[i]),
            Self::Points(points) => points.check_one(i, number),
            Self::Grid(part) => part.check_one(i),
        }
    }
}
