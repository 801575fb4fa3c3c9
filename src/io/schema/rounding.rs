//! What rounding to f32 changes: how many numbers, which of them the most, and how far positions move.

/// An end of a ray from here on says that it has none.
const NO_END: f64 = 1e12;

/// How much was lost on the way from f64 or text to f32.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Rounding {
    /// How many numbers changed.
    pub changed: u64,
    /// By how much at most, in the unit of the file.
    pub largest: f64,
    /// The field with the largest change, such as `dx`; empty where none changed.
    pub field: &'static str,
    /// By how much a radius or a semi-axis changed at most.
    pub radius: f64,
    /// By how much an end of a ray, a time, a velocity or a speed changed at most, and which.
    pub travel: (f64, &'static str),
    /// The coordinate of a position that changed most, of x, of y and of z. An origin that is subtracted before rounding keeps more
    /// digits of positions, and of nothing else.
    pub positions: [Moved; 3],
}

/// A coordinate that rounding changed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Moved {
    /// By how much; 0 where none did.
    pub by: f64,
    /// What it was before it was rounded, less the origin.
    pub value: f64,
}

/// What a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// A coordinate of a position, by its axis.
    Position(usize),
    /// A radius or a semi-axis.
    Radius,
    /// An end of a ray, a time, a part of a velocity, or a speed: it decides how far something gets.
    Travel,
    /// A part of a direction or of a rotation.
    Other,
}

impl Rounding {
    /// Takes in a number and what it became; nothing where that is the same, or where either is not finite.
    pub fn note(&mut self, field: &'static str, role: Role, wide: f64, narrow: f32) {
        let by = (f64::from(narrow) - wide).abs();
        if by == 0.0 || !by.is_finite() {
            return;
        }
        let mut one = Self { changed: 1, largest: by, field, ..Self::default() };
        match role {
            Role::Position(axis) => one.positions[axis] = Moved { by, value: wide },
            Role::Radius => one.radius = by,
            // Whoever writes larger ends means that there is none.
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
