//! Ambient occlusion: the share of the sky that bodies leave open above a surface point, sampled with rays.

use std::f64::consts::TAU;

use glam::DVec3;

use super::prepared::PreparedPicture;
use super::primary::{VisiblePoint, entry_bound};
use super::starfield::hash;
use crate::shadow::spheroid::Spheroid;

/// The open share of the sky above a visible point, weighted by the cosine of the angle to the normal: 1 in the open, 0 in a closed cavity.
///
/// The directions lie on a spiral that the weight and the golden angle distribute evenly. `ray` numbers the pixel and
/// its sample, and turns the spiral, so that neighbouring samples have different directions. The error is about a third of 1 / √(`samples`
/// · samples per pixel) at most.
pub(crate) fn openness(picture: &PreparedPicture, seen: VisiblePoint, samples: u32, ray: [u32; 2]) -> f64 {
    /// 2π divided by the square of the golden ratio.
    const GOLDEN_ANGLE: f64 = 2.399_963_229_728_653;
    let normal = picture.world_from_view * seen.normal;
    let (x, y) = normal.any_orthonormal_pair();
    let body = picture.bodies[seen.id as usize].ball;
    let point = body.center + body.radius * (picture.world_from_view * seen.place);
    let unit = |word: u32| f64::from(word) / 2.0_f64.powi(32);
    let seed = hash(ray[0] ^ hash(ray[1]));
    let (turn, shift) = (unit(hash(seed)), unit(hash(hash(seed))));
    let mut open = 0;
    for i in 0..samples {
        let square = (f64::from(i) + shift) / f64::from(samples);
        let (sine, cosine) = (TAU * turn + GOLDEN_ANGLE * f64::from(i)).sin_cos();
        let direction = square.sqrt() * (cosine * x + sine * y) + (1.0 - square).sqrt() * normal;
        open += u32::from(!is_blocked(picture, point, direction, seen.id));
    }
    f64::from(open) / f64::from(samples)
}

/// Whether a ray hits a body other than the one with the id `own`, on which it starts. Bodies are convex, so that one is never hit.
fn is_blocked(picture: &PreparedPicture, origin: DVec3, direction: DVec3, own: u32) -> bool {
    let may_hit = |ball| entry_bound(origin, direction, ball) < f64::INFINITY;
    picture.occluders.bvh.any(may_hit, |ball, id| {
        id != own
            && match picture.shapes.binary_search_by_key(&id, |one| one.0) {
                Ok(at) => hits_spheroid(origin, direction, &picture.shapes[at].1),
                Err(_) => hits_ball(ball.center - origin, direction, ball.radius),
            }
    })
}

/// Whether a ray from the origin hits a ball in front of it or around it. `direction` is a unit vector.
pub(crate) fn hits_ball(center: DVec3, direction: DVec3, radius: f64) -> bool {
    let along = center.dot(direction);
    // The origin may be on the ball. Rounding does not move it inside by a millionth of the radius.
    (along > 0.0 || center.length() < 0.999_999 * radius) && (center - along * direction).length() <= radius
}

/// The same for a spheroid: stretched along the pole, it is a ball.
fn hits_spheroid(origin: DVec3, direction: DVec3, spheroid: &Spheroid) -> bool {
    let pole = spheroid.pole.normalize_or(DVec3::Z);
    let stretched = |v: DVec3| v + (spheroid.radius / spheroid.polar_radius - 1.0) * v.dot(pole) * pole;
    let direction = stretched(direction).normalize_or(direction);
    hits_ball(stretched(spheroid.center - origin), direction, spheroid.radius)
}
