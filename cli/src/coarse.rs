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
        let coarse = (0..3).filter(|&axis| rounding.positions[axis].by > most);
        let coarse: Vec<(usize, f64)> = coarse.map(|axis| (axis, rounding.positions[axis].value)).collect();
        if !coarse.is_empty() {
            let by = rounding.positions.iter().map(|moved| moved.by).fold(0.0, f64::max);
            return Some(said("positions", by, &self.advice(spheres, &coarse).unwrap_or_else(too_far)));
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
        let coarse: Vec<(usize, f64)> = height.axes().map(|axis| (axis, f64::from(height.start[axis]))).collect();
        let mut advice = match self.advice(spheres, &coarse) {
            _ if height.radius > 0.5 * change => ": the radius has more digits than f32 keeps".into(),
            advice => advice.unwrap_or_else(too_far),
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

    /// Advice for coordinates that are too coarse, with their axes. Another origin helps along an axis if it halves the magnitude of the
    /// coordinate. `None` if none helps.
    fn advice(&self, spheres: &[Sphere], coarse: &[(usize, f64)]) -> Option<String> {
        let better = self.heights.origin(spheres);
        // A number half as large has one more bit after the binary point.
        let helps = |(axis, value): &(usize, f64)| (value - better[*axis]).abs() < 0.5 * value.abs();
        let helped: Vec<&str> =
            coarse.iter().filter(|one| helps(one)).map(|(axis, _)| ["x", "y", "z"][*axis]).collect();
        if helped.is_empty() {
            return None;
        }
        let (asked, origin) = self.origin;
        let origin = if matches!(asked, Some(Origin::Auto)) || self.files.iter().any(|path| is_pipe(path)) {
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
        Some(format!(": {origin} keeps more digits{only}"))
    }
}

fn too_far() -> String {
    ": the coordinates are too far apart for f32, with any origin".into()
}
