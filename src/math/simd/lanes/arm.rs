//! Vectors of AArch64: NEON.

use std::arch::aarch64::*;

use super::Lanes;

lanes!(
    Neon,
    float32x4_t,
    4,
    Neon,
    vld1q_f32,
    vst1q_f32,
    vdupq_n_f32,
    vaddq_f32,
    vsubq_f32,
    vmulq_f32,
    vdivq_f32,
    vmaxnmq_f32,
    vminnmq_f32,
    vsqrtq_f32,
    |a, b, c| vfmaq_f32(c, a, b),
    |a, b, c| vnegq_f32(vfmsq_f32(c, a, b)),
    |a, b| vaddvq_u32(vandq_u32(vcleq_f32(a, b), vld1q_u32([1, 2, 4, 8].as_ptr()))).into(),
    {
        transpose!(vzip1q_f32, vzip2q_f32, |lanes, row, _later| lanes.load(row).0);
        #[inline(always)]
        fn least(self) -> f32 {
            // SAFETY: NEON is part of the architecture. This also applies to the functions below.
            unsafe { vminnmvq_f32(self.0) }
        }
        #[inline(always)]
        fn where_le(self, a: Self, b: Self) -> Self {
            // SAFETY: as above.
            Self(unsafe { vbslq_f32(vcleq_f32(a.0, b.0), self.0, vdupq_n_f32(f32::INFINITY)) })
        }
        #[inline(always)]
        fn except_le(self, a: Self, b: Self) -> Self {
            // SAFETY: as above.
            Self(unsafe { vbslq_f32(vcleq_f32(a.0, b.0), vdupq_n_f32(f32::INFINITY), self.0) })
        }
        #[inline(always)]
        fn with_low_bits(self, bits: Self) -> Self {
            // SAFETY: as above.
            Self(unsafe { vbslq_f32(vdupq_n_u32(7), bits.0, self.0) })
        }
    }
);
