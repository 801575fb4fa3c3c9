//! Observers inside a body that casts shadows. The whole light is hidden from them, which is probably a mistake of the caller.

use glam::DVec3;
use rayon::prelude::*;

use super::ball::{Ball, Shadow, ShadowKind};
use super::ball_bvh::BallBvh;
use super::lighting::Lighting;
use super::spheroid::Spheroid;
use crate::error::Result;
use crate::query::policy::check_same_length;

/// Depth below a surface up to which an observer is on it, in units of the distance from the centre to the surface there.
/// `raised_to_surface` (`visibility.rs`) has the same limit, as a power.
const ON: f64 = 1.0 / (1_u64 << 22) as f64;

/// The interiors of the bodies of a [`Lighting`], to find the observers inside them.
#[derive(Clone, Debug)]
pub struct Interiors {
    bvh: BallBvh,
    spheroids: Vec<Spheroid>,
    names: Vec<(usize, String)>,
    spheroid_names: Vec<String>,
}

/// An observer inside a body.
#[derive(Clone, Debug, PartialEq)]
pub struct InsideBody {
    /// Name of the body; empty if it has none.
    pub body: String,
    /// Distance to the surface, away from the centre.
    pub depth: f64,
}

impl Interiors {
    /// The interiors of all bodies of a lighting.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn new(lighting: &Lighting) -> Result<Self> {
        let (names, spheroid_names) = lighting.names();
        Ok(Self {
            bvh: BallBvh::new(lighting.occluders().iter().copied().zip(0..))?,
            spheroids: lighting.spheroids().to_vec(),
            names: names.to_vec(),
            spheroid_names: spheroid_names.to_vec(),
        })
    }

    /// The body around an observer; `None` if the observer is outside all bodies or on a surface.
    pub fn around(&self, observer: DVec3) -> Option<InsideBody> {
        let mut found = None;
        self.bvh.any(
            |ball| (observer - ball.center).length() <= ball.radius,
            |ball, id| {
                let depth = ball.radius - (observer - ball.center).length();
                let is_inside = depth > ON * ball.radius;
                if is_inside {
                    let of = self.names.partition_point(|(first, _)| *first <= id as usize);
                    let body = of.checked_sub(1).map(|at| self.names[at].1.clone()).unwrap_or_default();
                    found = Some(InsideBody { body, depth });
                }
                is_inside
            },
        );
        found.or_else(|| {
            let (at, depth) =
                self.spheroids.iter().enumerate().find_map(|(at, one)| Some((at, spheroid_depth(one, observer)?)))?;
            Some(InsideBody { body: self.spheroid_names.get(at).cloned().unwrap_or_default(), depth })
        })
    }

    /// Number of observers that are inside a body, and the index of the first of them. `shadows` has the results for these observers: the
    /// whole light is hidden from an observer inside a body, so the others are not tested.
    ///
    /// # Errors
    /// [`Error::LengthsDiffer`](crate::Error::LengthsDiffer).
    pub fn count(&self, observers: &[DVec3], shadows: &[Shadow]) -> Result<(u64, Option<usize>)> {
        check_same_length("observers", observers.len(), "shadows", shadows.len())?;
        let is_inside = |(observer, shadow): (&DVec3, &Shadow)| {
            shadow.kind == ShadowKind::Umbra && self.around(*observer).is_some()
        };
        let inside = observers.par_iter().zip(shadows).enumerate().filter(|(_, one)| is_inside(*one));
        let inside = inside.map(|(at, _)| (1, at)).reduce(|| (0, usize::MAX), |a, b| (a.0 + b.0, a.1.min(b.1)));
        Ok((inside.0, (inside.0 > 0).then_some(inside.1)))
    }
}

/// Distance of a point inside a spheroid to its surface, away from the centre, if the point counts as inside and not on the surface.
pub(super) fn depth_inside(spheroid: &Spheroid, point: DVec3) -> Option<f64> {
    if !spheroid.is_sphere() {
        return spheroid_depth(spheroid, point);
    }
    let depth = spheroid.radius - (point - spheroid.center).length();
    (depth > ON * spheroid.radius).then_some(depth)
}

/// [`depth_inside`] of a body that is not a sphere.
fn spheroid_depth(spheroid: &Spheroid, point: DVec3) -> Option<f64> {
    let from = point - spheroid.center;
    let height = from.dot(spheroid.pole.normalize());
    let across = (from.length_squared() - height * height).max(0.0).sqrt();
    let level = (across / spheroid.radius).hypot(height / spheroid.polar_radius);
    let Ball { radius, .. } = spheroid.inscribed_ball();
    // At the centre, every direction leads to the surface; the shortest one counts.
    (1.0 - level > ON).then(|| if level > 0.0 { from.length() * (1.0 / level - 1.0) } else { radius })
}
