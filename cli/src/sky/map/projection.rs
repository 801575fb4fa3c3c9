//! Map projections: from places to positions in the picture, and back.
//!
//! The formulas of the orthographic and of the stereographic projection are those of the sphere (Snyder, Map Projections – A Working Manual,
//! 1987, chapters 20 and 21), with geodetic latitudes.

use umbracast::glam::{DVec2, DVec3};

use crate::drawing::Frame;

/// Radius of the Earth in km, for scale bars.
const EARTH_KM: f64 = 6371.0;

/// A line of places: longitude and latitude in degrees.
pub(super) type Places = Vec<[f64; 2]>;

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

    /// The point of the plane at a position in the picture.
    fn plane_point(&self, at: DVec2) -> DVec2 {
        let part = (at - self.frame.low) / (self.frame.high - self.frame.low);
        self.plane.low + part * (self.plane.high - self.plane.low)
    }

    /// How far a position in the picture lies within the limb, as a part of the globe's radius: negative off the globe.
    pub(super) fn within_limb(&self, at: DVec2) -> f64 {
        if self.kind == Kind::Orthographic { 1.0 - self.plane_point(at).length() } else { 1.0 }
    }

    /// Longitude and latitude at a position in the picture; off the globe, those of the nearest point of the limb.
    pub(super) fn place(&self, at: DVec2) -> [f64; 2] {
        let flat = self.plane_point(at) * DVec2::new(1.0, -1.0);
        let square = flat.length_squared();
        let (flat, up) = match self.kind {
            Kind::Equirectangular => return flat.to_array(),
            Kind::Orthographic => (flat.clamp_length_max(1.0), (1.0 - square).max(0.0).sqrt()),
            Kind::Stereographic => (flat * 4.0 / (4.0 + square), (4.0 - square) / (4.0 + square)),
        };
        let [east, north, above] = self.axes;
        let point = flat.x * east + flat.y * north + up * above;
        [point.y.atan2(point.x).to_degrees(), point.z.clamp(-1.0, 1.0).asin().to_degrees()]
    }

    /// Lines of places as lines of the picture: repeated every 360° as far as an equirectangular map shows them, and broken at the far side
    /// of a globe.
    pub(super) fn lines(&self, lines: &[Places]) -> Vec<Vec<DVec2>> {
        let mut out = Vec::new();
        for line in lines {
            if self.kind != Kind::Equirectangular {
                for part in line.split(|place| self.flat(*place).is_none()) {
                    out.push(part.iter().filter_map(|place| self.position(*place)).collect());
                }
                continue;
            }
            // Longitudes continue beyond ±180°.
            let mut line = line.clone();
            for i in 1..line.len() {
                line[i][0] += 360.0 * ((line[i - 1][0] - line[i][0]) / 360.0).round();
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
        let latitude = self.place(middle)[1];
        let unit = (self.plane.high.x - self.plane.low.x) / (self.frame.high.x - self.frame.low.x);
        let radii = match self.kind {
            Kind::Equirectangular => unit.to_radians() * latitude.to_radians().cos(),
            Kind::Orthographic => unit,
            Kind::Stereographic => unit * 4.0 / (4.0 + self.plane_point(middle).length_squared()),
        };
        (EARTH_KM * radii, latitude)
    }

    /// Width and height of the map in degrees, by its scale at the middle; at most those of the Earth.
    pub(super) fn extent(&self) -> [f64; 2] {
        let (km, latitude) = self.scale();
        let size = (self.frame.high - self.frame.low) * km / EARTH_KM;
        let [width, height] = size.to_array().map(|size| match self.kind {
            Kind::Orthographic => 2.0 * (0.5 * size).min(1.0).asin().to_degrees(),
            _ => size.to_degrees(),
        });
        [(width / latitude.to_radians().cos()).min(360.0), height.min(180.0)]
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
            // About the pole, which is not in the middle of the picture.
            (Kind::Stereographic, [-40.0, 20.0, 40.0, 90.0]),
        ] {
            let projection = Projection::new(kind, region, [25.0, 40.0]).fit(frame);
            let middle = DVec2::new(550.0, 480.0);
            let directions = [-0.5, 0.5].map(|pixels| {
                let [longitude, latitude] = projection.place(middle + DVec2::new(pixels, 0.0)).map(f64::to_radians);
                DVec2::from_angle(longitude).extend(latitude.tan()).normalize()
            });
            let km = EARTH_KM * directions[0].distance(directions[1]);
            assert!(
                (projection.scale().0 / km - 1.0).abs() < 1e-4,
                "{kind:?} {region:?}: {km} {:?}",
                projection.scale()
            );
            let inner = [middle, DVec2::new(612.0, 301.0), DVec2::new(430.0, 700.0)];
            // Corners of the picture may be off the globe.
            let corners = [(51.0, 81.0), (1049.0, 81.0), (51.0, 879.0), (1049.0, 879.0)];
            for at in inner.into_iter().chain(corners.map(|(x, y)| DVec2::new(x, y))) {
                if projection.within_limb(at) > 0.0 {
                    assert!(projection.position(projection.place(at)).unwrap().distance(at) < 1e-6, "{kind:?} {at}");
                } else {
                    assert!(kind == Kind::Orthographic && !inner.contains(&at), "{kind:?} {at}");
                }
            }
        }
        // The whole of a polar region is in the picture: its edge touches the frame.
        let polar = Projection::new(Kind::Stereographic, [-180.0, -90.0, 180.0, -40.0], [0.0; 2]).fit(frame);
        let edge = polar.position([0.0, -40.0]).unwrap();
        assert!((edge - DVec2::new(550.0, 80.0)).length() < 1e-6, "{edge}");
        // A place on the far side of a globe has no position.
        let globe = Projection::new(Kind::Orthographic, [-180.0, -90.0, 180.0, 90.0], [25.0, 40.0]).fit(frame);
        assert_eq!(globe.position([205.0, -40.0]), None);
        // A position off the globe has the place of the limb next to it.
        let limb = globe.position(globe.place(frame.low)).unwrap();
        assert!(globe.within_limb(frame.low) < -0.1 && globe.within_limb(limb).abs() < 1e-9, "{limb}");
        let middle = 0.5 * (frame.low + frame.high);
        assert!((limb - middle).angle_to(frame.low - middle).abs() < 1e-6, "{limb}");
    }
}
