//! Where a point in flight meets a ball, and how it glances off: in f64, from the foot of the perpendicular.
//!
//! `origin + t · velocity − center` loses the digits of a small ball far away, and an arc cosine those of a head-on hit. With p from
//! the foot to the centre and h the half chord, the outward normal is −(p + h ŵ)/r, the angle to the tangent plane has sine h/r and
//! cosine |p|/r, and the velocity is mirrored in that plane, in the frame of the ball.

use glam::DVec3;

use crate::intersect::perpendicular_foot::Foot;
use crate::records::Sphere;

/// A ball that bullets may meet, at the moment when their flight begins: still or moving evenly. For a bullet that has a size itself
/// `radius` is the sum of both radii, and what is met is the place where its centre then is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// Its centre.
    pub center: DVec3,
    /// Its radius, above 0.
    pub radius: f64,
    /// What one unit of time adds to the centre.
    pub velocity: DVec3,
}

/// How a bullet glances off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ricochet {
    /// When, in the unit of time of the velocities: 0 at the start.
    pub time: f64,
    /// Where.
    pub point: DVec3,
    /// The outward unit normal there.
    pub normal: DVec3,
    /// Between the path, as the ball sees it, and the tangent plane, in radians: 0 grazing, π/2 head on.
    pub angle: f64,
    /// The velocity afterwards: mirrored in the tangent plane, in the frame of the ball.
    pub velocity: DVec3,
}

impl From<&Sphere> for Target {
    /// The sphere where it is, and still.
    fn from(sphere: &Sphere) -> Self {
        Self { center: sphere.center.as_dvec3(), radius: f64::from(sphere.radius), velocity: DVec3::ZERO }
    }
}

impl Target {
    /// How a bullet that starts at `origin` with `velocity` glances off; none when it starts inside, flies away or past, or is not
    /// moving as the ball sees it. On the surface and on the way in it is met at once; a graze is a hit that turns nothing.
    ///
    /// All in f64 without corrections: with E the distance to the centre and h the half chord, time · |w| and the point are off by
    /// a few 2⁻⁵³ (E + E r/h), the normal by a few 2⁻⁵³ E/h, where w is the velocity as the ball sees it.
    pub fn ricochet(&self, origin: DVec3, velocity: DVec3) -> Option<Ricochet> {
        let outside = (self.center - origin).length() >= self.radius;
        outside.then(|| self.touch(origin, velocity)).flatten()
    }

    /// The same where rounding may have put the bullet inside: it is met at once on the way in, and not on the way out.
    pub(crate) fn touch(&self, origin: DVec3, velocity: DVec3) -> Option<Ricochet> {
        let (e, w) = (self.center - origin, velocity - self.velocity);
        let distance = e.length();
        if e.dot(w) <= 0.0 && distance < self.radius {
            return None;
        }
        if distance < self.radius {
            let normal = -e / distance;
            let sine = -w.dot(normal) / w.length();
            let angle = sine.atan2(normal.cross(w).length() / w.length());
            return Some(self.mirrored(0.0, normal, angle, velocity));
        }
        let Foot { p, .. } = Foot::of(e, w, self.radius);
        (e.dot(w) >= 0.0 && w != DVec3::ZERO && p.length() <= self.radius).then(|| self.met(origin, velocity))
    }

    /// The same of a bullet from outside that is known to meet the ball: what rounding makes of a graze is a graze.
    pub(crate) fn met(&self, origin: DVec3, velocity: DVec3) -> Ricochet {
        let (e, w, r) = (self.center - origin, velocity - self.velocity, self.radius);
        let (length, ahead) = (w.length(), e.dot(w));
        if length == 0.0 {
            // Both keep their distance: a touch that lasts.
            return self.mirrored(0.0, (-e).normalize_or_zero(), 0.0, velocity);
        }
        let Foot { t: foot, p, half } = Foot::of(e, w, r);
        // The constant term over the larger root: the difference of foot and half chord would cancel near the surface.
        // It is not behind the foot, whatever is divided by nothing where a path only touches at its start.
        let distance = e.length();
        let time = (distance - r) * (distance + r) / (ahead + half * length);
        let time = time.max(0.0).min(foot).max(0.0);
        let normal = (-p - half / length * w).normalize_or_zero();
        self.mirrored(time, normal, half.atan2(p.length()), velocity)
    }

    fn mirrored(&self, time: f64, normal: DVec3, angle: f64, velocity: DVec3) -> Ricochet {
        let point = self.center + time * self.velocity + self.radius * normal;
        let w = velocity - self.velocity;
        Ricochet { time, point, normal, angle, velocity: velocity - 2.0 * w.dot(normal) * normal }
    }
}
