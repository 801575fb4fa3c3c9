//! Vectors of WebAssembly: 128 bits. Without fused operations, so that every browser computes the same bits.

use std::arch::wasm32::*;

use super::Lanes;

/// `v128_load` of numbers.
///
/// # Safety
/// Four numbers must be readable at `from`.
#[inline(always)]
unsafe fn load(from: *const f32) -> v128 {
    // SAFETY: the caller guarantees it, and any alignment is allowed.
    unsafe { v128_load(from.cast()) }
}

/// `v128_store` of numbers.
///
/// # Safety
/// Four numbers must be writable at `to`.
#[inline(always)]
unsafe fn store(to: *mut f32, lanes: v128) {
    // SAFETY: the caller guarantees it, and any alignment is allowed.
    unsafe { v128_store(to.cast(), lanes) }
}

/// `a > b ? a : b`, as the instruction of x86.
#[inline(always)]
fn max(a: v128, b: v128) -> v128 {
    f32x4_pmax(b, a)
}

/// `a < b ? a : b`, as the instruction of x86.
#[inline(always)]
fn min(a: v128, b: v128) -> v128 {
    f32x4_pmin(b, a)
}

#[inline(always)]
fn low(a: v128, b: v128) -> v128 {
    i32x4_shuffle::<0, 4, 1, 5>(a, b)
}

#[inline(always)]
fn high(a: v128, b: v128) -> v128 {
    i32x4_shuffle::<2, 6, 3, 7>(a, b)
}

lanes! {
    Simd128: v128, 4 lanes, narrow Simd128;
    load load, store store, splat f32x4_splat, sqrt f32x4_sqrt;
    add f32x4_add, sub f32x4_sub, mul f32x4_mul, div f32x4_div, max max, min min;
    mul_add |a, b, c| f32x4_add(f32x4_mul(a, b), c);
    mul_sub |a, b, c| f32x4_sub(f32x4_mul(a, b), c);
    le_mask |a, b| i32x4_bitmask(f32x4_le(a, b)).into();
    transpose!(low, high, |lanes, row, _later| lanes.load(row).0);
    #[inline(always)]
    fn least(self) -> f32 {
        let pairs = min(self.0, i32x4_shuffle::<2, 3, 0, 1>(self.0, self.0));
        f32x4_extract_lane::<0>(min(pairs, i32x4_shuffle::<1, 0, 3, 2>(pairs, pairs)))
    }
    #[inline(always)]
    fn where_le(self, a: Self, b: Self) -> Self {
        Self(v128_bitselect(self.0, f32x4_splat(f32::INFINITY), f32x4_le(a.0, b.0)))
    }
    #[inline(always)]
    fn except_le(self, a: Self, b: Self) -> Self {
        Self(v128_bitselect(f32x4_splat(f32::INFINITY), self.0, f32x4_le(a.0, b.0)))
    }
    #[inline(always)]
    fn with_low_bits(self, bits: Self) -> Self {
        Self(v128_bitselect(bits.0, self.0, u32x4_splat(7)))
    }
}
