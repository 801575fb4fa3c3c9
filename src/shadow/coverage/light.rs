//! Light, occluder and the light's disc, as seen from a point.

use glam::{DVec2, DVec3, Vec3Swizzles};

use crate::math::angles::arc;

/// The light in the light-aligned frame of a receiver. Lengths are in the receiver's unit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Light {
    /// Reciprocal of the distance to the light's centre.
    pub(crate) inverse_distance: f64,
    /// Radius divided by distance.
    pub(crate) ratio: f64,
}

/// A sphere or spheroid that may cover the light, in the light-aligned frame of one receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occluder {
    /// The x and y components of the centre, to full relative precision: they determine where the shadow's axis passes.
    pub(crate) offset: DVec2,
    /// The z component of the centre.
    pub(crate) along: f64,
    pub(crate) radius: f64,
    /// Power of the origin: squared distance to the centre minus squared radius.
    pub(crate) power: f64,
    /// `1 − along / distance of the light`: distance in front of the light, relative to the light's distance; negative behind it.
    pub(crate) beyond: f64,
    /// Power of the origin with respect to the light minus that with respect to the occluder, in units of the squared distance of the
    /// light. Negative if the occluder is behind the light.
    pub(crate) front: f64,
    /// Index of its [`Shape`](super::cones::Shape); [`ROUND`] for a sphere. For a spheroid, `radius` is that of its equator, `power` is
    /// measured in the space in which it is a sphere, and `front` is that of its bounding sphere.
    pub(crate) shape: u32,
}

/// Shape index of a sphere.
pub(crate) const ROUND: u32 = u32::MAX;

/// The light's disc, seen from a point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Disc {
    /// Vector from the point to the light's centre, in units of the distance between the receiver's centre and the light's.
    pub(crate) toward: DVec3,
    /// Power of the point with respect to the light, in the same unit squared; not positive inside the light.
    pub(crate) power: f64,
    /// Angular radius.
    pub(crate) radius: f64,
}

/// The light's disc, seen from `point`.
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

/// Rotates a vector perpendicular to `toward` into the plane of the disc, by the shortest rotation that takes `toward` to the z axis.
#[inline]
pub(crate) fn onto_disc(toward: DVec3, across: DVec3) -> DVec2 {
    let u = toward / toward.dot(toward).sqrt();
    let lift = (u.x * across.x + u.y * across.y) / (1.0 + u.z.max(0.0));
    DVec2::new(across.x - u.x * (lift + across.z), across.y - u.y * (lift + across.z))
}

/// Unit vector of a direction on the disc; the x axis for a vector of length 0.
#[inline]
pub(crate) fn azimuth_of(v: DVec2) -> DVec2 {
    let length = v.dot(v).sqrt();
    if length > 0.0 { v / length } else { DVec2::X }
}

/// Positive if an occluder is in front of the light. Two disjoint spheres lie on different sides of their radical plane, and the one of
/// smaller power is in front. The difference of the powers is linear in the point. Its constant term, `front`, was computed from the
/// original f64 coordinates (`light_frame.rs`).
#[inline]
pub(crate) fn front_of(point: DVec3, light: Light, occluder: Occluder) -> f64 {
    occluder.front
        - 2.0
            * light.inverse_distance
            * (point.z * occluder.beyond - light.inverse_distance * point.xy().dot(occluder.offset))
}

/// Cross product of the directions to light and occluder, expanded so that the terms that would cancel are gone. What remains is the
/// distance of the point from the shadow's axis.
#[inline]
pub(crate) fn cross_of(point: DVec3, light: Light, disc: Disc, occluder: Occluder) -> DVec3 {
    let across = point.xy();
    let aside = across * occluder.beyond - occluder.offset * disc.toward.z;
    DVec3::new(aside.y, -aside.x, -light.inverse_distance * across.perp_dot(occluder.offset))
}
