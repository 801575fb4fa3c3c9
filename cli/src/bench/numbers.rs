//! Random numbers that are the same on every machine.

use umbracast::glam::DVec3;

/// A 64-bit linear congruential generator. The field is the seed.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    /// Uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 24) as f32
    }

    /// Uniform in the unit cube.
    pub(super) fn point(&mut self) -> [f32; 3] {
        [self.unit(), self.unit(), self.unit()]
    }

    /// Uniform in the unit cube, as f64.
    pub(super) fn place(&mut self) -> DVec3 {
        DVec3::from(self.point().map(f64::from))
    }

    /// Uniform on the unit sphere.
    pub(super) fn direction(&mut self) -> DVec3 {
        loop {
            let v = 2.0 * self.place() - 1.0;
            // Excludes vectors so short that their rounding would matter.
            if (1e-4..=1.0).contains(&v.length_squared()) {
                return v.normalize();
            }
        }
    }

    /// Uniform integer in 0..`count`.
    pub(super) fn below(&mut self, count: usize) -> usize {
        (f64::from(self.unit()) * count as f64) as usize
    }
}
