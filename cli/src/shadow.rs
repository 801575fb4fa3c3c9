//! `umbracast shadow`: the visible fraction of a light for each observer, behind occluders.

mod difference;
mod inside;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use umbracast_files::read_lighting_with_files;

use crate::error::{Error, Result};
use clap::Args;
use cpu_time::ProcessTime;
use serde::Serialize;
use umbracast::glam::DVec3;
use umbracast::shadow::{Interiors, Lighting, Shadow, ShadowFlux};
use umbracast::{CancelToken, Device, OnBad, Precision};
use umbracast_files::{AnswerRow, FileWriter, check_output, read_observers_with};

use self::difference::{Difference, PROMISED};
use self::inside::InsideCount;
use super::args::{DeviceArgs, KeepArgs, SummaryArgs, TableArgs, words};
use super::progress::{CastProgress, ProgressDisplay};
use super::summary::{counted, counts};
use super::{left_out, open_reference, print_summary, say};

const EXAMPLES: &str = "\
OBSERVERS are points in the unit and the coordinates of SYSTEM, in f64:
  .npy  f4 or f8 of shape (N, 3): x y z
  .csv  columns x,y,z. Also .npz, and .parquet in builds with --features parquet
  .f32  raw little-endian records of 3 f32
  .xyz, .pdb  the places of atoms, in angstrom
SYSTEM is a system file as for `umbracast render` (systems/README.md). The light
and the bodies are used, except bodies with `casts = false`. It needs no camera:
  unit = 'km'
  [light]
  center = [0, 0, 149_597_870.7]
  radius = 695_700
  [[body]]
  name = 'Moon'
  center = [0, 0, 370_000]
  radius = 1_737.4
OUT has one row per observer:
  fraction  visible part of the light's disc, by solid angle: 0 in the umbra,
            1 in full light (f8); 1 - fraction is the obscuration
  flux      only if the light has `limb_darkening`: brightness of that part,
            relative to that of the whole disc (f8)
  kind      lit, penumbra, antumbra or umbra; in .npz 0, 1, 2, 3 (u1)
A skipped observer has empty cells, in .npz NaN and 255.
Where bodies overlap in front of the light, the overlap counts once. Bodies
behind the light or behind the observer are ignored. Inside a body the fraction
is 0; a warning has the number of such observers and the first of them. A body
hides half the sky of an observer on its surface, or below it by up to 2.4e-7 of
the distance from its centre to the surface. Inside the light the fraction is 1.
If the fraction is 0, the kind is umbra. Otherwise the edges of the discs
determine the kind, because a sliver may be too thin to change the fraction.
The CPU engine computes in f64, accurate to 1e-9 for lights wider than 1e-7 rad.
GPUs compute in f32, accurate to 1e-4 (the flux: 1e-3), from differences of
coordinates computed in f64.
A body with a `polar_radius` is oblate or prolate along its `pole`. With such
bodies, GPUs are accurate to 1e-3.

Examples:
  umbracast shadow observers.csv systems/eclipse-2024-04-08.toml -o seen.csv
  umbracast shadow satellites.npy system.toml -o seen.npz --json
  umbracast shadow satellites.npy system.toml -o seen.npz --device gpu --compare

Exit codes: 0 done, 2 bad usage or input, 3 no such device or precision, 4 the
  device failed, 5 reading or writing failed, 6 --compare found a violated
  guarantee, 130 stopped by Ctrl-C.";

/// Compute the visible fraction of a light for each observer: umbra, penumbra, antumbra
#[derive(Debug, Args)]
#[command(override_usage = "umbracast shadow [OPTIONS] OBSERVERS SYSTEM -o OUT")]
#[command(after_long_help = EXAMPLES, after_help = "`umbracast shadow --help` explains the files and gives examples.")]
pub(crate) struct ShadowArgs {
    /// Observers: .npy, .npz, .csv, .parquet, .ply, .xyz, .pdb, .f32 or -
    observers: PathBuf,
    /// The light and the bodies: a system file (.toml)
    system: PathBuf,
    /// Output file: .npz, .csv, .parquet, .npy, .f32 or - (standard output)
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// What to do with invalid observers (NaN, coordinates beyond 1e150)
    #[arg(long, value_parser = words([
        ("refuse", "stop, report the first one, and write nothing", OnBad::Refuse),
        ("skip", "count them; their rows have no fraction and no kind", OnBad::Skip),
    ]), default_value = "refuse")]
    on_bad: OnBad,
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    keep: KeepArgs,
    #[command(flatten)]
    device: DeviceArgs,
    /// Also run the CPU engine, count the differences, and fail if they exceed the guaranteed accuracy. If the CPU engine computes the
    /// results itself, prints a warning and does nothing
    #[arg(long)]
    compare: bool,
    #[command(flatten)]
    summary: SummaryArgs,
}

/// Number of observers computed and written at a time, so that their results stay in the cache.
const PIECE: usize = 1 << 18;

pub(crate) fn run(args: &ShadowArgs) -> Result<()> {
    // All checks that need no device come first, the cheapest ones before the others.
    check_output(&args.output, &[&args.observers, &args.system], args.table.format)?;
    if args.observers.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml")) {
        let message = "is a system file: the order of the files is OBSERVERS, then SYSTEM";
        return Err(Error::bad_file(args.observers.clone(), message));
    }
    let (lighting, files) = read_lighting_with_files(&args.system)?;
    // The cloud files that the system names are inputs, too.
    check_output(&args.output, &files.paths.iter().map(PathBuf::as_path).collect::<Vec<_>>(), args.table.format)?;
    left_out::say_all(&files, args.summary.quiet);
    args.table.check(&[&args.observers, &args.system], &args.output, args.summary.json)?;
    let (observers, kept) = {
        let _working = ProgressDisplay::on("reading observers".into(), args.summary.quiet);
        let options = args.keep.read_options(&args.table).on_bad(args.on_bad).unit(lighting.unit());
        read_observers_with(&args.observers, &options)?
    };
    let device = Device::open(&args.device.options(Precision::Fast))?;
    let reference = open_reference(args.compare, device.is_cpu())?;

    // With a column of fluxes if the light has limb darkening.
    let has_flux = lighting.limb_darkening().is_some();
    let columns = ShadowFlux::COLUMNS.iter().copied().filter(|(name, _)| has_flux || *name != "flux").collect();
    let mut writer = FileWriter::create_kept(&args.output, columns, kept.names(), args.table.format)?;
    let interiors = Interiors::new(&lighting)?;
    let mut sum = ShadowTotals::default();
    sum.difference.promised = PROMISED[usize::from(!lighting.spheroids().is_empty())];
    {
        let done = Arc::<AtomicU64>::default();
        let (shown, expected) = (done.clone(), Some(observers.len() as u64));
        let what = format!("computing shadows on {}", device.name());
        let done_of = move || shown.load(Ordering::Relaxed);
        let _working = ProgressDisplay::casting(
            CastProgress { what, things: "observers", done: done_of, expected: move || expected },
            args.summary.quiet,
        );
        let mut found = vec![Shadow::default(); PIECE.min(observers.len())];
        for (piece, observers) in observers.chunks(PIECE).enumerate() {
            // Invalid observers are NaN.
            let rows: Vec<usize> = (0..observers.len()).filter(|at| !observers[*at].is_nan()).collect();
            let valid: Vec<DVec3> = rows.iter().map(|at| observers[*at]).collect();
            let found = &mut found[..valid.len()];
            sum.shade(&device, reference.as_ref(), &lighting, &valid, |at| (piece * PIECE + rows[at]) as u64, found)?;
            sum.inside.add(&interiors, |at| piece * PIECE + rows[at], &valid, found)?;
            sum.skipped += (observers.len() - valid.len()) as u64;
            let mut all = vec![ShadowFlux::MISS; observers.len()];
            for (row, shadow) in rows.iter().zip(found.iter()) {
                all[*row].shadow = *shadow;
            }
            if has_flux {
                let fluxes = device.fluxes(&lighting, &valid, found)?;
                if let Some(reference) = &reference {
                    sum.difference.add_fluxes(&fluxes, &reference.fluxes(&lighting, &valid, found)?);
                }
                rows.iter().zip(fluxes).for_each(|(row, flux)| all[*row].flux = flux);
            }
            writer.write_kept(&all, &kept, piece * PIECE)?;
            if writer.is_closed() {
                break;
            }
            done.fetch_add(observers.len() as u64, Ordering::Relaxed);
        }
    }
    let difference = reference.is_some().then_some(&sum.difference);
    let broken = difference.and_then(Difference::broken);
    if broken.is_none() {
        // Results that violate a guarantee are not written.
        let _working = ProgressDisplay::on("writing".into(), args.summary.quiet);
        writer.finish(&CancelToken::new())?;
    }
    if let Some(warning) = sum.inside.warning(&args.observers) {
        // Printed even with `--quiet`, because it is probably a mistake.
        say(&warning);
    }
    let [lit, penumbra, antumbra, umbra] = sum.kinds;
    let (observers, seconds) = (sum.kinds.iter().sum::<u64>(), sum.elapsed.as_secs_f64());
    let summary = ShadowSummary {
        device: device.name(),
        cpu: device.is_cpu(),
        precision: if device.is_cpu() { "f64" } else { "f32" },
        occluders: lighting.occluders().len() + lighting.spheroids().len(),
        observers,
        lit,
        penumbra,
        antumbra,
        umbra,
        inside: sum.inside.count(),
        skipped: sum.skipped,
        seconds,
        cpu_seconds: sum.cpu.as_secs_f64(),
        mobservers_per_second: (seconds > 0.0 && observers > 0).then(|| observers as f64 / seconds * 1e-6),
        output: broken.is_none().then_some(&*args.output),
        compare: difference,
    };
    print_summary(&summary, &summary.line(), args.summary.json, args.summary.quiet)?;
    broken.map_or(Ok(()), |what| Err(Error::BrokenPromise(what)))
}

/// Totals of the observers so far.
#[derive(Default)]
struct ShadowTotals {
    kinds: [u64; 4],
    elapsed: Duration,
    cpu: Duration,
    difference: Difference,
    inside: InsideCount,
    skipped: u64,
}

impl ShadowTotals {
    fn shade(
        &mut self,
        device: &Device,
        reference: Option<&Device>,
        lighting: &Lighting,
        observers: &[DVec3],
        row: impl Fn(usize) -> u64,
        found: &mut [Shadow],
    ) -> Result<()> {
        let (start, cpu) = (Instant::now(), ProcessTime::now());
        device.shadows_into(lighting, observers, found)?;
        self.elapsed += start.elapsed();
        self.cpu += cpu.elapsed();
        for shadow in found.iter() {
            self.kinds[shadow.kind as usize] += 1;
        }
        if let Some(reference) = reference {
            self.difference.add(row, found, &reference.shadows(lighting, observers)?);
        }
        Ok(())
    }
}

/// Summary: one line of text, or one JSON object.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ShadowSummary<'a> {
    device: &'a str,
    cpu: bool,
    precision: &'static str,
    occluders: usize,
    observers: u64,
    lit: u64,
    penumbra: u64,
    antumbra: u64,
    umbra: u64,
    /// Observers inside a body; `umbra` counts them, too.
    inside: u64,
    /// Invalid observers; `observers` does not count them.
    skipped: u64,
    /// Excludes reading and writing of files.
    seconds: f64,
    /// CPU time of all cores; excludes reading and writing of files.
    cpu_seconds: f64,
    /// `None` without observers or if the measured time is 0.
    mobservers_per_second: Option<f64>,
    /// `None` if `--compare` failed and the file was not written.
    output: Option<&'a Path>,
    compare: Option<&'a Difference>,
}

impl ShadowSummary<'_> {
    fn line(&self) -> String {
        let kinds =
            [(self.lit, "lit"), (self.penumbra, "penumbra"), (self.antumbra, "antumbra"), (self.umbra, "umbra")];
        let mut line = format!(
            "{} ({}): {}, {}: {}; {:.3} ms",
            self.device,
            self.precision,
            counted(self.occluders as u64, "occluder"),
            counted(self.observers, "observer"),
            kinds.map(|(count, word)| format!("{count} {word}")).join(", "),
            1e3 * self.seconds
        );
        if let Some(rate) = self.mobservers_per_second {
            line += &format!(", {rate:.3} Mobservers/s");
        }
        line += &counts([(self.skipped, "bad observers skipped")]);
        if let Some(output) = self.output {
            line += &format!("; wrote {}", output.display());
        }
        if let Some(difference) = self.compare {
            line += &format!(
                "; compared with the CPU engine, fractions differ by at most {:.1e}, {} kinds differ",
                difference.fraction, difference.kinds
            );
        }
        line
    }
}
