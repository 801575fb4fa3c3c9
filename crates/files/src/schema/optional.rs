//! Optional columns of a table of spheres, rays or points.

use glam::{Quat, Vec3};

use super::convert::{Converter, Row};
use super::kinds::{
    COLORS, ELEMENT, FROM_ID, MASK, RADII, RADIUS, ROTATION, SKIP_ID, TIME, TRANSMITTANCE, TableSchema, VELOCITY,
};
use crate::error::Result;
use umbracast::memory::try_reserve;
use umbracast::{Ellipsoid, EllipsoidShape};
use umbracast::{NO_SPHERE, Sphere, check_transmittance};
use umbracast::{Points, Rays, Spheres};

/// Whether a column contains whole numbers.
#[cfg(feature = "parquet")]
pub(crate) fn is_whole(name: &str) -> bool {
    [MASK, SKIP_ID, FROM_ID, super::kinds::ID].contains(&name)
}

/// Optional columns of a file, with one value per record. `None` for columns that the file does not have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OptionalColumns {
    /// Masks of spheres, rays or points.
    pub masks: Option<Vec<u32>>,
    /// Id of the sphere that each ray or point ignores; [`NO_SPHERE`] for none.
    pub skip_ids: Option<Vec<u32>>,
    /// Id of the sphere on whose surface each ray or bullet starts; [`NO_SPHERE`] for none.
    pub from_ids: Option<Vec<u32>>,
    /// Time of each ray, for moving spheres.
    pub times: Option<Vec<f32>>,
    /// Radii of thick rays.
    pub radii: Option<Vec<f32>>,
    /// Velocities of moving spheres.
    pub velocities: Option<Vec<Vec3>>,
    /// Transmittances of spheres.
    pub transmittances: Option<Vec<f32>>,
    /// Semi-axes and rotations of ellipsoids.
    pub(crate) shapes: Option<Vec<EllipsoidShape>>,
    /// Colours of the spheres of a picture: sRGB, 0…255.
    pub(crate) colors: Option<Vec<[f32; 3]>>,
    /// The column of `from_ids`; empty if there is none.
    pub(crate) from_column: &'static str,
    /// Whether the file has rotations of ellipsoids.
    turned: bool,
    /// Whether the colours are those of elements.
    has_elements: bool,
}

/// Colours of elements, ordered by atomic number from 1; 0 for those without one.
const ELEMENT_COLORS: [u32; 53] = [
    0xffffff, 0xd9ffff, 0xcc80ff, 0, 0xffb5b5, 0x909090, 0x3050f8, 0xff0d0d, 0x90e050, 0, 0xab5cf2, 0x8aff00, 0,
    0xf0c8a0, 0xff8000, 0xffff30, 0x1ff01f, 0, 0x8f40d4, 0x3dff00, 0, 0, 0, 0, 0x9c7ac7, 0xe06633, 0, 0, 0xc88033,
    0x7d80b0, 0, 0, 0, 0xffa100, 0xa62929, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x940094,
];

/// Colour of an atom, sRGB 0…255: the colours that programs for molecules share, which go back to the wooden models of Corey, Pauling and
/// Koltun. Elements without one are pink.
fn element_color(atomic_number: u32) -> [f32; 3] {
    let color = match atomic_number.checked_sub(1).and_then(|i| ELEMENT_COLORS.get(i as usize)) {
        None | Some(0) => 0xff69b4,
        Some(color) => *color,
    };
    let [_, red, green, blue] = color.to_be_bytes();
    [red, green, blue].map(f32::from)
}

/// Does something with each list that there is.
macro_rules! for_each_column {
    ($self:ident, $list:ident, $do:expr) => {
        for_each_column!($self, $list, $do, masks skip_ids from_ids times radii velocities transmittances shapes colors)
    };
    ($self:ident, $list:ident, $do:expr, $($column:ident)+) => {
        $(if let Some($list) = &mut $self.$column {
            $do;
        })+
    };
}

/// Adds those of the named columns that there are, by methods of the same names.
macro_rules! with_columns {
    ($self:ident, $records:ident, $($column:ident)+) => {{
        $(let $records = match &$self.$column {
            Some(list) => $records.$column(list),
            None => $records,
        };)+
        $records
    }};
}

impl OptionalColumns {
    /// Empty columns for a file whose columns fill these fields of a row.
    pub(crate) fn of(kind: &TableSchema, filled: &[usize]) -> Self {
        let has = |name| kind.place(name).is_some_and(|field| filled.contains(&field));
        Self {
            masks: has(MASK).then(Vec::new),
            skip_ids: has(SKIP_ID).then(Vec::new),
            from_ids: has(FROM_ID).then(Vec::new),
            from_column: if has(FROM_ID) { FROM_ID } else { "" },
            times: has(TIME).then(Vec::new),
            radii: has(RADIUS).then(Vec::new),
            velocities: has(VELOCITY[0]).then(Vec::new),
            transmittances: has(TRANSMITTANCE).then(Vec::new),
            shapes: has(RADII[0]).then(Vec::new),
            colors: (has(COLORS[0]) || has(ELEMENT)).then(Vec::new),
            turned: has(ROTATION[0]),
            has_elements: has(ELEMENT) && !has(COLORS[0]),
        }
    }

    /// Bytes per record in all columns.
    pub(crate) fn bytes(&self) -> u64 {
        fn of<T>(list: &Option<Vec<T>>) -> usize {
            if list.is_some() { size_of::<T>() } else { 0 }
        }
        let numbers = of(&self.masks) + of(&self.skip_ids) + of(&self.from_ids) + of(&self.times) + of(&self.radii);
        (numbers + of(&self.transmittances) + of(&self.velocities) + of(&self.shapes) + of(&self.colors)) as u64
    }

    /// Reserves capacity for `more` records.
    pub(crate) fn reserve(&mut self, what: &'static str, more: u64) -> Result<()> {
        for_each_column!(self, list, try_reserve(what, list, more)?);
        Ok(())
    }

    /// Appends the values of a row.
    pub(crate) fn push(&mut self, kind: &TableSchema, converter: &mut Converter, row: &Row<'_>) -> Result<()> {
        if let Some(masks) = &mut self.masks {
            masks.push(converter.whole(kind, row, MASK, None)?);
        }
        if let Some(ids) = &mut self.skip_ids {
            // An empty cell means that the ray ignores no sphere.
            ids.push(converter.whole(kind, row, SKIP_ID, Some(NO_SPHERE))?);
        }
        if let Some(ids) = &mut self.from_ids {
            // An empty cell means that the ray starts elsewhere.
            ids.push(converter.whole(kind, row, self.from_column, Some(NO_SPHERE))?);
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
        if let Some(transmittances) = &mut self.transmittances {
            let transmittance = converter.number(kind, row, TRANSMITTANCE)?;
            converter.check_optional(kind, row, check_transmittance(0, transmittance))?;
            transmittances.push(transmittance);
        }
        if let Some(shapes) = &mut self.shapes {
            let [rx, ry, rz] = RADII;
            let mut number = |name| converter.number(kind, row, name);
            let radii = Vec3::new(number(rx)?, number(ry)?, number(rz)?);
            let rotation = match (self.turned, ROTATION) {
                (false, _) => Quat::IDENTITY,
                (true, [w, x, y, z]) => Quat::from_xyzw(number(x)?, number(y)?, number(z)?, number(w)?),
            };
            let shape = EllipsoidShape { radii, rotation };
            converter.check_optional(kind, row, shape.check(0))?;
            shapes.push(shape);
        }
        if let Some(colors) = &mut self.colors {
            colors.push(if self.has_elements {
                element_color(converter.whole_below(kind, row, ELEMENT, 118)?)
            } else {
                let [red, green, blue] = COLORS;
                let mut channel = |name| converter.channel(kind, row, name);
                [channel(red)?, channel(green)?, channel(blue)?]
            });
        }
        Ok(())
    }

    /// Replaces the last row, of a sphere that is skipped, if it is invalid. False if it is valid.
    pub(crate) fn replace_invalid(&mut self) -> bool {
        let mut is_invalid = false;
        if let Some(velocity) = self.velocities.as_mut().and_then(|list| list.last_mut()).filter(|v| !v.is_finite()) {
            (*velocity, is_invalid) = (Vec3::ZERO, true);
        }
        let transmittance = self.transmittances.as_mut().and_then(|list| list.last_mut());
        if let Some(transmittance) = transmittance.filter(|number| check_transmittance(0, **number).is_err()) {
            (*transmittance, is_invalid) = (0.0, true);
        }
        if let Some(shape) = self.shapes.as_mut().and_then(|list| list.last_mut()).filter(|s| s.check(0).is_err()) {
            (*shape, is_invalid) = (EllipsoidShape { radii: Vec3::ONE, rotation: Quat::IDENTITY }, true);
        }
        is_invalid
    }

    /// Whether the file contains ellipsoids.
    pub fn stretches(&self) -> bool {
        self.shapes.is_some()
    }

    /// Ellipsoid with this index. `ball` is its bounding sphere. `None` if the file contains spheres only.
    pub fn ellipsoid(&self, index: usize, ball: &Sphere) -> Option<Ellipsoid> {
        let EllipsoidShape { radii, rotation } = *self.shapes.as_ref()?.get(index)?;
        Some(Ellipsoid { center: ball.center, radii, rotation })
    }

    /// Adds the columns to `rays`. The number of rays must equal the number of values.
    pub fn rays<'a>(&'a self, rays: Rays<'a>) -> Rays<'a> {
        with_columns!(self, rays, masks skip_ids from_ids times radii)
    }

    /// Adds the columns to `points`. The number of points must equal the number of values.
    pub fn points<'a>(&'a self, points: Points<'a>) -> Points<'a> {
        with_columns!(self, points, masks skip_ids times)
    }

    /// Adds the columns to `spheres`. The number of spheres must equal the number of values.
    pub fn spheres<'a>(&'a self, spheres: Spheres<'a>) -> Spheres<'a> {
        with_columns!(self, spheres, masks velocities transmittances shapes)
    }
}
