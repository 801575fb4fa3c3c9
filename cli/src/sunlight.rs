//! `umbracast sunlight`: the visible fraction of the Sun along trajectories, and when Earth and Moon hide it.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use cpu_time::ProcessTime;
use rayon::prelude::*;
use serde::Serialize;
use umbracast::shadow::{Shadow, ShadowFlux, ShadowKind};
use umbracast::{CancelToken, Device, Precision};
use umbracast_files::{
    AnswerRow, Column, FileWriter, KeptColumns, Number, PreparedFile, StreamFormat, TrajectoryFile, check_output,
    check_target, is_standard_stream, read_spk_trajectories, read_trajectories,
};
use umbracast_sky::{DeltaT, Frame, ShadowInterval, Sunlight, Time};

use super::args::{DeviceArgs, KeepArgs, SummaryArgs, TableArgs};
use super::progress::ProgressDisplay;
use super::sky::SkyArgs;
use super::{print_summary, say};
use crate::error::{Error, Result};
use crate::summary::counted;

const EXAMPLES: &str = "\
TRAJECTORY has positions in km from the centre of the Earth, with their times:
  .csv   columns time (instants in UTC) or unix_s (seconds since 1970), x,y,z,
         and optional vx,vy,vz (km/s) and object. Also .parquet
  .npy   f8 of shape (N, 4): unix_s x y z, or (N, 7): also vx vy vz. Also .npz.
         f4 is refused, because it rounds unix_s to 128 s
  .oem   an Orbit Ephemeris Message of CCSDS as text (KVN) or XML, which names
         its own axes (GCRF, ICRF, EME2000, ITRF, TEME) and time scale (UTC,
         TAI, TT, TDB, GPS). Also .xml
  .bsp   an SPK file of NAIF with segments of type 2, 3, 9 or 13; --target,
         --step
  -      standard input: .csv, .npy or .oem, which is detected
Rows of several objects may be mixed. The states of an object are in order of
time, at most a day apart.
OUT and EVENTS are .csv, .parquet, .npz, .npy or .f32. OUT has a row per state:
  time, object  as in TRAJECTORY, if it has them as text; not in .npz and .npy.
                The time is in UTC, also of an .oem in another scale
  trajectory    index of the object in the order of the file (u4)
  unix_s        seconds of UTC since 1970 (f8)
  fraction      visible part of the Sun's disc, by solid angle (f8)
  kind          lit, penumbra, antumbra or umbra; in .npz and .npy 0 to 3 (u1)
An object with a single state has no intervals. EVENTS has one row per interval
in which a body hides part of the Sun (penumbra, antumbra) or all of it (umbra):
  object, begins, ends        text; not in .npz and .npy
  trajectory, begins_unix_s, ends_unix_s
  body                        earth or moon; in .npz and .npy 0, 1
  kind, duration_s
  begins_earlier, ends_later  whether the first or last state cuts it off
The Earth is the ellipsoid of WGS 84 and the Moon a sphere. Sun and Moon are at
their apparent places (light time and aberration). There is no atmosphere.
Between states, a polynomial of degree 7 is evaluated: through four states with
velocities, or through eight positions. The summary estimates its error. A
warning names the states between which it may be more than 10 km, or between
which the path goes through the Earth.

Examples:
  umbracast sunlight orbit.csv --frame gcrs -o light.csv --events events.csv
  umbracast sunlight satellite.oem -o light.parquet --json

Exit codes: 0 done, 2 bad usage or input, 3 no such device or precision, 4 the
  device failed, 5 reading or writing failed, 130 stopped by Ctrl-C.";

/// Compute the sunlight along trajectories of satellites: the visible fraction of the Sun, and when Earth and Moon hide it
#[derive(Debug, Args)]
#[command(override_usage = "umbracast sunlight [OPTIONS] TRAJECTORY -o OUT")]
#[command(after_long_help = EXAMPLES, after_help = "`umbracast sunlight --help` explains the files and gives examples.")]
pub(crate) struct SunlightArgs {
    /// Positions with times: .csv, .parquet, .npy, .npz, .oem, .xml, .bsp or -
    trajectory: PathBuf,
    /// Axes of the positions: gcrs (also icrf, eme2000), itrf, which rotates with the Earth, or teme, of two-line elements. An .oem names its own
    #[arg(long, value_name = "FRAME", value_parser = |name: &str| Frame::from_name(name).map_err(|error| error.to_string()))]
    frame: Option<Frame>,
    /// Body of an SPK file, .bsp: its number of NAIF, such as -82 [default: the only body]. Positions are in gcrs
    #[arg(long, value_name = "NAIF", allow_negative_numbers = true)]
    target: Option<i32>,
    /// Seconds between the states of an SPK file [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = step)]
    step: Option<f64>,
    /// Output file: .csv, .parquet, .npz, .npy, .f32 or - (standard output)
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Also write the intervals in which Earth or Moon hide part of the Sun: .csv, .parquet, .npz, .npy or .f32
    #[arg(long, value_name = "EVENTS")]
    events: Option<PathBuf>,
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    keep: KeepArgs,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    sky: SkyArgs,
    #[command(flatten)]
    summary: SummaryArgs,
}

/// Parser of `--step`.
fn step(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse().ok().filter(|seconds| (0.001..=86_400.0).contains(seconds));
    number.ok_or_else(|| "expected 0.001 to 86400 seconds".into())
}

/// Number of rows computed and written at a time.
const PIECE: usize = 1 << 18;

/// Seconds of UTC since 1970-01-01, as POSIX counts them.
fn unix_seconds(time: Time, delta_t: DeltaT) -> f64 {
    let (day, second) = time.clock(delta_t);
    (day + Time::UNIX_DAYS) as f64 * 86_400.0 + second
}

/// A row of the output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SunlightRow {
    trajectory: u32,
    unix_s: f64,
    shadow: Shadow,
}

impl AnswerRow for SunlightRow {
    const COLUMNS: &'static [Column<Self>] = &[
        ("trajectory", |row| Number::Id(row.trajectory)),
        ("unix_s", |row| Number::Double(row.unix_s)),
        ("fraction", |row| Number::Double(row.shadow.fraction)),
        ("kind", |row| Number::Word(row.shadow.kind as u8, row.shadow.kind.word())),
    ];
    const MISS: Self = Self { trajectory: 0, unix_s: 0.0, shadow: Shadow::LIT };
}

/// A row of the events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventRow {
    trajectory: u32,
    begins_unix_s: f64,
    ends_unix_s: f64,
    duration_s: f64,
    interval: ShadowInterval,
}

impl AnswerRow for EventRow {
    const COLUMNS: &'static [Column<Self>] = &[
        ("trajectory", |row| Number::Id(row.trajectory)),
        ("begins_unix_s", |row| Number::Double(row.begins_unix_s)),
        ("ends_unix_s", |row| Number::Double(row.ends_unix_s)),
        ("body", |row| Number::Word(row.interval.body as u8, BODIES[row.interval.body])),
        ("kind", |row| Number::Word(row.interval.kind as u8, row.interval.kind.word())),
        ("duration_s", |row| Number::Double(row.duration_s)),
        ("begins_earlier", |row| Number::Flag(row.interval.begins_earlier)),
        ("ends_later", |row| Number::Flag(row.interval.ends_later)),
    ];
    const MISS: Self = Self {
        trajectory: 0,
        begins_unix_s: 0.0,
        ends_unix_s: 0.0,
        duration_s: 0.0,
        interval: ShadowInterval {
            body: 0,
            kind: ShadowKind::Lit,
            begins: 0.0,
            ends: 0.0,
            begins_earlier: false,
            ends_later: false,
        },
    };
}

/// Names of [`Sunlight::BODIES`] in files.
pub(crate) const BODIES: [&str; 2] = ["earth", "moon"];

/// Whether a file can have columns of text.
fn has_text(path: &Path, format: Option<StreamFormat>) -> bool {
    let binary = |word: &str| path.extension().is_some_and(|own| own.eq_ignore_ascii_case(word));
    !["npz", "npy", "f32"].into_iter().any(binary) && format.is_none_or(|format| format.extension() == "csv")
}

pub(crate) fn run(args: &SunlightArgs) -> Result<()> {
    // All checks that need no positions come first.
    let inputs = [&*args.trajectory];
    check_output(&args.output, &inputs, args.table.format)?;
    args.table.check(&inputs, &args.output, args.summary.json)?;
    if let Some(events) = &args.events {
        if is_standard_stream(events) {
            return Err(Error::Usage("events cannot go to standard output: give the name of a file".into()));
        }
        check_output(events, &inputs, None)?;
        if check_target(events)? == check_target(&args.output)? {
            return Err(Error::Usage("-o and --events would both write this file".into()));
        }
    }
    let is_spk = args.trajectory.extension().is_some_and(|own| own.eq_ignore_ascii_case("bsp"));
    if !is_spk && (args.target.is_some() || args.step.is_some()) {
        return Err(Error::bad_file(&*args.trajectory, "--target and --step are for an SPK file, .bsp"));
    }
    if is_spk && args.frame.is_some_and(|frame| frame != Frame::Gcrs) {
        return Err(Error::bad_file(&*args.trajectory, "the axes of an SPK file are gcrs: leave out --frame"));
    }
    let sky = args.sky.sky()?;
    let delta_t = sky.options().delta_t;
    let file = {
        let _working = ProgressDisplay::on("reading trajectories".into(), args.summary.quiet);
        match is_spk {
            true => read_spk_trajectories(&args.trajectory, args.target, args.step.unwrap_or(60.0), delta_t)?,
            false => read_trajectories(&args.trajectory, args.frame, &args.keep.read_options(&args.table), &sky)?,
        }
    };
    let device = Device::open(&args.device.options(Precision::Fast))?;
    let (start, cpu) = (Instant::now(), ProcessTime::now());
    let working = ProgressDisplay::on("computing sunlight".into(), args.summary.quiet);
    let sunlight = Sunlight::new(&sky, &file.trajectories)
        .map_err(|error| Error::bad_file(&*args.trajectory, error.to_string()))?;
    let mut sums = Sums::default();
    let rows = sums.write_rows(args, &device, &file, &sunlight, delta_t)?;
    let intervals = sunlight.intervals();
    intervals.iter().flatten().for_each(|interval| sums.add(interval));
    let events = args.events.as_ref().map(|path| write_events(path, &file, &intervals, delta_t)).transpose()?;
    PreparedFile::persist_all(events.into_iter().chain([rows]))?;
    drop(working);
    let states: usize = file.trajectories.iter().map(|one| one.states().len()).sum();
    if states > file.rows.len() && !args.summary.quiet {
        let left = counted((states - file.rows.len()) as u64, "state");
        let path = args.trajectory.display();
        say(&format!(
            "note: {path}: {left} outside USEABLE_START_TIME to USEABLE_STOP_TIME: for the interpolation only"
        ));
    }
    let check = sunlight.check();
    // Printed even with `--quiet`, because the events are probably wrong.
    check.doubts.iter().for_each(|doubt| say(&format!("warning: {}: {doubt}", args.trajectory.display())));
    let [first, last] = time_span(&file);
    let [first_time, last_time] = [first, last].map(|time| time.text(0, delta_t).to_string());
    if (0.0..JANUARY_S).contains(&unix_seconds(first, delta_t)) {
        let question = "are their times seconds since 1970-01-01?";
        let path = args.trajectory.display();
        say(&format!("warning: {path}: the states are from {first_time} to {last_time}: {question}"));
    }
    let [lit, penumbra, antumbra, umbra] = sums.kinds;
    let [[_, earth_penumbra_s, earth_antumbra_s, earth_umbra_s], [_, moon_penumbra_s, moon_antumbra_s, moon_umbra_s]] =
        sums.seconds;
    let summary = SunlightSummary {
        device: device.name(),
        objects: file.trajectories.len(),
        states: file.rows.len(),
        first_time,
        last_time,
        lit,
        penumbra,
        antumbra,
        umbra,
        intervals: sums.intervals,
        earth_penumbra_s,
        earth_antumbra_s,
        earth_umbra_s,
        moon_penumbra_s,
        moon_antumbra_s,
        moon_umbra_s,
        interpolation_error_km: check.interpolation_error_km,
        seconds: start.elapsed().as_secs_f64(),
        cpu_seconds: cpu.elapsed().as_secs_f64(),
        output: &args.output,
        events: args.events.as_deref(),
    };
    print_summary(&summary, &summary.line(), args.summary.json, args.summary.quiet)
}

/// Seconds of UTC since 1970 below which times are probably counted from elsewhere: a Julian date is in this January, too.
const JANUARY_S: f64 = 31.0 * 86_400.0;

/// The first and the last instant of the rows.
fn time_span(file: &TrajectoryFile) -> [Time; 2] {
    let times = file.rows.iter().map(|&[one, state]| file.trajectories[one as usize].states()[state as usize].time);
    let wider = |[first, last]: [Time; 2], [begins, ends]: [Time; 2]| {
        [if begins < first { begins } else { first }, if ends > last { ends } else { last }]
    };
    times.map(|time| [time; 2]).reduce(wider).unwrap_or_default()
}

/// Writes the intervals. The file is not named yet.
fn write_events(
    path: &Path,
    file: &TrajectoryFile,
    intervals: &[Vec<ShadowInterval>],
    delta_t: DeltaT,
) -> Result<PreparedFile> {
    let mut rows = Vec::new();
    let mut kept = KeptColumns::new(["object", "begins", "ends"].map(String::from).to_vec());
    for ((number, trajectory), intervals) in (0..).zip(&file.trajectories).zip(intervals) {
        let Some(first) = trajectory.states().first() else { continue };
        for &interval in intervals {
            let [begins, ends] = [interval.begins, interval.ends].map(|seconds| first.time.plus(seconds));
            rows.push(EventRow {
                trajectory: number,
                begins_unix_s: unix_seconds(begins, delta_t),
                ends_unix_s: unix_seconds(ends, delta_t),
                duration_s: interval.ends - interval.begins,
                interval,
            });
            kept.push(trajectory.object());
            [begins, ends].iter().for_each(|time| kept.push(&time.text(6, delta_t).to_string()));
        }
    }
    let kept = if has_text(path, None) { kept } else { KeptColumns::default() };
    let mut writer = FileWriter::create_kept(path, EventRow::COLUMNS.to_vec(), kept.names(), None)?;
    writer.write_kept(&rows, &kept, 0)?;
    Ok(writer.complete(&CancelToken::new())?)
}

/// Totals so far.
#[derive(Default)]
struct Sums {
    kinds: [u64; 4],
    intervals: u64,
    /// Seconds by body and kind of shadow.
    seconds: [[f64; 4]; 2],
}

impl Sums {
    /// Computes the fractions of all rows, and writes them. The file is not named yet.
    fn write_rows(
        &mut self,
        args: &SunlightArgs,
        device: &Device,
        file: &TrajectoryFile,
        sunlight: &Sunlight,
        delta_t: DeltaT,
    ) -> Result<PreparedFile> {
        let none = KeptColumns::default();
        let kept = if args.keep.is_given() || has_text(&args.output, args.table.format) { &file.kept } else { &none };
        let columns = SunlightRow::COLUMNS.to_vec();
        let mut writer = FileWriter::create_kept(&args.output, columns, kept.names(), args.table.format)?;
        for (piece, rows) in file.rows.chunks(PIECE).enumerate() {
            let found = device.shadows_by_row(rows.len(), &|i, row| {
                let [trajectory, index] = rows[i].map(|number| number as usize);
                sunlight.row(trajectory, index, row);
            })?;
            let row = |(&[trajectory, index], found): (&[u32; 2], &ShadowFlux)| {
                let time = file.trajectories[trajectory as usize].states()[index as usize].time;
                SunlightRow { trajectory, unix_s: unix_seconds(time, delta_t), shadow: found.shadow }
            };
            let out: Vec<SunlightRow> = rows.par_iter().zip(&found).map(row).collect();
            out.iter().for_each(|row| self.kinds[row.shadow.kind as usize] += 1);
            writer.write_kept(&out, kept, piece * PIECE)?;
            if writer.is_closed() {
                break;
            }
        }
        Ok(writer.complete(&CancelToken::new())?)
    }

    fn add(&mut self, interval: &ShadowInterval) {
        self.intervals += 1;
        self.seconds[interval.body][interval.kind as usize] += interval.ends - interval.begins;
    }
}

/// Summary: one line of text, or one JSON object.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SunlightSummary<'a> {
    device: &'a str,
    /// Objects of a table, or segments of a message.
    objects: usize,
    states: usize,
    /// The instant of the first state, in UTC.
    first_time: String,
    /// The instant of the last state, in UTC.
    last_time: String,
    /// States by kind of shadow.
    lit: u64,
    penumbra: u64,
    antumbra: u64,
    umbra: u64,
    /// Intervals in which a body hides part of the Sun.
    intervals: u64,
    /// Seconds in the penumbra of the Earth, without its antumbra, summed over all objects.
    earth_penumbra_s: f64,
    /// Seconds in the antumbra of the Earth, where a ring of the Sun is left, summed over all objects.
    earth_antumbra_s: f64,
    /// Seconds in the umbra of the Earth, which hides all of the Sun, summed over all objects.
    earth_umbra_s: f64,
    /// Seconds in the penumbra of the Moon, without its antumbra, summed over all objects.
    moon_penumbra_s: f64,
    /// Seconds in the antumbra of the Moon, where a ring of the Sun is left, summed over all objects.
    moon_antumbra_s: f64,
    /// Seconds in the umbra of the Moon, which hides all of the Sun, summed over all objects.
    moon_umbra_s: f64,
    /// Estimate of the largest error of positions between states, in km; null if an object has two states, or if none has more than one.
    interpolation_error_km: Option<f64>,
    /// Excludes reading the trajectories; includes writing.
    seconds: f64,
    /// CPU time of all cores.
    cpu_seconds: f64,
    output: &'a Path,
    events: Option<&'a Path>,
}

impl SunlightSummary<'_> {
    fn line(&self) -> String {
        let kinds =
            [(self.lit, "lit"), (self.penumbra, "penumbra"), (self.antumbra, "antumbra"), (self.umbra, "umbra")];
        let mut line = format!(
            "{}: {}, {} from {} to {}: {}; {}: Earth's penumbra {:.1} s, antumbra {:.1} s, umbra {:.1} s, \
                Moon's penumbra {:.1} s, antumbra {:.1} s, umbra {:.1} s",
            self.device,
            counted(self.objects as u64, "object"),
            counted(self.states as u64, "state"),
            self.first_time,
            self.last_time,
            kinds.map(|(count, word)| format!("{count} {word}")).join(", "),
            counted(self.intervals, "interval"),
            self.earth_penumbra_s,
            self.earth_antumbra_s,
            self.earth_umbra_s,
            self.moon_penumbra_s,
            self.moon_antumbra_s,
            self.moon_umbra_s,
        );
        if let Some(error) = self.interpolation_error_km {
            line += &format!("; interpolation within {error:.1e} km");
        }
        line += &format!("; {:.0} ms; wrote {}", 1e3 * self.seconds, self.output.display());
        if let Some(events) = self.events {
            line += &format!(" and {}", events.display());
        }
        line
    }
}
