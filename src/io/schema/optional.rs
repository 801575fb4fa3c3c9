//! Columns beside records, that a file may hold or not.

use std::path::Path;

use glam::{Quat, Vec3};

use super::convert::{Converter, Row};
use super::kinds::{Kind, MASK, RADII, RADIUS, ROTATION, SKIP_ID, TIME, VELOCITY};
use crate::batch::ellipsoids::Ellipsoid;
use crate::batch::input::{Points, Rays, Spheres};
use crate::error::Result;
use crate::intersect::ellipsoid::Shape;
use crate::io::errors::reserve;
use crate::records::{NO_SPHERE, Sphere};

/// Whether a column holds whole numbers.
#[cfg(feature = "parquet")]
pub(crate) fn is_whole(name: &str) -> bool {
    [MASK, SKIP_ID].contains(&name)
}

/// What a file holds for each record, in columns that are there or not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beside {
    /// Masks of spheres, of rays or of points.
    pub masks: Option<Vec<u32>>,
    /// The spheres that rays or points skip; [`NO_SPHERE`] for none.
    pub skip_ids: Option<Vec<u32>>,
    /// When rays see spheres that move.
    pub times: Option<Vec<f32>>,
    /// The radii of rays that are balls on their way.
    pub radii: Option<Vec<f32>>,
    /// How spheres move.
    pub velocities: Option<Vec<Vec3>>,
    /// What makes ellipsoids of spheres.
    pub(crate) shapes: Option<Vec<Shape>>,
    /// Whether those are turned.
    turned: bool,
}

impl Beside {
    /// Those of a file whose columns fill these fields, still empty.
    pub(crate) fn of(kind: &Kind, filled: &[usize]) -> Self {
        let has = |name| kind.place(name).is_some_and(|field| filled.contains(&field));
        Self {
            masks: has(MASK).then(Vec::new),
            skip_ids: has(SKIP_ID).then(Vec::new),
            times: has(TIME).then(Vec::new),
            radii: has(RADIUS).then(Vec::new),
            velocities: has(VELOCITY[0]).then(Vec::new),
            shapes: has(RADII[0]).then(Vec::new),
            turned: has(ROTATION[0]),
        }
    }

    /// Bytes that it holds for each record.
    pub(crate) fn bytes(&self) -> u64 {
        fn of<T>(list: &Option<Vec<T>>) -> usize {
            if list.is_some() { size_of::<T>() } else { 0 }
        }
        let numbers = of(&self.masks) + of(&self.skip_ids) + of(&self.times) + of(&self.radii);
        (numbers + of(&self.velocities) + of(&self.shapes)) as u64
    }

    /// Makes room for `more` records.
    pub(crate) fn reserve(&mut self, what: &'static str, more: u64, path: &Path) -> Result<()> {
        for list in self.masks.iter_mut().chain(&mut self.skip_ids) {
            reserve(what, list, more, path)?;
        }
        for list in self.times.iter_mut().chain(&mut self.radii) {
            reserve(what, list, more, path)?;
        }
        self.velocities.iter_mut().try_for_each(|list| reserve(what, list, more, path))?;
        self.shapes.iter_mut().try_for_each(|list| reserve(what, list, more, path))
    }

    pub(crate) fn clear(&mut self) {
        self.masks.iter_mut().chain(&mut self.skip_ids).for_each(Vec::clear);
        self.times.iter_mut().chain(&mut self.radii).for_each(Vec::clear);
        self.velocities.iter_mut().for_each(Vec::clear);
        self.shapes.iter_mut().for_each(Vec::clear);
    }

    /// Takes in what a row holds.
    pub(crate) fn push(&mut self, kind: &Kind, converter: &mut Converter, row: &Row<'_>) -> Result<()> {
        if let Some(masks) = &mut self.masks {
            masks.push(converter.whole(kind, row, MASK, None)?);
        }
        if let Some(ids) = &mut self.skip_ids {
            // A cell without a number skips nothing.
            ids.push(converter.whole(kind, row, SKIP_ID, Some(NO_SPHERE))?);
        }
        if let Some(times) = &mut self.times {
            times.push(converter.number(kind, row, TIME)?);
        }
        if let Some(radii) = &mut self.radii {
            radii.push(converter.number(kind, row, RADIUS)?);
        }
        if let Some(velocities) = &mut self.velocities {
            let [x, y, z] = VELOCITY;
            let mut number = |name| converter.number(kind, row, name);
            velocities.push(Vec3::new(number(x)?, number(y)?, number(z)?));
        }
        if let Some(shapes) = &mut self.shapes {
            let [rx, ry, rz] = RADII;
            let mut number = |name| converter.number(kind, row, name);
            let radii = Vec3::new(number(rx)?, number(ry)?, number(rz)?);
            let rotation = match (self.turned, ROTATION) {
                (false, _) => Quat::IDENTITY,
                (true, [w, x, y, z]) => Quat::from_xyzw(number(x)?, number(y)?, number(z)?, number(w)?),
            };
            let shape = Shape { radii, rotation };
            converter.check_beside(kind, row, shape.check(0))?;
            shapes.push(shape);
        }
        Ok(())
    }

    /// Whether spheres are ellipsoids by it.
    pub fn stretches(&self) -> bool {
        self.shapes.is_some()
    }

    /// Ellipsoid number `index`, by the ball around it; none where spheres are round.
    pub fn ellipsoid(&self, index: usize, ball: &Sphere) -> Option<Ellipsoid> {
        let Shape { radii, rotation } = *self.shapes.as_ref()?.get(index)?;
        Some(Ellipsoid { center: ball.center, radii, rotation })
    }

    /// Puts them beside rays, as many as there are numbers.
    pub fn rays<'a>(&'a self, mut rays: Rays<'a>) -> Rays<'a> {
        if let Some(masks) = &self.masks {
            rays = rays.masks(masks);
        }
        if let Some(ids) = &self.skip_ids {
            rays = rays.skip_ids(ids);
        }
        if let Some(times) = &self.times {
            rays = rays.times(times);
        }
        if let Some(radii) = &self.radii {
            rays = rays.radii(radii);
        }
        rays
    }

    /// Puts them beside points, as many as there are numbers.
    pub fn points<'a>(&'a self, mut points: Points<'a>) -> Points<'a> {
        if let Some(masks) = &self.masks {
            points = points.masks(masks);
        }
        if let Some(ids) = &self.skip_ids {
            points = points.skip_ids(ids);
        }
        if let Some(times) = &self.times {
            points = points.times(times);
        }
        points
    }

    /// Puts them beside spheres, as many as there are numbers.
    pub fn spheres<'a>(&'a self, mut spheres: Spheres<'a>) -> Spheres<'a> {
        if let Some(masks) = &self.masks {
            spheres = spheres.masks(masks);
        }
        if let Some(velocities) = &self.velocities {
            spheres = spheres.velocities(velocities);
        }
        if let Some(shapes) = &self.shapes {
            spheres = spheres.shapes(shapes);
        }
        spheres
    }
}
