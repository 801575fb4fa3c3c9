//! `umbracast contains`: the spheres that contain points.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use clap::Args;
use serde::Serialize;
use umbracast::glam::Vec3;
use umbracast::{CancelToken, Containment, NO_SPHERE};
use umbracast::{Device, DeviceOptions, OnBad, Points, Precision, Query, Report, SceneOptions};
use umbracast_files::{AnswerRow, FileWriter, Heights, RayBatch, RayFile, Role, check_output};

use super::args::{
    DeviceArgs, Given, KeepArgs, Origin, SphereArgs, SummaryArgs, TableArgs, numbers, precisions, words,
};
use super::cast::time_range;
use super::coarse::Rounded;
use super::compare::Reference;
use super::progress::{CastProgress, ProgressDisplay};
use super::ray_input::{first_starts, placed};
use super::stream::read_spheres_from;
use super::summary::counts;
use super::{left_out, print_summary, say, signals};

const EXAMPLES: &str = "\
Files:
  .npy  f4 or f8. Spheres (N, 4): x y z r. Points (M, 3): x y z
  .csv  named columns. Spheres: x,y,z,r, optional velocity vx,vy,vz: at time t
        they are at x + t vx, y + t vy, z + t vz. Ellipsoids: rx,ry,rz instead
        of r, and optional qw,qx,qy,qz, their rotation. Points: x,y,z, optional
        time and skip_id (the id of a sphere to ignore). Spheres and points:
        optional mask (a point tests only spheres whose mask shares a bit with
        its own). Also .npz, and .parquet in builds with --features parquet
  .f32  raw little-endian records of 4 and 3 f32, as in .npy; also named
        .spheres and .points
OUT has one row per point:
  count  number of spheres that contain the point; a point on a surface is
         inside (u4)
  id     lowest row in the file, from 0, of these spheres; without one
         4294967295 in .npz, an empty cell in .csv, null in .parquet (u4)

Examples:
  umbracast contains spheres.csv points.csv -o inside.csv
  umbracast contains spheres.npy points.npy -o inside.npz --device gpu
  umbracast contains moving.csv points.csv -o inside.csv --time 2.5
  umbracast contains moving.csv tracks.csv -o inside.csv --time-range 0,60
  umbracast contains map.csv points.csv -o inside.npz --origin auto --json

Exit codes: 0 done, 2 bad usage or input, 3 no such device or precision, 4 the
  device failed, 5 reading or writing failed, 6 --compare found a violated
  guarantee, 130 stopped by Ctrl-C.";

/// For each point, count the spheres that contain it and report the lowest id
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, after_help = "`umbracast contains --help` explains the files and gives examples.")]
pub(crate) struct ContainsArgs {
    /// Spheres: .npy, .npz, .csv, .parquet, .ply, .xyz, .pdb, .f32, .spheres or -
    spheres: PathBuf,
    /// Points: .npy, .npz, .csv, .parquet, .ply, .xyz, .pdb, .f32, .points or -
    points: PathBuf,
    /// Output file: .npz, .csv, .parquet, .npy, .f32 or - (standard output)
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Subtract a point from all positions in f64 before rounding to f32, for coordinates far from 0: x,y,z, or auto for
    /// the centre of the spheres, or a point near the points if that keeps more digits
    #[arg(long, value_name = "X,Y,Z|auto", allow_hyphen_values = true)]
    origin: Option<Origin>,
    /// Time at which moving spheres (columns vx,vy,vz) are tested; for points without a column time
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = time, conflicts_with = "time_range")]
    time: Option<Given>,
    /// First and last time of points with a column time, for moving spheres [default: 0,1]
    #[arg(long, value_name = "FROM,TO", allow_hyphen_values = true, value_parser = time_range)]
    time_range: Option<[f32; 2]>,
    /// What to do with invalid spheres (NaN, negative radius) and points that are not finite
    #[arg(long, value_parser = words([
        ("refuse", "stop, report the first one, and write nothing", OnBad::Refuse),
        ("skip", "count them; such a sphere contains no point, and no sphere contains such a point", OnBad::Skip),
    ]), default_value = "refuse")]
    on_bad: OnBad,
    /// Precision of the results [default: exact; for ellipsoids standard]
    #[arg(long, value_parser = precisions())]
    precision: Option<Precision>,
    #[command(flatten)]
    sphere_options: SphereArgs,
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    keep: KeepArgs,
    #[command(flatten)]
    device: DeviceArgs,
    /// Also run the CPU engine, count the differences, and fail if they exceed what the precision guarantees
    #[arg(long)]
    compare: bool,
    #[command(flatten)]
    summary: SummaryArgs,
}

/// Parser of `--time`.
fn time(text: &str) -> Result<Given, String> {
    let time = numbers(text, "time", &[1])?[0];
    if time.narrow.is_finite() { Ok(time) } else { Err(format!("time is {}: a time must be finite", time.narrow)) }
}

impl ContainsArgs {
    /// Time range of the scene. `--time` and `--time-range` are errors if no sphere moves.
    fn range(&self, moves: bool) -> Result<[f32; 2]> {
        match (self.time, self.time_range) {
            (None, None) => Ok(SceneOptions::default().time_range),
            (time, range) if moves => Ok(time.map(|time| [time.narrow; 2]).or(range).unwrap_or_default()),
            (time, _) => {
                let (option, spheres) =
                    (if time.is_some() { "--time" } else { "--time-range" }, self.spheres.display());
                Err(Error::Usage(format!("{option} needs moving spheres, but {spheres} has no columns vx,vy,vz")))
            }
        }
    }
}

pub(crate) fn run(args: &ContainsArgs) -> Result<()> {
    // All checks that need no device come first, the cheapest ones before the others.
    check_output(&args.output, &[&args.spheres, &args.points], args.table.format)?;
    args.table.check(&[&args.spheres, &args.points], &args.output, args.summary.json)?;
    let point_options = args.sphere_options.options(args.keep.read_options(&args.table));
    let points = RayFile::<[f32; 3]>::open_with(&args.points, &point_options)?;
    let kept = points.kept().to_vec();
    let sphere_options = args.sphere_options.options(args.keep.sphere_options(&args.table)).on_bad(args.on_bad);
    let (spheres, origin) = read_spheres_from(&args.spheres, args.origin, &sphere_options, args.summary.quiet, || {
        first_starts::<[f32; 3]>(&args.points, &point_options)
    })?;
    let range = args.range(spheres.optional.velocities.is_some())?;
    let precision = args.precision.unwrap_or_default().resolved(spheres.optional.stretches());
    let query = Query::at(precision).on_bad(args.on_bad);
    let mut points = points.read(origin.unwrap_or_default(), args.on_bad)?;
    let device = Device::open(&args.device.options(query.precision))?;
    let reference = args.compare.then(|| Device::open(&DeviceOptions::new("cpu"))).transpose()?;

    let watch = CancelToken::new();
    let with = Reference::of(&device, spheres.optional.stretches());
    let (scene, reference) = with.scenes(&device, reference, spheres.spheres(), range, (false, args.summary.quiet))?;
    let scene = scene.with_cancel(&watch);
    signals::cancel(&watch);
    let mut writer =
        FileWriter::<[_]>::create_kept(&args.output, Containment::COLUMNS.to_vec(), &kept, args.table.format)?;
    let (mut sum, mut heights) = (PointTotals::default(), Heights::default());
    {
        let (shown, what) =
            (watch.clone(), format!("testing points against {} spheres on {}", scene.len(), device.name()));
        // An estimate: points inside spheres are queried twice.
        let done = move || shown.done();
        let casting = CastProgress { what, things: "points", done, expected: points.expected() };
        let _working = ProgressDisplay::casting(casting, args.summary.quiet);
        let mut batch = RayBatch::default();
        let mut moments = Vec::new();
        while points.next(&mut batch, &watch)? {
            let start = |i: usize| {
                let (point, skipped) = (Vec3::from(batch.records[i]), batch.optional.skip_ids.as_ref());
                Some((point, points.rounding().change_of(point), skipped.map_or(NO_SPHERE, |ids| ids[i])))
            };
            heights.add(spheres.spheres(), &spheres.rounding, batch.records.len(), start);
            if let Some(time) = args.time {
                if batch.optional.times.is_some() {
                    let points = args.points.display();
                    return Err(Error::Usage(format!("--time cannot be used, because {points} has a column time")));
                }
                moments.resize(batch.records.len(), time.narrow);
            }
            let mut part = batch.optional.points(Points::from(&batch.records)).numbered_from(sum.report.rays);
            if args.time.is_some() {
                part = part.times(&moments);
            }
            let found = scene.contains(part, &query).map_err(|error| placed(&args.points, error))?;
            if let Some(reference) = &reference {
                let expected = reference.contains(part, &with.query(&query))?;
                sum.differ += found.iter().zip(expected.iter()).filter(|(a, b)| a != b).count() as u64;
            }
            writer.write_kept(&found, &batch.kept, 0)?;
            sum.held += found.iter().map(|found| u64::from(found.count)).sum::<u64>();
            sum.report = sum.report + found.report;
            if writer.is_closed() {
                break;
            }
        }
    }
    let broken = (reference.is_some() && sum.differ > 0 && query.precision == Precision::Exact)
        .then(|| format!("{} results differ from those of {with}", sum.differ));
    if broken.is_none() {
        // Results that violate a guarantee are not written.
        let _working = ProgressDisplay::on("writing".into(), args.summary.quiet);
        writer.finish(&watch)?;
    }
    left_out::say_of(&args.points, points.left_out(), args.summary.quiet);
    let mut rounding = spheres.rounding;
    rounding += points.rounding();
    if let Some(time) = args.time {
        rounding.note("--time", Role::Travel, time.wide, time.narrow);
    }
    let files = &[&*args.spheres, &*args.points];
    let rounded = Rounded { rounding, heights: &heights, what: "a point", origin: (args.origin, origin), files };
    if let Some(warning) = rounded.warning(scene.spheres()) {
        say(&warning);
    }
    let Report { rays: points, rays_hit: inside, skipped, resolved_exactly, seconds, .. } = sum.report;
    let summary = PointSummary {
        device: device.name(),
        cpu: device.is_cpu(),
        precision: query.precision.word(),
        spheres: scene.len(),
        skipped_spheres: spheres.skipped.len(),
        points,
        inside,
        containments: sum.held,
        skipped,
        resolved_exactly,
        seconds,
        mpoints_per_second: (seconds > 0.0 && points > 0).then(|| points as f64 / seconds * 1e-6),
        rounded: rounding.changed,
        output: broken.is_none().then_some(&*args.output),
        differ: args.compare.then_some(sum.differ),
        compared_with: args.compare.then_some(with),
    };
    print_summary(&summary, &summary.line(), args.summary.json, args.summary.quiet)?;
    broken.map_or(Ok(()), |what| Err(Error::BrokenPromise(what)))
}

/// Totals of the points so far.
#[derive(Default)]
struct PointTotals {
    report: Report,
    held: u64,
    differ: u64,
}

/// Summary: one line of text, or one JSON object.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PointSummary<'a> {
    device: &'a str,
    cpu: bool,
    precision: &'static str,
    spheres: usize,
    skipped_spheres: usize,
    points: u64,
    /// Points inside at least one sphere.
    inside: u64,
    /// Sum of the counts of all points.
    containments: u64,
    skipped: u64,
    resolved_exactly: u64,
    /// Excludes reading and writing of files.
    seconds: f64,
    /// `None` without points or if the measured time is 0.
    mpoints_per_second: Option<f64>,
    /// Number of values that rounding to f32 changed.
    rounded: u64,
    /// `None` if `--compare` failed and the file was not written.
    output: Option<&'a Path>,
    /// Number of results that differ from those of `compared_with`.
    differ: Option<u64>,
    compared_with: Option<Reference>,
}

impl PointSummary<'_> {
    fn line(&self) -> String {
        let mut line = format!(
            "{}: {} spheres, {} points, {} inside, {} containments in total, {:.3} ms",
            self.device,
            self.spheres,
            self.points,
            self.inside,
            self.containments,
            1e3 * self.seconds
        );
        if let Some(rate) = self.mpoints_per_second {
            line += &format!(", {rate:.3} Mpoints/s");
        }
        line += &counts([
            (self.skipped_spheres as u64, "bad spheres skipped"),
            (self.skipped, "bad points skipped"),
            (self.resolved_exactly, "points resolved by exact arithmetic"),
            (self.rounded, "numbers rounded to f32"),
        ]);
        if let Some((differ, with)) = self.differ.zip(self.compared_with) {
            line += &format!("; {differ} results differ from those of {with}");
        }
        line
    }
}
