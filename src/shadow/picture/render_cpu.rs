//! Renders pictures on the CPU, in f64, on all cores: the twin of `shaders/shadow/render.wgsl`.

use glam::{DVec2, DVec3};
use rayon::prelude::*;

use super::image::Picture;
use super::prepared::PreparedPicture;
use super::shade::{Palette, ShadingScratch, first_body, light_at, paint, pixel_ray};
use crate::error::Result;
use crate::runtime::cancel::CancelToken;
use crate::runtime::cpu_pool;
use crate::shadow::system::System;

/// Rows between progress reports.
const BAND: usize = 32;

/// Position in the picture, −1…1, of a point given in pixels from the upper left corner.
pub(crate) fn place(size: [u32; 2], x: f64, y: f64) -> DVec2 {
    DVec2::new(2.0 * x / f64::from(size[0]) - 1.0, 1.0 - 2.0 * y / f64::from(size[1]))
}

/// The colours and exposure that all pixels share.
pub(crate) fn palette(system: &System) -> Palette {
    let options = system.picture();
    Palette {
        light: DVec3::from_array(system.light().color.0),
        background: DVec3::from_array(options.background.0),
        exposure: options.exposure,
        ambient: options.ambient,
        stars: options.stars,
    }
}

/// A pixel: colour, `t`, id, fraction.
pub(crate) type Pixel = ([f32; 3], f32, u32, f32);

/// Renders one pixel.
pub(crate) fn pixel(
    system: &System,
    prepared_picture: &PreparedPicture,
    scratch: &mut ShadingScratch,
    x: u32,
    y: u32,
) -> Pixel {
    let options = system.picture();
    let palette = palette(system);
    let own = [x, y];
    let (x, y) = (f64::from(x), f64::from(y));
    let (origin, direction) = pixel_ray(prepared_picture, place(options.size, x + 0.5, y + 0.5));
    let seen = first_body(prepared_picture, own, origin, direction);
    let fraction = light_at(prepared_picture, scratch, seen).fraction;
    let mut sum = DVec3::ZERO;
    let step = 1.0 / f64::from(options.samples);
    for j in 0..options.samples {
        for i in 0..options.samples {
            let within = DVec2::new(f64::from(i) + 0.5, f64::from(j) + 0.5) * step;
            let place = place(options.size, x + within.x, y + within.y);
            let (origin, direction) = pixel_ray(prepared_picture, place);
            let color =
                paint(prepared_picture, scratch, &palette, place, first_body(prepared_picture, own, origin, direction));
            // Colours are clipped before averaging: otherwise one very bright sample would make an edge look jagged.
            sum += color.min(DVec3::ONE);
        }
    }
    ((sum * step * step).as_vec3().to_array(), seen.t as f32, seen.id, fraction as f32)
}

/// Renders the whole picture. `progress` receives the finished fraction.
pub(crate) fn picture(
    system: &System,
    prepared_picture: &PreparedPicture,
    cancel: &CancelToken,
    progress: &(dyn Fn(f64) + Send + Sync),
) -> Result<Picture> {
    let [width, height] = system.picture().size;
    cpu_pool::ensure_pool();
    let mut picture = Picture::new([width, height])?;
    let band = BAND * width as usize;
    let mut done = 0;
    let Picture { rgb, t, id, fraction, .. } = &mut picture;
    let bands = rgb.chunks_mut(band).zip(t.chunks_mut(band)).zip(id.chunks_mut(band)).zip(fraction.chunks_mut(band));
    for (n, (((rgb, t), id), fraction)) in bands.enumerate() {
        let row = width as usize;
        let rows = rgb
            .par_chunks_mut(row)
            .zip(t.par_chunks_mut(row))
            .zip(id.par_chunks_mut(row))
            .zip(fraction.par_chunks_mut(row));
        rows.enumerate().try_for_each_init(
            ShadingScratch::default,
            |scratch, (line, (((rgb, t), id), fraction))| {
                cancel.check()?;
                let y = (n * BAND + line) as u32;
                for x in 0..row {
                    (rgb[x], t[x], id[x], fraction[x]) = pixel(system, prepared_picture, scratch, x as u32, y);
                }
                Ok(())
            },
        )?;
        done += rgb.len();
        progress(done as f64 / (width as f64 * f64::from(height)));
    }
    Ok(picture)
}
