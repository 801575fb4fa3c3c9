//! Queries recorded into a command encoder of the caller.

pub(crate) mod pass;
pub(crate) mod plan;
pub(crate) mod resident;
