//! Normals and view distances of a rendered picture, computed in f64 from what the centre of each pixel shows.

use glam::DVec3;

use super::image::Picture;
use super::prepared::RenderedSpheroid;
use super::primary::{intersect_ball, intersect_spheroid};
use super::render_cpu::place;
use crate::batch::raygen::camera::View;
use crate::error::Result;
use crate::runtime::memory::{try_collect, try_with_capacity};
use crate::shadow::ball::Ball;
use crate::shadow::system::System;

/// The body with an id, in camera space.
enum Shape {
    Ball(Ball),
    Spheroid(RenderedSpheroid),
}

impl Picture {
    /// Outward unit normal at the centre of each pixel, in the coordinates of the system; 0 where the pixel shows nothing. `system` is the
    /// system that the picture shows.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn normals(&self, system: &System) -> Result<Vec<[f32; 3]>> {
        let view = View::new(system.camera(), self.size);
        let shapes = shapes(system, &view)?;
        let [right, up, forward] = view.axes;
        try_collect(self.id.iter().enumerate().map(|(at, &id)| {
            let Some(shape) = shapes.get(id as usize) else { return [0.0; 3] };
            let (origin, direction) = self.ray(&view, at);
            let (t, normal, center) = match shape {
                Shape::Ball(ball) => {
                    let (t, normal) = intersect_ball(origin, direction, *ball);
                    (t, normal, ball.center)
                }
                Shape::Spheroid(spheroid) => {
                    let (t, normal, _) = intersect_spheroid(origin, direction, spheroid);
                    (t, normal, spheroid.center)
                }
            };
            // At an edge, a GPU may show a body that the ray passes by less than f32 can tell.
            let grazing = || {
                let v = origin - center;
                (v - v.dot(direction) * direction).normalize_or_zero()
            };
            let n = if t < f64::INFINITY { normal } else { grazing() };
            (n.x * right + n.y * up + n.z * forward).as_vec3().to_array()
        }))
    }

    /// Distance of what the centre of each pixel shows from the plane of the camera, along the viewing direction; infinite where the pixel
    /// shows nothing. `system` is the system that the picture shows.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn view_distances(&self, system: &System) -> Result<Vec<f32>> {
        let view = View::new(system.camera(), self.size);
        let distance = |(at, &t): (usize, &f32)| (f64::from(t) * self.ray(&view, at).1.z) as f32;
        try_collect(self.t.iter().enumerate().map(distance))
    }

    /// The ray through the centre of a pixel, in camera space.
    fn ray(&self, view: &View, at: usize) -> (DVec3, DVec3) {
        let width = self.size[0] as usize;
        let [x, y] = [at % width, at / width].map(|k| k as f64 + 0.5);
        view.projection.ray(place(self.size, x, y) * view.half)
    }
}

/// The spheres and spheroids of a system by id, the light last.
fn shapes(system: &System, view: &View) -> Result<Vec<Shape>> {
    let seen = |ball: &Ball| Ball { center: view.turn(ball.center - view.position), radius: ball.radius };
    let mut shapes = try_with_capacity(system.ball_count() + 1)?;
    for body in system.bodies() {
        match body.spheroid() {
            Some(spheroid) => {
                let id = shapes.len() as u32;
                shapes.push(Shape::Spheroid(RenderedSpheroid::new(view, id, &spheroid)));
            }
            None => shapes.extend(body.balls.iter().map(|ball| Shape::Ball(seen(ball)))),
        }
    }
    shapes.push(Shape::Ball(seen(&system.light().ball)));
    Ok(shapes)
}
