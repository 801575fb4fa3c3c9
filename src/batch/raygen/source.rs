//! Source of the rays of a query: records or a generator.

use std::borrow::Cow;
use std::ops::Range;

use glam::Vec3;

use super::grid::GridSlice;
use super::points::{PointRays, PointTarget};
use crate::error::Result;
use crate::query::validate::{check_ray, is_usable};
use crate::records::Ray;

/// Source of the rays of a query: records, points or a grid.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RaySource<'a> {
    Records(&'a [Ray]),
    Points(PointRays<'a>),
    Grid(GridSlice<'a>),
}

impl<'a> RaySource<'a> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Records(rays) => rays.len(),
            Self::Points(points) => points.points.len(),
            Self::Grid(part) => part.len(),
        }
    }

    /// What the caller gave, in messages: the name of one, and that of many.
    pub(crate) fn names(&self) -> [&'static str; 2] {
        if matches!(self, Self::Points(_)) { ["point", "points"] } else { ["ray", "rays"] }
    }

    /// Whether these are the rays of a sensor whose range begins above 0.
    pub(crate) fn has_minimum_range(&self) -> bool {
        matches!(self, Self::Grid(part) if part.grid.is_sensor && part.grid.t_min > 0.0)
    }

    /// Ray `i`, which may be invalid.
    #[inline]
    pub(crate) fn ray(&self, i: usize) -> Ray {
        match self {
            Self::Records(rays) => rays[i],
            Self::Points(points) => points.ray(i),
            Self::Grid(part) => part.ray(i),
        }
    }

    /// A slice of the rays. The range must be within bounds.
    pub(crate) fn slice(&self, range: Range<usize>) -> Self {
        match self {
            Self::Records(rays) => Self::Records(&rays[range]),
            Self::Points(points) => Self::Points(PointRays { points: &points.points[range], ..*points }),
            Self::Grid(part) => Self::Grid(part.slice(range)),
        }
    }

    /// All rays as records; borrowed if they are records already.
    pub(crate) fn records(&self) -> Cow<'a, [Ray]> {
        match self {
            Self::Records(rays) => Cow::Borrowed(rays),
            _ => (0..self.len()).map(|i| self.ray(i)).collect(),
        }
    }

    /// Returns an error if a common parameter makes all rays invalid.
    pub(crate) fn check(&self) -> Result<()> {
        match self {
            Self::Points(points) => points.target.check(),
            _ => Ok(()),
        }
    }

    /// Returns an error if ray `i` is invalid. `number` is its index in the whole input, for the message.
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

/// Turns points into rays with `t` in `[0, 0]`. Such a ray hits the spheres that contain its point.
pub(crate) fn rays_at_points(points: &[[f32; 3]]) -> RaySource<'_> {
    RaySource::Points(PointRays { points, target: PointTarget::Along { direction: Vec3::X, t_max: 0.0 } })
}
