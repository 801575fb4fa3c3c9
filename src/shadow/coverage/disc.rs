//! How much of the light's disc is left: the f64 twin of `shaders/coverage.wgsl`, function by function.
//!
//! Everything happens in the *light-aligned frame* of a receiver: its origin is the receiver's centre, its z axis points
//! to the light's centre. Seen from a point near the origin, the light is a spherical cap (its disc) and so is every
//! sphere between. The shadow's axis, not the light's far-away coordinates, is what the numbers are relative to, which
//! is why the same formulas keep their digits in f32.
//!
//! Caps that overlap each other on the disc count once: the part left is walked around along its edge. That is exact,
//! and cheaper than slicing the disc, which still errs by 10⁻² with 64 slices where a small cap sits on another's edge.

use glam::{DVec2, DVec3, Vec3Swizzles};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

use super::caps::{
    Cap, NO_CAP, advance, apart, bearing, chord, common_chord, covered, signed_arc, signed_sine, span, swept,
};
use super::cones::{Cone, Extent, Scratch, Shape, cone_of, cone_of_cap, left_by, power_of};
use crate::math::angles::{arc, less_sine, sine, versine};
use crate::shadow::lighting::ShadowKind;

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
pub(crate) fn onto_disc(toward: DVec3, across: DVec3) -> DVec2 {
    let u = toward / toward.dot(toward).sqrt();
    let lift = (u.x * across.x + u.y * across.y) / (1.0 + u.z.max(0.0));
    DVec2::new(across.x - u.x * (lift + across.z), across.y - u.y * (lift + across.z))
}

/// A direction on the disc, of unit length; the x axis for a vector of length 0.
pub(crate) fn azimuth_of(v: DVec2) -> DVec2 {
    let length = v.dot(v).sqrt();
    if length > 0.0 { v / length } else { DVec2::X }
}

/// Whether an occluder is before the light: positive then. Two spheres that do not meet lie on either side of their radical
/// plane: the one of smaller power is in front. The difference of the powers is linear in the point, and its constant was
/// formed where both were exact.
pub(crate) fn front_of(point: DVec3, light: Light, occluder: Occluder) -> f64 {
    occluder.front
        - 2.0
            * light.inverse_distance
            * (point.z * occluder.beyond - light.inverse_distance * point.xy().dot(occluder.offset))
}

/// The cross product of the directions to light and occluder, multiplied out: the terms that would cancel are gone, and
/// what is left is the distance of the point from the shadow's axis.
pub(crate) fn cross_of(point: DVec3, light: Light, disc: Disc, occluder: Occluder) -> DVec3 {
    let across = point.xy();
    let aside = across * occluder.beyond - occluder.offset * disc.toward.z;
    DVec3::new(aside.y, -aside.x, -light.inverse_distance * across.perp_dot(occluder.offset))
}

/// The cap that a sphere puts on the sky at `point`; [`NO_CAP`] behind the light.
pub(crate) fn cap_of(point: DVec3, light: Light, disc: Disc, occluder: Occluder) -> Cap {
    let across = point.xy();
    let power = occluder.power - 2.0 * (occluder.offset.dot(across) + occluder.along * point.z) + point.dot(point);
    // On the surface it is half the sky.
    if power < 0.0 {
        return Cap { separation: 0.0, radius: PI, edge: -PI, azimuth: DVec2::X };
    }
    if front_of(point, light, occluder) <= 0.0 {
        return NO_CAP;
    }
    let cross = cross_of(point, light, disc, occluder);
    let center = DVec3::new(occluder.offset.x - across.x, occluder.offset.y - across.y, occluder.along - point.z);
    let length = cross.dot(cross).sqrt();
    let ahead = disc.toward.dot(center);
    let tangent = power.sqrt();
    // sin and cos of the difference of the angles arc(length, ahead) and arc(radius, tangent).
    let sine_edge = length * tangent - ahead * occluder.radius;
    let cosine_edge = ahead * tangent + length * occluder.radius;
    Cap {
        separation: arc(length, ahead),
        radius: arc(occluder.radius, tangent),
        edge: signed_arc(sine_edge, cosine_edge),
        azimuth: azimuth_of(onto_disc(disc.toward, cross)),
    }
}

/// The ground itself: a cap of radius π/2 around the downward direction, for a `point` with the outward unit `normal`.
pub(crate) fn horizon_cap(point: DVec3, light: Light, disc: Disc, normal: DVec3) -> Cap {
    // On a sphere point and normal are the same, and what is subtracted is exactly 0.
    let cross = DVec3::new(normal.y, -normal.x, 0.0) - light.inverse_distance * normal.cross(point);
    let length = cross.dot(cross).sqrt();
    let height = disc.toward.dot(normal);
    Cap {
        separation: arc(length, -height),
        radius: FRAC_PI_2,
        edge: signed_arc(height, length),
        azimuth: azimuth_of(onto_disc(disc.toward, cross)),
    }
}

/// What stands before one disc: the caps that touch it, none of them inside another.
#[derive(Debug, Default)]
pub(crate) struct Sky {
    total: bool,
    caps: Vec<Cap>,
    spans: Vec<DVec2>,
    /// Spheroids that touch the disc.
    cones: Vec<Cone>,
    /// Whether one of them reaches beyond it.
    beyond: bool,
    scratch: Scratch,
}

/// Starts with an open sky.
pub(crate) fn clear(sky: &mut Sky) {
    sky.total = false;
    sky.caps.clear();
    sky.cones.clear();
    sky.beyond = false;
}

/// Whether a cap has the disc's centre, as far as rounding can tell. It covers all of the disc or leaves the rim free then: which
/// of both is decided by the radii, since the sums of angles that decide elsewhere are off by a rounding.
pub(crate) fn concentric(disc: Disc, cap: Cap) -> bool {
    cap.separation <= CONCENTRIC * disc.radius
}

/// 2⁻⁴⁰: this far apart, in units of the disc's radius, centres count as one. It moves no fraction by more than 10⁻¹².
pub(crate) const CONCENTRIC: f64 = 1.0 / (1_u64 << 40) as f64;

/// Adds a cap, unless it does not touch the disc or hides behind another.
pub(crate) fn add(sky: &mut Sky, disc: Disc, cap: Cap) {
    if cap.radius <= 0.0 || cap.edge >= disc.radius {
        return;
    }
    if cap.edge + disc.radius <= 0.0 || (concentric(disc, cap) && cap.radius >= disc.radius) {
        sky.total = true;
        return;
    }
    // Two caps that only rounding tells apart have no chord.
    let slack = CONCENTRIC * disc.radius;
    if sky.caps.iter().any(|&other| apart(other, cap) + cap.radius <= other.radius + slack) {
        return;
    }
    sky.caps.retain(|&other| apart(other, cap) + other.radius > cap.radius + slack);
    sky.caps.push(cap);
}

/// Adds the cone of a spheroid.
pub(crate) fn add_cone(sky: &mut Sky, cone: Cone) {
    match cone.extent() {
        Extent::Apart => return,
        Extent::Covers => sky.total = true,
        Extent::Beyond => sky.beyond = true,
        Extent::Within => {}
    }
    sky.cones.push(cone);
}

/// The angle of the disc's own rim that no cap covers.
pub(crate) fn open_rim(sky: &mut Sky, disc: Disc) -> f64 {
    sky.spans.clear();
    for &cap in &sky.caps {
        if cap.separation + cap.radius > disc.radius {
            let half = chord(disc.radius, cap.radius, cap.separation, cap.edge).x;
            sky.spans.push(span(signed_arc(cap.azimuth.y, cap.azimuth.x), half, 0.0));
        }
    }
    let mut open = 0.0;
    let mut cursor = 0.0;
    for _ in 0..2 * sky.spans.len() + 2 {
        let step = advance(&sky.spans, cursor);
        if step.x > cursor {
            cursor = step.x;
        } else {
            open += step.y - cursor;
            cursor = step.y;
        }
        if cursor >= TAU {
            break;
        }
    }
    open
}

/// Half the solid angle swept by those arcs of cap `i`'s edge that are on the disc and in no other cap.
pub(crate) fn open_edge(sky: &mut Sky, disc: Disc, i: usize) -> f64 {
    let cap = sky.caps[i];
    // The part of the edge on the disc: −half to half, 0 being nearest to the disc's centre.
    let mut half = PI;
    if cap.separation + cap.radius > disc.radius {
        half = chord(disc.radius, cap.radius, cap.separation, cap.edge).y;
    }
    sky.spans.clear();
    for (j, &other) in sky.caps.iter().enumerate() {
        let gap = apart(cap, other);
        if j != i && gap < cap.radius + other.radius {
            sky.spans.push(span(bearing(cap, other), common_chord(cap.radius, other.radius, gap), -half));
        }
    }
    let mut sum = 0.0;
    let mut cursor = 0.0;
    for _ in 0..2 * sky.spans.len() + 2 {
        let step = advance(&sky.spans, cursor);
        if step.x > cursor {
            cursor = step.x;
        } else {
            let end = step.y.min(2.0 * half);
            sum += swept(cap, cursor - half, end - half);
            cursor = step.y;
        }
        if cursor >= 2.0 * half {
            break;
        }
    }
    sum
}

/// The part of the disc that is left, 0…1.
pub(crate) fn left(sky: &mut Sky, disc: Disc) -> f64 {
    if sky.total {
        return 0.0;
    }
    if !sky.cones.is_empty() {
        let Sky { caps, cones, scratch, .. } = sky;
        cones.extend(caps.iter().map(|&cap| cone_of_cap(disc, cap)));
        let rest = left_by(scratch, disc, cones);
        cones.truncate(cones.len() - caps.len());
        return rest;
    }
    let mut sum = 0.0;
    let mut largest = 0.0_f64;
    let mut meet = false;
    for (i, &cap) in sky.caps.iter().enumerate() {
        let part = covered(disc.radius, cap);
        sum += part;
        largest = largest.max(part);
        for &other in &sky.caps[..i] {
            meet = meet || apart(cap, other) < cap.radius + other.radius;
        }
    }
    if meet {
        let mut edges = 0.0;
        for i in 0..sky.caps.len() {
            edges += open_edge(sky, disc, i);
        }
        let rest = (0.5 * open_rim(sky, disc) - edges / versine(disc.radius)) / PI;
        return rest.clamp((1.0 - sum).max(0.0), 1.0 - largest);
    }
    (1.0 - sum).clamp(0.0, 1.0)
}

/// How the disc is covered, `rest` of it being left. Where nothing is left it is total, whatever the edges say.
pub(crate) fn kind(sky: &Sky, disc: Disc, rest: f64) -> ShadowKind {
    let count = sky.caps.len() + sky.cones.len();
    if sky.total || (count > 0 && rest <= 0.0) {
        return ShadowKind::Total;
    }
    if count == 0 {
        return ShadowKind::None;
    }
    let crosses_rim = |cap: &Cap| cap.separation + cap.radius > disc.radius && !concentric(disc, *cap);
    if sky.beyond || sky.caps.iter().any(crosses_rim) {
        return ShadowKind::Partial;
    }
    ShadowKind::Annular
}

/// What of a light of no size gets past: all or nothing.
pub(crate) fn left_of_point(cap: Cap) -> f64 {
    if cap.edge <= 0.0 { 0.0 } else { 1.0 }
}

/// Puts an occluder before the disc; says what of a light of no size gets past it.
fn stand(sky: &mut Sky, point: DVec3, light: Light, disc: Disc, occluder: Occluder, shapes: &[Shape]) -> f64 {
    let Some(&shape) = shapes.get(occluder.shape as usize) else {
        let cap = cap_of(point, light, disc, occluder);
        add(sky, disc, cap);
        return left_of_point(cap);
    };
    if power_of(point, occluder, shape) < 0.0 {
        sky.total = true;
        return 0.0;
    }
    let Some(cone) = cone_of(point, light, disc, occluder, shape) else { return 1.0 };
    add_cone(sky, cone);
    if cone.covers_center() { 0.0 } else { 1.0 }
}

/// The irradiance of level ground by the risen part of a bare disc, in units of that under a light overhead; `ground`
/// is its horizon.
///
/// Nusselt's projection: the part of the disc's rim above the horizon projects to an ellipse's arc and the horizon to
/// the unit circle's; two segments, so that the terminator is as soft as the disc is large, and Lambert's cosine follows
/// wherever the whole disc is up.
pub(crate) fn irradiance(disc: Disc, ground: Cap) -> f64 {
    let a = disc.radius;
    let height = signed_sine(ground.edge);
    if ground.edge >= a {
        return height;
    }
    if ground.edge + a <= 0.0 {
        return 0.0;
    }
    let half = chord(a, ground.radius, ground.separation, ground.edge);
    let risen = PI - half.x;
    let area = sine(a);
    let ellipse = area * area * height * less_sine(2.0 * risen);
    ((ellipse + less_sine(2.0 * half.y)) / (2.0 * PI * area * area)).max(0.0)
}

/// The light at a place on the ground.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lit {
    /// The part of the light's disc that is above the horizon and not covered, 0…1.
    pub(crate) fraction: f64,
    /// Irradiance of the ground, in units of that under the bare light overhead.
    pub(crate) irradiance: f64,
}

/// No light.
pub(crate) const DARK: Lit = Lit { fraction: 0.0, irradiance: 0.0 };

/// The light at a `point` of a body, where its outward normal is `normal`.
///
/// An occluder dims what the risen part of the disc gives in proportion; which end of the disc it covers matters only
/// for an eclipse at sunrise.
pub(crate) fn lit(
    sky: &mut Sky,
    point: DVec3,
    normal: DVec3,
    light: Light,
    occluders: impl Iterator<Item = Occluder>,
    shapes: &[Shape],
) -> Lit {
    let disc = disc_from(point, light);
    if disc.power <= 0.0 {
        return Lit { fraction: 1.0, irradiance: 1.0 };
    }
    let ground = horizon_cap(point, light, disc, normal);
    if ground.edge + disc.radius <= 0.0 {
        return DARK;
    }
    let bare = irradiance(disc, ground);
    if disc.radius <= 0.0 {
        clear(sky);
        let open = occluders.into_iter().all(|one| stand(sky, point, light, disc, one, shapes) > 0.0);
        return if open { Lit { fraction: 1.0, irradiance: bare } } else { DARK };
    }
    clear(sky);
    add(sky, disc, ground);
    for occluder in occluders {
        stand(sky, point, light, disc, occluder, shapes);
    }
    let fraction = left(sky, disc);
    let risen = 1.0 - covered(disc.radius, ground);
    if risen <= 0.0 {
        return DARK;
    }
    Lit { fraction, irradiance: bare * (fraction / risen).min(1.0) }
}

#[cfg(test)]
#[path = "disc_tests.rs"]
mod tests;
