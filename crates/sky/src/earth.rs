//! The built-in map of the Earth: sea, land and ice. The shapes are real, the colours are made up and depend on the latitude only.

use std::sync::OnceLock;

use glam::DVec3;

use crate::land_raster::{CELL, raster};
use umbracast::shadow::{Color, SurfaceMap};

/// Land by the magnitude of the latitude in degrees.
const LAND: [(f64, &str); 6] =
    [(0.0, "#4d6b38"), (14.0, "#7d8048"), (26.0, "#a89565"), (40.0, "#77804e"), (56.0, "#566b45"), (74.0, "#8b8a7a")];
/// Sea by the magnitude of the latitude in degrees.
const SEA: [(f64, &str); 3] = [(0.0, "#1d4f80"), (45.0, "#1a4470"), (90.0, "#2a4d6e")];
const ICE: &str = "#eef2f5";

/// The map of the Earth for the surface of a body: sea, land and ice.
pub fn earth_map() -> SurfaceMap {
    // The raster is made now, by all cores, and not by the first pixel that needs it.
    raster();
    SurfaceMap::Computed("earth", color)
}

/// Colour at a place, as linear light. Angles are in radians. `footprint` is the size of a pixel on the surface, in radians: coasts are as
/// sharp as it allows.
fn color(longitude: f64, latitude: f64, footprint: f64) -> DVec3 {
    let [land, ice] = raster().at(longitude, latitude);
    let sharpness = (CELL / footprint).clamp(1.0, 8.0);
    let sharp = |share: f64| (0.5 + (share - 0.5) * sharpness).clamp(0.0, 1.0);
    let [bare, sea, white] = palette(latitude.to_degrees().abs());
    let (land, ice) = (sharp(land), sharp(ice));
    let ground = bare.lerp(white, if land > 0.0 { (ice / land).min(1.0) } else { 0.0 });
    sea.lerp(ground, land)
}

/// Colours of land, sea and ice at the magnitude of a latitude in degrees.
fn palette(degrees: f64) -> [DVec3; 3] {
    /// One row per degree.
    static ROWS: OnceLock<Vec<[DVec3; 3]>> = OnceLock::new();
    let rows = ROWS.get_or_init(|| {
        let row = |degrees: u32| [blend(&LAND, f64::from(degrees)), blend(&SEA, f64::from(degrees)), linear(ICE)];
        (0..=90).map(row).collect()
    });
    let below = degrees.floor().clamp(0.0, 89.0);
    let (low, high) = (rows[below as usize], rows[below as usize + 1]);
    std::array::from_fn(|i| low[i].lerp(high[i], degrees - below))
}

fn linear(hex: &str) -> DVec3 {
    DVec3::from_array(Color::from_hex(hex).unwrap_or(Color::WHITE).0)
}

/// Interpolates colours by latitude; constant beyond the last one.
fn blend(colors: &[(f64, &str)], degrees: f64) -> DVec3 {
    let above = colors.iter().position(|(limit, _)| *limit > degrees).unwrap_or(colors.len());
    let (Some(low), high) = (colors.get(above.saturating_sub(1)), colors.get(above)) else { return DVec3::ZERO };
    let Some(high) = high else { return linear(low.1) };
    let f = (degrees - low.0) / (high.0 - low.0);
    linear(low.1).lerp(linear(high.1), f * f * (3.0 - 2.0 * f))
}
