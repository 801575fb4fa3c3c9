//! `umbracast bullets`: traces bullets among spheres, with ricochets.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Error;
use crate::error::Result;
use clap::Args;
use umbracast::glam::DVec3;
use umbracast::{Bullet, Bullets, DeviceOptions, Flights, Leg, NO_SPHERE, OnBad, Precision, Query};
use umbracast::{CancelToken, Device, SceneOptions, Sphere};
use umbracast_files::{AnswerRow, Column, FileWriter, Heights, Number, RayBatch, RayBatches, RayFile, check_output};

use super::args::{DeviceArgs, Origin, SphereArgs, SummaryArgs, TableArgs, numbers, precisions, words};
use super::bullet::{self, One};
use super::coarse::{BULLET, Rounded};
use super::compare::Reference;
use super::flight_summary::FlightTotals;
use super::progress::{CastProgress, ProgressDisplay};
use super::ray_input::{first_starts, placed};
use super::single::GivenSphere;
use super::stream::{read_spheres_from, warn_off_surface};
use super::{print_summary, say, signals};

const EXAMPLES: &str = "\
Files:
  .npy  f4 or f8. Spheres (N, 4): x y z r. Bullets (M, 7): x1 y1 z1 x2 y2 z2
        speed
  .csv  named columns. Spheres: x,y,z,r, optional vx,vy,vz: velocity per frame.
        Bullets: x1,y1,z1,x2,y2,z2,speed, optional radius, from_id. Also .npz,
        and .parquet in builds with --features parquet
  .f32  raw little-endian records of 4 and 7 f32, as in .npy; also named
        .spheres and .bullets
A bullet flies from x1,y1,z1 through x2,y2,z2 and beyond, `speed` per frame. It
is a point, or with `radius` a ball, which hits spheres with its surface.
OUT has one row per bullet:
  status      hit, miss or started_inside; in .npz 0, 1, 2 (u1). A start on a
              surface is not inside: a bullet that flies inwards from there hits
              at once. A tangent bullet hits but keeps its direction
  id          row of the sphere in its file, from 0: the sphere that is hit, or
              the first sphere that contains the start (u4)
  distance    distance flown until the hit (f4, as all columns that follow)
  frames      frames until the hit
  px,py,pz    position of the bullet at the hit; of a ball, its centre
  grazing_rad angle between the path relative to the sphere and the tangent
              plane: 0 grazing, pi/2 head on
  vx,vy,vz    velocity after the ricochet, per frame
After t frames a sphere with a velocity is at x + t vx, y + t vy, z + t vz.
Spheres have infinite mass. The speed relative to the sphere is preserved, so an
approaching sphere speeds the bullet up. --frames limits the flight: a bullet
without a hit by then is a miss.
Without a value, cells are empty in .csv and null in .parquet; .npz has inf
(distance, frames), 4294967295 (id) and nan (other columns).
With --bounces N each bullet is followed through up to N ricochets and has one
row per leg of its path:
  bullet      row of the bullet in its file, from 0 (u8)
  bounce      number of ricochets before this leg, from 0 (u4)
followed by the columns above; distance and frames count from the start of the
bullet. The last row of a bullet that leaves the scene is a miss; a bullet with
N ricochets has N rows, all of them hits.

Examples:
  umbracast bullets spheres.csv bullets.csv -o hits.csv
  umbracast bullets spheres.npy bullets.npy -o hits.npz --device gpu --compare
  umbracast bullets box.csv bullets.csv -o legs.csv --bounces 1000
  umbracast bullets moving.csv bullets.csv -o legs.csv --bounces 20 --frames 600
  umbracast bullets --from 0,0,0 --to 4,4,4 --speed 3 --sphere 4,4,0,4
  umbracast bullets --from 0,0,0 --to 1,0,0 --speed 2 --radius 0.5 \\
      --sphere 10,0,0,1 --velocity=-1,0,0
On a terminal, `umbracast bullets` prompts for one bullet and one sphere.

Exit codes: 0 done, 2 bad usage or input, 3 no such device or precision, 4 the
  device failed, 5 reading or writing failed, 6 --compare found a violated
  guarantee, 130 stopped by Ctrl-C.";

/// Shoot bullets at spheres: find what each bullet hits, when, and how it ricochets
///
/// Reads spheres and bullets from files and writes one row per bullet. With --from, --to, --speed and --sphere, prints the result for one
/// bullet and one sphere. Without arguments on a terminal, prompts for the values.
#[derive(Debug, Args)]
#[command(override_usage = "umbracast bullets [OPTIONS] SPHERES BULLETS -o OUT\n       \
    umbracast bullets [OPTIONS] --from X,Y,Z --to X,Y,Z --speed V --sphere X,Y,Z,R\n       \
    umbracast bullets")]
#[command(after_long_help = EXAMPLES, after_help = "`umbracast bullets --help` explains the files and gives examples.")]
pub(crate) struct BulletsArgs {
    /// Spheres: .npy, .npz, .csv, .parquet, .ply, .xyz, .pdb, .f32, .spheres or -
    #[arg(requires = "bullets")]
    spheres: Option<PathBuf>,
    /// Bullets: .npy, .npz, .csv, .parquet, .ply, .f32, .bullets or -
    #[arg(requires = "output")]
    bullets: Option<PathBuf>,
    /// Output file: .npz, .csv, .parquet, .npy, .f32 or - (standard output)
    #[arg(short, long, value_name = "OUT", requires = "spheres")]
    output: Option<PathBuf>,
    /// Follow each bullet through up to N ricochets, with one row per leg of its path
    #[arg(long, value_name = "N", allow_negative_numbers = true, requires = "spheres",
          value_parser = clap::value_parser!(u32).range(1..))]
    bounces: Option<u32>,
    /// Duration of the flights in frames; required if spheres move (columns vx,vy,vz). Fewer frames are faster
    #[arg(long, value_name = "N", allow_negative_numbers = true, requires = "spheres", value_parser = frames)]
    frames: Option<f32>,
    /// Subtract a point from all positions in f64 before rounding to f32, for coordinates far from 0: x,y,z, or auto for
    /// the centre of the spheres, or a point near the bullets if that keeps more digits; positions in OUT are in the coordinates of the files, as f64
    #[arg(long, value_name = "X,Y,Z|auto", allow_hyphen_values = true)]
    origin: Option<Origin>,
    /// What to do with invalid spheres (NaN, negative radius) and bullets (NaN, no speed, both points equal)
    #[arg(long, value_parser = words([
        ("refuse", "stop, report the first one, and write nothing", OnBad::Refuse),
        ("skip", "count them; no bullet hits such a sphere, and such a bullet is a miss", OnBad::Skip),
    ]), default_value = "refuse", requires = "spheres")]
    on_bad: OnBad,
    /// Precision with which the hit sphere is selected; all else is computed in f64 [default: exact]
    #[arg(long, value_parser = precisions(), requires = "spheres")]
    precision: Option<Precision>,
    #[command(flatten)]
    sphere_options: SphereArgs,
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    device: DeviceArgs,
    /// Also run the CPU engine, count the differences, and fail if they exceed what the precision guarantees
    #[arg(long, requires = "spheres")]
    compare: bool,

    /// Start of one bullet, instead of files
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = bullet::point,
          requires_all = ["to", "speed", "sphere"], conflicts_with_all = FILES_ONLY.split(' '))]
    from: Option<bullet::GivenPoint>,
    /// A point that the bullet flies towards
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = bullet::point, requires = "from", conflicts_with = "spheres")]
    to: Option<bullet::GivenPoint>,
    /// Distance that the bullet flies per frame
    #[arg(long, value_name = "V", allow_hyphen_values = true, value_parser = bullet::speed, requires = "from", conflicts_with = "spheres")]
    speed: Option<bullet::GivenNumber>,
    /// The sphere: centre and radius
    #[arg(long, value_name = "X,Y,Z,R", allow_hyphen_values = true, value_parser = bullet::ball, requires = "from", conflicts_with = "spheres")]
    sphere: Option<GivenSphere>,
    /// Radius of the bullet; a point without it
    #[arg(long, value_name = "R", allow_negative_numbers = true, value_parser = bullet::radius, requires = "from", conflicts_with = "spheres")]
    radius: Option<bullet::GivenNumber>,
    /// Velocity of the sphere per frame; at rest without it
    #[arg(long, value_name = "VX,VY,VZ", allow_hyphen_values = true, value_parser = bullet::velocity, requires = "from", conflicts_with = "spheres")]
    velocity: Option<bullet::GivenPoint>,

    #[command(flatten)]
    summary: SummaryArgs,
}

/// Arguments that require files.
const FILES_ONLY: &str = "spheres bullets output bounces frames on_bad precision device compare format \
    input_format ignore_extra sphere_radius unknown_atoms models";

/// Parser of `--frames`.
fn frames(text: &str) -> Result<f32, String> {
    let frames = numbers(text, "frames", &[1])?[0].narrow;
    if frames.is_finite() && frames > 0.0 {
        Ok(frames)
    } else {
        Err(format!("frames is {frames}: it must be finite and above 0"))
    }
}

pub(crate) fn run(args: &BulletsArgs) -> Result<()> {
    match (&args.spheres, &args.bullets, &args.output, &args.from, &args.to, &args.speed, &args.sphere) {
        (Some(spheres), Some(bullets), Some(output), ..) => Files { args, spheres, bullets, output }.run(),
        (.., Some(from), Some(to), Some(speed), Some(sphere)) => {
            let more = (args.radius.as_ref(), args.velocity.as_ref());
            One::new(from, to, speed, sphere, more, args.origin)?.show(args.summary.json, args.summary.quiet)
        }
        _ if std::io::stdin().is_terminal() => {
            let show = |one: &One| one.show(args.summary.json, args.summary.quiet);
            if bullet::ask(&mut std::io::stdin().lock(), &mut std::io::stderr(), args.origin, show)? {
                Ok(())
            } else {
                Err(Error::Usage("the input ended before all values were given".into()))
            }
        }
        _ => Err(Error::Usage(
            "bullets needs SPHERES, BULLETS and -o OUT, or --from, --to, --speed and --sphere; or run it in a terminal for \
             interactive prompts"
                .into(),
        )),
    }
}

/// A row of the output: a leg, and its bullet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    bullet: u64,
    bounce: u32,
    leg: Leg,
    /// End of the leg in the coordinates of the files: the subtracted origin is added again.
    point: DVec3,
}

impl Row {
    /// A coordinate of the end in f64; blank if the leg is not a hit.
    fn blank_unless_hit_f64(&self, axis: usize) -> Number {
        let number = self.point[axis];
        if self.leg.is_hit() { Number::Double(number) } else { Number::BlankDouble(number) }
    }

    /// A value of the leg; blank if the leg is not a hit.
    fn blank_unless_hit(&self, of: impl Fn(&Leg) -> f32) -> Number {
        let number = of(&self.leg);
        if self.leg.is_hit() { Number::Float(number) } else { Number::Blank(number) }
    }
}

impl AnswerRow for Row {
    const COLUMNS: &'static [Column<Self>] = &[
        ("status", |row| Number::Word(row.leg.status as u8, row.leg.status.word())),
        ("id", |row| Number::Id(row.leg.id)),
        ("distance", |row| row.blank_unless_hit(|leg| leg.distance)),
        ("frames", |row| row.blank_unless_hit(|leg| leg.frames)),
        ("px", |row| row.blank_unless_hit(|leg| leg.point.x)),
        ("py", |row| row.blank_unless_hit(|leg| leg.point.y)),
        ("pz", |row| row.blank_unless_hit(|leg| leg.point.z)),
        ("grazing_rad", |row| row.blank_unless_hit(|leg| leg.grazing_rad)),
        ("vx", |row| row.blank_unless_hit(|leg| leg.velocity.x)),
        ("vy", |row| row.blank_unless_hit(|leg| leg.velocity.y)),
        ("vz", |row| row.blank_unless_hit(|leg| leg.velocity.z)),
    ];
    const MISS: Self = Self { bullet: 0, bounce: 0, leg: Leg::MISS, point: DVec3::NAN };
}

/// The columns `bullet` and `bounce`, for `--bounces`.
const LEG_COLUMNS: [Column<Row>; 2] =
    [("bullet", |row| Number::Offset(row.bullet)), ("bounce", |row| Number::Count(row.bounce))];

/// The end of a leg in f64, for `--origin`: in the coordinates of the files f32 is too coarse.
const WIDE: [Column<Row>; 3] = [
    ("px", |row| row.blank_unless_hit_f64(0)),
    ("py", |row| row.blank_unless_hit_f64(1)),
    ("pz", |row| row.blank_unless_hit_f64(2)),
];

/// The columns of the output.
pub(crate) fn columns(bounces: bool, has_origin: bool) -> Vec<Column<Row>> {
    let leg_columns: &[Column<Row>] = if bounces { &LEG_COLUMNS } else { &[] };
    let widened = |column: &Column<Row>| *WIDE.iter().find(|wide| has_origin && wide.0 == column.0).unwrap_or(column);
    leg_columns.iter().chain(Row::COLUMNS).map(widened).collect()
}

/// Maximum number of legs per call.
const MAX_LEGS_PER_CALL: usize = 1 << 20;

struct Files<'a> {
    args: &'a BulletsArgs,
    spheres: &'a Path,
    bullets: &'a Path,
    output: &'a Path,
}

impl Files<'_> {
    fn run(&self) -> Result<()> {
        let Self { args, output, .. } = self;
        // Ellipsoids are refused.
        let precision = args.precision.unwrap_or_default().resolved(false);
        let query = Query::at(precision).on_bad(args.on_bad);
        // All checks that need no device come first, the cheapest ones before the others.
        check_output(output, &[self.spheres, self.bullets], args.table.format)?;
        args.table.check(&[self.spheres, self.bullets], output, args.summary.json)?;
        let options = args.table.read_options();
        let bullets = RayFile::<Bullet>::open_with(self.bullets, &options)?;
        let (spheres, origin) = read_spheres_from(
            self.spheres,
            args.origin,
            &args.sphere_options.options(options).on_bad(args.on_bad),
            args.summary.quiet,
            || first_starts::<Bullet>(self.bullets, &options),
        )?;
        check_radii(self.spheres, &spheres.records)?;
        let range = self.time_range(spheres.optional.velocities.is_some())?;
        let mut bullets = bullets.read(origin.unwrap_or_default(), args.on_bad)?;
        let device = Device::open(&args.device.options(precision))?;
        let reference = args.compare.then(|| Device::open(&DeviceOptions::new("cpu"))).transpose()?;

        let watch = CancelToken::new();
        // Each leg starts where the rounded previous one ends, so flights at `exact` would differ in the last digits.
        let with = if device.is_cpu() { Reference::EverySphere } else { Reference::CpuEngine };
        let (scene, reference) =
            with.scenes(&device, reference, spheres.spheres(), range, (false, args.summary.quiet))?;
        let scene = scene.with_cancel(&watch);
        signals::cancel(&watch);
        let mut writer = {
            let columns = columns(args.bounces.is_some(), origin.is_some());
            FileWriter::create_kept(output, columns, &[], args.table.format)?
        };
        let most = args.bounces.unwrap_or(1);
        let (mut sum, mut heights) = (FlightTotals::default(), Heights::default());
        {
            let done = Arc::<AtomicU64>::default();
            let shown = done.clone();
            let what = format!("tracing bullets among {} spheres on {}", scene.len(), device.name());
            let done_of = move || shown.load(Ordering::Relaxed);
            let casting = CastProgress { what, things: "bullets", done: done_of, expected: bullets.expected() };
            let _working = ProgressDisplay::casting(casting, args.summary.quiet);
            let mut batch = RayBatch::default();
            let mut rows = Vec::new();
            while bullets.next(&mut batch, &watch)? {
                let start = |i: usize| {
                    let from = batch.records[i].from;
                    let on = batch.optional.from_ids.as_ref().map_or(NO_SPHERE, |ids| ids[i]);
                    Some((from, bullets.rounding().change_of(from), on))
                };
                heights.add(spheres.spheres(), &spheres.rounding, batch.records.len(), start);
                let size = (MAX_LEGS_PER_CALL / most as usize).clamp(1, RayBatches::BATCH);
                let mut radii = batch.optional.radii.as_deref().map(|radii| radii.chunks(size));
                let mut from_ids = batch.optional.from_ids.as_deref().map(|ids| ids.chunks(size));
                for part in batch.records.chunks(size) {
                    let first = sum.report.rays;
                    let mut part = Bullets::from(part).numbered_from(first);
                    if let Some(radii) = radii.as_mut().and_then(Iterator::next) {
                        part = part.radii(radii);
                    }
                    if let Some(from_ids) = from_ids.as_mut().and_then(Iterator::next) {
                        part = part.from_ids(from_ids);
                    }
                    let flights = scene.bullets(part, most, &query).map_err(|error| placed(self.bullets, error))?;
                    if let Some(reference) = &reference {
                        sum.differ += differ(&flights, &reference.bullets(part, most, &query)?);
                    }
                    rows.clear();
                    for (bullet, legs) in (first..).zip(flights.iter()) {
                        let point = |leg: &Leg| leg.point.as_dvec3() + origin.unwrap_or_default();
                        rows.extend((0..).zip(legs).map(|(bounce, leg)| Row {
                            bullet,
                            bounce,
                            leg: *leg,
                            point: point(leg),
                        }));
                    }
                    writer.write(&rows)?;
                    sum.add(&flights);
                    done.store(sum.report.rays, Ordering::Relaxed);
                }
                if writer.is_closed() {
                    break;
                }
            }
        }
        let broken = (sum.differ > 0 && precision == Precision::Exact)
            .then(|| format!("{} flights differ from those of {with}", sum.differ));
        if broken.is_none() {
            // Results that violate a guarantee are not written.
            let _working = ProgressDisplay::on("writing".into(), args.summary.quiet);
            writer.finish(&watch)?;
        }
        let mut rounding = spheres.rounding;
        rounding += bullets.rounding();
        let files = &[self.spheres, self.bullets];
        let rounded = Rounded { rounding, heights: &heights, what: BULLET, origin: (args.origin, origin), files };
        if let Some(warning) = rounded.warning(scene.spheres()) {
            say(&warning);
        }
        warn_off_surface(sum.report.off_surface, "bullets");
        let rounded = rounding.changed;
        let summary = sum.summary(
            &device,
            (scene.len(), spheres.skipped.len()),
            (precision, args.compare.then_some(with)),
            rounded,
            broken.is_none().then_some(*output),
        );
        print_summary(&summary, &summary.line(), args.summary.json, args.summary.quiet)?;
        broken.map_or(Ok(()), |what| Err(Error::BrokenPromise(what)))
    }

    /// Time range of the scene, in frames. Moving spheres need `--frames`; spheres at rest do not allow it.
    fn time_range(&self, moves: bool) -> Result<[f32; 2]> {
        let spheres = self.spheres.display();
        match self.args.frames {
            Some(frames) if moves => Ok([0.0, frames]),
            None if !moves => Ok(SceneOptions::default().time_range),
            None => Err(Error::Usage(format!(
                "the spheres of {spheres} move (columns vx,vy,vz): set the number of frames that bullets fly with --frames"
            ))),
            Some(_) => {
                Err(Error::Usage(format!("--frames needs moving spheres, but {spheres} has no columns vx,vy,vz")))
            }
        }
    }
}

/// Rejects spheres with radius 0, before a device is opened.
fn check_radii(path: &Path, spheres: &[Sphere]) -> Result<()> {
    spheres.iter().position(|sphere| sphere.radius == 0.0).map_or(Ok(()), |index| {
        let why = "a bullet cannot ricochet off a point: the radius must be above 0";
        let message = format!("row {} (index {index}): r is 0: {why}", index + 1);
        Err(Error::bad_file(path, message))
    })
}

/// Number of bullets leg_columns flights differ.
fn differ(found: &Flights, expected: &Flights) -> u64 {
    // Legs without a hit have NaN, so they are compared by status and id.
    let same = |a: &Leg, b: &Leg| a == b || (!a.is_hit() && (a.status, a.id) == (b.status, b.id));
    let legs = |(a, b): &(&[Leg], &[Leg])| a.len() != b.len() || !a.iter().zip(*b).all(|(a, b)| same(a, b));
    found.iter().zip(expected.iter()).filter(legs).count() as u64
}
