//! Visible flux of a light with limb darkening: the brightness of the uncovered part of its disc, relative to that of the whole disc.
//!
//! The brightness depends on the distance from the centre of the disc only. So the flux is an integral over concentric rings: brightness
//! times the share of the ring that is uncovered. A cap covers an arc of a ring, whose half-angle is exact, and so does the cone of a
//! spheroid; arcs of several occluders are united. The ring is numbered by `μ`, the cosine of the angle at which the line of sight leaves
//! the light's surface: `sin θ = sin a · √(1 − μ²)` for the ring of angular radius θ on a disc of radius a. In μ, or in its square
//! root, the brightness is a polynomial, or nearly one.
//!
//! The share is analytic except at rings that touch an outline, where it behaves like a square root, and at rings through the intersection
//! of two outlines. The integral is split there. Each part is integrated by the rule of `cones.rs`, whose substitution removes square
//! roots at both ends.

use std::f64::consts::{PI, TAU};

use glam::DVec2;

use super::caps::{bearing, chord, common_chord, covered, edge_direction, open_angle, signed_arc, span};
use super::cones::{Cone, halved, integral};
use super::disc::{Ground, Illumination, OccluderSet};
use super::light::Disc;
use crate::math::angles::{arc, sine, versine};
use crate::shadow::limb_darkening::LimbDarkening;

/// Tolerance of the integral between two rings.
pub(crate) const EXACT: f64 = 2e-11;
/// Tolerance for pictures. The tolerance bounds the error of the coarser of two rules; that of the finer one is below a hundredth of it.
pub(crate) const FOR_PICTURES: f64 = 1e-4;

/// Sines of angular radii below this one: the flux of a disc without occluders is computed by a series, accurate to a relative 3 · 10⁻¹⁰.
const NARROW: f64 = 0.005;

/// A concentric ring of the disc.
#[derive(Clone, Copy, Debug)]
struct Ring {
    /// Angular radius.
    radius: f64,
    /// Tangent of the radius, relative to that of the disc's radius: the measure of the cones.
    tau: f64,
}

impl Ring {
    fn new(disc_sine: f64, disc_cosine: f64, mu: f64) -> Self {
        let rho = ((1.0 - mu) * (1.0 + mu)).max(0.0).sqrt();
        let (sine, square) = (disc_sine * rho, disc_cosine * disc_cosine + (disc_sine * mu).powi(2));
        let cosine = square.sqrt();
        Self { radius: arc(sine, cosine), tau: rho * disc_cosine / cosine }
    }
}

/// Visible flux, 0…1, past the occluders of a disc with a positive radius. `tolerance` is that of the integral between two rings.
pub(crate) fn visible_flux(occluder_set: &mut OccluderSet, disc: Disc, limb: LimbDarkening, tolerance: f64) -> f64 {
    if occluder_set.total {
        return 0.0;
    }
    let (disc_sine, disc_cosine) = (disc.radius.sin(), disc.radius.cos());
    // The brightness of a ring times its solid angle per μ, up to a constant factor.
    let weight = |mu: f64, cosine: f64| limb.intensity(mu) * mu / cosine;
    let bare = |mu: f64| weight(mu, (disc_cosine * disc_cosine + (disc_sine * mu).powi(2)).sqrt());
    let whole = if disc_sine < NARROW {
        // 1 / cos θ is 1 + sin² θ / 2 with sin² θ = sin² a (1 − μ²), up to 3 sin⁴ a / 8.
        let [first, second] = limb.moments();
        first + 0.5 * disc_sine * disc_sine * second
    } else {
        halved(&mut { bare }, 0.0, 1.0, EXACT)
    };
    if whole <= 0.0 {
        return 0.0;
    }
    let mut ends = limits(occluder_set, disc);
    let (caps, cones, rest) = occluder_set.parts();
    let no_cones = cones.is_empty();
    let mut visible = |mu: f64| {
        let ring = Ring::new(disc_sine, disc_cosine, mu);
        rest.clear();
        for placed in caps {
            let cap = placed.cap;
            if cap.edge + ring.radius <= 0.0 {
                return 0.0;
            }
            if cap.edge < ring.radius && cap.separation + cap.radius > ring.radius {
                let half = chord(ring.radius, cap.radius, cap.separation, cap.edge).x;
                if caps.len() + cones.len() == 1 {
                    return bare(mu) * (1.0 - half / PI);
                }
                rest.push(span(signed_arc(cap.azimuth.y, cap.azimuth.x), half, 0.0));
            }
        }
        for cone in &*cones {
            if cone.add_spans(ring.tau, rest) {
                return 0.0;
            }
        }
        bare(mu) * (open_angle(rest) / TAU)
    };
    let mut sum = 0.0;
    let mut from = 0.0;
    ends.push(1.0);
    for to in ends {
        if to <= from {
            continue;
        }
        let middle = 0.5 * (from + to);
        // Between two limits, caps cover some of each ring, or all of each, or nothing of any.
        match visible(middle) {
            0.0 if no_cones => {}
            share if no_cones && share == bare(middle) => {
                sum += halved(&mut { bare }, from, to, tolerance * whole);
            }
            _ => sum += integral(&mut visible, from, to, tolerance * whole),
        }
        from = to;
    }
    (sum / whole).clamp(0.0, 1.0)
}

/// The light at a point of the ground if the light has limb darkening. `lit` is what [`illumination`](super::disc::illumination) returned
/// last, for the same set.
///
/// The irradiance is the flux times the mean height of the part of the disc above the horizon: `bare` relative to that part.
pub(crate) fn darkened(
    occluder_set: &mut OccluderSet,
    ground: Ground,
    limb: LimbDarkening,
    lit: Illumination,
) -> Illumination {
    let Ground { disc, horizon, bare } = ground;
    if disc.radius <= 0.0 || occluder_set.is_empty() {
        return lit;
    }
    let risen = 1.0 - covered(disc.radius, horizon);
    let flux = visible_flux(occluder_set, disc, limb, FOR_PICTURES);
    Illumination { flux, irradiance: bare * flux / risen, ..lit }
}

/// The rings at which the share is not analytic, as ascending values of μ.
fn limits(occluder_set: &mut OccluderSet, disc: Disc) -> Vec<f64> {
    let mut ends = Vec::new();
    let (caps, cones, _) = occluder_set.parts();
    let disc_sine = sine(disc.radius);
    // A ring of angular radius 0 < θ < a, by the sines of θ, a − θ and a + θ.
    let mut push = |ring: f64| {
        if ring > 0.0 && ring < disc.radius {
            ends.push((sine(disc.radius - ring) * sine(disc.radius + ring)).max(0.0).sqrt() / disc_sine);
        }
    };
    for (i, placed) in caps.iter().enumerate() {
        push(placed.cap.edge.abs());
        push(placed.cap.separation + placed.cap.radius);
        for other in &caps[..i] {
            let Some(gap) = placed.gap_to(other) else { continue };
            let (middle, half) =
                (bearing(placed.cap, other.cap), common_chord(placed.cap.radius, other.cap.radius, gap));
            for angle in [middle - half, middle + half] {
                let point = edge_direction(placed.cap, angle.sin().atan2(angle.cos()));
                push(arc(point.truncate().length(), point.z));
            }
        }
    }
    for cone in cones.iter() {
        // A ring at τ has the angular radius arctan(τ tan a).
        let ring = |tau: f64| arc(tau * disc_sine, 1.0 - versine(disc.radius));
        cone.touched_rings(|tau| push(ring(tau)));
    }
    ends.sort_unstable_by(f64::total_cmp);
    ends
}

impl Cone {
    /// Adds the arcs that the cone covers of the ring at `tau`. Returns true if it covers the whole ring.
    fn add_spans(&self, tau: f64, spans: &mut Vec<DVec2>) -> bool {
        let mut crossings = [0.0; 10];
        let mut count = 0;
        self.crossings(tau, |angle| {
            crossings[count] = angle;
            count += 1;
        });
        let crossings = &mut crossings[..count];
        crossings.sort_unstable_by(f64::total_cmp);
        let Some(&first) = crossings.first() else { return self.covers(DVec2::X, tau) };
        for k in 0..count {
            let (from, to) = (crossings[k], crossings.get(k + 1).copied().unwrap_or(first + TAU));
            if self.covers(DVec2::from_angle(0.5 * (from + to)), tau) {
                spans.push(span(0.5 * (from + to), 0.5 * (to - from), 0.0));
            }
        }
        false
    }
}
