//! Input of scenes and queries: borrowed spheres, rays and points.

use std::ops::Range;

use glam::Vec3;

use super::ray_attributes::RayAttributeColumns;
use super::raygen::camera::Image;
use super::raygen::lidar::Lidar;
use super::raygen::points::{self, Parallel, PointTarget, Toward};
use super::raygen::source::RaySource;
use crate::intersect::ellipsoid::EllipsoidShape;
use crate::math::error_free::two_sum;
use crate::query::policy::setters;
use crate::records::{Ray, Sphere};

/// Spheres to build a scene from: a borrowed slice, and optional attribute columns.
#[derive(Clone, Copy, Debug)]
pub struct Spheres<'a> {
    /// The spheres; for ellipsoids, the balls around them.
    pub records: &'a [Sphere],
    /// See [`masks`](Self::masks).
    pub masks: Option<&'a [u32]>,
    /// See [`velocities`](Self::velocities).
    pub velocities: Option<&'a [Vec3]>,
    /// See [`transmittances`](Self::transmittances).
    pub transmittances: Option<&'a [f32]>,
    /// See [`shapes`](Self::shapes).
    pub shapes: Option<&'a [EllipsoidShape]>,
}

impl<'a> Spheres<'a> {
    /// Number of spheres.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    setters! {
        /// Sets a mask per sphere: a ray can hit a sphere only if their masks share a bit. Without this column every bit is set, so only a
        /// ray with mask 0 passes through.
        masks: &'a [u32], Some;
        /// Sets a velocity per sphere: at time `t` the centre is `center + t · velocity`. See [`Motion`](crate::Motion) for how rays intersect
        /// moving spheres, and [`SceneOptions::time_range`](crate::SceneOptions::time_range) for the range of times.
        velocities: &'a [Vec3], Some;
        /// Sets a transmittance per sphere, for [`transmittance`](crate::Scene::transmittance): from 0, opaque, to 1, invisible to that query.
        /// Without this column every sphere is opaque. Other queries ignore it.
        transmittances: &'a [f32], Some;
        /// Turns each sphere into an ellipsoid. The sphere is the ball around it.
        shapes: &'a [EllipsoidShape], Some;
    }
}

/// Defines methods that return rays or points with another column of attributes.
macro_rules! ray_attributes {
    ($($(#[$about:meta])* $name:ident: $kind:ty;)*) => {$(
        $(#[$about])*
        #[must_use]
        pub fn $name(self, $name: $kind) -> Self {
            Self { ray_attributes: RayAttributeColumns { $name: Some($name), ..self.ray_attributes }, ..self }
        }
    )*};
}

/// Rays to cast: a borrowed slice, or a [source](crate::raygen) that makes them.
#[derive(Clone, Copy, Debug)]
pub struct Rays<'a> {
    pub(crate) source: RaySource<'a>,
    /// Index of the first ray in a longer list, if the rays are a part of one.
    pub(crate) first: Option<u64>,
    pub(crate) ray_attributes: RayAttributeColumns<'a>,
}

impl<'a> Rays<'a> {
    ray_attributes! {
        /// Sets a mask per ray: it can hit only spheres whose [masks](Spheres::masks) share a bit with it. Without this column every bit is
        /// set.
        masks: &'a [u32];
        /// Sets a time per ray, at which moving spheres are intersected ([`Motion::AtTime`](crate::Motion::AtTime)). Default: 0.
        times: &'a [f32];
        /// Sets a radius per ray. Such a ray is a ball that travels along the line. It hits a sphere where their surfaces touch, as if the
        /// sphere's radius were larger by the ray's. Clearances are measured between surfaces, too.
        radii: &'a [f32];
        /// Sets one sphere per ray that the ray does not hit at all; [`NO_SPHERE`](crate::NO_SPHERE) for none. For the sphere on which a ray
        /// starts, see [`from_ids`](Self::from_ids).
        skip_ids: &'a [u32];
        /// Sets the sphere on whose surface each ray starts; [`NO_SPHERE`](crate::NO_SPHERE) for none. Rounding puts an origin on either side
        /// of the surface. The direction decides instead, with e = centre − origin, B = direction · e and A = |direction|², exactly:
        ///
        /// * B ≤ 0: the ray leaves the sphere, or touches it. It does not hit that sphere, and `approach` leaves it out.
        /// * B > 0: the ray starts inside the sphere, whose roots are 0 and 2 B / A. The root 0 is never a hit. `t_min`, `t_max` and
        ///   [`Inside`](crate::Inside) decide the rest. For [`approach`](crate::Scene::approach) it is a sphere like any other.
        ///
        /// Spheres that are equal to the named one, with their velocities and shapes, count as the named one. All others are intersected from
        /// the rounded origin. Moving spheres are taken at the ray's [time](Self::times); a ray with a [radius](Self::radii) starts on the
        /// sphere that is enlarged by it; for ellipsoids, e and the direction are those in the space in which the ellipsoid is a ball.
        ///
        /// `t_min` must be at least 0. An origin farther than 2⁻¹⁰ r + 2⁻¹⁶ (|o| + |c| + r) from the surface is an error, and origins farther
        /// than 2⁻²⁰ (|o| + |c| + r) are [counted](crate::Report::off_surface): so far from the surface may a point `o + t · d` lie whose `t` is
        /// an f32. [`Motion::WithRay`](crate::Motion::WithRay) is refused.
        from_ids: &'a [u32];
    }

    /// Index of the first ray in the longer list of [`numbered_from`](Self::numbered_from); 0 for a list of its own.
    pub fn first_index(&self) -> u64 {
        self.first.unwrap_or(0)
    }

    /// A slice of the rays. The range is clamped to their number, and the rays keep their indices.
    #[must_use]
    pub fn slice(self, range: Range<usize>) -> Self {
        let end = range.end.min(self.len());
        let start = range.start.min(end);
        let first = self.first.unwrap_or(0).saturating_add(start as u64);
        Self {
            source: self.source.slice(start..end),
            first: Some(first),
            ray_attributes: self.ray_attributes.slice(start..end),
        }
    }

    /// Number of rays.
    pub fn len(&self) -> usize {
        self.source.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ray `i`, exactly as every device casts it; it may be invalid. `None` if `i` is out of range.
    pub fn ray(&self, i: usize) -> Option<Ray> {
        (i < self.len()).then(|| self.source.ray(i))
    }
}

impl<'a> From<RaySource<'a>> for Rays<'a> {
    #[inline]
    fn from(source: RaySource<'a>) -> Self {
        Self { source, first: None, ray_attributes: RayAttributeColumns::default() }
    }
}

/// Segments between pairs of points: rays with `t` from 0 to 1. The direction is the exact difference of the points, which does not
/// fit into one f32 per component. ([`Ray::segment`] rounds it.)
#[derive(Clone, Debug, Default)]
pub struct Segments {
    rays: Vec<Ray>,
    lows: Vec<[f32; 3]>,
}

impl Segments {
    /// Segments from pairs of points. Equal points give a direction of zero; such a ray is invalid when it is cast.
    pub fn new(ends: impl IntoIterator<Item = [[f32; 3]; 2]>) -> Self {
        let mut segments = Self::default();
        ends.into_iter().for_each(|ends| segments.push(ends));
        segments
    }

    /// Adds a segment.
    pub fn push(&mut self, [from, to]: [[f32; 3]; 2]) {
        let parts: [(f32, f32); 3] = std::array::from_fn(|k| two_sum(to[k], -from[k]));
        self.rays.push(Ray::new(from, parts.map(|(high, _)| high)).between(0.0, 1.0));
        // With invalid points, the points alone must be reported, and not the low parts, too.
        self.lows.push(parts.map(|(_, low)| if low.is_finite() { low } else { 0.0 }));
    }

    /// Number of segments.
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
        Self {
            ray_attributes: RayAttributeColumns { directions_low: Some(&segments.lows), ..rays.ray_attributes },
            ..rays
        }
    }
}

/// Query points: a borrowed slice, and optional attribute columns.
#[derive(Clone, Copy, Debug)]
pub struct Points<'a> {
    pub(crate) records: &'a [Point],
    /// Index of the first point in a longer list, if the points are a part of one.
    pub(crate) first: Option<u64>,
    pub(crate) ray_attributes: RayAttributeColumns<'a>,
}

type Point = [f32; 3];

impl<'a> Points<'a> {
    ray_attributes! {
        /// Sets a mask per point: only spheres whose [masks](Spheres::masks) share a bit with it are considered.
        masks: &'a [u32];
        /// Sets a time per point, at which moving spheres are evaluated. Default: 0.
        times: &'a [f32];
        /// Sets one sphere per point that is not considered; [`NO_SPHERE`](crate::NO_SPHERE) for none.
        skip_ids: &'a [u32];
    }
}

/// Conversions from slices, lists and arrays of records; for a type that may be a part of a longer list, also `numbered_from`.
macro_rules! from_slices {
    ($columns:ident, $record:ident, $of:expr $(, $words:literal, $more:literal)?) => {
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
        $(impl $columns<'_> {
            #[doc = concat!("Declares that the ", $words, " are a part of a longer list, in which the first of them has index `first`. ")]
            #[doc = concat!("Error messages then use the indices of that list", $more, ".")]
            #[must_use]
            pub fn numbered_from(self, first: u64) -> Self {
                Self { first: Some(first), ..self }
            }
        })?
    };
}
pub(crate) use from_slices;

from_slices!(Spheres, Sphere, |records| Spheres {
    records,
    masks: None,
    velocities: None,
    transmittances: None,
    shapes: None
});
from_slices!(
    Rays,
    Ray,
    |records| RaySource::Records(records).into(),
    "rays",
    ", and a pairwise scene of the whole list pairs rays and spheres by them"
);
from_slices!(
    Points,
    Point,
    |records| Points { records, first: None, ray_attributes: RayAttributeColumns::default() },
    "points",
    ", and a pairwise scene of the whole list pairs points and spheres by them"
);

impl<'a> From<&'a Ray> for Rays<'a> {
    #[inline]
    fn from(ray: &'a Ray) -> Self {
        RaySource::Records(std::slice::from_ref(ray)).into()
    }
}

impl<'a> From<&'a Point> for Points<'a> {
    fn from(point: &'a Point) -> Self {
        std::slice::from_ref(point).into()
    }
}

impl<'a> From<&'a Image> for Rays<'a> {
    fn from(image: &'a Image) -> Self {
        RaySource::Grid(image.grid.whole()).into()
    }
}

impl<'a> From<&'a Lidar> for Rays<'a> {
    fn from(sensor: &'a Lidar) -> Self {
        RaySource::Grid(sensor.grid.whole()).into()
    }
}

impl<'a> From<&Parallel<'a>> for Rays<'a> {
    fn from(Parallel { points, direction }: &Parallel<'a>) -> Self {
        let target = PointTarget::Along { direction: (*direction).into(), t_max: f32::INFINITY };
        RaySource::Points(points::PointRays { points, target }).into()
    }
}

impl<'a> From<&Toward<'a>> for Rays<'a> {
    fn from(Toward { points, target, radius }: &Toward<'a>) -> Self {
        RaySource::Points(points::PointRays {
            points,
            target: PointTarget::At { target: (*target).into(), radius: *radius },
        })
        .into()
    }
}
