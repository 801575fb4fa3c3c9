//! Boxed futures, for queries that many programs call.
//!
//! The body of an `async fn` is compiled again in every program that awaits it. A boxed future is compiled once, in this crate:
//! the command line takes half as long to build. One allocation per call is the price.

use std::pin::Pin;

use crate::error::Result;

/// A future that is compiled where it is made.
pub(crate) type Boxed<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;
