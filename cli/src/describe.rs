//! `cast --with`: additional columns with attributes of hits.

use umbracast::glam::DVec3;
use umbracast::{Attributes, Hit};
use umbracast_files::{AnswerRow, Column, Number};

use super::ray_input::Channel;

/// Attributes of a hit that can be written in addition to `t` and `id`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum With {
    Point,
    Normal,
    Incidence,
    Distance,
    Pose,
    Ring,
    Azimuth,
}

/// The values of `--with`, in the order of the variants.
pub(crate) const WITHS: [(&str, &str, With); 7] = [
    ("point", "the position of the hit, at the time of the hit: px, py, pz", With::Point),
    ("normal", "the outward unit normal at the point: nx, ny, nz", With::Normal),
    (
        "incidence",
        "the angle between the reversed ray, relative to the sphere, and the normal, in radians: incidence_rad",
        With::Incidence,
    ),
    ("distance", "t times the length of the direction: distance", With::Distance),
    ("pose", "index of the pose of a ray of --sensor, from 0: pose", With::Pose),
    ("ring", "index of the elevation of a ray of --sensor, from 0: ring", With::Ring),
    ("azimuth", "azimuth of a ray of --sensor: azimuth_deg", With::Azimuth),
];

impl With {
    /// The value of `--with`.
    pub(crate) fn word(self) -> &'static str {
        WITHS[self as usize].0
    }
}

/// A hit and its attributes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Described {
    pub(crate) hit: Hit,
    pub(crate) was: Attributes,
    /// The point in the coordinates of the files: the subtracted origin is added again.
    pub(crate) point: DVec3,
    /// The channel of a sensor's ray.
    pub(crate) channel: Channel,
}

impl Described {
    /// The hit with its attributes.
    pub(crate) fn new(hit: Hit, was: Attributes) -> Self {
        Self { hit, was, point: was.point.into(), ..Self::MISS }
    }

    /// A value in f64; blank for a miss.
    fn wide(&self, number: f64) -> Number {
        if self.hit.is_hit() { Number::Double(number) } else { Number::BlankDouble(number) }
    }
}

impl AnswerRow for Described {
    const COLUMNS: &'static [Column<Self>] =
        &[("t", |described| Number::Float(described.hit.t)), ("id", |described| Number::Id(described.hit.id))];
    const MISS: Self = Self {
        hit: Hit::MISS,
        was: Attributes::MISS,
        point: DVec3::NAN,
        channel: Channel { pose: 0, ring: 0, azimuth_deg: 0.0 },
    };
    const OF_RAY: &'static [&'static str] = &["pose", "ring", "azimuth_deg"];
    fn is_miss(&self) -> bool {
        !self.hit.is_hit()
    }
}

/// The columns `t` and `id`, followed by those of `with` in its order. With an origin, points are f64, because in the coordinates of the
/// files f32 is too coarse. In a file of points the coordinates have the names x, y and z.
pub(crate) fn columns(with: &[With], has_origin: bool, has_points: bool) -> Vec<Column<Described>> {
    let mut columns = Described::COLUMNS.to_vec();
    for what in with {
        let more: &[Column<Described>] = match what {
            With::Point if has_origin => &[
                ("px", |described| described.wide(described.point.x)),
                ("py", |described| described.wide(described.point.y)),
                ("pz", |described| described.wide(described.point.z)),
            ],
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
            With::Incidence => &[("incidence_rad", |described| Number::Float(described.was.incidence_rad))],
            // Ids, because those can be null in Parquet, where a count cannot: a miss has neither.
            With::Pose => &[("pose", |described| Number::Id(described.channel.pose))],
            With::Ring => &[("ring", |described| Number::Id(described.channel.ring))],
            With::Azimuth => &[("azimuth_deg", |described| Number::Float(described.channel.azimuth_deg))],
            With::Distance => &[("distance", |described| Number::Float(described.was.distance))],
        };
        columns.extend_from_slice(more);
    }
    if has_points {
        let name = |name| [("px", "x"), ("py", "y"), ("pz", "z")].into_iter().find(|(own, _)| *own == name);
        columns.iter_mut().for_each(|column| column.0 = name(column.0).map_or(column.0, |(_, axis)| axis));
        // Points come first, as other programs expect.
        columns.sort_by_key(|column| !["x", "y", "z"].contains(&column.0));
    }
    columns
}
