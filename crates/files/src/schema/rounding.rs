//! Statistics of rounding to f32: how many numbers change, the largest change, and how far positions move.

use glam::Vec3;

/// Largest error of rounding to f32, relative to the number.
pub(crate) const U: f64 = f32::EPSILON as f64 / 2.0;

/// An end of a ray at or beyond this value means that the ray has no end.
const NO_END: f64 = 1e12;

/// Changes by rounding from f64 or text to f32.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Rounding {
    /// Number of changed values.
    pub changed: u64,
    /// Largest change, in the unit of the file.
    pub largest: f64,
    /// Field with the largest change, such as `dx`; empty if none changed.
    pub field: &'static str,
    /// Largest change of a radius or a semi-axis.
    pub radius: f64,
    /// Largest change of an end of a ray, a time, a velocity or a speed, and the name of its field.
    pub travel: (f64, &'static str),
    /// Largest change of the x, y and z coordinate of a position. Subtracting an origin before rounding keeps more digits of positions, but
    /// not of other values.
    pub positions: [Moved; 3],
}

/// Largest change of a coordinate by rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Moved {
    /// The change; 0 if no coordinate changed.
    pub by: f64,
    /// The coordinate before rounding, relative to the origin.
    pub value: f64,
}

/// Role of a number in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// Coordinate of a position, with its axis.
    Position(usize),
    /// Radius or semi-axis.
    Radius,
    /// End of a ray, time, component of a velocity, or speed: it determines how far something travels.
    Travel,
    /// Component of a direction or a rotation.
    Other,
}

impl Rounding {
    /// Upper bound of the change of a rounded position along each axis: neither the largest change, nor half a unit in the last place is
    /// exceeded.
    pub fn change_of(&self, position: Vec3) -> [f64; 3] {
        [0, 1, 2].map(|k| self.positions[k].by.min(U * f64::from(position[k].abs())))
    }

    /// Adds the rounding of `wide` to `narrow` to the statistics. Ignores values that are equal or not finite.
    pub fn note(&mut self, field: &'static str, role: Role, wide: f64, narrow: f32) {
        let by = (f64::from(narrow) - wide).abs();
        if by == 0.0 || !by.is_finite() {
            return;
        }
        let mut one = Self { changed: 1, largest: by, field, ..Self::default() };
        match role {
            Role::Position(axis) => one.positions[axis] = Moved { by, value: wide },
            Role::Radius => one.radius = by,
            // Larger ends mean that the ray has no end.
            Role::Travel if wide.abs() < NO_END => one.travel = (by, field),
            Role::Travel => {}
            Role::Other => {}
        }
        *self += one;
    }
}

impl std::ops::AddAssign for Rounding {
    fn add_assign(&mut self, other: Self) {
        self.changed += other.changed;
        if other.largest > self.largest {
            (self.largest, self.field) = (other.largest, other.field);
        }
        for (moved, other) in self.positions.iter_mut().zip(other.positions) {
            if other.by > moved.by {
                *moved = other;
            }
        }
        self.radius = self.radius.max(other.radius);
        if other.travel.0 > self.travel.0 {
            self.travel = other.travel;
        }
    }
}
