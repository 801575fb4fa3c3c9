//! Instruction sets: detection at run time, and the macro that compiles a kernel for each of them.

/// Defines a method of [`SimdLevel`] that runs a kernel with the lanes of that instruction set. The kernel receives [`Lanes`] as its first
/// argument, to make others from. Each instruction set has a function of its own, which `cli/tests/cli/kernels.rs` finds by its name and
/// disassembles. A kernel that is one expression may stand in the macro.
macro_rules! multiversion {
    ($(#[$about:meta])* $name:ident, ($($argument:ident: $kind:ty),*) $(-> $result:ty)?, |$lanes:ident| $body:expr) => {
        $crate::math::simd::level::multiversion! { $(#[$about])* $name, ($($argument: $kind),*) $(-> $result)? }
        #[inline(always)]
        fn $name($lanes: impl $crate::math::simd::lanes::Lanes, $($argument: $kind),*) $(-> $result)? {
            $body
        }
    };
    ($(#[$about:meta])* $name:ident, ($($argument:ident: $kind:ty),*) $(-> $result:ty)?) => {
        impl SimdLevel {
            $(#[$about])*
            pub(crate) fn $name(self, $($argument: $kind),*) $(-> $result)? {
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,bmi1,bmi2,popcnt")]
                #[inline(never)]
                fn avx512($($argument: $kind),*) $(-> $result)? {
                    // SAFETY: this function is compiled for the instructions of these lanes.
                    $name(unsafe { <$crate::math::simd::lanes::Avx512 as $crate::math::simd::lanes::Lanes>::new() }, $($argument),*)
                }
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2,fma,bmi1,bmi2,popcnt")]
                #[inline(never)]
                fn avx2($($argument: $kind),*) $(-> $result)? {
                    // SAFETY: this function is compiled for the instructions of these lanes.
                    $name(unsafe { <$crate::math::simd::lanes::Avx2 as $crate::math::simd::lanes::Lanes>::new() }, $($argument),*)
                }
                #[cfg(target_arch = "x86_64")]
                #[inline(never)]
                fn sse2($($argument: $kind),*) $(-> $result)? {
                    // SAFETY: SSE2 is part of the architecture.
                    $name(unsafe { <$crate::math::simd::lanes::Sse2 as $crate::math::simd::lanes::Lanes>::new() }, $($argument),*)
                }
                #[cfg(target_arch = "aarch64")]
                #[inline(never)]
                fn neon($($argument: $kind),*) $(-> $result)? {
                    // SAFETY: NEON is part of the architecture.
                    $name(unsafe { <$crate::math::simd::lanes::Neon as $crate::math::simd::lanes::Lanes>::new() }, $($argument),*)
                }
                #[cfg(target_feature = "simd128")]
                #[inline(never)]
                fn simd128($($argument: $kind),*) $(-> $result)? {
                    // SAFETY: the whole module is compiled for these instructions.
                    $name(unsafe { <$crate::math::simd::lanes::Simd128 as $crate::math::simd::lanes::Lanes>::new() }, $($argument),*)
                }
                #[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))))]
                #[inline(never)]
                fn plain($($argument: $kind),*) $(-> $result)? {
                    // SAFETY: plain lanes need no special instructions.
                    $name(unsafe { <$crate::math::simd::lanes::Plain as $crate::math::simd::lanes::Lanes>::new() }, $($argument),*)
                }
                match self.instructions() {
                    // SAFETY: only `all` makes this value, after checking that the processor supports it.
                    #[cfg(target_arch = "x86_64")]
                    $crate::math::simd::level::Instructions::Avx512 => unsafe { avx512($($argument),*) },
                    // SAFETY: as above.
                    #[cfg(target_arch = "x86_64")]
                    $crate::math::simd::level::Instructions::Avx2 => unsafe { avx2($($argument),*) },
                    // SSE2 and NEON are part of the architecture.
                    #[cfg(target_arch = "x86_64")]
                    $crate::math::simd::level::Instructions::Sse2 => sse2($($argument),*),
                    #[cfg(target_arch = "aarch64")]
                    $crate::math::simd::level::Instructions::Neon => neon($($argument),*),
                    #[cfg(target_feature = "simd128")]
                    $crate::math::simd::level::Instructions::Simd128 => simd128($($argument),*),
                    #[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))))]
                    $crate::math::simd::level::Instructions::Plain => plain($($argument),*),
                }
            }
        }
    };
}

pub(crate) use multiversion;

/// Instruction set that the kernels use. A value proves that this processor supports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SimdLevel(Instructions);

/// Names of the instruction sets, for [`multiversion`] only: just [`SimdLevel::all`] makes a [`SimdLevel`] from one.
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
    /// WebAssembly, which has no detection at run time.
    #[cfg(target_feature = "simd128")]
    Simd128,
    /// Without vector instructions. SSE2 and NEON are part of their architectures, so only tests use it there.
    #[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))))]
    Plain,
}

impl SimdLevel {
    /// All instruction sets that this processor supports, fastest first.
    pub(crate) fn all() -> Vec<Self> {
        let mut levels = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            let bits = is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2");
            let bits = bits && is_x86_feature_detected!("popcnt");
            let avx2 = bits && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let short = is_x86_feature_detected!("avx512vl") && is_x86_feature_detected!("avx512bw");
            if avx2 && short && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
                levels.push(Self(Instructions::Avx512));
            }
            if avx2 {
                levels.push(Self(Instructions::Avx2));
            }
            levels.push(Self(Instructions::Sse2));
        }
        #[cfg(target_arch = "aarch64")]
        levels.push(Self(Instructions::Neon));
        #[cfg(target_feature = "simd128")]
        levels.push(Self(Instructions::Simd128));
        #[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))))]
        levels.push(Self(Instructions::Plain));
        levels
    }

    /// The fastest instruction set.
    pub(crate) fn best() -> Self {
        Self::all()[0]
    }

    /// Used by [`multiversion`].
    #[inline(always)]
    pub(crate) fn instructions(self) -> Instructions {
        self.0
    }

    /// Name for users.
    pub(crate) fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => "AVX-512",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => "AVX2",
            #[cfg(target_arch = "x86_64")]
            Instructions::Sse2 => "SSE2",
            #[cfg(target_arch = "aarch64")]
            Instructions::Neon => "NEON",
            #[cfg(target_feature = "simd128")]
            Instructions::Simd128 => "SIMD128",
            #[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))))]
            Instructions::Plain => "plain",
        }
    }
}
