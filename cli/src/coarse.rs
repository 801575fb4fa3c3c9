//! Warnings if rounding to f32 changes the input too much, with advice about `--origin`.

use std::path::Path;

use umbracast::Sphere;
use umbracast::glam::DVec3;
use umbracast_files::{Height, Heights, Rounding, is_pipe};

use super::args::Origin;

/// A change larger than this fraction of the smallest radius can change results.
const SHARE: f64 = 1e-3;

/// What is near a surface if rays are cast.
pub(crate) const RAY: &str = "the start of a ray";

/// The same if bullets are shot.
pub(crate) const BULLET: &str = "the start of a bullet";

/// The input of a command, after rounding.
pub(crate) struct Rounded<'a> {
    pub(crate) rounding: Rounding,
    pub(crate) heights: &'a Heights,
    /// What is near a surface, for messages: the start of a ray, a point or the start of a bullet.
    pub(crate) what: &'static str,
    /// `--origin`, and the point that was subtracted.
    pub(crate) origin: (Option<Origin>, Option<DVec3>),
    /// The files of spheres and of rays, if they are from files.
    pub(crate) files: &'a [&'a Path],
}

impl Rounded<'_> {
    /// Returns a warning if rounding to f32 changes positions, radii, or ends, times and velocities by too much for these spheres, or the
    /// distances of starts from the nearest surface. An origin improves only positions. Directions are not checked: their accuracy is
    /// relative to their longest component.
    pub(crate) fn warning(&self, spheres: &[Sphere]) -> Option<String> {
        let rounding = &self.rounding;
        let smallest = spheres.iter().map(|sphere| sphere.radius).filter(|r| *r > 0.0).fold(f32::INFINITY, f32::min);
        let most = SHARE * f64::from(smallest);
        let said = |what: &str, by: f64, then: &str| {
            format!(
                "warning: rounding to f32 changed {what} by up to {by:.1e}; the smallest radius is {smallest:.1e}{then}"
            )
        };
        let coarse: Vec<usize> = (0..3).filter(|&axis| rounding.positions[axis].by > most).collect();
        if !coarse.is_empty() {
            let by = rounding.positions.iter().map(|moved| moved.by).fold(0.0, f64::max);
            // A number half as large has one more bit after the binary point.
            let value = |axis: usize| rounding.positions[axis].value;
            let helps = |origin: DVec3, axis| (value(axis) - origin[axis]).abs() < 0.5 * value(axis).abs();
            return Some(said("positions", by, &self.advice(spheres, &coarse, helps)));
        }
        if rounding.radius > most {
            return Some(said("radii", rounding.radius, ""));
        }
        let (by, field) = rounding.travel;
        if by > most {
            return Some(said(&format!("values of {field}"), by, ""));
        }
        self.heights.coarse().map(|height| self.height_warning(&height, spheres))
    }

    fn height_warning(&self, height: &Height, spheres: &[Sphere]) -> String {
        let change = height.change();
        let mut advice = if height.radius > 0.5 * change {
            ": the radius has more digits than f32 keeps".into()
        } else {
            let coarse: Vec<usize> = height.axes().collect();
            self.advice(spheres, &coarse, |origin, axis| height.is_helped_by(origin, axis))
        };
        if height.distance <= change && self.what == RAY {
            advice += "; rays that start on a sphere need its id in the column from_id";
        }
        let (what, distance) = (self.what, height.distance);
        format!(
            "warning: rounding to f32 can move {what} by {change:.1e} relative to the nearest surface, which is \
             {distance:.1e} away{advice}"
        )
    }

    /// Advice for the axes along which coordinates are too coarse. `helps` returns whether an origin keeps more digits along an axis.
    fn advice(&self, spheres: &[Sphere], coarse: &[usize], helps: impl Fn(DVec3, usize) -> bool) -> String {
        let better = self.heights.origin(spheres);
        let helped: Vec<&str> =
            coarse.iter().filter(|axis| helps(better, **axis)).map(|axis| ["x", "y", "z"][*axis]).collect();
        let (asked, origin) = self.origin;
        let is_copied = matches!(asked, Some(Origin::Auto)) || self.files.iter().any(|path| is_pipe(path));
        // The origin in use is no advice.
        if helped.is_empty() || (is_copied && better == DVec3::ZERO) {
            return ": the coordinates are too far apart for f32, with any origin".into();
        }
        let origin = if is_copied {
            let [x, y, z] = (better + origin.unwrap_or_default()).to_array();
            format!("--origin {x},{y},{z}")
        } else {
            "--origin auto".into()
        };
        let only = if helped.len() == coarse.len() {
            String::new()
        } else {
            format!(", but only of {}", helped.join(" and "))
        };
        format!(": {origin} keeps more digits{only}")
    }
}
