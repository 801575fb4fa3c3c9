//! Centre line and limits of the path of a total or annular eclipse.

use std::f64::consts::TAU;

use glam::DVec3;
use rayon::prelude::*;

use crate::circumstances::LocalKind;
use crate::motion::Observer;
use crate::places::{Place, line_hits_earth};
use crate::roots;
use crate::solar::{SolarEclipse, SolarKind};
use crate::time::Time;

/// The path of a total or annular eclipse at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinePoint {
    /// The instant.
    pub time: Time,
    /// Where the axis of the shadow meets the ellipsoid.
    pub center: Place,
    /// Total or annular: by the sizes of the discs, which are concentric at the centre.
    pub kind: LocalKind,
    /// The point of the northern limit at which the eclipse is total or annular at this instant only. `None` if the shadow's edge misses the
    /// Earth there.
    pub north: Option<Place>,
    /// The same for the southern limit.
    pub south: Option<Place>,
    /// Duration of the total or annular eclipse at the centre, in seconds. It is 0 where an annular path turns total.
    pub duration_s: Option<f64>,
    /// Width of the path in km: the distance between the limits on the ellipsoid, at right angles to the motion of the axis over the ground.
    /// With the Sun low, it is more than in the plane that touches the Earth at the centre, which NASA's tables have.
    pub width_km: Option<f64>,
    /// Altitude of the Sun at the centre in degrees.
    pub sun_altitude: f64,
    /// Ratio of the diameters of Moon and Sun at the centre.
    pub magnitude: f64,
}

/// The path of a total or annular eclipse.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CentralLine {
    /// The points in order of time: the first and the last instant at which the axis meets the Earth, and full multiples of the step.
    pub points: Vec<LinePoint>,
}

impl SolarEclipse {
    /// The path: its points every `step_s` seconds of the day (at least 1). Empty if the axis misses the Earth.
    pub fn central_line(&self, step_s: f64) -> CentralLine {
        let Some((first, last)) = self.axis_begins.zip(self.axis_ends) else { return CentralLine::default() };
        let step = if step_s.is_finite() { step_s.max(1.0) } else { 60.0 };
        let start = ((first.tt_seconds() - self.utc_phase()) / step).ceil();
        let mut times = vec![first.plus(0.01)];
        for i in 0.. {
            let time = Time::from_tt_seconds((start + f64::from(i)) * step + self.utc_phase());
            if time >= last.plus(-0.01) {
                break;
            }
            if time > first.plus(0.02) {
                times.push(time);
            }
        }
        times.push(last.plus(-0.01));
        CentralLine { points: times.into_iter().filter_map(|time| self.line_point(time)).collect() }
    }

    /// The northern and the southern limit of the path, each as lines in order of time, with a point every `step_s` seconds (at least 1).
    /// They begin and end with the Sun at the horizon, before and after the axis of the shadow meets the Earth. Empty for a partial
    /// eclipse.
    pub fn limits(&self, step_s: f64) -> [Vec<Vec<(Time, Place)>>; 2] {
        /// The edge of the shadow is on the Earth for less than this time before and after the axis.
        const MARGIN_S: f64 = 2400.0;
        if self.kind == SolarKind::Partial {
            return [Vec::new(), Vec::new()];
        }
        let step = if step_s.is_finite() { step_s.max(1.0) } else { 60.0 };
        let (first, last) = self.axis_begins.zip(self.axis_ends).unwrap_or((self.greatest.time, self.greatest.time));
        let start = ((first.tt_seconds() - MARGIN_S - self.utc_phase()) / step).ceil() as i64;
        let end = ((last.tt_seconds() + MARGIN_S - self.utc_phase()) / step).floor() as i64;
        let time = |i: i64| Time::from_tt_seconds(i as f64 * step + self.utc_phase());
        let limit = |time: Time, north: bool| ShadowEdge::new(self, self.seconds(time)).limit(north);
        let all: Vec<[Option<Place>; 2]> =
            (start..=end).into_par_iter().map(|i| [limit(time(i), true), limit(time(i), false)]).collect();
        [true, false].map(|north| {
            let of = |at: usize| all[at][usize::from(!north)].map(|place| (time(start + at as i64), place));
            // The end of a line, between an instant with a point of the limit and one without.
            let refined = |inside: (Time, Place), outside: Time| {
                let (mut known, mut gap) = (inside, outside.seconds_since(inside.0));
                while gap.abs() > 1e-3 {
                    gap *= 0.5;
                    let middle = known.0.plus(gap);
                    known = limit(middle, north).map_or(known, |place| (middle, place));
                }
                known
            };
            let mut lines = vec![Vec::new()];
            for at in 0..all.len() {
                let Some(point) = of(at) else { continue };
                let own = lines.len() - 1;
                if at > 0 && of(at - 1).is_none() {
                    lines[own].push(refined(point, time(start + at as i64 - 1)));
                }
                lines[own].push(point);
                if at + 1 < all.len() && of(at + 1).is_none() {
                    lines[own].push(refined(point, time(start + at as i64 + 1)));
                    lines.push(Vec::new());
                }
            }
            lines.retain(|line| line.len() > 1);
            lines
        })
    }

    /// Seconds by which full seconds of UTC are late in TT, so that points fall on full multiples of the step in UTC.
    fn utc_phase(&self) -> f64 {
        let middle = self.greatest.time;
        let (start, _) = middle.day(self.delta_t);
        start.tt_seconds()
    }

    /// The path at one instant. `None` if the axis misses the Earth.
    pub fn line_point(&self, time: Time) -> Option<LinePoint> {
        let center = self.axis_place(time)?;
        let (view, duration) = self.local().on_axis(self.seconds(time), &center);
        let edge = ShadowEdge::new(self, self.seconds(time));
        let (north, south) = (edge.limit(true), edge.limit(false));
        let ground = |seconds: f64| self.axis_place(time.plus(seconds)).map(|place| place.earth_fixed_km());
        let motion = match (ground(-1.0), ground(1.0)) {
            (Some(before), Some(after)) => (after - before).try_normalize(),
            _ => None,
        };
        let width_km = match (north, south, motion) {
            (Some(north), Some(south), Some(motion)) => {
                Some((north.earth_fixed_km() - south.earth_fixed_km()).cross(motion).length())
            }
            _ => None,
        };
        Some(LinePoint {
            time,
            center,
            kind: view.kind,
            north,
            south,
            duration_s: Some(duration),
            width_km,
            sun_altitude: view.sun_altitude,
            magnitude: view.magnitude,
        })
    }
}

/// The edge of the umbra or antumbra on the Earth at one instant.
struct ShadowEdge<'a> {
    eclipse: &'a SolarEclipse,
    seconds: f64,
    moon: DVec3,
    axis: DVec3,
    /// Radius of the cone at the Moon, and its decrease per km.
    radius: f64,
    slope: f64,
    /// Unit vectors across the axis: along the motion of the shadow, and to its left.
    ahead: DVec3,
    left: DVec3,
}

impl<'a> ShadowEdge<'a> {
    fn new(eclipse: &'a SolarEclipse, seconds: f64) -> Self {
        let motion = &eclipse.motion;
        let (sun, moon) = motion.positions(seconds);
        let between = moon - sun;
        let axis = between.normalize();
        let (sun_radius, moon_radius) = (eclipse.radii().sun_km, eclipse.radii().moon_central_km);
        let sine = (sun_radius - moon_radius) / between.length();
        let cosine = (1.0 - sine * sine).sqrt();
        let (later_sun, later_moon) = motion.positions(seconds + 60.0);
        let later_axis = (later_moon - later_sun).normalize();
        let foot = |point: DVec3, axis: DVec3| point - axis * point.dot(axis);
        let change = foot(later_moon, later_axis) - foot(moon, axis);
        let ahead = (change - axis * change.dot(axis)).normalize_or(axis.any_orthonormal_vector());
        // The axis points away from the Sun, towards the Earth: seen from the Moon, left is against their cross product.
        let left = ahead.cross(axis);
        let left = if left.z < 0.0 { -left } else { left };
        // The edge may be smaller than the way of the Moon while its light passes from the place to the centre of the Earth.
        let moon = line_hits_earth(moon, axis).map_or(moon, |place| motion.moon_from(place, moon));
        Self { eclipse, seconds, moon, axis, radius: moon_radius / cosine, slope: sine / cosine, ahead, left }
    }

    /// The point of the edge in a direction across the axis, in radians from `ahead` towards `left`. In an antumbra, the rays have crossed
    /// the axis, and the point lies on the other side.
    fn point(&self, angle: f64) -> Option<Place> {
        let across = self.ahead * angle.cos() + self.left * angle.sin();
        let hit = line_hits_earth(self.moon + across * self.radius, self.axis - across * self.slope)?;
        let place = Place::from_earth_fixed_km(self.eclipse.motion.to_earth_fixed(self.seconds, hit));
        Some(Place { height_m: 0.0, ..place })
    }

    /// The angle nearest to `outside` with a point; `inside` has one.
    fn last_point(&self, mut inside: f64, mut outside: f64) -> f64 {
        for _ in 0..30 {
            let middle = 0.5 * (inside + outside);
            *if self.point(middle).is_some() { &mut inside } else { &mut outside } = middle;
        }
        inside
    }

    /// The point of the northern or the southern limit: on the edge, and the edge passes along it.
    fn limit(&self, north: bool) -> Option<Place> {
        // How fast the place enters the shadow: 0 where the edge moves along itself. In a millisecond, the shadow moves by metres at most.
        const HALF_MS: f64 = 5e-4;
        let rate = |angle: f64| {
            let observer = Observer::from(&self.point(angle)?);
            let gap = |seconds: f64| self.eclipse.local().central_gap(seconds, &observer);
            Some(gap(self.seconds + HALF_MS) - gap(self.seconds - HALF_MS))
        };
        const STEPS: i32 = 36;
        let step = TAU / f64::from(STEPS);
        let found = (0..STEPS).filter_map(|i| {
            let (mut from, mut to) = (f64::from(i) * step, f64::from(i + 1) * step);
            // Where the edge leaves the Earth, only a part of the interval counts.
            match (self.point(from), self.point(to)) {
                (Some(_), None) => to = self.last_point(from, to),
                (None, Some(_)) => from = self.last_point(to, from),
                _ => {}
            }
            let (a, b) = (rate(from)?, rate(to)?);
            ((a < 0.0) != (b < 0.0)).then(|| roots::root(|angle| rate(angle).unwrap_or(0.0), from, to, 1e-7))
        });
        let places = found.filter_map(|angle| self.point(angle));
        // Which side of the axis, measured across the motion.
        let side = |place: &Place| {
            let position = self.eclipse.motion.turned_with_earth(self.seconds, place.earth_fixed_km());
            (position - self.moon).dot(self.left)
        };
        places.into_iter().find(|place| (side(place) > 0.0) == north)
    }
}
