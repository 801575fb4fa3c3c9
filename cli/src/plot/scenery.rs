//! Positions and shapes of the spheres and ellipsoids of a plot at a time.

use umbracast::Motion;
use umbracast::Sphere;
use umbracast::glam::{DMat3, DQuat, DVec3};
use umbracast_files::Table;

use super::sample::{Beam, Mark};

/// The spheres or ellipsoids of a scene, with their motion.
#[derive(Clone, Copy)]
pub(super) struct Scenery<'a> {
    table: &'a Table<Sphere>,
    motion: Motion,
    /// Time range of the scene.
    range: [f32; 2],
}

/// Shape of an ellipsoid around its centre: its semi-axes, and the rotation from its own axes to those of the scene.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub(super) radii: DVec3,
    pub(super) turn: DQuat,
}

impl Form {
    pub(super) fn ball(radius: f64) -> Self {
        Self { radii: DVec3::splat(radius), turn: DQuat::IDENTITY }
    }

    /// The radius of a ball; `None` for another shape.
    pub(super) fn radius(&self) -> Option<f64> {
        (self.radii == DVec3::splat(self.radii.x)).then_some(self.radii.x)
    }

    /// The map from this shape, with semi-axes of at least `least`, to the unit ball.
    pub(super) fn unit_map(&self, least: f64) -> DMat3 {
        DMat3::from_diagonal(self.radii.max(DVec3::splat(least)).recip()) * DMat3::from_quat(self.turn).transpose()
    }

    /// The point of the surface that lies farthest in a direction, from the centre.
    pub(super) fn farthest(&self, direction: DVec3) -> DVec3 {
        let own = self.radii * (self.turn.inverse() * direction);
        self.turn * (self.radii * own.normalize_or_zero())
    }

    /// Half extents along the axes of the scene.
    pub(super) fn reach(&self) -> DVec3 {
        DVec3::from_array(DVec3::AXES.map(|axis| self.farthest(axis).dot(axis)))
    }
}

impl<'a> Scenery<'a> {
    pub(super) fn new(table: &'a Table<Sphere>, motion: Motion, range: [f32; 2]) -> Self {
        Self { table, motion, range }
    }

    pub(super) fn len(&self) -> usize {
        self.table.records.len()
    }

    /// "spheres" or "ellipsoids".
    pub(super) fn word(&self) -> &'static str {
        if self.table.optional.stretches() { "ellipsoids" } else { "spheres" }
    }

    /// Whether an id is that of an invalid sphere, which is not drawn.
    pub(super) fn is_skipped(&self, id: usize) -> bool {
        self.table.skipped.binary_search(&(id as u32)).is_ok()
    }

    /// Centre and shape of sphere `id` at a time; `None` if it is skipped.
    pub(super) fn at(&self, id: usize, time: f64) -> Option<(DVec3, Form)> {
        if self.is_skipped(id) {
            return None;
        }
        let sphere = self.table.records.get(id)?;
        let way = self.velocity(id) * time;
        let form = match self.table.optional.ellipsoid(id, sphere) {
            None => Form::ball(f64::from(sphere.radius)),
            Some(ellipsoid) => {
                let [x, y, z, w] = ellipsoid.rotation.to_array().map(f64::from);
                Form { radii: ellipsoid.radii.as_dvec3(), turn: DQuat::from_xyzw(x, y, z, w).normalize() }
            }
        };
        Some((sphere.center.as_dvec3() + way, form))
    }

    pub(super) fn velocity(&self, id: usize) -> DVec3 {
        let velocities = self.table.optional.velocities.as_deref();
        velocities.and_then(|all| all.get(id)).map_or(DVec3::ZERO, |velocity| velocity.as_dvec3())
    }

    /// The time at which a ray intersects the spheres at `t`.
    pub(super) fn moment(&self, beam: &Beam, t: f32) -> f64 {
        f64::from(match self.motion {
            Motion::AtTime => beam.time,
            _ => t,
        })
    }

    /// First and last time that the drawn parts of these rays see; `None` if no sphere moves.
    pub(super) fn span(&self, sample: &[Beam]) -> Option<[f64; 2]> {
        self.table.optional.velocities.as_ref()?;
        let ends = |beam: &Beam| {
            let end = match beam.mark {
                Mark::Hit { t, .. } => t,
                _ => beam.ray.t_max,
            };
            [beam.ray.t_min, end].map(|t| self.moment(beam, t))
        };
        // Rays with times outside the range were skipped.
        let range = self.range.map(f64::from);
        let all = sample.iter().flat_map(ends).map(|time| time.clamp(range[0], range[1]));
        let span = all.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], time| [low.min(time), high.max(time)]);
        Some(if span[0] <= span[1] { span } else { [range[0]; 2] })
    }
}
