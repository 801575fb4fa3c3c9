//! Renders pictures on the CPU, in f64, on all cores: the twin of `shaders/shadow/render.wgsl`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use glam::{DVec2, DVec3};

use super::image::{Picture, Pixel};
use super::prepared::PreparedPicture;
use super::primary::{VisiblePoint, first_body};
use super::progress::RenderProgress;
use super::shade::{ShadingScratch, light_at, paint};
use crate::error::Result;
use crate::records::NO_SPHERE;
use crate::runtime::cancel::CancelToken;
use crate::runtime::{Instant, map_tasks};
use crate::shadow::system::System;

/// Pixels per task.
const TASK_PIXELS: usize = 128;
/// Pixels per band: many tasks.
const BAND_PIXELS: usize = 1 << 16;
/// Pixels that are rendered first, to estimate the time of the whole picture.
const TRIAL_PIXELS: usize = 256;
/// The trial ends after this time.
const TRIAL_TIME: Duration = Duration::from_millis(400);

/// Position in the picture, −1…1, of a point given in pixels from the upper left corner.
pub(crate) fn place(size: [u32; 2], x: f64, y: f64) -> DVec2 {
    DVec2::new(2.0 * x / f64::from(size[0]) - 1.0, 1.0 - 2.0 * y / f64::from(size[1]))
}

/// Position in the picture of the centre of the pixel with this index.
#[inline(always)]
pub(crate) fn center_place(size: [u32; 2], at: usize) -> DVec2 {
    // A picture has at most 2²⁶ pixels.
    let [x, y] = [at as u32 % size[0], at as u32 / size[0]].map(|k| f64::from(k) + 0.5);
    place(size, x, y)
}

/// What the centre of the pixel with this index shows.
#[inline(always)]
pub(crate) fn center(prepared_picture: &PreparedPicture, size: [u32; 2], at: usize) -> VisiblePoint {
    let (origin, direction) = prepared_picture.view.ray(center_place(size, at));
    first_body(prepared_picture, [at as u32 % size[0], at as u32 / size[0]], origin, direction)
}

/// Computes some pixels, given by their indices, on all cores. Returns the result of each with its index.
pub(crate) fn each_pixel<T: Send>(
    pixels: &[usize],
    work: impl Fn(&mut ShadingScratch, usize) -> T + Sync,
) -> impl Iterator<Item = (usize, T)> {
    let task = |pixels: &[usize]| {
        let mut scratch = ShadingScratch::default();
        pixels.iter().map(|&at| (at, work(&mut scratch, at))).collect::<Vec<_>>()
    };
    map_tasks(pixels.chunks(TASK_PIXELS), task).into_iter().flatten()
}

/// Renders the pixel with this index.
pub(crate) fn pixel(
    system: &System,
    prepared_picture: &PreparedPicture,
    scratch: &mut ShadingScratch,
    at: usize,
) -> Pixel {
    let options = system.picture();
    let own = [at as u32 % options.size[0], at as u32 / options.size[0]];
    let [x, y] = own.map(f64::from);
    let seen = center(prepared_picture, options.size, at);
    let center = light_at(prepared_picture, scratch, seen);
    let (mut sum, mut covered) = (DVec3::ZERO, 0);
    let step = 1.0 / f64::from(options.samples);
    for j in 0..options.samples {
        for i in 0..options.samples {
            let within = DVec2::new(f64::from(i) + 0.5, f64::from(j) + 0.5) * step;
            let place = place(options.size, x + within.x, y + within.y);
            // An odd number of samples includes the centre of the pixel.
            let (shown, lit) = if within == DVec2::splat(0.5) {
                (seen, Some(center))
            } else {
                let (origin, direction) = prepared_picture.view.ray(place);
                (first_body(prepared_picture, own, origin, direction), None)
            };
            let ray = [at as u32, j * options.samples + i];
            let color = paint(system, prepared_picture, scratch, place, shown, ray, lit);
            // Colours are clipped before averaging: otherwise one very bright sample would make an edge look jagged.
            sum += color.min(DVec3::ONE);
            covered += u32::from(shown.id != NO_SPHERE);
        }
    }
    Pixel {
        rgb: (sum * step * step).as_vec3().to_array(),
        alpha: (f64::from(covered) * step * step) as f32,
        t: seen.t as f32,
        id: seen.id,
        fraction: center.fraction as f32,
    }
}

/// Renders pixels all over the picture, at most for [`TRIAL_TIME`]. Returns the time that the whole picture should take.
fn estimate(system: &System, prepared_picture: &PreparedPicture, cancel: &CancelToken) -> Duration {
    let [width, height] = system.picture().size;
    let pixels = width as usize * height as usize;
    let trials = TRIAL_PIXELS.min(pixels.div_ceil(256));
    let start = Instant::now();
    let rendered = map_tasks(0..trials, |trial| {
        if trial > 0 && (start.elapsed() > TRIAL_TIME || cancel.is_cancelled()) {
            return 0;
        }
        // Spread evenly: the golden ratio of the pixels apart.
        let at = (trial as f64 * 0.618_033_988_749_894_9).fract() * pixels as f64;
        pixel(system, prepared_picture, &mut ShadingScratch::default(), (at as usize).min(pixels - 1));
        1
    });
    let rendered: usize = rendered.into_iter().sum();
    let seconds = start.elapsed().as_secs_f64() * pixels as f64 / rendered.max(1) as f64;
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

/// Renders the whole picture.
pub(crate) fn picture(
    system: &System,
    prepared_picture: &PreparedPicture,
    cancel: &CancelToken,
    progress: &(dyn Fn(RenderProgress) + Send + Sync),
) -> Result<Picture> {
    let options = system.picture();
    let mut picture = Picture::new(options.size, options.transparent)?;
    // The shorter one of two: another process may use the processor during one.
    let estimate = || estimate(system, prepared_picture, cancel);
    let expected = estimate().min(estimate());
    cancel.check()?;
    progress(RenderProgress { done: 0.0, expected });
    let pixels = picture.id.len();
    let done = AtomicUsize::new(0);
    // Finished bands are copied, so that not all pixels are in memory twice.
    for band in (0..pixels).step_by(BAND_PIXELS) {
        let end = pixels.min(band + BAND_PIXELS);
        let tasks = map_tasks((band..end).step_by(TASK_PIXELS), |first| {
            cancel.check()?;
            let mut scratch = ShadingScratch::default();
            let own = first..end.min(first + TASK_PIXELS);
            let count = own.len();
            let rendered: Vec<Pixel> = own.map(|at| pixel(system, prepared_picture, &mut scratch, at)).collect();
            let done = done.fetch_add(count, Ordering::Relaxed) + count;
            progress(RenderProgress { done: done as f64 / pixels as f64, expected });
            Ok((first, rendered))
        });
        for task in tasks {
            let (first, rendered) = task?;
            (first..).zip(rendered).for_each(|(at, pixel)| picture.set(at, pixel));
        }
    }
    Ok(picture)
}
