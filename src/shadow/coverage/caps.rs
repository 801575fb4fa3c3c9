//! Round pieces of sky and the areas they cut out of each other: the f64 twin of `shaders/shadow/caps.wgsl`, function by function.
//!
//! Everything is counted from the centre of the light's disc. The lens of two caps is the sum of two segments over their
//! common chord, each written so that nothing cancels however unequal the two are; a piece with many edges is walked
//! around, arc by arc (Green's theorem).

use std::f64::consts::{PI, TAU};

use glam::DVec2;

use crate::math::angles::{arc, less_arctangent, less_sine, sine, versine};

/// A round piece of sky that something covers, seen from the centre of the light's disc.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cap {
    /// Angle from the centre of the light's disc to the cap's.
    pub(crate) separation: f64,
    /// Angular radius: at most π/2, or π when the point is inside the occluder; −1 when there is none.
    pub(crate) radius: f64,
    /// `separation − radius`, the angle from the disc's centre to the near edge, negative when that is covered. By
    /// itself, since the difference of the two would lose what a small light next to a large edge is made of.
    pub(crate) edge: f64,
    /// Unit vector of its direction on the disc; arbitrary but fixed orientation.
    pub(crate) azimuth: DVec2,
}

/// Nothing in the way.
pub(crate) const NO_CAP: Cap = Cap { separation: PI, radius: -1.0, edge: PI, azimuth: DVec2::X };

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
        half_angle * v - signed_arc(run, rise)
    }
}

/// The half-angles under which the common chord of two caps is seen from their centres: (from the first, from the second).
///
/// Half-angle formulas of the spherical triangle with sides `a`, `b` (radii) and `c` (separation), given `edge = c − b`;
/// only for caps whose edges meet.
pub(crate) fn chord(a: f64, b: f64, c: f64, edge: f64) -> DVec2 {
    chord_of(a, b, c, a + edge, a - edge)
}

/// As [`chord`], given `a − b + c` and `a + b − c` instead of the edge: how they are rounded decides how exact the angles are.
#[inline(always)]
fn chord_of(a: f64, b: f64, c: f64, twice_less_b: f64, twice_less_c: f64) -> DVec2 {
    let whole = sine(0.5 * (a + b + c));
    let less_a = sine((0.5 * ((b - a) + c)).max(0.0));
    let less_b = sine((0.5 * twice_less_b).max(0.0));
    let less_c = sine((0.5 * twice_less_c).max(0.0));
    DVec2::new(
        2.0 * arc((less_a * less_c).sqrt(), (whole * less_b).sqrt()),
        2.0 * arc((less_b * less_c).sqrt(), (whole * less_a).sqrt()),
    )
}

/// The half-angle under which the common chord of two caps is seen from the first one's centre: as [`chord`], without an edge. Two caps
/// that are nearly the same differ by less than the rounding of an edge.
pub(crate) fn common_chord(a: f64, b: f64, c: f64) -> f64 {
    chord_of(a, b, c, (a - b) + c, (a + b) - c).x
}

/// The part of a disc of angular radius `a` that a cap covers, 0…1.
pub(crate) fn covered(a: f64, cap: Cap) -> f64 {
    let (b, c) = (cap.radius, cap.separation);
    if b <= 0.0 || cap.edge >= a {
        return 0.0;
    }
    if cap.edge + a <= 0.0 {
        return 1.0;
    }
    let v_a = versine(a);
    let v_b = versine(b);
    if c + b <= a {
        return (v_b / v_a).min(1.0);
    }
    let half = chord(a, b, c, cap.edge);
    ((segment(half.x, v_a) + segment(half.y, v_b)) / (PI * v_a)).clamp(0.0, 1.0)
}

/// The angle between the centres of two caps (haversines, nothing cancels).
pub(crate) fn apart(a: Cap, b: Cap) -> f64 {
    let near = sine(0.5 * (a.separation - b.separation).abs());
    let turn = a.azimuth - b.azimuth;
    let h = near * near + 0.25 * sine(a.separation) * sine(b.separation) * turn.dot(turn);
    2.0 * arc(h.min(1.0).sqrt(), (1.0 - h).max(0.0).sqrt())
}

/// The sine of an angle in `[−2π, 2π]`.
pub(crate) fn signed_sine(x: f64) -> f64 {
    let s = sine(x.abs());
    if x < 0.0 { -s } else { s }
}

/// The angle in `[−π, π]` of the vector `(x, y)`.
pub(crate) fn signed_arc(y: f64, x: f64) -> f64 {
    let angle = arc(y.abs(), x);
    if y < 0.0 { -angle } else { angle }
}

/// The direction at the centre of `from` to the centre of `to`: the angle, counterclockwise, from the direction to the
/// disc's centre. The unit vector of `to` on two tangents, their leading terms subtracted by hand.
pub(crate) fn bearing(from: Cap, to: Cap) -> f64 {
    let turn = from.azimuth - to.azimuth;
    let sine_to = sine(to.separation);
    let cosine = 1.0 - versine(from.separation);
    let near = signed_sine(from.separation - to.separation);
    let inward = near + 0.5 * cosine * sine_to * turn.dot(turn);
    signed_arc(-sine_to * from.azimuth.perp_dot(to.azimuth), inward)
}

/// The point of a cap's edge at `angle` (as of [`bearing`]), in stereographic projection about the disc's centre.
pub(crate) fn edge_point(cap: Cap, angle: f64) -> DVec2 {
    let sine_b = sine(cap.radius);
    let v = versine(angle.abs());
    let along = signed_sine(cap.edge) + (1.0 - versine(cap.separation)) * sine_b * v;
    let aside = -sine_b * signed_sine(angle);
    let height = 1.0 - versine(cap.edge.abs()) - sine_b * sine(cap.separation) * v;
    let side = DVec2::new(-cap.azimuth.y, cap.azimuth.x);
    (cap.azimuth * along + side * aside) / (1.0 + height)
}

/// Half the solid angle between the disc's centre and the arc of a cap's edge from `from` to `to`: a triangle, negative
/// where the arc runs clockwise around the centre, and a segment of the cap.
pub(crate) fn swept(cap: Cap, from: f64, to: f64) -> f64 {
    let p = edge_point(cap, from);
    let q = edge_point(cap, to);
    segment(0.5 * (to - from), versine(cap.radius)) + signed_arc(p.perp_dot(q), 1.0 + p.dot(q))
}

/// The arc of `center ± half` as a span (from, to) of angles counted from `start`, beginning in `[0, 2π)`.
pub(crate) fn span(center: f64, half: f64, start: f64) -> DVec2 {
    let from = center - half - start;
    let from = from - TAU * (from / TAU).floor();
    DVec2::new(from, from + 2.0 * half)
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
