//! Vectors of AArch64: NEON.

use std::arch::aarch64::*;

use super::Lanes;

lanes! {
    Neon: float32x4_t, 4 lanes, narrow Neon;
    load vld1q_f32, store vst1q_f32, splat vdupq_n_f32, sqrt vsqrtq_f32;
    add vaddq_f32, sub vsubq_f32, mul vmulq_f32, div vdivq_f32, max vmaxnmq_f32, min vminnmq_f32;
    mul_add |a, b, c| vfmaq_f32(c, a, b);
    mul_sub |a, b, c| vnegq_f32(vfmsq_f32(c, a, b));
    le_mask |a, b| vaddvq_u32(vandq_u32(vcleq_f32(a, b), vld1q_u32([1, 2, 4, 8].as_ptr()))).into();
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
