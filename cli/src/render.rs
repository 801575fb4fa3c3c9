//! `umbracast render`: a picture of a system, and arrays of distances, ids and visible fractions per pixel.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use umbracast_files::write_picture;
use umbracast_files::{parse_system, read_system_with_files};

use crate::error::{Error, Result};
use clap::Args;
use serde::Serialize;
use umbracast::memory;
use umbracast::shadow::{Picture, Progress, RenderProgress, System};
use umbracast::{Device, Precision};
use umbracast_files::PreparedFile;
use umbracast_files::{PLANET, PictureFiles, PngDepth, SystemFiles};

use super::args::{DeviceArgs, SummaryArgs, words};
use super::outputs::{self, OutputFile};
use super::picture_warnings::picture_warning;
use super::pictures::Difference;
use super::progress::ProgressDisplay;
use super::sidecar::Sidecar;
use super::sky::frames::{self, FieldOfView};
use super::{left_out, open_reference, print_summary, say};

/// Folder of the built-in picture.
const FOLDER: &str = "output";

const EXAMPLES: &str = "\
Examples:
  umbracast render
  umbracast render systems/eclipse-2024-04-08.toml --size 3840x2160
  umbracast render systems/ring.toml
  umbracast render hour-*.toml -o frame-%03d.png
  umbracast render systems/umbra-2024-04-08.toml --fraction fraction.npy
  umbracast render --device gpu --compare

docs/system-files.md describes system files. The arrays have shape (height,
width) and contain the values at the centre of each pixel:
  t         distance in the unit of the file; inf without a sphere
  id        index of the sphere in the file, the light last; 4294967295 without
            a sphere
  fraction  visible part of the light's disc from that point; 1 without a sphere
  flux      brightness of that part, relative to that of the whole disc; differs
            from fraction only if the light has `limb_darkening`
  normal    shape (height, width, 3): outward unit vectors in the coordinates of
            the file; 0 without a sphere
  view_distance
            as t, but measured along the viewing direction

Exit codes: 0 done, 2 bad usage or input, 3 no such device or precision, 4 the
  device failed, 5 reading or writing failed, 6 --compare found a violated
  guarantee, 130 stopped by Ctrl-C.";

/// Render a system of a light and bodies, with accurate umbra and penumbra
///
/// Without SYSTEM, renders a planet and its moon into output/planet.png. Several systems are read first, and then rendered one after the
/// other on one device.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, after_help = "`umbracast render --help` gives examples.")]
pub(crate) struct RenderArgs {
    /// System files (.toml) [default: systems/planet.toml, which is built in]
    #[arg(value_name = "SYSTEM")]
    systems: Vec<PathBuf>,
    /// Output picture: .png; of several systems with a number, such as frame-%03d.png [default: NAME.png; without SYSTEM, output/planet.png]
    #[arg(short, long, value_name = "PNG")]
    output: Option<PathBuf>,
    /// Width and height in pixels [default: those of the system]
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = size)]
    size: Option<[u32; 2]>,
    /// Bits per channel
    #[arg(long, default_value = "8", value_parser = words([
        ("8", "for display", PngDepth::Eight),
        ("16", "for further processing", PngDepth::Sixteen),
    ]))]
    bits: PngDepth,
    /// Samples along each axis of a pixel [default: those of the system]
    #[arg(long, value_name = "N")]
    samples: Option<u32>,
    /// Vertical field of view in degrees, or `fill`: the body at which the camera aims fills the picture [default: that of the system]
    #[arg(long, value_name = "DEGREES|fill", value_parser = FieldOfView::parse)]
    fov: Option<FieldOfView>,
    /// Also write the distances, as f32
    #[arg(long, value_name = "NPY")]
    t: Option<PathBuf>,
    /// Also write the ids, as u32
    #[arg(long, value_name = "NPY")]
    id: Option<PathBuf>,
    /// Also write the visible fractions of the light, as f32
    #[arg(long, value_name = "NPY")]
    fraction: Option<PathBuf>,
    /// Also write the visible fluxes of the light, as f32: the fractions weighted by the brightness of the disc, if the light has
    /// `limb_darkening`
    #[arg(long, value_name = "NPY")]
    flux: Option<PathBuf>,
    /// Also write the outward normals, as f32
    #[arg(long, value_name = "NPY")]
    normal: Option<PathBuf>,
    /// Also write the distances along the viewing direction, as f32
    #[arg(long, value_name = "NPY")]
    view_distance: Option<PathBuf>,
    /// Also write everything that the picture depends on, as JSON: light, bodies, camera, options, engine, assumptions
    #[arg(long, value_name = "JSON")]
    sidecar: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArgs,
    /// Also render on the CPU engine, count the differences, and fail if they exceed the guaranteed accuracy. If the CPU engine renders the
    /// picture itself, prints a warning and does nothing
    #[arg(long)]
    compare: bool,
    #[command(flatten)]
    summary: SummaryArgs,
}

/// Parser of `--size`, such as `1920x1080`.
pub(crate) fn size(text: &str) -> std::result::Result<[u32; 2], String> {
    let side = |part: &str| part.parse::<u32>().ok();
    match text.split_once(['x', 'X', '×']) {
        Some((width, height)) => side(width).zip(side(height)).map(|(width, height)| [width, height]),
        None => None,
    }
    .ok_or_else(|| "expected WIDTHxHEIGHT, as in 1920x1080".into())
}

/// A picture to render: its system, its path, and the files of the system.
struct Job {
    system: System,
    output: PathBuf,
    inputs: Vec<PathBuf>,
}

pub(crate) fn run(args: &RenderArgs) -> Result<()> {
    let jobs = args.jobs()?;
    let SummaryArgs { json, quiet } = args.summary;
    let outputs: Vec<&Path> = jobs.iter().map(|job| job.output.as_path()).collect();
    let inputs: Vec<PathBuf> = jobs.iter().flat_map(|job| job.inputs.clone()).collect();
    check_outputs(&outputs, &args.arrays(), args.sidecar.as_deref(), &inputs, json)?;
    let device = Device::open(&args.device.options(Precision::Fast))?;
    for job in &jobs {
        args.check_memory(&job.system, &device)?;
    }
    let [first, .., last] = &jobs[..] else {
        return jobs.iter().try_for_each(|job| args.render(job, &device, quiet));
    };
    let started = Instant::now();
    let (progress, display) = frames::progress(&device, jobs.len(), quiet);
    for job in &jobs {
        args.render(job, &device, true)?;
        progress.fetch_add(1, Ordering::Relaxed);
    }
    drop(display);
    if !quiet && !json {
        let (name, seconds) = (device.name(), started.elapsed().as_secs_f64());
        let [first, last] = [first, last].map(|job| job.output.display());
        say(&format!("{name}: {} pictures, {seconds:.2} s; wrote {first} to {last}", jobs.len()));
    }
    Ok(())
}

impl RenderArgs {
    fn arrays(&self) -> [Option<&Path>; 6] {
        [&self.t, &self.id, &self.fraction, &self.flux, &self.normal, &self.view_distance].map(Option::as_deref)
    }

    /// The pictures to render. All systems are read.
    fn jobs(&self) -> Result<Vec<Job>> {
        if self.systems.is_empty() {
            return Ok(vec![self.job(None, self.output(1))?]);
        }
        let is_series = self.systems.len() > 1;
        if is_series && (self.sidecar.is_some() || self.arrays().iter().any(Option::is_some)) {
            return Err(Error::Usage(format!("{} and --sidecar are for one SYSTEM", ARRAYS.join(", "))));
        }
        if let Some(output) = self.output.as_ref().filter(|path| is_series && frames::numbered(path, 1).is_none()) {
            return Err(Error::Usage(format!("-o {}: several systems {NEED_NUMBER}", output.display())));
        }
        let mut jobs: Vec<Job> = Vec::new();
        for (i, path) in self.systems.iter().enumerate() {
            let job = self.job(Some(path), self.output(i + 1))?;
            if let Some(other) = jobs.iter().position(|other| other.output == job.output) {
                let (one, other, output) = (path.display(), self.systems[other].display(), job.output.display());
                return Err(Error::Usage(format!("{other} and {one} would both become {output}: they {NEED_NUMBER}")));
            }
            jobs.push(job);
        }
        Ok(jobs)
    }

    /// The output of a picture: with its number, if the name has a place for one.
    fn output(&self, number: usize) -> Option<PathBuf> {
        let output = self.output.as_ref()?;
        Some(frames::numbered(output, number).unwrap_or_else(|| output.clone()))
    }

    /// The system of a file with the options of the command line.
    fn job(&self, file: Option<&Path>, output: Option<PathBuf>) -> Result<Job> {
        let ((system, files), stem) = match file {
            Some(path) => (read_system_with_files(path)?, path.file_stem().unwrap_or(path.as_os_str())),
            None => ((parse_system(PLANET, Path::new("planet.toml"))?, SystemFiles::default()), "planet".as_ref()),
        };
        left_out::say_all(&files, self.summary.quiet);
        let mut options = system.picture().clone();
        options.size = self.size.unwrap_or(options.size);
        options.samples = self.samples.unwrap_or(options.samples);
        // The name may contain dots, so `.png` is appended.
        let mut name = stem.to_os_string();
        name.push(".png");
        let output = match (output, file) {
            (Some(output), _) => output,
            (None, Some(_)) => name.into(),
            (None, None) => {
                std::fs::create_dir_all(FOLDER).map_err(|e| Error::cannot_write(FOLDER, e))?;
                Path::new(FOLDER).join(name)
            }
        };
        let system = system.with_picture(options).map_err(|error| match error {
            // The values of the file are valid, so these come from the command line.
            umbracast::Error::InvalidArgument(why) => Error::Usage(
                why.replacen("picture: size is ", "--size is ", 1).replacen("picture: samples is ", "--samples is ", 1),
            ),
            other => other.into(),
        })?;
        let system = match self.fov {
            Some(fov) => fov.apply(&system)?,
            None => system,
        };
        Ok(Job { system, output, inputs: files.paths })
    }

    /// Renders a picture and writes its files. With `quiet`, nothing is said but warnings and the object of `--json`.
    fn render(&self, Job { system, output, inputs }: &Job, device: &Device, quiet: bool) -> Result<()> {
        let started = Instant::now();
        let picture = draw(device, system, quiet)?;
        let seconds = started.elapsed().as_secs_f64();
        if let Some(warning) = picture_warning(system, &picture, self.bits) {
            // Printed even with `--quiet`, because it is probably a mistake.
            let of = if self.systems.len() > 1 { format!("{}: ", output.display()) } else { String::new() };
            say(&format!("{of}{warning}"));
        }
        let on_cpu = device.is_cpu() || picture.cpu_fallback.is_some();
        let difference = match open_reference(self.compare, on_cpu)? {
            Some(cpu) => Some(Difference::between(system.ball_count(), &picture, &draw(&cpu, system, quiet)?)),
            None => None,
        };
        let broken = difference.as_ref().and_then(Difference::broken);
        if broken.is_none() {
            // A picture that violates a guarantee is not written.
            let _working = ProgressDisplay::on("writing".into(), quiet);
            let sidecar = self.sidecar.as_deref();
            let sidecar = sidecar.map(|path| self.describe(system, inputs, device, &picture, output).prepare(path));
            let sidecar = sidecar.transpose()?;
            let [t, id, fraction, flux, normal, view_distance] = self.arrays();
            let (png, bits) = (output.as_path(), self.bits);
            write_picture(&picture, system, &PictureFiles { png, bits, t, id, fraction, flux, normal, view_distance })?;
            sidecar.map_or(Ok(()), PreparedFile::persist)?;
        }
        let [t, id, fraction, flux, normal, view_distance] = self.arrays();
        let summary = PictureSummary {
            device: device.name(),
            cpu: on_cpu,
            cpu_fallback: picture.cpu_fallback.map(|reason| reason.to_string()),
            cpu_pixels: picture.cpu_pixels,
            width: picture.size[0],
            height: picture.size[1],
            samples: system.picture().samples.pow(2),
            bodies: system.bodies().len(),
            spheres: system.ball_count(),
            seconds,
            output: broken.is_none().then_some(output.as_path()),
            t,
            id,
            fraction,
            flux,
            normal,
            view_distance,
            sidecar: self.sidecar.as_deref(),
            compare: difference.as_ref(),
        };
        print_summary(&summary, &summary.line(), self.summary.json, quiet)?;
        broken.map_or(Ok(()), |what| Err(Error::BrokenPromise(what)))
    }

    /// The contents of the sidecar.
    fn describe<'a>(
        &'a self,
        system: &'a System,
        inputs: &'a [PathBuf],
        device: &'a Device,
        picture: &Picture,
        output: &'a Path,
    ) -> Sidecar<'a> {
        let names = ["t", "id", "fraction", "flux", "normal", "view_distance"];
        let outputs = names.into_iter().zip(self.arrays()).filter_map(|(name, path)| Some((name, path?)));
        Sidecar {
            command: "render",
            system,
            inputs,
            device,
            cpu_fallback: picture.cpu_fallback,
            outputs: [("picture", output)].into_iter().chain(outputs).collect(),
            bits: if self.bits == PngDepth::Eight { 8 } else { 16 },
            sky: None,
        }
    }

    /// Rejects a picture that does not fit into memory, with both sizes: the pixels on each device, and the encoded file.
    fn check_memory(&self, system: &System, device: &Device) -> Result<()> {
        let pixels = system.picture().size.iter().map(|side| u64::from(*side)).product::<u64>();
        // Colour, distance, id and fraction, and perhaps opacity.
        let own = if system.picture().transparent { 28 } else { 24 };
        let drawn = if self.compare && !device.is_cpu() { 2 * own + 2 * 3 } else { own };
        let written = match self.bits {
            PngDepth::Eight => 9,
            PngDepth::Sixteen => 24,
        };
        Ok(memory::check("the picture", pixels * (drawn + written))?)
    }
}

/// What the names of several pictures lack, and the remedy.
const NEED_NUMBER: &str = "need a number in the names of their pictures, as in -o frame-%03d.png";
/// Options of the arrays.
const ARRAYS: [&str; 6] = ["--t", "--id", "--fraction", "--flux", "--normal", "--view-distance"];

/// Rejects, before any work, outputs that cannot be written.
pub(crate) fn check_outputs(
    pictures: &[&Path],
    arrays: &[Option<&Path>; 6],
    sidecar: Option<&Path>,
    inputs: &[PathBuf],
    json: bool,
) -> Result<()> {
    let picture = |path| OutputFile { path, name: "the picture", content: "a picture", extensions: &["png"] };
    let pictures = pictures.iter().map(|path| picture(*path));
    let arrays = arrays.iter().zip(ARRAYS).filter_map(|(path, name)| {
        Some(OutputFile { path: (*path)?, name, content: "an array", extensions: &["npy"] })
    });
    let sidecar =
        sidecar.map(|path| OutputFile { path, name: "--sidecar", content: "a sidecar", extensions: &["json"] });
    let targets = outputs::check_outputs(pictures.chain(arrays).chain(sidecar), json)?;
    for input in inputs {
        if outputs::overwrites(&targets, input) {
            let message = "is also an input of this picture: the output would overwrite it";
            return Err(Error::bad_file(input.clone(), message));
        }
    }
    Ok(())
}

/// If the picture is expected to take longer than this, the time is printed.
const LONG: Duration = Duration::from_secs(60);

/// Renders, with a spinner while the picture is prepared and a progress bar afterwards, if it takes longer than a second. If the picture is
/// expected to take longer than a minute, prints the time first.
pub(crate) fn draw(device: &Device, system: &System, quiet: bool) -> Result<Picture> {
    if quiet {
        return Ok(device.render(system, None)?);
    }
    // Thousandths of the work, and whether the time has been printed.
    let shared = Arc::new((AtomicU64::new(0), AtomicBool::new(false)));
    let (done, name) = (shared.clone(), device.name().to_owned());
    let what = format!("rendering on {name}");
    let display = ProgressDisplay::percent(what, move || done.0.load(Ordering::Relaxed), false);
    let progress: Progress = Arc::new(move |progress: RenderProgress| {
        shared.0.fetch_max((progress.done * 1000.0) as u64, Ordering::Relaxed);
        if progress.expected > LONG && !shared.1.swap(true, Ordering::Relaxed) {
            say(&format!("rendering takes about {} on {name}", duration(progress.expected)));
        }
    });
    let picture = device.render(system, Some(progress));
    drop(display);
    Ok(picture?)
}

/// A duration as text: minutes or hours.
fn duration(time: Duration) -> String {
    let minutes = time.as_secs_f64() / 60.0;
    if minutes < 90.0 { format!("{minutes:.0} min") } else { format!("{:.1} h", minutes / 60.0) }
}

/// Summary: one line of text, or one JSON object.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PictureSummary<'a> {
    device: &'a str,
    /// Whether the CPU engine rendered the picture.
    cpu: bool,
    /// The reason, if the device is a GPU.
    cpu_fallback: Option<String>,
    /// Number of pixels that the CPU engine computed although the device is a GPU.
    cpu_pixels: usize,
    width: u32,
    height: u32,
    /// Samples per pixel.
    samples: u32,
    bodies: usize,
    spheres: usize,
    seconds: f64,
    /// `None` if `--compare` failed and the file was not written.
    output: Option<&'a Path>,
    t: Option<&'a Path>,
    id: Option<&'a Path>,
    fraction: Option<&'a Path>,
    flux: Option<&'a Path>,
    normal: Option<&'a Path>,
    view_distance: Option<&'a Path>,
    sidecar: Option<&'a Path>,
    compare: Option<&'a Difference>,
}

impl PictureSummary<'_> {
    fn line(&self) -> String {
        let plural = |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
        let mut line = format!(
            "{}: {}x{} pixels, {} samples per pixel, {}",
            self.device,
            self.width,
            self.height,
            self.samples,
            plural(self.bodies, "body", "bodies")
        );
        if self.spheres != self.bodies {
            line += &format!(" with {}", plural(self.spheres, "sphere", "spheres"));
        }
        line += &format!(", {:.2} s", self.seconds);
        if let Some(reason) = &self.cpu_fallback {
            line += &format!("; rendered by the CPU engine, because {reason}");
        }
        if let Some(output) = self.output {
            line += &format!("; wrote {}", output.display());
        }
        for array in [self.t, self.id, self.fraction, self.flux, self.normal, self.view_distance, self.sidecar]
            .into_iter()
            .flatten()
        {
            line += &format!(", {}", array.display());
        }
        if let Some(difference) = self.compare {
            line += &format!("; {difference}");
        }
        line
    }
}
