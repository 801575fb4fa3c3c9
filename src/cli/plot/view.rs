//! From where a plot looks: from the upper left front, without perspective, as near as what matters allows.

use umbracast::glam::{DVec2, DVec3};
use umbracast::{Ray, Sphere};

use super::canvas::{HEIGHT, WIDTH};
use super::sample::Mark;

/// What is left free around the scene, in pixels: room for the legend above and the scale below.
const MARGIN: DVec2 = DVec2::new(70.0, 90.0);

/// A look without perspective.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    right: DVec3,
    up: DVec3,
    back: DVec3,
    center: DVec2,
    /// Pixels a unit of length.
    pub(super) scale: f64,
}

impl View {
    /// Fits the rays' ends and the spheres into the picture. Where the rays are all together in a small part of the scene (on
    /// a planet, say), only that part is shown; what begins far outside comes in from the edge.
    pub(super) fn fit(spheres: &[Sphere], sample: &[(u64, Ray, Mark)]) -> Self {
        let (azimuth, elevation) = (-60.0_f64.to_radians(), 26.0_f64.to_radians());
        let back = DVec3::new(azimuth.cos() * elevation.cos(), azimuth.sin() * elevation.cos(), elevation.sin());
        let right = DVec3::Z.cross(back).normalize();
        let mut view = Self { right, up: back.cross(right), back, center: DVec2::ZERO, scale: 1.0 };

        let every = spheres.len().div_ceil(100_000).max(1);
        let mut scene = Extent::default();
        for sphere in spheres.iter().step_by(every) {
            let (center, r) = (view.flat(sphere.center.as_dvec3()), f64::from(sphere.radius));
            scene.add(center - r);
            scene.add(center + r);
        }
        let (low, high) = scene.most();
        let size = (high - low).length();
        let mut rays = Extent::default();
        for (_, ray, mark) in sample {
            let ends = [Some(ray.t_min), mark_end(mark)].into_iter().flatten().filter(|t| t.is_finite());
            for point in ends.map(|t| view.flat(along(ray, t))) {
                if spheres.is_empty() || (point - 0.5 * (low + high)).length() <= 1.5 * size {
                    rays.add(point);
                }
            }
        }
        let (near, far) = rays.most();
        let small = (far - near).length() < 0.03 * size && (far - near).length() > 0.0;
        let (low, high) = match (spheres.is_empty(), rays.is_empty()) {
            (true, true) => (DVec2::splat(-1.0), DVec2::splat(1.0)),
            (true, false) => (near, far),
            (false, true) => (low, high),
            _ if small => (near - 0.25 * (far - near).length(), far + 0.25 * (far - near).length()),
            _ => (low.min(near), high.max(far)),
        };
        view.center = 0.5 * (low + high);
        let room = DVec2::new(WIDTH as f64, HEIGHT as f64) - 2.0 * MARGIN;
        let scale = (room / (high - low).max(DVec2::splat(f64::MIN_POSITIVE))).min_element();
        // A single point has no size: it is shown as if it had one.
        view.scale = if scale.is_finite() && high != low { scale } else { 100.0 };
        view
    }

    fn flat(&self, point: DVec3) -> DVec2 {
        DVec2::new(point.dot(self.right), point.dot(self.up))
    }

    /// Where a point is in the picture, and how near.
    pub(super) fn see(&self, point: DVec3) -> DVec3 {
        let middle = 0.5 * DVec2::new(WIDTH as f64, HEIGHT as f64);
        ((self.flat(point) - self.center) * self.scale + middle).extend(point.dot(self.back) * self.scale)
    }

    /// Where an axis points in the picture.
    pub(super) fn axis(&self, axis: DVec3) -> DVec2 {
        self.flat(axis)
    }
}

/// The point of a ray, in f64.
pub(super) fn along(ray: &Ray, t: f32) -> DVec3 {
    ray.origin.as_dvec3() + f64::from(t) * ray.direction.as_dvec3()
}

/// The parameter of the point that a mark is about.
fn mark_end(mark: &Mark) -> Option<f32> {
    match *mark {
        Mark::Hit { t, .. } | Mark::Pass { t, .. } => Some(t),
        Mark::Inside { t_exit, .. } => Some(t_exit),
        Mark::Occluded | Mark::Miss => None,
    }
}

/// Where points lie, a few outliers left out.
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

    /// A box around all of few points, and around 99 of a hundred of many.
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
