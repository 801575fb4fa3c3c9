//! Conservative culling for pictures: spheres that the ray of a pixel cannot hit, and occluders whose penumbra does not reach a part of a
//! body's surface.

use super::tiles::Patch;
use crate::batch::raygen::camera::View;
use crate::shadow::ball::Ball;
use crate::shadow::coverage::light::{Light, Occluder};

/// Unit squares per side of a receiver's grid. The grid covers −1…1 in x and y of the light-aligned frame.
pub(crate) const SQUARES: u32 = 256;

/// Margin in pixels around the outline of a sphere: more than rounding to f32 can move it.
const MARGIN_PX: f64 = 0.5;

/// The pixels whose rays can hit a sphere, given in camera space; `None` if there are none.
pub(crate) fn outline(view: &View, size: [u32; 2], ball: Ball) -> Option<Patch> {
    let [[left, right], [bottom, top]] = view.projection.bounds(ball.center, ball.radius)?;
    let [width, height] = size.map(f64::from);
    let column = |x: f64| 0.5 * width * (x / view.half.x + 1.0);
    let row = |y: f64| 0.5 * height * (1.0 - y / view.half.y);
    Patch::around([column(left), row(top)], [column(right), row(bottom)], MARGIN_PX, size)
}

/// Whether any point of `receiver` can lie in the penumbra of `occluder`: whether the receiver intersects the penumbra cone, which is
/// formed by the inner common tangents of light and occluder. Conservative: never wrongly false.
pub(crate) fn may_shade(light: Ball, occluder: Ball, receiver: Ball) -> bool {
    let axis = occluder.center - light.center;
    let distance = axis.length();
    let sine = (light.radius + occluder.radius) / distance;
    if sine.is_nan() || sine >= 0.999 {
        return true;
    }
    let axis = axis / distance;
    let apex = light.center + axis * (distance * light.radius / (light.radius + occluder.radius));
    // The cone moved back by R / sin contains the centre of every sphere of radius R that intersects the original cone.
    let v = receiver.center - apex;
    let along = v.dot(axis) + 1.001 * receiver.radius / sine;
    let across = v.cross(axis).length();
    along > 0.0 && across <= 1.000_001 * along * sine / (1.0 - sine * sine).sqrt()
}

/// The square of a receiver's grid that contains a surface point. Only shaders use it; this is their twin. The point is given in the
/// light-aligned frame, in units of the radius of the receiver's bounding sphere.
#[cfg(test)]
pub(crate) fn square(place: glam::DVec3) -> [u32; 2] {
    let half = 0.5 * f64::from(SQUARES);
    [place.x, place.y].map(|c| ((c + 1.0) * half).clamp(0.0, f64::from(SQUARES - 1)) as u32)
}

/// The squares of a receiver's grid that the penumbra of an occluder can reach. The occluder is given in the receiver's light-aligned
/// frame.
///
/// The penumbra is the cone of [`may_shade`]. A point of the cone at distance `l` from the apex, measured along the axis, is at most `l`
/// tan from the axis. The receiver is a sphere of radius 1, so the `l` of each of its points differs by at most 1 from that of its centre.
/// The sections of the cone at both ends of this range bound all of it.
pub(crate) fn penumbra_patch(light: Light, occluder: Occluder) -> Option<Patch> {
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
    // Distance from the apex to the occluder's centre.
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
    // Covers the rounding errors of f64 in such lengths and of f32 in a normal, with a reserve.
    let slack = 1e-12 * (center.length() + short + far) + 1e-4;
    let ends = |k: usize| {
        let at = |along: f64, sign: f64| apex[k] + along * (axis[k] + sign * tangent) + sign * slack;
        [at(near, -1.0).min(at(far, -1.0)), at(near, 1.0).max(at(far, 1.0))].map(|c| (c + 1.0) * half)
    };
    let ([left, right], [bottom, top]) = (ends(0), ends(1));
    Patch::around([left, bottom], [right, top], 0.0, [SQUARES; 2])
}

#[cfg(test)]
#[path = "cull_tests.rs"]
mod tests;
