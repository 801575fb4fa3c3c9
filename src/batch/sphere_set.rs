//! Validated spheres of a scene: records, attribute columns, and balls that contain the whole paths of moving spheres.

use glam::Vec3;

use super::input::Spheres;
use crate::error::{Error, Result};
use crate::intersect::ellipsoid::{EllipsoidShape, UnitBallMap};
use crate::intersect::motion::swept_bounds;
use crate::query::optical_depth::optical_depth;
use crate::query::policy::check_same_length;
use crate::query::validate::check_sphere;
use crate::records::Sphere;
use crate::runtime::cancel::CancelToken;
use crate::runtime::memory::try_with_capacity;

/// Optional attribute columns of a scene's spheres.
#[derive(Clone, Debug, Default)]
pub(crate) struct SphereAttributes {
    pub(crate) masks: Option<Vec<u32>>,
    pub(crate) velocities: Option<Vec<Vec3>>,
    /// Transmittances as [optical depths](optical_depth); None if all spheres are opaque.
    pub(crate) optical_depths: Option<Vec<u32>>,
    /// Maps from ellipsoids to balls; None if all are spheres.
    pub(crate) maps: Option<Vec<UnitBallMap>>,
}

impl SphereAttributes {
    /// Attributes of spheres without attribute columns.
    pub(crate) const NONE: Self = Self { masks: None, velocities: None, optical_depths: None, maps: None };

    /// Whether spheres move or are ellipsoids, so that their records alone do not describe them.
    pub(crate) fn has_motion_or_shape(&self) -> bool {
        self.velocities.is_some() || self.maps.is_some()
    }

    /// Largest ratio of the longest to the shortest semi-axis of an ellipsoid; 0 if all are spheres.
    pub(crate) fn max_axis_ratio(&self) -> f32 {
        self.maps.iter().flatten().fold(0.0, |most, map| (1.0 / map.inscribed_radius).max(most))
    }

    /// Radius of the largest concentric ball that certainly lies inside sphere or ellipsoid `id`.
    pub(crate) fn inner_radius(&self, id: u32, sphere: &Sphere) -> f32 {
        let share = self.maps.as_ref().map_or(1.0, |maps| maps[id as usize].inscribed_radius);
        // Both factors were rounded, so their product alone is not a lower bound.
        if share < 1.0 { (sphere.radius * share).next_down() } else { sphere.radius }
    }
}

/// Validated spheres with their attributes.
pub(crate) struct SphereSet<'a> {
    pub(crate) spheres: &'a [Sphere],
    pub(crate) attributes: SphereAttributes,
    /// Time range of their motion, if they move.
    pub(crate) time_range: [f32; 2],
    /// Minimum number of spheres for a BVH, if it is not the engine's own.
    pub(crate) tree_from: Option<usize>,
    /// Cancels builds over these spheres.
    pub(crate) cancel: &'a CancelToken,
    /// Balls around the whole paths; None if the spheres rest.
    swept_bounds: Option<Vec<Sphere>>,
}

impl<'a> SphereSet<'a> {
    /// Validates the spheres. Missing columns are taken from `before`. `time_range` is the time range of their motion.
    ///
    /// # Errors
    /// The first invalid sphere or attribute, columns of the wrong length, cancellation, or lack of memory.
    pub(crate) fn new(
        set: &Spheres<'a>,
        before: SphereAttributes,
        time_range: [f32; 2],
        cancel: &'a CancelToken,
    ) -> Result<Self> {
        let spheres = set.records;
        let maps = set.shapes.map(|shapes| unit_ball_maps(spheres.len(), shapes)).transpose()?.or(before.maps);
        for (index, sphere) in (0..).zip(spheres) {
            check_sphere(index, sphere)?;
        }
        let masks = owned_column("masks", spheres.len(), set.masks)?.or(before.masks);
        let optical_depths = set
            .transmittances
            .map(|transmittances| depths_of(spheres.len(), transmittances))
            .transpose()?
            .or(before.optical_depths);
        let velocities = owned_column("velocities", spheres.len(), set.velocities)?.or(before.velocities);
        let swept = velocities.as_ref().map(|velocities| swept_spheres(spheres, velocities, time_range)).transpose()?;
        cancel.check()?;
        Ok(Self {
            spheres,
            attributes: SphereAttributes { masks, velocities, optical_depths, maps },
            time_range,
            tree_from: None,
            cancel,
            swept_bounds: swept,
        })
    }

    /// A ball per sphere that contains it at all times of `time_range`.
    pub(crate) fn swept_bounds(&self) -> &[Sphere] {
        self.swept_bounds.as_deref().unwrap_or(self.spheres)
    }
}

fn unit_ball_maps(spheres: usize, shapes: &[EllipsoidShape]) -> Result<Vec<UnitBallMap>> {
    check_same_length("spheres", spheres, "shapes", shapes.len())?;
    let mut maps = try_with_capacity(shapes.len())?;
    for (index, shape) in (0..).zip(shapes) {
        shape.check(index)?;
        maps.push(UnitBallMap::of(shape));
    }
    Ok(maps)
}

fn depths_of(spheres: usize, transmittances: &[f32]) -> Result<Vec<u32>> {
    check_same_length("spheres", spheres, "transmittances", transmittances.len())?;
    let mut depths = try_with_capacity(transmittances.len())?;
    for (index, &transmittance) in (0..).zip(transmittances) {
        depths.push(optical_depth(index, transmittance)?);
    }
    Ok(depths)
}

fn owned_column<T: Copy>(name: &'static str, spheres: usize, column: Option<&[T]>) -> Result<Option<Vec<T>>> {
    let Some(column) = column else { return Ok(None) };
    check_same_length("spheres", spheres, name, column.len())?;
    let mut own = try_with_capacity(column.len())?;
    own.extend_from_slice(column);
    Ok(Some(own))
}

/// A ball per moving sphere that contains it at all times of a range. Invalid velocities are errors.
fn swept_spheres(spheres: &[Sphere], velocities: &[Vec3], time_range: [f32; 2]) -> Result<Vec<Sphere>> {
    let mut all = try_with_capacity(spheres.len())?;
    for (index, (sphere, velocity)) in (0..).zip(spheres.iter().zip(velocities)) {
        let bad = |field, value: f32, why: &'static str| Err(Error::record("sphere", index, field, value, why));
        for (field, value) in ["vx", "vy", "vz"].into_iter().zip(velocity.to_array()) {
            if !value.is_finite() {
                return bad(field, value, "a velocity must be finite");
            }
        }
        let ball = swept_bounds(sphere, *velocity, time_range);
        // Headroom for later sums of coordinates.
        let within = ball.center.abs().max_element().max(ball.radius) < f32::MAX / 4.0;
        if !within {
            let (field, value) = ["vx", "vy", "vz"]
                .into_iter()
                .zip(velocity.to_array())
                .fold(("vx", velocity.x), |most, one| if one.1.abs() > most.1.abs() { one } else { most });
            return bad(field, value, "the sphere leaves the range of f32 within the time range of the scene");
        }
        all.push(ball);
    }
    Ok(all)
}
