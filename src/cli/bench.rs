//! `umbracast bench`: how fast the devices here are, and against what.

use std::time::Instant;

use clap::{Args, Subcommand};
use cpu_time::ProcessTime;
use serde::Serialize;
use umbracast::{
    Device, DeviceOptions, Error, Hit, Precision, Query, Ray, Result, SceneOptions, Sphere, bench, blocking,
};

/// What follows `umbracast bench`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  umbracast bench brute                      every device here, at every precision
  umbracast bench brute --device gpu --json  the best GPU, for programs
  umbracast bench brute --spheres 16384      more spheres; every ray is tested against each
  umbracast bench copy                       reading back, in place and not")]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Every ray against every sphere: billions of tests a second, beside the loops one would write first
    Brute(BruteArgs),
    /// Reading what a GPU wrote: in place, beside a fresh copy each time
    Copy(CopyArgs),
}

#[derive(Debug, Args)]
struct CopyArgs {
    /// Only this device; else all GPUs
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// How much
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=1024))]
    mebibytes: u64,
    /// Times each is run; the median is told
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Print JSON on stdout
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct BruteArgs {
    /// Only this device; else all
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// Spheres in a unit cube
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=16_777_216))]
    spheres: u32,
    /// Rays through it
    #[arg(long, default_value_t = 1 << 20, value_parser = clap::value_parser!(u32).range(1..=268_435_456))]
    rays: u32,
    /// Times each is run after a first time that does not count; the median is told
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Print JSON on stdout
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &BenchArgs) -> Result<()> {
    match &args.what {
        What::Brute(args) => brute(args),
        What::Copy(args) => copy(args),
    }
}

/// One line of the table.
#[derive(Debug, Serialize)]
struct Row {
    device: String,
    kind: &'static str,
    kernel: &'static str,
    precision: &'static str,
    hits: u64,
    /// Wall and CPU seconds of the median run.
    seconds: f64,
    cpu_seconds: f64,
    /// 10⁹ tests a second of wall time, and of CPU time.
    gtests_per_second: f64,
    gtests_per_cpu_second: f64,
}

#[derive(Debug, Serialize)]
struct Table<'a> {
    version: &'static str,
    threads: usize,
    spheres: u32,
    rays: u32,
    repeat: u32,
    rows: &'a [Row],
}

/// Runs one kernel a few times.
struct Runner<'a> {
    args: &'a BruteArgs,
    device: &'a Device,
    rows: &'a mut Vec<Row>,
}

impl Runner<'_> {
    fn run(&mut self, kernel: &'static str, precision: &'static str, cast: impl Fn() -> Result<u64>) -> Result<()> {
        let Times { wall: seconds, cpu: cpu_seconds, last: hits } = median(self.args.repeat, cast)?;
        let tests = f64::from(self.args.spheres) * f64::from(self.args.rays) * 1e-9;
        let row = Row {
            device: self.device.name().into(),
            kind: self.device.kind(),
            kernel,
            precision,
            hits,
            seconds,
            cpu_seconds,
            gtests_per_second: tests / seconds,
            gtests_per_cpu_second: tests / cpu_seconds,
        };
        if !self.args.json {
            super::print(&format!(
                "{:<34} {:<8} {:<9} {:>9} hits {:>9.3} ms {:>9.3} G tests/s {:>9.3} a CPU second\n",
                row.device,
                kernel,
                precision,
                hits,
                1e3 * seconds,
                row.gtests_per_second,
                row.gtests_per_cpu_second
            ))?;
        }
        self.rows.push(row);
        Ok(())
    }
}

fn brute(args: &BruteArgs) -> Result<()> {
    let (spheres, rays) = (cloud(args.spheres), through(args.rays));
    let mut rows = Vec::new();
    for choice in choices(&args.device) {
        let device = blocking::open(&DeviceOptions::new(choice))?;
        let scene = blocking::scene(&device, &spheres, &SceneOptions::default())?;
        let mut runner = Runner { args, device: &device, rows: &mut rows };
        let hits = std::cell::RefCell::new(vec![Hit::MISS; rays.len()]);
        for precision in Precision::ALL {
            let query = Query::at(precision);
            let cast = || Ok(blocking::closest_into(&scene, &rays, &mut hits.borrow_mut(), &query)?.hits);
            match runner.run("closest", precision.word(), cast) {
                Err(Error::NoPrecision { .. }) => continue,
                other => other?,
            }
            if precision == Precision::Exact {
                continue;
            }
            if device.is_cpu() {
                let count = || bench::scalar(&spheres, &rays).iter().filter(|hit| hit.is_hit()).count() as u64;
                if precision == Precision::Fast {
                    runner.run("naive", precision.word(), || Ok(count()))?;
                }
            } else {
                let cast = || Ok(bench::naive(&scene, &rays, &query)?.map_or(0, |hits| hits.report.hits));
                runner.run("naive", precision.word(), cast)?;
            }
            runner.run("occluded", precision.word(), || Ok(blocking::occluded(&scene, &rays, &query)?.report.hits))?;
        }
        let query = Query::default();
        match runner.run("approach", "standard", || Ok(blocking::approach(&scene, &rays, &query)?.report.hits)) {
            Err(Error::NoPrecision { .. }) => {}
            other => other?,
        }
    }
    if args.json {
        let (version, threads) =
            (env!("CARGO_PKG_VERSION"), std::thread::available_parallelism().map_or(1, usize::from));
        let (spheres, rays, repeat) = (args.spheres, args.rays, args.repeat);
        super::print_json(&Table { version, threads, spheres, rays, repeat, rows: &rows })?;
    }
    Ok(())
}

fn choices(device: &Option<String>) -> Vec<String> {
    match device {
        Some(choice) => vec![choice.clone()],
        None => (0..blocking::list().len()).map(|index| index.to_string()).collect(),
    }
}

#[derive(Debug, Serialize)]
struct CopyRow {
    device: String,
    mebibytes: u64,
    /// Wall and CPU seconds of the median run.
    fresh_seconds: f64,
    fresh_cpu_seconds: f64,
    in_place_seconds: f64,
    in_place_cpu_seconds: f64,
}

fn copy(args: &CopyArgs) -> Result<()> {
    let mut rows = Vec::new();
    for choice in choices(&args.device) {
        let device = blocking::open(&DeviceOptions::new(choice))?;
        let Some(readback) = bench::Readback::new(&device, args.mebibytes << 20)? else { continue };
        let fresh = median(args.repeat, || readback.fresh())?;
        let in_place = median(args.repeat, || readback.in_place())?;
        rows.push(CopyRow {
            device: device.name().into(),
            mebibytes: args.mebibytes,
            fresh_seconds: fresh.wall,
            fresh_cpu_seconds: fresh.cpu,
            in_place_seconds: in_place.wall,
            in_place_cpu_seconds: in_place.cpu,
        });
        if !args.json {
            super::print(&format!(
                "{:<34} {} MiB: fresh {:.3} ms ({:.3} CPU), in place {:.3} ms ({:.3} CPU), {:.1} times less CPU\n",
                device.name(),
                args.mebibytes,
                1e3 * fresh.wall,
                1e3 * fresh.cpu,
                1e3 * in_place.wall,
                1e3 * in_place.cpu,
                fresh.cpu / in_place.cpu
            ))?;
        }
    }
    if args.json { super::print_json(&rows) } else { Ok(()) }
}

/// Seconds of the median run.
struct Times {
    wall: f64,
    cpu: f64,
    last: u64,
}

/// Runs something once without counting, then a few times.
fn median(repeat: u32, work: impl Fn() -> Result<u64>) -> Result<Times> {
    let mut last = work()?;
    let mut times = Vec::new();
    for _ in 0..repeat {
        let (wall, cpu) = (Instant::now(), ProcessTime::now());
        last = work()?;
        times.push((cpu.elapsed().as_secs_f64(), wall.elapsed().as_secs_f64()));
    }
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (cpu, wall) = times[times.len() / 2];
    Ok(Times { wall, cpu, last })
}

/// A small generator with a fixed seed: the same numbers everywhere.
struct Numbers(u64);

impl Numbers {
    /// Uniform in [0, 1).
    fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 24) as f32
    }

    fn point(&mut self) -> [f32; 3] {
        [self.unit(), self.unit(), self.unit()]
    }
}

/// Spheres in a unit cube, of which a ray through it meets about one, however many there are.
fn cloud(count: u32) -> Vec<Sphere> {
    let mut numbers = Numbers(1);
    let radius = 0.5 / (count as f32).sqrt();
    (0..count).map(|_| Sphere::new(numbers.point(), radius * (0.5 + numbers.unit()))).collect()
}

/// Rays from somewhere outside the cube to somewhere in it.
fn through(count: u32) -> Vec<Ray> {
    let mut numbers = Numbers(2);
    let mut ray = || {
        let (from, to) = (umbracast::glam::Vec3::from(numbers.point()), umbracast::glam::Vec3::from(numbers.point()));
        let side = [2.0, -2.0][usize::from(numbers.unit() < 0.5)];
        let origin = from + umbracast::glam::Vec3::new(side, 0.0, 0.0);
        Ray::new(origin, to - origin)
    };
    (0..count).map(|_| ray()).collect()
}
