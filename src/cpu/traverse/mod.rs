//! Traversal of the CPU engine's BVH: streams of rays for hits, single rays for closest approaches.

pub(crate) mod best_first;
pub(crate) mod certain_miss;
pub(crate) mod deferred;
pub(crate) mod leaf;
pub(crate) mod moving_leaf;
pub(crate) mod one_ray;
pub(crate) mod packet;
pub(crate) mod ray_order;
pub(crate) mod ray_setup;
pub(crate) mod single;
pub(crate) mod stream;
