//! Sunlight along trajectories: what Earth and Moon hide of the Sun, at each state and as intervals of time.

use std::collections::BTreeMap;
use std::ops::Range;

use glam::{DMat3, DVec3};
use rayon::prelude::*;
use umbracast::shadow::{Ball, ShadowRow, Spheroid};

use crate::almanac::Sky;
use crate::apparent::in_earth_frame;
use crate::bodies::SkyBody;
use crate::delta_t::DeltaT;
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
                "the frame is '{}': expected gcrs (also gcrf, icrf, eme2000, j2000), itrf (also itrs, itrf2014, …) or teme",
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
/// Part of the speed by which a velocity may differ from the motion of the positions, and length in km to which that may amount from one state to
/// the next but one: positions may be rounded.
const CONTRADICTION: f64 = 0.02;
const ROUNDING_KM: f64 = 0.1;

impl Trajectory {
    /// The trajectory of an object, whose name may be empty.
    ///
    /// # Errors
    /// [`BadRecord`](umbracast::Error::BadRecord) for the first state that is not in the years −1999 to 3000, is not after the one before it, is
    /// more than a day after it, has a number that is not finite, a position inside the Earth, beyond 4 million km or so far from the one before it
    /// that the object is faster than 1000 km/s, or a velocity if the first state has none or the other way round. For the first velocity that
    /// differs from the motion of the positions by more than 2% of the speed and by more than 0.1 km in two steps, if most of them do.
    pub fn new(object: impl Into<String>, frame: Frame, states: Vec<TrajectoryState>) -> Result<Self> {
        let has_velocities = states.first().is_some_and(|state| state.velocity.is_some());
        for (i, state) in states.iter().enumerate() {
            check_state(i as u64, state, i.checked_sub(1).map(|before| &states[before]), has_velocities)?;
        }
        check_velocities(&states)?;
        Ok(Self { object: object.into(), frame, states, useable: None })
    }

    /// The same trajectory with a useable span: its states before `first` and after `last` serve the interpolation, and intervals are cut off at
    /// both instants.
    #[must_use]
    pub fn with_useable_span(self, first: Time, last: Time) -> Self {
        Self { useable: Some([first, last]), ..self }
    }

    /// The trajectories of a body of an SPK file, one for each time without gaps: states every `step_s` seconds, and the last one. `bytes` are the
    /// file, whose segments have type 2, 3, 9 or 13; `step_s` is above 0 and at most a day, and `target` is the body's number of NAIF, -82 for example; it may be left out if the file has one
    /// body. The name of the trajectory is that number.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the bytes are no such file, if it has no segments of the body or several bodies to choose from, or if none lead from
    /// there to the Earth;
    /// [`TooLarge`](umbracast::Error::TooLarge) for too many states; the errors of [`new`](Self::new).
    pub fn from_spk(bytes: Vec<u8>, target: Option<i32>, step_s: f64) -> Result<Vec<Self>> {
        if !(step_s > 0.0 && step_s <= LONGEST_STEP) {
            let why = format!("the step is {step_s} s: it must be above 0 and at most a day, 86400 s");
            return Err(Error::InvalidArgument(why));
        }
        let spk = Spk::parse(bytes)?;
        let known = spk.bodies();
        let target = match (target, &*known) {
            (None, &[only]) => only,
            (Some(target), _) if known.contains(&target) => target,
            (Some(target), _) => {
                return Err(Error::InvalidArgument(format!("the SPK file has no body {target}: it has {known:?}")));
            }
            (None, _) => {
                let why = format!("the SPK file has the bodies {known:?}: choose one as the target");
                return Err(Error::InvalidArgument(why));
            }
        };
        let spans = spk.spans(target);
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
        // The allowance is for days of TDB, and for the last step of `from_spk`.
        if step > LONGEST_STEP + 0.01 {
            return bad(
                "time",
                text,
                "states may be at most a day apart: make the parts two trajectories (two objects of a file)",
            );
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
    if let Some(before) = before {
        let (km, step) = (state.position.distance(before.position), state.time.seconds_since(before.time));
        if km > FASTEST * step {
            let text = format!("{km:.1} km from the state before it, {step:.3e} s earlier");
            return bad(
                "position",
                text,
                "it is faster than 1000 km/s: are the times seconds, and the positions in km?",
            );
        }
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

/// Refuses velocities most of which are not those of the positions. One may differ where an engine fires between two states.
fn check_velocities(states: &[TrajectoryState]) -> Result<()> {
    let (mut tested, mut differ, mut first) = (0, 0, None);
    for (i, three) in states.windows(3).enumerate() {
        let [a, b, c] = three else { continue };
        let steps = [b.time.seconds_since(a.time), c.time.seconds_since(b.time)];
        let (Some(va), Some(vb), Some(vc)) = (a.velocity, b.velocity, c.velocity) else { return Ok(()) };
        let Some(found) = Mismatch::of(steps, c.position - a.position, [va, vb, vc]) else { continue };
        tested += 1;
        let allowed = (CONTRADICTION * found.speed).max(2.0 * found.coarse).max(ROUNDING_KM / (steps[0] + steps[1]));
        if found.apart > allowed {
            differ += 1;
            first.get_or_insert((i + 1, vb, found));
        }
    }
    match first {
        Some((i, velocity, Mismatch { apart, .. })) if 2 * differ > tested => {
            let [x, y, z] = velocity.to_array();
            let value = format!("[{x}, {y}, {z}], and differs from the motion of the positions by {apart:.3} km/s");
            let why = "velocities do not belong to these positions (frame, unit?), or the states are too far apart";
            Err(umbracast::Error::record("state", i as u64, "velocity", value, why).into())
        }
        _ => Ok(()),
    }
}

/// How far three velocities are from the motion of the positions, in km/s.
#[derive(Clone, Copy, Debug)]
struct Mismatch {
    apart: f64,
    /// By how much two formulas for the mean velocity differ: the states are too far apart for a comparison if it is large.
    coarse: f64,
    speed: f64,
}

impl Mismatch {
    /// Compares the way from the first of three states to the last one, `steps` seconds apart, with the integral of the parabola through their
    /// velocities (Simpson's rule). `None` if one step is more than 1.5 times the other.
    fn of([first, last]: [f64; 2], way: DVec3, [a, b, c]: [DVec3; 3]) -> Option<Self> {
        let ratio = last / first;
        if !(1.0 / 1.5..=1.5).contains(&ratio) {
            return None;
        }
        let (whole, mean) = (first + last, way / (first + last));
        let by_parabola = (a * (2.0 - ratio) + b * (whole * whole / (first * last)) + c * (2.0 - 1.0 / ratio)) / 6.0;
        let by_lines = ((a + b) * first + (b + c) * last) / (2.0 * whole);
        let speed = [a, b, c, mean].map(DVec3::length).into_iter().fold(0.0, f64::max);
        Some(Self { apart: mean.distance(by_parabola), coarse: by_parabola.distance(by_lines), speed })
    }

    /// What is not explained by the error of Simpson's rule, which on a circle is 0.8 of this square.
    fn unexplained(self) -> f64 {
        if self.speed > 0.0 { (self.apart - 2.0 * self.coarse * self.coarse / self.speed).max(0.0) } else { 0.0 }
    }
}

/// How far the paths between states can be trusted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathCheck {
    /// Estimate of the largest error in km. `None` if a trajectory has two states, which are too few, or if none has more than one.
    pub interpolation_error_km: Option<f64>,
    /// Why intervals may be wrong, each as a sentence that names object and times: a path that may be wrong by more than 10 km, one that goes through
    /// the Earth, and trajectories of two states.
    pub doubts: Vec<String>,
}

/// Error of a path in km that is a doubt: a low satellite passes the penumbra of the Earth in eight seconds, and 10 km in one.
const COARSE_KM: f64 = 10.0;

/// The step of a path at which something is largest: index of the trajectory and of the state before the step, and a length in km.
#[derive(Clone, Copy, Debug)]
struct PathStep {
    trajectory: usize,
    state: usize,
    km: f64,
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
    object: String,
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
    delta_t: DeltaT,
}

/// Number of the eight hours that an instant is in.
fn span_of(time: Time) -> i64 {
    (time.tt_seconds() / (2.0 * HALF_SPAN)).floor() as i64
}

/// Nodes of the interpolation; a state with a velocity counts twice.
const NODES: usize = 8;
/// A distance from the Earth in km within which the Moon never is, its far side included.
const NEAREST_MOON_KM: f64 = 354_000.0;
/// The most times that a step is halved.
const DEEPEST: u32 = 12;

/// The one of two steps with the greater length.
fn farther(a: PathStep, b: PathStep) -> PathStep {
    if b.km > a.km { b } else { a }
}

impl Sunlight {
    /// The bodies that can hide the Sun, in the order of [`ShadowRow::bodies`].
    pub const BODIES: [SkyBody; 2] = [SkyBody::Earth, SkyBody::Moon];

    /// Prepares the positions of Sun and Moon for all times of the trajectories.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the ephemeris does not cover a time, or for the first state that is inside the Moon.
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
            // Eight hours that the ephemeris covers.
            let middle = sky.ephemeris().nearest(middle, HALF_SPAN);
            let motion = Motion::around(sky.ephemeris(), SkyBody::Moon, middle, sky.options(), in_earth_frame)?;
            let now = Orientation::at(middle, delta_t.seconds_at(middle));
            let from_teme = DMat3::from_rotation_z(now.sidereal_time - now.mean_time_1982);
            Ok((number, Span { motion, from_gcrs: now.true_from_gcrs, from_teme }))
        };
        let spans = numbers.into_par_iter().map(span).collect::<Result<BTreeMap<_, _>>>()?;
        let radii = sky.options().radii;
        let mut made = Self { paths: Vec::new(), spans, sun_km: radii.sun_km, moon_km: radii.moon_partial_km, delta_t };
        made.paths = trajectories.par_iter().map(|one| made.path(one)).collect();
        (0..made.paths.len()).into_par_iter().try_for_each(|trajectory| made.check_moon(trajectory))?;
        Ok(made)
    }

    /// Refuses states inside the Moon.
    fn check_moon(&self, trajectory: usize) -> Result<()> {
        let path = &self.paths[trajectory];
        for (&seconds, &position) in path.times.iter().zip(&path.positions) {
            // Where the Moon may be.
            if position.length_squared() > NEAREST_MOON_KM * NEAREST_MOON_KM {
                let time = path.start.plus(seconds);
                let (span, seconds) = self.span(time);
                let observer = span.from_gcrs * position;
                let km = observer.distance(span.motion.bodies_from(observer, seconds).1);
                if km < self.moon_km - 1e-3 {
                    let (object, time) = (self.name_of(trajectory), time.text(0, self.delta_t));
                    let why =
                        format!("the state{object} at {time} is {km:.0} km from the centre of the Moon: inside it");
                    return Err(Error::InvalidArgument(why));
                }
            }
        }
        Ok(())
    }

    /// A trajectory in the axes of the GCRS.
    fn path(&self, trajectory: &Trajectory) -> Path {
        let start = trajectory.states.first().map_or(Time::default(), |state| state.time);
        let useable = trajectory.useable.map(|ends| ends.map(|time| time.seconds_since(start)));
        let mut path = Path {
            object: trajectory.object.clone(),
            times: Vec::new(),
            positions: Vec::new(),
            velocities: Vec::new(),
            start,
            useable: useable.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]),
        };
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
        let (equator, pole) = SkyBody::Earth.radii_km();
        row.observer = span.from_gcrs * position;
        let (sun, moon) = span.motion.bodies_from(row.observer, seconds);
        row.light = Ball { center: sun, radius: self.sun_km };
        let moon = Ball { center: moon, radius: self.moon_km };
        row.bodies.clear();
        row.bodies.extend([Spheroid::new([0.0; 3], equator, pole, DVec3::Z), moon.into()]);
    }

    /// The intervals during which Earth or Moon hide part of the Sun along each trajectory, within its useable span. Their instants are seconds
    /// from its first state.
    pub fn intervals(&self) -> Vec<Vec<ShadowInterval>> {
        (0..self.paths.len()).into_par_iter().map(|trajectory| self.intervals_of(trajectory)).collect()
    }

    /// The [`intervals`](Self::intervals) of one trajectory.
    pub fn intervals_of(&self, trajectory: usize) -> Vec<ShadowInterval> {
        let path = &self.paths[trajectory];
        let (mut times, mut steps) = (Vec::new(), Vec::new());
        for i in 0..path.times.len() {
            times.push(path.times[i]);
            self.inner_samples(path, i, &mut |time, _| times.push(time));
            steps.resize(times.len(), i);
        }
        let found = shadow_intervals(&times, &|i, time, row| {
            self.place(path.start.plus(time), path.position(steps[i], time), row);
        });
        found.into_iter().filter_map(|one| one.within(path.useable)).collect()
    }

    /// Samples the path between the states `i` and `i + 1`: calls `found` with instants and the positions there. Between three samples, the path
    /// does not turn twice. A short step has none.
    fn inner_samples(&self, path: &Path, i: usize, found: &mut dyn FnMut(f64, DVec3)) {
        let Some(&end) = path.times.get(i + 1) else { return };
        let ends = [(path.times[i], path.positions[i]), (end, path.positions[i + 1])];
        // A polynomial of degree seven turns up to six times.
        let halvings = if path.is_long(i) { 3 } else { 0 };
        self.halve(path, i, ends, (halvings, DEEPEST), found);
    }

    /// Halves a part of a step at least `least` times and at most `most` times, until it is a short arc.
    fn halve(
        &self,
        path: &Path,
        i: usize,
        [from, to]: [(f64, DVec3); 2],
        (least, most): (u32, u32),
        found: &mut dyn FnMut(f64, DVec3),
    ) {
        if most == 0 || least == 0 && self.is_short_arc(path.start, from, to) {
            return;
        }
        let time = 0.5 * (from.0 + to.0);
        let middle = (time, path.position(i, time));
        let rest = (least.saturating_sub(1), most - 1);
        self.halve(path, i, [from, middle], rest, found);
        found(middle.0, middle.1);
        self.halve(path, i, [middle, to], rest, found);
    }

    /// Whether the line between two positions is at most 0.1 rad long as seen from the Earth and from the Moon.
    fn is_short_arc(&self, start: Time, from: (f64, DVec3), to: (f64, DVec3)) -> bool {
        let is_short = |a: DVec3, b: DVec3| {
            let sine = a.cross(b).length_squared() / (a.length_squared() * b.length_squared());
            a.dot(b) > 0.0 && sine < 0.1 * 0.1
        };
        let nearest = NEAREST_MOON_KM - from.1.length_squared().max(to.1.length_squared()).sqrt();
        is_short(from.1, to.1)
            && (nearest > 0.0 && from.1.distance_squared(to.1) < 0.01 * nearest * nearest || {
                let from_moon = |(time, position): (f64, DVec3)| {
                    let (span, seconds) = self.span(start.plus(time));
                    span.from_gcrs * position - span.motion.positions(seconds).1
                };
                is_short(from_moon(from), from_moon(to))
            })
    }

    /// Checks the paths between states: how well positions, and velocities if there are any, determine them, and whether they go through the Earth.
    ///
    /// The error is estimated in the middle of steps: how far the polynomial is from that through one more position. Of each trajectory, the steps at the
    /// ends and at gaps are tested, and up to 500 others, in which the path bends most. A velocity that differs from the motion of the
    /// positions counts with the length by which it displaces the path.
    pub fn check(&self) -> PathCheck {
        let (error, deepest) = (self.interpolation_error(), self.below_surface());
        let mut doubts = Vec::new();
        if let Some(step) = error.filter(|step| step.km > COARSE_KM) {
            let why = "its states are too far apart, or its velocities do not belong to its positions";
            doubts.push(format!("{} may be wrong by {:.0} km: {why}", self.path_of(step), step.km));
        }
        if let Some(step) = deepest {
            let remedy = "give states between these two, or make the parts two trajectories (two objects of a file)";
            doubts.push(format!("{} goes through the Earth, {:.0} km deep: {remedy}", self.path_of(step), step.km));
        }
        let unknown = self.paths.iter().filter(|path| path.times.len() == 2).count();
        if unknown > 0 {
            let (objects, have) = if unknown == 1 { ("object", "has") } else { ("objects", "have") };
            let why = "too few to estimate the error of the path between them";
            doubts.push(format!("{unknown} {objects} {have} only two states: {why}"));
        }
        PathCheck { interpolation_error_km: error.map(|step| step.km).filter(|_| unknown == 0), doubts }
    }

    /// The path of a step in words.
    fn path_of(&self, step: PathStep) -> String {
        let path = &self.paths[step.trajectory];
        let [from, to] = [step.state, step.state + 1].map(|i| path.start.plus(path.times[i]).text(0, self.delta_t));
        format!("the path{} from {from} to {to}", self.name_of(step.trajectory))
    }

    /// Which trajectory it is, in words that follow a noun. The only one without a name needs none.
    fn name_of(&self, trajectory: usize) -> String {
        match (&*self.paths[trajectory].object, self.paths.len()) {
            ("", 1) => String::new(),
            ("", _) => format!(" of trajectory {trajectory}"),
            (name, _) => format!(" of '{}'", quoted(name)),
        }
    }

    /// The step at which a path is deepest below the surface of the Earth, if it is more than 10 km below it.
    fn below_surface(&self) -> Option<PathStep> {
        let (equator, pole) = SkyBody::Earth.radii_km();
        let of = |(trajectory, path): (usize, &Path)| {
            let mut deepest = PathStep { trajectory, state: 0, km: 0.0 };
            for i in 0..path.times.len() {
                self.inner_samples(path, i, &mut |time, position| {
                    let axes = self.span(path.start.plus(time)).0.from_gcrs;
                    let km = equator - (axes * position * DVec3::new(1.0, 1.0, equator / pole)).length();
                    if km > deepest.km {
                        deepest = PathStep { trajectory, state: i, km };
                    }
                });
            }
            deepest
        };
        // Between two samples, a line is up to 8 km deeper.
        let deepest = self.paths.par_iter().enumerate().map(of).reduce_with(farther);
        deepest.filter(|step| step.km > 2.0)
    }

    /// The step of the largest error by the estimate of [`check`](Self::check). `None` without a trajectory of three states.
    fn interpolation_error(&self) -> Option<PathStep> {
        let of = |(trajectory, path): (usize, &Path)| {
            let steps = path.times.len().checked_sub(1).filter(|steps| *steps > 1)?;
            let size = steps.div_ceil(500);
            let bends = |i: usize| path.bend(i.clamp(1, steps - 1));
            let chunk = |first: usize| {
                (first..steps.min(first + size)).max_by(|a, b| bends(*a).total_cmp(&bends(*b))).unwrap_or(first)
            };
            let chosen = (0..steps).step_by(size).map(chunk).chain((0..steps).filter(|&i| path.is_special(i)));
            let errors = chosen.map(|i| (i, path.error_within(i)));
            let velocities = (1..steps).map(|i| (i, path.error_of_velocity(i)));
            errors.chain(velocities).map(|(state, km)| PathStep { trajectory, state, km }).reduce(farther)
        };
        self.paths.par_iter().enumerate().filter_map(of).reduce_with(farther)
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
        self.polynomial(self.nodes_around(i), time)
    }

    /// Nodes per state, which are numbered in order: a state with a velocity is a double node.
    fn nodes_each(&self) -> usize {
        NODES / self.width()
    }

    /// The nodes whose polynomial is evaluated between the states `i` and `i + 1`.
    fn nodes_around(&self, i: usize) -> Range<usize> {
        let width = self.width().min(self.times.len());
        let first = (i + 1).saturating_sub(width / 2).min(self.times.len() - width);
        first * self.nodes_each()..(first + width) * self.nodes_each()
    }

    /// Seconds from the state `i` to the next one; infinite without it.
    fn step(&self, i: usize) -> f64 {
        self.times.get(i + 1).map_or(f64::INFINITY, |next| next - self.times[i])
    }

    /// Whether the step from the state `i` is longer than 1.5 times the one before or after it.
    fn is_long(&self, i: usize) -> bool {
        let before = i.checked_sub(1).map_or(f64::INFINITY, |before| self.step(before));
        self.step(i) > 1.5 * before.min(self.step(i + 1))
    }

    /// Whether the polynomial of a step is one-sided, or joins states that are not equally far apart.
    fn is_special(&self, i: usize) -> bool {
        let half = self.width() / 2;
        i + 1 < half || i + half >= self.times.len() || self.is_long(i)
    }

    /// How far an inner state is from the middle of its neighbours, by the square.
    fn bend(&self, i: usize) -> f64 {
        (self.positions[i - 1] + self.positions[i + 1]).distance_squared(2.0 * self.positions[i])
    }

    /// Estimate of the error in the middle of the step after state `i`: how far the polynomial is from those through one more position, which is
    /// the next term of Newton's formula. If there are no more, one node is left out. There must be at least three states.
    fn error_within(&self, i: usize) -> f64 {
        let used = self.nodes_around(i);
        let middle = 0.5 * (self.times[i] + self.times[i + 1]);
        let own = self.polynomial(used.clone(), middle);
        let others = match (used.start > 0, used.end < self.times.len() * self.nodes_each()) {
            (false, false) if i > 0 => [Some(1..used.end), None],
            (false, false) => [Some(0..used.end - 1), None],
            (left, right) => [left.then(|| used.start - 1..used.end), right.then(|| used.start..used.end + 1)],
        };
        let apart = |other: Range<usize>| own.distance(self.polynomial(other, middle));
        others.into_iter().flatten().map(apart).fold(0.0, f64::max)
    }

    /// Estimate of the error around an inner state whose velocity is not that of the positions: velocities that are wrong by 1 km/s displace the path by
    /// up to 0.12 km per second of the step, and by 0.55 km where the polynomial is one-sided.
    fn error_of_velocity(&self, i: usize) -> f64 {
        let [Some(&before), Some(&own), Some(&after)] = [i - 1, i, i + 1].map(|at| self.velocities.get(at)) else {
            return 0.0;
        };
        let steps = [self.step(i - 1), self.step(i)];
        let found = Mismatch::of(steps, self.positions[i + 1] - self.positions[i - 1], [before, own, after]);
        let part = if self.is_special(i - 1) || self.is_special(i) { 0.55 } else { 0.12 };
        found.map_or(0.0, |found| part * steps[0].max(steps[1]) * found.unexplained())
    }

    /// The polynomial through some nodes, at most one more than [`NODES`].
    fn polynomial(&self, nodes: Range<usize>, time: f64) -> DVec3 {
        let (first, count) = (nodes.start, nodes.len());
        let state = |k: usize| (first + k) / self.nodes_each();
        let (mut times, mut values) = ([0.0; NODES + 1], [DVec3::ZERO; NODES + 1]);
        for (k, (own, value)) in times.iter_mut().zip(&mut values).enumerate().take(count) {
            (*own, *value) = (self.times[state(k)], self.positions[state(k)]);
        }
        newton(&times[..count], &mut values[..count], |k| self.velocities[state(k)], time).0
    }
}

/// Value and slope at `time` of the polynomial with these values at ascending nodes: Newton's divided differences. Where a node is given twice, it has
/// the slope `slope(k)`, with the index of either.
pub(crate) fn newton(nodes: &[f64], values: &mut [DVec3], slope: impl Fn(usize) -> DVec3, time: f64) -> (DVec3, DVec3) {
    for order in 1..nodes.len() {
        for k in (order..nodes.len()).rev() {
            let step = nodes[k] - nodes[k - order];
            values[k] = if step > 0.0 { (values[k] - values[k - 1]) / step } else { slope(k) };
        }
    }
    nodes.iter().zip(values).rev().fold((DVec3::ZERO, DVec3::ZERO), |(sum, slope), (node, term)| {
        (sum * (time - node) + *term, slope * (time - node) + sum)
    })
}
