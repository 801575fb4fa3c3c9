//! Traversal of the tree by streams of rays.

pub(crate) mod best_first;
pub(crate) mod deferred;
pub(crate) mod ellipsoid_reject;
pub(crate) mod kernels;
pub(crate) mod moving_leaf;
pub(crate) mod ray_setup;
pub(crate) mod ray_sort;
pub(crate) mod stream;
