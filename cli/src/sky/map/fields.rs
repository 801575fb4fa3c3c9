//! What an eclipse is like on a lattice of a picture, and lines of equal values.

use contour::ContourBuilder;
use umbracast::glam::DVec2;
use umbracast_sky::{Place, SolarEclipse, Time};

use super::projection::Projection;
use crate::drawing::{Frame, above_zero};

/// Cells of the lattice along the longer side of the map.
const CELLS: f64 = 360.0;

/// Values at the nodes of a lattice over the map, row by row from the upper left corner.
#[derive(Default)]
pub(super) struct Fields {
    low: DVec2,
    /// Width and height of a cell.
    cell: DVec2,
    columns: usize,
    rows: usize,
    /// The covered part of the Sun's disc: at an instant, or the largest while the Sun is up.
    pub(super) obscuration: Vec<f64>,
    /// Above 0 where the eclipse is seen. At an instant, it is the altitude of the Sun; otherwise the highest of those at the first contact, at
    /// the maximum and at the last contact, or 90 times the magnitude if that is less.
    pub(super) visible: Vec<f64>,
    /// Of the maximum, also with the Sun down: the magnitude, negative where the shadow passes by. Empty for an instant.
    pub(super) magnitude: Vec<f64>,
    /// Of the largest eclipse while the Sun is up: the magnitude, and the instant in seconds from the greatest eclipse. Empty for an instant.
    pub(super) seen_magnitude: Vec<f64>,
    pub(super) seconds: Vec<f64>,
    /// Altitude of the Sun in degrees at the first contact, at the maximum and at the last contact. Empty for an instant.
    pub(super) altitudes: [Vec<f64>; 3],
}

impl Fields {
    pub(super) fn new(eclipse: &SolarEclipse, projection: &Projection, at: Option<Time>) -> Self {
        let mut own = Self::over(projection.frame);
        let place = |node: usize| {
            let [longitude, latitude] = projection.place(own.at(node));
            Place { latitude, longitude, height_m: 0.0 }
        };
        let places: Vec<Place> = (0..own.columns * own.rows).map(place).collect();
        if at.is_some() {
            (own.obscuration, own.visible) = eclipse.obscurations(&places, at).into_iter().unzip();
            return own;
        }
        for local in eclipse.circumstances_of(&places) {
            let altitude = local.maximum.sun_altitude;
            let altitudes =
                [local.c1, Some(local.maximum), local.c4].map(|view| view.map_or(altitude, |v| v.sun_altitude));
            own.obscuration.push(local.visible.map_or(0.0, |view| view.obscuration));
            let magnitude_at = |time| magnitude(eclipse, &local.place, time);
            let magnitude = magnitude_at(local.maximum.time);
            own.visible.push(altitudes.into_iter().fold(f64::NEG_INFINITY, f64::max).min(90.0 * magnitude));
            own.magnitude.push(magnitude);
            let (seen, seen_magnitude) = match local.visible {
                Some(view) => (view, magnitude_at(view.time)),
                // Without a jump at the border, where the Sun is at the horizon at the first or the last contact.
                None => {
                    let contact = if altitudes[0] > altitudes[2] { local.c1 } else { local.c4 };
                    (contact.unwrap_or(local.maximum), magnitude.min(0.0))
                }
            };
            own.seen_magnitude.push(seen_magnitude);
            own.seconds.push(seen.time.seconds_since(eclipse.greatest.time));
            own.altitudes.iter_mut().zip(altitudes).for_each(|(list, altitude)| list.push(altitude));
        }
        own
    }

    /// A lattice over a rectangle of the picture, without values.
    fn over(frame: Frame) -> Self {
        let size = frame.high - frame.low;
        let cells = (CELLS * size / size.max_element()).ceil();
        let [columns, rows] = cells.to_array().map(|cells| cells as usize + 1);
        Self { low: frame.low, cell: size / cells, columns, rows, ..Self::default() }
    }

    /// The position of a node.
    fn at(&self, node: usize) -> DVec2 {
        self.low + self.cell * DVec2::new((node % self.columns) as f64, (node / self.columns) as f64)
    }

    /// The lines on which a field has a value, where `mask` is above 0. They end at the outermost nodes.
    pub(super) fn isolines(&self, field: &[f64], level: f64, mask: &[f64]) -> Vec<Vec<DVec2>> {
        let whole = Frame::new(self.low, self.at(self.columns * self.rows - 1));
        // The crate has the first node at (0.5, 0.5), and closes lines half a cell beyond the outermost nodes.
        let rings = ContourBuilder::new(self.columns, self.rows, true).lines(field, &[level]).unwrap_or_default();
        let mut lines = Vec::new();
        for ring in rings.iter().flat_map(|line| &line.geometry().0) {
            let at = |point: &contour::Pt| self.low + self.cell * (DVec2::new(point.x, point.y) - 0.5);
            let mut ring: Vec<DVec2> = ring.coords().map(at).collect();
            // A line that is cut begins at a cut.
            let mask = |at: DVec2| self.sampled(mask, at);
            if let Some(cut) = ring.iter().position(|at| mask(*at) <= 0.0 || !whole.contains(*at)) {
                ring.pop();
                ring.rotate_left(cut);
                ring.push(ring[0]);
            }
            lines.extend(above_zero(&ring, mask).iter().flat_map(|line| whole.clipped(line)));
        }
        lines
    }

    /// The value of a field at a position: bilinear between nodes.
    fn sampled(&self, field: &[f64], at: DVec2) -> f64 {
        let last = DVec2::new(self.columns as f64, self.rows as f64) - 1.0;
        let at = ((at - self.low) / self.cell).clamp(DVec2::ZERO, last);
        let first = at.floor().min(last - 1.0);
        let (part, node) = (at - first, first.y as usize * self.columns + first.x as usize);
        let along = |node: usize| field[node] + part.x * (field[node + 1] - field[node]);
        along(node) + part.y * (along(node + self.columns) - along(node))
    }
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
        let middle = DVec2::new(191.0, 152.0);
        let mut fields = Fields::over(Frame::new(DVec2::new(20.0, 30.0), DVec2::new(420.0, 330.0)));
        let places: Vec<DVec2> = (0..fields.columns * fields.rows).map(|node| fields.at(node)).collect();
        assert_eq!(places.last(), Some(&DVec2::new(420.0, 330.0)));
        let off = |at: DVec2| at.distance(middle);
        fields.obscuration = places.iter().map(|at| 1.0 - off(*at) / 200.0).collect();
        let everywhere = vec![1.0; places.len()];
        // A closed line, and one that leaves the lattice twice, through its upper and its left side.
        for (radius, count, is_closed) in [(80.0, 1, true), (171.5, 2, false)] {
            let lines = fields.isolines(&fields.obscuration, 1.0 - radius / 200.0, &everywhere);
            assert_eq!(lines.len(), count, "{radius}");
            for line in &lines {
                assert!(line.iter().all(|at| (off(*at) - radius).abs() < 0.01), "{radius}");
                assert_eq!(line.first() == line.last(), is_closed);
            }
        }
        // A mask cuts the line where it changes its sign.
        let mask: Vec<f64> = places.iter().map(|at| at.y - middle.y).collect();
        let half = fields.isolines(&fields.obscuration, 0.6, &mask);
        assert_eq!(half.len(), 1);
        assert!(half[0].iter().all(|at| at.y >= middle.y - 1e-9));
        let length: f64 = half[0].windows(2).map(|pair| pair[0].distance(pair[1])).sum();
        assert!((length - 80.0 * std::f64::consts::PI).abs() < 0.1, "{length}");
    }
}
