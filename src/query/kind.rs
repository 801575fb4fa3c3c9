//! The kinds of encoded queries.

/// Kind of an encoded query: the corresponding method of [`Scene`](crate::Scene).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueryKind {
    /// [`Scene::closest`](crate::Scene::closest): one [`Hit`](crate::Hit) per ray, 8 bytes.
    Closest,
    /// [`Scene::interval`](crate::Scene::interval): one [`Interval`](crate::Interval) per ray, 12 bytes.
    Interval,
    /// [`Scene::approach`](crate::Scene::approach): one [`Approach`](crate::Approach) per ray, 12 bytes.
    Approach,
    /// [`Scene::occluded`](crate::Scene::occluded): one bit per ray, ray 0 in bit 0 of the first word, 4 bytes per 32 rays (rounded up).
    Occluded,
}

impl QueryKind {
    /// Words per result; 0 if a result is a bit.
    pub(crate) fn width(self) -> u64 {
        match self {
            Self::Closest => 2,
            Self::Interval | Self::Approach => 3,
            Self::Occluded => 0,
        }
    }
}
