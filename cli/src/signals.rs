//! Ctrl-C and its relatives end the work in good order: nothing is written, nothing is left behind.

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use umbracast::{Error, Watch};

/// The signal that came; 0 before.
static CAME: AtomicI32 = AtomicI32::new(0);

#[cfg(unix)]
const SIGNALS: [c_int; 3] = [SIGINT, SIGTERM, signal_hook::consts::SIGHUP];
#[cfg(not(unix))]
const SIGNALS: [c_int; 2] = [SIGINT, SIGTERM];

/// From now on the signals that end programs cancel `watch`; the second one ends this program at once. (Before, they end it
/// at once: nothing is there yet that would have to be cleared away.)
pub(crate) fn cancel(watch: &Watch) {
    for signal in SIGNALS.into_iter().filter(|signal| !is_ignored(*signal)) {
        let watch = watch.clone();
        let stop = move || {
            if CAME.swap(signal, Ordering::Relaxed) != 0 {
                signal_hook::low_level::exit(128 + signal);
            }
            watch.cancel();
        };
        // SAFETY: the handler only swaps and stores atomics, or ends the program without cleaning up.
        let registered = unsafe { signal_hook::low_level::register(signal, stop) };
        // Where a signal cannot be had it does what it always did.
        drop(registered);
    }
}

/// The exit code of an error: of a signal, what shells say of it.
pub(crate) fn exit_code(error: &Error) -> u8 {
    match (error, CAME.load(Ordering::Relaxed)) {
        (Error::Cancelled { .. }, signal @ 1..) => u8::try_from(128 + signal).unwrap_or(130),
        _ => error.exit_code(),
    }
}

/// Whether whoever started this program wants the signal to be ignored, as `nohup` does.
#[cfg(unix)]
fn is_ignored(signal: c_int) -> bool {
    // SAFETY: all zeros are a sigaction; asking for the present one changes nothing.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut now) == 0 && now.sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(not(unix))]
fn is_ignored(_: c_int) -> bool {
    false
}
