//! Unit roundoffs, powers of two by their bits, and the order of f32 as integers. Twin of `shaders/math/float.wgsl`.

/// Unit roundoff of f32: 2⁻²⁴.
pub(crate) const U: f32 = 1.0 / 16_777_216.0;

/// Unit roundoff of f32 as f64, for bounds of f32 arithmetic that are computed in f64.
pub(crate) const U_WIDE: f64 = U as f64;

/// Unit roundoff of f64: 2⁻⁵³.
pub(crate) const U_F64: f64 = 1.0 / 9_007_199_254_740_992.0;

/// 2ⁿ for n in −126..=127; also infinity for 128.
#[inline(always)]
pub(crate) fn power_of_two(n: i32) -> f32 {
    f32::from_bits(((n + 127) << 23) as u32)
}

/// The exponent of a normal f32.
#[inline(always)]
pub(crate) fn exponent(x: f32) -> i32 {
    (x.to_bits() >> 23 & 0xff) as i32 - 127
}

/// Maps an f32 to an integer of the same order. -0 comes before 0.
#[inline(always)]
pub(crate) fn ordered_bits(x: f32) -> u32 {
    let bits = x.to_bits();
    bits ^ ((bits as i32 >> 31) as u32 | 0x8000_0000)
}
