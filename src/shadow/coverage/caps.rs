//! Spherical caps and the areas of their intersections: the f64 twin of `shaders/shadow/caps.wgsl`, function by function.
//!
//! All angles are measured from the centre of the light's disc. The intersection (lens) of two caps is the sum of two segments over their
//! common chord. Each segment is written so that nothing cancels, however unequal the caps are. A region with many edges is integrated
//! along its boundary, arc by arc (Green's theorem).

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use glam::{DVec2, DVec3, Vec3Swizzles};

use crate::math::angles::{angle_minus_sine, arc, sine, versine, x_minus_arctangent};

/// The spherical cap that an occluder covers, seen from the observer and measured from the centre of the light's disc.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cap {
    /// Angle from the centre of the light's disc to the centre of the cap.
    pub(crate) separation: f64,
    /// Angular radius: at most π/2, or π if the point is inside the occluder; −1 if there is no cap.
    pub(crate) radius: f64,
    /// `separation − radius`, the angle from the disc's centre to the near edge; negative if the cap covers the disc's centre. It is stored
    /// separately because the difference of the two rounded angles would lose the precision that a small light next to a large edge needs.
    pub(crate) edge: f64,
    /// Unit vector of the direction from the disc's centre to the cap's, in the plane of the disc. The orientation of that plane is
    /// arbitrary but fixed.
    pub(crate) azimuth: DVec2,
}

/// No cap: nothing is covered.
pub(crate) const NO_CAP: Cap = Cap { separation: PI, radius: -1.0, edge: PI, azimuth: DVec2::X };

/// Half the solid angle between an arc of a small circle and its chord, which is an arc of a great circle. `half_angle` (A) is half the
/// arc's angle at the circle's centre, `v` the versine of the circle's radius.
///
/// The result is `A v − E` with the excess `E = atan2(sin A cos A v, 1 − sin² A v)`. For a small arc of a large circle that cancels to
/// order `A³`, so the leading terms are subtracted analytically.
pub(crate) fn segment(half_angle: f64, v: f64) -> f64 {
    let s = sine(half_angle);
    // cos A = 1 − 2 sin²(A/2) is accurate enough, and saves a polynomial in the shader.
    let c = 1.0 - versine(half_angle);
    let run = s * c * v;
    let rise = 1.0 - s * s * v;
    if run.abs() <= 0.25 * rise {
        let x = run / rise;
        0.5 * v * angle_minus_sine(2.0 * half_angle) - v * v * s * s * s * c / rise + x_minus_arctangent(x)
    } else {
        half_angle * v - signed_arc(run, rise)
    }
}

/// The half-angles that the common chord of two caps subtends at their centres: (at the first, at the second).
///
/// Half-angle formulas of the spherical triangle with sides `a`, `b` (radii) and `c` (separation), given `edge = c − b`. Valid only for
/// caps whose edges intersect.
pub(crate) fn chord(a: f64, b: f64, c: f64, edge: f64) -> DVec2 {
    chord_of(a, b, c, a + edge, a - edge)
}

/// [`chord`] with `a − b + c` and `a + b − c` in place of the edge: their rounding determines the accuracy of the angles.
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

/// The half-angle that the common chord of two caps subtends at the centre of the first: [`chord`] without an edge. Two nearly identical
/// caps differ by less than the rounding error of an edge.
pub(crate) fn common_chord(a: f64, b: f64, c: f64) -> f64 {
    chord_of(a, b, c, (a - b) + c, (a + b) - c).x
}

/// Fraction of a disc of angular radius `a` that a cap covers, 0…1.
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

/// Fraction of a disc of angular radius `disc` that a disc of angular radius `cover` covers, by solid angle; their centres are
/// `separation` apart. All angles are in radians, as seen from one point: `disc` from 1e-150 to π/2, `cover` from 0 to π/2, and `separation`
/// from 0 to π; the result is NaN for others. No rounding error is amplified, however unequal the discs are.
pub fn covered_fraction(disc: f64, cover: f64, separation: f64) -> f64 {
    let right = FRAC_PI_2;
    if !((1e-150..=right).contains(&disc) && (0.0..=right).contains(&cover) && (0.0..=PI).contains(&separation)) {
        return f64::NAN;
    }
    covered(disc, Cap { separation, radius: cover, edge: separation - cover, azimuth: DVec2::X })
}

/// Angle between the centres of two caps (haversines, so nothing cancels).
pub(crate) fn are_apart(a: Cap, b: Cap) -> f64 {
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

/// The bearing of the centre of `to`, seen from the centre of `from`: the angle, counterclockwise, from the direction to the disc's centre.
/// Computed from the components of the unit vector of `to` along two tangents, with their leading terms subtracted analytically.
pub(crate) fn bearing(from: Cap, to: Cap) -> f64 {
    let turn = from.azimuth - to.azimuth;
    let sine_to = sine(to.separation);
    let cosine = 1.0 - versine(from.separation);
    let near = signed_sine(from.separation - to.separation);
    let inward = near + 0.5 * cosine * sine_to * turn.dot(turn);
    signed_arc(-sine_to * from.azimuth.perp_dot(to.azimuth), inward)
}

/// The point of a cap's edge at `angle` (a bearing, see [`bearing`]), as a unit vector; the disc's centre is (0, 0, 1).
pub(crate) fn edge_direction(cap: Cap, angle: f64) -> DVec3 {
    let sine_b = sine(cap.radius);
    let v = versine(angle.abs());
    let along = signed_sine(cap.edge) + (1.0 - versine(cap.separation)) * sine_b * v;
    let aside = -sine_b * signed_sine(angle);
    let height = 1.0 - versine(cap.edge.abs()) - sine_b * sine(cap.separation) * v;
    let side = DVec2::new(-cap.azimuth.y, cap.azimuth.x);
    (cap.azimuth * along + side * aside).extend(height)
}

/// The point of a cap's edge at `angle`, in stereographic projection about the disc's centre.
pub(crate) fn edge_point(cap: Cap, angle: f64) -> DVec2 {
    let point = edge_direction(cap, angle);
    point.xy() / (1.0 + point.z)
}

/// Half the solid angle between the disc's centre and the arc of a cap's edge from `from` to `to`: a triangle, negative where the arc runs
/// clockwise around the centre, plus a segment of the cap.
pub(crate) fn swept(cap: Cap, from: f64, to: f64) -> f64 {
    let p = edge_point(cap, from);
    let q = edge_point(cap, to);
    segment(0.5 * (to - from), versine(cap.radius)) + signed_arc(p.perp_dot(q), 1.0 + p.dot(q))
}

/// The arc `center ± half` as a span (from, to) of angles counted from `start`. The span begins in `[0, 2π)`.
pub(crate) fn span(center: f64, half: f64, start: f64) -> DVec2 {
    let from = center - half - start;
    let from = from - TAU * (from / TAU).floor();
    DVec2::new(from, from + 2.0 * half)
}

/// Advances along a circle from the angle `cursor`. Returns (farthest end of the spans that contain `cursor`, or `cursor` itself if none
/// does; start of the next span, 2π if there is none).
pub(crate) fn advance(spans: &[DVec2], cursor: f64) -> DVec2 {
    let mut reach = cursor;
    let mut next = TAU;
    for span in spans {
        if span.x <= cursor {
            reach = reach.max(span.y);
        } else {
            next = next.min(span.x);
        }
        // A span that extends beyond 2π continues from 0.
        reach = reach.max(span.y - TAU);
    }
    DVec2::new(reach, next)
}

/// Total angle of a circle that no span covers.
pub(crate) fn open_angle(spans: &[DVec2]) -> f64 {
    let (mut open, mut cursor) = (0.0, 0.0);
    while cursor < TAU {
        let step = advance(spans, cursor);
        if step.x > cursor {
            cursor = step.x;
        } else {
            open += step.y - cursor;
            cursor = step.y;
        }
    }
    open
}

/// Margin, relative to the angles involved.
const MARGIN: f64 = 1e-9;

/// A cap and the direction of its centre.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedCap {
    pub(crate) cap: Cap,
    /// Unit vector to the centre; the disc's centre is (0, 0, 1).
    direction: DVec3,
    /// Length of the chord of an arc as long as the radius.
    chord: f64,
}

impl PlacedCap {
    pub(crate) fn new(cap: Cap) -> Self {
        let direction = (sine(cap.separation) * cap.azimuth).extend(1.0 - versine(cap.separation));
        Self { cap, direction, chord: 2.0 * sine(0.5 * cap.radius) }
    }

    /// Whether the centres are farther apart than `angle` by more than rounding.
    fn exceeds(&self, other: &Self, angle: f64) -> bool {
        let limit = angle + MARGIN * (angle.abs() + self.cap.separation + other.cap.separation);
        limit < 0.0 || self.direction.distance_squared(other.direction) > limit * limit
    }

    /// Whether this cap is inside another one, up to `slack`.
    pub(crate) fn is_inside(&self, outer: &Self, slack: f64) -> bool {
        let (inner_cap, outer_cap) = (self.cap, outer.cap);
        !self.exceeds(outer, outer_cap.radius + slack - inner_cap.radius)
            && are_apart(outer_cap, inner_cap) + inner_cap.radius <= outer_cap.radius + slack
    }

    /// The angle between the centres if the caps overlap.
    #[inline]
    pub(crate) fn gap_to(&self, other: &Self) -> Option<f64> {
        let radii = self.cap.radius + other.cap.radius;
        if self.exceeds(other, radii) {
            return None;
        }
        let gap = are_apart(self.cap, other.cap);
        (gap < radii).then_some(gap)
    }

    /// Whether the cap may contain a point, given as a unit vector. False is certain.
    pub(crate) fn may_contain(&self, point: DVec3) -> bool {
        let lengths = self.chord + self.cap.separation;
        self.direction.distance_squared(point) <= self.chord * self.chord + MARGIN * lengths * lengths
    }
}
