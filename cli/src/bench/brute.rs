//! `umbracast bench brute`: brute force, every ray against every sphere.

use clap::Args;
use serde::Serialize;
use umbracast::glam::Vec3;
use umbracast::{Device, DeviceOptions, Error, Hit, Precision, Query, Ray, Result, SceneOptions, Sphere, bench};

use super::numbers::Numbers;
use super::timing::{Times, median};
use super::{ReportArgs, choices, threads};
use crate::{print, print_json};

#[derive(Debug, Args)]
pub(crate) struct BruteArgs {
    /// Number of random spheres in a unit cube
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=16_777_216))]
    spheres: u32,
    /// Number of random rays through the cube
    #[arg(long, default_value_t = 1 << 20, value_parser = clap::value_parser!(u32).range(1..=268_435_456))]
    rays: u32,
    /// Number of measured runs, after one warm-up run; the median is reported
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    #[command(flatten)]
    report: ReportArgs,
}

/// One row of the table.
#[derive(Debug, Serialize)]
struct Row {
    device: String,
    kind: &'static str,
    kernel: &'static str,
    precision: &'static str,
    hits: u64,
    /// Medians in seconds: wall-clock and CPU time.
    seconds: f64,
    cpu_seconds: f64,
    /// 10⁹ tests per second of wall-clock time, and of CPU time.
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

/// Measures one kernel and adds the row.
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
        if !self.args.report.json {
            print(&format!(
                "{:<34} {:<8} {:<9} {:>9} hits {:>9.3} ms {:>9.3} G tests/s {:>9.3} per CPU second\n",
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

pub(super) fn run(args: &BruteArgs) -> Result<()> {
    let (spheres, rays) = (cloud(args.spheres), through(args.rays));
    let mut rows = Vec::new();
    let _every_sphere = bench::use_tree(false);
    for choice in choices(&args.report.device) {
        let device = Device::open(&DeviceOptions::new(choice))?;
        let scene = device.scene(&spheres, &SceneOptions::default())?;
        let mut runner = Runner { args, device: &device, rows: &mut rows };
        let hits = std::cell::RefCell::new(vec![Hit::MISS; rays.len()]);
        for precision in Precision::ALL {
            let query = Query::at(precision);
            let cast = || Ok(scene.closest_into(&rays, &mut hits.borrow_mut(), &query)?.rays_hit);
            match runner.run("closest", precision.word(), cast) {
                Err(Error::NoPrecision { .. }) => continue,
                other => other?,
            }
            if precision == Precision::Exact {
                continue;
            }
            if device.is_cpu() {
                if precision == Precision::Fast {
                    let cast = || Ok(bench::scalar_closest(&spheres, &rays, &mut hits.borrow_mut()));
                    runner.run("naive", precision.word(), cast)?;
                }
                // `closest` again, with the lower SIMD instruction sets.
                for level in bench::levels().into_iter().skip(1) {
                    let _instructions = bench::use_level(level);
                    let scene = device.scene(&spheres, &SceneOptions::default())?;
                    let cast = || Ok(scene.closest_into(&rays, &mut hits.borrow_mut(), &query)?.rays_hit);
                    runner.run(level, precision.word(), cast)?;
                }
            } else {
                let cast = || Ok(bench::naive(&scene, &rays, &query)?.map_or(0, |hits| hits.report.rays_hit));
                runner.run("naive", precision.word(), cast)?;
            }
            runner.run("occluded", precision.word(), || Ok(scene.occluded(&rays, &query)?.report.rays_hit))?;
        }
        let query = Query::default();
        match runner.run("approach", "standard", || Ok(scene.approach(&rays, &query)?.report.rays_hit)) {
            Err(Error::NoPrecision { .. }) => {}
            other => other?,
        }
    }
    if args.report.json {
        let (version, threads) = (env!("CARGO_PKG_VERSION"), threads());
        let (spheres, rays, repeat) = (args.spheres, args.rays, args.repeat);
        print_json(&Table { version, threads, spheres, rays, repeat, rows: &rows })?;
    }
    Ok(())
}

/// Random spheres in a unit cube. The radii are such that a ray through the cube hits about one sphere for any `count`.
fn cloud(count: u32) -> Vec<Sphere> {
    let mut numbers = Numbers(1);
    let radius = 0.5 / (count as f32).sqrt();
    (0..count).map(|_| Sphere::new(numbers.point(), radius * (0.5 + numbers.unit()))).collect()
}

/// Random rays from outside the cube to points in it.
fn through(count: u32) -> Vec<Ray> {
    let mut numbers = Numbers(2);
    let mut ray = || {
        let (from, to) = (Vec3::from(numbers.point()), Vec3::from(numbers.point()));
        let side = [2.0, -2.0][usize::from(numbers.unit() < 0.5)];
        let origin = from + Vec3::new(side, 0.0, 0.0);
        Ray::new(origin, to - origin)
    };
    (0..count).map(|_| ray()).collect()
}
