//! Cache prefetch.

/// Prefetches the memory at `place` into the cache, without waiting for it. This is a hint: except on x86-64, it does nothing.
#[inline(always)]
pub(crate) fn prefetch<T>(place: &T) {
    prefetch_address(std::ptr::from_ref(place).cast());
}

/// Like [`prefetch`], for an address, which need not be valid.
#[inline(always)]
pub(crate) fn prefetch_address(place: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the instruction accesses no memory as far as the program can observe, and it is part of the architecture.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
