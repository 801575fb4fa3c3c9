//! A bullet on its way, and the ray that a device is asked for it.

use glam::{DVec3, Vec3};

use super::bullet::Bullet;
use super::leg::{Leg, LegStatus};
use super::ricochet::{Ricochet, Target};
use crate::cpu::scene::CpuScene;
use crate::records::{NO_SPHERE, Ray};

/// What bullets fly among.
#[derive(Clone, Copy)]
pub(crate) struct Field<'a> {
    pub(crate) host: &'a CpuScene,
    /// The last moment for which the spheres are known to move; none at rest.
    pub(crate) end: Option<f32>,
}

impl Field<'_> {
    /// A sphere where it is when the bullet's leg begins, larger by the bullet's radius. Among spheres at rest the unit of time is
    /// that of length.
    pub(crate) fn target(&self, id: u32, bullet: &Flying) -> Target {
        let sphere = &self.host.spheres[id as usize];
        let velocity = self.host.columns.velocities.as_ref().map_or(DVec3::ZERO, |all| all[id as usize].as_dvec3());
        Target {
            center: sphere.center.as_dvec3() + bullet.frames * velocity,
            radius: f64::from(sphere.radius) + f64::from(bullet.radius),
            velocity,
        }
    }
}

/// A bullet on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flying {
    /// Its number among those that were shot.
    pub(crate) bullet: usize,
    /// The sphere that it glanced off last: a line that leaves a ball does not come back to it, though the ball moves.
    pub(crate) left: u32,
    /// What a device is asked: the nearest ray of f32 whose start is not inside that sphere.
    pub(crate) ray: Ray,
    /// The frame from which the ray's `t` counts, among spheres that move: the f32 just before the leg begins.
    pub(crate) time: f32,
    pub(crate) radius: f32,
    pub(crate) at: DVec3,
    /// What a unit of `t` adds. Among spheres at rest a unit vector: `t` is a length. Else the velocity: `t` is in frames.
    pub(crate) along: DVec3,
    flown: f64,
    frames: f64,
    /// Units of `t` in a frame: the speed, or 1.
    pace: f64,
}

impl Flying {
    pub(crate) fn launched(bullet: usize, shot: &Bullet, radius: f32, end: Option<f32>) -> Self {
        // As long as 1 or 2 by a power of two, which rounds nothing: the nearest and the farthest target have a direction of f32.
        let away = shot.to.as_dvec3() - shot.from.as_dvec3();
        let (unit, speed) = (away.normalize(), f64::from(shot.speed));
        let (along, direction, pace) = if end.is_some() {
            (unit * speed, (unit * speed).as_vec3(), 1.0)
        } else {
            (unit, (away * (-away.abs().max_element().log2().floor()).exp2()).as_vec3(), speed)
        };
        let ray = Ray::new(shot.from, moving(direction, unit)).between(0.0, end.unwrap_or(f32::INFINITY));
        let at = shot.from.as_dvec3();
        Self { bullet, left: NO_SPHERE, ray, time: 0.0, radius, at, along, flown: 0.0, frames: 0.0, pace }
    }

    /// After a ricochet; none where the sphere was met beyond the coordinates of f32, or the bullet is faster than they can say.
    pub(crate) fn after(self, id: u32, turned: &Ricochet, field: Field<'_>) -> Option<Self> {
        let target = field.target(id, &self);
        let (center, r) = (target.center + turned.time * target.velocity, target.radius);
        let (flown, mut frames) = self.reached(turned, field.end);
        let mut along = turned.velocity;
        let (mut time, mut late, mut last) = (0.0, 0.0, f32::INFINITY);
        if let Some(end) = field.end {
            // What rounding puts behind the end is at the end.
            frames = frames.min(f64::from(end));
            time = below(frames);
            last = below(f64::from(end) - f64::from(time));
            late = ((frames - f64::from(time)) as f32).min(last);
        } else {
            along = along.normalize();
        }
        // Where it would have been when `t` was 0.
        let origin = |at: DVec3| at - f64::from(late) * along;
        let outside = |start: &Vec3| {
            (start.as_dvec3() + f64::from(late) * along - center).length_squared() > r * r * (1.0 + (-50.0_f64).exp2())
        };
        // As far out as rounding to f32 may take it in, and a rounding of f64 of what lies between.
        let size = origin(turned.point).abs().max_element();
        let grid = size.max(f64::from(f32::MIN_POSITIVE)) * (-23.0_f64).exp2();
        let step = grid + (center.abs().max_element() + r) * (-49.0_f64).exp2();
        let start = origin(turned.point).as_vec3();
        let start = if outside(&start) { start } else { origin(turned.point + step * turned.normal).as_vec3() };
        let ray = Ray::new(start, moving(along.as_vec3(), turned.normal)).between(late, last);
        let usable = start.is_finite() && ray.direction.is_finite();
        usable.then_some(Self { left: id, ray, time, at: turned.point, along, flown, frames, ..self })
    }

    /// How far it has flown when it glances off, and for how many frames.
    fn reached(&self, turned: &Ricochet, end: Option<f32>) -> (f64, f64) {
        let length = if end.is_some() { self.along.length() } else { 1.0 };
        (self.flown + turned.time * length, self.frames + turned.time / self.pace)
    }

    /// The leg that ends so; without an end, on nothing.
    pub(crate) fn leg(&self, end: Option<&(u32, Ricochet)>, field: Field<'_>) -> Leg {
        let Some((id, turned)) = end else { return Leg::MISS };
        let (distance, frames) = self.reached(turned, field.end);
        let velocity = if field.end.is_some() { turned.velocity } else { turned.velocity.normalize() * self.pace };
        Leg {
            status: LegStatus::Hit,
            id: *id,
            distance: distance as f32,
            frames: frames as f32,
            point: turned.point.as_vec3(),
            angle: turned.angle as f32,
            velocity: velocity.as_vec3(),
        }
    }
}

/// No ray stands still, but a bullet may, once a ball that flees as it comes has stopped it: then it moves by less than shows.
fn moving(direction: Vec3, otherwise: DVec3) -> Vec3 {
    if direction == Vec3::ZERO { (otherwise * (-90.0_f64).exp2()).as_vec3() } else { direction }
}

/// The largest f32 that is not larger.
fn below(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) > x { near.next_down() } else { near }
}
