//! The stage: a system as its camera and its bodies see it, in small numbers. All that is done once, in f64, before any
//! pixel is.

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use super::camera::View;
use super::frame::{Ball, Frame};
use super::system::System;
use crate::cpu::coverage::{Light, Occluder};
use crate::error::{Error, Result};

/// One ball, ready to be painted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receiver {
    /// Turns a direction from the camera's space into the light-aligned frame.
    pub(crate) light_from_view: DMat3,
    pub(crate) light: Light,
    /// Its occluders: the first, and how many.
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// Which look it has.
    pub(crate) look: u32,
}

/// How bodies look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// The pole, a unit vector in the camera's space, and the directions across it.
    pub(crate) axes: DMat3,
    pub(crate) swirl: f64,
    /// Its colours: the first, and how many.
    pub(crate) first: u32,
    pub(crate) count: u32,
}

/// A system, prepared.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    pub(crate) view: View,
    /// All balls in the camera's space, the light last.
    pub(crate) balls: Vec<Ball>,
    /// One a ball, the light left out.
    pub(crate) receivers: Vec<Receiver>,
    pub(crate) occluders: Vec<Occluder>,
    pub(crate) looks: Vec<Look>,
    pub(crate) colors: Vec<[f64; 3]>,
}

/// The most pairs of receiver and occluder: 128 MiB on a device, the least that every one can bind.
const MAX_PAIRS: usize = 1 << 22;

impl Stage {
    pub(crate) fn new(system: &System) -> Result<Self> {
        let view = View::new(system.camera(), system.picture().size);
        let light = system.light().ball;
        let mut colors = Vec::new();
        let mut looks = Vec::new();
        let mut all: Vec<(Ball, u32, bool, bool)> = Vec::new();
        for body in system.bodies() {
            let pole = view.turn(body.pole).normalize_or(DVec3::Z);
            let (x, y) = pole.any_orthonormal_pair();
            looks.push(Look {
                axes: DMat3::from_cols(x, y, pole).transpose(),
                swirl: body.swirl,
                first: colors.len() as u32,
                count: body.colors.len() as u32,
            });
            colors.extend(body.colors.iter().map(|color| color.0));
            let look = looks.len() as u32 - 1;
            all.extend(body.balls.iter().map(|&ball| (ball, look, body.casts, body.receives)));
        }
        let world_from_view = DMat3::from_cols(view.axes[0], view.axes[1], view.axes[2]);
        // Only those whose penumbra can fall on the receiver: mostly a handful, even in a cloud of thousands.
        let prepared: Vec<(Frame, Vec<Occluder>)> = all
            .par_iter()
            .enumerate()
            .map(|(i, &(receiver, _, _, receives))| {
                let frame = Frame::new(receiver.center, receiver.radius, light);
                let casts = |(j, other): (usize, &(Ball, u32, bool, bool))| {
                    (j != i && other.2 && may_shade(light, other.0, receiver)).then(|| frame.occluder(other.0))
                };
                let occluders = if receives { all.iter().enumerate().filter_map(casts).collect() } else { Vec::new() };
                (frame, occluders)
            })
            .collect();
        let pairs: usize = prepared.iter().map(|(_, occluders)| occluders.len()).sum();
        if pairs > MAX_PAIRS {
            let bytes = |pairs: usize| pairs as u64 * 32;
            return Err(Error::TooLarge {
                what: "pairs of a body and one that may shade it",
                asked: bytes(pairs),
                allowed: bytes(MAX_PAIRS),
                device: "any device".into(),
            });
        }
        let mut occluders = Vec::with_capacity(pairs);
        let mut receivers = Vec::with_capacity(all.len());
        for ((frame, own), (_, look, ..)) in prepared.into_iter().zip(&all) {
            receivers.push(Receiver {
                light_from_view: frame.rotation() * world_from_view,
                light: frame.light,
                first: occluders.len() as u32,
                count: own.len() as u32,
                look: *look,
            });
            occluders.extend(own);
        }
        let seen = |ball: Ball| Ball { center: view.turn(ball.center - view.position), radius: ball.radius };
        let balls = all.iter().map(|&(ball, ..)| ball).chain([light]).map(seen).collect();
        Ok(Self { view, balls, receivers, occluders, looks, colors })
    }
}

/// Whether any point of `receiver` can lie in the penumbra of `occluder`: whether the ball meets the cone that touches
/// light and occluder crosswise. Never says no wrongly.
fn may_shade(light: Ball, occluder: Ball, receiver: Ball) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shadow::visible_fraction;

    /// A list of occluders that left one out would draw a shadow with a piece missing.
    #[test]
    fn nothing_that_can_shade_is_left_out() {
        let mut state = 5_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 * 2f64.powi(-53)
        };
        let (mut kept, mut needed) = (0, 0);
        for case in 0..4000 {
            let light = Ball::new([0.0, 0.0, 0.0], [0.0, 0.5, 3.0, 20.0][case % 4]);
            let receiver = Ball::new([0.0, 0.0, 60.0], 0.05 + 4.0 * random());
            let place = DVec3::new(16.0 * random() - 8.0, 16.0 * random() - 8.0, 25.0 + 50.0 * random());
            let occluder = Ball { center: place, radius: 0.05 + 3.0 * random() };
            let shaded = (0..400).any(|i| {
                // A spiral over the receiver's surface.
                let z = 1.0 - (2.0 * f64::from(i) + 1.0) / 400.0;
                let (r, turn) = ((1.0 - z * z).sqrt(), f64::from(i) * 2.399_963);
                let normal = DVec3::new(r * turn.cos(), r * turn.sin(), z);
                let point = receiver.center + receiver.radius * normal;
                visible_fraction(point, light, &[occluder]).is_ok_and(|fraction| fraction < 1.0)
            });
            let may = may_shade(light, occluder, receiver);
            assert!(may || !shaded, "case {case}: {light:?} {occluder:?} {receiver:?}");
            kept += u32::from(may);
            needed += u32::from(shaded);
        }
        println!("{needed} of 4000 shade their receiver, {kept} were kept");
        // Nor is everything kept.
        assert!(needed > 500 && kept < needed + needed / 4);
    }
}
