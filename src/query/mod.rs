//! What a query asks, and the results it returns.

pub(crate) mod kind;
pub(crate) mod policy;
pub(crate) mod results;
pub(crate) mod validate;
