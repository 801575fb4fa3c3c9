//! What the processor can do, found at run time, and the macro that compiles a kernel for each answer.

use std::cell::Cell;

/// A method of [`Level`] that runs a kernel in the widest lanes there are. The kernel gets [`Lanes`] first, to make others from. Each instruction set has a function
/// of its own, which `tests/cpu/kernels.rs` finds by its name and disassembles.
macro_rules! dispatch {
    ($(#[$about:meta])* $name:ident, ($($argument:ident: $kind:ty),*) $(-> $result:ty)?) => {
        impl Level {
            $(#[$about])*
            pub(crate) fn $name(self, $($argument: $kind),*) $(-> $result)? {
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,bmi1,bmi2")]
                #[inline(never)]
                fn avx512($($argument: $kind),*) $(-> $result)? {
                    // SAFETY: this function is compiled for the instructions of these lanes.
                    $name(unsafe { <$crate::math::simd::lanes::Avx512 as $crate::math::simd::lanes::Lanes>::new() }, $($argument),*)
                }
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2,fma")]
                #[inline(never)]
                fn avx2($($argument: $kind),*) $(-> $result)? {
                    // SAFETY: the same.
                    $name(unsafe { <$crate::math::simd::lanes::Avx2 as $crate::math::simd::lanes::Lanes>::new() }, $($argument),*)
                }
                #[cfg(target_arch = "x86_64")]
                #[inline(never)]
                fn sse2($($argument: $kind),*) $(-> $result)? {
                    // SAFETY: they belong to the architecture.
                    $name(unsafe { <$crate::math::simd::lanes::Sse2 as $crate::math::simd::lanes::Lanes>::new() }, $($argument),*)
                }
                #[cfg(target_arch = "aarch64")]
                #[inline(never)]
                fn neon($($argument: $kind),*) $(-> $result)? {
                    // SAFETY: the same.
                    $name(unsafe { <$crate::math::simd::lanes::Neon as $crate::math::simd::lanes::Lanes>::new() }, $($argument),*)
                }
                #[inline(never)]
                fn plain($($argument: $kind),*) $(-> $result)? {
                    // SAFETY: every processor has them.
                    $name(unsafe { <$crate::math::simd::lanes::Plain as $crate::math::simd::lanes::Lanes>::new() }, $($argument),*)
                }
                match self.instructions() {
                    // SAFETY: only `all` makes this value, after asking the processor.
                    #[cfg(target_arch = "x86_64")]
                    $crate::math::simd::level::Instructions::Avx512 => unsafe { avx512($($argument),*) },
                    // SAFETY: the same.
                    #[cfg(target_arch = "x86_64")]
                    $crate::math::simd::level::Instructions::Avx2 => unsafe { avx2($($argument),*) },
                    // These two belong to the architecture.
                    #[cfg(target_arch = "x86_64")]
                    $crate::math::simd::level::Instructions::Sse2 => sse2($($argument),*),
                    #[cfg(target_arch = "aarch64")]
                    $crate::math::simd::level::Instructions::Neon => neon($($argument),*),
                    $crate::math::simd::level::Instructions::Plain => plain($($argument),*),
                }
            }
        }
    };
}

pub(crate) use dispatch;

thread_local! {
    /// What [`crate::bench::use_level`] chose for this thread.
    pub(crate) static CHOSEN: Cell<Option<Level>> = const { Cell::new(None) };
}

/// The instructions the kernels use. A value proves that this processor has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level(Instructions);

/// Private to [`dispatch`]: only [`Level::all`] makes a [`Level`] of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instructions {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Sse2,
    #[cfg(target_arch = "aarch64")]
    Neon,
    Plain,
}

impl Level {
    /// All that this processor has, the quickest first.
    pub(crate) fn all() -> Vec<Self> {
        let mut levels = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let short = is_x86_feature_detected!("avx512vl") && is_x86_feature_detected!("avx512bw");
            let bits = is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2");
            if avx2 && short && bits && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
                levels.push(Self(Instructions::Avx512));
            }
            if avx2 {
                levels.push(Self(Instructions::Avx2));
            }
            levels.push(Self(Instructions::Sse2));
        }
        #[cfg(target_arch = "aarch64")]
        levels.push(Self(Instructions::Neon));
        levels.push(Self(Instructions::Plain));
        levels
    }

    /// The quickest, unless this thread chose another.
    pub(crate) fn best() -> Self {
        CHOSEN.get().unwrap_or_else(|| Self::all()[0])
    }

    /// For [`dispatch`].
    #[inline(always)]
    pub(crate) fn instructions(self) -> Instructions {
        self.0
    }

    /// What people call it.
    pub(crate) fn word(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => "AVX-512",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => "AVX2",
            #[cfg(target_arch = "x86_64")]
            Instructions::Sse2 => "SSE2",
            #[cfg(target_arch = "aarch64")]
            Instructions::Neon => "NEON",
            Instructions::Plain => "plain",
        }
    }
}
