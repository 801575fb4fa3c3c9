//! The query kinds of the CPU engine, each with its collector of hits.

pub(crate) mod all_hits;
pub(crate) mod approach;
pub(crate) mod closest;
pub(crate) mod count;
pub(crate) mod kind;
pub(crate) mod occluded;
pub(crate) mod transmittance;
