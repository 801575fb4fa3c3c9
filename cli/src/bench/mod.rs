//! `umbracast bench`: benchmarks of the devices of this machine.

mod brute;
mod copy;
mod made;
mod moving;
mod numbers;
mod scenes;
mod sets;
mod small;
mod timing;

use clap::{Args, Subcommand};
use umbracast::{Device, Result};

/// Arguments of `umbracast bench`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  umbracast bench scenes          three built-in scenes, on the device of `auto`
  umbracast bench scenes --spheres 100000 --rays 1000000
                                  the built-in scenes, larger
  umbracast bench scenes s.spheres r.rays --device cpu --queries closest
                                  from files that `cast` reads
  umbracast bench small           latency of 1, 64 and 4,096 rays
  umbracast bench brute           every device, at every precision
  umbracast bench brute --device gpu --json
                                  the best GPU, as JSON
  umbracast bench made            generated rays, compared with uploaded rays
  umbracast bench moving          moving spheres, compared with spheres at rest
  umbracast bench copy            readback in place, compared with a copy

Every time is printed with the number of hits: runs with different hits did not
do the same work.
tools/peers/compare.sh runs Embree on the same files and prints the ratios.")]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Whole scenes: build time, memory, and 10^6 rays per second (from ray records to result records)
    Scenes(scenes::ScenesArgs),
    /// Small batches: latency of 1, 64 and 4,096 rays on 10,000 spheres
    Small(small::SmallArgs),
    /// Brute force, every ray against every sphere: 10^9 tests per second, compared with naive loops
    Brute(brute::BruteArgs),
    /// Rays generated on the device, compared with uploaded rays: bytes and CPU time of an occlusion image
    Made(made::MadeArgs),
    /// Moving spheres, for rays at an instant and for projectiles: CPU time compared with spheres at rest
    Moving(moving::MovingArgs),
    /// Readback from a GPU: in place, compared with a new staging buffer per readback
    Copy(copy::CopyArgs),
}

/// The devices of a benchmark, and the format of its report.
#[derive(Debug, Args)]
struct ReportArgs {
    /// Device: as for `cast --device` [default: $UMBRACAST_DEVICE, or all devices]
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// Print JSON on stdout
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &BenchArgs) -> Result<()> {
    match &args.what {
        What::Scenes(args) => scenes::run(args),
        What::Small(args) => small::run(args),
        What::Brute(args) => brute::run(args),
        What::Made(args) => made::run(args),
        What::Moving(args) => moving::run(args),
        What::Copy(args) => copy::run(args),
    }
}

/// The device of the option or of UMBRACAST_DEVICE, otherwise all devices.
fn choices(device: &Option<String>) -> Vec<String> {
    let variable = std::env::var_os("UMBRACAST_DEVICE").filter(|value| !value.is_empty());
    match device.clone().or_else(|| Some(variable?.to_string_lossy().into_owned())) {
        Some(choice) => vec![choice],
        None => (0..Device::list().len()).map(|index| index.to_string()).collect(),
    }
}

/// Number of threads of the CPU engine.
fn threads() -> usize {
    umbracast::bench::threads()
}
