//! SIGINT (Ctrl-C), SIGTERM and SIGHUP cancel the work. Nothing is written, and no temporary files remain.

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::error::Error;
use signal_hook::consts::{SIGINT, SIGTERM};
use umbracast::{CancelToken, Error as Records};

/// The signal received; 0 if there is none.
static RECEIVED: AtomicI32 = AtomicI32::new(0);

#[cfg(unix)]
const SIGNALS: [c_int; 3] = [SIGINT, SIGTERM, signal_hook::consts::SIGHUP];
#[cfg(not(unix))]
const SIGNALS: [c_int; 2] = [SIGINT, SIGTERM];

/// Installs signal handlers: the first signal cancels `watch`, the second one exits immediately. Before this call, a signal ends the
/// program immediately, because there are no files to remove yet.
pub(crate) fn cancel(watch: &CancelToken) {
    for signal in SIGNALS.into_iter().filter(|signal| !is_ignored(*signal)) {
        let watch = watch.clone();
        let stop = move || {
            if RECEIVED.swap(signal, Ordering::Relaxed) != 0 {
                signal_hook::low_level::exit(128 + signal);
            }
            watch.cancel();
        };
        // SAFETY: the handler only swaps and stores atomics, or exits without running destructors.
        let registered = unsafe { signal_hook::low_level::register(signal, stop) };
        // If the registration fails, the signal keeps its default action.
        drop(registered);
    }
}

/// Exit code of an error. For a cancellation by a signal, 128 plus the number of the signal, as shells report it.
pub(crate) fn exit_code(error: &Error) -> u8 {
    match (error, RECEIVED.load(Ordering::Relaxed)) {
        (error, signal @ 1..) if matches!(error.of_records(), Some(Records::Cancelled { .. })) => {
            u8::try_from(128 + signal).unwrap_or(130)
        }
        _ => code(error),
    }
}

/// Exit code of an error: 1 no eclipse on a day, 2 bad input or usage, 3 no such device or precision, 4 the device failed, 5 reading or writing failed, 6 a
/// violated guarantee, 130 cancelled (as shells report Ctrl-C).
fn code(error: &Error) -> u8 {
    match error {
        Error::Files(umbracast_files::Error::Io { .. }) => 5,
        Error::NoEclipse(_) => 1,
        Error::BrokenPromise(_) => 6,
        _ => match error.of_records() {
            None | Some(Records::BadRecord { .. } | Records::InvalidArgument(_) | Records::LengthsDiffer { .. }) => 2,
            Some(Records::NoDevice { .. } | Records::NoPrecision { .. }) => 3,
            Some(Records::Cancelled { .. }) => 130,
            // The device ran out of memory, was lost, or failed in another way.
            Some(_) => 4,
        },
    }
}

/// Whether the parent process had the signal ignored, as `nohup` does.
#[cfg(unix)]
fn is_ignored(signal: c_int) -> bool {
    // SAFETY: a `sigaction` of all zeros is valid; reading the current action changes nothing.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut now) == 0 && now.sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(not(unix))]
fn is_ignored(_: c_int) -> bool {
    false
}
