//! Fields of view, captions and animations of the pictures of an eclipse.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use png::ColorType;
use umbracast::Device;
use umbracast::glam::{DVec2, DVec3};
use umbracast::shadow::{Ball, Camera, Lens, Picture, System};
use umbracast_files::prepare_atomic;
use umbracast_sky::{Eclipse, Sky, SkyBody, Time, View};

use super::Event;
use super::map::round_length;
use super::place_text;
use crate::drawing::{Drawing, Style, Symbol, wrapped, write_frames, write_png};
use crate::error::{Error, Result};
use crate::picture_warnings::edge_angles;
use crate::progress::ProgressDisplay;

/// Height of a picture by the width or height of what fills it.
const MARGIN: f64 = 1.1;

/// The vertical field of view of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FieldOfView {
    Degrees(f64),
    /// That of the body at which the camera aims, with a margin.
    Fill,
}

impl FieldOfView {
    /// Parser of `--fov`.
    pub(crate) fn parse(text: &str) -> std::result::Result<Self, String> {
        match text.parse::<f64>() {
            _ if text.eq_ignore_ascii_case("fill") => Ok(Self::Fill),
            Ok(degrees) if (1e-5..=170.0).contains(&degrees) => Ok(Self::Degrees(degrees)),
            _ => Err("expected 0.00001 to 170 degrees, or fill".into()),
        }
    }

    /// The system with this field of view.
    pub(crate) fn apply(self, system: &System) -> Result<System> {
        let camera = *system.camera();
        let Lens::Perspective { .. } = camera.lens else {
            let message = "--fov: this camera is a parallel projection, which has no field of view";
            return Err(Error::Usage(message.into()));
        };
        let [width, height] = system.picture().size.map(f64::from);
        let degrees = match self {
            Self::Degrees(degrees) => degrees,
            Self::Fill => {
                let no_body = || Error::Usage("--fov fill: the camera aims at no body".into());
                let half = half_angle(system).ok_or_else(no_body)?;
                (2.0 * (MARGIN * half.tan() * (height / width).max(1.0)).atan()).to_degrees().min(170.0)
            }
        };
        let lens = Lens::Perspective { field_of_view_deg: degrees };
        let (light, bodies) = (system.light().clone(), system.bodies().to_vec());
        let seen = System::new(light, bodies, Camera { lens, ..camera }, system.picture().clone())?;
        Ok(seen.with_unit(system.unit().unwrap_or_default()))
    }
}

/// The angle between the line of sight and the farthest edge of the body at which the camera aims, at most 82 degrees: of the bodies and
/// the light that the line of sight meets, or whose spheres surround the target, the one with a sphere nearest to the target.
fn half_angle(system: &System) -> Option<f64> {
    let (camera, target) = (system.camera(), system.camera().target);
    let visible = system.bodies().iter().filter(|body| body.visible);
    let bodies = visible.map(|body| (&body.balls[..], body.polar_radius.unwrap_or(0.0)));
    let mut aimed: Option<(f64, f64)> = None;
    for (balls, polar) in bodies.chain([(std::slice::from_ref(&system.light().ball), 0.0)]) {
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let (mut meets, mut farthest, mut distance) = (false, 0.0_f64, f64::INFINITY);
        for ball in balls {
            // A spheroid counts as the ball around it.
            let ball = Ball { radius: ball.radius.max(polar), ..*ball };
            let [near, far] = edge_angles(camera, ball);
            (low, high) = (low.min(ball.center - ball.radius), high.max(ball.center + ball.radius));
            (meets, farthest) = (meets || near <= 0.0, farthest.max(far));
            distance = distance.min(((ball.center - target).length() - ball.radius).max(0.0));
        }
        let surrounds = target.cmpge(low).all() && target.cmple(high).all();
        if (meets || surrounds) && aimed.is_none_or(|(nearest, _)| distance < nearest) {
            aimed = Some((distance, farthest));
        }
    }
    aimed.map(|(_, farthest)| farthest.min(82_f64.to_radians()))
}

/// The lines of a caption: the instant, the view, and what the picture depends on.
pub(super) fn caption_lines(instant: &str, view: Option<View<'_>>, system: &System, conventions: &str) -> Vec<String> {
    let light = system.light().ball;
    let from = match view {
        Some(View::Place(place)) => format!("from {}, the zenith up", place_text(&place)),
        Some(View::Earth) | None if (light.center - system.camera().target).length() <= light.radius => {
            "from the place nearest to the shadow's axis, the zenith up".into()
        }
        Some(View::Earth) => "from the Earth, north up".into(),
        Some(View::Moon) => "from the Moon, north up".into(),
        Some(View::Sun) => "from the direction of the Sun, north up".into(),
        Some(View::To(body)) => {
            let name = SkyBody::from_name(body).map_or(body, |found| found.name());
            format!("{name} from the centre of the Earth, north up")
        }
        Some(View::Above) | None => "north up".into(),
    };
    let field = match system.camera().lens {
        Lens::Perspective { field_of_view_deg } => format!("; field of view {field_of_view_deg:.3}°"),
        Lens::Orthographic { .. } => String::new(),
    };
    vec![instant.into(), format!("{from}{field}"), conventions.into()]
}

/// The height of the text of a caption, and its lines, in a picture of a size.
fn set_caption(lines: &[String], size: [u32; 2]) -> (f64, Vec<String>) {
    let [width, height] = size.map(f64::from);
    let text = (width.min(height) / 42.0).max(9.0);
    (text, lines.iter().flat_map(|line| wrapped(line, text, width - 2.0 * text)).collect())
}

/// The size of the view in a picture that has a caption below it.
pub(super) fn above_caption(lines: &[String], size: [u32; 2]) -> Result<[u32; 2]> {
    let (text, lines) = set_caption(lines, size);
    let height = (text * (2.5 + 1.35 * lines.len() as f64)).ceil() as u32;
    let [columns, rows] = size;
    if 2 * height > rows {
        return Err(Error::Usage(format!("--caption: its text takes {height} of {rows} rows: make --size larger")));
    }
    Ok([columns, rows - height])
}

/// A picture with a scale bar and a caption below it, which together have `size`.
pub(super) fn captioned(picture: &Picture, system: &System, lines: &[String], whole: [u32; 2]) -> Result<Drawing> {
    let size = DVec2::from_array(picture.size.map(f64::from));
    let mut drawing = Drawing::new(DVec2::from_array(whole.map(f64::from)))?;
    drawing.area("caption", drawing.frame.outline(), 0);
    let rgba = picture.srgb8().chunks_exact(3).flat_map(|rgb| [rgb[0], rgb[1], rgb[2], 255]).collect();
    drawing.image("picture", DVec2::ZERO, picture.size, rgba);
    let (text, lines) = set_caption(lines, whole);
    let style = Style { size: text, hex: 0xff_ffff, halo: None };
    // Pixels per degree in the middle of a perspective picture, or per km.
    let (scale, unit) = match system.camera().lens {
        Lens::Perspective { field_of_view_deg } => {
            (0.5 * size.y / (0.5 * field_of_view_deg.to_radians()).tan() * 1_f64.to_radians(), "°")
        }
        Lens::Orthographic { width } => (size.x / width, " km"),
    };
    let length = round_length(0.2 * size.x / scale);
    let mut at = DVec2::new(text, size.y + 1.6 * text);
    drawing.legend(&[(Symbol::Scale(length * scale), scale_text(length, unit))], at, size.x, style);
    for line in &lines {
        at.y += 1.35 * text;
        drawing.text("caption", line, at, style);
    }
    Ok(drawing)
}

/// `30′`, `0.5″`, `2°` or `500 km`.
fn scale_text(length: f64, unit: &str) -> String {
    let (number, unit) = match unit {
        "°" if length < 0.5 / 60.0 => (3600.0 * length, "″"),
        "°" if length < 0.5 => (60.0 * length, "′"),
        _ => (length, unit),
    };
    format!("{}{unit}", (100.0 * number).round() / 100.0)
}

impl Event {
    /// The first and the last instant: of a solar eclipse or a transit, at the place of the view if that is one.
    pub(super) fn span_at(&self, view: Option<View<'_>>) -> (Time, Time) {
        let Some(View::Place(place)) = view else { return self.span() };
        let (first, last) = match self {
            Self::Eclipse(Eclipse::Solar(solar)) => {
                let local = solar.circumstances(&place);
                (local.c1, local.c4)
            }
            Self::Eclipse(Eclipse::Lunar(_)) => return self.span(),
            Self::Transit(transit) => {
                let local = transit.circumstances(&place).contacts;
                (local.c1, local.c4)
            }
        };
        first.zip(last).map_or(self.span(), |(first, last)| (first.time, last.time))
    }

    /// The instant of a picture of the day: the largest part of a solar eclipse that the place of the view sees, else the greatest eclipse.
    pub(super) fn instant_at(&self, view: Option<View<'_>>) -> Time {
        match (self, view) {
            (Self::Eclipse(Eclipse::Solar(solar)), Some(View::Place(place))) => {
                solar.circumstances(&place).visible.map_or(self.greatest(), |view| view.time)
            }
            _ => self.greatest(),
        }
    }
}

/// Evenly spaced instants from the first to the last. Those at which a place has the body that its camera shows below the horizon are left out.
pub(super) fn instants(
    sky: &Sky,
    (first, last): (Time, Time),
    view: Option<View<'_>>,
    count: u32,
) -> Result<Vec<Time>> {
    let step = last.seconds_since(first) / f64::from(count.max(2) - 1);
    let mut instants = Vec::new();
    for i in 0..count {
        let time = first.plus(step * f64::from(i));
        let is_up = match view {
            Some(View::Place(place)) => sky.is_target_up(&place, time)?,
            _ => true,
        };
        instants.extend(is_up.then_some(time));
    }
    Ok(instants)
}

/// The path of a numbered picture: its file name has `%d`, or `%03d` for at least three digits. `None` without one.
pub(crate) fn numbered(output: &Path, number: usize) -> Option<PathBuf> {
    let name = output.file_name()?.to_str()?;
    let (before, rest) = name.split_once('%')?;
    let (digits, after) = rest.split_once('d')?;
    let width = if digits.is_empty() { 1 } else { digits.parse().ok().filter(|width| *width < 20)? };
    // A second number would stay in all names.
    (!after.contains('%')).then(|| output.with_file_name(format!("{before}{number:0width$}{after}")))
}

/// The number of rendered frames, for the caller to count, and a progress bar.
pub(crate) fn progress(device: &Device, count: usize, quiet: bool) -> (Arc<AtomicU64>, ProgressDisplay) {
    let done = Arc::new(AtomicU64::new(0));
    let shared = done.clone();
    let thousandths = move || 1000 * shared.load(Ordering::Relaxed) / count as u64;
    let what = format!("rendering {count} pictures on {}", device.name());
    (done, ProgressDisplay::percent(what, thousandths, quiet))
}

/// Writes a frame per instant, with a progress bar: as an animated PNG or, if the name of `output` has a number, as a picture each. `frame`
/// draws the RGB pixels of an instant. Returns what was written.
pub(super) fn animate(
    device: &Device,
    output: &Path,
    size: [u32; 2],
    instants: &[Time],
    quiet: bool,
    frame: impl Fn(Time) -> Result<Vec<u8>>,
) -> Result<String> {
    let (done, _display) = progress(device, instants.len(), quiet);
    let frame = |time: &Time| {
        let pixels = frame(*time);
        done.fetch_add(1, Ordering::Relaxed);
        pixels
    };
    if let Some((first, last)) = numbered(output, 1).zip(numbered(output, instants.len())) {
        for (i, time) in instants.iter().enumerate() {
            let pixels = frame(time)?;
            let path = numbered(output, i + 1).unwrap_or_default();
            prepare_atomic(&path, |out| write_png(out, &pixels, size, ColorType::Rgb))?.persist()?;
        }
        let to_last = if first == last { String::new() } else { format!(" to {}", last.display()) };
        return Ok(format!("{}{to_last}", first.display()));
    }
    let mut failed = None;
    let frames = instants.iter().map(|time| {
        frame(time).map_err(|error| {
            failed = Some(error);
            std::io::Error::other("a frame failed")
        })
    });
    let ready = prepare_atomic(output, |out| write_frames(out, size, ColorType::Rgb, instants.len() as u32, frames));
    // The cause, instead of that the file could not be written.
    failed.map_or_else(|| Ok(ready?), Err)?.persist()?;
    Ok(output.display().to_string())
}
