//! The query kinds: their markers, and the CPU engine's collectors of hits.

pub(crate) mod all_hits;
pub(crate) mod approach;
pub(crate) mod closest;
pub(crate) mod count;
pub(crate) mod kind;
pub(crate) mod occluded;
pub(crate) mod transmittance;

/// The markers, which `umbracast::queries` has.
pub(crate) mod kinds {
    macro_rules! kinds {
        ($($kind:ident $method:literal;)*) => {$(
            #[doc = concat!("The query [`Scene::", $method, "`](crate::Scene::", $method, ").")]
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct $kind;
        )*};
    }
    kinds! {
        Closest "closest";
        Interval "interval";
        Approach "approach";
        Occluded "occluded";
        Count "count";
        Transmittance "transmittance";
        Contains "contains";
        All "all";
    }

    /// The query [`Scene::nearest`](crate::Scene::nearest), with the number of hits per ray.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Nearest(pub u32);
}
