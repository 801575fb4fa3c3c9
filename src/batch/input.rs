//! What goes in: spheres, rays and points, borrowed.

use std::ops::Range;

use glam::Vec3;

use super::ray_attributes::Extras;
use super::raygen::image::Image;
use super::raygen::lidar::Sensor;
use super::raygen::points::{self, Aim, Parallel, Toward};
use super::raygen::source::Source;
use crate::intersect::ellipsoid::Shape;
use crate::math::error_free::two_sum;
use crate::records::{Ray, Sphere};

/// Spheres to make a scene of: a borrowed slice, and columns beside it.
#[derive(Clone, Copy, Debug)]
pub struct Spheres<'a> {
    pub(crate) records: &'a [Sphere],
    pub(crate) masks: Option<&'a [u32]>,
    pub(crate) velocities: Option<&'a [Vec3]>,
    pub(crate) shapes: Option<&'a [Shape]>,
}

impl<'a> Spheres<'a> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Gives each sphere a mask: a ray meets it only when their masks share a bit. Without, every bit is set: only a ray with mask 0
    /// passes through.
    #[must_use]
    pub fn masks(self, masks: &'a [u32]) -> Self {
        Self { masks: Some(masks), ..self }
    }

    /// Lets each sphere move: at time `t` its centre is `center + t · velocity`. See [`Motion`](crate::Motion) for how rays meet it and
    /// [`SceneOptions::time_range`](crate::SceneOptions::time_range) for when.
    #[must_use]
    pub fn velocities(self, velocities: &'a [Vec3]) -> Self {
        Self { velocities: Some(velocities), ..self }
    }

    /// Makes of each, as the ball around it, an ellipsoid.
    #[must_use]
    pub(crate) fn shapes(self, shapes: &'a [Shape]) -> Self {
        Self { shapes: Some(shapes), ..self }
    }
}

/// Rays to cast: a borrowed slice, or a [source](crate::raygen) that makes them.
#[derive(Clone, Copy, Debug)]
pub struct Rays<'a> {
    pub(crate) source: Source<'a>,
    /// The number of the first one, when they are a part of a longer list.
    pub(crate) first: Option<u64>,
    pub(crate) extras: Extras<'a>,
}

impl<'a> Rays<'a> {
    /// Gives each ray a mask: it meets only spheres whose [masks](Spheres::masks) share a bit with it. Without, every bit is set.
    #[must_use]
    pub fn masks(self, masks: &'a [u32]) -> Self {
        Self { extras: Extras { masks: Some(masks), ..self.extras }, ..self }
    }

    /// Gives each ray a time, at which it sees spheres that move ([`Motion::AtTime`](crate::Motion::AtTime)). Without, 0.
    #[must_use]
    pub fn times(self, times: &'a [f32]) -> Self {
        Self { extras: Extras { times: Some(times), ..self.extras }, ..self }
    }

    /// Makes each ray a ball of a radius on its way: it meets a sphere where their surfaces touch, as if the sphere's radius were larger
    /// by its own. Clearances are between surfaces, too.
    #[must_use]
    pub fn radii(self, radii: &'a [f32]) -> Self {
        Self { extras: Extras { radii: Some(radii), ..self.extras }, ..self }
    }

    /// Names for each ray one sphere that it does not meet, such as the one it starts on; [`NO_SPHERE`](crate::NO_SPHERE) for none.
    #[must_use]
    pub fn skip_ids(self, ids: &'a [u32]) -> Self {
        Self { extras: Extras { skip_ids: Some(ids), ..self.extras }, ..self }
    }

    /// Says that these are a part of a longer list, in which the first one has number `first`. Errors then name rays by
    /// their numbers there, and a pairwise scene of the whole list pairs them by it.
    #[must_use]
    pub fn numbered_from(self, first: u64) -> Self {
        Self { first: Some(first), ..self }
    }

    /// Rays `range` of these, as far as there are so many, numbered as they are here.
    #[must_use]
    pub fn part(self, range: Range<usize>) -> Self {
        let end = range.end.min(self.len());
        let start = range.start.min(end);
        let first = self.first.unwrap_or(0).saturating_add(start as u64);
        Self { source: self.source.part(start..end), first: Some(first), extras: self.extras.part(start..end) }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.source.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ray `i`, as every device casts it, though it may be one that cannot be used; none when there are fewer.
    pub fn ray(&self, i: usize) -> Option<Ray> {
        (i < self.len()).then(|| self.source.ray(i))
    }
}

impl<'a> From<Source<'a>> for Rays<'a> {
    fn from(source: Source<'a>) -> Self {
        Self { source, first: None, extras: Extras::default() }
    }
}

/// Segments, from point to point: rays with `t` from 0 to 1 whose direction is the exact difference of the points, which one f32 a
/// component cannot hold. ([`Ray::segment`] rounds it.)
#[derive(Clone, Debug, Default)]
pub struct Segments {
    rays: Vec<Ray>,
    lows: Vec<[f32; 3]>,
}

impl Segments {
    /// From pairs of points. Equal points are a direction of zero: refused where they are cast.
    pub fn new(ends: impl IntoIterator<Item = [[f32; 3]; 2]>) -> Self {
        let mut segments = Self::default();
        ends.into_iter().for_each(|ends| segments.push(ends));
        segments
    }

    /// Adds one more.
    pub fn push(&mut self, [from, to]: [[f32; 3]; 2]) {
        let parts: [(f32, f32); 3] = std::array::from_fn(|k| two_sum(to[k], -from[k]));
        self.rays.push(Ray::new(from, parts.map(|(high, _)| high)).between(0.0, 1.0));
        // Of points that cannot be used nothing else must be wrong than the points.
        self.lows.push(parts.map(|(_, low)| if low.is_finite() { low } else { 0.0 }));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rays.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rays.is_empty()
    }
}

impl<'a> From<&'a Segments> for Rays<'a> {
    fn from(segments: &'a Segments) -> Self {
        let rays = Self::from(&segments.rays);
        Self { extras: Extras { lows: Some(&segments.lows), ..rays.extras }, ..rays }
    }
}

/// Points to be looked at: a borrowed slice.
#[derive(Clone, Copy, Debug)]
pub struct Points<'a> {
    pub(crate) records: &'a [Point],
    pub(crate) first: u64,
    pub(crate) extras: Extras<'a>,
}

type Point = [f32; 3];

impl<'a> Points<'a> {
    /// Gives each point a mask: it looks only at spheres whose [masks](Spheres::masks) share a bit with it.
    #[must_use]
    pub fn masks(self, masks: &'a [u32]) -> Self {
        Self { extras: Extras { masks: Some(masks), ..self.extras }, ..self }
    }

    /// Gives each point a time, at which it looks at spheres that move. Without, 0.
    #[must_use]
    pub fn times(self, times: &'a [f32]) -> Self {
        Self { extras: Extras { times: Some(times), ..self.extras }, ..self }
    }

    /// Names for each point one sphere that it does not look at; [`NO_SPHERE`](crate::NO_SPHERE) for none.
    #[must_use]
    pub fn skip_ids(self, ids: &'a [u32]) -> Self {
        Self { extras: Extras { skip_ids: Some(ids), ..self.extras }, ..self }
    }

    /// Says that these are a part of a longer list, in which the first one has number `first`. Errors then name points by
    /// their numbers there, and a pairwise scene of the whole list pairs them by it.
    #[must_use]
    pub fn numbered_from(self, first: u64) -> Self {
        Self { first, ..self }
    }
}

macro_rules! from_slices {
    ($columns:ident, $record:ident, $of:expr) => {
        impl<'a> From<&'a [$record]> for $columns<'a> {
            fn from(records: &'a [$record]) -> Self {
                $of(records)
            }
        }
        impl<'a> From<&'a Vec<$record>> for $columns<'a> {
            fn from(records: &'a Vec<$record>) -> Self {
                records.as_slice().into()
            }
        }
        impl<'a, const N: usize> From<&'a [$record; N]> for $columns<'a> {
            fn from(records: &'a [$record; N]) -> Self {
                records.as_slice().into()
            }
        }
    };
}
from_slices!(Spheres, Sphere, |records| Spheres { records, masks: None, velocities: None, shapes: None });
from_slices!(Rays, Ray, |records| Source::Records(records).into());
from_slices!(Points, Point, |records| Points { records, first: 0, extras: Extras::default() });

impl<'a> From<&'a Image> for Rays<'a> {
    fn from(image: &'a Image) -> Self {
        Source::Grid(image.grid.whole()).into()
    }
}

impl<'a> From<&'a Sensor> for Rays<'a> {
    fn from(sensor: &'a Sensor) -> Self {
        Source::Grid(sensor.grid.whole()).into()
    }
}

impl<'a> From<&Parallel<'a>> for Rays<'a> {
    fn from(Parallel { points, direction }: &Parallel<'a>) -> Self {
        let aim = Aim::Along { direction: (*direction).into(), t_max: f32::INFINITY };
        Source::Points(points::Points { points, aim }).into()
    }
}

impl<'a> From<&Toward<'a>> for Rays<'a> {
    fn from(Toward { points, target, radius }: &Toward<'a>) -> Self {
        Source::Points(points::Points { points, aim: Aim::At { target: (*target).into(), radius: *radius } }).into()
    }
}
