//! Defaults that depend on the bodies of a system: a camera that shows them all, a distant light, and a ground below them.

use glam::DVec3;

use super::ball::Ball;
use super::picture::image::Color;
use super::spheroid::POLE_LENGTHS;
use super::system::{Body, LightSource};
use crate::batch::raygen::camera::{Camera, Lens};
use crate::error::Result;
use crate::query::validate::{text, usage};

/// Vertical field of view of the automatic camera.
const FIELD_OF_VIEW_DEG: f64 = 35.0;
/// Elevation of the automatic camera above the horizontal plane.
const ELEVATION_DEG: f64 = 24.0;
/// Angle around the vertical from the light to the automatic camera: shadows fall to the side.
const AZIMUTH_DEG: f64 = 50.0;
/// Distance of the automatic camera, relative to the distance at which the bounding ball fills the picture.
const FRAME_MARGIN: f64 = 1.1;
/// Radius of the ground, in radii of the bounding ball of the bodies. Within ten of these radii it is flat to 1/2000 of a radius.
const GROUND: f64 = 1e5;
/// Distance of a distant light, in radii of the bounding ball of the bodies.
const DISTANT: f64 = 1e9;

/// The bounding ball of all bodies: the centre of their AABB, and the distance to the farthest surface. A ball of radius 1 at the origin if
/// there are no bodies.
fn bounds(bodies: &[&Body]) -> Ball {
    let balls = || bodies.iter().flat_map(|body| body.bounding_balls());
    let low = balls().fold(DVec3::INFINITY, |low, ball| low.min(ball.center - ball.radius));
    let high = balls().fold(DVec3::NEG_INFINITY, |high, ball| high.max(ball.center + ball.radius));
    let center = 0.5 * low + 0.5 * high;
    let radius = balls().map(|ball| (ball.center - center).length() + ball.radius).fold(0.0, f64::max);
    if center.is_finite() && radius > 0.0 { Ball { center, radius } } else { Ball { center: DVec3::ZERO, radius: 1.0 } }
}

/// The visible bodies without a ground; if none is visible, all.
fn shown(bodies: &[Body]) -> Vec<&Body> {
    let shown: Vec<&Body> = bodies.iter().filter(|body| body.visible && !body.is_ground).collect();
    if shown.is_empty() { bodies.iter().filter(|body| !body.is_ground).collect() } else { shown }
}

impl Body {
    /// A ground below bodies: a huge sphere, level where it touches the lowest visible one of them, as seen along `up`. If there are no bodies,
    /// it touches the origin.
    pub fn ground(below: &[Body], up: DVec3, color: Color) -> Self {
        let below = shown(below);
        let Ball { center, radius } = bounds(&below);
        let up = up.normalize_or(DVec3::Z);
        let lowest = |body: &&Body| {
            let reach = |ball: &Ball| match body.polar_radius {
                Some(polar) => {
                    let along = body.pole.normalize_or(DVec3::Z).dot(up);
                    (ball.radius * (1.0 - along * along).max(0.0).sqrt()).hypot(polar * along)
                }
                None => ball.radius,
            };
            body.balls.iter().map(|ball| (ball.center - center).dot(up) - reach(ball)).fold(f64::INFINITY, f64::min)
        };
        let least = below.iter().map(lowest).fold(f64::INFINITY, f64::min);
        let height = if least.is_finite() { least } else { 0.0 };
        let sphere = Ball { center: center + up * (height - GROUND * radius), radius: GROUND * radius };
        Self { is_ground: true, ..Self::new("ground", vec![sphere], vec![color]) }
    }
}

impl LightSource {
    /// A light so far away from the bodies that its direction is the same for all of them. `toward` points to it, with any length.
    /// `diameter_deg` is its angular diameter in degrees; the Sun has 0.53 when seen from the Earth.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) if `toward` is zero or `diameter_deg` is not from 0 to 170.
    pub fn distant(bodies: &[Body], toward: DVec3, diameter_deg: f64) -> Result<Self> {
        if !POLE_LENGTHS.contains(&toward.length()) {
            return usage(format!("light: direction is {}: a direction must not be zero", text(toward)));
        }
        if !(0.0..=170.0).contains(&diameter_deg) {
            return usage(format!("light: diameter_deg is {diameter_deg}: it must be between 0 and 170"));
        }
        let Ball { center, radius } = bounds(&bodies.iter().collect::<Vec<_>>());
        let distance = DISTANT * radius;
        let ball = Ball {
            center: center + distance * toward.normalize_or(DVec3::Z),
            radius: distance * (0.5 * diameter_deg.to_radians()).sin(),
        };
        Ok(Self::new("light", ball))
    }
}

impl Camera {
    /// A perspective camera that shows all visible bodies but a ground in a picture of this size, from a little above them. The light comes over its shoulder,
    /// so that shadows fall to the side. `up` points up in the picture.
    pub fn framing(bodies: &[Body], light: &LightSource, up: DVec3, size: [u32; 2]) -> Self {
        let Ball { center, radius } = bounds(&shown(bodies));
        let up = up.normalize_or(DVec3::Z);
        let toward = light.ball.center - center;
        let level = (toward - toward.dot(up) * up).normalize_or(up.any_orthonormal_vector());
        let side = up.cross(level);
        let [(sine, cosine), (rise, run)] = [AZIMUTH_DEG, ELEVATION_DEG].map(|degrees| degrees.to_radians().sin_cos());
        let direction = run * (cosine * level + sine * side) + rise * up;
        let half = 0.5 * FIELD_OF_VIEW_DEG.to_radians();
        let across = (half.tan() * f64::from(size[0]) / f64::from(size[1].max(1))).atan();
        Self {
            position: center + direction * (FRAME_MARGIN * radius / half.min(across).sin()),
            target: center,
            up,
            lens: Lens::Perspective { field_of_view_deg: FIELD_OF_VIEW_DEG },
        }
    }
}
