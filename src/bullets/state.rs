//! State of a bullet in flight, and the ray that a device casts for it.

use glam::{DVec3, Vec3};

use super::bullet::{Bullet, Leg, LegStatus};
use super::ricochet::{MovingSphere, Ricochet};
use crate::cpu::scene::CpuScene;
use crate::records::{NO_SPHERE, Ray};

/// The spheres among which bullets fly.
#[derive(Clone, Copy)]
pub(crate) struct BulletScene<'a> {
    pub(crate) host: &'a CpuScene,
    /// End of the time range in which the motion of the spheres is known; `None` if they rest.
    pub(crate) end: Option<f32>,
}

impl BulletScene<'_> {
    /// The sphere at the time when the bullet's leg begins, enlarged by the bullet's radius. Among spheres at rest, a unit of time is a
    /// unit of length.
    pub(crate) fn target(&self, id: u32, bullet: &BulletState) -> MovingSphere {
        let sphere = &self.host.spheres[id as usize];
        let velocity = self.host.attributes.velocities.as_ref().map_or(DVec3::ZERO, |all| all[id as usize].as_dvec3());
        MovingSphere {
            center: sphere.center.as_dvec3() + bullet.frames * velocity,
            radius: f64::from(sphere.radius) + f64::from(bullet.radius),
            velocity,
        }
    }
}

/// A bullet in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BulletState {
    /// Index of the bullet in the input.
    pub(crate) bullet: usize,
    /// The sphere that the bullet glanced off last, which is not hit next: a line that leaves a ball does not return to it, even if the
    /// ball moves.
    pub(crate) last_sphere: u32,
    /// The sphere on whose surface the bullet starts its first leg.
    pub(crate) from_id: u32,
    /// The ray that the device casts: the nearest f32 ray whose start is not inside that sphere.
    pub(crate) ray: Ray,
    /// What rounding its direction to f32 left over, on the first leg. The start of later legs is rounded anyway.
    pub(crate) direction_low: [f32; 3],
    /// Among moving spheres, the time at which the ray's `t` is 0, in frames: the f32 just before the leg begins.
    pub(crate) time: f32,
    pub(crate) radius: f32,
    pub(crate) position: DVec3,
    /// Change of the position per unit of `t`. Among spheres at rest a unit vector, so `t` is a length; else the velocity, so `t` is in
    /// frames.
    pub(crate) direction: DVec3,
    distance: f64,
    frames: f64,
    /// Units of `t` per frame: the speed, or 1.
    t_per_frame: f64,
}

impl BulletState {
    pub(crate) fn at_start(bullet: usize, shot: &Bullet, radius: f32, from_id: u32, end: Option<f32>) -> Self {
        // For spheres at rest, the direction is scaled by a power of two, which is exact, until its largest component is in [1, 2). Then it
        // neither underflows nor overflows f32, however near or far the target is.
        let away = shot.to.as_dvec3() - shot.from.as_dvec3();
        let (unit, speed) = (away.normalize(), f64::from(shot.speed));
        let (along, direction, t_per_frame) = if end.is_some() {
            (unit * speed, unit * speed, 1.0)
        } else {
            (unit, away * (-away.abs().max_element().log2().floor()).exp2(), speed)
        };
        let rounded = direction.as_vec3();
        let ray = Ray::new(shot.from, nonzero_direction(rounded, unit)).between(0.0, end.unwrap_or(f32::INFINITY));
        let at = shot.from.as_dvec3();
        Self {
            bullet,
            last_sphere: NO_SPHERE,
            from_id,
            ray,
            direction_low: (direction - rounded.as_dvec3()).as_vec3().to_array(),
            time: 0.0,
            radius,
            position: at,
            direction: along,
            distance: 0.0,
            frames: 0.0,
            t_per_frame,
        }
    }

    /// The state after a ricochet. `None` if the hit point exceeds the range of f32, or if the new velocity does.
    pub(crate) fn after(self, id: u32, turned: &Ricochet, field: BulletScene<'_>) -> Option<Self> {
        let target = field.target(id, &self);
        let (center, r) = (target.center + turned.time * target.velocity, target.radius);
        let (flown, mut frames) = self.reached(turned, field.end);
        let mut along = turned.velocity;
        let (mut time, mut late, mut last) = (0.0, 0.0, f32::INFINITY);
        if let Some(end) = field.end {
            // A time that rounding puts after the end is set to the end.
            frames = frames.min(f64::from(end));
            time = round_down(frames);
            last = round_down(f64::from(end) - f64::from(time));
            late = ((frames - f64::from(time)) as f32).min(last);
        } else {
            along = along.normalize();
        }
        // Position at which the bullet would be at `t = 0`.
        let origin = |at: DVec3| at - f64::from(late) * along;
        let outside = |start: &Vec3| {
            (start.as_dvec3() + f64::from(late) * along - center).length_squared() > r * r * (1.0 + (-50.0_f64).exp2())
        };
        // Moves the start outwards by as much as rounding to f32 may move it inwards, plus the f64 rounding of the quantities in between.
        let size = origin(turned.point).abs().max_element();
        let grid = size.max(f64::from(f32::MIN_POSITIVE)) * (-23.0_f64).exp2();
        let step = grid + (center.abs().max_element() + r) * (-49.0_f64).exp2();
        let start = origin(turned.point).as_vec3();
        let start = if turned.velocity == self.direction {
            // A line touches a ball once. Where it touches two balls at one point, each would else be hit after the other, for ever.
            next_towards(start, along)
        } else if outside(&start) {
            start
        } else {
            origin(turned.point + step * turned.normal).as_vec3()
        };
        let ray = Ray::new(start, nonzero_direction(along.as_vec3(), turned.normal)).between(late, last);
        let usable = start.is_finite() && ray.direction.is_finite();
        usable.then_some(Self {
            last_sphere: id,
            from_id: NO_SPHERE,
            ray,
            direction_low: [0.0; 3],
            time,
            position: turned.point,
            direction: along,
            distance: flown,
            frames,
            ..self
        })
    }

    /// Distance and frames from the start of the bullet to the ricochet.
    fn reached(&self, turned: &Ricochet, end: Option<f32>) -> (f64, f64) {
        let length = if end.is_some() { self.direction.length() } else { 1.0 };
        (self.distance + turned.time * length, self.frames + turned.time / self.t_per_frame)
    }

    /// The leg that ends with this ricochet; a miss without one.
    pub(crate) fn leg(&self, end: Option<&(u32, Ricochet)>, field: BulletScene<'_>) -> Leg {
        let Some((id, turned)) = end else { return Leg::MISS };
        let (distance, frames) = self.reached(turned, field.end);
        let velocity =
            if field.end.is_some() { turned.velocity } else { turned.velocity.normalize() * self.t_per_frame };
        Leg {
            status: LegStatus::Hit,
            id: *id,
            distance: distance as f32,
            frames: frames as f32,
            point: turned.point.as_vec3(),
            grazing_rad: turned.grazing_rad as f32,
            velocity: velocity.as_vec3(),
        }
    }
}

/// The direction of a bullet's ray. A bullet can come to rest, if the ball that it hits recedes. A ray needs a direction, so it then moves
/// along `otherwise`, by a negligible amount.
fn nonzero_direction(direction: Vec3, otherwise: DVec3) -> Vec3 {
    if direction == Vec3::ZERO { (otherwise * (-90.0_f64).exp2()).as_vec3() } else { direction }
}

/// The next point of the grid of f32, in each component in which the direction is not 0.
fn next_towards(point: Vec3, direction: DVec3) -> Vec3 {
    let next = |x: f32, d: f64| match d {
        0.0 => x,
        _ if d > 0.0 => x.next_up(),
        _ => x.next_down(),
    };
    Vec3::new(next(point.x, direction.x), next(point.y, direction.y), next(point.z, direction.z))
}

/// The largest f32 that is at most `x`.
fn round_down(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) > x { near.next_down() } else { near }
}
