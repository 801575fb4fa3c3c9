//! One batch of rays on a GPU, from upload to results.

pub(crate) mod driver;
pub(crate) mod hit_lists;
pub(crate) mod kernels;
pub(crate) mod plan;
pub(crate) mod raygen;
pub(crate) mod readback;
pub(crate) mod resolve;
pub(crate) mod staging;
