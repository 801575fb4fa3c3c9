//! Shading of what a ray of a picture hits: the f64 twin of `shaders/shadow/shade.wgsl`, function by function.

use std::f64::consts::PI;

use glam::{DMat3, DVec2, DVec3};

use super::openness::openness;
use super::prepared::{PreparedPicture, SurfacePattern};
use super::primary::VisiblePoint;
use super::starfield::{fraction, hash, starlight};
use crate::batch::raygen::camera::View;
use crate::batch::raygen::projection::Projection;
use crate::math::angles::arc;
use crate::records::NO_SPHERE;
use crate::shadow::ball::Ball;
use crate::shadow::coverage::cones::SpheroidShape;
use crate::shadow::coverage::disc::{DARK, FULL, Illumination, OccluderSet, ground_at, illumination};
use crate::shadow::coverage::flux::darkened;
use crate::shadow::coverage::light::Occluder;
use crate::shadow::light_frame::LightFrame;
use crate::shadow::system::System;

/// The light at the visible surface point: full on the light itself and where the ray hits nothing.
pub(crate) fn light_at(
    prepared_picture: &PreparedPicture,
    scratch: &mut ShadingScratch,
    seen: VisiblePoint,
) -> Illumination {
    let Some(receiver) = prepared_picture.bodies.get(seen.id as usize) else {
        return FULL;
    };
    let ReceiverFrame { frame, light_from_view, .. } = scratch.frame(prepared_picture, seen.id, receiver.ball);
    let normal = (light_from_view * seen.normal).normalize_or_zero();
    if normal == DVec3::ZERO {
        return DARK;
    }
    let place = if seen.place == seen.normal { normal } else { light_from_view * seen.place };
    let ground = match ground_at(place, normal, frame.light) {
        Ok(ground) => ground,
        Err(known) => return known,
    };
    let ShadingScratch { occluder_set, ids, occluders, shapes, .. } = scratch;
    occluders.clear();
    shapes.clear();
    if receiver.receives {
        let Ball { center, radius } = receiver.ball;
        let point = center + radius * (frame.rotation().transpose() * place);
        let spheroids = &prepared_picture.shapes;
        let is_ball = |id| id != seen.id && spheroids.binary_search_by_key(&id, |one| one.0).is_err();
        prepared_picture.occluders.query(point, center.length() + radius, is_ball, ids);
        for &id in ids.iter().filter(|id| **id != seen.id) {
            occluders.push(frame.body(id, prepared_picture.bodies[id as usize].ball, spheroids, shapes));
        }
    }
    let lit = illumination(occluder_set, ground, place, frame.light, occluders, shapes);
    match prepared_picture.limb_darkening {
        Some(limb) if lit.fraction > 0.0 => darkened(occluder_set, ground, limb, lit),
        _ => lit,
    }
}

/// The light-aligned frame of a receiver.
#[derive(Clone, Copy, Debug)]
struct ReceiverFrame {
    id: u32,
    frame: LightFrame,
    /// Rotates a direction from camera space into the frame.
    light_from_view: DMat3,
}

#[derive(Debug, Default)]
pub(crate) struct ShadingScratch {
    occluder_set: OccluderSet,
    ids: Vec<u32>,
    occluders: Vec<Occluder>,
    shapes: Vec<SpheroidShape>,
    /// The frame of the previous receiver: neighbouring pixels often show the same one.
    last: Option<ReceiverFrame>,
}

impl ShadingScratch {
    fn frame(&mut self, picture: &PreparedPicture, id: u32, ball: Ball) -> ReceiverFrame {
        if let Some(last) = self.last.filter(|last| last.id == id) {
            return last;
        }
        let frame = LightFrame::new(ball.center, ball.radius, picture.light);
        *self.last.insert(ReceiverFrame { id, frame, light_from_view: frame.rotation() * picture.world_from_view })
    }
}

/// Smooth noise in −1…1 on a grid of unit cells: hashed corner values, interpolated.
pub(crate) fn noise(p: DVec3) -> f64 {
    let cell = p.floor();
    let f = p - cell;
    let s = f * f * (3.0 - 2.0 * f);
    let [x, y, z] = cell.to_array().map(|at| (at as i32) as u32);
    // Per corner: the far one has weight s, the near one the rest. Corners that share coordinates share hashes.
    let mut sum = 0.0;
    for (z, weight_z) in [(z, 1.0 - s.z), (z.wrapping_add(1), s.z)] {
        let hash_z = hash(z);
        for (y, weight_y) in [(y, 1.0 - s.y), (y.wrapping_add(1), s.y)] {
            let hash_yz = hash(y ^ hash_z);
            for (x, weight_x) in [(x, 1.0 - s.x), (x.wrapping_add(1), s.x)] {
                sum += weight_x * weight_y * weight_z * fraction(hash(x ^ hash_yz), 8);
            }
        }
    }
    2.0 * sum - 1.0
}

/// Colour of a body at a point with this outward normal: its bands, made to meander.
pub(crate) fn surface(prepared_picture: &PreparedPicture, pattern: SurfacePattern, normal: DVec3) -> DVec3 {
    let colors = &prepared_picture.colors[pattern.first as usize..][..pattern.count as usize];
    let mut n = pattern.axes * normal;
    let mut shade = 1.0;
    if pattern.swirl > 0.0 {
        // The noise is stretched along the bands, like winds.
        let wide = DVec3::new(n.x * 2.5, n.y * 2.5, n.z * 9.0);
        let a = noise(wide + 40.0);
        let b = noise(wide * 2.7 + 90.0 + a);
        let c = noise(DVec3::new(n.x * 12.0, n.y * 12.0, n.z * 60.0) + 150.0 + 2.0 * b);
        n.z = (n.z + pattern.swirl * (0.06 * a + 0.05 * b + 0.014 * c)).clamp(-1.0, 1.0);
        shade = 1.0 + pattern.swirl * 0.2 * (0.6 * c + 0.4 * b);
    }
    let side = ((1.0 - n.z) * (1.0 + n.z)).max(0.0).sqrt();
    let latitude = 1.0 - arc(side, n.z) / PI;
    let last = pattern.count as f64 - 1.0;
    let at = (latitude * last).clamp(0.0, last);
    let below = at.floor().min((last - 1.0).max(0.0));
    let f = at - below;
    let blend = f * f * (3.0 - 2.0 * f);
    let from = DVec3::from_array(colors[below as usize]);
    let to = DVec3::from_array(colors[(below as usize + 1).min(colors.len() - 1)]);
    (from + (to - from) * blend) * shade
}

/// Colour of the visible surface point, as linear light: Lambert's law with the visible part of the light. `ray` numbers the ray: its
/// pixel, and its sample within the pixel. `lit` is the light at the point, if it is known.
pub(crate) fn paint(
    system: &System,
    prepared_picture: &PreparedPicture,
    scratch: &mut ShadingScratch,
    place: DVec2,
    seen: VisiblePoint,
    ray: [u32; 2],
    lit: Option<Illumination>,
) -> DVec3 {
    let options = system.picture();
    let light = DVec3::from_array(system.light().color.0);
    if seen.id == NO_SPHERE {
        let mut color = options.shown_background();
        if options.stars > 0.0 {
            let View { axes, half, projection, pixel, .. } = prepared_picture.view;
            let scale = projection.star_scale(half);
            let v = (place * half / scale).extend(1.0);
            color += starlight(axes[0] * v.x + axes[1] * v.y + axes[2] * v.z, pixel / scale, options.stars);
        }
        return color;
    }
    let Some(receiver) = prepared_picture.bodies.get(seen.id as usize) else {
        return match prepared_picture.limb_darkening {
            None => light,
            Some(limb) => {
                let direction = prepared_picture.view.ray(place).1.normalize_or(DVec3::Z);
                light * limb.intensity((-direction.dot(seen.normal)).clamp(0.0, 1.0))
            }
        };
    };
    let Some(&pattern) = prepared_picture.patterns.get(receiver.pattern as usize) else { return DVec3::ZERO };
    let lit = lit.unwrap_or_else(|| light_at(prepared_picture, scratch, seen));
    let ambient = match options.ambient_samples {
        0 => options.ambient,
        samples if options.ambient > 0.0 => options.ambient * openness(prepared_picture, seen, samples, ray),
        _ => 0.0,
    };
    let color = match prepared_picture.surfaces.get(pattern.surface as usize) {
        None => surface(prepared_picture, pattern, seen.normal),
        Some(own) => {
            let view = &prepared_picture.view;
            // Width of a pixel at the point: in perspective it grows with the distance.
            let distance = if view.projection == Projection::Perspective { seen.t } else { 1.0 };
            let footprint = view.pixel * distance / receiver.ball.radius;
            own.color(pattern.axes * seen.normal, footprint, || surface(prepared_picture, pattern, seen.normal))
        }
    };
    color * (light * (lit.irradiance * options.exposure) + ambient)
}
