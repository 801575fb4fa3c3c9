//! What a query asks, and the results it returns.

pub(crate) mod policy;
pub(crate) mod results;
