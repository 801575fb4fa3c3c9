//! Query kinds and policies, validation, and the results that a query returns.

pub(crate) mod kind;
pub(crate) mod optical_depth;
pub(crate) mod policy;
pub(crate) mod results;
pub(crate) mod validate;
