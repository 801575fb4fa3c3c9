//! Uncovered fraction of the light's disc: the f64 twin of `shaders/shadow/disc.wgsl`, function by function.
//!
//! All coordinates are in the *light-aligned frame* of a receiver: its origin is the receiver's centre, its z axis points to the light's
//! centre. Seen from a point near the origin, the light is a spherical cap (its disc), and so is every sphere in between. The numbers are
//! relative to the shadow's axis, not to the distant coordinates of the light. Therefore the same formulas keep their precision in f32.
//!
//! Caps that overlap on the disc count once: the boundary of the uncovered part is integrated arc by arc. That is exact. It is also cheaper
//! than cutting the disc into slices, where 64 slices still cause an error of 10⁻² if a small cap lies on the edge of another.

use std::f64::consts::{FRAC_PI_2, PI};

use glam::{DVec2, DVec3, Vec3Swizzles};

use super::caps::{
    Cap, NO_CAP, PlacedCap, advance, bearing, chord, common_chord, covered, edge_direction, open_angle, signed_arc,
    signed_sine, span, swept,
};
use super::cones::{Cone, Extent, Scratch, SpheroidShape, cone_of, cone_of_cap, power_of, uncovered_by_cones};
use super::light::{Disc, Light, Occluder, azimuth_of, cross_of, disc_from, front_of, onto_disc};
use crate::math::angles::{angle_minus_sine, arc, sine, versine};
use crate::shadow::ball::ShadowKind;

/// The cap that a sphere covers, seen from `point`; [`NO_CAP`] if the sphere is behind the light.
pub(crate) fn cap_of(point: DVec3, light: Light, disc: Disc, occluder: Occluder) -> Cap {
    let across = point.xy();
    let power = occluder.power - 2.0 * (occluder.offset.dot(across) + occluder.along * point.z) + point.dot(point);
    // Power < 0: the point is inside. (On the surface, power 0, the cap is half the sky.)
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
    // Sine and cosine of the difference of the angles arc(length, ahead) and arc(radius, tangent).
    let sine_edge = length * tangent - ahead * occluder.radius;
    let cosine_edge = ahead * tangent + length * occluder.radius;
    Cap {
        separation: arc(length, ahead),
        radius: arc(occluder.radius, tangent),
        edge: signed_arc(sine_edge, cosine_edge),
        azimuth: azimuth_of(onto_disc(disc.toward, cross)),
    }
}

/// The cap of the ground itself, of radius π/2 around the downward direction, for a `point` with the outward unit `normal`.
pub(crate) fn horizon_cap(point: DVec3, light: Light, disc: Disc, normal: DVec3) -> Cap {
    // On a sphere, point and normal are equal, and the subtracted term is exactly 0.
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

/// The occluders in front of one disc: the caps that touch it, none of them inside another.
#[derive(Debug, Default)]
pub(crate) struct OccluderSet {
    /// Whether one occluder covers the whole disc.
    pub(crate) total: bool,
    caps: Vec<PlacedCap>,
    spans: Vec<DVec2>,
    /// Caps whose span of an edge is not computed yet.
    pending: Vec<u32>,
    /// Cones of the spheroids that touch the disc.
    cones: Vec<Cone>,
    /// Directions in which the quadratics of the cones change sign at the rim.
    rims: Vec<f64>,
    /// Whether one of the cones crosses the rim.
    exceeds_disc: bool,
    scratch: Scratch,
}

impl OccluderSet {
    /// Whether no occluder touches the disc.
    pub(crate) fn is_empty(&self) -> bool {
        !self.total && self.caps.is_empty() && self.cones.is_empty()
    }

    /// The caps and the cones, and scratch memory for spans of angles.
    pub(crate) fn parts(&mut self) -> (&[PlacedCap], &mut Vec<Cone>, &mut Vec<DVec2>) {
        (&self.caps, &mut self.cones, &mut self.spans)
    }
}

/// Removes all occluders.
pub(crate) fn clear(occluder_set: &mut OccluderSet) {
    occluder_set.total = false;
    occluder_set.caps.clear();
    occluder_set.cones.clear();
    occluder_set.rims.clear();
    occluder_set.exceeds_disc = false;
}

/// Whether cap and disc have the same centre, up to rounding. Such a cap covers the whole disc or leaves the whole rim uncovered. The radii
/// decide which, because the sums of angles that decide in other cases have rounding errors.
pub(crate) fn concentric(disc: Disc, cap: Cap) -> bool {
    cap.separation <= CONCENTRIC * disc.radius
}

/// 2⁻⁴⁰: centres at most this far apart, in units of the disc's radius, count as the same. It changes no fraction by more than 10⁻¹².
pub(crate) const CONCENTRIC: f64 = 1.0 / (1_u64 << 40) as f64;

/// Adds a cap, unless it does not touch the disc or is inside another cap. Removes the caps inside it.
pub(crate) fn add(occluder_set: &mut OccluderSet, disc: Disc, cap: Cap) {
    if cap.radius <= 0.0 || cap.edge >= disc.radius {
        return;
    }
    if cap.edge + disc.radius <= 0.0 || (concentric(disc, cap) && cap.radius >= disc.radius) {
        occluder_set.total = true;
        return;
    }
    // Two caps that differ only by rounding have no well-defined chord, so one of them counts as inside the other.
    let slack = CONCENTRIC * disc.radius;
    let cap = PlacedCap::new(cap);
    if occluder_set.caps.iter().any(|other| cap.is_inside(other, slack)) {
        return;
    }
    occluder_set.caps.retain(|other| !other.is_inside(&cap, slack));
    occluder_set.caps.push(cap);
}

pub(crate) fn add_cone(occluder_set: &mut OccluderSet, cone: Cone) {
    let known = occluder_set.rims.len();
    match cone.extent(&mut occluder_set.rims) {
        Extent::Apart => {
            // A spheroid that covers nothing must not change a bit.
            occluder_set.rims.truncate(known);
            return;
        }
        Extent::Covers => occluder_set.total = true,
        Extent::Beyond => occluder_set.exceeds_disc = true,
        Extent::Within => {}
    }
    occluder_set.cones.push(cone);
}

/// Total angle of the disc's rim that no cap covers.
pub(crate) fn open_rim(occluder_set: &mut OccluderSet, disc: Disc) -> f64 {
    occluder_set.spans.clear();
    for &PlacedCap { cap, .. } in &occluder_set.caps {
        if cap.separation + cap.radius > disc.radius {
            let half = chord(disc.radius, cap.radius, cap.separation, cap.edge).x;
            occluder_set.spans.push(span(signed_arc(cap.azimuth.y, cap.azimuth.x), half, 0.0));
        }
    }
    open_angle(&occluder_set.spans)
}

/// Half the solid angle swept by those arcs of the edge of cap `i` that are on the disc and in no other cap.
///
/// A span is computed when the cursor reaches a point that its cap may contain: a few large caps often cover a whole edge.
pub(crate) fn open_edge(occluder_set: &mut OccluderSet, disc: Disc, i: usize) -> f64 {
    let OccluderSet { caps, spans, pending, .. } = occluder_set;
    let placed = caps[i];
    let cap = placed.cap;
    // The part of the edge on the disc is −half to half; angle 0 is the point nearest to the disc's centre.
    let mut half = PI;
    if cap.separation + cap.radius > disc.radius {
        half = chord(disc.radius, cap.radius, cap.separation, cap.edge).y;
    }
    let span_of = |j: u32| {
        let other = &caps[j as usize];
        let gap = placed.gap_to(other)?;
        Some(span(bearing(cap, other.cap), common_chord(cap.radius, other.cap.radius, gap), -half))
    };
    spans.clear();
    pending.clear();
    pending.extend((0..caps.len() as u32).filter(|&j| j as usize != i));
    let mut sum = 0.0;
    let mut cursor = 0.0;
    for _ in 0..2 * caps.len() + 2 {
        let mut step = advance(spans, cursor);
        if step.x <= cursor && !pending.is_empty() {
            let point = edge_direction(cap, cursor - half);
            while let Some(k) = pending.iter().position(|&j| caps[j as usize].may_contain(point)) {
                spans.extend(span_of(pending.swap_remove(k)));
                step = advance(spans, cursor);
                if step.x > cursor {
                    break;
                }
            }
            if step.x <= cursor {
                // No cap contains the point. The next span may be that of any cap.
                spans.extend(pending.drain(..).filter_map(span_of));
                step = advance(spans, cursor);
            }
        }
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

/// Uncovered fraction of the disc, 0…1.
pub(crate) fn uncovered_fraction(occluder_set: &mut OccluderSet, disc: Disc) -> f64 {
    if occluder_set.total {
        return 0.0;
    }
    if !occluder_set.cones.is_empty() {
        let OccluderSet { caps, cones, rims, scratch, .. } = occluder_set;
        let (cone_count, rim_count) = (cones.len(), rims.len());
        for placed in &*caps {
            let cone = cone_of_cap(disc, placed.cap);
            cone.extent(rims);
            cones.push(cone);
        }
        let rest = uncovered_by_cones(scratch, disc, cones, rims);
        cones.truncate(cone_count);
        rims.truncate(rim_count);
        return rest;
    }
    let mut sum = 0.0;
    let mut largest = 0.0_f64;
    let mut meet = false;
    for (i, placed) in occluder_set.caps.iter().enumerate() {
        let part = covered(disc.radius, placed.cap);
        sum += part;
        largest = largest.max(part);
        meet = meet || occluder_set.caps[..i].iter().any(|other| placed.gap_to(other).is_some());
    }
    if meet {
        let mut edges = 0.0;
        for i in 0..occluder_set.caps.len() {
            edges += open_edge(occluder_set, disc, i);
        }
        let rest = (0.5 * open_rim(occluder_set, disc) - edges / versine(disc.radius)) / PI;
        return rest.clamp((1.0 - sum).max(0.0), 1.0 - largest);
    }
    (1.0 - sum).clamp(0.0, 1.0)
}

/// Kind of coverage; `rest` is the uncovered fraction. If it is 0 the shadow is total, whatever the edges indicate.
pub(crate) fn kind(occluder_set: &OccluderSet, disc: Disc, rest: f64) -> ShadowKind {
    let count = occluder_set.caps.len() + occluder_set.cones.len();
    if occluder_set.total || (count > 0 && rest <= 0.0) {
        return ShadowKind::Umbra;
    }
    if count == 0 {
        return ShadowKind::Lit;
    }
    let crosses_rim =
        |&PlacedCap { cap, .. }: &PlacedCap| cap.separation + cap.radius > disc.radius && !concentric(disc, cap);
    if occluder_set.exceeds_disc || occluder_set.caps.iter().any(crosses_rim) {
        return ShadowKind::Penumbra;
    }
    ShadowKind::Antumbra
}

/// Adds an occluder in front of the disc. Returns the fraction (0 or 1) of a point light that is visible past it; `None` if the point is
/// inside it.
pub(crate) fn add_occluder(
    occluder_set: &mut OccluderSet,
    point: DVec3,
    light: Light,
    disc: Disc,
    occluder: Occluder,
    shapes: &[SpheroidShape],
) -> Option<f64> {
    let Some(&shape) = shapes.get(occluder.shape as usize) else {
        let cap = cap_of(point, light, disc, occluder);
        add(occluder_set, disc, cap);
        return (cap.radius < PI).then_some(if cap.edge <= 0.0 { 0.0 } else { 1.0 });
    };
    if power_of(point, occluder, shape) < 0.0 {
        return None;
    }
    let Some(cone) = cone_of(point, light, disc, occluder, shape) else { return Some(1.0) };
    add_cone(occluder_set, cone);
    Some(if cone.covers_center() { 0.0 } else { 1.0 })
}

/// Irradiance of horizontal ground by the part of an unoccluded disc that is above the horizon, relative to that by the light at the
/// zenith. `ground` is the cap of the ground.
///
/// Nusselt's projection: the part of the disc's rim above the horizon projects to an arc of an ellipse, and the horizon to an arc of the
/// unit circle. The irradiance is the area of two segments. So the terminator is as soft as the disc is large, and Lambert's cosine law
/// holds wherever the whole disc is above the horizon.
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
    let ellipse = area * area * height * angle_minus_sine(2.0 * risen);
    ((ellipse + angle_minus_sine(2.0 * half.y)) / (2.0 * PI * area * area)).max(0.0)
}

/// The light at a point of the ground.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Illumination {
    /// Fraction of the light's disc that is above the horizon and not covered, 0…1.
    pub(crate) fraction: f64,
    /// Brightness of that part, relative to that of the whole disc: the fraction unless the light has limb darkening.
    pub(crate) flux: f64,
    /// Irradiance of the ground, relative to that by the unoccluded light at the zenith.
    pub(crate) irradiance: f64,
}

/// No light.
pub(crate) const DARK: Illumination = Illumination { fraction: 0.0, flux: 0.0, irradiance: 0.0 };
/// All of the light.
pub(crate) const FULL: Illumination = Illumination { fraction: 1.0, flux: 1.0, irradiance: 1.0 };

/// The light's disc and the ground, seen from a point of the ground.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ground {
    pub(crate) disc: Disc,
    pub(crate) horizon: Cap,
    /// Irradiance without occluders.
    pub(crate) bare: f64,
}

/// The light's disc and the ground, seen from a `point` of a body whose outward normal there is `normal`. `Err` is the illumination
/// where occluders do not matter: inside the light, and where all of the light is below the horizon.
pub(crate) fn ground_at(point: DVec3, normal: DVec3, light: Light) -> Result<Ground, Illumination> {
    let disc = disc_from(point, light);
    if disc.power <= 0.0 {
        return Err(FULL);
    }
    let horizon = horizon_cap(point, light, disc, normal);
    if horizon.edge + disc.radius <= 0.0 {
        return Err(DARK);
    }
    Ok(Ground { disc, horizon, bare: irradiance(disc, horizon) })
}

/// The light at a `point` of a body, past the occluders.
///
/// Occluders scale the irradiance of the part of the disc above the horizon by its visible fraction. Which side of the disc they cover is
/// ignored; it matters only for an eclipse at sunrise.
pub(crate) fn illumination(
    occluder_set: &mut OccluderSet,
    ground: Ground,
    point: DVec3,
    light: Light,
    occluders: &[Occluder],
    shapes: &[SpheroidShape],
) -> Illumination {
    let Ground { disc, horizon, bare } = ground;
    clear(occluder_set);
    if disc.radius <= 0.0 {
        let open =
            occluders.iter().all(|&one| add_occluder(occluder_set, point, light, disc, one, shapes) == Some(1.0));
        return if open { Illumination { irradiance: bare, ..FULL } } else { DARK };
    }
    add(occluder_set, disc, horizon);
    for &occluder in occluders {
        if add_occluder(occluder_set, point, light, disc, occluder, shapes).is_none() || occluder_set.total {
            return DARK;
        }
    }
    let fraction = uncovered_fraction(occluder_set, disc);
    let risen = 1.0 - covered(disc.radius, horizon);
    if risen <= 0.0 {
        return DARK;
    }
    Illumination { fraction, flux: fraction, irradiance: bare * (fraction / risen).min(1.0) }
}

#[cfg(test)]
#[path = "disc_tests.rs"]
mod tests;
