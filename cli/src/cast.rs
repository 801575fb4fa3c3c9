//! `umbracast cast`: spheres and rays from files, answers into a file.

use std::path::{Path, PathBuf};

use clap::Args;
use umbracast::{Error, Motion, OnBad, Query, Result, SceneOptions};

use super::args::{DeviceArgs, Origin, PolicyArgs, TreeArgs, numbers, words};
use super::describe::With;
use super::feed::{self, Rules};
use super::single;
use super::stream::Files;

/// What is asked of every ray.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ask {
    Closest,
    Occluded,
    Interval,
    Count,
    All,
    Nearest,
    Approach,
}

impl Ask {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Closest => "closest",
            Self::Occluded => "occluded",
            Self::Interval => "interval",
            Self::Count => "count",
            Self::All => "all",
            Self::Nearest => "nearest",
            Self::Approach => "approach",
        }
    }
}

const EXAMPLES: &str = "\
Files:
  .npy  f4 or f8. Spheres (N, 4): x y z r. Rays (M, 6): origin, direction; or (M, 8): origin, direction, t_min, t_max, as
        np.c_[origin, direction, t_min, t_max], the order of --ray and .csv. Or structured, one dimension: fields by the
        names of .csv, in any order, of floating point or whole numbers
  .csv  columns by name. Spheres: x,y,z,r, optional mask. Rays: ox,oy,oz,dx,dy,dz, optional t_min,t_max (else 0 and
        inf), mask, skip_id; points: x,y,z, optional mask, skip_id, time. A ray meets only spheres whose mask shares a bit with its
        own (without the column: every bit), and never sphere number skip_id (an empty cell: skips none)
  .parquet  (in builds with the feature parquet) columns as in .csv, Float32 or Float64, mask and skip_id
        UInt32, Int32 or Int64; read by row groups
  .f32  raw little-endian records: spheres of 4 f32, x y z r; rays of 8 f32 in the order of the program's own record, which
        is not that of .npy: origin, t_min, direction, t_max. Also named .spheres and .rays
  Segments, for --segments: (M, 6), columns x1,y1,z1,x2,y2,z2, or records of 6 f32 (also .segments); --query occluded tells
  whether a segment meets anything, --query approach where it passes nearest.
  Spheres may have columns vx,vy,vz: at time t they are at x + t vx and so on. Rays and segments may have a time
  (--motion at-time), and a radius: a ball on its way, which meets spheres with its surface.
  Spheres may be ellipsoids: columns rx,ry,rz instead of r, and optional qw,qx,qy,qz, the rotation from their own axes to
  those of the file. --query closest, occluded, interval, count, all and nearest, at precision fast and standard.
  Points, for --toward and --parallel: (N, 3), columns x,y,z, or records of 3 f32 (also .points). Their rays are made on
  the device, and so are a sensor's: 12 bytes a point or a few tables go there, no rays. A sensor file is TOML:
    elevations_deg = { from = -25, through = 15, count = 64 }   # or a list; up from the sensor's x, y plane
    azimuths_deg = { from = 0, to = 360, count = 1024 }         # or a list; from x to y; `to` itself is left out
    range = [0.5, 120]                                          # optional: t_min, t_max
    poses = 'poses.csv'      # optional: x,y,z,qw,qx,qy,qz; or a list [[x, y, z], [x, y, z, qw, qx, qy, qz], ...]
  Its rays go by pose, then elevation, then azimuth; directions have length 1, so t is a length.
  OUT is .npz, .csv or .parquet. A miss is inf and 4294967295 in .npz (hit = answers['id'] != 4294967295), an empty cell
  in .csv, null in .parquet.
  --query all and nearest list what a ray meets by (t, id), t as the policies have it. In .npz offsets (one more than
  there are rays, u8), t_enter, t_exit, id: the spheres of ray i are numbers offsets[i] to offsets[i + 1]. In .csv a line
  ray,t_enter,t_exit,id for each, ray counted from 0; a ray that meets nothing has none. In .parquet a row a ray,
  whose columns are lists.
  A sphere's id is its number in the file, from 0. t counts in units of the direction as given.
  Spheres are held in memory; rays and answers go by in batches, so their files may be larger than it. Pipes are read
  too (.npy and .csv by any name, raw .f32 by its extension). OUT appears when it is complete: what is stopped
  (Ctrl-C) or fails leaves whatever was there before.

Examples:
  umbracast cast spheres.csv rays.csv -o hits.csv
  umbracast cast spheres.npy rays.npy -o dark.npz --query occluded --device gpu --compare
  umbracast cast map.csv rays.csv -o hits.npz --origin auto --precision exact
  umbracast cast spheres.f32 rays.f32 -o both.npz --query interval --on-bad skip --json
  umbracast cast spheres.npy rays.npy -o chords.npz --query all
  umbracast cast spheres.npy points.npy -o dark.npz --query occluded --toward 0,0,50,2
  umbracast cast spheres.npy points.npy -o shade.npz --query occluded --parallel 0.3,0.1,1
  umbracast cast spheres.npy --sensor lidar.toml -o returns.npz
  umbracast cast spheres.csv segments.csv -o blocked.npz --segments --query occluded
  umbracast cast moving.csv shots.csv -o hits.csv --motion with-ray --time-range 0,60
  umbracast cast spheres.csv rays.csv -o hits.csv --plot hits.png
  umbracast cast spheres.npy rays.npy -o hits.npz --with point,normal,angle
  umbracast cast moving.csv shots.csv -o hits.csv --motion with-ray --time-range 0,60 --with point,angle
  umbracast cast --sphere 4,0,0,1 --ray 0,0,0,1,0,0

Exit codes: 0 done, 2 bad usage or input, 3 no such device or precision, 4 the device failed,
  5 reading or writing failed, 6 --compare found a broken promise, 130 stopped by Ctrl-C.";

/// Cast rays at spheres: which one does each ray meet, and when?
///
/// Reads spheres and rays from files and writes one answer a ray; or takes one sphere and one ray from the command line
/// and prints everything about them.
#[derive(Debug, Args)]
#[command(override_usage = "umbracast cast [OPTIONS] SPHERES RAYS -o OUT\n       \
    umbracast cast [OPTIONS] SPHERES POINTS --toward X,Y,Z[,R] -o OUT\n       \
    umbracast cast [OPTIONS] SPHERES POINTS --parallel DX,DY,DZ -o OUT\n       \
    umbracast cast [OPTIONS] SPHERES SEGMENTS --segments -o OUT\n       \
    umbracast cast [OPTIONS] SPHERES --sensor FILE.toml -o OUT\n       \
    umbracast cast [OPTIONS] --sphere X,Y,Z,R --ray OX,OY,OZ,DX,DY,DZ[,T_MIN,T_MAX]")]
#[command(after_long_help = EXAMPLES, after_help = "`umbracast cast --help` explains the files and gives examples.")]
pub(crate) struct CastArgs {
    /// Spheres: .npy, .csv, .parquet, .f32 or .spheres
    #[arg(required_unless_present_any = ["sphere", "ray"])]
    spheres: Option<PathBuf>,
    /// Rays: .npy, .csv, .parquet, .f32 or .rays; with --toward or --parallel points
    #[arg(required_unless_present_any = ["sphere", "ray", "sensor"])]
    rays: Option<PathBuf>,
    /// Where the answers go: .npz, .csv or .parquet
    #[arg(short, long, value_name = "OUT", required_unless_present_any = ["sphere", "ray"])]
    output: Option<PathBuf>,

    /// The second file holds points: from each a ray to this target, where t is 1; with a radius it ends before that sphere
    #[arg(long, value_name = "X,Y,Z[,R]", allow_hyphen_values = true, value_parser = feed::toward,
          conflicts_with = "parallel")]
    toward: Option<feed::Aim>,
    /// The second file holds points: from each a ray in this direction, without end
    #[arg(long, value_name = "DX,DY,DZ", allow_hyphen_values = true, value_parser = feed::parallel)]
    parallel: Option<feed::Aim>,
    /// The second file holds segments, from point to point: t goes from 0 to 1
    #[arg(long, conflicts_with_all = ["toward", "parallel", "sensor"])]
    segments: bool,
    /// The rays of a sensor (poses, elevations, azimuths), instead of a second file
    #[arg(long, value_name = "FILE.toml", conflicts_with_all = ["rays", "toward", "parallel"])]
    sensor: Option<PathBuf>,

    /// What is asked of every ray
    #[arg(long, value_parser = words([
        ("closest", "the first sphere met: t, id", Ask::Closest),
        ("occluded", "whether any sphere is met: occluded", Ask::Occluded),
        ("interval", "both roots of the closest sphere: t_enter, t_exit, id", Ask::Interval),
        ("count", "how many spheres are met: count", Ask::Count),
        ("all", "both roots of every sphere met, in order of t: lists of t_enter, t_exit, id", Ask::All),
        ("nearest", "the same of the first --k spheres", Ask::Nearest),
        ("approach", "where the ray passes nearest to a surface: t, clearance, id", Ask::Approach),
    ]), default_value = "closest")]
    pub(crate) query: Ask,
    /// How many spheres a ray lists at the most, with --query nearest: 1 is the closest one alone
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    k: Option<u32>,
    /// What else of each hit of `closest` to write, in this order
    #[arg(long, value_name = "WHAT,…", value_delimiter = ',', value_parser = words([
        ("point", "where the sphere was met, wherever it then was: px, py, pz", With::Point),
        ("normal", "the outward unit normal there: nx, ny, nz", With::Normal),
        ("angle", "between the way back along the ray, as the sphere sees it, and the normal, in radians: angle_rad",
         With::Angle),
        ("distance", "t times the length of the direction: distance", With::Distance),
    ]))]
    pub(crate) with: Vec<With>,
    /// Ray i meets only sphere i; there must be as many of one as of the other
    #[arg(long, conflicts_with = "builder")]
    pub(crate) pairwise: bool,
    /// Subtract a point from all positions in f64 before they become f32, for coordinates far from 0: x,y,z, or auto for
    /// the centre of the spheres
    #[arg(long, value_name = "X,Y,Z|auto", allow_hyphen_values = true)]
    pub(crate) origin: Option<Origin>,
    /// How spheres with velocities (columns vx,vy,vz) move [default: at-time]
    #[arg(long, value_parser = words([
        ("at-time", "each ray sees them at its own time (column time, else 0): a picture at an instant", Motion::AtTime),
        ("with-ray", "they move while a ray travels, so that t is time: a projectile; needs a finite t_max", Motion::WithRay),
    ]))]
    motion: Option<Motion>,
    /// The first and last time asked about, for spheres with velocities [default: 0,1]
    #[arg(long, value_name = "FROM,TO", allow_hyphen_values = true, value_parser = time_range)]
    time_range: Option<[f32; 2]>,
    /// What to do with rays that cannot be used (NaN, no direction, t_min above t_max)
    #[arg(long, value_parser = words([
        ("refuse", "stop, name the first, and write nothing", OnBad::Refuse),
        ("skip", "let them miss, and count them", OnBad::Skip),
    ]), default_value = "refuse")]
    pub(crate) on_bad: OnBad,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) tree: TreeArgs,
    /// Also run the CPU engine, count the differences, and fail when they exceed what is promised
    ///
    /// Answers of the CPU engine itself are compared with those of testing every sphere with exact arithmetic (at the same precision
    /// for ellipsoids), which takes a while where there are many.
    #[arg(long)]
    pub(crate) compare: bool,

    /// Also draw a picture: spheres, rays and where they meet, for looking for what is wrong with a scene (.png)
    ///
    /// Of more than 2,000 rays, 1,000 to 2,000 are drawn, selected by a hash of their numbers. Of more than 200,000 spheres, every nth is
    /// drawn. Of the spheres that a ray lists, the first 256 are drawn. A moving sphere is drawn where rays meet it; its path is drawn
    /// too, faint at the start and strong at the end of the time range.
    #[arg(long, value_name = "FILE.png")]
    pub(crate) plot: Option<PathBuf>,

    /// One sphere, instead of a file
    #[arg(long, value_name = "X,Y,Z,R", allow_hyphen_values = true, requires = "ray", value_parser = single::sphere,
          conflicts_with_all = FILES_ONLY)]
    sphere: Option<single::GivenSphere>,
    /// One ray, instead of a file
    #[arg(long, value_name = "OX,OY,OZ,DX,DY,DZ[,T_MIN,T_MAX]", allow_hyphen_values = true, requires = "sphere",
          value_parser = single::ray, conflicts_with_all = FILES_ONLY)]
    ray: Option<single::GivenRay>,

    /// Print one JSON object on stdout instead of the summary
    #[arg(long)]
    pub(crate) json: bool,
    /// No summary and no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,

    // Last, because its heading would hold for all that follows.
    #[command(flatten)]
    policies: PolicyArgs,
}

/// The parser of `--time-range`.
pub(crate) fn time_range(text: &str) -> Result<[f32; 2], String> {
    let given = numbers(text, "from,to", &[2])?;
    let [from, to] = [given[0].narrow, given[1].narrow];
    if !from.is_finite() || !to.is_finite() || from > to {
        return Err(format!("{from} to {to} must be finite and in order"));
    }
    Ok([from, to])
}

/// What makes no sense without files.
const FILES_ONLY: [&str; 19] = [
    "spheres",
    "rays",
    "output",
    "toward",
    "parallel",
    "segments",
    "motion",
    "time_range",
    "sensor",
    "query",
    "k",
    "with",
    "pairwise",
    "origin",
    "on_bad",
    "device",
    "builder",
    "compare",
    "plot",
];

impl CastArgs {
    /// How spheres move.
    pub(crate) fn motion(&self) -> Motion {
        self.motion.unwrap_or_default()
    }

    /// The first and last time asked about.
    pub(crate) fn time_range(&self) -> [f32; 2] {
        self.time_range.unwrap_or(SceneOptions::default().time_range)
    }

    /// Refuses what has no effect on spheres at rest.
    pub(crate) fn check_rest(&self, spheres: &Path) -> Result<()> {
        let given = [("--motion", self.motion.is_some()), ("--time-range", self.time_range.is_some())];
        given.into_iter().find(|(_, given)| *given).map_or(Ok(()), |(option, _)| {
            let spheres = spheres.display();
            Err(Error::Usage(format!("{option} is for spheres that move: {spheres} has no columns vx,vy,vz")))
        })
    }

    /// Refuses policies that a nearest pass has no use for.
    fn check_policies(&self) -> Result<()> {
        match (self.query, self.policies.of_hits()) {
            (Ask::Approach, Some(option)) => {
                Err(Error::Usage(format!("{option} is about hits: --query approach has no use for it")))
            }
            _ => Ok(()),
        }
    }

    /// How many spheres `nearest` lists.
    pub(crate) fn most(&self) -> Result<Option<u32>> {
        match (self.query, self.k) {
            (Ask::Nearest, None) => Err(Error::Usage("--query nearest needs --k: how many spheres a ray lists".into())),
            (Ask::Nearest, k) => Ok(k),
            (_, None) => Ok(None),
            (other, Some(_)) => {
                Err(Error::Usage(format!("--k goes with --query nearest: {} has no use for it", other.word())))
            }
        }
    }
}

pub(crate) fn run(args: &CastArgs) -> Result<()> {
    args.check_policies()?;
    let query = Query { motion: args.motion(), ..args.policies.query(args.on_bad) };
    if !args.with.is_empty() && !matches!(args.query, Ask::Closest) {
        let asked = args.query.word();
        return Err(Error::Usage(format!("--with describes the hits of --query closest: {asked} has none")));
    }
    if let Some((i, _)) = args.with.iter().enumerate().find(|(i, what)| args.with[..*i].contains(what)) {
        return Err(Error::Usage(format!("--with says the same twice, at {} of {}", i + 1, args.with.len())));
    }
    let rays = match (&args.rays, args.toward.as_ref().or(args.parallel.as_ref()), &args.sensor) {
        (_, _, Some(sensor)) => Some(Rules::Sensor(sensor)),
        (Some(points), Some(aim), _) => Some(Rules::Points(points, aim.clone())),
        (Some(segments), None, _) if args.segments => Some(Rules::Segments(segments)),
        (Some(rays), None, _) => Some(Rules::Rays(rays)),
        (None, ..) => None,
    };
    match (&args.sphere, &args.ray, &args.spheres, rays, &args.output) {
        (Some(sphere), Some(ray), ..) => single::run(sphere, ray, &query, args.json, args.quiet),
        (_, _, Some(spheres), Some(rays), Some(output)) => Files { args, query, spheres, rays, output }.run(),
        // clap demands either the one or the other.
        _ => Err(Error::Usage("cast needs SPHERES, RAYS and -o OUT, or --sphere and --ray".into())),
    }
}
