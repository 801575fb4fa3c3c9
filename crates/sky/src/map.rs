//! Maps of obscuration: the covered part of the Sun's disc on a grid of longitudes and latitudes.
//!
//! The instant of maximum varies smoothly from place to place. It is computed at every nth point and interpolated; an error of a second moves
//! the Moon by half an arcsecond along its path, which changes the maximum by less than 10⁻⁴. So each point of the map needs one position.
//! Where the Sun is below the horizon at the maximum, the largest obscuration is at sunrise or sunset.

use rayon::prelude::*;

use crate::error::Result;
use crate::error::usage;
use crate::motion::{HALF_SPAN, Observer};
use crate::places::Place;
use crate::roots;
use crate::solar::SolarEclipse;
use crate::time::Time;

/// Largest width and height of a grid.
const MAX_SIDE: u32 = 16_384;
/// Largest number of points of a grid.
const MAX_POINTS: u64 = 1 << 26;
/// Intervals between the points along the longer side at which instants of maximum are computed: two degrees each on a map of the Earth.
const COARSE: f64 = 180.0;

/// A grid of places: the centres of equal cells of a rectangle in longitude and latitude, row by row from the north-west corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapGrid {
    /// West, south, east and north in degrees.
    region: [f64; 4],
    /// Number of columns and rows.
    size: [u32; 2],
}

impl MapGrid {
    /// The whole Earth, from longitude −180° to 180°.
    pub const EARTH: [f64; 4] = [-180.0, -90.0, 180.0, 90.0];

    /// A grid over a region: west, south, east and north in degrees. East must be at most 360° east of west.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a region that is empty or outside these limits, and for a size of 0,
    /// above 16,384 per side or above 67,108,864 points.
    pub fn new(region: [f64; 4], size: [u32; 2]) -> Result<Self> {
        let [west, south, east, north] = region;
        if !(-360.0..=360.0).contains(&west) || !(-360.0..=360.0).contains(&east) || west >= east || east - west > 360.0
        {
            return usage(format!(
                "region: west is {west} and east is {east}: they must be between -360 and 360 degrees, west less than east, and at most 360 apart"
            ));
        }
        if !(-90.0..=90.0).contains(&south) || !(-90.0..=90.0).contains(&north) || south >= north {
            return usage(format!(
                "region: south is {south} and north is {north}: they must be between -90 and 90 degrees, and south less than north"
            ));
        }
        let [width, height] = size;
        if width == 0 || height == 0 || width > MAX_SIDE || height > MAX_SIDE {
            return usage(format!("size is {width}x{height}: width and height must be between 1 and {MAX_SIDE}"));
        }
        if u64::from(width) * u64::from(height) > MAX_POINTS {
            return usage(format!("size is {width}x{height}: at most {MAX_POINTS} points are allowed"));
        }
        Ok(Self { region, size })
    }

    /// West, south, east and north in degrees.
    pub fn region(&self) -> [f64; 4] {
        self.region
    }

    /// Number of columns and rows.
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Longitude and latitude, in degrees, of a point given in columns from the west and rows from the north. The centre of the first cell
    /// is at (0.5, 0.5).
    pub fn degrees(&self, column: f64, row: f64) -> [f64; 2] {
        let [west, south, east, north] = self.region;
        let [width, height] = self.size.map(f64::from);
        [west + (east - west) * column / width, north - (north - south) * row / height]
    }

    /// The inverse of [`degrees`](Self::degrees). The longitude is not wrapped.
    pub fn cell(&self, longitude: f64, latitude: f64) -> [f64; 2] {
        let [west, south, east, north] = self.region;
        let [width, height] = self.size.map(f64::from);
        [(longitude - west) / (east - west) * width, (north - latitude) / (north - south) * height]
    }
}

impl SolarEclipse {
    /// The covered part of the Sun's disc, by solid angle, at the points of a grid at sea level: at an instant, or the maximum over the
    /// eclipse. Row by row from the north-west. It is 0 where the centre of the Sun is below the horizon; the maximum is that of the time
    /// when it is above. Refraction is ignored.
    ///
    /// The maximum agrees with [`circumstances`](Self::circumstances) to 0.0005.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for an instant more than 4 hours from the eclipse, where positions are not
    /// known; [`OutOfMemory`](umbracast::Error::OutOfMemory).
    pub fn obscuration_map(&self, grid: &MapGrid, at: Option<Time>) -> Result<Vec<f32>> {
        self.obscuration_picture(grid.size, at, |column, row| grid.degrees(column, row))
    }

    /// As [`obscuration_map`](Self::obscuration_map), for the pixels of a picture in any projection. `place` has the longitude and the
    /// latitude, in degrees, of a position in pixels from the upper left corner; the middle of the first pixel is (0.5, 0.5). It is also
    /// asked for positions up to a 90th of the longer side beyond the picture.
    ///
    /// # Errors
    /// As `obscuration_map`, and for a size that [`MapGrid::new`] refuses.
    pub fn obscuration_picture(
        &self,
        size: [u32; 2],
        at: Option<Time>,
        place: impl Fn(f64, f64) -> [f64; 2] + Sync,
    ) -> Result<Vec<f32>> {
        MapGrid::new(MapGrid::EARTH, size)?;
        if let Some(time) = at {
            let seconds = time.seconds_since(self.greatest.time);
            if !(-REACH..=REACH).contains(&seconds) {
                let hours = seconds / 3600.0;
                return usage(format!(
                    "the instant is {hours:.1} hours from the greatest eclipse: at most 4 are allowed"
                ));
            }
        }
        let [width, height] = size.map(|side| side as usize);
        umbracast::memory::check("a map", (width * height * size_of::<f32>()) as u64)?;
        let place = |column: f64, row: f64| {
            let [longitude, latitude] = place(column, row);
            Place { latitude: latitude.clamp(-90.0, 90.0), longitude, height_m: 0.0 }
        };
        let mut values = vec![0.0_f32; width * height];
        let times = if at.is_none() { Some(CoarseTimes::new(self, [width, height], &place)) } else { None };
        values.par_chunks_mut(width).enumerate().for_each(|(row, values)| {
            for (column, value) in values.iter_mut().enumerate() {
                let (x, y) = (column as f64 + 0.5, row as f64 + 0.5);
                *value = match (&times, at) {
                    (None, Some(time)) => visible(self.obscuration(&place(x, y), time)),
                    (Some(times), _) => self.largest(&place(x, y), times.at(x, y)),
                    _ => 0.0,
                } as f32;
            }
        });
        Ok(values)
    }

    /// The largest obscuration while the Sun is up. `seconds` is the instant of maximum, from the greatest eclipse.
    fn largest(&self, place: &Place, seconds: f64) -> f64 {
        let time = self.greatest.time.plus(seconds);
        let (obscuration, sine_altitude) = self.obscuration(place, time);
        if sine_altitude >= 0.0 {
            return obscuration;
        }
        // The Sun may be up within the eclipse only if it is this low.
        if obscuration <= 0.0 || sine_altitude < -0.55 {
            return 0.0;
        }
        let observer = Observer::from(place);
        let middle = self.seconds(time);
        [-LONGEST, LONGEST].into_iter().fold(0.0, |most, later| {
            let end = (seconds + later).clamp(-REACH, REACH) - seconds + middle;
            let crossing = self.horizon(&observer, middle, end);
            crossing.map_or(most, |then| most.max(self.local().obscuration(then, &observer).0))
        })
    }

    /// When the Sun crosses the horizon between `night`, when it is below it, and `end`, in seconds of the motion. Near a pole, its declination
    /// moves it as much as the turn of the Earth.
    fn horizon(&self, observer: &Observer, night: f64, end: f64) -> Option<f64> {
        let altitude = |t: f64| self.motion.seen(t, observer).sun_sine_altitude();
        // The Sun is up at the end, or for a short time before, if it culminates there.
        let step = (end - night) / 16.0;
        let rises = |t: f64| altitude(t + step) > altitude(t);
        let day = if altitude(end) >= 0.0 {
            end
        } else if rises(night) && !rises(end - step) {
            roots::minimum(|t| -altitude(t), 0.5 * (night + end), 4.0 * step.abs())
        } else {
            return None;
        };
        (altitude(day) >= 0.0).then(|| roots::root(altitude, night, day, 0.1))
    }
}

/// A little more than half of the longest partial eclipse at a place, in seconds, in which the Sun's altitude changes by 33°.
const LONGEST: f64 = 7800.0;
/// Largest distance of an instant from the greatest eclipse, in seconds: a little less than that of the positions.
const REACH: f64 = HALF_SPAN - 600.0;

fn visible((obscuration, sine_altitude): (f64, f64)) -> f64 {
    if sine_altitude >= 0.0 { obscuration } else { 0.0 }
}

/// Instants of maximum at every nth position of a picture, in seconds from the greatest eclipse.
struct CoarseTimes {
    step: f64,
    columns: usize,
    seconds: Vec<f64>,
}

impl CoarseTimes {
    fn new(eclipse: &SolarEclipse, size: [usize; 2], place: &(impl Fn(f64, f64) -> Place + Sync)) -> Self {
        let step = size[0].max(size[1]) as f64 / COARSE;
        let [columns, rows] = size.map(|side| (side as f64 / step).ceil() as usize + 2);
        let one = |i: usize| place((i % columns) as f64 * step, (i / columns) as f64 * step);
        let nodes = (0..columns * rows).into_par_iter().with_min_len(64);
        Self { step, columns, seconds: nodes.map(|i| eclipse.local_maximum(&one(i)).seconds).collect() }
    }

    fn at(&self, column: f64, row: f64) -> f64 {
        let (x, y) = (column / self.step, row / self.step);
        let (f, g) = (x.fract(), y.fract());
        let first = y as usize * self.columns + x as usize;
        let value = |offset: usize| self.seconds[(first + offset).min(self.seconds.len() - 1)];
        let upper = value(0) * (1.0 - f) + value(1) * f;
        let lower = value(self.columns) * (1.0 - f) + value(self.columns + 1) * f;
        upper * (1.0 - g) + lower * g
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_and_degrees_are_inverse() {
        let grid = MapGrid::new([-20.0, 30.0, 40.0, 70.0], [600, 200]).unwrap();
        assert_eq!(grid.degrees(0.0, 0.0), [-20.0, 70.0]);
        assert_eq!(grid.degrees(600.0, 200.0), [40.0, 30.0]);
        let [x, y] = grid.cell(10.0, 50.0);
        assert!((x - 300.0).abs() < 1e-9 && (y - 100.0).abs() < 1e-9);
    }
}
