//! `umbracast eclipse`: the eclipse of a date, its numbers and its picture, and lists of eclipses.

use std::path::{Path, PathBuf};
use std::time::Instant;
use umbracast_files::escape::quoted;
use umbracast_files::parse_system;
use umbracast_files::write_png;

use crate::error::{Error, Result};
use clap::Args;
use serde::Serialize;
use serde_json::json;
use umbracast::shadow::{Picture, System};
use umbracast::{Device, Precision};
use umbracast_files::{PngDepth, is_standard_stream};
use umbracast_files::{PreparedFile, prepare_atomic};
use umbracast_sky::{Conventions, DatePrecision, EclipseBody, Record, Sky, SkyBody, Time, View};

use super::elements;
use super::frames::{self, FieldOfView};
use super::instant::no_eclipse_warning;
use super::list::{self, Only, Years};
use super::table_file::{Format, RecordArgs, lines};
use super::visible::{Corona, corona_json, visible_text};
use super::{Event, LunarArgs, SkyArgs, conventions_text, no_eclipse, solar_eclipse};
use crate::args::{DeviceArgs, words};
use crate::drawing::Drawing;
use crate::render;
use crate::say;
use crate::sidecar::Sidecar;
use crate::summary::counted;

const EXAMPLES: &str = "\
DATE is a day, 2024-04-08, or an instant, 2024-04-08T18:17:20Z or 2024-04-08T13:17:20-05:00. Times are UTC, and UT1
before 1972. Dates are from 1900 to 2050, or those of --ephemeris (Gregorian calendar, -- -0584-05-22 is in 585 BC). A day finds its solar or lunar eclipse, or its transit of Mercury or Venus, with the
contacts that the centre of the Earth sees; without one, the next eclipse is named.

With -o FILE.png, a picture is rendered: if DATE is a day, of the greatest eclipse, or of the largest part that the place of the view sees of a solar one; otherwise of the instant. With -o
FILE.csv or -o FILE.json, the data are written to a file.
Views: moon   the Earth, from the Moon
       sun    the day side of the Earth, from the direction of the Sun
       earth  the Sun from the middle of the Moon's shadow; in a lunar eclipse the Moon, from the Earth
       above  the Earth from 9,000 km above the shadow
       LAT,LON[,HEIGHT]  the Sun or the Moon from a place: 33.87S,151.21E or -33.87,151.21
       to-BODY  the Sun, the Moon or a planet from the centre of the Earth: to-sun in a transit of Venus
Up is the zenith in views from a place, and north in the others. --fov fill enlarges what the camera aims at.
If the camera sees a total eclipse of the Sun, a schematic corona is drawn (--corona off leaves it out). It shows where the Sun is, and is no prediction.

Examples:
  umbracast eclipse 2024-04-08
  umbracast eclipse 2026-08-12 --view moon --size 1280x720 -o eclipse.png
  umbracast eclipse 2024-04-08T18:40:00Z --view 32.7767,-96.797 -o dallas.png
  umbracast eclipse 2026-08-12 --view 42.34,-3.70 --fov fill --frames 60 --caption --size 640x480 -o burgos.png
  umbracast eclipse 2024-04-08T18:38Z..2024-04-08T18:46Z --view 32.78,-96.80 --fov fill --frames 48 -o dallas-%03d.png
  umbracast eclipse --list 2020..2040 --only solar -o -
  umbracast eclipse --list 1900..2050 -o eclipses.csv
  umbracast eclipse --list 1900..2050 --only transits
  umbracast eclipse 2024-04-08 --radii nasa --delta-t 74 --json
  umbracast eclipse 2024-04-08 --elements
  umbracast eclipse --list 1900..2050 --elements -o elements.csv

Exit codes: 0 done, 1 no eclipse on this day, 2 bad usage or input, 3 no such device, 4 the device failed, 5 reading or writing failed.";

/// Find the eclipse of a date, print its data or render it, or list the eclipses of some years
#[derive(Debug, Args)]
#[command(override_usage = "umbracast eclipse [OPTIONS] DATE\n       umbracast eclipse [OPTIONS] --list FIRST..LAST")]
#[command(after_long_help = crate::args::paragraphs(EXAMPLES), after_help = "`umbracast eclipse --help` explains dates and views, and gives examples.")]
pub(crate) struct EclipseArgs {
    /// A day or an instant; with --frames also two instants, FIRST..LAST
    #[arg(required_unless_present = "list")]
    date: Option<String>,
    /// List the eclipses of these years, such as 2020..2040: both years and all between
    #[arg(long, value_name = "FIRST..LAST", conflicts_with_all = ["date", "view", "size", "sidecar", "corona", "fov", "caption", "frames"])]
    list: Option<Years>,
    /// List only these [default: solar and lunar]
    #[arg(long, requires = "list", conflicts_with = "date", value_parser = words([
        ("solar", "eclipses of the Sun", Only::Eclipses(EclipseBody::Solar)),
        ("lunar", "eclipses of the Moon", Only::Eclipses(EclipseBody::Lunar)),
        ("transits", "transits of Mercury and Venus before the Sun", Only::Transits),
    ]))]
    only: Option<Only>,
    /// Besselian elements of solar eclipses instead: polynomials of x, y, d, l1, l2 and mu in hours from T0
    #[arg(long, conflicts_with_all = ["view", "size", "sidecar", "fov", "caption", "frames", "lunar_rule"])]
    elements: bool,
    /// Render a picture, .png, or write the data, .csv or .json; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// From where the picture is seen: moon, sun, earth, above, LAT,LON[,HEIGHT] or to-BODY [default: above, or earth without a shadow on it]
    #[arg(long, requires = "output", allow_hyphen_values = true)]
    view: Option<String>,
    /// Width and height of the picture in pixels
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = render::size, requires = "output")]
    size: Option<[u32; 2]>,
    /// Vertical field of view of the picture in degrees, or `fill`: the body at which the camera aims fills it
    #[arg(long, hide_short_help = true, value_name = "DEGREES|fill", requires = "output", value_parser = FieldOfView::parse)]
    fov: Option<FieldOfView>,
    /// Write a scale bar, the instant, the view and the conventions below the view, within --size
    #[arg(long, hide_short_help = true, requires = "output")]
    caption: bool,
    /// An animated PNG of this many frames; or pictures: -o frame-%03d.png
    ///
    /// They last from the beginning of the eclipse to its end, at the place of the view if it has one, or over DATE, two instants:
    /// FIRST..LAST. Instants with the Sun or the Moon below the horizon of a place are left out. An animation has 15 frames per second. The number
    /// of the first picture is 1, and each is written as soon as it is rendered.
    #[arg(long, value_name = "N", requires = "output", conflicts_with = "sidecar", value_parser = clap::value_parser!(u32).range(2..=10_000))]
    frames: Option<u32>,
    /// The Sun's corona in a picture in which the whole Sun is hidden: schematic, round and without streamers
    #[arg(long, requires = "output", default_value = "auto", value_parser = words([
        ("auto", "draw it if the camera sees a total eclipse", Corona::Auto),
        ("off", "never draw it: a total eclipse is black", Corona::Off),
    ]))]
    corona: Corona,
    /// Also write everything that the picture depends on, as JSON: instant, conventions, light, bodies, camera, options, engine
    #[arg(long, value_name = "JSON", requires = "output")]
    sidecar: Option<PathBuf>,
    #[command(flatten)]
    sky: SkyArgs,
    #[command(flatten)]
    lunar: LunarArgs,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    record: RecordArgs,
}

/// Default size of pictures.
const SIZE: [u32; 2] = [1920, 1080];

/// The object of `--json`.
#[derive(Serialize)]
struct Output<'a> {
    eclipse: &'a dyn Record,
    conventions: &'a Conventions,
}

pub(crate) fn run(args: &EclipseArgs) -> Result<()> {
    let sky = args.sky.sky_with(args.lunar.rule(), false)?;
    let output = args.output.as_deref();
    if let Some(years) = args.list {
        let has_lunar = matches!(args.only, None | Some(Only::Eclipses(EclipseBody::Lunar)));
        args.lunar.check(has_lunar, || "--only leaves them out".into())?;
        return list::run(&sky, years, args.only, args.elements, &args.record, output);
    }
    if args.elements {
        let eclipse = solar_eclipse(&sky, args.date.as_deref().unwrap_or_default())?;
        return elements::run(&sky, &[*eclipse], &args.record, output);
    }
    let output = args.record.check(output, &["png", "csv", "json"], &[])?;
    let (picture, output) = match output {
        Some((path, Format::Png)) => (Some(path), None),
        other => (None, other),
    };
    let needs_picture = args.view.is_some()
        || args.size.is_some()
        || args.sidecar.is_some()
        || args.fov.is_some()
        || args.corona == Corona::Off
        || args.caption
        || args.frames.is_some();
    if let Some((path, _)) = output.filter(|_| needs_picture) {
        let message = "--view, --size, --fov, --caption, --corona, --frames and --sidecar are for a picture, .png";
        return Err(match is_standard_stream(path) {
            true => Error::Usage(format!("{message}: add --format png")),
            false => Error::bad_file(path, message),
        });
    }
    let date = args.date.as_deref().unwrap_or_default();
    let (date, last) = match (date.split_once(".."), args.frames) {
        (None, _) => (date, None),
        (Some((first, last)), Some(_)) => (first, Some(last)),
        (Some(_), None) => return Err(Error::Usage("DATE is a range, FIRST..LAST, which needs --frames".into())),
    };
    let (time, precision) = sky.parse_time(date)?;
    let span = match last.map(|last| sky.parse_time(last)).transpose()? {
        None => None,
        Some((last, DatePrecision::Instant)) if precision == DatePrecision::Instant && last > time => {
            Some((time, last))
        }
        Some(_) => {
            let given = quoted(args.date.as_deref().unwrap_or_default());
            return Err(Error::Usage(format!("DATE '{given}': expected FIRST..LAST, two instants in order")));
        }
    };
    let view = args.view.as_deref().map(View::parse).transpose()?;
    let found = Event::on(&sky, time, precision)?;
    if let Some(event) = &found {
        args.lunar.check(event.is_lunar(), || event.title(&sky))?;
    }
    let instant = match (precision, &found) {
        (DatePrecision::Instant, _) => Some(time),
        (DatePrecision::Day, Some(event)) => Some(event.instant_at(view)),
        (DatePrecision::Day, None) => None,
    };
    if precision == DatePrecision::Instant
        && (found.is_some() || picture.is_some())
        && let Some(warning) = no_eclipse_warning(&sky, time, found.as_ref())?
    {
        // Printed even with `--quiet`, because it is probably a mistake.
        say(&warning);
    }
    if let Some(event) = found.as_ref().filter(|_| !args.record.quiet) {
        event.say_other(&sky, time, precision);
    }
    if let Some((path, instant)) = picture.zip(instant) {
        args.render(&sky, instant, span, view, path, found.as_ref())?;
    }
    let Some(event) = found else {
        // A picture of an instant needs no eclipse.
        return if picture.and(instant).is_some() { Ok(()) } else { Err(no_eclipse(&sky, time, "eclipse", None)) };
    };
    if picture.is_some_and(is_standard_stream) {
        return Ok(());
    }
    let conventions = event.conventions(&sky);
    let record = [event.record()];
    let json = Output { eclipse: &*record[0], conventions: &conventions };
    let line = conventions_text(&conventions);
    args.record.write(output, &record, &json, (&conventions, &line), || {
        let mut title = event.title(&sky);
        title[..1].make_ascii_uppercase();
        format!("{title}\n{}", lines(&*record[0]))
    })
}

/// The bodies of a picture, and the planets of which the ephemeris has no positions. The body at which the camera aims is not left out.
fn bodies(sky: &Sky, time: Time, view: Option<View<'_>>) -> (Vec<SkyBody>, Vec<SkyBody>) {
    let is_needed = |body: SkyBody| {
        matches!(body, SkyBody::Sun | SkyBody::Earth | SkyBody::Moon)
            || matches!(view, Some(View::To(name)) if body.name().eq_ignore_ascii_case(name))
    };
    SkyBody::ALL.into_iter().partition(|body| is_needed(*body) || sky.apparent(*body, time).is_ok())
}

impl EclipseArgs {
    /// Renders the instant into a picture, or the instants of the event or of a span into frames.
    fn render(
        &self,
        sky: &Sky,
        time: Time,
        span: Option<(Time, Time)>,
        view: Option<View<'_>>,
        output: &Path,
        event: Option<&Event>,
    ) -> Result<()> {
        render::check_outputs(&[output], &[None; 6], self.sidecar.as_deref(), &[], self.record.json)?;
        let size = self.size.unwrap_or(SIZE);
        let view = match event {
            Some(Event::Transit(_)) => view.or(Some(View::To("sun"))),
            _ => view,
        };
        let missing = bodies(sky, time, view).1;
        if !missing.is_empty() && !self.record.quiet {
            let names = missing.iter().map(|body| body.name()).collect::<Vec<_>>().join(", ");
            say(&format!("the picture is without planets that {} does not have: {names}", sky.ephemeris().name()));
        }
        let device = Device::open(&self.device.options(Precision::Fast))?;
        let started = Instant::now();
        if let Some(count) = self.frames {
            let Some(span) = span.or_else(|| event.map(|event| event.span_at(view))) else {
                return Err(Error::Usage("--frames: there is no eclipse on this day; see --list".into()));
            };
            let body = event.map_or("Sun or the Moon", |event| if event.is_lunar() { "Moon" } else { "Sun" });
            return self.animate(sky, &device, view, output, frames::instants(sky, span, view, count)?, body);
        }
        let (system, picture, has_corona, captioned) = self.picture(sky, &device, time, view, self.record.quiet)?;
        let shown = time.text(1, sky.options().delta_t);
        let sidecar = self.sidecar.as_deref().map(|path| {
            Sidecar {
                command: "eclipse",
                system: &system,
                inputs: &[],
                device: &device,
                cpu_fallback: picture.cpu_fallback,
                outputs: vec![("picture", output)],
                bits: 8,
                sky: Some(json!({
                    "instant": shown.to_string(),
                    "conventions": Conventions::at(sky, time, true),
                    "corona": corona_json(has_corona),
                })),
            }
            .prepare(path)
        });
        let sidecar = sidecar.transpose()?;
        if let Some(drawing) = captioned {
            prepare_atomic(output, |out| drawing.write(output, out))?.persist()?;
        } else {
            write_png(&picture, output, PngDepth::Eight)?;
        }
        sidecar.map_or(Ok(()), PreparedFile::persist)?;
        if !self.record.quiet {
            let seconds = started.elapsed().as_secs_f64();
            say(&format!(
                "{}: {shown}, {}x{} pixels, {seconds:.2} s; wrote {}",
                device.name(),
                size[0],
                size[1],
                output.display()
            ));
            let text = match event {
                Some(Event::Eclipse(eclipse)) => visible_text(eclipse, &system, view, time),
                _ => None,
            };
            if let Some(text) = text {
                let corona = if has_corona { "; the corona is schematic: --corona off leaves it out" } else { "" };
                say(&format!("{text}{corona}"));
            }
        }
        Ok(())
    }

    /// The system of an instant, its picture, whether that has a corona, and with `--caption` the picture with its caption.
    fn picture(
        &self,
        sky: &Sky,
        device: &Device,
        time: Time,
        view: Option<View<'_>>,
        quiet: bool,
    ) -> Result<(System, Picture, bool, Option<Drawing>)> {
        let size = self.size.unwrap_or(SIZE);
        let caption = |system: &System| {
            let instant = time.text(0, sky.options().delta_t).to_string();
            frames::caption_lines(&instant, view, system, &conventions_text(&Conventions::at(sky, time, false)))
        };
        let mut system = self.system(sky, time, view, size)?;
        if self.caption {
            system = self.system(sky, time, view, frames::above_caption(&caption(&system), size)?)?;
        }
        let mut picture = render::draw(device, &system, quiet)?;
        let has_corona = self.corona.draw(device, &system, view, &mut picture)?;
        let captioned =
            self.caption.then(|| frames::captioned(&picture, &system, &caption(&system), size)).transpose()?;
        Ok((system, picture, has_corona, captioned))
    }

    fn system(&self, sky: &Sky, time: Time, view: Option<View<'_>>, size: [u32; 2]) -> Result<System> {
        let text = sky.system_toml(time, &bodies(sky, time, view).0, view, size)?;
        let system = parse_system(&text, Path::new("system.toml")).map_err(|error| match error {
            // The text is ours, so only the size can be wrong.
            umbracast_files::Error::BadFile { message, .. } => {
                Error::Usage(message.replacen("picture: size is ", "--size is ", 1))
            }
            other => other.into(),
        })?;
        match self.fov {
            Some(fov) => fov.apply(&system),
            None => Ok(system),
        }
    }

    /// Renders frames into an animation or into numbered pictures.
    fn animate(
        &self,
        sky: &Sky,
        device: &Device,
        view: Option<View<'_>>,
        output: &Path,
        instants: Vec<Time>,
        body: &str,
    ) -> Result<()> {
        if instants.is_empty() {
            return Err(Error::Usage(format!("--frames: the {body} is below the horizon of --view all the time")));
        }
        let size = self.size.unwrap_or(SIZE);
        let frame = |time: Time| {
            let (_, picture, _, captioned) = self.picture(sky, device, time, view, true)?;
            let Some(drawing) = captioned else { return Ok(picture.srgb8()) };
            drawing.pixels().map_err(|error| Error::Usage(error.to_string()))
        };
        let written = frames::animate(device, output, size, &instants, self.record.quiet, frame)?;
        if !self.record.quiet {
            let below = match self.frames.unwrap_or(0) as usize - instants.len() {
                0 => String::new(),
                1 => format!("; 1 instant is left out, because the {body} is below the horizon"),
                some => format!("; {some} instants are left out, because the {body} is below the horizon"),
            };
            let frames = counted(instants.len() as u64, "frame");
            say(&format!("{}: {frames}; wrote {written}{below}", device.name()));
        }
        Ok(())
    }
}
