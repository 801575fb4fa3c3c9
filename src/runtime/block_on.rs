//! Futures: how blocking calls wait for one, and the type of those that this crate compiles.

use std::pin::Pin;

use crate::error::Result;

/// A boxed future. Every program that awaits an `async fn` compiles its body again; a boxed future is compiled once, in this crate: the
/// command line builds in half the time. The price is one allocation per call.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) type BoxedFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// A boxed future. In a browser, where wgpu belongs to one thread, it stays on its thread.
#[cfg(target_arch = "wasm32")]
pub(crate) type BoxedFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + 'a>>;

/// Blocks the thread until a future is ready.
#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
pub(crate) fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    pollster::block_on(future)
}

/// Polls a future once: a browser does not let its thread wait, and without GPUs there is nothing to wait for. What runs on the CPU engine
/// is ready then.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) if the future is not ready.
#[cfg(any(not(feature = "gpu"), target_arch = "wasm32"))]
pub(crate) fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    use std::task::{Context, Poll, Waker};

    match std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => {
            let message =
                "a browser cannot wait for a GPU: call the async version, such as `cast_async` or `scene_async`";
            Err(crate::error::Error::InvalidArgument(message.into()))
        }
    }
}
