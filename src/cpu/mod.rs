//! The CPU engine.

pub(crate) mod accel;
pub(crate) mod collector;
pub(crate) mod frame;
pub(crate) mod growth_budget;
pub(crate) mod hit_lists;
pub(crate) mod query;
pub(crate) mod scene;
pub(crate) mod subnormal;
pub(crate) mod traverse;
pub(crate) mod twins;
pub(crate) mod view;
