//! `umbracast bench`: benchmarks of the devices of this machine.

pub(crate) mod numbers;
pub(crate) mod scenes;
mod sets;
pub(crate) mod small;
mod timing;

use crate::error::Result;
use clap::{Args, Subcommand};

/// Arguments of `umbracast bench`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  umbracast bench scenes          three built-in scenes, on the device of `auto`
  umbracast bench scenes --spheres 100000 --rays 1000000
                                  the built-in scenes, larger
  umbracast bench scenes s.spheres r.rays --device cpu --queries closest
                                  from files that `cast` reads
  umbracast bench small           latency of 1, 64 and 4,096 rays

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
}

pub(crate) fn run(args: &BenchArgs) -> Result<()> {
    match &args.what {
        What::Scenes(args) => scenes::run(args),
        What::Small(args) => small::run(args),
    }
}

/// The device of the option or of UMBRACAST_DEVICE, otherwise all devices.
fn choices(device: &Option<String>) -> Vec<String> {
    let variable = std::env::var_os("UMBRACAST_DEVICE").filter(|value| !value.is_empty());
    match device.clone().or_else(|| Some(variable?.to_string_lossy().into_owned())) {
        Some(choice) => vec![choice],
        None => (0..umbracast::Device::list().len()).map(|index| index.to_string()).collect(),
    }
}

/// Number of threads of the CPU engine.
fn threads() -> usize {
    rayon::current_num_threads()
}
