//! Reader of trajectories: tables of positions with their times, and Orbit Ephemeris Messages.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;

use glam::DVec3;
use umbracast::memory::try_push;
use umbracast_sky::{DatePrecision, DeltaT, Error as SkyError, Frame, Sky, Time, Trajectory, TrajectoryState};

use super::input::Input;
use super::oem::{is_message, read_oem};
use super::read_options::{ExtraColumns, ReadOptions};
use super::small_csv::{SmallColumn, read_small_pipe, read_small_text};
use super::table::OpenTable;
use super::vectors::read_spk;
use crate::error::{Result, bad_file, cannot_read};
use crate::escape::quoted;
use crate::format::{StreamFormat, extension};
use crate::schema::convert::RowLocation;
use crate::schema::headings::{meanings_of, split};
use crate::schema::kept::KeptColumns;
use crate::schema::kinds::TRAJECTORIES;

/// Trajectories of a file.
#[derive(Clone, Debug, Default)]
pub struct TrajectoryFile {
    /// One per object of a table, in the order in which they appear, and one per segment of a message.
    pub trajectories: Vec<Trajectory>,
    /// For each row of the file: the index of its trajectory, and that of its state. States of a message outside its useable span have none.
    pub rows: Vec<[u32; 2]>,
    /// The columns `time` and `object` as text, if the file has them. Times are in UTC, whatever the offset or the time system in the file.
    pub kept: KeptColumns,
}

/// Seconds per day.
const DAY_S: f64 = 86_400.0;

/// Reads trajectories, in km and km/s from the centre of the Earth.
///
/// A table (`.csv`, `.parquet`, `.npz`, `.npy` of shape (N, 4) or (N, 7)) has the columns `unix_s` (seconds of UTC since 1970-01-01, as POSIX
/// counts them) or `time` (instants in UTC, as text), `x`, `y`, `z`, and optional `vx`, `vy`, `vz` and `object`. Rows of several objects may be
/// mixed. `unix_s` in f4 is refused, except in text. `.oem` and `.xml` are an Orbit Ephemeris Message of CCSDS (502.0-B) as text (KVN) or as XML, which
/// names its own axes and time scale; a pipe without an extension may be one, too.
///
/// `frame` has the axes: tables need it, and for a message it must agree. `sky` must cover all times, and has ΔT for those before 1972.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) if the file cannot be read. [`Error::BadFile`](crate::Error::BadFile) with the row, the field and the value if it cannot be parsed, lacks a column or
/// the axes, or has a state that [`Trajectory::new`] refuses or whose time the ephemeris of `sky` does not cover.
pub fn read_trajectories(
    path: &Path,
    frame: Option<Frame>,
    options: &ReadOptions,
    sky: &Sky,
) -> Result<TrajectoryFile> {
    let delta_t = sky.options().delta_t;
    let own = extension(path);
    // What has no extension is a pipe, or is refused. Its first bytes tell messages from tables.
    let mut piped = own.is_empty().then(|| Input::open(path)).transpose()?;
    let start = piped.as_mut().map_or(Ok(&[][..]), |input| input.fill_buf()).map_err(|e| cannot_read(path, e))?;
    let is_message = is_message(start) && options.stream_format.is_none();
    let draft = match piped {
        Some(input) if is_message && input.length().is_none() => {
            read_oem(path, &read_small_pipe(input, "trajectories")?, frame, delta_t)?
        }
        _ if matches!(&*own, "oem" | "xml") => read_oem(path, &read_small_text(path, "trajectories")?, frame, delta_t)?,
        piped => read_table(path, piped, frame, options, delta_t)?,
    };
    draft.finish(path, sky)
}

/// Reads the trajectories of a body of an SPK file, `.bsp`, by [`Trajectory::from_spk`]: states every `step_s` seconds.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) if the file cannot be read; [`Error::BadFile`](crate::Error::BadFile) for the errors of [`Trajectory::from_spk`].
pub fn read_spk_trajectories(path: &Path, target: Option<i32>, step_s: f64, delta_t: DeltaT) -> Result<TrajectoryFile> {
    let found = Trajectory::from_spk(read_spk(path)?, target, step_s);
    let trajectories = found.map_err(|error| bad_file(path, error.to_string()))?;
    let mut file =
        TrajectoryFile { kept: KeptColumns::new(vec!["time".into(), "object".into()]), ..Default::default() };
    for (number, one) in (0..).zip(&trajectories) {
        for (index, state) in (0..).zip(one.states()) {
            try_push("trajectories", &mut file.rows, [number, index])?;
            file.kept.push(&state.time.text(6, delta_t).to_string());
            file.kept.push(one.object());
        }
    }
    Ok(TrajectoryFile { trajectories, ..file })
}

/// An instant in UTC. An error is the reason.
pub(super) fn instant(text: &str, delta_t: DeltaT) -> Result<Time, String> {
    match Time::parse(text, delta_t) {
        Ok((time, DatePrecision::Instant)) => Ok(time),
        Ok(_) => Err(format!("time is '{}': expected an instant, YYYY-MM-DDTHH:MM:SSZ", quoted(text))),
        Err(error) => Err(format!("time: {error}")),
    }
}

/// The text of an instant, which is in UTC but for its offset: as it is, or without the offset, to as many decimals, at most six.
fn in_utc<'a>(text: &'a str, time: Time, delta_t: DeltaT) -> Cow<'a, str> {
    // The date may have signs.
    let clock = text.trim().get(10..).unwrap_or_default();
    if !clock.contains(['+', '-']) {
        return text.into();
    }
    let decimals = clock.split_once('.').map_or(0, |(_, part)| part.bytes().take_while(u8::is_ascii_digit).count());
    time.text(decimals, delta_t).to_string().into()
}

/// The states of an object so far.
pub(super) struct ObjectStates {
    pub(super) object: String,
    pub(super) frame: Frame,
    pub(super) states: Vec<TrajectoryState>,
    pub(super) places: Vec<RowLocation>,
    /// The first and last instant of the useable span, where they are given.
    pub(super) useable: [Option<Time>; 2],
}

impl ObjectStates {
    pub(super) fn new(object: &str, frame: Frame, useable: [Option<Time>; 2]) -> Self {
        Self { object: object.into(), frame, states: Vec::new(), places: Vec::new(), useable }
    }

    pub(super) fn is_useable(&self, time: Time) -> bool {
        let [first, last] = self.useable;
        first.is_none_or(|first| time >= first) && last.is_none_or(|last| time <= last)
    }
}

/// A file whose states have not been checked.
pub(super) struct Draft {
    pub(super) objects: Vec<ObjectStates>,
    pub(super) rows: Vec<[u32; 2]>,
    pub(super) kept: KeptColumns,
}

impl Draft {
    /// Appends a state to an object, given by its index, and a row if the state is in the object's useable span.
    pub(super) fn push(&mut self, object: usize, state: TrajectoryState, place: RowLocation) -> Result<()> {
        let own = &mut self.objects[object];
        if own.is_useable(state.time) {
            try_push("trajectories", &mut self.rows, [object as u32, own.states.len() as u32])?;
        }
        try_push("trajectories", &mut own.states, state)?;
        Ok(try_push("trajectories", &mut own.places, place)?)
    }

    fn finish(self, path: &Path, sky: &Sky) -> Result<TrajectoryFile> {
        if self.objects.iter().all(|one| one.states.is_empty()) {
            return Err(bad_file(path, "the file contains no states"));
        }
        if self.rows.is_empty() {
            return Err(bad_file(path, "no state is between USEABLE_START_TIME and USEABLE_STOP_TIME"));
        }
        let checked = |one: ObjectStates| {
            for (state, place) in one.states.iter().zip(&one.places) {
                let covered = sky.ephemeris().check(state.time);
                covered.map_err(|error| bad_file(path, format!("{}: time: {error}", place.describe(path))))?;
            }
            let ends = [one.states.first(), one.states.last()].map(|state| state.map(|state| state.time));
            let trajectory = Trajectory::new(one.object, one.frame, one.states).map_err(|error| match error {
                SkyError::Umbracast(umbracast::Error::BadRecord { index, field, value, why, .. }) => {
                    let place = one.places[index as usize].describe(path);
                    bad_file(path, format!("{place}: {field} is {value}: {why}"))
                }
                other => bad_file(path, other.to_string()),
            })?;
            let [first, last] = one.useable;
            Ok(match ends {
                [Some(begin), Some(end)] if first.or(last).is_some() => {
                    trajectory.with_useable_span(first.unwrap_or(begin), last.unwrap_or(end))
                }
                _ => trajectory,
            })
        };
        let trajectories = self.objects.into_iter().map(checked).collect::<Result<_>>()?;
        Ok(TrajectoryFile { trajectories, rows: self.rows, kept: self.kept })
    }
}

/// Columns of text.
const TEXT: [&str; 2] = ["time", "object"];

/// What they mean. The time may have its scale as a unit: `Time [UTC]`.
const MEANINGS: [SmallColumn; 2] =
    [SmallColumn { names: &["time"], units: Some(&["utc"]) }, SmallColumn { names: &["object"], units: None }];

fn read_table(
    path: &Path,
    piped: Option<Input>,
    frame: Option<Frame>,
    options: &ReadOptions,
    delta_t: DeltaT,
) -> Result<Draft> {
    let own = extension(path);
    if matches!(&*own, "f32" | "states") || own.is_empty() && options.stream_format == Some(StreamFormat::F32) {
        let why = "raw f32 cannot be read as states, since it rounds unix_s to 128 s; \
            save them as .npy, with numpy.save('states.npy', states.astype('float64'))";
        return Err(bad_file(path, why));
    }
    // Only text can have the columns `time` and `object`.
    let source = OpenTable::open_with_text(path, piped, &TRAJECTORIES, &TEXT, &options.unit(Some("km")))?;
    let Some(frame) = frame else {
        let why = "a table does not name the axes of its positions: give the frame, gcrs, itrf or teme";
        return Err(bad_file(path, why));
    };
    let has = |field: usize| source.fields().contains(&field);
    let [has_unix, has_velocity] = [has(0), has(4)];
    if [5, 6].into_iter().any(|field| has(field) != has_velocity) {
        return Err(bad_file(path, "a velocity needs three columns: vx,vy,vz"));
    }
    let names = source.kept().to_vec();
    // Others, such as `time_s`, mean nothing.
    let texts = names.iter().map(|heading| if TEXT.contains(&&*split(heading).0) { heading } else { "" });
    let found = meanings_of(&texts.collect::<Vec<_>>(), &&MEANINGS[..]).map_err(|why| bad_file(path, why))?;
    let [time_at, object_at] = [0, 1].map(|text| found.iter().position(|own| *own == Some(text)));
    if options.extra == ExtraColumns::Refuse
        && let Some(other) = (0..names.len()).find(|at| found[*at].is_none()).map(|at| &names[at])
    {
        let known = "time or unix_s, x, y, z, vx, vy, vz, object";
        let remedy = "other columns need --ignore-extra or --keep";
        return Err(bad_file(path, format!("unknown column '{}': expected {known}; {remedy}", quoted(other))));
    }
    match (has_unix, time_at) {
        (true, Some(_)) => return Err(bad_file(path, "both time and unix_s are given: leave one of them out")),
        (false, None) => {
            return Err(bad_file(path, "there is no column `time` (instants in UTC) or `unix_s` (seconds since 1970)"));
        }
        _ => {}
    }
    // Other columns are repeated only if the caller keeps them.
    let is_kept = |at: usize| options.extra == ExtraColumns::Keep || Some(at) == time_at || Some(at) == object_at;
    let kept = (0..names.len()).filter(|at| is_kept(*at)).collect::<Vec<_>>();
    let kept_names = kept.iter().map(|at| found[*at].map_or(&*names[*at], |text| TEXT[text]).to_owned()).collect();
    let mut draft = Draft { objects: Vec::new(), rows: Vec::new(), kept: KeptColumns::new(kept_names) };
    let mut known: HashMap<String, usize> = HashMap::new();
    source.read(&mut |row| {
        let time = match time_at {
            Some(at) => instant(row.kept[at], delta_t)
                .map_err(|why| bad_file(path, format!("{}: {why}", row.place.describe(path))))?,
            None => {
                let seconds = row.numbers[0].wide;
                // An instant that the ephemeris does not cover is refused later; a wide margin keeps the arithmetic in range.
                if seconds.is_nan() || seconds.abs() > 1e11 {
                    let place = row.place.describe(path);
                    let why = format!("{place}: unix_s is '{seconds}': expected seconds since 1970-01-01");
                    return Err(bad_file(path, why));
                }
                let day = (seconds / DAY_S).floor();
                Time::from_clock(day as i64 - Time::UNIX_DAYS, seconds - day * DAY_S, delta_t)
            }
        };
        let number = |field: usize| row.numbers[field].wide;
        let position = DVec3::new(number(1), number(2), number(3));
        let velocity = has_velocity.then(|| DVec3::new(number(4), number(5), number(6)));
        let name = object_at.map_or("", |at| row.kept[at]);
        let index = match known.get(name) {
            Some(&index) => index,
            None => {
                known.insert(name.into(), draft.objects.len());
                draft.objects.push(ObjectStates::new(name, frame, [None; 2]));
                draft.objects.len() - 1
            }
        };
        for &at in &kept {
            match row.kept[at] {
                text if Some(at) == time_at => draft.kept.push(&in_utc(text, time, delta_t)),
                text => draft.kept.push(text),
            }
        }
        draft.push(index, TrajectoryState { time, position, velocity }, row.place)
    })?;
    Ok(draft)
}
