//! `umbracast bench scenes`: build times of whole scenes, and rates of whole batches of rays.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use clap::Args;
use serde::Serialize;
use umbracast::glam::DVec3;
use umbracast::memory;
use umbracast::{CancelToken, Device, Hit, Inside, OnBad, Precision, Query, Ray, Scene, SceneOptions};
use umbracast_files::{OptionalColumns, RayBatch, RayFile, read_spheres};

use super::sets::{self, Input};
use super::threads;
use super::timing::median;
use crate::args::{DeviceArgs, INSIDES, insides, precisions, words};
use crate::progress::ProgressDisplay;
use crate::{print, print_json};

#[derive(Debug, Args)]
pub(crate) struct ScenesArgs {
    /// Spheres, in a format of `cast` [default: three built-in scenes]
    #[arg(value_name = "SPHERES", requires = "ray_files")]
    sphere_file: Option<PathBuf>,
    /// Batches of rays, in a format of `cast`
    #[arg(value_name = "RAYS")]
    ray_files: Vec<PathBuf>,
    #[command(flatten)]
    device: DeviceArgs,
    /// Precision of the results
    #[arg(long, value_parser = precisions(), default_value = "standard")]
    precision: Precision,
    /// How to treat a ray that starts inside a sphere; use `exit` to compare with programs whose spheres are hollow
    #[arg(long, value_parser = insides(), default_value = "enter")]
    inside: Inside,
    /// Queries per batch, separated by commas
    #[arg(long, value_name = "QUERIES", value_delimiter = ',', default_value = "closest,occluded", value_parser = words([
        ("closest", "the first sphere that a ray hits, and its t", QueryName::Closest),
        ("occluded", "whether a ray hits any sphere", QueryName::Occluded),
        ("count", "the number of spheres that a ray hits", QueryName::Count),
        ("all", "all spheres that a ray hits, sorted by t", QueryName::All),
    ]))]
    queries: Vec<QueryName>,
    /// Number of spheres of a built-in scene
    #[arg(long, value_name = "N", default_value_t = 2000, conflicts_with = "sphere_file",
          value_parser = clap::value_parser!(u32).range(1..=16_777_216))]
    spheres: u32,
    /// Number of rays of a built-in batch, approximately
    #[arg(long, value_name = "N", default_value_t = 1 << 16, conflicts_with = "sphere_file",
          value_parser = clap::value_parser!(u32).range(1..=268_435_456))]
    rays: u32,
    /// Number of measured runs, after one warm-up run; the median is reported
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Print JSON on stdout
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug)]
enum QueryName {
    Closest,
    Occluded,
    Count,
    All,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Table<'a> {
    version: &'static str,
    device: &'a str,
    kind: &'static str,
    threads: usize,
    precision: &'static str,
    inside: Option<&'static str>,
    repeat: u32,
    scenes: Vec<SceneRow>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SceneRow {
    scene: String,
    spheres: usize,
    /// Medians in seconds from sphere records to a scene that is ready for queries: wall-clock and CPU time.
    build_seconds: f64,
    build_cpu_seconds: f64,
    /// Estimated bytes of the scene and its largest batch, excluding the caller's own records.
    bytes: u64,
    batches: Vec<BatchRow>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct BatchRow {
    rays: String,
    ray_count: usize,
    query: &'static str,
    rays_hit: u64,
    /// Number of spheres in the results.
    sphere_hits: u64,
    /// Medians in seconds from ray records to result records: wall-clock and CPU time.
    seconds: f64,
    cpu_seconds: f64,
    mrays_per_second: f64,
    /// 10⁶ rays per second of CPU time, times the number of threads: the rate of the CPU engine if no other program uses the cores.
    mrays_per_second_free: Option<f64>,
}

pub(super) fn run(args: &ScenesArgs) -> Result<()> {
    let inputs = match &args.sphere_file {
        Some(spheres) => vec![read(spheres, &args.ray_files).map_err(without_options)?],
        None => sets::all(args.spheres, args.rays),
    };
    let device = Device::open(&args.device.options(args.precision))?;
    let (threads, precision, repeat) = (threads(), args.precision.word(), args.repeat);
    if !args.json {
        let (name, kind) = (device.name(), device.kind());
        print(&format!("{name} ({kind}), {threads} threads, {precision}, medians of {repeat}\n"))?;
    }
    let scenes = inputs.into_iter().map(|input| Bench { args, device: &device }.scene(input)).collect::<Result<_>>()?;
    if args.json {
        let (version, device, kind) = (env!("CARGO_PKG_VERSION"), device.name(), device.kind());
        let inside = INSIDES.into_iter().find(|(.., inside)| *inside == args.inside).map(|(word, ..)| word);
        print_json(&Table { version, device, kind, threads, precision, inside, repeat, scenes })?;
    }
    Ok(())
}

/// Reads the files.
pub(super) fn read(spheres: &Path, rays: &[PathBuf]) -> Result<Input> {
    // The formats of all files are checked before any is read.
    let files = rays.iter().map(|path| Ok((path, RayFile::open(path)?))).collect::<Result<Vec<_>>>()?;
    let table = read_spheres(spheres, DVec3::ZERO)?;
    without_columns(spheres, &table.optional)?;
    let batches =
        files.into_iter().map(|(path, file)| Ok((stem(path), all_rays(path, file)?))).collect::<Result<_>>()?;
    Ok(Input { name: stem(spheres), spheres: table.records, batches })
}

/// Messages of readers name options of `cast`.
fn without_options(error: Error) -> Error {
    match error {
        Error::Files(umbracast_files::Error::BadFile { path, message }) if message.contains("--") => {
            Error::bad_file(&path, format!("{message} (bench has none of these options: change the file)"))
        }
        other => other,
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Rejects files with optional columns, which the benchmark does not use.
fn without_columns(path: &Path, optional: &OptionalColumns) -> Result<()> {
    if *optional == OptionalColumns::default() {
        return Ok(());
    }
    Err(Error::Usage(format!("{}: bench does not support optional columns", path.display())))
}

fn all_rays(path: &Path, file: RayFile) -> Result<Vec<Ray>> {
    memory::check("rays", file.rays().unwrap_or(0).saturating_mul(size_of::<Ray>() as u64))?;
    let (mut all, mut batch, watch) = (Vec::new(), RayBatch::default(), CancelToken::new());
    let mut batches = file.read(DVec3::ZERO, OnBad::Refuse)?;
    while batches.next(&mut batch, &watch)? {
        without_columns(path, &batch.optional)?;
        memory::check("rays", (batch.records.len() * size_of::<Ray>()) as u64)?;
        all.try_reserve(batch.records.len()).map_err(|_| umbracast::Error::OutOfMemory {
            device: "this machine".into(),
            message: "reading rays".into(),
        })?;
        all.extend_from_slice(&batch.records);
    }
    Ok(all)
}

struct Bench<'a> {
    args: &'a ScenesArgs,
    device: &'a Device,
}

impl Bench<'_> {
    fn scene(&self, Input { name, spheres, batches }: Input) -> Result<SceneRow> {
        let working = ProgressDisplay::on(format!("building {name}"), self.args.json);
        let build = || Ok(self.device.scene(&spheres, &SceneOptions::default())?);
        let built = median(self.args.repeat, build)?;
        drop(working);
        let largest = batches.iter().map(|(_, rays)| rays.len()).max().unwrap_or(0);
        let bytes = self.device.estimate_bytes(spheres.len() as u64, largest as u64);
        if !self.args.json {
            let (count, ms, mib) = (spheres.len(), 1e3 * built.wall, bytes as f64 / f64::from(1 << 20));
            print(&format!("\n{name}: {count} spheres, built in {ms:.3} ms, {mib:.2} MiB\n"))?;
            print(
                "  rays                      query         count   rays hit  sphere hits    Mrays/s  with free cores\n",
            )?;
        }
        let mut rows = Vec::new();
        for (name, rays) in &batches {
            for ask in &self.args.queries {
                rows.push(self.batch(&built.last, name, rays, *ask)?);
            }
        }
        let (build_seconds, build_cpu_seconds) = (built.wall, built.cpu);
        Ok(SceneRow { scene: name, spheres: spheres.len(), build_seconds, build_cpu_seconds, bytes, batches: rows })
    }

    fn batch(&self, scene: &Scene, name: &str, rays: &[Ray], ask: QueryName) -> Result<BatchRow> {
        let working = ProgressDisplay::on(format!("casting {name}"), self.args.json);
        let query = Query::at(self.args.precision).inside(self.args.inside);
        let (word, times) = match ask {
            QueryName::Closest => {
                let mut hits = vec![Hit::MISS; rays.len()];
                let cast = || Ok([scene.closest_into(rays, &mut hits, &query)?.rays_hit; 2]);
                ("closest", median(self.args.repeat, cast)?)
            }
            QueryName::Occluded => {
                let cast = || Ok([scene.occluded(rays, &query)?.report.rays_hit; 2]);
                ("occluded", median(self.args.repeat, cast)?)
            }
            QueryName::Count => {
                let cast = || {
                    let counts = scene.count(rays, &query)?;
                    Ok([counts.report.rays_hit, counts.iter().map(|count| u64::from(*count)).sum()])
                };
                ("count", median(self.args.repeat, cast)?)
            }
            QueryName::All => {
                let cast = || {
                    let lists = scene.all(rays, &query)?;
                    Ok([lists.report.rays_hit, lists.records.len() as u64])
                };
                ("all", median(self.args.repeat, cast)?)
            }
        };
        drop(working);
        let millions = rays.len() as f64 * 1e-6;
        let free = self.device.is_cpu().then(|| millions / times.cpu * threads() as f64);
        let row = BatchRow {
            rays: name.into(),
            ray_count: rays.len(),
            query: word,
            rays_hit: times.last[0],
            sphere_hits: times.last[1],
            seconds: times.wall,
            cpu_seconds: times.cpu,
            mrays_per_second: millions / times.wall,
            mrays_per_second_free: free,
        };
        if !self.args.json {
            let BatchRow { ray_count, rays_hit, sphere_hits, mrays_per_second, .. } = row;
            let free = free.map(|rate| format!("{rate:>15.3}")).unwrap_or_default();
            print(&format!(
                "  {name:<24}  {word:<8}  {ray_count:>9}  {rays_hit:>9}  {sphere_hits:>11}  {mrays_per_second:>9.3}  {free}\n"
            ))?;
        }
        Ok(row)
    }
}
