//! `umbracast bench`: how fast the devices here are, and against what.

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
use umbracast::{Result, blocking};

/// What follows `umbracast bench`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  umbracast bench scenes                     three built-in scenes, on the device that `auto` chooses
  umbracast bench scenes s.spheres r.rays --device cpu --queries closest --json
                                             files of any format that `cast` reads, one scene and its batches
  umbracast bench scenes --spheres 100000 --rays 1000000
                                             the built-in scenes, larger
  umbracast bench small                      how long 1, 64 and 4,096 rays take, on every device here
  umbracast bench brute                      every device here, at every precision
  umbracast bench brute --device gpu --json  the best GPU, for programs
  umbracast bench brute --spheres 16384      more spheres; every ray is tested against each
  umbracast bench made                       rays made on the device, beside rays sent there
  umbracast bench moving --device cpu        spheres that move, beside the same at rest
  umbracast bench copy                       reading back, in place and not

Hits are printed beside every time: runs that differ in them did not do the same work.
tools/peers/compare.sh runs Embree on the same files and prints the ratios.")]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Whole scenes: build time and memory, and millions of rays a second from records to records
    Scenes(scenes::ScenesArgs),
    /// Small batches: how long a caller waits for 1, 64 and 4,096 rays on 10,000 spheres
    Small(small::SmallArgs),
    /// Every ray against every sphere: billions of tests a second, beside the loops one would write first
    Brute(brute::BruteArgs),
    /// Rays made where they are cast, beside the same rays sent there: bytes and CPU time of an occlusion image
    Made(made::MadeArgs),
    /// Spheres that move, for rays at a time and for projectiles: CPU time beside the same spheres at rest
    Moving(moving::MovingArgs),
    /// Reading what a GPU wrote: in place, beside a fresh copy each time
    Copy(copy::CopyArgs),
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

/// The device asked for, here or by the environment, else all.
fn choices(device: &Option<String>) -> Vec<String> {
    let variable = std::env::var_os("UMBRACAST_DEVICE").filter(|value| !value.is_empty());
    match device.clone().or_else(|| Some(variable?.to_string_lossy().into_owned())) {
        Some(choice) => vec![choice],
        None => (0..blocking::list().len()).map(|index| index.to_string()).collect(),
    }
}

/// Threads that the CPU engine works with.
fn threads() -> usize {
    umbracast::bench::threads()
}
