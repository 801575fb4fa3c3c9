//! Primary visibility: the ray of a pixel, and the first body that it hits. The f64 twin of `first_body` in `shaders/shadow/shade.wgsl`.

use glam::DVec3;

use super::prepared::{Culling, PreparedPicture};
use crate::records::NO_SPHERE;
use crate::shadow::ball::Ball;
use crate::shadow::ball_bvh::BallBvh;
use crate::shadow::spheroid::Spheroid;

/// The visible surface point of a ray.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VisiblePoint {
    /// Distance; infinite if the ray hits nothing.
    pub(crate) t: f64,
    pub(crate) id: u32,
    /// Outward unit normal in camera space.
    pub(crate) normal: DVec3,
    /// Position on the body, relative to its centre, in units of the radius of its bounding sphere: on a sphere the normal.
    pub(crate) place: DVec3,
}

/// Distance at which a ray enters a sphere in front of it, and the normal there; the distance is infinite for a miss. The normal is
/// computed from the foot of the perpendicular on the ray: the point itself, `origin + t · direction − center`, would lose precision
/// because the distance may be large.
pub(crate) fn intersect_ball(origin: DVec3, direction: DVec3, ball: Ball) -> (f64, DVec3) {
    let e = ball.center - origin;
    let k = e.dot(direction);
    let p = e - k * direction;
    let disc = (ball.radius - p.length()) * (ball.radius + p.length());
    if disc < 0.0 {
        return (f64::INFINITY, DVec3::ZERO);
    }
    let h = disc.sqrt();
    if k - h < 0.0 {
        return (f64::INFINITY, DVec3::ZERO);
    }
    (k - h, -(p + h * direction) / ball.radius)
}

/// Distance at which a ray enters a spheroid in camera space, the normal there and the position: those of a sphere, in a space that is
/// stretched along the pole.
pub(crate) fn intersect_spheroid(origin: DVec3, direction: DVec3, body: &Spheroid) -> (f64, DVec3, DVec3) {
    let stretch = body.radius / body.polar_radius;
    let along = |v: DVec3, by: f64| v + (by - 1.0) * v.dot(body.pole) * body.pole;
    let stretched = along(direction, stretch);
    let length = stretched.length();
    let ball = Ball { center: along(body.center - origin, stretch), radius: body.radius };
    let (t, normal) = intersect_ball(DVec3::ZERO, stretched / length, ball);
    let place = along(normal, 1.0 / stretch) * (body.radius / body.bounding_ball().radius);
    (t / length, along(normal, stretch).normalize_or_zero(), place)
}

/// Margin of the traversal, relative to the lengths: more than their rounding errors.
const MARGIN: f64 = 1e-12;

/// Lower bound of the distance at which a ray enters a ball; infinite for a miss.
pub(crate) fn entry_bound(origin: DVec3, direction: DVec3, ball: Ball) -> f64 {
    let v = ball.center - origin;
    let along = v.dot(direction);
    let across = (v - along * direction).length();
    let reach = ball.radius + MARGIN * (ball.radius + along.abs() + across);
    if across > reach || along < -reach { f64::INFINITY } else { along - reach }
}

/// Finds the first ball that a ray hits from outside. Of equal distances the lowest id counts, as in the lists of the tiles.
fn traverse(bvh: &BallBvh, origin: DVec3, direction: DVec3, seen: &mut VisiblePoint) {
    let enter = |ball| entry_bound(origin, direction, ball);
    bvh.visit_front_to_back(seen.t, enter, |balls, _| {
        for &(ball, id) in balls {
            let (t, normal) = intersect_ball(origin, direction, ball);
            if t < seen.t || (t == seen.t && id < seen.id && t < f64::INFINITY) {
                *seen = VisiblePoint { t, id, normal, place: normal };
            }
        }
        seen.t
    });
}

/// The nearest body that the ray of a pixel hits from outside.
pub(crate) fn first_body(
    prepared_picture: &PreparedPicture,
    pixel: [u32; 2],
    origin: DVec3,
    direction: DVec3,
) -> VisiblePoint {
    let mut seen = VisiblePoint { t: f64::INFINITY, id: NO_SPHERE, normal: DVec3::ZERO, place: DVec3::ZERO };
    match &prepared_picture.culling {
        Culling::Bvh(bvh) => traverse(bvh, origin, direction, &mut seen),
        Culling::Tiles(grid, words) => {
            for &id in grid.list(words, pixel[0], pixel[1]) {
                let (t, normal) = intersect_ball(origin, direction, prepared_picture.balls[id as usize]);
                if t < seen.t {
                    seen = VisiblePoint { t, id, normal, place: normal };
                }
            }
        }
    }
    for &(id, ref body) in &prepared_picture.spheroids {
        let (t, normal, place) = intersect_spheroid(origin, direction, body);
        if t < seen.t {
            seen = VisiblePoint { t, id, normal, place };
        }
    }
    seen
}
