//! Foot of the perpendicular from a centre to a line, in f64, from which normals, angles and ricochets are computed.
//! `origin + t · direction − center` would lose the digits of a small sphere far away.

use crate::math::error_free::two_sum;
use glam::DVec3;

/// Point of a line that is closest to a centre.
pub(crate) struct PerpendicularFoot {
    /// Parameter of the foot, in units of the direction.
    pub(crate) t: f64,
    /// Vector from the foot to the centre.
    pub(crate) p: DVec3,
    /// Half the chord inside a sphere of the given radius; 0 if the line misses it.
    pub(crate) half: f64,
}

impl PerpendicularFoot {
    /// Foot on the line along `d`. `e` is the vector from its point at t = 0 to the centre.
    pub(crate) fn of(e: DVec3, d: DVec3, radius: f64) -> Self {
        let t = e.dot(d) / d.length_squared();
        let p = e - t * d;
        let half = ((radius - p.length()) * (radius + p.length())).max(0.0).sqrt();
        Self { t, p, half }
    }
}

/// a + b − c in f64, accurate even under cancellation: the rounding errors of both sums are added last (Knuth's TwoSum).
pub(crate) fn add_subtract(a: DVec3, b: DVec3, c: DVec3) -> DVec3 {
    let (sum, lost) = two_sum(a, b);
    let (rest, more) = two_sum(sum, -c);
    rest + (lost + more)
}
