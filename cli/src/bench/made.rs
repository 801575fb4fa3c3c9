//! `umbracast bench made`: an occlusion image with rays generated on the device, compared with the same rays uploaded.

use clap::Args;
use serde::Serialize;
use umbracast::glam::DVec3;
use umbracast::raygen::{Image, Toward};
use umbracast::shadow::{Camera, Lens};
use umbracast::{Device, DeviceOptions, Query, Ray, Rays, Result, SceneOptions, bench};

use super::timing::median;
use super::{ReportArgs, choices, sets};
use crate::{print, print_json};

/// Number of spheres. Every sphere is tested, and there are few, so the cost of the rays is significant.
const SPHERES: u32 = 16;
/// Side of the image in pixels, and of the grid of points.
const SIDE: u32 = 1024;

#[derive(Debug, Args)]
pub(crate) struct MadeArgs {
    /// Number of measured runs, after one warm-up run; the median is reported
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    #[command(flatten)]
    report: ReportArgs,
}

#[derive(Debug, Serialize)]
struct Row {
    device: String,
    source: &'static str,
    rays: u64,
    hits: u64,
    /// Uploaded bytes and median CPU seconds, for generated and for uploaded rays.
    made_bytes: u64,
    made_cpu_seconds: f64,
    sent_bytes: u64,
    sent_cpu_seconds: f64,
}

pub(super) fn run(args: &MadeArgs) -> Result<()> {
    let points: Vec<[f32; 3]> = (0..SIDE * SIDE)
        .map(|i| [i % SIDE, i / SIDE].map(|at| at as f32 / SIDE as f32 * 2.0 - 1.0))
        .map(|[x, y]| [x, y, -2.0])
        .collect();
    let lamp = Toward { points: &points, target: [0.25, 0.5, 3.0], radius: 0.1 };
    let lens = Lens::Perspective { field_of_view_deg: 60.0 };
    let camera = Camera { position: DVec3::new(0.0, 0.0, 3.0), target: DVec3::ZERO, up: DVec3::Y, lens };
    let image = Image::new(&camera, [SIDE; 2])?;
    let mut rows = Vec::new();
    for choice in choices(&args.report.device) {
        let device = Device::open(&DeviceOptions::new(choice))?;
        for (source, rays) in [("toward a lamp", Rays::from(&lamp)), ("camera", Rays::from(&image))] {
            let row = measure(args, &device, source, rays)?;
            if !args.report.json {
                print(&format!(
                    "{:<34} {source:<13} {} rays, {} hits: generated on the device: {} bytes uploaded, {:.1} ms CPU; \
                     uploaded: {} bytes, {:.1} ms CPU\n",
                    row.device,
                    row.rays,
                    row.hits,
                    row.made_bytes,
                    1e3 * row.made_cpu_seconds,
                    row.sent_bytes,
                    1e3 * row.sent_cpu_seconds
                ))?;
            }
            rows.push(row);
        }
    }
    if args.report.json { print_json(&rows) } else { Ok(()) }
}

fn measure(args: &MadeArgs, device: &Device, source: &'static str, rays: Rays<'_>) -> Result<Row> {
    let scene = device.scene(&sets::uniform(SPHERES), &SceneOptions::default())?;
    let written: Vec<Ray> = (0..rays.len()).filter_map(|i| rays.ray(i)).collect();
    let up = |rays: Rays<'_>| Ok::<u64, umbracast::Error>(bench::made(device, rays)?.map_or(0, |(_, bytes)| bytes));
    let (made_bytes, sent_bytes) = (up(rays)?, up(Rays::from(&written))?);
    let made = median(args.repeat, || scene.occluded(rays, &Query::default()))?;
    let sent = median(args.repeat, || scene.occluded(&written, &Query::default()))?;
    Ok(Row {
        device: device.name().into(),
        source,
        rays: rays.len() as u64,
        hits: made.last.report.rays_hit,
        made_bytes,
        made_cpu_seconds: made.cpu,
        sent_bytes,
        sent_cpu_seconds: sent.cpu,
    })
}
