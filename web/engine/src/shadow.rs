//! Pictures and visible fractions.

use std::path::Path;

use js_sys::{Float32Array, Float64Array, Uint8Array, Uint8ClampedArray, Uint32Array};
use umbracast::glam::DVec3;
use umbracast::shadow::{Ball, LimbDarkening, ShadowRow, Spheroid};
use umbracast::{DeviceOptions, Error};
use umbracast_files::parse_system;
use wasm_bindgen::prelude::*;

use crate::arrays::{Arguments, collect};
use crate::device::Device;
use crate::errors::{JsError, Result, record, wrong_count};

/// Name of the system in errors.
const SYSTEM: &str = "system";

impl From<umbracast_files::Error> for JsError {
    fn from(error: umbracast_files::Error) -> Self {
        match error {
            umbracast_files::Error::Umbracast(error) => error.into(),
            other => Self::new("BadFile", &other.to_string()),
        }
    }
}

#[wasm_bindgen]
impl Device {
    /// Renders a system that is given as the text of a system file. `width`, `height` and `samples` replace those of its picture.
    pub async fn render(&self, text: String, arguments: JsValue) -> Result<JsValue> {
        let arguments = Arguments(&arguments);
        let system = parse_system(&text, Path::new(SYSTEM))?;
        let mut options = system.picture().clone();
        for (place, name) in options.size.iter_mut().zip(["width", "height"]) {
            *place = arguments.number(name).map_or(*place, |pixels| pixels as u32);
        }
        if let Some(samples) = arguments.number("samples") {
            options.samples = samples as u32;
        }
        let picture = self.0.render_async(&system.with_picture(options)?, None).await?;
        let has_alpha = picture.channel_count() == 4;
        let colors = picture.srgb8();
        let rgba: Vec<u8> = match has_alpha {
            true => colors,
            false => colors.as_chunks::<3>().0.iter().flat_map(|&[r, g, b]| [r, g, b, 255]).collect(),
        };
        Ok(record([
            ("width", picture.size[0].into()),
            ("height", picture.size[1].into()),
            ("data", Uint8ClampedArray::from(&rgba[..]).into()),
            ("t", Float32Array::from(&picture.t[..]).into()),
            ("id", Uint32Array::from(&picture.id[..]).into()),
            ("fraction", Float32Array::from(&picture.fraction[..]).into()),
        ]))
    }
}

/// Computes the visible fraction of a light behind bodies on the CPU engine, in f64. Each row has an observer; the light and the bodies are
/// those of all rows, or each row has its own.
#[wasm_bindgen]
pub async fn visible_fraction(arguments: JsValue) -> Result<JsValue> {
    let arguments = Arguments(&arguments);
    let [observers, lights] = ["observers", "light"].map(|name| arguments.rows::<f64, 3>(name));
    let (observers, lights) = (observers?.unwrap_or_default(), lights?.unwrap_or_default());
    let bodies = arguments.rows::<f64, 3>("bodies")?.unwrap_or_default();
    let column = |name: &'static str| arguments.column::<f64>(name);
    let (light_radius, radii) = (column("light_radius")?.unwrap_or_default(), column("radii")?.unwrap_or_default());
    let (polar_radii, poles) = (column("polar_radii")?, arguments.rows::<f64, 3>("poles")?);
    let limb = match column("limb_darkening")?.as_deref() {
        None => None,
        Some(&[u1, u2]) => Some(LimbDarkening::new(u1, u2)?),
        Some(other) => return Err(wrong_count("limb_darkening", other.len(), 2)),
    };
    let count = observers.len();
    // The number of bodies of a row.
    let of_row = arguments.number("body_count").map_or(bodies.len(), |count| count as usize);
    // The bodies come first: the numbers of the others are multiples of theirs.
    for (name, own, fewest, each) in [
        ("bodies", bodies.len(), of_row, of_row),
        ("light", lights.len(), 1, 1),
        ("light_radius", light_radius.len(), 1, 1),
        ("radii", radii.len(), 1, of_row),
        ("polar_radii", polar_radii.as_ref().map_or(of_row, Vec::len), 1, of_row),
        ("poles", poles.as_ref().map_or(of_row, Vec::len), 1, of_row),
    ] {
        let mut allowed = vec![fewest as u64, each as u64, each as u64 * count as u64];
        allowed.dedup();
        if !allowed.contains(&(own as u64)) {
            let allowed = allowed.iter().map(u64::to_string).collect::<Vec<_>>().join(" or ");
            let message = format!("{name} has {own} entries: expected {allowed} for {count} observers");
            return Err(Error::InvalidArgument(message).into());
        }
    }
    let fill = |row: usize, out: &mut ShadowRow| {
        out.observer = DVec3::from(observers[row]);
        out.light = Ball::new(lights[row % lights.len()], light_radius[row % light_radius.len()]);
        out.limb_darkening = limb;
        out.bodies.clear();
        // The products of rows and bodies need more than the 32 bits of a usize.
        let (first, each) = (row as u64 * of_row as u64, of_row as u64);
        out.bodies.extend((first..first + each).map(|at| {
            let of = |len: usize| (at % len as u64) as usize;
            let radius = radii[of(radii.len())];
            Spheroid {
                center: DVec3::from(bodies[of(bodies.len())]),
                radius,
                polar_radius: polar_radii.as_ref().map_or(radius, |all| all[of(all.len())]),
                pole: poles.as_ref().map_or(DVec3::Z, |all| DVec3::from(all[of(all.len())])),
            }
        }));
    };
    let device = umbracast::Device::open_async(&DeviceOptions::new("cpu")).await?;
    let found = device.shadows_by_row_async(count, &fill).await?;
    let kinds = collect("results", found.iter().map(|one| one.shadow.kind as u8))?;
    let fractions = collect("results", found.iter().map(|one| one.shadow.fraction))?;
    let fluxes = collect("results", found.iter().map(|one| one.flux))?;
    Ok(record([
        ("fraction", Float64Array::from(&fractions[..]).into()),
        ("kind", Uint8Array::from(&kinds[..]).into()),
        ("flux", Float64Array::from(&fluxes[..]).into()),
    ]))
}
