//! Orthographic camera of a plot: from the upper left front, fitted to the rays and spheres.

use umbracast::Ray;
use umbracast::glam::{DVec2, DVec3};

use super::balls::LEAST;
use super::sample::{Beam, Mark};
use super::scenery::{Form, Scenery};

/// Size of the picture in pixels.
pub(super) const WIDTH: u32 = 1280;
pub(super) const HEIGHT: u32 = 960;

/// Margin around the scene in pixels, for the legend above and the numbers of the axes.
const MARGIN: DVec2 = DVec2::new(70.0, 90.0);

/// The middle of the picture in pixels.
const MIDDLE: DVec2 = DVec2::new(0.5 * WIDTH as f64, 0.5 * HEIGHT as f64);
/// Corners of the outline of a swept area.
const SIDES: u32 = 64;

/// An orthographic projection.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    right: DVec3,
    up: DVec3,
    pub(super) back: DVec3,
    /// The middle of the picture: to the right, up and towards the eye, in units of length.
    pub(super) center: DVec3,
    /// Pixels per unit of length.
    pub(super) scale: f64,
    /// Opposite corners of the box that is fitted into the picture, with sides along the axes of the scene.
    pub(super) bounds: [DVec3; 2],
}

impl View {
    /// Fits a box around the ends of the rays and the spheres into the picture. If all rays are in a small part of the scene (on a planet, say), only
    /// that part is shown. Ends far outside the scene are ignored, so these rays enter from the edge of the picture.
    pub(super) fn fit(scenery: &Scenery<'_>, sample: &[Beam]) -> Self {
        let (azimuth, elevation) = (-60.0_f64.to_radians(), 26.0_f64.to_radians());
        let back = DVec3::new(azimuth.cos() * elevation.cos(), azimuth.sin() * elevation.cos(), elevation.sin());
        let right = DVec3::Z.cross(back).normalize();
        let up = back.cross(right);
        let mut view = Self { right, up, back, center: DVec3::ZERO, scale: 1.0, bounds: [DVec3::NEG_ONE, DVec3::ONE] };

        let every = scenery.len().div_ceil(100_000).max(1);
        let times = scenery.span(sample).unwrap_or_default();
        let mut scene = Extent::default();
        for id in (0..scenery.len()).step_by(every) {
            for (center, form) in times.into_iter().filter_map(|time| scenery.at(id, time)) {
                let reach = form.reach();
                scene.add(center - reach);
                scene.add(center + reach);
            }
        }
        let (low, high) = scene.most();
        let size = (high - low).length();
        let mut rays = Extent::default();
        for Beam { ray, mark, .. } in sample {
            let ends = [Some(ray.t_min), mark_end(mark)].into_iter().flatten().filter(|t| t.is_finite());
            for point in ends.map(|t| along(ray, t)) {
                if scenery.len() == 0 || (point - 0.5 * (low + high)).length() <= 1.5 * size {
                    rays.add(point);
                }
            }
        }
        let (near, far) = rays.most();
        let extent = (far - near).length();
        let small = extent < 0.03 * size && extent > 0.0;
        view.bounds = match (scenery.len() == 0, rays.axes[0].is_empty()) {
            (true, true) => view.bounds,
            (true, false) => [near, far],
            (false, true) => [low, high],
            _ if small => [near - 0.25 * extent, far + 0.25 * extent],
            _ => [low.min(near), high.max(far)],
        };
        let [middle, half] = [0.5, -0.5].map(|sign| 0.5 * view.bounds[1] + sign * view.bounds[0]);
        view.center = view.turned(middle);
        // Each axis of the box adds its own extents in the picture.
        let size: DVec2 = DVec3::AXES.map(|axis| 2.0 * view.turned(axis * half).truncate().abs()).into_iter().sum();
        let scale = (2.0 * (MIDDLE - MARGIN) / size.max(DVec2::splat(f64::MIN_POSITIVE))).min_element();
        // A single point has no size, so it gets a fixed scale.
        view.scale = if scale.is_finite() && size != DVec2::ZERO { scale } else { 100.0 };
        view
    }

    /// A vector to the right, up and towards the eye.
    pub(super) fn turned(&self, vector: DVec3) -> DVec3 {
        DVec3::new(vector.dot(self.right), vector.dot(self.up), vector.dot(self.back))
    }

    /// The inverse of [`turned`](Self::turned).
    pub(super) fn point(&self, turned: DVec3) -> DVec3 {
        turned.x * self.right + turned.y * self.up + turned.z * self.back
    }

    /// Position of a point in the picture, in pixels from the upper left corner, with its depth towards the eye.
    pub(super) fn project(&self, point: DVec3) -> DVec3 {
        let at = (self.turned(point) - self.center).truncate() * self.scale;
        (MIDDLE + at * DVec2::new(1.0, -1.0)).extend(point.dot(self.back) * self.scale)
    }

    /// The point at a position in the picture, at a depth towards the eye in units of length.
    pub(super) fn point_at(&self, at: DVec2, depth: f64) -> DVec3 {
        self.point((self.center.truncate() + (at - MIDDLE) * DVec2::new(1.0, -1.0) / self.scale).extend(depth))
    }

    /// The outline of the area that a shape sweeps between two points, in pixels. It is convex.
    pub(super) fn swept(&self, from: DVec3, to: DVec3, form: &Form) -> Vec<DVec2> {
        let ends = [from, to].map(|at| self.project(at).truncate());
        let sides = (0..SIDES).map(|i| DVec2::from_angle(std::f64::consts::TAU * f64::from(i) / f64::from(SIDES)));
        sides
            .map(|side| {
                let edge = self.turned(form.farthest(self.right * side.x - self.up * side.y)).truncate();
                let edge = edge * DVec2::new(1.0, -1.0) * self.scale;
                let edge = if edge.dot(side) < LEAST { LEAST * side } else { edge };
                ends[usize::from(ends[1].dot(side) > ends[0].dot(side))] + edge
            })
            .collect()
    }
}

/// The point of a ray at `t`, in f64.
pub(super) fn along(ray: &Ray, t: f32) -> DVec3 {
    ray.origin.as_dvec3() + f64::from(t) * ray.direction.as_dvec3()
}

/// The `t` of a hit or pass, or the largest `t_exit`; `None` without one.
fn mark_end(mark: &Mark) -> Option<f32> {
    match *mark {
        Mark::Hit { t, .. } | Mark::Pass { t, .. } => Some(t),
        Mark::Inside(_) | Mark::Through(_) => mark.chords().iter().map(|chord| chord.t_exit).reduce(f32::max),
        Mark::Occluded | Mark::Miss => None,
    }
}

/// Bounds of points without a few outliers.
#[derive(Default)]
struct Extent {
    axes: [Vec<f64>; 3],
}

impl Extent {
    fn add(&mut self, point: DVec3) {
        if point.is_finite() {
            self.axes.iter_mut().zip(point.to_array()).for_each(|(list, x)| list.push(x));
        }
    }

    /// Bounds of all points if there are fewer than 200; otherwise, per axis, of the middle 99 %.
    fn most(&mut self) -> (DVec3, DVec3) {
        let spans = self.axes.each_mut().map(|list| {
            list.sort_by(f64::total_cmp);
            let spare = list.len() / 200;
            [list.get(spare).copied().unwrap_or(0.0), list.iter().rev().nth(spare).copied().unwrap_or(0.0)]
        });
        (DVec3::from_array(spans.map(|span| span[0])), DVec3::from_array(spans.map(|span| span[1])))
    }
}
