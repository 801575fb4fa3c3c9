//! Land and ice as a raster of shares per cell, from the coastlines.
//!
//! The share of a cell that is land is exact for the straight edges of the coastlines: each edge adds, to every cell that it passes, the
//! signed area between itself and the cell's right side, and running sums along a row turn these into shares (as font rasterisers do). The
//! sign of a ring's orientation does not matter, because a ring of land and the lake in it have opposite ones.

use std::sync::OnceLock;

use crate::coastlines::{Coastline, coastlines};

/// Cells per degree.
const PER_DEGREE: usize = 10;
pub(crate) const WIDTH: usize = 360 * PER_DEGREE;
pub(crate) const HEIGHT: usize = 180 * PER_DEGREE;
/// Size of a cell in radians.
pub(crate) const CELL: f64 = std::f64::consts::PI / HEIGHT as f64;

/// Shares of the cells, 0…255, row by row from the north-west corner.
#[derive(Debug)]
pub(crate) struct LandRaster {
    land: Vec<u8>,
    ice: Vec<u8>,
}

/// The raster of the Earth; computed when it is needed first.
pub(crate) fn raster() -> &'static LandRaster {
    static RASTER: OnceLock<LandRaster> = OnceLock::new();
    RASTER.get_or_init(|| {
        let lines = coastlines();
        LandRaster { land: shares(lines.iter()), ice: shares(lines.iter().filter(|line| line.ice)) }
    })
}

/// Shares of land and of ice at a longitude and a latitude in degrees, 0…1. They change from 0 to 1 within a tenth of a degree.
pub fn land_and_ice(longitude: f64, latitude: f64) -> [f64; 2] {
    raster().at(longitude.to_radians(), latitude.to_radians())
}

impl LandRaster {
    /// Shares of land and of ice at a place, 0…1: bilinear between the centres of cells. Angles are in radians.
    pub(crate) fn at(&self, longitude: f64, latitude: f64) -> [f64; 2] {
        let x = (longitude.to_degrees() + 180.0) * PER_DEGREE as f64 - 0.5;
        let y = ((90.0 - latitude.to_degrees()) * PER_DEGREE as f64 - 0.5).clamp(0.0, (HEIGHT - 1) as f64);
        let (left, top) = (x.floor(), y.floor().min((HEIGHT - 2) as f64));
        let (f, g) = (x - left, y - top);
        let column = |i: f64| (i as i64).rem_euclid(WIDTH as i64) as usize;
        let (a, b, row) = (column(left), column(left + 1.0), top as usize * WIDTH);
        let blend = |cells: &[u8]| {
            let at = |i: usize| f64::from(cells[i]);
            let upper = at(row + a) * (1.0 - f) + at(row + b) * f;
            let lower = at(row + WIDTH + a) * (1.0 - f) + at(row + WIDTH + b) * f;
            (upper * (1.0 - g) + lower * g) / 255.0
        };
        [blend(&self.land), blend(&self.ice)]
    }
}

fn shares<'a>(lines: impl Iterator<Item = &'a Coastline>) -> Vec<u8> {
    // One more cell per row takes the areas right of the last one.
    let stride = WIDTH + 1;
    let mut areas = vec![0.0_f32; stride * HEIGHT];
    for line in lines {
        let reach = line.points.iter().map(|p| p[0].abs()).fold(0.0, f64::max);
        // Parts beyond 180° appear on the other side.
        let turns: &[f64] = if reach > 180.0 { &[-360.0, 0.0, 360.0] } else { &[0.0] };
        for turn in turns {
            let place = |p: &[f64; 2]| [(p[0] + turn + 180.0) * PER_DEGREE as f64, (90.0 - p[1]) * PER_DEGREE as f64];
            let mut from = place(&line.points[line.points.len() - 1]);
            for point in &line.points {
                let to = place(point);
                edge(&mut areas, stride, from, to);
                from = to;
            }
        }
    }
    let mut out = Vec::with_capacity(WIDTH * HEIGHT);
    for row in areas.chunks(stride) {
        let mut sum = 0.0;
        out.extend(row[..WIDTH].iter().map(|area| {
            sum += area;
            (sum.abs().min(1.0) * 255.0 + 0.5) as u8
        }));
    }
    out
}

/// Adds an edge to the areas of the cells that it passes, and of the cells right of them.
fn edge(areas: &mut [f32], stride: usize, from: [f64; 2], to: [f64; 2]) {
    let (sign, from, to) = if from[1] <= to[1] { (1.0, from, to) } else { (-1.0, to, from) };
    if from[1] == to[1] {
        return;
    }
    let slope = (to[0] - from[0]) / (to[1] - from[1]);
    let mut y = from[1];
    while y < to[1] {
        let row = (y as usize).min(HEIGHT - 1);
        let next = ((row + 1) as f64).min(to[1]);
        if next <= y {
            return;
        }
        let height = sign * (next - y);
        let [x0, x1] = [y, next].map(|y| (from[0] + (y - from[1]) * slope).clamp(0.0, WIDTH as f64));
        let (low, high) = (x0.min(x1), x0.max(x1));
        let cells = &mut areas[row * stride..(row + 1) * stride];
        // The part of the height that lies left of x, as x grows, rises from 0 at `low` to 1 at `high`: a cell covers the mean of it.
        let mut before = 0.0;
        let mut column = low as usize;
        loop {
            let end = (column + 1) as f64;
            // Integral of that part over the cell.
            let within = |x: f64| {
                if high - low < 1e-9 {
                    (x - low).max(0.0)
                } else {
                    let t = (x.min(high) - low).max(0.0);
                    0.5 * t * t / (high - low) + (x - high).max(0.0)
                }
            };
            let mean = within(end) - within(column as f64);
            cells[column] += (height * (mean - before)) as f32;
            before = mean;
            column += 1;
            if column > WIDTH {
                break;
            }
            if (column as f64) >= high {
                cells[column.min(WIDTH)] += (height * (1.0 - before)) as f32;
                break;
            }
        }
        y = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_a_cell_is_the_area_of_a_polygon_in_it() {
        let line = |points: &[[f64; 2]]| Coastline { points: points.to_vec(), ice: false };
        // A triangle, 0.25 cells wide and high around the corner of four cells, and a square that covers cells partly.
        let square = line(&[[10.05, 20.05], [10.35, 20.05], [10.35, 20.25], [10.05, 20.25]]);
        let found = shares([square].iter());
        let at = |x: f64, y: f64| {
            let (column, row) = (((x + 180.0) * 10.0) as usize, ((90.0 - y) * 10.0) as usize);
            f64::from(found[row * WIDTH + column]) / 255.0
        };
        for (x, y, share) in [
            (10.01, 20.15, 0.5),
            (10.15, 20.15, 1.0),
            (10.15, 20.09, 0.5),
            (10.01, 20.09, 0.25),
            (10.32, 20.22, 0.25),
            (10.45, 20.15, 0.0),
            (9.95, 20.15, 0.0),
        ] {
            assert!((at(x, y) - share).abs() < 0.005, "{x} {y}: {} {share}", at(x, y));
        }
        let slanted = shares([line(&[[0.0, 0.0], [3.0, 0.0], [0.0, 1.5]])].iter());
        let total: f64 = slanted.iter().map(|share| f64::from(*share) / 255.0).sum();
        assert!((total - 225.0).abs() < 0.5, "{total}");
    }

    #[test]
    fn cities_are_on_land_and_oceans_are_not() {
        let at = |longitude: f64, latitude: f64| raster().at(longitude.to_radians(), latitude.to_radians());
        for (longitude, latitude, land, ice) in [
            (2.35, 48.85, 1.0, 0.0),
            (-99.1, 19.4, 1.0, 0.0),
            (133.9, -23.7, 1.0, 0.0),
            (-40.0, 75.0, 1.0, 1.0),
            (60.0, -80.0, 1.0, 1.0),
            (-179.9, -85.0, 1.0, 1.0),
            (-30.0, 30.0, 0.0, 0.0),
            (180.0, 0.0, 0.0, 0.0),
            (0.0, 90.0, 0.0, 0.0),
            // The Caspian Sea, a lake in the land.
            (51.0, 42.0, 0.0, 0.0),
        ] {
            let [on_land, on_ice] = at(longitude, latitude);
            assert!(
                (on_land - land).abs() < 1e-9 && (on_ice - ice).abs() < 1e-9,
                "{longitude} {latitude}: {on_land} {on_ice}"
            );
        }
        // Land covers 29 % of the Earth.
        let raster = raster();
        let (mut sum, mut whole) = (0.0, 0.0);
        for row in 0..HEIGHT {
            let weight = ((row as f64 + 0.5) * CELL).sin();
            let share = raster.land[row * WIDTH..][..WIDTH].iter().map(|share| f64::from(*share)).sum::<f64>();
            sum += weight * share / (255.0 * WIDTH as f64);
            whole += weight;
        }
        assert!((0.285..0.295).contains(&(sum / whole)), "{}", sum / whole);
    }
}
