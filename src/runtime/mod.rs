//! Threads, memory, limits and cancellation.

pub(crate) mod block_on;
pub(crate) mod cancel;
pub(crate) mod cpu_pool;
pub(crate) mod limits;
pub mod memory;
pub(crate) mod prefetch;
