//! The random numbers of all tests, including the library's unit tests.

#![allow(unreachable_pub, missing_docs, reason = "the crate of the tests exports it")]

/// A linear congruential generator of 64 bits, with its state (at first the seed).
pub struct Numbers(pub u64);

#[allow(dead_code, reason = "the unit tests of the library use less of it")]
impl Numbers {
    /// The next state, whose high bits are the most random.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0
    }
    pub fn bits(&mut self) -> u32 {
        (self.word() >> 33) as u32
    }
    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f32 {
        (self.bits() >> 7) as f32 / (1 << 24) as f32
    }
    /// Uniform in [0, 1), with all bits of an f64.
    pub fn unit_f64(&mut self) -> f64 {
        (self.word() >> 11) as f64 * 2f64.powi(-53)
    }
    /// Uniform in [−1, 1).
    pub fn signed(&mut self) -> f32 {
        2.0 * self.unit() - 1.0
    }
    pub fn vector(&mut self) -> [f32; 3] {
        [self.signed(), self.signed(), self.signed()]
    }
}
