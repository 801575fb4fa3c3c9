//! What the CPU computes of a rendered picture, in f64: normals, view distances and fluxes of what the centre of each pixel shows, and the
//! corona: a schematic one, without streamers, for pictures of total eclipses.

use glam::{DVec2, DVec3};
use rayon::prelude::*;

use super::image::Picture;
use super::openness::hits_ball;
use super::prepared::PreparedPicture;
use super::primary::{intersect_ball, intersect_spheroid};
use super::render_cpu::{center, center_place, each_pixel, place};
use super::shade::{ShadingScratch, light_at};
use crate::batch::raygen::camera::{Lens, View};
use crate::error::Result;
use crate::query::validate::usage;
use crate::runtime::memory::{try_collect, try_filled};
use crate::shadow::ball::Ball;
use crate::shadow::system::System;

impl Picture {
    /// Outward unit normal at the centre of each pixel, in the coordinates of the system; 0 where the pixel shows nothing. `system` is the
    /// system that the picture shows.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a system of another size;
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn normals(&self, system: &System) -> Result<Vec<[f32; 3]>> {
        self.check_size(system)?;
        let PreparedPicture { view, balls, spheroids, world_from_view, .. } = PreparedPicture::new(system)?;
        try_collect(self.id.iter().enumerate().map(|(at, &id)| {
            let Some(&ball) = balls.get(id as usize) else { return [0.0; 3] };
            let (origin, direction) = view.ray(center_place(self.size, at));
            let (t, normal) = match spheroids.binary_search_by_key(&id, |one| one.0) {
                Ok(at) => {
                    let (t, normal, _) = intersect_spheroid(origin, direction, &spheroids[at].1);
                    (t, normal)
                }
                Err(_) => intersect_ball(origin, direction, ball),
            };
            // At an edge, a GPU may show a body that the ray passes by less than f32 can tell.
            let grazing = || {
                let v = origin - ball.center;
                (v - v.dot(direction) * direction).normalize_or_zero()
            };
            let n = if t < f64::INFINITY { normal } else { grazing() };
            (world_from_view * n).as_vec3().to_array()
        }))
    }

    /// Distance of what the centre of each pixel shows from the plane of the camera, along the viewing direction; infinite where the pixel
    /// shows nothing. `system` is the system that the picture shows.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a system of another size;
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn view_distances(&self, system: &System) -> Result<Vec<f32>> {
        self.check_size(system)?;
        let view = View::new(system.camera(), self.size);
        let distance = |(at, &t): (usize, &f32)| (f64::from(t) * view.ray(center_place(self.size, at)).1.z) as f32;
        try_collect(self.t.iter().enumerate().map(distance))
    }

    /// Visible flux of the light at the point that the centre of each pixel shows: the brightness of the visible part of its disc, relative
    /// to that of the whole disc, occlusion by the ground itself included. Where the visible fraction is 0 or 1, and without limb
    /// darkening, it is that fraction. `system` is the system that the picture shows.
    ///
    /// The CPU computes it, on all cores, accurate to 10⁻⁴.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a system of another size;
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn fluxes(&self, system: &System) -> Result<Vec<f32>> {
        self.check_size(system)?;
        let mut fluxes = try_filled("visible fluxes", self.fraction.len(), 0.0)?;
        fluxes.copy_from_slice(&self.fraction);
        if system.light().limb_darkening.is_none() {
            return Ok(fluxes);
        }
        let partial = |at: &usize| self.fraction[*at] > 0.0 && self.fraction[*at] < 1.0;
        let pixels: Vec<usize> = (0..self.fraction.len()).filter(partial).collect();
        let prepared_picture = PreparedPicture::new(system)?;
        let flux = |scratch: &mut ShadingScratch, at| {
            light_at(&prepared_picture, scratch, center(&prepared_picture, self.size, at)).flux as f32
        };
        for (at, flux) in each_pixel(&pixels, flux) {
            fluxes[at] = flux;
        }
        Ok(fluxes)
    }

    /// Checks that a system may be the one that the picture shows.
    fn check_size(&self, system: &System) -> Result<()> {
        let ([width, height], [columns, rows]) = (self.size, system.picture().size);
        if self.size == system.picture().size {
            return Ok(());
        }
        usage(format!(
            "the picture has {width}x{height} pixels, and the system {columns}x{rows}: give the system that was rendered"
        ))
    }

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
            if bodies.iter().any(|ball| hits_ball(ball.center, direction, ball.radius)) {
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

/// Mean brightness of the corona, in millionths of that of the Sun's disc, at a distance of `radii` solar radii from the Sun's centre
/// (Baumbach 1937).
fn corona_brightness(radii: f64) -> f64 {
    2.565 * radii.powi(-17) + 1.425 * radii.powi(-7) + 0.0532 * radii.powf(-2.5)
}
