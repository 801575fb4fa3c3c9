//! Reader of Orbit Ephemeris Messages of CCSDS (502.0-B-3, section 5), as text (KVN) and as [XML](super::oem_xml): states of an object in
//! segments. Covariances and accelerations are not used.

use std::path::Path;

use glam::DVec3;
use umbracast_sky::{DatePrecision, DeltaT, Frame, Time, TrajectoryState, date_from_days};

use super::bounded_text::LONE_RETURN;
use super::csv;
use super::oem_xml;
use super::trajectories::{Draft, ObjectStates};
use crate::error::{Error, Result, bad_file};
use crate::escape::quoted;
use crate::schema::convert::RowLocation;
use crate::schema::kept::KeptColumns;

/// A time scale of a message, by its seconds behind TT.
#[derive(Clone, Copy)]
enum TimeSystem {
    Utc,
    /// Seconds to add for TT.
    Uniform(f64),
    Tdb,
}

/// Where a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Header,
    Metadata,
    States,
    Covariance,
}

/// The metadata of a segment so far.
#[derive(Default)]
struct Metadata {
    object: Option<String>,
    is_about_earth: bool,
    frame: Option<Frame>,
    times: Option<TimeSystem>,
    /// The line and the value of each of [`INSTANTS`].
    instants: [Option<(usize, String)>; 3],
}

/// How a message as text begins.
const START: &str = "CCSDS_OEM_VERS";
/// Ends of the span outside which states serve only the interpolation, and the epoch of the axes.
const INSTANTS: [&str; 3] = ["USEABLE_START_TIME", "USEABLE_STOP_TIME", "REF_FRAME_EPOCH"];
/// Days within which TEME of an epoch is read as that of date: they differ by up to 1.2″.
const EPOCH_DAYS: f64 = 7.0;
/// Names of the numbers of a state: position in km, velocity in km/s, acceleration in km/s².
pub(super) const NUMBERS: [&str; 9] = ["X", "Y", "Z", "X_DOT", "Y_DOT", "Z_DOT", "X_DDOT", "Y_DDOT", "Z_DDOT"];

/// Whether a file that begins so is a message. No table begins with `<`.
pub(super) fn is_message(start: &[u8]) -> bool {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    start.starts_with(START.as_bytes()) || is_xml(start)
}

fn is_xml(start: &[u8]) -> bool {
    start.trim_ascii_start().starts_with(b"<")
}

/// Reads a message. A `frame` that differs from that of the message is an error.
pub(super) fn read_oem(path: &Path, text: &str, frame: Option<Frame>, delta_t: DeltaT) -> Result<Draft> {
    let kept = KeptColumns::new(vec!["time".into(), "object".into()]);
    let draft = Draft { objects: Vec::new(), rows: Vec::new(), kept };
    let times = TimeSystem::Utc;
    let mut message =
        Message { path, draft, wanted: frame, delta_t, metadata: Metadata::default(), times, epoch: None };
    if is_xml(text.as_bytes()) {
        oem_xml::read(&mut message, text)?
    } else {
        message.read_lines(text)?
    }
    Ok(message.draft)
}

/// A message, whose states so far are in the draft.
pub(super) struct Message<'a> {
    pub(super) path: &'a Path,
    draft: Draft,
    wanted: Option<Frame>,
    delta_t: DeltaT,
    metadata: Metadata,
    times: TimeSystem,
    /// The epoch of the axes of the segment, if it matters.
    epoch: Option<Time>,
}

impl Message<'_> {
    pub(super) fn bad(&self, line: usize, message: &str) -> Error {
        bad_file(self.path, format!("line {line}: {message}"))
    }

    /// Reads a message as text.
    fn read_lines(&mut self, text: &str) -> Result<()> {
        let (mut part, mut start, mut is_first) = (Part::Header, 0, true);
        for (number, whole) in text.split('\n').enumerate() {
            let (line, place) = (whole.trim(), RowLocation::Byte(start));
            start += whole.len() as u64 + 1;
            if line.is_empty() || line == "COMMENT" || line.starts_with("COMMENT ") {
                continue;
            }
            let at = number + 1;
            if line.contains('\r') {
                return Err(self.bad(at, LONE_RETURN));
            }
            if is_first {
                let version = line.split_once('=').filter(|(key, _)| key.trim() == START).map(|(_, version)| version);
                let expected = || {
                    format!("'{}': expected CCSDS_OEM_VERS = 2.0, the first line of an .oem file, or XML", quoted(line))
                };
                self.check_version(at, version.ok_or_else(|| self.bad(at, &expected()))?)?;
                is_first = false;
                continue;
            }
            part = match (part, line) {
                (Part::Header | Part::States, "META_START") => {
                    self.begin_metadata();
                    Part::Metadata
                }
                (Part::Metadata, "META_STOP") => {
                    self.begin_states(at)?;
                    Part::States
                }
                (Part::States, "COVARIANCE_START") => Part::Covariance,
                (Part::Covariance, "COVARIANCE_STOP") => Part::States,
                (Part::Header, _) if line.contains('=') => part,
                (Part::Metadata, _) => {
                    let pair = line.split_once('=');
                    let expected = || format!("'{}': expected KEYWORD = VALUE or META_STOP", quoted(line));
                    let (key, value) = pair.ok_or_else(|| self.bad(at, &expected()))?;
                    self.add(at, key.trim(), value.trim())?;
                    part
                }
                (Part::Covariance, _) => part,
                (Part::States, _) => {
                    self.add_line(at, line, place)?;
                    part
                }
                (Part::Header, _) => {
                    return Err(self.bad(at, &format!("'{}': expected META_START or KEYWORD = VALUE", quoted(line))));
                }
            };
        }
        match part {
            Part::Metadata => Err(bad_file(self.path, "the file ends before META_STOP: is it complete?")),
            Part::Covariance => Err(bad_file(self.path, "the file ends before COVARIANCE_STOP: is it complete?")),
            Part::Header | Part::States => Ok(()),
        }
    }

    /// Checks the version of a message.
    pub(super) fn check_version(&self, at: usize, version: &str) -> Result<()> {
        if ["1.0", "2.0", "3.0"].contains(&version.trim()) {
            return Ok(());
        }
        Err(self.bad(at, &format!("CCSDS_OEM_VERS is '{}': expected 1.0, 2.0 or 3.0", quoted(version.trim()))))
    }

    /// Begins the metadata of a segment.
    pub(super) fn begin_metadata(&mut self) {
        self.metadata = Metadata::default();
    }

    /// Reads a value of the metadata.
    pub(super) fn add(&mut self, at: usize, key: &str, value: &str) -> Result<()> {
        let shown = quoted(value);
        match key {
            "OBJECT_NAME" => self.metadata.object = Some(value.into()),
            "CENTER_NAME" if value.eq_ignore_ascii_case("earth") => self.metadata.is_about_earth = true,
            "CENTER_NAME" => {
                let why = "expected EARTH: only Earth and Moon hide the Sun here; for other bodies, \
                    visible_fraction of Python and Rust takes the positions";
                return Err(self.bad(at, &format!("CENTER_NAME is '{shown}': {why}")));
            }
            "REF_FRAME" => {
                let frame = Frame::from_name(value).map_err(|error| self.bad(at, &format!("REF_FRAME: {error}")))?;
                if self.wanted.is_some_and(|wanted| wanted != frame) {
                    return Err(self.bad(at, &format!("REF_FRAME is '{shown}', which is not the given frame")));
                }
                self.metadata.frame = Some(frame);
            }
            "TIME_SYSTEM" => {
                self.metadata.times = Some(match value.to_ascii_uppercase().as_str() {
                    "UTC" => TimeSystem::Utc,
                    "TT" => TimeSystem::Uniform(0.0),
                    "TAI" => TimeSystem::Uniform(32.184),
                    "GPS" => TimeSystem::Uniform(32.184 + 19.0),
                    "TDB" => TimeSystem::Tdb,
                    _ => {
                        let why = format!("TIME_SYSTEM is '{shown}': expected UTC, TAI, TT, TDB or GPS");
                        return Err(self.bad(at, &why));
                    }
                });
            }
            _ => {
                if let Some(own) = INSTANTS.iter().position(|known| *known == key) {
                    self.metadata.instants[own] = Some((at, value.into()));
                }
            }
        }
        Ok(())
    }

    /// Begins the states of a segment, whose metadata are complete.
    pub(super) fn begin_states(&mut self, at: usize) -> Result<()> {
        let missing = |key: &str| self.bad(at, &format!("{key} is missing in the metadata"));
        let Metadata { object, is_about_earth, frame, times, instants } = &self.metadata;
        if !is_about_earth {
            return Err(missing("CENTER_NAME"));
        }
        let object = object.as_deref().ok_or_else(|| missing("OBJECT_NAME"))?;
        let (frame, times) = (frame.ok_or_else(|| missing("REF_FRAME"))?, times.ok_or_else(|| missing("TIME_SYSTEM"))?);
        self.times = times;
        let mut found = [None; 3];
        // Other axes than TEME have no epoch, whatever the message says.
        let needed = if frame == Frame::Teme { 3 } else { 2 };
        for ((own, given), key) in found.iter_mut().zip(instants).zip(INSTANTS).take(needed) {
            if let Some((line, text)) = given {
                *own = Some(self.instant(key, text).map_err(|why| self.bad(*line, &why))?);
            }
        }
        let [first, last, epoch] = found;
        if first.is_some() && last.is_some() && first > last {
            return Err(self.bad(at, &format!("{} is after {}", INSTANTS[0], INSTANTS[1])));
        }
        self.epoch = epoch;
        self.draft.objects.push(ObjectStates::new(object, frame, [first, last]));
        Ok(())
    }

    /// Reads a state: the time, three coordinates and three of the velocity, and optional three of the acceleration.
    fn add_line(&mut self, at: usize, line: &str, place: RowLocation) -> Result<()> {
        let mut words = line.split_whitespace();
        let time = words.next().unwrap_or("");
        let mut numbers = [0.0; NUMBERS.len()];
        let mut count = 0;
        for word in words {
            let Some(number) = numbers.get_mut(count) else {
                return Err(self.bad(at, "the state has more than a time and 9 numbers"));
            };
            *number = self.number(at, NUMBERS[count], word)?;
            count += 1;
        }
        if count != 6 && count != 9 {
            let why = format!("the state has {count} numbers: expected x y z vx vy vz after the time");
            return Err(self.bad(at, &why));
        }
        self.add_state(at, time, numbers, place)
    }

    /// A number of a state.
    pub(super) fn number(&self, at: usize, name: &str, text: &str) -> Result<f64> {
        let number = csv::wide_number(text).filter(|number| number.is_finite());
        number.ok_or_else(|| self.bad(at, &format!("{name} is '{}': expected a number", quoted(text))))
    }

    /// Appends a state to the last segment.
    pub(super) fn add_state(&mut self, at: usize, time: &str, numbers: [f64; 9], place: RowLocation) -> Result<()> {
        let [x, y, z, vx, vy, vz, ..] = numbers;
        let (position, velocity) = (DVec3::new(x, y, z), Some(DVec3::new(vx, vy, vz)));
        let instant = self.instant("the time", time).map_err(|why| self.bad(at, &why))?;
        if self.epoch.is_some_and(|epoch| instant.seconds_since(epoch).abs() > EPOCH_DAYS * 86_400.0) {
            let why = "only TEME of date is read: convert the states to GCRF, or to TEME of date without the key";
            return Err(self.bad(at, &format!("the time is more than {EPOCH_DAYS} days from {}: {why}", INSTANTS[2])));
        }
        let object = self.draft.objects.len() - 1;
        let own = &self.draft.objects[object];
        if own.is_useable(instant) {
            // Times are written in UTC, as those of events, and with a month, so that they can be read again.
            let has_month = time.split('T').next().is_some_and(|date| date.matches('-').count() == 2);
            match self.times {
                TimeSystem::Utc if has_month => self.draft.kept.push(time),
                _ => self.draft.kept.push(&instant.text(6, self.delta_t).to_string()),
            }
            self.draft.kept.push(&own.object);
        }
        self.draft.push(object, TrajectoryState { time: instant, position, velocity }, place)
    }

    /// An instant of the message, `YYYY-MM-DDThh:mm:ss` or `YYYY-DDDThh:mm:ss`, in its time scale. An error is the reason, which calls the instant
    /// `name`.
    fn instant(&self, name: &str, text: &str) -> Result<Time, String> {
        let expected = || format!("{name} is '{}': expected YYYY-MM-DDThh:mm:ss or YYYY-DDDThh:mm:ss", quoted(text));
        let (date, clock) = text.split_once('T').ok_or_else(expected)?;
        let clock = clock.strip_suffix('Z').unwrap_or(clock);
        if clock.contains(['+', '-', 'Z']) {
            return Err(expected());
        }
        let day_of_year = date.split_once('-').filter(|(_, day)| day.len() == 3);
        let parse = |text: &str| Time::parse(text, self.delta_t).map_err(|error| format!("{name}: {error}"));
        // The date before the time of day: only some days have a leap second.
        let date = match day_of_year {
            None => date.to_owned(),
            Some((year, day)) => {
                let day: i64 = day.parse().ok().filter(|day| (1..=366).contains(day)).ok_or_else(expected)?;
                let (first, _) = parse(&format!("{year}-01-01"))?;
                let (found, month, day) = date_from_days(first.clock(self.delta_t).0 + day - 1);
                if year.parse() != Ok(found) {
                    return Err(format!("{name} is '{}': the year has no such day", quoted(text)));
                }
                format!("{year}-{month:02}-{day:02}")
            }
        };
        let (read, precision) = parse(&format!("{date}T{clock}"))?;
        if precision != DatePrecision::Instant {
            return Err(expected());
        }
        // The reading of the clock, whatever its scale.
        let (day, second) = read.clock(self.delta_t);
        let uniform = |more: f64| Time::from_tt_seconds((day as f64 - 0.5) * 86_400.0 + second + more);
        Ok(match self.times {
            TimeSystem::Utc => read,
            TimeSystem::Uniform(more) => uniform(more),
            TimeSystem::Tdb => Time::from_tdb_seconds(uniform(0.0).tt_seconds()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The states of an example of the standard, with another centre: those are about Mars.
    fn states(name: &str, text: &str) -> Result<Draft> {
        let about_earth = text.replace("MARS BARYCENTER", "EARTH");
        assert_ne!(text, about_earth);
        read_oem(Path::new(name), &about_earth, None, DeltaT::Table)
    }

    #[test]
    fn the_examples_of_the_standard_are_read_to_their_last_number() {
        let found = states("segments.oem", include_str!("oem/segments.oem")).unwrap();
        let [first, second] = &found.objects[..] else { panic!("{}", found.objects.len()) };
        assert!(first.object == "MARS GLOBAL SURVEYOR" && first.frame == Frame::Gcrs);
        assert_eq!([first.states.len(), second.states.len()], [4, 4]);
        let utc = |text: &str| Time::parse(text, DeltaT::Table).unwrap().0;
        let state = |time: &str, [x, y, z]: [f64; 3], [vx, vy, vz]: [f64; 3]| TrajectoryState {
            time: utc(time),
            position: DVec3::new(x, y, z),
            velocity: Some(DVec3::new(vx, vy, vz)),
        };
        let expected =
            state("2019-12-18T12:02:00.331Z", [2776.033, -336.859, -2008.682], [5.63678, -2.33951, -1.94687]);
        assert_eq!(first.states[2], expected);
        let expected =
            state("2019-12-28T21:29:07.267Z", [-2432.166, -63.042, 1742.754], [7.33702, -3.495867, -1.041945]);
        assert_eq!(second.states[0], expected);
        let expected = state("2019-12-30T01:28:02.267Z", [2164.375, 1115.811, -688.131], [-3.53328, -2.88452, 0.88535]);
        assert_eq!(second.states[3], expected);
        // All of them are outside the useable spans.
        assert_eq!(second.useable, ["2019-12-28T22:08:02.5Z", "2019-12-30T01:18:02.5Z"].map(|text| Some(utc(text))));
        assert!(found.rows.is_empty() && found.kept.rows() == 0, "{:?}", found.rows);

        let text = states("accelerations.oem", include_str!("oem/accelerations.oem")).unwrap();
        let expected = state("2019-12-28T21:28:00.331Z", [-3881.0, 564.0, -682.8], [-3.29, -3.67, 1.64]);
        assert_eq!(text.objects[0].states[3], expected);
        let xml = states("accelerations.xml", include_str!("oem/accelerations.xml")).unwrap();
        assert_eq!(xml.objects[0].states, text.objects[0].states);
        assert_eq!(xml.objects[0].useable, text.objects[0].useable);
    }

    #[test]
    fn days_of_the_year_have_leap_seconds() {
        let read = |time: &str| {
            let text = include_str!("oem/segments.oem").replacen("2019-12-28T22:08:02.5", time, 1);
            states("leap.oem", &text).map(|draft| draft.objects[1].useable[0])
        };
        let leap = read("2016-366T23:59:60.5").unwrap();
        assert_eq!(leap, Some(Time::parse("2016-12-31T23:59:60.5Z", DeltaT::Table).unwrap().0));
        assert_eq!(leap, read("2016-12-31T23:59:60.5Z").unwrap());
        for (time, words) in [
            ("2016-365T23:59:60", "'2016-12-30T23:59:60' is not a date or an instant: there is no such time of day"),
            ("2017-366T23:59:59", "'2017-366T23:59:59': the year has no such day"),
        ] {
            let error = read(time).err().unwrap().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
