//! Ricochet of a moving point off a ball, computed in f64 from the foot of the perpendicular.
//!
//! `origin + t · velocity − center` would lose the digits of a small distant ball, and an arc cosine those of a head-on hit. Let p be the
//! vector from the foot to the centre, h half the chord, r the radius, and ŵ the unit vector of the velocity relative to the ball. Then the
//! outward normal is −(p + h ŵ)/r, the angle to the tangent plane has sine h/r and cosine |p|/r, and the velocity is reflected in that
//! plane, in the frame of the ball.

use glam::DVec3;

use crate::intersect::surface::PerpendicularFoot;
use crate::records::Sphere;

/// A ball that a bullet may hit, at rest or with a constant velocity, as it is at the start of the bullet's flight. For a bullet with a
/// radius, `radius` is the sum of both radii, and the hit point is the position of the bullet's centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MovingSphere {
    /// The centre at time 0.
    pub center: DVec3,
    /// The radius, above 0.
    pub radius: f64,
    /// Change of the centre per unit of time.
    pub velocity: DVec3,
}

/// A hit of a bullet on a ball, and the velocity after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ricochet {
    /// Time of the hit since the start, in the unit of time of the velocities.
    pub time: f64,
    /// Position of the bullet at the hit.
    pub point: DVec3,
    /// The outward unit normal at the hit.
    pub normal: DVec3,
    /// Angle between the path, as seen from the ball, and the tangent plane, in radians: 0 grazing, π/2 head on.
    pub grazing_rad: f64,
    /// Velocity after the hit: reflected in the tangent plane, in the frame of the ball.
    pub velocity: DVec3,
}

impl From<&Sphere> for MovingSphere {
    /// The sphere, at rest.
    fn from(sphere: &Sphere) -> Self {
        Self { center: sphere.center.as_dvec3(), radius: f64::from(sphere.radius), velocity: DVec3::ZERO }
    }
}

impl MovingSphere {
    /// Computes how a bullet that starts at `origin` with `velocity` glances off. `None` if it starts inside the ball, flies away from it
    /// or past it, or does not move relative to it. If it starts on the surface and flies inwards, it hits at once. A tangent path is a hit
    /// that leaves the velocity unchanged.
    ///
    /// Computed in f64 without corrections. With E the distance to the centre, h half the chord, r the radius and w the velocity relative
    /// to the ball, the errors of time · |w| and of the point are a few 2⁻⁵³ (E + E r/h), and that of the normal is a few 2⁻⁵³ E/h. The
    /// radius, the distance and |w| must be between 1e-150 and 1e150: their squares are numbers.
    ///
    /// ```
    /// use umbracast::MovingSphere;
    /// use umbracast::glam::dvec3;
    ///
    /// let ball = MovingSphere { center: dvec3(10.0, 0.0, 0.0), radius: 2.0, velocity: dvec3(-1.0, 0.0, 0.0) };
    /// let hit = ball.ricochet(dvec3(0.0, 0.0, 0.0), dvec3(3.0, 0.0, 0.0)).expect("it comes");
    /// assert_eq!((hit.time, hit.point.x, hit.velocity.x), (2.0, 6.0, -5.0));
    /// ```
    pub fn ricochet(&self, origin: DVec3, velocity: DVec3) -> Option<Ricochet> {
        let outside = (self.center - origin).length() >= self.radius;
        outside.then(|| self.ricochet_or_touch(origin, velocity)).flatten()
    }

    /// Like [`ricochet`](Self::ricochet), for a bullet that rounding may have put inside the ball. From there it hits at once if it flies
    /// inwards, and not at all if it flies outwards.
    pub(crate) fn ricochet_or_touch(&self, origin: DVec3, velocity: DVec3) -> Option<Ricochet> {
        let (e, w) = (self.center - origin, velocity - self.velocity);
        let distance = e.length();
        if e.dot(w) <= 0.0 && distance < self.radius {
            return None;
        }
        if distance < self.radius {
            let normal = -e / distance;
            let sine = -w.dot(normal) / w.length();
            let grazing_rad = sine.atan2(normal.cross(w).length() / w.length());
            return Some(self.mirrored(0.0, normal, grazing_rad, velocity));
        }
        let PerpendicularFoot { p, .. } = PerpendicularFoot::of(e, w, self.radius);
        (e.dot(w) >= 0.0 && w != DVec3::ZERO && p.length() <= self.radius)
            .then(|| self.ricochet_of_certain_hit(origin, velocity))
    }

    /// Like [`ricochet`](Self::ricochet), for a bullet from outside that is known to hit the ball. If rounding makes the path miss, the hit
    /// is a graze.
    pub(crate) fn ricochet_of_certain_hit(&self, origin: DVec3, velocity: DVec3) -> Ricochet {
        let (e, w, r) = (self.center - origin, velocity - self.velocity, self.radius);
        let (length, ahead) = (w.length(), e.dot(w));
        if length == 0.0 {
            // The distance does not change: a permanent touch.
            return self.mirrored(0.0, (-e).normalize_or_zero(), 0.0, velocity);
        }
        let PerpendicularFoot { t: foot, p, half } = PerpendicularFoot::of(e, w, r);
        // The constant term divided by the larger root: the difference of foot and half chord would cancel near the surface. The hit is not
        // behind the foot; the clamp also handles a division by 0, if a path touches only at its start.
        let distance = e.length();
        let time = (distance - r) * (distance + r) / (ahead + half * length);
        let time = time.max(0.0).min(foot).max(0.0);
        let normal = (-p - half / length * w).normalize_or_zero();
        self.mirrored(time, normal, half.atan2(p.length()), velocity)
    }

    fn mirrored(&self, time: f64, normal: DVec3, grazing_rad: f64, velocity: DVec3) -> Ricochet {
        let point = self.center + time * self.velocity + self.radius * normal;
        let w = velocity - self.velocity;
        Ricochet { time, point, normal, grazing_rad, velocity: velocity - 2.0 * w.dot(normal) * normal }
    }
}
