//! Allocator that counts the bytes each thread has allocated, so that fuzz targets can limit their memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    /// Bytes allocated and not yet freed by this thread; negative if it frees memory that other threads allocated.
    static HELD: Cell<i64> = const { Cell::new(0) };
    /// Maximum of `HELD`.
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

fn count(more: i64) {
    // Neither thread-local has a destructor, so both exist as long as the thread.
    let held = HELD.get() + more;
    HELD.set(held);
    PEAK.set(PEAK.get().max(held));
}

// SAFETY: every call is passed to the system allocator unchanged; counting allocates nothing and does not unwind.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller upholds the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as i64 - layout.size() as i64);
        // SAFETY: the caller upholds the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Runs `work`. Returns its result and the peak of this thread's allocated bytes, relative to the amount at the start.
pub(crate) fn peak_of<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = HELD.get();
    PEAK.set(before);
    let done = work();
    (done, (PEAK.get() - before) as u64)
}
