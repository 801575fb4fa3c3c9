//! Boxed futures, for queries that many programs call.
//!
//! Every program that awaits an `async fn` compiles its body again. A boxed future is compiled once, in this crate: the command line builds
//! in half the time. The price is one allocation per call.

use std::pin::Pin;

use crate::error::Result;

/// A future that is compiled in the crate that makes it. In a browser, where wgpu belongs to one thread, it stays on its thread.
#[cfg(target_arch = "wasm32")]
pub(crate) type BoxedFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + 'a>>;

/// A future that is compiled in the crate that makes it.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) type BoxedFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;
