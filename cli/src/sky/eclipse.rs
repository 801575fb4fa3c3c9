//! `umbracast eclipse`: the eclipse of a date, its numbers and its picture, and lists of eclipses.

use std::path::{Path, PathBuf};
use std::time::Instant;
use umbracast_files::parse_system;
use umbracast_files::write_picture;

use crate::error::{Error, Result};
use clap::Args;
use serde_json::{Value, json};
use umbracast::{Device, Precision};
use umbracast_files::PreparedFile;
use umbracast_files::{PictureFiles, PngDepth};
use umbracast_sky::{DatePrecision, Eclipse, LunarEclipse, Sky, SkyBody, SolarEclipse, Time, View};

use super::instant::no_eclipse_warning;
use super::list::{self, Format, Years};
use super::visible::{Corona, corona_json, visible_text};
use super::{Conventions, ListArgs, LunarArgs, SkyArgs, duration_text, eclipse_name, no_eclipse, place_text, rounded};
use crate::args::{DeviceArgs, words};
use crate::render;
use crate::sidecar::Sidecar;
use crate::{print, print_json, say};

const EXAMPLES: &str = "\
DATE is a day, 2024-04-08, or an instant, 2024-04-08T18:17:20Z or 2024-04-08T13:17:20-05:00. Times are UTC, and UT1
before 1972. Dates are from 1900 to 2050. A day finds its solar or lunar eclipse; without one, the next eclipse is named.

With -o, a picture is rendered: of the greatest eclipse if DATE is a day, otherwise of the instant. With --list, -o
writes the table to a file instead: .csv or .json.
Views: moon   the Earth, from the Moon
       sun    the day side of the Earth, from the direction of the Sun
       earth  the Sun from the middle of the Moon's shadow; in a lunar eclipse the Moon, from the Earth
       above  the Earth from 9,000 km above the shadow
       LAT,LON[,HEIGHT]  the Sun or the Moon from a place: 33.87S,151.21E or -33.87,151.21
       to-BODY  the Sun, the Moon or a planet from the centre of the Earth: to-sun in a transit of Venus
If the camera sees a total eclipse of the Sun, a schematic corona is drawn (--corona off leaves it out). It shows where the Sun is, and is no prediction.

Examples:
  umbracast eclipse 2024-04-08
  umbracast eclipse 2026-08-12 --view moon --size 1280x720 -o eclipse.png
  umbracast eclipse 2024-04-08T18:40:00Z --view 32.7767,-96.797 -o dallas.png
  umbracast eclipse --list 2020..2040 --only solar --csv
  umbracast eclipse --list 1900..2050 -o eclipses.csv
  umbracast eclipse 2024-04-08 --radii nasa --delta-t 74 --json

Exit codes: 0 done, 2 bad usage or input, 3 no such device, 4 the device failed, 5 reading or writing failed.";

/// Find the eclipse of a date, print its data or render it, or list the eclipses of some years
#[derive(Debug, Args)]
#[command(override_usage = "umbracast eclipse [OPTIONS] DATE\n       umbracast eclipse [OPTIONS] --list FIRST..LAST")]
#[command(after_long_help = crate::args::paragraphs(EXAMPLES), after_help = "`umbracast eclipse --help` explains dates and views, and gives examples.")]
pub(crate) struct EclipseArgs {
    /// A day or an instant
    #[arg(required_unless_present = "list")]
    date: Option<String>,
    /// List the eclipses of these years, such as 2020..2040: both years and all between
    #[arg(long, value_name = "FIRST..LAST", conflicts_with_all = ["date", "view", "size", "sidecar", "corona"])]
    list: Option<Years>,
    /// List only these eclipses
    #[arg(long, requires = "list", value_parser = words([
        ("solar", "eclipses of the Sun", true),
        ("lunar", "eclipses of the Moon", false),
    ]))]
    only: Option<bool>,
    /// Render a picture: .png. With --list, write the table: .csv or .json
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// From where the picture is seen: moon, sun, earth, above, LAT,LON[,HEIGHT] or to-BODY [default: above, or earth without a shadow on it]
    #[arg(long, requires = "output", allow_hyphen_values = true)]
    view: Option<String>,
    /// Width and height of the picture in pixels
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = render::size, requires = "output")]
    size: Option<[u32; 2]>,
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
    table: ListArgs,
}

/// Default size of pictures.
const SIZE: [u32; 2] = [1920, 1080];

pub(crate) fn run(args: &EclipseArgs) -> Result<()> {
    let sky = args.sky.sky_with(args.lunar.lunar_rule);
    let format = match (args.table.csv, args.table.json) {
        (true, _) => Format::Csv,
        (_, true) => Format::Json,
        _ => Format::Table,
    };
    if let Some(years) = args.list {
        let which = |solar| args.only.is_none_or(|only| only == solar);
        return list::run(&sky, years, which, format, args.output.as_deref(), args.table.quiet);
    }
    let date = args.date.as_deref().unwrap_or_default();
    let (time, precision) = sky.parse_time(date)?;
    let view = args.view.as_deref().map(View::parse).transpose()?;
    let found = sky.eclipse_on(time)?;
    let instant = match (precision, &found) {
        (DatePrecision::Instant, _) => Some(time),
        (DatePrecision::Day, Some(eclipse)) => Some(eclipse.greatest()),
        (DatePrecision::Day, None) => None,
    };
    if precision == DatePrecision::Instant
        && (found.is_some() || args.output.is_some())
        && let Some(warning) = no_eclipse_warning(&sky, time, found.as_ref())?
    {
        // Printed even with `--quiet`, because it is probably a mistake.
        say(&warning);
    }
    if let Some(output) = &args.output {
        let Some(instant) = instant else {
            return Err(Error::Usage(no_eclipse(&sky, time, "eclipse", |_| true)?.0));
        };
        args.render(&sky, instant, view, output, found.as_ref())?;
    }
    let Some(eclipse) = found else {
        let (text, next) = no_eclipse(&sky, time, "eclipse", |_| true)?;
        return match format {
            Format::Json => {
                let next = next.map(|next| list::short_json(&sky, &next));
                print_json(&json!({ "eclipse": null, "next": next, "conventions": Conventions::at(&sky, time).json() }))
            }
            Format::Csv => print(&list::csv_text(&sky, &[])),
            Format::Table => print(&format!("{text}\n")),
        };
    };
    let conventions = Conventions::at(&sky, eclipse.greatest());
    match format {
        Format::Json => {
            let value = match &eclipse {
                Eclipse::Solar(one) => solar_json(&sky, one),
                Eclipse::Lunar(one) => lunar_json(&sky, one),
            };
            print_json(&json!({ "eclipse": value, "conventions": conventions.json() }))
        }
        Format::Csv => {
            print(&list::csv_text(&sky, std::slice::from_ref(&eclipse)))?;
            if !args.table.quiet {
                say(&conventions.line(eclipse.body() == "solar"));
            }
            Ok(())
        }
        Format::Table => {
            let rows = match &eclipse {
                Eclipse::Solar(one) => solar_rows(&sky, one),
                Eclipse::Lunar(one) => lunar_rows(&sky, one),
            };
            let name = eclipse_name(&eclipse);
            let mut title: Vec<char> = name.chars().collect();
            title[0] = title[0].to_ascii_uppercase();
            let mut text = format!("{} of {}\n", String::from_iter(title), super::date_text(&sky, eclipse.greatest()));
            for (key, value) in rows {
                text += &format!("  {key:<22} {value}\n");
            }
            text += &format!("  {:<22} {}\n", "conventions", conventions.line(eclipse.body() == "solar"));
            print(&text)
        }
    }
}

impl EclipseArgs {
    /// Renders the instant into a picture.
    fn render(
        &self,
        sky: &Sky,
        time: Time,
        view: Option<View>,
        output: &Path,
        eclipse: Option<&Eclipse>,
    ) -> Result<()> {
        render::check_outputs(output, &[None; 6], self.sidecar.as_deref(), &[])?;
        let size = self.size.unwrap_or(SIZE);
        let text = sky.system_toml(time, &SkyBody::ALL, view, size)?;
        let system = parse_system(&text, Path::new("system.toml")).map_err(|error| match error {
            // The text is ours, so only the size can be wrong.
            umbracast_files::Error::BadFile { message, .. } => {
                Error::Usage(message.replacen("picture: size is ", "--size is ", 1))
            }
            other => other.into(),
        })?;
        let device = Device::open(&self.device.options(Precision::Fast))?;
        let started = Instant::now();
        let mut picture = render::draw(&device, &system, self.table.quiet)?;
        let has_corona = self.corona.draw(&device, &system, view, &mut picture)?;
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
                    "conventions": Conventions::at(sky, time).json(),
                    "corona": corona_json(has_corona),
                })),
            }
            .prepare(path)
        });
        let sidecar = sidecar.transpose()?;
        write_picture(
            &picture,
            &system,
            &PictureFiles {
                png: output,
                bits: PngDepth::Eight,
                t: None,
                id: None,
                fraction: None,
                flux: None,
                normal: None,
                view_distance: None,
            },
        )?;
        sidecar.map_or(Ok(()), PreparedFile::persist)?;
        if !self.table.quiet {
            let seconds = started.elapsed().as_secs_f64();
            say(&format!(
                "{}: {shown}, {}x{} pixels, {seconds:.2} s; wrote {}",
                device.name(),
                size[0],
                size[1],
                output.display()
            ));
            if let Some(text) = eclipse.and_then(|eclipse| visible_text(eclipse, &system, view, time)) {
                let corona = if has_corona { "; the corona is schematic: --corona off leaves it out" } else { "" };
                say(&format!("{text}{corona}"));
            }
        }
        Ok(())
    }
}

/// Name and value of each line about a solar eclipse.
fn solar_rows(sky: &Sky, eclipse: &SolarEclipse) -> Vec<(&'static str, String)> {
    let delta_t = sky.options().delta_t;
    let clock = |time: Time| time.text(1, delta_t).to_string();
    let greatest = &eclipse.greatest;
    let mut rows = vec![
        ("greatest eclipse", clock(greatest.time)),
        ("place", place_text(&greatest.place)),
        ("gamma", format!("{:.5}", greatest.gamma)),
        ("magnitude", format!("{:.5}", greatest.view.magnitude)),
        ("obscuration", format!("{:.5}", greatest.view.obscuration)),
        ("altitude of the Sun", format!("{:.1} degrees", greatest.view.sun_altitude + 0.0)),
    ];
    if let Some(seconds) = greatest.central_duration_s {
        rows.push(("duration there", duration_text(seconds)));
    }
    if let Some(width) = eclipse.line_point(greatest.time).and_then(|point| point.width_km) {
        rows.push(("width of the path", format!("{width:.1} km")));
    }
    rows.push(("partial begins (P1)", format!("{} at {}", clock(eclipse.begins.0), place_text(&eclipse.begins.1))));
    if let Some((first, last)) = eclipse.axis {
        for (name, time) in [("axis begins", first), ("axis ends", last)] {
            let inward = if name == "axis begins" { 0.01 } else { -0.01 };
            let place = eclipse.axis_place(time.plus(inward));
            rows.push((name, format!("{} at {}", clock(time), place.as_ref().map_or(String::new(), place_text))));
        }
    }
    rows.push(("partial ends (P4)", format!("{} at {}", clock(eclipse.ends.0), place_text(&eclipse.ends.1))));
    rows
}

fn solar_json(sky: &Sky, eclipse: &SolarEclipse) -> Value {
    let clock = |time: Time| time.text(2, sky.options().delta_t).to_string();
    let greatest = &eclipse.greatest;
    let at = |(time, place): (Time, umbracast_sky::Place)| json!({ "time": clock(time), "latitude": rounded(place.latitude, 5), "longitude": rounded(place.longitude, 5) });
    json!({
        "body": "solar",
        "kind": eclipse.kind.name(),
        "greatest": clock(greatest.time),
        "julian_date_tt": rounded(greatest.time.tt_julian_date(), 8),
        "latitude": rounded(greatest.place.latitude, 5),
        "longitude": rounded(greatest.place.longitude, 5),
        "gamma": rounded(greatest.gamma, 6),
        "magnitude": rounded(greatest.view.magnitude, 6),
        "obscuration": rounded(greatest.view.obscuration, 6),
        "sun_altitude": rounded(greatest.view.sun_altitude, 3),
        "central_duration_s": greatest.central_duration_s.map(|seconds| rounded(seconds, 2)),
        "path_width_km": eclipse.line_point(greatest.time).and_then(|point| point.width_km).map(|km| rounded(km, 2)),
        "p1": at(eclipse.begins),
        "axis": eclipse.axis.map(|(first, last)| json!([clock(first), clock(last)])),
        "p4": at(eclipse.ends),
    })
}

/// Name and value of each line about a lunar eclipse.
fn lunar_rows(sky: &Sky, eclipse: &LunarEclipse) -> Vec<(&'static str, String)> {
    let clock = |time: Time| time.text(1, sky.options().delta_t).to_string();
    let mut rows = vec![
        ("greatest eclipse", clock(eclipse.greatest)),
        ("Moon at the zenith", place_text(&eclipse.zenith)),
        ("gamma", format!("{:.5}", eclipse.gamma)),
        ("umbral magnitude", format!("{:.5}", eclipse.umbral_magnitude)),
        ("penumbral magnitude", format!("{:.5}", eclipse.penumbral_magnitude)),
    ];
    let contacts = [
        ("penumbral begins (P1)", Some(eclipse.p1)),
        ("partial begins (U1)", eclipse.u1),
        ("total begins (U2)", eclipse.u2),
        ("total ends (U3)", eclipse.u3),
        ("partial ends (U4)", eclipse.u4),
        ("penumbral ends (P4)", Some(eclipse.p4)),
    ];
    rows.extend(contacts.into_iter().filter_map(|(name, time)| Some((name, clock(time?)))));
    if let Some((start, end)) = eclipse.u2.zip(eclipse.u3) {
        rows.push(("total duration", duration_text(end.seconds_since(start))));
    }
    rows
}

fn lunar_json(sky: &Sky, eclipse: &LunarEclipse) -> Value {
    let clock = |time: Time| time.text(2, sky.options().delta_t).to_string();
    json!({
        "body": "lunar",
        "kind": eclipse.kind.name(),
        "greatest": clock(eclipse.greatest),
        "julian_date_tt": rounded(eclipse.greatest.tt_julian_date(), 8),
        "gamma": rounded(eclipse.gamma, 6),
        "umbral_magnitude": rounded(eclipse.umbral_magnitude, 6),
        "penumbral_magnitude": rounded(eclipse.penumbral_magnitude, 6),
        "latitude": rounded(eclipse.zenith.latitude, 5),
        "longitude": rounded(eclipse.zenith.longitude, 5),
        "p1": clock(eclipse.p1),
        "u1": eclipse.u1.map(clock),
        "u2": eclipse.u2.map(clock),
        "u3": eclipse.u3.map(clock),
        "u4": eclipse.u4.map(clock),
        "p4": clock(eclipse.p4),
    })
}
