//! Orthographic camera of a plot: from the upper left front, fitted to the rays and spheres.

use umbracast::Ray;
use umbracast::glam::{DMat3, DVec2, DVec3};

use super::body::Body;
use super::canvas::{HEIGHT, WIDTH};
use super::sample::{Beam, Mark};
use super::scenery::{Form, Scenery};

/// Margin around the scene in pixels, for the legend above and the scale below.
const MARGIN: DVec2 = DVec2::new(70.0, 90.0);

/// An orthographic projection.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    right: DVec3,
    up: DVec3,
    back: DVec3,
    center: DVec2,
    /// Pixels per unit of length.
    pub(super) scale: f64,
}

impl View {
    /// Fits the ends of the rays and the spheres into the picture. If all rays are in a small part of the scene (on a planet, say), only
    /// that part is shown. Ends far outside the scene are ignored, so these rays enter from the edge of the picture.
    pub(super) fn fit(scenery: &Scenery<'_>, sample: &[Beam]) -> Self {
        let (azimuth, elevation) = (-60.0_f64.to_radians(), 26.0_f64.to_radians());
        let back = DVec3::new(azimuth.cos() * elevation.cos(), azimuth.sin() * elevation.cos(), elevation.sin());
        let right = DVec3::Z.cross(back).normalize();
        let mut view = Self { right, up: back.cross(right), back, center: DVec2::ZERO, scale: 1.0 };

        let every = scenery.len().div_ceil(100_000).max(1);
        let times = scenery.span(sample).unwrap_or_default();
        let mut scene = Extent::default();
        for id in (0..scenery.len()).step_by(every) {
            for (center, form) in times.into_iter().filter_map(|time| scenery.at(id, time)) {
                let (center, reach) = (view.flat(center), view.reach(&form));
                scene.add(center - reach);
                scene.add(center + reach);
            }
        }
        let (low, high) = scene.most();
        let size = (high - low).length();
        let mut rays = Extent::default();
        for Beam { ray, mark, .. } in sample {
            let ends = [Some(ray.t_min), mark_end(mark)].into_iter().flatten().filter(|t| t.is_finite());
            for point in ends.map(|t| view.flat(along(ray, t))) {
                if scenery.len() == 0 || (point - 0.5 * (low + high)).length() <= 1.5 * size {
                    rays.add(point);
                }
            }
        }
        let (near, far) = rays.most();
        let small = (far - near).length() < 0.03 * size && (far - near).length() > 0.0;
        let (low, high) = match (scenery.len() == 0, rays.is_empty()) {
            (true, true) => (DVec2::splat(-1.0), DVec2::splat(1.0)),
            (true, false) => (near, far),
            (false, true) => (low, high),
            _ if small => (near - 0.25 * (far - near).length(), far + 0.25 * (far - near).length()),
            _ => (low.min(near), high.max(far)),
        };
        view.center = 0.5 * (low + high);
        let available = DVec2::new(WIDTH as f64, HEIGHT as f64) - 2.0 * MARGIN;
        let scale = (available / (high - low).max(DVec2::splat(f64::MIN_POSITIVE))).min_element();
        // A single point has no size, so it gets a fixed scale.
        view.scale = if scale.is_finite() && high != low { scale } else { 100.0 };
        view
    }

    fn flat(&self, point: DVec3) -> DVec2 {
        DVec2::new(point.dot(self.right), point.dot(self.up))
    }

    /// Position of a point in the picture, with its depth.
    pub(super) fn project(&self, point: DVec3) -> DVec3 {
        let middle = 0.5 * DVec2::new(WIDTH as f64, HEIGHT as f64);
        ((self.flat(point) - self.center) * self.scale + middle).extend(point.dot(self.back) * self.scale)
    }

    /// Half extents of a shape to the right and up, in units of length.
    fn reach(&self, form: &Form) -> DVec2 {
        match form {
            Form::Ball(radius) => DVec2::splat(*radius),
            Form::Ellipsoid(matrix) => {
                let [right, up] = [self.right, self.up].map(|axis| (matrix.transpose() * axis).length());
                DVec2::new(right, up)
            }
        }
    }

    /// Projection of a shape.
    pub(super) fn body(&self, form: &Form) -> Body {
        match form {
            Form::Ball(radius) => Body::round(radius * self.scale),
            Form::Ellipsoid(matrix) => {
                let seen = DMat3::from_cols(self.right, self.up, self.back).transpose();
                Body::of(seen * *matrix * self.scale)
            }
        }
    }

    /// Direction of an axis in the picture.
    pub(super) fn axis(&self, axis: DVec3) -> DVec2 {
        self.flat(axis)
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
    xs: Vec<f64>,
    ys: Vec<f64>,
}

impl Extent {
    fn add(&mut self, point: DVec2) {
        if point.is_finite() {
            self.xs.push(point.x);
            self.ys.push(point.y);
        }
    }

    fn is_empty(&self) -> bool {
        self.xs.is_empty()
    }

    /// Bounds of all points if there are fewer than 200; otherwise, per axis, of the middle 99 %.
    fn most(&mut self) -> (DVec2, DVec2) {
        let span = |list: &mut Vec<f64>| {
            list.sort_by(f64::total_cmp);
            let spare = list.len() / 200;
            (list.get(spare).copied().unwrap_or(0.0), list.iter().rev().nth(spare).copied().unwrap_or(0.0))
        };
        let (x, y) = (span(&mut self.xs), span(&mut self.ys));
        (DVec2::new(x.0, y.0), DVec2::new(x.1, y.1))
    }
}
