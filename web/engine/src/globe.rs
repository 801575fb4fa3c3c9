//! Pictures of the Earth during an eclipse, pixel by pixel: sea, land, ice, night, and how much of the Sun the Moon covers at each place.
//!
//! The library's `render` draws the Earth as a system of bodies, with 16 samples per pixel; a page that turns a globe needs a picture in
//! milliseconds. Here a pixel is a place, and the covered part is that of two discs, as in the library's maps. Moon and Sun are at their
//! apparent places from the Earth's centre, which moves the shadow by at most 21 m.

use serde::Deserialize;
use umbracast::glam::{DMat3, DVec3};
use umbracast::shadow::covered_fraction;
use umbracast_sky::{Place, Radii, land_and_ice};
use wasm_bindgen::prelude::*;

use crate::errors::Result;
use crate::sky::{Wanted, failed};

/// A colour as red, green and blue, 0 to 255.
type Rgb = [f64; 3];

#[derive(Deserialize)]
struct Colors {
    sea: Rgb,
    land: Rgb,
    ice: Rgb,
    night: Rgb,
    shadow: Rgb,
}

/// How places are drawn.
#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Projection {
    /// The Earth from far away.
    Globe,
    /// Longitudes to the right, latitudes upwards.
    Flat,
}

/// A picture: a place is at the pixel `middle`, and a radian there is `scale` pixels.
#[derive(Deserialize)]
struct View {
    projection: Projection,
    latitude_deg: f64,
    longitude_deg: f64,
    middle: [f64; 2],
    scale: f64,
    width: u32,
    height: u32,
    time_s: f64,
    colors: Colors,
}

/// Largest number of pixels of a picture.
const MOST_PIXELS: u64 = 1 << 24;
/// Sines of the Sun's altitude between which day turns into night: the horizon, and the end of civil twilight.
const TWILIGHT: [f64; 2] = [0.0, -0.1045];
/// Share of the night's colour after twilight, and of the shadow's colour where the Sun is covered wholly.
const NIGHT: f64 = 0.72;
const SHADOW: f64 = 0.88;

/// The pixels of a picture of an eclipse at an instant: RGBA, row by row from the top.
#[wasm_bindgen]
pub fn globe(text: &str) -> Result<Vec<u8>> {
    #[derive(Deserialize)]
    struct Request {
        #[serde(flatten)]
        wanted: Wanted,
        #[serde(flatten)]
        view: View,
    }
    let Request { wanted, view }: Request = serde_json::from_str(text).map_err(failed)?;
    let known = wanted.known()?;
    let (sun, moon) = known.eclipse.earth_fixed(known.at(view.time_s)?);
    view.draw(&Discs { sun, moon, radii: known.radii() })
}

/// Sun and Moon in axes that turn with the Earth, in km.
struct Discs {
    sun: DVec3,
    moon: DVec3,
    radii: Radii,
}

impl Discs {
    /// The covered part of the Sun's disc at a place, by solid angle, and the sine of the Sun's altitude.
    fn seen(&self, place: DVec3, zenith: DVec3) -> (f64, f64) {
        let (sun, moon) = (self.sun - place, self.moon - place);
        let (sun_km, moon_km) = (sun.length(), moon.length());
        let sine_altitude = sun.dot(zenith) / sun_km;
        // The penumbra is within 0.55 degrees of the Sun.
        const REACH: f64 = 0.99995;
        if sine_altitude < TWILIGHT[1] || sun.dot(moon) < REACH * sun_km * moon_km {
            return (0.0, sine_altitude);
        }
        let separation = (sun.cross(moon).length() / (sun_km * moon_km)).asin();
        let (disc, partial) = (self.radii.sun_km / sun_km, self.radii.moon_partial_km / moon_km);
        let central = self.radii.moon_central_km / moon_km;
        if separation < (disc - central).abs() {
            return (covered_fraction(disc, central, separation), sine_altitude);
        }
        // The radius for partial phases may be larger: outside the umbra, a little of the Sun is left.
        (covered_fraction(disc, partial, separation).min(0.9999), sine_altitude)
    }
}

fn mixed(from: Rgb, to: Rgb, share: f64) -> Rgb {
    std::array::from_fn(|i| from[i] + (to[i] - from[i]) * share)
}

impl View {
    fn draw(&self, discs: &Discs) -> Result<Vec<u8>> {
        let (width, height) = (self.width, self.height);
        let pixels = u64::from(width) * u64::from(height);
        if pixels == 0 || pixels > MOST_PIXELS || self.scale.is_nan() || self.scale <= 0.0 {
            let scale = self.scale;
            let expected = format!("expected 1 to {MOST_PIXELS} pixels, and a positive scale");
            return Err(failed(format!("a picture of {width} x {height} pixels with {scale} per radian: {expected}")));
        }
        let equator = Place::default().earth_fixed_km().x;
        let pole = Place { latitude: 90.0, ..Place::default() }.earth_fixed_km().z;
        let squash = (pole / equator).powi(2);
        let center = Place { latitude: self.latitude_deg, longitude: self.longitude_deg, height_m: 0.0 };
        let zenith = direction(center.latitude.to_radians(), center.longitude.to_radians());
        let east = DVec3::new(-center.longitude.to_radians().sin(), center.longitude.to_radians().cos(), 0.0);
        let axes = DMat3::from_cols(east, zenith.cross(east), zenith);
        let sharpness = (0.1_f64.to_radians() * self.scale).clamp(1.0, 8.0);
        let mut out = vec![0_u8; pixels as usize * 4];
        for (row, line) in out.chunks_exact_mut(4 * width as usize).enumerate() {
            let y = (self.middle[1] - row as f64 - 0.5) / self.scale;
            for (column, pixel) in line.chunks_exact_mut(4).enumerate() {
                let x = (column as f64 + 0.5 - self.middle[0]) / self.scale;
                let (zenith, opacity) = match self.projection {
                    Projection::Globe => {
                        let out = x * x + y * y;
                        let opacity = ((1.0 - out.sqrt()) * self.scale + 0.5).min(1.0);
                        if opacity <= 0.0 {
                            continue;
                        }
                        (axes * DVec3::new(x, y, (1.0 - out).max(0.0).sqrt()), opacity)
                    }
                    Projection::Flat => {
                        let latitude = center.latitude.to_radians() + y;
                        if latitude.abs() > std::f64::consts::FRAC_PI_2 {
                            continue;
                        }
                        (direction(latitude, center.longitude.to_radians() + x), 1.0)
                    }
                };
                // The point of the ellipsoid whose zenith this is.
                let normal =
                    equator / (zenith.x * zenith.x + zenith.y * zenith.y + squash * zenith.z * zenith.z).sqrt();
                let place = DVec3::new(zenith.x, zenith.y, squash * zenith.z) * normal;
                let (covered, sine_altitude) = discs.seen(place, zenith);
                let color = self.color(zenith, covered, sine_altitude, sharpness);
                pixel[..3].copy_from_slice(&color.map(|part| part.round() as u8));
                pixel[3] = (255.0 * opacity).round() as u8;
            }
        }
        Ok(out)
    }

    fn color(&self, zenith: DVec3, covered: f64, sine_altitude: f64, sharpness: f64) -> Rgb {
        let of = &self.colors;
        let (longitude, latitude) = (zenith.y.atan2(zenith.x), zenith.z.clamp(-1.0, 1.0).asin());
        let sharp = |share: f64| (0.5 + (share - 0.5) * sharpness).clamp(0.0, 1.0);
        let [land, ice] = land_and_ice(longitude.to_degrees(), latitude.to_degrees()).map(sharp);
        let mut color = mixed(mixed(of.sea, of.land, land), of.ice, ice);
        let dusk = ((TWILIGHT[0] - sine_altitude) / (TWILIGHT[0] - TWILIGHT[1])).clamp(0.0, 1.0);
        let dusk = dusk * dusk * (3.0 - 2.0 * dusk);
        if covered > 0.0 {
            // The whole Sun is covered in the umbra only: it is darker than what is next to it.
            let share = if covered >= 1.0 { SHADOW } else { 0.7 * covered.powf(1.3) };
            color = mixed(color, of.shadow, share * (1.0 - dusk));
        }
        mixed(color, of.night, NIGHT * dusk)
    }
}

/// The direction of the zenith at a latitude and a longitude in radians.
fn direction(latitude: f64, longitude: f64) -> DVec3 {
    DVec3::new(latitude.cos() * longitude.cos(), latitude.cos() * longitude.sin(), latitude.sin())
}
