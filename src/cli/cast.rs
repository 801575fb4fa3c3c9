//! `umbracast cast`: spheres and rays from files, answers into a file.

use std::path::PathBuf;

use clap::Args;
use umbracast::files::{Answers, Table, center_of_spheres, check_output, read_rays, read_spheres, write_answers};
use umbracast::glam::DVec3;
use umbracast::{Answer, Approach, Bits, Device, Error, Hit, Interval, OnBad, Query, Ray, Report, Result};
use umbracast::{DeviceOptions, SceneOptions, Sphere, blocking};

use super::args::{DeviceArgs, Origin, PolicyArgs, words};
use super::compare::{self, Comparison};
use super::progress::Working;
use super::summary::Summary;
use super::{print_json, say, single};

/// What is asked of every ray.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ask {
    Closest,
    Occluded,
    Interval,
    Approach,
}

impl Ask {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Closest => "closest",
            Self::Occluded => "occluded",
            Self::Interval => "interval",
            Self::Approach => "approach",
        }
    }
}

const EXAMPLES: &str = "\
Files:
  .npy  f4 or f8. Spheres (N, 4): x y z r. Rays (M, 6): origin, direction;
        or (M, 8): origin, t_min, direction, t_max
  .csv  columns by name. Spheres: x,y,z,r. Rays: ox,oy,oz,dx,dy,dz, optional t_min,t_max (else 0 and inf)
  .f32  raw little-endian records of 4 and 8 f32, as in .npy; also named .spheres and .rays
  OUT is .npz or .csv. A miss is inf and 4294967295 in .npz, an empty cell in .csv.
  A sphere's id is its number in the file, from 0. t counts in units of the direction as given.

Examples:
  umbracast cast spheres.csv rays.csv -o hits.csv
  umbracast cast spheres.npy rays.npy -o dark.npz --query occluded --device gpu --compare
  umbracast cast map.csv rays.csv -o hits.npz --origin auto --precision exact
  umbracast cast spheres.f32 rays.f32 -o both.npz --query interval --on-bad skip --json
  umbracast cast --sphere 4,0,0,1 --ray 0,0,0,1,0,0

Exit codes: 0 done, 2 bad usage or input, 3 no such device or precision, 4 the device failed,
  5 reading or writing failed, 6 --compare found a broken promise.";

/// Cast rays at spheres: which one does each ray meet, and when?
///
/// Reads spheres and rays from files and writes one answer a ray; or takes one sphere and one ray from the command line
/// and prints everything about them.
#[derive(Debug, Args)]
#[command(override_usage = "umbracast cast [OPTIONS] SPHERES RAYS -o OUT\n       \
    umbracast cast [OPTIONS] --sphere X,Y,Z,R --ray OX,OY,OZ,DX,DY,DZ[,T_MIN,T_MAX]")]
#[command(after_long_help = EXAMPLES, after_help = "`umbracast cast --help` explains the files and gives examples.")]
pub(crate) struct CastArgs {
    /// Spheres: .npy, .csv, .f32 or .spheres
    #[arg(required_unless_present_any = ["sphere", "ray"])]
    spheres: Option<PathBuf>,
    /// Rays: .npy, .csv, .f32 or .rays
    #[arg(required_unless_present_any = ["sphere", "ray"])]
    rays: Option<PathBuf>,
    /// Where the answers go: .npz or .csv
    #[arg(short, long, value_name = "OUT", required_unless_present_any = ["sphere", "ray"])]
    output: Option<PathBuf>,

    /// What is asked of every ray
    #[arg(long, value_parser = words([
        ("closest", "the first sphere met: t, id", Ask::Closest),
        ("occluded", "whether any sphere is met: occluded", Ask::Occluded),
        ("interval", "both roots of the closest sphere: t_enter, t_exit, id", Ask::Interval),
        ("approach", "where the ray passes nearest to a surface: t, clearance, id", Ask::Approach),
    ]), default_value = "closest")]
    query: Ask,
    /// Ray i meets only sphere i; there must be as many of one as of the other
    #[arg(long)]
    pairwise: bool,
    /// Subtract a point from all positions in f64 before they become f32, for coordinates far from 0: x,y,z, or auto for
    /// the centre of the spheres
    #[arg(long, value_name = "X,Y,Z|auto", allow_hyphen_values = true)]
    origin: Option<Origin>,
    /// What to do with rays that cannot be used (NaN, no direction, t_min above t_max)
    #[arg(long, value_parser = words([
        ("refuse", "stop, name the first, and write nothing", OnBad::Refuse),
        ("skip", "let them miss, and count them", OnBad::Skip),
    ]), default_value = "refuse")]
    on_bad: OnBad,
    #[command(flatten)]
    device: DeviceArgs,
    /// Also run the CPU engine, count the differences, and fail when they exceed what is promised
    #[arg(long)]
    compare: bool,

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
    json: bool,
    /// No summary and no progress
    #[arg(short, long)]
    quiet: bool,

    // Last, because its heading would hold for all that follows.
    #[command(flatten)]
    policies: PolicyArgs,
}

/// What makes no sense without files.
const FILES_ONLY: [&str; 9] =
    ["spheres", "rays", "output", "query", "pairwise", "origin", "on_bad", "device", "compare"];

pub(crate) fn run(args: &CastArgs) -> Result<()> {
    let query = args.policies.query(args.on_bad);
    match (&args.sphere, &args.ray, &args.spheres, &args.rays, &args.output) {
        (Some(sphere), Some(ray), ..) => single::run(sphere, ray, &query, args.json, args.quiet),
        (_, _, Some(spheres), Some(rays), Some(output)) => Files { args, query, spheres, rays, output }.run(),
        // clap demands either the one or the other.
        _ => Err(Error::Usage("cast needs SPHERES, RAYS and -o OUT, or --sphere and --ray".into())),
    }
}

/// A cast from files to a file.
struct Files<'a> {
    args: &'a CastArgs,
    query: Query,
    spheres: &'a PathBuf,
    rays: &'a PathBuf,
    output: &'a PathBuf,
}

impl Files<'_> {
    fn run(&self) -> Result<()> {
        // Everything that can be refused is refused before a device is opened, the cheapest first.
        check_output(self.output, &[self.spheres, self.rays])?;
        let (spheres, rays, origin) = self.read()?;
        if self.args.pairwise && spheres.records.len() != rays.records.len() {
            return Err(Error::LengthsDiffer {
                left_name: "spheres",
                left: spheres.records.len() as u64,
                right_name: "rays",
                right: rays.records.len() as u64,
            });
        }
        let device = blocking::open(&self.args.device.options(self.query.precision))?;
        let answered = self.cast(&device, &spheres.records, &rays.records)?;
        let comparison = if self.args.compare {
            let cpu = blocking::open(&DeviceOptions::new("cpu"))?;
            let expected = self.cast(&cpu, &spheres.records, &rays.records)?;
            Some(self.compare(&spheres.records, &rays.records, &answered, &expected))
        } else {
            None
        };
        let broken = comparison.as_ref().and_then(|c| compare::broken(c, self.query.precision));
        if broken.is_none() {
            // An answer that broke a promise is not handed on as if it had kept it.
            let _working = self.working("writing");
            write_answers(self.output, &answered.answers())?;
        }
        let summary = Summary {
            query: self.args.query.word(),
            precision: self.query.precision.word(),
            device: &device,
            spheres: spheres.records.len(),
            report: answered.report(),
            rounding: (spheres.rounding, rays.rounding),
            origin,
            output: if broken.is_none() { Some(self.output) } else { None },
            comparison: comparison.as_ref(),
        };
        if self.args.json {
            print_json(&summary.json())?;
        } else if !self.args.quiet {
            say(&summary.line());
        }
        broken.map_or(Ok(()), |what| Err(Error::BrokenPromise(what)))
    }

    fn working(&self, what: &str) -> Working {
        Working::on(what.into(), self.args.quiet)
    }

    fn read(&self) -> Result<(Table<Sphere>, Table<Ray>, Option<DVec3>)> {
        let _working = self.working("reading");
        let origin = match self.args.origin {
            None => None,
            Some(Origin::At(origin)) => Some(origin),
            Some(Origin::Auto) => Some(center_of_spheres(self.spheres)?),
        };
        let subtracted = origin.unwrap_or_default();
        let spheres = read_spheres(self.spheres, subtracted)?;
        let rays = read_rays(self.rays, subtracted, self.args.on_bad)?;
        Ok((spheres, rays, origin))
    }

    fn cast(&self, device: &Device, spheres: &[Sphere], rays: &[Ray]) -> Result<Answered> {
        let _working =
            self.working(&format!("casting {} rays at {} spheres on {}", rays.len(), spheres.len(), device.name()));
        let scene = if self.args.pairwise {
            blocking::pairwise(device, spheres)?
        } else {
            blocking::scene(device, spheres, &SceneOptions::default())?
        };
        Ok(match self.args.query {
            Ask::Closest => Answered::Closest(blocking::closest(&scene, rays, &self.query)?),
            Ask::Occluded => Answered::Occluded(blocking::occluded(&scene, rays, &self.query)?),
            Ask::Interval => Answered::Interval(blocking::interval(&scene, rays, &self.query)?),
            Ask::Approach => Answered::Approach(blocking::approach(&scene, rays, &self.query)?),
        })
    }

    fn compare(&self, spheres: &[Sphere], rays: &[Ray], found: &Answered, expected: &Answered) -> Comparison {
        let input = compare::Input { spheres, rays, query: &self.query, pairwise: self.args.pairwise };
        match (found, expected) {
            (Answered::Closest(a), Answered::Closest(b)) => input.compare(a, b),
            (Answered::Interval(a), Answered::Interval(b)) => input.compare(a, b),
            (Answered::Approach(a), Answered::Approach(b)) => input.compare(a, b),
            (Answered::Occluded(a), Answered::Occluded(b)) => input.compare_bits(a, b),
            // Both were asked the same.
            _ => Comparison::default(),
        }
    }
}

/// The answer of any query.
enum Answered {
    Closest(Answer<Hit>),
    Occluded(Bits),
    Interval(Answer<Interval>),
    Approach(Answer<Approach>),
}

impl Answered {
    fn report(&self) -> &Report {
        match self {
            Self::Closest(answer) => &answer.report,
            Self::Occluded(bits) => &bits.report,
            Self::Interval(answer) => &answer.report,
            Self::Approach(answer) => &answer.report,
        }
    }

    fn answers(&self) -> Answers<'_> {
        match self {
            Self::Closest(answer) => Answers::Closest(&answer.records),
            Self::Occluded(bits) => Answers::Occluded { words: &bits.words, len: bits.len },
            Self::Interval(answer) => Answers::Interval(&answer.records),
            Self::Approach(answer) => Answers::Approach(&answer.records),
        }
    }
}
