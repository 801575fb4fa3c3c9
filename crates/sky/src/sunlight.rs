//! Sunlight along trajectories: what Earth and Moon hide of the Sun, at each state and as intervals of time.

use std::collections::BTreeMap;
use std::ops::Range;

use glam::{DMat3, DVec3};
use rayon::prelude::*;
use umbracast::shadow::{Ball, ShadowRow, Spheroid};

use crate::almanac::Sky;
use crate::bodies::SkyBody;
use crate::ephemeris::State;
use crate::error::{Error, Result, quoted};
use crate::motion::{HALF_SPAN, Motion};
use crate::orientation::Orientation;
use crate::shadow_intervals::{ShadowInterval, shadow_intervals};
use crate::spk::Spk;
use crate::time::{DAY, Time, YEARS};

/// Axes of the positions of a trajectory, whose origin is the centre of the Earth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Frame {
    /// The axes of the GCRS, which are those of the ICRF. Those of the mean equator and equinox of J2000 differ by 0.02″.
    #[default]
    Gcrs,
    /// Axes that rotate with the Earth: x through 0° N 0° E, z through the north pole (ITRS without polar motion).
    Itrf,
    /// The axes of two-line elements and SGP4: the true equator and the mean equinox of date, by the sidereal time of 1982 (Vallado and others 2006).
    Teme,
}

impl Frame {
    /// The frame with this name: `gcrs`, `gcrf`, `icrf`, `eme2000` or `j2000`; `itrf` or `itrs`, also with a year; `teme`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another name.
    pub fn from_name(name: &str) -> Result<Self> {
        let plain = name.trim().to_ascii_lowercase();
        if matches!(&*plain, "gcrs" | "gcrf" | "icrf" | "eme2000" | "j2000") {
            return Ok(Self::Gcrs);
        }
        if plain == "teme" {
            return Ok(Self::Teme);
        }
        let year = plain.strip_prefix("itrf").or(plain.strip_prefix("itrs"));
        match year.map(|year| year.trim_start_matches('-')) {
            Some(year) if year.len() <= 4 && year.bytes().all(|byte| byte.is_ascii_digit()) => Ok(Self::Itrf),
            _ => Err(Error::InvalidArgument(format!(
                "the frame is '{}': expected gcrs (also gcrf, icrf, eme2000), itrf (also itrs) or teme",
                quoted(name)
            ))),
        }
    }
}

/// A position of a trajectory at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrajectoryState {
    /// The instant.
    pub time: Time,
    /// Position in km from the centre of the Earth.
    pub position: DVec3,
    /// Velocity in km/s in the same axes, if it is known. In axes that rotate, it is the velocity relative to them.
    pub velocity: Option<DVec3>,
}

/// The path of an object, such as a satellite.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    object: String,
    frame: Frame,
    states: Vec<TrajectoryState>,
    useable: Option<[Time; 2]>,
}

/// Longest time between two states in seconds.
const LONGEST_STEP: f64 = DAY;
/// Largest distance from the centre of the Earth in km: beyond it, the Earth is not the body to look at. Any orbit in metres is farther.
const FARTHEST_KM: f64 = 4e6;
/// Largest speed in km/s, also along rotating axes. Orbits up to the geostationary one are faster in m/s.
const FASTEST: f64 = 1e3;

impl Trajectory {
    /// The trajectory of an object, whose name may be empty.
    ///
    /// # Errors
    /// [`BadRecord`](umbracast::Error::BadRecord) for the first state that is not in the years −1999 to 3000, is not after the one before it, is
    /// more than a day after it, has a number that is not finite, a position inside the Earth or beyond 4 million km, or a velocity if the first state
    /// has none or the other way round.
    pub fn new(object: impl Into<String>, frame: Frame, states: Vec<TrajectoryState>) -> Result<Self> {
        let has_velocities = states.first().is_some_and(|state| state.velocity.is_some());
        for (i, state) in states.iter().enumerate() {
            check_state(i as u64, state, i.checked_sub(1).map(|before| &states[before]), has_velocities)?;
        }
        Ok(Self { object: object.into(), frame, states, useable: None })
    }

    /// The same trajectory with a useable span: its states before `first` and after `last` serve the interpolation, and intervals are cut off at
    /// both instants.
    #[must_use]
    pub fn with_useable_span(self, first: Time, last: Time) -> Self {
        Self { useable: Some([first, last]), ..self }
    }

    /// The trajectories of a body of an SPK file, one for each time without gaps: states every `step_s` seconds, and the last one. `bytes` are the
    /// file, whose segments have type 2 or 3, and `target` is the body's number of NAIF, -82 for example. Its name is that number.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the bytes are no such file, if it has no segments of the body, or if none lead from there to the Earth;
    /// [`TooLarge`](umbracast::Error::TooLarge) for too many states; the errors of [`new`](Self::new).
    pub fn from_spk(bytes: Vec<u8>, target: i32, step_s: f64) -> Result<Vec<Self>> {
        let spk = Spk::parse(bytes)?;
        let (spans, known) = (spk.spans(target), spk.bodies());
        if spans.is_empty() {
            return Err(Error::InvalidArgument(format!("the SPK file has no body {target}: it has {known:?}")));
        }
        let states = spans.iter().map(|span| (span.1 - span.0) / step_s + 2.0).sum::<f64>();
        umbracast::memory::check("a trajectory", (states * size_of::<TrajectoryState>() as f64) as u64)?;
        let state = |tdb_seconds: f64| {
            let State { position, velocity } = spk.geocentric(target, tdb_seconds)?;
            Ok(TrajectoryState { time: Time::from_tdb_seconds(tdb_seconds), position, velocity: Some(velocity) })
        };
        let path = |(first, last): (f64, f64)| {
            let inner = (0..).map(|i| first + step_s * f64::from(i)).take_while(|at| *at < last - 1e-3);
            let states = inner.chain([last]).map(state).collect::<Result<Vec<_>>>()?;
            Self::new(target.to_string(), Frame::Gcrs, states)
        };
        spans.into_iter().map(path).collect()
    }

    /// The name of the object.
    pub fn object(&self) -> &str {
        &self.object
    }

    /// The states, in order of time.
    pub fn states(&self) -> &[TrajectoryState] {
        &self.states
    }
}

fn check_state(
    index: u64,
    state: &TrajectoryState,
    before: Option<&TrajectoryState>,
    has_velocity: bool,
) -> Result<()> {
    let bad = |field, value: String, why: &'static str| {
        Err(umbracast::Error::record("state", index, field, value, why).into())
    };
    let seconds = state.time.tt_seconds();
    if !(*YEARS.start() as f64..*YEARS.end() as f64 + 1.0).contains(&state.time.year()) {
        return bad("time", seconds.to_string(), "it must be in the years -1999 to 3000");
    }
    if let Some(before) = before {
        let step = state.time.seconds_since(before.time);
        let text = format!("{step} s after the state before it");
        if step <= 0.0 {
            return bad("time", text, "the states of an object must be in order of time");
        }
        if step > LONGEST_STEP {
            return bad("time", text, "states may be at most a day apart: give the parts different objects");
        }
    }
    for (field, value) in ["x", "y", "z"].into_iter().zip(state.position.to_array()) {
        if !value.is_finite() {
            return bad(field, value.to_string(), "a position must be finite");
        }
    }
    if state.position.length() > FARTHEST_KM {
        let text = format!("{} km from the centre", state.position.length());
        return bad(
            "position",
            text,
            "it must be within 4 million km of the centre of the Earth; are the positions in km?",
        );
    }
    let (equator, pole) = SkyBody::Earth.radii_km();
    if (state.position * DVec3::new(1.0, 1.0, equator / pole)).length() < equator * (1.0 - 2e-7) {
        let text = format!("{} km from the centre", state.position.length());
        return bad("position", text, "it is inside the Earth (WGS 84); are the positions in km?");
    }
    match state.velocity {
        Some(_) if !has_velocity => bad("velocity", "given".into(), "the first state of the object has none"),
        None if has_velocity => bad("velocity", "missing".into(), "the first state of the object has one"),
        Some(velocity) if velocity.is_nan() || velocity.abs().max_element() > FASTEST => {
            let [x, y, z] = velocity.to_array();
            bad("velocity", format!("[{x}, {y}, {z}]"), "its components must be within 1000 km/s; are they in km/s?")
        }
        _ => Ok(()),
    }
}

/// Sun and Moon during eight hours, and the axes of date.
#[derive(Clone, Debug)]
struct Span {
    motion: Motion,
    /// From the axes of the GCRS to those of the motion, which are the true equator and equinox of date.
    from_gcrs: DMat3,
    /// From the axes of TEME to those of the motion.
    from_teme: DMat3,
}

/// A trajectory in the axes of the GCRS.
#[derive(Clone, Debug)]
struct Path {
    /// Seconds from the first state.
    times: Vec<f64>,
    positions: Vec<DVec3>,
    /// Empty without velocities.
    velocities: Vec<DVec3>,
    start: Time,
    /// Seconds from the first state, between which intervals count.
    useable: [f64; 2],
}

/// Trajectories in sunlight: where Sun, Earth and Moon are for each of them.
///
/// The Earth is the ellipsoid of WGS 84 and the Moon a sphere. Sun and Moon are at their apparent places: light time, to the object for the Moon,
/// and aberration are included, so the Earth is at the origin. There is no atmosphere. Between the states, a polynomial of degree seven is
/// evaluated: through the four nearest states with their velocities, or through the eight nearest positions; of a lower degree if there are fewer.
#[derive(Clone, Debug)]
pub struct Sunlight {
    paths: Vec<Path>,
    /// By the number of eight hours since J2000.
    spans: BTreeMap<i64, Span>,
    sun_km: f64,
    moon_km: f64,
}

/// Number of the eight hours that an instant is in.
fn span_of(time: Time) -> i64 {
    (time.tt_seconds() / (2.0 * HALF_SPAN)).floor() as i64
}

/// Nodes of the interpolation; a state with a velocity counts twice.
const NODES: usize = 8;

impl Sunlight {
    /// The bodies that can hide the Sun, in the order of [`ShadowRow::bodies`].
    pub const BODIES: [SkyBody; 2] = [SkyBody::Earth, SkyBody::Moon];

    /// Prepares the positions of Sun and Moon for all times of the trajectories.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the ephemeris does not cover a time.
    pub fn new(sky: &Sky, trajectories: &[Trajectory]) -> Result<Self> {
        let delta_t = sky.options().delta_t;
        for one in trajectories {
            let mut ends = one.states.first().into_iter().chain(one.states.last());
            ends.try_for_each(|state| sky.ephemeris().check(state.time))?;
        }
        let mut numbers: Vec<i64> = trajectories
            .par_iter()
            .flat_map_iter(|one| {
                let mut own = Vec::new();
                for state in one.states() {
                    let (next, last) = (span_of(state.time), own.last().copied());
                    own.extend(last.map_or(next, |last| last + 1)..=next);
                }
                own
            })
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        let span = |number: i64| {
            let middle = Time::from_tt_seconds((number as f64 + 0.5) * 2.0 * HALF_SPAN);
            let motion = Motion::around(sky.ephemeris(), SkyBody::Moon, middle, sky.options())?;
            let now = Orientation::at(middle, delta_t.seconds_at(middle));
            let from_teme = DMat3::from_rotation_z(now.sidereal_time - now.mean_time_1982);
            Ok((number, Span { motion, from_gcrs: now.true_from_gcrs, from_teme }))
        };
        let spans = numbers.into_par_iter().map(span).collect::<Result<BTreeMap<_, _>>>()?;
        let radii = sky.options().radii;
        let mut made = Self { paths: Vec::new(), spans, sun_km: radii.sun_km, moon_km: radii.moon_partial_km };
        made.paths = trajectories.par_iter().map(|one| made.path(one)).collect();
        Ok(made)
    }

    /// A trajectory in the axes of the GCRS.
    fn path(&self, trajectory: &Trajectory) -> Path {
        let start = trajectory.states.first().map_or(Time::default(), |state| state.time);
        let useable = trajectory.useable.map(|ends| ends.map(|time| time.seconds_since(start)));
        let useable = useable.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        let mut path = Path { times: Vec::new(), positions: Vec::new(), velocities: Vec::new(), start, useable };
        for state in &trajectory.states {
            path.times.push(state.time.seconds_since(start));
            let (position, velocity) = match trajectory.frame {
                Frame::Gcrs => (state.position, state.velocity),
                Frame::Teme => {
                    let span = self.span(state.time).0;
                    let to_gcrs = span.from_gcrs.transpose() * span.from_teme;
                    (to_gcrs * state.position, state.velocity.map(|velocity| to_gcrs * velocity))
                }
                Frame::Itrf => {
                    let (span, seconds) = self.span(state.time);
                    let turned = |vector| span.motion.turned_with_earth(seconds, vector);
                    let to_gcrs = span.from_gcrs.transpose();
                    let moved = |velocity: DVec3| {
                        // The axes turn, too.
                        let spin = DVec3::Z * span.motion.rate;
                        to_gcrs * (turned(velocity) + spin.cross(turned(state.position)))
                    };
                    (to_gcrs * turned(state.position), state.velocity.map(moved))
                }
            };
            path.positions.push(position);
            path.velocities.extend(velocity);
        }
        path
    }

    /// The span of an instant, and the seconds from its middle.
    fn span(&self, time: Time) -> (&Span, f64) {
        let number = span_of(time);
        // Rounding may lead past the last one.
        let mut near = self.spans.range(..=number).rev().chain(self.spans.range(number..));
        #[expect(
            clippy::expect_used,
            reason = "every instant of a trajectory has a span, and there are none without states"
        )]
        let span = near.next().map(|one| one.1).expect("there is a span");
        (span, time.seconds_since(span.motion.middle()))
    }

    /// Writes Sun, Earth and Moon over `row` for the state `index` of a trajectory. Lengths are in km, and the axes are those of date, with the pole
    /// of the Earth as z.
    pub fn row(&self, trajectory: usize, index: usize, row: &mut ShadowRow) {
        let path = &self.paths[trajectory];
        self.place(path.start.plus(path.times[index]), path.positions[index], row);
    }

    fn place(&self, time: Time, position: DVec3, row: &mut ShadowRow) {
        let (span, seconds) = self.span(time);
        let (sun, moon) = span.motion.positions(seconds);
        let (equator, pole) = SkyBody::Earth.radii_km();
        row.observer = span.from_gcrs * position;
        row.light = Ball { center: sun, radius: self.sun_km };
        let moon = Ball { center: span.motion.moon_from(row.observer, moon), radius: self.moon_km };
        row.bodies.clear();
        row.bodies.extend([Spheroid::new([0.0; 3], equator, pole, DVec3::Z), moon.into()]);
    }

    /// The intervals during which Earth or Moon hide part of the Sun along each trajectory, within its useable span. Their instants are seconds
    /// from its first state.
    pub fn intervals(&self) -> Vec<Vec<ShadowInterval>> {
        let of = |path: &Path| {
            let found = shadow_intervals(&path.times, &|i, time, row| {
                self.place(path.start.plus(time), path.position(i, time), row);
            });
            found.into_iter().filter_map(|one| one.within(path.useable)).collect()
        };
        self.paths.par_iter().map(of).collect()
    }

    /// An estimate of the largest error of the interpolation in km.
    ///
    /// Up to a thousand states of each trajectory are tested: the distance of a state from the polynomial through every other state is divided by the
    /// growth of the error with twice the step. Steps longer than 1.5 times a neighbour, such as gaps, are tested in their middle: there, the
    /// polynomial is compared with that through other states. `None` without a trajectory of three states.
    pub fn interpolation_error_km(&self) -> Option<f64> {
        let of = |path: &Path| {
            // Near the ends, the polynomial through every other state has fewer nodes than the one that is used.
            let count = path.times.len();
            let margin = (path.width() - 1).min(count.saturating_sub(1) / 2);
            let inner = (margin.max(1)..count - margin).step_by((count / 1000).max(1));
            if count < 3 {
                return None;
            }
            let errors = inner.map(|i| path.error_at(i)).chain(path.long_steps().map(|i| path.error_within(i)));
            errors.reduce(f64::max)
        };
        self.paths.par_iter().filter_map(of).reduce_with(f64::max)
    }

    /// Number of trajectories of two states. They have a path between the states, but too few states to estimate its error.
    pub fn trajectories_without_estimate(&self) -> usize {
        self.paths.iter().filter(|path| path.times.len() == 2).count()
    }
}

impl Path {
    /// States through which a polynomial passes.
    fn width(&self) -> usize {
        if self.velocities.is_empty() { NODES } else { NODES / 2 }
    }

    /// The position at a time between the states `i` and `i + 1`.
    fn position(&self, i: usize, time: f64) -> DVec3 {
        if time == self.times[i] {
            return self.positions[i];
        }
        self.polynomial(self.states_around(i), time)
    }

    /// The states whose polynomial is evaluated between the states `i` and `i + 1`.
    fn states_around(&self, i: usize) -> Range<usize> {
        let width = self.width().min(self.times.len());
        let first = (i + 1).saturating_sub(width / 2).min(self.times.len() - width);
        first..first + width
    }

    /// The steps that are longer than 1.5 times the one before or after them: `i` is the step between the states `i` and `i + 1`.
    fn long_steps(&self) -> impl Iterator<Item = usize> {
        let times = &self.times;
        let step = move |i: usize| times.get(i + 1).map_or(f64::INFINITY, |next| next - times[i]);
        (0..times.len().saturating_sub(1)).filter(move |&i| {
            let before = i.checked_sub(1).map_or(f64::INFINITY, step);
            step(i) > 1.5 * before.min(step(i + 1))
        })
    }

    /// Estimate of the error in the middle of the step after state `i`: how far the polynomial is from that through the states shifted by one. If
    /// there are no others, one of the states is left out. There must be at least three states.
    fn error_within(&self, i: usize) -> f64 {
        let used = self.states_around(i);
        let other = if used.start > 0 {
            used.start - 1..used.end - 1
        } else if used.end < self.times.len() {
            1..used.end + 1
        } else if i > 0 {
            1..used.end
        } else {
            0..used.end - 1
        };
        let middle = 0.5 * (self.times[i] + self.times[i + 1]);
        self.polynomial(used, middle).distance(self.polynomial(other, middle))
    }

    /// How far the polynomial through every other state misses an inner state `i`, reduced to the step of all states.
    fn error_at(&self, i: usize) -> f64 {
        let pairs = (1..).step_by(2).take(self.width() / 2).take_while(|k| *k <= i && i + k < self.times.len()).count();
        let (first, last) = (i - (2 * pairs - 1), i + 2 * pairs - 1);
        let missed = self.polynomial((first..=last).step_by(2), self.times[i]).distance(self.positions[i]);
        missed * 0.5_f64.powi((2 * pairs * NODES / self.width()) as i32)
    }

    /// The polynomial through some states, and with their velocities if they are known: Newton's divided differences, in which a state with a
    /// velocity is a double node.
    fn polynomial(&self, states: impl Iterator<Item = usize>, time: f64) -> DVec3 {
        let mut nodes = [(0, 0.0); NODES];
        let mut differences = [DVec3::ZERO; NODES];
        let mut count = 0;
        for i in states {
            for _ in 0..NODES / self.width() {
                (nodes[count], differences[count]) = ((i, self.times[i]), self.positions[i]);
                count += 1;
            }
        }
        for order in 1..count {
            for k in (order..count).rev() {
                let step = nodes[k].1 - nodes[k - order].1;
                differences[k] = match step > 0.0 {
                    true => (differences[k] - differences[k - 1]) / step,
                    false => self.velocities[nodes[k].0],
                };
            }
        }
        let term = |sum: DVec3, k: usize| sum * (time - nodes[k].1) + differences[k];
        (0..count).rev().fold(DVec3::ZERO, term)
    }
}
