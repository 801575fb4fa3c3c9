//! `umbracast bench copy`: readback from a GPU, in place or through a new staging buffer.

use clap::Args;
use serde::Serialize;
use umbracast::{Device, DeviceOptions, Error, Result, bench};

use super::choices;
use super::timing::median;
use crate::{print, print_json};

#[derive(Debug, Args)]
pub(crate) struct CopyArgs {
    /// Device: as for `cast --device` [default: $UMBRACAST_DEVICE, or all GPUs]
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// Size of the buffer in MiB
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=1024))]
    mebibytes: u64,
    /// Number of measured runs, after one warm-up run; the median is reported
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Print JSON on stdout
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct CopyRow {
    device: String,
    mebibytes: u64,
    /// Medians in seconds: wall-clock and CPU time.
    fresh_seconds: f64,
    fresh_cpu_seconds: f64,
    in_place_seconds: f64,
    in_place_cpu_seconds: f64,
}

pub(super) fn run(args: &CopyArgs) -> Result<()> {
    let mut rows = Vec::new();
    for choice in choices(&args.device) {
        let device = Device::open(&DeviceOptions::new(choice))?;
        let Some(readback) = bench::Readback::new(&device, args.mebibytes << 20)? else {
            if args.device.is_some() {
                return Err(Error::InvalidArgument(
                    "--device selects the CPU engine, which needs no readback: choose a GPU".into(),
                ));
            }
            continue;
        };
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
            print(&format!(
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
    if args.json { print_json(&rows) } else { Ok(()) }
}
