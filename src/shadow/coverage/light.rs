//! A light and an occluder as seen from a point, and the disc of the light.

use glam::{DVec2, DVec3, Vec3Swizzles};

use crate::math::angles::arc;

/// The light, from a receiver's centre: lengths in the receiver's unit of length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Light {
    /// One over the distance to the light's centre.
    pub(crate) inverse_distance: f64,
    /// Radius over distance.
    pub(crate) ratio: f64,
}

/// A sphere that may stand before the light, in the light-aligned frame of one receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occluder {
    /// The centre's components across the z axis, to full relative precision: where the shadow's axis passes.
    pub(crate) offset: DVec2,
    /// The centre's component along the z axis.
    pub(crate) along: f64,
    /// The radius.
    pub(crate) radius: f64,
    /// The power of the origin: squared distance to the centre less squared radius.
    pub(crate) power: f64,
    /// `1 − along / distance of the light`: how far it is before the light, negative behind.
    pub(crate) beyond: f64,
    /// The power of the origin with regard to the light less that with regard to the occluder, in units of the light's
    /// distance squared: negative when the occluder is behind.
    pub(crate) front: f64,
    /// Which [`Shape`](super::cones::Shape) it has; [`ROUND`] for a sphere. A spheroid's radius is that of its equator, its
    /// power what it is in the space in which it is a sphere, and `front` that of the ball around it.
    pub(crate) shape: u32,
}

/// The shape of a sphere.
pub(crate) const ROUND: u32 = u32::MAX;

/// The light's disc, from a point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Disc {
    /// From the point to the light's centre; the distance from the receiver's centre is 1.
    pub(crate) toward: DVec3,
    /// Power of the point with regard to the light, in the same unit squared; not positive inside the light.
    pub(crate) power: f64,
    /// Angular radius.
    pub(crate) radius: f64,
}

/// The light's disc from `point`.
#[inline]
pub(crate) fn disc_from(point: DVec3, light: Light) -> Disc {
    let toward = DVec3::new(
        -point.x * light.inverse_distance,
        -point.y * light.inverse_distance,
        1.0 - point.z * light.inverse_distance,
    );
    let far = toward.dot(toward).sqrt();
    let power = (far - light.ratio) * (far + light.ratio);
    Disc { toward, power, radius: arc(light.ratio, power.max(0.0).sqrt()) }
}

/// Turns a vector across `toward` into the plane of the disc: the shortest rotation that takes `toward` to the z axis.
#[inline]
pub(crate) fn onto_disc(toward: DVec3, across: DVec3) -> DVec2 {
    let u = toward / toward.dot(toward).sqrt();
    let lift = (u.x * across.x + u.y * across.y) / (1.0 + u.z.max(0.0));
    DVec2::new(across.x - u.x * (lift + across.z), across.y - u.y * (lift + across.z))
}

/// A direction on the disc, of unit length; the x axis for a vector of length 0.
#[inline]
pub(crate) fn azimuth_of(v: DVec2) -> DVec2 {
    let length = v.dot(v).sqrt();
    if length > 0.0 { v / length } else { DVec2::X }
}

/// Whether an occluder is before the light: positive then. Two spheres that do not meet lie on either side of their radical
/// plane: the one of smaller power is in front. The difference of the powers is linear in the point, and its constant was
/// formed where both were exact.
#[inline]
pub(crate) fn front_of(point: DVec3, light: Light, occluder: Occluder) -> f64 {
    occluder.front
        - 2.0
            * light.inverse_distance
            * (point.z * occluder.beyond - light.inverse_distance * point.xy().dot(occluder.offset))
}

/// The cross product of the directions to light and occluder, multiplied out: the terms that would cancel are gone, and
/// what is left is the distance of the point from the shadow's axis.
#[inline]
pub(crate) fn cross_of(point: DVec3, light: Light, disc: Disc, occluder: Occluder) -> DVec3 {
    let across = point.xy();
    let aside = across * occluder.beyond - occluder.offset * disc.toward.z;
    DVec3::new(aside.y, -aside.x, -light.inverse_distance * across.perp_dot(occluder.offset))
}
