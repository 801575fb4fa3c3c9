//! When bodies touch, cover and leave the disc of a light, for an observer who moves.
//!
//! Two functions of time decide. `outer` is how far, as an angle, the edge of a body reaches over the nearest point of the rim of the disc,
//! and `inner` over the farthest point of the rim. The body touches the disc where `outer` is positive and covers it where `inner` is. A
//! spheroid is compared in the space that is stretched along its pole, in which it is a sphere and the directions to the rim are not a circle.

use glam::DVec3;
use umbracast::shadow::{Ball, ShadowKind, ShadowRow, Spheroid};

use crate::roots::root;

/// A time during which a body hides part of the light, or all of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShadowInterval {
    /// Index of the body in the rows.
    pub body: usize,
    /// Kind of coverage by this body alone; never lit.
    pub kind: ShadowKind,
    /// The first instant. If [`begins_earlier`](Self::begins_earlier), the first given time.
    pub begins: f64,
    /// The last instant. If [`ends_later`](Self::ends_later), the last given time.
    pub ends: f64,
    /// Whether the interval began before the first given time.
    pub begins_earlier: bool,
    /// Whether it ends after the last given time.
    pub ends_later: bool,
}

impl ShadowInterval {
    /// The part between two times, if there is any.
    pub(crate) fn within(self, [first, last]: [f64; 2]) -> Option<Self> {
        let (begins, ends) = (self.begins.max(first), self.ends.min(last));
        (begins < ends).then_some(Self {
            begins,
            ends,
            begins_earlier: self.begins_earlier || self.begins < first,
            ends_later: self.ends_later || self.ends > last,
            ..self
        })
    }
}

/// Tolerance of an instant, in the unit of the times.
const TOLERANCE: f64 = 1e-7;
/// Length to which an extremum is narrowed.
const NARROW: f64 = 1e-3;
/// Part of the difference to the next sample by which an extremum may exceed a sample. It is a quarter for a parabola, and half for a corner.
const OVERSHOOT: f64 = 0.6;

/// The intervals during which each body hides part of the light, in order of body and time. `times` are ascending samples, in seconds, dense
/// enough that nothing turns twice between three of them. `row(i, time, row)` writes the arrangement at a time from `times[i]` to `times[i + 1]`
/// over an earlier one; the number of bodies is constant, and all numbers are valid.
///
/// Instants are roots to 10⁻⁷ s. An interval between two samples is found if it is longer than a millisecond. Bodies farther away than the light do
/// not count.
///
/// ```
/// use umbracast_sky::shadow_intervals;
/// use umbracast::shadow::{Ball, ShadowKind, ShadowRow};
///
/// // An observer who passes behind a ball: the light is very far away.
/// let times = [-100.0, -50.0, 0.0, 50.0, 100.0];
/// let found = shadow_intervals(&times, &|_, time, row: &mut ShadowRow| {
///     *row = ShadowRow::new([time, 0.0, 0.0], Ball::new([0.0, 0.0, 1e9], 1e6), [Ball::new([0.0, 0.0, 1e3], 30.0).into()]);
/// });
/// let kinds: Vec<_> = found.iter().map(|one| one.kind).collect();
/// assert_eq!(kinds, [ShadowKind::Penumbra, ShadowKind::Umbra, ShadowKind::Penumbra]);
/// assert!((found[1].begins + 29.0).abs() < 0.1 && (found[1].ends - 29.0).abs() < 0.1);
/// ```
pub fn shadow_intervals(times: &[f64], row: &dyn Fn(usize, f64, &mut ShadowRow)) -> Vec<ShadowInterval> {
    let mut scene = ShadowRow::new([0.0; 3], Ball::new([0.0; 3], 1.0), []);
    let mut samples: Vec<Vec<Sample>> = Vec::new();
    for (i, &time) in times.iter().enumerate() {
        row(i.min(times.len().saturating_sub(2)), time, &mut scene);
        samples.resize(scene.bodies.len(), Vec::new());
        for (own, body) in samples.iter_mut().zip(&scene.bodies) {
            own.push(Sample::of(&scene, body));
        }
    }
    let mut found = Vec::new();
    for (body, samples) in samples.iter().enumerate() {
        Passage { times, row, body, samples }.intervals(&mut found);
    }
    found
}

/// How far a body reaches over the rim of the disc, in radians: over its nearest point, and over its farthest point.
#[derive(Clone, Copy, Debug)]
struct Reach {
    outer: f64,
    inner: f64,
}

impl Reach {
    fn part(self, is_inner: bool) -> f64 {
        if is_inner { self.inner } else { self.outer }
    }
}

/// The reach at a sample. For a spheroid, it may be that of a sphere with the same signs.
#[derive(Clone, Copy, Debug)]
struct Sample {
    reach: Reach,
    /// By how much the values of the spheroid may be farther from 0; they are not nearer.
    slack: f64,
    /// Whether the body is smaller than the disc.
    is_small: bool,
}

/// Reach of a body that is behind the light.
const BEHIND: Reach = Reach { outer: -1.0, inner: -1.0 };

impl Sample {
    fn of(row: &ShadowRow, body: &Spheroid) -> Self {
        let around = reach_of_ball(row, body.center, body.radius.max(body.polar_radius));
        let (reach, slack) = if body.radius == body.polar_radius {
            (around, 0.0)
        } else {
            let within = reach_of_ball(row, body.center, body.radius.min(body.polar_radius));
            let is_decided = |is_inner: bool| around.part(is_inner) < 0.0 || within.part(is_inner) > 0.0;
            if is_decided(false) && is_decided(true) {
                let part = |of: fn(Reach) -> f64| if of(around) < 0.0 { of(around) } else { of(within) };
                let reach = Reach { outer: part(|reach| reach.outer), inner: part(|reach| reach.inner) };
                (reach, around.outer - within.outer)
            } else {
                (reach_of(row, body), 0.0)
            }
        };
        let of = |ball: Ball| limb(ball.radius, ball.center.distance_squared(row.observer));
        let is_small = of(Ball { center: body.center, radius: body.radius.max(body.polar_radius) }) < of(row.light);
        Self { reach, slack, is_small }
    }
}

/// Whether the centre of a body is on the disc.
fn is_aimed(row: &ShadowRow, body: &Spheroid) -> bool {
    let (light, center) = (row.light.center - row.observer, body.center - row.observer);
    let tangent = (light.length_squared() - row.light.radius * row.light.radius).max(0.0).sqrt();
    angle_between(light, center) < row.light.radius.atan2(tangent)
}

/// Angle between two vectors, without cancellation.
fn angle_between(a: DVec3, b: DVec3) -> f64 {
    a.cross(b).length().atan2(a.dot(b))
}

/// Angular radius of a ball from its radius and the square of its distance.
fn limb(radius: f64, square: f64) -> f64 {
    radius.atan2((square - radius * radius).max(0.0).sqrt())
}

/// The reach of a sphere in closed form.
fn reach_of_ball(row: &ShadowRow, center: DVec3, radius: f64) -> Reach {
    let (light, center) = (row.light.center - row.observer, center - row.observer);
    if center.length_squared() >= light.length_squared() {
        return BEHIND;
    }
    let (own, disc) = (limb(radius, center.length_squared()), limb(row.light.radius, light.length_squared()));
    let apart = angle_between(light, center);
    Reach { outer: own - (apart - disc).abs(), inner: own - (apart + disc) }
}

/// The reach of any body.
fn reach_of(row: &ShadowRow, body: &Spheroid) -> Reach {
    if body.radius == body.polar_radius {
        return reach_of_ball(row, body.center, body.radius);
    }
    let (light, center) = (row.light.center - row.observer, body.center - row.observer);
    if center.length_squared() >= light.length_squared() {
        return BEHIND;
    }
    let pole = body.pole.normalize();
    let stretch = body.radius / body.polar_radius - 1.0;
    let stretched = |v: DVec3| v + pole * (stretch * v.dot(pole));
    let center = stretched(center);
    let own = limb(body.radius, center.length_squared());
    let disc = limb(row.light.radius, light.length_squared());
    let axis = light.normalize();
    let (x, y) = axis.any_orthonormal_pair();
    let (sine, cosine) = disc.sin_cos();
    let [axis, x, y] = [stretched(axis * cosine), stretched(x * sine), stretched(y * sine)];
    let rim = Rim { axis, x, y, center };
    let over = |turn: f64| own - angle_between(rim.direction(turn), center);
    Reach { outer: over(rim.extreme(1.0)), inner: over(rim.extreme(-1.0)) }
}

/// The directions to the rim of the disc, in the stretched space: `axis + x cos + y sin`.
struct Rim {
    axis: DVec3,
    x: DVec3,
    y: DVec3,
    center: DVec3,
}

impl Rim {
    fn direction(&self, turn: f64) -> DVec3 {
        let (sine, cosine) = turn.sin_cos();
        self.axis + self.x * cosine + self.y * sine
    }

    /// Cosine of the angle between a direction of the rim and the body's centre, times the distance of the centre, with two derivatives.
    fn cosine(&self, turn: f64) -> [f64; 3] {
        let (sine, cosine) = turn.sin_cos();
        let way = self.axis + self.x * cosine + self.y * sine;
        let (first, second) = (self.y * cosine - self.x * sine, -self.x * cosine - self.y * sine);
        let length = way.length();
        let slope = way.dot(first) / length;
        let bend = (first.length_squared() + way.dot(second) - slope * slope) / length;
        let value = way.dot(self.center) / length;
        let derivative = (first.dot(self.center) - value * slope) / length;
        [value, derivative, (second.dot(self.center) - 2.0 * derivative * slope - value * bend) / length]
    }

    /// The direction of the rim nearest to the body's centre (`sign` 1) or farthest from it (−1): the best of eight, and Newton's method.
    fn extreme(&self, sign: f64) -> f64 {
        const STEP: f64 = std::f64::consts::FRAC_PI_4;
        let start = (0..8).map(|i| STEP * f64::from(i));
        let best = start.max_by(|a, b| (sign * self.cosine(*a)[0]).total_cmp(&(sign * self.cosine(*b)[0])));
        let mut turn = best.unwrap_or(0.0);
        for _ in 0..12 {
            let [_, first, second] = self.cosine(turn);
            // Where the function bends the wrong way, a step uphill.
            let step = if sign * second < 0.0 { -first / second } else { sign * STEP * first.signum() };
            let step = step.clamp(-0.5 * STEP, 0.5 * STEP);
            turn += step;
            // The error of the value is the square of this.
            if step.abs() < 1e-9 {
                break;
            }
        }
        turn
    }
}

/// One body, whose intervals are wanted.
struct Passage<'a> {
    times: &'a [f64],
    row: &'a dyn Fn(usize, f64, &mut ShadowRow),
    body: usize,
    samples: &'a [Sample],
}

impl Passage<'_> {
    /// The reach between the samples `i` and `i + 2`.
    fn reach(&self, i: usize, time: f64) -> Reach {
        self.at(i, time, reach_of)
    }

    fn at<T>(&self, i: usize, time: f64, of: impl FnOnce(&ShadowRow, &Spheroid) -> T) -> T {
        let mut row = ShadowRow::new([0.0; 3], Ball::new([0.0; 3], 1.0), []);
        let is_later = i + 2 < self.times.len() && time > self.times[i + 1];
        (self.row)(i + usize::from(is_later), time, &mut row);
        of(&row, &row.bodies[self.body])
    }

    /// Adds the intervals.
    fn intervals(&self, found: &mut Vec<ShadowInterval>) {
        let mut ends = Vec::new();
        for is_inner in [false, true] {
            self.crossings(is_inner, &mut ends);
        }
        ends.sort_unstable_by(f64::total_cmp);
        let (Some(&first), Some(&last)) = (self.times.first(), self.times.last()) else { return };
        let mut begins = first;
        let before = found.len();
        for ends in ends.into_iter().chain([last]) {
            if ends <= begins {
                continue;
            }
            let kind = self.kind(self.within(begins, ends));
            match found[before..].last_mut() {
                // A root that changed nothing, such as of a body that only touched the rim.
                Some(last) if last.ends == begins && last.kind == kind => last.ends = ends,
                _ if kind == ShadowKind::Lit => {}
                _ => found.push(ShadowInterval {
                    body: self.body,
                    kind,
                    begins,
                    ends,
                    begins_earlier: begins == first,
                    ends_later: false,
                }),
            }
            begins = ends;
        }
        if let Some(one) = found[before..].last_mut() {
            one.ends_later = one.ends == last;
        }
    }

    /// A time between two others: the sample nearest to their middle if there is one, so that no interval contradicts its samples.
    fn within(&self, begins: f64, ends: f64) -> f64 {
        let middle = 0.5 * (begins + ends);
        let next = self.times.partition_point(|sample| *sample < middle);
        let near = [next.checked_sub(1), Some(next)].into_iter().flatten().filter_map(|i| self.times.get(i).copied());
        let inside = near.filter(|time| begins + TOLERANCE < *time && *time < ends - TOLERANCE);
        inside.min_by(|a, b| (a - middle).abs().total_cmp(&(b - middle).abs())).unwrap_or(middle)
    }

    /// The kind of coverage at a time.
    fn kind(&self, time: f64) -> ShadowKind {
        let i = self.times.partition_point(|sample| *sample <= time).saturating_sub(1);
        self.at(i.min(self.times.len().saturating_sub(2)), time, |row, body| {
            let Reach { outer, inner } = reach_of(row, body);
            match (outer > 0.0, inner > 0.0) {
                (_, true) => ShadowKind::Umbra,
                (true, false) => ShadowKind::Penumbra,
                (false, false) if outer > BEHIND.outer && is_aimed(row, body) => ShadowKind::Antumbra,
                (false, false) => ShadowKind::Lit,
            }
        })
    }

    /// Adds the times at which one of the functions changes its sign.
    fn crossings(&self, is_inner: bool, ends: &mut Vec<f64>) {
        let (times, samples) = (self.times, self.samples);
        let value = |i: usize| samples[i].reach.part(is_inner);
        let exact = |i: usize| move |time: f64| self.reach(i, time).part(is_inner);
        for i in 1..times.len() {
            if (value(i) < 0.0) != (value(i - 1) < 0.0) {
                ends.push(root(exact(i - 1), times[i - 1], times[i], TOLERANCE));
            }
        }
        for (i, sample) in samples.iter().enumerate() {
            // A sample that is nearest to zero among its neighbours, all on the same side, near enough that the function may reach zero.
            let (first, last) = (i.saturating_sub(1), (i + 1).min(times.len() - 1));
            let here = sample.reach.part(is_inner);
            let mut rise = 0.0_f64;
            let is_extreme = [first, last].into_iter().all(|other| {
                let more = value(other).abs() + samples[other].slack - here.abs();
                rise = rise.max(more);
                (value(other) < 0.0) == (here < 0.0) && more >= 0.0
            });
            // A body that is larger than the disc has a positive `outer` from its first contact to its last.
            let can_dip = is_inner || here < 0.0 || sample.is_small;
            if is_extreme && can_dip && here.abs() <= OVERSHOOT * rise {
                self.search(is_inner, first, times[last], ends);
            }
        }
    }

    /// Adds the two roots between sample `first` and `end`, where the function has the same sign, if it reaches zero in between.
    fn search(&self, is_inner: bool, first: usize, end: f64, ends: &mut Vec<f64>) {
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        let begin = self.times[first];
        let exact = |time: f64| self.reach(first, time).part(is_inner);
        let sign = if exact(begin) < 0.0 { 1.0 } else { -1.0 };
        // The greatest value of a function that is negative at both ends.
        let f = |time: f64| sign * exact(time);
        let (mut low, mut high) = (begin, end);
        let (mut a, mut b) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
        let (mut at_a, mut at_b) = (f(a), f(b));
        loop {
            let (best, top) = if at_a > at_b { (a, at_a) } else { (b, at_b) };
            if top > 0.0 {
                ends.extend([root(exact, begin, best, TOLERANCE), root(exact, best, end, TOLERANCE)]);
                return;
            }
            if high - low < NARROW {
                return;
            }
            if at_a > at_b {
                (high, b, at_b) = (b, a, at_a);
                a = high - GOLDEN * (high - low);
                at_a = f(a);
            } else {
                (low, a, at_a) = (a, b, at_b);
                b = low + GOLDEN * (high - low);
                at_b = f(b);
            }
        }
    }
}
