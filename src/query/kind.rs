//! What an encoded query asks.

/// What an encoded query asks: the verbs of a [`Scene`](crate::Scene).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    /// [`Scene::closest`](crate::Scene::closest): a [`Hit`](crate::Hit) a ray, 8 bytes.
    Closest,
    /// [`Scene::interval`](crate::Scene::interval): an [`Interval`](crate::Interval) a ray, 12 bytes.
    Interval,
    /// [`Scene::approach`](crate::Scene::approach): an [`Approach`](crate::Approach) a ray, 12 bytes.
    Approach,
    /// [`Scene::occluded`](crate::Scene::occluded): one bit a ray, ray 0 in bit 0 of the first word, 4 bytes for every 32 rays begun.
    Occluded,
}

impl Question {
    /// Words of an answer; 0 for a bit.
    pub(crate) fn width(self) -> u64 {
        match self {
            Self::Closest => 2,
            Self::Interval | Self::Approach => 3,
            Self::Occluded => 0,
        }
    }
}
