//! Memory asked for before it is needed.

/// Lets the processor fetch what lies at a place, and goes on. A hint: where there is no instruction for it, nothing happens.
#[inline(always)]
pub(crate) fn fetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: it reads nothing, and belongs to the architecture.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
