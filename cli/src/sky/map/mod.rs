//! `umbracast map`: where a solar eclipse is seen, and how much of the Sun is covered there.

mod draw;
mod fields;
mod projection;

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::error::{Error, Result};
use clap::Args;
use serde::Serialize;
use umbracast::glam::DVec2;
use umbracast_files::{Kml, PreparedFile, path_geojson, path_lines, prepare_array, prepare_atomic};
use umbracast_sky::{Conventions, DatePrecision, MapGrid, Sky, SolarEclipse, SolarEclipseRecord, Time};

use super::{SkyArgs, conventions_text, date_text, solar_eclipse};
use crate::args::{SummaryArgs, words};
use crate::drawing::Frame;
use crate::outputs::{OutputFile, check_outputs};
use crate::print_summary;
use crate::progress::ProgressDisplay;
use draw::{Isolines, MapPicture};
use projection::{Kind, Projection};

/// Seconds between the points of centre line and limits.
const STEP_S: f64 = 15.0;
/// Eclipses whose greatest eclipse is within these degrees of a pole are drawn about the pole,
const POLAR: f64 = 20.0;
/// as far as this latitude.
const CAP: f64 = 40.0;

const EXAMPLES: &str = "\
Examples:
  umbracast map 2026-08-12
  umbracast map 2026-08-12 --region -30,35,15,70 --borders --cities -o europe.svg
  umbracast map 2021-12-04 --isolines magnitude,time -o antarctic.png
  umbracast map 2024-04-08 --time 18:17 --npy obscuration.npy --geojson path.geojson
  umbracast map 2027-08-02 --kml path.kml

The map shows the largest covered part of the Sun's disc (by solid angle) while the Sun is above the horizon, or that
at the instant TIME. Refraction is ignored; places are at sea level on the ellipsoid WGS 84. Coastlines and borders:
Natural Earth, public domain.
A region with west > 0 > east crosses longitude 180, as in --region 160,-30,-120,30.

The array has shape (height, width), f4, row by row from the north, at the centres of equal cells of longitude and
latitude, in every projection: 0 where there is no eclipse or the Sun is down. The GeoJSON has the centre line, the limits of the path and the greatest
eclipse, and a point per instant with time, kind, duration and width. The KML has the lines, instants along the centre
line and the greatest eclipse, for programs such as Google Earth.

Exit codes: 0 done, 1 no solar eclipse on this day, 2 bad usage or input, 5 reading or writing failed.";

/// Draw a map of a solar eclipse: obscuration, contours, centre line and limits
#[derive(Debug, Args)]
#[command(after_long_help = crate::args::paragraphs(EXAMPLES), after_help = "`umbracast map --help` gives examples.")]
pub(crate) struct MapArgs {
    /// Date of the eclipse (UTC), such as 2026-08-12; or an instant, such as 2026-08-12T17:46
    date: String,
    /// Show this instant instead of the maximum: a time of that day (UTC), such as 17:46, or a date and a time
    #[arg(long, value_name = "TIME")]
    time: Option<String>,
    /// Output picture, .png or .svg, or `-` for a PNG to standard output [default: map-DATE.png]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Also write the obscuration as an array: .npy
    #[arg(long, value_name = "NPY")]
    npy: Option<PathBuf>,
    /// Also write the centre line, the limits, their points and the greatest eclipse: .geojson or .json
    #[arg(long, value_name = "FILE")]
    geojson: Option<PathBuf>,
    /// Also write the centre line, the limits and the greatest eclipse for a globe: .kml
    #[arg(long, value_name = "FILE")]
    kml: Option<PathBuf>,
    /// Width and height of the map in pixels; the picture adds a frame [default: 1600 at most, by the region]
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = crate::render::size)]
    size: Option<[u32; 2]>,
    /// Region of the map in degrees, east positive
    #[arg(long, value_name = "WEST,SOUTH,EAST,NORTH", value_parser = region, allow_hyphen_values = true)]
    region: Option<[f64; 4]>,
    /// Projection of the picture [default: stereographic for a region at a pole and for an eclipse within 20 degrees of one]
    #[arg(long, value_parser = words([
        ("equirectangular", "longitude to the right, latitude upwards", Kind::Equirectangular),
        ("orthographic", "a globe", Kind::Orthographic),
        ("stereographic", "true to angles, about a pole or the middle of the region", Kind::Stereographic),
    ]))]
    projection: Option<Kind>,
    /// Isolines, separated by commas; at an instant, only those of obscuration are drawn
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "obscuration", value_parser = words([
        ("obscuration", "the covered part of the Sun's disc", Isolines::Obscuration),
        ("magnitude", "the covered part of the Sun's diameter", Isolines::Magnitude),
        ("time", "the time of the maximum", Isolines::Time),
    ]))]
    isolines: Vec<Isolines>,
    /// Also show the borders of countries
    #[arg(long)]
    borders: bool,
    /// Also show cities, as far as there is room: those that --city knows
    #[arg(long)]
    cities: bool,
    /// Spacing of meridians and parallels in degrees [default: by the region]
    #[arg(long, value_name = "DEGREES", hide_short_help = true, value_parser = spacing)]
    graticule: Option<f64>,
    #[command(flatten)]
    sky: SkyArgs,
    #[command(flatten)]
    summary: SummaryArgs,
}

fn region(text: &str) -> std::result::Result<[f64; 4], String> {
    let numbers: Vec<f64> = text.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    let commas = text.matches(',').count();
    let numbers: std::result::Result<[f64; 4], _> = numbers.try_into();
    match numbers {
        // West of the antimeridian to east of it, as RFC 7946 writes it.
        Ok([west, south, east, north]) if commas == 3 && west > 0.0 && east < 0.0 => {
            Ok([west, south, east + 360.0, north])
        }
        Ok(numbers) if commas == 3 => Ok(numbers),
        _ => Err("expected four numbers, WEST,SOUTH,EAST,NORTH, as in -30,35,15,70".into()),
    }
}

fn spacing(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(degrees) if (0.1..=90.0).contains(&degrees) => Ok(degrees),
        _ => Err("expected a number of degrees from 0.1 to 90".into()),
    }
}

pub(crate) fn run(args: &MapArgs) -> Result<()> {
    let region = args.region.unwrap_or(MapGrid::EARTH);
    // The array is the same in every projection.
    let flat = Projection::new(Kind::Equirectangular, region, [0.0; 2]);
    let grid = MapGrid::new(region, args.size.unwrap_or_else(|| size_for(&flat))).map_err(named_options)?;
    let sky = args.sky.sky()?;
    let options = sky.options();
    let (eclipse, at) = args.eclipse(&sky)?;
    let output = args.outputs(&sky, &eclipse)?;
    let _working = ProgressDisplay::on("drawing the map".into(), args.summary.quiet);
    let started = Instant::now();
    let values = eclipse.obscuration_map(&grid, at).map_err(|error| match error {
        umbracast_sky::Error::InvalidArgument(why) => Error::Usage(format!("--time: {why}")),
        other => other.into(),
    })?;
    let computed = started.elapsed().as_secs_f64();
    let (path, limits) = (eclipse.central_line(STEP_S), eclipse.limits(STEP_S));
    let instant = at.map(|time| time.text(1, options.delta_t).to_string());
    let conventions = Conventions::at(&sky, eclipse.greatest.time, false);
    let projection = args.projection(&eclipse);
    let (title, about) = (title(&sky, &eclipse, at), about(&sky, &eclipse));
    let picture =
        MapPicture { eclipse: &eclipse, options, at, title: &title, about: &about, path: &path, limits: &limits, args };
    let drawing = if projection.kind == Kind::Equirectangular {
        picture.draw(projection, grid.size(), &values)?
    } else {
        let size = args.size.unwrap_or_else(|| size_for(&projection));
        let frame = Frame::new(DVec2::ZERO, DVec2::from_array(size.map(f64::from)));
        let seen = projection.fit(frame);
        let own = eclipse.obscuration_picture(size, at, |x, y| seen.place(DVec2::new(x, y)))?;
        picture.draw(projection, size, &own)?
    };
    let mut ready = vec![prepare_atomic(&output, |out| drawing.write(&output, out))?];
    if let Some(file) = &args.npy {
        ready.push(prepare_array(file, grid.size(), &values)?);
    }
    let lines = path_lines(&path, &limits);
    if let Some(file) = &args.kml {
        let (greatest, width) = (eclipse.greatest.place, f64::from(grid.size()[0]));
        let text = Kml {
            name: &name(&sky, &eclipse),
            about: &about,
            lines: &lines,
            marks: &draw::marks(&eclipse, options, &|place| Some(grid.cell(place[0], place[1]).into()), width),
            scale: eclipse.greatest.time.scale(options.delta_t),
            greatest: [greatest.longitude, greatest.latitude],
        }
        .text();
        ready.push(prepare_atomic(file, |out| std::io::Write::write_all(out, text.as_bytes()))?);
    }
    if let Some(file) = &args.geojson {
        let text = path_geojson(&eclipse, &path, &limits, &lines, instant.as_deref(), &conventions);
        ready.push(prepare_atomic(file, |out| std::io::Write::write_all(out, format!("{text}\n").as_bytes()))?);
    }
    PreparedFile::persist_all(ready)?;
    let largest = values.iter().copied().fold(0.0, f32::max);
    let [width, height] = grid.size();
    let summary = MapSummary {
        eclipse: eclipse.record(),
        instant,
        conventions,
        width,
        height,
        largest_obscuration: largest,
        seconds: computed,
        output: &output,
        npy: args.npy.as_deref(),
        geojson: args.geojson.as_deref(),
        kml: args.kml.as_deref(),
    };
    drop(_working);
    print_summary(&summary, &summary.line(&title), args.summary.json, args.summary.quiet)
}

/// Names the options in messages about a grid.
fn named_options(error: umbracast_sky::Error) -> Error {
    match error {
        umbracast_sky::Error::InvalidArgument(why) => {
            Error::Usage(why.replacen("region: ", "--region: ", 1).replacen("size is ", "--size is ", 1))
        }
        other => other.into(),
    }
}

impl MapArgs {
    /// The eclipse of the date, and the instant to show.
    fn eclipse(&self, sky: &Sky) -> Result<(SolarEclipse, Option<Time>)> {
        let (day, precision) = sky.parse_time(&self.date)?;
        let given = (precision == DatePrecision::Instant).then_some(day);
        let at = match (&self.time, given) {
            (Some(_), Some(_)) => {
                return Err(Error::Usage("--time: DATE is an instant already; give a date alone".into()));
            }
            (None, given) => given,
            (Some(text), None) => {
                let has_date = text.as_bytes().get(4) == Some(&b'-');
                let text = if has_date { text.clone() } else { format!("{}T{text}", self.date) };
                Some(sky.parse_time(&text)?.0)
            }
        };
        Ok((*solar_eclipse(sky, &self.date)?, at))
    }

    /// The projection of the picture: that of `--projection`, or one by the region.
    fn projection(&self, eclipse: &SolarEclipse) -> Projection {
        let place = eclipse.greatest.place;
        let is_polar = place.latitude.abs() > 90.0 - POLAR;
        let kind = self.projection.unwrap_or(match self.region {
            None if is_polar => Kind::Stereographic,
            Some([_, south, _, north]) if (north > 89.0 && south > 0.0) || (south < -89.0 && north < 0.0) => {
                Kind::Stereographic
            }
            _ => Kind::Equirectangular,
        });
        // Without a region, a stereographic map shows a cap around the pole.
        let cap = if place.latitude < 0.0 { [-180.0, -90.0, 180.0, -CAP] } else { [-180.0, CAP, 180.0, 90.0] };
        let whole = if kind == Kind::Stereographic { cap } else { MapGrid::EARTH };
        Projection::new(kind, self.region.unwrap_or(whole), [place.longitude, place.latitude])
    }

    /// Checks the output paths before any work. Returns that of the picture.
    fn outputs(&self, sky: &Sky, eclipse: &SolarEclipse) -> Result<PathBuf> {
        let output = match &self.output {
            Some(path) => path.clone(),
            None => format!("map-{}.png", date_text(sky, eclipse.greatest.time)).into(),
        };
        let extensions = &["png", "svg"];
        let picture = OutputFile { path: &output, name: "the picture", content: "a picture", extensions };
        let array = |path| OutputFile { path, name: "--npy", content: "an array", extensions: &["npy"] };
        let path = |path| OutputFile { path, name: "--geojson", content: "GeoJSON", extensions: &["geojson", "json"] };
        let globe = |path| OutputFile { path, name: "--kml", content: "KML", extensions: &["kml"] };
        let others =
            [self.npy.as_deref().map(array), self.geojson.as_deref().map(path), self.kml.as_deref().map(globe)];
        let others = others.into_iter().flatten();
        check_outputs(std::iter::once(picture).chain(others), self.summary.json)?;
        Ok(output)
    }
}

/// Width and height of a map whose size is not given.
fn size_for(projection: &Projection) -> [u32; 2] {
    let aspect = projection.aspect().clamp(0.2, 5.0);
    let most = if projection.kind == Kind::Equirectangular { 1600.0 } else { 1200.0 };
    let width = if aspect > 1.0 { most } else { 1200.0 * aspect };
    [width, width / aspect].map(|side| side.round() as u32)
}

/// The largest number <= `most` of the form 1, 2 or 5 times a power of ten.
pub(crate) fn round_length(most: f64) -> f64 {
    let power = 10.0_f64.powf(most.log10().floor());
    [5.0, 2.0, 1.0].map(|part| part * power).into_iter().find(|length| *length <= most).unwrap_or(power)
}

/// The kind and the date of an eclipse.
fn name(sky: &Sky, eclipse: &SolarEclipse) -> String {
    let mut kind = eclipse.kind.name().to_owned();
    kind[..1].make_ascii_uppercase();
    format!("{kind} solar eclipse of {}", date_text(sky, eclipse.greatest.time))
}

/// The title of the map.
fn title(sky: &Sky, eclipse: &SolarEclipse, at: Option<Time>) -> String {
    let delta_t = sky.options().delta_t;
    let shown = match at {
        None => "maximum obscuration".into(),
        Some(time) => format!("obscuration at {} {}", time.clock_text(0, delta_t), time.scale(delta_t)),
    };
    format!("{}: {shown}", name(sky, eclipse))
}

/// The lines below the title: the greatest eclipse, and the conventions.
fn about(sky: &Sky, eclipse: &SolarEclipse) -> Vec<String> {
    let options = sky.options();
    let greatest = &eclipse.greatest;
    let place = greatest.place;
    let letter = |value: f64, letters: [&'static str; 2]| letters[usize::from(value < 0.0)];
    let mut first = format!(
        "Greatest eclipse {} {} at {:.2}°{} {:.2}°{}, magnitude {:.4}, gamma {:.4}",
        greatest.time.clock_text(0, options.delta_t),
        greatest.time.scale(options.delta_t),
        place.latitude.abs(),
        letter(place.latitude, ["N", "S"]),
        place.longitude.abs(),
        letter(place.longitude, ["E", "W"]),
        greatest.view.magnitude,
        greatest.gamma,
    );
    if let Some(seconds) = greatest.central_duration_s {
        let whole = seconds.round();
        first += &format!(", duration {:.0} min {:02.0} s", (whole / 60.0).floor(), whole % 60.0);
    }
    let second = format!("{}; sea level, no refraction", conventions_text(&Conventions::at(sky, greatest.time, false)));
    vec![first, second]
}

/// Summary: one line of text, or one JSON object.
#[derive(Serialize)]
struct MapSummary<'a> {
    eclipse: SolarEclipseRecord,
    /// The instant that is shown instead of the maximum.
    instant: Option<String>,
    conventions: Conventions,
    width: u32,
    height: u32,
    largest_obscuration: f32,
    /// Wall time of computing the obscurations; drawing and writing are not included.
    seconds: f64,
    output: &'a Path,
    npy: Option<&'a Path>,
    geojson: Option<&'a Path>,
    kml: Option<&'a Path>,
}

impl MapSummary<'_> {
    fn line(&self, title: &str) -> String {
        let mut line = format!(
            "{title}: {}x{} points, largest {:.4}, {:.2} s; wrote {}",
            self.width,
            self.height,
            self.largest_obscuration,
            self.seconds,
            self.output.display()
        );
        for file in [self.npy, self.geojson, self.kml].into_iter().flatten() {
            line += &format!(", {}", file.display());
        }
        line
    }
}
