//! Error-free transforms: a sum or product as a pair of f32 whose value is exact. Twin of `shaders/math/error_free.wgsl`.
//!
//! Knuth's TwoSum, Dekker's QuickTwoSum, and a product whose operands are split by masking 12 mantissa bits. `fma` is not used: WGSL does
//! not guarantee that it fuses, and the twins must agree.

use std::ops::{Add, Sub};

/// `s + e = a + b` exactly, `s` the rounded sum: for f32, f64, and vectors and lanes of them.
#[inline(always)]
pub(crate) fn two_sum<T: Copy + Add<Output = T> + Sub<Output = T>>(a: T, b: T) -> (T, T) {
    let s = a + b;
    let bb = s - a;
    let aa = s - bb;
    (s, (a - aa) + (b - bb))
}

/// [`two_sum`] for `|a| ≥ |b|`.
#[inline(always)]
pub(crate) fn quick_two_sum(a: f32, b: f32) -> (f32, f32) {
    let s = a + b;
    (s, b - (s - a))
}

/// `p + e = a · b` exactly, barring underflow of `e`.
#[inline(always)]
pub(crate) fn two_product(a: f32, b: f32) -> (f32, f32) {
    let p = a * b;
    let (ah, bh) = (high_half(a), high_half(b));
    let (al, bl) = (a - ah, b - bh);
    let e1 = ah * bh - p;
    let e2 = e1 + ah * bl;
    let e3 = e2 + al * bh;
    (p, e3 + al * bl)
}

/// The upper 12 bits of the significand.
#[inline(always)]
fn high_half(a: f32) -> f32 {
    f32::from_bits(a.to_bits() & 0xffff_f000)
}

/// Dot product, summed from left to right. WGSL's `dot` may use any order.
#[inline(always)]
pub(crate) fn dot3(x: glam::Vec3, y: glam::Vec3) -> f32 {
    x.x * y.x + x.y * y.y + x.z * y.z
}

/// Sum of the components' magnitudes.
#[inline(always)]
pub(crate) fn norm1(x: glam::Vec3) -> f32 {
    x.x.abs() + x.y.abs() + x.z.abs()
}
