//! The foot of the perpendicular from a centre on a line, in f64: what normals, angles and ricochets come from. `origin + t · direction −
//! center` would lose the digits of a small ball far away.

use glam::DVec3;

/// Where a line passes nearest to a centre.
pub(crate) struct Foot {
    /// Its parameter, in units of the direction.
    pub(crate) t: f64,
    /// From there to the centre.
    pub(crate) p: DVec3,
    /// Half of the chord that a ball of some radius cuts off; 0 where the line passes by.
    pub(crate) half: f64,
}

impl Foot {
    /// Of the line along `d` from where the centre is `e` away.
    pub(crate) fn of(e: DVec3, d: DVec3, radius: f64) -> Self {
        let t = e.dot(d) / d.length_squared();
        let p = e - t * d;
        let half = ((radius - p.length()) * (radius + p.length())).max(0.0).sqrt();
        Self { t, p, half }
    }
}

/// a + b − c, as exact as f64 holds it however much of them cancels: what two sums lose is added last (Knuth's TwoSum).
pub(crate) fn less(a: DVec3, b: DVec3, c: DVec3) -> DVec3 {
    let (sum, lost) = two_sum(a, b);
    let (rest, more) = two_sum(sum, -c);
    rest + (lost + more)
}

fn two_sum(a: DVec3, b: DVec3) -> (DVec3, DVec3) {
    let sum = a + b;
    let other = sum - a;
    (sum, (a - (sum - other)) + (b - other))
}
