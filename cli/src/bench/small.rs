//! `umbracast bench small`: latency of calls with few rays, and of calls for one ray at a time.

use std::path::PathBuf;
use std::time::Instant;

use crate::error::{Error, Result};
use clap::Args;
use serde::Serialize;
use umbracast::{Device, DeviceOptions, Hit, Inside, Precision, Query, Ray, SceneOptions, Sphere};

use super::scenes::read;
use super::sets::{self, Input};
use super::timing::share;
use super::{choices, threads};
use crate::args::{insides, precisions};
use crate::{print, print_json};

/// Rays per call.
const SIZES: [usize; 3] = [1, 64, 4096];
const SPHERES: u32 = 10_000;

#[derive(Debug, Args)]
pub(crate) struct SmallArgs {
    /// Spheres, in a format of `cast` [default: 10,000 built-in spheres]
    #[arg(value_name = "SPHERES", requires = "ray_file")]
    sphere_file: Option<PathBuf>,
    /// At least 4,096 rays, in a format of `cast`
    #[arg(value_name = "RAYS")]
    ray_file: Option<PathBuf>,
    /// Device: as for `cast --device` [default: $UMBRACAST_DEVICE, or all devices that guarantee the precision]
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// Number of measured calls per size, after one warm-up call
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    repeat: u32,
    /// Precision of the results
    #[arg(long, default_value = "standard", value_parser = precisions())]
    precision: Precision,
    /// How to treat a ray that starts inside a sphere; use `exit` to compare with programs whose spheres are hollow
    #[arg(long, value_parser = insides(), default_value = "enter")]
    inside: Inside,
    /// Print JSON on stdout
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Table {
    version: &'static str,
    threads: usize,
    spheres: usize,
    query: &'static str,
    precision: &'static str,
    repeat: u32,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Row {
    device: String,
    kind: &'static str,
    /// The call: `closest_into` with a batch, or `hit` with one ray.
    call: &'static str,
    /// Rays per call.
    rays: usize,
    /// Sum over all calls.
    rays_hit: u64,
    /// Percentiles 50 and 99 of the wall-clock time per call, in seconds.
    p50_seconds: f64,
    p99_seconds: f64,
}

pub(super) fn run(args: &SmallArgs) -> Result<()> {
    let (spheres, rays) = input(args)?;
    let query = Query::at(args.precision).inside(args.inside);
    let mut rows = Vec::new();
    for choice in choices(&args.device) {
        let device = Device::open(&DeviceOptions::new(choice).precision(args.precision))?;
        let scene = device.scene(&spheres, &SceneOptions::default())?;
        for size in SIZES {
            let mut hits = vec![Hit::MISS; size];
            let cast = |rays: &[Ray]| Ok(scene.closest_into(rays, &mut hits, &query)?.rays_hit);
            let row = match wait(args, &device, "closest_into", &rays, size, cast) {
                // Without `--device`, devices that do not support the precision are skipped.
                Err(Error::Umbracast(umbracast::Error::NoPrecision { .. })) if args.device.is_none() => break,
                other => other?,
            };
            rows.push(row.printed(args.json)?);
        }
        if device.is_cpu() {
            let one = |rays: &[Ray]| Ok(u64::from(scene.hit(&rays[0], &query)?.is_some()));
            rows.push(wait(args, &device, "hit", &rays, 1, one)?.printed(args.json)?);
        }
    }
    if args.json {
        let (version, threads, precision, repeat) =
            (env!("CARGO_PKG_VERSION"), threads(), query.precision.word(), args.repeat);
        let spheres = spheres.len();
        print_json(&Table { version, threads, spheres, query: "closest", precision, repeat, rows })?;
    }
    Ok(())
}

fn input(args: &SmallArgs) -> Result<(Vec<Sphere>, Vec<Ray>)> {
    let most = SIZES[SIZES.len() - 1];
    let (Some(spheres), Some(rays)) = (&args.sphere_file, &args.ray_file) else {
        let spheres = sets::uniform(SPHERES);
        let rays = sets::random(&spheres, most as u32);
        return Ok((spheres, rays));
    };
    let Input { spheres, mut batches, .. } = read(spheres, std::slice::from_ref(rays))?;
    let (_, records) = batches.remove(0);
    if records.len() < most {
        return Err(Error::Usage(format!(
            "{}: {} rays: bench small needs at least {most}",
            rays.display(),
            records.len()
        )));
    }
    Ok((spheres, records))
}

/// Measures successive calls, each with the next `size` rays. `cast` returns how many of them hit.
fn wait(
    args: &SmallArgs,
    device: &Device,
    call: &'static str,
    rays: &[Ray],
    size: usize,
    mut cast: impl FnMut(&[Ray]) -> Result<u64>,
) -> Result<Row> {
    cast(&rays[..size])?;
    let (mut rays_hit, mut seconds) = (0, Vec::new());
    for rays in rays.chunks_exact(size).cycle().take(args.repeat as usize) {
        let start = Instant::now();
        let hit = cast(rays)?;
        seconds.push(start.elapsed().as_secs_f64());
        rays_hit += hit;
    }
    let (p50_seconds, p99_seconds) = (share(&mut seconds, 0.5), share(&mut seconds, 0.99));
    Ok(Row { device: device.name().into(), kind: device.kind(), call, rays: size, rays_hit, p50_seconds, p99_seconds })
}

impl Row {
    /// Prints it, unless as JSON, and returns it.
    fn printed(self, json: bool) -> Result<Self> {
        let Self { device, call, rays, rays_hit, p50_seconds, p99_seconds, .. } = &self;
        if !json {
            let [p50, p99] = [p50_seconds, p99_seconds].map(|seconds| 1e6 * seconds);
            print(&format!(
                "{device:<34} {call:<12} {rays:>5} rays  p50 {p50:>9.2} µs  p99 {p99:>9.2} µs  {rays_hit:>9} rays hit\n"
            ))?;
        }
        Ok(self)
    }
}
