//! Where the rays of a query come from.

use std::borrow::Cow;
use std::ops::Range;

use glam::Vec3;

use super::grid::GridPart;
use super::points::{Aim, Points};
use crate::error::Result;
use crate::query::validate::{check_ray, is_usable};
use crate::records::Ray;

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

/// Points as rays that go nowhere: `t` is 0, and what holds a point is met there.
pub(crate) fn here(points: &[[f32; 3]]) -> Source<'_> {
    Source::Points(Points { points, aim: Aim::Along { direction: Vec3::X, t_max: 0.0 } })
}
