//! Fuzz target: culling for pictures is conservative. Points sampled in penumbras and on outlines must not be culled.

use std::f64::consts::TAU;

use glam::{DVec2, DVec3};

use crate::batch::raygen::camera::{Camera, Lens, View};
use crate::batch::raygen::projection::Projection;
use crate::fuzz::bytes::Bytes;
use crate::shadow::ball::Ball;
use crate::shadow::coverage::disc::cap_of;
use crate::shadow::coverage::light::disc_from;
use crate::shadow::light_frame::LightFrame;
use crate::shadow::picture::cull::{may_shade, outline, penumbra_patch, square};

/// Target `cull`: a light, an occluder and a receiver; then a camera and a sphere.
pub fn cull(data: &[u8]) {
    let mut bytes = Bytes(data);
    shadow(&mut bytes);
    picture(&mut bytes);
}

/// Directions along a spiral on the unit sphere.
fn spiral(count: u32) -> impl Iterator<Item = DVec3> {
    (0..count).map(move |i| {
        let z = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(count);
        let turn = f64::from(i) * 2.399_963;
        (DVec2::from_angle(turn) * (1.0 - z * z).sqrt()).extend(z)
    })
}

/// A power of ten with an exponent between `from` and `to`.
fn power(bytes: &mut Bytes<'_>, from: f64, to: f64) -> f64 {
    10_f64.powf(from + (to - from) * bytes.unit())
}

fn shadow(bytes: &mut Bytes<'_>) {
    let receiver = Ball::new([0.0; 3], 1.0);
    let distance = 3.0 + power(bytes, -2.0, 9.0);
    let size = if bytes.byte().is_multiple_of(8) { 0.0 } else { power(bytes, -6.0, 0.0) };
    let light = Ball { center: distance * bytes.point().normalize_or(DVec3::Z), radius: size * (distance - 1.5) };
    // Positions near the receiver, or near the line from it to the light.
    let along = distance * bytes.unit().powi(3);
    let aside = bytes.point() * power(bytes, -1.0, 1.0);
    let from_light = if bytes.byte().is_multiple_of(2) { DVec3::ZERO } else { along * light.center / distance };
    let occluder = Ball { center: from_light + aside, radius: power(bytes, -3.0, 1.0) };
    let apart = |a: Ball, b: Ball| (a.center - b.center).length() > a.radius + b.radius;
    // Bodies of a system may overlap each other, but not the light.
    if !apart(light, occluder) || !apart(light, receiver) {
        return;
    }
    let frame = LightFrame::new(receiver.center, receiver.radius, light);
    let (light_here, one) = (frame.light, frame.occluder(occluder));
    let patch = penumbra_patch(light_here, one);
    let check = |place: DVec3| {
        let disc = disc_from(place, light_here);
        let cap = cap_of(place, light_here, disc, one);
        // The tolerance is larger than the rounding error of an edge that just touches another.
        let touches = disc.power > 0.0 && cap.radius > 0.0 && cap.edge < disc.radius - 1e-9;
        if !touches {
            return;
        }
        let what = || format!("{place}: light {light:?}, occluder {occluder:?}");
        assert!(may_shade(light, occluder, receiver), "no shadow at {}", what());
        let patch = patch.unwrap_or_else(|| panic!("no square at {}", what()));
        let at = square(place);
        let within = (0..2).all(|k| (patch.low[k]..=patch.high[k]).contains(&at[k]));
        assert!(within, "square {at:?} is not in {patch:?} at {}", what());
    };
    spiral(200).for_each(check);
    // Points around the centre of the shadow, in even steps to beyond its edge.
    let (middle, spread) = (one.offset, one.radius + light_here.ratio * (one.along.abs() + 1.0));
    for ring in 0..12 {
        for step in 0..12 {
            let place = middle + DVec2::from_angle(TAU * f64::from(step) / 12.0) * spread * f64::from(ring) / 10.0;
            let height = 1.0 - place.length_squared();
            if height >= 0.0 {
                check(place.extend(height.sqrt()));
                check(place.extend(-height.sqrt()));
            }
        }
    }
}

fn picture(bytes: &mut Bytes<'_>) {
    let size = [1 + bytes.below(200) as u32, 1 + bytes.below(100) as u32];
    let lens = if bytes.byte().is_multiple_of(3) {
        Lens::Orthographic { width: power(bytes, -1.0, 2.0) }
    } else {
        Lens::Perspective { field_of_view_deg: 0.01 + 169.9 * bytes.unit() }
    };
    let camera = Camera { position: DVec3::ZERO, target: DVec3::Z, up: DVec3::Y, lens };
    let view = View::new(&camera, size);
    let ball = Ball { center: bytes.point() * power(bytes, -1.0, 2.0), radius: power(bytes, -3.0, 1.5) };
    if ball.center.length() <= ball.radius {
        return;
    }
    let patch = outline(&view, size, ball);
    for normal in spiral(300) {
        let point = ball.center + ball.radius * normal;
        // Points near the plane of the camera are skipped, for a perspective camera projects them to infinity.
        if view.projection == Projection::Perspective && point.z <= 1e-9 * ball.radius {
            continue;
        }
        let Some(seen) = view.projection.position(point) else { continue };
        let [width, height] = size.map(f64::from);
        let pixel = [0.5 * width * (seen.x / view.half.x + 1.0), 0.5 * height * (1.0 - seen.y / view.half.y)];
        if !(0..2).all(|k| (0.0..f64::from(size[k])).contains(&pixel[k])) {
            continue;
        }
        let patch = patch.unwrap_or_else(|| panic!("{ball:?} is left out, seen at {pixel:?} of {size:?} by {lens:?}"));
        let within = (0..2).all(|k| (patch.low[k]..=patch.high[k]).contains(&(pixel[k] as u32)));
        assert!(within, "{ball:?} at {pixel:?} is not in {patch:?} of {size:?} by {lens:?}");
    }
}
