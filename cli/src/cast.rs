//! `umbracast cast`: arguments, help and checks of ray queries.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use clap::Args;
use umbracast::{Motion, OnBad, SceneOptions};
use umbracast_files::{FromColumn, StreamFormat, is_points_output, is_standard_stream};

use super::args::{DeviceArgs, KeepArgs, Origin, PolicyArgs, SphereArgs, SummaryArgs, TableArgs, numbers, words};
use super::cast_query::{QUERIES, QueryName, RecordQuery};
use super::describe::{self, WITHS, With};
use super::ray_input::{self, RayInputOptions};
use super::single;
use super::stream::Files;

const EXAMPLES: &str = "\
Files:
  .npy  f4 or f8. Spheres (N, 4): x y z r. Rays (M, 6): origin, direction; or
        (M, 8): origin, direction, t_min, t_max, as np.c_[origin, direction,
        t_min, t_max], the order of --ray and .csv. Or a structured array with
        one dimension: fields named as in .csv, in any order, of floating-point
        or integer types
  .npz  an array per column, named as in .csv, as numpy.savez writes it
  .csv  columns named in any case, with or without a unit: X [m]. Spheres:
        x,y,z,r, optional mask. Rays: ox,oy,oz,dx,dy,dz, optional t_min,t_max
        (default 0 and inf), mask, skip_id, from_id. Points: x,y,z, optional
        mask, skip_id, time, from_id. A ray hits only spheres whose mask shares
        a bit with its own mask (default: all bits), and never the sphere with
        id skip_id (an empty cell skips none). It starts on the surface of the
        sphere with id from_id
  .parquet  (in builds with the feature parquet) columns as in .csv, of a
        floating-point, integer or decimal type; read by row groups
  .ply  text or binary: the vertices, with properties named as in .csv
  .xyz, .pdb  atoms as spheres, with the van der Waals radii of their elements,
        or the radii of an extended XYZ; ids are rows of the file. See --models
        and --unknown-atoms
  .f32  raw little-endian records: spheres of 4 f32, x y z r; rays of 8 f32:
        origin, direction, t_min, t_max, as in .npy. Also named .spheres and
        .rays
  -     standard input: .csv, .npy or .ply, or what --input-format says
  Segments, for --segments: (M, 6), columns x1,y1,z1,x2,y2,z2, or records of 6
  f32 (also .segments). --query occluded reports whether a segment hits
  anything, --query approach where it passes nearest to a surface.
  Points, for --toward and --parallel: (N, 3), columns x,y,z, or records of 3
  f32 (also .points). Rays from points and rays of a sensor are generated on the
  device: only 12 bytes per point or a few tables are uploaded.

  Spheres may have a velocity, columns vx,vy,vz: at time t they are at x + t vx,
  y + t vy, z + t vz. Rays and segments may have a time (for --motion at-time)
  and a radius: a ball that moves along the ray and hits spheres with its
  surface.
  Spheres may have a transmittance from 0 (opaque, the default) to 1
  (invisible), for --query transmittance.
  Spheres may be ellipsoids: columns rx,ry,rz instead of r, and optional
  qw,qx,qy,qz, the rotation from the axes of the ellipsoid to those of the file.
  They work with every --query except approach, at precision standard (their
  default) and fast.

  A sensor file is TOML:
    # Or lists of angles. Elevations rise from the sensor's xy plane, azimuths
    # turn from x towards y; `to` is excluded.
    elevations_deg = { from = -25, through = 15, count = 64 }
    azimuths_deg = { from = 0, to = 360, count = 1024 }
    # Optional: t_min, t_max
    range = [0.5, 120]
    # Optional: columns x,y,z,qw,qx,qy,qz; or a list of [x, y, z] or of
    # [x, y, z, qw, qx, qy, qz]
    poses = 'poses.csv'
  The rays are ordered by pose, then elevation, then azimuth. Directions have
  length 1, so t is a distance. --with pose,ring,azimuth names the ray, and
  --keep copies other columns of the poses. One called time is then the time of
  the rays for moving spheres.

  OUT is .npz, .csv, .parquet, .ply, .npy, .f32 or - (in --format). A miss
  is inf and 4294967295 in .npz (hit = answers['id'] != 4294967295), an empty
  cell in .csv, null in .parquet. In .ply the hits are points, binary, with x,
  y, z, t, id and the columns of --with; a miss has no point.
  --query all and nearest list the spheres that a ray hits, sorted by (t, id),
  where t follows the policies. .npz has the arrays offsets (u8, one more than
  rays), t_enter, t_exit, id: the entries of ray i are
  offsets[i]:offsets[i + 1]. .csv has one line ray,t_enter,t_exit,id per hit,
  with rays counted from 0 and no line for a ray without hits. .parquet has one
  row per ray, with lists as columns.
  The id of a sphere is its row in the file, from 0. t is a multiple of the
  direction as given, which is not normalised.
  Spheres are kept in memory. Rays and results are streamed, so their files may
  be larger than memory. Pipes are accepted (.npy and .csv under any name, raw
  .f32 with its extension). OUT appears when it is complete: a cast that fails
  or is stopped (Ctrl-C) leaves an existing file unchanged.

Examples:
  umbracast cast spheres.csv rays.csv -o hits.csv
  umbracast cast spheres.csv rays.csv -o - | head
  umbracast cast spheres.npy rays.npy -o dark.npz --query occluded --compare
  umbracast cast map.csv rays.csv -o hits.npz --origin auto
  umbracast cast s.f32 r.f32 -o both.npz --query interval --on-bad skip --json
  umbracast cast spheres.npy rays.npy -o chords.npz --query all
  umbracast cast s.npy points.npy -o d.npz --query occluded --toward 0,0,50,2
  umbracast cast s.npy points.npy -o d.npz --query occluded --parallel 0.3,0.1,1
  umbracast cast spheres.npy --sensor lidar.toml -o returns.npz
  umbracast cast spheres.npy --sensor lidar.toml -o points.ply --with ring
  umbracast cast s.csv segments.csv -o blocked.npz --segments --query occluded
  umbracast cast s.csv r.csv -o hits.csv --motion with-ray --time-range 0,60
  umbracast cast spheres.csv rays.csv -o hits.csv --plot hits.png
  umbracast cast spheres.npy rays.npy -o hits.npz --with point,normal,incidence
  umbracast cast spheres.csv named.csv -o hits.csv --keep
  umbracast cast --sphere 4,0,0,1 --ray 0,0,0,1,0,0

Exit codes: 0 done, 2 bad usage or input, 3 no such device or precision, 4 the
  device failed, 5 reading or writing failed, 6 --compare found a violated
  guarantee, 130 stopped by Ctrl-C.";

/// Cast rays at spheres: find the closest hit, all hits, occlusion or clearance per ray
///
/// Reads spheres and rays from files and writes one result per ray. With --sphere and --ray, prints the roots, the hit and the clearance of
/// one sphere and one ray.
#[derive(Debug, Args)]
#[command(override_usage = "umbracast cast [OPTIONS] SPHERES RAYS -o OUT\n       \
    umbracast cast [OPTIONS] SPHERES POINTS {--toward X,Y,Z[,R] | --parallel DX,DY,DZ} -o OUT\n       \
    umbracast cast [OPTIONS] SPHERES SEGMENTS --segments -o OUT\n       \
    umbracast cast [OPTIONS] SPHERES --sensor FILE.toml -o OUT\n       \
    umbracast cast [OPTIONS] --sphere X,Y,Z,R --ray OX,OY,OZ,DX,DY,DZ[,T_MIN,T_MAX]")]
#[command(after_long_help = EXAMPLES)]
#[command(after_help = "`umbracast cast --help` has all options and policies, explains the files, and gives examples.")]
pub(crate) struct CastArgs {
    /// Spheres: .npy, .npz, .csv, .parquet, .ply, .xyz, .pdb, .f32, .spheres or -
    #[arg(required_unless_present_any = ["sphere", "ray"])]
    spheres: Option<PathBuf>,
    /// Rays, points or segments: .npy, .npz, .csv, .parquet, .ply, .f32, .rays or -
    #[arg(required_unless_present_any = ["sphere", "ray", "sensor"])]
    rays: Option<PathBuf>,
    /// Output file: .npz, .csv, .parquet, .npy, .f32, .ply (hits as points) or - (standard output)
    #[arg(short, long, value_name = "OUT", required_unless_present_any = ["sphere", "ray"])]
    output: Option<PathBuf>,

    /// Cast a ray from each point of the second file to this target
    ///
    /// t is 1 at the target. With a radius R, the rays end before that sphere.
    #[arg(long, value_name = "X,Y,Z[,R]", allow_hyphen_values = true, value_parser = ray_input::toward,
          conflicts_with = "parallel")]
    toward: Option<ray_input::DirectionSpec>,
    /// Cast an infinite ray from each point of the second file in this direction
    #[arg(long, value_name = "DX,DY,DZ", allow_hyphen_values = true, value_parser = ray_input::parallel)]
    parallel: Option<ray_input::DirectionSpec>,
    /// Column of the points with the id of the sphere on whose surface each ray of --toward or --parallel starts, or none
    ///
    /// The direction decides whether such a ray leaves its sphere or goes into it, not the rounded point. By default it is the column
    /// from_id; or the column id, which results of cast have, if every point lies on the sphere that it names. The summary says so.
    #[arg(long, value_name = "COLUMN|none", hide_short_help = true)]
    pub(crate) from_id: Option<String>,
    /// The second file has segments between two points; t goes from 0 to 1
    #[arg(long, conflicts_with_all = ["toward", "parallel", "sensor"])]
    segments: bool,
    /// Cast the rays of a sensor, instead of a second file
    ///
    /// A sensor has poses, elevations and azimuths: see below.
    #[arg(long, value_name = "FILE.toml", conflicts_with_all = ["rays", "toward", "parallel"])]
    sensor: Option<PathBuf>,

    /// Query, with the columns of its results
    #[arg(long, value_parser = words(QUERIES), default_value = "closest")]
    pub(crate) query: QueryName,
    /// Maximum number of spheres per ray, for --query nearest
    ///
    /// 1 lists only the closest sphere.
    #[arg(long, value_name = "K", hide_short_help = true)]
    #[arg(allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    k: Option<u32>,
    /// Additional columns per hit of `closest`, in this order
    #[arg(long, value_name = "WHAT,…", value_delimiter = ',', value_parser = words(WITHS))]
    pub(crate) with: Vec<With>,
    /// Intersect ray i only with sphere i; requires as many rays as spheres
    #[arg(long, hide_short_help = true)]
    pub(crate) pairwise: bool,
    /// Subtract a point from all positions before rounding, for coordinates far from 0
    ///
    /// It is subtracted in f64, before rounding to f32. auto is the centre of the spheres, or a point near the rays if that keeps more
    /// digits, as for an eye above a planet in metres. It looks at the first 262,144 rays, at all poses of a sensor, and at no rays from a
    /// pipe.
    #[arg(long, value_name = "X,Y,Z|auto", allow_hyphen_values = true)]
    pub(crate) origin: Option<Origin>,
    /// How spheres with velocities (columns vx,vy,vz) move [default: at-time]
    #[arg(long, hide_short_help = true, value_parser = words([
        ("at-time", "each ray sees the spheres at its own time (column time, default 0): a snapshot", Motion::AtTime),
        ("with-ray", "spheres move while the ray travels, and t is the time: projectiles; requires a finite t_max", Motion::WithRay),
    ]))]
    motion: Option<Motion>,
    /// First and last time of the rays, for spheres with velocities [default: 0,1]
    #[arg(long, hide_short_help = true, value_name = "FROM,TO", allow_hyphen_values = true, value_parser = time_range)]
    time_range: Option<[f32; 2]>,
    /// What to do with invalid spheres (NaN, negative radius) and rays (NaN, zero direction, t_min above t_max)
    #[arg(long, hide_short_help = true, value_parser = words([
        ("refuse", "stop, report the first one, and write nothing", OnBad::Refuse),
        ("skip", "count them; no ray hits such a sphere, and such a ray is a miss; ids stay rows of the file", OnBad::Skip),
    ]), default_value = "refuse")]
    pub(crate) on_bad: OnBad,
    #[command(flatten)]
    pub(crate) sphere_options: SphereArgs,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) keep: KeepArgs,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Also run the CPU engine and count the differences
    ///
    /// Fails if the differences exceed what the precision guarantees. Results of the CPU engine itself are compared with a brute-force test
    /// of every sphere in exact arithmetic (for ellipsoids, at the same precision). This is slow for many spheres.
    #[arg(long)]
    pub(crate) compare: bool,

    /// Also draw spheres, rays and hits, for debugging (.png, .svg)
    ///
    /// If there are more than 2,000 rays, about 1,000 to 2,000 of them are drawn, selected by a hash of their indices. If there are more
    /// than 200,000 spheres, every nth is drawn. If a ray lists more than 256 spheres, the first 256 are drawn. A moving sphere is drawn at
    /// the times of its hits; its path is drawn too, faint at the start and strong at the end of the time range.
    #[arg(long, value_name = "PICTURE")]
    pub(crate) plot: Option<PathBuf>,

    /// One sphere, instead of a file
    #[arg(long, hide_short_help = true, value_name = "X,Y,Z,R", allow_hyphen_values = true, requires = "ray", value_parser = single::sphere,
          conflicts_with_all = single::FILES_ONLY.split(' '))]
    sphere: Option<single::GivenSphere>,
    /// One ray, instead of a file
    #[arg(long, hide_short_help = true, value_name = "OX,OY,OZ,DX,DY,DZ[,T_MIN,T_MAX]", allow_hyphen_values = true, requires = "sphere",
          value_parser = single::ray, conflicts_with_all = single::FILES_ONLY.split(' '))]
    ray: Option<single::GivenRay>,

    #[command(flatten)]
    pub(crate) summary: SummaryArgs,

    // Last, because its heading would apply to all arguments that follow.
    #[command(flatten)]
    policies: PolicyArgs,
}

/// Parser of `--time-range`.
pub(crate) fn time_range(text: &str) -> Result<[f32; 2], String> {
    let given = numbers(text, "from,to", &[2])?;
    let [from, to] = [given[0].narrow, given[1].narrow];
    if !from.is_finite() || !to.is_finite() || from > to {
        return Err(format!("{from} to {to}: both times must be finite, and the first must not exceed the last"));
    }
    Ok([from, to])
}

impl CastArgs {
    /// `--motion`, or the default.
    pub(crate) fn motion(&self) -> Motion {
        self.motion.unwrap_or_default()
    }

    /// `--time-range`, or the default.
    pub(crate) fn time_range(&self) -> [f32; 2] {
        self.time_range.unwrap_or(SceneOptions::default().time_range)
    }

    /// Rejects options that have no effect on spheres at rest.
    pub(crate) fn check_rest(&self, spheres: &Path) -> Result<()> {
        let given = [("--motion", self.motion.is_some()), ("--time-range", self.time_range.is_some())];
        given.into_iter().find(|(_, given)| *given).map_or(Ok(()), |(option, _)| {
            let spheres = spheres.display();
            Err(Error::Usage(format!("{option} needs moving spheres, but {spheres} has no columns vx,vy,vz")))
        })
    }

    /// Rejects hit policies with `--query approach`, which does not use them.
    fn check_policies(&self) -> Result<()> {
        match (self.query, self.policies.of_hits()) {
            (QueryName::Approach, Some(option)) => {
                Err(Error::Usage(format!("{option} applies only to hits: it cannot be used with --query approach")))
            }
            _ => Ok(()),
        }
    }

    /// Maximum number of spheres that `nearest` lists; `None` for other queries.
    pub(crate) fn most(&self) -> Result<Option<u32>> {
        match (self.query, self.k) {
            (QueryName::Nearest, None) => {
                Err(Error::Usage("--query nearest needs --k, the maximum number of spheres per ray".into()))
            }
            (QueryName::Nearest, k) => Ok(k),
            (_, None) => Ok(None),
            (other, Some(_)) => Err(Error::Usage(format!("--k is only for --query nearest, not for {}", other.word()))),
        }
    }
}

pub(crate) fn run(args: &CastArgs) -> Result<()> {
    args.check_policies()?;
    let query = args.policies.query(args.on_bad).motion(args.motion());
    if args.policies.blocks_near() && !args.query.obeys_near() {
        let obeying = QUERIES.iter().filter(|(.., query)| query.obeys_near()).map(|(word, ..)| *word);
        let obeying = obeying.collect::<Vec<_>>().join(", ");
        let (others, last) = obeying.rsplit_once(", ").unwrap_or(("", &obeying));
        let asked = args.query.word();
        let message =
            format!("--near block is for --query {others} and {last}: it cannot be used with --query {asked}");
        return Err(Error::Usage(message));
    }
    if !args.with.is_empty() && !matches!(args.query, QueryName::Closest) {
        let asked = args.query.word();
        return Err(Error::Usage(format!("--with is only for --query closest, not for {asked}")));
    }
    if let Some((_, twice)) = args.with.iter().enumerate().find(|(i, what)| args.with[..*i].contains(what)) {
        return Err(Error::Usage(format!("--with lists {} twice", twice.word())));
    }
    let of_sensor = args.with.iter().find(|what| matches!(what, With::Pose | With::Ring | With::Azimuth));
    if let (Some(what), None) = (of_sensor, &args.sensor) {
        return Err(Error::Usage(format!("--with {} needs --sensor", what.word())));
    }
    let mut with = args.with.clone();
    if args.output.as_deref().is_some_and(is_points_output) && matches!(args.query, QueryName::Closest) {
        // A file of points needs them.
        if !with.contains(&With::Point) {
            with.insert(0, With::Point);
        }
    }
    let from = match args.from_id.as_deref() {
        None => FromColumn::Auto,
        Some("none") => FromColumn::None,
        Some(name) => FromColumn::Named(name.into()),
    };
    if args.from_id.is_some() && args.toward.is_none() && args.parallel.is_none() {
        let message = "--from-id is for the points of --toward and --parallel; rays and segments have a column from_id";
        return Err(Error::Usage(message.into()));
    }
    let rays = match (&args.rays, args.toward.as_ref().or(args.parallel.as_ref()), &args.sensor) {
        (_, _, Some(sensor)) => Some(RayInputOptions::Sensor(sensor)),
        (Some(points), Some(direction_spec), _) => Some(RayInputOptions::Points(points, direction_spec.clone(), from)),
        (Some(segments), None, _) if args.segments => Some(RayInputOptions::Segments(segments)),
        (Some(rays), None, _) => Some(RayInputOptions::Rays(rays)),
        (None, ..) => None,
    };
    match (&args.sphere, &args.ray, &args.spheres, rays, &args.output) {
        (Some(sphere), Some(ray), ..) => {
            single::run(sphere, ray, args.origin, &query, args.summary.json, args.summary.quiet)
        }
        (_, _, Some(spheres), Some(rays), Some(output)) => Files { args, query, spheres, rays, output, with }.run(),
        // clap already requires one of the two forms.
        _ => Err(Error::Usage("cast needs SPHERES, RAYS and -o OUT, or --sphere and --ray".into())),
    }
}

impl Files<'_> {
    /// Runs the query of `--query`.
    fn run(&self) -> Result<()> {
        let most = self.args.most()?;
        if matches!(self.args.query, QueryName::Closest) && !self.with.is_empty() {
            let columns = describe::columns(&self.with, self.args.origin.is_some(), is_points_output(self.output));
            return self.answer(RecordQuery::new(&columns));
        }
        if matches!(self.args.query, QueryName::All | QueryName::Nearest) {
            let named = self.output.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
            let is_array = match &named {
                None => {
                    !is_standard_stream(self.output) || self.args.table.format.is_some_and(|f| f != StreamFormat::Csv)
                }
                Some(extension) => ["npy", "f32"].contains(&&**extension),
            };
            if is_array {
                let message = if is_standard_stream(self.output) {
                    "the lists of all and nearest are no single array: leave out --format, or use -o with a file .npz, .csv or .parquet"
                } else {
                    "the lists of all and nearest are no single array: supported are .npz, .csv and .parquet"
                };
                return Err(umbracast_files::Error::bad_output(self.output, message).into());
            }
        }
        self.args.query.run(self, most)
    }
}
