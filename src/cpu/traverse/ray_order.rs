//! The order of the rays of a batch, which decides how they are sorted and traversed.

/// How the rays of a batch follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RayOrder {
    /// Neighbours are alike, as those of a picture are.
    Coherent,
    /// The same within each octant of directions, and the octants alternate. The channels of a LiDAR are an example.
    CoherentPerOctant,
    /// Neighbours differ, or are unknown.
    Incoherent,
    /// Neighbours differ, and most rays begin and end in the same part of the scene.
    Short,
}

impl RayOrder {
    /// Whether rays in this order are sorted before they are cast.
    pub(crate) fn is_sorted(self) -> bool {
        matches!(self, RayOrder::Incoherent | RayOrder::Short)
    }
}
