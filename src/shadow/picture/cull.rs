//! What can be left out of a picture without changing it: balls that a pixel's ray cannot meet, and occluders whose
//! penumbra does not reach a piece of the ground. All of it errs on the side of keeping.

use glam::DVec3;

use super::tiles::Patch;
use crate::batch::raygen::camera::View;
use crate::shadow::ball::Ball;
use crate::shadow::coverage::light::{Light, Occluder};

/// Unit squares along the side of the grid over a receiver: its directions across the line to the light, −1…1.
pub(crate) const SQUARES: u32 = 256;

/// Pixels by which a ball's outline is widened: more than f32 moves it.
const MARGIN_PX: f64 = 0.5;

/// The pixels whose rays can meet a ball, which is given in the camera's space; `None` when there are none.
pub(crate) fn outline(view: &View, size: [u32; 2], ball: Ball) -> Option<Patch> {
    let DVec3 { x, y, z } = ball.center;
    let ([left, right], [bottom, top]) = if view.orthographic {
        ([x - ball.radius, x + ball.radius], [y - ball.radius, y + ball.radius])
    } else {
        (tangents(x, z, ball.radius)?, tangents(y, z, ball.radius)?)
    };
    let [width, height] = size.map(f64::from);
    let column = |x: f64| 0.5 * width * (x / view.half.x + 1.0);
    let row = |y: f64| 0.5 * height * (1.0 - y / view.half.y);
    Patch::around([column(left), row(top)], [column(right), row(bottom)], MARGIN_PX, size)
}

/// Where a circle around (x, z) seen from the origin begins and ends, on the line z = 1; `None` behind.
fn tangents(x: f64, z: f64, radius: f64) -> Option<[f64; 2]> {
    // Directions farther than this from straight ahead stand for everything to that side.
    const SIDE: f64 = std::f64::consts::FRAC_PI_2 - 1e-9;
    let sine = radius / x.hypot(z);
    if sine.is_nan() || sine > 1.0 - 1e-9 {
        return Some([f64::NEG_INFINITY, f64::INFINITY]);
    }
    let (middle, half) = (x.atan2(z), sine.asin() * (1.0 + 1e-6));
    let (low, high) = (middle - half, middle + half);
    if low >= SIDE || high <= -SIDE {
        return None;
    }
    let low = if low > -SIDE { low.tan() } else { f64::NEG_INFINITY };
    let high = if high < SIDE { high.tan() } else { f64::INFINITY };
    Some([low, high])
}

/// Whether any point of `receiver` can lie in the penumbra of `occluder`: whether the ball meets the cone that touches
/// light and occluder crosswise. Never says no wrongly.
pub(crate) fn may_shade(light: Ball, occluder: Ball, receiver: Ball) -> bool {
    let axis = occluder.center - light.center;
    let distance = axis.length();
    let sine = (light.radius + occluder.radius) / distance;
    if sine.is_nan() || sine >= 0.999 {
        return true;
    }
    let axis = axis / distance;
    let apex = light.center + axis * (distance * light.radius / (light.radius + occluder.radius));
    // A cone moved back by R / sin holds every ball of radius R that meets the first one.
    let v = receiver.center - apex;
    let along = v.dot(axis) + 1.001 * receiver.radius / sine;
    let across = v.cross(axis).length();
    along > 0.0 && across <= 1.000_001 * along * sine / (1.0 - sine * sine).sqrt()
}

/// The square of a receiver's grid in which a place of its surface is, given in the light-aligned frame and in units of the
/// ball around the receiver.
pub(crate) fn square(place: DVec3) -> [u32; 2] {
    let half = 0.5 * f64::from(SQUARES);
    [place.x, place.y].map(|c| ((c + 1.0) * half).clamp(0.0, f64::from(SQUARES - 1)) as u32)
}

/// The squares of a receiver's grid that the penumbra of an occluder, given in its frame, can reach.
///
/// The penumbra is the same cone. A point of it that is `l` from the apex along the axis is at most `l` tan from the
/// axis, and for points of the receiver, a ball of radius 1, `l` is within 1 of that of its centre: both ends of the cone
/// between bound all of it.
pub(crate) fn reach(light: Light, occluder: Occluder) -> Option<Patch> {
    let everywhere = Some(Patch { low: [0; 2], high: [SQUARES - 1; 2] });
    let light_distance = 1.0 / light.inverse_distance;
    let light_radius = light.ratio * light_distance;
    let from_light = occluder.offset.extend(-occluder.beyond * light_distance);
    let distance = from_light.length();
    let sine = (light_radius + occluder.radius) / distance;
    if sine.is_nan() || sine >= 0.999 {
        return everywhere;
    }
    let axis = from_light / distance;
    // From the apex to the occluder's centre.
    let short = distance * occluder.radius / (light_radius + occluder.radius);
    let center = occluder.offset.extend(occluder.along);
    let apex = center - axis * short;
    let middle = short - center.dot(axis);
    if middle < -1.001 {
        return None;
    }
    let (near, far) = ((middle - 1.0).max(0.0), (middle + 1.0).max(0.0));
    let tangent = sine / (1.0 - sine * sine).sqrt();
    let half = 0.5 * f64::from(SQUARES);
    // What f64 loses of such lengths, and what f32 loses of a normal and more.
    let slack = 1e-12 * (center.length() + short + far) + 1e-4;
    let ends = |k: usize| {
        let at = |along: f64, sign: f64| apex[k] + along * (axis[k] + sign * tangent) + sign * slack;
        [at(near, -1.0).min(at(far, -1.0)), at(near, 1.0).max(at(far, 1.0))].map(|c| (c + 1.0) * half)
    };
    let ([left, right], [bottom, top]) = (ends(0), ends(1));
    Patch::around([left, bottom], [right, top], 0.0, [SQUARES; 2])
}

/// Balls that are together: their numbers, and a ball around them.
pub(crate) struct Group {
    pub(crate) members: Vec<u32>,
    pub(crate) around: Ball,
}

/// Puts balls into groups of neighbours, at most `most` in each: halves them along their longest side until they fit.
pub(crate) fn groups(balls: &[Ball], most: usize) -> Vec<Group> {
    let mut rest: Vec<Vec<u32>> = vec![(0..balls.len() as u32).collect()];
    let mut done = Vec::new();
    while let Some(mut members) = rest.pop() {
        let centers = || members.iter().map(|&i| balls[i as usize].center);
        let Some(first) = centers().next() else { continue };
        let (low, high) = centers().fold((first, first), |(low, high), c| (low.min(c), high.max(c)));
        if members.len() <= most {
            let center = 0.5 * (low + high);
            let reach = |&i: &u32| (balls[i as usize].center - center).length() + balls[i as usize].radius;
            let radius = members.iter().map(reach).fold(0.0, f64::max) * (1.0 + 1e-9);
            done.push(Group { members, around: Ball { center, radius } });
            continue;
        }
        let axis = (high - low).max_position();
        let half = members.len() / 2;
        let along = |i: &u32| balls[*i as usize].center[axis];
        members.select_nth_unstable_by(half, |a, b| along(a).total_cmp(&along(b)));
        let later = members.split_off(half);
        rest.extend([members, later]);
    }
    done
}

#[cfg(all(test, feature = "files"))]
#[path = "cull_tests.rs"]
mod tests;
