//! How much of the light's disc is left: the f64 twin of `shaders/coverage.wgsl`, function by function.
//!
//! Everything happens in the *light-aligned frame* of a receiver: its origin is the receiver's centre, its z axis points
//! to the light's centre. Seen from a point near the origin, the light is a spherical cap (its disc) and so is every
//! sphere between. The shadow's axis, not the light's far-away coordinates, is what the numbers are relative to, which
//! is why the same formulas keep their digits in f32.
//!
//! One occluder: the lens of two caps is the sum of two segments over their common chord. Each segment is written so
//! that nothing cancels however unequal the discs are. Several that overlap each other on the disc: the part left is
//! walked around along its edge (Green's theorem), arc by arc; it is exact, and cheaper than slicing the disc, which
//! still errs by 10⁻² with 64 slices where a small occluder sits on another's edge.

use glam::{DVec2, DVec3, Vec3Swizzles};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

use super::angles::{arc, less_arctangent, less_sine, sine, versine};

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
}

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

/// A round piece of sky that something covers, seen from the centre of the light's disc.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cap {
    /// Angle from the centre of the light's disc to the cap's.
    pub(crate) separation: f64,
    /// Angular radius: at most π/2, or π when the point is inside the occluder; −1 when there is none.
    pub(crate) radius: f64,
    /// Unit vector of its direction on the disc; arbitrary but fixed orientation.
    pub(crate) azimuth: DVec2,
}

/// Nothing in the way.
pub(crate) const NO_CAP: Cap = Cap { separation: PI, radius: -1.0, azimuth: DVec2::X };

/// Half the solid angle between a small circle's arc and its chord, a great circle: `half_angle` is half the arc seen
/// from the circle's centre, `v` the versine of the circle's radius.
///
/// It is `A v − E` with the excess `E = atan2(sin A cos A v, 1 − sin² A v)`; for a small arc of a large circle that
/// cancels to `A³`, so the leading terms are subtracted by hand.
pub(crate) fn segment(half_angle: f64, v: f64) -> f64 {
    let s = sine(half_angle);
    // cos A = 1 − 2 sin²(A/2): exact enough, and one polynomial fewer in the shader.
    let c = 1.0 - versine(half_angle);
    let run = s * c * v;
    let rise = 1.0 - s * s * v;
    if run.abs() <= 0.25 * rise {
        let x = run / rise;
        0.5 * v * less_sine(2.0 * half_angle) - v * v * s * s * s * c / rise + less_arctangent(x)
    } else {
        let excess = if run < 0.0 { -arc(-run, rise) } else { arc(run, rise) };
        half_angle * v - excess
    }
}

/// The half-angles under which the common chord of two caps is seen from their centres: (from the first, from the second).
///
/// Half-angle formulas of the spherical triangle with sides `a`, `b` (radii) and `c` (separation); only for caps whose
/// edges meet.
pub(crate) fn chord(a: f64, b: f64, c: f64) -> DVec2 {
    let whole = sine(0.5 * (a + b + c));
    let less_a = sine((0.5 * ((b - a) + c)).max(0.0));
    let less_b = sine((0.5 * ((c - b) + a)).max(0.0));
    let less_c = sine((0.5 * ((b - c) + a)).max(0.0));
    DVec2::new(
        2.0 * arc((less_a * less_c).sqrt(), (whole * less_b).sqrt()),
        2.0 * arc((less_b * less_c).sqrt(), (whole * less_a).sqrt()),
    )
}

/// The part of a disc of angular radius `a` that a cap of radius `b` at separation `c` covers, 0…1.
pub(crate) fn covered(a: f64, b: f64, c: f64) -> f64 {
    if b <= 0.0 || c >= a + b {
        return 0.0;
    }
    if c + a <= b {
        return 1.0;
    }
    let v_a = versine(a);
    let v_b = versine(b);
    if c + b <= a {
        return (v_b / v_a).min(1.0);
    }
    let half = chord(a, b, c);
    ((segment(half.x, v_a) + segment(half.y, v_b)) / (PI * v_a)).clamp(0.0, 1.0)
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

/// The cap that an occluder puts on the sky at `point`; [`NO_CAP`] behind the light.
pub(crate) fn cap_of(point: DVec3, light: Light, disc: Disc, occluder: Occluder) -> Cap {
    let across = point.xy();
    let power = occluder.power - 2.0 * (occluder.offset.dot(across) + occluder.along * point.z) + point.dot(point);
    if power <= 0.0 {
        return Cap { separation: 0.0, radius: PI, azimuth: DVec2::X };
    }
    // Two spheres that do not meet lie on either side of their radical plane: the one of smaller power is in front.
    if power * light.inverse_distance * light.inverse_distance >= disc.power {
        return NO_CAP;
    }
    // The cross product of the directions to light and occluder, multiplied out: the terms that would cancel are gone,
    // and what is left is the distance of the point from the shadow's axis.
    let aside = across * occluder.beyond - occluder.offset * disc.toward.z;
    let twist = -light.inverse_distance * across.perp_dot(occluder.offset);
    let cross = DVec3::new(aside.y, -aside.x, twist);
    let center = DVec3::new(occluder.offset.x - across.x, occluder.offset.y - across.y, occluder.along - point.z);
    Cap {
        separation: arc(cross.dot(cross).sqrt(), disc.toward.dot(center)),
        radius: arc(occluder.radius, power.sqrt()),
        azimuth: azimuth_of(onto_disc(disc.toward, cross)),
    }
}

/// The ground itself: a cap of radius π/2 around the downward direction, for a `point` with the outward unit `normal`
/// on a sphere around the origin.
pub(crate) fn horizon_cap(disc: Disc, normal: DVec3) -> Cap {
    // The direction to the light's centre and the normal differ by a multiple of the normal only.
    let cross = DVec3::new(normal.y, -normal.x, 0.0);
    Cap {
        separation: arc(cross.dot(cross).sqrt(), -disc.toward.dot(normal)),
        radius: FRAC_PI_2,
        azimuth: azimuth_of(onto_disc(disc.toward, cross)),
    }
}

/// The angle between the centres of two caps (haversines, nothing cancels).
pub(crate) fn apart(a: Cap, b: Cap) -> f64 {
    let near = sine(0.5 * (a.separation - b.separation).abs());
    let turn = a.azimuth - b.azimuth;
    let h = near * near + 0.25 * sine(a.separation) * sine(b.separation) * turn.dot(turn);
    2.0 * arc(h.min(1.0).sqrt(), (1.0 - h).max(0.0).sqrt())
}

/// The direction at the centre of `from` to the centre of `to`: the angle, counterclockwise, from the direction to the
/// disc's centre. The unit vector of `to` on two tangents, their leading terms subtracted by hand.
pub(crate) fn bearing(from: Cap, to: Cap) -> f64 {
    let turn = from.azimuth - to.azimuth;
    let sine_to = sine(to.separation);
    let cosine = 1.0 - versine(from.separation);
    let difference = from.separation - to.separation;
    let near = if difference < 0.0 { -sine(-difference) } else { sine(difference) };
    let inward = near + 0.5 * cosine * sine_to * turn.dot(turn);
    let aside = -sine_to * from.azimuth.perp_dot(to.azimuth);
    if aside < 0.0 { -arc(-aside, inward) } else { arc(aside, inward) }
}

/// The point of a cap's edge at `angle` (as of [`bearing`]), in stereographic projection about the disc's centre.
pub(crate) fn edge_point(cap: Cap, angle: f64) -> DVec2 {
    let difference = cap.separation - cap.radius;
    let near = if difference < 0.0 { -sine(-difference) } else { sine(difference) };
    let sine_b = sine(cap.radius);
    let size = angle.abs();
    let v = versine(size);
    let along = near + (1.0 - versine(cap.separation)) * sine_b * v;
    let aside = if angle < 0.0 { sine_b * sine(size) } else { -sine_b * sine(size) };
    let height = 1.0 - versine(difference.abs()) - sine_b * sine(cap.separation) * v;
    let side = DVec2::new(-cap.azimuth.y, cap.azimuth.x);
    (cap.azimuth * along + side * aside) / (1.0 + height)
}

/// Half the solid angle between the disc's centre and the arc of a cap's edge from `from` to `to`: a triangle, negative
/// where the arc runs clockwise around the centre, and a segment of the cap.
pub(crate) fn swept(cap: Cap, from: f64, to: f64) -> f64 {
    let p = edge_point(cap, from);
    let q = edge_point(cap, to);
    let cross = p.perp_dot(q);
    let triangle = arc(cross.abs(), 1.0 + p.dot(q));
    segment(0.5 * (to - from), versine(cap.radius)) + if cross < 0.0 { -triangle } else { triangle }
}

/// The arc of `center ± half` as a span (from, to) of angles counted from `start`, beginning in `[0, 2π)`.
pub(crate) fn span(center: f64, half: f64, start: f64) -> DVec2 {
    let from = center - half - start;
    let from = from - TAU * (from / TAU).floor();
    DVec2::new(from, from + 2.0 * half)
}

/// What stands before one disc: the caps that touch it, none of them inside another.
#[derive(Debug, Default)]
pub(crate) struct Sky {
    total: bool,
    caps: Vec<Cap>,
    spans: Vec<DVec2>,
}

/// Starts with an open sky.
pub(crate) fn clear(sky: &mut Sky) {
    sky.total = false;
    sky.caps.clear();
}

/// Adds a cap, unless it does not touch the disc or hides behind another.
pub(crate) fn add(sky: &mut Sky, disc: Disc, cap: Cap) {
    if cap.radius <= 0.0 || cap.separation >= disc.radius + cap.radius {
        return;
    }
    if cap.separation + disc.radius <= cap.radius {
        sky.total = true;
        return;
    }
    if sky.caps.iter().any(|&other| apart(other, cap) + cap.radius <= other.radius) {
        return;
    }
    sky.caps.retain(|&other| apart(other, cap) + other.radius > cap.radius);
    sky.caps.push(cap);
}

/// From `cursor`, where on a circle: how far it is covered, or if it is not, where the next span begins.
pub(crate) fn advance(spans: &[DVec2], cursor: f64) -> DVec2 {
    let mut reach = cursor;
    let mut next = TAU;
    for span in spans {
        if span.x <= cursor {
            reach = reach.max(span.y);
        } else {
            next = next.min(span.x);
        }
        // A span that runs over the end begins again at 0.
        reach = reach.max(span.y - TAU);
    }
    DVec2::new(reach, next)
}

/// The angle of the disc's own rim that no cap covers.
pub(crate) fn open_rim(sky: &mut Sky, disc: Disc) -> f64 {
    sky.spans.clear();
    for &cap in &sky.caps {
        if cap.separation + cap.radius > disc.radius {
            let half = chord(disc.radius, cap.radius, cap.separation).x;
            let azimuth = arc(cap.azimuth.y.abs(), cap.azimuth.x);
            sky.spans.push(span(if cap.azimuth.y < 0.0 { -azimuth } else { azimuth }, half, 0.0));
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
        half = chord(disc.radius, cap.radius, cap.separation).y;
    }
    sky.spans.clear();
    for (j, &other) in sky.caps.iter().enumerate() {
        let gap = apart(cap, other);
        if j != i && gap < cap.radius + other.radius {
            sky.spans.push(span(bearing(cap, other), chord(cap.radius, other.radius, gap).x, -half));
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
    let mut sum = 0.0;
    let mut largest = 0.0_f64;
    let mut meet = false;
    for (i, &cap) in sky.caps.iter().enumerate() {
        let part = covered(disc.radius, cap.radius, cap.separation);
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

/// What of a light of no size gets past: all or nothing.
pub(crate) fn left_of_point(cap: Cap) -> f64 {
    if cap.separation <= cap.radius { 0.0 } else { 1.0 }
}

/// The irradiance of level ground by the risen part of a bare disc, in units of that under a light overhead; `zenith`
/// is the angle between the normal and the light's centre.
///
/// Nusselt's projection: the part of the disc's rim above the horizon projects to an ellipse's arc and the horizon to
/// the unit circle's; two segments, so that the terminator is as soft as the disc is large, and Lambert's cosine follows
/// wherever the whole disc is up.
pub(crate) fn irradiance(disc: Disc, zenith: f64) -> f64 {
    let a = disc.radius;
    let height = 1.0 - versine(zenith);
    if zenith + a <= FRAC_PI_2 {
        return height;
    }
    if zenith - a >= FRAC_PI_2 {
        return 0.0;
    }
    let half = chord(a, FRAC_PI_2, PI - zenith);
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

/// The light on a sphere of radius 1 around the frame's origin, where its outward normal is `normal`.
///
/// An occluder dims what the risen part of the disc gives in proportion; which end of the disc it covers matters only
/// for an eclipse at sunrise.
pub(crate) fn lit(sky: &mut Sky, normal: DVec3, light: Light, occluders: &[Occluder]) -> Lit {
    let disc = disc_from(normal, light);
    if disc.power <= 0.0 {
        return Lit { fraction: 1.0, irradiance: 1.0 };
    }
    let ground = horizon_cap(disc, normal);
    if ground.separation + disc.radius <= FRAC_PI_2 {
        return DARK;
    }
    let bare = irradiance(disc, PI - ground.separation);
    if disc.radius <= 0.0 {
        let open = occluders.iter().all(|&occluder| left_of_point(cap_of(normal, light, disc, occluder)) > 0.0);
        return if open { Lit { fraction: 1.0, irradiance: bare } } else { DARK };
    }
    clear(sky);
    add(sky, disc, ground);
    for &occluder in occluders {
        add(sky, disc, cap_of(normal, light, disc, occluder));
    }
    let fraction = left(sky, disc);
    let risen = 1.0 - covered(disc.radius, ground.radius, ground.separation);
    if risen <= 0.0 {
        return DARK;
    }
    Lit { fraction, irradiance: bare * (fraction / risen).min(1.0) }
}

#[cfg(test)]
#[path = "coverage_tests.rs"]
mod tests;
