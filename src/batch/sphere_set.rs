//! Validated spheres of a scene: records, attribute columns, and balls that contain the whole paths of moving spheres.

use glam::Vec3;
use rayon::prelude::*;

use super::input::Spheres;
use crate::error::{Error, Result};
use crate::intersect::ellipsoid::{EllipsoidShape, UnitBallMap};
use crate::intersect::motion::swept_bounds;
use crate::query::optical_depth::optical_depth;
use crate::query::policy::check_same_length;
use crate::query::validate::{check_sphere, is_usable_sphere, not_finite};
use crate::records::Sphere;
use crate::runtime::cancel::CancelToken;
use crate::runtime::memory::try_map;

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
    /// Whether a GPU builds its BVH itself, if it should not choose.
    pub(crate) tree_on_gpu: Option<bool>,
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
        let map = |(index, shape): (u64, &EllipsoidShape)| shape.check(index).map(|()| UnitBallMap::of(shape));
        let maps = column("shapes", spheres.len(), set.shapes, map)?.or(before.maps);
        let valid = |part: &[Sphere]| part.iter().fold(true, |all, sphere| all & is_usable_sphere(sphere));
        if !spheres.par_chunks(1 << 14).all(valid) {
            (0..).zip(spheres).try_for_each(|(index, sphere)| check_sphere(index, sphere))?;
        }
        let masks = column("masks", spheres.len(), set.masks, |(_, mask)| Ok(*mask))?.or(before.masks);
        let depth = |(index, transmittance): (u64, &f32)| optical_depth(index, *transmittance);
        let optical_depths = column("transmittances", spheres.len(), set.transmittances, depth)?;
        let optical_depths = optical_depths.or(before.optical_depths);
        let velocities = column("velocities", spheres.len(), set.velocities, |(_, velocity)| Ok(*velocity))?;
        let velocities = velocities.or(before.velocities);
        let swept = velocities.as_ref().map(|velocities| swept_spheres(spheres, velocities, time_range)).transpose()?;
        cancel.check()?;
        Ok(Self {
            spheres,
            attributes: SphereAttributes { masks, velocities, optical_depths, maps },
            time_range,
            tree_from: None,
            tree_on_gpu: None,
            cancel,
            swept_bounds: swept,
        })
    }

    /// A ball per sphere that contains it at all times of `time_range`.
    pub(crate) fn swept_bounds(&self) -> &[Sphere] {
        self.swept_bounds.as_deref().unwrap_or(self.spheres)
    }
}

/// A column that has one entry per sphere, converted.
fn column<T, U>(
    name: &'static str,
    spheres: usize,
    column: Option<&[T]>,
    convert: impl Fn((u64, &T)) -> Result<U>,
) -> Result<Option<Vec<U>>> {
    let Some(column) = column else { return Ok(None) };
    check_same_length("spheres", spheres, name, column.len())?;
    try_map(column.iter().enumerate().map(|(index, one)| (index as u64, one)), convert).map(Some)
}

/// A ball per moving sphere that contains it at all times of a range. Invalid velocities are errors.
fn swept_spheres(spheres: &[Sphere], velocities: &[Vec3], time_range: [f32; 2]) -> Result<Vec<Sphere>> {
    let swept = |(index, (sphere, velocity)): (usize, (&Sphere, &Vec3))| {
        let bad = |field, value: f32, why: &'static str| Err(Error::record("sphere", index as u64, field, value, why));
        if let Some((field, value)) = not_finite(["vx", "vy", "vz"], *velocity) {
            return bad(field, value, "a velocity must be finite");
        }
        let ball = swept_bounds(sphere, *velocity, time_range);
        // Headroom for later sums of coordinates.
        if ball.center.abs().max_element().max(ball.radius) < f32::MAX / 4.0 {
            return Ok(ball);
        }
        let largest = velocity.abs().max_position();
        bad(
            ["vx", "vy", "vz"][largest],
            velocity[largest],
            "the sphere leaves the range of f32 within the time range of the scene",
        )
    };
    try_map(spheres.iter().zip(velocities).enumerate(), swept)
}
