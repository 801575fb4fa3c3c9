//! The Sun's corona around the light: a schematic one, without streamers, for pictures of total eclipses.

use glam::{DVec2, DVec3};
use rayon::prelude::*;

use super::image::Picture;
use super::render_cpu::place;
use crate::batch::raygen::camera::{Lens, View};
use crate::shadow::ball::Ball;
use crate::shadow::system::System;

/// Mean brightness of the corona, in millionths of that of the Sun's disc, at a distance of `radii` solar radii from the Sun's centre
/// (Baumbach 1937).
pub(crate) fn corona_brightness(radii: f64) -> f64 {
    2.565 * radii.powi(-17) + 1.425 * radii.powi(-7) + 0.0532 * radii.powf(-2.5)
}

impl Picture {
    /// Adds a schematic corona around the light, behind all bodies. It is an aid for the eye, and no result: it is round, and depends on the
    /// distance from the centre of the light only, by the formula of Baumbach (1937). `brightness` is the linear light that shows a
    /// millionth of the brightness of the disc. Colours change, and distances, ids and fractions do not. Nothing is added in a parallel
    /// projection. Each sample is tested against every sphere, so that the system should have few of them.
    ///
    /// `system` is the system that the picture shows.
    pub fn add_corona(&mut self, system: &System, brightness: f64) {
        let Lens::Perspective { .. } = system.camera().lens else { return };
        let view = View::new(system.camera(), self.size);
        let in_view = |ball: Ball| Ball { center: view.turn(ball.center - view.position), radius: ball.radius };
        let light = in_view(system.light().ball);
        let visible = system.bodies().iter().filter(|body| body.visible);
        let bodies: Vec<Ball> = visible.flat_map(|body| body.bounding_balls()).map(in_view).chain([light]).collect();
        let toward = light.center.normalize_or_zero();
        let half = (light.radius / light.center.length()).min(1.0).asin();
        let (size, samples) = (self.size, system.picture().samples);
        let step = 1.0 / f64::from(samples);
        let color = DVec3::from_array(system.light().color.0) * step * step;
        let sample = |x: f64, y: f64| {
            let direction = (place(size, x, y) * view.half).extend(1.0).normalize();
            let hides = |ball: &Ball| {
                let along = ball.center.dot(direction);
                along > 0.0 && (ball.center - along * direction).length() <= ball.radius
            };
            if bodies.iter().any(hides) {
                return 0.0;
            }
            let angle = direction.cross(toward).length().atan2(direction.dot(toward));
            // Clipped before averaging, as in the rest of the picture.
            (brightness * corona_brightness((angle / half).max(1.0))).min(1.0)
        };
        self.rgb.par_iter_mut().enumerate().for_each(|(at, rgb)| {
            let [x, y] = [at as u32 % size[0], at as u32 / size[0]].map(f64::from);
            let within = (0..samples * samples).map(|i| DVec2::new(f64::from(i % samples), f64::from(i / samples)));
            let sum: f64 = within.map(|s| sample(x + (s.x + 0.5) * step, y + (s.y + 0.5) * step)).sum();
            let own = DVec3::from_array(rgb.map(f64::from)) + color * sum;
            *rgb = own.min(DVec3::ONE).as_vec3().to_array();
        });
    }
}
