//! Vectors of x86-64: AVX-512, AVX2 and SSE2.

use std::arch::x86_64::*;

use super::Lanes;

/// The functions of [`Lanes`] that work on bits, by the instructions of one width.
macro_rules! choose {
    ($at_most:expr, $and:ident, $and_not:ident, $or:ident, $add:ident, $splat:ident) => {
        #[inline(always)]
        fn where_le(self, a: Self, b: Self) -> Self {
            // SAFETY: `self` proves that the processor supports the instructions. This also applies to the functions below.
            Self(unsafe { $add(self.0, $and_not($at_most(a.0, b.0), $splat(f32::INFINITY))) })
        }
        #[inline(always)]
        fn except_le(self, a: Self, b: Self) -> Self {
            // SAFETY: as above.
            Self(unsafe { $add(self.0, $and($at_most(a.0, b.0), $splat(f32::INFINITY))) })
        }
        #[inline(always)]
        fn with_low_bits(self, bits: Self) -> Self {
            // SAFETY: as above.
            Self(unsafe { $or($and(self.0, $splat(f32::from_bits(!7))), bits.0) })
        }
    };
}

lanes! {
    Avx512: __m512, 16 lanes, narrow Avx2;
    load _mm512_loadu_ps, store _mm512_storeu_ps, splat _mm512_set1_ps, sqrt _mm512_sqrt_ps;
    add _mm512_add_ps, sub _mm512_sub_ps, mul _mm512_mul_ps, div _mm512_div_ps, max _mm512_max_ps, min _mm512_min_ps;
    mul_add |a, b, c| _mm512_fmadd_ps(a, b, c);
    mul_sub |a, b, c| _mm512_fmsub_ps(a, b, c);
    le_mask |a, b| _mm512_cmp_ps_mask::<_CMP_LE_OQ>(a, b).into();
    #[inline(always)]
    fn bits_of_bytes(self, bytes: &[u8; 64], bit: usize) -> u64 {
        // SAFETY: the array is as long as the vector, and any alignment is allowed. `self` proves that the processor supports the instructions.
        unsafe { _mm512_test_epi8_mask(_mm512_loadu_epi8(bytes.as_ptr().cast()), _mm512_set1_epi8((1_u8 << bit) as i8)) }
    }
    const COMPRESSES: bool = true;
    #[inline(always)]
    fn compress(self, words: &[u32; 16], mask: u32, to: &mut [u32; 16]) {
        // SAFETY: both arrays are as long as the vector, and any alignment is allowed. `self` proves that the processor supports
        // the instructions.
        unsafe {
            let words = _mm512_loadu_epi32(words.as_ptr().cast());
            _mm512_storeu_epi32(to.as_mut_ptr().cast(), _mm512_maskz_compress_epi32(mask as u16, words));
        }
    }
}
lanes! {
    Avx2: __m256, 8 lanes, narrow Avx2;
    load _mm256_loadu_ps, store _mm256_storeu_ps, splat _mm256_set1_ps, sqrt _mm256_sqrt_ps;
    add _mm256_add_ps, sub _mm256_sub_ps, mul _mm256_mul_ps, div _mm256_div_ps, max _mm256_max_ps, min _mm256_min_ps;
    mul_add |a, b, c| _mm256_fmadd_ps(a, b, c);
    mul_sub |a, b, c| _mm256_fmsub_ps(a, b, c);
    le_mask |a, b| _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(a, b)) as u64;
    #[inline(always)]
    fn bits_of_bytes(self, bytes: &[u8; 64], bit: usize) -> u64 {
        let bits = |half: &[u8; 32]| {
            // SAFETY: the array is as long as the vector, and any alignment is allowed. `self` proves that the processor supports the
            // instructions.
            unsafe {
                let bytes = _mm256_loadu_si256(half.as_ptr().cast());
                _mm256_movemask_epi8(_mm256_sll_epi16(bytes, _mm_cvtsi32_si128(7 - bit as i32))) as u32
            }
        };
        bytes.as_chunks().0.iter().rev().fold(0, |all, half| all << 32 | u64::from(bits(half)))
    }
    transpose!(_mm256_unpacklo_ps, _mm256_unpackhi_ps, |_lanes, row, later| {
        // SAFETY: a processor that supports these lanes also supports those of half the width.
        let half = unsafe { Sse2::new() };
        // SAFETY: `self` proves that the processor supports the instructions.
        unsafe { _mm256_set_m128(half.load(later).0, half.load(row).0) }
    });
    #[inline(always)]
    fn least(self) -> f32 {
        // SAFETY: `self` proves that the processor supports the instructions.
        unsafe {
            let both = _mm256_min_ps(self.0, _mm256_permute2f128_ps::<1>(self.0, self.0));
            let pairs = _mm256_min_ps(both, _mm256_permute_ps::<0b01_00_11_10>(both));
            _mm256_cvtss_f32(_mm256_min_ps(pairs, _mm256_permute_ps::<0b10_11_00_01>(pairs)))
        }
    }
    choose! { _mm256_cmp_ps::<_CMP_LE_OQ>, _mm256_and_ps, _mm256_andnot_ps, _mm256_or_ps, _mm256_add_ps, _mm256_set1_ps }
}
lanes! {
    Sse2: __m128, 4 lanes, narrow Sse2;
    load _mm_loadu_ps, store _mm_storeu_ps, splat _mm_set1_ps, sqrt _mm_sqrt_ps;
    add _mm_add_ps, sub _mm_sub_ps, mul _mm_mul_ps, div _mm_div_ps, max _mm_max_ps, min _mm_min_ps;
    mul_add |a, b, c| _mm_add_ps(_mm_mul_ps(a, b), c);
    mul_sub |a, b, c| _mm_sub_ps(_mm_mul_ps(a, b), c);
    le_mask |a, b| _mm_movemask_ps(_mm_cmple_ps(a, b)) as u64;
    transpose!(_mm_unpacklo_ps, _mm_unpackhi_ps, |lanes, row, _later| lanes.load(row).0);
    #[inline(always)]
    fn least(self) -> f32 {
        // SAFETY: SSE2 is part of the architecture.
        unsafe {
            let pairs = _mm_min_ps(self.0, _mm_shuffle_ps::<0b01_00_11_10>(self.0, self.0));
            _mm_cvtss_f32(_mm_min_ps(pairs, _mm_shuffle_ps::<0b10_11_00_01>(pairs, pairs)))
        }
    }
    choose! { _mm_cmple_ps, _mm_and_ps, _mm_andnot_ps, _mm_or_ps, _mm_add_ps, _mm_set1_ps }
}
