//! Columns of each result type, for output files.

use umbracast::shadow::{Shadow, ShadowFlux};
use umbracast::{Approach, Containment, Hit, Interval, NO_SPHERE};

/// A value of a result, with its type in files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// f4 in arrays.
    Float(f32),
    /// f4 in arrays, empty in text: there is no value.
    Blank(f32),
    /// f8 in arrays.
    Double(f64),
    /// f8 in arrays, empty in text: there is no value.
    BlankDouble(f64),
    /// u4 in arrays.
    Id(u32),
    /// u4 in arrays.
    Count(u32),
    /// u8 in arrays.
    Offset(u64),
    /// A byte in arrays, a word in text.
    Flag(bool),
    /// u1 in arrays, a word in text.
    Word(u8, &'static str),
}

impl Number {
    /// Bytes per value in an array.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Word(..) | Self::Flag(_) => 1,
            Self::Float(_) | Self::Blank(_) | Self::Id(_) | Self::Count(_) => 4,
            Self::Double(_) | Self::BlankDouble(_) | Self::Offset(_) => 8,
        }
    }
}

/// A column of results: its name, and the function that returns its value.
pub type Column<T> = (&'static str, fn(&T) -> Number);

/// A result that can be written to a file.
pub trait AnswerRow: Copy + Send + Sync + 'static {
    /// The columns in order.
    const COLUMNS: &'static [Column<Self>];
    /// Result of a ray without an answer, such as a miss.
    const MISS: Self;
    /// Columns that describe the ray, not its hit: they are written for a miss, too.
    const OF_RAY: &'static [&'static str] = &[];
    /// Whether the ray has no answer, such as for a miss. Its cells are then empty in text.
    fn is_miss(&self) -> bool {
        false
    }
}

impl AnswerRow for Hit {
    const COLUMNS: &'static [Column<Self>] = &[("t", |hit| Number::Float(hit.t)), ("id", |hit| Number::Id(hit.id))];
    const MISS: Self = Hit::MISS;
    fn is_miss(&self) -> bool {
        !self.is_hit()
    }
}

impl AnswerRow for bool {
    const COLUMNS: &'static [Column<Self>] = &[("occluded", |bit| Number::Flag(*bit))];
    const MISS: Self = false;
}

impl AnswerRow for u32 {
    const COLUMNS: &'static [Column<Self>] = &[("count", |count| Number::Count(*count))];
    const MISS: Self = 0;
}

impl AnswerRow for f32 {
    const COLUMNS: &'static [Column<Self>] = &[("transmittance", |transmittance| Number::Float(*transmittance))];
    const MISS: Self = 1.0;
}

impl AnswerRow for Interval {
    const COLUMNS: &'static [Column<Self>] = &[
        ("t_enter", |found| Number::Float(found.t_enter)),
        ("t_exit", |found| Number::Float(found.t_exit)),
        ("id", |found| Number::Id(found.id)),
    ];
    const MISS: Self = Interval::MISS;
    fn is_miss(&self) -> bool {
        !self.is_hit()
    }
}

impl AnswerRow for Containment {
    const COLUMNS: &'static [Column<Self>] =
        &[("count", |found| Number::Count(found.count)), ("id", |found| Number::Id(found.id))];
    const MISS: Self = Containment::NONE;
}

impl AnswerRow for Approach {
    const COLUMNS: &'static [Column<Self>] = &[
        ("t", |pass| Number::Float(pass.t)),
        ("clearance", |pass| Number::Float(pass.clearance)),
        ("id", |pass| Number::Id(pass.id)),
    ];
    const MISS: Self = Approach::NONE;
    fn is_miss(&self) -> bool {
        self.id == NO_SPHERE
    }
}

fn double_or_blank(x: f64) -> Number {
    if x.is_nan() { Number::BlankDouble(x) } else { Number::Double(x) }
}

/// The kind of a shadow. An observer that is skipped has no fraction and no kind.
fn kind(shadow: &Shadow) -> Number {
    if shadow.fraction.is_nan() {
        Number::Word(u8::MAX, "")
    } else {
        Number::Word(shadow.kind as u8, shadow.kind.word())
    }
}

impl AnswerRow for Shadow {
    const COLUMNS: &'static [Column<Self>] = &[("fraction", |shadow| double_or_blank(shadow.fraction)), ("kind", kind)];
    const MISS: Self = Shadow { fraction: f64::NAN, ..Shadow::LIT };
}

impl AnswerRow for ShadowFlux {
    const COLUMNS: &'static [Column<Self>] = &[
        ("fraction", |row| double_or_blank(row.shadow.fraction)),
        ("flux", |row| double_or_blank(row.flux)),
        ("kind", |row| kind(&row.shadow)),
    ];
    const MISS: Self = ShadowFlux { shadow: Shadow::MISS, flux: f64::NAN };
}
