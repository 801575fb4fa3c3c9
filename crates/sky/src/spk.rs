//! SPK files of NAIF (`.bsp`): segments of types 2 and 3, Chebyshev series of positions or of positions and velocities, and of types 9 and 13,
//! states that are interpolated.
//!
//! NAIF's documents "DAF Required Reading" and "SPK Required Reading" describe the format. A DAF is a file of records of 1,024 bytes and of
//! words of 8 bytes that are numbered from 1. The first record names the first of a chain of summary records; each summary has the epochs of
//! a segment (seconds of TDB since J2000), target, centre, frame, type, and the first and the last word. The last four words of a series are
//! the first epoch, the seconds per interval, the words per interval and the number of intervals. Segments of states have six words per state, then
//! their epochs, every hundredth of these once more, the number of states that are interpolated less one, and the number of states.

use glam::DVec3;

use crate::ephemeris::State;
use crate::error::{Error, Result};
use crate::sunlight::newton;

/// Bytes per record, and per word.
const RECORD: usize = 1024;
const WORD: usize = 8;
/// Words per summary, and the most summaries of a record.
const SUMMARY: usize = 5;
const SUMMARIES: usize = 25;
/// The number of the axes of the ICRF, which NAIF calls J2000.
const J2000: i32 = 1;
/// The most segments between a body and the barycentre of the solar system.
const LONGEST_CHAIN: usize = 8;
/// The barycentre of the solar system, and the centre of the Earth.
const BARYCENTER: i32 = 0;
const EARTH: i32 = 399;

/// The segments of an SPK file.
#[derive(Clone, Debug)]
pub(crate) struct Spk {
    bytes: Vec<u8>,
    is_little_endian: bool,
    segments: Vec<Segment>,
}

/// A segment.
#[derive(Clone, Copy, Debug)]
struct Segment {
    target: i32,
    center: i32,
    /// First and last instant, in seconds of TDB since J2000.
    span: (f64, f64),
    /// Offset of the data in bytes.
    offset: usize,
    data: Data,
}

/// The data of a segment.
#[derive(Clone, Copy, Debug)]
enum Data {
    /// Types 2 and 3.
    Series(Series),
    /// Types 9 and 13.
    States(States),
}

#[derive(Clone, Copy, Debug)]
struct Series {
    has_velocity: bool,
    first: f64,
    interval_s: f64,
    /// Words per interval, and coefficients per component.
    words: usize,
    terms: usize,
    intervals: usize,
}

#[derive(Clone, Copy, Debug)]
struct States {
    count: usize,
    /// States through which a polynomial passes.
    window: usize,
    /// Whether the polynomial has the velocities, too. Otherwise they have one of their own.
    is_hermite: bool,
}

/// The most states through which a polynomial passes.
const WIDEST: usize = 28;
/// Words per state, and epochs per copy in the directory of epochs.
const STATE: usize = 6;
const DIRECTORY: usize = 100;

fn bad(why: impl std::fmt::Display) -> Error {
    Error::InvalidArgument(format!("the SPK file is invalid: {why}"))
}

impl Spk {
    /// Whether these bytes are a DAF, of which an SPK is one kind.
    pub(crate) fn is_daf(bytes: &[u8]) -> bool {
        bytes.starts_with(b"DAF/") || bytes.starts_with(b"NAIF/DAF")
    }

    /// Reads the summaries. Segments of other types and with other axes are skipped.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the bytes are no SPK file, if an address is outside the file, or if a segment of type 2, 3, 9 or 13 is damaged.
    pub(crate) fn parse(bytes: Vec<u8>) -> Result<Self> {
        if !bytes.starts_with(b"DAF/SPK ") || bytes.len() < RECORD {
            return Err(bad("it does not start with DAF/SPK; other kernels and files before 1994 are not read"));
        }
        let is_little_endian = match &bytes[88..96] {
            b"LTL-IEEE" => true,
            b"BIG-IEEE" => false,
            _ => return Err(bad("its number format is neither LTL-IEEE nor BIG-IEEE")),
        };
        let mut file = Self { bytes, is_little_endian, segments: Vec::new() };
        if (file.integer(8), file.integer(12)) != (Some(2), Some(6)) {
            return Err(bad("its summaries do not have 2 numbers and 6 integers"));
        }
        let mut record = file.integer(76).unwrap_or(0) as f64;
        let mut others = Vec::new();
        for _ in 0..=file.bytes.len() / RECORD {
            if record == 0.0 {
                break;
            }
            let valid = record >= 1.0 && record.fract() == 0.0 && record <= (file.bytes.len() / RECORD) as f64;
            if !valid {
                return Err(bad(format!("summary record {record} is not in the file")));
            }
            let at = (record as usize - 1) * RECORD;
            let (next, count) = (file.number(at)?, file.number(at + 2 * WORD)?);
            if !(0.0..=SUMMARIES as f64).contains(&count) {
                return Err(bad(format!("summary record {record} has {count} summaries: expected 0 to {SUMMARIES}")));
            }
            for i in 0..count as usize {
                match file.segment(at + (3 + SUMMARY * i) * WORD)? {
                    Ok(segment) => file.segments.push(segment),
                    Err(other) => others.push(other),
                }
            }
            record = next;
        }
        if file.segments.is_empty() {
            others.sort_unstable();
            others.dedup();
            const NONE: &str = "no segment of type 2, 3, 9 or 13 in the axes 1 (J2000)";
            let others: Vec<String> =
                others.iter().map(|(kind, frame)| format!("type {kind} in the axes {frame}")).collect();
            return Err(match others.is_empty() {
                true => bad(format!("it has {NONE}")),
                false => {
                    Error::InvalidArgument(format!("the SPK file has {NONE}: its segments have {}", others.join(", ")))
                }
            });
        }
        Ok(file)
    }

    /// The segment of a summary, or its type and its axes if these are not read.
    fn segment(&self, at: usize) -> Result<std::result::Result<Segment, (i32, i32)>> {
        let span = (self.number(at)?, self.number(at + WORD)?);
        let mut integers = [0; 6];
        for (i, value) in integers.iter_mut().enumerate() {
            *value = self.integer(at + 2 * WORD + 4 * i).ok_or_else(|| bad("it ends within a summary"))?;
        }
        let [target, center, frame, kind, begin, end] = integers;
        if !matches!(kind, 2 | 3 | 9 | 13) || frame != J2000 {
            return Ok(Err((kind, frame)));
        }
        let damaged = |why: &str| bad(format!("the segment of body {target} relative to {center}: {why}"));
        let length = i64::from(end) - i64::from(begin) + 1;
        if begin < 1 || length < 6 || end as usize > self.bytes.len() / WORD {
            return Err(damaged(&format!("its words {begin} to {end} are not in the file")));
        }
        let (offset, length) = ((begin as usize - 1) * WORD, length as usize);
        let (data, covered) = match kind {
            2 | 3 => self.series(offset, length, kind == 3),
            _ => self.states(offset, length, kind == 13),
        }
        .map_err(|why| damaged(&why))?;
        // A rounding error of the last epoch.
        if !(span.0 <= span.1 && span.0 >= covered.0 - 1e-3 && span.1 <= covered.1 + 1e-3) {
            return Err(damaged("its epochs are not those of its data"));
        }
        Ok(Ok(Segment { target, center, span, offset, data }))
    }

    /// The series of a segment, and the first and last instant. An error is the reason.
    fn series(&self, offset: usize, length: usize, has_velocity: bool) -> Result<(Data, (f64, f64)), String> {
        let [first, interval_s, words, intervals] =
            [4, 3, 2, 1].map(|back| self.number(offset + (length - back) * WORD).unwrap_or(f64::NAN));
        let components: u32 = if has_velocity { 6 } else { 3 };
        let fits = words >= 2.0 + f64::from(components)
            && intervals >= 1.0
            && words * intervals + 4.0 == length as f64
            && words.fract() == 0.0
            && intervals.fract() == 0.0
            && (words as usize - 2).is_multiple_of(components as usize);
        if !fits {
            return Err(format!("{intervals} intervals of {words} words do not fill its {length} words"));
        }
        if !(first.is_finite() && interval_s > 0.0 && interval_s.is_finite()) {
            return Err("its epochs are not those of its data".into());
        }
        let (words, intervals) = (words as usize, intervals as usize);
        let terms = (words - 2) / components as usize;
        let data = Data::Series(Series { has_velocity, first, interval_s, words, terms, intervals });
        Ok((data, (first, first + interval_s * intervals as f64)))
    }

    /// The states of a segment, and the first and last instant. An error is the reason.
    fn states(&self, offset: usize, length: usize, is_hermite: bool) -> Result<(Data, (f64, f64)), String> {
        let [degree, count] = [2, 1].map(|back| self.number(offset + (length - back) * WORD).unwrap_or(f64::NAN));
        let words = |count: usize| count * (STATE + 1) + (count - 1) / DIRECTORY + 2;
        let fits = count >= 1.0 && count.fract() == 0.0 && count < length as f64 && words(count as usize) == length;
        if !fits {
            return Err(format!("{count} states do not fill its {length} words"));
        }
        if !(degree.fract() == 0.0 && (0.0..WIDEST as f64).contains(&degree)) {
            return Err(format!("{} states per polynomial: expected 1 to {WIDEST}", degree + 1.0));
        }
        let count = count as usize;
        let epoch = |i: usize| self.number(offset + (STATE * count + i) * WORD).unwrap_or(f64::NAN);
        if (0..count).any(|i| !epoch(i).is_finite() || i > 0 && epoch(i) <= epoch(i - 1)) {
            return Err("the epochs of its states are not in order".into());
        }
        let window = (degree as usize + 1).min(count);
        Ok((Data::States(States { count, window, is_hermite }), (epoch(0), epoch(count - 1))))
    }

    /// Whether the file has positions of a body relative to the barycentre of the solar system, at some instant.
    pub(crate) fn has(&self, mut body: i32) -> bool {
        for _ in 0..LONGEST_CHAIN {
            match self.segments.iter().rev().find(|one| one.target == body) {
                Some(segment) => body = segment.center,
                None => break,
            }
        }
        body == BARYCENTER
    }

    /// The times in seconds of TDB since J2000 from the first to the last for which the file leads from a body to the barycentre of the solar system.
    pub(crate) fn hull(&self, mut body: i32) -> (f64, f64) {
        let mut hull = (f64::NEG_INFINITY, f64::INFINITY);
        for _ in 0..LONGEST_CHAIN {
            let spans = self.spans(body);
            let (Some(first), Some(last)) = (spans.first(), spans.last()) else { break };
            hull = (hull.0.max(first.0), hull.1.min(last.1));
            match self.segments.iter().rev().find(|one| one.target == body) {
                Some(segment) => body = segment.center,
                None => break,
            }
        }
        hull
    }

    /// Position and velocity of a body relative to the barycentre of the solar system, in km and km/s. Later segments take precedence.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if a segment is missing for this instant.
    pub(crate) fn barycentric(&self, body: i32, tdb_seconds: f64) -> Result<State> {
        self.relative(body, BARYCENTER, tdb_seconds)
    }

    /// Position and velocity of a body relative to the centre of the Earth, in km and km/s. Without a chain of segments from the body to the Earth,
    /// the file must have both relative to the barycentre of the solar system.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if a segment is missing for this instant.
    pub(crate) fn geocentric(&self, body: i32, tdb_seconds: f64) -> Result<State> {
        self.relative(body, EARTH, tdb_seconds).or_else(|_| {
            let (own, earth) = (self.barycentric(body, tdb_seconds)?, self.barycentric(EARTH, tdb_seconds)?);
            Ok(State { position: own.position - earth.position, velocity: own.velocity - earth.velocity })
        })
    }

    /// The times in seconds of TDB since J2000 that the segments of a body cover, in order. Segments that touch or overlap are one.
    pub(crate) fn spans(&self, body: i32) -> Vec<(f64, f64)> {
        let mut all: Vec<(f64, f64)> =
            self.segments.iter().filter(|one| one.target == body).map(|one| one.span).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut merged: Vec<(f64, f64)> = Vec::new();
        for span in all {
            match merged.last_mut().filter(|last| span.0 <= last.1) {
                Some(last) => last.1 = last.1.max(span.1),
                None => merged.push(span),
            }
        }
        merged
    }

    /// The bodies that have segments, in order.
    pub(crate) fn bodies(&self) -> Vec<i32> {
        let mut all: Vec<i32> = self.segments.iter().map(|one| one.target).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn relative(&self, body: i32, center: i32, tdb_seconds: f64) -> Result<State> {
        let (mut state, mut from) = (State::default(), body);
        for _ in 0..LONGEST_CHAIN {
            if from == center {
                return Ok(state);
            }
            let covers = |one: &&Segment| one.target == from && (one.span.0..=one.span.1).contains(&tdb_seconds);
            let Some(segment) = self.segments.iter().rev().find(covers) else { break };
            let part = self.evaluate(segment, tdb_seconds)?;
            state.position += part.position;
            state.velocity += part.velocity;
            from = segment.center;
        }
        let spans = self.segments.iter().filter(|one| one.target == from).map(|one| one.span);
        let date = |seconds: f64| 2_451_545.0 + seconds / crate::time::DAY;
        let known = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).map_or(String::new(), |(first, last)| {
            format!(": it has those of the Julian dates {:.1} to {:.1}", date(first), date(last))
        });
        Err(Error::InvalidArgument(format!(
            "the SPK file has no positions of body {from} for the Julian date {:.5} (TDB){known}",
            date(tdb_seconds)
        )))
    }

    fn evaluate(&self, segment: &Segment, tdb_seconds: f64) -> Result<State> {
        let state = match &segment.data {
            Data::Series(series) => self.evaluate_series(segment, series, tdb_seconds)?,
            Data::States(states) => self.interpolate(segment.offset, states, tdb_seconds)?,
        };
        if !(state.position.is_finite() && state.velocity.is_finite()) {
            return Err(bad(format!("body {} has numbers that are not finite at {tdb_seconds} s", segment.target)));
        }
        Ok(state)
    }

    /// The polynomial through the states around an instant.
    fn interpolate(&self, offset: usize, states: &States, tdb_seconds: f64) -> Result<State> {
        let &States { count, window, is_hermite } = states;
        let epoch = |i: usize| self.number(offset + (STATE * count + i) * WORD);
        // The first state that is later.
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = usize::midpoint(low, high);
            if epoch(middle)? <= tdb_seconds {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        // Half of the states are before it; of an odd number, the state nearest to the instant is the middle.
        let is_nearer = low < count && low > 0 && epoch(low)? - tdb_seconds < tdb_seconds - epoch(low - 1)?;
        let middle = low + usize::from(window % 2 == 1 && is_nearer);
        let first = middle.saturating_sub(window.div_ceil(2)).min(count - window);
        let vector = |state: usize, at: usize| -> Result<DVec3> {
            let word = |i: usize| self.number(offset + (STATE * state + at + i) * WORD);
            Ok(DVec3::new(word(0)?, word(1)?, word(2)?))
        };
        let each = if is_hermite { 2 } else { 1 };
        let (mut nodes, mut positions, mut velocities) = (Vec::new(), Vec::new(), Vec::new());
        for state in (first..first + window).flat_map(|state| std::iter::repeat_n(state, each)) {
            nodes.push(epoch(state)?);
            positions.push(vector(state, 0)?);
            velocities.push(vector(state, 3)?);
        }
        let (position, slope) = newton(&nodes, &mut positions, |k| velocities[k], tdb_seconds);
        let velocity = match is_hermite {
            true => slope,
            false => newton(&nodes, &mut velocities, |_| DVec3::ZERO, tdb_seconds).0,
        };
        Ok(State { position, velocity })
    }

    fn evaluate_series(&self, segment: &Segment, series: &Series, tdb_seconds: f64) -> Result<State> {
        let index = ((tdb_seconds - series.first) / series.interval_s).floor();
        let index = index.clamp(0.0, (series.intervals - 1) as f64) as usize;
        let at = segment.offset + index * series.words * WORD;
        let (middle, radius) = (self.number(at)?, self.number(at + WORD)?);
        let x = (tdb_seconds - middle) / radius;
        if !(-1.001..=1.001).contains(&x) {
            return Err(bad(format!("interval {index} of body {} does not contain its epochs", segment.target)));
        }
        let coefficient =
            |component: usize, term: usize| self.number(at + (2 + component * series.terms + term) * WORD);
        let (mut values, mut slopes) = ([0.0; 6], [0.0; 3]);
        for component in 0..if series.has_velocity { 6 } else { 3 } {
            let (mut before, mut now) = ((0.0, 0.0), (1.0, 0.0));
            for term in 0..series.terms {
                let value = coefficient(component, term)?;
                values[component] += value * now.0;
                if component < 3 {
                    slopes[component] += value * now.1;
                }
                let next = match term {
                    0 => (x, 1.0),
                    _ => (2.0 * x * now.0 - before.0, 2.0 * now.0 + 2.0 * x * now.1 - before.1),
                };
                (before, now) = (now, next);
            }
        }
        let position = DVec3::new(values[0], values[1], values[2]);
        let velocity = match series.has_velocity {
            true => DVec3::new(values[3], values[4], values[5]),
            false => DVec3::from(slopes) / radius,
        };
        Ok(State { position, velocity })
    }

    /// The number at an offset in bytes.
    fn number(&self, at: usize) -> Result<f64> {
        let bytes = self.bytes.get(at..at + WORD).and_then(|bytes| bytes.try_into().ok());
        let bytes = bytes.ok_or_else(|| bad("it ends too early"))?;
        Ok(if self.is_little_endian { f64::from_le_bytes(bytes) } else { f64::from_be_bytes(bytes) })
    }

    /// The integer at an offset in bytes.
    fn integer(&self, at: usize) -> Option<i32> {
        let bytes = self.bytes.get(at..at + 4)?.try_into().ok()?;
        Some(if self.is_little_endian { i32::from_le_bytes(bytes) } else { i32::from_be_bytes(bytes) })
    }
}
