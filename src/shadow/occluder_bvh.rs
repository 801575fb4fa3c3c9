//! Occluders that may cover a part of the light's disc, seen from a point: those that the cone from the point to the light intersects. A
//! BVH finds them.
//!
//! A query is conservative. A ball with centre C and radius r, with `along` and `across` the components of C − P along and across the axis
//! of the cone with the half angle α, intersects the cone only if `across · cos α − along · sin α ≤ r`: the left side is never more than
//! the distance of C from the cone. A ball that begins farther away than the light's centre is not in front of the light, because its power
//! is greater than that of the light. The margin is 10⁻¹² of all lengths (for C − P, the sum of its coordinates, which is at least as
//! long), which exceeds their rounding errors by far. The error of the light's centre turns the axis: for a ball near P it is as much
//! smaller as the ball is nearer than the light. (Otherwise a distant light, 10⁹ times as far away as the scene is large, would reach all
//! balls above a large floor.)
//!
//! A ball seen under the half angle β covers the whole light if the angle θ of C from the axis is at most β − α. Then sin (θ + α) ≤ sin β,
//! or across · cos α + along · sin α ≤ r; and θ + α < π / 2, or along · cos α > across · sin α. It is in front of the light if it ends
//! before the light begins.

use glam::DVec3;

use super::ball::Ball;
use super::ball_bvh::BallBvh;
use crate::error::Result;

/// Margin of a query, relative to the lengths.
const MARGIN: f64 = 1e-12;

/// The occluders of a light.
#[derive(Clone, Debug)]
pub(crate) struct OccluderBvh {
    pub(crate) bvh: BallBvh,
    light: Ball,
}

/// The cone from a point to the light.
struct Cone {
    apex: DVec3,
    /// Unit vector to the light.
    axis: DVec3,
    /// Distance of the light's centre.
    distance: f64,
    sine: f64,
    cosine: f64,
    /// Errors of the apex, of the axis per unit of length along it, and of the distance.
    margin: f64,
    skew: f64,
    distance_margin: f64,
}

impl Cone {
    // Inlined into each traversal: a call per node takes a fifth more instructions.
    #[inline(always)]
    fn may_intersect(&self, ball: Ball) -> bool {
        let v = ball.center - self.apex;
        let along = v.dot(self.axis);
        // Squares, because most nodes are rejected here, and a square root would take as long as the rest.
        let across_squared = (v - along * self.axis).length_squared();
        let reach =
            ball.radius + self.margin + self.skew * along.abs() + MARGIN * (ball.radius + v.abs().element_sum());
        let widest = reach + along * self.sine;
        let outside = widest < 0.0 || across_squared * (self.cosine * self.cosine) > widest * widest;
        // Negated, so that NaN counts as an intersection.
        !(outside || along < -reach || along - reach > self.distance + self.distance_margin)
    }

    /// Whether a ball covers the whole light by more than rounding.
    fn is_covered_by(&self, ball: Ball) -> bool {
        let v = ball.center - self.apex;
        let along = v.dot(self.axis);
        let across = (v - along * self.axis).length();
        let reach = ball.radius - self.margin - self.skew * along.abs() - MARGIN * (ball.radius + along.abs() + across);
        along * self.cosine > across * self.sine
            && across * self.cosine + along * self.sine < reach
            && along + ball.radius + self.margin + self.distance_margin < self.distance * (1.0 - self.sine - MARGIN)
    }
}

impl OccluderBvh {
    /// Builds the BVH of occluders: their bounding balls and ids.
    pub(crate) fn new(occluders: impl Iterator<Item = (Ball, u32)>, light: Ball) -> Result<Self> {
        Ok(Self { bvh: BallBvh::new(occluders)?, light })
    }

    /// The same occluders without nodes: a query returns all of them.
    #[cfg(test)]
    pub(crate) fn exhaustive(&self) -> Self {
        Self { bvh: self.bvh.without_nodes(), ..*self }
    }

    /// Replaces `found` by the ids, ascending, of the occluders that may cover a part of the light, seen from `point`; or by one id, of an
    /// occluder that covers all of it and for which `is_ball` is true. `scale` is the largest length from which the point was computed.
    #[inline]
    pub(crate) fn query(&self, point: DVec3, scale: f64, is_ball: impl Fn(u32) -> bool, found: &mut Vec<u32>) {
        found.clear();
        self.find(point, scale, |cone, ball, id| cone.is_covered_by(ball) && is_ball(id), found);
        found.sort_unstable();
    }

    /// Appends the ids of all occluders that may cover a part of the light, in no particular order.
    pub(crate) fn query_all(&self, point: DVec3, scale: f64, found: &mut Vec<u32>) {
        self.find(point, scale, |_, _, _| false, found);
    }

    /// Appends the ids of occluders that may cover a part of the light, until `covers` is true of one. Then `found` has only this one.
    #[inline(always)]
    fn find(&self, point: DVec3, scale: f64, covers: impl Fn(&Cone, Ball, u32) -> bool, found: &mut Vec<u32>) {
        let Some(cone) = self.cone(point, scale) else {
            return found.extend(self.bvh.balls.iter().map(|(_, id)| *id));
        };
        self.bvh.any(
            |ball| cone.may_intersect(ball),
            |ball, id| {
                if !cone.may_intersect(ball) {
                    return false;
                }
                let covers = covers(&cone, ball, id);
                if covers {
                    found.clear();
                }
                found.push(id);
                covers
            },
        );
    }

    /// The cone from a point to the light. `None` if there are no nodes, or the point is in the light.
    fn cone(&self, point: DVec3, scale: f64) -> Option<Cone> {
        let toward = self.light.center - point;
        let distance = toward.length();
        let sine = self.light.radius / distance;
        if self.bvh.has_no_nodes() || sine.is_nan() || sine >= 1.0 {
            return None;
        }
        Some(Cone {
            apex: point,
            axis: toward / distance,
            distance,
            sine: sine * (1.0 + MARGIN),
            cosine: ((1.0 - sine) * (1.0 + sine)).sqrt(),
            margin: MARGIN * scale,
            skew: MARGIN * self.light.center.length() / distance,
            distance_margin: MARGIN * self.light.center.length(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::Numbers;

    /// A query finds the balls that the cone intersects, and no others, also if the light is 10¹⁴ units away.
    #[test]
    fn a_distant_light_reaches_only_balls_in_its_cone() {
        let mut n = Numbers(3);
        let balls: Vec<Ball> = (0..2000)
            .map(|_| Ball { center: DVec3::from_array(n.vector().map(f64::from)) * 50.0, radius: 1.5 })
            .collect();
        let toward = DVec3::new(0.3, 0.5, 0.9).normalize();
        for distance in [1e4, 1e14] {
            let light = Ball { center: toward * distance, radius: distance * 1_f64.to_radians().sin() };
            let bvh = OccluderBvh::new(balls.iter().copied().zip(0..), light).unwrap();
            let (mut found, mut total) = (Vec::new(), 0);
            for _ in 0..200 {
                // A point on a floor whose radius is 10⁵.
                let point = DVec3::new(80.0 * f64::from(n.signed()), 80.0 * f64::from(n.signed()), -52.0);
                bvh.query(point, 2e5, |_| false, &mut found);
                let axis = (light.center - point).normalize();
                let (sine, cosine) = 1_f64.to_radians().sin_cos();
                let outside = |ball: &Ball| {
                    let v = ball.center - point;
                    (v - v.dot(axis) * axis).length() * cosine - v.dot(axis) * sine
                };
                let touching = (0..).zip(&balls).filter(|(_, ball)| outside(ball) < ball.radius + 0.03);
                let touching: Vec<u32> =
                    touching.filter(|(_, ball)| (ball.center - point).dot(axis) > 0.0).map(|one| one.0).collect();
                assert!(found.iter().all(|id| touching.contains(id)), "{point}: {found:?} {touching:?}");
                let inside = |id: &&u32| outside(&balls[**id as usize]) < balls[**id as usize].radius - 0.03;
                assert!(touching.iter().filter(inside).all(|id| found.contains(id)), "{point}: {found:?} {touching:?}");
                total += found.len();
            }
            assert!((20..20_000).contains(&total), "{total}");
        }
    }
}
