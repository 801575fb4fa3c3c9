//! Lanes without intrinsics, for processors without vectors.

use super::Lanes;

#[derive(Clone, Copy)]
pub(crate) struct Plain([f32; 4]);

impl Plain {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        Self(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }
}

impl Lanes for Plain {
    const COUNT: usize = 4;
    type Narrow = Self;
    #[inline(always)]
    unsafe fn new() -> Self {
        Self([0.0; 4])
    }
    #[inline(always)]
    fn narrow(self) -> Self {
        self.splat(0.0)
    }
    #[inline(always)]
    fn load(self, from: &[f32]) -> Self {
        Self(*from.first_chunk().expect("columns are whole vectors"))
    }
    #[inline(always)]
    fn store(self, to: &mut [f32]) {
        *to.first_chunk_mut().expect("columns are whole vectors") = self.0;
    }
    #[inline(always)]
    fn splat(self, value: f32) -> Self {
        Self([value; 4])
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        // Where the processor has no instruction for it, f32's `mul_add` is a function call.
        self.mul(b).add(c)
    }
    #[inline(always)]
    fn mul_sub(self, b: Self, c: Self) -> Self {
        self.mul(b).sub(c)
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.map(f32::sqrt))
    }
    #[inline(always)]
    fn le_mask(self, other: Self) -> u64 {
        let bits: [u32; 4] = std::array::from_fn(|i| if self.0[i] <= other.0[i] { 1 << i } else { 0 });
        bits.iter().fold(0, |mask, bit| mask | bit).into()
    }
}
