//! Elliptic cones: the fraction of a light's disc that spheroids cover, alone or together with spherical caps.
//!
//! Consider one direction from the centre of the disc outwards, and the point at `τ` times the tangent of the disc's radius. A spheroid
//! covers that point where a quadratic in `τ` is positive. Its coefficients follow from the sphere that the spheroid becomes in a space
//! stretched along its pole; they depend on the direction as quadratic forms. So each body covers an interval per direction, the union of
//! the intervals is exact, and the uncovered part is integrated over one turn.
//!
//! The integrand is analytic except at directions that touch an outline, or pass through an intersection of an outline with the rim or with
//! another outline. Those directions are roots of trigonometric polynomials of degree two (`trig_roots.rs`). Between them, Gauss–Kronrod
//! quadrature is subdivided until it converges. No arc is ever classified as inside or outside, so nearly coincident outlines do no harm.
//!
//! Most often a single spheroid crosses the rim in two points. Then the boundary of the covered part is integrated instead: an arc of the
//! rim, whose share is its angle, and an arc of the outline, along which the integrand is smooth.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use glam::{DVec2, DVec3};

use super::caps::{Cap, signed_sine};
use super::light::{Disc, Light, Occluder, cross_of, front_of, onto_disc};
use super::trig_roots::{FIFTHS, Wave};
use crate::math::angles::sine;

#[derive(Clone, Copy, Debug)]
pub(crate) struct SpheroidShape {
    /// The direction of the pole in the light-aligned frame.
    pub(crate) pole: DVec3,
    /// (radius / polar radius)² − 1: the square of the stretch factor along the pole that turns the spheroid into a sphere, minus 1.
    pub(crate) stretch: f64,
}

/// Quadratic form: `xx cos² + 2 xy cos sin + yy sin²` of an angle.
#[derive(Clone, Copy, Debug)]
struct QuadraticForm {
    xx: f64,
    xy: f64,
    yy: f64,
}

impl QuadraticForm {
    /// The square of a linear form.
    fn square_of(form: DVec2) -> Self {
        Self { xx: form.x * form.x, xy: form.x * form.y, yy: form.y * form.y }
    }

    fn at(self, turn: DVec2) -> f64 {
        self.xx * turn.x * turn.x + 2.0 * self.xy * turn.x * turn.y + self.yy * turn.y * turn.y
    }

    /// The bilinear form of two vectors.
    fn between(self, a: DVec2, b: DVec2) -> f64 {
        self.xx * a.x * b.x + self.xy * (a.x * b.y + a.y * b.x) + self.yy * a.y * b.y
    }

    fn wave(self) -> Wave {
        Wave { constant: 0.5 * (self.xx + self.yy), once: [0.0; 2], twice: [0.5 * (self.xx - self.yy), self.xy] }
    }
}

/// The cone of a body. Along each direction from the centre of the disc, the body covers the points with
/// `square τ² + 2 middle τ + center ≥ 0` and `ahead + across τ > 0`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cone {
    square: QuadraticForm,
    middle: DVec2,
    center: f64,
    /// The discriminant `middle² − square · center`, computed without cancellation. Negative where the direction misses the body.
    discriminant: QuadraticForm,
    /// `ahead + across τ` is positive in front of the observer. Infinite for half the sky, whose quadratic is linear: no second half of
    /// a cone is behind the observer.
    ahead: f64,
    across: DVec2,
    /// Whether the direction to the body's centre is on the disc.
    aimed: bool,
}

/// Position of a cone relative to the disc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The cone does not touch the disc.
    Apart,
    /// The cone is inside the disc.
    Within,
    /// The cone crosses the rim.
    Beyond,
    /// The cone covers the whole disc.
    Covers,
}

/// Squared distance from the point to the occluder's centre minus its squared radius, in the space in which the occluder is a sphere.
pub(crate) fn power_of(point: DVec3, occluder: Occluder, shape: SpheroidShape) -> f64 {
    let center = occluder.offset.extend(occluder.along);
    let (pole, of_point) = (shape.pole.dot(center), shape.pole.dot(point));
    occluder.power - 2.0 * (center.dot(point) + shape.stretch * pole * of_point)
        + (point.dot(point) + shape.stretch * of_point * of_point)
}

/// The cone of a spheroid, for a point outside it; `None` if the spheroid is behind the light.
pub(crate) fn cone_of(
    point: DVec3,
    light: Light,
    disc: Disc,
    occluder: Occluder,
    shape: SpheroidShape,
) -> Option<Cone> {
    // The bounding sphere of the spheroid decides whether it is behind the light.
    if front_of(point, light, occluder) <= 0.0 {
        return None;
    }
    let far = disc.toward.dot(disc.toward).sqrt();
    let center = occluder.offset.extend(occluder.along) - point;
    let across = onto_disc(disc.toward, cross_of(point, light, disc, occluder)) / (far * occluder.radius);
    let along = disc.toward.dot(center) / (far * occluder.radius);
    let pole = onto_disc(disc.toward, disc.toward.cross(shape.pole)) / far;
    let upright = disc.toward.dot(shape.pole) / far;
    let power = power_of(point, occluder, shape).max(0.0) / (occluder.radius * occluder.radius);
    Some(cone(disc, across.extend(along), power, pole.extend(upright), shape.stretch))
}

/// Converts a spherical cap, the outline of a sphere, to a cone, so that caps and spheroids share one integral.
pub(crate) fn cone_of_cap(disc: Disc, cap: Cap) -> Cone {
    let half_sky = cap.radius >= FRAC_PI_2;
    let (sine_b, cosine_b) = (sine(cap.radius), if half_sky { 0.0 } else { cap.radius.cos() });
    let center = (cap.azimuth * sine(cap.separation)).extend(cap.separation.cos()) / sine_b;
    let mut cone = cone(disc, center, (cosine_b / sine_b).powi(2), DVec3::Z, 0.0);
    // The cap's edge was computed without cancellation, so this coefficient is derived from it.
    let (scale, both) = (disc.radius.cos() / sine_b, cap.separation + cap.radius);
    cone.center = if cone.is_half_sky() {
        -2.0 * scale * signed_sine(0.5 * cap.edge) * sine(0.5 * both)
    } else {
        -scale * scale * signed_sine(cap.edge) * sine(both)
    };
    cone
}

/// The cone of a spheroid of equatorial radius 1 on the disc. `center` and `pole` are given by their components across (x, y) and along (z)
/// the line of sight to the light's centre; `power` is that of the point in the space in which the spheroid is a sphere.
///
/// If `power > 1`, the coefficients are differences of the squared radius and a squared distance from the body's centre. Otherwise they are
/// differences of two components of the squared distance. Each variant cancels less in its range.
///
/// On the surface, at power 0, the quadratic is the square of a linear function, whose sign changes are lost. There, and up to a height of
/// `ON_SURFACE`, the cone is the half of the sky where that function is positive.
fn cone(disc: Disc, center: DVec3, power: f64, pole: DVec3, stretch: f64) -> Cone {
    let (c, s) = (disc.radius.cos(), disc.radius.sin());
    let (o, z) = (center.truncate(), center.z);
    let (n, upright) = (pole.truncate(), pole.z);
    let whole = 1.0 + stretch;
    let forward = stretch * pole.dot(center);
    let (ahead, across) = (z + forward * upright, o + forward * n);
    if power <= ON_SURFACE {
        // The half of the sky that touches the cone, which begins below the horizontal, in the direction of the disc.
        let (dip, width) = (power.sqrt(), (1.0 + stretch * upright * upright).sqrt());
        let across = across - dip * stretch * upright / width * n;
        let middle = 0.5 * s * across;
        return Cone {
            square: QuadraticForm::square_of(DVec2::ZERO),
            middle,
            center: c * (ahead - dip * width),
            discriminant: QuadraticForm::square_of(middle),
            ahead: f64::INFINITY,
            across,
            aimed: false,
        };
    }
    let (square, middle, own) = if power > 1.0 {
        let turn = o.perp_dot(n);
        let u = upright * o - z * n;
        let round = 1.0 - whole * z * z;
        (
            QuadraticForm {
                xx: round + stretch * (n.x * n.x + u.y * u.y) - whole * o.y * o.y,
                xy: stretch * (n.x * n.y - u.x * u.y) + whole * o.x * o.y,
                yy: round + stretch * (n.y * n.y + u.x * u.x) - whole * o.x * o.x,
            },
            stretch * upright * n + whole * z * o + stretch * turn * DVec2::new(u.y, -u.x),
            1.0 + stretch * (upright * upright + turn * turn) - whole * o.dot(o),
        )
    } else {
        let p = power * stretch;
        (
            QuadraticForm {
                xx: across.x * across.x - power - p * n.x * n.x,
                xy: across.x * across.y - p * n.x * n.y,
                yy: across.y * across.y - power - p * n.y * n.y,
            },
            ahead * across - p * upright * n,
            ahead * ahead - power - p * upright * upright,
        )
    };
    let scale = power * (s * c).powi(2);
    Cone {
        square: QuadraticForm { xx: s * s * square.xx, xy: s * s * square.xy, yy: s * s * square.yy },
        middle: s * c * middle,
        center: c * c * own,
        discriminant: QuadraticForm {
            xx: scale * (whole * (1.0 - o.y * o.y) - stretch * n.y * n.y),
            xy: scale * (whole * o.x * o.y + stretch * n.x * n.y),
            yy: scale * (whole * (1.0 - o.x * o.x) - stretch * n.x * n.x),
        },
        ahead: c * ahead,
        across: s * across,
        aimed: o.length() * c < z * s,
    }
}

/// Largest power at which a cone is half the sky. Its error and that of a cone are below 10⁻⁹ there for discs of less than 0.1 rad.
const ON_SURFACE: f64 = 4e-16;

impl Cone {
    fn is_half_sky(&self) -> bool {
        self.ahead == f64::INFINITY
    }

    /// Whether the centre of the disc is covered.
    pub(crate) fn covers_center(&self) -> bool {
        self.center >= 0.0 && self.ahead > 0.0
    }

    fn is_before(&self, turn: DVec2, tau: f64) -> bool {
        self.ahead + tau * self.across.dot(turn) > 0.0
    }

    /// The quadratic on the ring at `tau`, as a function of the direction: positive where the cone covers the ring.
    fn ring(&self, tau: f64) -> Wave {
        let wave = self.square.wave();
        let (square, once) = (tau * tau, 2.0 * tau * self.middle);
        Wave {
            constant: square * wave.constant + self.center,
            once: once.to_array(),
            twice: wave.twice.map(|part| square * part),
        }
    }

    /// Calls `take` with the directions in which the outline crosses the ring at `tau`, in front of the observer.
    pub(crate) fn crossings(&self, tau: f64, mut take: impl FnMut(f64)) {
        self.ring(tau).roots(|angle| {
            if self.is_before(DVec2::from_angle(angle), tau) {
                take(angle);
            }
        });
    }

    /// The quadratic at `tau` in a direction.
    fn value(&self, turn: DVec2, tau: f64) -> f64 {
        tau * (tau * self.square.at(turn) + 2.0 * self.middle.dot(turn)) + self.center
    }

    /// Whether the cone covers the point at `tau` in a direction.
    pub(crate) fn covers(&self, turn: DVec2, tau: f64) -> bool {
        self.value(turn, tau) >= 0.0 && self.is_before(turn, tau)
    }

    /// The directions in which the quadratic on the ring at `tau` is largest or smallest, at least nearby. The outline touches a ring in
    /// such directions.
    fn turning(&self, tau: f64) -> impl Iterator<Item = DVec2> {
        let Wave { once: [b1, c1], twice: [b2, c2], .. } = self.ring(tau);
        let slope = Wave { constant: 0.0, once: [c1, -b1], twice: [2.0 * c2, -2.0 * b2] };
        let (mut turns, mut count) = ([DVec2::ZERO; 10], 0);
        slope.roots(|angle| {
            turns[count] = DVec2::from_angle(angle);
            count += 1;
        });
        turns.into_iter().take(count)
    }

    /// Calls `take` with the rings that the outline touches, which may be more than once the same, or beyond the disc.
    ///
    /// The search starts from a ring that the outline certainly meets, however small the body is. In the direction in which that ring is
    /// deepest inside the body, the outline is nearer, or farther, than the ring. There the search goes on. The rings converge to the
    /// nearest and the farthest one, and their errors are squared in each step, because the distance of an outline is stationary there.
    pub(crate) fn touched_rings(&self, mut take: impl FnMut(f64)) {
        let around = self.covers_center();
        let edge = |turn: DVec2, is_far: bool| {
            let span = self.span(turn);
            (span.x < span.y).then_some(if is_far { span.y } else { span.x })
        };
        let converge = |from: f64, is_far: bool, next_turn: &mut dyn FnMut(f64) -> Option<DVec2>| {
            let mut tau = from;
            for _ in 0..40 {
                let Some(next) = next_turn(tau).and_then(|turn| edge(turn, is_far)) else { break };
                let step = (next - tau).abs();
                tau = next;
                if step <= 1e-15 * tau || tau >= 1.0 {
                    break;
                }
            }
            tau
        };
        // The line through the centre of the disc that is deepest inside the body.
        let [b, c] = self.discriminant.wave().twice;
        let turn = DVec2::from_angle(0.5 * c.atan2(b));
        let start = [turn, -turn].into_iter().filter_map(|turn| edge(turn, around)).fold(1.0, f64::min);
        let mut farthest = start;
        for is_farthest in [false, true] {
            let sign = if is_farthest || !around { 1.0 } else { -1.0 };
            farthest = converge(start, is_farthest || around, &mut |tau| {
                let depth = |turn: &DVec2| sign * self.value(*turn, tau);
                let before = self.turning(tau).filter(|turn| self.is_before(*turn, tau));
                before.max_by(|a, b| depth(a).total_cmp(&depth(b)))
            });
            take(farthest);
        }
        // A long outline around the centre or close to it touches two more rings, which are the nearest or farthest ones only nearby.
        // Larger rings have more of the directions.
        let farthest = farthest.min(1.0);
        if self.turning(farthest).count() > 2 {
            for mut turn in self.turning(farthest) {
                for is_far in [false, true] {
                    take(converge(farthest, is_far, &mut |tau| {
                        let close = self.turning(tau).max_by(|a, b| a.dot(turn).total_cmp(&b.dot(turn)));
                        turn = close.unwrap_or(turn);
                        close
                    }));
                }
            }
        }
    }

    /// Position of the cone relative to the disc. Adds the directions in which the quadratic changes sign at the rim to `rims`.
    pub(crate) fn extent(&self, rims: &mut Vec<f64>) -> Extent {
        let mut crosses = false;
        self.ring(1.0).roots(|angle| {
            crosses |= self.is_before(DVec2::from_angle(angle), 1.0);
            rims.push(angle);
        });
        if crosses {
            return Extent::Beyond;
        }
        if self.covers(DVec2::X, 1.0) {
            return Extent::Covers;
        }
        if self.aimed { Extent::Within } else { Extent::Apart }
    }

    /// The part of the disc that the cone covers, if its outline crosses the rim in two directions, `from` and `to`, and nowhere else.
    /// `None` where the outline on the disc is more than a half turn, or almost that.
    ///
    /// With `inner(τ) = τ² g(τ)`, the part is the integral of `g(|X|) X × dX` along its boundary: counterclockwise along the rim from A to B
    /// and back along the outline, which is `X(t) = B + t (A − B) + σ(t) n` with the outward normal n of the chord. The quadratic is `k t (1 − t)`
    /// on the chord. So `σ` is the root of `a σ² + 2 b(t) σ + k t (1 − t)` that is 0 at both ends, where it does not cancel.
    fn covered_by_boundary(&self, (c, s): (f64, f64), from: f64, to: f64) -> Option<f64> {
        let turn = (to - from).rem_euclid(TAU);
        let covered = [0.5 * turn, 0.5 * (turn + TAU)].map(|aside| self.covers(DVec2::from_angle(from + aside), 1.0));
        let (from, turn) = match covered {
            [true, false] => (from, turn),
            [false, true] => (to, TAU - turn),
            _ => return None,
        };
        let (a, b) = (DVec2::from_angle(from), DVec2::from_angle(from + turn));
        let (chord, length) = (a - b, a.distance(b));
        let outward = -chord.perp() / length;
        let slope_at = |point: DVec2| self.middle.dot(outward) + self.square.between(point, outward);
        let (slope, change) = (slope_at(b), slope_at(a) - slope_at(b));
        let (curve, k) = (self.square.at(outward), -self.square.at(chord));
        let is_before = self.is_before(a, 1.0) && self.is_before(b, 1.0);
        if !(is_before && length > 0.0 && k >= 0.0 && slope < 0.0 && slope + change < 0.0) {
            return None;
        }
        let (bare, offset) = (b.perp_dot(chord), b.perp_dot(outward));
        let mut along = |t: f64| {
            let (slope, height) = (slope + t * change, k * t * (1.0 - t));
            let root = (slope * slope - curve * height).max(0.0).sqrt();
            let sigma = height / (root - slope);
            let rise = (change * sigma + k * (0.5 - t)) / root;
            let point = b + t * chord + sigma * outward;
            let w = (c * c + s * s * point.length_squared()).sqrt();
            (1.0 + c) / (w * (w + c)) * (bare + rise * (offset - t * length) + sigma * length)
        };
        let part = (turn + halved(&mut along, 0.0, 1.0, 1e-13)) / TAU;
        part.is_finite().then_some(part)
    }

    /// The interval of `τ` that the cone covers in a direction; empty if its start is not below its end.
    fn span(&self, turn: DVec2) -> DVec2 {
        let (a, b, c) = (self.square.at(turn), self.middle.dot(turn), self.center);
        let reach = if self.is_half_sky() { b * b } else { self.discriminant.at(turn) };
        let h = reach.max(0.0).sqrt();
        let far = if a < 0.0 { (b + h) / -a } else { f64::INFINITY };
        if self.covers_center() {
            return DVec2::new(0.0, if b < 0.0 { c / (h - b) } else { far });
        }
        // Result for a line that misses the body, or on which the body is on the opposite side of the disc's centre or behind the observer.
        const NOTHING: DVec2 = DVec2::ONE;
        if reach < 0.0 || (a < 0.0 && (b <= 0.0 || c >= 0.0)) {
            return NOTHING;
        }
        let near = if b > 0.0 { -c / (b + h) } else { (h - b) / a };
        let before = if a < 0.0 { self.is_before(turn, near) } else { self.across.dot(turn) > 0.0 };
        if before { DVec2::new(near.max(0.0), far) } else { NOTHING }
    }
}

/// Fraction of the disc's solid angle between its centre and `τ`, in one direction. The disc is given by the cosine and sine of its radius.
fn inner((c, s): (f64, f64), tau: f64) -> f64 {
    if tau >= 1.0 {
        return 1.0;
    }
    let w = (c * c + tau * tau * s * s).sqrt();
    tau * tau * (1.0 + c) / (w * (w + c))
}

/// Scratch memory of [`uncovered_by_cones`].
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    spans: Vec<DVec2>,
    ends: Vec<f64>,
}

/// Fraction of the disc that no cone covers, 0…1. `rims` has what [`Cone::extent`] added for each cone.
pub(crate) fn uncovered_by_cones(scratch: &mut Scratch, disc: Disc, cones: &[Cone], rims: &[f64]) -> f64 {
    let Scratch { spans, ends } = scratch;
    let radius = (disc.radius.cos(), disc.radius.sin());
    if let ([one], &[from, to]) = (cones, rims)
        && let Some(part) = one.covered_by_boundary(radius, from, to)
    {
        return (1.0 - part).clamp(0.0, 1.0);
    }
    ends.clear();
    ends.extend(rims);
    for (i, one) in cones.iter().enumerate() {
        if !one.covers_center() {
            one.discriminant.wave().roots_of_period(|angle| ends.push(angle));
        }
        // Further pairs are skipped: the subdivision of the quadrature locates their intersections.
        for other in cones[..i].iter().take(MOST_PAIRS) {
            // The resultant has a period of half a turn. The opposite of a direction at an odd number of fifths of half a turn is one at
            // an even number.
            let meeting = |i: usize| meeting(one, other, DVec2::from_array(FIFTHS[3 * i % 5]));
            Wave::through([0, 1, 2, 3, 4].map(meeting)).roots(|twice| {
                ends.extend([0.5 * twice, 0.5 * twice + PI]);
            });
        }
    }
    for end in ends.iter_mut() {
        *end = end.rem_euclid(TAU);
    }
    ends.sort_unstable_by(f64::total_cmp);
    ends.dedup();
    let first = ends.first().copied().unwrap_or(0.0);
    ends.push(first + TAU);
    let mut open = |angle: f64| open(spans, radius, cones, DVec2::from_angle(angle));
    let mut sum = 0.0;
    let mut from = first;
    for &to in ends.iter() {
        if to > from {
            // Where one direction between two ends is covered completely or not at all, all of them are.
            let middle = open(0.5 * (from + to));
            let is_constant = middle == 1.0 || (middle == 0.0 && cones.len() <= MOST_PAIRS);
            sum += if is_constant { middle * (to - from) } else { integral(&mut open, from, to, 2e-10) };
        }
        from = to;
    }
    (sum / TAU).clamp(0.0, 1.0)
}

/// Maximum number of other cones whose intersections with a cone are computed.
const MOST_PAIRS: usize = 32;

/// Resultant of the quadratics of two cones along a direction: zero where their outlines intersect on that line.
fn meeting(a: &Cone, b: &Cone, turn: DVec2) -> f64 {
    let (a2, b2) = (a.square.at(turn), b.square.at(turn));
    let (a1, b1) = (a.middle.dot(turn), b.middle.dot(turn));
    let outer = a2 * b.center - b2 * a.center;
    outer * outer - 4.0 * (a2 * b1 - b2 * a1) * (a1 * b.center - b1 * a.center)
}

/// Uncovered fraction of the disc, in one direction.
fn open(spans: &mut Vec<DVec2>, disc: (f64, f64), cones: &[Cone], turn: DVec2) -> f64 {
    if let [cone] = cones {
        let span = cone.span(turn);
        return 1.0 - (inner(disc, span.y) - inner(disc, span.x)).max(0.0);
    }
    spans.clear();
    spans.extend(cones.iter().map(|cone| cone.span(turn)));
    spans.sort_unstable_by(|a, b| a.x.total_cmp(&b.x));
    let mut open = 0.0;
    let mut reached = 0.0;
    for span in spans.iter() {
        if span.x > reached && reached < 1.0 {
            open += inner(disc, span.x) - inner(disc, reached);
        }
        reached = reached.max(span.y);
    }
    open + 1.0 - inner(disc, reached)
}

/// Nodes of the 15-point Kronrod rule, their weights, and the weights of the embedded 7-point Gauss rule.
const RULE: [(f64, f64, f64); 8] = [
    (0.991_455_371_120_812_6, 0.022_935_322_010_529_224, 0.0),
    (0.949_107_912_342_758_5, 0.063_092_092_629_978_56, 0.129_484_966_168_869_7),
    (0.864_864_423_359_769_1, 0.104_790_010_322_250_19, 0.0),
    (0.741_531_185_599_394_4, 0.140_653_259_715_525_92, 0.279_705_391_489_276_64),
    (0.586_087_235_467_691_1, 0.169_004_726_639_267_9, 0.0),
    (0.405_845_151_377_397_2, 0.190_350_578_064_785_4, 0.381_830_050_505_118_9),
    (0.207_784_955_007_898_47, 0.204_432_940_075_298_9, 0.0),
    (0.0, 0.209_482_141_084_727_82, 0.417_959_183_673_469_4),
];

/// Integral between two directions, or two rings. Where the integrand behaves like a square root at the ends, a substitution whose
/// derivative vanishes at both ends makes it analytic.
pub(crate) fn integral(open: &mut dyn FnMut(f64) -> f64, from: f64, to: f64, tolerance: f64) -> f64 {
    let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
    let mut at = |u: f64| 1.5 * half * (1.0 - u * u) * open(middle + 0.5 * half * u * (3.0 - u * u));
    halved(&mut at, -1.0, 1.0, tolerance)
}

/// Integral of an analytic function: the interval is halved until both rules agree, at most 40 times.
pub(crate) fn halved(at: &mut dyn FnMut(f64) -> f64, from: f64, to: f64, tolerance: f64) -> f64 {
    let mut left = MOST_HALVINGS;
    halved_again(at, from, to, tolerance, 40, &mut left)
}

/// Maximum number of intervals that are halved: a thousand kinks take half of them. Where rounding makes an integrand noise, the rules never
/// agree.
const MOST_HALVINGS: u32 = 1 << 16;

fn halved_again(at: &mut dyn FnMut(f64) -> f64, from: f64, to: f64, tolerance: f64, depth: u32, left: &mut u32) -> f64 {
    let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
    let (mut fine, mut coarse) = (0.0, 0.0);
    for (node, weight, weight_of_coarse) in RULE {
        let value = if node > 0.0 { at(middle - half * node) + at(middle + half * node) } else { at(middle) };
        fine += weight * value;
        coarse += weight_of_coarse * value;
    }
    // The error of the finer rule is estimated as the difference of the rules to the power of 1.5, or less (Piessens et al., QUADPACK).
    if half * (fine - coarse).abs() < tolerance || depth == 0 || *left == 0 {
        return half * fine;
    }
    *left -= 1;
    halved_again(at, from, middle, tolerance, depth - 1, left)
        + halved_again(at, middle, to, tolerance, depth - 1, left)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An integrand that the rules never agree on takes a second, not 2⁴⁰ evaluations.
    #[test]
    fn the_integral_of_noise_ends() {
        let (mut bits, mut count) = (1_u64, 0_u64);
        let mut noise = |_: f64| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            count += 1;
            (bits >> 63) as f64
        };
        let found = halved(&mut noise, 0.0, 1.0, 1e-13);
        assert!((found - 0.5).abs() < 0.1, "{found}");
        assert!(count <= 15 * (2 * u64::from(MOST_HALVINGS) + 1), "{count}");
    }
}
