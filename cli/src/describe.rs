//! `cast --with`: hits and what they were like, in columns of their own.

use umbracast::files::{AnswerRow, Column, Number};
use umbracast::{Attributes, Hit};

/// What can be asked for beside `t` and `id`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum With {
    Point,
    Normal,
    Angle,
    Distance,
}

/// A hit and what it was like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Described {
    pub(crate) hit: Hit,
    pub(crate) was: Attributes,
}

impl AnswerRow for Described {
    const COLUMNS: &'static [Column<Self>] =
        &[("t", |described| Number::Float(described.hit.t)), ("id", |described| Number::Id(described.hit.id))];
    const MISS: Self = Self { hit: Hit::MISS, was: Attributes::MISS };
    fn is_miss(&self) -> bool {
        !self.hit.is_hit()
    }
}

/// The columns of an answer with these beside it, in the order in which they were asked for.
pub(crate) fn columns(with: &[With]) -> Vec<Column<Described>> {
    let mut columns = Described::COLUMNS.to_vec();
    for what in with {
        let more: &[Column<Described>] = match what {
            With::Point => &[
                ("px", |described| Number::Float(described.was.point.x)),
                ("py", |described| Number::Float(described.was.point.y)),
                ("pz", |described| Number::Float(described.was.point.z)),
            ],
            With::Normal => &[
                ("nx", |described| Number::Float(described.was.normal.x)),
                ("ny", |described| Number::Float(described.was.normal.y)),
                ("nz", |described| Number::Float(described.was.normal.z)),
            ],
            With::Angle => &[("angle_rad", |described| Number::Float(described.was.angle))],
            With::Distance => &[("distance", |described| Number::Float(described.was.distance))],
        };
        columns.extend_from_slice(more);
    }
    columns
}
