//! Validated spheres of a scene: records, attribute columns, and balls that contain the whole paths of moving spheres.

use glam::Vec3;

use super::input::Spheres;
use crate::error::{Error, Result};
use crate::intersect::ellipsoid::{Map, Shape};
use crate::intersect::motion::swept;
use crate::query::policy::same_length;
use crate::query::validate::check_sphere;
use crate::records::Sphere;
use crate::runtime::cancel::Watch;
use crate::runtime::memory::room;

/// Optional attribute columns of a scene's spheres.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    pub(crate) masks: Option<Vec<u32>>,
    pub(crate) velocities: Option<Vec<Vec3>>,
    /// Maps from ellipsoids to balls; None if all are spheres.
    pub(crate) maps: Option<Vec<Map>>,
}

impl Columns {
    /// Whether spheres move or are ellipsoids, so that their records alone do not describe them.
    pub(crate) fn change(&self) -> bool {
        self.velocities.is_some() || self.maps.is_some()
    }

    /// Largest ratio of the longest to the shortest semi-axis of an ellipsoid; 0 if all are spheres.
    pub(crate) fn slimness(&self) -> f32 {
        self.maps.iter().flatten().fold(0.0, |most, map| (1.0 / map.least).max(most))
    }

    /// Radius of the largest concentric ball that certainly lies inside sphere or ellipsoid `id`.
    pub(crate) fn inner_radius(&self, id: u32, sphere: &Sphere) -> f32 {
        let share = self.maps.as_ref().map_or(1.0, |maps| maps[id as usize].least);
        // Both factors were rounded, so their product alone is not a lower bound.
        if share < 1.0 { (sphere.radius * share).next_down() } else { sphere.radius }
    }
}

/// Validated spheres with their attributes.
pub(crate) struct Given<'a> {
    pub(crate) spheres: &'a [Sphere],
    pub(crate) columns: Columns,
    /// Time range of their motion, if they move.
    pub(crate) span: [f32; 2],
    /// Cancels builds over these spheres.
    pub(crate) watch: &'a Watch,
    /// Balls around the whole paths; None if the spheres rest.
    swept: Option<Vec<Sphere>>,
}

impl<'a> Given<'a> {
    /// Validates the spheres. Missing columns are taken from `before`. `span` is the time range of their motion.
    ///
    /// # Errors
    /// The first invalid sphere or attribute, columns of the wrong length, cancellation, or lack of memory.
    pub(crate) fn new(given: &Spheres<'a>, before: Columns, span: [f32; 2], watch: &'a Watch) -> Result<Self> {
        let spheres = given.records;
        let maps = given.shapes.map(|shapes| map_all(spheres.len(), shapes)).transpose()?.or(before.maps);
        for (index, sphere) in (0..).zip(spheres) {
            check_sphere(index, sphere)?;
        }
        let masks = own("masks", spheres.len(), given.masks)?.or(before.masks);
        let velocities = own("velocities", spheres.len(), given.velocities)?.or(before.velocities);
        let swept = velocities.as_ref().map(|velocities| sweep(spheres, velocities, span)).transpose()?;
        watch.check()?;
        Ok(Self { spheres, columns: Columns { masks, velocities, maps }, span, watch, swept })
    }

    /// A ball per sphere that contains it at all times of `span`.
    pub(crate) fn bounds(&self) -> &[Sphere] {
        self.swept.as_deref().unwrap_or(self.spheres)
    }
}

fn map_all(spheres: usize, shapes: &[Shape]) -> Result<Vec<Map>> {
    same_length("spheres", spheres, "shapes", shapes.len())?;
    let mut maps = room(shapes.len())?;
    for (index, shape) in (0..).zip(shapes) {
        shape.check(index)?;
        maps.push(Map::of(shape));
    }
    Ok(maps)
}

fn own<T: Copy>(name: &'static str, spheres: usize, column: Option<&[T]>) -> Result<Option<Vec<T>>> {
    let Some(column) = column else { return Ok(None) };
    same_length("spheres", spheres, name, column.len())?;
    let mut own = room(column.len())?;
    own.extend_from_slice(column);
    Ok(Some(own))
}

/// A ball per moving sphere that contains it at all times of a range. Invalid velocities are errors.
fn sweep(spheres: &[Sphere], velocities: &[Vec3], span: [f32; 2]) -> Result<Vec<Sphere>> {
    let mut all = room(spheres.len())?;
    for (index, (sphere, velocity)) in (0..).zip(spheres.iter().zip(velocities)) {
        let bad = |field, value: f32, why: &'static str| Err(Error::record("sphere", index, field, value, why));
        for (field, value) in ["vx", "vy", "vz"].into_iter().zip(velocity.to_array()) {
            if !value.is_finite() {
                return bad(field, value, "a velocity must be finite");
            }
        }
        let ball = swept(sphere, *velocity, span);
        // Headroom for later sums of coordinates.
        let within = ball.center.abs().max_element().max(ball.radius) < f32::MAX / 4.0;
        if !within {
            let (field, value) = ["vx", "vy", "vz"]
                .into_iter()
                .zip(velocity.to_array())
                .fold(("vx", velocity.x), |most, one| if one.1.abs() > most.1.abs() { one } else { most });
            return bad(field, value, "it goes beyond f32 within the time range of the scene");
        }
        all.push(ball);
    }
    Ok(all)
}
