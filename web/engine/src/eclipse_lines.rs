//! Lines of an eclipse on the Earth that only a picture needs: the outline of the umbra, the limits of the partial eclipse, and where the
//! Sun is at the horizon. They are within 0.3 km of the library's contacts, which have the light time between Moon and ground as well.

use std::f64::consts::TAU;

use umbracast::glam::DVec3;
use umbracast_sky::{Place, Time};

use crate::sky::Known;

/// Seconds between the instants of a line.
const STEP_S: f64 = 30.0;
/// Directions around a circle that are tried for a change of sign.
const DIRECTIONS: u32 = 180;

type Line = Vec<(Time, Place)>;

/// Equatorial and polar radius of the Earth in km, from the library's places.
fn ellipsoid() -> DVec3 {
    let place = |latitude: f64| Place { latitude, ..Place::default() }.earth_fixed_km();
    let (equator, pole) = (place(0.0).x, place(90.0).z);
    DVec3::new(equator, equator, pole)
}

/// The distance between the edges of the discs in radians, negative during the eclipse.
fn gap(known: &Known, place: DVec3, time: Time) -> f64 {
    let (sun, moon) = known.eclipse.earth_fixed(time);
    let radii = known.radii();
    let (sun, moon) = (sun - place, moon - place);
    let half = |radius: f64, distance: f64| (radius / distance).asin();
    sun.angle_between(moon) - half(radii.sun_km, sun.length()) - half(radii.moon_partial_km, moon.length())
}

/// How fast the gap closes or opens at a place, in radians per second.
fn rate(known: &Known, place: DVec3, time: Time) -> f64 {
    0.5 * (gap(known, place, time.plus(1.0)) - gap(known, place, time.plus(-1.0)))
}

/// The angles at which a function of an angle changes its sign, by bisection. It is unknown where there is no value.
fn roots(function: impl Fn(f64) -> Option<f64>) -> Vec<f64> {
    let step = TAU / f64::from(DIRECTIONS);
    let values: Vec<Option<f64>> = (0..=DIRECTIONS).map(|i| function(step * f64::from(i % DIRECTIONS))).collect();
    let mut found = Vec::new();
    for (i, pair) in values.windows(2).enumerate() {
        let &[Some(a), Some(b)] = pair else { continue };
        if (a < 0.0) == (b < 0.0) {
            continue;
        }
        let (mut low, mut high) = (step * i as f64, step * (i + 1) as f64);
        for _ in 0..20 {
            let middle = 0.5 * (low + high);
            let Some(value) = function(middle) else { break };
            *if (value < 0.0) == (a < 0.0) { &mut low } else { &mut high } = middle;
        }
        found.push(0.5 * (low + high));
    }
    found
}

/// The instants from the beginning to the end of the eclipse.
fn instants(known: &Known) -> Vec<Time> {
    let (begin, end) = (known.eclipse.begins.0, known.eclipse.ends.0);
    let steps = (end.seconds_since(begin) / STEP_S).ceil();
    (0..=steps as u32).map(|i| begin.plus(end.seconds_since(begin) * f64::from(i) / steps)).collect()
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
///
/// The penumbra crosses the circle of sunrise and sunset at two points or none. From the instant at which it touches the circle to that at
/// which it leaves it, the two points describe a closed line.
pub(crate) fn horizon_lines(known: &Known) -> (Vec<Line>, Vec<Line>) {
    let mut loops: Vec<[Line; 2]> = Vec::new();
    let mut middles: Vec<Line> = Vec::new();
    let mut is_open = false;
    for time in instants(known) {
        let circle = Terminator::new(known, time);
        let edges = roots(|angle| Some(gap(known, circle.at(angle), time)));
        let &[first, second] = &edges[..] else {
            is_open = false;
            continue;
        };
        if !is_open {
            loops.push([Vec::new(), Vec::new()]);
            middles.push(Vec::new());
        }
        is_open = true;
        // The order of the two points: the first one is where the penumbra begins in the sense of the angle.
        let begins_first = gap(known, circle.at(0.5 * (first + second)), time) < 0.0;
        let (from, to) = if begins_first { (first, second) } else { (second, first + TAU) };
        let place = |angle: f64| Place { height_m: 0.0, ..Place::from_earth_fixed_km(circle.at(angle)) };
        if let Some(sides) = loops.last_mut() {
            sides[0].push((time, place(from)));
            sides[1].push((time, place(to)));
        }
        let inside = |angle: f64| (angle - from).rem_euclid(TAU) <= to - from;
        let turn = roots(|angle| Some(rate(known, circle.at(angle), time))).into_iter().find(|angle| inside(*angle));
        if let (Some(angle), Some(middle)) = (turn, middles.last_mut()) {
            middle.push((time, place(angle)));
        }
    }
    let closed = |[line, back]: [Line; 2]| {
        let first = line.first().copied();
        line.into_iter().chain(back.into_iter().rev()).chain(first).collect()
    };
    middles.retain(|line| line.len() > 1);
    (loops.into_iter().map(closed).collect(), middles)
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

    /// Where the edge meets the ground first in a direction across the axis.
    fn at(&self, angle: f64) -> Option<DVec3> {
        let across = self.across[0] * angle.cos() + self.across[1] * angle.sin();
        let (point, direction) = (self.moon + across * self.radius, self.axis + across * self.slope);
        let (point, direction) = (point / self.size, (direction / self.size).normalize());
        let foot = point - direction * point.dot(direction);
        let inside = 1.0 - foot.length_squared();
        (inside >= 0.0).then(|| (foot - direction * inside.sqrt()) * self.size)
    }
}

/// The outline of the umbra or the antumbra on the ground, without the parts that miss the Earth.
pub(crate) fn outline(known: &Known, time: Time) -> Vec<Vec<Place>> {
    const POINTS: u32 = 120;
    let cone = Cone::new(known, time, false);
    let mut parts: Vec<Vec<Place>> = vec![Vec::new()];
    for i in 0..=POINTS {
        match cone.at(TAU * f64::from(i) / f64::from(POINTS)) {
            Some(point) => {
                let last = parts.len() - 1;
                parts[last].push(Place { height_m: 0.0, ..Place::from_earth_fixed_km(point) });
            }
            None => parts.push(Vec::new()),
        }
    }
    parts.retain(|part| part.len() > 1);
    parts
}

/// The northern and southern limits of the partial eclipse: where the penumbra's edge passes along itself. A point continues the line whose
/// last point, of the instant before, is nearest. The two limits are farther apart than any of them moves in half a minute.
pub(crate) fn partial_limits(known: &Known) -> Vec<Line> {
    /// A limit moves by less than this in half a minute, in km.
    const NEAR_KM: f64 = 2000.0;
    let mut lines: Vec<Line> = Vec::new();
    let mut before = known.eclipse.begins.0;
    for time in instants(known) {
        let cone = Cone::new(known, time, true);
        for angle in roots(|angle| Some(rate(known, cone.at(angle)?, time))) {
            let Some(point) = cone.at(angle) else { continue };
            let place = Place { height_m: 0.0, ..Place::from_earth_fixed_km(point) };
            let open = lines.iter_mut().filter(|line| line.last().is_some_and(|last| last.0 == before));
            let distance = |line: &Line| line.last().map_or(f64::INFINITY, |last| last.1.chord_km(&place));
            let near = open.filter(|line| distance(line) < NEAR_KM);
            match near.min_by(|a, b| distance(a).total_cmp(&distance(b))) {
                Some(line) => line.push((time, place)),
                None => lines.push(vec![(time, place)]),
            }
        }
        before = time;
    }
    lines.retain(|line| line.len() > 1);
    lines
}
