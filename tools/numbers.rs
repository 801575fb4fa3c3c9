//! The random numbers of the tools.

use umbracast::glam::Vec3;

/// Linear congruential generator with a fixed seed.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    /// Uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 24) as f32
    }

    /// Uniform in the unit cube.
    pub(crate) fn point(&mut self) -> Vec3 {
        Vec3::new(self.unit(), self.unit(), self.unit())
    }

    /// Uniform in the cube from −1 to 1.
    pub(crate) fn signed_point(&mut self) -> Vec3 {
        2.0 * self.point() - 1.0
    }
}
