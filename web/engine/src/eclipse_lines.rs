//! Lines of an eclipse on the Earth that only a picture needs: the outline of the umbra, the limits of the partial eclipse, and where the
//! Sun is at the horizon. They are within 0.3 km of the library's contacts, which have the light time between Moon and ground as well.

use std::f64::consts::{PI, TAU};

use umbracast::glam::DVec3;
use umbracast_sky::{Place, Time};

use crate::sky::Known;

/// Longest time between two instants of a line.
const STEP_S: f64 = 30.0;
/// Shortest time, which places the ends of lines.
const SHORT_S: f64 = 0.05;
/// Points of a line are nearer to each other than this. Two points that appear between two directions are nearer as well.
const NEAR_KM: f64 = 500.0;
/// Directions along an arc that are tried for a change of sign.
const DIRECTIONS: u32 = 360;
/// The arc of all directions.
const CIRCLE: (f64, f64) = (0.0, TAU);

type Line = Vec<(Time, Place)>;

/// Equatorial and polar radius of the Earth in km, from the library's places.
fn ellipsoid() -> DVec3 {
    let place = |latitude: f64| Place { latitude, ..Place::default() }.earth_fixed_km();
    let (equator, pole) = (place(0.0).x, place(90.0).z);
    DVec3::new(equator, equator, pole)
}

/// The place of a point of the ground.
fn ground(point: DVec3) -> Place {
    Place { height_m: 0.0, ..Place::from_earth_fixed_km(point) }
}

/// The distance between the edges of the discs at a place in radians, negative during the eclipse.
fn gap(known: &Known, time: Time) -> impl Fn(DVec3) -> f64 {
    let ((sun, moon), radii) = (known.eclipse.earth_fixed(time), known.radii());
    move |place| {
        let (sun, moon) = (sun - place, moon - place);
        let half = |radius: f64, distance: f64| (radius / distance).asin();
        sun.angle_between(moon) - half(radii.sun_km, sun.length()) - half(radii.moon_partial_km, moon.length())
    }
}

/// How fast the gap closes or opens at a place, in radians per second.
fn rate(known: &Known, time: Time) -> impl Fn(DVec3) -> f64 {
    let [before, after] = [-1.0, 1.0].map(|seconds| gap(known, time.plus(seconds)));
    move |place| 0.5 * (after(place) - before(place))
}

/// The angle of direction `i` of `count` along an arc: directions are denser near its ends, where the edge of a cone touches the ground.
fn direction((from, to): (f64, f64), i: u32, count: u32) -> f64 {
    from + (to - from) * 0.5 * (1.0 - (PI * f64::from(i) / f64::from(count)).cos())
}

/// The angles of an arc at which a function changes its sign, by bisection.
fn roots(arc: (f64, f64), function: &dyn Fn(f64) -> f64) -> Vec<f64> {
    let is_low = |angle: f64| function(angle) < 0.0;
    let angles: Vec<(f64, bool)> =
        (0..=DIRECTIONS).map(|i| direction(arc, i, DIRECTIONS)).map(|a| (a, is_low(a))).collect();
    let changes = angles.windows(2).filter(|pair| pair[0].1 != pair[1].1);
    let between = |pair: &[(f64, bool)]| {
        let (mut low, mut high) = (pair[0].0, pair[1].0);
        for _ in 0..25 {
            let middle = 0.5 * (low + high);
            *if is_low(middle) == pair[0].1 { &mut low } else { &mut high } = middle;
        }
        0.5 * (low + high)
    };
    changes.map(between).collect()
}

/// Lines of the points that `points` finds at each instant, from the beginning to the end of the eclipse. A point continues the nearest line.
/// Where points are far from those before, or not as many, there are more instants between the two.
fn follow(known: &Known, points: &dyn Fn(Time) -> Vec<DVec3>) -> Vec<Line> {
    let is_near = |a: &[DVec3], b: &[DVec3]| {
        a.len() == b.len() && b.iter().all(|one| a.iter().any(|other| one.distance(*other) < NEAR_KM))
    };
    let mut lines: Vec<Vec<(Time, DVec3)>> = Vec::new();
    let (mut before, mut old) = (known.eclipse.begins.0, Vec::new());
    let end = known.eclipse.ends.0;
    let mut ahead = vec![(end, points(end))];
    while let Some((time, found)) = ahead.pop() {
        let elapsed = time.seconds_since(before);
        if elapsed > STEP_S || (elapsed > SHORT_S && !is_near(&old, &found)) {
            let middle = before.plus(0.5 * elapsed);
            ahead.extend([(time, found), (middle, points(middle))]);
            continue;
        }
        let mut rest = found.clone();
        // The nearest pairs of a line and a point come first.
        loop {
            let mut nearest = (NEAR_KM, None);
            for (i, line) in lines.iter().enumerate() {
                let Some(&(last, end)) = line.last() else { continue };
                for (k, point) in rest.iter().enumerate() {
                    let distance = end.distance(*point);
                    if last == before && distance < nearest.0 {
                        nearest = (distance, Some((i, k)));
                    }
                }
            }
            let Some((i, k)) = nearest.1 else { break };
            lines[i].push((time, rest.swap_remove(k)));
        }
        lines.extend(rest.into_iter().map(|point| vec![(time, point)]));
        (before, old) = (time, found);
    }
    let placed = |line: Vec<_>| line.into_iter().map(|(time, point)| (time, ground(point))).collect();
    join(lines).into_iter().map(placed).collect()
}

/// Joins lines that begin near each other at the same instant, or end so: there, one line turns back in time.
fn join(mut lines: Vec<Vec<(Time, DVec3)>>) -> Vec<Vec<(Time, DVec3)>> {
    let meets = |a: Option<&(Time, DVec3)>, b: Option<&(Time, DVec3)>| {
        a.zip(b).is_some_and(|(a, b)| a.0 == b.0 && a.1.distance(b.1) < NEAR_KM)
    };
    let mut joined = Vec::new();
    while let Some(mut line) = lines.pop() {
        // At its end, and then at its beginning.
        for _ in 0..2 {
            while let Some(i) =
                lines.iter().position(|other| meets(line.last(), other.first()) || meets(line.last(), other.last()))
            {
                let mut other = lines.swap_remove(i);
                if meets(line.last(), other.last()) {
                    other.reverse();
                }
                line.extend(other);
            }
            line.reverse();
        }
        if meets(line.last(), line.first()) {
            line.extend_from_within(..1);
        }
        joined.push(line);
    }
    joined.retain(|line| line.len() > 2);
    joined
}

/// The places at which the Sun is at the horizon: a circle of the directions that are at right angles to that of the Sun.
struct Terminator {
    axes: [DVec3; 2],
    size: DVec3,
}

impl Terminator {
    fn new(known: &Known, time: Time) -> Self {
        let sun = known.eclipse.earth_fixed(time).0.normalize();
        let east = DVec3::Z.cross(sun).normalize();
        Self { axes: [east, sun.cross(east)], size: ellipsoid() }
    }

    /// The place whose zenith is in this direction of the circle.
    fn at(&self, angle: f64) -> DVec3 {
        let zenith = self.axes[0] * angle.cos() + self.axes[1] * angle.sin();
        let scaled = self.size * zenith;
        self.size * scaled / scaled.length()
    }
}

/// Where the eclipse begins or ends with the Sun at the horizon, and where its maximum is there.
pub(crate) fn horizon_lines(known: &Known) -> (Vec<Line>, Vec<Line>) {
    let edges = |time: Time| {
        let (circle, gap) = (Terminator::new(known, time), gap(known, time));
        roots(CIRCLE, &|angle| gap(circle.at(angle))).into_iter().map(|angle| circle.at(angle)).collect()
    };
    let middles = |time: Time| {
        let (circle, gap, rate) = (Terminator::new(known, time), gap(known, time), rate(known, time));
        let turns = roots(CIRCLE, &|angle| rate(circle.at(angle)));
        turns.into_iter().map(|angle| circle.at(angle)).filter(|point| gap(*point) < 0.0).collect()
    };
    (follow(known, &edges), follow(known, &middles))
}

/// The edge of a cone of shadow at an instant.
struct Cone {
    moon: DVec3,
    axis: DVec3,
    across: [DVec3; 2],
    /// Radius of the cone at the Moon, and how fast it grows.
    radius: f64,
    slope: f64,
    size: DVec3,
}

impl Cone {
    /// The penumbra, or the umbra, whose edges have crossed the axis in an antumbra.
    fn new(known: &Known, time: Time, is_penumbra: bool) -> Self {
        let (sun, moon) = known.eclipse.earth_fixed(time);
        let radii = known.radii();
        let axis = (moon - sun).normalize();
        let moon_km = if is_penumbra { radii.moon_partial_km } else { radii.moon_central_km };
        let sine = (radii.sun_km + if is_penumbra { moon_km } else { -moon_km }) / (moon - sun).length();
        let cosine = (1.0 - sine * sine).sqrt();
        let east = DVec3::Z.cross(axis).normalize();
        let growth = if is_penumbra { sine } else { -sine };
        Self {
            moon,
            axis,
            across: [east, axis.cross(east)],
            radius: moon_km / cosine,
            slope: growth / cosine,
            size: ellipsoid(),
        }
    }

    /// Where the edge meets the ground first in a direction across the axis, and how far it is inside: below 0, this is where the edge passes
    /// the ground.
    fn at(&self, angle: f64) -> (DVec3, f64) {
        let across = self.across[0] * angle.cos() + self.across[1] * angle.sin();
        let (point, direction) = (self.moon + across * self.radius, self.axis + across * self.slope);
        let (point, direction) = (point / self.size, (direction / self.size).normalize());
        let foot = point - direction * point.dot(direction);
        let inside = 1.0 - foot.length_squared();
        ((foot - direction * inside.max(0.0).sqrt()) * self.size, inside)
    }

    /// The arcs of the directions in which the edge meets the ground.
    fn arcs(&self) -> Vec<(f64, f64)> {
        let inside = |angle: f64| self.at(angle).1;
        let ends = roots(CIRCLE, &inside);
        let arcs: Vec<(f64, f64)> = match ends.first() {
            None => vec![CIRCLE],
            Some(first) => ends.iter().copied().zip(ends.iter().copied().skip(1).chain([first + TAU])).collect(),
        };
        arcs.into_iter().filter(|(from, to)| inside(0.5 * (from + to)) > 0.0).collect()
    }
}

/// The outline of the umbra or the antumbra on the ground, without the parts that miss the Earth.
pub(crate) fn outline(known: &Known, time: Time) -> Vec<Vec<Place>> {
    const POINTS: u32 = 180;
    let cone = Cone::new(known, time, false);
    let part = |arc| (0..=POINTS).map(|i| ground(cone.at(direction(arc, i, POINTS)).0)).collect();
    cone.arcs().into_iter().map(part).collect()
}

/// The northern and southern limits of the partial eclipse: where the penumbra's edge passes along itself.
pub(crate) fn partial_limits(known: &Known) -> Vec<Line> {
    follow(known, &|time| {
        let (cone, rate) = (Cone::new(known, time, true), rate(known, time));
        let at = |angle| cone.at(angle).0;
        cone.arcs().into_iter().flat_map(|arc| roots(arc, &|angle| rate(at(angle)))).map(at).collect()
    })
}
