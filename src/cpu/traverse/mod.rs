//! Traversal of the CPU engine's BVH: streams of rays for hits, single rays for closest approaches.

pub(crate) mod best_first;
pub(crate) mod boxes;
pub(crate) mod deferred;
pub(crate) mod ellipsoid_reject;
pub(crate) mod interleaved;
pub(crate) mod kernels;
pub(crate) mod leaf_visits;
pub(crate) mod moving_leaf;
pub(crate) mod moving_spheres;
pub(crate) mod ordered;
pub(crate) mod packet;
pub(crate) mod packet_kernels;
pub(crate) mod packets;
pub(crate) mod pairs;
pub(crate) mod prepared_ray;
pub(crate) mod ray_order;
pub(crate) mod ray_setup;
pub(crate) mod ray_sort;
pub(crate) mod stream;
pub(crate) mod visits;
