//! Map projections: from places to positions in the picture, and back.
//!
//! The formulas of the orthographic and of the stereographic projection are those of the sphere (Snyder, Map Projections – A Working Manual,
//! 1987, chapters 20 and 21), with geodetic latitudes.

use umbracast::glam::{DVec2, DVec3};

use crate::drawing::Frame;

/// Radius of the Earth in km, for scale bars.
const EARTH_KM: f64 = 6371.0;

/// The kinds of projections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Equirectangular,
    Orthographic,
    Stereographic,
}

/// A projection onto a plane, and the part of the plane that a picture shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Projection {
    pub(super) kind: Kind,
    /// Longitude and latitude of the centre in degrees.
    center: [f64; 2],
    /// East, north and up at the centre.
    axes: [DVec3; 3],
    /// Corners of the part that is shown: in degrees for the equirectangular projection, otherwise in radii of the Earth. y points down.
    plane: Frame,
    /// Where the part is in the picture.
    pub(super) frame: Frame,
}

impl Projection {
    /// A projection that shows a region: west, south, east and north in degrees. `center` is that of an orthographic map of the whole Earth.
    pub(super) fn new(kind: Kind, region: [f64; 4], center: [f64; 2]) -> Self {
        let [west, south, east, north] = region;
        let is_whole = east - west >= 360.0;
        let middle = [0.5 * (west + east), 0.5 * (south + north)];
        let center = match kind {
            Kind::Equirectangular => middle,
            Kind::Orthographic if is_whole => center,
            // A region around a pole is drawn about the pole, and so is one that reaches it.
            _ if is_whole || north > 89.0 || south < -89.0 => {
                [if is_whole { 0.0 } else { middle[0] }, 90_f64.copysign(middle[1])]
            }
            _ => middle,
        };
        let [(sl, cl), (sp, cp)] = center.map(|degrees| degrees.to_radians().sin_cos());
        let axes = [DVec3::new(-sl, cl, 0.0), DVec3::new(-sp * cl, -sp * sl, cp), DVec3::new(cp * cl, cp * sl, sp)];
        let plane = Frame::new(DVec2::new(west, -north), DVec2::new(east, -south));
        let mut own = Self { kind, center, axes, plane, frame: plane };
        if kind != Kind::Equirectangular {
            const STEPS: u32 = 90;
            let along = |low: f64, high: f64, i: u32| low + (high - low) * f64::from(i) / f64::from(STEPS);
            let all =
                (0..=STEPS).flat_map(|i| (0..=STEPS).map(move |k| [along(west, east, i), along(south, north, k)]));
            let points = all.filter_map(|place| own.flat(place));
            let none = Frame::new(DVec2::INFINITY, DVec2::NEG_INFINITY);
            own.plane = points.fold(none, |all, at| Frame::new(all.low.min(at), all.high.max(at)));
            // The limb of a globe lies between the points, and needs a margin for its line.
            if kind == Kind::Orthographic && is_whole {
                own.plane = Frame::new(DVec2::splat(-1.005), DVec2::splat(1.005));
            }
        }
        own
    }

    /// Width by height of the region, without distortion at its middle.
    pub(super) fn aspect(&self) -> f64 {
        let size = self.plane.high - self.plane.low;
        let is_region = self.kind == Kind::Equirectangular && size.x < 360.0;
        let shortened = if is_region { self.center[1].to_radians().cos().max(0.1) } else { 1.0 };
        size.x * shortened / size.y
    }

    /// Puts the region into a rectangle of the picture. Without distortion, the rectangle shows more than the region where its sides differ.
    pub(super) fn fit(self, frame: Frame) -> Self {
        let (size, room) = (self.plane.high - self.plane.low, frame.high - frame.low);
        let mut plane = self.plane;
        if self.kind != Kind::Equirectangular {
            let half = 0.5 * room * (size / room).max_element();
            let middle = 0.5 * (plane.low + plane.high);
            plane = Frame::new(middle - half, middle + half);
        }
        Self { plane, frame, ..self }
    }

    /// Position in the plane; `None` for a place on the far side.
    fn flat(&self, [longitude, latitude]: [f64; 2]) -> Option<DVec2> {
        if self.kind == Kind::Equirectangular {
            return Some(DVec2::new(longitude, -latitude));
        }
        let ((sl, cl), (sp, cp)) = (longitude.to_radians().sin_cos(), latitude.to_radians().sin_cos());
        let [x, y, z] = self.axes.map(|axis| axis.dot(DVec3::new(cp * cl, cp * sl, sp)));
        match self.kind {
            Kind::Stereographic => (z > -0.8).then(|| DVec2::new(x, -y) * 2.0 / (1.0 + z)),
            _ => (z >= 0.0).then(|| DVec2::new(x, -y)),
        }
    }

    /// Position of a place in the picture. Longitudes of an equirectangular map are not wrapped.
    pub(super) fn position(&self, place: [f64; 2]) -> Option<DVec2> {
        let part = (self.flat(place)? - self.plane.low) / (self.plane.high - self.plane.low);
        Some(self.frame.low + part * (self.frame.high - self.frame.low))
    }

    /// Longitude and latitude at a position in the picture; `None` off the globe.
    pub(super) fn place(&self, at: DVec2) -> Option<[f64; 2]> {
        let part = (at - self.frame.low) / (self.frame.high - self.frame.low);
        let flat = (self.plane.low + part * (self.plane.high - self.plane.low)) * DVec2::new(1.0, -1.0);
        let square = flat.length_squared();
        let (flat, up) = match self.kind {
            Kind::Equirectangular => return Some(flat.to_array()),
            Kind::Orthographic if square > 1.0 => return None,
            Kind::Orthographic => (flat, (1.0 - square).sqrt()),
            Kind::Stereographic => (flat * 4.0 / (4.0 + square), (4.0 - square) / (4.0 + square)),
        };
        let [east, north, above] = self.axes;
        let point = flat.x * east + flat.y * north + up * above;
        Some([point.y.atan2(point.x).to_degrees(), point.z.clamp(-1.0, 1.0).asin().to_degrees()])
    }

    /// West, south, east and north of what the picture shows, at most one turn wide.
    pub(super) fn shown(&self) -> [f64; 4] {
        let (low, high) = (self.frame.low, self.frame.high);
        if self.kind == Kind::Equirectangular {
            return [self.plane.low.x, -self.plane.high.y, self.plane.high.x, -self.plane.low.y];
        }
        const STEPS: i32 = 60;
        let all = (0..=STEPS).flat_map(|i| (0..=STEPS).map(move |k| DVec2::new(f64::from(i), f64::from(k))));
        let places = all.filter_map(|part| self.place(low + (high - low) * part / f64::from(STEPS)));
        let turned = |longitude: f64| (longitude - self.center[0] + 180.0).rem_euclid(360.0) - 180.0;
        let mut shown = [180.0_f64, 90.0_f64, -180.0_f64, -90.0_f64];
        for [x, y] in places {
            shown = [shown[0].min(turned(x)), shown[1].min(y), shown[2].max(turned(x)), shown[3].max(y)];
        }
        let has = |latitude: f64| self.position([0.0, latitude]).is_some_and(|at| self.frame.contains(at));
        let (south, north) = (has(-90.0), has(90.0));
        // A margin of a step of the lattice.
        let margin = (shown[3] - shown[1]) / f64::from(STEPS);
        let south_edge = if south { -90.0 } else { (shown[1] - margin).max(-90.0) };
        let north_edge = if north { 90.0 } else { (shown[3] + margin).min(90.0) };
        let is_round = south || north || shown[2] - shown[0] > 300.0;
        let half = if is_round { 180.0 } else { shown[2].max(-shown[0]) + margin };
        [self.center[0] - half, south_edge, self.center[0] + half, north_edge]
    }

    /// Lines of places as lines of the picture: repeated every 360° as far as an equirectangular map shows them, and broken at the far side
    /// of a globe.
    pub(super) fn lines(&self, lines: &[Vec<[f64; 2]>]) -> Vec<Vec<DVec2>> {
        let mut out = Vec::new();
        for line in lines {
            if self.kind != Kind::Equirectangular {
                for part in line.split(|place| self.flat(*place).is_none()) {
                    out.push(part.iter().filter_map(|place| self.position(*place)).collect());
                }
                continue;
            }
            let low = line.iter().map(|p| p[0]).fold(f64::INFINITY, f64::min);
            let high = line.iter().map(|p| p[0]).fold(f64::NEG_INFINITY, f64::max);
            for shift in (-3..=3).map(|turn| 360.0 * f64::from(turn)) {
                if low + shift <= self.plane.high.x && high + shift >= self.plane.low.x {
                    out.push(line.iter().filter_map(|p| self.position([p[0] + shift, p[1]])).collect());
                }
            }
        }
        out
    }

    /// A place wherever the picture shows it.
    pub(super) fn positions(&self, place: [f64; 2]) -> Vec<DVec2> {
        self.lines(&[vec![place]]).into_iter().flatten().filter(|at| self.frame.contains(*at)).collect()
    }

    /// Kilometres per pixel at the middle of the picture, from west to east, and the latitude there.
    pub(super) fn scale(&self) -> (f64, f64) {
        let middle = 0.5 * (self.frame.low + self.frame.high);
        let latitude = self.place(middle).map_or(0.0, |place| place[1]);
        let unit = (self.plane.high.x - self.plane.low.x) / (self.frame.high.x - self.frame.low.x);
        match self.kind {
            Kind::Equirectangular => (EARTH_KM * unit.to_radians() * latitude.to_radians().cos(), latitude),
            _ => (EARTH_KM * unit, latitude),
        }
    }

    /// The outline of the globe, where the picture shows it.
    pub(super) fn limb(&self) -> Vec<DVec2> {
        if self.kind != Kind::Orthographic {
            return Vec::new();
        }
        let scale = (self.frame.high.x - self.frame.low.x) / (self.plane.high.x - self.plane.low.x);
        let middle = self.frame.low - self.plane.low * scale;
        (0..=360).map(|degree| middle + scale * DVec2::from_angle(f64::from(degree).to_radians())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_positions_are_inverse() {
        let frame = Frame::new(DVec2::new(50.0, 80.0), DVec2::new(1050.0, 880.0));
        for (kind, region) in [
            (Kind::Equirectangular, [-30.0, 10.0, 60.0, 70.0]),
            (Kind::Orthographic, [-180.0, -90.0, 180.0, 90.0]),
            (Kind::Stereographic, [-180.0, -90.0, 180.0, -40.0]),
            (Kind::Stereographic, [20.0, 60.0, 60.0, 80.0]),
        ] {
            let projection = Projection::new(kind, region, [25.0, 40.0]).fit(frame);
            let inner = [DVec2::new(550.0, 480.0), DVec2::new(612.0, 301.0), DVec2::new(430.0, 700.0)];
            assert!(inner.iter().all(|at| projection.place(*at).is_some()));
            // Corners of the picture may be off the globe.
            let corners = [(51.0, 81.0), (1049.0, 81.0), (51.0, 879.0), (1049.0, 879.0)];
            for at in inner.into_iter().chain(corners.map(|(x, y)| DVec2::new(x, y))) {
                let Some(place) = projection.place(at) else { continue };
                assert!(projection.position(place).unwrap().distance(at) < 1e-6, "{kind:?} {at}");
                let [west, south, east, north] = projection.shown();
                let longitude = (place[0] - west).rem_euclid(360.0) + west;
                assert!(longitude <= east && (south..=north).contains(&place[1]), "{kind:?} {place:?}");
            }
        }
        // The whole of a polar region is in the picture: its edge touches the frame.
        let polar = Projection::new(Kind::Stereographic, [-180.0, -90.0, 180.0, -40.0], [0.0; 2]).fit(frame);
        let edge = polar.position([0.0, -40.0]).unwrap();
        assert!((edge - DVec2::new(550.0, 80.0)).length() < 1e-6, "{edge}");
        // A place on the far side of a globe has no position.
        let globe = Projection::new(Kind::Orthographic, [-180.0, -90.0, 180.0, 90.0], [25.0, 40.0]).fit(frame);
        assert_eq!((globe.position([205.0, -40.0]), globe.place(frame.low)), (None, None));
    }
}
