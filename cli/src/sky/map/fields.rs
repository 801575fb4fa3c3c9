//! What an eclipse is like on a grid of places, and lines of equal values.

use std::collections::BTreeMap;

use umbracast_sky::{Place, SolarEclipse, Time};

/// A line of places: longitude and latitude in degrees.
pub(super) type Places = Vec<[f64; 2]>;

/// Largest and least number of cells along a side of a grid. Cells are a degree wide and half a degree high, and smaller in small regions.
const NODES: f64 = 360.0;
const LEAST_NODES: f64 = 180.0;

/// Values at the nodes of a grid of longitudes and latitudes, row by row from the north-west corner.
#[derive(Default)]
pub(super) struct Fields {
    region: [f64; 4],
    columns: usize,
    rows: usize,
    /// The covered part of the Sun's disc: at an instant, or the largest while the Sun is up.
    pub(super) obscuration: Vec<f64>,
    /// Above 0 where the eclipse is seen. At an instant, it is the altitude of the Sun; otherwise the highest of those at the first contact, at
    /// the maximum and at the last contact, or 90 times the magnitude if that is less.
    pub(super) visible: Vec<f64>,
    /// Of the maximum: the magnitude, negative where the shadow passes by; the instant in seconds from the greatest eclipse. Empty for an
    /// instant.
    pub(super) magnitude: Vec<f64>,
    pub(super) seconds: Vec<f64>,
    /// Altitude of the Sun in degrees at the first contact, at the maximum and at the last contact. Empty for an instant.
    pub(super) altitudes: [Vec<f64>; 3],
}

impl Fields {
    pub(super) fn new(eclipse: &SolarEclipse, region: [f64; 4], at: Option<Time>) -> Self {
        let [west, south, east, north] = region;
        let cells = |side: f64| side.clamp(LEAST_NODES, NODES);
        let [columns, rows] = [cells(east - west), cells(2.0 * (north - south))].map(|cells| cells.ceil() as usize + 1);
        let mut own = Self { region, columns, rows, ..Self::default() };
        let places: Vec<Place> = (0..columns * rows)
            .map(|node| own.at((node % columns) as f64, (node / columns) as f64))
            .map(|[longitude, latitude]| Place { latitude, longitude, height_m: 0.0 })
            .collect();
        if at.is_some() {
            (own.obscuration, own.visible) = eclipse.obscurations(&places, at).into_iter().unzip();
            return own;
        }
        for local in eclipse.circumstances_of(&places) {
            let altitude = local.maximum.sun_altitude;
            let altitudes =
                [local.c1, Some(local.maximum), local.c4].map(|view| view.map_or(altitude, |v| v.sun_altitude));
            own.obscuration.push(local.visible.map_or(0.0, |view| view.obscuration));
            let magnitude = magnitude(eclipse, &local.place, local.maximum.time);
            own.visible.push(altitudes.into_iter().fold(f64::NEG_INFINITY, f64::max).min(90.0 * magnitude));
            own.magnitude.push(magnitude);
            own.seconds.push(local.maximum.time.seconds_since(eclipse.greatest.time));
            own.altitudes.iter_mut().zip(altitudes).for_each(|(list, altitude)| list.push(altitude));
        }
        own
    }

    /// Longitude and latitude of a position in columns and rows.
    fn at(&self, column: f64, row: f64) -> [f64; 2] {
        let [west, south, east, north] = self.region;
        let part = |low: f64, high: f64, at: f64, count: usize| low + (high - low) * at / (count - 1) as f64;
        [part(west, east, column, self.columns), part(north, south, row, self.rows)]
    }

    /// The lines on which a field has a value, where `mask` is above 0: by marching squares, with straight pieces in the cells.
    pub(super) fn isolines(&self, field: &[f64], level: f64, mask: Option<&[f64]>) -> Vec<Places> {
        let (columns, rows) = (self.columns, self.rows);
        let above = |node: usize| field[node] >= level;
        // An edge joins a node with the next one to the right (even numbers) or below (odd numbers). At most two segments end on it.
        let mut segments: Vec<[usize; 2]> = Vec::new();
        for cell in (0..(rows - 1) * columns).filter(|cell| cell % columns < columns - 1) {
            let nodes = [cell, cell + 1, cell + columns + 1, cell + columns];
            let edges = [2 * cell, 2 * (cell + 1) + 1, 2 * (cell + columns), 2 * cell + 1];
            let crossed: Vec<usize> = (0..4).filter(|&i| above(nodes[i]) != above(nodes[(i + 1) % 4])).collect();
            // In a saddle, the mean decides which corners are cut off.
            let mean = nodes.iter().map(|node| field[*node]).sum::<f64>() / 4.0;
            match crossed[..] {
                [a, b] => segments.push([edges[a], edges[b]]),
                [_, _, _, _] if (mean >= level) == above(nodes[0]) => {
                    segments.extend([[edges[0], edges[1]], [edges[2], edges[3]]]);
                }
                [_, _, _, _] => segments.extend([[edges[3], edges[0]], [edges[1], edges[2]]]),
                _ => {}
            }
        }
        let mut ends: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (number, edge) in segments.iter().enumerate().flat_map(|(number, pair)| pair.map(|edge| (number, edge))) {
            ends.entry(edge).or_default().push(number);
        }
        let vertex = |edge: usize| {
            let (a, b) = (edge / 2, edge / 2 + if edge.is_multiple_of(2) { 1 } else { columns });
            let part = (level - field[a]) / (field[b] - field[a]);
            let [column, row] = [(a % columns) as f64, (a / columns) as f64];
            let at = if edge.is_multiple_of(2) { self.at(column + part, row) } else { self.at(column, row + part) };
            (at, mask.map_or(1.0, |mask| mask[a] + part * (mask[b] - mask[a])))
        };
        let mut is_used = vec![false; segments.len()];
        let mut lines = Vec::new();
        // Lines with ends first, then closed ones.
        let (open, closed): (Vec<usize>, Vec<usize>) = ends.keys().partition(|edge| ends[*edge].len() == 1);
        for start in open.into_iter().chain(closed) {
            let (mut edge, mut line) = (start, vec![vertex(start)]);
            while let Some(next) = ends[&edge].iter().copied().find(|segment| !is_used[*segment]) {
                is_used[next] = true;
                let [a, b] = segments[next];
                edge = if a == edge { b } else { a };
                line.push(vertex(edge));
            }
            lines.extend(masked(&line));
        }
        lines
    }
}

/// The parts of a line whose mask is above 0. Each point has its mask.
fn masked(line: &[([f64; 2], f64)]) -> Vec<Places> {
    let mut parts: Vec<Places> = Vec::new();
    let mut is_open = false;
    for pair in line.windows(2) {
        let [(a, from), (b, to)] = [pair[0], pair[1]];
        let crossing = from / (from - to);
        let at = |part: f64| [a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])];
        if from > 0.0 || to > 0.0 {
            if !is_open {
                parts.push(vec![if from > 0.0 { a } else { at(crossing) }]);
            }
            if let Some(part) = parts.last_mut() {
                part.push(if to > 0.0 { b } else { at(crossing) });
            }
        }
        is_open = to > 0.0;
    }
    parts
}

/// Magnitude of a partial eclipse at a place and an instant: the covered part of the Sun's diameter, negative for a gap between the discs.
fn magnitude(eclipse: &SolarEclipse, place: &Place, time: Time) -> f64 {
    let (sun, moon) = eclipse.earth_fixed(time);
    let radii = eclipse.radii();
    let place = place.earth_fixed_km();
    let [sun, moon] = [sun - place, moon - place];
    let half = |distance: f64, radius: f64| (radius / distance).asin();
    let (sun_radius, moon_radius) = (half(sun.length(), radii.sun_km), half(moon.length(), radii.moon_partial_km));
    (sun_radius + moon_radius - sun.angle_between(moon)) / (2.0 * sun_radius)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn isolines_of_a_cone_are_circles() {
        let (columns, rows) = (81, 61);
        let mut fields = Fields { region: [-20.0, 30.0, 20.0, 60.0], columns, rows, ..Fields::default() };
        let places: Vec<[f64; 2]> =
            (0..columns * rows).map(|i| fields.at((i % columns) as f64, (i / columns) as f64)).collect();
        let off = |at: [f64; 2]| (at[0] - 1.2).hypot(at[1] - 45.1);
        fields.obscuration = places.iter().map(|at| 1.0 - off(*at) / 20.0).collect();
        // A closed line, and one that leaves the grid four times.
        for (radius, count, is_closed) in [(8.0, 1, true), (17.0, 2, false)] {
            let lines = fields.isolines(&fields.obscuration, 1.0 - radius / 20.0, None);
            assert_eq!(lines.len(), count, "{radius}");
            for line in &lines {
                assert!(line.iter().all(|at| (off(*at) - radius).abs() < 0.01), "{radius}");
                assert_eq!(line.first() == line.last(), is_closed);
            }
        }
        // A mask cuts the line where it changes its sign.
        let mask: Vec<f64> = places.iter().map(|at| at[1] - 45.1).collect();
        let half = fields.isolines(&fields.obscuration, 0.6, Some(&mask));
        let points: Vec<[f64; 2]> = half.concat();
        assert!(points.iter().all(|at| at[1] >= 45.1 - 1e-9));
        assert!(half.iter().flat_map(|line| line.windows(2)).all(|pair| pair[0] != pair[1]));
        let length: f64 =
            half.iter().flat_map(|line| line.windows(2)).map(|p| (p[0][0] - p[1][0]).hypot(p[0][1] - p[1][1])).sum();
        assert!((length - 8.0 * std::f64::consts::PI).abs() < 0.05, "{length}");
    }
}
